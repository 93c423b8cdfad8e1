/* test_lbm_channel.c -- straight channels against their exact solutions. */
#include "tests/unit/lbm_case.h"

enum { H = 9, L = 4, NX = 24, NY = 10 };

/* Largest error of u_x(y) of the whole grid against `exact`, over its largest value. */
static double profile_error(lbm_case *c, double (*exact)(double y, const void *data),
                            const void *data) {
    int64_t nx = c->domain->grid.n[0], ny = c->domain->grid.n[1];
    double *u = malloc((size_t)(2 * nx * ny) * sizeof *u), error = 0, largest = 0;
    case_read(c, LBM_VELOCITY, 2, u);
    for (int64_t k = 0; k < nx * ny; k++) {
        double value = exact((double)(k / nx) + 0.5, data);
        error = fmax(error, fmax(fabs(u[2 * k] - value), fabs(u[2 * k + 1])));
        largest = fmax(largest, fabs(value));
    }
    free(u);
    return error / largest;
}

typedef struct flow {
    double force, nu, height, slip;
} flow;

static double parabola(double y, const void *data) {
    const flow *f = data;
    return f->force / (2 * f->nu) * y * (f->height - y) + f->slip;
}

/* A channel along x driven by an acceleration of 1e-5, steady. */
static void run_channel(lbm_case *c, double tau, int collision) {
    case_begin(c, L, H, tau);
    c->params.common.periodic = 1;
    c->params.collision = collision;
    c->params.acceleration = sel_constant2(1e-5, 0);
    case_walls(c, SEL_Y_MIN, SEL_Y_MAX);
    case_start(c);
    case_run_until_steady(c, 500, 1e-14);
}

static void test_trt_gives_the_parabola(void **unused) {
    (void)unused;
    const double taus[] = {0.6, 0.8, 1.5};
    for (int k = 0; k < 3; k++) {
        lbm_case c;
        run_channel(&c, taus[k], LBM_TRT);
        flow exact = {1e-5, (taus[k] - 0.5) / 3, H, 0};
        double error = profile_error(&c, parabola, &exact);
        print_message("# Poiseuille, TRT 3/16, tau %.1f: largest error %.2e\n", taus[k], error);
        assert_true(error < 1e-9);
        case_end(&c);
    }
}

static void test_bgk_slips_by_its_law(void **unused) {
    (void)unused;
    const double taus[] = {0.6, 0.8, 1.0, 1.5};
    for (int k = 0; k < 4; k++) {
        lbm_case c;
        run_channel(&c, taus[k], LBM_BGK);
        flow exact = {1e-5, (taus[k] - 0.5) / 3, H, 0};
        double lambda = (taus[k] - 0.5) * (taus[k] - 0.5), half = exact.force / (2 * exact.nu);
        double u[2 * H * L], slip = half * (16 * lambda - 3) / 12, measured;
        case_read(&c, LBM_VELOCITY, 2, u);
        measured = u[0] - parabola(0.5, &exact);
        print_message("# Poiseuille, BGK, tau %.1f: slip 2 nu/F %.6f, law %.6f\n", taus[k],
                      measured / half, slip / half);
        assert_true(fabs(measured / slip - 1) < 1e-6);
        exact.slip = slip;
        assert_true(profile_error(&c, parabola, &exact) < 1e-6);
        case_end(&c);
    }
}

static double straight(double y, const void *data) {
    const flow *f = data;
    return f->force * y / f->height;
}

/* Largest error of a driven channel of n cells, over its largest velocity of 0.05 * 9 / n. */
static double parabola_error(int n, int collision) {
    const flow f = {8 * 0.1 * 0.05 * 9 / n / (n * n), 0.1, n, 0};
    lbm_case c;
    case_begin(&c, L, n, 0.8);
    c.params.common.periodic = 1;
    c.params.collision = collision;
    c.params.acceleration = sel_constant2(f.force, 0);
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_start(&c);
    case_run_until_steady(&c, 500, 1e-13);
    double error = profile_error(&c, parabola, &f);
    case_end(&c);
    return error;
}

