/* run.h -- running a simulation: the run loop, its report, progress, divergence, hooks. */
#ifndef SEL_RUN_H
#define SEL_RUN_H

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include "engine/output/output.h"
#include "engine/run/prepare.h"

typedef enum sel_stopped_by {
    SEL_BY_NOTHING, /* the run has not stopped */
    SEL_BY_STEPS,
    SEL_BY_STEADY,
    SEL_BY_MEAN_CHANGE,
    SEL_BY_TIME,
    SEL_BY_WALL_TIME,
    SEL_BY_HOOK,
    SEL_BY_INTERRUPT,
    SEL_BY_CONVERGENCE, /* of an iterative solver */
    SEL_BY_STAGNATION,  /* of an iterative solver: a failure; the last state is written */
    SEL_BY_ITERATIONS,  /* max_iterations reached: a failure; the last state is written */
    SEL_BY_DIVERGENCE,
    SEL_BY_ERROR /* of a law, a hook or a file: stop_reason is its message */
} sel_stopped_by;

/* Progress of a run, and how it ended. run.json holds this and the scenario's settings. */
typedef struct sel_report {
    const char *name;  /* of the simulation; NULL: none */
    int64_t last_step; /* INT64_MAX: no limit */
    sel_stopped_by stopped_by;
    char stop_reason[768];
    int64_t steps;
    double time;           /* user's units */
    double steady_measure; /* change found by the last test; NaN before the second test */
    double mean_change;    /* change of the mean found by the last test; NaN: no test so far */
    time_t started, ended; /* 0: it has not */
    double seconds_left;   /* NaN: not known, or the run has ended */
    double largest_mach;   /* of all tests; NaN: no test, or the solver has no speed of sound */
    double mass_drift;     /* relative change of the mass since the first test, without what laws
                              brought in; NaN: that is not known (the flow determines the inflow,
                              or hooks may change it) */
    double wall_seconds, setup_seconds;
    double output_seconds;      /* during which the writer's thread worked, parallel to the run */
    double output_wait_seconds; /* during which the run waited for the writer's thread */
    double mcells_per_second;
    sel_results results;
} sel_report;

typedef struct sel_run_options {
    sel_settings settings;
    const char *directory;      /* of this simulation; created if it does not exist */
    const char *const *command; /* the command line, ends with NULL; NULL: none */
    bool force;                 /* overwrite an earlier run */
    bool resume;                /* continue from a checkpoint, in the directory of its run */
    const char *resume_file;    /* the checkpoint; NULL: the latest of the directory */
    const volatile sig_atomic_t *interrupt; /* nonzero: end the run now; NULL: never */
    /* Called several times a second. NULL: silent. */
    void (*progress)(const sel_report *report, void *data);
    double refresh_seconds;                    /* between writings of run.json; 0: 10 */
    void (*log)(const char *text, void *data); /* messages of hooks, warnings; NULL: dropped */
    void *data;                                /* of progress and log */
    /* Called after preparation, before the first step. NULL: not called. */
    void (*begun)(const sel_prepared *prepared);
} sel_run_options;

/* Runs one simulation of `scenario` and writes all files below options->directory. A run that
 * diverges, fails or is interrupted still writes its last state and run.json. SEL_DIVERGED:
 * diverged, or an iteration stagnated or reached max_iterations; SEL_INTERRUPTED. Release the
 * report with sel_report_release, also after a failure. */
sel_status sel_run(const sel_scenario *scenario, const sel_simulation *simulation,
                   const sel_run_options *options, sel_report *report, sel_error *error);
void sel_report_release(sel_report *report);

/* What `run --resume` does with one simulation of a list. */
typedef enum sel_resume_step {
    SEL_RESUME_IT,   /* resume: it has a checkpoint */
    SEL_RESUME_DONE, /* skip: it has ended */
    SEL_RESUME_ANEW, /* replace its files: it was interrupted and left no checkpoint */
    SEL_RESUME_BEGIN /* begin: it has not been run */
} sel_resume_step;
sel_resume_step sel_resume_in_list(const sel_simulation *simulation, const char *directory);

/* "2026-01-31T23:59:59Z"; NULL for 0. */
enum { SEL_TIME_ROOM = 32 };
const char *sel_time_text(time_t time, char text[SEL_TIME_ROOM]);

/* ---- progress on a terminal or in a log (engine/app/progress.c) ---- */

typedef struct sel_progress_printer {
    FILE *to;
    bool terminal; /* redraws a bar in place; else prints a line every ten seconds */
    bool drawn;    /* the bar stands on the present line */
    double last;   /* wall clock of the last output */
} sel_progress_printer;

