/* params.c -- the C part of params.lua: sel.params, and the parameters for --help and run.json. */
#include "lua/tables/tables.h"
#include "params_lua.h"

/* A call of sel.params. */
typedef struct declarer {
    sel_script *script;
    sel_chunk *chunk;
    sel_where where;      /* of the call */
    sel_named_span *list; /* the parameters, in the order of the text */
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

/* A copy of the string field `name` of the table at the top. `plain`: control characters, which
 * could control a terminal, are replaced. */
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

void sel_params_push(lua_State *L) {
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
