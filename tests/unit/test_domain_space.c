/* test_domain_space.c -- regions painted in three dimensions: shapes, faces, edges and corners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include <omp.h>
#include "tests/unit/fake_scene.h"

enum { NX = 7, NY = 6, NZ = 5, CELLS = NX * NY * NZ };
static const int64_t last[] = {NX - 1, NY - 1, NZ - 1};

/* 7 x 6 x 5 cells of side 0.5 from (1, -2, 3) on. */
typedef fake_scene fixture;

static int set_up(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    f->arena = sel_arena_create();
    f->common.size = (sel_ints){3, {NX, NY, NZ}};
    f->common.dx = 0.5;
    f->common.dt = 1;
    f->common.origin = (sel_point){3, {1, -2, 3}};
    f->common.regions.v = f->regions;
    f->simulation = (sel_simulation){.solver = &fake_solver, .params = &f->common};
    *state = f;
    return 0;
}

static void add(fixture *f, const sel_shape *shape) {
    int number = ++f->common.regions.n;
    f->regions[number - 1] = fake_region(number, NULL, shape, &fake_anywhere);
}

static sel_shape *shape_of(fixture *f, sel_shape_kind kind, const void *data, size_t size) {
    void *copy = sel_arena_alloc(f->arena, size + 1);
    memcpy(copy, data, size);
    return sel_shape_make(f->arena, kind, copy);
}

static sel_shape *box(fixture *f, sel_point min, sel_point max) {
    sel_shape_box data = {min, max};
    return shape_of(f, SEL_SHAPE_BOX, &data, sizeof data);
}

static sel_shape *ball(fixture *f, double x, double y, double z, double radius) {
    sel_shape_ball data = {{3, {x, y, z}}, radius};
    return shape_of(f, SEL_SHAPE_BALL, &data, sizeof data);
}

static sel_shape *faces(fixture *f) {
    return sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL);
}

static void create(fixture *f) {
    assert_int_equal(sel_domain_create(&f->simulation, NULL, &f->domain, &f->error), SEL_OK);
}

static void centre_of(const fixture *f, int64_t cell, double p[3]) {
    int64_t at[3];
    sel_cell_at(&f->domain->grid, cell, at);
    assert_int_equal(sel_cell_number(&f->domain->grid, at), cell);
    for (int a = 0; a < 3; a++) {
        p[a] = (double[]){1, -2, 3}[a] + 0.5 * ((double)at[a] + 0.5);
    }
}

/* Paints `shape` behind walls on all faces, and asserts that it owns just the cells whose centres
 * are `inside`, of which there are some and not all. */
static void assert_cells(fixture *f, const sel_shape *shape, bool (*inside)(const double p[3])) {
    add(f, faces(f));
    add(f, shape);
    create(f);
    int count = 0;
    for (int64_t cell = 0; cell < CELLS; cell++) {
        double p[3];
        centre_of(f, cell, p);
        if (f->domain->cell[cell] != (inside(p) ? 2 : 0)) {
            fail_msg("cell at %g %g %g has region %d", p[0], p[1], p[2], f->domain->cell[cell]);
        }
        count += f->domain->cell[cell] != 0;
    }
    assert_in_range(count, 1, CELLS - 1);
    assert_int_equal(f->domain->free_cells, CELLS - count);
}

static bool in_test_box(const double p[3]) {
    return p[0] >= 1.75 && p[0] < 3.25 && p[1] >= -1 && p[1] < 0.3 && p[2] >= 0 && p[2] < 4.75;
}

static void a_box_is_half_open_on_every_axis(void **state) {
    fixture *f = *state;
    sel_point min = {3, {1.75, -1, 0}}, max = {3, {3.25, 0.3, 4.75}};
    assert_cells(f, box(f, min, max), in_test_box);
}

static double squares(const double p[3], double x, double y, double z) {
    return (p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y) + (p[2] - z) * (p[2] - z);
}

static bool in_test_ball(const double p[3]) {
    return squares(p, 2.25, -0.75, 4.25) <= 1;
}

/* Cells at a distance of just the radius count on all six sides. */
static void a_ball_is_round_in_space(void **state) {
    fixture *f = *state;
    assert_cells(f, ball(f, 2.25, -0.75, 4.25, 1), in_test_ball);
    assert_int_equal(f->domain->cell[2 + NX * (2 + NY * 0)], 2);
    assert_int_equal(f->domain->cell[2 + NX * (2 + NY * 4)], 2);
    assert_int_equal(f->domain->cell[4 + NX * (2 + NY * 2)], 2);
}

/* From (1.5, -1.5, 3.2) along (1, 1, 1) for sqrt(3), radius 0.6. */
static bool in_test_cylinder(const double p[3]) {
    double along = (p[0] - 1.5 + p[1] + 1.5 + p[2] - 3.2) / 3;
    return along >= 0 && along <= 1 &&
           squares(p, 1.5 + along, -1.5 + along, 3.2 + along) <= 0.6 * 0.6;
}

