/* library.c -- the C part of selenite.lua: constructors, marks, names and values in messages.
 *
 * A constructor returns the table that it was given. Its mark says what the table is (law.wall,
 * out.vtk) and where it was made. Marks are in a side table with weak keys:
 *
 *      marks[table] = userdata sel_mark
 */
#include "lua/script/state.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "params_lua.h"
#include "selenite_lua.h"

/* Their addresses are keys in Lua's registry. */
static const char marks_key, operators_key, closed_key;

sel_source *sel_script_source(const sel_script *script, const char *chunk) {
    sel_source *source = chunk[0] == '@' ? script->sources : NULL;
    while (source && strcmp(source->name, chunk + 1) != 0)
        source = source->next;
    return source;
}

sel_where sel_script_place(lua_State *L, sel_source **source) {
    lua_Debug frame;
    sel_source *found = NULL;
    for (int level = 0; !found && lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        found = frame.currentline > 0 ? sel_script_source(sel_script_of(L), frame.source) : NULL;
    }
    if (source)
        *source = found;
    return found ? (sel_where){found->name, frame.currentline} : (sel_where){NULL, 0};
}

/* While the returned tables are filled no line of the script runs: then there is no place. */
static void fail_limit(sel_script *script, sel_where where) {
    char place[1024] = "";
    if (where.file)
        snprintf(place, sizeof place, "%s:%d: ", where.file, where.line);
    else if (script->main)
        snprintf(place, sizeof place, "%s: ", script->main->name);
    sel_fail(script->error, SEL_BAD_SCENARIO,
             "%sthe data need more than %zu MiB of memory; --trust lifts all limits", place,
             script->memory >> 20);
}

int sel_script_too_large(sel_script *script) {
    fail_limit(script, sel_script_place(script->active, NULL));
    return sel_limits_break(script->active);
}

int sel_script_no_memory(sel_script *script, const char *what, size_t bytes) {
    if (script->arena->full)
        return sel_script_too_large(script);
    sel_fail_memory(script->error, what, bytes);
    return sel_limits_break(script->active);
}

void *sel_script_alloc(sel_script *script, const char *what, size_t bytes) {
    void *memory = sel_arena_alloc(script->arena, bytes ? bytes : 1);
    if (!memory)
        sel_script_no_memory(script, what, bytes);
    return memory;
}

void sel_script_hand_over(sel_script *script, const sel_error *found, sel_where where,
                          const char *what) {
    char place[1024] = "";
    if (!found->status)
        return;
    if (found->status == SEL_NO_DEVICE && script->arena->full) {
        fail_limit(script, where);
        return;
    }
    if (where.file)
        snprintf(place, sizeof place, "%s:%d: ", where.file, where.line);
    bool placed = !*place || strncmp(found->text, place, strlen(place)) == 0;
    sel_fail(script->error, found->status, "%s%s%s%s", placed ? "" : place, placed ? "" : what,
             placed ? "" : ": ", found->text);
}

int sel_script_field(lua_State *L, int index, const char *name) {
    index = lua_absindex(L, index);
    lua_pushstring(L, name);
    return lua_rawget(L, index);
}

const char *sel_script_key(lua_State *L, int index) {
    size_t length;
    if (lua_type(L, index) != LUA_TSTRING)
        return NULL;
    const char *key = lua_tolstring(L, index, &length);
    return strlen(key) == length ? key : NULL;
}

