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

/* What a backend starts from. */
typedef struct start {
    aqua_case c;
    double *z; /* levels of the ghosts */
    float *bed;
    int32_t *water;
} start;

static void make_start(start *s, int threads) {
    begin(&s->c, threads);
    assert_int_equal(case_plan(&s->c), SEL_OK);
    const aqua_plan *plan = (const aqua_plan *)s->c.plan;
    s->z = calloc((size_t)plan->ghosts.count, sizeof *s->z);
    s->bed = malloc((size_t)plan->layout.cells * sizeof *s->bed);
    s->water = calloc((size_t)plan->layout.cells, sizeof *s->water);
    for (int k = 0; k < plan->term_count; k++) {
        const aqua_term *term = &plan->terms[k];
        double *z = s->z + plan->ghosts.first[term->owner];
        assert_true(term->kind != AQUA_STAGE || !aqua_evaluate_term(plan, term, 0, z, NULL));
    }
    aqua_fill_bed(plan, s->z, s->bed);
    const aqua_parts water = aqua_whole(s->water);
    assert_int_equal(aqua_fill_water(plan, s->z, &water, NULL), SEL_OK);
}

static void end_start(start *s) {
    free(s->z);
    free(s->bed);
    free(s->water);
    sel_plan_destroy(s->c.plan);
    sel_domain_destroy(s->c.domain);
    sel_arena_destroy(s->c.arena);
}

static void the_start_is_the_same_for_any_number_of_threads(void **state) {
    (void)state;
    static start one, other;
    make_start(&one, 1);
    make_start(&other, 5);
    const aqua_plan *a = (const aqua_plan *)one.c.plan, *b = (const aqua_plan *)other.c.plan;
    const size_t ghosts = (size_t)a->ghosts.count, cells = (size_t)a->layout.cells;
    assert_true(ghosts > 2 * (NX + NY));
    assert_int_equal(b->ghosts.count, ghosts);
    assert_memory_equal(a->ghosts.first, b->ghosts.first, sizeof a->ghosts.first);
    assert_memory_equal(a->ghosts.at, b->ghosts.at, ghosts * sizeof *a->ghosts.at);
    assert_memory_equal(a->ghosts.ground, b->ghosts.ground, ghosts * sizeof(double));
    assert_memory_equal(a->ghosts.x, b->ghosts.x, ghosts * sizeof(double));
    assert_memory_equal(a->ghosts.y, b->ghosts.y, ghosts * sizeof(double));
    assert_int_equal(a->bits, b->bits);
    assert_true(a->datum == b->datum && a->lowest == b->lowest && a->deepest == b->deepest);
    assert_memory_equal(one.bed, other.bed, cells * sizeof *one.bed);
    assert_memory_equal(one.water, other.water, cells * sizeof *one.water);
    end_start(&one);
    end_start(&other);
}

static void terrain_is_measured_alike_by_any_number_of_threads(void **state) {
    (void)state;
    static start s;
    aqua_terrain one, other;
    make_start(&s, 1);
    assert_true(aqua_terrain_measure((const aqua_plan *)s.c.plan, &one));
    s.c.plan->threads = 7;
    assert_true(aqua_terrain_measure((const aqua_plan *)s.c.plan, &other));
    assert_true(one.highest == other.highest && one.pits == other.pits && one.pits > 1000);
    assert_true(one.deepest_pit == other.deepest_pit && one.mean_slope == other.mean_slope);
    assert_true(one.largest_slope == other.largest_slope && one.largest_slope > 1.9);
    end_start(&s);
}

static void the_first_cell_that_is_wrong_is_told(void **state) {
    (void)state;
    static start s;
    for (int threads = 1; threads <= 5; threads += 4) {
        s = (start){.z = NULL};
        begin(&s.c, threads);
        assert_int_equal(case_plan(&s.c), SEL_OK);
        for (int y = 150; y < NY; y++) {
            depth[y * NX + 650] = -1;
        }
        const aqua_plan *plan = (const aqua_plan *)s.c.plan;
        s.z = calloc((size_t)plan->ghosts.count, sizeof *s.z);
        s.water = malloc((size_t)plan->layout.cells * sizeof *s.water);
        const aqua_parts water = aqua_whole(s.water);
        assert_int_equal(aqua_fill_water(plan, s.z, &water, &s.c.error), SEL_BAD_SCENARIO);
        assert_string_equal(s.c.error.text, "the initial depth at cell {650, 150} is negative, -1");
        end_start(&s);
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
