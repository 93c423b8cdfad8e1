/* lbm_cpu_acceleration.c -- the acceleration at the cells, evaluated in f64 when it changes. */
#include "engine/lbm/acceleration.h"
#include "engine/lbm/lbm_cpu.h"

static void store(const sel_state *state, int component, int64_t row, const double *value,
                  double unit) {
    int64_t nx = state->layout.nx, at = (component * lbm_rows(&state->layout) + row) * nx;
    for (int64_t x = 0; x < nx; x++) {
        double v = value[component * nx + x] / unit;
        if (state->precision == SEL_F32) {
            ((float *)state->acceleration_field)[at + x] = (float)v;
        } else {
            ((double *)state->acceleration_field)[at + x] = v;
        }
    }
}

static sel_status apply_field(sel_state *state, double steps, sel_error *error) {
    const double unit = lbm_acceleration_unit(state->plan);
    double *scratch = state->places, *value = scratch + 3 * state->layout.nx;
    for (int64_t row = 0; row < lbm_rows(&state->layout); row++) {
        sel_status status =
            lbm_acceleration_rows(state->plan, steps, row, 1, scratch, value, error);
        if (status) {
            return status;
        }
        for (int a = 0; a < state->lattice->dims; a++) {
            store(state, a, row, value, unit);
        }
    }
    return SEL_OK;
}

sel_status lbm_apply_acceleration(sel_state *state, double steps, sel_error *error) {
    double value[3];
    if (!sel_quantity_given(&state->plan->params->acceleration)) {
        return SEL_OK;
    }
    if (state->acceleration_field) {
        return apply_field(state, steps, error);
    }
    sel_status status = lbm_acceleration_uniform(state->plan, steps, value, error);
    for (int a = 0; a < 3; a++) {
        state->acceleration[a] = value[a] / lbm_acceleration_unit(state->plan);
    }
    return status;
}

void lbm_acceleration_at(const sel_state *state, int64_t x, int64_t row, double value[3]) {
    int64_t nx = state->layout.nx, at = row * nx + x;
    for (int a = 0; a < 3; a++, at += nx * lbm_rows(&state->layout)) {
        value[a] = !state->acceleration_field || a >= state->lattice->dims ? state->acceleration[a]
                   : state->precision == SEL_F32 ? (double)((float *)state->acceleration_field)[at]
                                                 : ((double *)state->acceleration_field)[at];
    }
}
