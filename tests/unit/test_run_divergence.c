/* test_run_divergence.c -- a run that blows up ends as diverged, with the step, the cell, the
 * value; one that is too fast warns. */
#include "tests/unit/run_case.h"
#include "engine/run/run.h"

/* A channel of 128 x 32 cells. */
#define CHANNEL(fields)                                                                      \
    "local sel = require 'selenite'\nlocal shape, law = sel.shape, sel.law\n"                \
    "return sel.lbm { lattice = 'D2Q9', size = { 128, 32 }, regions = {\n"                   \
    "{ name = 'walls', where = shape.face 'y-' + shape.face 'y+', law = law.wall {} "        \
    "},\n{ name = 'inlet', where = shape.face 'x-', law = law.velocity { 0.1, 0 } "          \
    "},\n{ name = 'outlet', where = shape.face 'x+', law = law.pressure { 0 } } },\n" fields \
    " }\n"

static bool contains(const char *text, const char *part) {
    return strstr(text, part) != NULL;
}

/* Asserts that run.json has `"key": TEXT` with this beginning of TEXT. */
static void json_has(const char *key, const char *value) {
    char entry[128], *json = read_whole("run/run.json", NULL);
    assert_non_null(json);
    snprintf(entry, sizeof entry, "\"%s\": %s", key, value);
    if (!contains(json, entry))
        fail_msg("run.json has no %s: %s", entry, json);
    free(json);
}

/* Finite numbers that are nonsense: nu = 1e-6 needs far more cells. */
static void a_flow_that_blew_up_is_no_success(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(case_run(&r, CHANNEL("nu = 1e-6, collision = 'trt', stop = { steps = 250 }")),
                     SEL_DIVERGED);
    assert_true(contains(r.error.text, "diverged: at step 250 the "));
    assert_true(contains(r.error.text, " in cell {"));
    assert_true(contains(r.error.text, "'walls'"));
    assert_int_equal(r.report.stopped_by, SEL_BY_DIVERGENCE);
    assert_true(r.report.largest_mach > 1);
    json_has("stopped_by", "\"diverged\"");
    case_done(&r);
}

/* What is made of a monitor's answer, in a periodic box of 16 x 16 cells of 1000 kg/m3. */
static bool diverged(const sel_request *monitor, char text[SEL_DIVERGENCE_TEXT]) {
    script_case c = {.scenario = NULL};
    sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    sel_prepared prepared;
    script_accepts(&c, "return require 'selenite'.lbm { lattice = 'D2Q9', size = { 16, 16 }, "
                       "density = 1000, dx = 2, dt = 1, nu = 0.3, periodic = { 'x', 'y' }, "
                       "stop = { steps = 1 } }");
    assert_int_equal(sel_prepare(&c.scenario->simulations[0], &settings, &prepared, &c.error),
                     SEL_OK);
    const bool found = sel_diverged(prepared.plan, monitor, 300, text);
    sel_prepared_release(&prepared);
    script_done(&c);
    return found;
}

/* Sound goes at 2 / sqrt(3) = 1.155 m/s here. */
static void a_speed_above_that_of_sound_is_a_divergence(void **state) {
    (void)state;
    char text[SEL_DIVERGENCE_TEXT];
    sel_request found = {.bad_cell = -1, .largest = 1.15, .largest_cell = 35, .smallest = 900};
    assert_false(diverged(&found, text));
    found.largest = 1.16;
    assert_true(diverged(&found, text));
    assert_string_equal(text, "diverged: at step 300 the speed is 1.16 (Mach 1, faster than sound) "
                              "in cell {3, 2}");
}

static void a_density_that_is_not_positive_is_a_divergence(void **state) {
    (void)state;
    char text[SEL_DIVERGENCE_TEXT];
    sel_request found = {.bad_cell = -1, .largest = 0.1, .smallest = 1e-3, .smallest_cell = 17};
    assert_false(diverged(&found, text));
    found.smallest = 0;
    assert_true(diverged(&found, text));
    assert_string_equal(text, "diverged: at step 300 the density is 0 in cell {1, 1}");
}

static void what_is_not_finite_everywhere_has_no_place(void **state) {
    (void)state;
    char text[SEL_DIVERGENCE_TEXT];
    sel_request found = {.bad_cell = 0, .bad_cells = 256, .smallest = HUGE_VAL};
    assert_true(diverged(&found, text));
    assert_string_equal(text, "diverged: at step 300 NaN or infinity in all cells");
}

