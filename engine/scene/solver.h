/* solver.h -- the interface of a solver to the run loop: its tables, its plan, its backends.
 *
 * A solver is a sel_solver: the list of its fields, and functions that turn a simulation into a
 * plan (numbers resolved, boundary cells listed). A backend runs a plan: a small table of
 * functions, one for the CPU and one for each kind of device. The run loop and the outputs know
 * nothing else of either.
 */
#ifndef SEL_SOLVER_H
#define SEL_SOLVER_H

#include "engine/scene/audit.h"
#include "engine/base/sums.h"

/* A field that outputs can name. */
typedef enum sel_field_rank {
    SEL_VECTOR, /* a component per dimension */
    SEL_SCALAR,
    SEL_CURL,  /* of a vector: one number in 2-D, a vector in 3-D */
    SEL_TENSOR /* symmetric: xx yy xy in 2-D, xx yy zz xy yz xz in 3-D */
} sel_field_rank;

enum { SEL_MAX_COMPONENTS = 6 };

typedef struct sel_field_info {
    const char *name;
    sel_field_rank rank;
    const char *unit; /* "m", "length/time (SI: m/s)" */
    const char *doc;  /* one sentence */
    bool observed;    /* available after an observed step only (sel_backend.advance) */
} sel_field_info;

int sel_field_components(const sel_field_info *info, int dims);

/* "x" or "xy": the suffix of component c of a field with several. */
const char *sel_field_suffix(const sel_field_info *info, int dims, int c);

/* The link from cell (x, y), which may be the first beyond a face, to cell (x, y) + sel_link_to[k]
 * crosses a line: to its left (1) or to its right (-1). */
enum { SEL_LINKS = 4 };
extern const int sel_link_to[SEL_LINKS][2];
typedef struct sel_link {
    int64_t x, y;
    int k, sign;
} sel_link;

/* A line in 2-D, and which of the plan's links cross it. */
typedef struct sel_line {
    double ends[2][2];
    int64_t first, count;
} sel_line;

/* A plan holds everything that a backend needs: a struct of the solver that begins with this. */
typedef struct sel_plan {
    const sel_simulation *simulation;
    const sel_domain *domain;
    int precision;
    bool chose_double; /* it was auto, and is f64 */
    int threads;
    const struct sel_ranks *ranks; /* engine/base/ranks.h: who computes it; NULL: this process */
    int across;                    /* of these lie beside each other along y (machine/comm.h) */
    int device;                    /* its number, of a backend that has several */
    double density;                /* user's units, of the coefficients of forces; 0: 1 */
    int64_t dt_steps;              /* dt changes at multiples of so many steps; 0: it stays */
    unsigned depends; /* on SEL_ON_T, SEL_ON_CONTROLS: all that is evaluated before a step */
    const struct sel_inputs *inputs; /* engine/machine/inputs.h; NULL: none */
    struct sel_conduction *body;     /* engine/machine/conduction.h; NULL: nothing is conducted */
    /* Set before create: requests to come that cost time in every step. */
    bool wants_balance;     /* balance terms */
    unsigned wants_fields;  /* bit f: the field f */
    bool wants_links;       /* forces on regions, or fluxes through them */
    bool wants_forces;      /* with wants_links: forces */
    bool wants_mean_change; /* SEL_MEAN_CHANGE */
    sel_line *lines;        /* and SEL_FLUX across these, for solvers without a flux_field */
    sel_link *links;        /* that cross them */
    int line_count;
    int64_t link_count;
} sel_plan;

/* One line of `selenite check`: a text, or a number in the user's units and in lattice units. */
typedef struct sel_fact {
    const char *name; /* "tau" */
    char text[96];    /* empty: the numbers are shown */
    double user, lattice;
} sel_fact;

/* What a term of a balance is, beside a column of out.balance. */
typedef enum sel_term_kind {
    SEL_TERM_NOTED,
    SEL_TERM_CONTENT, /* what there is of what is conserved */
    SEL_TERM_IN,      /* what has come in since step 0, */
    SEL_TERM_OUT,     /* and what has left */
    SEL_TERM_ERROR    /* the amount that appeared from nowhere (sel_solver.balance_of_step) */
} sel_term_kind;

