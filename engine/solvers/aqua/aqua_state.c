/* aqua_state.c -- the arrays of sel.aqua, what they hold at step 0, and what the host evaluates and
 * books for a step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/aqua/aqua_state.h"

enum { UNITS_OF_THE_LAST_PLACE = 16 };

aqua_store aqua_store_of(const aqua_plan *plan) {
    const double alpha = plan->largest_alpha;
    aqua_store store = {.whole = plan->base.precision == SEL_F32,
                        .per_metre = 1,
                        .limit = HUGE_VAL,
                        .most_poured = HUGE_VAL,
                        .most_rain = HUGE_VAL,
                        .largest_alpha = 1 - UNITS_OF_THE_LAST_PLACE * 0x1p-53};
    if (store.whole) {
        store.per_metre = ldexp(1, plan->bits);
        store.datum = plan->datum;
        /* All eight neighbours may give alpha of what they have, a 32nd more than the limit after
         * rain and sources. */
        store.limit = floor(0x1p31 / (1 + 8 * alpha) * 32 / 33) - 1;
        store.most_poured = store.limit * 33 / 32;
        store.most_rain = store.limit / 64;
        store.largest_alpha = 1 - UNITS_OF_THE_LAST_PLACE * 0x1p-24;
    }
    store.least = plan->params->min_head * store.per_metre;
    store.alpha = fmin(alpha, store.largest_alpha);
    return store;
}

/* ---- the arrays ---- */

static void list_amount(aqua_state *state, int k, sel_type real, const sel_cells *cells) {
    static const char *const names[AQUA_SUPPLIES][4] = {
        [AQUA_RAIN] = {"rain", "rain_owed", "rain.carry", "rained"},
        [AQUA_SOIL] = {"soil", "soil_owed", "soil.carry", "soaked"},
    };
    const sel_type total = SEL_TYPE_OF(state->books.supplied[k]), number = SEL_TYPE_OF(0.0);
    const unsigned kept = SEL_SAVED | SEL_ON_HOST | SEL_VALUE;
    aqua_amount *amount = &state->amount[k];
    sel_arrays *arrays = &state->base.arrays;
    *amount = (aqua_amount){.supply = &state->plan->supply[k]};
    if (amount->supply->spread == AQUA_FIELD) {
        sel_arrays_add_cells(arrays, names[k][0], &amount->rate, real, cells, 0);
        sel_arrays_add_cells(arrays, names[k][1], &amount->owed, real, cells, SEL_SAVED);
    }
    sel_arrays_add(arrays, names[k][2], &amount->carry, number, 1, kept);
    sel_arrays_add(arrays, names[k][3], &state->books.supplied[k], total, 1, kept);
}

static void list_cells(aqua_state *state, int64_t before, int64_t behind, bool apart) {
    const aqua_plan *plan = state->plan;
    const uint32_t size = (uint32_t)state->size;
    const sel_type real = {'f', size}, depth = {state->store.whole ? 'i' : 'f', size};
    const aqua_layout *layout = &plan->layout;
    const sel_cells cells = {.n = {layout->nx, layout->ny, 1},
                             .components = 1,
                             .pitch = layout->nx,
                             .count = layout->nx * layout->ny};
    sel_cells framed = cells;
    framed.first = aqua_index(layout, 0, 0);
    framed.pitch = layout->pitch;
    framed.before = before;
    framed.count = before + layout->cells + behind;
    sel_arrays *arrays = &state->base.arrays;
    sel_arrays_add_cells(arrays, "bed", &state->bed, real, &framed, 0);
    sel_cells parts[SEL_MOST_BLOCKS];
    state->halo = (sel_halo){.type = depth,
                             .components = 1,
                             .width = AQUA_HALO,
                             .stride = layout->pitch,
                             .margin = -AQUA_HALO * layout->pitch};
    for (int b = 0; b < state->base.blocks.count; b++) {
        parts[b] = sel_block_cells(&state->base.blocks, b, &state->halo, &framed);
        parts[b].count -= (layout->ny - parts[b].n[1]) * layout->pitch;
    }
    sel_arrays_add_turns(arrays, "water", state->water, depth, parts, state->base.blocks.count);
    if (apart) {
        sel_arrays_add_cells(arrays, "poured", &state->poured, depth, &framed, 0);
    }
    if (plan->alpha) {
        sel_arrays_add_cells(arrays, "alphas", &state->alphas, real, &framed, 0);
    }
    if (plan->params->scheme == AQUA_SCATTER) {
        sel_arrays_add(arrays, "more", &state->more, depth, plan->layout.cells, 0);
        sel_arrays_add(arrays, "less", &state->less, depth, plan->layout.cells, 0);
    }
    if (aqua_wants(plan, AQUA_MAX_DEPTH) || aqua_wants(plan, AQUA_MAX_LEVEL)) {
        sel_arrays_add_cells(arrays, "most", &state->most, depth, &cells, SEL_SAVED);
    }
    if (aqua_wants(plan, AQUA_ARRIVAL_TIME)) {
        sel_arrays_add_cells(arrays, "arrived", &state->arrived, SEL_TYPE_OF(*state->arrived),
                             &cells, SEL_SAVED);
    }
    state->base.last = (sel_last){.type = depth, .components = 1, .scale = state->store.per_metre};
    list_amount(state, AQUA_RAIN, real, &cells);
    list_amount(state, AQUA_SOIL, real, &cells);
}

