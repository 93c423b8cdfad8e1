/* test_out_force.c -- out.force and out.flux, and the statistics of signals. */
#include "engine/output/kind.h"
#include "tests/unit/output_case.h"

static const double pi = 3.14159265358979323846;

/* ---- signals ---- */

enum { SAMPLES = 1000 };

static void fill(double *time, double *value, double spacing, double frequency) {
    for (int i = 0; i < SAMPLES; i++) {
        time[i] = 7 + i * spacing;
        value[i] = 3 + 0.01 * time[i] + 0.5 * sin(2 * pi * frequency * time[i] + 1) +
                   0.1 * sin(2 * pi * 3 * frequency * time[i]);
    }
}

static void frequency_of_a_drifting_signal_with_a_harmonic(void **state) {
    (void)state;
    double time[SAMPLES], value[SAMPLES];
    static const double cycles[] = {4.3, 10, 17.77, 100.5};
    for (int k = 0; k < 4; k++) {
        double frequency = cycles[k] / (0.25 * SAMPLES);
        fill(time, value, 0.25, frequency);
        double found = sel_signal_frequency(time, value, SAMPLES, 0);
        assert_true(fabs(found / frequency - 1) < 1e-3);
    }
}

static void frequency_of_unevenly_spaced_samples(void **state) {
    (void)state;
    double time[SAMPLES], value[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        time[i] = i + 0.4 * (i % 3 == 1);
        value[i] = cos(2 * pi * 0.0213 * time[i]);
    }
    double found = sel_signal_frequency(time, value, SAMPLES, 0);
    assert_true(fabs(found / 0.0213 - 1) < 1e-3);
}

static void a_steady_or_short_signal_has_no_frequency(void **state) {
    (void)state;
    double time[SAMPLES], value[SAMPLES];
    fill(time, value, 1, 0.02);
    assert_true(isnan(sel_signal_frequency(time, value, 8, 0)));
    assert_true(isnan(sel_signal_frequency(time, value, SAMPLES, 1)));
    for (int i = 0; i < SAMPLES; i++) {
        value[i] = exp(-i / 200.0);
    }
    assert_true(isnan(sel_signal_frequency(time, value, SAMPLES, 1e-9)));
}

static void rms_is_of_the_deviation_from_the_mean(void **state) {
    (void)state;
    const double value[] = {1, 3, 1, 3};
    assert_true(sel_signal_mean(value, 4) == 2);
    assert_true(sel_signal_rms(value, 4) == 1);
    assert_true(isnan(sel_signal_mean(value, 0)));
}

static void extremes_are_the_smallest_and_the_largest(void **state) {
    (void)state;
    const double value[] = {1, -3, 4, 0};
    assert_true(sel_signal_min(value, 4) == -3 && sel_signal_max(value, 4) == 4);
    assert_true(sel_signal_min(value, 1) == 1 && sel_signal_max(value, 1) == 1);
    assert_true(isnan(sel_signal_min(value, 0)) && isnan(sel_signal_max(value, 0)));
}

/* ---- out.force: on region k the fluid acts with k (2 + step, sin(step / 5), 0) ---- */

static sel_force_params *add_force(output_case *c, const char *region) {
    sel_force_params *force = case_add(c, &sel_out_force_table);
    force->region = region;
    force->common.every = 1;
    return force;
}

static double result(const output_case *c, const char *name) {
    for (int i = 0; i < c->results.count; i++) {
        if (strcmp(c->results.v[i].name, name) == 0) {
            return c->results.v[i].value;
        }
    }
    return (double)NAN;
}

static void force_writes_components_and_torque(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_force(&c, "block")->centre = (sel_point){2, {10, 20, 0}};
    assert_int_equal(case_run(&c, 1), SEL_OK);
    assert_false(c.plan.wants_balance);
    char *text = case_file(&c, "force.csv", NULL);
    const char *expected = "step,time,force_x,force_y,torque\n0,0,2,0,-1020\n1,0.25,3,0.198";
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    free(text);
    assert_true(isnan(result(&c, "force.cd_mean")));
    assert_true(result(&c, "force.force_x_mean") == 3); /* of the second half: step 1 alone */
    case_close(&c);
}

static void force_in_space_has_three_torques(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, 4, 3, 2);
    add_force(&c, "block");
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_file(&c, "force.csv",
                "step,time,force_x,force_y,force_z,torque_x,torque_y,torque_z\n"
                "0,0,2,0,3,-2000,-3000,-1000\n");
    case_close(&c);
}

