/* hook.c -- hooks in Lua: the `run` object, and the call under the script's limits.
 *
 * Each call creates a new `run`, which is valid until the call returns; a later use is an error.
 * The table run.state belongs to the run of a simulation, so that two runs of one script do not
 * share it.
 */
#include "lua/functions/functions.h"
#include <stdio.h>
#include <string.h>
#include "hook_state_lua.h"

typedef struct lua_callback {
    sel_callback base;
    sel_script *script;
    int reference; /* in Lua's registry */
    const char *label;
} lua_callback;

/* Addresses are keys in Lua's registry: the functions of hook_state.lua. */
static const char save_key, load_key;

/* The userdata of `run`: a sel_hook_run *; NULL after its hook has returned. */
static const char run_type[] = "selenite.run";

static const char *const members[] = {"force", "log",  "probe", "reduce", "result", "set",
                                      "state", "step", "stop",  "time",   NULL};

/* The run of a method call; `call` is its text in the script: "run:probe". */
static sel_hook_run *check_run(lua_State *L, const char *call) {
    sel_hook_run **run = luaL_testudata(L, 1, run_type);
    if (!run)
        luaL_error(L, "%s: write run:%s(...) with a colon", call, strchr(call, ':') + 1);
    if (!*run)
        luaL_error(L, "%s: the run can be used only while its hook is called", call);
    return *run;
}

static void check_type(lua_State *L, int index, int type, const char *call, const char *what) {
    char found[80];
    if (lua_type(L, index) != type)
        luaL_error(L, "%s: %s must be a %s, got %s", call, what, lua_typename(L, type),
                   sel_script_value_text(L, index, found));
}

static const char *check_string(lua_State *L, int index, const char *call, const char *what) {
    check_type(L, index, LUA_TSTRING, call, what);
    return lua_tostring(L, index);
}

static double check_number(lua_State *L, int index, const char *call, const char *what) {
    check_type(L, index, LUA_TNUMBER, call, what);
    return lua_tonumber(L, index);
}

static sel_point check_point(lua_State *L, int index, const char *call) {
    char found[80];
    sel_point point = {.n = 0};
    if (!lua_istable(L, index))
        luaL_error(L, "%s: the point must be { x, y } or { x, y, z }, got %s", call,
                   sel_script_value_text(L, index, found));
    lua_Unsigned n = lua_rawlen(L, index);
    if (n != 2 && n != 3)
        luaL_error(L, "%s: the point must have 2 or 3 coordinates, not %d", call, (int)n);
    for (; point.n < (int)n; point.n++) {
        lua_rawgeti(L, index, point.n + 1);
        point.v[point.n] = check_number(L, -1, call, "a coordinate");
        lua_pop(L, 1);
    }
    return point;
}

/* The engine's answer to a method of `run`. */
typedef struct answer {
    sel_limits left; /* limits of the hook: the engine's time does not count */
    sel_error error;
    double values[SEL_MAX_COMPONENTS];
    int count;
} answer;

/* Suspends the hook's limits for a call of the engine. All arguments have been checked. */
static void hook_suspend(lua_State *L, answer *a) {
    a->error.status = SEL_OK;
    a->count = 0;
    a->left = sel_limits_suspend(L);
}

/* Resumes the hook's limits. Pushes the engine's values, or raises its error at the script's line.
 */
static int hook_resume(lua_State *L, const answer *a, sel_status status) {
    sel_limits_resume(L, &a->left);
    if (status != SEL_OK)
        luaL_error(L, "%s", a->error.text);
    for (int c = 0; c < a->count; c++)
        lua_pushnumber(L, a->values[c]);
    return a->count;
}

/* run:probe(field, { x, y }) -> a number per component */
static int run_probe(lua_State *L) {
    answer a;
    sel_hook_run *run = check_run(L, "run:probe");
    const char *field = check_string(L, 2, "run:probe", "the field");
    const sel_point at = check_point(L, 3, "run:probe");
    hook_suspend(L, &a);
    return hook_resume(L, &a, sel_hook_probe(run, field, &at, a.values, &a.count, &a.error));
}

/* run:reduce(field, op) -> a number per component */
static int run_reduce(lua_State *L) {
    answer a;
    sel_hook_run *run = check_run(L, "run:reduce");
    const char *field = check_string(L, 2, "run:reduce", "the field");
    const char *op = check_string(L, 3, "run:reduce", "op");
    hook_suspend(L, &a);
    return hook_resume(L, &a, sel_hook_reduce(run, field, op, a.values, &a.count, &a.error));
}

