/* aqua_amounts.c -- rain, infiltration, sources and levels of sel.aqua on the device.
 *
 * What is the same for many cells, and the levels where they vary in time, is sent as a table of
 * many steps, in which steps recorded in a graph find theirs. Fields of rain and infiltration that
 * vary in time are terms, evaluated by kernels; only those that Lua alone can evaluate are sent
 * step by step. Pinned buffers take turns, so that nothing waits for a step.
 */
#include <string.h>
#include "cuda/aqua_state.h"

/* Buffers that take turns: many small ones, so that the host may run ahead. */
enum { MANY = CUDA_FEED, FEW = 2 };

/* ---- which are terms ---- */

static void take_supply(aqua_cuda *state, int k) {
    const aqua_term *term = &state->all.plan->terms[k];
    aqua_gpu_spread *to = &state->spread[k];
    const bool varies = sel_quantity_depends(term->quantity) & SEL_ON_T;
    to->by_term = term->spread == AQUA_FIELD && varies &&
                  cuda_terms_take(&state->terms, term->quantity, CUDA_WARP, &to->term) &&
                  cuda_term_row_bytes(&to->term) <= CUDA_TERM_SHARED;
    to->term.number = k;
    state->alone = state->alone || (term->spread == AQUA_FIELD && varies && !to->by_term);
}

/* ---- memory ---- */

/* Columns of the table, levels behind the others. */
static int64_t column_of_levels(const aqua_plan *plan) {
    return AQUA_SUPPLIES + (int64_t)(plan->inflow_count * sizeof(aqua_dose) / sizeof(double));
}

static int64_t table_width(const aqua_plan *plan) {
    const bool levels = plan->levels_depend & SEL_ON_T;
    return column_of_levels(plan) + (levels ? plan->ghosts.count : 0);
}

bool aqua_cuda_list_amounts(aqua_cuda *state) {
    const aqua_plan *plan = state->all.plan;
    const aqua_spread rain = plan->terms[AQUA_RAIN].spread, soil = plan->terms[AQUA_SOIL].spread;
    const int64_t ghosts = plan->ghosts.count;
    const bool levels = plan->levels_depend & SEL_ON_T, pours = plan->inflow_count > 0;
    const bool amounts = rain == AQUA_UNIFORM || soil == AQUA_UNIFORM || pours || levels;
    sel_arrays *arrays = &state->all.base.arrays;
    if (!cuda_terms_open(&state->terms, plan->base.domain)) {
        arrays->failed = true;
        return false;
    }
    take_supply(state, AQUA_RAIN);
    take_supply(state, AQUA_SOIL);
    cuda_terms_list(&state->terms, arrays);
    SEL_ADD(arrays, state, amounts, amounts ? CUDA_STEPS * table_width(plan) : 0, 0);
    SEL_ADD(arrays, state, source_cells, plan->source_cell_count, 0);
    SEL_ADD(arrays, state, ghosts.at, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.level, ghosts, 0);
    SEL_ADD(arrays, state, ghosts.ground, ghosts, 0);
    SEL_ADD(arrays, state, levels, levels ? 0 : ghosts, 0);
    return (rain != AQUA_NOTHING || pours) &&
           (state->spread[AQUA_RAIN].by_term || state->spread[AQUA_SOIL].by_term);
}

void aqua_cuda_close_amounts(sel_state *base) {
    aqua_cuda *state = (aqua_cuda *)base;
    cuda_feed_close(&state->rates[AQUA_RAIN]);
    cuda_feed_close(&state->rates[AQUA_SOIL]);
    cuda_feed_close(&state->sent);
    cuda_terms_close(&state->terms);
}

/* ---- the start ---- */

