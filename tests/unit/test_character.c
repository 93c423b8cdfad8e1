/* test_character.c -- characters outside ASCII are named, with what to type instead. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "engine/base/text.h"

static void characters_have_names(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int length;
        const char *name;
    } cases[] = {
        {"\u201cx", 3, "a curly quote (U+201C): write \""},
        {"\u00a0x", 2, "a no-break space (U+00A0): write a plain space"},
        {"\u2264 1", 3, "a sign of comparison (U+2264): write <="},
        {"\ufeffx", 3, "an invisible character (U+FEFF): delete it"},
        {"\uff1d", 3, "'\uff1d' (U+FF1D): write ="},
        {"\u00fc", 2, "'\u00fc' (U+00FC)"},
        {"\U0001f600", 4, "'\U0001f600' (U+1F600)"},
        {"\xfc", 1, "the byte 0xFC, which is no UTF-8: save the file as UTF-8"},
        {"\xe2\x80", 1, "the byte 0xE2, which is no UTF-8: save the file as UTF-8"},
        {"\xc2\x85", 2, "a control character (U+0085)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[SEL_CHARACTER_ROOM];
        assert_int_equal(sel_character_text(cases[i].text, name), cases[i].length);
        assert_string_equal(name, cases[i].name);
    }
}

static void wide_texts_are_known(void **state) {
    (void)state;
    assert_string_equal(sel_wide_encoding("\xff\xfe"
                                          "a\0",
                                          4),
                        "UTF-16");
    assert_string_equal(sel_wide_encoding("\0a\0b", 4), "UTF-16");
    assert_string_equal(sel_wide_encoding("a\0b\0", 4), "UTF-16");
    assert_string_equal(sel_wide_encoding("\xff\xfe\0\0", 4), "UTF-32");
    assert_null(sel_wide_encoding("\xef\xbb\xbf"
                                  "a",
                                  4));
    assert_null(sel_wide_encoding("", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(characters_have_names),
                                       cmocka_unit_test(wide_texts_are_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
