/* test_machine.c -- a solver of a few lines gets its backend, reads, sums and monitor from the
 * machine.
 *
 * Its rule: a cell becomes the mean of itself and of its two neighbours along x; solids and the
 * ends of rows are mirrors.
 */
#include <math.h>
#include <omp.h>
#include "engine/machine/cpu.h"
#include "engine/machine/state.h"
#include "tests/unit/files.h"

/* ---- the solver ---- */

typedef struct blur {
    sel_state base;
    double *c[2]; /* of even and odd steps */
} blur;

static const double *present(const sel_state *base, int64_t row) {
    return ((const blur *)base)->c[base->step & 1] + row * base->plan->domain->grid.n[0];
}

static void blur_list(sel_state *base) {
    blur *state = (blur *)base;
    const int64_t *n = base->plan->domain->grid.n, all = n[0] * n[1];
    const sel_cells cells = {{n[0], n[1], 1}, 1, 0, n[0], all, all, 0, all};
    base->last = (sel_last){.type = {'f', 8}, .components = 1, .scale = 1};
    sel_arrays_add_turns(&base->arrays, "c", state->c, base->last.type, &cells);
}

static sel_status blur_start(sel_state *base, sel_error *error) {
    (void)error;
    ((blur *)base)->c[0][7] = 1;
    return SEL_OK;
}

static sel_status blur_steps(sel_state *base, int64_t n, sel_error *error) {
    const int64_t nx = base->plan->domain->grid.n[0];
    (void)error;
    for (; n > 0; n--, base->step++) {
        for (int64_t row = 0; row < sel_state_rows(base); row++) {
            const uint8_t *solid = sel_state_solids(base, row);
            const double *from = present(base, row);
            double *to = ((blur *)base)->c[(base->step + 1) & 1] + row * nx;
            for (int64_t x = 0; x < nx; x++) {
                const double west = x == 0 || solid[x - 1] ? from[x] : from[x - 1];
                const double east = x == nx - 1 || solid[x + 1] ? from[x] : from[x + 1];
                to[x] = solid[x] ? 0 : (west + from[x] + east) / 3;
            }
        }
    }
    return SEL_OK;
}

static int blur_field(const sel_state *base, int field, int64_t row, int64_t x0, int64_t x1,
                      const double **values) {
    (void)field, (void)x1;
    *values = present(base, row) + x0;
    return 1;
}

static void blur_main(const sel_state *base, int64_t row, sel_main_row *main) {
    const double *c = present(base, row);
    *main = (sel_main_row){.value = {c}, .large = c, .small = c};
}

static void blur_watched(const sel_plan *plan, const sel_watched *found, sel_request *request) {
    (void)plan;
    sel_request_watched(request, found);
}

static double blur_sum(const sel_state *base, int64_t row) {
    double sum = 0;
    for (int64_t x = 0; x < base->plan->domain->grid.n[0]; x++) {
        sum += present(base, row)[x];
    }
    return sum;
}

static sel_status blur_other(sel_state *base, sel_request *request, sel_error *error) {
    (void)error;
    sel_request_term(request, "total", "", sel_sum_rows(base, blur_sum, false));
    return SEL_OK;
}

static const sel_cpu blur_on_cpu = {
    .what = "the blur",
    .state_size = sizeof(blur),
    .list = blur_list,
    .start = blur_start,
    .steps = blur_steps,
    .look = {blur_field, blur_main, blur_watched, blur_other},
};
static const sel_solver blur_solver = {
    .name = "blur",
    .fields = (const sel_field_info[]){{.name = "c", .rank = SEL_SCALAR}},
    .field_count = 1,
    .cpu = &sel_cpu_backend,
    .on_cpu = &blur_on_cpu};

/* ---- what it gets ---- */

enum { NX = 5, NY = 3 };

static sel_state *create(int threads) {
    static uint8_t cell[NX * NY];
    static const sel_simulation simulation = {.solver = &blur_solver};
    static sel_domain domain = {.grid = {.dims = 2, .n = {NX, NY, 1}, .dx = 1, .dt = 1}};
    static sel_plan plan;
    sel_state *state;
    sel_error error;
    cell[NX + 3] = 1; /* a solid beside the spot */
    domain.cell = cell;
    plan = (sel_plan){
        .simulation = &simulation, .domain = &domain, .precision = SEL_F64, .threads = threads};
    assert_true(sel_cpu_backend.estimate(&plan) > 3 * NX * NY * sizeof(double));
    assert_int_equal(sel_cpu_backend.create(&plan, &state, &error), SEL_OK);
    return state;
}

