/* lbm_law.h -- the values of laws converted to lattice units.
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

/* The momentum that a wall of this velocity adds to a population bounced into direction e: 6 w e.u,
 * at density 1. */
LBM_LAW_INLINE double lbm_wall_adds(const int *e, double weight, int components,
                                    const double *velocity, int64_t apart, double velocity_unit) {
    double along = 0;
    for (int a = 0; a < components; a++) {
        along += e[a] * velocity[a * apart];
    }
    return 6 * weight * along / velocity_unit;
}

/* Stores a velocity (LBM_TO_VELOCITY), or the density deviation of a pressure (LBM_TO_DENSITY), in
 * the LBM_OPEN_VALUES values of a cell with wet faces. */
LBM_LAW_INLINE void lbm_open_set(lbm_goal goal, int components, const double *value, int64_t apart,
                                 double velocity_unit, double pressure_unit, double *to) {
    if (goal == LBM_TO_DENSITY) {
        to[3] = value[0] / pressure_unit;
    }
    for (int a = 0; a < components && goal == LBM_TO_VELOCITY; a++) {
        to[a] = value[a * apart] / velocity_unit;
    }
}

#endif
