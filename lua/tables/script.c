/* script.c -- run a scenario, with its modules (require) and the scenarios that it loads
 * (sel.load), and fill C structs from its result, in one protected call.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "lua/tables/tables.h"

enum { MAX_DEPTH = 16 };
static const double default_seconds = 10;

/* Its address is the key, in Lua's registry, of the table of required modules by name. */
static const char modules_key;

/* Pushes the compiled text. */
static void script_compile(lua_State *L, sel_source *source) {
    if (source->length > 0 && source->text[0] == LUA_SIGNATURE[0]) {
        sel_fail(sel_script_of(L)->error, SEL_BAD_SCENARIO,
                 "%s: is a compiled chunk; a scenario is a text file", source->name);
        sel_limits_break(L);
    }
    if (!sel_source_compile(L, source))
        lua_error(L);
}

/* Runs the main chunk at `path` ("-": standard input) and pushes its result. Raises an error for
 * mistakes; a file that cannot be read ends the script with SEL_BAD_FILE. */
static void run_chunk(lua_State *L, const char *path, sel_chunk *chunk) {
    sel_script *script = sel_script_of(L);
    sel_source *source = sel_script_read_source(L, path, chunk->loaded_at, "sel.load");
    if (!script->chunk) { /* the scenario: its time begins after it is read, which may be typed */
        sel_limits_begin(script, script->seconds);
        sel_limits_start(script, SEL_MAIN_CHUNK);
    }
    script_compile(L, source);
    source->loaded_at = chunk->loaded_at;
    chunk->directory = source->directory;
    chunk->above = script->chunk;
    chunk->depth = chunk->above ? chunk->above->depth + 1 : 0;
    script->chunk = chunk;
    int status = lua_pcall(L, 0, 1, 0);
    script->chunk = chunk->above;
    if (status != LUA_OK)
        lua_error(L);
}

static bool is_plain_name(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return *name && name[strspn(name, allowed)] == '\0' && strlen(name) < 200;
}

/* Pushes the value of the module `name`, a file in the scenario's directory. */
static void run_module(lua_State *L, const char *name) {
    bool plain = is_plain_name(name);
    const char *path =
        lua_pushfstring(L, "%s%s.lua", sel_script_of(L)->main->directory, plain ? name : "");
    if (!plain || access(path, R_OK) != 0) {
        if (!lua_isnil(L, lua_upvalueindex(1))) {
            lua_pushvalue(L, lua_upvalueindex(1));
            lua_pushstring(L, name);
            lua_call(L, 1, 1);
            return;
        }
        luaL_error(L,
                   "module '%s' not found: require takes \"selenite\" and the names of .lua files "
                   "beside the scenario",
                   name);
    }
    script_compile(L, sel_script_read_source(L, path, sel_script_place(L, NULL), "require"));
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, true);
    }
}

/* require(name). Upvalue 1: with --trust Lua's require, else nil. */
static int require(lua_State *L) {
    const char *name = sel_script_path(L, 1, "require: the name");
    lua_settop(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
    int type = lua_getfield(L, 2, name);
    if (type == LUA_TLIGHTUSERDATA)
        return luaL_error(L, "module '%s' requires itself", name);
    if (type != LUA_TNIL)
        return 1;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&modules_key);
    lua_setfield(L, 2, name);
    run_module(L, name);
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}

/* Adds `require` to the table of globals at the top. */
static void open_require(lua_State *L) {
    lua_newtable(L);
    sel_library_push(L);
    lua_setfield(L, -2, "selenite");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
    sel_script_field(L, -1, "require");
    lua_pushcclosure(L, require, 1);
    lua_setfield(L, -2, "require");
}

