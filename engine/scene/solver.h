/* solver.h -- the interface of a solver to the run loop: its tables, its plan, its backends.
 *
 * A solver is a sel_solver: the list of its fields, and functions that turn a simulation into a
 * plan (numbers resolved, boundary cells listed). A backend runs a plan: a small table of
 * functions, one for the CPU and one for each kind of device. The run loop and the outputs use
 * solvers and backends through these tables only.
 */
#ifndef SEL_SOLVER_H
#define SEL_SOLVER_H

#include "engine/base/sums.h"
#include "engine/scene/domain.h"

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

/* The suffix of component c of a field with several components: "x" or "xy". */
const char *sel_field_suffix(const sel_field_info *info, int dims, int c);

/* A crossing: the link from cell (x, y) to cell (x, y) + sel_link_to[k] crosses a line to its left
 * (sign 2; half of it 1) or to its right (-2, -1). Cell (x, y) may lie outside, by one cell. */
enum { SEL_LINKS = 4 };
extern const int sel_link_to[SEL_LINKS][2];
typedef struct sel_link {
    int64_t x, y;
    int k, sign;
} sel_link;

/* A line in 2-D, and the range of the plan's links that cross it. */
typedef struct sel_line {
    double ends[2][2];
    int64_t first, count;
} sel_line;

/* A mean velocity or flow rate that a run holds by a control of its own: an acceleration along an
 * axis, user's units (engine/run/run_drive.c). */
typedef struct sel_drive {
    double velocity, flow; /* one of them; NaN: not given. Both NaN: there is no drive */
    int axis;
    int64_t every; /* 0: there is no drive */
    int64_t from_step;
} sel_drive;

/* The mean velocity of the fluid that is held. */
double sel_drive_velocity(const sel_drive *drive, const sel_domain *domain);

/* What is known beside a place on a face: the free cell before it, the face of this cell, and the
 * values of a field at its centre (or at the height of the place). */
typedef struct sel_beside {
    int64_t cell;
    int face;
    const double *values;
} sel_beside;

/* A plan holds everything that a backend needs: a struct of the solver that begins with this. */
typedef struct sel_plan {
    const sel_simulation *simulation;
    const sel_domain *domain;
    int precision;
    bool chose_double; /* the precision was auto and became f64 */
    int threads;
    const struct sel_ranks *ranks; /* the ranks that compute the plan; NULL: this process */
    int ranks_y;                   /* argument of sel_decompose */
    int device;                    /* number of the device, for backends with several */
    double density;                /* of force coefficients, user's units; 0: a density of 1 */
    int64_t dt_steps;              /* dt changes at multiples of dt_steps; 0: dt is constant */
    unsigned depends; /* SEL_ON_T, SEL_ON_CONTROLS: what the values evaluated before a step use */
    const struct sel_inputs *inputs; /* engine/core/inputs.h; NULL: none */
    /* Set before create: the requests of the run that cost time in every step. */
    bool wants_balance;     /* balance terms */
    unsigned wants_fields;  /* bit f: the field f */
    bool wants_links;       /* forces on regions, or fluxes through them */
    bool wants_forces;      /* with wants_links: forces */
    bool wants_mean_change; /* SEL_MEAN_CHANGE */
    sel_line *lines;        /* lines of SEL_FLUX, for solvers without a flux_field */
    sel_link *links;        /* the crossings of all lines */
    int line_count;
    int64_t link_count;
} sel_plan;

/* One line of `selenite check`: a text, or a number in the user's units and in lattice units. */
typedef struct sel_fact {
    const char *name; /* "tau" */
    char text[96];    /* empty: the numbers are shown */
    double user, lattice;
} sel_fact;

/* The part of a term in the sum of a balance. */
typedef enum sel_term_kind {
    SEL_TERM_NOTED,   /* none: a column of out.balance only */
    SEL_TERM_CONTENT, /* the conserved amount in the domain */
    SEL_TERM_IN,      /* the amount that entered since step 0 */
    SEL_TERM_OUT,     /* the amount that left since step 0 */
    SEL_TERM_ERROR    /* the amount without a source (see sel_solver.balance_of_step) */
} sel_term_kind;

