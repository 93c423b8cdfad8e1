/* test_lbm_parabolic.c -- straight walls with scheme "parabolic": exact on a parabola, tight, and
 * without friction of their own. */
#include "tests/unit/lbm_case.h"

static void make_parabolic(lbm_case *c) {
    for (int r = 0; r < c->params.common.regions.n; r++) {
        c->laws[r].wall.scheme = LBM_PARABOLIC;
    }
}

/* Flow along x between walls across the last axis, driven by an acceleration: its largest error
 * over its largest velocity. Half-way walls let it slip by (1/8 - (tau - 1/2)/3) u'', 0.4 per cent
 * of this flow at a small viscosity. */
static double channel_error(int dims, double tau, int collision) {
    enum { H = 16 };
    const double nu = (tau - 0.5) / 3, largest = 0.01, drive = 8 * nu * largest / (H * H);
    double u[3 * H], error = 0;
    lbm_case c;
    case_begin_size(&c, (sel_ints){dims, {1, dims == 2 ? H : 1, H}}, tau);
    c.params.common.periodic = dims == 2 ? 1 : 3;
    c.params.collision = collision;
    c.params.acceleration = dims == 2 ? sel_constant2(drive, 0) : sel_constant3(drive, 0, 0);
    case_walls(&c, 2 * (dims - 1), 2 * (dims - 1) + 1);
    make_parabolic(&c);
    case_start(&c);
    case_run_until_steady(&c, 2000, 1e-13);
    case_read(&c, LBM_VELOCITY, dims, u);
    for (int i = 0; i < H; i++) {
        const double y = i + 0.5;
        error = fmax(error, fabs(u[dims * i] - drive / (2 * nu) * y * (H - y)) / largest);
    }
    case_end(&c);
    return error;
}

static void test_a_parabola_is_exact_at_every_viscosity(void **unused) {
    (void)unused;
    const double taus[] = {0.52, 0.6, 0.8, 1.2}, limits[] = {1e-9, 1e-6, 1e-4};
    for (int k = 0; k < 4; k++) {
        for (int dims = 2; dims <= 3; dims++) {
            for (int collision = LBM_REGULARIZED; collision < LBM_COLLISIONS; collision++) {
                const double error = channel_error(dims, taus[k], collision);
                print_message("# %d-D, tau %.2f, %s: largest error %.1e\n", dims, taus[k],
                              lbm_collision_names[collision], error);
                assert_true(error < limits[collision - LBM_REGULARIZED]);
            }
        }
    }
}

/* Walls that slide past each other, with a linear profile between them. */
static void test_sliding_walls_drag_a_linear_profile(void **unused) {
    (void)unused;
    enum { H = 8 };
    for (int collision = LBM_REGULARIZED; collision < LBM_COLLISIONS; collision++) {
        double u[3 * H], error = 0;
        lbm_case c;
        case_begin_size(&c, (sel_ints){3, {1, H, 1}}, 0.6);
        c.params.common.periodic = 5;
        c.params.collision = collision;
        case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_wall_table, sel_constant3(-0.02, 0, 0.01));
        case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant3(0.03, 0, -0.02));
        make_parabolic(&c);
        case_start(&c);
        case_run_until_steady(&c, 500, 1e-14);
        case_read(&c, LBM_VELOCITY, 3, u);
        for (int i = 0; i < H; i++) {
            const double s = (i + 0.5) / H;
            error = fmax(error, fabs(u[3 * i] - (-0.02 + 0.05 * s)));
            error = fmax(error, fabs(u[3 * i + 1]));
            error = fmax(error, fabs(u[3 * i + 2] - (0.01 - 0.03 * s)));
        }
        print_message("# sliding walls, %s: largest error %.1e\n", lbm_collision_names[collision],
                      error);
        assert_true(error < 1e-8);
        case_end(&c);
    }
}

static double mass(lbm_case *c) {
    sel_request request = {
        .kind = SEL_REDUCE, .field = LBM_DENSITY, .box = sel_grid_box(&c->domain->grid)};
    case_request(c, &request);
    return request.sum[0];
}

/* A box with a lid and a block on its floor. */
static void begin_box(lbm_case *c, int dims, int storage) {
    const double min[3] = {4, 0, 3}, max[3] = {9, 4, 9};
    case_begin_size(c, (sel_ints){dims, {16, 13, dims == 3 ? 12 : 0}}, 0.53);
    c->params.collision = LBM_RECURSIVE;
    c->params.storage = storage;
    case_wall(c, case_faces(c));
    case_region(c, case_face(c, SEL_Y_MAX), &lbm_wall_table,
                dims == 3 ? sel_constant3(0.05, 0, 0.02) : sel_constant2(0.05, 0));
    case_wall(c, dims == 3 ? case_box3(c, min, max) : case_box(c, 4, 0, 9, 4));
    make_parabolic(c);
    case_start(c);
}

