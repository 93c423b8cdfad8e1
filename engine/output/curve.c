/* curve.c -- a curve of positive numbers over steps, with a logarithmic axis, as a PNG file. */
#include <math.h>
#include <stdio.h>
#include "engine/output/picture.h"

static const sel_colour paper = {255, 255, 255}, ink = {40, 40, 40}, faint = {225, 225, 225},
                        line = {0, 90, 160};
enum { WIDTH = 960, HEIGHT = 640, LEFT = 110, RIGHT = 930, TOP = 40, BOTTOM = 570 };
enum { LETTER = 2 /* size of text */, TICKS = 8 };
enum { MARKED = 60 /* curves of at most this many points show a mark at each */ };

/* Tick k, 0 to `ticks`, stands at first + k step. */
typedef struct axis {
    double first, step;
    int ticks;
} axis;

/* An axis from `from` to `to` or beyond. Its step is 1, 2 or 5 times a power of ten. */
static axis curve_axis(double from, double to) {
    static const double factors[] = {2, 2.5, 2};
    axis a = {.step = 1};
    for (int k = 0; to - from > TICKS * a.step; k++) {
        a.step *= factors[k % 3];
    }
    a.first = floor(from / a.step) * a.step;
    a.ticks = (int)fmax(1, ceil((to - a.first) / a.step));
    return a;
}

/* The pixel of a number; `low` and `high` are the pixels of the axis' ends. */
static double curve_pixel(const axis *a, double v, int low, int high) {
    return low + (v - a->first) / (a->step * a->ticks) * (high - low);
}

/* Draws text; x is the pixel at the fraction `part` of its width. */
static void curve_text(sel_canvas *canvas, double x, double y, double part, const char *text) {
    const double left = part * sel_canvas_text_width(text, LETTER);
    sel_canvas_text(canvas, (int)lround(x - left), (int)lround(y), LETTER, text, ink);
}

static void draw_axes(sel_canvas *canvas, const axis *across, const axis *up) {
    char text[32];
    for (int k = 0; k <= across->ticks; k++) {
        const double v = across->first + k * across->step, x = curve_pixel(across, v, LEFT, RIGHT);
        snprintf(text, sizeof text, "%.0f", v);
        sel_canvas_fill(canvas, (int)lround(x), TOP, 1, BOTTOM - TOP, faint);
        curve_text(canvas, x, BOTTOM + 8, 0.5, text);
    }
    for (int k = 0; k <= up->ticks; k++) {
        const double v = up->first + k * up->step, y = curve_pixel(up, v, BOTTOM, TOP);
        snprintf(text, sizeof text, "1e%.0f", v);
        sel_canvas_fill(canvas, LEFT, (int)lround(y), RIGHT - LEFT, 1, faint);
        curve_text(canvas, LEFT - 8, y - 7, 1, text);
    }
}

static void draw_curve(sel_canvas *canvas, const sel_record *record, const axis *across,
                       const axis *up) {
    double before[2] = {(double)NAN, (double)NAN};
    for (size_t i = 0; i < record->count; i++) {
        const double at[2] = {curve_pixel(across, record->v[0][i], LEFT, RIGHT),
                              curve_pixel(up, log10(record->v[1][i]), BOTTOM, TOP)};
        if (!isfinite(at[1])) {
            continue;
        }
        const double dx = at[0] - before[0], dy = at[1] - before[1];
        const double dots = isnan(dx) ? 0 : ceil(fmax(fabs(dx), fabs(dy)));
        for (double k = 0; k < dots; k++) {
            sel_canvas_fill(canvas, (int)lround(at[0] - dx * k / dots) - 1,
                            (int)lround(at[1] - dy * k / dots) - 1, 2, 2, line);
        }
        if (record->count <= MARKED) {
            sel_canvas_fill(canvas, (int)lround(at[0]) - 4, (int)lround(at[1]) - 4, 8, 8, line);
        }
        before[0] = at[0];
        before[1] = at[1];
    }
}

sel_status sel_curve_draw(const sel_record *record, const char *what, const char *path,
                          sel_error *error) {
    double least = HUGE_VAL, most = -HUGE_VAL, end = 1;
    for (size_t i = 0; i < record->count; i++) {
        const double power = log10(record->v[1][i]);
        least = isfinite(power) ? fmin(least, power) : least;
        most = isfinite(power) ? fmax(most, power) : most;
        end = fmax(end, record->v[0][i]);
    }
    const axis across = curve_axis(0, end),
               up = curve_axis(least < most ? least : -1, fmax(most, 0));
    sel_canvas canvas;
    sel_status status = sel_canvas_create(WIDTH, HEIGHT, paper, &canvas, error);
    if (!status) {
        draw_axes(&canvas, &across, &up);
        draw_curve(&canvas, record, &across, &up);
        curve_text(&canvas, (LEFT + RIGHT) / 2.0, BOTTOM + 40, 0.5, "step");
        curve_text(&canvas, LEFT, TOP - 20, 0, what);
        status = sel_canvas_write(&canvas, path, error);
        sel_canvas_free(&canvas);
    }
    return status;
}
