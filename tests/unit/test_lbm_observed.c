/* test_lbm_observed.c -- what only observed steps show: strain, and what links carry. */
#include "tests/unit/lbm_case.h"

enum { NX = 9, NY = 7, CELLS = NX * NY };

/* A lid-driven cavity. */
static void begin(lbm_case *c) {
    case_begin(c, NX, NY, 0.7);
    case_region(c, case_faces(c), &lbm_wall_table, (sel_quantity){0});
    case_region(c, case_face(c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(0.05, 0));
    case_start(c);
}

static void advance(lbm_case *c, int64_t steps, bool observed) {
    assert_int_equal(sel_cpu_backend.advance(c->state, steps, observed, &c->error), SEL_OK);
}

/* What is seen of a state. */
typedef struct view {
    double strain[CELLS], stress[3 * CELLS], force[3], flux;
} view;

static void look(lbm_case *c, view *seen) {
    sel_request force = {.kind = SEL_FORCE, .region = 2}, flux = {.kind = SEL_FLUX, .region = 2};
    case_read(c, LBM_STRAIN_RATE, 1, seen->strain);
    case_read(c, LBM_STRESS, 3, seen->stress);
    case_request(c, &force);
    case_request(c, &flux);
    assert_false(force.unobserved || flux.unobserved);
    memcpy(seen->force, force.force, sizeof seen->force);
    seen->flux = flux.flux;
}

static void test_a_step_shows_the_same_whether_those_before_were_observed_or_not(void **unused) {
    (void)unused;
    static view each, last;
    for (int64_t steps = 1; steps < 6; steps++) {
        lbm_case c, d;
        begin(&c);
        begin(&d);
        for (int64_t k = 0; k < steps; k++) {
            advance(&c, 1, true);
        }
        advance(&d, steps, true);
        look(&c, &each);
        look(&d, &last);
        assert_memory_equal(&each, &last, sizeof each);
        assert_true(last.force[0] != 0 && last.strain[CELLS - NX / 2] != 0);
        case_end(&c);
        case_end(&d);
    }
}

static void test_a_step_that_was_not_observed_shows_only_its_state(void **unused) {
    (void)unused;
    lbm_case c;
    begin(&c);
    double values[2 * CELLS];
    sel_request force = {.kind = SEL_FORCE, .region = 2};
    sel_request strain = {.field = LBM_STRAIN_RATE,
                          .box = sel_grid_box(&c.domain->grid),
                          .precision = SEL_F64,
                          .components = 1,
                          .to = values};
    sel_request velocity = strain;
    velocity.field = LBM_VELOCITY;
    velocity.components = 2;
    case_request(&c, &force); /* step 0 is observed */
    assert_false(force.unobserved);
    advance(&c, 3, false);
    case_request(&c, &force);
    case_request(&c, &strain);
    case_request(&c, &velocity);
    assert_true(force.unobserved && strain.unobserved && !velocity.unobserved);
    case_end(&c);
}

/* Periodic rows of several cache lines, a wall beside them; they are computed line by line only
 * where strain is wanted. */
static void test_an_observed_step_makes_the_same_state_as_one_that_is_not(void **unused) {
    (void)unused;
    enum { LONG = 71, SHORT = 6 };
    static double found[2][LBM_MAX_Q * 8 * (LONG + 32)];
    for (int precision = 0; precision < 2; precision++) {
        size_t bytes = 0;
        for (int observed = 0; observed < 2; observed++) {
            lbm_case c;
            case_begin(&c, LONG, SHORT, 0.7);
            c.params.common.precision = precision;
            c.params.common.periodic = 1;
            case_wall(&c, case_face(&c, SEL_Y_MIN));
            case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(0.05, 0));
            case_start(&c);
            for (int step = 0; step < 3; step++) {
                advance(&c, 1, observed);
            }
            const lbm_cpu *state = case_state(&c);
            bytes = (size_t)(lbm_real(c.plan) * state->lattice->q * state->layout.plane);
            assert_true(bytes <= sizeof found[0]);
            memcpy(found[observed], lbm_now(state), bytes);
            case_end(&c);
        }
        assert_memory_equal(found[0], found[1], bytes);
    }
}

/* In step n forces of single steps are the mean +- half the change. */
static void test_forces_are_the_mean_of_the_last_two_steps(void **unused) {
    (void)unused;
    lbm_case c;
    begin(&c);
    double before = 0;
    for (int step = 0; step < 6; step++) {
        sel_request force = {.kind = SEL_FORCE, .region = 2};
        case_request(&c, &force);
        const double half = 0.5 * force.force_change[0];
        if (step < 2) {
            assert_true(force.force_change[0] == 0);
        } else {
            assert_true(half != 0);
            assert_true(fabs(force.force[0] - half - before) < 1e-14);
        }
        before = force.force[0] + half;
        advance(&c, 1, true);
    }
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_shows_the_same_whether_those_before_were_observed_or_not),
        cmocka_unit_test(test_an_observed_step_makes_the_same_state_as_one_that_is_not),
        cmocka_unit_test(test_forces_are_the_mean_of_the_last_two_steps),
        cmocka_unit_test(test_a_step_that_was_not_observed_shows_only_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
