/* test_script_params.c -- sel.params, the command line's assignments, sel.load and require. */
#include "script_case.h"

static const char script[] =
    "local sel = require 'selenite'\n"
    "local p = sel.params {\n"
    "  zeta  = { 64, 'cells', integer = true, min = 4, max = 128 },\n"
    "  alpha = 0.5,\n"
    "  mode  = { 'slow', 'how', choices = { 'slow', 'fast' } },\n"
    "  full  = { false, 'all of it' },\n"
    "  input = { 'data/in.csv', 'a file', file = true },\n"
    "}\n"
    "return sel.lbm { lattice = 'D2Q9', size = { p.zeta, 4 }, tau = p.alpha + 1,\n"
    "  name = p.mode .. tostring(p.full) .. p.input, stop = { steps = 1 } }\n";

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assign(script_case *c, const char *const *assignments) {
    *c = (script_case){.options = {.assignments = assignments}};
    script_load(c, script);
}

static void refuses(const char *assignment, const char *message) {
    const char *const given[] = {assignment, NULL};
    script_case c;
    assign(&c, given);
    assert_string_equal(c.error.text, message);
    assert_int_equal(c.status, SEL_BAD_USAGE);
}

static void defaults_hold_without_assignments(void **state) {
    (void)state;
    script_case c;
    assign(&c, NULL);
    assert_int_equal(c.status, SEL_OK);
    assert_int_equal(script_lbm(&c)->common.size.v[0], 64);
    assert_true(script_lbm(&c)->tau == 1.5);
    assert_string_equal(script_lbm(&c)->common.name, "slowfalsedata/in.csv");
    script_done(&c);
}

/* The value of the series that deep/s.lua reads from the file of its parameter. */
static double series_of(const char *preset, const char *assignment) {
    const char *const given[] = {assignment, NULL};
    script_case c = {.options = {.assignments = given}};
    char text[1024];
    snprintf(text, sizeof text,
             "local sel = require 'selenite'\n"
             "local p = sel.params { input = { '%s', file = true } }\n"
             "return sel.lbm { lattice = 'D2Q9', size = { 4, 4 }, stop = { steps = 1 },\n"
             "  tau = sel.series(p.input)(0) }\n",
             preset);
    write_file("deep/s.lua", text);
    c.status = sel_script_load("deep/s.lua", &c.options, &c.scenario, &c.error);
    if (c.status != SEL_OK)
        fail_msg("%s", c.error.text);
    double tau = script_lbm(&c)->tau;
    script_done(&c);
    return tau;
}

static void files_are_beside_the_script_by_default_and_where_one_is_when_typed(void **state) {
    (void)state;
    char preset[512], assignment[512], here[400];
    assert_int_equal(mkdir("deep", 0700), 0);
    write_file("deep/in.csv", "t,value\n0,1\n1,1\n");
    write_file("in.csv", "t,value\n0,2\n1,2\n");
    assert_non_null(getcwd(here, sizeof here));
    assert_true(series_of("in.csv", NULL) == 1);
    assert_true(series_of("in.csv", "input=in.csv") == 2);
    assert_true(series_of("in.csv", "input=deep/in.csv") == 1);
    assert_true(series_of("../in.csv", NULL) == 2);
    snprintf(preset, sizeof preset, "%s/in.csv", here);
    assert_true(series_of(preset, NULL) == 2);
    snprintf(assignment, sizeof assignment, "input=%s/deep/in.csv", here);
    assert_true(series_of("none.csv", assignment) == 1);
}

static void parameters_are_listed_in_the_order_of_the_script(void **state) {
    (void)state;
    static const char *const names[] = {"zeta", "alpha", "mode", "full", "input"};
    static const char *const texts[] = {"32", "0.25", "fast", "true", "here.csv"};
    static const char *const presets[] = {"64", "0.5", "slow", "false", "data/in.csv"};
    static const char *const given[] = {"mode=fast",  "zeta=32.0",      "full=true",
                                        "alpha=0.25", "input=here.csv", NULL};
    static const int kinds[] = {SEL_PARAMETER_NUMBER, SEL_PARAMETER_NUMBER, SEL_PARAMETER_STRING,
                                SEL_PARAMETER_BOOL, SEL_PARAMETER_STRING};
    script_case c;
    assign(&c, given);
    assert_int_equal(c.status, SEL_OK);
    assert_int_equal(c.scenario->parameter_count, 5);
    for (int i = 0; i < 5; i++) {
        const sel_parameter *p = &c.scenario->parameters[i];
        assert_string_equal(p->name, names[i]);
        assert_string_equal(p->text, texts[i]);
        assert_string_equal(p->preset, presets[i]);
        assert_int_equal(p->kind, kinds[i]);
    }
    assert_string_equal(c.scenario->parameters[0].help, "cells");
    assert_string_equal(script_lbm(&c)->common.name, "fasttruehere.csv");
    script_done(&c);
}

