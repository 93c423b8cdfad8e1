/* aqua_cuda.c -- sel.aqua on the device: memory, amounts, steps.
 *
 * Two copies of the depths take turns. Rates that may fail are filled before a step changes any
 * depth, so that the last whole state survives: kernels of that step and later ones see that it
 * failed and do nothing. Kernels accumulate one total per row or per edge; these are saved, so that
 * a run is resumed bit by bit, and as the totals of all backends.
 *
 * Amounts, which are whole quanta with a carry, and levels are sent as a table of many steps, in
 * which steps recorded in a graph find theirs.
 */
#include "engine/solvers/aqua/aqua_cuda.h"

#include <string.h>

/* Buffers that take turns: many small ones, so that the host may run ahead. */
enum { MANY = CUDA_FEED, FEW = 2 };

/* Columns of the table: amounts, and levels behind them. */
static int64_t table_width(const aqua_plan *plan) {
    return aqua_amount_count(plan) + (plan->levels_depend & SEL_ON_T ? plan->ghosts.count : 0);
}

/* ---- memory ---- */

/* The first cell of this rank; *count: how many it has. */
static int64_t own_cells(const aqua_state *all, uint64_t *count) {
    const sel_rows_range own = sel_own_planes(&all->base);
    *count = (uint64_t)((own.end - own.first) * all->plan->layout.nx);
    return own.first * all->plan->layout.nx;
}

static void aqua_cuda_list(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan = (const aqua_plan *)base->plan;
    const aqua_layout *layout = &plan->layout;
    const bool levels = plan->levels_depend & SEL_ON_T;
    const bool amounts = aqua_is_uniform(plan, AQUA_RAIN) || aqua_is_uniform(plan, AQUA_SOIL) ||
                         plan->source_count > 0 || levels;
    sel_arrays *arrays = &base->arrays;
    SEL_ADD(arrays, state, view.flow.amounts, amounts ? CUDA_STEPS * table_width(plan) : 0, 0);
    SEL_ADD_COPY(arrays, state, view.flow.source_cells, plan->source_cell_count,
                 plan->source_cells);
    SEL_ADD_COPY(arrays, state, view.flow.ghosts, plan->ghosts.count, plan->ghosts.v);
    SEL_ADD(arrays, state, levels, levels ? 0 : plan->ghosts.count, 0);
    /* With the margin that a march reads. */
    aqua_list(all, AQUA_GPU_MARGIN, AQUA_GPU_MARGIN + AQUA_GPU_MARGIN_ROWS * layout->pitch);
    const sel_layout none = {.count = 0};
    const sel_layout *scratch = all->store.whole ? &none : &base->field[0].layout;
    const sel_layout *cuts = plan->params->equilibrium == AQUA_MINDIFF ? scratch : &none;
    const bool ground = aqua_wants(plan, AQUA_GROUND) || aqua_wants(plan, AQUA_LEVEL) ||
                        aqua_wants(plan, AQUA_MAX_LEVEL);
    state->tiles = all->store.whole ? aqua_gpu_tiles(layout->nx, layout->ny) : 0;
    SEL_ADD(arrays, state, marks, 2 * state->tiles, 0);
    sel_arrays_add_cells(arrays, "factor", &state->view.flow.factor, all->real, scratch, 0);
    sel_arrays_add_cells(arrays, "cut", &state->view.flow.cut, all->real, cuts, 0);
    if (ground) {
        sel_state_list_own(base, "ground", &state->view.ground, SEL_TYPE_OF(*plan->ground), 1, 0);
    }
    state->summed_edges = plan->base.wants_balance ? plan->ghosts.first_edge[AQUA_FIRSTS - 1] : 0;
    state->book_count =
        aqua_parts_of(plan, AQUA_RAIN) + aqua_parts_of(plan, AQUA_SOIL) + state->summed_edges;
    SEL_ADD(arrays, state, books, state->book_count, SEL_SAVED | SEL_OPTIONAL);
    SEL_ADD(arrays, state, copied, state->book_count, SEL_ON_HOST);
}

static void aqua_cuda_close(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    cuda_feed_close(&state->sent);
}

/* ---- what kernels see ---- */

static uint8_t *marks_of(const aqua_cuda *state, int64_t step) {
    const sel_state *base = &state->all.base;
    return state->marks ? state->marks + sel_copy_at(base, &base->field[0], step) * state->tiles
                        : NULL;
}

