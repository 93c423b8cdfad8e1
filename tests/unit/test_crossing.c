/* test_crossing.c -- where links enter shapes: closed forms, random trees of shapes, domains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include "engine/scene/crossing.h"
#include "engine/scene/segment.h"
#include "engine/values/philox.h"
#include "tests/unit/fake_scene.h"

static const double pi = 3.14159265358979323846;

static const sel_grid space3 = {.dims = 3, .n = {40, 40, 40}, .dx = {1, 1, 1}, .dt = 1};
static const sel_grid plane2 = {.dims = 2, .n = {40, 40, 1}, .dx = {1, 1, 1}, .dt = 1};

static sel_shape *make_shape(sel_arena *arena, sel_shape_kind kind, const void *data, size_t size) {
    void *copy = sel_arena_alloc(arena, size);
    memcpy(copy, data, size);
    return sel_shape_make(arena, kind, copy);
}

static sel_point point(const sel_grid *grid, double x, double y, double z) {
    return (sel_point){grid->dims, {x, y, grid->dims == 3 ? z : 0}};
}

static sel_shape *ball(sel_arena *arena, sel_point centre, double radius) {
    const sel_shape_ball data = {centre, radius};
    return make_shape(arena, SEL_SHAPE_BALL, &data, sizeof data);
}

static sel_shape *box(sel_arena *arena, sel_point min, sel_point max) {
    const sel_shape_box data = {min, max};
    return make_shape(arena, SEL_SHAPE_BOX, &data, sizeof data);
}

static double crossing(const sel_shape *shape, const sel_grid *grid, const double from[3],
                       const double to[3]) {
    const sel_shape_space space = {grid, NULL};
    double q = -1;
    assert_true(sel_shape_crossing(shape, &space, from, to, &q));
    return q;
}

/* With the line of the caller and both numbers in the message. */
static void assert_near_at(int line, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("line %d: %.16g instead of %.16g", line, value, expected);
    }
}
#define assert_near(value, expected, tolerance) assert_near_at(__LINE__, value, expected, tolerance)
#define NEAR(value, expected) assert_near(value, expected, 1e-12)
#define AT(...) ((const double[3]){__VA_ARGS__})

/* ---- closed forms ---- */

static void balls_and_ellipsoids(void **state) {
    sel_arena *arena = sel_arena_create();
    (void)state;
    const sel_shape *b = ball(arena, point(&space3, 10, 10, 10), 3);
    NEAR(crossing(b, &space3, AT(6, 10, 10), AT(8, 10, 10)), 0.5);
    /* Along a diagonal the surface is 3 / sqrt(3) from the centre on each axis. */
    NEAR(crossing(b, &space3, AT(8, 8, 8), AT(9, 9, 9)), 2 - sqrt(3));
    /* Through the ball and out: the entry counts. */
    NEAR(crossing(b, &space3, AT(5, 10, 10), AT(12, 10, 10)), 2.0 / 7);
    const sel_shape *disc = ball(arena, point(&plane2, 10, 10, 0), 3);
    NEAR(crossing(disc, &plane2, AT(7, 7, 0), AT(9, 9, 0)), (3 - 3 / sqrt(2)) / 2);
    const sel_shape_ellipsoid e = {point(&space3, 10, 10, 10), point(&space3, 4, 2, 1)};
    const sel_shape *ellipsoid = make_shape(arena, SEL_SHAPE_ELLIPSOID, &e, sizeof e);
    NEAR(crossing(ellipsoid, &space3, AT(5.5, 10, 10), AT(6.5, 10, 10)), 0.5);
    NEAR(crossing(ellipsoid, &space3, AT(10, 10, 12), AT(10, 10, 10)), 0.5);
    NEAR(crossing(ellipsoid, &space3, AT(12, 13, 10), AT(12, 10, 10)), (3 - sqrt(3)) / 3);
    const sel_shape_ellipsoid flat = {point(&plane2, 10, 10, 0), point(&plane2, 4, 2, 0)};
    const sel_shape *ellipse = make_shape(arena, SEL_SHAPE_ELLIPSOID, &flat, sizeof flat);
    NEAR(crossing(ellipse, &plane2, AT(12, 13, 0), AT(12, 10, 0)), (3 - sqrt(3)) / 3);
    sel_arena_destroy(arena);
}

