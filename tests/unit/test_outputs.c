/* test_outputs.c -- when outputs write, what their CSV files hold, which mistakes are told. */
#include "tests/unit/output_case.h"

static const char *one_pressure[] = {"pressure"};
static const char *one_velocity[] = {"velocity"};

static sel_reduce_params *add_reduce(output_case *c, const char *name) {
    sel_reduce_params *reduce = case_add(c, &sel_out_reduce_table);
    reduce->common.name = name;
    reduce->field = case_names(one_pressure, 1);
    reduce->op = SEL_OF_MAX;
    return reduce;
}

static sel_probe_params *add_probe(output_case *c, const char **fields, int n, sel_point *points,
                                   int count) {
    sel_probe_params *probe = case_add(c, &sel_out_probe_table);
    probe->field = case_names(fields, n);
    probe->at = (sel_points){count, points};
    return probe;
}

/* ---- when ---- */

static void csv_files_are_written_every_100_steps_and_at_the_end(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "r");
    assert_int_equal(case_run(&c, 250), SEL_OK);
    assert_steps(&c, "r.csv", "100 200 250");
    case_close(&c);
}

static void every_counts_from_step_zero_and_the_end_is_written_once(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "three")->common.every = 3;
    add_reduce(&c, "four")->common.every = 4;
    add_reduce(&c, "never")->common.every = INT64_MAX;
    assert_int_equal(case_run(&c, 9), SEL_OK);
    assert_steps(&c, "three.csv", "0 3 6 9");
    assert_steps(&c, "four.csv", "0 4 8 9");
    assert_steps(&c, "never.csv", "0 9");
    case_close(&c);
}

static void at_the_end_a_row_is_written_once(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "r")->common.at = SEL_OUTPUT_AT_END;
    ((sel_balance_params *)case_add(&c, &sel_out_balance_table))->common.at = SEL_OUTPUT_AT_END;
    assert_int_equal(case_run(&c, 250), SEL_OK);
    assert_steps(&c, "r.csv", "250");
    assert_steps(&c, "balance.csv", "250");
    case_close(&c);
}

static void interval_takes_the_first_step_at_or_after_its_multiples(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1); /* dt = 0.25 */
    add_reduce(&c, "coarse")->common.interval = 0.6;
    add_reduce(&c, "exact")->common.interval = 0.75;
    add_reduce(&c, "fine")->common.interval = 0.1;
    add_reduce(&c, "long")->common.interval = 1e300;
    assert_int_equal(case_run(&c, 12), SEL_OK);
    assert_steps(&c, "coarse.csv", "0 3 5 8 10 12");
    assert_steps(&c, "exact.csv", "0 3 6 9 12");
    assert_steps(&c, "fine.csv", "0 1 2 3 4 5 6 7 8 9 10 11 12");
    assert_steps(&c, "long.csv", "0 12");
    case_close(&c);
}

static void interval_is_not_late_by_round_off(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.domain.grid.dt = 0.1;
    add_reduce(&c, "r")->common.interval = 0.7;
    assert_int_equal(case_begin(&c), SEL_OK);
    for (int64_t k = 0, step = -1; k < 100000; k++) {
        step = sel_outputs_next(c.opened, step);
        assert_int_equal(step, 7 * k);
    }
    case_close(&c);
}

static void nothing_but_the_end_is_written_before_its_start(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_reduce_params *r = add_reduce(&c, "step");
    r->common.every = 3;
    r->common.from_step = 5;
    r = add_reduce(&c, "time");
    r->common.every = 2;
    r->common.from_time = 1.5; /* step 6 */
    r = add_reduce(&c, "interval");
    r->common.interval = 0.6;
    r->common.from_time = 1.25; /* step 5, which is the first after 2 * 0.6 */
    add_reduce(&c, "late")->common.from_step = 1000;
    assert_int_equal(case_run(&c, 10), SEL_OK);
    assert_steps(&c, "step.csv", "6 9 10");
    assert_steps(&c, "time.csv", "6 8 10");
    assert_steps(&c, "interval.csv", "5 8 10");
    assert_steps(&c, "late.csv", "10");
    case_close(&c);
}

