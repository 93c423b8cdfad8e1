/* test_cuda_aqua_terms.c -- rain, infiltration and levels that vary in time are evaluated on the
 * GPU as on the CPU: to the bit where programs are plain arithmetic, series, rasters and noise,
 * else to a quantum per cell and step; and what has no value is the same error. Arguments: see
 * aqua_twins.h.
 */
#include "engine/values/quantity.h"
#include "engine/values/program.h"
#include "engine/values/series.h"
#include "tests/unit/aqua_twins.h"

/* ---- programs ---- */

enum { NODES = 200 };

typedef struct nodes {
    sel_builder *b;
    twins *t;
    int x, y, time;
} nodes;

typedef int build_value(nodes *n);

static int number(nodes *n, double value) {
    return sel_build_constant(n->b, value);
}

static int op2(nodes *n, sel_op op, int a, int b) {
    return sel_build(n->b, op, a, b, 0);
}

static sel_status run_program(const sel_function *self, const sel_places *at, double *out,
                              sel_error *error) {
    uint8_t *exact = malloc(at->n + 1);
    sel_status status = sel_program_eval(self->program, at, at->controls, out, exact, error);
    free(exact);
    return status;
}

static sel_quantity by_program(twins *t, build_value *build) {
    sel_builder *b = sel_builder_create(NODES);
    nodes n = {b, t, sel_build_argument(b, SEL_ARGUMENT_X), sel_build_argument(b, SEL_ARGUMENT_Y),
               sel_build_argument(b, SEL_ARGUMENT_T)};
    const int value = build(&n);
    sel_function *f = sel_arena_alloc(t->c.arena, sizeof *f);
    *f = (sel_function){.results = 1, .eval = run_program};
    f->program = sel_builder_finish(b, &value, 1, -1, t->c.arena);
    assert_non_null(f->program);
    f->depends = f->program->depends;
    sel_builder_destroy(b);
    sel_quantity q = {.components = 1};
    q.part[0].function = f;
    return q;
}

/* 300 - (x - t)^2 - sqrt(y) floor(y / 3), and none where that is negative. */
static int plain_rain(nodes *n) {
    const int away = op2(n, SEL_OP_SUB, n->x, n->time);
    const int steps = op2(n, SEL_OP_FLOOR, op2(n, SEL_OP_DIV, n->y, number(n, 3)), 0);
    const int along = op2(n, SEL_OP_MUL, op2(n, SEL_OP_SQRT, n->y, 0), steps);
    const int sum = op2(n, SEL_OP_ADD, op2(n, SEL_OP_MUL, away, away), along);
    return op2(n, SEL_OP_MAX, number(n, 0), op2(n, SEL_OP_SUB, number(n, 300), sum));
}

/* min(x, 40) (2 + y / 7) / (1 + t) */
static int plain_soil(nodes *n) {
    const int wide = op2(n, SEL_OP_ADD, number(n, 2), op2(n, SEL_OP_DIV, n->y, number(n, 7)));
    const int top = op2(n, SEL_OP_MUL, op2(n, SEL_OP_MIN, n->x, number(n, 40)), wide);
    return op2(n, SEL_OP_DIV, top, op2(n, SEL_OP_ADD, number(n, 1), n->time));
}

/* 100.4 + 0.001 x (t / 8 - floor(t / 8)) */
static int plain_level(nodes *n) {
    const int turns = op2(n, SEL_OP_DIV, n->time, number(n, 8));
    const int part = op2(n, SEL_OP_SUB, turns, op2(n, SEL_OP_FLOOR, turns, 0));
    const int slope = op2(n, SEL_OP_MUL, number(n, 0.001), n->x);
    return op2(n, SEL_OP_ADD, number(n, 100.4), op2(n, SEL_OP_MUL, slope, part));
}

static sel_status raster_at(const sel_lookup *self, size_t n, const double *const *arguments,
                            double *out, sel_error *error) {
    (void)error;
    for (size_t i = 0; i < n; i++) {
        out[i] = sel_raster_value(self->data, arguments[0][i], arguments[1][i]);
    }
    return SEL_OK;
}

