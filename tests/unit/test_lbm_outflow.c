/* test_lbm_outflow.c -- what leaves through law.outflow is gone, and the pressure returns. */
#include "tests/unit/lbm_case.h"

enum { N = 64 };

static const double stream = 0.1, radius = 6, swirl = 0.02;

/* A vortex in a uniform stream. */
static void vortex(double x, double y, double t, const void *data, double value[2]) {
    double rx = (x - 0.6 * N) / radius, ry = (y - N / 2.0) / radius;
    double size = swirl * exp(0.5 * (1 - rx * rx - ry * ry));
    (void)t;
    (void)data;
    value[0] = stream - size * ry;
    value[1] = size * rx;
}

/* Largest |u - stream| over the swirl. */
static double disturbance(lbm_case *c) {
    double u[2 * N * N], largest = 0;
    case_read(c, LBM_VELOCITY, 2, u);
    for (int k = 0; k < N * N; k++) {
        assert_true(isfinite(u[2 * k]));
        largest = fmax(largest, hypot(u[2 * k] - stream, u[2 * k + 1]));
    }
    return largest / swirl;
}

static void test_vortices_leave(void **unused) {
    (void)unused;
    for (int collision = 0; collision < LBM_COLLISIONS; collision++) {
        lbm_case c;
        case_begin(&c, N, N, collision == LBM_BGK ? 0.6 : 0.52);
        c.params.collision = collision;
        c.params.common.periodic = 2;
        case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(stream, 0));
        case_region(&c, case_face(&c, SEL_X_MAX), &lbm_outflow_table, (sel_quantity){0});
        c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, vortex, NULL);
        case_start(&c);
        double before = disturbance(&c);
        case_advance(&c, 1000);
        double after = disturbance(&c);
        print_message("# vortex, %s: %.3f of the swirl before, %.4f after it left\n",
                      lbm_collision_names[collision], before, after);
        assert_true(before > 0.9 && after < 0.05);
        case_end(&c);
    }
}

/* A pulse of pressure that runs to the right, u = c drho. */
static void pulse(double x, double y, double t, const void *data, double value[2]) {
    (void)y;
    (void)t;
    (void)data;
    double r = (x - N / 2.0) / 5;
    value[0] = 1e-3 * exp(-r * r);
    value[1] = 0;
}

static void pulse_density(double x, double y, double t, const void *data, double value[2]) {
    pulse(x, y, t, data, value);
    value[0] = 1 + value[0] * sqrt(3);
}

static void test_sound_leaves(void **unused) {
    (void)unused;
    double reflected[2];
    for (int outflow = 0; outflow < 2; outflow++) {
        double u[2 * N * 2];
        lbm_case c;
        case_begin(&c, N, 2, 0.6);
        c.params.common.periodic = 2;
        case_wall(&c, case_face(&c, SEL_X_MIN));
        case_region(&c, case_face(&c, SEL_X_MAX),
                    outflow ? &lbm_outflow_table : &lbm_pressure_table,
                    outflow ? (sel_quantity){0} : sel_constant(0));
        c.params.initial.velocity = case_of(&c, SEL_ON_X, 2, pulse, NULL);
        c.params.initial.density = case_of(&c, SEL_ON_X, 1, pulse_density, NULL);
        case_start(&c);
        case_advance(&c, 90); /* the pulse left at 55; what it reflects is inside */
        case_read(&c, LBM_VELOCITY, 2, u);
        reflected[outflow] = 0;
        for (int k = 0; k < N; k++) {
            reflected[outflow] = fmax(reflected[outflow], fabs(u[2 * k]) / 1e-3);
        }
        case_end(&c);
    }
    print_message("# sound: %.3f of the pulse comes back from outflow, %.3f from pressure\n",
                  reflected[1], reflected[0]);
    assert_true(reflected[1] < 0.05 && reflected[0] > 0.6);
}

