/* test_heat_balance.c -- heat is kept: insulated bodies keep theirs, out.balance adds up with every
 * law, source and layout, and out.flux says what passes through a region.
 */
#include "tests/unit/compare_files.h"
#include "tests/unit/heat_case.h"
#include "tests/unit/run_case.h"

typedef struct body {
    bool nodes, deep, varied, solid, periodic;
    const char *in_time, *source; /* see BODY */
} body;

/* in_time: "no", "program", or "lua": what only Lua can evaluate. The capacity that varies is that
 * of capacity_at(). */
#define BODY                                                                                     \
    "local nodes, deep, varied, solid, periodic = %s, %s, %s, %s, %s\n"                          \
    "local in_time, source = '%s', '%s'\n"                                                       \
    "local table_of_lua = { 1 }\n"                                                               \
    "local function value(a)\n"                                                                  \
    "  if in_time == 'no' then return function(x, y) return a + 0.3 * sin(x + 2 * y) end end\n"  \
    "  if in_time == 'program' then return function(x, y, t)\n"                                  \
    "    return a + 0.3 * sin(x + 2 * y + 30 * t) end end\n"                                     \
    "  return function(x, t) return a + 0.3 * sin(x + 30 * t) * table_of_lua[1 + math.floor(t) " \
    "* 0] end\n"                                                                                 \
    "end\n"                                                                                      \
    "local kx = function(x, y) return 1 + 0.9 * sin(x - y) end\n"                                \
    "local box = { size = deep and { 9, 8, 7 } or { 23, 17 }, precision = 'f64',\n"              \
    "  dx = deep and { 0.2, 0.3, 0.25 } or { 0.2, 0.3 }, layout = nodes and 'node' or 'cell',\n" \
    "  conductivity = not varied and 1.2 or deep and { kx, 1.5, kx } or { kx, 1.5 },\n"          \
    "  capacity = varied and function(x, y) return 1.5 + 0.5 * sin(x + 2 * y) end or 2,\n"       \
    "  periodic = periodic and { 'y' } or {}, stop = { steps = 40 },\n"                          \
    "  source = ({ no = 0, still = function(x) return 1 + x end, time = value(2) })[source],\n"  \
    "  initial = { temperature = function(x, y) return sin(3 * x) + cos(x * y) end } }\n"        \
    "if source == 'none' then box.source = nil end\n"                                            \
    "local function hole(what) return { name = 'hole', law = what,\n"                            \
    "  where = shape.ball { centre = deep and { 1, 1.2, 0.8 } or { 2, 2.1 }, radius = 0.7 } } "  \
    "end\n"

static void write_body(char text[2 * HEAT_TEXT], const body *b, const char *rest) {
    static const char *const truth[] = {"false", "true"};
    snprintf(text, 2 * HEAT_TEXT, HEAT_BEGIN BODY "%s", truth[b->nodes], truth[b->deep],
             truth[b->varied], truth[b->solid], truth[b->periodic], b->in_time, b->source, rest);
}

static double capacity_at(const body *b, const double x[3]) {
    return b->varied ? 1.5 + 0.5 * sin(x[0] + 2 * x[1]) : 2;
}

/* By the definition: of nodes the parts of their volumes that are inside. */
static double heat_of(heat_case *t, const body *b) {
    const sel_grid *grid = heat_grid(t);
    double *T = heat_field(t, HEAT_TEMPERATURE), sum = 0;
    for (int64_t i = 0; i < sel_grid_cells(grid); i++) {
        int64_t at[3];
        double x[3], volume = 1;
        sel_cell_at(grid, i, at);
        sel_cell_centre(grid, i, x);
        for (int a = 0; a < grid->dims; a++) {
            const bool end = at[a] == 0 || at[a] == grid->n[a] - 1;
            volume *= grid->dx[a] * (b->nodes && end && !sel_axis_periodic(grid, a) ? 0.5 : 1);
        }
        sum += T[i] * volume * capacity_at(b, x);
    }
    free(T);
    return sum;
}

static const char *describe(const body *b) {
    static char text[128];
    snprintf(text, sizeof text, "%s, %s%s%s%s, time %s, source %s", b->nodes ? "nodes" : "cells",
             b->deep ? "3-D" : "2-D", b->varied ? ", varied" : "", b->solid ? ", hole" : "",
             b->periodic ? ", periodic" : "", b->in_time, b->source);
    return text;
}

