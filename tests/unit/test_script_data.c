/* test_script_data.c -- series, rasters, painted quantities and noise in a script. */
#include "script_case.h"
#include "engine/values/lookup_value.h"
#include "engine/scene/shape.h"

#define OPENING                        \
    "local sel = require 'selenite'\n" \
    "local shape, law, out = sel.shape, sel.law, sel.out\n"
#define RETURN(fields)                                                                   \
    "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8, stop = { steps = 1 " \
    "},\n" fields "}"

static double density_at(const script_case *c, double x, double y, double t) {
    const sel_quantity *density = &script_lbm(c)->initial.density;
    const sel_places at = {1, &x, &y, NULL, t, NULL, NULL};
    sel_error error = {.status = SEL_OK};
    double value = (double)NAN;
    if (sel_quantity_eval(density, "density", &at, &value, &error))
        fail_msg("%s", error.text);
    return value;
}

static void a_series_stands_for_a_number(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, OPENING "local s = sel.series { t = { 0, 10 }, value = { 1, 2 } }\n"
                               "assert(s(5) == 1.5)\n" RETURN("initial = { density = s }"));
    assert_int_equal(sel_quantity_depends(&script_lbm(&c)->initial.density), SEL_ON_T);
    assert_true(density_at(&c, 1, 1, 2.5) == 1.25);
    script_done(&c);
}

static void functions_call_series_and_noise_with_symbols(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(
        &c, OPENING
        "local s = sel.series { t = { 0, 10 }, value = { 1, 2 }, outside = 'hold' }\n" RETURN(
            "initial = { density = function(x, y, t)\n"
            "  if x > 4 then return s(t + x) end\n"
            "  return 1 + sel.noise(7, x, y) / 10 end }"));
    const sel_function *function = script_lbm(&c)->initial.density.part[0].function;
    assert_non_null(function->program);
    assert_true(density_at(&c, 5, 1, 0.5) == 1.55);
    assert_true(density_at(&c, 2.25, 3.5, 9) == 1 + sel_noise(7, 2.25, 3.5, 0) / 10);
    script_done(&c);
}

static void what_is_painted_last_wins_and_is_asked_only_there(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, OPENING "local early = sel.series { t = { 0, 1 }, value = { 5, 6 } }\n"
                               "local left = shape.box { min = { 0, 0 }, max = { 4, 8 } }\n"
                               "local low = shape.box { min = { 0, 0 }, max = { 8, 4 } }\n" RETURN(
                                   "initial = { density = sel.paint { early, { left, 2 },\n"
                                   "  { low, function(x) return 10 + x end }, { low - left, "
                                   "sel.paint { 7, { left, 8 } } } } }"));
    assert_true(density_at(&c, 1, 1, 0) == 11);
    assert_true(density_at(&c, 1, 5, 99) == 2);
    assert_true(density_at(&c, 5, 1, 99) == 7);
    assert_true(density_at(&c, 5, 5, 0.5) == 5.5);
    script_done(&c);
}

static void painting_mistakes_have_their_lines(void **state) {
    (void)state;
    script_refuses(OPENING RETURN("initial = { density = sel.paint { 1,\n"
                                  "  { shape.faces, 2 },\n"
                                  "  { shape.ball { centre = { 4, 4 }, radius = 2 } },\n"
                                  "  { shape.ball { centre = { 4, 4 }, radius = 2 }, 'x' } } }"),
                   "s.lua:5: sel.paint: faces have no inside to paint\n"
                   "s.lua:6: sel.paint: [3] must be { shape, value }, got table\n"
                   "s.lua:7: sel.paint: [4][2] must be a number or a function, got string \"x\"");
    script_refuses(OPENING "return sel.paint { 1 }",
                   "s.lua: the script must return a simulation, as sel.lbm { ... }, or a list of "
                   "them; it returned sel.paint");
    script_refuses(OPENING
                   "local p = { 1 }\np[2] = { shape.box { min = { 0, 0 }, max = { 1, 1 } }, "
                   "sel.paint(p) }\n" RETURN("initial = { density = p }"),
                   "s.lua:4: sel.paint: [2][2] holds quantities painted into each other too deep");
}

