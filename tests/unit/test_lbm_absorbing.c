/* test_lbm_absorbing.c -- law.pressure and law.velocity with absorbing = true, law.far_field: sound
 * and vortices leave, what is given is held.
 */
#include "tests/unit/lbm_case.h"

static const double c_s = 0.57735026918962576;

/* Operators and what they store. */
typedef struct kind {
    int collision, storage;
    double tau;
} kind;
static const kind kinds[] = {
    {LBM_TRT, SEL_STORE_POPULATIONS, 0.51},     {LBM_BGK, SEL_STORE_POPULATIONS, 0.6},
    {LBM_REGULARIZED, SEL_STORE_MOMENTS, 0.55}, {LBM_RECURSIVE, SEL_STORE_POPULATIONS, 0.51},
    {LBM_RECURSIVE, SEL_STORE_MOMENTS, 0.51},   {LBM_HYBRID, SEL_STORE_MOMENTS, 0.51}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void use(lbm_case *c, const kind *k) {
    c->params.collision = k->collision;
    c->params.storage = k->storage;
}

/* A face that absorbs: law.pressure, law.velocity, or law.far_field. */
static void absorbing(lbm_case *c, int face, const sel_table *law, sel_quantity wanted) {
    case_region(c, case_face(c, face), law, wanted);
    const int k = c->params.common.regions.n - 1;
    if (law == &lbm_pressure_table) {
        c->laws[k].pressure.absorbing = true;
    } else if (law == &lbm_velocity_table) {
        c->laws[k].velocity.absorbing = true;
    }
}

/* The waves that run to the right and to the left at each place of a tube: u + c drho, and u - c
 * drho. */
static void waves(lbm_case *c, int64_t length, double stream, double *right, double *left) {
    double *rho = malloc(2 * (size_t)length * sizeof *rho);
    double *u = malloc(4 * (size_t)length * sizeof *u);
    case_read(c, LBM_DENSITY, 1, rho);
    case_read(c, LBM_VELOCITY, 2, u);
    for (int64_t k = 0; k < length; k++) {
        right[k] = u[2 * k] - stream + c_s * (rho[k] - 1);
        left[k] = u[2 * k] - stream - c_s * (rho[k] - 1);
    }
    free(rho);
    free(u);
}

static double largest(const double *v, int64_t n) {
    double most = 0;
    for (int64_t k = 0; k < n; k++) {
        most = fmax(most, fabs(v[k]));
    }
    return most;
}

/* ---- pulses ---- */

typedef struct tube {
    double length;
    int sign;      /* the wave runs to x+ (1) or x- */
    double stream; /* velocity of the fluid */
} tube;

static void pulse_velocity(double x, double y, double t, const void *data, double value[2]) {
    const tube *of = data;
    const double r = (x - of->length / 2) / 10;
    (void)y;
    (void)t;
    value[0] = of->stream + of->sign * 1e-3 * c_s * exp(-r * r);
    value[1] = 0;
}

static void pulse_density(double x, double y, double t, const void *data, double value[2]) {
    pulse_velocity(x, y, t, data, value);
    value[0] = 1 + fabs(value[0] - ((const tube *)data)->stream) / c_s;
}

/* The largest wave that comes back of a pulse of density, over the pulse. */
static double pulse_returned(int64_t length, int sign, double stream, const kind *k) {
    const tube of = {(double)length, sign, stream};
    lbm_case c;
    case_begin(&c, length, 2, k->tau);
    use(&c, k);
    c.params.common.periodic = 2;
    absorbing(&c, SEL_X_MIN, &lbm_velocity_table, sel_constant2(stream, 0));
    absorbing(&c, SEL_X_MAX, &lbm_pressure_table, sel_constant(0));
    c.params.initial.velocity = case_of(&c, SEL_ON_X, 2, pulse_velocity, &of);
    c.params.initial.density = case_of(&c, SEL_ON_X, 1, pulse_density, &of);
    case_start(&c);
    double *right = malloc(2 * (size_t)length * sizeof *right), *left = right + length, most = 0;
    waves(&c, length, stream, right, left);
    const double before = largest(sign > 0 ? right : left, length);
    case_advance(&c, (int64_t)(0.6 * (double)length / c_s));
    for (int part = 0; part < 8; part++) {
        waves(&c, length, stream, right, left);
        most = fmax(most, largest(sign > 0 ? left : right, length));
        case_advance(&c, (int64_t)(0.1 * (double)length / c_s));
    }
    free(right);
    case_end(&c);
    return most / before;
}

static void test_a_pulse_leaves(void **unused) {
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        for (int64_t length = 50; length <= 200; length *= 4) {
            const double outlet = pulse_returned(length, 1, 0, &kinds[k]);
            const double inlet = pulse_returned(length, -1, 0, &kinds[k]);
            const double stream = pulse_returned(length, 1, 0.05, &kinds[k]);
            print_message("# %s, tau %g, %d cells: %.4f of a pulse comes back from the outlet, "
                          "%.4f in a stream of 0.05, %.4f from the inlet\n",
                          lbm_collision_names[kinds[k].collision], kinds[k].tau, (int)length,
                          outlet, stream, inlet);
            const double most = length == 50 ? 0.06 : 0.02;
            assert_true(outlet < most && stream < most && inlet < most);
        }
    }
}