/* A term of the solver's balance, in the user's units. */
typedef struct sel_term {
    sel_term_kind kind;
    char name[64];
    double value;
} sel_term;

/* The magnitudes of the amounts of a balance: inflow, outflow, sources, change of the content. */
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

/* A query of the present state. start() may return before the answer is there; finish() waits for
 * it. The request must live until then. Several requests may be in progress. Values are in the
 * user's units; fields are 0 in solid cells. */
typedef struct sel_request {
    sel_request_kind kind;
    int field; /* READ, REDUCE: index in solver->fields */
    sel_box box;

    /* READ: to[cell][components], x fastest; a vector is padded with zeros to `components` */
    const int64_t *cells; /* NULL: the box; else cell numbers (x fastest over the whole grid) */
    int64_t cell_count;
    int precision; /* of the numbers in `to`: SEL_F32 or SEL_F64 */
    int components;
    void *to;
    bool stays; /* each rank reads a box of its own rows; false: rank 0 gets the whole box */

    /* REDUCE, by component; a NaN in a cell makes all of them NaN */
    double sum[SEL_MAX_COMPONENTS], min[SEL_MAX_COMPONENTS], max[SEL_MAX_COMPONENTS];
    double sum_of_squares[SEL_MAX_COMPONENTS];
    int64_t count;

    /* MONITOR, over the free cells. With only_bad_cell the change is not computed and u_before is
     * kept. A cell is the first of several, by number; -1: none. */
    bool only_bad_cell;
    double change; /* ||u - u_before||_2 / ||u||_2; NaN the first time and for zero fields */
    int64_t bad_cells, bad_cell; /* cells with a value that is not finite; the first of them */
    double largest;              /* largest magnitude of the main field in the other cells; 0: no
                                    cells */
    int64_t largest_cell;
    double smallest; /* smallest density or depth in the other cells; infinity: no cells */
    int64_t smallest_cell;

    /* BALANCE: terms[term_count], and the turnover of a step or of a steady body */
    sel_term *terms;
    int term_count;
    sel_turnover turnover;

    /* FORCE, FLUX; before the first step, those of the first step */
    bool unobserved;   /* answer, also of READ, REDUCE, MEAN_CHANGE: the step was not observed */
    int region;        /* number, from 1; 0 (FLUX, solvers without a flux_field): the flux across
                          `line` */
    double line[2][2]; /* from, to: one of the plan's lines; fluxes to its left are positive */
    double centre[3];  /* FORCE: the point about which the torque is taken */
    /* FORCE; in 2-D per unit depth, and torque[2] is the torque */
    double force[3], torque[3];
    /* FORCE: the change of the force in the last step (0 if only one step is known), and the sum of
     * the magnitudes of the contributions of the cells */
    double force_change[3], force_size;
    double flux; /* positive out of the domain; mass per time for flow, per unit depth in 2-D */

    /* MEAN_CHANGE: |mean - mean one step before|; NaN: unknown, as at step 0 */
    double mean_change;
} sel_request;

typedef struct sel_state sel_state; /* private to a backend */

/* How an iteration ended. A failed iteration leaves a state that can be read. */
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

/* The cost of a plan for one rank. */
typedef struct sel_share {
    uint64_t memory; /* bytes */
    uint64_t halo;   /* bytes sent and received per exchange; 0: the rank has the whole grid */
    sel_patch patch;
} sel_share;