static const sel_lookup *rates(twins *t) {
    sel_raster *raster = sel_arena_alloc(t->c.arena, sizeof *raster);
    sel_lookup *lookup = sel_arena_alloc(t->c.arena, sizeof *lookup);
    *raster = (sel_raster){.n = {t->c.params.common.size.v[0], t->c.params.common.size.v[1]},
                           .dx = 1.25,
                           .value = t->rate};
    *lookup = (sel_lookup){SEL_LOOKUP_RASTER, "rates", 2, raster_at, raster};
    return lookup;
}

static const sel_lookup *series(twins *t, int outside) {
    static double times[] = {0, 3, 10, 24.5}, value[] = {1, 0.25, 2, 0};
    const sel_series_params params = {.t = {.v = times, .n = 4},
                                      .value = {.v = value, .n = 4},
                                      .scale = 1,
                                      .time_scale = 1,
                                      .outside = outside};
    return sel_series_create(t->c.arena, &params, (sel_where){NULL, 0}, &t->c.error);
}

/* A raster times a series, and noise. */
static int rain_of_data(nodes *n) {
    const int place[] = {n->x, n->y, 0, 0};
    const int moving[] = {number(n, 7), op2(n, SEL_OP_DIV, n->x, number(n, 6)), n->y, n->time};
    const int map = sel_build_lookup(n->b, rates(n->t), place);
    const int strength = sel_build_lookup(n->b, series(n->t, SEL_SERIES_HOLD), &n->time);
    const int noise = sel_build_lookup(n->b, &sel_noise_lookup, moving);
    const int gusts = op2(n, SEL_OP_ADD, number(n, 10), op2(n, SEL_OP_MUL, number(n, 9), noise));
    return op2(n, SEL_OP_ADD, op2(n, SEL_OP_MUL, map, strength), gusts);
}

/* 200 exp(-((x - t)^2 + (y - 9)^2) / 90) */
static int gaussian(nodes *n) {
    const int dx = op2(n, SEL_OP_SUB, n->x, n->time), dy = op2(n, SEL_OP_SUB, n->y, number(n, 9));
    const int away = op2(n, SEL_OP_ADD, op2(n, SEL_OP_MUL, dx, dx), op2(n, SEL_OP_MUL, dy, dy));
    const int power = op2(n, SEL_OP_UNM, op2(n, SEL_OP_DIV, away, number(n, 90)), 0);
    return op2(n, SEL_OP_MUL, number(n, 200), op2(n, SEL_OP_EXP, power, 0));
}

/* ---- to the bit ---- */

static const int precision_of[] = {SEL_F64, SEL_F32};
static const char *const precisions[] = {"f64", "f32"};

/* A grid of which programs are interpreted, and one for which compiling pays (cuda_fill_pays). */
static const int size_of[2][2] = {{45, 22}, {520, 260}};

static twins *begin(const char *what, int p, int nx, int ny) {
    twins *t = begin_twins(nx, ny, 0.3, p == 1, 40 + (uint64_t)nx);
    snprintf(now, sizeof now, "%s, %s, %d x %d", what, precisions[p], nx, ny);
    t->c.params.common.precision = precision_of[p];
    t->c.params.depth_limit = 10;
    return t;
}

/* Rows shorter than a warp, and longer than what it does at once. */
static void plain_arithmetic_gives_the_same_bits(void **unused) {
    (void)unused;
    static const int sizes[][2] = {{1, 1}, {45, 22}, {128, 5}, {300, 11}, {520, 260}};
    for (int p = 0; p < 2; p++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            twins *t = begin("arithmetic", p, sizes[k][0], sizes[k][1]);
            case_walls(&t->c);
            t->c.params.rain = by_program(t, plain_rain);
            t->c.params.infiltration = by_program(t, plain_soil);
            start_twins(t);
            compare_steps(t);
            end_twins(t);
        }
    }
}

static void series_rasters_and_noise_give_the_same_bits(void **unused) {
    (void)unused;
    for (int p = 0; p < 2; p++) {
        twins *t = begin("data", p, 45, 22);
        t->c.params.common.periodic = 3;
        t->c.params.rain = by_program(t, rain_of_data);
        start_twins(t);
        compare_steps(t);
        end_twins(t);
    }
}

