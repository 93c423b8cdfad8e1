/* test_heat_implicit.c -- implicit schemes of sel.heat: their orders in time, any time step, steady
 * states, balances.
 */
#include "tests/unit/heat_case.h"

static const char *const schemes[] = {"crank_nicolson", "backward_euler"};

/* ---- orders ---- */

/* T = x sin(3 t) has no error in space. */
#define LINEAR                                                                    \
    "local dt, N, layout = %.17g, 9, '%s'\n"                                      \
    "local function at_end(x, y, t) return sin(3 * t) end\n"                      \
    "return sel.heat { size = { N, 5 }, layout = layout, precision = 'f64',\n"    \
    "  dx = layout == 'cell' and 1 / N or 1 / (N - 1), dt = dt, scheme = '%s',\n" \
    "  conductivity = 1, capacity = 2, stop = { steps = 1 },\n"                   \
    "  source = function(x, y, t) return 6 * x * cos(3 * t) end, regions = {\n"   \
    "  face('x-', law.fixed { 0 }), face('x+', %s),\n"                            \
    "  face('y-', law.insulated {}), face('y+', law.insulated {}) } }\n"

static double error_at_1(int steps, const char *layout, const char *scheme, const char *end) {
    heat_case c;
    double most = 0;
    heat_open(&c, LINEAR, 1.0 / steps, layout, scheme, end);
    heat_advance(&c, steps);
    double *T = heat_field(&c, HEAT_TEMPERATURE);
    for (int64_t k = 0; k < sel_grid_cells(heat_grid(&c)); k++) {
        double x[3];
        sel_cell_centre(heat_grid(&c), k, x);
        most = fmax(most, fabs(T[k] - x[0] * sin(3)));
    }
    free(T);
    heat_close(&c);
    return most;
}

static void crank_nicolson_is_of_second_order_and_backward_euler_of_first(void **state) {
    (void)state;
    static const char *const ends[] = {
        "law.fixed { at_end }", "law.flux { at_end }",
        "law.convective { h = 2, ambient = function(x, y, t) return 1.5 * sin(3 * t) end }"};
    for (int k = 0; k < 12; k++) {
        const char *layout = k % 2 ? "node" : "cell", *end = ends[k / 2 % 3];
        const char *scheme = schemes[k / 6];
        const double order =
            log2(error_at_1(40, layout, scheme, end) / error_at_1(80, layout, scheme, end));
        if (!(fabs(order - (k < 6 ? 2 : 1)) < 0.05)) {
            fail_msg("%s, %s, %s: order %.3f", layout, scheme, end, order);
        }
    }
}

/* A wave sin(pi x) sin(pi y) on nodes stays one; a step multiplies it by
 * (1 - (1 - w) r) / (1 + w r), r = sum of 2 k dt / dx^2 (1 - cos(pi dx)). */
static void a_wave_decays_as_the_scheme_says(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double dx = 1.0 / 16, w = k / 2 ? 1 : 0.5, dt = k % 2 ? 0.001 : 0.5;
        const double r = 4 * dt / (dx * dx) * (1 - cos(acos(-1) * dx));
        heat_case c;
        heat_open(&c,
                  "return sel.heat { size = { 17, 17 }, layout = 'node', precision = 'f64', dx = "
                  "1 / 16,\n"
                  "conductivity = 1, dt = %.17g, scheme = '%s', stop = { steps = 1 },\n"
                  "initial = { temperature = function(x, y) return sin(pi * x) * sin(pi * y) end "
                  "},\n"
                  "regions = { all(law.fixed { 0 }) } }\n",
                  dt, schemes[k / 2]);
        heat_advance(&c, 3);
        double *T = heat_field(&c, HEAT_TEMPERATURE);
        assert_true(fabs(T[8 + 17 * 8] - pow((1 - (1 - w) * r) / (1 + w * r), 3)) < 1e-9);
        free(T);
        heat_close(&c);
    }
}

/* ---- large steps ---- */

