/* test_backend.c -- which backend a run takes, and runs on a device that lags behind its caller. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "engine/run/prepare.h"
#include "engine/base/hardware.h"
#include "engine/output/output.h"
#include "engine/run/run.h"
#include "tests/unit/fake_solver.h"
#include "tests/unit/files.h"

/* ---- a solver whose device takes its time, but no processor's ---- */

enum { CELLS = 1000, QUEUE = 2, STATE_BYTES = 8 * CELLS };

/* What the device is like, for all states of a test. */
static struct {
    bool absent;
    int number; /* the one that is there */
    double seconds_per_step;
    uint64_t free_bytes;
    double longest_chunk; /* seconds of steps in one call */
    int under_way;        /* requests started and not finished */
    int most_under_way;   /* when steps were asked for */
} the_device;

struct sel_state {
    int64_t step;
    double busy_until;  /* clock */
    double ends[QUEUE]; /* of the last chunks */
};

static void sleep_until(double clock) {
    double left = clock - sel_machine_seconds();
    if (left > 0) {
        struct timespec pause = {(time_t)left, (long)(1e9 * (left - floor(left)))};
        nanosleep(&pause, NULL);
    }
}

static sel_status device_probe(int device, uint64_t *free_bytes, sel_error *error) {
    if (device != the_device.number) {
        return sel_fail(error, SEL_NO_DEVICE, "there is no device %d", device);
    }
    if (the_device.absent) {
        return sel_fail(error, SEL_NO_DEVICE, "the driver is older than this build");
    }
    *free_bytes = the_device.free_bytes;
    return SEL_OK;
}

static sel_status cpu_probe(int device, uint64_t *free_bytes, sel_error *error) {
    (void)device, (void)error;
    *free_bytes = sel_machine_free_memory();
    return SEL_OK;
}

static sel_share any_estimate(const sel_plan *plan) {
    (void)plan;
    return (sel_share){.memory = STATE_BYTES};
}

static sel_status any_create(const sel_plan *plan, sel_state **state, sel_error *error) {
    (void)plan, (void)error;
    *state = calloc(1, sizeof **state);
    return SEL_OK;
}

static sel_status device_advance(sel_state *state, int64_t n, bool observed, sel_error *error) {
    (void)observed, (void)error;
    double now = sel_machine_seconds(), seconds = (double)n * the_device.seconds_per_step;
    state->busy_until = fmax(now, state->busy_until) + seconds;
    state->step += n;
    if (the_device.under_way > the_device.most_under_way) {
        the_device.most_under_way = the_device.under_way;
    }
    the_device.longest_chunk = fmax(the_device.longest_chunk, seconds);
    sleep_until(state->ends[0]);
    memmove(state->ends, state->ends + 1, (QUEUE - 1) * sizeof *state->ends);
    state->ends[QUEUE - 1] = state->busy_until;
    return SEL_OK;
}

static sel_status device_wait(sel_state *state, sel_error *error) {
    (void)error;
    sleep_until(state->busy_until);
    return SEL_OK;
}

static sel_status device_start(sel_state *state, sel_request *request, sel_error *error) {
    (void)error;
    request->bad_cell = -1;
    request->sum[0] = (double)state->step;
    request->count = CELLS;
    the_device.under_way++;
    request->centre[0] = state->busy_until; /* when it will be answered */
    return SEL_OK;
}

static sel_status device_finish(sel_state *state, sel_request *request, sel_error *error) {
    (void)state, (void)error;
    sleep_until(request->centre[0]);
    the_device.under_way--;
    return SEL_OK;
}

static int64_t any_whole(const sel_state *state) {
    return state->step;
}

static void any_destroy(sel_state *state) {
    free(state);
}

static void device_name(int device, char *text, size_t size) {
    snprintf(text, size, "a slow device%s", device ? ", not the first" : "");
}

static sel_status cpu_advance(sel_state *state, int64_t n, bool observed, sel_error *error) {
    sel_status status = device_advance(state, n, observed, error);
    sleep_until(state->busy_until);
    return status;
}

static void cpu_name(int device, char *text, size_t size) {
    (void)device;
    snprintf(text, size, "a processor");
}

static const sel_backend device_backend = {
    .name = "cuda",
    .probe = device_probe,
    .estimate = any_estimate,
    .create = any_create,
    .advance = device_advance,
    .wait = device_wait,
    .whole = any_whole,
    .start = device_start,
    .finish = device_finish,
    .destroy = any_destroy,
    .device = device_name,
};
static const sel_backend cpu_backend = {
    .name = "cpu",
    .probe = cpu_probe,
    .estimate = any_estimate,
    .create = any_create,
    .advance = cpu_advance,
    .whole = any_whole,
    .start = device_start,
    .finish = device_finish,
    .destroy = any_destroy,
    .device = cpu_name,
};

