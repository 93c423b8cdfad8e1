/* test_run_varying.c -- what varies in time: warnings of series that are finer than the steps, and
 * of what still changes when a run is found steady.
 */
#include "tests/unit/run_case.h"

#define VARYING_BEGIN                  \
    "local sel = require 'selenite'\n" \
    "local shape, law, out = sel.shape, sel.law, sel.out\n"

/* ---- series finer than dt ---- */

/* A gauge of one-minute values, 60 mm/h in every second minute: 30 mm in the hour. */
#define GAUGE                                                                                 \
    VARYING_BEGIN                                                                             \
    "local function gauge(phase, scale, interpolation)\n"                                     \
    "  local t, v = {}, {}\n"                                                                 \
    "  for k = 0, 60 do t[#t + 1] = 60 * k; v[#v + 1] = (k + phase) % 2 * 60 end\n"           \
    "  return sel.series { t = t, value = v, scale = scale,\n"                                \
    "                      interpolation = interpolation or 'previous', outside = 'zero' }\n" \
    "end\n"
#define POOL(more)                                                                               \
    GAUGE "return sel.aqua { size = { 5, 4 }, dx = 2, precision = 'f64', alpha = 0.2, ground = " \
          "0, regions = { { where = shape.faces, law = law.wall {} } }, stop = { time = 3600 "   \
          "}, " more " }\n"
#define BODY(more)                                                                           \
    GAUGE "return sel.heat { size = { 5, 4 }, conductivity = 1e-3, stop = { time = 3600 }, " \
          "precision = 'f64', " more " }\n"

static void series_finer_than_steps_are_warned_of_with_what_is_lost(void **state) {
    (void)state;
    static const struct {
        const char *text, *warning; /* NULL: none */
    } cases[] = {
        {POOL("dt = 120, rain = gauge(0)"),
         "rain: series of s.lua:6 has values 60 apart, dt is 120: a step takes the value of one "
         "moment, and over 3600 the mean of these is 60, that of the series 30 (100 % more); take "
         "dt of 60 or less, or a series of means over dt"},
        {POOL("dt = 120, rain = gauge(1)"), "the mean of these is 0, that of the series 30 (100 % "
                                            "less)"},
        {POOL("dt = 60, rain = gauge(0)"), NULL},
        {POOL("dt = 20, rain = gauge(0)"), NULL},
        {POOL("dt = 180, rain = gauge(0)"), NULL}, /* three minutes of four: by chance the same */
        {POOL("dt = 240, rain = gauge(0, 1, 'linear')"), "the mean of these is 0, that of the "
                                                         "series 30 (100 % less)"},
        {POOL("dt = 120, sources = { { name = 'brook', at = { 1, 1 }, discharge = gauge(0, 1e-6) "
              "} }"),
         "discharge of source brook: series of"},
        {POOL("dt = 120, rain = (function(s) return function(t) return 0.5 * s(t) end end)"
              "(gauge(0))"),
         "the mean of these is 30, that of the series 15 (100 % more)"},
        {BODY("dt = 120, source = sel.paint { 0, { shape.box { min = { -1, -1 }, max = { 9, 9 } }, "
              "gauge(0) } }, regions = { { where = "
              "shape.faces, law = law.insulated {} } }"),
         "source: series of"},
        {BODY("dt = 120, regions = { { where = shape.faces, law = law.convective { h = 1e-6, "
              "ambient = gauge(1) } } }"),
         "law.convective: ambient: series of"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *warnings = case_warnings(cases[k].text);
        if (cases[k].warning ? !strstr(warnings, cases[k].warning)
                             : strstr(warnings, "series of") != NULL)
            fail_msg("case %zu: %s", k, warnings);
        assert_null(strstr(warnings, "rain is at most"));
        free(warnings);
    }
}

/* ---- what still changes at the end of a steady run ---- */

#define EDGE(stop, more)                                                                          \
    VARYING_BEGIN                                                                                 \
    "local storm = sel.series { t = { 0, 3000, 3001, 3002, 9000 }, value = { 20, 20, 30, 20, 20 " \
    "} }\n"                                                                                       \
    "local function jump(t) return t > 3000 and 30 or 20 end\n"                                   \
    "local function past(t) return t < 5 and 20.001 or 20 end\n"                                  \
    "return sel.heat { size = { 10, 5 }, conductivity = 0.1, dt = 1, precision = 'f64', initial " \
    "= { temperature = 20 }, stop = { " stop ", every = 100 }, " more " }\n"
#define ON_EDGE(what) "regions = { { where = shape.faces, law = law.fixed { " what " } } }"
#define STEADY "time = 7200, steady = 1e-4"

static void a_steady_run_warns_of_what_still_changes_before_its_end(void **state) {
    (void)state;
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {EDGE(STEADY, ON_EDGE("jump")),
         "temperature of law.fixed still changes, from 20 to 30 at t = 30"},
        {EDGE("steps = 7200, mean_change = 1e-9", ON_EDGE("jump")), "from 20 to 30"},
        {EDGE(STEADY, ON_EDGE("storm")), "from 20 to 30 at t = 3001;"},
        {EDGE("steady = 1e-4", ON_EDGE("storm")), "from 20 to 30 at t = 3001;"},
        {EDGE(STEADY, "source = function(t) return t > 3000 and 1 or 0 end, " ON_EDGE("20")),
         "source of sel.heat still changes, from 0 to 1"},
        {EDGE("time = 2500, steady = 1e-4", ON_EDGE("jump")), NULL},
        {EDGE(STEADY, ON_EDGE("past")), NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char *warnings = case_warnings(cases[k].text);
        if (cases[k].warning ? !strstr(warnings, cases[k].warning) : *warnings != 0)
            fail_msg("case %zu: %s", k, warnings);
        free(warnings);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_finer_than_steps_are_warned_of_with_what_is_lost),
        cmocka_unit_test(a_steady_run_warns_of_what_still_changes_before_its_end),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
