/* test_out_pores.c -- out.pores: Darcy's law of flows between plates, k = h^2 / 12. */
#include <math.h>
#include "tests/unit/files.h"
#include "tests/unit/run_case.h"

/* Runs a plane flow along x to its steady state; `more`: the size and other fields of sel.lbm. */
static void run_pores(run_case *r, const char *more, const char *output) {
    char text[1600];
    snprintf(text, sizeof text,
             "local sel = require 'selenite'\n"
             "local shape, law, out = sel.shape, sel.law, sel.out\n"
             "local plates = { where = shape.face 'y-' + shape.face 'y+', law = law.wall {} }\n"
             "return sel.lbm { lattice = 'D2Q9', precision = 'f64', collision = 'trt', %s,\n"
             "output = { out.pores { name = 'p', axis = 'x', %s } } }",
             more, output);
    case_run_well(r, text);
}

static bool is_close(const run_case *r, const char *name, double expected, double part) {
    const double found = case_result(r, name);
    print_message("# %s: %.9g, expected %.9g\n", name, found, expected);
    return fabs(found / expected - 1) < part;
}

/* The mean over cell centres of a parabola is larger than that over the width. */
static double permeability_of(double h, double cells) {
    return h * h / 12 * (1 + 0.5 / (cells * cells));
}

static void an_acceleration_drives_a_channel(void **unused) {
    (void)unused;
    run_case r;
    run_pores(&r,
              "size = { 4, 12 }, nu = 1 / 6, periodic = { 'x' }, acceleration = { -1e-6, 1e-9 },\n"
              "regions = { plates }, stop = { steps = 9000, steady = 1e-11, every = 500 }",
              "every = 1000");
    assert_true(is_close(&r, "p.permeability", permeability_of(12, 12), 1e-8));
    assert_true(is_close(&r, "p.driving_force", -1e-6, 1e-12));
    assert_true(is_close(&r, "p.darcy_velocity", -1e-6 * permeability_of(12, 12) * 6, 1e-8));
    assert_true(is_close(&r, "p.tortuosity", 1, 1e-9));
    assert_true(case_result(&r, "p.porosity") == 1);
    assert_string_equal(r.log, "");
    case_done(&r);
}

/* Between plates 0.8 mm thick, 1.2 mm apart, in water. */
static void solid_cells_count_for_the_velocity_and_units_are_kept(void **unused) {
    (void)unused;
    run_case r;
    run_pores(&r,
              "size = { 4, 20 }, dx = 1e-4, dt = 1e-3, density = 1000, nu = 1e-6,\n"
              "periodic = { 'x', 'y' }, acceleration = { 1e-6, 0 },\n"
              "reference = { length = 1.2e-3 },\n"
              "regions = { { where = shape.box { min = { 0, 0 }, max = { 1, 0.8e-3 } },\n"
              "law = law.wall {} } }, stop = { steps = 20000, steady = 1e-11, every = 500 }",
              "every = 1000");
    const double k = 0.6 * permeability_of(1.2e-3, 12);
    assert_true(is_close(&r, "p.permeability", k, 1e-8));
    assert_true(is_close(&r, "p.driving_force", 1e-3, 1e-12));
    assert_true(is_close(&r, "p.porosity", 0.6, 1e-12));
    assert_true(is_close(&r, "p.pore_velocity", k * 1e-6 / 1e-6 / 0.6, 1e-8));
    assert_true(is_close(&r, "p.reynolds", k * 1e-6 / 1e-6 * 1.2e-3 / 1e-6, 1e-8));
    assert_true(is_close(&r, "p.specific_surface", 2 / 2e-3, 1e-12));
    case_done(&r);
}

static void pressures_at_two_faces_drive_a_channel(void **unused) {
    (void)unused;
    run_case r;
    static const char channel[] = "size = { 40, 10 }, nu = 1 / 6, regions = { plates,\n"
                                  "{ where = shape.face 'x-', law = law.pressure { 4e-5 } },\n"
                                  "{ where = shape.face 'x+', law = law.pressure { 0 } } },\n"
                                  "stop = { steps = 9000, steady = 1e-9, every = 500 }";
    run_pores(&r, channel, "at = 'end'");
    assert_true(is_close(&r, "p.permeability", permeability_of(10, 10), 2e-3));
    assert_true(is_close(&r, "p.driving_force", 1e-6, 0.03));
    case_done(&r);
    run_pores(&r, channel, "within = shape.box { min = { 10, 0 }, max = { 30, 10 } }");
    assert_true(is_close(&r, "p.permeability", permeability_of(10, 10), 2e-3));
    case_done(&r);
}

