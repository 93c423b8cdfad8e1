/* main.c -- the command line: selenite run | check | validate | bench | info | help. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/bench.h"
#include "engine/check.h"
#include "engine/machine.h"
#include "engine/progress.h"
#include "engine/run.h"
#include "engine/version.h"
#include "lua/script.h"
#include "lua/validate.h"

static const char usage_text[] =
    "Selenite simulates what a Lua script describes, and writes files for ParaView.\n"
    "\n"
    "  selenite run FILE|- [name=value ...] [options]   run a scenario\n"
    "  selenite check FILE|- [name=value ...] [options] say what it means, without running it\n"
    "  selenite validate [CASE ...] [-o DIR]            compare with analytic and published "
    "results\n"
    "  selenite bench [--threads N] [--json]            how fast this machine runs the kernels\n"
    "  selenite info                                    what this machine and this build offer\n"
    "  selenite help [TABLE]                            the tables of a scenario and their fields\n"
    "  selenite --version\n"
    "\n"
    "Options of run and check:\n"
    "  -o DIR                 directory of the run; out/SCENARIO when not given\n"
    "  --force                write over an earlier run\n"
    "  --precision f32|f64    of the stored state; overrides the scenario\n"
    "  --threads N            CPU threads; overrides the scenario\n"
    "  --backend auto|cpu     what computes\n"
    "  --trust                lift the script's sandbox: os, io, no limits\n"
    "  --script-limit S       seconds that the script may take; 10 when not given\n"
    "  --quiet                no progress, no summary\n"
    "  --json                 print run.json on standard output when done\n"
    "  --regions              check: what each region owns, kinds of cells\n"
    "  --laws                 check: the program of each function, or why Lua evaluates it\n"
    "  --help                 with FILE: the scenario's parameters\n"
    "\n"
    "Exit status: 0 done, 1 the scenario is wrong, 2 bad usage, 3 diverged, 4 a file could not be\n"
    "read or written, 5 not enough memory or no device, 130 interrupted.\n";

/* Set by SIGINT and SIGTERM; the run loop looks at it. */
static volatile sig_atomic_t interrupt_signal;

static void on_signal(int number) {
    interrupt_signal = number;
}

typedef struct arguments {
    const char **words; /* what is no option; room for argc */
    int word_count;
    const char *file; /* run and check: the first word; the others are name=value */
    const char *directory;
    sel_settings settings;
    double script_seconds;
    bool force, trust, quiet, json, regions, laws, help;
} arguments;

static const char *const option_names[] = {
    "-o",      "--force", "--precision", "--threads", "--backend", "--trust", "--script-limit",
    "--quiet", "--json",  "--regions",   "--laws",    "--help",    NULL};

/* The value behind the option at argv[*i], or NULL with an error. */
static const char *option_value(int argc, char **argv, int *i, sel_error *error) {
    if (*i + 1 >= argc) {
        sel_fail(error, SEL_BAD_USAGE, "option %s needs a value", argv[*i]);
        return NULL;
    }
    return argv[++*i];
}

static sel_status set_threads(arguments *a, const char *value, sel_error *error) {
    char *end;
    errno = 0;
    long threads = strtol(value, &end, 10);
    if (errno || *end || end == value || threads < 1 || threads > SEL_MAX_THREADS) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--threads must be a whole number from 1 to %d, got '%s'", SEL_MAX_THREADS,
                        value);
    }
    a->settings.threads = threads;
    return SEL_OK;
}

static sel_status set_script_limit(arguments *a, const char *value, sel_error *error) {
    char *end;
    double seconds = strtod(value, &end);
    if (*end || end == value || !(seconds > 0) || !isfinite(seconds)) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--script-limit must be a positive number of seconds, got '%s'", value);
    }
    a->script_seconds = seconds;
    return SEL_OK;
}

static sel_status set_precision(arguments *a, const char *value, sel_error *error) {
    for (int p = 0; sel_precision_names[p]; p++) {
        if (strcmp(value, sel_precision_names[p]) == 0) {
            a->settings.precision = p;
            return SEL_OK;
        }
    }
    return sel_fail(error, SEL_BAD_USAGE, "--precision must be f32 or f64, got '%s'", value);
}

static sel_status check_backend(const char *value, sel_error *error) {
    if (strcmp(value, "auto") == 0 || strcmp(value, "cpu") == 0) {
        return SEL_OK;
    }
    return sel_fail(error, SEL_BAD_USAGE, "--backend must be auto or cpu, got '%s'", value);
}

