/* trace_keep.c -- variables and tables outside of a function under trace, kept and put back.
 *
 * The upvalues of each function are kept when it is called first, but for functions that are made
 * meanwhile: what they change are variables of others. Tables are kept, with all that
 * can be reached from the function under trace, when the first function is called whose text gives
 * a field a value. After each path all is compared and put back: what is left would be symbols.
 */
#include <stdio.h>
#include <string.h>
#include "lua/trace.h"

enum { MAX_VALUES = 200000 }; /* in the tables that are kept */

/* Addresses are keys in Lua's registry: the functions that ran in this trace with lists of their
 * upvalues; the first of them; tables with their copies; the number of the newest object at the
 * start. */
static const char seen_key, tables_key, first_key, newest_key;

void sel_trace_forget(lua_State *L) {
    lua_newtable(L);
    lua_pushinteger(L, (lua_Integer)sel_limits_number(L, -1));
    lua_rawsetp(L, LUA_REGISTRYINDEX, &newest_key);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &seen_key);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tables_key);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &first_key);
}

bool sel_trace_keep_upvalues(lua_State *L) {
    int function = lua_gettop(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &seen_key);
    lua_pushvalue(L, function);
    if (lua_rawget(L, -2) != LUA_TNIL) {
        lua_settop(L, function);
        return false;
    }
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &first_key) == LUA_TNIL) {
        lua_pushvalue(L, function);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &first_key);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &newest_key);
    bool made_before = (lua_Integer)sel_limits_number(L, function) < lua_tointeger(L, -1);
    lua_settop(L, function + 1);
    lua_pushvalue(L, function);
    lua_newtable(L);
    for (int i = 1; made_before && lua_getupvalue(L, function, i); i++)
        lua_rawseti(L, -2, i);
    lua_pushboolean(L, made_before);
    lua_rawseti(L, -2, 0);
    lua_rawset(L, -3);
    lua_settop(L, function);
    return true;
}

/* Tables and functions that were reached and are still to be looked at. */
typedef struct reach {
    lua_State *L;
    int copies, list, visited; /* stack: table -> copy; what is left; what was reached */
    lua_Integer left, values;
} reach;

/* Notes the value at the top, and pops it. */
static void note(reach *r) {
    lua_State *L = r->L;
    if (lua_istable(L, -1) || (lua_isfunction(L, -1) && !lua_iscfunction(L, -1))) {
        lua_pushvalue(L, -1);
        if (lua_rawget(L, r->visited) == LUA_TNIL) {
            lua_pushvalue(L, -2);
            lua_pushboolean(L, true);
            lua_rawset(L, r->visited);
            lua_pushvalue(L, -2);
            lua_rawseti(L, r->list, ++r->left);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Copies the table at the top. */
static void copy_table(reach *r) {
    lua_State *L = r->L;
    int table = lua_gettop(L);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (++r->values > MAX_VALUES)
            sel_trace_fail(L, "it changes tables, and those in its reach hold more than %d values",
                           MAX_VALUES);
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, table + 1);
        lua_pushvalue(L, -2);
        note(r);
        lua_pushvalue(L, -1);
        note(r);
    }
    lua_pushvalue(L, table);
    lua_insert(L, -2);
    lua_rawset(L, r->copies);
    if (lua_getmetatable(L, table))
        note(r);
}

/* The libraries, which the environment holds, cannot be changed. */
static void note_upvalues(reach *r) {
    lua_State *L = r->L;
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, -1, i)); i++) {
        if (strcmp(name, "_ENV") == 0)
            lua_pop(L, 1);
        else
            note(r);
    }
}

void sel_trace_keep_tables(lua_State *L) {
    int top = lua_gettop(L);
    reach r = {.L = L, .copies = top + 1, .list = top + 2, .visited = top + 3};
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tables_key) != LUA_TNIL) {
        lua_settop(L, top);
        return;
    }
    lua_settop(L, top);
    lua_newtable(L);
    lua_newtable(L);
    lua_newtable(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &first_key);
    note(&r);
    while (r.left > 0) {
        lua_rawgeti(L, r.list, r.left--);
        if (lua_istable(L, -1))
            copy_table(&r);
        else
            note_upvalues(&r);
        lua_settop(L, r.visited);
    }
    lua_pushvalue(L, r.copies);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tables_key);
    lua_settop(L, top);
}

/* Are the two values at the top the same, also as NaN and as integers or floats? */
static bool same_values(lua_State *L) {
    if (lua_type(L, -1) != LUA_TNUMBER || lua_type(L, -2) != LUA_TNUMBER)
        return lua_rawequal(L, -1, -2);
    double a = lua_tonumber(L, -1), b = lua_tonumber(L, -2);
    return lua_isinteger(L, -1) == lua_isinteger(L, -2) &&
           (lua_isinteger(L, -1) ? lua_rawequal(L, -1, -2) : memcmp(&a, &b, sizeof a) == 0);
}

/* Gives all keys of the table at `from` the values that they have in the one at `copy`, in the
 * table at `table`; false when one had another. */
static bool put_back(lua_State *L, int from, int table, int copy) {
    bool same = true;
    for (lua_pushnil(L); lua_next(L, from); lua_pop(L, 1)) {
        int key = lua_gettop(L) - 1;
        lua_pushvalue(L, key);
        lua_rawget(L, table);
        lua_pushvalue(L, key);
        lua_rawget(L, copy);
        if (!same_values(L)) {
            same = false;
            lua_pushvalue(L, key);
            lua_insert(L, -2);
            lua_rawset(L, table);
        }
        lua_settop(L, key + 1);
    }
    return same;
}

static bool restore_tables(lua_State *L) {
    int top = lua_gettop(L);
    bool same = true;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &tables_key) == LUA_TTABLE)
        for (lua_pushnil(L); lua_next(L, top + 1); lua_pop(L, 1)) {
            int table = lua_gettop(L) - 1, copy = table + 1;
            same = put_back(L, table, table, copy) && same;
            same = put_back(L, copy, table, copy) && same;
        }
    lua_settop(L, top);
    return same;
}

bool sel_trace_restore(lua_State *L, char reason[256]) {
    bool same = true;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &seen_key);
    int seen = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, seen); lua_pop(L, 1)) {
        int function = lua_gettop(L) - 1, kept = function + 1;
        const char *name;
        lua_rawgeti(L, kept, 0);
        bool made_before = lua_toboolean(L, -1);
        lua_settop(L, kept);
        for (int i = 1; made_before && (name = lua_getupvalue(L, function, i)); i++) {
            lua_rawgeti(L, kept, i);
            bool changed = !lua_rawequal(L, -1, -2);
            if (changed && same && !*reason)
                snprintf(reason, 256, "it changes '%.40s', a variable outside of it", name);
            same = same && !changed;
            if (changed)
                lua_setupvalue(L, function, i);
            lua_settop(L, kept);
        }
    }
    lua_settop(L, seen - 1);
    if (restore_tables(L))
        return same;
    if (!*reason)
        snprintf(reason, 256, "it changes a table outside of it");
    return false;
}