static void test_a_closed_box_keeps_its_mass(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        lbm_case c;
        begin_box(&c, dims, SEL_STORE_MOMENTS);
        const double before = mass(&c);
        case_advance(&c, 2000);
        assert_true(fabs(mass(&c) / before - 1) < 1e-13);
        case_end(&c);
    }
}

static void test_populations_and_moments_agree(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        static double u[2][3 * 16 * 13 * 12];
        const int cells = 16 * 13 * (dims == 3 ? 12 : 1);
        for (int k = 0; k < 2; k++) {
            lbm_case c;
            begin_box(&c, dims, k ? SEL_STORE_MOMENTS : SEL_STORE_POPULATIONS);
            case_advance(&c, 1000);
            case_read(&c, LBM_VELOCITY, dims, u[k]);
            case_end(&c);
        }
        for (int i = 0; i < dims * cells; i++) {
            assert_true(fabs(u[1][i] - u[0][i]) < 1e-12 * 0.05);
        }
    }
}

/* Rolls beside a wall across y, which at rest lose what viscosity takes: v = y^2 exp(-y^2 / s^2).
 */
enum { PERIOD = 18, HIGH = 22 };

static void roll(const double at[3], double t, const void *data, double value[3]) {
    const double k = 2 * pi / PERIOD, s = 3.5, y = at[1] / s, size = 1e-3 * exp(1 - y * y);
    (void)t, (void)data;
    value[0] = 0;
    value[1] = size * y * y * cos(k * at[2]);
    value[2] = -size * (2 * y - 2 * y * y * y) / s * sin(k * at[2]) / k;
}

/* The part of v^2 that is left after 450 steps. */
static double left_of_rolls(int collision, int scheme) {
    static double u[3 * HIGH * PERIOD];
    double sum[2] = {0};
    lbm_case c;
    case_begin_size(&c, (sel_ints){3, {1, HIGH, PERIOD}}, 0.5032);
    c.params.common.periodic = 5;
    c.params.collision = collision;
    c.params.initial.velocity = case_of_place(&c, SEL_ON_PLACE, 3, roll, NULL);
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    c.laws[0].wall.scheme = c.laws[1].wall.scheme = scheme;
    case_start(&c);
    for (int k = 0; k < 2; k++) {
        case_read(&c, LBM_VELOCITY, 3, u);
        for (int i = 0; i < HIGH * PERIOD; i++) {
            sum[k] += u[3 * i + 1] * u[3 * i + 1];
        }
        case_advance(&c, 450);
    }
    case_end(&c);
    return sum[1] / sum[0];
}

/* trt, whose half-way walls have no such friction, is within 2 per cent of the linear equations. */
static void test_rolls_beside_a_wall_lose_what_viscosity_takes(void **unused) {
    (void)unused;
    const double exact = left_of_rolls(LBM_TRT, LBM_HALFWAY);
    for (int collision = LBM_REGULARIZED; collision < LBM_COLLISIONS; collision++) {
        const double with = left_of_rolls(collision, LBM_PARABOLIC) / exact;
        const double without = left_of_rolls(collision, LBM_HALFWAY) / exact;
        print_message("# %s: %.3f of the energy with trt, %.3f with half-way walls\n",
                      lbm_collision_names[collision], with, without);
        assert_true(with > 0.86 && with < 1.02);
        assert_true(without < 0.82);
    }
}

/* An operator that keeps all populations takes them as half-way walls, and `check` says so. */
static void test_check_warns_of_operators_that_they_are_not_for(void **unused) {
    (void)unused;
    for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
        sel_error warnings = {.status = SEL_OK};
        lbm_case c;
        case_begin(&c, 8, 8, 0.8);
        c.params.common.periodic = 1;
        c.params.collision = collision;
        case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
        make_parabolic(&c);
        case_must_plan(&c);
        lbm_warn(c.plan, &warnings);
        const bool warned = warnings.status && strstr(warnings.text, "stay half-way: scheme");
        assert_int_equal(warned, collision < LBM_REGULARIZED);
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_warns_of_operators_that_they_are_not_for),
        cmocka_unit_test(test_a_parabola_is_exact_at_every_viscosity),
        cmocka_unit_test(test_sliding_walls_drag_a_linear_profile),
        cmocka_unit_test(test_a_closed_box_keeps_its_mass),
        cmocka_unit_test(test_populations_and_moments_agree),
        cmocka_unit_test(test_rolls_beside_a_wall_lose_what_viscosity_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
