/* aqua_fill.c -- the store of a precision, and the plan's beds, depths and alpha in it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/aqua/aqua_ghosts.h"
#include "engine/aqua/aqua_ground.h"
#include "engine/aqua/aqua_rows.h"

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
    return store;
}

/* ---- storing numbers of the run's precision ---- */

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

void aqua_fill_frame(const aqua_plan *plan, void *values, size_t size) {
    const aqua_layout *layout = &plan->layout;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t n[2] = {layout->nx, layout->ny};
    char *v = values;
    for (int64_t k = 0; k < 4; k++) {
        int64_t to = k < 2 ? k - 2 : n[1] + k - 2, from = ((to % n[1]) + n[1]) % n[1];
        if (sel_axis_periodic(grid, 1)) {
            memcpy(v + aqua_index(layout, -2, to) * (int64_t)size,
                   v + aqua_index(layout, -2, from) * (int64_t)size, (size_t)layout->pitch * size);
        }
    }
    for (int64_t y = -2; y < n[1] + 2 && sel_axis_periodic(grid, 0); y++) {
        for (int64_t k = 0; k < 4; k++) {
            int64_t to = k < 2 ? k - 2 : n[0] + k - 2, from = ((to % n[0]) + n[0]) % n[0];
            memcpy(v + aqua_index(layout, to, y) * (int64_t)size,
                   v + aqua_index(layout, from, y) * (int64_t)size, size);
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
        if (store->whole) {
            ((float *)bed)[i] = (float)AQUA_NO_GROUND;
        } else {
            ((double *)bed)[i] = AQUA_NO_GROUND;
        }
    }
    for (int64_t x = 0; x < cells; x++) {
        if (plan->base.domain->cell[cell + x] == 0) {
            set_bed(store, bed, first + x, plan->ground[cell + x]);
        }
    }
}

void aqua_set_ghosts(const aqua_plan *plan, const double *z, void *bed, void *water) {
    const aqua_ghosts *ghosts = &plan->ghosts;
    const aqua_store store = aqua_store_of(plan);
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        bool level = aqua_is_level(plan, r);
        for (int64_t k = ghosts->first[r]; k < ghosts->first[r + 1]; k++) {
            double ground = ghosts->ground[k];
            if (bed) {
                set_bed(&store, bed, ghosts->at[k], level ? aqua_level_bed(ground, z[k]) : ground);
            }
            if (water) {
                set_water(&store, water, ghosts->at[k], level ? aqua_level_depth(ground, z[k]) : 0);
            }
        }
    }
}

/* Levels at step 0 of all ghosts, to be freed. */
static sel_status first_levels(const aqua_plan *plan, double **z, sel_error *error) {
    size_t n = (size_t)plan->ghosts.count + 1;
    *z = calloc(n, sizeof **z);
    return *z ? aqua_levels(plan, 0, AQUA_ALWAYS, *z, error)
              : sel_fail_memory(error, "the levels", n * sizeof **z);
}

sel_status aqua_fill_bed(const aqua_plan *plan, void *bed, sel_error *error) {
    const aqua_layout *layout = &plan->layout;
    const aqua_store store = aqua_store_of(plan);
#pragma omp parallel for schedule(static) num_threads(plan->base.threads)
    for (int64_t y = -AQUA_HALO; y < layout->ny + AQUA_HALO; y++) {
        set_bed_row(plan, &store, y, bed);
    }
    double *z;
    sel_status status = first_levels(plan, &z, error);
    if (!status) {
        aqua_set_ghosts(plan, z, bed, NULL);
        aqua_fill_frame(plan, bed, store.whole ? 4 : 8);
    }
    free(z);
    return status;
}

/* ---- depths ---- */

static sel_status check_depth(const aqua_plan *plan, const aqua_store *store, int64_t cell,
                              double depth, sel_error *error) {
    if (depth < 0) {
        const int64_t nx = plan->layout.nx;
        return sel_fail_at(error, sel_simulation_where(plan->base.simulation, "initial"),
                           "the initial depth at cell {%lld, %lld} is negative, %g",
                           (long long)(cell % nx), (long long)(cell / nx), depth);
    }
    return depth * store->per_metre > store->limit ? aqua_too_deep(plan, 0, cell, error) : SEL_OK;
}

typedef struct water_to {
    const aqua_plan *plan;
    aqua_store store;
    void *water;
} water_to;

/* aqua_take */
static sel_status store_water(void *to, int64_t y, int64_t count, const double *values,
                              sel_error *error) {
    const water_to *w = to;
    const int64_t nx = w->plan->layout.nx;
    sel_status status = SEL_OK;
    for (int64_t row = y; row < y + count && !status; row++) {
        const double *depth = values + (row - y) * nx;
        const int64_t first = aqua_index(&w->plan->layout, 0, row);
        for (int64_t x = 0; x < nx && !status; x++) {
            status = check_depth(w->plan, &w->store, row * nx + x, depth[x], error);
            if (!status) {
                set_water(&w->store, w->water, first + x, depth[x]);
            }
        }
    }
    return status;
}

sel_status aqua_fill_water(const aqua_plan *plan, void *water, sel_error *error) {
    const aqua_asked asked = {&plan->params->initial.depth, "initial.depth", 0, false, false};
    water_to to = {plan, aqua_store_of(plan), water};
    const int64_t size = to.store.whole ? 4 : 8, row = plan->layout.pitch * size;
    double *z;
#pragma omp parallel for schedule(static) num_threads(plan->base.threads)
    for (int64_t y = 0; y < plan->layout.cells / plan->layout.pitch; y++) {
        memset((char *)water + y * row, 0, (size_t)row);
    }
    sel_status status = first_levels(plan, &z, error);
    if (!status && sel_quantity_given(asked.quantity)) {
        status = aqua_rows_visit(plan, &asked, store_water, &to, error);
    }
    if (!status) {
        aqua_set_ghosts(plan, z, NULL, water);
        aqua_fill_frame(plan, water, (size_t)size);
    }
    free(z);
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
        int64_t cell = aqua_cell_of(&domain->grid, x + aqua_around[k][0], y + aqua_around[k][1]);
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
            int64_t at = aqua_index(layout, x, y);
            if (store.whole) {
                ((float *)alpha)[at] = (float)value;
            } else {
                ((double *)alpha)[at] = value;
            }
        }
    }
    aqua_fill_frame(plan, alpha, store.whole ? 4 : 8);
}
