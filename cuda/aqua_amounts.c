/* aqua_amounts.c -- rain, infiltration, sources and levels of sel.aqua on the device.
 *
 * Uniform amounts are sent as tables of many steps, in which steps recorded in a graph find theirs.
 * Fields and levels that vary in time are terms, evaluated by kernels; only those that Lua alone
 * can evaluate are sent step by step. Pinned buffers take turns, so that nothing waits for a step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/aqua_state.h"

/* Buffers that take turns: many small ones, so that the host may run ahead. */
enum { MANY = CUDA_FEED, FEW = 2 };

/* Numbers of terms in faults: those of rain and infiltration, AQUA_SUPPLIES + r for the level of
 * region r. */

/* ---- which are terms ---- */

static void take_supply(aqua_cuda *state, int k) {
    const aqua_supply *supply = &state->all.plan->supply[k];
    aqua_gpu_spread *to = &state->spread[k];
    to->by_term = supply->spread == AQUA_FIELD && sel_quantity_depends(supply->rate) & SEL_ON_T &&
                  cuda_terms_take(&state->terms, supply->rate, CUDA_WARP, &to->term) &&
                  cuda_term_row_bytes(&to->term) <= CUDA_TERM_SHARED;
    to->term.number = k;
}

/* The law of a region whose ghosts have a level that varies in time. */
static const aqua_law_level *moving_level(const aqua_plan *plan, int region) {
    const aqua_law_level *law = aqua_level_of(plan->base.domain, region);
    const bool there = plan->ghosts.first[region] < plan->ghosts.first[region + 1];
    return law && there && sel_quantity_depends(&law->z) & SEL_ON_T ? law : NULL;
}

/* All of them, or none. */
static void take_levels(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        const aqua_law_level *law = moving_level(plan, r);
        aqua_gpu_level *to = &state->level[state->level_count];
        if (!law) {
            continue;
        }
        if (!cuda_terms_take(&state->terms, &law->z, CUDA_WARP, &to->term)) {
            state->level_count = 0;
            return;
        }
        to->term.number = AQUA_SUPPLIES + r;
        state->level_count++;
    }
}

/* ---- memory ---- */

static int64_t count_source_cells(const aqua_plan *plan) {
    int64_t count = 0;
    for (int i = 0; i < plan->inflow_count; i++) {
        count += plan->inflows[i].count;
    }
    return count;
}

static uint32_t amounts_bytes(const aqua_plan *plan) {
    return (uint32_t)(sizeof(aqua_amounts) +
                      CUDA_STEPS * (uint32_t)plan->inflow_count * sizeof(aqua_dose));
}

bool aqua_cuda_take_terms(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    const bool pours = plan->supply[AQUA_RAIN].spread != AQUA_NOTHING || plan->inflow_count > 0;
    if (!cuda_terms_open(&state->terms, plan->base.domain)) {
        state->all.base.arrays.failed = true;
        return false;
    }
    take_supply(state, AQUA_RAIN);
    take_supply(state, AQUA_SOIL);
    take_levels(state);
    return pours && (state->spread[AQUA_RAIN].by_term || state->spread[AQUA_SOIL].by_term);
}

void aqua_cuda_list_amounts(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    const int64_t ghosts = plan->ghosts.count;
    const bool amounts = plan->supply[AQUA_RAIN].spread == AQUA_UNIFORM ||
                         plan->supply[AQUA_SOIL].spread == AQUA_UNIFORM || plan->inflow_count > 0;
    sel_arrays *arrays = &state->all.base.arrays;
    if (arrays->failed) {
        return;
    }
    cuda_terms_list(&state->terms, arrays);
    sel_arrays_add(arrays, "amounts", &state->amounts, (sel_type){'s', amounts_bytes(plan)},
                   amounts, 0);
    SEL_ADD(arrays, state, source_cells, count_source_cells(plan), 0);
    SEL_ADD(arrays, state, layers, plan->inflow_count, SEL_ON_HOST);
    SEL_ADD(arrays, state, ghosts.at, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.level, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.ground, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.z, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.x, state->level_count ? ghosts : 0, 0);
    SEL_ADD(arrays, state, ghosts.y, state->level_count ? ghosts : 0, 0);
}

