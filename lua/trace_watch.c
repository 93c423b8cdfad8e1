/* trace_watch.c -- what a function under trace may call and change.
 *
 * A hook looks at every function that is called. C functions must be on a list; the text of Lua
 * functions is scanned (trace_scan.c); and what is outside of a function must not change
 * (trace_keep.c).
 */
#include <string.h>
#include "lua/trace.h"

enum {
    INSTRUCTIONS_PER_COUNT = 1000,
    MAX_COUNTS = 2000 /* of those, in one call */
};

/* Its address is the key of the C functions allowed in Lua's registry. */
static const char allowed_key;

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

void sel_trace_open_watch(lua_State *L) {
    static const char *const base[] = {"ipairs", "error", "assert", NULL};
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

static void scan_function(lua_State *L, const lua_Debug *info) {
    sel_script *script = sel_script_of(L);
    if (strcmp(info->source, "=selenite") == 0)
        return; /* the library's own are made for it */
    for (sel_source *s = script->sources; s; s = s->next) {
        if (info->source[0] != '@' || strcmp(s->name, info->source + 1) != 0)
            continue;
        char reason[256];
        bool stores;
        if (sel_trace_scan(script->arena, s, info->linedefined, info->lastlinedefined, &stores,
                           reason))
            sel_trace_fail(L, "%s", reason);
        if (stores)
            sel_trace_keep_tables(L);
        return;
    }
    sel_trace_fail(L, "it calls a function whose text is not known");
}

/* The function at the top is called for the first time in this trace. */
static void look_at_lua_function(lua_State *L, const lua_Debug *info) {
    if (!sel_trace_keep_upvalues(L))
        return;
    scan_function(L, info);
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
