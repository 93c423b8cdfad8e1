/* stream.h -- streaming stores, which bypass the caches, as wide as the includer's instruction set
 * allows.
 *
 * A plain store first fetches its cache line; a streaming store does not. So a copy by streaming
 * stores moves two thirds of the bytes. They suit lines that are not read again soon. Each thread
 * calls sel_stream_end before other threads read its data.
 */
#ifndef SEL_STREAM_H
#define SEL_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
