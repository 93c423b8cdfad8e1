/* aqua_cuda.c -- the CUDA backend of sel.aqua: memory, stepping, graphs.
 *
 * Two copies of the depths take turns. Steps are enqueued and the caller goes on. On small grids a
 * launch takes longer than its kernel, so AQUA_AHEAD steps are recorded once into a graph and
 * launched as one, unless a field or a level varies in time and is sent step by step. Depths beyond
 * the store's limit are told by the device and seen with the next answer.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda/aqua_state.h"
#include "cuda/device.h"

/* What 32 bits can number. */
static const double most_numbers = 4294967296.0;

static uint64_t estimate(const sel_plan *base) {
    const aqua_plan *plan = (const aqua_plan *)base;
    sel_state *state = calloc(1, sizeof *state);
    aqua_taker counter = {.queue = NULL};
    if (state) {
        state->plan = plan;
        aqua_cuda_place(state, base, &counter);
    }
    free(state);
    /* Each ghost has at most eight edges. */
    const uint64_t edge = sizeof(aqua_gpu_edge) + sizeof(aqua_gpu_total);
    const uint64_t edges = base->wants_balance ? 8 * (uint64_t)plan->ghosts.count * edge : 0;
    return counter.bytes + edges + cuda_queue_estimate();
}

static void destroy(sel_state *state) {
    if (!state) {
        return;
    }
    if (state->queue.stream) {
        cudaStreamSynchronize(state->queue.stream);
    }
    if (state->graph) {
        cudaGraphExecDestroy(state->graph);
    }
    cuda_feed_close(&state->rain.rates);
    cuda_feed_close(&state->soil.rates);
    cuda_feed_close(&state->amounts);
    cuda_feed_close(&state->levels);
    cuda_queue_close(&state->queue);
    cudaFreeHost(state->seen);
    free(state->inflow_units);
    free(state->inflow_carry);
    free(state->inflow_turn);
    free(state->inflow);
    free(state->layers);
    free(state->field);
    free(state->controls);
    free(state->z);
    free(state);
}

static sel_status allocate_host(sel_state *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const size_t sources = (size_t)plan->inflow_count + 1, ghosts = (size_t)plan->ghosts.count + 1;
    const bool fields = plan->rain == AQUA_FIELD || plan->infiltration == AQUA_FIELD;
    const size_t cells = fields ? (size_t)aqua_cuda_cells(state) : 1;
    const size_t controls = (size_t)domain->control_count;
    state->inflow_units = calloc(sources, sizeof *state->inflow_units);
    state->inflow_carry = calloc(sources, sizeof *state->inflow_carry);
    state->inflow_turn = calloc(sources, sizeof *state->inflow_turn);
    state->inflow = calloc(sources, sizeof *state->inflow);
    state->field = malloc(cells * sizeof *state->field);
    state->controls = malloc((controls + 1) * sizeof *state->controls);
    state->z = calloc(ghosts, sizeof *state->z);
    if (!state->inflow_units || !state->inflow_carry || !state->inflow_turn || !state->inflow ||
        !state->field || !state->controls || !state->z) {
        return sel_fail_memory(error, "the water", cells * sizeof *state->field);
    }
    memcpy(state->controls, domain->control_values, controls * sizeof *state->controls);
    sel_status status =
        cuda_host_allocate((void **)&state->seen, sizeof *state->seen, "the alarm", error);
    if (!status) {
        *state->seen = AQUA_NO_ALARM;
    }
    return status;
}

/* What kernels need besides the arrays. */
static void describe(sel_state *state) {
    const aqua_plan *plan = state->plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const aqua_store *store = &state->store;
    const double alpha = plan->largest_alpha;
    aqua_gpu_flow *flow = &state->pattern;
    flow->layout = (aqua_gpu_layout){.nx = (uint32_t)plan->layout.nx,
                                     .ny = (uint32_t)plan->layout.ny,
                                     .pitch = (uint32_t)plan->layout.pitch,
                                     .cells = plan->layout.cells,
                                     .across = aqua_gpu_across(plan->layout.nx)};
    flow->whole = store->whole;
    flow->bed = state->bed;
    flow->alpha = alpha < store->largest_alpha ? alpha : store->largest_alpha;
    flow->least = store->least;
    flow->equilibrium = plan->params->equilibrium;
    flow->limit = store->limit;
    flow->alarm = state->alarm;
    flow->clock.base = state->clock;
    state->view.layout = flow->layout;
    state->view.whole = store->whole;
    state->view.most = state->most;
    state->view.arrived = state->arrived;
    state->view.metre = 1 / store->per_metre;
    state->view.dt = grid->dt;
    state->ghosts.per_metre = store->per_metre;
    state->ghosts.datum = store->datum;
    state->periodic[0] = sel_axis_periodic(grid, 0);
    state->periodic[1] = sel_axis_periodic(grid, 1);
    flow->framed = plan->ghosts.count > 0 || state->periodic[0] || state->periodic[1];
    const double *tables = state->amounts.device;
    state->rain.device.solid = state->soil.device.solid = state->view.solid;
    state->rain.device.uniform = plan->rain == AQUA_UNIFORM ? tables : NULL;
    state->soil.device.uniform = plan->infiltration == AQUA_UNIFORM ? tables + AQUA_AHEAD : NULL;
    state->depends = aqua_levels_depend(plan);
    if (plan->rain == AQUA_FIELD) {
        state->depends |= sel_quantity_depends(&plan->params->rain);
    } else {
        state->rain.device.booked = NULL; /* the host knows */
    }
    if (plan->infiltration == AQUA_FIELD) {
        state->depends |= sel_quantity_depends(&plan->params->infiltration);
    }
}