/* run:force(name) -> fx, fy, torque; in 3-D fx, fy, fz and three torques */
static int run_force(lua_State *L) {
    answer a;
    sel_hook_run *run = check_run(L, "run:force");
    const int dims = run->context->domain->grid.dims, torques = dims == 2 ? 1 : 3;
    double torque[3] = {0};
    const char *name = check_string(L, 2, "run:force", "the name");
    hook_suspend(L, &a);
    sel_status status = sel_hook_force(run, name, a.values, torque, &a.error);
    memcpy(a.values + dims, torque + 3 - torques, (size_t)torques * sizeof *torque);
    a.count = dims + torques;
    return hook_resume(L, &a, status);
}

typedef sel_status set_number(sel_hook_run *run, const char *name, double value, sel_error *error);

/* run:set and run:result: the engine stores a number. The hook's limits go on, since this takes no
 * time. */
static int run_set_number(lua_State *L, const char *call, const char *what, set_number *set) {
    sel_error error = {.status = SEL_OK};
    sel_hook_run *run = check_run(L, call);
    const char *name = check_string(L, 2, call, what);
    double value = check_number(L, 3, call, "the value");
    return set(run, name, value, &error) ? luaL_error(L, "%s", error.text) : 0;
}

/* run:set(control, value) */
static int run_set(lua_State *L) {
    return run_set_number(L, "run:set", "the control", sel_hook_set);
}

/* run:result(name, value) */
static int run_result(lua_State *L) {
    return run_set_number(L, "run:result", "the name", sel_hook_result);
}

/* run:stop(reason) */
static int run_stop(lua_State *L) {
    sel_hook_run *run = check_run(L, "run:stop");
    sel_hook_stop(run, check_string(L, 2, "run:stop", "the reason"));
    return 0;
}

/* run:log(text); a number is converted */
static int run_log(lua_State *L) {
    sel_hook_run *run = check_run(L, "run:log");
    if (lua_isnumber(L, 2))
        lua_tostring(L, 2);
    sel_hook_log(run, check_string(L, 2, "run:log", "the text"));
    return 0;
}

/* Pushes the table run.state. */
static int push_state(lua_State *L, sel_hook_run *run) {
    if (run->caller_handle == 0) {
        lua_newtable(L);
        run->caller_handle = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->caller_handle);
    return 1;
}

/* __index; upvalue 1: the methods */
static int read_member(lua_State *L) {
    char text[256];
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
        return 1;
    sel_hook_run *run = check_run(L, "run:step");
    if (strcmp(name, "step") == 0)
        return lua_pushinteger(L, run->step), 1;
    if (strcmp(name, "time") == 0)
        return lua_pushnumber(L, run->time), 1;
    if (strcmp(name, "state") == 0)
        return push_state(L, run);
    return luaL_error(L, "run has no%s", sel_script_suggest(name, members, text));
}

static int write_member(lua_State *L) {
    return luaL_error(L, "run cannot be changed; keep values in run.state");
}

/* Pushes a new `run`. */
static sel_hook_run **push_run(lua_State *L, sel_hook_run *run) {
    static const luaL_Reg methods[] = {
        {"probe", run_probe},   {"reduce", run_reduce}, {"force", run_force}, {"set", run_set},
        {"result", run_result}, {"stop", run_stop},     {"log", run_log},     {NULL, NULL}};
    sel_hook_run **object = lua_newuserdatauv(L, sizeof *object, 0);
    *object = run;
    if (luaL_newmetatable(L, run_type)) {
        luaL_newlib(L, methods);
        lua_pushcclosure(L, read_member, 1);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, write_member);
        lua_setfield(L, -2, "__newindex");
        lua_pushboolean(L, false);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
    return object;
}

/* Runs in a protected call, since it may raise an error without memory. Arguments: the callback,
 * the run, both as light userdata. */
static int call_function(lua_State *L) {
    const lua_callback *callback = lua_touserdata(L, 1);
    sel_hook_run *run = lua_touserdata(L, 2);
    lua_rawgeti(L, LUA_REGISTRYINDEX, callback->reference);
    sel_hook_run **object = push_run(L, run);
    lua_pushvalue(L, -1);
    lua_insert(L, 1); /* keeps the object alive until its pointer is cleared */
    int status = lua_pcall(L, 1, 0, 0);
    *object = NULL;
    return status == LUA_OK ? 0 : lua_error(L);
}

