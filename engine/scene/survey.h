/* survey.h -- the sum and the maximum of a quantity over a 2-D domain and a run, before the run
 * starts: exact, or estimated from a sample. */
#ifndef SEL_SURVEY_H
#define SEL_SURVEY_H

#include "engine/scene/solver.h"

/* Values of a quantity of one component in free cells. */
typedef struct sel_survey {
    double sum, largest; /* largest: at least 0 */
    int64_t count;       /* values in the sum */
    bool estimate;       /* the values are a sample */
} sel_survey;

/* The values in all free cells at the time t. `what`: the quantity's name in messages. */
sel_status sel_survey_cells(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                            double t, sel_survey *found, sel_error *error);

/* The values at the middle of each step of a run, with the controls of the start. A quantity that
 * depends only on time or only on place is summed over all steps or cells; others are sampled.
 * False: the quantity is not given, has no value somewhere, or depends on time in a run without
 * end. */
bool sel_survey_run(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                    sel_survey *found);

#endif
