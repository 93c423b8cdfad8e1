/* test_script_fill.c -- tables of a script into structs, and the messages for what is wrong. */
#include "script_case.h"
#include "engine/scene/shape.h"

static void fields_reach_their_structs(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(
        &c, "local sel = require 'selenite'\n"
            "local shape, law, out = sel.shape, sel.law, sel.out\n"
            "return sel.lbm {\n"
            "  name = 'case', lattice = 'D2Q9', size = { 64.0, 32 }, nu = 1/8,\n"
            "  periodic = { 'y' }, precision = 'f64', threads = 2,\n"
            "  controls = { gain = 2, drag = 0.5 },\n"
            "  regions = {\n"
            "    { name = 'in', where = shape.face 'x-', law = law.velocity { 0.1, 0 } },\n"
            "    { where = shape.face 'x+', law = law.pressure { 0.25 } },\n"
            "    { where = shape.box { min = {1, 2}, max = {3, 4} }, law = law.wall {} } },\n"
            "  stop = { steps = 100, steady = 1e-7 },\n"
            "  output = { out.vtk { fields = 'velocity', every = 10 },\n"
            "             out.profile { field = { 'pressure' }, from = {0, 0}, to = {1, 1} } },\n"
            "}\n");
    const lbm_params *p = script_lbm(&c);
    assert_string_equal(p->common.name, "case");
    assert_int_equal(p->common.size.n, 2);
    assert_int_equal(p->common.size.v[0], 64);
    assert_true(p->nu == 0.125 && p->common.dx == 1 && isnan(p->tau));
    assert_int_equal(p->common.periodic, 2);
    assert_int_equal(p->common.precision, SEL_F64);
    assert_int_equal(p->common.threads, 2);
    assert_int_equal(p->common.controls.n, 2);
    assert_string_equal(p->common.controls.v[0].name, "gain");
    assert_true(p->common.controls.v[1].value == 0.5);
    assert_int_equal(p->common.stop.steps, 100);
    assert_true(p->common.stop.steady == 1e-7 && isnan(p->common.stop.time));
    assert_int_equal(p->common.at.line, 3);
    assert_int_equal(p->common.regions.n, 3);

    const sel_region *regions = p->common.regions.v;
    const lbm_law_velocity *inlet = regions[0].law.data;
    assert_string_equal(regions[0].name, "in");
    assert_int_equal(regions[0].at.line, 8);
    assert_int_equal(regions[0].where->kind, SEL_SHAPE_FACE);
    assert_int_equal(regions[0].where->face, SEL_X_MIN);
    assert_ptr_equal(regions[0].law.table, &lbm_velocity_table);
    assert_int_equal(inlet->velocity.components, 2);
    assert_true(inlet->velocity.part[0].constant == 0.1);
    const lbm_law_pressure *outlet = regions[1].law.data;
    assert_true(outlet->pressure.components == 1 && outlet->pressure.part[0].constant == 0.25);
    const sel_shape_box *box = regions[2].where->data;
    assert_int_equal(regions[2].where->kind, SEL_SHAPE_BOX);
    assert_true(box->min.n == 2 && box->min.v[1] == 2 && box->max.v[0] == 3);

    const sel_variant *outputs = p->common.output.v;
    assert_int_equal(p->common.output.n, 2);
    assert_string_equal(outputs[0].table->name, "out.vtk");
    assert_int_equal(outputs[1].where.line, 13);
    const sel_simulation *simulation = &c.scenario->simulations[0];
    assert_int_equal(sel_simulation_where(simulation, "stop.steady").line, 11);
    assert_int_equal(sel_simulation_where(simulation, "nu").line, 4);
    assert_int_equal(sel_simulation_where(simulation, "tau").line, 3);
    script_done(&c);
}