static body numbered(int k) {
    return (body){k & 1, k & 2, k & 4, k & 8, k & 16, "no", "none"};
}

/* ---- insulated bodies ---- */

static void insulated_bodies_keep_their_heat(void **state) {
    (void)state;
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = 1};
    for (int k = 0; k < 32; k++) {
        const body b = numbered(k);
        char text[2 * HEAT_TEXT];
        heat_case t;
        write_body(text, &b,
                   "box.regions = { all(law.insulated {}), solid and hole(law.insulated {}) or nil "
                   "}\nreturn sel.heat(box)\n");
        heat_open_on(&t, &settings, text);
        const double before = heat_of(&t, &b);
        heat_advance(&t, 400);
        const double after = heat_of(&t, &b);
        heat_close(&t);
        if (!(fabs(after - before) < 1e-13 * fabs(before)) || !(fabs(before) > 0.1)) {
            fail_msg("%s: %.17g became %.17g", describe(&b), before, after);
        }
    }
}

/* The same under laws that let nothing through. */
static void laws_without_flow_keep_the_heat(void **state) {
    (void)state;
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = 1};
    for (int k = 0; k < 16; k++) {
        const body b = numbered(k);
        char text[2 * HEAT_TEXT];
        heat_case t;
        write_body(text, &b,
                   "box.regions = { all(law.flux { 0 }), face('x+', law.convective { h = 0, "
                   "ambient = 9 }),\n solid and hole(law.flux { 0 }) or nil }\n"
                   "return sel.heat(box)\n");
        heat_open_on(&t, &settings, text);
        const double before = heat_of(&t, &b);
        heat_advance(&t, 400);
        const double after = heat_of(&t, &b);
        heat_close(&t);
        if (!(fabs(after - before) < 1e-13 * fabs(before))) {
            fail_msg("%s: %.17g became %.17g", describe(&b), before, after);
        }
    }
}

/* ---- out.balance and out.flux ---- */

static csv_table read_table(const char *path) {
    char *text = read_whole(path, NULL);
    if (!text) {
        fail_msg("%s is not there", path);
    }
    csv_table t = csv_read(text);
    free(text);
    return t;
}

static double cell_of(const csv_table *t, int row, const char *column) {
    for (int c = 0; c < t->columns; c++) {
        if (strcmp(t->name[c], column) == 0) {
            return t->value[row * t->columns + c];
        }
    }
    fail_msg("no column %s", column);
    return 0;
}

/* Every law on a face of its own; the hole's is `of_hole`. */
static void check_balance(const body *b, const char *of_hole) {
    static const char *const regions[] = {"x-", "x+", "y-", "y+", "z+", "hole"};
    char text[2 * HEAT_TEXT], rest[2048];
    run_case r;
    snprintf(rest, sizeof rest,
             "box.regions = { all(law.insulated {}), face('x-', law.fixed { value(1) }),\n"
             "  face('x+', law.convective { h = value(3), ambient = value(2) }) }\n"
             "local function add(what) box.regions[#box.regions + 1] = what end\n"
             "if not periodic then add(face('y-', law.flux { value(0.5) }))\n"
             "  add(face('y+', law.fixed { value(-1) })) end\n"
             "if deep then add(face('z+', law.convective { h = 2, ambient = value(-1) })) end\n"
             "if solid then add(hole(%s)) end\n"
             "box.output = { out.balance { every = 1 } }\n"
             "for k = 2, #box.regions do box.output[k] = out.flux { every = 1,\n"
             "  name = 'flux_' .. box.regions[k].name, region = box.regions[k].name } end\n"
             "return sel.heat(box)\n",
             of_hole);
    write_body(text, b, rest);
    case_run_well(&r, text);
    csv_table balance = read_table("run/balance.csv");
    assert_int_equal(balance.rows, 41);
    csv_table flux[6] = {{.rows = 0}};
    for (int k = 0; k < 6; k++) {
        char path[64];
        const bool there = k < 2 || (k < 4 ? !b->periodic : k == 4 ? b->deep : b->solid);
        snprintf(path, sizeof path, "run/flux_%s.csv", regions[k]);
        flux[k] = there ? read_table(path) : flux[k];
    }
    for (int row = 0; row < balance.rows; row++) {
        const double dt = cell_of(&balance, 1, "time");
        const double rate = cell_of(&balance, row, "rate");
        double all = strcmp(b->source, "none") == 0 ? 0 : cell_of(&balance, row, "source"),
               size = fabs(rate) + fabs(all);
        for (int k = 0; k < 6; k++) {
            char column[16];
            snprintf(column, sizeof column, "in_%s", regions[k]);
            if (flux[k].rows) {
                const double in = cell_of(&balance, row, column);
                const double through = cell_of(&flux[k], row, "flux");
                all += in;
                size += fabs(in);
                if (!(fabs(in + through) <= 1e-13 * fabs(in))) {
                    fail_msg("%s: step %d, %s: %.17g in, flux %.17g", describe(b), row, column, in,
                             through);
                }
            }
        }
        const double error = cell_of(&balance, row, "error");
        if (!(fabs(error) < 1e-12) || !(fabs(rate - all) < 1e-12 * size) || !(size > 1)) {
            fail_msg("%s, hole %s: step %d: error %.3g, rate %.17g of %.17g", describe(b), of_hole,
                     row, error, rate, all);
        }
        if (row > 0) {
            const double heat = cell_of(&balance, row, "heat");
            const double change = heat - cell_of(&balance, row - 1, "heat");
            assert_true(fabs(change - rate * dt) < 1e-13 * fabs(heat) + 1e-12);
        }
    }
    assert_true(fabs(case_result(&r, "balance.error")) < 1e-12);
    for (int k = 0; k < 6; k++) {
        free(flux[k].value);
    }
    free(balance.value);
    case_done(&r);
}

