/* test_script_shapes.c -- shapes of a script: the primitives, placements, and bad arguments. */
#include "engine/scene/segment.h"
#include "tests/unit/script_case.h"

/* A scenario in 2-D or 3-D with one region of cells. */
#define PLANE(shape) \
    LBM("periodic = { 'x', 'y' }, regions = { { where = " shape ", law = law.wall {} } }")
#define SPACE(shape)                                                                            \
    "local sel = require 'selenite'\n"                                                          \
    "local shape, law = sel.shape, sel.law\n"                                                   \
    "return sel.lbm { lattice = 'D3Q19', size = { 16, 16, 16 }, tau = 0.8, stop = { steps = 1 " \
    "},\n periodic = { 'x', 'y', 'z' }, regions = { { where = " shape                           \
    ", law = law.wall {} } } }\n"

/* Asserts where the segment from a point outside to a point inside enters the first region. */
static void assert_crossing(const char *text, const double from[3], const double to[3],
                            double expected) {
    script_case c = {.scenario = NULL};
    script_load(&c, text);
    assert_string_equal(c.error.text, "");
    const sel_common *common = c.scenario->simulations[0].params;
    const sel_grid grid = sel_common_grid(common);
    const sel_shape_space space = {&grid, NULL};
    const sel_region *region = common->regions.v;
    double q;
    bool failed = false;
    assert_int_equal(sel_shape_check(region->where, &grid, &c.error), SEL_OK);
    assert_false(sel_shape_contains(region->where, &space, from, &failed));
    assert_true(sel_shape_contains(region->where, &space, to, &failed));
    assert_true(sel_shape_crossing(region->where, &space, from, to, &q));
    assert_true(fabs(q - expected) < 1e-12);
    script_done(&c);
}

#define AT(...) ((const double[3]){__VA_ARGS__})

static void primitives(void **state) {
    (void)state;
    assert_crossing(PLANE("shape.ellipsoid { centre = { 4, 4 }, radii = { 3, 1 } }"), AT(4, 6, 0),
                    AT(4, 4, 0), 0.5);
    assert_crossing(SPACE("shape.ellipsoid { centre = { 4, 4, 4 }, radii = { 3, 1, 2 } }"),
                    AT(4, 4, 8), AT(4, 4, 4), 0.5);
    assert_crossing(PLANE("shape.cone { from = { 2, 4 }, to = { 6, 4 }, radii = { 0, 2 } }"),
                    AT(4, 6, 0), AT(4, 4, 0), 0.5);
    assert_crossing(SPACE("shape.cone { from = { 2, 4, 4 }, to = { 6, 4, 4 }, radii = { 0, 2 } }"),
                    AT(4, 4, 6), AT(4, 4, 4), 0.5);
    assert_crossing(PLANE("shape.torus { centre = { 4, 4 }, radius = 2.5, tube = 0.5 }"),
                    AT(4, 4, 0), AT(4, 6.5, 0), 0.8);
    assert_crossing(SPACE("shape.torus { centre = { 8, 8, 8 }, axis = { 0, 3, 0 }, radius = 4, "
                          "tube = 1 }"),
                    AT(8, 8, 14), AT(8, 8, 12), 0.5);
}

static void placements(void **state) {
    (void)state;
#define DASH "shape.box { min = { 3, -1 }, max = { 5, 1 } }"
    assert_crossing(PLANE(DASH ":moved { 1, 4 }"), AT(3, 4, 0), AT(5, 4, 0), 0.5);
    assert_crossing(PLANE(DASH ":moved { by = { 1, 4 } }"), AT(3, 4, 0), AT(5, 4, 0), 0.5);
    /* A quarter turn from x to y, about the origin or about a point. */
    assert_crossing(PLANE(DASH ":rotated { angle = math.pi / 2 }"), AT(0.5, 2, 0), AT(0.5, 4, 0),
                    0.5);
    assert_crossing(PLANE(DASH ":rotated { angle = math.pi / 2, about = { 4, 2 } }"), AT(8, 2, 0),
                    AT(6, 2, 0), 0.5);
    assert_crossing(PLANE(DASH ":scaled(1.5)"), AT(4, 0, 0), AT(5, 0, 0), 0.5);
    assert_crossing(PLANE(DASH ":scaled { 2, about = { 4, 0 } }"), AT(1.5, 0, 0), AT(2.5, 0, 0),
                    0.5);
    /* Of combinations, and one after the other. */
    assert_crossing(
        PLANE("(" DASH " + shape.ball { centre = { 3, 0 }, radius = 1 }):moved { 1, 4 }"),
        AT(2, 4, 0), AT(4, 4, 0), 0.5);
    assert_crossing(PLANE("(" DASH " - shape.box { min = { 2, -1 }, max = { 4, 1 } })"
                          ":moved { -4, 0 }:scaled(2):moved { 4, 4 }"),
                    AT(3, 4, 0), AT(5, 4, 0), 0.5);
    assert_crossing(PLANE("shape.inside(function(x, y) return x > 3 and x < 5 end):moved { 1, 0 }"),
                    AT(3, 4, 0), AT(5, 4, 0), 0.5);
    assert_crossing(
        SPACE("shape.cylinder { from = { 0, 0, 0 }, to = { 6, 0, 0 }, radius = 1 }"
              ":rotated { angle = -math.pi / 2, axis = { 0, 1, 0 } }:moved { 8, 8, 8 }"),
        AT(8, 8, 15), AT(8, 8, 13), 0.5);
}

