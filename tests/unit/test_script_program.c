/* test_script_program.c -- programs give what their functions give in Lua, bit by bit. */
#include "pack_case.h"
#include "script_case.h"
#include "lua/function.h"

enum { FUNCTIONS = 200, PLACES = 400, TEXT = 1 << 15 };

/* Writes random functions: every choice comes from `seed`. */
typedef struct writer {
    uint64_t seed;
    char text[TEXT];
    size_t used;
    int branches; /* left */
} writer;

static unsigned choose(writer *w, unsigned n) {
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w->seed >> 33) % n;
}

static void add(writer *w, const char *text) {
    w->used += (size_t)snprintf(w->text + w->used, TEXT - w->used, "%s", text);
    assert_true(w->used < TEXT - 1);
}

static void add_expression(writer *w, int depth);

static void add_leaf(writer *w) {
    static const char *const leaves[] = {"x",       "y",    "t",   "gain",   "x",         "y",
                                         "a",       "b",    "0",   "1",      "2",         "3",
                                         "-7",      "10",   "0.5", "-1.5",   "3.7e-3",    "1e10",
                                         "math.pi", "-0.0", "2.0", "1e-300", "1000000007"};
    add(w, leaves[choose(w, sizeof leaves / sizeof *leaves)]);
}

static void add_condition(writer *w, int depth) {
    static const char *const comparisons[] = {" < ", " <= ", " > ", " >= "};
    if (choose(w, 6) == 0)
        add(w, "not ");
    add(w, "(");
    add_expression(w, depth - 1);
    add(w, comparisons[choose(w, 4)]);
    add_expression(w, depth - 1);
    add(w, ")");
}

static void add_binary(writer *w, int depth) {
    static const char *const operators[] = {" + ", " - ", " * ", " / ", " // ", " % ", " ^ "};
    add(w, "(");
    add_expression(w, depth - 1);
    add(w, operators[choose(w, 7)]);
    add_expression(w, depth - 1);
    add(w, ")");
}

static void add_call(writer *w, int depth) {
    static const struct {
        const char *name;
        unsigned arguments;
    } functions[] = {{"math.sqrt", 1},  {"math.exp", 1},  {"math.sin", 1},   {"math.cos", 1},
                     {"math.tan", 1},   {"math.asin", 1}, {"math.acos", 1},  {"math.atan", 1},
                     {"math.atan", 2},  {"math.log", 1},  {"math.floor", 1}, {"math.ceil", 1},
                     {"math.floor", 1}, {"math.ceil", 1}, {"math.abs", 1},   {"math.min", 2},
                     {"math.max", 2},   {"math.min", 3},  {"math.max", 3},   {"math.fmod", 2},
                     {"math.deg", 1},   {"math.rad", 1},  {"sel.step", 1},   {"(math.modf", 1},
                     {"-", 1},          {"math.floor", 1}};
    unsigned k = choose(w, sizeof functions / sizeof *functions);
    add(w, functions[k].name);
    for (unsigned i = 0; i < functions[k].arguments; i++) {
        add(w, i ? ", " : "(");
        add_expression(w, depth - 1);
    }
    add(w, functions[k].name[0] == '(' ? "))" : ")");
}

static void add_expression(writer *w, int depth) {
    unsigned kind = choose(w, 10);
    if (depth <= 0 || kind == 0) {
        add_leaf(w);
    } else if (kind < 5) {
        add_binary(w, depth);
    } else if (kind == 5 && w->branches > 0) {
        w->branches--;
        add(w, "(");
        add_condition(w, depth - 1);
        add(w, " and ");
        add_expression(w, depth - 1);
        add(w, " or ");
        add_expression(w, depth - 1);
        add(w, ")");
    } else {
        add_call(w, depth);
    }
}

static void add_assignment(writer *w, const char *name) {
    add(w, name);
    add(w, " = ");
    add_expression(w, 3);
    add(w, "\n");
}

static void add_branch(writer *w, int depth) {
    w->branches--;
    add(w, "if ");
    add_condition(w, 2);
    add(w, " then\n");
    add_assignment(w, "a");
    if (depth > 0 && w->branches > 0)
        add_branch(w, depth - 1);
    if (choose(w, 3) == 0 && w->branches > 0) {
        w->branches--;
        add(w, "elseif ");
        add_condition(w, 2);
        add(w, " then\n");
        add_assignment(w, "b");
    }
    add(w, "else\n");
    add_assignment(w, "a");
    add(w, "end\n");
}