static void cylinders_and_cones(void **state) {
    sel_arena *arena = sel_arena_create();
    (void)state;
    const sel_shape_cylinder c = {point(&space3, 10, 10, 5), point(&space3, 10, 10, 15), {0}, 2};
    const sel_shape *cylinder = make_shape(arena, SEL_SHAPE_CYLINDER, &c, sizeof c);
    NEAR(crossing(cylinder, &space3, AT(7.5, 10, 8), AT(8.5, 10, 9)), 0.5);
    NEAR(crossing(cylinder, &space3, AT(10, 11, 4), AT(10, 11, 6)), 0.5); /* by an end */
    NEAR(crossing(cylinder, &space3, AT(7, 10, 14), AT(10, 10, 14)), 1.0 / 3);
    const sel_shape_cylinder slanted = {
        point(&space3, 5, 5, 5), point(&space3, 15, 15, 15), {0}, 1};
    const sel_shape *oblique = make_shape(arena, SEL_SHAPE_CYLINDER, &slanted, sizeof slanted);
    /* The distance to the axis of (t, -t, 0) is sqrt(2) |t|. */
    NEAR(crossing(oblique, &space3, AT(12, 8, 10), AT(10, 10, 10)), 1 - sqrt(0.5) / 2);
    const sel_shape_cone k = {
        point(&space3, 10, 10, 5), point(&space3, 10, 10, 15), {2, {4, 2, 0}}};
    const sel_shape *cone = make_shape(arena, SEL_SHAPE_CONE, &k, sizeof k);
    NEAR(crossing(cone, &space3, AT(6, 10, 10), AT(8, 10, 10)), 0.5); /* radius 3 half-way */
    NEAR(crossing(cone, &space3, AT(11, 10, 16), AT(11, 10, 14)), 0.5);
    NEAR(crossing(cone, &space3, AT(13, 10, 12), AT(13, 10, 8)), 0.5); /* down onto the slope */
    const sel_shape_cone tipped = {
        point(&space3, 10, 10, 5), point(&space3, 10, 10, 15), {2, {5, 0, 0}}};
    const sel_shape *tip = make_shape(arena, SEL_SHAPE_CONE, &tipped, sizeof tipped);
    NEAR(crossing(tip, &space3, AT(10, 10, 16), AT(10, 10, 14)), 0.5);
    NEAR(crossing(tip, &space3, AT(5, 10, 10), AT(10, 10, 10)), 0.5);
    const sel_shape_cone flat = {point(&plane2, 5, 10, 0), point(&plane2, 15, 10, 0), {2, {4, 2}}};
    const sel_shape *trapezium = make_shape(arena, SEL_SHAPE_CONE, &flat, sizeof flat);
    NEAR(crossing(trapezium, &plane2, AT(10, 14, 0), AT(10, 12, 0)), 0.5);
    NEAR(crossing(trapezium, &plane2, AT(4, 13, 0), AT(6, 13, 0)), 0.5);
    sel_arena_destroy(arena);
}

static void boxes_and_polygons(void **state) {
    sel_arena *arena = sel_arena_create();
    (void)state;
    const sel_shape *b = box(arena, point(&space3, 2.25, 2.5, 2), point(&space3, 6, 6.75, 6));
    NEAR(crossing(b, &space3, AT(1.5, 4.5, 4.5), AT(2.5, 4.5, 4.5)), 0.75);
    NEAR(crossing(b, &space3, AT(4.5, 7.5, 4.5), AT(4.5, 6.5, 4.5)), 0.75);
    NEAR(crossing(b, &space3, AT(1.5, 1.5, 4.5), AT(2.5, 3, 4.5)), 0.75); /* the later face */
    sel_point corners[] = {{2, {2, 2}}, {2, {10, 2}}, {2, {10, 10}}, {2, {6, 4}}, {2, {2, 10}}};
    const sel_shape_polygon notched = {{5, corners}};
    const sel_shape *polygon = make_shape(arena, SEL_SHAPE_POLYGON, &notched, sizeof notched);
    NEAR(crossing(polygon, &plane2, AT(1, 5, 0), AT(3, 5, 0)), 0.5);
    /* Down into the notch: its left side is y = 10 - 1.5 (x - 2). */
    NEAR(crossing(polygon, &plane2, AT(4, 8, 0), AT(4, 6, 0)), 0.5);
    NEAR(crossing(polygon, &plane2, AT(6, 9, 0), AT(2.5, 5, 0)), 20.0 / 37);
    NEAR(crossing(polygon, &space3, AT(1, 5, 3), AT(3, 5, 7)), 0.5); /* a prism */
    sel_arena_destroy(arena);
}

