/* lbm_cpu_fields.c -- the fields of a flow, from the populations of the present step and the last.
 *
 * Density and velocity are moments of the stored populations. Vorticity and the q criterion are
 * differences of the velocity. Strain rate and stress need no neighbours: they are in the
 * populations before collision, which the last step's are pulled for again, through the same
 * walls and closures,
 *
 *   S = -3/(2 rho tau) Q,    stress = 2 rho nu S = -(1 - 1/(2 tau)) Q
 *
 * with Q their non-equilibrium second moment (lbm_excess) and tau that of Smagorinsky's model where
 * there is one. Before the first step S comes from differences of the initial velocity.
 */
#include <math.h>
#include <omp.h>
#include "engine/lbm/lbm_cpu.h"

static double *thread_rows(const sel_state *state) {
    return state->rows + LBM_ROWS * state->layout.nx * omp_get_thread_num();
}

void lbm_read_row(const sel_state *state, int64_t row, int64_t x0, int64_t x1, double *to) {
    int64_t nx = state->layout.nx;
    lbm_loops_of(state)->read(&state->layout, lbm_now(state), row, x0, x1, to, nx);
    for (int64_t x = x0; x < x1 && state->forcing != LBM_NO_FORCE; x++) {
        double acceleration[3];
        lbm_acceleration_at(state, x, row, acceleration);
        for (int a = 0; a < state->lattice->dims; a++) {
            to[(a + 1) * nx + x - x0] -= 0.5 * acceleration[a];
        }
    }
}

