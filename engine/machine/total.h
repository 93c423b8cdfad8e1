/* sel_total.h -- the running sums of a balance.
 *
 * One text for C and CUDA.
 */
#ifndef SEL_TOTAL_H
#define SEL_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SEL_TOTAL_INLINE static __host__ __device__ inline
#else
#define SEL_TOTAL_INLINE static inline
#endif

/* Exact for whole numbers, else with what rounding loses kept apart. */
typedef struct sel_total {
    int64_t whole;
    double sum, lost;
} sel_total;

SEL_TOTAL_INLINE void sel_total_more(sel_total *total, bool whole, double value) {
    if (whole) {
        total->whole += (int64_t)value;
        return;
    }
    const double sum = total->sum + value, part = sum - total->sum;
    total->lost += (total->sum - (sum - part)) + (value - part);
    total->sum = sum;
}

SEL_TOTAL_INLINE double sel_total_of(const sel_total *total, bool whole) {
    return whole ? (double)total->whole : total->sum + total->lost;
}

/* Adds another one. */
SEL_TOTAL_INLINE void sel_total_join(sel_total *total, const sel_total *other) {
    total->whole += other->whole;
    sel_total_more(total, false, other->sum);
    sel_total_more(total, false, other->lost);
}

#endif
