/* bench.c -- measure the kernels: cell updates per second, and their share of the copy bandwidth.
 *
 * Lattice Boltzmann moves every population once in and once out, and does little else: on a large
 * grid the time of a step is the time of moving its bytes. So the figure to look at is
 *
 *     updates per second * bytes per update / copy bandwidth with streaming stores
 *
 * All cases exist at once and are measured in turn, round after round, the bandwidth among them;
 * the median of the rounds counts.
 */
#include "engine/bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/bandwidth.h"
#include "engine/json.h"
#include "engine/lbm/lbm.h"
#include "engine/machine.h"
#include "engine/prepare.h"
#include "engine/version.h"
#include "geometry/shape.h"

enum { MAX_ROUNDS = 31 };

typedef struct bench_case {
    int side, precision, collision;
    bool walls; /* a lid-driven cavity; else a periodic box */

    lbm_params params;
    sel_region regions[2];
    lbm_law_wall at_rest, lid;
    sel_simulation simulation;
    sel_prepared prepared;
    sel_state *state;
    int64_t steps; /* per measurement */
    double rates[MAX_ROUNDS];
} bench_case;

static const bench_case all_cases[] = {
    {.side = 512, .precision = SEL_F32, .collision = LBM_TRT},
    {.side = 512, .precision = SEL_F64, .collision = LBM_TRT},
    {.side = 2048, .precision = SEL_F32, .collision = LBM_TRT},
    {.side = 2048, .precision = SEL_F32, .collision = LBM_TRT, .walls = true},
    {.side = 2048, .precision = SEL_F32, .collision = LBM_BGK},
    {.side = 2048, .precision = SEL_F32, .collision = LBM_REGULARIZED},
    {.side = 2048, .precision = SEL_F64, .collision = LBM_TRT},
    {.side = 2048, .precision = SEL_F64, .collision = LBM_TRT, .walls = true},
};
enum { CASES = sizeof all_cases / sizeof *all_cases };

static void describe(bench_case *c, sel_arena *arena) {
    sel_table_presets(lbm_solver.table, &c->params);
    sel_common *common = &c->params.common;
    common->size = (sel_ints){2, {c->side, c->side, 1}};
    common->precision = c->precision;
    common->stop.steps = 1;
    c->params.collision = c->collision;
    c->params.tau = 0.6;
    c->params.initial.velocity = sel_constant2(0.03, 0.02);
    if (c->walls) {
        c->lid.velocity = sel_constant2(0.1, 0);
        c->regions[0] = (sel_region){.where = sel_shape_face(arena, SEL_Y_MAX),
                                     .law = {&lbm_wall_table, &c->lid, {NULL, 0}}};
        c->regions[1] = (sel_region){.where = sel_shape_make(arena, SEL_SHAPE_REST, NULL),
                                     .law = {&lbm_wall_table, &c->at_rest, {NULL, 0}}};
        common->regions = (sel_list){2, c->regions, NULL};
    } else {
        common->periodic = 3;
    }
    c->simulation = (sel_simulation){.solver = &lbm_solver, .params = common};
}

/* Seconds for n steps. */
static sel_status timed(bench_case *c, int64_t n, double *seconds, sel_error *error) {
    double before = sel_machine_seconds();
    sel_status status = c->prepared.backend->advance(c->state, n, error);
    *seconds = sel_machine_seconds() - before;
    return status;
}

/* Creates the state and finds how many steps fill a measurement. */
static sel_status set_up(bench_case *c, const sel_bench_options *options, sel_error *error) {
    sel_settings settings = {
        .precision = -1, .threads = options->threads ? options->threads : sel_machine_threads()};
    double seconds = 0;
    sel_status status = sel_prepare(&c->simulation, &settings, &c->prepared, error);
    if (!status) {
        status = c->prepared.backend->create(c->prepared.plan, &c->state, error);
    }
    status = status ? status : timed(c, 2, &seconds, error);
    for (c->steps = 2; !status && seconds < options->seconds / 2; c->steps *= 2) {
        status = timed(c, c->steps, &seconds, error);
    }
    return status;
}

