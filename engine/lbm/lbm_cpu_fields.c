/* lbm_cpu_fields.c -- the fields of a flow, from the populations of the present step.
 *
 * Density and velocity are moments of the stored populations. Vorticity and the q criterion are
 * differences of the velocity. Strain rate and stress are what the step has shown
 * (lbm_cpu_observed.c).
 */
#include <omp.h>
#include <string.h>
#include "engine/lbm/lbm_answers.h"
#include "engine/lbm/lbm_cpu.h"

static double *thread_rows(const lbm_cpu *state) {
    return state->rows + LBM_ROWS * state->layout.nx * omp_get_thread_num();
}

void lbm_read_row(const lbm_cpu *state, int64_t row, int64_t x0, int64_t x1, double *to) {
    int64_t nx = state->layout.nx;
    lbm_loops_of(state)->read(&state->layout, lbm_now(state), row, x0, x1, to, nx);
    double acceleration[3];
    for (int64_t x = x0; x < x1 && state->forcing != LBM_NO_FORCE; x++) {
        if (x == x0 || state->forcing == LBM_FORCE_FIELD) {
            lbm_acceleration_at(state, x, row, acceleration);
        }
        for (int a = 0; a < state->lattice->dims; a++) {
            to[(a + 1) * nx + x - x0] -= 0.5 * acceleration[a];
        }
    }
}

void lbm_window(const lbm_cpu *state, int64_t row, int64_t rows[LBM_AROUND]) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int64_t at[2] = {row % grid->n[1], row / grid->n[1]}, stride[2] = {1, grid->n[1]};
    rows[LBM_HERE] = row;
    for (int a = 0; a < 2; a++) {
        int axis = a + 1;
        int64_t n = grid->n[axis], first = row - at[a] * stride[a];
        bool wrap = axis < grid->dims && sel_axis_periodic(grid, axis);
        int64_t below = at[a] > 0 ? at[a] - 1 : wrap ? n - 1 : -1;
        int64_t above = at[a] < n - 1 ? at[a] + 1 : wrap ? 0 : -1;
        rows[LBM_BELOW_Y + 2 * a] = below < 0 ? -1 : first + below * stride[a];
        rows[LBM_ABOVE_Y + 2 * a] = above < 0 ? -1 : first + above * stride[a];
    }
}

void lbm_read_window(const lbm_cpu *state, int64_t row, const double *velocity[LBM_AROUND]) {
    int64_t nx = state->layout.nx, rows[LBM_AROUND];
    lbm_window(state, row, rows);
    for (int k = 0; k < LBM_AROUND; k++) {
        double *to = thread_rows(state) + 4 * k * nx;
        velocity[k] = rows[k] < 0 ? NULL : to + nx;
        if (velocity[k]) {
            lbm_read_row(state, rows[k], 0, nx, to);
        }
    }
}

/* The components of cell k of a row. */
static void store(const lbm_cpu *state, const double *value, int components, int64_t k,
                  double *to) {
    for (int c = 0; c < components; c++) {
        to[c * state->layout.nx + k] = value[c];
    }
}

static int rotation_row(const lbm_cpu *state, int field, int64_t row, int64_t x0, int64_t x1,
                        double *to) {
    const lbm_units units = lbm_units_of(state->plan);
    const double *velocity[LBM_AROUND];
    int components = 1;
    lbm_read_window(state, row, velocity);
    for (int64_t x = x0; x < x1; x++) {
        double value[3];
        lbm_gradient g = lbm_gradient_at(state->plan->base.domain, velocity, x, row);
        components = lbm_rotation_field(field, g.d, state->lattice->dims, &units, value);
        store(state, value, components, x - x0, to);
    }
    return components;
}

/* As the last observed step left it. */
static int strain_row(const lbm_cpu *state, int field, int64_t row, int64_t x0, int64_t x1,
                      double *to) {
    const double *from = state->strain[field - LBM_STRAIN_RATE];
    const int64_t nx = state->layout.nx, cells = nx * sel_state_rows(&state->base);
    const int components = sel_field_components(&lbm_solver.fields[field], state->lattice->dims);
    for (int c = 0; c < components; c++) {
        memcpy(to + c * nx, from + c * cells + row * nx + x0, (size_t)(x1 - x0) * sizeof *to);
    }
    return components;
}

/* The fields that are moments of a cell, in place of the moments. */
static int moment_row(const lbm_cpu *state, int field, int64_t n, double *row) {
    const lbm_units units = lbm_units_of(state->plan);
    const int64_t nx = state->layout.nx;
    int components = 1;
    for (int64_t k = 0; k < n; k++) {
        double value[3];
        components =
            lbm_moment_field(field, row[k], row + nx + k, nx, state->lattice->dims, &units, value);
        store(state, value, components, k, row);
    }
    return components;
}

int lbm_cpu_field(const sel_state *base, int field, int64_t row, int64_t x0, int64_t x1,
                  const double **values) {
    const lbm_cpu *state = (const lbm_cpu *)base;
    double *to = thread_rows(state) + 4 * LBM_AROUND * state->layout.nx;
    *values = to;
    switch (field) {
    case LBM_VORTICITY:
    case LBM_Q_CRITERION:
        return rotation_row(state, field, row, x0, x1, to);
    case LBM_STRAIN_RATE:
    case LBM_STRESS:
        return strain_row(state, field, row, x0, x1, to);
    default:
        lbm_read_row(state, row, x0, x1, to);
        return moment_row(state, field, x1 - x0, to);
    }
}

void lbm_cpu_main(const sel_state *base, int64_t row, sel_main_row *main) {
    const lbm_cpu *state = (const lbm_cpu *)base;
    const int64_t nx = state->layout.nx;
    const int dims = state->lattice->dims;
    double *values = thread_rows(state), *square = values + (1 + dims) * nx;
    lbm_read_row(state, row, 0, nx, values);
    for (int64_t x = 0; x < nx; x++) {
        square[x] = values[nx + x] * values[nx + x];
    }
    for (int a = 1; a < dims; a++) {
        const double *u = values + (a + 1) * nx;
        for (int64_t x = 0; x < nx; x++) {
            square[x] += u[x] * u[x];
        }
    }
    *main = (sel_main_row){.large = square, .small = values};
    for (int a = 0; a < dims; a++) {
        main->value[a] = values + (a + 1) * nx;
    }
}