static void regions_of_one_name_count_together(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.regions[1].name = "block";
    add_force(&c, "block");
    sel_flux_params *flux = case_add(&c, &sel_out_flux_table);
    flux->region = "block";
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_true(case_number(&c, "force.csv", 1, 2) == 2 + 4);
    assert_true(case_number(&c, "flux.csv", 1, 2) == 10 + 20);
    case_close(&c);
}

static void coefficients_and_strouhal_number_follow_the_reference(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.params.reference = (sel_reference){.length = 4, .velocity = 0.5, .area = (double)NAN};
    sel_force_params *force = add_force(&c, "block");
    force->common.from_step = 100;
    assert_int_equal(case_run(&c, 500), SEL_OK);
    double scale = 2 / (1 * 0.25 * 4);
    assert_true(fabs(case_number(&c, "force.csv", 101, 5) - scale * 102) < 1e-9);
    assert_true(fabs(result(&c, "force.cd_mean") - scale * 302) < 1e-9);
    assert_true(fabs(result(&c, "force.cd_min") - scale * 102) < 1e-9);
    assert_true(fabs(result(&c, "force.cd_max") - scale * 502) < 1e-9);
    assert_true(fabs(result(&c, "force.cl_rms") - scale * sqrt(0.5)) < 0.02);
    double frequency = 1 / (2 * pi * 5 * 0.25); /* dt is 0.25 */
    assert_true(fabs(result(&c, "force.frequency") / frequency - 1) < 1e-3);
    assert_true(fabs(result(&c, "force.strouhal") / (frequency * 8) - 1) < 1e-3);
    case_close(&c);
}

/* 0 or NaN: within 1 % of `size`. */
static bool is_near(double value, double expected, double size) {
    return fabs(value - expected) < 0.01 * size;
}

static void every_component_has_its_statistics(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_force(&c, "block")->common.from_time = 25; /* step 100 */
    c.params.reference = (sel_reference){.length = 4, .velocity = 0.5, .area = (double)NAN};
    assert_int_equal(case_run(&c, 1000), SEL_OK);
    static const struct {
        const char *name;
        double mean, rms, min, max, steps_per_radian; /* 0: no frequency */
    } expected[] = {{"force_x", 552, 260, 102, 1002, 0},
                    {"force_y", 0, 0.7071, -1, 1, 5},
                    {"torque", -1000, 35.355, -1050, -950, 10}};
    for (int k = 0; k < 3; k++) {
        static const char *const what[] = {"mean", "rms", "min", "max", "frequency", "strouhal"};
        const double frequency = 1 / (2 * pi * expected[k].steps_per_radian * 0.25);
        const double values[] = {expected[k].mean, expected[k].rms, expected[k].min,
                                 expected[k].max,  frequency,       8 * frequency};
        for (int i = 0; i < 6; i++) {
            char name[64];
            snprintf(name, sizeof name, "force.%s_%s", expected[k].name, what[i]);
            const double found = result(&c, name), size = i < 4 ? values[3] : values[i];
            assert_true(i >= 4 && k == 0 ? isnan(found) : is_near(found, values[i], fabs(size)));
        }
    }
    assert_true(result(&c, "force.frequency") == result(&c, "force.force_y_frequency"));
    assert_true(result(&c, "force.strouhal") == result(&c, "force.force_y_strouhal"));
    case_close(&c);
}

static void rows_before_the_statistics_are_written(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_force(&c, "block")->common.from_step = 3;
    assert_int_equal(case_run(&c, 4), SEL_OK);
    for (int step = 0; step <= 4; step++) {
        assert_true(case_number(&c, "force.csv", step + 1, 0) == step);
        assert_true(case_number(&c, "force.csv", step + 1, 2) == 2 + step);
    }
    assert_true(result(&c, "force.force_x_mean") == 5.5 && result(&c, "force.force_x_min") == 5);
    case_close(&c);
}

static void note_warning(void *data, const char *about, const char *text) {
    (void)text;
    snprintf(data, 128, "%s", about);
}

