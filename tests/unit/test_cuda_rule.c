/* test_cuda_rule.c -- sel.rule on the GPU is that on the CPU: with `exact` bit by bit, but for
 * functions of mathematics. Arguments: see compare.h.
 */
#include "tests/unit/compare.h"
#include "tests/unit/random_law.h"
#include "tests/unit/rule_graph.h"
#include "tests/unit/rule_texts.h"

#ifdef SEL_CUDA
bool cuda_inputs_alone(const sel_state *state); /* cuda/inputs.h */
#endif

static void open_on(rule_case *c, const char *body, int precision, int backend) {
    char text[8192] = RULE_BEGIN;
    const size_t begin = strlen(text);
    const sel_settings settings = {.precision = -1, .backend = backend, .threads = 1};
    snprintf(text + begin, sizeof text - begin, body, sel_precision_names[precision]);
    rule_load(c, text);
    rule_open_on(c, &settings);
}

static compared compared_of(const rule_case *c) {
    return (compared){c->prepared.backend, c->state};
}

static void compare_values(const char *name, double a, double b, double allowed) {
    const bool same = memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)) ||
                      fabs(a - b) <= allowed * (fabs(a) + 1);
    if (!same) {
        disagree("%s: %.17g on the CPU, %.17g on the GPU", name, a, b);
    }
}

static void compare_fields(const rule_case side[2], double allowed) {
    const compared both[2] = {compared_of(&side[0]), compared_of(&side[1])};
    const sel_solver *solver = side->prepared.simulation->solver;
    const sel_grid *grid = &side->prepared.domain->grid;
    for (int f = 0; f < solver->field_count; f++) {
        const int components = sel_field_components(&solver->fields[f], grid->dims);
        const int64_t n = sel_grid_cells(grid) * components;
        sel_request read[2], reduce[2];
        for (int k = 0; k < 2; k++) {
            reduce[k] = (sel_request){.kind = SEL_REDUCE, .field = f, .box = sel_grid_box(grid)};
            read[k] = (sel_request){.kind = SEL_READ,
                                    .field = f,
                                    .box = sel_grid_box(grid),
                                    .precision = SEL_F64,
                                    .components = components,
                                    .to = calloc((size_t)n, sizeof(double))};
        }
        ask_backends(both, read);
        ask_backends(both, reduce);
        for (int64_t i = 0; i < n; i++) {
            compare_values(solver->fields[f].name, ((double *)read[0].to)[i],
                           ((double *)read[1].to)[i], allowed);
        }
        for (int c = 0; c < components; c++) {
            compare_values("a sum", reduce[0].sum[c], reduce[1].sum[c], 1e-12 + allowed);
            compare_values("a minimum", reduce[0].min[c], reduce[1].min[c], allowed);
            compare_values("a maximum", reduce[0].max[c], reduce[1].max[c], allowed);
        }
        free(read[0].to), free(read[1].to);
    }
}

static void compare_answers(const rule_case side[2], double allowed) {
    const compared both[2] = {compared_of(&side[0]), compared_of(&side[1])};
    const tolerance t = {1e-9 + allowed, 1e-9 + allowed};
    sel_request monitor[2] = {{.kind = SEL_MONITOR}, {.kind = SEL_MONITOR}};
    compare_balances(both, t, 1);
    ask_backends(both, monitor);
    compare_values("the change", monitor[0].change, monitor[1].change, 1e-9 + allowed);
    compare_values("the largest value", monitor[0].largest, monitor[1].largest, allowed);
    assert_int_equal(monitor[0].bad_cells, monitor[1].bad_cells);
}

/* A control changes in the middle. */
static void compare_text(const rule_text *text, int precision) {
    static const int64_t pieces[] = {0, 1, 2, 35, 64};
    rule_case side[2];
    const double allowed = !text->round_off ? 0 : precision == SEL_F64 ? 1e-11 : 1e-4;
    comparing("%s, %s", text->name, sel_precision_names[precision]);
    open_on(&side[0], text->text, precision, SEL_BACKEND_CPU);
    open_on(&side[1], text->text, precision, comparison.second_backend);
    for (size_t p = 0; p < (comparison.is_short ? 3 : sizeof pieces / sizeof *pieces); p++) {
        for (int k = 0; k < 2; k++) {
            const sel_domain *domain = side[k].prepared.domain;
            if (domain->control_count) {
                domain->control_values[0] = p >= 3 ? 0.15 : 0.2;
            }
            if (pieces[p]) {
                rule_steps(&side[k], pieces[p]);
            }
        }
        compare_fields(side, allowed);
        compare_answers(side, allowed);
    }
    rule_close(&side[0]);
    rule_close(&side[1]);
}

