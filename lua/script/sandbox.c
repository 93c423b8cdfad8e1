/* sandbox.c -- the libraries that a script sees.
 *
 * A script sees base, string, table, math, utf8 and coroutine. selenite.lua removes the functions
 * that read files or bytecode, and makes globals strict. __gc is refused, since finalizers run with
 * hooks off and so without limits. With --trust all libraries are open and unguarded.
 *
 * A script may change the tables of these libraries, and through `string` the methods of all
 * strings. Selenite's own Lua code therefore has copies, and calls no methods of strings.
 *
 *      _G of the script <-- __index -- _G of Selenite's Lua code
 *        string, table, ...              copies of string, table, ...; pairs, next (order.lua)
 */
#include "lua/script/state.h"
#include <lualib.h>
#include <stdio.h>
#include <string.h>
#include "order_lua.h"

static const lua_Integer seed = 20240229; /* of math.random */

/* Calls the original function, upvalue 1, with all arguments. */
static int call_original(lua_State *L) {
    int arguments = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, arguments, LUA_MULTRET);
    return lua_gettop(L);
}

/* print, without control characters, which could control the terminal. */
static int guarded_print(lua_State *L) {
    const int count = lua_gettop(L);
    size_t length;
    lua_pushliteral(L, "");
    for (int i = 1; i <= count; i++) {
        luaL_tolstring(L, i, NULL);
        lua_pushstring(L, i < count ? "\t" : "");
        lua_concat(L, 3);
    }
    const char *text = lua_tolstring(L, -1, &length);
    char *plain = memcpy(lua_newuserdatauv(L, length + 1, 0), text, length + 1);
    for (size_t k = 0; k < length; k++)
        plain[k] = plain[k] ? plain[k] : '?';
    sel_plain_text(plain);
    if (!sel_script_of(L)->options.quiet)
        fprintf(sel_script_of(L)->prompt ? stdout : stderr, "%s\n", plain);
    return 0;
}

static int guarded_setmetatable(lua_State *L) {
    if (lua_istable(L, 2)) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_error(L, "a scenario may not use __gc");
        lua_pop(L, 1);
    }
    return call_original(L);
}

static int guarded_rawset(lua_State *L) {
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "this table cannot be changed");
    return call_original(L);
}

/* load(text or function, name, mode, environment): text only, no bytecode. The name is replaced, so
 * that a chunk cannot pose as a file. */
static int guarded_load(lua_State *L) {
    bool has_environment = !lua_isnone(L, 4);
    lua_settop(L, 4);
    lua_pushliteral(L, "=(load)");
    lua_replace(L, 2);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    if (!has_environment)
        lua_settop(L, 3);
    return call_original(L);
}

static int guarded_random(lua_State *L) {
    if (sel_script_of(L)->limits.code != SEL_MAIN_CHUNK)
        return luaL_error(L, "math.random is not allowed in a function that the engine evaluates");
    return call_original(L);
}

/* Requires a seed: Lua's default comes from the clock, and runs would differ. */
static int guarded_randomseed(lua_State *L) {
    luaL_checkany(L, 1);
    return guarded_random(L);
}

void sel_sandbox_guard(lua_State *L, const luaL_Reg *guards) {
    for (; guards->name; guards++) {
        lua_getfield(L, -1, guards->name);
        lua_pushcclosure(L, guards->func, 1);
        lua_setfield(L, -2, guards->name);
    }
}

/* The table of globals is at the top. */
static void open_safe_libraries(lua_State *L) {
    static const luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                         {LUA_STRLIBNAME, luaopen_string},
                                         {LUA_TABLIBNAME, luaopen_table},
                                         {LUA_MATHLIBNAME, luaopen_math},
                                         {LUA_UTF8LIBNAME, luaopen_utf8},
                                         {LUA_COLIBNAME, luaopen_coroutine},
                                         {NULL, NULL}};
    static const luaL_Reg base[] = {{"print", guarded_print},
                                    {"setmetatable", guarded_setmetatable},
                                    {"rawset", guarded_rawset},
                                    {"load", guarded_load},
                                    {NULL, NULL}};
    for (const luaL_Reg *library = libraries; library->name; library++) {
        luaL_requiref(L, library->name, library->func, 1);
        lua_pop(L, 1);
    }
    sel_sandbox_guard(L, base);
}

/* Seeds math.random with a constant, so that runs repeat, and refuses it in functions that the
 * engine evaluates. */
static void guard_random(lua_State *L) {
    static const luaL_Reg randoms[] = {
        {"random", guarded_random}, {"randomseed", guarded_randomseed}, {NULL, NULL}};
    lua_getfield(L, -1, "math");
    sel_sandbox_guard(L, randoms);
    lua_getfield(L, -1, "randomseed");
    lua_pushinteger(L, seed);
    lua_call(L, 1, 0);
    lua_pop(L, 1);
}

/* Its address is the key, in Lua's registry, of the function that lists a table's keys in order. */
static const char keys_key;

/* Replaces pairs and next in the table of globals at the top (order.lua). Pushes those for
 * Selenite's own Lua code, which accept objects as keys. */
static void order_keys(lua_State *L) {
    const int globals = lua_gettop(L);
    lua_pushnil(L);
    sel_sandbox_run(L, order_lua, sizeof order_lua, 5);
    lua_setfield(L, globals, "next");
    lua_setfield(L, globals, "pairs");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &keys_key);
}

void sel_order_keys(lua_State *L, int index) {
    lua_pushvalue(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &keys_key);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
}

/* Its address is the key, in Lua's registry, of the globals of Selenite's own Lua code. */
static const char own_key;

/* Creates the globals of Selenite's own Lua code: copies of the library tables, and the pairs and
 * next at the top, which are popped. */
static void keep_libraries(lua_State *L) {
    static const char *const names[] = {LUA_STRLIBNAME, LUA_TABLIBNAME, LUA_MATHLIBNAME,
                                        LUA_UTF8LIBNAME, LUA_COLIBNAME};
    lua_newtable(L);
    lua_insert(L, -3);
    lua_setfield(L, -3, "next");
    lua_setfield(L, -2, "pairs");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lua_newtable(L);
        lua_getfield(L, -3, names[i]);
        for (lua_pushnil(L); lua_next(L, -2);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -5);
        }
        lua_pop(L, 1);
        lua_setfield(L, -2, names[i]);
    }
    lua_newtable(L);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &own_key);
}

void sel_sandbox_open(lua_State *L) {
    bool trust = sel_script_of(L)->options.trust;
    if (trust)
        luaL_openlibs(L);
    lua_pushglobaltable(L);
    if (!trust)
        open_safe_libraries(L);
    guard_random(L);
    sel_limits_track(L);
    order_keys(L);
    keep_libraries(L);
    lua_pop(L, 1);
}

void sel_sandbox_run(lua_State *L, const unsigned char *text, size_t length, int results) {
    if (luaL_loadbufferx(L, (const char *)text, length, "=selenite", "t") != LUA_OK)
        lua_error(L);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &own_key) == LUA_TTABLE)
        lua_setupvalue(L, -2, 1);
    else
        lua_pop(L, 1);
    lua_insert(L, -2);
    lua_call(L, 1, results);
}
