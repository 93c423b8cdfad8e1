/* comm.c -- cut a grid into blocks, and fill their halos. */
#include "engine/machine/comm.h"

#include <string.h>

enum { FEWEST_PLANES = 2 }; /* what one step reads; multigrid and passes ask for more */

int64_t sel_planes_free(const sel_domain *domain, int64_t first, int64_t end) {
    const int64_t *n = domain->grid.n, cells = domain->grid.dims == 3 ? n[0] * n[1] : n[0];
    int64_t count = 0;
    for (int64_t k = first * cells; k < end * cells; k++) {
        count += domain->cell[k] == 0;
    }
    return count;
}

int sel_planes_cut(const sel_domain *domain, int count, int unit, int64_t *first) {
    const sel_grid *grid = &domain->grid;
    const int64_t least = unit > FEWEST_PLANES ? unit : FEWEST_PLANES;
    const int64_t planes = grid->n[grid->dims - 1], most = planes / least;
    int64_t end = 0, before = 0;
    count = count > most ? (int)most : count;
    count = count < 1 ? 1 : count;
    for (int b = 0; b < count; b++) {
        const int left = count - 1 - b;
        const int64_t last = (most - left) * least;
        first[b] = end;
        while (left && end < last &&
               (end - first[b] < least || (unit > 1 && end % unit) ||
                before * count < domain->free_cells * (b + 1))) {
            before += sel_planes_free(domain, end, end + 1);
            end++;
        }
    }
    first[count] = planes;
    return count;
}

sel_blocks sel_blocks_cut(const sel_domain *domain, int count, int unit) {
    const sel_grid *grid = &domain->grid;
    int64_t first[SEL_MOST_BLOCKS + 1];
    sel_blocks blocks = {.wraps = sel_axis_periodic(grid, grid->dims - 1),
                         .rows_per_plane = grid->dims == 3 ? grid->n[1] : 1};
    count = count > SEL_MOST_BLOCKS ? SEL_MOST_BLOCKS : count;
    blocks.count = sel_planes_cut(domain, count, unit, first);
    blocks.cut = blocks.count > 1;
    for (int b = 0; b < blocks.count; b++) {
        blocks.v[b] = (sel_block){first[b], first[b + 1]};
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
        const int64_t to_plane = k % 2 ? sel_halo_high(turns, own) : sel_halo_low(turns, own);
        const int64_t from_plane = k % 2 ? other->first : other->end - turns->width;
        for (int c = 0; c < turns->cells.components && !status; c++) {
            const int64_t start = c * turns->cells.plane - turns->margin;
            status = (copy ? copy : copy_here)(
                stream, (char *)turns->at[b][turn & 1] + (start + to_plane * stride) * size,
                (const char *)turns->at[from][turn & 1] + (start + from_plane * stride) * size,
                (size_t)(turns->width * stride * size), error);
        }
    }
    return status;
}

/* ---- between ranks ---- */

int64_t sel_halo_bytes(const sel_turns *turns) {
    return turns->cells.components * turns->width * sel_turns_stride(turns) * turns->type.size;
}

sel_beside sel_ranks_beside(const sel_ranks *ranks, bool wraps) {
    const int own = ranks->rank, count = ranks->count;
    return (sel_beside){{(own + count - 1) % count, (own + 1) % count},
                        {wraps || own > 0, wraps || own + 1 < count}};
}

int sel_list_sides(const sel_ranks *ranks, bool wraps, const sel_sides *s,
                   sel_message messages[4]) {
    const sel_beside beside = sel_ranks_beside(ranks, wraps);
    void *const at[] = {s->low, s->high, s->from_high, s->from_low};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        const int side = k == 1 || k == 2;
        const int tag = k % 2; /* to which side it goes: one rank may be beside both */
        if (beside.is[side]) {
            messages[count++] = (sel_message){beside.rank[side], tag, k < 2, at[k], s->bytes};
        }
    }
    return count;
}

void sel_exchange_sides(const sel_ranks *ranks, bool wraps, const sel_sides *sides, int count) {
    enum { MOST = 16 };
    sel_message messages[4 * MOST];
    for (int first = 0; first < count; first += MOST) {
        int n = 0;
        for (int k = first; k < count && k < first + MOST; k++) {
            n += sel_list_sides(ranks, wraps, &sides[k], messages + n);
        }
        ranks->transfer(messages, n);
    }
}

void sel_exchange_planes(const sel_ranks *ranks, bool wraps, const int64_t own[2], int count,
                         void *at, size_t bytes) {
    const int64_t size = (int64_t)bytes;
    char *low = (char *)at + own[0] * size, *high = (char *)at + own[1] * size;
    const sel_sides sides = {low, high - count * size, low - count * size, high,
                             (size_t)(count * size)};
    if (ranks->count > 1) {
        sel_exchange_sides(ranks, wraps, &sides, 1);
    }
}

/* Copies planes from `plane` on of all components to `room`, or back. */
static void pack(const sel_turns *turns, int64_t turn, int64_t plane, char *room, bool back) {
    const int64_t size = turns->type.size, stride = sel_turns_stride(turns);
    const int64_t bytes = turns->width * stride * size;
    for (int c = 0; c < turns->cells.components; c++) {
        const int64_t start = c * turns->cells.plane - turns->margin + plane * stride;
        char *at = (char *)turns->at[0][turn & 1] + start * size;
        memcpy(back ? at : room + c * bytes, back ? room + c * bytes : at, (size_t)bytes);
    }
}

void sel_exchange_ranks(const sel_ranks *ranks, const sel_blocks *blocks, const sel_turns *turns,
                        int64_t turn, void *room) {
    const sel_beside beside = sel_ranks_beside(ranks, blocks->wraps);
    const int64_t bytes = sel_halo_bytes(turns);
    const sel_block *own = &blocks->v[0];
    const int64_t planes[] = {own->first, own->end - turns->width, sel_halo_low(turns, own),
                              sel_halo_high(turns, own)};
    char *at = room;
    const sel_sides sides = {at, at + bytes, at + 2 * bytes, at + 3 * bytes, (size_t)bytes};
    for (int side = 0; side < 4; side++) {
        if (side == 2) {
            sel_exchange_sides(ranks, blocks->wraps, &sides, 1);
        }
        if (beside.is[side % 2]) {
            pack(turns, turn, planes[side], at + side * bytes, side >= 2);
        }
    }
}
