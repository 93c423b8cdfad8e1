/* aqua_cuda.c -- sel.aqua on the device: memory, steps, checkpoints, answers.
 *
 * Two copies of the depths take turns. Where a term of rain or infiltration may fail, rain and
 * sources are added into a third copy, from which the flow starts, so that the last whole state
 * survives: kernels of later steps see which step failed and do nothing. Depths beyond the store's
 * limit raise an alarm, which is read with the next answer. Kernels accumulate one total per row or
 * per edge; these are saved, so that a run is resumed bit by bit, and as the totals of all
 * backends.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda/aqua_state.h"

/* Numbers that 32 bits can hold. */
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

/* ---- the books: the kernels' parts of the totals of the balance ---- */

/* Parts of a total, one behind the other: rows of rain that is a field (the host adds up other
 * rain) and of infiltration, and the edges of each region if a balance is wanted. */
static int64_t parts_of(const aqua_plan *plan, int64_t total) {
    const int64_t r = total - aqua_total_of(plan, 0), *first = plan->ghosts.first_edge;
    if (total < AQUA_SUPPLIES) {
        const aqua_spread spread = plan->terms[total].spread;
        const bool summed = spread == AQUA_FIELD || (total == AQUA_SOIL && spread != AQUA_NOTHING);
        return summed ? plan->layout.ny : 0;
    }
    return r > 0 && plan->base.wants_balance ? first[r + 1] - first[r] : 0;
}

static void join_books(const aqua_plan *plan, const sel_total *books, sel_total *totals) {
    for (int64_t i = 0; i < aqua_total_count(plan); i++) {
        const int64_t count = parts_of(plan, i);
        totals[i] = count ? (sel_total){0} : totals[i];
        for (int64_t k = 0; k < count; k++) {
            sel_total_join(&totals[i], books++);
        }
    }
}

/* The inverse: all of a total in its first part. */
static void spread_books(const aqua_plan *plan, const sel_total *totals, sel_total *books) {
    for (int64_t i = 0; i < aqua_total_count(plan); i++) {
        for (int64_t k = 0; k < parts_of(plan, i); k++) {
            *books++ = k == 0 ? totals[i] : (sel_total){0};
        }
    }
}

/* ---- memory ---- */

static void list_books(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    sel_arrays *arrays = &state->all.base.arrays;
    for (int64_t i = 0; i < aqua_total_count(plan); i++) {
        state->book_count += parts_of(plan, i);
        state->summed_edges += i < AQUA_SUPPLIES ? 0 : parts_of(plan, i);
    }
    SEL_ADD(arrays, state, books, state->book_count, SEL_SAVED | SEL_OPTIONAL);
    SEL_ADD(arrays, state, copied, state->book_count, SEL_ON_HOST);
}

static void list(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    aqua_state *all = &state->all;
    const aqua_plan *plan = (const aqua_plan *)base->plan;
    const aqua_layout *layout = &plan->layout;
    sel_arrays *arrays = &base->arrays;
    all->plan = plan;
    const bool apart = aqua_cuda_list_amounts(state);
    /* With the margin that a march reads. */
    aqua_list(all, AQUA_GPU_MARGIN, AQUA_GPU_MARGIN + AQUA_GPU_MARGIN_ROWS * layout->pitch, apart);
    const bool whole = all->store.whole;
    const bool cuts = plan->params->equilibrium == AQUA_MINDIFF;
    const int64_t tiles = whole ? aqua_gpu_tiles(layout->nx, layout->ny) : 0;
    const int64_t scratch = whole ? 0 : layout->cells;
    const bool ground = aqua_wants(plan, AQUA_GROUND) || aqua_wants(plan, AQUA_LEVEL) ||
                        aqua_wants(plan, AQUA_MAX_LEVEL);
    const sel_type real = {'f', (uint32_t)all->size};
    SEL_ADD(arrays, state, marks[0], tiles, 0);
    SEL_ADD(arrays, state, marks[1], tiles, 0);
    sel_arrays_add(arrays, "factor", &state->pattern.factor, real, scratch, 0);
    sel_arrays_add(arrays, "cut", &state->pattern.cut, real, cuts ? scratch : 0, 0);
    SEL_ADD(arrays, state, view.ground, ground ? aqua_cells(all) : 0, 0);
    list_books(state);
}