static sel_status send_lists(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const aqua_ghosts *from = &plan->ghosts;
    aqua_gpu_ghosts *to = &state->ghosts;
    const uint64_t n = (uint64_t)from->count;
    const uint64_t cells = (uint64_t)plan->source_cell_count * sizeof *state->source_cells;
    const bool levels = plan->levels_depend & SEL_ON_T;
    to->count = (uint32_t)n;
    to->z = levels ? state->amounts + column_of_levels(plan) : state->levels;
    to->stride = levels ? table_width(plan) : 0;
    sel_status status = cuda_send(state->source_cells, plan->source_cells, cells, error);
    status = status ? status : cuda_send(to->at, from->at, n * sizeof *from->at, error);
    status = status ? status : cuda_send(to->level, from->level, n, error);
    return status ? status : cuda_send(to->ground, from->ground, n * sizeof *from->ground, error);
}

static sel_status open_feeds(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const uint64_t field = (uint64_t)(aqua_cells(&state->all) * state->all.size);
    const uint64_t table = CUDA_STEPS * (uint64_t)table_width(plan) * sizeof(double);
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        void *rate = state->all.rate[k];
        const bool varies = sel_quantity_depends(plan->terms[k].quantity) & SEL_ON_T;
        if (rate && !state->spread[k].by_term) {
            status = cuda_feed_open(&state->rates[k], rate, field, varies ? FEW : 1, error);
        }
    }
    const int turns = plan->levels_depend & SEL_ON_T ? FEW : MANY;
    return status || !state->amounts
               ? status
               : cuda_feed_open(&state->sent, state->amounts, table, turns, error);
}

sel_status aqua_cuda_start_amounts(aqua_cuda *state, sel_error *error) {
    const aqua_plan *plan = state->all.plan;
    const aqua_ghosts *ghosts = &plan->ghosts;
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        status = state->spread[k].by_term
                     ? aqua_evaluate_term(plan, &plan->terms[k], 0, state->all.field, error)
                     : SEL_OK;
    }
    status = status ? status : aqua_evaluate(&state->all, 0, SEL_ALWAYS, error);
    status = status ? status : cuda_terms_start(&state->terms, error);
    status = status ? status : open_feeds(state, error);
    status = status ? status : send_lists(state, error);
    if (status) {
        return status;
    }
    state->pattern.amounts = state->amounts;
    state->pattern.width = (uint32_t)table_width(plan);
    state->sets_ghosts = ghosts->count > 0 && plan->levels_depend & SEL_ON_T;
    for (int64_t k = 0; k < ghosts->count; k++) {
        const int64_t x = aqua_column(&plan->layout, ghosts->at[k]);
        const int64_t y = aqua_row(&plan->layout, ghosts->at[k]);
        state->sets_ghosts =
            state->sets_ghosts || (x >= 0 && x < plan->layout.nx && y >= 0 && y < plan->layout.ny);
    }
    return SEL_OK;
}

/* ---- steps ---- */

static sel_status send_rates(aqua_cuda *state, int k, unsigned due, sel_error *error) {
    cuda_feed *rates = &state->rates[k];
    void *pinned;
    if (state->spread[k].by_term || !aqua_rates_are_due(&state->all, k, due)) {
        return SEL_OK;
    }
    sel_status status = cuda_feed_next(rates, &pinned, error);
    status = status ? status : aqua_rates(&state->all, k, pinned, error);
    return status ? status : cuda_feed_send(rates, state->all.base.queue->stream, error);
}

/* Sets the ghosts at the start, and where levels do not vary in time: in both copies of the depths,
 * since the flow does not change those beyond the grid, and in the third; and their beds. */
static sel_status place_ghosts(aqua_cuda *state, unsigned due, sel_error *error) {
    aqua_state *all = &state->all;
    const aqua_gpu_ghosts *ghosts = &state->ghosts;
    const unsigned depends = state->levels ? all->plan->levels_depend : 0;
    cudaStream_t stream = all->base.queue->stream;
    if (ghosts->count == 0 || !((depends | SEL_ALWAYS) & due)) {
        return SEL_OK;
    }
    sel_status status = cuda_send(ghosts->z + all->base.step % CUDA_STEPS * ghosts->stride,
                                  aqua_levels(all), ghosts->count * sizeof(double), error);
    for (int k = 0; k < 3 * all->base.blocks.count && !status; k++) {
        const int b = k / 3, copy = k % 3;
        aqua_gpu_flow flow = aqua_cuda_flow(state, all->base.step, b);
        flow.from = copy == 2 ? all->poured : all->water[b][copy];
        flow.marks_from = copy == 2 ? NULL : state->marks[copy];
        CUDA_TRY(aqua_gpu_set_ghosts(&flow, ghosts, copy == 0 ? all->bed : NULL, stream));
    }
    CUDA_TRY(aqua_gpu_wrap(&state->pattern, all->bed, stream));
    return status;
}

