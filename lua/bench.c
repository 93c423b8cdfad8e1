/* bench.c -- `selenite bench`: measure the kernels: cell updates per second, and their share of the
 * copy bandwidth.
 *
 * Lattice Boltzmann reads and writes every population once, run-off reads the ground and reads and
 * writes a depth, conduction of heat reads and writes a temperature and, where materials differ,
 * reads conductances, a rule its fields, and they do little else: on a large grid the time of a
 * step is the time of moving its bytes. So the figure to look at is
 *
 *     updates per second * bytes per update / bytes per second of a copy, read and written
 *
 * It exceeds 1 where several steps share one pass over memory. Of Poisson's equation all iterations
 * to the solution count as one update, which would read and write the potential once: its share is
 * one over the time to solution in sweeps.
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
#include "engine/base/machine.h"
#include "engine/base/text.h"
#include "engine/base/version.h"
#include "engine/run/run.h"
#include "engine/solvers/aqua/aqua.h"
#include "engine/solvers/heat/heat.h"
#include "engine/solvers/lbm/lbm.h"
#include "engine/solvers/poisson/poisson.h"
#include "engine/solvers/rule/rule.h"
#include "lua/script.h"

typedef struct bench_case {
    sel_simulation simulation;
    const char *name;
    char kind[16], size[32], box[16], rule[32]; /* words of the name: "D2Q9", "512x512", ... */
    char left_out[1024];                        /* why it was; empty: it was not */
    sel_prepared prepared;
    sel_state *state;
    int64_t steps; /* per measurement; of an iteration to its end: those that it took */
    double rates[SEL_MOST_ROUNDS];
    double rate, bytes, copy; /* updates per second, bytes of each, bytes per second of a copy */
} bench_case;

/* All that one call measures. */
typedef struct bench {
    const sel_bench_options *options;
    sel_choice choice; /* of the backend */
    bool on_device;
    char device[256];
    int threads;
    sel_scenario *scenario; /* bench.lua */
    int count;
    bench_case *cases;
    FILE *to;
    int printed; /* results */
} bench;

/* ---- cases ---- */

static bool iterates(const bench_case *c) {
    return c->simulation.solver->iterates;
}

/* Seconds for n steps; of an iteration for all of it, from its start. */
static sel_status timed(bench_case *c, int64_t n, double *seconds, sel_error *error) {
    if (iterates(c)) {
        sel_status status = c->prepared.backend->restart(c->state, error);
        if (status)
            return status;
        n = c->simulation.params->stop.steps;
    }
    double before = sel_machine_seconds();
    sel_status status = c->prepared.backend->advance(c->state, n, false, error);
    status = status ? status : sel_backend_wait(c->prepared.backend, c->state, error);
    *seconds = sel_machine_seconds() - before;
    c->steps = iterates(c) ? c->state->step : c->steps;
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
    sel_settings settings = b->options->settings;
    sel_error failure = {.status = SEL_OK};
    settings.backend = b->on_device ? SEL_BACKEND_CUDA : SEL_BACKEND_CPU;
    settings.threads = b->threads;
    sel_status status = sel_set_up(&c->simulation, &settings, &c->prepared, &c->state, &failure);
    if (status) {
        release(c);
        snprintf(c->left_out, sizeof c->left_out, "%.1000s", failure.text);
        return status == SEL_NO_DEVICE ? SEL_OK : sel_fail(error, status, "%s", failure.text);
    }
    double seconds = 0;
    status = timed(c, 2, &seconds, error);
    for (c->steps = 2; !status && !iterates(c) && seconds < b->options->seconds / 2; c->steps *= 2)
        status = timed(c, c->steps, &seconds, error);
    return status;
}

/* ---- printing ---- */

