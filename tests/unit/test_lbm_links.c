/* test_lbm_links.c -- who owns each link of a boundary cell in 2-D, and what is refused. */
#include "tests/unit/lbm_case.h"

/* Regions that own what comes to cell (x, y) along directions 1..8, as eight digits; '.': pulled.
 * Then the second owners of those that two regions share. */
static void owners(const lbm_case *c, int64_t x, int64_t y, char text[20]) {
    const lbm_boundary *b = case_boundary(c);
    char *second = text + 9;
    strcpy(text, "........");
    for (int64_t k = b->row_cells[y]; k < b->row_cells[y + 1]; k++) {
        const lbm_boundary_cell *cell = &b->cells[k];
        int64_t link = cell->first_link, shared = link + __builtin_popcount(cell->links);
        for (int i = 1; cell->x == x && i < b->lattice->q; i++) {
            if (cell->links >> i & 1u) {
                text[i - 1] = (char)('0' + b->link_region[link++]);
            }
            if (cell->shared >> i & 1u) {
                text[8] = ' ';
                *second++ = (char)('0' + b->link_region[shared++]);
                *second = '\0';
            }
        }
    }
}

typedef struct expected {
    int64_t x, y;
    const char *owners; /* E N W S NE NW SW SE, second owners */
} expected;

static void check_owners(const lbm_case *c, const expected *cells, int count) {
    for (int k = 0; k < count; k++) {
        char text[20];
        owners(c, cells[k].x, cells[k].y, text);
        if (strcmp(text, cells[k].owners) != 0) {
            fail_msg("cell {%d, %d}: %s, expected %s", (int)cells[k].x, (int)cells[k].y, text,
                     cells[k].owners);
        }
    }
}

#define CHECK(c, ...)                                \
    check_owners(c, (const expected[]){__VA_ARGS__}, \
                 (int)(sizeof((const expected[]){__VA_ARGS__}) / sizeof(expected)))

static void test_corner_of_two_walls_belongs_to_both(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 4, 3, 1);
    case_wall(&c, case_face(&c, SEL_X_MIN)); /* 1 */
    case_wall(&c, case_face(&c, SEL_Y_MIN)); /* 2 */
    case_wall(&c, case_face(&c, SEL_X_MAX)); /* 3 */
    case_wall(&c, case_face(&c, SEL_Y_MAX)); /* 4 */
    case_must_plan(&c);
    CHECK(&c, {0, 0, "12..12.1 2"}, {1, 0, ".2..22.."}, {3, 0, ".23.233. 2"}, {0, 1, "1...1..1"},
          {1, 1, "........"}, {3, 1, "..3..33."}, {0, 2, "1..41.41 4"}, {3, 2, "..34.334 4"});
    case_end(&c);
}

static void test_corner_of_two_slip_faces_belongs_to_both(void **unused) {
    (void)unused;
    const sel_quantity none = {0};
    lbm_case c;
    case_begin(&c, 4, 3, 1);
    case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_slip_table, none); /* 1 */
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_slip_table, none); /* 2 */
    case_wall(&c, case_face(&c, SEL_X_MAX));                          /* 3 */
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_slip_table, none); /* 4 */
    case_must_plan(&c);
    CHECK(&c, {0, 0, "21..21.2 1"}, {0, 2, "2..42.42 4"}, {3, 0, ".13.133."}, {3, 2, "..34.334"});
    assert_int_equal(case_boundary_cell(&c, 0, 0)->bounced, 1u << 1 | 1u << 2 | 1u << 5);
    case_end(&c);
}

