/* aqua_setup.c -- memory of the CUDA backend of sel.aqua, and what is sent before the first step.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda/aqua_state.h"

/* Buffers that take turns: of what is small many, so that the host may run ahead. */
enum { MANY = CUDA_FEED, FEW = 2 };

/* ---- memory ---- */

static void take(aqua_taker *t, void *block, bool wanted, int64_t count, uint64_t size) {
    const uint64_t bytes = (uint64_t)count * size;
    if (!wanted || t->status) {
        return;
    }
    t->bytes += bytes + 256;
    if (t->queue) {
        t->status = cuda_queue_take(t->queue, (void **)block, bytes, t->error);
    }
}

/* Beds, depths or alphas, with the margin that a march reads. */
static void take_cells(aqua_taker *t, void *block, bool wanted, const aqua_layout *layout,
                       uint64_t size) {
    char **at = block;
    const int64_t behind = AQUA_GPU_MARGIN + AQUA_GPU_MARGIN_ROWS * layout->pitch;
    take(t, block, wanted, AQUA_GPU_MARGIN + layout->cells + behind, size);
    if (wanted && t->queue && !t->status) {
        *at += AQUA_GPU_MARGIN * size;
    }
}

/* Memory for what a feed sends, and the feed. */
static void take_feed(aqua_taker *t, cuda_feed *feed, bool wanted, uint64_t bytes, int turns) {
    void *device = NULL;
    take(t, &device, wanted, (int64_t)bytes, 1);
    if (wanted && t->queue && !t->status) {
        t->status = cuda_feed_open(feed, device, bytes, turns, t->error);
    }
}

