/* test_cuda_passes.c -- steps of a plane flow that are made several at once have the bits of those
 * made one by one: in periodic boxes, beside walls, bodies and open faces. Arguments: see
 * compare.h.
 */
#ifdef SEL_CUDA
#include "engine/core/state.h"
#include "engine/solvers/lbm/lbm_state_cuda.h"
#include "tests/unit/twins.h"
#include "tests/unit/compare_flows.h"

static const char *const operators[] = {"regularized", "recursive", "hybrid"};

/* Laws that do not vary in time. */
static const char periodic[] = "periodic = { 'x', 'y' }\n";
static const char channel[] =
    "paint('floor', shape.face 'y-', law.wall {})\n"
    "paint('lid', shape.face 'y+', law.wall { velocity = { 0.04, 0 } })\n"
    "paint('inlet', shape.face 'x-', law.velocity { function(y) return 0.05 * y / H, 0 end })\n"
    "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"
    "paint('cylinder', ball(W / 3, H / 2, 0, H / 6), law.wall {})\n"
    "paint('corner', box(0, 0, 0, 12, 9, 1), law.wall {})\n";
static const char round_x[] = "periodic = { 'x' }\n"
                              "paint('walls', shape.rest, law.wall {})\n"
                              "paint('seam', ball(0, H / 2, 0, 6), law.wall {})\n";

/* All numbers of a field, bit by bit. */
static void compare_bits(twins *t, int field) {
    const sel_box box = sel_grid_box(&t->side[0].domain->grid);
    twin_read r;
    twin_read_open(t, &r, field, 0, &box, NULL, 0, SEL_F64);
    twins_start(t, r.request);
    twins_finish(t, r.request);
    const size_t count = (size_t)(r.n[0] * r.n[1] * r.n[2] * r.components);
    for (size_t k = 0; k < count && !t->failed; k++) {
        if (memcmp(&r.value[0][k], &r.value[1][k], sizeof(double)) != 0) {
            disagree("%s at cell %d: %.17g, one by one %.17g", lbm_solver.fields[field].name,
                     (int)(k % (size_t)(r.n[0] * r.n[1])), r.value[0][k], r.value[1][k]);
            break;
        }
    }
    free(r.value[0]);
    free(r.value[1]);
}

/* What the links of a region carry. */
static void compare_force(twins *t) {
    sel_request r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = (sel_request){.kind = SEL_FORCE, .region = 1};
    }
    twins_start(t, r);
    twins_finish(t, r);
    if (!t->failed && memcmp(r[0].force, r[1].force, sizeof r[0].force) != 0) {
        disagree("another force: %.17g, one by one %.17g", r[0].force[0], r[1].force[0]);
    }
}

/* Advances one twin at once, the other one by one, and compares. */
static void compare_passes(const flow *f, int64_t steps) {
    const int same[2] = {comparison.second_backend, comparison.second_backend};
    char text[FLOW_ROOM];
    twins t;
    flow_script(f, NULL, text);
    twins_open_on(&t, text, same, true);
    if (!t.failed && ((const lbm_cuda *)t.state[0])->passes.steps == 1) {
        disagree("no passes are made");
    }
    const int64_t alone = t.failed ? 0 : steps - sel_plan_observed_steps(t.side[1].plan);
    for (int64_t k = 0; k < alone && !t.failed; k++) {
        twin_worked(&t, 1, "advancing",
                    twin_backend(&t, 1)->advance(t.state[1], 1, false, &t.error));
    }
    if (!t.failed) {
        twin_worked(&t, 1, "advancing",
                    twin_backend(&t, 1)->advance(t.state[1], steps - alone, true, &t.error));
    }
    if (!t.failed) {
        twin_worked(&t, 0, "advancing",
                    twin_backend(&t, 0)->advance(t.state[0], steps, true, &t.error));
    }
    compare_bits(&t, LBM_VELOCITY);
    compare_bits(&t, LBM_PRESSURE);
    compare_bits(&t, LBM_STRESS);
    if (f->around != periodic) {
        compare_force(&t);
    }
    twins_close(&t);
}

/* A number of steps that passes and graphs do not divide. */
static int64_t pass_test_steps(void) {
    return comparison.is_short ? 13 : 93;
}

static void passes_in_a_box_have_the_bits_of_single_steps(void **state) {
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        for (size_t c = 0; c < COUNT_OF(operators); c++) {
            for (size_t force = 0; force < 2; force++) {
                const flow one = {"301, 67",    periodic,          flow_force[force].text,
                                  operators[c], p ? "f32" : "f64", 0.56,
                                  force > 0};
                comparing("a box, %s, %s, %s", operators[c], one.precision, flow_force[force].name);
                compare_passes(&one, pass_test_steps());
            }
        }
    }
    assert_agreement();
}

static void passes_beside_boundaries_have_the_bits_of_single_steps(void **state) {
    const bool small = LBM_PASS_BOUNDED < 611 * 463;
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        for (size_t c = 0; c < COUNT_OF(operators); c++) {
            const char *around = (p + c) % 2 ? channel : round_x;
            if (comparison.is_short && p + c != 1) {
                continue;
            }
            const flow one = {small               ? "611, 463"
                              : around == channel ? "1021, 1031"
                                                  : "1024, 1027",
                              around,
                              flow_force[c == 1].text,
                              operators[c],
                              p ? "f32" : "f64",
                              0.56,
                              c == 1};
            comparing("%s, %s, %s", around == channel ? "a channel" : "round x", operators[c],
                      one.precision);
            compare_passes(&one, pass_test_steps());
        }
    }
    assert_agreement();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_in_a_box_have_the_bits_of_single_steps),
        cmocka_unit_test(passes_beside_boundaries_have_the_bits_of_single_steps),
    };
    if (!comparison_begins(argc, argv, "test_cuda_passes")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
#else
#include <stdio.h>

int main(void) {
    printf("ok test_cuda_passes # SKIP this build has no CUDA backend\n");
    return 0;
}
#endif
