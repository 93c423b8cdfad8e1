/* test_out_vtk.c -- out.vtk: which files, where their cells lie, what their arrays hold. */
#include <sys/stat.h>
#include "tests/unit/output_case.h"
#include "tests/unit/vti_file.h"

static const char *two_fields[] = {"velocity", "pressure"};

static sel_vtk_params *add_vtk(output_case *c, const char *name, const char **fields, int n) {
    sel_vtk_params *vtk = case_add(c, &sel_out_vtk_table);
    vtk->common.name = name;
    vtk->fields = case_names(fields, n);
    return vtk;
}

/* The array of a file of the run; its number of bytes is asserted. */
static void read_array(const output_case *c, const char *file, const char *name, void *to,
                       size_t bytes) {
    size_t size;
    char *whole = case_file(c, file, &size);
    assert_non_null(whole);
    assert_int_equal(array_of(whole, size, name, to, bytes), bytes);
    free(whole);
}

static void assert_header_holds(const output_case *c, const char *file, const char *text) {
    size_t size = 0;
    char *whole = case_file(c, file, &size);
    assert_non_null(whole);
    if (!find_text(whole, size, text)) {
        fail_msg("%s: no %s in\n%.2000s", file, text, whole);
    }
    free(whole);
}

static void fields_are_written_at_the_end_only_unless_asked(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_vtk(&c, NULL, two_fields, 2);
    add_vtk(&c, "often", two_fields, 1)->common.every = 4;
    assert_int_equal(case_run(&c, 10), SEL_OK);
    assert_null(case_file(&c, "vtk/vtk_00000000.vti", NULL));
    static const char *const files[] = {"often.pvd",
                                        "often/often_00000000.vti",
                                        "often/often_00000004.vti",
                                        "often/often_00000008.vti",
                                        "vtk.pvd",
                                        "vtk/vtk_00000010.vti",
                                        "often/often_00000010.vti"};
    char listed[512] = "";
    for (int i = 0; i < 7; i++) {
        const size_t used = strlen(listed);
        snprintf(listed + used, sizeof listed - used, "%s\"%s\"", i ? ", " : "", files[i]);
        char *bytes = case_file(&c, files[i], NULL);
        assert_non_null(bytes);
        free(bytes);
    }
    assert_listed(&c, listed);
    case_close(&c);
}

/* The second frame cannot be written, so the third is not. */
static void files_that_could_not_be_written_are_not_listed(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_vtk(&c, NULL, two_fields, 2)->common.every = 1;
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(case_write(&c, 0, false), SEL_OK);
    assert_int_equal(sel_writer_drain(c.context.writer, NULL), SEL_OK);
    limit_files(1000);
    for (int64_t step = 1; step < 3 && !case_write(&c, step, false); step++) {
    }
    sel_status status = sel_writer_drain(c.context.writer, NULL);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, SEL_BAD_FILE);
    assert_listed(&c, "\"vtk.pvd\", \"vtk/vtk_00000000.vti\"");
    case_close(&c);
}

static void collection_names_each_file_and_its_time(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_vtk(&c, "f", two_fields, 1)->common.every = 2;
    assert_int_equal(case_run(&c, 3), SEL_OK);
    char *text = case_file(&c, "f.pvd", NULL);
    assert_non_null(strstr(
        text, "    <DataSet timestep=\"0\" part=\"0\" file=\"f/f_00000000.vti\"/>\n"
              "    <DataSet timestep=\"0.5\" part=\"0\" file=\"f/f_00000002.vti\"/>\n"
              "    <DataSet timestep=\"0.75\" part=\"0\" file=\"f/f_00000003.vti\"/>\n  </Coll"));
    free(text);
    assert_header_holds(&c, "f/f_00000002.vti", ">0.5</DataArray>");
    case_close(&c);
}

static void vectors_have_three_components_and_one_layer_in_two_dimensions(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[5] = 1;
    const char *fields[] = {"velocity", "pressure", "velocity_y"};
    add_vtk(&c, "f", fields, 3);
    assert_int_equal(case_run(&c, 2), SEL_OK);
    const char *file = "f/f_00000002.vti";
    double velocity[36], pressure[12], velocity_y[12];
    read_array(&c, file, "velocity", velocity, sizeof velocity);
    read_array(&c, file, "pressure", pressure, sizeof pressure);
    read_array(&c, file, "velocity_y", velocity_y, sizeof velocity_y);
    for (int64_t i = 0; i < 12; i++) {
        int64_t at[3] = {i % 4, i / 4, 0};
        bool solid = i == 5;
        for (int a = 0; a < 2; a++) {
            double expected = solid ? 0 : case_value(&c.domain.grid, at, 0, a, 2);
            assert_true(velocity[3 * i + a] == expected);
        }
        assert_true(velocity[3 * i + 2] == 0);
        assert_true(velocity_y[i] == velocity[3 * i + 1]);
        assert_true(pressure[i] == (solid ? 0 : case_value(&c.domain.grid, at, 1, 0, 2)));
    }
    assert_header_holds(&c, file,
                        "WholeExtent=\"0 4 0 3 0 1\" Origin=\"1 2 0\" "
                        "Spacing=\"0.5 0.5 0.5\"");
    case_close(&c);
}

