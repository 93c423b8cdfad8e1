/* test_poisson.c -- sel.poisson: orders of accuracy, methods that agree, how iterations end, what
 * enters through surfaces.
 */
#include <float.h>
#include "tests/unit/heat_case.h"
#include "engine/solvers/poisson/poisson.h"

/* Iterates until it ends, and expects how. */
static void solve(heat_case *c, sel_end how) {
    heat_steps(c, 1000000, true);
    if (c->state->ending.how != how) {
        fail_msg("ended by %d, not %d: %s", (int)c->state->ending.how, (int)how,
                 c->state->ending.why);
    }
}

/* ---- orders ---- */

/* phi = sin(u + 0.5) cos(2 v) on the unit square, c = 1 + a sin(2 u + v). */
#define SMOOTH                                                            \
    "local N, dims, layout, a = %d, %d, '%s', %g\n"                       \
    "local function phi(u, v) return sin(u + 0.5) * cos(2 * v) end\n"     \
    "local function c(u, v) return 1 + a * sin(2 * u + v) end\n"          \
    "local function pu(u, v) return cos(u + 0.5) * cos(2 * v) end\n"      \
    "local function pv(u, v) return -2 * sin(u + 0.5) * sin(2 * v) end\n" \
    "local function rhs(x, y) return -5 * c(x, y) * phi(x, y)\n"          \
    "  + a * cos(2 * x + y) * (2 * pu(x, y) + pv(x, y)) end\n"            \
    "local function value(x, y) return phi(x, y) end\n"                   \
    "local size, cells = { N, N, dims == 3 and 4 or nil }, layout == 'cell' and N or N - 1\n"

#define SOLVER                                                                                \
    "return sel.poisson { size = size, dx = 1 / cells, layout = layout, tolerance = 1e-10,\n" \
    "  rhs = rhs, coefficient = a > 0 and function(x, y) return c(x, y) end or nil,\n"        \
    "  periodic = dims == 3 and { 'z' } or nil, regions = {\n"                                \
    "  face('x-', law.fixed { value }),\n"                                                    \
    "  face('x+', law.flux { function(x, y) return c(x, y) * pu(x, y) end }),\n"              \
    "  face('y-', law.insulated {}),\n"                                                       \
    "  face('y+', law.convective { h = 2, ambient = function(x, y)\n"                         \
    "    return phi(x, y) + c(x, y) * pv(x, y) / 2 end }), %s } }\n"

static double error_of_smooth(int n, int dims, const char *layout, double a, const char *more) {
    heat_case c;
    double sum = 0;
    heat_open(&c, SMOOTH SOLVER, n, dims, layout, a, more);
    solve(&c, SEL_CONVERGED);
    const sel_grid *grid = &c.prepared.domain->grid;
    double *phi = heat_scalar(&c, POISSON_POTENTIAL);
    for (int64_t k = 0; k < sel_grid_cells(grid); k++) {
        double x[3];
        sel_cell_centre(grid, k, x);
        const double d = phi[k] - sin(x[0] + 0.5) * cos(2 * x[1]);
        sum += c.prepared.domain->cell[k] ? 0 : d * d;
    }
    free(phi);
    sum = sqrt(sum / (double)c.prepared.domain->free_cells);
    heat_close(&c);
    return sum;
}

static void expect_order(int dims, const char *layout, double a, const char *more, double least) {
    const int nodes = strcmp(layout, "node") == 0;
    const double coarse = error_of_smooth(32 + nodes, dims, layout, a, more);
    const double fine = error_of_smooth(64 + nodes, dims, layout, a, more);
    const double order = log2(coarse / fine);
    print_message("# %d-D, %s, c varies by %g: order %.3f\n", dims, layout, a, order);
    if (!(order >= least && order <= 2.3)) {
        fail_msg("%d-D, %s, %g: errors %.3g, %.3g", dims, layout, a, coarse, fine);
    }
}

