/* aqua.h -- surface runoff by AQUA-GRAPH: what a scenario gives, and the plan that backends run.
 *
 * A step from n to n + 1; times are in steps:
 *   1. rain, then sources, add water to the depths (rates at n + 1/2),
 *   2. ghost cells (below) are set: dry, or at their level (z at n),
 *   3. flow: every cell by the rule of engine/solvers/aqua/aqua_step.h; what flows into ghosts has
 * left,
 *   4. infiltration takes water (rate at n + 1/2), no more than there is.
 * Totals of what each of these adds and removes are kept for the balance: exact where depths are
 * whole quanta, else in f64.
 */
#ifndef AQUA_H
#define AQUA_H

#include "engine/core/arrays.h"
#include "engine/core/inputs.h"
#include "engine/solvers/aqua/aqua_method.h"
#include "engine/scene/solver.h"
#include "engine/scene/terrain.h"

/* ---- the scenario ---- */

enum { AQUA_GATHER, AQUA_SCATTER };
extern const char *const aqua_equilibrium_names[], *const aqua_scheme_names[];

typedef struct aqua_initial {
    sel_quantity depth; /* m; components == 0: dry */
} aqua_initial;

typedef struct aqua_source {
    sel_where place; /* in the script */
    const char *name;
    sel_point at;                  /* n == 0: not given */
    const struct sel_shape *where; /* NULL: not given */
    sel_quantity discharge;        /* m3/s */
} aqua_source;

/* The fields of sel.aqua. NaN: not given. */
typedef struct aqua_params {
    sel_common common;
    sel_quantity ground; /* m */
    sel_quantity alpha;
    int equilibrium, scheme;
    double min_head; /* m */
    aqua_initial initial;
    sel_quantity rain, infiltration;   /* mm/h */
    sel_list sources;                  /* of aqua_source */
    sel_variant nodata;                /* table == NULL: wall */
    double arrival_depth, depth_limit; /* m */
} aqua_params;

typedef struct aqua_law_open {
    double slope; /* NaN: not given */
} aqua_law_open;

typedef struct aqua_law_level {
    sel_quantity z; /* m */
} aqua_law_level;

extern const sel_table aqua_table, aqua_region_table, aqua_source_table;
extern const sel_table aqua_wall_table, aqua_open_table, aqua_level_table;
extern const sel_family aqua_law_family;

/* ---- cells ---- */

/* The arrays of beds and depths: a frame of two cells lies around the grid, so that the rule needs
 * no special case at its edges and for the ghosts there. Rows are a multiple of 128 bytes; column 0
 * is x = -2. */
typedef struct aqua_layout {
    int64_t nx, ny, pitch;
    int64_t cells; /* of the frame too: pitch (ny + 4) */
} aqua_layout;

/* The element of cell (x, y), -2 <= x < nx + 2, -2 <= y < ny + 2. */
static inline int64_t aqua_index(const aqua_layout *layout, int64_t x, int64_t y) {
    return (y + AQUA_HALO) * layout->pitch + x + AQUA_HALO;
}

/* x and y of element `at`, and the number of its cell. */
static inline int64_t aqua_column(const aqua_layout *layout, int64_t at) {
    return at % layout->pitch - AQUA_HALO;
}
static inline int64_t aqua_row(const aqua_layout *layout, int64_t at) {
    return at / layout->pitch - AQUA_HALO;
}
static inline int64_t aqua_cell_number(const aqua_layout *layout, int64_t at) {
    return aqua_row(layout, at) * layout->nx + aqua_column(layout, at);
}

/* That row; of an element beyond the domain the row beside it, of the same block and rank. */
static inline int64_t aqua_row_beside(const aqua_layout *layout, int64_t at) {
    const int64_t y = aqua_row(layout, at), last = layout->ny - 1;
    return y < 0 ? 0 : y > last ? last : y;
}

/* Neighbour k of cell (x, y) is (x + aqua_around[k][0], y + aqua_around[k][1]). */
#define AQUA_OFFSET(k, dx, dy) {dx, dy},
static const int aqua_around[AQUA_AROUND][2] = {AQUA_NEIGHBOURS(AQUA_OFFSET)};
#undef AQUA_OFFSET

/* ---- the plan ---- */

/* Ghost cells: cells whose depth is not a result of the flow. They lie beyond an open face or one
 * with a level, or are painted so, or are the outline of NODATA. Open ones are dry before every
 * step, on a bed to which water falls; the others stand at their level. What the flow adds to them
 * has left the domain. All other cells without ground, the frame among them, have a bed of
 * AQUA_NO_GROUND. */
enum { AQUA_FIRSTS = SEL_REGION_NUMBERS + 2 };
typedef struct aqua_ghosts {
    int64_t count;
    bool inside;   /* some are cells of the grid */
    double *x, *y; /* where their law is evaluated */
    /* Sorted by region: those of region r are first[r] ... first[r + 1] - 1. */
    aqua_ghost *v;
    int64_t first[AQUA_FIRSTS];
    /* The edges from free cells into ghosts; those of region r begin at first_edge[r]. */
    aqua_edge *edge;
    int64_t first_edge[AQUA_FIRSTS];
} aqua_ghosts;

/* A source. */
typedef struct aqua_inlet {
    sel_where where;           /* in the script */
    char name[48];             /* for columns */
    int64_t first_cell, cells; /* the number of its first cell, and how many */
} aqua_inlet;