/* trt is exact. */
static void test_parabola_has_order_two(void **unused) {
    (void)unused;
    for (int collision = LBM_BGK; collision < LBM_COLLISIONS; collision++) {
        double coarse = parabola_error(9, collision), fine = parabola_error(18, collision);
        print_message("# Poiseuille, %s: error %.2e at 9 cells, %.2e at 18, order %.2f\n",
                      lbm_collision_names[collision], coarse, fine, log2(coarse / fine));
        assert_true(coarse / fine > 3.6 && fine < 0.01);
    }
}

/* Between "zou_he" walls the channel is H - 1 high and the parabola exact. */
static void test_zou_he_walls_lie_at_cell_centres(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, L, H, 0.7);
    c.params.common.periodic = 1;
    c.params.acceleration = sel_constant2(1e-5, 0);
    case_wet_wall(&c, SEL_Y_MIN, (sel_quantity){0});
    case_wet_wall(&c, SEL_Y_MAX, sel_constant2(0.01, 0));
    case_start(&c);
    case_run_until_steady(&c, 500, 1e-14);
    double u[2 * L * H], error = 0;
    case_read(&c, LBM_VELOCITY, 2, u);
    for (int k = 0; k < L * H; k++) {
        double s = k / L, nu = 0.2 / 3;
        double exact = 1e-5 / (2 * nu) * s * (H - 1 - s) + 0.01 * s / (H - 1);
        error = fmax(error, fmax(fabs(u[2 * k] - exact), fabs(u[2 * k + 1])));
    }
    print_message("# Poiseuille between zou_he walls: largest error %.2e\n", error);
    assert_true(error < 1e-11);
    case_end(&c);
}

/* Half a channel under a plane of symmetry is half of the whole channel, steady or not. */
static void test_slip_is_the_symmetric_half(void **unused) {
    (void)unused;
    enum { WIDE = 12, HIGH = 16 };
    for (int along_y = 0; along_y < 2; along_y++) {
        double u[2][2 * WIDE * HIGH];
        for (int half = 0; half < 2; half++) {
            int high = half ? HIGH / 2 : HIGH;
            lbm_case c;
            case_begin(&c, along_y ? high : WIDE, along_y ? WIDE : high, 0.7);
            c.params.common.periodic = along_y ? 2 : 1;
            c.params.acceleration = along_y ? sel_constant2(0, 1e-5) : sel_constant2(1e-5, 0);
            int low = along_y ? SEL_X_MIN : SEL_Y_MIN;
            case_wall(&c, case_face(&c, low));
            if (half) {
                case_region(&c, case_face(&c, low + 1), &lbm_slip_table, (sel_quantity){0});
            } else {
                case_wall(&c, case_face(&c, low + 1));
            }
            /* a block that touches the plane, and in the whole channel its image */
            double from = HIGH / 2 - 3, to = half ? HIGH / 2 : HIGH / 2 + 3;
            case_wall(&c, along_y ? case_box(&c, from, 4, to, 7) : case_box(&c, 4, from, 7, to));
            case_start(&c);
            case_advance(&c, 300);
            case_read(&c, LBM_VELOCITY, 2, u[half]);
            case_end(&c);
        }
        for (int a = 0; a < HIGH / 2; a++) {
            for (int b = 0; b < WIDE; b++) {
                int whole = along_y ? b * HIGH + a : a * WIDE + b;
                int half = along_y ? b * (HIGH / 2) + a : a * WIDE + b;
                assert_true(fabs(u[0][2 * whole] - u[1][2 * half]) < 1e-15);
                assert_true(fabs(u[0][2 * whole + 1] - u[1][2 * half + 1]) < 1e-15);
            }
        }
    }
}

