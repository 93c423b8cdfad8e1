/* aqua_cuda.c -- sel.aqua on the device: a step.
 *
 * Two copies of the depths take turns. Depths beyond the store's limit are told by the device and
 * seen with the next answer.
 */
#include "cuda/aqua_state.h"

/* What 32 bits can number. */
static const double most_numbers = 4294967296.0;

static sel_status fits(const sel_plan *base, sel_error *error) {
    const double cells = (double)((const aqua_plan *)base)->layout.cells;
    return cells < most_numbers
               ? SEL_OK
               : sel_fail(error, SEL_NO_DEVICE,
                          "the CUDA backend takes up to 2^32 cells, and this domain has %.3g; use "
                          "--backend cpu",
                          cells);
}

aqua_gpu_flow aqua_cuda_flow(const aqua_cuda *state, int64_t step) {
    aqua_gpu_flow flow = state->pattern;
    flow.from = state->all.water[step & 1];
    flow.to = state->all.water[(step + 1) & 1];
    flow.marks_from = state->marks[step & 1];
    flow.marks_to = state->marks[(step + 1) & 1];
    flow.clock = cuda_queue_clock(state->all.base.queue, step);
    return flow;
}

/* Rain and sources, then what of the frame and the ghosts does not stay as it is. */
static sel_status enqueue_before(aqua_cuda *state, const aqua_gpu_flow *flow, void *water,
                                 uint8_t *marks, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    cudaStream_t stream = state->all.base.queue->stream;
    const double *tables = state->amounts.device;
    const aqua_dose *doses = (const aqua_dose *)(tables + 2 * CUDA_STEPS);
    if (plan->rain != AQUA_NOTHING) {
        CUDA_TRY(aqua_gpu_pour(&flow->layout, flow->whole, flow->clock, water, marks,
                               &state->pour.device, stream));
    }
    for (int l = 0; l < state->layer_count; l++) {
        const aqua_layer *layer = &state->layers[l];
        CUDA_TRY(aqua_gpu_source(&flow->layout, flow->whole, flow->clock, water, marks,
                                 state->taps + layer->first, layer->count, doses,
                                 plan->inflow_count, state->all.store.most_poured,
                                 state->all.base.queue->alarm, stream));
    }
    if (state->settles) {
        CUDA_TRY(aqua_gpu_settle(&flow->layout, &state->ghosts, flow->whole,
                                 state->level_count ? state->all.bed : NULL, water, marks, stream));
    }
    if (state->level_count) {
        CUDA_TRY(aqua_gpu_wrap(&flow->layout, state->periodic, (int)state->all.size, state->all.bed,
                               stream));
    }
    CUDA_TRY(aqua_gpu_wrap(&flow->layout, state->periodic, (int)state->all.size, water, stream));
    return SEL_OK;
}

static sel_status enqueue_after(aqua_cuda *state, const aqua_gpu_flow *flow, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    cudaStream_t stream = state->all.base.queue->stream;
    CUDA_TRY(aqua_gpu_book(flow, state->all.edges, aqua_cuda_edges(state), state->booked, stream));
    if (plan->infiltration != AQUA_NOTHING) {
        CUDA_TRY(aqua_gpu_soak(&flow->layout, flow->whole, flow->clock, flow->to,
                               &state->soak.device, stream));
    }
    if (state->all.most || state->all.arrived) {
        CUDA_TRY(aqua_gpu_watch(&flow->layout, flow->whole, flow->clock, flow->to, state->all.most,
                                state->all.arrived,
                                plan->params->arrival_depth * state->all.store.per_metre, stream));
    }
    return SEL_OK;
}

static sel_status enqueue_step(sel_state *base, int64_t step, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const aqua_gpu_flow flow = aqua_cuda_flow(state, step);
    sel_status status = aqua_cuda_rise(state, step, error);
    status = status ? status
                    : enqueue_before(state, &flow, state->all.water[step & 1],
                                     state->marks[step & 1], error);
    if (status) {
        return status;
    }
    CUDA_TRY(state->all.plan->params->scheme == AQUA_SCATTER
                 ? aqua_gpu_scatter(&flow, state->all.base.queue->stream)
                 : aqua_gpu_gather(&flow, state->all.base.queue->stream));
    return enqueue_after(state, &flow, error);
}

/* Fields and levels that vary in time and are no terms are sent step by step. */
static bool alone(const sel_state *base) {
    return ((const aqua_cuda *)base)->depends & SEL_ON_T;
}

/* What kernels tell of, the earliest first: terms come before all else in their step. */
static sel_status find_failure(const sel_state *base, int64_t step, sel_error *error) {
    const aqua_cuda *state = (const aqua_cuda *)base;
    const aqua_plan *plan = state->all.plan;
    cuda_term_fault fault;
    const bool failed = cuda_terms_failed(&state->terms, step, &fault);
    if (failed) {
        CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
    }
    const uint64_t alarm = *(volatile const uint64_t *)base->queue->seen;
    const uint64_t moment = alarm >> 32; /* twice the step, odd before its flow */
    const uint64_t last = 2 * (uint64_t)(failed ? fault.step : step);
    if (alarm == CUDA_NO_ALARM || last < moment) {
        return aqua_cuda_check_terms(state, step, error);
    }
    return aqua_too_deep(plan, (int64_t)moment / 2,
                         aqua_cell_number(&plan->layout, (int64_t)(alarm & UINT32_MAX)), error);
}

static sel_status check(sel_state *base, int64_t step, sel_error *error) {
    sel_status status = find_failure(base, step, error);
    base->broken = base->broken || status;
    return status;
}

/* Where the host fails kernels may have done so before. */
static sel_status terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    sel_status status = aqua_cuda_prepare(state, due, error);
    status = status ? status : aqua_cuda_amounts(state, count, error);
    if (status && state->terms.fault) {
        CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
        const sel_status before = check(base, base->step, error);
        status = before ? before : status;
    }
    return status;
}

const cuda_solver aqua_on_cuda = {
    .what = "the water",
    .state_size = sizeof(aqua_cuda),
    .fits = fits,
    .list = aqua_cuda_list,
    .start = aqua_cuda_start,
    .alone = alone,
    .terms = terms,
    .step = enqueue_step,
    .check = check,
    .saving = aqua_cuda_saving,
    .loaded = aqua_cuda_loaded,
    .close = aqua_cuda_close,
    .look = aqua_cuda_look,
    .watched = aqua_watched,
    .ask = aqua_cuda_ask,
    .answer = aqua_cuda_answer,
};
