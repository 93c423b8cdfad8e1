/* solid.c -- the primitives of shapes: which points lie in one, its bounds, where a segment meets
 * its surface.
 *
 * A segment is from + t (to - from), 0 <= t <= 1. Each surface is an equation in t, and roots of it
 * that belong to no part of the surface do no harm: who asks tests the points between the roots.
 */
#include "geometry/solid.h"

#include <math.h>
#include <string.h>
#include "geometry/mesh.h"

static double inner_product(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const double a[3], const double b[3], double difference[3]) {
    for (int k = 0; k < 3; k++) {
        difference[k] = a[k] - b[k];
    }
}

/* ---- which points lie in a primitive ---- */

/* Half-open, so that two boxes that touch share no cell. */
static bool in_box(const sel_shape_box *box, const double p[3]) {
    bool in = true;
    for (int a = 0; a < box->min.n; a++) {
        in = in && p[a] >= box->min.v[a] && p[a] < box->max.v[a];
    }
    return in;
}

static bool in_ball(const sel_point *centre, double radius, double slack, const double p[3]) {
    double squares = 0;
    radius += slack;
    for (int a = 0; a < centre->n; a++) {
        squares += (p[a] - centre->v[a]) * (p[a] - centre->v[a]);
    }
    return squares <= radius * radius;
}

static bool in_ellipsoid(const sel_shape_ellipsoid *e, double slack, const double p[3]) {
    double squares = 0;
    for (int a = 0; a < e->centre.n; a++) {
        const double off = (p[a] - e->centre.v[a]) / (e->radii.v[a] + slack);
        squares += off * off;
    }
    return squares <= 1;
}

/* The line of a cone or cylinder: from a point along a vector. */
typedef struct spine {
    double from[3], axis[3], squared; /* the square of the length of `axis` */
    double radius, taper;             /* at `from`; what is added at the other end */
} spine;

static spine make_spine(const sel_point *from, const sel_point *to, double radius, double end) {
    spine s = {.radius = radius, .taper = end - radius};
    for (int a = 0; a < from->n; a++) {
        s.from[a] = from->v[a];
        s.axis[a] = to->v[a] - from->v[a];
    }
    s.squared = inner_product(s.axis, s.axis);
    return s;
}

static spine spine_of(const sel_shape *shape) {
    if (shape->kind == SEL_SHAPE_CONE) {
        const sel_shape_cone *cone = shape->data;
        return make_spine(&cone->from, &cone->to, cone->radii.v[0], cone->radii.v[1]);
    }
    const sel_shape_cylinder *c = shape->data;
    return make_spine(&c->from, &c->to, c->radius, c->radius);
}

/* Between the two end planes, and no farther from the axis than the radius there. In 2-D, where z
 * is 0 on the axis and is left out, a trapezium. */
static bool in_spine(const spine *s, int dims, double slack, const double p[3]) {
    double m[3], distance = 0;
    subtract(p, s->from, m);
    m[2] = dims == 3 ? m[2] : 0;
    const double along = inner_product(m, s->axis) / s->squared, ends = slack / sqrt(s->squared);
    if (along < -ends || along > 1 + ends) {
        return false;
    }
    for (int a = 0; a < 3; a++) {
        const double off = m[a] - along * s->axis[a];
        distance += off * off;
    }
    const double radius = s->radius + along * s->taper + slack;
    return distance <= radius * radius;
}

/* The unit vector along the axis of a torus; z in 2-D. */
static void torus_axis(const sel_shape_torus *torus, double axis[3]) {
    const double *v = torus->axis.v, length = sqrt(inner_product(v, v));
    const bool given = torus->axis.n == 3;
    for (int a = 0; a < 3; a++) {
        axis[a] = given ? v[a] / length : a == 2;
    }
}

/* The distance of a point to the surface of a torus, negative inside. */
static double torus_distance(const sel_shape_torus *torus, const double axis[3],
                             const double p[3]) {
    double m[3], across[3];
    subtract(p, torus->centre.v, m);
    m[2] = torus->centre.n == 3 ? m[2] : 0;
    const double high = inner_product(m, axis);
    for (int a = 0; a < 3; a++) {
        across[a] = m[a] - high * axis[a];
    }
    return hypot(sqrt(inner_product(across, across)) - torus->radius, high) - torus->tube;
}

static bool in_torus(const sel_shape_torus *torus, double slack, const double p[3]) {
    double axis[3];
    torus_axis(torus, axis);
    return torus_distance(torus, axis, p) <= slack;
}

/* The pixel of a coordinate along an axis, that is the cell. A point on a face of the domain has
 * the pixel beside the face. -1: outside the domain. */
static int64_t pixel_at(const sel_grid *grid, int axis, double at) {
    const double cell = floor(sel_index(grid, axis, at) + 0.5), n = (double)grid->n[axis];
    return cell >= -1 && cell <= n ? (int64_t)fmin(fmax(cell, 0), n - 1) : -1;
}

