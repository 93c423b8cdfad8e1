/* collectives.c -- rows, sums and lists of several ranks. */
#include "engine/core/collectives.h"

#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"

int sel_state_rank_of(const sel_state *state, int64_t row) {
    return sel_rank_of_row(&state->decomposition, row);
}

bool sel_state_has(const sel_state *state, int64_t row) {
    return sel_state_rank_of(state, row) == state->ranks->rank;
}

sel_share sel_state_share(const sel_state *state, uint64_t memory) {
    return (sel_share){memory, state->ranks->count > 1 ? state->halo_bytes : 0, state->own};
}

bool sel_state_stays(const sel_state *state, uint64_t bytes) {
    return bytes * (uint64_t)state->ranks->here <= sel_machine_cache();
}

sel_status sel_state_agree(const sel_state *state, sel_status status, sel_error *error) {
    return sel_ranks_agree(sel_plan_ranks(state->plan), status, error);
}

/* ---- sums ---- */

/* Sums of the tree: one joins the numbers i to i + width, or to the last one. */
typedef struct tree {
    const int64_t *start;
    double *v; /* number i at v + i stride */
    int64_t n, stride;
    int columns;
} tree;

/* The end of the largest sum of the tree that begins at i and lies within i <= k < end. */
static int64_t end_of_sum(const tree *t, int64_t i, int64_t end) {
    int64_t width = 1;
    while (i % (2 * width) == 0 && width < t->n &&
           (i + 2 * width <= end || (end == t->n && i + width < end))) {
        width *= 2;
    }
    return i + width < end ? i + width : end;
}

/* Adds up what ranks have left of the sum of numbers i to i + width. */
static void add_rest(const tree *t, int rank, int64_t i, int64_t width) {
    const int64_t end = i + width < t->n ? i + width : t->n, half = width / 2;
    while (i >= t->start[rank + 1]) {
        rank++;
    }
    if (end <= t->start[rank + 1] || width == 1) {
        return; /* by the rank that has them all */
    }
    add_rest(t, rank, i, half);
    if (i + half < t->n) {
        add_rest(t, rank, i + half, half);
        for (int c = 0; c < t->columns; c++) {
            t->v[i * t->stride + c] += t->v[(i + half) * t->stride + c];
        }
    }
}

enum { MOST_SUMS = 128 }; /* of a rank: two for each level of the tree */

/* Adds up what each rank has: `own` numbers, which are start[rank] to start[rank + 1] of all. */
static void join_ranks(const sel_ranks *ranks, const int64_t *start, double *own, int64_t stride,
                       int columns, double *sums) {
    const int64_t n = start[ranks->count], first = start[ranks->rank];
    const size_t each = MOST_SUMS * (size_t)columns;
    double *found = sel_ranks_memory(ranks, ((size_t)ranks->count + 1) * each * sizeof *found);
    double *all = found + each, *to = found;
    double *rows = sel_ranks_memory(ranks, (size_t)(n * columns) * sizeof *rows);
    const tree t = {start, rows, n, columns, columns};
    int64_t width = 1;
    for (int64_t i = first, next; i < start[ranks->rank + 1]; i = next, to += columns) {
        double *v = own + (i - first) * stride;
        next = end_of_sum(&t, i, start[ranks->rank + 1]);
        for (int c = 0; c < columns; c++) {
            sel_tree_sum(v + c, next - i, stride);
        }
        memcpy(to, v, (size_t)columns * sizeof *v);
    }
    ranks->gather(found, each * sizeof *found, all);
    for (int r = 0; r < ranks->count; r++) {
        const double *from = all + (size_t)r * each;
        for (int64_t i = start[r]; i < start[r + 1]; i = end_of_sum(&t, i, start[r + 1])) {
            memcpy(rows + i * columns, from, (size_t)columns * sizeof *rows);
            from += columns;
        }
    }
    while (width < n) {
        width *= 2;
    }
    if (n > 0) {
        add_rest(&t, 0, 0, width);
    }
    memcpy(sums, rows, (size_t)columns * sizeof *rows);
    free(rows);
    free(found);
}

