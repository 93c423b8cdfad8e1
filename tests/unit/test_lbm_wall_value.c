/* test_lbm_wall_value.c -- what the laws of sel.lbm fix on a face itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/solvers/lbm/lbm.h"

/* velocity = (3 x + t, 4 y + t) */
static sel_status turning(const sel_function *self, const sel_places *at, double *out,
                          sel_error *error) {
    (void)self, (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = 3 * at->x[i] + at->t;
        out[at->n + i] = 4 * at->y[i] + at->t;
    }
    return SEL_OK;
}

static const double x[] = {1, 2}, y[] = {1, 0.5};

/* Asks for `field` at two places of a face under `law`: out[2][components]. */
static bool known_on_face(const sel_table *law, void *data, int field, double out[4]) {
    sel_region region = {.law = {law, data, {NULL, 0}}};
    sel_domain domain = {.grid = {.dims = 2}, .regions = &region, .region_count = 1};
    sel_plan plan = {.domain = &domain};
    bool known[2];
    for (int k = 0; k < 2; k++) {
        const sel_places place = {1, &x[k], &y[k], NULL, 0, NULL, NULL};
        assert_int_equal(
            lbm_solver.wall_value(&plan, field, 1, NULL, &place, &known[k], out + 2 * k, NULL),
            SEL_OK);
    }
    assert_true(known[0] == known[1]);
    return known[0];
}

static void a_wall_fixes_its_velocity_and_speed_only(void **state) {
    (void)state;
    sel_function function = {
        .depends = SEL_ON_X | SEL_ON_Y | SEL_ON_T, .results = 2, .eval = turning};
    lbm_law_wall moving = {.velocity = sel_from_function(&function)}, fixed = {.velocity = {0}};
    double out[4];
    assert_true(known_on_face(&lbm_wall_table, &moving, LBM_VELOCITY, out));
    assert_true(out[0] == 3 && out[1] == 4 && out[2] == 6 && out[3] == 2);
    assert_true(known_on_face(&lbm_wall_table, &moving, LBM_SPEED, out));
    assert_true(out[0] == 5);
    assert_true(known_on_face(&lbm_wall_table, &fixed, LBM_VELOCITY, out));
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0 && out[3] == 0);
    assert_false(known_on_face(&lbm_wall_table, &moving, LBM_PRESSURE, out));
    assert_false(known_on_face(&lbm_wall_table, &moving, LBM_DENSITY, out));
}

static void in_space_velocity_has_three_components(void **state) {
    (void)state;
    lbm_law_wall moving = {.velocity = sel_constant3(1, 2, 2)};
    sel_region region = {.law = {&lbm_wall_table, &moving, {NULL, 0}}};
    sel_domain domain = {.grid = {.dims = 3}, .regions = &region, .region_count = 1};
    sel_plan plan = {.domain = &domain};
    const sel_places place = {1, x, y, y, 0, NULL, NULL};
    double out[3];
    bool known;
    lbm_solver.wall_value(&plan, LBM_VELOCITY, 1, NULL, &place, &known, out, NULL);
    assert_true(known && out[0] == 1 && out[1] == 2 && out[2] == 2);
    lbm_solver.wall_value(&plan, LBM_SPEED, 1, NULL, &place, &known, out, NULL);
    assert_true(known && out[0] == 3);
}

static void open_faces_fix_nothing_on_the_face(void **state) {
    (void)state;
    lbm_law_velocity inlet = {.velocity = sel_constant2(1, 0)};
    lbm_law_pressure outlet = {.pressure = sel_constant(0)};
    double out[4];
    assert_false(known_on_face(&lbm_velocity_table, &inlet, LBM_VELOCITY, out));
    assert_false(known_on_face(&lbm_pressure_table, &outlet, LBM_PRESSURE, out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wall_fixes_its_velocity_and_speed_only),
        cmocka_unit_test(in_space_velocity_has_three_components),
        cmocka_unit_test(open_faces_fix_nothing_on_the_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
