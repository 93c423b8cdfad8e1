/* test_lbm_start.c -- what check and a diverged run say of starts, pressures, viscosities. */
#include "tests/unit/script_case.h"
#include "engine/run/prepare.h"

/* A channel of 40 x 10 cells, whose slowest sound has a period of 277 steps. */
#define CHANNEL(inlet, outlet, fields)                                                    \
    "local sel = require 'selenite'\nlocal shape, law = sel.shape, sel.law\n"             \
    "return sel.lbm { lattice = 'D2Q9', size = { 40, 10 }, regions = {\n"                 \
    "{ name = 'walls', where = shape.face 'y-' + shape.face 'y+', law = law.wall {} },\n" \
    "{ name = 'inlet', where = shape.face 'x-', law = " inlet " },\n"                     \
    "{ name = 'outlet', where = shape.face 'x+', law = " outlet " } },\n" fields " }\n"
#define PRESSURE "law.pressure { 0 }"

typedef struct said {
    sel_error warnings;
    char facts[4096], hint[512];
} said;

/* What is told of a script; the hint for a run whose largest velocity was `seen`. */
static said said_of(const char *text, double seen) {
    said s = {.hint = ""};
    script_case c = {.scenario = NULL};
    sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    sel_prepared prepared;
    sel_facts facts = {.count = 0};
    script_accepts(&c, text);
    if (sel_prepare(&c.scenario->simulations[0], &settings, &prepared, &c.error))
        fail_msg("%s", c.error.text);
    lbm_warn(prepared.plan, &s.warnings);
    lbm_facts(prepared.plan, &facts);
    for (int k = 0; k < facts.count; k++) {
        size_t used = strlen(s.facts);
        snprintf(s.facts + used, sizeof s.facts - used, "%s: %s\n", facts.v[k].name,
                 facts.v[k].text);
    }
    lbm_solver.hint(prepared.plan, seen, s.hint, sizeof s.hint);
    sel_prepared_release(&prepared);
    script_done(&c);
    return s;
}

