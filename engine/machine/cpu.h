/* cpu.h -- a solver on the processor: what it gives, and the backend that the machine makes of it.
 */
#ifndef SEL_CPU_H
#define SEL_CPU_H

#include "engine/machine/levels.h"
#include "engine/machine/look.h"

typedef struct sel_cpu {
    const char *what;  /* "the flow": what memory is for */
    size_t state_size; /* bytes of its state, which begins with a sel_state */
    /* Lists the arrays of a state that knows its plan and nothing else; called for estimates, too.
     */
    void (*list)(sel_state *state);
    /* The state of step 0; arrays are zero. Fails where a quantity does. */
    sel_status (*start)(sel_state *state, sel_error *error);
    /* What its terms (all that is evaluated before a step) vary with: SEL_ON_T, SEL_ON_CONTROLS.
     * NULL, and so `terms`: it has none. */
    unsigned (*depends)(const sel_plan *plan);
    /* Evaluates the terms of the step to come that depend on what is `due`. */
    sel_status (*terms)(sel_state *state, unsigned due, sel_error *error);
    /* Gathers what the step to come will show, from the populations (depths, ...) that it begins
     * with and its terms; `initially`, for step 0, what needs no step before it. NULL: steps show
     * nothing that the state itself does not. */
    void (*observe)(sel_state *state, bool initially);
    /* n steps under the same terms; counts them in state->step. */
    sel_status (*steps)(sel_state *state, int64_t n, sel_error *error);
    sel_look look;
    /* The saved arrays have been loaded, of a state of which the last step is done: makes halos,
     * and the terms of that step. NULL: there is nothing to make. */
    sel_status (*loaded)(sel_state *state, sel_error *error);
} sel_cpu;

/* The backend of all solvers that have a sel_cpu. */
extern const sel_backend sel_cpu_backend;

#endif