const char *sel_script_path(lua_State *L, int index, const char *what) {
    char found[80], place[1024] = "";
    const char *path = luaL_checkstring(L, index);
    if (sel_script_key(L, index))
        return path;
    const sel_where where = sel_script_place(L, NULL);
    if (where.file)
        snprintf(place, sizeof place, "%s:%d: ", where.file, where.line);
    lua_pushfstring(L, "%s%s must not hold a zero byte, got %s", place, what,
                    sel_script_value_text(L, index, found));
    lua_error(L);
    return NULL;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **sel_script_names(lua_State *L, int index) {
    size_t count = 0, i = 0;
    index = lua_absindex(L, index);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        count += sel_script_key(L, -2) != NULL;
    const char **names = lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        if (sel_script_key(L, -2))
            names[i++] = lua_tostring(L, -2);
    names[i] = NULL;
    qsort(names, count, sizeof *names, compare_names);
    return names;
}

const char **sel_script_strings(lua_State *L, int index) {
    luaL_checktype(L, index, LUA_TTABLE);
    int count = (int)luaL_len(L, index);
    const char **strings = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *strings, 0);
    luaL_checkstack(L, count + LUA_MINSTACK, "strings");
    for (int i = 0; i < count; i++) {
        lua_geti(L, index, i + 1);
        strings[i] = luaL_checkstring(L, -1);
    }
    strings[count] = NULL;
    return strings;
}

void sel_script_push_strings(lua_State *L, const char *const *strings) {
    lua_newtable(L);
    for (int i = 0; strings && strings[i]; i++) {
        lua_pushstring(L, strings[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static int compare_order(const void *a, const void *b) {
    const sel_named_span *first = a, *second = b;
    if (first->span.at != second->span.at) /* unsigned: what the text does not show comes last */
        return (unsigned)first->span.at < (unsigned)second->span.at ? -1 : 1;
    return strcmp(first->name, second->name);
}

sel_named_span *sel_script_names_in_order(lua_State *L, int index, sel_span span, int *count) {
    sel_script *script = sel_script_of(L);
    const char **names = sel_script_names(L, index);
    for (*count = 0; names[*count];)
        ++*count;
    const size_t bytes = ((size_t)*count + 1) * sizeof(sel_named_span);
    sel_named_span *list = sel_script_alloc(script, "the names of a table", bytes);
    for (int i = 0; i < *count; i++) {
        const char *name = sel_arena_copy(script->arena, names[i]);
        list[i].name = name ? name : "";
    }
    sel_source_keys(span, list, *count);
    qsort(list, (size_t)*count, sizeof *list, compare_order);
    lua_pop(L, 1);
    return list;
}

/* Writes a name from a script in quotes: shortened, and without control characters. */
static void quote(const char *name, size_t length, char mark, char *text, size_t size) {
    size_t used = 0, i;
    text[used++] = mark;
    for (i = 0; i < length && i < 40 && used + 8 < size; i++) {
        unsigned char ch = (unsigned char)name[i];
        if (ch < 32 || ch == 127)
            used += (size_t)snprintf(text + used, size - used, "\\%d", ch);
        else
            text[used++] = (char)ch;
    }
    snprintf(text + used, size - used, "%s%c", i < length ? "..." : "", mark);
}

const char *sel_script_suggest(const char *name, const char *const *names, char text[256]) {
    char quoted[80], meant[SEL_SUGGESTION_ROOM] = "";
    quote(name, strlen(name), '\'', quoted, sizeof quoted);
    if (strlen(name) <= 40)
        sel_suggestion(name, names, meant);
    snprintf(text, 256, " %s%.170s", quoted, meant);
    return text;
}

const char *sel_script_value_text(lua_State *L, int index, char text[80]) {
    size_t length;
    char quoted[64];
    switch (lua_type(L, index)) {
    case LUA_TSTRING: {
        const char *string = lua_tolstring(L, index, &length);
        quote(string, length, '"', quoted, sizeof quoted);
        snprintf(text, 80, "string %s", quoted);
        break;
    }
    case LUA_TNUMBER:
        if (lua_isinteger(L, index))
            snprintf(text, 80, "%lld", (long long)lua_tointeger(L, index));
        else if (isnan(lua_tonumber(L, index)))
            snprintf(text, 80, "nan"); /* printf would show its sign */
        else
            snprintf(text, 80, "%.14g", lua_tonumber(L, index));
        break;
    case LUA_TBOOLEAN:
        snprintf(text, 80, "%s", lua_toboolean(L, index) ? "true" : "false");
        break;
    default: {
        const sel_mark *mark = sel_script_mark(L, index);
        const sel_lookup *lookup = sel_lookup_at(L, index);
        if (mark)
            snprintf(text, 80, "%s.%s", mark->group, mark->name);
        else if (lookup)
            snprintf(text, 80, "%s", lookup->name);
        else
            snprintf(text, 80, "%s", luaL_typename(L, index));
    }
    }
    return text;
}

sel_mark *sel_script_mark(lua_State *L, int index) {
    if (!lua_istable(L, index))
        return NULL;
    index = lua_absindex(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    sel_mark *mark = lua_touserdata(L, -1);
    lua_pop(L, 2); /* the side table keeps the mark as long as the value lives */
    return mark;
}

void sel_script_set_mark(lua_State *L, const char *group, const char *name) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key);
    lua_pushvalue(L, -2);
    sel_mark *mark = lua_newuserdatauv(L, sizeof *mark, 0);
    *mark = (sel_mark){.group = group, .name = name};
    mark->where = sel_script_place(L, &mark->source);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    if (strcmp(group, "shape") == 0) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &operators_key);
        lua_setmetatable(L, -2);
    }
}

const char *sel_table_short_name(const sel_table *table) {
    const char *dot = strrchr(table->name, '.');
    return dot ? dot + 1 : table->name;
}

/* NAME{...}; upvalues: the sel_table, the group. Laws of several solvers with one name share a
 * constructor; filling chooses the table by the solver. */
static int construct(lua_State *L) {
    const sel_table *table = lua_touserdata(L, lua_upvalueindex(1));
    const char *group = lua_touserdata(L, lua_upvalueindex(2));
    if (lua_gettop(L) != 1)
        return luaL_error(L, "%s takes one table: write %s { ... }", table->name, table->name);
    if (!lua_istable(L, 1)) {
        if (lua_isnil(L, 1) || !sel_fill_positional(table)) {
            char found[80];
            sel_script_value_text(L, 1, found);
            return luaL_error(L, "%s takes a table, got %s: write %s { ... }", table->name, found,
                              table->name);
        }
        lua_createtable(L, 1, 0);
        lua_insert(L, 1);
        lua_rawseti(L, 1, 1);
    }
    sel_script_set_mark(L, group, sel_table_short_name(table));
    return 1;
}

/* Adds the constructor of `table` as groups[group][name], unless there is one of that name;
 * `groups` is at the top. */
static void add_constructor(lua_State *L, const char *group, const sel_table *table) {
    luaL_getsubtable(L, -1, group);
    if (lua_getfield(L, -1, sel_table_short_name(table)) == LUA_TNIL) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)table);
        lua_pushlightuserdata(L, (void *)(uintptr_t)group);
        lua_pushcclosure(L, construct, 2);
        lua_setfield(L, -3, sel_table_short_name(table));
    }
    lua_pop(L, 2);
}