void aqua_cuda_close_amounts(aqua_cuda *state) {
    cuda_feed_close(&state->rates[AQUA_RAIN]);
    cuda_feed_close(&state->rates[AQUA_SOIL]);
    cuda_feed_close(&state->sent);
    cuda_feed_close(&state->levels);
    cuda_terms_close(&state->terms);
}

/* ---- the start ---- */

/* A source joins the layer of the one before it, or begins the next if it shares a cell with that
 * layer: so sources of one cell add their water in the order given. in[cell]: the last layer with
 * this cell, counted from 1. */
static void list_source_cells(aqua_cuda *state, uint16_t *in, aqua_gpu_source_cell *source_cells) {
    uint32_t count = 0;
    for (int i = 0; i < state->all.plan->inflow_count; i++) {
        const aqua_inflow *inflow = &state->all.plan->inflows[i];
        bool shares = false;
        for (int64_t c = 0; c < inflow->count; c++) {
            shares = shares || in[inflow->at[c]] == state->layer_count;
        }
        if (shares || i == 0) {
            state->layers[state->layer_count++].first = count;
        }
        for (int64_t c = 0; c < inflow->count; c++) {
            in[inflow->at[c]] = (uint16_t)state->layer_count;
            source_cells[count++] = (aqua_gpu_source_cell){.at = (uint32_t)inflow->at[c],
                                                           .source = (uint32_t)i,
                                                           .k = (uint32_t)c,
                                                           .count = (uint32_t)inflow->count};
        }
        state->layers[state->layer_count - 1].count += (uint32_t)inflow->count;
    }
}

static sel_status send_source_cells(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const size_t bytes = (size_t)count_source_cells(plan) * sizeof(aqua_gpu_source_cell);
    uint16_t *in = calloc((size_t)plan->layout.cells, sizeof *in);
    aqua_gpu_source_cell *source_cells = malloc(bytes + 1);
    sel_status status = in && source_cells ? SEL_OK : sel_fail_memory(error, "the sources", bytes);
    if (!status) {
        list_source_cells(state, in, source_cells);
        status = cuda_send(state->source_cells, source_cells, bytes, error);
    }
    free(in);
    free(source_cells);
    return status;
}

static sel_status send_ghosts(aqua_cuda *state, sel_error *error) {
    const aqua_ghosts *ghosts = &state->all.plan->ghosts;
    const uint64_t n = (uint64_t)ghosts->count, bytes = n * sizeof(double);
    aqua_gpu_ghosts *to = &state->ghosts;
    to->count = (uint32_t)n;
    to->per_metre = state->all.store.per_metre;
    to->datum = state->all.store.datum;
    sel_status status = cuda_send(to->at, ghosts->at, n * sizeof *ghosts->at, error);
    status = status ? status : cuda_send(to->level, ghosts->level, n, error);
    status = status ? status : cuda_send(to->ground, ghosts->ground, bytes, error);
    if (state->level_count) {
        status = status ? status : cuda_send(to->x, ghosts->x, bytes, error);
        status = status ? status : cuda_send(to->y, ghosts->y, bytes, error);
    }
    return status;
}

static sel_status open_feeds(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const uint64_t field = (uint64_t)(aqua_cells(&state->all) * state->all.size);
    const int turns = aqua_levels_depend(plan) & SEL_ON_T ? MANY : 1;
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        const aqua_amount *amount = &state->all.amount[k];
        const bool varies = sel_quantity_depends(amount->supply->rate) & SEL_ON_T;
        if (amount->rate && !state->spread[k].by_term) {
            status = cuda_feed_open(&state->rates[k], amount->rate, field, varies ? FEW : 1, error);
        }
    }
    if (state->amounts && !status) {
        status = cuda_feed_open(&state->sent, state->amounts, amounts_bytes(plan), MANY, error);
    }
    if (plan->ghosts.count && !status) {
        status = cuda_feed_open(&state->levels, (void *)(uintptr_t)state->ghosts.z,
                                (uint64_t)plan->ghosts.count * sizeof(double), turns, error);
    }
    return status;
}

