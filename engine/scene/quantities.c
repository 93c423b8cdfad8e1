/* quantities.c -- visits the quantities in the tables of a simulation. */
#include "engine/scene/simulation.h"
#include "engine/scene/solver.h"

typedef struct walk {
    const char *const *except;
    sel_quantity_visit *visit;
    void *to;
    bool ended;
} walk;

static void walk_table(walk *w, const sel_table *table, const void *data, sel_where where);

static void walk_variant(walk *w, const sel_variant *variant) {
    if (variant->table) {
        walk_table(w, variant->table, variant->data, variant->where);
    }
}

static void walk_quantity(walk *w, const sel_quantity *quantity, const sel_table *table,
                          const char *field, sel_where where) {
    const sel_function *function =
        sel_quantity_functions(quantity) ? sel_quantity_function(quantity, 0) : NULL;
    const sel_visited found = {quantity, table, field, function ? function->where : where};
    w->ended = w->ended || (sel_quantity_given(quantity) && !w->visit(w->to, &found));
}

static void walk_member(walk *w, const sel_table *table, const sel_table_field *field,
                        const void *at, sel_where where) {
    const sel_list *list = at;
    const sel_named_quantities *quantities = at;
    const sel_named_variants *variants = at;
    switch (field->kind) {
    case SEL_KIND_QUANTITY:
    case SEL_KIND_VECTOR:
        walk_quantity(w, at, table, field->name, where);
        break;
    case SEL_KIND_NAMED_QUANTITIES:
        for (int k = 0; k < quantities->n; k++) {
            walk_quantity(w, &quantities->v[k].value, table, field->name, where);
        }
        break;
    case SEL_KIND_TABLE:
        walk_table(w, field->table, at, where);
        break;
    case SEL_KIND_VARIANT:
        walk_variant(w, at);
        break;
    case SEL_KIND_NAMED_VARIANTS:
        for (int k = 0; k < variants->n; k++) {
            walk_variant(w, &variants->v[k].value);
        }
        break;
    case SEL_KIND_VARIANTS:
        for (int k = 0; k < list->n; k++) {
            walk_variant(w, (const sel_variant *)list->v + k);
        }
        break;
    case SEL_KIND_LIST:
        for (int k = 0; k < list->n; k++) {
            const char *entry = (const char *)list->v + (size_t)k * field->table->size;
            walk_table(w, field->table, entry, where);
        }
        break;
    default:
        break;
    }
}

/* A solver made from C may have no table. */
static void walk_table(walk *w, const sel_table *table, const void *data, sel_where where) {
    for (int k = 0; table && k < table->count && !w->ended; k++) {
        const sel_table_field *field = &table->fields[k];
        if (sel_name_index(w->except, field->name) < 0) {
            walk_member(w, table, field, (const char *)data + field->offset, where);
        }
    }
}

void sel_visit_quantities(const sel_simulation *simulation, const char *const *except,
                          sel_quantity_visit *visit, void *to) {
    static const char *const none[] = {NULL};
    walk w = {.except = except ? except : none, .visit = visit, .to = to};
    walk_table(&w, simulation->solver->table, simulation->params, simulation->params->at);
}
