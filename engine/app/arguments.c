/* arguments.c -- the commands, their options, what stands behind them on a command line; usage, the
 * help of a command or an option, and the man page. */
#include "engine/app/arguments.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/machine.h"

/* More than any machine has: a slip. */
enum { MOST_DEVICES = 1024 };
enum {
    SCRIPTS = SEL_RUN | SEL_CHECK | SEL_SWEEP | SEL_PASSED,
    LIMITED = SCRIPTS | SEL_REPL,
    ANY = SEL_RUN | SEL_CHECK | SEL_VALIDATE | SEL_BENCH | SEL_SWEEP
};

const sel_command sel_commands[] = {
    {"run", SEL_RUN, "FILE|- [name=value ...] [options]", "run a scenario",
     "Reads the scenario, checks it, computes it and writes its outputs into a directory. - reads "
     "the scenario from standard input; name=value sets a parameter that the scenario declares "
     "with sel.params. A directory that holds a run is refused without --force. Ctrl-C ends a run "
     "in order, with its last state written."},
    {"check", SEL_CHECK, "FILE|- [name=value ...] [options]",
     "say what it means, without running it",
     "Prints the numbers that the scenario leads to (viscosity, relaxation time, Mach number, "
     "memory, files, time), and warns of what may be wrong with it. Nothing is written."},
    {"sweep", SEL_SWEEP, "FILE name=VALUES ... [options]", "run a scenario for many parameters",
     "Runs the scenario for all combinations of the values: 1,2,3 or from:to:step or "
     "log:from:to:n, each run in a folder of its own, and writes sweep.csv, a row for each. Called "
     "again it leaves what has ended and goes on with the rest, from checkpoints where there are "
     "any; a run that fails stops no other."},
    {"validate", SEL_VALIDATE, "[CASE ...] [-o DIR]", "compare with analytic and published results",
     "Runs the cases of scenarios/validation, or those named, compares them with exact solutions "
     "and published tables, and writes tables, plots and report.html. Without names a CPU leaves "
     "out the cases that take it hours."},
    {"bench", SEL_BENCH, "[--only PATTERN] [options]", "how fast this machine runs the kernels",
     "Measures cell updates per second of the kernels, and the copy bandwidth of the same memory. "
     "Each row is the median of seven rounds."},
    {"repl", SEL_REPL, "[FILE] [name=value ...]", "try the scenario's API at a prompt",
     "Lines of Lua are evaluated as in a scenario, and what they are is printed. sim is what FILE "
     "returns; mask(SHAPE) and mask(sim) print which cells a shape or a scenario's regions own, "
     "picture(SHAPE, \"mask.png\") draws it. Where libedit is installed, lines are edited and "
     "kept in ~/.selenite_history."},
    {"info", 0, "", "what this machine and this build offer",
     "Prints the version, the processor, and for each solver the backends that can be used."},
    {"help", 0, "[NAME]", "what a command, option, table or result is",
     "Without a name the list of all names. A family such as law, out or shape lists its members; "
     "lbm or aqua also the fields of the results. --man prints the man page, --completion bash or "
     "zsh the completion for that shell."},
    {NULL, 0, NULL, NULL, NULL},
};

static sel_status set_directory(sel_arguments *a, const char *value, sel_error *error) {
    a->directory = value;
    if (!sel_is_plain(value)) {
        return sel_fail(error, SEL_BAD_USAGE, "-o %s: the name holds control characters", value);
    }
    return *value ? SEL_OK : sel_fail(error, SEL_BAD_USAGE, "-o needs a directory");
}

static sel_status set_resume(sel_arguments *a, const char *value, sel_error *error) {
    (void)error;
    a->resume = true;
    a->resume_file = value;
    return SEL_OK;
}

static sel_status set_only(sel_arguments *a, const char *value, sel_error *error) {
    (void)error;
    a->only = value;
    return SEL_OK;
}

static sel_status set_rows(sel_arguments *a, const char *value, sel_error *error) {
    (void)error;
    a->rows = value;
    return SEL_OK;
}

static sel_status add_plot(sel_arguments *a, const char *value, sel_error *error) {
    (void)error;
    a->plots[a->plot_count++] = value;
    return SEL_OK;
}

static sel_status whole_number(const char *name, const char *value, int least, int most,
                               int64_t *number, sel_error *error) {
    char *end;
    errno = 0;
    *number = strtol(value, &end, 10);
    return !errno && !*end && end != value && *number >= least && *number <= most
               ? SEL_OK
               : sel_fail(error, SEL_BAD_USAGE, "%s must be a whole number from %d to %d, got '%s'",
                          name, least, most, value);
}

