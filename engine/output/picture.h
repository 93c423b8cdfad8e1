/* picture.h -- drawing PNG files: colour maps, a canvas, the plot of a plane, a curve. */
#ifndef SEL_PICTURE_H
#define SEL_PICTURE_H

#include <stdint.h>
#include "engine/output/kind.h"

/* ---- perceptually uniform colour maps ---- */

typedef struct sel_colour {
    uint8_t r, g, b; /* sRGB */
} sel_colour;

enum { SEL_COLOURS = 256 };

/* The colours of a map, SEL_COLOURS_DEEP ..., from the smallest value to the largest. */
void sel_colour_table(int map, sel_colour table[SEL_COLOURS]);

/* Alpha blending: `layer` over `below`; opacity 0 to 1. */
sel_colour sel_colour_over(sel_colour layer, double opacity, sel_colour below);

/* ---- a canvas: areas, text, and its PNG file ---- */

/* pixels[height][width]; row 0 is the top. */
typedef struct sel_canvas {
    int width, height;
    sel_colour *pixels;
} sel_canvas;

/* Creates a canvas filled with one colour. SEL_NO_DEVICE: no memory. */
sel_status sel_canvas_create(int width, int height, sel_colour colour, sel_canvas *canvas,
                             sel_error *error);
void sel_canvas_free(sel_canvas *canvas);

/* Fills a rectangle, clipped to the canvas. */
void sel_canvas_fill(sel_canvas *canvas, int x, int y, int width, int height, sel_colour colour);

/* Draws text with its upper left corner at (x, y). A glyph is SEL_TEXT_HEIGHT units high, a unit is
 * `size` pixels. Glyphs exist for digits, letters and . - + _ = : / and comma. */
enum { SEL_TEXT_HEIGHT = 7 };
void sel_canvas_text(sel_canvas *canvas, int x, int y, int size, const char *text,
                     sel_colour colour);
int sel_canvas_text_width(const char *text, int size);

/* Fails unless `path` is free or a PNG file: see sel_file_may_replace. */
sel_status sel_canvas_may_write(const char *path, const char *instead, sel_error *error);

/* Writes a PNG file atomically: `path` is either complete or unchanged. SEL_BAD_FILE. */
sel_status sel_canvas_write(const sel_canvas *canvas, const char *path, sel_error *error);

/* ---- a plane of values as a picture, with a colour bar ---- */

/* How a cell is drawn: by its value, grey, or blank (no data). */
enum { SEL_PLANE_FREE, SEL_PLANE_SOLID, SEL_PLANE_NODATA };

/* Brightness of level ground in a relief, 0 to 1. */
double sel_relief_flat(void);

typedef struct sel_plot {
    int64_t n[2];                     /* number of values along the two axes */
    int64_t first[2], every[2];       /* value k belongs to cell first + k * every */
    double dx[2];                     /* sides of a cell along the axes */
    double span[2], start;            /* in cells; index of the lower borders: -1/2, nodes 0 */
    const float *values;              /* [n[1]][n[0]] */
    const uint8_t *solid;             /* [n[1]][n[0]], SEL_PLANE_FREE ... */
    const sel_picture_params *params; /* its colours, min, max, scale, exaggeration and above */
    const char *title;
    const float *relief; /* heights [n[1]][n[0]] of the relief, in the unit of dx; NULL: none */
} sel_plot;

/* Width and height of the field in pixels. params->scale is pixels per shorter side of a cell; NaN:
 * about 1000 pixels along the longer side. */
void sel_plot_size(const sel_plot *plot, double size[2]);

/* Draws a plane of values; creates the canvas.
 *
 *     +-----------------+
 *     |      field      |  second axis upwards, linear between the centres of cells
 *     +-----------------+
 *     | colour bar      |
 *     | its numbers     |
 *     | title           |
 *     +-----------------+
 *
 * Solids are grey, NaN is magenta. A relief is grey, lit from the upper left; the colours over it
 * are translucent. SEL_NO_DEVICE: no memory. */
sel_status sel_plot_draw(const sel_plot *plot, sel_canvas *canvas, sel_error *error);

/* ---- a curve ---- */

/* Draws series 1 of a record, titled `what`, over series 0, steps, into a PNG file. The vertical
 * axis is logarithmic; numbers that are not positive are left out. SEL_BAD_FILE. */
sel_status sel_curve_draw(const sel_record *record, const char *what, const char *path,
                          sel_error *error);

#endif