static void test_open_face_owns_the_diagonal_at_a_wall(void **unused) {
    (void)unused;
    for (int order = 0; order < 2; order++) {
        lbm_case c;
        case_begin(&c, 4, 3, 1);
        if (order) { /* the wall is painted later: the open face still owns its diagonals */
            case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0, 0));
            case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
        } else {
            case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
            case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0, 0));
        }
        case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
        case_must_plan(&c);
        if (order) {
            CHECK(&c, {0, 0, "12..12.1"}, {0, 2, "1..31.31"}, {3, 0, ".24.244."});
        } else {
            CHECK(&c, {0, 0, "31..31.3"}, {0, 2, "3..23.23"}, {3, 0, ".14.144."});
        }
        const lbm_boundary_cell *inlet = case_boundary_cell(&c, 0, 0),
                                *outlet = case_boundary_cell(&c, 3, 2);
        assert_true(inlet->normal[0] == 1 && inlet->normal[1] == 0);
        assert_int_equal(inlet->opening, LBM_OPEN_VELOCITY);
        assert_int_equal(inlet->open, 1u << 1 | 1u << 5 | 1u << 8);
        assert_true(outlet->normal[0] == -1 && outlet->normal[1] == 0);
        assert_int_equal(outlet->opening, LBM_OPEN_PRESSURE);
        assert_int_equal(case_boundary_cell(&c, 1, 0)->opening_index, -1);
        case_end(&c);
    }
}

static void test_obstacle_bounces_its_links(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 5, 5, 1);
    c.params.common.periodic = 3;
    case_wall(&c, case_box(&c, 2, 2, 3, 3));
    case_must_plan(&c);
    CHECK(&c, {1, 2, "..1....."}, {3, 2, "1......."}, {2, 1, "...1...."}, {2, 3, ".1......"},
          {1, 1, "......1."}, {3, 3, "....1..."}, {3, 1, ".......1"}, {1, 3, ".....1.."},
          {0, 2, "........"}, {2, 2, "........"});
    case_end(&c);
}

static void test_links_of_solids_beside_an_open_face_bounce(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 4, 4, 1);
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0, 0));
    case_wall(&c, case_face(&c, SEL_X_MAX));
    case_wall(&c, case_box(&c, 0, 0, 1, 2)); /* 5: cells {0, 0} and {0, 1} */
    case_must_plan(&c);
    /* {0, 2}: the solid below owns N; the diagonal beside it comes through the face */
    CHECK(&c, {0, 2, "35..3..3"}, {1, 2, "....5..."}, {1, 1, "5...5..."});
    case_end(&c);
}

static void test_part_of_a_face_may_be_open(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 4, 4, 1);
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    case_region(&c, case_part(&c, SEL_X_MIN, -1, 1, 1, 3), &lbm_pressure_table, sel_constant(0));
    case_must_plan(&c);
    CHECK(&c, {0, 0, "11..11.1"}, {0, 1, "2...2..2"}, {0, 2, "2...2..2"}, {0, 3, "1..11.11"});
    case_end(&c);
}

static void test_periodic_axis_wraps(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 3, 4, 1);
    c.params.common.periodic = 1;
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_wall(&c, case_box(&c, 2, 1, 3, 2)); /* 3: cell {2, 1}, neighbour of {0, 1} */
    case_must_plan(&c);
    CHECK(&c, {0, 0, ".1..11.3"}, {0, 1, "3......."}, {0, 2, "....3..."}, {1, 3, "...2..22"});
    case_end(&c);
}

/* A population that leaves across a periodic side comes back on the other: a single cell row. */
static void test_one_cell_wide_axes_wrap_onto_themselves(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 1, 8, 0.8);
    c.params.common.periodic = 1;
    c.params.acceleration = sel_constant2(1e-5, 0);
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_start(&c);
    case_run_until_steady(&c, 500, 1e-13);
    double u[2 * 8];
    case_read(&c, LBM_VELOCITY, 2, u);
    for (int y = 0; y < 8; y++) {
        assert_true(fabs(u[2 * y] - 1e-5 / 0.2 * (y + 0.5) * (7.5 - y)) < 1e-13);
    }
    case_end(&c);
}

/* The next cell inwards stays in a domain of one row: it is the solid beside, whose populations
 * mean nothing. */
