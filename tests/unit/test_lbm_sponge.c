/* test_lbm_sponge.c -- the sponge: waves and vortices fade in it, the stream that it holds passes,
 * and what it brings is counted.
 */
#include "tests/unit/lbm_case.h"

static const double c_s = 0.57735026918962576;

/* Operators and what they store. */
typedef struct kind {
    int collision, storage;
} kind;
static const kind kinds[] = {
    {LBM_TRT, SEL_STORE_POPULATIONS},     {LBM_BGK, SEL_STORE_POPULATIONS},
    {LBM_REGULARIZED, SEL_STORE_MOMENTS}, {LBM_RECURSIVE, SEL_STORE_POPULATIONS},
    {LBM_RECURSIVE, SEL_STORE_MOMENTS},   {LBM_HYBRID, SEL_STORE_MOMENTS}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void use(lbm_case *c, const kind *k) {
    c->params.collision = k->collision;
    c->params.storage = k->storage;
}

/* A sponge along a face of n cells depth; velocity: that of the stream. */
static void sponge(lbm_case *c, int face, double n, sel_quantity velocity) {
    c->params.sponge.where = case_face(c, face);
    c->params.sponge.thickness = n;
    c->params.sponge.velocity = velocity;
}

/* ---- sound ---- */

enum { LENGTH = 160, MIDDLE = 60 };

static void pulse_density(double x, double y, double t, const void *data, double value[2]) {
    const double r = (x - MIDDLE) / 10;
    (void)y;
    (void)t;
    (void)data;
    value[0] = 1 + 1e-3 * exp(-r * r);
}

static void pulse_velocity(double x, double y, double t, const void *data, double value[2]) {
    pulse_density(x, y, t, data, value);
    value[0] = c_s * (value[0] - 1);
    value[1] = 0;
}

/* The largest wave that comes back of a pulse which runs into a face that returns it. */
static double returned(const kind *k, double n, bool pressure) {
    lbm_case c;
    double rho[2 * LENGTH], u[4 * LENGTH], most = 0;
    case_begin(&c, LENGTH, 2, 0.51);
    use(&c, k);
    c.params.common.periodic = 2;
    case_wall(&c, case_face(&c, SEL_X_MIN));
    case_region(&c, case_face(&c, SEL_X_MAX), pressure ? &lbm_pressure_table : &lbm_wall_table,
                pressure ? sel_constant(0) : (sel_quantity){0});
    c.params.initial.velocity = case_of(&c, SEL_ON_X, 2, pulse_velocity, NULL);
    c.params.initial.density = case_of(&c, SEL_ON_X, 1, pulse_density, NULL);
    if (n > 0) {
        sponge(&c, SEL_X_MAX, n, (sel_quantity){0});
    }
    case_start(&c);
    case_advance(&c, (int64_t)((2 * LENGTH - 2 * MIDDLE) / c_s)); /* back in the middle */
    case_read(&c, LBM_DENSITY, 1, rho);
    case_read(&c, LBM_VELOCITY, 2, u);
    for (int x = 0; x < LENGTH; x++) {
        most = fmax(most, fabs(u[2 * x] - c_s * (rho[x] - 1)));
    }
    case_end(&c);
    return most / (2e-3 * c_s);
}

static void test_sound_that_a_face_returns_fades(void **unused) {
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        for (int pressure = 0; pressure < 2; pressure++) {
            const double without = returned(&kinds[k], 0, pressure);
            const double with = returned(&kinds[k], 40, pressure);
            const double thin = returned(&kinds[k], 8, pressure);
            print_message("# %s, from a %s: %.4f of a pulse comes back, %.5f through 40 cells of "
                          "sponge, %.4f through 8\n",
                          lbm_collision_names[kinds[k].collision], pressure ? "pressure" : "wall",
                          without, with, thin);
            assert_true(without > 0.6 && with < 3e-3 && thin < 0.03);
        }
    }
}

