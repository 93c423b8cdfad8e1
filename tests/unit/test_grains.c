/* test_grains.c -- bodies whose coefficients jump from cell to cell: cycles of multigrid converge
 * at any contrast, in a tenth of the iterations of conjugate gradients, to the solution of the
 * equations. */
#include <float.h>
#include "tests/unit/heat_case.h"
#include "engine/solvers/poisson/poisson.h"

/* A third of the blocks of b cells conducts k times better: at random, or in a pattern. */
#define GRAINS                                                                                  \
    "local n, b, k, dims, random = %d, %d, %g, %d, %s\n"                                        \
    "local m, seed, good = n // b + 1, 12345, {}\n"                                             \
    "for i = 0, m * m * (dims == 3 and m or 1) - 1 do\n"                                        \
    "  seed = (seed * 1103515245 + 12345) & 0x7fffffff\n"                                       \
    "  local x, y = i - i // m * m, i // m - i // m // m * m\n"                                 \
    "  local sum = x * 7 + y * 13 + x * y * 5\n"                                                \
    "  good[i + 1] = random and seed < 0x7fffffff // 3 or not random and sum == sum // 3 * 3\n" \
    "end\n"                                                                                     \
    "local function block(x) return math.floor(x * n / b + 1e-9) end\n"                         \
    "local function c2(x, y) return good[1 + block(x) + m * block(y)] and k or 1 end\n"         \
    "local function c3(x, y, z)\n"                                                              \
    "  return good[1 + block(x) + m * (block(y) + m * block(z))] and k or 1 end\n"              \
    "local c, size = dims == 3 and c3 or c2, dims == 3 and { n, n, n } or { n, n }\n"           \
    "local regions = { all(law.fixed { 0 }) }\n"
#define POTENTIAL                                                                           \
    GRAINS "return sel.poisson { size = size, dx = 1 / n, rhs = 1, coefficient = c, method" \
           " = '%s', regions = regions, tolerance = %g, layout = '%s' }\n"

typedef struct grains {
    int n, block;
    double contrast;
    int dims;
    bool random;
} grains;

static void open_potential(heat_case *c, const grains *g, const char *method, double tolerance,
                           const char *layout) {
    heat_open(c, POTENTIAL, g->n, g->block, g->contrast, g->dims, g->random ? "true" : "false",
              method, tolerance, layout);
}

/* Iterates to the end; returns the iterations. Fails where it has not converged. */
static int64_t solve(heat_case *c) {
    heat_steps(c, 1000000, true);
    if (c->state->ending.how != SEL_CONVERGED) {
        fail_msg("%s", c->state->ending.why);
    }
    return c->state->step;
}

static int64_t iterations(const grains *g, const char *method, double tolerance,
                          const char *layout) {
    heat_case c;
    open_potential(&c, g, method, tolerance, layout);
    const int64_t steps = solve(&c);
    heat_close(&c);
    return steps;
}

static void regular_grains_take_twenty_cycles_at_any_contrast(void **state) {
    (void)state;
    for (int block = 4; block <= 16; block *= 2) {
        for (double contrast = 1e2; contrast <= 1e4; contrast *= 100) {
            const grains g = {128, block, contrast, 2, false};
            const int64_t steps = iterations(&g, "multigrid", 1e-8, "cell");
            print_message("# regular grains of %d, %g: %d cycles\n", block, contrast, (int)steps);
            assert_in_range(steps, 5, 20);
        }
    }
}

static void random_grains_take_about_a_tenth_of_conjugate_gradients(void **state) {
    (void)state;
    static const int blocks[] = {3, 4, 8, 16};
    for (int k = 0; k < 4; k++) {
        for (double contrast = 1e2; contrast <= 1e4; contrast *= 100) {
            for (int dims = 2; dims <= 3; dims++) {
                const grains g = {dims == 2 ? 128 : 40, blocks[k], contrast, dims, true};
                const int64_t steps = iterations(&g, "multigrid", 1e-8, "cell");
                const int64_t all = iterations(&g, "conjugate_gradient", 1e-8, "cell");
                print_message("# %d-D, random grains of %d, %g: %d cycles, %d of conjugate "
                              "gradients\n",
                              dims, blocks[k], contrast, (int)steps, (int)all);
                assert_true(9 * steps <= all);
            }
        }
    }
}