static void describe_supply(aqua_cuda *state, int k) {
    const aqua_amount *amount = &state->all.amount[k];
    const bool uniform = amount->supply->spread == AQUA_UNIFORM;
    aqua_gpu_spread *to = &state->spread[k];
    to->solid = state->view.solid;
    to->uniform = uniform ? state->amounts->uniform[k] : NULL;
    to->rate = amount->rate;
    to->remainder = amount->owed;
    to->terms = cuda_terms_see(&state->terms);
    to->grid = state->all.plan->base.domain->grid;
    to->unit = aqua_rate_unit(state->all.plan);
    to->most = state->all.store.most_rain;
    if (amount->supply->spread == AQUA_FIELD && !to->by_term) {
        state->depends |= sel_quantity_depends(amount->supply->rate);
    }
}

static void describe_level(const aqua_cuda *state, aqua_gpu_level *to) {
    const aqua_plan *plan = state->all.plan;
    const int region = to->term.number - AQUA_SUPPLIES;
    const int64_t first = plan->ghosts.first[region];
    to->count = (uint32_t)(plan->ghosts.first[region + 1] - first);
    to->x = state->ghosts.x + first;
    to->y = state->ghosts.y + first;
    to->ground = state->ghosts.ground + first;
    to->z = (double *)state->levels.device + first;
    to->per_metre = state->all.store.per_metre;
    to->limit = plan->bits ? state->all.store.limit : HUGE_VAL;
    to->dt = plan->base.domain->grid.dt;
    to->terms = cuda_terms_see(&state->terms);
}

sel_status aqua_cuda_start_amounts(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const aqua_ghosts *ghosts = &plan->ghosts;
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        status = state->spread[k].by_term
                     ? aqua_rate(plan, &plan->supply[k], 0, state->all.field, error)
                     : SEL_OK;
    }
    status = status ? status : aqua_levels(plan, 0, AQUA_ALWAYS, state->all.z, error);
    status = status ? status : cuda_terms_start(&state->terms, error);
    status = status ? status : open_feeds(state, error);
    status = status || !plan->inflow_count ? status : send_source_cells(state, error);
    status = status ? status : send_ghosts(state, error);
    if (status) {
        return status;
    }
    state->depends = state->level_count ? 0 : aqua_levels_depend(plan);
    describe_supply(state, AQUA_RAIN);
    describe_supply(state, AQUA_SOIL);
    for (int k = 0; k < state->level_count; k++) {
        describe_level(state, &state->level[k]);
    }
    state->sets_ghosts = state->level_count > 0;
    for (int64_t k = 0; k < ghosts->count; k++) {
        const int64_t x = ghosts->at[k] % plan->layout.pitch - AQUA_HALO;
        const int64_t y = ghosts->at[k] / plan->layout.pitch - AQUA_HALO;
        state->sets_ghosts =
            state->sets_ghosts || (x >= 0 && x < plan->layout.nx && y >= 0 && y < plan->layout.ny);
    }
    return SEL_OK;
}

/* ---- steps ---- */

static sel_status send_rates(aqua_cuda *state, int k, unsigned due, sel_error *error) {
    const aqua_amount *amount = &state->all.amount[k];
    cuda_feed *rates = &state->rates[k];
    void *pinned;
    if (state->spread[k].by_term || !aqua_rates_are_due(amount, due)) {
        return SEL_OK;
    }
    sel_status status = cuda_feed_next(rates, &pinned, error);
    status = status ? status : aqua_rates(&state->all, amount, pinned, error);
    return status ? status : cuda_feed_send(rates, state->all.base.queue->stream, error);
}

/* Sets the ghosts in both copies of the depths, since the flow does not change those beyond the
 * grid, and in the third. */
static sel_status send_levels(aqua_cuda *state, unsigned due, sel_error *error) {
    aqua_state *all = &state->all;
    cudaStream_t stream = all->base.queue->stream;
    const unsigned depends = aqua_levels_depend(all->plan);
    const unsigned here = state->level_count ? depends & ~(unsigned)SEL_ON_T : depends;
    void *pinned;
    if (state->ghosts.count == 0 || !((here | AQUA_ALWAYS) & due)) {
        return SEL_OK;
    }
    sel_status status = aqua_levels(all->plan, (double)all->base.step, due, all->z, error);
    status = status ? status : cuda_feed_next(&state->levels, &pinned, error);
    if (status) {
        return status;
    }
    memcpy(pinned, all->z, state->levels.bytes);
    status = cuda_feed_send(&state->levels, stream, error);
    for (int k = 0; k < 3 * all->base.blocks.count && !status; k++) {
        const int b = k / 3, copy = k % 3;
        aqua_gpu_flow flow = aqua_cuda_flow(state, all->base.step, b);
        flow.from = copy == 2 ? all->poured : all->water[b][copy];
        flow.marks_from = copy == 2 ? NULL : state->marks[copy];
        CUDA_TRY(aqua_gpu_set_ghosts(&flow, &state->ghosts, depends && copy == 0 ? all->bed : NULL,
                                     stream));
    }
    if (depends && !status) {
        CUDA_TRY(aqua_gpu_wrap(&state->pattern, all->bed, stream));
    }
    return status;
}

