/* aqua_cpu_requests.c -- what outputs and the run loop ask of the CPU backend of sel.aqua. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "engine/aqua/aqua_cpu.h"
#include "engine/reduce.h"

/* A field on x0 <= x < x1 of row y in the user's units, at the start of the thread's row; what it
 * holds in solids means nothing. */
static const double *field_row(const sel_state *state, int field, int64_t y, int64_t x0,
                               int64_t x1) {
    const aqua_plan *plan = state->plan;
    const int64_t nx = plan->layout.nx, n = x1 - x0, at = y * nx + x0, size = state->size;
    double *to = state->rows + nx * omp_get_thread_num();
    const double *ground = plan->ground + at;
    const char *depths =
        (const char *)state->water[state->step & 1] + aqua_index(&plan->layout, x0, y) * size;
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

static void read_cells(const sel_state *state, const sel_request *request) {
    const int64_t nx = state->plan->layout.nx;
    for (int64_t c = 0; c < request->cell_count; c++) {
        int64_t y = request->cells[c] / nx, x = request->cells[c] % nx;
        store(request, *field_row(state, request->field, y, x, x + 1),
              aqua_solids(state, y)[x] != 0, c);
    }
}

static void read_box(const sel_state *state, const sel_request *request) {
    const sel_box *box = &request->box;
    const int64_t width = sel_box_count(box, 0), rows = sel_box_count(box, 1);
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t j = 0; j < rows; j++) {
        int64_t y = box->lo[1] + j * box->stride[1];
        const double *values = field_row(state, request->field, y, box->lo[0], box->hi[0]);
        const uint8_t *solid = aqua_solids(state, y) + box->lo[0];
        for (int64_t i = 0; i < width; i++) {
            int64_t k = i * box->stride[0];
            store(request, values[k], solid[k] != 0, j * width + i);
        }
    }
}

/* Columns of a row's partials. */
enum { SUM, SQUARES, LEAST, MOST, CELLS };

static void reduce_row(const sel_state *state, const sel_request *request, int64_t y,
                       double *partial) {
    const sel_box *box = &request->box;
    const double *values = field_row(state, request->field, y, box->lo[0], box->hi[0]);
    partial[SUM] = partial[SQUARES] = partial[CELLS] = 0;
    partial[LEAST] = HUGE_VAL;
    partial[MOST] = -HUGE_VAL;
    for (int64_t x = box->lo[0]; x < box->hi[0]; x += box->stride[0]) {
        double value = values[x - box->lo[0]];
        if (aqua_solids(state, y)[x]) {
            continue;
        }
        partial[SUM] += value;
        partial[SQUARES] += value * value;
        partial[LEAST] = fmin(partial[LEAST], value);
        partial[MOST] = fmax(partial[MOST], value);
        partial[CELLS]++;
    }
}

static void reduce(const sel_state *state, sel_request *request) {
    const sel_box *box = &request->box;
    const int64_t rows = sel_box_count(box, 1);
    double *partials = state->partials;
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t j = 0; j < rows; j++) {
        reduce_row(state, request, box->lo[1] + j * box->stride[1], partials + j * AQUA_PARTIALS);
    }
    request->min[0] = HUGE_VAL;
    request->max[0] = -HUGE_VAL;
    for (int64_t j = 0; j < rows; j++) {
        request->min[0] = fmin(request->min[0], partials[j * AQUA_PARTIALS + LEAST]);
        request->max[0] = fmax(request->max[0], partials[j * AQUA_PARTIALS + MOST]);
    }
    request->sum[0] = sel_tree_sum(partials + SUM, rows, AQUA_PARTIALS);
    request->sum_of_squares[0] = sel_tree_sum(partials + SQUARES, rows, AQUA_PARTIALS);
    request->count = (int64_t)sel_tree_sum(partials + CELLS, rows, AQUA_PARTIALS);
}

