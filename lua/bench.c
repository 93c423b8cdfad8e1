/* bench.c -- `selenite bench`: measure the kernels: cell updates per second, and their share of the
 * copy bandwidth.
 *
 * Lattice Boltzmann moves every population once in and once out, run-off reads a bed and moves a
 * depth, and they do little else: on a large grid the time of a step is the time of moving its
 * bytes. So the figure to look at is
 *
 *     updates per second * bytes per update / bytes per second of a copy, read and written
 *
 * On the CPU all cases exist at once and are measured in turn, round after round, the bandwidth
 * among them; on a device, whose memory a large case fills, one after the other, each with the
 * bandwidth in every round. The median of the rounds counts.
 */
#include <fnmatch.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include "bench_lua.h"
#include "engine/solvers/aqua/aqua.h"
#include "engine/base/text.h"
#include "engine/solvers/lbm/lbm.h"
#include "engine/base/machine.h"
#include "engine/run/run.h"
#include "engine/base/version.h"
#include "lua/script.h"

typedef struct bench_case {
    sel_simulation simulation;
    const char *name;
    char kind[16], size[32], box[16], rule[32]; /* words of the name: "D2Q9", "512x512", ... */
    char left_out[1024];                        /* why it was; empty: it was not */
    sel_prepared prepared;
    sel_state *state;
    int64_t steps; /* per measurement */
    double rates[SEL_MOST_ROUNDS];
    double rate, bytes, copy; /* updates per second, bytes of each, bytes per second of a copy */
} bench_case;

/* All that one call measures. */
typedef struct bench {
    const sel_bench_options *options;
    const sel_backend *backend;
    char device[256];
    char fallback[512]; /* why the CPU was taken; empty: it was asked for, or no GPU is known */
    int threads;
    sel_scenario *scenario; /* bench.lua */
    bool on_device;
    int count;
    bench_case *cases;
    FILE *to;
    int printed; /* results */
} bench;

/* ---- cases ---- */

/* Seconds for n steps. */
static sel_status timed(bench_case *c, int64_t n, double *seconds, sel_error *error) {
    double before = sel_machine_seconds();
    sel_status status = c->prepared.backend->advance(c->state, n, false, error);
    status = status ? status : sel_backend_wait(c->prepared.backend, c->state, error);
    *seconds = sel_machine_seconds() - before;
    return status;
}

static void release(bench_case *c) {
    if (c->prepared.backend) {
        c->prepared.backend->destroy(c->state);
        sel_prepared_release(&c->prepared);
    }
    c->state = NULL;
    c->prepared.backend = NULL;
}

/* Creates the state, unless it does not fit, and finds how many steps fill a measurement. */
static sel_status set_up(const bench *b, bench_case *c, sel_error *error) {
    const sel_settings settings = {.precision = -1,
                                   .backend = b->on_device ? SEL_BACKEND_CUDA : SEL_BACKEND_CPU,
                                   .threads = b->threads,
                                   .device = b->options->device};
    sel_error failure = {.status = SEL_OK};
    sel_status status = sel_set_up(&c->simulation, &settings, &c->prepared, &c->state, &failure);
    if (status) {
        release(c);
        snprintf(c->left_out, sizeof c->left_out, "%.1000s", failure.text);
        return status == SEL_NO_DEVICE ? SEL_OK : sel_fail(error, status, "%s", failure.text);
    }
    double seconds = 0;
    status = timed(c, 2, &seconds, error);
    for (c->steps = 2; !status && seconds < b->options->seconds / 2; c->steps *= 2) {
        status = timed(c, c->steps, &seconds, error);
    }
    return status;
}

/* ---- printing ---- */

static void print_head(const bench *b) {
    if (!b->options->json) {
        fprintf(b->to, "%s: %s, %d threads; medians of %d rounds\n", b->backend->name, b->device,
                b->threads, b->options->rounds);
        fprintf(b->to, "%s%s\n", b->fallback, *b->fallback ? "\n" : "");
        fputs(
            "kind    precision cells        box      rule        Mcells/s bytes    GB/s copy GB/s "
            "of copy\n",
            b->to);
        return;
    }
    char date[SEL_TIME_ROOM];
    fputs("{\n  \"selenite\": ", b->to);
    sel_json_string(b->to, sel_version());
    fputs(",\n  \"commit\": ", b->to);
    sel_json_string(b->to, sel_commit());
    fprintf(b->to, ",\n  \"date\": \"%s\",\n  \"backend\": \"%s\",\n  \"device\": ",
            sel_time_text(time(NULL), date), b->backend->name);
    sel_json_string(b->to, b->device);
    if (*b->fallback) {
        fputs(",\n  \"fallback\": ", b->to);
        sel_json_string(b->to, b->fallback);
    }
    fprintf(b->to, ",\n  \"threads\": %d,\n  \"rounds\": %d,\n  \"results\": [", b->threads,
            b->options->rounds);
}

