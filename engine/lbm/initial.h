/* initial.h -- the flow at step 0 as the scenario gives it, slab by slab. */
#ifndef LBM_INITIAL_H
#define LBM_INITIAL_H

#include "engine/lbm/gradient.h"
#include "engine/lbm/lbm.h"

/* A slab is what lies together at one place of the slowest axis: a row in 2-D, a plane in 3-D. */
typedef struct lbm_slabs {
    const lbm_plan *plan;
    int64_t count, rows; /* slabs, and rows of cells in each */
    int64_t part;        /* rows that a thread evaluates at once */
    int threads;
    double *memory; /* scratch of evaluation, of each thread */
} lbm_slabs;

sel_status lbm_slabs_open(const lbm_plan *plan, lbm_slabs *slabs, sel_error *error);
void lbm_slabs_close(lbm_slabs *slabs);

/* False: the flow starts at rest at pressure 0, and every slab is zero. */
bool lbm_slabs_given(const lbm_slabs *slabs);

/* Evaluates slabs first <= s < first + count, lattice units: for each of their rows density
 * deviation and the components of the velocity, to[count][rows][1 + dims][nx]; zero in solids.
 * Fails where a quantity fails or a density is not positive. */
sel_status lbm_slabs_evaluate(const lbm_slabs *slabs, int64_t first, int64_t count, double *to,
                              sel_error *error);

#endif
