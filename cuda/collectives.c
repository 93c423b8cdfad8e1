/* collectives.c -- rows, lists and cells that several ranks have on their devices. */
#include "cuda/collectives.h"

#include <stdlib.h>
#include <string.h>
#include "cuda/feed.h"
#include "cuda/queue.h"

/* ---- sums ---- */

/* Partials of a rank that rank 0 needs, between the device and a buffer: loose ones, those that
 * have been joined, and loose ones. Returns their number; buffer NULL: that alone. */
static int64_t move_partials(const cuda_rows *rows, int rank, size_t size, char *buffer, bool back,
                             cudaStream_t stream, cudaError_t *code) {
    int64_t first, end, count = 0;
    cuda_rows_joined(rows, rank, &first, &end);
    const int64_t of[3][3] = {{rows->start[rank], first - rows->start[rank], 1},
                              {first, (end - first + CUDA_JOINED - 1) / CUDA_JOINED, CUDA_JOINED},
                              {end, rows->start[rank + 1] - end, 1}};
    for (int k = 0; k < 3; k++) {
        char *at = (char *)rows->partials + (of[k][0] - rows->from) * (int64_t)size;
        char *compact = buffer ? buffer + (size_t)count * size : NULL;
        const size_t apart = (size_t)of[k][2] * size;
        if (buffer && of[k][1] > 0 && *code == cudaSuccess) {
            *code = cudaMemcpy2DAsync(back ? at : compact, back ? apart : size, back ? compact : at,
                                      back ? size : apart, size, (size_t)of[k][1],
                                      cudaMemcpyDefault, stream);
        }
        count += of[k][1];
    }
    return count;
}

/* The same of ranks that have boxes: all of its own. */
static int64_t move_own(const cuda_rows *rows, int rank, size_t size, char *buffer, bool back,
                        cudaStream_t stream, cudaError_t *code) {
    const sel_rows its = sel_state_part_rows(rows->with, &rows->box, rank);
    char *at = (char *)rows->partials + (its.first - rows->from) * (int64_t)size;
    const size_t width = (size_t)its.height * size;
    const size_t apart = (size_t)(its.height + its.skip) * size;
    if (buffer && its.count > 0 && *code == cudaSuccess) {
        *code = cudaMemcpy2DAsync(back ? at : buffer, back ? apart : width, back ? buffer : at,
                                  back ? width : apart, width, (size_t)(its.count / its.height),
                                  cudaMemcpyDefault, stream);
    }
    return its.count;
}

/* cuda_rows.gather */
static cudaError_t collectives_gather(const cuda_rows *rows, size_t size, cudaStream_t stream) {
    const sel_ranks *ranks = ((const sel_state *)rows->with)->ranks;
    const bool leads = ranks->rank == 0;
    cudaError_t code = cudaSuccess;
    for (int r = leads ? 1 : ranks->rank; r < (leads ? ranks->count : ranks->rank + 1); r++) {
        int64_t (*const move)(const cuda_rows *, int, size_t, char *, bool, cudaStream_t,
                              cudaError_t *) = rows->boxes ? move_own : move_partials;
        const int64_t count = move(rows, r, size, NULL, false, stream, &code);
        char *buffer = sel_ranks_memory(ranks, (size_t)count * size);
        const sel_message message = {
            .rank = leads ? r : 0, .sends = !leads, .at = buffer, .bytes = (size_t)count * size};
        for (int turn = 0; turn < 2; turn++) {
            if (turn == (int)leads) {
                move(rows, r, size, buffer, leads, stream, &code);
                const cudaError_t done = cudaStreamSynchronize(stream);
                code = code == cudaSuccess ? done : code;
            } else {
                ranks->transfer(&message, count > 0);
            }
        }
        free(buffer);
    }
    return code;
}

cuda_rows cuda_rows_of(const sel_state *state, const sel_box *box) {
    const sel_box all = sel_grid_box(&state->plan->domain->grid);
    cuda_rows rows = {.partials = state->queue->rows,
                      .rank = state->ranks->rank,
                      .ranks = state->ranks->count,
                      .start = state->queue->row_start,
                      .boxes = sel_divides_planes(&state->decomposition),
                      .box = box ? *box : all,
                      .gather = collectives_gather,
                      .with = (void *)(uintptr_t)state};
    rows.own = sel_state_part_rows(state, &rows.box, rows.rank);
    rows.from = rows.rank > 0 ? rows.own.first : 0;
    sel_state_share_box(state, &rows.box, state->queue->row_start);
    return rows;
}

/* ---- lists, and cells that are read ---- */

sel_status cuda_share_items(const sel_state *state, void *list, int64_t count, size_t size,
                            int64_t (*row)(const sel_state *state, int64_t k), sel_error *error) {
    const size_t bytes = (size_t)count * size;
    if (state->ranks->count == 1 || bytes == 0 || !list) {
        return SEL_OK;
    }
    void *host = sel_ranks_memory(state->ranks, bytes);
    sel_status status = cuda_send(host, list, bytes, error);
    sel_state_share_items(state, host, size, count, row);
    status = status ? status : cuda_send(list, host, bytes, error);
    free(host);
    return status;
}

cuda_cells cuda_cells_of(const sel_box *box) {
    cuda_cells cells = {.list = NULL};
    for (int a = 0; a < 3; a++) {
        cells.first[a] = (uint32_t)box->lo[a];
        cells.stride[a] = (uint32_t)box->stride[a];
        cells.count[a] = (uint32_t)sel_box_count(box, a);
    }
    return cells;
}

sel_status cuda_own_cells(const sel_state *state, const sel_request *request, cuda_cells *cells,
                          int64_t *first, int64_t *end, int64_t **list, sel_error *error) {
    const int own = state->ranks->rank;
    int64_t start[SEL_MOST_RANKS + 1];
    *cells = cuda_cells_of(&request->box);
    *list = NULL;
    *first = 0;
    *end = request->cells ? request->cell_count : sel_box_cells(&request->box);
    if (state->ranks->count == 1) {
        return SEL_OK;
    }
    if (!request->cells && sel_divides_planes(&state->decomposition)) {
        const sel_box part = sel_state_part(state, &request->box, own);
        *cells = cuda_cells_of(&part);
        *end = (int64_t)cells->count[0] * cells->count[1] * cells->count[2];
        return SEL_OK;
    }
    if (!request->cells) {
        const int64_t width = sel_box_count(&request->box, 0);
        sel_state_share_box(state, &request->box, start);
        *first = start[own] * width;
        *end = start[own + 1] * width;
        return SEL_OK;
    }
    *list = malloc((size_t)(request->cell_count + 1) * sizeof **list);
    *end = 0;
    for (int64_t c = 0; c < request->cell_count && *list; c++) {
        if (sel_state_has(state, request->cells[c] / state->plan->domain->grid.n[0])) {
            (*list)[(*end)++] = request->cells[c];
        }
    }
    return *list ? SEL_OK
                 : sel_fail_memory(error, "a list of cells",
                                   (uint64_t)request->cell_count * sizeof **list);
}
