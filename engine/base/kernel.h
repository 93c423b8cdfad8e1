/* kernel.h -- what inner loops of the CPU are written with: macros, streaming stores.
 *
 * A file named *_kernel.c is compiled once per x86-64 level, with -DSEL_LEVEL=v2, v3 or v4 (`any`
 * on other processors), and defines one table of functions per level. No arithmetic is contracted
 * or reordered, so that all levels give the same bits.
 */
#ifndef SEL_KERNEL_H
#define SEL_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define SEL_INLINE static inline __attribute__((always_inline))

/* Stands before a loop whose iterations do not depend on each other. (Not `omp simd`: with it gcc
 * keeps the arrays of inlined functions in memory and gives up.) */
#if defined(__clang__)
#define SEL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SEL_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define SEL_JOIN_NAMES(a, b) a##_##b
#define SEL_JOIN(a, b) SEL_JOIN_NAMES(a, b)

/* SEL_OF_LEVEL: the name of a table of this level, such as name_v3. SEL_OF_REAL: the name of a
 * function in the precision REAL (name_float, name_double), for files that are included once per
 * precision. */
#define SEL_OF_LEVEL(name) SEL_JOIN(name, SEL_LEVEL)
#define SEL_OF_REAL(name) SEL_JOIN(name, REAL)

/* ---- streaming stores: they bypass the caches ----
 *
 * A plain store first fetches its cache line; a streaming store does not. So a copy by streaming
 * stores moves two thirds of the bytes. They suit lines that are not read again soon. Each thread
 * calls sel_stream_end before other threads read its data. The width of a store is the largest of
 * the instruction set that the including file is compiled for.
 */

#if defined(__AVX512F__)
#define SEL_STREAM_BYTES 64
static inline void sel_stream_one(char *to, const char *from) {
    _mm512_stream_si512((__m512i *)(void *)to, _mm512_loadu_si512(from));
}
#elif defined(__AVX__)
#define SEL_STREAM_BYTES 32
static inline void sel_stream_one(char *to, const char *from) {
    _mm256_stream_si256((__m256i *)(void *)to,
                        _mm256_loadu_si256((const __m256i *)(const void *)from));
}
#elif defined(__x86_64__)
#define SEL_STREAM_BYTES 16
static inline void sel_stream_one(char *to, const char *from) {
    _mm_stream_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)from));
}
#else
#define SEL_STREAM_BYTES 64
static inline void sel_stream_one(char *to, const char *from) {
    memcpy(to, from, SEL_STREAM_BYTES);
}
#endif

/* Copies one cache line of 64 bytes; `to` is aligned to 64 bytes. */
static inline void sel_stream_line(void *to, const void *from) {
    for (int k = 0; k < 64; k += SEL_STREAM_BYTES) {
        sel_stream_one((char *)to + k, (const char *)from + k);
    }
}

static inline void sel_stream_end(void) {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

#endif
