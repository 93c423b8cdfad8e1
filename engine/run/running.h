/* running.h -- the state of a run, shared by its loop, tests, record and checkpoints (run*.c). */
#ifndef SEL_RUNNING_H
#define SEL_RUNNING_H

#include "engine/run/run.h"

/* The names of the latest checkpoint and of the previous one. */
typedef struct sel_checkpoint_names {
    char file[96], before[96]; /* relative to the run's directory */
    char path[4400], path_before[4400];
    bool keeps_before; /* the latest one is damaged or missing: keep the previous one */
} sel_checkpoint_names;

/* A test: its request is started at one test step, and its answer is taken at the next. */
typedef struct run_test {
    sel_request request;
    int64_t step;           /* at which the request was started */
    bool pending, answered; /* started and not taken; the answer has arrived */
} run_test;

/* The test that the mass is conserved, if sel_solver.brought knows all mass that laws bring in. */
typedef struct run_mass {
    run_test test;
    double first, brought; /* mass at the first test; mass that laws have brought in since then */
    int64_t step;          /* of the last test that was taken; -1: none */
    bool told;             /* the user has been warned of a drift */
} run_mass;

/* What the audit remembers of an audited field. */
typedef struct run_audited {
    bool seen;
    int64_t step;                /* of the last audit */
    double right[SEL_AUDITED];   /* per cell: change in double precision, at the last audit */
    double largest[SEL_AUDITED]; /* per cell: largest magnitude of the change so far */
    double least, most;          /* extremes of the field's values so far */
} run_audited;

/* The audit of single precision (run_audit.c). */
typedef struct run_audit {
    run_test *test;       /* per field that is read; NULL: no audit so far */
    run_audited *audited; /* per audited field, SEL_AUDIT_FIELDS */
    run_test range;
    double *values;                        /* buffer of all fields */
    const double *value[SEL_AUDIT_FIELDS]; /* per field that is read: its part of `values` */
    bool pending;                          /* tests have been started and not taken */
    bool told;                             /* the user has been warned: no further audit */
} run_audit;

/* What is held by an acceleration (run_drive.c), user's units. */
typedef struct run_drive {
    int64_t step;                  /* of the last change; -1: none */
    double velocity, acceleration; /* mean velocity at that step; acceleration since then */
    double sum;                    /* of the accelerations of `steps` steps */
    int64_t steps;
} run_drive;

/* The extremes of the main field at all tests so far, if they are the scale of the test for a
 * steady state (sel_solver.steady_by_range). */
typedef struct run_range {
    run_test test; /* started with the monitor */
    double least, most;
} run_range;

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
    double recorded; /* wall clock of the last run.json */

    sel_clock clock;             /* times of the steps, as last read from the backend */
    int64_t step;                /* the present one */
    int64_t first_step;          /* at which this process began */
    int64_t last_step;           /* at which the run stops; INT64_MAX: no limit */
    int64_t observed_step;       /* the last observed one; -1: not known */
    int64_t target;              /* the step that it advances to, at which something is due */
    sel_stopped_by last_step_by; /* why the run stops at last_step */
    int64_t test_steps;          /* between tests for a steady flow */
    int64_t monitor_steps;       /* between tests for divergence */

    run_test monitor, mean;
    run_range range;
    run_mass mass;
    run_audit audit;
    run_drive drive;
    double largest; /* magnitude of the main field at all tests so far */

    double started;         /* wall clock */
    double compute_seconds; /* for steps and tests, including waiting for them */
    double chunk;           /* steps per call of advance */
    int chunks_ahead;       /* chunks submitted since the outputs were started */

    const sel_checkpoint_params *checkpoint; /* NULL: a checkpoint only if interrupted */
    sel_checkpoint *resume;                  /* the checkpoint to resume; NULL: begins at step 0 */
    sel_checkpoint_names names;
    int lock;                    /* descriptor that locks the directory; -1: none */
    const char *resume_files[3]; /* checkpoints in the directory, which are kept; ends with NULL */
    int64_t saved_step;          /* of the last checkpoint; -1: none */
    double saved_clock;          /* wall clock of the last checkpoint */
    double saves_every;          /* seconds between checkpoints; 0: not by wall time */
    struct run_settings *settings; /* those of the checkpoints, when they are first needed */
    sel_error notes, changed; /* what has changed since the resumed checkpoint; what to warn of */
    /* Wall clock and simulated time during the last ten seconds or so, the oldest first. */
    struct {
        double clock, time;
    } past[RUN_PAST];
    int pasts;
} run;

/* ---- tests: run_tests.c ---- */

/* Waits until all submitted steps are done. */
sel_status sel_run_wait(run *r, sel_error *error);

/* Starts the tests that are due at the present step. If only stop.mean_change is given, the tests
 * do not compare the whole field. */
sel_status sel_run_start_tests(run *r, sel_error *error);