static void solids_and_boundaries_come_with_the_names_of_their_regions(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[5] = 1;
    add_vtk(&c, "f", two_fields, 1);
    assert_int_equal(case_run(&c, 0), SEL_OK);
    uint8_t marks[12], solid[12] = {[5] = 1}, boundary[12] = {2, 2, 2, 2, 2, 0, 0, 2, 2, 2, 2, 2};
    read_array(&c, "f/f_00000000.vti", "cell_type", marks, sizeof marks);
    assert_memory_equal(marks, solid, sizeof marks); /* by region 1 */
    read_array(&c, "f/f_00000000.vti", "solid", marks, sizeof marks);
    assert_memory_equal(marks, solid, sizeof marks);
    read_array(&c, "f/f_00000000.vti", "boundary", marks, sizeof marks);
    assert_memory_equal(marks, boundary, sizeof marks);
    /* "interior", "block" and "region_2" as character codes. */
    assert_header_holds(&c, "f/f_00000000.vti",
                        "Name=\"cell_type_names\" NumberOfTuples=\"3\" format=\"ascii\">\n"
                        "        105 110 116 101 114 105 111 114 0 98 108 111 99 107 0 "
                        "114 101 103 105 111 110 95 50 0\n");
    case_close(&c);
}

static void boxes_and_strides_keep_cells_at_their_centres(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, 8, 6, 4);
    sel_shape_box corners = {{3, {1.6, 2, 0}}, {3, {4.9, 4, 1.9}}};
    sel_shape box = {.kind = SEL_SHAPE_BOX, .data = &corners};
    sel_vtk_params *vtk = add_vtk(&c, "part", two_fields, 2);
    vtk->within = &box; /* cells 1..7, 0..3, 0..3 */
    vtk->stride = 3;    /* cells 1 4 7, 0 3, 0 3 */
    add_vtk(&c, "box", two_fields, 2)->within = &box;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    double pressure[3 * 2 * 2];
    uint8_t types[3 * 2 * 2];
    read_array(&c, "part/part_00000000.vti", "pressure", pressure, sizeof pressure);
    read_array(&c, "part/part_00000000.vti", "cell_type", types, sizeof types);
    for (int k = 0; k < 12; k++) {
        /* The centre as ParaView places it: origin (0.25+1, ...) and spacing 1.5. */
        assert_true(pressure[k] == 10 * (1.0 + (k % 3 + 0.5) * 1.5));
    }
    assert_header_holds(&c, "part/part_00000000.vti",
                        "WholeExtent=\"0 3 0 2 0 2\" Origin=\"1 1.5 -0.5\" "
                        "Spacing=\"1.5 1.5 1.5\"");
    assert_header_holds(&c, "box/box_00000000.vti",
                        "WholeExtent=\"0 7 0 4 0 4\" Origin=\"1.5 2 0\" "
                        "Spacing=\"0.5 0.5 0.5\"");
    case_close(&c);
}

static void stride_leaves_the_third_axis_of_two_dimensions_alone(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 5, 4, 1);
    add_vtk(&c, "f", two_fields, 2)->stride = 2;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_header_holds(&c, "f/f_00000000.vti",
                        "WholeExtent=\"0 3 0 2 0 1\" Origin=\"0.75 1.75 0\" Spacing=\"1 1 0.5\"");
    case_close(&c);
}

static void precision_follows_the_run_unless_given(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_vtk(&c, "run", two_fields, 2);
    add_vtk(&c, "f32", two_fields, 2)->precision = SEL_VTK_F32;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    float narrow[12];
    double wide[12];
    read_array(&c, "f32/f32_00000000.vti", "pressure", narrow, sizeof narrow);
    read_array(&c, "run/run_00000000.vti", "pressure", wide, sizeof wide);
    for (int i = 0; i < 12; i++) {
        assert_true((double)narrow[i] == wide[i]);
    }
    case_close(&c);
}

