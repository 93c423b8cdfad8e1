/* help.c -- `selenite help` and the reference in docs/, both printed from the field lists. */
#include <string.h>
#include "engine/schema.h"

enum { MAX_TABLES = 128 };

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
}

sel_status sel_help(FILE *to, const char *name, sel_error *error) {
    const sel_table *tables[MAX_TABLES];
    const char *names[MAX_TABLES + 1] = {NULL};
    int count = sel_all_tables(tables, MAX_TABLES);
    if (!name) {
        print_index(to, tables, count);
        return SEL_OK;
    }
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(tables[i]->name, '.');
        if (strcmp(tables[i]->name, name) == 0 || (dot && strcmp(dot + 1, name) == 0)) {
            print_table(to, tables[i]);
            return SEL_OK;
        }
        names[i] = tables[i]->name;
    }
    char suggestion[SEL_SUGGESTION_ROOM];
    return sel_fail(error, SEL_BAD_USAGE, "no table '%s'%s (`selenite help` lists them)", name,
                    sel_suggestion(name, names, suggestion));
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
        "# Reference\n\nEvery table that a scenario can write, with all of its fields. Printed by "
        "`make annotations` from the\nfield lists of the source. docs/guide.md explains them.\n",
        to);
    for (int i = 0; i < count; i++) {
        print_markdown_table(to, tables[i]);
    }
}
