/* test_heat_warm.c -- bodies far from 0 degrees: in single precision they warm as they would from
 * 0, since their states are temperatures less a reference.
 */
#include "tests/unit/heat_case.h"

static double mean_of(heat_case *c) {
    sel_request mean = {.kind = SEL_REDUCE, .box = sel_grid_box(heat_grid(c))};
    heat_ask(c, &mean);
    return mean.sum[0] / (double)mean.count;
}

/* ---- a copper block of 20 mm that 1 kW/m2 enter through a face ---- */

typedef struct block {
    const char *size, *fields;
} block;

static const block blocks[] = {
    {"{ 20, 20 }, dx = 0.001", ""},
    {"{ 40, 40 }, dx = 0.0005", ""},
    {"{ 20, 20 }, dx = 0.001", "dt = 2e-4,"},
    {"{ 20, 12, 8 }, dx = 0.001", ""},
    {"{ 20, 20 }, dx = { 0.001, 0.002 }", ""},
    {"{ 20, 20 }, dx = 0.001", "scheme = 'backward_euler', dt = 1e-3,"},
    {"{ 20, 20 }, dx = 0.001", "scheme = 'crank_nicolson', dt = 1e-3,"},
    {"{ 20, 20 }, dx = 0.001", "source = 0,"},
};

static double warming(const block *b, double from, double time) {
    heat_case c;
    heat_open(&c,
              "return sel.heat { size = %s, %s conductivity = 400, capacity = 3.45e6,\n"
              "precision = 'f32', initial = { temperature = %.17g }, stop = { steps = 1 },\n"
              "regions = { all(law.insulated {}), face('x-', law.flux { 1000 }) } }\n",
              b->size, b->fields, from);
    const int64_t steps = llround(time / heat_grid(&c)->dt);
    heat_advance(&c, steps);
    const double warmer = (mean_of(&c) - from) / ((double)steps * heat_grid(&c)->dt);
    heat_close(&c);
    return warmer;
}

static void blocks_warm_alike_from_every_temperature(void **state) {
    (void)state;
    static const double from[] = {0, 27, 300, 300.4, -269.1, 5778};
    const double right = 1000 / (3.45e6 * 0.02); /* kelvin per second */
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
            const double found = warming(&blocks[b], from[k], 0.5);
            if (!(fabs(found - right) < 5e-3 * right)) {
                fail_msg("size %s, %s from %g: %.6g K/s instead of %.6g", blocks[b].size,
                         blocks[b].fields, from[k], found, right);
            }
        }
    }
}

/* ---- f32 as f64 ---- */

/* A wave of 10 K at the surface, as that of a day, into ground of two materials. */
#define GROUND                                                                                 \
    "return sel.heat { size = { 50, 4 }, dx = 0.02, layout = '%s', precision = '%s',\n"        \
    "  dt = 60, conductivity = function(x) return x < 0.3 and 1 or 0.5 end, capacity = 2e6,\n" \
    "  initial = { temperature = 288.15 }, stop = { steps = 1 },\n"                            \
    "  regions = { all(law.insulated {}), face('x-', law.%s) } }\n"

static const char *const surfaces[] = {
    "fixed { function(t) return 288.15 + 10 * sin(2 * pi * t / 86400) end }",
    "convective { h = 15, ambient = function(t) return 288.15 + 10 * sin(2 * pi * t / 86400) end }",
    "flux { function(t) return 60 * sin(2 * pi * t / 86400) end }",
};

