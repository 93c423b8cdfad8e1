/* test_lbm_closure.c -- collisions and closures on random populations: both lattices, both
 * precisions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/solvers/lbm/lbm.h"
#include "tests/unit/lbm_rules.h"

/* What is tested, the same for both lattices. */
typedef struct rates {
    double even, odd, a[3], tau, magic, eddy;
} rates;

typedef struct state {
    double drho, u[3];
} state;

typedef struct rules {
    const lbm_lattice *lattice;
    void (*equilibrium)(double drho, const double *u, double *g);
    void (*close)(double *g, const int *n, double drho, const double *u);
    void (*close_velocity)(double *g, const int *n, const double *u);
    void (*close_density)(double *g, const int *n, double drho, const double *tangent);
    void (*close_outflow)(double *g, const int *n, const state *here, const state *inward,
                          const double *shift);
    void (*of_moments)(double *g, double drho, const double *j, const double *p);
    void (*regularize)(double *g, const int *n, bool pressure, const state *given,
                       const double *shift, const double *f, const double *a, double omega);
    void (*collide)(double *g, const rates *r, int collision, bool forced, bool eddies);
    /* all of the closures and collisions one after the other, once in each precision */
    void (*everything)(double *g, float *s);
} rules;

#define RULES(D, Q)                                                                                \
    static void equilibrium_##D(double drho, const double *u, double *g) {                         \
        lbm_equilibrium_##D##_f64(drho, u, g);                                                     \
    }                                                                                              \
    static void close_##D(double *g, const int *n, double drho, const double *u) {                 \
        lbm_close_##D##_f64(g, n, drho, u);                                                        \
    }                                                                                              \
    static void close_velocity_##D(double *g, const int *n, const double *u) {                     \
        const lbm_cell_##D##_f64 cell = lbm_velocity_cell_##D##_f64(g, n, u);                      \
        lbm_close_##D##_f64(g, n, cell.drho, cell.u);                                              \
    }                                                                                              \
    static void close_density_##D(double *g, const int *n, double drho, const double *u) {         \
        const lbm_cell_##D##_f64 cell = lbm_density_cell_##D##_f64(g, n, drho, u);                 \
        lbm_close_##D##_f64(g, n, cell.drho, cell.u);                                              \
    }                                                                                              \
    static void close_outflow_##D(double *g, const int *n, const state *here, const state *inward, \
                                  const double *shift) {                                           \
        lbm_cell_##D##_f64 at = {.drho = here->drho}, in = {.drho = inward->drho};                 \
        memcpy(at.u, here->u, sizeof at.u);                                                        \
        memcpy(in.u, inward->u, sizeof in.u);                                                      \
        at = lbm_outflow_cell_##D##_f64(g, n, &at, &in, 0.98, shift);                              \
        lbm_close_##D##_f64(g, n, at.drho, at.u);                                                  \
    }                                                                                              \
    static void of_moments_##D(double *g, double drho, const double *j, const double *p) {         \
        lbm_cell_moments_##D##_f64 m = {.drho = drho};                                             \
        memcpy(m.j, j, sizeof m.j);                                                                \
        memcpy(m.p, p, sizeof m.p);                                                                \
        lbm_of_moments_##D##_f64(&m, false, g);                                                    \
    }                                                                                              \
    static void regularize_##D(double *g, const int *n, bool pressure, const state *given,         \
                               const double *shift, const double *f, const double *a,              \
                               double omega) {                                                     \
        lbm_cell_##D##_f64 cell = {.drho = given->drho};                                           \
        const lbm_cell_moments_##D##_f64 m = lbm_moments_of_##D##_f64(f);                          \
        memcpy(cell.u, given->u, sizeof cell.u);                                                   \
        lbm_regularize_##D##_f64(g, n, pressure, &cell, shift, &m, a, omega);                      \
    }                                                                                              \
    static void collide_##D(double *g, const rates *r, int collision, bool forced, bool eddies) {  \
        lbm_rates_##D##_f64 own = {.omega_even = r->even,                                          \
                                   .omega_odd = r->odd,                                            \
                                   .tau = r->tau,                                                  \
                                   .magic = r->magic,                                              \
                                   .eddy = r->eddy};                                               \
        memcpy(own.a, r->a, sizeof own.a);                                                         \
        lbm_collide_##D##_f64(g, &own, collision, forced, eddies);                                 \
    }                                                                                              \
    static void everything_##D(double *g, float *s) {                                              \
        const lbm_rates_##D##_f64 r = {1.6, 0.7, {1e-3, -2e-3}, 0.625, 0.2, 0.5};                  \
        const lbm_rates_##D##_f32 r32 = {1.6F, 0.7F, {1e-3F, -2e-3F}, 0.625F, 0.2F, 0.5F};         \
        const int lower[D] = {1}, upper[D] = {0, -1}, edge[D] = {-1, 1};                           \
        const double u[D] = {0.1, 0.02};                                                           \
        const float u32[D] = {0.1F, 0.02F};                                                        \
        lbm_cell_##D##_f64 cell = lbm_velocity_cell_##D##_f64(g, lower, u);                        \
        lbm_cell_##D##_f32 cell32 = lbm_velocity_cell_##D##_f32(s, lower, u32);                    \
        lbm_close_##D##_f64(g, lower, cell.drho, cell.u);                                          \
        lbm_close_##D##_f32(s, lower, cell32.drho, cell32.u);                                      \
        cell = lbm_density_cell_##D##_f64(g, upper, 0.01, u);                                      \
        cell32 = lbm_density_cell_##D##_f32(s, upper, 0.01F, u32);                                 \
        lbm_close_##D##_f64(g, upper, cell.drho, cell.u);                                          \
        lbm_close_##D##_f32(s, upper, cell32.drho, cell32.u);                                      \
        const lbm_cell_moments_##D##_f64 m = lbm_moments_of_##D##_f64(g);                          \
        const lbm_cell_moments_##D##_f32 m32 = lbm_moments_of_##D##_f32(s);                        \
        lbm_regularize_##D##_f64(g, upper, true, &cell, u, &m, u, 1.7);                            \
        lbm_regularize_##D##_f32(s, upper, true, &cell32, u32, &m32, u32, 1.7F);                   \
        lbm_close_##D##_f64(g, edge, 0.02, u);                                                     \
        lbm_close_##D##_f32(s, edge, 0.02F, u32);                                                  \
        for (int variant = 0; variant < 4 * LBM_HYBRID; variant++) {                               \
            bool forced = variant % 2 == 1, eddies = variant / 2 % 2 == 1;                         \
            lbm_collide_##D##_f64(g, &r, variant / 4, forced, eddies);                             \
            lbm_collide_##D##_f32(s, &r32, variant / 4, forced, eddies);                           \
        }                                                                                          \
    }                                                                                              \
    static const rules rules_##D = {                                                               \
        &lbm_lattices[Q],  equilibrium_##D, close_##D,      close_velocity_##D, close_density_##D, \
        close_outflow_##D, of_moments_##D,  regularize_##D, collide_##D,        everything_##D};
