/* test_aqua_laws.c -- what sel.aqua books: rain, sources, infiltration, open faces, levels, cells
 * without data; its fields; what it refuses. */
#include "engine/core/state.h"
#include "engine/io/checkpoint.h"
#include "engine/io/raster.h"
#include "tests/unit/aqua_case.h"
#include "tests/unit/files.h"

enum { NX = 20, NY = 14, CELLS = NX * NY };

static double hills(double x, double y, double t, const void *data) {
    (void)t, (void)data;
    return 5 + 0.05 * y + 0.2 * sin(x) * cos(0.7 * y);
}

static double shower(double x, double y, double t, const void *data) {
    (void)y, (void)data;
    return t < 50 ? 20 + x : 0;
}

static double tide(double x, double y, double t, const void *data) {
    (void)x, (void)y, (void)data;
    return 5.3 + 0.2 * sin(t / 10);
}

static double flood(double x, double y, double t, const void *data) {
    (void)x, (void)y, (void)data;
    return 0.001 * t;
}

/* All that can bring or take water at once. */
static void begin_all(aqua_case *c, int precision, int scheme) {
    case_begin(c, NX, NY, 0.2);
    c->params.common.precision = precision;
    c->params.scheme = scheme;
    c->params.ground = case_quantity(c, SEL_ON_X | SEL_ON_Y, hills, NULL);
    c->params.initial.depth = sel_constant(0.02);
    c->params.rain = case_quantity(c, SEL_ON_X | SEL_ON_T, shower, NULL);
    c->params.infiltration = sel_constant(30);
    case_source(c, 4.5, 6.5, case_quantity(c, SEL_ON_T, flood, NULL));
    c->sources[0].name = "river";
    case_walls(c);
    case_open(c, "outlet", case_face(c, SEL_Y_MIN), 0.01);
    case_level(c, "sea", case_face(c, SEL_X_MAX), case_quantity(c, SEL_ON_T, tide, NULL));
    case_open(c, "drain", case_box(c, 8, 8, 10, 10), (double)NAN);
    case_region(c, "house", case_box(c, 12, 4, 14, 7), &aqua_wall_table);
}

static void test_the_ledger_closes(void **unused) {
    (void)unused;
    for (int precision = 0; precision < 2; precision++) {
        for (int scheme = 0; scheme < 2; scheme++) {
            aqua_case c;
            begin_all(&c, precision, scheme);
            case_start(&c);
            case_advance(&c, 300);
            const double error = case_term(&c, "error") / case_term(&c, "inflow_river");
            print_message("# ledger, %s, %s: error %.2e\n", sel_precision_names[precision],
                          aqua_scheme_names[scheme], error);
            assert_true(precision == SEL_F32 ? error == 0 : fabs(error) < 1e-14);
            /* sum over the steps of 0.001 (n + 1/2) */
            assert_true(fabs(case_term(&c, "inflow_river") - 45) < 1e-6);
            double rain = 0;
            for (int x = 0; x < NX; x++) {
                int cells = NY - (x == 12 || x == 13 ? 3 : 0) - (x == 8 || x == 9 ? 2 : 0);
                rain += cells * (20.5 + x) * 50 / 3.6e6;
            }
            assert_true(fabs(case_term(&c, "rain") / rain - 1) < 1e-4);
            assert_true(case_term(&c, "infiltration") > 0.1);
            assert_true(case_term(&c, "out_outlet") > 0.1);
            assert_true(case_term(&c, "out_drain") > 0.1);
            assert_true(case_term(&c, "out_sea") != 0);
            case_end(&c);
        }
    }
}

static void test_rain_of_less_than_a_quantum_adds_up(void **unused) {
    (void)unused;
    aqua_case c;
    case_begin(&c, 8, 8, 0.2);
    c.params.common.precision = SEL_F32;
    c.params.rain = sel_constant(0.001); /* 2.8e-10 m a step, 1/54 of a quantum */
    case_walls(&c);
    case_start(&c);
    case_advance(&c, 3600);
    const double expected = 64 * 1e-6, quantum = 0x1p-26;
    assert_true(fabs(case_term(&c, "volume") - expected) <= 64 * quantum);
    assert_true(case_term(&c, "error") == 0);
    case_end(&c);
}

static void test_a_level_fills_what_it_reaches(void **unused) {
    (void)unused;
    for (int precision = 0; precision < 2; precision++) {
        aqua_case c;
        double w[64];
        case_begin(&c, 8, 8, 0.2);
        c.params.common.precision = precision;
        c.params.ground = sel_constant(1);
        case_walls(&c);
        case_level(&c, "lake", case_face(&c, SEL_X_MIN), sel_constant(1.5));
        case_start(&c);
        case_advance(&c, 6000);
        case_read(&c, AQUA_DEPTH, w);
        for (int i = 0; i < 64; i++) {
            assert_true(fabs(w[i] - 0.5) < (precision == SEL_F32 ? 1e-5 : 1e-9));
        }
        assert_true(fabs(case_term(&c, "out_lake") + 32) < 1e-3);
        case_end(&c);
    }
}

