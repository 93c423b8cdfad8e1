/* gradient.h -- the velocity gradient of a cell by differences, and what follows from it. */
#ifndef LBM_GRADIENT_H
#define LBM_GRADIENT_H

#include "engine/domain.h"

/* xy: d ux / dy. Per step. */
typedef struct lbm_gradient {
    double xx, xy, yx, yy;
} lbm_gradient;

/* The gradient at the free cell (x, y): central differences, one-sided beside solids and faces that
 * are not periodic, zero where both neighbours are missing. rows[k]: ux[nx] and uy[nx] of row
 * y - 1 + k (after wrapping), NULL outside of the domain. */
lbm_gradient lbm_gradient_at(const sel_domain *domain, const double *const rows[3], int64_t x,
                             int64_t y);

/* sqrt(2 S:S) of the rate of strain S. */
double lbm_strain_rate(const lbm_gradient *gradient);

#endif
