/* test_nodes.c -- grids of nodes, and of cells whose sides differ: places, regions, outputs. */
#include "engine/output/kind.h"
#include "tests/unit/fake_solver.h"
#include "tests/unit/output_case.h"
#include "tests/unit/vti_file.h"

/* 5 x 4 nodes: x in [1, 3], y in [2, 2.75]. */
enum { NX = 5, NY = 4 };
static const sel_grid nodes = {
    .dims = 2, .nodes = true, .n = {NX, NY, 1}, .dx = {0.5, 0.25, 0.5}, .origin = {1, 2, 0}};
static const char *pressure[] = {"pressure"}, *velocity[] = {"velocity"};

/* ---- places ---- */

static void nodes_lie_on_the_ends_of_the_domain(void **state) {
    (void)state;
    char text[SEL_EXTENT_TEXT];
    sel_grid grid = nodes;
    assert_true(sel_centre(&grid, 0, 0) == 1 && sel_centre(&grid, 1, NY - 1) == 2.75);
    assert_true(sel_upper_end(&grid, 0) == 3 && sel_upper_end(&grid, 1) == 2.75);
    assert_true(sel_index(&grid, 0, 2.5) == 3 && sel_index(&grid, 1, 2.125) == 0.5);
    assert_true(sel_in_domain(&grid, 1, 2.75) && !sel_in_domain(&grid, 1, 2.76));
    sel_extent_text(&grid, text);
    assert_string_equal(text, "x from 1 to 3, y from 2 to 2.75");
    grid.periodic = 1;
    assert_true(sel_upper_end(&grid, 0) == 3.5 && sel_upper_end(&grid, 1) == 2.75);
    grid.nodes = false;
    assert_true(sel_centre(&grid, 1, 0) == 2.125 && sel_upper_end(&grid, 1) == 3);
    assert_true(sel_index(&grid, 1, 2.125) == 0);
}

static void sides_are_given_for_all_axes_or_for_each(void **state) {
    (void)state;
    char text[SEL_SIDES_TEXT];
    sel_common common = {.size = {2, {4, 3, 0}}, .dx = 0.5, .sides = {2, {0.1, 0.25, 0}}};
    sel_grid grid = sel_common_grid(&common);
    assert_true(grid.dx[0] == 0.1 && grid.dx[1] == 0.25 && !sel_equal_sides(&grid));
    assert_string_equal(sel_sides_text(&grid, 6, text), "{0.1, 0.25}");
    common.sides.n = 1;
    common.layout = SEL_LAYOUT_NODE;
    grid = sel_common_grid(&common);
    assert_true(grid.dx[0] == 0.1 && grid.dx[1] == 0.1 && grid.nodes);
    common.sides.n = 0;
    grid = sel_common_grid(&common);
    assert_true(grid.dx[1] == 0.5 && sel_equal_sides(&grid));
    assert_string_equal(sel_sides_text(&grid, 17, text), "0.5");
}

static void boxes_that_end_with_the_domain_hold_its_last_nodes(void **state) {
    (void)state;
    const sel_grid fine = {.dims = 2, .nodes = true, .n = {21, 21, 1}, .dx = {0.1, 0.1, 0.1}};
    const sel_shape_box ends = {{2, {1.1, 0, 0}}, {2, {2, 2, 0}}},
                        within = {{2, {0, 0.5, 0}}, {2, {1.1, 0.8, 0}}};
    const sel_shape shapes[] = {{.kind = SEL_SHAPE_BOX, .data = &ends},
                                {.kind = SEL_SHAPE_BOX, .data = &within}};
    sel_box box = sel_within_box(&fine, &shapes[0]);
    assert_true(box.lo[0] == 11 && box.hi[0] == 21 && box.lo[1] == 0 && box.hi[1] == 21);
    box = sel_within_box(&fine, &shapes[1]); /* half-open: 1.1 belongs to the first one */
    assert_true(box.lo[0] == 0 && box.hi[0] == 11 && box.lo[1] == 5 && box.hi[1] == 8);
}

/* ---- regions ---- */

typedef struct painted {
    sel_shape_box box;
    sel_shape all_faces, face, geometry, part;
    sel_region regions[3];
    sel_common common;
    sel_simulation simulation;
    sel_domain *domain;
    sel_error error;
} painted;

