/* test_script_trace.c -- which functions become programs, and what happens to those that cannot. */
#include "script_case.h"
#include <time.h>
#include "engine/scene/shape.h"
#include "lua/tables/tables.h"

/* Two laws, so that one function may disturb the other. */
#define LAWS(before, first, second)                                                          \
    "local sel = require 'selenite'\n" before "\n"                                           \
    "local shape, law = sel.shape, sel.law\n"                                                \
    "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8, stop = { steps = 1 },\n" \
    "controls = { gain = 2 }, regions = {\n"                                                 \
    "{ where = shape.face 'x-', law = law.pressure { " first " } },\n"                       \
    "{ where = shape.face 'x+', law = law.pressure { " second " } } } }\n"
#define LAW(before, function) LAWS(before, function, "0")

enum { PLACES = 6 };
static const double x_places[PLACES] = {0.5, 1, 1.5, 2, 3, -2.25};
static const double y_places[PLACES] = {0, 0.25, 1, 2, 3.5, 4};

typedef struct notices {
    int count;
    char text[1024];
} notices;

static void note(void *data, const char *text) {
    notices *n = data;
    n->count++;
    snprintf(n->text, sizeof n->text, "%s", text);
}

static void load(script_case *c, notices *n, const char *text) {
    memset(n, 0, sizeof *n);
    *c = (script_case){.options = {.notice = note, .notice_data = n}};
    script_accepts(c, text);
}

static const sel_lua_function *law_function(const script_case *c, int region) {
    const sel_region *regions = script_lbm(c)->common.regions.v;
    const sel_quantity *q = regions[region].law.data;
    const sel_function *function = q->whole ? q->whole : q->part[0].function;
    return function->data;
}

/* Evaluates as the engine does; asserts that Lua gives the same. */
static void evaluate(const sel_lua_function *f, double t, double out[PLACES]) {
    static sel_error error;
    double lua[PLACES];
    sel_places at = {.n = PLACES, .x = x_places, .y = y_places, .t = t};
    memset(&error, 0, sizeof error);
    if (f->base.eval(&f->base, &at, out, &error) != SEL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sel_function_call(f, &at, NULL, lua, &error), SEL_OK);
    assert_memory_equal(out, lua, sizeof lua);
}

static void functions_that_cannot_be_followed_are_left_to_lua(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {LAW("local t = { 3, 4 }", "function(x) return t[x] or 7 end"),
         "it indexes a table on line 6 by a value that is known in a cell only"},
        {LAW("local t = { 3 }", "function(x) for k in function() return end do end\n"
                                "for i, k in ipairs { x } do return t[k] or 7 end end"),
         "it indexes a table on line 7"},
        {LAW("local t = { 3 }", "function(x) local a <const>, k <const> = 1, x\n"
                                "return (t[k] or 7) + a end"),
         "it indexes"},
        {LAW("local t = { 3 }", "function(x) local v = {} for k = 1, 1 do k, v.a = x, 1\n"
                                "return (t[k] or 7) + v.a end end"),
         "it indexes"},
        {LAW("", "function(x) local t = {} t[x] = 1 return 2 end"), "it indexes"},
        {LAW("", "function(x) return #tostring(x) end"), "it calls tostring on line 6"},
        {LAW("", "function(x) return #(x .. '') end"), "on line 6 it makes a text of a number"},
        {LAW("", "function(x) return rawequal(x, 1) and 1 or 2 end"), "it calls rawequal"},
        {LAW("", "function(x) return select(2, pcall(function() return x end)) end"),
         "it calls pcall"},
        {LAW("", "function(x) return coroutine.wrap(function() return x end)() end"),
         "it calls wrap on line 6"},
        {LAW("", "function(x) return string.format('%.1f', x) + 1 end"), "it calls format"},
        {LAW("", "function(x) return math.tointeger(x) or 9 end"), "on line 6 it asks whether"},
        {LAW("local n = 0", "function(x) n = n + 1 return x end"), "it changes 'n'"},
        {LAW("local function f(v) if v > 1 then return f(v / 2) end return v end",
             "function(x) return f(x) end"),
         "it calls functions more than 150 deep"},
        {LAW("", "function(x) while x > 1 do x = x / 2 end return x end"),
         "the loop on line 6 ends"},
        {LAW("", "function(x) local s = x for i = 1, 1e6 do s = s + 1 / i end return s end"),
         "it takes more than 20000 operations"},
        {LAW("", "function(x) local s = 0 for i = 1, 3e6 do s = s + i end return s end"),
         "it takes more than 1000000 instructions"},
        {LAW("", "function(x) return (1 << 62) * math.floor(x) end"), "beyond 2^53"},
        {LAW("", "function(x) return 3 & math.floor(x) end"), "the bits of a number on line 6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script_case c;
        notices n;
        double out[PLACES];
        load(&c, &n, cases[i].text);
        const sel_lua_function *f = law_function(&c, 0);
        if (!strstr(f->why, cases[i].reason) || f->program || f->base.program)
            fail_msg("case %zu: '%s'", i, f->why);
        assert_int_equal(n.count, 0);
        evaluate(f, 0, out);
        evaluate(f, 1, out);
        assert_int_equal(n.count, 1);
        assert_non_null(strstr(n.text, "s.lua:"));
        assert_non_null(strstr(n.text, ": law.pressure: function is evaluated by Lua at every "
                                       "place, once before the first step: "));
        assert_non_null(strstr(n.text, cases[i].reason));
        assert_non_null(strstr(n.text, "s a place"));
        script_done(&c);
    }
}

