/* test_heat_order.c -- the order of accuracy of conduction: smooth bodies with every law and a
 * source, solids along the faces of cells, and curved ones, on finer and finer grids.
 */
#include "tests/unit/heat_case.h"

/* The least squares slope of the logarithms of errors on grids that double. */
static double order_of(const double *error, int grids) {
    double slope = 0, sum = 0;
    for (int k = 0; k < grids; k++) {
        const double at = k - 0.5 * (grids - 1);
        slope -= at * log2(error[k]);
        sum += at * at;
    }
    return slope / sum;
}

static void assert_order(const char *what, const double *error, int grids, double least,
                         double most) {
    const double order = order_of(error, grids);
    print_message("# %s: errors %.3g to %.3g, order %.3f\n", what, error[0], error[grids - 1],
                  order);
    if (!(order >= least && order <= most)) {
        fail_msg("%s: errors %.3g, %.3g, %.3g: order %.3f", what, error[0], error[1], error[2],
                 order);
    }
}

typedef double solution(double x, double y, double t);

/* The root mean square of the error in the free cells. */
static double error_of(heat_case *t, solution *exact) {
    const sel_grid *grid = heat_grid(t);
    double *T = heat_field(t, HEAT_TEMPERATURE), sum = 0;
    for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
        double x[3];
        sel_cell_centre(grid, i, x);
        if (t->prepared.domain->cell[i] == 0) {
            const double d = T[i] - exact(x[0], x[1], (double)t->state->step * grid->dt);
            sum += d * d;
        }
    }
    free(T);
    return sqrt(sum / (double)t->prepared.domain->free_cells);
}

/* ---- a solution made for the purpose, on the unit square ---- */

/* exp(-t) sin(u + 0.5) cos(2 v): nothing passes through v = 0. */
#define SMOOTH                                                                               \
    "local function T(u, v, t) return exp(-t) * sin(u + 0.5) * cos(2 * v) end\n"             \
    "local function Tu(u, v, t) return exp(-t) * cos(u + 0.5) * cos(2 * v) end\n"            \
    "local function Tv(u, v, t) return -2 * exp(-t) * sin(u + 0.5) * sin(2 * v) end\n"       \
    "local function K(u, v) return 1 + 0.5 * sin(2 * u + v) end\n"                           \
    "local function C(u, v) return 2 + 0.5 * cos(u - 3 * v) end\n"                           \
    "local function Q(u, v, t)\n"                                                            \
    "  local slope = cos(2 * u + v)\n"                                                       \
    "  return (5 * K(u, v) - C(u, v)) * T(u, v, t) - slope * (Tu(u, v, t) + 0.5 * Tv(u, v, " \
    "t))\n"                                                                                  \
    "end\n"                                                                                  \
    "local function ambient(u, v, t) return T(u, v, t) + K(u, v) * Tu(u, v, t) / 3 end\n"    \
    "local function heating(u, v, t) return K(u, v) * Tv(u, v, t) end\n"

static double smooth(double u, double v, double t) {
    return exp(-t) * sin(u + 0.5) * cos(2 * v);
}

/* u and v of x and y; the same equation holds in both. */
static double turned(double x, double y, double t) {
    return smooth(1 - y, 1 - x, t);
}

static const struct {
    const char *place, *face[4]; /* u = 0, u = 1, v = 0, v = 1 */
    solution *exact;
} ways[] = {{"x, y", {"x-", "x+", "y-", "y+"}, smooth},
            {"1 - y, 1 - x", {"y+", "y-", "x+", "x-"}, turned}};

