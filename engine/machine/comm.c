/* comm.c -- cut a grid into blocks, and fill their halos. */
#include "engine/machine/comm.h"

#include <string.h>

enum { FEWEST_PLANES = 2 }; /* as wide as the widest halo */

static int64_t free_cells(const sel_domain *domain, int64_t plane) {
    const int64_t *n = domain->grid.n, cells = domain->grid.dims == 3 ? n[0] * n[1] : n[0];
    int64_t count = 0;
    for (int64_t k = plane * cells; k < (plane + 1) * cells; k++) {
        count += domain->cell[k] == 0;
    }
    return count;
}

sel_blocks sel_blocks_cut(const sel_domain *domain, int count, int unit) {
    const sel_grid *grid = &domain->grid;
    const int64_t least = unit > FEWEST_PLANES ? unit : FEWEST_PLANES;
    const int64_t planes = grid->n[grid->dims - 1], most = planes / least;
    sel_blocks blocks = {.wraps = sel_axis_periodic(grid, grid->dims - 1),
                         .rows_per_plane = grid->dims == 3 ? grid->n[1] : 1};
    count = count > SEL_MOST_BLOCKS ? SEL_MOST_BLOCKS : count;
    count = count > most ? (int)most : count;
    blocks.count = count < 1 ? 1 : count;
    int64_t end = 0, before = 0;
    for (int b = 0; b < blocks.count; b++) {
        const int left = blocks.count - 1 - b;
        const int64_t first = end, last = (most - left) * least;
        while (left && end < last &&
               (end - first < least || (unit > 1 && end % unit) ||
                before * blocks.count < domain->free_cells * (b + 1))) {
            before += free_cells(domain, end++);
        }
        end = left ? end : planes;
        blocks.v[b] = (sel_block){first, end};
    }
    return blocks;
}

int64_t sel_blocks_largest(const sel_blocks *blocks) {
    int64_t largest = 0;
    for (int b = 0; b < blocks->count; b++) {
        const int64_t planes = blocks->v[b].end - blocks->v[b].first;
        largest = planes > largest ? planes : largest;
    }
    return largest;
}

sel_cells sel_block_cells(const sel_turns *turns, const sel_block *block) {
    sel_cells cells = turns->cells;
    int64_t *planes = &cells.n[cells.n[2] > 1 ? 2 : 1];
    const int64_t left_out = *planes - (block->end - block->first);
    *planes -= left_out;
    cells.count -= cells.components == 1 ? left_out * sel_turns_stride(turns) : 0;
    cells.shift = block->first * sel_turns_stride(turns);
    return cells;
}

static sel_status copy_here(void *stream, void *to, const void *from, size_t bytes,
                            sel_error *error) {
    (void)stream, (void)error;
    memcpy(to, from, bytes);
    return SEL_OK;
}

sel_status sel_exchange(const sel_blocks *blocks, const sel_turns *turns, int64_t turn,
                        sel_copy *copy, void *stream, sel_error *error) {
    const int64_t size = turns->type.size, stride = sel_turns_stride(turns), count = blocks->count;
    sel_status status = SEL_OK;
    for (int64_t k = 0; count > 1 && k < 2 * count && !status; k++) {
        const int64_t b = k / 2, beside = b + (k % 2 ? 1 : -1);
        const int64_t from = (beside + count) % count;
        if (from != beside && !blocks->wraps) {
            continue;
        }
        const sel_block *own = &blocks->v[b], *other = &blocks->v[from];
        const int64_t low = turns->behind ? own->end : own->first - turns->width;
        const int64_t to_plane = k % 2 ? own->end + (turns->behind ? turns->width : 0) : low;
        const int64_t from_plane = k % 2 ? other->first : other->end - turns->width;
        for (int64_t j = 0; j < turns->cells.components * turns->width && !status; j++) {
            const int64_t c = j / turns->width, p = j % turns->width;
            const int64_t start = c * turns->cells.plane + p * stride - turns->margin;
            status = (copy ? copy : copy_here)(
                stream, (char *)turns->at[b][turn & 1] + (start + to_plane * stride) * size,
                (const char *)turns->at[from][turn & 1] + (start + from_plane * stride) * size,
                (size_t)(stride * size), error);
        }
    }
    return status;
}