/* ---- step 0 ---- */

/* What kernels need besides the arrays. */
static void describe(aqua_cuda *state) {
    const aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    const sel_grid *grid = &plan->base.domain->grid;
    aqua_gpu_flow *flow = &state->pattern;
    flow->layout = (aqua_gpu_layout){.nx = (uint32_t)plan->layout.nx,
                                     .ny = (uint32_t)plan->layout.ny,
                                     .pitch = (uint32_t)plan->layout.pitch,
                                     .cells = plan->layout.cells,
                                     .across = aqua_gpu_across(plan->layout.nx),
                                     .end = (uint32_t)plan->layout.ny,
                                     .end_cell = (uint32_t)plan->layout.cells};
    flow->store = all->store;
    flow->bed = all->bed;
    flow->alphas = all->alphas;
    flow->sent = plan->params->scheme == AQUA_SCATTER;
    flow->equilibrium = plan->params->equilibrium;
    flow->alarm = all->base.queue->alarm;
    if (state->spread[AQUA_RAIN].by_term || state->spread[AQUA_SOIL].by_term) {
        flow->halted = state->terms.halted;
    }
    state->view.layout = flow->layout;
    state->view.solid = all->base.solid;
    state->view.most = all->most;
    state->view.arrived = all->arrived;
    state->view.arrival = plan->params->arrival_depth * all->store.per_metre;
    state->view.metre = 1 / all->store.per_metre;
    state->view.dt = grid->dt;
    flow->periodic[0] = sel_axis_periodic(grid, 0);
    flow->periodic[1] = sel_axis_periodic(grid, 1);
    flow->framed = plan->ghosts.count > 0 || flow->periodic[0] || flow->periodic[1];
    state->edge_totals = state->books;
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        aqua_gpu_spread *to = &state->spread[k];
        to->solid = all->base.solid;
        to->uniform = plan->terms[k].spread == AQUA_UNIFORM;
        to->column = (uint32_t)k;
        to->rate = all->rate[k];
        to->remainder = all->owed[k];
        to->totals = parts_of(plan, k) ? state->edge_totals : NULL;
        to->terms = cuda_terms_see(&state->terms);
        to->grid = *grid;
        to->unit = aqua_unit_of(plan, AQUA_RATE);
        to->most = all->store.most_rain;
        state->edge_totals += parts_of(plan, k);
    }
}

/* No tile is known to be dry: marks all as wet. */
static sel_status mark_all(aqua_cuda *state, sel_error *error) {
    const aqua_gpu_layout *layout = &state->pattern.layout;
    for (int k = 0; k < 2 && state->marks[k]; k++) {
        CUDA_TRY(cudaMemsetAsync(state->marks[k], AQUA_ALL_WET,
                                 (size_t)aqua_gpu_tiles(layout->nx, layout->ny),
                                 state->all.base.queue->stream));
    }
    return SEL_OK;
}

aqua_gpu_flow aqua_cuda_flow(const aqua_cuda *state, int64_t step, int b) {
    const aqua_state *all = &state->all;
    const sel_block *block = &all->base.blocks.v[b];
    aqua_gpu_flow flow = state->pattern;
    aqua_gpu_layout *layout = &flow.layout;
    layout->first = (uint32_t)block->first;
    layout->end = (uint32_t)block->end;
    layout->first_cell = b == 0 ? 0 : (layout->first + AQUA_HALO) * layout->pitch;
    if (block->end < all->plan->layout.ny) {
        layout->end_cell = (layout->end + AQUA_HALO) * layout->pitch;
    }
    flow.from = all->poured ? all->poured : all->water[b][step & 1];
    flow.to = all->water[b][(step + 1) & 1];
    flow.marks_from = state->marks[step & 1];
    flow.marks_to = state->marks[(step + 1) & 1];
    flow.clock = cuda_queue_clock(all->base.queue, step);
    return flow;
}