static sel_status make_plan(sel_plan *plan, sel_error *error) {
    (void)plan, (void)error;
    return SEL_OK;
}

static void no_facts(const sel_plan *plan, sel_facts *facts) {
    (void)plan, (void)facts;
}

static void no_json(const sel_plan *plan, FILE *to) {
    (void)plan;
    fputs("\"fake\": true", to);
}

static sel_cell_bytes eight_bytes(const sel_common *params, int precision) {
    (void)params, (void)precision;
    return (sel_cell_bytes){8, 8, 8};
}

static sel_solver solver;
static sel_common params;
static sel_simulation simulation;
static sel_reduce_params reduces[3];
static sel_variant outputs[3];
static const char *pressure[] = {"pressure"};
static char directory[DIRECTORY_ROOM];

static sel_where on_line(const sel_simulation *self, const char *field) {
    (void)self;
    return (sel_where){"test.lua", strcmp(field, "backend") == 0 ? 3 : 2};
}

/* A periodic box of 100 x 10 cells, with a device that is there and large enough. */
static int set_up(void **state) {
    (void)state;
    memset(&the_device, 0, sizeof the_device);
    the_device.seconds_per_step = 1e-4;
    the_device.free_bytes = 1000 * STATE_BYTES;
    solver = fake_solver;
    solver.main_field = 0;
    solver.plan_size = sizeof(sel_plan);
    solver.plan = make_plan;
    solver.facts = no_facts;
    solver.json = no_json;
    solver.bytes = eight_bytes;
    solver.cpu = &cpu_backend;
    solver.cuda = &device_backend;
    double none = (double)NAN;
    params = (sel_common){.size = {2, {100, 10, 1}},
                          .dx = 1,
                          .dt = 1,
                          .periodic = 3,
                          .reference = {none, none, none},
                          .stop = {SEL_INT_NOT_GIVEN, none, none, SEL_INT_NOT_GIVEN, none, none},
                          .precision = SEL_F64,
                          .threads = 1};
    simulation = (sel_simulation){.solver = &solver, .params = &params, .locate = on_line};
    make_directory(directory);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    static const char *const files[] = {"run.json", "run.log", "reduce0.csv", "reduce1.csv",
                                        "reduce2.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    return rmdir(directory);
}

/* ---- the choice ---- */

static sel_status prepare(int backend, sel_prepared *prepared, sel_error *error) {
    const sel_settings settings = {.precision = -1, .backend = backend};
    *error = (sel_error){.status = SEL_OK};
    return sel_prepare(&simulation, &settings, prepared, error);
}

static void assert_takes(int backend, const sel_backend *expected, const char *fallback) {
    sel_prepared prepared;
    sel_error error;
    assert_int_equal(prepare(backend, &prepared, &error), SEL_OK);
    assert_ptr_equal(prepared.backend, expected);
    assert_string_equal(prepared.choice.fallback, fallback);
    sel_prepared_release(&prepared);
}

static void assert_refuses(int backend, const char *text) {
    sel_prepared prepared;
    sel_error error;
    assert_int_equal(prepare(backend, &prepared, &error), SEL_NO_DEVICE);
    assert_string_equal(error.text, text);
    sel_prepared_release(&prepared);
}

static void auto_takes_a_device_that_can_be_used(void **state) {
    (void)state;
    assert_takes(SEL_BACKEND_AUTO, &device_backend, "");
    assert_takes(-1, &device_backend, "");
}

static void auto_falls_back_and_says_why(void **state) {
    (void)state;
    the_device.absent = true;
    assert_takes(SEL_BACKEND_AUTO, &cpu_backend,
                 sel_machine_has_gpu() ? "the driver is older than this build" : "");
}

static void auto_is_silent_in_a_build_without_devices(void **state) {
    (void)state;
    solver.cuda = NULL;
    assert_takes(SEL_BACKEND_AUTO, &cpu_backend, "");
}

static void cuda_is_refused_in_a_build_without_it(void **state) {
    (void)state;
    solver.cuda = NULL;
    assert_refuses(
        SEL_BACKEND_CUDA,
        "this build of Selenite has no CUDA backend for sel.fake; build it where nvcc is "
        "installed, or use --backend cpu");
}

static void cuda_is_refused_where_it_cannot_be_used(void **state) {
    (void)state;
    the_device.absent = true;
    assert_refuses(SEL_BACKEND_CUDA, "the driver is older than this build");
}

static void scenario_may_name_the_backend(void **state) {
    (void)state;
    params.backend = SEL_BACKEND_CPU;
    assert_takes(-1, &cpu_backend, "");
    assert_takes(SEL_BACKEND_CUDA, &device_backend, ""); /* the command line overrides it */
    params.backend = SEL_BACKEND_CUDA;
    solver.cuda = NULL;
    assert_refuses(-1,
                   "test.lua:3: this build of Selenite has no CUDA backend for sel.fake; build it "
                   "where nvcc is installed, or use --backend cpu");
}

static void device_is_taken_by_its_number(void **state) {
    (void)state;
    sel_prepared prepared;
    sel_error error = {.status = SEL_OK};
    sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CUDA, .device = 2};
    the_device.number = 2;
    assert_int_equal(sel_prepare(&simulation, &settings, &prepared, &error), SEL_OK);
    assert_int_equal(prepared.plan->device, 2);
    assert_string_equal(prepared.device, "a slow device, not the first");
    sel_prepared_release(&prepared);
    settings.device = 3;
    assert_int_equal(sel_prepare(&simulation, &settings, &prepared, &error), SEL_NO_DEVICE);
    assert_string_equal(error.text, "there is no device 3");
    sel_prepared_release(&prepared);
    assert_refuses(SEL_BACKEND_CUDA, "there is no device 0");
}

