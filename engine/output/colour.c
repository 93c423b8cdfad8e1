/* colour.c -- colour maps that the eye reads as even steps.
 *
 * A map is a few colours of sRGB; between them it runs straight through Oklab (Ottosson 2020),
 * where equal distances look equal, with pieces as long as they look, so that equal steps of value
 * are equal steps for the eye.
 */
#include "engine/output/picture.h"

#include <math.h>

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

static double distance(lab a, lab b) {
    return sqrt((a.l - b.l) * (a.l - b.l) + (a.a - b.a) * (a.a - b.a) + (a.b - b.b) * (a.b - b.b));
}

/* Sets at[k], 0 to 1, to where stop k stands; a map with a middle keeps it in the middle. */
static void place_stops(int map, const lab v[], double at[]) {
    int count = maps[map].count, halves = map == SEL_COLOURS_SIGNED ? 2 : 1;
    int piece = (count - 1) / halves;
    for (int h = 0; h < halves; h++) {
        int first = h * piece;
        double length = 0, whole = 0;
        for (int k = first; k < first + piece; k++) {
            whole += distance(v[k], v[k + 1]);
        }
        for (int k = first; k <= first + piece; k++) {
            at[k] = (h + length / whole) / halves;
            length += k < first + piece ? distance(v[k], v[k + 1]) : 0;
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
