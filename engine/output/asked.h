/* asked.h -- what a scenario asks to be written, and what outputs need of the run. */
#ifndef SEL_OUTPUT_ASKED_H
#define SEL_OUTPUT_ASKED_H

#include "engine/io/checkpoint.h"
#include "engine/io/writer.h"
#include "engine/output/files.h"
#include "engine/scene/solver.h"
#include "engine/values/schema.h"

/* ---- the structs that the out.* tables describe ---- */

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

/* ---- the run ---- */

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
    /* Warns the user: once in a run of what begins with the same `about`. */
    void (*warn)(void *warn_data, const char *about, const char *text);
    void *warn_data;
} sel_output_context;

#endif
