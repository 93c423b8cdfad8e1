/* lbm_terms.h -- the quantities of a scenario, evaluated in f64: laws of the boundary and
 * acceleration in time, and the flow at step 0. */
#ifndef LBM_TERMS_H
#define LBM_TERMS_H

#include "engine/solvers/lbm/lbm.h"

/* Lists the acceleration and the laws that have a quantity; `which` is an lbm_goal. Their places
 * are those of the boundary's cells. A wall has its values where each link meets it, half a step
 * after the step begins. All other laws have theirs at the centres of wet cells, when the step
 * ends. */
sel_status lbm_inputs_create(const lbm_plan *plan, sel_inputs *inputs, sel_error *error);
void lbm_inputs_free(sel_inputs *inputs);

/* On what of SEL_ON_T and SEL_ON_CONTROLS laws depend; the most places of one. */
unsigned lbm_laws_depend(const sel_inputs *inputs);
int64_t lbm_laws_largest(const sel_inputs *inputs);

/* The values of a law `steps` steps after time 0, [components][count], user's units. */
sel_status lbm_law_evaluate(const sel_inputs *inputs, const sel_input *law, double steps,
                            double *values, sel_error *error);

/* The region with the highest pressure of all that laws give over the run, if it is law.pressure
 * that does not absorb, and no open face has a velocity; else 0. */
int lbm_pressure_inlet(const lbm_plan *plan);

/* What laws give, lattice units:
 *   link_add[links]           what a wall adds to a bounced population: 6 w e.u, at density 1
 *   link_velocity[3][links]   the velocity u of the wall there; NULL: not wanted
 *   open_value[openings][LBM_OPEN_VALUES]   velocity, density deviation (lbm_method.h)
 *   acceleration[3]           a uniform one */
typedef struct lbm_values {
    const lbm_plan *plan;
    double *link_add, *link_velocity, *open_value, *acceleration;
    int64_t links; /* from a component of link_velocity to the next */
} lbm_values;
/* sel_input_store of lbm_values. */
sel_input_store lbm_values_store;

/* On what an acceleration depends; where one that varies in space has its values. */
unsigned lbm_acceleration_depends(const lbm_plan *plan);
static inline bool lbm_acceleration_is_field(const lbm_plan *plan) {
    return sel_quantity_depends(&plan->acceleration) & SEL_ON_PLACE;
}

/* Whether there is any. */
bool lbm_is_forced(const lbm_plan *plan);

/* One lattice unit of it in the user's units. */
double lbm_acceleration_unit(const lbm_plan *plan);

/* One that is constant, lattice units; zero where none is given. */
sel_status lbm_acceleration_constant(const lbm_plan *plan, double value[3], sel_error *error);

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