static void every_law_is_of_second_order(void **state) {
    (void)state;
    expect_order(2, "cell", 0, "", 1.95);
    expect_order(2, "node", 0, "", 1.95);
    expect_order(2, "cell", 0.5, "", 1.95);
    expect_order(2, "node", 0.5, "", 1.95);
    expect_order(3, "cell", 0.5, "", 1.95);
    expect_order(3, "node", 0, "", 1.95);
}

static void solids_along_faces_keep_the_order_and_curved_ones_one(void **state) {
    (void)state;
    expect_order(2, "cell", 0,
                 "{ where = shape.box { min = { 0.25, 0.5 }, max = { 0.5, 0.75 } }, "
                 "law = law.fixed { value } }",
                 1.95);
    expect_order(2, "cell", 0,
                 "{ where = shape.ball { centre = { 0.5, 0.5 }, radius = 0.2 }, "
                 "law = law.fixed { value } }",
                 0.9);
}

/* ---- methods ---- */

static void all_methods_find_the_same_potential(void **state) {
    (void)state;
    static const char *const methods[] = {"multigrid", "jacobi", "gauss_seidel", "sor",
                                          "conjugate_gradient"};
    static const char *const solids[] = {
        "", "{ where = shape.ball { centre = { 12, 10 }, radius = 4 }, law = law.insulated {} }"};
    for (int s = 0; s < 2; s++) {
        double *first = NULL;
        for (int k = 0; k < 5; k++) {
            heat_case c;
            heat_open(&c,
                      "return sel.poisson { size = { 30, 20 }, method = '%s', tolerance = 1e-12,\n"
                      "rhs = function(x, y) return sin(x) * y end, regions = {\n"
                      "all(law.fixed { function(x) return x end }), face('x+', law.insulated {}),\n"
                      "%s } }\n",
                      methods[k], solids[s]);
            solve(&c, SEL_CONVERGED);
            double *phi = heat_scalar(&c, POISSON_POTENTIAL), largest = 0;
            first = first ? first : phi;
            for (int i = 0; i < 600; i++) {
                largest = fmax(largest, fabs(phi[i] - first[i]));
            }
            if (!(largest < 1e-7)) {
                fail_msg("%s differs by %g", methods[k], largest);
            }
            if (phi != first) {
                free(phi);
            }
            heat_close(&c);
        }
        free(first);
    }
}

/* The potential on some threads. */
static double *potential_on(int64_t threads, const char *fields, size_t *bytes) {
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = threads};
    char text[HEAT_TEXT];
    heat_case c;
    snprintf(text, sizeof text, HEAT_BEGIN "return sel.poisson { %s }\n", fields);
    heat_open_on(&c, &settings, text);
    solve(&c, SEL_CONVERGED);
    double *phi = heat_scalar(&c, POISSON_POTENTIAL);
    *bytes = (size_t)sel_grid_cells(heat_grid(&c)) * sizeof *phi;
    heat_close(&c);
    return phi;
}

/* Planes of threads meet, or are too few for that, or lie around. */
static void threads_do_not_change_a_bit(void **state) {
    (void)state;
#define WALLS "rhs = function(x, y) return sin(x * y) end, regions = { all(law.fixed { 0 })"
#define BALL "{ where = shape.ball { centre = { 20, 30 }, radius = 9 }, law = law.fixed { 1 } }"
    static const char *const bodies[] = {
        "size = { 150, 131 }, " WALLS " }",
        "size = { 150, 134 }, layout = 'node', " WALLS " }",
        "size = { 150, 131 }, " WALLS ", " BALL " }",
        "size = { 150, 131 }, layout = 'node', " WALLS ", " BALL " }",
        "size = { 150, 132 }, periodic = { 'y' }, " WALLS " }",
        "size = { 30, 22, 50 }, periodic = { 'y' }, " WALLS " }",
        "size = { 30, 22, 50 }, periodic = { 'y', 'z' }, layout = 'node', " WALLS " }",
    };
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        size_t bytes;
        double *one = potential_on(1, bodies[k], &bytes);
        for (int64_t threads = 2; threads <= 4; threads++) {
            double *several = potential_on(threads, bodies[k], &bytes);
            if (memcmp(one, several, bytes) != 0) {
                fail_msg("%s on %lld threads", bodies[k], (long long)threads);
            }
            free(several);
        }
        free(one);
    }
}

