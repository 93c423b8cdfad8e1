/* test_series.c -- series: the CSV reader, interpolation, what happens outside. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/series.h"

static sel_error error;

static sel_status read_csv(const char *text, sel_key column, sel_csv_points *points) {
    error = (sel_error){.status = SEL_OK};
    return sel_csv_read("q.csv", text, strlen(text), &column, points, &error);
}

static void free_points(sel_csv_points *points) {
    free(points->t);
    free(points->value);
}

/* Asserts that `text` holds the times 0, 1.5, 3 and the values 10, -2.5e3, 0.25. */
static void reads(const char *text, sel_key column) {
    static const double t[] = {0, 1.5, 3}, value[] = {10, -2500, 0.25};
    sel_csv_points points;
    if (read_csv(text, column, &points))
        fail_msg("%s", error.text);
    assert_int_equal(points.n, 3);
    assert_memory_equal(points.t, t, sizeof t);
    assert_memory_equal(points.value, value, sizeof value);
    free_points(&points);
}

static void fails(const char *text, sel_key column, sel_status status, const char *message) {
    sel_csv_points points;
    assert_int_equal(read_csv(text, column, &points), status);
    assert_string_equal(error.text, message);
    free_points(&points);
}

static void refuses(const char *text, sel_key column, const char *message) {
    fails(text, column, SEL_BAD_FILE, message);
}

/* The file may be right: the script asks for what it has not. */
static void has_not(const char *text, sel_key column, const char *message) {
    fails(text, column, SEL_BAD_SCENARIO, message);
}

static const sel_key second = {NULL, 0}, third = {NULL, 3}, flow = {"flow", 0};

static void all_separators_are_read(void **state) {
    (void)state;
    reads("0,10\n1.5,-2.5e3\n3,.25\n", second);
    reads("0;10\n1.5;-2.5e3\n3;.25", second);
    reads("0\t10\n1.5\t-2.5e3\n3\t.25\n", second);
    reads("  0   10\n1.5 -2.5E+3 \n 3 +0.25\n", second);
    reads("0, 10 \n 1.5 ,-2.5e3\n3,0.25\n", second);
}

static void line_ends_comments_quotes_and_blank_lines_are_read(void **state) {
    (void)state;
    reads("0,10\r\n1.5,-2.5e3\r\n3,.25\r\n", second);
    reads("0,10\r1.5,-2.5e3\r3,.25\r", second);
    reads("# 9,9\n\n0,10 # 7\n   \n1.5,-2.5e3\n#\n3,.25", second);
    reads("\"0\",\"10\"\n\"1.5\",\" -2.5e3 \"\n3,.25\n", second);
    reads("\xef\xbb\xbf"
          "0,10\n1.5,-2.5e3\n3,.25\n",
          second);
}

static void columns_go_by_name_or_number(void **state) {
    (void)state;
    const char *named = "time,level,flow\n0,7,10\n1.5,8,-2.5e3\n3,9,.25\n";
    reads(named, flow);
    reads(named, third);
    reads("\"time\";\"a; b\";\"flow\"\n0;7;10\n1.5;8;-2500\n3;9;.25\n", flow);
    reads("0 x 10\n1.5 y -2500\n3 z .25\n", third);
    has_not(named, (sel_key){"flo", 0},
            "q.csv:1: there is no column 'flo'; the columns are time, level, flow");
    has_not("0,1\n1,2\n", flow,
            "q.csv:1: column 'flow' is asked for, but the first line has no names");
    has_not("0,1\n1,2\n", third, "q.csv:1: 2 columns, but column 3 is asked for");
    has_not("0,1,2\n1\n", third, "q.csv:2: 1 column, but column 3 is asked for");
}