/* Fills what lies beyond periodic axes, and the halos of blocks. */
static sel_status exchange(const aqua_cuda *state, int64_t step, sel_error *error) {
    const aqua_state *all = &state->all;
    if (all->poured) { /* which is in one piece */
        CUDA_TRY(aqua_gpu_wrap(&state->pattern, all->poured, all->base.queue->stream));
        return SEL_OK;
    }
    for (int b = 0; b < all->base.blocks.count; b++) {
        const aqua_gpu_flow flow = aqua_cuda_flow(state, step, b);
        CUDA_TRY(aqua_gpu_wrap(&flow, flow.from, all->base.queue->stream));
    }
    return cuda_exchange(&all->base, step, error);
}

static sel_status start(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    const uint64_t cells = (uint64_t)aqua_cells(all);
    sel_total volume = {0};
    sel_status status = aqua_cuda_start_amounts(state, error);
    describe(state);
    if (!status && state->view.ground) {
        status = cuda_send(state->view.ground, plan->ground, cells * sizeof(double), error);
    }
    status = status ? status : aqua_start(all, error);
    if (!status && all->arrived) {
        CUDA_TRY(cudaMemsetAsync(all->arrived, 0xff, cells * sizeof *all->arrived, /* -1 */
                                 base->queue->stream));
    }
    for (int b = 0; b < base->blocks.count && !status; b++) {
        const aqua_gpu_flow before = aqua_cuda_flow(state, -1, b);
        CUDA_TRY(aqua_gpu_watch(&before, &state->view, base->queue->stream));
    }
    status = status ? status : mark_all(state, error);
    status = status ? status : cuda_sum_now(base, &volume, error);
    all->first_volume = sel_total_of(&volume, all->store.whole);
    status = status ? status : aqua_cuda_evaluate(state, SEL_ALWAYS, NULL, error);
    aqua_gpu_flow flow;
    for (int b = 0; b < base->blocks.count && !status; b++) {
        flow = aqua_cuda_flow(state, 0, b);
        CUDA_TRY(aqua_gpu_wrap(&flow, all->water[b][0], base->queue->stream));
    }
    status = status ? status : cuda_exchange(base, 0, error);
    for (int b = 0; b < base->blocks.count && !status; b++) {
        flow = aqua_cuda_flow(state, 0, b);
        flow.from = all->water[b][0];
        CUDA_TRY(aqua_gpu_edges(&flow, all->edges, all->shown ? all->edge_count : 0, NULL,
                                all->shown, base->queue->stream));
    }
    return status;
}

/* ---- a step ---- */

/* Rain, sources and ghosts of a block before the flow. */
static sel_status add_water(const aqua_cuda *state, int64_t step, int b, sel_error *error) {
    const aqua_state *all = &state->all;
    const aqua_gpu_flow flow = aqua_cuda_flow(state, step, b);
    const void *before = all->water[b][step & 1];
    cudaStream_t stream = all->base.queue->stream;
    if (all->plan->terms[AQUA_RAIN].spread != AQUA_NOTHING) {
        CUDA_TRY(aqua_gpu_supply(&flow, before, &state->spread[AQUA_RAIN], stream));
    } else if (flow.from != before) {
        const size_t first = flow.layout.first_cell * (size_t)all->size;
        CUDA_TRY(cudaMemcpyAsync((char *)flow.from + first, (const char *)before + first,
                                 flow.layout.end_cell * (size_t)all->size - first,
                                 cudaMemcpyDeviceToDevice, stream));
    }
    CUDA_TRY(aqua_gpu_source(&flow, state->source_cells, (uint32_t)all->plan->source_cell_count,
                             stream));
    if (state->sets_ghosts) {
        void *bed = state->levels ? NULL : all->bed;
        CUDA_TRY(aqua_gpu_set_ghosts(&flow, &state->ghosts, bed, stream));
    }
    return SEL_OK;
}

