/* test_script_function.c -- functions of x, y, z, t and controls, as the engine calls them. */
#include "script_case.h"
#include <pthread.h>
#include "engine/scene/shape.h"

#define LAW(law)                                                                                   \
    LBM("controls = { gain = 2, drag = 0.5 }, regions = { { where = shape.faces, law = " law " } " \
        "}")

static const sel_quantity *law_quantity(const script_case *c) {
    const sel_region *region = script_lbm(c)->common.regions.v;
    return region->law.data;
}

static sel_status evaluate(const sel_quantity *q, double t, double out[8], sel_error *error) {
    static const double x[4] = {0.5, 1.5, 2.5, 3.5}, y[4] = {8, 4, 2, 1};
    static const double controls[2] = {3, 7};
    sel_places at = {.n = 4, .x = x, .y = y, .t = t, .controls = controls};
    memset(error, 0, sizeof *error);
    return sel_quantity_eval(q, "velocity", &at, out, error);
}

static void arguments_are_given_by_name(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    double out[8];
    script_accepts(&c,
                   LAW("law.velocity { function(t, y, drag, x) return x + 10 * y, t + drag end }"));
    const sel_quantity *q = law_quantity(&c);
    assert_int_equal(q->components, 2);
    assert_int_equal(sel_quantity_depends(q), SEL_ON_X | SEL_ON_Y | SEL_ON_T | SEL_ON_CONTROLS);
    assert_int_equal(evaluate(q, 100, out, &c.error), SEL_OK);
    assert_true(out[0] == 80.5 && out[1] == 41.5 && out[3] == 13.5);
    assert_true(out[4] == 107 && out[7] == 107);
    script_done(&c);
}

static void controls_have_their_given_values_by_default(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    double x = 1, out[1];
    script_accepts(&c, LAW("law.pressure { function(gain, drag) return gain + drag end }"));
    sel_places at = {.n = 1, .x = &x, .y = &x};
    assert_int_equal(sel_quantity_eval(law_quantity(&c), "p", &at, out, NULL), SEL_OK);
    assert_true(out[0] == 2.5);
    script_done(&c);
}

static void components_may_be_functions(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    double out[8];
    script_accepts(&c, LAW("law.velocity { function(x) return 2 * x end, 0.25 }"));
    assert_int_equal(sel_quantity_depends(law_quantity(&c)), SEL_ON_X);
    assert_int_equal(evaluate(law_quantity(&c), 0, out, &c.error), SEL_OK);
    assert_true(out[0] == 1 && out[3] == 7 && out[4] == 0.25 && out[7] == 0.25);
    script_done(&c);
    script_accepts(&c, LAW("law.wall { velocity = function() return 1, 2 end }"));
    assert_int_equal(sel_quantity_depends(law_quantity(&c)), 0);
    assert_int_equal(evaluate(law_quantity(&c), 0, out, &c.error), SEL_OK);
    assert_true(out[0] == 1 && out[4] == 2);
    script_done(&c);
}

static void predicates_return_booleans(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    static const double x[2] = {1, 3}, y[2] = {0, 0};
    double in[2];
    script_accepts(&c, LBM("regions = { { law = law.wall {},\n"
                           "  where = shape.inside(function(x) return x > 2 end) } }"));
    const sel_region *region = script_lbm(&c)->common.regions.v;
    const sel_shape_inside *inside = region->where->data;
    sel_places at = {.n = 2, .x = x, .y = y};
    assert_int_equal(inside->test->eval(inside->test, &at, in, NULL), SEL_OK);
    assert_true(in[0] == 0 && in[1] == 1);
    script_done(&c);
    script_accepts(&c, LBM("regions = { { law = law.wall {},\n"
                           "  where = shape.inside { function(x) return x end } } }"));
    region = script_lbm(&c)->common.regions.v;
    inside = region->where->data;
    assert_int_equal(inside->test->eval(inside->test, &at, in, &c.error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "returned 1 as value 1; it must be true or false"));
    script_done(&c);
}

static void wrong_parameters_are_found_at_load_time(void **state) {
    (void)state;
    script_refuses(
        LAW("law.velocity { function(x, yy) return 0, 0 end }"),
        "s.lua:4: law.velocity: a function cannot depend on 'yy'; its parameters may be x, "
        "y, t, gain, drag");
    script_refuses(
        LAW("law.velocity { function(x, z) return 0, 0 end }"),
        "s.lua:4: law.velocity: a function cannot depend on 'z' in 2-D; its parameters may be "
        "x, y, t, gain, drag");
    script_refuses(
        LAW("law.velocity { function(...) return 0, 0 end }"),
        "s.lua:4: law.velocity: a function with ... does not say what it depends on: write "
        "function(x, y, t) return ... end");
    script_refuses(
        LAW("law.pressure { math.sin }"),
        "s.lua:4: law.pressure: a library function does not say what it depends on: write "
        "function(x, y, t) return ... end");
    script_refuses(LBM("controls = { x = 1 }"),
                   "s.lua:4: sel.lbm: controls.x has the name of a coordinate, got 1");
}