static void a_run_that_ends_before_the_statistics_has_none(void **state) {
    (void)state;
    output_case c;
    char said[128] = "";
    case_open(&c, 2, 4, 3, 1);
    add_force(&c, "block")->common.from_step = 100;
    assert_int_equal(case_begin(&c), SEL_OK);
    c.context.warn = note_warning;
    c.context.warn_data = said;
    assert_int_equal(case_write(&c, 4, true), SEL_OK);
    assert_string_equal(said, "force has no statistics");
    assert_true(case_number(&c, "force.csv", 1, 2) == 6);
    assert_true(isnan(result(&c, "force.force_x_mean")) && isnan(result(&c, "force.force_x_rms")));
    case_close(&c);
}

/* A checkpoint as earlier versions wrote it, with two samples of the first five series: without the
 * torque. The run goes on from it to step 4. */
static void statistics_without_the_torque_say_so(void **state) {
    (void)state;
    enum { OLD = 5, SAMPLES_OF_OLD = 2 };
    output_case c;
    char path[256], said[128] = "";
    int64_t written = 1;
    int outputs = 1;
    double old[OLD][SAMPLES_OF_OLD] = {{0, 0.25}, {2, 3}};
    sel_record record = {.count = SAMPLES_OF_OLD, .stride = 1};
    sel_checkpoint *checkpoint;
    sel_error notes = {.status = SEL_OK};
    case_open(&c, 2, 4, 3, 1);
    add_force(&c, "block")->common.from_time = 0;
    assert_int_equal(case_begin(&c), SEL_OK);
    c.context.warn = note_warning;
    c.context.warn_data = said;
    snprintf(path, sizeof path, "%s/old", c.directory);
    assert_int_equal(sel_checkpoint_create(path, &checkpoint, &c.error), SEL_OK);
    sel_checkpoint_block(checkpoint, "outputs");
    SEL_KEEP(checkpoint, outputs);
    sel_keep_text(checkpoint, NULL, "force");
    sel_keep_text(checkpoint, NULL, "out.force");
    sel_checkpoint_block(checkpoint, "output 1");
    SEL_KEEP(checkpoint, written);
    SEL_KEEP(checkpoint, record.count);
    SEL_KEEP(checkpoint, record.stride);
    SEL_KEEP(checkpoint, record.skipped);
    SEL_KEEP(checkpoint, old);
    assert_int_equal(sel_checkpoint_commit(checkpoint, NULL, &(uint64_t){0}, &c.error), SEL_OK);
    sel_checkpoint_close(checkpoint);
    assert_int_equal(sel_checkpoint_open(path, &checkpoint, &c.error), SEL_OK);
    sel_outputs_load(c.opened, checkpoint, &notes);
    assert_int_equal(sel_checkpoint_status(checkpoint, &c.error), SEL_OK);
    sel_checkpoint_close(checkpoint);
    for (int step = 2; step <= 4; step++) {
        assert_int_equal(case_write(&c, step, step == 4), SEL_OK);
    }
    assert_true(result(&c, "force.force_x_mean") == 4);
    assert_true(isnan(result(&c, "force.torque_mean")));
    assert_string_equal(said, "force has no statistics of the torque");
    case_close(&c);
}

static void the_area_goes_before_the_length(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.params.reference = (sel_reference){.length = 4, .velocity = 0.5, .area = 8};
    add_force(&c, "block");
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_true(case_number(&c, "force.csv", 1, 5) == 2);
    case_close(&c);
}

/* ---- out.flux ---- */

static void flux_across_a_line_is_positive_to_its_left(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.domain.grid.periodic = 3;                                       /* no walls */
    sel_point lines[2][2] = {{{2, {2, 2, 0}}, {2, {2, 3.5, 0}}},      /* up: to the left is -x */
                             {{2, {1, 2.75, 0}}, {2, {3, 2.75, 0}}}}; /* rightwards: +y */
    for (int i = 0; i < 2; i++) {
        sel_flux_params *flux = case_add(&c, &sel_out_flux_table);
        flux->across = (sel_points){2, lines[i]};
        flux->common.name = i ? "b" : "a";
    }
    assert_int_equal(case_run(&c, 0), SEL_OK);
    double u = 1 + 2 * 2 - 3 * 2.75, v = 2 + 2 * 2 - 3 * 2.75;
    assert_true(fabs(case_number(&c, "a.csv", 1, 2) - -u * 1.5) < 1e-12);
    assert_true(fabs(case_number(&c, "b.csv", 1, 2) - v * 2) < 1e-12);
    assert_true(fabs(result(&c, "b.flux") - v * 2) < 1e-12);
    case_close(&c);
}

