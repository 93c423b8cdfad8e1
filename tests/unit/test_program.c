/* test_program.c -- programs made and evaluated without Lua. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/rule.h"

enum { MANY = 300 };

typedef struct fixture {
    sel_builder *b;
    sel_arena *arena;
    int x, y, t, one;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->b = sel_builder_create(2000);
    f->arena = sel_arena_create();
    f->x = sel_build_argument(f->b, SEL_ARGUMENT_X);
    f->y = sel_build_argument(f->b, SEL_ARGUMENT_Y);
    f->t = sel_build_argument(f->b, SEL_ARGUMENT_T);
    f->one = sel_build_constant(f->b, 1);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sel_builder_destroy(f->b);
    sel_arena_destroy(f->arena);
    free(f);
    return 0;
}

/* Evaluates a program of one result at MANY places, then one by one: the bits must not differ. */
static void evaluate(const sel_program *p, const double *x, const double *y, double *out,
                     uint8_t *exact) {
    sel_places at = {.n = MANY, .x = x, .y = y, .t = 2};
    assert_non_null(p);
    assert_int_equal(sel_program_eval(p, &at, NULL, out, exact, NULL), SEL_OK);
    for (int i = 0; i < MANY; i++) {
        double alone;
        uint8_t alone_exact;
        sel_places one = {.n = 1, .x = x + i, .y = y + i, .t = 2};
        assert_int_equal(sel_program_eval(p, &one, NULL, &alone, &alone_exact, NULL), SEL_OK);
        assert_memory_equal(&alone, &out[i], sizeof alone);
        assert_int_equal(alone_exact, exact[i]);
    }
}

static void fill(double *x, double *y) {
    for (int i = 0; i < MANY; i++) {
        x[i] = 0.37 * i - 20;
        y[i] = 5 - 0.11 * i;
    }
}

static void equal_operations_are_shared_and_constants_folded(void **state) {
    const fixture *f = *state;
    double value;
    int sum = sel_build(f->b, SEL_OP_ADD, f->x, f->y, 0);
    assert_int_equal(sel_build(f->b, SEL_OP_ADD, f->x, f->y, 0), sum);
    assert_int_not_equal(sel_build(f->b, SEL_OP_ADD, f->y, f->x, 0), sum);
    int two = sel_build(f->b, SEL_OP_ADD, f->one, f->one, 0);
    assert_true(sel_builder_constant(f->b, two, &value) && value == 2);
    int zero = sel_build_constant(f->b, 0.0), minus = sel_build_constant(f->b, -0.0);
    assert_int_not_equal(zero, minus);
    assert_int_equal(sel_build(f->b, SEL_OP_SELECT, f->one, f->x, f->y), f->x);
    assert_int_equal(sel_build(f->b, SEL_OP_SELECT, zero, f->x, f->y), f->y);
}

static void a_condition_chosen_as_1_or_0_is_itself(void **state) {
    const fixture *f = *state;
    const int zero = sel_build_constant(f->b, 0.0), minus = sel_build_constant(f->b, -0.0);
    const int less = sel_build(f->b, SEL_OP_LT, f->x, f->y, 0);
    assert_int_equal(sel_build(f->b, SEL_OP_SELECT, less, f->one, zero), less);
    assert_int_not_equal(sel_build(f->b, SEL_OP_SELECT, less, f->one, minus), less);
    assert_int_not_equal(sel_build(f->b, SEL_OP_SELECT, f->x, f->one, zero), f->x);
}

static void whole_terms_cancel_in_sums(void **state) {
    const fixture *f = *state;
    const int zero = sel_build_constant(f->b, 0.0);
    const int sum = sel_build(f->b, SEL_OP_ADD, f->y, f->x, 0);
    assert_int_not_equal(sel_build(f->b, SEL_OP_SUB, sum, f->x, 0), f->y);  /* it is rounded */
    assert_int_not_equal(sel_build(f->b, SEL_OP_ADD, f->y, zero, 0), f->y); /* -0 + 0 is 0 */
    sel_builder_bounds(f->b, f->x, 0, 255);
    sel_builder_bounds(f->b, f->t, -9, 9);
    const int whole = sel_build(f->b, SEL_OP_ADD, f->x, f->t, 0);
    sel_builder_bounds(f->b, whole, -9, 264);
    assert_int_equal(sel_build(f->b, SEL_OP_ADD, f->x, zero, 0), f->x);
    assert_int_equal(sel_build(f->b, SEL_OP_SUB, whole, f->t, 0), f->x);
    const int less = sel_build(f->b, SEL_OP_UNM, f->t, 0, 0);
    sel_builder_bounds(f->b, less, -9, 9);
    const int with = sel_build(f->b, SEL_OP_ADD, less, f->x, 0);
    sel_builder_bounds(f->b, with, -9, 264);
    assert_int_equal(sel_build(f->b, SEL_OP_ADD, with, f->t, 0), f->x);
}