/* The lowest and the highest temperature of a cold plate with a hot side, in ten large steps. */
static void extremes(const char *scheme, double range[2]) {
    heat_case c;
    range[0] = range[1] = 0.5;
    heat_open(&c,
              "return sel.heat { size = { 32, 32 }, conductivity = 1, dt = 100, scheme = '%s',\n"
              "stop = { steps = 1 }, regions = { face('x-', law.fixed { 1 }),\n"
              "face('x+', law.fixed { 0 }), face('y-', law.insulated {}),\n"
              "face('y+', law.insulated {}) } }\n",
              scheme);
    for (int k = 0; k < 10; k++) {
        heat_advance(&c, 1);
        double *T = heat_field(&c, HEAT_TEMPERATURE);
        for (int64_t i = 0; i < 32 * 32; i++) {
            range[0] = fmin(range[0], T[i]);
            range[1] = fmax(range[1], T[i]);
        }
        free(T);
    }
    heat_close(&c);
}

static void backward_euler_does_not_overshoot_after_a_jump(void **state) {
    (void)state;
    double range[2];
    extremes("backward_euler", range);
    assert_true(range[0] >= -1e-6 && range[1] <= 1 + 1e-6);
    extremes("crank_nicolson", range); /* which does */
    assert_true(range[1] > 1.1);
}

/* Two materials, a hole, a source, all laws: solved by conjugate directions. */
#define MIXED                                                                              \
    "return sel.heat { size = { 24, 20 }, layout = '%s', precision = 'f64', dt = %s,\n"    \
    "scheme = '%s', stop = { steps = 1 }, source = function(x) return 0.01 * x end,\n"     \
    "capacity = function(x, y) return y < 6 and 3 or 1 end,\n"                             \
    "conductivity = function(x, y) return x < 9 and 1 or 0.2 end, regions = {\n"           \
    "all(law.fixed { function(x) return x end }), face('x-', law.flux { 0.3 }),\n"         \
    "face('y+', law.convective { h = 0.5, ambient = 3 }), face('y-', law.insulated {}),\n" \
    "{ where = shape.ball { centre = { 12, 10 }, radius = 4 }, law = law.fixed { 2 } } } }\n"

static void a_large_step_leads_to_the_steady_state_of_small_ones(void **state) {
    (void)state;
    for (int nodes = 0; nodes < 2; nodes++) {
        const char *layout = nodes ? "node" : "cell";
        heat_case large, small;
        heat_open(&large, MIXED, layout, "1e12", "backward_euler");
        heat_open(&small, MIXED, layout, "nil", "explicit");
        heat_advance(&large, 1);
        heat_advance(&small, 40000);
        double *T = heat_field(&large, HEAT_TEMPERATURE), *U = heat_field(&small, HEAT_TEMPERATURE);
        for (int64_t k = 0; k < 24 * 20; k++) {
            if (!(fabs(T[k] - U[k]) < 1e-7)) {
                fail_msg("%s, cell %lld: %.9g, not %.9g", layout, (long long)k, T[k], U[k]);
            }
        }
        free(T);
        free(U);
        heat_close(&large);
        heat_close(&small);
    }
}

static void what_enters_in_a_step_is_the_change_of_heat(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        sel_term terms[SEL_MAX_TERMS];
        sel_request request = {.kind = SEL_BALANCE, .terms = terms};
        heat_case c;
        heat_open(&c, MIXED, k % 2 ? "node" : "cell", "7", schemes[k / 2]);
        heat_advance(&c, 3);
        heat_ask(&c, &request);
        const sel_term *last = &terms[request.term_count - 1];
        assert_string_equal(last->name, "error");
        if (!(fabs(last->value) < 1e-8 * request.turnover.in)) {
            fail_msg("%d: %g", k, last->value);
        }
        heat_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crank_nicolson_is_of_second_order_and_backward_euler_of_first),
        cmocka_unit_test(a_wave_decays_as_the_scheme_says),
        cmocka_unit_test(backward_euler_does_not_overshoot_after_a_jump),
        cmocka_unit_test(a_large_step_leads_to_the_steady_state_of_small_ones),
        cmocka_unit_test(what_enters_in_a_step_is_the_change_of_heat),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
