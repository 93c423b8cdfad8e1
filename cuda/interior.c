/* interior.c -- parts of a grid on the device: what a rank has, and the slabs of a step. */
#include "cuda/interior.h"

#include <stdlib.h>
#include <string.h>

/* ---- the grid ---- */

sel_layout cuda_regions_layout(const sel_state *state) {
    return sel_state_own_layout(state, 1, 1);
}

void cuda_list_regions(sel_state *state) {
    const sel_layout layout = cuda_regions_layout(state);
    sel_arrays_add_patch(&state->arrays, "solid", &state->solid, SEL_TYPE_OF(*state->solid),
                         &layout, 0);
}

sel_status cuda_send_regions(const sel_state *state, sel_error *error) {
    const sel_domain *domain = state->plan->domain;
    const int64_t *n = domain->grid.n, *lo = state->own.lo;
    const sel_layout layout = cuda_regions_layout(state);
    const int64_t nx = n[0], height = layout.slice / nx, beside = domain->grid.dims == 3;
    uint8_t *regions = malloc((size_t)layout.count);
    if (!regions) {
        return sel_fail_memory(error, "the regions of cells", (uint64_t)layout.count);
    }
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t k = 0; k < layout.count / nx; k++) {
        const int64_t y = lo[1] - 1 + k % height, z = lo[2] - beside + k / height;
        const int64_t row = (z + n[2]) % n[2] * n[1] + (y + n[1]) % n[1];
        memcpy(regions + k * nx, domain->cell + row * nx, (size_t)nx);
    }
    const sel_status status = sel_arrays_send(&state->arrays, state->solid - layout.before, regions,
                                              (uint64_t)layout.count, error);
    free(regions);
    return status;
}

cuda_grid cuda_grid_of(const sel_state *state) {
    const int64_t *n = state->plan->domain->grid.n;
    return (cuda_grid){{(uint32_t)n[0], (uint32_t)n[1], (uint32_t)n[2]},
                       state->solid,
                       cuda_regions_layout(state).slice};
}

march_grid cuda_march_grid(const sel_state *state, const sel_patch *planes) {
    const sel_grid *grid = &state->plan->domain->grid;
    const int slow = grid->dims - 1;
    return (march_grid){.nx = (int)grid->n[0],
                        .ny = (int)grid->n[1],
                        .pitch = (int)state->field[0].layout.pitch,
                        .first = (int)planes->lo[slow],
                        .end = (int)planes->hi[slow],
                        .periodic_x = sel_axis_periodic(grid, 0),
                        .periodic_y = sel_axis_periodic(grid, 1),
                        .wraps = sel_axis_periodic(grid, slow) && state->ranks->count == 1};
}

/* ---- halos ---- */

sel_status cuda_exchange_field(const sel_state *state, const sel_exchange *what,
                               cudaStream_t stream, sel_error *error) {
    const sel_decomposition *d = &state->decomposition;
    sel_halo halos[SEL_MOST_HALOS];
    sel_status status = SEL_OK;
    for (int k = 0; k < d->slow && state->ranks->count > 1 && !status; k++) {
        const int axis = sel_way_axis(d, what->way, 1, k);
        if (sel_halo_along(d, axis)) {
            const int count = sel_state_list_halos(state, what, 1, axis, halos);
            status = cuda_exchange_halos(state, axis, halos, count, stream, error);
        }
    }
    return status;
}

static sel_status interior_exchange(const sel_state *state, int64_t step, sel_way way,
                                    cudaStream_t stream, sel_error *error) {
    const sel_field *field = &state->field[0];
    const sel_exchange main = {0, sel_copy_at(state, field, step), field->halo, way};
    return cuda_exchange_field(state, &main, stream, error);
}

sel_status cuda_exchange(const sel_state *state, int64_t step, cudaStream_t stream,
                         sel_error *error) {
    return interior_exchange(state, step, SEL_FETCH, stream, error);
}

sel_status cuda_exchange_all(const sel_state *state, int64_t step, cudaStream_t stream,
                             sel_error *error) {
    return interior_exchange(state, step, SEL_FETCH_ALL, stream, error);
}

