/* lbm_sponge_cuda.c -- the sponge on the device: its cells, slab by slab; what it has brought.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_state_cuda.h"

void lbm_cuda_list_sponge(lbm_cuda *state) {
    sel_arrays *arrays = &state->all.base.arrays;
    lbm_cuda_sponge *to = &state->sponge;
    const int64_t count = state->all.sponge.count;
    SEL_ADD(arrays, to, cells, count, 0);
    SEL_ADD(arrays, to, brought, count > 0, 0);
}

/* The cells in the order of the patch, with their places in a plane; a slab has those of its rows.
 * Gains keep the same order: rows of a slab stand together in it, but where planes are divided. */
static void sponge_place(const lbm_cuda *state, lbm_sponge_cell *cells) {
    const lbm_sponge *sponge = &state->all.plan->sponge;
    for (int64_t k = 0; k < sponge->sites.count; k++) {
        cells[k] = sponge->cells[k];
        cells[k].index = lbm_cuda_index(state, cells[k].x, cells[k].row);
    }
}

sel_status lbm_cuda_send_sponge(lbm_cuda *state, sel_error *error) {
    const size_t bytes = (size_t)state->all.sponge.count * sizeof(lbm_sponge_cell);
    if (bytes == 0) {
        return SEL_OK;
    }
    lbm_sponge_cell *cells = malloc(bytes);
    if (!cells) {
        return sel_fail_memory(error, "the sponge", bytes);
    }
    sponge_place(state, cells);
    const sel_status status = cuda_send(state->sponge.cells, cells, bytes, error);
    free(cells);
    return status;
}

sel_status lbm_cuda_take_sponge(const lbm_cuda *state, const lbm_gpu_step *one,
                                const cuda_slab *slab, sel_error *error) {
    const lbm_sponge *sponge = &state->all.plan->sponge;
    const sel_rows rows = sel_patch_rows(&state->all.plan->base.domain->grid, &slab->planes);
    int64_t k = 0;
    while (k < rows.count && sponge->row_first) {
        const int64_t first = sponge->row_first[sel_row_of(&rows, k)];
        int64_t end = first;
        for (; k < rows.count && sponge->row_first[sel_row_of(&rows, k)] == end; k++) {
            end = sponge->row_first[sel_row_of(&rows, k) + 1];
        }
        const lbm_gpu_sponge part = {.cells = state->sponge.cells + first,
                                     .gain = state->all.sponge_gain ? state->all.sponge_gain + first
                                                                    : NULL,
                                     .count = (uint32_t)(end - first),
                                     .drho = sponge->drho};
        CUDA_TRY(lbm_gpu_sponge_take(one, &part, slab->on->stream));
    }
    return SEL_OK;
}

sel_status lbm_cuda_sum_sponge(const lbm_cuda *state, sel_error *error) {
    if (state->all.sponge_gain && state->all.sponge.count > 0) {
        CUDA_TRY(lbm_gpu_sponge_sum(state->all.sponge_gain, state->all.sponge.count,
                                    state->sponge.brought, state->all.base.queue->stream));
    }
    return SEL_OK;
}
