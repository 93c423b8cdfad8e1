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

/* Rows of cells, in turn: u = T; F = A u, where that is needed; F without surfaces. */
static void fill_row(void *data, int pass, int64_t y, int64_t z, double *scratch) {
    const heat_state *state = data;
    const heat_plan *plan = heat_plan_for(&state->base);
    const heat_view v = sel_conduction_view(&state->base, state->base.step, 0);
    const double w = v.implicit, rate = 1 / (w * w * v.dt);
    const mg *m = &state->solve.m;
    int64_t at[3] = {0, y, z};
    const int64_t first = heat_place(v.stride, at);
    const int64_t cell = v.n[0] * (y + v.n[1] * z), source = heat_place(v.apart, at);
    double *u = state->u + first, *F = state->solve.F + first, sums[2];
    if (pass == 0) {
        for (int64_t x = 0; x < v.n[0]; x++) {
            u[x] = heat_number(&v, v.from, first + x);
        }
    } else if (pass == 1 && w < 1) {
        const mg_vector of = {state->u, v.stride};
        mg_loops_of(m)->apply(m, of, state->solve.F, y, z, scratch, sums);
    } else if (pass == 2) {
        const bool adds = plan->body.inputs.has_source;
        for (int64_t x = 0; x < v.n[0]; x++) {
            at[0] = x;
            F[x] = capacity_of(plan, cell + x, at) * rate * u[x] -
                   (w < 1 ? (1 - w) / w * F[x] : 0) +
                   (adds ? heat_number(&v, v.q, source + x) / w : 0);
        }
    }
}

/* What surfaces bring, and the temperatures that they give to nodes. */
static void add_surfaces(heat_state *state) {
    const heat_plan *plan = heat_plan_for(&state->base);
    const sel_given *given = &state->base.given;
    const heat_view v = sel_conduction_view(&state->base, state->base.step, 0);
    for (int64_t k = 0; k < plan->body.inputs.surfaces.cells; k++) {
        int64_t at[3];
        heat_at(&v, given->cell[k], at);
        const int64_t i = heat_place(v.stride, at);
        if (isinf(given->b[k])) {
            state->u[i] = given->s[k];
        } else {
            state->solve.F[i] +=
                capacity_of(plan, given->cell[k], at) * given->s[k] / (v.implicit * v.dt);
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

static void store_row(void *data, int pass, int64_t y, int64_t z, double *scratch) {
    const heat_state *state = data;
    const heat_view v = sel_conduction_view(&state->base, state->base.step, 0);
    const int64_t first = heat_place(v.stride, (int64_t[3]){0, y, z});
    (void)pass, (void)scratch;
    for (int64_t i = first; i < first + v.n[0]; i++) {
        sel_put(v.to, state->base.turns.type, i, state->u[i]);
    }
}

sel_status heat_implicit_step(heat_state *state, sel_error *error) {
    const mg *m = &state->solve.m;
    mg_pass(m, 0, 3, false, fill_row, state, state->base.threads);
    add_surfaces(state);
    sel_status status = solve(state, error);
    if (!status) {
        mg_pass(m, 0, 1, false, store_row, state, state->base.threads);
    }
    return status;
}
