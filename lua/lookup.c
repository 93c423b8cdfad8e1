/* lookup.c -- series, rasters and noise called by functions: s(t), r(x, y), sel.noise(...).
 *
 * A look-up is a userdata that cannot be changed. Called with numbers it gives a number; with
 * symbols the call is recorded in the function's program.
 */
#include "engine/quantity.h"
#include "geometry/raster.h"
#include "lua/data.h"
#include <string.h>
#include "lua/trace.h"

static const char *const type_names[] = {[SEL_LOOKUP_SERIES] = "sel.series",
                                         [SEL_LOOKUP_RASTER] = "sel.raster",
                                         [SEL_LOOKUP_NOISE] = "sel.noise"};
static const char *const call_texts[] = {[SEL_LOOKUP_SERIES] = "s(t)",
                                         [SEL_LOOKUP_RASTER] = "r(x, y)",
                                         [SEL_LOOKUP_NOISE] = "sel.noise(seed, x, y, z)"};

const char sel_script_gap = 0;

/* Pushes the value for the arguments on the stack from `first` on. */
static int look_up(lua_State *L, const sel_lookup *lookup, int first) {
    double values[4], out;
    const double *arguments[4];
    bool symbol = false;
    char found[80];
    for (int i = 0; i < lookup->arguments; i++) {
        symbol = symbol || sel_trace_is_symbol(L, first + i);
        if (lua_type(L, first + i) != LUA_TNUMBER && !sel_trace_is_symbol(L, first + i))
            return luaL_error(L, "%s takes numbers: %s, got %s as argument %d",
                              type_names[lookup->kind], call_texts[lookup->kind],
                              sel_script_value_text(L, first + i, found), i + 1);
        values[i] = lua_tonumber(L, first + i);
        arguments[i] = &values[i];
    }
    if (symbol)
        return sel_trace_lookup(L, lookup, first, lookup->arguments);
    if (sel_script_of(L)->finds_gaps && sel_lookup_has_gap(lookup, values[0], values[1])) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&sel_script_gap);
        return lua_error(L);
    }
    sel_error *error = lua_newuserdatauv(L, sizeof *error, 0);
    *error = (sel_error){.status = SEL_OK};
    if (lookup->at(lookup, 1, arguments, &out, error)) {
        sel_trace_expect_error(L);
        return luaL_error(L, "%s", error->text);
    }
    lua_pushnumber(L, out);
    return 1;
}

const sel_lookup *sel_lookup_at(lua_State *L, int index) {
    for (int kind = SEL_LOOKUP_SERIES; kind <= SEL_LOOKUP_RASTER; kind++) {
        const sel_lookup **lookup = luaL_testudata(L, index, type_names[kind]);
        if (lookup)
            return *lookup;
    }
    return NULL;
}

/* __call */
static int call(lua_State *L) {
    const sel_lookup *lookup = sel_lookup_at(L, 1);
    if (!lookup)
        return luaL_error(L, "a series or a raster is needed");
    if (lua_gettop(L) - 1 != lookup->arguments)
        return luaL_error(L, "%s takes %d argument%s: %s, got %d", type_names[lookup->kind],
                          lookup->arguments, lookup->arguments == 1 ? "" : "s",
                          call_texts[lookup->kind], lua_gettop(L) - 1);
    return look_up(L, lookup, 2);
}

int sel_lookup_noise(lua_State *L) {
    if (lua_gettop(L) < 2 || lua_gettop(L) > 4)
        return luaL_error(L, "sel.noise takes 2 to 4 arguments: sel.noise(seed, x, y, z), got %d",
                          lua_gettop(L));
    while (lua_gettop(L) < sel_noise_lookup.arguments)
        lua_pushnumber(L, 0);
    return look_up(L, &sel_noise_lookup, 1);
}

static int push_pair(lua_State *L, double first, double second, bool whole) {
    double pair[] = {first, second};
    lua_createtable(L, 2, 0);
    for (int i = 0; i < 2; i++) {
        if (whole)
            lua_pushinteger(L, (lua_Integer)pair[i]);
        else
            lua_pushnumber(L, pair[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* __index: the fields of a raster; a series has none. */
static int read_field(lua_State *L) {
    static const char *const raster_names[] = {"dx", "origin", "size", NULL};
    static const char *const no_names[] = {NULL};
    char text[256];
    const sel_lookup *lookup = sel_lookup_at(L, 1);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    if (!lookup)
        return luaL_error(L, "a series or a raster is needed");
    bool is_raster = lookup->kind == SEL_LOOKUP_RASTER;
    if (is_raster) {
        const sel_raster *raster = lookup->data;
        if (strcmp(name, "size") == 0)
            return push_pair(L, (double)raster->n[0], (double)raster->n[1], true);
        if (strcmp(name, "origin") == 0)
            return push_pair(L, raster->origin[0], raster->origin[1], false);
        if (strcmp(name, "dx") == 0)
            return lua_pushnumber(L, raster->dx), 1;
    }
    sel_script_suggest(name, is_raster ? raster_names : no_names, text);
    return luaL_error(L, "%s has no field%s%s", type_names[lookup->kind], text,
                      is_raster ? "" : "; it is called: s(t)");
}

static int write_field(lua_State *L) {
    const sel_lookup *lookup = sel_lookup_at(L, 1);
    return luaL_error(L, "%s cannot be changed", lookup ? type_names[lookup->kind] : "it");
}

static void make_metatable(lua_State *L, const char *name) {
    luaL_newmetatable(L, name);
    lua_pushcfunction(L, call);
    sel_trace_allow(L, -1);
    lua_setfield(L, -2, "__call");
    lua_pushcfunction(L, read_field);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, write_field);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void sel_lookup_open(lua_State *L) {
    make_metatable(L, type_names[SEL_LOOKUP_SERIES]);
    make_metatable(L, type_names[SEL_LOOKUP_RASTER]);
    lua_pushcfunction(L, sel_lookup_noise);
    sel_trace_allow(L, -1);
    lua_pop(L, 1);
}

void sel_lookup_push(lua_State *L, const sel_lookup *lookup) {
    const sel_lookup **to = lua_newuserdatauv(L, sizeof *to, 0);
    *to = lookup;
    luaL_setmetatable(L, type_names[lookup->kind]);
}
