/* test_lbm_wall.c -- fields of walls: normals, areas, shear stress, distances in wall units. */
#include "tests/unit/lbm_case.h"

static const sel_shape *ball(lbm_case *c, const double at[3], double radius) {
    sel_shape_ball *data = sel_arena_alloc(c->arena, sizeof *data);
    *data = (sel_shape_ball){{c->params.common.size.n, {at[0], at[1], at[2]}}, radius};
    return sel_shape_make(c->arena, SEL_SHAPE_BALL, data);
}

static void body(lbm_case *c, const sel_shape *shape, int scheme, sel_quantity velocity) {
    case_region(c, shape, &lbm_wall_table, velocity);
    c->laws[c->params.common.regions.n - 1].wall.scheme = scheme;
}

/* The fields of walls of a plane flow of up to 64^2 cells. */
enum { MOST = 64 * 64 };
typedef struct walls {
    double shear[2 * MOST], normal[2 * MOST], area[MOST], plus[MOST];
} walls;

static void read_walls(lbm_case *c, walls *to) {
    case_read(c, LBM_WALL_SHEAR, 2, to->shear);
    case_read(c, LBM_WALL_NORMAL, 2, to->normal);
    case_read(c, LBM_WALL_AREA, 1, to->area);
    case_read(c, LBM_Y_PLUS, 1, to->plus);
}

/* ---- where walls lie ---- */

/* The largest angle between the normal and that of a ball, rad, and its area over the exact one. */
static void check_ball(int dims, int scheme, double most, double off) {
    static double normal[3 * 32 * 32 * 32], area[32 * 32 * 32];
    const double centre[3] = {16.13, 15.61, dims == 3 ? 16.37 : 0.5}, radius = 10.3;
    const double exact = dims == 3 ? 4 * pi * radius * radius : 2 * pi * radius;
    double worst = 0, all = 0;
    lbm_case c;
    case_begin_size(&c, (sel_ints){dims, {32, 32, dims == 3 ? 32 : 0}}, 0.8);
    c.params.common.periodic = dims == 3 ? 7 : 3;
    body(&c, ball(&c, centre, radius), scheme, (sel_quantity){0});
    case_start(&c);
    case_read(&c, LBM_WALL_NORMAL, dims, normal);
    case_read(&c, LBM_WALL_AREA, 1, area);
    for (int64_t k = 0; k < sel_grid_cells(&c.domain->grid); k++) {
        int64_t at[3];
        double from[3] = {0}, along = 0, square = 0;
        sel_cell_at(&c.domain->grid, k, at);
        all += area[k];
        for (int a = 0; a < dims; a++) {
            from[a] = (double)at[a] + 0.5 - centre[a];
            along += from[a] * normal[k * dims + a];
            square += from[a] * from[a];
        }
        if (area[k] != 0) {
            worst = fmax(worst, acos(fmin(1, along / sqrt(square))));
        }
    }
    print_message("# ball, %d-D, scheme %d: normal off by %.3f rad, area %.4f\n", dims, scheme,
                  worst, all / exact);
    assert_true(worst < most && fabs(all / exact - 1) < off);
    case_end(&c);
}

static void test_normals_and_areas_are_those_of_a_ball(void **unused) {
    (void)unused;
    for (int dims = 2; dims <= 3; dims++) {
        check_ball(dims, LBM_INTERPOLATED, 0.08, dims == 2 ? 0.025 : 0.05);
        check_ball(dims, LBM_HALFWAY, 0.08, dims == 2 ? 0.025 : 0.05);
    }
}

/* Normals and areas of a ball whose centre is near the face of each axis, with its image beyond the
 * face, are those of a ball in the middle. A number of cells that is no power of two shows a sum
 * that was taken without sign. */
static void test_normals_and_areas_know_no_periodic_face(void **unused) {
    enum { N = 30, DIMS = 3 };
    static double normal[2][DIMS * N * N * N], area[2][N * N * N];
    (void)unused;
    for (int axis = 0; axis < DIMS; axis++) {
        for (int seam = 0; seam < 2; seam++) {
            double at[3] = {15.2, 15.2, 15.2}, beyond[3] = {15.2, 15.2, 15.2};
            at[axis] = seam ? 0.3 : 15.3;
            beyond[axis] = at[axis] + N;
            lbm_case c;
            case_begin_size(&c, (sel_ints){DIMS, {N, N, N}}, 0.8);
            c.params.common.periodic = 7;
            body(&c,
                 sel_shape_combine(c.arena, SEL_SHAPE_UNION, ball(&c, at, 4.3),
                                   ball(&c, beyond, 4.3)),
                 LBM_INTERPOLATED, (sel_quantity){0});
            case_start(&c);
            case_read(&c, LBM_WALL_NORMAL, DIMS, normal[seam]);
            case_read(&c, LBM_WALL_AREA, 1, area[seam]);
            for (int64_t k = 0; seam && k < sel_grid_cells(&c.domain->grid); k++) {
                int64_t to[3];
                sel_cell_at(&c.domain->grid, k, to);
                to[axis] = (to[axis] + N / 2) % N;
                const int64_t there = sel_cell_number(&c.domain->grid, to);
                assert_true(fabs(area[1][k] - area[0][there]) < 1e-9);
                for (int a = 0; a < DIMS; a++) {
                    assert_true(fabs(normal[1][DIMS * k + a] - normal[0][DIMS * there + a]) < 1e-9);
                }
            }
            case_end(&c);
        }
    }
}

