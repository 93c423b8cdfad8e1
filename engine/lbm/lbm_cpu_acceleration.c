/* lbm_cpu_acceleration.c -- the acceleration at the cells, evaluated in f64 when it changes. */
#include "engine/lbm/lbm_cpu.h"

static void store(const sel_state *state, int component, int64_t y, const double *value,
                  double unit) {
    int64_t nx = state->layout.nx, at = (component * state->layout.ny + y) * nx;
    for (int64_t x = 0; x < nx; x++) {
        double v = value[component * nx + x] / unit;
        if (state->precision == SEL_F32) {
            ((float *)state->acceleration_field)[at + x] = (float)v;
        } else {
            ((double *)state->acceleration_field)[at + x] = v;
        }
    }
}

static sel_status apply_field(sel_state *state, double t, double unit, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    int64_t nx = state->layout.nx;
    double *x = state->places, *y = x + nx, *value = y + nx;
    sel_places at = {.n = (size_t)nx, .x = x, .y = y, .t = t, .controls = domain->control_values};
    for (int64_t i = 0; i < nx; i++) {
        x[i] = sel_centre(&domain->grid, 0, (double)i);
    }
    for (int64_t row = 0; row < state->layout.ny; row++) {
        for (int64_t i = 0; i < nx; i++) {
            y[i] = sel_centre(&domain->grid, 1, (double)row);
        }
        sel_status status = sel_quantity_eval(&state->plan->params->acceleration, "acceleration",
                                              &at, value, error);
        if (status) {
            return status;
        }
        store(state, 0, row, value, unit);
        store(state, 1, row, value, unit);
    }
    return SEL_OK;
}

sel_status lbm_apply_acceleration(sel_state *state, double steps, sel_error *error) {
    const sel_domain *domain = state->plan->base.domain;
    const sel_quantity *q = &state->plan->params->acceleration;
    double t = steps * domain->grid.dt;
    double unit = domain->grid.dx / (domain->grid.dt * domain->grid.dt);
    if (!sel_quantity_given(q)) {
        return SEL_OK;
    }
    if (state->acceleration_field) {
        return apply_field(state, t, unit, error);
    }
    double origin = 0, value[2] = {0};
    sel_places at = {
        .n = 1, .x = &origin, .y = &origin, .t = t, .controls = domain->control_values};
    sel_status status = sel_quantity_eval(q, "acceleration", &at, value, error);
    state->acceleration[0] = value[0] / unit;
    state->acceleration[1] = value[1] / unit;
    return status;
}

void lbm_acceleration_at(const sel_state *state, int64_t x, int64_t y, double value[2]) {
    int64_t nx = state->layout.nx, at = y * nx + x;
    for (int a = 0; a < 2; a++, at += nx * state->layout.ny) {
        value[a] = !state->acceleration_field    ? state->acceleration[a]
                   : state->precision == SEL_F32 ? (double)((float *)state->acceleration_field)[at]
                                                 : ((double *)state->acceleration_field)[at];
    }
}
