/* output.h -- the outputs of a run: parameters of each kind; files and results; checks, schedule,
 * writing, checkpoints.
 */
#ifndef SEL_OUTPUT_H
#define SEL_OUTPUT_H

#include <stdio.h>
#include "engine/base/arena.h"
#include "engine/io/checkpoint.h"
#include "engine/io/csv.h"
#include "engine/io/writer.h"
#include "engine/scene/solver.h"
#include "engine/values/schema.h"

/* ---- the parameters of each kind: the structs that the out.* tables describe ---- */

enum { SEL_OUTPUT_WHEN_DUE, SEL_OUTPUT_AT_END };

/* The first member of every struct of parameters. */
typedef struct sel_output_common {
    const char *name;  /* of its files; NULL: named after the kind */
    int at;            /* SEL_OUTPUT_WHEN_DUE (by `every` or `interval`) or SEL_OUTPUT_AT_END */
    int64_t every;     /* steps; SEL_INT_NOT_GIVEN: not given */
    double interval;   /* user's time; NaN: not given */
    int64_t from_step; /* 0: not given */
    double from_time;  /* user's time; NaN: not given */
} sel_output_common;

enum { SEL_VTK_NONE, SEL_VTK_ZLIB };
enum { SEL_VTK_AS_RUN, SEL_VTK_F32, SEL_VTK_F64 };

typedef struct sel_vtk_params {
    sel_output_common common;
    sel_names fields;
    const struct sel_shape *within; /* a box; NULL: the whole domain */
    int64_t stride;
    int compression;
    int64_t level;  /* SEL_INT_NOT_GIVEN: 1 */
    int precision;  /* SEL_VTK_AS_RUN ... */
    int64_t digits; /* significant decimal digits; SEL_INT_NOT_GIVEN: all */
} sel_vtk_params;

typedef struct sel_probe_params {
    sel_output_common common;
    sel_names field;
    sel_points at;
} sel_probe_params;

typedef struct sel_profile_params {
    sel_output_common common;
    sel_names field;
    sel_point from, to;
    int64_t points; /* samples; SEL_INT_NOT_GIVEN: length / dx */
} sel_profile_params;

enum { SEL_OF_SUM, SEL_OF_MIN, SEL_OF_MAX, SEL_OF_MEAN, SEL_OF_L2 };

typedef struct sel_reduce_params {
    sel_output_common common;
    sel_names field;
    int op;
    const struct sel_shape *within; /* a box; NULL: the whole domain */
} sel_reduce_params;

typedef struct sel_pores_params {
    sel_output_common common;
    int axis;
    const struct sel_shape *within; /* a box; NULL: the whole domain */
} sel_pores_params;

typedef struct sel_balance_params {
    sel_output_common common;
} sel_balance_params;

typedef struct sel_force_params {
    sel_output_common common;
    const char *region;
    sel_point centre; /* of the torque; n == 0: the origin */
} sel_force_params;

typedef struct sel_wall_params {
    sel_output_common common;
    const char *region;
    sel_names field;
} sel_wall_params;

/* Exactly one of region, across and through is given. */
typedef struct sel_flux_params {
    sel_output_common common;
    const char *region;
    sel_points across;               /* the two ends of a line */
    const struct sel_shape *through; /* a box, one cell thin */
} sel_flux_params;

typedef struct sel_average_params {
    sel_output_common common;
    sel_names fields;
    sel_names products; /* "velocity_x*velocity_y": of components that `fields` has */
    unsigned over;      /* bit a: means along axis a, too; 0: of each cell */
} sel_average_params;

typedef struct sel_spectrum_params {
    sel_output_common common;
    sel_names field;
    sel_points at;
    int64_t windows; /* of Welch's method */
} sel_spectrum_params;

/* A plane across one axis of a 3-D domain: exactly one coordinate is given, the others are NaN. */
typedef struct sel_slice {
    double v[3];
} sel_slice;

/* Colour maps. deep: dark blue over green to yellow, lightness rises; signed: blue, white in the
 * middle, red; grey: nearly black to white; water: pale to dark blue. */
enum {
    SEL_COLOURS_AUTO,
    SEL_COLOURS_DEEP,
    SEL_COLOURS_SIGNED,
    SEL_COLOURS_GREY,
    SEL_COLOURS_WATER
};

typedef struct sel_picture_params {
    sel_output_common common;
    const char *field;
    sel_slice slice;
    int colours;
    double min, max;     /* values of the first and last colour; NaN: extremes of the picture */
    double scale;        /* pixels per cell; NaN: the longer side has about 1000 pixels */
    const char *relief;  /* field of heights, drawn shaded under the picture; NULL: none */
    double above;        /* with a relief: the field is drawn only where it exceeds this; NaN: 0 */
    double exaggeration; /* factor of the heights; NaN: chosen by the slopes */
} sel_picture_params;

enum { SEL_GRID_ASC, SEL_GRID_TIF };

typedef struct sel_grid_params {
    sel_output_common common;
    const char *field;
    int format; /* SEL_GRID_ASC, SEL_GRID_TIF */
} sel_grid_params;