/* Every law on a face of its own; or fixed faces and a solid. */
static double smooth_error(int n, bool nodes, int way, bool solid) {
    heat_case t;
    char laws[768];
    snprintf(laws, sizeof laws,
             solid ? "all(law.fixed { at(T) }), { where = shape.box { min = { 0.25, 0.375 },\n"
                     "max = { 0.5, 0.75 } }, law = law.fixed { at(T) } }"
                   : "face('%s', law.fixed { at(T) }),\n"
                     "face('%s', law.convective { h = 3, ambient = at(ambient) }),\n"
                     "face('%s', law.insulated {}), face('%s', law.flux { at(heating) })",
             ways[way].face[0], ways[way].face[1], ways[way].face[2], ways[way].face[3]);
    heat_open(&t,
              SMOOTH "local function at(f) return function(x, y, t) local u, v = %s\n"
                     "  return f(u, v, t) end end\n"
                     "local function still(f) return function(x, y) local u, v = %s\n"
                     "  return f(u, v, 0) end end\n"
                     "return sel.heat { size = { %d, %d }, dx = 1 / %d, dt = 0.15 / %d ^ 2,\n"
                     "precision = 'f64', layout = '%s', conductivity = still(K),\n"
                     "capacity = still(C), source = at(Q), initial = { temperature = still(T) },\n"
                     "regions = { %s }, stop = { steps = 1 } }\n",
              ways[way].place, ways[way].place, n + nodes, n + nodes, n, n, nodes ? "node" : "cell",
              laws);
    assert_int_equal(t.notices, 0);
    heat_advance(&t, n * n / 2); /* to t = 0.075 */
    const double error = error_of(&t, ways[way].exact);
    heat_close(&t);
    return error;
}

static void check_smooth(bool solid) {
    for (int k = 0; k < (solid ? 2 : 4); k++) {
        char what[96];
        double error[3];
        for (int grid = 0; grid < 3; grid++) {
            error[grid] = smooth_error(16 << grid, k % 2, k / 2, solid);
        }
        snprintf(what, sizeof what, "%s of %s, %s", solid ? "a solid" : "every law",
                 k % 2 ? "nodes" : "cells", ways[k / 2].place);
        assert_order(what, error, 3, 1.95, 2.05);
    }
}

static void smooth_bodies_with_every_law_are_of_second_order(void **state) {
    (void)state;
    check_smooth(false);
}

static void solids_along_faces_are_of_second_order(void **state) {
    (void)state;
    check_smooth(true);
}

/* ---- around discs: ln r is steady ---- */

static double logarithm(double x, double y, double t) {
    (void)t;
    return log(hypot(x - 0.51, y - 0.48) / 0.2);
}

/* A disc of temperature 0 and of radius 0.2 in a unit square, or in a ring with the radius 0.45;
 * from ln r on, which it leaves by the error only. */
static double disc_error(int n, bool nodes, bool ring) {
    heat_case t;
    heat_open(&t,
              "local function exact(x, y)\n"
              "  return 0.5 * log(((x - 0.51) ^ 2 + (y - 0.48) ^ 2) / 0.04) end\n"
              "local function disc(r) return shape.ball { centre = { 0.51, 0.48 }, radius = r } "
              "end\n"
              "return sel.heat { size = { %d, %d }, dx = 1 / %d, diffusivity = 1, dt = 0.2 / %d ^ "
              "2,\n"
              "precision = 'f64', layout = '%s', initial = { temperature = exact },\n"
              "regions = { all(law.fixed { exact }), { where = disc(0.2), law = law.fixed { 0 } "
              "},\n"
              "%s }, stop = { steps = 1 } }\n",
              n + nodes, n + nodes, n, n, nodes ? "node" : "cell",
              ring ? "{ where = shape.box { min = { -1, -1 }, max = { 2, 2 } } - disc(0.45),\n"
                     "law = law.fixed { log(0.45 / 0.2) } }"
                   : "");
    heat_advance(&t, n * n / 2); /* to t = 0.1 */
    const double error = error_of(&t, logarithm);
    heat_close(&t);
    return error;
}

static void curved_solids_are_of_first_order(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        char what[96];
        double error[4];
        for (int grid = 0; grid < 4; grid++) {
            error[grid] = disc_error(16 << grid, k % 2, k / 2);
        }
        snprintf(what, sizeof what, "a disc in a %s of %s", k / 2 ? "ring" : "square",
                 k % 2 ? "nodes" : "cells");
        assert_order(what, error, 4, 0.9, 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_bodies_with_every_law_are_of_second_order),
        cmocka_unit_test(solids_along_faces_are_of_second_order),
        cmocka_unit_test(curved_solids_are_of_first_order),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
