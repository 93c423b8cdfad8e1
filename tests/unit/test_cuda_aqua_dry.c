/* test_cuda_aqua_dry.c -- where there is no water the GPU does nothing, and nothing is missed: all
 * that can bring water to dry land, bit by bit as on the CPU. Arguments: see aqua_twins.h.
 */
#include "tests/unit/aqua_twins.h"

enum { WIDE = 400, HIGH = 48 };

/* Rough ground that falls to the east, without water. */
static twins *begin_dry(int equilibrium, uint64_t seed) {
    twins *t = begin_twins(WIDE, HIGH, 0.7, false, seed);
    for (int i = 0; i < WIDE * HIGH; i++) {
        t->ground[i] = 100 + 0.3 * t->rate[i] / 400 + 0.004 * (WIDE - i % WIDE);
        t->depth[i] = 0;
    }
    t->c.params.equilibrium = equilibrium;
    t->c.params.common.precision = SEL_F32;
    t->c.params.depth_limit = 10;
    t->c.params.arrival_depth = 0.01;
    return t;
}

static void fill_box(twins *t, int x0, int y0, int x1, int y1, double depth) {
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            t->depth[y * WIDE + x] = depth;
        }
    }
}

/* Cells x0 <= x < x1, y0 <= y < y1 with water, on the CPU. */
static int wet_cells(twins *t, int x0, int y0, int x1, int y1) {
    static double depth[WIDE * HIGH];
    sel_request r = {.kind = SEL_READ,
                     .field = AQUA_DEPTH,
                     .box = sel_grid_box(&t->c.domain->grid),
                     .precision = SEL_F64,
                     .components = 1,
                     .to = depth};
    int wet = 0;
    must(t, t->backend[0]->start(t->state[0], &r, &t->c.error), 0);
    must(t, t->backend[0]->finish(t->state[0], &r, &t->c.error), 0);
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            wet += depth[y * WIDE + x] > 0;
        }
    }
    return wet;
}

/* Runs all readings of a case that begin_dry and `change` make; the box that `reached` has as x0,
 * y0, x1, y1 is dry after `start` and wet in the end. */
static void run_dry(const char *name, void (*change)(twins *t), const int reached[4]) {
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        twins *t = begin_dry(e, 40 + (uint64_t)e);
        snprintf(now, sizeof now, "%s, %s", name, aqua_equilibrium_names[e]);
        change(t);
        start_twins(t);
        assert_int_equal(wet_cells(t, reached[0], reached[1], reached[2], reached[3]), 0);
        compare_steps(t);
        assert_true(wet_cells(t, reached[0], reached[1], reached[2], reached[3]) > 0);
        end_twins(t);
    }
}

static void pulse(twins *t) {
    case_walls(&t->c);
    fill_box(t, 95, 18, 118, 30, 3);
}

static void a_wave_that_crosses_tiles_agrees(void **unused) {
    (void)unused;
    run_dry("a wave to the east", pulse, (const int[]){121, 16, 124, 32});
    run_dry("a wave to the north", pulse, (const int[]){95, 32, 118, 40});
}

static double cloud(double x, double y, double t, const void *data) {
    (void)data;
    const double away = hypot(x - 240 - 5 * t, y - 20);
    return away < 12 ? 500 : 0;
}

static void local_rain(twins *t) {
    case_walls(&t->c);
    t->c.params.rain = case_quantity(&t->c, SEL_ON_X | SEL_ON_Y | SEL_ON_T, cloud, NULL);
}

static void rain_on_dry_land_agrees(void **unused) {
    (void)unused;
    run_dry("local rain", local_rain, (const int[]){250, 10, 270, 30});
}

static double first_shower(double x, double y, double t, const void *data) {
    (void)x, (void)y, (void)data;
    return t < 6.5 || t >= 26.5 ? 20 : 0;
}

/* Rain, then soil that takes it all, then rain again. */
static void shower_and_soil(twins *t) {
    case_walls(&t->c);
    t->c.params.rain = case_quantity(&t->c, SEL_ON_T, first_shower, NULL);
    t->c.params.infiltration = sel_constant(15);
}

static void land_that_dries_and_gets_wet_again_agrees(void **unused) {
    (void)unused;
    run_dry("showers", shower_and_soil, (const int[]){0, 0, WIDE, HIGH});
}

static void spring(twins *t) {
    case_walls(&t->c);
    case_source(&t->c, 299.5, 20.5, sel_constant(0.5));
}

static void an_inflow_in_dry_land_agrees(void **unused) {
    (void)unused;
    run_dry("a spring", spring, (const int[]){290, 15, 310, 25});
}

static double flood(double x, double y, double t, const void *data) {
    (void)x, (void)y, (void)data;
    return 100 + 0.1 * t;
}

static void rising_sea(twins *t) {
    aqua_case *c = &t->c;
    c->params.depth_limit = 40;
    case_level(c, "sea", case_face(c, SEL_X_MAX), case_quantity(c, SEL_ON_T, flood, NULL));
    case_region(c, "rest", sel_shape_make(c->arena, SEL_SHAPE_REST, NULL), &aqua_wall_table);
}

static void rising_pond(twins *t) {
    aqua_case *c = &t->c;
    c->params.depth_limit = 40;
    case_walls(c);
    case_level(c, "pond", case_box(c, 200, 20, 210, 28), case_quantity(c, SEL_ON_T, flood, NULL));
}

