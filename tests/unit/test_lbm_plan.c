/* test_lbm_plan.c -- numbers in lattice units, what is refused, what `check` tells. */
#include "engine/run/prepare.h"
#include "tests/unit/lbm_case.h"

static void closed_box(lbm_case *c) {
    case_begin(c, 8, 6, 0.8);
    case_wall(c, sel_shape_make(c->arena, SEL_SHAPE_FACES, NULL));
}

static void test_numbers_are_resolved_to_lattice_units(void **unused) {
    (void)unused;
    lbm_case c;
    closed_box(&c);
    c.params.tau = nan("");
    c.params.nu = 3e-6;
    c.params.common.dx = 1e-3;
    c.params.common.dt = 0.05;
    c.params.density = 800;
    c.params.magic = 0.25;
    c.params.acceleration = sel_constant2(0.1, -0.2);
    case_must_plan(&c);
    const lbm_numbers *n = &((lbm_plan *)c.plan)->numbers;
    assert_true(fabs(n->nu - 0.15) < 1e-15 && fabs(n->tau - 0.95) < 1e-15);
    assert_true(fabs(1 / n->omega_even - 0.95) < 1e-15);
    assert_true(fabs((1 / n->omega_odd - 0.5) * (n->tau - 0.5) - 0.25) < 1e-15);
    assert_true(fabs(n->velocity_unit - 0.02) < 1e-17);
    assert_true(fabs(n->pressure_unit - 800 * 0.02 * 0.02 / 3) < 1e-14);
    assert_true(fabs(n->acceleration[0] - 0.1 * 0.05 * 0.05 / 1e-3) < 1e-15);
    assert_true(fabs(n->acceleration[1] + 0.2 * 0.05 * 0.05 / 1e-3) < 1e-15);
    case_end(&c);
    closed_box(&c);
    c.params.collision = LBM_BGK;
    case_must_plan(&c);
    n = &((lbm_plan *)c.plan)->numbers;
    assert_true(n->omega_odd == n->omega_even);
    case_end(&c);
}

static void test_tau_of_one_half_is_refused(void **unused) {
    (void)unused;
    lbm_case c;
    closed_box(&c);
    c.params.tau = 0.5;
    c.params.common.at = (sel_where){"flow.lua", 3};
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text,
                        "flow.lua:3: tau = 0.5 (viscosity 0 in lattice units) must be above 0.5; "
                        "increase the viscosity, or dt/dx^2");
    case_end(&c);
}

static void test_table_refuses_what_only_the_whole_shows(void **unused) {
    (void)unused;
    const sel_where here = {"flow.lua", 3};
    lbm_case c;
    closed_box(&c);
    assert_int_equal(lbm_table.check(&c.params, here, &c.error), SEL_OK);
    c.params.nu = 0.1;
    assert_int_equal(lbm_table.check(&c.params, here, &c.error), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, "flow.lua:3: sel.lbm: give only one of nu or tau");
    c.params.nu = c.params.tau = nan("");
    c.params.common.size.n = 3;
    c.error.text[0] = '\0';
    assert_int_equal(lbm_table.check(&c.params, here, &c.error), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text,
                        "flow.lua:3: sel.lbm: give one of nu or tau\n"
                        "flow.lua:3: sel.lbm: lattice D2Q9 needs a size of 2 numbers, got 3; set "
                        "lattice = \"D3Q19\", or size = { nx, ny }");
    case_end(&c);
}

/* From C no table is checked before. */
static void test_plan_refuses_a_lattice_of_other_dimensions(void **unused) {
    (void)unused;
    lbm_case c;
    closed_box(&c);
    c.params.lattice = LBM_D3Q19;
    c.params.common.at = (sel_where){"flow.lua", 3};
    assert_int_equal(case_plan(&c), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text,
                        "flow.lua:3: sel.lbm: lattice D3Q19 needs a size of 3 numbers, got 2; set "
                        "lattice = \"D2Q9\", or size = { nx, ny, nz }");
    case_end(&c);
}

