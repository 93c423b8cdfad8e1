/* test_rule_steps.c -- rules as graphs on the CPU, against the same rules as plain loops in C.
 */
#include <limits.h>
#include <unistd.h>
#include "engine/values/philox.h"
#include "tests/unit/rule_graph.h"

/* ---- Gray and Scott ---- */

/* u or v: their Laplacian, and u v^2. */
static int laplacian(graph *g, int field, int four) {
    const int away[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    int sum = graph_read(g, field, 1, 0, 0);
    for (int k = 1; k < 4; k++) {
        sum = graph_op(g, SEL_OP_ADD, sum, graph_read(g, field, away[k][0], away[k][1], 0));
    }
    return graph_op(g, SEL_OP_SUB, sum,
                    graph_op(g, SEL_OP_MUL, four, graph_read(g, field, 0, 0, 0)));
}

static graph *gray_scott(void) {
    graph *g = graph_create();
    const int four = graph_number(g, 4), two = graph_number(g, 2), one = graph_number(g, 1);
    const int du = graph_number(g, 0.16), dv = graph_number(g, 0.08);
    const int feed = graph_number(g, 0.037), loss = graph_number(g, 0.037 + 0.06);
    const int dt =
        graph_add(g, (sel_rule_node){.op = SEL_OP_ARGUMENT, .operand = {SEL_ARGUMENT_DT}});
    const int u = graph_read(g, 0, 0, 0, 0), v = graph_read(g, 1, 0, 0, 0);
    const int rate = graph_op(g, SEL_OP_MUL, u, graph_op(g, SEL_OP_POW, v, two));
    const int gain = graph_op(g, SEL_OP_MUL, feed, graph_op(g, SEL_OP_SUB, one, u));
    int nu = graph_op(g, SEL_OP_MUL, du, laplacian(g, 0, four));
    int nv = graph_op(g, SEL_OP_MUL, dv, laplacian(g, 1, four));
    nu = graph_op(g, SEL_OP_ADD, graph_op(g, SEL_OP_SUB, nu, rate), gain);
    nv = graph_op(g, SEL_OP_SUB, graph_op(g, SEL_OP_ADD, nv, rate),
                  graph_op(g, SEL_OP_MUL, loss, v));
    graph_return(g, 0, graph_op(g, SEL_OP_ADD, u, graph_op(g, SEL_OP_MUL, dt, nu)));
    graph_return(g, 1, graph_op(g, SEL_OP_ADD, v, graph_op(g, SEL_OP_MUL, dt, nv)));
    return g;
}

enum { NX = 300, NY = 37 };

static void plain_gray_scott(double *u, double *v) {
    static double a[NY][NX], b[NY][NX];
    const double dt = 0.9;
    for (int y = 0; y < NY; y++) {
        for (int x = 0; x < NX; x++) {
            const int at = y * NX + x, e = y * NX + (x + 1) % NX, w = y * NX + (x + NX - 1) % NX;
            const int n = (y + 1) % NY * NX + x, s = (y + NY - 1) % NY * NX + x;
            const double rate = u[at] * (v[at] * v[at]);
            a[y][x] = u[at] + dt * (0.16 * (u[e] + u[w] + u[n] + u[s] - 4 * u[at]) - rate +
                                    0.037 * (1 - u[at]));
            b[y][x] = v[at] + dt * (0.08 * (v[e] + v[w] + v[n] + v[s] - 4 * v[at]) + rate -
                                    (0.037 + 0.06) * v[at]);
        }
    }
    memcpy(u, a, sizeof a);
    memcpy(v, b, sizeof b);
}

static void gray_scott_equals_a_plain_loop_bit_for_bit(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        rule_case c;
        graph *g = gray_scott();
        rule_load(
            &c, RULE_BEGIN
            "return sel.rule { size = { 300, 37 }, periodic = { 'x', 'y' }, dt = 0.9,\n"
            "precision = 'f64', main = 'v', state = { u = 'real', v = 'real' }, rule = none,\n"
            "initial = { u = function(x, y) return 1 - math.exp(-(x - 9) ^ 2 / 99) end,\n"
            "v = function(x, y) return math.exp(-(x - 20) ^ 2 / 90 - y / 8) end },\n"
            "stop = { steps = 9 } }");
        rule_params_of(&c)->rule.v[0].source = &g->source;
        rule_open(&c, threads);
        double *u = rule_values(&c, "u"), *v = rule_values(&c, "v");
        rule_steps(&c, 21);
        for (int k = 0; k < 21; k++) {
            plain_gray_scott(u, v);
        }
        double *a = rule_values(&c, "u"), *b = rule_values(&c, "v");
        assert_memory_equal(a, u, NX * NY * sizeof *a);
        assert_memory_equal(b, v, NX * NY * sizeof *b);
        assert_true(v[5] > 1e-6 && v[5] < 10);
        free(a), free(b), free(u), free(v), free(g);
        rule_close(&c);
    }
}

