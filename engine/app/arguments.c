/* arguments.c -- the tables of commands and options, and the parser of the command line. */
#include "engine/app/arguments.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/text.h"
#include "engine/base/hardware.h"

/* More than any machine has: a mistake. */
enum { MOST_DEVICES = 1024 };
enum { SCRIPTS = SEL_RUN | SEL_CHECK | SEL_SWEEP, LIMITED = SCRIPTS | SEL_REPL };
enum { ANY = SEL_ANY_COMMAND };

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
     "Each row is the median of seven rounds. With --ranks, how N processes compare with one: on "
     "its grid (strong scaling), and on N times the cells (weak)."},
    {"repl", SEL_REPL, "[FILE] [name=value ...]", "try the scenario's API at a prompt",
     "Lines of Lua are evaluated as in a scenario, what they are is printed, and tables are "
     "checked. sim is what FILE returns; help NAME; check(sim) as selenite check; mask(SHAPE) and "
     "mask(sim) print which cells a shape or a scenario's regions own, picture(SHAPE, "
     "\"mask.png\") draws it. Where libedit is installed, lines are edited and kept in "
     "~/.selenite_history."},
    {"info", 0, "", "what this machine and this build offer",
     "Prints the version, the processor, the ranks that a launcher has started, for each solver "
     "the "
     "backends that can be used, and what joins several GPUs."},
    {"help", 0, "[NAME]", "what a command, option, table or word is",
     "Without a name the list of all names. Words of the trades, as stl or restart, lead to what "
     "does it here. A family such as law, out or shape lists its members; "
     "a solver, as lbm, also the fields of the results. --man prints the man page, --completion "
     "bash or zsh the completion for that shell."},
    {NULL, 0, NULL, NULL, NULL},
};

int sel_command_of(const char *name) {
    const sel_command *command = sel_commands;
    while (command->name && strcmp(command->name, name) != 0) {
        command++;
    }
    return command->takes;
}

#define FLAG(is) .flag = offsetof(sel_arguments, is)
#define SETS(holds, is) .kind = SEL_OPTION_##holds, .member = offsetof(sel_arguments, is)

