/* usage.c -- usage, the help of a command or an option, and the man page. */
#include <string.h>
#include "engine/arguments.h"

enum { WIDTH = 96, NAME_WIDTH = 24, ALL = SEL_RUN | SEL_CHECK | SEL_VALIDATE | SEL_BENCH };

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
        bool some = takers && option->commands != ALL;
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
    print_options(to, ALL, true);
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