static void digits_bound_the_relative_error(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 150, 100, 1);
    c.params.dx = 0.0123456789;
    for (int a = 0; a < 3; a++) {
        c.domain.grid.dx[a] = c.params.dx;
    }
    const char *fields[] = {"velocity_x"};
    add_vtk(&c, "exact", fields, 1)->compression = SEL_VTK_ZLIB;
    static const char *const names[] = {"r1", "r2", "r3", "r4", "r5", "r6"};
    for (int digits = 1; digits <= 6; digits++) {
        sel_vtk_params *vtk = add_vtk(&c, names[digits - 1], fields, 1);
        vtk->compression = SEL_VTK_ZLIB;
        vtk->digits = digits;
        vtk->precision = digits % 2 ? SEL_VTK_F32 : SEL_VTK_F64;
    }
    assert_int_equal(case_run(&c, 0), SEL_OK);
    enum { CELLS = 15000 };
    double *exact = malloc(CELLS * sizeof *exact), *f64 = malloc(CELLS * sizeof *f64);
    float *f32 = malloc(CELLS * sizeof *f32);
    read_array(&c, "exact/exact_00000000.vti", "velocity_x", exact, CELLS * sizeof *exact);
    for (int digits = 1; digits <= 6; digits++) {
        char file[64];
        snprintf(file, sizeof file, "r%d/r%d_00000000.vti", digits, digits);
        bool wide = digits % 2 == 0;
        read_array(&c, file, "velocity_x", wide ? (void *)f64 : f32,
                   CELLS * (wide ? sizeof *f64 : sizeof *f32));
        double largest = 0;
        for (int i = 0; i < CELLS; i++) {
            double value = wide ? f64[i] : (double)f32[i];
            largest = fmax(largest, fabs(value - exact[i]) / fabs(exact[i]));
        }
        assert_true(largest <= 0.5 * pow(10, -digits));
        assert_true(largest >= 0.01 * pow(10, -digits)); /* no more is kept than asked for */
    }
    free(exact);
    free(f64);
    free(f32);
    case_close(&c);
}

static void full_disk_leaves_the_earlier_files_whole(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 60, 40, 1);
    add_vtk(&c, "f", two_fields, 2);
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(case_write(&c, 0, true), SEL_OK);
    assert_int_equal(sel_writer_drain(c.context.writer, NULL), SEL_OK);
    char *collection = case_file(&c, "f.pvd", NULL);
    limit_files(20000);
    case_write(&c, 1, true);
    sel_status status = sel_writer_drain(c.context.writer, &c.error);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, SEL_BAD_FILE);
    assert_non_null(strstr(c.error.text, "f/f_00000001.vti: File too large"));
    assert_null(case_file(&c, "f/f_00000001.vti", NULL));
    assert_null(case_file(&c, "f/f_00000001.vti.tmp", NULL));
    assert_file(&c, "f.pvd", collection);
    free(collection);
    case_close(&c);
}

static void a_file_in_place_of_the_directory_is_told(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_vtk(&c, "f", two_fields, 2);
    char path[128];
    snprintf(path, sizeof path, "%s/f", c.directory);
    fclose(fopen(path, "w"));
    assert_int_equal(case_begin(&c), SEL_BAD_FILE);
    assert_non_null(strstr(c.error.text, "cannot create the directory"));
    assert_non_null(strstr(c.error.text, "Not a directory"));
    case_close(&c);
}

static void jobs_outlive_the_outputs(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 400, 300, 1);
    add_vtk(&c, "f", two_fields, 2)->compression = SEL_VTK_ZLIB;
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(case_write(&c, 0, true), SEL_OK);
    sel_outputs_close(c.opened);
    c.opened = NULL;
    assert_int_equal(sel_writer_drain(c.context.writer, NULL), SEL_OK);
    double *pressure = malloc(120000 * sizeof *pressure);
    read_array(&c, "f/f_00000000.vti", "pressure", pressure, 120000 * sizeof *pressure);
    assert_true(pressure[1] == 17.5);
    free(pressure);
    case_close(&c);
}

static void settings_that_make_no_sense_are_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_vtk(&c, "a", two_fields, 2)->level = 3;
    add_vtk(&c, "b", two_fields, 2)->digits = 3;
    sel_vtk_params *vtk = add_vtk(&c, "c", two_fields, 2);
    vtk->compression = SEL_VTK_ZLIB;
    vtk->level = 10;
    vtk->digits = 18;
    add_vtk(&c, "d", two_fields, 2)->stride = 0;
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, "test.lua:10: out.vtk: level needs compression = \"zlib\"\n"
                                      "test.lua:20: out.vtk: digits needs compression = \"zlib\"\n"
                                      "test.lua:30: out.vtk: level must be 1 to 9, got 10\n"
                                      "test.lua:30: out.vtk: digits must be 1 to 17, got 18\n"
                                      "test.lua:40: out.vtk: stride must be at least 1, got 0");
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_written_at_the_end_only_unless_asked),
        cmocka_unit_test(files_that_could_not_be_written_are_not_listed),
        cmocka_unit_test(collection_names_each_file_and_its_time),
        cmocka_unit_test(vectors_have_three_components_and_one_layer_in_two_dimensions),
        cmocka_unit_test(solids_and_boundaries_come_with_the_names_of_their_regions),
        cmocka_unit_test(boxes_and_strides_keep_cells_at_their_centres),
        cmocka_unit_test(stride_leaves_the_third_axis_of_two_dimensions_alone),
        cmocka_unit_test(precision_follows_the_run_unless_given),
        cmocka_unit_test(digits_bound_the_relative_error),
        cmocka_unit_test(full_disk_leaves_the_earlier_files_whole),
        cmocka_unit_test(a_file_in_place_of_the_directory_is_told),
        cmocka_unit_test(jobs_outlive_the_outputs),
        cmocka_unit_test(settings_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