/* A term of the solver's balance. Units: the user's. */
typedef struct sel_term {
    sel_term_kind kind;
    char name[64];
    double value;
} sel_term;

/* Amounts that came in, went out, appeared from sources, and by which the content changed:
 * magnitudes. */
typedef struct sel_turnover {
    double in, out, source, change;
} sel_turnover;

enum { SEL_MAX_TERMS = 600, SEL_MAX_FACTS = 32 };

typedef struct sel_facts {
    int count;
    sel_fact v[SEL_MAX_FACTS];
} sel_facts;

typedef enum sel_request_kind {
    SEL_READ,       /* a field on a box of cells, or on a list of cells */
    SEL_REDUCE,     /* sum, min, max and sum of squares of a field over the free cells of a box */
    SEL_MONITOR,    /* change of the main field since the last monitor; cells that have diverged */
    SEL_BALANCE,    /* the solver's balance terms */
    SEL_FORCE,      /* force and torque of the fluid on a region: the mean of the last two steps */
    SEL_FLUX,       /* flux out through a region, or across a line, in the last step */
    SEL_MEAN_CHANGE /* change of the mean of the main field in the last step */
} sel_request_kind;

/* A query of the present state. start() may return before the answer is there, finish() waits for
 * it; the request must live until then, and several may be under way. Values are in
 * the user's units; fields are 0 in solid cells. */
typedef struct sel_request {
    sel_request_kind kind;
    int field; /* READ, REDUCE: index in solver->fields */
    sel_box box;

    /* READ: to[cell][components], x fastest; a vector is padded with zeros to `components` */
    const int64_t *cells; /* NULL: the box; else cell numbers (x fastest over the whole grid) */
    int64_t cell_count;
    int precision; /* SEL_F32 or SEL_F64: of the numbers in `to` */
    int components;
    void *to;
    bool stays; /* of several ranks each asks for a box of its own, in its own rows */

    /* REDUCE, by component */
    /* NaN in a cell makes each of them NaN. */
    double sum[SEL_MAX_COMPONENTS], min[SEL_MAX_COMPONENTS], max[SEL_MAX_COMPONENTS];
    double sum_of_squares[SEL_MAX_COMPONENTS];
    int64_t count;

    /* MONITOR, of free cells; with only_bad_cell the change is not computed and u_before is kept.
     * Cells are given by number, the first of several; -1: none. */
    bool only_bad_cell;
    double change; /* ||u - u_before||_2 / ||u||_2; NaN the first time and for zero fields */
    int64_t bad_cells, bad_cell; /* cells that are not finite, and the first; of the others: */
    double largest;              /* the largest magnitude of the main field, 0 for no cells, */
    int64_t largest_cell;
    double smallest; /* and the smallest density, or depth; infinity for no cells */
    int64_t smallest_cell;

    /* BALANCE: terms[0..term_count); of balances of a step, or of a steady body, the amounts of it
     */
    sel_term *terms;
    int term_count;
    sel_turnover turnover;

    /* FORCE, FLUX; before the first step, of the step to come */
    bool unobserved;   /* answer, also to READ, REDUCE, MEAN_CHANGE: the step was not observed */
    int region;        /* number, 1-based; 0, of FLUX by solvers without a flux_field: the line, */
    double line[2][2]; /* one of the plan's; from, to; positive to the left */
    double centre[3];  /* FORCE: of the torque */
    /* per unit depth in 2-D, where the torque is torque[2] */
    double force[3], torque[3];
    /* FORCE: change of the force from the step before the last to the last, zero where only one is
     * known; and the sum of the magnitudes of what its cells contribute to the force */
    double force_change[3], force_size;
    double flux; /* positive out of the domain; mass per time for flow, per unit depth in 2-D */

    double
        mean_change; /* MEAN_CHANGE: |mean - mean one step before|; NaN: not known, as at step 0 */
} sel_request;

typedef struct sel_state sel_state; /* a backend's own */

/* How an iteration has ended: by success; by its own failure, which leaves a state to look at. */
typedef enum sel_end {
    SEL_GOES_ON,
    SEL_CONVERGED,
    SEL_STAGNATED,
    SEL_OUT_OF_ITERATIONS,
    SEL_ITERATION_DIVERGED
} sel_end;