/* No tile is known to be dry: marks all as wet. */
static sel_status mark_all(const aqua_cuda *state, sel_error *error) {
    if (state->marks) {
        CUDA_TRY(cudaMemsetAsync(state->marks, AQUA_ALL_WET, 2 * (size_t)state->tiles,
                                 state->all.base.queue->stream));
    }
    return SEL_OK;
}

/* The step from `step` on, or in these of its planes. */
static aqua_gpu_flow flow_of(const aqua_cuda *state, int64_t step, const sel_patch *planes) {
    const aqua_state *all = &state->all;
    const sel_patch *block = planes ? planes : &all->base.own;
    const aqua_plan *plan = all->plan;
    const aqua_layout *l = &plan->layout;
    const bool begins = block->lo[1] == 0, ends = block->hi[1] == l->ny;
    aqua_gpu_flow flow = state->view.flow;
    flow.layout.first = (uint32_t)block->lo[1];
    flow.layout.end = (uint32_t)block->hi[1];
    flow.layout.first_cell = begins ? 0 : aqua_index(l, -AQUA_HALO, block->lo[1]);
    flow.layout.end_cell = ends ? l->cells : aqua_index(l, -AQUA_HALO, block->hi[1]);
    flow.clock = cuda_queue_clock(all->base.queue, step);
    flow.marks_from = marks_of(state, step);
    flow.marks_to = marks_of(state, step + 1);
    flow.images = aqua_images(l->nx, l->ny, flow.periodic, begins && ends);
    const int from = sel_copy_at(&all->base, &all->base.field[0], step);
    flow.from = all->water[from];
    flow.to = all->water[!from];
    return flow;
}

/* What kernels need, but for a step. */
static void aqua_cuda_describe(aqua_cuda *state) {
    const aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    const bool levels = plan->levels_depend & SEL_ON_T;
    const uint32_t rows = AQUA_TILE_ROWS, first = (uint32_t)all->base.own.lo[1];
    aqua_gpu_flow *flow = &state->view.flow;
    flow->layout = (aqua_gpu_layout){.nx = (uint32_t)plan->layout.nx,
                                     .ny = (uint32_t)plan->layout.ny,
                                     .pitch = (uint32_t)plan->layout.pitch,
                                     .across = aqua_gpu_across(plan->layout.nx),
                                     .shift = (rows - first % rows) % rows};
    flow->store = all->store;
    flow->bed = all->bed;
    flow->alphas = all->alphas;
    flow->equilibrium = plan->params->equilibrium;
    flow->sent = plan->params->scheme == AQUA_SCATTER;
    flow->alarm = all->base.queue->alarm;
    flow->halted = all->base.queue->halts;
    flow->width = (uint32_t)table_width(plan);
    flow->source_cell_count = plan->source_cell_count;
    flow->ghost_count = plan->ghosts.count;
    flow->levels = levels ? flow->amounts + aqua_amount_count(plan) : state->levels;
    flow->stride = levels ? table_width(plan) : 0;
    flow->periodic = plan->base.domain->grid.periodic;
    flow->framed = plan->ghosts.count > 0 || flow->periodic != 0;
    flow->edges = all->edges;
    flow->most = all->most;
    flow->arrived = all->arrived;
    flow->arrival = plan->params->arrival_depth * all->store.per_metre;
    state->view.grid = cuda_grid_of(&all->base);
    state->view.metre = 1 / all->store.per_metre;
    state->view.dt = plan->base.domain->grid.dt;
    sel_total *books = state->books;
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        aqua_gpu_spread *to = &state->spread[k];
        to->solid = all->base.solid;
        to->rate = all->rate[k];
        to->remainder = all->owed[k];
        to->totals = aqua_parts_of(plan, k) ? books : NULL;
        to->amount = k;
        books += aqua_parts_of(plan, k);
    }
    /* Ghosts in the grid, which the flow changes, give nothing to the soil. */
    flow->soaks = all->store.whole && aqua_is_uniform(plan, AQUA_SOIL) && !plan->ghosts.inside;
    flow->soil = state->spread[AQUA_SOIL].totals;
}

/* ---- amounts ---- */

/* Sets the ghosts at the start, and where levels do not vary in time: in both copies of the depths,
 * since the flow does not change those beyond the grid; and their beds. Completes the frame. */