/* ---- the R-pentomino ---- */

static graph *life(void) {
    graph *g = graph_create();
    int n = -1;
    for (int k = 0; k < 9; k++) {
        const int cell = graph_read_whole(g, 0, k % 3 - 1, k / 3 - 1, 0, 255);
        n = n < 0 ? cell : graph_whole(g, SEL_OP_ADD, n, cell, 0, 255 * (k + 1));
    }
    const int own = graph_read_whole(g, 0, 0, 0, 0, 255), one = graph_integer(g, 1);
    n = graph_whole(g, SEL_OP_SUB, n, own, -255, 2295);
    const int three = graph_condition(g, SEL_OP_EQ, n, graph_integer(g, 3));
    const int two = graph_condition(g, SEL_OP_EQ, n, graph_integer(g, 2));
    const int lives = graph_condition(g, SEL_OP_AND, two, graph_condition(g, SEL_OP_EQ, own, one));
    graph_return(
        g, 0,
        graph_select(g, graph_condition(g, SEL_OP_OR, three, lives), one, graph_integer(g, 0)));
    return g;
}

static void the_r_pentomino_settles(void **state) {
    (void)state;
    rule_case c;
    graph *g = life();
    rule_load(&c, RULE_BEGIN
              "local function box(i, j) return { shape.box { min = { i, j }, max = { i + 1, j + 1 "
              "} }, 1 } end\n"
              "return sel.rule { size = { 640, 640 }, periodic = { 'x', 'y' }, rule = none,\n"
              "state = { alive = 'u8' }, stop = { steps = 9 }, initial = { alive = sel.paint { 0,\n"
              "box(321, 320), box(322, 320), box(320, 319), box(321, 319), box(321, 318) } } }");
    rule_params_of(&c)->rule.v[0].source = &g->source;
    rule_open(&c, 2);
    const int64_t steps[] = {1102, 1, 97};
    const double population[] = {118, 116, 116};
    for (int k = 0; k < 3; k++) {
        rule_steps(&c, steps[k]);
        sel_request sum = {.kind = SEL_REDUCE, .box = sel_grid_box(&c.prepared.domain->grid)};
        c.prepared.backend->start(c.state, &sum, &c.error);
        assert_true(sum.sum[0] == population[k]);
    }
    free(g);
    rule_close(&c);
}

/* ---- whole numbers beyond 2^53 ---- */

enum { ROW = 300, ROWS = 7, WHOLE = ROW * ROWS };

#define GENERATOR                                                                        \
    RULE_BEGIN                                                                           \
    "return sel.rule { size = { 300, 7 }, periodic = { 'x', 'y' }, precision = 'f64',\n" \
    "state = { g = 'i32', h = 'real' }, main = 'h', stop = { steps = 9 },\n"             \
    "initial = { g = function(x, y) return math.floor(x) * 40 + math.floor(y) - 90 end " \
    "},\n"                                                                               \
    "derived = { high = function(c) return c.g * 6700417 * 1000003 >> 33 end },\n"       \
    "rule = function(c) local s = c.g * 1103515245 * 65537 + 12345\n"                    \
    "return { g = s >> 24 & 0x7fffffff, h = s + c(1, 0).g * 0.5 } end }"

/* Integers of 64 bits that wrap, as Lua has them. */
static void plain_generator(const int64_t g[WHOLE], int64_t next[WHOLE], double h[WHOLE]) {
    for (int i = 0; i < WHOLE; i++) {
        const uint64_t s = (uint64_t)g[i] * 1103515245u * 65537u + 12345u;
        const int east = i / ROW * ROW + (i + 1) % ROW;
        next[i] = (int64_t)(s >> 24 & 0x7fffffff);
        h[i] = (double)(int64_t)s + (double)g[east] * 0.5;
    }
}