/* The way of water to the nearest open face or level; metres. */
typedef struct aqua_way {
    double length;   /* infinity or 0: there is none */
    double along[2]; /* the way */
    double fall;     /* from the ground at its beginning to the bed, or the level, at its end */
    double width;    /* of the source, across the way; of rain 0 */
} aqua_way;

/* Cells whose outflow is computed again: beds of the nine cells about each, row by row, in quanta;
 * and alpha. */
enum { AQUA_ABOUT = 9 };
typedef struct aqua_audit_cell {
    float bed[AQUA_ABOUT], alpha;
} aqua_audit_cell;
typedef struct aqua_audit {
    sel_audited of;
    aqua_audit_cell v[SEL_AUDITED];
    sel_audit_reads reads; /* the depths about each */
    int64_t cell[AQUA_ABOUT * SEL_AUDITED];
} aqua_audit;

typedef struct aqua_plan {
    sel_plan base;
    const aqua_params *params;
    aqua_layout layout;
    const double *ground; /* [ny][nx] m; arbitrary in walls, NaN where there are no data */
    double *own_ground;   /* the same; NULL: it is the raster of the scenario */
    double *alpha;        /* [ny][nx]; NULL: the same everywhere */
    double largest_alpha, smallest_alpha;
    double lowest;  /* m: ground of free cells */
    double deepest; /* m: the depth that is expected */
    aqua_ghosts ghosts;
    aqua_source_cell *source_cells; /* of all sources, sorted by cell, those of one by source */
    int64_t source_cell_count;
    aqua_inlet *inlets;
    int source_count;
    sel_inputs inputs; /* rain, infiltration, sources, levels; `which`: see aqua_state.values */
    int supply[AQUA_SUPPLIES]; /* the first two in that list; -1: not given */
    aqua_way *ways;            /* [source_count + 1]: of the sources, then of rain */
    unsigned levels_depend;    /* as base.depends */
    /* Of the f32 store: a metre has 2^bits quanta, beds count from datum, m. */
    int bits; /* 0: not chosen yet */
    double datum;
    aqua_audit audit;
} aqua_plan;

/* Bits of the f32 store: quanta of 2^-26 m unless depths need more room, and the coarsest. */
enum { AQUA_MOST_BITS = 26, AQUA_LEAST_BITS = 8 };

aqua_store aqua_store_of(const aqua_plan *plan);

/* The greatest depth in quanta: all eight neighbours may give alpha times their depth, which rain
 * and sources have raised to a 32nd above it at most. */
double aqua_most_quanta(const aqua_plan *plan);

/* The error of a depth beyond the store's limit, at a cell, after `step` steps. */
sel_status aqua_too_deep(const aqua_plan *plan, int64_t step, int64_t cell, sel_error *error);

extern const sel_solver aqua_solver;
extern const struct sel_cpu aqua_on_cpu;
extern const struct cuda_solver aqua_on_cuda;

/* ---- ghosts and their levels ---- */

/* Fills plan->ghosts; plan->ground must be there. */
sel_status aqua_ghosts_create(aqua_plan *plan, sel_error *error);

/* Whether the law of a region makes ghosts; and its law if it is a level, else NULL. */
bool aqua_passes(const sel_domain *domain, int region);
const aqua_law_level *aqua_level_of(const sel_domain *domain, int region);

/* ---- inputs: mm/h and m3/s, at the middle of a step; levels, m, at its beginning ---- */

/* Fills plan->inputs, inlets and source_cells; the ghosts must be there. */
sel_status aqua_inputs_create(aqua_plan *plan, sel_error *error);
/* Sets the most rain of a step; the quantum must be chosen. */
void aqua_inputs_bound(aqua_plan *plan);

/* Rain or infiltration; NULL: not given. */
static inline const sel_input *aqua_supply_of(const aqua_plan *plan, int k) {
    return plan->supply[k] < 0 ? NULL : &plan->inputs.v[plan->supply[k]];
}
/* Whether it is given, and a field; or the same in all cells. */
static inline bool aqua_is_field(const aqua_plan *plan, int k) {
    return plan->supply[k] >= 0 && aqua_supply_of(plan, k)->kind == SEL_INPUT_IN_CELLS;
}
static inline bool aqua_is_uniform(const aqua_plan *plan, int k) {
    return plan->supply[k] >= 0 && !aqua_is_field(plan, k);
}

/* `which` of all levels. */
static inline int aqua_level_number(const aqua_plan *plan) {
    return AQUA_SUPPLIES + plan->source_count;
}
/* How many values are evaluated for an input that is not in cells. */
static inline int64_t aqua_values_of(const sel_input *input) {
    return input->kind == SEL_INPUT_UNIFORM ? 1 : input->count;
}

/* Units of the store per step in a rate of 1 mm/h, or a discharge of 1 m3/s. */
double aqua_unit_of(const aqua_plan *plan, int which);

/* Fills plan->ways, on all ranks together; all else of the plan must be there. */
sel_status aqua_ways_create(aqua_plan *plan, sel_error *error);

/* Finds the numbers of the audit, in all ranks; sel_solver.audit_reads and audit. */
sel_status aqua_audit_find(aqua_plan *plan, sel_error *error);
const sel_audit_reads *aqua_audit_reads(const sel_plan *plan);
bool aqua_audit_step(const sel_state *state, int64_t step, const double *const *values, int k,
                     sel_audit *found);

/* sel_solver.warn */
void aqua_warn(const sel_plan *plan, sel_error *warnings);

/* sel_solver.ahead */
sel_status aqua_ahead(const sel_plan *plan, int64_t step, sel_error *error);

#endif
