/* limit.h -- round-off at the limits of shapes. */
#ifndef SEL_LIMIT_H
#define SEL_LIMIT_H

#include <float.h>
#include <math.h>
#include "engine/scene/grid.h"

/* Places nearer to a limit lie on it: cells and limits have been computed in different ways from
 * the same numbers. (11 * 0.03 is below 0.33.) */
static inline double sel_limit_slack(const sel_grid *grid) {
    double side = grid->dx[0], size = 0;
    for (int a = 0; a < grid->dims; a++) {
        side = fmin(side, grid->dx[a]);
        size = fmax(size, fmax(fabs(grid->origin[a]), fabs(sel_upper_end(grid, a))));
    }
    return 1e-9 * side + 16 * DBL_EPSILON * size;
}

/* How far places on a face of the domain are moved inwards, so that they lie within half-open boxes
 * that end with the domain: farther than round-off. */
static inline double sel_limit_inward(const sel_grid *grid) {
    return 4 * sel_limit_slack(grid);
}

#endif