static void release(bench_case *c) {
    if (c->prepared.backend) {
        c->prepared.backend->destroy(c->state);
        sel_prepared_release(&c->prepared);
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static sel_status measure(bench_case *cases, const sel_bench_options *options, double *bandwidths,
                          sel_error *error) {
    sel_status status = SEL_OK;
    int threads = cases[0].prepared.plan->threads;
    for (int round = 0; round < options->rounds && !status; round++) {
        bandwidths[round] = sel_bandwidth_copy(threads);
        for (int i = 0; i < CASES && !status; i++) {
            double seconds = 0, cells = (double)cases[i].side * cases[i].side;
            status = timed(&cases[i], cases[i].steps, &seconds, error);
            cases[i].rates[round] = cells * (double)cases[i].steps / seconds;
        }
    }
    return status;
}

static const char *box_name(const bench_case *c) {
    return c->walls ? "cavity" : "periodic";
}

static void print_table(bench_case *cases, int rounds, double bandwidth, FILE *to) {
    char device[256];
    lbm_solver.cpu->device(device, sizeof device);
    fprintf(to, "%s, %d threads; copy with streaming stores %.2f GB/s; medians of %d rounds\n\n",
            device, cases[0].prepared.plan->threads, bandwidth / 1e9, rounds);
    fputs("lattice  precision  cells        box       collision       MLUPS  bytes  GB/s    of "
          "copy\n",
          to);
    for (int i = 0; i < CASES; i++) {
        bench_case *c = &cases[i];
        double rate = median(c->rates, rounds);
        double bytes = lbm_solver.bytes_per_update(c->prepared.plan);
        fprintf(to, "D2Q9     %-9s  %4d x %-4d  %-8s  %-11s  %8.1f  %5.0f  %6.2f  %5.1f %%\n",
                sel_precision_names[c->precision], c->side, c->side, box_name(c),
                lbm_collision_names[c->collision], rate / 1e6, bytes, rate * bytes / 1e9,
                100 * rate * bytes / bandwidth);
    }
}

static void json_entry(FILE *to, const char *key, double value) {
    fprintf(to, ", \"%s\": ", key);
    sel_json_number(to, value);
}

static void print_json(bench_case *cases, int rounds, double bandwidth, FILE *to) {
    char text[256];
    time_t now = time(NULL);
    struct tm utc;
    fputs("{\n  \"selenite\": ", to);
    sel_json_string(to, sel_version());
    fputs(",\n  \"commit\": ", to);
    sel_json_string(to, sel_commit());
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    fprintf(to, ",\n  \"date\": \"%s\",\n  \"device\": ", text);
    lbm_solver.cpu->device(text, sizeof text);
    sel_json_string(to, text);
    fprintf(to, ",\n  \"threads\": %d,\n  \"rounds\": %d,\n  \"copy_bandwidth\": ",
            cases[0].prepared.plan->threads, rounds);
    sel_json_number(to, bandwidth);
    fputs(",\n  \"results\": [\n", to);
    for (int i = 0; i < CASES; i++) {
        bench_case *c = &cases[i];
        double rate = median(c->rates, rounds);
        double bytes = lbm_solver.bytes_per_update(c->prepared.plan);
        fprintf(to,
                "    {\"lattice\": \"D2Q9\", \"precision\": \"%s\", \"size\": [%d, %d], \"box\": "
                "\"%s\", \"collision\": \"%s\"",
                sel_precision_names[c->precision], c->side, c->side, box_name(c),
                lbm_collision_names[c->collision]);
        json_entry(to, "updates_per_second", rate);
        json_entry(to, "bytes_per_update", bytes);
        json_entry(to, "ratio_to_copy", rate * bytes / bandwidth);
        fputs(i + 1 < CASES ? "},\n" : "}\n", to);
    }
    fputs("  ]\n}\n", to);
}

sel_status sel_bench(const sel_bench_options *options, FILE *to, sel_error *error) {
    double bandwidths[MAX_ROUNDS];
    sel_arena *arena = sel_arena_create();
    bench_case *cases = malloc(sizeof all_cases);
    if (!arena || !cases) {
        sel_arena_destroy(arena);
        free(cases);
        return sel_fail_memory(error, "the benchmark", sizeof all_cases);
    }
    memcpy(cases, all_cases, sizeof all_cases);
    sel_status status = SEL_OK;
    for (int i = 0; i < CASES && !status; i++) {
        describe(&cases[i], arena);
        status = set_up(&cases[i], options, error);
    }
    status = status ? status : measure(cases, options, bandwidths, error);
    if (!status) {
        double bandwidth = median(bandwidths, options->rounds);
        (options->json ? print_json : print_table)(cases, options->rounds, bandwidth, to);
    }
    for (int i = 0; i < CASES; i++) {
        release(&cases[i]);
    }
    free(cases);
    sel_arena_destroy(arena);
    return status;
}
