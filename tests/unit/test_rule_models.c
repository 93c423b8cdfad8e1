/* test_rule_models.c -- models written as rules, against other solvers and exact solutions. */
#include "engine/solvers/aqua/aqua.h"
#include "tests/unit/compare_files.h"
#include "tests/unit/rule_graph.h"
#include "tests/unit/run_case.h"

/* ---- AQUA-GRAPH by its mean ---- */

#define TERRAIN                                                                       \
    "local function ground(x, y) return 5 * sel.noise(1, x / 3, y / 3) end\n"         \
    "local function water(x, y) return math.max(2 * sel.noise(2, x / 2, y), 0) end\n" \
    "local edge = { { where = shape.faces, law = law.wall {} } }\n"

static const char aqua_rules[] = RULE_BEGIN TERRAIN
    "local around = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 }, { 1, 1 }, { -1, 1 }, { 1, -1 },\n"
    "  { -1, -1 } }\n"
    "local function head(a, b) return (a.z - b.z) + (a.w - b.w) end\n"
    "local function give(c)\n"
    "  local n, fall, roots = 1, 0, 0\n"
    "  for _, d in ipairs(around) do\n"
    "    local above = head(c, c(d[1], d[2]))\n"
    "    if above > 0 then n, fall, roots = n + 1, fall + above, roots + math.sqrt(above) end\n"
    "  end\n"
    "  if roots == 0 then return { share = 0 } end\n"
    "  return { share = 0.2 * math.min(fall / n, c.w) / roots }\n"
    "end\n"
    "local function move(c)\n"
    "  local w = c.w\n"
    "  for _, d in ipairs(around) do\n"
    "    local u = c(d[1], d[2])\n"
    "    local above = head(c, u)\n"
    "    if above > 0 then w = w - c.share * math.sqrt(above)\n"
    "    elseif above < 0 then w = w + u.share * math.sqrt(-above) end\n"
    "  end\n"
    "  return { w = w }\n"
    "end\n"
    "return sel.rule { size = { 70, 50 }, precision = 'f64', rule = { give, move }, main = 'w',\n"
    "state = { w = 'real', share = 'real' }, data = { z = ground }, initial = { w = water },\n"
    "regions = edge, stop = { steps = 1 }, conserved = { 'w' } }";

static const char aqua_solver_text[] = RULE_BEGIN TERRAIN
    "return sel.aqua { size = { 70, 50 }, precision = 'f64', ground = ground, alpha = 0.2,\n"
    "equilibrium = 'mean', initial = { depth = water }, regions = edge, stop = { steps = 1 } }";

static void water_moves_as_in_sel_aqua(void **state) {
    (void)state;
    rule_case a, b;
    rule_load(&a, aqua_rules);
    rule_open(&a, 2);
    rule_load(&b, aqua_solver_text);
    rule_open(&b, 1);
    rule_steps(&a, 1);
    rule_steps(&b, 1);
    double *w = rule_values(&a, "w"), *depth = rule_values(&b, "depth"), most = 0;
    for (int k = 0; k < 70 * 50; k++) {
        most = fmax(most, fabs(w[k] - depth[k]));
    }
    if (!(most <= 1e-15)) {
        fail_msg("depths differ by %g", most);
    }
    free(w), free(depth);
    rule_close(&a);
    rule_close(&b);
}

/* ---- steps that adapt ---- */

/* u = 1 + t, and every three steps dt becomes 1 / (2 u). */
static void follow_dt(const char *fields) {
    static const char script[] = RULE_BEGIN
        "return sel.rule { size = { 5, 4 }, periodic = { 'x', 'y' }, precision = 'f64',\n"
        "state = { u = 'real'%s }, initial = { u = 1 }, stop = { time = 4, steps = 99 },\n"
        "rule = function(c, dt) return { u = c.u + dt } end,\n"
        "dt = { limit = function(c) return 1 / c.u end, factor = 0.5, max = 1, every = 3 },\n"
        "output = { out.reduce { name = 'all', field = 'u', op = 'max', every = 1 },\n"
        "out.reduce { name = 'some', field = 'u', op = 'max', interval = 0.75 } } }";
    char text[sizeof script + 200];
    run_case r;
    snprintf(text, sizeof text, script, fields);
    case_run_well(&r, text);
    char *all_text = read_whole("run/all.csv", NULL), *some_text = read_whole("run/some.csv", NULL);
    csv_table all = csv_read(all_text), some = csv_read(some_text);
    double time = 0, dt = 0, before = -1;
    int due = 0;
    for (int row = 0; row < all.rows; row++) {
        const double *v = all.value + row * all.columns;
        assert_true(fabs(v[1] - time) < 1e-14 && fabs(v[2] - 1 - time) < 1e-13);
        if (before < 0.75 * due && time >= 0.75 * due) { /* the first step at or after its time */
            assert_true(due < some.rows && some.value[due * some.columns] == v[0]);
            due++;
        }
        before = time;
        dt = row % 3 == 0 ? 0.5 / (1 + time) : dt;
        time += dt;
    }
    assert_true(r.report.stopped_by == SEL_BY_TIME && before >= 4 && before - dt < 4);
    assert_true(fabs(r.report.time - before) < 1e-14 && all.rows == r.report.steps + 1);
    assert_in_range(some.rows, due, due + 1); /* and the last state */
    free(all.value), free(some.value), free(all_text), free(some_text);
    case_done(&r);
}

/* Whatever other fields there are. */
static void dt_follows_its_limit_and_time_is_the_sum_of_steps(void **state) {
    (void)state;
    follow_dt("");
    follow_dt(", a = 'real'");
    follow_dt(", a = 'real', b = 'real'");
    follow_dt(", a = 'real', b = 'real', d = 'real', e = 'real'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_moves_as_in_sel_aqua),
        cmocka_unit_test(dt_follows_its_limit_and_time_is_the_sum_of_steps),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