/* ---- harmonic waves ---- */

static void source(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)y;
    value[0] = 1e-4 * sin(pi * c_s / (2 * *(const double *)data) * t);
    value[1] = 0;
}

/* What comes back of a wave of the period 4 L / c_s, from a source at the other end. */
static double wave_returned(int64_t length, bool inlet, const kind *k) {
    const double L = (double)length;
    lbm_case c;
    case_begin(&c, length, 2, k->tau);
    use(&c, k);
    c.params.common.periodic = 2;
    case_region(&c, case_face(&c, inlet ? SEL_X_MAX : SEL_X_MIN), &lbm_velocity_table,
                case_of(&c, SEL_ON_T, 2, source, &L));
    if (inlet) {
        absorbing(&c, SEL_X_MIN, &lbm_velocity_table, sel_constant2(0, 0));
    } else {
        absorbing(&c, SEL_X_MAX, &lbm_pressure_table, sel_constant(0));
    }
    case_start(&c);
    enum { SAMPLES = 64 };
    const int64_t block = (int64_t)(4 * L / c_s / SAMPLES);
    double *right = malloc(2 * (size_t)length * sizeof *right), *left = right + length;
    double sums[2][3] = {{0}};
    case_advance(&c, 4 * SAMPLES * block);
    for (int s = 0; s < SAMPLES; s++) {
        case_advance(&c, block);
        waves(&c, length, 0, right, left);
        const double phase = 2 * pi * s / SAMPLES;
        const double value[2] = {right[length / 2], left[length / 2]};
        for (int w = 0; w < 2; w++) {
            sums[w][0] += value[w] * cos(phase);
            sums[w][1] += value[w] * sin(phase);
        }
    }
    free(right);
    case_end(&c);
    const double to_right = hypot(sums[0][0], sums[0][1]);
    const double to_left = hypot(sums[1][0], sums[1][1]);
    return inlet ? to_right / to_left : to_left / to_right;
}

static void test_a_long_wave_leaves(void **unused) {
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        for (int64_t length = 50; length <= 200; length *= 4) {
            const double outlet = wave_returned(length, false, &kinds[k]);
            const double inlet = wave_returned(length, true, &kinds[k]);
            print_message("# %s, tau %g, %d cells: %.4f of the slowest wave comes back from the "
                          "outlet, %.4f from the inlet\n",
                          lbm_collision_names[kinds[k].collision], kinds[k].tau, (int)length,
                          outlet, inlet);
            assert_true(outlet < 0.1 && inlet < 0.1);
        }
    }
}

/* ---- what is given is held ---- */

/* What is left of a pressure after so many periods 4 L / c_s. */
static double pressure_left(bool absorbs, double periods, const kind *k) {
    enum { LENGTH = 60 };
    double p[LENGTH * 2], sum = 0;
    lbm_case c;
    case_begin(&c, LENGTH, 2, k->tau);
    use(&c, k);
    c.params.common.periodic = 2;
    if (absorbs) {
        absorbing(&c, SEL_X_MIN, &lbm_velocity_table, sel_constant2(0.02, 0));
    } else {
        case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0.02, 0));
    }
    absorbing(&c, SEL_X_MAX, &lbm_pressure_table, sel_constant(0));
    c.params.initial.density = sel_constant(1.001);
    c.params.initial.velocity = sel_constant2(0.02, 0);
    case_start(&c);
    case_advance(&c, (int64_t)(periods * 4 * LENGTH / c_s));
    case_read(&c, LBM_DENSITY, 1, p);
    for (int i = 0; i < LENGTH * 2; i++) {
        sum += (p[i] - 1) / (LENGTH * 2);
    }
    case_end(&c);
    return fabs(sum) / 1e-3;
}

