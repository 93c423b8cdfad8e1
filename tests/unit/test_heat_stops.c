/* test_heat_stops.c -- when runs of sel.heat end: by the change of the mean, by the relative change
 * of the temperature, by time.
 */
#include "tests/unit/compare_files.h"
#include "tests/unit/heat_case.h"
#include "tests/unit/run_case.h"

/* A body with these fields in its table. */
__attribute__((format(printf, 2, 3))) static void run_body(run_case *r, const char *format, ...) {
    char text[HEAT_TEXT], fields[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fields, sizeof fields, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, HEAT_BEGIN "return sel.heat { precision = 'f64', %s }\n", fields);
    case_run_well(r, text);
}

/* The column `name` of a file, by rows; freed by the caller. */
static double *column_of(const char *path, const char *name, int *rows) {
    char *text = read_whole(path, NULL);
    assert_non_null(text);
    csv_table t = csv_read(text);
    int c = 0;
    while (c < t.columns && strcmp(t.name[c], name) != 0) {
        c++;
    }
    assert_true(c < t.columns);
    double *values = malloc((size_t)(t.rows + 1) * sizeof *values);
    for (int row = 0; row < t.rows; row++) {
        values[row] = t.value[row * t.columns + c];
    }
    *rows = t.rows;
    free(t.value);
    free(text);
    return values;
}

/* The first test at which the mean changed by no more than `limit` in its last step is followed by
 * one more interval. */
static void check_mean_change(const char *layout, int every, double limit) {
    run_case r;
    int rows;
    run_body(
        &r,
        "size = { 17, 12 }, dx = { 1, 1.5 }, layout = '%s', conductivity = 1, capacity = 2,\n"
        "stop = { steps = 5000, mean_change = %g, every = %d }, regions = {\n"
        "  all(law.insulated {}), face('x-', law.fixed { 1 }),\n"
        "  face('y+', law.convective { h = 0.1, ambient = -1 }),\n"
        "  { where = shape.ball { centre = { 9, 8 }, radius = 2 }, law = law.fixed { 3 } } },\n"
        "output = { out.reduce { field = 'temperature', op = 'mean', every = 1 } }",
        layout, limit, every);
    double *mean = column_of("run/reduce.csv", "temperature", &rows);
    int64_t test = every;
    while (fabs(mean[test] - mean[test - 1]) > limit) {
        test += every;
    }
    assert_int_equal(r.report.stopped_by, SEL_BY_MEAN_CHANGE);
    assert_int_equal(r.report.steps, test + every);
    assert_int_equal(rows, r.report.steps + 1);
    assert_true(test > 3 * every && test < 3000);
    free(mean);
    case_done(&r);
}

static void runs_end_by_the_change_of_their_mean(void **state) {
    (void)state;
    check_mean_change("cell", 1, 3e-4);
    check_mean_change("cell", 37, 1e-3);
    check_mean_change("node", 1, 3e-4);
    check_mean_change("node", 20, 1e-4);
}

/* An insulated body: its mean stays though the temperature changes. */
static void a_mean_that_stays_ends_the_run_at_once(void **state) {
    (void)state;
    run_case r;
    run_body(&r, "size = { 16, 8 }, diffusivity = 1, regions = { all(law.insulated {}) },\n"
                 "initial = { temperature = function(x) return cos(pi * x / 16) end },\n"
                 "stop = { steps = 900, mean_change = 1e-12, every = 10 }");
    assert_int_equal(r.report.stopped_by, SEL_BY_MEAN_CHANGE);
    assert_int_equal(r.report.steps, 20);
    case_done(&r);
}

/* T = 1 + cos(pi x / L) f^n: the change between tests, relative to the range at step 0, is known.
 */
static void check_steady(bool nodes, int every, double limit) {
    run_case r;
    const int n = 20, sides = nodes ? n - 1 : n;
    const double dt = 0.2, pi = 3.14159265358979323846;
    const double f = 1 - 2 * dt * (1 - cos(pi / sides));
    double squares = 0, low = 1, high = -1, change = 1;
    int64_t test = 0;
    for (int i = 0; i < n; i++) {
        const double mode = cos(pi * (i + (nodes ? 0 : 0.5)) / sides);
        squares += mode * mode;
        low = fmin(low, mode);
        high = fmax(high, mode);
    }
    while (change > limit) {
        test += every;
        const double now_is = pow(f, (double)test), was = pow(f, (double)(test - every));
        change = sqrt(squares / n) * (was - now_is) / (high - low);
    }
    run_body(
        &r,
        "size = { %d, 6 }, diffusivity = 1, dt = %g, layout = '%s',\n"
        "regions = { all(law.insulated {}) }, stop = { steps = 9000, steady = %g, every = %d },\n"
        "initial = { temperature = function(x) return 1 + cos(pi * x / %d) end }",
        n, dt, nodes ? "node" : "cell", limit, every, sides);
    assert_int_equal(r.report.stopped_by, SEL_BY_STEADY);
    assert_int_equal(r.report.steps, test + every);
    assert_true(fabs(r.report.steady_measure - change) < 1e-9 * change + 1e-13);
    assert_true(test > 3 * every && test < 8000);
    case_done(&r);
}

