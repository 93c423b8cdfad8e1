/* lbm_cpu_requests.c -- what outputs and the run loop ask of the CPU backend.
 *
 * Sums are made of one partial per row, in the order of its cells, and joined by a fixed tree, so
 * that they are the same for any number of threads.
 */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "engine/lbm/lbm_answers.h"
#include "engine/lbm/lbm_cpu.h"
#include "engine/reduce.h"

static double *thread_row(const lbm_cpu *state) {
    return state->rows + LBM_ROWS * state->layout.nx * omp_get_thread_num();
}

/* Stores the field of one cell, the k-th of a row with `count` components, as entry `at` of the
 * request. */
static void store(const lbm_cpu *state, const sel_request *request, const double *row, int count,
                  int64_t k, bool solid, int64_t at) {
    for (int c = 0; c < request->components; c++) {
        int64_t to = at * request->components + c;
        double v = c < count && !solid ? row[c * state->layout.nx + k] : 0;
        if (request->precision == SEL_F32) {
            ((float *)request->to)[to] = (float)v;
        } else {
            ((double *)request->to)[to] = v;
        }
    }
}

static void read_cells(lbm_cpu *state, const sel_request *request) {
    int64_t nx = state->layout.nx;
    for (int64_t c = 0; c < request->cell_count; c++) {
        int64_t row = request->cells[c] / nx, x = request->cells[c] % nx;
        const double *values;
        int count = lbm_field_row(state, request->field, row, x, x + 1, &values);
        store(state, request, values, count, 0, sel_state_solids(&state->base, row)[x] != 0, c);
    }
}

/* The j-th row of a box. */
static int64_t box_row(const lbm_cpu *state, const sel_box *box, int64_t j) {
    int64_t height = sel_box_count(box, 1);
    int64_t y = box->lo[1] + j % height * box->stride[1];
    return y + state->layout.ny * (box->lo[2] + j / height * box->stride[2]);
}

static int64_t box_rows(const sel_box *box) {
    return sel_box_count(box, 1) * sel_box_count(box, 2);
}

static void read_box(lbm_cpu *state, const sel_request *request) {
    const sel_box *box = &request->box;
    int64_t width = sel_box_count(box, 0), rows = box_rows(box);
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t j = 0; j < rows; j++) {
        int64_t row = box_row(state, box, j);
        const double *values;
        int count = lbm_field_row(state, request->field, row, box->lo[0], box->hi[0], &values);
        for (int64_t i = 0; i < width; i++) {
            int64_t k = i * box->stride[0];
            bool solid = sel_state_solids(&state->base, row)[box->lo[0] + k] != 0;
            store(state, request, values, count, k, solid, j * width + i);
        }
    }
}

/* Columns of a row's partials. */
enum {
    SUM = 0,
    SQUARES = SUM + SEL_MAX_COMPONENTS,
    LEAST = SQUARES + SEL_MAX_COMPONENTS,
    MOST = LEAST + SEL_MAX_COMPONENTS,
    CELLS = MOST + SEL_MAX_COMPONENTS
};
_Static_assert((int)CELLS < (int)SEL_PARTIALS, "a row has room for all sums");

static void reduce_row(lbm_cpu *state, const sel_request *request, int64_t row, double *partial) {
    const sel_box *box = &request->box;
    const double *values;
    int count = lbm_field_row(state, request->field, row, box->lo[0], box->hi[0], &values);
    partial[CELLS] = 0;
    for (int c = 0; c < SEL_MAX_COMPONENTS; c++) {
        partial[SUM + c] = partial[SQUARES + c] = 0;
        partial[LEAST + c] = HUGE_VAL;
        partial[MOST + c] = -HUGE_VAL;
    }
    for (int64_t x = box->lo[0]; x < box->hi[0]; x += box->stride[0]) {
        if (sel_state_solids(&state->base, row)[x]) {
            continue;
        }
        for (int c = 0; c < count; c++) {
            double value = values[c * state->layout.nx + x - box->lo[0]];
            partial[SUM + c] += value;
            partial[SQUARES + c] += value * value;
            partial[LEAST + c] = fmin(partial[LEAST + c], value);
            partial[MOST + c] = fmax(partial[MOST + c], value);
        }
        partial[CELLS]++;
    }
}

static void reduce(lbm_cpu *state, sel_request *request) {
    const sel_box *box = &request->box;
    int64_t rows = box_rows(box);
    double *partials = state->base.partials;
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t j = 0; j < rows; j++) {
        reduce_row(state, request, box_row(state, box, j), partials + j * SEL_PARTIALS);
    }
    for (int c = 0; c < SEL_MAX_COMPONENTS; c++) {
        request->min[c] = HUGE_VAL;
        request->max[c] = -HUGE_VAL;
        for (int64_t j = 0; j < rows; j++) {
            request->min[c] = fmin(request->min[c], partials[j * SEL_PARTIALS + LEAST + c]);
            request->max[c] = fmax(request->max[c], partials[j * SEL_PARTIALS + MOST + c]);
        }
        request->sum[c] = sel_tree_sum(partials + SUM + c, rows, SEL_PARTIALS);
        request->sum_of_squares[c] = sel_tree_sum(partials + SQUARES + c, rows, SEL_PARTIALS);
    }
    request->count = (int64_t)sel_tree_sum(partials + CELLS, rows, SEL_PARTIALS);
}

