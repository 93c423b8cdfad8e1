/* aqua_setup.c -- memory of the CUDA backend of sel.aqua, and what is sent before the first step.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda/aqua_state.h"

/* Buffers that take turns: of what is small many, so that the host may run ahead. */
enum { MANY = CUDA_FEED, FEW = 2 };

/* ---- memory ---- */

/* Memory for what a feed sends. */
static void list_feed(sel_arrays *arrays, cuda_feed *feed, int64_t count, uint32_t size) {
    sel_arrays_add(arrays, "feed", &feed->device, (sel_type){'s', size}, count, 0);
    feed->bytes = (uint64_t)count * size;
}

static int64_t count_taps(const aqua_plan *plan) {
    int64_t count = 0;
    for (int i = 0; i < plan->inflow_count; i++) {
        count += plan->inflows[i].count;
    }
    return count;
}

static bool wants(const aqua_plan *plan, int field) {
    return plan->base.wants_fields >> field & 1u;
}

/* What a march or a gather keeps besides, and what is looked at. */
static void list_flow(aqua_cuda *state, sel_arrays *arrays) {
    const aqua_plan *plan = state->all.plan;
    const aqua_layout *layout = &plan->layout;
    const bool whole = state->all.store.whole, scatters = plan->params->scheme == AQUA_SCATTER;
    const bool gathers = !scatters && aqua_gpu_gather_needs_scratch(whole);
    const bool ground =
        wants(plan, AQUA_GROUND) || wants(plan, AQUA_LEVEL) || wants(plan, AQUA_MAX_LEVEL);
    const int64_t tiles = !scatters && whole ? aqua_gpu_tiles(layout->nx, layout->ny) : 0;
    const sel_type real = {'f', (uint32_t)state->all.size};
    SEL_ADD(arrays, state, marks[0], tiles, 0);
    SEL_ADD(arrays, state, marks[1], tiles, 0);
    sel_arrays_add(arrays, "factor", &state->pattern.factor, real, gathers ? layout->cells : 0, 0);
    sel_arrays_add(arrays, "cut", &state->pattern.cut, real,
                   gathers && plan->params->equilibrium == AQUA_MINDIFF ? layout->cells : 0, 0);
    SEL_ADD(arrays, state, view.ground, ground ? aqua_cells(&state->all) : 0, 0);
}

void aqua_cuda_list(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    const aqua_plan *plan = (const aqua_plan *)base->plan;
    const int64_t ghosts = plan->ghosts.count, ny = plan->layout.ny;
    sel_arrays *arrays = &base->arrays;
    const uint32_t tables =
        CUDA_STEPS * (2 * sizeof(double) + (uint32_t)plan->inflow_count * sizeof(aqua_dose));
    const bool amounts =
        plan->rain == AQUA_UNIFORM || plan->infiltration == AQUA_UNIFORM || plan->inflow_count > 0;
    /* With the margin that a march reads. */
    aqua_list(&state->all, AQUA_GPU_MARGIN,
              AQUA_GPU_MARGIN + AQUA_GPU_MARGIN_ROWS * plan->layout.pitch);
    list_flow(state, arrays);
    SEL_ADD(arrays, state, pour.device.booked, plan->rain == AQUA_FIELD ? ny : 0,
            SEL_SAVED | SEL_OPTIONAL);
    SEL_ADD(arrays, state, soak.device.booked, plan->infiltration == AQUA_NOTHING ? 0 : ny,
            SEL_SAVED | SEL_OPTIONAL);
    SEL_ADD(arrays, state, booked, aqua_cuda_edges(state), SEL_SAVED | SEL_OPTIONAL);
    SEL_ADD_VALUE(arrays, state, soaked);
    SEL_ADD(arrays, state, out, plan->base.domain->region_count + 1, SEL_SAVED | SEL_ON_HOST);
    SEL_ADD(arrays, state, taps, count_taps(plan), 0);
    SEL_ADD(arrays, state, layers, plan->inflow_count, SEL_ON_HOST);
    SEL_ADD(arrays, state, ghosts.at, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.level, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.ground, ghosts, 0);
    list_feed(arrays, &state->amounts, amounts, tables);
    list_feed(arrays, &state->levels, ghosts, sizeof(double));
    aqua_cuda_list_terms(state);
}

