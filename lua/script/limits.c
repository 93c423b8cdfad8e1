/* limits.c -- limits of a script's time and memory, which the script cannot evade.
 *
 * Time: Lua's count hook checks the deadline every 1000 instructions. Memory: an allocator counts
 * bytes. A limit that is hit sets `broken`. From then on the hook raises an error at every
 * instruction, so that pcall cannot catch it.
 *
 * The hook does not run inside C functions, nor in functions that a hook has called. A timer with a
 * signal ends the process one second after the deadline if the hook could not end the script.
 *
 *      start           deadline                      deadline + 1 s
 *        |---- runs ------|---- hook raises an error ----|---- signal ends the process
 */
#include "lua/script/state.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/process.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
enum { INSTRUCTIONS_PER_TICK = 1000 };
#define ENDING (-1)                             /* in `due`: the process is ending */
static const int64_t second = 1000000000;       /* in nanoseconds */
static const int64_t return_grace = 1000000000; /* ns from the deadline to the end of the process */
static const int64_t saving_seconds = 300;      /* for saving data when the process ends */
static const int64_t call_instructions = 100000000; /* per call of a function or hook */
static const size_t memory_limit = (size_t)512 << 20;

static const char time_text[] = "the script took longer than %g s; --script-limit SECONDS allows "
                                "more, --trust lifts all limits";
static const char function_text[] = "a function took longer than %g s or %lld instructions for "
                                    "one value; --trust lifts all limits";
static const char hook_text[] = "a hook took longer than %g s or %lld instructions of its own; "
                                "--trust lifts all limits";
static const char interrupt_text[] = "a hook did not end within a second of a signal that "
                                     "interrupts the run; the checkpoints before are whole";
static const char memory_text[] = "the script needs more than %zu MiB of memory; --trust lifts all "
                                  "limits";

/* Nanoseconds of a monotonic clock that is cheap to read, and up to some milliseconds late. */
static int64_t limits_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec * second + time.tv_nsec;
}

static bool is_used_up(const sel_limits *limits) {
    return limits->max_instructions &&
           limits->ticks * INSTRUCTIONS_PER_TICK > limits->max_instructions;
}

static bool limits_is_late(const sel_script *script) {
    return !script->options.trust && script->limits.running &&
           limits_now() >= script->limits.deadline;
}

/* Whether a signal came and the hook that it interrupts did not return in time. */
static bool is_interrupted(sel_limits *limits) {
    if (!limits->running || !limits->interrupt || !*limits->interrupt)
        return false;
    if (!limits->interrupted_until)
        limits->interrupted_until = limits_now() + return_grace;
    return limits_now() >= limits->interrupted_until;
}

static void fail_time(const sel_script *script, sel_where where, sel_error *error) {
    const sel_limits *limits = &script->limits;
    if (limits->interrupted_until && limits_now() >= limits->interrupted_until) {
        sel_fail_at(error, where, "%s", interrupt_text);
        error->status = SEL_INTERRUPTED;
    } else if (!is_used_up(limits) && limits->deadline == script->deadline)
        sel_fail_at(error, where, time_text, script->seconds);
    else
        sel_fail_at(error, where, limits->code == SEL_HOOK ? hook_text : function_text,
                    script->seconds, (long long)call_instructions);
}

/* The line that a coroutine executes. Reads call information only, so that the allocator and the
 * signal handler may call it. */
static sel_where running_place(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++)
        if (lua_getinfo(L, "Sl", &frame) && frame.currentline > 0 && frame.source[0] == '@')
            return (sel_where){frame.source + 1, frame.currentline};
    return (sel_where){NULL, 0};
}

/* Ends the script with the error in script->ended. */
static void end_script(sel_script *script) {
    sel_fail(script->error, script->ended.status, "%s", script->ended.text);
    script->broken = true;
}

static void end_full(sel_script *script, sel_where where) {
    if (script->broken)
        return;
    sel_fail_at(&script->ended, where, memory_text, script->memory >> 20);
    end_script(script);
}

/* A refused Lua state collects garbage and requests the same bytes again; a second refusal ends the
 * script. (luaL_Buffer raises at the first refusal: sel_limits_report handles that.) */
