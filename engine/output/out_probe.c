/* out_probe.c -- out.probe and out.profile: fields at points and along a line, as CSV. */
#include <stdio.h>
#include "engine/output/kind.h"

static const sel_table_field probe_fields[] = {
    SEL_OUT_SCHEDULE_ROWS(SEL_OUT_FROM_STEP_HELP, SEL_OUT_FROM_TIME_HELP),
    SEL_ROW(sel_probe_params, field, NAMES, SEL_OUT_FIELDS_HELP,
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_probe_params, at, POINTS,
            "A point or a list of points. Values are interpolated linearly between the centres of "
            "cells that are not solid; beyond the outermost centre its value holds. A point in a "
            "solid is an error.",
            .flags = SEL_REQUIRED),
};

const sel_table sel_out_probe_table = SEL_TABLE(
    "out.probe", sel_probe_params, probe_fields,
    "Fields at points, as NAME.csv with step,time,values: FIELD_x by component, _1 _2 by point.");

static const sel_table_field profile_fields[] = {
    SEL_OUT_COMMON_ROWS,
    SEL_ROW(sel_profile_params, field, NAMES, SEL_OUT_FIELDS_HELP,
            .flags = SEL_REQUIRED | SEL_RESULT),
    SEL_ROW(sel_profile_params, from, POINT, "Where the line begins.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_profile_params, to, POINT, "Where the line ends.", .flags = SEL_REQUIRED),
    SEL_ROW(
        sel_profile_params, points, INT,
        "Number of samples: the line is divided into equal parts, with a sample at the middle "
        "of each; its length / dx when not given. With layout = \"node\" the samples stand from "
        "end to end, as far apart as nodes when not given.",
        .flags = SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};

const sel_table sel_out_profile_table = SEL_TABLE(
    "out.profile", sel_profile_params, profile_fields,
    "Fields along a line, as NAME.csv with step,time,s,x,y,z,values: a row per sample "
    "and time. Values are interpolated as by out.probe, but in the half cell at a wall, where "
    "sel.lbm, sel.heat and sel.poisson know the value on it, "
    "linearly to the value on the wall, in sel.heat and sel.poisson also to that which "
    "follows from law.flux or law.convective; in solids they are 0.");

/* Fields sampled at points: out.probe and out.profile. */
typedef struct point_output {
    sel_output base;
    sel_sample *sample;
    int count;
    sel_point *points; /* out.profile only */
    bool ends;         /* the first and last point are the ends of the line */
} point_output;

/* Columns of several points have numbers. */
static void probe_check(sel_output_checker *checker, const void *params) {
    static const char *const others[] = {"step", "time", NULL}, *const none[] = {NULL};
    const sel_probe_params *probe = params;
    sel_points_check(checker, &probe->at);
    sel_columns_check(checker, &probe->field, false, probe->at.n > 1 ? none : others);
}

static void profile_check(sel_output_checker *checker, const void *params) {
    static const char *const others[] = {"step", "time", "s", "x", "y", "z", NULL};
    const sel_profile_params *profile = params;
    sel_columns_check(checker, &profile->field, false, others);
    const bool from = sel_point_check(checker, "from", &profile->from);
    const bool to = sel_point_check(checker, "to", &profile->to);
    if (from && to && !(sel_line_length(&profile->from, &profile->to) > 0)) {
        sel_output_refuse(checker, "from and to are the same point");
    }
    bool given = profile->points != SEL_INT_NOT_GIVEN;
    if (given && (profile->points < 1 || profile->points > SEL_MOST_POINTS)) {
        sel_output_refuse(checker, "points must be 1 to %d, got %lld", SEL_MOST_POINTS,
                          (long long)profile->points);
    }
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

/* ---- out.probe: a column for each point ---- */

static sel_status probe_open(sel_output *base, sel_error *error) {
    point_output *output = (point_output *)base;
    const sel_points *at = &((const sel_probe_params *)base->params)->at;
    output->count = at->n;
    for (int p = 0; p < at->n; p++) {
        sel_picks_columns(&base->picks, at->n > 1 ? p + 1 : 0, base->csv);
    }
    return sel_sample_create(base, at->v, at->n, false, &output->sample, error);
}

static sel_status probe_take(sel_output *base, sel_error *error) {
    point_output *output = (point_output *)base;
    sel_status status = sel_sample_take(output->sample, error);
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
    .take = probe_take,
};

/* ---- out.profile: a row for each point ---- */

static sel_status profile_open(sel_output *base, sel_error *error) {
    static const char *const places[] = {"s", "x", "y", "z"};
    point_output *output = (point_output *)base;
    const sel_profile_params *profile = base->params;
    output->count = profile->points != SEL_INT_NOT_GIVEN ? (int)profile->points : 0;
    for (int i = 0; i < 4; i++) {
        sel_csv_text(base->csv, places[i]);
    }
    sel_picks_columns(&base->picks, 0, base->csv);
    output->ends = base->context->domain->grid.nodes;
    return sel_sample_line(base, &profile->from, &profile->to, output->ends, &output->count,
                           &output->points, &output->sample, error);
}

static sel_status profile_take(sel_output *base, sel_error *error) {
    point_output *output = (point_output *)base;
    const sel_profile_params *profile = base->params;
    const double length = sel_line_length(&profile->from, &profile->to);
    sel_status status = sel_sample_take(output->sample, error);
    for (int p = 0; p < output->count && !status; p++) {
        if (p > 0) {
            sel_csv_end_line(base->csv);
            sel_output_row(base);
        }
        sel_csv_number(base->csv, sel_line_part(p, output->count, output->ends) * length);
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
    .take = profile_take,
};
