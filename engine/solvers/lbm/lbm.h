/* lbm.h -- lattice Boltzmann flow: what a scenario gives, and the plan that backends run. */
#ifndef LBM_H
#define LBM_H

#include "engine/core/inputs.h"
#include "engine/solvers/lbm/lbm_boundary.h"
#include "engine/scene/solver.h"

/* Where a wall lies. LBM_AUTO: interpolated, if links meet its surface elsewhere than half-way.
 * LBM_PARABOLIC: half-way, also on a curved profile. */
enum { LBM_HALFWAY, LBM_ZOU_HE, LBM_INTERPOLATED, LBM_AUTO, LBM_PARABOLIC, LBM_WALLS };
enum { LBM_COLLISION_NOT_GIVEN = -1 }; /* lbm_collision_of chooses the operator */
extern const lbm_lattice lbm_lattices[LBM_LATTICES];
extern const char *const lbm_lattice_names[], *const lbm_collision_names[], *const lbm_wall_names[];

/* The Reynolds number of a cell, U dx / nu, up to which each collision operator is counted on: half
 * the largest up to which 20,000 steps ran, on 20 cells across in f32, at U = 0.05 from a start at
 * once; 200 is the largest tried, and hybrid counts by a cube of 64 cells at U = 0.1 in 3-D.
 * Between walls: a lid-driven cavity. With open faces: the least of a duct and a bar in a stream.
 * scenarios/validation/cell_reynolds.lua runs all at twice these numbers.
 * Columns: between walls in 2-D, in 3-D; with open faces in 2-D, in 3-D. */
#define LBM_CELL_REYNOLDS(ROW)       \
    ROW(trt, 13, 13, 5, 3)           \
    ROW(bgk, 7, 7, 2, 1)             \
    ROW(regularized, 10, 9, 22, 15)  \
    ROW(recursive, 40, 20, 100, 100) \
    ROW(hybrid, 100, 25, 100, 100)

typedef struct lbm_initial {
    sel_quantity velocity, pressure, density; /* components == 0: not given */
} lbm_initial;

/* where NULL: there is none. */
typedef struct lbm_sponge_params {
    const struct sel_shape *where;
    double thickness, pressure;
    sel_quantity velocity; /* components == 0: at rest */
} lbm_sponge_params;

/* The fields of sel.lbm. Units: the user's. NaN: not given. */
typedef struct lbm_params {
    sel_common common;
    int lattice, collision, storage; /* storage: SEL_STORE_AUTO ... */
    double nu, tau;                  /* one of them */
    double magic;
    double smagorinsky; /* NaN: none */
    sel_quantity acceleration;
    sel_drive drive;
    lbm_sponge_params sponge;
    double density;
    lbm_initial initial;
} lbm_params;

typedef struct lbm_law_wall {
    sel_quantity velocity; /* components == 0: at rest */
    int scheme;
} lbm_law_wall;

/* relaxation: K of engine/solvers/lbm/lbm_absorbing.h; not above 0: by the length of the domain. */
typedef struct lbm_law_velocity {
    sel_quantity velocity;
    bool absorbing;
    double relaxation;
} lbm_law_velocity;

typedef struct lbm_law_pressure {
    sel_quantity pressure;
    bool absorbing;
    double relaxation;
} lbm_law_pressure;

typedef struct lbm_law_far_field {
    sel_quantity velocity;
    double relaxation;
} lbm_law_far_field;

/* K of engine/solvers/lbm/lbm_closure.h, likewise. */
typedef struct lbm_law_outflow {
    double relaxation;
} lbm_law_outflow;

/* The parameters of a flow in lattice units (dx = dt = density = 1). */
typedef struct lbm_numbers {
    double nu, tau;
    double omega_even, omega_odd; /* equal but for TRT */
    double magic;
    double eddy;            /* 18 sqrt2 C^2 of Smagorinsky's constant C; 0: without the model */
    double acceleration[3]; /* zero where it depends on place, time or controls */
    /* One lattice unit of each in the user's units; pressure is density cs2 (rho - 1) (dx/dt)^2. */
    double velocity_unit, density_unit, pressure_unit;
} lbm_numbers;

/* What laws and the initial state show before a run (lbm_find_extremes). User's units. `velocity`:
 * the largest that is given: by the reference, by laws (sampled over the run) or by the initial
 * state (sampled at some cells). The others: minimum and maximum of 0 and of the gauge pressures
 * that laws give, sampled over the run. */
typedef struct lbm_extremes {
    double velocity, lowest, highest;
} lbm_extremes;

/* A layer along faces that waves fade in (lbm_sponge.c). */
typedef struct lbm_sponge {
    unsigned faces;         /* a bit for each that it lies along; 0: there is none */
    double thickness;       /* in cells */
    double drho;            /* that it holds, lattice units */
    sel_sites sites;        /* its free cells, */
    lbm_sponge_cell *cells; /* [sites.count] row by row */
    int64_t *row_first;     /* [rows + 1] the first cell of each row of the patch */
} lbm_sponge;