void aqua_list(aqua_state *state, int64_t before, int64_t behind, bool apart) {
    const aqua_plan *plan = state->plan = (const aqua_plan *)state->base.plan;
    const int64_t sources = plan->inflow_count, regions = plan->base.domain->region_count;
    const bool fields = plan->supply[AQUA_RAIN].spread == AQUA_FIELD ||
                        plan->supply[AQUA_SOIL].spread == AQUA_FIELD;
    const unsigned kept = SEL_SAVED | SEL_ON_HOST;
    sel_arrays *arrays = &state->base.arrays;
    state->store = aqua_store_of(plan);
    state->size = state->store.whole ? 4 : 8;
    list_cells(state, before, behind, apart);
    SEL_ADD(arrays, state, inflow_units, sources, SEL_ON_HOST);
    SEL_ADD(arrays, state, inflow_carry, sources, kept);
    SEL_ADD(arrays, state, inflow_turn, sources, kept);
    SEL_ADD(arrays, &state->books, inflow, sources, kept);
    SEL_ADD(arrays, &state->books, out, regions + 1, kept);
    SEL_ADD(arrays, state, z, plan->ghosts.count, SEL_ON_HOST);
    SEL_ADD(arrays, state, field, fields ? aqua_cells(state) : 0, SEL_ON_HOST);
    SEL_ADD_VALUE(arrays, state, first_volume);
    const bool asks = plan->base.wants_balance || plan->base.wants_links;
    state->edge_count = asks ? aqua_list_edges(plan, NULL) : 0;
    SEL_ADD(arrays, state, edges, state->edge_count, 0);
    SEL_ADD(arrays, state, shown, plan->base.wants_links ? state->edge_count : 0,
            SEL_SAVED | SEL_OPTIONAL | SEL_OBSERVED);
}

/* ---- storing numbers of the run's precision ---- */

static size_t size_of(const aqua_plan *plan) {
    return plan->base.precision == SEL_F32 ? 4 : 8;
}

static void set_real(const aqua_store *store, void *to, int64_t at, double value) {
    if (store->whole) {
        ((float *)to)[at] = (float)value;
    } else {
        ((double *)to)[at] = value;
    }
}

static void set_bed(const aqua_store *store, void *bed, int64_t at, double metres) {
    if (store->whole) {
        ((float *)bed)[at] = aqua_bed_f32(metres, store->datum, store->per_metre);
    } else {
        ((double *)bed)[at] = metres;
    }
}

static void set_water(const aqua_store *store, void *water, int64_t at, double metres) {
    if (store->whole) {
        ((int32_t *)water)[at] = aqua_water_f32(metres, store->per_metre);
    } else {
        ((double *)water)[at] = metres;
    }
}

