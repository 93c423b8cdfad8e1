/* picture.h -- what pictures are made of: colours, a canvas, the plane of a field, its plot. */
#ifndef SEL_PICTURE_H
#define SEL_PICTURE_H

#include <stdint.h>
#include "engine/output/output.h"

/* ---- colours: maps that the eye reads as even steps ---- */

typedef struct sel_colour {
    uint8_t r, g, b; /* sRGB */
} sel_colour;

enum { SEL_COLOURS = 256 };

/* The whole map SEL_COLOURS_DEEP ..., from the smallest value to the largest. */
void sel_colour_table(int map, sel_colour table[SEL_COLOURS]);

/* What is seen where a layer of a colour lies over another one: opacity 0 to 1. */
sel_colour sel_colour_over(sel_colour layer, double opacity, sel_colour below);

/* ---- a canvas: areas, text, and its PNG file ---- */

/* Row 0 is the top. */
typedef struct sel_canvas {
    int width, height;
    sel_colour *pixels;
} sel_canvas;

/* A canvas of one colour. */
sel_status sel_canvas_create(int width, int height, sel_colour colour, sel_canvas *canvas,
                             sel_error *error);
void sel_canvas_free(sel_canvas *canvas);

/* The part of a rectangle that lies on the canvas. */
void sel_canvas_fill(sel_canvas *canvas, int x, int y, int width, int height, sel_colour colour);

/* Digits, letters and . - + _ = : / and comma, SEL_TEXT_HEIGHT pixels high that are `size` large,
 * from the upper left corner on. */
enum { SEL_TEXT_HEIGHT = 7 };
void sel_canvas_text(sel_canvas *canvas, int x, int y, int size, const char *text,
                     sel_colour colour);
int sel_canvas_text_width(const char *text, int size);

/* Writes PATH.tmp and renames it: PATH is whole or what it was. SEL_BAD_FILE. */
sel_status sel_canvas_write(const sel_canvas *canvas, const char *path, sel_error *error);

/* ---- the plane of a 3-D field ---- */

/* A plane across one axis: the layer of cells whose centres it holds, or the two layers about it,
 * between which values are linear. In 2-D the only layer. */
typedef struct sel_plane {
    int axis;     /* across the plane */
    int64_t n[2]; /* cells along the other two axes, the lower first */
    sel_box box;  /* the cells of the layers */
    int layers;
    double weight[2]; /* of the layers in the order of the box; their sum is 1 */
} sel_plane;

/* The plane of a slice that was checked. Periodic axes wrap; within half a cell of other faces the
 * last layer holds. */
sel_plane sel_plane_make(const sel_grid *grid, const sel_slice *slice);

/* What a cell is. */
enum { SEL_PLANE_FREE, SEL_PLANE_SOLID, SEL_PLANE_NODATA };

/* solid[cells of the box]: whether a cell is solid, and whether for want of data. */
void sel_plane_solids(const sel_plane *plane, const sel_domain *domain, uint8_t *solid);

/* Makes one layer of the box's, in place: values[cells of the box][components] becomes
 * values[n[1]][n[0]][components] and solid[n[1]][n[0]]. A place is solid where the cell is that
 * holds it, on the border of two layers where both cells are; solid cells have no part in values.
 */
void sel_plane_flatten(const sel_plane *plane, int components, float *values, uint8_t *solid);

/* ---- a plane of values as a picture, with a colour bar ---- */

/* Brightness of flat ground in a relief, 0 to 1. */
double sel_relief_flat(void);

typedef struct sel_plot {
    int64_t n[2];        /* cells along the two axes */
    const float *values; /* [n[1]][n[0]] */
    const uint8_t
        *solid; /* SEL_PLANE_FREE ...: drawn grey, or left blank where there are no data */
    const sel_out_picture *params; /* its colours, min, max, scale, exaggeration and above */
    const char *title;
    const float *relief; /* [n[1]][n[0]] heights of a surface under the values; NULL: none */
    double dx;           /* side of a cell, in the unit of heights */
} sel_plot;

/* Pixels per cell that `scale` or its default gives. */
double sel_plot_scale(double scale, const int64_t n[2]);

/* The field stands at the top of the canvas, in the middle of its width, row 0 being the upper end
 * of the second axis: linear between the centres of cells, solids grey, what is not a number
 * magenta. Over a relief, grey in light from the upper left, colours are translucent. The bar with
 * its numbers and the title stand below. */
sel_status sel_plot_draw(const sel_plot *plot, sel_canvas *canvas, sel_error *error);

#endif
