/* test_cuda_steps.c -- steps of small flows on the GPU are those of the CPU: every collision,
 * lattice, precision, force and law, sizes that fill no warp, and numbers of steps around a graph.
 */
#include "engine/core/state.h"
#include "tests/unit/twins.h"
#include "tests/unit/compare_flows.h"

static const char *const collisions[] = {
    "trt",
    "bgk",
    "regularized:populations",
    "recursive:populations",
    "regularized:moments",
    "recursive:moments",
    "hybrid",
};
static const char *const precisions[] = {"f64", "f32"};

/* Odd sizes: no multiple of a warp, more than a block, fewer than one. */
static const char *size_of(int dims) {
    if (comparison.is_short) {
        return dims == 2 ? "35, 13" : "18, 9, 7";
    }
    return dims == 2 ? "70, 25" : "33, 10, 9";
}

/* More than a graph, an odd number, so that the last step is a launch of its own. */
static int64_t steps_of_a_case(void) {
    return comparison.is_short ? 3 : 35;
}

static void compare_flow(const flow *f, const char *more, int64_t steps) {
    char text[FLOW_ROOM];
    twins t;
    flow_script(f, more, text);
    twins_open(&t, text);
    twins_advance(&t, steps);
    twins_compare_fields(&t);
    twins_close(&t);
}

/* Each combination in a flow with walls and open faces and in one without; the flows take turns. */
static void every_collision_and_force_agrees(void **state) {
    (void)state;
    int turn = 0;
    for (int dims = 2; dims <= 3; dims++) {
        for (size_t p = 0; p < 2; p++) {
            for (size_t c = 0; c < COUNT_OF(collisions); c++) {
                for (size_t f = 0; f < COUNT_OF(flow_force); f++) {
                    for (int eddies = 0; eddies < 2; eddies++) {
                        size_t around = 1 + (size_t)turn++ % (COUNT_OF(flow_around) - 1);
                        for (int k = 0; k < (eddies ? 1 : 2); k++, around = 0) {
                            const flow one = {size_of(dims),      flow_around[around].text,
                                              flow_force[f].text, collisions[c],
                                              precisions[p],      0.56,
                                              eddies != 0};
                            comparing("%dD %s %s, %s, %s%s", dims, precisions[p], collisions[c],
                                      flow_around[around].name, flow_force[f].name,
                                      eddies ? ", eddies" : "");
                            compare_flow(&one, NULL, steps_of_a_case());
                        }
                    }
                }
            }
        }
    }
    assert_agreement();
}

static void every_law_and_meeting_agrees(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        for (size_t p = 0; p < 2; p++) {
            for (size_t around = 0; around < COUNT_OF(flow_around); around++) {
                for (size_t c = 0; c < (comparison.is_short ? 1 : COUNT_OF(collisions)); c++) {
                    const flow one = {size_of(dims),
                                      flow_around[around].text,
                                      "",
                                      collisions[c],
                                      precisions[p],
                                      0.6,
                                      false};
                    comparing("%dD %s %s, %s", dims, precisions[p], collisions[c],
                              flow_around[around].name);
                    compare_flow(&one, NULL, steps_of_a_case());
                }
            }
        }
    }
    assert_agreement();
}

