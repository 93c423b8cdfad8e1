/* test_lbm_state.c -- the CPU backend as such: mass, bits, requests, time of the laws. */
#include "tests/unit/lbm_case.h"

#include <omp.h>

/* A number in [-1, 1] that looks random and depends on the place only. */
static double noise(double x, double y, double seed) {
    double v = sin(x * 12.9898 + y * 78.233 + seed * 37.719) * 43758.5453;
    return 2 * (v - floor(v)) - 1;
}

static void random_velocity(double x, double y, double t, const void *data, double value[2]) {
    (void)t;
    (void)data;
    value[0] = 0.02 * noise(x, y, 1);
    value[1] = 0.02 * noise(x, y, 2);
}

static void random_density(double x, double y, double t, const void *data, double value[2]) {
    (void)t;
    (void)data;
    value[0] = 1 + 0.02 * noise(x, y, 3);
}

static void start_at_random(lbm_case *c) {
    c->params.initial.velocity = case_of(c, SEL_ON_X | SEL_ON_Y, 2, random_velocity, NULL);
    c->params.initial.density = case_of(c, SEL_ON_X | SEL_ON_Y, 1, random_density, NULL);
}

static double total(lbm_case *c) {
    sel_request request = {
        .kind = SEL_REDUCE, .field = LBM_DENSITY, .box = sel_grid_box(&c->domain->grid)};
    case_request(c, &request);
    assert_int_equal(request.count, c->domain->free_cells);
    return request.sum[0];
}

static void test_lid_driven_box_keeps_its_mass(void **unused) {
    (void)unused;
    for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
        for (int lid_last = 0; lid_last < 2; lid_last++) {
            lbm_case c;
            case_begin(&c, 24, 24, 0.6);
            c.params.common.precision = precision;
            if (lid_last) {
                case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
            }
            case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_constant2(0.1, 0));
            if (!lid_last) { /* the side walls own the corner links */
                case_walls(&c, SEL_X_MIN, SEL_X_MAX);
                case_wall(&c, case_face(&c, SEL_Y_MIN));
            }
            start_at_random(&c);
            case_start(&c);
            double before = total(&c);
            case_advance(&c, 10000);
            double drift = total(&c) / before - 1;
            print_message("# lid-driven box, %s: mass changes by %.2e in 10000 steps\n",
                          sel_precision_names[precision], drift);
            assert_true(fabs(drift) < (precision == SEL_F32 ? 1e-5 : 1e-12));
            case_end(&c);
        }
    }
}

enum { NX = 45, NY = 31 };

typedef struct outcome {
    float f32[NX * NY * 2];
    double f64[NX * NY * 2], numbers[16];
} outcome;

/* A channel with an obstacle, a moving one, open faces and a force; everything that is computed. */
/* What may differ, and what must not matter: threads, kernels, stores. */
typedef struct variant {
    int precision, collision;
    bool field; /* an acceleration field and Smagorinsky's model */
    int threads;
    bool streams;
    int level; /* of the kernels: 0, the best that the processor can run, 1, ... */
} variant;

static void gust(double x, double y, double t, const void *data, double value[2]) {
    random_velocity(x, y, t, data, value);
    value[0] *= 1e-3;
    value[1] *= 1e-3;
}

