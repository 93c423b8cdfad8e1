/* grid_file.h -- grids of numbers written as maps: ESRI ASCII (.asc) and GeoTIFF (.tif). */
#ifndef SEL_GRID_FILE_H
#define SEL_GRID_FILE_H

#include "geometry/raster.h"

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

/* Write all of the grid to `to`, which stays open. On an error errno is of no use where the message
 * in `wrong` is not empty. Numbers read back as the same float. */
enum { SEL_WRONG_ROOM = 240 };
bool sel_asc_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]);
bool sel_tif_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]);
bool sel_prj_write(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]);

/* Writes PATH.tmp by one of the above and renames it to PATH when it is whole. */
typedef bool sel_grid_writer(const sel_grid_file *grid, FILE *to, char wrong[SEL_WRONG_ROOM]);
sel_status sel_grid_file_write(const sel_grid_file *grid, sel_grid_writer *write, const char *path,
                               sel_error *error);

#endif