/* The amounts of one step into its row. */
static void take_amounts(aqua_cuda *state, int64_t step, double *amounts) {
    aqua_state *all = &state->all;
    const aqua_plan *plan = all->plan;
    double *row = amounts + step % CUDA_STEPS * table_width(plan);
    const int64_t levels = table_width(plan) - column_of_levels(plan);
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        row[k] = aqua_take(all, k);
    }
    if (plan->terms[AQUA_RAIN].spread == AQUA_UNIFORM) {
        sel_total_more(&all->totals[AQUA_RAIN], all->store.whole,
                       row[AQUA_RAIN] * (double)plan->base.domain->free_cells);
    }
    aqua_take_doses(all, (aqua_dose *)(row + AQUA_SUPPLIES));
    memcpy(row + column_of_levels(plan), aqua_levels(all), (size_t)levels * sizeof *row);
}

/* Sends the rows of some steps; all of the table where they go round its end. */
static sel_status send_rows(aqua_cuda *state, const double *amounts, int64_t count,
                            sel_error *error) {
    const int64_t row = state->all.base.step % CUDA_STEPS, width = table_width(state->all.plan);
    const bool all = row + count > CUDA_STEPS;
    const int64_t from = all ? 0 : row * width, numbers = (all ? CUDA_STEPS : count) * width;
    cudaStream_t stream = state->all.base.queue->stream;
    CUDA_TRY(cudaMemcpyAsync(state->amounts + from, amounts + from,
                             (size_t)numbers * sizeof *amounts, cudaMemcpyHostToDevice, stream));
    return cuda_feed_sent(&state->sent, stream, error);
}

/* The amounts of *count steps from the present one on, which is evaluated. */
static sel_status send_amounts(aqua_cuda *state, int64_t *count, sel_error *error) {
    aqua_state *all = &state->all;
    void *amounts;
    sel_status status = cuda_feed_next(&state->sent, &amounts, error);
    for (int64_t k = 0; k < *count && !status; k++) {
        const int64_t step = all->base.step + k;
        /* Later ones fail again as the first of a call. */
        if (k && aqua_evaluate(all, step, SEL_ON_T, NULL)) {
            *count = k;
        } else {
            take_amounts(state, step, amounts);
        }
    }
    return status ? status : send_rows(state, amounts, *count, error);
}

sel_status aqua_cuda_evaluate(aqua_cuda *state, unsigned due, int64_t *count, sel_error *error) {
    aqua_state *all = &state->all;
    sel_status status = due & SEL_ON_CONTROLS
                            ? cuda_terms_set_controls(&state->terms, all->base.controls,
                                                      all->base.queue->stream, error)
                            : SEL_OK;
    status = status ? status : send_rates(state, AQUA_RAIN, due, error);
    status = status ? status : send_rates(state, AQUA_SOIL, due, error);
    status = status ? status : aqua_evaluate(all, all->base.step, due, error);
    status = status ? status : place_ghosts(state, due, error);
    return status || !count || !state->amounts ? status : send_amounts(state, count, error);
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
            status = aqua_evaluate_term(plan, &plan->terms[k], (double)fault->step,
                                        state->all.field, error);
        }
    }
    const double x = sel_centre(grid, 0, (double)(fault->place % grid->n[0]));
    const double y = sel_centre(grid, 1, (double)(fault->place / grid->n[0]));
    const double t = aqua_time_of_amounts(plan, fault->step);
    const sel_places at = sel_domain_at(plan->base.domain, 1, &x, &y, NULL, t);
    const aqua_term *term = &plan->terms[fault->number];
    return status ? status : cuda_term_unknown(term->quantity, term->what, &at, error);
}