static void limits_refuse(sel_script *script, size_t bytes) {
    sel_where where = running_place(script->active);
    if (script->refused == bytes)
        end_full(script, where);
    script->refused = bytes;
    script->refused_at = (sel_where){NULL, where.line};
    for (const sel_source *s = script->sources; s && where.file; s = s->next)
        if (strcmp(s->name, where.file) == 0)
            script->refused_at.file = s->name;
}

static bool may_grow(sel_script *script, size_t bytes) {
    if (script->options.trust || !script->limits.running)
        return true;
    if (script->used + bytes > script->memory) {
        limits_refuse(script, bytes);
        return false;
    }
    /* Closing a refused buffer allocates a few bytes, which must not clear the refusal. */
    if (bytes >= script->refused)
        script->refused = 0;
    return true;
}

static void end_process(sel_script *script);

/* lua_Alloc. `old_size` of a new block is a type, not a size. A timer signal during realloc only
 * sets `late`, since ending the process needs malloc. */
static void *limited_alloc(void *data, void *block, size_t old_size, size_t size) {
    sel_script *script = data;
    const size_t held = block ? old_size : 0;
    void *moved = NULL;
    if (size > held && !may_grow(script, size - held))
        return NULL;
    script->allocates = true;
    if (size > 0)
        moved = realloc(block, size);
    else
        free(block);
    script->allocates = false;
    if (moved || size == 0)
        script->used += size - held;
    if (script->late)
        end_process(script);
    return moved;
}

/* Lua's hook for lines and instruction counts. */
static void on_event(lua_State *L, lua_Debug *event) {
    sel_script *script = sel_script_of(L);
    if (event->event == LUA_HOOKLINE) {
        if (script->lines)
            sel_lines_note(script->lines, L, event);
        return;
    }
    script->active = L;
    script->ticks++;
    script->limits.ticks++;
    sel_limits_raise(L, (sel_where){NULL, 0});
}

int sel_limits_break(lua_State *L) {
    sel_script *script = sel_script_of(L);
    if (script->at_prompt && !script->ended.status && script->error && script->error->status) {
        /* At the prompt a mistake ends the line, not the script. */
        lua_pushstring(L, script->error->text);
        *script->error = (sel_error){.status = SEL_OK};
        return lua_error(L);
    }
    script->broken = true;
    lua_sethook(L, on_event, LUA_MASKCOUNT, 1);
    lua_pushliteral(L, "the script was ended");
    return lua_error(L);
}

void sel_limits_note_lines(sel_script *script, struct sel_lines *lines) {
    const int mask = LUA_MASKCOUNT | (lines ? LUA_MASKLINE : 0);
    script->lines = lines;
    if (!script->broken)
        lua_sethook(script->L, on_event, mask, INSTRUCTIONS_PER_TICK);
}

bool sel_limits_passed(sel_script *script) {
    return script->broken || limits_is_late(script) || is_used_up(&script->limits) ||
           is_interrupted(&script->limits);
}

sel_status sel_limits_check(sel_script *script, sel_where where) {
    if (!sel_limits_passed(script))
        return SEL_OK;
    if (!script->broken) {
        fail_time(script, where, &script->ended);
        end_script(script);
    }
    /* The limit may have been hit while no error was wanted. */
    if (script->error && script->error->status == SEL_OK && script->ended.status)
        sel_fail(script->error, script->ended.status, "%s", script->ended.text);
    return SEL_BAD_SCENARIO;
}

void sel_limits_raise(lua_State *L, sel_where where) {
    sel_script *script = sel_script_of(L);
    if (!sel_limits_passed(script))
        return;
    sel_where place = running_place(L);
    sel_limits_check(script, place.file ? place : where);
    sel_limits_break(L);
}

/* ---- the timer ---- */

static void set_timer(sel_script *script, int64_t at) {
    at += second / 100; /* the clock of limits_now may be late against the timer's */
    const struct itimerspec time = {.it_value = {at / second, at % second}};
    timer_settime(script->timer, TIMER_ABSTIME, &time, NULL);
}

/* Saves data and ends the process. The timer ends it even if saving hangs. */
static void end_process(sel_script *script) {
    sel_error error = {.status = SEL_OK};
    atomic_store(&script->due, ENDING);
    set_timer(script, limits_now() + saving_seconds * second);
    fail_time(script, running_place(script->active), &error);
    sel_emergency_end(&error);
}

/* Sets the timer unless it goes off before `due` anyway. Most calls return soon: a system call for
 * each would take as long as a short function. */
