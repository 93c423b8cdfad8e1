/* plot.c -- plots as pictures: a plane of values as colours over a shaded relief, with a colour
 * bar; a curve over steps. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/output/picture.h"

/* ---- the plot of a plane ---- */

static const sel_colour paper = {255, 255, 255}, ink = {40, 40, 40}, solid_grey = {150, 150, 150},
                        not_a_number = {255, 0, 255};
enum { USUAL_PIXELS = 1000, LARGE_PIXELS = 600, LEAST_WIDTH = 240 };

/* A field counts as signed if its smaller extreme has at least this fraction of the larger one's
 * magnitude. */
static const double both_signs = 0.05;

/* Opacity of the colours drawn over a relief. */
static const double opacity = 0.75;

void sel_plot_size(const sel_plot *plot, double size[2]) {
    const double unit = fmin(plot->dx[0], plot->dx[1]);
    double scale = plot->params->scale;
    for (int k = 0; k < 2; k++) {
        size[k] = plot->span[k] * (plot->dx[k] / unit);
    }
    if (isnan(scale)) {
        const double fitting = USUAL_PIXELS / fmax(size[0], size[1]);
        scale = fitting < 1 ? fitting : floor(fitting);
    }
    for (int k = 0; k < 2; k++) {
        size[k] = fmax(1, round(scale * size[k]));
    }
}

typedef struct scale_of_colours {
    double min, max;
    sel_colour table[SEL_COLOURS];
    float *brightness; /* [n[1]][n[0]] of the relief; NULL: none */
} scale_of_colours;

/* ---- the relief ----
 *
 * Lambert's law: brightness is the cosine of the angle between the surface's normal and the
 * direction of the light, plus ambient light. */

static const double ambient = 0.2, usual_slope = 0.5;

/* Towards the light: north-west, 45 degrees above the horizon. */
static const double light[3] = {-0.5, 0.5, 0.70710678118654752};

double sel_relief_flat(void) {
    return ambient + (1 - ambient) * light[2];
}

/* Slope along an axis at index `at`, cell i of n; neighbours along the axis are `stride` elements
 * and the distance dx apart. A central difference; one-sided at borders and beside solids. */
static double slope(const float *heights, const uint8_t *solid, int64_t at, int64_t i, int64_t n,
                    int64_t stride, double dx) {
    int64_t before = i > 0 && !solid[at - stride] ? at - stride : at;
    int64_t behind = i + 1 < n && !solid[at + stride] ? at + stride : at;
    int64_t cells = (behind - before) / stride;
    return cells ? ((double)heights[behind] - (double)heights[before]) / ((double)cells * dx) : 0;
}

static double brightness_of(const double gradient[2], double exaggeration) {
    double x = -exaggeration * gradient[0], y = -exaggeration * gradient[1];
    double cosine = (x * light[0] + y * light[1] + light[2]) / sqrt(x * x + y * y + 1);
    return ambient + (1 - ambient) * fmax(cosine, 0);
}

/* Sets gradient[cells], 0 in solids, and returns the root mean square of its magnitude. */
static double find_slopes(const sel_plot *plot, double (*gradient)[2]) {
    const float *heights = plot->relief;
    const uint8_t *solid = plot->solid;
    const int64_t *n = plot->n;
    const double apart[] = {plot->dx[0] * (double)plot->every[0],
                            plot->dx[1] * (double)plot->every[1]};
    double squares = 0;
    int64_t counted = 0;
    for (int64_t j = 0, at = 0; j < n[1]; j++) {
        for (int64_t i = 0; i < n[0]; i++, at++) {
            if (solid[at]) {
                continue;
            }
            double *g = gradient[at];
            g[0] = slope(heights, solid, at, i, n[0], 1, apart[0]);
            g[1] = slope(heights, solid, at, j, n[1], n[0], apart[1]);
            if (!isfinite(g[0]) ||
                !isfinite(g[1])) { /* next to heights that are not numbers: flat */
                g[0] = g[1] = 0;
            }
            squares += g[0] * g[0] + g[1] * g[1];
            counted++;
        }
    }
    return counted ? sqrt(squares / (double)counted) : 0;
}

/* Fills scale->brightness if there is a relief. By default the heights are exaggerated until the
 * root mean square of the slopes is one half; they are never reduced. */