/* Some cells of the first step stay below 2^53, all others pass it. */
static void beyond_2_53_lua_takes_over(void **state) {
    (void)state;
    static int64_t g[WHOLE], next[WHOLE];
    static double h[WHOLE];
    for (int threads = 1; threads <= 3; threads++) {
        rule_case c;
        rule_load(&c, GENERATOR);
        rule_open(&c, threads);
        for (int i = 0; i < WHOLE; i++) {
            g[i] = i % ROW * 40 + i / ROW - 90;
        }
        for (int step = 0; step < 3; step++) {
            double *high = rule_values(&c, "high");
            for (int i = 0; i < WHOLE; i++) {
                const uint64_t product = (uint64_t)g[i] * 6700417u * 1000003u;
                assert_true(high[i] == (double)(product >> 33));
            }
            plain_generator(g, next, h);
            memcpy(g, next, sizeof g);
            rule_steps(&c, 1);
            double *now = rule_values(&c, "g"), *real = rule_values(&c, "h");
            for (int i = 0; i < WHOLE; i++) {
                assert_true(now[i] == (double)g[i]);
                assert_true(real[i] == h[i]);
            }
            free(high), free(now), free(real);
        }
        rule_close(&c);
    }
}

/* A look-up table and a loop over a field, beside a rule that is compiled. */
static void what_lua_evaluates_has_the_precision_of_the_run(void **state) {
    (void)state;
    for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
        const sel_settings settings = {
            .precision = precision, .backend = SEL_BACKEND_CPU, .threads = 2};
        rule_case c;
        rule_load(
            &c, RULE_BEGIN
            "local next = { [0] = 1, 2, 0 }\n"
            "return sel.rule { size = { 300, 7 }, periodic = { 'x', 'y' }, stop = { steps = "
            "9 },\n"
            "state = { s = 'u8', n = 'i32', age = 'real', u = 'real', v = 'real' }, main = 'age',\n"
            "initial = { s = function(x) return math.floor(x) % 3 end,\n"
            "age = function(x, y) return 10 * x + y end, n = 16777217 },\n"
            "derived = { d = function(c) return c.age + next[c.s] end },\n"
            "rule = { function(c) return { s = next[c.s], n = c.n + 1, v = c.age / 3 } end,"
            "\nfunction(c) return { age = c.age + 0.5 } end,\n"
            "function(c)\n"
            "  local k = 0\n"
            "  while k < c.age do k = k + 1000 end\n"
            "  return { u = k + 0.1 }\n"
            "end } }");
        rule_open_on(&c, &settings);
        rule_steps(&c, 2);
        double *s = rule_values(&c, "s"), *n = rule_values(&c, "n"), *age = rule_values(&c, "age");
        double *x = rule_values(&c, "u"), *y = rule_values(&c, "v"), *d = rule_values(&c, "d");
        for (int i = 0; i < WHOLE; i++) {
            const double was = 10 * (i % ROW + 0.5) + (i / ROW + 0.5) + 0.5, third = was / 3;
            const double above = ceil((was + 0.5) / 1000) * 1000 + 0.1;
            const bool single = precision == SEL_F32;
            assert_true(s[i] == (i % ROW + 2) % 3);
            assert_true(n[i] == 16777219);
            assert_true(age[i] == was + 0.5);
            assert_true(d[i] == age[i] + (i % ROW + 3) % 3);
            assert_true(x[i] == (single ? (double)(float)above : above));
            assert_true(y[i] == (single ? (double)(float)third : third));
        }
        free(s), free(n), free(age), free(x), free(y), free(d);
        rule_close(&c);
    }
}

/* ---- whole numbers beyond 2^24 in a run in single precision ---- */