/* ---- shear ---- */

/* Plane Poiseuille flow: the walls carry what drives the flow, half each. */
static void test_walls_of_a_channel_carry_what_drives_it(void **unused) {
    (void)unused;
    enum { L = 4, H = 16 };
    static walls w;
    for (int variant = 0; variant < 2 * LBM_COLLISIONS; variant++) {
        const bool interpolated = variant % 2;
        const int rows = interpolated ? H + 2 : H;
        const double drive = 1e-6, low = interpolated ? 1.2 : 0, high = interpolated ? H + 0.9 : H;
        const double exact = drive * (high - low) / 2, nu = 0.1;
        lbm_case c;
        case_begin(&c, L, rows, 0.8);
        c.params.collision = variant / 2;
        c.params.common.periodic = interpolated ? 3 : 1;
        c.params.acceleration = sel_constant2(drive, 0);
        if (interpolated) {
            body(&c, case_box(&c, 0, 0, L, low), LBM_INTERPOLATED, (sel_quantity){0});
            body(&c, case_box(&c, 0, high, L, rows), LBM_INTERPOLATED, (sel_quantity){0});
        } else {
            case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
        }
        case_start(&c);
        case_run_until_steady(&c, 500, 1e-12);
        read_walls(&c, &w);
        for (int y = 0; y < rows; y++) {
            const int first = interpolated, last = rows - 1 - interpolated, k = y * L + 1;
            if (y != first && y != last) {
                assert_true(w.shear[2 * k] == 0 && w.plus[k] == 0 && w.area[k] == 0);
                continue;
            }
            const double distance = y == first ? first + 0.5 - low : high - last - 0.5;
            const double plus = sqrt(exact) * distance / nu;
            print_message("# %s, %s: shear %.5f, y+ %.5f of the exact\n",
                          lbm_collision_names[variant / 2],
                          interpolated ? "interpolated" : "half-way", w.shear[2 * k] / exact,
                          w.plus[k] / plus);
            assert_true(fabs(w.shear[2 * k] / exact - 1) < 0.01);
            assert_true(fabs(w.shear[2 * k + 1]) < 1e-6 * exact);
            assert_true(fabs(w.plus[k] / plus - 1) < 0.01);
            assert_true(fabs(w.normal[2 * k + 1] - (y == first ? 1 : -1)) < 1e-6);
            assert_true(fabs(w.area[k] - 1) < 1e-5);
        }
        case_end(&c);
    }
}

/* Fluid at rest at the radius 24, turned at 16 with the speed 0.02: u = A r + B / r, and the shear
 * stress on both is 2 rho nu B / r^2. */
static void test_shear_on_cylinders_that_turn(void **unused) {
    (void)unused;
    enum { N = 54 };
    static const double radius[2] = {16, 24};
    static walls w;
    for (int collision = LBM_TRT; collision < LBM_COLLISIONS; collision++) {
        const case_turning inner = {N / 2.0 + 0.13, N / 2.0 + 0.37, 0.02 / radius[0]};
        const double at[3] = {inner.x, inner.y, 0};
        const double b = 0.02 / (1 / radius[0] - radius[0] / (radius[1] * radius[1]));
        double sum[2] = {0}, square[2] = {0}, area[2] = {0};
        lbm_case c;
        case_begin(&c, N, N, 0.8);
        c.params.common.periodic = 3;
        c.params.collision = collision;
        body(&c,
             sel_shape_combine(c.arena, SEL_SHAPE_DIFFERENCE, case_box(&c, 0, 0, N, N),
                               ball(&c, at, radius[1])),
             LBM_INTERPOLATED, (sel_quantity){0});
        body(&c, ball(&c, at, radius[0]), LBM_INTERPOLATED,
             case_of_place(&c, SEL_ON_PLACE, 2, case_turn, &inner));
        case_start(&c);
        case_run_until_steady(&c, 100, 1e-5);
        read_walls(&c, &w);
        for (int k = 0; k < N * N; k++) {
            const double x = k % N + 0.5 - inner.x, y = k / N + 0.5 - inner.y, r = hypot(x, y);
            const int outer = r > 20;
            const double exact = (outer ? 0.2 : -0.2) * b / (radius[outer] * radius[outer]);
            const double along = (w.shear[2 * k + 1] * x - w.shear[2 * k] * y) / r;
            sum[outer] += w.area[k] * (along / exact - 1);
            square[outer] += w.area[k] * pow(along / exact - 1, 2);
            area[outer] += w.area[k];
        }
        for (int k = 0; k < 2; k++) {
            const double mean = sum[k] / area[k], rms = sqrt(square[k] / area[k]);
            print_message("# %s, %s: mean error of the shear %.4f, rms %.4f; area %.4f\n",
                          lbm_collision_names[collision], k ? "outer" : "inner", mean, rms,
                          area[k] / (2 * pi * radius[k]));
        }
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(sum[k] / area[k]) < 0.025 && sqrt(square[k] / area[k]) < 0.03);
            assert_true(fabs(area[k] / (2 * pi * radius[k]) - 1) < 0.02);
        }
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normals_and_areas_are_those_of_a_ball),
        cmocka_unit_test(test_normals_and_areas_know_no_periodic_face),
        cmocka_unit_test(test_walls_of_a_channel_carry_what_drives_it),
        cmocka_unit_test(test_shear_on_cylinders_that_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