static void test_the_mean_pressure_returns(void **unused) {
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        const double fixed = pressure_left(false, 4, &kinds[k]);
        const double both = pressure_left(true, 12, &kinds[k]);
        print_message("# %s, tau %g: %.4f of a pressure is left after 4 periods behind a fixed "
                      "inlet, %.4f after 12 with an absorbing one\n",
                      lbm_collision_names[kinds[k].collision], kinds[k].tau, fixed, both);
        assert_true(fixed < 0.01 && both < 0.01);
    }
}

enum { LONG = 48, HIGH = 12 };
static const double mean = 0.04;

static void profile(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)t;
    (void)data;
    value[0] = 6 * mean * y * (HIGH - y) / (HIGH * HIGH);
    value[1] = 0;
}

/* A channel, in which the pressure falls by more than 1e-3 of the density. */
static void test_an_inlet_holds_its_velocity(void **unused) {
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        lbm_case c;
        case_begin(&c, LONG, HIGH, 0.6);
        use(&c, &kinds[k]);
        case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
        absorbing(&c, SEL_X_MIN, &lbm_velocity_table, case_of(&c, SEL_ON_Y, 2, profile, NULL));
        absorbing(&c, SEL_X_MAX, &lbm_pressure_table, sel_constant(0));
        c.params.initial.velocity = case_of(&c, SEL_ON_Y, 2, profile, NULL);
        case_start(&c);
        case_advance(&c, 12000);
        double u[2 * LONG * HIGH], rho[LONG * HIGH], in = 0, wanted = 0, out = 0;
        case_read(&c, LBM_VELOCITY, 2, u);
        case_read(&c, LBM_DENSITY, 1, rho);
        for (int y = 0; y < HIGH; y++) {
            double given[2];
            profile(0, y + 0.5, 0, NULL, given);
            wanted += given[0] / HIGH;
            in += u[2 * y * LONG] / HIGH;
            out += (rho[y * LONG + LONG - 1] - 1) / HIGH;
        }
        const double drop = rho[HIGH / 2 * LONG] - rho[HIGH / 2 * LONG + LONG - 1];
        print_message("# %s: mean velocity at the inlet off by %.2e of %.2e, drop of density "
                      "%.2e, at the outlet %.1e\n",
                      lbm_collision_names[kinds[k].collision], in / wanted - 1, wanted, drop, out);
        assert_true(fabs(in / wanted - 1) < 1e-3 && drop > 1e-3 && fabs(out) < 0.02 * drop);
        case_end(&c);
    }
}

/* ---- vortices, corners ---- */

enum { SIDE = 48 };
typedef struct swirling {
    double u[2], centre[2];
} swirling;

static void vortex(double x, double y, double t, const void *data, double value[2]) {
    const swirling *of = data;
    const double rx = (x - of->centre[0]) / 5, ry = (y - of->centre[1]) / 5;
    const double size = 0.01 * exp(0.5 * (1 - rx * rx - ry * ry));
    (void)t;
    value[0] = of->u[0] - size * ry;
    value[1] = of->u[1] + size * rx;
}

/* Largest |u - stream| and deviation of the density. */
static void disturbance(lbm_case *c, const double stream[2], double found[2]) {
    static double u[2 * SIDE * SIDE], rho[SIDE * SIDE];
    case_read(c, LBM_VELOCITY, 2, u);
    case_read(c, LBM_DENSITY, 1, rho);
    found[0] = found[1] = 0;
    for (int k = 0; k < SIDE * SIDE; k++) {
        assert_true(isfinite(u[2 * k]));
        found[0] = fmax(found[0], hypot(u[2 * k] - stream[0], u[2 * k + 1] - stream[1]) / 0.01);
        found[1] = fmax(found[1], fabs(rho[k] - 1));
    }
}

/* A vortex in a stream leaves through an outlet, or through a corner of far fields; on its way the
 * density changes no more than by its own pressure and some of its u / c. */