static void run_everything(const variant *v, outcome *result) {
    lbm_case c;
    memset(result, 0, sizeof *result);
    case_begin(&c, NX, NY, 0.7);
    c.params.common.precision = v->precision;
    omp_set_num_threads(v->threads);
    c.params.collision = v->collision;
    c.params.acceleration =
        v->field ? case_of(&c, SEL_ON_X | SEL_ON_Y, 2, gust, NULL) : sel_constant2(1e-6, 2e-6);
    c.params.smagorinsky = v->field ? 0.1 : c.params.smagorinsky;
    case_wall(&c, case_face(&c, SEL_Y_MIN));
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_slip_table, (sel_quantity){0});
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0.03, 0.01));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
    case_region(&c, case_box(&c, 10, 5, 14, 17), &lbm_wall_table, sel_constant2(0, 0.02));
    start_at_random(&c);
    if (case_plan(&c)) {
        fail_msg("%s", c.error.text);
    }
    c.plan->wants_balance = true;
    case_create(&c);
    case_state(&c)->loops = lbm_loops_usable((lbm_plan *)c.plan, v->level);
    case_state(&c)->streams = v->streams;
    sel_term terms[SEL_MAX_TERMS];
    sel_request monitor = {.kind = SEL_MONITOR}, balance = {.kind = SEL_BALANCE, .terms = terms};
    sel_request reduce = {
        .kind = SEL_REDUCE, .field = LBM_VELOCITY, .box = sel_grid_box(&c.domain->grid)};
    case_request(&c, &monitor);
    case_advance(&c, 201);
    case_request(&c, &monitor);
    case_request(&c, &balance);
    case_request(&c, &reduce);
    const double numbers[] = {monitor.change, monitor.largest, terms[0].value,
                              terms[1].value, terms[3].value,  terms[5].value,
                              reduce.sum[0],  reduce.sum[1],   reduce.sum_of_squares[0],
                              reduce.min[1],  reduce.max[0],   terms[balance.term_count - 1].value};
    memcpy(result->numbers, numbers, sizeof numbers);
    assert_int_equal(monitor.bad_cell, -1);
    case_read(&c, LBM_VELOCITY, 2, result->f64);
    sel_request read = {.kind = SEL_READ,
                        .field = LBM_VELOCITY,
                        .box = sel_grid_box(&c.domain->grid),
                        .precision = SEL_F32,
                        .components = 2,
                        .to = result->f32};
    case_request(&c, &read);
    case_end(&c);
}

static void test_bits_depend_on_nothing(void **unused) {
    (void)unused;
    static outcome first, other;
    for (int k = 0; k < 4 * LBM_COLLISIONS; k++) {
        variant v = {.precision = k % 2, .field = k / 2 % 2, .collision = k / 4, .threads = 1};
        run_everything(&v, &first);
        assert_true(first.numbers[0] > 0 && first.numbers[1] > 0.01);
        for (v.level = 0; sel_level(v.level) >= 0; v.level++) {
            for (int way = 0; way < 6; way++) {
                v.threads = 1 + way % 3;
                v.streams = way / 3 == 1;
                run_everything(&v, &other);
                assert_memory_equal(&first, &other, sizeof first);
            }
        }
        print_message("# %s %s%s: same bits at each level, for 1, 2, 3 threads, for both stores\n",
                      sel_precision_names[v.precision], lbm_collision_names[v.collision],
                      v.field ? ", force field, eddies" : "");
    }
}

/* A channel between a wall and a moving one: as faces, or as the ends of a periodic box of which
 * the lower rows are solid. */
static void run_channel(int64_t solid_rows, int threads, bool streams, double *velocity) {
    lbm_case c;
    const sel_quantity moving = sel_constant2(0.05, 0);
    case_begin(&c, NX, NY + solid_rows, 0.7);
    omp_set_num_threads(threads);
    c.params.common.periodic = solid_rows ? 3 : 1;
    c.params.acceleration = sel_constant2(1e-6, 2e-7);
    if (solid_rows) {
        case_wall(&c, case_box(&c, 0, 0, NX, (double)solid_rows - 1));
        case_region(&c, case_box(&c, 0, (double)solid_rows - 1, NX, (double)solid_rows),
                    &lbm_wall_table, moving);
    } else {
        case_wall(&c, case_face(&c, SEL_Y_MAX));
        case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_wall_table, moving);
    }
    case_start(&c);
    case_state(&c)->streams = streams;
    case_advance(&c, 101);
    sel_box box = sel_grid_box(&c.domain->grid);
    box.lo[1] = solid_rows;
    sel_request read = {.kind = SEL_READ,
                        .field = LBM_VELOCITY,
                        .box = box,
                        .precision = SEL_F64,
                        .components = 2,
                        .to = velocity};
    case_request(&c, &read);
    case_end(&c);
}

static void test_rows_of_solids_change_nothing(void **unused) {
    (void)unused;
    static double expected[2 * NX * NY], found[2 * NX * NY];
    run_channel(0, 1, false, expected);
    assert_true(expected[0] > 0.01);
    for (int way = 0; way < 6; way++) {
        run_channel(NY, 1 + way % 3, way / 3 == 1, found);
        assert_memory_equal(expected, found, sizeof expected);
    }
}

static void shear_flow(double x, double y, double t, const void *data, double value[2]) {
    (void)t;
    (void)data;
    value[0] = 1e-3 * x;
    value[1] = -2e-3 * y;
}