/* A lake painted on cells gives like one on a face, and an open volume swallows. */
static void test_volumes_give_and_take(void **unused) {
    (void)unused;
    aqua_case c;
    double w[100];
    case_begin(&c, 10, 10, 0.2);
    case_walls(&c);
    case_level(&c, "lake", case_box(&c, 0, 0, 2, 10), sel_constant(0.25));
    case_open(&c, "hole", case_box(&c, 8, 4, 9, 5), 1);
    case_line(&c, 5, 10, 5, 0);
    case_line(&c, 5, 0, 5, 10);
    case_start(&c);
    case_advance(&c, 4000);
    double from_lake = -case_flux(&c, 2, 0, 0, 0, 0), to_hole = case_flux(&c, 3, 0, 0, 0, 0);
    assert_true(from_lake > 1e-3 && fabs(from_lake / to_hole - 1) < 1e-6);
    assert_true(fabs(case_flux(&c, 0, 5, 10, 5, 0) / to_hole - 1) < 1e-6); /* to the left: +x */
    assert_true(fabs(case_flux(&c, 0, 5, 0, 5, 10) / -to_hole - 1) < 1e-6);
    case_read(&c, AQUA_DEPTH, w);
    assert_true(w[0] == 0 && w[4 * 10 + 8] == 0); /* solids */
    case_end(&c);
}

static double like_everywhere(double x, double y, double t, const void *data) {
    (void)x, (void)y, (void)t, (void)data;
    return 0.2;
}

