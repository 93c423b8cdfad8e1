/* test_lbm_wave.c -- decaying flows: shear waves against the lattice's own eigenvalues, and the
 * start of a Taylor-Green flow. */
#include <complex.h>
#include "tests/unit/lbm_case.h"

/* (e_i e_i - I/3) : t of a symmetric tensor t, of the recursive operators without its trace. */
static double complex against(const lbm_lattice *lattice, int i, double complex t[3][3],
                              bool recursive) {
    const int *e = lattice->direction[i].e;
    double complex trace = 0, sum = 0;
    for (int a = 0; a < lattice->dims; a++) {
        trace += recursive ? t[a][a] / lattice->dims : 0;
    }
    for (int a = 0; a < lattice->dims; a++) {
        for (int b = 0; b < lattice->dims; b++) {
            const double delta = a == b ? 1 : 0;
            sum += (e[a] * e[b] - delta / 3) * (t[a][b] - delta * trace);
        }
    }
    return sum;
}

/* What direction i has of a population along j after an operator that keeps moments, at the rate
 * omega: density, momentum and (1 - omega) of the second moment, of a wave exp(i k.x) that has
 * streamed with `stream`. The hybrid operator also has that of the strain of the wave before. */
static double complex kept(const lbm_lattice *lattice, int i, int j, double omega, int collision,
                           const double k[3], double complex stream) {
    const lbm_direction *one = &lattice->direction[i], *other = &lattice->direction[j];
    const double share = collision == LBM_HYBRID ? LBM_HYBRID_SHARE : 0;
    double complex second[3][3], strain[3][3];
    double along = 0;
    for (int a = 0; a < lattice->dims; a++) {
        along += one->e[a] * other->e[a];
        for (int b = 0; b < lattice->dims; b++) {
            second[a][b] = other->e[a] * other->e[b] - (a == b ? 1.0 / 3 : 0);
            strain[a][b] =
                0.5 * (double complex)I * (sin(k[b]) * other->e[a] + sin(k[a]) * other->e[b]);
        }
    }
    const bool recursive = collision >= LBM_RECURSIVE;
    const double complex from_cell = against(lattice, i, second, recursive);
    const double complex around = -2.0 / 3 / omega * against(lattice, i, strain, recursive);
    return one->weight * ((1 + 3 * along) * stream +
                          4.5 * (1 - omega) * ((1 - share) * from_cell * stream + share * around));
}

typedef double complex matrix[LBM_MAX_Q][LBM_MAX_Q];

static double dot(const int e[3], const double k[3]) {
    return e[0] * k[0] + e[1] * k[1] + e[2] * k[2];
}

/* One step of a wave exp(i k.x) of small deviations: streaming, then the linear collision
 * g - omega_even (even part of g - eq) - omega_odd (odd part), eq = w (sum g + 3 e . sum e g). */
static void step_matrix(const lbm_lattice *lattice, const double k[3], double even, double odd,
                        int collision, matrix m) {
    const lbm_direction *d = lattice->direction;
    for (int j = 0; j < lattice->q; j++) {
        double phase = dot(d[j].e, k);
        double complex stream = cos(phase) - (double complex)I * sin(phase);
        double offset[LBM_MAX_Q];
        for (int i = 0; i < lattice->q; i++) {
            const double e[3] = {d[j].e[0], d[j].e[1], d[j].e[2]};
            offset[i] = (i == j ? 1 : 0) - d[i].weight * (1 + 3 * dot(d[i].e, e));
        }
        for (int i = 0; i < lattice->q; i++) {
            double other = offset[d[i].opposite];
            double relaxed = even * 0.5 * (offset[i] + other) + odd * 0.5 * (offset[i] - other);
            m[i][j] = collision >= LBM_REGULARIZED ? kept(lattice, i, j, even, collision, k, stream)
                                                   : ((i == j ? 1 : 0) - relaxed) * stream;
        }
    }
}