static sel_status place_ghosts(aqua_cuda *state, unsigned due, sel_error *error) {
    aqua_state *all = &state->all;
    const aqua_gpu_flow *common = &state->view.flow;
    const unsigned depends = state->levels ? all->plan->levels_depend : 0;
    cudaStream_t stream = all->base.queue->stream;
    if (!((depends | SEL_ALWAYS) & due)) {
        return SEL_OK;
    }
    sel_status status =
        cuda_send(common->levels + all->base.step % CUDA_STEPS * common->stride, aqua_levels(all),
                  (uint64_t)common->ghost_count * sizeof(double), error);
    for (int k = 0; k < 2 && !status; k++) {
        aqua_gpu_flow flow = flow_of(state, all->base.step, NULL);
        flow.from = all->water[k];
        flow.marks_from = marks_of(state, k);
        CUDA_TRY(aqua_gpu_set_ghosts(&flow, k == 0, stream));
        CUDA_TRY(aqua_gpu_wrap(&flow, flow.from, stream));
    }
    return status;
}

/* Evaluates the amounts and levels of the present step that are due. */
static sel_status evaluate_amounts(aqua_state *all, unsigned due, sel_error *error) {
    const sel_status status =
        sel_inputs_evaluate(&all->plan->inputs, due, all->base.step, aqua_keep_values, all, error);
    return status ? status : aqua_refuse_inflow(&all->base, due, error);
}

/* Sends the amounts of *count steps from the present one on, which is evaluated; lowers *count to
 * those before a step that fails: it fails again as the first of a call. */
static sel_status send_amounts(aqua_cuda *state, int64_t *count, sel_error *error) {
    aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    const int64_t width = table_width(plan), own = aqua_amount_count(plan);
    const int64_t now = all->base.step;
    void *table;
    sel_status status = cuda_feed_next(&state->sent, &table, error);
    for (int64_t k = 0; k < *count && !status; k++) {
        double *row = (double *)table + (now + k) % CUDA_STEPS * width;
        all->base.step = now + k;
        if (k && evaluate_amounts(all, SEL_ON_T, NULL)) {
            *count = k;
            break;
        }
        aqua_take(all, row);
        memcpy(row + own, aqua_levels(all), (size_t)(width - own) * sizeof *row);
        if (aqua_is_uniform(plan, AQUA_RAIN)) {
            sel_total_more(&all->totals[AQUA_RAIN], all->store.whole,
                           row[AQUA_RAIN] * (double)plan->base.domain->free_cells);
        }
    }
    all->base.step = now;
    return status ? status : cuda_feed_send(&state->sent, all->base.queue->stream, error);
}

/* ---- step 0 ---- */

/* cuda_solver.beside: the kernel that pours a rate. */
static const char *aqua_cuda_beside(const sel_state *base, const sel_input *input) {
    static const char *const text[2][2] = {
        {AQUA_POUR("aqua_f64", "false"), AQUA_POUR("aqua_f64", "true")},
        {AQUA_POUR("aqua_f32", "false"), AQUA_POUR("aqua_f32", "true")}};
    return text[((const aqua_state *)base)->store.whole][input->which == AQUA_SOIL];
}

/* What pours and fills rates together, and what sends the amounts. */
static sel_status open_supplies(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const uint64_t table = CUDA_STEPS * (uint64_t)table_width(plan) * sizeof(double);
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        status = cuda_inputs_hand_over(&state->all.base, plan->supply[k], "pour", &state->pour[k],
                                       &state->fill[k], error);
    }
    return status || !state->view.flow.amounts
               ? status
               : cuda_feed_open(&state->sent, state->view.flow.amounts, table,
                                plan->levels_depend & SEL_ON_T ? FEW : MANY, error);
}

/* The tile of which the rank above has some rows is taken for wet; those beside, which are never
 * written, stay so. */
static sel_status mark_shared(const aqua_cuda *state, int64_t step, sel_error *error) {
    const sel_state *base = &state->all.base;
    const aqua_gpu_layout *l = &state->view.flow.layout;
    const int64_t row = base->own.hi[1] + l->shift;
    if (state->marks && base->ranks->count > 1 && row % AQUA_TILE_ROWS) {
        CUDA_TRY(cudaMemsetAsync(marks_of(state, step) + row / AQUA_TILE_ROWS * l->across,
                                 AQUA_ALL_WET, l->across, base->queue->stream));
    }
    return SEL_OK;
}

