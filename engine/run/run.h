/* run.h -- the run loop: advance, test, write, until something ends the run. */
#ifndef SEL_RUN_H
#define SEL_RUN_H

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include "engine/output/output.h"
#include "engine/run/prepare.h"

typedef enum sel_stopped_by {
    SEL_BY_NOTHING, /* the run is under way */
    SEL_BY_STEPS,
    SEL_BY_STEADY,
    SEL_BY_MEAN_CHANGE,
    SEL_BY_TIME,
    SEL_BY_WALL_TIME,
    SEL_BY_HOOK,
    SEL_BY_INTERRUPT,
    SEL_BY_CONVERGENCE, /* of an iteration; the next two also write the last state, */
    SEL_BY_STAGNATION,  /* and are failures */
    SEL_BY_ITERATIONS,
    SEL_BY_DIVERGENCE,
    SEL_BY_ERROR /* of a law, a hook, a file: the reason is its message */
} sel_stopped_by;

/* The state of a run, and how it ended: run.json holds this and the scenario's settings. */
typedef struct sel_report {
    const char *name;  /* of the simulation; NULL: none */
    int64_t last_step; /* INT64_MAX: no limit */
    sel_stopped_by stopped_by;
    char stop_reason[768];
    int64_t steps;
    double time;           /* user's units */
    double steady_measure; /* of the last test; NaN before the second */
    double mean_change;    /* of stop.mean_change, of the last test that was answered; NaN: none */
    time_t started, ended; /* 0: it has not */
    double seconds_left;   /* NaN: not known, or ended */
    double largest_mach;   /* at all tests; NaN: none, or the solver has no speed of sound */
    double mass_drift;     /* of the mass since the first test, beyond what laws brought in, as a
                              part of it; NaN: not known, or faces let pass what the flow wants */
    double wall_seconds, setup_seconds;
    double output_seconds;      /* that the writer's thread worked, in parallel to the run */
    double output_wait_seconds; /* that the run stood still for it */
    double mcells_per_second;
    sel_results results;
} sel_report;

typedef struct sel_run_options {
    sel_settings settings;
    const char *directory;      /* of this simulation; made when it is not there */
    const char *const *command; /* the command line, NULL behind it; NULL: none */
    bool force;                 /* write over an earlier run */
    bool resume;                /* continue from a checkpoint, in the directory of its run */
    const char *resume_file;    /* the checkpoint; NULL: that of the directory */
    const volatile sig_atomic_t *interrupt; /* not 0: end the run now; NULL: never */
    /* Called several times a second. NULL: silent. */
    void (*progress)(const sel_report *report, void *data);
    double refresh_seconds; /* between writings of run.json while the run goes on; 0: 10 */
    void (*log)(const char *text, void *data); /* what hooks say; NULL: not wanted */
    void *data;                                /* of both */
    /* Called before the first step, when all is prepared: what it runs on. NULL: not wanted. */
    void (*begun)(const sel_prepared *prepared);
} sel_run_options;

/* Runs one simulation of `scenario` and writes everything below options->directory. A run that
 * diverges, fails or is interrupted still writes its last state and run.json. Release the report
 * with sel_report_release, also after a failure. */
sel_status sel_run(const sel_scenario *scenario, const sel_simulation *simulation,
                   const sel_run_options *options, sel_report *report, sel_error *error);
void sel_report_release(sel_report *report);

/* What a resumed run of a list does with one of its simulations. */
typedef enum sel_resume_step {
    SEL_RESUME_IT,   /* it has a checkpoint */
    SEL_RESUME_DONE, /* it has ended */
    SEL_RESUME_ANEW, /* it was ended without a checkpoint: its files are replaced */
    SEL_RESUME_BEGIN /* it has no run yet */
} sel_resume_step;
sel_resume_step sel_resume_in_list(const sel_simulation *simulation, const char *directory);

/* "2026-01-31T23:59:59Z"; NULL for 0. */
enum { SEL_TIME_ROOM = 32 };
const char *sel_time_text(time_t time, char text[SEL_TIME_ROOM]);

/* ---- how far a run is, on a terminal or in a log (progress.c) ---- */

typedef struct sel_progress_printer {
    FILE *to;
    bool terminal; /* a bar that is redrawn; else a plain line now and then */
    bool drawn;
    double last; /* clock of the last drawing */
} sel_progress_printer;

