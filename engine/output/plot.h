/* plot.h -- a plane of values as a picture, with a colour bar. */
#ifndef SEL_PLOT_H
#define SEL_PLOT_H

#include <stdint.h>
#include "engine/output/canvas.h"
#include "engine/output/tables.h"

typedef struct sel_plot {
    int64_t n[2];        /* cells along the two axes */
    const float *values; /* [n[1]][n[0]] */
    const uint8_t
        *solid;      /* SEL_PLANE_FREE ...: drawn grey, or left blank where there are no data */
    int colours;     /* SEL_COLOURS_AUTO ... */
    double min, max; /* NaN: of the values outside solids */
    double scale;    /* pixels per cell; NaN: the longer side has about 1000 */
    const char *title;
    const float *relief; /* [n[1]][n[0]] heights of a surface under the values; NULL: none */
    double dx;           /* side of a cell, in the unit of heights */
    double exaggeration; /* of heights; NaN: see sel_relief_shade */
    double above;        /* over a relief values up to this are not drawn */
} sel_plot;

/* Pixels per cell that `scale` or its default gives. */
double sel_plot_scale(double scale, const int64_t n[2]);

/* Pixels of the field alone along an axis of `cells`, at least one. */
int sel_plot_pixels(double scale, int64_t cells);

/* The field stands at the top of the canvas, in the middle of its width, row 0 being the upper end
 * of the second axis: linear between the centres of cells, solids grey, what is not a number
 * magenta. Over a relief, grey in light from the upper left, colours are translucent. The bar with
 * its numbers and the title stand below. */
sel_status sel_plot_draw(const sel_plot *plot, sel_canvas *canvas, sel_error *error);

#endif
