/* test_script_hooks.c -- hooks in Lua on real runs: when they are called, what they may do. */
#include <sys/syscall.h>
#include <time.h>
#include "tests/unit/run_case.h"

/* The clock of the limits, which tests put forward. */
static time_t seconds_ahead;

int clock_gettime(clockid_t clock, struct timespec *t) {
    int failed = (int)syscall(SYS_clock_gettime, clock, t);
    t->tv_sec += seconds_ahead;
    return failed;
}

/* A periodic box at rest but for what `fields` says. */
#define BOX(before, fields)                                                           \
    "local sel = require 'selenite'\n" before "\nreturn sel.lbm { lattice = 'D2Q9', " \
    "size = { 8, 8 }, tau = 0.8, precision = 'f64', stop = { steps = 10 },\n" fields " }\n"
#define ALL_PERIODIC "periodic = { 'x', 'y' },\n"

static void hooks_are_called_in_order_from_step_zero_and_at_the_end(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r, BOX("local function say(name) return function(run) run:log(name .. run.step .. "
                "'@' .. run.time) end end",
                ALL_PERIODIC "dt = 0.5, hooks = { { at = 'end', call = say 'e' }, { every = 4, "
                             "call = say 'a' }, { every = 8, call = say 'b' } }"));
    assert_string_equal(r.log, "a0@0.0|b0@0.0|a4@2.0|a8@4.0|b8@4.0|e10@5.0");
    assert_int_equal(r.report.stopped_by, SEL_BY_STEPS);
    case_done(&r);
}

static void stop_is_acted_on_after_the_hooks_of_its_step(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r, BOX("", ALL_PERIODIC
                "hooks = { { every = 3, call = function(run) run:log(run.step) if run.step == "
                "6 then run:stop 'enough' end end }, { every = 6, call = function(run) "
                "run:log('second') end } }"));
    assert_string_equal(r.log, "0|second|3|6|second");
    assert_int_equal(r.report.stopped_by, SEL_BY_HOOK);
    assert_string_equal(r.report.stop_reason, "enough");
    assert_int_equal(r.report.steps, 6);
    char *json = read_whole("run/run.json", NULL);
    assert_non_null(strstr(json, "\"stopped_by\": \"hook\",\n  \"stop_reason\": \"enough\""));
    free(json);
    case_done(&r);
}

static void state_is_kept_between_calls_and_results_are_written(void **state) {
    (void)state;
    run_case r;
    case_run_well(&r, BOX("local function count(run) run.state.n = (run.state.n or 0) + 1 end",
                          ALL_PERIODIC
                          "hooks = { { every = 2, call = count }, { every = 5, call = count "
                          "}, { at = 'end', call = function(run) run:result('calls', "
                          "run.state.n) end } }"));
    assert_true(case_result(&r, "calls") == 6 + 3);
    char *json = read_whole("run/run.json", NULL);
    assert_non_null(strstr(json, "\"results\": {\"calls\": 9}"));
    free(json);
    case_done(&r);
}

static void probe_and_reduce_give_a_number_per_component(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r, BOX("", ALL_PERIODIC
                "initial = { velocity = { 0.05, function(x) return 0.01 * x end } }, hooks = { { "
                "every = 20, call = function(run) local u, v = run:probe('velocity', { 3, 4 }) "
                "run:result('u', u) run:result('v', v) run:result('vy', run:probe('velocity_y', "
                "{ 3.5, 4 })) run:result('count', select('#', run:probe('pressure', { 1, 1 }))) "
                "local a, b = run:reduce('velocity', 'mean') run:result('a', a) "
                "run:result('b', b) end } }"));
    assert_true(fabs(case_result(&r, "u") - 0.05) < 1e-12);
    assert_true(fabs(case_result(&r, "v") - 0.03) < 1e-12);
    assert_true(fabs(case_result(&r, "vy") - 0.035) < 1e-12);
    assert_true(case_result(&r, "count") == 1);
    assert_true(fabs(case_result(&r, "a") - 0.05) < 1e-12);
    assert_true(fabs(case_result(&r, "b") - 0.04) < 1e-12);
    case_done(&r);
}

