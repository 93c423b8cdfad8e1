/* noise.h -- smooth noise from integer hashes: the same bits on every processor.
 *
 * Value noise: a hash of seed and lattice point gives a value in [-1, 1) at each corner of the unit
 * cell; in between they are blended by 6 w^5 - 15 w^4 + 10 w^3, whose first two derivatives vanish
 * at the corners (K. Perlin, Improving noise, SIGGRAPH 2002). Sums and products only, in a fixed
 * order, so that a processor without contraction gives what any other does. C11 and C++17; the
 * includer may define SEL_NOISE_INLINE to add its qualifiers.
 */
#ifndef SEL_NOISE_H
#define SEL_NOISE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef SEL_NOISE_INLINE
#define SEL_NOISE_INLINE static inline
#endif

/* The finalizer of SplitMix64: every bit of the input changes half of the output. */
SEL_NOISE_INLINE uint64_t sel_noise_mix(uint64_t h) {
    h += 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

SEL_NOISE_INLINE double sel_noise_corner(uint64_t h, int64_t i) {
    uint64_t bits = sel_noise_mix(h ^ (uint64_t)i);
    return (double)(bits >> 11) * 2.220446049250313e-16 - 1.0;
}

SEL_NOISE_INLINE double sel_noise_weight(double w) {
    return w * w * w * (w * (w * 6.0 - 15.0) + 10.0);
}

SEL_NOISE_INLINE double sel_noise_blend(double a, double b, double w) {
    return a * (1.0 - w) + b * w;
}

SEL_NOISE_INLINE double sel_noise_row(uint64_t h, int64_t i, double w) {
    return sel_noise_blend(sel_noise_corner(h, i), sel_noise_corner(h, i + 1), w);
}

SEL_NOISE_INLINE double sel_noise_plane(uint64_t h, int64_t i, int64_t j, double u, double v) {
    return sel_noise_blend(sel_noise_row(sel_noise_mix(h ^ (uint64_t)j), i, u),
                           sel_noise_row(sel_noise_mix(h ^ (uint64_t)(j + 1)), i, u), v);
}

/* Noise in [-1, 1] with features of size 1. NaN beyond 2^52, where doubles have no fraction. */
SEL_NOISE_INLINE double sel_noise(double seed, double x, double y, double z) {
    const double limit = 4503599627370496.0;
    if (!(fabs(x) < limit && fabs(y) < limit && fabs(z) < limit)) {
        return (double)NAN;
    }
    uint64_t h;
    double key = seed + 0.0; /* -0 is 0 */
    memcpy(&h, &key, sizeof h);
    h = sel_noise_mix(h);
    double i = floor(x), j = floor(y), k = floor(z);
    double u = sel_noise_weight(x - i), v = sel_noise_weight(y - j), w = sel_noise_weight(z - k);
    uint64_t below = sel_noise_mix(h ^ (uint64_t)(int64_t)k);
    uint64_t above = sel_noise_mix(h ^ (uint64_t)((int64_t)k + 1));
    return sel_noise_blend(sel_noise_plane(below, (int64_t)i, (int64_t)j, u, v),
                           sel_noise_plane(above, (int64_t)i, (int64_t)j, u, v), w);
}

#endif
