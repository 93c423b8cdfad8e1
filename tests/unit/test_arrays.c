/* test_arrays.c -- the list of a state's arrays: memory, and what is saved and loaded. */
#include "tests/unit/lbm_case.h"
#include "tests/unit/tape.h"

/* A device whose memory is the host's, and can only be copied. */
static sel_status device_allocate(void **block, uint64_t bytes, const char *what,
                                  sel_error *error) {
    (void)what, (void)error;
    *block = calloc(1, bytes);
    return SEL_OK;
}

static sel_status device_copy(void *to, const void *from, uint64_t bytes, sel_error *error) {
    (void)error;
    memcpy(to, from, bytes);
    return SEL_OK;
}

static const sel_memory device = {256, device_allocate, free, device_copy};

enum { NX = 3, NY = 4, NZ = 2, PARTS = 2 };

/* Element of cell (x, y, z), component c, in an array with halo and padding. */
static int64_t element(const sel_layout *cells, int c, int64_t x, int64_t y, int64_t z) {
    return cells->origin + c * cells->component + z * cells->slice + y * cells->pitch + x;
}

/* Cells with a halo and padding. */
static const sel_layout wide = {.n = {NX, NY, NZ},
                                .slow = 2,
                                .components = PARTS,
                                .origin = 7,
                                .pitch = 8,
                                .slice = 56,
                                .component = 130,
                                .before = 11,
                                .count = 300};

static void list(sel_arrays *arrays, const sel_layout *cells, float **field, int64_t **turns) {
    sel_arrays_add_cells(arrays, "field", field, SEL_TYPE_OF(**field), cells, SEL_SAVED);
    sel_arrays_add(arrays, "turns", turns, SEL_TYPE_OF(**turns), 5, SEL_SAVED | SEL_ON_HOST);
}

static void test_cells_are_saved_without_padding_for_other_layouts(void **unused) {
    (void)unused;
    static tape t;
    const sel_layout tight = {.n = {NX, NY, NZ},
                              .slow = 2,
                              .components = PARTS,
                              .pitch = NX,
                              .slice = NX * NY,
                              .component = NX * NY * NZ,
                              .count = PARTS * 24};
    sel_arrays first = {.memory = NULL}, second = {.memory = &device};
    sel_error error;
    float *field, *other;
    int64_t *turns, *other_turns;
    t.written = t.read = 0;
    list(&first, &wide, &field, &turns);
    list(&second, &tight, &other, &other_turns);
    assert_int_equal(sel_arrays_allocate(&first, 2, "a test", &error), SEL_OK);
    assert_int_equal(sel_arrays_allocate(&second, 2, "a test", &error), SEL_OK);
    for (int64_t k = -11; k < 289; k++) {
        assert_true(field[k] == 0);
        field[k] = -1;
    }
    for (int k = 0; k < PARTS * NX * NY * NZ; k++) {
        field[element(&wide, k / 24, k % NX, k / NX % NY, k / NX / NY % NZ)] = (float)k;
    }
    turns[4] = 1234567890123;
    assert_int_equal(sel_array_bytes(&first.v[0]), PARTS * NX * NY * NZ * sizeof(float));
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sel_array_bytes(&first.v[k]), sel_array_bytes(&second.v[k]));
        assert_int_equal(sel_arrays_keep(&first, k, false, put, &t, &error), SEL_OK);
        assert_int_equal(sel_arrays_keep(&second, k, true, get, &t, &error), SEL_OK);
    }
    assert_int_equal(t.read, t.written);
    for (int k = 0; k < PARTS * NX * NY * NZ; k++) {
        assert_true(other[k] == (float)k);
    }
    assert_int_equal(other_turns[4], 1234567890123);
    /* And back, where what lies between the cells stays as it is. */
    t.written = t.read = 0;
    other[5] = 77;
    assert_int_equal(sel_arrays_keep(&second, 0, false, put, &t, &error), SEL_OK);
    assert_int_equal(sel_arrays_keep(&first, 0, true, get, &t, &error), SEL_OK);
    assert_true(field[element(&wide, 0, 2, 1, 0)] == 77);
    assert_true(field[element(&wide, 0, 2, 1, 0) + 1] == -1);
    sel_arrays_free(&first);
    sel_arrays_free(&second);
}

