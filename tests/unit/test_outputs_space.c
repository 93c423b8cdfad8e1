/* test_outputs_space.c -- outputs in three dimensions, some in two as well, against known fields.
 */
#include "tests/unit/output_case.h"
#include "tests/unit/vti_file.h"

static const char *velocity[] = {"velocity"}, *pressure[] = {"pressure"};

/* 4 x 3 x 3 cells: x in [1, 3], y in [2, 3.5], z in [0, 1.5]. */
enum { NX = 4, NY = 3, NZ = 3, CELLS = NX * NY * NZ };

static double velocity_at(int a, double x, double y, double z) {
    return (a + 1) + 2 * x - 3 * y + 5 * z;
}

static int64_t cell(int64_t x, int64_t y, int64_t z) {
    return x + NX * (y + NY * z);
}

/* Column `column` of line `line` of a CSV file is `expected` but for round-off. */
static void assert_number(const output_case *c, const char *file, int line, int column,
                          double expected) {
    double got = case_number(c, file, line, column);
    if (!(fabs(got - expected) < 1e-11 * (1 + fabs(expected)))) {
        fail_msg("%s, line %d, column %d: %.17g, expected %.17g", file, line, column, got,
                 expected);
    }
}

/* ---- points and lines ---- */

static void probes_are_linear_along_all_three_axes(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    sel_point points[] = {{3, {1.25, 2.25, 0.25}}, {3, {1.9, 2.4, 1.1}}, {3, {2.7, 3.2, 0.3}}};
    sel_probe_params *probe = case_add(&c, &sel_out_probe_table);
    probe->field = case_names(velocity, 1);
    probe->at = (sel_points){3, points};
    assert_int_equal(case_run(&c, 0), SEL_OK);
    for (int p = 0; p < 3; p++) {
        const double *at = points[p].v;
        for (int a = 0; a < 3; a++) {
            assert_number(&c, "probe.csv", 1, 2 + 3 * p + a, velocity_at(a, at[0], at[1], at[2]));
        }
    }
    case_close(&c);
}

/* Of the eight centres about the point the solid ones have no part: the others' weights are scaled
 * up. */
static void probes_leave_the_solid_corners_out(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    c.domain.cell[cell(1, 1, 1)] = c.domain.cell[cell(0, 1, 1)] = c.domain.cell[cell(0, 0, 1)] = 1;
    sel_point point = {3, {1.35, 2.45, 0.45}};
    sel_probe_params *probe = case_add(&c, &sel_out_probe_table);
    probe->field = case_names(pressure, 1);
    probe->at = (sel_points){1, &point};
    assert_int_equal(case_run(&c, 0), SEL_OK);
    double x = 0.2, y = 0.4, z = 0.4, sum = 0, weights = 0;
    for (int corner = 0; corner < 8; corner++) {
        int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
        bool solid = c.domain.cell[cell(i, j, k)] != 0;
        double weight = (i ? x : 1 - x) * (j ? y : 1 - y) * (k ? z : 1 - z);
        sum += solid ? 0 : weight * (i ? 17.5 : 12.5);
        weights += solid ? 0 : weight;
    }
    assert_number(&c, "probe.csv", 1, 2, sum / weights);
    case_close(&c);
}

static void probes_wrap_along_a_periodic_z(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    c.domain.grid.periodic = 4;
    sel_point point = {3, {1.25, 2.25, 1.4}};
    sel_probe_params *probe = case_add(&c, &sel_out_probe_table);
    probe->field = case_names(velocity, 1);
    probe->at = (sel_points){1, &point};
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_number(&c, "probe.csv", 1, 2, velocity_at(0, 1.25, 2.25, 0.7 * 1.25 + 0.3 * 0.25));
    case_close(&c);
}

/* A line from the floor z = 0 to the ceiling z = 1.5, askew in x and y. */
static void a_profile_askew_ends_at_the_values_of_the_walls(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(velocity, 1);
    profile->from = (sel_point){3, {1.4, 2.4, 0}};
    profile->to = (sel_point){3, {2.6, 3.2, 1.5}};
    profile->points = 30;
    assert_int_equal(case_run(&c, 2), SEL_OK);
    static const double wall[] = {7 * 0.5, 8, 9};
    double length = sqrt(1.2 * 1.2 + 0.8 * 0.8 + 1.5 * 1.5);
    for (int k = 0; k < 30; k++) {
        double part = (k + 0.5) / 30, x = 1.4 + 1.2 * part, y = 2.4 + 0.8 * part, z = 1.5 * part;
        double within = fmin(fmax(z, 0.25), 1.25), to_wall = fabs(z - within) / 0.25;
        const double place[] = {part * length, x, y, z};
        for (int i = 0; i < 4; i++) {
            assert_number(&c, "profile.csv", k + 1, 2 + i, place[i]);
        }
        for (int a = 0; a < 3; a++) {
            double inner = velocity_at(a, x, y, within) + 2;
            assert_number(&c, "profile.csv", k + 1, 6 + a, inner + to_wall * (wall[a] - inner));
        }
    }
    case_close(&c);
}