static void test_lattices_have_their_names_and_bytes(void **unused) {
    (void)unused;
    static const double update[LBM_LATTICES] = {2 * 9 * 8, 2 * 19 * 8};
    static const double cell[LBM_LATTICES] = {(2 * 9 + 2) * 4, (2 * 19 + 3) * 4};
    for (int l = 0; l < LBM_LATTICES; l++) {
        lbm_case c;
        case_begin_size(&c, (sel_ints){2 + l, {6, 5, 4}}, 0.8);
        case_wall(&c, case_faces(&c));
        assert_int_equal(case_plan(&c), SEL_OK);
        assert_int_equal(c.params.lattice, l);
        assert_string_equal(lbm_lattice_names[l], lbm_lattices[l].name);
        assert_true(lbm_solver.bytes(&c.params.common, SEL_F64).update == update[l]);
        assert_true(lbm_solver.bytes(&c.params.common, SEL_F32).state == cell[l]);
        case_end(&c);
    }
    assert_null(lbm_lattice_names[LBM_LATTICES]);
}

static const sel_fact *find(const sel_facts *facts, const char *name) {
    for (int k = 0; k < facts->count; k++) {
        if (strcmp(facts->v[k].name, name) == 0) {
            return &facts->v[k];
        }
    }
    fail_msg("no fact '%s'", name);
    return NULL;
}

/* Rises from rest to 0.3 within 100 steps. */
static void ramp(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)y;
    (void)data;
    value[0] = 0.3 * fmin(1, t / 100);
    value[1] = 0;
}

static void test_facts_see_laws_that_start_from_rest(void **unused) {
    (void)unused;
    sel_facts facts = {.count = 0};
    lbm_case c;
    case_begin(&c, 8, 6, 0.53);
    c.params.common.stop.steps = 1000;
    c.params.common.reference = (sel_reference){.length = 6, .velocity = 0.1, .area = nan("")};
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table,
                case_of(&c, SEL_ON_T, 2, ramp, NULL));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
    assert_int_equal(case_plan(&c), SEL_OK);
    lbm_facts(c.plan, &facts);
    assert_string_equal(find(&facts, "tau")->text, "0.53");
    assert_string_equal(find(&facts, "Mach number")->text, "0.52 (velocity 0.3 in lattice units)");
    assert_string_equal(find(&facts, "Reynolds number of a cell")->text, "30");
    assert_string_equal(find(&facts, "Reynolds number")->text, "60");
    assert_string_equal(find(&facts, "flow-through time")->text, "80 (80 steps)");
    assert_string_equal(find(&facts, "faces x")->text,
                        "7 apart: they lie at the centres of the first cells");
    sel_error warnings = {.status = SEL_OK};
    lbm_warn(c.plan, &warnings);
    assert_string_equal(warnings.text,
                        "Mach number 0.52: the velocity, 0.3 in lattice units, should stay below "
                        "0.1 (errors grow as Mach^2); reduce dt (at 0.1 tau is 0.51)\n"
                        "Reynolds number of a cell 30: above 5 flows may be unstable with "
                        "collision = \"trt\"; use more cells (48 x 36 would do), or a larger "
                        "viscosity");
    case_end(&c);
}

/* Fluid passes no wall, whatever its scheme: the flow goes along the longest axis. */
static void test_fluid_does_not_flow_through_walls(void **unused) {
    (void)unused;
    sel_facts facts = {.count = 0};
    lbm_case c;
    case_begin(&c, 30, 6, 0.8);
    c.params.common.periodic = 1;
    c.params.common.reference = (sel_reference){.length = 6, .velocity = 0.1, .area = nan("")};
    case_wet_wall(&c, SEL_Y_MIN, (sel_quantity){0});
    case_wet_wall(&c, SEL_Y_MAX, sel_constant2(0.1, 0));
    assert_int_equal(case_plan(&c), SEL_OK);
    lbm_facts(c.plan, &facts);
    assert_string_equal(find(&facts, "flow-through time")->text, "300 (300 steps)");
    assert_string_equal(find(&facts, "faces y")->text,
                        "5 apart: they lie at the centres of the first cells");
    case_end(&c);
}

static void test_tau_is_told_from_one_half(void **unused) {
    (void)unused;
    static const double given[] = {0.5000003, 0.5 + 0x1p-53, 0.53, 2};
    static const char *const told[] = {"0.5000003", "0.5000000000000001", "0.53", "2"};
    for (int k = 0; k < 4; k++) {
        lbm_case c;
        sel_facts facts = {.count = 0};
        case_begin(&c, 8, 6, given[k]);
        case_wall(&c, case_faces(&c));
        case_must_plan(&c);
        lbm_facts(c.plan, &facts);
        assert_string_equal(find(&facts, "tau")->text, told[k]);
        case_end(&c);
    }
}