static void waves_go_into_the_ground_as_in_double_precision(void **state) {
    (void)state;
    for (int k = 0; k < 6; k++) {
        heat_case c[2];
        double *T[2], most = 0;
        sel_request balance[2];
        static sel_term terms[2][SEL_MAX_TERMS];
        for (int p = 0; p < 2; p++) {
            heat_open(&c[p], GROUND, k % 2 ? "node" : "cell", sel_precision_names[p],
                      surfaces[k / 2]);
            heat_advance(&c[p], 2000);
            T[p] = heat_field(&c[p], HEAT_TEMPERATURE);
            balance[p] = (sel_request){.kind = SEL_BALANCE, .terms = terms[p]};
            heat_ask(&c[p], &balance[p]);
        }
        for (int64_t i = 0; i < sel_grid_cells(heat_grid(c)); i++) {
            most = fmax(most, fabs(T[0][i] - T[1][i]));
        }
        if (!(most < 2e-3)) {
            fail_msg("%s: %.3g K from what it is in f64", surfaces[k / 2], most);
        }
        for (int i = 0; i < balance[0].term_count - 1; i++) { /* the last is the error */
            const double a = terms[0][i].value, b = terms[1][i].value;
            if (!(fabs(a - b) < 2e-3 * fabs(b) + 0.02)) {
                fail_msg("%s: %s is %.9g, and %.9g in f64", surfaces[k / 2], terms[0][i].name, a,
                         b);
            }
        }
        for (int p = 0; p < 2; p++) {
            free(T[p]);
            heat_close(&c[p]);
        }
    }
}

/* What a body keeps does not drift: T is the surface's to the last bit. */
static void bodies_at_the_temperature_of_their_surface_keep_it(void **state) {
    (void)state;
    heat_case c;
    heat_open(&c,
              "return sel.heat { size = { 30, 20 }, diffusivity = 1, precision = 'f32',\n"
              "initial = { temperature = 293.15 }, stop = { steps = 1 },\n"
              "regions = { face('x-', law.fixed { 293.15 }), face('x+', law.fixed { 293.15 }),\n"
              "  face('y-', law.convective { h = 2, ambient = 293.15 }),\n"
              "  face('y+', law.insulated {}) } }\n");
    double *before = heat_field(&c, HEAT_TEMPERATURE);
    heat_advance(&c, 100);
    double *after = heat_field(&c, HEAT_TEMPERATURE);
    assert_memory_equal(before, after, sizeof(double) * 600);
    assert_true(fabs(after[0] - 293.15) < 1e-7);
    free(before);
    free(after);
    heat_close(&c);
}

/* ---- the reference ---- */

static double reference_of(const char *precision, const char *initial) {
    heat_case c;
    heat_open(&c,
              "return sel.heat { size = { 8, 6 }, diffusivity = 1, precision = '%s',\n"
              "regions = { all(law.insulated {}), { name = 'hole', law = law.fixed { 9000 },\n"
              "  where = shape.ball { centre = { 4, 3 }, radius = 1 } } },\n"
              "initial = { temperature = %s }, stop = { steps = 1 } }\n",
              precision, initial);
    const double reference = c.state->reference;
    heat_close(&c);
    return reference;
}

static void the_reference_is_the_middle_of_the_initial_range(void **state) {
    (void)state;
    assert_true(reference_of("f32", "300") == 300);
    assert_true(reference_of("f32", "293.15") == 293);
    assert_true(reference_of("f32", "-0.012345") == -0.0123);
    assert_true(reference_of("f32", "123456") == 123000);
    assert_true(reference_of("f32", "function(x) return 280 + 5 * x end") == 300);
}

/* Numbers near 0 stay what they are, and so do all in double precision. */
static void without_gain_there_is_no_reference(void **state) {
    (void)state;
    assert_true(reference_of("f32", "0") == 0);
    assert_true(reference_of("f32", "function(x) return x end") == 0);
    assert_true(reference_of("f32", "function(x, y) return sin(x) + 1e-9 * y end") == 0);
    assert_true(reference_of("f64", "300") == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_warm_alike_from_every_temperature),
        cmocka_unit_test(waves_go_into_the_ground_as_in_double_precision),
        cmocka_unit_test(bodies_at_the_temperature_of_their_surface_keep_it),
        cmocka_unit_test(the_reference_is_the_middle_of_the_initial_range),
        cmocka_unit_test(without_gain_there_is_no_reference),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