static void an_iteration_begins_anew_with_the_same_bits(void **state) {
    (void)state;
    static const char *const bodies[] = {WALLS " }", WALLS ", " BALL " }",
                                         "method = 'sor', " WALLS " }"};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        heat_case c;
        heat_open(&c, "return sel.poisson { size = { 50, 61 }, %s }\n", bodies[k]);
        solve(&c, SEL_CONVERGED);
        const int64_t steps = c.state->step;
        double *first = heat_scalar(&c, POISSON_POTENTIAL);
        assert_int_equal(c.prepared.backend->restart(c.state, &c.error), SEL_OK);
        assert_int_equal(c.state->step, 0);
        solve(&c, SEL_CONVERGED);
        double *second = heat_scalar(&c, POISSON_POTENTIAL);
        assert_int_equal(c.state->step, steps);
        assert_memory_equal(first, second, 50 * 61 * sizeof *first);
        free(first);
        free(second);
        heat_close(&c);
    }
}

/* ---- ends ---- */

static void expect_end(const char *fields, sel_end how, const char *why) {
    heat_case c;
    heat_open(&c, "return sel.poisson { size = { 40, 40 }, %s }\n", fields);
    solve(&c, how);
    if (!strstr(c.state->ending.why, why)) {
        fail_msg("%s: %s", fields, c.state->ending.why);
    }
    heat_close(&c);
}

static void iterations_end_by_what_they_have_reached(void **state) {
    (void)state;
#define FIXED "regions = { all(law.fixed { function(x) return x end }) }, "
    expect_end(FIXED "rhs = 0", SEL_CONVERGED, "the residual is");
    expect_end(FIXED "rhs = 1, tolerance = 1e-300", SEL_CONVERGED, "round-off");
    expect_end(FIXED "rhs = 1, max_iterations = 2", SEL_OUT_OF_ITERATIONS, "not 1e-08");
    expect_end("regions = { all(law.fixed { 0 }) }, rhs = 0", SEL_CONVERGED, "residual is 0");
    /* Jacobi's iteration keeps the checkerboard of a periodic grid. */
    expect_end("periodic = { 'x', 'y' }, method = 'jacobi', tolerance = 1e-12,\n"
               "rhs = function(x, y) return cos(pi * (x + y - 1)) end",
               SEL_STAGNATED, "has not fallen since");
}

/* Only faces that conduct little tie the potential, of about -1 / h: round-off of it outweighs the
 * right-hand side, at last all of it. */
static void iterations_that_round_off_ends_early_are_not_converged(void **state) {
    (void)state;
#define LOOSE(h)                                                                                   \
    "regions = { all(law.insulated {}), face('x-', law.convective { h = " h ", ambient = 0 }) }, " \
    "dx = 1 / 40, rhs = -1"
    expect_end(LOOSE("1e-3"), SEL_CONVERGED, "of the right-hand side");
    expect_end(LOOSE("1e-7"), SEL_CONVERGED, "not 1e-08: round-off");
    expect_end(LOOSE("1e-12"), SEL_STAGNATED, "stagnated: the residual is");
    expect_end(LOOSE("1e-12"), SEL_STAGNATED, "law.fixed, a larger h");
}

/* Squares of the right-hand side, and of residuals that are far smaller, are still numbers; or the
 * problem is refused. */