static sel_status unknown_option(const char *option, sel_error *error) {
    char suggestion[SEL_SUGGESTION_ROOM];
    return sel_fail(error, SEL_BAD_USAGE, "unknown option '%s'%s%s", option,
                    sel_suggestion(option, option_names, suggestion),
                    strchr(option, '=') ? " (a value stands apart: --threads 2)" : "");
}

static sel_status parse_valued_option(arguments *a, int argc, char **argv, int *i,
                                      sel_error *error) {
    const char *option = argv[*i];
    const char *value = option_value(argc, argv, i, error);
    if (!value) {
        return SEL_BAD_USAGE;
    }
    if (strcmp(option, "-o") == 0) {
        a->directory = value;
        return *value ? SEL_OK : sel_fail(error, SEL_BAD_USAGE, "-o needs a directory");
    }
    if (strcmp(option, "--threads") == 0) {
        return set_threads(a, value, error);
    }
    if (strcmp(option, "--precision") == 0) {
        return set_precision(a, value, error);
    }
    if (strcmp(option, "--backend") == 0) {
        return check_backend(value, error);
    }
    return set_script_limit(a, value, error);
}

static sel_status parse_option(arguments *a, int argc, char **argv, int *i, sel_error *error) {
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--force", &a->force},     {"--trust", &a->trust},
                 {"--quiet", &a->quiet},     {"--json", &a->json},
                 {"--regions", &a->regions}, {"--laws", &a->laws},
                 {"--help", &a->help},       {"-h", &a->help}};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        if (strcmp(argv[*i], flags[f].name) == 0) {
            *flags[f].flag = true;
            return SEL_OK;
        }
    }
    static const char *const valued[] = {"-o", "--threads", "--precision", "--backend",
                                         "--script-limit"};
    for (size_t v = 0; v < sizeof valued / sizeof *valued; v++) {
        if (strcmp(argv[*i], valued[v]) == 0) {
            return parse_valued_option(a, argc, argv, i, error);
        }
    }
    return unknown_option(argv[*i], error);
}

/* Arguments behind the command. a->words has room for all of them. */
static sel_status parse(arguments *a, int argc, char **argv, sel_error *error) {
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            a->words[a->word_count++] = argv[i];
            continue;
        }
        sel_status status = parse_option(a, argc, argv, &i, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

static sel_status check_words(arguments *a, const char *name, sel_error *error) {
    if (a->word_count == 0) {
        return a->help ? SEL_OK
                       : sel_fail(error, SEL_BAD_USAGE, "which scenario? selenite %s FILE", name);
    }
    a->file = a->words[0];
    for (int i = 1; i < a->word_count; i++) {
        if (!strchr(a->words[i], '=')) {
            return sel_fail(error, SEL_BAD_USAGE,
                            "'%s' is neither an option nor name=value; one scenario at a time",
                            a->words[i]);
        }
    }
    return SEL_OK;
}

static void print_notice(void *data, const char *text) {
    (void)data;
    fprintf(stderr, "note: %s\n", text);
}

static sel_status load(const arguments *a, bool parameters_only, sel_scenario **scenario,
                       sel_error *error) {
    sel_script_options options = {
        .count = a->word_count - 1,
        .assignments = a->words + 1,
        .trust = a->trust,
        .seconds = a->script_seconds,
        .parameters_only = parameters_only,
        .notice = print_notice,
    };
    return sel_script_load(a->file, &options, scenario, error);
}

static sel_status print_parameters(const arguments *a, sel_error *error) {
    sel_scenario *scenario = NULL;
    sel_status status = load(a, true, &scenario, error);
    if (status) {
        return status;
    }
    printf("Parameters of %s (name=value sets one):\n", a->file);
    for (int i = 0; i < scenario->parameter_count; i++) {
        const sel_parameter *p = &scenario->parameters[i];
        printf("  %-12s %s (default %s%s%s)\n", p->name, p->help ? p->help : "", p->preset,
               *p->limits ? "; " : "", p->limits);
    }
    if (scenario->parameter_count == 0) {
        puts("  it has none");
    }
    sel_scenario_destroy(scenario);
    return SEL_OK;
}

/* out/NAME for "dir/NAME.lua", out/stdin for "-". */
static void default_directory(const char *file, char *text, size_t size) {
    const char *slash = strrchr(file, '/');
    const char *name = strcmp(file, "-") == 0 ? "stdin" : slash ? slash + 1 : file;
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".lua") == 0) {
        length -= 4;
    }
    snprintf(text, size, "out/%.*s", (int)length, name);
}