static void write_function(writer *w) {
    w->branches = 5;
    add(w, "function(x, y, t, gain)\nlocal a, b = 1, x\n");
    add_assignment(w, "a");
    add_assignment(w, "b");
    add_branch(w, 2);
    if (choose(w, 2)) {
        add(w, "for i = 1, 4 do\nb = b * i + coefficients[i] * ");
        add_expression(w, 2);
        add(w, "\nend\n");
    }
    add(w, "return a, ");
    add_expression(w, 4);
    add(w, "\nend");
}

static void fill_places(double *x, double *y, int n) {
    static const double special[] = {0, -0.0, 1, -1, 0.5, -0.5, 2, 1e-310, 1e15, -3e15, 1e20};
    uint64_t seed = 5;
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < 2; c++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            double unit = (double)(seed >> 11) / 4503599627370496.0 - 1;
            double value = unit * (double[]){1, 10, 300, 1e5}[seed >> 62];
            value = seed >> 55 & 1u ? value : floor(value);
            *(c ? &y[i] : &x[i]) = seed >> 20 & 7u ? value : special[(seed >> 30) % 11];
        }
    }
}

static const sel_lua_function *law_function(const script_case *c, int region) {
    const sel_region *regions = script_lbm(c)->common.regions.v;
    const sel_quantity *q = regions[region].law.data;
    const sel_function *function = q->whole ? q->whole : q->part[0].function;
    return function->data;
}

/* At one place. Lua refuses results that are not finite; so must whoever looks at the program's. */
static bool agrees(const sel_lua_function *f, const sel_places *at, size_t i, const double *out) {
    static sel_error error;
    double lua[2 * PLACES] = {0};
    memset(&error, 0, sizeof error);
    bool finite = isfinite(out[i]) && isfinite(out[at->n + i]);
    if (sel_function_call_at(f, at, i, lua, &error) != SEL_OK)
        return !finite;
    return memcmp(&lua[i], &out[i], sizeof *out) == 0 &&
           memcmp(&lua[at->n + i], &out[at->n + i], sizeof *out) == 0;
}

static int compare_everywhere(const sel_lua_function *f) {
    double x[PLACES], y[PLACES], out[2 * PLACES], gain = 2.5;
    uint8_t exact[PLACES];
    int sure = 0;
    sel_places at = {PLACES, x, y, NULL, 7.25, &gain};
    fill_places(x, y, PLACES);
    assert_int_equal(sel_program_eval(f->program, &at, &gain, out, exact, NULL), SEL_OK);
    sel_pack *pack = sel_pack_create();
    pack_agrees(pack, sel_pack_add(pack, f->program), f->program, &at, &gain);
    sel_pack_destroy(pack);
    for (size_t i = 0; i < PLACES; i++) {
        sure += exact[i];
        if (exact[i] && !agrees(f, &at, i, out))
            return -1 - (int)i;
    }
    return sure;
}

static void generated_functions_agree_bit_by_bit(void **state) {
    (void)state;
    static char text[TEXT + 1024];
    int sure = 0, left = 0;
    for (unsigned k = 0; k < FUNCTIONS + (unsigned)left; k++) {
        writer *w = calloc(1, sizeof *w);
        script_case c = {.scenario = NULL};
        w->seed = k + 1;
        write_function(w);
        snprintf(text, sizeof text,
                 "local sel = require 'selenite'\n"
                 "local coefficients = {1, -0.5, 3, 0.25}\n"
                 "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8,\n"
                 "stop = { steps = 1 }, controls = { gain = 1 }, regions = {{\n"
                 "where = sel.shape.faces, law = sel.law.velocity {%s} }} }",
                 w->text);
        script_accepts(&c, text);
        const sel_lua_function *f = law_function(&c, 0);
        /* Some divide by a constant zero, or compute with huge integers, and are left to Lua. */
        bool left_to_lua = strstr(f->why, "it always ends in an error") || strstr(f->why, "2^53");
        if (f->by_lua && !left_to_lua)
            fail_msg("function %u fell back: %s\n%s", k, f->why, w->text);
        int found = f->by_lua ? 0 : compare_everywhere(f);
        left += f->by_lua;
        if (found < 0)
            fail_msg("function %u differs at place %d\n%s", k, -1 - found, w->text);
        sure += found;
        script_done(&c);
        free(w);
    }
    /* The comparison would be empty if programs were rarely sure. */
    assert_true(sure > FUNCTIONS * PLACES / 2);
    assert_true(left < FUNCTIONS / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_functions_agree_bit_by_bit),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
