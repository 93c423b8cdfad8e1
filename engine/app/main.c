/* main.c -- the command line: selenite run | check | sweep | repl | validate | bench | info | help.
 */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/app/arguments.h"
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/hardware.h"
#include "engine/base/process.h"
#include "engine/run/prepare.h"
#include "engine/run/run.h"
#include "engine/base/version.h"
#include "lua/commands/commands.h"

enum { MAX_COMMANDS = 16 };

static void print_notice(void *data, const char *text) {
    (void)data;
    fprintf(stderr, "note: %s\n", text);
}

/* Whether this is a rank other than 0, which takes part in the runs of rank 0. */
static bool follows(const sel_arguments *a) {
    return a->settings.ranks && a->settings.ranks->rank > 0;
}

static sel_script_options script_options(const sel_arguments *a) {
    return (sel_script_options){
        .assignments = a->words + 1,
        .trust = a->trust,
        .seconds = a->script_seconds,
        .one_clock = a->command == SEL_CHECK,
        .parameters_only = a->help,
        .quiet = a->quiet || follows(a),
        .notice = a->quiet || follows(a) ? NULL : print_notice,
    };
}

static void main_print_parameters(const char *file, const sel_scenario *scenario) {
    printf("Parameters of %s (name=value sets one):\n", file);
    for (int i = 0; i < scenario->parameter_count; i++) {
        const sel_parameter *p = &scenario->parameters[i];
        printf("  %-12s %s (default %s%s%s)\n", p->name, p->help ? p->help : "", p->preset,
               *p->limits ? "; " : "", p->limits);
    }
    if (scenario->parameter_count == 0) {
        puts("  it has none");
    }
}

/* The directory of the run: that of -o, else that of the checkpoint, else out/NAME for
 * "dir/NAME.lua" and out/stdin for "-". */
static void find_directory(const sel_arguments *a, char *text, size_t size) {
    char checkpoint[SEL_PATH_ROOM];
    const char *name = strcmp(a->file, "-") == 0 ? "stdin" : sel_file_name(a->file);
    const size_t length = strlen(name);
    const bool is_lua = length > 4 && strcmp(name + length - 4, ".lua") == 0;
    snprintf(checkpoint, sizeof checkpoint, "%s", a->resume_file ? a->resume_file : "");
    if (a->directory || a->resume_file) {
        snprintf(text, size, "%s", a->directory ? a->directory : dirname(checkpoint));
    } else {
        snprintf(text, size, "out/%.*s", (int)(is_lua ? length - 4 : length), name);
    }
}

/* Prints the warnings, and the backend and its device, before the first step. */
static void say_beginning(const sel_prepared *prepared) {
    char before[256];
    const char *name = prepared->simulation->params->name;
    snprintf(before, sizeof before, "%s%s", name ? name : "", name ? ": " : "");
    sel_warnings_print(&prepared->warnings, before, stderr);
    bool fallback = *prepared->choice.fallback != '\0';
    fprintf(stderr, "running on %s: %s%s%s\n", prepared->backend->name, prepared->device,
            fallback ? "; no GPU can be used: " : "", prepared->choice.fallback);
    if (prepared->plan->chose_double) {
        fputs(SEL_CHOSE_DOUBLE "\n", stderr);
    }
}

static sel_status run_one(const sel_arguments *a, const sel_scenario *scenario,
                          const sel_simulation *simulation, const char *directory,
                          sel_error *error) {
    const bool in_list = a->resume && scenario->count > 1;
    const sel_resume_step step =
        in_list ? sel_resume_in_list(simulation, directory) : SEL_RESUME_IT;
    if (step == SEL_RESUME_DONE) {
        return SEL_OK;
    }
    sel_progress_printer printer = sel_progress_printer_create(stderr);
    sel_settings settings = a->settings;
    settings.simulation = (int)(simulation - scenario->simulations);
    sel_run_options options = {
        .settings = settings,
        .directory = directory,
        .command = a->line,
        .force = a->force || step == SEL_RESUME_ANEW,
        .resume = a->resume && step == SEL_RESUME_IT,
        .resume_file = a->resume_file,
        .interrupt = sel_process_interrupt(),
        .progress = a->quiet ? NULL : sel_progress_print,
        .log = a->quiet ? NULL : sel_progress_log,
        .data = &printer,
        .begun = a->quiet ? NULL : say_beginning,
    };
    sel_report report;
    sel_status status = sel_run(scenario, simulation, &options, &report, error);
    sel_progress_end(&printer);
    if (!a->quiet && status == SEL_OK) {
        fprintf(stderr, "%s after %lld steps, %.3g s, %.4g Mcells/s; files in %s\n",
                report.stop_reason, (long long)report.steps, report.wall_seconds,
                report.mcells_per_second, directory);
    }
    if (a->json && report.stopped_by != SEL_BY_NOTHING) {
        char path[SEL_PATH_ROOM], *text;
        size_t length;
        snprintf(path, sizeof path, "%s/run.json", directory);
        if (!sel_file_read(path, SIZE_MAX, "", &text, &length, status ? NULL : error)) {
            fwrite(text, 1, length, stdout);
        }
        free(text);
        status = error->status;
    }
    sel_report_release(&report);
    return status;
}

