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

/* The same of what ranks have added up. */
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

/* By rank, those of each in their order. */
void sel_state_share_numbers(const sel_state *state, double *v, int64_t count,
                             int64_t (*row)(const sel_state *state, int64_t k)) {
    const sel_ranks *ranks = state->ranks;
    size_t end[SEL_MOST_RANKS] = {0};
    int64_t at[SEL_MOST_RANKS] = {0};
    if (ranks->count == 1 || !v) {
        return;
    }
    double *sorted = sel_ranks_memory(ranks, (size_t)count * sizeof *v);
    for (int64_t k = 0; k < count; k++) {
        end[sel_state_rank_of(state, row(state, k))] += sizeof *v;
    }
    for (int r = 1; r < ranks->count; r++) {
        end[r] += end[r - 1];
        at[r] = (int64_t)(end[r - 1] / sizeof *v);
    }
    int64_t next = at[ranks->rank];
    for (int64_t k = 0; k < count; k++) {
        if (sel_state_rank_of(state, row(state, k)) == ranks->rank) {
            sorted[next++] = v[k];
        }
    }
    sel_ranks_share(ranks, sorted, end);
    for (int64_t k = 0; k < count; k++) {
        v[k] = sorted[at[sel_state_rank_of(state, row(state, k))]++];
    }
    free(sorted);
}

double sel_state_largest(const sel_state *state, double value) {
    double all[SEL_MOST_RANKS];
    state->ranks->gather(&value, sizeof value, all);
    for (int r = 0; r < state->ranks->count; r++) {
        value = all[r] > value ? all[r] : value;
    }
    return value;
}

int64_t sel_state_total(const sel_state *state, int64_t value) {
    int64_t all[SEL_MOST_RANKS], total = 0;
    state->ranks->gather(&value, sizeof value, all);
    for (int r = 0; r < state->ranks->count; r++) {
        total += all[r];
    }
    return total;
}
