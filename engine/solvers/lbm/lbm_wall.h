/* lbm_wall.h -- what a wall feels in the cells beside it: where it lies, and the shear stress on
 * it.
 *
 * C11 and C++17, f64, as lbm_field.h, which comes before. The stress of a cell beside a wall is
 * extrapolated to the wall along a link, from this cell and the next one inwards:
 *
 *     wall            x              x + e          stress at the wall
 *      |<--- part --->o------ 1 ----->o              = s(x) + part (s(x) - s(x + e))
 *
 * Its traction s n, with the normal n into the fluid, is the viscous force of the fluid on the wall
 * per area; what of it lies along the wall is the wall shear stress.
 */
#ifndef LBM_WALL_H
#define LBM_WALL_H

#include "engine/solvers/lbm/lbm_field.h"

/* Whether a field is one of walls, for which the stress is kept. */
LBM_FIELD_INLINE bool lbm_is_of_walls(int field) {
    return field >= LBM_WALL_SHEAR && field <= LBM_WALL_AREA;
}

/* The wall beside a cell; lengths are links along an axis. */
typedef struct lbm_wall {
    double normal[3];   /* into the fluid, of length 1; 0: no wall */
    double area;        /* of the wall */
    double distance;    /* of the cell's centre, along the normal */
    double part;        /* of a link, for the extrapolation; 0: the stress of the cell itself */
    int64_t here, next; /* the cell and the next one inwards, in a component of the stress */
} lbm_wall;

/* Part number of a tensor as lbm_gradient_strain orders them. */
LBM_FIELD_INLINE int lbm_tensor_part(int a, int b, int dims) {
    return a == b ? a : dims + (a + b == 1 ? 0 : a + b == 3 ? 1 : 2);
}

/* The components of a field of walls, user's units; returns their number. stress: part k of that of
 * a cell begins at stress[k * apart]. drho, nu: the density of the cell and the viscosity of the
 * fluid, lattice units; dx: of the grid. */
LBM_FIELD_INLINE int lbm_wall_field(int field, const lbm_wall *wall, const double *stress,
                                    int64_t apart, double drho, double nu, double dx, int dims,
                                    const lbm_units *units, double *to) {
    double traction[3] = {0, 0, 0}, along = 0, square = 0;
    if (field == LBM_WALL_NORMAL) {
        for (int a = 0; a < dims; a++) {
            to[a] = wall->normal[a];
        }
        return dims;
    }
    if (field == LBM_WALL_AREA) {
        to[0] = wall->area * (dims == 3 ? dx * dx : dx);
        return 1;
    }
    for (int a = 0; a < dims; a++) {
        for (int b = 0; b < dims; b++) {
            const double *of = stress + lbm_tensor_part(a, b, dims) * apart;
            const double here = of[wall->here], slope = here - of[wall->next];
            traction[a] +=
                LBM_FIELD_TIMES(here + LBM_FIELD_TIMES(wall->part, slope), wall->normal[b]);
        }
        along += LBM_FIELD_TIMES(traction[a], wall->normal[a]);
    }
    for (int a = 0; a < dims; a++) {
        to[a] = traction[a] - LBM_FIELD_TIMES(along, wall->normal[a]);
        square += LBM_FIELD_TIMES(to[a], to[a]);
    }
    if (field == LBM_WALL_SHEAR) {
        return dims;
    }
    /* y+ = u_tau y / nu, with u_tau = sqrt(shear / density) */
    const double per = units->density * units->velocity * units->velocity;
    to[0] = sqrt(sqrt(square) / (per * (1 + drho))) * wall->distance / nu;
    return 1;
}

#endif