/* The directory of a simulation: that of the run, or of a list one below it. */
static void find_below(const sel_scenario *scenario, int i, const char *directory, char *below,
                       size_t size) {
    const bool list = scenario->count > 1;
    snprintf(below, size, "%s%s%s", directory, list ? "/" : "",
             list ? scenario->simulations[i].params->name : "");
}

/* What the later simulations of a list are refused for, before the first has run. */
static sel_status check_list(const sel_arguments *a, const sel_scenario *scenario,
                             const char *directory, sel_error *error) {
    char below[4096];
    sel_status status = SEL_OK;
    for (int i = 0; i < scenario->count && scenario->count > 1 && !status; i++) {
        find_below(scenario, i, directory, below, sizeof below);
        status = sel_folder_refuse_link(below, error);
        status = status || a->force || a->resume ? status : sel_folder_refuse_run(below, error);
    }
    return status ? status : sel_set_up_list(scenario, &a->settings, error);
}

static sel_status run_all(const sel_arguments *a, const sel_scenario *scenario, sel_error *error) {
    char directory[3072], below[4096];
    if (a->directory && strlen(a->directory) >= sizeof directory) {
        return sel_fail(error, SEL_BAD_USAGE, "the name of the directory is too long");
    }
    if (a->resume_file && scenario->count > 1) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--resume with a file continues one simulation, and this is a list of %d; "
                        "give --resume alone",
                        scenario->count);
    }
    find_directory(a, directory, sizeof directory);
    sel_status status = check_list(a, scenario, directory, error);
    for (int i = 0; i < scenario->count && !status; i++) {
        const sel_simulation *simulation = &scenario->simulations[i];
        find_below(scenario, i, directory, below, sizeof below);
        status =
            scenario->count > 1 || !a->directory ? sel_folder_refuse_link(below, error) : SEL_OK;
        status = status ? status : run_one(a, scenario, simulation, below, error);
        if (status) {
            sel_name_simulation(scenario, simulation, 0, error);
        }
    }
    return status;
}

static sel_status check_all(const sel_arguments *a, const sel_scenario *scenario,
                            sel_error *error) {
    const sel_check_wants wants = {a->regions, a->laws, a->ranks};
    sel_status status = SEL_OK;
    for (int i = 0; i < scenario->count; i++) {
        const sel_simulation *simulation = &scenario->simulations[i];
        const size_t before = strlen(error->text);
        sel_status one = sel_check(simulation, &a->settings, &wants, stdout, error);
        sel_name_simulation(scenario, simulation, before > 0 && one ? before + 1 : before, error);
        status = status ? status : one;
    }
    if (a->laws) {
        sel_script_print_laws(scenario, stdout);
    }
    return status;
}

/* Checks that all ranks have read the same script and compiled it to the same programs. */
static sel_status compare_scripts(const sel_ranks *ranks, const sel_scenario *scenario,
                                  sel_error *error) {
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (!to) {
        return sel_fail_memory(error, "the scripts", 0);
    }
    for (int i = 0; i < scenario->parameter_count; i++) {
        fprintf(to, "%s %s\n", scenario->parameters[i].name, scenario->parameters[i].text);
    }
    for (int i = 0; i < scenario->count; i++) {
        const sel_simulation *simulation = &scenario->simulations[i];
        sel_table_print(simulation->solver->table, simulation->params, to);
    }
    sel_script_print_laws(scenario, to);
    fclose(to);
    const sel_digest digests[] = {
        {"scripts", sel_digest_of(scenario->text, scenario->text_length)},
        {"parameters, numbers or functions", sel_digest_of(text, length)}};
    free(text);
    return sel_digests_compare(ranks, digests, 2, error);
}

