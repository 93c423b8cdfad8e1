/* aqua_cpu_requests.c -- what outputs and the run loop ask of the CPU backend of sel.aqua. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "engine/aqua/aqua_cpu.h"
#include "engine/reduce.h"

/* A field on x0 <= x < x1 of row y in the user's units, at the start of the thread's row; what it
 * holds in solids means nothing. */
static const double *field_row(const aqua_cpu *state, int field, int64_t y, int64_t x0,
                               int64_t x1) {
    const aqua_plan *plan = state->plan;
    const int64_t nx = plan->layout.nx, n = x1 - x0, at = y * nx + x0, size = state->size;
    double *to = state->rows + nx * omp_get_thread_num();
    const double *ground = plan->ground + at;
    const char *depths =
        (const char *)state->water[state->base.step & 1] + aqua_index(&plan->layout, x0, y) * size;
    bool most = field == AQUA_MAX_DEPTH || field == AQUA_MAX_LEVEL;
    if (field == AQUA_GROUND) {
        memcpy(to, ground, (size_t)n * sizeof *to);
    } else if (field == AQUA_ARRIVAL_TIME) {
        for (int64_t x = 0; x < n; x++) {
            int32_t step = state->arrived[at + x];
            to[x] = step < 0 ? -1 : step * plan->base.domain->grid.dt;
        }
    } else {
        state->loops->read(most ? (const char *)state->most + at * size : depths, n,
                           state->store.per_metre, to);
    }
    for (int64_t x = 0; (field == AQUA_LEVEL || field == AQUA_MAX_LEVEL) && x < n; x++) {
        to[x] += ground[x];
    }
    return to;
}

static void store(const sel_request *request, double value, bool solid, int64_t at) {
    for (int c = 0; c < request->components; c++) {
        double v = c == 0 && !solid ? value : 0;
        if (request->precision == SEL_F32) {
            ((float *)request->to)[at * request->components + c] = (float)v;
        } else {
            ((double *)request->to)[at * request->components + c] = v;
        }
    }
}

static void read_cells(const aqua_cpu *state, const sel_request *request) {
    const int64_t nx = state->plan->layout.nx;
    for (int64_t c = 0; c < request->cell_count; c++) {
        int64_t y = request->cells[c] / nx, x = request->cells[c] % nx;
        store(request, *field_row(state, request->field, y, x, x + 1),
              sel_state_solids(&state->base, y)[x] != 0, c);
    }
}

static void read_box(const aqua_cpu *state, const sel_request *request) {
    const sel_box *box = &request->box;
    const int64_t width = sel_box_count(box, 0), rows = sel_box_count(box, 1);
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t j = 0; j < rows; j++) {
        int64_t y = box->lo[1] + j * box->stride[1];
        const double *values = field_row(state, request->field, y, box->lo[0], box->hi[0]);
        const uint8_t *solid = sel_state_solids(&state->base, y) + box->lo[0];
        for (int64_t i = 0; i < width; i++) {
            int64_t k = i * box->stride[0];
            store(request, values[k], solid[k] != 0, j * width + i);
        }
    }
}

/* Columns of a row's partials. */
enum { SUM, SQUARES, LEAST, MOST, CELLS };

static void reduce_row(const aqua_cpu *state, const sel_request *request, int64_t y,
                       double *partial) {
    const sel_box *box = &request->box;
    const double *values = field_row(state, request->field, y, box->lo[0], box->hi[0]);
    partial[SUM] = partial[SQUARES] = partial[CELLS] = 0;
    partial[LEAST] = HUGE_VAL;
    partial[MOST] = -HUGE_VAL;
    for (int64_t x = box->lo[0]; x < box->hi[0]; x += box->stride[0]) {
        double value = values[x - box->lo[0]];
        if (sel_state_solids(&state->base, y)[x]) {
            continue;
        }
        partial[SUM] += value;
        partial[SQUARES] += value * value;
        partial[LEAST] = fmin(partial[LEAST], value);
        partial[MOST] = fmax(partial[MOST], value);
        partial[CELLS]++;
    }
}

static void reduce(const aqua_cpu *state, sel_request *request) {
    const sel_box *box = &request->box;
    const int64_t rows = sel_box_count(box, 1);
    double *partials = state->base.partials;
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t j = 0; j < rows; j++) {
        reduce_row(state, request, box->lo[1] + j * box->stride[1], partials + j * SEL_PARTIALS);
    }
    request->min[0] = HUGE_VAL;
    request->max[0] = -HUGE_VAL;
    for (int64_t j = 0; j < rows; j++) {
        request->min[0] = fmin(request->min[0], partials[j * SEL_PARTIALS + LEAST]);
        request->max[0] = fmax(request->max[0], partials[j * SEL_PARTIALS + MOST]);
    }
    request->sum[0] = sel_tree_sum(partials + SUM, rows, SEL_PARTIALS);
    request->sum_of_squares[0] = sel_tree_sum(partials + SQUARES, rows, SEL_PARTIALS);
    request->count = (int64_t)sel_tree_sum(partials + CELLS, rows, SEL_PARTIALS);
}

