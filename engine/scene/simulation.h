/* simulation.h -- one simulation as a scenario describes it, before anything is computed. */
#ifndef SEL_SIMULATION_H
#define SEL_SIMULATION_H

#include "engine/scene/grid.h"
#include "engine/values/schema.h"

struct sel_cells;
struct sel_solver;

/* ---- sel.units: the lattice of lengths and velocities in SI ---- */

/* The fields of sel.units, in the user's units. NaN: not given. */
typedef struct sel_units_params {
    double length;
    int64_t cells;
    double velocity, lattice_velocity;
    double density;
    double viscosity, reynolds;
} sel_units_params;

/* The resulting units, in the user's units. NaN: not known. */
typedef struct sel_units {
    double dx, dt;
    double nu;
    double density;
    double length, velocity;
    double lattice_velocity; /* cells per step; NaN: not given */
    bool density_given;
} sel_units;

extern const sel_table sel_units_table;

/* `params` have passed the table's check. dt makes the velocity `lattice_velocity` cells per step
 * or, where no velocity is known, the viscosity 0.1 in lattice units (tau 0.8). */
sel_units sel_units_resolve(const sel_units_params *params);

/* Whether `value` is within 1e-6 of a whole number, which is stored in `whole`. */
bool sel_units_whole(double value, int64_t *whole);

/* ---- sel.state: the fields in a checkpoint as functions of place (saved_fields.c) ---- */

typedef struct sel_state_params {
    const char *file; /* path as the process opens it */
} sel_state_params;

extern const sel_table sel_state_table;

/* The block "grid" of a checkpoint: the cells of its fields, for sel.state. */
typedef struct sel_state_grid {
    int64_t dims, n[3];
    double dx[3], origin[3];
    int64_t nodes; /* 1: the cells are nodes */
} sel_state_grid;

/* A field of an initial state, component by component. */
typedef struct sel_saved_field {
    const char *name;
    int components;
    const sel_function *component[3]; /* of x, y and z */
} sel_saved_field;

enum { SEL_MOST_SAVED_FIELDS = 64 };

/* Reads the fields of a checkpoint into the arena; *count: their number. A function has the cell's
 * value at the centre of a cell; between centres it is linear, without the solid cells; beyond the
 * last centres it is constant. Where all cells about a place are solid they have the value of the
 * nearest one that is not, counted in cells along the axes (of several the first). Fails if the
 * file is not a complete checkpoint. */
sel_status sel_saved_fields(sel_arena *arena, const sel_state_params *params, sel_where where,
                            sel_saved_field fields[SEL_MOST_SAVED_FIELDS], int *count,
                            sel_error *error);

struct sel_simulation;
struct sel_plan;

/* Refuses fields of a run of more dimensions than the simulation has. */
sel_status sel_saved_check(const struct sel_simulation *simulation, int dims, sel_error *error);
/* Warns if free cells of the initial state lie where the cells of the earlier run were solid. */
void sel_saved_warn(const struct sel_plan *plan, sel_error *warnings);

/* ---- the fields of all solvers ---- */

typedef struct sel_region {
    sel_where at; /* in the script */
    const char *name;
    const struct sel_shape *where;
    sel_variant law;
    sel_named_variants laws; /* one law per field, instead of `law`; for solvers that have them */
} sel_region;

/* Law k of a region; NULL: the region has at most k laws. */
static inline const sel_variant *sel_region_law(const sel_region *region, int k) {
    return region->law.table    ? k == 0 ? &region->law : NULL
           : k < region->laws.n ? &region->laws.v[k].value
                                : NULL;
}

typedef struct sel_stop {
    int64_t steps;      /* SEL_INT_NOT_GIVEN */
    double time;        /* user's units; NaN: not given */
    double steady;      /* relative change between tests; NaN: not given */
    int64_t every;      /* steps between tests; SEL_INT_NOT_GIVEN */
    double wall_time;   /* seconds of wall time; NaN: not given */
    double mean_change; /* of the mean of the main field in a step; <= 0 or NaN: not given */
} sel_stop;

