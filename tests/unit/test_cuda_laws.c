/* test_cuda_laws.c -- laws in time on the GPU: programs with all that they may hold, data,
 * controls, functions that only Lua can evaluate, and functions that stop being numbers.
 */
#include "tests/unit/twins.h"
#include "tests/unit/compare_flows.h"

/* Bodies of an inflow(y, t) in 2-D: what a program may hold. */
static const flow_part bodies[] = {
    {"constants and time", "return 0.03 + 0.01 * t / 70, 1e-4 * t"},
    {"sin, cos, exp and powers",
     "return 0.03 * math.exp(-t / 50) * math.sin(y / 9) ^ 2 + 0.01 * math.cos(t) ^ 3,\n"
     "  0.002 * math.abs(math.sin(t * y)) ^ 0.7"},
    {"logarithms, roots and angles",
     "return 0.01 * math.sqrt(y) + 1e-3 * math.log(1 + t), 1e-3 * math.atan(y - 9, t + 1) +\n"
     "  1e-3 * math.acos(math.sin(y + t)) + 1e-3 * math.tan(t / 100)"},
    {"whole numbers",
     "return 0.01 * (math.floor(y) % 3) + 0.001 * (t // 4 % 5), 0.001 * math.ceil(t / 7)"},
    {"least and largest", "return math.min(0.04, 0.01 + 1e-3 * t), math.max(-0.01, -1e-3 * y)"},
    {"branches",
     "if y > H / 2 and t % 20 < 10 then return 0.04, 0 elseif y < 3 then return 0.01, 1e-3 end\n"
     "return 0.02 * sel.step(y - t / 4), 0"},
    {"a loop", "local u = 0 for k = 1, 12 do u = u + math.sin(k * y / H + k * t / 30) / k end\n"
               "return 0.01 * u, 0"},
    {"a series", "return ramp(t), 0.1 * ramp(t / 2 + y)"},
    {"a series that repeats and one of zeros", "return 0.02 + beat(t + y), pulse(t)"},
    {"a series from a file", "return 0.3 * measured(10 * t), 0"},
    {"a raster", "return 0.03 * picture(20 + y, 10 + t / 4), 0.003 * picture(y + 3.25, 4)"},
    {"noise", "return 0.03 + 0.01 * sel.noise(7, y / 6, t / 9), 0.01 * sel.noise(8, t / 5)"},
    {"noise in three dimensions", "return 0.03 + 0.01 * sel.noise(3, y / 6, t / 9, y / 4), 0"},
    {"many registers",
     "local u = 0 for k = 1, 40 do u = u + math.sin(k * y) * math.cos((41 - k) * t) end\n"
     "local v = 1 for k = 1, 30 do v = v * (1 + 1e-3 * math.sin(k + y * t)) end\n"
     "return 1e-3 * u, 1e-3 * v"},
    {"equality", "if math.floor(t) % 3 == 0 then return 0.03, 0 end return 0.02 + y / 1e3, 0"},
    {"Lua: a table by a number", "return levels[math.floor(y + t) % 5 + 1] + 1e-4 * t, 0"},
    {"Lua: bits", "return 0.01 * (math.floor(y + t) & 3), 0"},
};

/* `series` and so on, for the bodies; the files are those of the examples. */
static void data_of(char text[FLOW_ROOM]) {
    snprintf(
        text, FLOW_ROOM,
        "local ramp = sel.series { t = { 0, 20, 40 }, value = { 0, 0.04, 0.02 }, outside = 'hold' "
        "}\n"
        "local beat = sel.series { t = { 0, 3, 7 }, value = { 0, 0.01, 0 }, repeats = true }\n"
        "local pulse = sel.series { t = { 10, 20 }, value = { 0.01, 0.02 }, outside = 'zero' }\n"
        "local measured = sel.series { '%s/examples/inflow.csv', column = 'velocity',\n"
        "  outside = 'hold' }\n"
        "local picture = sel.raster '%s/examples/stones.png'\n"
        "local levels = { 0.01, 0.03, 0.02, 0.04, 0.05 }\n",
        comparison.tree, comparison.tree);
}

/* Runs a flow around a graph of steps and beyond, and compares; by_lua: a function is no program.
 */
static void run_and_compare(const char *script, bool by_lua) {
    static const int64_t pieces[] = {1, 32, 37};
    twins t;
    twins_open(&t, script);
    for (size_t k = 0; k < COUNT_OF(pieces); k++) {
        twins_advance(&t, pieces[k]);
        twins_compare_fields(&t);
    }
    if ((t.notices > 0) != by_lua) {
        disagree("%d functions are evaluated by Lua", t.notices);
    }
    twins_close(&t);
}

