/* crossing.c -- where a segment enters a shape.
 *
 * All fractions of the segment are found at which it meets the surface of a primitive. A
 * combination is constant between neighbours of this list, so it is tested in the middle.
 *
 *     from  o----x-------x--x-----x--o  to         x: roots of primitives
 *             out   out  ^ in
 *                        the crossing
 */
#include <math.h>
#include <stdlib.h>
#include "engine/scene/limit.h"
#include "geometry/solid.h"

/* Parts of a segment that are shorter count as a point. */
static const double shortest_part = 1e-13;

/* No crossing is nearer to the point outside. */
static const double least_crossing = 1e-12;

static void point_at(const double from[3], const double to[3], double t, double p[3]) {
    for (int a = 0; a < 3; a++) {
        p[a] = from[a] + t * (to[a] - from[a]);
    }
}

/* ---- points ---- */

/* Tests a function of a script at n points, in x[n], y[n], z[n]. */
static void test_points(const sel_shape *shape, const sel_shape_space *space, size_t n,
                        const double *x, const double *y, const double *z, double *value,
                        bool *failed) {
    const sel_function *function = ((const sel_shape_inside *)shape->data)->test;
    const sel_places at = {n, x, y, space->grid->dims == 3 ? z : NULL, 0, space->controls, NULL};
    if (function->eval(function, &at, value, NULL) != SEL_OK) {
        *failed = true;
        for (size_t i = 0; i < n; i++) {
            value[i] = 0;
        }
    }
}

static bool leaf_contains(const sel_shape *shape, const sel_shape_space *space, double slack,
                          const double p[3], bool *failed) {
    if (shape->kind == SEL_SHAPE_INSIDE) {
        double value;
        test_points(shape, space, 1, &p[0], &p[1], &p[2], &value, failed);
        return value != 0;
    }
    return sel_solid_contains(shape, space->grid, slack, p, failed);
}

/* The slack in a placed shape. */
static double own_slack(const sel_shape *shape, double slack, const double own[3]) {
    const double size = fmax(fabs(own[0]), fmax(fabs(own[1]), fabs(own[2])));
    return sel_shape_unplace_slack(shape->data, slack, size);
}

static bool tree_contains(const sel_shape *shape, const sel_shape_space *space, double slack,
                          const double p[3], bool *failed) {
    double own[3];
    for (int a = 0; a < 3 && shape->bounded; a++) {
        if (p[a] < shape->bounds.lo[a] - slack || p[a] > shape->bounds.hi[a] + slack) {
            return false;
        }
    }
    switch (shape->kind) {
    case SEL_SHAPE_UNION:
        return tree_contains(shape->a, space, slack, p, failed) ||
               tree_contains(shape->b, space, slack, p, failed);
    case SEL_SHAPE_DIFFERENCE:
        return tree_contains(shape->a, space, slack, p, failed) &&
               !tree_contains(shape->b, space, slack, p, failed);
    case SEL_SHAPE_INTERSECTION:
        return tree_contains(shape->a, space, slack, p, failed) &&
               tree_contains(shape->b, space, slack, p, failed);
    case SEL_SHAPE_PLACED:
        sel_shape_unplace(shape->data, p, own);
        return tree_contains(shape->a, space, own_slack(shape, slack, own), own, failed);
    default:
        return leaf_contains(shape, space, slack, p, failed);
    }
}

bool sel_shape_contains(const sel_shape *shape, const sel_shape_space *space, const double p[3],
                        bool *failed) {
    double inside[3] = {p[0], p[1], p[2]};
    for (int a = 0; a < space->grid->dims; a++) {
        inside[a] = fmin(p[a], sel_last_inside(space->grid, a));
    }
    return tree_contains(shape, space, sel_limit_slack(space->grid), inside, failed);
}

/* ---- roots ---- */

/* Tests a leaf at the inner ends of the equal parts of a segment; in[0] and in[last] are the
 * segment's ends. */
static void test_parts(const sel_shape *shape, const sel_shape_space *space, double slack,
                       const double from[3], const double to[3], bool in[SEL_PARTS_OF_LINK + 1],
                       bool *failed) {
    double at[3][SEL_PARTS_OF_LINK + 1], value[SEL_PARTS_OF_LINK + 1], p[3];
    for (int i = 0; i <= SEL_PARTS_OF_LINK; i++) {
        point_at(from, to, (double)i / SEL_PARTS_OF_LINK, p);
        for (int a = 0; a < 3; a++) {
            at[a][i] = p[a];
        }
        in[i] = shape->kind != SEL_SHAPE_INSIDE &&
                sel_solid_contains(shape, space->grid, slack, p, failed);
    }
    if (shape->kind == SEL_SHAPE_INSIDE) {
        test_points(shape, space, SEL_PARTS_OF_LINK + 1, at[0], at[1], at[2], value, failed);
        for (int i = 0; i <= SEL_PARTS_OF_LINK; i++) {
            in[i] = value[i] != 0;
        }
    }
}