/* What flows through edges, infiltration, and what is watched, of a block. */
static sel_status finish(const aqua_cuda *state, const aqua_gpu_flow *flow, sel_error *error) {
    const aqua_state *all = &state->all;
    cudaStream_t stream = all->base.queue->stream;
    CUDA_TRY(
        aqua_gpu_edges(flow, all->edges, state->summed_edges, state->edge_totals, NULL, stream));
    if (all->base.observing && all->shown) {
        CUDA_TRY(aqua_gpu_edges(flow, all->edges, all->edge_count, NULL, all->shown, stream));
    }
    if (all->plan->terms[AQUA_SOIL].spread != AQUA_NOTHING) {
        CUDA_TRY(aqua_gpu_supply(flow, NULL, &state->spread[AQUA_SOIL], stream));
    }
    CUDA_TRY(aqua_gpu_watch(flow, &state->view, stream));
    return SEL_OK;
}

static sel_status enqueue_step(sel_state *base, int64_t step, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    cudaStream_t stream = base->queue->stream;
    const int blocks = base->blocks.count;
    aqua_gpu_flow flow[SEL_MOST_BLOCKS];
    sel_status status = SEL_OK;
    for (int b = 0; b < blocks && !status; b++) {
        flow[b] = aqua_cuda_flow(state, step, b);
        status = add_water(state, step, b, error);
    }
    if (state->sets_ghosts && !state->levels) {
        CUDA_TRY(aqua_gpu_wrap(&state->pattern, state->all.bed, stream));
    }
    status = status ? status : exchange(state, step, error);
    if (status) {
        return status;
    }
    for (int b = 0; b < blocks && !status; b++) {
        CUDA_TRY(flow[b].store.whole ? aqua_gpu_march(&flow[b], stream)
                                     : aqua_gpu_two_pass(&flow[b], stream));
        status = finish(state, &flow[b], error);
    }
    return status;
}

/* Fields that vary in time without being terms are sent for each step. */
static bool alone(const sel_state *base) {
    return ((const aqua_cuda *)base)->alone;
}

/* The earliest failure that kernels report; within a step, terms come first. */
static sel_status check(sel_state *base, int64_t step, sel_error *error) {
    const aqua_cuda *state = (const aqua_cuda *)base;
    const aqua_plan *plan = state->all.plan;
    cuda_term_fault fault = {.step = step};
    const bool failed = cuda_terms_failed(&state->terms, step, &fault);
    if (failed) {
        CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
    }
    const uint64_t alarm = *(volatile const uint64_t *)base->queue->seen;
    const uint64_t moment = alarm >> 32; /* twice the step, odd before its flow */
    if (alarm != CUDA_NO_ALARM && moment <= 2 * (uint64_t)fault.step) {
        base->broken = true;
        return aqua_too_deep(plan, (int64_t)moment / 2,
                             aqua_cell_number(&plan->layout, (int64_t)(alarm & UINT32_MAX)), error);
    }
    if (failed) {
        base->step = fault.step;
        base->unbalanced = true;
    }
    return failed ? aqua_cuda_explain(state, &fault, error) : SEL_OK;
}

/* If the host fails, kernels may have failed in an earlier step. */
static sel_status terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    sel_status status = aqua_cuda_evaluate(state, due, count, error);
    if (status && state->terms.fault) {
        CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
        const sel_status before = check(base, base->step, error);
        status = before ? before : status;
    }
    return status;
}

/* ---- checkpoints ---- */

