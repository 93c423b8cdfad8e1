/* help.c -- texts generated from the tables of commands, options and fields: usage, `selenite
 * help`, docs/reference.md, the man page, and shell completion.
 */
#include <ctype.h>
#include <string.h>
#include "completion_bash.h"
#include "completion_zsh.h"
#include "man_page.h"
#include "engine/app/arguments.h"

enum { MAX_NAMES = 512 };

/* ---- commands and options ---- */

enum { WIDTH = 96, NAME_WIDTH = 24 };

static const struct {
    const char *status, *meaning;
} exit_statuses[] = {
    {"0", "done"},
    {"1", "the scenario is wrong"},
    {"2", "bad usage, or a directory that holds a run already"},
    {"3", "the run diverged"},
    {"4", "a file could not be read or written"},
    {"5", "not enough memory, or no such device"},
    {"130", "interrupted; the last state is written"},
    {NULL, NULL},
};

/* Prints `text`, wrapped at blanks to lines of at most WIDTH characters, and a newline. The first
 * line begins after `column` characters already printed; further lines are indented by `indent`. */
static void print_wrapped(FILE *to, const char *text, int column, int indent) {
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

/* Prints "  --threads N             "; returns the number of characters. */
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
        bool some = takers && option->commands != SEL_ANY_COMMAND;
        snprintf(text, sizeof text, "%s%s%s",
                 some ? sel_command_names(option->commands, ", ", names) : "", some ? ": " : "",
                 option->doc);
        print_wrapped(to, text, print_name(to, option), NAME_WIDTH + 2);
    }
}

void sel_usage(FILE *to) {
    fputs("Selenite simulates what a Lua script describes, and writes files for ParaView.\n\n", to);
    for (const sel_command *command = sel_commands; command->name; command++) {
        char line[128];
        snprintf(line, sizeof line, "%s %s", command->name, command->words);
        fprintf(to, "  selenite %-39s %s\n", line, command->doc);
    }
    fputs("  selenite --version\n\nOptions, and the commands that take them:\n", to);
    print_options(to, SEL_ANY_COMMAND, true);
    fputs("\nExit status:\n", to);
    for (int i = 0; exit_statuses[i].status; i++) {
        fprintf(to, "  %3s  %s\n", exit_statuses[i].status, exit_statuses[i].meaning);
    }
    fputs("\nTo begin: selenite check FILE, then selenite run FILE. What a FILE may hold: selenite "
          "help lbm\n(flow), aqua (runoff), heat, poisson (potentials) or rule (your own).\n",
          to);
}

static void help_print_command(FILE *to, const sel_command *command) {
    fprintf(to, "selenite %s%s%s\n  ", command->name, *command->words ? " " : "", command->words);
    print_wrapped(to, command->more, 2, 2);
    if (command->takes) {
        fputs("\nOptions:\n", to);
        print_options(to, command->takes, false);
    }
}

bool sel_usage_of(FILE *to, const char *name) {
    for (const sel_command *command = sel_commands; command->name; command++) {
        if (strcmp(name, command->name) == 0) {
            help_print_command(to, command);
            return true;
        }
    }
    const sel_option *option = sel_option_find(name);
    if (option) {
        char names[64];
        print_wrapped(to, option->doc, print_name(to, option), NAME_WIDTH + 2);
        fprintf(to, "%*sAn option of %s.\n", NAME_WIDTH + 2, "",
                sel_command_names(option->commands, ", ", names));
    }
    return option != NULL;
}

/* ---- tables of fields ---- */

/* Functions that scripts call without a table of fields. */
#define CALL(called, how, text) \
    { .name = called, .usage = how, .doc = text }