static void bad_assignments_are_bad_usage(void **state) {
    (void)state;
    refuses("zetta=1",
            "unknown parameter 'zetta'; did you mean 'zeta'? The scenario has zeta, alpha, "
            "mode, full, input");
    refuses("q=1", "unknown parameter 'q'; the scenario has zeta, alpha, mode, full, input");
    refuses("zeta=abc", "parameter zeta must be a number, got 'abc'");
    refuses("zeta=8.5", "parameter zeta must be a whole number, got '8.5'");
    refuses("zeta=1e999", "parameter zeta must be a number, got '1e999'");
    refuses("zeta=nan", "parameter zeta must be a number, got 'nan'");
    refuses("zeta=", "parameter zeta must be a number, got ''");
    refuses("zeta=2", "parameter zeta must be at least 4, got '2'");
    refuses("zeta=129", "parameter zeta must be at most 128, got '129'");
    refuses("mode=quick", "parameter mode must be one of slow, fast, got 'quick'");
    refuses("full=1", "parameter full must be true or false, got '1'");
    refuses("=1", "'=1' is not of the form name=value");
    refuses("zeta", "'zeta' is not of the form name=value");
}

static void all_bad_assignments_are_reported(void **state) {
    (void)state;
    static const char *const given[] = {"zeta=x", "alpha=y", NULL};
    script_case c;
    assign(&c, given);
    assert_string_equal(c.error.text, "parameter zeta must be a number, got 'x'\n"
                                      "parameter alpha must be a number, got 'y'");
}

static void assignments_need_parameters(void **state) {
    (void)state;
    static const char *const given[] = {"a=1", NULL};
    script_case c = {.options = {.assignments = given}};
    script_load(&c, LBM("dx = 1"));
    assert_int_equal(c.status, SEL_BAD_USAGE);
    assert_string_equal(c.error.text,
                        "s.lua declares no parameters with sel.params; it cannot take 'a=1'");
}

static void parameters_only_stops_behind_the_declaration(void **state) {
    (void)state;
    script_case c = {.options = {.parameters_only = true}};
    script_accepts(&c, "local sel = require 'selenite'\n"
                       "pcall(function() sel.params { a = 1 } end)\nerror 'not reached'\n");
    assert_int_equal(c.scenario->parameter_count, 1);
    assert_int_equal(c.scenario->count, 0);
    script_done(&c);
}

static void wrong_declarations_are_reported_together(void **state) {
    (void)state;
    script_refuses(
        "local sel = require 'selenite'\n"
        "local p = sel.params {\n"
        "  a = {},\n"
        "  b = { 5, 'help', max = 4 },\n"
        "  c = { 5, 'help', mex = 4 },\n"
        "  d = { 'x', 'help', min = 1 },\n"
        "  e = { 1, 2 },\n"
        "  f = { 1, 'help', integer = 1 },\n"
        "  g = { 0/0 },\n"
        "}\n",
        "s.lua:3: sel.params: a needs a default that is a number, a string or a boolean, got "
        "nil\n"
        "s.lua:4: sel.params: b: the default must be at most 4, got 5\n"
        "s.lua:5: sel.params: c: unknown field 'mex'; did you mean 'max'?\n"
        "s.lua:6: sel.params: d: min must be a number beside a numeric default, got 1\n"
        "s.lua:7: sel.params: e: the help must be a string, got 2\n"
        "s.lua:8: sel.params: f: integer must be true or false, beside a default that is a "
        "number\n"
        "s.lua:9: sel.params: g needs a default that is a number, a string or a boolean, got "
        "nan");
    script_refuses("local sel = require 'selenite'\nsel.params {}\nsel.params {}\n",
                   "s.lua:3: sel.params was called before; declare all parameters in one call");
    script_refuses(
        "local sel = require 'selenite'\nlocal p = sel.params { 5 }\n",
        "s.lua:2: sel.params: every parameter needs a name: NAME = { default, \"help\" }");
}

