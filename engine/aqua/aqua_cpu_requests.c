/* aqua_cpu_requests.c -- fields of the water, its balance and fluxes on the CPU. */
#include <omp.h>
#include <string.h>
#include "engine/aqua/aqua_cpu.h"

int aqua_cpu_field(const sel_state *base, int field, int64_t y, int64_t x0, int64_t x1,
                   const double **values) {
    const aqua_cpu *state = (const aqua_cpu *)base;
    const aqua_plan *plan = state->all.plan;
    const int64_t nx = plan->layout.nx, n = x1 - x0, at = y * nx + x0, size = state->all.size;
    double *to = state->rows + nx * omp_get_thread_num();
    const double *ground = plan->ground + at;
    const char *depths = (const char *)state->all.water[state->all.base.step & 1] +
                         aqua_index(&plan->layout, x0, y) * size;
    bool most = field == AQUA_MAX_DEPTH || field == AQUA_MAX_LEVEL;
    if (field == AQUA_GROUND) {
        memcpy(to, ground, (size_t)n * sizeof *to);
    } else if (field == AQUA_ARRIVAL_TIME) {
        for (int64_t x = 0; x < n; x++) {
            int32_t step = state->all.arrived[at + x];
            to[x] = step < 0 ? -1 : step * plan->base.domain->grid.dt;
        }
    } else {
        state->loops->read(most ? (const char *)state->all.most + at * size : depths, n,
                           state->all.store.per_metre, to);
    }
    for (int64_t x = 0; (field == AQUA_LEVEL || field == AQUA_MAX_LEVEL) && x < n; x++) {
        to[x] += ground[x];
    }
    *values = to;
    return 1;
}

void aqua_cpu_main(const sel_state *base, int64_t y, sel_main_row *main) {
    const double *depth;
    aqua_cpu_field(base, AQUA_DEPTH, y, 0, base->plan->domain->grid.n[0], &depth);
    *main = (sel_main_row){.value = {depth}, .large = depth, .small = depth};
}

static void balance(aqua_cpu *state, sel_request *request) {
    const aqua_plan *plan = state->all.plan;
    const int regions = plan->base.domain->region_count;
    const double unit = aqua_volume_unit(&state->all);
    double inflow[SEL_MAX_TERMS] = {0}, out[257] = {0};
    for (int i = 0; i < plan->inflow_count && i < SEL_MAX_TERMS; i++) {
        inflow[i] = sel_total_of(&state->all.inflow[i], state->all.store.whole) * unit;
    }
    for (int r = 1; r <= regions; r++) {
        out[r] = sel_total_of(&state->out[r], state->all.store.whole) * unit;
    }
    const aqua_balance found = {
        .volume = aqua_volume(state) * unit,
        .first_volume = state->all.first_volume * unit,
        .rain = sel_total_of(&state->all.rained, state->all.store.whole) * unit,
        .infiltration = sel_total_of(&state->soaked, state->all.store.whole) * unit,
        .inflow = inflow,
        .out = out};
    aqua_balance_terms(plan, &found, request);
}

/* In the last step, or before any the step to come. */
static sel_status flux(const aqua_cpu *state, sel_request *request, sel_error *error) {
    aqua_edges edges;
    sel_status status = aqua_flux_edges(state->all.plan, request, &edges, error);
    if (!status) {
        int64_t step = state->all.base.step > 0 ? state->all.base.step - 1 : 0;
        request->flux = aqua_edges_flux(state, step, edges.v, edges.count) *
                        aqua_volume_unit(&state->all) / state->all.plan->base.domain->grid.dt;
    }
    aqua_edges_free(&edges);
    return status;
}

sel_status aqua_cpu_other(sel_state *base, sel_request *request, sel_error *error) {
    aqua_cpu *state = (aqua_cpu *)base;
    switch (request->kind) {
    case SEL_BALANCE:
        balance(state, request);
        return SEL_OK;
    case SEL_FLUX:
        return flux(state, request, error);
    default:
        return sel_fail(error, SEL_BAD_SCENARIO, "sel.aqua knows no forces");
    }
}
