/* arguments.h -- the command line: commands, options, and what stands behind them.
 *
 * Two tables say all there is: they parse, and print usage, help, man page and completions.
 */
#ifndef SEL_ARGUMENTS_H
#define SEL_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>
#include "engine/run/prepare.h"

/* Commands that take options, as bits. */
enum { SEL_RUN = 1, SEL_CHECK = 2, SEL_VALIDATE = 4, SEL_BENCH = 8, SEL_SWEEP = 16 };
enum { SEL_ANY_COMMAND = 31, SEL_REPL = 32 };

typedef struct sel_arguments {
    int command;        /* SEL_RUN ... SEL_REPL */
    const char **words; /* all that are not options, then NULL; room for argc */
    int word_count;
    const char *const *line; /* all of argv */
    const char *file;        /* run, check, sweep: the first word; the others are name=value */
    const char *directory;
    const char *only;   /* bench */
    const char **given; /* all options as pairs of a name and a value or "", then NULL */
    int given_count;
    int jobs;  /* 0: not given */
    int ranks; /* 0: not given */
    sel_settings settings;
    double script_seconds;
    const char *resume_file; /* NULL: that of the directory */
    bool resume, force, trust, quiet, json, regions, laws, help;
    bool device; /* one is named */
} sel_arguments;

typedef struct sel_command {
    const char *name;
    int takes;         /* its bit; 0: it takes no options */
    const char *words; /* what may stand behind it */
    const char *doc;   /* a few words */
    const char *more;  /* sentences */
} sel_command;

/* What the value of an option is, and the type of the member that it sets. */
typedef enum sel_option_value {
    SEL_OPTION_TEXT,   /* const char * */
    SEL_OPTION_WHOLE,  /* int: a whole number from `least` to `most` */
    SEL_OPTION_CHOICE, /* int: index in `choices` */
    SEL_OPTION_SECONDS /* double */
} sel_option_value;

/* A flag, or an option with a value. */
typedef struct sel_option {
    const char *name;
    int commands;      /* that take it */
    const char *value; /* "DIR", or all values: "f32|f64"; NULL: a flag */
    const char *doc;
    size_t flag; /* offset in sel_arguments of the bool that says that it is given; 0: none */
    sel_option_value kind;
    size_t member; /* offset of what the value sets; 0: it stands among those given only */
    int least, most;
    bool all; /* "all" is a value, too: SEL_ALL */
    const char *const *choices;
} sel_option;

enum { SEL_ALL = -1 };

/* Both end with a row without a name. */
extern const sel_command sel_commands[];
extern const sel_option sel_options[];

/* The bit of a command; 0: it takes no options, or is none. */
int sel_command_of(const char *name);

/* NULL: there is no such option. */
const sel_option *sel_option_find(const char *name);

/* "run or check": the names of the commands of these bits. */
const char *sel_command_names(int commands, const char *between, char text[64]);

/* Sorts argv[2] ... argv[argc - 1], which stand behind a->command; a->words has room for all of
 * them. SEL_BAD_USAGE for options that are unknown, that the command does not take, or that lack a
 * value; of commands that read a scenario, when it is missing (but for --help), and where words
 * behind it are not name=value or name the same twice. */
sel_status sel_arguments_parse(sel_arguments *a, int argc, char **argv, sel_error *error);

/* ---- what the command line prints about itself (help.c) ---- */

/* What `selenite` without a command prints: commands, options, exit statuses. */
void sel_usage(FILE *to);

/* Prints the help of the command or option `name`; false: there is none. */
bool sel_usage_of(FILE *to, const char *name);

/* docs/selenite.1. */
void sel_man_page(FILE *to);

#endif
