/* params.c -- sel.params: what the command line, or sel.load, may set. */
#include "lua/state.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 512 };

typedef struct declaration {
    const char *name, *help;
    sel_where where;
    int order; /* of its token in the script */
    double min, max;
    bool integer, file;
    int kind; /* as sel_parameter */
} declaration;

typedef struct declarer {
    lua_State *L;
    sel_script *script;
    sel_chunk *chunk;
    sel_where where;
    sel_span span;
    int declared, values; /* stack: the script's table; name -> value */
    declaration *list;
    int count;
    int failures;
} declarer;

#define FAIL(d, place, ...) \
    ((d)->failures++, (void)sel_fail_at((d)->script->error, place, __VA_ARGS__))

static bool is_finite_number(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TNUMBER && isfinite(lua_tonumber(L, index));
}

/* Pushes the default: the entry itself, or the first item of { default, "help" }. */
static void push_default(lua_State *L, int entry) {
    if (lua_istable(L, entry))
        lua_rawgeti(L, entry, 1);
    else
        lua_pushvalue(L, entry);
}

static bool read_kind(declarer *d, declaration *it, int entry) {
    lua_State *L = d->L;
    char found[80];
    push_default(L, entry);
    int type = lua_type(L, -1);
    bool known = type == LUA_TSTRING || type == LUA_TBOOLEAN || is_finite_number(L, -1);
    it->kind = type == LUA_TSTRING    ? SEL_PARAMETER_STRING
               : type == LUA_TBOOLEAN ? SEL_PARAMETER_BOOL
                                      : SEL_PARAMETER_NUMBER;
    if (!known)
        FAIL(d, it->where,
             "sel.params: %s needs a default that is a number, a string or a boolean, "
             "got %s",
             it->name, sel_script_value_text(L, -1, found));
    lua_pop(L, 1);
    return known;
}

static void read_bound(declarer *d, declaration *it, int entry, const char *key, double *bound) {
    char found[80];
    if (sel_script_field(d->L, entry, key) != LUA_TNIL) {
        if (lua_type(d->L, -1) == LUA_TNUMBER && it->kind == SEL_PARAMETER_NUMBER)
            *bound = lua_tonumber(d->L, -1);
        else
            FAIL(d, it->where,
                 "sel.params: %s: %s must be a number beside a numeric default, got %s", it->name,
                 key, sel_script_value_text(d->L, -1, found));
    }
    lua_pop(d->L, 1);
}

static void read_mark(declarer *d, declaration *it, int entry, const char *key, int kind,
                      const char *kind_text, bool *mark) {
    if (sel_script_field(d->L, entry, key) != LUA_TNIL) {
        *mark = lua_toboolean(d->L, -1);
        if (!lua_isboolean(d->L, -1) || it->kind != kind)
            FAIL(d, it->where,
                 "sel.params: %s: %s must be true or false, beside a default that is a "
                 "%s",
                 it->name, key, kind_text);
    }
    lua_pop(d->L, 1);
}

static void read_help(declarer *d, declaration *it, int entry) {
    char found[80];
    int type = lua_rawgeti(d->L, entry, 2);
    if (type == LUA_TSTRING)
        it->help = sel_arena_copy(d->script->arena, lua_tostring(d->L, -1));
    else if (type != LUA_TNIL)
        FAIL(d, it->where, "sel.params: %s: the help must be a string, got %s", it->name,
             sel_script_value_text(d->L, -1, found));
    lua_pop(d->L, 1);
}

static void check_keys(declarer *d, declaration *it, int entry) {
    static const char *const known[] = {"min", "max", "choices", "integer", "file", NULL};
    lua_State *L = d->L;
    char text[256];
    for (lua_pushnil(L); lua_next(L, entry); lua_pop(L, 1)) {
        bool fine = lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= 2;
        const char *key = sel_script_key(L, -2);
        for (int i = 0; key && known[i] && !fine; i++)
            fine = strcmp(key, known[i]) == 0;
        if (!fine && key)
            FAIL(d, it->where, "sel.params: %s: unknown field%s", it->name,
                 sel_script_suggest(key, known, text));
        else if (!fine)
            FAIL(d, it->where, "sel.params: %s: takes a default, a help text and named fields only",
                 it->name);
    }
}

