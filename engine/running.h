/* running.h -- a run under way: what its loop (run.c) and its checkpoints (run_save.c) share. */
#ifndef SEL_RUNNING_H
#define SEL_RUNNING_H

#include "engine/hooks.h"
#include "engine/output/tables.h"
#include "engine/record.h"
#include "engine/resume.h"

typedef struct run {
    sel_prepared *prepared;
    const sel_run_options *options;
    sel_report *report;
    sel_state *state;
    sel_outputs *outputs;
    sel_writer *writer;
    sel_hook_run hooks;
    sel_record record;

    int64_t step, first_step, last_step; /* first: of this process */
    sel_stopped_by last_step_by;
    int64_t test_steps, look_steps; /* between tests for a steady flow, for divergence */

    sel_request monitor; /* the test under way */
    bool monitor_pending, monitor_answered;
    bool hook_failed;
    int64_t monitor_step;
    double largest; /* magnitude of the main field at all tests so far */

    double started;         /* clock */
    double compute_seconds; /* spent on steps and monitors, or waiting for them */
    double chunk;           /* steps */
    int chunks_ahead;       /* handed over since outputs were started */

    const sel_out_checkpoint *checkpoint; /* NULL: only when it is interrupted */
    sel_checkpoint *resume;               /* goes on from it; NULL: begins at step 0 */
    sel_checkpoint_names names;
    const char *resume_files[3];     /* checkpoints in the directory, which stay there */
    int64_t saved_step;              /* of the last checkpoint; -1: none */
    double saved_clock, saves_every; /* seconds; 0: not by wall time */
    sel_error notes;                 /* what has changed since the checkpoint */
} run;

/* Waits until all steps are done. */
sel_status sel_run_wait(run *r, sel_error *error);

/* Waits for the monitor under way, if there is one. */
sel_status sel_run_answer_monitor(run *r, sel_error *error);

/* A line of run.log that the user sees, too; `run` is the run. */
void sel_run_log(const char *text, void *run);

/* ---- checkpoints ---- */

/* Makes the directory ready. A run that goes on opens its checkpoint, and refuses what it cannot go
 * on from before anything in the directory is changed. */
sel_status sel_run_open_directory(run *r, sel_error *error);

/* Goes on from the checkpoint; the outputs have been opened, at step 0. */
sel_status sel_run_load(run *r, sel_error *error);

/* Whether out.checkpoint goes by wall time and is due; the next step at which it is due by steps.
 */
bool sel_run_saves_now(const run *r);
int64_t sel_run_next_save(const run *r);

/* Writes a checkpoint of the present step, whose outputs, tests and hooks have had their turn. A
 * state that has diverged is not written. */
sel_status sel_run_save(run *r, sel_error *error);

/* At the end, and when the run is interrupted: before the last outputs, which a run that goes on
 * does not write. A run that is interrupted ends in order without one. */
sel_status sel_run_save_last(run *r, sel_error *error);

/* Adds to the reason of a divergence where the last good state is. */
void sel_run_name_checkpoint(run *r);

#endif
