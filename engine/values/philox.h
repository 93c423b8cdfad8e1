/* philox.h -- random numbers as functions of their place: Philox 4x32-10 (Salmon, Moraes, Dror and
 * Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011).
 *
 * Ten rounds mix a counter with a key. There is no state between numbers, so every thread, block or
 * device finds the same number. C and CUDA; the includer may define SEL_PHILOX_INLINE.
 */
#ifndef SEL_PHILOX_H
#define SEL_PHILOX_H

#include <stdint.h>

#ifndef SEL_PHILOX_INLINE
#define SEL_PHILOX_INLINE static inline
#endif

/* 32 bits for sel.random(k) in a cell and step: the counter holds the cell and, above 52 bits, what
 * a step has beyond 32; the key is the seed. */
SEL_PHILOX_INLINE uint32_t sel_philox(uint64_t seed, int64_t cell, int64_t step, int64_t k) {
    uint32_t c0 = (uint32_t)cell,
             c1 = (uint32_t)((uint64_t)cell >> 32 ^ (uint64_t)step >> 32 << 20);
    uint32_t c2 = (uint32_t)step, c3 = (uint32_t)k;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32) ^ (uint32_t)((uint64_t)k >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c0;
}

/* These bits as a number in [0, 1). `single`: rounded down to 24 digits, so that a float holds it
 * and never is 1. */
SEL_PHILOX_INLINE double sel_philox_number(uint32_t bits, int single) {
    uint32_t drop = bits >> 24; /* then the digits beyond the 24 */
    drop |= drop >> 1;
    drop |= drop >> 2;
    drop |= drop >> 4;
    return (single ? bits & ~drop : bits) * (1.0 / 4294967296.0);
}

#endif
