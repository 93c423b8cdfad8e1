/* lookup.h -- data that functions may call: series, rasters and noise, by argument arrays. */
#ifndef SEL_LOOKUP_H
#define SEL_LOOKUP_H

#include <stddef.h>
#include "engine/arena.h"
#include "engine/quantity.h"

typedef enum sel_lookup_kind {
    SEL_LOOKUP_SERIES,
    SEL_LOOKUP_RASTER,
    SEL_LOOKUP_NOISE
} sel_lookup_kind;

/* Pure and unchanging once made, so that any thread may evaluate it. Lives as long as the scenario.
 */
typedef struct sel_lookup {
    sel_lookup_kind kind;
    const char *name; /* for listings: "series inflow.csv" */
    int arguments;    /* 1: s(t), 2: r(x, y), 4: noise(seed, x, y, z) */
    /* Fills out[n] from arguments[k][n], in the user's units; `out` may be one of the arguments.
     * Fails where the data have no value (outside a series that says so). */
    sel_status (*at)(const struct sel_lookup *self, size_t n, const double *const *arguments,
                     double *out, sel_error *error);
    const void *data;
} sel_lookup;

/* Look-ups in the order in which they were made. */
typedef struct sel_lookups {
    int n, room;
    const sel_lookup **v; /* in the arena */
} sel_lookups;

/* False: no memory. */
bool sel_lookups_add(sel_arena *arena, sel_lookups *list, const sel_lookup *lookup);

/* A series as a function of t, or a raster as one of x and y, made in the arena. NULL: no memory.
 */
const sel_function *sel_lookup_function(sel_arena *arena, const sel_lookup *lookup,
                                        sel_where where);

/* Whether it is a raster and has no data at a place inside of it. */
bool sel_lookup_has_gap(const sel_lookup *lookup, double x, double y);

/* The data that a quantity is, made so and taken as they are; NULL: it is something else. */
const sel_lookup *sel_lookup_of(const sel_quantity *q);

/* sel.noise: noise(seed, x, y, z) in [-1, 1]; see engine/physics/noise.h. Fails where x, y or z is
 * no number or too large to have a fraction. */
extern const sel_lookup sel_noise_lookup;

#endif
