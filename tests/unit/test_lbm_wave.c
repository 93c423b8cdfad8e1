/* test_lbm_wave.c -- decaying flows: shear waves against the lattice's own eigenvalues, and the
 * start of a Taylor-Green flow. */
#include <complex.h>
#include "tests/unit/lbm_case.h"

#include "engine/physics/lbm_d2q9.h"

#define LINK(i, ex, ey, opposite, weight) {ex, ey, opposite, weight},
static const struct {
    double ex, ey;
    int opposite;
    double w;
} lattice[D2Q9_COUNT] = {D2Q9(LINK)};
#undef LINK

/* What is left of direction i of a population along j by the regularized collision at the rate
 * omega: density, momentum and (1 - omega) of the second moment. */
static double regularized(int i, int j, double omega) {
    double along = lattice[i].ex * lattice[j].ex + lattice[i].ey * lattice[j].ey, second = 0;
    const double e[2][2] = {{lattice[i].ex, lattice[i].ey}, {lattice[j].ex, lattice[j].ey}};
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            double delta = a == b ? 1.0 / 3 : 0;
            second += (e[0][a] * e[0][b] - delta) * (e[1][a] * e[1][b] - delta);
        }
    }
    return lattice[i].w * (1 + 3 * along + 4.5 * (1 - omega) * second);
}

typedef double complex matrix[D2Q9_COUNT][D2Q9_COUNT];

/* One step of a wave exp(i k.x) of small deviations: streaming, then the linear collision
 * g - omega_even (even part of g - eq) - omega_odd (odd part), eq = w (sum g + 3 e . sum e g). */
static void step_matrix(double kx, double ky, double even, double odd, int collision, matrix m) {
    for (int j = 0; j < D2Q9_COUNT; j++) {
        double phase = kx * lattice[j].ex + ky * lattice[j].ey;
        double complex stream = cos(phase) - (double complex)I * sin(phase);
        double offset[D2Q9_COUNT];
        for (int i = 0; i < D2Q9_COUNT; i++) {
            double along = lattice[i].ex * lattice[j].ex + lattice[i].ey * lattice[j].ey;
            offset[i] = (i == j ? 1 : 0) - lattice[i].w * (1 + 3 * along);
        }
        for (int i = 0; i < D2Q9_COUNT; i++) {
            double other = offset[lattice[i].opposite];
            double relaxed = even * 0.5 * (offset[i] + other) + odd * 0.5 * (offset[i] - other);
            m[i][j] = (collision == LBM_REGULARIZED ? regularized(i, j, even)
                                                    : (i == j ? 1 : 0) - relaxed) *
                      stream;
        }
    }
}

/* Solves a x = b by elimination with pivots; b becomes x. */
static void solve(matrix a, double complex b[D2Q9_COUNT]) {
    enum { N = D2Q9_COUNT };
    for (int p = 0; p < N; p++) {
        int best = p;
        for (int r = p + 1; r < N; r++) {
            best = cabs(a[r][p]) > cabs(a[best][p]) ? r : best;
        }
        for (int c = 0; c < N; c++) {
            double complex t = a[p][c];
            a[p][c] = a[best][c];
            a[best][c] = t;
        }
        double complex t = b[p];
        b[p] = b[best];
        b[best] = t;
        for (int r = p + 1; r < N; r++) {
            double complex factor = a[r][p] / a[p][p];
            for (int c = p; c < N; c++) {
                a[r][c] -= factor * a[p][c];
            }
            b[r] -= factor * b[p];
        }
    }
    for (int p = N - 1; p >= 0; p--) {
        for (int c = p + 1; c < N; c++) {
            b[p] -= a[p][c] * b[c];
        }
        b[p] /= a[p][p];
    }
}

