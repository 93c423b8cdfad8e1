/* test_surface.c -- faces of cells on surfaces: which are listed, in which order, by region, and
 * the values of laws there.
 */
#include "tests/unit/heat_case.h"

static double half(const sel_domain *domain, int region, bool outer) {
    (void)domain, (void)region, (void)outer;
    return 0.5;
}

/* Faces of the domain only, in the centres. */
static double outer_only(const sel_domain *domain, int region, bool outer) {
    (void)domain, (void)region;
    return outer ? 0 : -1;
}

/* Not those of region 1; a whole side from the others. */
static double second(const sel_domain *domain, int region, bool outer) {
    (void)domain, (void)outer;
    return region == 1 ? -1 : 1;
}

static sel_surfaces list(heat_case *c, sel_surface_far *far) {
    sel_surfaces s;
    assert_int_equal(sel_surfaces_list(c->prepared.domain, false, far, &s, &c->error), SEL_OK);
    return s;
}

static void assert_site(const sel_surfaces *s, int64_t k, int64_t cell, int face, int region,
                        bool outer) {
    const sel_site *site = &s->site[k];
    if (site->cell != cell || site->face != face || site->region != region ||
        site->outer != outer) {
        fail_msg("site %d is face %d of cell %d, region %d", (int)k, site->face, (int)site->cell,
                 site->region);
    }
}

static void faces_of_the_domain_are_listed_cell_by_cell(void **state) {
    (void)state;
    static const int64_t first[] = {0, 2, 3, 5, 7, 8, 10};
    static const int faces[] = {SEL_X_MIN, SEL_Y_MIN, SEL_Y_MIN, SEL_X_MAX, SEL_Y_MIN,
                                SEL_X_MIN, SEL_Y_MAX, SEL_Y_MAX, SEL_X_MAX, SEL_Y_MAX};
    heat_case c;
    heat_open(&c, "return sel.heat { size = { 3, 2 }, dx = { 2, 3 }, diffusivity = 1,\n"
                  "origin = { 10, 20 }, stop = { steps = 1 }, regions = {\n"
                  "all(law.insulated {}), face('x+', law.insulated {}) } }\n");
    sel_surfaces s = list(&c, half);
    assert_int_equal(s.cells, 6);
    assert_int_equal(s.sites.count, 10);
    for (int64_t k = 0; k < 6; k++) {
        assert_int_equal(s.cell[k], k);
        assert_int_equal(s.first_site[k], first[k]);
        for (int64_t i = first[k]; i < first[k + 1]; i++) {
            assert_site(&s, i, k, faces[i], faces[i] == SEL_X_MAX ? 2 : 1, true);
        }
    }
    assert_int_equal(s.first_site[6], 10);
    /* By region: eight of the first, two of the second, whose places are on the face. */
    assert_int_equal(s.first_of[1], 0);
    assert_int_equal(s.first_of[2], 8);
    assert_int_equal(s.first_of[3], 10);
    assert_int_equal(s.order[8], 3);
    assert_int_equal(s.order[9], 8);
    for (int k = 8; k < 10; k++) {
        assert_true(s.place[0][k] == 16 && s.place[1][k] == (k == 8 ? 21.5 : 24.5));
    }
    sel_surfaces_free(&s);
    heat_close(&c);
}

static void faces_of_solids_are_met_from_all_sides(void **state) {
    (void)state;
    static const int64_t cells[] = {6, 10, 12, 16};
    static const int faces[] = {SEL_Y_MAX, SEL_X_MAX, SEL_X_MIN, SEL_Y_MIN};
    heat_case c;
    heat_open(&c, "return sel.heat { size = { 5, 5 }, diffusivity = 1, stop = { steps = 1 },\n"
                  "regions = { all(law.insulated {}), { where = shape.box { min = { 1, 2 },\n"
                  "max = { 2, 3 } }, law = law.insulated {} } } }\n");
    sel_surfaces s = list(&c, second);
    assert_int_equal(s.cells, 4);
    assert_int_equal(s.sites.count, 4);
    for (int64_t k = 0; k < 4; k++) {
        assert_int_equal(s.cell[k], cells[k]);
        assert_site(&s, k, cells[k], faces[k], 2, false);
        assert_int_equal(s.order[k], k);
        assert_true(s.place[0][k] == 1.5 && s.place[1][k] == 2.5); /* a side away: its centre */
    }
    sel_surfaces_free(&s);
    heat_close(&c);
}