RULES(2, LBM_D2Q9)
RULES(3, LBM_D3Q19)

static const rules *const all_rules[] = {&rules_2, &rules_3, NULL};

/* Uniform in [-1, 1]; the same on every machine. */
static double random_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

static void random_velocity(uint64_t *seed, double size, double u[3]) {
    for (int a = 0; a < 3; a++) {
        u[a] = size * random_number(seed);
    }
}

/* The k-th set of inward normals, none of them to all that there are; their number. */
static int normals(int k, int dims, int n[3]) {
    int wet = 0;
    for (int a = 0; a < 3; a++, k /= 3) {
        n[a] = a < dims ? k % 3 - 1 : 0;
        wet += n[a] != 0;
    }
    return wet;
}

static int normal_sets(int dims) {
    return dims == 2 ? 9 : 27;
}

/* What goes along one of the normals enters. */
static bool enters(const lbm_direction *d, const int n[3]) {
    return d->e[0] * n[0] > 0 || d->e[1] * n[1] > 0 || d->e[2] * n[2] > 0;
}

static double moment(const lbm_lattice *lattice, const double *g, int a) {
    double sum = 0;
    for (int i = 0; i < lattice->q; i++) {
        sum += a < 0 ? g[i] : lattice->direction[i].e[a] * g[i];
    }
    return sum;
}