static void print_head(const bench *b) {
    const int rounds = b->options->rounds;
    const char *fallback = b->choice.fallback, *backend = b->choice.backend->name;
    char date[SEL_TIME_ROOM], why[600] = "";
    if (*fallback)
        snprintf(why, sizeof why, "no GPU can be used: %s", fallback);
    if (!b->options->json) {
        fprintf(b->to, "%s: %s, %d threads; medians of %d rounds\n%s\n%s", backend, b->device,
                b->threads, rounds, why, *why ? "\n" : "");
        fputs("kind    precision cells        box      rule        Mcells/s bytes    GB/s copy "
              "GB/s of copy\n",
              b->to);
        return;
    }
    const char *const texts[][2] = {{"selenite", sel_version()},
                                    {"commit", sel_commit()},
                                    {"date", sel_time_text(time(NULL), date)},
                                    {"backend", backend},
                                    {"device", b->device},
                                    {"fallback", why}};
    for (int i = 0; i < 5 + (*why != '\0'); i++) {
        fprintf(b->to, "%s\n  \"%s\": ", i ? "," : "{", texts[i][0]);
        sel_json_string(b->to, texts[i][1]);
    }
    fprintf(b->to, ",\n  \"threads\": %d,\n  \"rounds\": %d,\n  \"results\": [", b->threads,
            rounds);
}

static double ratio_to_copy(const bench_case *c) {
    return c->copy > 0 ? c->rate * c->bytes / c->copy : (double)NAN;
}

/* To the solution. */
static double seconds_of(const bench_case *c) {
    return (double)sel_grid_cells(&c->prepared.domain->grid) / c->rate;
}

static void print_row(const bench *b, const bench_case *c) {
    fprintf(b->to, "%-7s %-9s %-12s %-8s %-11s %8.1f %5.0f %7.1f %9.1f %5.1f %%\n", c->kind,
            sel_precision_names[c->simulation.params->precision], c->size, c->box, c->rule,
            c->rate / 1e6, c->bytes, c->rate * c->bytes / 1e9, c->copy / 1e9,
            100 * ratio_to_copy(c));
    if (iterates(c))
        fprintf(b->to,
                "        %lld cycles, %.3g ms: %.1f sweeps of reading and writing the grid\n",
                (long long)c->steps, 1e3 * seconds_of(c), 1 / ratio_to_copy(c));
}

/* The words of the name as members. */
static void json_words(const bench_case *c, FILE *to) {
    if (c->simulation.solver == &lbm_solver) {
        fprintf(to, "\"lattice\": \"%s\", \"box\": \"%s\", \"collision\": \"%s\"", c->kind, c->box,
                c->rule);
        return;
    }
    if (c->simulation.solver == &heat_solver) {
        fprintf(to, "\"body\": \"%s\", \"laws\": \"%s\"", c->box, c->rule);
        return;
    }
    if (c->simulation.solver == &rule_solver) {
        fprintf(to, "\"rule\": \"%s\"", c->box);
        return;
    }
    if (iterates(c)) {
        fprintf(to, "\"rhs\": \"%s\", \"method\": \"%s\", \"cycles\": %lld, \"seconds\": ", c->box,
                c->rule, (long long)c->steps);
        sel_json_number(to, seconds_of(c));
        fputs(", \"sweeps\": ", to);
        sel_json_number(to, 1 / ratio_to_copy(c));
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

static void print_json(const bench *b, const bench_case *c) {
    const sel_ints *size = &c->simulation.params->size;
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"updates_per_second", c->rate},
                   {"bytes_per_update", c->bytes},
                   {"copy_bandwidth", c->copy},
                   {"ratio_to_copy", ratio_to_copy(c)}};
    fprintf(b->to, "%s\n    {\"solver\": \"%s\", ", b->printed ? "," : "",
            c->simulation.solver->name);
    json_words(c, b->to);
    fprintf(b->to, ", \"precision\": \"%s\", \"size\": ",
            sel_precision_names[c->simulation.params->precision]);
    for (int a = 0; a < size->n; a++)
        fprintf(b->to, "%s%d", a ? ", " : "[", (int)size->v[a]);
    fputc(']', b->to);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        fprintf(b->to, ", \"%s\": ", numbers[k].key);
        sel_json_number(b->to, numbers[k].value);
    }
    fputc('}', b->to);
}

static void print_foot(const bench *b) {
    const bool json = b->options->json;
    const char *between = "";
    fputs(json ? "\n  ],\n  \"left_out\": [" : "", b->to);
    for (const bench_case *c = b->cases; c < b->cases + b->count; c++) {
        if (*c->left_out && json) {
            fprintf(b->to, "%s\n    {\"case\": \"%s\", \"reason\": ", between, c->name);
            sel_json_string(b->to, c->left_out);
            fputc('}', b->to);
            between = ",";
        } else if (*c->left_out) {
            fprintf(b->to, "left out: %s: %s\n", c->name, c->left_out);
        }
    }
    fputs(json ? "\n  ]\n}\n" : "", b->to);
}