static sel_status set_threads(sel_arguments *a, const char *value, sel_error *error) {
    return whole_number("--threads", value, 1, SEL_MAX_THREADS, &a->settings.threads, error);
}

static sel_status set_jobs(sel_arguments *a, const char *value, sel_error *error) {
    return whole_number("-j", value, 1, SEL_MAX_THREADS, &a->jobs, error);
}

static sel_status set_device(sel_arguments *a, const char *value, sel_error *error) {
    int64_t number;
    sel_status status = whole_number("--device", value, 0, MOST_DEVICES - 1, &number, error);
    a->settings.device = status ? 0 : (int)number;
    a->device = true;
    return status;
}

static sel_status set_blocks(sel_arguments *a, const char *value, sel_error *error) {
    int64_t number;
    sel_status status = whole_number("--blocks", value, 1, SEL_MOST_BLOCKS, &number, error);
    a->settings.blocks = status ? 0 : (int)number;
    return status;
}

static sel_status set_script_limit(sel_arguments *a, const char *value, sel_error *error) {
    char *end;
    double seconds = strtod(value, &end);
    if (*end || end == value || !(seconds > 0) || !isfinite(seconds)) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--script-limit must be a positive number of seconds, got '%s'", value);
    }
    a->script_seconds = seconds;
    return SEL_OK;
}

int sel_command_of(const char *name) {
    const sel_command *command = sel_commands;
    while (command->name && strcmp(command->name, name) != 0) {
        command++;
    }
    return command->takes;
}

static sel_status set_precision(sel_arguments *a, const char *value, sel_error *error) {
    a->settings.precision = sel_name_index(sel_precision_names, value);
    return a->settings.precision >= 0
               ? SEL_OK
               : sel_fail(error, SEL_BAD_USAGE, "--precision must be f32 or f64, got '%s'", value);
}

static sel_status set_backend(sel_arguments *a, const char *value, sel_error *error) {
    a->settings.backend = sel_name_index(sel_backend_names, value);
    return a->settings.backend >= 0
               ? SEL_OK
               : sel_fail(error, SEL_BAD_USAGE, "--backend must be auto, cpu or cuda, got '%s'",
                          value);
}

#define FLAG(member) offsetof(sel_arguments, member), NULL
#define SETTER(function) 0, function

const sel_option sel_options[] = {
    {"-o", SEL_RUN | SEL_VALIDATE | SEL_SWEEP, "DIR",
     "directory to write into; when not given out/SCENARIO (run), out/SCENARIO_sweep (sweep), "
     "out/validate (validate)",
     SETTER(set_directory)},
    {"--force", SEL_RUN | SEL_SWEEP, NULL, "write over an earlier run", FLAG(force)},
    {"-j", SEL_SWEEP, "N",
     "runs at a time; they share the CPU's threads, or take turns on the GPUs; when not given one "
     "for each GPU, one on the CPU",
     SETTER(set_jobs)},
    {"--rows", SEL_SWEEP, "FILE.csv",
     "the parameters of each run: names, then a row of values each", SETTER(set_rows)},
    {"--plot", SEL_SWEEP, "'y=RESULT x=NAME'",
     "draws results against a parameter, as PNG and CSV; by=NAME makes a curve for each value, "
     "with=FILE.csv:X:Y adds points; of FILE.csv:COLUMN every run is a curve",
     SETTER(add_plot)},
    {"--resume", SEL_RUN, "[FILE.sel]",
     "go on from the checkpoint of the directory, or from FILE.sel, whose directory is taken "
     "without -o",
     SETTER(set_resume)},
    {"--backend", ANY | SEL_PASSED, "auto|cpu|cuda",
     "what computes; auto: a GPU that can be used, else the CPU; overrides the scenario",
     SETTER(set_backend)},
    {"--device", ANY & ~SEL_SWEEP, "N",
     "the GPU that computes, by its number in selenite info; the first, 0, when not given; it "
     "means "
     "--backend cuda",
     SETTER(set_device)},
    {"--precision", SCRIPTS | SEL_VALIDATE, "f32|f64",
     "precision of the stored state; overrides the scenario", SETTER(set_precision)},
    {"--threads", ANY, "N", "CPU threads; overrides the scenario", SETTER(set_threads)},
    {"--blocks", SEL_RUN | SEL_CHECK, "N",
     "cut the grid into N blocks, which exchange their borders; results are the same",
     SETTER(set_blocks)},
    {"--trust", LIMITED, NULL, "lift the script's sandbox: os, io, no limits", FLAG(trust)},
    {"--script-limit", LIMITED, "S", "seconds that the script may take; 10 when not given",
     SETTER(set_script_limit)},
    {"--quiet", SEL_RUN | SEL_SWEEP, NULL, "print nothing but errors; run.json has the warnings",
     FLAG(quiet)},
    {"--json", SEL_RUN | SEL_BENCH, NULL,
     "print run.json on standard output when done (run), the results as JSON (bench)", FLAG(json)},
    {"--regions", SEL_CHECK, NULL, "what each region owns, kinds of cells", FLAG(regions)},
    {"--laws", SEL_CHECK, NULL, "the program of each function, or why Lua evaluates it",
     FLAG(laws)},
    {"--only", SEL_BENCH, "PATTERN", "the cases whose name contains it; * stands for any text",
     SETTER(set_only)},
    {"--help", ANY | SEL_REPL, NULL,
     "the command and its options; run, check with FILE: the scenario's parameters", FLAG(help)},
    {"-h", ANY | SEL_REPL, NULL, "the same as --help", FLAG(help)},
    {NULL, 0, NULL, NULL, FLAG(help)},
};
enum { OPTIONS = sizeof sel_options / sizeof *sel_options };

