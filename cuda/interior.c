/* interior.c -- parts of a grid on the device: what a rank has, and the slabs of a step. */
#include "cuda/interior.h"

cuda_grid cuda_grid_of(const sel_state *state) {
    const int64_t *n = state->plan->domain->grid.n;
    return (cuda_grid){{(uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]}, state->solid};
}

march_grid cuda_march_grid(const sel_state *state, const sel_block *planes) {
    const sel_grid *grid = &state->plan->domain->grid;
    return (march_grid){.nx = (int)grid->n[0],
                        .ny = (int)grid->n[1],
                        .pitch = (int)state->turns.cells.pitch,
                        .first = (int)planes->first,
                        .end = (int)planes->end,
                        .periodic_x = sel_axis_periodic(grid, 0),
                        .periodic_y = sel_axis_periodic(grid, 1),
                        .wraps = state->cut.wraps[1] && state->ranks->count == 1};
}

/* ---- halos ---- */

sel_status cuda_exchange_in(const sel_state *state, void *array, cudaStream_t stream,
                            sel_error *error) {
    const sel_block *own = &state->own;
    sel_sides sides[SEL_MOST_COMPONENTS];
    sel_status status = SEL_OK;
    if (state->cut.across > 1) {
        const int count = state->turns.cells.components;
        for (int c = 0; c < count; c++) {
            sides[c] = sel_rows_beside(&state->turns, own, array, c, c);
        }
        status = cuda_exchange_sides(state, 0, sides, count, stream, error);
    }
    sides[0] = sel_planes_beside(&state->turns, &state->cut, own, array);
    return status ? status : cuda_exchange_sides(state, 1, sides, 1, stream, error);
}

sel_status cuda_exchange(const sel_state *state, int64_t turn, cudaStream_t stream,
                         sel_error *error) {
    return state->ranks->count > 1
               ? cuda_exchange_in(state, state->turns.at[turn & 1], stream, error)
               : SEL_OK;
}

/* Halos of so few bytes, straight to the other device, take no longer than computing the planes at
 * the ends on their own. */
enum { SOON = 2 << 20 };

int cuda_slabs_of(const sel_state *state, int64_t rim, cuda_slab slabs[CUDA_SLABS]) {
    const march_device *on = &state->queue->march;
    const cuda_link *link = state->queue->link;
    const sel_block *own = &state->own;
    const bool boxes = state->cut.across > 1;
    const int64_t planes = own->end - own->first - 2 * rim;
    const int64_t rows = boxes ? own->high - own->low - 2 * rim : planes;
    const int64_t inside = planes < rows ? planes : rows;
    const bool soon = cuda_link_direct(link) && state->halo_bytes / 4 <= SOON;
    if (state->ranks->count == 1 || inside < rim || soon) {
        slabs[0] = (cuda_slab){*own, 0, on};
        return 1;
    }
    const march_device *beside = cuda_link_beside(link);
    const int64_t first = own->first + rim, end = first + planes / rim * rim;
    const int64_t low = boxes ? own->low + rim : own->low;
    const int64_t high = boxes ? low + rows / rim * rim : own->high;
    slabs[0] = (cuda_slab){{first, end, low, high}, 0, on};
    slabs[1] = (cuda_slab){{own->first, first, own->low, own->high}, 1, beside};
    slabs[2] = (cuda_slab){{end, own->end, own->low, own->high}, 2, beside};
    if (boxes) {
        slabs[3] = (cuda_slab){{first, end, own->low, low}, 3, beside};
        slabs[4] = (cuda_slab){{first, end, high, own->high}, 4, beside};
    }
    return boxes ? 5 : 3;
}

sel_status cuda_take_slabs(sel_state *state, int64_t step, int64_t rim, bool waits,
                           cuda_fill_halos *exchange, cuda_take_slab *take, sel_error *error) {
    const cuda_queue *queue = state->queue;
    const march_device *on = &queue->march;
    cuda_slab slabs[CUDA_SLABS];
    const int count = cuda_slabs_of(state, rim, slabs);
    const march_device *last = slabs[count - 1].on;
    const bool beside = last != on, direct = cuda_link_direct(queue->link);
    const bool later = beside && (direct || waits) && !cuda_link_staged(queue->link);
    sel_status status = SEL_OK;
    if (beside) {
        CUDA_TRY(cudaEventRecord(on->fork, on->stream));
        CUDA_TRY(cudaStreamWaitEvent(last->stream, on->fork, 0));
        CUDA_TRY(cudaEventRecord(last->fork, last->stream));
    }
    /* What gathers halos, and NCCL's blocks, which are large, find room only before the inner
     * planes: these wait until the halos have been gathered, and give NCCL a moment. */
    status = beside && !later ? take(state, step, &slabs[0], error) : SEL_OK;
    status = status ? status : exchange(state, step, last->stream, error);
    if (later && !status) {
        CUDA_TRY(cudaStreamWaitEvent(on->stream, last->fork, 0));
        CUDA_TRY(direct ? cudaSuccess : cuda_pause(on->stream));
        status = take(state, step, &slabs[0], error);
    }
    for (int k = beside; k < count && !status; k++) {
        status = take(state, step, &slabs[k], error);
    }
    if (!status && queue->halts && state->ranks->count > 1) {
        status = cuda_link_least(state, queue->halts, last->stream, error);
    }
    if (beside) {
        CUDA_TRY(cudaEventRecord(last->join, last->stream));
        CUDA_TRY(cudaStreamWaitEvent(on->stream, last->join, 0));
    }
    return status;
}

cuda_parts cuda_parts_beside(const sel_state *state, char *at, int64_t stride, int64_t size,
                             int64_t ahead, int64_t low, int64_t high) {
    const sel_block *own = &state->own;
    const int64_t n = state->cut.plane[state->cut.along];
    /* Planes before `end` (and not in the part before) stand `further` planes further on. */
    struct {
        int64_t end, further;
    } part[3] = {{own->first, low - own->first + 1}, {own->end, 0}, {n, high - own->end}};
    if (own->first == 0) {
        part[0].end = own->end;
        part[0].further = 0;
        part[1].end = own->end + 1;
        part[1].further = high - own->end;
        part[2].further = low - n + 1;
    } else if (own->end == n) {
        part[0].end = own->first - 1;
        part[0].further = high;
        part[1].end = own->first;
        part[1].further = low - own->first + 1;
        part[2].further = 0;
    }
    cuda_parts parts = {.count = 3};
    for (int k = 0; k < parts.count; k++) {
        parts.at[k] = at + part[k].further * stride * size;
        parts.end[k] = part[k].end * stride + ahead;
    }
    return parts;
}

cuda_parts cuda_parts_of(const sel_state *state, int64_t turn) {
    const sel_turns *turns = &state->turns;
    const int64_t stride = sel_turns_stride(turns);
    if (state->ranks->count > 1) {
        const sel_block *own = &state->own;
        char *at = turns->at[turn & 1];
        /* By rows of the block, y - low. */
        at += state->cut.across > 1 ? own->low * turns->cells.pitch * turns->type.size : 0;
        return cuda_parts_beside(state, at, stride, turns->type.size, -turns->margin,
                                 sel_halo_low(turns, own) + turns->width - 1,
                                 sel_halo_high(turns, own));
    }
    return (cuda_parts){{turns->at[turn & 1]}, {state->own.end * stride - turns->margin}, 1};
}
