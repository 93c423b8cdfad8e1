/* test_mesh.c -- bodies of triangles: cells, crossings, repairs, and what is told of a mesh. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "engine/values/philox.h"
#include "geometry/mesh.h"
#include "geometry/solid.h"
#include "tests/unit/files.h"
#include "tests/unit/mesh_files.h"

enum { CELLS = 24, ALL = CELLS * CELLS * CELLS };

static const double pi = 3.14159265358979323846;
static const sel_grid space = {
    .dims = 3, .n = {CELLS, CELLS, CELLS}, .dx = {1, 1, 1}, .dt = 1, .periodic = 7};
static const double middle[3] = {12.1, 11.8, 12.3};

typedef struct fixture {
    sel_arena *arena;
    sel_error error;
    soup s;
    sel_shape_mesh data;
} fixture;

/* With the line of the caller and both numbers in the message. */
static void near_at(int line, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("line %d: %.16g instead of %.16g", line, value, expected);
}
#define assert_near(value, expected, tolerance) near_at(__LINE__, value, expected, tolerance)

static int open_fixture(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->arena = sel_arena_create();
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    fixture *f = *state;
    sel_arena_destroy(f->arena);
    free(f->s.v);
    free(f);
    return 0;
}

/* The soup as a shape, by way of a file. */
static sel_shape *shape_of(fixture *f) {
    sel_shape_mesh *data = sel_arena_alloc(f->arena, sizeof *data);
    write_obj(&f->s, "m.obj");
    sel_table_presets(&sel_mesh_table, data);
    data->file = "m.obj";
    if (sel_shape_mesh_read(f->arena, data, &f->error))
        fail_msg("%s", f->error.text);
    f->data = *data;
    return sel_shape_make(f->arena, SEL_SHAPE_MESH, data);
}

static sel_shape *ball_shape(fixture *f, double radius) {
    sel_shape_ball *data = sel_arena_alloc(f->arena, sizeof *data);
    *data = (sel_shape_ball){{3, {middle[0], middle[1], middle[2]}}, radius};
    return sel_shape_make(f->arena, SEL_SHAPE_BALL, data);
}

/* The cells whose centres lie in a shape; compared with a test of each centre by itself. */
static int64_t cells_of(const sel_shape *shape, uint8_t in[ALL]) {
    static double x[ALL], y[ALL], z[ALL];
    const sel_shape_space at = {&space, NULL};
    const sel_places places = {ALL, x, y, z, 0, NULL, NULL};
    sel_error error = {.status = SEL_OK};
    int64_t count = 0;
    bool failed = false;
    for (int i = 0; i < ALL; i++) {
        x[i] = i % CELLS + 0.5;
        y[i] = i / CELLS % CELLS + 0.5;
        z[i] = i / CELLS / CELLS + 0.5;
    }
    assert_int_equal(sel_shape_test(shape, &space, -1, &places, NULL, in, &error), SEL_OK);
    for (int i = 0; i < ALL; i++) {
        count += in[i];
        if (in[i] != sel_shape_contains(shape, &at, (double[]){x[i], y[i], z[i]}, &failed))
            fail_msg("cell %d: rows and points differ", i);
    }
    assert_false(failed);
    return count;
}

static int64_t difference(const uint8_t a[ALL], const uint8_t b[ALL]) {
    int64_t count = 0;
    for (int i = 0; i < ALL; i++)
        count += a[i] != b[i];
    return count;
}

/* The surface of a ball of 128 x 64 corners lies less than this within the ball. */
static const double hollow = 0.0025;

/* Cells may differ only where triangles lie within the ball by less than `hollow` radii. */
static void assert_same_but_near(const uint8_t a[ALL], const uint8_t b[ALL], double r) {
    for (int i = 0; i < ALL; i++) {
        const double x = i % CELLS + 0.5 - middle[0], y = i / CELLS % CELLS + 0.5 - middle[1],
                     z = i / CELLS / CELLS + 0.5 - middle[2];
        const double in = 1 - sqrt(x * x + y * y + z * z) / r;
        if (a[i] != b[i] && !(in > -1e-9 && in < hollow))
            fail_msg("cell %d, %g radii from the surface", i, in);
    }
}