/* A 2-D flow of two sizes smaller than a block with `around` and `force`. */
static void script_2d(const char *around, const char *force, const char *precision,
                      char text[FLOW_ROOM]) {
    const flow one = {"37, 19", around, force, "trt", precision, 0.6, false};
    flow_script(&one, NULL, text);
}

/* The same function at an inlet, a wet wall, a moving wall, as acceleration in time, and as a
 * field.
 */
static const flow_part places[] = {
    {"inlet", "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
              "paint('inlet', shape.face 'x-', law.velocity { value })\n"
              "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"},
    {"zou_he wall", "paint('walls', shape.faces, law.wall { scheme = 'zou_he' })\n"
                    "paint('slider', shape.face 'x+', law.wall { scheme = 'zou_he',\n"
                    "  velocity = function(y, t) local u = value(y, t) return 0, u end })\n"},
    {"moving wall", "paint('walls', shape.faces, law.wall {})\n"
                    "paint('slider', shape.face 'x+', law.wall {\n"
                    "  velocity = function(y, t) local u, v = value(y, t) return v, u end })\n"
                    "paint('ball', ball(12, 9, 0, 4), law.wall { velocity = value })\n"},
    {"acceleration",
     "periodic = { 'x' }\n"
     "paint('walls', shape.faces, law.wall {})\n"
     "acceleration = function(t) local u, v = value(4.5, t) return 1e-2 * u, 1e-2 * v end\n"},
    {"field of acceleration",
     "periodic = { 'x' }\n"
     "paint('walls', shape.faces, law.wall {})\n"
     "acceleration = function(x, y, t)\n"
     "  local u, v = value(y, t) return 1e-2 * u + 1e-6 * x, 1e-2 * v end\n"},
};

static void every_kind_of_function_agrees(void **state) {
    (void)state;
    for (size_t b = 0; b < COUNT_OF(bodies); b++) {
        for (size_t p = 0; p < COUNT_OF(places); p++) {
            char text[FLOW_ROOM], around[FLOW_ROOM], data[FLOW_ROOM];
            data_of(data);
            int length =
                snprintf(around, sizeof around, "%slocal function value(y, t)\n%s\nend\n%s", data,
                         bodies[b].text, places[p].text);
            assert_true(length < (int)sizeof around);
            comparing("%s, %s", places[p].name, bodies[b].name);
            script_2d(around, "", (b + p) % 2 ? "f32" : "f64", text);
            run_and_compare(text, strncmp(bodies[b].name, "Lua", 3) == 0);
        }
        if (comparison.is_short) {
            b += 3;
        }
    }
    assert_agreement();
}

/* The regularized closure at faces and edges of all kinds, with and without a force. */
static void regularized_openings_agree(void **state) {
    (void)state;
    static const char *const sizes[] = {"37, 19", "19, 13, 11"};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        for (size_t a = 0; a < COUNT_OF(flow_around); a++) {
            const size_t force = (a + s) % COUNT_OF(flow_force);
            const flow one = {sizes[s],      flow_around[a].text,         flow_force[force].text,
                              "regularized", (a + s) % 2 ? "f64" : "f32", 0.52,
                              a % 3 == 2};
            char text[FLOW_ROOM];
            comparing("regularized, %s, %s, %s", sizes[s], flow_around[a].name,
                      flow_force[force].name);
            flow_script(&one, NULL, text);
            run_and_compare(text, false);
        }
    }
    assert_agreement();
}

