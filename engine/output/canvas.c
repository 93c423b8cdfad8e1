/* canvas.c -- a canvas of pixels: rectangles, text, the PNG file; and colour maps. */
#include "engine/output/picture.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/file.h"

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

/* ---- a bitmap font: digits, letters and signs ---- */

enum { GLYPH_WIDTH = 5, GLYPH_HEIGHT = SEL_TEXT_HEIGHT };

/* glyphs[character]: a byte per row, the least significant byte is the bottom row; bit 0 of a row
 * is its rightmost column. Characters that are not listed are blank. */
static const uint64_t glyphs[256] = {
    ['0'] = 0x0e11131519110e, ['1'] = 0x040c040404040e, ['2'] = 0x0e11010204081f,
    ['3'] = 0x1f02040201110e, ['4'] = 0x02060a121f0202, ['5'] = 0x1f101e0101110e,
    ['6'] = 0x0608101e11110e, ['7'] = 0x1f010204080808, ['8'] = 0x0e11110e11110e,
    ['9'] = 0x0e11110f01020c, ['.'] = 0x00000000000c0c, ['-'] = 0x0000001f000000,
    ['+'] = 0x0004041f040400, ['_'] = 0x0000000000001f, ['='] = 0x00001f001f0000,
    ['a'] = 0x00000e010f110f, ['b'] = 0x1010161911111e, ['c'] = 0x00000e1010110e,
    ['d'] = 0x01010d1311110f, ['e'] = 0x00000e111f100e, ['f'] = 0x0609081c080808,
    ['g'] = 0x000f11110f010e, ['h'] = 0x10101619111111, ['i'] = 0x04000c0404040e,
    ['j'] = 0x0200060202120c, ['k'] = 0x10101214181412, ['l'] = 0x0c04040404040e,
    ['m'] = 0x00001a15151111, ['n'] = 0x00001619111111, ['o'] = 0x00000e1111110e,
    ['p'] = 0x00001e111e1010, ['q'] = 0x00000d130f0101, ['r'] = 0x00001619101010,
    ['s'] = 0x00000e100e011e, ['t'] = 0x08081c08080906, ['u'] = 0x0000111111130d,
    ['v'] = 0x00001111110a04, ['w'] = 0x0000111115150a, ['x'] = 0x0000110a040a11,
    ['y'] = 0x000011110f010e, ['z'] = 0x00001f0204081f, ['A'] = 0x0e11111f111111,
    ['B'] = 0x1e11111e11111e, ['C'] = 0x0e11101010110e, ['D'] = 0x1e11111111111e,
    ['E'] = 0x1f10101e10101f, ['F'] = 0x1f10101e101010, ['G'] = 0x0e11101711110f,
    ['H'] = 0x1111111f111111, ['I'] = 0x0e04040404040e, ['J'] = 0x0702020202120c,
    ['K'] = 0x11121418141211, ['L'] = 0x1010101010101f, ['M'] = 0x111b1515111111,
    ['N'] = 0x11191513111111, ['O'] = 0x0e11111111110e, ['P'] = 0x1e11111e101010,
    ['Q'] = 0x0e11111115120d, ['R'] = 0x1e11111e141211, ['S'] = 0x0f10100e01011e,
    ['T'] = 0x1f040404040404, ['U'] = 0x1111111111110e, ['V'] = 0x11111111110a04,
    ['W'] = 0x11111115151b11, ['X'] = 0x11110a040a1111, ['Y'] = 0x11110a04040404,
    ['Z'] = 0x1f01020408101f, [':'] = 0x000c0c000c0c00, ['/'] = 0x01010204081010,
    [','] = 0x000000000c0408};

void sel_canvas_text(sel_canvas *canvas, int x, int y, int size, const char *text,
                     sel_colour colour) {
    for (; *text; text++, x += (GLYPH_WIDTH + 1) * size) {
        const uint64_t glyph = glyphs[(unsigned char)*text];
        for (int bit = 0; bit < 8 * GLYPH_HEIGHT; bit++) {
            const int column = GLYPH_WIDTH - 1 - bit % 8, row = GLYPH_HEIGHT - 1 - bit / 8;
            if (glyph >> bit & 1) {
                sel_canvas_fill(canvas, x + column * size, y + row * size, size, size, colour);
            }
        }
    }
}

int sel_canvas_text_width(const char *text, int size) {
    int letters = (int)strlen(text);
    return letters ? ((GLYPH_WIDTH + 1) * letters - 1) * size : 0;
}

/* ---- the file ---- */

sel_status sel_canvas_may_write(const char *path, const char *instead, sel_error *error) {
    return sel_file_may_replace(path, "\x89PNG\r\n\x1a\n", "PNG picture", instead, error);
}

