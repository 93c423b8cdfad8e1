/* test_run_failure.c -- runs that fail on their way: the last whole state is written, all the same.
 */
#include "tests/unit/run_case.h"

/* A channel, a lid and a force that vary, until the inlet has no velocity at t = 8 or the run ends
 * at `stop`. That a law holds at the last step is seen before the first one. */
#define CHANNEL(stop, acceleration, fields)                                                        \
    "local sel = require 'selenite'\nlocal shape, law, out = sel.shape, sel.law, sel.out\n"        \
    "local function inflow(t) if t > 7.5 and t < 8.5 then return 0 / 0 end return 0.001 * t end\n" \
    "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8, precision = 'f64',\n"          \
    "stop = { steps = " #stop " }, acceleration = { " acceleration ", 0 }, regions = {\n"          \
    "{ name = 'lid', where = shape.face 'y+', law = law.wall { velocity = { function(t) "          \
    "return 0.001 * t end, 0 } } },\n"                                                             \
    "{ name = 'outlet', where = shape.face 'x+', law = law.pressure { 0 } },\n"                    \
    "{ name = 'inlet', where = shape.face 'x-', law = law.velocity { inflow, 0 } },\n"             \
    "{ where = shape.rest, law = law.wall {} } },\n"                                               \
    "output = { out.vtk { fields = { 'velocity', 'density' } },\n"                                 \
    "out.average { fields = 'velocity', every = 2 }, out.balance { every = 4 },\n"                 \
    "out.force { region = 'lid', every = 4 }, out.flux { region = 'inlet', every = 4 } "           \
    "},\n" fields " }\n"

static const char *const files[] = {"run/vtk.pvd",     "run/vtk/vtk_00000007.vti",
                                    "run/average.vti", "run/balance.csv",
                                    "run/force.csv",   "run/flux.csv"};
enum { FILES = sizeof files / sizeof *files };

static void read_files(char *texts[FILES], size_t sizes[FILES]) {
    for (int i = 0; i < FILES; i++) {
        texts[i] = read_whole(files[i], &sizes[i]);
        if (!texts[i])
            fail_msg("%s is missing", files[i]);
    }
}

/* What links carry only an observed step shows; these files come last in `files`. */
enum { OBSERVED_FILES = 2 };

/* Takes the row of step 7 from a file of which it is the last. */
static void take_last_row(char *text, size_t *size) {
    text[*size - 1] = '\0';
    char *row = strrchr(text, '\n') + 1;
    assert_int_equal(strtoll(row, NULL, 10), 7);
    *size = (size_t)(row - text);
}

/* Asserts that both runs leave the same bytes, the first by a failure at step 7; but for rows of
 * that step which only an observed step shows, unless it is. */
static void leaves_the_files_of(const char *failing, const char *message, const char *whole,
                                bool observed) {
    char *texts[2][FILES];
    size_t sizes[2][FILES];
    run_case r;
    assert_int_equal(case_run(&r, failing), SEL_BAD_SCENARIO);
    assert_non_null(strstr(r.error.text, message));
    assert_int_equal(r.report.stopped_by, SEL_BY_ERROR);
    assert_string_equal(r.report.stop_reason, r.error.text);
    assert_int_equal(r.report.steps, 7);
    char *json = read_whole("run/run.json", NULL);
    assert_non_null(strstr(json, "\"stopped_by\": \"error\""));
    assert_non_null(strstr(json, "\"vtk/vtk_00000007.vti\""));
    free(json);
    read_files(texts[0], sizes[0]);
    case_done(&r);
    case_run_well(&r, whole);
    read_files(texts[1], sizes[1]);
    case_done(&r);
    for (int i = 0; i < FILES; i++) {
        if (!observed && i >= FILES - OBSERVED_FILES) {
            take_last_row(texts[1][i], &sizes[1][i]);
        }
        if (sizes[0][i] != sizes[1][i] || memcmp(texts[0][i], texts[1][i], sizes[0][i]) != 0)
            fail_msg("%s differs", files[i]);
        free(texts[0][i]);
        free(texts[1][i]);
    }
}

static void a_boundary_that_fails_leaves_the_state_before(void **state) {
    (void)state;
    const char *message = "law.velocity: function returned nan";
    leaves_the_files_of(CHANNEL(20, "function(t) return 1e-5 * t end", ""), message,
                        CHANNEL(7, "function(t) return 1e-5 * t end", ""), false);
    leaves_the_files_of(CHANNEL(20, "function(x, t) return 1e-6 * t * x end", ""), message,
                        CHANNEL(7, "function(x, t) return 1e-6 * t * x end", ""), false);
}

static void an_acceleration_that_fails_leaves_the_state_before(void **state) {
    (void)state;
#define ENDS(variables) \
    "function(" variables ") if t > 7.5 and t < 8.5 then return 0 / 0 end return 1e-5 * t end"
    leaves_the_files_of(CHANNEL(20, ENDS("t"), ""), "acceleration: function returned nan",
                        CHANNEL(7, ENDS("t"), ""), false);
    leaves_the_files_of(CHANNEL(20, ENDS("x, t"), ""), "acceleration: function returned nan",
                        CHANNEL(7, ENDS("x, t"), ""), false);
}

