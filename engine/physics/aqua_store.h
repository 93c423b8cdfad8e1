/* aqua_store.h -- what metres become in the stores of AQUA-GRAPH, and what rain and soil do to a
 * cell.
 *
 * C11 and C++17; the includer may define AQUA_STORE_INLINE to add its qualifiers. `per_metre` is
 * the number of units of the store in a metre: a power of two for whole quanta, 1 for f64.
 */
#ifndef AQUA_STORE_H
#define AQUA_STORE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef AQUA_STORE_INLINE
#define AQUA_STORE_INLINE static inline
#endif

/* Beds of the f32 store count from `datum`, a whole number of metres below all ground, since floats
 * resolve small numbers best; whole quanta, so that a head is 0 or at least about a quantum. */
AQUA_STORE_INLINE float aqua_bed_f32(double metres, double datum, double per_metre) {
    return (float)rint((metres - datum) * per_metre);
}

/* A depth beyond what the store holds is the greatest that it holds. */
AQUA_STORE_INLINE int32_t aqua_water_f32(double metres, double per_metre) {
    const double quanta = rint(metres * per_metre);
    return quanta < (double)INT32_MAX ? (int32_t)quanta : INT32_MAX;
}

/* The bed of a cell whose level is fixed at z: its ground, or z where that is lower; and its depth.
 */
AQUA_STORE_INLINE double aqua_level_bed(double ground, double z) {
    return z < ground ? z : ground;
}

AQUA_STORE_INLINE double aqua_level_depth(double ground, double z) {
    return z < ground ? 0 : z - ground;
}

/* Units per step of a rate of rain or infiltration in mm/h, `unit` of them for each. False where
 * the rate is negative, or brings more than `most` units. */
AQUA_STORE_INLINE bool aqua_rate_fits(double rate, double unit, double most, double *units) {
    *units = rate * unit;
    return !(rate < 0) && !(*units > most);
}

/* Whether a level z stands no higher above its ground than `limit` units. */
AQUA_STORE_INLINE bool aqua_level_fits(double z, double ground, double per_metre, double limit) {
    return !((z - ground) * per_metre > limit);
}

/* Whole quanta of `rate` quanta per step: what is left over is carried to the next step, so that in
 * the long run none is lost. */
AQUA_STORE_INLINE int32_t aqua_whole_f32(float rate, float *carry) {
    const float sum = rate + *carry;
    const int32_t whole = (int32_t)sum;
    *carry = sum - (float)whole;
    return whole;
}

#endif