typedef struct sel_checkpoint_params {
    sel_output_common common;
    double wall_time; /* seconds between checkpoints; NaN: not given */
} sel_checkpoint_params;

extern const sel_table sel_out_vtk_table, sel_out_probe_table, sel_out_profile_table,
    sel_out_reduce_table, sel_out_balance_table, sel_out_force_table, sel_out_wall_table,
    sel_out_flux_table, sel_out_average_table, sel_out_spectrum_table, sel_out_pores_table,
    sel_out_picture_table, sel_out_grid_table, sel_out_checkpoint_table, sel_slice_table;

/* ---- the list of files (files.c) ---- */

/* A file of the outputs, relative to the run's directory. */
typedef struct sel_output_file {
    const char *name;
    int64_t job;        /* the writer's job, from 1, that creates the file; 0: it exists */
    const sel_csv *csv; /* the open CSV file that appends to it; NULL: none */
    bool known;         /* the resumed run had created it */
    int64_t bytes;      /* length of a CSV file at the resumed checkpoint; -1: none */
    struct sel_output_file *next;
} sel_output_file;

/* The files in the order in which they were added; those of the resumed run come first. */
typedef struct sel_output_files {
    const char *directory;
    bool force; /* overwrite files that no run has listed */
    sel_arena *arena;
    int count;
    sel_output_file *first, *last;
} sel_output_files;

/* Adds the file NAME ENDING before it is created: by the caller (writer NULL), or by the next job
 * that is submitted to `writer`. Refuses to replace an existing file that no run has listed
 * (engine/base/folder.h). */
sel_status sel_output_files_add(sel_output_files *files, sel_writer *writer, const char *name,
                                const char *ending, sel_error *error);

/* Appends a file without looking at the disk. NULL: no memory. */
sel_output_file *sel_output_files_append(sel_output_files *files, const char *name, bool known,
                                         int64_t bytes, sel_error *error);

/* The file of that name that the resumed run had created; NULL: none. */
sel_output_file *sel_output_files_known(const sel_output_files *files, const char *name);

/* The two halves of sel_output_files_add: claim refuses to replace a foreign file; list adds *file,
 * which the writer's job number `job` creates (0: it exists; INT64_MAX: not yet known). */
sel_status sel_output_files_claim(const sel_output_files *files, const char *path,
                                  sel_error *error);
sel_status sel_output_files_list(sel_output_files *files, const char *path, int64_t job,
                                 sel_output_file **file, sel_error *error);

/* ---- results (files.c) ---- */

/* Named numbers for run.json's `results`, in the order in which they were first set. */
typedef struct sel_results {
    int count, capacity;
    struct sel_result {
        char name[128];
        double value;
    } * v;
    int *slot, slots; /* hash table of names: 1 + index in v, 0: empty; slots is a power of 2 */
} sel_results;

/* Sets or replaces a result. SEL_BAD_SCENARIO: more than 2^22 results. */
sel_status sel_results_set(sel_results *results, const char *name, double value, sel_error *error);
void sel_results_free(sel_results *results);

/* ---- the outputs of a run (output.c) ---- */

/* The run as its outputs see it. */
typedef struct sel_output_context {
    const sel_simulation *simulation;
    const sel_solver *solver;
    const sel_domain *domain;
    const sel_plan *plan;
    const sel_backend *backend;
    sel_state *state;
    const sel_clock *clock; /* times of the steps, past and to come */
    const char *directory;
    bool force; /* overwrite files that no run has listed */
    sel_writer *writer;
    sel_results *results;
    sel_checkpoint *resume;          /* the checkpoint to resume; NULL: the run begins at step 0 */
    const char *const *resume_files; /* with `resume`: further files to keep; ends with NULL */
    /* Warns the user; at most once per run for texts that begin with the same `about`. */
    void (*warn)(void *warn_data, const char *about, const char *text);
    void *warn_data;
} sel_output_context;

enum { SEL_MOST_OUTPUTS = 100000 };

typedef struct sel_outputs sel_outputs;

/* Checks all outputs before a run: duplicate names, fields that the solver does not have, points
 * outside the domain, boxes without cells. Reports every mistake with file and line. */
sel_status sel_outputs_check(const sel_simulation *simulation, const sel_domain *domain,
                             sel_error *error);

/* Warns, one line each, of outputs whose numbers this domain makes wrong: torques of bodies across
 * periodic faces, fields of walls in gaps one cell wide. */
void sel_outputs_warn(const sel_simulation *simulation, const sel_domain *domain,
                      sel_error *warnings);

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
 * `step`) if it is `whole`, and concludes every output that has written something. Unless the run
 * has reached this step as a `target`, forces, fluxes and whatever else observed steps show are
 * left out: whether it was observed depends on how many steps were done at a time, so on the speed
 * of the machine. Further failures are ignored. */
void sel_outputs_end(sel_outputs *outputs, int64_t step, double time, bool whole, bool target);

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