static void what_no_result_needs_is_dropped(void **state) {
    const fixture *f = *state;
    int needed = sel_build(f->b, SEL_OP_MUL, f->x, f->t, 0);
    sel_build(f->b, SEL_OP_SIN, f->y, 0, 0);
    const sel_program *p = sel_builder_finish(f->b, &needed, 1, -1, f->arena);
    assert_non_null(p);
    assert_int_equal(p->operations, 1);
    assert_int_equal(p->depends, SEL_ON_X | SEL_ON_T);
    assert_int_equal(p->layout.fails, -1);
}

static void operands_that_are_not_used_are_in_the_rule(void **state) {
    const fixture *f = *state;
    int far = f->y;
    for (int k = 0; k < 20; k++)
        far = sel_build(f->b, SEL_OP_ADD, far, f->t, 0);
    const sel_rule_output output = {0, sel_build(f->b, SEL_OP_UNM, f->x, far, far)};
    const sel_rule *rule = sel_builder_rule(f->b, &output, 1, -1, f->arena);
    assert_non_null(rule);
    assert_int_equal(rule->nodes, 2);
    for (int k = 0; k < 3; k++)
        assert_in_range(rule->node[1].operand[k], 0, 1);
}

static void registers_are_used_again(void **state) {
    const fixture *f = *state;
    double x[MANY], y[MANY], out[MANY];
    uint8_t exact[MANY];
    int sum = f->x;
    fill(x, y);
    for (int k = 1; k <= 100; k++) {
        int term = sel_build(f->b, SEL_OP_MUL, f->y, sel_build_constant(f->b, k), 0);
        sum = sel_build(f->b, SEL_OP_ADD, sum, sel_build(f->b, SEL_OP_SIN, term, 0, 0), 0);
    }
    const sel_program *p = sel_builder_finish(f->b, &sum, 1, -1, f->arena);
    evaluate(p, x, y, out, exact);
    assert_true(p->layout.own <= 6);
    for (int i = 0; i < MANY; i++) {
        double expected = x[i];
        for (int k = 1; k <= 100; k++)
            expected = expected + sin(y[i] * k);
        assert_true(out[i] == expected && exact[i] == 1);
    }
}

static int looked_up; /* places */

static sel_status count_places(const sel_lookup *self, size_t n, const double *const *arguments,
                               double *out, sel_error *error) {
    (void)self;
    (void)error;
    looked_up += (int)n;
    memmove(out, arguments[0], n * sizeof *out);
    return SEL_OK;
}

enum { ROW = 400, ROWS = 50 };

/* Rows of cells; the first is missing its first cells, so that it does not end where others do. */
static size_t fill_rows(size_t missing, double *x, double *y) {
    size_t n = 0;
    for (size_t i = missing; i < ROW * ROWS; i++) {
        x[n] = 0.25 + (double)(i % ROW);
        y[n++] = 0.5 + (double)(i / ROW); /* NOLINT(bugprone-integer-division) */
    }
    return n;
}

static void what_depends_on_one_coordinate_runs_once_per_column_or_row(void **state) {
    const fixture *f = *state;
    static const sel_lookup lookup = {SEL_LOOKUP_SERIES, "counted", 1, count_places, NULL};
    static double x[ROW * ROWS], y[ROW * ROWS], out[ROW * ROWS];
    static uint8_t exact[ROW * ROWS];
    int of_x = sel_build_lookup(f->b, &lookup, &f->x);
    int of_y = sel_build_lookup(f->b, &lookup, &f->y);
    int product = sel_build(f->b, SEL_OP_MUL, sel_build(f->b, SEL_OP_EXP, of_x, 0, 0), of_y, 0);
    int sum = sel_build(f->b, SEL_OP_ADD, product, f->x, 0);
    int results[] = {sum, of_x, of_y};
    const sel_program *p = sel_builder_finish(f->b, results, 3, -1, f->arena);
    assert_non_null(p);
    for (size_t missing = 0; missing < ROW; missing += 77) {
        sel_places at = {.n = fill_rows(missing, x, y), .x = x, .y = y};
        static double all[3 * ROW * ROWS];
        looked_up = 0;
        assert_int_equal(sel_program_eval(p, &at, NULL, all, exact, NULL), SEL_OK);
        assert_true(missing > 0 || looked_up < ROW + 5 * ROWS);
        for (size_t i = 0; i < at.n; i++) {
            out[i] = exp(x[i]) * y[i] + x[i];
            assert_true(exact[i] == 1 && all[at.n + i] == x[i] && all[2 * at.n + i] == y[i]);
        }
        assert_memory_equal(all, out, at.n * sizeof *out);
    }
}

