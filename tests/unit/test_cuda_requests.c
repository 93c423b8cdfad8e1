/* test_cuda_requests.c -- what outputs ask of a backend: the GPU answers as the CPU does. */
#include "tests/unit/twins.h"
#include "tests/unit/compare_flows.h"

static const char *const precisions[] = {"f64", "f32"};

/* A flow with solids, moving walls and open faces, with eddies and a force in time. */
static void open_mixed(twins *t, int dims, const char *precision, const char *around) {
    const flow one = {dims == 2 ? "45, 22" : "21, 10, 9",
                      flow_around_named(around),
                      flow_force[4].text,
                      "trt",
                      precision,
                      0.56,
                      true};
    char text[FLOW_ROOM];
    flow_script(&one, NULL, text);
    twins_open(t, text);
}

/* Calls `test` for both lattices and precisions. */
static void for_each_kind(const char *around, void (*test)(twins *t)) {
    for (int dims = 2; dims <= 3; dims++) {
        for (size_t p = 0; p < COUNT_OF(precisions); p++) {
            twins t;
            comparing("%dD %s %s", dims, precisions[p], around);
            open_mixed(&t, dims, precisions[p], around);
            if (!t.failed) {
                test(&t);
            }
            twins_close(&t);
        }
    }
    assert_agreement();
}

static const sel_grid *grid_of(const twins *t) {
    return &t->side[0].domain->grid;
}

/* Looks at the fields once, so that the size of the velocity is known. */
static void settle(twins *t, int64_t steps) {
    twins_advance(t, steps);
    twins_compare_fields(t);
}

/* ---- reads ---- */

static sel_box odd_box(const sel_grid *grid) {
    sel_box box = sel_grid_box(grid);
    box.lo[0] = 3;
    box.hi[0] = grid->n[0] - 2;
    box.stride[0] = 4;
    box.lo[1] = 1;
    box.stride[1] = 3;
    if (grid->dims == 3) {
        box.hi[2] = grid->n[2] - 1;
        box.stride[2] = 2;
    }
    return box;
}

static void read_boxes(twins *t) {
    const sel_box boxes[] = {
        sel_grid_box(grid_of(t)), odd_box(grid_of(t)), {{5, 4, 0}, {6, 5, 1}, {1, 1, 1}}};
    settle(t, 7);
    for (size_t b = 0; b < COUNT_OF(boxes); b++) {
        for (int f = 0; f < LBM_FIELDS; f++) {
            for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
                twin_read r;
                twin_read_open(t, &r, f, 0, &boxes[b], NULL, 0, precision);
                twins_start(t, r.request);
                twins_finish(t, r.request);
                twin_read_compare(t, &r);
            }
        }
    }
}

static void every_field_is_read_from_boxes_with_strides(void **state) {
    (void)state;
    for_each_kind("channel", read_boxes);
    for_each_kind("solids in a periodic box", read_boxes);
    for_each_kind("interpolated walls", read_boxes);
}

/* Vectors of a file have three components, also in 2-D. */
static void read_padded(twins *t) {
    const sel_box box = odd_box(grid_of(t));
    settle(t, 7);
    for (int components = 1; components <= 6; components++) {
        for (int f = 0; f < LBM_FIELDS; f++) {
            twin_read r;
            twin_read_open(t, &r, f, components, &box, NULL, 0, SEL_F32);
            twins_start(t, r.request);
            twins_finish(t, r.request);
            twin_read_compare(t, &r);
        }
    }
}

static void fields_are_padded_with_zeros(void **state) {
    (void)state;
    for_each_kind("moving lid", read_padded);
}

/* In any order, twice the same, in solids, at edges. */
static void read_lists(twins *t) {
    const int64_t last = sel_grid_cells(grid_of(t)) - 1;
    const int64_t cells[] = {last, 0, 17, 17, last / 2, last / 3, 5, last - 1, last};
    const sel_box none = {{0, 0, 0}, {0, 0, 0}, {1, 1, 1}};
    settle(t, 7);
    for (size_t count = 1; count <= COUNT_OF(cells); count += 4) {
        for (int f = 0; f < LBM_FIELDS; f++) {
            for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
                twin_read r;
                twin_read_open(t, &r, f, 0, &none, cells, (int64_t)count, precision);
                twins_start(t, r.request);
                twins_finish(t, r.request);
                twin_read_compare(t, &r);
            }
        }
    }
}

static void every_field_is_read_from_lists_of_cells(void **state) {
    (void)state;
    for_each_kind("moving lid", read_lists);
}

