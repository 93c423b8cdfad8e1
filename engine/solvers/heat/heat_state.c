/* heat_state.c -- the arrays of sel.heat and their start, for all backends. */
#include "engine/solvers/heat/heat.h"

void heat_list(sel_state *base, int halo) {
    heat_state *state = (heat_state *)base;
    const int dims = base->plan->domain->grid.dims;
    sel_state_list_numbers(base, "temperature", state->T, halo);
    for (int k = 0; k < 4; k++) {
        sel_arrays_add(&base->arrays, "coefficients", &state->coefficient[k], base->turns.type,
                       k == 2 && dims == 2 ? 0 : base->plan->inputs->source.count, 0);
    }
}

heat_view heat_view_of(const heat_state *state, int64_t step, int b) {
    const heat_plan *plan = heat_plan_for(&state->base);
    const sel_cells *source = &plan->body.inputs.source;
    const sel_grid *grid = &plan->base.domain->grid;
    const sel_turns *turns = &state->base.turns;
    const sel_blocks *blocks = &state->base.blocks;
    const int64_t ahead = -turns->margin * turns->type.size;
    heat_view v = {.dims = grid->dims,
                   .kind = plan->kind,
                   .single = turns->type.size == sizeof(float),
                   .nodes = grid->nodes,
                   .wraps = blocks->wraps && blocks->count == 1,
                   .periodic = grid->periodic,
                   .first = blocks->v[b].first,
                   .end = blocks->v[b].end,
                   .stride = {1, turns->cells.pitch, turns->cells.slice},
                   .apart = {1, source->pitch, source->slice},
                   .dt = grid->dt,
                   .capacity = plan->body.capacity.same[0],
                   .from = (const char *)state->T[b][step & 1] + ahead,
                   .to = (char *)state->T[b][(step + 1) & 1] + ahead,
                   .m = state->coefficient[3],
                   .q = state->base.given.source};
    for (int a = 0; a < 3; a++) {
        v.n[a] = grid->n[a];
        v.k[a] = plan->body.k.same[a];
        v.dx[a] = grid->dx[a];
        v.r[a] = v.k[a] * v.dt / (v.capacity * v.dx[a] * v.dx[a]);
        v.g[a] = state->coefficient[a];
    }
    return v;
}

/* sel_state_number */
static double coefficient(const sel_state *state, int which, int64_t cell) {
    const sel_conduction *body = &heat_plan_for(state)->body;
    const sel_domain *domain = state->plan->domain;
    return which < 3            ? sel_conductance(&body->k, domain, cell, 2 * which)
           : domain->cell[cell] ? 0
                                : domain->grid.dt / sel_capacity_of(body, &domain->grid, cell);
}

sel_status heat_start(sel_state *base, sel_error *error) {
    const heat_state *state = (const heat_state *)base;
    const heat_params *params = (const heat_params *)base->plan->simulation->params;
    sel_status status = sel_state_start(base, &params->initial.temperature, "temperature",
                                        sel_conduction_edit, error);
    for (int k = 0; k < 4 && !status; k++) {
        void *array = state->coefficient[k];
        status =
            array ? sel_state_fill(base, array, &base->plan->inputs->source, k, coefficient, error)
                  : SEL_OK;
    }
    return status;
}