static void every_rule_gives_the_same(void **state) {
    (void)state;
    for (int k = 0; k < RULE_TEXTS; k++) {
        for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
            compare_text(&rule_texts[k], precision);
        }
    }
    assert_agreement();
}

/* A GPU is refused, and auto takes the processor and says why. */
static void without_nvrtc_rules_run_on_the_processor(void **state) {
    (void)state;
    static const char missing[] =
        "NVRTC, which compiles rules for a GPU, is not here; install libnvrtc.so of the CUDA "
        "toolkit, or use --backend cpu";
    sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CUDA, .threads = 1};
    char text[8192] = RULE_BEGIN;
    const size_t begin = strlen(text);
    rule_case c;
    if (comparison.second_backend == SEL_BACKEND_CPU) {
        skip();
    }
    setenv("SELENITE_NVRTC", "0", 1);
    snprintf(text + begin, sizeof text - begin, rule_texts[0].text, "f32");
    rule_load(&c, text);
    const sel_simulation *simulation = c.script.scenario->simulations;
    assert_int_equal(sel_prepare(simulation, &settings, &c.prepared, &c.error), SEL_NO_DEVICE);
    assert_string_equal(c.error.text, missing);
    sel_prepared_release(&c.prepared);
    c.error = (sel_error){.status = SEL_OK};
    settings.backend = SEL_BACKEND_AUTO;
    rule_open_on(&c, &settings);
    assert_string_equal(c.prepared.backend->name, "cpu");
    assert_string_equal(c.prepared.choice.fallback, missing);
    rule_steps(&c, 1);
    rule_close(&c);
    unsetenv("SELENITE_NVRTC");
}

/* ---- generated rules ---- */

enum { GENERATED_TEXT = 1 << 20, TOGETHER = 20, GENERATED = 40 };

/* A scenario whose derived fields are the results of rules: of the numbers that `wanted` has. */
static void write_generated(char text[GENERATED_TEXT], const unsigned *wanted, int count) {
    static law_writer w;
    size_t used = (size_t)snprintf(text, GENERATED_TEXT, "%slocal rules = {}\n", RULE_PRELUDE);
    for (int k = 0; k < count; k++) {
        rule_write(&w, wanted[k], true);
        used +=
            (size_t)snprintf(text + used, GENERATED_TEXT - used, "rules[%d] = %s\n", k + 1, w.text);
    }
    used += (size_t)snprintf(
        text + used, GENERATED_TEXT - used,
        "return sel.rule { size = { 37, 11 }, exact = true, main = 'u',\n"
        "periodic = { 'x', 'y' }, controls = { gain = 2.5 }, stop = { steps = 9 },\n"
        "state = { u = 'real', v = 'real', n = 'i32', k = 'u8' },\n"
        "initial = { u = function(x, y) return math.floor(7 * math.sin(x * y)) / 2 end,\n"
        "  v = function(x, y) return 30 * math.cos(x - y * y) end,\n"
        "  n = function(x, y) return math.floor(1e5 * math.sin(3 * x + y)) %% 2000 - 1000 end,\n"
        "  k = function(x, y) return math.floor(x * y) %% 3 end },\n"
        "rule = function(c) return { u = c.u } end, derived = {\n");
    for (int k = 1; k <= count; k++) {
        used += (size_t)snprintf(
            text + used, GENERATED_TEXT - used,
            "r%d = function(c, x, y, t, gain)\n  local o = rules[%d](c, x, y, t, gain)\n"
            "  return o.u, o.v\nend,\nn%d = function(c, x, y, t, gain)\n"
            "  return rules[%d](c, x, y, t, gain).n\nend,\n",
            k, k, k, k);
    }
    snprintf(text + used, GENERATED_TEXT - used, "} }\n");
}

/* Whether the rule is read, and never calls error. */
static bool is_read(unsigned number) {
    static char text[GENERATED_TEXT];
    script_case c = {.scenario = NULL};
    sel_error error = {.status = SEL_OK};
    sel_prepared prepared;
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = 1};
    write_generated(text, &number, 1);
    bool read = !script_load(&c, text) &&
                !sel_prepare(c.scenario->simulations, &settings, &prepared, &error);
    if (read) {
        const rule_model *m = ((const rule_plan *)prepared.plan)->model;
        for (int k = 0; k < 2; k++) {
            read =
                read && m->function[m->rules + k].rule && m->function[m->rules + k].rule->fails < 0;
        }
        sel_prepared_release(&prepared);
    }
    script_done(&c);
    return read;
}