/* Runs a scenario in several ranks. All have read the script; rank 0 directs the others. */
static sel_status run_in_ranks(const sel_arguments *a, const sel_ranks *ranks,
                               const sel_scenario *scenario, sel_status status, sel_error *error) {
    status = sel_ranks_agree(ranks, status, error);
    status = status ? status : compare_scripts(ranks, scenario, error);
    if (!status && ranks->rank > 0) {
        sel_follow(scenario, &a->settings);
    } else if (!status) {
        status = run_all(a, scenario, error);
        sel_follow_end(ranks);
    }
    return status;
}

static sel_status run_or_check(const sel_arguments *a, sel_error *error) {
    const sel_script_options options = script_options(a);
    const sel_ranks *ranks = a->settings.ranks;
    sel_scenario *scenario = NULL;
    sel_status status = sel_script_load(a->file, &options, &scenario, error);
    if (ranks && ranks->count > 1) {
        status = run_in_ranks(a, ranks, scenario, status, error);
    } else if (!status && a->help) {
        main_print_parameters(a->file, scenario);
    } else if (!status) {
        status =
            a->command == SEL_RUN ? run_all(a, scenario, error) : check_all(a, scenario, error);
    }
    sel_scenario_destroy(scenario);
    return status;
}

/* Finds the folder of the scenarios: next to the build folder, or where `make install` put it.
 * Never in the working directory, because these scripts run without a sandbox. */
static void find_scenarios(char *path, size_t size) {
    static const char *const places[] = {"../scenarios", "../../scenarios",
                                         "../share/selenite/scenarios"};
    char program[3072] = "", probe[SEL_PATH_ROOM];
    const bool known = readlink("/proc/self/exe", program, sizeof program - 1) > 0;
    const char *folder = dirname(program);
    snprintf(path, size, "scenarios");
    for (size_t p = 0; p < sizeof places / sizeof *places && known; p++) {
        snprintf(path, size, "%s/%s", folder, places[p]);
        snprintf(probe, sizeof probe, "%s/validation", path);
        if (access(probe, F_OK) == 0) {
            return;
        }
    }
}

static sel_status validate(const sel_arguments *a, sel_error *error) {
    char scenarios[4096];
    find_scenarios(scenarios, sizeof scenarios);
    sel_validate_options options = {
        .settings = a->settings,
        .scenarios = scenarios,
        .directory = a->directory ? a->directory : "out/validate",
        .chosen = a->directory,
        .cases = a->words,
    };
    return sel_validate(&options, error);
}

static sel_status bench(const sel_arguments *a, sel_error *error) {
    sel_bench_options options = {
        .settings = a->settings, .rounds = 7, .seconds = 0.25, .only = a->only, .json = a->json};
    return a->word_count ? sel_fail(error, SEL_BAD_USAGE, "bench takes no '%s'", a->words[0])
                         : sel_bench(&options, stdout, error);
}

/* --ranks all: a rank per GPU. */
static sel_status count_devices(sel_arguments *a, sel_error *error) {
    const sel_backend *cuda = sel_solvers[0]->cuda;
    a->ranks = cuda && cuda->devices ? cuda->devices() : 0;
    return a->ranks > 0 ? SEL_OK
                        : sel_fail(error, SEL_NO_DEVICE,
                                   "--ranks all takes a rank for each GPU, and there is none that "
                                   "can be used: give a number");
}

/* Uses the ranks that mpirun has started, or restarts this program by mpirun for --ranks. */
static sel_status use_ranks(sel_arguments *a, char **argv, const sel_ranks *ranks,
                            sel_error *error) {
    const char **rest = (const char **)(void *)argv + 1;
    const bool runs = a->command & (SEL_RUN | SEL_BENCH) && !a->help;
    if (a->ranks == SEL_ALL && ranks->count > 1) {
        a->ranks = ranks->count;
    }
    sel_status status = a->ranks == SEL_ALL && !a->help ? count_devices(a, error) : SEL_OK;
    if (status) {
        return status;
    }
    if (ranks->count > 1 && a->ranks && a->ranks != ranks->count) {
        return sel_fail(error, SEL_BAD_USAGE, "--ranks says %d, and %d were started", a->ranks,
                        ranks->count);
    }
    if (ranks->count > 1 && !runs) {
        return sel_fail(error, SEL_BAD_USAGE, "%s is a command for one rank, and %d were started",
                        argv[1], ranks->count);
    }
    if (runs && (ranks->count > 1 || a->ranks > 1) && a->file && strcmp(a->file, "-") == 0) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "standard input is that of one rank: give the scenario as a file");
    }
    if (ranks->count > 1) {
        a->settings.ranks = ranks;
    } else if (runs && a->ranks > 1) {
        return sel_launch_ranks(a->ranks, rest, error);
    }
    return SEL_OK;
}

