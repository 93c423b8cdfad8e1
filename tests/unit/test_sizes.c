/* test_sizes.c -- volumes and areas of regions, by their cells, against those of their shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include "engine/scene/sizes.h"
#include "tests/unit/fake_scene.h"

static const double pi = 3.14159265358979323846;

typedef fake_scene fixture;

static sel_region_size sizes[SEL_REGION_NUMBERS]; /* of the last domain */

static int set_up(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    f->arena = sel_arena_create();
    f->common.size = (sel_ints){3, {40, 40, 40}};
    f->common.dx = f->common.dt = 1;
    f->common.periodic = 7;
    f->common.regions.v = f->regions;
    f->simulation = (sel_simulation){.solver = &fake_solver, .params = &f->common};
    *state = f;
    return 0;
}

static void add(fixture *f, sel_shape_kind kind, const void *data, size_t size,
                const sel_shape_placement *placement) {
    void *copy = sel_arena_alloc(f->arena, size);
    const int number = ++f->common.regions.n;
    memcpy(copy, data, size);
    const sel_shape *shape = sel_shape_make(f->arena, kind, copy);
    shape = placement ? sel_shape_place(f->arena, shape, placement) : shape;
    f->regions[number - 1] = fake_region(number, NULL, shape, &fake_anywhere);
}

static void measure(fixture *f) {
    assert_int_equal(sel_domain_create(&f->simulation, NULL, &f->domain, &f->error), SEL_OK);
    assert_int_equal(sel_domain_sizes(f->domain, sizes, &f->error), SEL_OK);
}

/* Asserts that two numbers differ by less than `percent` of the second. */
static void assert_within(int line, double value, double expected, double percent) {
    if (!(fabs(value - expected) <= 0.01 * percent * expected)) {
        fail_msg("line %d: %.10g instead of %.10g", line, value, expected);
    }
}
#define WITHIN(...) assert_within(__LINE__, __VA_ARGS__)

static void balls_within_two_percent(void **state) {
    static const double centres[][3] = {{20, 20, 20}, {20.13, 19.63, 20.29}, {20.5, 20.5, 20.5}};
    for (int k = 0; k < 3; k++) {
        fixture *f = *state;
        sel_shape_ball ball = {{3, {0}}, 16};
        memcpy(ball.centre.v, centres[k], sizeof ball.centre.v);
        add(f, SEL_SHAPE_BALL, &ball, sizeof ball, NULL);
        measure(f);
        WITHIN(sizes[1].volume, 4 * pi / 3 * 4096, 2);
        WITHIN(sizes[1].wetted, 4 * pi * 256, 2);
        for (int a = 0; a < 3; a++) {
            WITHIN(sizes[1].frontal[a], pi * 256, 2);
        }
        fake_scene_close(state);
        set_up(state);
    }
}

static void boxes_are_exact(void **state) {
    fixture *f = *state;
    const sel_shape_box box = {{3, {4, 3, 0}}, {3, {8, 8, 20}}};
    f->common.dx = 0.5;
    f->common.size = (sel_ints){3, {40, 30, 40}};
    add(f, SEL_SHAPE_BOX, &box, sizeof box, NULL); /* through the periodic axis z */
    measure(f);
    WITHIN(sizes[1].volume, 4 * 5 * 20, 1e-9);
    WITHIN(sizes[1].frontal[0], 5 * 20, 1e-9);
    WITHIN(sizes[1].frontal[1], 4 * 20, 1e-9);
    WITHIN(sizes[1].frontal[2], 4 * 5, 1e-9);
    WITHIN(sizes[1].wetted, (2 * 4 + 2 * 5) * 20, 5); /* edges are cut off */
}

static void turned_boxes_within_four_percent(void **state) {
    for (int k = 1; k < 4; k++) {
        fixture *f = *state;
        const sel_shape_box box = {{3, {8, 8, 8}}, {3, {32, 32, 32}}};
        sel_shape_placement place;
        sel_placement_rotate(&place, 0.26 * k, (const double[]){0.3, -0.2 * k, 1},
                             (const double[]){20, 20, 20});
        add(f, SEL_SHAPE_BOX, &box, sizeof box, &place);
        f->common.size = (sel_ints){3, {44, 44, 44}};
        measure(f);
        WITHIN(sizes[1].volume, 24 * 24 * 24, 1);
        WITHIN(sizes[1].wetted, 6 * 24 * 24, 4);
        fake_scene_close(state);
        set_up(state);
    }
}

static void discs_and_two_regions(void **state) {
    fixture *f = *state;
    const sel_shape_ball disc = {{2, {13.2, 12.7}}, 10}, other = {{2, {30, 13}}, 4};
    f->common.size = (sel_ints){2, {40, 26}};
    f->common.periodic = 3;
    add(f, SEL_SHAPE_BALL, &disc, sizeof disc, NULL);
    add(f, SEL_SHAPE_BALL, &other, sizeof other, NULL);
    measure(f);
    WITHIN(sizes[1].volume, pi * 100, 2);
    WITHIN(sizes[1].frontal[0], 20, 5);
    WITHIN(sizes[1].frontal[1], 20, 5);
    WITHIN(sizes[1].wetted, 2 * pi * 10, 2);
    WITHIN(sizes[2].wetted, 2 * pi * 4, 5);
    assert_true(sizes[2].frontal[2] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(balls_within_two_percent, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(boxes_are_exact, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(turned_boxes_within_four_percent, set_up, fake_scene_close),
        cmocka_unit_test_setup_teardown(discs_and_two_regions, set_up, fake_scene_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