static void test_facts_know_three_axes(void **unused) {
    (void)unused;
    sel_facts facts = {.count = 0};
    lbm_case c;
    case_begin3(&c, 8, 6, 5, 0.8);
    c.params.acceleration = sel_constant3(1e-3, 2e-3, -3e-3);
    case_wall(&c, case_faces(&c));
    case_region(&c, case_face(&c, SEL_Z_MIN), &lbm_velocity_table, sel_constant3(0, 0.03, 0.04));
    case_region(&c, case_face(&c, SEL_Z_MAX), &lbm_pressure_table, sel_constant(0));
    assert_int_equal(case_plan(&c), SEL_OK);
    assert_true(((lbm_plan *)c.plan)->numbers.acceleration[2] == -3e-3);
    lbm_facts(c.plan, &facts);
    assert_string_equal(find(&facts, "collision")->text, "trt on D3Q19, populations are stored");
    assert_string_equal(find(&facts, "faces z")->text,
                        "4 apart: they lie at the centres of the first cells");
    assert_string_equal(find(&facts, "Mach number")->text,
                        "0.0866 (velocity 0.05 in lattice units)");
    case_end(&c);
}

/* What is warned of in a channel from x- to x+ whose ends are given velocities. */
static void assert_channel_warns(sel_quantity left, sel_quantity right, const char *expected) {
    lbm_case c;
    case_begin(&c, 8, 6, 0.8);
    c.params.common.stop.steps = 1000;
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, left);
    if (sel_quantity_given(&right)) {
        case_region(&c, case_face(&c, SEL_X_MAX), &lbm_velocity_table, right);
    } else {
        case_wall(&c, case_face(&c, SEL_X_MAX));
    }
    case_must_plan(&c);
    sel_error warnings = {.status = SEL_OK};
    lbm_warn(c.plan, &warnings);
    assert_string_equal(warnings.status ? warnings.text : "", expected);
    case_end(&c);
}

/* Whole periods fit between many of the steps at which a law might be looked at. */
static void to_and_fro(double x, double y, double t, const void *data, double value[2]) {
    (void)x;
    (void)y;
    (void)data;
    value[0] = 0.05 * cos(2 * pi * t * 16 / 1000);
    value[1] = 0;
}

/* Whether `check` warns of a box with a stream of 0.05 in at x-, in words that contain `expected`;
 * NULL: it does not. */
static void assert_box_warns(sel_quantity right, const char *expected) {
    lbm_case c;
    case_begin(&c, 8, 6, 0.8);
    c.params.common.stop.steps = 1000;
    case_walls(&c, SEL_Y_MIN, SEL_Y_MAX);
    case_region(&c, case_face(&c, SEL_X_MIN), &lbm_velocity_table, sel_constant2(0.05, 0));
    case_region(&c, case_face(&c, SEL_X_MAX), &lbm_wall_table, right);
    case_must_plan(&c);
    sel_error warnings = {.status = SEL_OK};
    lbm_warn(c.plan, &warnings);
    assert_true(expected ? strstr(warnings.text, expected) != NULL : warnings.status == SEL_OK);
    case_end(&c);
}

/* A half-way wall that moves away from the fluid takes mass; one that moves along itself does not.
 */
static void test_walls_may_take_the_mass_that_enters(void **unused) {
    (void)unused;
    assert_box_warns(sel_constant2(0, 0.05), "fluid enters at 'region_3' and can leave nowhere");
    assert_box_warns(sel_constant2(0.05, 0), "fluid enters at 'region_3' and leaves at 'region_4'");
    assert_box_warns(sel_constant2(0.08, 0), "wall 'region_4' moves through its own surface");
}

/* The warnings of a box of half-way walls whose lid, and whose floor, have a velocity; "": none. */
static void walls_warn(sel_quantity lid, sel_quantity floor_velocity, char text[512]) {
    lbm_case c;
    case_begin(&c, 10, 10, 0.8);
    case_walls(&c, SEL_X_MIN, SEL_X_MAX);
    case_region(&c, case_face(&c, SEL_Y_MIN), &lbm_wall_table, floor_velocity);
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, lid);
    case_must_plan(&c);
    sel_error warnings = {.status = SEL_OK};
    lbm_warn(c.plan, &warnings);
    snprintf(text, 512, "%.500s", warnings.status ? warnings.text : "");
    case_end(&c);
}

