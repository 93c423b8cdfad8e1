/* lbm_requests.c -- what outputs and the run loop ask of the CUDA backend.
 *
 * Kernels find the answer on the stream of the steps, so that they see the state at which it was
 * asked for. Fields are then copied to pinned memory on a stream of their own while the next steps
 * are computed; sums are a few numbers and follow their kernel. finish() waits for one answer only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/machine/device.h"
#include "cuda/lbm_state.h"
#include "engine/lbm/lbm_answers.h"
#include "engine/reduce.h"

static cudaError_t read_field(const void *view, int field, const cuda_cells *cells, int components,
                              int bytes, void *to, cudaStream_t stream) {
    return lbm_gpu_read(view, field, cells, components, bytes, to, stream);
}

static sel_status start_read(lbm_cuda *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    return cuda_slot_read(state->base.queue, request, read_field, &view, error);
}

static sel_status start_reduce(lbm_cuda *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    const cuda_cells cells = cuda_cells_of(request);
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(state->base.queue, request, sizeof(lbm_gpu_sums), 0, &slot, error);
    if (!status) {
        CUDA_TRY(lbm_gpu_reduce(&view, request->field, &cells, state->partials,
                                state->base.queue->stream));
        status = cuda_slot_fetch(state->base.queue, slot, 0, state->partials, sizeof(lbm_gpu_sums),
                                 error);
    }
    return status;
}

static sel_status start_monitor(lbm_cuda *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(state->base.queue, request, sizeof(lbm_gpu_monitor), 0, &slot, error);
    if (!status) {
        CUDA_TRY(lbm_gpu_watch(&view, request->only_bad_cell ? NULL : state->last_velocity,
                               state->partials, state->base.queue->stream));
        slot->had_before = state->base.monitored;
        state->base.monitored |= !request->only_bad_cell;
        status = cuda_slot_fetch(state->base.queue, slot, 0, state->partials,
                                 sizeof(lbm_gpu_monitor), error);
    }
    return status;
}

static sel_status start_links(lbm_cuda *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    double centre[3];
    cuda_slot *slot;
    lbm_links_centre(state->plan, request, centre);
    sel_status status =
        cuda_slot_open(state->base.queue, request, sizeof(lbm_gpu_carried), 0, &slot, error);
    if (!status) {
        CUDA_TRY(lbm_gpu_links(&view, request->region, centre, state->partials,
                               state->base.queue->stream));
        status = cuda_slot_fetch(state->base.queue, slot, 0, state->partials,
                                 sizeof(lbm_gpu_carried), error);
    }
    return status;
}

/* The mass, and what the links carried since the last balance, whose sums start anew. */
static sel_status start_balance(lbm_cuda *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    const int regions = state->plan->base.domain->region_count;
    const uint64_t mass = sizeof(lbm_gpu_monitor), rates = ((uint64_t)regions + 1) * sizeof(double);
    cuda_slot *slot;
    sel_status status = cuda_slot_open(state->base.queue, request, mass + rates, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->since_steps = state->base.step - state->balance_step;
    state->balance_step = state->base.step;
    CUDA_TRY(lbm_gpu_watch(&view, NULL, state->partials, state->base.queue->stream));
    status = cuda_slot_fetch(state->base.queue, slot, 0, state->partials, mass, error);
    if (!status && slot->since_steps > 0 && state->pattern.boundary.link_flow) {
        CUDA_TRY(lbm_gpu_flows(&state->pattern.boundary, regions, state->rates,
                               state->base.queue->stream));
        status = cuda_slot_fetch(state->base.queue, slot, mass, state->rates, rates, error);
    } else {
        memset((char *)slot->host + mass, 0, rates);
    }
    return status;
}

sel_status lbm_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    switch (request->kind) {
    case SEL_READ:
        return start_read(state, request, error);
    case SEL_REDUCE:
        return start_reduce(state, request, error);
    case SEL_MONITOR:
        return start_monitor(state, request, error);
    case SEL_BALANCE:
        return start_balance(state, request, error);
    default:
        return start_links(state, request, error);
    }
}

static void finish_reduce(const lbm_gpu_sums *sums, sel_request *request) {
    for (int c = 0; c < LBM_GPU_PARTS; c++) {
        request->sum[c] = sums->sum[c];
        request->sum_of_squares[c] = sums->squares[c];
        request->min[c] = sums->least[c];
        request->max[c] = sums->most[c];
    }
    request->count = (int64_t)sums->count;
}

static void finish_monitor(const lbm_cuda *state, const cuda_slot *slot, sel_request *request) {
    const lbm_gpu_monitor *found = slot->host;
    lbm_watched_answer(state->plan, &found->watched, request);
    request->change = sel_relative_change(slot->had_before, found->change, found->magnitude);
}

static void finish_balance(lbm_cuda *state, const cuda_slot *slot, sel_request *request) {
    const lbm_plan *plan = state->plan;
    const lbm_gpu_monitor *found = slot->host;
    const double *carried = (const double *)(const void *)(found + 1);
    for (int r = 1; r <= plan->base.domain->region_count && slot->since_steps > 0; r++) {
        state->out[r] += carried[r];
        state->rate[r] = carried[r] / (double)slot->since_steps;
    }
    const lbm_balance balance = {.mass = (double)plan->base.domain->free_cells + found->mass,
                                 .first_mass = state->first_mass,
                                 .out = state->out,
                                 .rate = state->rate};
    lbm_balance_terms(plan, &balance, request);
}

void lbm_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    lbm_cuda *state = (lbm_cuda *)base;
    const lbm_gpu_carried *carried = slot->host;
    switch (request->kind) {
    case SEL_REDUCE:
        finish_reduce(slot->host, request);
        break;
    case SEL_MONITOR:
        finish_monitor(state, slot, request);
        break;
    case SEL_BALANCE:
        finish_balance(state, slot, request);
        break;
    default:
        lbm_links_answer(state->plan, carried->force, carried->torque, carried->mass, request);
        break;
    }
}
