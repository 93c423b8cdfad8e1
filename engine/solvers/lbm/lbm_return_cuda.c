/* lbm_return_cuda.c -- closed regions of fluid on the device: lists of their cells, and the return
 * of what interpolated walls owe them (lbm_closed.h).
 */
#include <stdlib.h>
#include <string.h>
#include "engine/core/collectives.h"
#include "engine/solvers/lbm/lbm_closed.h"
#include "engine/solvers/lbm/lbm_state_cuda.h"

/* Lists, or counts (NULL), the spans and the boundary cells of closed regions in the patch. */
static void return_list(const lbm_cuda *state, lbm_gpu_closed_span *spans,
                        lbm_gpu_closed_cell *cells, int64_t counts[2]) {
    const lbm_boundary *b = &state->all.plan->boundary;
    const lbm_gpu_layout *l = &state->pattern.layout;
    const sel_rows own = sel_own_rows(&state->all.base);
    const int64_t before = l->base * state->all.base.rows_per_plane;
    counts[0] = counts[1] = 0;
    for (int64_t k = 0; k < own.count && b->closed_count > 0; k++) {
        const int64_t row = sel_row_of(&own, k), here = row - before;
        const uint32_t y = (uint32_t)(here % l->ny), z = (uint32_t)(here / l->ny);
        const uint32_t index = z * l->slice + (y - l->low + l->halo) * l->pitch;
        int64_t c = b->row_cells[row];
        for (int64_t s = b->row_spans[row]; s < b->row_spans[row + 1]; s++) {
            const lbm_span *span = &b->spans[s];
            const uint32_t region = (uint32_t)span->closed - 1;
            if (span->closed && spans) {
                spans[counts[0]] = (lbm_gpu_closed_span){index + (uint32_t)span->x0,
                                                         (uint32_t)(span->x1 - span->x0), region};
            }
            counts[0] += span->closed > 0;
            for (; c < b->row_cells[row + 1] && b->cells[c].x < span->x1; c++) {
                if (b->cells[c].closed && cells) {
                    cells[counts[1]] = (lbm_gpu_closed_cell){b->cells[c].first_link, region};
                }
                counts[1] += b->cells[c].closed;
            }
        }
    }
}

void lbm_cuda_list_closed(lbm_cuda *state) {
    sel_arrays *arrays = &state->all.base.arrays;
    const lbm_boundary *b = &state->all.plan->boundary;
    lbm_gpu_closed *to = &state->closed;
    int64_t counts[2];
    return_list(state, NULL, NULL, counts);
    SEL_ADD(arrays, to, spans, counts[0], 0);
    SEL_ADD(arrays, to, cells, counts[1], 0);
    SEL_ADD(arrays, to, sums, b->closed_count, 0);
    SEL_ADD(arrays, to, shares, b->closed_count, 0);
    SEL_ADD_COPY(arrays, to, region_cells, b->closed_count, b->closed_cells);
}

sel_status lbm_cuda_send_closed(lbm_cuda *state, sel_error *error) {
    const lbm_plan *plan = state->all.plan;
    lbm_gpu_closed *to = &state->closed;
    sel_arrays arrays = {.memory = NULL};
    lbm_gpu_closed_span *spans = NULL;
    lbm_gpu_closed_cell *cells = NULL;
    int64_t counts[2];
    if (plan->boundary.closed_count == 0) {
        return SEL_OK;
    }
    return_list(state, NULL, NULL, counts);
    sel_arrays_add(&arrays, "spans", &spans, SEL_TYPE_OF(*spans), counts[0], 0);
    sel_arrays_add(&arrays, "cells", &cells, SEL_TYPE_OF(*cells), counts[1], 0);
    sel_status status = sel_arrays_allocate(&arrays, 1, "the regions of fluid", error);
    if (!status) {
        return_list(state, spans, cells, counts);
        status = cuda_send(to->spans, spans, (uint64_t)counts[0] * sizeof *spans, error);
    }
    status =
        status ? status : cuda_send(to->cells, cells, (uint64_t)counts[1] * sizeof *cells, error);
    sel_arrays_free(&arrays);
    to->span_count = (uint32_t)counts[0];
    to->cell_count = (uint32_t)counts[1];
    to->region_count = plan->boundary.closed_count;
    to->bytes = state->pattern.bytes;
    to->components = plan->components;
    to->moments = plan->moments;
    to->plane = state->pattern.layout.plane;
    to->directions = state->directions;
    to->gain = state->all.gain;
    to->owed = state->all.owed;
    to->returned = state->all.returned;
    to->halted = state->pattern.halted;
    return status;
}

/* Copies the sums of this rank to the host. */
static sel_status return_fetch(const lbm_cuda *state, int64_t *own, size_t bytes,
                               sel_error *error) {
    const cudaStream_t stream = state->all.base.queue->stream;
    CUDA_TRY(cudaMemcpyAsync(own, state->closed.sums, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    return SEL_OK;
}

/* Sums of this rank. */
static sel_status return_sum(const lbm_cuda *state, const lbm_gpu_closed *one, sel_error *error) {
    CUDA_TRY(lbm_gpu_collect(one, state->all.base.queue->stream));
    return SEL_OK;
}

/* Adds up the sums of all ranks; status: of this one. Collective: all return alike. */
static sel_status return_join(const lbm_cuda *state, sel_status status, sel_error *error) {
    const sel_ranks *ranks = state->all.base.ranks;
    const lbm_gpu_closed *closed = &state->closed;
    const size_t regions = (size_t)closed->region_count, bytes = regions * sizeof(int64_t);
    if (ranks->count == 1) {
        return status;
    }
    int64_t *own = sel_ranks_memory(ranks, bytes * (1 + (size_t)ranks->count)),
            *all = own + regions;
    status = status ? status : return_fetch(state, own, bytes, error);
    if (status) {
        memset(own, 0, bytes);
    }
    ranks->gather(own, bytes, all);
    for (size_t k = 0; k < regions; k++) {
        own[k] = 0;
        for (size_t r = 0; r < (size_t)ranks->count; r++) {
            own[k] += all[r * regions + k];
        }
    }
    status = status ? status : cuda_send(closed->sums, own, bytes, error);
    free(own);
    return sel_state_agree(&state->all.base, status, error);
}

sel_status lbm_cuda_return(lbm_cuda *state, int64_t *count, sel_error *error) {
    const sel_state *base = &state->all.base;
    const lbm_boundary *boundary = &state->all.plan->boundary;
    const int64_t left = lbm_closed_left(boundary, base->step);
    lbm_gpu_closed one = state->closed;
    *count = left < *count ? left : *count;
    if (!lbm_closed_due(boundary, base->step)) {
        return SEL_OK;
    }
    one.step = base->step;
    one.now = lbm_cuda_at(state, base->field[0].present);
    sel_status status = return_join(state, return_sum(state, &one, error), error);
    if (!status) {
        CUDA_TRY(lbm_gpu_return(&one, base->queue->stream));
        status = base->ranks->count > 1
                     ? cuda_exchange_all(base, base->step, base->queue->stream, error)
                     : SEL_OK;
    }
    return status;
}
