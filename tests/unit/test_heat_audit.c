/* test_heat_audit.c -- the audit of single precision: runs in f32 say when their steps lose what
 * they should add to cells, and only then.
 */
#include "tests/unit/compare_files.h"
#include "tests/unit/heat_case.h"
#include "tests/unit/run_case.h"

/* Two blocks of copper with insulation between them, of which one is heated through its end. */
#define BLOCKS                                                                          \
    "local flux = %s\n"                                                                 \
    "return sel.heat { size = { 41, 6 }, dx = 0.0005, dt = %s, conductivity = %s,\n"    \
    "capacity = 3.45e6, precision = '%s', scheme = '%s',\n"                             \
    "initial = { temperature = function(x) return x < 0.0105 and %s or 300 end },\n"    \
    "regions = { all(law.insulated {}), face('x+', law.flux { flux }),\n"               \
    "  { name = 'gap', where = shape.box { min = { 0.01, 0 }, max = { 0.0105, 1 } },\n" \
    "    law = law.insulated {} } },\n"                                                 \
    "source = %s, stop = { steps = 60000, every = 200 }, hooks = { { every = 1000,\n"   \
    "  call = function(run) if run.step == 1000 then run:stop 'enough' end end } } }\n"

typedef struct blocks {
    const char *flux, *dt, *conductivity, *precision, *scheme, *left, *source;
} blocks;

static const blocks lossy = {"200000", "2e-6", "400", "f32", "explicit", "-300", "nil"};

/* The warning of a run in run.json; "": there is none. Freed by the caller. */
static char *warning_of(const blocks *b) {
    char text[2 * HEAT_TEXT];
    snprintf(text, sizeof text, HEAT_BEGIN BLOCKS, b->flux, b->dt, b->conductivity, b->precision,
             b->scheme, b->left, b->source);
    return case_warnings(text);
}

static void must_warn(const blocks *b) {
    char *found = warning_of(b);
    const char *first = strstr(found, "a step in f32 misses what it should add to a cell");
    if (!first || !strstr(first, "take precision = \\\"f64\\\"") ||
        strstr(first + 1, "a step in f32 misses")) {
        fail_msg("flux %s, source %s: not told once: %s", b->flux, b->source, found);
    }
    free(found);
}

static void must_be_silent(const blocks *b) {
    char *found = warning_of(b);
    if (*found) {
        fail_msg("flux %s, %s, %s: %s", b->flux, b->precision, b->left, found);
    }
    free(found);
}

static void changes_below_the_digits_are_told_once(void **state) {
    (void)state;
    blocks b = lossy;
    must_warn(&b);
    b.flux = "function(y, t) return 200000 + 10 * sin(t) + y end";
    must_warn(&b);
    b.conductivity = "function(x) return 400 + 1000 * x end";
    must_warn(&b);
    b = lossy;
    b.flux = "0";
    b.source = "function(x, t) return 1e8 * (1 + 0.1 * sin(t)) end";
    must_warn(&b);
}

/* In f64 nothing is lost; nor by bodies of one temperature, whose states are less a reference; and
 * where so little changes that it does not matter, none is told of it. */
static void others_are_silent(void **state) {
    (void)state;
    blocks b = lossy;
    b.precision = "f64";
    must_be_silent(&b);
    b = lossy;
    b.left = "300";
    must_be_silent(&b);
    b = lossy;
    b.flux = "200";
    must_be_silent(&b);
    b = lossy;
    b.scheme = "backward_euler";
    b.dt = "2e-3";
    must_be_silent(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_below_the_digits_are_told_once),
        cmocka_unit_test(others_are_silent),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