static void all_mistakes_are_reported_at_their_lines(void **state) {
    (void)state;
    script_refuses(
        "local sel = require 'selenite'\n"
        "local shape, law, out = sel.shape, sel.law, sel.out\n"
        "return sel.lbm {\n"
        "  lattice = 'D2Q8',\n"
        "  size = { 8, 8.5 },\n"
        "  nuu = 0.1,\n"
        "  tau = 'abc',\n"
        "  periodic = { 'x', 'q' },\n"
        "  regions = {\n"
        "    { where = shape.faces, lwa = law.wall {} },\n"
        "    { where = 7, law = law.wall {\n"
        "        velocity = { 0, 0/0 } } },\n"
        "  },\n"
        "  stop = { steps = 1.5,\n"
        "           stedy = 1 },\n"
        "  output = { out.vtk {}, law.wall {}, nil, 3 },\n"
        "}\n",
        "s.lua:4: sel.lbm: lattice must be one of \"D2Q9\", \"D3Q19\", got string \"D2Q8\"\n"
        "s.lua:5: sel.lbm: size[2] must be a whole number, got 8.5; math.floor(... + 0.5) rounds "
        "it\n"
        "s.lua:6: sel.lbm: unknown field 'nuu'; did you mean 'nu'?\n"
        "s.lua:7: sel.lbm: tau must be a number, got string \"abc\"\n"
        "s.lua:8: sel.lbm: periodic[2] must be one of \"x\", \"y\", \"z\", got string \"q\"\n"
        "s.lua:10: regions[1]: unknown field 'lwa'; did you mean 'law'?\n"
        "s.lua:10: regions[1]: law is required (law.*)\n"
        "s.lua:11: regions[2]: where must be a shape, as shape.box { ... }, got 7\n"
        "s.lua:12: law.wall: velocity[2] must be a finite number, got nan\n"
        "s.lua:14: stop: steps must be a whole number, got 1.5; math.floor(... + 0.5) rounds it\n"
        "s.lua:15: stop: unknown field 'stedy'; did you mean 'steady'?\n"
        "s.lua:16: out.vtk: fields is required (name or list of names)\n"
        "s.lua:16: sel.lbm: output[2] must be made by out.NAME { ... }, got law.wall\n"
        "s.lua:16: sel.lbm: output[3] must be made by out.NAME { ... }, got nil\n"
        "s.lua:16: sel.lbm: output[4] must be made by out.NAME { ... }, got 3");
}

/* 40 / 0.1 is whole, 0.6 / 0.2 = 2.9999999999999996 and 4.1 / 0.01 = 409.99999999999994 are not. */
static void round_off_makes_no_part_of_a_cell(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, "return require 'selenite'.lbm { lattice = 'D2Q9', tau = 0.8,\n"
                       "  size = { 4.1 / 0.01, 0.6 / 0.2 }, stop = { steps = 0.3 / 0.1 } }\n");
    assert_int_equal(script_lbm(&c)->common.size.v[0], 410);
    assert_int_equal(script_lbm(&c)->common.size.v[1], 3);
    assert_int_equal(script_lbm(&c)->common.stop.steps, 3);
    script_done(&c);
    script_refuses("return require 'selenite'.lbm { lattice = 'D2Q9', tau = 0.8,\n"
                   "  size = { 400.00001, 3 }, stop = { steps = 1 } }\n",
                   "s.lua:2: sel.lbm: size[1] must be a whole number, got 400.00001; "
                   "math.floor(... + 0.5) rounds it");
}

static void checks_of_tables_run_after_filling(void **state) {
    (void)state;
    script_refuses(LBM("nu = 0.1"), "s.lua:3: sel.lbm: give only one of nu or tau");
}

static void positional_values_are_checked(void **state) {
    (void)state;
    script_refuses(LBM("regions = { { where = shape.faces, law = law.velocity { 1, 2, 3 } } }"),
                   "s.lua:4: law.velocity: velocity must have 2 components, not 3");
    script_refuses(LBM("regions = { { where = shape.faces, law = law.velocity {} } }"),
                   "s.lua:4: law.velocity: velocity is required (vector of numbers, "
                   "functions or series, or one function)");
    script_refuses(LBM("regions = { { where = shape.faces, law = law.pressure { 1, 2 } } }"),
                   "s.lua:4: law.pressure: takes 1 value, got 2");
    script_refuses(
        LBM("regions = { { where = shape.faces, law = law.pressure { 1, pressure = 2 } } }"),
        "s.lua:4: law.pressure: pressure is given twice, by name and without");
    script_refuses(LBM("regions = { { where = shape.faces, law = law.wall { 1 } } }"),
                   "s.lua:4: law.wall: takes no value without a name, got 1");
    script_refuses(LBM("reference = { 5 }"),
                   "s.lua:4: reference: takes no value without a name, got 5");
    script_refuses(LBM("[true] = 5"), "s.lua:3: sel.lbm: the key true is no field");
}

static void laws_of_another_solver_are_refused(void **state) {
    (void)state;
    script_refuses(LBM("regions = { { where = shape.faces, law = law.open {} } }"),
                   "s.lua:4: sel.lbm has no law 'open'; it has wall, velocity, pressure, outflow, "
                   "far_field, slip");
}

