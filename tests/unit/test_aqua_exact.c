/* test_aqua_exact.c -- sel.aqua against its exact solutions: films and rain on a plane, deep water,
 * a closed bowl. */
#include "tests/unit/aqua_case.h"

static const double pi = 3.14159265358979323846;

/* A plane that falls towards y = 0 by 1 in 10. */
static double plane(double x, double y, double t, const void *data) {
    (void)x, (void)t, (void)data;
    return 0.1 * y;
}

static void begin_plane(aqua_case *c, int64_t nx, int64_t ny, double alpha) {
    case_begin(c, nx, ny, alpha);
    c->params.common.periodic = 1;
    c->params.ground = case_quantity(c, SEL_ON_Y, plane, NULL);
    case_region(c, "top", case_face(c, SEL_Y_MAX), &aqua_wall_table);
}

enum { WIDE = 4, LONG = 64 };

static double top_row(double x, double y, double t, const void *data) {
    (void)x, (void)t, (void)data;
    return y > LONG - 1 ? 1e-3 : 0;
}

/* Thin water moves on with the probability alpha in every step: rows hold a binomial law. */
static void test_a_film_runs_down_by_the_binomial_law(void **unused) {
    (void)unused;
    enum { STEPS = 40 };
    const double alpha = 0.3;
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        aqua_case c;
        double w[WIDE * LONG], law = 1, error = 0;
        begin_plane(&c, WIDE, LONG, alpha);
        case_region(&c, "bottom", case_face(&c, SEL_Y_MIN), &aqua_wall_table);
        c.params.initial.depth = case_quantity(&c, SEL_ON_Y, top_row, NULL);
        c.params.equilibrium = e;
        case_start(&c);
        case_advance(&c, STEPS);
        case_read(&c, AQUA_DEPTH, w);
        for (int k = 0; k < STEPS; k++) {
            law *= 1 - alpha;
        }
        for (int k = 0; k <= STEPS; k++) {
            double row = 0;
            for (int x = 0; x < WIDE; x++) {
                row += w[(LONG - 1 - k) * WIDE + x];
            }
            error = fmax(error, fabs(row / (WIDE * 1e-3) - law));
            law *= (STEPS - k) / (k + 1.0) * alpha / (1 - alpha);
        }
        print_message("# film, %s: largest error of a row %.2e\n", aqua_equilibrium_names[e],
                      error);
        assert_true(error < 1e-14);
        case_end(&c);
    }
}

/* Rain r per step on rows counted from the top: at the end of a step row i holds i r / alpha - r,
 * and at the foot leaves what falls. */
static void test_rain_on_a_plane_becomes_steady(void **unused) {
    (void)unused;
    const double alpha = 0.25, rain = 3.6, r = 1e-6;
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        aqua_case c;
        double w[WIDE * LONG], error = 0;
        begin_plane(&c, WIDE, LONG, alpha);
        case_open(&c, "outlet", case_face(&c, SEL_Y_MIN), 0.1);
        c.params.rain = sel_constant(rain);
        c.params.equilibrium = e;
        case_line(&c, 4, 32, 0, 32);
        case_start(&c);
        case_advance(&c, 3000);
        case_read(&c, AQUA_DEPTH, w);
        for (int y = 0; y < LONG; y++) {
            double exact = (LONG - y) * r / alpha - r;
            for (int x = 0; x < WIDE; x++) {
                error = fmax(error, fabs(w[y * WIDE + x] / exact - 1));
            }
        }
        double flux = case_flux(&c, 2, 0, 0, 0, 0), middle = case_flux(&c, 0, 4, 32, 0, 32);
        print_message("# rain, %s: largest relative error of depth %.2e, of outflow %.2e\n",
                      aqua_equilibrium_names[e], error, fabs(flux / (WIDE * LONG * r) - 1));
        assert_true(error < 1e-12);
        assert_true(fabs(flux / (WIDE * LONG * r) - 1) < 1e-12);
        assert_true(fabs(middle / (WIDE * LONG / 2 * r) - 1) < 1e-12);
        assert_true(fabs(case_term(&c, "error")) < 1e-14);
        case_end(&c);
    }
}

