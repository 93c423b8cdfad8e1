/* heat_state.c -- the arrays of sel.heat, their start, and its balance, for all backends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/heat/heat.h"

/* Elements of a row: whole lines of the caches. */
static int64_t pitch_of(int64_t nx) {
    return (nx + 31) / 32 * 32;
}

void heat_list(sel_state *base) {
    heat_state *state = (heat_state *)base;
    const heat_plan *plan = state->plan = (const heat_plan *)base->plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t *n = grid->n;
    const bool deep = grid->dims == 3;
    const int64_t pitch = pitch_of(n[0]), plane = deep ? n[1] * pitch : pitch;
    const int64_t halo = (state->halo ? state->halo : 1) * plane;
    const sel_surfaces *on = &plan->inputs.surfaces;
    const sel_type real = {'f', plan->base.precision == SEL_F32 ? 4 : 8};
    const sel_cells cells = {.n = {n[0], n[1], n[2]},
                             .components = 1,
                             .first = halo,
                             .pitch = pitch,
                             .slice = n[1] * pitch,
                             .plane = n[2] * n[1] * pitch,
                             .count = n[2] * n[1] * pitch + 2 * halo};
    base->last = (sel_last){.type = {'f', 8}, .components = 1, .scale = 1}; /* as look.cuh has it */
    base->turns = (sel_turns){state->T, real, cells, .width = (int)(halo / plane), .margin = -halo};
    sel_state_list_turns(base, "temperature");
    void *const list[] = {&state->g[0], &state->g[1], &state->g[2], &state->m};
    for (int k = 0; k < 4 && plan->kind == HEAT_VARIED; k++) {
        sel_arrays_add(&base->arrays, "coefficients", list[k], real,
                       k == 2 && !deep ? 0 : plan->inputs.source.count, 0);
    }
    SEL_ADD(&base->arrays, state, site, on->sites, 0);
    SEL_ADD(&base->arrays, state, b, on->cells, 0);
    SEL_ADD(&base->arrays, state, s, on->cells, 0);
    SEL_ADD(&base->arrays, state, entering,
            plan->base.wants_balance || plan->base.wants_links ? on->sites : 0, 0);
}

heat_view heat_view_of(const heat_state *state, int64_t step, int b) {
    const heat_plan *plan = state->plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const sel_turns *turns = &state->base.turns;
    const sel_block *block = &state->base.blocks.v[b];
    const int64_t first = -turns->margin * turns->type.size;
    heat_view v = {.dims = grid->dims,
                   .kind = plan->kind,
                   .single = turns->type.size == sizeof(float),
                   .nodes = grid->nodes,
                   .wraps = state->base.blocks.wraps && state->base.blocks.count == 1,
                   .periodic = grid->periodic,
                   .first = block->first,
                   .end = block->end,
                   .stride = {1, turns->cells.pitch, turns->cells.slice},
                   .apart = {1, plan->inputs.source.pitch, plan->inputs.source.slice},
                   .dt = grid->dt,
                   .capacity = plan->capacity,
                   .from = (const char *)state->T[b][step & 1] + first,
                   .to = (char *)state->T[b][(step + 1) & 1] + first,
                   .g = {state->g[0], state->g[1], state->g[2]},
                   .m = state->m,
                   .q = state->base.given.source};
    for (int a = 0; a < 3; a++) {
        v.n[a] = grid->n[a];
        v.k[a] = plan->k[a];
        v.dx[a] = grid->dx[a];
        v.r[a] = plan->k[a] * grid->dt / (plan->capacity * grid->dx[a] * grid->dx[a]);
    }
    return v;
}

/* The first cell on a surface whose number is not below `number`. */
static int64_t surface_from(const sel_surfaces *on, int64_t number) {
    int64_t low = 0, high = on->cells;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        low = on->cell[middle] < number ? middle + 1 : low;
        high = on->cell[middle] < number ? high : middle;
    }
    return low;
}

void heat_surface_range(const heat_state *state, int b, int64_t *first, int64_t *end) {
    const sel_block *block = &state->base.blocks.v[b];
    const int64_t cells = state->base.blocks.rows_per_plane * state->plan->base.domain->grid.n[0];
    *first = surface_from(&state->plan->inputs.surfaces, block->first * cells);
    *end = surface_from(&state->plan->inputs.surfaces, block->end * cells);
}

/* ---- the start ---- */

