/* bench.c -- `selenite bench`: measure cell updates per second, and the fraction of the copy
 * bandwidth that they use.
 *
 * On a large grid the time of a step is the time of moving its bytes. Per cell and step
 *
 *     lattice Boltzmann   reads and writes every population
 *     runoff              reads the ground, reads and writes a depth
 *     heat                reads and writes a temperature; reads conductances if materials differ
 *     rule                reads its fields, writes its state
 *
 * So the efficiency is
 *
 *     updates per second * bytes per update / bytes per second of a copy (read and written)
 *
 * It exceeds 1 where several steps share one pass over memory. For Poisson's equation all
 * iterations to the solution count as one update, which reads and writes the potential once: its
 * efficiency is one over the number of sweeps that would take as long.
 *
 * On the CPU all cases exist at once. Each round measures every case and the bandwidth. On a
 * device, whose memory one large case may fill, cases are measured one after the other, with the
 * bandwidth in every round. The median of the rounds counts.
 *
 * Several ranks are compared with one rank, in turn: rank 0 runs alone while the others sleep.
 * Strong scaling keeps the grid; weak scaling has N times the cells on N ranks. The single rank
 * uses the threads of all ranks of its machine, as far as it may. The efficiency of ranks is
 *
 *     updates per second / (those of one rank * threads of all ranks / threads of that rank)
 */
#include <fnmatch.h>
#include <math.h>
#include <omp.h>
#include <string.h>
#include <time.h>
#include "bench_lua.h"
#include "engine/base/hardware.h"
#include "engine/base/text.h"
#include "engine/base/version.h"
#include "engine/run/prepare.h"
#include "engine/run/run.h"
#include "engine/solvers/aqua/aqua.h"
#include "engine/solvers/heat/heat.h"
#include "engine/solvers/lbm/lbm.h"
#include "engine/solvers/poisson/poisson.h"
#include "engine/solvers/rule/rule.h"
#include "lua/commands/commands.h"

typedef struct bench_case {
    sel_simulation simulation;
    const char *name;
    char kind[16], size[32], box[16], rule[32]; /* words of the name: "D2Q9", "512x512", ... */
    char left_out[1024];                        /* why it is left out; empty: it is measured */
    int number;                                 /* of the simulation */
    const sel_ranks *ranks;                     /* that compute it; NULL: this process */
    const char *scaling; /* "strong", "weak"; NULL: not compared with one rank */
    sel_prepared prepared;
    sel_state *state;
    int64_t steps; /* per measurement; of Poisson's equation: the iterations to the solution */
    double rates[SEL_MOST_ROUNDS];
    double rate;  /* median of rates, updates per second */
    double bytes; /* per update */
    double copy;  /* bytes per second of a copy */
} bench_case;

/* One call of sel_bench. */
typedef struct bench {
    const sel_bench_options *options;
    sel_choice choice; /* of the backend */
    bool on_device;
    char device[256];
    int threads;            /* of a rank */
    int threads_alone;      /* of a rank that runs alone */
    const sel_ranks *ranks; /* &sel_one_rank: this process alone */
    sel_scenario *scenario; /* bench.lua */
    int count;
    bench_case *cases;
    FILE *to;
    int printed; /* number of results */
} bench;

/* ---- cases ---- */

/* Whether the case iterates to a solution (Poisson's equation). */
static bool iterates(const bench_case *c) {
    return c->simulation.solver->iterates;
}

/* Measures the seconds of n steps, or of a whole iteration from its start. Some steps are made
 * before, since ranks slept while the single rank was measured. The single rank makes them too, so
 * that its device is as close to its power limit. */
static sel_status timed(bench_case *c, int64_t n, double *seconds, sel_error *error) {
    sel_status status = SEL_OK;
    omp_set_num_threads(c->prepared.plan->threads);
    if (iterates(c)) {
        status = c->prepared.backend->restart(c->state, error);
        n = c->simulation.params->stop.steps;
    } else if (c->scaling) {
        status = c->prepared.backend->advance(c->state, n / 4 + 1, false, error);
        status = status ? status : sel_backend_wait(c->prepared.backend, c->state, error);
    }
    if (status)
        return status;
    double before = sel_machine_seconds();
    status = c->prepared.backend->advance(c->state, n, false, error);
    status = status ? status : sel_backend_wait(c->prepared.backend, c->state, error);
    *seconds = sel_machine_seconds() - before;
    c->steps = iterates(c) ? c->state->step : c->steps;
    return status;
}

