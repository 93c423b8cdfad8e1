/* shape.c -- analytic shapes and their combinations, tested at cell centres and face sites.
 *
 * A shape is a tree of operators. The leaves `face`, `faces` and `rest` are true at face sites
 * only. All other leaves are geometry: they are true wherever a point lies inside. Geometry by
 * itself paints cells and no face sites; the product of a face and geometry is a part of the face:
 *
 *   at cells          face: false       geometry: inside        + - * : or, without, and
 *   at face sites     face: its sites   geometry alone: false
 *                     a + b: either     a * b, a - b: geometry operands count as inside
 */
#include "engine/scene/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/scene/simulation.h"

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
static const sel_table_field polygon_fields[] = {
    SEL_ROW(sel_shape_polygon, points, POINTS,
            "Corners { x, y } in order; the last is joined to the first.", .flags = SEL_REQUIRED),
};
static const sel_table_field inside_fields[] = {
    SEL_ROW(sel_shape_inside, test, PREDICATE, "Function of x, y, z that is true inside.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
};

static const sel_table_field image_fields[] = {
    SEL_ROW(sel_shape_image, file, FILE,
            "A picture (.png) with a pixel for each cell, the top row first; a path relative to "
            "the script.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW(sel_shape_image, threshold, NUMBER,
            "Pixels darker than this are inside: 0 is black, 1 is white.", .preset = 0.5),
    SEL_ROW(sel_shape_image, invert, BOOL, "The other pixels are inside instead."),
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
static const sel_table polygon_table =
    SEL_TABLE("shape.polygon", sel_shape_polygon, polygon_fields,
              "The inside of a polygon in the x-y plane.", .check = check_polygon);
static const sel_table inside_table = SEL_TABLE("shape.inside", sel_shape_inside, inside_fields,
                                                "Where a function of place is true.");

static const sel_table image_table = SEL_TABLE(
    "shape.image", sel_shape_image, image_fields,
    "The dark pixels of a picture that covers a two-dimensional domain, a pixel on each cell.");
static const sel_table raster_table =
    SEL_TABLE("shape.raster", sel_shape_raster, raster_fields,
              "Where a raster is above a value; nowhere outside of the raster.");

static const sel_table *const shape_tables[] = {&box_table,     &ball_table,   &cylinder_table,
                                                &polygon_table, &inside_table, &image_table,
                                                &raster_table};
const sel_family sel_shape_family = {
    "shape",
    "Shapes: where a region is. They combine with + (or), - (without) and * (and).",
    shape_tables,
    sizeof shape_tables / sizeof *shape_tables,
};

static sel_shape *shape_copy(sel_arena *arena, sel_shape shape) {
    sel_shape *made = sel_arena_alloc(arena, sizeof *made);
    if (made) {
        *made = shape;
    }
    return made;
}

sel_shape *sel_shape_make(sel_arena *arena, sel_shape_kind kind, const void *data) {
    return shape_copy(arena, (sel_shape){.kind = kind, .data = data});
}

sel_shape *sel_shape_face(sel_arena *arena, int face) {
    return shape_copy(arena, (sel_shape){.kind = SEL_SHAPE_FACE, .face = face});
}

sel_shape *sel_shape_combine(sel_arena *arena, sel_shape_kind kind, const sel_shape *a,
                             const sel_shape *b) {
    return shape_copy(arena, (sel_shape){.kind = kind, .a = a, .b = b});
}

static bool any_leaf(const sel_shape *shape, sel_shape_kind first, sel_shape_kind last) {
    if (shape->a) {
        return any_leaf(shape->a, first, last) || any_leaf(shape->b, first, last);
    }
    return shape->kind >= first && shape->kind <= last;
}

bool sel_shape_has_faces(const sel_shape *shape) {
    return any_leaf(shape, SEL_SHAPE_FACE, SEL_SHAPE_REST);
}

bool sel_shape_has_rest(const sel_shape *shape) {
    return any_leaf(shape, SEL_SHAPE_REST, SEL_SHAPE_REST);
}

/* Half-open, so that two boxes that touch share no cell. */
static bool in_box(const sel_shape_box *box, const double p[3]) {
    bool in = true;
    for (int a = 0; a < box->min.n; a++) {
        in = in && p[a] >= box->min.v[a] && p[a] < box->max.v[a];
    }
    return in;
}

static bool in_ball(const sel_point *centre, double radius, const double p[3]) {
    double squares = 0;
    for (int a = 0; a < centre->n; a++) {
        squares += (p[a] - centre->v[a]) * (p[a] - centre->v[a]);
    }
    return squares <= radius * radius;
}

/* Between the two end planes and no farther than the radius from the axis. */
static bool in_cylinder(const sel_shape_cylinder *c, const double p[3]) {
    if (c->centre.n) {
        return in_ball(&c->centre, c->radius, p);
    }
    double along = 0, length = 0, distance = 0;
    for (int a = 0; a < 3; a++) {
        double axis = c->to.v[a] - c->from.v[a];
        along += axis * (p[a] - c->from.v[a]);
        length += axis * axis;
    }
    along /= length;
    if (along < 0 || along > 1) {
        return false;
    }
    for (int a = 0; a < 3; a++) {
        double off = p[a] - c->from.v[a] - along * (c->to.v[a] - c->from.v[a]);
        distance += off * off;
    }
    return distance <= c->radius * c->radius;
}

/* The index along an axis of the pixel, that is of the cell, in which a point lies; the nearest one
 * for points outside. */
static int64_t pixel_at(const sel_grid *grid, int axis, double at) {
    double cell = floor(sel_index(grid, axis, at) + 0.5);
    return (int64_t)fmin(fmax(cell, 0), (double)grid->n[axis] - 1);
}

/* Pixels are cells; a point on a face of the domain has the pixel beside the face. */
static bool in_image(const sel_shape_image *image, const sel_grid *grid, const double p[3]) {
    int64_t i = pixel_at(grid, 0, p[0]), j = pixel_at(grid, 1, p[1]);
    bool dark = image->pixels->value[j * image->pixels->n[0] + i] < image->threshold;
    return dark != image->invert;
}

bool sel_shape_raster_contains(const sel_shape_raster *shape, const double p[3]) {
    return sel_raster_value(shape->raster->data, p[0], p[1]) > shape->above;
}

/* Even-odd rule: crossings of a ray from the point along +x. */
static bool in_polygon(const sel_points *points, const double p[3]) {
    bool in = false;
    for (int i = 0, j = points->n - 1; i < points->n; j = i++) {
        const double *a = points->v[i].v, *b = points->v[j].v;
        if ((a[1] > p[1]) != (b[1] > p[1]) &&
            p[0] < a[0] + (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1])) {
            in = !in;
        }
    }
    return in;
}

static bool in_geometry(const sel_shape *shape, const sel_grid *grid, const double p[3]) {
    switch (shape->kind) {
    case SEL_SHAPE_BOX:
        return in_box(shape->data, p);
    case SEL_SHAPE_BALL: {
        const sel_shape_ball *ball = shape->data;
        return in_ball(&ball->centre, ball->radius, p);
    }
    case SEL_SHAPE_CYLINDER:
        return in_cylinder(shape->data, p);
    case SEL_SHAPE_POLYGON:
        return in_polygon(&((const sel_shape_polygon *)shape->data)->points, p);
    case SEL_SHAPE_IMAGE:
        return in_image(shape->data, grid, p);
    case SEL_SHAPE_RASTER:
        return sel_shape_raster_contains(shape->data, p);
    default:
        return false;
    }
}

/* ---- bounds: which places need no test ---- */

/* Bounds of places: lo <= p <= hi; empty if lo > hi. */
typedef struct bounds {
    double lo[3], hi[3];
} bounds;

static const bounds nowhere = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}},
                    everywhere = {{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL},
                                  {HUGE_VAL, HUGE_VAL, HUGE_VAL}};

