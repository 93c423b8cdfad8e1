/* schema_print.c -- prints the values of a filled table, for comparison. */
#include "engine/values/schema.h"

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

static void print_member(const sel_table_field *field, const void *at, FILE *to) {
    switch (field->kind) {
    case SEL_KIND_BOOL:
        fprintf(to, " %d", *(const bool *)at);
        break;
    case SEL_KIND_INT:
        fprintf(to, " %lld", (long long)*(const int64_t *)at);
        break;
    case SEL_KIND_NUMBER:
        print_numbers(at, 1, to);
        break;
    case SEL_KIND_STRING:
        fprintf(to, " %s", *(const char *const *)at ? *(const char *const *)at : "");
        break;
    case SEL_KIND_CHOICE:
        fprintf(to, " %d", *(const int *)at);
        break;
    case SEL_KIND_FLAGS:
        fprintf(to, " %u", *(const unsigned *)at);
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
        print_member(&table->fields[k], (const char *)data + table->fields[k].offset, to);
    }
    fputs(" }\n", to);
}
