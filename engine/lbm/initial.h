/* initial.h -- the flow at step 0 as the scenario gives it, slab by slab. */
#ifndef LBM_INITIAL_H
#define LBM_INITIAL_H

#include "engine/lbm/gradient.h"
#include "engine/lbm/lbm.h"

/* A slab is what lies together at one place of the slowest axis: a row in 2-D, a plane in 3-D. */
typedef struct lbm_slabs {
    const lbm_plan *plan;
    int64_t count, rows; /* slabs, and rows of cells in each */
    double *memory;      /* scratch of evaluation */
} lbm_slabs;

sel_status lbm_slabs_open(const lbm_plan *plan, lbm_slabs *slabs, sel_error *error);
void lbm_slabs_close(lbm_slabs *slabs);

/* False: the flow starts at rest at pressure 0, and every slab is zero. */
bool lbm_slabs_given(const lbm_slabs *slabs);

/* Evaluates a slab, lattice units: for each of its rows density deviation and the components of the
 * velocity, to[rows][1 + dims][nx]; zero in solids. Fails where a quantity fails or a density is
 * not positive. */
sel_status lbm_slab(const lbm_slabs *slabs, int64_t slab, double *to, sel_error *error);

#endif
