/* test_out_average.c -- out.average: mean and rms of fields that grow by 1 in each step. */
#include "tests/unit/output_case.h"
#include "tests/unit/vti_file.h"

static sel_average_params *add_average(output_case *c, const char **fields, int count) {
    sel_average_params *average = case_add(c, &sel_out_average_table);
    average->fields = case_names(fields, count);
    return average;
}

/* The array of average.vti as numbers; their count is returned. */
static size_t average_array(const output_case *c, const char *name, double *to, size_t room) {
    size_t size = 0;
    char *bytes = case_file(c, "average.vti", &size);
    assert_non_null(bytes);
    size_t length = array_of(bytes, size, name, to, room * sizeof *to);
    free(bytes);
    return length / sizeof *to;
}

/* Samples at steps 0, 2, ... 10: their mean is 5, their deviations' squares are 70 / 6. */
static void mean_and_rms_are_those_of_the_samples(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"velocity", "pressure", "velocity_y", "stress"};
    double mean[36], rms[36];
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[5] = 1;
    add_average(&c, fields, 4)->common.every = 2;
    assert_int_equal(case_run(&c, 11), SEL_OK); /* step 11 is not due: it is no sample */
    assert_int_equal(average_array(&c, "velocity_mean", mean, 36), 36);
    assert_int_equal(average_array(&c, "velocity_rms", rms, 36), 36);
    for (int i = 0; i < 12; i++) {
        int64_t at[] = {i % 4, i / 4, 0};
        for (int a = 0; a < 3; a++) {
            bool zero = a == 2 || i == 5;
            double value = case_value(&c.domain.grid, at, 0, a, 0) + 5;
            assert_true(fabs(mean[3 * i + a] - (zero ? 0 : value)) < 1e-12);
            assert_true(fabs(rms[3 * i + a] - (zero ? 0 : sqrt(70.0 / 6))) < 1e-12);
        }
    }
    assert_int_equal(average_array(&c, "turbulent_kinetic_energy", rms, 36), 12);
    for (int i = 0; i < 12; i++) {
        assert_true(fabs(rms[i] - (i == 5 ? 0 : 70.0 / 6)) < 1e-12);
    }
    assert_int_equal(average_array(&c, "pressure_mean", mean, 36), 12);
    assert_true(fabs(mean[0] - (12.5 + 5)) < 1e-12);
    assert_int_equal(average_array(&c, "velocity_y_mean", mean, 36), 12);
    assert_true(fabs(mean[0] - (2 + 2.5 - 6.75 + 5)) < 1e-12);
    assert_int_equal(average_array(&c, "stress_mean", mean, 36), 36);
    assert_true(mean[0] == 101.25 && mean[1] == 201.25 && mean[2] == 301.25);
    assert_int_equal(average_array(&c, "stress_rms", rms, 36), 36);
    assert_true(rms[0] == 0 && rms[2] == 0);
    assert_listed(&c, "\"average.vti\"");
    case_close(&c);
}

/* All but stress grow by 1 in each step: the mean product of deviations is that of the squares. */
static void products_are_covariances_of_the_samples(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"velocity", "pressure", "stress_xy"};
    const char *products[] = {"velocity_x*velocity_y", "pressure * velocity_y",
                              "stress_xy*velocity_x"};
    double covariance[12];
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[5] = 1;
    sel_average_params *average = add_average(&c, fields, 3);
    average->common.every = 2;
    average->products = case_names(products, 3);
    assert_int_equal(case_run(&c, 11), SEL_OK);
    assert_int_equal(average_array(&c, "velocity_x_velocity_y_covariance", covariance, 12), 12);
    for (int i = 0; i < 12; i++) {
        assert_true(fabs(covariance[i] - (i == 5 ? 0 : 70.0 / 6)) < 1e-12);
    }
    assert_int_equal(average_array(&c, "pressure_velocity_y_covariance", covariance, 12), 12);
    assert_true(fabs(covariance[11] - 70.0 / 6) < 1e-12);
    assert_int_equal(average_array(&c, "stress_xy_velocity_x_covariance", covariance, 12), 12);
    assert_true(covariance[0] == 0);
    case_close(&c);
}

/* The numbers of row `row`, from 0, of average.csv; their count is returned. */
static int csv_row(const output_case *c, int row, double *to, int room) {
    char *text = case_file(c, "average.csv", NULL), *at = text;
    int n = 0;
    assert_non_null(text);
    for (int line = 0; line <= row; line++) {
        at = strchr(at, '\n') + 1;
    }
    for (char *end = at; n < room && *at && (n == 0 || *end == ','); at = end + 1) {
        to[n++] = strtod(at, &end);
    }
    free(text);
    return n;
}

/* A row of average.csv: what `over` leaves of a place, then these columns. */
typedef struct csv_line {
    double cells, u_mean, u_rms, p_mean, p_rms, covariance;
} csv_line;

