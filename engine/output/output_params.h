/* output_params.h -- the parameters of each kind of output, and the context that a run gives
 * outputs. */
#ifndef SEL_OUTPUT_PARAMS_H
#define SEL_OUTPUT_PARAMS_H

#include "engine/io/checkpoint.h"
#include "engine/io/writer.h"
#include "engine/output/files.h"
#include "engine/scene/solver.h"
#include "engine/values/schema.h"

/* ---- the parameters of each kind: the structs that the out.* tables describe ---- */

/* The first member of every struct of parameters. */
typedef struct sel_output_common {
    const char *name;  /* of its files; NULL: named after the kind */
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

typedef struct sel_balance_params {
    sel_output_common common;
} sel_balance_params;

typedef struct sel_force_params {
    sel_output_common common;
    const char *region;
    sel_point centre; /* of the torque; n == 0: the origin */
} sel_force_params;

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
} sel_average_params;

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
    sel_out_reduce_table, sel_out_balance_table, sel_out_force_table, sel_out_flux_table,
    sel_out_average_table, sel_out_picture_table, sel_out_grid_table, sel_out_checkpoint_table,
    sel_slice_table;

/* ---- the run ---- */

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

#endif
