/* schema.c -- the schema of a scenario: defaults, names, kinds in words; printing filled tables. */
#include "engine/values/schema.h"

#include <math.h>
#include <string.h>

static void preset_field(const sel_table_field *field, char *data) {
    void *member = data + field->offset;
    switch (field->kind) {
    case SEL_KIND_BOOL:
        *(bool *)member = field->preset != 0;
        break;
    case SEL_KIND_INT:
        *(int64_t *)member = isnan(field->preset) ? SEL_INT_NOT_GIVEN : (int64_t)field->preset;
        break;
    case SEL_KIND_NUMBER:
        *(double *)member = field->preset;
        break;
    case SEL_KIND_SPACING:
        *(sel_point *)member = (sel_point){!isnan(field->preset), {field->preset}};
        break;
    case SEL_KIND_CHOICE:
        *(int *)member = (int)field->preset;
        break;
    case SEL_KIND_TABLE:
        sel_table_presets(field->table, member);
        break;
    default: /* zero means not given */
        break;
    }
}

void sel_table_presets(const sel_table *table, void *data) {
    for (int i = 0; i < table->count; i++) {
        preset_field(&table->fields[i], data);
    }
}

const sel_table *sel_family_find(const sel_family *family, const char *name) {
    for (int i = 0; i < family->count; i++) {
        const char *dot = strrchr(family->tables[i]->name, '.');
        if (dot && strcmp(dot + 1, name) == 0) {
            return family->tables[i];
        }
    }
    return NULL;
}

/* A kind in words, to be followed by its choices or the name of its table or family; and as a type
 * of the Lua language server. */
static const struct {
    const char *words, *annotation;
} kinds[] = {
    [SEL_KIND_BOOL] = {"true or false", "boolean"},
    [SEL_KIND_INT] = {"whole number", "integer"},
    [SEL_KIND_NUMBER] = {"number", "number"},
    [SEL_KIND_STRING] = {"string", "string"},
    [SEL_KIND_FILE] = {"path of a file", "string"},
    [SEL_KIND_KEY] = {"name, or number from 1", "string|integer"},
    [SEL_KIND_CHOICE] = {"one of ", NULL},
    [SEL_KIND_FLAGS] = {"list of ", NULL},
    [SEL_KIND_SIZE] = {"{ nx, ny } or { nx, ny, nz }", "integer[]"},
    [SEL_KIND_POINT] = {"point { x, y } or { x, y, z }", "number[]"},
    [SEL_KIND_POINTS] = {"point or list of points", "number[]|number[][]"},
    [SEL_KIND_NAMES] = {"name or list of names", "string|string[]"},
    [SEL_KIND_VALUES] = {"list of numbers", "number[]"},
    [SEL_KIND_NUMBERS] = {"{ NAME = number, ... }", "table<string, number>"},
    [SEL_KIND_SPACING] = {"number, or one per axis", "number|number[]"},
    [SEL_KIND_QUANTITY] = {"number, function, series, raster or paint", "selenite.quantity"},
    [SEL_KIND_VECTOR] = {"vector of numbers, functions or series, or one function",
                         "selenite.vector"},
    [SEL_KIND_PREDICATE] = {"function that returns true or false", "function"},
    [SEL_KIND_CALLBACK] = {"function(run)", "fun(run: selenite.run)"},
    [SEL_KIND_UNITS] = {"units, made by sel.units", "selenite.units"},
    [SEL_KIND_RASTER] = {"raster", "selenite.raster"},
    [SEL_KIND_SHAPE] = {"shape", "selenite.shape"},
    [SEL_KIND_TABLE] = {"table ", NULL},
    [SEL_KIND_LIST] = {"list of tables ", NULL},
    [SEL_KIND_VARIANT] = {"", NULL},
    [SEL_KIND_VARIANTS] = {"list of ", NULL},
    [SEL_KIND_NAMED_CHOICES] = {"{ NAME = word, ... }, words of ", NULL},
    [SEL_KIND_NAMED_QUANTITIES] = {"{ NAME = quantity or vector, ... }",
                                   "table<string, selenite.quantity|selenite.vector>"},
    [SEL_KIND_RULE] = {"function(c, ...)", "function"},
    [SEL_KIND_RULES] = {"function(c, ...) or list of functions", "function|function[]"},
    [SEL_KIND_NAMED_RULES] = {"{ NAME = function(c, ...), ... }", "table<string, function>"},
    [SEL_KIND_NAMED_VARIANTS] = {"a law, or { NAME = law, ... }: ", NULL},
};

const char *sel_kind_annotation(sel_kind kind) {
    return kinds[kind].annotation;
}

void sel_kind_text(const sel_table_field *field, char *text, size_t size) {
    const char *const *choice = field->choices;
    size_t used =
        (size_t)snprintf(text, size, "%s%s%s%s%s%s", field->flags & SEL_POSITIVE ? "positive " : "",
                         field->flags & SEL_BARE ? "number or " : "", kinds[field->kind].words,
                         field->table ? field->table->name : "",
                         field->family ? field->family->name : "", field->family ? ".*" : "");
    for (; choice && *choice && used < size; choice++) {
        used += (size_t)snprintf(text + used, size - used, "%s\"%s\"",
                                 choice == field->choices ? "" : ", ", *choice);
    }
}