static void bench_release(bench_case *c) {
    if (c->prepared.backend) {
        c->prepared.backend->destroy(c->state);
        sel_prepared_release(&c->prepared);
    }
    c->state = NULL;
    c->prepared.backend = NULL;
}

/* Creates the state, if it fits into memory, and finds the number of steps per measurement. */
static sel_status set_up(const bench *b, bench_case *c, sel_error *error) {
    sel_settings settings = b->options->settings;
    sel_error failure = {.status = SEL_OK};
    settings.backend = b->on_device ? SEL_BACKEND_CUDA : SEL_BACKEND_CPU;
    settings.threads = c->scaling && !c->ranks ? b->threads_alone : b->threads;
    settings.ranks = c->ranks;
    settings.simulation = c->number;
    sel_status status = sel_set_up(&c->simulation, &settings, &c->prepared, &c->state, &failure);
    if (status) {
        bench_release(c);
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
    if (!b->options->json && b->ranks->count > 1) {
        fprintf(b->to,
                "%s: %s, %d ranks by %s, %d on this machine, of %d threads; medians of %d rounds\n"
                "beside one rank of %d threads\n\n"
                "kind    precision cells        box      rule        scaling Mcells/s  of one "
                "efficiency\n",
                backend, b->device, b->ranks->count, b->ranks->library, b->ranks->here, b->threads,
                rounds, b->threads_alone);
        return;
    }
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
    fprintf(b->to, ",\n  \"threads\": %d,\n  \"rounds\": %d,\n  ", b->threads, rounds);
    if (b->ranks->count > 1) {
        fprintf(b->to,
                "\"ranks\": %d,\n  \"ranks_of_machine\": %d,\n  \"threads_of_one_rank\": %d,\n"
                "  \"mpi\": ",
                b->ranks->count, b->ranks->here, b->threads_alone);
        sel_json_string(b->to, b->ranks->library);
        fputs(",\n  ", b->to);
    }
    fputs("\"results\": [", b->to);
}

static double ratio_to_copy(const bench_case *c) {
    return c->copy > 0 ? c->rate * c->bytes / c->copy : (double)NAN;
}

/* The time to the solution of Poisson's equation. */
static double seconds_of(const bench_case *c) {
    return (double)sel_grid_cells(&c->prepared.domain->grid) / c->rate;
}

/* The efficiency of ranks; the case of one rank alone precedes theirs. */
static double bench_efficiency(const bench *b, const bench_case *c) {
    const double more = (double)b->threads * b->ranks->count / b->threads_alone;
    return c->rate / (c[-1].rate * more);
}

static void bench_print_row(const bench *b, const bench_case *c) {
    if (c->ranks) {
        fprintf(b->to, "%-7s %-9s %-12s %-8s %-11s %-7s %8.1f %7.1f %8.1f %%\n", c->kind,
                sel_precision_names[c->simulation.params->precision], c->size, c->box, c->rule,
                c->scaling, c->rate / 1e6, c[-1].rate / 1e6, 100 * bench_efficiency(b, c));
        return;
    }
    fprintf(b->to, "%-7s %-9s %-12s %-8s %-11s %8.1f %5.0f %7.1f %9.1f %5.1f %%\n", c->kind,
            sel_precision_names[c->simulation.params->precision], c->size, c->box, c->rule,
            c->rate / 1e6, c->bytes, c->rate * c->bytes / 1e9, c->copy / 1e9,
            100 * ratio_to_copy(c));
    if (iterates(c))
        fprintf(b->to,
                "        %lld cycles, %.3g ms: %.1f sweeps of reading and writing the grid\n",
                (long long)c->steps, 1e3 * seconds_of(c), 1 / ratio_to_copy(c));
}

/* Prints the words of the name as members. */
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
    if (c->simulation.solver->table == &rule_table) {
        fprintf(to, "\"rule\": \"%s\"", c->box);
        return;
    }
    if (iterates(c)) {
        fprintf(to, "\"rhs\": \"%s\", \"method\": \"%s\", \"cycles\": %lld, \"seconds\": ", c->box,
                c->rule, (long long)c->steps);
        sel_json_number(to, seconds_of(c));
        fputs(c->ranks ? "" : ", \"sweeps\": ", to);
        if (!c->ranks)
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
    const struct number {
        const char *key;
        double value;
    } alone[] = {{"updates_per_second", c->rate},
                 {"bytes_per_update", c->bytes},
                 {"copy_bandwidth", c->copy},
                 {"ratio_to_copy", ratio_to_copy(c)},
                 {NULL, 0}},
      together[] = {{"updates_per_second", c->rate},
                    {"updates_per_second_of_one_rank", c->ranks ? c[-1].rate : 0},
                    {"efficiency", c->ranks ? bench_efficiency(b, c) : 0},
                    {NULL, 0}};
    fprintf(b->to, "%s\n    {\"solver\": \"%s\", ", b->printed ? "," : "",
            c->simulation.solver->name);
    json_words(c, b->to);
    fprintf(b->to, ", \"precision\": \"%s\", \"size\": ",
            sel_precision_names[c->simulation.params->precision]);
    for (int a = 0; a < size->n; a++)
        fprintf(b->to, "%s%d", a ? ", " : "[", (int)size->v[a]);
    fputc(']', b->to);
    if (c->scaling)
        fprintf(b->to, ", \"scaling\": \"%s\"", c->scaling);
    for (const struct number *number = c->ranks ? together : alone; number->key; number++) {
        fprintf(b->to, ", \"%s\": ", number->key);
        sel_json_number(b->to, number->value);
    }
    fputc('}', b->to);
}

static void print_foot(const bench *b) {
    const bool json = b->options->json;
    const char *between = "";
    fputs(json ? "\n  ],\n  \"left_out\": [" : "", b->to);
    for (const bench_case *c = b->cases; c < b->cases + b->count; c++) {
        if (*c->left_out && json) {
            fprintf(b->to, "%s\n    {\"case\": \"%s\", ", between, c->name);
            if (c->scaling)
                fprintf(b->to, "\"scaling\": \"%s\", ", c->scaling);
            fputs("\"reason\": ", b->to);
            sel_json_string(b->to, c->left_out);
            fputc('}', b->to);
            between = ",";
        } else if (*c->left_out) {
            fprintf(b->to, "left out: %s%s%s: %s\n", c->name, c->scaling ? ", " : "",
                    c->scaling ? c->scaling : "", c->left_out);
        }
    }
    fputs(json ? "\n  ]\n}\n" : "", b->to);
}

/* ---- the command ---- */

/* Chooses the number of threads. A rank alone gets those of all ranks on its machine: more would
 * belong to other users. */
static void choose_threads(bench *b) {
    const int asked = (int)b->options->settings.threads, here = b->ranks->here;
    const int cores = sel_machine_threads(), share = cores > here ? cores / here : 1;
    b->threads = asked ? asked : share;
    b->threads_alone = b->on_device ? b->threads : b->threads * here;
    if (b->threads_alone > cores)
        b->threads_alone = cores > b->threads ? cores : b->threads;
}

static sel_status bench_choose_backend(bench *b, sel_error *error) {
    const sel_settings *settings = &b->options->settings;
    const bool on_cpu = b->ranks->count > 1 && settings->backend != SEL_BACKEND_CUDA;
    sel_status status =
        sel_backend_choose(&lbm_solver, on_cpu ? SEL_BACKEND_CPU : settings->backend,
                           settings->device, &b->choice, error);
    if (status)
        return status;
    b->on_device = b->choice.backend != lbm_solver.cpu;
    choose_threads(b);
    b->choice.backend->device(settings->device, b->device, sizeof b->device);
    return SEL_OK;
}

/* Loads bench.lua. With several ranks: all cases with the grids of one rank, then all cases with
 * `ranks` times the cells. */
static sel_status load_cases(bench *b, sel_error *error) {
    char ranks[32];
    snprintf(ranks, sizeof ranks, "ranks=%d", b->ranks->count);
    const char *const assignments[] = {ranks, b->on_device ? "device=true" : NULL, NULL};
    const sel_script_options options = {.text = (const char *)bench_lua,
                                        .text_length = sizeof bench_lua,
                                        .assignments = assignments};
    sel_status status = sel_script_load("bench.lua", &options, &b->scenario, error);
    if (!status)
        b->cases =
            sel_arena_alloc(b->scenario->arena, 2 * (size_t)b->scenario->count * sizeof *b->cases);
    return status || b->cases ? status : sel_fail_memory(error, "the benchmark", 0);
}

static void add_case(bench *b, int number, const char *scaling, const sel_ranks *ranks) {
    bench_case *c = &b->cases[b->count++];
    *c = (bench_case){.simulation = b->scenario->simulations[number],
                      .number = number,
                      .ranks = ranks,
                      .scaling = scaling};
    c->simulation.locate = NULL; /* lines of bench.lua tell users nothing */
    c->name = c->simulation.params->name;
    sscanf(c->name, "%15s %*s %31s %15s %31[^\n]", c->kind, c->size, c->box, c->rule);
}

/* Selects the cases that match `only`. With several ranks: pairs of one rank and of all ranks. */
static sel_status pick_cases(bench *b, sel_error *error) {
    char pattern[256], all[6144] = "";
    const bool pairs = b->ranks->count > 1;
    const int count = b->scenario->count / (pairs ? 2 : 1);
    snprintf(pattern, sizeof pattern, "*%.250s*", b->options->only ? b->options->only : "");
    for (int i = 0; i < count; i++) {
        const char *name = b->scenario->simulations[i].params->name;
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "\n  %s", name);
        for (int weak = 0; weak <= pairs && fnmatch(pattern, name, 0) == 0; weak++) {
            const char *scaling = !pairs ? NULL : weak ? "weak" : "strong";
            add_case(b, i, scaling, NULL);
            if (pairs)
                add_case(b, i + weak * count, scaling, b->ranks);
        }
    }
    return b->count ? SEL_OK
                    : sel_fail(error, SEL_BAD_USAGE, "no case of %s is called '%s'; there are%s",
                               b->choice.backend->name, b->options->only, all);
}

