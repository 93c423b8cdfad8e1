/* test_aqua_lines.c -- what flows across lines that end in the water, and through outlines. */
#include "tests/unit/run_case.h"

/* A plane that falls to y-, between walls: nothing crosses its axis, and halves are halves. */
static void lines_that_end_in_the_water_share_what_flows_through_their_end(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r, "local sel = require 'selenite'\n"
            "local shape, law, out = sel.shape, sel.law, sel.out\n"
            "local function line(name, ...) return out.flux { name = name, across = { ... } } end\n"
            "return sel.aqua { size = { 20, 16 }, dt = 1, precision = 'f64', alpha = 0.2,\n"
            "  rain = 36, ground = function(y) return 0.05 * y end,\n"
            "  regions = { { name = 'sides', where = shape.faces, law = law.wall {} },\n"
            "    { name = 'foot', where = shape.face 'y-', law = law.open {} } },\n"
            "  stop = { steps = 200 }, output = {\n"
            "    line('left', { 0, 8 }, { 10, 8 }), line('right', { 10, 8 }, { 20, 8 }),\n"
            "    line('whole', { 0, 8 }, { 20, 8 }), line('axis', { 10, 0 }, { 10, 16 }),\n"
            "    line('lower', { 0, 7.5 }, { 20, 7.5 }), line('upper', { 0, 8.5 }, { 20, 8.5 }),\n"
            "    out.flux { name = 'gaps', region = 'nodata' } } }\n");
    const double whole = case_result(&r, "whole.flux");
    assert_true(whole < -1e-4);
    assert_true(fabs(case_result(&r, "left.flux") / whole - 0.5) < 1e-12);
    assert_true(fabs(case_result(&r, "right.flux") / whole - 0.5) < 1e-12);
    assert_true(fabs(case_result(&r, "axis.flux") / whole) < 1e-12);
    /* Through centres: the mean of the rows of edges on either side. */
    assert_true(case_result(&r, "lower.flux") < whole && case_result(&r, "upper.flux") > whole);
    assert_true(case_result(&r, "gaps.flux") == 0);
    case_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_end_in_the_water_share_what_flows_through_their_end),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
