/* canvas.h -- a picture of coloured pixels: areas, text, and its PNG file. */
#ifndef SEL_CANVAS_H
#define SEL_CANVAS_H

#include "engine/output/colour.h"
#include "engine/status.h"

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

/* Digits, small letters and . - + _ =, with pixels `size` large, from the upper left corner on. */
void sel_canvas_text(sel_canvas *canvas, int x, int y, int size, const char *text,
                     sel_colour colour);
int sel_canvas_text_width(const char *text, int size);
int sel_canvas_text_height(int size);

/* Writes PATH.tmp and renames it: PATH is whole or what it was. SEL_BAD_FILE. */
sel_status sel_canvas_write(const sel_canvas *canvas, const char *path, sel_error *error);

#endif