static sel_status fill(sel_state *state, sel_error *error) {
    aqua_taker taker = {.queue = &state->queue, .error = error};
    sel_status status = cuda_queue_open(&state->queue, error);
    status = status ? status : allocate_host(state, error);
    status = status ? status : aqua_cuda_place(state, &state->plan->base, &taker);
    if (status) {
        return status;
    }
    describe(state);
    return aqua_cuda_fill(state, error);
}

static sel_status create(const sel_plan *base, sel_state **made, sel_error *error) {
    const aqua_plan *plan = (const aqua_plan *)base;
    *made = NULL;
    if ((double)plan->layout.cells >= most_numbers) {
        return sel_fail(error, SEL_NO_DEVICE,
                        "the CUDA backend takes up to 2^32 cells, and this domain has %.3g; use "
                        "--backend cpu",
                        (double)plan->layout.cells);
    }
    sel_state *state = calloc(1, sizeof *state);
    if (!state) {
        return sel_fail_memory(error, "the water", sizeof *state);
    }
    state->plan = plan;
    state->store = aqua_store_of(plan);
    state->size = base->precision == SEL_F32 ? 4 : 8;
    sel_status status = fill(state, error);
    if (status) {
        destroy(state);
        return status;
    }
    *made = state;
    return SEL_OK;
}

/* ---- steps ---- */

aqua_gpu_flow aqua_cuda_flow(const sel_state *state, int64_t step) {
    aqua_gpu_flow flow = state->pattern;
    flow.from = state->water[step & 1];
    flow.to = state->water[(step + 1) & 1];
    flow.marks_from = state->marks[step & 1];
    flow.marks_to = state->marks[(step + 1) & 1];
    flow.clock.offset = step - state->base;
    return flow;
}

aqua_gpu_view aqua_cuda_view(const sel_state *state) {
    aqua_gpu_view view = state->view;
    view.water = state->water[state->step & 1];
    return view;
}

/* Rain and sources, then what of the frame and the ghosts does not stay as it is. */
static sel_status enqueue_before(sel_state *state, const aqua_gpu_flow *flow, void *water,
                                 uint8_t *marks, sel_error *error) {
    const aqua_plan *plan = state->plan;
    cudaStream_t stream = state->queue.stream;
    const double *tables = state->amounts.device;
    const aqua_gpu_dose *doses = (const aqua_gpu_dose *)(tables + 2 * AQUA_AHEAD);
    if (plan->rain != AQUA_NOTHING) {
        CUDA_TRY(aqua_gpu_pour(&flow->layout, flow->whole, flow->clock, water, marks,
                               &state->rain.device, stream));
    }
    for (int l = 0; l < state->layer_count; l++) {
        const aqua_layer *layer = &state->layers[l];
        CUDA_TRY(aqua_gpu_source(&flow->layout, flow->whole, flow->clock, water, marks,
                                 state->taps + layer->first, layer->count, doses,
                                 plan->inflow_count, state->store.most_poured, state->alarm,
                                 stream));
    }
    if (state->settles) {
        CUDA_TRY(aqua_gpu_settle(&flow->layout, &state->ghosts, flow->whole, NULL, water, marks,
                                 stream));
    }
    CUDA_TRY(aqua_gpu_wrap(&flow->layout, state->periodic, (int)state->size, water, stream));
    return SEL_OK;
}

static sel_status enqueue_after(sel_state *state, const aqua_gpu_flow *flow, sel_error *error) {
    const aqua_plan *plan = state->plan;
    cudaStream_t stream = state->queue.stream;
    CUDA_TRY(aqua_gpu_book(flow, state->edges, state->edge_count, state->booked, stream));
    if (plan->infiltration != AQUA_NOTHING) {
        CUDA_TRY(aqua_gpu_soak(&flow->layout, flow->whole, flow->clock, flow->to,
                               &state->soil.device, stream));
    }
    if (state->most || state->arrived) {
        CUDA_TRY(aqua_gpu_watch(&flow->layout, flow->whole, flow->clock, flow->to, state->most,
                                state->arrived,
                                plan->params->arrival_depth * state->store.per_metre, stream));
    }
    return SEL_OK;
}