static void ask(sel_state *state, sel_request *request) {
    assert_int_equal(sel_cpu_backend.start(state, request, NULL), SEL_OK);
    assert_int_equal(sel_cpu_backend.finish(state, request, NULL), SEL_OK);
}

static void a_small_solver_steps_is_read_and_summed_up(void **unused) {
    (void)unused;
    const sel_box all = {{0, 0, 0}, {NX, NY, 1}, {1, 1, 1}};
    for (int threads = 1; threads <= 3; threads++) {
        sel_state *state = create(threads);
        double c[NX * NY], spot;
        sel_term terms[2];
        const int64_t cells[] = {NX + 1};
        sel_request read = {.box = all, .precision = SEL_F64, .components = 1, .to = c};
        sel_request list = {
            .cells = cells, .cell_count = 1, .precision = SEL_F64, .components = 1, .to = &spot};
        sel_request reduce = {.kind = SEL_REDUCE, .box = all};
        sel_request monitor = {.kind = SEL_MONITOR},
                    balance = {.kind = SEL_BALANCE, .terms = terms};
        ask(state, &monitor);
        assert_true(isnan(monitor.change) && monitor.largest == 1 && monitor.largest_cell == 7);
        assert_int_equal(sel_cpu_backend.advance(state, 1, false, NULL), SEL_OK);
        ask(state, &read);
        ask(state, &list);
        ask(state, &reduce);
        ask(state, &monitor);
        ask(state, &balance);
        assert_true(c[NX + 1] == 1.0 / 3 && c[NX + 2] == 2.0 / 3 && c[NX + 3] == 0);
        assert_true(spot == 1.0 / 3);
        assert_true(reduce.count == NX * NY - 1 && reduce.sum[0] == 1 && reduce.max[0] == 2.0 / 3);
        assert_true(fabs(monitor.change - sqrt(0.4)) < 1e-15); /* (1/9 + 1/9) / (4/9 + 1/9) */
        assert_true(balance.term_count == 1 && terms[0].value == 1);
        assert_int_equal(sel_cpu_backend.whole(state), 1);
        sel_cpu_backend.destroy(state);
    }
}

/* Saved after a step, loaded into a state of step 0 on another number of threads. */
static void a_small_solver_goes_on_from_a_checkpoint(void **unused) {
    (void)unused;
    const sel_box all = {{0, 0, 0}, {NX, NY, 1}, {1, 1, 1}};
    static const char path[] = "blur.sel", before[] = "blur.before.sel";
    sel_checkpoint *file;
    uint64_t bytes;
    double c[2][NX * NY];
    sel_state *state = create(2);
    assert_int_equal(sel_cpu_backend.advance(state, 1, false, NULL), SEL_OK);
    assert_int_equal(sel_checkpoint_create(path, &file, NULL), SEL_OK);
    sel_state_save(state, &sel_cpu_backend, file);
    assert_int_equal(sel_checkpoint_commit(file, before, &bytes, NULL), SEL_OK);
    sel_checkpoint_close(file);
    for (int k = 0; k < 2; k++) {
        sel_request read = {.box = all, .precision = SEL_F64, .components = 1, .to = c[k]};
        assert_int_equal(sel_cpu_backend.advance(state, 2, false, NULL), SEL_OK);
        assert_int_equal(sel_cpu_backend.whole(state), 3);
        ask(state, &read);
        sel_cpu_backend.destroy(state);
        state = create(1);
        assert_int_equal(sel_checkpoint_open(path, &file, NULL), SEL_OK);
        sel_state_load(state, &sel_cpu_backend, file);
        assert_int_equal(sel_checkpoint_status(file, NULL), SEL_OK);
        sel_checkpoint_close(file);
    }
    assert_memory_equal(c[0], c[1], sizeof c[0]);
    sel_cpu_backend.destroy(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_solver_steps_is_read_and_summed_up),
        cmocka_unit_test(a_small_solver_goes_on_from_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