typedef struct sel_backend {
    const char *name; /* "cpu", "cuda" */
    /* The number of devices. NULL: there is one, which need not be chosen. */
    int (*devices)(void);
    /* The interconnect of two devices: "NVLink". Set if `devices` is. */
    const char *(*link)(int device, int other);
    /* Whether the backend can run here, and the free bytes of the memory that holds its state.
     * Fails with SEL_NO_DEVICE and the reason. */
    sel_status (*probe)(int device, uint64_t *free_bytes, sel_error *error);
    /* Whether the backend can run this solver; fails as `probe` does. NULL: it runs all solvers. */
    sel_status (*serves)(const struct sel_solver *solver, sel_error *error);
    /* Moves the ends of patches to where this backend can have them. False: every rank computes the
     * whole grid. NULL: it takes any. */
    bool (*decompose)(const sel_simulation *simulation, const sel_grid *grid,
                      sel_decomposition *decomposition);
    /* Bandwidth of a large copy: bytes per second, reads and writes added. */
    double (*bandwidth)(int device, int threads);
    /* The memory that create() will allocate, and the part of the grid of this rank. */
    sel_share (*estimate)(const sel_plan *plan);
    /* Allocates everything and sets the initial state, step 0. */
    sel_status (*create)(const sel_plan *plan, sel_state **state, sel_error *error);
    /* Advances by n steps. `observed`: the last step also gathers the forces, the fluxes through
     * links and the strain that the plan wants. A force is the mean of two steps, so the step
     * before the last gathers forces, too. If n is 1, the mean needs an observed step before it;
     * otherwise the force is that of one step. Step 0 is observed. Fails if a law's function fails.
     * May return before the steps are done; requests started later see the state after them. */
    sel_status (*advance)(sel_state *state, int64_t n, bool observed, sel_error *error);
    /* For solvers that iterate: whether the iteration has ended. It ended at the step `whole`,
     * which may lie before the end of an advance. NULL: the backend has no such solver. */
    const sel_ending *(*ending)(const sel_state *state);
    /* The step of the state that requests read. After a failed advance: the step of the last
     * complete state; -1: there is none. */
    int64_t (*whole)(const sel_state *state);
    /* The times of the next steps, with a new dt if the plan's dt changes. NULL: every step is the
     * grid's dt. */
    sel_status (*clock)(sel_state *state, sel_clock *clock, sel_error *error);
    /* Waits until all steps are done. NULL: advance returns when they are done. */
    sel_status (*wait)(sel_state *state, sel_error *error);
    /* The number of steps known to be done, and the seconds of computation that they took. NULL:
     * the steps and the time of advance. */
    void (*done)(const sel_state *state, int64_t *steps, double *seconds);
    sel_status (*start)(sel_state *state, sel_request *request, sel_error *error);
    sel_status (*finish)(sel_state *state, sel_request *request, sel_error *error);
    /* Updates the saved arrays before they are read. NULL: they are always up to date. */
    sel_status (*saving)(sel_state *state, sel_error *error);
    /* Prepares the state before the saved arrays are set. NULL: no preparation. */
    sel_status (*loading)(sel_state *state, sel_error *error);
    /* Computes everything that is not saved, after the saved arrays have been set. */
    sel_status (*loaded)(sel_state *state, sel_error *error);
    /* Goes back to step 0; for solvers that iterate. */
    sel_status (*restart)(sel_state *state, sel_error *error);
    void (*destroy)(sel_state *state); /* accepts NULL */
    /* Prints the code that the backend generates for a plan. NULL: it generates none. */
    void (*print)(const sel_plan *plan, FILE *to);
    /* The hardware for run.json: "AMD EPYC, x86-64-v4". */
    void (*device)(int device, char *text, size_t size);
} sel_backend;

/* ---- the audit of single precision ----
 *
 * The changes of some cells are computed again in double precision, without truncation to whole
 * quanta, and compared with those of the run (sel_solver.audit, engine/run/run_audit.c).
 */

enum { SEL_AUDITED = 64 /* most cells of an audit */, SEL_AUDIT_FIELDS = 64 };

/* The audited cells: free cells in ascending order, each once. */
typedef struct sel_audited {
    int count;
    int64_t cell[SEL_AUDITED];
} sel_audited;

/* What an audit reads from a state: each field in each cell. */
typedef struct sel_audit_reads {
    int fields, field[SEL_AUDIT_FIELDS]; /* indices in sel_solver.fields */
    int64_t cells, *cell;
} sel_audit_reads;

/* The change of one component of a field in a step, or the outflow of a cell in a step: as the run
 * computes it and as double precision does. One number per audited cell; NaN: unknown. */