static sel_status unknown_option(const char *name, sel_error *error) {
    const char *names[OPTIONS];
    char suggestion[SEL_SUGGESTION_ROOM];
    for (int i = 0; i < OPTIONS; i++) {
        names[i] = sel_options[i].name;
    }
    return sel_fail(error, SEL_BAD_USAGE, "unknown option '%s'%s%s", name,
                    sel_suggestion(name, names, suggestion),
                    strchr(name, '=') ? " (a value stands apart: --threads 2)" : "");
}

const char *sel_command_names(int commands, const char *between, char text[64]) {
    text[0] = '\0';
    for (const sel_command *command = sel_commands; command->name; command++) {
        if (commands & command->takes) {
            size_t used = strlen(text);
            snprintf(text + used, 64 - used, "%s%s", used ? between : "", command->name);
        }
    }
    return text;
}

const sel_option *sel_option_find(const char *name) {
    const sel_option *option = sel_options;
    while (option->name && strcmp(option->name, name) != 0) {
        option++;
    }
    return option->name ? option : NULL;
}

/* Only such a name is the value that --resume may have. */
static bool is_checkpoint(const char *word) {
    const size_t length = strlen(word);
    return length > 4 && strcmp(word + length - 4, ".sel") == 0;
}

static sel_status parse_option(sel_arguments *a, int argc, char **argv, int *i, sel_error *error) {
    const char *name = argv[*i];
    const sel_option *found = sel_option_find(name);
    if (!found) {
        return unknown_option(name, error);
    }
    if (!(found->commands & a->command)) {
        char takers[64], given[64];
        return sel_fail(error, SEL_BAD_USAGE, "%s takes no %s; it is an option of %s",
                        sel_command_names(a->command, " or ", given), name,
                        sel_command_names(found->commands, " or ", takers));
    }
    const bool passed = a->command == SEL_SWEEP && found->commands & SEL_PASSED;
    if (passed) {
        a->pass[a->pass_count++] = name;
    }
    if (!found->value) {
        *(bool *)((char *)a + found->flag) = true;
        return SEL_OK;
    }
    if (found->value[0] == '[') {
        const bool given = *i + 1 < argc && is_checkpoint(argv[*i + 1]);
        *i += given;
        return found->set(a, given ? argv[*i] : NULL, error);
    }
    if (*i + 1 >= argc) {
        return sel_fail(error, SEL_BAD_USAGE, "option %s needs a value", name);
    }
    const char *value = argv[++*i];
    if (sel_option_find(value)) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "option %s needs a value, and '%s' is an option (./%s would be a file)",
                        name, value, value);
    }
    if (passed) {
        a->pass[a->pass_count++] = value;
    }
    return found->set(a, value, error);
}

