/* fill.c -- fill C structs from a script's tables, by the engine's lists of fields (sel_table).
 *
 * Tables are read raw: no metamethod, and so no code of the user, runs. A mistake is noted and
 * filling goes on, so that all mistakes are reported at once.
 *
 *      Lua table { nu = 0.1, regions = { ... } }
 *          --sel_table-->  struct { double nu; sel_list regions; }
 *
 * Here are tables, lists, families of tables and maps; fill_value.c, fill_shape.c and
 * fill_scenario.c have the rest.
 */
#include "lua/tables/tables.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MISTAKES = 1000, MAX_MESSAGE = 1024 };

void *sel_fill_alloc(sel_filler *f, size_t bytes) {
    return sel_script_alloc(f->script, "the scenario", bytes);
}

char *sel_fill_print(sel_filler *f, const char *format, ...) {
    char text[MAX_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return strcpy(sel_fill_alloc(f, strlen(text) + 1), text);
}

void sel_fill_mistake(sel_filler *f, sel_where where, const char *format, ...) {
    char text[MAX_MESSAGE];
    va_list args;
    if (f->mistake_count >= MAX_MISTAKES)
        return;
    if (!f->mistakes)
        f->mistakes = sel_fill_alloc(f, MAX_MISTAKES * sizeof *f->mistakes);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = sel_fill_print(f, "%s", text);
    f->mistakes[f->mistake_count] = (sel_mistake){where, f->mistake_count, kept, SEL_BAD_SCENARIO};
    f->mistake_count++;
}

void sel_fill_file_mistake(sel_filler *f, sel_where where, const char *what,
                           const sel_error *found) {
    if (found->status == SEL_NO_DEVICE) {
        sel_script_report_file(f->script, found, where, what);
        sel_limits_break(f->L);
    }
    const int before = f->mistake_count;
    sel_fill_mistake(f, where, "%s: %s", what, found->text);
    if (f->mistake_count > before)
        f->mistakes[before].status = found->status;
}

void sel_fill_wrong(sel_filler *f, const sel_slot *slot, int index, const char *format, ...) {
    char what[MAX_MESSAGE], found[80], position[16] = "";
    va_list args;
    if (f->mistake_count >= MAX_MISTAKES)
        return; /* the search for its line takes time in proportion to the table */
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const char *got = index ? sel_script_value_text(f->L, index, found) : "";
    sel_span span = slot->item ? sel_source_item(slot->span, slot->item) : slot->span;
    if (slot->item)
        snprintf(position, sizeof position, "[%d]", slot->item);
    sel_fill_mistake(f, sel_span_where(span), "%s: %s%s %s%s%s", slot->label, slot->field->name,
                     position, what, index ? ", got " : "", got);
}

const char *sel_table_short_name(const sel_table *table) {
    const char *dot = strrchr(table->name, '.');
    return dot ? dot + 1 : table->name;
}

const sel_table_field *sel_fill_field(const sel_table *table, const char *name) {
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->fields[i].name, name) == 0)
            return &table->fields[i];
    return NULL;
}

/* Whether the key at the top is a field of the table (NULL: no fields) or a position from 1 to n.
 */
static bool is_known_key(lua_State *L, const sel_table *table, lua_Integer n) {
    const char *name = sel_script_key(L, -1);
    if (name)
        return table && sel_fill_field(table, name);
    return lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 && lua_tointeger(L, -1) <= n;
}

/* Pushes the list of keys of the table at `index`, in order; an empty list if all are known. */
static void push_keys(lua_State *L, int index, const sel_table *table, lua_Integer n) {
    bool all_known = true;
    for (lua_pushnil(L); lua_next(L, index);) {
        lua_pop(L, 1);
        all_known = all_known && is_known_key(L, table, n);
    }
    if (all_known)
        lua_newtable(L);
    else
        sel_order_keys(L, index);
}