static double wave(double x, double y, double t, const void *data) {
    const double *length = data;
    (void)y, (void)t;
    return 10 + 0.01 * cos(2 * pi * x / *length);
}

static double amplitude(aqua_case *c, int n) {
    double w[128 * 4], sum = 0;
    case_read(c, AQUA_DEPTH, w);
    for (int x = 0; x < n; x++) {
        sum += 2.0 / n * w[x] * cos(2 * pi * (x + 0.5) / n);
    }
    return sum;
}

/* A long wave on deep water decays by diffusion, D = 3/4 alpha along an axis. */
static void test_deep_water_diffuses(void **unused) {
    (void)unused;
    enum { LENGTH = 128, STEPS = 1000 };
    const double length = LENGTH, alpha = 0.2, k = 2 * pi / LENGTH;
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        aqua_case c;
        case_begin(&c, LENGTH, 4, alpha);
        c.params.common.periodic = 3;
        c.params.initial.depth = case_quantity(&c, SEL_ON_X, wave, &length);
        c.params.equilibrium = e;
        case_start(&c);
        const double before = amplitude(&c, LENGTH);
        case_advance(&c, STEPS);
        const double d = -log(amplitude(&c, LENGTH) / before) / (k * k * STEPS);
        print_message("# deep water, %s: D = %.4f alpha\n", aqua_equilibrium_names[e], d / alpha);
        assert_true(fabs(d / (0.75 * alpha) - 1) < 0.01);
        case_end(&c);
    }
}

enum { BOWL = 24 };

static double bowl(double x, double y, double t, const void *data) {
    (void)t, (void)data;
    const double u = (x - BOWL / 2.0) / BOWL, v = (y - BOWL / 2.0) / BOWL;
    return 2 * (u * u + 1.5 * v * v) + 0.1 * u;
}

static double slug(double x, double y, double t, const void *data) {
    (void)y, (void)t, (void)data;
    return x < BOWL / 4.0 ? 0.6 : 0;
}

/* The level at which a volume stands over the beds, by bisection. */
static double level_of(const double *h, double volume) {
    double low = -10, high = 10;
    for (int k = 0; k < 200; k++) {
        double middle = 0.5 * (low + high), sum = 0;
        for (int i = 0; i < BOWL * BOWL; i++) {
            sum += fmax(0, middle - h[i]);
        }
        *(sum > volume ? &high : &low) = middle;
    }
    return 0.5 * (low + high);
}

static void test_a_bowl_comes_to_its_level(void **unused) {
    (void)unused;
    for (int e = 0; e < AQUA_EQUILIBRIA; e++) {
        aqua_case c;
        double h[BOWL * BOWL], w[BOWL * BOWL], error = 0;
        case_begin(&c, BOWL, BOWL, 0.2);
        case_walls(&c);
        c.params.ground = case_quantity(&c, SEL_ON_X | SEL_ON_Y, bowl, NULL);
        c.params.initial.depth = case_quantity(&c, SEL_ON_X, slug, NULL);
        c.params.equilibrium = e;
        case_start(&c);
        case_advance(&c, 20000);
        case_read(&c, AQUA_GROUND, h);
        case_read(&c, AQUA_DEPTH, w);
        const double level = level_of(h, BOWL * BOWL / 4.0 * 0.6);
        for (int i = 0; i < BOWL * BOWL; i++) {
            error = fmax(error, w[i] > 1e-8 ? fabs(h[i] + w[i] - level) : fmax(0, level - h[i]));
        }
        print_message("# bowl, %s: largest error of the level %.2e m\n", aqua_equilibrium_names[e],
                      error);
        assert_true(error < 1e-8);
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_film_runs_down_by_the_binomial_law),
        cmocka_unit_test(test_rain_on_a_plane_becomes_steady),
        cmocka_unit_test(test_deep_water_diffuses),
        cmocka_unit_test(test_a_bowl_comes_to_its_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
