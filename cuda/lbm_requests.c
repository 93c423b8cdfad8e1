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

sel_status cuda_open_stages(sel_state *state, sel_error *error) {
    sel_status status = SEL_OK;
    for (int k = 0; k < CUDA_STAGES && !status; k++) {
        status = cuda_take(state, &state->stages[k], cuda_stage_bytes, error);
        if (!status) {
            CUDA_TRY(cudaEventCreateWithFlags(&state->filled[k], cudaEventDisableTiming));
            CUDA_TRY(cudaEventCreateWithFlags(&state->sent[k], cudaEventDisableTiming));
        }
    }
    return status;
}

void cuda_free_slots(sel_state *state) {
    for (int k = 0; k < state->slot_count; k++) {
        cuda_slot *slot = state->slots[k];
        cudaFree(slot->list);
        cudaFreeHost(slot->host);
        if (slot->done) {
            cudaEventDestroy(slot->done);
        }
        free(slot);
    }
    free(state->slots);
    for (int k = 0; k < CUDA_STAGES; k++) {
        if (state->filled[k]) {
            cudaEventDestroy(state->filled[k]);
        }
        if (state->sent[k]) {
            cudaEventDestroy(state->sent[k]);
        }
    }
}

/* The free slot whose buffers fit best: the smallest that are large enough, else the largest. */
static cuda_slot *choose_slot(sel_state *state, uint64_t bytes) {
    cuda_slot *best = NULL;
    for (int k = 0; k < state->slot_count; k++) {
        cuda_slot *slot = state->slots[k];
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

static cuda_slot *add_slot(sel_state *state) {
    size_t count = (size_t)state->slot_count + 1;
    cuda_slot **slots = realloc(state->slots, count * sizeof(cuda_slot *));
    state->slots = slots ? slots : state->slots;
    cuda_slot *slot = slots ? calloc(1, sizeof *slot) : NULL;
    if (slot) {
        state->slots[state->slot_count++] = slot;
    }
    return slot;
}

/* A slot with room for the answer, and for a list of cells on the device. */
static sel_status open_slot(sel_state *state, const sel_request *request, uint64_t bytes,
                            uint64_t list_bytes, cuda_slot **opened, sel_error *error) {
    cuda_slot *slot = choose_slot(state, bytes);
    slot = slot ? slot : add_slot(state);
    if (!slot) {
        return sel_fail_memory(error, "a request", sizeof *slot);
    }
    if (slot->host_bytes < bytes) {
        cudaFreeHost(slot->host);
        slot->host = NULL;
        slot->host_bytes = 0;
        if (cudaMallocHost(&slot->host, bytes) != cudaSuccess) {
            cudaGetLastError();
            return sel_fail_memory(error, "the fields to write", bytes);
        }
        slot->host_bytes = bytes;
    }
    if (slot->list_bytes < list_bytes) {
        cudaFree(slot->list);
        slot->list = NULL;
        slot->list_bytes = 0;
        sel_status status =
            cuda_device_allocate(&slot->list, list_bytes, "the cells to look at", error);
        if (status) {
            return status;
        }
        slot->list_bytes = list_bytes;
    }
    if (!slot->done) {
        CUDA_TRY(cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming));
    }
    slot->request = request;
    *opened = slot;
    return SEL_OK;
}

static cuda_slot *slot_of(const sel_state *state, const sel_request *request) {
    for (int k = 0; k < state->slot_count; k++) {
        if (state->slots[k]->request == request) {
            return state->slots[k];
        }
    }
    return NULL;
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

static int64_t read_cells(const sel_request *request) {
    return request->cells ? request->cell_count : sel_box_cells(&request->box);
}

/* Of one cell in the answer. */
static uint64_t cell_bytes(const sel_request *request) {
    return (uint64_t)request->components * (request->precision == SEL_F32 ? 4 : 8);
}

/* The next cells of a field, as many as a stage holds: the kernel waits until the stage is free,
 * the copy until it is filled. */
static sel_status send_piece(sel_state *state, const lbm_gpu_view *view, const sel_request *request,
                             const lbm_gpu_cells *cells, char *to, sel_error *error) {
    const int64_t k = state->pieces++ % CUDA_STAGES;
    const uint64_t bytes = (uint64_t)(cells->end - cells->begin) * cell_bytes(request);
    CUDA_TRY(cudaStreamWaitEvent(state->stream, state->sent[k], 0));
    CUDA_TRY(lbm_gpu_read(view, request->field, cells, request->components,
                          request->precision == SEL_F32 ? 4 : 8, state->stages[k], state->stream));
    CUDA_TRY(cudaEventRecord(state->filled[k], state->stream));
    CUDA_TRY(cudaStreamWaitEvent(state->copies, state->filled[k], 0));
    CUDA_TRY(cudaMemcpyAsync(to, state->stages[k], bytes, cudaMemcpyDeviceToHost, state->copies));
    CUDA_TRY(cudaEventRecord(state->sent[k], state->copies));
    return SEL_OK;
}

/* Cell numbers travel by the pinned buffer, which their kernel is done with before answers come. */
static sel_status send_list(sel_state *state, const sel_request *request, cuda_slot *slot,
                            uint64_t offset, sel_error *error) {
    const uint64_t bytes = (uint64_t)request->cell_count * sizeof(int64_t);
    char *pinned = (char *)slot->host + offset;
    memcpy(pinned, request->cells, bytes);
    CUDA_TRY(cudaMemcpyAsync(slot->list, pinned, bytes, cudaMemcpyHostToDevice, state->stream));
    return SEL_OK;
}

static sel_status start_read(sel_state *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    const int64_t count = read_cells(request);
    const uint64_t each = cell_bytes(request), offset = ((uint64_t)count * each + 7) / 8 * 8;
    const uint64_t list = request->cells ? (uint64_t)request->cell_count * sizeof(int64_t) : 0;
    const int64_t piece = (int64_t)(cuda_stage_bytes / each);
    lbm_gpu_cells cells = cells_of(&request->box);
    cuda_slot *slot;
    sel_status status = open_slot(state, request, offset + list + 1, list, &slot, error);
    if (!status && request->cells) {
        status = send_list(state, request, slot, offset, error);
        cells.list = slot->list;
        cells.list_count = request->cell_count;
    }
    for (cells.begin = 0; cells.begin < count && !status; cells.begin = cells.end) {
        cells.end = cells.begin + piece < count ? cells.begin + piece : count;
        char *to = (char *)slot->host + (uint64_t)cells.begin * each;
        status = send_piece(state, &view, request, &cells, to, error);
    }
    if (!status) {
        CUDA_TRY(cudaEventRecord(slot->done, state->copies));
    }
    return status;
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
    sel_status status = open_slot(state, request, sizeof(lbm_gpu_sums), 0, &slot, error);
    if (!status) {
        CUDA_TRY(lbm_gpu_reduce(&view, request->field, &cells, state->partials, state->stream));
        status = fetch(state, slot, 0, state->partials, sizeof(lbm_gpu_sums), error);
    }
    return status;
}

static sel_status start_monitor(sel_state *state, const sel_request *request, sel_error *error) {
    const lbm_gpu_view view = cuda_view(state);
    cuda_slot *slot;
    sel_status status = open_slot(state, request, sizeof(lbm_gpu_monitor), 0, &slot, error);
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
    sel_status status = open_slot(state, request, sizeof(lbm_gpu_carried), 0, &slot, error);
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
    sel_status status = open_slot(state, request, mass + rates, 0, &slot, error);
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
    default:
        return start_links(state, request, error);
    }
}

sel_status cuda_lbm_start(sel_state *state, sel_request *request, sel_error *error) {
    sel_status status = start(state, request, error);
    cuda_slot *slot = status ? slot_of(state, request) : NULL;
    if (slot) {
        slot->request = NULL;
    }
    return status;
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
    cuda_slot *slot = slot_of(state, request);
    if (!slot) {
        return sel_fail(error, SEL_NO_DEVICE, "a request is finished that was not started");
    }
    slot->request = NULL;
    CUDA_TRY(cudaEventSynchronize(slot->done));
    switch (request->kind) {
    case SEL_READ:
        copy_out(request->to, slot->host, (uint64_t)read_cells(request) * cell_bytes(request),
                 state->plan->base.threads);
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
