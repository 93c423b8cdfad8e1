/* fuzz_png.c -- libFuzzer: any bytes as a PNG picture.
 *
 * Changed bytes would end at the checksum of their chunk, so the checksums are made right first.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "engine/io/raster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t read_u32(const uint8_t *at) {
    return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

static void mend_checksums(uint8_t *data, size_t size) {
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = read_u32(data + at);
        if (length > size - at - 12)
            return;
        uint32_t sum = (uint32_t)crc32(0, data + at + 4, (uInt)(length + 4));
        for (int i = 0; i < 4; i++)
            data[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sel_error error;
    uint8_t *copy = malloc(size ? size : 1);
    sel_arena *arena = sel_arena_create();
    FILE *file = copy && size ? fmemopen(copy, size, "rb") : NULL;
    if (!arena || !file) {
        sel_arena_destroy(arena);
        free(copy);
        return -1;
    }
    memcpy(copy, data, size);
    mend_checksums(copy, size);
    memset(&error, 0, sizeof error);
    sel_raster_source source = {.arena = arena,
                                .name = "fuzz.png",
                                .file = file,
                                .file_bytes = (double)size,
                                .error = &error};
    sel_status status = sel_png_read(&source);
    const sel_raster *picture = &source.raster;
    fclose(file);
    assert((status == SEL_OK) == (error.text[0] == '\0'));
    for (int64_t i = 0; status == SEL_OK && i < picture->n[0] * picture->n[1]; i++)
        assert(picture->value[i] >= 0 && picture->value[i] <= 1);
    sel_arena_destroy(arena);
    free(copy);
    return 0;
}