/* More rows and places than a block has threads, and a law for each component. */
static void laws_in_space_agree(void **state) {
    (void)state;
    const char *around =
        "paint('walls', shape.faces, law.wall {})\n"
        "paint('inlet', shape.face 'x-', law.velocity {\n"
        "  function(y, z, t) return 0.04 * math.sin(y * z / 30 + t / 9) ^ 2 end,\n"
        "  sel.series { t = { 0, 50 }, value = { 0, 0.01 }, outside = 'hold' },\n"
        "  0.003 })\n"
        "paint('outlet', shape.face 'x+', law.pressure { function(t, y) return 1e-5 * t * y / H "
        "end })\n"
        "paint('lid', shape.face 'z+', law.wall { velocity = {\n"
        "  function(x, t) return 0.02 * math.cos(x / 4 - t / 7) end, 0, 0 } })\n"
        "paint('ball', ball(15, 10, 7, 4), law.wall { velocity = function(x, y, z, t)\n"
        "  return 1e-3 * (y - 10), 1e-3 * (15 - x), 1e-3 * math.sin(z + t) end })\n"
        "acceleration = function(x, y, z, t)\n"
        "  return 1e-5 * math.sin(x + t / 3), 1e-5 * math.cos(y * z / 9), sel.noise(2, x / 5, t / "
        "9) / 1e5\n"
        "end\n";
    for (int p = 0; p < 2; p++) {
        const flow one = {comparison.is_short ? "20, 17, 11" : "30, 23, 13",
                          around,
                          "",
                          "trt",
                          p ? "f32" : "f64",
                          0.6,
                          true};
        char text[FLOW_ROOM];
        flow_script(&one, NULL, text);
        comparing("laws in space, %s", one.precision);
        run_and_compare(text, false);
    }
    assert_agreement();
}

/* Many laws share one launch: each has blocks of its own. */
static void many_laws_agree(void **state) {
    (void)state;
    char around[FLOW_ROOM], text[FLOW_ROOM];
    size_t used = (size_t)snprintf(around, sizeof around,
                                   "periodic = {}\npaint('walls', shape.faces, law.wall {})\n");
    for (int k = 0; k < 12; k++) {
        used += (size_t)snprintf(around + used, sizeof around - used,
                                 "paint('inlet%d', shape.face 'x-' * box(-1, %d, 0, 1, %d, 1),\n"
                                 "  law.velocity { function(y, t) return 0.02 + 0.001 * "
                                 "math.sin(%d * y + t / %d), 0 end })\n",
                                 k, 2 + k, 3 + k, k + 1, k + 2);
    }
    snprintf(around + used, sizeof around - used,
             "paint('outlet', shape.face 'x+' * box(W - 1, 3, 0, W + 1, 12, 1), law.outflow {})\n"
             "paint('lid', shape.face 'y+', law.wall { velocity = function(x, t)\n"
             "  return 0.03 * math.sin(x / 5 - t / 8), 0 end })\n");
    script_2d(around, flow_force[4].text, "f64", text);
    comparing("thirteen laws and a field");
    run_and_compare(text, false);
    assert_agreement();
}

/* ---- controls ---- */

static const flow_part controlled[] = {
    {"programs",
     "controls = { gain = 1, tilt = 0 }\n"
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { function(y, t, gain)\n"
     "  return gain * 0.03 * (1 + 0.1 * math.sin(t / 5)), 0 end })\n"
     "paint('outlet', shape.face 'x+', law.pressure { function(tilt) return 1e-3 * tilt end })\n"
     "acceleration = function(gain, tilt) return 1e-5 * gain, 1e-5 * tilt end\n"},
    {"a field without time", "controls = { gain = 1, tilt = 0 }\n"
                             "periodic = { 'x' }\n"
                             "paint('lid', shape.face 'y+', law.wall { velocity = function(gain) "
                             "return 0.03 * gain, 0 end })\n"
                             "paint('walls', shape.rest, law.wall {})\n"
                             "acceleration = function(x, y, gain, tilt) return 1e-5 * gain * y / "
                             "H, 1e-5 * tilt * x / W end\n"},
    {"an acceleration at an outflow",
     "controls = { gain = 1, tilt = 0 }\n"
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { 0.03, 0 })\n"
     "paint('outlet', shape.face 'x+', law.outflow {})\n"
     "acceleration = function(gain, tilt) return 1e-4 * gain, 1e-4 * tilt end\n"},
    {"an acceleration in time at an outflow",
     "controls = { gain = 1, tilt = 0 }\n"
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { 0.03, 0 })\n"
     "paint('outlet', shape.face 'x+', law.outflow {})\n"
     "acceleration = function(t, gain, tilt)\n"
     "  return 1e-4 * gain * math.cos(t / 3), 1e-4 * tilt end\n"},
    {"Lua", "controls = { gain = 1, tilt = 0 }\n"
            "local levels = { 0.01, 0.03, 0.02 }\n"
            "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
            "paint('inlet', shape.face 'x-', law.velocity { function(y, gain)\n"
            "  return gain * levels[math.floor(y) % 3 + 1], 0 end })\n"
            "paint('outlet', shape.face 'x+', law.outflow {})\n"
            "acceleration = function(x, y, tilt)\n"
            "  return 1e-3 * tilt * levels[math.floor(x + y) % 3 + 1], 0 end\n"},
};

