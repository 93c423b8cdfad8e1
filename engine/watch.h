/* watch.h -- what a monitor finds in cells: those that are not finite, and the extremes of others.
 *
 * One text for C and CUDA: all numbers are f64, so that warps can exchange them, and a cell's
 * number is exact in one. What is found does not depend on the order of joins.
 */
#ifndef SEL_WATCH_H
#define SEL_WATCH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SEL_WATCH_INLINE static __host__ __device__ __forceinline__
#else
#define SEL_WATCH_INLINE static inline
#endif

/* Cells by number, the first where several will do; -1: none. */
typedef struct sel_watched {
    double bad_cells, bad_cell; /* cells that are not finite, and the first of them; */
    double largest, largest_cell, smallest, smallest_cell; /* of the others */
} sel_watched;

SEL_WATCH_INLINE void sel_watch_none(sel_watched *w) {
    w->bad_cells = 0;
    w->bad_cell = w->largest_cell = w->smallest_cell = -1;
    w->largest = -HUGE_VAL;
    w->smallest = HUGE_VAL;
}

/* Takes a cell with its candidates for the largest and the smallest; false: it is not finite. Cells
 * come with rising numbers. */
SEL_WATCH_INLINE bool sel_watch(sel_watched *w, double cell, double large, double small) {
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

/* Of cells `a` and `b` with equal values. */
SEL_WATCH_INLINE double sel_first_cell(double a, double b) {
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

SEL_WATCH_INLINE void sel_watch_join(sel_watched *a, const sel_watched *b) {
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

#ifndef __CUDACC__
/* Of the free cells of a row, n cells from number `first` on; solid[k] is 0 in free ones. */
void sel_watch_row(sel_watched *w, int64_t first, int64_t n, const double *large,
                   const double *small, const uint8_t *solid);
#endif

#endif