static void runs_end_when_they_are_steady(void **state) {
    (void)state;
    check_steady(false, 10, 1e-3);
    check_steady(false, 100, 1e-7);
    check_steady(true, 33, 1e-5);
}

/* Kelvins or degrees: the same body. At 300 its rise of 5 is small beside its temperature. */
static void a_shift_of_all_temperatures_does_not_end_a_run_sooner(void **state) {
    (void)state;
    static const double shifts[] = {0, 300, -40};
    int64_t steps[3];
    for (int k = 0; k < 3; k++) {
        run_case r;
        run_body(&r,
                 "size = { 10, 4 }, diffusivity = 1, initial = { temperature = %g },\n"
                 "regions = { all(law.insulated {}), face('x-', law.flux { 0.5 }), face('x+', "
                 "law.fixed { %g }) }, stop = { steps = 9000, steady = 1e-3, every = 20 }",
                 shifts[k], shifts[k]);
        assert_int_equal(r.report.stopped_by, SEL_BY_STEADY);
        steps[k] = r.report.steps;
        case_done(&r);
    }
    assert_true(steps[0] > 400 && steps[1] == steps[0] && steps[2] == steps[0]);
}

/* Round-off in a uniform body is no change. */
static void a_uniform_body_is_steady(void **state) {
    (void)state;
    static const char *const schemes[] = {"explicit", "crank_nicolson"};
    for (int k = 0; k < 2; k++) {
        run_case r;
        run_body(&r,
                 "size = { 12, 9 }, diffusivity = 0.3, scheme = '%s', dt = 0.7, initial = { "
                 "temperature = 293.15 }, regions = { all(law.convective { h = 0.3, ambient = "
                 "293.15 }) }, stop = { steps = 900, steady = 1e-5, every = 10 }",
                 schemes[k]);
        assert_int_equal(r.report.stopped_by, SEL_BY_STEADY);
        assert_int_equal(r.report.steps, 30);
        case_done(&r);
    }
}

static void runs_end_at_their_time(void **state) {
    (void)state;
    static const struct {
        const char *dt, *time;
        int64_t steps; /* without dt of 0.9 dx^2 / (4 k) */
    } cases[] = {
        {"dt = 0.1,", "2.5", 25}, {"dt = 0.1,", "2.51", 26}, {"", "9", 40}, {"", "9.1", 41}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run_case r;
        run_body(&r,
                 "size = { 8, 7 }, diffusivity = 1, %s stop = { time = %s },\n"
                 "regions = { all(law.insulated {}) }",
                 cases[k].dt, cases[k].time);
        assert_int_equal(r.report.stopped_by, SEL_BY_TIME);
        assert_int_equal(r.report.steps, cases[k].steps);
        case_done(&r);
    }
}

/* The earliest ends the run. */
static void several_stops_end_at_the_first(void **state) {
    (void)state;
    run_case r;
    run_body(&r, "size = { 16, 8 }, diffusivity = 1, regions = { all(law.fixed { 1 }) },\n"
                 "stop = { steps = 1000, time = 5, mean_change = 1e-3, steady = 1e-9, every = 5 }");
    assert_int_equal(r.report.stopped_by, SEL_BY_TIME);
    case_done(&r);
    run_body(&r,
             "size = { 16, 8 }, diffusivity = 1, regions = { all(law.fixed { 1 }) },\n"
             "stop = { steps = 1000, time = 500, mean_change = 1e-3, steady = 1e-9, every = 5 }");
    assert_int_equal(r.report.stopped_by, SEL_BY_MEAN_CHANGE);
    case_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_end_by_the_change_of_their_mean),
        cmocka_unit_test(a_mean_that_stays_ends_the_run_at_once),
        cmocka_unit_test(runs_end_when_they_are_steady),
        cmocka_unit_test(a_shift_of_all_temperatures_does_not_end_a_run_sooner),
        cmocka_unit_test(a_uniform_body_is_steady),
        cmocka_unit_test(runs_end_at_their_time),
        cmocka_unit_test(several_stops_end_at_the_first),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