sel_progress_printer sel_progress_printer_create(FILE *to);

/* "step 1000/20000, 120 Mcells/s, 2:03 left" */
void sel_progress_line(const sel_report *report, char *text, size_t size);

/* A sel_run_options.progress; `data` is a sel_progress_printer. */
void sel_progress_print(const sel_report *report, void *data);

/* A sel_run_options.log: a line of its own, above the bar; `data` is a sel_progress_printer. */
void sel_progress_log(const char *text, void *data);

/* "1:02:03" or "2:03", "?" when it is not finite; returns `text`. */
enum { SEL_DURATION_ROOM = 32 };
const char *sel_duration_text(double seconds, char text[SEL_DURATION_ROOM]);

/* Ends the bar's line. */
void sel_progress_end(sel_progress_printer *printer);

/* ---- whether a state has diverged (divergence.c) ---- */

/* Steps between two looks: the smallest multiple of 100, 1,000 at most, at which looks cost less
 * than 1 % of the time. It follows from the plan alone, by the costs of a nominal device, so that
 * runs stop at the same step on every backend, fast machine or slow. */
int64_t sel_look_interval(const sel_plan *plan);

/* Whether a monitor at `step` found a state that has diverged. Then says so in `text`: the step,
 * the value, the cell, the nearest region. */
enum { SEL_DIVERGENCE_TEXT = 400 };
bool sel_diverged(const sel_plan *plan, const sel_request *monitor, int64_t step,
                  char text[SEL_DIVERGENCE_TEXT]);

/* Number of the region whose face sites or cells lie nearest to cell `at`, the last painted of
 * several; *distance: in cells, from the cell's centre, 1/2 beside it. 0: there is no region. */
int sel_nearest_region(const sel_domain *domain, const int64_t at[3], double *distance);

/* ---- functions of the scenario that the run calls between steps (hooks.c) ---- */

/* The run as its hooks see it. The run loop sets context and log and zeroes the rest. */
typedef struct sel_hook_run {
    const sel_output_context *context;
    void (*log)(const char *text, void *data); /* NULL: not wanted */
    void *log_data;
    int64_t step;
    double time;                            /* user's units */
    bool stopped;                           /* a hook asked for the end of the run */
    char reason[256];                       /* why */
    const volatile sig_atomic_t *interrupt; /* set by a signal; NULL: none is looked for */
    int caller_handle; /* what the language of the hooks keeps of this run; 0: nothing yet */
    sel_error failure; /* of the device, memory or files, not the hook's: it ends the run */
} sel_hook_run;

/* The first step after `step` at which a hook is due; INT64_MAX when none is. */
int64_t sel_hooks_next(const sel_hook_run *run, int64_t step);

/* Calls, in the script's order, the hooks that are due at `step`, or with `end` those of the end.
 * Fails with a hook's error, or with what failed when it asked the run, whatever the hook made of
 * that. */
sel_status sel_hooks_call(sel_hook_run *run, int64_t step, double time, bool end, sel_error *error);

/* ---- what a hook may do; each refuses what is not there with SEL_BAD_SCENARIO ---- */

/* The values of a field, or of a component such as "velocity_x", at a point: as out.probe. */
sel_status sel_hook_probe(sel_hook_run *run, const char *field, const sel_point *at,
                          double values[SEL_MAX_COMPONENTS], int *count, sel_error *error);

/* "sum", "min", "max", "mean" or "l2" of a field over the cells that are not solid. */
sel_status sel_hook_reduce(sel_hook_run *run, const char *field, const char *op,
                           double values[SEL_MAX_COMPONENTS], int *count, sel_error *error);

/* The present values of the out.force called `name`, or of one on the region of that name. */
sel_status sel_hook_force(sel_hook_run *run, const char *name, double force[3], double torque[3],
                          sel_error *error);

/* Functions see the new value of a control from the next step on. */
sel_status sel_hook_set(sel_hook_run *run, const char *control, double value, sel_error *error);

sel_status sel_hook_result(sel_hook_run *run, const char *name, double value, sel_error *error);
void sel_hook_stop(sel_hook_run *run, const char *reason);
void sel_hook_log(const sel_hook_run *run, const char *text);

#endif
