/* help.c -- `selenite help` and the reference in docs/, both printed from the field lists. */
#include <stdbool.h>
#include <string.h>
#include "engine/solver.h"
#include "engine/usage.h"

enum { MAX_TABLES = 128, MAX_FAMILIES = 16, MAX_NAMES = 512 };

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
     "Declares what the command line may set with NAME=value, and returns the values, read-only. A "
     "default is a number, a string or a boolean and sets the parameter's type. Fields beside it: "
     "min and "
     "max (of a number), choices (a list of the only values), integer = true (whole numbers "
     "only), file = true (the path of a file: the default is relative to the script, one from "
     "the command line to the working directory)."},
    {"sel.load", "sel.load(\"other.lua\", { NAME = value, ... })",
     "Reads another scenario and returns its table, or the list of them, for this one to change "
     "and "
     "return. The path is relative to the script; the values set its sel.params."},
    {"sel.paint", "sel.paint { base, { shape, value }, ... }",
     "A quantity that is the base, and the value where a shape is; of several shapes the last one "
     "holds. Base and values are quantities."},
    {"sel.noise", "sel.noise(seed, x, y, z)",
     "Smooth noise in [-1, 1] with features of the size 1, the same in every run and on every "
     "machine; y and z are 0 when not given."},
    {"sel.step", "sel.step(x)", "0 where x is below 0, else 1: for numbers, and inside functions."},
    {NULL, NULL, NULL},
};

/* Whose results a solver's table leads to; NULL: the table of no solver. */
static const sel_solver *solver_of(const sel_table *table) {
    const sel_solver *const *solver = sel_solvers;
    while (*solver && (*solver)->table != table) {
        solver++;
    }
    return *solver;
}

static const char *rank_text(sel_field_rank rank) {
    switch (rank) {
    case SEL_VECTOR:
        return "vector";
    case SEL_CURL:
        return "number in 2-D, vector in 3-D";
    case SEL_TENSOR:
        return "tensor xx yy xy, in 3-D xx yy zz xy yz xz";
    case SEL_SCALAR:
        break;
    }
    return "number";
}

/* A line of a list: the first clause of `doc`. */
static void print_entry(FILE *to, const char *name, const char *doc) {
    char clause[256];
    size_t length = 0;
    while (doc[length] && doc[length] != ';' &&
           !(doc[length] == '.' && (doc[length + 1] == ' ' || !doc[length + 1]))) {
        length++;
    }
    snprintf(clause, sizeof clause, "%.*s", (int)length, doc);
    sel_print_wrapped(to, clause, fprintf(to, "  %-16s ", name), 19);
}

static void print_result(FILE *to, const sel_field_info *field) {
    fprintf(to, "  %-12s %s; %s\n%15s", field->name, rank_text(field->rank), field->unit, "");
    sel_print_wrapped(to, field->doc, 15, 15);
}

static void print_results(FILE *to, const sel_solver *solver) {
    fprintf(to, "\nFields of the results of sel.%s, for outputs and hooks:\n\n", solver->name);
    for (int f = 0; f < solver->field_count; f++) {
        print_result(to, &solver->fields[f]);
    }
}

static void print_table(FILE *to, const sel_table *table) {
    fprintf(to, "%s\n  ", table->name);
    sel_print_wrapped(to, table->doc, 2, 2);
    fputs(table->count ? "\n" : "", to);
    for (int i = 0; i < table->count; i++) {
        const sel_field *field = &table->fields[i];
        char kind[512], preset[128];
        sel_kind_text(field, kind, sizeof kind);
        sel_preset_text(field, preset, sizeof preset);
        fprintf(to, "  %-12s %s%s%s%s\n%15s", field->name, kind,
                field->flags & SEL_POSITIONAL ? "; may stand without its name" : "",
                *preset ? "; " : "", preset, "");
        sel_print_wrapped(to, field->doc, 15, 15);
    }
    if (solver_of(table)) {
        print_results(to, solver_of(table));
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
        sel_print_wrapped(to, text, column, 19);
    }
}

static void print_index(FILE *to, const sel_table *const tables[], int count) {
    fputs("Tables of a scenario; `selenite help NAME` lists the fields of one:\n\n", to);
    for (int i = 0; i < count; i++) {
        print_entry(to, tables[i]->name, tables[i]->doc);
    }
    fputs("\nWhat a script calls without a table of fields:\n\n", to);
    for (const topic *t = topics; t->name; t++) {
        print_entry(to, t->name, t->doc);
    }
    print_fields_index(to);
}

/* "stop", "wall" and "law.wall" are names of what is called so. */
static bool is_called(const char *full, const char *name) {
    const char *dot = strrchr(full, '.');
    return strcmp(full, name) == 0 || (dot && strcmp(dot + 1, name) == 0);
}

/* "law.wall" belongs to the group "law". */
static bool is_in_group(const char *full, const char *name) {
    size_t length = strlen(name);
    return strncmp(full, name, length) == 0 && full[length] == '.';
}

/* What `selenite help NAME` looks through. */
typedef struct index_of_names {
    const sel_table *tables[MAX_TABLES];
    const sel_family *families[MAX_FAMILIES];
    int table_count, family_count;
} index_of_names;

static bool print_topics(FILE *to, const char *name) {
    bool found = false;
    for (const topic *t = topics; t->name; t++) {
        if (is_called(t->name, name)) {
            fprintf(to, "%s%s\n  %s\n  ", found ? "\n" : "", t->name, t->usage);
            sel_print_wrapped(to, t->doc, 2, 2);
            found = true;
        }
    }
    return found;
}