/* Rows shorter than a warp, as long, a cell longer, of one cell; one cell in all. */
static void thin_and_odd_sizes_agree(void **state) {
    (void)state;
    static const char *const around[] = {
        "periodic = three and { 'x', 'y', 'z' } or { 'x', 'y' }\n",
        ("periodic = three and { 'x', 'z' } or { 'x' }\n"
         "paint('lid', shape.face 'y+', law.wall { velocity = { vec(0.05, 0, 0.02) } })\n"
         "paint('floor', shape.face 'y-', law.wall {})\n"),
        ("paint('lid', shape.face 'x+', law.wall { velocity = { vec(0, 0.05, 0.02) } })\n"
         "paint('walls', shape.rest, law.wall {})\n")};
    static const char *const sizes[] = {"1, 1",     "33, 1",    "1, 45",      "2, 2",   "31, 3",
                                        "32, 8",    "64, 1",    "129, 4",     "257, 2", "1, 1, 1",
                                        "1, 9, 7",  "40, 1, 6", "33, 20, 17", "70, 45", "31, 2, 2",
                                        "32, 4, 3", "65, 1, 1", "1, 1, 70"};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        for (size_t a = 0; a < COUNT_OF(around); a++) {
            for (size_t p = 0; p < 2; p++) {
                const flow one = {sizes[s], around[a], flow_force[4].text, "trt", precisions[p],
                                  0.8,      false};
                comparing("{%s} %s, walls %d", sizes[s], precisions[p], (int)a);
                compare_flow(&one, NULL, steps_of_a_case());
            }
        }
        if (comparison.is_short) {
            s += 2;
        }
    }
    assert_agreement();
}

/* Rock in which blocks of threads have no free cell, and an island whose warps have none. */
static void solids_that_are_left_out_change_nothing(void **state) {
    (void)state;
    static const char *const around =
        "periodic = three and { 'x', 'z' } or { 'x' }\n"
        "paint('lid', shape.face 'y+', law.wall { velocity = { vec(0.05, 0, 0.02) } })\n"
        "paint('rock', box(0, 0, 0, W, H / 2, D), law.wall {})\n"
        "paint('island', box(W / 4, 3 * H / 4, 0, 3 * W / 4, 7 * H / 8, D), law.wall {})\n";
    static const char *const sizes[] = {"300, 40", "150, 16, 8", "5, 64, 20", "1, 200"};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        for (size_t p = 0; p < 2; p++) {
            const flow one = {sizes[s], around, flow_force[4].text, "trt", precisions[p],
                              0.8,      false};
            comparing("{%s} %s, rock", sizes[s], precisions[p]);
            compare_flow(&one, NULL, steps_of_a_case());
        }
    }
    assert_agreement();
}

/* All operators beside interpolated walls; in closed boxes for so long that mass is returned. */
static void interpolated_walls_agree(void **state) {
    (void)state;
    static const char *const box =
        "paint('walls', shape.faces, law.wall {})\n"
        "paint('roller', ball(W / 3 + 0.2, H / 2 - 0.1, D / 2, math.min(W, H) / 4), law.wall {\n"
        "  scheme = 'interpolated', velocity = dragging })\n";
    for (int dims = 2; dims <= 3; dims++) {
        for (size_t p = 0; p < 2; p++) {
            for (size_t c = 0; c < COUNT_OF(collisions); c++) {
                for (int closed = 0; closed < 2; closed++) {
                    const flow one = {size_of(dims),
                                      closed ? box : flow_around_named("interpolated walls"),
                                      "",
                                      collisions[c],
                                      precisions[p],
                                      0.6,
                                      false};
                    comparing("%dD %s %s, interpolated walls, closed %d", dims, precisions[p],
                              collisions[c], closed);
                    compare_flow(&one, NULL, closed ? 130 : steps_of_a_case());
                }
            }
        }
    }
    assert_agreement();
}

static const int64_t lengths[] = {1, 2, 31, 32, 33, 64, 65, 100};

static flow mixed_flow(int dims, const char *precision) {
    return (flow){dims == 2 ? "45, 22" : "21, 10, 9",
                  flow_around_named("channel"),
                  flow_force[4].text,
                  "trt",
                  precision,
                  0.56,
                  true};
}

/* A graph holds 32 steps and begins at an even one; laws in time take their time from the device.
 */
static void any_number_of_steps_agrees(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        const flow one = mixed_flow(dims, "f64");
        for (size_t k = 0; k < COUNT_OF(lengths); k += comparison.is_short ? 4 : 1) {
            comparing("%dD, %d steps", dims, (int)lengths[k]);
            compare_flow(&one, NULL, lengths[k]);
        }
    }
    assert_agreement();
}

