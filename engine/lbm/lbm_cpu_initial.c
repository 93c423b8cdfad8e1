/* lbm_cpu_initial.c -- the populations of step 0, with the stresses that belong to the velocity.
 *
 * Gradients are central differences of cell values, one-sided beside solids and the domain's faces
 * (gradient.h); what populations follow from them is in engine/physics/lbm_start.h.
 */
#include "engine/lbm/initial.h"
#include "engine/lbm/lbm_cpu.h"
#include "engine/physics/lbm_field.h"

/* `values`: [rows][1 + dims][nx] of the whole domain, density deviation and velocity. */
static void set_row(const lbm_cpu *state, const double *values, int64_t row) {
    const lbm_plan *plan = state->plan;
    const lbm_cell_rules *rules = &lbm_rules[plan->params->lattice];
    const int64_t nx = state->layout.nx, dims = state->lattice->dims;
    const double *velocity[LBM_AROUND], *here = values + row * (1 + dims) * nx;
    int64_t rows[LBM_AROUND];
    lbm_window(state, row, rows);
    for (int k = 0; k < LBM_AROUND; k++) {
        velocity[k] = rows[k] < 0 ? NULL : values + (rows[k] * (1 + dims) + 1) * nx;
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

/* The second copy of the populations has room for the given fields in f64. */
sel_status lbm_set_initial(lbm_cpu *state, sel_error *error) {
    lbm_slabs slabs;
    const int64_t rows = sel_state_rows(&state->base);
    double *values = sel_arrays_memory(&state->base.arrays, &state->f[1]);
    sel_status status = lbm_slabs_open(state->plan, &slabs, error);
    status = status ? status : lbm_slabs_evaluate(&slabs, 0, slabs.count, values, error);
    lbm_slabs_close(&slabs);
#pragma omp parallel for schedule(static) num_threads(state->base.threads) if (!status)
    for (int64_t row = 0; row < rows; row++) {
        if (!status) {
            set_row(state, values, row);
            lbm_fill_halo(state, state->f[0], row, true);
        }
    }
    sel_arrays_zero(&state->base.arrays, &state->f[1], state->base.threads);
    return status;
}
