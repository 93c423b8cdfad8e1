/* raster.h -- values on a plane, read from a picture or a grid of terrain. */
#ifndef SEL_RASTER_H
#define SEL_RASTER_H

#include <stdint.h>
#include <stdio.h>
#include "engine/arena.h"
#include "engine/quantity.h"
#include "engine/physics/raster.h"
#include "engine/schema.h"

/* What sel.raster{} takes. */
typedef struct sel_raster_params {
    const char *file; /* as it is to be opened */
    double scale, offset;
    double nodata;     /* NaN: the file's own */
    double fill;       /* NaN: none */
    size_t most_bytes; /* that its values may take; 0: all that is free */
} sel_raster_params;

extern const sel_table sel_raster_table;

/* What a GeoTIFF says of its map projection, as it stands in the file. */
typedef struct sel_geo_keys {
    size_t directory_count, double_count, text_count;
    const uint16_t *directory; /* tag 34735 */
    const double *doubles;     /* 34736 */
    const char *text;          /* 34737, a NUL behind it */
} sel_geo_keys;

/* A value of a file that stands for no data in most files that hold it, but was not declared so. */
typedef struct sel_undeclared {
    double value;  /* in the file */
    double scaled; /* in the raster */
    int64_t count;
} sel_undeclared;

/* What is known of a raster beside its values. All in the arena. */
typedef struct sel_raster_file {
    const char *path;
    const sel_geo_keys *keys; /* of the map that it is drawn on; NULL: none */
    const char *prj;          /* the text of the .prj file beside it; NULL: none */
    double nodata;            /* the value of the file that stood for no data; NaN: none */
    bool nodata_given;        /* by the script */
    int64_t gaps;             /* values that stood for no data */
    int undeclared_count;
    const sel_undeclared *undeclared; /* the most frequent first */
} sel_raster_file;

/* Whether the coordinates of a pixel are those of its centre (PixelIsPoint), not of its corner. */
bool sel_geo_keys_are_points(const sel_geo_keys *keys);

/* The value of a key that stands in the directory itself; 0: there is none, or `keys` is NULL. */
int sel_geo_key(const sel_geo_keys *keys, int wanted);

/* The pixels of the picture in a file, for shape.image: 0 (black) to 1 (white). All in the arena.
 * NULL after an error that names the file. */
sel_raster *sel_raster_read_picture(sel_arena *arena, const char *path, sel_error *error);

/* A lookup r(x, y) whose data are a sel_raster: bilinear between the centres of pixels, constant
 * beyond the outermost ones, an error outside of the raster and where there are no data. NULL after
 * an error that names the file, or `where`. */
const sel_lookup *sel_raster_create(sel_arena *arena, const sel_raster_params *params,
                                    sel_where where, sel_error *error);

/* The raster of a lookup; NULL for a lookup of another kind, and for NULL. */
const sel_raster *sel_raster_of(const sel_lookup *lookup);

/* The value at a point as above; NaN outside and where there are no data. */
double sel_raster_value(const sel_raster *raster, double x, double y);

/* ---- formats ---- */

/* What is read from a file, not scaled yet. */
typedef struct sel_raster_source {
    sel_raster raster;    /* its arrays in the arena */
    double nodata;        /* the value that stands for no data; NaN: none */
    bool exact;           /* it has to be met exactly, not to six digits */
    bool picture;         /* without a place */
    double scale, offset; /* the values are scale * value in the file + offset; 0, 0: as they are */
    const sel_geo_keys *keys; /* NULL: none */
    size_t most_bytes; /* that its values may take; 0: all that is free. Given by the caller */
} sel_raster_source;

/* raster_asc.c and raster_tif.c: grids with their place. `name` is for messages. */
sel_status sel_asc_read(sel_arena *arena, const char *name, FILE *file, sel_raster_source *to,
                        sel_error *error);
sel_status sel_tif_read(sel_arena *arena, const char *name, FILE *file, sel_raster_source *to,
                        sel_error *error);

/* Takes the memory for n[0] x n[1] values of a raster that has its place; refuses a place that is
 * not finite, and values that take more memory than there may be. */
sel_status sel_raster_allocate(sel_arena *arena, const char *name, sel_raster_source *source,
                               sel_error *error);

/* Refuses cells that are not square, to six digits. */
sel_status sel_raster_check_square(const char *name, double dx, double dy, sel_error *error);

/* A picture in memory as a file has it: the top row first. `value`: malloc. */
typedef struct sel_picture {
    int64_t width, height;
    double *value;
} sel_picture;

/* undeclared.c: counts values that stand for no data in most files that hold them. `found`
 * [SEL_UNDECLARED] begins as zeros; sorting leaves those that were met, the most frequent first,
 * and returns how many. */
enum { SEL_UNDECLARED = 6 };
void sel_undeclared_count(sel_undeclared *found, double value, double scaled);
int sel_undeclared_sort(sel_undeclared *found);

/* raster_png.c: the luminance of a PNG, 0 to 1, transparent pixels upon white. */
sel_status sel_png_read(const char *name, const uint8_t *bytes, size_t length, sel_picture *picture,
                        sel_error *error);

#endif