/* Measures the bandwidth (not with several ranks), then each case once. */
static sel_status measure_round(const bench *b, bench_case *cases, int count, int round,
                                double *copy, sel_error *error) {
    sel_status status = SEL_OK;
    if (b->ranks->count == 1)
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

/* Measures and prints cases whose states exist at the same time. */
static sel_status bench_measure(bench *b, bench_case *cases, int count, sel_error *error) {
    double copies[SEL_MOST_ROUNDS] = {0};
    const int rounds = b->options->rounds;
    sel_status status = SEL_OK;
    for (int i = 0; i < count && !status && !(cases[0].scaling && *cases[0].left_out); i++)
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
        }
        if (c->state && !status && (c->ranks || !c->scaling)) {
            (b->options->json ? print_json : bench_print_row)(b, c);
            b->printed++;
        }
        bench_release(c);
    }
    fflush(b->to);
    return status;
}

static sel_status measure_all(bench *b, sel_error *error) {
    const int together = b->ranks->count > 1 ? 2 : b->on_device ? 1 : b->count;
    sel_status status = SEL_OK;
    print_head(b);
    for (int first = 0; first < b->count && !status; first += together)
        status = bench_measure(b, b->cases + first, together, error);
    print_foot(b);
    return status;
}

sel_status sel_bench(const sel_bench_options *options, FILE *to, sel_error *error) {
    const sel_ranks *ranks = options->settings.ranks ? options->settings.ranks : &sel_one_rank;
    bench b = {.options = options, .ranks = ranks, .to = to};
    sel_status status = bench_choose_backend(&b, error);
    status = status ? status : load_cases(&b, error);
    status = status ? status : pick_cases(&b, error);
    status = sel_ranks_agree(ranks, status, error);
    if (!status && ranks->rank > 0) {
        sel_settings settings = options->settings;
        settings.backend = b.on_device ? SEL_BACKEND_CUDA : SEL_BACKEND_CPU;
        settings.threads = b.threads;
        sel_follow(b.scenario, &settings);
    } else if (!status) {
        status = measure_all(&b, error);
        sel_follow_end(ranks);
    }
    sel_scenario_destroy(b.scenario);
    return status;
}
