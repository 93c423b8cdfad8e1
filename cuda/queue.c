/* queue.c -- streams, chunks of steps, slots of requests. */
#include "cuda/queue.h"

#include <stdlib.h>
#include <string.h>
#include "cuda/collectives.h"

/* Copies to pageable memory larger than this are shared by several threads. */
static const uint64_t large_copy = 8 << 20;

sel_status cuda_march_open(march_device *on, int device, bool first, sel_error *error) {
    int least, greatest;
    CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    least = first ? greatest : least;
    CUDA_TRY(cudaStreamCreateWithPriority(&on->stream, cudaStreamNonBlocking, least));
    CUDA_TRY(cudaStreamCreateWithPriority(&on->beside, cudaStreamNonBlocking, least));
    CUDA_TRY(cudaEventCreateWithFlags(&on->fork, cudaEventDisableTiming));
    CUDA_TRY(cudaEventCreateWithFlags(&on->join, cudaEventDisableTiming));
    CUDA_TRY(cudaDeviceGetAttribute(&on->processors, cudaDevAttrMultiProcessorCount, device));
    return SEL_OK;
}

sel_status cuda_queue_open(cuda_queue *queue, int device, sel_error *error) {
    sel_status status = cuda_march_open(&queue->march, device, false, error);
    if (status) {
        return status;
    }
    queue->stream = queue->march.stream;
    CUDA_TRY(cudaStreamCreateWithFlags(&queue->copies, cudaStreamNonBlocking));
    for (int k = 0; k < CUDA_CHUNKS; k++) {
        CUDA_TRY(cudaEventCreate(&queue->begun[k]));
        CUDA_TRY(cudaEventCreate(&queue->ended[k]));
    }
    for (int k = 0; k < CUDA_STAGES; k++) {
        CUDA_TRY(cudaEventCreateWithFlags(&queue->filled[k], cudaEventDisableTiming));
        CUDA_TRY(cudaEventCreateWithFlags(&queue->sent[k], cudaEventDisableTiming));
    }
    return SEL_OK;
}

void cuda_queue_list(cuda_queue *queue, sel_arrays *arrays, int ranks) {
    const int64_t most = 64 << 20, least = 4 << 20, each = most / ranks;
    queue->stage_bytes = each > least ? each : least;
    SEL_ADD(arrays, queue, stages[0], queue->stage_bytes, 0);
    SEL_ADD(arrays, queue, stages[1], queue->stage_bytes, 0);
    SEL_ADD(arrays, queue, clock, 1, 0);
    SEL_ADD(arrays, queue, alarm, 1, 0);
}

sel_status cuda_queue_start(cuda_queue *queue, sel_error *error) {
    sel_status status =
        cuda_host_allocate((void **)&queue->seen, sizeof *queue->seen, "the alarm", error);
    if (!status) {
        *queue->seen = CUDA_NO_ALARM;
        CUDA_TRY(cudaMemsetAsync(queue->alarm, 0xff, sizeof *queue->alarm, queue->stream));
    }
    return status;
}

static void destroy_events(cudaEvent_t *events, int count) {
    for (int k = 0; k < count; k++) {
        if (events[k]) {
            cudaEventDestroy(events[k]);
        }
    }
}

static void free_slots(cuda_slot *slot) {
    while (slot) {
        cuda_slot *next = slot->next;
        cudaFree(slot->list);
        cudaFreeHost(slot->host);
        destroy_events(&slot->done, 1);
        free(slot);
        slot = next;
    }
}

static void close_stream(cudaStream_t stream) {
    if (stream) {
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
    }
}

void cuda_march_close(march_device *on) {
    close_stream(on->beside);
    close_stream(on->stream);
    destroy_events(&on->fork, 1);
    destroy_events(&on->join, 1);
}