static const sel_table calls[] = {
    CALL("shape.face", "shape.face \"x-\"",
         "The boundary faces on one side of the domain: \"x-\", \"x+\", \"y-\", \"y+\", "
         "\"z-\" or \"z+\"."),
    CALL("shape.faces", "shape.faces", "All boundary faces, except on periodic sides."),
    CALL("shape.rest", "shape.rest", "The boundary faces that no earlier region has painted."),
    CALL("sel.params",
         "sel.params { NAME = default, NAME = { default, \"help\", min = 0, max = 1 }, ... }",
         "Declares what the command line may set with NAME=value, and returns the "
         "values, read-only. A default is a number, a string or a boolean and sets the "
         "parameter's type. It may also have: min and max (of a number), choices (a "
         "list of the only values), integer = true (whole numbers only), file = true "
         "(the path of a file: the default is relative to the script, one from the "
         "command line to the working directory)."),
    CALL(
        "sel.load", "sel.load(\"other.lua\", { NAME = value, ... })",
        "Reads another scenario and returns its table, or the list of them, for this one to change "
        "and return. The path is relative to the script; the values set its sel.params."),
    CALL("sel.paint", "sel.paint { base, { shape, value }, ... }",
         "A quantity: the value of the last shape that holds the place, and outside of all shapes "
         "the base. Base and values are quantities."),
    CALL("sel.random", "sel.random(k)",
         "Uniform in [0, 1), 32 bits (in single precision the first 24 significant ones): depends "
         "on "
         "the seed, the cell, the step and the whole number k only; in rules and in initial of "
         "sel.rule, where the step is -1."),
    CALL("sel.noise", "sel.noise(seed, x, y, z)",
         "Smooth noise in [-1, 1] that varies over a distance of about 1, the same in every run "
         "and on every machine; y and z are 0 when not given."),
    CALL("sel.step", "sel.step(x)",
         "0 where x is below 0, else 1; NaN stays NaN. For numbers, and inside functions."),
    CALL("sel.ramp", "sel.ramp(t, T)",
         "Rises smoothly from 0 at t = 0 to 1 at t = T, and stays there: s^2 (3 - 2 s), s = t/T; T "
         "is above 0; NaN stays NaN. For numbers, and inside functions."),
};

/* All tables of fields, then the calls. */
static sel_schema collect(void) {
    sel_schema all = sel_schema_collect();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        all.tables[all.table_count++] = &calls[i];
    }
    return all;
}

/* The solver that a table describes; NULL: none. */
static const sel_solver *help_solver_of(const sel_table *table) {
    const sel_solver *const *solver = sel_solvers;
    while (*solver && (*solver)->table != table) {
        solver++;
    }
    return *solver;
}

static const char *const rank_texts[] = {
    [SEL_VECTOR] = "vector",
    [SEL_SCALAR] = "number",
    [SEL_CURL] = "number in 2-D, vector in 3-D",
    [SEL_TENSOR] = "tensor xx yy xy, in 3-D xx yy zz xy yz xz",
};

/* Prints a line of a list: a name, and the first clause of `doc`. */
static void print_entry(FILE *to, const char *name, const char *doc) {
    char clause[256];
    size_t length = 0;
    while (doc[length] && doc[length] != ';' &&
           !(doc[length] == '.' && (doc[length + 1] == ' ' || !doc[length + 1]))) {
        length++;
    }
    snprintf(clause, sizeof clause, "%.*s", (int)length, doc);
    print_wrapped(to, clause, fprintf(to, "  %-16s ", name), 19);
}

static void print_result(FILE *to, const sel_field_info *field) {
    fprintf(to, "  %-12s %s; %s\n%15s", field->name, rank_texts[field->rank], field->unit, "");
    print_wrapped(to, field->doc, 15, 15);
}

static void print_results(FILE *to, const sel_solver *solver) {
    fprintf(to, "\nFields of the results of sel.%s, for outputs and hooks:\n\n", solver->name);
    for (int f = 0; f < solver->field_count; f++) {
        print_result(to, &solver->fields[f]);
    }
}

static void print_table(FILE *to, const sel_table *table) {
    fprintf(to, "%s\n  %s%s", table->name, table->usage ? table->usage : "",
            table->usage ? "\n  " : "");
    print_wrapped(to, table->doc, 2, 2);
    fputs(table->count ? "\n" : "", to);
    for (int i = 0; i < table->count; i++) {
        const sel_table_field *field = &table->fields[i];
        char holds[SEL_FIELD_ROOM];
        sel_field_text(field, holds);
        fprintf(to, "  %-12s %s\n%15s", field->name, holds, "");
        print_wrapped(to, field->doc, 15, 15);
    }
    if (help_solver_of(table)) {
        print_results(to, help_solver_of(table));
    }
}