static void shapes_keep_their_meaning_when_chains_are_balanced(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(
        &c,
        "local sel = require 'selenite'\n"
        "local shape, law = sel.shape, sel.law\n"
        "local dots = shape.box { min = {0, 0}, max = {1, 1} }\n"
        "for i = 1, 3000 do dots = dots + shape.box { min = {i, 0}, max = {i + 1, 1} } end\n"
        "local row = shape.box { min = {0, 0}, max = {3001, 1} }\n"
        "for i = 0, 2999 do row = row - shape.box { min = {i, 0}, max = {i + 1, 1} } end\n"
        "return sel.lbm { lattice = 'D2Q9', size = {3001, 1}, tau = 1, stop = {steps = 1},\n"
        "  regions = { { where = dots, law = law.wall {} }, { where = row, law = law.wall {} },\n"
        "              { where = dots * row, law = law.wall {} } } }\n");
    const sel_region *regions = script_lbm(&c)->common.regions.v;
    sel_grid grid = {.dims = 2, .n = {3001, 1, 1}, .dx = {1, 1, 1}};
    static double x[3001], y[3001];
    static uint8_t in[3][3001];
    for (int i = 0; i < 3001; i++) {
        x[i] = i + 0.5;
        y[i] = 0.5;
    }
    sel_places at = {.n = 3001, .x = x, .y = y};
    for (int r = 0; r < 3; r++)
        assert_int_equal(sel_shape_test(regions[r].where, &grid, -1, &at, NULL, in[r], NULL),
                         SEL_OK);
    for (int i = 0; i < 3001; i++) {
        assert_int_equal(in[0][i], 1);
        assert_int_equal(in[1][i], i == 3000);
        assert_int_equal(in[2][i], i == 3000);
    }
    assert_ptr_equal(regions[2].where->a, regions[0].where);
    script_done(&c);
}

static void shapes_that_never_end_are_refused(void **state) {
    (void)state;
    script_refuses(LBM("regions = (function()\n"
                       "  local s = shape.faces + shape.rest\n"
                       "  s[1] = s\n"
                       "  return { { where = s, law = law.wall {} } } end)()"),
                   "s.lua:5: a shape is a part of itself");
    script_refuses(LBM("regions = (function()\n"
                       "  local s = shape.faces * shape.rest\n"
                       "  s[2] = shape.faces - s\n"
                       "  return { { where = s, law = law.wall {} } } end)()"),
                   "s.lua:5: a shape is a part of itself");
    script_refuses(LBM("regions = (function()\n"
                       "  local s = shape.faces\n"
                       "  for i = 1, 60 do s = s + s end\n"
                       "  return { { where = s, law = law.wall {} } } end)()"),
                   "s.lua:6: a shape of more than 100000 parts");
    script_refuses(LBM("regions = (function()\n"
                       "  local s = shape.faces\n"
                       "  for i = 1, 500 do s = shape.rest + (shape.faces - s) end\n"
                       "  return { { where = s, law = law.wall {} } } end)()"),
                   "s.lua:6: shapes are combined more than 200 deep");
    script_refuses(LBM("regions = { { where = shape.face 'z-', law = law.wall {} } }"),
                   "s.lua:4: shape.face: there is no face \"z-\" in 2-D");
    script_refuses(LBM("regions = { { where = shape.faces + 3, law = law.wall {} } }"),
                   "s.lua:4: shapes combine with shapes only: got 3 beside '+'");
}

static void tables_that_hold_themselves_end(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    assert_int_equal(script_load(&c, "local sel = require 'selenite'\n"
                                     "local t = {}\n"
                                     "t.stop, t.regions, t.reference, t.size = t, t, t, t\n"
                                     "return sel.lbm(t)\n"),
                     SEL_BAD_SCENARIO);
    script_refuses(
        "local t = {}\nt[1] = t\nreturn t\n",
        "s.lua: the script must return a simulation, as sel.lbm { ... }, or a list of them; "
        "it returned table");
}

static void lines_are_found_where_text_is_unusual(void **state) {
    (void)state;
    script_refuses(
        "local sel = require 'selenite' -- sel.lbm { tau = 1 }\n"
        "local s = [==[ sel.lbm { tau = ]==] .. '{ tau = \\' '\n"
        "return (sel.lbm ({ lattice = 'D2Q9', --[[ tau = ]] size = { 8, 8 },\n"
        "  stop = (function() local tau, nu = 1, 2; if tau then nu = tau end return {} end)(),\n"
        "  ['tau'] = #s > 3 and -1 or 0,\n"
        "  [s] = 1 }))\n",
        "s.lua:3: sel.lbm: unknown field ' sel.lbm { tau = { tau = ' '\n"
        "s.lua:4: stop: nothing ends this run; give steps, time, steady or wall_time\n"
        "s.lua:5: sel.lbm: tau must be greater than 0, got -1");
}

