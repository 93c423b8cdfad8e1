/* lbm_cpu_requests.c -- the balance of mass on the CPU. */
#include <omp.h>
#include <string.h>
#include "engine/lbm/lbm_answers.h"
#include "engine/lbm/lbm_cpu.h"

/* Of the deviations of the density; zero in solids. */
static double sum_row(const sel_state *base, int64_t row) {
    const lbm_cpu *state = (const lbm_cpu *)base;
    const int64_t nx = state->layout.nx;
    double *values = state->rows + LBM_ROWS * nx * omp_get_thread_num(), sum = 0;
    lbm_read_row(state, row, 0, nx, values);
    for (int64_t x = 0; x < nx; x++) {
        sum += values[x];
    }
    return sum;
}

double lbm_total_mass(lbm_cpu *state) {
    const double deviation = sel_sum_rows(&state->base, sum_row, false);
    return (double)state->plan->base.domain->free_cells + deviation;
}

/* Moves what the links carried since the last balance to the regions' totals. (Sums that run on for
 * the whole run would lose digits.) A second balance at the same step finds the same rates. */
static void update_flows(lbm_cpu *state) {
    const lbm_boundary *boundary = &state->plan->boundary;
    int regions = state->plan->base.domain->region_count;
    double steps = (double)(state->base.step - state->balance_step);
    if (steps == 0) {
        return;
    }
    memset(state->rate, 0, ((size_t)regions + 1) * sizeof *state->rate);
    for (int64_t link = 0; link < boundary->link_count; link++) {
        state->rate[boundary->link_region[link]] += state->link_flow[link];
        state->link_flow[link] = 0;
    }
    for (int r = 1; r <= regions; r++) {
        state->out[r] += state->rate[r];
        state->rate[r] /= steps;
    }
    state->balance_step = state->base.step;
}

sel_status lbm_cpu_other(sel_state *base, sel_request *request, sel_error *error) {
    lbm_cpu *state = (lbm_cpu *)base;
    (void)error;
    if (request->kind != SEL_BALANCE) {
        lbm_links(state, request);
        return SEL_OK;
    }
    update_flows(state);
    const lbm_balance found = {.mass = lbm_total_mass(state),
                               .first_mass = state->first_mass,
                               .out = state->out,
                               .rate = state->rate};
    lbm_balance_terms(state->plan, &found, request);
    return SEL_OK;
}
