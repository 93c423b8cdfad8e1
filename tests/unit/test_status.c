/* test_status.c -- the error path, the arena, quantities, steps of times, sizes of memory, and the
 * names that users misspell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/arena.h"
#include "engine/scene/grid.h"
#include "engine/base/hardware.h"
#include "engine/values/quantity.h"
#include "engine/base/status.h"

static void the_first_status_is_kept_and_messages_are_lines(void **state) {
    (void)state;
    sel_error error = {.status = SEL_OK};
    assert_int_equal(sel_fail(&error, SEL_BAD_FILE, "a %d", 1), SEL_BAD_FILE);
    assert_int_equal(sel_fail_at(&error, (sel_where){"s.lua", 7}, "b"), SEL_BAD_SCENARIO);
    assert_int_equal(error.status, SEL_BAD_FILE);
    assert_string_equal(error.text, "a 1\ns.lua:7: b");
}

static void messages_do_not_steer_terminals(void **state) {
    (void)state;
    sel_error error = {.status = SEL_OK};
    sel_fail(&error, SEL_BAD_FILE, "%s: no such file",
             "\033[2J\a\xc2\x9b"
             "2J\x9b\r\x7f.csv");
    assert_string_equal(error.text, "?[2J???2J???.csv: no such file");
    error = (sel_error){.status = SEL_OK};
    sel_fail(&error, SEL_BAD_FILE, "%s", "Zufl\xc3\xbc\xc3\x9f\xe2\x82\x9e\tA\nB");
    assert_string_equal(error.text, "Zufl\xc3\xbc\xc3\x9f\xe2\x82\x9e\tA\nB");
}

static void errors_without_a_place_have_no_prefix(void **state) {
    (void)state;
    sel_error error = {.status = SEL_OK};
    sel_fail_at(&error, (sel_where){NULL, 0}, "tau too small");
    assert_string_equal(error.text, "tau too small");
}

static void messages_that_do_not_fit_are_cut_at_a_line(void **state) {
    (void)state;
    sel_error error = {.status = SEL_OK};
    for (int i = 0; i < 1000; i++) {
        sel_fail(&error, SEL_BAD_SCENARIO, "message %d of a scenario with many mistakes", i);
    }
    size_t length = strlen(error.text);
    assert_true(length < sizeof error.text);
    assert_string_equal(error.text + length - 4, "\n...");
}

static void the_nearest_name_is_a_slip_away(void **state) {
    (void)state;
    const char *const names[] = {"steps", "time", "steady", "every", NULL};
    assert_string_equal(sel_nearest("stpes", names), "steps");
    assert_string_equal(sel_nearest("evrey", names), "every");
    assert_null(sel_nearest("collision", names));
    char long_name[300];
    memset(long_name, 'a', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    assert_null(sel_nearest(long_name, names));
    assert_null(sel_nearest("", names));
    const char *const letters[] = {"n", "H", NULL};
    assert_null(sel_nearest("v", letters));
}

static void the_arena_gives_zeroed_aligned_memory(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    for (size_t size = 1; size < 100000; size = size * 3 + 1) {
        unsigned char *bytes = sel_arena_alloc(arena, size);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(bytes[i], 0);
            bytes[i] = 0xff;
        }
    }
    assert_string_equal(sel_arena_print(arena, "%s-%d", "x", 3), "x-3");
    assert_string_equal(sel_arena_copy_length(arena, "abcdef", 3), "abc");
    assert_null(sel_arena_copy(arena, NULL));
    sel_arena_destroy(arena);
}

static sel_status twice_x_and_t(const sel_function *self, const sel_places *at, double *out,
                                sel_error *error) {
    (void)self;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = 2 * at->x[i];
        out[at->n + i] = at->t;
    }
    return SEL_OK;
}

static sel_status one_over_x(const sel_function *self, const sel_places *at, double *out,
                             sel_error *error) {
    (void)self;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = 1 / at->x[i];
    }
    return SEL_OK;
}

static const double xs[] = {0, 1, 2}, ys[] = {5, 6, 7};
static const sel_places places = {3, xs, ys, NULL, 0.5, NULL, NULL};

static void a_whole_function_fills_all_components(void **state) {
    (void)state;
    sel_function function = {.depends = SEL_ON_X | SEL_ON_T, .results = 2, .eval = twice_x_and_t};
    sel_quantity q = sel_from_function(&function);
    double out[6];
    assert_int_equal(sel_quantity_eval(&q, "law", &places, out, NULL), SEL_OK);
    const double expected[] = {0, 2, 4, 0.5, 0.5, 0.5};
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(sel_quantity_depends(&q), SEL_ON_X | SEL_ON_T);
}

static void infinity_is_an_error_that_names_line_and_place(void **state) {
    (void)state;
    sel_function function = {
        .depends = SEL_ON_X, .results = 1, .where = {"s.lua", 4}, .eval = one_over_x};
    sel_quantity q = {.components = 2};
    q.part[1].function = &function;
    double out[6];
    sel_error error = {.status = SEL_OK};
    assert_int_equal(sel_quantity_eval(&q, "law.wall", &places, out, &error), SEL_BAD_SCENARIO);
    assert_string_equal(error.text,
                        "s.lua:4: law.wall: function returned infinity at x=0, y=5, t=0.5");
}

static void a_time_of_whole_steps_is_that_step(void **state) {
    (void)state;
    assert_int_equal(sel_step_at(1.1e-6, 1e-7), 11);
    assert_int_equal(sel_step_at(0.3, 0.1), 3);
    assert_int_equal(sel_step_at(0.301, 0.1), 4);
    assert_int_equal(sel_step_at(-1, 0.1), 0);
    assert_true(sel_step_at(1e300, 0.1) == INT64_MAX);
}

static void multiples_start_at_zero_and_end_with_the_range(void **state) {
    (void)state;
    assert_int_equal(sel_next_multiple(-1, 100), 0);
    assert_int_equal(sel_next_multiple(0, 100), 100);
    assert_int_equal(sel_next_multiple(199, 100), 200);
    assert_true(sel_next_multiple(5, INT64_MAX / 2 + 2) > 5);
    assert_true(sel_next_multiple(INT64_MAX - 1, 100) == INT64_MAX);
}

static void bytes_are_told_in_the_unit_that_suits_them(void **state) {
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},       {512, "512 bytes"},  {999, "999 bytes"},  {1000, "1 kB"},
        {999499, "999 kB"},   {999600, "1 MB"},    {23.6e9, "23.6 GB"}, {24.58e9, "24.6 GB"},
        {1.296e15, "1.3 PB"}, {0x1p64, "18.4 EB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SEL_BYTES_ROOM];
        assert_string_equal(sel_bytes_text(cases[i].bytes, text), cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_status_is_kept_and_messages_are_lines),
        cmocka_unit_test(messages_do_not_steer_terminals),
        cmocka_unit_test(errors_without_a_place_have_no_prefix),
        cmocka_unit_test(messages_that_do_not_fit_are_cut_at_a_line),
        cmocka_unit_test(the_nearest_name_is_a_slip_away),
        cmocka_unit_test(the_arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(a_whole_function_fills_all_components),
        cmocka_unit_test(a_time_of_whole_steps_is_that_step),
        cmocka_unit_test(multiples_start_at_zero_and_end_with_the_range),
        cmocka_unit_test(bytes_are_told_in_the_unit_that_suits_them),
        cmocka_unit_test(infinity_is_an_error_that_names_line_and_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
