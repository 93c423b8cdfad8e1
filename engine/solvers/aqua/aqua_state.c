/* aqua_state.c -- the arrays of sel.aqua, what they hold at step 0, and what requests find. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/aqua/aqua_state.h"

/* ---- the arrays ---- */

static void aqua_state_list_cells(aqua_state *state, int64_t before, int64_t behind) {
    const aqua_plan *plan = state->plan;
    const sel_type depth = {state->store.whole ? 'i' : 'f', (uint32_t)state->size};
    const aqua_layout *layout = &plan->layout;
    const bool most = aqua_wants(plan, AQUA_MAX_DEPTH) || aqua_wants(plan, AQUA_MAX_LEVEL);
    const sel_layout none = {.count = 0};
    sel_arrays *arrays = &state->base.arrays;
    sel_layout framed = sel_plain_layout(&plan->base.domain->grid, 1);
    framed.origin = aqua_index(layout, 0, 0);
    framed.pitch = layout->pitch;
    framed.before = before;
    framed.count = before + layout->cells + behind;
    const sel_field water = {.name = "water",
                             .flags = SEL_SAVED | SEL_ANY_NUMBER,
                             .copies = 2,
                             .alternates = true,
                             .at = state->water,
                             .type = depth,
                             .layout = sel_patch_layout(&framed, &state->base.own),
                             .halo = AQUA_HALO,
                             .lead = {0, framed.origin - AQUA_HALO * layout->pitch}};
    state->base.last = (sel_last){.type = depth, .components = 1, .scale = state->store.per_metre};
    sel_state_add_field(&state->base, &water);
    sel_state_list_room(&state->base);
    sel_arrays_add_cells(arrays, "bed", &state->bed, state->real, &water.layout, 0);
    sel_arrays_add_cells(arrays, "alphas", &state->alphas, state->real,
                         plan->alpha ? &water.layout : &none, 0);
    sel_state_list_own(&state->base, "most", &state->most, depth, most, SEL_SAVED);
    sel_state_list_own(&state->base, "arrived", &state->arrived, SEL_TYPE_OF(*state->arrived),
                       aqua_wants(plan, AQUA_ARRIVAL_TIME), SEL_SAVED);
    static const char *const names[AQUA_SUPPLIES][2] = {{"rain", "rain_owed"},
                                                        {"soil", "soil_owed"}};
    for (int k = 0; k < AQUA_SUPPLIES; k++) {
        const bool field = aqua_is_field(plan, k);
        sel_state_list_own(&state->base, names[k][0], &state->rate[k], state->real, field, 0);
        sel_state_list_own(&state->base, names[k][1], &state->owed[k], state->real, field,
                           SEL_SAVED | SEL_PART);
    }
}

void aqua_list(aqua_state *state, int64_t before, int64_t behind) {
    const aqua_plan *plan = state->plan = (const aqua_plan *)state->base.plan;
    const int64_t sources = plan->source_count;
    const unsigned kept = SEL_SAVED | SEL_ON_HOST;
    sel_arrays *arrays = &state->base.arrays;
    state->store = aqua_store_of(plan);
    state->size = state->store.whole ? 4 : 8;
    state->real = (sel_type){'f', (uint32_t)state->size};
    aqua_state_list_cells(state, before, behind);
    SEL_ADD(arrays, state, values, AQUA_SUPPLIES + sources + plan->ghosts.count, SEL_ON_HOST);
    SEL_ADD(arrays, state, carry, AQUA_SUPPLIES + sources, kept | SEL_PART);
    SEL_ADD(arrays, state, inflow_turn, sources, kept);
    SEL_ADD(arrays, state, totals, aqua_total_count(plan), kept);
    SEL_ADD_VALUE(arrays, state, first_volume);
    const bool asks = plan->base.wants_balance || plan->base.wants_links;
    state->edge_count = asks ? plan->ghosts.first_edge[AQUA_FIRSTS - 1] + plan->base.link_count : 0;
    SEL_ADD(arrays, state, edges, state->edge_count, 0);
    SEL_ADD(arrays, state, shown, plan->base.wants_links ? state->edge_count : 0,
            SEL_SAVED | SEL_OPTIONAL | SEL_OBSERVED);
}

/* ---- elements of arrays ---- */

/* Edge e: those of ghosts, then the plan's links. */
static aqua_edge edge_of(const aqua_plan *plan, int64_t e) {
    const int64_t own = plan->ghosts.first_edge[AQUA_FIRSTS - 1];
    if (e < own) {
        return plan->ghosts.edge[e];
    }
    const sel_link *link = &plan->base.links[e - own];
    return (aqua_edge){aqua_index(&plan->layout, link->x, link->y), 2 * link->k, link->sign};
}

