/* raster.h -- values on a plane, read from a picture. */
#ifndef SEL_RASTER_H
#define SEL_RASTER_H

#include <stdint.h>
#include "engine/arena.h"
#include "engine/lookup.h"
#include "engine/physics/raster.h"
#include "engine/schema.h"

/* What sel.raster{} takes. */
typedef struct sel_raster_params {
    const char *file; /* as it is to be opened */
    double scale, offset;
    double nodata; /* NaN: none */
} sel_raster_params;

extern const sel_table sel_raster_table;

/* Reads the raster of a file; its format is told by the end of its name. The values of a picture
 * are 0 (black) to 1 (white). All in the arena. NULL after an error that names the file. */
sel_raster *sel_raster_read(sel_arena *arena, const char *path, sel_error *error);

/* A lookup r(x, y) whose data are a sel_raster: bilinear between the centres of pixels, constant
 * beyond the outermost ones, an error outside of the raster and where there are no data. NULL after
 * an error that names the file, or `where`. */
const sel_lookup *sel_raster_create(sel_arena *arena, const sel_raster_params *params,
                                    sel_where where, sel_error *error);

/* The value at a point as above; NaN outside and where there are no data. */
double sel_raster_value(const sel_raster *raster, double x, double y);

/* A picture in memory as a file has it: the top row first. `value`: malloc. */
typedef struct sel_picture {
    int64_t width, height;
    double *value;
} sel_picture;

/* raster_png.c: the luminance of a PNG, 0 to 1, transparent pixels upon white. */
sel_status sel_png_read(const char *name, const uint8_t *bytes, size_t length, sel_picture *picture,
                        sel_error *error);

#endif