int sel_module_load(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_source *caller;
    const char *path = sel_script_path(L, 1, "sel.load: the path");
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (!script->chunk)
        return luaL_error(L, "sel.load may only be called while the scenario is read");
    if (script->chunk->depth >= MAX_DEPTH)
        return luaL_error(L, "sel.load: scenarios load each other more than %d deep", MAX_DEPTH);
    sel_where place = sel_script_place(L, &caller);
    if (path[0] != '/' && !sel_params_is_path(L, 1))
        path = lua_pushfstring(L, "%s%s", caller ? caller->directory : "", path);
    sel_chunk *chunk = lua_newuserdatauv(L, sizeof *chunk, 0);
    *chunk = (sel_chunk){.values = LUA_NOREF, .loaded_at = place};
    if (lua_istable(L, 2)) {
        lua_pushvalue(L, 2);
        chunk->values = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    run_chunk(L, path, chunk);
    if (!lua_istable(L, -1))
        return luaL_error(L, "sel.load: %s returned no simulation but a %s", path,
                          luaL_typename(L, -1));
    luaL_unref(L, LUA_REGISTRYINDEX, chunk->values);
    if (chunk->values != LUA_NOREF && !chunk->declared)
        return luaL_error(L, "sel.load: %s declares no parameters with sel.params", path);
    return 1;
}

/* ---- loading a scenario ---- */

/* Opens the sandbox, the reader of functions, and the scenario library. */
static void open_libraries(lua_State *L) {
    sel_sandbox_open(L);
    lua_pushglobaltable(L);
    sel_read_open(L);
    open_require(L);
    lua_pop(L, 1);
}

/* Runs the script and fills the structs, in a protected call. Argument: the path. */
static int script_run_and_fill(lua_State *L) {
    const char *path = lua_touserdata(L, 1);
    sel_script *script = sel_script_of(L);
    const sel_script_options *options = &script->options;
    sel_chunk chunk = {.values = LUA_NOREF};
    open_libraries(L);
    run_chunk(L, path, &chunk);
    sel_limits_raise(L, (sel_where){path, 1});
    if (script->options.parameters_only)
        return 0;
    if (script->prompt) {
        sel_chunk lines = {.values = LUA_NOREF, .directory = "", .above = &chunk, .depth = 1};
        script->chunk = &lines;
        script->at_prompt = true;
        script->prompt(L);
        script->chunk = NULL;
        return 0;
    }
    if (options->assignments && options->assignments[0] && !chunk.declared)
        sel_fail(script->error, SEL_BAD_USAGE,
                 "%s declares no parameters with sel.params; it cannot take '%s'", path,
                 options->assignments[0]);
    sel_fill_scenario(script, path);
    return 0;
}

static void script_release(sel_scenario *scenario) {
    sel_limits_close(scenario->release_data);
}

static sel_scenario *script_create(const sel_script_options *options, sel_error *error) {
    sel_arena *arena = sel_arena_create();
    sel_scenario *scenario = arena ? sel_arena_alloc(arena, sizeof *scenario) : NULL;
    sel_script *script = scenario ? sel_arena_alloc(arena, sizeof *script) : NULL;
    if (!script) {
        sel_arena_destroy(arena);
        sel_fail_memory(error, "the script", sizeof *script);
        return NULL;
    }
    *script = (sel_script){.arena = arena,
                           .error = error,
                           .thread = pthread_self(),
                           .seconds = options->seconds > 0 ? options->seconds : default_seconds,
                           .deadline = INT64_MAX,
                           .left = -1,
                           .options = *options,
                           .functions_end = &script->functions,
                           .rules_end = &script->rules,
                           .series_end = &script->series,
                           .rasters_end = &script->rasters,
                           .scenario = scenario};
    *scenario = (sel_scenario){.arena = arena, .release = script_release, .release_data = script};
    return scenario;
}

sel_status sel_script_run(const char *path, const sel_script_options *options,
                          void (*prompt)(lua_State *L), sel_scenario **scenario, sel_error *error) {
    *scenario = script_create(options, error);
    if (!*scenario)
        return SEL_NO_DEVICE;
    sel_script *script = (*scenario)->release_data;
    script->prompt = prompt;
    script->L = sel_limits_open(script);
    if (!script->L) {
        sel_fail_memory(error, "the script", sizeof(void *));
    } else {
        script->arena->limit = script->options.trust ? SIZE_MAX : script->memory;
        lua_pushcfunction(script->L, script_run_and_fill);
        lua_pushlightuserdata(script->L, (void *)(uintptr_t)path);
        int called = lua_pcall(script->L, 1, 0, 0);
        sel_limits_stop(script);
        if (called != LUA_OK)
            sel_limits_report(script, (sel_where){path, 0}, "");
        double left = sel_limits_end(script);
        if (script->options.one_clock)
            script->left = fmax(0, left);
    }
    script->arena->limit = SIZE_MAX;
    script->error = NULL;
    if (error->status == SEL_OK && !prompt)
        sel_fill_fields(script, error);
    if (error->status == SEL_OK)
        return SEL_OK;
    sel_scenario_destroy(*scenario);
    *scenario = NULL;
    return error->status;
}

sel_status sel_script_load(const char *path, const sel_script_options *options,
                           sel_scenario **scenario, sel_error *error) {
    return sel_script_run(path, options, NULL, scenario, error);
}