static sel_status shade(const sel_plot *plot, scale_of_colours *scale, sel_error *error) {
    size_t cells = (size_t)plot->n[0] * (size_t)plot->n[1];
    double exaggeration = plot->params->exaggeration;
    if (!plot->relief) {
        return SEL_OK;
    }
    double(*gradient)[2] = calloc(cells, sizeof *gradient);
    scale->brightness = malloc(cells * sizeof *scale->brightness);
    if (!gradient || !scale->brightness) {
        free(gradient);
        return sel_fail_memory(error, "a picture's relief", cells * sizeof *gradient);
    }
    double usual = find_slopes(plot, gradient);
    if (isnan(exaggeration)) {
        exaggeration = usual > 0 ? fmax(usual_slope / usual, 1) : 1;
    }
    for (size_t i = 0; i < cells; i++) {
        scale->brightness[i] = (float)brightness_of(gradient[i], exaggeration);
    }
    free(gradient);
    return SEL_OK;
}

/* ---- colours ---- */

/* Whether only the relief is drawn at this value. */
static bool is_bare(const sel_plot *plot, double value) {
    return plot->relief && value <= (isnan(plot->params->above) ? 0 : plot->params->above);
}

static sel_colour grey(double brightness) {
    uint8_t level = (uint8_t)lround(255 * brightness);
    return (sel_colour){level, level, level};
}

/* The extremes of the drawn values; both 0 if there are none. */
static void plot_find_range(const sel_plot *plot, double *least, double *most) {
    *least = HUGE_VAL;
    *most = -HUGE_VAL;
    for (int64_t i = 0; i < plot->n[0] * plot->n[1]; i++) {
        double value = (double)plot->values[i];
        if (!plot->solid[i] && isfinite(value) && !is_bare(plot, value)) {
            *least = fmin(*least, value);
            *most = fmax(*most, value);
        }
    }
    if (*least > *most) {
        *least = *most = 0;
    }
}

/* Whether the signed map fits: the script gives min = -max, or it gives neither and the field takes
 * both signs. */
static bool is_signed(const sel_picture_params *params, double least, double most) {
    if (!isnan(params->min) && !isnan(params->max)) {
        return params->min < 0 && fabs(params->min + params->max) < 1e-6 * params->max;
    }
    return isnan(params->min) && isnan(params->max) && least < 0 && most > 0 &&
           fmin(-least, most) >= both_signs * fmax(-least, most);
}

static int choose_map(const sel_plot *plot, double least, double most) {
    if (plot->params->colours != SEL_COLOURS_AUTO) {
        return plot->params->colours;
    }
    return is_signed(plot->params, least, most) ? SEL_COLOURS_SIGNED
           : plot->relief                       ? SEL_COLOURS_WATER
                                                : SEL_COLOURS_DEEP;
}

static void choose_colours(const sel_plot *plot, scale_of_colours *scale) {
    double least, most;
    plot_find_range(plot, &least, &most);
    const int map = choose_map(plot, least, most);
    if (map == SEL_COLOURS_SIGNED) {
        most = fmax(fabs(least), fabs(most));
        least = -most;
    }
    scale->min = isnan(plot->params->min) ? least : plot->params->min;
    scale->max = isnan(plot->params->max) ? most : plot->params->max;
    if (!(scale->max > scale->min)) {
        double width = scale->min != 0 ? fabs(scale->min) : 1;
        scale->min -= 0.5 * width;
        scale->max = scale->min + width;
    }
    sel_colour_table(map, scale->table);
}

static sel_colour colour_of(const scale_of_colours *scale, double value) {
    if (isnan(value)) {
        return not_a_number;
    }
    double part = (value - scale->min) / (scale->max - scale->min);
    return scale->table[(int)(fmin(fmax(part, 0), 1) * (SEL_COLOURS - 1) + 0.5)];
}

/* ---- the field ---- */

