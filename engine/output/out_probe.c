/* out_probe.c -- out.probe and out.profile: fields at points and along a line, as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Both kinds: fields sampled at points. */
typedef struct point_output {
    sel_output base;
    int count;
    sel_point *points;
    double *along; /* of a profile: distance from its beginning */
    sel_sample *sample;
} point_output;

static sel_status probe_check(const sel_output_site *site, const void *params) {
    const sel_out_probe *probe = params;
    sel_status status = SEL_OK;
    if (probe->at.n == 0) {
        status = sel_output_refuse(site, "at holds no point");
    }
    for (int p = 0; p < probe->at.n; p++) {
        char what[32];
        snprintf(what, sizeof what, probe->at.n > 1 ? "at[%d]" : "at", p + 1);
        sel_status point = sel_point_check(site, what, &probe->at.v[p]);
        point = point ? point : sel_free_check(site, what, &probe->at.v[p]);
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

static sel_status profile_check(const sel_output_site *site, const void *params) {
    const sel_out_profile *profile = params;
    sel_status from = sel_point_check(site, "from", &profile->from);
    sel_status to = sel_point_check(site, "to", &profile->to);
    sel_status status = from ? from : to;
    if (!status && !(profile_length(profile) > 0)) {
        status = sel_output_refuse(site, "from and to are the same point");
    }
    bool given = profile->points != SEL_INT_NOT_GIVEN;
    if (given && (profile->points < 1 || profile->points > MOST_POINTS)) {
        status = sel_output_refuse(site, "points must be 1 to %d, got %lld", MOST_POINTS,
                                   (long long)profile->points);
    }
    return status;
}

static sel_status point_ask(sel_output *base, sel_error *error) {
    return sel_sample_ask(((point_output *)base)->sample, &base->requests, error);
}

static void write_point(point_output *output, int p) {
    const sel_picks *picks = &output->base.picks;
    for (int i = 0; i < picks->count; i++) {
        for (int c = 0; c < picks->v[i].components; c++) {
            int component = picks->v[i].first + c;
            sel_csv_number(output->base.csv, sel_sample_value(output->sample, i, p, component));
        }
    }
}

/* Makes room for the points; the caller fills them and calls open_sample. */
static sel_status allocate(point_output *output, int64_t count, sel_error *error) {
    output->count = (int)count;
    output->points = calloc((size_t)count, sizeof *output->points);
    output->along = calloc((size_t)count, sizeof *output->along);
    return output->points && output->along ? SEL_OK
                                           : sel_fail_memory(error, "the points of an output",
                                                             (size_t)count * sizeof(sel_point));
}

static sel_status open_sample(point_output *output, bool walls, sel_error *error) {
    return sel_sample_create(output->base.context, output->points, output->count, walls,
                             &output->base.picks, &output->sample, error);
}

static void point_close(sel_output *base) {
    point_output *output = (point_output *)base;
    sel_sample_destroy(output->sample);
    free(output->points);
    free(output->along);
}

/* ---- out.probe: a column for each point ---- */

static sel_status probe_open(sel_output *base, sel_error *error) {
    point_output *output = (point_output *)base;
    const sel_points *at = &((const sel_out_probe *)base->params)->at;
    sel_status status = allocate(output, at->n, error);
    for (int p = 0; p < at->n && !status; p++) {
        output->points[p] = at->v[p];
        sel_picks_columns(&base->picks, at->n > 1 ? p + 1 : 0, base->csv);
    }
    return status ? status : open_sample(output, false, error);
}

static sel_status probe_take(sel_output *base, sel_error *error) {
    point_output *output = (point_output *)base;
    sel_status status = sel_sample_take(output->sample, base->time, error);
    for (int p = 0; p < output->count && !status; p++) {
        write_point(output, p);
    }
    return status;
}

const sel_output_kind sel_probe_kind = {
    .table = &sel_out_probe_table,
    .size = sizeof(point_output),
    .period = SEL_CSV_PERIOD,
    .rows = true,
    .check = probe_check,
    .open = probe_open,
    .ask = point_ask,
    .take = probe_take,
    .close = point_close,
};

/* ---- out.profile: a row for each point ---- */

static sel_status profile_open(sel_output *base, sel_error *error) {
    static const char *const places[] = {"s", "x", "y", "z"};
    point_output *output = (point_output *)base;
    const sel_out_profile *profile = base->params;
    double length = profile_length(profile);
    double parts = fmax(1, round(length / base->context->domain->grid.dx));
    int64_t count =
        profile->points != SEL_INT_NOT_GIVEN ? profile->points : (int64_t)fmin(parts, MOST_POINTS);
    sel_status status = allocate(output, count, error);
    for (int p = 0; p < count && !status; p++) {
        double part = (p + 0.5) / (double)count;
        output->along[p] = part * length;
        output->points[p].n = profile->from.n;
        for (int a = 0; a < profile->from.n; a++) {
            output->points[p].v[a] =
                profile->from.v[a] + part * (profile->to.v[a] - profile->from.v[a]);
        }
    }
    for (int i = 0; i < 4; i++) {
        sel_csv_text(base->csv, places[i]);
    }
    sel_picks_columns(&base->picks, 0, base->csv);
    return status ? status : open_sample(output, true, error);
}

static sel_status profile_take(sel_output *base, sel_error *error) {
    point_output *output = (point_output *)base;
    sel_status status = sel_sample_take(output->sample, base->time, error);
    for (int p = 0; p < output->count && !status; p++) {
        if (p > 0) {
            sel_csv_end_line(base->csv);
            sel_output_row(base);
        }
        sel_csv_number(base->csv, output->along[p]);
        for (int a = 0; a < 3; a++) {
            sel_csv_number(base->csv, output->points[p].v[a]);
        }
        write_point(output, p);
    }
    return status;
}

const sel_output_kind sel_profile_kind = {
    .table = &sel_out_profile_table,
    .size = sizeof(point_output),
    .period = SEL_CSV_PERIOD,
    .rows = true,
    .check = profile_check,
    .open = profile_open,
    .ask = point_ask,
    .take = profile_take,
    .close = point_close,
};