void aqua_cuda_close(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    cuda_feed_close(&state->pour.rates);
    cuda_feed_close(&state->soak.rates);
    cuda_feed_close(&state->amounts);
    cuda_feed_close(&state->levels);
    aqua_cuda_close_terms(state);
}

static sel_status open_feed(cuda_feed *feed, void *device, uint64_t bytes, int turns,
                            sel_error *error) {
    return device ? cuda_feed_open(feed, device, bytes, turns, error) : SEL_OK;
}

static sel_status open_rates(const aqua_cuda *state, const aqua_amount *amount, aqua_supply *supply,
                             sel_error *error) {
    const int turns = sel_quantity_depends(amount->quantity) & SEL_ON_T ? FEW : 1;
    supply->device.rate = amount->rate;
    supply->device.owed = amount->owed;
    return open_feed(&supply->rates, supply->device.by_term ? NULL : amount->rate,
                     (uint64_t)(aqua_cells(&state->all) * state->all.size), turns, error);
}

static sel_status open_feeds(aqua_cuda *state, sel_error *error) {
    cuda_feed *amounts = &state->amounts, *levels = &state->levels;
    const int turns = aqua_levels_depend(state->all.plan) & SEL_ON_T ? MANY : 1;
    sel_status status = open_rates(state, &state->all.rain, &state->pour, error);
    status = status ? status : open_rates(state, &state->all.soil, &state->soak, error);
    status = status ? status : open_feed(amounts, amounts->device, amounts->bytes, MANY, error);
    return status ? status : open_feed(levels, levels->device, levels->bytes, turns, error);
}

/* What kernels need besides the arrays. */
static void describe(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const aqua_store *store = &state->all.store;
    const double alpha = plan->largest_alpha;
    aqua_gpu_flow *flow = &state->pattern;
    flow->layout = (aqua_gpu_layout){.nx = (uint32_t)plan->layout.nx,
                                     .ny = (uint32_t)plan->layout.ny,
                                     .pitch = (uint32_t)plan->layout.pitch,
                                     .cells = plan->layout.cells,
                                     .across = aqua_gpu_across(plan->layout.nx)};
    flow->whole = store->whole;
    flow->bed = state->all.bed;
    flow->alphas = state->all.alphas;
    flow->more = state->all.more;
    flow->less = state->all.less;
    flow->alpha = alpha < store->largest_alpha ? alpha : store->largest_alpha;
    flow->least = store->least;
    flow->equilibrium = plan->params->equilibrium;
    flow->limit = store->limit;
    flow->alarm = state->all.base.queue->alarm;
    state->ghosts.z = state->levels.device;
    state->view.layout = flow->layout;
    state->view.whole = store->whole;
    state->view.most = state->all.most;
    state->view.arrived = state->all.arrived;
    state->view.metre = 1 / store->per_metre;
    state->view.dt = grid->dt;
    state->ghosts.per_metre = store->per_metre;
    state->ghosts.datum = store->datum;
    state->periodic[0] = sel_axis_periodic(grid, 0);
    state->periodic[1] = sel_axis_periodic(grid, 1);
    flow->framed = plan->ghosts.count > 0 || state->periodic[0] || state->periodic[1];
    const double *tables = state->amounts.device;
    state->view.solid = state->all.base.solid;
    state->pour.device.solid = state->soak.device.solid = state->view.solid;
    state->pour.device.uniform = plan->rain == AQUA_UNIFORM ? tables : NULL;
    state->soak.device.uniform = plan->infiltration == AQUA_UNIFORM ? tables + CUDA_STEPS : NULL;
    state->depends = state->level_count ? 0 : aqua_levels_depend(plan);
    state->settles = state->level_count > 0;
    if (plan->rain == AQUA_FIELD && !state->pour.device.by_term) {
        state->depends |= sel_quantity_depends(&plan->params->rain);
    }
    if (plan->infiltration == AQUA_FIELD && !state->soak.device.by_term) {
        state->depends |= sel_quantity_depends(&plan->params->infiltration);
    }
}