/* A row's partials: squares of the change and of the depth. */
typedef struct row_monitor {
    double change, magnitude;
    sel_watched watched;
} row_monitor;
_Static_assert(sizeof(row_monitor) <= AQUA_PARTIALS * sizeof(double), "a row has room for it");

static row_monitor *monitor_of(double *partials, int64_t y) {
    return (row_monitor *)(void *)(partials + y * AQUA_PARTIALS);
}

/* The depth at the last monitor, m, which the present one replaces. */
static double exchange(const sel_state *state, int64_t cell, int64_t at) {
    const void *water = state->water[state->step & 1];
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

static void monitor_row(const sel_state *state, int64_t y, bool only_bad_cell, row_monitor *found) {
    const aqua_layout *layout = &state->plan->layout;
    const double *depth = field_row(state, AQUA_DEPTH, y, 0, layout->nx);
    const uint8_t *solid = aqua_solids(state, y);
    row_monitor mine = {.change = 0};
    sel_watch_row(&mine.watched, y * layout->nx, layout->nx, depth, depth, solid);
    for (int64_t x = 0; x < layout->nx && !only_bad_cell; x++) {
        if (!solid[x] && isfinite(depth[x])) {
            double change =
                depth[x] - exchange(state, y * layout->nx + x, aqua_index(layout, x, y));
            mine.change += change * change;
            mine.magnitude += depth[x] * depth[x];
        }
    }
    *found = mine;
}

static void monitor(sel_state *state, sel_request *request) {
    const int64_t rows = state->plan->layout.ny;
    double *partials = state->partials;
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t y = 0; y < rows; y++) {
        monitor_row(state, y, request->only_bad_cell, monitor_of(partials, y));
    }
    row_monitor *all = monitor_of(partials, 0);
    for (int64_t y = 1; y < rows; y++) {
        sel_watch_join(&all->watched, &monitor_of(partials, y)->watched);
    }
    sel_request_watched(request, &all->watched);
    double change = sel_tree_sum(&all->change, rows, AQUA_PARTIALS);
    double magnitude = sel_tree_sum(&all->magnitude, rows, AQUA_PARTIALS);
    request->change = sel_relative_change(state->monitored, change, magnitude);
    state->monitored |= !request->only_bad_cell;
}

/* m3 of a unit of the store in a cell. */
static double volume_unit(const sel_state *state) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    return grid->dx * grid->dx / state->store.per_metre;
}

static void balance(const sel_state *state, sel_request *request) {
    const aqua_plan *plan = state->plan;
    const int regions = plan->base.domain->region_count;
    const double unit = volume_unit(state);
    double inflow[SEL_MAX_TERMS] = {0}, out[257] = {0};
    for (int i = 0; i < plan->inflow_count && i < SEL_MAX_TERMS; i++) {
        inflow[i] = aqua_total_value(state, &state->inflow[i]) * unit;
    }
    for (int r = 1; r <= regions; r++) {
        out[r] = aqua_total_value(state, &state->out[r]) * unit;
    }
    const aqua_balance found = {.volume = aqua_volume(state) * unit,
                                .first_volume = state->first_volume * unit,
                                .rain = aqua_total_value(state, &state->rained) * unit,
                                .infiltration = aqua_total_value(state, &state->soaked) * unit,
                                .inflow = inflow,
                                .out = out};
    aqua_balance_terms(plan, &found, request);
}

/* In the last step, or before any the step to come. */
static sel_status flux(const sel_state *state, sel_request *request, sel_error *error) {
    aqua_edges edges;
    sel_status status = aqua_flux_edges(state->plan, request, &edges, error);
    if (!status) {
        int64_t step = state->step > 0 ? state->step - 1 : 0;
        request->flux = aqua_edges_flux(state, step, &edges) * volume_unit(state) /
                        state->plan->base.domain->grid.dt;
    }
    aqua_edges_free(&edges);
    return status;
}

sel_status aqua_cpu_start(sel_state *state, sel_request *request, sel_error *error) {
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