/* Adds the roots of a leaf that has no closed form. */
static void add_by_halving(const sel_shape *shape, const sel_shape_space *space, double slack,
                           const double from[3], const double to[3], sel_roots *roots) {
    bool in[SEL_PARTS_OF_LINK + 1];
    test_parts(shape, space, slack, from, to, in, &roots->failed);
    for (int i = 0; i < SEL_PARTS_OF_LINK; i++) {
        double lo = (double)i / SEL_PARTS_OF_LINK, hi = (double)(i + 1) / SEL_PARTS_OF_LINK, p[3];
        while (in[i] != in[i + 1] && hi - lo > 1e-12 && !roots->failed) {
            const double middle = 0.5 * (lo + hi);
            point_at(from, to, middle, p);
            *(leaf_contains(shape, space, slack, p, &roots->failed) == in[i] ? &lo : &hi) = middle;
        }
        if (in[i] != in[i + 1]) {
            sel_roots_add(roots, 0.5 * (lo + hi), shape->kind != SEL_SHAPE_IMAGE);
        }
    }
}

static bool segment_misses(const sel_shape *shape, const double from[3], const double to[3]) {
    bool apart = false;
    for (int a = 0; a < 3 && shape->bounded; a++) {
        apart = apart || fmin(from[a], to[a]) > shape->bounds.hi[a] ||
                fmax(from[a], to[a]) < shape->bounds.lo[a];
    }
    return apart;
}

static void add_roots(const sel_shape *shape, const sel_shape_space *space, double slack,
                      const double from[3], const double to[3], sel_roots *roots) {
    if (segment_misses(shape, from, to)) {
        return;
    }
    if (shape->kind == SEL_SHAPE_PLACED) {
        double own_from[3], own_to[3];
        sel_shape_unplace(shape->data, from, own_from);
        sel_shape_unplace(shape->data, to, own_to);
        add_roots(shape->a, space, own_slack(shape, slack, own_to), own_from, own_to, roots);
    } else if (shape->a) {
        add_roots(shape->a, space, slack, from, to, roots);
        add_roots(shape->b, space, slack, from, to, roots);
    } else if (!sel_solid_roots(shape, from, to, roots)) {
        add_by_halving(shape, space, slack, from, to, roots);
    }
}

void sel_shape_roots(const sel_shape *shape, const sel_shape_space *space, const double from[3],
                     const double to[3], sel_roots *roots) {
    add_roots(shape, space, sel_limit_slack(space->grid), from, to, roots);
}

static int compare_roots(const void *a, const void *b) {
    const double x = ((const sel_root *)a)->at, y = ((const sel_root *)b)->at;
    return (x > y) - (x < y);
}

/* Whether the part of a segment from `start` to `end` lies inside. It touches a surface at one
 * point at most, so two are tested. */
static bool part_is_inside(sel_inside *inside, const void *of, const double from[3],
                           const double to[3], double start, double end, bool *failed) {
    double p[3], q[3];
    point_at(from, to, 0.5 * (start + end), p);
    point_at(from, to, start + 0.3 * (end - start), q);
    return inside(of, p, failed) && inside(of, q, failed);
}

bool sel_roots_enter(sel_roots *roots, sel_inside *inside, const void *of, const double from[3],
                     const double to[3], double *at, bool *surface) {
    qsort(roots->v, (size_t)roots->count, sizeof *roots->v, compare_roots);
    *at = 0;
    *surface = true;
    for (int k = 0; k <= roots->count && !roots->failed; k++) {
        const double end = k < roots->count ? roots->v[k].at : 1;
        if (end - *at > shortest_part &&
            part_is_inside(inside, of, from, to, *at, end, &roots->failed)) {
            return !roots->failed;
        }
        if (k < roots->count) {
            *at = end;
            *surface = roots->v[k].surface;
        }
    }
    *at = 1;
    return false;
}

typedef struct one_shape {
    const sel_shape *shape;
    const sel_shape_space *space;
} one_shape;

static bool in_one_shape(const void *of, const double p[3], bool *failed) {
    const one_shape *one = of;
    return sel_shape_contains(one->shape, one->space, p, failed);
}

bool sel_shape_crossing(const sel_shape *shape, const sel_shape_space *space, const double from[3],
                        const double to[3], double *q) {
    const one_shape one = {shape, space};
    bool surface;
    sel_roots roots;
    sel_roots_open(&roots);
    sel_shape_roots(shape, space, from, to, &roots);
    sel_roots_enter(&roots, in_one_shape, &one, from, to, q, &surface);
    *q = fmax(*q, least_crossing);
    sel_roots_close(&roots);
    return !roots.failed;
}