/* ---- the whole ---- */

static sel_status choose_backend(bench *b, sel_error *error) {
    const sel_settings *settings = &b->options->settings;
    sel_status status =
        sel_backend_choose(&lbm_solver, settings->backend, settings->device, &b->choice, error);
    if (status)
        return status;
    b->on_device = b->choice.backend != lbm_solver.cpu;
    b->threads = settings->threads ? (int)settings->threads : sel_machine_threads();
    b->choice.backend->device(settings->device, b->device, sizeof b->device);
    return SEL_OK;
}

static sel_status load_cases(bench *b, sel_error *error) {
    static const char *const on_device[] = {"device=true", NULL};
    const sel_script_options options = {.text = (const char *)bench_lua,
                                        .text_length = sizeof bench_lua,
                                        .assignments = b->on_device ? on_device : NULL};
    sel_status status = sel_script_load("bench.lua", &options, &b->scenario, error);
    if (!status)
        b->cases =
            sel_arena_alloc(b->scenario->arena, (size_t)b->scenario->count * sizeof *b->cases);
    return status || b->cases ? status : sel_fail_memory(error, "the benchmark", 0);
}

/* Keeps of all cases of the backend those that are asked for. */
static sel_status pick_cases(bench *b, sel_error *error) {
    char pattern[256], all[6144] = "";
    snprintf(pattern, sizeof pattern, "*%.250s*", b->options->only ? b->options->only : "");
    for (int i = 0; i < b->scenario->count; i++) {
        bench_case *c = &b->cases[b->count];
        *c = (bench_case){.simulation = b->scenario->simulations[i]};
        c->simulation.locate = NULL; /* users know no lines of bench.lua */
        c->name = c->simulation.params->name;
        sscanf(c->name, "%15s %*s %31s %15s %31[^\n]", c->kind, c->size, c->box, c->rule);
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "\n  %s", c->name);
        b->count += fnmatch(pattern, c->name, 0) == 0;
    }
    return b->count ? SEL_OK
                    : sel_fail(error, SEL_BAD_USAGE, "no case of %s is called '%s'; there are%s",
                               b->choice.backend->name, b->options->only, all);
}

/* A measurement of each case, after one of the bandwidth. */
static sel_status measure_round(const bench *b, bench_case *cases, int count, int round,
                                double *copy, sel_error *error) {
    sel_status status = SEL_OK;
    *copy = b->choice.backend->bandwidth(b->options->settings.device, b->threads);
    for (bench_case *c = cases; c < cases + count && !status; c++) {
        double seconds = 1;
        if (c->state) {
            status = timed(c, c->steps, &seconds, error);
            const double cells = (double)sel_grid_cells(&c->prepared.domain->grid);
            c->rates[round] = cells * (double)(iterates(c) ? 1 : c->steps) / seconds;
        }
    }
    return status;
}

/* Measures and prints cases that exist together. */
static sel_status measure(bench *b, bench_case *cases, int count, sel_error *error) {
    double copies[SEL_MOST_ROUNDS] = {0};
    const int rounds = b->options->rounds;
    sel_status status = SEL_OK;
    for (int i = 0; i < count && !status; i++)
        status = set_up(b, &cases[i], error);
    for (int round = 0; round < rounds && !status; round++)
        status = measure_round(b, cases, count, round, &copies[round], error);
    for (bench_case *c = cases; c < cases + count; c++) {
        if (c->state && !status) {
            const int precision = c->prepared.plan->precision;
            c->rate = sel_median(c->rates, rounds);
            c->bytes = iterates(c)
                           ? 2 * sizeof(double)
                           : c->simulation.solver->bytes(c->simulation.params, precision).update;
            c->copy = sel_median(copies, rounds);
            (b->options->json ? print_json : print_row)(b, c);
            b->printed++;
        }
        release(c);
    }
    fflush(b->to);
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
        for (int first = 0; first < b.count && !status; first += together)
            status = measure(&b, b.cases + first, together, error);
        print_foot(&b);
    }
    sel_scenario_destroy(b.scenario);
    return status;
}
