/* prepare.h -- from a simulation to a plan that fits this machine: what run and check share. */
#ifndef SEL_PREPARE_H
#define SEL_PREPARE_H

#include "engine/solver.h"

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
    const sel_backend *backend;
    sel_domain *domain;
    sel_plan *plan;
    uint64_t bytes;      /* that the backend will allocate */
    uint64_t free_bytes; /* where it will allocate them */
    char fallback[512];  /* why auto took the CPU though the build knows a device; else empty */
} sel_prepared;

/* Chooses the backend, checks the whole simulation, paints its regions, resolves its numbers, and
 * refuses what does not fit into memory, saying what would. SEL_NO_DEVICE when the backend asked
 * for is not there. Release with sel_prepared_release, also after a failure. */
sel_status sel_prepare(const sel_simulation *simulation, const sel_settings *settings,
                       sel_prepared *prepared, sel_error *error);
/* Waits until all steps that `state` was told to advance are done. */
sel_status sel_prepared_wait(const sel_prepared *prepared, sel_state *state, sel_error *error);

void sel_prepared_release(sel_prepared *prepared);

#endif
