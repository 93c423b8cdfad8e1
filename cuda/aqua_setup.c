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

static void list_supply(sel_arrays *arrays, aqua_supply *supply, const char *const names[2],
                        sel_type real, const aqua_layout *layout) {
    const sel_cells cells = aqua_unframed(layout);
    if (supply->spread == AQUA_FIELD) {
        sel_arrays_add_cells(arrays, names[0], &supply->rates.device, real, &cells, SEL_SAVED);
        supply->rates.bytes = (uint64_t)cells.count * real.size;
    }
    if (supply->spread == AQUA_FIELD && real.size == 4) {
        sel_arrays_add_cells(arrays, names[1], &supply->device.owed, real, &cells, SEL_SAVED);
    }
    SEL_ADD(arrays, supply, device.booked, supply->spread == AQUA_NOTHING ? 0 : layout->ny,
            SEL_SAVED);
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

static void list_flow(aqua_cuda *state, sel_arrays *arrays, sel_type real, sel_type depth) {
    const aqua_plan *plan = state->plan;
    const aqua_layout *layout = &plan->layout;
    const bool scatters = plan->params->scheme == AQUA_SCATTER, whole = real.size == 4;
    const bool gathers = !scatters && aqua_gpu_gather_needs_scratch(whole);
    /* With the margin that a march reads. */
    const sel_cells framed = aqua_framed(layout, AQUA_GPU_MARGIN,
                                         AQUA_GPU_MARGIN + AQUA_GPU_MARGIN_ROWS * layout->pitch);
    const int64_t tiles = !scatters && whole ? aqua_gpu_tiles(layout->nx, layout->ny) : 0;
    const int64_t scratch = layout->cells;
    aqua_gpu_flow *flow = &state->pattern;
    sel_arrays_add_cells(arrays, "bed", &state->bed, real, &framed, 0);
    sel_arrays_add_cells(arrays, "water0", &state->water[0], depth, &framed, SEL_SAVED);
    sel_arrays_add_cells(arrays, "water1", &state->water[1], depth, &framed, SEL_SAVED);
    if (plan->alpha) {
        sel_arrays_add_cells(arrays, "alphas", &flow->alphas, real, &framed, 0);
    }
    SEL_ADD(arrays, state, marks[0], tiles, 0);
    SEL_ADD(arrays, state, marks[1], tiles, 0);
    sel_arrays_add(arrays, "factor", &flow->factor, real, gathers ? scratch : 0, 0);
    sel_arrays_add(arrays, "cut", &flow->cut, real,
                   gathers && plan->params->equilibrium == AQUA_MINDIFF ? scratch : 0, 0);
    sel_arrays_add(arrays, "more", &flow->more, depth, scatters ? scratch : 0, 0);
    sel_arrays_add(arrays, "less", &flow->less, depth, scatters ? scratch : 0, 0);
}

static void list_fields(aqua_cuda *state, sel_arrays *arrays, sel_type depth) {
    const aqua_plan *plan = state->plan;
    const sel_cells cells = aqua_unframed(&plan->layout);
    const bool ground =
        wants(plan, AQUA_GROUND) || wants(plan, AQUA_LEVEL) || wants(plan, AQUA_MAX_LEVEL);
    if (aqua_wants_max(plan)) {
        sel_arrays_add_cells(arrays, "most", &state->most, depth, &cells, SEL_SAVED);
    }
    if (aqua_wants_arrival(plan)) {
        sel_arrays_add_cells(arrays, "arrived", &state->arrived, SEL_TYPE_OF(*state->arrived),
                             &cells, SEL_SAVED);
    }
    state->base.last = (sel_last){.type = depth, .components = 1, .scale = state->store.per_metre};
    SEL_ADD(arrays, state, view.ground, ground ? cells.count : 0, 0);
    SEL_ADD(arrays, state, view.solid, cells.count, 0);
}

static void list_host(aqua_cuda *state, sel_arrays *arrays) {
    const aqua_plan *plan = state->plan;
    const int64_t sources = plan->inflow_count;
    const bool fields = plan->rain == AQUA_FIELD || plan->infiltration == AQUA_FIELD;
    SEL_ADD_VALUE(arrays, state, rain.carry);
    SEL_ADD_VALUE(arrays, state, soil.carry);
    SEL_ADD_VALUE(arrays, state, rained);
    SEL_ADD_VALUE(arrays, state, first_volume);
    SEL_ADD(arrays, state, inflow_units, sources, SEL_SAVED | SEL_ON_HOST);
    SEL_ADD(arrays, state, inflow_carry, sources, SEL_SAVED | SEL_ON_HOST);
    SEL_ADD(arrays, state, inflow_turn, sources, SEL_SAVED | SEL_ON_HOST);
    SEL_ADD(arrays, state, inflow, sources, SEL_SAVED | SEL_ON_HOST);
    SEL_ADD(arrays, state, layers, sources, SEL_ON_HOST);
    SEL_ADD(arrays, state, field, fields ? plan->layout.nx * plan->layout.ny : 0, SEL_ON_HOST);
    SEL_ADD(arrays, state, z, plan->ghosts.count, SEL_SAVED | SEL_ON_HOST);
}

void aqua_cuda_list(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    const aqua_plan *plan = state->plan = (const aqua_plan *)base->plan;
    const int64_t ghosts = plan->ghosts.count;
    sel_arrays *arrays = &base->arrays;
    state->store = aqua_store_of(plan);
    state->size = base->plan->precision == SEL_F32 ? 4 : 8;
    const sel_type real = {'f', (uint32_t)state->size};
    const sel_type depth = {state->store.whole ? 'i' : 'f', (uint32_t)state->size};
    const uint32_t tables =
        CUDA_STEPS * (2 * sizeof(double) + (uint32_t)plan->inflow_count * sizeof(aqua_gpu_dose));
    const bool amounts =
        plan->rain == AQUA_UNIFORM || plan->infiltration == AQUA_UNIFORM || plan->inflow_count > 0;
    state->rain =
        (aqua_supply){.spread = plan->rain, .quantity = &plan->params->rain, .evaluate = aqua_rain};
    state->soil = (aqua_supply){.spread = plan->infiltration,
                                .quantity = &plan->params->infiltration,
                                .evaluate = aqua_infiltration};
    list_flow(state, arrays, real, depth);
    list_fields(state, arrays, depth);
    list_supply(arrays, &state->rain, (const char *const[]){"rain", "rain_owed"}, real,
                &plan->layout);
    list_supply(arrays, &state->soil, (const char *const[]){"soil", "soil_owed"}, real,
                &plan->layout);
    SEL_ADD(arrays, state, taps, count_taps(plan), 0);
    list_feed(arrays, &state->amounts, amounts, tables);
    SEL_ADD(arrays, state, ghosts.at, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.level, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.ground, ghosts, 0);
    list_feed(arrays, &state->levels, ghosts, sizeof(double));
    state->edge_count =
        base->plan->wants_balance ? aqua_all_edges(plan, NULL, state->first_edge) : 0;
    SEL_ADD(arrays, state, edges, state->edge_count, 0);
    SEL_ADD(arrays, state, booked, state->edge_count, SEL_SAVED);
    list_host(state, arrays);
}

void aqua_cuda_close(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    cuda_feed_close(&state->rain.rates);
    cuda_feed_close(&state->soil.rates);
    cuda_feed_close(&state->amounts);
    cuda_feed_close(&state->levels);
}

static sel_status open_feed(cuda_feed *feed, bool often, int turns, sel_error *error) {
    return feed->bytes > 0
               ? cuda_feed_open(feed, feed->device, feed->bytes, often ? turns : 1, error)
               : SEL_OK;
}

static sel_status open_feeds(aqua_cuda *state, sel_error *error) {
    const aqua_params *params = state->plan->params;
    const bool moves = aqua_levels_depend(state->plan) & SEL_ON_T;
    sel_status status =
        open_feed(&state->rain.rates, sel_quantity_depends(&params->rain) & SEL_ON_T, FEW, error);
    status = status ? status
                    : open_feed(&state->soil.rates,
                                sel_quantity_depends(&params->infiltration) & SEL_ON_T, FEW, error);
    status = status ? status : open_feed(&state->amounts, true, MANY, error);
    return status ? status : open_feed(&state->levels, moves, MANY, error);
}

/* What kernels need besides the arrays. */
static void describe(aqua_cuda *state) {
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
    flow->alarm = state->base.queue->alarm;
    state->rain.device.rate = state->rain.rates.device;
    state->soil.device.rate = state->soil.rates.device;
    state->ghosts.z = state->levels.device;
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
    state->soil.device.uniform = plan->infiltration == AQUA_UNIFORM ? tables + CUDA_STEPS : NULL;
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

/* ---- what is sent ---- */

static sel_status send_layout(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    const uint64_t bytes = (uint64_t)plan->layout.cells * (uint64_t)state->size;
    void *values = malloc(bytes);
    if (!values) {
        return sel_fail_memory(error, "the water", bytes);
    }
    sel_status status = aqua_fill_bed(plan, values, error);
    status = status ? status : cuda_send(state->bed, values, bytes, error);
    status = status ? status : aqua_fill_water(plan, values, error);
    status = status ? status : cuda_send(state->water[0], values, bytes, error);
    if (!status && plan->alpha) {
        aqua_fill_alpha(plan, values);
        status = cuda_send(state->pattern.alphas, values, bytes, error);
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
    const aqua_plan *plan = state->plan;
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
    const aqua_plan *plan = state->plan;
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
    const aqua_plan *plan = state->plan;
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
    const aqua_ghosts *ghosts = &state->plan->ghosts;
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
    const size_t bytes = (size_t)state->edge_count * sizeof(aqua_edge);
    aqua_edge *edges = malloc(bytes + 1);
    if (!edges) {
        return sel_fail_memory(error, "the edges of a balance", bytes);
    }
    sel_status status = SEL_OK;
    if (state->edge_count > 0) {
        aqua_all_edges(state->plan, edges, state->first_edge);
        status = cuda_send(state->edges, edges, bytes, error);
    }
    free(edges);
    return status;
}

/* ---- step 0 ---- */

static sel_status start_watching(aqua_cuda *state, sel_error *error) {
    cudaStream_t stream = state->base.queue->stream;
    const cuda_clock before = cuda_queue_clock(state->base.queue, -1);
    if (state->arrived) {
        CUDA_TRY(cudaMemsetAsync(state->arrived, 0xff,
                                 (size_t)aqua_cuda_cells(state) * sizeof *state->arrived, stream));
    }
    if (state->arrived || state->most) {
        CUDA_TRY(aqua_gpu_watch(
            &state->pattern.layout, state->store.whole, before, state->water[0], state->most,
            state->arrived, state->plan->params->arrival_depth * state->store.per_metre, stream));
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
    const aqua_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const uint64_t cells = (uint64_t)aqua_cuda_cells(state);
    sel_total volume = {0};
    sel_status status = open_feeds(state, error);
    describe(state);
    status = status ? status : cuda_send(state->view.solid, domain->cell, cells, error);
    if (!status && state->view.ground) {
        status = cuda_send(state->view.ground, plan->ground, cells * sizeof(double), error);
    }
    status = status ? status : send_layout(state, error);
    status = status ? status : send_taps(state, error);
    status = status ? status : send_ghosts(state, error);
    status = status ? status : send_edges(state, error);
    status = status ? status : start_watching(state, error);
    status = status ? status : cuda_sum_now(base, &volume, error);
    state->first_volume = sel_total_of(&volume, state->store.whole);
    return status ? status : aqua_cuda_prepare(state, AQUA_ALWAYS, error);
}