/* A lid over 10 cells that moves into the fluid by 0.03 per step brings 0.3 into 100 cells. */
static void test_walls_that_move_through_themselves_are_warned_of(void **unused) {
    (void)unused;
    const sel_quantity rest = {0};
    char text[512];
    walls_warn(sel_constant2(0.03, 0), rest, text);
    assert_string_equal(text, "");
    walls_warn(sel_constant2(0.03, -0.03), rest, text);
    assert_non_null(strstr(text, "wall 'region_4' moves through its own surface, and no face gives "
                                 "the pressure: mass grows by 0.3 % per step"));
    walls_warn(rest, sel_constant2(0, -0.02), text);
    assert_non_null(strstr(text, "wall 'region_3' moves through its own surface, and no face gives "
                                 "the pressure: mass shrinks by 0.2 % per step"));
    /* what one brings in the other takes out */
    walls_warn(sel_constant2(0, 0.02), sel_constant2(0, 0.02), text);
    assert_string_equal(text, "");
}

/* Along the axis a channel between such walls keeps its mass: they meet no other. */
static void test_wet_walls_that_meet_are_warned_of_without_a_pressure(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 3; kind++) {
        lbm_case c;
        case_begin(&c, 10, 8, 0.8);
        case_wet_wall(&c, SEL_Y_MIN, (sel_quantity){0});
        case_wet_wall(&c, SEL_Y_MAX, sel_constant2(0.05, 0));
        if (kind == 0) {
            c.params.common.periodic = 1;
        } else {
            case_wet_wall(&c, SEL_X_MIN, (sel_quantity){0});
        }
        if (kind == 1) {
            case_wet_wall(&c, SEL_X_MAX, (sel_quantity){0});
        } else if (kind == 2) {
            case_region(&c, case_face(&c, SEL_X_MAX), &lbm_pressure_table, sel_constant(0));
        }
        case_must_plan(&c);
        sel_error warnings = {.status = SEL_OK};
        lbm_warn(c.plan, &warnings);
        assert_int_equal(warnings.status != SEL_OK, kind == 1);
        if (kind == 1) {
            assert_non_null(strstr(warnings.text, "faces with scheme = \"zou_he\" meet"));
        }
        case_end(&c);
    }
}

static void test_mass_that_enters_must_leave(void **unused) {
    (void)unused;
    const sel_quantity none = {0}, along = sel_constant2(0.05, 0), back = sel_constant2(-0.05, 0);
    lbm_case c;
    assert_channel_warns(along, none,
                         "fluid enters at 'region_3' and can leave nowhere: mass only grows; "
                         "give a face law.pressure or law.outflow");
    assert_channel_warns(along, back,
                         "fluid enters at 'region_3' and can leave nowhere: mass only grows; "
                         "give a face law.pressure or law.outflow");
    assert_channel_warns(back, none,
                         "fluid leaves at 'region_3' and can enter nowhere: mass only shrinks; "
                         "give a face law.pressure");
    assert_channel_warns(along, along,
                         "fluid enters at 'region_3' and leaves at 'region_4' with given "
                         "velocities, and no face gives the pressure: mass drifts; make one of "
                         "them law.pressure or law.outflow");
    assert_channel_warns(along, sel_constant2(0.025, 0),
                         "fluid enters at 'region_3' and leaves at 'region_4' with given "
                         "velocities, and no face gives the pressure: mass grows by 0.31 % per "
                         "step; make one of them law.pressure or law.outflow");
    assert_channel_warns(sel_constant2(0, 0), none, "");
    case_begin(&c, 4, 4, 0.8);
    assert_channel_warns(case_of(&c, SEL_ON_T, 2, to_and_fro, NULL), none, "");
    case_end(&c);
}

static void swirl(double x, double y, double t, const void *data, double value[2]) {
    (void)t;
    (void)data;
    value[0] = 0.25 * sin(2 * pi * y / 48);
    value[1] = 0.25 * sin(2 * pi * x / 48);
}

static void test_the_initial_velocity_counts(void **unused) {
    (void)unused;
    lbm_case c;
    case_begin(&c, 48, 48, 0.8);
    c.params.common.periodic = 3;
    c.params.initial.velocity = sel_constant2(0.3, 0.4);
    case_must_plan(&c);
    assert_true(fabs(lbm_find_extremes((const lbm_plan *)c.plan).velocity - 0.5) < 1e-12);
    c.params.initial.velocity = case_of(&c, SEL_ON_X | SEL_ON_Y, 2, swirl, NULL);
    const double found = lbm_find_extremes((const lbm_plan *)c.plan).velocity;
    assert_true(fabs(found / (0.25 * sqrt(2)) - 1) < 0.01);
    case_end(&c);
}

