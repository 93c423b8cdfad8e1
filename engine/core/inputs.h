/* inputs.h -- inputs: the quantities that a script gives and steps read: values of laws, sources,
 * forces.
 *
 *     quantity   a number, a function, a series, a raster: what the script gives
 *        |       the plan lists it: where it has values, when, for what
 *     input      in all cells, at places (faces, links, nodes) or uniform
 *        |       before a step: evaluated at its moment, by programs where the step runs, else here
 *     values     user's units, [components][places]; refused where they are not finite or too small
 *        |       the solver's `store`: converts them to what its steps read, and where
 *     state      given.value, given.source, or arrays of the solver
 *
 * A rank evaluates the values of its own patch; a message names the first place of the grid that
 * has none.
 */
#ifndef SEL_INPUTS_H
#define SEL_INPUTS_H

#include "engine/core/arrays.h"
#include "engine/core/surface.h"
#include "engine/core/vicinity.h"
#include "engine/scene/solver.h"

typedef enum sel_input_kind {
    SEL_INPUT_UNIFORM,
    SEL_INPUT_AT_PLACES,
    SEL_INPUT_IN_CELLS
} sel_input_kind;

/* A quantity that is given. Numbers of inputs are those in the list of the plan. */
typedef struct sel_input {
    const sel_quantity *quantity;
    char what[160]; /* for messages: "law.convective: h" */
    sel_input_kind kind;
    int region;           /* whose law it is; 0: no law */
    int which;            /* the solver's number for what the values are */
    int64_t first, count; /* its places */
    double ahead;         /* the part of a step after which it has the value that the step takes */
    double least, most;   /* values beyond are refused; `most` bounds the number as stored */
    bool whole;           /* values that are not whole numbers are refused */
    bool everywhere;      /* in cells: all of them; false: free ones only */
    bool gaps;            /* in cells, without `whole`: NaN where a raster has no data */
    bool on_host; /* the host evaluates it, not a device. In cells: the host sends it, too; else the
                     solver or `check` has to evaluate it */
} sel_input;

/* Without bounds; in all cells, or (with first, count and which) at places, or uniform: evaluated
 * once, at the first of its places, or at the origin of the grid if it has none. */
sel_input sel_input_of(const sel_quantity *quantity, sel_input_kind kind);

/* How values of an input in cells are kept, for steps: number k of component c at
 * to[layout.component c + k], k = x + pitch y + slice z from cell (0, 0, 0) on. */
typedef struct sel_input_cells {
    void *to;
    sel_type type;       /* of floating-point numbers, int32_t or uint8_t */
    sel_layout layout;   /* of what the rank has: `before` and `count` say where it lies */
    double factor, unit; /* numbers are values times this, over this if it is not 0, */
    bool part;           /* and times the part of the cell that is inside */
    /* Rows beside the patch have values, too; where rows are. NULL: those of the patch. */
    const sel_vicinity *vicinity;
} sel_input_cells;

typedef struct sel_inputs {
    const sel_domain *domain;
    const sel_clock *clock; /* of the state that these are of; NULL: steps are the grid's dt */
    int count;
    sel_input *v;
    unsigned depends, source_depends; /* on SEL_ON_T, SEL_ON_CONTROLS: any input; those in cells */
    /* Places of this rank, of one input after the other, or of several together. The lists belong
     * to the surfaces, to the solver, or to `memory`. */
    int64_t places;
    const double *place[3]; /* by axis; NULL: 0 everywhere */
    const int64_t *target;  /* the solver's number of what has the value: a site, a link */
    const uint8_t *detail;  /* for the solver: the direction of a link; or NULL */
    /* The cell of place k, the k-th of the lists above; NULL: places are those of a surface. The
     * places of an input are in the order of cells. */
    int64_t (*cell)(const struct sel_inputs *inputs, int64_t k);
    /* Fails if a value in the step from `step` is not allowed; k: the place or, in cells, the cell.
     * Called for every value at places, in cells only for values out of bounds. NULL: the bounds
     * are the check, with a text of their own. */
    sel_status (*check)(const struct sel_inputs *inputs, const sel_input *input, int64_t k,
                        int64_t step, double value, sel_error *error);
    const void *of; /* what these two read */
    void *memory;   /* of lists that are released with these; or NULL */
    /* Inputs at the sites of surfaces (sel_inputs_list): */
    sel_surface_far *far;
    sel_surfaces surfaces;
    int values;    /* per site; the solver sets it first */
    double *value; /* at time 0: [site][values], of this rank */
    /* A source in cells (sel_inputs_source): its layout (sel_faces_layout), in numbers of field 0;
     * and its number. */
    sel_layout source;
    bool has_source;
    int source_number;
} sel_inputs;

/* Adds an input. False: there is no memory. */
bool sel_inputs_add(sel_inputs *inputs, const sel_input *input);

/* Lists the surfaces (whole: those of the grid on each rank), and as inputs the quantities of the
 * laws of all regions that have sites: the fields of a law's table in their order, `which`. The
 * solver may then set `ahead` and `least`. */