static void tori(void **state) {
    sel_arena *arena = sel_arena_create();
    (void)state;
    const sel_shape_torus t = {point(&space3, 10, 10, 10), {0}, 5, 1};
    const sel_shape *torus = make_shape(arena, SEL_SHAPE_TORUS, &t, sizeof t);
    NEAR(crossing(torus, &space3, AT(3.5, 10, 10), AT(4.5, 10, 10)), 0.5);
    NEAR(crossing(torus, &space3, AT(8, 10, 10), AT(5, 10, 10)), 2.0 / 3); /* from the hole */
    NEAR(crossing(torus, &space3, AT(15, 10, 12), AT(15, 10, 10)), 0.5);
    /* Across the whole torus: the first of four crossings. */
    NEAR(crossing(torus, &space3, AT(0, 10, 10), AT(20, 10, 10)), 4.0 / 20);
    const sel_shape_torus upright = {point(&space3, 10, 10, 10), {3, {0, 7, 0}}, 5, 1};
    const sel_shape *wheel = make_shape(arena, SEL_SHAPE_TORUS, &upright, sizeof upright);
    NEAR(crossing(wheel, &space3, AT(10, 10, 17), AT(10, 10, 15)), 0.5);
    const sel_shape_torus flat = {point(&plane2, 10, 10, 0), {0}, 5, 1};
    const sel_shape *ring = make_shape(arena, SEL_SHAPE_TORUS, &flat, sizeof flat);
    NEAR(crossing(ring, &plane2, AT(10, 10, 0), AT(13, 14, 0)), 0.8);
    sel_arena_destroy(arena);
}

/* ---- random trees against bisection ---- */

enum { SEED = 20490617 };

typedef struct draw {
    sel_arena *arena;
    int64_t next;
} draw;

static double uniform(draw *d, double lo, double hi) {
    return lo + (hi - lo) * (double)sel_philox(SEED, d->next++, 0, 0) * 0x1p-32;
}

static sel_point random_point(draw *d, const sel_grid *grid) {
    return point(grid, uniform(d, 8, 24), uniform(d, 8, 24), uniform(d, 8, 24));
}

static sel_shape *random_primitive(draw *d, const sel_grid *grid) {
    const sel_point p = random_point(d, grid), r = random_point(d, grid);
    const double radius = uniform(d, 1, 6), small = uniform(d, 0.1, 1) * radius;
    const bool flat = grid->dims == 2;
    sel_shape_box b = {p, p};
    switch ((int)uniform(d, 0, 7)) {
    case 0:
        return ball(d->arena, p, radius);
    case 1:
        for (int a = 0; a < grid->dims; a++) {
            b.max.v[a] += uniform(d, 0.5, 8);
        }
        return make_shape(d->arena, SEL_SHAPE_BOX, &b, sizeof b);
    case 2:
        return make_shape(d->arena, SEL_SHAPE_ELLIPSOID,
                          &(sel_shape_ellipsoid){p, point(grid, radius, small, uniform(d, 0.3, 5))},
                          sizeof(sel_shape_ellipsoid));
    case 3:
        return make_shape(d->arena, SEL_SHAPE_CYLINDER,
                          &(sel_shape_cylinder){flat ? (sel_point){0} : p,
                                                flat ? (sel_point){0} : r,
                                                flat ? p : (sel_point){0}, radius},
                          sizeof(sel_shape_cylinder));
    case 4:
        return make_shape(d->arena, SEL_SHAPE_CONE,
                          &(sel_shape_cone){p, r, {2, {radius, uniform(d, -1, 3) > 0 ? small : 0}}},
                          sizeof(sel_shape_cone));
    case 5:
        return make_shape(d->arena, SEL_SHAPE_TORUS,
                          &(sel_shape_torus){p,
                                             flat ? (sel_point){0} : (sel_point){3, {1, 2, r.v[0]}},
                                             radius, small},
                          sizeof(sel_shape_torus));
    default: {
        sel_point *v = sel_arena_alloc(d->arena, 5 * sizeof *v);
        for (int i = 0; i < 5; i++) {
            v[i] = random_point(d, &plane2);
        }
        return make_shape(d->arena, SEL_SHAPE_POLYGON, &(sel_shape_polygon){{5, v}},
                          sizeof(sel_shape_polygon));
    }
    }
}