/* Extends `b` by a ball, with a margin for round-off, along the axes that the centre has; it
 * becomes unbounded along the others. */
static void add_ball(bounds *b, const sel_point *centre, double radius) {
    for (int a = 0; a < centre->n; a++) {
        double reach = radius + 1e-9 * (radius + fabs(centre->v[a]));
        b->lo[a] = fmin(b->lo[a], centre->v[a] - reach);
        b->hi[a] = fmax(b->hi[a], centre->v[a] + reach);
    }
    for (int a = centre->n; a < 3; a++) {
        b->lo[a] = -HUGE_VAL;
        b->hi[a] = HUGE_VAL;
    }
}

/* The bounds of a leaf that is geometry. */
static bounds geometry_bounds(const sel_shape *shape) {
    bounds b = nowhere;
    switch (shape->kind) {
    case SEL_SHAPE_BOX: {
        const sel_shape_box *box = shape->data;
        add_ball(&b, &box->min, 0);
        add_ball(&b, &box->max, 0);
        return b;
    }
    case SEL_SHAPE_BALL: {
        const sel_shape_ball *ball = shape->data;
        add_ball(&b, &ball->centre, ball->radius);
        return b;
    }
    case SEL_SHAPE_CYLINDER: {
        const sel_shape_cylinder *c = shape->data;
        add_ball(&b, c->centre.n ? &c->centre : &c->from, c->radius);
        add_ball(&b, c->centre.n ? &c->centre : &c->to, c->radius);
        return b;
    }
    case SEL_SHAPE_POLYGON: {
        const sel_points *points = &((const sel_shape_polygon *)shape->data)->points;
        for (int i = 0; i < points->n; i++) {
            add_ball(&b, &(sel_point){2, {points->v[i].v[0], points->v[i].v[1], 0}}, 0);
        }
        return b;
    }
    default:
        return everywhere;
    }
}

