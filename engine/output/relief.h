/* relief.h -- a surface as light and shadow, for pictures. */
#ifndef SEL_RELIEF_H
#define SEL_RELIEF_H

#include <stdint.h>
#include "engine/status.h"

/* Brightness of flat ground, 0 to 1. */
double sel_relief_flat(void);

/* brightness[n[1]][n[0]], 0 to 1, of a surface in light from the upper left, 45 degrees high:
 * heights[n[1]][n[0]] at the centres of cells dx wide, row 0 the lowest, times `exaggeration`; NaN:
 * such that the root mean square of slopes is a half, but at least 1. Solid cells (not 0) have no
 * height: slopes beside them are one-sided. May be in place. */
sel_status sel_relief_shade(const float *heights, const uint8_t *solid, const int64_t n[2],
                            double dx, double exaggeration, float *brightness, sel_error *error);

#endif