static sel_status aqua_cuda_start(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    aqua_state *all = &state->all;
    cudaStream_t stream = base->queue->stream;
    uint64_t count;
    const int64_t first = own_cells(all, &count);
    sel_total volume = {0};
    sel_status status = open_supplies(state, error);
    aqua_cuda_describe(state);
    status = status ? status : aqua_start_inputs(all, error);
    status = sel_state_agree(base, status, error);
    status = status ? status : aqua_start(all, error);
    if (!status && all->arrived) {
        CUDA_TRY(cudaMemsetAsync(all->arrived + first, 0xff, /* -1 */
                                 count * sizeof *all->arrived, stream));
    }
    if (!status && state->view.ground) {
        status = cuda_send(state->view.ground + first, all->plan->ground + first,
                           count * sizeof *state->view.ground, error);
    }
    if (!status) {
        const aqua_gpu_flow before = flow_of(state, -1, NULL);
        CUDA_TRY(aqua_gpu_watch(&before, stream));
    }
    status = status ? status : mark_all(state, error);
    status = status ? status : cuda_sum_now(base, &volume, error);
    all->first_volume = sel_total_of(&volume, all->store.whole);
    status = status ? status : place_ghosts(state, SEL_ALWAYS, error);
    status = status ? status : cuda_exchange(base, 0, stream, error);
    if (all->shown && !status) {
        const aqua_gpu_flow flow = flow_of(state, 0, NULL);
        CUDA_TRY(aqua_gpu_edges(&flow, all->edge_count, NULL, all->shown, stream));
    }
    return status;
}

/* ---- a step ---- */

/* cuda_take_slab: the flow. */
static sel_status aqua_cuda_take(sel_state *base, int64_t step, const cuda_slab *slab,
                                 sel_error *error) {
    const aqua_cuda *state = (const aqua_cuda *)base;
    const aqua_gpu_flow flow = flow_of(state, step, &slab->planes);
    CUDA_TRY((flow.store.whole ? aqua_gpu_march : aqua_gpu_two_pass)(&flow, slab->on));
    return SEL_OK;
}

/* Rain, or infiltration: of steps that are enqueued together with the next one by the kernel that
 * also fills the rates of that. */
static sel_status aqua_cuda_supply(const aqua_cuda *state, const aqua_gpu_flow *flow, int k,
                                   int64_t step, sel_error *error) {
    const cuda_queue *queue = state->all.base.queue;
    if (state->pour[k] && step + 1 < queue->until) {
        const unsigned threads[2] = {AQUA_SUPPLY_THREADS, 1};
        aqua_gpu_pour pour = {*flow, state->spread[k], *state->fill[k]};
        pour.next.clock = cuda_queue_clock(queue, step + 1);
        const int64_t rows = flow->layout.end - flow->layout.first;
        return cuda_kernel_launch(state->pour[k], cuda_shares(rows * CUDA_WARP, threads[0]),
                                  threads, &pour, queue->stream, error);
    }
    if (aqua_supply_of(state->all.plan, k)) {
        CUDA_TRY(aqua_gpu_supply(flow, k == AQUA_SOIL, &state->spread[k], queue->stream));
    }
    return SEL_OK;
}

static sel_status aqua_cuda_enqueue_step(sel_state *base, int64_t step, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    const int64_t observed = base->observing && all->shown ? all->edge_count : 0;
    sel_total *edge_books = state->books + state->book_count - state->summed_edges;
    /* Ghosts that the flow changes, or a level that varies in time, are set before every step. */
    const bool beds = plan->ghosts.count > 0 && !state->levels;
    const bool ghosts = plan->ghosts.inside || beds;
    cudaStream_t stream = base->queue->stream;
    const aqua_gpu_flow flow = flow_of(state, step, NULL);
    sel_status status = aqua_cuda_supply(state, &flow, AQUA_RAIN, step, error);
    if (status) {
        return status;
    }
    CUDA_TRY(aqua_gpu_source(&flow, stream));
    if (ghosts) {
        CUDA_TRY(aqua_gpu_set_ghosts(&flow, beds, stream));
    }
    CUDA_TRY(aqua_gpu_wrap(&flow, flow.from, stream));
    status = mark_shared(state, step, error);
    if (!status) { /* rims of ranks are of whole tiles */
        status = cuda_take_slabs(base, step, AQUA_TILE_ROWS, false, cuda_exchange, aqua_cuda_take,
                                 error);
    }
    if (status) {
        return status;
    }
    CUDA_TRY(aqua_gpu_edges(&flow, state->summed_edges, edge_books, NULL, stream));
    CUDA_TRY(aqua_gpu_edges(&flow, observed, NULL, all->shown, stream));
    status = flow.soaks ? SEL_OK : aqua_cuda_supply(state, &flow, AQUA_SOIL, step, error);
    CUDA_TRY(aqua_gpu_watch(&flow, stream));
    return status;
}