enum { CHANGE, MAGNITUDE, LARGEST, BAD };

/* The depth at the last monitor, m, which the present one replaces. */
static double exchange(const aqua_cpu *state, int64_t cell, int64_t at) {
    const void *water = state->water[state->base.step & 1];
    double before;
    if (state->store.whole) {
        before = (double)((int32_t *)state->last)[cell] / state->store.per_metre;
        ((int32_t *)state->last)[cell] = ((const int32_t *)water)[at];
    } else {
        before = ((double *)state->last)[cell];
        ((double *)state->last)[cell] = ((const double *)water)[at];
    }
    return before;
}

static void monitor_row(const aqua_cpu *state, int64_t y, bool only_bad_cell, double *partial) {
    const aqua_layout *layout = &state->plan->layout;
    const double *depth = field_row(state, AQUA_DEPTH, y, 0, layout->nx);
    partial[CHANGE] = partial[MAGNITUDE] = partial[LARGEST] = 0;
    partial[BAD] = -1;
    for (int64_t x = 0; x < layout->nx; x++) {
        if (sel_state_solids(&state->base, y)[x]) {
            continue;
        }
        if (!isfinite(depth[x])) {
            partial[BAD] = partial[BAD] < 0 ? (double)x : partial[BAD];
            continue;
        }
        partial[LARGEST] = fmax(partial[LARGEST], depth[x]);
        if (!only_bad_cell) {
            double change =
                depth[x] - exchange(state, y * layout->nx + x, aqua_index(layout, x, y));
            partial[CHANGE] += change * change;
            partial[MAGNITUDE] += depth[x] * depth[x];
        }
    }
}

static void monitor(aqua_cpu *state, sel_request *request) {
    const int64_t rows = state->plan->layout.ny, nx = state->plan->layout.nx;
    double *partials = state->base.partials;
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t y = 0; y < rows; y++) {
        monitor_row(state, y, request->only_bad_cell, partials + y * SEL_PARTIALS);
    }
    request->bad_cell = -1;
    request->largest = 0;
    for (int64_t y = rows - 1; y >= 0; y--) {
        const double *partial = partials + y * SEL_PARTIALS;
        request->largest = fmax(request->largest, partial[LARGEST]);
        request->bad_cell = partial[BAD] >= 0 ? y * nx + (int64_t)partial[BAD] : request->bad_cell;
    }
    double change = sel_tree_sum(partials + CHANGE, rows, SEL_PARTIALS);
    double magnitude = sel_tree_sum(partials + MAGNITUDE, rows, SEL_PARTIALS);
    request->change = sel_relative_change(state->base.monitored, change, magnitude);
    state->base.monitored |= !request->only_bad_cell;
}

/* m3 of a unit of the store in a cell. */
static double volume_unit(const aqua_cpu *state) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    return grid->dx * grid->dx / state->store.per_metre;
}

static void balance(const aqua_cpu *state, sel_request *request) {
    const aqua_plan *plan = state->plan;
    const int regions = plan->base.domain->region_count;
    const double unit = volume_unit(state);
    double inflow[SEL_MAX_TERMS] = {0}, out[257] = {0};
    for (int i = 0; i < plan->inflow_count && i < SEL_MAX_TERMS; i++) {
        inflow[i] = aqua_total_of(&state->inflow[i], state->store.whole) * unit;
    }
    for (int r = 1; r <= regions; r++) {
        out[r] = aqua_total_of(&state->out[r], state->store.whole) * unit;
    }
    const aqua_balance found = {.volume = aqua_volume(state) * unit,
                                .first_volume = state->first_volume * unit,
                                .rain = aqua_total_of(&state->rained, state->store.whole) * unit,
                                .infiltration =
                                    aqua_total_of(&state->soaked, state->store.whole) * unit,
                                .inflow = inflow,
                                .out = out};
    aqua_balance_terms(plan, &found, request);
}

/* In the last step, or before any the step to come. */
static sel_status flux(const aqua_cpu *state, sel_request *request, sel_error *error) {
    aqua_edges edges;
    sel_status status = aqua_flux_edges(state->plan, request, &edges, error);
    if (!status) {
        int64_t step = state->base.step > 0 ? state->base.step - 1 : 0;
        request->flux = aqua_edges_flux(state, step, edges.v, edges.count) * volume_unit(state) /
                        state->plan->base.domain->grid.dt;
    }
    aqua_edges_free(&edges);
    return status;
}

sel_status aqua_cpu_answer(sel_state *base, sel_request *request, sel_error *error) {
    aqua_cpu *state = (aqua_cpu *)base;
    switch (request->kind) {
    case SEL_READ:
        if (request->cells) {
            read_cells(state, request);
        } else {
            read_box(state, request);
        }
        break;
    case SEL_REDUCE:
        reduce(state, request);
        break;
    case SEL_MONITOR:
        monitor(state, request);
        break;
    case SEL_BALANCE:
        balance(state, request);
        break;
    case SEL_FLUX:
        return flux(state, request, error);
    case SEL_FORCE:
        return sel_fail(error, SEL_BAD_SCENARIO, "sel.aqua knows no forces");
    }
    return SEL_OK;
}
