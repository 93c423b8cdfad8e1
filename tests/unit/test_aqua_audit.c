/* test_aqua_audit.c -- the audit of whole quanta in run-off: runs say when what flows from cell to
 * cell is cut by much, and only then.
 */
#include "tests/unit/compare_files.h"
#include "tests/unit/heat_case.h"
#include "tests/unit/run_case.h"

/* Water of the same depth on a plane that falls by 10 cm from cell to cell: each cell gives the
 * part alpha of it, a third to each of the three cells below, but near the upper edge. */
typedef struct film {
    const char *precision, *alpha, *equilibrium, *ground, *depth, *more;
} film;

#define FILM                                                                               \
    "local quantum = 2^-26\n"                                                              \
    "return sel.aqua { size = { 400, 8 }, dx = 1, dt = 1, precision = '%s', alpha = %s,\n" \
    "equilibrium = '%s', ground = %s, initial = { depth = %s }, %s,\n"                     \
    "regions = { face('x-', law.wall {}), face('x+', law.open {}),\n"                      \
    "  { name = 'sides', where = shape.rest, law = law.wall {} } },\n"                     \
    "stop = { steps = 100000, every = 50 }, hooks = { { every = 150,\n"                    \
    "  call = function(run) if run.step == 900 then run:stop 'enough' end end } } }\n"

#define MISSES "a step in f32 misses what it should take from a cell's depth"

static const film thin = {"f32",          "0.25",
                          "fill",         "function(x) return 40 - 0.1 * x end",
                          "30 * quantum", "periodic = { 'y' }"};

/* The warnings of a run in run.json. Freed by the caller. */
static char *warnings_of(const film *f) {
    char text[2 * HEAT_TEXT];
    snprintf(text, sizeof text, HEAT_BEGIN FILM, f->precision, f->alpha, f->equilibrium, f->ground,
             f->depth, f->more);
    return case_warnings(text);
}

static void must_warn(const film *f, const char *numbers) {
    char *found = warnings_of(f);
    const char *first = strstr(found, MISSES);
    if (!first || !strstr(first, numbers) ||
        !strstr(first, "take precision = \\\"f64\\\", or a larger dt with alpha in proportion") ||
        strstr(first + 1, MISSES)) {
        fail_msg("alpha %s, depth %s: not told once: %s", f->alpha, f->depth, found);
    }
    free(found);
}

static void must_be_silent(const film *f) {
    char *found = warnings_of(f);
    if (strstr(found, MISSES)) {
        fail_msg("alpha %s, depth %s, %s: %s", f->alpha, f->depth, f->precision, found);
    }
    free(found);
}

/* 7.5 quanta of 2^-26 m should flow, 1.1e-7 m, 2.5 to each cell below; 2 do. */
static void films_of_few_quanta_are_told_once(void **state) {
    (void)state;
    film f = thin;
    must_warn(&f, ", 1.1e-07, by 20 % (");
    f.equilibrium = "mean";
    must_warn(&f, ", 1.1e-07, by 20 % (");
    f.equilibrium = "mindiff";
    f.alpha = "function(x) return x < 500 and 0.25 or 0.3 end";
    must_warn(&f, ", 1.1e-07, by 20 % (");
}

/* 0.75 quanta, 0.25 to each: none do. */
static void films_that_stand_still_are_told_once(void **state) {
    (void)state;
    film f = thin;
    f.depth = "3 * quantum";
    must_warn(&f, ", 1.1e-08, by 100 % (");
}

/* The quantum is 2^-16 m where 8192 m are to be held: of 30 such 2 in 2.5 flow. */
static void coarser_quanta_count(void **state) {
    (void)state;
    film f = thin;
    f.depth = "30 * 2^-16";
    f.more = "periodic = { 'y' }, depth_limit = 8192";
    must_warn(&f, ", 0.00011, by 20 % (");
    f.more = thin.more;
    must_be_silent(&f);
}

static void others_are_silent(void **state) {
    (void)state;
    film f = thin;
    f.precision = "f64";
    must_be_silent(&f);
    f.precision = "f32";
    f.depth = "3001 * quantum"; /* 250 of 250.08, and in the end hardly any is left */
    must_be_silent(&f);
    f.depth = "0";
    must_be_silent(&f);
    f.depth = "function(x) return x > 350 and 0.01 or 30 * quantum end"; /* so little is nothing */
    must_be_silent(&f);
}

/* Films are thin at first. */
static void rain_that_begins_is_silent(void **state) {
    (void)state;
    film f = thin;
    f.depth = "0";
    f.alpha = "0.005";
    f.more = "periodic = { 'y' }, rain = 2.1"; /* 39 quanta in a step */
    must_be_silent(&f);
}

/* What is left of differences in a lake is a few quanta. */
static void lakes_that_come_to_rest_are_silent(void **state) {
    (void)state;
    film f = thin;
    f.more = "periodic = { 'y' }, rain = 0";
    f.ground = "function(x) return 1e-6 * (x - 200)^2 end";
    f.depth = "function(x, y) return 0.1 - 1e-6 * (x - 200)^2 + 1e-6 * sin(x / 3) * cos(y) end";
    must_be_silent(&f);
    f.ground = "function(x, y) return 0.003 * (1 + sin(pi * x / 5) * cos(pi * y / 4)) end";
    f.depth = "0.02";
    must_be_silent(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(films_of_few_quanta_are_told_once),
        cmocka_unit_test(films_that_stand_still_are_told_once),
        cmocka_unit_test(coarser_quanta_count),
        cmocka_unit_test(others_are_silent),
        cmocka_unit_test(rain_that_begins_is_silent),
        cmocka_unit_test(lakes_that_come_to_rest_are_silent),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