/* Nothing is computed in a solid: 0 would be no answer. */
static void probes_in_solids_are_refused_as_those_of_outputs_are(void **state) {
    (void)state;
    run_case r;
    assert_int_equal(
        case_run(&r, BOX("", ALL_PERIODIC
                         "regions = { { name = 'post', where = sel.shape.box { min = { 2, 2 }, max "
                         "= { 4, 4 } }, law = sel.law.wall {} } }, hooks = { { every = 1, call = "
                         "function(run) run:probe('pressure', { 3, 3 }) end } }")),
        SEL_BAD_SCENARIO);
    assert_non_null(strstr(r.error.text, "run:probe: the point lies in the region 'post', where "
                                         "nothing is computed"));
    case_done(&r);
}

/* An output sets its results whenever it likes. */
static void names_of_the_results_of_outputs_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *owner;
    } cases[] = {{"reduce.pressure", "reduce"}, {"a.b.speed", "a.b"}, {"reduced.x", NULL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run_case r;
        char text[1024], reason[200];
        snprintf(text, sizeof text,
                 BOX("", ALL_PERIODIC
                     "output = { sel.out.reduce { field = 'pressure', op = 'max' }, sel.out.reduce "
                     "{ name = 'a.b', field = 'speed', op = 'max' } }, hooks = { { at = 'end', "
                     "call = function(run) run:result('%s', 7) end } }"),
                 cases[k].name);
        const sel_status status = case_run(&r, text);
        snprintf(reason, sizeof reason,
                 "run:result: '%s' begins as the results of '%s' do; choose another name",
                 cases[k].name, cases[k].owner ? cases[k].owner : "");
        assert_int_equal(status, cases[k].owner ? SEL_BAD_SCENARIO : SEL_OK);
        assert_true(!cases[k].owner || strstr(r.error.text, reason));
        case_done(&r);
    }
}

/* A lid whose speed is a control: at rest until step 5. */
static void set_changes_a_law_from_the_next_step_on(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r,
        BOX("local shape, law = sel.shape, sel.law",
            "controls = { speed = 0 }, regions = { { where = shape.face 'y+', law = law.wall { "
            "velocity = { function(speed) return speed end, 0 } } }, { where = shape.rest, law = "
            "law.wall {} } }, hooks = { { every = 5, call = function(run) run:result('at' .. "
            "run.step, (run:probe('velocity', { 4, 7.5 }))) if run.step == 5 then run:set('speed', "
            "0.1) end end } }"));
    assert_true(case_result(&r, "at0") == 0);
    assert_true(case_result(&r, "at5") == 0);
    assert_true(case_result(&r, "at10") > 0.02);
    char *json = read_whole("run/run.json", NULL);
    assert_non_null(strstr(json, "\"controls\": {\"speed\": 0.1}"));
    free(json);
    case_done(&r);
}

/* The lid drags the fluid along: the fluid holds the lid back. */
static void force_by_the_output_or_by_its_region(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r, BOX("local shape, law = sel.shape, sel.law",
                "regions = { { name = 'lid', where = shape.face 'y+', law = law.wall { velocity "
                "= { 0.1, 0 } } }, { where = shape.rest, law = law.wall {} } }, output = { "
                "sel.out.force { name = 'drag', region = 'lid', every = 5 } }, hooks = { { at = "
                "'end', call = function(run) local x, y, torque = run:force('drag') "
                "run:result('x', x) run:result('torque', torque) run:result('same', "
                "(run:force('lid'))) end } }"));
    assert_true(case_result(&r, "x") < -1e-3);
    assert_true(case_result(&r, "x") == case_result(&r, "same"));
    char *csv = read_whole("run/drag.csv", NULL);
    double x, y, torque;
    assert_int_equal(sscanf(strstr(csv, "\n10,10,"), " 10,10,%lf,%lf,%lf", &x, &y, &torque), 3);
    assert_true(x == case_result(&r, "x") && torque == case_result(&r, "torque"));
    assert_true(torque > 0);
    free(csv);
    case_done(&r);
}

static void assert_fails(const char *body, const char *message) {
    char text[2048];
    run_case r;
    snprintf(
        text, sizeof text,
        BOX("local kept", ALL_PERIODIC "hooks = { { every = 5, call = function(run)\n%s end } }"),
        body);
    assert_int_equal(case_run(&r, text), SEL_BAD_SCENARIO);
    /* The fields that a solver has grow: what follows "(it has" is not compared. */
    char *fields = strstr(r.error.text, " (it has");
    if (fields)
        *fields = '\0';
    assert_string_equal(r.error.text, message);
    case_done(&r);
}