static void next_is_the_nearest_of_all_outputs(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(sel_outputs_next(c.opened, 0), INT64_MAX);
    assert_listed(&c, "");
    case_close(&c);

    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "a")->common.every = 30;
    add_reduce(&c, "b")->common.every = 20;
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(sel_outputs_next(c.opened, -1), 0);
    assert_int_equal(sel_outputs_next(c.opened, 0), 20);
    assert_int_equal(sel_outputs_next(c.opened, 20), 30);
    assert_listed(&c, "\"a.csv\", \"b.csv\"");
    case_close(&c);
}

/* ---- what ---- */

static void probe_interpolates_between_centres(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_point points[] = {{2, {1.25, 2.25, 0}}, {2, {2, 3, 0}}};
    const char *fields[] = {"velocity_y", "pressure", "velocity_x"};
    add_probe(&c, fields, 3, points, 2)->common.every = 1;
    assert_int_equal(case_run(&c, 1), SEL_OK);
    assert_file(&c, "probe.csv",
                "step,time,velocity_y_1,pressure_1,velocity_x_1,"
                "velocity_y_2,pressure_2,velocity_x_2\n"
                "0,0,-2.25,12.5,-3.25,-3,20,-4\n"
                "1,0.25,-1.25,13.5,-2.25,-2,21,-3\n");
    case_close(&c);
}

static void a_single_probe_point_has_no_number(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_point point = {2, {1.5, 2.5, 0}};
    add_probe(&c, one_velocity, 1, &point, 1);
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_file(&c, "probe.csv", "step,time,velocity_x,velocity_y\n0,0,-3.5,-2.5\n");
    case_close(&c);
}

/* Cells (1, 0) and (1, 1) are solid: x in [1.5, 2], y in [2, 3]. */
static void probe_leaves_solids_out(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[1] = c.domain.cell[5] = 1;
    sel_point points[] = {
        {2, {1.45, 2.25, 0}}, /* beside it: the free centre at x = 1.25 alone */
        {2, {1.5, 2.25, 0}},  /* on its face */
        {2, {1.75, 3.1, 0}},  /* above it: the free centre at y = 3.25 alone */
        {2, {1.45, 3.1, 0}},  /* at its corner: three centres of four */
    };
    add_probe(&c, one_pressure, 1, points, 4);
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_true(case_number(&c, "probe.csv", 1, 2) == 12.5);
    assert_true(case_number(&c, "probe.csv", 1, 3) == 12.5);
    assert_true(case_number(&c, "probe.csv", 1, 4) == 17.5);
    double x = 0.4, y = 0.7, left = 12.5, right = 17.5;
    double corner = ((1 - x) * left + x * y * right) / (1 - x + x * y);
    assert_true(fabs(case_number(&c, "probe.csv", 1, 5) - corner) < 1e-12);
    case_close(&c);
}

static void probe_keeps_the_last_centre_or_wraps_at_the_border(void **state) {
    (void)state;
    sel_point points[] = {{2, {1, 3.5, 0}}, {2, {3, 2.1, 0}}};
    for (int periodic = 0; periodic <= 1; periodic++) {
        output_case c;
        case_open(&c, 2, 4, 3, 1);
        c.domain.grid.periodic = (unsigned)periodic;
        add_probe(&c, one_pressure, 1, points, 2);
        assert_int_equal(case_run(&c, 0), SEL_OK);
        double left = periodic ? (12.5 + 27.5) / 2 : 12.5;
        double right = periodic ? (12.5 + 27.5) / 2 : 27.5;
        assert_true(case_number(&c, "probe.csv", 1, 2) == left);
        assert_true(case_number(&c, "probe.csv", 1, 3) == right);
        case_close(&c);
    }
}