const sel_option sel_options[] = {
    {"-o", SEL_RUN | SEL_VALIDATE | SEL_SWEEP, "DIR",
     "directory to write into; when not given out/SCENARIO (run), out/SCENARIO_sweep (sweep), "
     "out/validate (validate)",
     SETS(TEXT, directory)},
    {"--force", SEL_RUN | SEL_SWEEP, NULL, "write over an earlier run", FLAG(force)},
    {"-j", SEL_SWEEP, "N",
     "runs at a time; they share the CPU's threads, or take turns on the GPUs; when not given one "
     "for each GPU, one on the CPU",
     SETS(WHOLE, jobs), .least = 1, .most = SEL_MAX_THREADS},
    {"--rows", SEL_SWEEP, "FILE.csv",
     "the parameters of each run: names, then a row of values each", .member = 0},
    {"--plot", SEL_SWEEP, "PLOT",
     "'y=RESULT x=NAME' draws results against a parameter, as PNG and CSV; by=NAME makes a curve "
     "for each value, with=FILE.csv:X:Y adds points, log=xy makes axes logarithmic; of "
     "FILE.csv:COLUMN every run is a curve",
     .member = 0},
    {"--resume", SEL_RUN, "[FILE.sel]",
     "continue from the checkpoint of the directory, or from FILE.sel, whose directory is taken "
     "without -o",
     FLAG(resume), SETS(TEXT, resume_file)},
    {"--backend", ANY, "auto|cpu|cuda",
     "what computes; auto: a GPU that can be used, else the CPU; overrides the scenario",
     SETS(CHOICE, settings.backend), .choices = sel_backend_names},
    {"--device", ANY & ~SEL_SWEEP, "N",
     "the GPU that computes, by its number in selenite info; the first, 0, when not given; of "
     "several ranks each takes the next one; it means --backend cuda",
     FLAG(device), SETS(WHOLE, settings.device), .most = MOST_DEVICES - 1},
    {"--precision", SCRIPTS | SEL_VALIDATE, "f32|f64",
     "precision of the stored state; overrides the scenario", SETS(CHOICE, settings.precision),
     .choices = sel_precision_names},
    {"--storage", SCRIPTS, "auto|populations|moments",
     "what a cell of a flow stores; auto: moments where the operator allows it; overrides the "
     "scenario",
     FLAG(settings.stores), SETS(CHOICE, settings.storage), .choices = sel_storage_names},
    {"--threads", ANY, "N", "CPU threads; overrides the scenario", SETS(WHOLE, settings.threads),
     .least = 1, .most = SEL_MAX_THREADS},
    {"--ranks", SEL_RUN | SEL_CHECK | SEL_BENCH, "N|all",
     "compute in N processes, each a part of the grid, which mpirun starts on this machine (all: "
     "one for each GPU); results are the same; check says what each would have, bench what they "
     "gain",
     SETS(WHOLE, ranks), .least = 1, .most = SEL_MOST_RANKS, .all = true},
    {"--trust", LIMITED, NULL, "run the script without a sandbox: with os and io, without limits",
     FLAG(trust)},
    {"--script-limit", LIMITED, "S", "seconds that the script may take; 10 when not given",
     SETS(SECONDS, script_seconds)},
    {"--quiet", SEL_RUN | SEL_SWEEP, NULL, "print nothing but errors; run.json has the warnings",
     FLAG(quiet)},
    {"--json", SEL_RUN | SEL_BENCH, NULL,
     "print run.json on standard output when done (run), the results as JSON (bench)", FLAG(json)},
    {"--regions", SEL_CHECK, NULL,
     "cells, boundary faces, volume and areas of each region, cell types", FLAG(regions)},
    {"--laws", SEL_CHECK, NULL, "the program of each function, or why Lua evaluates it",
     FLAG(laws)},
    {"--only", SEL_BENCH, "PATTERN", "the cases whose name contains it; * stands for any text",
     SETS(TEXT, only)},
    {"--help", ANY | SEL_REPL, NULL,
     "the command and its options; run, check with FILE: the scenario's parameters", FLAG(help)},
    {"-h", ANY | SEL_REPL, NULL, "the same as --help", FLAG(help)},
    {.name = NULL},
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

/* "auto, cpu or cuda" */
static void list_choices(const sel_option *option, char text[64]) {
    size_t used = 0;
    for (int i = 0; option->choices[i]; i++) {
        const char *between = i == 0 ? "" : option->choices[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(text + used, 64 - used, "%s%s", between, option->choices[i]);
    }
}

static sel_status set_value(sel_arguments *a, const sel_option *option, const char *value,
                            sel_error *error) {
    char *end, needed[64] = "a positive number of seconds";
    void *to = (char *)a + option->member;
    bool right = true;
    if (option->kind == SEL_OPTION_TEXT) {
        *(const char **)to = value;
    } else if (option->kind == SEL_OPTION_WHOLE) {
        errno = 0;
        const long number = strtol(value, &end, 10);
        right =
            !errno && !*end && end != value && number >= option->least && number <= option->most;
        const bool all = option->all && strcmp(value, "all") == 0;
        right = right || all;
        *(int *)to = all ? SEL_ALL : (int)number;
        snprintf(needed, sizeof needed, "a whole number from %d to %d%s", option->least,
                 option->most, option->all ? ", or all" : "");
    } else if (option->kind == SEL_OPTION_CHOICE) {
        *(int *)to = sel_name_index(option->choices, value);
        right = *(int *)to >= 0;
        list_choices(option, needed);
    } else {
        const double seconds = *(double *)to = strtod(value, &end);
        right = !*end && end != value && seconds > 0 && isfinite(seconds);
    }
    return right ? SEL_OK
                 : sel_fail(error, SEL_BAD_USAGE, "%s must be %s, got '%s'", option->name, needed,
                            value);
}

/* Whether a word names a checkpoint. --resume may stand alone: only such a word is its value. */
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
    a->given[a->given_count++] = name;
    a->given[a->given_count++] = "";
    if (found->flag) {
        *(bool *)((char *)a + found->flag) = true;
    }
    const bool may_have = found->value && found->value[0] == '[';
    if (!found->value || (may_have && !(*i + 1 < argc && is_checkpoint(argv[*i + 1])))) {
        return SEL_OK;
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
    a->given[a->given_count - 1] = value;
    return found->member ? set_value(a, found, value, error) : SEL_OK;
}

/* Refuses name=value if an earlier word sets the same name. */
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

/* Checks the words and options of a command that reads a scenario. */
static sel_status check_scenario(sel_arguments *a, sel_error *error) {
    char name[64];
    if (a->trust && a->script_seconds > 0) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--script-limit limits nothing with --trust; give one of them");
    }
    if (a->word_count == 0) {
        return a->help || a->command == SEL_REPL
                   ? SEL_OK
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
            char held[SEL_HOLDS_ROOM];
            return sel_fail(error, SEL_BAD_USAGE,
                            "'%s' is neither an option nor name=value; one scenario at a time%s",
                            a->words[i], sel_character_held(a->words[i], held));
        }
        sel_status status = check_twice(a, i, error);
        if (status) {
            return status;
        }
    }
    return SEL_OK;
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
    if (a->directory && !sel_is_plain(a->directory)) {
        return sel_fail(error, SEL_BAD_USAGE, "-o %s: the name holds control characters",
                        a->directory);
    }
    if (a->directory && !*a->directory) {
        return sel_fail(error, SEL_BAD_USAGE, "-o needs a directory");
    }
    if (a->device && a->settings.backend == SEL_BACKEND_CPU) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "--device chooses a GPU, and --backend cpu takes none; give one of them");
    }
    a->settings.backend = a->device ? SEL_BACKEND_CUDA : a->settings.backend;
    return a->command & LIMITED ? check_scenario(a, error) : SEL_OK;
}