/* last_velocity[at] is exchanged for `value`; returns what it was. */
static double exchange(lbm_cpu *state, int64_t at, double value) {
    if (state->precision == SEL_F32) {
        float *v = (float *)state->last_velocity + at;
        double before = (double)*v;
        *v = (float)value;
        return before;
    }
    double *v = (double *)state->last_velocity + at;
    double before = *v;
    *v = value;
    return before;
}

/* Columns of a row's partials: squares of the change and of the velocity, the largest speed
 * squared, the first bad cell. */
enum { CHANGE, MAGNITUDE, LARGEST, BAD };

static void monitor_row(lbm_cpu *state, int64_t row, bool only_bad_cell, double *partial) {
    int64_t nx = state->layout.nx, cells = nx * sel_state_rows(&state->base);
    double *values = thread_row(state);
    lbm_read_row(state, row, 0, nx, values);
    partial[CHANGE] = partial[MAGNITUDE] = partial[LARGEST] = 0;
    partial[BAD] = -1;
    for (int64_t x = 0; x < nx; x++) {
        double square = 0;
        if (sel_state_solids(&state->base, row)[x]) {
            continue;
        }
        for (int a = 0; a < state->lattice->dims; a++) {
            double u = values[(a + 1) * nx + x];
            square += u * u;
        }
        if (!isfinite(square) || !isfinite(values[x])) {
            partial[BAD] = partial[BAD] < 0 ? (double)x : partial[BAD];
            continue;
        }
        partial[LARGEST] = fmax(partial[LARGEST], square);
        if (only_bad_cell) {
            continue;
        }
        for (int a = 0; a < state->lattice->dims; a++) {
            double u = values[(a + 1) * nx + x];
            double du = u - exchange(state, a * cells + row * nx + x, u);
            partial[CHANGE] += du * du;
        }
        partial[MAGNITUDE] += square;
    }
}

static void monitor(lbm_cpu *state, sel_request *request) {
    int64_t nx = state->layout.nx, rows = sel_state_rows(&state->base);
    double *partials = state->base.partials, largest = 0;
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t row = 0; row < rows; row++) {
        monitor_row(state, row, request->only_bad_cell, partials + row * SEL_PARTIALS);
    }
    request->bad_cell = -1;
    for (int64_t row = rows - 1; row >= 0; row--) {
        const double *partial = partials + row * SEL_PARTIALS;
        largest = fmax(largest, partial[LARGEST]);
        request->bad_cell =
            partial[BAD] >= 0 ? row * nx + (int64_t)partial[BAD] : request->bad_cell;
    }
    double change = sel_tree_sum(partials + CHANGE, rows, SEL_PARTIALS);
    double magnitude = sel_tree_sum(partials + MAGNITUDE, rows, SEL_PARTIALS);
    request->change = sel_relative_change(state->base.monitored, change, magnitude);
    request->largest = sqrt(largest) * state->plan->numbers.velocity_unit;
    state->base.monitored |= !request->only_bad_cell;
}

double lbm_total_mass(lbm_cpu *state) {
    int64_t nx = state->layout.nx, rows = sel_state_rows(&state->base);
    double *partials = state->base.partials;
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t row = 0; row < rows; row++) {
        double *values = thread_row(state), sum = 0;
        lbm_read_row(state, row, 0, nx, values);
        for (int64_t x = 0; x < nx; x++) {
            sum += values[x]; /* zero in solids */
        }
        partials[row * SEL_PARTIALS] = sum;
    }
    double deviation = sel_tree_sum(partials, rows, SEL_PARTIALS);
    return (double)state->plan->base.domain->free_cells + deviation;
}

/* Moves what the links carried since the last balance to the regions' totals. (Sums that run on for
 * the whole run would lose digits.) A second balance at the same step finds the same rates. */
static void update_flows(lbm_cpu *state) {
    const lbm_boundary *boundary = &state->plan->boundary;
    int regions = state->plan->base.domain->region_count;
    double steps = (double)(state->base.step - state->balance_step);
    if (steps == 0) {
        return;
    }
    memset(state->rate, 0, ((size_t)regions + 1) * sizeof *state->rate);
    for (int64_t link = 0; link < boundary->link_count; link++) {
        state->rate[boundary->link_region[link]] += state->link_flow[link];
        state->link_flow[link] = 0;
    }
    for (int r = 1; r <= regions; r++) {
        state->out[r] += state->rate[r];
        state->rate[r] /= steps;
    }
    state->balance_step = state->base.step;
}

static void balance(lbm_cpu *state, sel_request *request) {
    update_flows(state);
    const lbm_balance found = {.mass = lbm_total_mass(state),
                               .first_mass = state->first_mass,
                               .out = state->out,
                               .rate = state->rate};
    lbm_balance_terms(state->plan, &found, request);
}

sel_status lbm_cpu_answer(sel_state *base, sel_request *request, sel_error *error) {
    lbm_cpu *state = (lbm_cpu *)base;
    (void)error;
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
    case SEL_FORCE:
    case SEL_FLUX:
        lbm_links(state, request);
        break;
    }
    return SEL_OK;
}