static int64_t plot_clamp(int64_t i, int64_t n) {
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* The colour at (x, y) in units of the values' indices. Bilinear, without solid cells. */
static sel_colour colour_at(const sel_plot *plot, const scale_of_colours *scale, double x,
                            double y) {
    const int64_t *n = plot->n;
    int64_t nearest = plot_clamp((int64_t)floor(x + 0.5), n[0]) +
                      n[0] * plot_clamp((int64_t)floor(y + 0.5), n[1]);
    if (plot->solid[nearest]) {
        return plot->solid[nearest] == SEL_PLANE_NODATA ? paper : solid_grey;
    }
    double left = floor(x), below = floor(y), sum = 0, weights = 0, brightness = 0;
    for (int corner = 0; corner < 4; corner++) {
        int right = corner & 1, above = corner >> 1;
        int64_t i = plot_clamp((int64_t)left + right, n[0]) +
                    n[0] * plot_clamp((int64_t)below + above, n[1]);
        double weight = (right ? x - left : 1 - x + left) * (above ? y - below : 1 - y + below);
        if (weight > 0 && !plot->solid[i]) {
            sum += weight * (double)plot->values[i];
            weights += weight;
            brightness += scale->brightness ? weight * (double)scale->brightness[i] : 0;
        }
    }
    if (!scale->brightness) {
        return colour_of(scale, sum / weights);
    }
    sel_colour ground = grey(brightness / weights);
    return is_bare(plot, sum / weights)
               ? ground
               : sel_colour_over(colour_of(scale, sum / weights), opacity, ground);
}

/* The index, among the values, of the point at the fraction `part` of the field's extent. */
static double plot_index(const sel_plot *plot, int axis, double part) {
    const double cell = part * plot->span[axis] + plot->start;
    return (cell - (double)plot->first[axis]) / (double)plot->every[axis];
}

static void draw_field(const sel_plot *plot, const scale_of_colours *scale, sel_canvas *canvas,
                       int left, int width, int height) {
    for (int row = 0; row < height; row++) {
        const double y = plot_index(plot, 1, (height - row - 0.5) / height);
        for (int column = 0; column < width; column++) {
            const double x = plot_index(plot, 0, (column + 0.5) / width);
            canvas->pixels[(int64_t)row * canvas->width + left + column] =
                colour_at(plot, scale, x, y);
        }
    }
}

/* ---- the bar ---- */

/* Sizes below the field in multiples of `unit`, the pixels per dot of the font. */
enum { GAP = 5, BAR = 10, TICK = 3 };

static int bar_height(int unit) {
    return (4 * GAP + BAR + TICK) * unit + 2 * SEL_TEXT_HEIGHT * unit;
}

static void plot_draw_bar(const sel_plot *plot, const scale_of_colours *scale, sel_canvas *canvas,
                          int top, int unit) {
    int left = GAP * unit, width = canvas->width - 2 * left;
    int y = top + GAP * unit, labels = width >= 400 ? 5 : 3;
    for (int i = 0; i < width; i++) {
        int entry = i * (SEL_COLOURS - 1) / (width - 1);
        sel_colour colour = scale->table[entry];
        if (scale->brightness) {
            colour = sel_colour_over(colour, opacity, grey(sel_relief_flat()));
        }
        sel_canvas_fill(canvas, left + i, y, 1, BAR * unit, colour);
    }
    y += BAR * unit;
    for (int k = 0; k < labels; k++) {
        char text[32];
        int place = k * (width - unit) / (labels - 1);
        double value = scale->min + (scale->max - scale->min) * k / (labels - 1);
        bool round_off = fabs(value) < 1e-9 * (scale->max - scale->min);
        snprintf(text, sizeof text, "%.4g", round_off ? 0 : value);
        sel_canvas_fill(canvas, left + place, y, unit, TICK * unit, ink);
        int shift = k == 0 ? 0 : sel_canvas_text_width(text, unit) * (k == labels - 1 ? 2 : 1) / 2;
        int end = k == labels - 1 ? unit : 0;
        sel_canvas_text(canvas, left + place + end - shift, y + (TICK + GAP / 2) * unit, unit, text,
                        ink);
    }
    y += (TICK + 2 * GAP) * unit + SEL_TEXT_HEIGHT * unit;
    int title = sel_canvas_text_width(plot->title, unit);
    sel_canvas_text(canvas, (canvas->width - title) / 2, y - GAP / 2 * unit, unit, plot->title,
                    ink);
}

sel_status sel_plot_draw(const sel_plot *plot, sel_canvas *canvas, sel_error *error) {
    double size[2];
    sel_plot_size(plot, size);
    const int width = (int)size[0], height = (int)size[1];
    int unit = width >= LARGE_PIXELS ? 2 : 1;
    int whole = width > LEAST_WIDTH ? width : LEAST_WIDTH;
    scale_of_colours scale = {.brightness = NULL};
    sel_status status = shade(plot, &scale, error);
    status =
        status ? status : sel_canvas_create(whole, height + bar_height(unit), paper, canvas, error);
    if (status == SEL_OK) {
        choose_colours(plot, &scale);
        draw_field(plot, &scale, canvas, (whole - width) / 2, width, height);
        plot_draw_bar(plot, &scale, canvas, height, unit);
    }
    free(scale.brightness);
    return status;
}

/* ---- a curve of positive numbers over steps, with a logarithmic axis ---- */

static const sel_colour faint = {225, 225, 225}, line = {0, 90, 160};
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

/* Draws text. `part`: the fraction of the text's width that lies left of the pixel x. */
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