static double ratio_to_copy(const bench_case *c) {
    return c->copy > 0 ? c->rate * c->bytes / c->copy : (double)NAN;
}

static void print_row(const bench *b, const bench_case *c) {
    fprintf(b->to, "%-7s %-9s %-12s %-8s %-11s %8.1f %5.0f %7.1f %9.1f %5.1f %%\n", c->kind,
            sel_precision_names[c->simulation.params->precision], c->size, c->box, c->rule,
            c->rate / 1e6, c->bytes, c->rate * c->bytes / 1e9, c->copy / 1e9,
            100 * ratio_to_copy(c));
}

static void json_entry(FILE *to, const char *key, double value) {
    fprintf(to, ", \"%s\": ", key);
    sel_json_number(to, value);
}

/* The words of the name as members. */
static void json_words(const bench_case *c, FILE *to) {
    if (c->simulation.solver == &lbm_solver) {
        fprintf(to, "\"lattice\": \"%s\", \"box\": \"%s\", \"collision\": \"%s\"", c->kind, c->box,
                c->rule);
        return;
    }
    const aqua_params *params = (const aqua_params *)c->simulation.params;
    fprintf(to, "\"equilibrium\": \"%s\", \"ground\": \"%s\", \"water\": \"%s\", \"rain\": \"%s\"",
            aqua_equilibrium_names[params->equilibrium],
            strstr(c->rule, "rough") ? "rough" : "smooth", c->box,
            strcmp(c->rule, "rain(t)") == 0       ? "in time"
            : strcmp(c->rule, "rain(x,y,t)") == 0 ? "moving"
                                                  : "none");
}

static void print_result(const bench *b, const bench_case *c) {
    const sel_ints *size = &c->simulation.params->size;
    fprintf(b->to, "%s\n    {\"solver\": \"%s\", ", b->printed ? "," : "",
            c->simulation.solver->name);
    json_words(c, b->to);
    fprintf(b->to, ", \"precision\": \"%s\", \"size\": [",
            sel_precision_names[c->simulation.params->precision]);
    for (int a = 0; a < size->n; a++) {
        fprintf(b->to, "%s%d", a ? ", " : "", (int)size->v[a]);
    }
    fputc(']', b->to);
    json_entry(b->to, "updates_per_second", c->rate);
    json_entry(b->to, "bytes_per_update", c->bytes);
    json_entry(b->to, "copy_bandwidth", c->copy);
    json_entry(b->to, "ratio_to_copy", ratio_to_copy(c));
    fputc('}', b->to);
}

static void print_results(bench *b, const bench_case *cases, int count) {
    for (int i = 0; i < count; i++) {
        if (*cases[i].left_out) {
            continue;
        }
        (b->options->json ? print_result : print_row)(b, &cases[i]);
        b->printed++;
    }
    fflush(b->to);
}

static void print_left_out(const bench *b) {
    for (int i = 0, printed = 0; i < b->count; i++) {
        const bench_case *c = &b->cases[i];
        if (*c->left_out && !b->options->json) {
            fprintf(b->to, "left out: %s: %s\n", c->name, c->left_out);
        } else if (*c->left_out) {
            fprintf(b->to, "%s\n    {\"case\": \"%s\", \"reason\": ", printed++ ? "," : "",
                    c->name);
            sel_json_string(b->to, c->left_out);
            fputc('}', b->to);
        }
    }
}

static void print_foot(const bench *b) {
    if (!b->options->json) {
        print_left_out(b);
        return;
    }
    fputs("\n  ],\n  \"left_out\": [", b->to);
    print_left_out(b);
    fputs("\n  ]\n}\n", b->to);
}

/* ---- the whole ---- */

