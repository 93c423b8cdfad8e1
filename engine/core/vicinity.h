/* vicinity.h -- the rows that a rank has of an input in cells that is read beside its patch, too:
 * those of the patch and one on either side along each axis that is divided.
 *
 * C11 and CUDA. A row of cells is y + ny z. An axis that is not divided has no rows beside it.
 */
#ifndef SEL_VICINITY_H
#define SEL_VICINITY_H

#include "engine/scene/grid.h"

/* Along each axis: the cells of the grid; those of the patch, lo <= i < hi; where cells lo - 1 and
 * hi are stored, which around a periodic axis are cells n - 1 and 0; elements from one to the next.
 */
typedef struct sel_vicinity {
    int64_t n[3], lo[3], hi[3], below[3], above[3], stride[3];
} sel_vicinity;

/* What sel_vicinity_row returns for a row that the rank does not have. */
#define SEL_NO_ROW INT64_MIN

/* The element of the first cell of a row, counted from that of cell (0, 0, 0). */
SEL_GRID_INLINE int64_t sel_vicinity_row(const sel_vicinity *v, int64_t row) {
    const int64_t at[3] = {0, row % v->n[1], row / v->n[1]};
    int64_t element = 0;
    for (int a = 1; a < 3; a++) {
        int64_t i = at[a];
        if (i < v->lo[a] || i >= v->hi[a]) {
            const bool above = i == v->hi[a] % v->n[a];
            if (!above && i != (v->lo[a] + v->n[a] - 1) % v->n[a]) {
                return SEL_NO_ROW;
            }
            i = above ? v->above[a] : v->below[a];
        }
        element += i * v->stride[a];
    }
    return element;
}

/* The rows from lo[a] - 1 to hi[a] along an axis, or only its own if it is not divided. */
SEL_GRID_INLINE int64_t sel_vicinity_along(const sel_vicinity *v, int axis) {
    const int64_t own = v->hi[axis] - v->lo[axis];
    return own < v->n[axis] ? own + 2 : own;
}

/* The number of rows that are listed: all that the rank has. */
SEL_GRID_INLINE int64_t sel_vicinity_count(const sel_vicinity *v) {
    return sel_vicinity_along(v, 1) * sel_vicinity_along(v, 2);
}

/* Where the k-th of them lies, y and z: from lo - 1 to hi, beyond the ends of the grid too. */
SEL_GRID_INLINE void sel_vicinity_place(const sel_vicinity *v, int64_t k, int64_t place[2]) {
    const int64_t along = sel_vicinity_along(v, 1);
    place[0] = v->lo[1] + k % along - (along > v->hi[1] - v->lo[1]);
    place[1] = v->lo[2] + k / along - (sel_vicinity_along(v, 2) > v->hi[2] - v->lo[2]);
}

/* The k-th of them; beyond an end of the grid the row at its other end. */
SEL_GRID_INLINE int64_t sel_vicinity_listed(const sel_vicinity *v, int64_t k) {
    int64_t at[2];
    sel_vicinity_place(v, k, at);
    return (at[1] + v->n[2]) % v->n[2] * v->n[1] + (at[0] + v->n[1]) % v->n[1];
}

#endif
