/* lbm_cpu_acceleration.c -- the acceleration at the cells, evaluated in f64 when it changes. */
#include "engine/lbm/acceleration.h"
#include "engine/lbm/lbm_cpu.h"

/* Values of some rows from `first` on into the state, lattice units. */
static void store(const lbm_cpu *state, int64_t first, int64_t rows, const double *values) {
    const double unit = lbm_acceleration_unit(state->plan);
    const int64_t count = rows * state->layout.nx;
    for (int a = 0; a < state->lattice->dims; a++) {
        int64_t at = (a * sel_state_rows(&state->base) + first) * state->layout.nx;
        for (int64_t k = 0; k < count; k++) {
            double v = values[a * count + k] / unit;
            if (state->precision == SEL_F32) {
                ((float *)state->acceleration_field)[at + k] = (float)v;
            } else {
                ((double *)state->acceleration_field)[at + k] = v;
            }
        }
    }
}

static sel_status apply_field(lbm_cpu *state, double steps, sel_error *error) {
    const int64_t chunk = lbm_acceleration_chunk(state->plan), total = sel_state_rows(&state->base);
    double *values = state->places + 3 * chunk * state->layout.nx;
    for (int64_t first = 0; first < total; first += chunk) {
        int64_t rows = total - first < chunk ? total - first : chunk;
        sel_status status =
            lbm_acceleration_rows(state->plan, steps, first, rows, state->places, values, error);
        if (status) {
            return status;
        }
        store(state, first, rows, values);
    }
    return SEL_OK;
}

sel_status lbm_apply_acceleration(lbm_cpu *state, double steps, sel_error *error) {
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

void lbm_acceleration_at(const lbm_cpu *state, int64_t x, int64_t row, double value[3]) {
    int64_t nx = state->layout.nx, at = row * nx + x;
    for (int a = 0; a < 3; a++, at += nx * sel_state_rows(&state->base)) {
        value[a] = !state->acceleration_field || a >= state->lattice->dims ? state->acceleration[a]
                   : state->precision == SEL_F32 ? (double)((float *)state->acceleration_field)[at]
                                                 : ((double *)state->acceleration_field)[at];
    }
}
