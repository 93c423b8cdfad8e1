/* lookup.c -- lookups: values and gaps; noise. */
#include "engine/values/lookup.h"

#include <math.h>
#include "engine/values/program_eval.h"

/* If the evaluation of all places fails, they are evaluated one by one, to find those that fail. */
void sel_lookup_values(const sel_lookup *lookup, size_t n, const double *const *arguments,
                       double *out) {
    const bool failed = lookup->at(lookup, n, arguments, out, NULL) != SEL_OK;
    for (size_t i = 0; i < n && failed; i++) {
        const double *one[SEL_LOOKUP_ARGUMENTS];
        for (int k = 0; k < lookup->arguments; k++) {
            one[k] = arguments[k] + i;
        }
        if (lookup->at(lookup, 1, one, &out[i], NULL)) {
            out[i] = (double)NAN;
        }
    }
}

bool sel_lookup_has_gap(const sel_lookup *lookup, double x, double y) {
    const sel_raster *raster = lookup->data;
    int64_t pixel;
    double part;
    return lookup->kind == SEL_LOOKUP_RASTER && sel_raster_locate(raster, 0, x, &pixel, &part) &&
           sel_raster_locate(raster, 1, y, &pixel, &part) &&
           isnan(sel_raster_interpolate(raster, raster->value, x, y));
}

static sel_status evaluate_noise(const sel_lookup *self, size_t n, const double *const *arguments,
                                 double *out, sel_error *error) {
    for (size_t i = 0; i < n; i++) {
        double at[4] = {arguments[0][i], arguments[1][i], arguments[2][i], arguments[3][i]};
        out[i] = sel_noise(at[0], at[1], at[2], at[3]);
        if (isnan(out[i])) {
            return sel_fail(error, SEL_BAD_SCENARIO,
                            "%s: there is no noise at x = %g, y = %g, z = %g", self->name, at[1],
                            at[2], at[3]);
        }
    }
    return SEL_OK;
}

const sel_lookup sel_noise_lookup = {SEL_LOOKUP_NOISE, "sel.noise", 4, evaluate_noise, NULL};