/* Solves a x = b of n equations by elimination with pivots; b becomes x. */
static void solve(matrix a, double complex b[], int n) {
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int r = p + 1; r < n; r++) {
            best = cabs(a[r][p]) > cabs(a[best][p]) ? r : best;
        }
        for (int c = 0; c < n; c++) {
            double complex t = a[p][c];
            a[p][c] = a[best][c];
            a[best][c] = t;
        }
        double complex t = b[p];
        b[p] = b[best];
        b[best] = t;
        for (int r = p + 1; r < n; r++) {
            double complex factor = a[r][p] / a[p][p];
            for (int c = p; c < n; c++) {
                a[r][c] -= factor * a[p][c];
            }
            b[r] -= factor * b[p];
        }
    }
    for (int p = n - 1; p >= 0; p--) {
        for (int c = p + 1; c < n; c++) {
            b[p] -= a[p][c] * b[c];
        }
        b[p] /= a[p][p];
    }
}

/* A shear wave: its wave vector, and the direction of its velocity across it, of length 1. */
typedef struct wave {
    double k[3], along[3], amplitude, phase;
    double stream[3]; /* that carries it */
} wave;

static double k_squared(const wave *w) {
    return w->k[0] * w->k[0] + w->k[1] * w->k[1] + w->k[2] * w->k[2];
}

/* The eigenvalue of the shear mode, by inverse iteration from its hydrodynamic limit. */
static double shear_eigenvalue(const lbm_lattice *lattice, const wave *w, double even, double odd,
                               int collision) {
    matrix m, shifted;
    double complex v[LBM_MAX_Q], value = exp(-(1 / even - 0.5) / 3 * k_squared(w));
    step_matrix(lattice, w->k, even, odd, collision, m);
    for (int i = 0; i < lattice->q; i++) {
        v[i] = lattice->direction[i].weight * dot(lattice->direction[i].e, w->along);
    }
    for (int round = 0; round < 20; round++) {
        double complex before[LBM_MAX_Q], scale = 0, norm = 0;
        memcpy(shifted, m, sizeof m);
        memcpy(before, v, sizeof v);
        for (int i = 0; i < lattice->q; i++) {
            shifted[i][i] -= value * (1 + 1e-9);
        }
        solve(shifted, v, lattice->q);
        for (int i = 0; i < lattice->q; i++) {
            scale += conj(v[i]) * before[i];
            norm += conj(v[i]) * v[i];
        }
        value = value * (1 + 1e-9) + scale / norm;
        double length = sqrt(creal(norm));
        for (int i = 0; i < lattice->q; i++) {
            v[i] /= length;
        }
        if (cabs(scale / norm) < 1e-8) {
            break;
        }
    }
    assert_true(fabs(cimag(value)) < 1e-12);
    return creal(value);
}

static void shear(const double at[3], double t, const void *data, double value[3]) {
    const wave *w = data;
    double size =
        w->amplitude * sin(w->k[0] * at[0] + w->k[1] * at[1] + w->k[2] * at[2] + w->phase);
    (void)t;
    for (int a = 0; a < 3; a++) {
        value[a] = w->stream[a] + w->along[a] * size;
    }
}

static double amplitude(lbm_case *c, const wave *w) {
    const sel_grid *grid = &c->domain->grid;
    const int64_t *n = grid->n, cells = sel_grid_cells(grid);
    double *u = malloc((size_t)(grid->dims * cells) * sizeof *u), sum = 0;
    wave one = {.k = {w->k[0], w->k[1], w->k[2]},
                .along = {w->along[0], w->along[1], w->along[2]},
                .amplitude = 1,
                .phase = w->phase};
    case_read(c, LBM_VELOCITY, grid->dims, u);
    for (int64_t k = 0; k < cells; k++) {
        const double at[3] = {(double)(k % n[0]) + 0.5, (double)(k / n[0] % n[1]) + 0.5,
                              (double)(k / (n[0] * n[1])) + 0.5};
        double unit[3];
        shear(at, 0, &one, unit);
        for (int a = 0; a < grid->dims; a++) {
            sum += u[grid->dims * k + a] * unit[a];
        }
    }
    free(u);
    return sum * 2 / (double)cells;
}

/* Sixteen cells along the axes on which the wave changes, one along the others. */
enum { N = 16 };