/* Pushes the constructors by group: solvers in "sel", others in the group of their family. */
static void push_constructors(lua_State *L) {
    const sel_schema all = sel_schema_collect();
    lua_newtable(L);
    for (const sel_solver *const *solver = sel_solvers; *solver; solver++)
        add_constructor(L, "sel", (*solver)->table);
    for (int f = 0; f < all.family_count; f++)
        for (int i = 0; i < all.families[f]->count; i++)
            add_constructor(L, all.families[f]->name, all.families[f]->tables[i]);
}

/* host.shape(kind, members) -> members, marked */
static int mark_shape(lua_State *L) {
    static const char *const kinds[] = {"face",       "faces",        "rest", "union",
                                        "difference", "intersection", NULL};
    const char *kind = kinds[luaL_checkoption(L, 1, NULL, kinds)];
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    sel_script_set_mark(L, "shape", kind);
    return 1;
}

static int is_shape(lua_State *L) {
    const sel_mark *mark = sel_script_mark(L, 1);
    lua_pushboolean(L, mark && strcmp(mark->group, "shape") == 0);
    return 1;
}

int sel_host_result(lua_State *L, const sel_error *error) {
    error->status ? lua_pushnil(L) : lua_pushboolean(L, true);
    lua_pushstring(L, error->text);
    return 2;
}

