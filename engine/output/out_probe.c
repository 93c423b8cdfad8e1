/* out_probe.c -- out.probe and out.profile: fields at points and along a line, as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/output/kind.h"
#include "engine/output/sample.h"

static const sel_field probe_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_probe, field, NAMES,
            "Fields of the results (see sel.lbm, sel.aqua), or components such as velocity_x.",
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_out_probe, at, POINTS,
            "A point or a list of points. Values are interpolated linearly between the centres of "
            "cells that are not solid; beyond the outermost centre its value holds. A point in a "
            "solid is an error.",
            .flags = SEL_REQUIRED),
};

const sel_table sel_out_probe_table = SEL_TABLE(
    "out.probe", sel_out_probe, probe_fields,
    "Fields at points, as NAME.csv with step,time,values: FIELD_x by component, _1 _2 by point.");

static const sel_field profile_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_out_profile, field, NAMES,
            "Fields of the results (see sel.lbm, sel.aqua), or components such as velocity_x.",
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_out_profile, from, POINT, "Where the line begins.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_out_profile, to, POINT, "Where the line ends.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_out_profile, points, INT,
            "Number of samples: the line is divided into equal parts, with a sample at the middle "
            "of each; its length / dx when not given.",
            .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_out_profile_table =
    SEL_TABLE("out.profile", sel_out_profile, profile_fields,
              "Fields along a line, as NAME.csv with step,time,s,x,y,z,values: a row per sample "
              "and time. Values are interpolated as by out.probe, but in the half cell at a wall "
              "linearly to the value on the wall; in solids they are 0.");

/* Both kinds: fields sampled at points. `rows` is true for a profile, whose points have a row each
 * instead of a column. */
typedef struct point_output {
    const sel_output_context *context;
    bool rows;
    sel_picks picks;
    int count;
    sel_point *points;
    double *along; /* distance from the profile's beginning */
    sel_sample *sample;
    double *cells;  /* by pick [cells of the sample][field_components] */
    double *values; /* by pick [count][field_components] */
    int values_per_point;
    sel_csv *csv;
} point_output;

static sel_status probe_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_probe *probe = params;
    sel_status status = sel_picks_check(site, &probe->field, error);
    if (probe->at.n == 0) {
        status = sel_fail_at(error, site->where, "out.probe: at holds no point");
    }
    for (int p = 0; p < probe->at.n; p++) {
        char what[32];
        snprintf(what, sizeof what, probe->at.n > 1 ? "at[%d]" : "at", p + 1);
        sel_status point = sel_point_check(site, what, &probe->at.v[p], error);
        point = point ? point : sel_free_check(site, what, &probe->at.v[p], error);
        status = status ? status : point;
    }
    return status;
}

static double profile_length(const sel_out_profile *profile) {
    double squares = 0;
    for (int a = 0; a < profile->from.n; a++) {
        double d = profile->to.v[a] - profile->from.v[a];
        squares += d * d;
    }
    return sqrt(squares);
}

enum { MOST_POINTS = 10000000 };

static sel_status profile_check(const sel_output_site *site, const void *params, sel_error *error) {
    const sel_out_profile *profile = params;
    sel_status found[] = {sel_picks_check(site, &profile->field, error),
                          sel_point_check(site, "from", &profile->from, error),
                          sel_point_check(site, "to", &profile->to, error)};
    sel_status status = found[0] ? found[0] : found[1] ? found[1] : found[2];
    if (!found[1] && !found[2] && !(profile_length(profile) > 0)) {
        status = sel_fail_at(error, site->where, "out.profile: from and to are the same point");
    }
    bool given = profile->points != SEL_INT_NOT_GIVEN;
    if (given && (profile->points < 1 || profile->points > MOST_POINTS)) {
        status = sel_fail_at(error, site->where, "out.profile: points must be 1 to %d, got %lld",
                             MOST_POINTS, (long long)profile->points);
    }
    return status;
}

/* Behind step,time. */
static void write_header(point_output *output) {
    static const char *const places[] = {"s", "x", "y", "z"};
    for (int i = 0; output->rows && i < 4; i++) {
        sel_csv_text(output->csv, places[i]);
    }
    bool numbered = !output->rows && output->count > 1;
    for (int p = 1; p <= (numbered ? output->count : 1); p++) {
        sel_picks_columns(&output->picks, numbered ? p : 0, output->csv);
    }
    sel_csv_end_line(output->csv);
}

static void write_point(point_output *output, int p) {
    const double *values = output->values;
    for (int i = 0; i < output->picks.count; i++) {
        const sel_pick *pick = &output->picks.v[i];
        for (int c = 0; c < sel_pick_components(pick); c++) {
            int component = sel_pick_component(pick, c);
            sel_csv_number(output->csv, values[(int64_t)p * pick->field_components + component]);
        }
        values += (int64_t)output->count * pick->field_components;
    }
}

static sel_status point_ask(void *self, int64_t step, double time, sel_requests *requests,
                            sel_error *error) {
    (void)step, (void)time;
    const point_output *output = self;
    double *cells = output->cells;
    sel_status status = SEL_OK;
    for (int i = 0; i < output->picks.count && !status; i++) {
        const sel_pick *pick = &output->picks.v[i];
        status = sel_sample_ask(output->sample, pick->field, pick->field_components, cells,
                                requests, error);
        cells += (size_t)sel_sample_cells(output->sample) * (size_t)pick->field_components;
    }
    return status;
}