static double drawn(uint64_t number, double from, double to) {
    return from + (to - from) * (sel_philox(50, number, 0, 0) * 0x1p-32);
}

/* ---- cells ---- */

static void a_ball_of_triangles_has_the_cells_volume_and_area_of_a_ball(void **state) {
    fixture *f = *state;
    static uint8_t in[ALL], expected[ALL];
    const double r = 9.217;
    soup_ball(&f->s, middle, r, 64);
    const sel_shape *mesh = shape_of(f), *ball = ball_shape(f, r);
    cells_of(mesh, in);
    cells_of(ball, expected);
    assert_same_but_near(in, expected, r);
    const sel_mesh_facts *facts = &f->data.mesh->facts;
    assert_int_equal(facts->triangles, 2 * 64 * 2 * 63);
    assert_near(facts->volume, 4 * pi / 3 * r * r * r, 0.002 * facts->volume);
    assert_near(facts->area, 4 * pi * r * r, 0.002 * facts->area);
    assert_int_equal(facts->open_edges + facts->turned + facts->degenerate + facts->crossing, 0);
}

/* Rays through the centres meet faces, edges, corners and the diagonals of faces. */
static void a_box_through_centres_is_half_open(void **state) {
    fixture *f = *state;
    static uint8_t in[ALL];
    soup_box(&f->s, (double[]){4.5, 6.5, 5.5}, (double[]){14.5, 16.5, 15.5});
    assert_int_equal(cells_of(shape_of(f), in), 1000);
    assert_int_equal(in[4 + CELLS * (6 + CELLS * 5)], 1);
    assert_int_equal(in[14 + CELLS * (6 + CELLS * 5)], 0);
}

/* A quarter turn brings centres to centres, so that all of this repeats along other axes. */
static void placed_meshes_are_tested_in_their_own_coordinates(void **state) {
    fixture *f = *state;
    static uint8_t in[ALL], expected[ALL];
    soup_ball(&f->s, (double[]){0, 0, 0}, 1, 64);
    sel_shape_placement *to = sel_arena_alloc(f->arena, 3 * sizeof *to);
    sel_placement_rotate(&to[0], 1, (double[]){1, 2, 3}, (double[]){0, 0, 0});
    sel_placement_scale(&to[1], 9.217, (double[]){0, 0, 0});
    sel_placement_move(&to[2], middle);
    sel_shape *shape = shape_of(f);
    for (int k = 0; k < 3; k++)
        shape = sel_shape_place(f->arena, shape, &to[k]);
    cells_of(ball_shape(f, 9.217), expected);
    cells_of(shape, in);
    assert_same_but_near(in, expected, 9.217);
    const sel_shape *rest =
        sel_shape_combine(f->arena, SEL_SHAPE_DIFFERENCE, shape, ball_shape(f, 9.217));
    assert_int_equal(cells_of(rest, in), 0);
}

static void the_table_places_a_mesh_by_rotation_scale_and_offset(void **state) {
    fixture *f = *state;
    soup_box(&f->s, (double[]){0, 0, 0}, (double[]){1000, 2000, 3000});
    write_stl(&f->s, "m.stl");
    sel_shape_mesh data = {.file = "m.stl", .scale = 1e-3, .offset = {3, {7, 8, 9}}};
    data.rotate = (sel_shape_rotated){pi / 2, {3, {0, 0, 1}}, {3, {1000, 0, 0}}};
    assert_int_equal(sel_shape_mesh_read(f->arena, &data, &f->error), SEL_OK);
    const sel_bounds *b = &data.mesh->bounds;
    const double lo[3] = {8 - 2, 8 - 1, 9}, hi[3] = {8, 8, 12};
    for (int a = 0; a < 3; a++) {
        assert_near(b->lo[a], lo[a], 1e-8);
        assert_near(b->hi[a], hi[a], 1e-8);
    }
}

/* Bodies of four triangles, drawn by lot: what one of them holds is inside, whichever way it
 * faces. */
