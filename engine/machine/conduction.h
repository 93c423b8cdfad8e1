/* conduction.h -- conducting bodies: their materials and surfaces, for solvers of div(k grad T).
 *
 * Such a solver's laws are law.fixed, law.flux, law.insulated and law.convective.
 */
#ifndef SEL_CONDUCTION_H
#define SEL_CONDUCTION_H

#include "engine/machine/state.h"

extern const sel_family sel_conduction_laws;

typedef struct sel_conduction {
    sel_material k, capacity; /* of volume; 1 where a solver knows none */
    bool uniform;             /* no material varies, there are no solids and no source */
    double limit;             /* the largest stable step forward in time, */
    int64_t limit_cell;       /* and the cell that sets it; -1: all do */
    sel_inputs inputs;
} sel_conduction;

/* Finds the materials and lists the surfaces and inputs of a plan, which points to them from then
 * on, and the largest stable step: C v / (sum of g + b / 2) in every cell, with b of a step of 1.
 */
sel_status sel_conduction_find(sel_conduction *body, sel_plan *plan, const sel_quantity *k,
                               const char *name, const sel_quantity *capacity,
                               const sel_quantity *source, sel_error *error);
void sel_conduction_free(sel_conduction *body);

/* The capacity of a cell, times the part of its volume that is inside. */
double sel_capacity_of(const sel_conduction *body, const sel_grid *grid, int64_t cell);

/* sel_state_edit: nodes on surfaces of given temperature have it from the start. */
sel_status sel_conduction_edit(const sel_state *state, int64_t first, int64_t end, double *values,
                               sel_error *error);
/* sel_solver.wall_value: of the main field on law.fixed. */
sel_status sel_conduction_value(const sel_plan *plan, int field, int region, const sel_places *at,
                                bool *known, double *out, sel_error *error);

#endif
