/* state.h -- what the state of every solver begins with, on the processor and on a device; saving
 * it.
 */
#ifndef SEL_STATE_H
#define SEL_STATE_H

#include "engine/io/checkpoint.h"
#include "engine/machine/arrays.h"
#include "engine/machine/comm.h"
#include "engine/scene/solver.h"

/* The main field at the last monitor: [components][cells], numbers of `type`; whole ones times
 * 1 / scale. */
typedef struct sel_last {
    void *v;
    sel_type type;
    int components;
    double scale;
} sel_last;

struct sel_state {
    const sel_plan *plan;
    int64_t step;
    int64_t observed; /* the last step that was observed, whose arrays are SEL_OBSERVED; -1: none */
    int threads;
    sel_blocks blocks;
    bool broken;     /* a step failed half-way: no state is whole */
    bool observing;  /* the step to come is to be observed */
    bool unbalanced; /* what was booked belongs to a step that failed: there is no balance */
    bool monitored;
    sel_arrays arrays;
    sel_last last;            /* type, components and scale are given by the list() of the solver */
    double *controls;         /* their values when terms were last evaluated; on the host */
    double *partials;         /* on the processor: SEL_PARTIALS numbers for each row of cells */
    struct cuda_queue *queue; /* on a device: what is under way there, */
    uint8_t *solid;           /* and there the domain's cell[] */
};

enum { SEL_PARTIALS = 32 };

/* Rows of cells: y + ny z. */
static inline int64_t sel_state_rows(const sel_state *state) {
    const sel_grid *grid = &state->plan->domain->grid;
    return grid->n[1] * grid->n[2];
}

/* Region numbers of the cells of a row; 0: free. */
static inline const uint8_t *sel_state_solids(const sel_state *state, int64_t row) {
    const sel_domain *domain = state->plan->domain;
    return domain->cell + row * domain->grid.n[0];
}

/* Whether a request asks for what only an observed step shows, and the last one was not; or for
 * what a failure has left unknown. */
bool sel_state_misses(const sel_state *state, const sel_request *request);

/* Memory for the listed arrays, and the controls. */
sel_status sel_state_allocate(sel_state *state, const char *what, sel_error *error);

/* Calls `loaded` (NULL: nothing) while the controls have the values of the last step. */
sel_status sel_state_loaded(sel_state *state, sel_status (*loaded)(sel_state *, sel_error *),
                            sel_error *error);

/* sel_backend.whole */
int64_t sel_state_whole(const sel_state *state);

/* What all states have: before the solver lists its arrays, and after. */
void sel_state_begin(sel_state *state, const sel_plan *plan);
void sel_state_list(sel_state *state);

/* ---- checkpoints ---- */

/* Moves all saved arrays to a checkpoint: a block each, called "state NAME". Nothing may be under
 * way. */
void sel_state_save(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint);

/* Whether sel_state_load can: fails where an array is not in the checkpoint, or has another size.
 */
void sel_state_check(const sel_state *state, sel_checkpoint *checkpoint);

/* Sets the state to the saved one. */
void sel_state_load(sel_state *state, const sel_backend *backend, sel_checkpoint *checkpoint);

#endif
