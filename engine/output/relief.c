/* relief.c -- a surface as light and shadow, for pictures: Lambert's law, brightness is the cosine
 * between the surface's normal and the direction of the light, over a little light from everywhere.
 */
#include "engine/output/relief.h"

#include <math.h>
#include <stdlib.h>

static const double ambient = 0.2, usual_slope = 0.5;

/* Towards the light: north-west, 45 degrees above the horizon. */
static const double light[3] = {-0.5, 0.5, 0.70710678118654752};

double sel_relief_flat(void) {
    return ambient + (1 - ambient) * light[2];
}

/* Slope at cell `at`, number i of n along an axis whose cells are `stride` apart: central, beside
 * solids and the border one-sided. */
static double slope(const float *heights, const uint8_t *solid, int64_t at, int64_t i, int64_t n,
                    int64_t stride, double dx) {
    int64_t before = i > 0 && !solid[at - stride] ? at - stride : at;
    int64_t behind = i + 1 < n && !solid[at + stride] ? at + stride : at;
    int64_t cells = (behind - before) / stride;
    return cells ? ((double)heights[behind] - (double)heights[before]) / ((double)cells * dx) : 0;
}

static double brightness_of(const double gradient[2], double exaggeration) {
    double x = -exaggeration * gradient[0], y = -exaggeration * gradient[1];
    double cosine = (x * light[0] + y * light[1] + light[2]) / sqrt(x * x + y * y + 1);
    return ambient + (1 - ambient) * fmax(cosine, 0);
}

/* Slopes of all cells, 0 in solids, and the root of their mean square. */
static double find_slopes(const float *heights, const uint8_t *solid, const int64_t n[2], double dx,
                          double (*gradient)[2]) {
    double squares = 0;
    int64_t counted = 0;
    for (int64_t j = 0, at = 0; j < n[1]; j++) {
        for (int64_t i = 0; i < n[0]; i++, at++) {
            if (solid[at]) {
                continue;
            }
            double *g = gradient[at];
            g[0] = slope(heights, solid, at, i, n[0], 1, dx);
            g[1] = slope(heights, solid, at, j, n[1], n[0], dx);
            if (!isfinite(g[0]) || !isfinite(g[1])) { /* beside heights that are no numbers: flat */
                g[0] = g[1] = 0;
            }
            squares += g[0] * g[0] + g[1] * g[1];
            counted++;
        }
    }
    return counted ? sqrt(squares / (double)counted) : 0;
}

sel_status sel_relief_shade(const float *heights, const uint8_t *solid, const int64_t n[2],
                            double dx, double exaggeration, float *brightness, sel_error *error) {
    size_t cells = (size_t)n[0] * (size_t)n[1];
    double(*gradient)[2] = calloc(cells, sizeof *gradient);
    if (!gradient) {
        return sel_fail_memory(error, "a picture's relief", cells * sizeof *gradient);
    }
    double usual = find_slopes(heights, solid, n, dx, gradient);
    if (isnan(exaggeration)) {
        exaggeration = usual > 0 ? fmax(usual_slope / usual, 1) : 1;
    }
    for (size_t i = 0; i < cells; i++) {
        brightness[i] = (float)brightness_of(gradient[i], exaggeration);
    }
    free(gradient);
    return SEL_OK;
}
