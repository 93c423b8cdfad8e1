/* aqua_requests.c -- what outputs and the run loop ask of the CUDA backend of sel.aqua.
 *
 * Kernels find the answer on the stream of the steps, so that they see the state at which it was
 * asked for; sums come as one number per row, or per edge, and are joined here.
 */
#include <math.h>
#include <string.h>
#include "cuda/aqua_state.h"
#include "engine/reduce.h"

static uint64_t round_up(uint64_t bytes) {
    return (bytes + 7) / 8 * 8;
}

/* ---- fields ---- */

/* Fields that cost memory or time are there if they were asked for before the start. */
static sel_status check_field(const aqua_cuda *state, int field, sel_error *error) {
    const bool ground = state->view.ground != NULL, most = state->most != NULL;
    bool there = true;
    switch (field) {
    case AQUA_GROUND:
    case AQUA_LEVEL:
        there = ground;
        break;
    case AQUA_MAX_DEPTH:
        there = most;
        break;
    case AQUA_MAX_LEVEL:
        there = ground && most;
        break;
    case AQUA_ARRIVAL_TIME:
        there = state->arrived != NULL;
        break;
    default:
        break;
    }
    return there ? SEL_OK
                 : sel_fail(error, SEL_NO_DEVICE, "the field %s was not announced at the start",
                            aqua_solver.fields[field].name);
}

static cudaError_t read_field(const void *view, int field, const cuda_cells *cells, int components,
                              int bytes, void *to, cudaStream_t stream) {
    return aqua_gpu_read(view, field, cells, components, bytes, to, stream);
}

static sel_status start_read(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    sel_status status = check_field(state, request->field, error);
    return status ? status : cuda_slot_read(state->base.queue, request, read_field, &view, error);
}

/* ---- sums ---- */

static sel_status start_reduce(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const cuda_cells cells = cuda_cells_of(request);
    const uint64_t bytes = cells.count[1] * sizeof(aqua_gpu_sums);
    cuda_slot *slot;
    sel_status status = check_field(state, request->field, error);
    status = status ? status : cuda_slot_open(state->base.queue, request, bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->count = cells.count[1];
    CUDA_TRY(
        aqua_gpu_reduce(&view, request->field, &cells, state->rows, state->base.queue->stream));
    return cuda_slot_fetch(state->base.queue, slot, 0, state->rows, bytes, error);
}

static void finish_reduce(const cuda_slot *slot, sel_request *request) {
    aqua_gpu_sums *rows = slot->host;
    const int64_t stride = sizeof *rows / sizeof(double);
    request->min[0] = HUGE_VAL;
    request->max[0] = -HUGE_VAL;
    for (int64_t j = 0; j < slot->count; j++) {
        request->min[0] = fmin(request->min[0], rows[j].least);
        request->max[0] = fmax(request->max[0], rows[j].most);
    }
    request->sum[0] = sel_tree_sum(&rows->sum, slot->count, stride);
    request->sum_of_squares[0] = sel_tree_sum(&rows->squares, slot->count, stride);
    request->count = (int64_t)sel_tree_sum(&rows->count, slot->count, stride);
}

static sel_status start_monitor(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const uint64_t bytes = view.layout.ny * sizeof(aqua_gpu_monitor);
    cuda_slot *slot;
    sel_status status = cuda_slot_open(state->base.queue, request, bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    CUDA_TRY(aqua_gpu_look(&view, request->only_bad_cell ? NULL : state->last, state->rows,
                           state->base.queue->stream));
    slot->had_before = state->base.monitored;
    state->base.monitored |= !request->only_bad_cell;
    return cuda_slot_fetch(state->base.queue, slot, 0, state->rows, bytes, error);
}

static void finish_monitor(const aqua_cuda *state, const cuda_slot *slot, sel_request *request) {
    aqua_gpu_monitor *rows = slot->host;
    const int64_t ny = state->plan->layout.ny;
    const int64_t stride = sizeof *rows / sizeof(double);
    for (int64_t y = 1; y < ny; y++) {
        sel_watch_join(&rows->watched, &rows[y].watched);
    }
    sel_request_watched(request, &rows->watched);
    double change = sel_tree_sum(&rows->change, ny, stride);
    double magnitude = sel_tree_sum(&rows->magnitude, ny, stride);
    request->change = sel_relative_change(slot->had_before, change, magnitude);
}

/* ---- balance ---- */

double aqua_cuda_join_rows(const aqua_cuda *state, const sel_total *rows) {
    sel_total total = {0};
    for (int64_t y = 0; y < state->plan->layout.ny; y++) {
        sel_total_join(&total, &rows[y]);
    }
    return sel_total_of(&total, state->store.whole);
}

sel_status aqua_cuda_volume(aqua_cuda *state, double *volume, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const sel_request request = {.kind = SEL_BALANCE};
    const uint64_t bytes = view.layout.ny * sizeof(sel_total);
    cuda_slot *slot;
    sel_status status = cuda_slot_open(state->base.queue, &request, bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    CUDA_TRY(aqua_gpu_volume(&view, state->rows, state->base.queue->stream));
    status = cuda_slot_fetch(state->base.queue, slot, 0, state->rows, bytes, error);
    status = status ? status : cuda_slot_finish(slot, error);
    *volume = status ? 0 : aqua_cuda_join_rows(state, slot->host);
    return status;
}

/* The answer to SEL_BALANCE as it lies in the slot: what kernels book, and what the host has booked
 * until now. */
typedef struct ledger {
    sel_total *volume, *rained, *soaked; /* [ny] */
    sel_total *out;                      /* [edge_count] */
    sel_total *uniform;                  /* [1] */
    sel_total *inflow;                   /* [sources] */
} ledger;

static uint64_t open_ledger(const aqua_cuda *state, void *block, ledger *l) {
    const int64_t ny = state->plan->layout.ny;
    sel_total *at = block;
    const int64_t parts[6] = {ny, ny, ny, state->edge_count, 1, state->plan->inflow_count};
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
    return cuda_slot_fetch(state->base.queue, slot, (uint64_t)((char *)to - (char *)slot->host),
                           from, bytes, error);
}

static sel_status start_balance(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const int64_t ny = state->plan->layout.ny;
    ledger l;
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(state->base.queue, request, open_ledger(state, NULL, &l), 0, &slot, error);
    if (status) {
        return status;
    }
    open_ledger(state, slot->host, &l);
    *l.uniform = state->rained;
    memcpy(l.inflow, state->inflow, (size_t)state->plan->inflow_count * sizeof *l.inflow);
    CUDA_TRY(aqua_gpu_volume(&view, state->rows, state->base.queue->stream));
    status = fetch_totals(state, slot, l.rained, state->rain.device.booked, ny, error);
    status =
        status ? status : fetch_totals(state, slot, l.soaked, state->soil.device.booked, ny, error);
    status =
        status ? status : fetch_totals(state, slot, l.out, state->booked, state->edge_count, error);
    return status ? status : fetch_totals(state, slot, l.volume, state->rows, ny, error);
}

/* m3 of a unit of the store in a cell. */
static double volume_unit(const aqua_cuda *state) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    return grid->dx * grid->dx / state->store.per_metre;
}

static void finish_balance(const aqua_cuda *state, const cuda_slot *slot, sel_request *request) {
    const aqua_plan *plan = state->plan;
    const bool whole = state->store.whole;
    const double unit = volume_unit(state);
    double inflow[SEL_MAX_TERMS] = {0}, out[257] = {0};
    ledger l;
    open_ledger(state, slot->host, &l);
    for (int i = 0; i < plan->inflow_count && i < SEL_MAX_TERMS; i++) {
        inflow[i] = sel_total_of(&l.inflow[i], whole) * unit;
    }
    for (int r = 1; state->booked && r <= plan->base.domain->region_count; r++) {
        sel_total total = {0};
        for (int64_t e = state->first_edge[r]; e < state->first_edge[r + 1]; e++) {
            sel_total_join(&total, &l.out[e]);
        }
        out[r] = sel_total_of(&total, whole) * unit;
    }
    const double rained = plan->rain == AQUA_FIELD ? aqua_cuda_join_rows(state, l.rained)
                                                   : sel_total_of(l.uniform, whole);
    const aqua_balance found = {.volume = aqua_cuda_join_rows(state, l.volume) * unit,
                                .first_volume = state->first_volume * unit,
                                .rain = rained * unit,
                                .infiltration = aqua_cuda_join_rows(state, l.soaked) * unit,
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
                                 state->base.queue->stream));
    }
    return SEL_OK;
}

