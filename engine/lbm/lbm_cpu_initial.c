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
#include "engine/physics/lbm_field.h"

/* Initial values of slabs that follow one another along the slowest axis: `length` slabs are set at
 * a time, which need the one below and the one above too. Slab s, counted on across a periodic
 * face, stands at place (s + 1) % (length + 2) of the ring. */
typedef struct window {
    lbm_cpu *state;
    lbm_slabs slabs;
    int64_t length;
    double *ring;
} window;

enum { CELLS_AT_ONCE = 1 << 18 };

static int64_t row_numbers(const window *w) {
    return (1 + w->state->lattice->dims) * w->state->layout.nx;
}

static double *slab_values(const window *w, int64_t slab) {
    return w->ring + (slab + 1) % (w->length + 2) * w->slabs.rows * row_numbers(w);
}

/* Values of a row in a slab of the window. */
static const double *row_values(const window *w, int64_t slab, int64_t row) {
    return slab_values(w, slab) + row % w->slabs.rows * row_numbers(w);
}

static void set_row(const window *w, int64_t slab, int64_t row) {
    lbm_cpu *state = w->state;
    const lbm_plan *plan = state->plan;
    const lbm_cell_rules *rules = &lbm_rules[plan->params->lattice];
    const int64_t nx = state->layout.nx, dims = state->lattice->dims;
    const int slowest = dims == 2 ? LBM_BELOW_Y : LBM_BELOW_Z;
    const double *velocity[LBM_AROUND], *here = row_values(w, slab, row);
    int64_t rows[LBM_AROUND];
    lbm_window(state, row, rows);
    for (int k = 0; k < LBM_AROUND; k++) {
        int64_t at = k == slowest ? slab - 1 : k == slowest + 1 ? slab + 1 : slab;
        velocity[k] = rows[k] < 0 ? NULL : row_values(w, at, rows[k]) + nx;
    }
    for (int64_t x = 0; x < nx; x++) {
        double u[3] = {0}, strain[6], a[3], g[LBM_MAX_Q];
        if (sel_state_solids(&state->base, row)[x]) {
            continue;
        }
        lbm_gradient gradient = lbm_gradient_at(plan->base.domain, velocity, x, row);
        for (int c = 0; c < dims; c++) {
            u[c] = here[(1 + c) * nx + x];
        }
        lbm_gradient_strain(gradient.d, (int)dims, strain);
        lbm_acceleration_at(state, x, row, a);
        const double eddies = lbm_eddy_viscosity(plan->numbers.eddy, gradient.d);
        rules->start(here[x], u, strain, plan->numbers.tau + 3 * eddies, a, g);
        lbm_loops_of(state)->write(&state->layout, state->f[0], x, row, g);
    }
}

/* Evaluates slabs first <= s < end, where the axis is periodic also those beyond its ends. */
static sel_status evaluate(const window *w, int64_t first, int64_t end, sel_error *error) {
    const sel_grid *grid = &w->state->plan->base.domain->grid;
    const int64_t count = w->slabs.count, places = w->length + 2;
    const bool wrap = sel_axis_periodic(grid, grid->dims - 1);
    sel_status status = SEL_OK;
    for (int64_t s = first, together; s < end && !status; s += together) {
        const int64_t at = (s + count) % count, to_end = places - (s + 1) % places;
        together = s < 0 ? 1 : end - s;
        together = s < count && count - s < together ? count - s : together;
        together = to_end < together ? to_end : together;
        if (at == s || wrap) {
            status = lbm_slabs_evaluate(&w->slabs, at, together, slab_values(w, s), error);
        }
    }
    return status;
}

static sel_status set_slabs(const window *w, sel_error *error) {
    lbm_cpu *state = w->state;
    const int64_t count = w->slabs.count;
    sel_status status = evaluate(w, 0, 1, error);
    status = status ? status : evaluate(w, -1, 0, error);
    for (int64_t s = 0; s < count && !status; s += w->length) {
        const int64_t end = s + w->length < count ? s + w->length : count;
        status = evaluate(w, s + 1, end + 1, error);
#pragma omp parallel for schedule(static) num_threads(state->base.threads) if (!status)
        for (int64_t row = s * w->slabs.rows; row < end * w->slabs.rows; row++) {
            set_row(w, row / w->slabs.rows, row);
            lbm_fill_halo(state, state->f[0], row, true);
        }
    }
    return status;
}

sel_status lbm_set_initial(lbm_cpu *state, sel_error *error) {
    window w = {.state = state};
    sel_status status = lbm_slabs_open(state->plan, &w.slabs, error);
    if (status) {
        return status;
    }
    const int64_t least = state->base.threads * w.slabs.part / w.slabs.rows;
    w.length = CELLS_AT_ONCE / (w.slabs.rows * state->layout.nx);
    w.length = w.length > least ? w.length : least;
    w.length = w.length < 1 ? 1 : w.length < w.slabs.count ? w.length : w.slabs.count;
    const size_t bytes = (size_t)((w.length + 2) * w.slabs.rows * row_numbers(&w)) * sizeof *w.ring;
    w.ring = malloc(bytes);
    status = w.ring ? set_slabs(&w, error) : sel_fail_memory(error, "the initial state", bytes);
    free(w.ring);
    lbm_slabs_close(&w.slabs);
    return status;
}