static void overlapping_bodies_are_one(void **state) {
    fixture *f = *state;
    static uint8_t in[ALL], one[ALL], any[ALL];
    soup all = {.count = 0};
    for (int k = 0; k < 12; k++) {
        double p[4][3], volume = 0, e[3][3];
        for (int i = 0; i < 12; i++)
            p[i / 3][i % 3] = drawn((uint64_t)(12 * k + i), 2, 22);
        for (int i = 0; i < 9; i++)
            e[i / 3][i % 3] = p[i / 3 + 1][i % 3] - p[0][i % 3];
        for (int a = 0; a < 3; a++)
            volume += e[0][a] * (e[1][(a + 1) % 3] * e[2][(a + 2) % 3] -
                                 e[1][(a + 2) % 3] * e[2][(a + 1) % 3]);
        const int q = volume > 0 ? 2 : 1, r = 3 - q;
        f->s.count = 0;
        soup_add(&f->s, p[0], p[q], p[r]);
        soup_add(&f->s, p[0], p[r], p[3]);
        soup_add(&f->s, p[0], p[3], p[q]);
        soup_add(&f->s, p[3], p[r], p[q]);
        for (int i = 0; i < 4; i++)
            soup_add(&all, f->s.v[i][0], f->s.v[i][1], f->s.v[i][2]);
        cells_of(shape_of(f), one);
        assert_true(f->data.mesh->facts.volume >= 0);
        for (int i = 0; i < ALL; i++)
            any[i] |= one[i];
    }
    free(f->s.v);
    f->s = all;
    assert_true(cells_of(shape_of(f), in) > 500);
    assert_int_equal(difference(in, any), 0);
    assert_true(f->data.mesh->facts.crossing > 0);
}

static void a_shell_that_faces_inward_is_a_hole(void **state) {
    fixture *f = *state;
    static uint8_t in[ALL], expected[ALL], hole[ALL];
    soup_ball(&f->s, middle, 5.3, 64);
    cells_of(shape_of(f), hole);
    soup_invert(&f->s);
    soup_ball(&f->s, middle, 9.217, 64);
    cells_of(shape_of(f), in);
    assert_int_equal(f->data.mesh->facts.crossing, 0);
    cells_of(ball_shape(f, 9.217), expected);
    for (int i = 0; i < ALL; i++) {
        assert_false(in[i] && hole[i]);
        in[i] |= hole[i];
    }
    assert_same_but_near(in, expected, 9.217);
}

/* ---- crossings ---- */

static void links_meet_the_triangles(void **state) {
    fixture *f = *state;
    const sel_shape_space at = {&space, NULL};
    const double r = 9.217;
    double largest = 0;
    int links = 0;
    soup_ball(&f->s, middle, r, 64);
    const sel_shape *mesh = shape_of(f), *ball = ball_shape(f, r);
    bool failed = false;
    for (int i = 0; i < ALL * 26; i++) {
        const int way = i % 26 + (i % 26 >= 13), cell = i / 26;
        const double from[3] = {cell % CELLS + 0.5, cell / CELLS % CELLS + 0.5,
                                cell / CELLS / CELLS + 0.5};
        const double to[3] = {from[0] + way % 3 - 1, from[1] + way / 3 % 3 - 1,
                              from[2] + way / 9 - 1};
        double q[2];
        if (sel_shape_contains(ball, &at, from, &failed) ||
            !sel_shape_contains(mesh, &at, to, &failed))
            continue;
        assert_true(sel_shape_crossing(mesh, &at, from, to, &q[0]));
        assert_true(sel_shape_crossing(ball, &at, from, to, &q[1]));
        double normal = 0;
        for (int a = 0; a < 3; a++)
            normal -= (from[a] + q[1] * (to[a] - from[a]) - middle[a]) / r * (to[a] - from[a]);
        links++;
        largest = fmax(largest, normal * (q[0] - q[1]));
    }
    assert_true(links > 5000);
    assert_true(largest < hollow * r);
    /* A flat side: exactly. */
    f->s.count = 0;
    soup_box(&f->s, (double[]){4.3, 6.5, 5.5}, (double[]){14.5, 16.5, 15.5});
    double q;
    assert_true(sel_shape_crossing(shape_of(f), &at, (double[]){3.5, 7.5, 8.5},
                                   (double[]){4.5, 8.5, 7.5}, &q));
    assert_near(q, 0.8, 1e-13);
}