static void levels_that_rise_over_dry_land_agree(void **unused) {
    (void)unused;
    run_dry("a sea", rising_sea, (const int[]){380, 0, WIDE, HIGH});
    run_dry("a pond", rising_pond, (const int[]){211, 20, 220, 28});
}

static void closed_on_itself(twins *t) {
    t->c.params.common.periodic = 3;
    fill_box(t, 0, 0, 6, 5, 4);
}

static void water_that_leaves_and_comes_back_at_the_other_side_agrees(void **unused) {
    (void)unused;
    run_dry("periodic in x", closed_on_itself, (const int[]){390, 0, WIDE, 5});
    run_dry("periodic in y", closed_on_itself, (const int[]){0, 44, 6, HIGH});
}

/* Ground in an ellipse only. */
static void island(twins *t) {
    for (int i = 0; i < WIDE * HIGH; i++) {
        const double x = (i % WIDE - 199.5) / 190, y = (i / WIDE - 23.5) / 20;
        t->ground[i] = x * x + y * y < 1 ? t->ground[i] : (double)NAN;
    }
    fill_box(t, 95, 18, 118, 30, 3);
}

static void a_wave_among_walls_without_data_agrees(void **unused) {
    (void)unused;
    run_dry("an island", island, (const int[]){121, 16, 124, 32});
}

/* Faces that lie below all ground: their beds are negative. */
static void steep_faces(twins *t) {
    aqua_case *c = &t->c;
    case_open(c, "all", sel_shape_make(c->arena, SEL_SHAPE_FACES, NULL), 50);
    fill_box(t, 100, 0, 118, HIGH, 1);
}

static void open_faces_below_all_ground_agree(void **unused) {
    (void)unused;
    run_dry("steep faces", steep_faces, (const int[]){121, 0, 124, HIGH});
}

static double hills(double x, double y, double t, const void *data) {
    (void)t, (void)data;
    return 100 + sin(0.7 * x) * cos(0.9 * y) + 0.001 * x;
}

static double ponds(double x, double y, double t, const void *data) {
    (void)t, (void)data;
    const double depth = sin(x / 230) * sin(y / 170);
    return depth > 0 ? depth : 0;
}

static double *depths_after(const sel_backend *backend, twins *t, int64_t cells, int64_t steps) {
    double *depth = malloc((size_t)cells * sizeof *depth);
    sel_request r = {.kind = SEL_READ,
                     .field = AQUA_DEPTH,
                     .box = sel_grid_box(&t->c.domain->grid),
                     .precision = SEL_F64,
                     .components = 1,
                     .to = depth};
    sel_state *state;
    assert_non_null(depth);
    must(t, backend->create(t->c.plan, &state, &t->c.error), backend == second);
    must(t, backend->advance(state, steps, true, &t->c.error), backend == second);
    must(t, backend->start(state, &r, &t->c.error), backend == second);
    must(t, backend->finish(state, &r, &t->c.error), backend == second);
    backend->destroy(state);
    return depth;
}

/* On large grounds a march of the device goes over several tiles, the last ones over fewer. */
static void large_grounds_agree(void **unused) {
    (void)unused;
    static const int sizes[][2] = {{2301, 2203}, {6302, 6309}};
    for (int k = 0; k < (is_short ? 0 : 2 * AQUA_EQUILIBRIA); k++) {
        const int *n = sizes[k / AQUA_EQUILIBRIA], e = k % AQUA_EQUILIBRIA;
        const int64_t cells = (int64_t)n[0] * n[1];
        twins *t = calloc(1, sizeof *t);
        assert_non_null(t);
        t->backend[0] = &sel_cpu_backend;
        t->backend[1] = second;
        case_begin(&t->c, n[0], n[1], 0.7);
        t->c.params.equilibrium = e;
        t->c.params.common.precision = SEL_F32;
        t->c.params.ground = case_quantity(&t->c, SEL_ON_X | SEL_ON_Y, hills, NULL);
        t->c.params.initial.depth = case_quantity(&t->c, SEL_ON_X | SEL_ON_Y, ponds, NULL);
        case_walls(&t->c);
        snprintf(now, sizeof now, "%d x %d, %s", n[0], n[1], aqua_equilibrium_names[e]);
        must(t, case_plan(&t->c), 0);
        t->c.plan->threads = 4;
        double *expected = depths_after(&sel_cpu_backend, t, cells, 9);
        double *depth = depths_after(second, t, cells, 9);
        int64_t differ = 0;
        for (int64_t i = 0; i < cells; i++) {
            differ += !same(expected[i], depth[i]);
        }
        if (differ) {
            fail_msg("%s: %lld cells differ", now, (long long)differ);
        }
        free(expected);
        free(depth);
        case_end(&t->c);
        free(t);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_that_crosses_tiles_agrees),
        cmocka_unit_test(rain_on_dry_land_agrees),
        cmocka_unit_test(land_that_dries_and_gets_wet_again_agrees),
        cmocka_unit_test(an_inflow_in_dry_land_agrees),
        cmocka_unit_test(levels_that_rise_over_dry_land_agree),
        cmocka_unit_test(water_that_leaves_and_comes_back_at_the_other_side_agrees),
        cmocka_unit_test(a_wave_among_walls_without_data_agrees),
        cmocka_unit_test(open_faces_below_all_ground_agree),
        cmocka_unit_test(large_grounds_agree),
    };
    return find_second("test_cuda_aqua_dry", argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL)
                                                         : 0;
}