/* The commands that take options: run, check, sweep, validate, bench, repl. */
static sel_status with_arguments(int argc, char **argv, const sel_ranks *ranks, sel_error *error) {
    sel_arguments a = {.command = sel_command_of(argv[1]),
                       .settings = {.precision = -1, .backend = -1}};
    a.words = calloc(3 * (size_t)argc, sizeof *a.words);
    if (!a.words) {
        return sel_fail_memory(error, "the arguments", 0);
    }
    a.given = a.words + argc;
    sel_status status = sel_arguments_parse(&a, argc, argv, error);
    status = status ? status : use_ranks(&a, argv, ranks, error);
    if (!status && a.help && (a.command & (SEL_VALIDATE | SEL_BENCH) || a.word_count == 0)) {
        sel_usage_of(stdout, argv[1]);
    } else if (!status) {
        status = a.command == SEL_VALIDATE ? validate(&a, error)
                 : a.command == SEL_BENCH  ? bench(&a, error)
                 : a.command == SEL_SWEEP && !a.help
                     ? sel_sweep(a.words, a.given, a.settings.backend, error)
                 : a.command == SEL_REPL && !a.help ? sel_repl(a.file, script_options(&a), error)
                                                    : run_or_check(&a, error);
    }
    free(a.words);
    return status;
}

static void print_device(const sel_backend *backend, int number) {
    char device[256], text[SEL_BYTES_ROOM];
    uint64_t free_bytes;
    sel_error why = {.status = SEL_OK};
    if (backend->probe(number, &free_bytes, &why)) {
        printf("cannot be used: %s\n", why.text);
    } else {
        backend->device(number, device, sizeof device);
        printf("%s, %s free\n", device, sel_bytes_text((double)free_bytes, text));
    }
}

/* Prints a line per device of a backend: its name, or why it cannot be used. NULL: CUDA is not in
 * the build. */
static void print_backend(const sel_solver *solver, const sel_backend *backend) {
    const int count = backend && backend->devices ? backend->devices() : 0;
    int number = 0;
    do {
        printf("sel.%-7s %-5s", solver->name, backend ? backend->name : "cuda");
        if (!backend) {
            puts("not in this build; build it where nvcc is installed");
            return;
        }
        if (count > 0) {
            printf("%d: ", number);
        }
        print_device(backend, number);
    } while (++number < count);
}

/* Prints the interconnect between each device and the others, such as NVLink. */
static void print_links(const sel_backend *backend) {
    const int count = backend && backend->devices ? backend->devices() : 0;
    for (int k = 0; k < count && count > 1; k++) {
        const char *between = "";
        printf("links of %-2d ", k);
        for (int other = 0; other < count; other++) {
            if (other != k) {
                printf("%s%d by %s", between, other, backend->link(k, other));
                between = ", ";
            }
        }
        putchar('\n');
    }
}

/* Prints the host and threads of each rank. Collective. */
static void main_print_ranks(const sel_ranks *ranks) {
    struct {
        char host[64];
        int threads;
    } own = {.threads = sel_machine_threads()}, all[SEL_MOST_RANKS];
    gethostname(own.host, sizeof own.host - 1);
    ranks->gather(&own, sizeof own, all);
    printf("ranks       %d, by %s\n", ranks->count, ranks->library);
    for (int r = 0; r < ranks->count; r++) {
        printf("rank %-6d %s, %d threads\n", r, all[r].host, all[r].threads);
    }
}

static void info(const sel_ranks *ranks) {
    char processor[256];
    sel_machine_processor(processor, sizeof processor);
    printf("selenite %s (%s), %s\n", sel_version(), sel_commit(), sel_compiler());
    printf("processor   %s, %d threads\n", processor, sel_machine_threads());
    if (ranks->count > 1) {
        main_print_ranks(ranks);
    } else {
        char names[64];
        printf("mpi         %s\n", sel_ranks_plugins(names, sizeof names));
    }
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        print_backend(*solver, (*solver)->cpu);
        print_backend(*solver, (*solver)->cuda);
    }
    print_links(sel_solvers[0]->cuda);
}