static void ordinary_functions_become_programs(void **state) {
    (void)state;
    static const char *const cases[] = {
        LAW("", "function(x) return x == 1 and 5 or 6 end"),
        LAW("", "function(x) if x ~= 2 then return 5 end return 6 end"),
        LAW("",
            "function(x) return type(x) == 'number' and math.type(x) == 'float' and 1 or 2 end"),
        LAW("local function count(...) return select('#', ...) end",
            "function(x) return count(x, x) + rawlen { x } end"),
        LAW("local helper = function(v) return v == 1 and 2 or 3 end",
            "function(x) return helper(x) end"),
        LAW("local t = setmetatable({}, { __index = function(_, k) return k == 1 and 2 or 3 end })",
            "function(x) return t.a + x end"),
        LAW("", "function(x) local n = 0\nfor i = 1, 9 do if math.sin(i * x) > 0 then n = n + i "
                "end end return n end"),
        LAW("", "function(x) local v if x > 1 then v = 2 end return v or 3 end"),
        LAW("", "function(x) if x > 1 and x < 3 then if x == 2 then return 1 end else return 2 "
                "end return 3 end"),
        LAW("local p = sel.params { kind = 'sine' }",
            "function(x) if p.kind == 'sine' then return math.sin(x) end return 0 end"),
        LAW("local c = { 1, 0.5, 2 }",
            "function(x) local s = 0 for i = 1, #c do s = s + c[i] * x^i end return s end"),
        LAW("local c = { 1, 0.5, 2 }", "function(x) local s = 0 for i, v in ipairs(c) do s = s * x "
                                       "+ v + c[i] end return s end"),
        LAW("local function ramp(v) return math.max(0, math.min(1, v)) end",
            "function(x, t) return ramp(x) - ramp(t) end"),
        LAW("local fs = {} for i = 1, 3 do fs[i] = function(v) return v * i end end",
            "function(x) return fs[1](x) + fs[3](x) end"),
        LAW("", "function(x) if x > 100 then error('too far') end return x end"),
        LAW("", "function(x) local v = x if x > 1e9 then v = nil end return v + 1 end"),
        LAW("", "function(x) assert(x < 100, 'too far') return x // 1 + x % -2 end"),
        LAW("", "function(x, gain) return sel.step(x - 1) * gain end"),
        LAW("", "function(x, t) return sel.ramp(t, 3) * sel.ramp(x - 1, 2.5) end"),
        LAW("local T = 4", "function(t, gain) return sel.ramp(t, T) * gain end"),
        LAW("", "function(x) return x and 2 or 3 end"),
        LAW("", "function(x) return not x and 2 or 3 end"),
        LAW("", "function(x) local v = { a = x, b = { x, 2 } } return v.a + v.b[1] * v.b[2] end"),
        LAW("",
            "function(x) while x > 0 do return 1 end repeat local z = x until true return x end"),
        LAW("", "function(y) local n = 5 // 2 return n * y - (1 << 3) end"),
        LAW("", "function() return 0.25 end"),
        LAW("", "function(x) local n = 1 local function add(v) n = n + v end\n"
                "add(x) add(2) return n end"),
        LAW("local c = { 1, 2 }", "function(x) local k <const>, s <const> = 2, 3\n"
                                  "local v = {} v.a, v[1] = c[1], x return v.a * v[1] + s end"),
        LAW("local v = setmetatable({ a = 2 }, { __add = function(p, q) return p.a + q end })",
            "function(x) return v + x end"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script_case c;
        notices n;
        double out[PLACES];
        load(&c, &n, cases[i]);
        const sel_lua_function *f = law_function(&c, 0);
        if (!f->program || !f->base.program)
            fail_msg("case %zu: '%s'", i, f->why);
        evaluate(f, 0, out);
        evaluate(f, 1.5, out);
        assert_non_null(f->program);
        assert_int_equal(n.count, 0);
        script_done(&c);
    }
}

static void what_does_not_depend_on_place_runs_once_per_call(void **state) {
    (void)state;
    script_case c;
    notices n;
    load(&c, &n, LAW("", "function(x, t, gain) return x * math.sin(gain * t) end"));
    const sel_program *p = law_function(&c, 0)->base.program;
    assert_non_null(p);
    assert_int_equal(p->depends, SEL_ON_X | SEL_ON_T | SEL_ON_CONTROLS);
    assert_int_equal(p->layout.once, 2);
    assert_int_equal(p->operations, 1);
    script_done(&c);
    load(&c, &n, LAW("local k = 3", "function() return math.exp(k) * math.sqrt(2) end"));
    p = law_function(&c, 0)->base.program;
    assert_int_equal(p->depends, 0);
    assert_int_equal(p->layout.once + p->layout.each, 0);
    script_done(&c);
}

static void errors_at_a_place_are_those_of_lua(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {LAW("", "function(x) if x > 1.2 then error('too far') end return x end"),
         "s.lua:6: too far (law.pressure, at x=1.5, y=1, t=0)"},
        {LAW("", "function(x) return math.log(x) end"), "returned nan as value 1"},
        {LAW("", "function(x) return 3 // math.floor(x) end"),
         "(law.pressure, at x=0.5, y=0, t=0)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static sel_error error;
        script_case c;
        notices n;
        double out[PLACES];
        load(&c, &n, cases[i].text);
        const sel_function *f = &law_function(&c, 0)->base;
        sel_places at = {.n = PLACES, .x = x_places, .y = y_places};
        memset(&error, 0, sizeof error);
        assert_non_null(f->program);
        assert_int_equal(f->eval(f, &at, out, &error), SEL_BAD_SCENARIO);
        if (!strstr(error.text, cases[i].message))
            fail_msg("%s", error.text);
        script_done(&c);
    }
}

static void integers_beyond_2_to_the_53_are_left_to_lua(void **state) {
    (void)state;
    static const char *const cases[] = {
        "function(x) return math.floor(x) * 3000 + 0.5 end",
        "function(x) local n = math.min(math.floor(x), 1 / 0)\n"
        "return (n * 0 + math.floor(x)) * 3000 + 0.5 end",
        "function(x) local n = math.max(math.floor(x), 0 / 0)\n"
        "return (n - n + math.floor(x)) * 3000 + 0.5 end",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script_case c;
        notices n;
        char text[1024];
        double out[2], x[2] = {3.5, 4e15}, lua[2];
        snprintf(text, sizeof text, LAW("", "%s"), cases[i]);
        load(&c, &n, text);
        const sel_lua_function *f = law_function(&c, 0);
        sel_places at = {.n = 2, .x = x, .y = x};
        assert_non_null(f->base.program);
        assert_int_equal(f->base.eval(&f->base, &at, out, NULL), SEL_OK);
        assert_int_equal(sel_function_call(f, &at, NULL, lua, NULL), SEL_OK);
        assert_memory_equal(out, lua, sizeof out);
        assert_true(out[0] == 9000.5);
        assert_non_null(f->program);
        script_done(&c);
    }
}

static void symbols_that_a_function_keeps_are_of_no_use_to_others(void **state) {
    (void)state;
    script_case c;
    notices n;
    double out[PLACES];
    load(&c, &n,
         LAWS("local kept = { v = 0 }", "function(x) kept.v = x * x + 1 return x end",
              "function(x) return x + kept.v end"));
    const sel_lua_function *f = law_function(&c, 0), *other = law_function(&c, 1);
    assert_non_null(strstr(f->why, "it changes a table outside of it"));
    evaluate(f, 0, out);
    evaluate(other, 0, out);
    assert_null(other->program);
    assert_true(out[0] == 0.5 + x_places[PLACES - 1] * x_places[PLACES - 1] + 1);
    script_done(&c);
    load(&c, &n,
         LAW("local last = { v = 0 }", "function(x) local d = x - last.v last.v = x return d end"));
    assert_non_null(strstr(law_function(&c, 0)->why, "it changes a table outside of it"));
    script_done(&c);
}

/* Values that depend on the arguments only, whoever computed them before. */
static void memo_tables_work(void **state) {
    (void)state;
    static const char *const cases[] = {
        LAW("local memo = { x = 0, v = 0 }",
            "function(x) if not (x >= memo.x and x <= memo.x) then memo.x, memo.v = x, x * x end\n"
            "return memo.v end"),
        LAW("local memo = {}",
            "function(x) if not memo.v then memo.v = 2 end memo.last = x return memo.v * x end"),
        LAW("local deep = { { n = 0 } }\nlocal function f(v) deep[1].n = v return v end",
            "function(x) return f(x) + deep[1].n end"),
        LAW("local memo = setmetatable({}, { __index = function(t, k) return k end })",
            "function(x) memo.a = x return memo.a + 1 end"),
        LAW("local calls = { n = 0 / 0 }", "function(x) calls.n = x return x end"),
        LAW("local function f(v) return v end\nlocal kept = { f = f }",
            "function(x) kept.f = function(v) return v end return kept.f(x) end"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script_case c;
        notices n;
        double out[PLACES];
        load(&c, &n, cases[i]);
        const sel_lua_function *f = law_function(&c, 0);
        if (!strstr(f->why, "it changes a table outside of it"))
            fail_msg("case %zu: '%s'", i, f->why);
        evaluate(f, 0, out);
        evaluate(f, 1, out);
        script_done(&c);
    }
}

/* -0.0 - 0 is 0.0 in Lua where the 0 stands in the text. */
static void zero_less_zero_has_the_sign_that_lua_gives(void **state) {
    (void)state;
    static const char *const cases[] = {
        "function(x) return x - 0 end", "function(x) local z = 0 return x - z end",
        "function(x) return -(x * 0.0) - 0 end", "function(x) return x - 0.0 end"};
    static const double x[] = {-0.0, 0.0, 1, -2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script_case c;
        notices n;
        char text[1024];
        double out[4], lua[4];
        snprintf(text, sizeof text, LAW("", "%s"), cases[i]);
        load(&c, &n, text);
        const sel_lua_function *f = law_function(&c, 0);
        sel_places at = {.n = 4, .x = x, .y = x};
        assert_non_null(f->base.program);
        assert_int_equal(f->base.eval(&f->base, &at, out, NULL), SEL_OK);
        assert_int_equal(sel_function_call(f, &at, NULL, lua, NULL), SEL_OK);
        assert_memory_equal(out, lua, sizeof out);
        assert_non_null(f->program);
        script_done(&c);
    }
}

/* What one function changes another may read: both are Lua's from the start. */
static void a_function_that_reads_what_another_changes_is_no_program(void **state) {
    (void)state;
    script_case c;
    notices n;
    double out[PLACES];
    load(&c, &n,
         LAWS("local k = 1", "function(x) return k * x end", "function(x) k = k + 1 return x end"));
    const sel_lua_function *f = law_function(&c, 0);
    assert_true(!f->program && !f->base.program);
    evaluate(f, 0, out);
    assert_true(out[0] == 0.5);
    sel_places one = {.n = 1, .x = x_places, .y = y_places};
    const sel_function *other = &law_function(&c, 1)->base;
    assert_int_equal(other->eval(other, &one, out, NULL), SEL_OK);
    evaluate(f, 0, out);
    assert_true(out[0] == 1);
    assert_non_null(strstr(f->why, "another function of the script changes what this one"));
    assert_non_null(strstr(n.text, "it changes 'k', a variable outside of it"));
    script_done(&c);
}

static void predicates_become_programs(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    double in[PLACES];
    script_accepts(&c, LBM("regions = { { law = law.wall {},\n"
                           "where = shape.inside(function(x, y) return x > 1 and not (y > 3) or "
                           "x < 0 end) } }"));
    const sel_region *region = script_lbm(&c)->common.regions.v;
    const sel_function *test = ((const sel_shape_inside *)region->where->data)->test;
    sel_places at = {.n = PLACES, .x = x_places, .y = y_places};
    assert_non_null(test->program);
    assert_int_equal(test->eval(test, &at, in, NULL), SEL_OK);
    for (int i = 0; i < PLACES; i++)
        assert_true(in[i] == ((x_places[i] > 1 && !(y_places[i] > 3)) || x_places[i] < 0));
    script_done(&c);
}

static double cpu_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Evaluates a row of `n` places. */
static void evaluate_row(const sel_lua_function *f, size_t n, int row, double *x, double *y,
                         double *out) {
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i + 0.5;
        y[i] = row + 0.5;
    }
    sel_places at = {.n = n, .x = x, .y = y, .t = row};
    assert_int_equal(f->base.eval(&f->base, &at, out, NULL), SEL_OK);
}

/* Seconds of processor time for a row of `n` places; the first row, compared with Lua, aside. */
static double seconds_per_row(const sel_lua_function *f, size_t n, int rows) {
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *out = malloc(n * sizeof *out);
    evaluate_row(f, n, 0, x, y, out);
    double before = cpu_seconds();
    for (int row = 1; row <= rows; row++)
        evaluate_row(f, n, row, x, y, out);
    free(x);
    free(y);
    free(out);
    return (cpu_seconds() - before) / rows;
}

#if defined(__SANITIZE_ADDRESS__)
enum { SPEED_COUNTS = 0 };
#else
enum { SPEED_COUNTS = 1 };
#endif

static void an_inlet_costs_little_of_a_step(void **state) {
    (void)state;
    script_case c;
    notices n;
    load(&c, &n,
         LAW("local N = 2048",
             "function(y, t) local s = y / N\n"
             "local w = 1 + 0.2 * math.sin(2e-3 * t + 3 * s)\n"
             "if s < 0.5 then w = w * (1 + 0.1 * s) else w = w * (1.1 - 0.1 * s) end\n"
             "return 0.05 * math.min(1, t / 1000) * 4 * s * (1 - s) * w end"));
    double seconds = seconds_per_row(law_function(&c, 0), 2048, 200);
    /* A step of 2048^2 cells takes 20 ms at 200 million updates a second. */
    print_message("# an inlet of 2048 cells: %.3g ms, %.2g %% of a step of 20 ms\n", 1e3 * seconds,
                  100 * seconds / 0.02);
    assert_true(!SPEED_COUNTS || seconds < 0.02 * 0.02);
    script_done(&c);
}

static void fields_are_painted_fast(void **state) {
    (void)state;
    script_case c;
    notices n;
    load(&c, &n,
         LAW("", "function(x, y) local r = (x - 2000)^2 + (y - 1000)^2\n"
                 "if r < 500^2 then return math.sin(x / 10) end return 0.5 * r end"));
    double seconds = 4096 * seconds_per_row(law_function(&c, 0), 4096, 256);
    print_message("# a field of 4096^2 cells: %.3g s\n", seconds);
    assert_true(!SPEED_COUNTS || seconds < 2);
    script_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_cannot_be_followed_are_left_to_lua),
        cmocka_unit_test(ordinary_functions_become_programs),
        cmocka_unit_test(what_does_not_depend_on_place_runs_once_per_call),
        cmocka_unit_test(errors_at_a_place_are_those_of_lua),
        cmocka_unit_test(integers_beyond_2_to_the_53_are_left_to_lua),
        cmocka_unit_test(symbols_that_a_function_keeps_are_of_no_use_to_others),
        cmocka_unit_test(memo_tables_work),
        cmocka_unit_test(zero_less_zero_has_the_sign_that_lua_gives),
        cmocka_unit_test(a_function_that_reads_what_another_changes_is_no_program),
        cmocka_unit_test(predicates_become_programs),
        cmocka_unit_test(an_inlet_costs_little_of_a_step),
        cmocka_unit_test(fields_are_painted_fast),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
