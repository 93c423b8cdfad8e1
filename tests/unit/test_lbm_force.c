/* test_lbm_force.c -- forces, torques and fluxes of regions against momentum and mass balances. */
#include "tests/unit/lbm_case.h"

static const sel_shape *disc(lbm_case *c, double x, double y, double radius) {
    sel_shape_ball *ball = sel_arena_alloc(c->arena, sizeof *ball);
    *ball = (sel_shape_ball){{2, {x, y, 0}}, radius};
    return sel_shape_make(c->arena, SEL_SHAPE_BALL, ball);
}

static void test_still_fluid_presses_on_nothing(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 12, 10, 0.7);
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    case_wall(&c, disc(&c, 5, 4, 2));
    case_start(&c);
    for (int step = 0; step < 3; step++) {
        for (int region = 1; region <= 2; region++) {
            sel_request f = case_force(&c, region, 3, 3);
            assert_true(f.force[0] == 0 && f.force[1] == 0 && f.torque[2] == 0);
        }
        case_advance(&c, 1);
    }
    case_end(&c);
}

/* A driven channel around a cylinder: what the body force puts in, body and walls take out. */
static void test_momentum_balance_is_closed(void **unused) {
    (void)unused;
    const double dx = 0.5, dt = 0.25, density = 3, drive = 1e-5;
    for (int collision = LBM_TRT; lbm_collision_names[collision]; collision++) {
        lbm_case c;
        case_begin(&c, 40, 20, 0.8);
        c.params.common.dx = dx;
        c.params.common.dt = dt;
        c.params.density = density;
        c.params.common.periodic = 1;
        c.params.collision = collision;
        c.params.acceleration = sel_constant2(drive * dx / (dt * dt), 0);
        case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
        case_wall(&c, disc(&c, 12.3 * dx, 9.6 * dx, 4 * dx));
        case_start(&c);
        case_run_until_steady(&c, 1000, 1e-13);
        sel_request mass = {
            .kind = SEL_REDUCE, .field = LBM_DENSITY, .box = sel_grid_box(&c.domain->grid)};
        case_request(&c, &mass);
        double put_in = mass.sum[0] * dx * dx * drive * dx / (dt * dt), taken[2] = {0};
        for (int region = 1; region <= 3; region++) {
            sel_request f = case_force(&c, region, 0, 0);
            taken[0] += f.force[0];
            taken[1] += f.force[1];
            assert_true(f.force[0] > 0 && fabs(case_flux(&c, region)) < 1e-10);
        }
        print_message("# driven channel, %s: forces are %.10g of the body force\n",
                      lbm_collision_names[collision], taken[0] / put_in);
        assert_true(fabs(taken[0] / put_in - 1) < 1e-8);
        assert_true(fabs(taken[1] / put_in) < 1e-8);
        case_end(&c);
    }
}

typedef struct spin {
    double omega, x, y;
} spin;

static void turning(double x, double y, double t, const void *data, double value[2]) {
    const spin *s = data;
    (void)t;
    value[0] = -s->omega * (y - s->y);
    value[1] = s->omega * (x - s->x);
}

/* A cylinder that turns in a still one: the torque is 4 pi mu omega / (1/r1^2 - 1/r2^2). */
static void test_torque_of_circular_couette_flow(void **unused) {
    (void)unused;
    enum { N = 64 };
    const double inner = 12, outer = 28, density = 2, tau = 0.9;
    const spin s = {1e-3, N / 2.0, N / 2.0};
    lbm_case c;
    case_begin(&c, N, N, tau);
    c.params.density = density;
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    case_wall(&c, sel_shape_combine(c.arena, SEL_SHAPE_DIFFERENCE, case_box(&c, 0, 0, N, N),
                                    disc(&c, s.x, s.y, outer)));
    case_region(&c, disc(&c, s.x, s.y, inner), &lbm_wall_table,
                case_of(&c, SEL_ON_X | SEL_ON_Y, 2, turning, &s));
    case_start(&c);
    case_run_until_steady(&c, 500, 1e-9);
    double mu = density * (tau - 0.5) / 3;
    double exact = 4 * pi * mu * s.omega / (1 / (inner * inner) - 1 / (outer * outer));
    double on_inner = case_force(&c, 3, s.x, s.y).torque[2];
    double on_outer = case_force(&c, 2, s.x, s.y).torque[2];
    print_message("# circular Couette flow: torque %.5f and %.5f of the exact one\n",
                  -on_inner / exact, on_outer / exact);
    assert_true(fabs(-on_inner / exact - 1) < 0.03);
    assert_true(fabs(on_inner + on_outer) < 1e-4 * exact);
    /* no net force, so the torque is the same about any centre */
    assert_true(fabs(case_force(&c, 3, 3, -7).torque[2] / on_inner - 1) < 1e-6);
    case_end(&c);
}

/* What leaves by the regions in a step is what the mass inside loses in it. */
static void test_fluxes_are_the_loss_of_mass(void **unused) {
    (void)unused;
    const double dx = 0.5, dt = 0.1, density = 3;
    lbm_case c;
    case_begin(&c, 14, 9, 0.8);
    c.params.common.dx = dx;
    c.params.common.dt = dt;
    c.params.density = density;
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0.2, 0));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
    case_start(&c);
    for (int step = 0; step < 50; step++) {
        sel_request mass[2];
        for (int k = 0; k < 2; k++) {
            mass[k] = (sel_request){
                .kind = SEL_REDUCE, .field = LBM_DENSITY, .box = sel_grid_box(&c.domain->grid)};
            case_request(&c, &mass[k]);
            if (k == 0) {
                case_advance(&c, 1);
            }
        }
        double out = 0, loss = (mass[0].sum[0] - mass[1].sum[0]) * dx * dx / dt;
        for (int region = 1; region <= 4; region++) {
            out += case_flux(&c, region);
        }
        assert_true(fabs(out - loss) < 1e-10);
        assert_true(case_flux(&c, 3) < -0.1);
    }
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_still_fluid_presses_on_nothing),
        cmocka_unit_test(test_momentum_balance_is_closed),
        cmocka_unit_test(test_torque_of_circular_couette_flow),
        cmocka_unit_test(test_fluxes_are_the_loss_of_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