static void periodic_axes_have_no_faces_and_pass_on_solids(void **state) {
    (void)state;
    heat_case c;
    heat_open(&c, "return sel.heat { size = { 4, 3 }, diffusivity = 1, stop = { steps = 1 },\n"
                  "periodic = { 'x' }, regions = { all(law.insulated {}),\n"
                  "{ where = shape.box { min = { 0, 1 }, max = { 1, 2 } }, law = law.insulated {} "
                  "} } }\n");
    sel_surfaces s = list(&c, half);
    assert_int_equal(s.sites.count, 4 + 4 + 4);
    assert_int_equal(s.first_of[2], 8);
    assert_site(&s, s.order[8], 0, SEL_Y_MAX, 2, false);
    assert_site(&s, s.order[9], 5, SEL_X_MIN, 2, false);
    assert_site(&s, s.order[10], 7, SEL_X_MAX, 2, false); /* around the axis */
    assert_site(&s, s.order[11], 8, SEL_Y_MIN, 2, false);
    assert_true(s.place[0][10] == 4 && s.place[1][10] == 1.5);
    sel_surfaces_free(&s);
    s = list(&c, outer_only);
    assert_int_equal(s.sites.count, 8);
    assert_int_equal(s.first_of[3] - s.first_of[2], 0);
    sel_surfaces_free(&s);
    heat_close(&c);
}

static void nodes_of_a_border_are_their_own_places(void **state) {
    (void)state;
    heat_case c;
    heat_open(&c, "return sel.heat { size = { 3, 4 }, dx = 0.5, diffusivity = 1, layout = 'node',\n"
                  "stop = { steps = 1 }, regions = { all(law.insulated {}) } }\n");
    sel_surfaces s = list(&c, outer_only);
    assert_int_equal(s.sites.count, 2 * (3 + 4));
    assert_int_equal(s.cells, 10);
    for (int64_t k = 0; k < s.sites.count; k++) {
        const int64_t cell = s.site[s.order[k]].cell;
        assert_true(s.place[0][k] == 0.5 * (double)(cell % 3));
        assert_true(s.place[1][k] == 0.5 * (double)(cell / 3));
    }
    sel_surfaces_free(&s);
    heat_close(&c);
}

static void thin_grids_have_both_faces_in_one_cell(void **state) {
    (void)state;
    heat_case c;
    heat_open(&c, "return sel.heat { size = { 1, 3 }, diffusivity = 1, stop = { steps = 1 },\n"
                  "regions = { all(law.insulated {}) } }\n");
    sel_surfaces s = list(&c, half);
    assert_int_equal(s.cells, 3);
    assert_int_equal(s.sites.count, 8);
    assert_site(&s, 0, 0, SEL_X_MIN, 1, true);
    assert_site(&s, 1, 0, SEL_X_MAX, 1, true);
    assert_site(&s, 2, 0, SEL_Y_MIN, 1, true);
    sel_surfaces_free(&s);
    heat_close(&c);
    heat_open(&c, "return sel.heat { size = { 1, 3 }, diffusivity = 1, stop = { steps = 1 },\n"
                  "periodic = { 'x', 'y' }, regions = {} }\n");
    s = list(&c, half);
    assert_int_equal(s.cells, 0);
    assert_int_equal(s.sites.count, 0);
    sel_surfaces_free(&s);
    assert_int_equal(sel_cell_beyond(heat_grid(&c), 1, SEL_X_MAX), 1);
    assert_int_equal(sel_cell_beyond(heat_grid(&c), 0, SEL_Y_MIN), 2);
    heat_close(&c);
}

/* All pairs of a free cell and what lies beyond its faces, with the plainest of loops. */
static void check_all_pairs(heat_case *c) {
    const sel_domain *domain = c->prepared.domain;
    const sel_grid *grid = &domain->grid;
    sel_surfaces s = list(c, half);
    int64_t sites = 0, of_region[SEL_REGION_NUMBERS] = {0};
    for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
        int64_t at[3];
        sel_cell_at(grid, i, at);
        for (int face = 0; face < 2 * grid->dims && !domain->cell[i]; face++) {
            const int axis = face / 2;
            int64_t to[3] = {at[0], at[1], at[2]};
            to[axis] += face % 2 ? 1 : -1;
            const bool beyond = to[axis] < 0 || to[axis] == grid->n[axis];
            const bool outer = beyond && !(grid->periodic >> axis & 1u);
            to[axis] = (to[axis] + grid->n[axis]) % grid->n[axis];
            const int region =
                outer ? domain->face[face][sel_face_site(grid, face, at)]
                      : domain->cell[(to[2] * grid->n[1] + to[1]) * grid->n[0] + to[0]];
            if (region) {
                assert_site(&s, sites++, i, face, region, outer);
                of_region[region]++;
            }
        }
    }
    assert_int_equal(s.sites.count, sites);
    for (int r = 1; r < SEL_REGION_NUMBERS; r++) {
        assert_int_equal(s.first_of[r + 1] - s.first_of[r], of_region[r]);
        for (int64_t k = s.first_of[r]; k < s.first_of[r + 1]; k++) {
            double x[3];
            const sel_site *site = &s.site[s.order[k]];
            assert_int_equal(site->region, r);
            assert_true(k == s.first_of[r] || s.order[k] > s.order[k - 1]);
            sel_cell_centre(grid, site->cell, x);
            x[site->face / 2] += (site->face % 2 ? 0.5 : -0.5) * grid->dx[site->face / 2];
            for (int a = 0; a < grid->dims; a++) {
                assert_true(fabs(s.place[a][k] - x[a]) < 1e-15);
            }
        }
    }
    for (int64_t k = 0; k < s.cells; k++) {
        assert_true(s.first_site[k] < s.first_site[k + 1]);
        for (int64_t i = s.first_site[k]; i < s.first_site[k + 1]; i++) {
            assert_int_equal(s.site[i].cell, s.cell[k]);
        }
    }
    assert_int_equal(s.first_site[s.cells], sites);
    sel_surfaces_free(&s);
}