static inline bool sel_stops_by_mean(const sel_stop *stop) {
    return stop->mean_change > 0;
}

enum { SEL_HOOK_BY_STEPS = -1, SEL_HOOK_AT_END };

/* A function that the run calls every `every` steps or at its end. */
typedef struct sel_hook {
    int64_t every; /* SEL_INT_NOT_GIVEN */
    int at;        /* SEL_HOOK_BY_STEPS or SEL_HOOK_AT_END */
    const sel_callback *call;
} sel_hook;

typedef struct sel_reference {
    double length, velocity, area; /* user's units; NaN: not given */
} sel_reference;

/* SEL_PRECISION_AUTO: as sel_solver.needs_double says; only for solvers that have this function. */
enum { SEL_F32, SEL_F64, SEL_PRECISION_AUTO };
extern const char *const sel_precision_names[];      /* "f32" "f64" */
extern const char *const sel_auto_precision_names[]; /* and "auto" */

enum { SEL_BACKEND_AUTO, SEL_BACKEND_CPU, SEL_BACKEND_CUDA };
extern const char *const sel_backend_names[]; /* "auto" "cpu" "cuda" */

/* What a cell of a flow stores; auto: what its operator is fastest with. */
enum { SEL_STORE_AUTO, SEL_STORE_POPULATIONS, SEL_STORE_MOMENTS };
extern const char *const sel_storage_names[]; /* "auto" "populations" "moments" */

enum { SEL_LAYOUT_CELL, SEL_LAYOUT_NODE };
extern const char *const sel_layout_names[]; /* "cell" "node" */

/* The fields of every solver's table; first member of each solver's parameters. */
typedef struct sel_common {
    sel_where at;
    const char *name;
    sel_ints size;
    double dx, dt;
    sel_point sides; /* instead of dx: n == 0 not given, 1 for all axes, else one per axis */
    bool dx_is_preset, dt_is_preset; /* the script gives no dx, no dt; false from C */
    const sel_units *units;          /* the sel.units that gave dx, dt and the like; NULL: none */
    sel_point origin;
    int layout; /* SEL_LAYOUT_CELL ... */
    unsigned periodic;
    sel_list regions; /* of sel_region */
    sel_numbers controls;
    sel_reference reference;
    sel_stop stop;
    sel_list output; /* of sel_variant, family sel_output_family */
    sel_list hooks;  /* of sel_hook */
    int precision, backend;
    int64_t threads; /* SEL_INT_NOT_GIVEN: all cores */
} sel_common;

/* The row of dx: SEL_DX_ROW has one side for all axes, SEL_SIDES_ROW one side per axis. */
#define SEL_DX_ROW(unit, dx_doc)                                                      \
    SEL_ROW(sel_common, dx, NUMBER, "Side of a cell; " dx_doc, .flags = SEL_POSITIVE, \
            .preset = unit)
#define SEL_SIDES_ROW(unit, dx_doc)                                             \
    SEL_ROW_NAMED("dx", sel_common, sides, SPACING, "Sides of a cell; " dx_doc, \
                  .flags = SEL_POSITIVE, .preset = unit)

#define SEL_DT_ROW(unit, dt_doc) \
    SEL_ROW(sel_common, dt, NUMBER, "Time step; " dt_doc, .flags = SEL_POSITIVE, .preset = unit)

/* The rows of every solver's table, in their order: SEL_SIZE_FIELDS, dx, dt, SEL_SCENE_FIELDS,
 * stop, SEL_RUN_FIELDS. `size_flags`: SEL_REQUIRED or 0; `size_doc`: what holds if the size is not
 * given. `region_table` describes sel_region with its laws. */
#define SEL_SIZE_FIELDS(size_flags, size_doc)                                                    \
    SEL_ROW(sel_common, name, STRING, "Name of the simulation; required and unique in a list."), \
        SEL_ROW(sel_common, size, SIZE, "Number of cells { nx, ny } or { nx, ny, nz }" size_doc, \
                .flags = size_flags)
