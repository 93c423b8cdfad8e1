/* lbm_terms.h -- the quantities of a scenario, evaluated in f64: laws of the boundary and
 * acceleration in time, and the flow at step 0. */
#ifndef LBM_TERMS_H
#define LBM_TERMS_H

#include "engine/solvers/lbm/lbm.h"

/* boundary->batches: the places of each region whose law has a quantity; before
 * lbm_boundary_keep_patch those of the grid, boundary->everywhere. */
sel_status lbm_batches_create(const sel_domain *domain, lbm_boundary *boundary, sel_error *error);
void lbm_batches_free(lbm_boundary *boundary);

/* After lbm_boundary_keep_patch: takes its places for `batches`. Those of the grid stay with rank
 * 0. */
sel_status lbm_batches_keep_patch(const sel_domain *domain, lbm_boundary *boundary,
                                  sel_error *error);

/* Of a plan that lists the grid the openings in a patch, and the places of each batch there: for an
 * estimate. */
void lbm_batches_count(const lbm_boundary *boundary, const sel_patch *patch, int64_t *openings,
                       int64_t places[LBM_MOST_BATCHES]);

/* The time, in steps, at which a batch is evaluated for the step from `step` to step + 1. */
double lbm_batch_steps(const lbm_batch *batch, int64_t step);

/* Evaluates one batch `steps` steps after time 0 into values[components][count], user's units. */
sel_status lbm_batch_evaluate(const lbm_batch *batch, const sel_domain *domain, double steps,
                              double *values, sel_error *error);

/* Evaluates, for the step from `step` to step + 1, the batches of a plan that depend on what is
 * `due`, a mask of SEL_ON_T and SEL_ON_CONTROLS; SEL_ALWAYS: all of them. Stores in lattice units
 *   link_add[links]              what a wall adds to a bounced population: 6 w e.u, at density 1,
 *                                half a step after `step`
 *   open_value[openings][4]      velocity (3 components) and density deviation, a step after `step`
 * scratch holds 3 * largest numbers. */
sel_status lbm_batches_apply(const lbm_plan *plan, int64_t step, unsigned due, double *scratch,
                             double *link_add, double *open_value, sel_error *error);

/* Evaluates the same at all places of the grid, for its error; on rank 0. */
sel_status lbm_batches_try(const lbm_plan *plan, int64_t step, unsigned due, sel_error *error);

/* plan->acceleration: at one place, or without places when each cell has its own. */
lbm_batch lbm_acceleration_batch(lbm_plan *plan);

static inline bool lbm_acceleration_is_field(const lbm_plan *plan) {
    return plan->acceleration.goal == LBM_TO_FIELD;
}

/* Whether there is any. */
bool lbm_is_forced(const lbm_plan *plan);

/* One lattice unit of it in the user's units. */
double lbm_acceleration_unit(const lbm_plan *plan);

/* A uniform one, lattice units; zero where none is given. */
sel_status lbm_acceleration_uniform(const lbm_plan *plan, double steps, double value[3],
                                    sel_error *error);

/* Rows that are evaluated at a time: enough places for all cores, few enough to stay in the caches.
 */
int64_t lbm_acceleration_chunk(const lbm_plan *plan);

/* A field of it at all cells of `rows` rows (y + ny z) from `first` on, lattice units, in the run's
 * precision: component a of the k-th cell at to[a apart + k]. scratch holds 6 numbers per cell. */
sel_status lbm_acceleration_rows(const lbm_plan *plan, double steps, int64_t first, int64_t rows,
                                 double *scratch, void *to, int64_t apart, sel_error *error);

/* False: the flow starts at rest at pressure 0, and all is zero. */
bool lbm_initial_given(const lbm_plan *plan);

/* The flow at step 0 in the rows first <= row < end, lattice units: density deviation and the
 * components of the velocity, to[rows][1 + dims][nx]; zero in solids. lbm_initial_part
 * says how many rows to evaluate at once. Fails where a quantity fails or a density is not
 * positive. */
int64_t lbm_initial_part(const lbm_plan *plan);
sel_status lbm_initial_rows(const lbm_plan *plan, int64_t first, int64_t end, double *to,
                            sel_error *error);

#endif