static void mistakes_end_the_run_with_their_line(void **state) {
    (void)state;
    assert_fails("error 'no'", "s.lua:6: no (hooks[1], at step 0)");
    assert_fails("local n = run.stpe",
                 "s.lua:6: run has no 'stpe'; did you mean 'step'? (hooks[1], at step 0)");
    assert_fails("run.step = 1", "s.lua:6: run cannot be changed; keep values in run.state "
                                 "(hooks[1], at step 0)");
    assert_fails("run.probe('velocity', { 1, 1 })",
                 "s.lua:6: run:probe: write run:probe(...) with a colon (hooks[1], at step 0)");
    assert_fails("run:probe('velocty', { 1, 1 })",
                 "s.lua:6: run:probe: sel.lbm has no field 'velocty'; did you mean 'velocity'?");
    assert_fails("run:probe('velocity', { 1, 9 })",
                 "s.lua:6: run:probe: the point lies outside the domain: y = 9, the domain is [0, "
                 "8] x [0, 8] (hooks[1], at step 0)");
    assert_fails("run:probe('velocity', 3)",
                 "s.lua:6: run:probe: the point must be { x, y } or { x, y, z }, got 3 (hooks[1], "
                 "at step 0)");
    assert_fails("run:reduce('velocity', 'avg')",
                 "s.lua:6: run:reduce: op must be one of \"sum\", \"min\", \"max\", \"mean\", "
                 "\"l2\", got \"avg\" (hooks[1], at step 0)");
    assert_fails("run:force 'body'",
                 "s.lua:6: run:force: no out.force is called 'body' or measures a region of that "
                 "name; add out.force { region = \"body\" } to output (hooks[1], at step 0)");
    assert_fails("run:set('speed', 1)", "s.lua:6: run:set: controls has no 'speed' (hooks[1], at "
                                        "step 0)");
    assert_fails("run:result('x', 'y')", "s.lua:6: run:result: the value must be a number, got "
                                         "string \"y\" (hooks[1], at step 0)");
    assert_fails(
        "if kept then kept:log 'x' end kept = run",
        "s.lua:6: run:log: the run can be used only while its hook is called (hooks[1], at "
        "step 5)");
    assert_fails("while true do pcall(error) end",
                 "s.lua:6: a hook took longer than 10 s or 100000000 instructions of its own; "
                 "--trust lifts all limits");
}

/* ---- on a backend that takes its time, or fails ---- */

static sel_status slow_start(sel_state *state, sel_request *request, sel_error *error) {
    seconds_ahead += request->kind == SEL_REDUCE ? 60 : 0;
    return lbm_solver.cpu->start(state, request, error);
}

/* Runs a box whose hook does `body` at step 0, requests started by `start`. */
static sel_status run_started_by(run_case *r,
                                 sel_status (*start)(sel_state *, sel_request *, sel_error *),
                                 const char *body) {
    char text[1024];
    sel_backend backend = *lbm_solver.cpu;
    sel_solver solver = lbm_solver;
    backend.start = start;
    solver.cpu = &backend;
    snprintf(text, sizeof text,
             BOX("", ALL_PERIODIC
                 "backend = 'cpu', hooks = { { every = 20, call = function(run)\n%s end } }"),
             body);
    case_load(r, text);
    r->script.scenario->simulations[0].solver = &solver;
    return case_start(r);
}

static void time_of_the_engine_does_not_count(void **state) {
    (void)state;
    run_case r;
    const char body[] = "for k = 1, 3 do run:reduce('density', 'max') for i = 1, 1000 do end end "
                        "run:log 'done'";
    if (run_started_by(&r, slow_start, body) != SEL_OK)
        fail_msg("%s", r.error.text);
    assert_string_equal(r.log, "done");
    case_done(&r);
}

static sel_status lost_start(sel_state *state, sel_request *request, sel_error *error) {
    return request->kind == SEL_REDUCE ? sel_fail(error, SEL_NO_DEVICE, "the device is lost")
                                       : lbm_solver.cpu->start(state, request, error);
}

