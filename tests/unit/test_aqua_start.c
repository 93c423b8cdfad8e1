/* test_aqua_start.c -- what sel.aqua makes of a scenario before the first step does not depend on
 * the number of threads. */
#include "engine/solvers/aqua/aqua_state.h"
#include "tests/unit/aqua_case.h"

enum { NX = 700, NY = 400, CELLS = NX * NY };

static double ground[CELLS], depth[CELLS];

/* Ground, with water, walls, open cells and a lake of fixed level, which share borders. */
static void begin(aqua_case *c, int threads) {
    case_fill_random(ground, CELLS, 10, 12, 3);
    case_fill_random(depth, CELLS, 0, 0.5, 4);
    case_begin(c, NX, NY, 0.3);
    c->params.common.precision = SEL_F32;
    omp_set_num_threads(threads);
    c->params.ground = case_values(c, ground);
    c->params.initial.depth = case_values(c, depth);
    case_open(c, "around", sel_shape_make(c->arena, SEL_SHAPE_FACES, NULL), 0.01);
    case_region(c, "house", case_box(c, 100, 10, 300, 350), &aqua_wall_table);
    case_open(c, "drain", case_box(c, 280, 200, 500, 399), (double)NAN);
    case_level(c, "lake", case_box(c, 450, 5, 640, 250), sel_constant(11.5));
}

static void make_start(aqua_case *c, int threads) {
    begin(c, threads);
    case_start(c);
}

static void the_start_is_the_same_for_any_number_of_threads(void **state) {
    (void)state;
    static aqua_case one, other;
    make_start(&one, 1);
    make_start(&other, 5);
    const aqua_plan *a = (const aqua_plan *)one.plan, *b = (const aqua_plan *)other.plan;
    const aqua_state *p = (const aqua_state *)one.state, *q = (const aqua_state *)other.state;
    const size_t ghosts = (size_t)a->ghosts.count, cells = (size_t)a->layout.cells;
    assert_true(ghosts > 2 * (NX + NY));
    assert_int_equal(b->ghosts.count, ghosts);
    assert_memory_equal(a->ghosts.first, b->ghosts.first, sizeof a->ghosts.first);
    assert_memory_equal(a->ghosts.v, b->ghosts.v, ghosts * sizeof *a->ghosts.v);
    assert_memory_equal(a->ghosts.x, b->ghosts.x, ghosts * sizeof(double));
    assert_memory_equal(a->ghosts.y, b->ghosts.y, ghosts * sizeof(double));
    assert_int_equal(a->bits, b->bits);
    assert_true(a->datum == b->datum && a->lowest == b->lowest && a->deepest == b->deepest);
    assert_memory_equal(p->bed, q->bed, cells * sizeof(float));
    assert_memory_equal(p->water[0], q->water[0], cells * sizeof(int32_t));
    case_end(&one);
    case_end(&other);
}

static void terrain_is_measured_alike_by_any_number_of_threads(void **state) {
    (void)state;
    static aqua_case c;
    sel_terrain one, other;
    make_start(&c, 1);
    assert_true(sel_terrain_measure(c.domain, ground, 1, &one));
    assert_true(sel_terrain_measure(c.domain, ground, 7, &other));
    assert_true(one.highest == other.highest && one.pits == other.pits && one.pits > 1000);
    assert_true(one.deepest_pit == other.deepest_pit && one.mean_slope == other.mean_slope);
    assert_true(one.largest_slope == other.largest_slope && one.largest_slope > 1.9);
    case_end(&c);
}

static void the_first_cell_that_is_wrong_is_told(void **state) {
    (void)state;
    static aqua_case c;
    for (int threads = 1; threads <= 5; threads += 4) {
        begin(&c, threads);
        for (int y = 150; y < NY; y++) {
            depth[y * NX + 650] = -1;
        }
        assert_int_equal(case_plan(&c), SEL_OK);
        assert_int_equal(sel_cpu_backend.create(c.plan, &c.state, &c.error), SEL_BAD_SCENARIO);
        assert_string_equal(c.error.text, "the initial depth at cell {650, 150} is negative, -1");
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_start_is_the_same_for_any_number_of_threads),
        cmocka_unit_test(terrain_is_measured_alike_by_any_number_of_threads),
        cmocka_unit_test(the_first_cell_that_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
