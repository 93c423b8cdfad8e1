/* completion.c -- completion of command lines by bash and zsh.
 *
 * The scripts hold the commands, options and names of this program; the parameters of a scenario
 * come from `selenite check FILE --help` when they are asked for.
 */
#include <string.h>
#include "engine/arguments.h"
#include "engine/usage.h"

static bool is_choice(const sel_option *option) {
    return option->value && strchr(option->value, '|');
}

/* "auto cpu cuda" for "auto|cpu|cuda". */
static void print_choices(FILE *to, const char *value) {
    for (; *value; value++) {
        fputc(*value == '|' ? ' ' : *value, to);
    }
}

static void print_command_names(FILE *to) {
    for (const sel_command *command = sel_commands; command->name; command++) {
        fprintf(to, "%s ", command->name);
    }
}

static void print_help_names(FILE *to, const char *const *names) {
    print_command_names(to);
    for (; *names; names++) {
        fprintf(to, "%s ", *names);
    }
    fputs("--man --completion", to);
}

static void print_bash_values(FILE *to) {
    fputs("    case $previous in\n", to);
    for (const sel_option *option = sel_options; option->name; option++) {
        if (is_choice(option)) {
            fprintf(to, "    %s) mapfile -t COMPREPLY < <(compgen -W \"", option->name);
            print_choices(to, option->value);
            fputs("\" -- \"$word\"); return ;;\n", to);
        } else if (option->value && strcmp(option->value, "DIR") == 0) {
            fprintf(to, "    %s) mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return ;;\n",
                    option->name);
        } else if (option->value) {
            fprintf(to, "    %s) return ;;\n", option->name);
        }
    }
    fputs("    esac\n", to);
}

static void print_bash_options(FILE *to) {
    fputs("    case $command in\n", to);
    for (const sel_command *command = sel_commands; command->name; command++) {
        if (!command->takes) {
            continue;
        }
        fprintf(to, "    %s) options=\"", command->name);
        const char *between = "";
        for (const sel_option *option = sel_options; option->name; option++) {
            if (option->commands & command->takes) {
                fprintf(to, "%s%s", between, option->name);
                between = " ";
            }
        }
        fputs("\" ;;\n", to);
    }
    fputs("    esac\n", to);
}

/* The options whose value is the next word, as a pattern: "-o|--threads". */
static void print_valued(FILE *to) {
    const char *between = "";
    for (const sel_option *option = sel_options; option->name; option++) {
        if (option->value) {
            fprintf(to, "%s%s", between, option->name);
            between = "|";
        }
    }
}

/* Prints "NAME=" of each parameter of the scenario $2. The script runs in its sandbox. */
static const char parameters_function[] =
    "_selenite_parameters() {\n"
    "    \"$1\" check \"$2\" --help --script-limit 2 2>/dev/null |\n"
    "        sed -n 's/^  \\([A-Za-z_][A-Za-z0-9_]*\\) .*(default .*/\\1=/p'\n"
    "}\n";

static void print_bash(FILE *to, const char *const *names) {
    fprintf(to,
            "# Completion of selenite for bash, printed by `selenite help --completion bash`.\n%s\n"
            "_selenite() {\n"
            "    local word=$2 previous=$3 command=${COMP_WORDS[1]} options='' file='' i\n"
            "    COMPREPLY=()\n"
            "    if ((COMP_CWORD == 1)); then\n"
            "        mapfile -t COMPREPLY < <(compgen -W \"",
            parameters_function);
    print_command_names(to);
    fputs("--version --help\" -- \"$word\")\n        return\n    fi\n", to);
    print_bash_values(to);
    print_bash_options(to);
    fputs("    for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n        ",
          to);
    print_valued(to);
    fputs(") ((i++)) ;;\n"
          "        -?*) ;;\n"
          "        *) file=${file:-${COMP_WORDS[i]}} ;;\n"
          "        esac\n"
          "    done\n"
          "    case $command:$word in\n"
          "    *:-*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
          "    help:*)\n"
          "        if [ \"$previous\" = --completion ]; then\n"
          "            mapfile -t COMPREPLY < <(compgen -W \"bash zsh\" -- \"$word\")\n"
          "        elif ((COMP_CWORD == 2)); then\n"
          "            mapfile -t COMPREPLY < <(compgen -W \"",
          to);
    print_help_names(to, names);
    fputs("\" -- \"$word\")\n"
          "        fi ;;\n"
          "    run:* | check:*)\n"
          "        if [ -z \"$file\" ]; then\n"
          "            compopt -o filenames 2>/dev/null\n"
          "            mapfile -t COMPREPLY < <(compgen -f -X '!*.lua' -- \"$word\"; compgen -d -- "
          "\"$word\")\n"
          "        elif [ \"$previous\" != = ] && [ \"$word\" != = ]; then\n"
          "            compopt -o nospace 2>/dev/null\n"
          "            mapfile -t COMPREPLY < <(compgen -W \"$(_selenite_parameters \"$1\" "
          "\"$file\")\" -- \"$word\")\n"
          "        fi ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _selenite selenite\n",
          to);
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
    if (is_choice(option)) {
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

static void print_zsh(FILE *to, const char *const *names) {
    fprintf(to,
            "#compdef selenite\n"
            "# Completion of selenite for zsh, printed by `selenite help --completion zsh`.\n%s\n"
            "_selenite_assignments() {\n"
            "    local -a assignments\n"
            "    local file=${words[2]}\n"
            "    local i\n"
            "    for ((i = 2; i < CURRENT; i++)); do\n"
            "        case ${words[i]} in\n        ",
            parameters_function);
    print_valued(to);
    fputs(") ((i++)) ;;\n"
          "        -?*) ;;\n"
          "        *) file=${words[i]}; break ;;\n"
          "        esac\n"
          "    done\n"
          "    assignments=(${(f)\"$(_selenite_parameters \"$_selenite_program\" \"$file\")\"})\n"
          "    compadd -S '' -a assignments\n"
          "}\n\n"
          "_selenite() {\n"
          "    local _selenite_program=${~words[1]}\n"
          "    local -a commands=(\n",
          to);
    for (const sel_command *command = sel_commands; command->name; command++) {
        fprintf(to, "        '%s:", command->name);
        print_zsh_text(to, command->doc);
        fputs("'\n", to);
    }
    fputs("        '--version:the version' '--help:usage'\n"
          "    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case ${words[1]} in\n",
          to);
    for (const sel_command *command = sel_commands; command->name; command++) {
        print_zsh_command(to, command, names);
    }
    fputs("    esac\n"
          "}\n\n"
          "if [ \"$funcstack[1]\" = _selenite ]; then _selenite \"$@\"; else compdef _selenite "
          "selenite; fi\n",
          to);
}

sel_status sel_completion(FILE *to, const char *shell, const char *const *names, sel_error *error) {
    if (strcmp(shell, "bash") == 0) {
        print_bash(to, names);
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh(to, names);
    } else {
        return sel_fail(error, SEL_BAD_USAGE, "--completion must be bash or zsh, got '%s'", shell);
    }
    return SEL_OK;
}