/* Refuses more than `most` words after a command. */
static sel_status main_check_count(int argc, char **argv, int most, sel_error *error) {
    return argc <= 2 + most ? SEL_OK
                            : sel_fail(error, SEL_BAD_USAGE, "%s takes no '%s' (see selenite help)",
                                       argv[1], argv[2 + most]);
}

static sel_status help(int argc, char **argv, sel_error *error) {
    const char *name = argc > 2 ? argv[2] : "";
    const bool completion = strcmp(name, "--completion") == 0;
    sel_status status = main_check_count(argc, argv, completion ? 2 : 1, error);
    if (status) {
        return status;
    }
    if (completion) {
        return sel_help_completion(stdout, argc > 3 ? argv[3] : "", error);
    }
    if (strcmp(name, "--annotations") == 0) {
        sel_annotations(stdout);
    } else if (strcmp(name, "--reference") == 0) {
        sel_reference_markdown(stdout);
    } else if (strcmp(name, "--man") == 0) {
        sel_man_page(stdout);
    } else if (argc > 2) {
        return sel_help(stdout, name, error);
    } else {
        sel_usage(stdout);
        fputc('\n', stdout);
        return sel_help(stdout, NULL, error);
    }
    return SEL_OK;
}

/* Reports an unknown command. If it is a file, tells what to type instead. */
static sel_status not_a_command(const char *name, sel_error *error) {
    const char *names[MAX_COMMANDS] = {"--version"};
    char suggestion[SEL_SUGGESTION_ROOM];
    const size_t length = strlen(name);
    if ((length > 4 && strcmp(name + length - 4, ".lua") == 0) || access(name, F_OK) == 0) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "'%s' is a file, and a command comes first: selenite run %s", name, name);
    }
    for (int i = 0; sel_commands[i].name && i < MAX_COMMANDS - 2; i++) {
        names[i + 1] = sel_commands[i].name;
    }
    return sel_fail(error, SEL_BAD_USAGE, "unknown command '%s'%s (see selenite help)", name,
                    sel_suggestion(name, names, suggestion));
}

static sel_status command(int argc, char **argv, const sel_ranks *ranks, sel_error *error) {
    const char *name = argc > 1 ? argv[1] : "";
    if (sel_command_of(name)) {
        return with_arguments(argc, argv, ranks, error);
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return help(argc, argv, error);
    }
    if (strcmp(name, "info") == 0 || strcmp(name, "--version") == 0) {
        sel_status status = main_check_count(argc, argv, 0, error);
        if (!status && name[0] == 'i') {
            info(ranks);
        } else if (!status) {
            printf("selenite %s (%s)\n", sel_version(), sel_commit());
        }
        return status;
    }
    if (argc < 2) {
        sel_usage(stderr);
        return sel_fail(error, SEL_BAD_USAGE, "no command");
    }
    return not_a_command(name, error);
}

/* Limits the time that threads spin at the barrier after each step, to about ten microseconds.
 *
 * By default libgomp spins for milliseconds. On a busy machine a spinning thread occupies the core
 * that the thread it waits for needs, and steps take a hundred times longer. With the limit, two
 * threads are no slower than one there, even on 64 x 64 cells. On an idle machine the limit costs
 * nothing, except a fifth of the speed of sixteen threads on 32^3 cells (nothing from 64^3 cells
 * on). A constructor, because libgomp reads the variable before main starts. */
__attribute__((constructor(101))) static void spin_briefly(void) {
    setenv("GOMP_SPINCOUNT", "300", 0);
}

int main(int argc, char **argv) {
    sel_process_start();
    sel_error error = {.status = SEL_OK};
    const sel_ranks *ranks;
    if (sel_ranks_number() > 0) {
        sel_process_follow();
    }
    sel_status status = sel_ranks_join(&ranks, &error);
    if (status && sel_ranks_number() > 0) {
        sleep(1); /* rank 0 prints the error */
        return status;
    }
    status = status ? status : command(argc, argv, ranks, &error);
    if (status && ranks->rank == 0) {
        fprintf(stderr, "%s\n", error.text);
    }
    ranks->end();
    if (ranks->rank > 0) {
        return SEL_OK;
    }
    if (status == SEL_OK && !sel_process_output_arrived()) {
        fprintf(stderr, "standard output could not be written\n");
        status = SEL_BAD_FILE;
    }
    return status;
}