/* RULES=n compares n rules, from the one of number FIRST=n on. */
static void generated_rules_give_the_same(void **state) {
    (void)state;
    static char text[GENERATED_TEXT];
    const char *const given[] = {getenv("RULES"), getenv("FIRST")};
    const int rules = given[0] ? atoi(given[0]) : comparison.is_short ? TOGETHER : GENERATED;
    unsigned number = given[1] ? (unsigned)atoi(given[1]) : 1;
    for (int done = 0; done < rules; done += TOGETHER) {
        unsigned wanted[TOGETHER];
        rule_case side[2];
        for (int k = 0; k < TOGETHER; number++) {
            wanted[k] = number;
            k += is_read(number);
        }
        const int precision = done / TOGETHER % 2;
        comparing("generated rules %u to %u, %s", wanted[0], wanted[TOGETHER - 1],
                  sel_precision_names[precision]);
        write_generated(text, wanted, TOGETHER);
        for (int k = 0; k < 2; k++) {
            const sel_settings settings = {.precision = precision,
                                           .backend =
                                               k ? comparison.second_backend : SEL_BACKEND_CPU,
                                           .threads = 1};
            rule_load(&side[k], text);
            rule_open_on(&side[k], &settings);
        }
        compare_fields(side, 0);
        rule_close(&side[0]);
        rule_close(&side[1]);
    }
    assert_agreement();
}

/* ---- what fails ---- */

static void the_first_value_that_does_not_fit_is_told(void **state) {
    (void)state;
    static const char *const texts[] = {
        "return sel.rule { size = { 300, 40 }, precision = '%s', state = { n = 'u8' },\n"
        "periodic = { 'x', 'y' }, stop = { steps = 99 },\n"
        "rule = function(c, x) return math.floor(c.n + 1 + x / 100) end }\n",
        "return sel.rule { size = { 300, 40 }, precision = '%s', state = { n = 'i32' },\n"
        "periodic = { 'x', 'y' }, stop = { steps = 99 }, rule = function(c, y)\n"
        "if c.n > 20 and y > 17 then error 'too much' end return c.n + 1 end }\n"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        rule_case side[2];
        comparing("failure %d", (int)k);
        for (int s = 0; s < 2; s++) {
            open_on(&side[s], texts[k], SEL_F32, s ? comparison.second_backend : SEL_BACKEND_CPU);
            const sel_backend *backend = side[s].prepared.backend;
            sel_status status = backend->advance(side[s].state, 300, false, &side[s].error);
            status = status ? status : sel_backend_wait(backend, side[s].state, &side[s].error);
            assert_int_not_equal(status, SEL_OK);
        }
        if (k == 0) {
            assert_string_equal(side[0].error.text, side[1].error.text);
        } else { /* the device does not know the words of the script */
            assert_non_null(strstr(side[0].error.text, "too much"));
            assert_non_null(
                strstr(side[1].error.text, comparison.second_backend == SEL_BACKEND_CPU
                                               ? "too much"
                                               : "beyond 2^53 in cell {0, 17} in step"));
        }
        rule_close(&side[0]);
        rule_close(&side[1]);
    }
}

/* Data and laws that fail in some cells in the step from 3; fields are written in place. */
static void values_that_are_refused_leave_the_state_before(void **state) {
    (void)state;
    static const char begin[] =
        "return sel.rule { size = { 300, 40 }, precision = '%s', dt = 0.5, stop = { steps = 99 },\n"
        "state = { n = 'u8', u = 'real' }, initial = { u = 2 }, derived = { w = function(c)\n"
        "return 2 * c.d end }, rule = { function(c) return { n = math.floor(c.n + c.k) } end,\n"
        "function(c) return { n = c.n + 1, u = c(1, 0).u + c.d } end },\n";
    static const char *const ends[] = {
        "data = { d = 1, k = function(x, t) return math.sqrt(1 - (t - 1) * x / 100) end },\n"
        "regions = { { where = shape.faces, law = law.wall {} } } }\n",
        "data = { d = function(t) return t end, k = 1 }, regions = {\n"
        "{ where = shape.faces, law = law.wall {} },\n"
        "{ where = shape.box { min = { 30, 9 }, max = { 90, 30 } },\n"
        "law = { n = law.fixed { function(x, y, t) return t < 1.5 and 7 or math.floor(200 + 3 * y) "
        "end } } } }"
        "}\n",
        "data = { d = function(y, t) return t / (1.5 - t) end, k = 1 },\n"
        "regions = { { where = shape.faces, law = law.wall {} } } }\n",
        "data = { d = 1, k = 1 }, regions = { { where = shape.faces, law = { n = law.wall {},\n"
        "u = law.gradient { function(x, t) return math.sqrt(1 - t * (x - 7) / 40) end } } } } }\n"};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        rule_case side[2];
        char text[4096];
        int64_t whole[2];
        comparing("refused %d", (int)k);
        snprintf(text, sizeof text, "%s%s", begin, ends[k]);
        for (int s = 0; s < 2; s++) {
            open_on(&side[s], text, SEL_F32, s ? comparison.second_backend : SEL_BACKEND_CPU);
            const sel_backend *backend = side[s].prepared.backend;
            sel_status status = backend->advance(side[s].state, 90, false, &side[s].error);
            status = status ? status : sel_backend_wait(backend, side[s].state, &side[s].error);
            assert_int_equal(status, SEL_BAD_SCENARIO);
            whole[s] = backend->whole(side[s].state);
        }
        assert_string_equal(side[0].error.text, side[1].error.text);
        assert_int_equal(whole[0], whole[1]);
        assert_true(whole[0] >= 0);
        const compared both[2] = {compared_of(&side[0]), compared_of(&side[1])};
        sel_request reduce[2];
        for (int field = 0; field < 2; field++) {
            for (int s = 0; s < 2; s++) {
                reduce[s] = (sel_request){.kind = SEL_REDUCE,
                                          .field = field,
                                          .box = sel_grid_box(&side->prepared.domain->grid)};
            }
            ask_backends(both, reduce);
            compare_values("a sum", reduce[0].sum[0], reduce[1].sum[0], 1e-12);
        }
        rule_close(&side[0]);
        rule_close(&side[1]);
    }
    assert_agreement();
}

