/* test_raster_asc.c -- ESRI ASCII grids: every form of the header, values, NODATA, what is refused.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/raster.h"
#include "tests/unit/files.h"
#include "tests/unit/raster_cell.h"

static sel_error error;

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const sel_raster *make(sel_arena *arena, const char *text, double nodata, double fill) {
    sel_raster_params params = {.file = "g.asc", .scale = 1, .nodata = nodata, .fill = fill};
    write_file("g.asc", text);
    error = (sel_error){.status = SEL_OK};
    return sel_raster_of(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
}

/* What the file holds, as text: size, origin, side, then the rows from the south. */
static void holds(const char *text, const char *expected) {
    sel_arena *arena = sel_arena_create();
    const sel_raster *r = make(arena, text, (double)NAN, (double)NAN);
    char found[512];
    if (!r)
        fail_msg("%s", error.text);
    int used = snprintf(found, sizeof found, "%lldx%lld %.17g,%.17g %.17g:", (long long)r->n[0],
                        (long long)r->n[1], r->origin[0], r->origin[1], r->dx);
    for (int64_t j = 0; j < r->n[1]; j++) {
        for (int64_t i = 0; i < r->n[0]; i++) {
            bool none = raster_nodata(r, i, j);
            used += snprintf(found + used, sizeof found - (size_t)used, none ? " -" : " %.17g",
                             raster_cell(r, i, j));
        }
        used += snprintf(found + used, sizeof found - (size_t)used, "/");
    }
    assert_string_equal(found, expected);
    sel_arena_destroy(arena);
}

static void refused(const char *text, const char *message) {
    sel_arena *arena = sel_arena_create();
    assert_null(make(arena, text, (double)NAN, (double)NAN));
    assert_string_equal(error.text, message);
    assert_int_equal(error.status, SEL_BAD_FILE);
    sel_arena_destroy(arena);
}

#define HEAD "ncols 3\nnrows 2\nxllcorner 10\nyllcorner 20\ncellsize 5\n"

static void the_first_row_is_the_north(void **state) {
    (void)state;
    holds(HEAD "1 2 3\n4 5 6\n", "3x2 10,20 5: 4 5 6/ 1 2 3/");
}

static void keys_come_in_any_order_and_case(void **state) {
    (void)state;
    holds("CellSize 0.5\nYLLCORNER 5000000.25\nNODATA_value 7\nNRows 1\nXLLCORNER -3\nNCOLS 2\n7 8",
          "2x1 -3,5000000.25 0.5: - 8/");
}

static void centres_are_half_a_cell_inside(void **state) {
    (void)state;
    holds("ncols 1 nrows 1 xllcenter 2.5 yllcenter 7.5 cellsize 5 9", "1x1 0,5 5: 9/");
    holds("ncols 1 nrows 1 xllcorner 2.5 yllcenter 7.5 cellsize 5 9", "1x1 2.5,5 5: 9/");
}

static void sides_may_be_given_apart_when_they_are_equal(void **state) {
    (void)state;
    holds("ncols 1 nrows 1 xllcorner 0 yllcorner 0 dx 5 dy 5.0000001 9", "1x1 0,0 5: 9/");
    refused("ncols 1 nrows 1 xllcorner 0 yllcorner 0 dx 5 dy 6 9",
            "g.asc: its cells of 5 x 6 are not square; gdalwarp -tr makes them so");
    refused("ncols 1 nrows 1 xllcorner 0 yllcorner 0 dx 5 9", "g.asc: give CELLSIZE, or DX and DY");
    refused("ncols 1 nrows 1 xllcorner 0 yllcorner 0 cellsize 5 dx 5 9",
            "g.asc: give CELLSIZE, or DX and DY");
}

static void line_ends_and_breaks_do_not_matter(void **state) {
    (void)state;
    holds("\xef\xbb\xbfncols 3\r\nnrows 2\r\nxllcorner 10\r\nyllcorner 20\r\ncellsize 5\r\n"
          "1\r\n\t2 3 4\r\n\r\n5 6\r\n\r\n",
          "3x2 10,20 5: 4 5 6/ 1 2 3/");
    holds(HEAD "1 2 3 4 5 6", "3x2 10,20 5: 4 5 6/ 1 2 3/");
}

static void numbers_have_any_form(void **state) {
    (void)state;
    holds(HEAD "-1.5e2 +.25 1E-1\n0.30000000000000004 1e-300 5.\n",
          "3x2 10,20 5: 0.30000000000000004 1e-300 5/ -150 0.25 0.10000000000000001/");
}

