/* test_domain.c -- shapes tested at cells and face sites, and regions painted in order. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/fake_scene.h"

enum { NX = 6, NY = 4 };

/* A 6 x 4 domain under test: an arena for shapes, room for regions. */
typedef fake_scene fixture;

static int set_up(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    f->arena = sel_arena_create();
    f->common.size = (sel_ints){2, {NX, NY, 0}};
    f->common.dx = 1;
    f->common.dt = 1;
    f->common.regions.v = f->regions;
    f->simulation = (sel_simulation){.solver = &fake_solver, .params = &f->common};
    *state = f;
    return 0;
}

static void add(fixture *f, const char *name, const sel_shape *shape, const sel_table *law) {
    int number = ++f->common.regions.n;
    f->regions[number - 1] = fake_region(number, name, shape, law);
}

static sel_shape *box(fixture *f, double x0, double y0, double x1, double y1) {
    sel_shape_box *data = sel_arena_alloc(f->arena, sizeof *data);
    data->min = (sel_point){2, {x0, y0, 0}};
    data->max = (sel_point){2, {x1, y1, 0}};
    return sel_shape_make(f->arena, SEL_SHAPE_BOX, data);
}

static sel_shape *disc(fixture *f, double x, double y, double radius) {
    sel_shape_ball *data = sel_arena_alloc(f->arena, sizeof *data);
    data->centre = (sel_point){2, {x, y, 0}};
    data->radius = radius;
    return sel_shape_make(f->arena, SEL_SHAPE_BALL, data);
}

static sel_shape *faces(fixture *f) {
    return sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL);
}

static sel_shape *face(fixture *f, int which) {
    return sel_shape_face(f->arena, which);
}

static sel_status create(fixture *f) {
    return sel_domain_create(&f->simulation, NULL, &f->domain, &f->error);
}

/* Row j of the painted cells as text: '.' free, a digit for a region. */
static void assert_row(const fixture *f, int j, const char *expected) {
    char row[NX + 1] = "";
    for (int i = 0; i < NX; i++) {
        uint8_t region = f->domain->cell[j * NX + i];
        row[i] = region ? (char)('0' + region) : '.';
    }
    assert_string_equal(row, expected);
}