static void right_sides_beyond_the_range_of_squares_are_refused(void **state) {
    (void)state;
    static const struct {
        double V;
        const char *layout;
        bool good;
    } cases[] = {{0, "cell", true},       {1e-125, "cell", true},  {1e125, "cell", true},
                 {1e-158, "cell", false}, {1e-165, "cell", false}, {1e-165, "node", false},
                 {1e155, "cell", false},  {1e-125, "node", true},  {1e155, "node", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        script_case script = {0};
        sel_prepared prepared;
        sel_state *made = NULL;
        sel_error error = {.status = SEL_OK};
        char text[HEAT_TEXT];
        const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = 1};
        snprintf(text, sizeof text,
                 HEAT_BEGIN "return sel.poisson { size = { 4, 9 }, rhs = 0, layout = '%s',\n"
                            "regions = { all(law.fixed { 0 }), face('y+', law.fixed { %g }) } }\n",
                 cases[k].layout, cases[k].V);
        script_accepts(&script, text);
        assert_int_equal(sel_prepare(script.scenario->simulations, &settings, &prepared, &error),
                         SEL_OK);
        const sel_status status = prepared.backend->create(prepared.plan, &made, &error);
        if ((status == SEL_OK) != cases[k].good ||
            (status && !strstr(error.text, "its squares overflow or vanish"))) {
            fail_msg("%g, %s: %s", cases[k].V, cases[k].layout, error.text);
        }
        prepared.backend->destroy(made);
        sel_prepared_release(&prepared);
        script_done(&script);
    }
}

static void a_potential_known_but_for_a_constant_has_the_mean_0(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const char *const solvers[] = {"layout = 'cell'", "layout = 'node'",
                                              "method = 'conjugate_gradient'"};
        heat_case c;
        double sum = 0;
        heat_open(&c,
                  "return sel.poisson { size = { 32, 32 }, dx = %s, %s,\n"
                  "rhs = function(x, y) return cos(pi * x / 32) end, initial = { potential = 7 },\n"
                  "regions = { all(law.insulated {}) } }\n",
                  k == 1 ? "32 / 31" : "1", solvers[k]);
        solve(&c, SEL_CONVERGED);
        double *phi = heat_scalar(&c, POISSON_POTENTIAL);
        for (int64_t i = 0; i < 32 * 32; i++) {
            const int64_t at[3] = {i % 32, i / 32, 0};
            sum += phi[i] * sel_part_inside(&c.prepared.domain->grid, at, -1);
        }
        assert_true(fabs(sum) < 1e-5 * fabs(phi[0]) * 32 * 32);
        assert_true(fabs(phi[0]) > 1);
        free(phi);
        heat_close(&c);
    }
}

static void what_enters_through_surfaces_is_the_integral_of_the_right_hand_side(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        sel_term terms[SEL_MAX_TERMS];
        sel_request request = {.kind = SEL_BALANCE, .terms = terms};
        heat_case c;
        heat_open(&c,
                  "return sel.poisson { size = { 30, 20 }, layout = '%s', tolerance = 1e-12,\n"
                  "rhs = function(x, y) return x - 3 * y end, regions = {\n"
                  "all(law.fixed { function(x) return x end }),\n"
                  "face('x+', law.convective { h = 1, ambient = 3 }),\n"
                  "{ where = shape.ball { centre = { 12, 10 }, radius = 4 }, law = law.flux { 2 } "
                  "} } }\n",
                  k ? "node" : "cell");
        solve(&c, SEL_CONVERGED);
        assert_int_equal(c.prepared.backend->start(c.state, &request, &c.error), SEL_OK);
        const sel_term *last = &terms[request.term_count - 1];
        assert_string_equal(last->name, "error");
        assert_true(fabs(last->value) < 1e-9);
        heat_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_law_is_of_second_order),
        cmocka_unit_test(solids_along_faces_keep_the_order_and_curved_ones_one),
        cmocka_unit_test(all_methods_find_the_same_potential),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(an_iteration_begins_anew_with_the_same_bits),
        cmocka_unit_test(iterations_end_by_what_they_have_reached),
        cmocka_unit_test(iterations_that_round_off_ends_early_are_not_converged),
        cmocka_unit_test(right_sides_beyond_the_range_of_squares_are_refused),
        cmocka_unit_test(a_potential_known_but_for_a_constant_has_the_mean_0),
        cmocka_unit_test(what_enters_through_surfaces_is_the_integral_of_the_right_hand_side),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
