/* lookup_value.h -- the value of a lookup at one place: series, rasters and noise.
 *
 * C11 and C++17, so that devices compile the same source; the includer may define SEL_VALUE_INLINE
 * to add its qualifiers.
 */
#ifndef SEL_LOOKUP_VALUE_H
#define SEL_LOOKUP_VALUE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef SEL_VALUE_INLINE
#define SEL_VALUE_INLINE static inline
#endif

typedef enum sel_lookup_kind {
    SEL_LOOKUP_SERIES,
    SEL_LOOKUP_RASTER,
    SEL_LOOKUP_NOISE
} sel_lookup_kind;

/* ---- a series ---- */

/* The value outside the times of a series: none; the nearest value; zero. */
enum { SEL_SERIES_ERROR, SEL_SERIES_HOLD, SEL_SERIES_ZERO };

/* How a series of n points t[n], value[n] is evaluated. Times rise strictly; all numbers are
 * finite. */
typedef struct sel_series_rule {
    int64_t n;
    bool previous; /* between two points, the value of the earlier one; else linear interpolation */
    bool repeats;  /* periodic, with the period t[n - 1] - t[0] */
    int outside;   /* SEL_SERIES_ERROR, ...; ignored if it repeats */
} sel_series_rule;

/* The last point with t <= `at`, where t[0] <= `at` <= t[n - 1]; point `hint` is tried first. */
SEL_VALUE_INLINE int64_t sel_series_point(const sel_series_rule *rule, const double *t, double at,
                                          int64_t hint) {
    int64_t low = 0, high = rule->n - 1;
    if (at >= t[hint] && (hint == high || at < t[hint + 1])) {
        return hint;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (at >= t[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return at >= t[high] ? high : low;
}

SEL_VALUE_INLINE double sel_series_inside(const sel_series_rule *rule, const double *t,
                                          const double *value, double at, int64_t *hint) {
    int64_t k = *hint = sel_series_point(rule, t, at, *hint);
    if (rule->previous || k == rule->n - 1) {
        return value[k];
    }
    double part = (at - t[k]) / (t[k + 1] - t[k]);
    return value[k] + (value[k + 1] - value[k]) * part;
}

/* `at`, shifted by a multiple of the period into [first, last]. */
SEL_VALUE_INLINE double sel_series_fold(double first, double last, double at) {
    double period = last - first, since = fmod(at - first, period);
    return first + (since < 0 ? since + period : since);
}

/* Whether two times are equal up to rounding: the product n dt may miss a point slightly. */
SEL_VALUE_INLINE bool sel_series_almost(double a, double b) {
    return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

/* The value at `at`; NaN outside a series with SEL_SERIES_ERROR, and at a time that is not finite.
 * *hint: the point to try first; becomes the point found. */
SEL_VALUE_INLINE double sel_series_value(const sel_series_rule *rule, const double *t,
                                         const double *value, double at, int64_t *hint) {
    double first = t[0], last = t[rule->n - 1];
    if (!isfinite(at)) {
        return (double)NAN;
    }
    at = rule->repeats ? sel_series_fold(first, last, at) : at;
    if (at >= first && at <= last) {
        return sel_series_inside(rule, t, value, at, hint);
    }
    if (rule->outside == SEL_SERIES_HOLD || sel_series_almost(at, first) ||
        sel_series_almost(at, last)) {
        return value[at < first ? 0 : rule->n - 1];
    }
    return rule->outside == SEL_SERIES_ZERO ? 0 : (double)NAN;
}

/* ---- a raster: bilinear interpolation between the centres of pixels ---- */

/* Pixel (i, j) has its centre at origin + (i + 1/2, j + 1/2) dx; row j = 0 is the southernmost.
 * NaN: no data. */
typedef struct sel_raster {
    int64_t n[2];
    double dx, origin[2];
    double *value;                      /* n[1] rows of n[0] */
    const struct sel_raster_file *file; /* its file and map; NULL: not from a file */
} sel_raster;

/* Points within this distance of a centre, in pixels, count as on it: by rounding the neighbouring
 * pixel would get a tiny weight, and it may have no data. */
#define SEL_RASTER_NEAR 1e-6

/* The pixel whose centre is the last one at or before `at` along an axis, and the distance from
 * that centre in pixels, 0 <= *part < 1. Beyond the outermost centres: the outermost pixel and 0.
 * False: `at` is outside the raster. */
SEL_VALUE_INLINE bool sel_raster_locate(const sel_raster *raster, int axis, double at,
                                        int64_t *pixel, double *part) {
    double pixels = (at - raster->origin[axis]) / raster->dx, last = (double)raster->n[axis];
    if (!(pixels >= 0 && pixels <= last)) {
        return false;
    }
    double centre = fmin(fmax(pixels - 0.5, 0.0), last - 1);
    double nearest = floor(centre + 0.5);
    centre = fabs(centre - nearest) < SEL_RASTER_NEAR ? nearest : centre;
    *pixel = (int64_t)centre;
    *part = centre - (double)*pixel;
    return true;
}

/* Linear interpolation; with weight 0, b may be NaN. */
SEL_VALUE_INLINE double sel_raster_blend(double a, double b, double part) {
    return part == 0 ? a : a + (b - a) * part;
}

/* The value at a point of a raster whose pixels are value[n[1]][n[0]]; NaN outside, and if a pixel
 * of nonzero weight is NaN. */
SEL_VALUE_INLINE double sel_raster_interpolate(const sel_raster *raster, const double *value,
                                               double x, double y) {
    int64_t i, j, width = raster->n[0];
    double u, v;
    if (!sel_raster_locate(raster, 0, x, &i, &u) || !sel_raster_locate(raster, 1, y, &j, &v)) {
        return (double)NAN;
    }
    const double *row = value + j * width + i;
    const double *above = v > 0 ? row + width : row;
    int64_t next = u > 0;
    return sel_raster_blend(sel_raster_blend(row[0], row[next], u),
                            sel_raster_blend(above[0], above[next], u), v);
}

/* ---- smooth noise from integer hashes: the same bits on every processor ----
 *
 * Value noise: a hash of seed and lattice point gives a value in [-1, 1) at each corner of the unit
 * cell. In between, the values are blended with the weight 6 w^5 - 15 w^4 + 10 w^3, whose first two
 * derivatives vanish at the corners (K. Perlin, Improving noise, SIGGRAPH 2002). Only sums and
 * products in a fixed order are used, so that all processors give the same bits if compilers do not
 * contract them. */

/* The finalizer of SplitMix64: every bit of the input changes half of the output. */
SEL_VALUE_INLINE uint64_t sel_noise_mix(uint64_t h) {
    h += 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

SEL_VALUE_INLINE double sel_noise_corner(uint64_t h, int64_t i) {
    uint64_t bits = sel_noise_mix(h ^ (uint64_t)i);
    return (double)(bits >> 11) * 2.220446049250313e-16 - 1.0;
}

SEL_VALUE_INLINE double sel_noise_weight(double w) {
    return w * w * w * (w * (w * 6.0 - 15.0) + 10.0);
}

SEL_VALUE_INLINE double sel_noise_blend(double a, double b, double w) {
    return a * (1.0 - w) + b * w;
}

SEL_VALUE_INLINE double sel_noise_row(uint64_t h, int64_t i, double w) {
    return sel_noise_blend(sel_noise_corner(h, i), sel_noise_corner(h, i + 1), w);
}

SEL_VALUE_INLINE double sel_noise_plane(uint64_t h, int64_t i, int64_t j, double u, double v) {
    return sel_noise_blend(sel_noise_row(sel_noise_mix(h ^ (uint64_t)j), i, u),
                           sel_noise_row(sel_noise_mix(h ^ (uint64_t)(j + 1)), i, u), v);
}

/* Noise in [-1, 1] with features of size 1. NaN beyond 2^52, where doubles have no fraction. */
SEL_VALUE_INLINE double sel_noise(double seed, double x, double y, double z) {
    const double limit = 4503599627370496.0;
    if (!(fabs(x) < limit && fabs(y) < limit && fabs(z) < limit)) {
        return (double)NAN;
    }
    uint64_t h;
    double key = seed + 0.0; /* -0 is 0 */
    memcpy(&h, &key, sizeof h);
    h = sel_noise_mix(h);
    double i = floor(x), j = floor(y), k = floor(z);
    double u = sel_noise_weight(x - i), v = sel_noise_weight(y - j), w = sel_noise_weight(z - k);
    uint64_t below = sel_noise_mix(h ^ (uint64_t)(int64_t)k);
    uint64_t above = sel_noise_mix(h ^ (uint64_t)((int64_t)k + 1));
    return sel_noise_blend(sel_noise_plane(below, (int64_t)i, (int64_t)j, u, v),
                           sel_noise_plane(above, (int64_t)i, (int64_t)j, u, v), w);
}

#endif