static void a_box_paints_the_cells_whose_centres_it_holds(void **state) {
    fixture *f = *state;
    add(f, NULL, faces(f), &fake_anywhere);
    add(f, "step", box(f, 1, 0, 3.5, 2), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_row(f, 0, ".22...");
    assert_row(f, 1, ".22...");
    assert_row(f, 2, "......");
    assert_int_equal(f->domain->free_cells, NX * NY - 4);
}

static void shapes_combine_by_or_without_and(void **state) {
    fixture *f = *state;
    sel_shape *left = box(f, 0, 0, 4, 4), *right = box(f, 2, 0, 6, 2);
    add(f, NULL, faces(f), &fake_anywhere);
    add(f, "without", sel_shape_combine(f->arena, SEL_SHAPE_DIFFERENCE, left, right),
        &fake_anywhere);
    add(f, "and", sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, left, right), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_row(f, 0, "2233..");
    assert_row(f, 3, "2222..");
}

static void a_disc_holds_the_centres_within_its_radius(void **state) {
    fixture *f = *state;
    add(f, NULL, faces(f), &fake_anywhere);
    add(f, "disc", disc(f, 2.5, 1.5, 1), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_row(f, 0, "..2...");
    assert_row(f, 1, ".222..");
    assert_row(f, 2, "..2...");
    assert_row(f, 3, "......");
}

static void a_polygon_may_be_concave(void **state) {
    fixture *f = *state;
    sel_point corners[] = {
        {2, {0, 0, 0}}, {2, {6, 0, 0}}, {2, {6, 4, 0}}, {2, {3, 1.2, 0}}, {2, {0, 4, 0}}};
    sel_shape_polygon polygon = {{5, corners}};
    add(f, NULL, faces(f), &fake_anywhere);
    add(f, "w", sel_shape_make(f->arena, SEL_SHAPE_POLYGON, &polygon), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_row(f, 0, "222222");
    assert_row(f, 2, "22..22");
}

static void a_face_cut_by_a_box_paints_only_those_sites(void **state) {
    fixture *f = *state;
    sel_shape *part = sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, face(f, SEL_X_MIN),
                                        box(f, -1, 1, 1, 3));
    add(f, "walls", faces(f), &fake_anywhere);
    add(f, "inlet", part, &fake_faces_only);
    assert_int_equal(create(f), SEL_OK);
    const uint8_t expected[NY] = {1, 2, 2, 1};
    assert_memory_equal(f->domain->face[SEL_X_MIN], expected, NY);
    assert_row(f, 1, "......");
}

static void a_box_that_ends_with_the_domain_cuts_its_last_face(void **state) {
    fixture *f = *state;
    sel_shape *part = sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, face(f, SEL_X_MAX),
                                        box(f, 0, 0, NX, 2));
    add(f, "walls", faces(f), &fake_anywhere);
    add(f, "outlet", part, &fake_faces_only);
    assert_int_equal(create(f), SEL_OK);
    const uint8_t expected[NY] = {2, 2, 1, 1};
    assert_memory_equal(f->domain->face[SEL_X_MAX], expected, NY);
}

static void regions_may_share_a_name(void **state) {
    fixture *f = *state;
    add(f, "a", faces(f), &fake_anywhere);
    add(f, "a", face(f, SEL_X_MIN), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    const uint8_t expected[NY] = {2, 2, 2, 2};
    assert_memory_equal(f->domain->face[SEL_X_MIN], expected, NY);
}

static void a_sum_of_face_and_box_paints_sites_and_cells_apart(void **state) {
    fixture *f = *state;
    add(f, "walls", faces(f), &fake_anywhere);
    add(f, "both",
        sel_shape_combine(f->arena, SEL_SHAPE_UNION, face(f, SEL_Y_MIN), box(f, 0, 2, 1, 4)),
        &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_row(f, 2, "2.....");
    assert_int_equal(f->domain->face[SEL_Y_MIN][0], 2);
    assert_int_equal(f->domain->face[SEL_X_MIN][3], 1);
}

static void rest_paints_what_nothing_before_painted(void **state) {
    fixture *f = *state;
    add(f, "lid", face(f, SEL_Y_MAX), &fake_anywhere);
    add(f, "rest", sel_shape_make(f->arena, SEL_SHAPE_REST, NULL), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_int_equal(f->domain->face[SEL_Y_MAX][2], 1);
    assert_int_equal(f->domain->face[SEL_Y_MIN][2], 2);
    assert_int_equal(f->domain->face[SEL_X_MAX][0], 2);
}

static void faces_leaves_periodic_axes_out(void **state) {
    fixture *f = *state;
    f->common.periodic = 1;
    add(f, "walls", faces(f), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_null(f->domain->face[SEL_X_MIN]);
    assert_int_equal(f->domain->face[SEL_Y_MIN][0], 1);
}

static void a_site_behind_a_solid_cell_needs_no_paint(void **state) {
    fixture *f = *state;
    f->common.periodic = 2;
    add(f, "block", box(f, 0, 0, 1, 4), &fake_anywhere);
    add(f, "outlet", face(f, SEL_X_MAX), &fake_faces_only);
    assert_int_equal(create(f), SEL_OK);
}

static void cells_are_solid_or_free_and_those_at_faces_have_the_later_region(void **state) {
    fixture *f = *state;
    uint8_t type[NX * NY], solid[NX * NY], boundary[NX * NY];
    const sel_cell_marks marks = {type, solid, boundary};
    add(f, "walls", faces(f), &fake_anywhere);
    add(f, "block", box(f, 0, 0, 2, 1), &fake_anywhere);
    add(f, "lid", face(f, SEL_Y_MAX), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    sel_box all = sel_grid_box(&f->domain->grid);
    sel_domain_cells(f->domain, &all, &marks);
    for (int i = 0; i < NX * NY; i++) {
        assert_int_equal(type[i], i < 2 ? 2 : 0);
        assert_int_equal(solid[i], i < 2);
    }
    assert_int_equal(boundary[0], 0); /* nothing flows in the block */
    assert_int_equal(boundary[2], 1);
    assert_int_equal(boundary[NX + 1], 0);
    assert_int_equal(boundary[3 * NX], 3);
    assert_int_equal(boundary[3 * NX + 2], 3);
}

static void assert_refused(fixture *f, const char *text) {
    assert_int_equal(create(f), SEL_BAD_SCENARIO);
    assert_string_equal(f->error.text, text);
    assert_null(f->domain);
}

static void an_unpainted_face_is_refused_with_its_first_cell(void **state) {
    fixture *f = *state;
    f->common.at = (sel_where){"test.lua", 3};
    f->common.periodic = 1;
    add(f, "floor", face(f, SEL_Y_MIN), &fake_anywhere);
    assert_refused(f, "test.lua:3: face y+: no region paints 6 of its 6 sites, the first at cell "
                      "{0, 3}; paint them, or make axis y periodic");
}

static void a_painted_periodic_face_is_refused(void **state) {
    fixture *f = *state;
    f->common.periodic = 3;
    add(f, "inlet", face(f, SEL_X_MIN), &fake_faces_only);
    assert_refused(f, "test.lua:10: region 'inlet' paints face x-, but axis x is periodic; take it "
                      "out of periodic or of the shape");
}

static void shapes_that_paint_nothing_are_all_refused(void **state) {
    fixture *f = *state;
    f->common.periodic = 3;
    add(f, "a", box(f, 10, 10, 12, 12), &fake_anywhere);
    add(f, "b", disc(f, 3, 2, 0.1), &fake_anywhere);
    assert_refused(f, "test.lua:10: region 'a' paints nothing: its shape contains no cell centre "
                      "and no face site of the domain, x from 0 to 6, y from 0 to 4\n"
                      "test.lua:20: region 'b' paints nothing: its shape contains no cell centre "
                      "and no face site of the domain, x from 0 to 6, y from 0 to 4");
}

static void a_face_law_on_cells_is_refused(void **state) {
    fixture *f = *state;
    f->common.periodic = 3;
    add(f, "in", box(f, 0, 0, 2, 2), &fake_faces_only);
    assert_refused(f, "test.lua:10: region 'in': law.faces_only may sit on faces only, and this "
                      "shape paints 4 cells; use shape.face, or face * shape for a part of a face");
}

static void a_shape_of_other_dimensions_is_refused(void **state) {
    fixture *f = *state;
    f->common.periodic = 3;
    sel_shape_ball ball = {{3, {1, 1, 1}}, 1};
    sel_shape *shape = sel_shape_make(f->arena, SEL_SHAPE_BALL, &ball);
    shape->where = (sel_where){"test.lua", 9};
    add(f, "ball", shape, &fake_anywhere);
    assert_refused(f, "test.lua:9: shape.ball: centre has 3 coordinates in a domain of 2 "
                      "dimensions");
}

static void a_domain_of_solid_only_is_refused(void **state) {
    fixture *f = *state;
    f->common.periodic = 3;
    add(f, "all", box(f, -1, -1, 9, 9), &fake_anywhere);
    assert_refused(f, "the regions make every cell solid; nothing is left to compute");
}

static void more_than_255_regions_are_refused(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 256; i++) {
        add(f, NULL, faces(f), &fake_anywhere);
    }
    assert_refused(f, "256 regions; at most 255 are possible");
}

static void assert_warnings(const fixture *f, const char *expected) {
    sel_error warnings = {.status = SEL_OK};
    sel_domain_warn(f->domain, &warnings);
    assert_string_equal(warnings.status ? warnings.text : "", expected);
}

static void a_region_painted_over_is_told_with_who_did_it(void **state) {
    fixture *f = *state;
    add(f, "inlet", face(f, SEL_X_MIN), &fake_faces_only);
    add(f, "pebble", box(f, 1, 1, 2, 2), &fake_anywhere);
    add(f, "walls", faces(f), &fake_anywhere);
    add(f, "rock", box(f, 1, 1, 3, 3), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_warnings(f, "test.lua:10: all 4 sites of 'inlet' are painted over by 'walls' "
                       "(test.lua:30); regions are painted in order, the last one owns a place\n"
                       "test.lua:20: the 1 cell of 'pebble' is painted over by 'rock' "
                       "(test.lua:40); regions are painted in order, the last one owns a place");
    assert_string_equal(sel_domain_lost(f->domain, 1),
                        "all 4 sites of 'inlet' are painted over by 'walls' (test.lua:30)");
    assert_null(sel_domain_lost(f->domain, 3));
}

static void a_region_painted_over_by_several_names_who_took_most(void **state) {
    fixture *f = *state;
    add(f, NULL, faces(f), &fake_anywhere);
    add(f, "block", box(f, 1, 1, 4, 2), &fake_anywhere);
    add(f, "left", box(f, 1, 1, 2, 2), &fake_anywhere);
    add(f, "right", box(f, 2, 1, 4, 2), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_warnings(f, "test.lua:20: all 3 cells of 'block' are painted over by 'right' "
                       "(test.lua:40) and 1 more; regions are painted in order, the last one owns "
                       "a place");
}

static void a_face_behind_solid_cells_is_told(void **state) {
    fixture *f = *state;
    add(f, "walls", faces(f), &fake_anywhere);
    add(f, "inlet", face(f, SEL_X_MIN), &fake_faces_only);
    add(f, "plug", box(f, 0, 0, 2, 4), &fake_anywhere);
    add(f, "lid", face(f, SEL_X_MIN), &fake_faces_only);
    assert_int_equal(create(f), SEL_OK);
    assert_warnings(f, "test.lua:20: all 4 sites of 'inlet' are painted over by 'lid' "
                       "(test.lua:40); regions are painted in order, the last one owns a place\n"
                       "test.lua:40: all 4 sites of 'lid' lie behind the cells of 'plug' "
                       "(test.lua:30)");
}

/* Its other half is all that counts. */
static void a_region_of_which_something_is_left_is_not_told(void **state) {
    fixture *f = *state;
    add(f, "inlet", face(f, SEL_X_MIN), &fake_faces_only);
    add(f, "step", box(f, 0, 0, 2, 2), &fake_anywhere);
    add(f, "walls", sel_shape_make(f->arena, SEL_SHAPE_REST, NULL), &fake_anywhere);
    add(f, "nothing", sel_shape_make(f->arena, SEL_SHAPE_REST, NULL), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    assert_warnings(f, "");
}

/* Whether a process that reads the region of a cell ends by it. */
static bool reading_ends(const sel_domain *domain, int64_t cell) {
    const pid_t child = fork();
    int status;
    if (child == 0) {
        volatile const uint8_t *region = domain->cell;
        signal(SIGSEGV, SIG_DFL);
        close(STDERR_FILENO); /* where a sanitizer would report it */
        _exit(region[cell] == 255 ? 2 : 0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Planes are pages. Those of the patch and four on either side stay. */
static void a_rank_keeps_the_regions_about_its_patch(void **state) {
    fixture *f = *state;
    const int64_t plane = 512 * 8;
    sel_decomposition before, after;
    f->common.size = (sel_ints){3, {512, 8, 32}};
    add(f, NULL, faces(f), &fake_anywhere);
    sel_shape_box *data = sel_arena_alloc(f->arena, sizeof *data);
    data->min = (sel_point){3, {0, 0, 6}};
    data->max = (sel_point){3, {512, 4, 25}};
    add(f, "block", sel_shape_make(f->arena, SEL_SHAPE_BOX, data), &fake_anywhere);
    assert_int_equal(create(f), SEL_OK);
    sel_domain *domain = f->domain;
    assert_int_equal(sel_decompose(domain, 4, 2, &before), 4);
    sel_domain_keep(domain, &(sel_patch){{0, 0, 8}, {512, 8, 16}});
    for (int64_t z = 4; z < 20; z++) {
        assert_int_equal(domain->cell[z * plane], z < 6 ? 0 : 2);
        assert_int_equal(domain->cell[(z + 1) * plane - 1], 0);
    }
    assert_false(reading_ends(domain, 4 * plane));
    assert_true(reading_ends(domain, 4 * plane - 1));
    assert_true(reading_ends(domain, 0));
    assert_true(reading_ends(domain, 20 * plane));
    assert_int_equal(sel_decompose(domain, 4, 2, &after), 4);
    assert_memory_equal(before.first[1], after.first[1], 3 * sizeof **after.first);
    assert_memory_equal(before.first[2], after.first[2], 3 * sizeof **after.first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fake_scene_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_box_paints_the_cells_whose_centres_it_holds),
        TEST(shapes_combine_by_or_without_and),
        TEST(a_disc_holds_the_centres_within_its_radius),
        TEST(a_polygon_may_be_concave),
        TEST(a_face_cut_by_a_box_paints_only_those_sites),
        TEST(a_box_that_ends_with_the_domain_cuts_its_last_face),
        TEST(regions_may_share_a_name),
        TEST(a_sum_of_face_and_box_paints_sites_and_cells_apart),
        TEST(rest_paints_what_nothing_before_painted),
        TEST(faces_leaves_periodic_axes_out),
        TEST(a_site_behind_a_solid_cell_needs_no_paint),
        TEST(cells_are_solid_or_free_and_those_at_faces_have_the_later_region),
        TEST(an_unpainted_face_is_refused_with_its_first_cell),
        TEST(a_painted_periodic_face_is_refused),
        TEST(shapes_that_paint_nothing_are_all_refused),
        TEST(a_face_law_on_cells_is_refused),
        TEST(a_shape_of_other_dimensions_is_refused),
        TEST(a_domain_of_solid_only_is_refused),
        TEST(more_than_255_regions_are_refused),
        TEST(a_region_painted_over_is_told_with_who_did_it),
        TEST(a_region_painted_over_by_several_names_who_took_most),
        TEST(a_face_behind_solid_cells_is_told),
        TEST(a_region_of_which_something_is_left_is_not_told),
        TEST(a_rank_keeps_the_regions_about_its_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
