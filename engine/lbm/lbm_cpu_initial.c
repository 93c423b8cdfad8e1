/* lbm_cpu_initial.c -- the populations of step 0, with the stresses that belong to the velocity.
 *
 * Gradients are central differences of cell values, one-sided beside solids and the domain's faces
 * (gradient.h); what populations follow from them is in engine/physics/lbm_start.h.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include "engine/lbm/initial.h"
#include "engine/lbm/lbm_cpu.h"

/* Three slabs of initial values: below, here, above along the slowest axis. */
typedef struct window {
    sel_state *state;
    lbm_slabs slabs;
    double *ring[3];
} window;

/* Values of a row in the slab `below`, `here` or `above` (0 to 2) of the window. */
static const double *row_values(const window *w, int64_t slab, int which, int64_t row) {
    int64_t length = (1 + w->state->lattice->dims) * w->state->layout.nx;
    return w->ring[(slab + which) % 3] + row % w->slabs.rows * length;
}

static void set_row(const window *w, int64_t slab, int64_t row) {
    sel_state *state = w->state;
    const lbm_plan *plan = state->plan;
    const lbm_cell_rules *rules = &lbm_rules[plan->params->lattice];
    const int64_t nx = state->layout.nx, dims = state->lattice->dims;
    const int slowest = dims == 2 ? LBM_BELOW_Y : LBM_BELOW_Z;
    const double *velocity[LBM_AROUND], *here = row_values(w, slab, 1, row);
    int64_t rows[LBM_AROUND];
    lbm_window(state, row, rows);
    for (int k = 0; k < LBM_AROUND; k++) {
        int which = k == slowest ? 0 : k == slowest + 1 ? 2 : 1;
        velocity[k] = rows[k] < 0 ? NULL : row_values(w, slab, which, rows[k]) + nx;
    }
    for (int64_t x = 0; x < nx; x++) {
        double u[3] = {0}, strain[6], a[3], g[LBM_MAX_Q];
        if (lbm_solids(state, row)[x]) {
            continue;
        }
        lbm_gradient gradient = lbm_gradient_at(plan->base.domain, velocity, x, row);
        for (int c = 0; c < dims; c++) {
            u[c] = here[(1 + c) * nx + x];
        }
        lbm_strain_parts(&gradient, (int)dims, strain);
        lbm_acceleration_at(state, x, row, a);
        double eddies = plan->numbers.eddy / (18 * sqrt(2)) * lbm_strain_rate(&gradient);
        rules->start(here[x], u, strain, plan->numbers.tau + 3 * eddies, a, g);
        lbm_loops_of(state)->write(&state->layout, state->f[0], x, row, g);
    }
}

/* Slab s is evaluated into ring[(s + 1) % 3] as the window moves up. */
static sel_status set_slabs(window *w, sel_error *error) {
    sel_state *state = w->state;
    const sel_grid *grid = &state->plan->base.domain->grid;
    const int64_t count = w->slabs.count;
    bool wrap = sel_axis_periodic(grid, grid->dims - 1);
    sel_status status = lbm_slab(&w->slabs, 0, w->ring[1], error);
    if (!status && wrap) {
        status = lbm_slab(&w->slabs, count - 1, w->ring[0], error);
    }
    for (int64_t s = 0; s < count && !status; s++) {
        bool last = s == count - 1;
        if (!last || wrap) {
            status = lbm_slab(&w->slabs, last ? 0 : s + 1, w->ring[(s + 2) % 3], error);
        }
        int64_t first = s * w->slabs.rows;
#pragma omp parallel for schedule(static) num_threads(state->threads) if (!status)
        for (int64_t row = first; row < first + w->slabs.rows; row++) {
            set_row(w, s, row);
            lbm_fill_halo(state, state->f[0], row);
        }
    }
    return status;
}

sel_status lbm_set_initial(sel_state *state, sel_error *error) {
    window w = {.state = state};
    sel_status status = lbm_slabs_open(state->plan, &w.slabs, error);
    if (status) {
        return status;
    }
    size_t numbers = (size_t)((1 + state->lattice->dims) * w.slabs.rows * state->layout.nx);
    double *memory = calloc(3 * numbers, sizeof *memory);
    for (size_t k = 0; k < 3; k++) {
        w.ring[k] = memory + k * numbers;
    }
    status = memory ? set_slabs(&w, error)
                    : sel_fail_memory(error, "the initial state", 3 * numbers * sizeof *memory);
    free(memory);
    lbm_slabs_close(&w.slabs);
    return status;
}
