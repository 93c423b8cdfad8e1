/* arguments.c -- options and words behind the commands that take them. */
#include "engine/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine.h"

static const char *const command_names[] = {"run", "check", "validate", "bench", NULL};

static sel_status set_directory(sel_arguments *a, const char *value, sel_error *error) {
    a->directory = value;
    return *value ? SEL_OK : sel_fail(error, SEL_BAD_USAGE, "-o needs a directory");
}

static sel_status set_only(sel_arguments *a, const char *value, sel_error *error) {
    (void)error;
    a->only = value;
    return SEL_OK;
}

static sel_status set_threads(sel_arguments *a, const char *value, sel_error *error) {
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

/* The place of `value` in a NULL-terminated list; -1: not in it. */
static int find_name(const char *const *names, const char *value) {
    for (int i = 0; names[i]; i++) {
        if (strcmp(value, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

int sel_command_of(const char *name) {
    const int place = find_name(command_names, name);
    return place < 0 ? 0 : 1 << place;
}

static sel_status set_precision(sel_arguments *a, const char *value, sel_error *error) {
    a->settings.precision = find_name(sel_precision_names, value);
    return a->settings.precision >= 0
               ? SEL_OK
               : sel_fail(error, SEL_BAD_USAGE, "--precision must be f32 or f64, got '%s'", value);
}

static sel_status set_backend(sel_arguments *a, const char *value, sel_error *error) {
    a->settings.backend = find_name(sel_backend_names, value);
    return a->settings.backend >= 0
               ? SEL_OK
               : sel_fail(error, SEL_BAD_USAGE, "--backend must be auto, cpu or cuda, got '%s'",
                          value);
}

/* An option is a flag, or `set` takes its value; `commands` are those that use it. */
typedef struct option {
    const char *name;
    int commands;
    bool *flag;
    sel_status (*set)(sel_arguments *a, const char *value, sel_error *error);
} option;

enum { OPTIONS = 15 };

static void list_options(sel_arguments *a, option options[OPTIONS]) {
    const int any = SEL_RUN | SEL_CHECK | SEL_VALIDATE | SEL_BENCH, scripts = SEL_RUN | SEL_CHECK;
    const option all[OPTIONS] = {
        {"-o", SEL_RUN | SEL_VALIDATE, NULL, set_directory},
        {"--force", SEL_RUN, &a->force, NULL},
        {"--precision", SEL_RUN | SEL_CHECK | SEL_VALIDATE, NULL, set_precision},
        {"--threads", any, NULL, set_threads},
        {"--backend", any, NULL, set_backend},
        {"--trust", scripts, &a->trust, NULL},
        {"--script-limit", scripts, NULL, set_script_limit},
        {"--quiet", SEL_RUN, &a->quiet, NULL},
        {"--json", SEL_RUN | SEL_BENCH, &a->json, NULL},
        {"--regions", SEL_CHECK, &a->regions, NULL},
        {"--laws", SEL_CHECK, &a->laws, NULL},
        {"--only", SEL_BENCH, NULL, set_only},
        {"--help", any, &a->help, NULL},
        {"-h", any, &a->help, NULL},
    };
    memcpy(options, all, sizeof all);
}

static sel_status unknown_option(const char *name, const option *options, sel_error *error) {
    const char *names[OPTIONS];
    char suggestion[SEL_SUGGESTION_ROOM];
    for (int i = 0; i < OPTIONS; i++) {
        names[i] = options[i].name;
    }
    return sel_fail(error, SEL_BAD_USAGE, "unknown option '%s'%s%s", name,
                    sel_suggestion(name, names, suggestion),
                    strchr(name, '=') ? " (a value stands apart: --threads 2)" : "");
}

/* "run or check" */
static const char *list_commands(int commands, char text[64]) {
    text[0] = '\0';
    for (int i = 0; command_names[i]; i++) {
        if (commands >> i & 1) {
            size_t used = strlen(text);
            snprintf(text + used, 64 - used, "%s%s", used ? " or " : "", command_names[i]);
        }
    }
    return text;
}

/* The option called `name`; else the last one, without a name. */
static const option *find_option(const option *options, const char *name) {
    while (options->name && strcmp(options->name, name) != 0) {
        options++;
    }
    return options;
}

static sel_status parse_option(sel_arguments *a, int argc, char **argv, int *i, sel_error *error) {
    option options[OPTIONS];
    const char *name = argv[*i];
    list_options(a, options);
    const option *found = find_option(options, name);
    if (!found->name) {
        return unknown_option(name, options, error);
    }
    if (!(found->commands & a->command)) {
        char takers[64], given[64];
        return sel_fail(error, SEL_BAD_USAGE, "%s takes no %s; it is an option of %s",
                        list_commands(a->command, given), name,
                        list_commands(found->commands, takers));
    }
    if (found->flag) {
        *found->flag = true;
        return SEL_OK;
    }
    if (*i + 1 >= argc) {
        return sel_fail(error, SEL_BAD_USAGE, "option %s needs a value", name);
    }
    const char *value = argv[++*i];
    if (find_option(options, value)->name) {
        return sel_fail(error, SEL_BAD_USAGE,
                        "option %s needs a value, and '%s' is an option (./%s would be a file)",
                        name, value, value);
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
                                  list_commands(a->command, name));
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