/* sel_callback.call */
static sel_status hook_call_lua(const sel_callback *self, sel_hook_run *run, sel_error *error) {
    const lua_callback *callback = self->data;
    sel_script *script = callback->script;
    lua_State *L = script->L;
    char suffix[128];
    if (!pthread_equal(pthread_self(), script->thread))
        return sel_fail_at(error, self->where,
                           "%s: only the thread that loaded the script may call it",
                           callback->label);
    if (script->broken)
        return sel_fail(error, script->ended.status ? script->ended.status : SEL_BAD_SCENARIO, "%s",
                        script->ended.text);
    sel_status status = SEL_OK;
    int base = lua_gettop(L);
    script->error = error;
    const sel_limits outer = script->limits;
    sel_limits_start_hook(script, run->interrupt);
    lua_pushcfunction(L, call_function);
    lua_pushlightuserdata(L, (void *)(uintptr_t)callback);
    lua_pushlightuserdata(L, run);
    int called = lua_pcall(L, 2, 0, 0);
    sel_limits_stop(script);
    if (called != LUA_OK) {
        snprintf(suffix, sizeof suffix, " (%s, at step %lld)", callback->label,
                 (long long)run->step);
        status = sel_limits_report(script, self->where, suffix);
    }
    lua_settop(L, base);
    sel_limits_restore(script, &outer);
    script->error = NULL;
    return status;
}

void sel_hook_open(lua_State *L) {
    lua_pushcfunction(L, sel_host_value_text);
    sel_sandbox_run(L, hook_state_lua, sizeof hook_state_lua, 2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &load_key);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &save_key);
}

/* Saves run.state in a checkpoint. Runs in a protected call. Arguments: the run, the checkpoint. */
static int save_state(lua_State *L) {
    size_t length;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &save_key);
    push_state(L, lua_touserdata(L, 1));
    lua_call(L, 1, 1);
    const char *bytes = lua_tolstring(L, -1, &length);
    sel_keep(lua_touserdata(L, 2), (void *)(uintptr_t)bytes, length);
    return 0;
}

/* Restores run.state from a checkpoint, as save_state. */
static int load_state(lua_State *L) {
    sel_hook_run *run = lua_touserdata(L, 1);
    sel_checkpoint *checkpoint = lua_touserdata(L, 2);
    const size_t length = (size_t)checkpoint->left;
    luaL_Buffer buffer;
    push_state(L, run);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &load_key);
    sel_keep(checkpoint, luaL_buffinitsize(L, &buffer, length), length);
    luaL_pushresultsize(&buffer, length);
    lua_call(L, 1, 1);
    lua_rawseti(L, LUA_REGISTRYINDEX, run->caller_handle);
    return 0;
}

/* sel_callback.keep */
static void keep_state(const sel_callback *self, sel_hook_run *run, sel_checkpoint *checkpoint) {
    const lua_callback *callback = self->data;
    lua_State *L = callback->script->L;
    const int base = lua_gettop(L);
    lua_pushcfunction(L, checkpoint->loads ? load_state : save_state);
    lua_pushlightuserdata(L, run);
    lua_pushlightuserdata(L, checkpoint);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
        const char *text = lua_tostring(L, -1);
        text = text ? text : "run.state";
        if (checkpoint->loads) {
            sel_checkpoint_fail(checkpoint, SEL_BAD_FILE, "%s: is damaged: %s", checkpoint->path,
                                text);
        } else {
            sel_checkpoint_fail(checkpoint, SEL_BAD_SCENARIO, "%s", text);
        }
    }
    lua_settop(L, base);
}

const sel_callback *sel_hook_callback(sel_script *script, int index, const char *label,
                                      sel_where where) {
    lua_callback *callback = sel_script_alloc(script, "the scenario", sizeof *callback);
    callback->base =
        (sel_callback){.where = where, .call = hook_call_lua, .keep = keep_state, .data = callback};
    callback->script = script;
    callback->label = label;
    lua_pushvalue(script->L, index);
    callback->reference = luaL_ref(script->L, LUA_REGISTRYINDEX);
    return &callback->base;
}