/* The stress on the walls of a sheared fluid grows by the eddy viscosity C^2 S of its strain; other
 * parts of its stress, of order S^2, count a little. */
static void test_smagorinsky_adds_its_viscosity(void **unused) {
    (void)unused;
    const double constant = 4.5, lid = 0.005, rate = lid / H, nu = 0.01;
    for (int collision = 0; collision < LBM_COLLISIONS; collision++) {
        lbm_case c;
        case_begin(&c, L, H, 0.5 + 3 * nu);
        c.params.common.periodic = 1;
        c.params.collision = collision;
        c.params.smagorinsky = constant;
        case_wall(&c, case_face(&c, SEL_Y_MIN));
        case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(lid, 0));
        case_start(&c);
        case_run_until_steady(&c, 500, 1e-13);
        flow exact = {.force = lid, .height = H};
        assert_true(profile_error(&c, straight, &exact) < 1e-4);
        double expected = (nu + constant * constant * rate) * rate, stress[3 * L * H], s[L * H];
        sel_request force = {.kind = SEL_FORCE, .region = 1};
        case_request(&c, &force);
        case_read(&c, LBM_STRESS, 3, stress);
        case_read(&c, LBM_STRAIN_RATE, 1, s);
        print_message("# Smagorinsky, %s: wall stress %.9f of the expected\n",
                      lbm_collision_names[collision], force.force[0] / L / expected);
        assert_true(fabs(force.force[0] / L / expected - 1) < 1e-4);
        for (int k = 0; k < L * H; k++) {
            assert_true(fabs(stress[3 * k + 2] / expected - 1) < 1e-4);
            assert_true(fabs(s[k] / rate - 1) < 1e-3);
        }
        case_end(&c);
    }
}

static void test_couette_flow_is_a_straight_line(void **unused) {
    (void)unused;
    for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
        lbm_case c;
        case_begin(&c, L, H, 0.8);
        c.params.common.periodic = 1;
        c.params.collision = collision;
        case_wall(&c, case_face(&c, SEL_Y_MIN));
        case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(0.05, 0));
        case_start(&c);
        case_run_until_steady(&c, 500, 1e-14);
        flow exact = {.force = 0.05, .height = H};
        double error = profile_error(&c, straight, &exact);
        print_message("# Couette, %s: largest error %.2e\n", lbm_collision_names[collision], error);
        /* Normal stresses of second order in the strain: by differences there are none. */
        assert_true(error < (collision == LBM_HYBRID ? 1e-7 : 1e-9));
        case_end(&c);
    }
}

/* The user's units must cancel: the same flow in millimetres and milliseconds. */
static void test_units_scale_the_result(void **unused) {
    (void)unused;
    lbm_case c;
    const double dx = 1e-3, dt = 2e-3, rho = 1000;
    case_begin(&c, L, H, 0.8);
    c.params.common.dx = dx;
    c.params.common.dt = dt;
    c.params.common.periodic = 1;
    c.params.tau = nan("");
    c.params.nu = 0.1 * dx * dx / dt;
    c.params.density = rho;
    c.params.acceleration = sel_constant2(1e-5 * dx / (dt * dt), 0);
    c.params.initial.pressure = sel_constant(rho * dx * dx / (dt * dt) / 3 * 0.02);
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_start(&c);
    case_run_until_steady(&c, 500, 1e-14);
    double u[2 * L * H], p[L * H], density[L * H];
    case_read(&c, LBM_VELOCITY, 2, u);
    case_read(&c, LBM_PRESSURE, 1, p);
    case_read(&c, LBM_DENSITY, 1, density);
    flow exact = {1e-5, 0.1, H, 0};
    for (int k = 0; k < L * H; k++) {
        assert_true(fabs(u[2 * k] * dt / dx - parabola(k / L + 0.5, &exact)) < 1e-12);
        assert_true(fabs(p[k] / (rho * dx * dx / (dt * dt) / 3) - 0.02) < 1e-6);
        assert_true(fabs(density[k] / rho - 1.02) < 1e-6);
    }
    case_end(&c);
}

