/* test_heat_modes.c -- sines and cosines are modes of the discrete equation: each step multiplies
 * them by 1 - sum over the axes of 2 k dt / (C dx^2) (1 - cos theta), to round-off.
 */
#include "tests/unit/heat_case.h"

enum { STEPS = 1000 };

/* Along an axis: 's': sin(m pi x / L) between surfaces of temperature 0; 'c': cos(m pi x / L)
 * between insulated ones; 'p': cos(2 m pi x / L), periodic. */
typedef struct mode {
    const char *kinds;
    int64_t n[3];
    int m[3];
    double dx[3], k[3];
    bool nodes, varied; /* varied: by the equation of bodies that vary */
} mode;

static double angle(const mode *c, int axis) {
    const int64_t sides = c->n[axis] - (c->nodes && c->kinds[axis] != 'p' ? 1 : 0);
    return (c->kinds[axis] == 'p' ? 2 : 1) * 3.14159265358979323846 * c->m[axis] / (double)sides;
}

static double shape_of(const mode *c, int axis, int64_t i) {
    const double x = angle(c, axis) * ((double)i + (c->nodes ? 0 : 0.5));
    return c->kinds[axis] == 's' ? sin(x) : cos(x);
}

static double value_of(const mode *c, const sel_grid *grid, int64_t cell) {
    double value = 1;
    int64_t at[3];
    sel_cell_at(grid, cell, at);
    for (int a = 0; a < grid->dims; a++) {
        value *= shape_of(c, a, at[a]);
    }
    return value;
}

/* Capacity 2; the time step lets a fifth of the mode remain, or is 0.9 of the largest stable one.
 */
static void open_mode(heat_case *t, const mode *c) {
    static const char *const arguments[] = {"x", "x, y", "x, y, z"};
    char size[96] = "", sides[128] = "", k[128] = "", initial[512] = "1", regions[512] = "",
         periodic[64] = "";
    const int dims = (int)strlen(c->kinds);
    double sum = 0, decay = 0;
    for (int a = 0; a < dims; a++) {
        char *end = initial + strlen(initial);
        const char axis = "xyz"[a];
        const bool wraps = c->kinds[a] == 'p';
        snprintf(size + strlen(size), 32, "%d, ", (int)c->n[a]);
        snprintf(sides + strlen(sides), 40, "%.17g, ", c->dx[a]);
        snprintf(k + strlen(k), 40, "%.17g, ", c->k[a]);
        snprintf(end, 128, " * %s(%.17g * %c)", c->kinds[a] == 's' ? "sin" : "cos",
                 angle(c, a) / c->dx[a], axis);
        if (wraps) {
            snprintf(periodic + strlen(periodic), 16, "'%c', ", axis);
        } else {
            const char *law = c->kinds[a] == 's' ? "law.fixed { 0 }" : "law.insulated {}";
            snprintf(regions + strlen(regions), 128, "face('%c-', %s), face('%c+', %s), ", axis,
                     law, axis, law);
        }
        sum += c->k[a] / (c->dx[a] * c->dx[a]);
        decay += c->k[a] / (c->dx[a] * c->dx[a]) * (1 - cos(angle(c, a)));
    }
    const double dt = fmin(1.6 / STEPS / decay, 0.9 / sum);
    heat_open(t,
              "return sel.heat { size = { %s }, dx = { %s }, conductivity = { %s }, capacity = 2,\n"
              "precision = 'f64', layout = '%s', dt = %.17g, periodic = { %s }, %s\n"
              "regions = { %s }, stop = { steps = 1 },\n"
              "initial = { temperature = function(%s) return %s end } }\n",
              size, sides, k, c->nodes ? "node" : "cell", dt, periodic,
              c->varied ? "source = 0," : "", regions, arguments[dims - 1], initial);
}

static double factor_of(const mode *c, const heat_plan *plan) {
    const sel_grid *grid = &plan->diffusion.base.domain->grid;
    double factor = 1;
    for (int a = 0; a < grid->dims; a++) {
        factor -= 2 * c->k[a] * grid->dt / (2 * c->dx[a] * c->dx[a]) * (1 - cos(angle(c, a)));
    }
    return factor;
}