/* ---- what is sent ---- */

static sel_status send_layout(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const uint64_t bytes = (uint64_t)plan->layout.cells * (uint64_t)state->all.size;
    void *values = malloc(bytes);
    if (!values) {
        return sel_fail_memory(error, "the water", bytes);
    }
    sel_status status = aqua_fill_bed(plan, values, error);
    status = status ? status : cuda_send(state->all.bed, values, bytes, error);
    status = status ? status : aqua_fill_water(plan, values, error);
    status = status ? status : cuda_send(state->all.water[0], values, bytes, error);
    if (!status && plan->alpha) {
        aqua_fill_alpha(plan, values);
        status = cuda_send(state->all.alphas, values, bytes, error);
    }
    free(values);
    return status;
}

/* ---- sources ---- */

/* To each source the first layer behind those of the earlier sources with which it shares a cell:
 * so they bring their water one after the other, as they are given. */
static int find_layers(const aqua_plan *plan, uint16_t *next, int *layer) {
    int layers = 0;
    for (int i = 0; i < plan->inflow_count; i++) {
        const aqua_inflow *inflow = &plan->inflows[i];
        layer[i] = 0;
        for (int64_t c = 0; c < inflow->count; c++) {
            layer[i] = next[inflow->at[c]] > layer[i] ? next[inflow->at[c]] : layer[i];
        }
        for (int64_t c = 0; c < inflow->count; c++) {
            next[inflow->at[c]] = (uint16_t)(layer[i] + 1);
        }
        layers = layer[i] + 1 > layers ? layer[i] + 1 : layers;
    }
    return layers;
}

static void list_taps(aqua_cuda *state, const int *layer, aqua_gpu_tap *taps) {
    const aqua_plan *plan = state->all.plan;
    uint32_t count = 0;
    for (int l = 0; l < state->layer_count; l++) {
        state->layers[l].first = count;
        for (int i = 0; i < plan->inflow_count; i++) {
            const aqua_inflow *inflow = &plan->inflows[i];
            for (int64_t c = 0; c < inflow->count && layer[i] == l; c++) {
                taps[count++] = (aqua_gpu_tap){.at = (uint32_t)inflow->at[c],
                                               .source = (uint32_t)i,
                                               .k = (uint32_t)c,
                                               .count = (uint32_t)inflow->count};
            }
        }
        state->layers[l].count = count - state->layers[l].first;
    }
}

static sel_status send_taps(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const size_t sources = (size_t)plan->inflow_count, count = (size_t)count_taps(plan);
    if (sources == 0) {
        return SEL_OK;
    }
    uint16_t *next = calloc((size_t)plan->layout.cells, sizeof *next);
    int *layer = malloc(sources * sizeof *layer);
    aqua_gpu_tap *taps = malloc(count * sizeof *taps);
    sel_status status = SEL_OK;
    if (next && layer && taps) {
        state->layer_count = find_layers(plan, next, layer);
        list_taps(state, layer, taps);
        status = cuda_send(state->taps, taps, count * sizeof *taps, error);
    } else {
        status = sel_fail_memory(error, "the sources", count * sizeof *taps);
    }
    free(next);
    free(layer);
    free(taps);
    return status;
}

/* ---- ghosts and edges ---- */

static bool is_inside(const aqua_layout *layout, int64_t at) {
    const int64_t x = at % layout->pitch - AQUA_HALO, y = at / layout->pitch - AQUA_HALO;
    return x >= 0 && x < layout->nx && y >= 0 && y < layout->ny;
}