/* The bounds of the cell centres in a shape. */
static bounds cell_bounds(const sel_shape *shape) {
    if (!shape->a) {
        return shape->kind <= SEL_SHAPE_REST ? nowhere : geometry_bounds(shape);
    }
    bounds a = cell_bounds(shape->a);
    if (shape->kind == SEL_SHAPE_DIFFERENCE) {
        return a;
    }
    bounds b = cell_bounds(shape->b);
    bool sum = shape->kind == SEL_SHAPE_UNION;
    for (int k = 0; k < 3; k++) {
        a.lo[k] = sum ? fmin(a.lo[k], b.lo[k]) : fmax(a.lo[k], b.lo[k]);
        a.hi[k] = sum ? fmax(a.hi[k], b.hi[k]) : fmin(a.hi[k], b.hi[k]);
    }
    return a;
}

sel_box sel_shape_cells(const sel_shape *shape, const sel_grid *grid) {
    bounds b = cell_bounds(shape);
    sel_box box = sel_grid_box(grid);
    for (int a = 0; a < grid->dims; a++) {
        double n = (double)grid->n[a];
        double lo = floor(sel_index(grid, a, b.lo[a]) - 0.5);
        double hi = ceil(sel_index(grid, a, b.hi[a]) + 1.5);
        box.lo[a] = (int64_t)fmin(fmax(lo, 0), n);
        box.hi[a] = (int64_t)fmin(fmax(hi, (double)box.lo[a]), n);
    }
    return box;
}

/* ---- tests ---- */

/* The test of a batch of places. */
typedef struct test {
    const sel_grid *grid;
    int face; /* < 0: cell centres */
    const sel_places *at;
    const uint8_t *painted;
    /* Boxes are half-open, but one that ends with the domain must contain the sites and nodes on
     * the domain's last face. So `inward`, a tiny step off the face, is added to a place, and its
     * coordinates are limited to `last` (sel_last_inside). */
    double inward[3], last[3];
    bounds places; /* of the batch */
} test;

static void add_coordinates(const test *t, int axis, const double *v, bounds *places) {
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    for (size_t i = 0; i < t->at->n; i++) {
        double p = v ? v[i] : 0;
        lo = p < lo ? p : lo;
        hi = p > hi ? p : hi;
    }
    places->lo[axis] = lo + t->inward[axis];
    places->hi[axis] = hi + t->inward[axis];
}

