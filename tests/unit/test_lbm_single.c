/* test_lbm_single.c -- single precision: momentum stays, and an acceleration acts as given, however
 * small it is beside the velocity.
 */
#include "tests/unit/lbm_case.h"

static const int collisions[] = {LBM_TRT, LBM_BGK, LBM_REGULARIZED, LBM_RECURSIVE, LBM_HYBRID};
enum { COLLISIONS = sizeof collisions / sizeof *collisions, SIDE = 16 };

/* Vortices in a stream: in a uniform one round-off repeats itself, and may cancel. */
static void vortices(double x, double y, double t, const void *data, double value[2]) {
    const double k = 2 * pi / SIDE;
    (void)t;
    (void)data;
    value[0] = 0.1 + 0.02 * sin(k * x) * cos(k * y);
    value[1] = -0.02 * cos(k * x) * sin(k * y);
}

static void vortices_in_space(const double at[3], double t, const void *data, double value[3]) {
    vortices(at[0], at[1], t, data, value);
    value[2] = 0.01;
}

static double mean_momentum(lbm_case *c) {
    const int64_t cells = sel_grid_cells(&c->domain->grid);
    const int dims = c->domain->grid.dims;
    double *u = malloc((size_t)(cells * (dims + 1)) * sizeof *u), *rho = u + dims * cells, sum = 0;
    case_read(c, LBM_VELOCITY, dims, u);
    case_read(c, LBM_DENSITY, 1, rho);
    for (int64_t k = 0; k < cells; k++) {
        sum += rho[k] * u[dims * k];
    }
    free(u);
    return sum / (double)cells;
}

/* By how much the mean momentum grows in a step under an acceleration. */
static double growth(int collision, int storage, bool deep, double acceleration) {
    enum { STEPS = 2000 };
    lbm_case c;
    case_begin_size(&c, (sel_ints){deep ? 3 : 2, {SIDE, SIDE, deep ? 4 : 0}}, 0.52);
    c.params.collision = collision;
    c.params.storage = storage;
    c.params.common.precision = SEL_F32;
    c.params.common.periodic = deep ? 7 : 3;
    c.params.acceleration =
        deep ? sel_constant3(acceleration, 0, 0) : sel_constant2(acceleration, 0);
    c.params.initial.velocity =
        deep ? case_of_place(&c, SEL_ON_X | SEL_ON_Y, 3, vortices_in_space, NULL)
             : case_of(&c, SEL_ON_X | SEL_ON_Y, 2, vortices, NULL);
    case_start(&c);
    const double before = mean_momentum(&c);
    case_advance(&c, STEPS);
    const double after = mean_momentum(&c);
    case_end(&c);
    return (after - before) / STEPS;
}

/* Fails unless the momentum grows by the acceleration to within `part` of it. */
static void acts_as_given(int collision, int storage, bool deep, double acceleration, double part) {
    const double grown = growth(collision, storage, deep, acceleration);
    print_message("# %s, %s, %dD: an acceleration of %g acts as %.4f of it\n",
                  lbm_collision_names[collision], sel_storage_names[storage], deep ? 3 : 2,
                  acceleration, grown / acceleration);
    assert_true(fabs(grown - acceleration) < part * acceleration);
}

static void test_a_small_acceleration_acts_as_given(void **unused) {
    (void)unused;
    for (int k = 0; k < 2 * COLLISIONS; k++) {
        const int collision = collisions[k % COLLISIONS];
        const bool deep = k >= COLLISIONS;
        const double part = 0.002;
        acts_as_given(collision, SEL_STORE_AUTO, deep, 2.5e-7, part);
        if (collision == LBM_REGULARIZED || collision == LBM_RECURSIVE) {
            acts_as_given(collision, SEL_STORE_POPULATIONS, deep, 2.5e-7, part);
            acts_as_given(collision, SEL_STORE_AUTO, deep, 3e-8, 10 * part);
        }
    }
}

static void test_momentum_stays(void **unused) {
    (void)unused;
    for (int k = 0; k < 2 * COLLISIONS; k++) {
        const int collision = collisions[k % COLLISIONS];
        const double grown = growth(collision, SEL_STORE_AUTO, k >= COLLISIONS, 0);
        print_message("# %s, %dD: momentum grows by %.1e of itself in a step\n",
                      lbm_collision_names[collision], k >= COLLISIONS ? 3 : 2, grown / 0.1);
        assert_true(fabs(grown / 0.1) < 2e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_small_acceleration_acts_as_given),
        cmocka_unit_test(test_momentum_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