static void await_due(sel_script *script) {
    const int64_t due = atomic_load(&script->due);
    if (due < atomic_load(&script->timer_at)) {
        atomic_store(&script->timer_at, due);
        set_timer(script, due);
    }
}

static void on_timer(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    if (info->si_code != SI_TIMER)
        return;
    const int kept = errno;
    sel_script *script = info->si_value.sival_ptr;
    const int64_t due = atomic_load(&script->due);
    atomic_store(&script->timer_at, INT64_MAX);
    if (due == ENDING)
        _exit(SEL_BAD_SCENARIO);
    else if (limits_now() < due)
        await_due(script);
    else if (script->allocates)
        script->late = true;
    else
        end_process(script);
    errno = kept;
}

/* Sends SIGALRM to the script's thread, even while the signal is handled. The timer is not
 * inherited by exec or fork. */
static bool create_timer(sel_script *script) {
    const struct sigaction action = {.sa_sigaction = on_timer,
                                     .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM, .sigev_value.sival_ptr = script};
    event.sigev_notify_thread_id = gettid();
    sigaction(SIGALRM, &action, NULL);
    return timer_create(CLOCK_MONOTONIC, &event, &script->timer) == 0;
}

/* The process ends unless the running code returns within a second of its deadline. */
static void set_due(sel_script *script) {
    const sel_limits *limits = &script->limits;
    if (!script->timed)
        return;
    atomic_store(&script->due, limits->running && limits->deadline < INT64_MAX - return_grace
                                   ? limits->deadline + return_grace
                                   : INT64_MAX);
    await_due(script);
}

/* ---- public functions ---- */

lua_State *sel_limits_open(sel_script *script) {
    script->memory = memory_limit;
    lua_State *L = lua_newstate(limited_alloc, script);
    if (!L)
        return NULL;
    *(sel_script **)lua_getextraspace(L) = script;
    script->active = L;
    lua_sethook(L, on_event, LUA_MASKCOUNT, INSTRUCTIONS_PER_TICK);
    if (script->options.trust)
        return L;
    atomic_store(&script->due, INT64_MAX);
    atomic_store(&script->timer_at, INT64_MAX);
    script->timed = create_timer(script);
    if (script->timed)
        return L;
    lua_close(L);
    return NULL;
}

void sel_limits_close(sel_script *script) {
    sel_limits_stop(script);
    if (script->timed)
        timer_delete(script->timer);
    if (script->L)
        lua_close(script->L);
}

static int64_t seconds_from_now(double seconds) {
    return limits_now() + (int64_t)(1e9 * fmin(seconds, 1e9));
}

void sel_limits_begin(sel_script *script, double seconds) {
    script->deadline = seconds_from_now(seconds);
}

double sel_limits_end(sel_script *script) {
    double left = 1e-9 * (double)(script->deadline - limits_now());
    script->deadline = INT64_MAX;
    return left;
}

void sel_limits_start(sel_script *script, sel_user_code code) {
    int64_t deadline = code == SEL_MAIN_CHUNK ? INT64_MAX : seconds_from_now(script->seconds);
    script->limits = (sel_limits){
        .code = code,
        .running = true,
        .deadline = deadline < script->deadline ? deadline : script->deadline,
        .max_instructions = code == SEL_MAIN_CHUNK || script->options.trust ? 0 : call_instructions,
    };
    set_due(script);
}

void sel_limits_start_hook(sel_script *script, const volatile sig_atomic_t *interrupt) {
    sel_limits_start(script, SEL_HOOK);
    script->limits.interrupt = interrupt;
}

void sel_limits_stop(sel_script *script) {
    script->limits.running = false;
    set_due(script);
}

void sel_limits_restore(sel_script *script, const sel_limits *outer) {
    script->limits = *outer;
    set_due(script);
}

sel_limits sel_limits_suspend(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_limits left = script->limits;
    left.deadline -= limits_now();
    sel_limits_stop(script);
    return left;
}

void sel_limits_resume(lua_State *L, const sel_limits *left) {
    sel_limits limits = *left;
    limits.deadline += limits_now();
    sel_limits_restore(sel_script_of(L), &limits);
}

