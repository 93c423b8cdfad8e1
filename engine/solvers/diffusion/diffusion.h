/* diffusion.h -- conducting bodies: their materials and surfaces, for solvers of div(k grad T).
 *
 * Such a solver's laws are law.fixed, law.flux, law.insulated and law.convective.
 */
#ifndef DIFFUSION_H
#define DIFFUSION_H

#include "engine/core/state.h"
#include "engine/solvers/diffusion/diffusion_cell.h"
#include "engine/solvers/diffusion/diffusion_material.h"

extern const sel_family diffusion_laws;
extern const sel_table diffusion_regions;

/* The law of a region: DIFFUSION_FIXED, ... */
int diffusion_law_of(const sel_domain *domain, int region);

/* The largest stable step forward in time. */
typedef struct diffusion_limit {
    double dt;
    int64_t cell; /* that sets it; -1: all do */
    double t;     /* the time at which it holds */
    double h;     /* the largest of the cell's surfaces then */
} diffusion_limit;

typedef struct diffusion_body {
    /* The solver sets, before diffusion_find: */
    int field[HEAT_MOST_FIELDS]; /* what its fields are made of */
    bool steady;                 /* its balance is that of a state, not of a step */
    double implicit;             /* of heat_view: inputs are those of this part of a step */
    bool whole; /* every rank computes the whole body (sel_state_replicate): it needs all surfaces
                   and materials, not those of its patch only */
    /* diffusion_find sets: */
    diffusion_material k, capacity; /* of volume; 1 where a solver knows none */
    const sel_quantity *conducts;   /* what k is of, */
    const char *conducts_name;      /* in messages */
    int kind;              /* of heat_view; uniform: no material varies, no solids, no source */
    diffusion_limit limit; /* at time 0 */
    diffusion_site *site;  /* of each site that this rank lists */
    sel_inputs inputs;
} diffusion_body;

/* Plans of such solvers begin with this. */
typedef struct diffusion_plan {
    sel_plan base;
    diffusion_body body;
} diffusion_plan;

/* The numbers of a balance, besides what enters at each site. */
typedef struct diffusion_balance {
    double after, before;  /* what there is after and before the last step; NaN: there was none */
    double source;         /* what appears per time; of a steady body what disappears, rhs */
    double residual, size; /* of a steady body: how far it is from that; magnitudes of the source */
} diffusion_balance;

/* And their states with this. */
typedef struct diffusion_state {
    sel_state base;
    diffusion_given given;     /* but for value and reference: see diffusion_given_of */
    diffusion_balance balance; /* of a steady body */
} diffusion_state;

static inline const diffusion_body *diffusion_body_of(const sel_plan *plan) {
    return &((const diffusion_plan *)plan)->body;
}
/* What is given in the step to come. */
static inline diffusion_given diffusion_given_of(const sel_state *state) {
    diffusion_given given = ((const diffusion_state *)state)->given;
    given.value = state->given.value;
    given.reference = state->reference;
    return given;
}
/* sel_cpu.derive: b and s of cells on surfaces. */
void diffusion_derive(sel_state *state);

/* Finds the materials and lists the surfaces and inputs of a plan, which begins with a
 * diffusion_plan, and the largest stable step at time 0. */
sel_status diffusion_find(sel_plan *plan, const sel_quantity *k, const char *name,
                          const sel_quantity *capacity, const sel_quantity *source,
                          sel_error *error);
/* ---- the stable step (diffusion_limit.c) ---- */

/* Finds body->limit. Collective. */
void diffusion_limit_find(diffusion_body *body);
/* The smallest limit of a run whose steps are dt, with the controls of the start: of samples of the
 * times at which each h that varies in time, and needs no Lua, is largest. Collective. */
diffusion_limit diffusion_limit_of_run(const sel_plan *plan, double dt);
/* The largest b, for a step of the grid's dt, with which the step is stable in a cell. */
double diffusion_most_b(const diffusion_body *body, int64_t cell);
/* Refuses the step to come, in this rank's cells on surfaces, if dt is too large for the values of
 * laws then: by given.b, which must not exceed most_b[k]; or (most_b NULL) by values that are
 * evaluated here. SEL_DIVERGED: it is. */
sel_status diffusion_limit_check(const sel_state *state, const double *most_b, sel_error *error);

/* sel_solver.plan_clear */
void diffusion_clear(sel_plan *plan);

/* The capacity of a cell, times the part of its volume that is inside. */
static inline double diffusion_capacity_at(const diffusion_body *body, int64_t cell,
                                           const int64_t at[3]) {
    return (body->capacity.of ? body->capacity.of[cell] : body->capacity.same[0]) *
           sel_part_inside(&body->inputs.domain->grid, at, -1);
}
double diffusion_capacity_of(const diffusion_body *body, int64_t cell);

/* Lists what has a neighbourhood (sel_state_list_numbers), and the coefficients of a body that
 * varies; those of a steady one are the solver's. */
void diffusion_list(sel_state *state, const char *name, void *at[2], int halo);
/* Sets copy 0 to `initial`, and to the values of surfaces at the nodes on them; the coefficients.
 * In single precision the numbers of a body that is not steady are less by state->reference, which
 * is chosen here, for all ranks, by the range of `initial`. */
sel_status diffusion_start(sel_state *state, const sel_quantity *initial, const char *what,
                           sel_error *error);
/* sel_solver.wall_value: of the main field. */
sel_status diffusion_wall_value(const sel_plan *plan, int field, int region,
                                const sel_beside *beside, const sel_places *at, bool *known,
                                double *out, sel_error *error);

/* The block of a state in the step from `step`. */
heat_view diffusion_heat_view(const sel_state *state, int64_t step);

/* sel_look.field */
int diffusion_field(const sel_state *state, int field, int64_t row, int64_t x0, int64_t x1,
                    const double **values);

/* sel_look.other: answers SEL_BALANCE and SEL_FLUX on the processor; and anywhere, from what enters
 * per time at each site. Terms of a balance: solver->conserved and its rate (of steady bodies the
 * residual), what comes in by region and from the source, and the error of all that. */
sel_status diffusion_answer(sel_state *state, sel_request *request, sel_error *error);
void diffusion_answer_balance(const sel_plan *plan, const double *entering,
                              const diffusion_balance *b, sel_request *request);

#endif