static void profile_samples_midpoints_once_per_cell(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(one_pressure, 1);
    profile->from = (sel_point){2, {1, 2.25, 0}};
    profile->to = (sel_point){2, {3, 2.25, 0}};
    profile->common.every = 1;
    assert_int_equal(case_run(&c, 1), SEL_OK);
    assert_file(&c, "profile.csv",
                "step,time,s,x,y,z,pressure\n"
                "0,0,0.25,1.25,2.25,0,12.5\n0,0,0.75,1.75,2.25,0,17.5\n"
                "0,0,1.25,2.25,2.25,0,22.5\n0,0,1.75,2.75,2.25,0,27.5\n"
                "1,0.25,0.25,1.25,2.25,0,13.5\n1,0.25,0.75,1.75,2.25,0,18.5\n"
                "1,0.25,1.25,2.25,2.25,0,23.5\n1,0.25,1.75,2.75,2.25,0,28.5\n");
    case_close(&c);
}

/* Around a block of one cell, at its corners, too; and inside of a face. */
static void wall_lists_the_free_cells_beside_a_region(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    memset(c.domain.cell, 0, 12);
    c.domain.cell[0] = 1;
    sel_wall_params *wall = case_add(&c, &sel_out_wall_table);
    wall->region = "block";
    wall->field = case_names(one_pressure, 1);
    wall->common.every = 1;
    assert_int_equal(case_run(&c, 0), SEL_OK);
    assert_file(&c, "wall.csv",
                "step,time,x,y,z,pressure\n0,0,1.75,2.25,0,17.5\n"
                "0,0,1.25,2.75,0,12.5\n0,0,1.75,2.75,0,17.5\n");
    case_close(&c);
}

/* From the floor at y = 2 to the ceiling at y = 3.5 through x = 1.75, 24 samples of 1/16. */
static void profile_ends_at_the_value_of_the_wall(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    memset(c.domain.face[SEL_Y_MAX], 1, 4); /* a region that fixes nothing */
    const char *fields[] = {"velocity", "pressure"};
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(fields, 2);
    profile->from = (sel_point){2, {1.75, 2, 0}};
    profile->to = (sel_point){2, {1.75, 3.5, 0}};
    profile->points = 24;
    assert_int_equal(case_run(&c, 2), SEL_OK);
    double first[] = {1 + 3.5 - 3 * 2.25 + 2, 2 + 3.5 - 3 * 2.25 + 2}; /* of the last centre */
    double wall[] = {7 * 0.5, 8};
    for (int k = 0; k < 24; k++) {
        double y = 2 + (k + 0.5) / 16;
        for (int a = 0; a < 2; a++) {
            double expected = y < 2.25   ? wall[a] + (first[a] - wall[a]) * (y - 2) / 0.25
                              : y > 3.25 ? (a + 1) + 3.5 - 3 * 3.25 + 2
                                         : (a + 1) + 3.5 - 3 * y + 2;
            assert_true(fabs(case_number(&c, "profile.csv", k + 1, 6 + a) - expected) < 1e-12);
        }
        assert_true(case_number(&c, "profile.csv", k + 1, 8) == 19.5);
    }
    case_close(&c);
}

static void balance_has_a_column_and_a_result_for_each_term(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_balance_params *balance = case_add(&c, &sel_out_balance_table);
    balance->common.every = 2;
    assert_int_equal(case_run(&c, 3), SEL_OK);
    assert_true(c.plan.wants_balance);
    assert_file(&c, "balance.csv",
                "step,time,mass,\"out_a, b\"\n0,0,100,0.1\n"
                "2,0.5,102,0.1\n3,0.75,103,0.1\n");
    assert_string_equal(c.results.v[0].name, "balance.mass");
    assert_true(c.results.v[0].value == 103);
    case_close(&c);
}

/* ---- under way ---- */

