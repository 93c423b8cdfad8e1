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

static void set_no_ground(const aqua_store *store, void *bed, int64_t at) {
    if (store->whole) {
        ((float *)bed)[at] = (float)AQUA_NO_GROUND;
    } else {
        ((double *)bed)[at] = AQUA_NO_GROUND;
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
    const sel_domain *domain = plan->base.domain;
    const aqua_store store = aqua_store_of(plan);
    for (int64_t i = 0; i < layout->cells; i++) {
        set_no_ground(&store, bed, i);
    }
    for (int64_t y = 0; y < layout->ny; y++) {
        for (int64_t x = 0; x < layout->nx; x++) {
            int64_t cell = y * layout->nx + x;
            if (domain->cell[cell] == 0) {
                set_bed(&store, bed, aqua_index(layout, x, y), plan->ground[cell]);
            }
        }
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

sel_status aqua_fill_water(const aqua_plan *plan, void *water, sel_error *error) {
    const aqua_layout *layout = &plan->layout;
    const sel_domain *domain = plan->base.domain;
    const aqua_store store = aqua_store_of(plan);
    const sel_quantity *depth = &plan->params->initial.depth;
    aqua_rows rows;
    double *z, *values = NULL;
    memset(water, 0, (size_t)layout->cells * (store.whole ? 4 : 8));
    sel_status status = first_levels(plan, &z, error);
    sel_status opened = aqua_rows_open(domain, false, &rows, error);
    status = status ? status : opened;
    if (!status && sel_quantity_given(depth)) {
        values = malloc((size_t)(rows.chunk * layout->nx) * sizeof *values);
        status = values ? SEL_OK : sel_fail_memory(error, "the initial depth", 0);
    }
    for (int64_t y = 0; y < layout->ny && values && !status; y += rows.chunk) {
        int64_t count = layout->ny - y < rows.chunk ? layout->ny - y : rows.chunk;
        status = aqua_rows_evaluate(&rows, depth, "initial.depth", 0, y, count, values, error);
        for (int64_t i = 0; i < count * layout->nx && !status; i++) {
            int64_t x = i % layout->nx, cell = y * layout->nx + i;
            status = check_depth(plan, &store, cell, values[i], error);
            if (!status) {
                set_water(&store, water, aqua_index(layout, x, cell / layout->nx), values[i]);
            }
        }
    }
    if (!status) {
        aqua_set_ghosts(plan, z, NULL, water);
        aqua_fill_frame(plan, water, store.whole ? 4 : 8);
    }
    aqua_rows_close(&rows);
    free(values);
    free(z);
    return status;
}

/* ---- alpha ---- */

static int64_t nearest(int64_t at, int64_t n) {
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

void aqua_fill_alpha(const aqua_plan *plan, void *alpha) {
    const aqua_layout *layout = &plan->layout;
    const aqua_store store = aqua_store_of(plan);
    for (int64_t y = -2; y < layout->ny + 2; y++) {
        for (int64_t x = -2; x < layout->nx + 2; x++) {
            int64_t cell = nearest(y, layout->ny) * layout->nx + nearest(x, layout->nx);
            double value = fmin(plan->alpha[cell], store.largest_alpha);
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