/* All faces; then a box, on its own and as a part of the face y+. */
static sel_status paint(painted *p, sel_shape_box box) {
    p->box = box;
    p->all_faces = (sel_shape){.kind = SEL_SHAPE_FACES};
    p->face = (sel_shape){.kind = SEL_SHAPE_FACE, .face = SEL_Y_MAX};
    p->geometry = (sel_shape){.kind = SEL_SHAPE_BOX, .data = &p->box};
    p->part = (sel_shape){.kind = SEL_SHAPE_INTERSECTION, .a = &p->face, .b = &p->geometry};
    p->regions[0] = fake_region(1, "faces", &p->all_faces, &fake_anywhere);
    p->regions[1] = fake_region(2, "box", &p->geometry, &fake_anywhere);
    p->regions[2] = fake_region(3, "part", &p->part, &fake_anywhere);
    p->common.size = (sel_ints){2, {NX, NY, 0}};
    p->common.sides = (sel_point){2, {0.5, 0.25, 0}};
    p->common.origin = (sel_point){2, {1, 2, 0}};
    p->common.layout = SEL_LAYOUT_NODE;
    p->common.regions = (sel_list){3, p->regions, NULL};
    p->simulation = (sel_simulation){.solver = &fake_solver, .params = &p->common};
    return sel_domain_create(&p->simulation, NULL, &p->domain, &p->error);
}

static void shapes_are_tested_at_nodes(void **state) {
    (void)state;
    static const uint8_t cells[NX * NY] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                           0, 0, 0, 2, 2, 0, 0, 0, 2, 2},
                                    sites[NX] = {1, 1, 1, 3, 3};
    painted p = {.domain = NULL};
    assert_int_equal(paint(&p, (sel_shape_box){{2, {2.5, 2.5, 0}}, {2, {3, 2.75, 0}}}), SEL_OK);
    assert_memory_equal(p.domain->cell, cells, sizeof cells);
    assert_memory_equal(p.domain->face[SEL_Y_MAX], sites, sizeof sites);
    sel_domain_destroy(p.domain);
}

static void domains_that_cannot_be_are_refused(void **state) {
    (void)state;
    painted p = {.common = {.periodic = 0}};
    const sel_shape_box box = {{2, {2, 2, 0}}, {2, {3, 3, 0}}};
    assert_int_equal(paint(&p, box), SEL_OK);
    sel_domain_destroy(p.domain);
    p.common.size.v[1] = 1;
    assert_int_equal(sel_domain_create(&p.simulation, NULL, &p.domain, &p.error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(p.error.text, "size[2] must be at least 2: the domain lies between"));
    p.common.size.v[1] = NY;
    p.common.sides.n = 3;
    assert_int_equal(sel_domain_create(&p.simulation, NULL, &p.domain, &p.error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(p.error.text, "dx has 3 sides in a domain of 2 dimensions"));
}

/* ---- outputs ---- */

static void open_nodes(output_case *c) {
    case_open(c, 2, NX, NY, 1);
    c->domain.grid = nodes;
    c->domain.grid.dt = 0.25;
}

static double pressure_at(double x) {
    return 10 * x;
}

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) < 1e-11 * (1 + fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", got, expected);
    }
}

static void probes_reach_from_the_first_node_to_the_last(void **state) {
    (void)state;
    output_case c;
    open_nodes(&c);
    sel_point points[] = {{2, {1, 2, 0}}, {2, {1.3, 2.1, 0}}, {2, {3, 2.75, 0}}};
    sel_probe_params *probe = case_add(&c, &sel_out_probe_table);
    probe->field = case_names(pressure, 1);
    probe->at = (sel_points){3, points};
    assert_int_equal(case_run(&c, 0), SEL_OK);
    for (int p = 0; p < 3; p++) {
        assert_near(case_number(&c, "probe.csv", 1, 2 + p), pressure_at(points[p].v[0]));
    }
    points[0].v[0] = 3.1;
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "at[1] lies outside the domain: x = 3.1, the domain is "
                                         "[1, 3] x [2, 2.75]"));
    case_close(&c);
}

static void profiles_sample_the_nodes(void **state) {
    (void)state;
    output_case c;
    open_nodes(&c);
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(pressure, 1);
    profile->from = (sel_point){2, {1, 2.5, 0}};
    profile->to = (sel_point){2, {3, 2.5, 0}};
    assert_int_equal(case_run(&c, 0), SEL_OK);
    for (int p = 0; p < NX; p++) {
        assert_near(case_number(&c, "profile.csv", 1 + p, 2), 0.5 * p);
        assert_near(case_number(&c, "profile.csv", 1 + p, 3), 1 + 0.5 * p);
        assert_near(case_number(&c, "profile.csv", 1 + p, 6), pressure_at(1 + 0.5 * p));
    }
    case_close(&c);
}

/* On the way to a solid node, at which the law of region 2 holds: velocity_y is 8. */
static void profiles_approach_the_value_of_a_solid_node(void **state) {
    (void)state;
    output_case c;
    open_nodes(&c);
    for (int j = 0; j < NY; j++) {
        c.domain.cell[NX * j + 2] = 2;
    }
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(velocity, 1);
    profile->from = (sel_point){2, {1.5, 2, 0}};
    profile->to = (sel_point){2, {1.9, 2, 0}};
    profile->points = 3;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    const double last = 2 + 2 * 1.5 - 3 * 2;
    for (int p = 0; p < 3; p++) {
        const double part = 0.2 * p / 0.5;
        assert_near(case_number(&c, "profile.csv", 1 + p, 7), last + part * (8 - last));
    }
    case_close(&c);
}

