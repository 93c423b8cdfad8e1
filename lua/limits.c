/* limits.c -- how much memory and time a script may take, and no way around it.
 *
 * Lua's hook counts instructions; every hundred of them the clock is looked at. Memory goes through
 * an allocator that counts bytes; it looks at the clock too when much is asked for, since copying
 * long strings takes time but few instructions. A limit that is hit sets `broken`: from then on the
 * hook raises at every instruction, and pcall, xpcall and coroutine.resume pass the error on
 * instead of catching it. Two corners make their own versions of these functions necessary:
 *  - a message handler of xpcall runs inside the hook that raised, where Lua calls no hooks;
 *  - a coroutine that a hook ended keeps its hooks off, so closing it would run its to-be-closed
 *    variables without any limit.
 */
#include "lua/state.h"
#include <stdlib.h>
#include <string.h>
#include "engine/machine.h"

enum { INSTRUCTIONS_PER_TICK = 100, LARGE_REQUEST = 1 << 16 };
/* A script that fills its memory with live data would collect garbage for every few bytes: it is
 * given up when that happens so many times in a row with less than so many bytes between. */
enum { MAX_CRAMPED = 4, ROOM_TO_WORK = 1 << 20 };
static const double call_seconds = 10;
static const int64_t call_instructions = 100000000;
static const size_t memory_limit = (size_t)512 << 20;

static bool time_is_up(sel_limits *limits) {
    double t = sel_machine_seconds();
    if (limits->deadline == 0)
        limits->deadline = t + limits->seconds;
    return t > limits->deadline;
}

/* The line that a thread is at. Only reads Lua's call information, so that the allocator may
 * call it. */
static sel_where running_place(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++)
        if (lua_getinfo(L, "Sl", &frame) && frame.currentline > 0 && frame.source[0] == '@')
            return (sel_where){frame.source + 1, frame.currentline};
    return (sel_where){NULL, 0};
}

static bool may_grow(sel_script *script, size_t bytes) {
    if (script->trust || !script->limits.running)
        return true;
    bool full = script->used + bytes > script->memory || script->cramped > MAX_CRAMPED;
    bool late = !full && bytes >= LARGE_REQUEST && time_is_up(&script->limits);
    script->grown += bytes;
    if (!full && !late)
        return true;
    /* Lua collects garbage and asks again. */
    script->cramped = full && script->grown < ROOM_TO_WORK ? script->cramped + 1 : 0;
    script->grown = 0;
    script->late = late;
    script->refused = running_place(script->active);
    return false;
}

static void *limited_alloc(void *data, void *block, size_t old_size, size_t size) {
    sel_script *script = data;
    if (!block)
        old_size = 0; /* Lua passes a type's code here */
    if (size == 0) {
        free(block);
        script->used -= old_size;
        return NULL;
    }
    if (size > old_size && !may_grow(script, size - old_size))
        return NULL;
    void *moved = realloc(block, size);
    if (moved)
        script->used += size - old_size;
    return moved;
}

int sel_limits_break(lua_State *L) {
    sel_script_of(L)->broken = true;
    lua_pushliteral(L, "the script was ended");
    return lua_error(L);
}

static const char time_text[] = "the script took longer than %g s; --script-limit SECONDS allows "
                                "more, --trust lifts all limits";
static const char function_text[] = "a function took longer than %g s or %lld instructions for "
                                    "one value; --trust lifts all limits";
static const char hook_text[] = "a hook took longer than %g s or %lld instructions of its own; "
                                "--trust lifts all limits";
static const char memory_text[] = "the script needs more than %zu MiB of memory; --trust lifts all "
                                  "limits";

static void fail_time(sel_script *script, sel_where where) {
    const sel_limits *limits = &script->limits;
    if (limits->code == SEL_MAIN_CHUNK)
        sel_fail_at(script->error, where, time_text, limits->seconds);
    else
        sel_fail_at(script->error, where, limits->code == SEL_HOOK ? hook_text : function_text,
                    limits->seconds, (long long)call_instructions);
}

static void look(lua_State *L) {
    sel_script *script = sel_script_of(L);
    if (script->broken)
        sel_limits_break(L);
    const sel_limits *limits = &script->limits;
    if (!limits->running)
        return;
    bool worn_out = limits->max_ticks && limits->ticks > limits->max_ticks;
    if (!worn_out && !time_is_up(&script->limits))
        return;
    fail_time(script, running_place(L));
    sel_limits_break(L);
}

static void on_count(lua_State *L, lua_Debug *event) {
    (void)event;
    sel_script *script = sel_script_of(L);
    script->limits.ticks++;
    if (script->broken)
        lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
    look(L);
}

void sel_limits_look(lua_State *L) {
    if (!sel_script_of(L)->trust)
        look(L);
}

lua_State *sel_limits_open(sel_script *script) {
    script->memory = memory_limit;
    lua_State *L = lua_newstate(limited_alloc, script);
    if (!L)
        return NULL;
    *(sel_script **)lua_getextraspace(L) = script;
    script->active = L;
    if (!script->trust)
        lua_sethook(L, on_count, LUA_MASKCOUNT, INSTRUCTIONS_PER_TICK);
    return L;
}

void sel_limits_start_chunk(sel_script *script, double seconds) {
    script->limits = (sel_limits){.code = SEL_MAIN_CHUNK,
                                  .running = true,
                                  .seconds = seconds,
                                  .deadline = sel_machine_seconds() + seconds};
}

void sel_limits_start_call(sel_script *script, sel_user_code code) {
    script->limits = (sel_limits){.code = code,
                                  .running = true,
                                  .seconds = call_seconds,
                                  .max_ticks = call_instructions / INSTRUCTIONS_PER_TICK};
}

void sel_limits_stop(sel_script *script) {
    script->limits.running = false;
}