/* Copies what lies beyond periodic axes; beyond those of blocks it is exchanged. */
static void fill_frame(const aqua_plan *plan, const aqua_parts *values) {
    const int64_t size = (int64_t)size_of(plan);
    const aqua_layout *layout = &plan->layout;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t n[2] = {layout->nx, layout->ny};
    const bool cut = values->blocks && values->blocks->count > 1;
    for (int64_t k = 0; k < 4 && sel_axis_periodic(grid, 1) && !cut; k++) {
        int64_t to = k < 2 ? k - 2 : n[1] + k - 2, from = ((to % n[1]) + n[1]) % n[1];
        char *v = values->at[0];
        memcpy(v + aqua_index(layout, -2, to) * size, v + aqua_index(layout, -2, from) * size,
               (size_t)(layout->pitch * size));
    }
    for (int64_t y = -2; y < n[1] + 2 && sel_axis_periodic(grid, 0); y++) {
        char *v = aqua_part(values, y);
        for (int64_t k = 0; k < 4; k++) {
            int64_t to = k < 2 ? k - 2 : n[0] + k - 2, from = ((to % n[0]) + n[0]) % n[0];
            memcpy(v + aqua_index(layout, to, y) * size, v + aqua_index(layout, from, y) * size,
                   (size_t)size);
        }
    }
}

/* ---- beds ---- */

/* The bed of a row of the layout, -2 <= y < ny + 2. */
static void set_bed_row(const aqua_plan *plan, const aqua_store *store, int64_t y, void *bed) {
    const aqua_layout *layout = &plan->layout;
    const int64_t start = aqua_index(layout, -AQUA_HALO, y), first = aqua_index(layout, 0, y);
    const int64_t cells = y >= 0 && y < layout->ny ? layout->nx : 0, cell = y * layout->nx;
    for (int64_t i = start; i < start + layout->pitch; i++) {
        set_real(store, bed, i, AQUA_NO_GROUND);
    }
    for (int64_t x = 0; x < cells; x++) {
        if (plan->base.domain->cell[cell + x] == 0) {
            set_bed(store, bed, first + x, plan->ground[cell + x]);
        }
    }
}

void aqua_set_ghosts(const aqua_plan *plan, const double *z, void *bed, const aqua_parts *water) {
    const aqua_ghosts *ghosts = &plan->ghosts;
    const aqua_store store = aqua_store_of(plan);
    for (int64_t k = 0; k < ghosts->count; k++) {
        const double ground = ghosts->ground[k];
        const bool level = ghosts->level[k];
        if (bed) {
            set_bed(&store, bed, ghosts->at[k], level ? aqua_level_bed(ground, z[k]) : ground);
        }
        if (water) {
            const int64_t at = ghosts->at[k], y = at / plan->layout.pitch - AQUA_HALO;
            set_water(&store, aqua_part(water, y), at, level ? aqua_level_depth(ground, z[k]) : 0);
        }
    }
    if (bed) {
        const aqua_parts beds = aqua_whole(bed);
        fill_frame(plan, &beds);
    }
    if (water) {
        fill_frame(plan, water);
    }
}

void aqua_fill_bed(const aqua_plan *plan, const double *z, void *bed) {
    const aqua_store store = aqua_store_of(plan);
#pragma omp parallel for schedule(static) num_threads(plan->base.threads)
    for (int64_t y = -AQUA_HALO; y < plan->layout.ny + AQUA_HALO; y++) {
        set_bed_row(plan, &store, y, bed);
    }
    aqua_set_ghosts(plan, z, bed, NULL);
}

/* ---- depths ---- */

/* Rows of depths that are evaluated before they are stored: so many cells. */
enum { STORED_AT_ONCE = 1 << 20 };

/* Stores depths[end - first][nx]. Refuses the first cell that has a negative one, or one beyond the
 * store's limit. */
static sel_status store_rows(const aqua_plan *plan, int64_t first, int64_t end,
                             const double *depths, const aqua_parts *water, sel_error *error) {
    const int64_t nx = plan->layout.nx;
    const aqua_store store = aqua_store_of(plan);
    int64_t wrong = INT64_MAX;
#pragma omp parallel for schedule(static) num_threads(plan->base.threads) reduction(min : wrong)
    for (int64_t y = first; y < end; y++) {
        const double *depth = depths + (y - first) * nx;
        for (int64_t x = 0; x < nx; x++) {
            set_water(&store, aqua_part(water, y), aqua_index(&plan->layout, x, y), depth[x]);
            if ((depth[x] < 0 || depth[x] * store.per_metre > store.limit) && wrong > y * nx + x) {
                wrong = y * nx + x;
            }
        }
    }
    const double depth = wrong < INT64_MAX ? depths[wrong - first * nx] : 0;
    if (depth < 0) {
        char text[SEL_CELL_TEXT];
        return sel_fail_at(error, sel_simulation_where(plan->base.simulation, "initial"),
                           "the initial depth at cell %s is negative, %g",
                           sel_cell_text(&plan->base.domain->grid, wrong, text), depth);
    }
    return depth > 0 ? aqua_too_deep(plan, 0, wrong, error) : SEL_OK;
}