/* A law that fails where it is evaluated. */
static sel_status fails(const sel_function *self, const sel_places *at, double *out,
                        sel_error *error) {
    char place[160];
    memset(out, 0, 2 * at->n * sizeof *out);
    sel_place_text(at, 0, place, sizeof place);
    return at->t > 2 ? sel_fail_at(error, self->where, "inflow fails at %s", place) : SEL_OK;
}

static void test_failing_laws_end_the_run(void **unused) {
    (void)unused;
    const sel_function function = {
        .depends = SEL_ON_T, .results = 2, .where = {"flow.lua", 9}, .eval = fails};
    lbm_case c;
    case_begin(&c, 8, 6, 0.8);
    c.params.common.periodic = 1;
    case_wall(&c, case_face(&c, SEL_Y_MIN));
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_from_function(&function));
    case_start(&c);
    assert_int_equal(sel_cpu_backend.advance(c.state, 2, true, &c.error), SEL_OK);
    assert_int_equal(sel_cpu_backend.advance(c.state, 2, true, &c.error), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text, "flow.lua:9: inflow fails at x=0.5, y=6, t=2.5");
    case_end(&c);
}

/* Moving walls hold half a step after it, so that two steps are done before t = 2. */
static void test_laws_that_fail_at_the_end_are_found_ahead(void **unused) {
    (void)unused;
    const sel_function function = {
        .depends = SEL_ON_T, .results = 2, .where = {"flow.lua", 9}, .eval = fails};
    lbm_case c;
    sel_error warnings;
    case_begin(&c, 8, 6, 0.8);
    c.params.common.periodic = 1;
    c.params.common.stop.steady = (double)NAN;
    case_wall(&c, case_face(&c, SEL_Y_MIN));
    case_region(&c, case_face(&c, SEL_Y_MAX), &lbm_wall_table, sel_from_function(&function));
    c.params.common.stop.steps = 2;
    case_must_plan(&c);
    assert_int_equal(sel_warnings_find(c.plan, &warnings, &c.error), SEL_OK);
    assert_int_equal(warnings.status, SEL_OK);

    c.params.common.stop.steps = 3;
    assert_int_equal(sel_warnings_find(c.plan, &warnings, &c.error), SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text,
                        "flow.lua:9: inflow fails at x=0.5, y=6, t=2.5 (in step 3, the last)");

    c.params.common.stop.steady = 1e-6;
    assert_int_equal(sel_warnings_find(c.plan, &warnings, &c.error), SEL_OK);
    assert_string_equal(warnings.text, "flow.lua:9: inflow fails at x=0.5, y=6, t=2.5 (in step 3, "
                                       "if the run gets there)");
    case_end(&c);
}

static void test_memory_is_estimated(void **unused) {
    (void)unused;
    lbm_case c;
    closed_box(&c);
    assert_int_equal(case_plan(&c), SEL_OK);
    uint64_t f64 = sel_cpu_backend.estimate(c.plan).memory;
    assert_true(f64 > 2 * 9 * 8 * 8 * 6);
    c.plan->precision = SEL_F32;
    assert_true(sel_cpu_backend.estimate(c.plan).memory < f64);
    case_end(&c);
}

/* AddressSanitizer's allocator ends the program instead. */
#if !defined(__SANITIZE_ADDRESS__)
static void test_a_flow_too_large_for_memory_is_refused(void **unused) {
    (void)unused;
    lbm_case c;
    closed_box(&c);
    assert_int_equal(case_plan(&c), SEL_OK);
    c.domain->grid.n[0] = INT64_C(1) << 40;
    assert_int_equal(sel_cpu_backend.create(c.plan, &c.state, &c.error), SEL_NO_DEVICE);
    assert_null(c.state);
    assert_non_null(strstr(c.error.text, "not enough memory for the flow"));
    case_end(&c);
}
#endif

static void test_json_names_the_method(void **unused) {
    (void)unused;
    char text[256];
    lbm_case c;
    closed_box(&c);
    assert_int_equal(case_plan(&c), SEL_OK);
    FILE *to = fmemopen(text, sizeof text, "w");
    lbm_solver.json(c.plan, to);
    fclose(to);
    assert_string_equal(text, "\"lattice\": \"D2Q9\", \"collision\": \"trt\", \"storage\": "
                              "\"populations\", \"nu\": 0.10000000000000002, "
                              "\"tau\": 0.8, \"reynolds\": null, \"mach\": null");
    lbm_solver.hint(c.plan, 2, text, sizeof text);
    assert_non_null(strstr(text, "keep it below 0.1"));
    case_end(&c);
}