/* The line for a place of the grid, from all cells that differ from it along the axes `over` only,
 * at the steps 0, 2, ... 10. */
static csv_line line_of_all_cells(const output_case *c, unsigned over, const int64_t place[3]) {
    const sel_grid *grid = &c->domain.grid;
    double n = 0, u = 0, p = 0, uu = 0, pp = 0, up = 0;
    for (int64_t i = 0; i < 6 * sel_grid_cells(grid); i++) {
        const int64_t cell = i / 6, step = i % 6 * 2;
        const int64_t at[] = {cell % grid->n[0], cell / grid->n[0] % grid->n[1],
                              cell / grid->n[0] / grid->n[1]};
        bool counts = !case_solid(&c->domain, at);
        for (int a = 0; a < 3; a++) {
            counts = counts && (over >> a & 1 || at[a] == place[a]);
        }
        if (counts) {
            const double u_here = case_value(grid, at, 0, 0, step);
            const double p_here = case_value(grid, at, 1, 0, step);
            n++;
            u += u_here;
            p += p_here;
            uu += u_here * u_here;
            pp += p_here * p_here;
            up += u_here * p_here;
        }
    }
    u /= n;
    p /= n;
    return (csv_line){n / 6, u, sqrt(uu / n - u * u), p, sqrt(pp / n - p * p), up / n - u * p};
}

/* Compares each row of average.csv; returns how many there are. */
static int check_rows(const output_case *c, unsigned over) {
    const sel_grid *grid = &c->domain.grid;
    int row = 0;
    for (int64_t cell = 0; cell < sel_grid_cells(grid); cell++) {
        const int64_t at[] = {cell % grid->n[0], cell / grid->n[0] % grid->n[1],
                              cell / grid->n[0] / grid->n[1]};
        double got[9];
        bool first = true; /* of the cells of a row */
        int used = 0;
        for (int a = 0; a < 3; a++) {
            first = first && (!(over >> a & 1) || at[a] == 0);
        }
        if (!first) {
            continue;
        }
        const int count = csv_row(c, row++, got, 9);
        for (int a = 0; a < 3; a++) {
            if (!(over >> a & 1)) {
                assert_true(got[used++] == sel_centre(grid, a, (double)at[a]));
            }
        }
        const csv_line want = line_of_all_cells(c, over, at);
        assert_int_equal(count, used + 6);
        assert_true(got[used] == want.cells);
        assert_true(fabs(got[used + 1] - want.u_mean) < 1e-9);
        assert_true(fabs(got[used + 2] - want.u_rms) < 1e-9);
        assert_true(fabs(got[used + 3] - want.p_mean) < 1e-9);
        assert_true(fabs(got[used + 4] - want.p_rms) < 1e-9);
        assert_true(fabs(got[used + 5] - want.covariance) < 1e-9);
    }
    return row;
}

static void means_along_axes_are_those_of_all_cells_and_samples(void **state) {
    (void)state;
    const struct {
        unsigned over;
        const char *header;
        int rows;
    } cases[] = {{6, "x,cells,", 4}, {5, "y,cells,", 3}, {4, "x,y,cells,", 12}, {3, "z,cells,", 5}};
    const char *fields[] = {"velocity_x", "pressure"};
    const char *products[] = {"velocity_x*pressure"};
    for (int k = 0; k < 4; k++) {
        output_case c;
        case_open(&c, 3, 4, 3, 5);
        c.domain.cell[4 + 4 * 3] = 1;
        sel_average_params *average = add_average(&c, fields, 2);
        average->common.every = 2;
        average->products = case_names(products, 1);
        average->over = cases[k].over;
        assert_int_equal(case_run(&c, 11), SEL_OK); /* step 11 is not due */
        char *text = case_file(&c, "average.csv", NULL);
        assert_non_null(text);
        assert_int_equal(strncmp(text, cases[k].header, strlen(cases[k].header)), 0);
        free(text);
        assert_int_equal(check_rows(&c, cases[k].over), cases[k].rows);
        assert_listed(&c, "\"average.csv\"");
        case_close(&c);
    }
}

static void rows_without_fluid_are_zero(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"velocity"};
    case_open(&c, 2, 4, 2, 1);
    memset(c.domain.cell, 1, 4);
    sel_average_params *average = add_average(&c, fields, 1);
    average->over = 1;
    assert_int_equal(case_run(&c, 10), SEL_OK);
    assert_file(&c, "average.csv",
                "y,cells,velocity_x_mean,velocity_x_rms,velocity_y_mean,velocity_y_rms,"
                "turbulent_kinetic_energy\n2.25,0,0,0,0,0,0\n"
                "2.75,4,6.75,1.118033988749895,7.75,1.118033988749895,1.25\n");
    case_close(&c);
}

static void means_along_an_axis_that_is_not_there_are_refused(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"pressure"};
    case_open(&c, 2, 4, 3, 1);
    add_average(&c, fields, 1)->over = 5;
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "over has the axis z, and the domain only x and y"));
    case_close(&c);
}

