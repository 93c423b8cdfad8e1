/* test_script_branches.c -- conditions that are rarely met: programs are compared with Lua on both
 * sides of them, and what was not reached is told.
 */
#include "script_case.h"
#include "engine/run/prepare.h"
#include "lua/tables/tables.h"

/* ---- rules ---- */

#define RULE(before, body)                                                                \
    "local sel = require 'selenite'\n" before "\n"                                        \
    "return sel.rule { size = { 8, 8 }, periodic = { 'x', 'y' }, stop = { steps = 1 },\n" \
    "state = { n = 'i32', b = 'u8', u = 'real' }, main = 'u', controls = { q = 3 },\n"    \
    "rule = function(c, x, t, q)\n" body "\nend }\n"

enum { NODES = 400 };

/* The graph of the only rule, which has been compared with Lua. */
static const sel_rule *read_graph(script_case *c, sel_lua_rule **rule, const char *text) {
    *c = (script_case){.scenario = NULL};
    script_accepts(c, text);
    *rule = ((sel_script *)c->scenario->release_data)->rules;
    assert_null((*rule)->base.mistake);
    if (!(*rule)->base.rule) {
        fail_msg("%s", (*rule)->base.why);
    }
    return (*rule)->base.rule;
}

static void reaches_all(const char *text) {
    script_case c;
    sel_lua_rule *rule;
    read_graph(&c, &rule, text);
    if (rule->unseen) {
        fail_msg("%s", rule->unseen);
    }
    script_done(&c);
}

static void leaves_out(const char *text, const char *unseen) {
    script_case c;
    sel_lua_rule *rule;
    read_graph(&c, &rule, text);
    assert_non_null(rule->unseen);
    assert_string_equal(rule->unseen, unseen);
    script_done(&c);
}

#define WHEN(condition) "if " condition " then\nreturn { n = 7 }\nend\nreturn { n = 1 }"

static void rare_sides_are_found(void **state) {
    (void)state;
    reaches_all(RULE("", WHEN("c.n == 4711")));
    reaches_all(RULE("local limit = { 5, { 4711 } }", WHEN("c.n == limit[2][1]")));
    reaches_all(RULE("", WHEN("c.n * 7 + 3 == 32980")));
    reaches_all(RULE("", WHEN("c.n + 3 * c(1, 0).n - c(0, 1).n == 123456789")));
    reaches_all(RULE("", WHEN("c.u * c(0, 1).u > 1234.5")));
    reaches_all(RULE("", WHEN("math.floor(c.u / 3) == 90210")));
    reaches_all(RULE("", WHEN("c.b + c(1, 0).b + c(0, 1).b == 700")));
    reaches_all(RULE("", WHEN("c.n % 1000 == 999 and c.b == 77 and c(1, 1).b == 78")));
    reaches_all(RULE("", WHEN("math.exp(c.u) > 1e8 and x * t > 33.3")));
    reaches_all(RULE("", WHEN("math.abs(math.sin(c.u) - 0.5) < 1e-9")));
    reaches_all(RULE("", WHEN("sel.random(3) < 1e-6 and c.u > 5")));
    reaches_all(RULE("", WHEN("q == 12.5 or c.n > 2000000000")));
    reaches_all(RULE("local function deep(v) if v > 31.25 then return v * 2 end return v end",
                     WHEN("deep(deep(c.u)) > 500 and deep(c.u) < 501")));
}

static void what_is_never_reached_is_told(void **state) {
    (void)state;
    leaves_out(RULE("", WHEN("c.n > 5 and c.n < 4")),
               "line 7 never ran; c.n < 4 was never true; (5 < c.n) and (c.n < 4) was never true");
    leaves_out(RULE("", WHEN("c.u * c.u < -1")),
               "line 7 never ran; (c.u * c.u) < -1 was never true");
}

