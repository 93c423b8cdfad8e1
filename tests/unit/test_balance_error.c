/* test_balance_error.c -- `error` of out.balance: what appeared from nowhere, as a part of what
 * came in, went out, came from sources or changed; by the other columns of the file.
 */
#include "tests/unit/compare_files.h"
#include "tests/unit/heat_case.h"
#include "tests/unit/run_case.h"

static csv_table read_balance(void) {
    char *text = read_whole("run/balance.csv", NULL);
    assert_non_null(text);
    csv_table t = csv_read(text);
    free(text);
    return t;
}

static double number_at(const csv_table *t, int row, int column) {
    return t->value[row * t->columns + column];
}

static int column_named(const csv_table *t, const char *name) {
    int c = 0;
    while (c < t->columns && strcmp(t->name[c], name) != 0) {
        c++;
    }
    assert_true(c < t->columns);
    return c;
}

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Runs a text whose terms are totals: `content`, and columns that begin with in_, out_, ... Returns
 * the error of the last row. */
static double run_totals(const char *text, const char *content, double round_off) {
    run_case r;
    case_run_well(&r, text);
    csv_table t = read_balance();
    const int stock = column_named(&t, content), error = column_named(&t, "error");
    double in = 0, out = 0, change = 0, last = 0;
    assert_true(t.rows > 3);
    for (int row = 0; row < t.rows; row++) {
        double gone = number_at(&t, row, stock) - number_at(&t, 0, stock);
        change += row ? fabs(number_at(&t, row, stock) - number_at(&t, row - 1, stock)) : 0;
        for (int c = 0; c < t.columns; c++) {
            const bool leaves = begins_with(t.name[c], "out_") || begins_with(t.name[c], "infil");
            const bool enters = begins_with(t.name[c], "rain") || begins_with(t.name[c], "inflow");
            const bool wall = strcmp(t.name[c], "out_lid") == 0; /* round-off */
            const double way = leaves ? 1 : enters ? -1 : 0;
            const double more =
                way * (number_at(&t, row, c) - (row ? number_at(&t, row - 1, c) : 0));
            gone += way * number_at(&t, row, c);
            in += wall ? 0 : fmax(-more, 0);
            out += wall ? 0 : fmax(more, 0);
        }
        const double made = fmax(in, out), of = made > 0 ? fmax(made, change) : 1;
        last = number_at(&t, row, error);
        if (!(fabs(last - gone / of) < round_off / of)) {
            fail_msg("row %d: the error is %g, not %g / %g", row, last, gone, of);
        }
    }
    free(t.value);
    case_done(&r);
    return last;
}

/* ---- flows ---- */

/* What comes in through the inlet goes out again: both sum to 0 over a period. */
static void magnitudes_of_what_swings_add_up(void **state) {
    (void)state;
    const double last = run_totals(
        HEAT_BEGIN "return sel.lbm { lattice = 'D2Q9', size = { 40, 12 }, nu = 0.1,\n"
                   "precision = 'f64', regions = { { name = 'walls', law = law.wall {},\n"
                   "  where = shape.face 'y-' + shape.face 'y+' },\n"
                   "  { name = 'inlet', where = shape.face 'x-',\n"
                   "    law = law.velocity { function(t) return 0.05 * sin(2 * pi * t / 100), 0 "
                   "end } },\n"
                   "  { name = 'outlet', where = shape.face 'x+', law = law.pressure { 0 } } },\n"
                   "stop = { steps = 400 }, output = { out.balance { every = 10 } } }\n",
        "mass", 1e-10);
    assert_true(fabs(last) < 1e-11);
}

/* With wet walls, slip and edges where wet faces meet. Regularized closures replace the populations
 * that have arrived, too. */
static void all_that_passes_wet_faces_is_counted(void **state) {
    (void)state;
    static const char *const collisions[] = {"trt", "regularized", "recursive", "hybrid"};
    static const char *const lattices[] = {
        "D2Q9', size = { 24, 10 }, acceleration = { 1e-5, 2e-5 }",
        "D3Q19', size = { 16, 8, 6 }, periodic = { 'z' }"};
    for (size_t k = 0; k < 8; k++) {
        char text[2000];
        snprintf(text, sizeof text,
                 HEAT_BEGIN "return sel.lbm { lattice = '%s, nu = 0.05,\n"
                            "collision = '%s', precision = 'f64', regions = {\n"
                            "  { name = 'upper', law = law.slip {}, where = shape.face 'y+' },\n"
                            "  { name = 'lower', law = law.wall { scheme = 'zou_he' },\n"
                            "    where = shape.face 'y-' },\n"
                            "  { name = 'inlet', where = shape.face 'x-', law = law.outflow {} },\n"
                            "  { name = 'outlet', where = shape.face 'x+', law = law.pressure {\n"
                            "    function(t) return 0.02 * sin(2 * pi * t / 60) end } } },\n"
                            "stop = { steps = 200 }, output = { out.balance { every = 10 } } }\n",
                 lattices[k / 4], collisions[k % 4]);
        assert_true(fabs(run_totals(text, "mass", 1e-10)) < 1e-10);
    }
}

/* Nothing can pass the walls: the change of the mass is the error, and is said as such. */
static void errors_of_closed_domains_are_amounts(void **state) {
    (void)state;
    const double last = run_totals(
        HEAT_BEGIN "return sel.lbm { lattice = 'D2Q9', size = { 24, 24 }, nu = 0.1,\n"
                   "precision = 'f32', regions = { { name = 'walls', law = law.wall {},\n"
                   "  where = shape.faces }, { name = 'lid', where = shape.face 'y+',\n"
                   "  law = law.wall { velocity = { 0.1, 0 } } } },\n"
                   "stop = { steps = 400 }, output = { out.balance { every = 100 } } }\n",
        "mass", 1e-9);
    assert_true(fabs(last) < 1e-2);
}