/* Beyond a face and in painted cells, beside a level that stays. */
static void levels_give_the_same_bits(void **unused) {
    (void)unused;
    for (int p = 0; p < 2; p++) {
        twins *t = begin("levels", p, 45, 22);
        aqua_case *c = &t->c;
        case_level(c, "sea", case_face(c, SEL_Y_MIN), by_program(t, plain_level));
        case_level(c, "pond", case_box(c, 20, 8, 30, 15), by_program(t, plain_level));
        case_level(c, "lake", case_face(c, SEL_X_MAX), sel_constant(100.3));
        case_open(c, "rest", sel_shape_make(c->arena, SEL_SHAPE_REST, NULL), 0.1);
        t->c.params.rain = by_program(t, plain_rain);
        start_twins(t);
        compare_steps(t);
        end_twins(t);
    }
}

/* ---- to a quantum per cell and step ---- */

static double rained(twins *t, int k) {
    static sel_term terms[SEL_MAX_TERMS];
    sel_request balance = {.kind = SEL_BALANCE, .terms = terms};
    must(t, t->backend[k]->start(t->state[k], &balance, &t->c.error), k);
    must(t, t->backend[k]->finish(t->state[k], &balance, &t->c.error), k);
    for (int i = 0; i < balance.term_count; i++) {
        if (strcmp(terms[i].name, "rain") == 0) {
            return terms[i].value;
        }
    }
    fail_msg("there is no rain in the balance");
    return 0;
}

static void exp_differs_by_a_quantum_per_cell_and_step_at_most(void **unused) {
    (void)unused;
    enum { STEPS = 70 };
    twins *t = begin("exp", 1, 45, 22);
    case_walls(&t->c);
    t->c.params.rain = by_program(t, gaussian);
    start_twins(t);
    advance(t, STEPS);
    const aqua_plan *plan = (const aqua_plan *)t->c.plan;
    const double quantum = 1 / aqua_store_of(plan).per_metre, cpu = rained(t, 0);
    const double most = quantum * (double)t->c.domain->free_cells * STEPS;
    assert_true(cpu > 100 * most);
    assert_true(fabs(cpu - rained(t, 1)) <= most);
    end_twins(t);
}

/* ---- what has no value ---- */

/* Negative at x = 20.5 from 12 s on. */
static int turns_negative(nodes *n) {
    const int here = op2(n, SEL_OP_EQ, n->x, number(n, 20.5));
    const int late = op2(n, SEL_OP_MUL, here, op2(n, SEL_OP_LT, number(n, 12), n->time));
    return op2(n, SEL_OP_SUB, number(n, 30), op2(n, SEL_OP_MUL, number(n, 40), late));
}

/* NaN where x + y is less than t - 20. */
static int turns_nan(nodes *n) {
    const int sum = op2(n, SEL_OP_ADD, op2(n, SEL_OP_ADD, n->x, n->y), number(n, 20));
    return op2(n, SEL_OP_SQRT, op2(n, SEL_OP_SUB, sum, n->time), 0);
}

static int series_that_ends(nodes *n) {
    const int strength = sel_build_lookup(n->b, series(n->t, SEL_SERIES_ERROR), &n->time);
    return op2(n, SEL_OP_MUL, strength, n->x);
}

static int cloudburst(nodes *n) {
    const int late = op2(n, SEL_OP_LT, number(n, 9), n->time);
    return op2(n, SEL_OP_MUL, op2(n, SEL_OP_MUL, late, number(n, 1e9)), n->x);
}

static int flood(nodes *n) {
    const int rise = op2(n, SEL_OP_MUL, n->time, op2(n, SEL_OP_ADD, n->x, number(n, 1)));
    return op2(n, SEL_OP_ADD, number(n, 100), rise);
}

/* The message of the first failure: of advancing, or of waiting for it. */
static void first_error(twins *t, int k, char *text, size_t size) {
    sel_error error = {.status = SEL_OK};
    sel_status status = SEL_OK;
    for (int block = 0; block < 10 && !status; block++) {
        status = t->backend[k]->advance(t->state[k], 40, true, &error);
    }
    status = status ? status : sel_backend_wait(t->backend[k], t->state[k], &error);
    assert_int_equal(status, SEL_BAD_SCENARIO);
    snprintf(text, size, "%s", error.text);
}