static void a_cylinder_may_lie_askew_and_ends_at_its_planes(void **state) {
    fixture *f = *state;
    sel_shape_cylinder data = {
        .from = {3, {1.5, -1.5, 3.2}}, .to = {3, {2.5, -0.5, 4.2}}, .radius = 0.6};
    assert_cells(f, shape_of(f, SEL_SHAPE_CYLINDER, &data, sizeof data), in_test_cylinder);
}

static bool in_test_prism(const double p[3]) {
    return p[0] + p[1] < 1.1;
}

static void a_polygon_is_a_prism_along_z(void **state) {
    fixture *f = *state;
    sel_point corners[] = {{2, {-9, -9, 0}}, {2, {10.1, -9, 0}}, {2, {-9, 10.1, 0}}};
    sel_shape_polygon data = {{3, corners}};
    assert_cells(f, shape_of(f, SEL_SHAPE_POLYGON, &data, sizeof data), in_test_prism);
}

static bool in_test_slope(const double p[3]) {
    return p[0] - 2 * p[1] + 3 * p[2] < 13;
}

static sel_status slope(const sel_function *self, const sel_places *at, double *out,
                        sel_error *error) {
    (void)self, (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = at->x[i] - 2 * at->y[i] + 3 * at->z[i] < 13;
    }
    return SEL_OK;
}

static void a_function_gets_all_three_coordinates(void **state) {
    fixture *f = *state;
    const sel_function function = {.depends = SEL_ON_PLACE, .results = 1, .eval = slope};
    sel_shape_inside data = {&function};
    sel_shape *shape = shape_of(f, SEL_SHAPE_INSIDE, &data, sizeof data);
    assert_cells(f, shape, in_test_slope);
}

static bool in_test_tree(const double p[3]) {
    bool balls = squares(p, 2, -1, 4) <= 1 || squares(p, 4, 0.5, 3.5) <= 0.81;
    bool hollow = in_test_box(p) && squares(p, 2.25, -0.75, 4.25) > 0.36;
    return (balls && p[0] - 2 * p[1] + 3 * p[2] < 15) || hollow;
}

static sel_status steep(const sel_function *self, const sel_places *at, double *out,
                        sel_error *error) {
    (void)self, (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = at->x[i] - 2 * at->y[i] + 3 * at->z[i] < 15;
    }
    return SEL_OK;
}

/* (ball + ball) * inside + (box - ball): what one part's bounds leave out, another may hold. */
static void combinations_hold_what_their_parts_hold(void **state) {
    fixture *f = *state;
    const sel_function function = {.depends = SEL_ON_PLACE, .results = 1, .eval = steep};
    sel_shape_inside data = {&function};
    sel_point min = {3, {1.75, -1, 0}}, max = {3, {3.25, 0.3, 4.75}};
    sel_shape *balls = sel_shape_combine(f->arena, SEL_SHAPE_UNION, ball(f, 2, -1, 4, 1),
                                         ball(f, 4, 0.5, 3.5, 0.9));
    sel_shape *below = shape_of(f, SEL_SHAPE_INSIDE, &data, sizeof data);
    sel_shape *cut = sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, balls, below);
    sel_shape *hollow = sel_shape_combine(f->arena, SEL_SHAPE_DIFFERENCE, box(f, min, max),
                                          ball(f, 2.25, -0.75, 4.25, 0.6));
    assert_cells(f, sel_shape_combine(f->arena, SEL_SHAPE_UNION, cut, hollow), in_test_tree);
}

static void bounds_are_those_of_the_cells_that_a_shape_may_hold(void **state) {
    fixture *f = *state;
    add(f, faces(f));
    create(f);
    sel_box none = sel_shape_cells(faces(f), &f->domain->grid);
    assert_int_equal(sel_box_cells(&none), 0);
    sel_shape *corner = ball(f, 1, -2, 3, 0.7);
    sel_box few = sel_shape_cells(corner, &f->domain->grid);
    for (int a = 0; a < 3; a++) {
        assert_int_equal(few.lo[a], 0);
        assert_in_range(few.hi[a], 2, 3);
    }
    sel_shape *rest = sel_shape_combine(f->arena, SEL_SHAPE_DIFFERENCE, corner, faces(f));
    few = sel_shape_cells(rest, &f->domain->grid);
    assert_in_range(few.hi[0], 2, 3);
}

static uint8_t site(const fixture *f, int face, int64_t x, int64_t y, int64_t z) {
    const int64_t at[3] = {x, y, z};
    return f->domain->face[face][sel_face_site(&f->domain->grid, face, at)];
}

