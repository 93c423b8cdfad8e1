/* library.c -- the C part of selenite.lua, the library that scripts require.
 *
 * A constructor, as law.wall { ... }, returns the table that it was given, with a mark that says
 * what it is and where it was made.
 */
#include <string.h>
#include "lua/tables/tables.h"
#include "selenite_lua.h"

/* Its address is the key, in Lua's registry, of the function closed() of selenite.lua. */
static const char closed_key;

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
    static const char *const kinds[] = {"face",         "faces", "rest",    "union",  "difference",
                                        "intersection", "moved", "rotated", "scaled", NULL};
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

int sel_host_suggestion(lua_State *L) {
    char text[256];
    const char **names = sel_script_names(L, 2);
    lua_pushstring(L, sel_script_suggest(luaL_checkstring(L, 1), names, text));
    return 1;
}

void sel_library_close(lua_State *L, const char *what) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &closed_key);
    lua_pushstring(L, what);
    lua_rotate(L, -3, -1);
    lua_call(L, 2, 1);
}

/* ---- the library ---- */

/* sel.step(x): 1.0 where x >= 0, 0.0 where x < 0, else NaN. */
static int library_step(lua_State *L) {
    const lua_Number x = luaL_checknumber(L, 1);
    lua_pushnumber(L, x >= 0 ? 1 : x < 0 ? 0 : x);
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
    sel_marks_open(L);
    lua_setfield(L, -2, "shape_operators");
    sel_data_open(L);
    sel_rule_open(L);
    sel_read_library(L, "step");
    sel_params_push(L);
    lua_setfield(L, -2, "params");
    push_constructors(L);
    lua_setfield(L, -2, "groups");
    lua_pushglobaltable(L);
    lua_setfield(L, -2, "globals");
    lua_pushboolean(L, sel_script_of(L)->options.trust);
    lua_setfield(L, -2, "trust");
}

void sel_library_push(lua_State *L) {
    sel_hook_open(L);
    library_push_host(L);
    sel_sandbox_run(L, selenite_lua, sizeof selenite_lua, 3);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &closed_key);
}