static void a_drive_has_the_force_that_it_finds(void **unused) {
    (void)unused;
    run_case r;
    run_pores(&r,
              "size = { 4, 8 }, nu = 1 / 6, periodic = { 'x' }, density = 3,\n"
              "drive = { velocity = 1e-4, axis = 'x', every = 10 }, regions = { plates },\n"
              "stop = { steps = 4000 }",
              "every = 100");
    assert_true(is_close(&r, "p.driving_force", 3 * case_result(&r, "drive.acceleration"), 1e-9));
    assert_true(is_close(&r, "p.darcy_velocity", 1e-4, 1e-6));
    assert_true(is_close(&r, "p.permeability", permeability_of(8, 8), 1e-4));
    case_done(&r);
}

/* Rows have the acceleration of their time, though the run has gone on when they are written. */
static void an_acceleration_may_change_in_time(void **unused) {
    (void)unused;
    run_case r;
    run_pores(&r,
              "size = { 4, 8 }, nu = 1 / 6, periodic = { 'x' },\n"
              "acceleration = { function(t) return 1e-8 * t end, 0 }, regions = { plates },\n"
              "stop = { steps = 50 }",
              "every = 7");
    char *text = read_whole("run/p.csv", NULL), *line = strchr(text, '\n');
    int rows = 0;
    for (; line && line[1]; line = strchr(line + 1, '\n'), rows++) {
        double step, time, darcy, pore, force;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf,%lf", &step, &time, &darcy, &pore, &force),
                         5);
        assert_true(step == (rows < 8 ? 7 * rows : 50) && fabs(force - 1e-8 * step) < 1e-20);
    }
    assert_int_equal(rows, 9);
    free(text);
    case_done(&r);
}

/* In single precision round-off moves a fluid at rest. */
static void a_fluid_at_rest_has_no_tortuosity(void **unused) {
    (void)unused;
    run_case r;
    run_pores(&r,
              "size = { 4, 8 }, nu = 1 / 6, periodic = { 'x' }, acceleration = { 1e-6, 0 },\n"
              "regions = { plates }, stop = { steps = 1 }, precision = 'f32'",
              "every = 1");
    char *text = read_whole("run/p.csv", NULL);
    double values[2][8];
    char *line = text;
    for (int row = 0; row < 2; row++) {
        line = strchr(line, '\n') + 1;
        char *at = line;
        for (int c = 0; c < 8; c++) {
            values[row][c] = strtod(at, &at);
            at++;
        }
    }
    assert_true(isnan(values[0][6]) && values[0][7] >= 0 && values[0][7] < 1e-12);
    assert_true(fabs(values[1][6] - 1) < 1e-6);
    free(text);
    case_done(&r);
}

static void fast_flow_warns_that_darcys_law_does_not_hold(void **unused) {
    (void)unused;
    run_case r;
    run_pores(&r,
              "size = { 4, 12 }, nu = 1 / 6, periodic = { 'x' }, acceleration = { 1e-3, 0 },\n"
              "regions = { plates }, stop = { steps = 900 }",
              "at = 'end'");
    assert_non_null(strstr(r.log, "the flow through 'p' has inertia: its Reynolds number by the "
                                  "root of the permeability is 1.5"));
    case_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_acceleration_drives_a_channel),
        cmocka_unit_test(solid_cells_count_for_the_velocity_and_units_are_kept),
        cmocka_unit_test(pressures_at_two_faces_drive_a_channel),
        cmocka_unit_test(a_drive_has_the_force_that_it_finds),
        cmocka_unit_test(an_acceleration_may_change_in_time),
        cmocka_unit_test(a_fluid_at_rest_has_no_tortuosity),
        cmocka_unit_test(fast_flow_warns_that_darcys_law_does_not_hold),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
