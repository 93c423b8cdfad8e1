/* lbm_requests.c -- what outputs and the run loop ask of the CUDA backend.
 *
 * Kernels find the answer on the stream of the steps, so that they see the state at which it was
 * asked for. Fields are then copied to pinned memory on a stream of their own while the next steps
 * are computed; sums are a few numbers and follow their kernel. finish() waits for one answer only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cuda/device.h"
#include "cuda/lbm_state.h"
#include "engine/lbm/lbm_answers.h"

/* Copies to pageable memory larger than this are shared by several threads. */
static const uint64_t large_copy = 8 << 20;

void cuda_free_slots(sel_state *state) {
    for (int k = 0; k < CUDA_SLOTS; k++) {
        cuda_slot *slot = &state->slots[k];
        cudaFree(slot->device);
        cudaFreeHost(slot->host);
        if (slot->done) {
            cudaEventDestroy(slot->done);
        }
    }
}

/* The free slot whose buffers fit best: the smallest that are large enough, else the largest. */
static cuda_slot *choose_slot(sel_state *state, uint64_t bytes) {
    cuda_slot *best = NULL;
    for (int k = 0; k < CUDA_SLOTS; k++) {
        cuda_slot *slot = &state->slots[k];
        if (slot->request) {
            continue;
        }
        bool fits = slot->host_bytes >= bytes, best_fits = best && best->host_bytes >= bytes;
        if (!best || (fits && !best_fits) ||
            (fits == best_fits && (slot->host_bytes < best->host_bytes) == fits)) {
            best = slot;
        }
    }
    return best;
}

/* A slot with pinned memory, and with as much on the device if asked for. */
static sel_status open_slot(sel_state *state, const sel_request *request, uint64_t bytes,
                            bool on_device, cuda_slot **opened, sel_error *error) {
    cuda_slot *slot = choose_slot(state, bytes);
    if (!slot) {
        return sel_fail(error, SEL_NO_DEVICE, "more than %d requests are under way", CUDA_SLOTS);
    }
    if (slot->host_bytes < bytes) {
        cudaFreeHost(slot->host);
        slot->host = NULL;
        slot->host_bytes = 0;
        CUDA_TRY(cudaMallocHost(&slot->host, bytes));
        slot->host_bytes = bytes;
    }
    if (on_device && slot->device_bytes < bytes) {
        cudaFree(slot->device);
        slot->device = NULL;
        slot->device_bytes = 0;
        sel_status status =
            cuda_device_allocate(&slot->device, bytes, "the fields to write", error);
        if (status) {
            return status;
        }
        slot->device_bytes = bytes;
    }
    if (!slot->done) {
        CUDA_TRY(cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming));
    }
    slot->request = request;
    *opened = slot;
    return SEL_OK;
}

static lbm_gpu_cells cells_of(const sel_box *box) {
    lbm_gpu_cells cells = {.list = NULL};
    for (int a = 0; a < 3; a++) {
        cells.first[a] = (uint32_t)box->lo[a];
        cells.stride[a] = (uint32_t)box->stride[a];
        cells.count[a] = (uint32_t)sel_box_count(box, a);
    }
    return cells;
}

static uint64_t read_bytes(const sel_request *request) {
    int64_t cells = request->cells ? request->cell_count : sel_box_cells(&request->box);
    return (uint64_t)(cells * request->components) * (request->precision == SEL_F32 ? 4 : 8);
}