/* Without an operator: hybrid, and trt where populations are to be stored. */
static void test_storage_decides_the_default_operator(void **unused) {
    (void)unused;
    static const struct {
        int storage, collision, components;
        const char *fact;
    } cases[] = {
        {SEL_STORE_AUTO, LBM_HYBRID, 6, "hybrid on D2Q9, moments are stored"},
        {SEL_STORE_MOMENTS, LBM_HYBRID, 6, "hybrid on D2Q9, moments are stored"},
        {SEL_STORE_POPULATIONS, LBM_TRT, 9, "trt on D2Q9, populations are stored"},
    };
    lbm_params preset = {0};
    sel_table_presets(&lbm_table, &preset);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sel_facts facts = {.count = 0};
        lbm_case c;
        closed_box(&c);
        c.params.collision = preset.collision;
        c.params.storage = cases[k].storage;
        assert_int_equal(lbm_table.check(&c.params, (sel_where){"flow.lua", 3}, &c.error), SEL_OK);
        case_must_plan(&c);
        assert_int_equal(((lbm_plan *)c.plan)->collision, cases[k].collision);
        assert_int_equal(((lbm_plan *)c.plan)->components, cases[k].components);
        assert_true(lbm_solver.bytes(&c.params.common, SEL_F64).update ==
                    2 * 8 * cases[k].components);
        lbm_facts(c.plan, &facts);
        assert_string_equal(find(&facts, "collision")->text, cases[k].fact);
        case_end(&c);
    }
}

/* As --storage does it, whatever the script says. */
static void test_storage_of_the_command_line_wins(void **unused) {
    (void)unused;
    lbm_case c;
    closed_box(&c);
    c.params.common.at = (sel_where){"flow.lua", 3};
    c.params.collision = LBM_COLLISION_NOT_GIVEN;
    c.params.storage = SEL_STORE_MOMENTS;
    assert_int_equal(lbm_solver.store(&c.simulation, SEL_STORE_POPULATIONS, &c.error), SEL_OK);
    case_must_plan(&c);
    assert_int_equal(((lbm_plan *)c.plan)->collision, LBM_TRT);
    assert_false(((lbm_plan *)c.plan)->moments);
    case_end(&c);
    closed_box(&c);
    c.params.common.at = (sel_where){"flow.lua", 3};
    assert_int_equal(lbm_solver.store(&c.simulation, SEL_STORE_MOMENTS, &c.error),
                     SEL_BAD_SCENARIO);
    assert_string_equal(c.error.text,
                        "flow.lua:3: sel.lbm: collision = \"trt\" needs the populations of a cell; "
                        "leave --storage out, or set collision = \"recursive\"");
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_resolved_to_lattice_units),
        cmocka_unit_test(test_tau_of_one_half_is_refused),
        cmocka_unit_test(test_table_refuses_what_only_the_whole_shows),
        cmocka_unit_test(test_plan_refuses_a_lattice_of_other_dimensions),
        cmocka_unit_test(test_lattices_have_their_names_and_bytes),
        cmocka_unit_test(test_facts_know_three_axes),
        cmocka_unit_test(test_fluid_does_not_flow_through_walls),
        cmocka_unit_test(test_tau_is_told_from_one_half),
        cmocka_unit_test(test_facts_see_laws_that_start_from_rest),
        cmocka_unit_test(test_failing_laws_end_the_run),
        cmocka_unit_test(test_laws_that_fail_at_the_end_are_found_ahead),
        cmocka_unit_test(test_walls_may_take_the_mass_that_enters),
        cmocka_unit_test(test_walls_that_move_through_themselves_are_warned_of),
        cmocka_unit_test(test_wet_walls_that_meet_are_warned_of_without_a_pressure),
        cmocka_unit_test(test_mass_that_enters_must_leave),
        cmocka_unit_test(test_the_initial_velocity_counts),
        cmocka_unit_test(test_memory_is_estimated),
#if !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(test_a_flow_too_large_for_memory_is_refused),
#endif
        cmocka_unit_test(test_json_names_the_method),
        cmocka_unit_test(test_storage_decides_the_default_operator),
        cmocka_unit_test(test_storage_of_the_command_line_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
