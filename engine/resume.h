/* resume.h -- what a checkpoint holds of a run, and how a run goes on from it. */
#ifndef SEL_RESUME_H
#define SEL_RESUME_H

#include "engine/hooks.h"
#include "engine/run.h"

/* Where the run loop stands, beside the state of the solver and the outputs. */
typedef struct sel_standing {
    int64_t step;
    bool monitor_pending, monitor_answered; /* a test is under way; what it found is known */
    int64_t monitor_step;
    sel_request monitor;
    double largest; /* magnitude of the main field at all tests so far */
    double steady_measure, largest_mach;
} sel_standing;

/* The cells of the fields in a checkpoint, for sel.state: its block "grid". */
typedef struct sel_state_grid {
    int64_t dims, n[3];
    double dx, origin[3];
} sel_state_grid;

/* All of a run that is kept. */
typedef struct sel_kept_run {
    const sel_scenario *scenario;
    const sel_prepared *prepared;
    sel_state *state;
    sel_outputs *outputs;
    sel_hook_run *hooks;
    sel_results *results;
    sel_standing *standing;
} sel_kept_run;

/* The names of the checkpoint of a simulation and of the one before it, in `directory`. */
typedef struct sel_checkpoint_names {
    char file[96], before[96]; /* in the directory */
    char path[4400], path_before[4400];
    bool keeps_before; /* the present one is worse than the one before it: it is replaced */
} sel_checkpoint_names;
void sel_checkpoint_name(const sel_simulation *simulation, const char *directory,
                         sel_checkpoint_names *names);

/* The out.checkpoint of a simulation; NULL: it has none. */
const sel_variant *sel_checkpoint_output(const sel_simulation *simulation);

/* Opens the file, or the checkpoint of the directory where it is NULL. When that is damaged the
 * message names the one before it, if that is whole. */
sel_status sel_resume_open(const sel_simulation *simulation, const char *directory,
                           const char *file, sel_checkpoint **opened, sel_error *error);

/* Of a simulation in a list: what a run of the list that goes on does with it. */
typedef enum sel_resume_step {
    SEL_RESUME_IT,   /* it has a checkpoint */
    SEL_RESUME_DONE, /* it has ended */
    SEL_RESUME_ANEW, /* it was ended without a checkpoint: its files are replaced */
    SEL_RESUME_BEGIN /* it has no run yet */
} sel_resume_step;
sel_resume_step sel_resume_in_list(const sel_simulation *simulation, const char *directory);

/* Refuses a checkpoint of another solver, grid, lattice or precision, with both values; notes what
 * else has changed, a line each. The state is that of step 0. */
sel_status sel_resume_check(const sel_kept_run *run, sel_checkpoint *checkpoint, sel_error *notes,
                            sel_error *error);

/* Sets the run, whose outputs have been opened, to the saved one. */
sel_status sel_resume_load(const sel_kept_run *run, sel_checkpoint *checkpoint, sel_error *notes,
                           sel_error *error);

/* Writes a checkpoint of a run that has nothing under way. */
sel_status sel_resume_save(const sel_kept_run *run, const sel_checkpoint_names *names,
                           uint64_t *bytes, sel_error *error);

#endif