static sel_status saving(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const uint64_t bytes = (uint64_t)state->book_count * sizeof *state->books;
    sel_status status = cuda_send(state->copied, state->books, bytes, error);
    if (!status) {
        join_books(state->all.plan, state->copied, state->all.totals);
    }
    return status;
}

/* The totals of another backend's checkpoint stand in the first rows and edges; those of this one
 * are loaded afterwards. */
static sel_status loaded(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const int64_t step = base->step;
    const uint64_t bytes = (uint64_t)state->book_count * sizeof *state->books;
    base->step = step > 0 ? step - 1 : 0;
    sel_status status = aqua_cuda_evaluate(state, SEL_ALWAYS | SEL_ON_CONTROLS, NULL, error);
    base->step = step;
    spread_books(state->all.plan, state->all.totals, state->copied);
    status = status ? status : cuda_send(state->books, state->copied, bytes, error);
    return status ? status : mark_all(state, error);
}

/* ---- answers ---- */

static sel_status look(sel_state *base, int field, const cuda_look **launchers, const void **view,
                       sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    (void)field, (void)error;
    state->view.water = cuda_parts_of(base, base->step);
    *launchers = aqua_gpu_look(state->all.store.whole);
    *view = &state->view;
    return SEL_OK;
}

/* The host's totals until now, the volume, and the books of the kernels. */
static sel_status ask_balance(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const size_t one = sizeof(sel_total), totals = (size_t)aqua_total_count(state->all.plan) * one;
    const size_t books = (size_t)state->book_count * one;
    cuda_queue *queue = state->all.base.queue;
    cuda_slot *slot;
    sel_status status = cuda_slot_open(queue, request, totals + one + books, 0, &slot, error);
    if (status) {
        return status;
    }
    memcpy(slot->host, state->all.totals, totals);
    status = cuda_sum(&state->all.base, error);
    status = status ? status : cuda_slot_fetch(queue, slot, totals, queue->rows, one, error);
    return status ? status : cuda_slot_fetch(queue, slot, totals + one, state->books, books, error);
}

static void answer_balance(const aqua_cuda *state, sel_total *totals, sel_request *request) {
    const aqua_plan *plan = state->all.plan;
    const sel_total *volume = totals + aqua_total_count(plan);
    join_books(plan, volume + 1, totals);
    aqua_answer_balance(&state->all, totals, sel_total_of(volume, state->all.store.whole), request);
}

static sel_status ask_flux(aqua_cuda *state, const sel_request *request, sel_error *error) {
    int64_t first;
    const int64_t count = aqua_flux_edges(state->all.plan, request, &first);
    const uint64_t bytes = (uint64_t)count * sizeof(double);
    cuda_queue *queue = state->all.base.queue;
    cuda_slot *slot;
    sel_status status = cuda_slot_open(queue, request, bytes + 1, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->count = count;
    return cuda_slot_fetch(queue, slot, 0, state->all.shown + first, bytes, error);
}

static sel_status ask(sel_state *base, const sel_request *request, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    return request->kind == SEL_BALANCE ? ask_balance(state, request, error)
                                        : ask_flux(state, request, error);
}

static void answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    const aqua_cuda *state = (const aqua_cuda *)base;
    if (request->kind == SEL_BALANCE) {
        answer_balance(state, slot->host, request);
    } else {
        aqua_answer_flux(&state->all, slot->host, slot->count, request);
    }
}

const cuda_solver aqua_on_cuda = {
    .what = "the water",
    .state_size = sizeof(aqua_cuda),
    .unit = AQUA_TILE_ROWS,
    .fits = fits,
    .list = list,
    .start = start,
    .alone = alone,
    .terms = terms,
    .step = enqueue_step,
    .check = check,
    .saving = saving,
    .loaded = loaded,
    .close = aqua_cuda_close_amounts,
    .look = look,
    .ask = ask,
    .answer = answer,
};