/* ---- what passes ---- */

static void shear(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)t;
    (void)data;
    value[0] = 0.01 + 0.04 * y / 12;
    value[1] = 0;
}

/* The stream of Couette, between a wall at rest and one that moves. */
static void test_the_stream_that_it_holds_passes(void **unused) {
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        lbm_case c;
        double u[2 * 32 * 12], most = 0;
        case_begin(&c, 32, 12, 0.6);
        use(&c, &kinds[k]);
        case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_wall_table, sel_constant2(0.01, 0));
        case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(0.05, 0));
        case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table,
                    case_of(&c, SEL_ON_Y, 2, shear, NULL));
        case_region(&c, case_face(&c, SEL_X_MAX), &lbm_outflow_table, (sel_quantity){0});
        c.laws[3].outflow.relaxation = SEL_NOT_GIVEN;
        c.params.initial.velocity = case_of(&c, SEL_ON_Y, 2, shear, NULL);
        sponge(&c, SEL_X_MAX, 16, case_of(&c, SEL_ON_Y, 2, shear, NULL));
        case_start(&c);
        case_advance(&c, 300);
        case_read(&c, LBM_VELOCITY, 2, u);
        for (int i = 0; i < 32 * 12; i++) {
            double wanted[2];
            shear(0, i / 32 + 0.5, 0, NULL, wanted);
            most = fmax(most, fmax(fabs(u[2 * i] - wanted[0]), fabs(u[2 * i + 1])));
        }
        assert_true(most < 2e-6); /* outflows return some of it; what the sponge holds is a float */
        case_end(&c);
    }
}

/* ---- what it brings ---- */

static double term_named(const sel_request *balance, const char *name) {
    for (int i = 0; i < balance->term_count; i++) {
        if (strcmp(balance->terms[i].name, name) == 0) {
            return balance->terms[i].value;
        }
    }
    fail_msg("no term '%s'", name);
    return 0;
}

/* A box without openings, in two and three dimensions: the pressure comes to what the sponge holds,
 * and all mass that is new came by it. */
static void test_what_it_brings_is_counted(void **unused) {
    (void)unused;
    for (int k = 0; k < 2 * KINDS; k++) {
        const bool deep = k >= KINDS;
        sel_term terms[SEL_MAX_TERMS];
        sel_request balance = {.kind = SEL_BALANCE, .terms = terms};
        lbm_case c;
        case_begin_size(&c, (sel_ints){deep ? 3 : 2, {16, 9, deep ? 10 : 0}}, 0.6);
        use(&c, &kinds[k % KINDS]);
        case_wall(&c, case_faces(&c));
        c.params.initial.density = sel_constant(1.02);
        c.params.sponge.pressure = 0.01 / 3;
        c.params.sponge.where = sel_shape_combine(
            c.arena, SEL_SHAPE_UNION, case_face(&c, SEL_X_MAX), case_face(&c, SEL_Y_MIN));
        c.params.sponge.thickness = 8;
        case_must_plan(&c);
        c.plan->wants_balance = true;
        case_create(&c);
        case_request(&c, &balance);
        const double first = term_named(&balance, "mass");
        assert_true(fabs(term_named(&balance, "sponge")) == 0);
        case_advance(&c, 400);
        balance.term_count = 0;
        case_request(&c, &balance);
        const double mass = term_named(&balance, "mass"), cells = deep ? 1440 : 144;
        assert_true(fabs(first - 1.02 * cells) < 1e-9 && fabs(mass - 1.01 * cells) < 1e-3 * cells);
        assert_true(fabs(term_named(&balance, "sponge") - (mass - first)) < 1e-8);
        assert_true(fabs(term_named(&balance, "error")) < 1e-8);
        case_end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound_that_a_face_returns_fades),
        cmocka_unit_test(test_the_stream_that_it_holds_passes),
        cmocka_unit_test(test_what_it_brings_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
