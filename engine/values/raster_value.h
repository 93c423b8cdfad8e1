/* raster_value.h -- the value of a raster at a point: bilinear between the centres of its pixels.
 *
 * C11 and C++17; the includer may define SEL_RASTER_INLINE to add its qualifiers.
 */
#ifndef SEL_RASTER_RULE_H
#define SEL_RASTER_RULE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef SEL_RASTER_INLINE
#define SEL_RASTER_INLINE static inline
#endif

/* Pixel (i, j) has its centre at origin + (i + 1/2, j + 1/2) dx, j from below; NaN: no data there.
 * The first row of a file is the top one: row n[1] - 1. */
typedef struct sel_raster {
    int64_t n[2];
    double dx, origin[2];
    double *value;                      /* n[1] rows of n[0] */
    const struct sel_raster_file *file; /* what is known of where it comes from; NULL: nothing */
} sel_raster;

/* Points within this distance of a centre, in pixels, count as on it: rounding must not involve the
 * pixel beside, which may have no data. */
#define SEL_RASTER_NEAR 1e-6

/* The pixel below `at` along an axis and the distance from its centre to the point, 0 to 1; false
 * outside the raster. */
SEL_RASTER_INLINE bool sel_raster_locate(const sel_raster *raster, int axis, double at,
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

/* Pixels of weight 0 do not count, so they may lack data. */
SEL_RASTER_INLINE double sel_raster_blend(double a, double b, double part) {
    return part == 0 ? a : a + (b - a) * part;
}

/* The value at a point of a raster with the values `value`; NaN outside, and where a pixel that
 * counts is NaN. */
SEL_RASTER_INLINE double sel_raster_interpolate(const sel_raster *raster, const double *value,
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

#endif