static void no_face_is_left_out_or_listed_twice(void **state) {
    (void)state;
    static const char *const periodic[] = {"", "'x'", "'y'", "'z'", "'x', 'z'"};
    for (int k = 0; k < 10; k++) {
        for (int deep = 0; deep < 2; deep++) {
            heat_case c;
            heat_open(
                &c,
                "local deep, solids = %s, %s\n"
                "local regions = { all(law.insulated {}) }\n"
                "if solids then regions[2] = { law = law.insulated {}, where = shape.inside(\n"
                "  function(x, y) return sin(9 * x + 5 * y) + sin(7 * x * y) > 0.3 end) }\n"
                "regions[3] = { where = shape.box { min = deep and { 0, 0, 0 } or { 0, 0 },\n"
                "  max = deep and { 2, 2, 3 } or { 2, 3 } }, law = law.insulated {} } end\n"
                "return sel.heat { size = deep and { 7, 6, 5 } or { 11, 9 }, diffusivity = 1,\n"
                "periodic = { %s }, regions = regions, stop = { steps = 1 } }\n",
                deep ? "true" : "false", k / 5 ? "true" : "false", periodic[deep ? k % 5 : k % 3]);
            check_all_pairs(&c);
            heat_close(&c);
        }
    }
}

static void laws_are_evaluated_site_by_site(void **state) {
    (void)state;
    double values[2 * 16] = {0};
    heat_case c;
    heat_open(&c, "return sel.heat { size = { 4, 3 }, dx = { 1, 2 }, dt = 0.1, diffusivity = 1,\n"
                  "regions = { all(law.insulated {}),\n"
                  "face('x+', law.convective { h = function(t) return 1 + t end,\n"
                  "  ambient = function(x, y, t) return x + 100 * y + 1000 * t end }),\n"
                  "face('y-', law.flux { function(x, y) return x + 100 * y end }) },\n"
                  "stop = { steps = 1 } }\n");
    const sel_inputs *inputs = c.prepared.plan->inputs;
    const sel_surfaces *on = &inputs->surfaces;
    assert_int_equal(inputs->count, 3);
    assert_int_equal(on->sites.count, 7);
    assert_int_equal(sel_inputs_evaluate(inputs, SEL_ON_T, 30, sel_inputs_keep, values, &c.error),
                     SEL_OK);
    for (int64_t k = 0; k < on->sites.count; k++) {
        const double y = 2 * (double)(on->site[k].cell / 4) + 1;
        const double x = (double)(on->site[k].cell % 4) + 0.5;
        const bool wind = on->site[k].face == SEL_X_MAX; /* the flux does not vary in time */
        assert_true(values[2 * k] == (wind ? 3004 + 100 * y : 0));
        assert_true(values[2 * k + 1] == (wind ? 4 : 0));
        assert_true(inputs->value[2 * k] == (wind ? 4 + 100 * y : x));
        assert_true(inputs->value[2 * k + 1] == (wind ? 1 : 0));
    }
    heat_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_of_the_domain_are_listed_cell_by_cell),
        cmocka_unit_test(faces_of_solids_are_met_from_all_sides),
        cmocka_unit_test(periodic_axes_have_no_faces_and_pass_on_solids),
        cmocka_unit_test(nodes_of_a_border_are_their_own_places),
        cmocka_unit_test(thin_grids_have_both_faces_in_one_cell),
        cmocka_unit_test(no_face_is_left_out_or_listed_twice),
        cmocka_unit_test(laws_are_evaluated_site_by_site),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