static void parameters_are_read_only_and_closed(void **state) {
    (void)state;
    script_refuses("local sel = require 'selenite'\nlocal p = sel.params { Re = 100, H = 3 }\n"
                   "return p.Rey\n",
                   "s.lua:3: sel.params has no 'Rey'; did you mean 'Re'? It has H, Re");
    script_refuses("local sel = require 'selenite'\nlocal p = sel.params { Re = 100 }\np.Re = 5\n",
                   "s.lua:3: sel.params cannot be changed");
    script_refuses("local sel = require 'selenite'\nlocal p = sel.params { Re = 100 }\n"
                   "rawset(p, 'Re', 5)\n",
                   "s.lua:3: this table cannot be changed");
    script_refuses("local sel = require 'selenite'\nlocal p = sel.params { Re = 100 }\n"
                   "for k, v in pairs(p) do error(k .. v, 0) end\n",
                   "Re100");
}

static void loaded_scenarios_are_editable(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    write_file("other.lua", script);
    script_accepts(&c, "local sel = require 'selenite'\n"
                       "local s = sel.load('other.lua', { zeta = 16, full = true })\n"
                       "s.size[2] = 7\ns.tau = 0.9\ns.stop.steps = 5\nreturn s\n");
    assert_int_equal(script_lbm(&c)->common.size.v[0], 16);
    assert_int_equal(script_lbm(&c)->common.size.v[1], 7);
    assert_true(script_lbm(&c)->tau == 0.9);
    assert_int_equal(script_lbm(&c)->common.stop.steps, 5);
    assert_int_equal(c.scenario->parameter_count, 0);
    assert_string_equal(script_lbm(&c)->common.at.file, "other.lua");
    assert_int_equal(script_lbm(&c)->common.at.line, 9);
    script_done(&c);
}

static void mistakes_in_loaded_scenarios_point_into_their_file(void **state) {
    (void)state;
    write_file("other.lua", script);
    script_refuses(
        "local sel = require 'selenite'\n"
        "local s = sel.load 'other.lua'\ns.stop.stps = 5\ns.tau = 'x'\nreturn s\n",
        "other.lua:9: sel.lbm: tau must be a number, got string \"x\" (loaded at s.lua:2)\n"
        "other.lua:10: stop: unknown field 'stps'; did you mean 'steps'? (loaded at "
        "s.lua:2)");
    script_refuses(
        "local sel = require 'selenite'\n"
        "return sel.load('other.lua', { zetta = 1, alpha = 'x', mode = 'no' })\n",
        "s.lua:2: sel.load: parameter alpha must be a number, got string \"x\"\n"
        "s.lua:2: sel.load: parameter mode must be one of slow, fast, got string \"no\"\n"
        "s.lua:2: sel.load: unknown parameter 'zetta'; did you mean 'zeta'? The scenario has "
        "zeta, alpha, mode, full, input");
    write_file("other.lua", "return nil + 1\n");
    script_refuses("local sel = require 'selenite'\nreturn sel.load 'other.lua'\n",
                   "other.lua:1: attempt to perform arithmetic on a nil value");
    write_file("other.lua", "return 5\n");
    script_refuses("local sel = require 'selenite'\nreturn sel.load 'other.lua'\n",
                   "s.lua:2: sel.load: other.lua returned no simulation but a number");
    write_file("other.lua", "return require('selenite').load 'other.lua'\n");
    script_refuses("local sel = require 'selenite'\nreturn sel.load 'other.lua'\n",
                   "other.lua:1: sel.load: scenarios load each other more than 16 deep");
}

/* The system would take the path for what stands before the byte. */
static void paths_hold_no_zero_byte(void **state) {
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"return sel.load 'other.lua\\0x'",
         "sel.load: the path must not hold a zero byte, got string \"other.lua\\0x\""},
        {"return require 'other\\0x'",
         "require: the name must not hold a zero byte, got string \"other\\0x\""},
        {"return sel.series 's.csv\\0x'",
         "sel.series: file must not hold a zero byte, got string \"s.csv\\0x\""},
        {"return sel.raster { file = 'r.asc\\0x' }",
         "sel.raster: file must not hold a zero byte, got string \"r.asc\\0x\""},
        {"return sel.state { file = 's.sel\\0x' }",
         "sel.state: file must not hold a zero byte, got string \"s.sel\\0x\""},
        {"return sel.lbm { name = 'a\\0x' }",
         "sel.lbm: name must not hold a zero byte, got string \"a\\0x\""},
        {"return sel.lbm { output = { sel.out.vtk { name = 'a\\0x' } } }",
         "out.vtk: name must not hold a zero byte, got string \"a\\0x\""},
        {"return sel.lbm { regions = { { where = sel.shape.image { file = 'a.png\\0x' } } } }",
         "shape.image: file must not hold a zero byte, got string \"a.png\\0x\""},
        {"local p = sel.params { file = { 'a.lua\\0x', 'f', file = true } }; return "
         "sel.load(p.file)",
         "sel.load: the path must not hold a zero byte, got string \"a.lua\\0x\""},
    };
    (void)state;
    write_file("other.lua", "return {}\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        script_case c = {.scenario = NULL};
        char text[256], message[256];
        snprintf(text, sizeof text, "local sel = require 'selenite'\n%s\n", wrong[i].text);
        snprintf(message, sizeof message, "s.lua:2: %s", wrong[i].message);
        script_load(&c, text);
        if (!strstr(c.error.text, message)) {
            fail_msg("%s: %s", wrong[i].text, c.error.text);
        }
    }
}

