/* backend.h -- a solver on the device: what it declares, and the backend made from it.
 *
 * Steps are enqueued and the caller continues: advance() waits only for the steps of the call
 * before the last, so that the device always has work.
 */
#ifndef CUDA_BACKEND_H
#define CUDA_BACKEND_H

#include "cuda/machine/queue.h"
#include "engine/machine/state.h"

typedef struct cuda_solver {
    const char *what;  /* "the flow": what memory is for */
    size_t state_size; /* bytes of its state, which begins with a sel_state */
    int unit;          /* blocks of the grid begin at multiples of so many planes */
    /* Fails when the grid is too large for the kernels' integers. This and all that follow but
     * list, start, step and look may be NULL: there is nothing to do. */
    sel_status (*fits)(const sel_plan *plan, sel_error *error);
    /* Lists the arrays of a state that knows its plan and nothing else; called for estimates, too.
     */
    void (*list)(sel_state *state);
    /* The state of step 0; arrays are zero. Fails where a quantity does. */
    sel_status (*start)(sel_state *state, sel_error *error);
    /* Whether the next step needs the host, or differs from others: no graph can hold it. */
    bool (*alone)(const sel_state *state);
    /* Evaluates on the host and sends what is `due` (after the first step SEL_ON_T) for the next
     * *count steps. May lower *count to the steps before one that fails. */
    sel_status (*terms)(sel_state *state, unsigned due, int64_t *count, sel_error *error);
    /* Enqueues the step from `step` to the next; fails with SEL_BAD_SCENARIO where a quantity does,
     * and then leaves the state as it is. Observed when state->observing is set. */
    sel_status (*step)(sel_state *state, int64_t step, sel_error *error);
    /* Reports a failure that is known by now and affects the state after `step` steps; sets
     * state->step to the last whole state, or state->broken if there is none. */
    sel_status (*check)(sel_state *state, int64_t step, sel_error *error);
    /* Releases what is not listed; `list` may not have been called. */
    void (*close)(sel_state *state);
    /* As in sel_backend. */
    sel_status (*saving)(sel_state *state, sel_error *error);
    /* As sel_cpu.loaded. */
    sel_status (*loaded)(sel_state *state, sel_error *error);
    /* Its launchers, and the present state as their kernels see it; fails when `field` (-1: none)
     * is not available. */
    sel_status (*look)(sel_state *state, int field, const cuda_look **look, const void **view,
                       sel_error *error);
    /* As in sel_look. */
    void (*watched)(const sel_plan *plan, sel_request *request);
    /* SEL_BALANCE, SEL_FORCE and SEL_FLUX: `ask` opens a slot and enqueues the work that fills it;
     * `answer` converts its content. NULL, both: as sel_look.other. */
    sel_status (*ask)(sel_state *state, const sel_request *request, sel_error *error);
    void (*answer)(sel_state *state, const cuda_slot *slot, sel_request *request);
} cuda_solver;

/* Its grid, once there is memory for its arrays. */
cuda_grid cuda_grid_of(const sel_state *state);

/* Enqueues the sum of what the solver conserves; the first of the queue's `rows` will hold it. */
sel_status cuda_sum(sel_state *state, sel_error *error);
/* The same, and waits for it. */
sel_status cuda_sum_now(sel_state *state, sel_total *sum, sel_error *error);

/* Enqueues what fills the halos of state->turns (sel_exchange). */
sel_status cuda_exchange(const sel_state *state, int64_t turn, sel_error *error);
/* Where their blocks stand, by the number of an element. */
cuda_parts cuda_parts_of(const sel_state *state, int64_t turn);

/* Copies between host and device; done when it returns. */
sel_status cuda_send(const void *to, const void *from, uint64_t bytes, sel_error *error);

#endif
