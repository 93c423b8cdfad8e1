/* backend.h -- which of a solver's backends computes, and what all callers of one share. */
#ifndef SEL_BACKEND_H
#define SEL_BACKEND_H

#include "engine/solver.h"

typedef struct sel_choice {
    const sel_backend *backend;
    uint64_t free_bytes; /* where it will keep its state */
    char fallback[512];  /* why auto took the CPU though the build knows a device; else empty */
} sel_choice;

/* Takes what `wanted` says, SEL_BACKEND_AUTO, ...; auto: a device that can be used, else the CPU.
 * SEL_NO_DEVICE, with the reason, when CUDA is wanted and not in the build or not usable here. */
sel_status sel_backend_choose(const sel_solver *solver, int wanted, sel_choice *choice,
                              sel_error *error);

/* Whether the backend can run here, and the bytes that are free where it keeps its state; fails
 * with SEL_NO_DEVICE and the reason. */
sel_status sel_backend_probe(const sel_backend *backend, uint64_t *free_bytes, sel_error *error);

/* Waits until all steps that `state` was told to advance are done. */
sel_status sel_backend_wait(const sel_backend *backend, sel_state *state, sel_error *error);

#endif