static sel_shape *random_tree(draw *d, const sel_grid *grid, int depth) {
    const double choice = uniform(d, 0, 1);
    if (depth == 0 || choice < 0.2) {
        return random_primitive(d, grid);
    }
    const sel_shape *a = random_tree(d, grid, depth - 1);
    if (choice < 0.4) {
        const sel_point about = random_point(d, grid);
        const sel_point axis = point(&space3, uniform(d, -1, 1), uniform(d, -1, 1), 1);
        sel_shape_placement *place = sel_arena_alloc(d->arena, sizeof *place);
        const double angle = uniform(d, -pi, pi), factor = uniform(d, 0.5, 2);
        if (choice < 0.27) {
            sel_placement_rotate(place, angle, grid->dims == 3 ? axis.v : NULL, about.v);
        } else if (choice < 0.33) {
            sel_placement_scale(place, factor, about.v);
        } else {
            sel_placement_move(place, point(grid, angle, factor, -angle).v);
        }
        return sel_shape_place(d->arena, a, place);
    }
    const sel_shape *b = random_tree(d, grid, depth - 1);
    return sel_shape_combine(d->arena,
                             choice < 0.6   ? SEL_SHAPE_UNION
                             : choice < 0.8 ? SEL_SHAPE_DIFFERENCE
                                            : SEL_SHAPE_INTERSECTION,
                             a, b);
}

/* On cells so small that their round-off at surfaces does not show. */
static bool contains(const sel_shape *shape, const sel_grid *grid, const double from[3],
                     const double to[3], double t) {
    sel_grid fine = *grid;
    const sel_shape_space space = {&fine, NULL};
    double p[3];
    for (int a = 0; a < 3; a++) {
        fine.dx[a] = 1e-6 * grid->dx[a];
        fine.origin[a] = 0;
    }
    bool failed = false;
    for (int a = 0; a < 3; a++) {
        p[a] = from[a] + t * (to[a] - from[a]);
    }
    return sel_shape_contains(shape, &space, p, &failed) && !failed;
}

/* The first of 1024 equal parts of the segment at whose end the shape contains the point, halved.
 * It may be later than the crossing, where a part of the shape is thin. */
static double entered_by_halving(const sel_shape *shape, const sel_grid *grid, const double from[3],
                                 const double to[3]) {
    int k = 1;
    while (!contains(shape, grid, from, to, k / 1024.0)) {
        k++;
    }
    double lo = (k - 1) / 1024.0, hi = k / 1024.0;
    while (hi - lo > 1e-14) {
        const double middle = 0.5 * (lo + hi);
        *(contains(shape, grid, from, to, middle) ? &hi : &lo) = middle;
    }
    return hi;
}

/* The test of a batch of places agrees with that of one point. */
static void assert_batch(draw *d, const sel_shape *shape, const sel_grid *grid) {
    enum { PLACES = 64 };
    double x[PLACES], y[PLACES], z[PLACES];
    uint8_t in[PLACES];
    sel_error error = {.status = SEL_OK};
    for (int i = 0; i < PLACES; i++) {
        x[i] = uniform(d, 2, 30);
        y[i] = uniform(d, 2, 30);
        z[i] = grid->dims == 3 ? uniform(d, 2, 30) : 0;
    }
    const sel_places at = {PLACES, x, y, grid->dims == 3 ? z : NULL, 0, NULL, NULL};
    assert_int_equal(sel_shape_test(shape, grid, -1, &at, NULL, in, &error), SEL_OK);
    for (int i = 0; i < PLACES; i++) {
        assert_int_equal(in[i], contains(shape, grid, AT(x[i], y[i], z[i]), AT(0, 0, 0), 0));
    }
}

static void random_trees_in(const sel_grid *grid) {
    draw d = {sel_arena_create(), grid->dims == 3 ? 0 : 1 << 30};
    int compared = 0, earlier = 0;
    for (int tree = 0; tree < 600; tree++) {
        const sel_shape *shape = random_tree(&d, grid, 3);
        assert_batch(&d, shape, grid);
        for (int link = 0; link < 1000; link++) {
            const double reach = link % 2 ? 2 : 12;
            double from[3] = {0}, to[3] = {0};
            for (int a = 0; a < grid->dims; a++) {
                from[a] = uniform(&d, 6, 26);
                to[a] = from[a] + uniform(&d, -reach, reach);
            }
            if (contains(shape, grid, from, to, 0) || !contains(shape, grid, from, to, 1)) {
                continue;
            }
            const double q = crossing(shape, grid, from, to);
            const double expected = entered_by_halving(shape, grid, from, to);
            compared++;
            if (fabs(q - expected) > 1e-10) {
                assert_true(q < expected);
                assert_true(contains(shape, grid, from, to, q + 1e-9));
                assert_false(contains(shape, grid, from, to, q - 1e-9));
                earlier++;
            }
        }
    }
    assert_true(compared > 1500);
    assert_true(earlier < compared / 100);
    sel_arena_destroy(d.arena);
}

