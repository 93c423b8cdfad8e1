/* grid_file.h -- files of rasters: grids as ESRI ASCII (.asc) and GeoTIFF (.tif), read and written,
 * and pictures (.png), read.
 */
#ifndef SEL_GRID_FILE_H
#define SEL_GRID_FILE_H

#include <stdio.h>
#include "engine/io/raster.h"

/* Tags of a GeoTIFF: OGC GeoTIFF 1.1, and GDAL's own. */
enum {
    SEL_TAG_PIXEL_SCALE = 33550,
    SEL_TAG_TIE_POINT = 33922,
    SEL_TAG_TRANSFORMATION = 34264,
    SEL_TAG_KEY_DIRECTORY = 34735,
    SEL_TAG_KEY_DOUBLES = 34736,
    SEL_TAG_KEY_TEXT = 34737,
    SEL_TAG_METADATA = 42112,
    SEL_TAG_NODATA = 42113
};

/* ---- reading ---- */

/* A raster that is read from a file. */
typedef struct sel_raster_source {
    /* Given by the caller. */
    sel_arena *arena; /* gets the values and keys */
    const char *name; /* for messages */
    FILE *file;
    double file_bytes;
    size_t most_bytes; /* that its values may take; 0: all that is free */
    sel_error *error;

    /* Read, the values not scaled yet. */
    sel_raster raster;
    double nodata;            /* the value that stands for no data; NaN: none */
    bool exact;               /* it has to be met exactly, not to six digits */
    bool picture;             /* without a place */
    double scale, offset;     /* the values are scale * value in the file + offset */
    const sel_geo_keys *keys; /* NULL: none */
} sel_raster_source;

/* Grids with their place; and the luminance of a PNG, 0 to 1, transparent pixels upon white. */
typedef sel_status sel_raster_reader(sel_raster_source *to);
sel_raster_reader sel_asc_read, sel_tif_read, sel_png_read;

/* Fails with SEL_BAD_FILE: the file's name, and what is wrong with it. */
sel_status sel_raster_refuse(const sel_raster_source *source, const char *format, ...)
    SEL_PRINTF(2, 3);

/* Takes the memory for n[0] x n[1] values of a raster that has its place; refuses a place that is
 * not finite, and values that take more memory than there may be. */
sel_status sel_raster_allocate(sel_raster_source *source);

/* Refuses cells that are not square, to six digits. */
sel_status sel_raster_check_square(const sel_raster_source *source, double dx, double dy);

/* Reads the .prj beside file->path where there is one, and makes keys of it when there are none.
 * Fails where it cannot be read. */
sel_status sel_map_read_prj(sel_arena *arena, sel_raster_file *file, sel_error *error);

/* Whether the coordinates of a pixel are those of its centre (PixelIsPoint), not of its corner. */
bool sel_geo_keys_are_points(const sel_geo_keys *keys);

/* ---- writing ---- */

/* The number in a file where there are no data. */
#define SEL_GRID_NODATA (-9999)

/* What is written. Row 0 is the southernmost; NaN: no data. */
typedef struct sel_grid_file {
    int64_t n[2];
    double dx, origin[2];     /* the lower left corner */
    const float *value;       /* n[1] rows of n[0] */
    const sel_geo_keys *keys; /* for .tif; NULL: none */
    const char *prj;          /* for the .prj beside an .asc; NULL: none */
} sel_grid_file;

/* Write all of the grid to `to`, which stays open; what is `wrong` stays "" where errno says it.
 * Numbers read back as the same float. */
enum { SEL_WRONG_ROOM = 240 };
typedef void sel_grid_writer(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]);
sel_grid_writer sel_asc_write, sel_tif_write, sel_prj_write;

/* Writes PATH.tmp by one of the above and renames it to PATH when it is whole. */
sel_status sel_grid_file_write(const sel_grid_file *grid, sel_grid_writer *write, const char *path,
                               sel_error *error);

#endif
