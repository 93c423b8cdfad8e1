/* canvas.c -- a picture of coloured pixels: areas, text, and its PNG file. */
#include "engine/output/canvas.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/file.h"
#include "engine/output/glyphs.h"

sel_status sel_canvas_create(int width, int height, sel_colour colour, sel_canvas *canvas,
                             sel_error *error) {
    size_t count = (size_t)width * (size_t)height;
    *canvas = (sel_canvas){width, height, malloc(count * sizeof *canvas->pixels)};
    if (!canvas->pixels) {
        return sel_fail_memory(error, "a picture", count * sizeof *canvas->pixels);
    }
    sel_canvas_fill(canvas, 0, 0, width, height, colour);
    return SEL_OK;
}

void sel_canvas_free(sel_canvas *canvas) {
    free(canvas->pixels);
    canvas->pixels = NULL;
}

void sel_canvas_fill(sel_canvas *canvas, int x, int y, int width, int height, sel_colour colour) {
    int right = x + width < canvas->width ? x + width : canvas->width;
    int bottom = y + height < canvas->height ? y + height : canvas->height;
    for (int j = y > 0 ? y : 0; j < bottom; j++) {
        for (int i = x > 0 ? x : 0; i < right; i++) {
            canvas->pixels[(size_t)j * (size_t)canvas->width + (size_t)i] = colour;
        }
    }
}

static const sel_glyph *find_glyph(char letter) {
    for (size_t i = 0; i < sizeof sel_glyphs / sizeof *sel_glyphs; i++) {
        if (sel_glyphs[i].letter == letter) {
            return &sel_glyphs[i];
        }
    }
    return NULL;
}

static void draw_glyph(sel_canvas *canvas, int x, int y, int size, const sel_glyph *glyph,
                       sel_colour colour) {
    for (int row = 0; row < SEL_GLYPH_HEIGHT; row++) {
        for (int column = 0; column < SEL_GLYPH_WIDTH; column++) {
            if (glyph->rows[row] >> (SEL_GLYPH_WIDTH - 1 - column) & 1) {
                sel_canvas_fill(canvas, x + column * size, y + row * size, size, size, colour);
            }
        }
    }
}

void sel_canvas_text(sel_canvas *canvas, int x, int y, int size, const char *text,
                     sel_colour colour) {
    for (; *text; text++) {
        const sel_glyph *glyph = find_glyph(*text);
        if (glyph) {
            draw_glyph(canvas, x, y, size, glyph, colour);
        }
        x += (SEL_GLYPH_WIDTH + 1) * size;
    }
}

int sel_canvas_text_width(const char *text, int size) {
    int letters = (int)strlen(text);
    return letters ? ((SEL_GLYPH_WIDTH + 1) * letters - 1) * size : 0;
}

int sel_canvas_text_height(int size) {
    return SEL_GLYPH_HEIGHT * size;
}

sel_status sel_canvas_write(const sel_canvas *canvas, const char *path, sel_error *error) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    FILE *file = sel_file_begin(path);
    bool written = file && png_image_write_to_stdio(&image, file, 0, canvas->pixels, 0, NULL) != 0;
    bool refused = file && ferror(file); /* then errno says more than libpng */
    return sel_file_end(file, path, written || refused ? NULL : image.message, error);
}