static void laws_are_compared_on_both_sides(void **state) {
    (void)state;
    static const char *const conditions[] = {"x * y > 1234.5", "math.abs(t - 17.25) < 1e-9",
                                             "x == 77.125 and y == 2 * x",
                                             "math.floor(x * 3) == 12345 and q > 4", NULL};
    for (int k = 0; conditions[k]; k++) {
        script_case c = {.scenario = NULL};
        char text[600];
        snprintf(text, sizeof text,
                 "local sel = require 'selenite'\nreturn sel.heat { size = { 4, 4 }, dt = 1,\n"
                 "diffusivity = 0.1, periodic = { 'x', 'y' }, controls = { q = 3 },\n"
                 "stop = { steps = 1 }, source = function(x, y, t, q)\nif %s then\n"
                 "return 2\nend\nreturn 1 end }\n",
                 conditions[k]);
        script_accepts(&c, text);
        const sel_lua_function *f = ((sel_script *)c.scenario->release_data)->functions;
        assert_non_null(f->program);
        if (f->unseen) {
            fail_msg("%s", f->unseen);
        }
        script_done(&c);
    }
}

/* ---- graphs that are wrong where it is rarely seen ---- */

#define BODY                                            \
    "local n = c.n\n"                                   \
    "if c.n == 4711 then n = 7 end\n"                   \
    "if c.b < 17 and c.u * c(1, 0).u > 1234.5 then\n"   \
    "n = c(0, 1).n - c.b\n"                             \
    "end\n"                                             \
    "if math.floor(c.u / 3) == 90210 then n = 11 end\n" \
    "return { n = n % 1000, u = t > 3.5 and c.u or x }"

typedef struct copy {
    sel_rule rule;
    sel_rule_node node[NODES];
} copy;

/* The number of the node `nth` of those with this operation. */
static int find(const copy *to, int op, int nth) {
    int n = 0;
    for (; n < to->rule.nodes; n++) {
        if (to->node[n].op == op && nth-- == 0) {
            return n;
        }
    }
    fail_msg("no operation %d", op);
    return 0;
}

static int find_constant(const copy *to, double value) {
    int n = 0;
    while (n < to->rule.nodes &&
           !(to->node[n].op == SEL_OP_CONSTANT && to->node[n].value == value)) {
        n++;
    }
    assert_true(n < to->rule.nodes);
    return n;
}

static void becomes(copy *to, int n, double value) {
    to->node[n] = (sel_rule_node){
        .op = SEL_OP_CONSTANT, .value = value, .whole = true, .low = value, .high = value};
}

static void swap(copy *to, int n, int a, int b) {
    const int kept = to->node[n].operand[a];
    to->node[n].operand[a] = to->node[n].operand[b];
    to->node[n].operand[b] = kept;
}

/* Comparisons with 4711 and the like: their second operand is this number. */
static int comparison_with(const copy *to, double value) {
    const int with = find_constant(to, value);
    int n = 0;
    while (n < to->rule.nodes &&
           !(sel_op_compares(to->node[n].op) &&
             (to->node[n].operand[0] == with || to->node[n].operand[1] == with))) {
        n++;
    }
    assert_true(n < to->rule.nodes);
    return n;
}

static void condition_is_lost(copy *to) {
    becomes(to, comparison_with(to, 4711), 0);
}
static void inner_condition_is_lost(copy *to) {
    becomes(to, comparison_with(to, 1234.5), 0);
}
static void floor_is_another(copy *to) {
    to->node[find(to, SEL_OP_FLOOR, 0)].op = SEL_OP_CEIL;
}
static void moment_is_lost(copy *to) {
    becomes(to, comparison_with(to, 3.5), 1);
}
static void equal_counts_as_less(copy *to) {
    to->node[comparison_with(to, 17)].op = SEL_OP_LE;
}
static void number_is_another(copy *to) {
    to->node[find_constant(to, 4711)].value = 4712;
}
static void number_is_the_next(copy *to) {
    to->node[find_constant(to, 3.5)].value = nextafter(3.5, 4);
}
static void sides_are_exchanged(copy *to) {
    int n = 0;
    while (to->node[n].op != SEL_OP_SELECT) {
        n++;
    }
    swap(to, n, 1, 2);
}
static void difference_is_turned(copy *to) {
    swap(to, find(to, SEL_OP_SUB, 0), 0, 1);
}
static void another_cell_is_read(copy *to) {
    for (int n = 0; n < to->rule.nodes; n++) {
        if (to->node[n].op == SEL_RULE_READ && to->node[n].at[1] == 1) {
            to->node[n].at[1] = -1;
        }
    }
}
static void another_field_is_read(copy *to) {
    for (int n = 0; n < to->rule.nodes; n++) {
        if (to->node[n].op == SEL_RULE_READ && to->node[n].field == 1) {
            to->node[n].field = 0;
        }
    }
}
static void argument_is_another(copy *to) {
    to->node[find(to, SEL_OP_ARGUMENT, 0)].operand[0] = SEL_ARGUMENT_Y;
}

