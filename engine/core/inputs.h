/* inputs.h -- inputs: the quantities that steps read, at the sites of surfaces and in all cells.
 *
 * A solver lists them in its plan. The machine keeps their values where the steps run, evaluates
 * before a step what is due, refuses what has no value or is out of bounds, and restores the values
 * of a run that is resumed. What steps derive from the values, the solver's `derive` computes.
 */
#ifndef SEL_INPUTS_H
#define SEL_INPUTS_H

#include "engine/core/arrays.h"
#include "engine/core/surface.h"
#include "engine/scene/solver.h"

enum { SEL_SITE_VALUES = 4, SEL_MOST_INPUTS = 1 + SEL_SITE_VALUES * SEL_REGION_NUMBERS };

/* A quantity that is given. Numbers of inputs are those in the list of the plan. */
typedef struct sel_input {
    const sel_quantity *quantity; /* of one component */
    char what[64];                /* for messages: "law.convective: h" */
    int region;                   /* at whose sites; 0: in all cells, the source */
    int which;                    /* number among a site's values */
    double ahead;      /* the part of a step after which it has the value that the step takes */
    bool not_negative; /* values below 0 are refused */
} sel_input;

typedef struct sel_inputs {
    const sel_domain *domain;
    sel_surface_far *far;
    sel_surfaces surfaces;
    int values;        /* per site, at most SEL_SITE_VALUES; the solver sets it first */
    double *value;     /* at time 0: [site][values], of this rank */
    sel_layout source; /* the layout of the source (sel_faces_layout), in numbers of the state */
    unsigned depends, source_depends; /* on SEL_ON_T, SEL_ON_CONTROLS: any input; the source */
    bool has_source;                  /* it is the last input */
    int count;
    sel_input v[SEL_MOST_INPUTS];
} sel_inputs;

/* Lists the surfaces (whole: those of the grid on each rank), and as inputs the quantities of the
 * laws of all regions that have sites: the fields of a law's table in their order. The solver may
 * then set `ahead` and `not_negative`. */
sel_status sel_inputs_list(sel_inputs *inputs, const sel_domain *domain, bool whole,
                           sel_surface_far *far, sel_error *error);
/* Adds the source, if it is given; its values are multiplied by the part of a cell that is inside.
 */
void sel_inputs_source(sel_inputs *inputs, const sel_quantity *source);
/* The values of laws at time 0, when all is listed. */
sel_status sel_inputs_complete(sel_inputs *inputs, sel_error *error);
/* Refuses laws that depend on more than place: all, or only values that must not be negative. The
 * message ends with `advice`. */
sel_status sel_inputs_of_place(const sel_inputs *inputs, bool all, const char *advice,
                               sel_error *error);
void sel_inputs_free(sel_inputs *inputs);

/* The time of an input in the step from `step`; step -1: 0. */
double sel_input_time(const sel_inputs *inputs, const sel_input *input, int64_t step);

/* Values of laws that depend on any of `due`, in the step from `step`, as in inputs->value; NULL:
 * only whether they can be had. Those of sites[0] <= site < sites[1] are stored; sites NULL: all
 * that this rank has. */
sel_status sel_inputs_evaluate(const sel_inputs *inputs, unsigned due, int64_t step,
                               const int64_t sites[2], double *value, sel_error *error);
/* Whether they can be had at all sites of the grid, as one rank finds it; the regions of all cells
 * must be there, as rank 0 has them. */
sel_status sel_inputs_try_all(const sel_inputs *inputs, unsigned due, int64_t step,
                              sel_error *error);
/* The value of an input at a place. */
sel_status sel_input_at(const sel_inputs *inputs, const sel_input *input, const double place[3],
                        int64_t step, double *value, sel_error *error);
/* One number of an input: at its k-th site of this rank, or in cell k; SEL_OK if it has one that is
 * allowed. */
sel_status sel_input_try(const sel_inputs *inputs, const sel_input *input, int64_t k, int64_t step,
                         double place[3], sel_error *error);
/* The same with the number, without the part of a cell that is inside. */
sel_status sel_input_number(const sel_inputs *inputs, const sel_input *input, int64_t k,
                            int64_t step, double place[3], double *value, sel_error *error);
/* sel_solver.ahead: of a source in one cell. */
sel_status sel_inputs_ahead(const sel_plan *plan, int64_t step, sel_error *error);

/* ---- those of a state ---- */

/* The inputs in the step to come, where steps run. */
typedef struct sel_given {
    double *value;    /* [site][values] */
    void *source;     /* laid out as sel_inputs.source, */
    int64_t apart[3]; /* its strides */
} sel_given;

/* Cells on surfaces in planes of the grid: given.cell[k], *first <= k < *end. */
void sel_given_range(const sel_state *state, const sel_patch *planes, int64_t *first, int64_t *end);

/* The source in the step from `step`, in the rows of this rank, laid out and in numbers as
 * given.source. */
sel_status sel_inputs_fill(const sel_state *state, int64_t step, void *to, sel_error *error);

/* Sets the source for time 0, if it is given. */
sel_status sel_inputs_start(sel_state *state, sel_error *error);

#endif