static void rows_are_written_when_what_was_asked_for_is_taken(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_point point = {2, {1.25, 2.25, 0}};
    add_probe(&c, one_pressure, 1, &point, 1)->common.every = 1;
    add_reduce(&c, "r")->common.every = 1;
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(case_start_outputs(&c, 0, false), SEL_OK);
    assert_int_equal(c.state.pending, 2);
    assert_steps(&c, "probe.csv", "");
    c.state.step = 1; /* the run has gone on; the next start takes what was asked at step 0 */
    assert_int_equal(case_start_outputs(&c, 1, false), SEL_OK);
    assert_int_equal(c.state.pending, 2);
    assert_steps(&c, "probe.csv", "0");
    assert_true(case_number(&c, "probe.csv", 1, 2) == 12.5);
    assert_int_equal(sel_outputs_finish(c.opened, &c.error), SEL_OK);
    assert_int_equal(sel_outputs_finish(c.opened, &c.error), SEL_OK); /* nothing is left */
    assert_steps(&c, "probe.csv", "0 1");
    assert_steps(&c, "r.csv", "0 1");
    assert_true(case_number(&c, "probe.csv", 2, 2) == 13.5);
    case_close(&c);
}

/* The backend may still write to the places that requests name. */
static void closing_waits_for_what_is_under_way(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "r");
    sel_vtk_params *vtk = case_add(&c, &sel_out_vtk_table);
    vtk->fields = case_names(one_pressure, 1);
    sel_picture_params *picture = case_add(&c, &sel_out_picture_table);
    picture->field = "pressure";
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(case_start_outputs(&c, 5, true), SEL_OK);
    assert_int_equal(c.state.pending, 3);
    sel_outputs_close(c.opened);
    c.opened = NULL;
    assert_int_equal(c.state.pending, 0);
    case_close(&c);
}

static void a_request_that_cannot_start_leaves_none_of_its_output(void **state) {
    (void)state;
    static const char *two[] = {"pressure", "velocity"};
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "r")->field = case_names(two, 2);
    assert_int_equal(case_begin(&c), SEL_OK);
    c.state.pending = CASE_REQUESTS - 1; /* others' */
    assert_int_equal(case_start_outputs(&c, 0, true), SEL_NO_DEVICE);
    assert_string_equal(c.error.text, "too many requests under way");
    assert_int_equal(c.state.pending, CASE_REQUESTS - 1);
    assert_int_equal(sel_outputs_finish(c.opened, &c.error), SEL_OK);
    assert_steps(&c, "r.csv", "");
    case_close(&c);
}

/* ---- failures ---- */

static void full_disk_leaves_whole_lines(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 40, 3, 1);
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(one_pressure, 1);
    profile->from = (sel_point){2, {1, 2.25, 0}};
    profile->to = (sel_point){2, {21, 2.25, 0}};
    assert_int_equal(case_begin(&c), SEL_OK);
    assert_int_equal(case_write(&c, 0, true), SEL_OK);
    char *before = case_file(&c, "profile.csv", NULL);
    limit_files(strlen(before) + 500);
    sel_status status = case_write(&c, 1, true);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, SEL_BAD_FILE);
    assert_non_null(strstr(c.error.text, "/profile.csv: File too large"));
    assert_file(&c, "profile.csv", before);
    assert_int_equal(case_write(&c, 1, true), SEL_OK); /* there is room again: no gap, no hole */
    char *after = case_file(&c, "profile.csv", NULL);
    assert_int_equal(strncmp(before, after, strlen(before)), 0);
    assert_int_equal(strncmp(after + strlen(before), "1,0.25,0.25,", 12), 0);
    free(before);
    free(after);
    case_close(&c);
}

static void missing_directory_is_a_bad_file(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "r");
    rmdir(c.directory);
    assert_int_equal(case_begin(&c), SEL_BAD_FILE);
    assert_non_null(strstr(c.error.text, "/r.csv: No such file or directory"));
    assert_int_equal(mkdir(c.directory, 0700), 0);
    case_close(&c);
}