static sel_status enqueue_step(sel_state *state, int64_t step, sel_error *error) {
    const aqua_gpu_flow flow = aqua_cuda_flow(state, step);
    sel_status status =
        enqueue_before(state, &flow, state->water[step & 1], state->marks[step & 1], error);
    if (status) {
        return status;
    }
    CUDA_TRY(state->plan->params->scheme == AQUA_SCATTER
                 ? aqua_gpu_scatter(&flow, state->queue.stream)
                 : aqua_gpu_gather(&flow, state->queue.stream));
    return enqueue_after(state, &flow, error);
}

/* Moves the device's clock to a step. */
static sel_status set_clock(sel_state *state, int64_t step, sel_error *error) {
    if (state->base != step) {
        CUDA_TRY(aqua_gpu_tick(state->clock, step - state->base, state->queue.stream));
        state->base = step;
    }
    return SEL_OK;
}

/* AQUA_AHEAD steps from an even one on; then the clock moves on. */
static sel_status enqueue_graph(sel_state *state, sel_error *error) {
    sel_status status = SEL_OK;
    for (int64_t k = 0; k < AQUA_AHEAD && !status; k++) {
        status = enqueue_step(state, state->step + k, error);
    }
    if (!status) {
        CUDA_TRY(aqua_gpu_tick(state->clock, AQUA_AHEAD, state->queue.stream));
    }
    return status;
}

static sel_status launch_graph(sel_state *state, sel_error *error) {
    sel_status status = set_clock(state, state->step, error);
    if (!status && !state->graph) {
        status = cuda_queue_record(&state->queue, enqueue_graph, state, &state->graph, error);
    }
    if (!status) {
        CUDA_TRY(cudaGraphLaunch(state->graph, state->queue.stream));
        state->base += AQUA_AHEAD;
        state->step += AQUA_AHEAD;
    }
    return status;
}

/* At most AQUA_AHEAD steps; returns with state->step behind them. */
static sel_status run_block(sel_state *state, int64_t count, unsigned due, sel_error *error) {
    sel_status status = aqua_cuda_prepare(state, due, error);
    status = status ? status : aqua_cuda_amounts(state, count, error);
    if (status || count == AQUA_AHEAD) {
        return status ? status : launch_graph(state, error);
    }
    for (int64_t k = 0; k < count && !status; k++) {
        status = enqueue_step(state, state->step, error);
        state->step += !status;
    }
    return status;
}

/* Steps that can be enqueued together: a graph's from an even step on, or what leads to one. */
static int64_t block_size(const sel_state *state, int64_t left) {
    if (state->depends & SEL_ON_T || state->step % 2) {
        return 1;
    }
    return left < AQUA_AHEAD ? left : AQUA_AHEAD;
}

sel_status aqua_cuda_check(const sel_state *state, int64_t step, sel_error *error) {
    const uint64_t alarm = *(volatile const uint64_t *)state->seen;
    const uint64_t moment = alarm >> 32; /* twice the step, odd before its flow */
    if (alarm == AQUA_NO_ALARM || 2 * (uint64_t)step < moment) {
        return SEL_OK;
    }
    const int64_t at = (int64_t)(alarm & UINT32_MAX);
    return aqua_too_deep(state->plan, (int64_t)moment / 2,
                         aqua_cuda_cell_number(&state->plan->layout, at), error);
}

static sel_status advance(sel_state *state, int64_t n, sel_error *error) {
    const int64_t end = state->step + n;
    sel_status status = cuda_queue_begin(&state->queue, error);
    status = status ? status : aqua_cuda_check(state, state->step, error);
    unsigned due = sel_domain_due(state->plan->base.domain, state->controls);
    while (state->step < end && !status) {
        status = run_block(state, block_size(state, end - state->step), due, error);
        due = SEL_ON_T;
    }
    if (status) {
        return status;
    }
    CUDA_TRY(cudaMemcpyAsync(state->seen, state->alarm, sizeof *state->seen, cudaMemcpyDeviceToHost,
                             state->queue.stream));
    return cuda_queue_end(&state->queue, n, error);
}

static sel_status wait_for_steps(sel_state *state, sel_error *error) {
    sel_status status = cuda_queue_wait(&state->queue, error);
    return status ? status : aqua_cuda_check(state, state->step, error);
}

static void done(const sel_state *state, int64_t *steps, double *seconds) {
    cuda_queue_done(&state->queue, steps, seconds);
}

const sel_backend aqua_cuda_backend = {
    .name = "cuda",
    .probe = cuda_device_probe,
    .bandwidth = cuda_device_bandwidth,
    .estimate = estimate,
    .create = create,
    .advance = advance,
    .wait = wait_for_steps,
    .done = done,
    .start = aqua_cuda_start,
    .finish = aqua_cuda_finish,
    .destroy = destroy,
    .device = cuda_device_text,
};
