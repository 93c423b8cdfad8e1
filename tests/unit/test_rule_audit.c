/* test_rule_audit.c -- the audit of single precision in rules: runs in f32 say when their steps
 * lose what they should add to cells, and only then.
 */
#include "tests/unit/compare_files.h"
#include "tests/unit/heat_case.h"
#include "tests/unit/run_case.h"

/* A field, its rules and what else there is in the scenario. */
typedef struct rules {
    const char *precision, *rule, *initial, *more;
} rules;

#define RULES                                                                                   \
    "return sel.rule { size = { 40, 12 }, periodic = { 'x', 'y' }, dx = 1, dt = 1, seed = 7,\n" \
    "precision = '%s', rule = %s, initial = { %s }, %s,\n"                                      \
    "stop = { steps = 100000, every = 50 }, hooks = { { every = 300,\n"                         \
    "  call = function(run) if run.step == 900 then run:stop 'enough' end end } } }\n"

#define REAL "state = { u = 'real' }"
#define MISSES "a step in f32 misses what it should add to a cell's "

/* The warnings of a run in run.json. Freed by the caller. */
static char *warnings_of(const rules *s) {
    char text[2 * HEAT_TEXT];
    snprintf(text, sizeof text, HEAT_BEGIN RULES, s->precision, s->rule, s->initial, s->more);
    return case_warnings(text);
}

static void must_warn(const rules *s, const char *field) {
    char *found = warnings_of(s), begin[200];
    snprintf(begin, sizeof begin, MISSES "%s, ", field);
    const char *first = strstr(found, begin);
    if (!first ||
        !strstr(first, "take precision = \\\"f64\\\", or keep in the field how far it is") ||
        strstr(first + 1, MISSES)) {
        fail_msg("%s: not told once: %s", s->rule, found);
    }
    free(found);
}

static void must_be_silent(const rules *s) {
    char *found = warnings_of(s);
    if (strstr(found, MISSES)) {
        fail_msg("%s, %s: %s", s->rule, s->precision, found);
    }
    free(found);
}

#define MEAN_OF_FOUR "(c(1, 0).u + c(-1, 0).u + c(0, 1).u + c(0, -1).u) / 4"

static void changes_below_the_digits_are_told_once(void **state) {
    (void)state;
    rules s = {"f32", "function(c) return c.u + 1e-9 end", "u = 1", REAL};
    must_warn(&s, "u");
    s.rule = "function(c) return c.u + 1e-9 * sel.random(1) end";
    must_warn(&s, "u");
    s.rule = "function(c) return c.u + 0.8 * (" MEAN_OF_FOUR " - c.u) + 1e-9 end";
    must_warn(&s, "u");
    s.rule = "function(c) return c.u * (1 + 1e-9) end";
    s.initial = "u = function(x) return 1 + x / 8000 end";
    must_warn(&s, "u");
    s.rule = "function(c) return { u = c.u + 1e-9 * c.n } end";
    s.initial = "u = 1, n = 1";
    s.more = "state = { u = 'real', n = 'u8' }";
    must_warn(&s, "u");
}

/* Of all fields and rules; with components, and data that vary in time. */
static void all_fields_and_rules_are_audited(void **state) {
    (void)state;
    rules s = {"f32",
               "{ function(c) return { u = 0.5 * c.u } end,\n"
               "  function(c) return { w = c.w + 1e-9 * (1 + c.u) } end }",
               "u = 1, w = 1", "state = { u = 'real', w = 'real' }, main = 'u'"};
    must_warn(&s, "w");
    s.rule = "function(c) return c.u + 1e-9 * c.rain end";
    s.initial = "u = 1";
    s.more = REAL ", data = { rain = function(x, t) return 1 + 0.1 * sin(t) end }";
    must_warn(&s, "u");
}

static void others_are_silent(void **state) {
    (void)state;
    rules s = {"f64", "function(c) return c.u + 1e-9 end", "u = 1", REAL};
    must_be_silent(&s);
    s.precision = "f32";
    s.initial = "u = function(x) return 10 * x end"; /* so little does not matter */
    must_be_silent(&s);
    s.initial = "u = 0"; /* less a constant */
    must_be_silent(&s);
    s = (rules){"f32",
                "function(c) local n = 0\n"
                "for i = -1, 1 do for j = -1, 1 do n = n + c(i, j).u end end\n"
                "return (n == 3 or n - c.u == 3) and 1 or 0 end",
                "u = function(x, y) return sel.random(1) < 0.3 and 1 or 0 end",
                "state = { u = 'u8' }"};
    must_be_silent(&s);
    /* What is computed afresh in each step does not lose what was there. */
    s = (rules){"f32", "function(c) return { s = 1 + 1e-9 * c.u, u = 0.999 * c.u } end",
                "u = function(x) return x end", "state = { u = 'real', s = 'real' }"};
    must_be_silent(&s);
}

/* The last changes on the way to an equilibrium, and what rounding leaves there, are small; but
 * they are not all that a run is about. */
static void fields_that_come_to_rest_are_silent(void **state) {
    (void)state;
    rules s = {"f32", "function(c) return c.u + 0.8 * (" MEAN_OF_FOUR " - c.u) end",
               "u = function(x, y) return 1 + sin(pi * x / 20) * cos(pi * y / 6) end", REAL};
    must_be_silent(&s);
    s.rule = "function(c) return " MEAN_OF_FOUR " end";
    must_be_silent(&s);
    s.rule = "function(c) return c.u - 0.05 * (c.u - 1) end";
    must_be_silent(&s);
    s.initial = "u = 2";
    must_be_silent(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_below_the_digits_are_told_once),
        cmocka_unit_test(all_fields_and_rules_are_audited),
        cmocka_unit_test(others_are_silent),
        cmocka_unit_test(fields_that_come_to_rest_are_silent),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
