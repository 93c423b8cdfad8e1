/* prepare.h -- from a simulation to a plan that fits this machine: what run, check and bench share.
 */
#ifndef SEL_PREPARE_H
#define SEL_PREPARE_H

#include <stdio.h>
#include "engine/base/ranks.h"
#include "engine/scene/solver.h"

/* ---- which of a solver's backends computes ---- */

typedef struct sel_choice {
    const sel_backend *backend;
    uint64_t free_bytes; /* where it will keep its state */
    char fallback[512];  /* why auto took the CPU though the build knows a device; else empty */
} sel_choice;

/* Takes what `wanted` says, SEL_BACKEND_AUTO, ...; auto, or -1: the device of that number if it can
 * be used, else the CPU. SEL_NO_DEVICE, with the reason, when CUDA is wanted and not in the build
 * or not usable here. */
sel_status sel_backend_choose(const sel_solver *solver, int wanted, int device, sel_choice *choice,
                              sel_error *error);

/* Waits until all steps that were handed over by advance() are done. */
sel_status sel_backend_wait(const sel_backend *backend, sel_state *state, sel_error *error);

/* ---- a plan that fits this machine ---- */

/* More threads than any machine has cores: a slip. */
enum { SEL_MAX_THREADS = 1024 };

/* What the command line may set over the scenario's own fields. */
typedef struct sel_settings {
    int precision;          /* SEL_F32, SEL_F64; -1: the scenario's */
    int backend;            /* SEL_BACKEND_AUTO, ...; -1: the scenario's */
    int threads;            /* 0: the scenario's, else all cores */
    int device;             /* the number of the GPU, if it is one that computes: of several ranks
                               on a machine that of the first, others take the next ones */
    const sel_ranks *ranks; /* that compute together; NULL: this process alone */
    int simulation;         /* with several: its number in the scenario */
} sel_settings;

/* What is said of sel_plan.chose_double. */
#define SEL_CHOSE_DOUBLE                                                    \
    "in f64: stop names too many steps for increments in f32 (precision = " \
    "\"f32\" takes half the memory and time)"

typedef struct sel_prepared {
    const sel_simulation *simulation; /* as it was given, or one of its own in `arena` */
    sel_arena *arena;                 /* NULL: not needed */
    int outer_threads; /* of parallel loops of the calling thread before; 0: left as they were */
    sel_choice choice;
    const sel_backend *backend; /* the chosen one; NULL before that */
    sel_backend of_team;        /* it, where rank 0 leads others */
    char device[256];           /* what that runs on */
    int across;                 /* of sel_grid_cut */
    sel_domain *domain;
    sel_plan *plan;
    uint64_t bytes;     /* that the backend will allocate */
    sel_error warnings; /* found by sel_set_up: a line each */
} sel_prepared;

/* Chooses the backend, checks the whole simulation, paints its regions, resolves its numbers, and
 * refuses what does not fit into memory, saying what would. SEL_NO_DEVICE when the backend asked
 * for is not there. All parallel loops of the calling thread take the run's threads from then on.
 * Release, in the same thread, with sel_prepared_release, also after a failure. */
sel_status sel_prepare(const sel_simulation *simulation, const sel_settings *settings,
                       sel_prepared *prepared, sel_error *error);
void sel_prepared_release(sel_prepared *prepared);

/* What so many ranks have (sel_grid_cut). Fails where the grid does not suffice. */
sel_status sel_ranks_fit(const sel_prepared *prepared, int count, sel_cut *cut, sel_error *error);

/* Prepares, and creates the state at step 0; of several ranks all do it when rank 0 does. The
 * caller destroys the state with prepared->backend, where that is not NULL, and then releases, also
 * after a failure. */
sel_status sel_set_up(const sel_simulation *simulation, const sel_settings *settings,
                      sel_prepared *prepared, sel_state **state, sel_error *error);

/* ---- what may be wrong with a scenario although it can be run ---- */

/* Fills `warnings`, a line for each: what check and run print, and run.json keeps. Fails where the
 * run is bound to fail later, as its laws do not last until stop.steps or stop.time. */
sel_status sel_warnings_find(const sel_plan *plan, sel_error *warnings, sel_error *error);

/* Line `index` of them, cut to `size`; false: there is none. */
bool sel_warnings_line(const sel_error *warnings, int index, char *text, size_t size);

/* "warning: LINE", each opened with `before`. */
void sel_warnings_print(const sel_error *warnings, const char *before, FILE *to);

/* ---- `selenite check` (check.c) ---- */

/* Prints the resolved simulation: sizes, numbers and warnings, regions with their counts, memory,
 * outputs, and the time that the run will take, from a calibration of less than a second; what each
 * of several `ranks` would do; with `laws` also the code that a device would run. */
typedef struct sel_check_wants {
    bool regions, laws;
    int ranks; /* 0: none are asked for */
} sel_check_wants;
sel_status sel_check(const sel_simulation *simulation, const sel_settings *settings,
                     const sel_check_wants *wants, FILE *to, sel_error *error);

/* Takes part in the runs of a scenario that rank 0 leads, until it ends. */
void sel_follow(const sel_scenario *scenario, const sel_settings *settings);

/* Rank 0: there are no more runs. */
void sel_follow_end(const sel_ranks *ranks);

#endif
