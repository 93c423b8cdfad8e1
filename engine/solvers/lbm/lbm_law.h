/* lbm_law.h -- the values of laws converted to lattice units.
 *
 * Which of the values of a law a link or a cell takes is a number, `detail`:
 *
 *     of a link          direction + 32 (1 + axis): the velocity along this axis only
 *                        direction: the whole velocity
 *     of a wet cell      bits 0 to 2: components of the velocity; bits 3 to 5: half of a component,
 *                        with bit 6 as the second half
 *
 * C11 and C++17; the includer may define LBM_LAW_INLINE to add its qualifiers. Component a of a
 * value stands at value[a * apart].
 */
#ifndef LBM_LAW_H
#define LBM_LAW_H

#include <stdint.h>
#include "engine/solvers/lbm/lbm_method.h"

#ifndef LBM_LAW_INLINE
#define LBM_LAW_INLINE static inline
#endif

enum { LBM_ALL_AXES = -1 };

LBM_LAW_INLINE uint8_t lbm_link_detail(int direction, int axis) {
    return (uint8_t)(direction + 32 * (1 + axis));
}

LBM_LAW_INLINE uint8_t lbm_open_detail(unsigned own, unsigned common, bool second) {
    return (uint8_t)(own | common << 3 | (second ? 64u : 0));
}

/* The momentum that a wall of this velocity adds to a population bounced into direction e: 6 w e.u,
 * at density 1. */
LBM_LAW_INLINE double lbm_wall_adds(const lbm_direction *directions, uint8_t detail, int components,
                                    const double *velocity, int64_t apart, double velocity_unit) {
    const lbm_direction *d = &directions[detail % 32];
    const int axis = detail / 32 - 1;
    double along = 0;
    for (int a = 0; a < components; a++) {
        along += axis == LBM_ALL_AXES || axis == a ? d->e[a] * velocity[a * apart] : 0;
    }
    return 6 * d->weight * along / velocity_unit;
}

/* Stores a velocity (LBM_TO_VELOCITY), or the density deviation of a pressure (LBM_TO_DENSITY), in
 * the LBM_OPEN_VALUES values of a cell with wet faces. */
LBM_LAW_INLINE void lbm_open_set(lbm_goal goal, uint8_t detail, int components, const double *value,
                                 int64_t apart, double velocity_unit, double pressure_unit,
                                 double *to) {
    if (goal == LBM_TO_DENSITY) {
        to[3] = value[0] / pressure_unit;
    }
    for (int a = 0; a < components && goal == LBM_TO_VELOCITY; a++) {
        const double u = value[a * apart] / velocity_unit;
        if (detail >> a & 1) {
            to[a] = u;
        } else if (detail >> (3 + a) & 1) {
            to[detail & 64 ? LBM_SECOND_HALF : a] = 0.5 * u;
        }
    }
}

#endif