static bool print_tables(FILE *to, const index_of_names *all, const char *name, bool lead) {
    bool found = false;
    for (int i = 0; i < all->table_count; i++) {
        if (is_called(all->tables[i]->name, name)) {
            fputs(found || lead ? "\n" : "", to);
            print_table(to, all->tables[i]);
            found = true;
        }
    }
    return found;
}

/* The members of the families called so: law, out, shape. */
static bool print_families(FILE *to, const index_of_names *all, const char *name, bool lead) {
    bool found = false;
    for (int i = 0; i < all->family_count; i++) {
        const sel_family *family = all->families[i];
        if (strcmp(family->name, name) != 0) {
            continue;
        }
        fprintf(to, "%s%s\n\n", found || lead ? "\n" : "", family->doc);
        for (int k = 0; k < family->count; k++) {
            print_entry(to, family->tables[k]->name, family->tables[k]->doc);
        }
        found = true;
    }
    return found;
}

/* The members of a group of names: "law", "out", "shape", "sel". */
static bool print_group(FILE *to, const index_of_names *all, const char *name, bool lead) {
    bool families = print_families(to, all, name, lead), found = families;
    for (int i = 0; i < all->table_count && !families; i++) {
        if (is_in_group(all->tables[i]->name, name)) {
            fputs(!found && lead ? "\n" : "", to);
            print_entry(to, all->tables[i]->name, all->tables[i]->doc);
            found = true;
        }
    }
    for (const topic *t = topics; t->name; t++) {
        if (is_in_group(t->name, name)) {
            print_entry(to, t->name, t->doc);
        }
    }
    if (found) {
        fprintf(to, "\n`selenite help %s.NAME` says more of one.\n", name);
    }
    return found;
}

/* Fields of the results, whole or as a component: "velocity", "velocity_x". */
static bool print_field_named(FILE *to, const char *name, bool lead) {
    bool found = false;
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        int component, field = sel_solver_field(*solver, 3, name, &component);
        if (field >= 0) {
            fprintf(to, "%sA field of the results of sel.%s:\n", found || lead ? "\n" : "",
                    (*solver)->name);
            print_result(to, &(*solver)->fields[field]);
            found = true;
        }
    }
    return found;
}

/* All that help knows but commands and options, NULL at the end. */
static void list_names(const index_of_names *all, const char *names[MAX_NAMES]) {
    int count = 0;
    for (int i = 0; i < all->table_count && count < MAX_NAMES - 1; i++) {
        names[count++] = all->tables[i]->name;
    }
    for (const topic *t = topics; t->name && count < MAX_NAMES - 1; t++) {
        names[count++] = t->name;
    }
    for (int i = 0; i < all->family_count && count < MAX_NAMES - 1; i++) {
        names[count++] = all->families[i]->name;
    }
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++) {
        if (count < MAX_NAMES - 1) {
            names[count++] = (*solver)->name;
        }
        for (int f = 0; f < (*solver)->field_count && count < MAX_NAMES - 1; f++) {
            names[count++] = (*solver)->fields[f].name;
        }
    }
    names[count] = NULL;
}

static void index_create(index_of_names *all) {
    all->table_count = sel_all_tables(all->tables, MAX_TABLES);
    all->family_count = sel_all_families(all->families, MAX_FAMILIES);
}

sel_status sel_help(FILE *to, const char *name, sel_error *error) {
    index_of_names all;
    index_create(&all);
    if (!name) {
        print_index(to, all.tables, all.table_count);
        return SEL_OK;
    }
    bool found = sel_usage_of(to, name);
    found |= print_topics(to, name);
    found |= print_tables(to, &all, name, found);
    found |= print_group(to, &all, name, found);
    found |= print_field_named(to, name, found);
    if (found) {
        return SEL_OK;
    }
    const char *names[MAX_NAMES];
    char suggestion[SEL_SUGGESTION_ROOM];
    list_names(&all, names);
    return sel_fail(error, SEL_BAD_USAGE, "help knows no '%s'%s (`selenite help` lists all names)",
                    name, sel_suggestion(name, names, suggestion));
}

sel_status sel_help_completion(FILE *to, const char *shell, sel_error *error) {
    index_of_names all;
    const char *names[MAX_NAMES];
    index_create(&all);
    list_names(&all, names);
    return sel_completion(to, shell, names, error);
}

/* Text of a cell of a Markdown table: | would end it. */
static void print_cell(FILE *to, const char *text) {
    for (; *text; text++) {
        fputs(*text == '|' ? "\\|" : (char[2]){*text, '\0'}, to);
    }
}

static void print_markdown_results(FILE *to, const sel_solver *solver) {
    fprintf(to,
            "\n### Fields of the results of sel.%s\n\nOutputs and hooks take these names; of "
            "vectors and tensors also a component, as in `velocity_x`.\n\n"
            "| field | what it is | unit | meaning |\n|---|---|---|---|\n",
            solver->name);
    for (int f = 0; f < solver->field_count; f++) {
        const sel_field_info *field = &solver->fields[f];
        fprintf(to, "| `%s` | %s | %s | ", field->name, rank_text(field->rank), field->unit);
        print_cell(to, field->doc);
        fputs(" |\n", to);
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
    if (solver_of(table)) {
        print_markdown_results(to, solver_of(table));
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
