/* test_body_outputs.c -- what outputs measure of conducting bodies. */
#include "tests/unit/compare_files.h"
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

/* ---- out.profile at surfaces ---- */

#define SURFACE                                                                                    \
    "local sel = require 'selenite'\n"                                                             \
    "local shape, law, out = sel.shape, sel.law, sel.out\n"                                        \
    "local layout, what, k, solid, upward = '%s', law.%s, %s, %s, %s\n"                            \
    "local low = shape.face(upward and 'y-' or 'x-')\n"                                            \
    "local box = { size = { 12, 12 }, dx = { 0.5, 0.25 }, layout = layout, precision = 'f64',\n"   \
    "  conductivity = k, dt = 1e-6, stop = { steps = 0 },\n"                                       \
    "  initial = { temperature = upward and function(y) return 10 * y end or\n"                    \
    "    function(x) return 10 * x end },\n"                                                       \
    "  regions = { { name = 'all', where = shape.faces, law = law.insulated {} },\n"               \
    "    { name = 'low', where = low, law = not solid and what or nil },\n"                        \
    "    { name = 'block', where = shape.box { min = { 3.9, 1.5 }, max = { 9, 9 } },\n"            \
    "      law = solid and what or law.insulated {} } } }\n"                                       \
    "box.regions[2].law = box.regions[2].law or law.insulated {}\n"                                \
    "box.output = { out.profile { field = 'temperature', points = 9,\n"                            \
    "  from = solid and { 3, 2.125 } or upward and { 1.25, 0 } or { 0, 0.625 },\n"                 \
    "  to = solid and { layout == 'node' and 3.75 or 4, 2.125 } or upward and { 1.25, 0.5 } or { " \
    "1, 0.625 } } }\n"                                                                             \
    "return sel.heat(box)\n"

/* The temperature is 10 x (or 10 y) everywhere, and the law is one that keeps it so. */
static void check_surface(const char *layout, const char *law, const char *k, bool solid,
                          bool upward) {
    char text[4096];
    run_case r;
    snprintf(text, sizeof text, SURFACE, layout, law, k, solid ? "true" : "false",
             upward ? "true" : "false");
    case_run_well(&r, text);
    char *bytes = read_whole("run/profile.csv", NULL);
    csv_table t = csv_read(bytes);
    assert_int_equal(t.rows, 9);
    for (int p = 0; p < t.rows; p++) {
        const double *row = t.value + p * t.columns, expected = 10 * row[upward ? 4 : 3];
        if (!(fabs(row[6] - expected) < 1e-9)) {
            fail_msg("%s, law.%s, k = %s, %s: %.12g instead of %.12g", layout, law, k,
                     solid ? "solid" : "face", row[6], expected);
        }
    }
    free(t.value);
    free(bytes);
    case_done(&r);
}

/* On faces T_s = 0, and 10 k leaves; before the block T_s = 40, of nodes 37.5. */
static void profiles_end_with_the_temperature_of_the_surface(void **state) {
    (void)state;
    check_surface("cell", "convective { h = 4, ambient = -5 }", "2", false, false);
    check_surface("cell", "flux { -20 }", "2", false, false);
    check_surface("cell", "flux { function(y) return -10 * (2 + y) end }",
                  "function(y) return 2 + y end", false, false);
    check_surface("cell", "flux { -30 }", "{ 2, 3 }", false, true);
    check_surface("cell", "convective { h = 3, ambient = -10 }", "{ 2, 3 }", false, true);
    check_surface("node", "flux { -20 }", "2", false, false);
    check_surface("cell", "fixed { 40 }", "2", true, false);
    check_surface("cell", "flux { 20 }", "2", true, false);
    check_surface("cell", "convective { h = 8, ambient = 42.5 }", "2", true, false);
    check_surface("node", "flux { 20 }", "2", true, false);
    check_surface("node", "convective { h = 8, ambient = 40 }", "2", true, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_on_borders_count_by_the_area_that_they_own),
        cmocka_unit_test(profiles_end_with_the_temperature_of_the_surface),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