void sel_join_sums(const sel_ranks *ranks, const int64_t *start, double *own, int64_t stride,
                   int columns, double *sums) {
    const int64_t n = start[ranks->count];
    if (n == 0) {
        memset(sums, 0, (size_t)columns * sizeof *sums);
    } else if (ranks->count > 1) {
        join_ranks(ranks, start, own, stride, columns, sums);
    } else {
        for (int c = 0; c < columns; c++) {
            sel_tree_sum(own + c, n, stride);
            sums[c] = own[c];
        }
    }
}

/* ---- lists ---- */

/* Gathers items on all ranks; item k is known to rank owner[k]. Messages hold those of rank 0
 * first, then those of rank 1, each in their order. */
static void share_owned(const sel_ranks *ranks, const uint8_t *owner, void *items, size_t size,
                        int64_t count) {
    size_t end[SEL_MOST_RANKS] = {0};
    char *at[SEL_MOST_RANKS], *v = items;
    char *sorted = sel_ranks_memory(ranks, (size_t)count * size);
    for (int64_t k = 0; k < count; k++) {
        end[owner[k]] += size;
    }
    at[0] = sorted;
    for (int r = 1; r < ranks->count; r++) {
        at[r] = sorted + end[r - 1];
        end[r] += end[r - 1];
    }
    char *next = at[ranks->rank];
    for (int64_t k = 0; k < count; k++) {
        if (owner[k] == ranks->rank) {
            memcpy(next, v + (size_t)k * size, size);
            next += size;
        }
    }
    sel_ranks_share(ranks, sorted, end);
    for (int64_t k = 0; k < count; k++) {
        char **from = &at[owner[k]];
        memcpy(v + (size_t)k * size, *from, size);
        *from += size;
    }
    free(sorted);
}

void sel_state_share_items(const sel_state *state, void *items, size_t size, int64_t count,
                           int64_t (*row)(const sel_state *state, int64_t k)) {
    if (state->ranks->count == 1 || !items) {
        return;
    }
    uint8_t *owner = sel_ranks_memory(state->ranks, (size_t)count);
    for (int64_t k = 0; k < count; k++) {
        owner[k] = (uint8_t)sel_state_rank_of(state, row(state, k));
    }
    share_owned(state->ranks, owner, items, size, count);
    free(owner);
}

/* ---- sums of rows ---- */

int64_t sel_row_of_box(const sel_state *state, const sel_box *box, int64_t j) {
    const int64_t height = sel_box_count(box, 1);
    return box->lo[1] + j % height * box->stride[1] +
           state->plan->domain->grid.n[1] * (box->lo[2] + j / height * box->stride[2]);
}

static void sum_box(const sel_state *state, const sel_box *box, double *own, int64_t stride,
                    int columns, double *sums) {
    const sel_ranks *ranks = state->ranks;
    int64_t start[SEL_MOST_RANKS + 1];
    if (!sel_divides_planes(&state->decomposition)) {
        sel_state_share_box(state, box, start);
        sel_join_sums(ranks, start, own, stride, columns, sums);
        return;
    }
    /* Rows of one rank are no whole sums of the tree: all get all rows. */
    const int64_t rows = sel_box_cells(box) / sel_box_count(box, 0);
    const sel_rows mine = sel_state_part_rows(state, box, ranks->rank);
    const size_t size = (size_t)columns * sizeof *own;
    uint8_t *owner = sel_ranks_memory(ranks, (size_t)rows);
    double *all = sel_ranks_memory(ranks, (size_t)rows * size);
    for (int64_t j = 0; j < rows; j++) {
        owner[j] = (uint8_t)sel_state_rank_of(state, sel_row_of_box(state, box, j));
    }
    for (int64_t k = 0; k < mine.count; k++) {
        memcpy(all + sel_row_of(&mine, k) * columns, own + k * stride, size);
    }
    share_owned(ranks, owner, all, size, rows);
    sel_join_sums(&sel_one_rank, (int64_t[]){0, rows}, all, columns, columns, sums);
    free(all);
    free(owner);
}

void sel_state_sum_rows(const sel_state *state, double *own, int64_t stride, int columns,
                        double *sums) {
    const sel_box all = sel_grid_box(&state->plan->domain->grid);
    sum_box(state, &all, own, stride, columns, sums);
}