static void balances_add_up_with_every_law(void **state) {
    (void)state;
    static const char *const holes[] = {"law.fixed { value(2) }", "law.flux { value(1) }",
                                        "law.convective { h = value(2), ambient = 3 }"};
    for (int k = 0; k < 32; k++) {
        const body b = numbered(k);
        check_balance(&b, holes[k % 3]);
    }
}

static void balances_add_up_with_laws_in_time(void **state) {
    (void)state;
    static const char *const times[] = {"program", "lua"};
    for (int k = 0; k < 32; k++) {
        body b = numbered(k);
        b.in_time = times[(k ^ k >> 2 ^ k >> 4) & 1];
        check_balance(&b, k & 2 ? "law.fixed { value(2) }"
                                : "law.convective { h = value(2), ambient = value(3) }");
    }
}

static void balances_add_up_with_sources_in_cells(void **state) {
    (void)state;
    static const char *const sources[] = {"no", "still", "time"};
    for (int k = 0; k < 48; k++) {
        body b = numbered(k / 3 * 2);
        b.source = sources[k % 3];
        b.in_time = k % 4 == 3 ? "lua" : "program";
        check_balance(&b, "law.flux { value(1) }");
    }
}

static void balances_add_up_with_sources_at_nodes(void **state) {
    (void)state;
    static const char *const sources[] = {"no", "still", "time"};
    for (int k = 0; k < 48; k++) {
        body b = numbered(k / 3 * 2 + 1);
        b.source = sources[k % 3];
        b.in_time = k % 4 == 3 ? "lua" : "program";
        check_balance(&b, "law.fixed { value(1) }");
    }
}

/* A source warms an insulated body alike everywhere, also the nodes that own half a volume. */
static void a_uniform_source_warms_all_cells_alike(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        heat_case t;
        heat_open(&t,
                  "return sel.heat { size = { 5, 4 %s }, layout = '%s', conductivity = 1,\n"
                  "capacity = 2, source = 3, dt = 0.1, precision = 'f64', stop = { steps = 1 },\n"
                  "regions = { all(law.insulated {}) } }\n",
                  k / 2 ? ", 3" : "", k % 2 ? "node" : "cell");
        heat_advance(&t, 7);
        double *T = heat_field(&t, HEAT_TEMPERATURE);
        for (int64_t i = 0; i < sel_grid_cells(heat_grid(&t)); i++) {
            if (!(fabs(T[i] - 7 * 0.1 * 3 / 2) < 1e-14)) {
                fail_msg("%s, cell %d: %g", k % 2 ? "nodes" : "cells", (int)i, T[i]);
            }
        }
        free(T);
        heat_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insulated_bodies_keep_their_heat),
        cmocka_unit_test(laws_without_flow_keep_the_heat),
        cmocka_unit_test(balances_add_up_with_every_law),
        cmocka_unit_test(balances_add_up_with_laws_in_time),
        cmocka_unit_test(balances_add_up_with_sources_in_cells),
        cmocka_unit_test(balances_add_up_with_sources_at_nodes),
        cmocka_unit_test(a_uniform_source_warms_all_cells_alike),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