typedef struct sel_audit {
    const char *what; /* "temperature" */
    int field, component, count;
    bool flows;                                     /* the numbers are outflows; false: changes */
    double change[SEL_AUDITED], right[SEL_AUDITED]; /* of the run; in double precision */
    /* noise: the uncertainty of `right` from the last digits of the stored values. fades: the
     * fraction by which one step damps a shift of the whole field, or the outflow. 0: unknown. */
    double noise[SEL_AUDITED], fades[SEL_AUDITED];
} sel_audit;

/* ---- the solver ---- */

/* Bytes per cell: read and written by a step, read by a monitor, stored by a state. */
typedef struct sel_cell_bytes {
    double update, look, state;
} sel_cell_bytes;

typedef struct sel_solver {
    const char *name; /* "lbm": sel.lbm in scripts */
    const sel_table *table;
    const sel_family *laws;
    const sel_field_info *fields;
    /* By field: where the scenario names it; NULL: it does not. */
    const sel_where *places;
    int field_count;
    int main_field;        /* the field of stop.steady and of the test for NaN */
    bool steady_by_range;  /* the zero of the main field is a convention: stop.steady is relative to
                              the range of its values so far, not to their size */
    int flux_field;        /* the vector that out.flux integrates over lines and planes; -1: none,
                              SEL_FLUX sums the links across the plan's lines */
    bool no_forces;        /* SEL_FORCE is not supported */
    bool no_fluxes;        /* SEL_FLUX is not supported */
    bool double_only;      /* f64 is the only precision */
    bool metres;           /* lengths are in metres: the script's rasters are converted to metres */
    bool counts_changes;   /* the main field has whole numbers: the change between monitors is the
                              fraction of the cells that changed */
    bool balance_of_step;  /* SEL_BALANCE needs an observed step, and its error is that of this
                              step; false: its error is that since step 0 */
    bool iterates;         /* steps are iterations, and a balance begins with their residual */
    const char *conserved; /* the conserved amount in a balance with surfaces: "heat" */
    /* The number of dimensions that these parameters require. NULL: 2 or 3. */
    int (*dims)(const sel_common *params);
    /* Sets parameters that the scenario leaves open (a grid given by its data). NULL: none. */
    void (*complete)(sel_common *params);
    /* For solvers whose fields the scenario names. Whoever has filled the table calls both; what
     * they make is in the arena of the scenario. NULL: the fields are the same for all scenarios.
     * name_cells gives the simulation a solver of its own, and sets simulation->cells unless it
     * finds a mistake. Then the functions of cells are read into graphs. name_fields sets the
     * solver's fields; it checks the functions if there are cells, and the laws anyway. */
    sel_status (*name_cells)(sel_simulation *simulation, sel_arena *arena, sel_error *error);
    sel_status (*name_fields)(sel_simulation *simulation, sel_arena *arena, sel_error *error);
    /* Sets blank[cell] = 1 in free cells where data are missing, and the law of the region "nodata"
     * that these cells become; leaves the law empty if no data can be missing. NULL: no data can be
     * missing. */
    sel_status (*blank)(const sel_simulation *simulation, const sel_domain *domain, int threads,
                        uint8_t *blank, sel_region *gaps, sel_error *error);
    /* Whether the cells of a region are solid. NULL: those of every region are. */
    bool (*solid)(const sel_simulation *simulation, const sel_domain *domain, int region);
    /* Stores the state as --storage says: SEL_STORE_AUTO ...; refuses what the simulation cannot
     * do. NULL: the solver has one way to store its state. */
    sel_status (*store)(const sel_simulation *simulation, int storage, sel_error *error);
    size_t plan_size;
    /* Makes the plan, whose base is set: resolves the numbers, lists the boundary cells, checks. */
    sel_status (*plan)(sel_plan *plan, sel_error *error);
    /* The time step of a plan whose script gives none (dt has a preset of NaN). NULL: scripts must
     * give dt, or its preset is a number. */
    double (*time_step)(const sel_plan *plan);
    /* Frees the members of a plan. NULL: there are none to free. */
    void (*plan_clear)(sel_plan *plan);
    void (*facts)(const sel_plan *plan, sel_facts *facts);
    /* Appends warnings, with advice, about a plan that can be run: one line each. */
    void (*warn)(const sel_plan *plan, sel_error *warnings);
    /* What the run holds by the last of the domain's controls, which is not the scenario's; NULL:
     * nothing. NULL: no run of this solver does. */
    const sel_drive *(*drive)(const sel_common *params);
    /* Evaluates the values that the step from `step` to step + 1 will use, and fails as that step
     * would. Fields may be evaluated at a sample of their places. */
    sel_status (*ahead)(const sel_plan *plan, int64_t step, sel_error *error);
    /* Lists the places of the plan's inputs that are in the patch of a state, where the plan lists
     * none: in a copy for the state. False: there is no memory. NULL: the plan lists them. */
    bool (*list_places)(sel_state *state, struct sel_inputs *inputs);
    /* Writes the entries of run.json that only this solver has, as `"key": value` pairs separated
     * by ", ". */
    void (*json)(const sel_plan *plan, FILE *to);
    /* Whether a monitor found a finite value that the state cannot have (a density below 0): its
     * cell, and the value as "the density is -0.2". NULL: every finite value is possible. */
    bool (*impossible)(const sel_plan *plan, const sel_request *monitor, int64_t *cell, char *text,
                       size_t size);
    /* The mass that the laws bring into the domain from one step to another, as a sum of
     * `mass_field` over cells. False: it is unknown before the run, since the flow decides how much
     * passes some face. NULL: mass is not checked. */
    bool (*brought)(const sel_plan *plan, int64_t from, int64_t to, double *mass);
    int mass_field;
    /* Why the mass may drift: a sentence for the user, without its full stop. False: no law lets
     * mass through. */
    bool (*mass_cause)(const sel_plan *plan, char *text, size_t size);
    /* Whether the planned run needs f64; for solvers whose precision may be auto. */
    bool (*needs_double)(const sel_plan *plan);
    /* The fields and cells that an audit of single precision reads; owned by the plan. Returns
     * NULL: this plan needs no audit. NULL: the solver has no audit. */
    const sel_audit_reads *(*audit_reads)(const sel_plan *plan);
    /* Audit number k of the step that begins with `step`, from the values
     * values[field][cell][component] at its beginning. False: there are at most k audits. */
    bool (*audit)(const sel_state *state, int64_t step, const double *const *values, int k,
                  sel_audit *found);
    /* Texts for the message of an audit: what a step should do with a field ("add to"), why single
     * precision fails, the remedy besides f64 ("a larger dt"). */
    const char *audit_does, *audit_why, *audit_advice;
    /* For flows: the kinematic viscosity, and the acceleration that the scenario gives (without
     * that of `drive`), user's units. NULL: the solver has neither. */
    double (*viscosity)(const sel_plan *plan);
    const sel_quantity *(*acceleration)(const sel_common *params);
    /* The speed of sound, user's units. NULL: there is none. */
    double (*sound)(const sel_plan *plan);
    /* The meaning of the state's numbers beyond size and precision: "D2Q9". A checkpoint with
     * another text is refused. NULL: the text is empty. */
    void (*state_text)(const sel_plan *plan, char *text, size_t size);
    /* The fields that sel.state sets as an initial state, by their names in the table `initial`;
     * the last is NULL. NULL: sel.state is not supported. */
    const char *const *initial_fields;
    /* Why a run may have diverged: a sentence for the user, without its full stop. */
    const char *advice;
    /* Why the force on a region (SEL_FORCE) is not all of it: a sentence for the user without its
     * full stop. false: it is all, or NULL. */
    bool (*lacks_force)(const sel_plan *plan, int region, char *text, size_t size);
    /* What to do if the force of SEL_FORCE alternates from step to step. NULL: no advice. */
    const char *force_advice;
    /* Why this run may have diverged, given its largest value. NULL: `advice` serves. */
    void (*hint)(const sel_plan *plan, double largest, char *text, size_t size);
    sel_cell_bytes (*bytes)(const sel_common *params, int precision);
    /* Whether a device can run this simulation; the error says why not. NULL: it can. */
    sel_status (*portable)(const sel_simulation *simulation, sel_error *error);
    const sel_backend *cpu;
    const sel_backend *cuda; /* NULL: the solver or the build has no device code */
    /* The solver's part of sel_cpu_backend (engine/core/cpu.h) and of cuda_backend
     * (cuda/backend.h). */
    const struct sel_cpu *on_cpu;
    const struct cuda_solver *on_cuda;
    /* The values of `field` that the law of a region fixes on a face (the velocity of a wall), at
     * one place, user's units; or that follow from the law and from those beside the face (NULL:
     * they are not known). *known: whether there are any. For profiles that end at a wall. NULL: no
     * law fixes values. */
    sel_status (*wall_value)(const sel_plan *plan, int field, int region, const sel_beside *beside,
                             const sel_places *at, bool *known, double *out, sel_error *error);
    /* The law of a volume also fixes the values in its cells: pictures show them. */
    bool volumes_have_values;
} sel_solver;