/* From an odd step, and with the fields looked at in between. */
static void steps_in_pieces_agree(void **state) {
    (void)state;
    static const int64_t pieces[] = {1, 64, 33, 2, 0, 31, 32, 1, 66};
    for (int dims = 2; dims <= 3; dims++) {
        const flow one = mixed_flow(dims, "f64");
        char text[FLOW_ROOM];
        twins t;
        int64_t step = 0;
        flow_script(&one, NULL, text);
        twins_open(&t, text);
        for (size_t k = 0; k < COUNT_OF(pieces); k++) {
            comparing("%dD, %d steps from step %d on", dims, (int)pieces[k], (int)step);
            twins_advance(&t, pieces[k]);
            twins_compare_fields(&t);
            step += pieces[k];
        }
        twins_close(&t);
    }
    assert_agreement();
}

/* All numbers of the velocity and the pressure, bit by bit. */
static void compare_bits(twins *t) {
    static const int fields[] = {LBM_VELOCITY, LBM_PRESSURE, LBM_STRESS};
    const sel_box box = sel_grid_box(&t->side[0].domain->grid);
    for (size_t k = 0; k < COUNT_OF(fields) && !t->failed; k++) {
        twin_read r;
        twin_read_open(t, &r, fields[k], 0, &box, NULL, 0, SEL_F64);
        twins_start(t, r.request);
        twins_finish(t, r.request);
        size_t bytes = (size_t)(r.n[0] * r.n[1] * r.n[2] * r.components) * sizeof(double);
        if (!t->failed && memcmp(r.value[0], r.value[1], bytes) != 0) {
            disagree("%s has other bits", lbm_solver.fields[fields[k]].name);
        }
        free(r.value[0]);
        free(r.value[1]);
    }
}

static void compare_request_bits(twins *t, sel_request_kind kind) {
    sel_term terms[2][SEL_MAX_TERMS];
    sel_request r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = (sel_request){.kind = kind,
                             .field = LBM_VELOCITY,
                             .box = sel_grid_box(&t->side[0].domain->grid),
                             .region = 1,
                             .terms = terms[k]};
    }
    twins_start(t, r);
    twins_finish(t, r);
    if (t->failed) {
        return;
    }
    bool same = memcmp(r[0].sum, r[1].sum, sizeof r[0].sum) == 0 &&
                memcmp(r[0].force, r[1].force, sizeof r[0].force) == 0 &&
                memcmp(&r[0].flux, &r[1].flux, sizeof r[0].flux) == 0 &&
                memcmp(&r[0].largest, &r[1].largest, sizeof r[0].largest) == 0;
    for (int k = 0; k < r[0].term_count; k++) {
        same = same && memcmp(&terms[0][k].value, &terms[1][k].value, sizeof(double)) == 0;
    }
    if (!same) {
        disagree("a request of kind %d has other bits", (int)kind);
    }
}

/* Sums too come in a fixed order. */
static void two_runs_on_a_backend_give_the_same_bits(void **state) {
    (void)state;
    const int same[2] = {comparison.second_backend, comparison.second_backend};
    for (int dims = 2; dims <= 3; dims++) {
        for (size_t p = 0; p < 2; p++) {
            const flow one = mixed_flow(dims, precisions[p]);
            char text[FLOW_ROOM];
            twins t;
            flow_script(&one, NULL, text);
            comparing("%dD %s, twice on one backend", dims, precisions[p]);
            twins_open_on(&t, text, same, true);
            twins_advance(&t, 99);
            compare_bits(&t);
            for (sel_request_kind kind = SEL_REDUCE; kind <= SEL_FLUX; kind++) {
                compare_request_bits(&t, kind);
            }
            twins_close(&t);
        }
    }
    assert_agreement();
}