static void no_data_are_met_to_six_digits(void **state) {
    (void)state;
    holds(HEAD "-9999 -9999.0 -9998\nnan 1 NaN\n", "3x2 10,20 5: - 1 -/ - - -9998/");
    holds(HEAD "NODATA_value -3.4028234663852886e+38\n-3.40282e+38 -3.402823e38 0\n-9999 1 2\n",
          "3x2 10,20 5: -9999 1 2/ - - 0/");
    holds(HEAD "nodata_value nan\nnan 2 3\n-9999 5 6\n", "3x2 10,20 5: -9999 5 6/ - 2 3/");
    holds(HEAD "nodata_value 0\n0 1e-9 3\n-0 5 6\n",
          "3x2 10,20 5: - 5 6/ - 1.0000000000000001e-09 3/");
}

static void a_script_may_say_what_means_no_data_and_what_fills_it(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    const sel_raster *r = make(arena, HEAD "-9999 2 3\n4 5 6\n", 5, (double)NAN);
    assert_true(raster_cell(r, 0, 1) == -9999 && raster_nodata(r, 1, 0));
    r = make(arena, HEAD "-9999 2 3\n4 5 6\n", (double)NAN, 0.5);
    assert_true(raster_cell(r, 0, 1) == 0.5 && raster_cell(r, 1, 0) == 5);
    sel_arena_destroy(arena);
}

static void asking_where_there_are_no_data_is_an_error(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_raster_params params = {
        .file = "g.asc", .scale = 2, .offset = 1, .nodata = (double)NAN, .fill = (double)NAN};
    const double x[] = {500002.5, 500012.5}, y[] = {5000007.5, 5000007.5};
    const double *at[] = {x, y};
    double out[2];
    write_file("g.asc", "ncols 3 nrows 2 xllcorner 500000 yllcorner 5000000 cellsize 5 "
                        "1 2 -9999 4 5 6");
    const sel_lookup *lookup = sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error);
    assert_int_equal(lookup->at(lookup, 1, at, out, &error), SEL_OK);
    assert_true(out[0] == 3);
    error = (sel_error){.status = SEL_OK};
    assert_int_equal(lookup->at(lookup, 2, at, out, &error), SEL_BAD_SCENARIO);
    assert_string_equal(error.text,
                        "raster g.asc: there are no data at x = 500012.5, y = 5000007.5");
    sel_arena_destroy(arena);
}

static void headers_that_cannot_be_are_refused(void **state) {
    (void)state;
    refused("", "g.asc: NCOLS is missing; is it an ASCII grid?");
    refused("1 2 3", "g.asc: NCOLS is missing; is it an ASCII grid?");
    refused("ncols 2\nxllcorner 0 yllcorner 0 cellsize 1\n1 2",
            "g.asc: NROWS is missing; is it an ASCII grid?");
    refused("ncols 2\nnrows 2.5\n1", "g.asc: NROWS must be a whole number above 0, not 2.5");
    refused("ncols 0\nnrows 2\n1", "g.asc: NCOLS must be a whole number above 0, not 0");
    refused("ncols 3e9\nnrows 2\n1", "g.asc: NCOLS must be a whole number above 0, not 3000000000");
    refused("ncols 2\nncols 2\n", "g.asc:2: NCOLS is given twice");
    refused("ncols 2\nnrows", "g.asc:2: ends behind NROWS");
    refused("ncols 2\nnrows two\n", "g.asc:2: 'two' is no number");
    refused("ncols nan\n", "g.asc:1: NCOLS is not a number");
    refused(
        "ncols 2\ncolour 1\n",
        "g.asc:2: unknown key 'colour'; an ASCII grid has NCOLS, NROWS, XLLCORNER or XLLCENTER, "
        "YLLCORNER or YLLCENTER, CELLSIZE, NODATA_VALUE");
    refused("ncols 1 nrows 1 yllcorner 0 cellsize 1 5", "g.asc: give XLLCORNER or XLLCENTER");
    refused("ncols 1 nrows 1 xllcorner 0 yllcorner 0 yllcenter 0 cellsize 1 5",
            "g.asc: give YLLCORNER or YLLCENTER, not both");
    refused("ncols 1 nrows 1 xllcorner 0 yllcorner 0 cellsize -1 5",
            "g.asc: CELLSIZE must be above 0, not -1");
    refused("ncols 1 nrows 1 xllcorner 0 yllcorner 0 dx 1 dy 0 5",
            "g.asc: DY must be above 0, not 0");
    refused("ncols 1 nrows 1 xllcenter -1.7e308 yllcorner 0 cellsize 1.7e308 5",
            "g.asc: its corners are not finite numbers");
    refused("ncols 2 nrows 1 xllcorner 0 yllcorner 0 cellsize 1e308 5 6",
            "g.asc: its corners are not finite numbers");
}

