/* vti_file.h -- takes the bytes of a .vti file apart, for tests that need no VTK. */
#ifndef VTI_FILE_H
#define VTI_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static inline char *find_text(const char *bytes, size_t size, const char *text) {
    return memmem(bytes, size, text, strlen(text));
}

static inline uint64_t word_at(const char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* The byte from which the arrays' offsets count. */
static inline const char *appended_data(const char *bytes, size_t size) {
    const char *tag = find_text(bytes, size, "<AppendedData");
    assert_non_null(tag);
    return strstr(tag, "\n   _") + 5;
}

/* Decodes the compressed array at `data`; returns its number of bytes. */
static inline size_t decode_array(const char *data, void *to, size_t room) {
    uint64_t blocks = word_at(data), block = word_at(data + 8), partial = word_at(data + 16);
    const char *stream = data + 24 + 8 * blocks;
    size_t total = 0;
    for (uint64_t b = 0; b < blocks; b++) {
        uLongf length = (uLongf)(room - total);
        uint64_t compressed = word_at(data + 24 + 8 * b);
        assert_int_equal(
            uncompress((Bytef *)to + total, &length, (const Bytef *)stream, (uLong)compressed),
            Z_OK);
        assert_int_equal(length, b + 1 == blocks && partial ? partial : block);
        stream += compressed;
        total += length;
    }
    return total;
}

/* Copies the array `name`, compressed or not, to `to`; returns its number of bytes. */
static inline size_t array_of(const char *bytes, size_t size, const char *name, void *to,
                              size_t room) {
    char attribute[128];
    snprintf(attribute, sizeof attribute, "Name=\"%s\"", name);
    const char *element = find_text(bytes, size, attribute);
    assert_non_null(element);
    const char *data = appended_data(bytes, size) +
                       strtoull(strstr(element, "offset=\"") + strlen("offset=\""), NULL, 10);
    if (find_text(bytes, size, "compressor=")) {
        return decode_array(data, to, room);
    }
    size_t length = (size_t)word_at(data);
    assert_true(length <= room);
    memcpy(to, data + 8, length);
    return length;
}

#endif
