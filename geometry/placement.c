/* placement.c -- where a shape is placed: moved, rotated, scaled. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "geometry/solid.h"

static const sel_table_field moved_fields[] = {
    SEL_ROW(sel_shape_moved, by, POINT, "How far along each axis.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
};
static const sel_table_field rotated_fields[] = {
    SEL_ROW(sel_shape_rotated, angle, NUMBER,
            "In radians, counter-clockwise seen from the tip of the axis; in 2-D from x to y.",
            .flags = SEL_REQUIRED, .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_shape_rotated, axis, POINT,
            "The direction of the axis; required in 3-D, none in "
            "2-D.",
            .flags = SEL_ANY_DIMS),
    SEL_ROW(sel_shape_rotated, about, POINT,
            "A point on the axis; the origin of the coordinates when not given."),
};
static const sel_table_field scaled_fields[] = {
    SEL_ROW(sel_shape_scaled, factor, NUMBER, "How many times larger.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL | SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_shape_scaled, about, POINT,
            "The point that stays; the origin of the coordinates when not given."),
};

static sel_status check_turn(const sel_shape_rotated *r, const char *name, sel_where where,
                             sel_error *error) {
    const double *axis = r->axis.v;
    sel_status status = SEL_OK;
    if (!(fabs(r->angle) <= 6.284)) {
        status = sel_fail_at(error, where,
                             "%s: angle is in radians, at most 2 pi, got %.10g; write "
                             "math.rad(%.10g) for degrees",
                             name, r->angle, r->angle);
    }
    if (r->axis.n == 2 || (r->axis.n && axis[0] == 0 && axis[1] == 0 && axis[2] == 0)) {
        status =
            sel_fail_at(error, where, "%s: axis must be a direction { x, y, z }, not all 0", name);
    }
    return status;
}

static sel_status check_rotated(const void *data, sel_where where, sel_error *error) {
    return check_turn(data, "shape:rotated", where, error);
}

static sel_status check_rotate(const void *data, sel_where where, sel_error *error) {
    return check_turn(data, "rotate", where, error);
}

const sel_table sel_moved_table = SEL_TABLE(
    "shape.moved", sel_shape_moved, moved_fields,
    "A shape of cells somewhere else: the same shape, moved.", .usage = "SHAPE:moved { x, y, z }");
const sel_table sel_rotated_table = SEL_TABLE(
    "shape.rotated", sel_shape_rotated, rotated_fields, "A shape of cells, turned about an axis.",
    .usage = "SHAPE:rotated { angle = math.rad(30), axis = { 0, 0, 1 }, about = { x, y, z } }",
    .check = check_rotated);
const sel_table sel_rotate_table =
    SEL_TABLE("rotate", sel_shape_rotated, rotated_fields,
              "A rotation of the coordinates of a mesh about an axis.", .check = check_rotate);
const sel_table sel_scaled_table = SEL_TABLE(
    "shape.scaled", sel_shape_scaled, scaled_fields, "A shape of cells, larger or smaller.",
    .usage = "SHAPE:scaled { factor, about = { x, y, z } }");

void sel_shape_unplace(const sel_shape_placement *placement, const double p[3], double own[3]) {
    for (int k = 0; k < 3; k++) {
        own[k] = 0;
        for (int a = 0; a < 3; a++) {
            own[k] += placement->inverse[k][a] * (p[a] - placement->shift[a]);
        }
    }
}

double sel_shape_unplace_slack(const sel_shape_placement *placement, double slack, double size) {
    const double *row = placement->inverse[0];
    const double factor = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
    return factor * slack + 16 * DBL_EPSILON * size;
}

/* Sets the shift so that the point `about` stays where it is. */
static void keep_point(sel_shape_placement *placement, const double about[3]) {
    for (int k = 0; k < 3; k++) {
        placement->shift[k] = about[k];
        for (int a = 0; a < 3; a++) {
            placement->shift[k] -= placement->matrix[k][a] * about[a];
        }
    }
}

void sel_placement_scale(sel_shape_placement *placement, double factor, const double about[3]) {
    *placement = (sel_shape_placement){.shift = {0}};
    for (int a = 0; a < 3; a++) {
        placement->matrix[a][a] = factor;
        placement->inverse[a][a] = 1 / factor;
    }
    keep_point(placement, about);
}

void sel_placement_move(sel_shape_placement *placement, const double by[3]) {
    sel_placement_scale(placement, 1, (const double[]){0, 0, 0});
    memcpy(placement->shift, by, sizeof placement->shift);
}

/* Rodrigues' formula: R = cos I + sin [u] + (1 - cos) u u^T. */
void sel_placement_rotate(sel_shape_placement *placement, double angle, const double axis[3],
                          const double about[3]) {
    const double z[3] = {0, 0, 1}, *v = axis ? axis : z;
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double u[3] = {v[0] / length, v[1] / length, v[2] / length};
    const double c = cos(angle), s = sin(angle);
    const double cross[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 3; a++) {
            const double r = (k == a ? c : 0) + s * cross[k][a] + (1 - c) * u[k] * u[a];
            placement->matrix[k][a] = r;
            placement->inverse[a][k] = r;
        }
    }
    keep_point(placement, about);
}
