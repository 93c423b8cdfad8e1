/* test_colour.c -- the colour maps of pictures. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include "engine/output/picture.h"

static double lightness(sel_colour c) {
    return 0.2126 * pow(c.r / 255.0, 2.2) + 0.7152 * pow(c.g / 255.0, 2.2) +
           0.0722 * pow(c.b / 255.0, 2.2);
}

static void deep_and_grey_get_ever_lighter(void **state) {
    (void)state;
    for (int map = 0; map < 2; map++) {
        sel_colour table[SEL_COLOURS];
        sel_colour_table(map ? SEL_COLOURS_GREY : SEL_COLOURS_DEEP, table);
        for (int i = 8; i < SEL_COLOURS; i++) {
            assert_true(lightness(table[i]) > lightness(table[i - 8]));
        }
    }
}

static void signed_is_white_in_its_middle_and_darkens_on_both_sides(void **state) {
    (void)state;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_SIGNED, table);
    assert_true(table[127].r > 240 && table[127].g > 240 && table[128].b > 240);
    assert_true(table[40].b > table[40].r && table[215].r > table[215].b);
    for (int i = 8; i < 128; i++) {
        assert_true(lightness(table[i]) > lightness(table[i - 8]));
        assert_true(lightness(table[255 - i]) > lightness(table[255 - i + 8]));
    }
}

static void water_darkens(void **state) {
    (void)state;
    sel_colour table[SEL_COLOURS];
    sel_colour_table(SEL_COLOURS_WATER, table);
    for (int i = 8; i < SEL_COLOURS; i++) {
        assert_true(lightness(table[i]) < lightness(table[i - 8]));
        assert_true(table[i].b > table[i].r + 40);
    }
}

static void no_step_of_a_map_is_a_jump(void **state) {
    (void)state;
    for (int map = SEL_COLOURS_DEEP; map <= SEL_COLOURS_WATER; map++) {
        sel_colour table[SEL_COLOURS];
        sel_colour_table(map, table);
        for (int i = 1; i < SEL_COLOURS; i++) {
            assert_true(abs(table[i].r - table[i - 1].r) <= 5);
            assert_true(abs(table[i].g - table[i - 1].g) <= 5);
            assert_true(abs(table[i].b - table[i - 1].b) <= 5);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_and_grey_get_ever_lighter),
        cmocka_unit_test(signed_is_white_in_its_middle_and_darkens_on_both_sides),
        cmocka_unit_test(water_darkens),
        cmocka_unit_test(no_step_of_a_map_is_a_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