static sel_status copy_to_stdout(const char *path, sel_error *error) {
    char block[4096];
    size_t n;
    FILE *file = fopen(path, "r");
    if (!file) {
        return sel_fail(error, SEL_BAD_FILE, "%s: %s", path, strerror(errno));
    }
    while ((n = fread(block, 1, sizeof block, file)) > 0) {
        fwrite(block, 1, n, stdout);
    }
    fclose(file);
    return SEL_OK;
}

static sel_status run_one(const arguments *a, const sel_scenario *scenario,
                          const sel_simulation *simulation, const char *directory,
                          sel_error *error) {
    sel_progress_printer printer = sel_progress_printer_create(stderr);
    sel_run_options options = {
        .settings = a->settings,
        .directory = directory,
        .force = a->force,
        .interrupt = &interrupt_signal,
        .progress = a->quiet ? NULL : sel_progress_print,
        .progress_data = &printer,
        .log = sel_progress_log,
        .log_data = &printer,
    };
    sel_report report;
    sel_status status = sel_run(scenario, simulation, &options, &report, error);
    sel_progress_end(&printer);
    if (!a->quiet && status == SEL_OK) {
        fprintf(stderr, "%s after %lld steps, %.3g s, %.4g MLUPS on the CPU; files in %s\n",
                report.stop_reason, (long long)report.steps, report.wall_seconds,
                report.mcells_per_second, directory);
    }
    if (a->json && report.stopped_by != SEL_BY_NOTHING) {
        char path[4200];
        snprintf(path, sizeof path, "%s/run.json", directory);
        sel_status printed = copy_to_stdout(path, status ? NULL : error);
        status = status ? status : printed;
    }
    sel_report_release(&report);
    return status;
}

static sel_status run_all(const arguments *a, const sel_scenario *scenario, sel_error *error) {
    char directory[3072], below[4096];
    if (a->directory && strlen(a->directory) >= sizeof directory) {
        return sel_fail(error, SEL_BAD_USAGE, "the name of the directory is too long");
    }
    if (a->directory) {
        strcpy(directory, a->directory);
    } else {
        default_directory(a->file, directory, sizeof directory);
    }
    sel_status status = SEL_OK;
    for (int i = 0; i < scenario->count && !status; i++) {
        const sel_simulation *simulation = &scenario->simulations[i];
        bool list = scenario->count > 1;
        snprintf(below, sizeof below, "%s%s%s", directory, list ? "/" : "",
                 list ? simulation->params->name : "");
        status = run_one(a, scenario, simulation, below, error);
    }
    return status;
}

static sel_status check_all(const arguments *a, const sel_scenario *scenario, sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < scenario->count; i++) {
        sel_status one =
            sel_check(&scenario->simulations[i], &a->settings, a->regions, stdout, error);
        status = status ? status : one;
    }
    if (a->laws) {
        sel_script_print_laws(scenario, stdout);
    }
    return status;
}

static sel_status run_or_check(arguments *a, const char *name, sel_error *error) {
    sel_scenario *scenario = NULL;
    sel_status status = check_words(a, name, error);
    if (status) {
        return status;
    }
    if (a->help) {
        return print_parameters(a, error);
    }
    status = load(a, false, &scenario, error);
    if (!status) {
        bool run = strcmp(name, "run") == 0;
        status = run ? run_all(a, scenario, error) : check_all(a, scenario, error);
    }
    sel_scenario_destroy(scenario);
    return status;
}

/* The folder of the scenarios: here, beside the build folder, or where `make install` put it. */
static void find_scenarios(char *path, size_t size) {
    static const char *const places[] = {"../scenarios", "../share/selenite/scenarios"};
    char program[3072] = "", probe[4096];
    snprintf(path, size, "scenarios");
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = length > 0 ? strrchr(program, '/') : NULL;
    if (access("scenarios/validation", F_OK) == 0 || !slash) {
        return;
    }
    *slash = '\0';
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        snprintf(probe, sizeof probe, "%s/%s/validation", program, places[p]);
        if (access(probe, F_OK) == 0) {
            snprintf(path, size, "%s/%s", program, places[p]);
            return;
        }
    }
}

static sel_status validate(const arguments *a, sel_error *error) {
    char scenarios[4096];
    int missed = 0;
    find_scenarios(scenarios, sizeof scenarios);
    sel_validate_options options = {
        .settings = a->settings,
        .scenarios = scenarios,
        .directory = a->directory ? a->directory : "out/validate",
        .interrupt = &interrupt_signal,
        .count = a->word_count,
        .cases = a->words,
    };
    sel_status status = sel_validate(&options, &missed, error);
    return status || !missed ? status
                             : sel_fail(error, SEL_BAD_SCENARIO, "%d gates missed", missed);
}

