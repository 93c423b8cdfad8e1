/* poisson_cpu.c -- sel.poisson on the processor. */
#include "engine/core/cpu.h"
#include "engine/solvers/poisson/poisson.h"

static void poisson_cpu_list(sel_state *base) {
    poisson_list(base, base->threads);
}

/* poisson_measure: f and q of the present step, which may have been loaded. */
static sel_status poisson_cpu_measure(sel_state *base, sel_error *error) {
    poisson_state *state = (poisson_state *)base;
    mg_solve *s = &state->solve;
    (void)error;
    if (s->now.pq > 0) {
        mg_solve_spread(s, s->p);
        mg_solve_apply(s, s->p, s->q);
    }
    mg_solve_residual(s, poisson_u(base, base->step));
    poisson_conclude(state);
    return SEL_OK;
}

static sel_status poisson_cpu_ready(sel_state *base, const sel_request *request, sel_error *error) {
    (void)request;
    return ((poisson_state *)base)->known == base->step ? SEL_OK : poisson_cpu_measure(base, error);
}

static sel_status poisson_cpu_start(sel_state *base, sel_error *error) {
    return poisson_start(base, poisson_cpu_measure, error);
}

static sel_status poisson_cpu_steps(sel_state *base, int64_t n, sel_error *error) {
    poisson_state *state = (poisson_state *)base;
    sel_status status = poisson_cpu_ready(base, NULL, error);
    for (; n > 0 && !status && base->ending.how == SEL_GOES_ON; n--) {
        double omega;
        const int how = poisson_correction(base, base->step, &omega);
        mg_solve_correct(&state->solve, how, omega, poisson_u(base, base->step),
                         poisson_u(base, base->step + 1));
        poisson_conclude(state);
    }
    if (sel_divides_planes(
            &base->decomposition)) { /* around an axis that is not cut iterations need no halo */
        sel_state_exchange(base, base->step, SEL_FETCH);
    }
    base->observed = base->step; /* nothing is to be gathered */
    return status;
}

const sel_cpu poisson_on_cpu = {
    .what = "the potential",
    .state_size = sizeof(poisson_state),
    .list = poisson_cpu_list,
    .derive = diffusion_derive,
    .start = poisson_cpu_start,
    .steps = poisson_cpu_steps,
    .look = {.ready = poisson_cpu_ready,
             .field = diffusion_field,
             .numbers = true,
             .other = diffusion_answer},
};
