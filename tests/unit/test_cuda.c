/* test_cuda.c -- whole runs: every scenario and example writes the same on the GPU as on the CPU,
 * but for round-off.
 */
#include <dirent.h>
#include "tests/unit/compare_files.h"
#include "engine/solvers/poisson/poisson.h"
#include "engine/solvers/rule/rule.h"
#include "engine/run/prepare.h"
#include "engine/run/run.h"

/* Smaller than what they are for, where the default is too large for a test. */
static const struct {
    const char *script, *parameters;
} smaller[] = {{"aqua_plane.lua", ", { N = 128 }"},
               {"backward_step.lua", ", { H = 24 }"},
               {"cavity2d.lua", ", { N = 48 }"},
               {"cavity3d.lua", ", { N = 20, Re = 100 }"},
               {"cell_reynolds.lua", ", { cell = 2 }"}, /* above, round-off grows */
               {"cylinder2d.lua", ", { D = 10 }"},
               {"duct3d.lua", ", { N = 16, L = 2 }"},
               {"heat3d_bell.lua", ", { nx = 20, ny = 16, nz = 12 }"},
               {"oscillating_cavity.lua", ", { N = 16 }"},
               {"sphere.lua", ", { D = 6, width = 3, Re = 20 }"},
               {"sudden_expansion.lua", ", { H = 32, ramp = 300 }"},
               {"symmetric_expansion.lua", ", { h = 8 }"},
               {"taylor_green3d.lua", ", { N = 20 }"},
               {"womersley_channel.lua", ", { periods = 1 }"}};

enum { SCRIPT_ROOM = 2560 };

static int64_t steps_of_a_run(void) {
    return comparison.is_short ? 70 : 1000;
}

/* A script that returns the simulations of another, with a number of steps and all fields. */
static void script_of(const char *folder, const char *name, char text[SCRIPT_ROOM]) {
    const char *parameters = "";
    for (size_t k = 0; k < sizeof smaller / sizeof *smaller; k++) {
        if (strcmp(smaller[k].script, name) == 0) {
            parameters = smaller[k].parameters;
        }
    }
    snprintf(text, SCRIPT_ROOM,
             "local sel = require 'selenite'\n"
             "local given = sel.load('%s/%s/%s'%s)\n"
             "for _, one in ipairs(given.stop and { given } or given) do\n"
             "  one.stop = { steps = %d }\n"
             "  one.output = one.output or {}\n"
             "  local own = {}\n"
             "  one.exact = one.rule and true\n"
             "  for name in pairs(one.state or {}) do own[#own + 1] = name end\n"
             "  table.sort(own)\n"
             "  one.output[#one.output + 1] = sel.out.vtk { name = 'everything', every = %d, "
             "fields = one.rule and own or one.ground and {\n"
             "    'ground', 'depth', 'level', 'max_depth', 'max_level', 'arrival_time' }\n"
             "    or not one.lattice and { 'temperature', 'flux' } or {\n"
             "    'velocity', 'density', 'pressure', 'speed', 'vorticity', 'q_criterion',\n"
             "    'strain_rate', 'stress', 'dissipation' } }\n"
             "end\n"
             "return given\n",
             comparison.tree, folder, name, parameters, (int)steps_of_a_run(),
             (int)steps_of_a_run() / 2);
}

/* Whether a result may be compared: the frequency of what is steady but for round-off, and the
 * distance of f32 to an exact solution, are made of round-off only. */
static bool is_comparable(const char *name, int precision) {
    return precision == SEL_F64 && !strstr(name, "frequency") && !strstr(name, "strouhal");
}

