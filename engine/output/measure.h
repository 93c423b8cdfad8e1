/* measure.h -- force on the regions of a name, and what flows through them. */
#ifndef SEL_MEASURE_H
#define SEL_MEASURE_H

#include "engine/output/kind.h"

/* Several regions may share a name: they are measured together. */

/* Refuses a name that no region has, with the nearest one that exists. */
sel_status sel_measure_check(const sel_output_site *site, const char *region, sel_error *error);

/* Force and torque about `centre` of the fluid on the regions called `region`, in the last step.
 * User's units, per unit depth in 2-D, where only torque[2] is not zero. */
sel_status sel_measure_force(const sel_output_context *context, const char *region,
                             const sel_point *centre, double force[3], double torque[3],
                             sel_error *error);

/* What leaves the domain per time through the regions called `region`, as sel_request.flux. */
sel_status sel_measure_flux(const sel_output_context *context, const char *region, double *flux,
                            sel_error *error);

#endif
