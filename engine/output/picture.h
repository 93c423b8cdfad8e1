/* picture.h -- what pictures are made of: colours, a canvas, the plot of a plane of values. */
#ifndef SEL_PICTURE_H
#define SEL_PICTURE_H

#include <stdint.h>
#include "engine/output/kind.h"

/* ---- colours: maps that the eye reads as even steps ---- */

typedef struct sel_colour {
    uint8_t r, g, b; /* sRGB */
} sel_colour;

enum { SEL_COLOURS = 256 };

/* The whole map SEL_COLOURS_DEEP ..., from the smallest value to the largest. */
void sel_colour_table(int map, sel_colour table[SEL_COLOURS]);

/* A layer of a colour blended over another one: opacity 0 to 1. */
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

/* Whether a picture may be written to `path`, which no run has claimed: see sel_file_may_replace.
 */
sel_status sel_canvas_may_write(const char *path, const char *instead, sel_error *error);

/* Writes PATH.tmp and renames it: PATH is whole or what it was. SEL_BAD_FILE. */
sel_status sel_canvas_write(const sel_canvas *canvas, const char *path, sel_error *error);

/* ---- a plane of values as a picture, with a colour bar ---- */

/* What a cell is: drawn by its value, grey, or left blank where there are no data. */
enum { SEL_PLANE_FREE, SEL_PLANE_SOLID, SEL_PLANE_NODATA };

/* Brightness of flat ground in a relief, 0 to 1. */
double sel_relief_flat(void);

typedef struct sel_plot {
    int64_t n[2];                  /* values along the two axes, */
    int64_t first[2], every[2];    /* of the cells first, first + every, ... */
    double dx[2];                  /* sides of a cell along the axes */
    double span[2], start;         /* cells from border to border; the index of the lower ones */
    const float *values;           /* [n[1]][n[0]] */
    const uint8_t *solid;          /* SEL_PLANE_FREE ... */
    const sel_out_picture *params; /* its colours, min, max, scale, exaggeration and above */
    const char *title;
    const float *relief; /* [n[1]][n[0]] heights of a surface under the values, in the unit of dx;
                            NULL: none */
} sel_plot;

/* The width and height of the field in pixels, by the `scale` of the parameters or its default:
 * pixels for the shorter side of a cell. */
void sel_plot_size(const sel_plot *plot, double size[2]);

/* The field stands at the top of the canvas, in the middle of its width, row 0 being the upper end
 * of the second axis: linear between the centres of cells, solids grey, what is not a number
 * magenta. Over a relief, grey in light from the upper left, colours are translucent. The bar with
 * its numbers and the title stand below. */
sel_status sel_plot_draw(const sel_plot *plot, sel_canvas *canvas, sel_error *error);

/* ---- a curve ---- */

/* Draws series 1 of a record, `what`, over series 0, steps, into a PNG file: its powers of ten
 * upwards, without numbers that are not above 0. */
sel_status sel_curve_draw(const sel_record *record, const char *what, const char *path,
                          sel_error *error);

#endif