static void flux_through_a_layer_is_positive_along_its_axis(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        output_case c;
        case_open(&c, dims, 4, 3, dims == 2 ? 1 : 2);
        c.domain.cell[1] = 1; /* solid: x = 1.75, y = 2.25 */
        sel_shape_box box = {{dims, {1.5, 2, 0}}, {dims, {2, 3.5, 1}}};
        sel_shape shape = {.kind = SEL_SHAPE_BOX, .data = &box};
        sel_flux_params *flux = case_add(&c, &sel_out_flux_table);
        flux->through = &shape;
        assert_int_equal(case_run(&c, 0), SEL_OK);
        double sum = 0;
        for (int z = 0; z < dims - 1; z++) {
            for (int y = z == 0; y < 3; y++) {
                double height = dims == 3 ? 0.25 + 0.5 * z : 0;
                sum += 1 + 2 * 1.75 - 3 * (2.25 + 0.5 * y) + 5 * height;
            }
        }
        double face = dims == 2 ? 0.5 : 0.25;
        assert_true(fabs(case_number(&c, "flux.csv", 1, 2) - sum * face) < 1e-12);
        case_close(&c);
    }
}

static void flux_through_a_region_asks_the_solver(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_flux_params *flux = case_add(&c, &sel_out_flux_table);
    flux->region = "region_2";
    flux->common.every = 3;
    assert_int_equal(case_run(&c, 3), SEL_OK);
    assert_file(&c, "flux.csv", "step,time,flux\n0,0,20\n3,0.75,23\n");
    case_close(&c);
}

static void what_cannot_be_measured_is_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_shape_box wide = {{2, {1, 2, 0}}, {2, {2, 3, 0}}};
    sel_shape shape = {.kind = SEL_SHAPE_BOX, .data = &wide};
    sel_point points[] = {{2, {2, 2, 0}}, {2, {2, 2, 0}}, {2, {2, 3, 0}}};
    add_force(&c, "blok")->centre = (sel_point){3, {0, 0, 0}};
    sel_flux_params *flux[5];
    for (int i = 0; i < 5; i++) {
        static const char *const names[] = {"a", "b", "c", "d", "e"};
        flux[i] = case_add(&c, &sel_out_flux_table);
        flux[i]->common.name = names[i];
    }
    flux[1]->region = "block";
    flux[1]->through = &shape;
    flux[2]->through = &shape;
    flux[3]->across = (sel_points){2, points};
    flux[4]->across = (sel_points){3, points};
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(
        c.error.text,
        "test.lua:10: out.force: no region is called 'blok'; did you mean 'block'?\n"
        "test.lua:10: out.force: centre has 3 coordinates, the domain has 2 dimensions\n"
        "test.lua:20: out.flux: give one of region, across and through\n"
        "test.lua:30: out.flux: give one of region, across and through\n"
        "test.lua:40: out.flux: the box of through must hold the centres of one layer of cells "
        "along just one axis; it has 2 x 2 x 1\n"
        "test.lua:50: out.flux: the points of across are the same\n"
        "test.lua:60: out.flux: across must hold two points, not 3");
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequency_of_a_drifting_signal_with_a_harmonic),
        cmocka_unit_test(frequency_of_unevenly_spaced_samples),
        cmocka_unit_test(a_steady_or_short_signal_has_no_frequency),
        cmocka_unit_test(rms_is_of_the_deviation_from_the_mean),
        cmocka_unit_test(extremes_are_the_smallest_and_the_largest),
        cmocka_unit_test(force_writes_components_and_torque),
        cmocka_unit_test(force_in_space_has_three_torques),
        cmocka_unit_test(regions_of_one_name_count_together),
        cmocka_unit_test(coefficients_and_strouhal_number_follow_the_reference),
        cmocka_unit_test(every_component_has_its_statistics),
        cmocka_unit_test(rows_before_the_statistics_are_written),
        cmocka_unit_test(a_run_that_ends_before_the_statistics_has_none),
        cmocka_unit_test(statistics_without_the_torque_say_so),
        cmocka_unit_test(the_area_goes_before_the_length),
        cmocka_unit_test(flux_across_a_line_is_positive_to_its_left),
        cmocka_unit_test(flux_through_a_layer_is_positive_along_its_axis),
        cmocka_unit_test(flux_through_a_region_asks_the_solver),
        cmocka_unit_test(what_cannot_be_measured_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
