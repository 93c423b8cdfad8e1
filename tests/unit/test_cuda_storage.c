/* test_cuda_storage.c -- flows that store moments are those that store populations, to round-off
 * after 1,000 steps in double precision, under every law: on the CPU, and on a GPU if there is one.
 */
#include "engine/core/state.h"
#include "tests/unit/twins.h"
#include "tests/unit/compare_flows.h"

static const char *const operators[] = {"regularized", "recursive"};
/* Those that do not grow with time. */
static const int forces[] = {0, 1, 3};
static const char *const ways[] = {"populations", "moments"};

/* The velocity of all cells after `steps` steps; NULL if the flow fails, which is noted. */
static double *storage_velocity(const flow *f, int backend, int64_t steps, int64_t *numbers) {
    const int backends[2] = {backend, backend};
    char text[FLOW_ROOM];
    twins t;
    double *velocity = NULL;
    flow_script(f, NULL, text);
    twins_open_on(&t, text, backends, true);
    if (!t.failed) {
        twin_worked(&t, 0, "advancing",
                    twin_backend(&t, 0)->advance(t.state[0], steps, true, &t.error));
    }
    if (!t.failed) {
        const sel_box box = sel_grid_box(&t.side[0].domain->grid);
        const int dims = t.side[0].domain->grid.dims;
        *numbers = dims * sel_box_cells(&box);
        velocity = calloc((size_t)*numbers, sizeof *velocity);
        sel_request r = {.kind = SEL_READ,
                         .field = LBM_VELOCITY,
                         .box = box,
                         .precision = SEL_F64,
                         .components = dims,
                         .to = velocity};
        sel_status status = twin_backend(&t, 0)->start(t.state[0], &r, &t.error);
        status = status ? status : twin_backend(&t, 0)->finish(t.state[0], &r, &t.error);
        twin_worked(&t, 0, "reading", status);
    }
    twins_close(&t);
    return velocity;
}

static void compare_storage(flow *f, const char *operator, int backend, int64_t steps) {
    double *velocity[2], most = 0, apart = 0;
    int64_t numbers[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        char collision[64];
        snprintf(collision, sizeof collision, "%s:%s", operator, ways[k]);
        f->collision = collision;
        velocity[k] = storage_velocity(f, backend, steps, &numbers[k]);
    }
    for (int64_t k = 0; k < numbers[0] && velocity[0] && velocity[1]; k++) {
        most = fmax(most, fabs(velocity[0][k]));
        apart = fmax(apart, fabs(velocity[0][k] - velocity[1][k]));
    }
    if (!(most > 0) || !(apart <= 1e-12 * most)) {
        disagree("velocities up to %g differ by %g", most, apart);
    }
    free(velocity[0]);
    free(velocity[1]);
}

static void compare_all(int backend) {
    for (int dims = 2; dims <= 3; dims++) {
        for (size_t around = 0; around < COUNT_OF(flow_around); around++) {
            for (size_t c = 0; c < COUNT_OF(operators); c++) {
                const flow_part *force = &flow_force[forces[around % COUNT_OF(forces)]];
                flow f = {.size = dims == 2 ? "35, 13" : "18, 9, 7",
                          .around = flow_around[around].text,
                          .force = force->text,
                          .precision = "f64",
                          .tau = 0.6,
                          .eddies = around % 2 > 0};
                comparing("%dD, %s, %s, %s", dims, operators[c], flow_around[around].name,
                          force->name);
                compare_storage(&f, operators[c], backend, comparison.is_short ? 20 : 1000);
            }
        }
    }
    assert_agreement();
}

static void moments_are_populations_to_round_off(void **state) {
    (void)state;
    compare_all(SEL_BACKEND_CPU);
}

static void moments_are_populations_to_round_off_on_a_gpu(void **state) {
    sel_error error = {.status = SEL_OK};
    uint64_t bytes;
    (void)state;
    if (!lbm_solver.cuda || lbm_solver.cuda->probe(0, &bytes, &error)) {
        skip();
    }
    compare_all(SEL_BACKEND_CUDA);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_populations_to_round_off),
        cmocka_unit_test(moments_are_populations_to_round_off_on_a_gpu),
    };
    comparison.is_short = argc > 1 && strcmp(argv[1], "short") == 0;
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
