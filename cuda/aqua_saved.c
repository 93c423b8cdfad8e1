/* aqua_saved.c -- the state of sel.aqua on its way to and from checkpoints of any backend.
 *
 * What the device books by rows and edges is saved as such, so that a run goes on bit by bit, and
 * as the totals that the CPU keeps, which stand in the first row or edge when only they are there.
 */
#include <stdlib.h>
#include <string.h>
#include "cuda/aqua_state.h"

/* Joins `count` totals of the device. */
static sel_status join(const sel_total *booked, int64_t count, sel_total *to, sel_error *error) {
    const uint64_t bytes = (uint64_t)count * sizeof *booked;
    sel_total *totals = calloc((size_t)count + 1, sizeof *totals);
    sel_status status = totals ? cuda_send(totals, booked, bytes, error)
                               : sel_fail_memory(error, "the books", bytes);
    *to = (sel_total){0};
    for (int64_t k = 0; k < count && !status; k++) {
        sel_total_join(to, &totals[k]);
    }
    free(totals);
    return status;
}

/* The other way: all of it in the first. */
static sel_status spread(const sel_total *total, sel_total *booked, int64_t count,
                         sel_error *error) {
    const uint64_t bytes = (uint64_t)count * sizeof *booked;
    if (!booked || count == 0) {
        return SEL_OK;
    }
    sel_total *totals = calloc((size_t)count, sizeof *totals);
    if (!totals) {
        return sel_fail_memory(error, "the books", bytes);
    }
    totals[0] = *total;
    sel_status status = cuda_send(booked, totals, bytes, error);
    free(totals);
    return status;
}

sel_status aqua_cuda_saving(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const int64_t ny = state->all.plan->layout.ny;
    sel_status status = SEL_OK;
    if (state->pour.device.booked) {
        status = join(state->pour.device.booked, ny, &state->all.rained, error);
    }
    if (state->soak.device.booked && !status) {
        status = join(state->soak.device.booked, ny, &state->soaked, error);
    }
    for (int r = 1; state->booked && r <= base->plan->domain->region_count && !status; r++) {
        const int64_t first = state->all.first_edge[r], end = state->all.first_edge[r + 1];
        status = join(state->booked + first, end - first, &state->out[r], error);
    }
    return status;
}

static sel_status spread_books(aqua_cuda *state, sel_error *error) {
    const int64_t ny = state->all.plan->layout.ny;
    sel_status status = spread(&state->all.rained, state->pour.device.booked, ny, error);
    status = status ? status : spread(&state->soaked, state->soak.device.booked, ny, error);
    for (int r = 1; state->booked && r <= state->all.plan->base.domain->region_count && !status;
         r++) {
        const int64_t first = state->all.first_edge[r], end = state->all.first_edge[r + 1];
        status = spread(&state->out[r], state->booked + first, end - first, error);
    }
    return status;
}

/* No tile is known to be dry. */
static sel_status complete_water(aqua_cuda *state, sel_error *error) {
    const aqua_gpu_layout *layout = &state->pattern.layout;
    cudaStream_t stream = state->all.base.queue->stream;
    for (int k = 0; k < 2; k++) {
        CUDA_TRY(aqua_gpu_wrap(layout, state->periodic, (int)state->all.size, state->all.water[k],
                               stream));
        if (state->marks[k]) {
            CUDA_TRY(cudaMemsetAsync(state->marks[k], AQUA_ALL_WET,
                                     (size_t)aqua_gpu_tiles(layout->nx, layout->ny), stream));
        }
    }
    return SEL_OK;
}

sel_status aqua_cuda_loaded(sel_state *base, sel_error *error) {
    aqua_cuda *state = (aqua_cuda *)base;
    const int64_t step = base->step;
    base->step = step > 0 ? step - 1 : 0;
    sel_status status = aqua_cuda_prepare(state, AQUA_ALWAYS | SEL_ON_CONTROLS, error);
    base->step = step;
    status = status ? status : spread_books(state, error);
    return status ? status : complete_water(state, error);
}