static const char whole_numbers[] = RULE_BEGIN
    "return sel.rule { size = { 300, 7 }, periodic = { 'x', 'y' }, precision = 'f32',\n"
    "seed = 61551765, stop = { steps = 9 }, main = 'n',\n"
    "state = { n = 'i32', m = 'i32', a = 'i32', b = 'i32', d = 'i32', e = 'i32', f = 'i32',\n"
    "  g = 'i32', h = 'i32', k = 'i32', u = 'real', r = 'real', six = 'u8' },\n"
    "initial = { m = function(x, y) return 40000 - 7 * math.floor(x) - math.floor(y) end,\n"
    "n = function(x, y) return (math.floor(x) % 2 * 2 - 1) * (2147483647 - 7919 * math.floor(x))\n"
    "  end, u = 0.25 },\n"
    "derived = { half = function(c) return c.n % 1000 / 2 end },\n"
    "rule = function(c, x)\n"
    "  local draw = sel.random(1)\n"
    "  return { a = c.n % 10, b = -c.n, d = c.n // -7, e = math.fmod(c.n, 1000), f = c.m * c.m,\n"
    "    g = c.n * 16807 % 2147483647, h = (c.n * 1000003 ~ c.m * 193) % 1000,\n"
    "    k = math.floor(math.max(c.n, c.u)) % 1000 + math.floor(c.n / 10) // 3, u = c.n - "
    "2147483000.0,\n"
    "    r = math.max(c.r, draw), six = math.floor(draw * 6) }\n"
    "end }";

static int64_t modulo(int64_t a, int64_t by) {
    return (a % by + by) % by;
}

static void check_whole_numbers(rule_case *c) {
    static const char *const name[] = {"a", "b", "d", "e", "f", "g", "h", "k", "u"};
    enum { COUNT = sizeof name / sizeof *name };
    double *got[COUNT], *half = rule_values(c, "half");
    for (int k = 0; k < COUNT; k++) {
        got[k] = rule_values(c, name[k]);
    }
    for (int i = 0; i < WHOLE; i++) {
        const int64_t x = i % ROW, m = 40000 - 7 * x - i / ROW;
        const int64_t n = (x % 2 * 2 - 1) * (2147483647 - 7919 * x);
        const double tenth = floor((double)n / 10);
        const double right[COUNT] = {
            (double)modulo(n, 10),
            (double)-n,
            floor((double)n / -7),
            (double)(n % 1000),
            (double)(m * m),
            (double)modulo(n * 16807, 2147483647),
            (double)modulo((n * 1000003) ^ (m * 193), 1000),
            (double)modulo(n > 0 ? n : 0, 1000) + floor(tenth / 3),
            (double)(float)((double)n - 2147483000.0),
        };
        for (int k = 0; k < COUNT; k++) {
            if (got[k][i] != right[k]) {
                fail_msg("%s of n = %lld, m = %lld: %.17g, not %.17g", name[k], (long long)n,
                         (long long)m, got[k][i], right[k]);
            }
        }
        assert_true(half[i] == (double)modulo(n, 1000) / 2);
    }
    for (int k = 0; k < COUNT; k++) {
        free(got[k]);
    }
    free(half);
}

/* The first draw of cell 0 has 28 ones in front. */
static void check_draws(rule_case *c) {
    double *six = rule_values(c, "six"), *draw = rule_values(c, "r");
    assert_true(draw[0] == 1 - 0x1p-24);
    for (int i = 0; i < WHOLE; i++) {
        const double bits = sel_philox(61551765, i, 0, 1) * 0x1p-32;
        assert_true(draw[i] <= bits && draw[i] > bits * (1 - 0x1p-23));
        assert_true(six[i] == floor(bits * 6));
    }
    free(six), free(draw);
}

/* By the interpreter, and by machine code. */
static void whole_numbers_are_exact_and_draws_below_1_in_single_precision(void **state) {
    (void)state;
    char cache[PATH_MAX];
    assert_non_null(getcwd(cache, sizeof cache));
    setenv("XDG_CACHE_HOME", cache, 1);
    for (int native = 0; native < 2; native++) {
        rule_case c;
        setenv("SELENITE_CC", native ? "cc" : "0", 1);
        rule_load(&c, whole_numbers);
        rule_open(&c, 2);
        rule_steps(&c, 1);
        check_whole_numbers(&c);
        check_draws(&c);
        rule_close(&c);
    }
    unsetenv("SELENITE_CC");
    unsetenv("XDG_CACHE_HOME");
}

