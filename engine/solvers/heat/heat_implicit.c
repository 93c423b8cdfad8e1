/* heat_implicit.c -- implicit steps of sel.heat (heat_right_side), solved by multigrid: what backends
 * share, and the processor's.
 */
#include "engine/machine/cpu.h"
#include "engine/solvers/heat/heat.h"

/* Parts of a step's first residual to which it is solved, by precision; and most cycles. */
static const double tolerance[] = {[SEL_F32] = 1e-6, [SEL_F64] = 1e-10};
enum { MOST_CYCLES = 100 };

void heat_implicit_list(sel_state *base, int threads) {
    heat_state *state = (heat_state *)base;
    base->blocks = sel_blocks_cut(base->plan->domain, 1, 1); /* the levels know no blocks */
    sel_conduction_list(base, "temperature", state->T, 0);
    SEL_ADD(&base->arrays, state, u, base->turns.cells.count, 0);
    mg_body_list(&state->solve, &heat_plan_for(base)->box, base, 0, threads);
    state->solve.limits = (mg_limits){
        .tolerance = tolerance[base->plan->precision], .cycles = true, .most = MOST_CYCLES};
}

sel_status heat_implicit_solved(const heat_state *state, sel_error *error) {
    const mg_progress *now = &state->solve.now;
    return now->how <= MG_AT_ROUND_OFF || isnan(now->relative) /* which the monitor reports */
               ? SEL_OK
               : sel_fail(error, SEL_DIVERGED,
                          "step %lld: %lld cycles of multigrid have not solved for the "
                          "temperatures: the residual is %.3g of the first one; try a smaller dt",
                          (long long)state->base.step, (long long)now->step, now->relative);
}

sel_status heat_implicit_step(heat_state *state, sel_error *error) {
    const sel_state *base = &state->base;
    const sel_given *given = &base->given;
    const heat_view v = sel_conduction_view(base, base->step, 0);
    mg_solve *s = &state->solve;
    const int64_t count = base->turns.cells.count;
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t i = 0; i < count; i++) {
        state->u[i] = heat_number(&v, v.from, i);
    }
    if (v.implicit < 1) {
        mg_solve_apply(s, state->u, s->F);
    }
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t row = 0; row < v.n[1] * v.n[2]; row++) {
        int64_t at[3] = {0, row % v.n[1], row / v.n[1]};
        for (; at[0] < v.n[0]; at[0]++) {
            const int64_t i = heat_place(v.stride, at);
            s->F[i] = heat_right_side(&v, at, mg_mass(s, i), state->u[i], s->F[i]);
        }
    }
    for (int64_t k = 0; k < base->plan->inputs->surfaces.cells; k++) {
        int64_t at[3];
        heat_at(&v, given->cell[k], at);
        const int64_t i = heat_place(v.stride, at);
        heat_right_surface(given, k, mg_mass(s, i), &state->u[i], &s->F[i]);
    }
    s->now = MG_BEGINS; /* directions are those of a step */
    mg_solve_residual(s, state->u);
    while (s->now.how == MG_GOES_ON) {
        mg_solve_correct(s, MG_CYCLE, 1, state->u, state->u);
    }
    const sel_status status = heat_implicit_solved(state, error);
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t i = 0; i < (status ? 0 : count); i++) {
        sel_put(v.to, base->turns.type, i, state->u[i]);
    }
    return status;
}