static void print_fields_index(FILE *to) {
    fputs("\nFields of the results:\n\n", to);
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        int column = fprintf(to, "  sel.%-12s ", (*solver)->name);
        char text[1024] = "";
        for (int f = 0; f < (*solver)->field_count; f++) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", f ? " " : "",
                     (*solver)->fields[f].name);
        }
        print_wrapped(to, (*solver)->name_cells ? "those that the scenario names" : text, column,
                      19);
    }
}

static void print_index(FILE *to, const sel_schema *all) {
    fputs("Tables of a scenario; `selenite help NAME` lists the fields of one:\n\n", to);
    for (int i = 0; i < all->table_count; i++) {
        if (all->tables[i] == calls) {
            fputs("\nWhat a script calls without a table of fields:\n\n", to);
        }
        print_entry(to, all->tables[i]->name, all->tables[i]->doc);
    }
    print_fields_index(to);
}

/* Whether `name` is `full` or its last part: "law.wall" is called "law.wall" and "wall". */
static bool is_called(const char *full, const char *name) {
    const char *dot = strrchr(full, '.');
    return strcmp(full, name) == 0 || (dot && strcmp(dot + 1, name) == 0);
}

/* Whether the name `full` is in a group: "law.wall" is in "law". */
static bool is_in_group(const char *full, const char *name) {
    size_t length = strlen(name);
    return strncmp(full, name, length) == 0 && full[length] == '.';
}

/* Prints a blank line before every part of the help except the first. */
static void begin_part(FILE *to, bool *begun) {
    fputs(*begun ? "\n" : "", to);
    *begun = true;
}

static void print_tables(FILE *to, const sel_schema *all, const char *name, bool *begun) {
    for (int i = 0; i < all->table_count; i++) {
        if (is_called(all->tables[i]->name, name)) {
            begin_part(to, begun);
            print_table(to, all->tables[i]);
        }
    }
}

/* Prints the members of a family ("law", "out", "shape"), else of a group of names ("sel"). */
static void print_group(FILE *to, const sel_schema *all, const char *name, bool *begun) {
    bool families = false, tables = false;
    for (int i = 0; i < all->family_count; i++) {
        const sel_family *family = all->families[i];
        if (strcmp(family->name, name) != 0) {
            continue;
        }
        begin_part(to, begun);
        fprintf(to, "%s\n\n", family->doc);
        for (int k = 0; k < family->count; k++) {
            print_entry(to, family->tables[k]->name, family->tables[k]->doc);
        }
        families = true;
    }
    for (int i = 0; i < all->table_count; i++) {
        const sel_table *table = all->tables[i];
        if (is_in_group(table->name, name) && (table->usage || !families)) {
            if (!families && !tables) {
                begin_part(to, begun);
            }
            print_entry(to, table->name, table->doc);
            tables = true;
        }
    }
    if (families || tables) {
        fprintf(to, "\n`selenite help %s.NAME` says more of one.\n", name);
    }
}

/* Prints the fields of results called `name`, whole or as a component: "velocity", "velocity_x". */
static void print_field_named(FILE *to, const char *name, bool *begun) {
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        int component, field = sel_solver_field(*solver, 3, name, &component);
        if (field >= 0) {
            begin_part(to, begun);
            fprintf(to, "A field of the results of sel.%s:\n", (*solver)->name);
            print_result(to, &(*solver)->fields[field]);
        }
    }
}