/* Strain and stress at step 0 come from differences, later from populations. */
static void read_at_start(twins *t) {
    settle(t, 0);
    settle(t, 1);
    settle(t, 1);
}

static void fields_agree_from_step_0_on(void **state) {
    (void)state;
    for_each_kind("channel", read_at_start);
    for_each_kind("moving lid", read_at_start);
}

/* ---- sums ---- */

/* The answer by its definition, from what was read. */
static void check_reduced(const twins *t, const sel_request *request, const twin_read *r,
                          const char *who) {
    const double *v = r->value[0];
    const sel_domain *domain = t->side[0].domain;
    const tolerance allowed = {1e-9, 1e-12};
    double cells = 0;
    for (int c = 0; c < r->components; c++) {
        double sum = 0, squares = 0, least = HUGE_VAL, most = -HUGE_VAL;
        cells = 0;
        for (int64_t k = 0; k < r->n[0] * r->n[1] * r->n[2]; k++) {
            const sel_box *box = &r->request[0].box;
            const int64_t at[3] = {box->lo[0] + k % r->n[0] * box->stride[0],
                                   box->lo[1] + k / r->n[0] % r->n[1] * box->stride[1],
                                   box->lo[2] + k / r->n[0] / r->n[1] * box->stride[2]};
            if (domain->cell[sel_cell_number(&domain->grid, at)] != 0) {
                continue;
            }
            double value = v[k * r->components + c];
            sum += value;
            squares += value * value;
            least = fmin(least, value);
            most = fmax(most, value);
            cells++;
        }
        const double size = sqrt(squares * cells) + 1e-300;
        char what[96];
        const double given[] = {request->sum[c], request->sum_of_squares[c], request->min[c],
                                request->max[c]};
        const double wanted[] = {sum, squares, least, most};
        static const char *const names[] = {"sum", "sum of squares", "min", "max"};
        for (int k = 0; k < 4; k++) {
            snprintf(what, sizeof what, "%s of %s, component %d, asked of and read from %s",
                     names[k], lbm_solver.fields[r->field].name, c, who);
            compare_number(what, given[k], wanted[k], allowed, size);
        }
    }
    compare_number("the number of free cells", (double)request->count, cells, allowed, 0);
}

static void reduce_box(twins *t, int field, const sel_box *box) {
    twin_read r;
    sel_request sums[2];
    twin_read_open(t, &r, field, 0, box, NULL, 0, SEL_F64);
    for (int k = 0; k < 2; k++) {
        sums[k] = (sel_request){
            .kind = SEL_REDUCE, .field = field, .box = *box, .components = r.components};
    }
    twins_start(t, sums);
    twins_start(t, r.request);
    twins_finish(t, r.request);
    twins_finish(t, sums);
    if (!t->failed) {
        check_reduced(t, &sums[0], &r, "the first");
        memcpy(r.value[0], r.value[1],
               (size_t)(r.n[0] * r.n[1] * r.n[2] * r.components) * sizeof(double));
        check_reduced(t, &sums[1], &r, "the second");
    }
    free(r.value[0]);
    free(r.value[1]);
}

static void reduce_boxes(twins *t) {
    const sel_box boxes[] = {
        sel_grid_box(grid_of(t)), odd_box(grid_of(t)), {{5, 4, 0}, {6, 5, 1}, {1, 1, 1}}};
    settle(t, 9);
    for (size_t b = 0; b < COUNT_OF(boxes); b++) {
        for (int f = 0; f < LBM_FIELDS; f++) {
            reduce_box(t, f, &boxes[b]);
        }
    }
}

static void sums_are_those_of_the_fields(void **state) {
    (void)state;
    for_each_kind("channel", reduce_boxes);
}

/* ---- monitors ---- */

static void compare_bad_cells(const sel_request r[2]) {
    if (r[0].bad_cell != r[1].bad_cell || r[0].bad_cells != r[1].bad_cells) {
        disagree("%d and %d cells are bad, the first of them is %d and %d", (int)r[0].bad_cells,
                 (int)r[1].bad_cells, (int)r[0].bad_cell, (int)r[1].bad_cell);
    }
}

/* The field at a cell that the second backend named, on the first. */
static void compare_number_at(twins *t, const char *what, int field, int64_t cell, double value,
                              double scale) {
    double found = 0;
    sel_request read = {.kind = SEL_READ,
                        .field = field,
                        .cells = &cell,
                        .cell_count = 1,
                        .precision = SEL_F64,
                        .components = 1,
                        .to = &found};
    if (cell < 0 || cell >= sel_grid_cells(grid_of(t))) {
        disagree("%s: there is no cell %d", what, (int)cell);
    } else if (twin_worked(t, 0, "reading a cell",
                           twin_backend(t, 0)->start(t->state[0], &read, &t->error)) &&
               twin_worked(t, 0, "reading a cell",
                           twin_backend(t, 0)->finish(t->state[0], &read, &t->error))) {
        compare_number(what, value, found, twins_tolerance(t, false), scale);
    }
}

