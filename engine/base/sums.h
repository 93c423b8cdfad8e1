/* sums.h -- reductions over cells for C and CUDA: sums that do not depend on the number of threads,
 * running totals, and the extremes and non-finite cells of monitors.
 */
#ifndef SEL_SUMS_H
#define SEL_SUMS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SEL_SUMS_INLINE static __host__ __device__ __forceinline__
#else
#define SEL_SUMS_INLINE static inline
#endif

/* The sum of v[0], v[stride], ... v[(n - 1) * stride] by a fixed pairwise tree over the index;
 * 0 for n = 0. Overwrites v. The result does not depend on the number of threads if each v is the
 * sum of one row, made by one thread in the order of the cells. */
static inline double sel_tree_sum(double *v, int64_t n, int64_t stride) {
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t i = 0; i + width < n; i += 2 * width) {
            v[i * stride] += v[(i + width) * stride];
        }
    }
    return n > 0 ? v[0] : 0;
}

/* The relative change of a field between two monitors in the L2 norm. `change` and `magnitude` are
 * the sums of squares of the change and of the field. NaN at the first monitor (not `looked`), and
 * for a zero field. */
static inline double sel_relative_change(bool looked, double change, double magnitude) {
    return looked && magnitude > 0 ? sqrt(change / magnitude) : (double)NAN;
}

/* The larger and the smaller of two numbers; NaN if either is NaN (fmax and fmin ignore a NaN). */
SEL_SUMS_INLINE double sel_larger(double a, double b) {
    return a != a || b != b ? (double)NAN : fmax(a, b);
}

SEL_SUMS_INLINE double sel_smaller(double a, double b) {
    return a != a || b != b ? (double)NAN : fmin(a, b);
}

/* ---- the running sums of a balance ---- */

/* A running sum: exact for integers; else compensated, with the rounding errors summed in `lost`
 * (Knuth's two-sum). */
typedef struct sel_total {
    int64_t whole;    /* the sum of integers */
    double sum, lost; /* the sum of other numbers */
} sel_total;

/* Adds `value` to the sum of integers (`whole`) or to the compensated sum. */
SEL_SUMS_INLINE void sel_total_more(sel_total *total, bool whole, double value) {
    if (whole) {
        total->whole += (int64_t)value;
        return;
    }
    const double sum = total->sum + value, part = sum - total->sum;
    total->lost += (total->sum - (sum - part)) + (value - part);
    total->sum = sum;
}

SEL_SUMS_INLINE double sel_total_of(const sel_total *total, bool whole) {
    return whole ? (double)total->whole : total->sum + total->lost;
}

/* Adds `other` to `total`. */
SEL_SUMS_INLINE void sel_total_join(sel_total *total, const sel_total *other) {
    total->whole += other->whole;
    sel_total_more(total, false, other->sum);
    sel_total_more(total, false, other->lost);
}

/* ---- monitors: cells that are not finite, and the extremes of the others ----
 *
 * All numbers are f64, so that warps can exchange them; cell numbers are exact in f64. The result
 * does not depend on the order of joins.
 */

/* Cells are given by index: of several cells with the same extreme, the lowest; -1: none. */
typedef struct sel_watched {
    double bad_cells, bad_cell; /* the number of cells that are not finite, and the first of them */
    double largest, largest_cell, smallest, smallest_cell; /* over the finite cells */
} sel_watched;

SEL_SUMS_INLINE void sel_watch_none(sel_watched *w) {
    w->bad_cells = 0;
    w->bad_cell = w->largest_cell = w->smallest_cell = -1;
    w->largest = -HUGE_VAL;
    w->smallest = HUGE_VAL;
}

/* Includes a cell; `large` and `small` are its candidates for the largest and the smallest value.
 * False: a candidate is not finite, and the cell counts in bad_cells only. Cells must be included
 * in ascending order. */
SEL_SUMS_INLINE bool sel_watch(sel_watched *w, double cell, double large, double small) {
    if (!(fabs(large) < HUGE_VAL && fabs(small) < HUGE_VAL)) {
        w->bad_cell = w->bad_cells > 0 ? w->bad_cell : cell;
        w->bad_cells++;
        return false;
    }
    if (large > w->largest) {
        w->largest = large;
        w->largest_cell = cell;
    }
    if (small < w->smallest) {
        w->smallest = small;
        w->smallest_cell = cell;
    }
    return true;
}

/* The lower of the cells `a` and `b`, where -1 means none. */
SEL_SUMS_INLINE double sel_first_cell(double a, double b) {
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

/* Joins `b` to `a`. The cells of `b` need not follow those of `a`. */
SEL_SUMS_INLINE void sel_watch_join(sel_watched *a, const sel_watched *b) {
    a->bad_cells += b->bad_cells;
    a->bad_cell = sel_first_cell(a->bad_cell, b->bad_cell);
    if (b->largest > a->largest) {
        a->largest = b->largest;
        a->largest_cell = b->largest_cell;
    } else if (b->largest == a->largest) {
        a->largest_cell = sel_first_cell(a->largest_cell, b->largest_cell);
    }
    if (b->smallest < a->smallest) {
        a->smallest = b->smallest;
        a->smallest_cell = b->smallest_cell;
    } else if (b->smallest == a->smallest) {
        a->smallest_cell = sel_first_cell(a->smallest_cell, b->smallest_cell);
    }
}

#endif