/* The slowest wave between a wall at x = 0 and an open face at x = L = *data. */
static void slowest(double x, double y, double t, const void *data, double value[2]) {
    (void)y;
    (void)t;
    value[0] = 1 + 1e-3 * cos(pi * x / (2 * *(const double *)data));
}

/* The amplitude of sound in the tube, root of its energy. The mean pressure, which returns slowly,
 * does not count. */
static double sound_of(lbm_case *c, int64_t length) {
    double *p = malloc(2 * (size_t)length * sizeof *p), *u = malloc(4 * (size_t)length * sizeof *u);
    double mean = 0, energy = 0;
    case_read(c, LBM_PRESSURE, 1, p);
    case_read(c, LBM_VELOCITY, 2, u);
    for (int64_t k = 0; k < length; k++) {
        mean += p[k] / (double)length;
    }
    for (int64_t k = 0; k < length; k++) {
        energy += 3 * (p[k] - mean) * (p[k] - mean) + u[2 * k] * u[2 * k];
    }
    free(p);
    free(u);
    return sqrt(energy);
}

/* What is left of it after its period 4 L / c_s, in which it meets the open face twice. */
static double slowest_after_a_period(int64_t length, double relaxation) {
    double L = (double)length - 0.5;
    lbm_case c;
    case_begin(&c, length, 2, 0.5003);
    c.params.common.periodic = 2;
    case_wall(&c, case_face(&c, SEL_X_MIN));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_outflow_table, (sel_quantity){0});
    c.laws[1].outflow.relaxation = relaxation;
    c.params.initial.density = case_of(&c, SEL_ON_X, 1, slowest, &L);
    case_start(&c);
    const double before = sound_of(&c, length);
    case_advance(&c, (int64_t)(4 * L * sqrt(3)));
    const double after = sound_of(&c, length);
    case_end(&c);
    return after / before;
}

static void test_the_slowest_wave_leaves_a_domain_of_any_length(void **unused) {
    (void)unused;
    for (int64_t length = 50; length <= 800; length *= 4) {
        const double left = slowest_after_a_period(length, (double)NAN);
        print_message("# %d cells: %.4f of the slowest wave are left\n", (int)length, left);
        assert_true(left < 0.06);
    }
    const double held = slowest_after_a_period(200, 0.02);
    print_message("# 200 cells, relaxation 0.02: %.3f\n", held);
    assert_true(held > 0.5);
}

static void inflow(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)t;
    (void)data;
    value[0] = 0.4 * 0.05 * y * (10 - y) / 10;
    value[1] = 0;
}

/* A channel settles, carries its flux, and its pressure stays near 0 at the outflow. */
static void test_channel_settles(void **unused) {
    (void)unused;
    enum { LONG = 30, HIGH = 10 };
    lbm_case c;
    case_begin(&c, LONG, HIGH, 0.8);
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table,
                case_of(&c, SEL_ON_Y, 2, inflow, NULL));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_outflow_table, (sel_quantity){0});
    case_start(&c);
    case_run_until_steady(&c, 1000, 1e-11);
    double u[2 * LONG * HIGH], p[LONG * HIGH], error = 0;
    case_read(&c, LBM_VELOCITY, 2, u);
    case_read(&c, LBM_PRESSURE, 1, p);
    for (int y = 0; y < HIGH; y++) {
        const double *inside = u + 2 * (y * LONG + LONG / 2), *last = u + 2 * (y * LONG + LONG - 1);
        error = fmax(error, fabs(last[0] - inside[0]) / 0.05);
    }
    double in = case_flux(&c, 3), out = case_flux(&c, 4);
    print_message("# channel to outflow: in %.8f, out %.8f, profile changes by %.1e, pressure at "
                  "the end %.1e of %.1e at the inlet\n",
                  in, out, error, p[5 * LONG - 1], p[4 * LONG]);
    assert_true(fabs(in + out) < 1e-7 && error < 0.02);
    assert_true(fabs(p[5 * LONG - 1]) < 0.1 * p[4 * LONG]);
    case_end(&c);
}

