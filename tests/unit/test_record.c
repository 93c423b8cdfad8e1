/* test_record.c -- what a run tells of itself while it goes on: run.json, run.log, its script. */
#include "tests/unit/run_case.h"

#define CHANNEL(fields)                                                                            \
    "-- a channel\nlocal sel = require 'selenite'\nlocal shape, law, out = sel.shape, sel.law, "   \
    "sel.out\nreturn sel.lbm { lattice = 'D2Q9', size = { 8, 4 }, dx = 0.5, dt = 0.25, nu = 0.2, " \
    "reference = { length = 4, velocity = 0.1 }, regions = {\n"                                    \
    "{ where = shape.face 'x-', law = law.velocity { 0.2, 0 } },\n"                                \
    "{ where = shape.face 'x+', law = law.pressure { 0 } },\n"                                     \
    "{ where = shape.rest, law = law.wall {} } },\n" fields " }\n"

static char *seen; /* run.json when the hook spoke */

static void look(const char *text, void *data) {
    (void)text, (void)data;
    free(seen);
    seen = read_whole("run/run.json", NULL);
}

/* Runs `text`; run.json is refreshed all the time. */
static sel_status run_it(run_case *r, const char *text) {
    static const char *const command[] = {"selenite", "run", "s.lua", "it's=a b", NULL};
    case_load(r, text);
    const sel_run_options options = {.settings = {.precision = -1, .backend = -1, .threads = 1},
                                     .directory = "run",
                                     .command = command,
                                     .force = true,
                                     .refresh_seconds = 1e-9,
                                     .log = look};
    return sel_run(r->script.scenario, &r->script.scenario->simulations[0], &options, &r->report,
                   &r->error);
}

static void has(const char *text, const char *part) {
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text ? text : "(nothing)");
}

static void run_json_tells_what_was_run(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(run_it(&r, CHANNEL("stop = { steps = 20 }")), SEL_OK);
    char *json = read_whole("run/run.json", NULL), *copy = read_whole("run/run.lua", NULL);
    has(json, "\"command\": \"selenite run s.lua 'it'\\\\''s=a b'\"");
    has(json, "\"script\": \"run.lua\"");
    has(json, "\"nu\": 0.2, \"tau\": 1.1, \"reynolds\": 2, \"mach\": 0.1732050807568877");
    has(json, "\"reference\": {\"length\": 4, \"velocity\": 0.1, \"area\": null}");
    has(json, "\"host\": \"");
    has(copy, "-- a channel");
    free(json);
    free(copy);
    case_done(&r);
}

static void run_json_tells_how_far_the_run_is(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(run_it(&r, CHANNEL("stop = { steps = 4000 }, output = { out.vtk { fields = "
                                        "'pressure', every = 1000 } }, hooks = { { every = 2000, "
                                        "call = function(run) run:log 'now' end } }")),
                     SEL_OK);
    has(seen, "\"stopped_by\": \"running\"");
    has(seen, "\"ended\": null");
    assert_null(strstr(seen, "\"steps\": 0,"));
    assert_null(strstr(seen, "\"started\": null"));
    has(seen, "\"vtk/vtk_00001000.vti\"");
    char *json = read_whole("run/run.json", NULL);
    has(json, "\"stopped_by\": \"steps\"");
    has(json, "\"steps\": 4000,");
    has(json, "\"seconds_left\": null");
    assert_null(strstr(json, "\"ended\": null"));
    assert_int_not_equal(access("run/run.files", F_OK), 0);
    free(json);
    case_done(&r);
}

/* sel_run_options.progress: counts the reports that say what is left. */
static void expect_time_of_steps(const sel_report *report, void *data) {
    const double steps = (double)report->steps, seconds = report->wall_seconds;
    if (report->steps > 0) {
        const double left = (seconds - report->setup_seconds) / steps * (100 - steps);
        if (!(fabs(report->seconds_left - left) <= 1e-9 * seconds))
            fail_msg("%g s are left, not %g", report->seconds_left, left);
        ++*(int *)data;
    }
}

static void steps_to_come_take_as_long_as_those_before_without_the_set_up(void **state) {
    (void)state;
    run_case r;
    int reports = 0;
    case_load(&r, CHANNEL("stop = { steps = 100 }, output = { out.probe { field = 'speed', at = "
                          "{ { 1, 1 } }, every = 10 } }"));
    const sel_run_options options = {.settings = {.precision = -1, .backend = -1, .threads = 1},
                                     .directory = "run",
                                     .force = true,
                                     .progress = expect_time_of_steps,
                                     .data = &reports};
    assert_int_equal(sel_run(r.script.scenario, &r.script.scenario->simulations[0], &options,
                             &r.report, &r.error),
                     SEL_OK);
    assert_true(reports > 5);
    case_done(&r);
}

static void the_log_has_progress_and_what_hooks_say_in_plain_text(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(run_it(&r, CHANNEL("stop = { steps = 50 }, hooks = { { at = 'end', call = "
                                        "function(run) run:log '\\27[2Jdone\\nand out' end } }")),
                     SEL_OK);
    char *log = read_whole("run/run.log", NULL);
    has(log, ": s.lua\n");
    has(log, "Z  running on cpu: ");
    has(log, "Z  step ");
    has(log, "Z  ?[2Jdone\n");
    has(log, "Z  and out\n");
    has(log, "Z  stop.steps reached; 50 steps, ");
    free(log);
    case_done(&r);
}

static void an_error_is_in_the_log_and_in_run_json(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(run_it(&r, CHANNEL("stop = { steps = 50 }, hooks = { { every = 10, call = "
                                        "function(run) if run.step > 0 then error 'enough' end "
                                        "end } }")),
                     SEL_BAD_SCENARIO);
    char *log = read_whole("run/run.log", NULL), *json = read_whole("run/run.json", NULL);
    has(log, "enough (hooks[1], at step 10)");
    has(json, "\"stopped_by\": \"error\"");
    assert_null(strstr(json, "\"ended\": null"));
    free(log);
    free(json);
    case_done(&r);
}

static void the_copy_of_the_script_is_the_script(void **state) {
    (void)state;
    run_case r;
    const char *text = "#!/usr/bin/selenite run\n" CHANNEL("stop = { steps = 1 }");
    assert_int_equal(run_it(&r, text), SEL_OK);
    char *copy = read_whole("run/run.lua", NULL);
    assert_string_equal(copy, text);
    free(copy);
    case_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_json_tells_what_was_run),
        cmocka_unit_test(run_json_tells_how_far_the_run_is),
        cmocka_unit_test(steps_to_come_take_as_long_as_those_before_without_the_set_up),
        cmocka_unit_test(the_log_has_progress_and_what_hooks_say_in_plain_text),
        cmocka_unit_test(an_error_is_in_the_log_and_in_run_json),
        cmocka_unit_test(the_copy_of_the_script_is_the_script),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
