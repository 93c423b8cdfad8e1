/* test_threads.c -- a run computes with the threads that it is told, in all of its parts. */
#include <dirent.h>
#include <omp.h>
#include "tests/unit/run_case.h"

/* Regions to paint, a lid and an acceleration in place and time: each alone is worth threads. */
static const char scenario[] =
    "local sel = require 'selenite'\n"
    "local shape, law = sel.shape, sel.law\n"
    "return sel.lbm { lattice = 'D2Q9', size = { 400, 400 }, tau = 0.8, backend = 'cpu',\n"
    "stop = { steps = 2 }, initial = { velocity = { function(x, y) return 0.01 * math.sin(x * y) "
    "end, 0 } },\n"
    "acceleration = function(x, y, t) return 1e-6 * math.sin(x * y + t) * math.cos(x - t), "
    "1e-7 * math.tanh(x - y + t) end,\n"
    "regions = { { where = shape.face 'y+', law = law.wall { velocity = { 0.05, 0 } } }, { where "
    "= shape.rest, law = law.wall {} }, { where = shape.ball { centre = { 200, 200 }, radius = 90 "
    "}, law = law.wall {} } },\n"
    "hooks = { { at = 'end', call = function(run) run:log 'end' end } } }\n";

static void count_threads(const char *text, void *count) {
    (void)text;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        *(int *)count += task->d_name[0] != '.';
    closedir(tasks);
}

static int threads_of_run(int64_t told) {
    script_case script = {.scenario = NULL};
    sel_report report;
    sel_error error = {.status = SEL_OK};
    int count = 0;
    sel_run_options options = {.settings = {.precision = -1, .backend = -1, .threads = told},
                               .directory = "run",
                               .force = true,
                               .log = count_threads,
                               .data = &count};
    script_accepts(&script, scenario);
    if (sel_run(script.scenario, script.scenario->simulations, &options, &report, &error))
        fail_msg("%s", error.text);
    sel_report_release(&report);
    script_done(&script);
    return count;
}

/* The pool of threads keeps those of earlier tests: the fewest come first. */
static void a_run_has_the_threads_that_it_is_told_and_one_that_writes(void **state) {
    (void)state;
    const int before = omp_get_max_threads();
    assert_int_equal(threads_of_run(1), 1 + 1);
    assert_int_equal(threads_of_run(3), 3 + 1);
    assert_int_equal(omp_get_max_threads(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_the_threads_that_it_is_told_and_one_that_writes),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
