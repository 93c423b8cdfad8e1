/* aqua_requests.c -- fields, balance and fluxes of the water on the device.
 *
 * What kernels book comes as one total per row, or per edge, and is joined here.
 */
#include <string.h>
#include "cuda/aqua_state.h"

static uint64_t round_up(uint64_t bytes) {
    return (bytes + 7) / 8 * 8;
}

/* ---- fields ---- */

/* Fields that cost memory or time are there if they were asked for before the start. */
static sel_status check_field(const aqua_cuda *state, int field, sel_error *error) {
    const bool of_ground = field == AQUA_GROUND || field == AQUA_LEVEL || field == AQUA_MAX_LEVEL;
    const bool of_most = field == AQUA_MAX_DEPTH || field == AQUA_MAX_LEVEL;
    const bool there = (state->view.ground || !of_ground) && (state->all.most || !of_most) &&
                       (state->all.arrived || field != AQUA_ARRIVAL_TIME);
    return there ? SEL_OK
                 : sel_fail(error, SEL_NO_DEVICE, "the field %s was not announced at the start",
                            aqua_solver.fields[field].name);
}

sel_status aqua_cuda_look(sel_state *base, int field, const cuda_look **look, const void **view,
                          sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    state->view.water = state->all.water[base->step & 1];
    *look = aqua_gpu_look(state->all.store.whole);
    *view = &state->view;
    return check_field(state, field, error);
}

/* ---- balance ---- */

static double join_rows(const aqua_cuda *state, const sel_total *rows) {
    sel_total total = {0};
    for (int64_t y = 0; y < state->all.plan->layout.ny; y++) {
        sel_total_join(&total, &rows[y]);
    }
    return sel_total_of(&total, state->all.store.whole);
}

/* The answer to SEL_BALANCE as it lies in the slot: what kernels book, and what the host has booked
 * until now. */
typedef struct ledger {
    sel_total *volume, *uniform; /* [1] */
    sel_total *rained, *soaked;  /* [ny] */
    sel_total *out;              /* [edge_count] */
    sel_total *inflow;           /* [sources] */
} ledger;

static uint64_t open_ledger(const aqua_cuda *state, void *block, ledger *l) {
    const int64_t ny = state->all.plan->layout.ny;
    sel_total *at = block;
    const int64_t parts[6] = {1, 1, ny, ny, aqua_cuda_edges(state), state->all.plan->inflow_count};
    int64_t first[6], count = 0;
    for (int k = 0; k < 6; k++) {
        first[k] = count;
        count += parts[k];
    }
    if (block) {
        *l = (ledger){at + first[0], at + first[1], at + first[2],
                      at + first[3], at + first[4], at + first[5]};
    }
    return (uint64_t)count * sizeof(sel_total);
}

/* Rows that kernels have booked; zero when there are none. */
static sel_status fetch_totals(aqua_cuda *state, cuda_slot *slot, sel_total *to,
                               const sel_total *from, int64_t count, sel_error *error) {
    const uint64_t bytes = (uint64_t)count * sizeof *to;
    if (!from) {
        memset(to, 0, bytes);
        return SEL_OK;
    }
    return cuda_slot_fetch(state->all.base.queue, slot, (uint64_t)((char *)to - (char *)slot->host),
                           from, bytes, error);
}

static sel_status start_balance(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const int64_t ny = state->all.plan->layout.ny;
    ledger l;
    cuda_slot *slot;
    sel_status status = cuda_slot_open(state->all.base.queue, request, open_ledger(state, NULL, &l),
                                       0, &slot, error);
    if (status) {
        return status;
    }
    open_ledger(state, slot->host, &l);
    *l.uniform = state->all.rained;
    memcpy(l.inflow, state->all.inflow, (size_t)state->all.plan->inflow_count * sizeof *l.inflow);
    status = cuda_sum(&state->all.base, error);
    status =
        status ? status : fetch_totals(state, slot, l.rained, state->pour.device.booked, ny, error);
    status =
        status ? status : fetch_totals(state, slot, l.soaked, state->soak.device.booked, ny, error);
    status = status
                 ? status
                 : fetch_totals(state, slot, l.out, state->booked, aqua_cuda_edges(state), error);
    return status ? status
                  : fetch_totals(state, slot, l.volume, state->all.base.queue->rows, 1, error);
}

