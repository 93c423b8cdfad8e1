/* heat_state.c -- the arrays of sel.heat and their start, for all backends. */
#include "engine/solvers/heat/heat.h"

void heat_list(sel_state *base, int halo) {
    heat_state *state = (heat_state *)base;
    const heat_plan *plan = state->plan = (const heat_plan *)base->plan;
    const sel_surfaces *on = &plan->inputs.surfaces;
    const int dims = base->plan->domain->grid.dims;
    sel_state_list_numbers(base, "temperature", state->T, halo);
    for (int k = 0; k < 4; k++) {
        sel_arrays_add(&base->arrays, "coefficients", &state->coefficient[k], base->turns.type,
                       k == 2 && dims == 2 ? 0 : plan->inputs.source.count, 0);
    }
    SEL_ADD(&base->arrays, state, site, on->sites, 0);
    SEL_ADD(&base->arrays, state, b, on->cells, 0);
    SEL_ADD(&base->arrays, state, s, on->cells, 0);
}

heat_view heat_view_of(const heat_state *state, int64_t step, int b) {
    const heat_plan *plan = state->plan;
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
                   .apart = {1, plan->inputs.source.pitch, plan->inputs.source.slice},
                   .dt = grid->dt,
                   .capacity = plan->capacity.same[0],
                   .from = (const char *)state->T[b][step & 1] + ahead,
                   .to = (char *)state->T[b][(step + 1) & 1] + ahead,
                   .m = state->coefficient[3],
                   .q = state->base.given.source};
    for (int a = 0; a < 3; a++) {
        v.n[a] = grid->n[a];
        v.k[a] = plan->k.same[a];
        v.dx[a] = grid->dx[a];
        v.r[a] = v.k[a] * v.dt / (v.capacity * v.dx[a] * v.dx[a]);
        v.g[a] = state->coefficient[a];
    }
    return v;
}

/* sel_state_number */
static double coefficient(const sel_state *state, int which, int64_t cell) {
    const heat_plan *plan = (const heat_plan *)state->plan;
    const sel_domain *domain = state->plan->domain;
    return which < 3            ? sel_conductance(&plan->k, domain, cell, 2 * which)
           : domain->cell[cell] ? 0
                                : domain->grid.dt / heat_capacity_of(plan, cell);
}

/* sel_state_edit: nodes on surfaces of given temperature have it from the start. */
static void set_fixed_nodes(const sel_state *base, int64_t first, int64_t end, double *values) {
    const heat_plan *plan = (const heat_plan *)base->plan;
    const sel_surfaces *on = &plan->inputs.surfaces;
    const int64_t *of = on->first_site;
    for (int64_t k = 0; k < on->cells; k++) {
        double b, s;
        heat_surfaces(plan->site, plan->inputs.value, of[k], of[k + 1], 1, &b, &s);
        if (isinf(b) && on->cell[k] >= first && on->cell[k] < end) {
            values[on->cell[k] - first] = s;
        }
    }
}

sel_status heat_start(sel_state *base, sel_error *error) {
    const heat_state *state = (const heat_state *)base;
    const heat_plan *plan = state->plan;
    const size_t bytes = (size_t)plan->inputs.surfaces.sites * sizeof *plan->site;
    sel_status status = sel_arrays_send(&base->arrays, state->site, plan->site, bytes, error);
    status = status ? status
                    : sel_state_start(base, &plan->params->initial.temperature, "temperature",
                                      set_fixed_nodes, error);
    for (int k = 0; k < 4 && !status; k++) {
        void *array = state->coefficient[k];
        status = array ? sel_state_fill(base, array, &plan->inputs.source, k, coefficient, error)
                       : SEL_OK;
    }
    return status;
}