sel_status aqua_cuda_prepare(aqua_cuda *state, unsigned due, sel_error *error) {
    aqua_state *all = &state->all;
    sel_status status = due & SEL_ON_CONTROLS
                            ? cuda_terms_set_controls(&state->terms, all->base.controls,
                                                      all->base.queue->stream, error)
                            : SEL_OK;
    status = status ? status : send_rates(state, AQUA_RAIN, due, error);
    status = status ? status : send_rates(state, AQUA_SOIL, due, error);
    status = status ? status : aqua_evaluate(all, all->base.step, due, error);
    return status ? status : send_levels(state, due, error);
}

/* The amounts of one step into its place in the tables. */
static void take_amounts(aqua_cuda *state, int64_t step, aqua_amounts *to) {
    aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    const int64_t place = step % CUDA_STEPS;
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        to->uniform[k][place] = aqua_take(all, &all->amount[k]);
    }
    if (plan->supply[AQUA_RAIN].spread == AQUA_UNIFORM) {
        sel_total_more(&all->books.supplied[AQUA_RAIN], all->store.whole,
                       to->uniform[AQUA_RAIN][place] * (double)plan->base.domain->free_cells);
    }
    for (int i = 0; i < plan->inflow_count; i++) {
        to->doses[place * plan->inflow_count + i] = aqua_take_dose(all, i);
    }
}

sel_status aqua_cuda_send_amounts(aqua_cuda *state, int64_t *count, sel_error *error) {
    void *amounts;
    if (!state->amounts) {
        return SEL_OK;
    }
    sel_status status = cuda_feed_next(&state->sent, &amounts, error);
    if (status) {
        return status;
    }
    for (int64_t k = 0; k < *count; k++) {
        const int64_t step = state->all.base.step + k;
        if (k > 0 && aqua_evaluate(&state->all, step, SEL_ON_T, NULL)) {
            *count = k; /* it fails again, and is reported, as the first of the next call */
            break;
        }
        take_amounts(state, step, amounts);
    }
    return cuda_feed_send(&state->sent, state->all.base.queue->stream, error);
}

/* ---- faults ---- */

/* The error of the term that failed, at its place. */
static sel_status unknown(const aqua_cuda *state, const cuda_term_fault *fault, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const sel_grid *grid = &plan->base.domain->grid;
    double x = sel_centre(grid, 0, (double)(fault->place % grid->n[0]));
    double y = sel_centre(grid, 1, (double)(fault->place / grid->n[0]));
    sel_places at = {.n = 1,
                     .x = &x,
                     .y = &y,
                     .t = aqua_time_of_amounts(plan, fault->step),
                     .controls = plan->base.domain->control_values};
    if (fault->number < AQUA_SUPPLIES) {
        const aqua_supply *supply = &plan->supply[fault->number];
        return cuda_term_unknown(supply->rate, supply->name, &at, error);
    }
    const int region = fault->number - AQUA_SUPPLIES;
    x = plan->ghosts.x[plan->ghosts.first[region] + fault->place];
    y = plan->ghosts.y[plan->ghosts.first[region] + fault->place];
    at.t = (double)fault->step * grid->dt;
    return cuda_term_unknown(&moving_level(plan, region)->z, "law.level", &at, error);
}

/* The host evaluates the step again in the order of the CPU backend and reports its first error. */
sel_status aqua_cuda_explain(const aqua_cuda *state, const cuda_term_fault *fault,
                             sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        if (state->spread[k].by_term) {
            status = aqua_rate(plan, &plan->supply[k], fault->step, state->all.field, error);
        }
    }
    if (!status && state->level_count) {
        status = aqua_levels(plan, (double)fault->step, SEL_ON_T, state->all.z, error);
    }
    return status ? status : unknown(state, fault, error);
}
