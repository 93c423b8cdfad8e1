/* aqua_amounts.c -- rain, infiltration, sources and levels of sel.aqua on the device.
 *
 * What is the same for many cells is sent as a table of many steps, in which steps recorded in a
 * graph find theirs. Fields of rain and infiltration that vary in time are terms, evaluated by
 * kernels; only those that Lua alone can evaluate, and levels that vary in time and place, are sent
 * step by step. Pinned buffers take turns, so that nothing waits for a step.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/aqua_state.h"

/* Buffers that take turns: many small ones, so that the host may run ahead. */
enum { MANY = CUDA_FEED, FEW = 2 };

/* ---- which are terms ---- */

static void take_supply(aqua_cuda *state, int k) {
    const aqua_supply *supply = &state->all.plan->supply[k];
    aqua_gpu_spread *to = &state->spread[k];
    to->by_term = supply->spread == AQUA_FIELD && sel_quantity_depends(supply->rate) & SEL_ON_T &&
                  cuda_terms_take(&state->terms, supply->rate, CUDA_WARP, &to->term) &&
                  cuda_term_row_bytes(&to->term) <= CUDA_TERM_SHARED;
    to->term.number = k;
}

/* Which levels are amounts, and what the others depend on. */
static void take_levels(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        const aqua_law_level *law = aqua_level_of(plan->base.domain, r);
        const bool there = law && plan->ghosts.first[r] < plan->ghosts.first[r + 1];
        unsigned depends = there ? sel_quantity_depends(&law->z) : 0;
        if (depends & SEL_ON_T && !(depends & SEL_ON_PLACE)) {
            state->moving[state->moving_count++] = r;
            depends &= ~(unsigned)SEL_ON_T;
        }
        state->levels_depend |= depends & (SEL_ON_T | SEL_ON_CONTROLS);
    }
}

/* ---- memory ---- */

/* Columns of the amounts. */
static int64_t column_of_levels(const aqua_plan *plan) {
    return AQUA_SUPPLIES + (int64_t)(plan->inflow_count * sizeof(aqua_dose) / sizeof(double));
}

static int64_t amounts_width(const aqua_cuda *state) {
    return column_of_levels(state->all.plan) + state->moving_count;
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
                         plan->supply[AQUA_SOIL].spread == AQUA_UNIFORM || plan->inflow_count > 0 ||
                         state->moving_count > 0;
    sel_arrays *arrays = &state->all.base.arrays;
    if (arrays->failed) {
        return;
    }
    cuda_terms_list(&state->terms, arrays);
    for (int i = 0; i < plan->inflow_count; i++) {
        state->source_cell_count += plan->inflows[i].count;
    }
    SEL_ADD(arrays, state, amounts, amounts ? CUDA_STEPS * amounts_width(state) : 0, 0);
    SEL_ADD(arrays, state, source_cells, state->source_cell_count, 0);
    SEL_ADD(arrays, state, ghosts.at, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.level, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.ground, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.z, ghosts, 0);
}

void aqua_cuda_close_amounts(aqua_cuda *state) {
    cuda_feed_close(&state->rates[AQUA_RAIN]);
    cuda_feed_close(&state->rates[AQUA_SOIL]);
    cuda_feed_close(&state->sent);
    cuda_feed_close(&state->levels);
    cuda_terms_close(&state->terms);
}

/* ---- the start ---- */

static int compare_cells(const void *a, const void *b) {
    const aqua_gpu_source_cell *one = a, *other = b;
    return one->at != other->at ? (one->at > other->at ? 1 : -1)
                                : (one->source > other->source) - (one->source < other->source);
}

static sel_status send_source_cells(const aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const size_t count = (size_t)state->source_cell_count, size = sizeof(aqua_gpu_source_cell);
    aqua_gpu_source_cell *cells = malloc(count * size + 1), *next = cells;
    if (!cells) {
        return sel_fail_memory(error, "the sources", count * size);
    }
    for (uint32_t i = 0; i < (uint32_t)plan->inflow_count; i++) {
        const aqua_inflow *inflow = &plan->inflows[i];
        for (uint32_t c = 0; c < inflow->count; c++) {
            *next++ =
                (aqua_gpu_source_cell){(uint32_t)inflow->at[c], i, c, (uint32_t)inflow->count};
        }
    }
    qsort(cells, count, size, compare_cells);
    sel_status status = cuda_send(state->source_cells, cells, count * size, error);
    free(cells);
    return status;
}

static sel_status send_ghosts(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const aqua_ghosts *ghosts = &plan->ghosts;
    const uint64_t n = (uint64_t)ghosts->count;
    aqua_gpu_ghosts *to = &state->ghosts;
    to->count = (uint32_t)n;
    to->per_metre = state->all.store.per_metre;
    to->datum = state->all.store.datum;
    uint32_t *level = calloc(n + 1, sizeof *level);
    if (!level) {
        return sel_fail_memory(error, "the levels", n * sizeof *level);
    }
    for (uint64_t k = 0; k < n; k++) {
        level[k] = ghosts->level[k];
    }
    for (int m = 0; m < state->moving_count; m++) {
        const int64_t *first = &ghosts->first[state->moving[m]];
        for (int64_t k = first[0]; k < first[1]; k++) {
            level[k] = (uint32_t)column_of_levels(plan) + (uint32_t)m;
        }
    }
    sel_status status = cuda_send(to->at, ghosts->at, n * sizeof *ghosts->at, error);
    status = status ? status : cuda_send(to->level, level, n * sizeof *level, error);
    free(level);
    return status ? status : cuda_send(to->ground, ghosts->ground, n * sizeof(double), error);
}

