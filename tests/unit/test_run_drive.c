/* test_run_drive.c -- flows whose mean is held by an acceleration. */
#include <math.h>
#include "tests/unit/files.h"
#include "tests/unit/run_case.h"

enum { H = 10 }; /* cells across the channel */

/* A plane channel at U = 0.02, by its mean velocity or by its flow rate; `more`: fields of sel.lbm.
 */
static void run_channel(run_case *r, const char *drive, double tau, int steps, const char *more) {
    char text[1200];
    snprintf(text, sizeof text,
             "local sel = require 'selenite'\n"
             "return sel.lbm { lattice = 'D2Q9', size = { 4, %d }, tau = %g, collision = 'trt',\n"
             "precision = 'f64', periodic = { 'x' }, drive = { %s, axis = 'x' },\n"
             "regions = { { where = sel.shape.faces, law = sel.law.wall {} } },\n"
             "stop = { steps = %d }, %s }",
             H, tau, drive, steps, more);
    case_run_well(r, text);
}

/* Poiseuille's law: a = 12 nu U / H^2; its parabola is exact at the centres of cells, and their
 * mean is larger by 1 / (2 H^2). */
static void test_a_channel_is_held_by_the_acceleration_of_poiseuille(void **unused) {
    (void)unused;
    static const double taus[] = {0.51, 0.6, 1};
    static const int steps[] = {40000, 8000, 6000};
    for (int k = 0; k < 3; k++) {
        run_case r;
        run_channel(&r, k == 1 ? "flow = 0.2" : "velocity = 0.02", taus[k], steps[k], "");
        const double nu = (taus[k] - 0.5) / 3;
        const double exact = 12 * nu * 0.02 / (H * H) / (1 + 0.5 / (H * H));
        const double a = case_result(&r, "drive.acceleration");
        print_message("# tau %g: acceleration %.6f of the exact\n", taus[k], a / exact);
        assert_true(fabs(case_result(&r, "drive.velocity") / 0.02 - 1) < 1e-6);
        assert_true(fabs(a / exact - 1) < 1e-3);
        case_done(&r);
    }
}

/* The largest velocity while the flow comes to its mean; a velocity against the axis. */
static void test_the_mean_does_not_overshoot(void **unused) {
    (void)unused;
    static const char most[] =
        "hooks = { { every = 20, call = function(run) local u = run:reduce('velocity_x', 'mean')\n"
        "run.state.least = math.min(run.state.least or 0, u)\n"
        "run:result('least', run.state.least) end } }";
    static const double taus[] = {0.51, 1};
    for (int k = 0; k < 2; k++) {
        run_case r;
        run_channel(&r, "velocity = -0.02, every = 5", taus[k], 3000, most);
        print_message("# tau %g: at most %.5f of the mean\n", taus[k],
                      case_result(&r, "least") / -0.02);
        assert_true(case_result(&r, "least") / -0.02 < 1.01);
        assert_true(fabs(case_result(&r, "drive.velocity") / -0.02 - 1) < 1e-3);
        case_done(&r);
    }
}

/* The mean is over steps from from_step on, weighted by their number. */
static void test_the_mean_acceleration_begins_at_from_step(void **unused) {
    (void)unused;
    run_case r;
    run_channel(&r, "velocity = 0.02, every = 50, from_step = 9950", 1, 10010, "");
    const double mean = case_result(&r, "drive.acceleration_mean");
    assert_true(fabs(mean / case_result(&r, "drive.acceleration") - 1) < 1e-6);
    case_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_channel_is_held_by_the_acceleration_of_poiseuille),
        cmocka_unit_test(test_the_mean_does_not_overshoot),
        cmocka_unit_test(test_the_mean_acceleration_begins_at_from_step),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