int sel_host_value_text(lua_State *L) {
    char text[80];
    luaL_checkany(L, 1);
    lua_pushstring(L, sel_script_value_text(L, 1, text));
    return 1;
}

int sel_host_suggestion(lua_State *L) {
    char text[256];
    const char **names = sel_script_names(L, 2);
    lua_pushstring(L, sel_script_suggest(luaL_checkstring(L, 1), names, text));
    return 1;
}

/* Uses the function of selenite.lua. */
void sel_library_close(lua_State *L, const char *what) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &closed_key);
    lua_pushstring(L, what);
    lua_rotate(L, -3, -1);
    lua_call(L, 2, 1);
}

/* ---- sel.params: the C part of params.lua; the parameters for --help and run.json ---- */

typedef struct declarer {
    sel_script *script;
    sel_chunk *chunk;
    sel_where where; /* of the call */
    sel_named_span *list;
    int count;
    bool failed;
} declarer;

/* mistake(place, text), see params.lua; upvalue 1: the declarer. */
static int params_note_mistake(lua_State *L) {
    declarer *d = lua_touserdata(L, lua_upvalueindex(1));
    if (lua_gettop(L) == 0)
        return lua_pushboolean(L, d->failed), 1;
    static const char *const names[] = {"usage", "load", "params", NULL};
    const bool parameter = lua_isinteger(L, 1);
    const int place = parameter ? -1 : sel_name_index(names, luaL_checkstring(L, 1));
    luaL_argcheck(L, !parameter || (lua_tointeger(L, 1) > 0 && lua_tointeger(L, 1) <= d->count), 1,
                  "no parameter");
    const sel_where where = parameter    ? sel_span_where(d->list[lua_tointeger(L, 1) - 1].span)
                            : place == 0 ? (sel_where){NULL, 0}
                            : place == 1 ? d->chunk->loaded_at
                                         : d->where;
    d->failed = true;
    sel_fail_as(d->script->error, place == 0 ? SEL_BAD_USAGE : SEL_BAD_SCENARIO, where, "%s",
                luaL_checkstring(L, 2));
    return 0;
}

static int host_is_plain(lua_State *L) {
    lua_pushboolean(L, sel_is_plain(luaL_checkstring(L, 1)));
    return 1;
}

/* Its address is the key, in Lua's registry, of the set of paths that are not relative to a script.
 */
static const char paths_key;

bool sel_params_is_path(lua_State *L, int index) {
    index = lua_absindex(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &paths_key);
    lua_pushvalue(L, index);
    bool noted = lua_rawget(L, -2) == LUA_TBOOLEAN;
    lua_pop(L, 2);
    return noted;
}

/* A copy of the string field `name` of the table at the top. `plain`: without control characters,
 * for a terminal. */
static const char *params_text(declarer *d, lua_State *L, const char *name, bool plain) {
    lua_getfield(L, -1, name);
    char *copy = sel_arena_copy(d->script->arena, lua_tostring(L, -1));
    if (copy && plain)
        sel_plain_text(copy);
    lua_pop(L, 1);
    return copy;
}

/* Stores the parameters for --help and run.json, from the list at the top. */
static void publish(declarer *d, lua_State *L) {
    sel_scenario *scenario = d->script->scenario;
    size_t size = ((size_t)d->count + 1) * sizeof *scenario->parameters;
    scenario->parameters = sel_script_alloc(d->script, "the parameters", size);
    scenario->parameter_count = d->count;
    for (int i = 0; i < d->count; i++) {
        static const char *const kinds[] = {"number", "string", "boolean", NULL};
        sel_parameter *p = &scenario->parameters[i];
        lua_rawgeti(L, -1, i + 1);
        lua_getfield(L, -1, "kind");
        p->kind = luaL_checkoption(L, -1, NULL, kinds);
        lua_pop(L, 1);
        p->name = d->list[i].name;
        p->help = params_text(d, L, "help", true);
        p->text = params_text(d, L, "text", false);
        p->preset = params_text(d, L, "preset", true);
        p->limits = params_text(d, L, "limits", true);
        lua_pop(L, 1);
    }
}

