/* lbm_answers.h -- what backends find in lattice units, as requests want it: the user's units. */
#ifndef LBM_ANSWERS_H
#define LBM_ANSWERS_H

#include "engine/lbm/lbm.h"
#include "engine/machine/arrays.h"
#include "engine/physics/lbm_field.h"

lbm_units lbm_units_of(const lbm_plan *plan);

/* Lists what an observed step fills, as far as the plan wants it:
 *   links      [2][links] what left along each link, and what came, in the run's precision
 *   strain[2]  the fields LBM_STRAIN_RATE and LBM_STRESS, [components][cells] */
void lbm_list_observed(const lbm_plan *plan, sel_arrays *arrays, void **links, double *strain[2]);

/* Lattice units; out and rate by region number, from 1. */
typedef struct lbm_balance {
    double mass, first_mass;
    const double *out;  /* through each region since step 0 */
    const double *rate; /* the same per step, since the last balance */
} lbm_balance;

/* Fills the terms of a SEL_BALANCE request, exact to round-off:
 *   mass         of all free cells; per unit depth in 2-D
 *   out_REGION   what has left through each region since step 0: what its links carried out less
 *                what they brought in; for the regions that let mass through
 *   rate_REGION  out_REGION per time, since the last balance at an earlier step
 *   error        (mass + sum of out - mass at step 0) / mass at step 0 */
void lbm_balance_terms(const lbm_plan *plan, const lbm_balance *balance, sel_request *request);

/* Answers a SEL_MONITOR from the largest speed squared and the smallest density deviation. */
void lbm_watched_answer(const sel_plan *base, const sel_watched *found, sel_request *request);

/* The centre of a SEL_FORCE request in cells: cell (i, j, k) lies at {i, j, k}. Zero for SEL_FLUX.
 */
void lbm_links_centre(const lbm_plan *plan, const sel_request *request, double centre[3]);

/* Answers SEL_FORCE and SEL_FLUX from what the links of the region carried in a step: momentum,
 * its moment about the centre, and mass out of the domain. */
void lbm_links_answer(const lbm_plan *plan, const double force[3], const double torque[3],
                      double mass, sel_request *request);

#endif