/* Whether no place of the batch can lie in this leaf. */
static bool misses(const sel_shape *shape, const test *t) {
    if (shape->kind <= SEL_SHAPE_REST) {
        return t->face < 0 || (shape->kind == SEL_SHAPE_FACE && shape->face != t->face);
    }
    bounds b = geometry_bounds(shape);
    bool apart = false;
    for (int a = 0; a < 3; a++) {
        apart = apart || b.lo[a] > t->places.hi[a] || b.hi[a] < t->places.lo[a];
    }
    return apart;
}

static sel_status test_function(const sel_shape *shape, const test *t, uint8_t *in,
                                sel_error *error) {
    const sel_function *function = ((const sel_shape_inside *)shape->data)->test;
    double *values = malloc(t->at->n * sizeof *values);
    if (!values) {
        return sel_fail_memory(error, "a shape's function", t->at->n * sizeof *values);
    }
    sel_status status = function->eval(function, t->at, values, error);
    for (size_t i = 0; !status && i < t->at->n; i++) {
        in[i] = values[i] != 0;
    }
    free(values);
    return status;
}

/* Whether site i lies in a leaf `face`, `faces` or `rest`, for which misses() is false. */
static bool face_leaf_at(const sel_shape *shape, const test *t, size_t i) {
    return shape->kind == SEL_SHAPE_FACE || (!sel_axis_periodic(t->grid, t->face / 2) &&
                                             (shape->kind == SEL_SHAPE_FACES || !t->painted[i]));
}

static sel_status test_leaf(const sel_shape *shape, const test *t, uint8_t *in, sel_error *error) {
    if (shape->kind == SEL_SHAPE_INSIDE) {
        return test_function(shape, t, in, error);
    }
    bool face = shape->kind <= SEL_SHAPE_REST;
    const double *in_by = t->inward, *last = t->last;
    for (size_t i = 0; i < t->at->n; i++) {
        const double z = t->at->z ? t->at->z[i] : 0;
        double p[3] = {fmin(t->at->x[i] + in_by[0], last[0]), fmin(t->at->y[i] + in_by[1], last[1]),
                       fmin(z + in_by[2], last[2])};
        in[i] = face ? face_leaf_at(shape, t, i) : in_geometry(shape, t->grid, p);
    }
    return SEL_OK;
}

static sel_status test_tree(const sel_shape *shape, const test *t, bool cuts, uint8_t *in,
                            bool *any, sel_error *error);

/* Tests an operator and its two operands; `other`: scratch for the second operand. */
static sel_status test_both(const sel_shape *shape, const test *t, bool geometry, uint8_t *in,
                            uint8_t *other, bool *any, sel_error *error) {
    bool sum = shape->kind == SEL_SHAPE_UNION, product = shape->kind == SEL_SHAPE_INTERSECTION;
    bool second = false;
    size_t n = t->at->n;
    sel_status status = test_tree(shape->a, t, geometry || product, in, any, error);
    if (status || (!*any && !sum)) {
        return status;
    }
    status = test_tree(shape->b, t, geometry || !sum, other, &second, error);
    if (!second) {
        *any = *any && !product;
    } else if (!*any) {
        memcpy(in, other, n);
        *any = true;
    } else {
        for (size_t i = 0; i < n; i++) {
            in[i] = sum ? in[i] || other[i] : product ? in[i] && other[i] : in[i] && !other[i];
        }
    }
    return status;
}

/* Tests a tree. At face sites an operand without faces counts as geometry only if it cuts a face
 * (`cuts`: an operand of *, or the right one of -); else it is empty. *any = false: no place is
 * inside, and `in` is not filled. */
static sel_status test_tree(const sel_shape *shape, const test *t, bool cuts, uint8_t *in,
                            bool *any, sel_error *error) {
    bool geometry = t->face < 0 || (cuts && !sel_shape_has_faces(shape));
    *any = false;
    if (!geometry && !sel_shape_has_faces(shape)) {
        return SEL_OK;
    }
    if (!shape->a) {
        *any = !misses(shape, t);
        return *any ? test_leaf(shape, t, in, error) : SEL_OK;
    }
    uint8_t *other = malloc(t->at->n);
    if (!other) {
        return sel_fail_memory(error, "a shape", t->at->n);
    }
    sel_status status = test_both(shape, t, geometry, in, other, any, error);
    free(other);
    return status;
}