/* Conductances along an axis (0 to 2), or m (3), of all cells. Beyond the last cell of a periodic
 * axis stands the conductance of the first. */
static void fill(const heat_state *state, int which, void *to) {
    const heat_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const heat_view v = heat_view_of(state, 0, 0);
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t row = 0; row < v.n[1] * v.n[2]; row++) {
        for (int64_t x = 0; x < v.n[0]; x++) {
            const int64_t at[3] = {x, row % v.n[1], row / v.n[1]};
            const int64_t cell = row * v.n[0] + x, i = heat_place(v.apart, at);
            if (which == 3) {
                const double heat = heat_capacity_of(plan, cell) * heat_inside(&v, at, -1);
                sel_put(to, state->base.turns.type, i, domain->cell[cell] ? 0 : v.dt / heat);
            } else {
                const double g = heat_face(plan, cell, 2 * which);
                sel_put(to, state->base.turns.type, i, g);
                if (at[which] == 0) {
                    sel_put(to, state->base.turns.type, i + v.n[which] * v.apart[which], g);
                }
            }
        }
    }
}

static sel_status start_coefficients(heat_state *state, sel_error *error) {
    const size_t bytes = (size_t)state->plan->inputs.source.count * state->base.turns.type.size;
    void *const list[] = {state->g[0], state->g[1], state->g[2], state->m};
    void *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the coefficients", bytes);
    for (int k = 0; k < 4 && !status; k++) {
        if (list[k]) {
            memset(values, 0, bytes);
            fill(state, k, values);
            status = sel_arrays_send(&state->base.arrays, list[k], values, bytes, error);
        }
    }
    free(values);
    return status;
}

/* sel_state_edit: nodes on surfaces of given temperature have it from the start. */
static void set_fixed_nodes(const sel_state *base, int64_t first, int64_t end, double *values) {
    const heat_plan *plan = ((const heat_state *)base)->plan;
    const sel_surfaces *on = &plan->inputs.surfaces;
    for (int64_t k = 0; k < on->cells; k++) {
        double b, s;
        heat_surfaces(plan->site, plan->inputs.value, on->first_site[k], on->first_site[k + 1], 1,
                      &b, &s);
        if (isinf(b) && on->cell[k] >= first && on->cell[k] < end) {
            values[on->cell[k] - first] = s;
        }
    }
}

sel_status heat_start(sel_state *base, sel_error *error) {
    heat_state *state = (heat_state *)base;
    const heat_plan *plan = state->plan;
    const size_t bytes = (size_t)plan->inputs.surfaces.sites * sizeof *plan->site;
    sel_status status = sel_arrays_send(&base->arrays, state->site, plan->site, bytes, error);
    status = status ? status
                    : sel_state_start(base, &plan->params->initial.temperature, "temperature",
                                      set_fixed_nodes, error);
    return status || plan->kind != HEAT_VARIED ? status : start_coefficients(state, error);
}

/* ---- answers ---- */

void heat_answer(const heat_plan *plan, const double *entering, double heat, double before,
                 double source, sel_request *request) {
    const sel_domain *domain = plan->base.domain;
    double rate = (heat - before) / domain->grid.dt;
    double sum[SEL_REGION_NUMBERS] = {0}, all = source;
    const sel_surfaces *on = &plan->inputs.surfaces;
    for (int64_t k = 0; k < on->sites; k++) {
        sum[on->site[k].region] += entering[k];
    }
    if (request->kind == SEL_FLUX) {
        request->flux = -sum[request->region];
        return;
    }
    for (int r = 1; r <= domain->region_count; r++) {
        all += sum[r];
    }
    rate = isnan(before) ? all : rate;
    double turned_over = fabs(rate) + fabs(source);
    sel_request_term(request, "heat", "", heat);
    sel_request_term(request, "rate", "", rate);
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        turned_over += fabs(sum[r]);
        if (on->first_of[r] < on->first_of[r + 1]) {
            sel_request_term(request, "in_", sel_region_name(domain, r, text), sum[r]);
        }
    }
    if (sel_quantity_given(&plan->params->source)) {
        sel_request_term(request, "source", "", source);
    }
    /* What appeared from nowhere in the step, as a part of the heat that is there or moved. */
    const double dt = domain->grid.dt, moved = fabs(heat) + turned_over * dt;
    sel_request_term(request, "error", "", moved > 0 ? (rate - all) * dt / moved : 0);
}