static void surplus_cells_are_refused_with_their_line(void **state) {
    (void)state;
    const char *advice =
        "decimals take a point, and a text with the separator in it stands in quotes";
    char text[200];
    snprintf(text, sizeof text, "q.csv:3: 3 cells, but the first line has 2: %s", advice);
    refuses("t,q\n0,1\n1,2,5\n", second, text);
    snprintf(text, sizeof text, "q.csv:2: 4 cells, but the first line has 3: %s", advice);
    refuses("0,1,2\n1,2,3,4\n", second, text);
    snprintf(text, sizeof text, "q.csv:2: 3 cells, but the first line has 2: %s", advice);
    refuses("0;1\n1;2;x\n", second, text);
    refuses("0 1\n1 2 3\n", second, text);
    reads("t,q\n0,10,\n1.5,-2.5e3,,\n3,.25\n", second); /* as spreadsheets write them */
}

static void what_is_no_number_is_refused_with_its_line(void **state) {
    (void)state;
    refuses("t,q\n0,1\n\n1,x\n", second, "q.csv:4: column 2: \"x\" is not a number");
    refuses("0,1\n1,\n", second,
            "q.csv:2: column 2: \"\" is not a number; leave a line without a value out, or put # "
            "before it: the series goes on from the point before the gap to the one behind it");
    refuses(
        "0,1\n1,nan\n", second,
        "q.csv:2: column 2: \"nan\" is not a finite number; leave a line without a value out, or "
        "put # before it: the series goes on from the point before the gap to the one behind it");
    refuses(
        "nan,1\n1,2\n", second,
        "q.csv:1: column 1: \"nan\" is not a finite number; leave a line without a value out, or "
        "put # before it: the series goes on from the point before the gap to the one behind it");
    refuses(
        "0,1\n1,1e999\n", second,
        "q.csv:2: column 2: \"1e999\" is not a finite number; leave a line without a value out, or "
        "put # before it: the series goes on from the point before the gap to the one behind it");
    refuses("0,0x10\n", second, "q.csv:1: column 2: \"0x10\" is not a number");
    refuses("0;1,5\n", second, "q.csv:1: column 2: \"1,5\" is not a number; decimals take a point");
    refuses("0,\"1\n1,2\n", second, "q.csv:1: a quote is not closed");
    refuses("", second, "q.csv:1: there are no numbers in it; a line is a time and its values");
    refuses("time,flow\n# nothing\n", second,
            "q.csv:2: there are no numbers in it; a line is a time and its values");
}

static void dates_count_in_seconds_since_the_first(void **state) {
    (void)state;
    static const double t[] = {0, 1800, 86400, 2505600};
    static const char *const texts[] = {
        "date,rain\n2024-02-01,1\n2024-02-01T00:30,2\n2024-02-02 00:00:00,3\n2024-03-01,4\n",
        "2024-02-01T00:00Z;1\n2024-02-01T02:30+02:00;2\n2024-02-01T19:00:00-0500;3\n"
        "2024-03-01T00:00:00.0Z;4\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sel_csv_points points;
        if (read_csv(texts[i], second, &points))
            fail_msg("%s", error.text);
        assert_int_equal(points.n, 4);
        assert_memory_equal(points.t, t, sizeof t);
        free_points(&points);
    }
    /* In any line, and with names above it. */
    refuses("2023-02-28,1\n2023-02-29,2\n", second,
            "q.csv:2: column 1: \"2023-02-29\" is not a date: 2023-02 has 28 days");
    refuses("time,q\n2023-02-29,1\n2023-03-01,2\n", second,
            "q.csv:2: column 1: \"2023-02-29\" is not a date: 2023-02 has 28 days");
    refuses("time,q\n2024-02-30 12:00,1\n", second,
            "q.csv:2: column 1: \"2024-02-30 12:00\" is not a date: 2024-02 has 29 days");
    refuses("2024-04-30,1\n2024-04-31,2\n", second,
            "q.csv:2: column 1: \"2024-04-31\" is not a date: 2024-04 has 30 days");
    refuses("time,q\n2024-13-01,1\n", second,
            "q.csv:2: column 1: \"2024-13-01\" is not a date: there is no month 13");
    refuses(
        "time,q\n2024-05-31 24:00,1\n", second,
        "q.csv:2: column 1: \"2024-05-31 24:00\" is not a date: 24:00 is 00:00 of the next day");
    refuses("time,q\n2024-05-31 7:61,1\n", second,
            "q.csv:2: column 1: \"2024-05-31 7:61\" is not a date: behind the day stands a time as "
            "12:30 or 12:30:00, or nothing");
    refuses("2024-01-01,1\n5,2\n", second,
            "q.csv:2: column 1: \"5\" is not a date as 2024-05-31T12:30 or 2024-05-31T12:30:00Z");
    refuses("2024-01-01T00:00Z,1\n2024-01-01T01:00,2\n", second,
            "q.csv:2: column 1: some dates have a time zone and some have none");
    refuses("2024-01-02,1\n2024-01-01,2\n", second,
            "q.csv:2: dates must rise, but 2024-01-01 is not later than the one before");
}

