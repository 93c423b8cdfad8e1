/* divergence.h -- how often a run is looked at, and whether what was seen has diverged. */
#ifndef SEL_DIVERGENCE_H
#define SEL_DIVERGENCE_H

#include "engine/solver.h"

/* Steps between two looks: the smallest multiple of 100, 1,000 at most, at which looks cost less
 * than 1 % of the time. It follows from the plan alone, by the costs of a nominal device, so that
 * runs stop at the same step on every backend, fast machine or slow. */
int64_t sel_look_interval(const sel_plan *plan);

/* Whether a monitor at `step` found a state that has diverged. Then says so in `text`: the step,
 * the value, the cell, the nearest region. */
enum { SEL_DIVERGENCE_TEXT = 400 };
bool sel_diverged(const sel_plan *plan, const sel_request *monitor, int64_t step,
                  char text[SEL_DIVERGENCE_TEXT]);

/* Number of the region whose face sites or cells lie nearest to cell `at`, the last painted of
 * several; *distance: in cells, from the cell's centre, 1/2 beside it. 0: there is no region. */
int sel_nearest_region(const sel_domain *domain, const int64_t at[3], double *distance);

#endif