#define SEL_SCENE_FIELDS(region_table)                                                           \
    SEL_ROW(sel_common, units, UNITS,                                                            \
            "A lattice made by sel.units: gives dx, dt, nu, density and the reference."),        \
        SEL_ROW(sel_common, origin, POINT, "Lower corner of the domain; zero when not given."),  \
        SEL_ROW(                                                                                 \
            sel_common, periodic, FLAGS,                                                         \
            "Axes along which the domain is periodic: what leaves one face enters the opposite " \
            "one.",                                                                              \
            .choices = sel_axis_names),                                                          \
        SEL_ROW(sel_common, regions, LIST,                                                       \
                "Solids and boundary conditions, painted in order: where regions overlap, the "  \
                "last one holds.",                                                               \
                .table = &(region_table)),                                                       \
        SEL_ROW(sel_common, controls, NUMBERS,                                                   \
                "Numbers that functions of this scenario may name as arguments and hooks may "   \
                "change."),                                                                      \
        SEL_ROW(sel_common, reference, TABLE,                                                    \
                "Scales for the Reynolds and Mach numbers and the flow-through time.",           \
                .table = &sel_reference_table)
#define SEL_RUN_FIELDS                                                                            \
    SEL_ROW(sel_common, output, VARIANTS, "What is written: a list of out.* tables.",             \
            .family = &sel_output_family),                                                        \
        SEL_ROW(sel_common, hooks, LIST,                                                          \
                "Functions that the run calls at regular steps or at its end.",                   \
                .table = &sel_hook_table),                                                        \
        SEL_ROW(                                                                                  \
            sel_common, backend, CHOICE,                                                          \
            "What computes; auto: a GPU that can be used, else the CPU; --backend overrides it.", \
            .preset = SEL_BACKEND_AUTO, .choices = sel_backend_names),                            \
        SEL_ROW(sel_common, threads, INT,                                                         \
                "CPU threads; all cores when not given; --threads overrides it.",                 \
                .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN)
#define SEL_PRECISION_ROW(usual)                                                           \
    SEL_ROW(sel_common, precision, CHOICE,                                                 \
            "Precision of the stored state; --precision overrides it.", .preset = (usual), \
            .choices = sel_precision_names)

/* The row of layout, for a solver that computes `what` in cells or at nodes. */
#define SEL_LAYOUT_ROW(what)                                                                       \
    SEL_ROW_NAMED("layout", sel_common, layout, CHOICE,                                            \
                  "cell: " what                                                                    \
                  " at the centres of cells; node: at nodes; the outer nodes lie on the boundary " \
                  "faces.",                                                                        \
                  .choices = sel_layout_names)

/* All rows but the precision. `stops`: sel_stop_table, or sel_mean_stop_table for solvers that
 * answer SEL_MEAN_CHANGE. */
#define SEL_COMMON_FIELDS_FROM(region_table, stops, size_flags, size_doc, dx_row, dt_row)  \
    SEL_SIZE_FIELDS(size_flags, size_doc), dx_row, dt_row, SEL_SCENE_FIELDS(region_table), \
        SEL_ROW(sel_common, stop, TABLE, "When the run ends.", .flags = SEL_REQUIRED,      \
                .table = &(stops)),                                                        \
        SEL_RUN_FIELDS

/* The rows of a solver whose default dx and dt are 1 (lattice units). */
#define SEL_COMMON_FIELDS(region_table)                                        \
    SEL_COMMON_FIELDS_FROM(region_table, sel_stop_table, SEL_REQUIRED, ".",    \
                           SEL_DX_ROW(1, "1 (lattice units) when not given."), \
                           SEL_DT_ROW(1, "1 (lattice units) when not given."))

extern const char *const sel_axis_names[]; /* "x" "y" "z" */
extern const sel_table sel_stop_table, sel_mean_stop_table, sel_rule_stop_table;
extern const sel_table sel_reference_table, sel_hook_table;
extern const sel_family sel_output_family;