void cuda_queue_close(cuda_queue *queue) {
    close_stream(queue->copies);
    if (queue->stream) {
        cudaStreamSynchronize(queue->stream);
    }
    free_slots(queue->slots);
    if (queue->graph) {
        cudaGraphExecDestroy(queue->graph);
    }
    cudaFreeHost(queue->seen);
    destroy_events(queue->filled, CUDA_STAGES);
    destroy_events(queue->sent, CUDA_STAGES);
    destroy_events(queue->begun, CUDA_CHUNKS);
    destroy_events(queue->ended, CUDA_CHUNKS);
    cuda_march_close(&queue->march);
}

/* ---- steps ---- */

/* Waits for a chunk, and adds up its steps and its time. */
static sel_status count_chunk(cuda_queue *queue, int64_t k, sel_error *error) {
    float milliseconds = 0;
    if (queue->chunk_steps[k] > 0) {
        CUDA_TRY(cudaEventSynchronize(queue->ended[k]));
        CUDA_TRY(cudaEventElapsedTime(&milliseconds, queue->begun[k], queue->ended[k]));
        queue->steps_done += queue->chunk_steps[k];
        queue->seconds_done += 1e-3 * (double)milliseconds;
        queue->chunk_steps[k] = 0;
    }
    return SEL_OK;
}

sel_status cuda_queue_begin(cuda_queue *queue, sel_error *error) {
    const int64_t chunk = queue->chunks % CUDA_CHUNKS;
    sel_status status = count_chunk(queue, chunk, error);
    if (!status) {
        CUDA_TRY(cudaEventRecord(queue->begun[chunk], queue->stream));
    }
    return status;
}

sel_status cuda_queue_end(cuda_queue *queue, int64_t steps, sel_error *error) {
    const int64_t chunk = queue->chunks % CUDA_CHUNKS;
    CUDA_TRY(cudaMemcpyAsync(queue->seen, queue->alarm, sizeof *queue->seen, cudaMemcpyDeviceToHost,
                             queue->stream));
    CUDA_TRY(cudaEventRecord(queue->ended[chunk], queue->stream));
    queue->chunk_steps[chunk] = steps;
    queue->chunks++;
    return SEL_OK;
}

sel_status cuda_queue_wait(cuda_queue *queue, sel_error *error) {
    sel_status status = SEL_OK;
    CUDA_TRY(cudaStreamSynchronize(queue->stream));
    for (int64_t k = 0; k < CUDA_CHUNKS && !status; k++) {
        status = count_chunk(queue, k, error);
    }
    return status;
}

cuda_clock cuda_queue_clock(const cuda_queue *queue, int64_t step) {
    return (cuda_clock){queue->clock, step - queue->base};
}

static sel_status queue_record(cuda_queue *queue, cuda_enqueue *enqueue, sel_state *state,
                               sel_error *error) {
    cudaGraph_t recorded = NULL;
    sel_status status = SEL_OK;
    CUDA_TRY(cudaStreamBeginCapture(queue->stream, cudaStreamCaptureModeThreadLocal));
    for (int64_t k = 0; k < queue->graph_steps && !status; k += queue->pass) {
        status = enqueue(state, state->step + k, error);
    }
    cudaError_t ticked =
        queue->timeless ? cudaSuccess : cuda_tick(queue->clock, queue->graph_steps, queue->stream);
    cudaError_t code = cudaStreamEndCapture(queue->stream, &recorded);
    code = code == cudaSuccess ? ticked : code;
    if (!status && code == cudaSuccess) {
        code = cudaGraphInstantiate(&queue->graph, recorded, 0);
    }
    if (recorded) {
        cudaGraphDestroy(recorded);
    }
    return status ? status : sel_cuda_check(code, "a graph of steps", __FILE__, __LINE__, error);
}

