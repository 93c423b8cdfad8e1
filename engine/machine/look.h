/* look.h -- what outputs and the run loop ask of a state on the processor, for all solvers.
 *
 * A solver gives functions of a row of cells. Sums are made of one partial per row, in the order of
 * its cells, joined by a fixed tree: the same for any number of threads.
 */
#ifndef SEL_LOOK_H
#define SEL_LOOK_H

#include "engine/machine/state.h"
#include "engine/watch.h"

/* The main field on a whole row, in units of the solver's own: [nx] of each component, in solids
 * anything. What is watched for the largest and the smallest (see sel_watch). */
typedef struct sel_main_row {
    const double *value[3];
    const double *large, *small;
} sel_main_row;

typedef struct sel_look {
    /* A field on x0 <= x < x1 of a row in the user's units: component c of x at
     * values[c nx + x - x0], in scratch of the calling thread; in solids anything. Returns the
     * number of components. */
    int (*field)(const sel_state *state, int field, int64_t row, int64_t x0, int64_t x1,
                 const double **values);
    /* NULL: it is field 0, which has one component. */
    void (*main)(const sel_state *state, int64_t row, sel_main_row *main);
    /* Gives what a monitor has watched the user's units. NULL: it has them. */
    void (*watched)(const sel_plan *plan, const sel_watched *found, sel_request *request);
    /* Answers SEL_BALANCE, SEL_FORCE and SEL_FLUX. NULL: nothing but the balance is asked, and that
     * is the sum of the main field. */
    sel_status (*other)(sel_state *state, sel_request *request, sel_error *error);
} sel_look;

/* Answers a request. */
sel_status sel_look_at(const sel_look *look, sel_state *state, sel_request *request,
                       sel_error *error);

/* The sum over all rows of `sum`, or of the first partial of each; exact if they are whole numbers.
 */
double sel_sum_rows(sel_state *state, double (*sum)(const sel_state *state, int64_t row),
                    bool whole);
double sel_join_rows(const sel_state *state, bool whole);

#endif
