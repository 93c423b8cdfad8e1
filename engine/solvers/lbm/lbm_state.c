/* lbm_state.c -- list the arrays of a flow; convert results of backends to the user's units.
 */
#include "engine/solvers/lbm/lbm_state.h"

#include <math.h>

lbm_units lbm_units_of(const lbm_plan *plan) {
    const lbm_numbers *numbers = &plan->numbers;
    return (lbm_units){.velocity = numbers->velocity_unit,
                       .density = numbers->density_unit,
                       .pressure = numbers->pressure_unit,
                       .time = plan->base.domain->grid.dt};
}

void lbm_add_outflow(lbm_state *state, const double *carried, int64_t steps) {
    for (int r = 1; r <= state->plan->base.domain->region_count; r++) {
        state->out[r] += carried[r];
        state->rate[r] = carried[r] / (double)steps;
    }
}

/* The sum over the ranks, lattice units. */
static double state_sponge_brought(const lbm_state *state, int64_t own) {
    return (double)sel_ranks_total(state->base.ranks, own) * LBM_GAIN_UNIT;
}

void lbm_balance_terms(const lbm_state *state, double mass, double returned, int64_t sponge,
                       sel_request *request) {
    const sel_domain *domain = state->plan->base.domain;
    const sel_grid *grid = &domain->grid;
    double unit = state->plan->numbers.density_unit * pow(grid->dx[0], grid->dims), total = 0;
    request->term_count = 0;
    sel_request_term(request, SEL_TERM_CONTENT, "mass", "", mass * unit);
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        total += state->out[r];
        if (lbm_region_passes(&state->plan->boundary, r)) {
            const char *name = sel_region_name(domain, r, text);
            /* Through walls goes but the round-off of their links. */
            const bool wall = state->plan->boundary.law[r]->wall;
            sel_request_term(request, wall ? SEL_TERM_NOTED : SEL_TERM_OUT, "out_", name,
                             state->out[r] * unit);
            sel_request_term(request, SEL_TERM_NOTED, "rate_", name,
                             state->rate[r] * unit / grid->dt);
        }
    }
    if (lbm_drive(&state->plan->params->common)) {
        sel_request_term(request, SEL_TERM_NOTED, "acceleration", "",
                         domain->control_values[domain->control_count - 1]);
    }
    if (state->plan->boundary.closed_count > 0) {
        sel_request_term(request, SEL_TERM_NOTED, "returned", "", returned * unit);
    }
    double brought = 0;
    if (lbm_has_sponge(state->plan)) {
        brought = state_sponge_brought(state, sponge);
        sel_request_term(request, SEL_TERM_NOTED, "sponge", "", brought * unit);
    }
    sel_request_term(request, SEL_TERM_ERROR, "error", "",
                     (mass - state->first_mass + total - returned - brought) * unit);
}

void lbm_watched_answer(const sel_plan *base, sel_request *request) {
    const lbm_plan *plan = (const lbm_plan *)base;
    request->largest = sqrt(request->largest) * plan->numbers.velocity_unit;
    request->smallest = (1 + request->smallest) * plan->numbers.density_unit;
}

void lbm_links_centre(const lbm_plan *plan, const sel_request *request, double centre[3]) {
    const sel_grid *grid = &plan->base.domain->grid;
    for (int a = 0; a < 3; a++) {
        bool given = request->kind == SEL_FORCE && a < grid->dims;
        centre[a] = given ? (request->centre[a] - grid->origin[a]) / grid->dx[0] - 0.5 : 0;
    }
}

void lbm_links_answer(const lbm_plan *plan, const lbm_carried *carried, sel_request *request) {
    const sel_grid *grid = &plan->base.domain->grid;
    const lbm_numbers *numbers = &plan->numbers;
    double unit = numbers->density_unit * numbers->velocity_unit * numbers->velocity_unit *
                  pow(grid->dx[0], grid->dims - 1);
    for (int a = 0; a < 3; a++) {
        request->force[a] = carried->force[a] * unit;
        request->torque[a] = carried->torque[a] * unit * grid->dx[0];
        request->force_change[a] = carried->change[a] * unit;
    }
    request->force_size = carried->size * unit;
    request->flux = carried->mass * numbers->density_unit * pow(grid->dx[0], grid->dims) / grid->dt;
}

bool lbm_links_turn(lbm_state *state, int64_t step) {
    state->links_follow =
        state->plan->base.wants_forces && step > 1 && state->links_step == step - 1;
    state->links_step = step;
    return state->links_follow;
}

bool lbm_wants_velocity(const lbm_plan *plan) {
    bool moves = false;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        moves = moves || plan->boundary.moves[r];
    }
    return moves && plan->base.wants_forces;
}

bool lbm_has_strain(const lbm_state *state) {
    bool has = false;
    for (int k = 0; k < LBM_STRAIN_FIELDS; k++) {
        has = has || state->strain[k];
    }
    return has;
}