/* Writes the error with Lua's message, in which a shortened file name ("...x.lua") is completed. */
static void fail_with_message(sel_script *script, const char *message, const char *suffix) {
    const size_t kept = LUA_IDSIZE - sizeof "...";
    const char *whole = "";
    for (const sel_source *s = script->sources; s && strncmp(message, "...", 3) == 0; s = s->next) {
        const size_t length = strlen(s->name);
        if (length > kept && strncmp(message + 3, s->name + length - kept, kept) == 0 &&
            message[3 + kept] == ':') {
            whole = s->name;
            message += 3 + kept;
        }
    }
    sel_fail(script->error, SEL_BAD_SCENARIO, "%s%s%s", whole, message, suffix);
}

sel_status sel_limits_report(sel_script *script, sel_where where, const char *suffix) {
    static const char no_memory[] = "not enough memory"; /* Lua's text, without a place */
    lua_State *L = script->L;
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (script->broken) {
        /* the error was written when the limit was hit */
    } else if (message && script->refused && strcmp(message, no_memory) == 0) {
        end_full(script, script->refused_at);
    } else if (message) {
        fail_with_message(script, message, suffix);
    } else {
        sel_fail_at(script->error, where, "the script raised an error that is a %s, not a text%s",
                    luaL_typename(L, -1), suffix);
    }
    lua_pop(L, 1);
    return script->broken && script->ended.status ? script->ended.status : SEL_BAD_SCENARIO;
}

/* ---- memory outside of Lua: the arena ---- */

/* Writes the error that the data exceed the memory limit. While the tables that the script returned
 * are filled, no line runs: the message names the file alone. */
static void fail_data(sel_script *script, sel_where where) {
    char place[1024] = "";
    if (where.file)
        snprintf(place, sizeof place, "%s:%d: ", where.file, where.line);
    else if (script->main)
        snprintf(place, sizeof place, "%s: ", script->main->name);
    sel_fail(script->error, SEL_BAD_SCENARIO,
             "%sthe data need more than %zu MiB of memory; --trust lifts all limits", place,
             script->memory >> 20);
}

int sel_script_too_large(sel_script *script) {
    fail_data(script, sel_script_place(script->active, NULL));
    return sel_limits_break(script->active);
}

int sel_script_no_memory(sel_script *script, const char *what, size_t bytes) {
    if (script->arena->full)
        return sel_script_too_large(script);
    sel_fail_memory(script->error, what, bytes);
    return sel_limits_break(script->active);
}

void *sel_script_alloc(sel_script *script, const char *what, size_t bytes) {
    void *memory = sel_arena_alloc(script->arena, bytes ? bytes : 1);
    if (!memory)
        sel_script_no_memory(script, what, bytes);
    return memory;
}

void sel_script_report_file(sel_script *script, const sel_error *found, sel_where where,
                            const char *what) {
    char place[1024] = "";
    if (!found->status)
        return;
    if (found->status == SEL_NO_DEVICE && script->arena->full) {
        fail_data(script, where);
        return;
    }
    if (where.file)
        snprintf(place, sizeof place, "%s:%d: ", where.file, where.line);
    bool placed = !*place || strncmp(found->text, place, strlen(place)) == 0;
    sel_fail(script->error, found->status, "%s%s%s%s", placed ? "" : place, placed ? "" : what,
             placed ? "" : ": ", found->text);
}

/* ---- coroutines ---- */

/* Calls upvalue 1 with all arguments, while `active` is the coroutine. NULL: no change. */
static int call_tracked(lua_State *L, lua_State *co) {
    sel_script *script = sel_script_of(L);
    lua_State *outer = script->active;
    script->active = co ? co : outer;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    script->active = outer;
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* coroutine.resume; upvalue 1: Lua's function. */
static int tracked_resume(lua_State *L) {
    return call_tracked(L, lua_tothread(L, 1));
}

/* The function that coroutine.wrap returns. Upvalues: the result of Lua's wrap, the coroutine. */
static int limits_wrapped(lua_State *L) {
    return call_tracked(L, lua_tothread(L, lua_upvalueindex(2)));
}

/* coroutine.wrap; upvalue 1: Lua's function. */
static int tracked_wrap(lua_State *L) {
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    lua_getupvalue(L, 1, 1);
    lua_pushcclosure(L, limits_wrapped, 2);
    return 1;
}

void sel_limits_track(lua_State *L) {
    static const luaL_Reg coroutine[] = {
        {"resume", tracked_resume}, {"wrap", tracked_wrap}, {NULL, NULL}};
    lua_getfield(L, -1, "coroutine");
    sel_sandbox_guard(L, coroutine);
    lua_pop(L, 1);
}