static void compare_monitor(twins *t, bool only_bad_cell) {
    sel_request r[2];
    for (int k = 0; k < 2; k++) {
        r[k] = (sel_request){.kind = SEL_MONITOR, .only_bad_cell = only_bad_cell};
    }
    twins_start(t, r);
    twins_finish(t, r);
    if (t->failed) {
        return;
    }
    const tolerance allowed = twins_tolerance(t, false);
    /* The change is a difference of velocities, relative to them. */
    compare_number("largest velocity", r[0].largest, r[1].largest, allowed, t->velocity);
    if (!only_bad_cell) {
        compare_number("change", r[0].change, r[1].change, twins_tolerance(t, true), 1);
    }
    const double density = twins_plan(t)->numbers.density_unit;
    compare_number("smallest density", r[0].smallest, r[1].smallest, allowed, density);
    compare_bad_cells(r);
    /* Of cells that are nearly alike rounding picks another. */
    compare_number_at(t, "speed in the fastest cell", LBM_SPEED, r[1].largest_cell, r[0].largest,
                      t->velocity);
    compare_number_at(t, "density in the thinnest cell", LBM_DENSITY, r[1].smallest_cell,
                      r[0].smallest, density);
}

static void monitor_now_and_then(twins *t) {
    settle(t, 3);
    compare_monitor(t, true); /* leaves the change alone */
    compare_monitor(t, false);
    twins_advance(t, 5);
    compare_monitor(t, false);
    twins_advance(t, 2);
    compare_monitor(t, true);
    twins_advance(t, 2);
    compare_monitor(t, false);
    compare_monitor(t, false); /* no change at all */
}

static void monitors_agree(void **state) {
    (void)state;
    for_each_kind("channel", monitor_now_and_then);
    for_each_kind("moving lid", monitor_now_and_then);
}

/* One cell is no number from the start; others follow, a cell further in each step. */
static void bad_cells_are_found(void **state) {
    (void)state;
    static const char *const bad =
        "initial = { velocity = three and function(x, y, z)\n"
        "  return x > 12 and x < 13 and y > 5 and y < 6 and z > 4 and z < 5 and 1e300 or 0, 0, 0\n"
        "end or function(x, y) return x > 12 and x < 13 and y > 5 and y < 6 and 1e300 or 0, 0 end "
        "}\n";
    for (int dims = 2; dims <= 3; dims++) {
        for (size_t p = 0; p < COUNT_OF(precisions); p++) {
            const flow one = {dims == 2 ? "45, 22" : "21, 10, 9",
                              flow_around_named("moving lid"),
                              "",
                              "trt",
                              precisions[p],
                              0.8,
                              false};
            char text[FLOW_ROOM];
            twins t;
            comparing("%dD %s with a bad cell", dims, precisions[p]);
            flow_script(&one, bad, text);
            twins_open(&t, text);
            t.velocity = 1;
            for (int k = 0; k < 4; k++) {
                sel_request r[2] = {{.kind = SEL_MONITOR, .only_bad_cell = true},
                                    {.kind = SEL_MONITOR, .only_bad_cell = true}};
                twins_start(&t, r);
                twins_finish(&t, r);
                if (!t.failed && r[0].bad_cell < 0) {
                    disagree("at step %d no cell is bad", k);
                }
                if (!t.failed) {
                    compare_bad_cells(r);
                }
                twins_advance(&t, 1);
            }
            twins_close(&t);
        }
    }
    assert_agreement();
}

/* ---- balances, forces, flows ---- */