typedef struct sel_ending {
    sel_end how;
    char why[256]; /* for users */
} sel_ending;

/* What a plan comes to in one of its ranks: bytes of memory; those that it sends and receives in an
 * exchange, 0 where it computes all of the grid; its planes, first <= p < end, and in 3-D of these
 * the rows low <= y < high. */
typedef struct sel_share {
    uint64_t memory, halo;
    int64_t first, end, low, high;
} sel_share;

typedef struct sel_backend {
    const char *name; /* "cpu", "cuda" */
    /* How many devices there are to choose from. NULL: nothing to choose. */
    int (*devices)(void);
    /* What joins two of them: "NVLink". With `devices` only. */
    const char *(*link)(int device, int other);
    /* Whether it can run here, and the bytes that are free where it keeps its state; fails with
     * SEL_NO_DEVICE and the reason. */
    sel_status (*probe)(int device, uint64_t *free_bytes, sel_error *error);
    /* Whether it has what this solver needs beside a device; else as `probe`. NULL: always. */
    sel_status (*serves)(const struct sel_solver *solver, sel_error *error);
    /* Bytes per second, read and written, of a large copy. */
    double (*bandwidth)(int device, int threads);
    /* What create() will allocate, and what a rank has to do. */
    sel_share (*estimate)(const sel_plan *plan);
    /* Allocates everything and sets the initial state, step 0. */
    sel_status (*create)(const sel_plan *plan, sel_state **state, sel_error *error);
    /* Advances by n steps; `observed`: the last of them gathers forces, fluxes through links and
     * strain as far as the plan wants them, and so does the one before it for forces, the mean of
     * two steps. If n is 1, that is the step before, if it was observed, too. Step 0 is observed.
     * Fails when a law's function fails.
     * May return before the steps are done; requests started later see the state after them. */
    sel_status (*advance)(sel_state *state, int64_t n, bool observed, sel_error *error);
    /* Of solvers that iterate: whether the iteration has ended, at the step `whole`, which may be
     * before the end of an advance. NULL: none does. */
    const sel_ending *(*ending)(const sel_state *state);
    /* The step of the state that requests read; after a failed advance that of the last complete
     * state, -1: there is none. */
    int64_t (*whole)(const sel_state *state);
    /* When the steps to come are taken; finds their dt where it changes. NULL: all are of the
     * grid's dt. */
    sel_status (*clock)(sel_state *state, sel_clock *clock, sel_error *error);
    /* Waits until all steps are done. NULL: advance does them itself. */
    sel_status (*wait)(sel_state *state, sel_error *error);
    /* The steps that are known to be done and the seconds that they took by themselves. NULL: those
     * of advance. */
    void (*done)(const sel_state *state, int64_t *steps, double *seconds);
    sel_status (*start)(sel_state *state, sel_request *request, sel_error *error);
    sel_status (*finish)(sel_state *state, sel_request *request, sel_error *error);
    /* Brings the saved arrays up to date before they are read. NULL: they always are. */
    sel_status (*saving)(sel_state *state, sel_error *error);
    /* Before the saved arrays are set. NULL: nothing. */
    sel_status (*loading)(sel_state *state, sel_error *error);
    /* Derives what is not saved, after the saved arrays have been set. */
    sel_status (*loaded)(sel_state *state, sel_error *error);
    /* Back to step 0, of solvers that iterate. */
    sel_status (*restart)(sel_state *state, sel_error *error);
    void (*destroy)(sel_state *state); /* NULL is fine */
    /* Prints the code that it makes of a plan. NULL: it makes none. */
    void (*print)(const sel_plan *plan, FILE *to);
    /* What it runs on, for run.json: "AMD EPYC, x86-64-v4". */
    void (*device)(int device, char *text, size_t size);
} sel_backend;

/* Bytes per cell: what a step reads and writes, what a monitor reads, and what a state holds. */
typedef struct sel_cell_bytes {
    double update, look, state;
} sel_cell_bytes;

