/* mask.h -- shapes from pixels: pictures and rasters. */
#ifndef SEL_MASK_H
#define SEL_MASK_H

#include "geometry/raster.h"
#include "geometry/shape.h"

/* shape.image: the pixels of a picture are the cells of a two-dimensional domain. */
typedef struct sel_shape_image {
    const char *file; /* as it is to be opened */
    double threshold;
    bool invert;
    const sel_raster *pixels; /* of sel_shape_image_read */
} sel_shape_image;

/* shape.raster: where a raster is above a value. */
typedef struct sel_shape_raster {
    const sel_lookup *raster; /* of sel_raster_create */
    double above;
} sel_shape_raster;

extern const sel_table sel_shape_image_table, sel_shape_raster_table;

/* Reads the picture of image->file into the arena. */
sel_status sel_shape_image_read(sel_arena *arena, sel_shape_image *image, sel_error *error);

/* Whether point p lies inside an image (its pixels laid upon the cells of the grid; on a face of
 * the domain the pixel next to it) or a raster (false outside of it and where there are no data).
 */
bool sel_shape_image_contains(const sel_shape_image *image, const sel_grid *grid,
                              const double p[3]);
bool sel_shape_raster_contains(const sel_shape_raster *shape, const double p[3]);

/* Refuses an image that has not a pixel for each cell. */
sel_status sel_shape_image_check(const sel_shape *shape, const sel_grid *grid, sel_error *error);

#endif