static void warns(const char *text, const char *part) {
    const said s = said_of(text, 0);
    if (!strstr(s.warnings.text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, s.warnings.text);
}

static void warns_not(const char *text) {
    const said s = said_of(text, 0);
    assert_string_equal(s.warnings.text, "");
}

static void hints(const char *text, double seen, const char *part) {
    const said s = said_of(text, seen);
    if (!strstr(s.hint, part))
        fail_msg("\"%s\" is not in \"%s\"", part, s.hint);
}

#define LONG "nu = 0.1, stop = { steps = 5000 }"
#define RISE(T) "law.velocity { function(t) return 0.05 * sel.ramp(t, " #T "), 0 end }"

static void the_period_of_the_slowest_sound_is_told(void **state) {
    (void)state;
    const said s = said_of(CHANNEL(RISE(1000), PRESSURE, LONG ", dx = 0.1, dt = 0.01"), 0);
    assert_non_null(strstr(s.facts, "slowest sound: period 4 L / c_s = 2.771 (278 steps)\n"));
}

#define ABSORBS "law.pressure { 0, absorbing = true }"

static void sound_that_stays_is_told_along_every_axis(void **state) {
    (void)state;
    said s = said_of(CHANNEL(RISE(1000), PRESSURE, LONG), 0);
    assert_non_null(
        strstr(s.facts, "sound along x: stays, both ends return it: period 277.1 (278"));
    assert_non_null(strstr(s.facts, "sound along y: stays, both ends return it: period 34.64 (35"));
    s = said_of(CHANNEL(RISE(1000), ABSORBS, LONG), 0);
    assert_non_null(strstr(s.facts, "sound along x: leaves\n"));
}

#define BETWEEN_SLIP(fields)                                                  \
    "local sel = require 'selenite'\nlocal shape, law = sel.shape, sel.law\n" \
    "return sel.lbm { lattice = 'D2Q9', size = { 40, 10 }, regions = {\n"     \
    "{ where = shape.face 'y-' + shape.face 'y+', law = law.slip {} },\n"     \
    "{ where = shape.face 'x-', law = law.velocity { 0.01, 0 } },\n"          \
    "{ where = shape.face 'x+', law = law.outflow {} } },\n"                  \
    "initial = { velocity = { 0.01, 0 } }, " fields " }\n"

static void slip_sides_of_a_stream_are_warned_of(void **state) {
    (void)state;
    const char *part = "sound stays between the sides y- and y+, which are law.slip";
    warns(BETWEEN_SLIP("nu = 0.001, stop = { steps = 5000 }"), part);
    warns_not(BETWEEN_SLIP("nu = 0.1, stop = { steps = 5000 }"));
    warns_not(BETWEEN_SLIP("nu = 0.001, stop = { steps = 5000, steady = 1e-4 }"));
}

static void an_inlet_that_starts_at_once_is_warned_of(void **state) {
    (void)state;
    const char *part = "s.lua:5: law.velocity of region 'inlet' starts at once: ";
    warns(CHANNEL("law.velocity { 0.05, 0 }", PRESSURE, LONG), part);
    warns(CHANNEL("law.velocity { 0.05, 0 }", "law.outflow {}", LONG), part);
    warns(CHANNEL("law.velocity { 0.05, 0 }", PRESSURE,
                  LONG ", initial = { velocity = { 0.02, 0 } }"),
          part);
    warns_not(CHANNEL("law.velocity { 0.05, 0 }", PRESSURE,
                      LONG ", initial = { velocity = { 0.05, 0 } }"));
    warns_not(CHANNEL("law.velocity { 0, 0 }", PRESSURE, LONG));
    warns_not(CHANNEL("law.velocity { 0.05, 0, absorbing = true }", ABSORBS, LONG));
}

static void a_ramp_shorter_than_the_sound_is_warned_of(void **state) {
    (void)state;
    const char *part = "law.velocity of region 'inlet' changes within less than 277.1, the period";
    warns(CHANNEL(RISE(150), PRESSURE, LONG), part);
    warns_not(CHANNEL(RISE(280), PRESSURE, LONG));
    warns_not(CHANNEL(RISE(1000), PRESSURE, LONG));
}

static void a_run_shorter_than_the_sound_is_warned_of(void **state) {
    (void)state;
    warns(CHANNEL(RISE(250), PRESSURE, "nu = 0.1, stop = { steps = 270 }"),
          "the run ends after 270, before the slowest sound has gone to and fro once (277.1)");
    warns_not(CHANNEL(RISE(280), PRESSURE, "nu = 0.1, stop = { steps = 300 }"));
}

static void given_pressures_bound_the_mach_number(void **state) {
    (void)state;
    const said s = said_of(CHANNEL("law.pressure { 0.02 }", PRESSURE, LONG), 0);
    assert_non_null(strstr(s.facts, "Mach number by pressures: at most 0.346 from rest "
                                    "(velocity 0.2 in lattice units); more along a channel\n"));
}

static void a_pressure_that_is_a_density_is_told(void **state) {
    (void)state;
    const char *text = CHANNEL("law.pressure { 1 }", PRESSURE, LONG);
    warns(text, "a pressure of 1 makes the density 4 times that at rest; pressures are gauge");
    hints(text, 0.5, "a law gives a pressure of 1, but pressures are gauge pressures");
    warns_not(CHANNEL("law.pressure { 0.01 }", PRESSURE, LONG));
}

/* At 0.1 and a Reynolds number of a cell of 20; pressures of 0.004 are most of a dynamic one. */
static void a_pressure_that_does_not_hold_what_enters_is_warned_of(void **state) {
    (void)state;
#define FAST(u) \
    "nu = 0.005, reference = { length = 10, velocity = " #u " }, stop = { steps = 5000 }"
    const char *part = "s.lua:5: law.pressure of region 'inlet' does not hold what enters: at a "
                       "velocity of 0.1 in lattice units, whose dynamic pressure is 12.5 times the "
                       "fall of the pressure, the flow may grow without end; set absorbing = true";
    warns(CHANNEL("law.pressure { 4e-4 }", PRESSURE, FAST(0.1)), part);
    warns(CHANNEL("law.pressure { 4e-4 }", ABSORBS, FAST(0.1)), part);
    warns(CHANNEL("law.pressure { 4e-4 }", "law.outflow {}", FAST(0.1)), part);
    hints(CHANNEL("law.pressure { 4e-4 }", PRESSURE, FAST(0.1)), 300, part + 9);
    warns_not(CHANNEL("law.pressure { 4e-3 }", PRESSURE, FAST(0.1)));
    warns_not(CHANNEL("law.pressure { 4e-4 }", PRESSURE, FAST(0.07)));
    warns_not(CHANNEL("law.pressure { 4e-4, absorbing = true }", PRESSURE, FAST(0.1)));
    warns_not(CHANNEL("law.velocity { 0.1, 0, absorbing = true }", ABSORBS, FAST(0.1)));
}

/* The speed that was seen is the symptom. */
static void hints_name_the_cause(void **state) {
    (void)state;
    hints(CHANNEL("law.velocity { 0.1, 0 }", PRESSURE, "nu = 1e-6, stop = { steps = 5000 }"), 300,
          "tau = 0.500003 is close to its limit 1/2 (Reynolds number of a cell 1e+05");
    hints(CHANNEL("law.velocity { 0.1, 0 }", PRESSURE,
                  "nu = 0.01, collision = 'trt', stop = { steps = 5000 }"),
          300,
          "the Reynolds number of a cell is 10, best below 5 with collision = \"trt\"; use more "
          "cells (80 x 20 would do), or a larger viscosity");
    hints(CHANNEL("law.velocity { 0.1, 0 }", PRESSURE, LONG), 300, "an inlet starts at once; ");
    hints(CHANNEL("law.velocity { 0.4, 0 }", PRESSURE, LONG), 300,
          "the laws and the initial state give a velocity of 0.4");
    hints(CHANNEL(RISE(1000), PRESSURE, LONG), 300, "the largest velocity seen was 300");
    hints(CHANNEL(RISE(1000), PRESSURE, LONG), 0, "use more cells, or a larger viscosity");
}

static void an_eddy_viscosity_counts_in_the_cell_reynolds_number(void **state) {
    (void)state;
#define EDDIES(nu, C)             \
    CHANNEL(RISE(1000), PRESSURE, \
            "nu = " #nu ", smagorinsky = " #C ", collision = 'trt', stop = { steps = 5000 }")
    warns(EDDIES(1e-4, 0.1), "Reynolds number of a cell 83.3 with the eddy viscosity of a shear");
    warns(EDDIES(1e-3, 0.1), "Reynolds number of a cell 33.3 with");
    warns_not(EDDIES(1e-3, 0.5));
    warns_not(EDDIES(12e-3, 0.1));
}

/* The least of what each operator holds, in 2-D, between walls and with open faces. */
static void cells_that_would_do_are_told(void **state) {
    (void)state;
#define STREAM(collision, nu)     \
    CHANNEL(RISE(1000), PRESSURE, \
            "nu = " #nu ", collision = '" collision "', stop = { steps = 5000 }")
#define CAVITY(collision, nu)                                                                   \
    "local sel = require 'selenite'\nlocal shape, law = sel.shape, sel.law\n"                   \
    "return sel.lbm { lattice = 'D2Q9', size = { 30, 20 }, regions = {\n"                       \
    "{ name = 'walls', where = shape.rest, law = law.wall {} },\n"                              \
    "{ name = 'lid', where = shape.face 'y+', law = law.wall { velocity = { 0.05, 0 } } } },\n" \
    "nu = " #nu ", collision = '" collision "', stop = { steps = 5000 } }\n"
    warns(STREAM("trt", 0.005), "Reynolds number of a cell 10: above 5 flows may be unstable with "
                                "collision = \"trt\"; use more cells (80 x 20 would do), or");
    warns(STREAM("bgk", 0.005), "above 2 flows may be unstable with collision = \"bgk\"; use more "
                                "cells (200 x 50 would do), or");
    warns_not(STREAM("regularized", 0.005));
    warns(CHANNEL(RISE(1000), PRESSURE, "nu = 0.0004, stop = { steps = 5000 }"),
          "Reynolds number of a cell 125: above 100 flows may be unstable with collision = "
          "\"hybrid\"; use more cells (50 x 13 would do), or a larger viscosity");
    warns_not(STREAM("trt", 0.0101));
    warns_not(CAVITY("trt", 0.005));
    warns(CAVITY("bgk", 0.004), "above 7 flows may be unstable with collision = \"bgk\"; use more "
                                "cells (54 x 36 would do), or");
    /* 1/33.3 is 1/50 of nu and 0.01 of the eddies, 1/5 is 0.19 and 0.01 */
    warns(EDDIES(1e-3, 0.1), "use more cells (380 x 95 would do), a larger viscosity or");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_period_of_the_slowest_sound_is_told),
        cmocka_unit_test(sound_that_stays_is_told_along_every_axis),
        cmocka_unit_test(slip_sides_of_a_stream_are_warned_of),
        cmocka_unit_test(an_inlet_that_starts_at_once_is_warned_of),
        cmocka_unit_test(a_ramp_shorter_than_the_sound_is_warned_of),
        cmocka_unit_test(a_run_shorter_than_the_sound_is_warned_of),
        cmocka_unit_test(given_pressures_bound_the_mach_number),
        cmocka_unit_test(a_pressure_that_is_a_density_is_told),
        cmocka_unit_test(a_pressure_that_does_not_hold_what_enters_is_warned_of),
        cmocka_unit_test(hints_name_the_cause),
        cmocka_unit_test(cells_that_would_do_are_told),
        cmocka_unit_test(an_eddy_viscosity_counts_in_the_cell_reynolds_number),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
