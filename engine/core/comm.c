/* comm.c -- cut a grid into blocks, and fill their halos. */
#include "engine/core/comm.h"

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

int64_t sel_block_free(const sel_domain *domain, const sel_block *block) {
    const int64_t *n = domain->grid.n;
    int64_t count = 0;
    if (domain->grid.dims == 2) {
        return sel_planes_free(domain, block->first, block->end);
    }
    for (int64_t z = block->first; z < block->end; z++) {
        for (int64_t k = (block->low + z * n[1]) * n[0]; k < (block->high + z * n[1]) * n[0]; k++) {
            count += domain->cell[k] == 0;
        }
    }
    return count;
}

/* Free cells of the rows y of all planes. */
static int64_t rows_free(const sel_domain *domain, int64_t y, int64_t end) {
    return sel_block_free(domain, &(sel_block){0, domain->grid.n[2], y, end});
}

typedef int64_t count_free(const sel_domain *domain, int64_t first, int64_t end);

/* Cuts n planes or rows, of which `count_of` gives the free cells, into `count` parts, or into
 * fewer where they do not suffice. Returns how many; first[0 ... count]: the first of each, and n.
 */
static int cut_axis(const sel_domain *domain, count_free *count_of, int64_t n, int count,
                    int64_t *first) {
    const int64_t least = FEWEST_PLANES, most = n / least;
    int64_t end = 0, before = 0;
    count = count > most ? (int)most : count;
    count = count < 1 ? 1 : count;
    for (int b = 0; b < count; b++) {
        const int left = count - 1 - b;
        const int64_t last = (most - left) * least;
        first[b] = end;
        while (left && end < last &&
               (end - first[b] < least || before * count < domain->free_cells * (b + 1))) {
            before += count_of(domain, end, end + 1);
            end++;
        }
    }
    first[count] = n;
    return count;
}

/* Halos of a part between others. */
static int sides_of(int parts, bool wraps) {
    return parts == 1 ? 0 : parts == 2 && !wraps ? 1 : 2;
}

/* The ranks across that make the least halo, if it is less than that of whole planes, of which
 * those count `times` as little. */
static int best_across(const sel_grid *grid, int count, const bool wraps[2], int times) {
    const int64_t *n = grid->n;
    int64_t least = INT64_MAX;
    int best = 1;
    for (int a = 1; a <= count && grid->dims == 3; a++) {
        const int along = count / a;
        if (count % a || n[2] < along * FEWEST_PLANES || (a > 1 && n[1] < a * FEWEST_PLANES)) {
            continue;
        }
        const int64_t halo =
            (a > 1 ? times : 1) * (sides_of(a, wraps[0]) * ((n[2] + along - 1) / along) +
                                   sides_of(along, wraps[1]) * ((n[1] + a - 1) / a));
        best = halo < least ? a : best;
        least = halo < least ? halo : least;
    }
    return best;
}

int sel_grid_cut(const sel_domain *domain, int count, int across, sel_cut *cut) {
    const sel_grid *grid = &domain->grid;
    const bool deep = grid->dims == 3;
    cut->wraps[0] = deep && sel_axis_periodic(grid, 1);
    cut->wraps[1] = sel_axis_periodic(grid, grid->dims - 1);
    if (across <= 0) {
        across = best_across(grid, count, cut->wraps, across == SEL_ACROSS_HALVES ? 2 : 1);
    }
    across = count == 1 ? 1 : across;
    cut->across = !deep ? 1 : cut_axis(domain, rows_free, grid->n[1], across, cut->row);
    cut->row[0] = 0;
    cut->row[cut->across] = deep ? grid->n[1] : 1;
    cut->along =
        cut_axis(domain, sel_planes_free, grid->n[grid->dims - 1], count / cut->across, cut->plane);
    return cut->across * cut->along;
}

sel_block sel_cut_block(const sel_cut *cut, int rank) {
    const int64_t *plane = cut->plane + rank / cut->across, *row = cut->row + rank % cut->across;
    return (sel_block){plane[0], plane[1], row[0], row[1]};
}

sel_cells sel_block_cells(const sel_turns *turns, const sel_block *block) {
    sel_cells cells = turns->cells;
    cells.layers = sel_cells_in_layers(&cells);
    int64_t *planes = &cells.n[cells.layers ? 2 : 1];
    const int64_t left_out = *planes - (block->end - block->first);
    *planes -= left_out;
    cells.count -= cells.components == 1 ? left_out * sel_turns_stride(turns) : 0;
    cells.shift = block->first * sel_turns_stride(turns);
    if (cells.layers) {
        cells.n[1] = block->high - block->low;
        cells.shift += block->low * cells.pitch;
    }
    return cells;
}

int64_t sel_halo_bytes(const sel_turns *turns) {
    return turns->cells.components * turns->width * sel_turns_stride(turns) * turns->type.size;
}

int64_t sel_halo_of_rows(const sel_turns *turns, const sel_block *block) {
    return turns->cells.components * turns->width * turns->cells.pitch *
           (block->end - block->first) * turns->type.size;
}

sel_beside sel_cut_beside(const sel_cut *cut, int rank, int axis) {
    const int count = axis ? cut->along : cut->across, apart = axis ? cut->across : 1;
    const int own = rank / apart % count, first = rank - own * apart;
    return (sel_beside){
        {first + (own + count - 1) % count * apart, first + (own + 1) % count * apart},
        {cut->wraps[axis] || own > 0, cut->wraps[axis] || own + 1 < count}};
}

sel_beside sel_ranks_beside(const sel_ranks *ranks, bool wraps) {
    const sel_cut cut = {.across = 1, .along = ranks->count, .wraps = {false, wraps}};
    return sel_cut_beside(&cut, ranks->rank, 1);
}