sel_status sel_inputs_list(sel_inputs *inputs, const sel_domain *domain, bool whole,
                           sel_surface_far *far, sel_error *error);
/* Adds the source, if it is given; its values are multiplied by the part of a cell that is inside.
 */
sel_status sel_inputs_source(sel_inputs *inputs, const sel_quantity *source, sel_error *error);
/* The values of laws at time 0, inputs->value, when all is listed. All ranks call it. */
sel_status sel_inputs_complete(sel_inputs *inputs, sel_error *error);
/* Refuses laws that depend on more than place: all, or only values that must not be negative. The
 * message ends with `advice`. */
sel_status sel_inputs_of_place(const sel_inputs *inputs, bool all, const char *advice,
                               sel_error *error);
void sel_inputs_free(sel_inputs *inputs);

/* On what of SEL_ON_T and SEL_ON_CONTROLS an input depends. */
unsigned sel_input_depends(const sel_input *input);
/* The time of an input in the step from `step`; step -1: 0. */
double sel_input_time(const sel_inputs *inputs, const sel_input *input, int64_t step);

/* Values of an input: v[components][count] at its places from `first` on (of a uniform one: 1). */
typedef struct sel_input_values {
    const sel_input *input;
    int64_t first, count, step;
    const double *v;
} sel_input_values;
typedef void sel_input_store(void *to, const sel_inputs *inputs, const sel_input_values *values);

/* Of values at sites: to[site][values], all that are listed. */
sel_input_store sel_inputs_keep;

/* Evaluates one input that is not in cells for the step from `step` into v[components][count].
 * Where places have no value, or not an allowed one, it fails at the first of them: error->cell
 * orders the failures of ranks. */
sel_status sel_input_evaluate(const sel_inputs *inputs, const sel_input *input, int64_t step,
                              int64_t first, int64_t count, double *v, sel_error *error);
/* Evaluates all that are not in cells and depend on any of `due`; store NULL: only finds out
 * whether they have values. */
sel_status sel_inputs_evaluate(const sel_inputs *inputs, unsigned due, int64_t step,
                               sel_input_store *store, void *to, sel_error *error);
/* The value of an input of one component at a place. */
sel_status sel_input_at(const sel_inputs *inputs, const sel_input *input, const double place[3],
                        int64_t step, double *value, sel_error *error);
/* The same at its k-th place, or in cell k; SEL_OK if it has one that is allowed. */
sel_status sel_input_try(const sel_inputs *inputs, const sel_input *input, int64_t k, int64_t step,
                         double place[3], sel_error *error);
/* sel_solver.ahead: all that vary in time, a source in one cell. */
sel_status sel_inputs_ahead(const sel_plan *plan, int64_t step, sel_error *error);

/* ---- those of a state ---- */

/* A copy for a state, with the same numbers of inputs, of which `list` lists the places in the
 * patch of the state (sel_solver.list_places). NULL: there is no memory. */
typedef bool sel_inputs_lister(sel_state *state, sel_inputs *inputs);
sel_inputs *sel_inputs_copy(sel_state *state, sel_inputs_lister *list);
void sel_inputs_free_copy(sel_inputs *inputs);

/* What a solver without a `store` of its own reads in the step to come, where steps run. */
typedef struct sel_given {
    double *value;    /* at the sites of surfaces: [site][values] */
    void *source;     /* laid out as sel_inputs.source, */
    int64_t apart[3]; /* its strides */
} sel_given;

/* sel_input_store of given.value: of the sites that a state has. */
void sel_given_store(void *state, const sel_inputs *inputs, const sel_input_values *values);

/* Cells on surfaces in planes of the grid: given.cell[k], *first <= k < *end. */
void sel_given_range(const sel_state *state, const sel_patch *planes, int64_t *first, int64_t *end);

/* That of state->given.source. */
sel_input_cells sel_given_cells(const sel_state *state, const sel_input *input);

/* The values of an input in the cells of this rank, in the step from `step`, into memory of the
 * host that is laid out as `cells` says; without memory (cells->to is NULL): finds out whether they
 * are allowed. */
sel_status sel_input_fill(const sel_state *state, const sel_input *input, int64_t step,
                          const sel_input_cells *cells, sel_error *error);
/* The same, into memory where the steps run. */
sel_status sel_input_place(sel_state *state, const sel_input *input, int64_t step,
                           const sel_input_cells *cells, sel_error *error);

/* The same as the first, of all inputs in cells that depend on any of `due` (with SEL_ALWAYS: of
 * all), as `cells` says how each is kept. */
typedef sel_input_cells sel_input_cells_of(const sel_state *state, const sel_input *input);
sel_status sel_inputs_fill(const sel_state *state, unsigned due, int64_t step,
                           sel_input_cells_of *cells, sel_error *error);

/* The error of the first value that is missing or not allowed in the step from `step`, of all
 * inputs that vary; SEL_OK: there is none. */
sel_status sel_inputs_fault(const sel_state *state, int64_t step, sel_input_cells_of *cells,
                            sel_error *error);

/* Sets the source for time 0, if it is given. */
sel_status sel_inputs_start(sel_state *state, sel_error *error);

#endif
