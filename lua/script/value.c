/* value.c -- tables, marks and look-ups of a script, and values in messages.
 *
 * A mark says what a table is (law.wall, out.vtk) and where it was made. Marks are in a side table
 * with weak keys:
 *
 *      marks[table] = userdata sel_mark
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/io/raster.h"
#include "engine/values/series.h"
#include "lua/script/state.h"

/* ---- keys and strings ---- */

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

/* ---- values in messages ---- */

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

/* ---- marks and look-ups ---- */

/* Their addresses are keys in Lua's registry: the side table, the metatable of shapes. */
static const char marks_key, shapes_key;

void sel_marks_open(lua_State *L) {
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &marks_key);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &shapes_key);
}

sel_mark *sel_script_mark(lua_State *L, int index) {
    if (!lua_istable(L, index))
        return NULL;
    index = lua_absindex(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    sel_mark *mark = lua_touserdata(L, -1);
    lua_pop(L, 2); /* the side table keeps the mark as long as the value exists */
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
        lua_rawgetp(L, LUA_REGISTRYINDEX, &shapes_key);
        lua_setmetatable(L, -2);
    }
}

const sel_lookup *sel_lookup_at(lua_State *L, int index) {
    const char *const types[] = {sel_series_table.name, sel_raster_table.name};
    for (int kind = 0; kind < 2; kind++) {
        const sel_lookup **lookup = luaL_testudata(L, index, types[kind]);
        if (lookup)
            return *lookup;
    }
    return NULL;
}
