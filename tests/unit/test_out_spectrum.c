/* test_out_spectrum.c -- out.spectrum, and the power spectral densities of signals. */
#include "engine/output/kind.h"
#include "tests/unit/output_case.h"

static const double pi = 3.14159265358979323846;

enum { LENGTH = 3000 };

/* The integral of a density from frequency number `first` to before number `end`. */
static double power_of(const double *density, double spacing, size_t first, size_t end) {
    double power = 0;
    for (size_t k = first; k < end; k++) {
        power += density[k] * spacing;
    }
    return power;
}

/* 3 sin has the variance 4.5, all of it within two spacings of windows about its frequency. */
static void the_power_of_a_sine_is_its_variance_at_its_frequency(void **state) {
    (void)state;
    double time[LENGTH], value[LENGTH], density[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
        time[i] = 5 + 0.2 * i;
        value[i] = 40 + 3 * sin(2 * pi * 0.7 * time[i] + 1);
    }
    for (int windows = 1; windows <= 19; windows += 6) {
        const size_t count = sel_signal_frequencies(LENGTH, windows);
        const double spacing = sel_signal_spacing(time, LENGTH, windows);
        const double width = (windows + 1) / (2 * 0.2 * LENGTH);
        const size_t first = (size_t)ceil((0.7 - 2 * width) / spacing);
        const size_t end = (size_t)floor((0.7 + 2 * width) / spacing) + 1;
        assert_true(count > 0 && count <= LENGTH && fabs((count - 1) * spacing - 2.5) < 1e-9);
        assert_true(sel_signal_density(time, value, LENGTH, windows, density));
        assert_true(fabs(power_of(density, spacing, 0, count) / 4.5 - 1) < 1e-4);
        assert_true(fabs(power_of(density, spacing, first, end) / 4.5 - 1) < 2e-3);
    }
}

/* Independent numbers from -1 to 1 have the variance 1/3, shared by all frequencies alike. */
static void noise_has_the_same_density_at_all_frequencies(void **state) {
    (void)state;
    double time[LENGTH], value[LENGTH], density[LENGTH];
    uint32_t seed = 1;
    for (int i = 0; i < LENGTH; i++) {
        seed = seed * 1664525u + 1013904223u;
        time[i] = 0.5 * i;
        value[i] = (seed >> 8) / 8388608.0 - 1;
    }
    const size_t count = sel_signal_frequencies(LENGTH, 40);
    const double spacing = sel_signal_spacing(time, LENGTH, 40);
    assert_true(sel_signal_density(time, value, LENGTH, 40, density));
    assert_true(fabs(power_of(density, spacing, 0, count) * 3 - 1) < 0.05);
    for (size_t part = 0; part < 4; part++) { /* up to the frequency 1: a quarter of 1/3 each */
        const double power = power_of(density, spacing, count * part / 4, count * (part + 1) / 4);
        assert_true(fabs(power * 12 - 1) < 0.1);
    }
}

/* A constant has no power, at 0 neither: the mean of each window is removed. */
static void a_constant_has_no_power(void **state) {
    (void)state;
    double time[100], value[100], density[100];
    for (int i = 0; i < 100; i++) {
        time[i] = i;
        value[i] = 0.1;
    }
    assert_true(sel_signal_density(time, value, 100, 3, density));
    for (size_t k = 0; k < sel_signal_frequencies(100, 3); k++) {
        assert_true(density[k] < 1e-28);
    }
}

static void few_samples_have_no_spectrum(void **state) {
    (void)state;
    assert_int_equal(sel_signal_frequencies(0, 1), 0);
    assert_int_equal(sel_signal_frequencies(71, 8), 0);
    assert_int_equal(sel_signal_frequencies(72, 8), 9);
}

/* ---- the output ---- */

static const sel_point places[] = {{2, {1.5, 2.5}}, {2, {2.25, 2.75}}};

static sel_spectrum_params *add_spectrum(output_case *c, const char **fields, int count) {
    sel_spectrum_params *spectrum = case_add(c, &sel_out_spectrum_table);
    spectrum->field = case_names(fields, count);
    spectrum->at = (sel_points){2, (sel_point *)(uintptr_t)places};
    return spectrum;
}

/* All fields grow by 1 in each step, at all points. */
static void columns_are_the_spectra_of_what_was_sampled(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"velocity", "pressure"};
    double time[51], value[51], density[51];
    case_open(&c, 2, 4, 3, 1);
    sel_spectrum_params *spectrum = add_spectrum(&c, fields, 2);
    spectrum->common.every = 2;
    spectrum->windows = 3;
    assert_int_equal(case_run(&c, 101), SEL_OK); /* step 101 is not due: it is no sample */
    for (int i = 0; i < 51; i++) {
        time[i] = 0.5 * i;
        value[i] = 2 * i;
    }
    const size_t count = sel_signal_frequencies(51, 3);
    assert_int_equal(count, 17);
    assert_true(sel_signal_density(time, value, 51, 3, density));
    for (size_t k = 0; k < count; k++) {
        assert_true(case_number(&c, "spectrum.csv", (int)k + 1, 0) == (double)k / 16);
        for (int column = 1; column <= 6; column++) {
            const double found = case_number(&c, "spectrum.csv", (int)k + 1, column);
            assert_true(fabs(found - density[k]) < 1e-9 * density[1]);
        }
    }
    char *text = case_file(&c, "spectrum.csv", NULL);
    const char header[] = "frequency,velocity_x_1,velocity_y_1,pressure_1,"
                          "velocity_x_2,velocity_y_2,pressure_2\n";
    assert_true(strncmp(text, header, strlen(header)) == 0);
    free(text);
    assert_listed(&c, "\"spectrum.csv\"");
    case_close(&c);
}

static void note_warning(void *data, const char *about, const char *text) {
    (void)about;
    snprintf(data, 512, "%s", text);
}

static void a_run_too_short_for_its_windows_says_so(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"pressure"};
    char warning[512] = "";
    case_open(&c, 2, 4, 3, 1);
    add_spectrum(&c, fields, 1)->common.from_step = 50;
    assert_int_equal(case_begin(&c), SEL_OK);
    c.context.warn = note_warning;
    c.context.warn_data = warning;
    for (int64_t step = 50; step <= 100; step += 10) {
        assert_int_equal(case_write(&c, step, step == 100), SEL_OK);
    }
    assert_string_equal(warning, "spectrum.csv is not written: 6 samples are too few for the "
                                 "spectra of 8 windows (windows = 8); run longer, sample more "
                                 "often (every), or take fewer windows");
    assert_listed(&c, "");
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_power_of_a_sine_is_its_variance_at_its_frequency),
        cmocka_unit_test(noise_has_the_same_density_at_all_frequencies),
        cmocka_unit_test(a_constant_has_no_power),
        cmocka_unit_test(few_samples_have_no_spectrum),
        cmocka_unit_test(columns_are_the_spectra_of_what_was_sampled),
        cmocka_unit_test(a_run_too_short_for_its_windows_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