/* Random populations; those that enter are wrong on purpose. */
static void random_populations(uint64_t *seed, const lbm_lattice *lattice, const int n[3],
                               double *g) {
    for (int i = 0; i < lattice->q; i++) {
        g[i] = enters(&lattice->direction[i], n) ? 1e3 : 0.02 * random_number(seed);
    }
}

static void check_known(const lbm_lattice *lattice, const int n[3], const double *before,
                        const double *g) {
    for (int i = 0; i < lattice->q; i++) {
        assert_true(enters(&lattice->direction[i], n) || g[i] == before[i]);
    }
}

/* The largest deviation of the momentum from rho u. */
static double momentum_error(const lbm_lattice *lattice, const double *g, const double u[3]) {
    double rho = 1 + moment(lattice, g, -1), error = 0;
    for (int a = 0; a < lattice->dims; a++) {
        error = fmax(error, fabs(moment(lattice, g, a) - rho * u[a]));
    }
    return error;
}

/* sum of w e_a e_b e_c e_d; fewer of them for indices below 0. */
static double weighted(const lbm_lattice *lattice, int a, int b, int c, int d) {
    double sum = 0;
    for (int i = 0; i < lattice->q; i++) {
        const int *e = lattice->direction[i].e;
        const int index[4] = {a, b, c, d};
        double product = lattice->direction[i].weight;
        for (int k = 0; k < 4; k++) {
            product *= index[k] < 0 ? 1 : e[index[k]];
        }
        sum += product;
    }
    return sum;
}

static void test_lattices_are_isotropic(void **unused) {
    (void)unused;
    for (int l = 0; l < LBM_LATTICES; l++) {
        const lbm_lattice *lattice = &lbm_lattices[l];
        int dims = lattice->dims;
        assert_true(fabs(weighted(lattice, -1, -1, -1, -1) - 1) < 1e-15);
        for (int k = 0; k < dims * dims * dims * dims; k++) {
            int a = k % dims, b = k / dims % dims, c = k / dims / dims % dims;
            int d = k / dims / dims / dims;
            double fourth = (a == b && c == d) + (a == c && b == d) + (a == d && b == c);
            assert_true(fabs(weighted(lattice, a, b, -1, -1) - (a == b) / 3.0) < 1e-15);
            assert_true(fabs(weighted(lattice, a, b, c, d) - fourth / 9.0) < 1e-15);
            assert_true(fabs(weighted(lattice, a, b, c, -1)) < 1e-15);
        }
    }
}

static void test_opposites_and_mirrors_turn_directions(void **unused) {
    (void)unused;
    for (int l = 0; l < LBM_LATTICES; l++) {
        const lbm_lattice *lattice = &lbm_lattices[l];
        for (int i = 0; i < lattice->q; i++) {
            const lbm_direction *d = &lattice->direction[i];
            bool diagonal = abs(d->e[0]) + abs(d->e[1]) + abs(d->e[2]) == 2;
            for (int a = 0; a < 3; a++) {
                assert_int_equal(lattice->direction[d->opposite].e[a], -d->e[a]);
                for (int b = 0; b < lattice->dims && diagonal; b++) {
                    int turned = lattice->direction[d->mirror[b]].e[a];
                    assert_int_equal(turned, a == b ? -d->e[a] : d->e[a]);
                }
            }
        }
    }
}

