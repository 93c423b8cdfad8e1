/* aqua_state.c -- the arrays of sel.aqua, and what they hold at step 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/aqua/aqua_state.h"

/* ---- the arrays ---- */

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
    state->base.turns = (sel_turns){.at = state->water,
                                    .type = depth,
                                    .cells = framed,
                                    .width = AQUA_HALO,
                                    .margin = -AQUA_HALO * layout->pitch};
    sel_state_list_turns(&state->base, "water");
    if (apart) {
        sel_arrays_add_cells(arrays, "poured", &state->poured, depth, &framed, 0);
    }
    if (plan->alpha) {
        sel_arrays_add_cells(arrays, "alphas", &state->alphas, real, &framed, 0);
    }
    if (aqua_wants(plan, AQUA_MAX_DEPTH) || aqua_wants(plan, AQUA_MAX_LEVEL)) {
        sel_arrays_add_cells(arrays, "most", &state->most, depth, &cells, SEL_SAVED);
    }
    if (aqua_wants(plan, AQUA_ARRIVAL_TIME)) {
        sel_arrays_add_cells(arrays, "arrived", &state->arrived, SEL_TYPE_OF(*state->arrived),
                             &cells, SEL_SAVED);
    }
    state->base.last = (sel_last){.type = depth, .components = 1, .scale = state->store.per_metre};
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        if (plan->terms[k].spread == AQUA_FIELD) {
            const bool rain = k == AQUA_RAIN;
            sel_arrays_add_cells(arrays, rain ? "rain" : "soil", &state->rate[k], real, &cells, 0);
            sel_arrays_add_cells(arrays, rain ? "rain_owed" : "soil_owed", &state->owed[k], real,
                                 &cells, SEL_SAVED);
        }
    }
}

void aqua_list(aqua_state *state, int64_t before, int64_t behind, bool apart) {
    const aqua_plan *plan = state->plan = (const aqua_plan *)state->base.plan;
    const int64_t sources = plan->inflow_count;
    const bool fields =
        plan->terms[AQUA_RAIN].spread == AQUA_FIELD || plan->terms[AQUA_SOIL].spread == AQUA_FIELD;
    const unsigned kept = SEL_SAVED | SEL_ON_HOST;
    sel_arrays *arrays = &state->base.arrays;
    state->store = aqua_store_of(plan);
    state->size = state->store.whole ? 4 : 8;
    list_cells(state, before, behind, apart);
    SEL_ADD(arrays, state, values, AQUA_SUPPLIES + sources + plan->ghosts.count, SEL_ON_HOST);
    SEL_ADD(arrays, state, doses, sources, SEL_ON_HOST);
    SEL_ADD(arrays, state, carry, AQUA_SUPPLIES + sources, kept);
    SEL_ADD(arrays, state, inflow_turn, sources, kept);
    SEL_ADD(arrays, state, totals, aqua_total_count(plan), kept);
    SEL_ADD(arrays, state, field, fields ? aqua_cells(state) : 0, SEL_ON_HOST);
    SEL_ADD_VALUE(arrays, state, first_volume);
    const bool asks = plan->base.wants_balance || plan->base.wants_links;
    state->edge_count = asks ? aqua_list_edges(plan, NULL) : 0;
    SEL_ADD(arrays, state, edges, state->edge_count, 0);
    SEL_ADD(arrays, state, shown, plan->base.wants_links ? state->edge_count : 0,
            SEL_SAVED | SEL_OPTIONAL | SEL_OBSERVED);
}

/* ---- numbers in the types of the store ---- */

static size_t size_of(const aqua_plan *plan) {
    return plan->base.precision == SEL_F32 ? 4 : 8;
}

typedef enum what { ALPHA, BED, DEPTH } what;

/* Stores a number, in metres but for alpha, in the type that the store has for it. */
static void put(const aqua_store *store, what is, void *to, int64_t at, double value) {
    if (!store->whole) {
        ((double *)to)[at] = value;
    } else if (is == DEPTH) {
        ((int32_t *)to)[at] = aqua_water_f32(value, store->per_metre);
    } else {
        ((float *)to)[at] =
            is == BED ? aqua_bed_f32(value, store->datum, store->per_metre) : (float)value;
    }
}

static int64_t wrapped(int64_t i, int64_t n) {
    return (i % n + n) % n;
}

/* Copies what lies beyond periodic axes; beyond the ends of several blocks it is exchanged. */
static void fill_frame(const aqua_plan *plan, const aqua_parts *values) {
    const aqua_layout *layout = &plan->layout;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t nx = layout->nx, ny = layout->ny, size = (int64_t)size_of(plan);
    const bool cut = values->blocks && values->blocks->count > 1;
    const bool rows = sel_axis_periodic(grid, 1) && !cut, columns = sel_axis_periodic(grid, 0);
    for (int64_t y = -AQUA_HALO; y < ny + AQUA_HALO && (rows || columns); y++) {
        const int64_t from = rows ? wrapped(y, ny) : y;
        char *row = (char *)aqua_part(values, y) + aqua_index(layout, 0, y) * size;
        if (from != y) {
            const char *other =
                (char *)aqua_part(values, from) + aqua_index(layout, 0, from) * size;
            memcpy(row - AQUA_HALO * size, other - AQUA_HALO * size,
                   (size_t)(layout->pitch * size));
        }
        for (int64_t k = -AQUA_HALO; k < AQUA_HALO && columns; k++) {
            const int64_t x = k < 0 ? k : nx + k;
            memcpy(row + x * size, row + wrapped(x, nx) * size, (size_t)size);
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
        put(store, ALPHA, bed, i, AQUA_NO_GROUND);
    }
    for (int64_t x = 0; x < cells; x++) {
        if (plan->base.domain->cell[cell + x] == 0) {
            put(store, BED, bed, first + x, plan->ground[cell + x]);
        }
    }
}

void aqua_set_ghosts(const aqua_plan *plan, const double *z, void *bed, const aqua_parts *water) {
    const aqua_ghosts *ghosts = &plan->ghosts;
    const aqua_store store = aqua_store_of(plan);
    for (int64_t k = 0; k < ghosts->count; k++) {
        const int64_t at = ghosts->at[k];
        const double ground = ghosts->ground[k];
        const bool level = ghosts->level[k];
        if (bed) {
            put(&store, BED, bed, at, level ? aqua_level_bed(ground, z[k]) : ground);
        }
        if (water) {
            put(&store, DEPTH, aqua_part(water, aqua_row(&plan->layout, at)), at,
                level ? aqua_level_depth(ground, z[k]) : 0);
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

/* Cells whose depths are evaluated before they are stored. */
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
        const int64_t start = aqua_index(&plan->layout, 0, y);
        void *piece = aqua_part(water, y);
        for (int64_t x = 0; x < nx; x++) {
            put(&store, DEPTH, piece, start + x, depth[x]);
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

/* Painted cells have no alpha of their own. They take the largest beside them, so that water from a
 * level flows as fast as in the cells that it enters. */
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
            put(&store, ALPHA, alpha, aqua_index(layout, x, y), value);
        }
    }
    const aqua_parts alphas = aqua_whole(alpha);
    fill_frame(plan, &alphas);
}