static sel_status start_read(sel_state *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    const uint64_t bytes = read_bytes(request);
    const uint64_t list = request->cells ? (uint64_t)request->cell_count * sizeof(int64_t) : 0;
    lbm_gpu_cells cells = cells_of(&request->box);
    cuda_slot *slot;
    /* A list of cells travels in the same buffers, behind the room for the values. */
    const uint64_t behind = (bytes + 255) / 256 * 256;
    sel_status status = open_slot(state, request, behind + list + 1, true, &slot, error);
    if (status) {
        return status;
    }
    if (request->cells) {
        cells.list = (const int64_t *)(const void *)((char *)slot->device + behind);
        cells.list_count = request->cell_count;
        memcpy((char *)slot->host + behind, request->cells, list);
        CUDA_TRY(cudaMemcpyAsync((char *)slot->device + behind, (char *)slot->host + behind, list,
                                 cudaMemcpyHostToDevice, state->stream));
    }
    CUDA_TRY(lbm_gpu_read(&view, request->field, &cells, request->components,
                          request->precision == SEL_F32 ? 4 : 8, slot->device, state->stream));
    CUDA_TRY(cudaEventRecord(state->ready, state->stream));
    CUDA_TRY(cudaStreamWaitEvent(state->copies, state->ready, 0));
    CUDA_TRY(
        cudaMemcpyAsync(slot->host, slot->device, bytes, cudaMemcpyDeviceToHost, state->copies));
    CUDA_TRY(cudaEventRecord(slot->done, state->copies));
    return SEL_OK;
}

/* The answer of `bytes` that kernels have left at `from`. */
static sel_status fetch(sel_state *state, cuda_slot *slot, uint64_t offset, const void *from,
                        uint64_t bytes, sel_error *error) {
    CUDA_TRY(cudaMemcpyAsync((char *)slot->host + offset, from, bytes, cudaMemcpyDeviceToHost,
                             state->stream));
    CUDA_TRY(cudaEventRecord(slot->done, state->stream));
    return SEL_OK;
}

static sel_status start_reduce(sel_state *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    const lbm_gpu_cells cells = cells_of(&request->box);
    cuda_slot *slot;
    sel_status status = open_slot(state, request, sizeof(lbm_gpu_sums), false, &slot, error);
    if (!status) {
        CUDA_TRY(lbm_gpu_reduce(&view, request->field, &cells, state->partials, state->stream));
        status = fetch(state, slot, 0, state->partials, sizeof(lbm_gpu_sums), error);
    }
    return status;
}

static sel_status start_monitor(sel_state *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    cuda_slot *slot;
    sel_status status = open_slot(state, request, sizeof(lbm_gpu_monitor), false, &slot, error);
    if (!status) {
        CUDA_TRY(lbm_gpu_watch(&view, request->only_bad_cell ? NULL : state->last_velocity,
                               state->partials, state->stream));
        slot->had_before = state->monitored;
        state->monitored |= !request->only_bad_cell;
        status = fetch(state, slot, 0, state->partials, sizeof(lbm_gpu_monitor), error);
    }
    return status;
}

static sel_status start_links(sel_state *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    double centre[3];
    cuda_slot *slot;
    lbm_links_centre(state->plan, request, centre);
    sel_status status = open_slot(state, request, sizeof(lbm_gpu_carried), false, &slot, error);
    if (!status) {
        CUDA_TRY(lbm_gpu_links(&view, request->region, centre, state->partials, state->stream));
        status = fetch(state, slot, 0, state->partials, sizeof(lbm_gpu_carried), error);
    }
    return status;
}

/* The mass, and what the links carried since the last balance, whose sums start anew. */
static sel_status start_balance(sel_state *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    const int regions = state->plan->base.domain->region_count;
    const uint64_t mass = sizeof(lbm_gpu_monitor), rates = ((uint64_t)regions + 1) * sizeof(double);
    cuda_slot *slot;
    sel_status status = open_slot(state, request, mass + rates, false, &slot, error);
    if (status) {
        return status;
    }
    slot->since_steps = state->step - state->balance_step;
    state->balance_step = state->step;
    CUDA_TRY(lbm_gpu_watch(&view, NULL, state->partials, state->stream));
    status = fetch(state, slot, 0, state->partials, mass, error);
    if (!status && slot->since_steps > 0 && state->pattern.boundary.link_flow) {
        CUDA_TRY(lbm_gpu_flows(&state->pattern.boundary, regions, state->rates, state->stream));
        status = fetch(state, slot, mass, state->rates, rates, error);
    } else {
        memset((char *)slot->host + mass, 0, rates);
    }
    return status;
}