/* ---- repairs, and what is told ---- */

static void faults_are_counted_and_mended(void **state) {
    fixture *f = *state;
    static uint8_t in[ALL], expected[ALL];
    const double r = 9.217;
    soup_ball(&f->s, middle, r, 64);
    cells_of(shape_of(f), expected);
    for (int k = 100; k < 900; k++) { /* some that hang together, and some that do not */
        double kept[3];
        memcpy(kept, f->s.v[k][0], sizeof kept);
        memcpy(f->s.v[k][0], f->s.v[k][1], sizeof kept);
        memcpy(f->s.v[k][1], kept, sizeof kept);
        k += k > 500 ? 6 : 0;
    }
    cells_of(shape_of(f), in);
    const sel_mesh_facts *facts = &f->data.mesh->facts;
    assert_int_equal(facts->turned, 401 + 57);
    assert_int_equal(facts->open_edges + facts->crossing, 0);
    assert_int_equal(difference(in, expected), 0);
    soup_invert(&f->s);
    cells_of(shape_of(f), in);
    facts = &f->data.mesh->facts;
    assert_true(facts->volume < -0.99 * 4 * pi / 3 * r * r * r);
    assert_int_equal(facts->crossing, 0);
    assert_int_equal(difference(in, expected), 0);
}

static void holes_are_closed(void **state) {
    fixture *f = *state;
    static uint8_t in[ALL], expected[ALL];
    const double r = 9.217;
    soup_ball(&f->s, middle, r, 64);
    cells_of(shape_of(f), expected);
    f->s.count--; /* the fans of a triangle and of a cap */
    memmove(f->s.v[900], f->s.v[901], (size_t)(f->s.count - 901) * sizeof *f->s.v);
    f->s.count -= 2;
    cells_of(shape_of(f), in);
    const sel_mesh_facts *facts = &f->data.mesh->facts;
    assert_int_equal(facts->open_edges, 3 + 4);
    assert_int_equal(facts->holes, 2);
    assert_int_equal(difference(in, expected), 0);
    assert_int_equal(facts->crossing, 0);
    /* The lower half alone, open at its equator: the fan is flat. Centres lie 0.3 below. */
    soup whole = {.count = 0};
    soup_ball(&whole, middle, r, 64);
    f->s.count = whole.count / 2;
    memcpy(f->s.v[0], whole.v[f->s.count], (size_t)f->s.count * sizeof *f->s.v);
    free(whole.v);
    const int64_t cells = cells_of(shape_of(f), in);
    facts = &f->data.mesh->facts;
    assert_int_equal(facts->open_edges, 128);
    assert_int_equal(facts->holes, 1);
    assert_int_equal(facts->crossing + facts->turned, 0);
    assert_near(facts->volume, 2 * pi / 3 * r * r * r, 0.005 * facts->volume);
    assert_near((double)cells, 2 * pi / 3 * r * r * r - 0.3 * pi * r * r, 0.01 * (double)cells);
    /* A box without its top and bottom: flat fans. */
    f->s.count = 0;
    soup_box(&f->s, (double[]){4.5, 6.5, 5.5}, (double[]){14.5, 16.5, 15.5});
    memmove(f->s.v[0], f->s.v[4], 8 * sizeof *f->s.v);
    f->s.count = 8;
    assert_int_equal(cells_of(shape_of(f), in), 1000);
    assert_int_equal(f->data.mesh->facts.holes, 2);
    assert_int_equal(f->data.mesh->facts.open_edges, 8);
    assert_near(f->data.mesh->facts.volume, 1000, 1e-9);
    assert_near(f->data.mesh->facts.area, 400, 1e-9);
}

static void warns(fixture *f, const sel_shape *shape, const char *expected) {
    f->error = (sel_error){.status = SEL_OK};
    sel_shape_warn(shape, &space, &f->error);
    sel_shape_warn(shape, &space, &f->error); /* of a second region */
    assert_string_equal(f->error.text, expected);
}