/* The rows of sel_region. Only the family of the law differs between solvers. */
#define SEL_REGION_FIELDS(law_family)                                             \
    SEL_REGION_FIELDS_WITH(SEL_ROW(sel_region, law, VARIANT, "What holds there.", \
                                   .flags = SEL_REQUIRED, .family = &(law_family)))
#define SEL_REGION_FIELDS_WITH(law_row)                                                       \
    SEL_ROW(sel_region, where, SHAPE, "The cells or boundary faces that this region paints.", \
            .flags = SEL_REQUIRED),                                                           \
        law_row,                                                                              \
        SEL_ROW(sel_region, name, STRING,                                                     \
                "Name for outputs and messages; region K when not given.")

/* The table of a region with these rows. */
#define SEL_REGION_TABLE(rows)                                                       \
    SEL_TABLE("region", sel_region, rows,                                            \
              "A shape and the law that holds there; regions are painted in order.", \
              .has_where = true)

/* A parameter as sel.params resolved it, for run.json and --help. */
typedef struct sel_parameter {
    const char *name;
    const char *help;
    const char *text; /* the value as Lua writes it; strings without quotes */
    enum { SEL_PARAMETER_NUMBER, SEL_PARAMETER_STRING, SEL_PARAMETER_BOOL } kind;
    const char *preset; /* the default as text */
    const char *limits; /* "whole number, at least 2"; empty: any value of the kind */
} sel_parameter;

typedef struct sel_simulation {
    const struct sel_solver *solver; /* its own one where the scenario names the fields */
    sel_common *params;              /* the struct of solver->table; starts with sel_common */
    const char *script;              /* path as given; NULL from C */
    /* Line of the field `name` of the solver's table, or of the table itself. Set by the script
     * layer; NULL from C. */
    sel_where (*locate)(const struct sel_simulation *self, const char *field);
    const void *locate_data;
    const struct sel_lookups *series, *rasters; /* made by the script; NULL from C */
    /* Where the scenario names the fields (sel_solver.name_cells): the fields of cells; what the
     * solver has found wrong with the table, which sel_prepare reports. Else both are NULL. */
    const struct sel_cells *cells;
    const sel_error *mistakes;
} sel_simulation;

/* The grid of `common`, unchecked; sel_domain_create checks it. */
sel_grid sel_common_grid(const sel_common *common);

/* The step at which stop.steps or stop.time ends a run; INT64_MAX when neither is given. */
int64_t sel_stop_step(const sel_common *common);

/* Whether the run may end before sel_stop_step: by stop.steady, stop.mean_change, stop.wall_time or
 * a hook. */
bool sel_may_end_early(const sel_common *common);

sel_where sel_simulation_where(const sel_simulation *simulation, const char *field);

/* The result of a script. Freed with sel_scenario_destroy (the arena holds all of it). */
typedef struct sel_scenario {
    sel_arena *arena;
    int count; /* simulations */
    sel_simulation *simulations;
    int parameter_count;
    sel_parameter *parameters;
    const char *text; /* the text of the script; NULL from C */
    size_t text_length;
    /* Frees what lives outside the arena (the Lua state); NULL from C. */
    void (*release)(struct sel_scenario *self);
    void *release_data;
} sel_scenario;

void sel_scenario_destroy(sel_scenario *scenario);

/* ---- the quantities of a simulation (quantities.c) ---- */

/* A quantity in a table of a simulation. */
typedef struct sel_visited {
    const sel_quantity *quantity;
    const sel_table *table;
    const char *field; /* its name in the table */
    sel_where where;   /* of its function, else of the table */
} sel_visited;

/* False: the visit is over. */
typedef bool sel_quantity_visit(void *to, const sel_visited *found);

/* Calls `visit` for each quantity that is given in the tables of a simulation, but for what is in
 * fields of these names (of any table; the last is NULL). except NULL: for all. */
void sel_visit_quantities(const sel_simulation *simulation, const char *const *except,
                          sel_quantity_visit *visit, void *to);

#endif
