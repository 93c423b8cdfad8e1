/* test_rule_models.c -- models written as rules, against other solvers and exact solutions. */
#include "engine/solvers/aqua/aqua.h"
#include "tests/unit/compare_files.h"
#include "tests/unit/rule_graph.h"
#include "tests/unit/run_case.h"

/* ---- AQUA-GRAPH by its mean ---- */

#define TERRAIN                                                                       \
    "local function ground(x, y) return 5 * sel.noise(1, x / 3, y / 3) end\n"         \
    "local function water(x, y) return math.max(2 * sel.noise(2, x / 2, y), 0) end\n" \
    "local edge = { { where = shape.faces, law = law.wall {} } }\n"

static const char aqua_rules[] = RULE_BEGIN TERRAIN
    "local around = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 }, { 1, 1 }, { -1, 1 }, { 1, -1 },\n"
    "  { -1, -1 } }\n"
    "local function head(a, b) return (a.z - b.z) + (a.w - b.w) end\n"
    "local function give(c)\n"
    "  local n, fall, roots = 1, 0, 0\n"
    "  for _, d in ipairs(around) do\n"
    "    local above = head(c, c(d[1], d[2]))\n"
    "    if above > 0 then n, fall, roots = n + 1, fall + above, roots + math.sqrt(above) end\n"
    "  end\n"
    "  if roots == 0 then return { share = 0 } end\n"
    "  return { share = 0.2 * math.min(fall / n, c.w) / roots }\n"
    "end\n"
    "local function move(c)\n"
    "  local w = c.w\n"
    "  for _, d in ipairs(around) do\n"
    "    local u = c(d[1], d[2])\n"
    "    local above = head(c, u)\n"
    "    if above > 0 then w = w - c.share * math.sqrt(above)\n"
    "    elseif above < 0 then w = w + u.share * math.sqrt(-above) end\n"
    "  end\n"
    "  return { w = w }\n"
    "end\n"
    "return sel.rule { size = { 70, 50 }, precision = 'f64', rule = { give, move }, main = 'w',\n"
    "state = { w = 'real', share = 'real' }, data = { z = ground }, initial = { w = water },\n"
    "regions = edge, stop = { steps = 1 }, conserved = { 'w' } }";

static const char aqua_solver_text[] = RULE_BEGIN TERRAIN
    "return sel.aqua { size = { 70, 50 }, precision = 'f64', ground = ground, alpha = 0.2,\n"
    "equilibrium = 'mean', initial = { depth = water }, regions = edge, stop = { steps = 1 } }";

static void water_moves_as_in_sel_aqua(void **state) {
    (void)state;
    rule_case a, b;
    rule_load(&a, aqua_rules);
    rule_open(&a, 2);
    rule_load(&b, aqua_solver_text);
    rule_open(&b, 1);
    rule_steps(&a, 1);
    rule_steps(&b, 1);
    double *w = rule_values(&a, "w"), *depth = rule_values(&b, "depth"), most = 0;
    for (int k = 0; k < 70 * 50; k++) {
        most = fmax(most, fabs(w[k] - depth[k]));
    }
    if (!(most <= 1e-15)) {
        fail_msg("depths differ by %g", most);
    }
    free(w), free(depth);
    rule_close(&a);
    rule_close(&b);
}

/* ---- steps that adapt ---- */

/* u = 1 + t, and every three steps dt becomes 1 / (2 u). */
static void follow_dt(const char *fields) {
    static const char script[] = RULE_BEGIN
        "return sel.rule { size = { 5, 4 }, periodic = { 'x', 'y' }, precision = 'f64',\n"
        "state = { u = 'real'%s }, initial = { u = 1 }, stop = { time = 4, steps = 99 },\n"
        "rule = function(c, dt) return { u = c.u + dt } end,\n"
        "dt = { limit = function(c) return 1 / c.u end, factor = 0.5, max = 1, every = 3 },\n"
        "output = { out.reduce { name = 'all', field = 'u', op = 'max', every = 1 },\n"
        "out.reduce { name = 'some', field = 'u', op = 'max', interval = 0.75 } } }";
    char text[sizeof script + 200];
    run_case r;
    snprintf(text, sizeof text, script, fields);
    case_run_well(&r, text);
    char *all_text = read_whole("run/all.csv", NULL), *some_text = read_whole("run/some.csv", NULL);
    csv_table all = csv_read(all_text), some = csv_read(some_text);
    double time = 0, dt = 0, before = -1;
    int due = 0;
    for (int row = 0; row < all.rows; row++) {
        const double *v = all.value + row * all.columns;
        assert_true(fabs(v[1] - time) < 1e-14 && fabs(v[2] - 1 - time) < 1e-13);
        if (before < 0.75 * due && time >= 0.75 * due) { /* the first step at or after its time */
            assert_true(due < some.rows && some.value[due * some.columns] == v[0]);
            due++;
        }
        before = time;
        dt = row % 3 == 0 ? 0.5 / (1 + time) : dt;
        time += dt;
    }
    assert_true(r.report.stopped_by == SEL_BY_TIME && before >= 4 && before - dt < 4);
    assert_true(fabs(r.report.time - before) < 1e-14 && all.rows == r.report.steps + 1);
    assert_in_range(some.rows, due, due + 1); /* and the last state */
    free(all.value), free(some.value), free(all_text), free(some_text);
    case_done(&r);
}

