/* reduce.h -- sums that come out the same for any number of threads. */
#ifndef SEL_REDUCE_H
#define SEL_REDUCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds v[0], v[stride], ... v[(n - 1) * stride] by a fixed pairwise tree over the index: the
 * partial sums of rows, each made by one thread in the order of its cells. Overwrites them. 0 for
 * n = 0. */
static inline double sel_tree_sum(double *v, int64_t n, int64_t stride) {
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t i = 0; i + width < n; i += 2 * width) {
            v[i * stride] += v[(i + width) * stride];
        }
    }
    return n > 0 ? v[0] : 0;
}

/* The relative change of a field between two looks at it, from the sums of squares of its change
 * and of itself; NaN at the first look, and of a field that is zero. */
static inline double sel_relative_change(bool looked, double change, double magnitude) {
    return looked && magnitude > 0 ? sqrt(change / magnitude) : (double)NAN;
}

#endif