/* "one of a, b", or nothing when the entry (a table) has no choices. */
static void list_choices(lua_State *L, int entry, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    if (sel_script_field(L, entry, "choices") == LUA_TTABLE) {
        for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
            char found[80];
            const char *shown = lua_type(L, -1) == LUA_TSTRING
                                    ? lua_tostring(L, -1)
                                    : sel_script_value_text(L, -1, found);
            if (used < size)
                used += (size_t)snprintf(text + used, size - used, "%s%.40s",
                                         i > 1 ? ", " : "one of ", shown);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* The value at the top is not what the parameter may hold: NULL, or why in words. */
static const char *refusal(declarer *d, const declaration *it, int entry, char text[MAX_TEXT]) {
    lua_State *L = d->L;
    int value = lua_gettop(L);
    bool choice = true;
    if (it->kind == SEL_PARAMETER_NUMBER) {
        double number = lua_tonumber(L, value);
        if (it->integer && number != floor(number))
            return snprintf(text, MAX_TEXT, "must be a whole number"), text;
        if (number < it->min)
            return snprintf(text, MAX_TEXT, "must be at least %.14g", it->min), text;
        if (number > it->max)
            return snprintf(text, MAX_TEXT, "must be at most %.14g", it->max), text;
    }
    if (!lua_istable(L, entry))
        return NULL;
    if (sel_script_field(L, entry, "choices") == LUA_TTABLE) {
        choice = false;
        for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL && !choice; i++) {
            choice = lua_rawequal(L, -1, value);
            lua_pop(L, 1);
        }
    }
    lua_settop(L, value);
    size_t used = (size_t)snprintf(text, MAX_TEXT, "must be ");
    list_choices(L, entry, text + used, MAX_TEXT - used);
    return choice ? NULL : text;
}

/* Address is a key in Lua's registry: the paths that need no directory any more. */
static const char paths_key;

/* Notes the path at the top. */
static void note_path(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &paths_key) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &paths_key);
    }
    lua_pushvalue(L, -2);
    lua_pushboolean(L, true);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

bool sel_params_is_path(lua_State *L, int index) {
    index = lua_absindex(L, index);
    bool noted = false;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &paths_key) == LUA_TTABLE) {
        lua_pushvalue(L, index);
        noted = lua_rawget(L, -2) == LUA_TBOOLEAN;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return noted;
}

/* Moves the value at the top to the parameter. */
static void store(declarer *d, const declaration *it) {
    int is_whole = 0;
    lua_Integer whole = lua_tointegerx(d->L, -1, &is_whole);
    if (it->kind == SEL_PARAMETER_NUMBER && it->integer && is_whole) {
        lua_pop(d->L, 1);
        lua_pushinteger(d->L, whole);
    }
    if (it->file)
        note_path(d->L);
    lua_setfield(d->L, d->values, it->name);
}

/* A default that names a file is relative to the script. */
static void store_default(declarer *d, const declaration *it, int entry) {
    char why[MAX_TEXT], found[80];
    push_default(d->L, entry);
    const char *refused = refusal(d, it, entry, why);
    if (refused)
        FAIL(d, it->where, "sel.params: %s: the default %s, got %s", it->name, refused,
             sel_script_value_text(d->L, -1, found));
    const char *path = it->file ? lua_tostring(d->L, -1) : NULL;
    if (path && path[0] != '/') {
        lua_pushfstring(d->L, "%s%s", d->chunk->directory, path);
        lua_remove(d->L, -2);
    }
    store(d, it);
}

static void read_declaration(declarer *d, declaration *it) {
    lua_State *L = d->L;
    int before = d->failures;
    it->min = -(double)INFINITY;
    it->max = (double)INFINITY;
    sel_script_field(L, d->declared, it->name);
    int entry = lua_gettop(L);
    if (!sel_is_plain(it->name))
        FAIL(d, it->where, "sel.params: the name '%s' holds control characters", it->name);
    if (read_kind(d, it, entry)) {
        if (lua_istable(L, entry)) {
            check_keys(d, it, entry);
            read_help(d, it, entry);
            read_bound(d, it, entry, "min", &it->min);
            read_bound(d, it, entry, "max", &it->max);
            read_mark(d, it, entry, "integer", SEL_PARAMETER_NUMBER, "number", &it->integer);
            read_mark(d, it, entry, "file", SEL_PARAMETER_STRING, "string", &it->file);
        }
        if (d->failures == before)
            store_default(d, it, entry);
    }
    lua_settop(L, entry - 1);
}

static int compare_declarations(const void *a, const void *b) {
    const declaration *first = a, *second = b;
    if (first->order != second->order)
        return first->order < second->order ? -1 : 1;
    return strcmp(first->name, second->name);
}