static void a_sound_mesh_gives_no_warning(void **state) {
    fixture *f = *state;
    soup_ball(&f->s, middle, 9.217, 64);
    warns(f, shape_of(f), "");
    f->s.count = 0;
    soup_box(&f->s, (double[]){4.3, 6.1, 5.2}, (double[]){14.6, 16.7, 15.5});
    sel_shape_placement turn;
    sel_placement_rotate(&turn, 0.7, (double[]){1, 2, 3}, middle);
    warns(f, sel_shape_place(f->arena, shape_of(f), &turn), "");
}

static void thin_parts_are_counted(void **state) {
    fixture *f = *state;
    soup_box(&f->s, (double[]){4.6, 6.1, 5.2}, (double[]){5.4, 16.7, 15.5});
    warns(f, shape_of(f),
          "shape.mesh: m.obj: 110 of 110 links between cells that meet the surface pass through it "
          "twice, the first at { 4.6, 6.5, 5.5 }: parts or gaps thinner than a cell are lost "
          "there; make dx smaller, or the part thicker\n"
          "shape.mesh: m.obj: 12 of 12 triangles have no cell of the mesh near them, the first at "
          "{ 5.1333, 6.1, 8.6333 }: parts thinner than a cell are lost there; make dx smaller, or "
          "the part thicker");
    /* Moved onto centres it is one cell thick; then a gap is lost. */
    sel_shape_placement half;
    sel_placement_move(&half, (double[]){0.5, 0, 0});
    warns(f, sel_shape_place(f->arena, shape_of(f), &half), "");
    f->s.count = 0;
    soup_box(&f->s, (double[]){4.3, 6.1, 5.2}, (double[]){8.6, 16.7, 15.5});
    soup_box(&f->s, (double[]){9.4, 6.1, 5.2}, (double[]){13.1, 16.7, 15.5});
    sel_shape_warn(shape_of(f), &space, &f->error);
    assert_non_null(strstr(f->error.text, "110 of 708 links"));
}

/* A wire between all lines of centres, which no link meets, and a box that has cells. */
static void wires_between_centres_are_counted(void **state) {
    fixture *f = *state;
    soup_box(&f->s, (double[]){4.6, 6.1, 5.2}, (double[]){4.9, 6.4, 15.5});
    soup_box(&f->s, (double[]){14.3, 6.1, 5.2}, (double[]){18.6, 16.7, 15.5});
    warns(f, shape_of(f),
          "shape.mesh: m.obj: 12 of 24 triangles have no cell of the mesh near them, the first at "
          "{ 4.7, 6.3, 5.2 }: parts thinner than a cell are lost there; make dx smaller, or the "
          "part thicker");
}

static void faults_are_told(void **state) {
    fixture *f = *state;
    soup_box(&f->s, (double[]){4, 6, 5}, (double[]){14, 16, 15});
    memcpy(f->s.v[11][1], f->s.v[11][0], 3 * sizeof(double));
    soup_invert(&f->s);
    warns(
        f, shape_of(f),
        "shape.mesh: m.obj is open: 3 edges have no second triangle, the first at { 14, 11, 10 }; "
        "1 holes are closed by fans of triangles about their middles\n"
        "shape.mesh: m.obj is inverted: its triangles face inward, its volume is -1000; its "
        "inside is taken all the same\n"
        "shape.mesh: m.obj: 1 of 12 triangles have no area, the first at { 14, 6, 5 }");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        TEST(a_ball_of_triangles_has_the_cells_volume_and_area_of_a_ball),
        TEST(a_box_through_centres_is_half_open),
        TEST(placed_meshes_are_tested_in_their_own_coordinates),
        TEST(the_table_places_a_mesh_by_rotation_scale_and_offset),
        TEST(overlapping_bodies_are_one),
        TEST(a_shell_that_faces_inward_is_a_hole),
        TEST(links_meet_the_triangles),
        TEST(faults_are_counted_and_mended),
        TEST(holes_are_closed),
        TEST(a_sound_mesh_gives_no_warning),
        TEST(thin_parts_are_counted),
        TEST(wires_between_centres_are_counted),
        TEST(faults_are_told),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