/* Controls that stay, change alone, change together, at odd and even steps, twice in a step. */
static void controls_change_between_steps(void **state) {
    (void)state;
    for (size_t c = 0; c < COUNT_OF(controlled); c++) {
        for (int p = 0; p < 2; p++) {
            char text[FLOW_ROOM];
            twins t;
            script_2d(controlled[c].text, "", p ? "f32" : "f64", text);
            comparing("controls of %s, %s", controlled[c].name, p ? "f32" : "f64");
            twins_open(&t, text);
            twins_advance(&t, 33);
            twins_control(&t, 0, 0.5);
            twins_advance(&t, 1);
            twins_compare_fields(&t);
            twins_control(&t, 1, 0.9);
            twins_control(&t, 1, 2);
            twins_advance(&t, 64);
            twins_advance(&t, 5);
            twins_control(&t, 0, 1.25);
            twins_control(&t, 1, -1);
            twins_compare_fields(&t); /* not before the next step */
            twins_advance(&t, 40);
            twins_compare_fields(&t);
            twins_close(&t);
        }
    }
    assert_agreement();
}

/* ---- functions that fail ---- */

/* A script on one backend. */
typedef struct side {
    script_case script;
    sel_prepared prepared;
    sel_state *running; /* NULL: it could not be created */
    sel_error error;
} side;

static sel_status side_open(side *s, int backend, const char *script) {
    const sel_settings settings = {.precision = -1, .backend = backend, .threads = 1};
    *s = (side){.error = {.status = SEL_OK}};
    script_accepts(&s->script, script);
    return sel_set_up(s->script.scenario->simulations, &settings, &s->prepared, &s->running,
                      &s->error);
}

static void side_close(side *s) {
    if (s->running) {
        s->prepared.backend->destroy(s->running);
    }
    sel_prepared_release(&s->prepared);
    script_done(&s->script);
}

/* Runs one side until it fails; its message, and "" when it never does. */
static void message_of(int backend, const char *script, char text[1024]) {
    side s;
    sel_status status = side_open(&s, backend, script);
    for (int k = 0; k < 10 && !status; k++) {
        status = s.prepared.backend->advance(s.running, 10, true, &s.error);
        status = status ? status : sel_backend_wait(s.prepared.backend, s.running, &s.error);
    }
    snprintf(text, 1024, "%.1000s", status ? s.error.text : "");
    side_close(&s);
}

