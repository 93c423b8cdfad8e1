/* usage.h -- what the command line prints about itself, all from the tables of arguments.h. */
#ifndef SEL_USAGE_H
#define SEL_USAGE_H

#include <stdbool.h>
#include <stdio.h>
#include "engine/status.h"

/* What `selenite` without a command prints: commands, options, exit statuses. */
void sel_usage(FILE *to);

/* Prints the help of the command or option `name`; false: there is none. */
bool sel_usage_of(FILE *to, const char *name);

/* docs/selenite.1. */
void sel_man_page(FILE *to);

/* Completion for "bash" or "zsh"; SEL_BAD_USAGE for another shell. `names` are what `selenite help`
 * knows beside commands and options, NULL at the end. */
sel_status sel_completion(FILE *to, const char *shell, const char *const *names, sel_error *error);

/* Prints `text`, broken at blanks into lines of at most 96 characters, the first of which begins
 * behind `column` others; each further line is indented. Ends with a newline. */
void sel_print_wrapped(FILE *to, const char *text, int column, int indent);

#endif
