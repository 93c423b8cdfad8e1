/* halo.c -- fill the halos of fields by messages between ranks. */
#include "engine/core/halo.h"

#include <string.h>

/* The halos of the components `down` and `up`, which go to the lower and the upper neighbour. */
static sel_halo halo_of(const sel_field *field, const sel_patch *own, void *array, int axis,
                        int depth, sel_way way, int down, int up) {
    const sel_layout *layout = &field->layout;
    const int64_t size = field->type.size, stride = sel_layout_stride(layout, axis) * size;
    const bool rows = axis < layout->slow; /* of each plane of the patch */
    const bool behind = field->behind && !rows;
    const int64_t lo = own->lo[axis], hi = own->hi[axis];
    const int64_t first =
        layout->origin - field->lead[axis] + (rows ? own->lo[2] * layout->slice : 0);
    char *of_up = (char *)array + (first + up * layout->component) * size;
    char *of_down = (char *)array + (first + down * layout->component) * size;
    /* The first of the cells and halo cells that are sent and received. */
    const int64_t below = behind ? hi + field->halo - depth : lo - depth;
    const int64_t above = behind ? hi + field->halo : hi;
    const bool back = way == SEL_RETURN;
    return (sel_halo){.low = of_down + (back ? below : lo) * stride,
                      .high = of_up + (back ? above : hi - depth) * stride,
                      .from_low = of_up + (back ? lo : below) * stride,
                      .from_high = of_down + (back ? hi - depth : above) * stride,
                      .bytes = (size_t)(depth * stride),
                      .pieces = rows ? sel_patch_cells(own, 2) : 0,
                      .apart = layout->slice * size};
}

/* The next component of a set; it is taken out. */
static int halo_take(uint32_t *set) {
    const int c = __builtin_ctz(*set);
    *set &= *set - 1;
    return c;
}

int sel_list_halos(const sel_field *field, const sel_patch *own, void *array, int axis, int depth,
                   sel_way way, sel_halo *halos) {
    const int components = field->layout.components;
    const bool rows = axis < field->layout.slow;
    uint32_t down = way == SEL_FETCH_ALL ? 0 : field->moves[axis][0];
    uint32_t up = way == SEL_FETCH_ALL ? 0 : field->moves[axis][1];
    int count = 0;
    while (down && up) {
        const int c = halo_take(&down);
        halos[count++] = halo_of(field, own, array, axis, depth, way, c, halo_take(&up));
    }
    if (count > 0) {
        return count;
    }
    for (int c = 0; c < (rows ? components : 1); c++) {
        halos[count++] = halo_of(field, own, array, axis, depth, way, c, c);
    }
    if (!rows && components > 1) {
        halos[0].pieces = components;
        halos[0].apart = field->layout.component * field->type.size;
    }
    return count;
}

int64_t sel_halo_bytes(const sel_field *field, const sel_patch *own, int axis) {
    const sel_layout *layout = &field->layout;
    const int64_t pieces = axis < layout->slow ? sel_patch_cells(own, 2) : 1;
    return layout->components * pieces * field->halo * sel_layout_stride(layout, axis) *
           field->type.size;
}

int sel_list_messages(const sel_neighbours *neighbours, const sel_halo *h,
                      sel_message messages[4]) {
    void *const at[] = {h->low, h->high, h->from_high, h->from_low};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        const int side = k == 1 || k == 2;
        const int tag = k % 2; /* the side to which it goes: one rank may be on both sides */
        if (neighbours->is[side]) {
            messages[count++] = (sel_message){neighbours->rank[side], tag, k < 2, at[k], h->bytes};
        }
    }
    return count;
}

/* Copies the pieces of a side (low, high, from low, from high) to `room`, or back from there.
 * Returns their bytes. */
static size_t halo_move_pieces(const sel_halo *h, int side, char *room, bool back) {
    char *at = (void *[]){h->low, h->high, h->from_low, h->from_high}[side];
    const int64_t pieces = h->pieces ? h->pieces : 1;
    for (int64_t k = 0; k < pieces && room; k++) {
        char *in_room = room + (size_t)k * h->bytes;
        memcpy(back ? at + k * h->apart : in_room, back ? in_room : at + k * h->apart, h->bytes);
    }
    return (size_t)pieces * h->bytes;
}

/* All halos at once, packed in the room. */
static void halo_exchange_packed(const sel_ranks *ranks, const sel_neighbours *neighbours,
                                 const sel_halo *halos, int count, char *room) {
    size_t total = 0;
    for (int k = 0; k < count; k++) {
        total += halo_move_pieces(&halos[k], 0, NULL, false);
    }
    const sel_halo packed = {room, room + total, room + 2 * total, room + 3 * total, total, 0, 0};
    for (int side = 0; side < 4; side++) {
        char *at = room + (size_t)side * total;
        if (side == 2) {
            sel_exchange_halos(ranks, neighbours, &packed, 1, NULL);
        }
        for (int k = 0; k < count && neighbours->is[side % 2]; k++) {
            at += halo_move_pieces(&halos[k], side, at, side >= 2);
        }
    }
}

void sel_exchange_halos(const sel_ranks *ranks, const sel_neighbours *neighbours,
                        const sel_halo *halos, int count, char *room) {
    enum { MOST = 16 };
    sel_message messages[4 * MOST];
    bool pieces = false;
    for (int k = 0; k < count; k++) {
        pieces = pieces || halos[k].pieces > 1;
    }
    if (pieces) {
        halo_exchange_packed(ranks, neighbours, halos, count, room);
        return;
    }
    for (int first = 0; first < count; first += MOST) {
        int n = 0;
        for (int k = first; k < count && k < first + MOST; k++) {
            n += sel_list_messages(neighbours, &halos[k], messages + n);
        }
        ranks->transfer(messages, n);
    }
}

void sel_exchange_field(const sel_ranks *ranks, const sel_decomposition *decomposition,
                        const sel_field *field, void *array, sel_way way, char *room) {
    const sel_patch own = sel_patch_of(decomposition, ranks->rank);
    sel_halo halos[SEL_MOST_COMPONENTS];
    for (int k = 0; k < decomposition->slow; k++) {
        const int axis = sel_way_axis(decomposition, way, 1, k);
        if (sel_halo_along(decomposition, axis)) {
            const sel_neighbours neighbours = sel_neighbours_of(decomposition, ranks->rank, axis);
            const int count = sel_list_halos(field, &own, array, axis, field->halo, way, halos);
            sel_exchange_halos(ranks, &neighbours, halos, count, room);
        }
    }
}
