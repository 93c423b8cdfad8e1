/* grid.h -- what the fuzz targets of the grid readers share. */
#ifndef FUZZ_GRID_H
#define FUZZ_GRID_H

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/raster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A grid that is read has a place, and all of its values in memory; one that is not has a message.
 * Neither takes much more memory than the file can fill. */
static int fuzz_grid(const uint8_t *data, size_t size, sel_raster_reader *read) {
    static sel_error error;
    double sum = 0;
    sel_arena *arena = sel_arena_create();
    FILE *file = tmpfile(); /* libtiff reads its descriptor */
    if (!arena || !file || !size || fwrite(data, 1, size, file) != size) {
        sel_arena_destroy(arena);
        if (file)
            fclose(file);
        return -1;
    }
    rewind(file);
    memset(&error, 0, sizeof error);
    sel_raster_source source = {
        .arena = arena, .name = "fuzz", .file = file, .file_bytes = (double)size, .error = &error};
    sel_status status = read(&source);
    fclose(file);
    assert((status == SEL_OK) == (error.text[0] == '\0'));
    assert(arena->held <= ((size_t)1 << 16) + 8 * 2800 * size);
    if (status == SEL_OK) {
        const sel_raster *r = &source.raster;
        assert(r->n[0] >= 1 && r->n[1] >= 1 && r->dx > 0);
        assert(isfinite(r->dx + r->origin[0] + r->origin[1]));
        for (int64_t i = 0; i < r->n[0] * r->n[1]; i++)
            sum += r->value[i];
        for (size_t i = 0; source.keys && i < source.keys->directory_count; i++)
            sum += source.keys->directory[i];
        sum += source.keys && source.keys->text ? (double)strlen(source.keys->text) : 0;
    }
    sel_arena_destroy(arena);
    volatile double use = sum; /* so that all of it is read */
    (void)use;
    return 0;
}

#endif