/* Prints the fields of tables called `name`. */
static void print_table_fields(FILE *to, const sel_schema *all, const char *name, bool *begun) {
    for (int i = 0; i < all->table_count; i++) {
        for (int k = 0; k < all->tables[i]->count; k++) {
            const sel_table_field *field = &all->tables[i]->fields[k];
            char holds[SEL_FIELD_ROOM];
            if (strcmp(field->name, name) == 0) {
                begin_part(to, begun);
                sel_field_text(field, holds);
                fprintf(to, "A field of %s:\n  %-12s %s\n%15s", all->tables[i]->name, name, holds,
                        "");
                print_wrapped(to, field->doc, 15, 15);
            }
        }
    }
}

/* Prints the topics of a technical term; case does not matter. */
static void print_topics(FILE *to, const char *name, bool *begun) {
    char small[64];
    size_t length = 0;
    for (; name[length] && length + 1 < sizeof small; length++) {
        small[length] = (char)tolower((unsigned char)name[length]);
    }
    small[length] = '\0';
    for (const sel_topic *topic = sel_topics; topic->words; topic++) {
        if (sel_topic_has(topic, small)) {
            begin_part(to, begun);
            print_wrapped(to, topic->answer, 0, 0);
        }
    }
}

typedef struct name_list {
    int count;
    const char *v[MAX_NAMES + 1]; /* NULL at the end */
} name_list;

static void add_name(name_list *names, const char *name) {
    if (names->count < MAX_NAMES) {
        names->v[names->count++] = name;
    }
}

/* All names that help knows, except commands and options. */
static name_list list_names(const sel_schema *all) {
    name_list names = {.count = 0};
    for (int i = 0; i < all->table_count; i++) {
        add_name(&names, all->tables[i]->name);
    }
    for (int i = 0; i < all->family_count; i++) {
        add_name(&names, all->families[i]->name);
    }
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        add_name(&names, (*solver)->name);
        for (int f = 0; f < (*solver)->field_count; f++) {
            add_name(&names, (*solver)->fields[f].name);
        }
    }
    return names;
}

sel_status sel_help(FILE *to, const char *name, sel_error *error) {
    const sel_schema all = collect();
    if (!name) {
        print_index(to, &all);
        return SEL_OK;
    }
    bool begun = sel_usage_of(to, name);
    print_tables(to, &all, name, &begun);
    print_group(to, &all, name, &begun);
    print_field_named(to, name, &begun);
    print_table_fields(to, &all, name, &begun);
    print_topics(to, name, &begun);
    if (begun) {
        return SEL_OK;
    }
    const name_list names = list_names(&all);
    char suggestion[SEL_SUGGESTION_ROOM];
    return sel_fail(
        error, SEL_BAD_USAGE,
        "help knows no '%s'%s (`selenite help` lists all names; docs/limits.md says what "
        "Selenite does not do)",
        name, sel_suggestion(name, names.v, suggestion));
}

/* Prints `text`; each character of `special` is replaced by its string in `by`. */
static void print_escaped(FILE *to, const char *text, const char *special, const char *const *by) {
    for (; *text; text++) {
        const char *found = strchr(special, *text);
        fputs(found ? by[found - special] : (char[2]){*text, '\0'}, to);
    }
}

/* Prints a row of a Markdown table; the first cell is a name in code. */
static void help_print_markdown_row(FILE *to, const char *name, int count,
                                    const char *const *cells) {
    fprintf(to, "| `%s` |", name);
    for (int k = 0; k < count; k++) {
        fputc(' ', to);
        print_escaped(to, cells[k], "|", (const char *[]){"\\|"});
        fputs(" |", to);
    }
    fputc('\n', to);
}

static void print_markdown_results(FILE *to, const sel_solver *solver) {
    fprintf(to,
            "\n### Fields of the results of sel.%s\n\nOutputs and hooks take these names; of "
            "vectors and tensors also a component, as in `velocity_x`.\n\n"
            "| field | what it is | unit | meaning |\n|---|---|---|---|\n",
            solver->name);
    for (int f = 0; f < solver->field_count; f++) {
        const sel_field_info *field = &solver->fields[f];
        help_print_markdown_row(to, field->name, 3,
                                (const char *[]){rank_texts[field->rank], field->unit, field->doc});
    }
}