static void every_operation_has_its_value(void **state) {
    const fixture *f = *state;
    double x[MANY], y[MANY], out[MANY];
    uint8_t exact[MANY];
    fill(x, y);
    int less = sel_build(f->b, SEL_OP_LT, f->x, f->y, 0);
    int other = sel_build(f->b, SEL_OP_LT, f->y, f->one, 0);
    for (int op = 0; op < SEL_OP_COUNT; op++) {
        const bool logic = op >= SEL_OP_NOT && op <= SEL_OP_OR;
        int node = sel_build(f->b, (sel_op)op, logic || op == SEL_OP_SELECT ? less : f->x,
                             logic ? other : f->y, f->t);
        const sel_program *p = sel_builder_finish(f->b, &node, 1, -1, f->arena);
        evaluate(p, x, y, out, exact);
        for (int i = 0; i < MANY; i++) {
            double a = logic || op == SEL_OP_SELECT ? x[i] < y[i] : x[i];
            double expected = sel_program_value(op, a, logic ? y[i] < 1 : y[i], 2);
            assert_true(out[i] == expected || (isnan(out[i]) && isnan(expected)));
        }
    }
}

/* A series that has values up to 3 only. */
static sel_status doubled(const sel_lookup *self, size_t n, const double *const *arguments,
                          double *out, sel_error *error) {
    (void)self;
    for (size_t i = 0; i < n; i++) {
        if (arguments[0][i] > 3)
            return sel_fail(error, SEL_BAD_SCENARIO, "outside");
        out[i] = 2 * arguments[0][i];
    }
    return SEL_OK;
}

static void look_ups_outside_their_data_are_not_exact(void **state) {
    const fixture *f = *state;
    static const sel_lookup lookup = {SEL_LOOKUP_SERIES, "doubled", 1, doubled, NULL};
    double x[MANY], y[MANY], out[MANY];
    uint8_t exact[MANY];
    fill(x, y);
    int value = sel_build_lookup(f->b, &lookup, &f->x);
    int fails = sel_build(f->b, SEL_OP_NOT, sel_build(f->b, SEL_OP_EQ, value, value, 0), 0, 0);
    const sel_program *p = sel_builder_finish(f->b, &value, 1, fails, f->arena);
    evaluate(p, x, y, out, exact);
    assert_true(p->layout.fails >= 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(exact[i], x[i] <= 3);
        assert_true(x[i] > 3 || out[i] == 2 * x[i]);
    }
}

static void look_ups_of_time_run_once_per_call(void **state) {
    const fixture *f = *state;
    static const sel_lookup lookup = {SEL_LOOKUP_SERIES, "doubled", 1, doubled, NULL};
    double x[MANY], y[MANY], out[MANY];
    uint8_t exact[MANY];
    fill(x, y);
    int value = sel_build_lookup(f->b, &lookup, &f->t);
    int product = sel_build(f->b, SEL_OP_MUL, value, f->x, 0);
    const sel_program *p = sel_builder_finish(f->b, &product, 1, -1, f->arena);
    evaluate(p, x, y, out, exact);
    assert_int_equal(p->layout.once, 1);
    assert_int_equal(p->operations, 1);
    assert_true(out[7] == 4 * x[7]);
}

static void a_full_builder_says_so(void **state) {
    const fixture *f = *state;
    int node = f->x, made = 0;
    for (; node >= 0 && made < 5000; made++)
        node = sel_build(f->b, SEL_OP_ADD, node, f->y, 0);
    assert_true(node < 0 && made <= 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(equal_operations_are_shared_and_constants_folded),
        TEST(a_condition_chosen_as_1_or_0_is_itself),
        TEST(whole_terms_cancel_in_sums),
        TEST(what_no_result_needs_is_dropped),
        TEST(operands_that_are_not_used_are_in_the_rule),
        TEST(registers_are_used_again),
        TEST(what_depends_on_one_coordinate_runs_once_per_column_or_row),
        TEST(every_operation_has_its_value),
        TEST(look_ups_outside_their_data_are_not_exact),
        TEST(look_ups_of_time_run_once_per_call),
        TEST(a_full_builder_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
