/* heat_state.c -- the arrays of sel.heat, their start, and its balance, for all backends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/heat/heat.h"

/* Elements of a row: whole lines of the caches. */
static int64_t pitch_of(int64_t nx) {
    return (nx + 31) / 32 * 32;
}

/* Of cells and of the faces beyond the last ones. */
static int64_t coefficients(const sel_grid *grid) {
    const int64_t *n = grid->n;
    return (n[0] + 1) * (n[1] + 1) * (grid->dims == 3 ? n[2] + 1 : 1);
}

uint64_t heat_coefficient_bytes(const heat_state *state) {
    return (uint64_t)coefficients(&state->plan->base.domain->grid) * state->base.turns.type.size;
}

void heat_list(sel_state *base) {
    heat_state *state = (heat_state *)base;
    const heat_plan *plan = state->plan = (const heat_plan *)base->plan;
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t *n = grid->n;
    const bool deep = grid->dims == 3;
    const int64_t pitch = pitch_of(n[0]), plane = deep ? n[1] * pitch : pitch;
    const int64_t halo = (state->halo ? state->halo : 1) * plane;
    const sel_surfaces *on = &plan->surfaces;
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
    void *const list[] = {&state->g[0], &state->g[1], &state->g[2], &state->m, &state->q};
    for (int k = 0; k < 5 && plan->kind == HEAT_VARIED; k++) {
        sel_arrays_add(&base->arrays, "coefficients", list[k], real,
                       k == 2 && !deep ? 0 : coefficients(grid), 0);
    }
    SEL_ADD(&base->arrays, state, site, on->sites, 0);
    SEL_ADD(&base->arrays, state, cell, on->cells, 0);
    SEL_ADD(&base->arrays, state, first_site, on->cells + 1, 0);
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
                   .apart = {1, grid->n[0] + 1, (grid->n[0] + 1) * (grid->n[1] + 1)},
                   .dt = grid->dt,
                   .capacity = plan->capacity,
                   .from = (const char *)state->T[b][step & 1] + first,
                   .to = (char *)state->T[b][(step + 1) & 1] + first,
                   .g = {state->g[0], state->g[1], state->g[2]},
                   .m = state->m,
                   .q = state->q};
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
    *first = surface_from(&state->plan->surfaces, block->first * cells);
    *end = surface_from(&state->plan->surfaces, block->end * cells);
}

/* ---- the start ---- */

static void set(void *array, sel_type real, int64_t k, double value) {
    if (real.size == sizeof(float)) {
        ((float *)array)[k] = (float)value;
    } else {
        ((double *)array)[k] = value;
    }
}

sel_status heat_source(const heat_state *state, double t, void *to, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const int64_t *n = domain->grid.n, rows = n[1] * n[2];
    const sel_quantity *source = &state->plan->params->source;
    const size_t bytes = (size_t)(rows * n[0]) * sizeof(double);
    double *values = sel_quantity_given(source) ? malloc(bytes) : NULL;
    if (!values) {
        return sel_quantity_given(source) ? sel_fail_memory(error, "the source", bytes) : SEL_OK;
    }
    const heat_view v = heat_view_of(state, 0, 0);
    const sel_evaluation asked = {source, "source", .t = t, .end = rows};
    sel_status status = sel_domain_evaluate(domain, &asked, state->base.threads, values, error);
    for (int64_t row = 0; row < rows && !status; row++) {
        for (int64_t x = 0; x < n[0]; x++) {
            const int64_t at[3] = {x, row % n[1], row / n[1]};
            set(to, state->base.turns.type, heat_place(v.apart, at),
                values[row * n[0] + x] * heat_inside(&v, at, -1));
        }
    }
    free(values);
    return status;
}

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
                set(to, state->base.turns.type, i, domain->cell[cell] ? 0 : v.dt / heat);
            } else {
                const double g = heat_face(plan, cell, 2 * which);
                set(to, state->base.turns.type, i, g);
                if (at[which] == 0) {
                    set(to, state->base.turns.type, i + v.n[which] * v.apart[which], g);
                }
            }
        }
    }
}

static sel_status start_coefficients(heat_state *state, sel_error *error) {
    const size_t bytes = heat_coefficient_bytes(state);
    void *const list[] = {state->g[0], state->g[1], state->g[2], state->m, state->q};
    void *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the coefficients", bytes);
    for (int k = 0; k < 5 && !status; k++) {
        memset(values, 0, bytes);
        if (k == 4) {
            status = heat_source(state, 0, values, error);
        } else if (list[k]) {
            fill(state, k, values);
        }
        if (!status && list[k]) {
            status = sel_arrays_send(&state->base.arrays, list[k], values, bytes, error);
        }
    }
    free(values);
    return status;
}

/* sel_state_edit: nodes on surfaces of given temperature have it from the start. */
static void set_fixed_nodes(const sel_state *base, int64_t first, int64_t end, double *values) {
    const heat_plan *plan = ((const heat_state *)base)->plan;
    const sel_surfaces *on = &plan->surfaces;
    for (int64_t k = 0; k < on->cells; k++) {
        const int64_t at = on->first_site[k];
        double b, s;
        heat_surfaces(plan->site + at, on->first_site[k + 1] - at, 1, &b, &s);
        if (isinf(b) && on->cell[k] >= first && on->cell[k] < end) {
            values[on->cell[k] - first] = s;
        }
    }
}

sel_status heat_start(sel_state *base, sel_error *error) {
    heat_state *state = (heat_state *)base;
    const heat_plan *plan = state->plan;
    const sel_surfaces *on = &plan->surfaces;
    const size_t cells = (size_t)on->cells;
    double *numbers = malloc((2 * cells + 1) * sizeof *numbers); /* b, s */
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } lists[] = {{state->site, plan->site, (size_t)on->sites * sizeof *plan->site},
                 {state->cell, on->cell, cells * sizeof *on->cell},
                 {state->first_site, on->first_site, (cells + 1) * sizeof *on->first_site},
                 {state->b, numbers, cells * sizeof *numbers},
                 {state->s, numbers + cells, cells * sizeof *numbers}};
    sel_status status = numbers ? SEL_OK : sel_fail_memory(error, "the surfaces", 0);
    status = status ? status : heat_evaluate_sites(plan, HEAT_ALL_LAWS, -1, plan->site, error);
    for (size_t k = 0; k < cells && !status; k++) {
        const int64_t first = on->first_site[k];
        heat_surfaces(plan->site + first, on->first_site[k + 1] - first, plan->base.domain->grid.dt,
                      &numbers[k], &numbers[cells + k]);
    }
    status = status ? status
                    : sel_state_start(base, &plan->params->initial.temperature, "temperature",
                                      set_fixed_nodes, error);
    for (size_t k = 0; k < sizeof lists / sizeof *lists && !status; k++) {
        status = sel_arrays_send(&base->arrays, lists[k].to, lists[k].from, lists[k].bytes, error);
    }
    free(numbers);
    return status || plan->kind != HEAT_VARIED ? status : start_coefficients(state, error);
}

/* ---- answers ---- */

void heat_answer(const heat_plan *plan, const double *entering, double heat, double before,
                 double source, sel_request *request) {
    const sel_domain *domain = plan->base.domain;
    double rate = (heat - before) / domain->grid.dt;
    double sum[SEL_REGION_NUMBERS] = {0}, all = source;
    for (int64_t k = 0; k < plan->surfaces.sites; k++) {
        sum[plan->site[k].region] += entering[k];
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
        if (plan->surfaces.first_of[r] < plan->surfaces.first_of[r + 1]) {
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