/* Along x at the centres of a row whose last cell is solid, of the wall that moves. */
static void a_profile_meets_a_solid_as_it_meets_a_face(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    c.domain.cell[cell(3, 1, 1)] = 2;
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(velocity, 1);
    profile->from = (sel_point){3, {2.25, 2.75, 0.75}};
    profile->to = (sel_point){3, {2.75, 2.75, 0.75}};
    profile->points = 10;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    for (int k = 0; k < 5; k++) {
        double to_wall = (k + 0.5) / 5, centre = velocity_at(2, 2.25, 2.75, 0.75);
        assert_number(&c, "profile.csv", k + 1, 8, centre + to_wall * (9 - centre));
        assert_true(case_number(&c, "profile.csv", k + 6, 8) == 0);
    }
    case_close(&c);
}

static void profiles_have_a_sample_per_cell_of_their_length(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(pressure, 1);
    profile->from = (sel_point){3, {1, 2, 0}};
    profile->to = (sel_point){3, {3, 3.5, 1.5}};
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_number(&c, "profile.csv", 6, 2, 5.5 / 6 * sqrt(8.5)); /* sqrt(8.5) / 0.5 is 5.8 */
    char *text = case_file(&c, "profile.csv", NULL);
    int lines = 0;
    for (const char *at = text; *at; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, 7);
    free(text);
    case_close(&c);
}

/* ---- sums ---- */

/* The cells 1..2, 0..1 and, in 3-D, 1..2 but for a solid one. */
static void reductions_cover_the_free_cells_of_their_box(void **state) {
    (void)state;
    for (int k = 0; k < 2 * (SEL_OF_L2 + 1); k++) {
        const int op = k / 2, dims = 2 + k % 2, z0 = dims - 2;
        output_case c;
        case_open(&c, dims, NX, NY, dims == 3 ? NZ : 1);
        c.domain.cell[cell(2, 1, z0)] = 1;
        sel_shape_box box = {{dims, {1.6, 2, 0.6}}, {dims, {2.6, 2.8, 1.5}}};
        sel_shape within = {.kind = SEL_SHAPE_BOX, .data = &box};
        sel_reduce_params *reduce = case_add(&c, &sel_out_reduce_table);
        reduce->field = case_names(velocity, 1);
        reduce->op = op;
        reduce->within = &within;
        assert_int_equal(case_run(&c, 0), SEL_OK);
        for (int a = 0; a < dims; a++) {
            double sum = 0, squares = 0, least = 1e9, most = -1e9;
            const int cells = dims == 3 ? 8 : 4, free_cells = cells - 1;
            for (int i = 0; i < cells; i++) {
                int x = 1 + (i & 1), y = i >> 1 & 1, z = z0 + (i >> 2);
                double v =
                    velocity_at(a, 1.25 + 0.5 * x, 2.25 + 0.5 * y, dims == 3 ? 0.25 + 0.5 * z : 0);
                bool solid = x == 2 && y == 1 && z == z0;
                sum += solid ? 0 : v;
                squares += solid ? 0 : v * v;
                least = solid ? least : fmin(least, v);
                most = solid ? most : fmax(most, v);
            }
            const double expected[] = {sum, least, most, sum / free_cells,
                                       sqrt(squares / free_cells)};
            assert_number(&c, "reduce.csv", 1, 2 + a, expected[op]);
            assert_true(fabs(c.results.v[a].value - expected[op]) < 1e-10);
        }
        assert_int_equal(c.results.count, dims);
        assert_string_equal(c.results.v[1].name, "reduce.velocity_y");
        case_close(&c);
    }
}

static void fluxes_through_planes_count_their_free_cells(void **state) {
    (void)state;
    static const char *const names[] = {"x", "y", "z"}, *const files[] = {"x.csv", "y.csv",
                                                                          "z.csv"};
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    c.domain.cell[cell(2, 1, 1)] = 1;
    sel_shape_box boxes[3];
    sel_shape shapes[3];
    for (int a = 0; a < 3; a++) {
        boxes[a] = (sel_shape_box){{3, {0, 0, -1}}, {3, {9, 9, 9}}};
        boxes[a].min.v[a] = (double[]){2.2, 2.7, 0.7}[a]; /* the layer of the solid cell */
        boxes[a].max.v[a] = boxes[a].min.v[a] + 0.5;
        shapes[a] = (sel_shape){.kind = SEL_SHAPE_BOX, .data = &boxes[a]};
        sel_flux_params *flux = case_add(&c, &sel_out_flux_table);
        flux->common.name = names[a];
        flux->through = &shapes[a];
    }
    assert_int_equal(case_run(&c, 0), SEL_OK);
    for (int a = 0; a < 3; a++) {
        double sum = 0;
        for (int64_t i = 0; i < CELLS; i++) {
            int64_t at[3];
            sel_cell_at(&c.domain.grid, i, at);
            bool counts = at[a] == (int[]){2, 1, 1}[a] && i != cell(2, 1, 1);
            sum += counts ? case_value(&c.domain.grid, at, 0, a, 0) : 0;
        }
        assert_number(&c, files[a], 1, 2, 0.25 * sum);
    }
    case_close(&c);
}

