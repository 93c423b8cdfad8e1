/* noise.c -- sel.noise as a look-up of functions. */
#include "engine/noise.h"
#include "engine/physics/noise.h"

static sel_status evaluate(const sel_lookup *self, size_t n, const double *const *arguments,
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

const sel_lookup sel_noise_lookup = {SEL_LOOKUP_NOISE, "sel.noise", 4, evaluate, NULL};