/* The part of each face within 0.5 of the domain's centre along both of its axes. */
static void a_face_cut_by_a_box_has_a_window_in_each_face(void **state) {
    static const int windows[] = {2, 3, 6}; /* sites across x, y, z */
    fixture *f = *state;
    add(f, faces(f));
    for (int face = 0; face < SEL_FACES; face++) {
        sel_point min = {3, {2.2, -1.1, 3.9}}, max = {3, {3.3, 0.1, 4.6}};
        min.v[face / 2] = -100;
        max.v[face / 2] = 100;
        add(f, sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, sel_shape_face(f->arena, face),
                                 box(f, min, max)));
    }
    create(f);
    for (int face = 0; face < SEL_FACES; face++) {
        int own = 0;
        for (int64_t s = 0; s < sel_face_sites(&f->domain->grid, face); s++) {
            int64_t at[3];
            sel_face_cell(&f->domain->grid, face, s, at);
            assert_int_equal(sel_face_site(&f->domain->grid, face, at), s);
            assert_int_equal(at[face / 2], face % 2 ? last[face / 2] : 0);
            bool within = true;
            for (int a = 0; a < 3; a++) {
                int lo[] = {2, 2, 2}, hi[] = {4, 3, 2}; /* centres 2.25..3.25, -0.75..-0.25, 4.25 */
                within = within && (a == face / 2 || (at[a] >= lo[a] && at[a] <= hi[a]));
            }
            assert_int_equal(f->domain->face[face][s], within ? face + 2 : 1);
            own += within;
        }
        assert_int_equal(own, windows[face / 2]);
    }
}

static void a_box_that_ends_with_the_domain_cuts_its_upper_faces(void **state) {
    fixture *f = *state;
    sel_point min = {3, {1, -2, 3}}, max = {3, {4.5, 1, 5.5}};
    add(f, faces(f));
    add(f, sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, faces(f), box(f, min, max)));
    create(f);
    assert_int_equal(site(f, SEL_X_MAX, 6, 0, 0), 2);
    assert_int_equal(site(f, SEL_Y_MAX, 6, 5, 4), 2);
    assert_int_equal(site(f, SEL_Z_MAX, 0, 5, 4), 2);
    assert_int_equal(site(f, SEL_Z_MIN, 0, 5, 0), 2);
}

static void rest_is_what_other_faces_left(void **state) {
    fixture *f = *state;
    sel_point min = {3, {0, -2, 0}}, max = {3, {9, -0.9, 9}};
    add(f, sel_shape_face(f->arena, SEL_Z_MAX));
    add(f, sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, sel_shape_face(f->arena, SEL_X_MIN),
                             box(f, min, max)));
    add(f, sel_shape_make(f->arena, SEL_SHAPE_REST, NULL));
    create(f);
    assert_int_equal(site(f, SEL_Z_MAX, 3, 3, 4), 1);
    assert_int_equal(site(f, SEL_X_MIN, 0, 1, 4), 2);
    assert_int_equal(site(f, SEL_X_MIN, 0, 2, 4), 3);
    assert_int_equal(site(f, SEL_Z_MIN, 3, 3, 0), 3);
    assert_int_equal(site(f, SEL_Y_MAX, 6, 5, 2), 3);
}

/* Region f + 1 on face f: the latest painted of the faces that meet wins. */
static void boundaries_at_edges_and_corners_are_of_the_latest_face(void **state) {
    fixture *f = *state;
    for (int face = 0; face < SEL_FACES; face++) {
        add(f, sel_shape_face(f->arena, face));
    }
    sel_point min = {3, {1, -2, 3}}, max = {3, {1.5, -1.5, 3.5}};
    add(f, box(f, min, max)); /* the cell in the lowest corner */
    create(f);
    uint8_t type[CELLS], solid[CELLS], boundary[CELLS], part[CELLS];
    sel_box all = sel_grid_box(&f->domain->grid);
    sel_domain_cells(f->domain, &all, &(sel_cell_marks){type, solid, boundary});
    int64_t at[3];
    for (int64_t i = 0; i < CELLS; i++) {
        sel_cell_at(&f->domain->grid, i, at);
        int expected = 0;
        for (int a = 0; a < 3; a++) {
            expected = at[a] == 0 ? 2 * a + 1 : at[a] == last[a] ? 2 * a + 2 : expected;
        }
        assert_int_equal(type[i], i == 0 ? 7 : 0);
        assert_int_equal(solid[i], i == 0);
        assert_int_equal(boundary[i], i == 0 ? 0 : expected);
    }
    sel_box odd = {{1, 0, 1}, {NX, NY, NZ}, {2, 5, 3}};
    sel_domain_cells(f->domain, &odd, &(sel_cell_marks){type, solid, part});
    int64_t next = 0;
    for (at[2] = 1; at[2] < NZ; at[2] += 3) {
        for (at[1] = 0; at[1] < NY; at[1] += 5) {
            for (at[0] = 1; at[0] < NX; at[0] += 2) {
                assert_int_equal(part[next++], boundary[sel_cell_number(&f->domain->grid, at)]);
            }
        }
    }
    assert_int_equal(next, sel_box_cells(&odd));
}

