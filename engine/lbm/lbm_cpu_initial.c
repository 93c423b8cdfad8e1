/* lbm_cpu_initial.c -- the populations of step 0, with the stresses that belong to the velocity.
 *
 * Before collision the populations of a smooth flow are f = f^eq + f^neq - S/2 with
 *
 *   f_i^neq = -w_i tau rho / cs2 (e_i e_i - cs2 I) : grad u,
 *
 * (Guo's change of variables puts -S/2 there). Collision leaves f^eq + (1 - 1/tau) f^neq + S/2,
 * which is what is stored: f^neq is even, so this holds for TRT too. Without f^neq the start would
 * be a stress-free flow, and errors of first order in time would show. Gradients are central
 * differences of cell values, one-sided beside solids and the domain's faces.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/lbm/gradient.h"
#include "engine/lbm/lbm_cpu.h"

#define SEL_INLINE static inline
#define REAL double
#define LBM_SQRT(x) sqrt(x)
#define LBM_NAME(name) name##_initial
#include "engine/physics/lbm_collision.h"

/* Three rows of initial values, lattice units: drho, ux, uy each. */
typedef struct window {
    sel_state *state;
    double *memory, *x, *y; /* x, y and values: of the free cells of a row, one behind the other */
    double *values;         /* room for two components */
    double *buffer[3], *row[3]; /* row: y - 1, y, y + 1; NULL outside */
} window;

/* Evaluates one quantity at the free cells of a row, whose places are `at`, and puts its values,
 * over `unit`, into `to` by component; leaves `to` alone when it is not given. */
static sel_status evaluate(window *w, const sel_quantity *q, const char *what, const sel_places *at,
                           double unit, const uint8_t *solid, double *to, sel_error *error) {
    int64_t nx = w->state->layout.nx;
    if (!sel_quantity_given(q) || at->n == 0) {
        return SEL_OK;
    }
    sel_status status = sel_quantity_eval(q, what, at, w->values, error);
    for (int c = 0; c < q->components && !status; c++) {
        const double *value = w->values + (size_t)c * at->n;
        for (int64_t x = 0; x < nx; x++) {
            to[c * nx + x] = solid[x] ? 0 : *value++ / unit;
        }
    }
    return status;
}

/* Populations of no or negative mass mean nothing. */
static sel_status check_density(const window *w, int64_t y, const uint8_t *solid,
                                const double *drho, sel_error *error) {
    const sel_plan *plan = &w->state->plan->base;
    for (int64_t x = 0; x < w->state->layout.nx; x++) {
        if (!solid[x] && drho[x] <= -1) {
            return sel_fail_at(error, sel_simulation_where(plan->simulation, "initial"),
                               "the initial density at cell {%lld, %lld} is not positive",
                               (long long)x, (long long)y);
        }
    }
    return SEL_OK;
}

static sel_status evaluate_row(window *w, int64_t y, double *to, sel_error *error) {
    const lbm_plan *plan = w->state->plan;
    const sel_domain *domain = plan->base.domain;
    const lbm_initial *initial = &plan->params->initial;
    const lbm_numbers *numbers = &plan->numbers;
    int64_t nx = domain->grid.n[0];
    const uint8_t *solid = domain->cell + y * nx;
    sel_places at = {.n = 0, .x = w->x, .y = w->y, .controls = domain->control_values};
    for (int64_t x = 0; x < nx; x++) {
        if (!solid[x]) {
            w->x[at.n] = sel_centre(&domain->grid, 0, (double)x);
            w->y[at.n++] = sel_centre(&domain->grid, 1, (double)y);
        }
    }
    memset(to, 0, 3 * (size_t)nx * sizeof *to);
    sel_status status = evaluate(w, &initial->pressure, "initial pressure", &at,
                                 numbers->pressure_unit, solid, to, error);
    if (!status && sel_quantity_given(&initial->density)) {
        status = evaluate(w, &initial->density, "initial density", &at, numbers->density_unit,
                          solid, to, error);
        for (int64_t x = 0; x < nx; x++) {
            to[x] -= solid[x] ? 0 : 1;
        }
    }
    status = status ? status : check_density(w, y, solid, to, error);
    return status ? status
                  : evaluate(w, &initial->velocity, "initial velocity", &at, numbers->velocity_unit,
                             solid, to + nx, error);
}