static void step_and_ramp_keep_nan(void **state) {
    (void)state;
    rule_case c;
    rule_load(&c, RULE_BEGIN
              "local bad = 0 / 0\n"
              "assert(sel.step(bad) ~= sel.step(bad) and sel.ramp(bad, 2) ~= sel.ramp(bad, 2))\n"
              "assert(sel.step(-0.0) == 1 and sel.step(-1e-9) == 0 and sel.step(7) == 1)\n"
              "assert(sel.ramp(-1, 2) == 0 and sel.ramp(1, 2) == 0.5 and sel.ramp(3, 2) == 1)\n"
              "return sel.rule { size = { 300, 7 }, periodic = { 'x', 'y' }, main = 'a', stop = { "
              "steps = 9 },\n"
              "state = { a = 'real', n = 'i32', u = 'real', v = 'real', w = 'real' },\n"
              "initial = { a = function(x) return math.floor(x) - 150 end, n = -7 },\n"
              "rule = function(c)\n"
              "  local odd = c.a ~= 0 and c.a * 0.5 or c.a / c.a\n"
              "  return { u = sel.step(odd), v = sel.ramp(odd, 2), w = sel.step(c.n) }\n"
              "end }");
    rule_open(&c, 1);
    rule_steps(&c, 1);
    double *u = rule_values(&c, "u"), *v = rule_values(&c, "v"), *w = rule_values(&c, "w");
    for (int x = 0; x < ROW; x++) {
        const double s = fmin(fmax((x - 150) * 0.25, 0), 1);
        assert_true(x == 150 ? isnan(u[x]) : u[x] == (x > 150));
        assert_true(x == 150 ? isnan(v[x]) : v[x] == s * s * (3 - 2 * s));
        assert_true(w[x] == 0);
    }
    free(u), free(v), free(w);
    rule_close(&c);
}

static void fails_with(const char *text, sel_status status, const char *words) {
    rule_case c;
    rule_load(&c, text);
    rule_open(&c, 2);
    assert_int_equal(c.prepared.backend->advance(c.state, 9, false, &c.error), status);
    if (!strstr(c.error.text, words)) {
        fail_msg("%s", c.error.text);
    }
    assert_true(c.prepared.backend->whole(c.state) < 0); /* nothing is left that may be written */
    rule_close(&c);
}

#define FAILING(body)                                                                   \
    RULE_BEGIN                                                                          \
    "return sel.rule { size = { 300, 7 }, periodic = { 'x', 'y' }, stop = { steps = 9 " \
    "}, state = { g = 'i32' },\n"                                                       \
    "initial = { g = function(x) return math.floor(x) end },\nrule = function(c) " body " end }"

static void what_lua_says_of_a_cell_ends_the_run(void **state) {
    (void)state;
    fails_with(FAILING("return c.g // (c.g - 283)"), SEL_BAD_SCENARIO,
               "zero (sel.rule.rule, in the cell at x=283.5, y=0.5, t=0)");
    fails_with(FAILING("return c.g % (c.g - 283)"), SEL_BAD_SCENARIO,
               "'n%0' (sel.rule.rule, in the cell at x=283.5, y=0.5, t=0)");
    fails_with(FAILING("return math.floor(10.0 ^ c.g)"), SEL_DIVERGED,
               "in step 1 rule gives 10000000000 for 'g', which holds whole numbers of 32 bits, in "
               "cell {10, 0}");
    fails_with(FAILING("return c.g < 7 and 1 or c.g * 4000000000 * 3000000000"), SEL_DIVERGED,
               "in step 1 rule gives -8.2337203685477581e+18 for 'g'");
    fails_with(FAILING("return math.floor(c.g / (c.g - c.g))"), SEL_DIVERGED,
               "for 'g', which holds whole numbers");
}

/* ---- random numbers ---- */

/* Values of the authors' own tests, which begin with these words. */
static void random_numbers_are_those_of_philox(void **state) {
    (void)state;
    assert_int_equal(sel_philox(0, 0, 0, 0), 0x6627e8d5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gray_scott_equals_a_plain_loop_bit_for_bit),
        cmocka_unit_test(the_r_pentomino_settles),
        cmocka_unit_test(beyond_2_53_lua_takes_over),
        cmocka_unit_test(what_lua_evaluates_has_the_precision_of_the_run),
        cmocka_unit_test(whole_numbers_are_exact_and_draws_below_1_in_single_precision),
        cmocka_unit_test(step_and_ramp_keep_nan),
        cmocka_unit_test(what_lua_says_of_a_cell_ends_the_run),
        cmocka_unit_test(random_numbers_are_those_of_philox),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
