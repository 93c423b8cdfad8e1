/* trace_watch.c -- what a function under trace may call and change.
 *
 * A hook looks at every function that is called. C functions must be on a list; the text of Lua
 * functions is scanned (trace_scan.c); and what is outside of a function must not change
 * (trace_keep.lua).
 */
#include <lualib.h>
#include <stdio.h>
#include <string.h>
#include "lua/trace.h"
#include "trace_keep_lua.h"

enum {
    INSTRUCTIONS_PER_COUNT = 1000,
    MAX_COUNTS = 2000 /* of those, in one call */
};

/* Addresses are keys in Lua's registry: the C functions allowed, and what trace_keep.lua returned.
 */
static const char allowed_key, keep_key;

void sel_trace_allow(lua_State *L, int index) {
    index = lua_absindex(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &allowed_key);
    lua_pushvalue(L, index);
    lua_pushboolean(L, true);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

static void allow_field(lua_State *L, const char *name) {
    lua_getfield(L, -1, name);
    sel_trace_allow(L, -1);
    lua_pop(L, 1);
}

static int host_number(lua_State *L) {
    lua_pushinteger(L, (lua_Integer)sel_limits_number(L, 1));
    return 1;
}

static void open_keep(lua_State *L) {
    luaopen_debug(L);
    lua_pushcfunction(L, host_number);
    lua_setfield(L, -2, "number");
    sel_sandbox_run(L, trace_keep_lua, sizeof trace_keep_lua, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &keep_key);
}

/* Calls a function of trace_keep.lua with the value at the top, and pushes its result. */
static void call_keep(lua_State *L, const char *name) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &keep_key);
    lua_getfield(L, -1, name);
    lua_replace(L, -2);
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
}

void sel_trace_begin(lua_State *L) {
    call_keep(L, "begin");
    lua_pop(L, 1);
}

bool sel_trace_restore(lua_State *L, char reason[256]) {
    call_keep(L, "restore");
    const char *changed = lua_tostring(L, -1);
    if (changed && !*reason)
        snprintf(reason, 256, "%s", changed);
    lua_pop(L, 1);
    return !changed;
}

void sel_trace_open_watch(lua_State *L) {
    static const char *const base[] = {"ipairs", "error", "assert", NULL};
    open_keep(L);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &allowed_key);
    for (const char *const *name = base; *name; name++)
        allow_field(L, *name);
    /* The iterator of ipairs has no name. */
    lua_getfield(L, -1, "ipairs");
    lua_newtable(L);
    lua_call(L, 1, 1);
    sel_trace_allow(L, -1);
    lua_pop(L, 1);
}

/* The function at the top is called. */
static void look_at_lua_function(lua_State *L, const lua_Debug *info) {
    sel_script *script = sel_script_of(L);
    char reason[256];
    bool stores;
    call_keep(L, "upvalues");
    bool known = !lua_toboolean(L, -1) || strcmp(info->source, "=selenite") == 0;
    lua_pop(L, 1);
    if (known) /* from before, or of the library, which is made for it */
        return;
    sel_source *source = script->sources;
    while (source && (info->source[0] != '@' || strcmp(source->name, info->source + 1) != 0))
        source = source->next;
    if (!source)
        sel_trace_fail(L, "it calls a function whose text is not known");
    if (sel_trace_scan(script->arena, source, info->linedefined, info->lastlinedefined, &stores,
                       reason))
        sel_trace_fail(L, "%s", reason);
    if (stores) {
        call_keep(L, "tables");
        if (!lua_isnil(L, -1))
            sel_trace_fail(L, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
}

static void look_at_c_function(lua_State *L, lua_Debug *info) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &allowed_key);
    lua_pushvalue(L, -2);
    bool allowed = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 2);
    if (!allowed) {
        lua_getinfo(L, "n", info);
        sel_trace_fail(L, "it calls %s, which symbols cannot pass through",
                       info->name ? info->name : "a library function");
    }
    lua_CFunction function = lua_tocfunction(L, -1);
    lua_getglobal(L, "error");
    lua_getglobal(L, "assert");
    sel_trace_watch_of(L)->raised =
        function == lua_tocfunction(L, -1) || function == lua_tocfunction(L, -2);
    lua_pop(L, 2);
}

static void on_event(lua_State *L, lua_Debug *event) {
    if (event->event == LUA_HOOKCOUNT) {
        if (++sel_trace_watch_of(L)->counts > MAX_COUNTS)
            sel_trace_fail(L, "one call takes more than %d instructions",
                           MAX_COUNTS * INSTRUCTIONS_PER_COUNT);
        if (sel_limits_passed(sel_script_of(L)))
            sel_trace_fail(L, "tracing it takes too long");
        return;
    }
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    lua_getinfo(L, "fS", event);
    if (*event->what == 'C')
        look_at_c_function(L, event);
    else
        look_at_lua_function(L, event);
    lua_pop(L, 1);
}

void sel_trace_watch_begin(lua_State *L, sel_trace_watch *watch) {
    *watch = (sel_trace_watch){0};
    lua_sethook(L, on_event, LUA_MASKCALL | LUA_MASKCOUNT, INSTRUCTIONS_PER_COUNT);
}