static void check_mode(const mode *c) {
    heat_case t;
    double worst = 0;
    open_mode(&t, c);
    const sel_grid *grid = heat_grid(&t);
    const double factor = factor_of(c, heat_plan_of(&t)), size = pow(factor, STEPS);
    heat_advance(&t, STEPS);
    double *T = heat_field(&t, HEAT_TEMPERATURE);
    for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
        worst = fmax(worst, fabs(T[i] - size * value_of(c, grid, i)));
    }
    const int kind = heat_plan_of(&t)->diffusion.body.kind;
    free(T);
    heat_close(&t);
    assert_true(size > 0.19 && size < 0.9);
    assert_true((kind == HEAT_VARIED) == c->varied);
    if (!(worst < 1e-12)) {
        fail_msg("%s of %s%s: error %.3g of %.3g", c->kinds, c->nodes ? "nodes" : "cells",
                 c->varied ? ", varied" : "", worst, size);
    }
}

/* Of cells and of nodes, by the equation of uniform bodies and by that of others. */
static void check_modes(mode c) {
    for (int k = 0; k < 4; k++) {
        c.nodes = k % 2;
        c.varied = k / 2;
        check_mode(&c);
    }
}

static void sines_between_fixed_surfaces_decay_as_they_should(void **state) {
    (void)state;
    check_modes((mode){"ss", {25, 18}, {1, 1}, {1, 1}, {1, 1}, 0, 0});
    check_modes((mode){"ss", {64, 37}, {3, 2}, {0.1, 0.1}, {0.7, 0.7}, 0, 0});
    check_modes((mode){"sss", {15, 12, 17}, {1, 1, 1}, {0.5, 0.5, 0.5}, {3, 3, 3}, 0, 0});
    check_modes((mode){"sss", {24, 31, 20}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, 0});
}

static void cosines_between_insulated_surfaces_decay_as_they_should(void **state) {
    (void)state;
    check_modes((mode){"cc", {26, 19}, {1, 1}, {1, 1}, {1, 1}, 0, 0});
    check_modes((mode){"cc", {33, 21}, {0, 1}, {2, 2}, {5, 5}, 0, 0});
    check_modes((mode){"ccc", {17, 13, 15}, {1, 0, 1}, {0.25, 0.25, 0.25}, {1, 1, 1}, 0, 0});
    check_modes((mode){"ccc", {22, 27, 24}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, 0, 0});
}