static sel_status choose_backend(bench *b, sel_error *error) {
    const sel_bench_options *options = b->options;
    int wanted = options->backend < 0 ? SEL_BACKEND_AUTO : options->backend;
    sel_choice choice;
    sel_status status = sel_backend_choose(&lbm_solver, wanted, options->device, &choice, error);
    if (status) {
        return status;
    }
    b->backend = choice.backend;
    b->on_device = choice.backend != lbm_solver.cpu;
    b->threads = options->threads ? options->threads : sel_machine_threads();
    b->backend->device(options->device, b->device, sizeof b->device);
    if (*choice.fallback) {
        snprintf(b->fallback, sizeof b->fallback, "no GPU can be used: %.450s", choice.fallback);
    }
    return SEL_OK;
}

static sel_status load_cases(bench *b, sel_error *error) {
    static const char *const on_device[] = {"device=true"};
    const sel_script_options options = {.text = (const char *)bench_lua,
                                        .text_length = sizeof bench_lua,
                                        .count = b->on_device,
                                        .assignments = on_device};
    sel_status status = sel_script_load("bench.lua", &options, &b->scenario, error);
    if (!status) {
        b->cases =
            sel_arena_alloc(b->scenario->arena, (size_t)b->scenario->count * sizeof *b->cases);
    }
    return status || b->cases ? status : sel_fail_memory(error, "the benchmark", 0);
}

/* Keeps of all cases of the backend those that are asked for. */
static sel_status pick_cases(bench *b, sel_error *error) {
    char pattern[256], all[6144] = "";
    snprintf(pattern, sizeof pattern, "*%.250s*", b->options->only ? b->options->only : "");
    for (int i = 0; i < b->scenario->count; i++) {
        bench_case *c = &b->cases[b->count];
        c->simulation = b->scenario->simulations[i];
        c->simulation.locate = NULL; /* users know no lines of bench.lua */
        c->name = c->simulation.params->name;
        sscanf(c->name, "%15s %*s %31s %15s %31[^\n]", c->kind, c->size, c->box, c->rule);
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "\n  %s", c->name);
        b->count += fnmatch(pattern, c->name, 0) == 0;
    }
    return b->count ? SEL_OK
                    : sel_fail(error, SEL_BAD_USAGE, "no case of %s is called '%s'; there are%s",
                               b->backend->name, b->options->only, all);
}

/* Measures the cases [first, first + count), which exist together. */
static sel_status measure(bench *b, int first, int count, sel_error *error) {
    bench_case *cases = b->cases + first;
    double copies[SEL_MOST_ROUNDS] = {0};
    int rounds = b->options->rounds;
    sel_status status = SEL_OK;
    for (int i = 0; i < count && !status; i++) {
        status = set_up(b, &cases[i], error);
    }
    for (int round = 0; round < rounds && !status; round++) {
        copies[round] = b->backend->bandwidth(b->options->device, b->threads);
        for (int i = 0; i < count && !status; i++) {
            bench_case *c = &cases[i];
            double seconds = 1;
            if (c->state) {
                status = timed(c, c->steps, &seconds, error);
                const double cells = (double)sel_grid_cells(&c->prepared.domain->grid);
                c->rates[round] = cells * (double)c->steps / seconds;
            }
        }
    }
    for (int i = 0; i < count; i++) {
        if (cases[i].state && !status) {
            cases[i].rate = sel_median(cases[i].rates, rounds);
            const sel_simulation *simulation = &cases[i].simulation;
            const int precision = cases[i].prepared.plan->precision;
            cases[i].bytes = simulation->solver->bytes(simulation->params, precision).update;
            cases[i].copy = sel_median(copies, rounds);
        }
        release(&cases[i]);
    }
    if (!status) {
        print_results(b, cases, count);
    }
    return status;
}

sel_status sel_bench(const sel_bench_options *options, FILE *to, sel_error *error) {
    bench b = {.options = options, .to = to};
    sel_status status = choose_backend(&b, error);
    status = status ? status : load_cases(&b, error);
    status = status ? status : pick_cases(&b, error);
    if (!status) {
        print_head(&b);
        int together = b.on_device ? 1 : b.count;
        for (int first = 0; first < b.count && !status; first += together) {
            status = measure(&b, first, together, error);
        }
        print_foot(&b);
    }
    sel_scenario_destroy(b.scenario);
    return status;
}