static void finish_balance(const aqua_cuda *state, const cuda_slot *slot, sel_request *request) {
    const aqua_plan *plan = state->all.plan;
    const bool whole = state->all.store.whole;
    const double unit = aqua_volume_unit(&state->all);
    double inflow[SEL_MAX_TERMS] = {0}, out[257] = {0};
    ledger l;
    open_ledger(state, slot->host, &l);
    for (int i = 0; i < plan->inflow_count && i < SEL_MAX_TERMS; i++) {
        inflow[i] = sel_total_of(&l.inflow[i], whole) * unit;
    }
    for (int r = 1; state->booked && r <= plan->base.domain->region_count; r++) {
        sel_total total = {0};
        for (int64_t e = state->all.first_edge[r]; e < state->all.first_edge[r + 1]; e++) {
            sel_total_join(&total, &l.out[e]);
        }
        out[r] = sel_total_of(&total, whole) * unit;
    }
    const double rained =
        plan->rain == AQUA_FIELD ? join_rows(state, l.rained) : sel_total_of(l.uniform, whole);
    const aqua_balance found = {.volume = sel_total_of(l.volume, whole) * unit,
                                .first_volume = state->all.first_volume * unit,
                                .rain = rained * unit,
                                .infiltration = join_rows(state, l.soaked) * unit,
                                .inflow = inflow,
                                .out = out};
    aqua_balance_terms(plan, &found, request);
}

/* ---- fluxes ---- */

/* The list of edges travels by the pinned buffer, behind the room for what they carry. */
static sel_status send_edges(aqua_cuda *state, const aqua_edges *edges, cuda_slot *slot,
                             sel_error *error) {
    aqua_edge *list = (aqua_edge *)((double *)slot->host + edges->count);
    const uint64_t bytes = (uint64_t)edges->count * sizeof *list;
    if (bytes > 0) {
        memcpy(list, edges->v, bytes);
        CUDA_TRY(cudaMemcpyAsync(slot->list, list, bytes, cudaMemcpyHostToDevice,
                                 state->all.base.queue->stream));
    }
    return SEL_OK;
}

/* In the last step, or before any the step to come. */
static sel_status start_flux(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_flow flow =
        aqua_cuda_flow(state, state->all.base.step > 0 ? state->all.base.step - 1 : 0);
    aqua_edges edges;
    cuda_slot *slot;
    sel_status status = aqua_flux_edges(state->all.plan, request, &edges, error);
    const uint64_t count = (uint64_t)edges.count, list = count * sizeof(aqua_edge);
    const uint64_t bytes = count * sizeof(double);
    status = status ? status
                    : cuda_slot_open(state->all.base.queue, request, bytes + list + 1,
                                     bytes + list + 1, &slot, error);
    if (!status) {
        double *flux = (double *)slot->list + round_up(list) / sizeof(double);
        slot->count = edges.count;
        status = send_edges(state, &edges, slot, error);
        cudaError_t code = status ? cudaSuccess
                                  : aqua_gpu_fluxes(&flow, slot->list, edges.count, flux,
                                                    state->all.base.queue->stream);
        status = status ? status : sel_cuda_check(code, "fluxes", __FILE__, __LINE__, error);
        status =
            status ? status : cuda_slot_fetch(state->all.base.queue, slot, 0, flux, bytes, error);
    }
    aqua_edges_free(&edges);
    return status;
}

static void finish_flux(const aqua_cuda *state, const cuda_slot *slot, sel_request *request) {
    const bool whole = state->all.store.whole;
    const double *flux = slot->host;
    sel_total total = {0};
    for (int64_t e = 0; e < slot->count; e++) {
        sel_total_more(&total, whole, flux[e]);
    }
    request->flux = sel_total_of(&total, whole) * aqua_volume_unit(&state->all) /
                    state->all.plan->base.domain->grid.dt;
}

/* ---- entries ---- */

sel_status aqua_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    switch (request->kind) {
    case SEL_BALANCE:
        return start_balance(state, request, error);
    case SEL_FLUX:
        return start_flux(state, request, error);
    default:
        return sel_fail(error, SEL_BAD_SCENARIO, "sel.aqua knows no forces");
    }
}

void aqua_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request) {
    const aqua_cuda *state = (const aqua_cuda *)base;
    if (request->kind == SEL_BALANCE) {
        finish_balance(state, slot, request);
    } else {
        finish_flux(state, slot, request);
    }
}