static void print_markdown_table(FILE *to, const sel_table *table) {
    fprintf(to, "\n## %s\n\n%s%s%s%s\n", table->name, table->usage ? "    " : "",
            table->usage ? table->usage : "", table->usage ? "\n\n" : "", table->doc);
    if (table->count) {
        fputs("\n| field | what it takes | meaning |\n|---|---|---|\n", to);
    }
    for (int i = 0; i < table->count; i++) {
        char holds[SEL_FIELD_ROOM];
        sel_field_text(&table->fields[i], holds);
        help_print_markdown_row(to, table->fields[i].name, 2,
                                (const char *[]){holds, table->fields[i].doc});
    }
    if (help_solver_of(table)) {
        print_markdown_results(to, help_solver_of(table));
    }
}

void sel_reference_markdown(FILE *to) {
    const sel_schema all = collect();
    fputs("# Reference\n\nEvery table of a scenario with all of its fields, and at the end the "
          "names of sel and shape that take\nother arguments. Printed by `make annotations` from "
          "the field lists of the source; docs/guide.md\nexplains them.\n",
          to);
    for (int i = 0; i < all.table_count; i++) {
        print_markdown_table(to, all.tables[i]);
    }
}

/* ---- completion by bash and zsh, and the man page ----
 *
 * The templates are tools/completion.bash, tools/completion.zsh and tools/selenite.man. In these
 * {{LIST TEXT}} is TEXT for each row of a list, with $1 ... $4 replaced by the row's columns:
 *
 *   commands   name, synopsis, phrase, sentences
 *   options    name, commands that take it, value or "", sentence
 *   statuses   exit status, meaning
 *   names      a name that help knows
 */

typedef struct template_row {
    const char *column[4];
    char commands[64]; /* room for a column */
} template_row;

/* Fills row `k` of the list that begins with the letter `list`; false: the list has no such row. */
static bool help_fill_row(template_row *row, char list, int k, const name_list *names, bool roff) {
    memset(row->column, 0, sizeof row->column);
    if (list == 'c') {
        const sel_command *of = &sel_commands[k];
        memcpy(row->column, (const char *[]){of->name, of->words, of->doc, of->more},
               sizeof row->column);
    } else if (list == 'o') {
        const sel_option *of = &sel_options[k];
        sel_command_names(of->commands, roff ? ", " : ",", row->commands);
        memcpy(row->column,
               (const char *[]){of->name, row->commands, of->value ? of->value : "", of->doc},
               sizeof row->column);
    } else if (list == 's') {
        row->column[0] = exit_statuses[k].status;
        row->column[1] = exit_statuses[k].meaning;
    } else {
        row->column[0] = names->v[k];
    }
    return row->column[0] != NULL;
}

/* Prints a template. `roff`: of the man page, where -, \ and ' of a column are escaped. */
static void print_template(FILE *to, const unsigned char *template, bool roff) {
    const sel_schema all = collect();
    const name_list names = list_names(&all);
    const char *text = (const char *)template;
    template_row row;
    for (const char *open; (open = strstr(text, "{{")); text = strstr(open, "}}") + 2) {
        fwrite(text, 1, (size_t)(open - text), to);
        for (int k = 0; help_fill_row(&row, open[2], k, &names, roff); k++) {
            for (const char *c = strchr(open, ' ') + 1; strncmp(c, "}}", 2) != 0; c++) {
                if (*c == '$') {
                    print_escaped(to, row.column[*++c - '1'], roff ? "-\\'" : "",
                                  (const char *[]){"\\-", "\\e", "\\(aq"});
                } else {
                    fputc(*c, to);
                }
            }
        }
    }
    fputs(text, to);
}

sel_status sel_help_completion(FILE *to, const char *shell, sel_error *error) {
    if (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0) {
        return sel_fail(error, SEL_BAD_USAGE, "--completion must be bash or zsh, got '%s'", shell);
    }
    print_template(to, *shell == 'b' ? completion_bash : completion_zsh, false);
    return SEL_OK;
}

void sel_man_page(FILE *to) {
    print_template(to, man_page, true);
}
