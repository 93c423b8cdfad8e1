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
#include "engine/multigrid/mg_solve.h"
#include "engine/solvers/heat/heat.h"

/* Parts of a step's first residual to which it is solved, by precision; and most cycles. */
static const double tolerance[] = {[SEL_F32] = 1e-6, [SEL_F64] = 1e-10};
enum { MOST_CYCLES = 100 };

static mg_body body_of(const heat_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    return (mg_body){&plan->body, domain, 1 / (plan->body.implicit * domain->grid.dt)};
}

void heat_implicit_plan(heat_plan *plan) {
    const mg_body of = body_of(plan);
    mg_body_box(&of, &plan->box);
    plan->conjugate = !plan->box.even;
}

void heat_implicit_list(heat_state *state) {
    const heat_plan *plan = heat_plan_for(&state->base);
    const int64_t cells = sel_grid_cells(&plan->base.domain->grid);
    sel_arrays *arrays = &state->base.arrays;
    SEL_ADD(arrays, state, u, cells, 0);
    SEL_ADD(arrays, state, F, cells, 0);
    SEL_ADD(arrays, state, p, plan->conjugate ? cells : 0, 0);
    SEL_ADD(arrays, state, q, plan->conjugate ? cells : 0, 0);
    SEL_ADD(arrays, state, capacity, plan->box.even ? 0 : cells, 0);
    mg_list(&state->m, &plan->box, state->base.threads, arrays);
}

sel_status heat_implicit_start(heat_state *state, sel_error *error) {
    const heat_plan *plan = heat_plan_for(&state->base);
    const sel_domain *domain = plan->base.domain;
    const mg_body of = body_of(plan);
    for (int64_t k = 0; k < sel_grid_cells(&domain->grid) && state->capacity; k++) {
        state->capacity[k] = domain->cell[k] ? 0 : sel_capacity_of(&plan->body, &domain->grid, k);
    }
    return mg_start(&state->m, &state->base.arrays, mg_body_cell, &of, state->base.threads, error);
}

/* ---- a step ---- */

/* Rows of cells, in turn: u = T; F = A u, where that is needed; F without surfaces. */
static void fill_row(void *data, int pass, int64_t y, int64_t z, double *scratch) {
    const heat_state *state = data;
    const heat_plan *plan = heat_plan_for(&state->base);
    const heat_view v = sel_conduction_view(&state->base, state->base.step, 0);
    const double w = plan->body.implicit, rate = 1 / (w * w * v.dt);
    const int64_t stride[3] = {1, v.n[0], v.n[0] * v.n[1]}, at[3] = {0, y, z};
    const int64_t row = heat_place(stride, at), source = heat_place(v.apart, at);
    double *u = state->u, *F = state->F, sums[2];
    if (pass == 0) {
        for (int64_t x = 0; x < v.n[0]; x++) {
            u[row + x] = heat_number(&v, v.from, heat_place(v.stride, at) + x);
        }
    } else if (pass == 1 && w < 1) {
        const mg_vector of = {state->u, stride};
        mg_loops_of(&state->m)->apply(&state->m, of, F, y, z, scratch, sums);
    } else if (pass == 2) {
        const bool adds = plan->body.inputs.has_source;
        for (int64_t x = 0; x < v.n[0]; x++) {
            const double capacity = state->capacity ? state->capacity[row + x] : v.capacity;
            F[row + x] = capacity * rate * u[row + x] - (w < 1 ? (1 - w) / w * F[row + x] : 0) +
                         (adds ? heat_number(&v, v.q, source + x) / w : 0);
        }
    }
}

/* What surfaces bring, and the temperatures that they give to nodes. */
static void add_surfaces(heat_state *state) {
    const heat_plan *plan = heat_plan_for(&state->base);
    const sel_given *given = &state->base.given;
    for (int64_t k = 0; k < plan->body.inputs.surfaces.cells; k++) {
        const int64_t cell = given->cell[k];
        const double capacity =
            state->capacity ? state->capacity[cell] : plan->body.capacity.same[0];
        if (isinf(given->b[k])) {
            state->u[cell] = given->s[k];
        } else {
            state->F[cell] +=
                capacity * given->s[k] / (plan->body.implicit * plan->base.domain->grid.dt);
        }
    }
}

static sel_status solve(heat_state *state, sel_error *error) {
    const sel_state *base = &state->base;
    const int64_t *n = base->plan->domain->grid.n;
    mg_solve s = {.m = &state->m,
                  .stride = {1, n[0], n[0] * n[1]},
                  .F = state->F,
                  .p = state->p,
                  .q = state->q,
                  .partials = base->partials,
                  .threads = base->threads};
    const double part = tolerance[base->plan->precision], level = 4 * DBL_EPSILON * state->m.norm;
    double sums[3];
    mg_solve_residual(&s, state->u, sums);
    const double enough = part * part * sums[0];
    for (int k = 0; sums[0] > fmax(enough, level * level * sums[1]); k++) {
        if (k == MOST_CYCLES) {
            return sel_fail(error, SEL_DIVERGED,
                            "step %lld: %d cycles of multigrid have not solved for the "
                            "temperatures: the residual is %.3g; try a smaller dt",
                            (long long)base->step, k, sqrt(sums[0]));
        }
        mg_solve_correct(&s, MG_CYCLE, 1, 0, state->u, state->u, sums);
    }
    return SEL_OK;
}

static void store_row(void *data, int pass, int64_t y, int64_t z, double *scratch) {
    const heat_state *state = data;
    const heat_view v = sel_conduction_view(&state->base, state->base.step, 0);
    const int64_t at[3] = {0, y, z}, to = heat_place(v.stride, at);
    const double *u = state->u + v.n[0] * (y + v.n[1] * z);
    (void)pass, (void)scratch;
    for (int64_t x = 0; x < v.n[0]; x++) {
        sel_put(v.to, state->base.turns.type, to + x, u[x]);
    }
}

sel_status heat_implicit_step(heat_state *state, sel_error *error) {
    const mg *m = &state->m;
    const int threads = state->base.threads;
    mg_pass(m, 0, 3, false, fill_row, state, threads);
    add_surfaces(state);
    sel_status status = solve(state, error);
    if (!status) {
        mg_pass(m, 0, 1, false, store_row, state, threads);
    }
    return status;
}
