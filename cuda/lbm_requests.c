/* lbm_requests.c -- what links carry and the balance of mass, on the device. */
#include <string.h>
#include "cuda/lbm_state.h"
#include "engine/lbm/lbm_answers.h"

static sel_status ask_links(lbm_cuda *state, const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->base.queue;
    double centre[3];
    cuda_slot *slot;
    lbm_links_centre(state->plan, request, centre);
    sel_status status = cuda_slot_open(queue, request, sizeof(lbm_gpu_carried), 0, &slot, error);
    if (!status) {
        CUDA_TRY(
            lbm_gpu_links(&state->pattern, request->region, centre, queue->rows, queue->stream));
        status = cuda_slot_fetch(queue, slot, 0, queue->rows, sizeof(lbm_gpu_carried), error);
    }
    return status;
}

/* The mass, and what the links carried since the last balance, whose sums start anew. */
static sel_status ask_balance(lbm_cuda *state, const sel_request *request, sel_error *error) {
    cuda_queue *queue = state->base.queue;
    const int regions = state->plan->base.domain->region_count;
    const uint64_t mass = sizeof(sel_total), rates = ((uint64_t)regions + 1) * sizeof(double);
    cuda_slot *slot;
    sel_status status = cuda_slot_open(queue, request, mass + rates, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->since_steps = state->base.step - state->balance_step;
    state->balance_step = state->base.step;
    status = cuda_sum(&state->base, error);
    status = status ? status : cuda_slot_fetch(queue, slot, 0, queue->rows, mass, error);
    if (!status && slot->since_steps > 0 && state->pattern.boundary.link_flow) {
        CUDA_TRY(lbm_gpu_flows(&state->pattern.boundary, regions, state->rates, queue->stream));
        return cuda_slot_fetch(queue, slot, mass, state->rates, rates, error);
    }
    memset((char *)slot->host + mass, 0, rates);
    return status;
}

sel_status lbm_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    lbm_cuda *state = (lbm_cuda *)base;
    return request->kind == SEL_BALANCE ? ask_balance(state, request, error)
                                        : ask_links(state, request, error);
}

static void answer_balance(lbm_cuda *state, const cuda_slot *slot, sel_request *request) {
    const lbm_plan *plan = state->plan;
    const sel_total *deviation = slot->host;
    const double *carried = (const double *)(const void *)(deviation + 1);
    for (int r = 1; r <= plan->base.domain->region_count && slot->since_steps > 0; r++) {
        state->out[r] += carried[r];
        state->rate[r] = carried[r] / (double)slot->since_steps;
    }
    const lbm_balance balance = {.mass = lbm_cuda_mass(state, deviation),
                                 .first_mass = state->first_mass,
                                 .out = state->out,
                                 .rate = state->rate};
    lbm_balance_terms(plan, &balance, request);
}

void lbm_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    lbm_cuda *state = (lbm_cuda *)base;
    const lbm_gpu_carried *carried = slot->host;
    if (request->kind == SEL_BALANCE) {
        answer_balance(state, slot, request);
    } else {
        lbm_links_answer(state->plan, carried->force, carried->torque, carried->mass, request);
    }
}
