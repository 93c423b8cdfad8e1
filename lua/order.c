/* order.c -- pairs and next in an order that is the same in every run.
 *
 * Lua's own order depends on addresses and on the time. Here numbers come first, by value: 1, 2, 3
 * and so on, then the other integers, then the other numbers; then strings, byte by byte; false and
 * true; and last tables, functions and other objects as they were made. Tables with keys 1 to n
 * alone are in that order as they are, and Lua's own next visits them; for others pairs makes a
 * list of the keys.
 */
#include <stdlib.h>
#include <string.h>
#include "lua/state.h"
#include "lua/trace.h"

/* A key, in terms of what it is compared by. */
typedef struct order_key {
    enum { COUNTING, INTEGER, NUMBER, STRING, BOOLEAN, OBJECT } kind;
    int index; /* in the list of keys */
    union {
        int64_t integer; /* COUNTING, INTEGER, BOOLEAN */
        double number;
        const char *string;
        uint64_t object;
    } by;
    size_t length; /* of the string */
} order_key;

/* A walk is a table: the keys from 1 on; at WALKED the table that they are of, at POSITION the
 * position of the key that was visited last. */
enum { POSITION = 0, WALKED = -1 };

/* Addresses are keys in Lua's registry: the walk of `next`, and Lua's own next. */
static const char walk_key, raw_next_key;

static order_key key_at(lua_State *L, int index) {
    order_key key = {.kind = OBJECT};
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        key.kind = !lua_isinteger(L, index)      ? NUMBER
                   : lua_tointeger(L, index) > 0 ? COUNTING
                                                 : INTEGER;
        if (key.kind == NUMBER)
            key.by.number = lua_tonumber(L, index);
        else
            key.by.integer = lua_tointeger(L, index);
        break;
    case LUA_TSTRING:
        key.kind = STRING;
        key.by.string = lua_tolstring(L, index, &key.length);
        break;
    case LUA_TBOOLEAN:
        key.kind = BOOLEAN;
        key.by.integer = lua_toboolean(L, index);
        break;
    default:
        key.by.object = sel_limits_number(L, index);
    }
    return key;
}

static int compare_strings(const order_key *a, const order_key *b) {
    size_t common = a->length < b->length ? a->length : b->length;
    int bytes = memcmp(a->by.string, b->by.string, common);
    return bytes ? bytes : (a->length > b->length) - (a->length < b->length);
}

static int compare_keys(const void *first, const void *second) {
    const order_key *a = first, *b = second;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    switch (a->kind) {
    case NUMBER:
        return (a->by.number > b->by.number) - (a->by.number < b->by.number);
    case STRING:
        return compare_strings(a, b);
    case OBJECT:
        return (a->by.object > b->by.object) - (a->by.object < b->by.object);
    default:
        return (a->by.integer > b->by.integer) - (a->by.integer < b->by.integer);
    }
}

/* The number of keys of the table at `index`, and whether Lua visits them in order: 1, 2, 3 ... */
static lua_Integer count_keys(lua_State *L, int index, bool *ordered) {
    lua_Integer count = 0, last = 0;
    *ordered = true;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        lua_Integer key = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        *ordered = *ordered && key > last;
        last = key;
        count++;
    }
    return count;
}

/* Pushes a walk over the `count` keys of the table at `index`, before its first key. */
static void push_walk(lua_State *L, int index, lua_Integer count) {
    order_key *keys = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *keys, 0);
    int n = 0, list = lua_gettop(L) + 1;
    lua_createtable(L, (int)count, 0);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        keys[n] = key_at(L, -2);
        keys[n].index = n + 1;
        lua_pushvalue(L, -2);
        lua_rawseti(L, list, ++n);
    }
    qsort(keys, (size_t)n, sizeof *keys, compare_keys);
    lua_createtable(L, (int)count, 2);
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, list, keys[i].index);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushvalue(L, index);
    lua_rawseti(L, -2, WALKED);
    lua_pushinteger(L, 0);
    lua_rawseti(L, -2, POSITION);
    lua_replace(L, list - 1);
    lua_settop(L, list - 1);
}