/* Halos of so few bytes, straight to the other device, take no longer than computing the planes at
 * the ends on their own. */
enum { SOON = 2 << 20 };

int cuda_slabs_of(const sel_state *state, int64_t rim, cuda_slab slabs[CUDA_SLABS]) {
    const march_device *on = &state->queue->march;
    const cuda_link *link = state->queue->link;
    const sel_patch *own = &state->own;
    const int slow = state->decomposition.slow;
    const bool boxes = sel_divides_planes(&state->decomposition);
    const int64_t planes = sel_patch_cells(own, slow) - 2 * rim;
    const int64_t rows = boxes ? sel_patch_cells(own, 1) - 2 * rim : planes;
    const int64_t inside = planes < rows ? planes : rows;
    const bool soon = cuda_link_direct(link) && state->halo_bytes / 4 <= SOON;
    if (state->ranks->count == 1 || inside < rim || soon) {
        slabs[0] = (cuda_slab){*own, 0, on};
        return 1;
    }
    const march_device *beside = cuda_link_beside(link);
    const int64_t first = own->lo[slow] + rim, end = first + planes / rim * rim;
    sel_patch inner = *own, low = *own, high = *own;
    inner.lo[slow] = low.hi[slow] = first;
    inner.hi[slow] = high.lo[slow] = end;
    slabs[1] = (cuda_slab){low, 1, beside};
    slabs[2] = (cuda_slab){high, 2, beside};
    if (boxes) {
        low = high = inner;
        inner.lo[1] = low.hi[1] = own->lo[1] + rim;
        inner.hi[1] = high.lo[1] = inner.lo[1] + rows / rim * rim;
        slabs[3] = (cuda_slab){low, 3, beside};
        slabs[4] = (cuda_slab){high, 4, beside};
    }
    slabs[0] = (cuda_slab){inner, 0, on};
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
    const int slow = state->decomposition.slow;
    const int64_t first = state->own.lo[slow], last = state->own.hi[slow];
    const int64_t n = state->plan->domain->grid.n[slow];
    /* Planes before `end` (and not in the part before) stand `further` planes further on. */
    struct {
        int64_t end, further;
    } part[3] = {{first, low - first + 1}, {last, 0}, {n, high - last}};
    if (first == 0) {
        part[0].end = last;
        part[0].further = 0;
        part[1].end = last + 1;
        part[1].further = high - last;
        part[2].further = low - n + 1;
    } else if (last == n) {
        part[0].end = first - 1;
        part[0].further = high;
        part[1].end = first;
        part[1].further = low - first + 1;
        part[2].further = 0;
    }
    cuda_parts parts = {.count = 3};
    for (int k = 0; k < parts.count; k++) {
        parts.at[k] = at + part[k].further * stride * size;
        parts.end[k] = part[k].end * stride + ahead;
    }
    return parts;
}

cuda_parts cuda_parts_of(const sel_state *state, int copy) {
    const sel_field *field = &state->field[0];
    const sel_patch *own = &state->own;
    const int slow = field->layout.slow;
    const int64_t stride = sel_layout_stride(&field->layout, slow), size = field->type.size;
    char *at = field->at[copy];
    if (state->ranks->count > 1) {
        const int64_t lo = own->lo[slow], hi = own->hi[slow], halo = field->halo;
        /* Where planes are divided, rows count from the first row of the patch. */
        const bool divides = sel_divides_planes(&state->decomposition);
        const int64_t row = divides ? own->lo[1] * field->layout.pitch : 0;
        const int64_t ahead = field->layout.origin - field->lead[slow] - row;
        return cuda_parts_beside(state, at + row * size, stride, size, ahead,
                                 field->behind ? hi + halo - 1 : lo - 1,
                                 field->behind ? hi + halo : hi);
    }
    const int64_t ahead = field->layout.origin - field->lead[slow];
    return (cuda_parts){{at}, {own->hi[slow] * stride + ahead}, 1};
}