/* Strain rate, stress and dissipation, laid out alike. The stress is a field of the core: its halo
 * is exchanged where walls need it. */
static void list_strain(lbm_state *state, unsigned flags) {
    const sel_plan *base = &state->plan->base;
    const sel_grid *grid = &base->domain->grid;
    bool wants[LBM_FIELDS], walls = false;
    for (int field = 0; field < LBM_FIELDS; field++) {
        wants[field] = base->wants_fields >> field & 1u;
        walls = walls || (wants[field] && lbm_is_of_walls(field));
    }
    const int halo = walls;
    const int parts = wants[LBM_STRESS] || walls
                          ? sel_field_components(&lbm_solver.fields[LBM_STRESS], grid->dims)
                          : 0;
    const sel_type real = SEL_TYPE_OF(**state->strain);
    const sel_layout rate = sel_state_own_layout(&state->base, wants[LBM_STRAIN_RATE], halo);
    const sel_layout loss = sel_state_own_layout(&state->base, wants[LBM_DISSIPATION], halo);
    sel_field stress = {.name = "stress",
                        .flags = flags,
                        .copies = 1,
                        .at = (void **)&state->strain[LBM_STRESS - LBM_STRAIN_RATE],
                        .type = real,
                        .layout = sel_state_own_layout(&state->base, parts, halo),
                        .halo = halo};
    const int64_t *lo = state->base.own.lo;
    state->strain_layout = stress.layout;
    stress.lead[2] = (halo - lo[1]) * stress.layout.pitch;
    state->stress_beside = (sel_vicinity){.n = {grid->n[0], grid->n[1], grid->n[2]}};
    for (int a = 0; a < 3; a++) {
        sel_vicinity *v = &state->stress_beside;
        v->lo[a] = lo[a];
        v->hi[a] = state->base.own.hi[a];
        v->below[a] = v->lo[a] - 1;
        v->above[a] = v->hi[a];
        v->stride[a] = sel_layout_stride(&stress.layout, a);
    }
    sel_arrays_add_patch(&state->base.arrays, "strain_rate", &state->strain[0], real, &rate, flags);
    if (walls) {
        sel_state_add_field(&state->base, &stress);
    } else {
        sel_arrays_add_patch(&state->base.arrays, "stress", stress.at, real, &stress.layout, flags);
    }
    sel_arrays_add_patch(&state->base.arrays, "dissipation",
                         &state->strain[LBM_DISSIPATION - LBM_STRAIN_RATE], real, &loss, flags);
    SEL_ADD(&state->base.arrays, state, walls, walls ? state->plan->boundary.cell_count : 0, 0);
}

/* The arrays that an observed step fills, if the plan wants them. */
static void list_observed(lbm_state *state, sel_type real) {
    const sel_plan *base = &state->plan->base;
    const unsigned flags = SEL_SAVED | SEL_OPTIONAL | SEL_OBSERVED;
    sel_arrays *arrays = &state->base.arrays;
    const int64_t lists = base->wants_forces ? 3 : base->wants_links ? 2 : 0;
    sel_arrays_add_sites(arrays, "links", &state->links, real, &state->sites, lists, flags);
    sel_arrays_add_sites(arrays, "link_gain", &state->link_gain, real, &state->sites,
                         lbm_wants_velocity(state->plan), flags);
    if (lists) {
        const unsigned value = flags | SEL_ON_HOST | SEL_VALUE;
        sel_arrays_add(arrays, "links_step", &state->links_step, SEL_TYPE_OF(state->links_step), 1,
                       value);
        sel_arrays_add(arrays, "links_follow", &state->links_follow,
                       SEL_TYPE_OF(state->links_follow), 1, value);
    }
    list_strain(state, flags);
}

/* As the halo of the populations is stored. */
static sel_vicinity vicinity_of(const lbm_state *state, const sel_layout *layout) {
    const sel_patch *own = &state->base.own;
    const sel_field *populations = &state->base.field[0];
    sel_vicinity v = {.n = {layout->n[0], layout->n[1], layout->n[2]}};
    for (int a = 0; a < 3; a++) {
        const bool behind = populations->behind && a == layout->slow;
        v.lo[a] = own->lo[a];
        v.hi[a] = own->hi[a];
        v.below[a] = behind ? own->hi[a] : own->lo[a] - 1;
        v.above[a] = own->hi[a] + behind;
        v.stride[a] = sel_layout_stride(layout, a);
    }
    return v;
}

/* The openings in a patch, of a boundary that lists those of the grid. */
static int64_t lbm_state_openings_in(const lbm_boundary *boundary, const sel_patch *patch) {
    int64_t links[2] = {0}, openings[2] = {0}, count = 0;
    for (int64_t row = 0; row < boundary->rows; row++) {
        lbm_boundary_row(boundary, row, links, openings);
        count +=
            sel_patch_has_row(&boundary->domain->grid, patch, row) ? openings[1] - openings[0] : 0;
    }
    return count;
}