static void assert_holds(const char *bytes, const char *text) {
    if (!strstr(bytes, text)) {
        fail_msg("no %s in\n%.2000s", text, bytes);
    }
}

static void vtk_files_of_nodes_have_point_data(void **state) {
    (void)state;
    output_case c;
    double values[NX * NY];
    uint8_t solid[NX * NY];
    size_t size = 0;
    open_nodes(&c);
    c.domain.cell[7] = 1;
    sel_vtk_params *vtk = case_add(&c, &sel_out_vtk_table);
    vtk->fields = case_names(pressure, 1);
    sel_average_params *average = case_add(&c, &sel_out_average_table);
    average->fields = case_names(pressure, 1);
    average->common.every = 1;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    char *bytes = case_file(&c, "vtk/vtk_00000000.vti", &size);
    assert_holds(bytes, "WholeExtent=\"0 4 0 3 0 0\" Origin=\"1 2 0\" Spacing=\"0.5 0.25 0.5\"");
    assert_holds(bytes, "<CellData>\n      </CellData>\n      <PointData>\n        <DataArray");
    assert_int_equal(array_of(bytes, size, "pressure", values, sizeof values), sizeof values);
    assert_int_equal(array_of(bytes, size, "solid", solid, sizeof solid), sizeof solid);
    for (int i = 0; i < NX * NY; i++) {
        assert_int_equal(solid[i], i == 7);
        assert_near(values[i], i == 7 ? 0 : pressure_at(1 + 0.5 * (i % NX)));
    }
    free(bytes);
    bytes = case_file(&c, "average.vti", &size);
    assert_holds(bytes, "<CellData>\n      </CellData>\n      <PointData>\n        <DataArray");
    assert_int_equal(array_of(bytes, size, "pressure_mean", values, sizeof values), sizeof values);
    free(bytes);
    case_close(&c);
}

static void every_second_node_stays_where_it_is(void **state) {
    (void)state;
    output_case c;
    size_t size = 0;
    open_nodes(&c);
    sel_vtk_params *vtk = case_add(&c, &sel_out_vtk_table);
    vtk->fields = case_names(pressure, 1);
    vtk->stride = 2;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    char *bytes = case_file(&c, "vtk/vtk_00000000.vti", &size);
    assert_holds(bytes, "WholeExtent=\"0 2 0 1 0 0\" Origin=\"1 2 0\" Spacing=\"1 0.5 0.5\"");
    free(bytes);
    case_close(&c);
}

static void fluxes_are_integrals_over_the_faces_of_oblong_cells(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 3, 4, 3, 2);
    c.domain.grid.dx[1] = 0.25;
    c.domain.grid.dx[2] = 2;
    sel_shape_box layer = {{3, {1, 2, 0}}, {3, {1.5, 2.75, 4}}};
    const sel_shape shape = {.kind = SEL_SHAPE_BOX, .data = &layer};
    sel_flux_params *flux = case_add(&c, &sel_out_flux_table);
    flux->through = &shape;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    /* velocity_x in the middle of the layer, times its area */
    assert_near(case_number(&c, "flux.csv", 1, 2), (1 + 2 * 1.25 - 3 * 2.375 + 5 * 2) * (0.75 * 4));
    case_close(&c);
}

static void maps_have_square_cells(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, NX, NY, 1);
    c.domain.grid.dx[1] = 0.25;
    sel_grid_params *grid = case_add(&c, &sel_out_grid_table);
    grid->field = pressure[0];
    assert_int_equal(case_check(&c), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text,
                           "test.lua:10: out.grid: grids have square cells, dx is {0.5, 0.25} "
                           "here; out.vtk writes it"));
    case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_lie_on_the_ends_of_the_domain),
        cmocka_unit_test(sides_are_given_for_all_axes_or_for_each),
        cmocka_unit_test(boxes_that_end_with_the_domain_hold_its_last_nodes),
        cmocka_unit_test(shapes_are_tested_at_nodes),
        cmocka_unit_test(domains_that_cannot_be_are_refused),
        cmocka_unit_test(probes_reach_from_the_first_node_to_the_last),
        cmocka_unit_test(profiles_sample_the_nodes),
        cmocka_unit_test(profiles_approach_the_value_of_a_solid_node),
        cmocka_unit_test(vtk_files_of_nodes_have_point_data),
        cmocka_unit_test(every_second_node_stays_where_it_is),
        cmocka_unit_test(fluxes_are_integrals_over_the_faces_of_oblong_cells),
        cmocka_unit_test(maps_have_square_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