static void failures_of_the_device_end_the_run_whatever_the_hook_makes_of_them(void **state) {
    (void)state;
    const char *const bodies[] = {
        "run:reduce('density', 'max')",
        "pcall(run.reduce, run, 'density', 'max') run:log 'caught'",
        "if not pcall(run.reduce, run, 'density', 'max') then error { 'mine' } end",
        "local ask = coroutine.wrap(function() run:reduce('density', 'max') end) pcall(ask)",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        run_case r;
        assert_int_equal(run_started_by(&r, lost_start, bodies[i]), SEL_NO_DEVICE);
        assert_string_equal(r.error.text, "the device is lost");
        assert_string_equal(r.log, i == 1 ? "caught" : "");
        assert_int_equal(r.error.status, SEL_NO_DEVICE);
        case_done(&r);
    }
}

static void tables_of_hooks_are_checked(void **state) {
    (void)state;
    script_refuses(BOX("", ALL_PERIODIC "hooks = { { every = 5, at = 'end', call = print },\n"
                                        "{ call = function(run) end },\n{ every = 0, call = 3 },\n"
                                        "{ every = 1, at = 'start' } }"),
                   "s.lua:5: hooks: give every (steps) or at = \"end\"\n"
                   "s.lua:6: hooks: give every (steps) or at = \"end\"\n"
                   "s.lua:7: hooks[3]: every must be greater than 0, got 0\n"
                   "s.lua:7: hooks[3]: call must be a function(run), got 3\n"
                   "s.lua:8: hooks[4]: at must be one of \"end\", got string \"start\"\n"
                   "s.lua:8: hooks[4]: call is required (function(run))");
}

/* The step, the hook and what it has set; of a law that time alone changes the step. */
static void laws_that_controls_break_name_step_and_hook(void **state) {
    (void)state;
    static const struct {
        const char *h, *says;
    } cases[] = {
        {"function(c) return c end",
         "law.convective: h must not be negative, got -5 (in step 5, run:set gave d = 2 by "
         "hooks[1], c = -5 by hooks[2] at step 4)"},
        {"function(d) return 1 / (2 - d) end", "law.convective.h: function returned inf"},
        {"function(t) return 1 - t end",
         "law.convective: h must not be negative, got -1 (in step 3)"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run_case r;
        char text[2048];
        snprintf(text, sizeof text,
                 "local sel = require 'selenite'\n"
                 "return sel.heat { size = { 6, 4 }, dt = 1, conductivity = 0.1,\n"
                 "  controls = { c = 1, d = 1 }, stop = { steps = 9, steady = 1e-5 },\n"
                 "  regions = { { where = sel.shape.faces,\n"
                 "    law = sel.law.convective { h = %s, ambient = 1 } } },\n"
                 "  hooks = { { every = 4, call = function(run)\n"
                 "    if run.step == 4 then run:set('d', 2) end end },\n"
                 "    { every = 2, call = function(run)\n"
                 "      if run.step == 4 then run:set('c', -5) end end } } }\n",
                 cases[k].h);
        assert_int_equal(case_run(&r, text), SEL_BAD_SCENARIO);
        if (!strstr(r.error.text, cases[k].says) || !strstr(r.error.text, " (in step ")) {
            fail_msg("not in the message: %s\n%s", cases[k].says, r.error.text);
        }
        case_done(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_are_called_in_order_from_step_zero_and_at_the_end),
        cmocka_unit_test(stop_is_acted_on_after_the_hooks_of_its_step),
        cmocka_unit_test(state_is_kept_between_calls_and_results_are_written),
        cmocka_unit_test(probe_and_reduce_give_a_number_per_component),
        cmocka_unit_test(probes_in_solids_are_refused_as_those_of_outputs_are),
        cmocka_unit_test(names_of_the_results_of_outputs_are_refused),
        cmocka_unit_test(set_changes_a_law_from_the_next_step_on),
        cmocka_unit_test(force_by_the_output_or_by_its_region),
        cmocka_unit_test(mistakes_end_the_run_with_their_line),
        cmocka_unit_test(time_of_the_engine_does_not_count),
        cmocka_unit_test(failures_of_the_device_end_the_run_whatever_the_hook_makes_of_them),
        cmocka_unit_test(laws_that_controls_break_name_step_and_hook),
        cmocka_unit_test(tables_of_hooks_are_checked),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