typedef struct lbm_plan {
    sel_plan base;
    const lbm_params *params;
    sel_quantity acceleration; /* that of the parameters, and along its axis that of the drive */
    sel_function driven;       /* its component: the last control */
    lbm_numbers numbers;
    int collision;  /* LBM_TRT ... */
    bool moments;   /* are stored, not populations */
    int components; /* numbers of a cell that are stored */
    lbm_boundary boundary;
    lbm_sponge sponge;
    sel_inputs inputs;     /* acceleration and laws at the places of the rank's patch */
    sel_inputs everywhere; /* the same at all places of the grid; rank 0 alone has them */
    lbm_extremes extremes; /* found when the plan was made: for ranks without all places */
} lbm_plan;

/* The operator of these parameters, LBM_TRT ...: by default hybrid, and trt where populations are
 * to be stored. */
int lbm_collision_of(const lbm_params *params);

/* Whether moments are stored, by parameters. */
bool lbm_stores_moments(const lbm_params *params);

/* Bytes of a stored number; element `at` of an array of such numbers, and storing it. */
static inline int64_t lbm_real(const sel_plan *plan) {
    return plan->precision == SEL_F32 ? 4 : 8;
}
static inline double lbm_get(const lbm_plan *plan, const void *from, int64_t at) {
    return plan->base.precision == SEL_F32 ? (double)((const float *)from)[at]
                                           : ((const double *)from)[at];
}

extern const sel_solver lbm_solver;
extern const struct sel_cpu lbm_on_cpu;
extern const struct cuda_solver lbm_on_cuda;

extern const sel_table lbm_table, lbm_region_table;
extern const sel_table lbm_wall_table, lbm_velocity_table, lbm_pressure_table, lbm_outflow_table,
    lbm_far_field_table, lbm_slip_table;
extern const sel_family lbm_law_family;
enum { LBM_LAWS = 6 };

/* sel_solver.drive */
const sel_drive *lbm_drive(const sel_common *params);

/* Sets the acceleration of a plan whose domain is made, and refuses a drive that does not fit. */
sel_status lbm_resolve_drive(lbm_plan *plan, sel_error *error);

/* Finds the cells of the sponge, for a plan whose boundary and numbers are known. All ranks must
 * call it. */
bool lbm_has_sponge(const lbm_plan *plan);
sel_status lbm_sponge_create(lbm_plan *plan, sel_error *error);
void lbm_sponge_free(lbm_sponge *sponge);
void lbm_sponge_facts(const lbm_plan *plan, sel_facts *facts);
/* Warns of a layer at rest in a flow; velocity: the largest that is given, the user's units. */
void lbm_warn_of_sponge(const lbm_plan *plan, double velocity, sel_error *warnings);

/* Refuses a lattice whose number of dimensions is not that of the size. */
sel_status lbm_check_lattice(const lbm_params *params, sel_where where, sel_error *error);

/* Refuses an operator and a storage that do not go together; `option` is what the user gave for the
 * storage. */
sel_status lbm_check_storage(const lbm_params *params, const char *option, sel_where where,
                             sel_error *error);

/* sel_solver.facts, .warn, .json, .viscosity and .hint. */
double lbm_kinematic_viscosity(const sel_plan *plan);
void lbm_facts(const sel_plan *plan, sel_facts *facts);
void lbm_warn(const sel_plan *plan, sel_error *warnings);
void lbm_json(const sel_plan *plan, FILE *to);
void lbm_hint(const sel_plan *plan, double largest, char *text, size_t size);

/* ---- what laws and initial state show before a run: lbm_samples.c ---- */

/* On ranks other than 0 those of when the plan was made. */
lbm_extremes lbm_find_extremes(const lbm_plan *plan);

/* Period of the slowest sound, 4 L / c_s in steps, with L the longest axis that has an open face;
 * 0: there is none. */
double lbm_sound_period(const lbm_plan *plan);

/* Of domains with such faces: whether sound along each axis stays, and its period. */
void lbm_sound_facts(const lbm_plan *plan, sel_facts *facts);

/* Warns of velocities that start at once or rise within less than this period, of runs shorter
 * than it, and of slip sides that keep sound; returns whether a velocity starts at once. */
bool lbm_warn_of_sound(const lbm_plan *plan, sel_error *warnings);

/* The steps at which laws that vary are sampled: sample 0 at the first, LBM_SAMPLES at `end`. */
enum { LBM_SAMPLES = 16 };
double lbm_sample_step(int sample, double end);

/* ---- the mass of a domain: lbm_mass.c ---- */

/* Whether fluid passes some face as the flow wants: law.pressure, law.outflow, law.far_field.
 * Nothing else holds the mean density where fluid passes faces. */
bool lbm_has_free_face(const lbm_plan *plan);

/* Warns of domains without such a face whose laws let mass in or out. */
void lbm_warn_of_mass(const lbm_plan *plan, sel_error *warnings);

/* sel_solver.brought and .mass_cause. */
bool lbm_brought(const sel_plan *plan, int64_t from, int64_t to, double *mass);
bool lbm_mass_cause(const sel_plan *plan, char *text, size_t size);

#endif