/* Whether the list at `index` has the keys 1 to n only; notes the others as mistakes. */
static bool has_positions_only(sel_filler *f, const sel_slot *slot, int index, lua_Integer n) {
    char found[80];
    const int before = f->mistake_count;
    push_keys(f->L, index, NULL, n);
    for (lua_Integer i = 1; lua_rawgeti(f->L, -1, i) != LUA_TNIL; i++, lua_pop(f->L, 1))
        if (!is_known_key(f->L, NULL, n))
            sel_fill_mistake(f, sel_span_where(slot->span),
                             "%s: %s must be a list, but has the key %s", slot->label,
                             slot->field->name, sel_script_value_text(f->L, -1, found));
    lua_pop(f->L, 2);
    return f->mistake_count == before;
}

int sel_fill_list_length(sel_filler *f, const sel_slot *slot, int index) {
    lua_State *L = f->L;
    if (!slot->positional && (!lua_istable(L, index) || sel_script_mark(L, index))) {
        char kind[256];
        sel_kind_text(slot->field, kind, sizeof kind);
        sel_fill_wrong(f, slot, index, "must be a %s", kind);
        return -1;
    }
    lua_Unsigned n = lua_rawlen(L, index);
    if (n > INT32_MAX || (!slot->positional && !has_positions_only(f, slot, index, (lua_Integer)n)))
        return -1;
    return (int)n;
}

/* The family's names in a list: "wall, velocity, pressure". */
static const char *family_names(sel_filler *f, const sel_family *family) {
    const char *list = "";
    for (int i = 0; i < family->count; i++) {
        const char *name = sel_table_short_name(family->tables[i]);
        list = sel_fill_print(f, "%s%s%s", list, i ? ", " : "", name);
    }
    return list;
}

void sel_fill_variant(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_variant *to = member;
    const sel_family *family = slot->field->family;
    sel_mark *mark = sel_script_mark(f->L, index);
    if (!mark || strcmp(mark->group, family->name) != 0) {
        sel_fill_wrong(f, slot, index, "must be made by %s.NAME { ... }", family->name);
        return;
    }
    const sel_table *table = sel_family_find(family, mark->name);
    if (!table) {
        sel_fill_mistake(f, mark->where, "%s has no %s '%s'; it has %s", f->solver->table->name,
                         family->name, mark->name, family_names(f, family));
        return;
    }
    sel_span span = sel_source_call(f->arena, mark->source, mark->where.line, mark->name);
    *to = (sel_variant){table, sel_fill_alloc(f, table->size), mark->where};
    sel_fill_table(f, index, table, table->name, to->data, span);
}

/* Fills a SEL_BARE table from a plain value: its first field. */
static void fill_bare(sel_filler *f, const sel_slot *slot, int index, char *data) {
    sel_table_field first = slot->field->table->fields[0];
    const sel_slot bare = {&first, slot->label, slot->span, false, 0};
    first.name = slot->field->name;
    sel_table_presets(slot->field->table, data);
    sel_fill_value(f, &bare, index, data + first.offset);
}

void sel_fill_nested(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const bool table = lua_istable(f->L, index) && !sel_script_mark(f->L, index);
    if (!table && slot->field->flags & SEL_BARE)
        fill_bare(f, slot, index, member);
    else if (!table)
        sel_fill_wrong(f, slot, index, "must be a table { ... }");
    else
        sel_fill_table(f, index, slot->field->table, slot->field->name, member, slot->span);
}

void sel_fill_items(sel_filler *f, const sel_slot *slot, int index, int first, int last,
                    sel_fill_kind *fill, void *to, size_t size) {
    sel_walk walk = sel_source_walk(slot->span);
    for (int i = 1; i <= last; i++) {
        char name[256];
        sel_table_field field = *slot->field;
        sel_slot item = {&field, slot->label, sel_source_next(&walk), false, 0};
        if (i < first)
            continue;
        snprintf(name, sizeof name, "%s[%d]", slot->field->name, i);
        field.name = name;
        lua_rawgeti(f->L, index, i);
        fill(f, &item, lua_gettop(f->L), (char *)to + (size_t)(i - first) * size);
        lua_pop(f->L, 1);
    }
}

