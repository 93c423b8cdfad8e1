/* hook_state.c -- run.state in a checkpoint: booleans, numbers, strings, and tables of them. */
#include <stdio.h>
#include <string.h>
#include "engine/run.h"
#include "lua/hook.h"

enum { DEEPEST = 100, PATH_ROOM = 200 };

/* What stands in front of a value; a table ends with END in the place of a key. */
enum { END, FALSE, TRUE, INTEGER, NUMBER, STRING, TABLE };

/* "run.state.list[3]": the value at the top of the stack, for messages; its key is below it. */
typedef struct place {
    const struct place *table; /* NULL: run.state itself */
    const char *key;
} place;

static void place_text(const place *at, char text[PATH_ROOM]) {
    if (!at->table) {
        snprintf(text, PATH_ROOM, "run.state");
        return;
    }
    place_text(at->table, text);
    const size_t used = strlen(text);
    snprintf(text + used, PATH_ROOM - used, "%s", at->key);
}

static int refuse(lua_State *L, const place *at, const char *what) {
    char text[PATH_ROOM];
    place_text(at, text);
    return luaL_error(L,
                      "%s is %s, which a checkpoint cannot keep; it keeps booleans, numbers, "
                      "strings, and tables of them",
                      text, what);
}

static void put_tag(sel_checkpoint *to, int tag) {
    uint8_t byte = (uint8_t)tag;
    SEL_KEEP(to, byte);
}

static void put_string(lua_State *L, int index, sel_checkpoint *to) {
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    uint64_t count = length;
    put_tag(to, STRING);
    SEL_KEEP(to, count);
    sel_keep(to, (void *)(uintptr_t)text, length);
}

static void put_value(lua_State *L, int index, const place *at, int depth, sel_checkpoint *to);

/* Each table has one place, as it gets one when it is loaded; `seen` is at index 1. */
static void put_table(lua_State *L, int index, const place *at, int depth, sel_checkpoint *to) {
    char key[96], found[80];
    luaL_checkstack(L, 8, "run.state");
    lua_pushvalue(L, index);
    if (lua_rawget(L, 1) != LUA_TNIL)
        refuse(L, at, "a table that stands at two places");
    lua_pop(L, 1);
    lua_pushvalue(L, index);
    lua_pushboolean(L, true);
    lua_rawset(L, 1);
    if (depth == DEEPEST)
        refuse(L, at, "in more than 100 tables inside each other");
    if (lua_getmetatable(L, index))
        refuse(L, at, "a table with a metatable");
    put_tag(to, TABLE);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        const int top = lua_gettop(L);
        if (lua_type(L, top - 1) == LUA_TSTRING)
            snprintf(key, sizeof key, ".%.64s", lua_tostring(L, top - 1));
        else
            snprintf(key, sizeof key, "[%s]", sel_script_value_text(L, top - 1, found));
        const place below = {at, key};
        if (lua_type(L, top - 1) == LUA_TTABLE)
            refuse(L, &below, "behind a key that is a table");
        put_value(L, top - 1, &below, depth + 1, to);
        put_value(L, top, &below, depth + 1, to);
    }
    put_tag(to, END);
}

static void put_value(lua_State *L, int index, const place *at, int depth, sel_checkpoint *to) {
    char found[80];
    lua_Integer whole;
    lua_Number number;
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        put_tag(to, lua_toboolean(L, index) ? TRUE : FALSE);
        break;
    case LUA_TNUMBER:
        put_tag(to, lua_isinteger(L, index) ? INTEGER : NUMBER);
        whole = lua_tointeger(L, index);
        number = lua_tonumber(L, index);
        if (lua_isinteger(L, index))
            SEL_KEEP(to, whole);
        else
            SEL_KEEP(to, number);
        break;
    case LUA_TSTRING:
        put_string(L, index, to);
        break;
    case LUA_TTABLE:
        put_table(L, index, at, depth, to);
        break;
    default:
        snprintf(found, sizeof found, "a %s", luaL_typename(L, index));
        refuse(L, at, found);
    }
}

/* Protected. Arguments: a table for those that were seen, run.state, the checkpoint. */
static int save(lua_State *L) {
    const place state = {NULL, NULL};
    put_value(L, 2, &state, 0, lua_touserdata(L, 3));
    return 0;
}

static bool get_value(lua_State *L, int depth, sel_checkpoint *from);

static void get_string(lua_State *L, sel_checkpoint *from) {
    uint64_t count = 0;
    luaL_Buffer buffer;
    SEL_KEEP(from, count);
    if (count > sel_checkpoint_left(from))
        luaL_error(L, "a string of run.state is longer than its checkpoint");
    char *text = luaL_buffinitsize(L, &buffer, (size_t)count);
    sel_keep(from, text, (size_t)count);
    luaL_pushresultsize(&buffer, (size_t)count);
}

static void get_table(lua_State *L, int depth, sel_checkpoint *from) {
    luaL_checkstack(L, 8, "run.state");
    if (depth == DEEPEST)
        luaL_error(L, "run.state has more than 100 tables inside each other");
    lua_newtable(L);
    while (get_value(L, depth + 1, from)) {
        const bool is_key = lua_type(L, -1) != LUA_TTABLE && lua_rawequal(L, -1, -1);
        if (!is_key || !get_value(L, depth + 1, from))
            luaL_error(L, "run.state of the checkpoint has a key without a value");
        lua_rawset(L, -3);
    }
}

/* Pushes a value; false at the end of a table. */
static bool get_value(lua_State *L, int depth, sel_checkpoint *from) {
    uint8_t tag = END;
    lua_Integer whole = 0;
    lua_Number number = 0;
    SEL_KEEP(from, tag);
    switch (tag) {
    case END:
        return false;
    case FALSE:
    case TRUE:
        lua_pushboolean(L, tag == TRUE);
        return true;
    case INTEGER:
        SEL_KEEP(from, whole);
        lua_pushinteger(L, whole);
        return true;
    case NUMBER:
        SEL_KEEP(from, number);
        lua_pushnumber(L, number);
        return true;
    case STRING:
        get_string(L, from);
        return true;
    case TABLE:
        get_table(L, depth, from);
        return true;
    default:
        return luaL_error(L, "run.state of the checkpoint has a value of no known kind"), false;
    }
}

/* Protected. Argument: the checkpoint. */
static int load(lua_State *L) {
    if (!get_value(L, 0, lua_touserdata(L, 1)) || !lua_istable(L, -1))
        luaL_error(L, "run.state of the checkpoint is no table");
    return 1;
}

void sel_hook_keep(lua_State *L, sel_hook_run *run, sel_checkpoint *checkpoint) {
    const int base = lua_gettop(L);
    const bool loads = sel_checkpoint_loads(checkpoint);
    lua_pushcfunction(L, loads ? load : save);
    if (!loads) {
        lua_newtable(L);
        sel_hook_state(L, run);
    }
    lua_pushlightuserdata(L, checkpoint);
    if (lua_pcall(L, loads ? 1 : 3, 1, 0) != LUA_OK) {
        const char *text = lua_tostring(L, -1);
        sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO, "%s", text ? text : "run.state");
    } else if (loads) {
        sel_hook_state(L, run);
        lua_pop(L, 1);
        lua_rawseti(L, LUA_REGISTRYINDEX, run->caller_handle);
    }
    lua_settop(L, base);
}
