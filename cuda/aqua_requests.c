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
static sel_status check_field(const sel_state *state, int field, sel_error *error) {
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

static sel_status start_read(sel_state *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    sel_status status = check_field(state, request->field, error);
    return status ? status : cuda_slot_read(&state->queue, request, read_field, &view, error);
}

/* ---- sums ---- */

static sel_status start_reduce(sel_state *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const cuda_cells cells = cuda_cells_of(request);
    const uint64_t bytes = cells.count[1] * sizeof(aqua_gpu_sums);
    cuda_slot *slot;
    sel_status status = check_field(state, request->field, error);
    status = status ? status : cuda_slot_open(&state->queue, request, bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    slot->count = cells.count[1];
    CUDA_TRY(aqua_gpu_reduce(&view, request->field, &cells, state->rows, state->queue.stream));
    return cuda_slot_fetch(&state->queue, slot, 0, state->rows, bytes, error);
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

static sel_status start_monitor(sel_state *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const uint64_t bytes = view.layout.ny * sizeof(aqua_gpu_monitor);
    cuda_slot *slot;
    sel_status status = cuda_slot_open(&state->queue, request, bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    CUDA_TRY(aqua_gpu_look(&view, request->only_bad_cell ? NULL : state->last, state->rows,
                           state->queue.stream));
    slot->had_before = state->monitored;
    state->monitored |= !request->only_bad_cell;
    return cuda_slot_fetch(&state->queue, slot, 0, state->rows, bytes, error);
}

static void finish_monitor(const sel_state *state, const cuda_slot *slot, sel_request *request) {
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

double aqua_cuda_join_rows(const sel_state *state, const aqua_gpu_total *rows) {
    aqua_gpu_total total = {0};
    for (int64_t y = 0; y < state->plan->layout.ny; y++) {
        aqua_total_join(&total, &rows[y]);
    }
    return aqua_total_of(&total, state->store.whole);
}

sel_status aqua_cuda_volume(sel_state *state, double *volume, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const sel_request request = {.kind = SEL_BALANCE};
    const uint64_t bytes = view.layout.ny * sizeof(aqua_gpu_total);
    cuda_slot *slot;
    sel_status status = cuda_slot_open(&state->queue, &request, bytes, 0, &slot, error);
    if (status) {
        return status;
    }
    CUDA_TRY(aqua_gpu_volume(&view, state->rows, state->queue.stream));
    status = cuda_slot_fetch(&state->queue, slot, 0, state->rows, bytes, error);
    status = status ? status : cuda_slot_finish(slot, error);
    *volume = status ? 0 : aqua_cuda_join_rows(state, slot->host);
    return status;
}

/* The answer to SEL_BALANCE as it lies in the slot: what kernels book, and what the host has booked
 * until now. */
typedef struct ledger {
    aqua_gpu_total *volume, *rained, *soaked; /* [ny] */
    aqua_gpu_total *out;                      /* [edge_count] */
    aqua_gpu_total *uniform;                  /* [1] */
    aqua_gpu_total *inflow;                   /* [sources] */
} ledger;

static uint64_t open_ledger(const sel_state *state, void *block, ledger *l) {
    const int64_t ny = state->plan->layout.ny;
    aqua_gpu_total *at = block;
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
    return (uint64_t)count * sizeof(aqua_gpu_total);
}

/* Rows that kernels have booked; zero when there are none. */
static sel_status fetch_totals(sel_state *state, cuda_slot *slot, aqua_gpu_total *to,
                               const aqua_gpu_total *from, int64_t count, sel_error *error) {
    const uint64_t bytes = (uint64_t)count * sizeof *to;
    if (!from) {
        memset(to, 0, bytes);
        return SEL_OK;
    }
    return cuda_slot_fetch(&state->queue, slot, (uint64_t)((char *)to - (char *)slot->host), from,
                           bytes, error);
}

static sel_status start_balance(sel_state *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_view view = aqua_cuda_view(state);
    const int64_t ny = state->plan->layout.ny;
    ledger l;
    cuda_slot *slot;
    sel_status status =
        cuda_slot_open(&state->queue, request, open_ledger(state, NULL, &l), 0, &slot, error);
    if (status) {
        return status;
    }
    open_ledger(state, slot->host, &l);
    *l.uniform = state->rained;
    memcpy(l.inflow, state->inflow, (size_t)state->plan->inflow_count * sizeof *l.inflow);
    CUDA_TRY(aqua_gpu_volume(&view, state->rows, state->queue.stream));
    status = fetch_totals(state, slot, l.rained, state->rain.device.booked, ny, error);
    status =
        status ? status : fetch_totals(state, slot, l.soaked, state->soil.device.booked, ny, error);
    status =
        status ? status : fetch_totals(state, slot, l.out, state->booked, state->edge_count, error);
    return status ? status : fetch_totals(state, slot, l.volume, state->rows, ny, error);
}

/* m3 of a unit of the store in a cell. */
static double volume_unit(const sel_state *state) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    return grid->dx * grid->dx / state->store.per_metre;
}

static void finish_balance(const sel_state *state, const cuda_slot *slot, sel_request *request) {
    const aqua_plan *plan = state->plan;
    const bool whole = state->store.whole;
    const double unit = volume_unit(state);
    double inflow[SEL_MAX_TERMS] = {0}, out[257] = {0};
    ledger l;
    open_ledger(state, slot->host, &l);
    for (int i = 0; i < plan->inflow_count && i < SEL_MAX_TERMS; i++) {
        inflow[i] = aqua_total_of(&l.inflow[i], whole) * unit;
    }
    for (int r = 1; state->booked && r <= plan->base.domain->region_count; r++) {
        aqua_gpu_total total = {0};
        for (int64_t e = state->first_edge[r]; e < state->first_edge[r + 1]; e++) {
            aqua_total_join(&total, &l.out[e]);
        }
        out[r] = aqua_total_of(&total, whole) * unit;
    }
    const double rained = plan->rain == AQUA_FIELD ? aqua_cuda_join_rows(state, l.rained)
                                                   : aqua_total_of(l.uniform, whole);
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
static sel_status send_edges(sel_state *state, const aqua_edges *edges, cuda_slot *slot,
                             sel_error *error) {
    aqua_gpu_edge *list = (aqua_gpu_edge *)((double *)slot->host + edges->count);
    const uint64_t bytes = (uint64_t)edges->count * sizeof *list;
    for (int64_t e = 0; e < edges->count; e++) {
        const aqua_edge *edge = &edges->v[e];
        list[e] = (aqua_gpu_edge){
            .at = (uint32_t)edge->at, .k = (int16_t)edge->k, .sign = (int16_t)edge->sign};
    }
    if (bytes > 0) {
        CUDA_TRY(
            cudaMemcpyAsync(slot->list, list, bytes, cudaMemcpyHostToDevice, state->queue.stream));
    }
    return SEL_OK;
}

/* In the last step, or before any the step to come. */
static sel_status start_flux(sel_state *state, const sel_request *request, sel_error *error) {
    const aqua_gpu_flow flow = aqua_cuda_flow(state, state->step > 0 ? state->step - 1 : 0);
    aqua_edges edges;
    cuda_slot *slot;
    sel_status status = aqua_flux_edges(state->plan, request, &edges, error);
    const uint64_t count = (uint64_t)edges.count, list = count * sizeof(aqua_gpu_edge);
    const uint64_t bytes = count * sizeof(double);
    status = status ? status
                    : cuda_slot_open(&state->queue, request, bytes + list + 1, bytes + list + 1,
                                     &slot, error);
    if (!status) {
        double *flux = (double *)slot->list + round_up(list) / sizeof(double);
        slot->count = edges.count;
        status = send_edges(state, &edges, slot, error);
        cudaError_t code =
            status ? cudaSuccess
                   : aqua_gpu_fluxes(&flow, slot->list, edges.count, flux, state->queue.stream);
        status = status ? status : sel_cuda_check(code, "fluxes", __FILE__, __LINE__, error);
        status = status ? status : cuda_slot_fetch(&state->queue, slot, 0, flux, bytes, error);
    }
    aqua_edges_free(&edges);
    return status;
}

static void finish_flux(const sel_state *state, const cuda_slot *slot, sel_request *request) {
    const bool whole = state->store.whole;
    const double *flux = slot->host;
    aqua_gpu_total total = {0};
    for (int64_t e = 0; e < slot->count; e++) {
        aqua_total_more(&total, whole, flux[e]);
    }
    request->flux =
        aqua_total_of(&total, whole) * volume_unit(state) / state->plan->base.domain->grid.dt;
}

/* ---- entries ---- */

static sel_status start(sel_state *state, const sel_request *request, sel_error *error) {
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

sel_status aqua_cuda_start(sel_state *state, sel_request *request, sel_error *error) {
    sel_status status = start(state, request, error);
    cuda_slot_started(&state->queue, request, state->step, status);
    return status;
}

sel_status aqua_cuda_finish(sel_state *state, sel_request *request, sel_error *error) {
    cuda_slot *slot;
    const int threads = state->plan->base.threads;
    sel_status status = cuda_slot_answer(&state->queue, request, threads, &slot, error);
    if (status) {
        return status;
    }
    switch (request->kind) {
    case SEL_READ:
        break;
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
    return aqua_cuda_check(state, slot->step, error);
}