/* Starts a monitor request over the whole field. `only_bad_cell`: only for divergence, not for the
 * change since the previous one. */
sel_status sel_run_start_monitor(run *r, bool only_bad_cell, sel_error *error);

/* Starts the request of the range, if the test for a steady state is relative to it. */
sel_status sel_run_start_range(run *r, sel_error *error);

/* Starts the test of the mass, unless mass crosses faces at a rate that no law prescribes, or the
 * last test was less than monitor_steps ago. */
sel_status sel_run_start_mass(run *r, sel_error *error);

/* Waits for the answers of pending tests; takes the audit, but leaves the other answers untaken. */
sel_status sel_run_answer_tests(run *r, sel_error *error);

/* Waits for pending tests and takes their results. Sets stopped_by if they end the run. */
sel_status sel_run_finish_tests(run *r, sel_error *error);

/* Starts one test at the present step; waits for its answer, if it is pending. */
sel_status sel_run_start_test(run *r, run_test *test, const sel_request *request, sel_error *error);
sel_status sel_run_answer_test(run *r, run_test *test, sel_error *error);

/* Warns the user: on the terminal, in run.log and in run.json. */
void sel_run_warn(run *r, const char *format, ...) SEL_PRINTF(2, 3);
/* A sel_output_context.warn: warns once per `about`, with which `text` begins. `run` is the run. */
void sel_run_warn_once(void *run, const char *about, const char *text);

/* Warn if a run that was found steady at a step is driven by something that varies in time
 * (run_varying.c): between the last two tests, or else from that step to the end of the run; the
 * second, only the latter. */
void sel_run_warn_of_time(run *r, int64_t step);
void sel_run_warn_of_later(run *r, int64_t step);

/* The audit of single precision (run_audit.c): starts it; waits for it, if it is pending, and takes
 * its answer; frees its memory. */
sel_status sel_run_audit(run *r, sel_error *error);
sel_status sel_run_take_audit(run *r, sel_error *error);
void sel_run_close_audit(run *r);

/* The drive (run_drive.c): what it holds, NULL: nothing; changes the acceleration if that is due
 * before the next step. */
const sel_drive *sel_run_drive_of(const run *r);
/* The steps between its changes. */
int64_t sel_run_drive_steps(const run *r);
sel_status sel_run_drive(run *r, sel_error *error);
/* At the end of a run, after the last checkpoint: the last results. */
sel_status sel_run_drive_end(run *r, sel_error *error);

/* Sets stopped_by and its reason in the report. */
void sel_run_stop(run *r, sel_stopped_by by, const char *reason, ...) SEL_PRINTF(3, 4);

/* ---- the record: run_record.c ---- */

/* Copies the script, writes the first run.json, and begins the log. */
sel_status sel_run_record_begin(run *r, sel_error *error);

/* Whether run.json and the log are due again: every options->refresh_seconds. */
bool sel_run_record_due(const run *r);

/* Writes run.json from the present report, and a line into the log; with `asked` also prints the
 * line to stderr. Ignores failures: the next call may succeed. */
void sel_run_record(run *r, bool asked);

/* Writes lines to run.log, each with the time. */
void sel_run_note(run *r, const char *format, ...) SEL_PRINTF(2, 3);

/* A sel_hook_run.log: writes a line to run.log and shows it to the user. `run` is the run. */
void sel_run_log(const char *text, void *run);

/* Writes the final run.json and closes the log. */
sel_status sel_run_record_end(run *r, sel_error *error);

/* ---- checkpoints: run_save.c ---- */

/* Prepares the directory. A resumed run opens its checkpoint, and refuses one that does not fit the
 * scenario before anything in the directory changes. */
sel_status sel_run_open_directory(run *r, sel_error *error);

/* Loads the checkpoint. The outputs must be open. */
sel_status sel_run_load(run *r, sel_error *error);

/* Whether a checkpoint is due by wall time. */
bool sel_run_saves_now(const run *r);
/* The next step at which a checkpoint is due by steps or simulated time; INT64_MAX: never. */
int64_t sel_run_next_save(const run *r);

/* Saves the settings of the run (run_settings.c); or compares those loaded with the present ones:
 * refuses a change, or notes it in r->notes, or in r->changed if users are to be warned of it. */
void sel_run_keep_settings(run *r, sel_checkpoint *checkpoint);
/* Adds to the message of a state that does not fit (`status`) which regions and controls have
 * changed. */
void sel_run_tell_settings(const run *r, sel_status status, sel_error *error);

/* Writes a checkpoint of the present step, after its outputs, tests and hooks. Does nothing if the
 * state has diverged. */
sel_status sel_run_save(run *r, sel_error *error);

/* Writes the checkpoint at the end of the run, or on an interrupt. It precedes the last outputs,
 * which a resumed run does not write. If an interrupted run cannot write it, the failure is only
 * logged. */
sel_status sel_run_save_last(run *r, sel_error *error);

#endif