static void compare_results(const sel_results *a, const sel_results *b, int precision,
                            double size) {
    if (a->count != b->count) {
        disagree("%d and %d results", a->count, b->count);
        return;
    }
    for (int k = 0; k < a->count; k++) {
        const char *end = strrchr(a->v[k].name, '.');
        const bool error =
            end && strcmp(end, ".error") == 0; /* of what has passed: it may be little */
        const tolerance allowed = {1e-8, error ? 1e-9 : 1e-12};
        if (strcmp(a->v[k].name, b->v[k].name) != 0) {
            disagree("result %d is %s and %s", k, a->v[k].name, b->v[k].name);
        } else if (is_comparable(a->v[k].name, precision)) {
            compare_number(a->v[k].name, a->v[k].value, b->v[k].value, allowed, size);
        }
    }
}

/* Rules that may contract sums and products as a processor does best, or call functions of math,
 * which are right to 2 units in the last place. */
static bool is_inexact(const sel_simulation *simulation, const sel_plan *plan) {
    if (simulation->solver->table != &rule_table) {
        return false;
    }
    const rule_model *m = ((const rule_plan *)plan)->model;
    bool calls = !m->params->exact;
    for (int k = 0; k < m->functions; k++) {
        const sel_program *code = m->function[k].code;
        for (int i = 0; i < code->layout.each; i++) {
            const int op = code->tables.code[code->layout.once + i].op;
            calls = calls || op == SEL_OP_EXP || (op >= SEL_OP_POW && op <= SEL_OP_ATAN2);
        }
    }
    return calls;
}

/* Runs a simulation on both backends, each in a folder of its own, and compares what they wrote. */
static void run_and_compare(const sel_scenario *scenario, const sel_simulation *simulation,
                            int precision) {
    static const char *const folder[2] = {"first", "second"};
    const int backend[2] = {SEL_BACKEND_CPU, comparison.second_backend};
    const int threads[2] = {comparison.second_backend == SEL_BACKEND_CPU ? 1 : 0, 2}; /* 0: all */
    sel_report report[2];
    sel_prepared prepared;
    sel_error error = {.status = SEL_OK};
    sel_status failed = SEL_OK;
    for (int k = 0; k < 2; k++) {
        const sel_run_options options = {
            .settings = {.precision = precision, .backend = backend[k], .threads = threads[k]},
            .directory = folder[k],
            .force = true};
        error = (sel_error){.status = SEL_OK};
        sel_status status = sel_run(scenario, simulation, &options, &report[k], &error);
        if (status) {
            disagree("%s run ends with status %d: %s", folder[k], (int)status, error.text);
        }
        failed = failed ? failed : status;
    }
    const sel_settings settings = {
        .precision = precision, .backend = SEL_BACKEND_CPU, .threads = 1};
    sel_status status = sel_prepare(simulation, &settings, &prepared, &error);
    if (!failed && !status) {
        const bool flows = simulation->solver == &lbm_solver;
        const bool heat = simulation->solver == &heat_solver;
        const bool potential = simulation->solver == &poisson_solver;
        const lbm_plan *plan = flows ? (const lbm_plan *)prepared.plan : NULL;
        compared_run run = {.folder = {folder[0], folder[1]},
                            .plan = plan,
                            .heat = heat ? (const heat_plan *)prepared.plan : NULL,
                            .inexact = is_inexact(simulation, prepared.plan) ? 1e-9 : 0,
                            .largest = plan ? lbm_find_extremes(plan).velocity : 0};
        /* Cycles in single precision leave other errors on each backend, which the next cycle
         * mends; the results are right to the 1e-8 of the solves. */
        if (!potential) {
            compare_folders(&run);
        }
        /* What rules conserve is the sum of thousands of cells, which backends add up in orders of
         * their own. */
        compare_results(&report[0].results, &report[1].results, precision,
                        potential                                  ? 1e4
                        : heat                                     ? heat_scale(&run)
                        : simulation->solver->table == &rule_table ? 10
                                                                   : 1);
        if (report[0].steps != report[1].steps || report[0].stopped_by != report[1].stopped_by) {
            disagree("ended after %d and %d steps", (int)report[0].steps, (int)report[1].steps);
        }
    }
    sel_prepared_release(&prepared);
    for (int k = 0; k < 2; k++) {
        sel_report_release(&report[k]);
        remove_directory(folder[k]);
    }
}