/* A channel from a velocity inlet with the exact parabola to a pressure outlet. */
static void inflow(double x, double y, double t, const void *data, double value[2]) {
    const flow *f = data;
    (void)x;
    (void)t;
    value[0] = parabola(y, f);
    value[1] = 0;
}

static void falling_pressure(double x, double y, double t, const void *data, double value[2]) {
    const flow *f = data;
    (void)y;
    (void)t;
    value[0] = f->force * (NX - 0.5 - x);
}

/* Starts close to the solution, because sound dies slowly between these two laws. 120,000 steps,
 * with a balance every 500. */
static void run_inlet_to_outlet(lbm_case *c, const flow *profile, sel_request *balance) {
    case_begin(c, NX, NY, 0.8);
    case_walls(c, SEL_Y_MIN, SEL_Y_MAX);
    case_region(c, case_face(c, SEL_X_MIN), &lbm_velocity_table,
                case_of(c, SEL_ON_Y, 2, inflow, profile));
    case_region(c, case_face(c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
    c->params.initial.velocity = case_of(c, SEL_ON_Y, 2, inflow, profile);
    c->params.initial.pressure = case_of(c, SEL_ON_X, 1, falling_pressure, profile);
    if (case_plan(c)) {
        fail_msg("%s", c->error.text);
    }
    c->plan->wants_balance = true;
    case_create(c);
    for (int block = 0; block < 240; block++) {
        case_advance(c, 500);
        case_request(c, balance);
    }
}

static void test_inlet_to_outlet_keeps_the_mass_flux(void **unused) {
    (void)unused;
    const flow profile = {0.05 * 8 * 0.1 / (NY * NY), 0.1, NY, 0};
    sel_term terms[SEL_MAX_TERMS];
    sel_request balance = {.kind = SEL_BALANCE, .terms = terms};
    lbm_case c;
    run_inlet_to_outlet(&c, &profile, &balance);
    double u[2 * NX * NY], rho[NX * NY], flux[NX] = {0};
    case_read(&c, LBM_VELOCITY, 2, u);
    case_read(&c, LBM_DENSITY, 1, rho);
    for (int k = 0; k < NX * NY; k++) {
        flux[k % NX] += rho[k] * u[2 * k];
    }
    double spread = 0;
    for (int x = 1; x < NX; x++) {
        spread = fmax(spread, fabs(flux[x] / flux[0] - 1));
    }
    print_message("# inlet to outlet: mass flux constant to %.2e\n", spread);
    assert_true(spread < 1e-8);

    assert_int_equal(balance.term_count, 6);
    assert_string_equal(terms[0].name, "mass");
    assert_string_equal(terms[2].name, "rate_region_3");
    assert_string_equal(terms[5].name, "error");
    print_message("# balance: in %.10g, out %.10g, flux %.10g, error %.2e\n", terms[2].value,
                  terms[4].value, flux[0], terms[5].value);
    assert_true(fabs(terms[2].value + terms[4].value) < 1e-8 * terms[4].value);
    assert_true(fabs(terms[5].value) < 1e-11 * terms[0].value);
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trt_gives_the_parabola),
        cmocka_unit_test(test_bgk_slips_by_its_law),
        cmocka_unit_test(test_couette_flow_is_a_straight_line),
        cmocka_unit_test(test_parabola_has_order_two),
        cmocka_unit_test(test_zou_he_walls_lie_at_cell_centres),
        cmocka_unit_test(test_slip_is_the_symmetric_half),
        cmocka_unit_test(test_smagorinsky_adds_its_viscosity),
        cmocka_unit_test(test_units_scale_the_result),
        cmocka_unit_test(test_inlet_to_outlet_keeps_the_mass_flux),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