typedef struct sel_solver {
    const char *name; /* "lbm": sel.lbm in scripts */
    const sel_table *table;
    const sel_family *laws;
    const sel_field_info *fields;
    int field_count;
    int main_field;      /* of stop.steady and the NaN test */
    int flux_field;      /* the vector that out.flux integrates over lines and planes; -1: none, and
                            SEL_FLUX knows lines */
    bool no_forces;      /* SEL_FORCE is not supported */
    bool no_fluxes;      /* nor is SEL_FLUX */
    bool double_only;    /* it computes in f64 */
    bool metres;         /* it takes lengths in metres: the script's rasters are turned into them */
    bool counts_changes; /* the main field is of whole numbers: the change between monitors is the
                            part of the cells that changed */
    bool balance_of_step;  /* SEL_BALANCE needs an observed step; its error is of that step, of
                              others since step 0 */
    bool iterates;         /* steps are iterations, and a balance begins with their residual */
    const char *conserved; /* "heat": what the balance of a solver with surfaces calls it */
    /* The number of dimensions that these parameters require. NULL: any. */
    int (*dims)(const sel_common *params);
    /* Completes what the scenario left open (a grid given by its data). NULL: nothing. */
    void (*complete)(sel_common *params);
    /* The simulation with a solver of its own, in the arena: with the fields that this scenario
     * describes. NULL: all have the same. */
    sel_status (*adapt)(const sel_simulation *simulation, int precision, sel_arena *arena,
                        const sel_simulation **own, sel_error *error);
    /* Sets blank[cell] = 1 at free cells where data are missing, and the law of the region "nodata"
     * that these cells become; it gets none when no data can be missing. NULL: there are no such
     * data. */
    sel_status (*blank)(const sel_simulation *simulation, const sel_domain *domain, int threads,
                        uint8_t *blank, sel_region *gaps, sel_error *error);
    /* Whether a region makes its cells solid; NULL: all do. */
    bool (*solid)(const sel_simulation *simulation, const sel_domain *domain, int region);
    size_t plan_size;
    /* Completes a plan whose base is set: resolves the numbers, lists the boundary cells, and
     * checks the whole. */
    sel_status (*plan)(sel_plan *plan, sel_error *error);
    /* The time step of a plan whose script gives none (dt has a preset of NaN). NULL: it must. */
    double (*time_step)(const sel_plan *plan);
    /* Frees its members. NULL: nothing. */
    void (*plan_clear)(sel_plan *plan);
    void (*facts)(const sel_plan *plan, sel_facts *facts);
    /* Appends warnings about a plan that can be run, with advice, a line each. */
    void (*warn)(const sel_plan *plan, sel_error *warnings);
    /* Evaluates what varies in time as in the step from `step` to step + 1, and fails as that
     * would. A field may be evaluated at some of its places only. */
    sel_status (*ahead)(const sel_plan *plan, int64_t step, sel_error *error);
    /* Writes the entries of run.json that only this solver has, as `"key": value` pairs separated
     * by ", ". */
    void (*json)(const sel_plan *plan, FILE *to);
    /* Whether a monitor found a finite value that the solver's state cannot have (a density below
     * 0): its cell, and the value as "the density is -0.2". NULL: there is no such value. */
    bool (*impossible)(const sel_plan *plan, const sel_request *monitor, int64_t *cell, char *text,
                       size_t size);
    /* Where laws alone bring mass into the domain or take it out, so that its mass is known ahead:
     * what they bring from one step to another, as a sum of `mass_field` over cells. False: the
     * flow chooses what passes some face. NULL: no mass is watched. */
    bool (*brought)(const sel_plan *plan, int64_t from, int64_t to, double *mass);
    int mass_field;
    /* Why such a mass may drift: a sentence for the user, without its full stop. False: no law lets
     * any through. */
    bool (*mass_cause)(const sel_plan *plan, char *text, size_t size);
    /* Of solvers whose precision may be auto: whether the run as planned needs f64. */
    bool (*needs_double)(const sel_plan *plan);
    /* The audit of steps in single precision. NULL: there is none. Lists what it needs, as the plan
     * has it; NULL: this plan needs no audit. */
    const sel_audit_reads *(*audit_reads)(const sel_plan *plan);
    /* The changes of number k of what is audited, in the step from `step`, from values at that
     * step: values[f][cell][component] of what it needs. False: there are no more. */
    bool (*audit)(const sel_state *state, int64_t step, const double *const *values, int k,
                  sel_audit *found);
    /* What a step should do with a field: "add to"; why it misses that, and what to take besides
     * f64: "a larger dt". */
    const char *audit_does, *audit_why, *audit_advice;
    /* The speed of sound, user's units. NULL: there is none. */
    double (*sound)(const sel_plan *plan);
    /* The meaning of the state's numbers beyond size and precision, "D2Q9": a checkpoint with
     * another text is refused. NULL: none. */
    void (*state_text)(const sel_plan *plan, char *text, size_t size);
    /* The fields of which sel.state makes an initial state, as the table `initial` calls them; ends
     * with NULL. NULL: none. */
    const char *const *initial_fields;
    /* Why a run may have diverged: a sentence for the user, without its full stop. */
    const char *advice;
    /* What to do where the force of SEL_FORCE alternates from step to step. NULL: nothing. */
    const char *force_advice;
    /* The same, found for this run. NULL: it is `advice`. */
    void (*hint)(const sel_plan *plan, double largest, char *text, size_t size);
    sel_cell_bytes (*bytes)(const sel_common *params, int precision);
    /* Whether a device can run this simulation; else why not. NULL: any. */
    sel_status (*portable)(const sel_simulation *simulation, sel_error *error);
    const sel_backend *cpu;
    const sel_backend *cuda; /* NULL: none, or built without it */
    /* The solver on sel_cpu_backend (engine/machine/cpu.h) and cuda_backend
     * (cuda/machine/backend.h). */
    const struct sel_cpu *on_cpu;
    const struct cuda_solver *on_cuda;
    /* The values of `field` that the law of a region fixes on the face itself (a wall: its
     * velocity), at one place, user's units; *known: whether it fixes them. For profiles that end
     * at a wall. NULL: no law fixes any. */
    sel_status (*wall_value)(const sel_plan *plan, int field, int region, const sel_places *at,
                             bool *known, double *out, sel_error *error);
    /* A volume with such a law has the value in its cells too: pictures show it there. */
    bool volumes_have_values;
} sel_solver;