static void read_declarations(declarer *d) {
    lua_State *L = d->L;
    const char **names = sel_script_names(L, d->declared);
    while (names[d->count])
        d->count++;
    d->list = sel_arena_alloc(d->script->arena, ((size_t)d->count + 1) * sizeof *d->list);
    sel_span *spans = sel_arena_alloc(d->script->arena, ((size_t)d->count + 1) * sizeof *spans);
    if (!d->list || !spans)
        sel_script_no_memory(d->script, "the parameters", (size_t)d->count * sizeof *d->list);
    sel_source_keys(d->span, names, d->count, spans);
    for (int i = 0; i < d->count; i++) {
        d->list[i].name = sel_arena_copy(d->script->arena, names[i]);
        d->list[i].where = sel_span_where(spans[i]);
        d->list[i].order = spans[i].at < 0 ? INT32_MAX : spans[i].at;
    }
    qsort(d->list, (size_t)d->count, sizeof *d->list, compare_declarations);
    for (int i = 0; i < d->count; i++)
        read_declaration(d, &d->list[i]);
    lua_pop(L, 1);
    for (lua_pushnil(L); lua_next(L, d->declared); lua_pop(L, 1))
        if (!sel_script_key(L, -2))
            FAIL(d, d->where,
                 "sel.params: every parameter needs a name: NAME = { default, \"help\" }");
}

static const declaration *find(const declarer *d, const char *name) {
    for (int i = 0; i < d->count; i++)
        if (strcmp(d->list[i].name, name) == 0)
            return &d->list[i];
    return NULL;
}

/* "unknown parameter 'Ree'; did you mean 'Re'? The scenario has H, Re". */
static void describe_unknown(declarer *d, const char *name, char text[MAX_TEXT]) {
    char suggestion[256];
    const char **names = sel_script_names(d->L, d->values);
    sel_script_suggest(name, names, suggestion);
    size_t used = (size_t)snprintf(text, MAX_TEXT, "unknown parameter%s%s scenario has", suggestion,
                                   strstr(suggestion, "; did you mean") ? " The" : "; the");
    for (int i = 0; i < d->count && used < MAX_TEXT; i++)
        used +=
            (size_t)snprintf(text + used, MAX_TEXT - used, "%s %s", i ? "," : "", d->list[i].name);
    lua_pop(d->L, 1);
}

/* Pushes the value that `text` writes for the parameter; NULL, or why it is none. */
static const char *push_typed(lua_State *L, const declaration *it, const char *text) {
    if (it->kind == SEL_PARAMETER_STRING) {
        lua_pushstring(L, text);
        return NULL;
    }
    if (it->kind == SEL_PARAMETER_BOOL) {
        lua_pushboolean(L, strcmp(text, "true") == 0);
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? NULL
                                                                       : "must be true or false";
    }
    if (lua_stringtonumber(L, text) == strlen(text) + 1 && is_finite_number(L, -1))
        return NULL;
    return "must be a number";
}

/* Resolves one "name=value" of the command line. */
static void assign(declarer *d, const char *assignment) {
    lua_State *L = d->L;
    sel_error *error = d->script->error;
    const char *equals = strchr(assignment, '=');
    char why[MAX_TEXT];
    int top = lua_gettop(L);
    if (!equals || equals == assignment) {
        sel_fail(error, SEL_BAD_USAGE, "'%s' is not of the form name=value", assignment);
        d->failures++;
        return;
    }
    const char *name = lua_pushlstring(L, assignment, (size_t)(equals - assignment));
    const declaration *it = find(d, name);
    if (!it) {
        describe_unknown(d, name, why);
        sel_fail(error, SEL_BAD_USAGE, "%s", why);
        d->failures++;
        lua_settop(L, top);
        return;
    }
    sel_script_field(L, d->declared, it->name);
    int entry = lua_gettop(L);
    const char *refused = push_typed(L, it, equals + 1);
    if (!refused)
        refused = refusal(d, it, entry, why);
    if (refused) {
        sel_fail(error, SEL_BAD_USAGE, "parameter %s %s, got '%s'", it->name, refused, equals + 1);
        d->failures++;
    } else {
        store(d, it);
    }
    lua_settop(L, top);
}

/* Resolves one value of the table that sel.load got; it is at the top. */
static void assign_value(declarer *d, const declaration *it) {
    static const int types[] = {LUA_TNUMBER, LUA_TSTRING, LUA_TBOOLEAN};
    static const char *const names[] = {"must be a number", "must be a string",
                                        "must be true or false"};
    lua_State *L = d->L;
    char why[MAX_TEXT], found[80];
    int value = lua_gettop(L);
    sel_script_field(L, d->declared, it->name);
    lua_pushvalue(L, value);
    bool right = lua_type(L, -1) == types[it->kind] &&
                 (it->kind != SEL_PARAMETER_NUMBER || is_finite_number(L, -1));
    const char *refused = right ? refusal(d, it, value + 1, why) : names[it->kind];
    if (refused)
        FAIL(d, d->chunk->loaded_at, "sel.load: parameter %s %s, got %s", it->name, refused,
             sel_script_value_text(L, -1, found));
    else
        store(d, it);
    lua_settop(L, value);
}