/* Cell 5 is solid, made so by region 1; all faces are under region 2. */
static void solid_cells_are_marked(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"pressure"}, *marks[] = {"solid", "cell_type", "boundary"};
    size_t size = 0;
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[5] = 1;
    add_average(&c, fields, 1);
    assert_int_equal(case_run(&c, 10), SEL_OK);
    char *bytes = case_file(&c, "average.vti", &size);
    assert_non_null(bytes);
    for (int k = 0; k < 3; k++) {
        unsigned char mark[12];
        assert_int_equal(array_of(bytes, size, marks[k], mark, sizeof mark), 12);
        for (int i = 0; i < 12; i++) {
            const int boundary = i == 5 || i == 6 ? 0 : 2; /* all others touch a face */
            assert_int_equal(mark[i], k < 2 ? i == 5 : boundary);
        }
    }
    assert_non_null(strstr(bytes, "cell_type_names"));
    free(bytes);
    case_close(&c);
}

static void the_beginning_can_be_left_out(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"pressure"};
    double mean[12];
    case_open(&c, 2, 4, 3, 1);
    add_average(&c, fields, 1)->common.from_time = 5; /* step 20 on, every 10: 20, 30 */
    assert_int_equal(case_run(&c, 30), SEL_OK);
    average_array(&c, "pressure_mean", mean, 12);
    assert_true(mean[0] == 12.5 + 25);
    case_close(&c);
}

static void note_warning(void *data, const char *about, const char *text) {
    (void)about;
    snprintf(data, 512, "%s", text);
}

/* The last state is no sample. */
static void a_run_without_samples_has_no_average(void **state) {
    (void)state;
    const char *fields[] = {"pressure"};
    for (int k = 0; k < 3; k++) {
        output_case c;
        char warning[512] = "", expected[512];
        case_open(&c, 2, 4, 3, 1);
        sel_average_params *average = add_average(&c, fields, 1);
        average->over = k == 1;
        average->common.from_time = k == 2 ? 1e9 : SEL_NOT_GIVEN;
        average->common.every = k == 2 ? 1 : SEL_INT_NOT_GIVEN;
        assert_int_equal(case_begin(&c), SEL_OK);
        c.context.warn = note_warning;
        c.context.warn_data = warning;
        assert_int_equal(case_write(&c, 2, false), SEL_OK);
        assert_int_equal(case_write(&c, 3, true), SEL_OK);
        snprintf(expected, sizeof expected,
                 "average.%s is not written: the run ended at step 3, time 0.75, before a sample "
                 "was due (every, interval, from_step, from_time)",
                 k == 1 ? "csv" : "vti");
        assert_string_equal(warning, expected);
        assert_listed(&c, "");
        case_close(&c);
    }
}

static void threads_write_the_same(unsigned over, const char *file) {
    char *bytes[2];
    size_t size[2];
    const int threads[] = {1, 3};
    const char *fields[] = {"velocity", "pressure"};
    for (int k = 0; k < 2; k++) {
        output_case c;
        case_open(&c, 2, 41, 130, 1);
        sel_average_params *average = add_average(&c, fields, 2);
        average->common.every = 1;
        average->over = over;
        assert_int_equal(case_begin(&c), SEL_OK);
        c.plan.threads = threads[k];
        for (int step = 0; step <= 7; step++) {
            assert_int_equal(case_write(&c, step, step == 7), SEL_OK);
        }
        bytes[k] = case_file(&c, file, &size[k]);
        assert_non_null(bytes[k]);
        case_close(&c);
    }
    assert_true(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
}

static void any_number_of_threads_writes_the_same(void **state) {
    (void)state;
    threads_write_the_same(0, "average.vti");
    threads_write_the_same(1, "average.csv");
    threads_write_the_same(2, "average.csv");
    threads_write_the_same(3, "average.csv");
}

static void a_full_disk_is_told(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"pressure"};
    case_open(&c, 2, 40, 30, 1);
    add_average(&c, fields, 1);
    assert_int_equal(case_begin(&c), SEL_OK);
    limit_files(2000);
    sel_status status = case_write(&c, 10, true);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, SEL_BAD_FILE);
    assert_non_null(strstr(c.error.text, "average.vti"));
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_rms_are_those_of_the_samples),
        cmocka_unit_test(products_are_covariances_of_the_samples),
        cmocka_unit_test(means_along_axes_are_those_of_all_cells_and_samples),
        cmocka_unit_test(rows_without_fluid_are_zero),
        cmocka_unit_test(means_along_an_axis_that_is_not_there_are_refused),
        cmocka_unit_test(solid_cells_are_marked),
        cmocka_unit_test(the_beginning_can_be_left_out),
        cmocka_unit_test(a_run_without_samples_has_no_average),
        cmocka_unit_test(any_number_of_threads_writes_the_same),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