static void compare_balance(twins *t) {
    sel_term terms[2][SEL_MAX_TERMS];
    sel_request r[2] = {{.kind = SEL_BALANCE, .terms = terms[0]},
                        {.kind = SEL_BALANCE, .terms = terms[1]}};
    twins_start(t, r);
    twins_finish(t, r);
    if (t->failed) {
        return;
    }
    const tolerance allowed = twins_tolerance(t, false);
    /* Terms are sums over cells, or over links, of populations as large as the velocity. */
    const double size =
        t->velocity / twins_plan(t)->numbers.velocity_unit * (double)sel_grid_cells(grid_of(t));
    if (r[0].term_count != r[1].term_count || r[0].term_count < 2) {
        disagree("%d and %d terms", r[0].term_count, r[1].term_count);
        return;
    }
    const double mass = (double)sel_grid_cells(grid_of(t));
    for (int k = 0; k < r[0].term_count; k++) {
        const bool is_error = strcmp(terms[0][k].name, "error") == 0;
        if (strcmp(terms[0][k].name, terms[1][k].name) != 0) {
            disagree("term %d is called %s and %s", k, terms[0][k].name, terms[1][k].name);
        }
        compare_number(terms[0][k].name, terms[0][k].value, terms[1][k].value, allowed,
                       is_error ? mass : size);
    }
}

static void balance_over_intervals(twins *t) {
    static const int64_t pieces[] = {1, 1, 32, 0, 40, 3};
    twins_compare_fields(t);
    compare_balance(t);
    for (size_t k = 0; k < COUNT_OF(pieces); k++) {
        twins_advance(t, pieces[k]);
        compare_balance(t);
    }
}

static void balances_agree_over_intervals(void **state) {
    (void)state;
    for_each_kind("channel", balance_over_intervals);
    for_each_kind("outflow and slip", balance_over_intervals);
    for_each_kind("wet walls", balance_over_intervals);
    for_each_kind("moving lid", balance_over_intervals);
    for_each_kind("pistons and slip that meet", balance_over_intervals);
    for_each_kind("periodic", balance_over_intervals);
    for_each_kind("many regions", balance_over_intervals);
}

static void compare_links(twins *t, int region) {
    static const char axis[] = "xyz";
    char what[64], name[32];
    const sel_domain *domain = t->side[0].domain;
    sel_request force[2], flux[2];
    for (int k = 0; k < 2; k++) {
        force[k] = (sel_request){.kind = SEL_FORCE, .region = region, .centre = {3, 7.5, 2}};
        flux[k] = (sel_request){.kind = SEL_FLUX, .region = region};
    }
    twins_start(t, force);
    twins_start(t, flux);
    twins_finish(t, flux);
    twins_finish(t, force);
    if (t->failed) {
        return;
    }
    const lbm_numbers *numbers = &twins_plan(t)->numbers;
    const tolerance allowed = twins_tolerance(t, false);
    /* At most all cells' links, each as large as the velocity, at most all rows away. */
    const double links = (double)twins_plan(t)->boundary.links.count;
    const double size = links * t->velocity / numbers->velocity_unit;
    for (int a = 0; a < 3; a++) {
        snprintf(what, sizeof what, "force_%c on %s", axis[a],
                 sel_region_name(domain, region, name));
        compare_number(what, force[0].force[a], force[1].force[a], allowed, size);
        snprintf(what, sizeof what, "torque_%c on %s", axis[a],
                 sel_region_name(domain, region, name));
        compare_number(what, force[0].torque[a], force[1].torque[a], allowed,
                       size * (double)domain->grid.n[0]);
    }
    snprintf(what, sizeof what, "flux through %s", sel_region_name(domain, region, name));
    compare_number(what, flux[0].flux, flux[1].flux, allowed, size);
}

static void links_of_all_regions(twins *t) {
    static const int64_t pieces[] = {0, 1, 32, 4};
    twins_compare_fields(t);
    for (size_t k = 0; k < COUNT_OF(pieces); k++) {
        twins_advance(t, pieces[k]);
        for (int r = 1; r <= t->side[0].domain->region_count; r++) {
            compare_links(t, r);
        }
    }
}

static void forces_and_flows_agree_from_step_0_on(void **state) {
    (void)state;
    for_each_kind("channel", links_of_all_regions);
    for_each_kind("moving lid", links_of_all_regions);
    for_each_kind("pistons and slip that meet", links_of_all_regions);
    for_each_kind("wet walls", links_of_all_regions);
    for_each_kind("a face of many laws", links_of_all_regions);
    for_each_kind("interpolated walls", links_of_all_regions);
}

/* Open faces, and walls whose values are evaluated ahead, are computed again after the other cells:
 * what is seen of them is what they were at last. */
static void look_at_observed_steps(twins *t) {
    static const int64_t pieces[] = {1, 1, 33, 2};
    twins_compare_fields(t);
    for (size_t k = 0; k < COUNT_OF(pieces); k++) {
        twins_advance(t, pieces[k]);
        twins_compare_fields(t);
        for (int r = 1; r <= t->side[0].domain->region_count; r++) {
            compare_links(t, r);
        }
    }
}