sel_progress_printer sel_progress_printer_create(FILE *to);

/* "step 1000/20000, 120 Mcells/s, 2:03 left" */
void sel_progress_line(const sel_report *report, char *text, size_t size);

/* A sel_run_options.progress; `data` is a sel_progress_printer. */
void sel_progress_print(const sel_report *report, void *data);

/* A sel_run_options.log: a line of its own, above the bar; `data` is a sel_progress_printer. */
void sel_progress_log(const char *text, void *data);

/* "1:02:03" or "2:03"; "?" if `seconds` is not finite. Returns `text`. */
enum { SEL_DURATION_ROOM = 32 };
const char *sel_duration_text(double seconds, char text[SEL_DURATION_ROOM]);

/* Ends the bar's line. */
void sel_progress_end(sel_progress_printer *printer);

/* ---- whether a state has diverged (divergence.c) ---- */

/* Steps between two tests for divergence: the smallest multiple of 100, at most 1,000, for which
 * the tests take less than 1 % of the time. Depends on the plan only, by a cost model of a nominal
 * GPU, so that a run stops at the same step on every backend and machine. */
int64_t sel_monitor_interval(const sel_plan *plan);

/* Whether an answered monitor request shows that the state at `step` has diverged. If so, `text`
 * tells the step, the value, the cell and the nearest region. */
enum { SEL_DIVERGENCE_TEXT = 400 };
bool sel_diverged(const sel_plan *plan, const sel_request *monitor, int64_t step,
                  char text[SEL_DIVERGENCE_TEXT]);

/* The region whose face sites or cells are nearest to cell `at`; of several the last painted. 0:
 * there is no region. *distance: in cells, from the centre of `at`; 1/2 for a direct neighbour. */
int sel_nearest_region(const sel_domain *domain, const int64_t at[3], double *distance);

/* ---- hooks: functions of the scenario that the run calls between steps (hooks.c) ---- */

/* The run as its hooks see it. The run loop sets context, log and interrupt; the rest is zero. */
typedef struct sel_hook_run {
    const sel_output_context *context;
    void (*log)(const char *text, void *data); /* NULL: messages are dropped */
    void *log_data;
    int64_t step;
    double time;                            /* user's units */
    int hook;                               /* the index of the one that is called */
    int64_t set_step;                       /* the last step at which controls were set, */
    char set[200];                          /* and what they were set to; "": none were */
    bool stopped;                           /* a hook has called sel_hook_stop */
    char reason[256];                       /* given to the first sel_hook_stop */
    const volatile sig_atomic_t *interrupt; /* set by a signal; NULL: no signals */
    int caller_handle;                      /* kept for the language of the hooks; 0: not set */
    sel_error failure; /* of device, memory or files during a hook: ends the run */
} sel_hook_run;

/* The first step after `step` at which a hook is due; INT64_MAX when none is. */
int64_t sel_hooks_next(const sel_hook_run *run, int64_t step);

/* Calls the hooks that are due at `step`, or with `end` those of the end, in the script's order.
 * Fails with run->failure, even if the hook caught it, else with the error of the hook. */
sel_status sel_hooks_call(sel_hook_run *run, int64_t step, double time, bool end, sel_error *error);

/* ---- what a hook may do; SEL_BAD_SCENARIO: no such field, force, control ... ---- */

/* The values of a field, or of a component such as "velocity_x", at a point that is not in a solid;
 * as out.probe. */
sel_status sel_hook_probe(sel_hook_run *run, const char *field, const sel_point *at,
                          double values[SEL_MAX_COMPONENTS], int *count, sel_error *error);

/* Reduces a field over all free cells; `op`: "sum", "min", "max", "mean" or "l2". */
sel_status sel_hook_reduce(sel_hook_run *run, const char *field, const char *op,
                           double values[SEL_MAX_COMPONENTS], int *count, sel_error *error);

/* The present values of the out.force called `name`, else of the first on a region of that name. */
sel_status sel_hook_force(sel_hook_run *run, const char *name, double force[3], double torque[3],
                          sel_error *error);

/* Sets a control; functions see the value from the next step on. */
sel_status sel_hook_set(sel_hook_run *run, const char *control, double value, sel_error *error);

/* Sets a result of run.json; the names of the outputs' results ("OUTPUT.VALUE") are refused. */
sel_status sel_hook_result(sel_hook_run *run, const char *name, double value, sel_error *error);

/* Stops the run after the hooks of this step; the reason of the first call is kept. */
void sel_hook_stop(sel_hook_run *run, const char *reason);
void sel_hook_log(const sel_hook_run *run, const char *text);

#endif
