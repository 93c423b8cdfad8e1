/* test_rule_laws.c -- what rules read beyond faces, at edges and corners and in cells under laws,
 * against the contract written down cell by cell.
 */
#include "tests/unit/rule_graph.h"

enum { NX = 6, NY = 5 };

static double start(int i, int j) {
    return 100 + 7 * i + 0.5 * j * j;
}

/* v is what the cells see of u at (dx, dy), with these laws of u on the faces; freed by the caller.
 */
static double *seen(int dx, int dy, const char *periodic, const char *regions) {
    static char text[4096];
    rule_case c;
    snprintf(text, sizeof text,
             RULE_BEGIN
             "local function face(f, law) return { where = shape.face(f), law = law } end\n"
             "return sel.rule { size = { %d, %d }, precision = 'f64', periodic = { %s }, dx = 2,\n"
             "state = { u = 'real', v = 'real' }, stop = { steps = 1 },\n"
             "initial = { u = function(x, y) local i, j = (x - 1) / 2, (y - 1) / 2\n"
             "return 100 + 7 * i + 0.5 * j * j end },\n"
             "rule = function(c) return { v = c(%d, %d).u } end, regions = { %s } }",
             NX, NY, periodic, dx, dy, regions);
    rule_load(&c, text);
    rule_open(&c, 1);
    rule_steps(&c, 1);
    double *v = rule_values(&c, "v");
    rule_close(&c);
    return v;
}

static int mirrored(int i, int n) {
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
}

/* x-: a function of place; x+: 5 on the face; y-: mirror; y+: a slope of 3. dx is 2. */
static double beyond(int i, int j) {
    if (j >= NY) {
        return beyond(i, mirrored(j, NY)) + 3 * 2 * (2 * (j - NY) + 1);
    }
    if (j < 0) {
        return beyond(i, mirrored(j, NY));
    }
    return i < 0     ? (2 * i + 1) + 10 * (2 * j + 1)
           : i >= NX ? 10 - start(mirrored(i, NX), j)
                     : start(i, j);
}

static void faces_give_values_axis_after_axis(void **state) {
    (void)state;
    for (int k = 0; k < 25; k++) {
        const int dx = k % 5 - 2, dy = k / 5 - 2;
        double *v = seen(dx, dy, "",
                         "face('x-', law.fixed { function(x, y) return x + 10 * y end }),\n"
                         "face('x+', law.fixed { 5, at = 'face' }), face('y-', law.mirror {}),\n"
                         "face('y+', law.gradient { 3 })");
        for (int cell = 0; cell < NX * NY; cell++) {
            const double expected = beyond(cell % NX + dx, cell / NX + dy);
            if (fabs(v[cell] - expected) > 1e-12 * fabs(expected)) {
                fail_msg("(%d, %d) from cell %d: %.17g, not %.17g", dx, dy, cell, v[cell],
                         expected);
            }
        }
        free(v);
    }
}

/* Beyond walls, in diagonals too, cells see themselves; around periodic axes the other side. */
static void walls_show_the_own_value(void **state) {
    (void)state;
    for (int k = 0; k < 25; k++) {
        const int dx = k % 5 - 2, dy = k / 5 - 2;
        double *v =
            seen(dx, dy, "'y'",
                 "{ where = shape.faces, law = law.wall {} }, { where = shape.box { min = { "
                 "4, 4 }, max = { 6, 6 } }, law = law.wall {} }");
        for (int cell = 0; cell < NX * NY; cell++) {
            const int x = cell % NX, y = cell / NX, i = x + dx, j = (y + dy + NY) % NY;
            const bool solid = x == 2 && y == 2, wall = i < 0 || i >= NX || (i == 2 && j == 2);
            const double expected = solid ? 0 : wall ? start(x, y) : start(i, j);
            if (v[cell] != expected) {
                fail_msg("(%d, %d) from cell %d: %.17g, not %.17g", dx, dy, cell, v[cell],
                         expected);
            }
        }
        free(v);
    }
}

/* Beyond a face beside a periodic axis the law and its place are those of the image: y- has a
 * function of place, y+ a wall on the columns 0 to 2 and 5 on the others. dx is 2. */
static void laws_beside_a_periodic_axis_are_those_of_images(void **state) {
    (void)state;
    for (int k = 0; k < 25; k++) {
        const int dx = k % 5 - 2, dy = k / 5 - 2;
        double *v = seen(dx, dy, "'x'",
                         "face('y-', law.fixed { function(x, y) return x + 100 * y end }),\n"
                         "face('y+', law.wall {}), { where = shape.face 'y+' * shape.box {\n"
                         "min = { 6, -9 }, max = { 12, 99 } }, law = law.fixed { 5 } }");
        for (int cell = 0; cell < NX * NY; cell++) {
            const int x = cell % NX, y = cell / NX, i = (x + dx + NX) % NX, j = y + dy;
            const double expected = j < 0               ? 2 * i + 1 + 100 * (2 * j + 1)
                                    : j >= NY && i >= 3 ? 5
                                    : j >= NY           ? start(x, y)
                                                        : start(i, j);
            if (fabs(v[cell] - expected) > 1e-12 * fabs(expected)) {
                fail_msg("(%d, %d) from cell %d: %.17g, not %.17g", dx, dy, cell, v[cell],
                         expected);
            }
        }
        free(v);
    }
}