static void values_are_counted_and_must_be_numbers(void **state) {
    (void)state;
    refused(HEAD "1 2 3\n4 5\n", "g.asc:8: ends after 5 of 3 x 2 = 6 values");
    refused(HEAD "1 2 3\n4 5 6\nEOF\n",
            "g.asc:8: text stands behind the 3 x 2 = 6 values: 'EOF'; remove what follows them");
    holds(HEAD "NODATA_value null\n1 null 3\n4 5 Null\n", "3x2 10,20 5: 4 5 -/ 1 - 3/");
    refused(HEAD "1 2 3\n4 5 6\n\n7\n", "g.asc:9: there are more values than 3 x 2 = 6");
    refused(HEAD "1 2 3\n4 x 6\n", "g.asc:7: 'x' is no number");
    refused(HEAD "1 2 3\n4 5,5 6\n", "g.asc:7: '5,5' is no number; decimals take a point");
    refused(HEAD "1 2 3\n4 1e999 6\n", "g.asc:7: '1e999' is no number");
    refused(HEAD "1 2 3\n4 inf 6\n", "g.asc:7: 'inf' is no number");
    refused(HEAD "1 2 3\n4 0x5 6\n", "g.asc:7: '0x5' is no number");
    refused(HEAD "1 2 3\n4 \x01\xff 6\n", "g.asc:7: '?\?' is no number");
    refused(HEAD "1 2 3\n4 12345678901234567890123456789012345678901234567890x 6\n",
            "g.asc:7: '1234567890123456789012345678901234567890...' is no number");
}

static void files_too_short_for_their_header_take_no_memory(void **state) {
    (void)state;
    refused("ncols 2000000000\nnrows 2000000000\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2 3\n",
            "g.asc: 75 bytes cannot hold the 2000000000 x 2000000000 values that its header "
            "declares");
}

/* More than one block of the reader, tokens across its borders. */
static void large_files_are_read_block_by_block(void **state) {
    (void)state;
    enum { WIDTH = 700, HEIGHT = 600 };
    sel_arena *arena = sel_arena_create();
    FILE *file = fopen("g.asc", "wb");
    fprintf(file, "ncols %d\nnrows %d\nxllcorner 0\nyllcorner 0\ncellsize 1\n", WIDTH, HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        fprintf(file, "%.*f%s", i % 7, i * 0.37, i % WIDTH == WIDTH - 1 ? "\n" : " ");
    fclose(file);
    sel_raster_params params = {
        .file = "g.asc", .scale = 1, .offset = 0, .nodata = (double)NAN, .fill = (double)NAN};
    const sel_raster *r =
        sel_raster_of(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
    assert_non_null(r);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        char text[40];
        snprintf(text, sizeof text, "%.*f", i % 7, i * 0.37);
        assert_true(raster_cell(r, i % WIDTH, HEIGHT - 1 - i / WIDTH) == strtod(text, NULL));
    }
    sel_arena_destroy(arena);
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    sel_arena *arena = sel_arena_create();
    sel_raster_params params = {
        .file = "none.asc", .scale = 1, .offset = 0, .nodata = (double)NAN, .fill = (double)NAN};
    error = (sel_error){.status = SEL_OK};
    assert_null(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
    assert_string_equal(error.text, "none.asc: cannot be opened: No such file or directory");
    assert_int_equal(mkdir("d.asc", 0700), 0);
    params.file = "d.asc";
    error = (sel_error){.status = SEL_OK};
    assert_null(sel_raster_create(arena, &params, (sel_where){NULL, 0}, &error));
    assert_string_equal(error.text, "d.asc: is not a regular file but a folder");
    sel_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_row_is_the_north),
        cmocka_unit_test(keys_come_in_any_order_and_case),
        cmocka_unit_test(centres_are_half_a_cell_inside),
        cmocka_unit_test(sides_may_be_given_apart_when_they_are_equal),
        cmocka_unit_test(line_ends_and_breaks_do_not_matter),
        cmocka_unit_test(numbers_have_any_form),
        cmocka_unit_test(no_data_are_met_to_six_digits),
        cmocka_unit_test(a_script_may_say_what_means_no_data_and_what_fills_it),
        cmocka_unit_test(asking_where_there_are_no_data_is_an_error),
        cmocka_unit_test(headers_that_cannot_be_are_refused),
        cmocka_unit_test(values_are_counted_and_must_be_numbers),
        cmocka_unit_test(files_too_short_for_their_header_take_no_memory),
        cmocka_unit_test(large_files_are_read_block_by_block),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
