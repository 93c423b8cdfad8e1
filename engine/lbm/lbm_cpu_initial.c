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
    double *memory, *x, *y;
    double *buffer[3], *row[3]; /* row: y - 1, y, y + 1; NULL outside */
} window;

/* Evaluates one quantity on a row into `to` by component, or leaves it; divides by `unit`. */
static sel_status evaluate(const sel_quantity *q, const char *what, const sel_places *at,
                           double unit, double *to, sel_error *error) {
    if (!sel_quantity_given(q)) {
        return SEL_OK;
    }
    sel_status status = sel_quantity_eval(q, what, at, to, error);
    for (size_t k = 0; k < at->n * (size_t)q->components; k++) {
        to[k] /= unit;
    }
    return status;
}

static sel_status evaluate_row(window *w, int64_t y, double *to, sel_error *error) {
    const lbm_plan *plan = w->state->plan;
    const sel_domain *domain = plan->base.domain;
    const lbm_initial *initial = &plan->params->initial;
    const lbm_numbers *numbers = &plan->numbers;
    int64_t nx = domain->grid.n[0];
    for (int64_t x = 0; x < nx; x++) {
        w->x[x] = sel_centre(&domain->grid, 0, (double)x);
        w->y[x] = sel_centre(&domain->grid, 1, (double)y);
    }
    sel_places at = {.n = (size_t)nx, .x = w->x, .y = w->y, .controls = domain->control_values};
    memset(to, 0, 3 * (size_t)nx * sizeof *to);
    sel_status status =
        evaluate(&initial->pressure, "initial pressure", &at, numbers->pressure_unit, to, error);
    if (!status && sel_quantity_given(&initial->density)) {
        status =
            evaluate(&initial->density, "initial density", &at, numbers->density_unit, to, error);
        for (int64_t x = 0; x < nx; x++) {
            to[x] -= 1;
        }
    }
    return status ? status
                  : evaluate(&initial->velocity, "initial velocity", &at, numbers->velocity_unit,
                             to + nx, error);
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
    size_t nx = (size_t)state->layout.nx, numbers = 11 * nx;
    window w = {.state = state, .memory = malloc(numbers * sizeof(double))};
    if (!w.memory) {
        return sel_fail_memory(error, "the initial state", numbers * sizeof(double));
    }
    w.x = w.memory;
    w.y = w.memory + nx;
    for (size_t k = 0; k < 3; k++) {
        w.buffer[k] = w.memory + (2 + 3 * k) * nx;
    }
    sel_status status = set_rows(&w, error);
    free(w.memory);
    return status;
}
