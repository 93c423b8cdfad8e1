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
#include "engine/lbm/gradient.h"
#include "engine/lbm/lbm_cpu.h"

#define SEL_INLINE static inline
#define REAL double
#define LBM_SQRT(x) sqrt(x)
#define LBM_NAME(name) name##_field
#include "engine/physics/lbm_collision.h"

static double *thread_rows(const sel_state *state) {
    return state->rows + LBM_ROWS * state->layout.nx * omp_get_thread_num();
}

void lbm_read_row(const sel_state *state, int64_t y, int64_t x0, int64_t x1, double *to) {
    int64_t nx = state->layout.nx;
    lbm_loops_of(state)->read(&state->layout, lbm_now(state), y, x0, x1, to, to + nx, to + 2 * nx);
    for (int64_t x = x0; x < x1 && state->forcing != LBM_NO_FORCE; x++) {
        double acceleration[2];
        lbm_acceleration_at(state, x, y, acceleration);
        to[nx + x - x0] -= 0.5 * acceleration[0];
        to[2 * nx + x - x0] -= 0.5 * acceleration[1];
    }
}

/* Velocity rows y - 1, y, y + 1 for lbm_gradient_at, in the thread's first 9 rows. */
static void read_window(const sel_state *state, int64_t y, const double *rows[3]) {
    int64_t nx = state->layout.nx, ny = state->layout.ny;
    bool wrap = sel_axis_periodic(&state->plan->base.domain->grid, 1);
    for (int k = 0; k < 3; k++) {
        int64_t row = y - 1 + k;
        bool inside = row >= 0 && row < ny;
        double *to = thread_rows(state) + 3 * k * nx;
        rows[k] = inside || wrap ? to + nx : NULL;
        if (rows[k]) {
            lbm_read_row(state, row < 0 ? ny - 1 : row < ny ? row : 0, 0, nx, to);
        }
    }
}

/* Vorticity or q criterion, user's units. */
static void rotation_row(const sel_state *state, int field, int64_t y, int64_t x0, int64_t x1,
                         double *to) {
    const sel_domain *domain = state->plan->base.domain;
    const double *rows[3];
    double rate = 1 / domain->grid.dt;
    read_window(state, y, rows);
    for (int64_t x = x0; x < x1; x++) {
        lbm_gradient d = lbm_gradient_at(domain, rows, x, y);
        double curl = (d.yx - d.xy) * rate, strain = lbm_strain_rate(&d) * rate;
        to[x - x0] = field == LBM_VORTICITY ? curl : 0.25 * (curl * curl - strain * strain);
    }
}

/* The rate of strain of a cell per step, and its dynamic viscosity; lattice units. */
typedef struct strain {
    double xx, yy, xy, viscosity;
} strain;

static strain strain_of_populations(const sel_state *state, const lbm_step *step, int64_t x,
                                    int64_t y, const double g[D2Q9_COUNT]) {
    double acceleration[2], drho, ux, uy;
    lbm_acceleration_at(state, x, y, acceleration);
    const lbm_rates_field rates = {
        .ax = acceleration[0], .ay = acceleration[1], .tau = step->tau, .eddy = step->eddy};
    lbm_moments_field(g, &rates, true, &drho, &ux, &uy);
    lbm_tensor_field q = lbm_excess_field(g, &rates, true, drho, ux, uy);
    double tau = step->eddy > 0 ? lbm_tau_of_excess_field(q, 1 + drho, &rates) : step->tau;
    double factor = -1.5 / ((1 + drho) * tau);
    return (strain){factor * q.xx, factor * q.yy, factor * q.xy, (1 + drho) * (tau - 0.5) / 3};
}