/* Makes the plan of the simulation's solver in a precision (SEL_PRECISION_AUTO: as the plan needs).
 * Sets the dt of the domain and of the simulation if the script gives none. */
sel_status sel_plan_create(const sel_simulation *simulation, sel_domain *domain, int precision,
                           sel_plan **plan, sel_error *error);
void sel_plan_destroy(sel_plan *plan); /* accepts NULL */

/* Adds a line to plan->lines and sets wants_links. To be called before create. */
sel_status sel_plan_line(sel_plan *plan, const double from[2], const double to[2],
                         sel_error *error);
/* The line of a SEL_FLUX. */
const sel_line *sel_plan_line_of(const sel_plan *plan, const sel_request *request);

/* Whether a plan wants something that needs an observed step. */
bool sel_plan_observes(const sel_plan *plan);
/* The number of steps at the end of an observed advance that gather: 0, 1, or 2 with forces. */
int sel_plan_observed_steps(const sel_plan *plan);
/* Whether a request needs an observed step. */
bool sel_request_observes(const sel_plan *plan, const sel_request *request);

/* Appends a fact whose text is formatted as by printf. */
void sel_fact_add(sel_facts *facts, const char *name, const char *format, ...) SEL_PRINTF(3, 4);

/* Copies the extremes and bad cells that were found into the answer of a SEL_MONITOR. */
void sel_request_watched(sel_request *request, const sel_watched *found);