void sel_limits_excuse(lua_State *L, double since) {
    sel_limits *limits = &sel_script_of(L)->limits;
    if (limits->deadline != 0)
        limits->deadline += sel_machine_seconds() - since;
}

/* Lua shortens long file names in its messages; puts the whole name back. */
static void fail_with_message(sel_script *script, const char *message, const char *suffix) {
    for (const sel_source *s = script->sources; s; s = s->next) {
        size_t length = strlen(s->name), kept = LUA_IDSIZE - sizeof "...";
        if (length <= kept || strncmp(message, "...", 3) != 0)
            continue;
        const char *tail = s->name + length - kept;
        if (strncmp(message + 3, tail, kept) == 0 && message[3 + kept] == ':') {
            sel_fail(script->error, SEL_BAD_SCENARIO, "%s%s%s", s->name, message + 3 + kept,
                     suffix);
            return;
        }
    }
    sel_fail(script->error, SEL_BAD_SCENARIO, "%s%s", message, suffix);
}

static void fail_memory(sel_script *script, sel_where where) {
    sel_where place = script->refused.file ? script->refused : where;
    if (script->late)
        fail_time(script, place);
    else
        sel_fail_at(script->error, place, memory_text, script->memory >> 20);
}

sel_status sel_limits_report(sel_script *script, int status, sel_where where, const char *suffix) {
    lua_State *L = script->L;
    if (script->broken) {
        /* said where it happened */
    } else if (status == LUA_ERRMEM) {
        fail_memory(script, where);
    } else if (lua_type(L, -1) == LUA_TSTRING) {
        fail_with_message(script, lua_tostring(L, -1), suffix);
    } else {
        sel_fail_at(script->error, where, "the script raised an error that is a %s, not a text%s",
                    luaL_typename(L, -1), suffix);
    }
    lua_pop(L, 1);
    return SEL_BAD_SCENARIO;
}

void sel_limits_pass_on(lua_State *L, int status) {
    sel_script *script = sel_script_of(L);
    if (status == LUA_ERRMEM && !script->broken && !script->trust) {
        fail_memory(script, running_place(L));
        script->broken = true;
    }
    if (script->broken)
        sel_limits_break(L);
}

static int finish_call(lua_State *L, int status, lua_KContext skip) {
    sel_limits_pass_on(L, status);
    if (status == LUA_OK || status == LUA_YIELD)
        return lua_gettop(L) - (int)skip;
    lua_pushboolean(L, false);
    lua_pushvalue(L, -2);
    return 2;
}

static int guarded_pcall(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushboolean(L, true);
    lua_insert(L, 1);
    int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_call);
    return finish_call(L, status, 0);
}

/* Calls the user's message handler (upvalue 1), but not for what cannot be caught. */
static int guarded_handler(lua_State *L) {
    if (sel_script_of(L)->broken)
        return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int guarded_xpcall(lua_State *L) {
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    lua_pushboolean(L, true);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2); /* f, handler, true, f, arguments */
    int status = lua_pcallk(L, lua_gettop(L) - 4, LUA_MULTRET, 2, 2, finish_call);
    return finish_call(L, status, 2);
}

/* Resumes `co` with the top `arguments` values. Moves its results, or its error, to L: returns
 * their number, or -1 for an error. */
static int resume(lua_State *L, lua_State *co, int arguments) {
    int results = 0;
    if (!lua_checkstack(co, arguments))
        return luaL_error(L, "too many arguments to resume");
    lua_xmove(L, co, arguments);
    sel_script *script = sel_script_of(L);
    lua_State *outer = script->active;
    script->active = co;
    int status = lua_resume(co, L, arguments, &results);
    script->active = outer;
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        sel_limits_pass_on(L, status);
        return -1;
    }
    if (!lua_checkstack(L, results + 1)) {
        lua_pop(co, results);
        return luaL_error(L, "too many results to resume");
    }
    lua_xmove(co, L, results);
    return results;
}

static lua_State *check_coroutine(lua_State *L, int index) {
    lua_State *co = lua_tothread(L, index);
    luaL_argexpected(L, co, index, "coroutine");
    return co;
}

static int guarded_resume(lua_State *L) {
    lua_State *co = check_coroutine(L, 1);
    int results = resume(L, co, lua_gettop(L) - 1);
    lua_pushboolean(L, results >= 0);
    results = results < 0 ? 1 : results;
    lua_insert(L, -(results + 1));
    return results + 1;
}

static int wrapped(lua_State *L) {
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int results = resume(L, co, lua_gettop(L));
    if (results >= 0)
        return results;
    if (lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD) {
        lua_resetthread(co);
        sel_limits_pass_on(L, LUA_OK);
        lua_settop(co, 0);
    }
    return lua_error(L);
}

static int guarded_wrap(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

/* Upvalue 1: Lua's own close. */
static int guarded_close(lua_State *L) {
    sel_limits_pass_on(L, LUA_OK);
    int arguments = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, arguments, LUA_MULTRET);
    sel_limits_pass_on(L, LUA_OK);
    return lua_gettop(L);
}

void sel_limits_guard(lua_State *L) {
    static const luaL_Reg base[] = {
        {"pcall", guarded_pcall}, {"xpcall", guarded_xpcall}, {NULL, NULL}};
    static const luaL_Reg coroutine[] = {
        {"resume", guarded_resume}, {"wrap", guarded_wrap}, {NULL, NULL}};
    luaL_setfuncs(L, base, 0);
    lua_getfield(L, -1, "coroutine");
    luaL_setfuncs(L, coroutine, 0);
    lua_getfield(L, -1, "close");
    lua_pushcclosure(L, guarded_close, 1);
    lua_setfield(L, -2, "close");
    lua_pop(L, 1);
}