static void assert_mistakes(output_case *c, const char *expected) {
    assert_int_equal(case_check(c), SEL_BAD_SCENARIO);
    assert_string_equal(c->error.text, expected);
    case_close(c);
}

static void unknown_and_repeated_fields_are_told_together(void **state) {
    (void)state;
    output_case c;
    const char *fields[] = {"velocty", "pressure", "velocity_z", "pressure"};
    sel_point point = {2, {2, 3, 0}};
    case_open(&c, 2, 4, 3, 1);
    add_probe(&c, fields, 4, &point, 1);
    add_reduce(&c, "r")->field = case_names(fields, 0);
    assert_mistakes(&c, "test.lua:10: out.probe: sel.fake has no field 'velocty'; did you mean "
                        "'velocity'? (it has velocity, pressure, stress, vorticity)\n"
                        "test.lua:10: out.probe: sel.fake has no field 'velocity_z'; did you mean "
                        "'velocity'? (it has velocity, pressure, stress, vorticity)\n"
                        "test.lua:10: out.probe: field 'pressure' is listed twice\n"
                        "test.lua:20: out.reduce: the list of fields is empty");
}

static void names_that_cannot_be_files_are_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "a/b");
    add_reduce(&c, "");
    add_reduce(&c, "..");
    add_reduce(&c, "r");
    add_reduce(&c, "r");
    add_reduce(&c, NULL);
    add_reduce(&c, "reduce");
    assert_mistakes(
        &c,
        "test.lua:10: out.reduce: the name 'a/b' would leave the run's directory or hide in it: no "
        "'/', '\\' or leading '.'\n"
        "test.lua:20: out.reduce: the name '' is empty\n"
        "test.lua:30: out.reduce: the name '..' would leave the run's directory or hide in it: no "
        "'/', '\\' or leading '.'\n"
        "test.lua:50: out.reduce: two outputs are called 'r' (the first at test.lua:40); give each "
        "a name of its own\n"
        "test.lua:70: out.reduce: two outputs are called 'reduce' (the first at test.lua:60); give "
        "each a name of its own");
}

static void names_of_other_files_of_the_run_are_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    add_reduce(&c, "run.json");
    add_reduce(&c, "checkpoint.sel");
    add_reduce(&c, "r.pvd");
    add_reduce(&c, "r");
    add_reduce(&c, "r.csv");
    add_reduce(&c, "r.csw");
    assert_mistakes(
        &c,
        "test.lua:10: out.reduce: the name 'run.json' is that of a file of the run; choose "
        "another\n"
        "test.lua:20: out.reduce: the name 'checkpoint.sel' is that of a file of the run; choose "
        "another\n"
        "test.lua:40: out.reduce: the files of outputs called 'r.pvd' and 'r' may have one name "
        "(the first at test.lua:30); leave the ending to the outputs\n"
        "test.lua:50: out.reduce: the files of outputs called 'r' and 'r.csv' may have one name "
        "(the first at test.lua:40); leave the ending to the outputs");
}

static void impossible_schedules_are_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_reduce_params *r = add_reduce(&c, "a");
    r->common.every = 2;
    r->common.interval = 1;
    add_reduce(&c, "b")->common.every = 0;
    add_reduce(&c, "c")->common.interval = -1;
    add_reduce(&c, "d")->common.from_step = -1;
    assert_mistakes(&c, "test.lua:10: out.reduce: give every (steps) or interval (time), not both\n"
                        "test.lua:20: out.reduce: every must be at least 1 step, got 0\n"
                        "test.lua:30: out.reduce: interval must be positive, got -1\n"
                        "test.lua:40: out.reduce: from_step and from_time must not be negative");
}