static void device_too_small_names_the_processor(void **state) {
    (void)state;
    the_device.free_bytes = STATE_BYTES / 2;
    const char *text = "test.lua:2: 1e+03 cells need 8 kB of memory on the device (a slow "
                       "device) and 4 kB are free; 5e+02 cells would fit, and --backend cpu has "
                       "room for all";
    assert_refuses(SEL_BACKEND_AUTO, text);
    assert_refuses(SEL_BACKEND_CUDA, text);
    assert_takes(SEL_BACKEND_CPU, &cpu_backend, "");
}

static void check_says_what_computes(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    sel_error error = {.status = SEL_OK};
    const sel_settings settings = {.precision = -1, .backend = -1};
    params.stop.steps = 10;
    the_device.absent = true;
    FILE *to = open_memstream(&text, &size);
    assert_int_equal(sel_check(&simulation, &settings, &(sel_check_wants){.ranks = 0}, to, &error),
                     SEL_OK);
    fclose(to);
    assert_non_null(strstr(text, sel_machine_has_gpu()
                                     ? "  backend                    cpu: a processor, 1 thread\n"
                                       "  no GPU can be used         the driver is older than this "
                                       "build\n"
                                     : "  backend                    cpu: a processor, 1 thread\n"
                                       "  memory"));
    assert_non_null(strstr(text, "  memory                     8 kB of "));
    free(text);
}

/* ---- runs ---- */

static sel_status run(int backend, sel_report *report, sel_error *error) {
    sel_run_options options = {
        .settings = {.precision = -1, .backend = backend}, .directory = directory, .force = true};
    sel_scenario scenario = {.count = 1, .simulations = &simulation};
    *error = (sel_error){.status = SEL_OK};
    return sel_run(&scenario, &simulation, &options, report, error);
}

/* A row per `every` steps of each of three files. */
static void add_outputs(int64_t every) {
    static const char *const names[] = {"reduce0", "reduce1", "reduce2"};
    for (int i = 0; i < 3; i++) {
        sel_table_presets(&sel_out_reduce_table, &reduces[i]);
        reduces[i].common.name = names[i];
        reduces[i].common.every = every;
        reduces[i].field = (sel_names){1, pressure};
        reduces[i].op = SEL_OF_SUM;
        outputs[i] = (sel_variant){&sel_out_reduce_table, &reduces[i], {NULL, 0}};
    }
    params.output = (sel_list){3, outputs, NULL};
}

static char *file_text(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    char *text = read_whole(path, NULL);
    assert_non_null(text);
    return text;
}

static void run_json_names_backend_and_device(void **state) {
    (void)state;
    sel_report report;
    sel_error error;
    params.stop.steps = 10;
    assert_int_equal(run(-1, &report, &error), SEL_OK);
    char *text = file_text("run.json");
    assert_non_null(strstr(text, "\"backend\": \"cuda\",\n  \"device\": \"a slow device\""));
    free(text);
    sel_report_release(&report);
}

/* Steps take 0.1 ms of the device's time, whoever waits for them and where. Other programs may keep
 * the processor from a run: one of several runs is that fast. */