static void missing_files_are_bad_files(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_load(&c, "local sel = require 'selenite'\nreturn sel.load 'none.lua'\n");
    assert_int_equal(c.status, SEL_BAD_FILE);
    assert_string_equal(c.error.text,
                        "s.lua:2: sel.load: none.lua: cannot be opened: No such file or directory");
    memset(&c.error, 0, sizeof c.error);
    assert_int_equal(sel_script_load("none.lua", &c.options, &c.scenario, &c.error), SEL_BAD_FILE);
    assert_string_equal(c.error.text, "none.lua: cannot be opened: No such file or directory");
    memset(&c.error, 0, sizeof c.error);
    assert_int_equal(sel_script_load("/dev/zero", &c.options, &c.scenario, &c.error), SEL_BAD_FILE);
    memset(&c.error, 0, sizeof c.error);
    assert_int_equal(sel_script_load("/", &c.options, &c.scenario, &c.error), SEL_BAD_FILE);
    assert_string_equal(c.error.text, "/: is not a regular file but a folder");
}

static void modules_come_from_beside_the_scenario(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    write_file("part.lua", "local name = ...\nreturn { name = name, token = {} }\n");
    script_accepts(&c,
                   "local part = require 'part'\nassert(require('part').token == part.token)\n" LBM(
                       "name = require('part').name"));
    assert_string_equal(script_lbm(&c)->common.name, "part");
    script_done(&c);
    static const char *const refused[] = {"../part", "./part", "part.x", "none", "", "/etc/x"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[128], message[256];
        snprintf(text, sizeof text, "require '%s'\n", refused[i]);
        snprintf(message, sizeof message,
                 "s.lua:1: module '%s' not found: require takes \"selenite\" and the names of .lua "
                 "files beside the scenario",
                 refused[i]);
        script_refuses(text, message);
    }
    write_file("part.lua", "return require 'part'\n");
    script_refuses("require 'part'\n", "part.lua:1: module 'part' requires itself");
    write_file("part.lua", "return +\n");
    script_refuses("require 'part'\n", "part.lua:1: unexpected symbol near '+'");
}

/* What parabola() of mylib.lua gives, used inside a law. The working directory has another mylib.
 */
static void modules_are_beside_the_scenario_wherever_one_is(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    mkdir("folder", 0777);
    write_file("mylib.lua", "error 'this one is not beside the scenario'\n");
    write_file("folder/mylib.lua",
               "local M = {}\n"
               "function M.parabola(y, H) return 4 * y / H * (1 - y / H) end\nreturn M\n");
    write_file("folder/channel.lua", "local mylib = require \"mylib\"\n" LBM(
                                         "name = tostring(mylib.parabola(2, 8)), acceleration = {\n"
                                         "function(y) return mylib.parabola(y, 8) end, 0 }"));
    if (sel_script_load("folder/channel.lua", &c.options, &c.scenario, &c.error) != SEL_OK) {
        fail_msg("%s", c.error.text);
    }
    assert_string_equal(script_lbm(&c)->common.name, "0.75");
    script_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_hold_without_assignments),
        cmocka_unit_test(files_are_beside_the_script_by_default_and_where_one_is_when_typed),
        cmocka_unit_test(parameters_are_listed_in_the_order_of_the_script),
        cmocka_unit_test(bad_assignments_are_bad_usage),
        cmocka_unit_test(all_bad_assignments_are_reported),
        cmocka_unit_test(assignments_need_parameters),
        cmocka_unit_test(parameters_only_stops_behind_the_declaration),
        cmocka_unit_test(wrong_declarations_are_reported_together),
        cmocka_unit_test(parameters_are_read_only_and_closed),
        cmocka_unit_test(loaded_scenarios_are_editable),
        cmocka_unit_test(mistakes_in_loaded_scenarios_point_into_their_file),
        cmocka_unit_test(missing_files_are_bad_files),
        cmocka_unit_test(paths_hold_no_zero_byte),
        cmocka_unit_test(modules_come_from_beside_the_scenario),
        cmocka_unit_test(modules_are_beside_the_scenario_wherever_one_is),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