/* Pushes the arguments for the function of params.lua; the script's table is at index 1. */
static void params_push_arguments(declarer *d, lua_State *L) {
    const sel_script_options *options = &d->script->options;
    lua_pushvalue(L, 1);
    lua_createtable(L, d->count, 0);
    for (int i = 0; i < d->count; i++) {
        lua_pushstring(L, d->list[i].name);
        lua_rawseti(L, -2, i + 1);
    }
    lua_newtable(L);
    lua_pushstring(L, d->chunk->directory);
    lua_setfield(L, -2, "directory");
    if (d->chunk->values != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, d->chunk->values);
        lua_setfield(L, -2, "loaded");
    }
    if (!d->chunk->above) {
        sel_script_push_strings(L, options->assignments);
        lua_setfield(L, -2, "assignments");
    }
    lua_pushlightuserdata(L, d);
    lua_pushcclosure(L, params_note_mistake, 1);
}

/* sel.params; upvalue 1: the function of params.lua. */
static int declare(lua_State *L) {
    sel_source *source;
    declarer d = {.script = sel_script_of(L), .chunk = sel_script_of(L)->chunk};
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (!d.chunk)
        return luaL_error(L, "sel.params may only be called while the scenario is read");
    if (d.chunk->declared)
        return luaL_error(L, "sel.params was called before; declare all parameters in one call");
    d.chunk->declared = true;
    d.where = sel_script_place(L, &source);
    d.list = sel_script_names_in_order(
        L, 1, sel_source_call(d.script->arena, source, d.where.line, "params"), &d.count);
    lua_pushvalue(L, lua_upvalueindex(1));
    params_push_arguments(&d, L);
    lua_call(L, 4, 2);
    if (d.failed)
        return sel_limits_break(L);
    if (!d.chunk->above) {
        publish(&d, L);
        if (d.script->options.parameters_only)
            return sel_limits_break(L);
    }
    lua_pop(L, 1);
    sel_library_close(L, "sel.params");
    return 1;
}

static void push_params(lua_State *L) {
    static const luaL_Reg host[] = {{"value_text", sel_host_value_text},
                                    {"suggestion", sel_host_suggestion},
                                    {"is_plain", host_is_plain},
                                    {NULL, NULL}};
    luaL_newlib(L, host);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &paths_key);
    lua_setfield(L, -2, "paths");
    sel_sandbox_run(L, params_lua, sizeof params_lua, 1);
    lua_pushcclosure(L, declare, 1);
}

/* ---- the library ---- */

/* sel.step(x): 1.0 where x >= 0, else 0.0. */
static int library_step(lua_State *L) {
    lua_pushnumber(L, luaL_checknumber(L, 1) >= 0 ? 1 : 0);
    return 1;
}

static void library_push_host(lua_State *L) {
    static const luaL_Reg functions[] = {{"shape", mark_shape},
                                         {"is_shape", is_shape},
                                         {"value_text", sel_host_value_text},
                                         {"suggestion", sel_host_suggestion},
                                         {"load", sel_module_load},
                                         {"step", library_step},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    sel_data_open(L);
    sel_rule_open(L);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &operators_key);
    lua_setfield(L, -2, "shape_operators");
    sel_read_library(L, "step");
    push_params(L);
    lua_setfield(L, -2, "params");
    push_constructors(L);
    lua_setfield(L, -2, "groups");
    lua_pushglobaltable(L);
    lua_setfield(L, -2, "globals");
    lua_pushboolean(L, sel_script_of(L)->options.trust);
    lua_setfield(L, -2, "trust");
}

void sel_library_push(lua_State *L) {
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &marks_key);
    sel_hook_open(L);
    library_push_host(L);
    sel_sandbox_run(L, selenite_lua, sizeof selenite_lua, 3);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &closed_key);
}