static void set_edge(const sel_state *base, int64_t e, void *to) {
    *(aqua_edge *)to = edge_of((const aqua_plan *)base->plan, e);
}

/* The bed of element k, also of the frame and the rest of a row, in units; but for ghosts. */
static void set_bed(const sel_state *base, int64_t k, void *to) {
    const aqua_state *state = (const aqua_state *)base;
    const aqua_layout *layout = &state->plan->layout;
    const sel_domain *domain = state->base.plan->domain;
    const int64_t cell = sel_free_cell(domain, aqua_column(layout, k), aqua_row(layout, k));
    sel_put(to, state->real, 0,
            cell < 0 ? AQUA_NO_GROUND : aqua_bed_of(&state->store, state->plan->ground[cell]));
}

/* Painted cells have no alpha of their own. They take the largest beside them, so that water from a
 * level flows as fast as in the cells that it enters; so do those beyond a face. */
static void set_alpha(const sel_state *base, int64_t k, void *to) {
    const aqua_state *state = (const aqua_state *)base;
    const aqua_layout *layout = &state->plan->layout;
    const sel_domain *domain = state->base.plan->domain;
    int64_t at[3] = {aqua_column(layout, k), aqua_row(layout, k), 0};
    for (int a = 0; a < 2; a++) {
        const int64_t last = domain->grid.n[a] - 1;
        at[a] = sel_axis_periodic(&domain->grid, a) ? sel_wrapped(&domain->grid, a, at[a])
                : at[a] < 0                         ? 0
                : at[a] < last                      ? at[a]
                                                    : last;
    }
    const int64_t here = sel_cell_number(&domain->grid, at);
    double alpha = state->plan->alpha[here];
    for (int u = 0; domain->cell[here] != 0 && u < AQUA_AROUND; u++) {
        const int64_t cell =
            sel_free_cell(domain, at[0] + aqua_around[u][0], at[1] + aqua_around[u][1]);
        alpha = cell >= 0 ? fmax(alpha, state->plan->alpha[cell]) : alpha;
    }
    sel_put(to, state->real, 0, fmin(alpha, state->store.largest_alpha));
}

/* ---- step 0 ---- */

/* sel_state_edit: depths in units. Refuses the first that is negative, or beyond the store's limit.
 */
static sel_status take_depths(const sel_state *base, int64_t first, int64_t end, double *depths,
                              sel_error *error) {
    const aqua_state *state = (const aqua_state *)base;
    int64_t wrong = end;
#pragma omp parallel for schedule(static) num_threads(base->threads) reduction(min : wrong)
    for (int64_t i = first; i < end; i++) {
        const double depth = depths[i - first];
        if ((depth < 0 || depth * state->store.per_metre > state->store.limit) && i < wrong) {
            wrong = i;
        } else {
            depths[i - first] = aqua_water_of(&state->store, depth);
        }
    }
    if (wrong == end) {
        return SEL_OK;
    }
    if (!(depths[wrong - first] < 0)) {
        return aqua_too_deep(state->plan, 0, wrong, error);
    }
    char text[SEL_CELL_TEXT];
    return sel_fail_at(error, sel_simulation_where(base->plan->simulation, "initial"),
                       "the initial depth at cell %s is negative, %g",
                       sel_cell_text(&base->plan->domain->grid, wrong, text),
                       depths[wrong - first]);
}

sel_status aqua_start(aqua_state *state, sel_error *error) {
    const sel_quantity *depth = &state->plan->params->initial.depth;
    const aqua_layout *layout = &state->plan->layout;
    const sel_patch *own = &state->base.own;
    const int64_t first = own->lo[1] * layout->pitch, size = state->size;
    const int64_t cells = (sel_patch_cells(own, 1) + 2 * AQUA_HALO) * layout->pitch;
    sel_status status =
        sel_state_start(&state->base, depth, "initial.depth", take_depths, NULL, error);
    status = status ? status
                    : sel_state_set(&state->base, state->bed, first, cells, size, set_bed,
                                    "the ground", error);
    status = status ? status
                    : sel_state_set(&state->base, state->alphas, first, cells, size, set_alpha,
                                    "alpha", error);
    return status ? status
                  : sel_state_set(&state->base, state->edges, 0, state->edge_count,
                                  sizeof *state->edges, set_edge, "the edges", error);
}