static void lists_of_simulations_need_names(void **state) {
    (void)state;
    static const char head[] = "local sel = require 'selenite'\n"
                               "local function f(name)\n"
                               "  return sel.lbm { lattice = 'D2Q9', size = {4, 4}, tau = 1,\n"
                               "    stop = { steps = 1 }, name = name } end\n";
    char text[512];
    script_case c = {.scenario = NULL};
    snprintf(text, sizeof text, "%sreturn { f 'a', f 'b' }\n", head);
    script_accepts(&c, text);
    assert_int_equal(c.scenario->count, 2);
    assert_string_equal(c.scenario->simulations[1].params->name, "b");
    script_done(&c);
    snprintf(text, sizeof text, "%sreturn { f 'a', f(nil), f 'a', f '../x' }\n", head);
    script_refuses(text, "s.lua:4: sel.lbm: name is required in a list of simulations\n"
                         "s.lua:4: sel.lbm: name 'a' is taken by simulation 1 of the list\n"
                         "s.lua:4: sel.lbm: name '../x' cannot be the name of a directory");
    script_refuses("return {}",
                   "s.lua: the script must return a simulation, as sel.lbm { ... }, or a "
                   "list of them; it returned table");
    script_refuses("return 3",
                   "s.lua: the script must return a simulation, as sel.lbm { ... }, or a "
                   "list of them; it returned 3");
}

static void misspelt_members_of_the_library_are_errors(void **state) {
    (void)state;
    script_refuses(
        "local sel = require 'selenite'\nlocal x = sel.law.wal\n",
        "s.lua:2: sel.law has no 'wal'; did you mean 'wall'? It has convective, far_field, fixed, "
        "flux, "
        "gradient, insulated, level, mirror, open, outflow, pressure, slip, velocity, wall");
    script_refuses(
        "local sel = require 'selenite'\nlocal x = sel.lmb\n",
        "s.lua:2: selenite has no 'lmb'; did you mean 'lbm'? It has aqua, heat, law, "
        "lbm, load, noise, out, paint, params, poisson, ramp, random, raster, rule, series, shape, "
        "state, step, units");
    script_refuses("local sel = require 'selenite'\nsel.law.mine = 1\n",
                   "s.lua:2: sel.law cannot be changed");
    script_refuses("local sel = require 'selenite'\nreturn sel.lbm()\n",
                   "s.lua:2: sel.lbm takes one table: write sel.lbm { ... }");
    script_refuses("local sel = require 'selenite'\nreturn sel.lbm 'x'\n",
                   "s.lua:2: sel.lbm takes a table, got string \"x\": write sel.lbm { ... }");
    script_refuses(
        "local sel = require 'selenite'\nlocal f = sel.shape.face 'x'\n",
        "s.lua:2: shape.face takes \"x-\", \"x+\", \"y-\", \"y+\", \"z-\" or \"z+\", got "
        "string \"x\"");
}