void sel_state_sums(const sel_state *state, int first, int columns, double *sums) {
    sel_state_sum_rows(state, state->partials + first, SEL_PARTIALS, columns, sums);
}

void sel_state_sums_of_box(const sel_state *state, const sel_box *box, int columns, double *sums) {
    sum_box(state, box, state->partials, SEL_PARTIALS, columns, sums);
}

/* ---- reads ---- */

size_t sel_request_cell_bytes(const sel_request *request) {
    return (size_t)request->components *
           (request->precision == SEL_F32 ? sizeof(float) : sizeof(double));
}

/* The cells of a box along an axis that lie within first <= i < end. */
static void narrow(sel_box *box, int axis, int64_t first, int64_t end) {
    const int64_t stride = box->stride[axis], before = first - box->lo[axis];
    const int64_t low = box->lo[axis] + (before > 0 ? (before + stride - 1) / stride * stride : 0);
    const int64_t high = box->hi[axis] < end ? box->hi[axis] : end;
    box->lo[axis] = low < box->hi[axis] ? low : box->hi[axis];
    box->hi[axis] = high > box->lo[axis] ? high : box->lo[axis];
}

sel_box sel_state_part(const sel_state *state, const sel_box *box, int rank) {
    const sel_patch patch = sel_patch_of(&state->decomposition, rank);
    sel_box part = *box;
    for (int axis = 1; axis < 3; axis++) {
        narrow(&part, axis, patch.lo[axis], patch.hi[axis]);
    }
    return part;
}

sel_rows sel_state_part_rows(const sel_state *state, const sel_box *box, int rank) {
    const sel_box part = sel_state_part(state, box, rank);
    const int64_t all = sel_box_count(box, 1), height = sel_box_count(&part, 1);
    const int64_t y = (part.lo[1] - box->lo[1]) / box->stride[1];
    const int64_t z = (part.lo[2] - box->lo[2]) / box->stride[2];
    return (sel_rows){y + z * all, height * sel_box_count(&part, 2), height > 0 ? height : 1,
                      all - height};
}

void sel_state_share_box(const sel_state *state, const sel_box *box, int64_t *start) {
    start[0] = 0;
    for (int r = 0; r < state->ranks->count; r++) {
        start[r + 1] = start[r] + sel_state_part_rows(state, box, r).count;
    }
}

/* Of the rows of a part those before number j of the box. */
static int64_t rows_before(const sel_rows *rows, int64_t j) {
    const int64_t all = rows->height + rows->skip, past = j - rows->first;
    if (past <= 0 || rows->count == 0) {
        return 0;
    }
    const int64_t rest = past % all < rows->height ? past % all : rows->height;
    const int64_t count = past / all * rows->height + rest;
    return count < rows->count ? count : rows->count;
}

void *sel_state_move_rows(const sel_state *state, const sel_box *box, const int64_t *start,
                          size_t bytes, void *own) {
    const sel_ranks *ranks = state->ranks;
    const int rank = ranks->rank;
    const sel_rows mine = sel_state_part_rows(state, box, rank);
    const size_t count = (size_t)(start[rank + 1] - start[rank]);
    char *room = sel_ranks_memory(ranks, count * bytes), *next = room, *from = own;
    char *made = sel_ranks_memory(ranks, count * bytes);
    sel_message messages[2 * SEL_MOST_RANKS];
    int sent = 0;
    for (int r = 0; r < ranks->count; r++) {
        const sel_rows its = sel_state_part_rows(state, box, r);
        const int64_t low = rows_before(&mine, start[r]), high = rows_before(&mine, start[r + 1]);
        const int64_t comes = rows_before(&its, start[rank + 1]) - rows_before(&its, start[rank]);
        if (r == rank) {
            memcpy(next, from + (size_t)low * bytes, (size_t)comes * bytes);
        } else if (high > low) {
            messages[sent++] = (sel_message){.rank = r,
                                             .sends = true,
                                             .at = from + (size_t)low * bytes,
                                             .bytes = (size_t)(high - low) * bytes};
        }
        if (r != rank && comes > 0) {
            messages[sent++] = (sel_message){.rank = r, .at = next, .bytes = (size_t)comes * bytes};
        }
        next += (size_t)comes * bytes;
    }
    ranks->transfer(messages, sent);
    next = room;
    for (int r = 0; r < ranks->count; r++) {
        const sel_rows its = sel_state_part_rows(state, box, r);
        const int64_t end = rows_before(&its, start[rank + 1]);
        for (int64_t k = rows_before(&its, start[rank]); k < end; k++, next += bytes) {
            memcpy(made + (size_t)(sel_row_of(&its, k) - start[rank]) * bytes, next, bytes);
        }
    }
    free(room);
    free(own);
    return made;
}