static void take_supply(aqua_taker *t, aqua_supply *supply, const aqua_layout *layout,
                        uint64_t size) {
    const bool field = supply->spread == AQUA_FIELD;
    const int64_t cells = layout->nx * layout->ny;
    const bool varies = sel_quantity_depends(supply->quantity) & SEL_ON_T;
    take_feed(t, &supply->rates, field, (uint64_t)cells * size, varies ? FEW : 1);
    take(t, &supply->device.owed, field && size == 4, cells, size);
    supply->device.rate = supply->rates.device;
    take(t, &supply->device.booked, supply->spread != AQUA_NOTHING, layout->ny,
         sizeof(aqua_gpu_total));
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

static void take_ghosts(sel_state *state, aqua_taker *t) {
    const int64_t count = state->plan->ghosts.count;
    const bool varies = aqua_levels_depend(state->plan) & SEL_ON_T;
    take(t, &state->ghosts.at, count > 0, count, sizeof *state->ghosts.at);
    take(t, &state->ghosts.level, count > 0, count, sizeof *state->ghosts.level);
    take(t, &state->ghosts.ground, count > 0, count, sizeof *state->ghosts.ground);
    take_feed(t, &state->levels, count > 0, (uint64_t)count * sizeof(double), varies ? MANY : 1);
    state->ghosts.z = state->levels.device;
}

static bool marches(const aqua_plan *plan) {
    return plan->params->scheme != AQUA_SCATTER && plan->base.precision == SEL_F32;
}

sel_status aqua_cuda_place(sel_state *state, const sel_plan *base, aqua_taker *t) {
    const aqua_plan *plan = (const aqua_plan *)base;
    const aqua_layout *layout = &plan->layout;
    const int64_t cells = layout->nx * layout->ny, all = layout->cells;
    const uint64_t size = base->precision == SEL_F32 ? 4 : 8;
    const bool scatters = plan->params->scheme == AQUA_SCATTER;
    const bool gathers = !scatters && aqua_gpu_gather_needs_scratch(base->precision == SEL_F32);
    const bool ground =
        wants(plan, AQUA_GROUND) || wants(plan, AQUA_LEVEL) || wants(plan, AQUA_MAX_LEVEL);
    const uint64_t tables =
        AQUA_AHEAD * (2 * sizeof(double) + (uint64_t)plan->inflow_count * sizeof(aqua_gpu_dose));
    const bool amounts =
        plan->rain == AQUA_UNIFORM || plan->infiltration == AQUA_UNIFORM || plan->inflow_count > 0;
    state->rain =
        (aqua_supply){.spread = plan->rain, .quantity = &plan->params->rain, .evaluate = aqua_rain};
    state->soil = (aqua_supply){.spread = plan->infiltration,
                                .quantity = &plan->params->infiltration,
                                .evaluate = aqua_infiltration};
    take_cells(t, &state->bed, true, layout, size);
    take_cells(t, &state->water[0], true, layout, size);
    take_cells(t, &state->water[1], true, layout, size);
    for (int k = 0; k < 2; k++) {
        take(t, &state->marks[k], marches(plan), aqua_gpu_tiles(layout->nx, layout->ny), 1);
    }
    take_cells(t, &state->pattern.alphas, plan->alpha != NULL, layout, size);
    take(t, &state->pattern.factor, gathers, all, size);
    take(t, &state->pattern.cut, gathers && plan->params->equilibrium == AQUA_MINDIFF, all, size);
    take(t, &state->pattern.more, scatters, all, size);
    take(t, &state->pattern.less, scatters, all, size);
    take(t, &state->most, aqua_wants_max(plan), cells, size);
    take(t, &state->arrived, aqua_wants_arrival(plan), cells, sizeof(int32_t));
    take(t, &state->last, true, cells, size);
    take(t, &state->view.ground, ground, cells, sizeof(double));
    take(t, &state->view.solid, true, cells, 1);
    take(t, &state->rows, true, layout->ny, AQUA_ROW_BYTES);
    take(t, &state->clock, true, 1, sizeof *state->clock);
    take(t, &state->alarm, true, 1, sizeof *state->alarm);
    take(t, &state->taps, plan->inflow_count > 0, count_taps(plan), sizeof *state->taps);
    take_supply(t, &state->rain, layout, size);
    take_supply(t, &state->soil, layout, size);
    take_feed(t, &state->amounts, amounts, tables, MANY);
    take_ghosts(state, t);
    return t->status;
}

/* ---- what is sent ---- */

static sel_status send(sel_state *state, const void *to, const void *from, uint64_t bytes,
                       sel_error *error) {
    cudaStream_t stream = state->queue.stream;
    CUDA_TRY(cudaMemcpyAsync((void *)(uintptr_t)to, from, bytes, cudaMemcpyHostToDevice, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    return SEL_OK;
}

static sel_status send_layout(sel_state *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    const uint64_t bytes = (uint64_t)plan->layout.cells * (uint64_t)state->size;
    void *values = malloc(bytes);
    if (!values) {
        return sel_fail_memory(error, "the water", bytes);
    }
    sel_status status = aqua_fill_bed(plan, values, error);
    status = status ? status : send(state, state->bed, values, bytes, error);
    status = status ? status : aqua_fill_water(plan, values, error);
    status = status ? status : send(state, state->water[0], values, bytes, error);
    if (!status && plan->alpha) {
        aqua_fill_alpha(plan, values);
        status = send(state, state->pattern.alphas, values, bytes, error);
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

static void list_taps(sel_state *state, const int *layer, aqua_gpu_tap *taps) {
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

static sel_status send_taps(sel_state *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    const size_t sources = (size_t)plan->inflow_count, count = (size_t)count_taps(plan);
    if (sources == 0) {
        return SEL_OK;
    }
    uint16_t *next = calloc((size_t)plan->layout.cells, sizeof *next);
    int *layer = malloc(sources * sizeof *layer);
    aqua_gpu_tap *taps = malloc(count * sizeof *taps);
    state->layers = malloc(sources * sizeof *state->layers);
    sel_status status = SEL_OK;
    if (next && layer && taps && state->layers) {
        state->layer_count = find_layers(plan, next, layer);
        list_taps(state, layer, taps);
        status = send(state, state->taps, taps, count * sizeof *taps, error);
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

static void list_ghosts(sel_state *state, uint32_t *at, uint8_t *level) {
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

static sel_status send_ghosts(sel_state *state, sel_error *error) {
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
        status = send(state, state->ghosts.at, at, n * sizeof *at, error);
    }
    status = status ? status : send(state, state->ghosts.level, level, n, error);
    status = status ? status
                    : send(state, state->ghosts.ground, ghosts->ground, n * sizeof(double), error);
    free(at);
    free(level);
    return status;
}

/* Appends the edges into the ghosts of a region. */
static sel_status add_edges(sel_state *state, int region, aqua_gpu_edge **edges, sel_error *error) {
    const sel_request request = {.kind = SEL_FLUX, .region = region};
    aqua_edges found;
    sel_status status = aqua_flux_edges(state->plan, &request, &found, error);
    const size_t count = (size_t)(state->edge_count + found.count + 1);
    aqua_gpu_edge *longer = status ? NULL : realloc(*edges, count * sizeof *longer);
    if (longer) {
        *edges = longer;
        for (int64_t e = 0; e < found.count; e++) {
            const aqua_edge *edge = &found.v[e];
            longer[state->edge_count++] = (aqua_gpu_edge){
                .at = (uint32_t)edge->at, .k = (int16_t)edge->k, .sign = (int16_t)edge->sign};
        }
        state->first_edge[region + 1] = state->edge_count;
    } else if (!status) {
        status = sel_fail_memory(error, "the edges of a balance", count * sizeof *longer);
    }
    aqua_edges_free(&found);
    return status;
}

static sel_status send_edges(sel_state *state, sel_error *error) {
    aqua_gpu_edge *edges = NULL;
    sel_status status = SEL_OK;
    const int regions =
        state->plan->base.wants_balance ? state->plan->base.domain->region_count : 0;
    for (int r = 1; r <= regions && !status; r++) {
        status = add_edges(state, r, &edges, error);
    }
    const uint64_t count = (uint64_t)state->edge_count;
    if (!status && count > 0) {
        status = cuda_queue_upload(&state->queue, (void **)&state->edges, edges,
                                   count * sizeof *edges, error);
    }
    if (!status && count > 0) {
        status = cuda_queue_take(&state->queue, (void **)&state->booked,
                                 count * sizeof *state->booked, error);
    }
    free(edges);
    return status;
}

/* ---- step 0 ---- */

static sel_status start_watching(sel_state *state, sel_error *error) {
    cudaStream_t stream = state->queue.stream;
    const aqua_gpu_clock before = {state->clock, -1};
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
    CUDA_TRY(cudaMemsetAsync(state->alarm, 0xff, sizeof *state->alarm, stream));
    return SEL_OK;
}

sel_status aqua_cuda_fill(sel_state *state, sel_error *error) {
    const aqua_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const uint64_t cells = (uint64_t)aqua_cuda_cells(state);
    sel_status status = send(state, state->view.solid, domain->cell, cells, error);
    if (!status && state->view.ground) {
        status = send(state, state->view.ground, plan->ground, cells * sizeof(double), error);
    }
    status = status ? status : send_layout(state, error);
    status = status ? status : send_taps(state, error);
    status = status ? status : send_ghosts(state, error);
    status = status ? status : send_edges(state, error);
    status = status ? status : start_watching(state, error);
    status = status ? status : aqua_cuda_volume(state, &state->first_volume, error);
    return status ? status : aqua_cuda_prepare(state, AQUA_ALWAYS, error);
}