static void mistakes_in_series_have_their_lines(void **state) {
    (void)state;
    script_refuses(
        "local sel = require 'selenite'\n"
        "local s = sel.series {\n"
        "  t = { 0, 1 }, valu = { 1, 2 },\n"
        "  interpolation = 'cubic',\n"
        "}",
        "s.lua:3: sel.series: unknown field 'valu'; did you mean 'value'?\n"
        "s.lua:4: sel.series: interpolation must be one of \"linear\", \"previous\", got "
        "string \"cubic\"");
    script_refuses("local sel = require 'selenite'\nsel.series { t = { 1, 1 }, value = { 1, 2 } }",
                   "s.lua:2: sel.series: times must rise, but t[2] = 1 follows 1");
    script_refuses("local sel = require 'selenite'\n"
                   "local s = sel.series { t = { 1, 2 }, value = { 1, 2 } }\nlocal v = s.size",
                   "s.lua:3: sel.series has no field 'size'; it is called: s(t)");
    script_refuses("local sel = require 'selenite'\n"
                   "local s = sel.series { t = { 1, 2 }, value = { 1, 2 } }\nlocal v = s(1, 2)",
                   "s.lua:3: sel.series takes 1 argument: s(t), got 2");
    script_refuses("local sel = require 'selenite'\n"
                   "local s = sel.series { t = { 1, 2 }, value = { 1, 2 } }\nlocal v = s(3)",
                   "s.lua:3: series of s.lua:2: t = 3 is outside its times 1 to 2; give it more "
                   "points, outside = \"hold\" or \"zero\", or repeats = true");
    script_refuses("local sel = require 'selenite'\nlocal v = sel.noise(1)",
                   "s.lua:2: sel.noise takes 2 to 4 arguments: sel.noise(seed, x, y, z), got 1");
}

static void noise_is_smooth_bounded_and_fixed(void **state) {
    (void)state;
    double least = 1, most = -1, sum = 0;
    enum { SAMPLES = 200000 };
    for (int i = 0; i < SAMPLES; i++) {
        double x = i * 0.0731, y = -i * 0.0517, z = i * 0.0123;
        double value = sel_noise(3, x, y, z);
        least = fmin(least, value);
        most = fmax(most, value);
        sum += value;
        assert_true(fabs(sel_noise(3, x + 1e-6, y, z) - value) < 1e-5);
    }
    assert_true(least >= -1 && least < -0.8 && most <= 1 && most > 0.8);
    assert_true(fabs(sum / SAMPLES) < 0.02);
    assert_true(sel_noise(3, 1.5, 2.5, 0) != sel_noise(4, 1.5, 2.5, 0));
    assert_true(sel_noise(0.0, 1.5, 2.5, 0) == sel_noise(-0.0, 1.5, 2.5, 0));
    assert_true(isnan(sel_noise(3, 1e300, 0, 0)));
    /* these bits are what every processor must give */
    assert_true(sel_noise(1, 2.5, 0, 0) == 0x1.953b4dbf98a5cp-3);
    assert_true(sel_noise(42, -3.25, 7.125, 1.75) == 0x1.ab6e006e1d2dap-6);
}

static void a_grid_of_terrain_knows_its_place(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    FILE *file = fopen("hill.asc", "wb");
    fputs("ncols 2\nnrows 2\nxllcorner 500000\nyllcorner 5000000\ncellsize 4\n1 2\n3 -9999\n",
          file);
    fclose(file);
    script_accepts(
        &c, OPENING
        "local r = sel.raster 'hill.asc'\n"
        "assert(r.size[1] == 2 and r.size[2] == 2 and r.dx == 4)\n"
        "assert(r.origin[1] == 500000 and r.origin[2] == 5000000)\n"
        "assert(r(500002, 5000002) == 3 and r(500000, 5000004) == 2)\n"
        "local s = sel.raster { 'hill.asc', scale = 2, offset = 1, fill = -1 }\n"
        "assert(s(500006, 5000002) == -1 and s(500002, 5000006) == 3)\n" RETURN(
            "origin = { 500000, 5000000 },\n"
            "regions = { { name = 'hill', where = shape.raster { raster = r, above = 2.5 }, law = "
            "law.wall {} } }, initial = { density = s }"));
    assert_true(density_at(&c, 500002, 5000006, 0) == 3);
    const sel_region *region = c.scenario->simulations[0].params->regions.v;
    assert_true(
        sel_shape_raster_contains(region->where->data, (const double[]){500002, 5000002, 0}));
    assert_false(
        sel_shape_raster_contains(region->where->data, (const double[]){500006, 5000002, 0}));
    script_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_stands_for_a_number),
        cmocka_unit_test(functions_call_series_and_noise_with_symbols),
        cmocka_unit_test(what_is_painted_last_wins_and_is_asked_only_there),
        cmocka_unit_test(a_grid_of_terrain_knows_its_place),
        cmocka_unit_test(painting_mistakes_have_their_lines),
        cmocka_unit_test(mistakes_in_series_have_their_lines),
        cmocka_unit_test(noise_is_smooth_bounded_and_fixed),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