static void the_highest_contrast_converges_or_meets_round_off(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        const grains g = {dims == 2 ? 128 : 40, 3, 1e6, dims, true};
        const int64_t steps = iterations(&g, "multigrid", 1e-8, "cell");
        print_message("# %d-D, random grains of 3, 1e6: %d cycles\n", dims, (int)steps);
        assert_in_range(steps, 1, 700);
    }
}

/* Nodes are joined as cells are, those on fixed surfaces with the ones beside them. */
static void nodes_converge_as_cells_do(void **state) {
    (void)state;
    for (int n = 127; n <= 128; n++) {
        const grains g = {n, 8, 1e4, 2, true};
        const int64_t cells = iterations(&g, "multigrid", 1e-8, "cell");
        const int64_t nodes = iterations(&g, "multigrid", 1e-8, "node");
        print_message("# %d cells: %d cycles, nodes: %d\n", n, (int)cells, (int)nodes);
        assert_true(nodes <= 2 * cells);
    }
}

/* ---- against a direct solution ---- */

/* The rows of A as a band: A[i][j] for j <= i < j + n + 1 at band[j (n + 1) + i - j], divided by
 * the volume, with the conductances of the engine; fixed faces are half a cell away. */
static double *band_of(const heat_case *c) {
    const sel_plan *plan = c->prepared.plan;
    const sel_domain *domain = plan->domain;
    const diffusion_material *material = &diffusion_body_of(plan)->k;
    const int64_t n = domain->grid.n[0], cells = n * n;
    double *band = calloc((size_t)(cells * (n + 1)), sizeof *band);
    for (int64_t i = 0; i < cells; i++) {
        for (int face = 0; face < 4; face++) {
            const int64_t place = face < 2 ? i % n : i / n, step = face < 2 ? 1 : n;
            const bool outer = place == (face % 2 ? n - 1 : 0);
            const double dx = domain->grid.dx[0];
            const double k = diffusion_material_at(material, &domain->grid, i, face / 2);
            const double g =
                outer ? 2 * k / (dx * dx) : diffusion_conductance(material, domain, i, face);
            band[i * (n + 1)] += g;
            if (!outer && face % 2) {
                band[i * (n + 1) + step] = -g;
            }
        }
    }
    return band;
}

/* x of A x = b by L D L^T; the band is overwritten. */
static void solve_band(double *band, int64_t width, int64_t cells, double *x) {
    for (int64_t j = 0; j < cells; j++) {
        double *column = band + j * (width + 1);
        for (int64_t i = 1; i <= width && j + i < cells; i++) {
            const double factor = column[i] / column[0];
            double *to = band + (j + i) * (width + 1);
            for (int64_t k = i; k <= width && factor != 0 && j + k < cells; k++) {
                to[k - i] -= factor * column[k];
            }
            x[j + i] -= factor * x[j];
        }
    }
    for (int64_t j = cells - 1; j >= 0; j--) {
        const double *column = band + j * (width + 1);
        for (int64_t i = 1; i <= width && j + i < cells; i++) {
            x[j] -= column[i] * x[j + i];
        }
        x[j] /= column[0];
    }
}