/* The earliest failure that kernels report; within a step, inputs come first. */
static sel_status aqua_cuda_check(sel_state *base, int64_t step, sel_error *error) {
    const aqua_cuda *state = (const aqua_cuda *)base;
    const aqua_plan *plan = state->all.plan;
    int64_t last;
    const bool failed = cuda_inputs_failed(base, step, &last);
    if (failed) {
        CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
    }
    const uint64_t alarm = *(volatile const uint64_t *)base->queue->seen;
    const uint64_t moment = alarm >> 32; /* twice the step, odd before its flow */
    if (alarm != CUDA_NO_ALARM && moment <= 2 * (uint64_t)last) {
        const aqua_layout *layout = &plan->layout;
        const int64_t least = flow_of(state, step, NULL).layout.first_cell;
        const int64_t at = least + (uint32_t)(alarm - (uint64_t)least); /* of the rank's cells */
        base->broken = true;
        return aqua_too_deep(plan, (int64_t)moment / 2, aqua_cell_number(layout, at), error);
    }
    base->unbalanced = base->unbalanced || failed;
    return failed ? cuda_inputs_check(base, step, error) : SEL_OK;
}

/* If the host fails, kernels may have failed in an earlier step. */
static sel_status aqua_cuda_terms(sel_state *base, unsigned due, int64_t *count, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    sel_status status = cuda_inputs_terms(base, due, error);
    status = status ? status : evaluate_amounts(&state->all, due, error);
    status = status ? status : place_ghosts(state, due, error);
    status = status || !state->view.flow.amounts ? status : send_amounts(state, count, error);
    if (status && base->inputs) {
        CUDA_TRY(cudaStreamSynchronize(base->queue->stream));
        const sel_status before = aqua_cuda_check(base, base->step, error);
        status = before ? before : status;
    }
    return status;
}

/* ---- checkpoints, fields ---- */

/* The totals of another backend's checkpoint stand in the first rows and edges; those of this one
 * are loaded afterwards. */
static sel_status aqua_cuda_loaded(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const int64_t step = base->step;
    const uint64_t bytes = (uint64_t)state->book_count * sizeof *state->books;
    base->step = step > 0 ? step - 1 : 0;
    sel_status status = sel_inputs_evaluate(&state->all.plan->inputs, SEL_ON_T | SEL_ON_CONTROLS,
                                            base->step, aqua_keep_values, state, error);
    status = status ? status : place_ghosts(state, SEL_ALWAYS, error);
    base->step = step;
    status = sel_state_agree(base, status, error);
    aqua_join_parts(state->all.plan, state->copied, state->all.totals, true);
    status = status ? status : cuda_send(state->books, state->copied, bytes, error);
    return status ? status : mark_all(state, error);
}

static sel_status aqua_cuda_look(sel_state *base, int field, const cuda_look **launchers,
                                 const void **view, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    (void)field, (void)error;
    state->view.water = cuda_parts_of(base, base->field[0].present);
    *launchers = aqua_gpu_look(state->all.store.whole);
    *view = &state->view;
    return SEL_OK;
}

const cuda_solver aqua_on_cuda = {
    .what = "the water",
    .state_size = sizeof(aqua_cuda),
    .list = aqua_cuda_list,
    .start = aqua_cuda_start,
    .cells = aqua_cells,
    .beside = aqua_cuda_beside,
    .terms = aqua_cuda_terms,
    .step = aqua_cuda_enqueue_step,
    .check = aqua_cuda_check,
    .saving = aqua_cuda_saving,
    .loaded = aqua_cuda_loaded,
    .close = aqua_cuda_close,
    .look = aqua_cuda_look,
    .ask = aqua_cuda_ask,
    .answer = aqua_cuda_answer,
};
