/* test_rule_fill.c -- maps of names and functions of cells on their way from a script into C; what
 * Lua gives at a cell. */
#include "rule_case.h"
#include <math.h>

static void refuses(const char *text, const char *message) {
    script_case c;
    load(&c, text);
    assert_string_equal(mistakes, message);
    script_done(&c);
}

static void maps_keep_the_order_of_the_text(void **state) {
    (void)state;
    script_case c;
    load(&c, MODEL("state = { v = 'real', a = 'u8', q = 'vector' },\n"
                   "initial = { q = { 1, function(x) return x end }, v = 3,\n"
                   "  a = function(x, y) return x + y end },\n"
                   "derived = { speed = function(c) return c.v end },\n"
                   "law = { v = law.pressure { 1 }, q = law.velocity { 1, 2 } }, dt = 0.25"));
    assert_string_equal(mistakes, "");
    assert_int_equal(filled.state.n, 3);
    assert_string_equal(filled.state.v[1].name, "a");
    assert_int_equal(filled.state.v[1].choice, 3);
    assert_int_equal(filled.state.v[2].where.line, 4);
    assert_int_equal(filled.initial.n, 3);
    assert_int_equal(filled.initial.v[0].value.components, 2);
    assert_true(filled.initial.v[1].value.part[0].constant == 3);
    assert_int_equal(filled.initial.v[2].value.components, 1);
    assert_int_equal(filled.initial.v[2].where.line, 6);
    assert_string_equal(filled.derived.v[0].name, "speed");
    assert_non_null(filled.derived.v[0].source);
    assert_int_equal(filled.law.n, 2);
    assert_string_equal(filled.law.v[1].name, "q");
    assert_ptr_equal(filled.law.v[1].value.table, &lbm_velocity_table);
    assert_true(filled.dt.fixed == 0.25 && !filled.dt.limit);
    script_done(&c);
}

static void what_may_stand_alone_needs_no_map(void **state) {
    (void)state;
    script_case c;
    load(&c, MODEL("rule = function(c) return c.a end, law = law.pressure { 1 },\n"
                   "state = { q = 'vector' }, initial = { q = function(x) return x, 1 end },\n"
                   "dt = { limit = function(c) return 1 end }"));
    assert_string_equal(mistakes, "");
    assert_int_equal(filled.rule.n, 1);
    assert_null(filled.rule.v[0].name);
    assert_int_equal(filled.rule.v[0].source->where.line, 4);
    assert_int_equal(filled.law.n, 1);
    assert_null(filled.law.v[0].name);
    assert_int_equal(filled.initial.v[0].value.components, 2);
    assert_non_null(filled.initial.v[0].value.whole);
    assert_non_null(filled.dt.limit);
    script_done(&c);
    load(&c, MODEL("rule = { function(c) return 1 end, function(c, x, y, t, dt) return 2 end }"));
    assert_string_equal(mistakes, "");
    assert_int_equal(filled.rule.n, 2);
    script_done(&c);
}

static void mistakes_are_told_all_together(void **state) {
    (void)state;
    refuses(MODEL("state = { u = 'rael',\n  v = 1 },\nderived = 3, initial = { u = 'x', 2 },\n"
                  "law = { u = 1 }, dt = -1,\nrule = { 5, function(c, q) end }"),
            "4: sel.lbm: state.u must be one of \"real\", \"vector\", \"i32\", \"u8\", got string "
            "\"rael\"\n"
            "5: sel.lbm: state.v must be one of \"real\", \"vector\", \"i32\", \"u8\", got 1\n"
            "8: sel.lbm: rule[1] must be a function, got 5\n"
            "8: sel.lbm.rule[2]: a function of cells cannot depend on 'q'; its parameters may be "
            "c, x, y, t, dt\n"
            "6: sel.lbm: derived must be a table of NAME = function, got 3\n"
            "6: sel.lbm: initial must be a table of NAME = quantity, without positions, got table\n"
            "7: sel.lbm: law.u must be made by law.NAME { ... }, got 1\n"
            "7: sel.lbm: dt must be greater than 0, got -1\n");
    refuses(MODEL("state = { q = 'vector' }, initial = { q = { 1, 2, 3 } }"),
            "4: sel.lbm: initial.q must have 2 components, not 3\n");
}

/* ---- what Lua gives at a cell ---- */

static const sel_cell_field fields[] = {{"u", SEL_CELL_REAL, true, 0, 0},
                                        {"n", SEL_CELL_U8, true, 0, 0},
                                        {"k", SEL_CELL_REAL, false, 0, 0}};

static double read_field(const sel_rule_place *self, int field, const int at[3]) {
    (void)self;
    return field == 1 ? 3 + at[0] : 0.5 * field + at[0] + 10 * at[1];
}