/* It was taken for names, and the first point was lost. */
static void a_slip_in_the_first_row_is_no_line_of_names(void **state) {
    (void)state;
    refuses("O,10\n1,20\n2,30\n", second, "q.csv:1: column 1: \"O\" is not a number");
    refuses("0.0.0 10\n1 20\n", second, "q.csv:1: column 1: \"0.0.0\" is not a number");
    refuses("0,5;ten\n1,5;20\n", second,
            "q.csv:1: column 1: \"0,5\" is not a number; decimals take a point");
    reads("time,10m_flow\n0,10\n1.5,-2.5e3\n3,0.25\n", second);
}

static void times_must_rise(void **state) {
    (void)state;
    refuses("0,1\n2,1\n2,1\n", second, "q.csv:3: times must rise, but 2 follows 2");
    refuses("t,q\r\n0,1\r\n-1,1\r\n", second, "q.csv:3: times must rise, but -1 follows 0");
}

static const double times[] = {0, 1, 3}, values[] = {5, 7, 3};

static sel_series_params three_points(void) {
    sel_series_params params = {.scale = 1, .time_scale = 1};
    params.t = (sel_values){3, (double *)(uintptr_t)times};
    params.value = (sel_values){3, (double *)(uintptr_t)values};
    return params;
}

static const sel_where here = {"s.lua", 4};

static double at(const sel_lookup *series, double t) {
    const double *arguments[] = {&t};
    double value = (double)NAN;
    error = (sel_error){.status = SEL_OK};
    series->at(series, 1, arguments, &value, &error);
    return value;
}

static const sel_lookup *make(sel_arena *arena, const sel_series_params *params) {
    error = (sel_error){.status = SEL_OK};
    const sel_lookup *series = sel_series_create(arena, params, here, &error);
    if (!series)
        fail_msg("%s", error.text);
    return series;
}

static void points_are_met_and_joined_by_lines(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_series_params params = three_points();
    const sel_lookup *series = make(arena, &params);
    assert_true(at(series, 0) == 5 && at(series, 1) == 7 && at(series, 3) == 3);
    assert_true(at(series, 0.5) == 6 && at(series, 2.5) == 4);
    params.interpolation = SEL_SERIES_PREVIOUS;
    series = make(arena, &params);
    assert_true(at(series, 0.999) == 5 && at(series, 1) == 7 && at(series, 2.9) == 7);
    assert_true(at(series, 3) == 3);
    params = three_points();
    params.scale = -2;
    params.time_scale = 60;
    series = make(arena, &params);
    assert_true(at(series, 30) == -12 && at(series, 180) == -6);
    sel_arena_destroy(arena);
}