static void a_hook_that_fails_leaves_its_state(void **state) {
    (void)state;
    leaves_the_files_of(
        CHANNEL(7, "0",
                "hooks = { { every = 7, call = function(run) if run.step > 0 then error "
                "'enough' end end } }"),
        "enough (hooks[1], at step 7)", CHANNEL(7, "0", ""), true);
    leaves_the_files_of(CHANNEL(7, "0",
                                "hooks = { { at = 'end', call = function() error 'late' "
                                "end } }"),
                        "late (hooks[1], at step 7)", CHANNEL(7, "0", ""), true);
}

/* ---- water ---- */

#define WATER(fields)                                                                          \
    "local sel = require 'selenite'\nlocal shape, law, out = sel.shape, sel.law, sel.out\n"    \
    "return sel.aqua { size = { 8, 8 }, alpha = 0.2, dt = 1, precision = 'f32', rain = 360,\n" \
    "ground = function(x, y) return 2 * math.abs(x - 4.5) + 2 * math.abs(y - 4.5) end,\n"      \
    "regions = { { where = shape.faces, law = law.wall {} } }, stop = { steps = 100 },\n"      \
    "output = { out.vtk { fields = 'depth' }, out.balance { every = 1 } }, " fields " }\n"

/* Asserts that the last state is that of `step`, whose balance is exact. */
static void fails_at(const char *text, int64_t step, const char *reason) {
    run_case r;
    char name[64];
    assert_int_equal(case_run(&r, text), SEL_BAD_SCENARIO);
    assert_non_null(strstr(r.error.text, reason));
    assert_int_equal(r.report.stopped_by, SEL_BY_ERROR);
    snprintf(name, sizeof name, "run/vtk/vtk_%08lld.vti", (long long)r.report.steps);
    assert_int_equal(r.report.steps, step);
    assert_int_equal(access(name, F_OK), 0);
    char *csv = read_whole("run/balance.csv", NULL);
    csv[strlen(csv) - 1] = '\0';
    const char *row = strrchr(csv, '\n') + 1, *balance = strrchr(row, ',') + 1;
    assert_int_equal(strtoll(row, NULL, 10), step);
    assert_true(fabs(strtod(balance, NULL)) < 1e-15);
    free(csv);
    case_done(&r);
}

static void water_too_deep_by_the_flow_is_in_the_last_state(void **state) {
    (void)state;
    fails_at(WATER("depth_limit = 1, infiltration = 1, initial = { depth = 11 }"), 1,
             "step 1: cell {4, 4} holds more than");
}

static void water_too_deep_by_a_source_is_not(void **state) {
    (void)state;
    fails_at(WATER("sources = { { at = { 4.5, 4.5 }, discharge = function(t) "
                   "return t > 3 and 1000 or 0 end } }"),
             3, "step 3: cell {4, 4} holds more than");
}

/* What rain has been poured onto is no state of a step. */
static void a_step_that_is_half_done_is_not_written(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(
        case_run(&r, WATER("depth_limit = 100, initial = { depth = 50 }, sources = { { at = { 4.5, "
                           "4.5 }, discharge = function(t) return t > 3 and 150 or 0 end } }")),
        SEL_BAD_SCENARIO);
    assert_non_null(strstr(r.error.text, "step 3: cell {4, 4} holds more than"));
    assert_int_not_equal(access("run/vtk.pvd", F_OK), 0);
    char *csv = read_whole("run/balance.csv", NULL);
    assert_non_null(strstr(csv, "\n2,2,"));
    assert_null(strstr(csv, "\n4,"));
    free(csv);
    case_done(&r);
}

/* ---- files ---- */

static void a_run_whose_files_cannot_be_made_says_so(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(mkdir("run", 0700), 0);
    assert_int_equal(mkdir("run/balance.csv", 0700), 0);
    assert_int_equal(case_run(&r, CHANNEL(7, "0", "")), SEL_BAD_FILE);
    char *json = read_whole("run/run.json", NULL);
    assert_non_null(strstr(json, "\"stopped_by\": \"error\""));
    free(json);
    case_done(&r);
    assert_int_equal(rmdir("run/balance.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_whose_files_cannot_be_made_says_so),
        cmocka_unit_test(a_boundary_that_fails_leaves_the_state_before),
        cmocka_unit_test(an_acceleration_that_fails_leaves_the_state_before),
        cmocka_unit_test(a_hook_that_fails_leaves_its_state),
        cmocka_unit_test(water_too_deep_by_the_flow_is_in_the_last_state),
        cmocka_unit_test(water_too_deep_by_a_source_is_not),
        cmocka_unit_test(a_step_that_is_half_done_is_not_written),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
