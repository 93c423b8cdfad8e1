/* test_paint.c -- painted quantities in three dimensions: layers of shapes, each with its values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/scene/simulation.h"
#include "engine/scene/shape.h"

enum { N = 6, CELLS = N * N * N };

/* x + 10 y + 100 z + 1000 t, defined for z > 2 only. */
static sel_status above_two(const sel_function *self, const sel_places *at, double *out,
                            sel_error *error) {
    for (size_t i = 0; i < at->n; i++) {
        if (at->z[i] <= 2) {
            return sel_fail_at(error, self->where, "asked below its range");
        }
        out[i] = at->x[i] + 10 * at->y[i] + 100 * at->z[i] + 1000 * at->t;
    }
    return SEL_OK;
}

/* A base of 7, a slab z >= 2 with a function of place and time, in it a ball of -1. */
typedef struct fixture {
    sel_arena *arena;
    sel_common common;
    sel_shape_box slab;
    sel_shape_ball ball;
    sel_function function;
    sel_paint_layer layers[2];
    sel_paint paint;
    double x[CELLS], y[CELLS], z[CELLS], out[CELLS];
    sel_error error;
} fixture;

static int set_up(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    f->arena = sel_arena_create();
    f->common.size = (sel_ints){3, {N, N, N}};
    f->common.dx = f->common.dt = 1;
    f->slab = (sel_shape_box){{3, {0, 0, 2}}, {3, {N, N, N}}};
    f->ball = (sel_shape_ball){{3, {3, 3, 3}}, 1.5};
    f->function = (sel_function){.depends = SEL_ON_PLACE | SEL_ON_T,
                                 .results = 1,
                                 .where = {"test.lua", 7},
                                 .eval = above_two};
    f->layers[0] = (sel_paint_layer){sel_shape_make(f->arena, SEL_SHAPE_BOX, &f->slab),
                                     sel_from_function(&f->function)};
    f->layers[1] =
        (sel_paint_layer){sel_shape_make(f->arena, SEL_SHAPE_BALL, &f->ball), sel_constant(-1)};
    f->paint = (sel_paint){sel_constant(7), 2, f->layers};
    for (int i = 0; i < CELLS; i++) {
        f->x[i] = i % N + 0.5;
        f->y[i] = i / N % N + 0.5;
        f->z[i] = i / (N * N) + 0.5;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sel_arena_destroy(f->arena);
    test_free(f);
    return 0;
}

static sel_status evaluate(fixture *f, const sel_function **painted) {
    sel_where where = {"test.lua", 5};
    *painted = sel_paint_function(f->arena, &f->paint, &f->common, where);
    sel_places at = {CELLS, f->x, f->y, f->z, 2, NULL, NULL};
    return (*painted)->eval(*painted, &at, f->out, &f->error);
}

static void the_last_layer_that_holds_a_place_gives_its_value(void **state) {
    fixture *f = *state;
    const sel_function *painted;
    assert_int_equal(evaluate(f, &painted), SEL_OK);
    int in_ball = 0;
    for (int i = 0; i < CELLS; i++) {
        double dx = f->x[i] - 3, dy = f->y[i] - 3, dz = f->z[i] - 3;
        bool ball = dx * dx + dy * dy + dz * dz <= 2.25;
        double slab = f->x[i] + 10 * f->y[i] + 100 * f->z[i] + 2000;
        assert_true(f->out[i] == (ball ? -1 : f->z[i] < 2 ? 7 : slab));
        in_ball += ball;
    }
    assert_int_equal(in_ball, 8);
}

static void it_depends_on_place_and_on_what_its_values_do(void **state) {
    fixture *f = *state;
    const sel_function *painted;
    assert_int_equal(evaluate(f, &painted), SEL_OK);
    assert_int_equal(painted->depends, SEL_ON_PLACE | SEL_ON_T);
    assert_int_equal(painted->results, 1);
}

static void a_value_that_fails_where_it_shows_fails_the_paint(void **state) {
    fixture *f = *state;
    const sel_function *painted;
    f->slab.min.v[2] = 1;
    assert_int_equal(evaluate(f, &painted), SEL_BAD_SCENARIO);
    assert_string_equal(f->error.text, "test.lua:7: asked below its range");
}

static void shapes_must_fit_the_domain(void **state) {
    fixture *f = *state;
    const sel_function *painted;
    f->ball.centre.n = 2;
    assert_int_equal(evaluate(f, &painted), SEL_BAD_SCENARIO);
    assert_string_equal(f->error.text,
                        "shape.ball: centre has 2 coordinates in a domain of 3 dimensions");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_last_layer_that_holds_a_place_gives_its_value),
        TEST(it_depends_on_place_and_on_what_its_values_do),
        TEST(a_value_that_fails_where_it_shows_fails_the_paint),
        TEST(shapes_must_fit_the_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
