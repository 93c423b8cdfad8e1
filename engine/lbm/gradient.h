/* gradient.h -- the velocity gradient of a cell by differences; what follows from it is in
 * engine/physics/lbm_field.h. */
#ifndef LBM_GRADIENT_H
#define LBM_GRADIENT_H

#include "engine/domain.h"

/* d[a][b] = d u_a / d x_b, per step; zero for axes that the domain has not. */
typedef struct lbm_gradient {
    double d[3][3];
} lbm_gradient;

/* Rows of velocity about a row of cells. */
enum { LBM_HERE, LBM_BELOW_Y, LBM_ABOVE_Y, LBM_BELOW_Z, LBM_ABOVE_Z, LBM_AROUND };

/* The gradient at the free cell x of a row (y + ny z): central differences, one-sided beside solids
 * and faces that are not periodic, zero where both neighbours are missing. rows[LBM_HERE] and the
 * rows about it, after wrapping: a component per dimension, of nx numbers each; NULL outside of the
 * domain. */
lbm_gradient lbm_gradient_at(const sel_domain *domain, const double *const rows[LBM_AROUND],
                             int64_t x, int64_t row);

#endif