sel_input_cells lbm_acceleration_cells(const sel_state *base, const sel_input *input) {
    const lbm_state *state = (const lbm_state *)base;
    const int64_t real = lbm_real(base->plan), origin = state->acceleration_layout.origin;
    sel_input_cells cells = {.to = (char *)state->acceleration_field + origin * real,
                             .type = {'f', (uint32_t)real},
                             .layout = state->acceleration_layout,
                             .factor = 1,
                             .unit = lbm_acceleration_unit(state->plan),
                             .vicinity = &state->vicinity};
    (void)input;
    cells.layout.before += origin;
    return cells;
}

/* For an estimate, the plan lists those of the grid. */
void lbm_count_sites(lbm_state *state) {
    const sel_state *base = &state->base;
    const lbm_plan *plan = (const lbm_plan *)base->plan;
    const lbm_boundary *boundary = &plan->boundary;
    state->sites = boundary->links;
    state->openings = boundary->open_count;
    state->sponge = plan->sponge.sites;
    if (base->ranks->count > 1 && !boundary->links.ranks) {
        state->sites = sel_sites_divide(&boundary->links, base->ranks, &base->decomposition);
        state->openings = lbm_state_openings_in(boundary, &base->own);
    }
    if (base->ranks->count > 1 && lbm_has_sponge(plan) && !plan->sponge.sites.ranks) {
        state->sponge = sel_sites_divide(&plan->sponge.sites, base->ranks, &base->decomposition);
    }
}

void lbm_list(lbm_state *state, const sel_field *populations, const sel_layout *acceleration) {
    const lbm_plan *plan = state->plan = (const lbm_plan *)state->base.plan;
    const lbm_boundary *boundary = &plan->boundary;
    const sel_domain *domain = plan->base.domain;
    const bool books = plan->base.wants_balance, field = lbm_acceleration_is_field(plan);
    const sel_type real = {'f', (uint32_t)lbm_real(&plan->base)};
    sel_arrays *arrays = &state->base.arrays;
    state->base.last = (sel_last){.type = real, .components = domain->grid.dims, .scale = 1};
    sel_field f = *populations;
    f.flags = SEL_SAVED | SEL_ANY_NUMBER;
    f.copies = 2;
    f.alternates = true;
    f.at = state->f;
    /* Absorbing faces and parabolic walls look at all of a cell beside, also across the ends of
     * patches. */
    const bool whole = plan->moments || boundary->absorbs || boundary->curvature != 0;
    for (int i = 0; i < boundary->lattice->q && !whole; i++) {
        for (int a = 0; a < 3; a++) {
            const int e = boundary->lattice->direction[i].e[a];
            f.moves[a][e > 0] |= (e ? 1u : 0u) << i;
        }
    }
    for (int a = 0; a < domain->grid.dims && whole; a++) {
        f.moves[a][0] = f.moves[a][1] = (1u << plan->components) - 1;
    }
    f.name = plan->moments ? "moments" : "f";
    f.type = real;
    sel_state_add_field(&state->base, &f);
    if (field) {
        state->acceleration_layout = *acceleration;
        state->vicinity = vicinity_of(state, acceleration);
        sel_arrays_add_patch(arrays, "acceleration_field", &state->acceleration_field, real,
                             acceleration, 0);
    }
    state->copies = state->copies > 1 ? state->copies : 1;
    SEL_ADD(arrays, state, link_add, state->copies * state->sites.count, 0);
    SEL_ADD(arrays, state, link_velocity,
            lbm_wants_velocity(plan) ? 3 * state->copies * state->sites.count : 0, 0);
    SEL_ADD(arrays, state, open_value, state->copies * LBM_OPEN_VALUES * state->openings, 0);
    list_observed(state, real);
    sel_state_list_room(&state->base);
    if (boundary->closed_count > 0) {
        sel_arrays_add_sites(arrays, "gain", &state->gain, SEL_TYPE_OF(*state->gain), &state->sites,
                             1, SEL_SAVED);
        SEL_ADD(arrays, state, owed, boundary->closed_count, SEL_SAVED);
        SEL_ADD(arrays, state, returned, 1, SEL_SAVED);
    }
    sel_arrays_add_sites(arrays, "link_flow", &state->link_flow, SEL_TYPE_OF(*state->link_flow),
                         &state->sites, books, SEL_SAVED);
    if (lbm_has_sponge(plan)) {
        sel_arrays_add_sites(arrays, "sponge_gain", &state->sponge_gain,
                             SEL_TYPE_OF(*state->sponge_gain), &state->sponge, books, SEL_SAVED);
    }
    SEL_ADD(arrays, state, out, books ? domain->region_count + 1 : 0, SEL_SAVED | SEL_ON_HOST);
    SEL_ADD(arrays, state, rate, books ? domain->region_count + 1 : 0, SEL_SAVED | SEL_ON_HOST);
    if (books) {
        SEL_ADD_VALUE(arrays, state, balance_step);
        SEL_ADD_VALUE(arrays, state, first_mass);
    }
}
