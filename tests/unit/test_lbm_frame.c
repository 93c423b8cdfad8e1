/* test_lbm_frame.c -- the force on walls that move is that of their own frame: Galilean invariance.
 */
#include "tests/unit/lbm_case.h"

enum { N = 12 };

static const double speed = 0.05;

static sel_quantity along_x(int dims, double u) {
    return dims == 3 ? sel_constant3(u, 0, 0) : sel_constant2(u, 0);
}

static void paint(lbm_case *c, double x0, double x1, int scheme) {
    const int dims = c->params.common.size.n;
    const double low = 3.3, high = 8.6, min[3] = {x0, low, low}, max[3] = {x1, high, high};
    case_region(c, dims == 3 ? case_box3(c, min, max) : case_box(c, x0, low, x1, high),
                &lbm_wall_table, along_x(dims, speed));
    c->laws[c->params.common.regions.n - 1].wall.scheme = scheme;
}

/* A body drifts with the fluid; its front and its back are two regions. In the frame of the grid
 * each has the flow of momentum through its faces as a force, rho u^2 times the area. */
static void test_a_body_that_drifts_with_the_fluid_feels_nothing(void **unused) {
    (void)unused;
    for (int variant = 0; variant < 4 * LBM_COLLISIONS; variant++) {
        const int dims = 2 + variant % 2, collision = variant / 4;
        const int64_t n = dims == 3 ? N : 0;
        double area = 1;
        for (int a = 1; a < dims; a++) {
            area *= 5;
        }
        lbm_case c;
        case_begin_size(&c, (sel_ints){dims, {N, N, n}}, 0.7);
        c.params.common.periodic = (1 << dims) - 1;
        c.params.collision = collision;
        c.params.initial.velocity = along_x(dims, speed);
        paint(&c, 3.3, 6, variant / 2 % 2 ? LBM_INTERPOLATED : LBM_HALFWAY);
        paint(&c, 6, 8.6, variant / 2 % 2 ? LBM_INTERPOLATED : LBM_HALFWAY);
        case_start(&c);
        for (int step = 0; step < 3; step++) {
            for (int region = 1; region <= 2; region++) {
                const sel_request f = case_force(&c, region, 1, 2);
                for (int a = 0; a < 3; a++) {
                    assert_true(fabs(f.force[a]) < 1e-12 * speed * speed * area);
                    assert_true(fabs(f.torque[a]) < 1e-11 * speed * speed * area);
                }
            }
            case_advance(&c, 1);
        }
        case_end(&c);
    }
}

static void faster(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)y;
    (void)data;
    value[0] = 2e-4 * t;
    value[1] = 0;
}

/* A channel between two pistons that push the fluid along, faster and faster: each carries half of
 * what accelerates the fluid between them. In the frame of the grid one would have the flow of
 * momentum rho u^2 more, and the other less. */
static void test_pistons_push_with_the_pressure_before_them(void **unused) {
    (void)unused;
    enum { LONG = 10, WIDE = 4, STEPS = 300 };
    const double all = -2e-4 * LONG * WIDE;
    double mean[2] = {0};
    lbm_case c;
    case_begin(&c, LONG, WIDE, 1);
    c.params.common.periodic = 2;
    for (int face = SEL_X_MIN; face <= SEL_X_MAX; face++) {
        case_region(&c, case_face(&c, face), &lbm_wall_table,
                    case_of(&c, SEL_ON_T, 2, faster, NULL));
    }
    case_start(&c);
    for (int step = 1; step <= STEPS; step++) {
        case_advance(&c, 1);
        if (step > STEPS - 100) {
            mean[0] += case_force(&c, 1, 0, 0).force[0] / 100;
            mean[1] += case_force(&c, 2, 0, 0).force[0] / 100;
        }
    }
    print_message("# parts of the force: %.4f, %.4f\n", mean[0] / all, mean[1] / all);
    assert_true(fabs(mean[0] / all - 0.5) < 0.015 && fabs(mean[1] / all - 0.5) < 0.015);
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_that_drifts_with_the_fluid_feels_nothing),
        cmocka_unit_test(test_pistons_push_with_the_pressure_before_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
