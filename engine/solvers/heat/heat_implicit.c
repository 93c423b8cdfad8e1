/* heat_implicit.c -- implicit steps of sel.heat, on the processor.
 *
 * With C v T_t = P - K T, K the conduction to neighbours and through surfaces and P what the source
 * and surfaces bring, a step is
 *
 *   C v (T' - T) / dt = P - K (w T' + (1 - w) T)
 *
 * backward Euler's with w = 1, Crank-Nicolson's with w = 1/2, which takes P at the middle of the
 * step. So A T' = F with A = K + C v / (w dt) and F = P / w + C v / (w w dt) T - (1 - w) / w A T,
 * which multigrid solves, beginning at T.
 */
#include <float.h>
#include <math.h>
#include "engine/machine/cpu.h"
#include "engine/solvers/heat/heat.h"

/* Parts of a step's first residual to which it is solved, by precision; and most cycles. */
static const double tolerance[] = {[SEL_F32] = 1e-6, [SEL_F64] = 1e-10};
enum { MOST_CYCLES = 100 };

/* C v, as the rows of A have it. */
static inline double capacity_of(const heat_plan *plan, int64_t cell, const int64_t at[3]) {
    return plan->box.even ? plan->body.capacity.same[0] : sel_capacity_at(&plan->body, cell, at);
}

/* F of a row of cells, where A u stands if it is needed, without surfaces. */
static void fill_row(const heat_state *state, const heat_view *v, int64_t y, int64_t z) {
    const heat_plan *plan = heat_plan_for(&state->base);
    const bool adds = plan->body.inputs.has_source;
    const double w = v->implicit, rate = 1 / (w * w * v->dt);
    int64_t at[3] = {0, y, z};
    const int64_t cell = v->n[0] * (y + v->n[1] * z), source = heat_place(v->apart, at);
    const double *u = state->u + heat_place(v->stride, at);
    double *F = state->solve.F + heat_place(v->stride, at);
    for (int64_t x = 0; x < v->n[0]; x++) {
        at[0] = x;
        F[x] = capacity_of(plan, cell + x, at) * rate * u[x] - (w < 1 ? (1 - w) / w * F[x] : 0) +
               (adds ? heat_number(v, v->q, source + x) / w : 0);
    }
}

/* What surfaces bring, and the temperatures that they give to nodes. */
static void add_surfaces(heat_state *state, const heat_view *v) {
    const heat_plan *plan = heat_plan_for(&state->base);
    const sel_given *given = &state->base.given;
    for (int64_t k = 0; k < plan->body.inputs.surfaces.cells; k++) {
        int64_t at[3];
        heat_at(v, given->cell[k], at);
        const int64_t i = heat_place(v->stride, at);
        if (isinf(given->b[k])) {
            state->u[i] = given->s[k];
        } else {
            state->solve.F[i] +=
                capacity_of(plan, given->cell[k], at) * given->s[k] / (v->implicit * v->dt);
        }
    }
}

static sel_status solve(heat_state *state, sel_error *error) {
    mg_solve *s = &state->solve;
    const double part = tolerance[state->base.plan->precision];
    const double level = 4 * DBL_EPSILON * s->m.norm;
    double sums[3];
    s->pq = 0; /* directions are those of a step */
    mg_solve_residual(s, state->u, sums);
    const double enough = part * part * sums[0];
    for (int k = 0; sums[0] > fmax(enough, level * level * sums[1]); k++) {
        if (k == MOST_CYCLES) {
            return sel_fail(error, SEL_DIVERGED,
                            "step %lld: %d cycles of multigrid have not solved for the "
                            "temperatures: the residual is %.3g; try a smaller dt",
                            (long long)state->base.step, k, sqrt(sums[0]));
        }
        mg_solve_correct(s, MG_CYCLE, 1, 0, state->u, state->u, sums);
    }
    return SEL_OK;
}

sel_status heat_implicit_step(heat_state *state, sel_error *error) {
    const sel_state *base = &state->base;
    const heat_view v = sel_conduction_view(base, base->step, 0);
    const int64_t count = base->turns.cells.count;
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t i = 0; i < count; i++) {
        state->u[i] = heat_number(&v, v.from, i);
    }
    if (v.implicit < 1) {
        mg_solve_apply(&state->solve, state->u, state->solve.F);
    }
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t row = 0; row < v.n[1] * v.n[2]; row++) {
        fill_row(state, &v, row % v.n[1], row / v.n[1]);
    }
    add_surfaces(state, &v);
    const sel_status status = solve(state, error);
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t i = 0; i < (status ? 0 : count); i++) {
        sel_put(v.to, base->turns.type, i, state->u[i]);
    }
    return status;
}