static void compare_script(const char *folder, const char *name) {
    char text[SCRIPT_ROOM];
    script_of(folder, name, text);
    for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
        script_case c = {.scenario = NULL};
        comparing("%s/%s, %s", folder, name, sel_precision_names[precision]);
        if (script_load(&c, text)) {
            disagree("cannot be loaded: %s", c.error.text);
        }
        for (int k = 0; c.scenario && k < c.scenario->count; k++) {
            const sel_simulation *simulation = &c.scenario->simulations[k];
            if (precision == SEL_F64 || !simulation->solver->double_only) {
                run_and_compare(c.scenario, simulation, precision);
            }
        }
        script_done(&c);
    }
}

/* Of powers of fields a device gives other bits, after which a flood takes another course. */
static bool has_powers(const char *name) {
    return strncmp(name, "flood", 5) == 0;
}

/* All scripts of a folder; in a short test a few. */
static void compare_all(const char *folder) {
    char path[1100];
    int count = 0;
    struct dirent **entries;
    snprintf(path, sizeof path, "%s/%s", comparison.tree, folder);
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0) {
        fail_msg("%s cannot be read: run this from the root of the repository", path);
    }
    for (int k = 0; k < n; k++) {
        const char *name = entries[k]->d_name;
        if (ends_with(name, ".lua") && !has_powers(name) &&
            count++ % (comparison.is_short ? 5 : 1) == 0) {
            compare_script(folder, name);
        }
        free(entries[k]);
    }
    free(entries);
    assert_true(count > 5);
    assert_agreement();
}

static void every_scenario_writes_the_same(void **state) {
    (void)state;
    compare_all("scenarios");
}

static void every_example_writes_the_same(void **state) {
    (void)state;
    compare_all("examples");
}

/* The mean velocity that a device sums up decides on the acceleration of the next steps. */
static void a_flow_that_is_held_writes_the_same(void **state) {
    (void)state;
    compare_script("tests/checkpoint", "drive.lua");
    assert_agreement();
}

/* A channel that blows up: found in the same look, with the same words but for the numbers. */
static void runs_diverge_at_the_same_step(void **state) {
    (void)state;
    const int backend[2] = {SEL_BACKEND_CPU, comparison.second_backend};
    for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
        script_case c = {.scenario = NULL};
        int64_t steps[2];
        char reason[2][768];
        comparing("a channel that blows up, %s", sel_precision_names[precision]);
        script_accepts(
            &c,
            "local sel = require 'selenite'\nlocal shape, law = sel.shape, sel.law\n"
            "return sel.lbm { lattice = 'D2Q9', size = { 128, 32 }, nu = 1e-6, collision = 'trt',\n"
            "stop = { steps = 100000 }, regions = {\n"
            "{ where = shape.faces, law = law.wall {} },\n"
            "{ where = shape.face 'x-', law = law.velocity { 0.1, 0 } },\n"
            "{ where = shape.face 'x+', law = law.pressure { 0 } } } }\n");
        for (int k = 0; k < 2; k++) {
            const sel_run_options options = {
                .settings = {.precision = precision, .backend = backend[k], .threads = 1},
                .directory = "diverging",
                .force = true};
            sel_error error = {.status = SEL_OK};
            sel_report report;
            if (sel_run(c.scenario, c.scenario->simulations, &options, &report, &error) !=
                SEL_DIVERGED) {
                disagree("run %d has not diverged: %s", k, error.text);
            }
            steps[k] = report.steps;
            snprintf(reason[k], sizeof reason[k], "%.*s", (int)strlen("diverged: at step 1000"),
                     report.stop_reason);
            sel_report_release(&report);
        }
        if (steps[0] != steps[1] || strcmp(reason[0], reason[1]) != 0) {
            disagree("stopped at steps %d and %d: \"%s\" and \"%s\"", (int)steps[0], (int)steps[1],
                     reason[0], reason[1]);
        }
        remove_directory("diverging");
        script_done(&c);
    }
    assert_agreement();
}