static sel_status bench(const arguments *a, sel_error *error) {
    sel_bench_options options = {
        .threads = (int)a->settings.threads, .rounds = 7, .seconds = 0.25, .json = a->json};
    return a->word_count ? sel_fail(error, SEL_BAD_USAGE, "bench takes no '%s'", a->words[0])
                         : sel_bench(&options, stdout, error);
}

/* The commands that take options: run, check, validate, bench. */
static sel_status with_arguments(int argc, char **argv, sel_error *error) {
    arguments a = {.settings = {.precision = -1}};
    a.words = calloc((size_t)argc, sizeof *a.words);
    if (!a.words) {
        return sel_fail_memory(error, "the arguments", 0);
    }
    sel_status status = parse(&a, argc, argv, error);
    bool validates = strcmp(argv[1], "validate") == 0, benches = strcmp(argv[1], "bench") == 0;
    if (!status && a.help && (validates || benches || a.word_count == 0)) {
        fputs(usage_text, stdout);
    } else if (!status) {
        status = validates ? validate(&a, error)
                 : benches ? bench(&a, error)
                           : run_or_check(&a, argv[1], error);
    }
    free(a.words);
    return status;
}

static sel_status info(void) {
    char processor[256];
    sel_machine_processor(processor, sizeof processor);
    printf("selenite %s (%s), %s\n", sel_version(), sel_commit(), sel_compiler());
    printf("processor   %s, %d threads\n", processor, sel_machine_threads());
    printf("memory      %.3g GB free\n", (double)sel_machine_free_memory() / 1e9);
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        char device[256];
        (*solver)->cpu->device(device, sizeof device);
        printf("sel.%-7s %s: %s\n", (*solver)->name, (*solver)->cpu->name, device);
    }
    return SEL_OK;
}

static sel_status help(int argc, char **argv, sel_error *error) {
    if (argc > 2 && strcmp(argv[2], "--annotations") == 0) {
        sel_annotations(stdout);
        return SEL_OK;
    }
    if (argc > 2 && strcmp(argv[2], "--reference") == 0) {
        sel_reference_markdown(stdout);
        return SEL_OK;
    }
    if (argc > 2) {
        return sel_help(stdout, argv[2], error);
    }
    fputs(usage_text, stdout);
    fputc('\n', stdout);
    return sel_help(stdout, NULL, error);
}

static sel_status command(int argc, char **argv, sel_error *error) {
    static const char *const names[] = {"run",  "check", "validate",  "bench", /* take options */
                                        "info", "help",  "--version", NULL};
    const char *name = argc > 1 ? argv[1] : "";
    for (const char *const *taking = names; taking < names + 4; taking++) {
        if (strcmp(name, *taking) == 0) {
            return with_arguments(argc, argv, error);
        }
    }
    if (strcmp(name, "info") == 0) {
        return info();
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return help(argc, argv, error);
    }
    if (strcmp(name, "--version") == 0) {
        printf("selenite %s (%s)\n", sel_version(), sel_commit());
        return SEL_OK;
    }
    if (argc < 2) {
        fputs(usage_text, stderr);
        return sel_fail(error, SEL_BAD_USAGE, "no command");
    }
    char suggestion[SEL_SUGGESTION_ROOM];
    return sel_fail(error, SEL_BAD_USAGE, "unknown command '%s'%s (see selenite help)", name,
                    sel_suggestion(name, names, suggestion));
}

/* Threads meet after each step. libgomp lets them spin for milliseconds meanwhile: the fastest on
 * an idle machine, but where others want the cores, who spins keeps away whom he waits for, and
 * steps take a hundred times longer. It reads this before main starts. */
__attribute__((constructor(101))) static void spin_briefly(void) {
    setenv("GOMP_SPINCOUNT", "3000", 0);
}

int main(int argc, char **argv) {
    /* The first signal ends the run in order, the second at once; a full disk or a closed pipe is
     * an error, not a death. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action = (struct sigaction){.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);

    sel_error error = {.status = SEL_OK};
    sel_status status = command(argc, argv, &error);
    if (status) {
        fprintf(stderr, "%s\n", error.text);
    }
    /* Who reads no further (| head) has what he wanted. */
    if (fflush(stdout) != 0 && errno != EPIPE && status == SEL_OK) {
        fprintf(stderr, "standard output: %s\n", strerror(errno));
        status = SEL_BAD_FILE;
    }
    return status;
}