static void check_decay(int lattice, double tau, int collision, const int k[3],
                        const int velocity[3]) {
    wave w = {.amplitude = 1e-4};
    sel_ints size = {lbm_lattices[lattice].dims, {1, 1, 1}};
    double length =
        sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
    for (int a = 0; a < size.n; a++) {
        w.k[a] = k[a] * 2 * pi / N;
        w.along[a] = velocity[a] / length;
        size.v[a] = k[a] ? N : lattice == LBM_D2Q9 ? N : 1;
    }
    lbm_case c;
    case_begin_size(&c, size, tau);
    c.params.common.periodic = (1u << size.n) - 1;
    c.params.collision = collision;
    c.params.initial.velocity = case_of_place(&c, SEL_ON_PLACE, size.n, shear, &w);
    case_start(&c);
    const lbm_numbers *numbers = &((lbm_plan *)c.plan)->numbers;
    case_advance(&c, 60);
    double before = amplitude(&c, &w);
    case_advance(&c, 40);
    double rate = -log(amplitude(&c, &w) / before) / 40;
    double exact = -log(shear_eigenvalue(&lbm_lattices[lattice], &w, numbers->omega_even,
                                         numbers->omega_odd, collision));
    print_message("# shear wave %s %s tau %.1f along (%d, %d, %d): decay %.9f, eigenvalue's %.9f\n",
                  lbm_lattices[lattice].name, lbm_collision_names[collision], tau, k[0], k[1], k[2],
                  rate, exact);
    assert_true(fabs(rate / exact - 1) < 1e-6);
    /* and the eigenvalue is that of the viscosity, to second order */
    double nu = (tau - 0.5) / 3;
    assert_true(fabs(exact / (nu * k_squared(&w)) - 1) < 1.2 * k_squared(&w));
    case_end(&c);
}

static const double taus[] = {0.6, 0.8, 1.5};

static void test_shear_waves_decay_by_the_eigenvalue(void **unused) {
    (void)unused;
    for (int k = 0; k < 3; k++) {
        for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
            check_decay(LBM_D2Q9, taus[k], collision, (int[]){1, 0, 0}, (int[]){0, 1, 0});
            check_decay(LBM_D2Q9, taus[k], collision, (int[]){0, 1, 0}, (int[]){1, 0, 0});
            check_decay(LBM_D2Q9, taus[k], collision, (int[]){1, 1, 0}, (int[]){-1, 1, 0});
        }
    }
}

/* Along each axis with both velocities across it, along diagonals of planes and of the cube. */
static void test_shear_waves_in_space_decay_by_the_eigenvalue(void **unused) {
    (void)unused;
    for (int k = 0; k < 3; k++) {
        for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
            for (int axis = 0; axis < 3; axis++) {
                for (int across = 1; across <= 2; across++) {
                    int along[3] = {0}, velocity[3] = {0};
                    along[axis] = 1;
                    velocity[(axis + across) % 3] = 1;
                    check_decay(LBM_D3Q19, taus[k], collision, along, velocity);
                }
            }
            check_decay(LBM_D3Q19, taus[k], collision, (int[]){1, 1, 0}, (int[]){-1, 1, 0});
            check_decay(LBM_D3Q19, taus[k], collision, (int[]){0, 1, 1}, (int[]){1, 0, 0});
            check_decay(LBM_D3Q19, taus[k], collision, (int[]){1, 0, -1}, (int[]){1, 0, 1});
            check_decay(LBM_D3Q19, taus[k], collision, (int[]){1, 1, 1}, (int[]){1, -1, 0});
        }
    }
}

/* By how much of its phase a wave lags behind the stream in `steps`, over k^2. */
static double lag(int collision, const int k[3], const int along[3], const int stream[3]) {
    enum { LENGTH = 24, BEGIN = 100, STEPS = 200 };
    wave w = {.amplitude = 1e-4}, quarter;
    sel_ints size = {3, {1, 1, 1}};
    double moved = 0, phase[2];
    lbm_case c;
    for (int a = 0; a < 3; a++) {
        w.k[a] = k[a] * 2 * pi / LENGTH;
        w.along[a] = along[a];
        w.stream[a] = 0.05 * stream[a];
        moved += w.k[a] * w.stream[a] * STEPS;
        size.v[a] = k[a] ? LENGTH : 1;
    }
    quarter = w;
    quarter.phase = pi / 2;
    case_begin_size(&c, size, 0.51);
    c.params.common.periodic = 7;
    c.params.collision = collision;
    c.params.initial.velocity = case_of_place(&c, SEL_ON_PLACE, 3, shear, &w);
    case_start(&c);
    for (int i = 0; i < 2; i++) {
        case_advance(&c, i ? STEPS : BEGIN);
        phase[i] = atan2(-amplitude(&c, &quarter), amplitude(&c, &w));
    }
    case_end(&c);
    const double error = remainder(moved - (phase[1] - phase[0]), 2 * pi) / moved;
    print_message(
        "# a wave along (%d, %d, %d) in a stream along (%d, %d, %d), %s: lags by %.4f k^2\n", k[0],
        k[1], k[2], stream[0], stream[1], stream[2], lbm_collision_names[collision],
        error / k_squared(&w));
    return error / k_squared(&w);
}

