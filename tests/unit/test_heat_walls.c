/* test_heat_walls.c -- slabs and walls against what is known of them: a cooled slab against its
 * Fourier series, walls of two materials against resistances in series.
 */
#include "tests/unit/heat_case.h"

/* ---- a slab of thickness 1, k = C = 1, from 1 on, cooled by what flows past at 0 ---- */

/* The root of z tan z = Bi in branch n. */
static double root_of(double biot, int n) {
    double low = n * 3.14159265358979323846, high = low + 1.57079632679489661923;
    for (int k = 0; k < 100; k++) {
        const double middle = (low + high) / 2;
        *(middle * tan(middle) < biot ? &low : &high) = middle;
    }
    return low;
}

/* At a distance x from the insulated side (or from the middle) of a half thickness of 1. */
static double series(double biot, double x, double time) {
    double sum = 0;
    for (int n = 0; n < 60; n++) {
        const double z = root_of(biot, n);
        sum += 4 * sin(z) / (2 * z + sin(2 * z)) * exp(-z * z * time) * cos(z * x);
    }
    return sum;
}

/* Cooled at x+, and at x- if `both`, then with a half thickness of 1, between insulated faces; else
 * periodic along y. To 0.1 % of the temperature at the start, at the end of 0.3 of it. */
static void check_slab(double biot, bool both, bool nodes) {
    static const double times[] = {0.02, 0.1, 0.4, 1.5};
    const int sides = both ? 120 : 60, numbers = sides + nodes;
    const double dx = 1.0 / 60, dt = 0.2 * dx * dx;
    int64_t done = 0;
    heat_case t;
    heat_open(
        &t,
        "local cooled = law.convective { h = %.17g, ambient = 0 }\n"
        "return sel.heat { size = { %d, 3 }, dx = %.17g, conductivity = 1, dt = %.17g,\n"
        "precision = 'f64', layout = '%s', initial = { temperature = 1 }, periodic = { %s },\n"
        "regions = { %s face('x-', %s), face('x+', cooled) }, stop = { steps = 1 } }\n",
        biot, numbers, dx, dt, nodes ? "node" : "cell", both ? "" : "'y'",
        both ? "all(law.insulated {})," : "", both ? "cooled" : "law.insulated {}");
    for (int k = 0; k < 4; k++) {
        const int64_t steps = (int64_t)(times[k] / dt + 0.5);
        heat_advance(&t, steps - done);
        done = steps;
        double *T = heat_field(&t, HEAT_TEMPERATURE);
        for (int i = 0; i < 3 * numbers; i++) {
            const double x = (i % numbers + (nodes ? 0 : 0.5)) * dx - (both ? 1 : 0);
            const double expected = series(biot, x, (double)steps * dt);
            if (!(fabs(T[i] - expected) < 1e-3 * (k == 3 ? 0.3 : 1))) {
                fail_msg("Bi = %g, %s, at t = %g and x = %g: %.6f instead of %.6f", biot,
                         nodes ? "nodes" : "cells", times[k], x, T[i], expected);
            }
        }
        free(T);
    }
    heat_close(&t);
}

static void a_cooled_slab_follows_its_series(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        check_slab(0.5, k % 2, k / 2);
        check_slab(1, k % 2, k / 2);
        check_slab(10, k % 2, k / 2);
    }
}

/* ---- walls of two materials, steady ---- */

/* Steps until nothing changes but for round-off; the temperatures, freed by the caller. */
static double *settled(heat_case *t, int64_t most) {
    sel_request monitor = {.kind = SEL_MONITOR};
    heat_ask(t, &monitor);
    for (int64_t done = 0; done < most; done += 500) {
        heat_advance(t, 500);
        heat_ask(t, &monitor);
        if (monitor.change < 1e-15) {
            return heat_field(t, HEAT_TEMPERATURE);
        }
    }
    fail_msg("is not steady: %g", monitor.change);
    return NULL;
}

static double flux_out(heat_case *t, int region) {
    sel_request flux = {.kind = SEL_FLUX, .region = region};
    heat_ask(t, &flux);
    return flux.flux;
}

/* Along each axis: fixed at 1 in the low face, convective to 0 in the high one; k = 0.3 in the
 * first 7 of 16 cells, 5 behind them. Of nodes the border is midway between two of them. */
