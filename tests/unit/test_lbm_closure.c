/* test_lbm_closure.c -- collisions and closures on random populations, both precisions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define SEL_INLINE static inline
#define REAL double
#define LBM_SQRT(x) sqrt(x)
#define LBM_NAME(name) name##_f64
#include "engine/physics/lbm_closure.h"
#include "engine/physics/lbm_collision.h"
#undef REAL
#undef LBM_SQRT
#undef LBM_NAME
#define REAL float
#define LBM_SQRT(x) sqrtf(x)
#define LBM_NAME(name) name##_f32
#include "engine/physics/lbm_closure.h"
#include "engine/physics/lbm_collision.h"

/* Uniform in [-1, 1]; the same on every machine. */
static double random_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

/* Directions that enter through a face have e.n > 0. */
static const int normals[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
#define VELOCITY(i, ex, ey, opposite, weight) {ex, ey},
static const int e[D2Q9_COUNT][2] = {D2Q9(VELOCITY)};

/* Random populations; those that enter through `face` are wrong on purpose. */
static void random_populations(uint64_t *seed, int face, double g[D2Q9_COUNT]) {
    for (int i = 0; i < D2Q9_COUNT; i++) {
        bool unknown = face >= 0 && e[i][0] * normals[face][0] + e[i][1] * normals[face][1] > 0;
        g[i] = unknown ? 1e3 : 0.02 * random_number(seed);
    }
}

static double moment(const double g[D2Q9_COUNT], int a) {
    double sum = 0;
    for (int i = 0; i < D2Q9_COUNT; i++) {
        sum += a < 0 ? g[i] : e[i][a] * g[i];
    }
    return sum;
}

static void test_lattice_is_isotropic(void **unused) {
    (void)unused;
    double sum = 0, second[2][2] = {{0}}, fourth = 0;
#define ADD(i, ex, ey, opposite, weight)            \
    sum += (weight);                                \
    second[0][0] += (weight) * (ex) * (ex);         \
    second[0][1] += (weight) * (ex) * (ey);         \
    second[1][1] += (weight) * (ey) * (ey);         \
    fourth += (weight) * (ex) * (ex) * (ey) * (ey); \
    assert_true(e[opposite][0] == -(ex) && e[opposite][1] == -(ey));
    D2Q9(ADD)
#undef ADD
    assert_true(fabs(sum - 1) < 1e-15 && fabs(second[0][0] - 1.0 / 3) < 1e-15);
    assert_true(fabs(second[1][1] - 1.0 / 3) < 1e-15 && fabs(second[0][1]) < 1e-15);
    assert_true(fabs(fourth - 1.0 / 9) < 1e-15);
#define ALONG(i, opposite, weight)                                          \
    assert_true(D2Q9_ALONG_##i(2.0, 5.0) == 2.0 * e[i][0] + 5.0 * e[i][1]); \
    assert_true(D2Q9_ALONG_##opposite(2.0, 5.0) == -D2Q9_ALONG_##i(2.0, 5.0));
    D2Q9_PAIRS(ALONG)
#undef ALONG
}

static void test_velocity_closure_imposes_the_momentum(void **unused) {
    (void)unused;
    uint64_t seed = 1;
    double error = 0;
    for (int n = 0; n < 4000; n++) {
        double g[D2Q9_COUNT], ux = 0.1 * random_number(&seed), uy = 0.1 * random_number(&seed);
        random_populations(&seed, n % 4, g);
        lbm_close_velocity_f64(g, n % 4, ux, uy);
        double rho = 1 + moment(g, -1);
        error = fmax(error, fmax(fabs(moment(g, 0) - rho * ux), fabs(moment(g, 1) - rho * uy)));
    }
    print_message("# velocity closure: momentum to %.1e\n", error);
    assert_true(error < 1e-14);
}

static void test_density_closure_imposes_density_and_no_sliding(void **unused) {
    (void)unused;
    uint64_t seed = 2;
    double error = 0;
    for (int n = 0; n < 4000; n++) {
        int face = n % 4, tangent = 1 - face / 2;
        double g[D2Q9_COUNT], drho = 0.1 * random_number(&seed);
        double slide[2] = {0.01 * random_number(&seed), 0.01 * random_number(&seed)};
        random_populations(&seed, face, g);
        lbm_close_density_f64(g, face, drho, slide[0], slide[1]);
        error = fmax(error, fabs(moment(g, -1) - drho));
        error = fmax(error, fabs(moment(g, tangent) - (1 + drho) * slide[tangent]));
    }
    print_message("# density closure: density and tangential momentum to %.1e\n", error);
    assert_true(error < 1e-14);
}

/* Equilibrium populations of any flow are left as they are: the closures invent nothing. */
static void test_closures_keep_an_equilibrium(void **unused) {
    (void)unused;
    for (int face = 0; face < 4; face++) {
        double before[D2Q9_COUNT], g[D2Q9_COUNT];
        lbm_equilibrium_f64(0.03, 0.02, -0.05, before);
        for (int i = 0; i < D2Q9_COUNT; i++) {
            bool unknown = e[i][0] * normals[face][0] + e[i][1] * normals[face][1] > 0;
            g[i] = unknown ? 1e3 : before[i];
        }
        lbm_close_velocity_f64(g, face, 0.02, -0.05);
        double rho = moment(g, -1);
        assert_true(fabs(rho - 0.03) < 1e-15);
        lbm_close_density_f64(g, face, 0.03, 0.02, -0.05);
        assert_true(fabs(moment(g, 0) - 1.03 * 0.02) < 1e-15);
        assert_true(fabs(moment(g, 1) + 1.03 * 0.05) < 1e-15);
    }
}

static void test_collisions_keep_mass_and_add_the_force(void **unused) {
    (void)unused;
    uint64_t seed = 3;
    const lbm_rates_f64 rates = {1.6, 0.7, 1e-3, -2e-3, 1 / 1.6, 0.2, 0.5};
    for (int n = 0; n < 1000; n++) {
        for (int variant = 0; variant < 4 * LBM_COLLISIONS; variant++) {
            double g[D2Q9_COUNT];
            bool forced = variant % 2 == 1, eddies = variant / 2 % 2 == 1;
            random_populations(&seed, -1, g);
            double mass = moment(g, -1), x = moment(g, 0), y = moment(g, 1);
            lbm_collide_f64(g, &rates, variant / 4, forced, eddies);
            double force = forced ? 1 + mass : 0;
            assert_true(fabs(moment(g, -1) - mass) < 1e-15);
            assert_true(fabs(moment(g, 0) - x - force * rates.ax) < 1e-15);
            assert_true(fabs(moment(g, 1) - y - force * rates.ay) < 1e-15);
        }
    }
}

static void test_trt_with_equal_rates_is_bgk(void **unused) {
    (void)unused;
    uint64_t seed = 4;
    const lbm_rates_f64 rates = {1.3, 1.3, 1e-3, 2e-3, 0, 0, 0};
    for (int n = 0; n < 1000; n++) {
        double one[D2Q9_COUNT], other[D2Q9_COUNT];
        random_populations(&seed, -1, one);
        for (int i = 0; i < D2Q9_COUNT; i++) {
            other[i] = one[i];
        }
        lbm_trt_f64(one, &rates, true);
        lbm_bgk_f64(other, &rates, true);
        for (int i = 0; i < D2Q9_COUNT; i++) {
            assert_true(fabs(one[i] - other[i]) < 1e-16);
        }
    }
}

static void test_single_precision_agrees(void **unused) {
    (void)unused;
    uint64_t seed = 5;
    const lbm_rates_f64 rates = {1.6, 0.7, 1e-3, -2e-3, 0, 0, 0};
    const lbm_rates_f32 single = {1.6f, 0.7f, 1e-3f, -2e-3f, 0.0f, 0.0f, 0.0f};
    double g[D2Q9_COUNT];
    float s[D2Q9_COUNT];
    random_populations(&seed, -1, g);
    for (int i = 0; i < D2Q9_COUNT; i++) {
        s[i] = (float)g[i];
    }
    lbm_close_velocity_f64(g, 0, 0.1, 0.02);
    lbm_close_velocity_f32(s, 0, 0.1f, 0.02f);
    lbm_close_density_f64(g, 3, 0.01, 0, 0);
    lbm_close_density_f32(s, 3, 0.01f, 0, 0);
    lbm_trt_f64(g, &rates, true);
    lbm_trt_f32(s, &single, true);
    lbm_bgk_f64(g, &rates, true);
    lbm_bgk_f32(s, &single, true);
    for (int i = 0; i < D2Q9_COUNT; i++) {
        assert_true(fabs(g[i] - (double)s[i]) < 1e-7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattice_is_isotropic),
        cmocka_unit_test(test_velocity_closure_imposes_the_momentum),
        cmocka_unit_test(test_density_closure_imposes_density_and_no_sliding),
        cmocka_unit_test(test_closures_keep_an_equilibrium),
        cmocka_unit_test(test_collisions_keep_mass_and_add_the_force),
        cmocka_unit_test(test_trt_with_equal_rates_is_bgk),
        cmocka_unit_test(test_single_precision_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
