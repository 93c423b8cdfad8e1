/* trace_watch.c -- what a function under trace may call, change and compare.
 *
 * A hook looks at every function that is called. C functions must be on a list; what is outside of
 * a function must not change (trace_keep.lua); and the text of Lua functions is scanned:
 *
 * Lua compares values of different types with == without a metamethod, and a table indexed by a
 * symbol gives nil. Neither can be noticed while the function runs, so the text decides:
 *  - == and ~= are refused, but for a right side that is a string, nil, true or false: those are
 *    as different from a number as from a symbol;
 *  - an index must be made of literals and names that cannot be symbols: the counters of for loops,
 *    and variables from outside that the text gives no value.
 * Other code on the same lines is scanned with it; at worst a function is evaluated by Lua that
 * could have been a program.
 */
#include <ctype.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>
#include "lua/state.h"
#include "trace_keep_lua.h"

enum {
    INSTRUCTIONS_PER_COUNT = 1000,
    MAX_COUNTS = 2000 /* of those, in one call */
};

/* Addresses are keys in Lua's registry: the C functions allowed, what trace_keep.lua returned. */
static const char allowed_key, keep_key;

void sel_trace_allow(lua_State *L, const char *name) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &allowed_key);
    if (name)
        lua_getfield(L, -2, name);
    else
        lua_pushvalue(L, -2);
    lua_pushboolean(L, true);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

static void open_keep(lua_State *L) {
    luaopen_debug(L);
    lua_pushcfunction(L, sel_host_number);
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
        sel_trace_allow(L, *name);
    /* The iterator of ipairs has no name. */
    lua_getfield(L, -1, "ipairs");
    lua_newtable(L);
    lua_call(L, 1, 1);
    sel_trace_allow(L, NULL);
    lua_pop(L, 1);
}

/* ---- the text ---- */

typedef struct text {
    const sel_source *source;
    int first, end; /* tokens */
} text;

static bool is(const text *t, int at, const char *word) {
    return at >= t->first && at < t->end && sel_token_is(t->source, at, word);
}

static bool is_name(const text *t, int at) {
    return at >= t->first && at < t->end && t->source->tokens[at].kind == SEL_TOKEN_NAME;
}

static bool same(const text *t, int a, int b) {
    const sel_token *first = &t->source->tokens[a], *second = &t->source->tokens[b];
    return first->length == second->length &&
           memcmp(t->source->text + first->start, t->source->text + second->start, first->length) ==
               0;
}

static bool is_number(const text *t, int at) {
    return at < t->end && isdigit((unsigned char)t->source->text[t->source->tokens[at].start]);
}

static bool is_string(const text *t, int at) {
    return at < t->end && t->source->tokens[at].kind == SEL_TOKEN_STRING;
}

/* Behind the name at `at`, and its attribute: `name`, `name <const>`. */
static int behind_name(const text *t, int at) {
    bool attribute = is(t, at + 1, "<") && is_name(t, at + 2) && is(t, at + 3, ">");
    return at + (attribute ? 4 : 1);
}

/* Is the name at `at` among the names `name, name <const>, ...` that start at `list`? */
static bool in_list(const text *t, int list, int at) {
    while (is_name(t, list)) {
        if (same(t, list, at))
            return true;
        list = behind_name(t, list);
        if (!is(t, list, ","))
            return false;
        list++;
    }
    return false;
}

/* A parameter list `( name, name )` behind `function` and perhaps a name. */
static bool is_parameter(const text *t, int function, int at) {
    int list = function + 1;
    while (list < t->end && !is(t, list, "("))
        list++;
    return in_list(t, list + 1, at);
}

/* Whether the variable in front of `at` is assigned to: an = follows, or `, b.c, d[i] =`. A `[key]
 * =` in a constructor counts as well. */
static bool is_assigned(const text *t, int at) {
    while (is(t, at, ",") && is_name(t, at + 1)) {
        at += 2;
        while (is(t, at, ".") || is(t, at, ":") || is(t, at, "[") || is(t, at, "("))
            at = is(t, at, "[") || is(t, at, "(") ? sel_source_behind(t->source, at) : at + 2;
    }
    return is(t, at, "=");
}

/* Does the token `i` give the name at `at` a value that is no loop's? */
static bool gives_value(const text *t, int i, int at) {
    if (is(t, i, "local"))
        return in_list(t, i + 1, at);
    if (is(t, i, "function"))
        return is_parameter(t, i, at);
    return same(t, i, at) && !is(t, i - 1, ".") && !is(t, i - 1, "for") && is_assigned(t, i + 1);
}

/* Is the token `i` the end of a field of a table, a.b or a[i], that is given a value? */
static bool gives_field(const text *t, int i) {
    if (is(t, i, "function"))
        return is_name(t, i + 1) && !is(t, i + 2, "(");
    return (is(t, i, "]") || is(t, i - 1, ".")) && is_assigned(t, i + 1);
}