/* The eigenvalue of the shear mode, by inverse iteration from its hydrodynamic limit. */
static double shear_eigenvalue(double kx, double ky, double even, double odd, int collision) {
    matrix m, shifted;
    double complex v[D2Q9_COUNT], value = exp(-(1 / even - 0.5) / 3 * (kx * kx + ky * ky));
    step_matrix(kx, ky, even, odd, collision, m);
    for (int i = 0; i < D2Q9_COUNT; i++) {
        v[i] = lattice[i].w * (ky * lattice[i].ex - kx * lattice[i].ey);
    }
    for (int round = 0; round < 20; round++) {
        double complex before[D2Q9_COUNT], scale = 0, norm = 0;
        memcpy(shifted, m, sizeof m);
        memcpy(before, v, sizeof v);
        for (int i = 0; i < D2Q9_COUNT; i++) {
            shifted[i][i] -= value * (1 + 1e-9);
        }
        solve(shifted, v);
        for (int i = 0; i < D2Q9_COUNT; i++) {
            scale += conj(v[i]) * before[i];
            norm += conj(v[i]) * v[i];
        }
        value = value * (1 + 1e-9) + scale / norm;
        double length = sqrt(creal(norm));
        for (int i = 0; i < D2Q9_COUNT; i++) {
            v[i] /= length;
        }
        if (cabs(scale / norm) < 1e-8) {
            break;
        }
    }
    assert_true(fabs(cimag(value)) < 1e-12);
    return creal(value);
}

enum { N = 16 };

typedef struct wave {
    double kx, ky, amplitude;
} wave;

/* Velocity across the wave vector. */
static void shear(double x, double y, double t, const void *data, double value[2]) {
    const wave *w = data;
    double size = w->amplitude * sin(w->kx * x + w->ky * y) / hypot(w->kx, w->ky);
    (void)t;
    value[0] = -w->ky * size;
    value[1] = w->kx * size;
}

static double amplitude(lbm_case *c, const wave *w) {
    double u[2 * N * N], sum = 0;
    case_read(c, LBM_VELOCITY, 2, u);
    for (int k = 0; k < N * N; k++) {
        double unit[2];
        const wave one = {w->kx, w->ky, 1};
        shear(k % N + 0.5, (double)(k / N) + 0.5, 0, &one, unit);
        sum += u[2 * k] * unit[0] + u[2 * k + 1] * unit[1];
    }
    return sum * 2 / (N * N);
}

static void check_decay(double tau, int collision, double kx, double ky) {
    const wave w = {kx * 2 * pi / N, ky * 2 * pi / N, 1e-4};
    lbm_case c;
    case_begin(&c, N, N, tau);
    c.params.common.periodic = 3;
    c.params.collision = collision;
    c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, shear, &w);
    case_start(&c);
    const lbm_numbers *numbers = &((lbm_plan *)c.plan)->numbers;
    case_advance(&c, 60);
    double before = amplitude(&c, &w);
    case_advance(&c, 40);
    double rate = -log(amplitude(&c, &w) / before) / 40;
    double exact =
        -log(shear_eigenvalue(w.kx, w.ky, numbers->omega_even, numbers->omega_odd, collision));
    print_message("# shear wave %s tau %.1f along (%g, %g): decay %.9f, eigenvalue's %.9f\n",
                  lbm_collision_names[collision], tau, kx, ky, rate, exact);
    assert_true(fabs(rate / exact - 1) < 1e-6);
    /* and the eigenvalue is that of the viscosity, to second order */
    double nu = (tau - 0.5) / 3, k2 = w.kx * w.kx + w.ky * w.ky;
    assert_true(fabs(exact / (nu * k2) - 1) < 1.2 * k2);
    case_end(&c);
}

static void test_shear_waves_decay_by_the_eigenvalue(void **unused) {
    (void)unused;
    const double taus[] = {0.6, 0.8, 1.5};
    for (int k = 0; k < 3; k++) {
        for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
            check_decay(taus[k], collision, 1, 0);
            check_decay(taus[k], collision, 0, 1);
            check_decay(taus[k], collision, 1, 1);
        }
    }
}

typedef struct vortices {
    double k, speed, nu;
} vortices;

static void taylor_green(double x, double y, double t, const void *data, double value[2]) {
    const vortices *v = data;
    double size = v->speed * exp(-2 * v->nu * v->k * v->k * t);
    value[0] = -size * cos(v->k * x) * sin(v->k * y);
    value[1] = size * sin(v->k * x) * cos(v->k * y);
}

