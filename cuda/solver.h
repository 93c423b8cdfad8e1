/* solver.h -- what a solver on the device declares. */
#ifndef CUDA_SOLVER_H
#define CUDA_SOLVER_H

#include "cuda/inputs.h"
#include "cuda/query.h"
#include "cuda/queue.h"

typedef struct cuda_solver {
    const char *what;  /* "the flow": what memory is for */
    size_t state_size; /* bytes of its state, which begins with a sel_state */
    bool compiles;     /* its kernels are compiled when a run begins: NVRTC must be here */
    /* Kernels read the clock for inputs only: where none varies, graphs let it stand. */
    bool timeless;
    /* As in sel_backend. NULL: it takes any. */
    bool (*decompose)(const sel_simulation *simulation, const sel_grid *grid,
                      sel_decomposition *decomposition);
    /* Fails when the grid is too large for the kernels' integers. This and all that follow but
     * list, start, step and look may be NULL: there is nothing to do. */
    sel_status (*fits)(const sel_plan *plan, sel_error *error);
    /* Lists the arrays of a state that knows its plan and nothing else; called for estimates, too.
     */
    void (*list)(sel_state *state);
    /* The state of step 0; arrays are zero. Fails where a quantity does. */
    sel_status (*start)(sel_state *state, sel_error *error);
    /* Stores values of the plan's inputs (inputs.cuh), and what its kernels see; how those in cells
     * are kept. NULL: in state->given. */
    cuda_inputs_launcher *store;
    const void *(*store_view)(sel_state *state);
    sel_input_cells_of *cells;
    /* Text that is compiled with the kernel that fills an input in cells: of a kernel that takes
     * over the filling (cuda_inputs_hand_over). NULL: none. */
    const char *(*beside)(const sel_state *state, const sel_input *input);
    /* The steps whose values it keeps, that of step n as number n % copies: 1 or CUDA_STEPS.
     * NULL: 1. */
    int64_t (*copies)(const sel_state *state);
    /* Whether ranks agree before a step that a value is missing, since going back to the step
     * before does not undo all that a step does. NULL: beside the step, by cuda_take_slabs. */
    bool (*joins_before)(const sel_state *state);
    /* Enqueues what steps derive from the values of the plan's inputs (inputs.h), which are new. */
    sel_status (*derive)(sel_state *state, int64_t step, sel_error *error);
    /* Whether the next step needs the host, or differs from others: no graph can hold it. */
    bool (*alone)(const sel_state *state);
    /* Evaluates on the host and sends what is `due` (after the first step SEL_ON_T) for the next
     * *count steps. May lower *count to the steps before one that fails. */
    sel_status (*terms)(sel_state *state, unsigned due, int64_t *count, sel_error *error);
    /* How many steps the next call of step() makes, of at most `most` to come: an odd number, so
     * that after a failure sel_state_go_to finds the copies of an earlier step. NULL: 1. */
    int64_t (*pass)(const sel_state *state, int64_t most);
    /* Enqueues the step, or queue->pass steps, from `step` on; fails with SEL_BAD_SCENARIO where a
     * quantity does, and then leaves the state as it is. Observed when state->observing is set. */
    sel_status (*step)(sel_state *state, int64_t step, sel_error *error);
    /* Of solvers that iterate: waits for the steps that are enqueued; sets state->step to those
     * that were made, and state->ending. Steps beyond the end leave the state as it is. */
    sel_status (*ending)(sel_state *state, sel_error *error);
    /* The dt of the steps to come, where the plan says that it changes. NULL: it stays. */
    sel_status (*time_step)(sel_state *state, double *dt, sel_error *error);
    /* Reports a failure that is known by now and affects the state after `step` steps; sets
     * state->step to the last whole state, or state->broken if there is none. */
    sel_status (*check)(sel_state *state, int64_t step, sel_error *error);
    /* After a failure that check() has reported on any rank, which all ranks know by then, with
     * state->step the last whole state: restores what that state needs. The message becomes that of
     * the first place of the grid. Returns `status`. */
    sel_status (*failed)(sel_state *state, sel_status status, sel_error *error);
    /* As in sel_backend. */
    void (*print)(const sel_plan *plan, FILE *to);
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
    /* SEL_BALANCE, SEL_FORCE, SEL_FLUX and SEL_MEAN_CHANGE: `ask` opens a slot and enqueues the
     * work that fills it; `answer` converts its content. NULL, both: SEL_BALANCE by the sum of the
     * main field. */
    sel_status (*ask)(sel_state *state, const sel_request *request, sel_error *error);
    void (*answer)(sel_state *state, const cuda_slot *slot, sel_request *request);
} cuda_solver;

#endif
