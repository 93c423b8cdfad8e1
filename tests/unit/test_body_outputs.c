/* test_body_outputs.c -- what outputs measure of conducting bodies. */
#include "tests/unit/run_case.h"

/* ---- out.flux through layers of nodes ---- */

/* The text of a run of a body with a field that rises along an axis, and layers across that axis.
 */
#define LAYERS                                                                                   \
    "local sel = require 'selenite'\n"                                                           \
    "local shape, law, out = sel.shape, sel.law, sel.out\n"                                      \
    "local dims, axis, solver, around = %d, %d, '%s', { %s }\n"                                  \
    "local size, dx = { 5, 6, 7 }, { 0.5, 0.25, 0.125 }\n"                                       \
    "local box = { size = {}, dx = {}, layout = 'node', precision = 'f64', periodic = around,\n" \
    "  regions = { { name = 'all', where = shape.faces, law = law.insulated {} } } }\n"          \
    "local function layer(name, low, high)\n"                                                    \
    "  local min, max = {}, {}\n"                                                                \
    "  for a = 1, dims do min[a], max[a] = low * size[a] * dx[a], high * size[a] * dx[a] end\n"  \
    "  min[axis], max[axis] = 2 * dx[axis], 3 * dx[axis]\n"                                      \
    "  return out.flux { name = name, through = shape.box { min = min, max = max } }\n"          \
    "end\n"                                                                                      \
    "box.output = { layer('whole', -1, 2), layer('low', -1, 0.45), layer('inner', 0.3, 0.7) }\n" \
    "for a = 1, dims do box.size[a], box.dx[a] = size[a], dx[a] end\n"                           \
    "local rises = ({ function(x) return -3 * x end, function(y) return -3 * y end,\n"           \
    "  function(z) return -3 * z end })[axis]\n"                                                 \
    "if solver == 'heat' then\n"                                                                 \
    "  box.conductivity, box.dt, box.stop = 2, 1e-6, { steps = 0 }\n"                            \
    "  box.initial = { temperature = rises }\n"                                                  \
    "  return sel.heat(box)\n"                                                                   \
    "end\n"                                                                                      \
    "box.regions[2] = { name = 'low', where = shape.face(({ 'x-', 'y-', 'z-' })[axis]),\n"       \
    "  law = law.fixed { 0 } }\n"                                                                \
    "box.regions[3] = { name = 'high', where = shape.face(({ 'x+', 'y+', 'z+' })[axis]),\n"      \
    "  law = law.flux { -6 } }\n"                                                                \
    "box.coefficient, box.tolerance, box.rhs = 2, 1e-12, 0\n"                                    \
    "return sel.poisson(box)\n"

/* A node on a border has half a side: the flux density is 6 everywhere. */
static void check_layers(int dims, int axis, const char *solver, const char *around) {
    static const char *const axes[] = {"x", "y", "z"}, *names[] = {"whole", "low", "inner"};
    static const double dx[] = {0.5, 0.25, 0.125},
                        sides[3][3] = {{4, 5, 6}, {2.5, 2.5, 3.5}, {2, 3, 2}},
                        sides_around[3][3] = {{5, 6, 7}, {3, 3, 4}, {2, 3, 2}};
    char text[4096], periodic[8] = "", result[32];
    run_case r;
    if (around) {
        snprintf(periodic, sizeof periodic, "'%s'", around);
    }
    snprintf(text, sizeof text, LAYERS, dims, axis + 1, solver, periodic);
    case_run_well(&r, text);
    for (int k = 0; k < 3; k++) {
        double expected = 6;
        for (int a = 0; a < dims; a++) {
            const bool wraps = around && strcmp(around, axes[a]) == 0;
            expected *= a == axis ? 1 : (wraps ? sides_around : sides)[k][a] * dx[a];
        }
        snprintf(result, sizeof result, "%s.flux", names[k]);
        const double found = case_result(&r, result);
        if (!(fabs(found - expected) < 1e-9)) {
            fail_msg("%s in %d-D along %s, around %s, %s: %.12g instead of %.12g", solver, dims,
                     axes[axis], around ? around : "none", names[k], found, expected);
        }
    }
    case_done(&r);
}

static void nodes_on_borders_count_by_the_area_that_they_own(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        for (int axis = 0; axis < dims; axis++) {
            check_layers(dims, axis, "heat", NULL);
            check_layers(dims, axis, "poisson", NULL);
            check_layers(dims, axis, "heat", axis == 0 ? "y" : "x");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_on_borders_count_by_the_area_that_they_own),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