/* Where alpha is given place by place a lake has that of the cells beside it. */
static void test_a_lake_gives_by_the_alpha_beside_it(void **unused) {
    (void)unused;
    double found[2][144];
    for (int k = 0; k < 2; k++) {
        aqua_case c;
        case_begin(&c, 12, 12, 0.2);
        if (k == 1) {
            c.params.alpha = case_quantity(&c, SEL_ON_X | SEL_ON_Y, like_everywhere, NULL);
        }
        case_walls(&c);
        case_level(&c, "lake", case_box(&c, 4, 4, 8, 7), sel_constant(0.5));
        case_start(&c);
        case_advance(&c, 40);
        case_read(&c, AQUA_DEPTH, found[k]);
        assert_true(case_term(&c, "out_lake") < -1);
        case_end(&c);
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
}

/* What crosses the sides of a box is what its water loses, to the quantum. */
static void test_fluxes_across_a_closed_line_are_the_change_inside(void **unused) {
    (void)unused;
    aqua_case c;
    double h[CELLS], w[CELLS], before = 0, after = 0;
    case_begin(&c, NX, NY, 0.3);
    case_fill_random(h, CELLS, 0, 1, 1);
    case_fill_random(w, CELLS, 0, 0.5, 2);
    c.params.common.precision = SEL_F32;
    c.params.ground = case_values(&c, h);
    c.params.initial.depth = case_values(&c, w);
    case_walls(&c);
    case_line(&c, 5, 3, 5, 11);
    case_line(&c, 5, 11, 15, 11);
    case_line(&c, 15, 11, 15, 3);
    case_line(&c, 15, 3, 5, 3);
    case_start(&c);
    for (int step = 0; step < 20; step++) {
        case_read(&c, AQUA_DEPTH, w);
        case_advance(&c, 1);
        case_read(&c, AQUA_DEPTH, h);
        before = after = 0;
        for (int y = 3; y < 11; y++) {
            for (int x = 5; x < 15; x++) {
                before += w[y * NX + x];
                after += h[y * NX + x];
            }
        }
        /* Clockwise: the left side is outside. */
        double out = case_flux(&c, 0, 5, 3, 5, 11) + case_flux(&c, 0, 5, 11, 15, 11) +
                     case_flux(&c, 0, 15, 11, 15, 3) + case_flux(&c, 0, 15, 3, 5, 3);
        assert_true(out == before - after);
    }
    case_end(&c);
}

static double step_of_water(double x, double y, double t, const void *data) {
    (void)y, (void)t, (void)data;
    return x < 1 ? 1e-3 : 0;
}

static double ramp(double x, double y, double t, const void *data) {
    (void)y, (void)t, (void)data;
    return 10 - 0.1 * x;
}

static void test_arrivals_and_maxima_are_watched(void **unused) {
    (void)unused;
    enum { FAR = 12 };
    aqua_case c;
    double arrival[FAR], most[FAR], level[FAR], depth[FAR];
    case_begin(&c, FAR, 1, 0.5);
    c.params.common.periodic = 2;
    c.params.common.dt = 2;
    c.params.ground = case_quantity(&c, SEL_ON_X, ramp, NULL);
    c.params.initial.depth = case_quantity(&c, SEL_ON_X, step_of_water, NULL);
    c.params.arrival_depth = 1e-8;
    case_walls(&c);
    case_start(&c);
    case_advance(&c, 8);
    case_read(&c, AQUA_ARRIVAL_TIME, arrival);
    case_read(&c, AQUA_MAX_DEPTH, most);
    case_read(&c, AQUA_MAX_LEVEL, level);
    case_read(&c, AQUA_DEPTH, depth);
    for (int x = 0; x < FAR; x++) {
        assert_true(arrival[x] == (x <= 8 ? 2.0 * x : -1));
        assert_true(most[x] >= depth[x]);
        assert_true(fabs(level[x] - (10 - 0.1 * (x + 0.5) + most[x])) < 1e-12);
    }
    assert_true(most[0] == 1e-3 && fabs(most[1] - 0.5e-3) < 1e-18);
    case_end(&c);
}

/* ---- cells without data ---- */

static sel_status no_value(const sel_lookup *self, size_t n, const double *const *arguments,
                           double *out, sel_error *error) {
    (void)self, (void)n, (void)arguments, (void)out;
    return sel_fail(error, SEL_BAD_SCENARIO, "not here");
}

/* A disc of ground in a raster of gaps, at 3 m to the cell from (100, 200) on. */
static void begin_disc(aqua_case *c, sel_raster *raster, sel_lookup *lookup, double *value) {
    case_begin(c, NX, NY, 0.2);
    for (int i = 0; i < CELLS; i++) {
        double x = i % NX - 9.5, y = (double)(i / NX) - 6.5;
        value[i] = x * x + y * y < 30 ? 50 + 0.01 * x : (double)NAN;
    }
    *raster = (sel_raster){.n = {NX, NY}, .dx = 3, .origin = {100, 200}, .value = value};
    *lookup = (sel_lookup){
        .kind = SEL_LOOKUP_RASTER, .name = "disc", .arguments = 2, .at = no_value, .data = raster};
    c->params.common.size.n = 0;
    c->params.common.dx = c->params.common.dt = (double)NAN;
    c->params.ground = (sel_quantity){.components = 1};
    c->params.ground.part[0].function = sel_lookup_function(c->arena, lookup, (sel_where){NULL, 0});
    case_walls(c);
    aqua_solver.complete(&c->params.common);
}

static void test_gaps_of_a_raster_are_outside_of_the_domain(void **unused) {
    (void)unused;
    aqua_case c;
    sel_raster raster;
    sel_lookup lookup;
    double value[CELLS], h[CELLS];
    begin_disc(&c, &raster, &lookup, value);
    assert_true(c.params.common.size.v[0] == NX && c.params.common.size.v[1] == NY);
    assert_true(c.params.common.dx == 3 && c.params.common.dt == 1);
    assert_true(c.params.common.origin.v[1] == 200);
    c.params.initial.depth = sel_constant(0.5);
    case_start(&c);
    case_read(&c, AQUA_GROUND, h);
    int64_t cells = 0;
    for (int i = 0; i < CELLS; i++) {
        assert_true(h[i] == (isnan(value[i]) ? 0 : value[i]));
        cells += !isnan(value[i]);
    }
    assert_true(c.domain->free_cells == cells);
    assert_string_equal(c.domain->regions[c.domain->region_count - 1].name, "nodata");
    case_advance(&c, 100);
    assert_true(fabs(case_term(&c, "volume") - (double)cells * 0.5 * 9) < 1e-9);
    case_end(&c);
}

static void test_the_outline_of_gaps_may_be_open(void **unused) {
    (void)unused;
    aqua_case c;
    sel_raster raster;
    sel_lookup lookup;
    double value[CELLS];
    aqua_law_open open = {.slope = 0.01};
    begin_disc(&c, &raster, &lookup, value);
    c.params.initial.depth = sel_constant(0.5);
    c.params.nodata = (sel_variant){&aqua_open_table, &open, {NULL, 0}};
    case_start(&c);
    const double volume = case_term(&c, "volume");
    case_advance(&c, 2000);
    assert_true(case_term(&c, "volume") < 1e-6 * volume);
    assert_true(fabs(case_term(&c, "out_nodata") / volume - 1) < 1e-6);
    assert_true(fabs(case_term(&c, "error")) < 1e-14);
    case_end(&c);
}

static void test_a_raster_of_nothing_but_gaps_is_refused(void **unused) {
    (void)unused;
    aqua_case c;
    sel_raster raster;
    sel_lookup lookup;
    double value[CELLS];
    begin_disc(&c, &raster, &lookup, value);
    for (int i = 0; i < CELLS; i++) {
        value[i] = (double)NAN;
    }
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, "the data have gaps wherever the regions leave a cell free; "
                                      "nothing is left to compute");
    sel_arena_destroy(c.arena);
}