static void a_depth_below_zero_is_a_divergence(void **state) {
    (void)state;
    char text[SEL_DIVERGENCE_TEXT];
    script_case c = {.scenario = NULL};
    sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    sel_prepared prepared;
    sel_request found = {.bad_cell = -1, .largest = 1, .smallest = 0, .smallest_cell = 17};
    script_accepts(&c, "local sel = require 'selenite'\nreturn sel.aqua { size = { 8, 8 }, alpha = "
                       "0.2, ground = 0, stop = { steps = 3 }, regions = { { where = "
                       "sel.shape.faces, law = sel.law.wall {} } } }");
    assert_int_equal(sel_prepare(&c.scenario->simulations[0], &settings, &prepared, &c.error),
                     SEL_OK);
    assert_false(sel_diverged(prepared.plan, &found, 200, text));
    found.smallest = -0.01;
    assert_true(sel_diverged(prepared.plan, &found, 200, text));
    assert_string_equal(text,
                        "diverged: at step 200 the depth is -0.01 m in cell {1, 2}, 1.5 cells "
                        "from 'region_1'");
    sel_prepared_release(&prepared);
    script_done(&c);
}

static void a_run_that_blew_up_long_before_its_end_is_stopped(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(
        case_run(&r, CHANNEL("nu = 1e-6, collision = 'trt', stop = { steps = 100000 }")),
        SEL_DIVERGED);
    assert_true(r.report.steps <= 2000);
    case_done(&r);
}

static void what_is_not_finite_is_counted(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(case_run(&r, CHANNEL("nu = 0.1, stop = { steps = 1 }, initial = { velocity = "
                                          "{ function(x, y) return x > 60 and x < 62 and y > 12 "
                                          "and y < 13 and 1e25 or 0 end, 0 } }")),
                     SEL_DIVERGED);
    assert_true(contains(r.error.text, "diverged: at step 1 NaN or infinity in "));
    assert_true(
        contains(r.error.text, " cells, first in cell {59, 11}, 11.5 cells from 'walls'. "));
    case_done(&r);
}

/* ---- speed ---- */

static void a_run_that_passes_a_third_of_the_speed_of_sound_warns_once(void **state) {
    (void)state;
    static const char fast[] = "local sel = require 'selenite'\n"
                               "return sel.lbm { lattice = 'D2Q9', size = { 16, 16 }, nu = 0.02,\n"
                               "periodic = { 'x', 'y' }, stop = { steps = 3000, every = 500 },\n"
                               "initial = { velocity = { %s, 0 } } }\n";
    char text[sizeof fast + 16], number[32];
    run_case r;
    snprintf(text, sizeof text, fast, "0.18");
    case_run_well(&r, text);
    assert_true(contains(r.log, "warning: at step 500 the flow passes Mach 0.3 (0.31): "));
    assert_null(strchr(r.log, '|'));
    json_has("warnings", "[\"at step 500 the flow passes Mach 0.3");
    assert_true(fabs(r.report.largest_mach - 0.18 * sqrt(3)) < 1e-3);
    snprintf(number, sizeof number, "%.4f", floor(1e4 * r.report.largest_mach) * 1e-4);
    json_has("largest_mach", number);
    case_done(&r);
    snprintf(text, sizeof text, fast, "0.17");
    case_run_well(&r, text);
    assert_string_equal(r.log, "");
    assert_true(fabs(r.report.largest_mach - 0.17 * sqrt(3)) < 1e-3);
    case_done(&r);
}

static void water_has_no_mach_number(void **state) {
    (void)state;
    run_case r;
    case_run_well(&r, "local sel = require 'selenite'\n"
                      "return sel.aqua { size = { 8, 8 }, alpha = 0.2, dt = 1, ground = 0, stop = "
                      "{ steps = 3 }, initial = { depth = 1 },\nregions = { { where = "
                      "sel.shape.faces, law = sel.law.wall {} } } }\n");
    json_has("largest_mach", "null");
    case_done(&r);
}

/* ---- the mass of a domain that no face holds ---- */

/* A channel with the same parabola at both ends and a body in it; a box of walls with a lid. */
#define TWO_ENDS                                                                                \
    "local sel = require 'selenite'\n"                                                          \
    "local shape, law = sel.shape, sel.law\n"                                                   \
    "local function stream(y) return 0.2 * y / 16 * (1 - y / 16), 0 end\n"                      \
    "return sel.lbm { lattice = 'D2Q9', size = { 64, 16 }, tau = 0.6, stop = { steps = %d },\n" \
    "  initial = { velocity = stream }, regions = {\n"                                          \
    "  { name = 'walls', where = shape.faces, law = law.wall {} },\n"                           \
    "  { name = 'inlet', where = shape.face 'x-', law = law.velocity { stream } },\n"           \
    "  { name = 'outlet', where = shape.face 'x+', law = %s },\n"                               \
    "  { name = 'body', where = shape.ball { centre = { 16, 9 }, radius = 3 }, law = law.wall " \
    "{} } } }\n"
