/* completion.c -- completion of command lines by bash and zsh.
 *
 * The scripts are tools/completion.bash and .zsh, in which {{NAME}} stands for what the commands,
 * options and names of this program are. The parameters of a scenario come from `selenite check
 * FILE
 * --help` when they are asked for.
 */
#include <string.h>
#include "completion_bash.h"
#include "completion_zsh.h"
#include "engine/arguments.h"
#include "engine/usage.h"

/* "auto cpu cuda" for "auto|cpu|cuda". */
static void print_choices(FILE *to, const char *value) {
    for (; *value; value++) {
        fputc(*value == '|' ? ' ' : *value, to);
    }
}

static void print_command_names(FILE *to, const char *const *names) {
    (void)names;
    for (const sel_command *command = sel_commands; command->name; command++) {
        fprintf(to, "%s ", command->name);
    }
}

static void print_help_names(FILE *to, const char *const *names) {
    print_command_names(to, names);
    for (; *names; names++) {
        fprintf(to, "%s ", *names);
    }
    fputs("--man --completion", to);
}

/* "--backend run,check auto|cpu|cuda": a line for each option. */
static void print_options(FILE *to, const char *const *names) {
    (void)names;
    for (const sel_option *option = sel_options; option->name; option++) {
        char commands[64];
        fprintf(to, "%s%s %s %s", option == sel_options ? "" : "\n", option->name,
                sel_command_names(option->commands, ",", commands),
                option->value ? option->value : "");
    }
}

/* The options whose value is the next word, as a pattern: "-o|--threads". */
static void print_valued(FILE *to, const char *const *names) {
    (void)names;
    const char *between = "";
    for (const sel_option *option = sel_options; option->name; option++) {
        if (option->value) {
            fprintf(to, "%s%s", between, option->name);
            between = "|";
        }
    }
}

/* Text inside '...' that _arguments and _describe read: they split at : and [ ]. */
static void print_zsh_text(FILE *to, const char *text) {
    for (; *text; text++) {
        if (strchr(":[]\\", *text)) {
            fputc('\\', to);
        }
        fputs(*text == '\'' ? "'\\''" : (char[2]){*text, '\0'}, to);
    }
}

static void print_zsh_option(FILE *to, const sel_option *option) {
    fprintf(to, "        '%s[", option->name);
    print_zsh_text(to, option->doc);
    fputc(']', to);
    if (option->value && strchr(option->value, '|')) {
        fputs(":value:(", to);
        print_choices(to, option->value);
        fputc(')', to);
    } else if (option->value) {
        fprintf(to, ":%s:%s", option->value, strcmp(option->value, "DIR") == 0 ? "_files -/" : " ");
    }
    fputs("' \\\n", to);
}

static void print_zsh_command(FILE *to, const sel_command *command, const char *const *names) {
    fprintf(to, "    %s)\n        _arguments \\\n", command->name);
    for (const sel_option *option = sel_options; option->name; option++) {
        if (option->commands & command->takes) {
            print_zsh_option(to, option);
        }
    }
    if (command->takes & (SEL_RUN | SEL_CHECK)) {
        fputs("        '1:scenario:_files -g \"*.lua\"' '*:parameter:_selenite_assignments' ;;\n",
              to);
    } else if (strcmp(command->name, "help") == 0) {
        fputs("        '1:name:(", to);
        print_help_names(to, names);
        fputs(")' '2:shell:(bash zsh)' ;;\n", to);
    } else {
        fputs("        && return ;;\n", to);
    }
}

static void print_zsh_commands(FILE *to, const char *const *names) {
    (void)names;
    for (const sel_command *command = sel_commands; command->name; command++) {
        fprintf(to, "        '%s:", command->name);
        print_zsh_text(to, command->doc);
        fputs("'\n", to);
    }
}

static void print_zsh_arguments(FILE *to, const char *const *names) {
    for (const sel_command *command = sel_commands; command->name; command++) {
        print_zsh_command(to, command, names);
    }
}

/* What stands for {{NAME}}. */
static const struct insert {
    const char *name;
    void (*print)(FILE *to, const char *const *names);
} inserts[] = {
    {"commands", print_command_names},
    {"help_names", print_help_names},
    {"options", print_options},

    {"valued", print_valued},
    {"zsh_commands", print_zsh_commands},
    {"zsh_arguments", print_zsh_arguments},
};

static void print_script(FILE *to, const char *text, const char *const *names) {
    for (const char *open; (open = strstr(text, "{{")); text = strstr(open, "}}") + 2) {
        fwrite(text, 1, (size_t)(open - text), to);
        for (size_t k = 0; k < sizeof inserts / sizeof *inserts; k++) {
            const size_t length = strlen(inserts[k].name);
            if (strncmp(open + 2, inserts[k].name, length) == 0 && open[2 + length] == '}') {
                inserts[k].print(to, names);
            }
        }
    }
    fputs(text, to);
}

sel_status sel_completion(FILE *to, const char *shell, const char *const *names, sel_error *error) {
    if (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0) {
        return sel_fail(error, SEL_BAD_USAGE, "--completion must be bash or zsh, got '%s'", shell);
    }
    print_script(to, *shell == 'b' ? (const char *)completion_bash : (const char *)completion_zsh,
                 names);
    return SEL_OK;
}