/* Two states in turns, on the first device and on the last, which may be the same. */
static void states_live_on_the_device_of_their_number(void **state) {
    (void)state;
    enum { N = 24 };
    static float velocity[2][2 * N * N];
    const sel_backend *backend =
        comparison.second_backend == SEL_BACKEND_CUDA ? lbm_solver.cuda : lbm_solver.cpu;
    const int count = backend->devices ? backend->devices() : 1;
    sel_prepared prepared[2];
    sel_state *made[2] = {NULL, NULL};
    script_case c = {.scenario = NULL};
    comparing("devices 0 and %d", count - 1);
    script_accepts(&c, "local sel = require 'selenite'\n"
                       "return sel.lbm { lattice = 'D2Q9', size = { 24, 24 }, nu = 0.02,\n"
                       "periodic = { 'x', 'y' }, stop = { steps = 100 }, initial = {\n"
                       "velocity = function(x, y) return 0.1 * math.sin(y), 0 end } }\n");
    for (int k = 0; k < 2; k++) {
        const sel_settings settings = {.precision = SEL_F32,
                                       .backend = comparison.second_backend,
                                       .threads = 1,
                                       .device = k * (count - 1)};
        assert_int_equal(sel_prepare(c.scenario->simulations, &settings, &prepared[k], &c.error),
                         SEL_OK);
        prepared[k].plan->wants_fields = ~0u;
        assert_int_equal(backend->create(prepared[k].plan, &made[k], &c.error), SEL_OK);
    }
    for (int turn = 0; turn < 6; turn++) {
        assert_int_equal(backend->advance(made[turn % 2], 70, false, &c.error), SEL_OK);
    }
    for (int k = 0; k < 2; k++) {
        sel_request read = {.kind = SEL_READ,
                            .field = sel_solver_field(&lbm_solver, 2, "velocity", &(int){0}),
                            .box = sel_grid_box(&prepared[k].domain->grid),
                            .precision = SEL_F32,
                            .components = 2,
                            .to = velocity[k]};
        assert_int_equal(backend->start(made[k], &read, &c.error), SEL_OK);
        assert_int_equal(backend->finish(made[k], &read, &c.error), SEL_OK);
        backend->destroy(made[k]);
        sel_prepared_release(&prepared[k]);
    }
    assert_memory_equal(velocity[0], velocity[1], sizeof velocity[0]);
    script_done(&c);
}

static void a_device_that_is_not_there_is_refused(void **state) {
    (void)state;
    char text[128];
    uint64_t free_bytes;
    sel_error error = {.status = SEL_OK};
    if (comparison.second_backend == SEL_BACKEND_CUDA) {
        snprintf(text, sizeof text,
                 "there is no device 99: CUDA has %d here, with numbers from 0 on",
                 lbm_solver.cuda->devices());
        assert_int_equal(lbm_solver.cuda->probe(99, &free_bytes, &error), SEL_NO_DEVICE);
        assert_string_equal(error.text, text);
        assert_int_equal(lbm_solver.cuda->probe(0, &free_bytes, &error), SEL_OK);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_is_not_there_is_refused),
        cmocka_unit_test(states_live_on_the_device_of_their_number),
        cmocka_unit_test(a_flow_that_is_held_writes_the_same),
        cmocka_unit_test(runs_diverge_at_the_same_step),
        cmocka_unit_test(every_scenario_writes_the_same),
        cmocka_unit_test(every_example_writes_the_same),
    };
    if (!comparison_begins(argc, argv, "test_cuda")) {
        return 0;
    }
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