/* Whatever rows they will step, also none. */
static void test_threads_zero_all_of_an_array(void **unused) {
    (void)unused;
    static const int64_t shares[][5] = {{0, 0, 3, 5, 8}, {0, 8, 8, 8, 8}, {0, 2, 4, 6, 8}};
    sel_error error;
    for (int k = 0; k < 4; k++) {
        const sel_decomposition whole = {
            .slow = 2, .ranks = {1, 1, 1}, .first = {{0, NX}, {0, NY}, {0, NZ}}};
        sel_arrays arrays = {.memory = NULL, .decomposition = &whole};
        float *field;
        int64_t *turns;
        list(&arrays, &wide, &field, &turns);
        if (k < 3) {
            arrays.first_row = malloc(sizeof shares[k]);
            memcpy(arrays.first_row, shares[k], sizeof shares[k]);
        }
        assert_int_equal(sel_arrays_allocate(&arrays, 4, "a test", &error), SEL_OK);
        memset(field - 11, -1, 300 * sizeof *field);
        memset(turns, -1, 5 * sizeof *turns);
        sel_arrays_zero(&arrays, &field, 4);
        sel_arrays_zero(&arrays, &turns, 4);
        for (int64_t at = -11; at < 289; at++) {
            assert_true(field[at] == 0);
        }
        for (int at = 0; at < 5; at++) {
            assert_true(turns[at] == 0);
        }
        sel_arrays_free(&arrays);
    }
}

static void test_what_is_not_wanted_takes_no_memory(void **unused) {
    (void)unused;
    sel_arrays arrays = {.memory = NULL};
    double *none = (double *)&arrays;
    sel_arrays_add(&arrays, "none", &none, SEL_TYPE_OF(*none), 0, 0);
    assert_null(none);
    assert_int_equal(arrays.bytes[0], 0);
    sel_arrays_free(&arrays);
}

/* A lid-driven cavity with a force in time, whose balance is kept. */
static void begin(lbm_case *c) {
    case_begin(c, 21, 13, 0.7);
    c->params.common.precision = SEL_F32;
    case_region(c, case_faces(c), &lbm_wall_table, (sel_quantity){0});
    case_region(c, case_face(c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(0.05, 0));
    case_must_plan(c);
    c->plan->wants_balance = true;
    case_create(c);
}

static void test_a_state_goes_on_from_what_was_saved(void **unused) {
    (void)unused;
    static tape t;
    static double straight[2 * 21 * 13], resumed[2 * 21 * 13];
    lbm_case c, d;
    t.written = t.read = 0;
    begin(&c);
    case_advance(&c, 20);
    for (int k = 0; k < c.state->arrays.count; k++) {
        if (c.state->arrays.v[k].flags & SEL_SAVED) {
            assert_int_equal(sel_arrays_keep(&c.state->arrays, k, false, put, &t, &c.error),
                             SEL_OK);
        }
    }
    case_advance(&c, 21);
    case_read(&c, LBM_VELOCITY, 2, straight);
    begin(&d);
    for (int k = 0; k < d.state->arrays.count; k++) {
        if (d.state->arrays.v[k].flags & SEL_SAVED) {
            assert_int_equal(sel_arrays_keep(&d.state->arrays, k, true, get, &t, &d.error), SEL_OK);
        }
    }
    case_advance(&d, 21);
    case_read(&d, LBM_VELOCITY, 2, resumed);
    assert_memory_equal(straight, resumed, sizeof straight);
    assert_memory_equal(case_state(&c)->all.link_flow, case_state(&d)->all.link_flow,
                        (size_t)case_boundary(&c)->links.count * sizeof(double));
    case_end(&c);
    case_end(&d);
}

static void test_a_list_has_its_content_wherever_its_memory_is(void **unused) {
    (void)unused;
    static const double from[3] = {1, 2, 3};
    const sel_memory *const memories[] = {NULL, &device};
    for (int k = 0; k < 2; k++) {
        sel_arrays arrays = {.memory = memories[k]};
        struct {
            const double *numbers, *none;
        } owner;
        sel_error error;
        SEL_ADD_COPY(&arrays, &owner, numbers, 3, from);
        SEL_ADD_COPY(&arrays, &owner, none, 0, from);
        assert_int_equal(sel_arrays_allocate(&arrays, 2, "a test", &error), SEL_OK);
        assert_memory_equal(owner.numbers, from, sizeof from);
        assert_true(owner.numbers != from && owner.none == NULL);
        sel_arrays_free(&arrays);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_are_saved_without_padding_for_other_layouts),
        cmocka_unit_test(test_threads_zero_all_of_an_array),
        cmocka_unit_test(test_a_list_has_its_content_wherever_its_memory_is),
        cmocka_unit_test(test_what_is_not_wanted_takes_no_memory),
        cmocka_unit_test(test_a_state_goes_on_from_what_was_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