sel_status cuda_queue_launch(cuda_queue *queue, cuda_enqueue *enqueue, sel_state *state,
                             sel_error *error) {
    if (queue->base != state->step && !queue->timeless) {
        CUDA_TRY(cuda_tick(queue->clock, state->step - queue->base, queue->stream));
        queue->base = state->step;
    }
    sel_status status = queue->graph ? SEL_OK : queue_record(queue, enqueue, state, error);
    if (!status) {
        CUDA_TRY(cudaGraphLaunch(queue->graph, queue->stream));
        queue->base += queue->timeless ? 0 : queue->graph_steps;
    }
    return status;
}

/* ---- slots ---- */

/* The cells that a SEL_READ asks for, and the bytes of its answer. */
static int64_t queue_read_cells(const sel_request *request) {
    return request->cells ? request->cell_count : sel_box_cells(&request->box);
}

static uint64_t answer_bytes(const sel_request *request) {
    return (uint64_t)queue_read_cells(request) * sel_request_cell_bytes(request);
}

/* The free slot whose buffers fit best: the smallest that are large enough, else the largest. */
static cuda_slot *choose_slot(const cuda_queue *queue, uint64_t bytes) {
    cuda_slot *best = NULL;
    for (cuda_slot *slot = queue->slots; slot; slot = slot->next) {
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

static cuda_slot *add_slot(cuda_queue *queue) {
    cuda_slot *slot = calloc(1, sizeof *slot);
    if (slot) {
        slot->next = queue->slots;
        queue->slots = slot;
    }
    return slot;
}

/* Replaces a buffer that is smaller than `bytes`. */
static sel_status make_room(void **buffer, uint64_t *room, uint64_t bytes,
                            cudaError_t (*release)(void *),
                            sel_status (*allocate)(void **, uint64_t, const char *, sel_error *),
                            const char *what, sel_error *error) {
    if (*room >= bytes) {
        return SEL_OK;
    }
    release(*buffer);
    *buffer = NULL;
    sel_status status = allocate(buffer, bytes, what, error);
    *room = status ? 0 : bytes;
    return status;
}

sel_status cuda_slot_open(cuda_queue *queue, const sel_request *request, uint64_t bytes,
                          uint64_t list_bytes, cuda_slot **opened, sel_error *error) {
    cuda_slot *slot = choose_slot(queue, bytes);
    slot = slot ? slot : add_slot(queue);
    if (!slot) {
        return sel_fail_memory(error, "a request", sizeof *slot);
    }
    sel_status status = make_room(&slot->host, &slot->host_bytes, bytes, cudaFreeHost,
                                  cuda_host_allocate, "the fields to write", error);
    status = status ? status
                    : make_room(&slot->list, &slot->list_bytes, list_bytes, cudaFree,
                                cuda_device_allocate, "the lists of cells", error);
    if (!status && !slot->done) {
        CUDA_TRY(cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming));
    }
    slot->request = status ? NULL : request;
    *opened = slot;
    return status;
}

static cuda_slot *slot_of(const cuda_queue *queue, const sel_request *request) {
    cuda_slot *slot = queue->slots;
    while (slot && slot->request != request) {
        slot = slot->next;
    }
    return slot;
}

void cuda_slot_started(cuda_queue *queue, const sel_request *request, int64_t step,
                       sel_status status) {
    cuda_slot *slot = slot_of(queue, request);
    if (slot) {
        slot->step = step;
        slot->request = status ? NULL : request;
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

sel_status cuda_slot_answer(const sel_state *state, const sel_request *request, cuda_slot **slot,
                            sel_error *error) {
    *slot = slot_of(state->queue, request);
    if (!*slot) {
        return sel_fail(error, SEL_NO_DEVICE, "a request is finished that was not started");
    }
    (*slot)->request = NULL;
    CUDA_TRY(cudaEventSynchronize((*slot)->done));
    if (request->kind == SEL_READ && state->ranks->count > 1 && !request->stays) {
        sel_state_gather_read(state, request, (*slot)->host);
    } else if (request->kind == SEL_REDUCE && state->ranks->count > 1) {
        state->ranks->broadcast((*slot)->host, sizeof(cuda_sums), false);
    } else if (request->kind == SEL_READ) {
        copy_out(request->to, (*slot)->host, answer_bytes(request), state->threads);
    }
    return SEL_OK;
}

sel_status cuda_slot_fetch(cuda_queue *queue, cuda_slot *slot, uint64_t offset, const void *from,
                           uint64_t bytes, sel_error *error) {
    if (bytes > 0) {
        CUDA_TRY(cudaMemcpyAsync((char *)slot->host + offset, from, bytes, cudaMemcpyDeviceToHost,
                                 queue->stream));
    }
    CUDA_TRY(cudaEventRecord(slot->done, queue->stream));
    return SEL_OK;
}

/* ---- fields ---- */

/* The list is sent from the pinned buffer, where it stands behind the answer. */
static sel_status send_list(cuda_queue *queue, const int64_t *cells, uint64_t bytes,
                            cuda_slot *slot, uint64_t offset, sel_error *error) {
    if (bytes > 0) {
        char *pinned = (char *)slot->host + offset;
        memcpy(pinned, cells, bytes);
        CUDA_TRY(cudaMemcpyAsync(slot->list, pinned, bytes, cudaMemcpyHostToDevice, queue->stream));
    }
    return SEL_OK;
}

/* The cells from `begin` to `end`, through a stage: the kernel waits until the stage is free, the
 * copy until it is filled. */
static sel_status send_piece(cuda_queue *queue, const sel_request *request, cuda_read *read,
                             const void *view, const cuda_cells *cells, void *to,
                             sel_error *error) {
    const int64_t k = queue->pieces++ % CUDA_STAGES;
    const uint64_t bytes = (uint64_t)(cells->end - cells->begin) * sel_request_cell_bytes(request);
    CUDA_TRY(cudaStreamWaitEvent(queue->stream, queue->sent[k], 0));
    CUDA_TRY(read(view, request->field, cells, request->components,
                  request->precision == SEL_F32 ? 4 : 8, queue->stages[k], queue->stream));
    CUDA_TRY(cudaEventRecord(queue->filled[k], queue->stream));
    CUDA_TRY(cudaStreamWaitEvent(queue->copies, queue->filled[k], 0));
    CUDA_TRY(cudaMemcpyAsync(to, queue->stages[k], bytes, cudaMemcpyDeviceToHost, queue->copies));
    CUDA_TRY(cudaEventRecord(queue->sent[k], queue->copies));
    return SEL_OK;
}

sel_status cuda_slot_read(const sel_state *state, const sel_request *request, cuda_read *read,
                          const void *view, sel_error *error) {
    cuda_queue *queue = state->queue;
    cuda_cells cells;
    int64_t first, end, *own;
    sel_status status = cuda_own_cells(state, request, &cells, &first, &end, &own, error);
    const uint64_t each = sel_request_cell_bytes(request), answer = (uint64_t)(end - first) * each;
    const uint64_t offset = (answer + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t);
    const uint64_t list = request->cells ? (uint64_t)end * sizeof(int64_t) : 0;
    const int64_t piece = queue->stage_bytes / (int64_t)each;
    cuda_slot *slot;
    status =
        status ? status : cuda_slot_open(queue, request, offset + list + 1, list, &slot, error);
    status =
        status ? status : send_list(queue, own ? own : request->cells, list, slot, offset, error);
    free(own);
    if (status) {
        return status;
    }
    cells.list = request->cells ? slot->list : NULL;
    for (int64_t begin = first; begin < end && !status; begin += piece) {
        cells.begin = begin;
        cells.end = begin + piece < end ? begin + piece : end;
        status = send_piece(queue, request, read, view, &cells,
                            (char *)slot->host + (uint64_t)(begin - first) * each, error);
    }
    if (!status) {
        CUDA_TRY(cudaEventRecord(slot->done, queue->copies));
    }
    return status;
}