static void random_trees(void **state) {
    (void)state;
    random_trees_in(&space3);
    random_trees_in(&plane2);
}

/* A union that is divided by place is the union of its operands, bounded or not. */
static void unions_of_many(void **state) {
    enum { MANY = 500 };
    draw d = {sel_arena_create(), (int64_t)1 << 40};
    const sel_shape *list[MANY], *chain = NULL;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        list[i] = i % 50 ? ball(d.arena, random_point(&d, &space3), uniform(&d, 0.1, 0.6))
                         : random_primitive(&d, &space3);
        chain = chain ? sel_shape_combine(d.arena, SEL_SHAPE_UNION, chain, list[i]) : list[i];
    }
    const sel_shape *tree = sel_shape_unite(d.arena, list, MANY);
    for (int i = 0; i < 2000; i++) {
        const double from[3] = {uniform(&d, 2, 30), uniform(&d, 2, 30), uniform(&d, 2, 30)};
        const double to[3] = {from[0] + 1, from[1] + 1, from[2]};
        assert_int_equal(contains(tree, &space3, from, to, 0),
                         contains(chain, &space3, from, to, 0));
        assert_true(crossing(tree, &space3, from, to) == crossing(chain, &space3, from, to));
    }
    sel_arena_destroy(d.arena);
}

/* ---- placements ---- */

static void placed_shapes(void **state) {
    sel_arena *arena = sel_arena_create();
    (void)state;
    const sel_shape *b = box(arena, point(&space3, 8, 8, 8), point(&space3, 12, 12, 12));
    sel_shape_placement place;
    sel_placement_rotate(&place, pi / 4, AT(0, 0, 1), AT(10, 10, 10));
    const sel_shape *diamond = sel_shape_place(arena, b, &place);
    NEAR(crossing(diamond, &space3, AT(6, 10, 10), AT(10, 10, 10)), (4 - 2 * sqrt(2)) / 4);
    sel_shape_placement shift, larger;
    sel_placement_move(&shift, AT(3, 0, 0));
    sel_placement_scale(&larger, 2, AT(10, 10, 10));
    const sel_shape *moved = sel_shape_place(arena, diamond, &shift);
    NEAR(crossing(moved, &space3, AT(9, 10, 10), AT(13, 10, 10)), (4 - 2 * sqrt(2)) / 4);
    const sel_shape *scaled = sel_shape_place(arena, diamond, &larger);
    NEAR(crossing(scaled, &space3, AT(2, 10, 10), AT(10, 10, 10)), (8 - 4 * sqrt(2)) / 8);
    assert_true(contains(scaled, &space3, AT(10, 10, 13.9), AT(0, 0, 0), 0));
    assert_false(contains(scaled, &space3, AT(10, 10, 14.1), AT(0, 0, 0), 0));
    sel_placement_rotate(&place, pi / 2, NULL, AT(0, 0, 0)); /* 2-D: from x to y */
    const sel_shape *turned = sel_shape_place(
        arena, box(arena, point(&plane2, 2, -3, 0), point(&plane2, 4, -2, 0)), &place);
    NEAR(crossing(turned, &plane2, AT(2.5, 1, 0), AT(2.5, 3, 0)), 0.5);
    sel_arena_destroy(arena);
}

/* ---- domains ---- */

typedef fake_scene fixture;

static int set_up(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    f->arena = sel_arena_create();
    f->common.size = (sel_ints){3, {12, 10, 8}};
    f->common.dx = 0.5;
    f->common.dt = 1;
    f->common.origin = (sel_point){3, {1, -2, 3}};
    f->common.periodic = 7;
    f->common.regions.v = f->regions;
    f->solver = fake_solver;
    f->simulation = (sel_simulation){.solver = &f->solver, .params = &f->common};
    *state = f;
    return 0;
}

static void paint(fixture *f, const sel_shape *shape) {
    const int number = ++f->common.regions.n;
    f->regions[number - 1] = fake_region(number, NULL, shape, &fake_anywhere);
}

static void create(fixture *f) {
    assert_int_equal(sel_domain_create(&f->simulation, NULL, &f->domain, &f->error), SEL_OK);
}