sel_status sel_arguments_parse(sel_arguments *a, int argc, char **argv, sel_error *error) {
    a->line = (const char *const *)argv;
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
    if (a->device && a->settings.backend == SEL_BACKEND_CPU) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--device chooses a GPU, and --backend cpu takes none; give one of them");
    }
    a->settings.backend = a->device ? SEL_BACKEND_CUDA : a->settings.backend;
    return SEL_OK;
}

/* Refuses name=value behind another value for the same name. */
static sel_status check_twice(const sel_arguments *a, int word, sel_error *error) {
    size_t length = strcspn(a->words[word], "=") + 1;
    for (int i = 1; i < word; i++) {
        if (strncmp(a->words[i], a->words[word], length) == 0) {
            return sel_fail(error, SEL_BAD_USAGE, "%.*s is given twice: %s and %s", (int)length - 1,
                            a->words[word], a->words[i], a->words[word]);
        }
    }
    return SEL_OK;
}

sel_status sel_arguments_scenario(sel_arguments *a, sel_error *error) {
    char name[64];
    if (a->trust && a->script_seconds > 0) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--script-limit limits nothing with --trust; give one of them");
    }
    if (a->word_count == 0) {
        return a->help ? SEL_OK
                       : sel_fail(error, SEL_BAD_USAGE, "which scenario? selenite %s FILE",
                                  sel_command_names(a->command, " or ", name));
    }
    if (a->resume && a->force) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--resume goes on with a run, --force writes over it; give one of them");
    }
    a->file = a->words[0];
    for (int i = 1; i < a->word_count; i++) {
        if (!strchr(a->words[i], '=')) {
            return sel_fail(error, SEL_BAD_USAGE,
                            "'%s' is neither an option nor name=value; one scenario at a time",
                            a->words[i]);
        }
        sel_status status = check_twice(a, i, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
}

/* ---- what the command line prints about itself ---- */

enum { WIDTH = 96, NAME_WIDTH = 24 };

static const char purpose[] =
    "Selenite simulates what a Lua script describes, and writes files for ParaView.";

static const struct {
    int number;
    const char *meaning;
} exit_statuses[] = {
    {0, "done"},
    {1, "the scenario is wrong"},
    {2, "bad usage, or a directory that holds a run already"},
    {3, "the run diverged"},
    {4, "a file could not be read or written"},
    {5, "not enough memory, or no such device"},
    {130, "interrupted; the last state is written"},
};
enum { EXIT_STATUSES = sizeof exit_statuses / sizeof *exit_statuses };

void sel_print_wrapped(FILE *to, const char *text, int column, int indent) {
    int blanks = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + blanks + length > WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
            blanks = 0;
        }
        fprintf(to, "%*s%.*s", blanks, "", length, text);
        column += blanks + length;
        text += length;
        blanks = (int)strspn(text, " ");
        text += blanks;
    }
    fputc('\n', to);
}

/* "  --threads N             " and the number of characters. */
static int print_name(FILE *to, const sel_option *option) {
    int length = fprintf(to, "  %s%s%s ", option->name, option->value ? " " : "",
                         option->value ? option->value : "");
    return length < NAME_WIDTH + 2 ? length + fprintf(to, "%*s", NAME_WIDTH + 2 - length, "")
                                   : length;
}

static void print_options(FILE *to, int commands, bool takers) {
    for (const sel_option *option = sel_options; option->name; option++) {
        char names[64], text[512];
        if (!(option->commands & commands)) {
            continue;
        }
        bool some = takers && option->commands != ANY;
        snprintf(text, sizeof text, "%s%s%s",
                 some ? sel_command_names(option->commands, ", ", names) : "", some ? ": " : "",
                 option->doc);
        sel_print_wrapped(to, text, print_name(to, option), NAME_WIDTH + 2);
    }
}

void sel_usage(FILE *to) {
    fprintf(to, "%s\n\n", purpose);
    for (const sel_command *command = sel_commands; command->name; command++) {
        char line[128];
        snprintf(line, sizeof line, "%s %s", command->name, command->words);
        fprintf(to, "  selenite %-39s %s\n", line, command->doc);
    }
    fputs("  selenite --version\n\nOptions, and the commands that take them:\n", to);
    print_options(to, ANY, true);
    fputs("\nExit status:\n", to);
    for (int i = 0; i < EXIT_STATUSES; i++) {
        fprintf(to, "  %3d  %s\n", exit_statuses[i].number, exit_statuses[i].meaning);
    }
    fputs("\nTo begin: selenite check FILE, then selenite run FILE. What a FILE may hold: selenite "
          "help lbm\n(flow), selenite help aqua (run-off).\n",
          to);
}