static void vortex_leaves(const kind *k, bool corner) {
    const swirling of = {{0.1, corner ? 0.1 : 0}, {30, corner ? 30 : SIDE / 2.0}};
    double now[2], most = 0;
    lbm_case c;
    case_begin(&c, SIDE, SIDE, k->tau);
    use(&c, k);
    if (corner) {
        for (int face = SEL_X_MIN; face <= SEL_Y_MAX; face++) {
            absorbing(&c, face, &lbm_far_field_table, sel_constant2(of.u[0], of.u[1]));
        }
    } else {
        c.params.common.periodic = 2;
        absorbing(&c, SEL_X_MIN, &lbm_velocity_table, sel_constant2(of.u[0], 0));
        absorbing(&c, SEL_X_MAX, &lbm_pressure_table, sel_constant(0));
    }
    c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, vortex, &of);
    case_start(&c);
    for (int part = 0; part < 20; part++) {
        case_advance(&c, 40);
        disturbance(&c, of.u, now);
        most = part > 1 ? fmax(most, now[1]) : most;
    }
    print_message("# %s, vortex through %s: %.4f of the swirl is left, density by %.2e on the "
                  "way, %.2e after it\n",
                  lbm_collision_names[k->collision], corner ? "a corner" : "the outlet", now[0],
                  most, now[1]);
    assert_true(now[0] < 0.05);
    case_end(&c);
}

static void test_vortices_leave(void **unused) {
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        vortex_leaves(&kinds[k], false);
        vortex_leaves(&kinds[k], true);
    }
}

/* ---- faces that meet ---- */

/* Far fields all around, in which also walls and other openings end, keep a uniform stream. */
static void test_far_fields_keep_a_uniform_stream(void **unused) {
    (void)unused;
    enum { N = 8 };
    static const double stream[3] = {0.05, 0.02, -0.03};
    for (int d = 2; d <= 3; d++) {
        for (int k = 0; k < 2 * KINDS; k++) {
            double u[N * N * N * 3];
            lbm_case c;
            case_begin_size(&c, (sel_ints){d, {N, N, d == 3 ? N : 0}}, 0.7);
            use(&c, &kinds[k / 2]);
            const sel_quantity velocity = d == 3 ? sel_constant3(stream[0], stream[1], stream[2])
                                                 : sel_constant2(stream[0], stream[1]);
            for (int face = SEL_X_MIN; face < 2 * d; face++) {
                absorbing(&c, face, &lbm_far_field_table, velocity);
            }
            if (k % 2) {
                absorbing(&c, SEL_X_MIN, &lbm_velocity_table, velocity);
                absorbing(&c, SEL_X_MAX, &lbm_pressure_table, sel_constant(0));
            }
            c.params.initial.velocity = velocity;
            case_start(&c);
            case_advance(&c, 300);
            case_read(&c, LBM_VELOCITY, d, u);
            const int cells = d == 3 ? N * N * N : N * N;
            for (int i = 0; i < cells * d; i++) {
                assert_true(fabs(u[i] - stream[i % d]) < 1e-12);
            }
            case_end(&c);
        }
    }
}

static void ball_of_sound(const double at[3], double t, const void *data, double value[3]) {
    double square = 0;
    (void)t;
    (void)data;
    for (int a = 0; a < 3; a++) {
        square += (at[a] - 10) * (at[a] - 10) / 16;
    }
    value[0] = 1 + 1e-3 * exp(-square);
}

/* Sound leaves a cube of far fields through faces, edges and corners. */
static void test_sound_leaves_a_cube(void **unused) {
    (void)unused;
    enum { N = 20 };
    for (int k = 0; k < KINDS; k++) {
        static double rho[N * N * N];
        double most = 0;
        lbm_case c;
        case_begin3(&c, N, N, N, kinds[k].tau);
        use(&c, &kinds[k]);
        for (int face = SEL_X_MIN; face <= SEL_Z_MAX; face++) {
            absorbing(&c, face, &lbm_far_field_table, sel_constant3(0.02, 0, 0));
        }
        c.params.initial.velocity = sel_constant3(0.02, 0, 0);
        c.params.initial.density =
            case_of_place(&c, SEL_ON_X | SEL_ON_Y | SEL_ON_Z, 1, ball_of_sound, NULL);
        case_start(&c);
        case_advance(&c, 60);
        case_read(&c, LBM_DENSITY, 1, rho);
        for (int i = 0; i < N * N * N; i++) {
            most = fmax(most, fabs(rho[i] - 1) / 1e-3);
        }
        print_message("# %s: %.4f of a ball of sound is left in a cube\n",
                      lbm_collision_names[kinds[k].collision], most);
        assert_true(most < 0.06);
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pulse_leaves),
        cmocka_unit_test(test_a_long_wave_leaves),
        cmocka_unit_test(test_the_mean_pressure_returns),
        cmocka_unit_test(test_an_inlet_holds_its_velocity),
        cmocka_unit_test(test_vortices_leave),
        cmocka_unit_test(test_far_fields_keep_a_uniform_stream),
        cmocka_unit_test(test_sound_leaves_a_cube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