static void points_must_lie_in_the_domain(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    sel_point points[] = {{3, {2, 3, 1}}, {2, {2, 3.51, 0}}, {2, {1, 2, 0}}};
    add_probe(&c, one_pressure, 1, points, 3);
    sel_profile_params *profile = case_add(&c, &sel_out_profile_table);
    profile->field = case_names(one_pressure, 1);
    profile->from = profile->to = points[2];
    assert_mistakes(&c, "test.lua:10: out.probe: at[1] has 3 coordinates, the domain has 2 "
                        "dimensions\n"
                        "test.lua:10: out.probe: at[2] lies outside the domain: y = 3.51, the "
                        "domain is [1, 3] x [2, 3.5]\n"
                        "test.lua:20: out.profile: from and to are the same point");
}

static void boxes_must_hold_free_cells(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    c.domain.cell[0] = 1;
    sel_shape_box thin = {{2, {1.3, 2, 0}}, {2, {1.6, 3, 0}}};
    sel_shape_box corner = {{2, {1, 2, 0}}, {2, {1.5, 2.5, 0}}};
    sel_shape empty = {.kind = SEL_SHAPE_BOX, .data = &thin};
    sel_shape solid = {.kind = SEL_SHAPE_BOX, .data = &corner};
    sel_shape ball = {.kind = SEL_SHAPE_BALL};
    add_reduce(&c, "a")->within = &empty;
    add_reduce(&c, "b")->within = &solid;
    add_reduce(&c, "c")->within = &ball;
    assert_mistakes(&c, "test.lua:10: out.reduce: no cell centre lies within the box\n"
                        "test.lua:20: out.reduce: all cells of the box are solid\n"
                        "test.lua:30: out.reduce: within must be a shape.box");
}

static void a_second_balance_is_refused(void **state) {
    (void)state;
    output_case c;
    case_open(&c, 2, 4, 3, 1);
    case_add(&c, &sel_out_balance_table);
    sel_balance_params *second = case_add(&c, &sel_out_balance_table);
    second->common.name = "again";
    assert_mistakes(&c, "test.lua:20: out.balance: given twice; a run has one balance");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_files_are_written_every_100_steps_and_at_the_end),
        cmocka_unit_test(every_counts_from_step_zero_and_the_end_is_written_once),
        cmocka_unit_test(at_the_end_a_row_is_written_once),
        cmocka_unit_test(interval_takes_the_first_step_at_or_after_its_multiples),
        cmocka_unit_test(interval_is_not_late_by_round_off),
        cmocka_unit_test(nothing_but_the_end_is_written_before_its_start),
        cmocka_unit_test(next_is_the_nearest_of_all_outputs),
        cmocka_unit_test(probe_interpolates_between_centres),
        cmocka_unit_test(a_single_probe_point_has_no_number),
        cmocka_unit_test(probe_leaves_solids_out),
        cmocka_unit_test(probe_keeps_the_last_centre_or_wraps_at_the_border),
        cmocka_unit_test(profile_samples_midpoints_once_per_cell),
        cmocka_unit_test(wall_lists_the_free_cells_beside_a_region),
        cmocka_unit_test(profile_ends_at_the_value_of_the_wall),
        cmocka_unit_test(balance_has_a_column_and_a_result_for_each_term),
        cmocka_unit_test(rows_are_written_when_what_was_asked_for_is_taken),
        cmocka_unit_test(closing_waits_for_what_is_under_way),
        cmocka_unit_test(a_request_that_cannot_start_leaves_none_of_its_output),
        cmocka_unit_test(full_disk_leaves_whole_lines),
        cmocka_unit_test(missing_directory_is_a_bad_file),
        cmocka_unit_test(unknown_and_repeated_fields_are_told_together),
        cmocka_unit_test(names_that_cannot_be_files_are_refused),
        cmocka_unit_test(names_of_other_files_of_the_run_are_refused),
        cmocka_unit_test(impossible_schedules_are_refused),
        cmocka_unit_test(points_must_lie_in_the_domain),
        cmocka_unit_test(boxes_must_hold_free_cells),
        cmocka_unit_test(a_second_balance_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