/* In the last step, or before any the step to come. */
static sel_status start_flux(aqua_cuda *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_flow flow =
        aqua_cuda_flow(state, state->base.step > 0 ? state->base.step - 1 : 0);
    aqua_edges edges;
    cuda_slot *slot;
    sel_status status = aqua_flux_edges(state->plan, request, &edges, error);
    const uint64_t count = (uint64_t)edges.count, list = count * sizeof(aqua_edge);
    const uint64_t bytes = count * sizeof(double);
    status = status ? status
                    : cuda_slot_open(state->base.queue, request, bytes + list + 1, bytes + list + 1,
                                     &slot, error);
    if (!status) {
        double *flux = (double *)slot->list + round_up(list) / sizeof(double);
        slot->count = edges.count;
        status = send_edges(state, &edges, slot, error);
        cudaError_t code = status ? cudaSuccess
                                  : aqua_gpu_fluxes(&flow, slot->list, edges.count, flux,
                                                    state->base.queue->stream);
        status = status ? status : sel_cuda_check(code, "fluxes", __FILE__, __LINE__, error);
        status = status ? status : cuda_slot_fetch(state->base.queue, slot, 0, flux, bytes, error);
    }
    aqua_edges_free(&edges);
    return status;
}

static void finish_flux(const aqua_cuda *state, const cuda_slot *slot, sel_request *request) {
    const bool whole = state->store.whole;
    const double *flux = slot->host;
    sel_total total = {0};
    for (int64_t e = 0; e < slot->count; e++) {
        sel_total_more(&total, whole, flux[e]);
    }
    request->flux =
        sel_total_of(&total, whole) * volume_unit(state) / state->plan->base.domain->grid.dt;
}

/* ---- entries ---- */

sel_status aqua_cuda_ask(sel_state *base, const sel_request *request, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    switch (request->kind) {
    case SEL_READ:
        return start_read(state, request, error);
    case SEL_REDUCE:
        return start_reduce(state, request, error);
    case SEL_MONITOR:
        return start_monitor(state, request, error);
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
    switch (request->kind) {
    case SEL_REDUCE:
        finish_reduce(slot, request);
        break;
    case SEL_MONITOR:
        finish_monitor(state, slot, request);
        break;
    case SEL_BALANCE:
        finish_balance(state, slot, request);
        break;
    default:
        finish_flux(state, slot, request);
        break;
    }
}