static sel_status open_feeds(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const uint64_t field = (uint64_t)(aqua_cells(&state->all) * state->all.size);
    const int turns = state->levels_depend & SEL_ON_T ? MANY : 1;
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        const aqua_amount *amount = &state->all.amount[k];
        const bool varies = sel_quantity_depends(amount->supply->rate) & SEL_ON_T;
        if (amount->rate && !state->spread[k].by_term) {
            status = cuda_feed_open(&state->rates[k], amount->rate, field, varies ? FEW : 1, error);
        }
    }
    if (state->amounts && !status) {
        const uint64_t bytes = CUDA_STEPS * (uint64_t)amounts_width(state) * sizeof(double);
        status = cuda_feed_open(&state->sent, state->amounts, bytes, MANY, error);
    }
    if (plan->ghosts.count && !status) {
        status = cuda_feed_open(&state->levels, (void *)(uintptr_t)state->ghosts.z,
                                (uint64_t)plan->ghosts.count * sizeof(double), turns, error);
    }
    return status;
}

static void describe_supply(aqua_cuda *state, int k) {
    const aqua_amount *amount = &state->all.amount[k];
    aqua_gpu_spread *to = &state->spread[k];
    to->solid = state->view.solid;
    to->uniform = amount->supply->spread == AQUA_UNIFORM;
    to->column = (uint32_t)k;
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
    status = status ? status : send_source_cells(state, error);
    status = status ? status : send_ghosts(state, error);
    if (status) {
        return status;
    }
    state->depends = state->levels_depend;
    state->pattern.amounts = state->amounts;
    state->pattern.width = (uint32_t)amounts_width(state);
    describe_supply(state, AQUA_RAIN);
    describe_supply(state, AQUA_SOIL);
    state->sets_ghosts = state->moving_count > 0;
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
    void *pinned, *bed = aqua_levels_depend(all->plan) ? all->bed : NULL;
    if (state->ghosts.count == 0 || !((state->levels_depend | AQUA_ALWAYS) & due)) {
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
        flow.amounts = NULL; /* not yet those of this step */
        CUDA_TRY(aqua_gpu_set_ghosts(&flow, &state->ghosts, copy == 0 ? bed : NULL, stream));
    }
    if (bed && !status) {
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

/* The amounts of one step into its row. */
static void take_amounts(aqua_cuda *state, int64_t step, double *amounts) {
    aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    double *row = amounts + step % CUDA_STEPS * amounts_width(state);
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        row[k] = aqua_take(all, &all->amount[k]);
    }
    if (plan->supply[AQUA_RAIN].spread == AQUA_UNIFORM) {
        sel_total_more(&all->books.supplied[AQUA_RAIN], all->store.whole,
                       row[AQUA_RAIN] * (double)plan->base.domain->free_cells);
    }
    for (int i = 0; i < plan->inflow_count; i++) {
        const aqua_dose dose = aqua_take_dose(all, i);
        memcpy(row + AQUA_SUPPLIES + 2 * i, &dose, sizeof dose);
    }
    for (int m = 0; m < state->moving_count; m++) {
        row[column_of_levels(plan) + m] = all->z[plan->ghosts.first[state->moving[m]]];
    }
}

sel_status aqua_cuda_send_amounts(aqua_cuda *state, int64_t *count, sel_error *error) {
    aqua_state *all = &state->all;
    void *amounts;
    if (!state->amounts) {
        return SEL_OK;
    }
    sel_status status = cuda_feed_next(&state->sent, &amounts, error);
    for (int64_t k = 0; k < *count && !status; k++) {
        const int64_t step = all->base.step + k;
        sel_error *why = k ? NULL : error; /* later ones fail again as the first of a call */
        status = k ? aqua_evaluate(all, step, SEL_ON_T, why) : SEL_OK;
        if (!status && state->moving_count) {
            status = aqua_levels(all->plan, (double)step, SEL_ON_T, all->z, why);
        }
        if (status && k) {
            *count = k;
            status = SEL_OK;
        } else if (!status) {
            take_amounts(state, step, amounts);
        }
    }
    return status ? status : cuda_feed_send(&state->sent, all->base.queue->stream, error);
}

/* ---- faults ---- */

/* The host evaluates the step again and reports the first error, as the CPU backend would; if there
 * is none, that of the term that failed, at its place. */
sel_status aqua_cuda_explain(const aqua_cuda *state, const cuda_term_fault *fault,
                             sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const sel_grid *grid = &plan->base.domain->grid;
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        if (state->spread[k].by_term) {
            status = aqua_rate(plan, &plan->supply[k], fault->step, state->all.field, error);
        }
    }
    const double x = sel_centre(grid, 0, (double)(fault->place % grid->n[0]));
    const double y = sel_centre(grid, 1, (double)(fault->place / grid->n[0]));
    const double t = aqua_time_of_amounts(plan, fault->step);
    const sel_places at = sel_domain_at(plan->base.domain, 1, &x, &y, NULL, t);
    const aqua_supply *supply = &plan->supply[fault->number];
    return status ? status : cuda_term_unknown(supply->rate, supply->name, &at, error);
}
