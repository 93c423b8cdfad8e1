/* lbm_inputs_cuda.c -- what is given to a flow on the device: where kernels store the values of
 * laws and of the acceleration, and what they are at the start.
 *
 * The host evaluates every law once, for the first step, as the CPU backend does: mistakes are
 * reported, and what does not vary is complete.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_closed.h"
#include "engine/solvers/lbm/lbm_state_cuda.h"

/* The most numbers that are stored for steps evaluated together. */
enum { MOST_AHEAD = 1 << 21 };

/* Steps that one launch evaluates: CUDA_STEPS on small grids, where a launch for each step would
 * take longer than the step; else 1. */
static int64_t inputs_count_copies(const lbm_cuda *state) {
    const lbm_plan *plan = state->all.plan;
    const lbm_boundary *boundary = &plan->boundary;
    const int64_t numbers = boundary->links.all + LBM_OPEN_VALUES * boundary->all_open;
    const bool in_time = plan->base.depends & SEL_ON_T;
    return in_time && cuda_inputs_are_programs(&state->all.base) &&
                   numbers <= MOST_AHEAD / CUDA_STEPS
               ? CUDA_STEPS
               : 1;
}

void lbm_cuda_list_inputs(lbm_cuda *state) {
    state->all.copies = inputs_count_copies(state);
    SEL_ADD_COPY(&state->all.base.arrays, state, directions, LBM_MAX_Q,
                 state->all.plan->boundary.lattice->direction);
    SEL_ADD(&state->all.base.arrays, state, acceleration, 3 * CUDA_TURNS, 0);
}

int64_t lbm_cuda_copies(const sel_state *base) {
    return ((const lbm_cuda *)base)->all.copies;
}

/* A step adds to link_flow and gain. */
bool lbm_cuda_joins_before(const sel_state *base) {
    return base->plan->wants_balance || ((const lbm_plan *)base->plan)->boundary.closed_count > 0;
}

const void *lbm_cuda_laws(sel_state *base) {
    lbm_cuda *state = (lbm_cuda *)base;
    const lbm_plan *plan = state->all.plan;
    state->laws = (lbm_gpu_laws){.directions = state->directions,
                                 .link_add = state->all.link_add,
                                 .link_velocity = state->all.link_velocity,
                                 .links = state->all.sites.count,
                                 .open_value = state->all.open_value,
                                 .link_stride = state->pattern.boundary.link_stride,
                                 .open_stride = state->pattern.boundary.open_stride,
                                 .acceleration = state->acceleration,
                                 .acceleration_turns = state->pattern.acceleration_turns,
                                 .velocity_unit = plan->numbers.velocity_unit,
                                 .pressure_unit = plan->numbers.pressure_unit,
                                 .acceleration_unit = lbm_acceleration_unit(plan)};
    return &state->laws;
}

/* ---- the start ---- */

/* The acceleration at time 0. */
static sel_status inputs_start_acceleration(lbm_cuda *state, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    const sel_input *input = &plan->inputs.v[0];
    double value[3] = {0}, acceleration[3] = {0};
    lbm_values here = {.plan = plan, .acceleration = acceleration};
    sel_status status = SEL_OK;
    if (lbm_acceleration_is_field(plan)) {
        const sel_input_cells cells = lbm_acceleration_cells(&state->all.base, input);
        return sel_input_place(&state->all.base, input, -1, &cells, error);
    }
    if (sel_quantity_given(&plan->acceleration)) {
        status = sel_input_evaluate(&plan->inputs, input, -1, 0, 1, value, error);
        lbm_values_store(&here, &plan->inputs, &(sel_input_values){input, 0, 1, 0, value});
    }
    return status ? status
                  : cuda_send(state->acceleration, acceleration, sizeof acceleration, error);
}

/* The values of laws in the first step. */
static sel_status inputs_start_laws(const lbm_state *state, sel_error *error) {
    const size_t links = (size_t)state->sites.count;
    const size_t values = LBM_OPEN_VALUES * (size_t)state->openings;
    double acceleration[3];
    const size_t velocities = state->link_velocity ? 3 * links : 0, all = links + values;
    double *link_add = calloc(all + velocities + 1, sizeof *link_add);
    lbm_values here = {.plan = state->plan,
                       .link_add = link_add,
                       .link_velocity = velocities ? link_add + all : NULL,
                       .open_value = link_add + links,
                       .acceleration = acceleration,
                       .links = state->sites.count};
    if (!link_add) {
        return sel_fail_memory(error, "the laws", (all + velocities) * sizeof *link_add);
    }
    sel_status status =
        sel_inputs_evaluate(&state->plan->inputs, SEL_ALWAYS, 0, lbm_values_store, &here, error);
    for (size_t k = 0; k < (size_t)state->copies && !status; k++) {
        status = cuda_send(state->link_add + k * links, link_add, links * sizeof(double), error);
        status = status ? status
                        : cuda_send(state->open_value + k * values, here.open_value,
                                    values * sizeof(double), error);
        status = status || !velocities
                     ? status
                     : cuda_send(state->link_velocity + k * velocities, here.link_velocity,
                                 velocities * sizeof(double), error);
    }
    free(link_add);
    return status;
}

sel_status lbm_cuda_start_inputs(lbm_cuda *state, sel_error *error) {
    sel_status status = inputs_start_acceleration(state, error);
    status = status ? status : inputs_start_laws(&state->all, error);
    if (!status && cudaDeviceSynchronize() != cudaSuccess) {
        status = sel_fail(error, SEL_NO_DEVICE, "the device failed while laws were evaluated");
    }
    state->pattern.halted = cuda_inputs_halted(&state->all.base);
    return sel_state_agree(&state->all.base, status, error);
}

/* ---- steps ---- */

/* Saves the acceleration for the closures of the next step, before a control changes it. */
static sel_status inputs_keep_acceleration(lbm_cuda *state, sel_error *error) {
    const sel_state *base = &state->all.base;
    if (lbm_acceleration_depends(state->all.plan) & SEL_ON_CONTROLS &&
        !state->pattern.acceleration_turns) {
        CUDA_TRY(cudaMemcpyAsync(state->acceleration + 3, state->acceleration, 3 * sizeof(double),
                                 cudaMemcpyDeviceToDevice, base->queue->stream));
        state->accelerated_at = base->step;
    }
    return SEL_OK;
}

sel_status lbm_cuda_terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    sel_status status = due & SEL_ON_CONTROLS ? inputs_keep_acceleration(state, error) : SEL_OK;
    status = status ? status : cuda_inputs_terms(base, due, error);
    if (base->plan->depends & due && lbm_closed_due(&state->all.plan->boundary, base->step)) {
        status = sel_state_agree(base, status, error); /* lbm_cuda_return is collective */
    }
    *count = base->step == state->accelerated_at ? 1 : *count;
    return status ? status : lbm_cuda_return(state, count, error);
}

sel_status lbm_cuda_failed(sel_state *base, sel_status status, sel_error *error) {
    const lbm_plan *plan = (const lbm_plan *)base->plan;
    if (lbm_acceleration_is_field(plan) && lbm_acceleration_depends(plan)) {
        const sel_input_cells cells = lbm_acceleration_cells(base, &plan->inputs.v[0]);
        CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
        sel_input_place(base, &plan->inputs.v[0], base->step - 1, &cells, NULL);
    }
    return status;
}
