/* fuzz_mask.c -- libFuzzer: any bytes as a .npy, .raw or .vti file of a mask. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A mask that is read has a mark for each cell, and takes no more memory than the file can fill. */
static void read_mask(const char *bytes, size_t size, sel_mask_reader *read,
                      const sel_mask_params *params) {
    static sel_error error;
    sel_mask mask = {.marked = NULL};
    sel_arena *arena = sel_arena_create();
    memset(&error, 0, sizeof error);
    sel_mask_source source = {.params = params,
                              .name = "fuzz",
                              .bytes = bytes,
                              .length = size,
                              .arena = arena,
                              .to = &mask,
                              .error = &error};
    const sel_status status = read(&source);
    assert((status == SEL_OK) == (error.text[0] == '\0'));
    assert(arena->held <= ((size_t)1 << 17) + 1100 * size);
    for (int64_t i = 0; status == SEL_OK && i < mask.n[0] * mask.n[1] * mask.n[2]; i++)
        assert(mask.marked[i] <= 1);
    sel_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const sel_mask_params plain = {.threshold = 0.5, .type = -1},
                          named = {.threshold = 2, .invert = true, .type = -1, .array = "b"},
                          raw = {.threshold = 9, .size = {3, {(int64_t)size / 8, 2, 1}}, .type = 4};
    char *copy = malloc(size + 1); /* so that reading beyond the end is seen */
    if (!copy)
        return -1;
    memcpy(copy, data, size);
    copy[size] = 0;
    read_mask(copy, size, sel_npy_read, &plain);
    read_mask(copy, size, sel_vti_read, &plain);
    read_mask(copy, size, sel_vti_read, &named);
    read_mask(copy, size, sel_raw_read, &raw);
    free(copy);
    return 0;
}