/* ---- answers ---- */

/* Adds a term to the answer and returns it, m3. */
static double aqua_state_add_term(const aqua_state *state, sel_term_kind kind, const char *prefix,
                                  const char *name, const sel_total *total, sel_request *request) {
    const double value = sel_total_of(total, state->store.whole) * aqua_volume_unit(state);
    sel_request_term(request, kind, prefix, name, value);
    return value;
}

int64_t aqua_parts_of(const aqua_plan *plan, int64_t total) {
    const int64_t r = total - aqua_total_of(plan, 0), *first = plan->ghosts.first_edge;
    if (total < AQUA_SUPPLIES) {
        const int k = (int)total;
        const bool summed = aqua_is_field(plan, k) || (k == AQUA_SOIL && aqua_supply_of(plan, k));
        return summed ? plan->layout.ny : 0;
    }
    return r > 0 && plan->base.wants_balance ? first[r + 1] - first[r] : 0;
}

void aqua_join_parts(const aqua_plan *plan, sel_total *parts, sel_total *totals, bool inverse) {
    for (int64_t i = 0; i < aqua_total_count(plan); i++) {
        sel_total sum = {0};
        const int64_t count = aqua_parts_of(plan, i);
        for (int64_t k = 0; k < count; k++, parts++) {
            if (inverse) {
                *parts = k == 0 ? totals[i] : (sel_total){0};
            }
            sel_total_join(&sum, parts);
        }
        totals[i] = count && !inverse ? sum : totals[i];
    }
}

void aqua_answer_balance(const aqua_state *state, const sel_total *totals, double volume,
                         sel_request *request) {
    const aqua_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const double unit = aqua_volume_unit(state), now = volume * unit;
    double in = state->first_volume * unit, out = 0;
    request->term_count = 0;
    sel_request_term(request, SEL_TERM_CONTENT, "volume", "", now);
    if (aqua_supply_of(plan, AQUA_RAIN)) {
        in += aqua_state_add_term(state, SEL_TERM_IN, "rain", "", &totals[AQUA_RAIN], request);
    }
    for (int s = 0; s < plan->source_count; s++) {
        in += aqua_state_add_term(state, SEL_TERM_IN, "inflow_", plan->inlets[s].name,
                                  &totals[AQUA_SUPPLIES + s], request);
    }
    if (aqua_supply_of(plan, AQUA_SOIL)) {
        out += aqua_state_add_term(state, SEL_TERM_OUT, "infiltration", "", &totals[AQUA_SOIL],
                                   request);
    }
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        if (aqua_passes(domain, r)) {
            out +=
                aqua_state_add_term(state, SEL_TERM_OUT, "out_", sel_region_name(domain, r, text),
                                    &totals[aqua_total_of(plan, r)], request);
        }
    }
    sel_request_term(request, SEL_TERM_ERROR, "error", "", now + out - in);
}

int64_t aqua_row_of_edge(const sel_state *base, int64_t e) {
    const aqua_plan *plan = (const aqua_plan *)base->plan;
    return aqua_row_beside(&plan->layout, edge_of(plan, e).at);
}

int64_t aqua_row_of_part(const sel_state *base, int64_t k) {
    const aqua_plan *plan = (const aqua_plan *)base->plan;
    const int64_t rows = aqua_parts_of(plan, AQUA_RAIN) + aqua_parts_of(plan, AQUA_SOIL);
    return k < rows ? k % plan->layout.ny : aqua_row_of_edge(base, k - rows);
}

int64_t aqua_flux_edges(const aqua_plan *plan, const sel_request *request, int64_t *first) {
    const int64_t *edge = plan->ghosts.first_edge + request->region;
    if (request->region) {
        *first = edge[0];
        return edge[1] - edge[0];
    }
    const sel_line *line = sel_plan_line_of(&plan->base, request);
    *first = plan->ghosts.first_edge[AQUA_FIRSTS - 1] + line->first;
    return line->count;
}

void aqua_answer_flux(const aqua_state *state, const double *shown, int64_t count,
                      sel_request *request) {
    sel_total total = {0};
    for (int64_t e = 0; e < count; e++) {
        sel_total_more(&total, state->store.whole, shown[e]);
    }
    const double of_line = request->region ? 1 : 0.5; /* each link counts for two lines */
    request->flux = of_line * sel_total_of(&total, state->store.whole) * aqua_volume_unit(state) /
                    state->plan->base.domain->grid.dt;
}
