/* output.h -- what a run writes: when each output is due, and what becomes of it. */
#ifndef SEL_OUTPUT_H
#define SEL_OUTPUT_H

#include <stdio.h>
#include "engine/output/asked.h"

enum { SEL_MOST_OUTPUTS = 100000 };

typedef struct sel_outputs sel_outputs;

/* All that can be checked before a run: duplicate names, fields that the solver does not have,
 * points outside the domain, boxes without cells. All mistakes, each at its line. */
sel_status sel_outputs_check(const sel_simulation *simulation, const sel_domain *domain,
                             sel_error *error);

/* Sets in the plan what the outputs need that every step must compute (sel_plan.wants_...). */
sel_status sel_outputs_wants(const sel_simulation *simulation, sel_plan *plan, sel_error *error);

/* When `output` will be written in a run of `last_step` steps (INT64_MAX: not known), and how much
 * where that is known: "frames: out.vtk every 500 steps, 4 times 1.2 MB = 4.8 MB". */
void sel_output_forecast(const sel_plan *plan, const sel_variant *output, int64_t last_step,
                         char *text, size_t size);

/* Of a resumed run (context->resume): cuts the CSV files in the directory to what they were at
 * the checkpoint, and removes later files. */
sel_status sel_outputs_cut(const sel_output_context *context, sel_error *error);

/* Opens all outputs (CSV files get their header line). `context` must outlive them. */
sel_status sel_outputs_open(const sel_output_context *context, sel_outputs **outputs,
                            sel_error *error);

/* The first step after `step` at which something is due; INT64_MAX when nothing is. */
int64_t sel_outputs_next(const sel_outputs *outputs, int64_t step);

/* Asks the backend for what is due at `step`, the present state, after finishing what was started
 * before; the run may go on meanwhile. With `last`, every output that has not written this step yet
 * is due. */
sel_status sel_outputs_start(sel_outputs *outputs, int64_t step, double time, bool last,
                             sel_error *error);

/* Writes what was started, if anything was: rows to CSV files, fields through the writer's queue,
 * which blocks while it is full. After the last step statistics go to the results. */
sel_status sel_outputs_finish(sel_outputs *outputs, sel_error *error);

/* Ends the outputs of a run that failed, as far as possible: takes what was started, writes the
 * present state, which is that of `step`, when it is `whole`, and concludes what has written
 * something. What fails then is left out. */
void sel_outputs_end(sel_outputs *outputs, int64_t step, double time, bool whole);

/* Moves what the outputs need to resume to a checkpoint, or from it to outputs of the same names;
 * others are noted, a line each. No request and no job of the writer may be pending. */
void sel_outputs_save(sel_outputs *outputs, sel_checkpoint *checkpoint);
void sel_outputs_load(sel_outputs *outputs, sel_checkpoint *checkpoint, sel_error *notes);

/* Lists a file that the run itself writes, before it is made. */
sel_status sel_outputs_add_file(sel_outputs *outputs, const char *name, sel_error *error);

/* The first step after `step` at which an output is due that is written every `period` steps when
 * the script does not say; INT64_MAX: never. */
int64_t sel_output_next(const sel_output_common *common, int64_t period, const sel_clock *clock,
                        int64_t step);

/* Seconds that outputs waited for the backend's answers. */
double sel_outputs_waited(const sel_outputs *outputs);

/* Prints the files that are there, relative to the directory, without what the writer has yet to
 * write, as JSON strings: "a.csv", "b.csv". */
void sel_outputs_list(const sel_outputs *outputs, FILE *to);

/* Waits for the writer, and closes the files. */
void sel_outputs_close(sel_outputs *outputs);

#endif