static void forces_have_three_components_and_torques_about_a_point(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    c.params.reference = (sel_reference){.length = 4, .velocity = 0.5, .area = 8};
    sel_force_params *force = case_add(&c, &sel_out_force_table);
    force->region = "block";
    force->centre = (sel_point){3, {10, 20, 30}};
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_file(&c, "force.csv",
                "step,time,force_x,force_y,force_z,torque_x,torque_y,torque_z,cd,cl\n"
                "0,0,2,0,3,-2030,-3010,-1020,2,0\n");
    assert_string_equal(c.results.v[4 * 2].name, "force.force_z_mean");
    assert_true(c.results.v[4 * 2].value == 3);
    assert_string_equal(c.results.v[4 * 5].name, "force.torque_z_mean");
    assert_true(c.results.v[4 * 5].value == -1020);
    case_close(&c);
}

/* A length makes no area in space. */
static void coefficients_in_space_need_an_area(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    c.params.reference = (sel_reference){.length = 4, .velocity = 0.5, .area = (double)NAN};
    sel_force_params *force = case_add(&c, &sel_out_force_table);
    force->region = "block";
    assert_int_equal(case_run(&c, 0), SEL_OK);
    char *text = case_file(&c, "force.csv", NULL);
    assert_null(strstr(text, ",cd"));
    free(text);
    case_close(&c);
}

/* ---- components ---- */

/* A curl is a number in the plane. */
static void tensors_and_curls_have_a_column_for_each_component(void **state) {
    (void)state;
    static const struct {
        int dims;
        const char *field, *file, *component;
        double largest; /* of the component, at the last centres x = 2.75, y = 3.25 */
    } cases[] = {
        {2, "vorticity", "step,time,vorticity\n0,0,1002.25\n", "vorticity", 1003.25},
        {3, "vorticity",
         "step,time,vorticity_x,vorticity_y,vorticity_z\n0,0,1002.25,2002.25,3002.25\n",
         "vorticity_z", 3003.25},
        {2, "stress", "step,time,stress_xx,stress_yy,stress_xy\n0,0,101.25,201.25,301.25\n",
         "stress_xy", 302.75},
        {3, "stress",
         "step,time,stress_xx,stress_yy,stress_zz,stress_xy,stress_yz,stress_xz\n"
         "0,0,101.25,201.25,301.25,401.25,501.25,601.25\n",
         "stress_xy", 402.75},
    };
    for (int k = 0; k < 4; k++) {
        const int dims = cases[k].dims;
        const char *field = cases[k].field, *component = cases[k].component;
        output_case c;
        case_open(&c, dims, NX, NY, dims == 2 ? 1 : NZ);
        sel_point point = {dims, {1.25, 2.25, 0.25}};
        sel_probe_params *probe = case_add(&c, &sel_out_probe_table);
        probe->field = case_names(&field, 1);
        probe->at = (sel_points){1, &point};
        sel_reduce_params *reduce = case_add(&c, &sel_out_reduce_table);
        reduce->field = case_names(&component, 1);
        reduce->op = SEL_OF_MAX;
        assert_int_equal(case_run(&c, 0), SEL_OK);
        assert_file(&c, "probe.csv", cases[k].file);
        assert_number(&c, "reduce.csv", 1, 2, cases[k].largest);
        case_close(&c);
    }
}

static void read_array(const output_case *c, const char *file, const char *name, double *to,
                       size_t numbers) {
    size_t size;
    char *whole = case_file(c, file, &size);
    assert_non_null(whole);
    size_t bytes = numbers * sizeof *to;
    assert_int_equal(array_of(whole, size, name, to, bytes), bytes);
    free(whole);
}