static void wrong_results_name_the_place(void **state) {
    (void)state;
    static const struct {
        const char *law, *message;
    } cases[] = {
        {"law.velocity { function(x, y) return 1 end }", "returned 1 value, 2 needed"},
        {"law.velocity { function(x, y) return 1, 2, 3 end }", "returned 3 values, 2 needed"},
        {"law.velocity { function(x, y) end }", "returned 0 values, 2 needed"},
        {"law.velocity { function(x, y) return 1, nil end }",
         "returned nil as value 2; it must be a finite number"},
        {"law.velocity { function(x, y) return '1', 2 end }",
         "returned string \"1\" as value 1; it must be a finite number"},
        {"law.velocity { function(x, y) return 1, 0/0 end }",
         "returned nan as value 2; it must be a finite number"},
        {"law.velocity { function(x, y) return 1, 1/0 end }",
         "returned inf as value 2; it must be a finite number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], message[256];
        script_case c = {.scenario = NULL};
        double out[8];
        snprintf(text, sizeof text, LBM("regions = { { where = shape.faces, law = %s } }"),
                 cases[i].law);
        script_accepts(&c, text);
        assert_int_equal(evaluate(law_quantity(&c), 2, out, &c.error), SEL_BAD_SCENARIO);
        snprintf(message, sizeof message,
                 "s.lua:4: law.velocity: function %s (at x=0.5, y=8, z=0, t=2)", cases[i].message);
        if (strncmp(c.error.text, message, strlen(message) - 16) != 0)
            assert_string_equal(c.error.text, message);
        script_done(&c);
    }
}

static void errors_inside_functions_name_line_and_place(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    double out[8];
    script_accepts(
        &c, LAW("law.pressure { function(x)\n if x > 2 then return x.y end\n return 1 end }"));
    assert_int_equal(evaluate(law_quantity(&c), 0, out, &c.error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "s.lua:5: attempt to index a number value (local 'x') "
                                         "(law.pressure, at x=2.5"));
    script_done(&c);
    script_accepts(&c, LAW("law.pressure { function(x) return math.random() end }"));
    assert_int_equal(evaluate(law_quantity(&c), 0, out, &c.error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "s.lua:4: math.random is not allowed in a function"));
    script_done(&c);
    script_accepts(&c, LAW("law.pressure { function(x) return undeclared end }"));
    assert_int_equal(evaluate(law_quantity(&c), 0, out, &c.error), SEL_BAD_SCENARIO);
    assert_non_null(strstr(c.error.text, "s.lua:4: undeclared global 'undeclared'"));
    script_done(&c);
}

static void endless_functions_end(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    double out[8];
    script_accepts(&c,
                   LAW("law.pressure { function(x) pcall(function() while true do end end) end }"));
    assert_int_equal(evaluate(law_quantity(&c), 0, out, &c.error), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, "s.lua:4: a function took longer than 10 s or 100000000 "
                                      "instructions for one value; --trust lifts all limits");
    assert_int_equal(evaluate(law_quantity(&c), 0, out, &c.error), SEL_BAD_SCENARIO);
    script_done(&c);
}

static void many_evaluations_leave_nothing_behind(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    double out[8];
    script_accepts(&c, LAW("law.velocity { function(x, y, t) return x * t, y end }"));
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(evaluate(law_quantity(&c), i, out, &c.error), SEL_OK);
        assert_true(out[1] == 1.5 * i && out[6] == 2);
    }
    script_done(&c);
}

static void *evaluate_elsewhere(void *data) {
    static sel_error error;
    double out[8];
    return evaluate(law_quantity(data), 0, out, &error) == SEL_OK ? NULL : error.text;
}

static void other_threads_are_turned_away(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    pthread_t thread;
    void *text;
    script_accepts(&c, LAW("law.pressure { function(x) return #tostring(x) end }"));
    assert_int_equal(pthread_create(&thread, NULL, evaluate_elsewhere, &c), 0);
    pthread_join(thread, &text);
    assert_non_null(text);
    assert_non_null(
        strstr(text, "only the thread that loaded the script may evaluate its functions"));
    script_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_given_by_name),
        cmocka_unit_test(controls_have_their_given_values_by_default),
        cmocka_unit_test(components_may_be_functions),
        cmocka_unit_test(predicates_return_booleans),
        cmocka_unit_test(wrong_parameters_are_found_at_load_time),
        cmocka_unit_test(wrong_results_name_the_place),
        cmocka_unit_test(errors_inside_functions_name_line_and_place),
        cmocka_unit_test(endless_functions_end),
        cmocka_unit_test(many_evaluations_leave_nothing_behind),
        cmocka_unit_test(other_threads_are_turned_away),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