static void speed_is_that_of_the_device(void **state) {
    (void)state;
    const double expected = 1e-6 * CELLS / the_device.seconds_per_step;
    const int64_t periods[] = {0, 37, 1500};
    params.stop.steps = 6000;
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        double speed = HUGE_VAL;
        if (periods[i]) {
            add_outputs(periods[i]);
        }
        for (int attempt = 0; attempt < 8 && !(fabs(speed / expected - 1) < 0.1); attempt++) {
            sel_report report;
            sel_error error;
            assert_int_equal(run(-1, &report, &error), SEL_OK);
            assert_int_equal(report.steps, 6000);
            speed = report.mcells_per_second;
            sel_report_release(&report);
        }
        if (!(fabs(speed / expected - 1) < 0.1)) {
            fail_msg("outputs every %d: %g, expected %g million updates per second",
                     (int)periods[i], speed, expected);
        }
    }
}

/* An interrupt waits for the chunks that are under way: about a tenth of a second each. */
static void chunks_stay_short_on_a_device_that_lags(void **state) {
    (void)state;
    sel_report report;
    sel_error error;
    the_device.seconds_per_step = 1e-3;
    params.stop.steps = 1200;
    assert_int_equal(run(-1, &report, &error), SEL_OK);
    sel_report_release(&report);
    assert_true(the_device.longest_chunk > 0.05);
    assert_true(the_device.longest_chunk < 0.2);
}

/* Outputs that are due together are asked together, and the run goes on before they are taken;
 * files and results are those of a backend that answers at once. */
static void outputs_are_taken_while_the_run_goes_on(void **state) {
    (void)state;
    sel_report report;
    sel_error error;
    params.stop.steps = 90;
    add_outputs(40);
    assert_int_equal(run(SEL_BACKEND_CPU, &report, &error), SEL_OK);
    sel_report_release(&report);
    char *at_once = file_text("reduce1.csv");
    assert_string_equal(at_once, "step,time,pressure\n0,0,0\n40,40,40\n80,80,80\n90,90,90\n");
    assert_int_equal(run(SEL_BACKEND_CUDA, &report, &error), SEL_OK);
    char *later = file_text("reduce1.csv");
    assert_string_equal(later, at_once);
    assert_int_equal(report.results.count, 3);
    assert_string_equal(report.results.v[0].name, "reduce0.pressure");
    assert_string_equal(report.results.v[2].name, "reduce2.pressure");
    assert_int_equal(the_device.most_under_way, 3);
    assert_int_equal(the_device.under_way, 0);
    sel_report_release(&report);
    free(at_once);
    free(later);
}

/* ---- hooks ---- */

/* At any step the header and a row for step 0, 40 and so on. */
static sel_status look(const sel_callback *self, struct sel_hook_run *hooks, sel_error *error) {
    (void)error;
    assert_int_equal(the_device.under_way, 0);
    char *text = file_text("reduce2.csv");
    int64_t lines = 0;
    for (const char *c = text; *c; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, 2 + hooks->step / 40);
    free(text);
    ++*(int *)self->data;
    return SEL_OK;
}

static void hooks_find_what_was_due_before_them(void **state) {
    (void)state;
    sel_report report;
    sel_error error;
    int calls = 0;
    const sel_callback call = {.call = look, .data = &calls};
    sel_hook hooks[] = {{.every = 20, .at = SEL_HOOK_BY_STEPS, .call = &call},
                        {.every = SEL_INT_NOT_GIVEN, .at = SEL_HOOK_AT_END, .call = &call}};
    params.hooks = (sel_list){2, hooks, NULL};
    params.stop.steps = 99;
    add_outputs(40);
    assert_int_equal(run(-1, &report, &error), SEL_OK);
    assert_int_equal(calls, 6);
    sel_report_release(&report);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(auto_takes_a_device_that_can_be_used),
        TEST(auto_falls_back_and_says_why),
        TEST(auto_is_silent_in_a_build_without_devices),
        TEST(cuda_is_refused_in_a_build_without_it),
        TEST(cuda_is_refused_where_it_cannot_be_used),
        TEST(scenario_may_name_the_backend),
        TEST(device_is_taken_by_its_number),
        TEST(device_too_small_names_the_processor),
        TEST(check_says_what_computes),
        TEST(run_json_names_backend_and_device),
        TEST(speed_is_that_of_the_device),
        TEST(chunks_stay_short_on_a_device_that_lags),
        TEST(outputs_are_taken_while_the_run_goes_on),
        TEST(hooks_find_what_was_due_before_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