void sel_order_keys(lua_State *L, int index) {
    bool ordered;
    push_walk(L, index, count_keys(L, index, &ordered));
}

/* Pushes the next key of the walk at `walk` that has a value, and the value; at the end nil alone.
 * Returns how many. */
static int step(lua_State *L, int walk) {
    lua_rawgeti(L, walk, POSITION);
    lua_Integer position = lua_tointeger(L, -1);
    if (lua_rawgeti(L, walk, WALKED) != LUA_TTABLE)
        return luaL_error(L, "pairs gave this table, and it was changed");
    int table = lua_gettop(L);
    while (lua_rawgeti(L, walk, ++position) != LUA_TNIL) {
        lua_pushvalue(L, -1);
        if (lua_rawget(L, table) != LUA_TNIL) {
            lua_pushinteger(L, position);
            lua_rawseti(L, walk, POSITION);
            return 2;
        }
        lua_settop(L, table);
    }
    return 1;
}

/* What pairs gives a loop to call. */
static int next_of_walk(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_pushinteger(L, 0);
        lua_rawseti(L, 1, POSITION);
    }
    return step(L, 1);
}

static int three_results(lua_State *L, int status, lua_KContext context) {
    (void)L;
    (void)status;
    (void)context;
    return 3;
}

static int ordered_pairs(lua_State *L) {
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
        lua_pushvalue(L, 1);
        lua_callk(L, 1, 3, 0, three_results);
        return 3;
    }
    bool ordered = true;
    lua_Integer count = lua_istable(L, 1) ? count_keys(L, 1, &ordered) : 0;
    if (ordered) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &raw_next_key);
        lua_pushvalue(L, 1);
    } else {
        lua_pushcfunction(L, next_of_walk);
        push_walk(L, 1, count);
    }
    lua_pushnil(L);
    return 3;
}

/* Moves the walk at the top before the first key behind the one at index 2. */
static void seek(lua_State *L) {
    const order_key from = key_at(L, 2);
    const int walk = lua_gettop(L);
    lua_Integer position = 0; /* keys up to it are not behind */
    while (lua_rawgeti(L, walk, position + 1) != LUA_TNIL) {
        const order_key key = key_at(L, -1);
        if (compare_keys(&key, &from) > 0)
            break;
        position++;
        lua_settop(L, walk);
    }
    lua_settop(L, walk);
    lua_pushinteger(L, position);
    lua_rawseti(L, walk, POSITION);
}

/* Whether the walk at the top stands at the key at index 2 of the table at index 1. */
static bool stands_at_key(lua_State *L) {
    const int walk = lua_gettop(L);
    lua_rawgeti(L, walk, WALKED);
    lua_rawgeti(L, walk, POSITION);
    lua_rawgeti(L, walk, lua_tointeger(L, -1));
    bool same = lua_rawequal(L, -3, 1) && lua_rawequal(L, -1, 2);
    lua_settop(L, walk);
    return same;
}

/* next(table, key): the walk is kept from call to call, so that a loop does not sort in each step.
 */
static int ordered_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &walk_key) != LUA_TTABLE || !stands_at_key(L)) {
        sel_order_keys(L, 1);
        if (!lua_isnil(L, 2))
            seek(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &walk_key);
    }
    return step(L, lua_gettop(L));
}

void sel_order_open(lua_State *L) {
    lua_getfield(L, -1, "next");
    sel_trace_allow(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &raw_next_key);
    lua_pushcfunction(L, next_of_walk);
    sel_trace_allow(L, -1);
    lua_pop(L, 1);
    lua_pushcfunction(L, ordered_next);
    sel_trace_allow(L, -1);
    lua_setfield(L, -2, "next");
    lua_pushcfunction(L, ordered_pairs);
    sel_trace_allow(L, -1);
    lua_setfield(L, -2, "pairs");
}