static void test_solid_inwards_is_seen_in_a_single_row(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 8, 1, 0.8);
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0.05, 0));
    case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_outflow_table, (sel_quantity){0});
    case_wall(&c, case_face(&c, SEL_Y_MAX));
    case_wall(&c, case_face(&c, SEL_X_MAX));
    case_wall(&c, case_box(&c, 1, 0, 4, 1));
    case_must_plan(&c);
    assert_true(case_boundary_cell(&c, 0, 0)->inward_solid);
    assert_false(case_boundary_cell(&c, 5, 0)->inward_solid);
    case_end(&c);
}

static void test_two_open_faces_may_not_meet(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 4, 3, 1);
    case_wall(&c, case_face(&c, SEL_Y_MIN));
    case_wall(&c, case_face(&c, SEL_X_MAX));
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0, 0));
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_pressure_table, sel_constant(0));
    c.regions[2].name = "inlet";
    c.regions[3].name = "top";
    c.regions[3].law.where = (sel_where){"corner.lua", 12};
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text,
                        "corner.lua:12: open faces x- (region 'inlet') and y+ (region 'top') meet "
                        "at cell {0, 2}; paint a wall on one of them there, for example with face "
                        "- box, or make one of them law.outflow, law.far_field or law.slip");
    case_end(&c);
}

static void test_slip_gives_way_to_walls_and_open_faces(void **unused) {
    (void)unused;
    const sel_quantity none = {0};
    lbm_case c;
    case_begin(&c, 4, 3, 1);
    case_wall(&c, case_face(&c, SEL_X_MIN));                                         /* 1 */
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_slip_table, none);                /* 2 */
    case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_slip_table, none);                /* 3 */
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0)); /* 4 */
    case_wall(&c, case_box(&c, 1, 2, 2, 3)); /* 5: cell {1, 2} under the slip face */
    case_must_plan(&c);
    /* {0, 2}: SE from beyond the wall; SW from beyond the slip face, mirrored: the solid's */
    CHECK(&c, {0, 2, "1.521.51"}, {0, 0, "13..13.1"}, {2, 0, ".3..33.."}, {3, 0, ".34.344."},
          {3, 2, "..42.442"}, {2, 2, "5..2..25"});
    assert_int_equal(case_boundary_cell(&c, 2, 2)->mirrored[1], 1u << 7);
    assert_int_equal(case_boundary_cell(&c, 2, 0)->mirrored[1], 1u << 5 | 1u << 6);
    assert_int_equal(case_boundary_cell(&c, 2, 0)->bounced, 1u << 2);
    assert_int_equal(case_boundary_cell(&c, 3, 0)->open, 1u << 3 | 1u << 6 | 1u << 7);
    case_end(&c);
}

static void test_wet_walls_are_refused_on_cells(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 4, 4, 1);
    c.params.common.periodic = 3;
    case_wall(&c, case_box(&c, 1, 1, 2, 2));
    c.laws[0].wall.scheme = LBM_ZOU_HE;
    c.regions[0].name = "block";
    c.regions[0].law.where = (sel_where){"block.lua", 4};
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, "block.lua:4: region 'block' paints cells: scheme = "
                                      "\"zou_he\" is for faces, leave it out for half-way walls");
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corner_of_two_walls_belongs_to_both),
        cmocka_unit_test(test_corner_of_two_slip_faces_belongs_to_both),
        cmocka_unit_test(test_open_face_owns_the_diagonal_at_a_wall),
        cmocka_unit_test(test_obstacle_bounces_its_links),
        cmocka_unit_test(test_links_of_solids_beside_an_open_face_bounce),
        cmocka_unit_test(test_part_of_a_face_may_be_open),
        cmocka_unit_test(test_periodic_axis_wraps),
        cmocka_unit_test(test_one_cell_wide_axes_wrap_onto_themselves),
        cmocka_unit_test(test_solid_inwards_is_seen_in_a_single_row),
        cmocka_unit_test(test_two_open_faces_may_not_meet),
        cmocka_unit_test(test_slip_gives_way_to_walls_and_open_faces),
        cmocka_unit_test(test_wet_walls_are_refused_on_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