static void check_wall(int axis, bool nodes) {
    const int border = 7, sides = 16, numbers = sides + nodes;
    const double dx = 0.25, low = 0.3, high = 5, h = 2;
    const double first = border - (nodes ? 0.5 : 0), second = sides - first;
    const double resistance = dx * (first / low + second / high) + 1 / h, q = 1 / resistance;
    static const char *const names = "xyz";
    const char along = names[axis];
    char size[3][16];
    heat_case t;
    for (int a = 0; a < 3; a++) {
        snprintf(size[a], sizeof size[a], "%d", a == axis ? numbers : 3);
    }
    heat_open(&t,
              "return sel.heat { size = { %s, %s, %s }, dx = 0.25, precision = 'f64',\n"
              "layout = '%s', conductivity = function(%c)\n"
              "  if %c < %g then return 0.3 end return 5 end,\n"
              "regions = { all(law.insulated {}), face('%c-', law.fixed { 1 }),\n"
              "face('%c+', law.convective { h = 2, ambient = 0 }) }, stop = { steps = 1 } }\n",
              size[0], size[1], size[2], nodes ? "node" : "cell", along, along, first * dx, along,
              along);
    double *T = settled(&t, 200000), *F = heat_field(&t, HEAT_FLUX_FIELD);
    for (int64_t i = 0; i < sel_grid_cells(heat_grid(&t)); i++) {
        int64_t at[3];
        sel_cell_at(heat_grid(&t), i, at);
        const double x = (double)at[axis] + (nodes ? 0 : 0.5);
        const double before = dx * (fmin(x, first) / low + fmax(x - first, 0) / high);
        assert_true(fabs(T[i] - (1 - q * before)) < 1e-10);
        for (int a = 0; a < 3; a++) { /* the same in all cells, on both sides of the border too */
            assert_true(fabs(F[3 * i + a] - (a == axis ? q : 0)) < 1e-10);
        }
    }
    const double area = nodes ? 2 * 2 * dx * dx : 3 * 3 * dx * dx;
    assert_true(fabs(flux_out(&t, 2) + q * area) < 1e-10);
    assert_true(fabs(flux_out(&t, 3) - q * area) < 1e-10);
    assert_true(fabs(flux_out(&t, 1)) < 1e-12);
    free(T);
    free(F);
    heat_close(&t);
}

static void a_wall_of_two_materials_is_two_resistances_in_series(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        check_wall(axis, false);
        check_wall(axis, true);
    }
}

/* A rod that a flux heats at one end and a solid of a given temperature cools in the middle: linear
 * up to the solid, and the same as the solid or insulated beyond it. */
static void a_solid_holds_the_heat_that_comes_to_it(void **state) {
    (void)state;
    static const char *const laws[] = {"law.fixed { 3 }", "law.convective { h = 4, ambient = 3 }"};
    for (int k = 0; k < 4; k++) {
        const bool nodes = k % 2, convective = k / 2;
        heat_case t;
        heat_open(&t,
                  "return sel.heat { size = { 12, 4 }, dx = 0.5, conductivity = 2,\n"
                  "precision = 'f64', layout = '%s', periodic = { 'y' }, stop = { steps = 1 },\n"
                  "initial = { temperature = 3 }, regions = {\n"
                  "  face('x-', law.flux { 6 }), face('x+', law.insulated {}), { name = 'solid',\n"
                  "  where = shape.box { min = { 3, -1 }, max = { 4, 9 } }, law = %s } } }\n",
                  nodes ? "node" : "cell", laws[convective]);
        double *T = settled(&t, 100000);
        /* Where the solid's surface is: the face of the cell, the first node in it, or midway. */
        const double end = nodes && convective ? 2.75 : 3, start = 3 + (convective ? 6.0 / 4 : 0);
        for (int i = 0; i < 12 * 4; i++) {
            const double x = (i % 12 + (nodes ? 0 : 0.5)) * 0.5;
            const double expected = x < 3 ? start + 6.0 / 2 * (end - x) : x < 4 ? 0 : 3;
            if (!(fabs(T[i] - expected) < 1e-10)) {
                fail_msg("%s, %s at x = %g: %.12g instead of %.12g", laws[convective],
                         nodes ? "nodes" : "cells", x, T[i], expected);
            }
        }
        assert_true(fabs(flux_out(&t, 3) - 6 * 2) < 1e-10); /* the height of y is 2 */
        free(T);
        heat_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cooled_slab_follows_its_series),
        cmocka_unit_test(a_wall_of_two_materials_is_two_resistances_in_series),
        cmocka_unit_test(a_solid_holds_the_heat_that_comes_to_it),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