static void must_fail_alike(const char *what, build_value *build, const char *part) {
    for (int k = 0; k < 4; k++) {
        const int place = k % 2, *size = size_of[k / 2];
        twins *t = begin(what, 1, size[0], size[1]);
        char text[2][sizeof t->c.error.text];
        case_walls(&t->c);
        if (build == flood) {
            t->c.params.common.regions.n = 0;
            case_level(&t->c, "sea", case_face(&t->c, SEL_Y_MIN), by_program(t, build));
            case_open(&t->c, "rest", sel_shape_make(t->c.arena, SEL_SHAPE_REST, NULL), 0.1);
        } else if (place == 1) {
            t->c.params.infiltration = by_program(t, build);
        } else {
            t->c.params.rain = by_program(t, build);
        }
        start_twins(t);
        for (int side = 0; side < 2; side++) {
            first_error(t, side, text[side], sizeof text[side]);
        }
        assert_string_equal(text[0], text[1]);
        if (!strstr(text[0], part)) {
            fail_msg("%s: %s", now, text[0]);
        }
        end_twins(t);
    }
}

static void what_has_no_value_is_the_same_error(void **unused) {
    (void)unused;
    must_fail_alike("negative", turns_negative, "is negative, -10, at x=20.5, y=0.5, t=12.");
    must_fail_alike("no number", turns_nan, "function returned NaN at x=0.5, y=0.5, t=21.");
    must_fail_alike("series", series_that_ends, "function returned NaN at x=0.5, y=0.5, t=2");
    must_fail_alike("too much", cloudburst, "too much for the depths");
    must_fail_alike("too high", flood, "depth_limit");
}

/* Which amount has no value, and what else pours. */
enum { RAIN, SOIL_UNDER_RAIN, SOIL_UNDER_SOURCES, SOIL_ALONE, LEVEL_UNDER_RAIN, FAILING };

static void build_failing(twins *t, int which) {
    const sel_quantity fails = by_program(t, turns_nan);
    if (which == LEVEL_UNDER_RAIN) {
        case_level(&t->c, "sea", case_face(&t->c, SEL_Y_MIN), fails);
    }
    case_open(&t->c, "rest", sel_shape_make(t->c.arena, SEL_SHAPE_REST, NULL), 0.1);
    if (which == RAIN) {
        t->c.params.rain = fails;
    } else if (which == SOIL_UNDER_RAIN || which == LEVEL_UNDER_RAIN) {
        t->c.params.rain = sel_constant(25);
    }
    if (which == RAIN || which == SOIL_UNDER_SOURCES) {
        case_source(&t->c, 10.5, 10.5, sel_constant(0.01));
    }
    if (which >= SOIL_UNDER_RAIN && which <= SOIL_ALONE) {
        t->c.params.infiltration = fails;
    }
}

/* What is there is what the CPU has; what a failed step has shown or booked is not told. */
static void the_last_whole_state_stays(void **unused) {
    (void)unused;
    for (int k = 0; k < 4 * FAILING; k++) {
        const int which = k / 2 % FAILING, *size = size_of[k / 2 / FAILING];
        twins *t = begin("what is left", k % 2, size[0], size[1]);
        char text[sizeof t->c.error.text];
        static sel_term terms[SEL_MAX_TERMS];
        sel_request flux = {.kind = SEL_FLUX, .region = 1};
        sel_request balance = {.kind = SEL_BALANCE, .terms = terms};
        build_failing(t, which);
        start_twins(t);
        for (int side = 0; side < 2; side++) {
            first_error(t, side, text, sizeof text);
        }
        assert_int_equal(t->backend[0]->whole(t->state[0]), t->backend[1]->whole(t->state[1]));
        compare_fields(t);
        must(t, t->backend[1]->start(t->state[1], &flux, &t->c.error), 1);
        must(t, t->backend[1]->start(t->state[1], &balance, &t->c.error), 1);
        assert_true(flux.unobserved);
        /* The host evaluates levels before anything is booked. */
        assert_int_equal(balance.unobserved,
                         t->backend[1] != &sel_cpu_backend && which != LEVEL_UNDER_RAIN);
        end_twins(t);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_arithmetic_gives_the_same_bits),
        cmocka_unit_test(series_rasters_and_noise_give_the_same_bits),
        cmocka_unit_test(levels_give_the_same_bits),
        cmocka_unit_test(exp_differs_by_a_quantum_per_cell_and_step_at_most),
        cmocka_unit_test(the_last_whole_state_stays),
        cmocka_unit_test(what_has_no_value_is_the_same_error),
    };
    return find_second("test_cuda_aqua_terms", argc, argv)
               ? cmocka_run_group_tests(tests, NULL, NULL)
               : 0;
}
