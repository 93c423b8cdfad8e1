/* running.h -- a run under way: what its loop (run.c), its tests, record and checkpoints share.
 */
#ifndef SEL_RUNNING_H
#define SEL_RUNNING_H

#include "engine/run/run.h"

/* The names of the checkpoint of a simulation and of the one before it, in `directory`. */
typedef struct sel_checkpoint_names {
    char file[96], before[96]; /* in the directory */
    char path[4400], path_before[4400];
    bool keeps_before; /* the present one is worse than the one before it: it is replaced */
} sel_checkpoint_names;

/* A test under way: asked at one test, acted on at the next. */
typedef struct run_test {
    sel_request request;
    int64_t step; /* at which it was asked */
    bool pending, answered;
} run_test;

/* The mass of a domain through whose faces laws alone bring any (sel_solver.brought). */
typedef struct run_mass {
    run_test test;
    double first, brought; /* at the first test; what laws have brought in since then */
    int64_t step;          /* of the last test that was taken; -1: none */
    bool told;             /* that it drifts */
} run_mass;

/* What the audit has seen of a field. */
typedef struct run_audited {
    bool seen;
    int64_t step;                /* of the last audit, */
    double right[SEL_AUDITED];   /* and the changes then */
    double largest[SEL_AUDITED]; /* of all so far, of either sign */
    double least, most;          /* values so far */
} run_audited;

/* The audit of single precision. */
typedef struct run_audit {
    run_test *test; /* by field; NULL: none was asked */
    run_audited *audited;
    run_test range;
    double *values; /* of all fields, */
    const double *value[SEL_AUDIT_FIELDS];
    bool pending, told;
} run_audit;

enum { RUN_PAST = 11 };

typedef struct run {
    const sel_scenario *scenario;
    sel_prepared *prepared;
    const sel_run_options *options;
    sel_report *report;
    sel_state *state;
    sel_outputs *outputs;
    sel_writer *writer;
    sel_hook_run hooks;
    FILE *log;       /* run.log; NULL: it could not be made */
    double recorded; /* clock of the last run.json */

    sel_clock clock;                     /* of the steps since it was read */
    int64_t step, first_step, last_step; /* first: of this process */
    int64_t observed_step;               /* the last that was observed; -1: none is known */
    sel_stopped_by last_step_by;
    int64_t test_steps, look_steps; /* between tests for a steady flow, for divergence */

    run_test monitor, mean;
    run_mass mass;
    run_audit audit;
    double largest; /* magnitude of the main field at all tests so far */

    double started;         /* clock */
    double compute_seconds; /* spent on steps and monitors, or waiting for them */
    double chunk;           /* steps */
    int chunks_ahead;       /* handed over since outputs were started */

    const sel_checkpoint_params *checkpoint; /* NULL: only when it is interrupted */
    sel_checkpoint *resume;                  /* the checkpoint; NULL: begins at step 0 */
    sel_checkpoint_names names;
    int lock;                        /* descriptor that holds the directory; -1: none */
    const char *resume_files[3];     /* checkpoints in the directory, which stay there */
    int64_t saved_step;              /* of the last checkpoint; -1: none */
    double saved_clock, saves_every; /* seconds; 0: not by wall time */
    sel_error notes;                 /* what has changed since the checkpoint */
    /* Of the last ten seconds or so, the oldest first: how fast the time runs. */
    struct {
        double clock, time;
    } past[RUN_PAST];
    int pasts;
} run;

/* ---- its tests: run_tests.c ---- */

/* Waits until all steps are done. */
sel_status sel_run_wait(run *r, sel_error *error);

/* Starts the tests that are due at the present step. Where a run stops by the change of its mean
 * alone, the whole field is not read at every test. */
sel_status sel_run_start_tests(run *r, sel_error *error);

/* Starts a look at the whole field: for its change, or for a cell that has diverged alone. */
sel_status sel_run_look(run *r, bool only_bad_cell, sel_error *error);

/* Starts a test of the mass, unless faces let pass what the flow wants or the last is too near. */
sel_status sel_run_weigh(run *r, sel_error *error);

/* Waits for the tests under way, if there are any. */
sel_status sel_run_answer_tests(run *r, sel_error *error);

/* Waits for them and takes their results; sets stopped_by when they end the run. */
sel_status sel_run_finish_tests(run *r, sel_error *error);

/* Starts one test; waits for it, if it is under way. */
sel_status sel_run_start_test(run *r, run_test *test, const sel_request *request, sel_error *error);
sel_status sel_run_answer_test(run *r, run_test *test, sel_error *error);

/* A warning that the run has given rise to: shown, logged and in run.json. */
void sel_run_warn(run *r, const char *format, ...) SEL_PRINTF(2, 3);
/* The same, once of what begins with `about`: a sel_output_context.warn; its data are the run. */
void sel_run_warn_once(void *run, const char *about, const char *text);

/* Of a run that was found steady while what drives it varies (run_alias.c). */
void sel_run_warn_of_aliasing(run *r);

/* Starts the audit, beside a look at the whole field (run_audit.c); waits for it, if it is under
 * way, and takes its answer. */
sel_status sel_run_audit(run *r, sel_error *error);
sel_status sel_run_take_audit(run *r, sel_error *error);
void sel_run_close_audit(run *r);

/* Notes why the run stops. */
void sel_run_stop(run *r, sel_stopped_by by, const char *reason, ...) SEL_PRINTF(3, 4);

/* ---- its record: run_record.c ---- */

/* Copies the script, writes the first run.json, and begins the log. */
sel_status sel_run_record_begin(run *r, sel_error *error);

/* Whether run.json and the log are due again, as they are every ten seconds. */
bool sel_run_record_due(const run *r);

/* Writes run.json from the report as it stands, and a line into the log, which is also printed if
 * someone asked. A failure is left to the next time: the run goes on. */
void sel_run_record(run *r, bool asked);

/* Lines of the log, with the time. */
void sel_run_note(run *r, const char *format, ...) SEL_PRINTF(2, 3);

/* A line of the log that the user sees, too; `run` is the run. */
void sel_run_log(const char *text, void *run);

/* The last run.json, of the report of a run that has ended, and the end of the log. */
sel_status sel_run_record_end(run *r, sel_error *error);

/* ---- checkpoints: run_save.c ---- */

/* Prepares the directory. A resumed run opens its checkpoint, and refuses one that does not fit
 * before anything in the directory is changed. */
sel_status sel_run_open_directory(run *r, sel_error *error);

/* Loads the checkpoint; the outputs have been opened, at step 0. */
sel_status sel_run_load(run *r, sel_error *error);

/* Whether out.checkpoint goes by wall time and is due; the next step at which it is by steps. */
bool sel_run_saves_now(const run *r);
int64_t sel_run_next_save(const run *r);

/* Writes a checkpoint of the present step, whose outputs, tests and hooks have had their turn. A
 * state that has diverged is not written. */
sel_status sel_run_save(run *r, sel_error *error);

/* Writes the last checkpoint, at the end or when the run is interrupted: before the last outputs,
 * which a resumed run does not write. Without it an interrupted run still ends in order. */
sel_status sel_run_save_last(run *r, sel_error *error);

#endif
