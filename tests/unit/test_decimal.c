/* test_decimal.c -- numbers in text: rounded as the C library rounds them, whatever the locale. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/text.h"

static locale_t c_locale;

static int make_locale(void **state) {
    (void)state;
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c_locale ? 0 : -1;
}

static int free_locale(void **state) {
    (void)state;
    freelocale(c_locale);
    return 0;
}

/* The same bits and the same end as the C library's. */
static void assert_same(const char *text) {
    double value = -1;
    char *end;
    double expected = strtod_l(text, &end, c_locale);
    const char *behind = sel_decimal_read(text, &value);
    if (behind != end || memcmp(&value, &expected, sizeof value) != 0)
        fail_msg("'%s' is %.17g, not %.17g", text, value, expected);
}

static void every_form_is_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "+7",
        "12",
        "-12.5",
        ".5",
        "5.",
        "1e3",
        "1E+3",
        "1e-3",
        "-2.50e-2x",
        "3 4",
        "1e",
        "1e+",
        "7e5000",
        "7e-5000",
        "0e99999999999",
        "0.1",
        "123456789.123456789",
        "9007199254740992",
        "9007199254740993",
        "-9007199254740993e-3",
        "18446744073709551616",
        "00000000000000000000000000001.5",
        "1.0000000000000000000000000000000000001",
        "0.000000000000000000000000000000012345",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "9e22",
        "4.9e-324",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999e-60"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_same(texts[i]);
}

static void other_words_are_no_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"", "-", ".", "+.", "e5", "nan", "inf", "x1", " 1", "--1"};
    double value;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(sel_decimal_read(texts[i], &value));
    assert_string_equal(sel_decimal_read("0x10", &value), "x10");
}

/* Numbers as grids have them and numbers with all digits, about the limits of the short cut. */
static void a_million_numbers_are_rounded_to_nearest(void **state) {
    (void)state;
    uint64_t seed = 12345;
    char text[96];
    for (int i = 0; i < 1000000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t whole = (seed >> 11) >> (i % 40);
        int places = (int)(seed % 23), power = (int)(seed / 64 % 60) - 30;
        if (i % 3 == 0)
            snprintf(text, sizeof text, "%" PRIu64 "e%d", whole, power);
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "-%" PRIu64 ".%0*" PRIu64, whole % 100000, places + 1,
                     seed >> 40);
        else
            snprintf(text, sizeof text, "%.17g", (double)whole * pow(10, power));
        assert_same(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(other_words_are_no_numbers),
        cmocka_unit_test(a_million_numbers_are_rounded_to_nearest),
    };
    return cmocka_run_group_tests(tests, make_locale, free_locale);
}
