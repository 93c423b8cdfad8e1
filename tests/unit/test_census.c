/* test_census.c -- the kinds of cells of a domain: inside, on faces, edges and in corners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/scene/domain.h"
#include "tests/unit/fake_solver.h"

typedef struct fixture {
    sel_arena *arena;
    sel_region regions[8];
    sel_common common;
    sel_simulation simulation;
    sel_domain *domain;
    sel_census census;
    sel_error error;
} fixture;

static int set_up(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    f->arena = sel_arena_create();
    f->common.dx = f->common.dt = 1;
    f->common.regions.v = f->regions;
    f->simulation = (sel_simulation){.solver = &fake_solver, .params = &f->common};
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sel_census_free(&f->census);
    sel_domain_destroy(f->domain);
    sel_arena_destroy(f->arena);
    test_free(f);
    return 0;
}

static void add(fixture *f, const sel_shape *shape) {
    int number = ++f->common.regions.n;
    f->regions[number - 1] = fake_region(number, NULL, shape, &fake_anywhere);
}

static sel_shape *box(fixture *f, sel_point min, sel_point max) {
    sel_shape_box *data = sel_arena_alloc(f->arena, sizeof *data);
    *data = (sel_shape_box){min, max};
    return sel_shape_make(f->arena, SEL_SHAPE_BOX, data);
}

static void take(fixture *f, int64_t nx, int64_t ny, int64_t nz) {
    f->common.size = (sel_ints){nz ? 3 : 2, {nx, ny, nz}};
    assert_int_equal(sel_domain_create(&f->simulation, NULL, &f->domain, &f->error), SEL_OK);
    assert_int_equal(sel_census_take(f->domain, &f->census, &f->error), SEL_OK);
    int64_t cells = 0;
    for (int k = 0; k < f->census.count; k++) {
        cells += f->census.kinds[k].cells;
    }
    assert_int_equal(cells, f->domain->free_cells);
    assert_int_equal(f->census.cells[0], f->domain->free_cells);
}

/* Kinds of cells that touch so many axes. */
static int kinds_of(const fixture *f, int axes) {
    int kinds = 0;
    for (int k = 0; k < f->census.count; k++) {
        kinds += f->census.kinds[k].axes == axes;
    }
    return kinds;
}

/* Cells of the kind whose sites on the faces x- to z+ belong to these regions. */
static int64_t cells_of(const fixture *f, const char *regions) {
    for (int k = 0; k < f->census.count; k++) {
        char text[SEL_FACES + 1] = "";
        for (int face = 0; face < SEL_FACES; face++) {
            text[face] = (char)('0' + f->census.kinds[k].region[face]);
        }
        if (strcmp(text, regions) == 0) {
            return f->census.kinds[k].cells;
        }
    }
    return 0;
}

/* Inside, 6 faces, 12 edges and 8 corners; the lid is region 2. */
static void a_lid_driven_box_has_its_faces_edges_and_corners(void **state) {
    fixture *f = *state;
    add(f, sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL));
    add(f, sel_shape_face(f->arena, SEL_Z_MAX));
    take(f, 7, 6, 5);
    assert_int_equal(f->census.count, 27);
    assert_int_equal(kinds_of(f, 0), 1);
    assert_int_equal(kinds_of(f, 1), 6);
    assert_int_equal(kinds_of(f, 2), 12);
    assert_int_equal(kinds_of(f, 3), 8);
    assert_int_equal(cells_of(f, "000000"), 5 * 4 * 3);
    assert_int_equal(cells_of(f, "100000"), 4 * 3); /* x- */
    assert_int_equal(cells_of(f, "000100"), 5 * 3); /* y+ */
    assert_int_equal(cells_of(f, "000002"), 5 * 4); /* the lid */
    assert_int_equal(cells_of(f, "010100"), 3);     /* x+ y+ */
    assert_int_equal(cells_of(f, "001002"), 5);     /* y- and the lid */
    assert_int_equal(cells_of(f, "101002"), 1);     /* x- y- and the lid */
    assert_int_equal(cells_of(f, "010110"), 1);     /* x+ y+ z- */
    assert_int_equal(f->census.sites[SEL_Z_MAX][2], 42);
    assert_int_equal(f->census.sites[SEL_Z_MAX][1], 0);
    assert_int_equal(f->census.sites[SEL_X_MIN][1], 30);
    for (int k = 1; k < f->census.count; k++) {
        assert_true(f->census.kinds[k].axes >= f->census.kinds[k - 1].axes);
    }
}

static void a_square_has_faces_and_corners(void **state) {
    fixture *f = *state;
    add(f, sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL));
    take(f, 6, 4, 0);
    assert_int_equal(f->census.count, 9);
    assert_int_equal(cells_of(f, "000000"), 8);
    assert_int_equal(cells_of(f, "001000"), 4);
    assert_int_equal(cells_of(f, "010100"), 1);
}

static void a_part_of_a_face_is_a_kind_of_its_own(void **state) {
    fixture *f = *state;
    add(f, sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL));
    add(f, sel_shape_combine(f->arena, SEL_SHAPE_INTERSECTION, sel_shape_face(f->arena, SEL_X_MIN),
                             box(f, (sel_point){3, {-1, 2, 0}}, (sel_point){3, {1, 4, 2}})));
    take(f, 7, 6, 5);
    assert_int_equal(cells_of(f, "200000"), 2);
    assert_int_equal(cells_of(f, "100000"), 10);
    assert_int_equal(cells_of(f, "200010"), 2);
    assert_int_equal(cells_of(f, "100010"), 2);
    assert_int_equal(f->census.count, 29);
}

static void periodic_axes_have_no_faces_and_solids_no_kind(void **state) {
    fixture *f = *state;
    f->common.periodic = 1 | 4;
    add(f, sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL));
    add(f, box(f, (sel_point){3, {0, 0, 0}}, (sel_point){3, {2, 2, 1}}));
    take(f, 7, 6, 5);
    assert_int_equal(f->census.count, 3);
    assert_int_equal(f->census.cells[2], 4);
    assert_int_equal(cells_of(f, "000000"), 7 * 4 * 5 - 2);
    assert_int_equal(cells_of(f, "001000"), 7 * 5 - 2);
    assert_int_equal(cells_of(f, "000100"), 7 * 5);
    assert_int_equal(f->census.sites[SEL_Y_MIN][1], 35);
}

static void a_single_layer_touches_both_faces(void **state) {
    fixture *f = *state;
    f->common.periodic = 1;
    add(f, sel_shape_make(f->arena, SEL_SHAPE_FACES, NULL));
    take(f, 4, 3, 1);
    assert_int_equal(f->census.count, 3);
    assert_int_equal(cells_of(f, "000011"), 4);
    assert_int_equal(cells_of(f, "001011"), 4);
    assert_int_equal(cells_of(f, "000111"), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_lid_driven_box_has_its_faces_edges_and_corners),
        TEST(a_square_has_faces_and_corners),
        TEST(a_part_of_a_face_is_a_kind_of_its_own),
        TEST(periodic_axes_have_no_faces_and_solids_no_kind),
        TEST(a_single_layer_touches_both_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
