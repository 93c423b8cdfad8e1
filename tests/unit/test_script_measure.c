/* test_script_measure.c -- out.flux and out.force on a flow that is known: a channel. */
#include "tests/unit/run_case.h"

static const char channel[] =
    "local sel = require 'selenite'\n"
    "local shape, law, out = sel.shape, sel.law, sel.out\n"
    "local function inflow(y) return 0.02 * y * (4 - y), 0 end\n"
    "return sel.lbm { lattice = 'D2Q9', size = { 16, 8 }, tau = 0.8, precision = 'f64',\n"
    "  density = 2, dx = 0.5, dt = 0.25,\n"
    "  reference = { velocity = 0.1, length = 4 },\n"
    "  regions = {\n"
    "    { name = 'walls', where = shape.face 'y-' + shape.face 'y+', law = law.wall {} },\n"
    "    { name = 'inlet', where = shape.face 'x-', law = law.velocity { inflow } },\n"
    "    { name = 'outlet', where = shape.face 'x+', law = law.pressure { 0 } } },\n"
    "  stop = { steps = 4000 },\n"
    "  output = { out.force { name = 'drag', region = 'walls' },\n"
    "    out.flux { name = 'outlet', region = 'outlet' },\n"
    "    out.flux { name = 'line', across = { { 4, 4 }, { 4, 0 } } },\n"
    "    out.flux { name = 'layer', through = shape.box { min = { 4, 0 }, max = { 4.5, 4 } } } },\n"
    "  hooks = { { at = 'end', call = function(run)\n"
    "    run:result('drop', run:probe('pressure', { 2.25, 2 }) - run:probe('pressure', { 5.75, 2 "
    "}))\n"
    "    run:result('density', run:probe('density', { 4, 2 }))\n"
    "  end } } }\n";

/* A parabola of height 0.08 across 4: a volume rate of 16 / 75, but for the sum over 8 cells. */
static void the_same_flow_crosses_line_layer_and_outlet(void **state) {
    (void)state;
    run_case r;
    case_run_well(&r, channel);
    double line = case_result(&r, "line.flux"), layer = case_result(&r, "layer.flux");
    assert_true(fabs(line / (16.0 / 75) - 1) < 0.025);
    assert_true(fabs(layer / line - 1) < 1e-3);
    double mass = case_result(&r, "density") * line;
    assert_true(fabs(case_result(&r, "outlet.flux") / mass - 1) < 2e-3);
    case_done(&r);
}

/* Along the walls, which end at the open faces 15 cells apart, the drag is the pressure's gradient
 * times the height. */
static void the_walls_drag_balances_the_pressure(void **state) {
    (void)state;
    run_case r;
    case_run_well(&r, channel);
    double drag = case_result(&r, "drag.force_x_mean"), per_length = drag / 7.5;
    double gradient = case_result(&r, "drop") / 3.5;
    assert_true(drag > 0);
    assert_true(fabs(per_length / (gradient * 4) - 1) < 0.05);
    double cd = 2 * drag / (2 * 0.1 * 0.1 * 4); /* density 2, length 4 */
    assert_true(fabs(case_result(&r, "drag.cd_mean") / cd - 1) < 1e-9);
    case_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_flow_crosses_line_layer_and_outlet),
        cmocka_unit_test(the_walls_drag_balances_the_pressure),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
