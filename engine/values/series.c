/* series.c -- series: values over time, interpolated between the points of a list or a file. */
#include "engine/values/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/base/file.h"

static const size_t max_file = (size_t)256 << 20;

static const char *const interpolation_names[] = {"linear", "previous", NULL};
static const char *const outside_names[] = {"error", "hold", "zero", NULL};

static const sel_table_field series_fields[] = {
    SEL_ROW(sel_series_params, file, FILE,
            "A CSV file: times in the first column, numbers or dates such as 2024-05-31T12:30, "
            "which count in seconds since the first; a path relative to the script.",
            .flags = SEL_POSITIONAL),
    SEL_ROW(sel_series_params, t, VALUES, "Times, instead of a file."),
    SEL_ROW(sel_series_params, value, VALUES, "One value for each time of t."),
    SEL_ROW(
        sel_series_params, column, KEY,
        "The column of the values, by its name or its number from 1; the second when not given."),
    SEL_ROW(sel_series_params, scale, NUMBER, "Multiplies the values.", .preset = 1),
    SEL_ROW(sel_series_params, time_scale, NUMBER, "Multiplies the times.", .flags = SEL_POSITIVE,
            .preset = 1),
    SEL_ROW(sel_series_params, interpolation, CHOICE,
            "Between two points: along the line, or the value of the one before.",
            .preset = SEL_SERIES_LINEAR, .choices = interpolation_names),
    SEL_ROW(sel_series_params, repeats, BOOL,
            "Start again at the first point after the last one, also before the first."),
    SEL_ROW(sel_series_params, outside, CHOICE,
            "Before the first and after the last time, unless it repeats: an error, the nearest "
            "value, or zero.",
            .preset = SEL_SERIES_ERROR, .choices = outside_names),
};

static sel_status series_check_params(const void *data, sel_where where, sel_error *error) {
    const sel_series_params *params = data;
    bool list = params->t.n || params->value.n;
    if (!params->file && !list) {
        return sel_fail_at(error, where, "sel.series: give file, or t and value");
    }
    if (params->file && list) {
        return sel_fail_at(error, where, "sel.series: give file, or t and value, not both");
    }
    if (!params->file && params->t.n != params->value.n) {
        return sel_fail_at(error, where, "sel.series: %d times in t, but %d values in value",
                           params->t.n, params->value.n);
    }
    if (!params->file && (params->column.name || params->column.number)) {
        return sel_fail_at(error, where, "sel.series: column belongs to a file");
    }
    for (int i = 1; i < params->t.n; i++) {
        if (!(params->t.v[i] > params->t.v[i - 1])) {
            return sel_fail_at(error, where,
                               "sel.series: times must rise, but t[%d] = %.15g follows %.15g",
                               i + 1, params->t.v[i], params->t.v[i - 1]);
        }
    }
    return SEL_OK;
}

const sel_table sel_series_table = SEL_TABLE(
    "sel.series", sel_series_params, series_fields,
    "A quantity over time, given at points; s(t) inside functions.", .check = series_check_params);

static sel_status series_evaluate(const sel_lookup *self, size_t n, const double *const *arguments,
                                  double *out, sel_error *error) {
    const sel_series *s = self->data;
    int64_t hint = 0;
    for (size_t i = 0; i < n; i++) {
        double t = arguments[0][i];
        out[i] = sel_series_value(&s->rule, s->t, s->value, t, &hint);
        if (!isnan(out[i])) {
            continue;
        }
        if (!isfinite(t)) {
            return sel_fail(error, SEL_BAD_SCENARIO, "%s: the time is %s", self->name,
                            isnan(t) ? "NaN" : "infinity");
        }
        return sel_fail(error, SEL_BAD_SCENARIO,
                        "%s: t = %.10g is outside its times %.10g to %.10g; give it more "
                        "points, outside = \"hold\" or \"zero\", or repeats = true",
                        self->name, t, s->t[0], s->t[s->rule.n - 1]);
    }
    return SEL_OK;
}

/* Copies and scales the points. NULL: no memory. */
static sel_series *series_make(sel_arena *arena, const sel_series_params *params,
                               const sel_csv_points *points) {
    const size_t n = points->n;
    sel_series *s = sel_arena_alloc(arena, sizeof *s);
    double *numbers = sel_arena_alloc(arena, 2 * n * sizeof *numbers);
    if (!s || !numbers) {
        return NULL;
    }
    *s = (sel_series){.rule = {.n = (int64_t)n,
                               .previous = params->interpolation == SEL_SERIES_PREVIOUS,
                               .repeats = params->repeats,
                               .outside = params->outside},
                      .t = numbers,
                      .value = numbers + n};
    for (size_t i = 0; i < n; i++) {
        s->t[i] = params->time_scale * points->t[i];
        s->value[i] = params->scale * points->value[i];
    }
    return s;
}

