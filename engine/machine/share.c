/* share.c -- rows, sums and lists of several ranks. */
#include "engine/machine/share.h"

#include <stdlib.h>
#include <string.h>
#include "engine/base/machine.h"

sel_rows_range sel_state_rows_of(const sel_state *state, int rank) {
    const int64_t rows = state->blocks.rows_per_plane;
    return (sel_rows_range){state->first_plane[rank] * rows, state->first_plane[rank + 1] * rows};
}

int sel_state_rank_of(const sel_state *state, int64_t row) {
    int rank = 0;
    while (row >= state->first_plane[rank + 1] * state->blocks.rows_per_plane) {
        rank++;
    }
    return rank;
}

bool sel_state_has(const sel_state *state, int64_t row) {
    const sel_rows_range own = sel_state_own(state);
    return row >= own.first && row < own.end;
}

sel_share sel_state_share(const sel_state *state, uint64_t memory) {
    const int own = state->ranks->rank;
    return (sel_share){memory, state->ranks->count > 1 ? state->halo_bytes : 0,
                       state->first_plane[own], state->first_plane[own + 1]};
}

int64_t sel_state_least_planes(const sel_state *state) {
    const int ranks = state->ranks->count, count = ranks > 1 ? ranks : state->blocks.count;
    int64_t least = INT64_MAX;
    for (int k = 0; k < count; k++) {
        const sel_block *block = &state->blocks.v[ranks > 1 ? 0 : k];
        const int64_t planes = ranks > 1 ? state->first_plane[k + 1] - state->first_plane[k]
                                         : block->end - block->first;
        least = planes < least ? planes : least;
    }
    return least;
}

bool sel_state_stays(const sel_state *state, uint64_t bytes) {
    return bytes * (uint64_t)state->ranks->here <= sel_machine_cache();
}

sel_status sel_state_agree(const sel_state *state, sel_status status, sel_error *error) {
    return sel_ranks_agree(sel_plan_ranks(state->plan), status, error);
}

/* ---- sums ---- */

