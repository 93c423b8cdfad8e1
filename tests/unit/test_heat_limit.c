/* test_heat_limit.c -- explicit steps are stable in the whole run: dt is compared with the largest
 * h of law.convective, not with that of the start.
 *
 * A node on a face of a uniform body is stable for dt <= 1 / (2 dims k / (C dx^2) + h / (C dx)).
 */
#include "tests/unit/heat_case.h"
#include "tests/unit/run_case.h"

enum { C = 1000 };
static const double limit_dx = 0.01;

static double limit_of(int dims, double h) {
    return 1 / (2 * dims / (C * limit_dx * limit_dx) + h / (C * limit_dx));
}

/* A body at 100 that air at 20 cools through a face of nodes. */
static sel_status limit_run(run_case *r, int dims, const char *h, const char *more) {
    char text[HEAT_TEXT];
    snprintf(text, sizeof text,
             HEAT_BEGIN
             "return sel.heat { size = { %s }, dx = %g, layout = 'node', conductivity = 1,\n"
             "  capacity = %d, precision = 'f64', initial = { temperature = 100 },\n"
             "  controls = { wind = 10 }, regions = { all(law.insulated {}),\n"
             "    face('x-', law.convective { h = %s, ambient = 20 }) },\n"
             "  output = { out.reduce { field = 'temperature', op = 'min' },\n"
             "    out.reduce { name = 'top', field = 'temperature', op = 'max' } }, %s }\n",
             dims == 2 ? "11, 5" : "9, 4, 5", limit_dx, C, h, more);
    return case_run(r, text);
}

static void check_says(const run_case *r, const char *format, ...) {
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!strstr(r->error.text, text)) {
        fail_msg("not in the message: %s\n%s", text, r->error.text);
    }
}

/* 10 to t = 5, then up to 500 at t = 10. */
static const char ramp[] = "function(t) return 10 + 98 * math.max(0, math.min(t - 5, 5)) end";

static void a_dt_that_is_left_out_is_stable_in_the_whole_run(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        run_case r;
        assert_int_equal(limit_run(&r, dims, ramp, "stop = { time = 14 }"), SEL_OK);
        const double dt = r.report.time / (double)r.report.steps;
        assert_true(fabs(dt / (0.9 * limit_of(dims, 500)) - 1) < 1e-9);
        assert_true(case_result(&r, "reduce.temperature") > 20);
        assert_true(case_result(&r, "top.temperature") < 100);
        case_done(&r);
    }
}

static void a_dt_that_becomes_too_large_is_refused_before_the_run(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        run_case r;
        char more[100];
        const double dt = 1.1 * limit_of(dims, 500);
        snprintf(more, sizeof more, "dt = %.17g, stop = { time = 14 }", dt);
        assert_int_equal(limit_run(&r, dims, ramp, more), SEL_BAD_SCENARIO);
        check_says(&r, "has h = 500: at most %.9g, by cell {0, 0", limit_of(dims, 500));
        assert_int_equal(r.report.steps, 0);
        case_done(&r);
        /* It ends before h has risen so far. */
        snprintf(more, sizeof more, "dt = %.17g, stop = { time = 8 }", dt);
        assert_int_equal(limit_run(&r, dims, ramp, more), SEL_OK);
        case_done(&r);
    }
}

/* A run that may end before is warned, and ends where the step would not be stable. */
static void a_run_ends_before_a_step_that_is_not_stable(void **state) {
    (void)state;
    run_case r;
    const double dt = 1.2 * limit_of(2, 500);
    static const char *const rises[] = {
        ramp, "function(t) return t > 5 and t < 5.02 and 500 or 10 end",
        "function(y, t) return y > 0.035 and t > 5 and 500 or 10 end"};
    for (size_t k = 0; k < sizeof rises / sizeof *rises; k++) {
        char more[100];
        snprintf(more, sizeof more, "dt = %.17g, stop = { time = 14, steady = 1e-12 }", dt);
        assert_int_equal(limit_run(&r, 2, rises[k], more), SEL_DIVERGED);
        check_says(&r, "is not stable in step %lld (t = ", (long long)r.report.steps + 1);
        check_says(&r, ", by cell {0, %d}; take a smaller dt", k == 2 ? 4 : 0);
        assert_int_equal(r.report.stopped_by, SEL_BY_DIVERGENCE);
        assert_true(r.report.time > 5 - 1e-9 && r.report.time < 10);
        case_done(&r);
    }
}

static void a_control_that_makes_steps_unstable_ends_the_run(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        run_case r;
        static const char hook[] =
            "stop = { steps = %d }, hooks = { { every = 30, call = function(run)\n"
            "  if run.step == 30 then run:set('wind', %g) end end } }";
        char more[200];
        snprintf(more, sizeof more, hook, 31, 500.0);
        assert_int_equal(limit_run(&r, dims, "function(wind) return wind end", more), SEL_DIVERGED);
        check_says(&r, "in step 31 (");
        check_says(&r, "(run:set gave wind = 500 by hooks[1] at step 30)");
        check_says(&r, "has h = 500: at most %.9g, by cell {0, 0", limit_of(dims, 500));
        assert_int_equal(r.report.steps, 30);
        case_done(&r);
        snprintf(more, sizeof more, hook, 90, 12.0); /* of 0.9 there is a part left */
        assert_int_equal(limit_run(&r, dims, "function(wind) return wind end", more), SEL_OK);
        case_done(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dt_that_is_left_out_is_stable_in_the_whole_run),
        cmocka_unit_test(a_dt_that_becomes_too_large_is_refused_before_the_run),
        cmocka_unit_test(a_run_ends_before_a_step_that_is_not_stable),
        cmocka_unit_test(a_control_that_makes_steps_unstable_ends_the_run),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
