/* prepare.h -- preparing a simulation for run, check or bench: backend, domain, plan, memory. */
#ifndef SEL_PREPARE_H
#define SEL_PREPARE_H

#include <stdio.h>
#include "engine/base/ranks.h"
#include "engine/scene/solver.h"

/* ---- choosing the backend ---- */

typedef struct sel_choice {
    const sel_backend *backend;
    uint64_t free_bytes; /* of the memory that will hold its state */
    char fallback[512];  /* why auto chose the CPU instead of the GPU; empty: no such case */
} sel_choice;

/* Chooses the backend of a solver. `wanted`: SEL_BACKEND_AUTO ...; auto or -1: GPU number `device`
 * if it can be used, else the CPU. SEL_NO_DEVICE: CUDA is wanted, but not in the build or not
 * usable. */
sel_status sel_backend_choose(const sel_solver *solver, int wanted, int device, sel_choice *choice,
                              sel_error *error);

/* Waits until all steps submitted by backend->advance are done. */
sel_status sel_backend_wait(const sel_backend *backend, sel_state *state, sel_error *error);

/* ---- preparing a run on this machine ---- */

/* More threads than any machine has cores: a mistake. */
enum { SEL_MAX_THREADS = 1024 };

/* Options of the command line that override the scenario. */
typedef struct sel_settings {
    int precision; /* SEL_F32, SEL_F64; -1: the scenario's */
    int backend;   /* SEL_BACKEND_AUTO, ...; -1: the scenario's */
    bool stores;   /* `storage` overrides the scenario's */
    int storage;   /* SEL_STORE_AUTO, ... */
    int threads;   /* 0: the scenario's, else all cores */
    int device;    /* number of the GPU; with several ranks on a machine, of the first rank,
                      the others take the following ones in turn */
    const sel_ranks *ranks; /* the ranks that compute together; NULL: this process alone */
    int simulation;         /* with several ranks: its number in the scenario */
} sel_settings;

/* The message for sel_plan.chose_double. */
#define SEL_CHOSE_DOUBLE                                                    \
    "in f64: stop names too many steps for increments in f32 (precision = " \
    "\"f32\" takes half the memory and time)"

typedef struct sel_prepared {
    const sel_simulation *simulation;
    int outer_threads; /* OpenMP threads of the caller, to be restored; 0: unchanged */
    sel_choice choice;
    const sel_backend *backend; /* the chosen one; NULL: not chosen yet */
    sel_backend of_team; /* rank 0 of several: the chosen one, which also directs the others */
    char device[256];    /* description of the processor or GPU */
    int ranks_y;         /* argument of sel_decompose */
    sel_domain *domain;
    sel_plan *plan;
    uint64_t bytes;     /* that the backend will allocate */
    sel_patch own;      /* the patch of this rank */
    sel_error warnings; /* found by sel_set_up, a line per warning */
} sel_prepared;

/* Chooses the backend, checks the simulation, creates domain and plan, and checks that it all fits
 * into memory. SEL_NO_DEVICE: the wanted backend cannot be used, or memory does not suffice (the
 * message says how many cells would fit). Sets the number of OpenMP threads of the calling thread.
 * Release with sel_prepared_release in the same thread, also after a failure. */
sel_status sel_prepare(const sel_simulation *simulation, const sel_settings *settings,
                       sel_prepared *prepared, sel_error *error);
void sel_prepared_release(sel_prepared *prepared);

/* Divides the grid among `count` ranks (sel_decompose). SEL_BAD_USAGE: the grid is too small. */
sel_status sel_ranks_fit(const sel_prepared *prepared, int count, sel_decomposition *decomposition,
                         sel_error *error);

/* sel_prepare, then creates the state at step 0 and finds warnings. When rank 0 calls it, all ranks
 * do it. Also after a failure, the caller destroys the state by prepared->backend (unless that is
 * NULL), then calls sel_prepared_release. */
sel_status sel_set_up(const sel_simulation *simulation, const sel_settings *settings,
                      sel_prepared *prepared, sel_state **state, sel_error *error);

/* Sets up each simulation of a list and takes it down, so that mistakes in the last are found
 * before the first has run; messages name the simulation. Of one simulation it does nothing. When
 * rank 0 calls it, all ranks do it. */
sel_status sel_set_up_list(const sel_scenario *scenario, const sel_settings *settings,
                           sel_error *error);

/* Adds to each line of `error` from the character `from` on the name of a simulation in a list. */
void sel_name_simulation(const sel_scenario *scenario, const sel_simulation *simulation,
                         size_t from, sel_error *error);

/* ---- warnings about a scenario that can be run ---- */

/* Fills `warnings`, a line per warning, for check, run and run.json. Fails if the run is bound to
 * fail later: its laws are not defined until stop.steps or stop.time. */
sel_status sel_warnings_find(const sel_plan *plan, sel_error *warnings, sel_error *error);
/* Its part about series finer than dt, whose sum over the run is not that of the values that steps
 * take (run_series.c). On rank 0. */
void sel_series_warn(const sel_plan *plan, sel_error *warnings);

/* Copies line `index` of the warnings, truncated to `size`; false: there is none. */
bool sel_warnings_line(const sel_error *warnings, int index, char *text, size_t size);

/* Prints "warning: LINE" per warning, each line prefixed with `before`. */
void sel_warnings_print(const sel_error *warnings, const char *before, FILE *to);

/* ---- `selenite check` (engine/app/check.c) ---- */

typedef struct sel_check_wants {
    bool regions; /* regions with their numbers of cells */
    bool laws;    /* the code that a GPU would run */
    int ranks;    /* the part of each of this many ranks; 0: none */
} sel_check_wants;

/* Prints what a simulation means: sizes, numbers, warnings, memory, outputs, the time that the run
 * will take (from a calibration of less than a second), and what `wants` names. */
sel_status sel_check(const sel_simulation *simulation, const sel_settings *settings,
                     const sel_check_wants *wants, FILE *to, sel_error *error);

/* ---- several ranks ---- */

/* Ranks but 0: takes part in the runs of a scenario until rank 0 calls sel_follow_end. */
void sel_follow(const sel_scenario *scenario, const sel_settings *settings);

/* Rank 0: ends sel_follow of the other ranks. */
void sel_follow_end(const sel_ranks *ranks);

/* ---- whether all ranks have read the same script and files (compare.c) ---- */

/* A CRC, and what it was computed from (for messages). */
typedef struct sel_digest {
    const char *what;
    unsigned long crc;
} sel_digest;

enum { SEL_MOST_DIGESTS = 8 };

/* CRC-32 of some bytes; NULL: 0. */
unsigned long sel_digest_of(const void *bytes, size_t count);

/* Collective. SEL_BAD_SCENARIO on all ranks: a digest of some rank differs from that of rank 0. */
sel_status sel_digests_compare(const sel_ranks *ranks, const sel_digest *digests, int count,
                               sel_error *error);

/* Compares the grid, the regions of faces, the data and the numbers of a run; as
 * sel_digests_compare. */
sel_status sel_plan_compare(const sel_ranks *ranks, const sel_plan *plan, const char *backend,
                            sel_error *error);

#endif