static void test_requests_read_what_was_set(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 6, 5, 0.8);
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    case_wall(&c, case_box(&c, 2, 2, 3, 3));
    c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, shear_flow, NULL);
    case_start(&c);
    float part[2 * 2 * 3];
    sel_request read = {.kind = SEL_READ,
                        .field = LBM_VELOCITY,
                        .box = {{1, 2, 0}, {5, 5, 1}, {2, 2, 1}},
                        .precision = SEL_F32,
                        .components = 3,
                        .to = part};
    case_request(&c, &read);
    for (int k = 0; k < 4; k++) {
        double x = 1.5 + 2 * (k % 2), y = 2.5 + 2.0 * (double)(k / 2);
        assert_true(fabs((double)part[3 * k] - 1e-3 * x) < 1e-9);
        assert_true(fabs((double)part[3 * k + 1] + 2e-3 * y) < 1e-9);
        assert_true(part[3 * k + 2] == 0);
    }
    const int64_t cells[] = {14, 0, 29}; /* the solid, and two corners */
    double speed[3];
    sel_request list = {.kind = SEL_READ,
                        .field = LBM_SPEED,
                        .cells = cells,
                        .cell_count = 3,
                        .precision = SEL_F64,
                        .components = 1,
                        .to = speed};
    case_request(&c, &list);
    assert_true(speed[0] == 0);
    assert_true(fabs(speed[1] - hypot(0.5e-3, 1e-3)) < 1e-15);
    assert_true(fabs(speed[2] - hypot(5.5e-3, 9e-3)) < 1e-15);
    sel_request reduce = {
        .kind = SEL_REDUCE, .field = LBM_VELOCITY, .box = {{1, 2, 0}, {4, 3, 1}, {1, 1, 1}}};
    case_request(&c, &reduce); /* cells {1, 2} and {3, 2}; {2, 2} is solid */
    assert_int_equal(reduce.count, 2);
    assert_true(fabs(reduce.sum[0] - 5e-3) < 1e-15 && fabs(reduce.min[0] - 1.5e-3) < 1e-15);
    assert_true(fabs(reduce.max[0] - 3.5e-3) < 1e-15 && fabs(reduce.max[1] + 5e-3) < 1e-15);
    assert_true(fabs(reduce.sum_of_squares[1] - 5e-5) < 1e-15);
    case_end(&c);
}

static void test_monitor_finds_the_first_bad_cell(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 6, 5, 0.8);
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    case_wall(&c, case_box(&c, 2, 2, 3, 3));
    case_start(&c);
    sel_request monitor = {.kind = SEL_MONITOR};
    case_request(&c, &monitor);
    assert_true(isnan(monitor.change) && monitor.bad_cell == -1 && monitor.largest == 0);
    case_request(&c, &monitor);
    assert_true(isnan(monitor.change)); /* a zero field has no relative change */
    const double bad[9] = {nan("")}, worse[9] = {1e300, 1e300};
    case_state(&c)->loops->write(&case_state(&c)->layout, 9, case_state(&c)->all.f[0], 4, 3, bad);
    case_state(&c)->loops->write(&case_state(&c)->layout, 9, case_state(&c)->all.f[0], 5, 1, worse);
    case_request(&c, &monitor);
    assert_int_equal(monitor.bad_cell, 22);
    assert_int_equal(monitor.bad_cells, 1);
    assert_true(monitor.largest == 0.5 && monitor.smallest == 1);
    case_end(&c);
}

/* By rows with and without solids, which are watched in different ways. */
static void test_monitor_finds_the_fastest_and_the_thinnest_cell(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 21, 5, 0.8);
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    case_wall(&c, case_box(&c, 2, 2, 3, 3));
    c.params.density = 1000;
    case_start(&c);
    sel_request monitor = {.kind = SEL_MONITOR};
    case_request(&c, &monitor);
    assert_int_equal(monitor.largest_cell, 0);
    assert_int_equal(monitor.smallest_cell, 0);
    for (int64_t row = 1; row < 4; row++) {
        const double fast[9] = {0.1, 0.3, 0.1, 0.1, 0.1}, thin[9] = {-2};
        const double slow[9] = {0.1, 0.15, 0.1, 0.1, 0.1};
        case_state(&c)->loops->write(&case_state(&c)->layout, 9, case_state(&c)->all.f[0], 5, row,
                                     slow);
        case_state(&c)->loops->write(&case_state(&c)->layout, 9, case_state(&c)->all.f[0], 19, row,
                                     fast);
        case_state(&c)->loops->write(&case_state(&c)->layout, 9, case_state(&c)->all.f[0], 18, row,
                                     thin);
        case_request(&c, &monitor);
        assert_int_equal(monitor.bad_cell, -1);
        assert_int_equal(monitor.largest_cell, 21 + 19); /* the first of several */
        assert_int_equal(monitor.smallest_cell, 21 + 18);
        assert_true(fabs(monitor.largest - 0.2 / 1.7) < 1e-12);
        assert_true(fabs(monitor.smallest + 1000) < 1e-9);
    }
    case_end(&c);
}