#define WALLED                                                                               \
    "local sel = require 'selenite'\n"                                                       \
    "local shape, law = sel.shape, sel.law\n"                                                \
    "return sel.lbm { lattice = 'D2Q9', size = { 24, 24 }, nu = 0.024, precision = 'f64',\n" \
    "  stop = { steps = 4000 }, regions = {\n"                                               \
    "  { name = 'lid', where = shape.face 'y+', law = law.wall { velocity = %s } },\n"       \
    "  { name = 'walls', where = shape.rest, law = law.wall { %s } } } }\n"

static void a_drift_of_the_mass_is_told_once_with_its_cause(void **state) {
    (void)state;
    char text[1200];
    run_case r;
    snprintf(text, sizeof text, TWO_ENDS, 8000, "law.velocity { stream }");
    case_run_well(&r, text);
    assert_true(contains(r.log, " % more than its laws make it: fluid enters at 'inlet' and leaves "
                                "at 'outlet' with given velocities"));
    assert_null(strchr(r.log, '|'));
    json_has("warnings", "[\"s.lua:8: fluid enters at 'inlet'");
    assert_true(r.report.mass_drift > 1e-3);
    case_done(&r);
    snprintf(text, sizeof text, WALLED, "{ 0.1, 0 }, scheme = 'zou_he'", "scheme = 'zou_he'");
    case_run_well(&r, text);
    assert_true(contains(r.log, "warning: at step 2000 the mass is "));
    assert_true(contains(r.log, " % less than its laws make it: at the edges of 'walls'"));
    assert_true(r.report.mass_drift < -0.02);
    case_done(&r);
}

/* What enters through the surface of a lid is known: the mass is what it makes of it. */
static void mass_that_laws_bring_is_no_drift(void **state) {
    (void)state;
    static const char *const lids[] = {"{ 0.1, 0 }", "{ 0.1, -0.0002 }"};
    char text[1200];
    run_case r;
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, WALLED, lids[k], "");
        case_run_well(&r, text);
        assert_string_equal(r.log, "");
        assert_true(fabs(r.report.mass_drift) < 1e-10);
        case_done(&r);
    }
}

/* Regularized closures take momentum along the face that links do not see. */
static void a_force_that_lacks_momentum_is_warned_of(void **state) {
    (void)state;
    static const char *const operators[] = {"trt", "hybrid"};
    for (int k = 0; k < 2; k++) {
        char text[800];
        run_case r;
        snprintf(
            text, sizeof text,
            "local sel = require 'selenite'\n"
            "local shape, law = sel.shape, sel.law\n"
            "return sel.lbm { lattice = 'D2Q9', size = { 12, 12 }, tau = 0.7, collision = '%s',\n"
            "  precision = 'f64', stop = { steps = 4000 }, regions = {\n"
            "  { name = 'walls', where = shape.faces, law = law.wall {} },\n"
            "  { name = 'lid', where = shape.face 'y+', law = law.wall { velocity = { 0.1, 0 },\n"
            "    scheme = 'zou_he' } } }, output = { sel.out.force { name = 'walls', from_step = "
            "3900, region =\n"
            "    'walls' }, sel.out.force { name = 'lid', from_step = 3900, region = 'lid' } } }\n",
            operators[k]);
        case_run_well(&r, text);
        assert_false(contains(r.log, "force on 'walls' is"));
        assert_true(contains(r.log, "the force on 'lid' is not all of it: collision = \"hybrid\" "
                                    "replaces") == (k == 1));
        const double sum =
            case_result(&r, "walls.force_x_mean") + case_result(&r, "lid.force_x_mean");
        assert_true((fabs(sum) < 1e-9) == (k == 0));
        case_done(&r);
    }
}

/* The laws of past steps are not known when hooks change them: no drift is made up. */
static void mass_that_hooks_may_bring_is_not_watched(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r, "local sel = require 'selenite'\n"
            "local shape, law = sel.shape, sel.law\n"
            "return sel.lbm { lattice = 'D2Q9', size = { 24, 24 }, nu = 0.024, precision = 'f64',\n"
            "  stop = { steps = 4000 }, controls = { push = -0.002 }, hooks = { { every = 1900, "
            "call =\n"
            "    function(run) if run.step > 0 then run:set('push', 0) end end } }, regions = {\n"
            "  { name = 'lid', where = shape.face 'y+', law = law.wall { velocity = {\n"
            "    0, function(push) return push end } } },\n"
            "  { name = 'walls', where = shape.rest, law = law.wall {} } } }\n");
    assert_string_equal(r.log, "");
    json_has("mass_drift", "null");
    case_done(&r);
}

static void where_a_face_gives_the_pressure_the_mass_is_not_watched(void **state) {
    (void)state;
    char text[1200];
    run_case r;
    snprintf(text, sizeof text, TWO_ENDS, 2500, "law.pressure { 0 }");
    case_run_well(&r, text);
    assert_string_equal(r.log, "");
    json_has("mass_drift", "null");
    case_done(&r);
}