sel_status sel_shape_test(const sel_shape *shape, const sel_grid *grid, int face,
                          const sel_places *at, const uint8_t *painted, uint8_t *in,
                          sel_error *error) {
    test t = {.grid = grid, .face = face, .at = at, .painted = painted};
    bool any;
    if (face >= 0) {
        t.inward[face / 2] = (face % 2 ? -1e-9 : 1e-9) * grid->dx[face / 2];
    }
    for (int a = 0; a < 3; a++) {
        t.last[a] = a < grid->dims ? sel_last_inside(grid, a) : HUGE_VAL;
    }
    add_coordinates(&t, 0, at->x, &t.places);
    add_coordinates(&t, 1, at->y, &t.places);
    add_coordinates(&t, 2, at->z, &t.places);
    sel_status status = test_tree(shape, &t, false, in, &any, error);
    if (!any) {
        memset(in, 0, at->n);
    }
    return status;
}

/* ---- checks ---- */

static sel_status check_image(const sel_shape *shape, const sel_grid *grid, sel_error *error) {
    const sel_shape_image *image = shape->data;
    const int64_t *n = image->pixels->n;
    if (grid->dims != 2) {
        return sel_fail_at(error, shape->where,
                           "shape.image: a picture fills a domain of 2 dimensions, this one has %d",
                           grid->dims);
    }
    if (n[0] != grid->n[0] || n[1] != grid->n[1]) {
        return sel_fail_at(error, shape->where,
                           "shape.image: %s has %lld x %lld pixels, the domain %lld x %lld cells; "
                           "there must be a pixel for each cell",
                           image->file, (long long)n[0], (long long)n[1], (long long)grid->n[0],
                           (long long)grid->n[1]);
    }
    return SEL_OK;
}

/* Scripts are checked before; points given from C may have any number of coordinates. */
static sel_status check_points(const sel_shape *shape, int dims, sel_error *error) {
    const sel_table *table = shape_tables[shape->kind - SEL_SHAPE_BOX];
    for (int i = 0; i < table->count; i++) {
        const sel_table_field *field = &table->fields[i];
        const sel_point *point = (const void *)((const char *)shape->data + field->offset);
        if (field->kind == SEL_KIND_POINT && point->n && point->n != dims) {
            return sel_fail_at(error, shape->where,
                               "%s: %s has %d coordinates in a domain of %d dimensions",
                               table->name, field->name, point->n, dims);
        }
    }
    return SEL_OK;
}

static sel_status check_leaf(const sel_shape *shape, const sel_grid *grid, sel_error *error) {
    const int dims = grid->dims;
    if (shape->kind == SEL_SHAPE_FACE && shape->face / 2 >= dims) {
        return sel_fail_at(error, shape->where, "shape.face \"%s\": the domain has %d dimensions",
                           sel_face_name(shape->face), dims);
    }
    const sel_shape_cylinder *c = shape->data;
    if (shape->kind == SEL_SHAPE_CYLINDER && (dims == 2) != (c->centre.n > 0)) {
        return sel_fail_at(error, shape->where, "shape.cylinder: give %s in %d dimensions",
                           dims == 2 ? "centre" : "from and to", dims);
    }
    sel_status status = SEL_OK;
    if (shape->kind == SEL_SHAPE_IMAGE) {
        status = check_image(shape, grid, error);
    } else if (shape->kind > SEL_SHAPE_REST) {
        status = check_points(shape, dims, error);
    }
    const sel_shape_box *box = shape->data;
    for (int a = 0; shape->kind == SEL_SHAPE_BOX && !status && a < dims; a++) {
        if (box->min.v[a] >= box->max.v[a]) {
            status = sel_fail_at(error, shape->where,
                                 "shape.box is empty: min %.10g is not below max %.10g on axis %s",
                                 box->min.v[a], box->max.v[a], sel_axis_names[a]);
        }
    }
    return status;
}

sel_status sel_shape_check(const sel_shape *shape, const sel_grid *grid, sel_error *error) {
    if (!shape->a) {
        return check_leaf(shape, grid, error);
    }
    sel_status a = sel_shape_check(shape->a, grid, error);
    sel_status b = sel_shape_check(shape->b, grid, error);
    return a ? a : b;
}