static void list_ghosts(aqua_cuda *state, uint32_t *at, uint8_t *level) {
    const aqua_plan *plan = state->all.plan;
    const aqua_ghosts *ghosts = &plan->ghosts;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        for (int64_t k = ghosts->first[r]; k < ghosts->first[r + 1]; k++) {
            at[k] = (uint32_t)ghosts->at[k];
            level[k] = aqua_is_level(plan, r);
            state->settles = state->settles || is_inside(&plan->layout, ghosts->at[k]);
        }
    }
}

static sel_status send_ghosts(aqua_cuda *state, sel_error *error) {
    const aqua_ghosts *ghosts = &state->all.plan->ghosts;
    const size_t n = (size_t)ghosts->count;
    if (n == 0) {
        return SEL_OK;
    }
    uint32_t *at = malloc(n * sizeof *at);
    uint8_t *level = malloc(n);
    sel_status status = at && level ? SEL_OK : sel_fail_memory(error, "the open faces", 5 * n);
    if (!status) {
        list_ghosts(state, at, level);
        state->ghosts.count = (uint32_t)n;
        status = cuda_send(state->ghosts.at, at, n * sizeof *at, error);
    }
    status = status ? status : cuda_send(state->ghosts.level, level, n, error);
    status = status ? status
                    : cuda_send(state->ghosts.ground, ghosts->ground, n * sizeof(double), error);
    free(at);
    free(level);
    return status;
}

static sel_status send_edges(aqua_cuda *state, sel_error *error) {
    const size_t bytes = (size_t)aqua_cuda_edges(state) * sizeof(aqua_edge);
    aqua_edge *edges = malloc(bytes + 1);
    if (!edges) {
        return sel_fail_memory(error, "the edges of a balance", bytes);
    }
    sel_status status = SEL_OK;
    if (aqua_cuda_edges(state) > 0) {
        aqua_all_edges(state->all.plan, edges, state->all.first_edge);
        status = cuda_send(state->all.edges, edges, bytes, error);
    }
    free(edges);
    return status;
}

/* ---- step 0 ---- */

static sel_status start_watching(aqua_cuda *state, sel_error *error) {
    cudaStream_t stream = state->all.base.queue->stream;
    const cuda_clock before = cuda_queue_clock(state->all.base.queue, -1);
    if (state->all.arrived) {
        CUDA_TRY(cudaMemsetAsync(state->all.arrived, 0xff,
                                 (size_t)aqua_cells(&state->all) * sizeof *state->all.arrived,
                                 stream));
    }
    if (state->all.arrived || state->all.most) {
        CUDA_TRY(aqua_gpu_watch(&state->pattern.layout, state->all.store.whole, before,
                                state->all.water[0], state->all.most, state->all.arrived,
                                state->all.plan->params->arrival_depth * state->all.store.per_metre,
                                stream));
    }
    for (int k = 0; k < 2 && state->marks[k]; k++) {
        const aqua_gpu_layout *layout = &state->pattern.layout;
        CUDA_TRY(cudaMemsetAsync(state->marks[k], AQUA_ALL_WET,
                                 (size_t)aqua_gpu_tiles(layout->nx, layout->ny), stream));
    }
    return SEL_OK;
}

sel_status aqua_cuda_start(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const aqua_plan *plan = state->all.plan;
    const uint64_t cells = (uint64_t)aqua_cells(&state->all);
    sel_total volume = {0};
    sel_status status = aqua_cuda_start_terms(state, error);
    status = status ? status : open_feeds(state, error);
    describe(state);
    if (!status && state->view.ground) {
        status = cuda_send(state->view.ground, plan->ground, cells * sizeof(double), error);
    }
    status = status ? status : send_layout(state, error);
    status = status ? status : send_taps(state, error);
    status = status ? status : send_ghosts(state, error);
    status = status ? status : send_edges(state, error);
    status = status ? status : start_watching(state, error);
    status = status ? status : cuda_sum_now(base, &volume, error);
    state->all.first_volume = sel_total_of(&volume, state->all.store.whole);
    return status ? status : aqua_cuda_prepare(state, AQUA_ALWAYS, error);
}
