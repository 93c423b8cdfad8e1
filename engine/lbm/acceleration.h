/* acceleration.h -- the acceleration of a flow, evaluated where and when backends need it. */
#ifndef LBM_ACCELERATION_H
#define LBM_ACCELERATION_H

#include "engine/lbm/lbm.h"

/* True when it depends on the place: each cell has its own. */
bool lbm_acceleration_is_field(const lbm_plan *plan);

/* One lattice unit of it in the user's units. */
double lbm_acceleration_unit(const lbm_plan *plan);

/* The uniform acceleration `steps` steps after time 0, user's units; zero where none is given. */
sel_status lbm_acceleration_uniform(const lbm_plan *plan, double steps, double value[3],
                                    sel_error *error);

/* Rows that are evaluated at a time: enough places for all cores, few enough to stay in the caches.
 */
int64_t lbm_acceleration_chunk(const lbm_plan *plan);

/* At all cells of `rows` rows (y + ny z) from `first` on: values[component][rows][nx], user's
 * units. scratch holds 3 rows nx numbers. */
sel_status lbm_acceleration_rows(const lbm_plan *plan, double steps, int64_t first, int64_t rows,
                                 double *scratch, double *values, sel_error *error);

#endif