static bool in_image(const sel_shape_image *image, const sel_grid *grid, const double p[3]) {
    const int64_t i = pixel_at(grid, 0, p[0]), j = pixel_at(grid, 1, p[1]);
    const int64_t k = grid->dims == 3 ? pixel_at(grid, 2, p[2]) : 0;
    return i >= 0 && j >= 0 && k >= 0 && image->mask->marked[i + grid->n[0] * (j + grid->n[1] * k)];
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

bool sel_solid_contains(const sel_shape *shape, const sel_grid *grid, double slack,
                        const double p[3], bool *failed) {
    const sel_shape_ball *ball = shape->data;
    const sel_shape_cylinder *cylinder = shape->data;
    double moved[3] = {p[0], p[1], p[2]};
    spine s;
    sel_solid_move(slack, moved);
    switch (shape->kind) {
    case SEL_SHAPE_BOX:
        return in_box(shape->data, moved);
    case SEL_SHAPE_BALL:
        return in_ball(&ball->centre, ball->radius, slack, p);
    case SEL_SHAPE_ELLIPSOID:
        return in_ellipsoid(shape->data, slack, p);
    case SEL_SHAPE_CYLINDER:
        if (cylinder->centre.n) {
            return in_ball(&cylinder->centre, cylinder->radius, slack, p);
        }
        s = spine_of(shape);
        return in_spine(&s, 3, slack, p);
    case SEL_SHAPE_CONE:
        s = spine_of(shape);
        return in_spine(&s, ((const sel_shape_cone *)shape->data)->from.n, slack, p);
    case SEL_SHAPE_TORUS:
        return in_torus(shape->data, slack, p);
    case SEL_SHAPE_POLYGON:
        return in_polygon(&((const sel_shape_polygon *)shape->data)->points, moved);
    case SEL_SHAPE_IMAGE:
        return in_image(shape->data, grid, p);
    case SEL_SHAPE_RASTER:
        return sel_shape_raster_contains(shape->data, moved);
    case SEL_SHAPE_MESH:
        return sel_mesh_winding(((const sel_shape_mesh *)shape->data)->mesh, moved, failed) != 0;
    default:
        return false;
    }
}

/* ---- bounds ---- */

/* Extends `b` by a box about a centre, with a margin for round-off, along the axes that the centre
 * has; it becomes unbounded along the others. */
static void extend_by_box(sel_bounds *b, const sel_point *centre, const double half[3]) {
    for (int a = 0; a < centre->n; a++) {
        const double reach = half[a] + 1e-9 * (half[a] + fabs(centre->v[a]));
        b->lo[a] = fmin(b->lo[a], centre->v[a] - reach);
        b->hi[a] = fmax(b->hi[a], centre->v[a] + reach);
    }
    for (int a = centre->n; a < 3; a++) {
        b->lo[a] = -HUGE_VAL;
        b->hi[a] = HUGE_VAL;
    }
}

static void extend_by_ball(sel_bounds *b, const sel_point *centre, double radius) {
    extend_by_box(b, centre, (const double[]){radius, radius, radius});
}

sel_bounds sel_solid_bounds(const sel_shape *shape) {
    sel_bounds b = SEL_NOWHERE;
    const sel_shape_box *box = shape->data;
    const sel_shape_ball *ball = shape->data;
    const sel_shape_ellipsoid *ellipsoid = shape->data;
    const sel_shape_cylinder *c = shape->data;
    const sel_shape_cone *cone = shape->data;
    const sel_shape_torus *torus = shape->data;
    const sel_points *points = &((const sel_shape_polygon *)shape->data)->points;
    switch (shape->kind) {
    case SEL_SHAPE_BOX:
        extend_by_ball(&b, &box->min, 0);
        extend_by_ball(&b, &box->max, 0);
        return b;
    case SEL_SHAPE_BALL:
        extend_by_ball(&b, &ball->centre, ball->radius);
        return b;
    case SEL_SHAPE_ELLIPSOID:
        extend_by_box(&b, &ellipsoid->centre, ellipsoid->radii.v);
        return b;
    case SEL_SHAPE_CYLINDER:
        extend_by_ball(&b, c->centre.n ? &c->centre : &c->from, c->radius);
        extend_by_ball(&b, c->centre.n ? &c->centre : &c->to, c->radius);
        return b;
    case SEL_SHAPE_CONE:
        extend_by_ball(&b, &cone->from, cone->radii.v[0]);
        extend_by_ball(&b, &cone->to, cone->radii.v[1]);
        return b;
    case SEL_SHAPE_TORUS:
        extend_by_ball(&b, &torus->centre, torus->radius + torus->tube);
        return b;
    case SEL_SHAPE_POLYGON:
        for (int i = 0; i < points->n; i++) {
            extend_by_ball(&b, &(sel_point){2, {points->v[i].v[0], points->v[i].v[1], 0}}, 0);
        }
        return b;
    case SEL_SHAPE_MESH:
        return ((const sel_shape_mesh *)shape->data)->mesh->bounds;
    default:
        return SEL_EVERYWHERE;
    }
}

/* ---- where a segment meets the surface ---- */

/* The real roots of a t^2 + 2 b t + c; returns their number, up to 2. Each is found by the form
 * that does not subtract nearly equal numbers. */
static int solve_quadratic(double a, double b, double c, double root[2]) {
    const double d = b * b - a * c;
    if (d < 0) {
        return 0;
    }
    const double big = -(b + copysign(sqrt(d), b));
    int count = 0;
    if (a != 0) {
        root[count++] = big / a;
    }
    if (big != 0) {
        root[count++] = c / big;
    }
    return count;
}

static void add_quadratic(double a, double b, double c, sel_roots *roots) {
    double root[2];
    for (int k = solve_quadratic(a, b, c, root) - 1; k >= 0; k--) {
        sel_roots_add(roots, root[k], true);
    }
}

static void add_box_roots(const sel_shape_box *box, const double from[3], const double along[3],
                          sel_roots *roots) {
    for (int a = 0; a < box->min.n; a++) {
        if (along[a] != 0) {
            sel_roots_add(roots, (box->min.v[a] - from[a]) / along[a], true);
            sel_roots_add(roots, (box->max.v[a] - from[a]) / along[a], true);
        }
    }
}

/* Of an ellipsoid; `radii` NULL: a ball. */
static void add_ellipsoid_roots(const sel_point *centre, const double *radii, double radius,
                                const double from[3], const double along[3], sel_roots *roots) {
    double a = 0, b = 0, c = 0;
    for (int k = 0; k < centre->n; k++) {
        const double by = radii ? radii[k] : radius, m = (from[k] - centre->v[k]) / by;
        a += along[k] / by * (along[k] / by);
        b += along[k] / by * m;
        c += m * m;
    }
    add_quadratic(a, b, c - 1, roots);
}

static void add_spine_roots(const spine *s, int dims, const double from[3], const double along[3],
                            sel_roots *roots) {
    double m[3], d[3];
    subtract(from, s->from, m);
    memcpy(d, along, sizeof d);
    m[2] = dims == 3 ? m[2] : 0;
    d[2] = dims == 3 ? d[2] : 0;
    const double high = inner_product(m, s->axis) / s->squared,
                 climb = inner_product(d, s->axis) / s->squared;
    const double radius = s->radius + high * s->taper, widening = climb * s->taper;
    for (int a = 0; a < 3; a++) { /* what is across the axis */
        m[a] -= high * s->axis[a];
        d[a] -= climb * s->axis[a];
    }
    add_quadratic(inner_product(d, d) - widening * widening,
                  inner_product(m, d) - radius * widening, inner_product(m, m) - radius * radius,
                  roots);
    if (climb != 0) {
        sel_roots_add(roots, -high / climb, true);
        sel_roots_add(roots, (1 - high) / climb, true);
    }
}

static void add_polygon_roots(const sel_points *points, const double from[3], const double along[3],
                              sel_roots *roots) {
    for (int i = 0, j = points->n - 1; i < points->n; j = i++) {
        const double *a = points->v[i].v, *b = points->v[j].v;
        const double edge[2] = {b[0] - a[0], b[1] - a[1]}, m[2] = {a[0] - from[0], a[1] - from[1]};
        const double area = along[0] * edge[1] - along[1] * edge[0];
        const double on_edge = (m[0] * along[1] - m[1] * along[0]) / area;
        if (area != 0 && on_edge >= -1e-9 && on_edge <= 1 + 1e-9) {
            sel_roots_add(roots, (m[0] * edge[1] - m[1] * edge[0]) / area, true);
        }
    }
}

/* A polynomial of t: the sum of c[k] t^k. */
static double polynomial(const double *c, int degree, double t) {
    double value = c[degree];
    for (int k = degree - 1; k >= 0; k--) {
        value = value * t + c[k];
    }
    return value;
}

/* The zeros in [0, 1] of a polynomial of degree up to 3, by bisection between those of its
 * derivative. Returns their number. */
static int polynomial_zeros(const double *c, int degree, double zero[3]) {
    double turn[5] = {0}, derivative[3];
    if (degree == 1) {
        zero[0] = -c[0] / c[1];
        return c[1] != 0 && zero[0] > 0 && zero[0] < 1;
    }
    for (int k = 1; k <= degree; k++) {
        derivative[k - 1] = k * c[k];
    }
    const int turns = polynomial_zeros(derivative, degree - 1, turn + 1);
    turn[turns + 1] = 1;
    int count = 0;
    for (int k = 0; k <= turns; k++) {
        double lo = turn[k], hi = turn[k + 1];
        const bool sign = polynomial(c, degree, lo) > 0;
        if (sign == (polynomial(c, degree, hi) > 0)) {
            continue;
        }
        for (int halvings = 0; halvings < 52; halvings++) {
            const double middle = 0.5 * (lo + hi);
            *((polynomial(c, degree, middle) > 0) == sign ? &lo : &hi) = middle;
        }
        zero[count++] = 0.5 * (lo + hi);
    }
    return count;
}

/* The surface of a torus is a quartic in t. Between the zeros of its derivative it has at most one
 * root, which is found by bisection of the distance, as that has less round-off. */
static void add_torus_roots(const sel_shape_torus *torus, const double from[3],
                            const double along[3], sel_roots *roots) {
    double axis[3], m[3], d[3], turn[5] = {0};
    torus_axis(torus, axis);
    subtract(from, torus->centre.v, m);
    memcpy(d, along, sizeof d);
    m[2] = torus->centre.n == 3 ? m[2] : 0;
    d[2] = torus->centre.n == 3 ? d[2] : 0;
    const double mm = inner_product(m, m), md = inner_product(m, d), dd = inner_product(d, d);
    const double high = inner_product(m, axis), climb = inner_product(d, axis),
                 ring = torus->radius * torus->radius;
    /* (g0 + 2 md t + dd t^2)^2 = 4 radius^2 (square of the distance to the axis) */
    const double g0 = mm + ring - torus->tube * torus->tube;
    const double derivative[4] = {
        4 * g0 * md - 8 * ring * (md - high * climb),
        8 * md * md + 4 * g0 * dd - 8 * ring * (dd - climb * climb),
        12 * md * dd,
        4 * dd * dd,
    };
    const int turns = polynomial_zeros(derivative, 3, turn + 1);
    turn[turns + 1] = 1;
    for (int k = 0; k <= turns; k++) {
        double lo = turn[k], hi = turn[k + 1], p[3];
        bool in[2];
        for (int end = 0; end < 2; end++) {
            for (int a = 0; a < 3; a++) {
                p[a] = from[a] + turn[k + end] * along[a];
            }
            in[end] = torus_distance(torus, axis, p) <= 0;
        }
        for (int halvings = 0; halvings < 52 && in[0] != in[1]; halvings++) {
            const double middle = 0.5 * (lo + hi);
            for (int a = 0; a < 3; a++) {
                p[a] = from[a] + middle * along[a];
            }
            *((torus_distance(torus, axis, p) <= 0) == in[0] ? &lo : &hi) = middle;
        }
        if (in[0] != in[1]) {
            sel_roots_add(roots, 0.5 * (lo + hi), true);
        }
    }
}

bool sel_solid_roots(const sel_shape *shape, const double from[3], const double to[3],
                     sel_roots *roots) {
    const sel_shape_ball *ball = shape->data;
    const sel_shape_ellipsoid *ellipsoid = shape->data;
    const sel_shape_cylinder *cylinder = shape->data;
    double along[3];
    spine s;
    subtract(to, from, along);
    switch (shape->kind) {
    case SEL_SHAPE_FACE:
    case SEL_SHAPE_FACES:
    case SEL_SHAPE_REST:
        return true;
    case SEL_SHAPE_BOX:
        add_box_roots(shape->data, from, along, roots);
        return true;
    case SEL_SHAPE_BALL:
        add_ellipsoid_roots(&ball->centre, NULL, ball->radius, from, along, roots);
        return true;
    case SEL_SHAPE_ELLIPSOID:
        add_ellipsoid_roots(&ellipsoid->centre, ellipsoid->radii.v, 0, from, along, roots);
        return true;
    case SEL_SHAPE_CYLINDER:
        if (cylinder->centre.n) {
            add_ellipsoid_roots(&cylinder->centre, NULL, cylinder->radius, from, along, roots);
            return true;
        }
        s = spine_of(shape);
        add_spine_roots(&s, 3, from, along, roots);
        return true;
    case SEL_SHAPE_CONE:
        s = spine_of(shape);
        add_spine_roots(&s, ((const sel_shape_cone *)shape->data)->from.n, from, along, roots);
        return true;
    case SEL_SHAPE_TORUS:
        add_torus_roots(shape->data, from, along, roots);
        return true;
    case SEL_SHAPE_POLYGON:
        add_polygon_roots(&((const sel_shape_polygon *)shape->data)->points, from, along, roots);
        return true;
    case SEL_SHAPE_MESH:
        sel_mesh_roots(((const sel_shape_mesh *)shape->data)->mesh, from, to, roots);
        return true;
    default:
        return false;
    }
}