/* In a coordinate plane of D3Q19, whatever the direction of the wave's velocity. The lattice's own
 * flux of momentum makes waves lag by up to k^2/24. */
static void test_the_hybrid_operator_lets_no_wave_lag_behind_the_stream(void **unused) {
    (void)unused;
    for (int turn = 0; turn < 3; turn++) {
        for (int way = 0; way < 4; way++) {
            int k[3] = {0}, along[3] = {0}, stream[3] = {0};
            const int a = turn, b = (turn + 1) % 3, n = (turn + 2) % 3;
            k[a] = k[b] = 1;
            stream[a] = 1;
            stream[b] = way % 2;
            along[a] = way < 2;
            along[b] = way < 2 ? -1 : 0;
            along[n] = way >= 2;
            assert_true(fabs(lag(LBM_HYBRID, k, along, stream)) < 0.003);
        }
    }
}

/* The momentum of a wave along x that changes along y falls at the rate of its stress times k. At a
 * small viscosity the hybrid operator's own dissipation is a part of it. */
static void test_stress_is_what_slows_a_wave(void **unused) {
    (void)unused;
    enum { LENGTH = 24, STEPS = 20 };
    for (int collision = LBM_REGULARIZED; collision < LBM_COLLISIONS; collision++) {
        wave w = {.k = {0, 2 * pi / LENGTH, 0}, .along = {1, 0, 0}, .amplitude = 1e-3};
        double stress[3 * 4 * LENGTH], sum = 0;
        lbm_case c;
        case_begin(&c, 4, LENGTH, 0.5005);
        c.params.common.periodic = 3;
        c.params.collision = collision;
        c.params.initial.velocity = case_of_place(&c, SEL_ON_PLACE, 2, shear, &w);
        case_start(&c);
        case_advance(&c, 200);
        const double before = amplitude(&c, &w);
        case_advance(&c, STEPS / 2);
        case_read(&c, LBM_STRESS, 3, stress);
        case_advance(&c, STEPS / 2);
        const double slows = (before - amplitude(&c, &w)) / STEPS;
        for (int cell = 0; cell < 4 * LENGTH; cell++) {
            sum += stress[3 * cell + 2] * cos(w.k[1] * (cell / 4 + 0.5)) / (2 * LENGTH);
        }
        print_message("# %s: a wave slows by %.4e per step, by its stress %.4e\n",
                      lbm_collision_names[collision], slows, sum * w.k[1]);
        assert_true(fabs(sum * w.k[1] / slows - 1) < 0.03);
        case_end(&c);
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
        double g[LBM_MAX_Q], square = u[2 * k] * u[2 * k] + u[2 * k + 1] * u[2 * k + 1];
        for (int i = 0; i < lbm_lattices[LBM_D2Q9].q; i++) {
            const lbm_direction *d = &lbm_lattices[LBM_D2Q9].direction[i];
            double eu = d->e[0] * u[2 * k] + d->e[1] * u[2 * k + 1];
            g[i] = d->weight * (rho[k] * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * square) - 1);
        }
        case_state(c)->loops->write(&case_state(c)->layout, 9, case_state(c)->all.f[0], k % nx,
                                    k / nx, g);
    }
    for (int64_t y = 0; y < ny; y++) {
        lbm_fill_halo(case_state(c), case_state(c)->all.f[0], y, true);
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
        cmocka_unit_test(test_shear_waves_in_space_decay_by_the_eigenvalue),
        cmocka_unit_test(test_the_hybrid_operator_lets_no_wave_lag_behind_the_stream),
        cmocka_unit_test(test_stress_is_what_slows_a_wave),
        cmocka_unit_test(test_taylor_green_converges_with_order_two),
        cmocka_unit_test(test_start_has_its_stresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