static double random_of(const sel_rule_place *self, int64_t k) {
    (void)self;
    return 0.125 * (double)k;
}

/* Reads the rule, and calls it in Lua at a cell. */
static sel_status call(const char *text, sel_rule_returns returns, double out[3],
                       sel_error *error) {
    static const sel_cells cells = {fields, 3, 2};
    script_case c;
    const sel_rule_place at = {
        .place = {1.5, 2.5}, .t = 4, .dt = 0.5, .read = read_field, .random = random_of};
    load(&c, text);
    assert_string_equal(mistakes, "");
    const sel_rule_source *source = read_first(&cells, returns);
    memset(error, 0, sizeof *error); /* what reading finds wrong is not told */
    out[0] = out[1] = out[2] = -1;
    const sel_status status = source->call(source, &at, out, error);
    script_done(&c);
    return status;
}

static void lua_computes_a_cell(void **state) {
    (void)state;
    static sel_error error;
    double out[3];
    assert_int_equal(
        call(MODEL("rule = function(c, x, t, dt)\n"
                   "local e = c(1, 0)(0, -2)\n"
                   "return { u = e.k * dt + x + t + sel.random(2), n = e.n // 2 } end"),
             SEL_RETURNS_FIELDS, out, &error),
        SEL_OK);
    assert_true(out[0] == (1 + 1 - 20) * 0.5 + 1.5 + 4 + 0.25);
    assert_true(out[1] == 2 && out[2] == -1);
    assert_int_equal(call(MODEL("rule = function(c) return c.u, c(0, 1).u end"),
                          SEL_RETURNS_NUMBERS, out, &error),
                     SEL_OK);
    assert_true(out[0] == 0 && out[1] == 10);
}

static void mistakes_in_a_cell_have_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {MODEL("rule = function(c)\nreturn { u = c(3, 0).u } end"),
         "s.lua:5: rules reach at most 2 cells from the one that they compute (sel.lbm.rule, in "
         "the "
         "cell at x=1.5, y=2.5, t=4)"},
        {MODEL("rule = function(c)\nreturn c.uu end"),
         "s.lua:5: a cell has no field 'uu'; did you mean 'u'? (sel.lbm.rule, in the cell at "
         "x=1.5, y=2.5, t=4)"},
        {MODEL("rule = function(c)\nc.u = 1 end"), "s.lua:5: a cell cannot be assigned to; return "
                                                   "the new values: return { NAME = value } "
                                                   "(sel.lbm.rule, in the cell at x=1.5, y=2.5, "
                                                   "t=4)"},
        {MODEL("rule = function(c) return { k = 1 } end"),
         "s.lua:4: sel.lbm.rule: function returned a value of no state field: 'k', "
         "which is data: rules only read it"},
        {MODEL("rule = function(c) return { n = 0.5 } end"),
         "s.lua:4: sel.lbm.rule: function returned 0.5 for n, which holds whole numbers"},
        {MODEL("rule = function(c) end"), "s.lua:4: sel.lbm.rule: function returned nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static sel_error error;
        double out[3];
        memset(&error, 0, sizeof error);
        assert_int_equal(call(cases[i].text, SEL_RETURNS_FIELDS, out, &error), SEL_BAD_SCENARIO);
        assert_string_equal(error.text, cases[i].message);
    }
}

static double of_place(const sel_random *self, const double place[3], int64_t k) {
    (void)self;
    return place[0] + 0.25 * (double)k;
}

static void random_numbers_belong_to_cells(void **state) {
    (void)state;
    script_case c;
    static sel_error error;
    double x[] = {1, 2}, out[2];
    const sel_random random = {of_place, NULL};
    load(&c, MODEL("initial = { u = function() return sel.random(1) < 2 and 1 or 0 end }"));
    const sel_quantity *q = &filled.initial.v[0].value;
    sel_places at = {.n = 2, .x = x, .y = x, .random = &random};
    assert_int_equal(sel_quantity_eval(q, "u", &at, out, &error), SEL_OK);
    assert_true(out[0] == 1 && out[1] == 0);
    at.random = NULL;
    assert_int_equal(sel_quantity_eval(q, "u", &at, out, &error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(error.text, "s.lua:4: sel.random may be called in rules and in"));
    script_done(&c);
    script_refuses("local sel = require 'selenite'\nreturn sel.random(1)",
                   "s.lua:2: sel.random may be called in rules and in `initial` of sel.rule only");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_keep_the_order_of_the_text),
        cmocka_unit_test(what_may_stand_alone_needs_no_map),
        cmocka_unit_test(mistakes_are_told_all_together),
        cmocka_unit_test(lua_computes_a_cell),
        cmocka_unit_test(mistakes_in_a_cell_have_their_line),
        cmocka_unit_test(random_numbers_belong_to_cells),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