sel_status sel_canvas_write(const sel_canvas *canvas, const char *path, sel_error *error) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    FILE *file = sel_file_begin(path);
    bool written = file && png_image_write_to_stdio(&image, file, 0, canvas->pixels, 0, NULL) != 0;
    bool refused = file && ferror(file); /* the system failed: errno says more than libpng */
    return sel_file_end(file, path, written || refused ? NULL : image.message, error);
}

/* ---- perceptually uniform colour maps ----
 *
 * A map is a list of sRGB colours (stops), joined by straight lines in Oklab (Ottosson 2020), where
 * equal distances look equal. The stops are placed by these distances, so that equal steps of value
 * look like equal steps of colour. */

enum { MOST_STOPS = 9 };

typedef struct stops {
    int count;
    sel_colour v[MOST_STOPS];
} stops;

static const stops maps[] = {
    [SEL_COLOURS_DEEP] = {6,
                          {{22, 20, 74},
                           {36, 70, 140},
                           {24, 122, 145},
                           {58, 168, 118},
                           {157, 205, 75},
                           {252, 236, 103}}},
    [SEL_COLOURS_SIGNED] = {7,
                            {{24, 44, 110},
                             {48, 106, 178},
                             {142, 184, 222},
                             {246, 246, 246},
                             {238, 168, 134},
                             {198, 70, 62},
                             {110, 14, 40}}},
    [SEL_COLOURS_GREY] = {2, {{12, 12, 12}, {255, 255, 255}}},
    [SEL_COLOURS_WATER] = {4, {{176, 216, 240}, {84, 160, 222}, {28, 92, 176}, {8, 32, 96}}},
};

typedef struct lab {
    double l, a, b;
} lab;

static double to_linear(double s) {
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double from_linear(double c) {
    return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

static lab to_lab(sel_colour colour) {
    double r = to_linear(colour.r / 255.0), g = to_linear(colour.g / 255.0);
    double b = to_linear(colour.b / 255.0);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return (lab){0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
                 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
                 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

static uint8_t to_byte(double linear) {
    double s = 255 * from_linear(fmin(fmax(linear, 0), 1));
    return (uint8_t)lround(s);
}

static sel_colour from_lab(lab c) {
    double l = c.l + 0.3963377774 * c.a + 0.2158037573 * c.b;
    double m = c.l - 0.1055613458 * c.a - 0.0638541728 * c.b;
    double s = c.l - 0.0894841775 * c.a - 1.2914855480 * c.b;
    l = l * l * l, m = m * m * m, s = s * s * s;
    return (sel_colour){to_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                        to_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                        to_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

static double lab_distance(lab a, lab b) {
    return sqrt((a.l - b.l) * (a.l - b.l) + (a.a - b.a) * (a.a - b.a) + (a.b - b.b) * (a.b - b.b));
}

/* Sets at[k] to the position of stop k, 0 to 1. The white of the signed map stays at 1/2. */
static void place_stops(int map, const lab v[], double at[]) {
    int count = maps[map].count, halves = map == SEL_COLOURS_SIGNED ? 2 : 1;
    int piece = (count - 1) / halves;
    for (int h = 0; h < halves; h++) {
        int first = h * piece;
        double length = 0, whole = 0;
        for (int k = first; k < first + piece; k++) {
            whole += lab_distance(v[k], v[k + 1]);
        }
        for (int k = first; k <= first + piece; k++) {
            at[k] = (h + length / whole) / halves;
            length += k < first + piece ? lab_distance(v[k], v[k + 1]) : 0;
        }
    }
}

void sel_colour_table(int map, sel_colour table[SEL_COLOURS]) {
    lab v[MOST_STOPS];
    double at[MOST_STOPS];
    for (int k = 0; k < maps[map].count; k++) {
        v[k] = to_lab(maps[map].v[k]);
    }
    place_stops(map, v, at);
    for (int i = 0, k = 0; i < SEL_COLOURS; i++) {
        double x = (double)i / (SEL_COLOURS - 1);
        while (k + 2 < maps[map].count && x > at[k + 1]) {
            k++;
        }
        double part = (x - at[k]) / (at[k + 1] - at[k]);
        table[i] = from_lab((lab){v[k].l + part * (v[k + 1].l - v[k].l),
                                  v[k].a + part * (v[k + 1].a - v[k].a),
                                  v[k].b + part * (v[k + 1].b - v[k].b)});
    }
}

static uint8_t mix(uint8_t layer, double opacity, uint8_t below) {
    return (uint8_t)lround(opacity * layer + (1 - opacity) * below);
}

sel_colour sel_colour_over(sel_colour layer, double opacity, sel_colour below) {
    return (sel_colour){mix(layer.r, opacity, below.r), mix(layer.g, opacity, below.g),
                        mix(layer.b, opacity, below.b)};
}