static void the_potential_is_that_of_a_direct_solution(void **state) {
    (void)state;
    static const int blocks[] = {3, 4, 8, 16};
    for (int k = 0; k < 4; k++) {
        for (double contrast = 1e4; contrast <= 1e6; contrast *= 100) {
            const grains g = {128, blocks[k], contrast, 2, true};
            heat_case c;
            open_potential(&c, &g, "multigrid", 1e-8, "cell");
            solve(&c);
            const int64_t cells = sel_grid_cells(&c.prepared.domain->grid);
            double *phi = heat_scalar(&c, POISSON_POTENTIAL);
            double *x = malloc((size_t)cells * sizeof *x);
            double *band = band_of(&c), most = 0, error = 0;
            for (int64_t i = 0; i < cells; i++) {
                x[i] = -1; /* div (c grad phi) = rhs */
            }
            solve_band(band, g.n, cells, x);
            for (int64_t i = 0; i < cells; i++) {
                most = fmax(most, fabs(x[i]));
                error = fmax(error, fabs(phi[i] - x[i]));
            }
            print_message("# random grains of %d, %g: %.2g of the largest potential apart\n",
                          blocks[k], contrast, error / most);
            assert_true(error < (contrast > 1e5 ? 1e-4 : 1e-6) * most);
            free(band);
            free(phi);
            free(x);
            heat_close(&c);
        }
    }
}

/* ---- ends ---- */

static void a_tolerance_below_round_off_ends_there(void **state) {
    (void)state;
    static const char *const methods[] = {"multigrid", "conjugate_gradient"};
    for (int k = 0; k < 2; k++) {
        for (double contrast = 1e2; contrast <= 1e6; contrast *= 1e4) {
            const grains g = {64, 8, contrast, 2, true};
            heat_case c;
            open_potential(&c, &g, methods[k], 1e-30, "cell");
            solve(&c);
            if (!strstr(c.state->ending.why, "round-off")) {
                fail_msg("%s, %g: %s", methods[k], contrast, c.state->ending.why);
            }
            heat_close(&c);
        }
    }
}

static void a_solver_that_stops_names_another(void **state) {
    (void)state;
    const grains g = {64, 3, 1e4, 2, true};
    heat_case c;
    heat_open(&c,
              GRAINS "return sel.poisson { size = size, dx = 1 / n, rhs = 1, coefficient = c, "
                     "max_iterations = 3, regions = regions }\n",
              g.n, g.block, g.contrast, g.dims, "true");
    heat_steps(&c, 1000, true);
    assert_int_equal(c.state->ending.how, SEL_OUT_OF_ITERATIONS);
    assert_non_null(strstr(c.state->ending.why, "method = \"conjugate_gradient\""));
    heat_close(&c);
}

/* ---- implicit steps ---- */

/* At 100 times the largest explicit step; the step of a copy with half the tolerance is the same.
 */
static void implicit_steps_through_grains_converge(void **state) {
    (void)state;
    static const int blocks[] = {3, 4, 8, 16};
    for (int k = 0; k < 4; k++) {
        for (double contrast = 1e2; contrast <= 1e6; contrast *= 100) {
            heat_case c;
            heat_open(
                &c,
                GRAINS
                "return sel.heat { size = size, dx = 1 / n, conductivity = c,\n"
                "capacity = 1, source = 1, scheme = 'backward_euler', precision = "
                "'f64', dt = 100 / (4 * k * n * n), stop = { steps = 9 }, regions = regions }\n",
                128, blocks[k], contrast, 2, "true");
            heat_steps(&c, 3, true);
            const mg_progress *now = &((heat_state *)c.state)->solve.now;
            print_message("# implicit, random grains of %d, %g: %d cycles a step\n", blocks[k],
                          contrast, (int)now->step);
            assert_in_range(now->step, 1, 30);
            heat_close(&c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_grains_take_twenty_cycles_at_any_contrast),
        cmocka_unit_test(random_grains_take_about_a_tenth_of_conjugate_gradients),
        cmocka_unit_test(the_highest_contrast_converges_or_meets_round_off),
        cmocka_unit_test(nodes_converge_as_cells_do),
        cmocka_unit_test(the_potential_is_that_of_a_direct_solution),
        cmocka_unit_test(a_tolerance_below_round_off_ends_there),
        cmocka_unit_test(a_solver_that_stops_names_another),
        cmocka_unit_test(implicit_steps_through_grains_converge),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