/* Bytes from a rank to rank 0. */
static void send_up(const sel_state *state, int rank, void *at, size_t bytes) {
    const bool leads = state->ranks->rank == 0;
    const sel_message message = {
        .rank = leads ? rank : 0, .sends = !leads, .at = at, .bytes = bytes};
    state->ranks->transfer(&message, bytes > 0);
}

/* Rows that lie apart in the answer pass through `room`; those of rank 0 move up from the last on,
 * where they are in place. */
static void gather_box(const sel_state *state, const sel_request *request, char *found) {
    const sel_box *box = &request->box;
    const size_t row = (size_t)sel_box_count(box, 0) * sel_request_cell_bytes(request);
    const int own = state->ranks->rank, boxes = sel_divides_planes(&state->decomposition);
    const sel_rows mine = sel_state_part_rows(state, box, own);
    char *to = request->to;
    if (own > 0) {
        send_up(state, own, found, (size_t)mine.count * row);
        return;
    }
    for (int64_t k = mine.count - 1; k >= 0 && (boxes || found != to); k--) {
        memmove(to + (size_t)sel_row_of(&mine, k) * row, found + (size_t)k * row, row);
    }
    for (int r = 1; r < state->ranks->count; r++) {
        const sel_rows its = sel_state_part_rows(state, box, r);
        const size_t bytes = (size_t)its.count * row;
        char *room = boxes ? sel_ranks_memory(state->ranks, bytes) : to + (size_t)its.first * row;
        send_up(state, r, room, bytes);
        for (int64_t k = 0; k < its.count && boxes; k++) {
            memcpy(to + (size_t)sel_row_of(&its, k) * row, room + (size_t)k * row, row);
        }
        if (boxes) {
            free(room);
        }
    }
}

/* Entry c of a list belongs to the rank that has its row. */
static int rank_of_entry(const sel_state *state, const sel_request *request, int64_t c) {
    return sel_state_rank_of(state, request->cells[c] / state->plan->domain->grid.n[0]);
}

static void gather_list(const sel_state *state, const sel_request *request, char *found) {
    const size_t cell = sel_request_cell_bytes(request);
    const bool leads = state->ranks->rank == 0;
    char *room = leads ? sel_ranks_memory(state->ranks, (size_t)request->cell_count * cell) : NULL;
    for (int r = 0; r < state->ranks->count; r++) {
        const char *from = r ? room : found;
        size_t count = 0;
        for (int64_t c = 0; c < request->cell_count; c++) {
            count += rank_of_entry(state, request, c) == r;
        }
        if (r > 0 && (leads || r == state->ranks->rank)) {
            send_up(state, r, leads ? room : found, count * cell);
        }
        for (int64_t c = 0; c < request->cell_count && leads; c++) {
            if (rank_of_entry(state, request, c) == r) {
                memcpy((char *)request->to + (size_t)c * cell, from, cell);
                from += cell;
            }
        }
    }
    free(room);
}

void sel_state_gather_read(const sel_state *state, const sel_request *request, void *found) {
    if (request->cells) {
        gather_list(state, request, found);
    } else {
        gather_box(state, request, found);
    }
}

/* ---- numbers ---- */

double sel_state_largest(const sel_state *state, double value) {
    return sel_ranks_largest(state->ranks, value);
}

int64_t sel_state_total(const sel_state *state, int64_t value) {
    return sel_ranks_total(state->ranks, value);
}