static sel_status store_initial(const aqua_plan *plan, const aqua_parts *water, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const int64_t nx = plan->layout.nx, ny = plan->layout.ny;
    const int64_t most = nx < STORED_AT_ONCE ? STORED_AT_ONCE / nx : 1;
    const int64_t rows = most < ny ? most : ny;
    sel_evaluation asked = {.quantity = &plan->params->initial.depth, .what = "initial.depth"};
    const size_t bytes = (size_t)(rows * nx) * sizeof(double);
    double *depths = malloc(bytes);
    sel_status status = depths ? SEL_OK : sel_fail_memory(error, "the water", bytes);
    for (; asked.first < ny && !status; asked.first = asked.end) {
        asked.end = asked.first + rows < ny ? asked.first + rows : ny;
        status = sel_domain_evaluate(domain, &asked, plan->base.threads, depths, error);
        status = status ? status : store_rows(plan, asked.first, asked.end, depths, water, error);
    }
    free(depths);
    return status;
}

sel_status aqua_fill_water(const aqua_plan *plan, const double *z, const aqua_parts *water,
                           sel_error *error) {
    const size_t row = (size_t)plan->layout.pitch * size_of(plan);
#pragma omp parallel for schedule(static) num_threads(plan->base.threads)
    for (int64_t y = -AQUA_HALO; y < plan->layout.ny + AQUA_HALO; y++) {
        const int64_t first = aqua_index(&plan->layout, -AQUA_HALO, y);
        memset((char *)aqua_part(water, y) + first * (int64_t)size_of(plan), 0, row);
    }
    sel_status status = sel_quantity_given(&plan->params->initial.depth)
                            ? store_initial(plan, water, error)
                            : SEL_OK;
    aqua_set_ghosts(plan, z, NULL, water);
    return status;
}

/* ---- alpha ---- */