/* A sum of the tree: of numbers i to i + width, as far as there are so many. */
typedef struct tree {
    const sel_ranks *ranks;
    const int64_t *start;
    double *v;
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

/* Adds up numbers i to `end`, which are such a sum, in the place of the first. */
static void add_up(const tree *t, int64_t i, int64_t end) {
    for (int c = 0; c < t->columns; c++) {
        sel_tree_sum(t->v + i * t->stride + c, end - i, t->stride);
    }
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

void sel_join_sums(const sel_ranks *ranks, const int64_t *start, double *v, int64_t stride,
                   int columns, double *sums) {
    const tree t = {ranks, start, v, start[ranks->count], stride, columns};
    const size_t bytes = MOST_SUMS * (size_t)columns * sizeof *v;
    int64_t width = 1;
    if (ranks->count > 1) {
        double *own = sel_ranks_memory(ranks, ((size_t)ranks->count + 1) * bytes);
        double *all = own + MOST_SUMS * columns, *to = own;
        const int64_t end = start[ranks->rank + 1];
        for (int64_t i = start[ranks->rank], next; i < end; i = next) {
            next = end_of_sum(&t, i, end);
            add_up(&t, i, next);
            memcpy(to, v + i * stride, (size_t)columns * sizeof *v);
            to += columns;
        }
        ranks->gather(own, bytes, all);
        for (int r = 0; r < ranks->count; r++) {
            const double *from = all + r * MOST_SUMS * columns;
            for (int64_t i = start[r]; i < start[r + 1]; i = end_of_sum(&t, i, start[r + 1])) {
                memcpy(v + i * stride, from, (size_t)columns * sizeof *v);
                from += columns;
            }
        }
        while (width < t.n) {
            width *= 2;
        }
        add_rest(&t, 0, 0, width);
        free(own);
    } else if (t.n > 0) {
        add_up(&t, 0, t.n);
    }
    for (int c = 0; c < columns; c++) {
        sums[c] = t.n > 0 ? v[c] : 0;
    }
}

void sel_state_sums(const sel_state *state, int first, int columns, double *sums) {
    int64_t start[SEL_MOST_RANKS + 1];
    for (int r = 0; r <= state->ranks->count; r++) {
        start[r] = state->first_plane[r] * state->blocks.rows_per_plane;
    }
    sel_join_sums(state->ranks, start, state->partials + first, SEL_PARTIALS, columns, sums);
}

/* ---- lists ---- */

void sel_state_share_list(const sel_state *state, void *list, size_t size,
                          int64_t (*first)(const sel_state *state, int64_t row)) {
    size_t end[SEL_MOST_RANKS];
    for (int r = 0; r < state->ranks->count; r++) {
        end[r] = (size_t)first(state, sel_state_rows_of(state, r).end) * size;
    }
    if (state->ranks->count > 1 && list) {
        sel_ranks_share(state->ranks, list, end);
    }
}

/* The items of rank 0 come first, then those of rank 1, each in the order of its rank. */
void sel_state_share_items(const sel_state *state, void *items, size_t size, int64_t count,
                           int64_t (*row)(const sel_state *state, int64_t k)) {
    const sel_ranks *ranks = state->ranks;
    size_t end[SEL_MOST_RANKS] = {0};
    char *at[SEL_MOST_RANKS], *v = items;
    if (ranks->count == 1 || !v) {
        return;
    }
    char *sorted = sel_ranks_memory(ranks, (size_t)count * size);
    for (int64_t k = 0; k < count; k++) {
        end[sel_state_rank_of(state, row(state, k))] += size;
    }
    at[0] = sorted;
    for (int r = 1; r < ranks->count; r++) {
        at[r] = sorted + end[r - 1];
        end[r] += end[r - 1];
    }
    char *next = at[ranks->rank];
    for (int64_t k = 0; k < count; k++) {
        if (sel_state_rank_of(state, row(state, k)) == ranks->rank) {
            memcpy(next, v + (size_t)k * size, size);
            next += size;
        }
    }
    sel_ranks_share(ranks, sorted, end);
    for (int64_t k = 0; k < count; k++) {
        char **from = &at[sel_state_rank_of(state, row(state, k))];
        memcpy(v + (size_t)k * size, *from, size);
        *from += size;
    }
    free(sorted);
}

/* ---- reads ---- */

size_t sel_request_cell_bytes(const sel_request *request) {
    return (size_t)request->components *
           (request->precision == SEL_F32 ? sizeof(float) : sizeof(double));
}

void sel_state_share_box(const sel_state *state, const sel_box *box, int64_t *start) {
    const int axis = state->plan->domain->grid.dims - 1;
    const int64_t height = axis == 2 ? sel_box_count(box, 1) : 1;
    const int64_t planes = sel_box_count(box, axis), stride = box->stride[axis];
    for (int r = 0; r <= state->ranks->count; r++) {
        const int64_t before = state->first_plane[r] - box->lo[axis];
        const int64_t count = before <= 0 ? 0 : (before + stride - 1) / stride;
        start[r] = height * (count < planes ? count : planes);
    }
}

/* Bytes from a rank to rank 0. */
static void send_up(const sel_state *state, int rank, void *at, size_t bytes) {
    const bool leads = state->ranks->rank == 0;
    const sel_message message = {
        .rank = leads ? rank : 0, .sends = !leads, .at = at, .bytes = bytes};
    state->ranks->transfer(&message, bytes > 0);
}

static void gather_box(const sel_state *state, const sel_request *request, char *found) {
    const size_t row = (size_t)sel_box_count(&request->box, 0) * sel_request_cell_bytes(request);
    const int own = state->ranks->rank;
    int64_t start[SEL_MOST_RANKS + 1];
    sel_state_share_box(state, &request->box, start);
    const size_t bytes = (size_t)(start[own + 1] - start[own]) * row;
    if (own > 0) {
        send_up(state, own, found, bytes);
        return;
    }
    if (found != request->to) {
        memcpy(request->to, found, bytes);
    }
    for (int r = 1; r < state->ranks->count; r++) {
        send_up(state, r, (char *)request->to + (size_t)start[r] * row,
                (size_t)(start[r + 1] - start[r]) * row);
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