/* The first variable of `for NAME = ...` and of `for NAME, ... in ipairs(...)` is never a symbol;
 * the others, and those of other iterators, may be. */
static bool for_gives_symbol(const text *t, int i, int at) {
    int end = i + 1;
    if (!is(t, i, "for") || !in_list(t, i + 1, at))
        return false;
    while (is_name(t, end) && is(t, end + 1, ","))
        end += 2;
    bool counts = is(t, end + 1, "=") || is(t, end + 2, "ipairs") || is(t, end + 2, "pairs");
    return !counts || !same(t, i + 1, at);
}

/* True when nothing in the text can make the name at `at` a symbol: a loop variable, or a variable
 * from outside, which may not change. */
static bool is_plain_name(const text *t, int at) {
    for (int i = t->first; i < t->end; i++)
        if (gives_value(t, i, at) || for_gives_symbol(t, i, at))
            return false;
    return is_name(t, at);
}

/* An index `[...]` that opens at `at`: made of literals and names that are no symbols. */
static bool is_plain_index(const text *t, int at) {
    static const char *const operators[] = {"+", "-", "*", "#", NULL};
    for (at++; at < t->end && !is(t, at, "]"); at++)
        if (!is_number(t, at) && !is_string(t, at) && !is_plain_name(t, at) &&
            !sel_token_is_any(t->source, at, operators))
            return false;
    return true;
}

static bool harmless_right_side(const text *t, int at) {
    return is_string(t, at) || is(t, at, "nil") || is(t, at, "true") || is(t, at, "false");
}

/* Ends the trace where the text of a function on lines `first` to `last` cannot be followed;
 * whether it may give fields of tables values. */
static bool scan(lua_State *L, sel_source *source, int first, int last) {
    bool stores = false;
    if (!sel_source_read(sel_script_of(L)->arena, source))
        sel_trace_fail(L, "there is not enough memory to read its text");
    text t = {source, 0, source->token_count};
    while (t.first < t.end && source->tokens[t.first].line < first)
        t.first++;
    while (t.end > t.first && source->tokens[t.end - 1].line > last)
        t.end--;
    for (int at = t.first; at < t.end; at++) {
        int line = source->tokens[at].line;
        stores = stores || gives_field(&t, at);
        if ((is(&t, at, "==") || is(&t, at, "~=")) && !harmless_right_side(&t, at + 1))
            sel_trace_fail(L,
                           "it compares with %s on line %d, which tracing cannot follow; use < or "
                           "<=, or compare outside of the function",
                           is(&t, at, "==") ? "==" : "~=", line);
        if (is(&t, at, "[") && !is_plain_index(&t, at))
            sel_trace_fail(L,
                           "it indexes a table on line %d by what may depend on its arguments, "
                           "which tracing cannot follow",
                           line);
    }
    return stores;
}

/* ---- the hook ---- */

/* The library's functions are made for symbols, and keep nothing of their arguments. */
static bool is_library(const lua_Debug *info) {
    return strcmp(info->source, "=selenite") == 0;
}

/* The function at the top is called. */
static void look_at_lua_function(lua_State *L, const lua_Debug *info) {
    if (is_library(info))
        return;
    call_keep(L, "upvalues");
    bool known = !lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (known)
        return;
    sel_source *source = sel_script_source(sel_script_of(L), info->source);
    if (!source)
        sel_trace_fail(L, "it calls a function whose text is not known");
    if (scan(L, source, info->linedefined, info->lastlinedefined)) {
        call_keep(L, "tables");
        if (!lua_isnil(L, -1))
            sel_trace_fail(L, "%s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
}

static void look_at_c_function(lua_State *L, lua_Debug *info) {
    lua_Debug caller;
    bool allowed =
        lua_getstack(L, 1, &caller) && lua_getinfo(L, "S", &caller) && is_library(&caller);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &allowed_key);
    lua_pushvalue(L, -2);
    allowed = lua_rawget(L, -2) != LUA_TNIL || allowed;
    lua_pop(L, 2);
    if (!allowed) {
        lua_getinfo(L, "n", info);
        sel_trace_fail(L, "it calls %s, which tracing cannot follow",
                       info->name ? info->name : "a library function");
    }
    lua_CFunction function = lua_tocfunction(L, -1);
    lua_getglobal(L, "error");
    lua_getglobal(L, "assert");
    sel_script_of(L)->raised =
        function == lua_tocfunction(L, -1) || function == lua_tocfunction(L, -2);
    lua_pop(L, 2);
}

static void on_event(lua_State *L, lua_Debug *event) {
    if (event->event == LUA_HOOKCOUNT) {
        if (++sel_script_of(L)->counts > MAX_COUNTS)
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

void sel_trace_watch(lua_State *L) {
    sel_script_of(L)->counts = 0;
    sel_script_of(L)->raised = false;
    lua_sethook(L, on_event, LUA_MASKCALL | LUA_MASKCOUNT, INSTRUCTIONS_PER_COUNT);
}