/* Tensors as VTK has them: xx yy zz xy yz xz. */
static void images_hold_vectors_of_three_and_tensors_of_six(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"velocity", "stress", "vorticity", "stress_yz"};
    static const int field[] = {0, 2, 3, 2}, components[] = {3, 6, 3, 1}, first[] = {0, 0, 0, 4};
    case_open(&c, 3, NX, NY, NZ);
    c.domain.cell[cell(1, 1, 1)] = 1;
    sel_vtk_params *vtk = case_add(&c, &sel_out_vtk_table);
    vtk->fields = case_names(fields, 4);
    sel_average_params *average = case_add(&c, &sel_out_average_table);
    average->fields = case_names(fields, 4);
    average->common.every = 1;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    for (int f = 0; f < 4; f++) {
        double v[6 * CELLS], mean[6 * CELLS];
        char name[64];
        size_t numbers = CELLS * (size_t)components[f];
        snprintf(name, sizeof name, "%s_mean", fields[f]);
        read_array(&c, "vtk/vtk_00000000.vti", fields[f], v, numbers);
        read_array(&c, "average.vti", name, mean, numbers);
        for (size_t i = 0; i < numbers; i++) {
            int64_t at[3], number = (int64_t)i / components[f];
            int component = first[f] + (int)i % components[f];
            sel_cell_at(&c.domain.grid, number, at);
            double expected = number == cell(1, 1, 1)
                                  ? 0
                                  : case_value(&c.domain.grid, at, field[f], component, 0);
            assert_true(v[i] == expected && mean[i] == expected);
        }
    }
    case_close(&c);
}

/* ---- mistakes ---- */

static void what_has_no_place_in_space_is_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, NX, NY, NZ);
    sel_point flat = {2, {2, 3, 0}}, above = {3, {2, 3, 1.6}}, inside = {3, {2, 3, 1}};
    sel_point line[] = {inside, above};
    sel_shape_box thick = {{3, {1, 2, 0}}, {3, {3, 3.5, 1}}};
    sel_shape_box rod = {{3, {1, 2, 0}}, {3, {3, 2.5, 0.5}}};
    sel_shape_box plane = {{2, {1, 2, 0}}, {2, {1.5, 3, 0}}};
    const sel_shape shapes[] = {{.kind = SEL_SHAPE_BOX, .data = &thick},
                                {.kind = SEL_SHAPE_BOX, .data = &rod},
                                {.kind = SEL_SHAPE_BOX, .data = &plane}};
    static const char *const names[] = {"a", "b", "c", "d"};
    sel_probe_params *probe = case_add(&c, &sel_out_probe_table);
    probe->field = case_names(pressure, 1);
    probe->at = (sel_points){1, &flat};
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(pressure, 1);
    profile->from = inside;
    profile->to = above;
    for (int i = 0; i < 4; i++) {
        sel_flux_params *flux = case_add(&c, &sel_out_flux_table);
        flux->common.name = names[i];
        flux->through = i < 3 ? &shapes[i] : NULL;
        flux->across = (sel_points){i < 3 ? 0 : 2, line};
    }
    sel_force_params *force = case_add(&c, &sel_out_force_table);
    force->region = "block";
    force->centre = flat;
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_string_equal(
        c.error.text,
        "test.lua:10: out.probe: at has 2 coordinates, the domain has 3 dimensions\n"
        "test.lua:20: out.profile: to lies outside the domain: z = 1.6, the domain is [1, 3] x [2, "
        "3.5] x [0, 1.5]\n"
        "test.lua:30: out.flux: the box of through must hold the centres of one layer of cells "
        "along just one axis; it has 4 x 3 x 2\n"
        "test.lua:40: out.flux: the box of through must hold the centres of one layer of cells "
        "along just one axis; it has 4 x 1 x 1\n"
        "shape.box: min has 2 coordinates in a domain of 3 dimensions\n"
        "test.lua:60: out.flux: across is a line in 2-D; in 3-D give through, a box that is one "
        "cell thin\n"
        "test.lua:70: out.force: centre has 2 coordinates, the domain has 3 dimensions");
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_are_linear_along_all_three_axes),
        cmocka_unit_test(probes_leave_the_solid_corners_out),
        cmocka_unit_test(probes_wrap_along_a_periodic_z),
        cmocka_unit_test(a_profile_askew_ends_at_the_values_of_the_walls),
        cmocka_unit_test(a_profile_meets_a_solid_as_it_meets_a_face),
        cmocka_unit_test(profiles_have_a_sample_per_cell_of_their_length),
        cmocka_unit_test(reductions_cover_the_free_cells_of_their_box),
        cmocka_unit_test(fluxes_through_planes_count_their_free_cells),
        cmocka_unit_test(forces_have_three_components_and_torques_about_a_point),
        cmocka_unit_test(coefficients_in_space_need_an_area),
        cmocka_unit_test(tensors_and_curls_have_a_column_for_each_component),
        cmocka_unit_test(images_hold_vectors_of_three_and_tensors_of_six),
        cmocka_unit_test(what_has_no_place_in_space_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
