/* test_program_pack.c -- packed programs give the bits of sel_program_eval, wherever they lie. */
#include "pack_case.h"
#include <omp.h>
#include "engine/values/quantity.h"
#include "engine/values/series.h"
#include "engine/io/raster.h"

enum { PLACES = 200, PROGRAMS = 300 };

static const double controls[] = {0.75, -3};

typedef struct fixture {
    sel_builder *b;
    sel_arena *arena;
    sel_pack *pack;
    uint64_t seed;
    double x[PLACES], y[PLACES], z[PLACES];
} fixture;

static unsigned draw(fixture *f, unsigned below) {
    f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(f->seed >> 33) % below;
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->b = sel_builder_create(20000);
    f->arena = sel_arena_create();
    f->pack = sel_pack_create();
    for (int i = 0; i < PLACES; i++) {
        f->x[i] = (draw(f, 2000) - 500.0) / 100;
        f->y[i] = (draw(f, 2000) - 500.0) / 100;
        f->z[i] = draw(f, 7) - 3.0;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    sel_builder_destroy(f->b);
    sel_arena_destroy(f->arena);
    sel_pack_destroy(f->pack);
    free(f);
    return 0;
}

static const sel_lookup *make_series(const fixture *f, int interpolation, bool repeats,
                                     int outside) {
    static double t[] = {-1, 0, 0.5, 2, 3.25}, value[] = {4, 0.3, -7, 1e-3, 12};
    const sel_series_params params = {.t = {.v = t, .n = 5},
                                      .value = {.v = value, .n = 5},
                                      .scale = 1,
                                      .time_scale = 1,
                                      .interpolation = interpolation,
                                      .repeats = repeats,
                                      .outside = outside};
    sel_error error = {.status = SEL_OK};
    const sel_lookup *series = sel_series_create(f->arena, &params, (sel_where){NULL, 0}, &error);
    if (!series)
        fail_msg("%s", error.text);
    return series;
}

static sel_status raster_at(const sel_lookup *self, size_t n, const double *const *arguments,
                            double *out, sel_error *error) {
    for (size_t i = 0; i < n; i++) {
        out[i] = sel_raster_value(self->data, arguments[0][i], arguments[1][i]);
        if (isnan(out[i]))
            return sel_fail(error, SEL_BAD_SCENARIO, "no data");
    }
    return SEL_OK;
}

/* From (-1, -2) to (5, 4), one pixel without data. */
static const sel_lookup *raster(void) {
    static double value[12];
    static const sel_raster data = {.n = {4, 3}, .dx = 1.5, .origin = {-1, -2}, .value = value};
    static const sel_lookup lookup = {SEL_LOOKUP_RASTER, "raster", 2, raster_at, &data};
    for (int i = 0; i < 12; i++)
        value[i] = i == 6 ? (double)NAN : 0.7 * i - 2;
    return &lookup;
}

/* Program `number` of the pack, at all places. */
static void compare(const fixture *f, const sel_program *program, int number, double t) {
    const sel_places at = {PLACES, f->x, f->y, f->z, t, controls, NULL};
    pack_agrees(f->pack, number, program, &at, controls);
}

static const sel_program *finish(fixture *f, const int *results, int count, int fails) {
    const sel_program *program = sel_builder_finish(f->b, results, count, fails, f->arena);
    assert_non_null(program);
    return program;
}

/* A program of random operations on random earlier values, look-ups among them. */
static const sel_program *random_program(fixture *f, const sel_lookup *const *lookups,
                                         unsigned lookup_count) {
    enum { STEPS = 40, INPUTS = 8 };
    int node[INPUTS + STEPS], count = 0, results = 1 + (int)draw(f, 3);
    for (int argument = SEL_ARGUMENT_X; argument <= SEL_ARGUMENT_CONTROL + 1; argument++)
        node[count++] = sel_build_argument(f->b, argument);
    node[count++] = sel_build_constant(f->b, draw(f, 1000) / 64.0);
    node[count++] = sel_build_constant(f->b, -0.0);
    while (count < INPUTS + STEPS) {
        int from[4];
        for (int k = 0; k < 4; k++)
            from[k] = node[draw(f, (unsigned)count)];
        unsigned op = draw(f, SEL_OP_COUNT + 6);
        for (int k = 0; k < 3; k++) {
            const bool logic = (op >= SEL_OP_NOT && op <= SEL_OP_OR) || (op == SEL_OP_SELECT && !k);
            from[k] = logic ? sel_build(f->b, SEL_OP_LT, from[k], node[draw(f, (unsigned)count)], 0)
                            : from[k];
        }
        node[count++] = op < SEL_OP_COUNT
                            ? sel_build(f->b, (sel_op)op, from[0], from[1], from[2])
                            : sel_build_lookup(f->b, lookups[draw(f, lookup_count)], from);
        assert_true(node[count - 1] >= 0);
    }
    const int fails = sel_build(f->b, SEL_OP_LT, node[draw(f, (unsigned)count)], node[0], 0);
    return finish(f, node + count - results, results, fails);
}

static void random_programs_give_the_same_bits(void **state) {
    fixture *f = *state;
    const sel_lookup *const lookups[] = {
        make_series(f, SEL_SERIES_LINEAR, false, SEL_SERIES_ERROR),
        make_series(f, SEL_SERIES_LINEAR, true, SEL_SERIES_ERROR),
        make_series(f, SEL_SERIES_PREVIOUS, false, SEL_SERIES_HOLD),
        make_series(f, SEL_SERIES_LINEAR, false, SEL_SERIES_ZERO),
        raster(),
        &sel_noise_lookup,
    };
    for (int k = 0; k < PROGRAMS; k++) {
        sel_builder_destroy(f->b);
        f->b = sel_builder_create(200);
        const sel_program *program = random_program(f, lookups, 6);
        int number = sel_pack_add(f->pack, program);
        assert_int_equal(number, k);
        if (k % 10 == 0)
            compare(f, program, number, k * 0.03 - 2);
    }
}

static void every_operation_is_packed(void **state) {
    fixture *f = *state;
    int x = sel_build_argument(f->b, SEL_ARGUMENT_X), y = sel_build_argument(f->b, SEL_ARGUMENT_Y);
    int t = sel_build_argument(f->b, SEL_ARGUMENT_T), less = sel_build(f->b, SEL_OP_LT, x, y, 0);
    int other = sel_build(f->b, SEL_OP_LT, y, t, 0);
    for (int op = 0; op < SEL_OP_COUNT; op++) {
        const bool logic = op >= SEL_OP_NOT && op <= SEL_OP_OR;
        int node = sel_build(f->b, (sel_op)op, logic || op == SEL_OP_SELECT ? less : x,
                             logic ? other : y, t);
        const sel_program *program = finish(f, &node, 1, -1);
        compare(f, program, sel_pack_add(f->pack, program), 1.25);
    }
}

static void look_ups_without_a_value_are_not_sure(void **state) {
    fixture *f = *state;
    const sel_lookup *series = make_series(f, SEL_SERIES_LINEAR, false, SEL_SERIES_ERROR);
    int x = sel_build_argument(f->b, SEL_ARGUMENT_X);
    int value = sel_build_lookup(f->b, series, &x);
    int sure = sel_build(f->b, SEL_OP_EQ, value, value, 0);
    const sel_program *program = finish(f, &value, 1, sel_build(f->b, SEL_OP_NOT, sure, 0, 0));
    int number = sel_pack_add(f->pack, program);
    f->x[0] = 3.25;
    f->x[1] = 3.26;
    compare(f, program, number, 0);
    double out[PLACES];
    uint8_t exact[PLACES];
    const sel_places at = {PLACES, f->x, f->y, f->z, 0, NULL, NULL};
    assert_int_equal(sel_program_eval(program, &at, NULL, out, exact, NULL), SEL_OK);
    assert_int_equal(exact[0], 1);
    assert_int_equal(exact[1], 0);
}

static void data_are_there_once(void **state) {
    fixture *f = *state;
    const sel_lookup *data = raster();
    int x = sel_build_argument(f->b, SEL_ARGUMENT_X), y = sel_build_argument(f->b, SEL_ARGUMENT_Y);
    const int forward[] = {x, y}, backward[] = {y, x};
    int first = sel_build_lookup(f->b, data, forward);
    int second = sel_build_lookup(f->b, data, backward);
    const sel_program *a = finish(f, &first, 1, -1), *b = finish(f, &second, 1, -1);
    assert_int_equal(sel_pack_add(f->pack, a), 0);
    size_t bytes = sel_pack_bytes(f->pack);
    assert_int_equal(sel_pack_add(f->pack, b), 1);
    sel_pack *alone = sel_pack_create();
    assert_int_equal(sel_pack_add(alone, b), 0);
    size_t data_bytes = 12 * sizeof(double) + sizeof(sel_packed_lookup);
    assert_true(sel_pack_bytes(f->pack) <= bytes + sel_pack_bytes(alone) - data_bytes + 16);
    sel_pack_destroy(alone);
    compare(f, a, 0, 0);
    compare(f, b, 1, 0);
}

static sel_status from_c(const sel_lookup *self, size_t n, const double *const *arguments,
                         double *out, sel_error *error) {
    (void)self;
    (void)error;
    memcpy(out, arguments[0], n * sizeof *out);
    return SEL_OK;
}

static void look_ups_made_from_c_cannot_be_packed(void **state) {
    fixture *f = *state;
    static const sel_lookup lookup = {SEL_LOOKUP_SERIES, "from C", 1, from_c, NULL};
    int x = sel_build_argument(f->b, SEL_ARGUMENT_X), value = sel_build_lookup(f->b, &lookup, &x);
    const sel_program *program = finish(f, &value, 1, -1);
    assert_false(sel_pack_can_hold(program));
    assert_int_equal(sel_pack_add(f->pack, program), -1);
}

/* A series or a raster where a function could stand is a program too. */
static void data_by_themselves_are_programs(void **state) {
    fixture *f = *state;
    const sel_lookup *const lookups[] = {
        make_series(f, SEL_SERIES_LINEAR, true, SEL_SERIES_ERROR),
        raster(),
    };
    for (int k = 0; k < 2; k++) {
        const sel_function *function =
            sel_lookup_function(f->arena, lookups[k], (sel_where){NULL, 0});
        double expected, value;
        uint8_t exact;
        const double x = 0.4, y = -1.3;
        const sel_places at = {1, &x, &y, NULL, 2.1, NULL, NULL};
        assert_non_null(function->program);
        assert_int_equal(function->program->depends, function->depends);
        assert_int_equal(function->eval(function, &at, &expected, NULL), SEL_OK);
        assert_int_equal(sel_program_eval(function->program, &at, NULL, &value, &exact, NULL),
                         SEL_OK);
        assert_int_equal(exact, 1);
        assert_memory_equal(&value, &expected, sizeof value);
        compare(f, function->program, sel_pack_add(f->pack, function->program), 2.1);
    }
}

static void many_places_do_not_depend_on_threads(void **state) {
    fixture *f = *state;
    enum { MANY = 100003 };
    double *x = malloc(MANY * sizeof *x), *one = malloc(MANY * sizeof *x);
    double *three = malloc(MANY * sizeof *x);
    uint8_t *exact = malloc(MANY);
    const int threads = omp_get_max_threads();
    for (int i = 0; i < MANY; i++)
        x[i] = i * 1e-3;
    int argument = sel_build_argument(f->b, SEL_ARGUMENT_X), sum = argument;
    int t = sel_build_argument(f->b, SEL_ARGUMENT_T),
        product = sel_build(f->b, SEL_OP_MUL, t, t, 0);
    for (int k = 0; k < 10; k++)
        sum = sel_build(f->b, SEL_OP_ADD, sel_build(f->b, SEL_OP_SIN, sum, 0, 0), product, 0);
    const sel_program *program =
        finish(f, &sum, 1, sel_build(f->b, SEL_OP_LE, product, argument, 0));
    const sel_places at = {MANY, x, NULL, NULL, 3, NULL, NULL};
    omp_set_num_threads(1);
    assert_int_equal(sel_program_eval(program, &at, NULL, one, exact, NULL), SEL_OK);
    omp_set_num_threads(3);
    memset(exact, 2, MANY);
    assert_int_equal(sel_program_eval(program, &at, NULL, three, exact, NULL), SEL_OK);
    omp_set_num_threads(threads);
    assert_memory_equal(one, three, MANY * sizeof *one);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(exact[i], x[i] < 9);
    free(x);
    free(one);
    free(three);
    free(exact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(random_programs_give_the_same_bits),    TEST(every_operation_is_packed),
        TEST(look_ups_without_a_value_are_not_sure), TEST(data_are_there_once),
        TEST(look_ups_made_from_c_cannot_be_packed), TEST(data_by_themselves_are_programs),
        TEST(many_places_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