/* The cell is not solid, so that outputs show what neighbours read; the wall keeps its value. */
static void a_fixed_field_is_shown_where_others_are_walls(void **state) {
    (void)state;
    rule_case c;
    rule_load(
        &c, RULE_BEGIN
        "return sel.rule { size = { 4, 1 }, periodic = { 'x', 'y' }, main = 'u',\n"
        "state = { u = 'real', n = 'real' }, initial = { u = 1, n = 2 }, stop = { steps = 9 },\n"
        "rule = function(c) return { u = c.u, n = c(1, 0).u } end,\n"
        "regions = { { where = shape.box { min = { 1, 0 }, max = { 2, 1 } },\n"
        "law = { u = law.fixed { 100 }, n = law.wall {} } },\n"
        "{ where = shape.box { min = { 3, 0 }, max = { 4, 1 } }, law = law.wall {} } } }");
    rule_open(&c, 1);
    rule_steps(&c, 1);
    double *u = rule_values(&c, "u"), *n = rule_values(&c, "n");
    assert_int_equal(c.prepared.domain->free_cells, 3);
    assert_true(u[1] == 100 && n[0] == 100 && n[1] == 2 && u[3] == 0);
    free(u), free(n);
    rule_close(&c);
}

/* A field that a law holds stays what it is, and the others are computed there. */
static void shapes_hold_the_fields_that_they_name(void **state) {
    (void)state;
    rule_case c;
    rule_load(&c, RULE_BEGIN
              "return sel.rule { size = { 5, 3 }, periodic = { 'x', 'y' }, main = 'u',\n"
              "state = { u = 'real', n = 'u8', q = 'vector' }, stop = { steps = 9 }, dt = 0.5,\n"
              "rule = function(c, t) return { u = c(-1, 0).u + c(1, 0).u + 1, n = c.n + 1,\n"
              "q_x = c.q_y + 1, q_y = c.q_x } end,\n"
              "regions = { { where = shape.box { min = { 1, 0 }, max = { 2, 3 } },\n"
              "law = { u = law.fixed { function(x, y, t) return 10 * t end } } } } }");
    rule_open(&c, 1);
    rule_steps(&c, 3);
    double *u = rule_values(&c, "u"), *n = rule_values(&c, "n"), *q = rule_values(&c, "q_x");
    assert_int_equal(c.prepared.domain->free_cells, 15);
    assert_true(u[1] == 10 && n[1] == 3 && n[0] == 3); /* the law as in the last step, from t = 1 */
    assert_true(u[2] == u[0] && u[2] > 10);
    free(u), free(n), free(q);
    rule_close(&c);
}

/* Copies of a field take turns: what is not computed has its initial value in both. */
static void a_field_at_a_wall_keeps_its_initial_value(void **state) {
    (void)state;
    for (int steps = 0; steps <= 3; steps++) {
        rule_case c;
        rule_load(
            &c, RULE_BEGIN
            "return sel.rule { size = { 5, 3 }, periodic = { 'x', 'y' }, main = 'u',\n"
            "state = { u = 'real', n = 'real', m = 'real' }, stop = { steps = 9 },\n"
            "initial = { u = 1, n = function(x, y) return 7 end },\n"
            "rule = function(c) return { u = c.u + c.n + c(1, 0).n, n = c(1, 0).n + 1 } end,\n"
            "regions = { { where = shape.box { min = { 1, 0 }, max = { 2, 3 } },\n"
            "law = { u = law.fixed { 5 }, n = law.wall {} } } } }");
        rule_open(&c, 1);
        rule_steps(&c, steps);
        double *n = rule_values(&c, "n");
        assert_true(n[1] == 7 && n[6] == 7 && n[11] == 7);
        assert_true(n[3] == 7 + steps);
        free(n);
        rule_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_give_values_axis_after_axis),
        cmocka_unit_test(walls_show_the_own_value),
        cmocka_unit_test(laws_beside_a_periodic_axis_are_those_of_images),
        cmocka_unit_test(a_fixed_field_is_shown_where_others_are_walls),
        cmocka_unit_test(shapes_hold_the_fields_that_they_name),
        cmocka_unit_test(a_field_at_a_wall_keeps_its_initial_value),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