void sel_fill_list(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_list *to = member;
    bool variants = slot->field->kind == SEL_KIND_VARIANTS;
    size_t size = variants ? sizeof(sel_variant) : slot->field->table->size;
    int n = sel_fill_list_length(f, slot, index);
    if (n < 0)
        return;
    to->n = n;
    to->v = sel_fill_alloc(f, (size_t)n * size);
    to->where = sel_fill_alloc(f, (size_t)n * sizeof *to->where);
    sel_walk walk = sel_source_walk(slot->span);
    for (int i = 0; i < n; i++)
        to->where[i] = sel_span_where(sel_source_next(&walk));
    sel_fill_items(f, slot, index, 1, n, variants ? sel_fill_variant : sel_fill_nested, to->v,
                   size);
}

const sel_table_field *sel_fill_positional(const sel_table *table) {
    for (int i = 0; i < table->count; i++)
        if (table->fields[i].flags & SEL_POSITIONAL)
            return &table->fields[i];
    return NULL;
}

/* Names of fields in other codes, and their names here. */
static const char *const other_names[][2] = {
    {"viscosity", "nu"},         {"relaxation_time", "tau"},
    {"force", "acceleration"},   {"forcing", "acceleration"},
    {"gravity", "acceleration"}, {"u", "velocity"},
    {"v", "velocity"},           {"p", "pressure"},
    {"rho", "density"},          {"h", "depth"},
    {"bed", "ground"},           {"dem", "ground"},
    {"boundaries", "regions"},   {"boundary", "regions"},
    {"geometry", "regions"},     {"grid", "size"},
    {"resolution", "size"},      {"iterations", "steps"},
    {"time_steps", "steps"},     {"end_time", "time"},
    {"tolerance", "steady"},     {"variables", "fields"},
    {"center", "centre"},        {"position", "at"},
};

/* The message for a field of other codes that has no counterpart here; NULL: there is none. */
static const char *answer_to(const sel_table *table, const char *name) {
    static const char *const frictions[] = {"manning", "friction", "roughness", "strickler",
                                            "chezy",   "n",        NULL};
    if (strcmp(table->name, "sel.aqua") != 0 || sel_name_index(frictions, name) < 0)
        return NULL;
    return "this model has no friction coefficient: thin water moves alpha dx/dt, whatever slope "
           "and depth; choose alpha (above 0, at most 1, better 0.2 or less) and dt for the speed "
           "that you trust";
}

/* The field here for a field `name` of other codes; NULL: there is none. */
static const char *field_meant(const sel_table *table, const char *name) {
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(name, other_names[i][0]) == 0 && sel_fill_field(table, other_names[i][1]))
            return other_names[i][1];
    return NULL;
}

static void fill_unknown_field(sel_filler *f, const sel_table *table, const char *label,
                               sel_span span, const char *name) {
    char text[256];
    const char *answer = answer_to(table, name), *meant = field_meant(table, name);
    const char **names = sel_fill_alloc(f, ((size_t)table->count + 1) * sizeof *names);
    for (int i = 0; i < table->count; i++)
        names[i] = table->fields[i].name;
    const char *what = answer  ? sel_fill_print(f, " '%s'; %s", name, answer)
                       : meant ? sel_fill_print(f, " '%s'; it is called '%s' here", name, meant)
                               : sel_script_suggest(name, names, text);
    sel_fill_mistake(f, sel_span_where(sel_source_key(span, name)), "%s: unknown field%s", label,
                     what);
}

/* Notes the unknown key at the top, of the table at `index`. */
static void unknown_key(sel_filler *f, int index, const sel_table *table, const char *label,
                        sel_span span) {
    lua_State *L = f->L;
    char found[80];
    const char *name = sel_script_key(L, -1);
    if (name) {
        fill_unknown_field(f, table, label, span, name);
    } else if (is_known_key(L, NULL, 1000000)) {
        sel_span item = sel_source_item(span, (int)lua_tointeger(L, -1));
        lua_pushvalue(L, -1);
        lua_rawget(L, index);
        sel_fill_mistake(f, sel_span_where(item), "%s: takes no value without a name, got %s",
                         label, sel_script_value_text(L, -1, found));
        lua_pop(L, 1);
    } else {
        sel_fill_mistake(f, sel_span_where(span), "%s: the key %s is no field", label,
                         sel_script_value_text(L, -1, found));
    }
}

