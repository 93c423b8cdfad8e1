/* survey.h -- how large a quantity is over a plane domain and a run, known before it starts: summed
 * up, or sampled. */
#ifndef SEL_SURVEY_H
#define SEL_SURVEY_H

#include "engine/scene/solver.h"

/* Values of a quantity of one component in free cells. */
typedef struct sel_survey {
    double sum, largest; /* largest: at least 0 */
    int64_t count;
    bool estimate; /* they are a sample */
} sel_survey;

/* All values at the time t. */
sel_status sel_survey_cells(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                            double t, sel_survey *found, sel_error *error);

/* Values at the middle of the steps of a run, with the controls as they are at the start: what
 * depends on time or on place alone is summed up step by step or cell by cell, else sampled. False
 * where it is not given, has no value somewhere, or depends on the time of a run without end. */
bool sel_survey_run(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                    sel_survey *found);

#endif