static int64_t nearest(int64_t at, int64_t n) {
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

/* Of a painted cell, where alpha is not asked for, the largest beside it: what a level gives flows
 * as fast as where it comes to. */
static double alpha_at(const aqua_plan *plan, int64_t x, int64_t y) {
    const sel_domain *domain = plan->base.domain;
    double alpha = plan->alpha[y * plan->layout.nx + x];
    for (int k = 0; domain->cell[y * plan->layout.nx + x] != 0 && k < 8; k++) {
        int64_t cell = aqua_free_cell(domain, x + aqua_around[k][0], y + aqua_around[k][1]);
        alpha = cell >= 0 ? fmax(alpha, plan->alpha[cell]) : alpha;
    }
    return alpha;
}

void aqua_fill_alpha(const aqua_plan *plan, void *alpha) {
    const aqua_layout *layout = &plan->layout;
    const aqua_store store = aqua_store_of(plan);
#pragma omp parallel for schedule(static) num_threads(plan->base.threads)
    for (int64_t y = -2; y < layout->ny + 2; y++) {
        for (int64_t x = -2; x < layout->nx + 2; x++) {
            double beside = alpha_at(plan, nearest(x, layout->nx), nearest(y, layout->ny));
            double value = fmin(beside, store.largest_alpha);
            set_real(&store, alpha, aqua_index(layout, x, y), value);
        }
    }
    const aqua_parts alphas = aqua_whole(alpha);
    fill_frame(plan, &alphas);
}

sel_status aqua_too_deep(const aqua_plan *plan, int64_t step, int64_t cell, sel_error *error) {
    const aqua_store store = aqua_store_of(plan);
    const double given = plan->params->depth_limit;
    char cell_text[SEL_CELL_TEXT], more[64] = "", advice[160] = "no quantum is coarser: ";
    if (!isnan(given)) {
        snprintf(more, sizeof more, " more than its %.10g m", given);
    }
    if (plan->bits > AQUA_LEAST_BITS) {
        snprintf(advice, sizeof advice,
                 "give depth_limit%s, the greatest depth that you expect, or ", more);
    }
    return sel_fail_at(
        error, sel_simulation_where(plan->base.simulation, "depth_limit"),
        "step %lld: cell %s holds more than %.4g m of water, the most that depths in quanta of "
        "2^-%d m can be with this alpha; %sprecision = \"f64\"",
        (long long)step, sel_cell_text(&plan->base.domain->grid, cell, cell_text),
        store.limit / store.per_metre, plan->bits, advice);
}

/* ---- amounts ---- */

static bool is_due(const sel_quantity *q, unsigned due) {
    return (sel_quantity_depends(q) | AQUA_ALWAYS) & due;
}

/* A source that alone brings more than a cell may hold is refused before anything is poured, by the
 * step that would (not when the state is made). */
static sel_status evaluate_source(aqua_state *state, int source, int64_t step, unsigned due,
                                  sel_error *error) {
    const aqua_plan *plan = state->plan;
    const aqua_inflow *inflow = &plan->inflows[source];
    double *units = &state->inflow_units[source];
    sel_status status = is_due(&inflow->source->discharge, due)
                            ? aqua_discharge(plan, source, step, units, error)
                            : SEL_OK;
    const bool deep = state->store.whole && !(due & AQUA_ALWAYS) &&
                      *units / (double)inflow->count > state->store.limit;
    return status || !deep
               ? status
               : aqua_too_deep(plan, step, aqua_cell_number(&plan->layout, inflow->at[0]), error);
}

sel_status aqua_evaluate(aqua_state *state, int64_t step, unsigned due, sel_error *error) {
    sel_status status = SEL_OK;
    for (int k = 0; k < AQUA_SUPPLIES && !status; k++) {
        const aqua_supply *supply = state->amount[k].supply;
        if (supply->spread == AQUA_UNIFORM && is_due(supply->rate, due)) {
            status = aqua_rate(state->plan, supply, step, &state->amount[k].uniform, error);
        }
    }
    for (int i = 0; i < state->plan->inflow_count && !status; i++) {
        status = evaluate_source(state, i, step, due, error);
    }
    return status;
}

bool aqua_rates_are_due(const aqua_amount *amount, unsigned due) {
    return amount->supply->spread == AQUA_FIELD && is_due(amount->supply->rate, due);
}

sel_status aqua_rates(aqua_state *state, const aqua_amount *amount, void *to, sel_error *error) {
    sel_status status =
        aqua_rate(state->plan, amount->supply, state->base.step, state->field, error);
    if (status) {
        return status;
    }
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t i = 0; i < aqua_cells(state); i++) {
        set_real(&state->store, to, i, state->field[i]);
    }
    return SEL_OK;
}

/* The whole part of amount + carry; the rest stays in *carry. */
static int64_t whole_of(double amount, double *carry) {
    const double sum = amount + *carry, whole = floor(sum);
    *carry = sum - whole;
    return (int64_t)whole;
}

double aqua_take(const aqua_state *state, aqua_amount *amount) {
    return state->store.whole ? (double)whole_of(amount->uniform, &amount->carry) : amount->uniform;
}

aqua_dose aqua_take_dose(aqua_state *state, int source) {
    const aqua_inflow *inflow = &state->plan->inflows[source];
    const double units = state->inflow_units[source], cells = (double)inflow->count;
    int64_t *turn = &state->inflow_turn[source];
    if (!state->store.whole) {
        const double each = units / cells;
        sel_total_more(&state->books.inflow[source], false, each * cells);
        return (aqua_dose){.each = each};
    }
    const int64_t whole = whole_of(units, &state->inflow_carry[source]);
    const int64_t odd = whole % inflow->count;
    const aqua_dose dose = {
        .each = (double)(whole / inflow->count), .odd = (uint32_t)odd, .turn = (uint32_t)*turn};
    *turn = (*turn + odd) % inflow->count;
    sel_total_more(&state->books.inflow[source], true, (double)whole);
    return dose;
}