/* The plan of the simulation's solver in a precision (SEL_PRECISION_AUTO: that which the plan
 * needs); sets dt where the solver finds it. */
sel_status sel_plan_create(const sel_simulation *simulation, sel_domain *domain, int precision,
                           sel_plan **plan, sel_error *error);
void sel_plan_destroy(sel_plan *plan); /* NULL is fine */

/* Adds to plan->lines, before create, and sets wants_links. */
sel_status sel_plan_line(sel_plan *plan, const double from[2], const double to[2],
                         sel_error *error);
/* The one of a SEL_FLUX. */
const sel_line *sel_plan_line_of(const sel_plan *plan, const sel_request *request);

/* Whether something that a plan wants, or that a request asks for, needs an observed step. */
bool sel_plan_observes(const sel_plan *plan);
/* The last steps of an observed advance that must be observed: 0, 1, or with forces 2. */
int sel_plan_observed_steps(const sel_plan *plan);
bool sel_request_observes(const sel_plan *plan, const sel_request *request);

/* Appends a text, as printf does. */
void sel_fact_add(sel_facts *facts, const char *name, const char *format, ...) SEL_PRINTF(3, 4);

/* Fills the answer of a SEL_MONITOR, in the units of `found`. */
void sel_request_watched(sel_request *request, const sel_watched *found);

/* Appends a term called prefix + name to the answer of a SEL_BALANCE, or adds to the one of that
 * name: regions of one name are added up. Terms beyond SEL_MAX_TERMS are dropped. */
void sel_request_term(sel_request *request, sel_term_kind kind, const char *prefix,
                      const char *name, double value);

/* The device's backend of all solvers that have an on_cuda, in builds with it. */
extern const sel_backend cuda_backend;

/* All solvers, ends with NULL. */
extern const sel_solver *const sel_solvers[];

/* Index in solver->fields of "velocity", or of "velocity_x" with *component = 0 (-1: all).
 * -1 when the solver has no such field. */
int sel_solver_field(const sel_solver *solver, int dims, const char *name, int *component);

#endif