static void wrong_graphs_are_caught(void **state) {
    (void)state;
    static void (*const faults[])(copy * to) = {
        condition_is_lost,    inner_condition_is_lost, floor_is_another,      moment_is_lost,
        equal_counts_as_less, number_is_another,       number_is_the_next,    sides_are_exchanged,
        difference_is_turned, another_cell_is_read,    another_field_is_read, argument_is_another};
    script_case c;
    char why[SEL_RULE_WHY];
    sel_lua_rule *rule;
    const sel_rule *graph = read_graph(&c, &rule, RULE("", BODY));
    assert_null(rule->unseen);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        copy to = {.rule = *graph};
        assert_true(graph->nodes <= NODES);
        memcpy(to.node, graph->node, (size_t)graph->nodes * sizeof *graph->node);
        to.rule.node = to.node;
        assert_true(sel_rule_compare(rule, &to.rule, why));
        faults[k](&to);
        if (sel_rule_compare(rule, &to.rule, why)) {
            fail_msg("fault %zu is not seen", k);
        }
        assert_non_null(strstr(why, "gave another value than Lua where "));
    }
    script_done(&c);
}

/* ---- functions of which the reader would have lost a side: nothing in the graph leads there ----
 */

#define SOURCE(before, body)                                                                   \
    "local sel = require 'selenite'\n" before "\n"                                             \
    "return sel.heat { size = { 400, 400 }, dt = 1, diffusivity = 0.1, stop = { steps = 9 }, " \
    "periodic = { 'x', 'y' },\n controls = { q = 3 }, source = function(x, y, t, q) " body     \
    " end }\n"

static void numbers_of_the_script_show_what_was_lost(void **state) {
    (void)state;
    static const char *const texts[] = {
        SOURCE("", "if x == 4711.25 then return 2 end return 1"),
        SOURCE("", "if x > 4711.25 and x < 4711.5 then return 2 end return 1"),
        SOURCE("local when = { first = 77.125 }", "if t == when.first then return 2 end return 1"),
        SOURCE("local function late(limit) return function(t) return t == limit end end\n"
               "local is_late = late(123.5)",
               "if is_late(t) then return 2 end return 1"),
        SOURCE("local limits = { q = 31 }", "if q > limits.q then return 2 end return 1"),
        SOURCE("", "if y == 399.5 then return 2 end return 1"),
        SOURCE("", "if t == 9 then return 2 end return 1"),
        NULL};
    for (int k = 0; texts[k]; k++) {
        script_case c = {.scenario = NULL}, giver = {.scenario = NULL};
        script_accepts(&c, texts[k]);
        script_accepts(&giver, SOURCE("", "return 1"));
        sel_lua_function *f = ((sel_script *)c.scenario->release_data)->functions;
        const sel_lua_function *from = ((sel_script *)giver.scenario->release_data)->functions;
        assert_non_null(f->program);
        f->program = f->base.program = from->program;
        f->graph = from->graph;
        sel_function_compare(f);
        if (f->program) {
            fail_msg("what %s lost is not seen", texts[k]);
        }
        script_done(&c);
        script_done(&giver);
    }
}

/* ---- what is found repeats ---- */

static void comparisons_repeat(void **state) {
    (void)state;
    static const char text[] = RULE("", "if c.u * c.u < -1 or c.n * c.n == 2 then return { n = 3 } "
                                        "end return { n = 1 + c.b }");
    int64_t ticks[2];
    for (int turn = 0; turn < 2; turn++) {
        script_case c;
        sel_lua_rule *rule;
        read_graph(&c, &rule, text);
        assert_non_null(rule->unseen);
        ticks[turn] = rule->script->ticks;
        script_done(&c);
    }
    assert_true(ticks[0] == ticks[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rare_sides_are_found),
        cmocka_unit_test(what_is_never_reached_is_told),
        cmocka_unit_test(laws_are_compared_on_both_sides),
        cmocka_unit_test(wrong_graphs_are_caught),
        cmocka_unit_test(numbers_of_the_script_show_what_was_lost),
        cmocka_unit_test(comparisons_repeat),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
