/* output.h -- what a run writes: the out.* tables, when each is due, and the files. */
#ifndef SEL_OUTPUT_H
#define SEL_OUTPUT_H

#include <stdio.h>
#include "engine/io/checkpoint.h"
#include "engine/io/writer.h"
#include "engine/values/schema.h"
#include "engine/scene/solver.h"

/* ---- what a scenario asks to be written: the structs that the out.* tables describe ---- */

/* First member of every output's struct. */
typedef struct sel_output_common {
    const char *name;  /* NULL: the kind */
    int64_t every;     /* steps; SEL_INT_NOT_GIVEN */
    double interval;   /* user's time; NaN: not given */
    int64_t from_step; /* 0 when not given */
    double from_time;  /* user's time; NaN: not given */
} sel_output_common;

enum { SEL_VTK_NONE, SEL_VTK_ZLIB };
enum { SEL_VTK_AS_RUN, SEL_VTK_F32, SEL_VTK_F64 };

typedef struct sel_out_vtk {
    sel_output_common common;
    sel_names fields;
    const struct sel_shape *within; /* a box; NULL: the whole domain */
    int64_t stride;
    int compression;
    int64_t level;  /* SEL_INT_NOT_GIVEN: 1 */
    int precision;  /* SEL_VTK_AS_RUN ... */
    int64_t digits; /* SEL_INT_NOT_GIVEN: all */
} sel_out_vtk;

typedef struct sel_out_probe {
    sel_output_common common;
    sel_names field;
    sel_points at;
} sel_out_probe;

typedef struct sel_out_profile {
    sel_output_common common;
    sel_names field;
    sel_point from, to;
    int64_t points; /* SEL_INT_NOT_GIVEN: length / dx */
} sel_out_profile;

enum { SEL_OF_SUM, SEL_OF_MIN, SEL_OF_MAX, SEL_OF_MEAN, SEL_OF_L2 };

typedef struct sel_out_reduce {
    sel_output_common common;
    sel_names field;
    int op;
    const struct sel_shape *within; /* a box; NULL: the whole domain */
} sel_out_reduce;

typedef struct sel_out_balance {
    sel_output_common common;
} sel_out_balance;

typedef struct sel_out_force {
    sel_output_common common;
    const char *region;
    sel_point centre; /* n == 0: the origin */
} sel_out_force;

/* One of the three. */
typedef struct sel_out_flux {
    sel_output_common common;
    const char *region;
    sel_points across;               /* from, to */
    const struct sel_shape *through; /* a box */
} sel_out_flux;

typedef struct sel_out_average {
    sel_output_common common;
    sel_names fields;
} sel_out_average;

/* A plane of cells in 3-D: one of the coordinates. NaN: not given. */
typedef struct sel_slice {
    double v[3];
} sel_slice;

/* deep: dark blue over green to yellow, ever lighter; signed: blue, white at the middle, red; grey:
 * nearly black to white; water: pale to dark blue. */
enum {
    SEL_COLOURS_AUTO,
    SEL_COLOURS_DEEP,
    SEL_COLOURS_SIGNED,
    SEL_COLOURS_GREY,
    SEL_COLOURS_WATER
};

typedef struct sel_out_picture {
    sel_output_common common;
    const char *field;
    sel_slice slice;
    int colours;
    double min, max;     /* of the colours; NaN: of the picture */
    double scale;        /* pixels per cell; NaN: the longer side has about 1000 */
    const char *relief;  /* the field that is shaded beneath; NULL: none */
    double above;        /* over a relief the field is drawn where it exceeds this */
    double exaggeration; /* of the relief; NaN: by its slopes */
} sel_out_picture;

enum { SEL_GRID_ASC, SEL_GRID_TIF };

typedef struct sel_out_grid {
    sel_output_common common;
    const char *field;
    int format; /* SEL_GRID_ASC, SEL_GRID_TIF */
} sel_out_grid;

typedef struct sel_out_checkpoint {
    sel_output_common common;
    double wall_time; /* seconds; NaN: not given */
} sel_out_checkpoint;

extern const sel_table sel_out_vtk_table, sel_out_probe_table, sel_out_profile_table,
    sel_out_reduce_table, sel_out_balance_table, sel_out_force_table, sel_out_flux_table,
    sel_out_average_table, sel_out_picture_table, sel_out_grid_table, sel_out_checkpoint_table,
    sel_slice_table;

/* ---- a run's outputs ---- */

/* Named numbers for run.json's `results`, in the order in which they were first set. */
typedef struct sel_results {
    int count, capacity;
    struct sel_result {
        char name[128];
        double value;
    } * v;
} sel_results;

sel_status sel_results_set(sel_results *results, const char *name, double value, sel_error *error);
void sel_results_free(sel_results *results);

/* What every output needs of the run. */
typedef struct sel_output_context {
    const sel_simulation *simulation;
    const sel_solver *solver;
    const sel_domain *domain;
    const sel_plan *plan;
    const sel_backend *backend;
    sel_state *state;
    const sel_clock *clock; /* of the steps before the present one, and of those to come */
    const char *directory;
    bool force; /* write over files that no run listed */
    sel_writer *writer;
    sel_results *results;
    sel_checkpoint *resume;          /* that the run resumes; NULL: it begins at step 0 */
    const char *const *resume_files; /* with it: more files that stay; ends with NULL */
} sel_output_context;

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
