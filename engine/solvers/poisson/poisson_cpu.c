/* poisson_cpu.c -- sel.poisson on the processor. */
#include "engine/machine/cpu.h"
#include "engine/solvers/poisson/poisson.h"

#include <math.h>

static void list(sel_state *base) {
    poisson_list(base, base->threads);
}

/* ---- an iteration ---- */

static void judge(poisson_state *state, const double sums[3]) {
    state->now.mean = sums[2] / poisson_plan_for(&state->base)->volume;
    poisson_judge(state, sqrt(sums[0]), sqrt(sums[1]));
}

static sel_status measure(poisson_state *state, sel_error *error) {
    double sums[3];
    (void)error;
    mg_solve_residual(&state->solve, state->u[0][state->base.step & 1], sums);
    judge(state, sums);
    return SEL_OK;
}

static void iterate(poisson_state *state) {
    static const int corrections[] = {[POISSON_MULTIGRID] = MG_CYCLE,
                                      [POISSON_JACOBI] = MG_DIVIDE,
                                      [POISSON_GAUSS_SEIDEL] = MG_SWEEP,
                                      [POISSON_SOR] = MG_SWEEP,
                                      [POISSON_CONJUGATE_GRADIENT] = MG_DIVIDE};
    sel_state *base = &state->base;
    const poisson_plan *plan = poisson_plan_for(base);
    const int method = poisson_method(base), turn = base->step & 1;
    const bool full = method == POISSON_MULTIGRID && base->step == 0;
    double sums[3];
    mg_solve_correct(&state->solve, full ? MG_FULL_CYCLE : corrections[method],
                     method == POISSON_SOR ? plan->omega : 1, plan->singular ? state->now.mean : 0,
                     state->u[0][turn], state->u[0][!turn], sums);
    state->now.pq = state->solve.pq;
    base->step++;
    judge(state, sums);
}

/* Makes f and q of a state that was loaded. */
static sel_status ready(sel_state *base, const sel_request *request, sel_error *error) {
    poisson_state *state = (poisson_state *)base;
    (void)request;
    if (state->known == base->step) {
        return SEL_OK;
    }
    state->solve.pq = state->now.pq;
    if (state->now.pq > 0) {
        mg_solve_apply(&state->solve, state->solve.p, state->solve.q);
    }
    return measure(state, error);
}

static sel_status start(sel_state *base, sel_error *error) {
    return poisson_start(base, measure, error);
}

static sel_status steps(sel_state *base, int64_t n, sel_error *error) {
    poisson_state *state = (poisson_state *)base;
    sel_status status = ready(base, NULL, error);
    for (; n > 0 && !status && base->ending.how == SEL_GOES_ON; n--) {
        iterate(state);
    }
    base->observed = base->step; /* nothing is to be gathered */
    return status;
}

const sel_cpu poisson_on_cpu = {
    .what = "the potential",
    .state_size = sizeof(poisson_state),
    .list = list,
    .start = start,
    .steps = steps,
    .look = {.ready = ready, .field = sel_conduction_field, .numbers = true},
};