static void observed_steps_agree_where_cells_are_computed_again(void **state) {
    (void)state;
    for_each_kind("moving walls beside openings", look_at_observed_steps);
    for_each_kind("wet walls beside openings", look_at_observed_steps);
}

/* ---- several at once ---- */

/* Answers are of the state at which they were asked for, though steps follow before they are
 * fetched, in another order. */
static void many_under_way(twins *t) {
    enum { ROUNDS = 4 };
    const sel_box box = odd_box(grid_of(t));
    twin_read reads[ROUNDS][LBM_FIELDS];
    sel_request sums[ROUNDS][2];
    settle(t, 3);
    for (int round = 0; round < ROUNDS; round++) {
        for (int f = 0; f < LBM_FIELDS; f++) {
            twin_read_open(t, &reads[round][f], f, 0, &box, NULL, 0, SEL_F64);
            twins_start(t, reads[round][f].request);
        }
        for (int k = 0; k < 2; k++) {
            sums[round][k] = (sel_request){.kind = SEL_REDUCE, .field = LBM_VELOCITY, .box = box};
        }
        twins_start(t, sums[round]);
        twins_advance(t, 10 + 33 * round);
    }
    for (int round = ROUNDS - 1; round >= 0; round--) {
        twins_finish(t, sums[round]);
        if (!t->failed) {
            compare_number("a sum asked for before other steps", sums[round][0].sum_of_squares[0],
                           sums[round][1].sum_of_squares[0], twins_tolerance(t, false),
                           t->velocity * t->velocity * (double)sums[round][0].count);
        }
        for (int f = 0; f < LBM_FIELDS; f++) {
            twins_finish(t, reads[round][f].request);
            twin_read_compare(t, &reads[round][f]);
        }
    }
}

static void answers_are_of_the_state_that_was_asked(void **state) {
    (void)state;
    for_each_kind("channel", many_under_way);
}

/* Fields pass to the host in pieces of 64 MiB: here some more than two, whole, with a stride, and
 * as a list, two of them at once while steps go on. */
static void fields_of_many_pieces_arrive_whole(void **state) {
    (void)state;
    const flow one = {comparison.is_short ? "101, 51" : "2101, 1511",
                      flow_around_named("channel"),
                      "",
                      "trt",
                      "f32",
                      0.6,
                      false};
    char text[FLOW_ROOM];
    twins t;
    twin_read whole, strided, listed;
    comparing("a large flow, %s", one.size);
    flow_script(&one, NULL, text);
    twins_open(&t, text);
    if (!t.failed) {
        sel_box box = sel_grid_box(grid_of(&t));
        const int64_t count = sel_grid_cells(grid_of(&t));
        int64_t *cells = malloc((size_t)count * sizeof *cells);
        for (int64_t k = 0; k < count; k++) {
            cells[k] = count - 1 - k;
        }
        twins_advance(&t, 2);
        twin_read_open(&t, &whole, LBM_STRESS, 6, &box, NULL, 0, SEL_F64);
        twins_start(&t, whole.request);
        twin_read_open(&t, &listed, LBM_PRESSURE, 6, &box, cells, count, SEL_F64);
        twins_start(&t, listed.request);
        twins_advance(&t, 2);
        box.stride[0] = 2;
        twin_read_open(&t, &strided, LBM_VELOCITY, 6, &box, NULL, 0, SEL_F64);
        twins_start(&t, strided.request);
        twins_advance(&t, 1);
        twins_finish(&t, listed.request);
        twins_finish(&t, whole.request);
        twins_finish(&t, strided.request);
        twin_read_compare(&t, &whole);
        twin_read_compare(&t, &listed);
        twin_read_compare(&t, &strided);
        free(cells);
    }
    twins_close(&t);
    assert_agreement();
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read_from_boxes_with_strides),
        cmocka_unit_test(fields_are_padded_with_zeros),
        cmocka_unit_test(every_field_is_read_from_lists_of_cells),
        cmocka_unit_test(fields_agree_from_step_0_on),
        cmocka_unit_test(sums_are_those_of_the_fields),
        cmocka_unit_test(monitors_agree),
        cmocka_unit_test(bad_cells_are_found),
        cmocka_unit_test(balances_agree_over_intervals),
        cmocka_unit_test(forces_and_flows_agree_from_step_0_on),
        cmocka_unit_test(observed_steps_agree_where_cells_are_computed_again),
        cmocka_unit_test(answers_are_of_the_state_that_was_asked),
        cmocka_unit_test(fields_of_many_pieces_arrive_whole),
    };
    if (!comparison_begins(argc, argv, "test_cuda_requests")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
