/* lookup.h -- lookups: data that functions may call (series, rasters, noise), evaluated on arrays.
 */
#ifndef SEL_LOOKUP_H
#define SEL_LOOKUP_H

#include <stddef.h>
#include "engine/base/status.h"
#include "engine/values/lookup_value.h"

/* A lookup is immutable, so any thread may evaluate it. It lives as long as the scenario. */
typedef struct sel_lookup {
    sel_lookup_kind kind;
    const char *name; /* for listings: "series inflow.csv" */
    int arguments;    /* 1: s(t), 2: r(x, y), 4: noise(seed, x, y, z) */
    /* Computes out[n] from arguments[k][n], in the user's units; `out` may be one of the arguments.
     * SEL_BAD_SCENARIO: the data have no value there, as outside a series with SEL_SERIES_ERROR. */
    sel_status (*at)(const struct sel_lookup *self, size_t n, const double *const *arguments,
                     double *out, sel_error *error);
    const void *data;
} sel_lookup;

/* As sel_lookup.at, but gives NaN where the data have no value. `out` must be none of the
 * arguments. */
void sel_lookup_values(const sel_lookup *lookup, size_t n, const double *const *arguments,
                       double *out);

/* A list of lookups in the order of their creation. */
typedef struct sel_lookups {
    const sel_lookup *lookup;
    struct sel_lookups *next;
} sel_lookups;

/* Whether the lookup is a raster that covers the place but has no data there. */
bool sel_lookup_has_gap(const sel_lookup *lookup, double x, double y);

/* sel.noise: noise(seed, x, y, z) in [-1, 1], see engine/values/lookup_value.h. Fails if x, y or z
 * is not finite, or too large to have a fraction. */
extern const sel_lookup sel_noise_lookup;

#endif
