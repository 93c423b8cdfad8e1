/* prepare.h -- from a simulation to a plan that fits this machine: what run and check share. */
#ifndef SEL_PREPARE_H
#define SEL_PREPARE_H

#include "engine/backend.h"

/* More threads than any machine has cores: a slip. */
enum { SEL_MAX_THREADS = 1024 };

/* What the command line may set over the scenario's own fields. */
typedef struct sel_settings {
    int precision;   /* SEL_F32, SEL_F64; -1: the scenario's */
    int backend;     /* SEL_BACKEND_AUTO, ...; -1: the scenario's */
    int64_t threads; /* 0: the scenario's, else all cores */
} sel_settings;

typedef struct sel_prepared {
    const sel_simulation *simulation;
    int outer_threads; /* of parallel loops of the calling thread before; 0: left as they were */
    sel_choice choice;
    const sel_backend *backend; /* the chosen one; NULL before that */
    sel_domain *domain;
    sel_plan *plan;
    uint64_t bytes;     /* that the backend will allocate */
    sel_error warnings; /* found by sel_set_up; see warnings.h */
} sel_prepared;

/* Chooses the backend, checks the whole simulation, paints its regions, resolves its numbers, and
 * refuses what does not fit into memory, saying what would. SEL_NO_DEVICE when the backend asked
 * for is not there. All parallel loops of the calling thread take the run's threads from then on.
 * Release, in the same thread, with sel_prepared_release, also after a failure. */
sel_status sel_prepare(const sel_simulation *simulation, const sel_settings *settings,
                       sel_prepared *prepared, sel_error *error);
void sel_prepared_release(sel_prepared *prepared);

/* Prepares, and creates the state at step 0. The caller destroys the state with prepared->backend,
 * where that is not NULL, and then releases, also after a failure. */
sel_status sel_set_up(const sel_simulation *simulation, const sel_settings *settings,
                      sel_prepared *prepared, sel_state **state, sel_error *error);

#endif
