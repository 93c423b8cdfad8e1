/* test_lbm_openings.c -- a channel and a duct between an inlet and an outlet with the regularized
 * collision, at Reynolds numbers of a cell at which open faces fail first.
 */
#include <math.h>
#include "tests/unit/files.h"
#include "tests/unit/run_case.h"

/* The exact flow at the start; k = 2 nu U / slope / a^2 with the half width a. At the end the
 * largest deviation of the velocity on the axis, and of the pressure drop. */
static const char flow_text[] =
    "local sel = require 'selenite'\n"
    "local shape, law = sel.shape, sel.law\n"
    "local space, cell, inlet, outlet, steps = %s, %g, '%s', '%s', %d\n"
    "local H, L, U = %d, %d, 0.05\n"
    "local nu, k, m = U / cell, space and 0.58937 or 1, math.floor(H / 2) + 0.5\n"
    "local slope = 8 * nu * U / (k * H ^ 2)\n"
    "local function profile(y, z)\n"
    "  if not space then return 4 * y / H * (1 - y / H) end\n"
    "  local sum = 0\n"
    "  for n = 1, 39, 2 do\n"
    "    local q, far = n * math.pi, math.abs(z / H - 0.5)\n"
    "    local r = (math.exp(q * (far - 0.5)) + math.exp(-q * (far + 0.5))) / (1 + math.exp(-q))\n"
    "    sum = sum + math.sin(q * y / H) / n ^ 3 * (1 - r)\n"
    "  end\n"
    "  return sum / 0.571069\n"
    "end\n"
    "local velocity = space and function(y, z) return U * profile(y, z), 0, 0 end\n"
    "  or function(y) return U * profile(y, 0), 0 end\n"
    "local function at(x) return space and { x, m, m } or { x, m } end\n"
    "local function report(run)\n"
    "  local worst = 0\n"
    "  for x = 0.5, L - 0.5 do\n"
    "    worst = math.max(worst, math.abs(run:probe('velocity', at(x)) / (U * profile(m, m)) - "
    "1))\n"
    "  end\n"
    "  run:result('axis', worst)\n"
    "  local drop = run:probe('pressure', at(0.5)) - run:probe('pressure', at(L - 0.5))\n"
    "  run:result('drop', drop / (slope * (L - 1)) - 1)\n"
    "end\n"
    "return sel.lbm { lattice = space and 'D3Q19' or 'D2Q9', size = space and { L, H, H } or { L, "
    "H "
    "},\n"
    "  nu = nu, collision = 'regularized', stop = { steps = steps },\n"
    "  initial = { velocity = { velocity }, pressure = function(x) return slope * (L - 0.5 - x) "
    "end },\n"
    "  regions = { { name = 'walls', where = shape.faces, law = law.wall {} },\n"
    "    { name = 'in', where = shape.face 'x-', law = inlet == 'velocity' and law.velocity { "
    "velocity }\n"
    "      or law.pressure { slope * (L - 1) } },\n"
    "    { name = 'out', where = shape.face 'x+', law = outlet == 'outflow' and law.outflow {}\n"
    "      or law.pressure { 0 } } },\n"
    "  hooks = { { at = 'end', call = report } } }\n";

static void assert_holds(bool space, double cell, const char *inlet, const char *outlet,
                         double largest_axis, double largest_drop) {
    char text[sizeof flow_text + 128];
    run_case r;
    snprintf(text, sizeof text, flow_text, space ? "true" : "false", cell, inlet, outlet,
             space ? 1500 : 5000, space ? 14 : 20, space ? 30 : 50);
    case_run_well(&r, text);
    const double axis = case_result(&r, "axis"), drop = case_result(&r, "drop");
    print_message("# %s, %s to %s, Reynolds number of a cell %g: axis %.4f, drop %+.4f\n",
                  space ? "duct" : "channel", inlet, outlet, cell, axis, drop);
    assert_true(axis < largest_axis && fabs(drop) < largest_drop);
    case_done(&r);
}

static void a_regularized_channel_holds_between_open_faces(void **state) {
    (void)state;
    assert_holds(false, 8.3, "velocity", "pressure", 0.02, 0.03);
    assert_holds(false, 11, "velocity", "outflow", 0.02, 0.03);
    assert_holds(false, 11, "pressure", "pressure", 0.02, 0.03);
    assert_holds(false, 30, "velocity", "pressure", 0.02, 0.07);
}

/* Of 14 cells: coarser than the channel. */
static void a_regularized_duct_holds_between_open_faces(void **state) {
    (void)state;
    assert_holds(true, 11, "velocity", "pressure", 0.05, 0.06);
    assert_holds(true, 11, "velocity", "outflow", 0.05, 0.06);
    assert_holds(true, 11, "pressure", "pressure", 0.05, 0.06);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regularized_channel_holds_between_open_faces),
        cmocka_unit_test(a_regularized_duct_holds_between_open_faces),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