/* Notes keys that are no fields, and positions if no field is positional. */
static void check_keys(sel_filler *f, int index, const sel_table *table, const char *label,
                       sel_span span) {
    lua_Integer positions = sel_fill_positional(table) ? (lua_Integer)lua_rawlen(f->L, index) : 0;
    push_keys(f->L, index, table, positions);
    for (lua_Integer i = 1; lua_rawgeti(f->L, -1, i) != LUA_TNIL; i++, lua_pop(f->L, 1))
        if (!is_known_key(f->L, table, positions))
            unknown_key(f, index, table, label, span);
    lua_pop(f->L, 2);
}

/* Whether a value of this kind is a list, which the array part of a table may give. */
static bool takes_list(sel_kind kind) {
    return kind == SEL_KIND_FLAGS || kind == SEL_KIND_SIZE || kind == SEL_KIND_POINT ||
           kind == SEL_KIND_POINTS || kind == SEL_KIND_NAMES || kind == SEL_KIND_VECTOR;
}

static void fill_positional(sel_filler *f, int index, const sel_table_field *field,
                            const char *label, char *data, sel_span span) {
    lua_State *L = f->L;
    void *member = data + field->offset;
    lua_Unsigned n = lua_rawlen(L, index);
    sel_slot slot = {field, label, span, true, 0};
    if (takes_list(field->kind)) {
        sel_fill_value(f, &slot, index, member);
        return;
    }
    slot.span = sel_source_item(span, 1);
    if (n > 1) {
        sel_fill_mistake(f, sel_span_where(slot.span), "%s: takes 1 value, got %llu", label,
                         (unsigned long long)n);
        return;
    }
    lua_rawgeti(L, index, 1);
    sel_fill_value(f, &slot, lua_gettop(L), member);
    lua_pop(L, 1);
}

static void fill_field(sel_filler *f, int index, const sel_table_field *field, const char *label,
                       char *data, sel_span span) {
    lua_State *L = f->L;
    char kind[256];
    bool positions = field->flags & SEL_POSITIONAL && lua_rawlen(L, index) > 0;
    bool named = sel_script_field(L, index, field->name) != LUA_TNIL;
    sel_slot slot = {field, label, sel_source_key(span, field->name), false, 0};
    if (named && positions) {
        sel_fill_mistake(f, sel_span_where(slot.span), "%s: %s is given twice, by name and without",
                         label, field->name);
    } else if (named) {
        sel_fill_value(f, &slot, lua_gettop(L), data + field->offset);
    } else if (positions) {
        fill_positional(f, index, field, label, data, span);
    } else if (field->flags & SEL_REQUIRED) {
        sel_kind_text(field, kind, sizeof kind);
        sel_fill_mistake(f, sel_span_where(span), "%s: %s is required (%s)", label, field->name,
                         kind);
    }
    lua_pop(L, 1);
}

/* Runs the table's own check, whose error text has one mistake per line. */
static void run_check(sel_filler *f, const sel_table *table, const void *data, sel_where where) {
    sel_error found;
    found.status = SEL_OK; /* the text is written with the first failure */
    if (!table->check || table->check(data, where, &found) == SEL_OK)
        return;
    char prefix[512];
    int length = snprintf(prefix, sizeof prefix, "%s:%d: ", where.file, where.line);
    for (char *line = strtok(found.text, "\n"); line; line = strtok(NULL, "\n")) {
        bool here = where.file && strncmp(line, prefix, (size_t)length) == 0;
        sel_fill_mistake(f, here ? where : (sel_where){NULL, 0}, "%s", here ? line + length : line);
    }
}

/* Fields that are filled before the others: size and controls, since vectors and functions depend
 * on them; and choices, since a lattice belongs to a number of dimensions. */