static void waves_around_periodic_axes_decay_as_they_should(void **state) {
    (void)state;
    check_modes((mode){"pp", {40, 36}, {1, 1}, {1, 1}, {1, 1}, 0, 0});
    check_modes((mode){"ps", {50, 27}, {1, 2}, {1, 1}, {1, 1}, 0, 0});
    check_modes((mode){"cp", {23, 44}, {1, 1}, {1, 1}, {1, 1}, 0, 0});
    check_modes((mode){"spc", {21, 40, 19}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, 0});
    /* axes of one cell or two */
    check_modes((mode){"ps", {1, 25}, {0, 1}, {1, 1}, {1, 1}, 0, 0});
    check_modes((mode){"sp", {25, 2}, {1, 1}, {1, 1}, {1, 1}, 0, 0});
    check_modes((mode){"csp", {12, 13, 1}, {1, 1, 0}, {1, 1, 1}, {1, 1, 1}, 0, 0});
    check_modes((mode){"psp", {2, 16, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, 0});
    check_modes((mode){"csp", {21, 20, 33}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, 0});
}

static void sides_and_conductivities_of_the_axes_count(void **state) {
    (void)state;
    check_modes((mode){"ss", {24, 17}, {1, 1}, {0.5, 0.8}, {1, 1}, 0, 0});
    check_modes((mode){"cc", {24, 17}, {1, 1}, {1, 1}, {1, 3}, 0, 0});
    check_modes((mode){"sc", {24, 17}, {2, 1}, {1.5, 1}, {2, 0.5}, 0, 0});
    check_modes((mode){"ssc", {14, 19, 16}, {1, 1, 1}, {0.5, 0.25, 1}, {1, 0.5, 2}, 0, 0});
    check_modes((mode){"cps", {14, 19, 16}, {1, 1, 1}, {1, 0.7, 0.6}, {1, 1, 1}, 0, 0});
}

/* 0.125 (1 - cos(2 pi x / Lx)) (1 - cos(2 pi y / Ly)) (1 - cos(2 pi z / Lz)): eight modes. */
static void a_cosine_bell_spreads_as_the_sum_of_its_modes(void **state) {
    (void)state;
    const int64_t n[3] = {20, 16, 12};
    heat_case t;
    double worst = 0, expected_mean = 0;
    heat_open(&t, "local function bell(s, n) return 1 - cos(2 * pi * s / n) end\n"
                  "return sel.heat { size = { 20, 16, 12 }, diffusivity = 1 / 7, dt = 1,\n"
                  "precision = 'f64', regions = { all(law.insulated {}) },\n"
                  "initial = { temperature = function(x, y, z)\n"
                  "  return 0.125 * bell(x, 20) * bell(y, 16) * bell(z, 12) end },\n"
                  "stop = { steps = 1 } }\n");
    const sel_grid *grid = heat_grid(&t);
    for (int64_t done = 0; done <= 1000; done += 100) {
        double *T = heat_field(&t, HEAT_TEMPERATURE);
        for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
            int64_t at[3];
            double sum = 0;
            sel_cell_at(grid, i, at);
            for (int set = 0; set < 8; set++) {
                double value = 0.125, factor = 1;
                for (int a = 0; a < 3; a++) {
                    const double theta = 2 * 3.14159265358979323846 / (double)n[a];
                    if (set >> a & 1) {
                        value *= -cos(theta * ((double)at[a] + 0.5));
                        factor -= 2.0 / 7 * (1 - cos(theta));
                    }
                }
                sum += value * pow(factor, (double)done);
            }
            worst = fmax(worst, fabs(T[i] - sum));
            expected_mean += T[i] / (double)sel_grid_cells(grid);
        }
        free(T);
        heat_advance(&t, 100);
    }
    heat_close(&t);
    assert_true(worst < 1e-12);
    assert_true(fabs(expected_mean / 11 - 0.125) < 1e-13);
}

/* A temperature that is the same everywhere stays as it is, to the last bit, in both precisions:
 * single precision stores its difference from a reference, 0.1 here. */
static void a_constant_temperature_stays_to_the_last_bit(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        heat_case t;
        heat_open(&t,
                  "return sel.heat { size = { 13, 9 }, dx = { 0.3, 0.7 }, precision = '%s',\n"
                  "layout = '%s', conductivity = %s, stop = { steps = 1 },\n"
                  "regions = { all(law.insulated {}), { where = shape.ball { centre = { 2, 3 },\n"
                  "radius = 0.8 }, law = law.insulated {} } }, initial = { temperature = 0.1 } }\n",
                  k % 2 ? "f32" : "f64", k / 2 % 2 ? "node" : "cell",
                  k / 4 ? "function(x, y) return 1.1 + sin(x) * cos(y) end" : "0.37");
        heat_advance(&t, 200);
        double *T = heat_field(&t, HEAT_TEMPERATURE);
        for (int64_t i = 0; i < sel_grid_cells(heat_grid(&t)); i++) {
            assert_true(T[i] == (t.prepared.domain->cell[i] ? 0 : 0.1));
        }
        assert_true(t.prepared.domain->free_cells < 13 * 9);
        free(T);
        heat_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sines_between_fixed_surfaces_decay_as_they_should),
        cmocka_unit_test(cosines_between_insulated_surfaces_decay_as_they_should),
        cmocka_unit_test(waves_around_periodic_axes_decay_as_they_should),
        cmocka_unit_test(sides_and_conductivities_of_the_axes_count),
        cmocka_unit_test(a_cosine_bell_spreads_as_the_sum_of_its_modes),
        cmocka_unit_test(a_constant_temperature_stays_to_the_last_bit),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
