/* output.h -- all outputs of a run: checks, schedule, writing, checkpoints. */
#ifndef SEL_OUTPUT_H
#define SEL_OUTPUT_H

#include <stdio.h>
#include "engine/output/output_params.h"

enum { SEL_MOST_OUTPUTS = 100000 };

typedef struct sel_outputs sel_outputs;

/* Checks all outputs before a run: duplicate names, fields that the solver does not have, points
 * outside the domain, boxes without cells. Reports every mistake with file and line. */
sel_status sel_outputs_check(const sel_simulation *simulation, const sel_domain *domain,
                             sel_error *error);

/* Sets sel_plan.wants_...: what steps must compute because an output or a hook needs it. */
sel_status sel_outputs_wants(const sel_simulation *simulation, sel_plan *plan, sel_error *error);

/* Describes when `output` will be written in a run of `last_step` steps (INT64_MAX: not known) and
 * the size of its files if known: "frames: out.vtk every 500 steps, 4 times 1.2 MB = 4.8 MB". */
void sel_output_forecast(const sel_plan *plan, const sel_variant *output, int64_t last_step,
                         char *text, size_t size);

/* Resumed runs (context->resume): truncates the CSV files in the directory to their length at the
 * checkpoint, and removes files that were created later. */
sel_status sel_outputs_cut(const sel_output_context *context, sel_error *error);

/* Opens all outputs and writes the headers of CSV files. `context` must outlive the outputs. */
sel_status sel_outputs_open(const sel_output_context *context, sel_outputs **outputs,
                            sel_error *error);

/* The first step after `step` at which an output is due; INT64_MAX: none. */
int64_t sel_outputs_next(const sel_outputs *outputs, int64_t step);

/* Finishes the outputs that were started before, then starts the requests of the outputs due at
 * `step`, the present one. The run may advance before sel_outputs_finish. `last`: the last step, at
 * which every output that has not written it yet is due. */
sel_status sel_outputs_start(sel_outputs *outputs, int64_t step, double time, bool last,
                             sel_error *error);

/* Waits for the requests that were started and writes their answers: rows to CSV files, frames to
 * the writer's queue (blocks while it is full). After the last step also writes statistics to the
 * results. */
sel_status sel_outputs_finish(sel_outputs *outputs, sel_error *error);

/* Ends the outputs of a run that failed: takes what was started, writes the present state (that of
 * `step`) if it is `whole`, and concludes every output that has written something. Further failures
 * are ignored. */
void sel_outputs_end(sel_outputs *outputs, int64_t step, double time, bool whole);

/* Saves the outputs to a checkpoint, or loads them from it by name. `notes` gets a line per output
 * that is new or no longer written. No request and no job of the writer may be pending. */
void sel_outputs_save(sel_outputs *outputs, sel_checkpoint *checkpoint);
void sel_outputs_load(sel_outputs *outputs, sel_checkpoint *checkpoint, sel_error *notes);

/* Lists a file that the run itself is about to create. */
sel_status sel_outputs_add_file(sel_outputs *outputs, const char *name, sel_error *error);

/* The first step after `step` at which an output is due; INT64_MAX: never. `period`: steps between
 * writings if the script gives none, 0 for at the end only. */
int64_t sel_output_next(const sel_output_common *common, int64_t period, const sel_clock *clock,
                        int64_t step);

/* Seconds that outputs waited for the backend's answers. */
double sel_outputs_waited(const sel_outputs *outputs);

/* Prints the files that exist, relative to the directory, as JSON strings: "a.csv", "b.csv". Files
 * still in the writer's queue are left out. */
void sel_outputs_list(const sel_outputs *outputs, FILE *to);

/* Waits for the writer, closes the files and frees the outputs. NULL is allowed. */
void sel_outputs_close(sel_outputs *outputs);

#endif
