/* test_machine.c -- a solver of a few lines gets its backend, reads, sums, monitor, balance
 * and checkpoint from the machine, on the processor and on a device.
 */
#include <math.h>
#include <omp.h>
#include "engine/core/state.h"
#include "tests/unit/blur.h"
#include "tests/unit/files.h"

enum { NX = 5, NY = 6, SPOT = 2 * NX + 2 };

static const sel_backend *backend;
static const sel_box everywhere = {{0, 0, 0}, {NX, NY, 1}, {1, 1, 1}};

static sel_state *create(int threads) {
    static uint8_t cell[NX * NY];
    static const sel_simulation simulation = {.solver = &blur_solver};
    static sel_domain domain = {.grid = {.dims = 2, .n = {NX, NY, 1}, .dx = {1, 1, 1}, .dt = 1}};
    static sel_plan plan;
    sel_state *state;
    sel_error error;
    cell[SPOT + NX] = 1; /* a solid beside the spot */
    domain.cell = cell;
    domain.free_cells = NX * NY - 1;
    plan = (sel_plan){
        .simulation = &simulation, .domain = &domain, .precision = SEL_F64, .threads = threads};
    assert_true(backend->estimate(&plan).memory > 3 * NX * NY * sizeof(double));
    assert_int_equal(backend->create(&plan, &state, &error), SEL_OK);
    return state;
}

static void ask(sel_state *state, sel_request *request) {
    assert_int_equal(backend->start(state, request, NULL), SEL_OK);
    assert_int_equal(backend->finish(state, request, NULL), SEL_OK);
}

static void read_all(sel_state *state, double c[NX * NY]) {
    sel_request read = {.box = everywhere, .precision = SEL_F64, .components = 1, .to = c};
    ask(state, &read);
}

static void a_small_solver_steps_is_read_and_summed_up(void **unused) {
    (void)unused;
    for (int threads = 1; threads <= 3; threads++) {
        sel_state *state = create(threads);
        double c[NX * NY], spot;
        sel_term terms[2];
        const int64_t cells[] = {SPOT - NX};
        sel_request list = {
            .cells = cells, .cell_count = 1, .precision = SEL_F64, .components = 1, .to = &spot};
        sel_request reduce = {.kind = SEL_REDUCE, .box = everywhere};
        sel_request monitor = {.kind = SEL_MONITOR},
                    balance = {.kind = SEL_BALANCE, .terms = terms};
        ask(state, &monitor);
        assert_true(isnan(monitor.change) && monitor.largest == 1 && monitor.largest_cell == SPOT);
        assert_int_equal(backend->advance(state, 1, false, NULL), SEL_OK);
        read_all(state, c);
        ask(state, &list);
        ask(state, &reduce);
        ask(state, &monitor);
        ask(state, &balance);
        assert_true(c[SPOT - NX] == 1.0 / 3 && c[SPOT] == 2.0 / 3 && c[SPOT + NX] == 0);
        assert_true(spot == 1.0 / 3);
        assert_true(reduce.count == NX * NY - 1 && reduce.sum[0] == 1 && reduce.max[0] == 2.0 / 3);
        assert_true(fabs(monitor.change - sqrt(0.4)) < 1e-15); /* (1/9 + 1/9) / (4/9 + 1/9) */
        assert_true(balance.term_count == 1 && terms[0].value == 1);
        assert_int_equal(backend->whole(state), 1);
        backend->destroy(state);
    }
}

/* The row of the NaN is one of several that threads, and lanes of a warp, join. */
static void a_cell_of_nan_shows_in_every_reduction(void **unused) {
    (void)unused;
    for (int cell = 0; cell < NX * NY; cell++) {
        const double not_a_number = (double)NAN;
        sel_state *state = create(1 + cell % 3);
        sel_request all = {.kind = SEL_REDUCE, .box = everywhere}, apart = all;
        if (cell == SPOT + NX) {
            backend->destroy(state);
            continue; /* the solid */
        }
        assert_int_equal(sel_arrays_send(&state->arrays, blur_row(state, 0, cell / NX) + cell % NX,
                                         &not_a_number, sizeof not_a_number, NULL),
                         SEL_OK);
        apart.box.lo[0] = cell % NX > 1 ? 0 : 2;
        apart.box.hi[0] = apart.box.lo[0] + 2;
        ask(state, &all);
        ask(state, &apart);
        assert_true(isnan(all.min[0]) && isnan(all.max[0]));
        assert_true(isnan(all.sum[0]) && isnan(all.sum_of_squares[0]));
        assert_int_equal(all.count, NX * NY - 1);
        assert_true(apart.min[0] == 0 && apart.max[0] == (cell % NX < 2 && cell != SPOT));
        backend->destroy(state);
    }
}

/* 100 steps, more than a device does together. */
static void a_small_solver_forgets_its_start(void **unused) {
    (void)unused;
    sel_state *state = create(2);
    double c[NX * NY];
    assert_int_equal(backend->advance(state, 100, false, NULL), SEL_OK);
    read_all(state, c);
    assert_true(fabs(c[2] - 1.0 / 3) < 1e-15 && fabs(c[SPOT] - 1.0 / 3) < 1e-15);
    assert_int_equal(backend->whole(state), 100);
    backend->destroy(state);
}

/* Saved after a step, loaded into a state of step 0 on the processor: on fewer threads, or
 * from a device. */
static void a_small_solver_goes_on_from_a_checkpoint(void **unused) {
    (void)unused;
    static const char path[] = "blur.sel", before[] = "blur.before.sel";
    sel_checkpoint *file;
    uint64_t bytes;
    double c[2][NX * NY];
    const sel_backend *first = backend;
    sel_state *state = create(2);
    assert_int_equal(backend->advance(state, 1, false, NULL), SEL_OK);
    assert_int_equal(sel_checkpoint_create(path, &file, NULL), SEL_OK);
    sel_state_save(state, backend, file);
    assert_int_equal(sel_checkpoint_commit(file, before, &bytes, NULL), SEL_OK);
    sel_checkpoint_close(file);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(backend->advance(state, 2, false, NULL), SEL_OK);
        assert_int_equal(backend->whole(state), 3);
        read_all(state, c[k]);
        backend->destroy(state);
        backend = &sel_cpu_backend;
        state = create(1);
        assert_int_equal(sel_checkpoint_open(path, &file, NULL), SEL_OK);
        sel_state_load(state, backend, file);
        assert_int_equal(file->failure.status, SEL_OK);
        sel_checkpoint_close(file);
    }
    assert_memory_equal(c[0], c[1], sizeof c[0]);
    backend->destroy(state);
    backend = first;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_solver_steps_is_read_and_summed_up),
        cmocka_unit_test(a_cell_of_nan_shows_in_every_reduction),
        cmocka_unit_test(a_small_solver_forgets_its_start),
        cmocka_unit_test(a_small_solver_goes_on_from_a_checkpoint),
    };
    uint64_t free_bytes;
    backend = blur_solver.cpu;
    int failed = cmocka_run_group_tests_name("cpu", tests, enter_directory, leave_directory);
    backend = blur_solver.cuda;
    if (backend && !backend->probe(0, &free_bytes, NULL)) {
        failed += cmocka_run_group_tests_name("cuda", tests, enter_directory, leave_directory);
    }
    return failed;
}
