/* test_run_mean.c -- runs that end by stop.mean_change: when they do, what they read, resuming. */
#include <math.h>
#include "engine/output/output.h"
#include "engine/run/run.h"
#include "tests/unit/blur.h"
#include "tests/unit/files.h"

/* ---- the blur as a solver that tells a change of its mean: 1 / step ---- */

static int monitors; /* that read the whole field */

static double mean_change(sel_state *state) {
    return state->step == 0 ? (double)NAN : 1.0 / (double)state->step;
}

static void count_monitor(const sel_plan *plan, sel_request *request) {
    (void)plan, (void)request;
    monitors++;
}

static void observe(sel_state *state, bool initially) {
    (void)state, (void)initially;
}

static sel_status make_plan(sel_plan *plan, sel_error *error) {
    (void)error;
    assert_true(plan->wants_mean_change && sel_plan_observes(plan));
    return SEL_OK;
}

static void no_facts(const sel_plan *plan, sel_facts *facts) {
    (void)plan, (void)facts;
}

static void no_json(const sel_plan *plan, FILE *to) {
    (void)plan;
    fputs("\"blur\": true", to);
}

static sel_cell_bytes some_bytes(const sel_common *params, int precision) {
    (void)params, (void)precision;
    return (sel_cell_bytes){8, 8, 16};
}

static char directory[DIRECTORY_ROOM];
static sel_report report;

/* A periodic box, until the change is 0.1 or less, that of step 10, or `steps`. */
static void run_blur(int64_t every, double steady, int64_t steps, bool resume) {
    sel_cpu cpu = blur_on_cpu;
    cpu.observe = observe;
    cpu.look.mean_change = mean_change;
    cpu.look.watched = count_monitor;
    sel_solver solver = blur_solver;
    solver.on_cpu = &cpu;
    solver.plan_size = sizeof(sel_plan);
    solver.plan = make_plan;
    solver.facts = no_facts;
    solver.json = no_json;
    solver.bytes = some_bytes;
    const double none = (double)NAN;
    sel_checkpoint_params checkpoint;
    sel_table_presets(&sel_out_checkpoint_table, &checkpoint);
    checkpoint.common = (sel_output_common){.every = 1000, .interval = none, .from_time = none};
    sel_variant output = {&sel_out_checkpoint_table, &checkpoint, {NULL, 0}};
    sel_common params = {.size = {2, {6, 5, 1}},
                         .dx = 1,
                         .dt = 1,
                         .periodic = 3,
                         .reference = {none, none, none},
                         .stop = {steps, none, steady, every, none, 0.1},
                         .output = {1, &output, NULL},
                         .precision = SEL_F32,
                         .backend = SEL_BACKEND_CPU,
                         .threads = 1};
    sel_simulation simulation = {.solver = &solver, .params = &params};
    sel_scenario scenario = {.count = 1, .simulations = &simulation};
    sel_run_options options = {.settings = {.precision = -1, .backend = -1},
                               .directory = directory,
                               .force = !resume,
                               .resume = resume};
    sel_error error = {.status = SEL_OK};
    monitors = 0;
    if (sel_run(&scenario, &simulation, &options, &report, &error)) {
        fail_msg("%s", error.text);
    }
    sel_report_release(&report);
}

static int set_up(void **state) {
    (void)state;
    make_directory(directory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    remove_directory(directory);
    return 0;
}

static void assert_ends(int64_t step, double change, const char *reason) {
    assert_int_equal(report.stopped_by, SEL_BY_MEAN_CHANGE);
    assert_int_equal(report.steps, step);
    assert_true(report.mean_change == change && isnan(report.steady_measure));
    assert_string_equal(report.stop_reason, reason);
}

/* One test later than it is reached, and without a look at the whole field but for the last. */
static void runs_end_when_the_mean_changes_no_more(void **state) {
    (void)state;
    run_blur(1, (double)NAN, SEL_INT_NOT_GIVEN, false);
    assert_ends(11, 0.1, "mean change 0.1 between steps 9 and 10");
    assert_int_equal(monitors, 3); /* of step 0, of the end, and before the checkpoint */
    char path[DIRECTORY_ROOM + 16];
    snprintf(path, sizeof path, "%s/run.json", directory);
    char *json = read_whole(path, NULL);
    assert_non_null(strstr(json, "\"stopped_by\": \"mean_change\""));
    assert_non_null(strstr(json, "\"mean_change\": 0.1,"));
    free(json);
    run_blur(4, (double)NAN, SEL_INT_NOT_GIVEN, false);
    assert_ends(16, 1.0 / 12, "mean change 0.0833 between steps 11 and 12");
}

static void steady_may_end_them_before(void **state) {
    (void)state;
    run_blur(1, 1e9, SEL_INT_NOT_GIVEN, false); /* the first measure is that of step 2 */
    assert_int_equal(report.stopped_by, SEL_BY_STEADY);
    assert_int_equal(report.steps, 3);
    assert_true(report.mean_change == 0.5 && report.steady_measure > 0);
}

static void a_resumed_run_ends_at_the_same_step(void **state) {
    (void)state;
    for (int64_t step = 8; step <= 10; step++) {
        run_blur(1, (double)NAN, step, false);
        assert_int_equal(report.stopped_by, SEL_BY_STEPS);
        assert_true(report.mean_change == 1.0 / (double)step);
        run_blur(1, (double)NAN, SEL_INT_NOT_GIVEN, true);
        assert_ends(11, 0.1, "mean change 0.1 between steps 9 and 10");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_end_when_the_mean_changes_no_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steady_may_end_them_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_resumed_run_ends_at_the_same_step, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