int sel_list_sides(const sel_beside *beside, const sel_sides *s, sel_message messages[4]) {
    void *const at[] = {s->low, s->high, s->from_high, s->from_low};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        const int side = k == 1 || k == 2;
        const int tag = k % 2; /* to which side it goes: one rank may be beside both */
        if (beside->is[side]) {
            messages[count++] = (sel_message){beside->rank[side], tag, k < 2, at[k], s->bytes};
        }
    }
    return count;
}

/* Copies pieces of a side (low, high, from low, from high) to `room`, or back from there; returns
 * their bytes. */
static size_t move_pieces(const sel_sides *s, int side, char *room, bool back) {
    char *at = (void *[]){s->low, s->high, s->from_low, s->from_high}[side];
    const int64_t pieces = s->pieces ? s->pieces : 1;
    for (int64_t k = 0; k < pieces && room; k++) {
        char *in_room = room + (size_t)k * s->bytes;
        memcpy(back ? at + k * s->apart : in_room, back ? in_room : at + k * s->apart, s->bytes);
    }
    return (size_t)pieces * s->bytes;
}

/* All sides at once, through the room. */
static void exchange_pieces(const sel_ranks *ranks, const sel_beside *beside,
                            const sel_sides *sides, int count, char *room) {
    size_t total = 0;
    for (int k = 0; k < count; k++) {
        total += move_pieces(&sides[k], 0, NULL, false);
    }
    const sel_sides together = {room, room + total, room + 2 * total, room + 3 * total, total, 0,
                                0};
    for (int side = 0; side < 4; side++) {
        char *at = room + (size_t)side * total;
        if (side == 2) {
            sel_exchange_sides(ranks, beside, &together, 1, NULL);
        }
        for (int k = 0; k < count && beside->is[side % 2]; k++) {
            at += move_pieces(&sides[k], side, at, side >= 2);
        }
    }
}

void sel_exchange_sides(const sel_ranks *ranks, const sel_beside *beside, const sel_sides *sides,
                        int count, char *room) {
    enum { MOST = 16 };
    sel_message messages[4 * MOST];
    if (room) {
        exchange_pieces(ranks, beside, sides, count, room);
        return;
    }
    for (int first = 0; first < count; first += MOST) {
        int n = 0;
        for (int k = first; k < count && k < first + MOST; k++) {
            n += sel_list_sides(beside, &sides[k], messages + n);
        }
        ranks->transfer(messages, n);
    }
}

sel_sides sel_sides_of_planes(const int64_t own[2], int count, void *at, size_t bytes) {
    const int64_t size = (int64_t)bytes;
    char *low = (char *)at + own[0] * size, *end = (char *)at + own[1] * size;
    return (sel_sides){.low = low,
                       .high = end - count * size,
                       .from_low = low - count * size,
                       .from_high = end,
                       .bytes = (size_t)(count * size)};
}

void sel_exchange_planes(const sel_ranks *ranks, bool wraps, const int64_t own[2], int count,
                         void *at, size_t bytes) {
    const sel_sides sides = sel_sides_of_planes(own, count, at, bytes);
    const sel_beside beside = sel_ranks_beside(ranks, wraps);
    if (ranks->count > 1) {
        sel_exchange_sides(ranks, &beside, &sides, 1, NULL);
    }
}

sel_sides sel_rows_beside(const sel_turns *turns, const sel_block *own, void *array, int up,
                          int down) {
    const sel_cells *cells = &turns->cells;
    const int64_t size = turns->type.size, row = cells->pitch * size, width = turns->width * row;
    char *at = (char *)array + (cells->first + own->first * cells->slice - turns->lead) * size;
    char *of_up = at + up * cells->plane * size, *of_down = at + down * cells->plane * size;
    return (sel_sides){.low = of_down + own->low * row,
                       .high = of_up + own->high * row - width,
                       .from_low = of_up + own->low * row - width,
                       .from_high = of_down + own->high * row,
                       .bytes = (size_t)width,
                       .pieces = own->end - own->first,
                       .apart = cells->slice * size};
}

sel_sides sel_planes_beside(const sel_turns *turns, const sel_cut *cut, const sel_block *own,
                            void *array) {
    const int64_t size = turns->type.size, stride = sel_turns_stride(turns) * size;
    const int64_t low = cut->across > 1 ? own->low * turns->cells.pitch : 0;
    char *at = (char *)array + (low - turns->margin) * size;
    return (sel_sides){.low = at + own->first * stride,
                       .high = at + (own->end - turns->width) * stride,
                       .from_low = at + sel_halo_low(turns, own) * stride,
                       .from_high = at + sel_halo_high(turns, own) * stride,
                       .bytes = (size_t)(turns->width * stride),
                       .pieces = turns->cells.components,
                       .apart = turns->cells.plane * size};
}

void sel_exchange_ranks(const sel_ranks *ranks, const sel_cut *cut, const sel_turns *turns,
                        void *array, char *room) {
    const sel_block own = sel_cut_block(cut, ranks->rank);
    sel_sides sides[SEL_MOST_COMPONENTS];
    for (int axis = cut->across == 1; axis < 2; axis++) {
        const sel_beside beside = sel_cut_beside(cut, ranks->rank, axis);
        const int count = axis ? 1 : turns->cells.components;
        for (int c = 0; c < count; c++) {
            sides[c] = axis ? sel_planes_beside(turns, cut, &own, array)
                            : sel_rows_beside(turns, &own, array, c, c);
        }
        sel_exchange_sides(ranks, &beside, sides, count, room);
    }
}
