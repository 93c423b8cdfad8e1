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

sel_cells sel_block_cells(const sel_blocks *blocks, int b, const sel_halo *halo,
                          const sel_cells *whole) {
    sel_cells cells = *whole;
    cells.n[whole->n[2] > 1 ? 2 : 1] = blocks->v[b].end - blocks->v[b].first;
    cells.shift = blocks->v[b].first * halo->stride;
    return cells;
}

static sel_status copy_here(void *stream, void *to, const void *from, size_t bytes,
                            sel_error *error) {
    (void)stream, (void)error;
    memcpy(to, from, bytes);
    return SEL_OK;
}

sel_status sel_exchange(const sel_blocks *blocks, const sel_halo *halo, void *const (*places)[2],
                        int64_t turn, sel_copy *copy, void *stream, sel_error *error) {
    const int64_t size = halo->type.size, count = blocks->count;
    const size_t bytes = (size_t)(halo->stride * size);
    sel_status status = SEL_OK;
    for (int64_t k = 0; count > 1 && k < 2 * count && !status; k++) {
        const int64_t b = k / 2, beside = b + (k % 2 ? 1 : -1);
        const int64_t from = (beside + count) % count;
        if (from != beside && !blocks->wraps) {
            continue;
        }
        const sel_block *own = &blocks->v[b], *other = &blocks->v[from];
        const int64_t low = halo->behind ? own->end : own->first - halo->width;
        const int64_t to_plane = k % 2 ? own->end + (halo->behind ? halo->width : 0) : low;
        const int64_t from_plane = k % 2 ? other->first : other->end - halo->width;
        for (int64_t j = 0; j < halo->components * halo->width && !status; j++) {
            const int64_t c = j / halo->width, p = j % halo->width;
            const int64_t to = c * halo->plane + (to_plane + p) * halo->stride - halo->margin;
            const int64_t source = c * halo->plane + (from_plane + p) * halo->stride - halo->margin;
            status = (copy ? copy : copy_here)(stream, (char *)places[b][turn & 1] + to * size,
                                               (const char *)places[from][turn & 1] + source * size,
                                               bytes, error);
        }
    }
    return status;
}
