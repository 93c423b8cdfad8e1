/* test_json.c -- numbers and strings as JSON. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <locale.h>
#include <stdlib.h>
#include "engine/base/text.h"

static void assert_string_prints(const char *text, const char *expected) {
    char *printed;
    size_t size;
    FILE *to = open_memstream(&printed, &size);
    sel_json_string(to, text);
    fclose(to);
    assert_string_equal(printed, expected);
    free(printed);
}

static void assert_number_prints(double value, const char *expected) {
    char *printed;
    size_t size;
    FILE *to = open_memstream(&printed, &size);
    sel_json_number(to, value);
    fclose(to);
    assert_string_equal(printed, expected);
    free(printed);
}

static void numbers_are_as_short_as_they_can_be(void **state) {
    (void)state;
    assert_number_prints(0.1, "0.1");
    assert_number_prints(0.1 * 3, "0.30000000000000004");
    assert_number_prints(-5, "-5");
    assert_number_prints(1e300, "1e+300");
    assert_number_prints(DBL_MIN, "2.2250738585072014e-308");
    assert_number_prints((double)NAN, "null");
    assert_number_prints(-(double)INFINITY, "null");
}

static void csv_numbers_are_the_shortest_that_read_back(void **state) {
    (void)state;
    char text[SEL_NUMBER_ROOM];
    sel_number_text(0.1, text);
    assert_string_equal(text, "0.1");
    sel_number_text(0.1 + 0.2, text);
    assert_string_equal(text, "0.30000000000000004");
    sel_number_text(1.0 / 3, text);
    assert_string_equal(text, "0.3333333333333333");
    sel_number_text(-(double)NAN, text);
    assert_string_equal(text, "nan");
    sel_number_text(-(double)INFINITY, text);
    assert_string_equal(text, "-inf");
}

static void numbers_have_a_point_in_every_locale(void **state) {
    (void)state;
    static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    for (int i = 0; i < 4; i++) {
        if (setlocale(LC_NUMERIC, locales[i])) { /* else it is not installed here */
            char text[SEL_NUMBER_ROOM];
            sel_number_text(-0.125, text);
            assert_number_prints(-0.1, "-0.1");
            setlocale(LC_NUMERIC, "C");
            assert_string_equal(text, "-0.125");
        }
    }
}

static void strings_are_quoted_and_escaped(void **state) {
    (void)state;
    assert_string_prints("a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\"");
    assert_string_prints("line\n\ttab\x01", "\"line\\u000a\\u0009tab\\u0001\"");
    assert_string_prints("", "\"\"");
    assert_string_prints(NULL, "null");
}

static void strings_are_valid_utf8_whatever_comes(void **state) {
    (void)state;
    assert_string_prints("\xc3\xbc \xe2\x82\xac \xf0\x9f\x8c\x99",
                         "\"\xc3\xbc \xe2\x82\xac \xf0\x9f\x8c\x99\"");
    assert_string_prints("\xfc!", "\"\\ufffd!\"");                                /* Latin-1 */
    assert_string_prints("\xe2\x82", "\"\\ufffd\\ufffd\"");                       /* cut short */
    assert_string_prints("\xc0\xaf", "\"\\ufffd\\ufffd\"");                       /* overlong */
    assert_string_prints("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* a surrogate */
    assert_string_prints("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* too large */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_as_short_as_they_can_be),
        cmocka_unit_test(csv_numbers_are_the_shortest_that_read_back),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(strings_are_quoted_and_escaped),
        cmocka_unit_test(strings_are_valid_utf8_whatever_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
