/* lbm_closed.h -- closed regions of fluid, and the mass that interpolated walls owe them.
 *
 * A wall half-way gives back the mass that it takes; an interpolated one does not. The difference
 * at a link is a flow through the cut cell and belongs there, but its sum over all links is an
 * error. Where a wet face takes up the difference this does not matter. A closed region (cells that
 * populations connect, with an interpolated link and without a wet face) would gain or lose mass
 * for ever. So the gains of its links, beyond what a wall half-way lets in, are summed:
 *
 *     each step        gain[first link of a cell] += gain of its interpolated links
 *     every 64 steps,  owed[region] -= sum of gain, over all ranks; gain = 0
 *     before the step  share = owed / cells of the region;  owed -= cells share
 *                      all moments of a cell grow by the part share / rho, so velocities stay
 *
 * All these are whole numbers of LBM_GAIN_UNIT of the mass of a cell, so that sums do not depend on
 * their order. In f32 a share waits until it is as large as populations can take.
 */
#ifndef LBM_CLOSED_H
#define LBM_CLOSED_H

#include "engine/solvers/lbm/lbm_boundary.h"

/* Finds the closed regions of the grid: closed_count, closed_cells, and `closed` of spans and
 * cells. Before lbm_boundary_keep_patch. */
sel_status lbm_closed_find(lbm_boundary *boundary, sel_error *error);

/* Whether what is owed is returned before the step from `step` on; the steps until then, at least
 * 1. */
static inline bool lbm_closed_due(const lbm_boundary *boundary, int64_t step) {
    return boundary->closed_count > 0 && step > 0 && step % LBM_RETURN_STEPS == 0;
}
static inline int64_t lbm_closed_left(const lbm_boundary *boundary, int64_t step) {
    return boundary->closed_count > 0 ? LBM_RETURN_STEPS - step % LBM_RETURN_STEPS : INT64_MAX;
}

#endif