void lbm_window(const sel_state *state, int64_t row, int64_t rows[LBM_AROUND]) {
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

/* The velocity about a row for lbm_gradient_at, in the thread's first rows; the density deviation
 * lies before each. */
static void read_window(const sel_state *state, int64_t row, const double *velocity[LBM_AROUND]) {
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

/* Vorticity or q criterion, user's units. */
static int rotation_row(const sel_state *state, int field, int64_t row, int64_t x0, int64_t x1,
                        double *to) {
    const sel_domain *domain = state->plan->base.domain;
    const double *velocity[LBM_AROUND];
    double rate = 1 / domain->grid.dt;
    bool plane = state->lattice->dims == 2;
    int64_t nx = state->layout.nx;
    read_window(state, row, velocity);
    for (int64_t x = x0; x < x1; x++) {
        lbm_gradient g = lbm_gradient_at(domain, velocity, x, row);
        double strain = lbm_strain_rate(&g) * rate, square = 0, curl[3];
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            curl[a] = (g.d[c][b] - g.d[b][c]) * rate;
            square += curl[a] * curl[a];
            if (field == LBM_VORTICITY && !plane) {
                to[a * nx + x - x0] = curl[a];
            }
        }
        if (field == LBM_Q_CRITERION) {
            to[x - x0] = 0.25 * (square - strain * strain);
        } else if (plane) {
            to[x - x0] = curl[2];
        }
    }
    return field == LBM_VORTICITY && !plane ? 3 : 1;
}

/* The rate of strain of a cell per step (parts as in lbm_lattice.h), and its dynamic viscosity;
 * lattice units. */
typedef struct strain {
    double part[6], viscosity;
} strain;

static strain strain_of_populations(const sel_state *state, const lbm_step *step, int64_t x,
                                    int64_t row, const double *g) {
    const lbm_cell_rules *rules = &lbm_rules[state->plan->params->lattice];
    double acceleration[3], q[6], drho, u[3];
    int dims = state->lattice->dims;
    lbm_acceleration_at(state, x, row, acceleration);
    rules->moments(g, acceleration, &drho, u);
    double tau = rules->excess(g, acceleration, step->tau, step->eddy, q);
    double factor = -1.5 / ((1 + drho) * tau);
    strain s = {.viscosity = (1 + drho) * (tau - 0.5) / 3};
    for (int k = 0; k < dims * (dims + 1) / 2; k++) {
        s.part[k] = factor * q[k];
    }
    return s;
}

static strain strain_of_gradient(const sel_state *state, const double *const velocity[LBM_AROUND],
                                 int64_t x, int64_t row) {
    const lbm_numbers *numbers = &state->plan->numbers;
    lbm_gradient g = lbm_gradient_at(state->plan->base.domain, velocity, x, row);
    double rho = 1 + velocity[LBM_HERE][x - state->layout.nx];
    double eddies = numbers->eddy / (18 * sqrt(2)) * lbm_strain_rate(&g);
    strain s = {.viscosity = rho * (numbers->nu + eddies)};
    lbm_strain_parts(&g, state->lattice->dims, s.part);
    return s;
}

/* Stores strain rate or stress of cell k, user's units; returns the number of components. */
static int store_strain(const sel_state *state, int field, const strain *s, int64_t k, double *to) {
    const lbm_numbers *numbers = &state->plan->numbers;
    int dims = state->lattice->dims, parts = dims * (dims + 1) / 2;
    double unit =
        2 * s->viscosity * numbers->density_unit * numbers->velocity_unit * numbers->velocity_unit;
    double square = 0;
    for (int p = 0; p < parts; p++) {
        square += (p < dims ? 2 : 4) * s->part[p] * s->part[p];
        if (field == LBM_STRESS) {
            to[p * state->layout.nx + k] = s->part[p] * unit;
        }
    }
    if (field == LBM_STRAIN_RATE) {
        to[k] = sqrt(square) / state->plan->base.domain->grid.dt;
    }
    return field == LBM_STRESS ? parts : 1;
}

static int strain_row(const sel_state *state, int field, int64_t row, int64_t x0, int64_t x1,
                      double *to) {
    const lbm_step step = lbm_last_step(state);
    const lbm_loops *loops = lbm_loops_of(state);
    const lbm_boundary *boundary = step.boundary;
    int64_t c = boundary->row_cells[row], last = boundary->row_cells[row + 1];
    const double *velocity[LBM_AROUND];
    int components = 1;
    if (state->step == 0) {
        read_window(state, row, velocity);
    }
    for (int64_t x = x0; x < x1; x++) {
        double own[LBM_MAX_Q], g[LBM_MAX_Q];
        strain s;
        while (c < last && boundary->cells[c].x < x) {
            c++;
        }
        if (state->step == 0) {
            s = strain_of_gradient(state, velocity, x, row);
        } else {
            if (c < last && boundary->cells[c].x == x) {
                loops->arrive(&step, row, &boundary->cells[c], own, g);
            } else {
                loops->pull(&step, x, row, g);
            }
            s = strain_of_populations(state, &step, x, row, g);
        }
        components = store_strain(state, field, &s, x - x0, to);
    }
    return components;
}

/* The fields that are moments of a cell, user's units, in place of the moments. */
static int moment_row(const sel_state *state, int field, int64_t n, double *row) {
    const lbm_numbers *numbers = &state->plan->numbers;
    int64_t nx = state->layout.nx;
    int dims = state->lattice->dims;
    for (int64_t k = 0; k < n; k++) {
        double drho = row[k], square = 0;
        for (int a = 0; a < dims; a++) {
            double u = row[(a + 1) * nx + k] * numbers->velocity_unit;
            square += u * u;
            if (field == LBM_VELOCITY) {
                row[a * nx + k] = u;
            }
        }
        switch (field) {
        case LBM_VELOCITY:
            break;
        case LBM_DENSITY:
            row[k] = (1 + drho) * numbers->density_unit;
            break;
        case LBM_PRESSURE:
            row[k] = drho * numbers->pressure_unit;
            break;
        default:
            row[k] = sqrt(square);
            break;
        }
    }
    return field == LBM_VELOCITY ? dims : 1;
}

int lbm_field_row(const sel_state *state, int field, int64_t row, int64_t x0, int64_t x1,
                  const double **values) {
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