/* Enough cells for several threads to share; a ball in the middle, a slab from below. */
static void threads_paint_the_same(void **state) {
    fixture *f = *state;
    uint8_t *one = NULL;
    f->common.size = (sel_ints){3, {160, 150, 140}};
    sel_point min = {3, {0, -9, 0}}, max = {3, {99, 10, 99}};
    add(f, faces(f));
    add(f, box(f, min, max));
    add(f, ball(f, 41, 35, 38, 34));
    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        create(f);
        size_t cells = (size_t)sel_grid_cells(&f->domain->grid);
        if (threads == 1) {
            one = test_malloc(cells);
            memcpy(one, f->domain->cell, cells);
        }
        assert_memory_equal(f->domain->cell, one, cells);
        sel_domain_destroy(f->domain);
        f->domain = NULL;
    }
    test_free(one);
}

static void an_unpainted_site_is_named_with_three_indices(void **state) {
    fixture *f = *state;
    f->common.at = (sel_where){"test.lua", 3};
    for (int face = 0; face < SEL_FACES; face++) {
        sel_point min = {3, {0, -1, 3.5}}, max = {3, {9, 9, 9}};
        const sel_shape *whole = sel_shape_face(f->arena, face);
        add(f, face == SEL_X_MAX
                   ? sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, whole, box(f, min, max))
                   : whole);
    }
    assert_int_equal(sel_domain_create(&f->simulation, NULL, &f->domain, &f->error),
                     SEL_BAD_SCENARIO);
    assert_string_equal(f->error.text,
                        "test.lua:3: face x+: no region paints 14 of its 30 sites, the first at "
                        "cell {6, 0, 0}; paint them, or make axis x periodic");
}

static void shapes_of_two_dimensions_are_refused(void **state) {
    fixture *f = *state;
    sel_shape_cylinder disc = {.centre = {2, {2, 2, 0}}, .radius = 1};
    sel_shape_ball flat = {{2, {2, 2, 0}}, 1};
    add(f, faces(f));
    add(f, shape_of(f, SEL_SHAPE_CYLINDER, &disc, sizeof disc));
    add(f, shape_of(f, SEL_SHAPE_BALL, &flat, sizeof flat));
    add(f, box(f, (sel_point){2, {0, 0, 0}}, (sel_point){3, {1, 1, 1}}));
    assert_int_equal(sel_domain_create(&f->simulation, NULL, &f->domain, &f->error),
                     SEL_BAD_SCENARIO);
    assert_string_equal(f->error.text,
                        "shape.cylinder: give from and to in 3 dimensions\n"
                        "shape.ball: centre has 2 coordinates in a domain of 3 dimensions\n"
                        "shape.box: min has 2 coordinates in a domain of 3 dimensions");
}

static void a_cylinder_needs_an_axis(void **state) {
    fixture *f = *state;
    const sel_table *table = sel_family_find(&sel_shape_family, "cylinder");
    sel_shape_cylinder point = {.from = {3, {1, 2, 3}}, .to = {3, {1, 2, 3}}, .radius = 1};
    sel_shape_cylinder half = {.from = {3, {1, 2, 3}}, .radius = 1};
    sel_where where = {"test.lua", 4};
    assert_int_equal(table->check(&point, where, &f->error), SEL_BAD_SCENARIO);
    assert_int_equal(table->check(&half, where, &f->error), SEL_BAD_SCENARIO);
    assert_string_equal(f->error.text,
                        "test.lua:4: shape.cylinder: from and to are the same point\n"
                        "test.lua:4: shape.cylinder: give from and to in 3-D, or centre in 2-D");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fake_scene_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_box_is_half_open_on_every_axis),
        TEST(a_ball_is_round_in_space),
        TEST(a_cylinder_may_lie_askew_and_ends_at_its_planes),
        TEST(a_polygon_is_a_prism_along_z),
        TEST(a_function_gets_all_three_coordinates),
        TEST(combinations_hold_what_their_parts_hold),
        TEST(bounds_are_those_of_the_cells_that_a_shape_may_hold),
        TEST(a_face_cut_by_a_box_has_a_window_in_each_face),
        TEST(a_box_that_ends_with_the_domain_cuts_its_upper_faces),
        TEST(rest_is_what_other_faces_left),
        TEST(boundaries_at_edges_and_corners_are_of_the_latest_face),
        TEST(threads_paint_the_same),
        TEST(an_unpainted_site_is_named_with_three_indices),
        TEST(shapes_of_two_dimensions_are_refused),
        TEST(a_cylinder_needs_an_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