static void set_cell(const window *w, int64_t x, int64_t y) {
    sel_state *state = w->state;
    const lbm_numbers *numbers = &state->plan->numbers;
    int64_t nx = state->layout.nx;
    double drho = w->row[1][x], ux = w->row[1][nx + x], uy = w->row[1][2 * nx + x];
    double g[D2Q9_COUNT], source[D2Q9_COUNT];
    const double *velocity[3];
    double acceleration[2];
    for (int k = 0; k < 3; k++) {
        velocity[k] = w->row[k] ? w->row[k] + nx : NULL;
    }
    lbm_gradient d = lbm_gradient_at(state->plan->base.domain, velocity, x, y);
    lbm_acceleration_at(state, x, y, acceleration);
    lbm_equilibrium_initial(drho, ux, uy, g);
    lbm_force_initial(1 + drho, ux, uy, acceleration[0], acceleration[1], source);
    double tau = numbers->tau + 3 * numbers->eddy / (18 * sqrt(2)) * lbm_strain_rate(&d);
    double stress = -(tau - 1) * 3 * (1 + drho);
#define ADD(i, ex, ey, opposite, weight)                                                     \
    g[i] += (weight)*stress * (((ex) * (ex)-1.0 / 3) * d.xx + ((ey) * (ey)-1.0 / 3) * d.yy + \
                               (ex) * (ey) * (d.xy + d.yx)) +                                \
            0.5 * source[i];
    D2Q9(ADD)
#undef ADD
    lbm_loops_of(state)->write(&state->layout, state->f[0], x, y, g);
}

/* Row y of the initial values is evaluated into buffer (y + 1) % 3 as the window moves up. */
static sel_status set_rows(window *w, sel_error *error) {
    sel_state *state = w->state;
    const sel_domain *domain = state->plan->base.domain;
    int64_t nx = state->layout.nx, ny = state->layout.ny;
    bool wrap = sel_axis_periodic(&domain->grid, 1);
    sel_status status = wrap ? evaluate_row(w, ny - 1, w->buffer[0], error) : SEL_OK;
    status = status ? status : evaluate_row(w, 0, w->buffer[1], error);
    for (int64_t y = 0; y < ny && !status; y++) {
        bool last = y == ny - 1;
        w->row[0] = y > 0 || wrap ? w->buffer[y % 3] : NULL;
        w->row[1] = w->buffer[(y + 1) % 3];
        w->row[2] = !last || wrap ? w->buffer[(y + 2) % 3] : NULL;
        status = w->row[2] ? evaluate_row(w, last ? 0 : y + 1, w->row[2], error) : SEL_OK;
        for (int64_t x = 0; x < nx && !status; x++) {
            if (!domain->cell[y * nx + x]) {
                set_cell(w, x, y);
            }
        }
        lbm_fill_halo(state, state->f[0], y);
    }
    return status;
}

sel_status lbm_set_initial(sel_state *state, sel_error *error) {
    size_t nx = (size_t)state->layout.nx, numbers = 13 * nx;
    window w = {.state = state, .memory = malloc(numbers * sizeof(double))};
    if (!w.memory) {
        return sel_fail_memory(error, "the initial state", numbers * sizeof(double));
    }
    w.x = w.memory;
    w.y = w.memory + nx;
    for (size_t k = 0; k < 3; k++) {
        w.buffer[k] = w.memory + (2 + 3 * k) * nx;
    }
    w.values = w.memory + 11 * nx;
    sel_status status = set_rows(&w, error);
    free(w.memory);
    return status;
}
