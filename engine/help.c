/* help.c -- `selenite help` and the reference in docs/, both printed from the field lists. */
#include <stdbool.h>
#include <string.h>
#include "engine/schema.h"

enum { MAX_TABLES = 128, MAX_TOPICS = 16 };

/* What a script calls that is no table of fields. */
typedef struct topic {
    const char *name, *usage, *doc;
} topic;

static const topic topics[] = {
    {"shape.face", "shape.face \"x-\"",
     "The sites of one face of the domain: \"x-\", \"x+\", \"y-\", \"y+\", \"z-\" or \"z+\"."},
    {"shape.faces", "shape.faces", "The sites of all faces that are not periodic."},
    {"shape.rest", "shape.rest", "The face sites that nothing before painted."},
    {"sel.params",
     "sel.params { NAME = default, NAME = { default, \"help\", min = 0, max = 1 }, ... }",
     "What the command line may set with NAME=value; gives the values, read-only. A default is a "
     "number, a string or a boolean, and its type is the parameter's. Fields beside it: min and "
     "max (of a number), choices (a list of the only values), integer = true (whole numbers "
     "only), file = true (the path of a file: the default is relative to the script, one from "
     "the command line to the working directory)."},
    {"sel.load", "sel.load(\"other.lua\", { NAME = value, ... })",
     "The table of another scenario, or the list of them, to be changed and returned; the path is "
     "relative to the script, the values are for its sel.params."},
    {"sel.paint", "sel.paint { base, { shape, value }, ... }",
     "A quantity painted in order, the last one wins; base and values are quantities."},
    {"sel.noise", "sel.noise(seed, x, y, z)",
     "Smooth noise in [-1, 1] with features of the size 1, the same in every run and on every "
     "machine; y and z are 0 when not given."},
    {"sel.step", "sel.step(x)", "0 where x is below 0, else 1: for numbers, and inside functions."},
    {NULL, NULL, NULL},
};
_Static_assert(sizeof topics / sizeof *topics <= MAX_TOPICS, "there is room for their names");

static void print_table(FILE *to, const sel_table *table) {
    fprintf(to, "%s\n  %s\n\n", table->name, table->doc);
    for (int i = 0; i < table->count; i++) {
        const sel_field *field = &table->fields[i];
        char kind[512], preset[128];
        sel_kind_text(field, kind, sizeof kind);
        sel_preset_text(field, preset, sizeof preset);
        fprintf(to, "  %-12s %s%s%s%s\n               %s\n", field->name, kind,
                field->flags & SEL_POSITIONAL ? "; may stand without its name" : "",
                *preset ? "; " : "", preset, field->doc);
    }
}

static void print_index(FILE *to, const sel_table *const tables[], int count) {
    fputs("Tables of a scenario; `selenite help NAME` lists the fields of one:\n\n", to);
    for (int i = 0; i < count; i++) {
        fprintf(to, "  %-16s %s\n", tables[i]->name, tables[i]->doc);
    }
    fputs("\nWhat a script calls without a table of fields:\n\n", to);
    for (const topic *t = topics; t->name; t++) {
        fprintf(to, "  %-16s %s\n", t->name, t->doc);
    }
}

/* "stop", "wall" and "law.wall" are names of what is called so. */
static bool is_called(const char *full, const char *name) {
    const char *dot = strrchr(full, '.');
    return strcmp(full, name) == 0 || (dot && strcmp(dot + 1, name) == 0);
}

static bool print_topics(FILE *to, const char *name, const char **names, int *count) {
    bool found = false;
    for (const topic *t = topics; t->name; t++) {
        if (is_called(t->name, name)) {
            fprintf(to, "%s\n  %s\n  %s\n", t->name, t->usage, t->doc);
            found = true;
        }
        names[(*count)++] = t->name;
    }
    return found;
}

sel_status sel_help(FILE *to, const char *name, sel_error *error) {
    const sel_table *tables[MAX_TABLES];
    const char *names[MAX_TABLES + MAX_TOPICS + 1] = {NULL};
    int count = sel_all_tables(tables, MAX_TABLES), named = 0;
    if (!name) {
        print_index(to, tables, count);
        return SEL_OK;
    }
    bool found = print_topics(to, name, names, &named);
    for (int i = 0; i < count; i++) {
        if (is_called(tables[i]->name, name)) {
            fputs(found ? "\n" : "", to);
            print_table(to, tables[i]);
            found = true;
        }
        names[named++] = tables[i]->name;
    }
    char suggestion[SEL_SUGGESTION_ROOM];
    return found ? SEL_OK
                 : sel_fail(error, SEL_BAD_USAGE, "no table '%s'%s (`selenite help` lists them)",
                            name, sel_suggestion(name, names, suggestion));
}

/* Text of a cell of a Markdown table: | would end it. */
static void print_cell(FILE *to, const char *text) {
    for (; *text; text++) {
        fputs(*text == '|' ? "\\|" : (char[2]){*text, '\0'}, to);
    }
}

static void print_markdown_table(FILE *to, const sel_table *table) {
    fprintf(to, "\n## %s\n\n%s\n", table->name, table->doc);
    if (table->count) {
        fputs("\n| field | what it takes | meaning |\n|---|---|---|\n", to);
    }
    for (int i = 0; i < table->count; i++) {
        const sel_field *field = &table->fields[i];
        char kind[512], preset[128];
        sel_kind_text(field, kind, sizeof kind);
        sel_preset_text(field, preset, sizeof preset);
        fprintf(to, "| `%s` | ", field->name);
        print_cell(to, kind);
        fprintf(to, "%s%s%s | ",
                field->flags & SEL_POSITIONAL ? "; may stand without its name" : "",
                *preset ? "; " : "", preset);
        print_cell(to, field->doc);
        fputs(" |\n", to);
    }
}

void sel_reference_markdown(FILE *to) {
    const sel_table *tables[MAX_TABLES];
    int count = sel_all_tables(tables, MAX_TABLES);
    fputs(
        "# Reference\n\nEvery table that a scenario can write, with all of its fields, and at the "
        "end what a script calls without\none. Printed by `make annotations` from the field "
        "lists of the source. docs/guide.md explains them.\n",
        to);
    for (int i = 0; i < count; i++) {
        print_markdown_table(to, tables[i]);
    }
    for (const topic *t = topics; t->name; t++) {
        fprintf(to, "\n## %s\n\n    %s\n\n%s\n", t->name, t->usage, t->doc);
    }
}