/* Appends a term to the answer of a SEL_BALANCE; its name is prefix + name. A term of this name
 * that exists is increased instead, so that regions of one name are summed. Terms beyond
 * SEL_MAX_TERMS are dropped. */
void sel_request_term(sel_request *request, sel_term_kind kind, const char *prefix,
                      const char *name, double value);

/* The backend of all solvers that have an on_cuda; in builds with CUDA only. */
extern const sel_backend cuda_backend;

/* All solvers; the last is NULL. */
extern const sel_solver *const sel_solvers[];

/* The index in solver->fields of a field ("velocity", *component = -1) or of one of its components
 * ("velocity_x", *component = 0). -1: the solver has no such field. */
int sel_solver_field(const sel_solver *solver, int dims, const char *name, int *component);

/* ---- samples of cells (survey.c) ---- */

/* Draws audited cells at random from the free cells for which fits(of, cell) holds (NULL: every
 * free cell). The result depends on the seed only, not on the number of ranks. */
void sel_audited_draw(const sel_domain *domain, uint64_t seed,
                      bool (*fits)(const void *of, int64_t cell), const void *of, sel_audited *to);

/* Values of a quantity of one component in free cells. */
typedef struct sel_survey {
    double sum, largest; /* largest: at least 0 */
    int64_t count;       /* values in the sum */
    bool estimate;       /* the values are a sample */
} sel_survey;

/* The values in all free cells at the time t. `what`: the quantity's name in messages. */
sel_status sel_survey_cells(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                            double t, sel_survey *found, sel_error *error);

/* The values at the middle of each step of a run, with the controls of the start. A quantity that
 * depends only on time or only on place is summed over all steps or cells; others are sampled.
 * False: the quantity is not given, has no value somewhere, or depends on time in a run without
 * end. */
bool sel_survey_run(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                    sel_survey *found);

#endif