/* A key of "a" and a zero byte must not be looked for as "a", which the table does not have. */
/* SEL_KIND_SPACING: a number for all axes, or a list of one per axis. */
static void sides_are_a_number_or_one_per_axis(void **state) {
    (void)state;
#define HEAT(size, sides)                                                                        \
    "local sel = require 'selenite'\n"                                                           \
    "return sel.heat {\n"                                                                        \
    "  size = " size ", diffusivity = 1, periodic = { 'x', 'y' }, stop = { steps = 1 },\n" sides \
    "\n}\n"
    static const struct {
        const char *text;
        sel_point sides;
    } good[] = {
        {HEAT("{ 4, 5 }", ""), {1, {1, 0, 0}}},
        {HEAT("{ 4, 5 }", "dx = 0.25"), {1, {0.25, 0, 0}}},
        {HEAT("{ 4, 5 }", "dx = 2"), {1, {2, 0, 0}}},
        {HEAT("{ 4, 5 }", "dx = { 0.5, 3 }"), {2, {0.5, 3, 0}}},
        {HEAT("{ 4, 5, 6 }", "dx = { 1, 2, 0.125 }"), {3, {1, 2, 0.125}}},
        {HEAT("{ 4, 5 }", "units = sel.units { length = 3, cells = 6 }"), {1, {0.5, 0, 0}}},
    };
    static const struct {
        const char *text, *message;
    } bad[] = {
        {HEAT("{ 4, 5 }", "dx = {}"), "s.lua:4: sel.heat: dx must have 2 sides, not 0"},
        {HEAT("{ 4, 5 }", "dx = { 1 }"), "s.lua:4: sel.heat: dx must have 2 sides, not 1"},
        {HEAT("{ 4, 5, 6 }", "dx = { 1, 2 }"), "s.lua:4: sel.heat: dx must have 3 sides, not 2"},
        {HEAT("{ 4, 5 }", "dx = { 1, 'x' }"),
         "s.lua:4: sel.heat: dx[2] must be a number, got string \"x\""},
        {HEAT("{ 4, 5 }", "dx = { 1, 0 / 0 }"),
         "s.lua:4: sel.heat: dx[2] must be a finite number, got nan"},
        {HEAT("{ 4, 5 }", "dx = 1 / 0"), "s.lua:4: sel.heat: dx must be a finite number, got inf"},
        {HEAT("{ 4, 5 }", "dx = true"),
         "s.lua:4: sel.heat: dx must be a number, or a list of one per axis, got true"},
        {HEAT("{ 4, 5 }", "dx = { x = 1 }"),
         "s.lua:4: sel.heat: dx must be a list, but has the key string \"x\""},
        {HEAT("{ 4, 5 }", "dx = 1, units = sel.units { length = 3, cells = 6 }"),
         "s.lua:4: sel.heat: dx comes from units; leave it out here"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        script_case c = {.scenario = NULL};
        script_accepts(&c, good[i].text);
        const sel_point *sides = &script_lbm(&c)->common.sides;
        assert_int_equal(sides->n, good[i].sides.n);
        for (int a = 0; a < sides->n; a++) {
            assert_true(sides->v[a] == good[i].sides.v[a]);
        }
        script_done(&c);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        script_refuses(bad[i].text, bad[i].message);
    }
#undef HEAT
}

static void reading_a_table_runs_nothing_of_the_script(void **state) {
    (void)state;
    static const char spy[] =
        "local function spied(t) return setmetatable(t, { __index = function(_, key)\n"
        "  error('read ' .. key) end, __len = error, __pairs = error }) end\n";
    static const struct {
        const char *fields, *message;
    } cases[] = {
        {"controls = spied { ['a\\0b'] = 1 }",
         "s.lua:6: sel.lbm: controls must be a table of NAME = number, but has the key string "
         "\"a\\0b\""},
        {"controls = spied { [true] = 1 }",
         "s.lua:6: sel.lbm: controls must be a table of NAME = number, but has the key true"},
        {"['precision\\0'] = 'f64'",
         "s.lua:5: sel.lbm: the key string \"precision\\0\" is no field"},
        {"controls = spied { gain = 'x' }",
         "s.lua:6: sel.lbm: controls.gain must be a number, got string \"x\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s" LBM("%s"), spy, cases[i].fields);
        script_refuses(text, cases[i].message);
    }
    script_refuses(
        "local sel = require 'selenite'\n"
        "sel.params(setmetatable({ ['n\\0'] = 1 }, { __index = error }))\n",
        "s.lua:2: sel.params: every parameter needs a name: NAME = { default, \"help\" }");
    script_refuses("local sel = require 'selenite'\n"
                   "sel.params { n = { 1, ['min\\0'] = 2 } }\n",
                   "s.lua:2: sel.params: n: takes a default, a help text and named fields only");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_reach_their_structs),
        cmocka_unit_test(all_mistakes_are_reported_at_their_lines),
        cmocka_unit_test(round_off_makes_no_part_of_a_cell),
        cmocka_unit_test(checks_of_tables_run_after_filling),
        cmocka_unit_test(positional_values_are_checked),
        cmocka_unit_test(laws_of_another_solver_are_refused),
        cmocka_unit_test(shapes_keep_their_meaning_when_chains_are_balanced),
        cmocka_unit_test(shapes_that_never_end_are_refused),
        cmocka_unit_test(tables_that_hold_themselves_end),
        cmocka_unit_test(lines_are_found_where_text_is_unusual),
        cmocka_unit_test(lists_of_simulations_need_names),
        cmocka_unit_test(misspelt_members_of_the_library_are_errors),
        cmocka_unit_test(sides_are_a_number_or_one_per_axis),
        cmocka_unit_test(reading_a_table_runs_nothing_of_the_script),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
