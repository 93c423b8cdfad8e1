/* measure.h -- force on the regions of a name, and what flows through them. */
#ifndef SEL_MEASURE_H
#define SEL_MEASURE_H

#include "engine/output/kind.h"

/* Several regions may share a name: they are measured together. */

/* Refuses a name that no region has, with the nearest one that exists. */
sel_status sel_measure_check(const sel_output_site *site, const char *region);

/* Appends a request of `kind`, SEL_FORCE or SEL_FLUX, for each region called `region`; `centre` is
 * that of torques. */
sel_status sel_measure_ask(const sel_output_context *context, sel_request_kind kind,
                           const char *region, const sel_point *centre, sel_requests *requests,
                           sel_error *error);

/* The sums of the answers: force and torque in user's units, per unit depth in 2-D, where only
 * torque[2] is not zero; what leaves the domain per time, as sel_request.flux. */
void sel_measure_sum_force(const sel_requests *answers, double force[3], double torque[3]);
double sel_measure_sum_flux(const sel_requests *answers);

/* Asks for the force in the last step and waits for it. */
sel_status sel_measure_force(const sel_output_context *context, const char *region,
                             const sel_point *centre, double force[3], double torque[3],
                             sel_error *error);

#endif
