/* arguments.h -- the command line: commands, options, words.
 *
 * The tables sel_commands and sel_options are the only source: parsing, usage, help, man page and
 * completions all follow from them.
 */
#ifndef SEL_ARGUMENTS_H
#define SEL_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>
#include "engine/base/status.h"
#include "engine/run/prepare.h"

/* Bits of the commands that take options. */
enum { SEL_RUN = 1, SEL_CHECK = 2, SEL_VALIDATE = 4, SEL_BENCH = 8, SEL_SWEEP = 16 };
enum { SEL_ANY_COMMAND = 31, SEL_REPL = 32 };

typedef struct sel_arguments {
    int command;        /* SEL_RUN ... SEL_REPL */
    const char **words; /* the words that are not options; ends with NULL; room for argc */
    int word_count;
    const char *const *line; /* all of argv */
    const char *file;        /* run, check, sweep: the first word; the others are name=value */
    const char *directory;   /* -o; NULL: not given */
    const char *only;        /* bench --only; NULL: all kernels */
    const char **given;      /* per option its name and its value or ""; ends with NULL */
    int given_count;
    int jobs;  /* 0: not given */
    int ranks; /* 0: not given; SEL_ALL */
    sel_settings settings;
    double script_seconds;
    const char *resume_file; /* NULL: the checkpoint of the directory */
    bool resume, force, trust, quiet, json, regions, laws, help;
    bool device; /* --device is given */
} sel_arguments;

typedef struct sel_command {
    const char *name;
    int takes;         /* its bit; 0: it takes no options */
    const char *words; /* synopsis of what may follow it */
    const char *doc;   /* a phrase for lists of commands */
    const char *more;  /* sentences for its help */
} sel_command;

/* The kind of an option's value, and the type of the member of sel_arguments that it sets. */
typedef enum sel_option_value {
    SEL_OPTION_TEXT,   /* const char * */
    SEL_OPTION_WHOLE,  /* int: a whole number from `least` to `most` */
    SEL_OPTION_CHOICE, /* int: index in `choices` */
    SEL_OPTION_SECONDS /* double */
} sel_option_value;

/* A flag, or an option with a value. */
typedef struct sel_option {
    const char *name;
    int commands;      /* bits of the commands that take it */
    const char *value; /* "DIR", or the list of values "f32|f64"; NULL: a flag */
    const char *doc;
    size_t flag; /* offset in sel_arguments of the bool that is set if it is given; 0: none */
    sel_option_value kind;
    size_t member;   /* offset in sel_arguments of the value; 0: stored in `given` only */
    int least, most; /* SEL_OPTION_WHOLE */
    bool all;        /* the value may be "all": SEL_ALL */
    const char *const *choices;
} sel_option;

enum { SEL_ALL = -1 };

/* Both tables end with name == NULL. */
extern const sel_command sel_commands[];
extern const sel_option sel_options[];

/* The bit of a command; 0: it takes no options, or is no command. */
int sel_command_of(const char *name);

/* The option called `name`; NULL: none. */
const sel_option *sel_option_find(const char *name);

/* "run or check": the names of the commands of these bits; `between`: " or ". Returns `text`. */
const char *sel_command_names(int commands, const char *between, char text[64]);

/* Parses argv[2] ... argv[argc - 1], which follow a->command. a->words has room for argc words.
 * SEL_BAD_USAGE: an option is unknown, lacks its value, or is not taken by the command; a command
 * that reads a scenario lacks its file (unless --help), or has further words that are not
 * name=value or that set a name twice. */
sel_status sel_arguments_parse(sel_arguments *a, int argc, char **argv, sel_error *error);

/* ---- what the command line prints about itself (help.c) ---- */

/* Prints what `selenite` without a command prints: commands, options, exit statuses. */
void sel_usage(FILE *to);

/* Prints the help of the command or option `name`; false: there is none. */
bool sel_usage_of(FILE *to, const char *name);

/* Prints the man page, docs/selenite.1. */
void sel_man_page(FILE *to);

/* ---- technical terms that scripts do not use, for `selenite help WORD` (topics.c) ---- */

typedef struct sel_topic {
    const char *words; /* in lower case, separated by blanks */
    const char *answer;
} sel_topic;

/* All topics; ends with words == NULL. */
extern const sel_topic sel_topics[];

/* Whether `word`, in lower case, is one of the topic's words. */
bool sel_topic_has(const sel_topic *topic, const char *word);

/* ---- starting this program in several ranks (launch.c) ---- */

/* Runs this program with `arguments` (ends with NULL) in `count` ranks by mpirun, and exits with
 * its status. Signals are forwarded, so that the ranks end a run in order. Returns only on failure:
 * SEL_NO_DEVICE, no mpirun. */
sel_status sel_launch_ranks(int count, const char *const *arguments, sel_error *error);

#endif