/* ---- how often ---- */

/* Of a periodic flow; from the plan alone. */
static int64_t interval_of(const char *size, const char *precision) {
    char text[512];
    script_case c = {.scenario = NULL};
    sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    sel_prepared prepared;
    snprintf(text, sizeof text,
             "return require 'selenite'.lbm { lattice = 'D2Q9', size = { %s }, tau = 0.8, "
             "precision = '%s', periodic = { 'x', 'y' }, stop = { steps = 1 } }",
             size, precision);
    script_accepts(&c, text);
    assert_int_equal(sel_prepare(&c.scenario->simulations[0], &settings, &prepared, &c.error),
                     SEL_OK);
    const int64_t steps = sel_monitor_interval(prepared.plan);
    sel_prepared_release(&prepared);
    script_done(&c);
    return steps;
}

/* What a look costs besides its bytes weighs more on small grids. */
static void looks_are_as_frequent_as_one_percent_of_the_time_allows(void **state) {
    (void)state;
    assert_int_equal(interval_of("2000, 2000", "f32"), 100);
    assert_int_equal(interval_of("2000, 1000", "f64"), 100);
    assert_int_equal(interval_of("500, 500", "f64"), 200);
    assert_int_equal(interval_of("16, 16", "f32"), 500);
    for (int64_t n = 1, last = 1000; n < 3000; n *= 2) {
        char size[64];
        snprintf(size, sizeof size, "%lld, %lld", (long long)n, (long long)n);
        const int64_t steps = interval_of(size, "f32");
        assert_true(steps % 100 == 0 && steps >= 100 && steps <= last);
        last = steps;
    }
}

/* ---- the nearest region ---- */

/* A periodic channel with a block in it. */
static void the_nearest_region_is_found_across_periodic_faces(void **state) {
    (void)state;
    static const struct {
        int64_t at[3];
        int region;
        double distance;
    } places[] = {
        {{20, 0, 0}, 1, 0.5}, {{20, 2, 0}, 1, 2.5}, {{20, 15, 0}, 2, 0.5},
        {{11, 8, 0}, 3, 0.5}, {{12, 8, 0}, 3, 1.5}, {{38, 8, 0}, 3, 7.5},
        {{30, 8, 0}, 2, 7.5}, {{8, 4, 0}, 3, 1.5},  {{12, 12, 0}, 3, 2.1213203435596424},
    };
    script_case c = {.scenario = NULL};
    sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    sel_prepared prepared;
    script_accepts(&c, "local sel = require 'selenite'\nlocal shape, law = sel.shape, sel.law\n"
                       "return sel.lbm { lattice = 'D2Q9', size = { 40, 16 }, tau = 0.8, stop = { "
                       "steps = 1 }, periodic = { 'x' }, regions = {\n"
                       "{ where = shape.face 'y-', law = law.wall {} },\n"
                       "{ where = shape.face 'y+', law = law.wall {} },\n"
                       "{ where = shape.box { min = { 6, 6 }, max = { 11, 11 } }, law = law.wall "
                       "{} } } }");
    assert_int_equal(sel_prepare(&c.scenario->simulations[0], &settings, &prepared, &c.error),
                     SEL_OK);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double distance;
        int region = sel_nearest_region(prepared.domain, places[k].at, &distance);
        if (region != places[k].region || fabs(distance - places[k].distance) > 1e-12)
            fail_msg("%d at %g from the place %zu", region, distance, k);
    }
    sel_prepared_release(&prepared);
    script_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_that_blew_up_is_no_success),
        cmocka_unit_test(a_density_that_is_not_positive_is_a_divergence),
        cmocka_unit_test(a_speed_above_that_of_sound_is_a_divergence),
        cmocka_unit_test(what_is_not_finite_everywhere_has_no_place),
        cmocka_unit_test(a_depth_below_zero_is_a_divergence),
        cmocka_unit_test(a_run_that_blew_up_long_before_its_end_is_stopped),
        cmocka_unit_test(what_is_not_finite_is_counted),
        cmocka_unit_test(a_run_that_passes_a_third_of_the_speed_of_sound_warns_once),
        cmocka_unit_test(water_has_no_mach_number),
        cmocka_unit_test(a_drift_of_the_mass_is_told_once_with_its_cause),
        cmocka_unit_test(mass_that_laws_bring_is_no_drift),
        cmocka_unit_test(a_force_that_lacks_momentum_is_warned_of),
        cmocka_unit_test(mass_that_hooks_may_bring_is_not_watched),
        cmocka_unit_test(where_a_face_gives_the_pressure_the_mass_is_not_watched),
        cmocka_unit_test(looks_are_as_frequent_as_one_percent_of_the_time_allows),
        cmocka_unit_test(the_nearest_region_is_found_across_periodic_faces),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
