/* heat_state.c -- the arrays of sel.heat and their start, for all backends. */
#include "engine/solvers/heat/heat.h"

void heat_list(sel_state *base, int halo) {
    heat_state *state = (heat_state *)base;
    const int dims = base->plan->domain->grid.dims;
    sel_state_list_numbers(base, "temperature", state->T, halo);
    for (int k = 0; k < 4; k++) {
        sel_arrays_add(&base->arrays, "coefficients", &base->given.coefficient[k], base->turns.type,
                       k == 2 && dims == 2 ? 0 : base->plan->inputs->source.count, 0);
    }
}

/* sel_state_number */
static double coefficient(const sel_state *state, int which, int64_t cell) {
    const sel_conduction *body = &heat_plan_for(state)->body;
    const sel_domain *domain = state->plan->domain;
    return which < 3            ? sel_conductance(&body->k, domain, cell, 2 * which)
           : domain->cell[cell] ? 0
                                : domain->grid.dt / sel_capacity_of(body, cell);
}

sel_status heat_start(sel_state *base, sel_error *error) {
    const heat_params *params = (const heat_params *)base->plan->simulation->params;
    sel_status status = sel_state_start(base, &params->initial.temperature, "temperature",
                                        sel_conduction_edit, error);
    for (int k = 0; k < 4 && !status; k++) {
        status = sel_state_fill(base, base->given.coefficient[k], &base->plan->inputs->source, k,
                                coefficient, error);
    }
    return status;
}
