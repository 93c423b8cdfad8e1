/* fill_named.c -- fill maps NAME = value, in the order of the script's text, and lists of
 * functions.
 */
#include <stddef.h>
#include <string.h>
#include "lua/script/state.h"

/* The layout of a map's entries: structs that begin with the name. */
typedef struct map {
    sel_kind entry;      /* the kind of the value */
    const char *what;    /* the value in messages */
    size_t size;         /* bytes per entry */
    size_t value, where; /* offsets; `where` 0: there is no such member */
} map;

static map map_of(sel_kind kind) {
    switch ((int)kind) {
    case SEL_KIND_NUMBERS:
        return (map){SEL_KIND_NUMBER, "number", sizeof(sel_named_number),
                     offsetof(sel_named_number, value), 0};
    case SEL_KIND_NAMED_CHOICES:
        return (map){SEL_KIND_CHOICE, "string", sizeof(sel_named_choice),
                     offsetof(sel_named_choice, choice), offsetof(sel_named_choice, where)};
    case SEL_KIND_NAMED_QUANTITIES:
        return (map){SEL_KIND_QUANTITY, "quantity", sizeof(sel_named_quantity),
                     offsetof(sel_named_quantity, value), offsetof(sel_named_quantity, where)};
    case SEL_KIND_NAMED_RULES:
        return (map){SEL_KIND_RULE, "function", sizeof(sel_named_rule),
                     offsetof(sel_named_rule, source), 0};
    default:
        return (map){SEL_KIND_VARIANT, "law", sizeof(sel_named_variant),
                     offsetof(sel_named_variant, value), 0};
    }
}

/* Whether the value is a table; notes keys that are no names. */
static bool has_names_only(sel_filler *f, const sel_slot *slot, int index, const char *what) {
    lua_State *L = f->L;
    char found[80];
    if (!lua_istable(L, index) || lua_rawlen(L, index) > 0) {
        sel_fill_wrong(f, slot, index, "must be a table of NAME = %s%s", what,
                       lua_istable(L, index) ? ", without positions" : "");
        return false;
    }
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        if (!sel_script_key(L, -2))
            sel_fill_mistake(f, sel_span_where(slot->span),
                             "%s: %s must be a table of NAME = %s, but has the key %s", slot->label,
                             slot->field->name, what, sel_script_value_text(L, -2, found));
    return true;
}

static void fill_check_name(sel_filler *f, const sel_slot *item, const char *name) {
    const bool control = item->field->kind == SEL_KIND_NUMBER;
    if (control && strlen(name) == 1 && strchr("xyzt", *name))
        sel_fill_wrong(f, item, lua_gettop(f->L), "has the name of a coordinate");
    if (!sel_is_plain(name))
        sel_fill_wrong(f, item, lua_gettop(f->L), "has a name with control characters");
}

/* Whether the simulation declares the field `name` as a vector. */
static bool is_vector(const sel_filler *f, const char *name) {
    for (int i = 0; f->types && i < f->types->n; i++)
        if (strcmp(f->types->v[i].name, name) == 0)
            return strcmp(f->type_names[f->types->v[i].choice], "vector") == 0;
    return false;
}

/* The kind of the value at the top: a vector if it is declared so, or a list. */
static sel_kind fill_kind_of(const sel_filler *f, sel_kind kind, const char *name) {
    const bool list = lua_istable(f->L, -1) && !sel_fill_is_data(f->L, -1);
    const bool vector = kind == SEL_KIND_QUANTITY && (list || is_vector(f, name));
    return vector ? SEL_KIND_VECTOR : kind;
}

void sel_fill_map(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const map m = map_of(slot->field->kind);
    int count;
    if (!has_names_only(f, slot, index, m.what))
        return;
    sel_named_span *names = sel_script_names_in_order(f->L, index, slot->span, &count);
    char *entry = sel_fill_alloc(f, (size_t)count * m.size);
    *(int *)member = count; /* all maps are { int n; ... *v; } */
    memcpy((char *)member + offsetof(sel_numbers, v), &entry, sizeof entry);
    for (int i = 0; i < count; i++, entry += m.size) {
        sel_table_field field = *slot->field;
        const sel_slot item = {&field, slot->label, names[i].span, false, 0};
        *(const char **)(void *)entry = names[i].name;
        sel_script_field(f->L, index, names[i].name);
        field.kind = fill_kind_of(f, m.entry, names[i].name);
        field.name = sel_fill_print(f, "%s.%s", slot->field->name, names[i].name);
        if (m.where)
            *(sel_where *)(void *)(entry + m.where) = sel_span_where(item.span);
        sel_fill_value(f, &item, lua_gettop(f->L), entry + m.value);
        fill_check_name(f, &item, names[i].name);
        lua_pop(f->L, 1);
    }
    if (slot->field->kind == SEL_KIND_NAMED_CHOICES) {
        f->types = member;
        f->type_names = slot->field->choices;
    }
}

void sel_fill_rules(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_named_rules *to = member;
    sel_table_field field = *slot->field;
    const sel_slot rule = {&field, slot->label, slot->span, slot->positional, 0};
    const bool single = lua_isfunction(f->L, index);
    const int n = single ? 1 : sel_fill_list_length(f, slot, index);
    if (n < 0)
        return;
    field.kind = SEL_KIND_RULE;
    to->n = n;
    to->v = sel_fill_alloc(f, (size_t)n * sizeof *to->v);
    if (single)
        sel_fill_value(f, &rule, index, &to->v->source);
    else
        sel_fill_items(f, &rule, index, 1, n, sel_fill_value, &to->v->source, sizeof *to->v);
}

void sel_fill_variants(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_named_variants *to = member;
    to->where = sel_span_where(slot->span);
    if (!sel_script_mark(f->L, index)) {
        sel_fill_map(f, slot, index, member);
        return;
    }
    to->n = 1;
    to->v = sel_fill_alloc(f, sizeof *to->v);
    sel_fill_variant(f, slot, index, &to->v->value);
}