static sel_status sample_fields(point_output *output, double time, sel_error *error) {
    const double *cells = output->cells;
    double *values = output->values;
    sel_status status = SEL_OK;
    for (int i = 0; i < output->picks.count && !status; i++) {
        const sel_pick *pick = &output->picks.v[i];
        size_t components = (size_t)pick->field_components;
        status = sel_sample_values(output->sample, pick->field, pick->field_components, time, cells,
                                   values, error);
        cells += (size_t)sel_sample_cells(output->sample) * components;
        values += (size_t)output->count * components;
    }
    return status;
}

static sel_status point_take(void *self, int64_t step, double time, const sel_requests *answers,
                             sel_error *error) {
    (void)answers;
    point_output *output = self;
    sel_status status = sample_fields(output, time, error);
    if (status != SEL_OK) {
        return status;
    }
    int lines = output->rows ? output->count : 1;
    for (int line = 0; line < lines; line++) {
        sel_output_row(output->csv, step, time);
        if (output->rows) {
            sel_csv_number(output->csv, output->along[line]);
            for (int a = 0; a < 3; a++) {
                sel_csv_number(output->csv, output->points[line].v[a]);
            }
            write_point(output, line);
        }
        for (int p = 0; !output->rows && p < output->count; p++) {
            write_point(output, p);
        }
        sel_csv_end_line(output->csv);
    }
    return sel_csv_flush(output->csv, error);
}

static void point_close(void *self) {
    point_output *output = self;
    sel_csv_close(output->csv);
    sel_sample_destroy(output->sample);
    free(output->picks.v);
    free(output->points);
    free(output->along);
    free(output->cells);
    free(output->values);
    free(output);
}

static sel_status make_room(point_output *output, sel_error *error) {
    size_t components = 0, cells = (size_t)sel_sample_cells(output->sample);
    for (int i = 0; i < output->picks.count; i++) {
        components += (size_t)output->picks.v[i].field_components;
    }
    size_t points = (size_t)output->count;
    output->cells = calloc(cells * components + 1, sizeof *output->cells);
    output->values = calloc(points * components + 1, sizeof *output->values);
    return output->cells && output->values
               ? SEL_OK
               : sel_fail_memory(error, "the points of an output",
                                 (cells + points) * components * sizeof(double));
}

/* The points are there; the rest follows from them. */
static sel_status finish_open(point_output *output, const sel_names *names, const char *name,
                              sel_output_files *files, sel_error *error) {
    sel_status status = sel_picks_make(output->context, names, &output->picks, error);
    status = status ? status
                    : sel_sample_create(output->context, output->points, output->count,
                                        output->rows, &output->sample, error);
    status = status ? status : make_room(output, error);
    status = status ? status : sel_output_csv(output->context, name, files, &output->csv, error);
    if (status == SEL_OK) {
        write_header(output);
        status = sel_csv_flush(output->csv, error);
    }
    return status;
}

/* Makes room for the points; the caller fills them. */
static point_output *make_output(const sel_output_context *context, int64_t count,
                                 sel_error *error) {
    point_output *output = calloc(1, sizeof *output);
    if (output) {
        output->context = context;
        output->count = (int)count;
        output->points = calloc((size_t)count, sizeof *output->points);
        output->along = calloc((size_t)count, sizeof *output->along);
    }
    if (!output || !output->points || !output->along) {
        if (output) {
            point_close(output);
        }
        sel_fail_memory(error, "the points of an output", (size_t)count * sizeof(sel_point));
        return NULL;
    }
    return output;
}

static sel_status give(point_output *output, sel_status status, void **self) {
    if (status == SEL_OK) {
        *self = output;
    } else {
        point_close(output);
    }
    return status;
}

static sel_status probe_open(const sel_output_context *context, const void *params,
                             const char *name, sel_output_files *files, void **self,
                             sel_error *error) {
    const sel_out_probe *probe = params;
    point_output *output = make_output(context, probe->at.n, error);
    if (!output) {
        return SEL_NO_DEVICE;
    }
    for (int p = 0; p < probe->at.n; p++) {
        output->points[p] = probe->at.v[p];
    }
    return give(output, finish_open(output, &probe->field, name, files, error), self);
}

static sel_status profile_open(const sel_output_context *context, const void *params,
                               const char *name, sel_output_files *files, void **self,
                               sel_error *error) {
    const sel_out_profile *profile = params;
    double length = profile_length(profile);
    double parts = fmax(1, round(length / context->domain->grid.dx));
    int64_t count =
        profile->points != SEL_INT_NOT_GIVEN ? profile->points : (int64_t)fmin(parts, MOST_POINTS);
    point_output *output = make_output(context, count, error);
    if (!output) {
        return SEL_NO_DEVICE;
    }
    output->rows = true;
    for (int p = 0; p < output->count; p++) {
        double part = (p + 0.5) / (double)count;
        output->along[p] = part * length;
        output->points[p].n = profile->from.n;
        for (int a = 0; a < profile->from.n; a++) {
            output->points[p].v[a] =
                profile->from.v[a] + part * (profile->to.v[a] - profile->from.v[a]);
        }
    }
    return give(output, finish_open(output, &profile->field, name, files, error), self);
}

const sel_output_kind sel_probe_kind = {
    .table = &sel_out_probe_table,
    .period = SEL_CSV_PERIOD,
    .check = probe_check,
    .open = probe_open,
    .ask = point_ask,
    .take = point_take,
    .close = point_close,
};
const sel_output_kind sel_profile_kind = {
    .table = &sel_out_profile_table,
    .period = SEL_CSV_PERIOD,
    .check = profile_check,
    .open = profile_open,
    .ask = point_ask,
    .take = point_take,
    .close = point_close,
};