/* "required", "default 1", or "". */
static void preset_text(const sel_table_field *field, char *text, size_t size) {
    text[0] = '\0';
    if (field->flags & SEL_REQUIRED) {
        snprintf(text, size, "required");
    } else if (field->kind == SEL_KIND_CHOICE && field->preset >= 0) {
        snprintf(text, size, "default \"%s\"", field->choices[(int)field->preset]);
    } else if (field->kind == SEL_KIND_BOOL) {
        snprintf(text, size, "default %s", field->preset != 0 ? "true" : "false");
    } else if ((field->kind == SEL_KIND_NUMBER || field->kind == SEL_KIND_SPACING) &&
               !isnan(field->preset)) {
        snprintf(text, size, "default %.6g", field->preset);
    } else if (field->kind == SEL_KIND_INT && !isnan(field->preset)) {
        snprintf(text, size, "default %.0f", field->preset);
    }
}

void sel_field_text(const sel_table_field *field, char text[SEL_FIELD_ROOM]) {
    char kind[512], preset[128];
    sel_kind_text(field, kind, sizeof kind);
    preset_text(field, preset, sizeof preset);
    snprintf(text, SEL_FIELD_ROOM, "%s%s%s%s", kind,
             field->flags & SEL_POSITIONAL ? "; may stand without its name" : "",
             *preset ? "; " : "", preset);
}

/* ---- printing the values of a filled table, for comparison ---- */

static void print_list(const sel_table_field *field, const sel_list *list, FILE *to);

static void print_numbers(const double *v, int64_t n, FILE *to) {
    for (int64_t k = 0; k < n; k++) {
        fprintf(to, " %.17g", v[k]);
    }
}

static void print_variant(const sel_variant *variant, FILE *to) {
    if (variant->table) {
        sel_table_print(variant->table, variant->data, to);
    }
}

/* Prints the constants of a quantity; the programs of functions are printed elsewhere. */
static void print_quantity(const sel_quantity *q, FILE *to) {
    for (int k = 0; k < q->components && !q->whole; k++) {
        print_numbers(&q->part[k].constant, !q->part[k].function, to);
    }
}

void sel_member_print(const sel_table_field *field, const void *at, FILE *to) {
    switch (field->kind) {
    case SEL_KIND_BOOL:
        fprintf(to, " %d", *(const bool *)at);
        break;
    case SEL_KIND_INT:
        if (*(const int64_t *)at != SEL_INT_NOT_GIVEN) {
            fprintf(to, " %lld", (long long)*(const int64_t *)at);
        }
        break;
    case SEL_KIND_NUMBER:
        print_numbers(at, !isnan(*(const double *)at), to);
        break;
    case SEL_KIND_STRING:
        fprintf(to, " %s", *(const char *const *)at ? *(const char *const *)at : "");
        break;
    case SEL_KIND_CHOICE:
        fprintf(to, " %s", *(const int *)at < 0 ? "" : field->choices[*(const int *)at]);
        break;
    case SEL_KIND_FLAGS:
        for (int k = 0; field->choices[k]; k++) {
            const bool has = *(const unsigned *)at >> k & 1u;
            fprintf(to, "%s%s", has ? " " : "", has ? field->choices[k] : "");
        }
        break;
    case SEL_KIND_SIZE:
        for (int k = 0; k < ((const sel_ints *)at)->n; k++) {
            fprintf(to, " %lld", (long long)((const sel_ints *)at)->v[k]);
        }
        break;
    case SEL_KIND_POINT:
    case SEL_KIND_SPACING:
        print_numbers(((const sel_point *)at)->v, ((const sel_point *)at)->n, to);
        break;
    case SEL_KIND_POINTS:
        for (int k = 0; k < ((const sel_points *)at)->n; k++) {
            print_numbers(((const sel_points *)at)->v[k].v, ((const sel_points *)at)->v[k].n, to);
        }
        break;
    case SEL_KIND_NAMES:
        for (int k = 0; k < ((const sel_names *)at)->n; k++) {
            fprintf(to, " %s", ((const sel_names *)at)->v[k]);
        }
        break;
    case SEL_KIND_VALUES:
        print_numbers(((const sel_values *)at)->v, ((const sel_values *)at)->n, to);
        break;
    case SEL_KIND_NUMBERS:
        for (int k = 0; k < ((const sel_numbers *)at)->n; k++) {
            const sel_named_number *number = &((const sel_numbers *)at)->v[k];
            fprintf(to, " %s %.17g", number->name, number->value);
        }
        break;
    case SEL_KIND_QUANTITY:
    case SEL_KIND_VECTOR:
        print_quantity(at, to);
        break;
    case SEL_KIND_NAMED_QUANTITIES:
        for (int k = 0; k < ((const sel_named_quantities *)at)->n; k++) {
            print_quantity(&((const sel_named_quantities *)at)->v[k].value, to);
        }
        break;
    case SEL_KIND_TABLE:
        sel_table_print(field->table, at, to);
        break;
    case SEL_KIND_VARIANT:
        print_variant(at, to);
        break;
    case SEL_KIND_LIST:
    case SEL_KIND_VARIANTS:
        print_list(field, at, to);
        break;
    default:
        break; /* no numbers, strings or choices */
    }
}

static void print_list(const sel_table_field *field, const sel_list *list, FILE *to) {
    for (int k = 0; k < list->n; k++) {
        if (field->kind == SEL_KIND_VARIANTS) {
            print_variant((const sel_variant *)list->v + k, to);
        } else {
            sel_table_print(field->table, (const char *)list->v + (size_t)k * field->table->size,
                            to);
        }
    }
}

void sel_table_print(const sel_table *table, const void *data, FILE *to) {
    fprintf(to, "%s {", table->name);
    for (int k = 0; k < table->count; k++) {
        fprintf(to, " %s:", table->fields[k].name);
        sel_member_print(&table->fields[k], (const char *)data + table->fields[k].offset, to);
    }
    fputs(" }\n", to);
}