static bool comes_first(const sel_table_field *field) {
    return field->kind == SEL_KIND_SIZE || field->kind == SEL_KIND_NUMBERS ||
           field->kind == SEL_KIND_CHOICE || field->kind == SEL_KIND_NAMED_CHOICES;
}

/* Number of dimensions of the domain. 0: not known, or not the solver's, which its check reports;
 * then the length of points and vectors is not checked. */
static int dims_of(const sel_solver *solver, const sel_common *params) {
    bool fits = !solver->dims || solver->dims(params) == params->size.n;
    return fits ? params->size.n : 0;
}

bool sel_fill_table(sel_filler *f, int index, const sel_table *table, const char *label, void *data,
                    sel_span span) {
    int before = f->mistake_count;
    luaL_checkstack(f->L, LUA_MINSTACK, "tables");
    sel_table_presets(table, data);
    if (table->has_where)
        *(sel_where *)data = sel_span_where(span);
    check_keys(f, index, table, label, span);
    for (int first = 1; first >= 0; first--) {
        for (int i = 0; i < table->count; i++)
            if (comes_first(&table->fields[i]) == first)
                fill_field(f, index, &table->fields[i], label, data, span);
        if (f->solver && table == f->solver->table)
            f->dims = dims_of(f->solver, data);
    }
    if (f->solver && table == f->solver->table)
        sel_units_apply(f, index, table, data, span);
    if (f->mistake_count == before)
        run_check(f, table, data, sel_span_where(span));
    return f->mistake_count == before;
}

/* ---- maps NAME = value, in the order of the text ---- */

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

/* ---- mistakes of a filling ---- */

static int compare_mistakes(const void *a, const void *b) {
    const sel_mistake *first = a, *second = b;
    const char *first_file = first->where.file ? first->where.file : "";
    const char *second_file = second->where.file ? second->where.file : "";
    int order = strcmp(first_file, second_file);
    order = order ? order : first->where.line - second->where.line;
    return order ? order : first->order - second->order;
}

/* " (loaded at s.lua:2)" for a mistake in a loaded script, whose tables the loading script may have
 * changed; else "". */
static void loaded_text(const sel_script *script, const sel_mistake *mistake, char text[512]) {
    const sel_source *source = script->sources;
    while (source && source->name != mistake->where.file)
        source = source->next;
    text[0] = '\0';
    if (source && source->loaded_at.file)
        snprintf(text, 512, " (loaded at %s:%d)", source->loaded_at.file, source->loaded_at.line);
}

/* Whether mistake i is one before it: a shape that several regions use is filled for each. */
static bool is_repeated(const sel_filler *f, int i) {
    const sel_mistake *m = f->mistakes;
    int k = i - 1;
    while (k >= 0 && m[k].where.line == m[i].where.line && strcmp(m[k].text, m[i].text) != 0)
        k--;
    return k >= 0 && m[k].where.line == m[i].where.line && m[k].where.file == m[i].where.file;
}

void sel_fill_report(const sel_filler *f) {
    sel_error *error = f->script->error;
    char loaded[512];
    if (f->mistake_count) /* qsort refuses NULL */
        qsort(f->mistakes, (size_t)f->mistake_count, sizeof *f->mistakes, compare_mistakes);
    for (int i = 0; i < f->mistake_count; i++) {
        if (is_repeated(f, i))
            continue;
        loaded_text(f->script, &f->mistakes[i], loaded);
        const sel_mistake *mistake = &f->mistakes[i];
        sel_fail_as(error, mistake->status, mistake->where, "%s%s", mistake->text, loaded);
    }
}

void sel_fill_now(lua_State *L, int index, const sel_table *table, void *data,
                  const sel_mark *mark) {
    sel_script *script = sel_script_of(L);
    sel_filler f = {.script = script, .L = L, .arena = script->arena};
    sel_span span = sel_source_call(f.arena, mark->source, mark->where.line, mark->name);
    if (sel_fill_table(&f, index, table, table->name, data, span))
        return;
    sel_fill_report(&f);
    sel_limits_break(L);
}