static void test_watching_for_nan_leaves_the_steady_test_alone(void **unused) {
    (void)unused;
    double change[2];
    for (int watched = 0; watched < 2; watched++) {
        lbm_case c;
        case_begin(&c, 6, 5, 0.8);
        case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
        start_at_random(&c);
        case_start(&c);
        sel_request monitor = {.kind = SEL_MONITOR};
        sel_request watch = {.kind = SEL_MONITOR, .only_bad_cell = true};
        case_request(&c, &monitor);
        case_advance(&c, 3);
        if (watched) {
            case_request(&c, &watch);
            assert_true(watch.bad_cell == -1 && watch.largest > 0);
        }
        case_advance(&c, 3);
        case_request(&c, &monitor);
        change[watched] = monitor.change;
        case_end(&c);
    }
    assert_true(change[0] > 0 && change[0] == change[1]);
}

/* Everything that solids hold stays zero, and nothing is read from behind walls. */
static void test_solids_and_halos_stay_zero(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 7, 5, 0.8);
    case_wall(&c, sel_shape_make(c.arena, SEL_SHAPE_FACES, NULL));
    case_wall(&c, case_box(&c, 2, 2, 4, 3));
    start_at_random(&c);
    case_start(&c);
    case_advance(&c, 50);
    const lbm_layout *layout = &case_state(&c)->layout;
    for (int64_t y = -1; y <= layout->ny; y++) {
        for (int64_t x = -1; x <= layout->nx; x++) {
            bool inside = x >= 0 && x < layout->nx && y >= 0 && y < layout->ny;
            bool free_cell = inside && !c.domain->cell[y * layout->nx + x];
            for (int i = 0; i < 9; i++) {
                double g =
                    ((double *)lbm_now(case_state(&c)))[i * layout->plane + y * layout->pitch + x];
                assert_true(free_cell ? g != 0 : g == 0);
            }
        }
    }
    case_end(&c);
}

/* A periodic box of a given width with a solid in some rows, after 12 steps; all populations. */
static int64_t wrapped_box(int precision, int64_t nx, bool streams, char *to) {
    lbm_case c;
    case_begin(&c, nx, 7, 0.7);
    c.params.common.precision = precision;
    c.params.common.periodic = 3;
    case_wall(&c, case_box(&c, 3, 3, 5, 4));
    start_at_random(&c);
    assert_int_equal(case_plan(&c), SEL_OK);
    case_create(&c);
    case_state(&c)->streams = streams;
    case_advance(&c, 12);
    const lbm_layout *layout = &case_state(&c)->layout;
    const int64_t real = precision == SEL_F32 ? 4 : 8, bytes = 9 * layout->plane * real;
    const int64_t before = SEL_LINE + (layout->pitch + 1) * real;
    memcpy(to, (const char *)lbm_now(case_state(&c)) - before, (size_t)bytes);
    case_end(&c);
    return bytes;
}

static void test_periodic_rows_past_the_caches_have_the_same_bits_and_halo(void **unused) {
    (void)unused;
    static char kept[1 << 20], streamed[1 << 20];
    for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
        for (int64_t nx = 30; nx <= 66; nx++) {
            const int64_t bytes = wrapped_box(precision, nx, false, kept);
            assert_true(bytes < (int64_t)sizeof kept);
            assert_int_equal(wrapped_box(precision, nx, true, streamed), bytes);
            assert_memory_equal(kept, streamed, (size_t)bytes);
        }
    }
}

/* A wall or inlet whose velocity is 1e-3 t tells when it was evaluated. */
static void rising(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)y;
    (void)data;
    value[0] = 1e-3 * t;
    value[1] = 0;
}