static void any_order_of_times_gives_the_same(void **state) {
    (void)state;
    enum { POINTS = 100, PLACES = 1000 };
    static double t[POINTS], value[POINTS], asked[PLACES], out[PLACES];
    sel_arena *arena = sel_arena_create();
    for (int i = 0; i < POINTS; i++) {
        t[i] = i * i;
        value[i] = 3 * t[i];
    }
    sel_series_params params = {
        .scale = 1, .time_scale = 1, .t = {POINTS, t}, .value = {POINTS, value}};
    const sel_lookup *series = make(arena, &params);
    for (int i = 0; i < PLACES; i++)
        asked[i] = (i * 7919 % PLACES) * 9.8;
    const double *arguments[] = {asked};
    assert_int_equal(series->at(series, PLACES, arguments, out, &error), SEL_OK);
    for (int i = 0; i < PLACES; i++) {
        assert_true(fabs(out[i] - 3 * asked[i]) < 1e-9 * (1 + out[i]));
        assert_true(out[i] == at(series, asked[i]));
    }
    sel_arena_destroy(arena);
}

static void outside_is_an_error_unless_said_otherwise(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_series_params params = three_points();
    const sel_lookup *series = make(arena, &params);
    at(series, 3.5);
    assert_string_equal(error.text,
                        "series of s.lua:4: t = 3.5 is outside its times 0 to 3; give it more "
                        "points, outside = \"hold\" or \"zero\", or repeats = true");
    at(series, -0.1);
    assert_int_equal(error.status, SEL_BAD_SCENARIO);
    at(series, (double)NAN);
    assert_string_equal(error.text, "series of s.lua:4: the time is NaN");
    assert_true(at(series, 3 + 4e-16) == 3 && error.status == SEL_OK);
    params.outside = SEL_SERIES_HOLD;
    series = make(arena, &params);
    assert_true(at(series, -9) == 5 && at(series, 9) == 3);
    params.outside = SEL_SERIES_ZERO;
    series = make(arena, &params);
    assert_true(at(series, -9) == 0 && at(series, 9) == 0 && at(series, 3) == 3);
    params.outside = SEL_SERIES_ERROR;
    params.repeats = true;
    series = make(arena, &params);
    assert_true(at(series, 3.5) == 6 && at(series, -2) == 7 && at(series, 300.5) == 6);
    sel_arena_destroy(arena);
}

static void wrong_parameters_are_refused(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_series_params params = three_points();
    params.t.n = 2;
    error = (sel_error){.status = SEL_OK};
    assert_null(sel_series_create(arena, &params, here, &error));
    assert_string_equal(error.text, "s.lua:4: sel.series: 2 times in t, but 3 values in value");
    params.t.n = params.value.n = 1;
    error = (sel_error){.status = SEL_OK};
    assert_null(sel_series_create(arena, &params, here, &error));
    assert_string_equal(error.text, "s.lua:4: sel.series: 1 point; at least 2 are needed (1 with "
                                    "outside = \"hold\")");
    params.outside = SEL_SERIES_HOLD;
    assert_true(at(make(arena, &params), 77) == 5);
    params = three_points();
    params.time_scale = 1e300;
    params.scale = 1e308;
    error = (sel_error){.status = SEL_OK};
    assert_null(sel_series_create(arena, &params, here, &error));
    params = (sel_series_params){.file = "none.csv", .scale = 1, .time_scale = 1};
    error = (sel_error){.status = SEL_OK};
    assert_null(sel_series_create(arena, &params, here, &error));
    assert_int_equal(error.status, SEL_BAD_FILE);
    assert_string_equal(error.text, "none.csv: cannot be opened: No such file or directory");
    sel_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_separators_are_read),
        cmocka_unit_test(line_ends_comments_quotes_and_blank_lines_are_read),
        cmocka_unit_test(columns_go_by_name_or_number),
        cmocka_unit_test(surplus_cells_are_refused_with_their_line),
        cmocka_unit_test(what_is_no_number_is_refused_with_its_line),
        cmocka_unit_test(dates_count_in_seconds_since_the_first),
        cmocka_unit_test(a_slip_in_the_first_row_is_no_line_of_names),
        cmocka_unit_test(times_must_rise),
        cmocka_unit_test(points_are_met_and_joined_by_lines),
        cmocka_unit_test(any_order_of_times_gives_the_same),
        cmocka_unit_test(outside_is_an_error_unless_said_otherwise),
        cmocka_unit_test(wrong_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