static void print_command(FILE *to, const sel_command *command) {
    fprintf(to, "selenite %s%s%s\n  ", command->name, *command->words ? " " : "", command->words);
    sel_print_wrapped(to, command->more, 2, 2);
    if (command->takes) {
        fputs("\nOptions:\n", to);
        print_options(to, command->takes, false);
    }
}

bool sel_usage_of(FILE *to, const char *name) {
    for (const sel_command *command = sel_commands; command->name; command++) {
        if (strcmp(name, command->name) == 0) {
            print_command(to, command);
            return true;
        }
    }
    const sel_option *option = sel_option_find(name);
    if (option) {
        char names[64];
        sel_print_wrapped(to, option->doc, print_name(to, option), NAME_WIDTH + 2);
        fprintf(to, "%*sAn option of %s.\n", NAME_WIDTH + 2, "",
                sel_command_names(option->commands, ", ", names));
    }
    return option != NULL;
}

/* Text of a man page: - would become a hyphen, \ and a . or ' at the start commands. */
static void print_roff(FILE *to, const char *text) {
    fputs(*text == '.' || *text == '\'' ? "\\&" : "", to);
    for (; *text; text++) {
        fputs(*text == '-'    ? "\\-"
              : *text == '\\' ? "\\e"
              : *text == '\'' ? "\\(aq"
                              : (char[2]){*text, '\0'},
              to);
    }
}

static void print_roff_item(FILE *to, const char *name, const char *value, const char *doc) {
    fputs(".TP\n.B ", to);
    print_roff(to, name);
    fputs(*value ? " \\fI" : "", to);
    print_roff(to, value);
    fputs(*value ? "\\fR\n" : "\n", to);
    print_roff(to, doc);
    fputc('\n', to);
}

static void print_roff_options(FILE *to) {
    fputs(".SH OPTIONS\n", to);
    for (const sel_option *option = sel_options; option->name; option++) {
        char names[64], text[512];
        snprintf(text, sizeof text, "(%s) %s.", sel_command_names(option->commands, ", ", names),
                 option->doc);
        print_roff_item(to, option->name, option->value ? option->value : "", text);
    }
}

void sel_man_page(FILE *to) {
    fputs(".\\\" Printed by `selenite help --man` from the tables of the source.\n"
          ".TH SELENITE 1 \"\" Selenite \"User Commands\"\n.SH NAME\n"
          "selenite \\- simulate what a Lua script describes\n.SH SYNOPSIS\n",
          to);
    for (const sel_command *command = sel_commands; command->name; command++) {
        fprintf(to, "%s.B selenite %s\n", command == sel_commands ? "" : ".br\n", command->name);
        print_roff(to, command->words);
        fputs(*command->words ? "\n" : "", to);
    }
    fputs(".br\n.B selenite \\-\\-version\n.SH DESCRIPTION\n", to);
    print_roff(to, purpose);
    fputs("\nA scenario is one Lua file that returns a simulation: lattice Boltzmann flow in two "
          "or three dimensions, or run\\-off over terrain. It is computed on all cores of a "
          "processor, or on a GPU.\n.SH COMMANDS\n",
          to);
    for (const sel_command *command = sel_commands; command->name; command++) {
        print_roff_item(to, command->name, command->words, command->more);
    }
    print_roff_options(to);
    fputs(".SH EXIT STATUS\n", to);
    for (int i = 0; i < EXIT_STATUSES; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", exit_statuses[i].number);
        print_roff_item(to, number, "", exit_statuses[i].meaning);
    }
    fputs(".SH ENVIRONMENT\n", to);
    print_roff_item(to, "CUDA_VISIBLE_DEVICES", "", "which GPUs are seen; the first one computes");
    fputs(".SH FILES\n", to);
    print_roff_item(to, "out/SCENARIO/run.json", "",
                    "what was run and how it went: parameters, steps, results, warnings");
    print_roff_item(to, "out/SCENARIO/NAME.pvd", "", "the frames of out.vtk, for ParaView");
    fputs(".SH EXAMPLES\n.nf\nselenite check channel.lua\n"
          "selenite run channel.lua U=0.08 \\-o out/fast\nselenite help law.wall\n.fi\n"
          ".SH SEE ALSO\n.BR lua5.4 (1),\nthe guide and the reference in the folder doc/selenite "
          "of the installation.\n",
          to);
}