static strain strain_of_gradient(const sel_state *state, const double *const rows[3], int64_t x,
                                 int64_t y) {
    const lbm_numbers *numbers = &state->plan->numbers;
    lbm_gradient d = lbm_gradient_at(state->plan->base.domain, rows, x, y);
    double rho = 1 + rows[1][x - state->layout.nx]; /* the row's density lies before its velocity */
    double eddies = numbers->eddy / (18 * sqrt(2)) * lbm_strain_rate(&d);
    return (strain){d.xx, d.yy, 0.5 * (d.xy + d.yx), rho * (numbers->nu + eddies)};
}

/* Stores strain rate or stress of cell k, user's units; the stress is symmetric: xx yy xy. */
static void store_strain(const sel_state *state, int field, const strain *s, int64_t k,
                         double *to) {
    const lbm_numbers *numbers = &state->plan->numbers;
    int64_t nx = state->layout.nx;
    if (field == LBM_STRAIN_RATE) {
        to[k] = sqrt(2 * (s->xx * s->xx + s->yy * s->yy + 2 * s->xy * s->xy)) /
                state->plan->base.domain->grid.dt;
        return;
    }
    double unit =
        2 * s->viscosity * numbers->density_unit * numbers->velocity_unit * numbers->velocity_unit;
    to[k] = s->xx * unit;
    to[nx + k] = s->yy * unit;
    to[2 * nx + k] = s->xy * unit;
}

static void strain_row(const sel_state *state, int field, int64_t y, int64_t x0, int64_t x1,
                       double *to) {
    const lbm_step step = lbm_last_step(state);
    const lbm_loops *loops = lbm_loops_of(state);
    const lbm_boundary *boundary = step.boundary;
    int64_t c = boundary->row_cells[y], last = boundary->row_cells[y + 1];
    const double *rows[3];
    if (state->step == 0) {
        read_window(state, y, rows);
    }
    for (int64_t x = x0; x < x1; x++) {
        double own[D2Q9_COUNT], g[D2Q9_COUNT];
        strain s;
        while (c < last && boundary->cells[c].x < x) {
            c++;
        }
        if (state->step == 0) {
            s = strain_of_gradient(state, rows, x, y);
        } else {
            if (c < last && boundary->cells[c].x == x) {
                loops->arrive(&step, y, &boundary->cells[c], own, g);
            } else {
                loops->pull(&step, x, y, g);
            }
            s = strain_of_populations(state, &step, x, y, g);
        }
        store_strain(state, field, &s, x - x0, to);
    }
}

/* The fields that are moments of a cell, user's units, in place of the moments. */
static int moment_row(const sel_state *state, int field, int64_t n, double *row) {
    const lbm_numbers *numbers = &state->plan->numbers;
    int64_t nx = state->layout.nx;
    for (int64_t k = 0; k < n; k++) {
        double drho = row[k];
        double ux = row[nx + k] * numbers->velocity_unit;
        double uy = row[2 * nx + k] * numbers->velocity_unit;
        switch (field) {
        case LBM_VELOCITY:
            row[k] = ux;
            row[nx + k] = uy;
            break;
        case LBM_DENSITY:
            row[k] = (1 + drho) * numbers->density_unit;
            break;
        case LBM_PRESSURE:
            row[k] = drho * numbers->pressure_unit;
            break;
        default:
            row[k] = sqrt(ux * ux + uy * uy);
            break;
        }
    }
    return field == LBM_VELOCITY ? 2 : 1;
}

int lbm_field_row(const sel_state *state, int field, int64_t y, int64_t x0, int64_t x1,
                  const double **row) {
    double *to = thread_rows(state) + 9 * state->layout.nx;
    *row = to;
    switch (field) {
    case LBM_VORTICITY:
    case LBM_Q_CRITERION:
        rotation_row(state, field, y, x0, x1, to);
        return 1;
    case LBM_STRAIN_RATE:
        strain_row(state, field, y, x0, x1, to);
        return 1;
    case LBM_STRESS:
        strain_row(state, field, y, x0, x1, to);
        return 3;
    default:
        lbm_read_row(state, y, x0, x1, to);
        return moment_row(state, field, x1 - x0, to);
    }
}