/* One by one, as a graph, and with looks in between. */
static void pieces_give_the_bits_of_the_whole(void **state) {
    (void)state;
    const int same[2] = {comparison.second_backend, comparison.second_backend};
    for (int dims = 2; dims <= 3; dims++) {
        const flow one = mixed_flow(dims, "f32");
        char text[FLOW_ROOM];
        twins t;
        flow_script(&one, NULL, text);
        comparing("%dD, 99 steps at once and one by one", dims);
        twins_open_on(&t, text, same, true);
        for (int k = 0; k < 99 && !t.failed; k++) {
            sel_status status = twin_backend(&t, 1)->advance(t.state[1], 1, true, &t.error);
            twin_worked(&t, 1, "advancing", status);
        }
        if (!t.failed) {
            twin_worked(&t, 0, "advancing",
                        twin_backend(&t, 0)->advance(t.state[0], 99, true, &t.error));
        }
        compare_bits(&t);
        twins_close(&t);
    }
    assert_agreement();
}

/* Bytes on their way from one state to another. */
typedef struct tape {
    char *bytes;
    size_t written, read;
} tape;

static sel_status tape_write(void *stream, void *bytes, size_t count, sel_error *error) {
    tape *t = stream;
    (void)error;
    t->bytes = realloc(t->bytes, t->written + count);
    memcpy(t->bytes + t->written, bytes, count);
    t->written += count;
    return SEL_OK;
}

static sel_status tape_read(void *stream, void *bytes, size_t count, sel_error *error) {
    tape *t = stream;
    (void)error;
    memcpy(bytes, t->bytes + t->read, count);
    t->read += count;
    return SEL_OK;
}

/* The array with the populations of the present step. */
static int find_populations(const sel_state *state) {
    int k = 0;
    while (!state->arrays.v[k].present || *state->arrays.v[k].present != state->arrays.v[k].copy) {
        k++;
    }
    return k;
}

static void hand_over(twins *t) {
    const sel_arrays *from = &t->state[0]->arrays, *to = &t->state[1]->arrays;
    const int k = find_populations(t->state[0]), l = find_populations(t->state[1]);
    tape bytes = {.bytes = NULL};
    if (sel_array_bytes(&from->v[k]) != sel_array_bytes(&to->v[l])) {
        disagree("%s has another size", from->v[k].name);
    } else {
        twin_worked(t, 0, "saving", sel_arrays_keep(from, k, false, tape_write, &bytes, &t->error));
        twin_worked(t, 1, "loading", sel_arrays_keep(to, l, true, tape_read, &bytes, &t->error));
    }
    free(bytes.bytes);
}

static void one_backend_goes_on_from_what_the_other_saved(void **state) {
    (void)state;
    for (int dims = 2; dims <= 3; dims++) {
        flow one = mixed_flow(dims, "f32");
        char text[FLOW_ROOM];
        twins t;
        one.around = flow_around_named("duct");
        one.force = flow_force[0].text;
        flow_script(&one, NULL, text);
        comparing("%dD, from one backend to the other", dims);
        twins_open(&t, text);
        if (!t.failed) {
            twin_worked(&t, 0, "advancing",
                        twin_backend(&t, 0)->advance(t.state[0], 21, true, &t.error));
            hand_over(&t);
            sel_state_reset(t.state[1], t.state[0]->step);
            twins_advance(&t, 40);
            twins_compare_fields(&t);
        }
        twins_close(&t);
    }
    assert_agreement();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_collision_and_force_agrees),
        cmocka_unit_test(every_law_and_meeting_agrees),
        cmocka_unit_test(thin_and_odd_sizes_agree),
        cmocka_unit_test(solids_that_are_left_out_change_nothing),
        cmocka_unit_test(interpolated_walls_agree),
        cmocka_unit_test(any_number_of_steps_agrees),
        cmocka_unit_test(steps_in_pieces_agree),
        cmocka_unit_test(two_runs_on_a_backend_give_the_same_bits),
        cmocka_unit_test(pieces_give_the_bits_of_the_whole),
        cmocka_unit_test(one_backend_goes_on_from_what_the_other_saved),
    };
    if (!comparison_begins(argc, argv, "test_cuda_steps")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