static int64_t cell_at(const fixture *f, int64_t x, int64_t y, int64_t z) {
    return sel_cell_number(&f->domain->grid, (const int64_t[]){x, y, z});
}

static bool link_of(const fixture *f, int64_t cell, int x, int y, int z, double *q) {
    return sel_domain_crossing(f->domain, cell, (const int[]){x, y, z}, q);
}

/* A ball about (4.1, 0.4, 5.05): every link that enters it, against the quadratic equation. */
static void links_into_a_ball(void **state) {
    fixture *f = *state;
    const double centre[3] = {4.1, 0.4, 5.05}, radius = 1.3;
    paint(f, ball(f->arena, (sel_point){3, {4.1, 0.4, 5.05}}, radius));
    create(f);
    int count = 0;
    for (int64_t cell = 0; cell < sel_grid_cells(&f->domain->grid); cell++) {
        double from[3];
        sel_cell_centre(&f->domain->grid, cell, from);
        for (int k = 0; k < 27; k++) {
            const int e[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            double a = 0, b = 0, c = -radius * radius, end = c, q;
            for (int i = 0; i < 3; i++) {
                const double m = from[i] - centre[i], d = 0.5 * e[i];
                a += d * d;
                b += m * d;
                c += m * m;
                end += (m + d) * (m + d);
            }
            if (c > 0 && end <= 0) {
                assert_true(sel_domain_crossing(f->domain, cell, e, &q));
                NEAR(q, (-b - sqrt(b * b - a * c)) / a);
                count++;
            } else if (end > 0) {
                assert_false(sel_domain_crossing(f->domain, cell, e, &q));
            }
        }
    }
    assert_true(count > 300);
}

/* sel_solver.solid: the second region is computed, as fluid that is painted over a solid. */
static bool first_is_solid(const sel_simulation *simulation, const sel_domain *domain, int region) {
    (void)simulation;
    (void)domain;
    return region != 2;
}

static void fluid_painted_over_a_solid(void **state) {
    fixture *f = *state;
    f->solver.solid = first_is_solid;
    paint(f, box(f->arena, (sel_point){3, {2, -2, 3}}, (sel_point){3, {5, 3, 7}}));
    paint(f, box(f->arena, (sel_point){3, {1, -2, 3}}, (sel_point){3, {2.4, 3, 7}}));
    paint(f, ball(f->arena, (sel_point){3, {1.9, 0.25, 5.25}}, 0.3));
    create(f);
    double q;
    /* Centres lie at 1.25, 1.75, 2.25 ...: cell 3 (2.75) is the first one of the box. */
    assert_true(link_of(f, cell_at(f, 2, 0, 0), 1, 0, 0, &q));
    NEAR(q, (2.4 - 2.25) / 0.5);
    assert_false(link_of(f, cell_at(f, 0, 0, 0), 1, 0, 0, &q));
    /* The ball, painted last, covers cell 1 (1.75, 0.25, 5.25). */
    assert_true(link_of(f, cell_at(f, 0, 4, 4), 1, 0, 0, &q));
    NEAR(q, (1.6 - 1.25) / 0.5);
    assert_true(link_of(f, cell_at(f, 2, 4, 4), -1, 0, 0, &q));
    NEAR(q, (2.25 - 2.2) / 0.5);
}

/* Whether the last of the regions that contain a point of a link is solid. Periodic axes wrap. */
static bool solid_at(const fixture *f, const double from[3], const int e[3], double t) {
    const sel_grid *grid = &f->domain->grid;
    double p[3];
    bool solid = false;
    for (int a = 0; a < 3; a++) {
        const double length = (double)grid->n[a] * grid->dx[a];
        p[a] = from[a] + t * e[a] * grid->dx[a] - grid->origin[a];
        p[a] -= length * floor(p[a] / length) - grid->origin[a];
    }
    for (int k = 0; k < f->common.regions.n; k++) {
        const bool in = contains(f->regions[k].where, grid, p, p, 0);
        solid = in ? !f->domain->computed[k + 1] : solid;
    }
    return solid;
}

/* Four random trees, the second of them fluid, painted over each other in a periodic box: each link
 * against the first solid point among 500 of it, halved. */
static void random_paintings(void **state) {
    draw d = {NULL, (int64_t)1 << 41};
    int links = 0, seams = 0, earlier = 0;
    for (int round = 0; round < 12; round++) {
        fixture *f = *state;
        d.arena = f->arena;
        f->solver.solid = first_is_solid;
        f->common.size = (sel_ints){3, {16, 16, 16}};
        f->common.dx = 1.25;
        f->common.origin = (sel_point){3, {6, 6, 6}};
        for (int k = 0; k < 4; k++) {
            paint(f, k == 3 ? random_primitive(&d, &space3)
                            : sel_shape_combine(f->arena, SEL_SHAPE_UNION,
                                                random_primitive(&d, &space3),
                                                random_tree(&d, &space3, 2)));
        }
        sel_status status = sel_domain_create(&f->simulation, NULL, &f->domain, &f->error);
        for (int64_t cell = 0; cell < 4096 && !status; cell++) {
            double from[3], q;
            sel_cell_centre(&f->domain->grid, cell, from);
            for (int k = 0; k < 27 && f->domain->cell[cell] == 0; k += 1 + (int)uniform(&d, 0, 9)) {
                const int e[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
                if (!solid_at(f, from, e, 1)) {
                    continue;
                }
                int i = 1;
                while (!solid_at(f, from, e, i / 500.0)) {
                    i++;
                }
                double lo = (i - 1) / 500.0, hi = i / 500.0;
                while (hi - lo > 1e-13) {
                    const double middle = 0.5 * (lo + hi);
                    *(solid_at(f, from, e, middle) ? &hi : &lo) = middle;
                }
                if (sel_domain_crossing(f->domain, cell, e, &q)) {
                    links++;
                    assert_true(q < hi + 1e-9);
                    earlier += q < hi - 1e-9;
                } else {
                    seams++;
                    assert_near(hi, 0.5, 1e-9); /* a shape that is cut by a periodic face */
                }
            }
        }
        fake_scene_close(state);
        set_up(state);
    }
    assert_true(links > 2000);
    assert_true(seams > 0);
    assert_true(earlier < links / 200);
}

static void links_across_periodic_faces(void **state) {
    fixture *f = *state;
    /* The domain is 1 <= x < 7. Half a ball at each end, and a box that ends with the domain. */
    paint(f, ball(f->arena, (sel_point){3, {1, 0.25, 5.25}}, 0.4));
    paint(f, ball(f->arena, (sel_point){3, {7, 0.25, 5.25}}, 0.4));
    paint(f, box(f->arena, (sel_point){3, {1, -2, 3}}, (sel_point){3, {1.6, -1, 7}}));
    create(f);
    double q;
    assert_true(link_of(f, cell_at(f, 10, 4, 4), 1, 0, 0, &q));
    NEAR(q, (6.6 - 6.25) / 0.5);
    assert_true(link_of(f, cell_at(f, 1, 4, 4), -1, 0, 0, &q));
    NEAR(q, (1.75 - 1.4) / 0.5);
    /* From below, along a diagonal, through the face into the other half. */
    assert_true(link_of(f, cell_at(f, 11, 3, 4), 1, 1, 0, &q));
    const double a = 0.5, b = -0.25 * 0.5 - 0.5 * 0.5, c = 0.0625 + 0.25 - 0.16;
    NEAR(q, (-b - sqrt(b * b - a * c)) / a);
    /* The box begins at the face, which is no surface of its own. */
    assert_false(link_of(f, cell_at(f, 11, 0, 0), 1, 0, 0, &q));
    assert_true(link_of(f, cell_at(f, 1, 0, 0), -1, 0, 0, &q));
    NEAR(q, (1.75 - 1.6) / 0.5);
}

/* Beyond a face, in a free cell and at a picture there is no surface: the wall lies half-way. */
static void links_without_a_surface(void **state) {
    fixture *f = *state;
    static const uint8_t pixel[] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    const sel_mask pixels = {.n = {4, 3, 1}, .marked = pixel};
    const sel_shape_image image = {.ask = {.file = "i.png"}, .mask = &pixels};
    f->common.size = (sel_ints){2, {4, 3}};
    f->common.dx = 1;
    f->common.origin = (sel_point){0};
    f->common.periodic = 1;
    paint(f, sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL));
    paint(f, make_shape(f->arena, SEL_SHAPE_IMAGE, &image, sizeof image));
    paint(f, ball(f->arena, (sel_point){2, {3.5, 1.5}}, 0.25));
    create(f);
    double q;
    assert_int_equal(f->domain->cell[5], 2);
    assert_int_equal(f->domain->cell[7], 3);
    assert_false(link_of(f, cell_at(f, 0, 1, 0), 1, 0, 0, &q)); /* the picture */
    assert_false(link_of(f, cell_at(f, 2, 2, 0), -1, -1, 0, &q));
    assert_false(link_of(f, cell_at(f, 0, 2, 0), 0, 1, 0, &q)); /* the face y+ */
    assert_false(link_of(f, cell_at(f, 0, 0, 0), 0, 1, 0, &q)); /* free */
    assert_false(link_of(f, cell_at(f, 2, 0, 0), 1, 0, 0, &q));
    assert_true(link_of(f, cell_at(f, 2, 1, 0), 1, 0, 0, &q));
    NEAR(q, 0.75);
    assert_false(sel_domain_crossing_needs_one_thread(f->domain));
}

static bool has_failed; /* evaluate_failing was asked where it fails */

/* A ball; fails between the centres of cells along y. */
static sel_status evaluate_failing(const sel_function *self, const sel_places *at, double *out,
                                   sel_error *error) {
    (void)self;
    for (size_t i = 0; i < at->n; i++) {
        const double cells = (at->y[i] + 2) / 0.5 - 0.5;
        if (fabs(cells - round(cells)) > 1e-6) {
            has_failed = true;
            return sel_fail(error, SEL_BAD_SCENARIO, "no value here");
        }
        out[i] = pow(at->x[i] - 4.1, 2) + pow(at->y[i] - 0.4, 2) + pow(at->z[i] - 5.05, 2) <= 1;
    }
    return SEL_OK;
}

static void functions_that_fail_leave_the_wall_half_way(void **state) {
    fixture *f = *state;
    const sel_function function = {.depends = SEL_ON_PLACE, .results = 1, .eval = evaluate_failing};
    const sel_shape_inside inside = {&function};
    paint(f, make_shape(f->arena, SEL_SHAPE_INSIDE, &inside, sizeof inside));
    create(f);
    double q;
    const int64_t cell = cell_at(f, 3, 4, 4); /* at (2.75, 0.25, 5.25) */
    assert_true(link_of(f, cell, 1, 0, 0, &q));
    assert_false(has_failed);
    assert_false(link_of(f, cell, 1, 1, 0, &q));
    assert_true(has_failed);
}

static sel_status evaluate_ball(const sel_function *self, const sel_places *at, double *out,
                                sel_error *error) {
    (void)self;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        const double x = at->x[i] - 4.1, y = at->y[i] - 0.4, z = at->z[i] - 5.05;
        out[i] = x * x + y * y + z * z <= 1.3 * 1.3;
    }
    return SEL_OK;
}