/* The sums written out by hand against loops over the directions. */
#define CHECK_MACROS(L, LATTICE)                                             \
    do {                                                                     \
        const lbm_lattice *lattice = &lbm_lattices[LATTICE];                 \
        const double u[3] = {2, 5, 11};                                      \
        double g[L##_COUNT];                                                 \
        for (int i = 0; i < L##_COUNT; i++) {                                \
            g[i] = 1.0 / (i + 2);                                            \
        }                                                                    \
        assert_int_equal(lattice->q, L##_COUNT);                             \
        assert_true(fabs(L##_SUM(g) - moment(lattice, g, -1)) < 1e-14);      \
        assert_true(fabs(L##_SUM_X(g) - moment(lattice, g, 0)) < 1e-14);     \
        assert_true(fabs(L##_SUM_Y(g) - moment(lattice, g, 1)) < 1e-14);     \
        assert_true(fabs(L##_SUM_XX(g) - second(lattice, g, 0, 0)) < 1e-14); \
        assert_true(fabs(L##_SUM_YY(g) - second(lattice, g, 1, 1)) < 1e-14); \
        assert_true(fabs(L##_SUM_XY(g) - second(lattice, g, 0, 1)) < 1e-14); \
        L##_PAIRS(CHECK_##L##_PAIR)                                          \
    } while (0)
#define CHECK_PAIR(L, i, ex, ey, ez, opposite)                          \
    assert_true(L##_ALONG_##i(u) == (ex)*u[0] + (ey)*u[1] + (ez)*u[2]); \
    assert_true(L##_ALONG_##opposite(u) == -L##_ALONG_##i(u));
#define CHECK_D2Q9_PAIR(i, ex, ey, ez, opposite, weight) \
    CHECK_PAIR(D2Q9, i, ex, ey, ez, opposite)            \
    assert_true(D2Q9_TWICE_##i(plane) == twice(lattice, i, whole, 2));
#define CHECK_D3Q19_PAIR(i, ex, ey, ez, opposite, weight) \
    CHECK_PAIR(D3Q19, i, ex, ey, ez, opposite)            \
    assert_true(D3Q19_TWICE_##i(space) == twice(lattice, i, whole, 3));

static double second(const lbm_lattice *lattice, const double *g, int a, int b) {
    double sum = 0;
    for (int i = 0; i < lattice->q; i++) {
        sum += lattice->direction[i].e[a] * lattice->direction[i].e[b] * g[i];
    }
    return sum;
}

static double twice(const lbm_lattice *lattice, int i, double t[3][3], int dims) {
    const int *e = lattice->direction[i].e;
    double sum = 0;
    for (int a = 0; a < dims; a++) {
        for (int b = 0; b < dims; b++) {
            sum += e[a] * e[b] * t[a][b];
        }
    }
    return sum;
}

static void test_sums_are_those_of_the_directions(void **unused) {
    (void)unused;
    double whole[3][3] = {{2, 5, 7}, {5, 11, 17}, {7, 17, 23}};
    const double plane[3] = {2, 11, 5}, space[6] = {2, 11, 23, 5, 17, 7};
    CHECK_MACROS(D2Q9, LBM_D2Q9);
    CHECK_MACROS(D3Q19, LBM_D3Q19);
    const lbm_lattice *lattice = &lbm_lattices[LBM_D3Q19];
    double g[D3Q19_COUNT];
    for (int i = 0; i < D3Q19_COUNT; i++) {
        g[i] = 1.0 / (i + 2);
    }
    assert_true(fabs(D3Q19_SUM_Z(g) - moment(lattice, g, 2)) < 1e-14);
    assert_true(fabs(D3Q19_SUM_ZZ(g) - second(lattice, g, 2, 2)) < 1e-14);
    assert_true(fabs(D3Q19_SUM_YZ(g) - second(lattice, g, 1, 2)) < 1e-14);
    assert_true(fabs(D3Q19_SUM_XZ(g) - second(lattice, g, 0, 2)) < 1e-14);
}

/* Velocity given on a face: all of the momentum; on edges and corners density too. */
static void test_velocity_closures_impose_mass_and_momentum(void **unused) {
    (void)unused;
    for (int l = 0; all_rules[l]; l++) {
        const rules *r = all_rules[l];
        double error[4] = {0};
        uint64_t seed = 1;
        for (int k = 0; k < 300 * normal_sets(r->lattice->dims); k++) {
            double g[LBM_MAX_Q], before[LBM_MAX_Q], u[3], drho = 0.1 * random_number(&seed);
            int n[3], wet = normals(k % normal_sets(r->lattice->dims), r->lattice->dims, n);
            if (wet == 0) {
                continue;
            }
            random_velocity(&seed, 0.1, u);
            random_populations(&seed, r->lattice, n, g);
            memcpy(before, g, sizeof g);
            if (wet == 1) {
                r->close_velocity(g, n, u);
            } else {
                r->close(g, n, drho, u);
                error[wet] = fmax(error[wet], fabs(moment(r->lattice, g, -1) - drho));
            }
            error[wet] = fmax(error[wet], momentum_error(r->lattice, g, u));
            check_known(r->lattice, n, before, g);
        }
        print_message("# %s: faces to %.1e, edges to %.1e, corners to %.1e\n", r->lattice->name,
                      error[1], error[2], error[3]);
        assert_true(error[1] < 1e-14 && error[2] < 1e-14 && error[3] < 1e-14);
    }
}

/* A wet cell that holds density, momentum and second moments alone, and whose next cell inwards has
 * the same, is found again, under an acceleration too: on faces, whether its own second moments
 * count or the next cell's, and at edges. */
static void test_the_regularized_closure_finds_a_regularized_cell(void **unused) {
    (void)unused;
    for (int l = 0; all_rules[l]; l++) {
        const rules *r = all_rules[l];
        const int dims = r->lattice->dims, q = r->lattice->q, parts = dims == 2 ? 3 : 6;
        uint64_t seed = 5;
        double error = 0;
        for (int k = 0; k < 300 * normal_sets(dims); k++) {
            const rates rate = {
                .even = 1.93, .odd = 1.93, .a = {1e-3, -2e-3, 5e-4}, .tau = 1 / 1.93};
            double whole[LBM_MAX_Q], g[LBM_MAX_Q], f[LBM_MAX_Q], j[3], p[6], shift[3];
            state cell = {.drho = 0.05 * random_number(&seed)};
            int n[3], wet = normals(k % normal_sets(dims), dims, n);
            random_velocity(&seed, 0.1, cell.u);
            for (int c = 0; c < parts; c++) {
                p[c] = 0.02 * random_number(&seed);
            }
            for (int a = 0; a < 3; a++) {
                j[a] = (1 + cell.drho) * cell.u[a];
                shift[a] = -0.5 * rate.a[a];
            }
            r->of_moments(whole, cell.drho, j, p);
            memcpy(f, whole, sizeof f);
            r->collide(f, &rate, LBM_REGULARIZED, true, false);
            for (int pressure = 0; pressure < 2 && wet > 0; pressure++) {
                for (int i = 0; i < q; i++) {
                    g[i] = enters(&r->lattice->direction[i], n) ? 1e3 : whole[i];
                }
                r->regularize(g, n, pressure && wet == 1, &cell, shift, f, rate.a, rate.even);
                for (int i = 0; i < q; i++) {
                    error = fmax(error, fabs(g[i] - whole[i]));
                }
            }
        }
        print_message("# %s: a regularized cell to %.1e\n", r->lattice->name, error);
        assert_true(error < 1e-14);
    }
}

/* The mass that a cell gains in f32 when moments become populations, mean of many cells at u. */
#define MEAN_GAIN(D)                                                                       \
    static double mean_gain_##D(const rules *r, bool recursive) {                          \
        enum { CELLS = 100000 };                                                           \
        uint64_t seed = 9;                                                                 \
        double gain = 0;                                                                   \
        for (int k = 0; k < CELLS; k++) {                                                  \
            lbm_cell_moments_##D##_f32 m = {.drho = (float)(0.01 * random_number(&seed))}; \
            float g[LBM_MAX_Q];                                                            \
            for (int a = 0; a < D; a++) {                                                  \
                m.j[a] = (float)(0.1 * random_number(&seed));                              \
                m.p[a] = m.j[a] * m.j[a] + (float)(1e-3 * random_number(&seed));           \
            }                                                                              \
            lbm_of_moments_##D##_f32(&m, recursive, g);                                    \
            for (int i = 0; i < r->lattice->q; i++) {                                      \
                gain += (double)g[i];                                                      \
            }                                                                              \
            gain -= (double)m.drho;                                                        \
        }                                                                                  \
        return gain / CELLS;                                                               \
    }
MEAN_GAIN(2)
MEAN_GAIN(3)

static void test_rounded_weights_neither_add_nor_take_mass(void **unused) {
    (void)unused;
    for (int recursive = 0; recursive < 2; recursive++) {
        const double flat = mean_gain_2(&rules_2, recursive),
                     deep = mean_gain_3(&rules_3, recursive);
        print_message("# f32: D2Q9 gains %.1e, D3Q19 %.1e\n", flat, deep);
        assert_true(fabs(flat) < 6e-11 && fabs(deep) < 6e-11);
    }
}

static void test_density_closure_imposes_density_and_sliding(void **unused) {
    (void)unused;
    for (int l = 0; all_rules[l]; l++) {
        const rules *r = all_rules[l];
        double error = 0;
        uint64_t seed = 2;
        for (int k = 0; k < 300 * normal_sets(r->lattice->dims); k++) {
            double g[LBM_MAX_Q], before[LBM_MAX_Q], u[3], drho = 0.1 * random_number(&seed);
            int n[3];
            if (normals(k % normal_sets(r->lattice->dims), r->lattice->dims, n) != 1) {
                continue;
            }
            random_velocity(&seed, 0.1, u);
            random_populations(&seed, r->lattice, n, g);
            memcpy(before, g, sizeof g);
            r->close_density(g, n, drho, u);
            error = fmax(error, fabs(moment(r->lattice, g, -1) - drho));
            for (int a = 0; a < r->lattice->dims; a++) {
                double slide = moment(r->lattice, g, a) - (1 + drho) * u[a];
                error = fmax(error, n[a] ? 0 : fabs(slide));
            }
            check_known(r->lattice, n, before, g);
        }
        print_message("# %s: density and sliding to %.1e\n", r->lattice->name, error);
        assert_true(error < 1e-14);
    }
}

/* Velocity convects out, the incoming sound wave is what it was, but for what returns. */
static void test_outflow_closure_solves_its_equations(void **unused) {
    (void)unused;
    for (int l = 0; all_rules[l]; l++) {
        const rules *r = all_rules[l];
        const double sound = sqrt(1.0 / 3);
        double error = 0;
        uint64_t seed = 6;
        for (int k = 0; k < 300 * normal_sets(r->lattice->dims); k++) {
            double g[LBM_MAX_Q], before[LBM_MAX_Q], shift[3];
            state here = {.drho = 0.05 * random_number(&seed)}, inward = {0};
            int n[3];
            if (normals(k % normal_sets(r->lattice->dims), r->lattice->dims, n) != 1) {
                continue;
            }
            random_velocity(&seed, 0.1, here.u);
            random_velocity(&seed, 0.1, inward.u);
            random_velocity(&seed, 1e-3, shift);
            random_populations(&seed, r->lattice, n, g);
            memcpy(before, g, sizeof g);
            r->close_outflow(g, n, &here, &inward, shift);
            double drho = moment(r->lattice, g, -1), v = 0, convected = 0, out = 0;
            for (int a = 0; a < r->lattice->dims; a++) {
                out = fmax(out, -n[a] * here.u[a]);
            }
            for (int a = 0; a < r->lattice->dims; a++) {
                double u = moment(r->lattice, g, a) / (1 + drho);
                double expected = here.u[a] - out * (here.u[a] - inward.u[a]) + shift[a];
                v -= n[a] * u;
                convected -= n[a] * expected;
                error = fmax(error, n[a] ? 0 : fabs(u - expected));
            }
            double wave = convected - 0.98 * sound * here.drho;
            error = fmax(error, fabs(v - sound * drho - wave));
            check_known(r->lattice, n, before, g);
        }
        print_message("# %s: outflow to %.1e\n", r->lattice->name, error);
        assert_true(error < 1e-14);
    }
}

/* Equilibrium populations of any flow are left as they are: the closures invent nothing. Only the
 * three pairs that enter and leave at once at a corner share what is of second order in u. */
static void test_closures_keep_an_equilibrium(void **unused) {
    (void)unused;
    const double u[3] = {0.02, -0.05, 0.03};
    for (int l = 0; all_rules[l]; l++) {
        const rules *r = all_rules[l];
        for (int k = 0; k < normal_sets(r->lattice->dims); k++) {
            int n[3], wet = normals(k, r->lattice->dims, n);
            for (int density = 0; density < (wet == 1 ? 2 : wet > 1 ? 1 : 0); density++) {
                double before[LBM_MAX_Q], g[LBM_MAX_Q];
                r->equilibrium(0.03, u, before);
                for (int i = 0; i < r->lattice->q; i++) {
                    g[i] = enters(&r->lattice->direction[i], n) ? 1e3 : before[i];
                }
                if (wet > 1) {
                    r->close(g, n, 0.03, u);
                } else if (density) {
                    r->close_density(g, n, 0.03, u);
                } else {
                    r->close_velocity(g, n, u);
                }
                for (int i = 0; i < r->lattice->q; i++) {
                    const lbm_direction *d = &r->lattice->direction[i];
                    bool shares =
                        wet == 3 && enters(d, n) && enters(&r->lattice->direction[d->opposite], n);
                    assert_true(fabs(g[i] - before[i]) < (shares ? 1e-3 : 1e-15));
                }
            }
        }
    }
}

static void test_collisions_keep_mass_and_add_the_force(void **unused) {
    (void)unused;
    const rates numbers = {1.6, 0.7, {1e-3, -2e-3, 3e-3}, 1 / 1.6, 0.2, 0.5};
    const int dry[3] = {0, 0, 0};
    for (int l = 0; all_rules[l]; l++) {
        const lbm_lattice *lattice = all_rules[l]->lattice;
        uint64_t seed = 3;
        for (int k = 0; k < 1000 * 4 * LBM_HYBRID; k++) {
            int variant = k % (4 * LBM_HYBRID);
            bool forced = variant % 2 == 1, eddies = variant / 2 % 2 == 1;
            double g[LBM_MAX_Q], before[LBM_MAX_Q];
            random_populations(&seed, lattice, dry, g);
            memcpy(before, g, sizeof g);
            all_rules[l]->collide(g, &numbers, variant / 4, forced, eddies);
            double mass = moment(lattice, before, -1), force = forced ? 1 + mass : 0;
            assert_true(fabs(moment(lattice, g, -1) - mass) < 2e-15);
            for (int a = 0; a < lattice->dims; a++) {
                double gained = moment(lattice, g, a) - moment(lattice, before, a);
                assert_true(fabs(gained - force * numbers.a[a]) < 2e-15);
            }
        }
    }
}

static void test_trt_with_equal_rates_is_bgk(void **unused) {
    (void)unused;
    const rates numbers = {1.3, 1.3, {1e-3, 2e-3, -1e-3}, 0, 0, 0};
    const int dry[3] = {0, 0, 0};
    for (int l = 0; all_rules[l]; l++) {
        uint64_t seed = 4;
        for (int k = 0; k < 1000; k++) {
            double one[LBM_MAX_Q], other[LBM_MAX_Q];
            random_populations(&seed, all_rules[l]->lattice, dry, one);
            memcpy(other, one, sizeof one);
            all_rules[l]->collide(one, &numbers, LBM_TRT, true, false);
            all_rules[l]->collide(other, &numbers, LBM_BGK, true, false);
            for (int i = 0; i < all_rules[l]->lattice->q; i++) {
                assert_true(fabs(one[i] - other[i]) < 1e-16);
            }
        }
    }
}

static void test_single_precision_agrees(void **unused) {
    (void)unused;
    const int dry[3] = {0, 0, 0};
    for (int l = 0; all_rules[l]; l++) {
        uint64_t seed = 5;
        double g[LBM_MAX_Q];
        float s[LBM_MAX_Q];
        random_populations(&seed, all_rules[l]->lattice, dry, g);
        for (int i = 0; i < all_rules[l]->lattice->q; i++) {
            s[i] = (float)g[i];
        }
        all_rules[l]->everything(g, s);
        for (int i = 0; i < all_rules[l]->lattice->q; i++) {
            assert_true(fabs(g[i] - (double)s[i]) < 1e-7);
        }
    }
}

/* A parabola that is 0 half a cell below the first of two cells, along y; the wall is at rest, or
 * unknown. */
static void test_strain_beside_a_wall_is_that_of_a_parabola(void **unused) {
    (void)unused;
    const double v[2] = {0.5 * 0.3, 0}, above = 1.5 * (0.3 - 0.1);
    double beside[2][2][2] = {{{v[0]}, {v[0]}}, {{0}, {above}}}, strain[3];
    int what[2][2] = {{LBM_BESIDE_FLUID, LBM_BESIDE_FLUID}, {LBM_BESIDE_WALL, LBM_BESIDE_FLUID}};
    lbm_differences_beside_2_f64(v, (const double(*)[2][2])beside, (const int(*)[2])what, strain);
    assert_true(fabs(strain[2] - 0.5 * (0.3 - 0.5 * 0.1)) < 1e-15);
    assert_true(strain[0] == 0 && strain[1] == 0);
    what[1][0] = LBM_BESIDE_NOTHING;
    lbm_differences_beside_2_f64(v, (const double(*)[2][2])beside, (const int(*)[2])what, strain);
    assert_true(fabs(strain[2] - 0.5 * (above - v[0])) < 1e-15);
    what[1][1] = LBM_BESIDE_NOTHING;
    lbm_differences_beside_2_f64(v, (const double(*)[2][2])beside, (const int(*)[2])what, strain);
    assert_true(strain[2] == 0);
}

/* Of the velocity y (1, 2, 3) / 2 over a wall at rest, y in cells: v_i v_k = i k y^2 / 4. */
static void test_the_flux_beside_a_wall_is_that_of_a_parabola(void **unused) {
    (void)unused;
    double v[3], beside[3][2][3] = {{{0}}}, to[12];
    const int walls[3][2] = {{LBM_BESIDE_FLUID, LBM_BESIDE_FLUID},
                             {LBM_BESIDE_WALL, LBM_BESIDE_FLUID},
                             {LBM_BESIDE_FLUID, LBM_BESIDE_FLUID}};
    int free[3][2];
    for (int a = 0; a < 3; a++) {
        v[a] = 0.25 * (a + 1);
        beside[1][1][a] = 0.75 * (a + 1);
        for (int side = 0; side < 2; side++) {
            beside[0][side][a] = beside[2][side][a] = v[a];
            free[a][side] = LBM_BESIDE_FLUID;
        }
    }
    lbm_differences_beside_3_f64(v, (const double(*)[2][3])beside, walls, to);
    const double want[6] = {0, 4 * 0.5, 0, 0, 0, 3 * 0.5};
    for (int part = 0; part < 6; part++) {
        assert_true(fabs(to[6 + part] - want[part]) < 1e-15);
    }
    beside[1][0][0] = -0.25;
    beside[1][0][2] = -0.75;
    lbm_differences_beside_3_f64(v, (const double(*)[2][3])beside, (const int(*)[2])free, to);
    assert_true(fabs(to[6 + 5] - (0.75 * 2.25 + 0.25 * 0.75 - 2 * 0.25 * 0.75)) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_flux_beside_a_wall_is_that_of_a_parabola),
        cmocka_unit_test(test_strain_beside_a_wall_is_that_of_a_parabola),
        cmocka_unit_test(test_lattices_are_isotropic),
        cmocka_unit_test(test_opposites_and_mirrors_turn_directions),
        cmocka_unit_test(test_sums_are_those_of_the_directions),
        cmocka_unit_test(test_velocity_closures_impose_mass_and_momentum),
        cmocka_unit_test(test_the_regularized_closure_finds_a_regularized_cell),
        cmocka_unit_test(test_rounded_weights_neither_add_nor_take_mass),
        cmocka_unit_test(test_density_closure_imposes_density_and_sliding),
        cmocka_unit_test(test_outflow_closure_solves_its_equations),
        cmocka_unit_test(test_closures_keep_an_equilibrium),
        cmocka_unit_test(test_collisions_keep_mass_and_add_the_force),
        cmocka_unit_test(test_trt_with_equal_rates_is_bgk),
        cmocka_unit_test(test_single_precision_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
