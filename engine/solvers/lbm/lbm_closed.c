/* lbm_closed.c -- find the closed regions of fluid: spans of cells joined by union-find. */
#include "engine/solvers/lbm/lbm_closed.h"

#include <stdlib.h>

/* parent[span]: a span of the same region, before it or itself. */
typedef struct forest {
    const lbm_boundary *boundary;
    int64_t *parent;
} forest;

static int64_t closed_root(const forest *f, int64_t span) {
    while (f->parent[span] != span) {
        f->parent[span] = f->parent[f->parent[span]];
        span = f->parent[span];
    }
    return span;
}

static void closed_join(const forest *f, int64_t a, int64_t b) {
    const int64_t first = closed_root(f, a), other = closed_root(f, b);
    f->parent[first > other ? first : other] = first < other ? first : other;
}

/* Joins the spans of two rows whose cells are at most `reach` apart along x. */
static void closed_join_rows(const forest *f, int64_t row, int64_t other, int64_t reach) {
    const lbm_boundary *b = f->boundary;
    const lbm_span *span = b->spans;
    const int64_t end = b->row_spans[row + 1], other_end = b->row_spans[other + 1];
    int64_t k = b->row_spans[row], j = b->row_spans[other];
    if (k == end || j == other_end) {
        return;
    }
    if (sel_axis_periodic(&b->domain->grid, 0) && reach > 0) {
        const int64_t n = b->domain->grid.n[0];
        if (span[k].x0 == 0 && span[other_end - 1].x1 == n) {
            closed_join(f, k, other_end - 1);
        }
        if (span[j].x0 == 0 && span[end - 1].x1 == n) {
            closed_join(f, j, end - 1);
        }
    }
    while (k < end && j < other_end) {
        if (span[k].x0 < span[j].x1 + reach && span[j].x0 < span[k].x1 + reach) {
            closed_join(f, k, j);
        }
        if (span[k].x1 < span[j].x1) {
            k++;
        } else {
            j++;
        }
    }
}

/* Joins the spans of a row with those that populations reach from it in rows behind. */
static void closed_join_row(const forest *f, int64_t row) {
    const lbm_boundary *b = f->boundary;
    const sel_grid *grid = &b->domain->grid;
    const int64_t *n = grid->n, y = row % n[1], z = row / n[1];
    for (int i = 0; i < b->lattice->q; i++) {
        const int *e = b->lattice->direction[i].e;
        int64_t to[2] = {y + e[1], z + e[2]};
        bool inside = e[0] >= 0 && (e[2] > 0 || (e[2] == 0 && e[1] >= 0));
        for (int a = 0; a < 2; a++) {
            const bool beyond = to[a] < 0 || to[a] >= n[1 + a];
            inside = inside && (!beyond || sel_axis_periodic(grid, 1 + a));
            to[a] = (to[a] + n[1 + a]) % n[1 + a];
        }
        if (inside) {
            closed_join_rows(f, row, to[0] + n[1] * to[1], e[0]);
        }
    }
}

/* Calls `each` for all boundary cells, with the number of their span. */
static void closed_each(lbm_boundary *b, int64_t *numbers,
                        void (*each)(lbm_boundary *b, lbm_boundary_cell *cell, int64_t span,
                                     int64_t *numbers)) {
    for (int64_t row = 0; row < b->rows; row++) {
        int64_t span = b->row_spans[row];
        for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1]; c++) {
            while (b->spans[span].x1 <= b->cells[c].x) {
                span++;
            }
            each(b, &b->cells[c], span, numbers);
        }
    }
}

enum { CLOSED_CUT = 1, CLOSED_OPEN = 2 };

/* marks[root of a region]; spans know their roots by `closed`. */
static void closed_mark(lbm_boundary *b, lbm_boundary_cell *cell, int64_t span, int64_t *marks) {
    marks[b->spans[span].closed] |=
        (cell->cut ? CLOSED_CUT : 0) | (cell->opening != LBM_CLOSED ? CLOSED_OPEN : 0);
}

static void closed_tell(lbm_boundary *b, lbm_boundary_cell *cell, int64_t span, int64_t *unused) {
    (void)unused;
    cell->closed = cell->cut && b->spans[span].closed > 0;
}

/* Numbers the regions in the order of their first spans, and counts their cells. */
static sel_status closed_number(lbm_boundary *b, int64_t *marks, sel_error *error) {
    int64_t count = 0;
    for (int64_t s = 0; s < b->span_count; s++) {
        const bool first = b->spans[s].closed == s;
        if (first) {
            marks[s] = marks[s] == CLOSED_CUT ? ++count : 0;
        }
        b->spans[s].closed = marks[b->spans[s].closed];
    }
    b->closed_count = count;
    b->closed_cells = calloc((size_t)count + 1, sizeof *b->closed_cells);
    if (!b->closed_cells) {
        return sel_fail_memory(error, "the regions of fluid",
                               ((uint64_t)count + 1) * sizeof *b->closed_cells);
    }
    for (int64_t s = 0; s < b->span_count; s++) {
        if (b->spans[s].closed) {
            b->closed_cells[b->spans[s].closed - 1] += b->spans[s].x1 - b->spans[s].x0;
        }
    }
    return SEL_OK;
}

sel_status lbm_closed_find(lbm_boundary *b, sel_error *error) {
    const size_t spans = (size_t)b->span_count;
    if (!b->interpolates) {
        return SEL_OK;
    }
    int64_t *parent = malloc((2 * spans + 1) * sizeof *parent);
    if (!parent) {
        return sel_fail_memory(error, "the regions of fluid",
                               (2 * (uint64_t)spans + 1) * sizeof *parent);
    }
    int64_t *marks = parent + spans;
    const forest f = {b, parent};
    for (int64_t s = 0; s < b->span_count; s++) {
        parent[s] = s;
        marks[s] = 0;
    }
    for (int64_t row = 0; row < b->rows; row++) {
        closed_join_row(&f, row);
    }
    for (int64_t s = 0; s < b->span_count; s++) {
        b->spans[s].closed = closed_root(&f, s);
    }
    closed_each(b, marks, closed_mark);
    const sel_status status = closed_number(b, marks, error);
    if (!status) {
        closed_each(b, NULL, closed_tell);
    }
    free(parent);
    return status;
}