static void assign_from_table(declarer *d) {
    lua_State *L = d->L;
    char text[MAX_TEXT], found[80];
    lua_rawgeti(L, LUA_REGISTRYINDEX, d->chunk->values);
    int table = lua_gettop(L);
    for (int i = 0; i < d->count; i++) {
        if (sel_script_field(L, table, d->list[i].name) != LUA_TNIL)
            assign_value(d, &d->list[i]);
        lua_pop(L, 1);
    }
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (!sel_script_key(L, -2))
            FAIL(d, d->chunk->loaded_at, "sel.load: the key %s is no parameter",
                 sel_script_value_text(L, -2, found));
    for (const char **name = sel_script_names(L, table); *name; name++) {
        if (find(d, *name))
            continue;
        describe_unknown(d, *name, text);
        FAIL(d, d->chunk->loaded_at, "sel.load: %s", text);
    }
    lua_settop(L, table - 1);
}

static void assign_all(declarer *d) {
    const sel_script_options *options = d->script->options;
    if (d->chunk->values != LUA_NOREF)
        assign_from_table(d);
    for (int i = 0; !d->chunk->above && i < options->count; i++)
        assign(d, options->assignments[i]);
}

/* For a terminal: a copy without control characters. NULL stays NULL. */
static const char *shown(declarer *d, const char *text) {
    char *copy = text ? sel_arena_copy_length(d->script->arena, text, strlen(text)) : NULL;
    if (copy)
        sel_plain_text(copy);
    return copy;
}

static const char *value_text(declarer *d) {
    const char *text = luaL_tolstring(d->L, -1, NULL);
    text = sel_arena_copy(d->script->arena, text);
    lua_pop(d->L, 2);
    return text;
}

/* What run.json and --help show. */
/* What --help says of a parameter's values: "whole number, at least 2". */
static const char *limits_text(declarer *d, const declaration *it, int entry) {
    char text[MAX_TEXT] = "";
    size_t used = 0;
    if (lua_istable(d->L, entry))
        list_choices(d->L, entry, text, sizeof text);
    if (it->integer)
        used += (size_t)snprintf(text + used, sizeof text - used, "whole number");
    if (it->min > -HUGE_VAL)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sat least %.14g",
                                 used ? ", " : "", it->min);
    if (it->max < HUGE_VAL)
        snprintf(text + used, sizeof text - used, "%sat most %.14g", used ? ", " : "", it->max);
    return shown(d, text);
}

static void publish(declarer *d) {
    sel_scenario *scenario = d->script->scenario;
    size_t size = ((size_t)d->count + 1) * sizeof *scenario->parameters;
    scenario->parameters = sel_arena_alloc(d->script->arena, size);
    if (!scenario->parameters)
        sel_script_no_memory(d->script, "the parameters", size);
    scenario->parameter_count = d->count;
    for (int i = 0; i < d->count; i++) {
        sel_parameter *p = &scenario->parameters[i];
        p->name = d->list[i].name;
        p->help = d->list[i].help ? shown(d, d->list[i].help) : "";
        p->kind = d->list[i].kind;
        sel_script_field(d->L, d->values, p->name);
        p->text = value_text(d);
        sel_script_field(d->L, d->declared, p->name);
        p->limits = limits_text(d, &d->list[i], lua_gettop(d->L));
        push_default(d->L, lua_gettop(d->L));
        lua_remove(d->L, -2);
        p->preset = shown(d, value_text(d));
    }
}

static declarer start(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_source *source;
    declarer d = {.L = L, .script = script, .chunk = script->chunk};
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (!d.chunk)
        luaL_error(L, "sel.params may only be called while the scenario is read");
    if (d.chunk->declared)
        luaL_error(L, "sel.params was called before; declare all parameters in one call");
    d.chunk->declared = true;
    d.where = sel_script_place(L, &source);
    d.span = sel_source_call(script->arena, source, d.where.line, "params");
    lua_newtable(L);
    d.declared = 1;
    d.values = 2;
    return d;
}

int sel_params_declare(lua_State *L) {
    declarer d = start(L);
    read_declarations(&d);
    if (d.failures == 0)
        assign_all(&d);
    if (d.failures > 0)
        return sel_limits_break(L);
    if (!d.chunk->above) {
        publish(&d);
        if (d.script->parameters_only)
            return sel_limits_break(L);
    }
    lua_settop(L, d.values);
    sel_library_close(L, "sel.params");
    return 1;
}