/* ---- refusals ---- */

static void test_alpha_must_be_a_part(void **unused) {
    (void)unused;
    const double wrong[] = {0, -0.1, 1.01};
    for (int k = 0; k < 3; k++) {
        aqua_case c;
        case_begin(&c, 8, 8, wrong[k]);
        case_walls(&c);
        assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
        assert_non_null(strstr(c.error.text, "alpha must be above 0 and at most 1"));
        case_end(&c);
    }
}

static void test_too_deep_water_is_an_error_that_says_what_to_do(void **unused) {
    (void)unused;
    aqua_case c;
    case_begin(&c, 8, 8, 0.2);
    c.params.common.precision = SEL_F32;
    case_walls(&c);
    case_source(&c, 2.5, 3.5, sel_constant(10));
    case_start(&c);
    assert_int_equal(sel_cpu_backend.advance(c.state, 1000, true, &c.error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "holds more than 11.93 m of water"));
    assert_non_null(strstr(c.error.text, "give depth_limit"));
    case_end(&c);
}

static void test_the_quantum_follows_the_depth_to_be_held(void **unused) {
    (void)unused;
    aqua_case c;
    case_begin(&c, 8, 8, 0.2);
    c.params.common.precision = SEL_F32;
    c.params.depth_limit = 100;
    c.params.initial.depth = sel_constant(99);
    case_walls(&c);
    case_start(&c);
    assert_int_equal(((const aqua_plan *)c.plan)->bits, 22);
    case_advance(&c, 10);
    assert_true(case_term(&c, "volume") == 64 * 99);
    case_end(&c);
}

/* Saved after an observed step and loaded into a state of step 0: the fluxes of that step are
 * known, and rain, carries and levels go on. */
static void test_a_checkpoint_has_fluxes_and_goes_on(void **unused) {
    (void)unused;
    static const char path[] = "water.sel", before[] = "water.before.sel";
    for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
        aqua_case c;
        sel_checkpoint *file;
        uint64_t bytes;
        double depth[2][CELLS], flux[2], rain[2];
        begin_all(&c, precision, AQUA_GATHER);
        case_start(&c);
        case_advance(&c, 37);
        flux[0] = case_flux(&c, 2, 0, 0, 0, 0);
        assert_int_equal(sel_checkpoint_create(path, &file, NULL), SEL_OK);
        sel_state_save(c.state, &sel_cpu_backend, file);
        assert_int_equal(sel_checkpoint_commit(file, before, &bytes, NULL), SEL_OK);
        sel_checkpoint_close(file);
        for (int k = 0; k < 2; k++) {
            case_advance(&c, 20);
            case_read(&c, AQUA_DEPTH, depth[k]);
            rain[k] = case_term(&c, "rain");
            if (k == 0) {
                sel_cpu_backend.destroy(c.state);
                assert_int_equal(sel_cpu_backend.create(c.plan, &c.state, &c.error), SEL_OK);
                assert_int_equal(sel_checkpoint_open(path, &file, NULL), SEL_OK);
                sel_state_load(c.state, &sel_cpu_backend, file);
                assert_int_equal(file->failure.status, SEL_OK);
                sel_checkpoint_close(file);
                flux[1] = case_flux(&c, 2, 0, 0, 0, 0);
            }
        }
        assert_true(flux[0] != 0 && flux[0] == flux[1] && rain[0] == rain[1]);
        assert_memory_equal(depth[0], depth[1], sizeof depth[0]);
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_ledger_closes),
        cmocka_unit_test(test_rain_of_less_than_a_quantum_adds_up),
        cmocka_unit_test(test_a_level_fills_what_it_reaches),
        cmocka_unit_test(test_volumes_give_and_take),
        cmocka_unit_test(test_a_lake_gives_by_the_alpha_beside_it),
        cmocka_unit_test(test_fluxes_across_a_closed_line_are_the_change_inside),
        cmocka_unit_test(test_a_checkpoint_has_fluxes_and_goes_on),
        cmocka_unit_test(test_arrivals_and_maxima_are_watched),
        cmocka_unit_test(test_gaps_of_a_raster_are_outside_of_the_domain),
        cmocka_unit_test(test_the_outline_of_gaps_may_be_open),
        cmocka_unit_test(test_a_raster_of_nothing_but_gaps_is_refused),
        cmocka_unit_test(test_alpha_must_be_a_part),
        cmocka_unit_test(test_too_deep_water_is_an_error_that_says_what_to_do),
        cmocka_unit_test(test_the_quantum_follows_the_depth_to_be_held),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