/* ---- data and laws in time ---- */

/* Programs are evaluated where steps run, and many steps are one graph. */
static void data_and_laws_in_time_are_evaluated_on_the_device(void **state) {
    (void)state;
    static const char body[] =
        "return sel.rule { size = { 70, 40 }, precision = '%s', dt = %s, exact = true,\n"
        "state = { u = 'real', v = 'vector', n = 'i32' }, stop = { steps = 99 },\n"
        "data = { d = function(x, y, t) return x * y + t end, w = { function(x, t) return x - t\n"
        "end, 3 }, k = function(x, t) return math.floor(x / 9 + 20 * t) %%%% 256 end },\n"
        "rule = function(c) return { u = c.u / 2 + c(1, 0).u / 4 + c(0, -1).u / 8 + c.d / 99,\n"
        "v_x = c.w_x + c(-1, 0).v_y, v_y = c(0, 1).v_x / 2 + c.w_y, n = math.floor(c.n + c.k) } "
        "end,\n"
        "derived = { s = function(c) return c.d - c(1, 1).w_x end }, regions = {\n"
        "{ where = shape.faces, law = { u = law.gradient { function(x, y, t) return t * x - y end\n"
        "}, v = law.fixed { function(t) return 3 * t end, at = 'face' } } },\n"
        "{ where = shape.box { min = { 9, 9 }, max = { 30, 20 } },\n"
        "law = { u = law.fixed { function(y, t) return t - y end } } } } }\n";
    static const char *const steps[] = {
        "0.125", "{ max = 0.125, factor = 1, every = 5, limit = function(c)\n"
                 "return 3 / (30 + c.n) end }"};
    for (int k = 0; k < 4; k++) {
        rule_case side[2];
        char text[4096];
        comparing("inputs in time, %s, %s", sel_precision_names[k % 2], k / 2 ? "dt.limit" : "dt");
        snprintf(text, sizeof text, body, "%s", steps[k / 2]);
        for (int s = 0; s < 2; s++) {
            open_on(&side[s], text, k % 2, s ? comparison.second_backend : SEL_BACKEND_CPU);
        }
#ifdef SEL_CUDA
        if (comparison.second_backend == SEL_BACKEND_CUDA) {
            assert_non_null(side[1].state->inputs);
            assert_false(cuda_inputs_alone(side[1].state));
        }
#endif
        for (int n = 1; n < 60; n *= 3) {
            rule_steps(&side[0], n);
            rule_steps(&side[1], n);
            compare_fields(side, 0);
        }
        rule_close(&side[0]);
        rule_close(&side[1]);
    }
    assert_agreement();
}

/* Whether rules can run on the second backend; else that is said as TAP. */
static bool has_compiler(void) {
    sel_error error = {.status = SEL_OK};
    if (comparison.second_backend == SEL_BACKEND_CUDA &&
        rule_solver.cuda->serves(&rule_solver, &error)) {
        printf("ok test_cuda_rule # SKIP %s\n", error.text);
        return false;
    }
    return true;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_gives_the_same),
        cmocka_unit_test(without_nvrtc_rules_run_on_the_processor),
        cmocka_unit_test(generated_rules_give_the_same),
        cmocka_unit_test(the_first_value_that_does_not_fit_is_told),
        cmocka_unit_test(values_that_are_refused_leave_the_state_before),
        cmocka_unit_test(data_and_laws_in_time_are_evaluated_on_the_device),
    };
    if (!comparison_begins(argc, argv, "test_cuda_rule") || !has_compiler()) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
