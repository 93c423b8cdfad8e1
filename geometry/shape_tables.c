/* shape_tables.c -- the tables of analytic shapes, pictures and rasters, and their checks. */
#include <string.h>
#include "engine/scene/shape.h"
#include "geometry/solid.h"

static const sel_table_field box_fields[] = {
    SEL_ROW(sel_shape_box, min, POINT, "Lower corner.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_box, max, POINT, "Upper corner.", .flags = SEL_REQUIRED),
};
static const sel_table_field ball_fields[] = {
    SEL_ROW(sel_shape_ball, centre, POINT, "Its centre.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_ball, radius, NUMBER, "Its radius.", .flags = SEL_REQUIRED | SEL_POSITIVE,
            .preset = SEL_NOT_GIVEN),
};
static const sel_table_field cylinder_fields[] = {
    SEL_ROW(sel_shape_cylinder, from, POINT, "One end of the axis (3-D).", .flags = SEL_ANY_DIMS),
    SEL_ROW(sel_shape_cylinder, to, POINT, "The other end of the axis (3-D).",
            .flags = SEL_ANY_DIMS),
    SEL_ROW(sel_shape_cylinder, centre, POINT, "Its centre (2-D).", .flags = SEL_ANY_DIMS),
    SEL_ROW(sel_shape_cylinder, radius, NUMBER, "Its radius.", .flags = SEL_REQUIRED | SEL_POSITIVE,
            .preset = SEL_NOT_GIVEN),
};
static const sel_table_field ellipsoid_fields[] = {
    SEL_ROW(sel_shape_ellipsoid, centre, POINT, "Its centre.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_ellipsoid, radii, POINT, "Half its length along each axis.",
            .flags = SEL_REQUIRED),
};
static const sel_table_field cone_fields[] = {
    SEL_ROW(sel_shape_cone, from, POINT, "One end of the axis.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_cone, to, POINT, "The other end of the axis.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_cone, radii, POINT, "Its radii at from and at to; 0 is a tip.",
            .flags = SEL_REQUIRED | SEL_ANY_DIMS),
};
static const sel_table_field torus_fields[] = {
    SEL_ROW(sel_shape_torus, centre, POINT, "Its centre.", .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_torus, axis, POINT, "The direction of its axis (3-D); z when not given.",
            .flags = SEL_ANY_DIMS),
    SEL_ROW(sel_shape_torus, radius, NUMBER, "From its centre to the middle of the tube.",
            .flags = SEL_REQUIRED | SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
    SEL_ROW(sel_shape_torus, tube, NUMBER, "The radius of the tube, at most that of the torus.",
            .flags = SEL_REQUIRED | SEL_POSITIVE, .preset = SEL_NOT_GIVEN),
};
static const sel_table_field polygon_fields[] = {
    SEL_ROW(sel_shape_polygon, points, POINTS,
            "Corners { x, y } in order; the last is joined to the first.", .flags = SEL_REQUIRED),
};
static const sel_table_field inside_fields[] = {
    SEL_ROW(sel_shape_inside, test, PREDICATE, "Function of x, y, z that is true inside.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
};

static const sel_table_field image_fields[] = {
    SEL_ROW_NAMED(
        "file", sel_shape_image, ask.file, FILE,
        "A picture (.png) with a pixel for each cell, the top row first; in 3-D one for each plane "
        "along z, plane_%03d.png, numbered from 0 or 1. Or an array (.npy, .raw, .vti) with a "
        "number "
        "for each cell, the lowest x, y and z first. A path relative to the script.",
        .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW_NAMED(
        "threshold", sel_shape_image, ask.threshold, NUMBER,
        "Pixels darker than this are inside: 0 is black, 1 is white. Of an array, numbers "
        "less than this.",
        .preset = 0.5),
    SEL_ROW_NAMED("invert", sel_shape_image, ask.invert, BOOL,
                  "The other cells are inside instead."),
    SEL_ROW_NAMED("size", sel_shape_image, ask.size, SIZE,
                  "Of a .raw file: how many numbers it has along x, y and z; x is the fastest."),
    SEL_ROW_NAMED("type", sel_shape_image, ask.type, CHOICE,
                  "Of a .raw file: the type of its numbers, the lowest byte first.",
                  .choices = sel_mask_types, .preset = -1),
    SEL_ROW_NAMED("array", sel_shape_image, ask.array, STRING,
                  "Of a .vti file: the name of the array; the only one when not given."),
};
static const sel_table_field raster_fields[] = {
    SEL_ROW(sel_shape_raster, raster, RASTER, "A raster made by sel.raster.",
            .flags = SEL_REQUIRED),
    SEL_ROW(sel_shape_raster, above, NUMBER, "Inside is where the raster is greater than this.",
            .flags = SEL_REQUIRED, .preset = SEL_NOT_GIVEN),
};

static sel_status check_cylinder(const void *data, sel_where where, sel_error *error) {
    const sel_shape_cylinder *c = data;
    bool axis = c->from.n && c->to.n;
    if (axis == (c->centre.n > 0) || (c->from.n > 0) != (c->to.n > 0)) {
        return sel_fail_at(error, where,
                           "shape.cylinder: give from and to in 3-D, or centre in 2-D");
    }
    if (axis && memcmp(c->from.v, c->to.v, sizeof c->from.v) == 0) {
        return sel_fail_at(error, where, "shape.cylinder: from and to are the same point");
    }
    return SEL_OK;
}

static sel_status check_ellipsoid(const void *data, sel_where where, sel_error *error) {
    const sel_shape_ellipsoid *e = data;
    for (int a = 0; a < e->radii.n; a++) {
        if (!(e->radii.v[a] > 0)) {
            return sel_fail_at(error, where, "shape.ellipsoid: radii must be above 0, got %.10g",
                               e->radii.v[a]);
        }
    }
    return SEL_OK;
}

static sel_status check_cone(const void *data, sel_where where, sel_error *error) {
    const sel_shape_cone *c = data;
    if (c->radii.n != 2) {
        return sel_fail_at(error, where,
                           "shape.cone: radii must be { at from, at to }, got %d numbers",
                           c->radii.n);
    }
    if (!(c->radii.v[0] >= 0 && c->radii.v[1] >= 0 && c->radii.v[0] + c->radii.v[1] > 0)) {
        return sel_fail_at(error, where,
                           "shape.cone: radii must be 0 or more, and not both 0, got %.10g and "
                           "%.10g",
                           c->radii.v[0], c->radii.v[1]);
    }
    if (memcmp(c->from.v, c->to.v, sizeof c->from.v) == 0) {
        return sel_fail_at(error, where, "shape.cone: from and to are the same point");
    }
    return SEL_OK;
}

static sel_status check_torus(const void *data, sel_where where, sel_error *error) {
    const sel_shape_torus *torus = data;
    const double *v = torus->axis.v;
    if (torus->axis.n == 2) {
        return sel_fail_at(error, where, "shape.torus: give axis as { x, y, z }, or leave it out");
    }
    if (torus->axis.n && v[0] == 0 && v[1] == 0 && v[2] == 0) {
        return sel_fail_at(error, where,
                           "shape.torus: axis has no length; give a direction { x, y, z }");
    }
    if (torus->tube > torus->radius) {
        return sel_fail_at(error, where,
                           "shape.torus: tube %.10g must be at most radius %.10g, or there is no "
                           "hole",
                           torus->tube, torus->radius);
    }
    return SEL_OK;
}

static sel_status check_polygon(const void *data, sel_where where, sel_error *error) {
    const sel_shape_polygon *polygon = data;
    if (polygon->points.n < 3) {
        return sel_fail_at(error, where, "shape.polygon: %d points make no area; give 3 or more",
                           polygon->points.n);
    }
    return SEL_OK;
}

static const sel_table box_table = SEL_TABLE("shape.box", sel_shape_box, box_fields,
                                             "The cells whose centres lie in min <= x < max.");
static const sel_table ball_table =
    SEL_TABLE("shape.ball", sel_shape_ball, ball_fields, "A ball; a disc in 2-D.");
static const sel_table cylinder_table =
    SEL_TABLE("shape.cylinder", sel_shape_cylinder, cylinder_fields,
              "A cylinder between two points; a disc in 2-D.", .check = check_cylinder);
static const sel_table ellipsoid_table =
    SEL_TABLE("shape.ellipsoid", sel_shape_ellipsoid, ellipsoid_fields,
              "An ellipsoid along the axes; an ellipse in 2-D.", .check = check_ellipsoid);
static const sel_table cone_table =
    SEL_TABLE("shape.cone", sel_shape_cone, cone_fields,
              "A cone, or a part of one, between two points; in 2-D its section, a trapezium.",
              .check = check_cone);
static const sel_table torus_table = SEL_TABLE("shape.torus", sel_shape_torus, torus_fields,
                                               "A torus; in 2-D a ring.", .check = check_torus);
static const sel_table polygon_table =
    SEL_TABLE("shape.polygon", sel_shape_polygon, polygon_fields,
              "The inside of a polygon in the x-y plane.", .check = check_polygon);
static const sel_table inside_table = SEL_TABLE("shape.inside", sel_shape_inside, inside_fields,
                                                "Where a function of place is true.");

static const sel_table image_table = SEL_TABLE(
    "shape.image", sel_shape_image, image_fields,
    "The dark pixels of pictures, or the cells that an array marks; it covers the domain.");
static const sel_table raster_table =
    SEL_TABLE("shape.raster", sel_shape_raster, raster_fields,
              "Where a raster is above a value; nowhere outside of the raster.");

static const sel_table *const shape_tables[] = {
    &box_table,     &ball_table,   &ellipsoid_table, &cylinder_table, &cone_table,    &torus_table,
    &polygon_table, &inside_table, &image_table,     &raster_table,   &sel_mesh_table};
const sel_family sel_shape_family = {
    "shape",
    "Shapes: where a region is. They combine with + (or), - (without) and * (and).",
    shape_tables,
    sizeof shape_tables / sizeof *shape_tables,
};