static void test_laws_are_taken_at_their_time(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 6, 5, 0.8);
    c.params.common.dt = 2;
    c.params.common.dx = 2;
    case_wall(&c, case_face(&c, SEL_Y_MIN));
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table,
                case_of(&c, SEL_ON_T, 2, rising, NULL));
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table,
                case_of(&c, SEL_ON_T, 2, rising, NULL));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
    case_start(&c);
    const sel_inputs *inputs = &((lbm_plan *)c.plan)->inputs;
    const int64_t count = inputs->v[0].count; /* of the lid */
    for (int step = 0; step < 3; step++) {
        case_advance(&c, 1);
        double t = 2.0 * (step + 0.5), u[2 * 6 * 5];
        for (int64_t k = 0; k < count; k++) {
            double along = inputs->detail[k] == 8 ? 1 : inputs->detail[k] == 7 ? -1 : 0;
            assert_true(fabs(case_state(&c)->all.link_add[inputs->target[k]] -
                             along * 1e-3 * t / 6) < 1e-18);
        }
        case_read(&c, LBM_VELOCITY, 2, u);
        for (int y = 0; y < 5; y++) {
            assert_true(fabs(u[2 * 6 * y] - 1e-3 * 2.0 * (step + 1)) < 1e-15);
        }
    }
    case_end(&c);
}

typedef struct oscillation {
    double speed, omega, nu, height;
} oscillation;

static void oscillating(double x, double y, double t, const void *data, double value[2]) {
    const oscillation *o = data;
    (void)x;
    (void)y;
    value[0] = o->speed * cos(o->omega * t);
    value[1] = 0;
}

/* Largest error over the channel and half a period of Stokes' second flow with a wall at H, for
 * which u = Re[U exp(i omega t) sinh(q (H - y)) / sinh(q H)], q = sqrt(i omega / nu). */
static double stokes_error(double shift) {
    enum { H = 24, PERIOD = 800 };
    const oscillation o = {0.02, 2 * pi / PERIOD, 0.1, H};
    double error = 0, u[2 * H];
    lbm_case c;
    case_begin(&c, 1, H, 0.8);
    c.params.common.periodic = 1;
    case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_wall_table,
                case_of(&c, SEL_ON_T, 2, oscillating, &o));
    case_wall(&c, case_face(&c, SEL_Y_MAX));
    case_start(&c);
    case_advance(&c, 8 * PERIOD);
    for (int part = 1; part <= 4; part++) {
        case_advance(&c, PERIOD / 8);
        case_read(&c, LBM_VELOCITY, 2, u);
        double t = 8 * PERIOD + part * PERIOD / 8 + shift;
        double a = sqrt(o.omega / (2 * o.nu)); /* q = a (1 + i) */
        double below = cosh(2 * a * H) - cos(2 * a * H);
        for (int y = 0; y < H; y++) {
            /* sinh(z) conj(sinh(w)) with z = q (H - y), w = q H */
            double z = a * (H - y - 0.5), w = a * H;
            double zr = sinh(z) * cos(z), zi = cosh(z) * sin(z);
            double wr = sinh(w) * cos(w), wi = cosh(w) * sin(w);
            double real = 2 * (zr * wr + zi * wi) / below,
                   imaginary = 2 * (zi * wr - zr * wi) / below;
            double exact = o.speed * (cos(o.omega * t) * real - sin(o.omega * t) * imaginary);
            error = fmax(error, fabs(u[2 * y] - exact) / o.speed);
        }
    }
    case_end(&c);
    return error;
}

static void test_oscillating_wall_drives_stokes_flow(void **unused) {
    (void)unused;
    double error = stokes_error(0);
    print_message("# Stokes 2: error %.2e of the wall's velocity; half a step off in time %.2e, "
                  "%.2e\n",
                  error, stokes_error(0.5), stokes_error(-0.5));
    assert_true(error < 0.01);
    assert_true(error < stokes_error(0.5) && error < stokes_error(-0.5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lid_driven_box_keeps_its_mass),
        cmocka_unit_test(test_bits_depend_on_nothing),
        cmocka_unit_test(test_rows_of_solids_change_nothing),
        cmocka_unit_test(test_requests_read_what_was_set),
        cmocka_unit_test(test_monitor_finds_the_first_bad_cell),
        cmocka_unit_test(test_monitor_finds_the_fastest_and_the_thinnest_cell),
        cmocka_unit_test(test_watching_for_nan_leaves_the_steady_test_alone),
        cmocka_unit_test(test_solids_and_halos_stay_zero),
        cmocka_unit_test(test_periodic_rows_past_the_caches_have_the_same_bits_and_halo),
        cmocka_unit_test(test_laws_are_taken_at_their_time),
        cmocka_unit_test(test_oscillating_wall_drives_stokes_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