static void functions_are_halved(void **state) {
    fixture *f = *state;
    const sel_function function = {.depends = SEL_ON_PLACE, .results = 1, .eval = evaluate_ball};
    const sel_shape_inside inside = {&function};
    const sel_shape *exact = ball(f->arena, (sel_point){3, {4.1, 0.4, 5.05}}, 1.3);
    paint(f, make_shape(f->arena, SEL_SHAPE_INSIDE, &inside, sizeof inside));
    create(f);
    assert_true(sel_domain_crossing_needs_one_thread(f->domain));
    int count = 0;
    for (int64_t cell = 0; cell < sel_grid_cells(&f->domain->grid); cell++) {
        double from[3], to[3], q;
        sel_cell_centre(&f->domain->grid, cell, from);
        for (int k = 0; k < 27 && f->domain->cell[cell] == 0; k++) {
            const int e[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            for (int a = 0; a < 3; a++) {
                to[a] = from[a] + 0.5 * e[a];
            }
            if (sel_domain_crossing(f->domain, cell, e, &q)) {
                assert_near(q, crossing(exact, &f->domain->grid, from, to), 2e-12);
                count++;
            }
        }
    }
    assert_true(count > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_and_ellipsoids),
        cmocka_unit_test(cylinders_and_cones),
        cmocka_unit_test(boxes_and_polygons),
        cmocka_unit_test(tori),
        cmocka_unit_test(placed_shapes),
        cmocka_unit_test(random_trees),
        cmocka_unit_test(unions_of_many),
        cmocka_unit_test_setup_teardown(links_into_a_ball, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(fluid_painted_over_a_solid, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(random_paintings, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(links_across_periodic_faces, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(links_without_a_surface, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(functions_that_fail_leave_the_wall_half_way, set_up,
                                        fake_scene_close),
        cmocka_unit_test_setup_teardown(functions_are_halved, set_up, fake_scene_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
