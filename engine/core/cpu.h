/* cpu.h -- a solver on the CPU: what it declares, and the backend made from it. */
#ifndef SEL_CPU_H
#define SEL_CPU_H

#include "engine/base/hardware.h"
#include "engine/core/collectives.h"

/* ---- requests of outputs and the run loop (query.c) ----
 *
 * A solver provides functions of a row of cells. Sums consist of one partial per row, in the order
 * of its cells, joined by a fixed tree: the same for any number of threads.
 */

/* The main field on a whole row, in the solver's own units: [nx] of each component, arbitrary in
 * solids; and the values whose maximum and minimum are monitored (see sel_watch). */
typedef struct sel_main_row {
    const double *value[3];
    const double *large, *small;
} sel_main_row;

typedef struct sel_look {
    /* Makes ready what a request needs. NULL: nothing. */
    sel_status (*ready)(sel_state *state, const sel_request *request, sel_error *error);
    /* A field on x0 <= x < x1 of a row in the user's units: component c of x at
     * values[c nx + x - x0], in scratch of the calling thread; arbitrary in solids. Returns the
     * number of components. */
    int (*field)(const sel_state *state, int field, int64_t row, int64_t x0, int64_t x1,
                 const double **values);
    /* Field 0 has one number per cell (sel_state_list_numbers). The core then reads it and finds
     * its change. */
    bool numbers;
    /* Answers SEL_MEAN_CHANGE, after an observed step. NULL: that of numbers; else NaN, it is not
     * known. */
    double (*mean_change)(sel_state *state);
    /* NULL: it is read as a field, and has one component. */
    void (*main)(const sel_state *state, int64_t row, sel_main_row *main);
    /* Converts the extremes of a monitor to the user's units. NULL: they are. */
    void (*watched)(const sel_plan *plan, sel_request *request);
    /* Answers SEL_BALANCE, SEL_FORCE and SEL_FLUX. NULL: only SEL_BALANCE, by the sum of the main
     * field. */
    sel_status (*other)(sel_state *state, sel_request *request, sel_error *error);
} sel_look;

/* state->scratch of the calling thread: [3][nx], for a solver without sel_look.main. */
double *sel_state_scratch(const sel_state *state);

/* Answers a request. */
sel_status sel_look_at(const sel_look *look, sel_state *state, sel_request *request,
                       sel_error *error);

/* The sum of `sum` over all rows, or of the first partial of each row, which each rank has for its
 * own rows; exact for whole numbers. */
double sel_sum_rows(sel_state *state, double (*sum)(const sel_state *state, int64_t row),
                    bool whole);
double sel_join_rows(const sel_state *state, bool whole);

/* ---- a solver on the processor ---- */

typedef struct sel_cpu {
    const char *what;  /* "the flow": what memory is for */
    size_t state_size; /* bytes of its state, which begins with a sel_state */
    /* Lists the arrays of a state that knows its plan and nothing else; called for estimates, too.
     */
    void (*list)(sel_state *state);
    /* The state of step 0; arrays are zero. Fails where a quantity does. */
    sel_status (*start)(sel_state *state, sel_error *error);
    /* Evaluates the terms (all that is evaluated before a step) that depend on any of `due`, for
     * the step to come. With inputs of the plan: called after these are stored, to check what
     * depends on them. NULL: nothing. */
    sel_status (*terms)(sel_state *state, unsigned due, sel_error *error);
    /* Stores values of the plan's inputs; how those in cells are kept. NULL: in state->given. */
    sel_input_store *store;
    sel_input_cells_of *cells;
    /* What follows from the values of the plan's inputs, once they are evaluated. NULL: nothing. */
    void (*derive)(sel_state *state);
    /* After `terms` has failed on some rank: restores what fields of the present state need of the
     * terms. NULL: nothing. */
    void (*keep_terms)(sel_state *state);
    /* Before an observed step: fills those SEL_OBSERVED arrays that follow from the state and terms
     * at its start; the step itself fills the others. `initially`: fills all of them, for step 0,
     * with no step made. NULL: there is nothing to do. */
    void (*observe)(sel_state *state, bool initially);
    /* n steps under the same terms, or less if state->ending is set; counts them in state->step. */
    sel_status (*steps)(sel_state *state, int64_t n, sel_error *error);
    /* The dt of the steps to come, where the plan says that it changes. NULL: it stays. */
    sel_status (*time_step)(sel_state *state, double *dt, sel_error *error);
    sel_look look;
    /* After the saved arrays have been loaded, and the plan's inputs have been evaluated for the
     * last step: fills halos, and evaluates its other terms. NULL: the core fills halos. */
    sel_status (*loaded)(sel_state *state, sel_error *error);
    /* Frees what is no array. NULL: there is nothing. */
    void (*close)(sel_state *state);
} sel_cpu;

/* Evaluates what depends on any of `due` for the step to come: what varies in cells, then the rest.
 * All ranks call it, with the same `due`. */
sel_status sel_cpu_evaluate(sel_state *state, unsigned due, sel_error *error);

/* The backend of all solvers that have a sel_cpu. */
extern const sel_backend sel_cpu_backend;

#endif
