/* aqua_total.h -- the running sums of a balance.
 *
 * C11 and CUDA; the includer may define AQUA_TOTAL_INLINE to add its qualifiers.
 */
#ifndef AQUA_TOTAL_H
#define AQUA_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#ifndef AQUA_TOTAL_INLINE
#define AQUA_TOTAL_INLINE static inline
#endif

/* Exact in whole quanta, else with what rounding loses kept apart. */
typedef struct aqua_total {
    int64_t whole;
    double sum, lost;
} aqua_total;

AQUA_TOTAL_INLINE void aqua_total_more(aqua_total *total, bool whole, double value) {
    if (whole) {
        total->whole += (int64_t)value;
        return;
    }
    const double sum = total->sum + value, part = sum - total->sum;
    total->lost += (total->sum - (sum - part)) + (value - part);
    total->sum = sum;
}

AQUA_TOTAL_INLINE double aqua_total_of(const aqua_total *total, bool whole) {
    return whole ? (double)total->whole : total->sum + total->lost;
}

/* Adds another one. */
AQUA_TOTAL_INLINE void aqua_total_join(aqua_total *total, const aqua_total *other) {
    total->whole += other->whole;
    aqua_total_more(total, false, other->sum);
    aqua_total_more(total, false, other->lost);
}

#endif
