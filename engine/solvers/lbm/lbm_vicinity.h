/* lbm_vicinity.h -- the rows that a rank has of an acceleration that varies in space: those of its
 * patch, and those beside it, whose velocity gradients read.
 *
 * C11 and CUDA. A row of cells is y + ny z. An axis that is not divided has no rows beside it.
 */
#ifndef LBM_VICINITY_H
#define LBM_VICINITY_H

#include "engine/scene/grid.h"

/* Along each axis: the cells of the grid; those of the patch, lo <= i < hi; where cells lo - 1 and
 * hi are stored, which around a periodic axis are cells n - 1 and 0; elements from one to the next.
 */
typedef struct lbm_vicinity {
    int64_t n[3], lo[3], hi[3], below[3], above[3], stride[3];
} lbm_vicinity;

/* What lbm_vicinity_row returns for a row that the rank does not have. */
#define LBM_NO_ROW INT64_MIN

/* The element of the first cell of a row, counted from that of cell (0, 0, 0). */
SEL_GRID_INLINE int64_t lbm_vicinity_row(const lbm_vicinity *v, int64_t row) {
    const int64_t at[3] = {0, row % v->n[1], row / v->n[1]};
    int64_t element = 0;
    for (int a = 1; a < 3; a++) {
        int64_t i = at[a];
        if (i < v->lo[a] || i >= v->hi[a]) {
            const bool above = i == v->hi[a] % v->n[a];
            if (!above && i != (v->lo[a] + v->n[a] - 1) % v->n[a]) {
                return LBM_NO_ROW;
            }
            i = above ? v->above[a] : v->below[a];
        }
        element += i * v->stride[a];
    }
    return element;
}

/* The rows from lo[a] - 1 to hi[a] along an axis, or only its own if it is not divided. */
SEL_GRID_INLINE int64_t lbm_vicinity_along(const lbm_vicinity *v, int axis) {
    const int64_t own = v->hi[axis] - v->lo[axis];
    return own < v->n[axis] ? own + 2 : own;
}

/* The number of rows that are listed: all that the rank has. */
SEL_GRID_INLINE int64_t lbm_vicinity_count(const lbm_vicinity *v) {
    return lbm_vicinity_along(v, 1) * lbm_vicinity_along(v, 2);
}

/* The k-th of them; beyond an end of the grid the row at its other end. */
SEL_GRID_INLINE int64_t lbm_vicinity_listed(const lbm_vicinity *v, int64_t k) {
    const int64_t along = lbm_vicinity_along(v, 1);
    const int64_t y = v->lo[1] + k % along - (along > v->hi[1] - v->lo[1]);
    const int64_t z = v->lo[2] + k / along - (lbm_vicinity_along(v, 2) > v->hi[2] - v->lo[2]);
    return (z + v->n[2]) % v->n[2] * v->n[1] + (y + v->n[1]) % v->n[1];
}

#endif