/* Whatever other fields there are. */
static void dt_follows_its_limit_and_time_is_the_sum_of_steps(void **state) {
    (void)state;
    follow_dt("");
    follow_dt(", a = 'real'");
    follow_dt(", a = 'real', b = 'real'");
    follow_dt(", a = 'real', b = 'real', d = 'real', e = 'real'");
}

/* ---- functions are read when the script is loaded ---- */

#define PAIR(function)                                                                 \
    RULE_BEGIN "return sel.rule { size = { 5, 4 }, periodic = { 'x', 'y' }, state = {" \
               "u = 'real', n = 'i32' }, stop = { steps = 1 }, main = 'u',\n"          \
               "derived = { pair = function(c) return c.u, c.n end },\n"               \
               "rule = " function " }"

static void a_loaded_script_has_graphs_and_fields(void **state) {
    (void)state;
    rule_case c;
    int component;
    rule_load(&c, PAIR("function(c) return { u = c.u / 3 } end"));
    const sel_simulation *simulation = c.script.scenario->simulations;
    const rule_params *params = rule_params_of(&c);
    assert_non_null(params->rule.v[0].source->rule);
    assert_int_equal(params->derived.v[0].source->rule->outputs, 2);
    assert_int_equal(sel_solver_field(simulation->solver, 2, "pair_y", &component), 2);
    assert_int_equal(component, 1);
    assert_null(simulation->mistakes);
    script_done(&c.script);
}

static void plans_of_two_precisions_share_the_graphs(void **state) {
    (void)state;
    rule_case c;
    sel_prepared prepared[2];
    const rule_model *m[2];
    rule_load(&c, PAIR("function(c) return { u = c.u / 3 } end"));
    for (int k = 0; k < 2; k++) {
        const sel_settings settings = {.precision = k, .backend = SEL_BACKEND_CPU, .threads = 1};
        assert_int_equal(
            sel_prepare(c.script.scenario->simulations, &settings, &prepared[k], &c.error), SEL_OK);
        m[k] = ((const rule_plan *)prepared[k].plan)->model;
    }
    assert_ptr_equal(m[0]->function[0].rule, m[1]->function[0].rule);
    assert_int_equal(m[0]->function[0].code->tables.output[0].type, SEL_NUMBER_F);
    assert_int_equal(m[1]->function[0].code->tables.output[0].type, SEL_NUMBER_D);
    assert_true(rule_size(m[0], 0) == 4 && rule_size(m[1], 0) == 8);
    sel_prepared_release(&prepared[0]);
    sel_prepared_release(&prepared[1]);
    script_done(&c.script);
}

static void mistakes_of_a_function_are_those_of_its_simulation(void **state) {
    (void)state;
    static const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    rule_case c;
    rule_load(&c, RULE_BEGIN
              "local function of(name, rule) return sel.rule { name = name, size = { 5, 4 },\n"
              "periodic = { 'x', 'y' }, state = { u = 'real' }, stop = { steps = 1 },\n"
              "rule = rule, regions = { { where = shape.face 'x-', law = { v = law.wall {} } } } "
              "} end\n"
              "local function right(c) return c.u end\n"
              "local function wrong(c)\nreturn c.w end\n"
              "local a = of('a', right)\na.regions = nil\n"
              "return { a, of('b', wrong) }");
    const char *text = "s.lua:9: sel.rule.rule: a cell has no field 'w'; it has u\n"
                       "s.lua:6: law: there is no field 'v'";
    sel_prepared prepared;
    assert_int_equal(sel_prepare(c.script.scenario->simulations, &settings, &prepared, &c.error),
                     SEL_OK);
    sel_prepared_release(&prepared);
    assert_int_equal(
        sel_prepare(c.script.scenario->simulations + 1, &settings, &prepared, &c.error),
        SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, text);
    sel_prepared_release(&prepared);
    script_done(&c.script);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_moves_as_in_sel_aqua),
        cmocka_unit_test(dt_follows_its_limit_and_time_is_the_sum_of_steps),
        cmocka_unit_test(a_loaded_script_has_graphs_and_fields),
        cmocka_unit_test(plans_of_two_precisions_share_the_graphs),
        cmocka_unit_test(mistakes_of_a_function_are_those_of_its_simulation),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