/* Each fails at one place and at one step only. */
static const flow_part failing[] = {
    {"inlet: a root",
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { function(y, t)\n"
     "  return 0.01 * math.sqrt(40.5 - t * sel.step(y - 11) * sel.step(12 - y)), 0 end })\n"
     "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"},
    {"outlet: infinity", "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
                         "paint('inlet', shape.face 'x-', law.velocity { 0.01, 0 })\n"
                         "paint('outlet', shape.face 'x+', law.pressure { function(y, t)\n"
                         "  return 1e-6 / (t - 37 + math.abs(y - 7.5)) end })\n"},
    {"moving wall",
     "paint('walls', shape.face 'y-' + shape.face 'x+' + shape.face 'x-', law.wall {})\n"
     "paint('lid', shape.face 'y+', law.wall { velocity = function(x, t)\n"
     "  return 0.01 * math.sqrt(33 - t * sel.step(x - 4.2) * sel.step(4.8 - x)), 0 end })\n"},
    {"acceleration", "periodic = { 'x', 'y' }\n"
                     "acceleration = function(t) return 1e-5 * math.log(52 - t), 0 end\n"},
    {"field of acceleration",
     "periodic = { 'x', 'y' }\n"
     "acceleration = function(x, y, t)\n"
     "  return 1e-5 * math.sqrt(44 - t * sel.step(x - 30) * sel.step(31 - x) * sel.step(y - 11)\n"
     "    * sel.step(12 - y)), 0 end\n"},
    {"a series that ends", "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
                           "local short = sel.series { t = { 0, 45 }, value = { 0.01, 0.02 } }\n"
                           "paint('inlet', shape.face 'x-', law.velocity { function(y, t)\n"
                           "  return short(t * sel.step(y - 11) * sel.step(12 - y)), 0 end })\n"
                           "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"},
    {"an error of the function's own",
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { function(y, t)\n"
     "  if t > 29 and y > 4 and y < 5 then error 'the tank is empty' end\n"
     "  return 0.01, 0 end })\n"
     "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"},
    {"Lua at every place", "local levels = { 0.01, 0.02 }\n"
                           "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
                           "paint('inlet', shape.face 'x-', law.velocity { function(y, t)\n"
                           "  return levels[t < 41 and 1 or y > 9 and 3 or 2], 0 end })\n"
                           "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"},
};

static void failures_give_the_same_message(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT_OF(failing); k++) {
        char text[FLOW_ROOM], messages[2][1024];
        comparing("failing %s", failing[k].name);
        script_2d(failing[k].text, "", "f64", text);
        message_of(SEL_BACKEND_CPU, text, messages[0]);
        message_of(comparison.second_backend, text, messages[1]);
        if (strcmp(messages[0], messages[1]) != 0 || messages[0][0] == '\0') {
            disagree("the messages are \"%s\" and \"%s\"", messages[0], messages[1]);
        }
    }
    assert_agreement();
}

/* Where a law fails at all places, any of them may be told: at the same line and time. */
static void failures_everywhere_are_told_at_one_place(void **state) {
    (void)state;
    const char *around = "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
                         "paint('inlet', shape.face 'x-', law.velocity { function(y, t)\n"
                         "  return 0.01 * math.sqrt(40.5 - t) + 0 * y, 0 end })\n"
                         "paint('outlet', shape.face 'x+', law.pressure { 0 })\n";
    char text[FLOW_ROOM], messages[2][1024];
    comparing("a law that fails everywhere");
    script_2d(around, "", "f64", text);
    message_of(SEL_BACKEND_CPU, text, messages[0]);
    message_of(comparison.second_backend, text, messages[1]);
    for (int k = 0; k < 2; k++) {
        char *place = strstr(messages[k], "y="), *time = strstr(messages[k], ", t=41");
        if (!place || !time) {
            disagree("message %d is \"%s\"", k, messages[k]);
        } else {
            memmove(place, time, strlen(time) + 1);
        }
    }
    if (strcmp(messages[0], messages[1]) != 0) {
        disagree("without the places: \"%s\" and \"%s\"", messages[0], messages[1]);
    }
    assert_agreement();
}

/* The largest velocity at step 30 of a flow whose law fails at step 40, asked for before the steps
 * that fail are handed over and answered behind them. */
static double largest_before_failure(int backend, const char *script) {
    side s;
    sel_request request = {.kind = SEL_MONITOR};
    sel_status status = side_open(&s, backend, script);
    const sel_backend *on = s.prepared.backend;
    if (!status) {
        request.box = sel_grid_box(&s.prepared.domain->grid);
        status = on->advance(s.running, 30, true, &s.error);
    }
    status = status ? status : on->start(s.running, &request, &s.error);
    if (status) {
        disagree("before the failure: \"%s\"", s.error.text);
        side_close(&s);
        return 0;
    }
    sel_status failed = on->advance(s.running, 30, true, NULL);
    if (on->finish(s.running, &request, &s.error)) {
        disagree("what was asked before is lost: \"%s\"", s.error.text);
    }
    failed = failed ? failed : sel_backend_wait(on, s.running, NULL);
    if (!failed) {
        disagree("the law does not fail");
    }
    side_close(&s);
    return request.largest;
}

static void what_was_asked_before_a_failure_is_answered(void **state) {
    (void)state;
    const char *around = "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
                         "paint('inlet', shape.face 'x-', law.velocity { function(y, t)\n"
                         "  return 0.01 * math.sqrt(40.5 - t) + 0 * y, 0 end })\n"
                         "paint('outlet', shape.face 'x+', law.pressure { 0 })\n";
    char text[FLOW_ROOM];
    comparing("a request before a law that fails");
    script_2d(around, "", "f64", text);
    const double first = largest_before_failure(SEL_BACKEND_CPU, text);
    const double second = largest_before_failure(comparison.second_backend, text);
    if (!(first > 0) || !(fabs(first - second) < 1e-12)) {
        disagree("largest velocity %.17g and %.17g", first, second);
    }
    assert_agreement();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_function_agrees),
        cmocka_unit_test(regularized_openings_agree),
        cmocka_unit_test(laws_in_space_agree),
        cmocka_unit_test(many_laws_agree),
        cmocka_unit_test(controls_change_between_steps),
        cmocka_unit_test(failures_give_the_same_message),
        cmocka_unit_test(failures_everywhere_are_told_at_one_place),
        cmocka_unit_test(what_was_asked_before_a_failure_is_answered),
    };
    if (!comparison_begins(argc, argv, "test_cuda_laws")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