/* Refuses a single point, unless it holds for all times. `last`: the line of the last point. */
static sel_status series_check_count(const sel_series *s, sel_where where, sel_where last,
                                     sel_error *error) {
    const char *hold = s->rule.repeats ? "" : " (1 with outside = \"hold\")";
    if (s->rule.n > 1 || (s->rule.outside == SEL_SERIES_HOLD && !s->rule.repeats)) {
        return SEL_OK;
    }
    if (!last.file) {
        return sel_fail_at(error, where, "sel.series: 1 point; at least 2 are needed%s", hold);
    }
    return sel_fail_at(error, last,
                       "1 point, t = %.10g; a series needs at least 2%s: add a line with a later "
                       "time and its value",
                       s->t[0], hold);
}

/* Checks scaled points: scaling may overflow, or make two times equal. */
static sel_status check_scaled(const sel_series *s, const char *file, sel_where where,
                               sel_error *error) {
    size_t n = (size_t)s->rule.n;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(s->t[i]) || !isfinite(s->value[i]) || (i && s->t[i] <= s->t[i - 1]) ||
            !isfinite(s->t[n - 1] - s->t[0])) {
            return sel_fail_at(error, where,
                               "sel.series: scaled, point %zu%s%s is t = %g, value = %g", i + 1,
                               file ? " of " : "", file ? file : "", s->t[i], s->value[i]);
        }
    }
    return SEL_OK;
}

/* "series rain.csv", or "series rain.csv, column gauge_a"; "series of run.lua:12" for a list. */
static const char *make_name(sel_arena *arena, const sel_series_params *params, sel_where where) {
    if (!params->file) {
        return where.file ? sel_arena_print(arena, "series of %s:%d", where.file, where.line)
                          : "series";
    }
    const char *file = sel_file_name(params->file);
    if (params->column.name) {
        return sel_arena_print(arena, "series %s, column %s", file, params->column.name);
    }
    return params->column.number ? sel_arena_print(arena, "series %s, column %lld", file,
                                                   (long long)params->column.number)
                                 : sel_arena_print(arena, "series %s", file);
}

static const sel_lookup *make_lookup(sel_arena *arena, const sel_series_params *params,
                                     const sel_csv_points *points, sel_where where,
                                     sel_error *error) {
    if (points->n == 0) {
        sel_fail_at(error, where, "sel.series: there are no points in it");
        return NULL;
    }
    sel_series *s = series_make(arena, params, points);
    sel_lookup *lookup = sel_arena_alloc(arena, sizeof *lookup);
    const char *name = make_name(arena, params, where);
    if (!s || !lookup || !name) {
        sel_fail_memory(error, "a series", 2 * points->n * sizeof *s->t);
        return NULL;
    }
    *lookup = (sel_lookup){SEL_LOOKUP_SERIES, name, 1, series_evaluate, s};
    const sel_where last = {params->file, points->last_line};
    sel_status status = series_check_count(s, where, last, error);
    status = status ? status : check_scaled(s, params->file, where, error);
    return status ? NULL : lookup;
}

const sel_lookup *sel_series_create(sel_arena *arena, const sel_series_params *params,
                                    sel_where where, sel_error *error) {
    sel_csv_points points = {.n = (size_t)params->t.n, .t = params->t.v, .value = params->value.v};
    if (series_check_params(params, where, error)) {
        return NULL;
    }
    if (!params->file) {
        return make_lookup(arena, params, &points, where, error);
    }
    char *text = NULL;
    size_t length = 0;
    sel_status status =
        sel_file_read(params->file, max_file, "a series is a text file", &text, &length, error);
    if (!status) {
        status = sel_csv_read(params->file, text, length, &params->column, &points, error);
    }
    const sel_lookup *lookup = status ? NULL : make_lookup(arena, params, &points, where, error);
    free(points.t);
    free(points.value);
    free(text);
    return lookup;
}

void sel_series_text(const sel_lookup *lookup, double run_end, char *text, size_t size) {
    static const char *const beyond[] = {[SEL_SERIES_ERROR] = "",
                                         [SEL_SERIES_HOLD] = ", hold",
                                         [SEL_SERIES_ZERO] = ", zero outside"};
    const sel_series *s = lookup->data;
    const size_t n = (size_t)s->rule.n;
    double least = s->value[0], most = s->value[0];
    char run[64] = "";
    for (size_t i = 1; i < n; i++) {
        least = fmin(least, s->value[i]);
        most = fmax(most, s->value[i]);
    }
    if (isfinite(run_end)) {
        snprintf(run, sizeof run, " (the run: 0 to %.6g)", run_end);
    }
    snprintf(text, size, "times %.6g to %.6g%s%s, values %.6g to %.6g", s->t[0], s->t[n - 1],
             s->rule.repeats ? ", repeated" : beyond[s->rule.outside], run, least, most);
}