/* The same shape may be placed more than once, and stays what it was. */
static void placed_shapes_are_new(void **state) {
    (void)state;
    assert_crossing(LBM("periodic = { 'x', 'y' }, regions = (function()\n"
                        " local dot = shape.ball { centre = { 1, 1 }, radius = 0.6 }\n"
                        " local two = dot:moved { 3, 0 } + dot:moved { 0, 3 }\n"
                        " return { { where = dot + two, law = law.wall {} } } end)()"),
                    AT(2, 1, 0), AT(1, 1, 0), 0.4);
}

static void bad_arguments(void **state) {
    (void)state;
    script_refuses(PLANE("shape.ellipsoid { centre = { 4, 4 }, radii = { 2, -1 } }"),
                   "s.lua:4: shape.ellipsoid: radii must be above 0, got -1");
    script_refuses(PLANE("shape.ellipsoid { centre = { 4, 4 }, radii = { 2, 1, 3 } }"),
                   "s.lua:4: shape.ellipsoid: radii must have 2 coordinates, not 3");
    script_refuses(PLANE("shape.cone { from = { 4, 4 }, to = { 4, 4 }, radii = { 2, 1 } }"),
                   "s.lua:4: shape.cone: from and to are the same point");
    script_refuses(PLANE("shape.cone { from = { 4, 4 }, to = { 4, 5 }, radii = { 2, -1 } }"),
                   "s.lua:4: shape.cone: radii must be 0 or more, and not both 0, got 2 and -1");
    script_refuses(PLANE("shape.cone { from = { 4, 4 }, to = { 4, 5 }, radii = { 1, 2, 3 } }"),
                   "s.lua:4: shape.cone: radii must be { at from, at to }, got 3 numbers");
    script_refuses(PLANE("shape.torus { centre = { 4, 4 }, radius = 2, tube = 3 }"),
                   "s.lua:4: shape.torus: tube 3 must be at most radius 2, or there is no hole");
    script_refuses(PLANE("shape.torus { centre = { 4, 4 }, radius = -2, tube = 3 }"),
                   "s.lua:4: shape.torus: radius must be greater than 0, got -2");
    script_refuses(SPACE("shape.torus { centre = { 4, 4, 4 }, radius = 2, tube = 1, axis = { 0, 0, "
                         "0 } }"),
                   "s.lua:4: shape.torus: axis has no length; give a direction { x, y, z }");
#define DISC "shape.ball { centre = { 4, 4 }, radius = 2 }"
#define BALL "shape.ball { centre = { 4, 4, 4 }, radius = 2 }"
    script_refuses(PLANE(DISC ":rotated { angle = 30 }"),
                   "s.lua:4: shape:rotated: angle is in radians, at most 2 pi, got 30; write "
                   "math.rad(30) for degrees");
    script_refuses(PLANE(DISC ":rotated { angle = 1, axis = { 0, 0, 1 } }"),
                   "s.lua:4: shape:rotated: axis is for 3 dimensions; leave it out in 2");
    script_refuses(SPACE(BALL ":rotated { angle = 1 }"),
                   "s.lua:4: shape:rotated: axis is required in 3 dimensions, as axis = { 0, 0, 1 "
                   "}");
    script_refuses(SPACE(BALL ":rotated { angle = 1, axis = { 0, 0, 0 } }"),
                   "s.lua:4: shape:rotated: axis must be a direction { x, y, z }, not all 0");
    script_refuses(PLANE(DISC ":scaled(0)"),
                   "s.lua:4: shape:scaled: factor must be greater than 0, got 0");
    script_refuses(PLANE(DISC ":scaled { 2, abuot = { 1, 1 } }"),
                   "s.lua:4: shape:scaled: unknown field 'abuot'; did you mean 'about'?");
    script_refuses(PLANE(DISC ":moved(3)"),
                   "s.lua:4: shape:moved takes a table, got 3: write SHAPE:moved { x, y, z }");
    script_refuses(PLANE(DISC ":moved { 1, 2, 3 }"),
                   "s.lua:4: shape:moved: by must have 2 coordinates, not 3");
    script_refuses(PLANE(DISC ".moved { 1, 2 }"),
                   "s.lua:4: write SHAPE:moved { ... }: got table instead of a shape");
    /* A script that changes the members of a placed shape. */
#define CHANGED(how)                                                                      \
    LBM("periodic = { 'x', 'y' }, regions = { { law = law.wall {}, where = (function()\n" \
        " local s = " DISC ":moved { 1, 0 } " how " return s end)() } }")
    script_refuses(CHANGED("s[2] = 5"), "s.lua:5: shape:moved: its table is gone");
    script_refuses(CHANGED("s[1] = s"), "s.lua:5: shapes are combined more than 200 deep");
    script_refuses(PLANE("(" DISC " + shape.face 'x-'):moved { 1, 2 }"),
                   "s.lua:4: shape:moved: the faces of the domain stay where they are");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives),
        cmocka_unit_test(placements),
        cmocka_unit_test(placed_shapes_are_new),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