sel_status cuda_lbm_start(sel_state *state, sel_request *request, sel_error *error) {
    switch (request->kind) {
    case SEL_READ:
        return start_read(state, request, error);
    case SEL_REDUCE:
        return start_reduce(state, request, error);
    case SEL_MONITOR:
        return start_monitor(state, request, error);
    case SEL_BALANCE:
        return start_balance(state, request, error);
    default:
        return start_links(state, request, error);
    }
}

/* Pageable memory is filled faster by several threads. */
static void copy_out(void *to, const void *from, uint64_t bytes, int threads) {
    if (bytes < large_copy) {
        memcpy(to, from, bytes);
        return;
    }
    const uint64_t piece = 1 << 20;
    const int64_t pieces = (int64_t)((bytes + piece - 1) / piece);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t k = 0; k < pieces; k++) {
        uint64_t first = (uint64_t)k * piece, rest = bytes - first;
        memcpy((char *)to + first, (const char *)from + first, rest < piece ? rest : piece);
    }
}

static void finish_reduce(const lbm_gpu_sums *sums, sel_request *request) {
    for (int c = 0; c < LBM_GPU_PARTS; c++) {
        request->sum[c] = sums->sum[c];
        request->sum_of_squares[c] = sums->squares[c];
        request->min[c] = sums->least[c];
        request->max[c] = sums->most[c];
    }
    request->count = (int64_t)sums->count;
}

static void finish_monitor(const sel_state *state, const cuda_slot *slot, sel_request *request) {
    const lbm_gpu_monitor *found = slot->host;
    request->bad_cell = found->bad_cell == INT64_MAX ? -1 : found->bad_cell;
    request->change = slot->had_before && found->magnitude > 0
                          ? sqrt(found->change / found->magnitude)
                          : (double)NAN;
    request->largest = sqrt(found->largest) * state->plan->numbers.velocity_unit;
}

static void finish_balance(sel_state *state, const cuda_slot *slot, sel_request *request) {
    const lbm_plan *plan = state->plan;
    const lbm_gpu_monitor *found = slot->host;
    const double *carried = (const double *)(const void *)(found + 1);
    for (int r = 1; r <= plan->base.domain->region_count && slot->since_steps > 0; r++) {
        state->out[r] += carried[r];
        state->rate[r] = carried[r] / (double)slot->since_steps;
    }
    const lbm_balance balance = {.mass = (double)plan->base.domain->free_cells + found->mass,
                                 .first_mass = state->first_mass,
                                 .out = state->out,
                                 .rate = state->rate};
    lbm_balance_terms(plan, &balance, request);
}

sel_status cuda_lbm_finish(sel_state *state, sel_request *request, sel_error *error) {
    cuda_slot *slot = NULL;
    for (int k = 0; k < CUDA_SLOTS && !slot; k++) {
        slot = state->slots[k].request == request ? &state->slots[k] : NULL;
    }
    if (!slot) {
        return SEL_OK;
    }
    slot->request = NULL;
    CUDA_TRY(cudaEventSynchronize(slot->done));
    switch (request->kind) {
    case SEL_READ:
        copy_out(request->to, slot->host, read_bytes(request), state->plan->base.threads);
        break;
    case SEL_REDUCE:
        finish_reduce(slot->host, request);
        break;
    case SEL_MONITOR:
        finish_monitor(state, slot, request);
        break;
    case SEL_BALANCE:
        finish_balance(state, slot, request);
        break;
    default: {
        const lbm_gpu_carried *carried = slot->host;
        lbm_links_answer(state->plan, carried->force, carried->torque, carried->mass, request);
    } break;
    }
    return cuda_laws_check(state->laws, error);
}
