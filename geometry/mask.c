/* mask.c -- shapes from pixels: pictures and rasters. */
#include "geometry/mask.h"

#include <math.h>

static const sel_field image_fields[] = {
    SEL_ROW(sel_shape_image, file, FILE,
            "A picture (.png) with a pixel for each cell, the top row first; a path relative to "
            "the script.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW(sel_shape_image, threshold, NUMBER,
            "Pixels darker than this are inside: 0 is black, 1 is white.", .preset = 0.5),
    SEL_ROW(sel_shape_image, invert, BOOL, "The other pixels are inside instead."),
};
static const sel_field raster_fields[] = {
    SEL_ROW(sel_shape_raster, raster, RASTER, "A raster made by sel.raster.",
            .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_raster, above, NUMBER, "Inside is where the raster is greater than this.",
            .flags = SEL_REQUIRED, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_shape_image_table = SEL_TABLE(
    "shape.image", sel_shape_image, image_fields,
    "The dark pixels of a picture that covers a two-dimensional domain, a pixel on each cell.");
const sel_table sel_shape_raster_table =
    SEL_TABLE("shape.raster", sel_shape_raster, raster_fields,
              "Where a raster is above a value; nowhere outside of the raster.");

sel_status sel_shape_image_read(sel_arena *arena, sel_shape_image *image, sel_error *error) {
    sel_error own = {.status = SEL_OK};
    sel_error *to = error ? error : &own;
    image->pixels = sel_raster_read_picture(arena, image->file, to);
    return image->pixels ? SEL_OK : to->status;
}

/* The pixel on the cell that a point lies in, or next to. */
static int64_t pixel_at(const sel_grid *grid, int axis, double at) {
    double cell = floor((at - grid->origin[axis]) / grid->dx);
    return (int64_t)fmin(fmax(cell, 0), (double)grid->n[axis] - 1);
}

bool sel_shape_image_contains(const sel_shape_image *image, const sel_grid *grid,
                              const double p[3]) {
    int64_t i = pixel_at(grid, 0, p[0]), j = pixel_at(grid, 1, p[1]);
    bool dark = image->pixels->value[j * image->pixels->n[0] + i] < image->threshold;
    return dark != image->invert;
}

bool sel_shape_raster_contains(const sel_shape_raster *shape, const double p[3]) {
    return sel_raster_value(shape->raster->data, p[0], p[1]) > shape->above;
}

sel_status sel_shape_image_check(const sel_shape *shape, const sel_grid *grid, sel_error *error) {
    const sel_shape_image *image = shape->data;
    const int64_t *n = image->pixels->n;
    if (grid->dims != 2) {
        return sel_fail_at(error, shape->where,
                           "shape.image: a picture fills a domain of 2 dimensions, this one has %d",
                           grid->dims);
    }
    if (n[0] != grid->n[0] || n[1] != grid->n[1]) {
        return sel_fail_at(error, shape->where,
                           "shape.image: %s has %lld x %lld pixels, the domain %lld x %lld cells; "
                           "there must be a pixel for each cell",
                           image->file, (long long)n[0], (long long)n[1], (long long)grid->n[0],
                           (long long)grid->n[1]);
    }
    return SEL_OK;
}
