/* lbm_cpu_observed.c -- what an observed step shows: what links carry, strain rate and stress.
 *
 * A step is observed just before it is taken, from the populations that it begins with: what comes
 * to a cell is pulled through walls and closures as the step itself will, and not collided. Strain
 * needs no neighbours: it is in these populations (engine/physics/lbm_field.h). Step 0 shows the
 * links of the step to come, and the strain of the initial velocity, by differences.
 */
#include "engine/lbm/lbm_answers.h"
#include "engine/lbm/lbm_cpu.h"

static void store_link(const lbm_cpu *state, int64_t at, double value) {
    if (state->precision == SEL_F32) {
        ((float *)state->links)[at] = (float)value;
    } else {
        ((double *)state->links)[at] = value;
    }
}

static void observe_links(const lbm_cpu *state, const lbm_step *step, int64_t row) {
    const lbm_boundary *boundary = step->boundary;
    for (int64_t c = boundary->row_cells[row]; c < boundary->row_cells[row + 1]; c++) {
        const lbm_boundary_cell *cell = &boundary->cells[c];
        double own[LBM_MAX_Q], g[LBM_MAX_Q];
        int64_t link = cell->first_link;
        lbm_loops_of(state)->arrive(step, row, cell, own, g);
        for (int i = 1; i < state->lattice->q; i++) {
            if (cell->links >> i & 1u) {
                store_link(state, link, own[state->lattice->direction[i].opposite]);
                store_link(state, boundary->link_count + link++, g[i]);
            }
        }
    }
}

/* ---- strain ---- */

/* The rate of strain of a cell per step (parts as in lbm_lattice.h), and its dynamic viscosity;
 * lattice units. */
typedef struct strain {
    double part[6], viscosity;
} strain;

static strain strain_of_populations(const lbm_cpu *state, const lbm_step *step, int64_t x,
                                    int64_t row, const double *g) {
    const lbm_cell_rules *rules = &lbm_rules[state->plan->params->lattice];
    double acceleration[3], q[6], drho, u[3];
    strain s;
    lbm_acceleration_at(state, x, row, acceleration);
    rules->moments(g, acceleration, &drho, u);
    double tau = rules->excess(g, acceleration, step->tau, step->eddy, q);
    s.viscosity = lbm_excess_strain(q, drho, tau, state->lattice->dims, s.part);
    return s;
}

static strain strain_of_gradient(const lbm_cpu *state, const double *const velocity[LBM_AROUND],
                                 int64_t x, int64_t row) {
    const lbm_numbers *numbers = &state->plan->numbers;
    lbm_gradient g = lbm_gradient_at(state->plan->base.domain, velocity, x, row);
    double rho = 1 + velocity[LBM_HERE][x - state->layout.nx];
    strain s = {.viscosity = rho * (numbers->nu + lbm_eddy_viscosity(numbers->eddy, g.d))};
    lbm_gradient_strain(g.d, state->lattice->dims, s.part);
    return s;
}

/* What comes to the cell x of a row; *c: the first boundary cell that is not before it. */
static void pull_cell(const lbm_cpu *state, const lbm_step *step, int64_t x, int64_t row,
                      int64_t *c, double *g) {
    const lbm_boundary *boundary = step->boundary;
    const lbm_loops *loops = lbm_loops_of(state);
    double own[LBM_MAX_Q];
    while (*c < boundary->row_cells[row + 1] && boundary->cells[*c].x < x) {
        ++*c;
    }
    if (*c < boundary->row_cells[row + 1] && boundary->cells[*c].x == x) {
        loops->arrive(step, row, &boundary->cells[*c], own, g);
    } else {
        loops->pull(step, x, row, g);
    }
}

static void observe_strain(const lbm_cpu *state, const lbm_step *step, int64_t row,
                           bool initially) {
    const lbm_units units = lbm_units_of(state->plan);
    const int64_t nx = state->layout.nx, cells = nx * sel_state_rows(&state->base);
    const double *velocity[LBM_AROUND];
    int64_t c = step->boundary->row_cells[row];
    if (initially) {
        lbm_read_window(state, row, velocity);
    }
    for (int64_t x = 0; x < nx; x++) {
        double g[LBM_MAX_Q], value[6];
        strain s;
        if (sel_state_solids(&state->base, row)[x]) {
            continue;
        }
        if (initially) {
            s = strain_of_gradient(state, velocity, x, row);
        } else {
            pull_cell(state, step, x, row, &c, g);
            s = strain_of_populations(state, step, x, row, g);
        }
        for (int k = 0; k < 2; k++) {
            const int count = lbm_strain_field(LBM_STRAIN_RATE + k, s.part, s.viscosity,
                                               state->lattice->dims, &units, value);
            for (int i = 0; i < count && state->strain[k]; i++) {
                state->strain[k][i * cells + row * nx + x] = value[i];
            }
        }
    }
}

void lbm_observe(sel_state *base, bool initially) {
    const lbm_cpu *state = (const lbm_cpu *)base;
    const lbm_step step = lbm_describe_step(state, base->step);
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t row = 0; row < sel_state_rows(base); row++) {
        if (state->links) {
            observe_links(state, &step, row);
        }
        if (state->strain[0] || state->strain[1]) {
            observe_strain(state, &step, row, initially);
        }
    }
}