/* Corners of an outflow with other open faces keep a uniform stream, at rest or not. */
static void test_corners_keep_a_uniform_stream(void **unused) {
    (void)unused;
    const sel_table *const partners[] = {&lbm_velocity_table, &lbm_outflow_table};
    for (int k = 0; k < 2; k++) {
        enum { SIDE = 10 };
        double u[2 * SIDE * SIDE];
        lbm_case c;
        case_begin(&c, SIDE, SIDE, 0.7);
        c.params.initial.velocity = sel_constant2(0.05, 0.02);
        case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0.05, 0.02));
        for (int face = SEL_Y_MIN; face <= SEL_Y_MAX; face++) {
            case_region(&c, case_face(&c, face), &lbm_outflow_table, (sel_quantity){0});
        }
        case_region(&c, case_face(&c, SEL_X_MAX), partners[k],
                    k == 0 ? sel_constant2(0.05, 0.02) : (sel_quantity){0});
        case_start(&c);
        case_advance(&c, 2000);
        case_read(&c, LBM_VELOCITY, 2, u);
        for (int i = 0; i < SIDE * SIDE; i++) {
            assert_true(fabs(u[2 * i] - 0.05) < 1e-12 && fabs(u[2 * i + 1] - 0.02) < 1e-12);
        }
        case_end(&c);
    }
}

/* Along the outflow at x+: ever more in time, or from column to column. */
static void growing(double x, double y, double t, const void *data, double value[2]) {
    const bool *in_time = data;
    (void)y;
    value[0] = 0;
    value[1] = *in_time ? 1e-4 * t * t : 1e-3 * x;
}

/* What the velocity was before a step needs the acceleration of that step and place. At x+ the
 * tangential velocity convects; the corner takes over what is inwards of it. */
static void test_outflow_keeps_its_equation_under_an_acceleration(void **unused) {
    (void)unused;
    enum { SIDE = 8, MIDDLE = SIDE / 2, LAST = SIDE - 1 };
    for (int k = 0; k < 2; k++) {
        const bool in_time = k == 0;
        double u[2][SIDE][SIDE][2];
        lbm_case c;
        case_begin(&c, SIDE, SIDE, 0.7);
        c.params.initial.velocity = sel_constant2(0.05, 0.02);
        c.params.acceleration = case_of(&c, in_time ? SEL_ON_T : SEL_ON_X, 2, growing, &in_time);
        case_wall(&c, case_face(&c, SEL_Y_MIN));
        case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0.05, 0.02));
        case_region(&c, case_face(&c, SEL_X_MAX), &lbm_outflow_table, (sel_quantity){0});
        case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_outflow_table, (sel_quantity){0});
        case_start(&c);
        case_read(&c, LBM_VELOCITY, 2, &u[0][0][0][0]);
        for (int step = 0; step < 12; step++) {
            double(*now)[SIDE][2] = u[(step + 1) % 2], (*before)[SIDE][2] = u[step % 2];
            case_advance(&c, 1);
            case_read(&c, LBM_VELOCITY, 2, &now[0][0][0]);
            const double *here = before[MIDDLE][LAST], *inwards = before[MIDDLE][LAST - 1];
            const double convected = here[1] - here[0] * (here[1] - inwards[1]);
            assert_true(fabs(now[MIDDLE][LAST][1] - convected) < 1e-13);
            for (int a = 0; a < 2; a++) {
                assert_true(fabs(now[LAST][LAST][a] - before[LAST - 1][LAST - 1][a]) < 1e-13);
            }
        }
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vortices_leave),
        cmocka_unit_test(test_sound_leaves),
        cmocka_unit_test(test_the_slowest_wave_leaves_a_domain_of_any_length),
        cmocka_unit_test(test_channel_settles),
        cmocka_unit_test(test_corners_keep_a_uniform_stream),
        cmocka_unit_test(test_outflow_keeps_its_equation_under_an_acceleration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