static void taylor_green_pressure(double x, double y, double t, const void *data, double value[2]) {
    const vortices *v = data;
    double size = v->speed * v->speed / 4 * exp(-4 * v->nu * v->k * v->k * t);
    value[0] = -size * (cos(2 * v->k * x) + cos(2 * v->k * y));
}

/* Overwrites the initial state by its equilibrium, as if there were no stresses. */
static void forget_stresses(lbm_case *c) {
    int64_t nx = c->domain->grid.n[0], ny = c->domain->grid.n[1];
    double *u = malloc((size_t)(2 * nx * ny) * sizeof *u);
    double *rho = malloc((size_t)(nx * ny) * sizeof *rho);
    case_read(c, LBM_VELOCITY, 2, u);
    case_read(c, LBM_DENSITY, 1, rho);
    for (int64_t k = 0; k < nx * ny; k++) {
        double g[D2Q9_COUNT], square = u[2 * k] * u[2 * k] + u[2 * k + 1] * u[2 * k + 1];
        for (int i = 0; i < D2Q9_COUNT; i++) {
            double eu = lattice[i].ex * u[2 * k] + lattice[i].ey * u[2 * k + 1];
            g[i] = lattice[i].w * (rho[k] * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * square) - 1);
        }
        lbm_loops_of(c->state)->write(&c->state->layout, c->state->f[0], k % nx, k / nx, g);
    }
    for (int64_t y = 0; y < ny; y++) {
        lbm_fill_halo(c->state, c->state->f[0], y);
    }
    free(u);
    free(rho);
}

/* Relative error of a decaying Taylor-Green flow on n x n cells after `steps`. */
static double taylor_green_error(int n, int64_t steps, int collision, bool with_stresses) {
    vortices v = {2 * pi / n, 0.02 * 16 / n, 0.1};
    lbm_case c;
    case_begin(&c, n, n, 0.8);
    c.params.common.periodic = 3;
    c.params.collision = collision;
    c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, taylor_green, &v);
    c.params.initial.pressure = case_of(&c, SEL_ON_X | SEL_ON_Y, 1, taylor_green_pressure, &v);
    case_start(&c);
    if (!with_stresses) {
        forget_stresses(&c);
    }
    case_advance(&c, steps);
    double *u = malloc((size_t)(2 * n * n) * sizeof *u), error = 0, size = 0;
    case_read(&c, LBM_VELOCITY, 2, u);
    for (int k = 0; k < n * n; k++) {
        double exact[2];
        taylor_green(k % n + 0.5, (double)(k / n) + 0.5, (double)steps, &v, exact);
        error += pow(u[2 * k] - exact[0], 2) + pow(u[2 * k + 1] - exact[1], 2);
        size += exact[0] * exact[0] + exact[1] * exact[1];
    }
    free(u);
    case_end(&c);
    return sqrt(error / size);
}

static void test_taylor_green_converges_with_order_two(void **unused) {
    (void)unused;
    for (int collision = 0; collision < LBM_COLLISIONS; collision++) {
        double coarse = taylor_green_error(32, 1024, collision, true);
        double fine = taylor_green_error(64, 4096, collision, true), order = log2(coarse / fine);
        print_message("# Taylor-Green, %s: error %.3e at 32, %.3e at 64, order %.2f\n",
                      lbm_collision_names[collision], coarse, fine, order);
        assert_true(fabs(order - 2) < 0.1 && fine < 0.003);
    }
}

static void test_start_has_its_stresses(void **unused) {
    (void)unused;
    for (int n = 16; n <= 32; n *= 2) {
        double with = taylor_green_error(n, 4, LBM_TRT, true),
               without = taylor_green_error(n, 4, LBM_TRT, false);
        print_message("# Taylor-Green at %d, 4 steps: error %.2e, without initial stress %.2e\n", n,
                      with, without);
        assert_true(with < 0.15 * without);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shear_waves_decay_by_the_eigenvalue),
        cmocka_unit_test(test_taylor_green_converges_with_order_two),
        cmocka_unit_test(test_start_has_its_stresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