/* A uniform stream passes through one region: what comes in there cancels what goes out, and what
 * is left of both is round-off of the mass. */
static void errors_of_a_stream_are_parts_of_its_mass(void **state) {
    (void)state;
    static const double most[2] = {1e-6, 1e-14};
    for (int precision = 0; precision < 2; precision++) {
        run_case r;
        char text[1000];
        snprintf(text, sizeof text,
                 HEAT_BEGIN "return sel.lbm { lattice = 'D2Q9', size = { 20, 16 }, nu = 0.03,\n"
                            "precision = '%s', initial = { velocity = { 0.05, 0.02 } },\n"
                            "regions = { { name = 'ff', where = shape.faces,\n"
                            "  law = law.far_field { 0.05, 0.02 } } },\n"
                            "stop = { steps = 300 }, output = { out.balance {} } }\n",
                 precision ? "f64" : "f32");
        case_run_well(&r, text);
        assert_true(fabs(case_result(&r, "balance.error")) < most[precision]);
        case_done(&r);
    }
}

/* ---- run-off ---- */

#define STORM                                                                                  \
    "return sel.aqua { size = { 30, 20 }, dt = 1, alpha = 0.2, precision = '%s', rain = 40,\n" \
    "infiltration = 5, ground = function(x, y) return 0.02 * x + 0.1 * sin(y / 3) end,\n"      \
    "initial = { depth = 0.01 }, regions = { { where = shape.faces, law = law.wall {} },\n"    \
    "  { name = 'outlet', where = shape.face 'x-', law = law.open { slope = 0.02 } } },\n"     \
    "stop = { steps = 600 }, output = { out.balance { every = 60 } } }\n"

static void errors_of_run_off_are_parts_of_the_rain(void **state) {
    (void)state;
    char text[HEAT_TEXT];
    snprintf(text, sizeof text, HEAT_BEGIN STORM, "f32");
    assert_true(run_totals(text, "volume", 1e-12) == 0);
    snprintf(text, sizeof text, HEAT_BEGIN STORM, "f64");
    assert_true(fabs(run_totals(text, "volume", 1e-12)) < 1e-12);
}

/* ---- heat ---- */

/* In single precision 600 degrees apart no reference helps: nothing of the flux is kept. */
static void lost_heat_is_an_error_of_all_that_came_in(void **state) {
    (void)state;
    run_case r;
    case_run_well(
        &r, HEAT_BEGIN
        "return sel.heat { size = { 21, 10 }, conductivity = 400, capacity = 3.45e6,\n"
        "dx = 0.0005, dt = 1e-5, precision = 'f32',\n"
        "initial = { temperature = function(x) return x < 0.005 and -300 or 300 end },\n"
        "regions = { all(law.insulated {}), face('x+', law.flux { 1000 }),\n"
        "  { name = 'gap', where = shape.box { min = { 0.005, 0 }, max = { 0.0055, 1 } },\n"
        "    law = law.insulated {} } },\n"
        "stop = { steps = 1000 }, output = { out.balance { every = 100 } } }\n");
    assert_true(case_result(&r, "balance.error") < -0.5);
    case_done(&r);
}

/* Rows are of single steps, whose errors and amounts add up. */
static void errors_of_heat_are_parts_of_what_entered(void **state) {
    (void)state;
    run_case r;
    case_run_well(&r, HEAT_BEGIN
                  "return sel.heat { size = { 20, 10 }, diffusivity = 1, precision = 'f32',\n"
                  "initial = { temperature = 20 }, dt = 0.2,\n"
                  "regions = { all(law.insulated {}), face('x-', law.flux { function(t)\n"
                  "  return sin(t / 3) end }), face('x+', law.fixed { 20 }) },\n"
                  "stop = { steps = 300 }, output = { out.balance { every = 1 } } }\n");
    csv_table t = read_balance();
    double in = 0, out = 0, change = 0, gone = 0;
    for (int row = 1; row < t.rows; row++) {
        const double hot = number_at(&t, row, column_named(&t, "in_x-"));
        const double cold = number_at(&t, row, column_named(&t, "in_x+"));
        const double rate = number_at(&t, row, column_named(&t, "rate"));
        const double error = number_at(&t, row, column_named(&t, "error"));
        in += fmax(hot, 0) + fmax(cold, 0);
        out += fmax(-hot, 0) + fmax(-cold, 0);
        change += fabs(rate);
        gone += rate - hot - cold;
        const double right = row > 1 ? gone / fmax(fmax(in, out), change) : 0;
        if (!(fabs(error - right) < 1e-9) || !(fabs(error) < 1e-4)) {
            fail_msg("row %d: the error is %g, not %g", row, error, right);
        }
    }
    free(t.value);
    case_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(magnitudes_of_what_swings_add_up),
        cmocka_unit_test(all_that_passes_wet_faces_is_counted),
        cmocka_unit_test(errors_of_closed_domains_are_amounts),
        cmocka_unit_test(errors_of_a_stream_are_parts_of_its_mass),
        cmocka_unit_test(errors_of_run_off_are_parts_of_the_rain),
        cmocka_unit_test(lost_heat_is_an_error_of_all_that_came_in),
        cmocka_unit_test(errors_of_heat_are_parts_of_what_entered),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
