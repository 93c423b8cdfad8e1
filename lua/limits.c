/* limits.c -- how much memory and time a script may take, and no way around it.
 *
 * Every thousand instructions Lua's hook checks whether the time is up. Memory goes through an
 * allocator that counts bytes. A limit that is hit sets `broken`: from then on the hook raises at
 * every instruction, so that catching the error is of no use.
 *
 * What no hook can end (C that does not return, functions that a hook has called) ends a second
 * later, with the process, by a timer whose signal interrupts the script's thread.
 */
#include "lua/state.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/process.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif
enum { INSTRUCTIONS_PER_TICK = 1000 };
#define ENDING (-1)
static const int64_t second = 1000000000; /* of `now` */
static const int64_t grace = 1000000000;  /* for C to return to Lua */
static const int64_t saving = 300;        /* seconds for what must not be lost when it ends */
static const int64_t call_instructions = 100000000;
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

/* Nanoseconds of a monotonic clock that is cheap to read and lags by some milliseconds. */
static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec * second + time.tv_nsec;
}

static bool is_used_up(const sel_limits *limits) {
    return limits->max_instructions &&
           limits->ticks * INSTRUCTIONS_PER_TICK > limits->max_instructions;
}

static bool is_late(const sel_script *script) {
    return !script->options.trust && script->limits.running && now() >= script->limits.deadline;
}

/* A piece that a signal interrupts may end on its own, as short ones do. */
static bool is_interrupted(sel_limits *limits) {
    if (!limits->running || !limits->interrupt || !*limits->interrupt)
        return false;
    if (!limits->interrupted_until)
        limits->interrupted_until = now() + grace;
    return now() >= limits->interrupted_until;
}

static void fail_time(const sel_script *script, sel_where where, sel_error *error) {
    const sel_limits *limits = &script->limits;
    if (limits->interrupted_until && now() >= limits->interrupted_until) {
        sel_fail_at(error, where, "%s", interrupt_text);
        error->status = SEL_INTERRUPTED;
    } else if (!is_used_up(limits) && limits->deadline == script->deadline)
        sel_fail_at(error, where, time_text, script->seconds);
    else
        sel_fail_at(error, where, limits->code == SEL_HOOK ? hook_text : function_text,
                    script->seconds, (long long)call_instructions);
}

/* The line at which a coroutine is. Only reads Lua's call information, so that the allocator and a
 * signal handler may call it. */
static sel_where running_place(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++)
        if (lua_getinfo(L, "Sl", &frame) && frame.currentline > 0 && frame.source[0] == '@')
            return (sel_where){frame.source + 1, frame.currentline};
    return (sel_where){NULL, 0};
}

/* script->ended, which is written, says why. */
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

/* When Lua is refused memory it collects garbage and asks again, for as much; then it raises. (Its
 * buffers raise at once: see the report.) */
static void refuse(sel_script *script, size_t bytes) {
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
        refuse(script, bytes);
        return false;
    }
    /* Closing a refused buffer allocates a little, which must not clear the refusal. */
    if (bytes >= script->refused)
        script->refused = 0;
    return true;
}

static void end_process(sel_script *script);

/* lua_Alloc. For a new block `old_size` is no size. The timer's signal waits until malloc, which
 * the end of the process needs, is in order. */
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
    sel_limits_look(L, (sel_where){NULL, 0});
}

int sel_limits_break(lua_State *L) {
    sel_script *script = sel_script_of(L);
    if (script->at_prompt && !script->ended.status && script->error && script->error->status) {
        /* A mistake ends the line, and no more. */
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
    return script->broken || is_late(script) || is_used_up(&script->limits) ||
           is_interrupted(&script->limits);
}

sel_status sel_limits_check(sel_script *script, sel_where where) {
    if (!sel_limits_passed(script))
        return SEL_OK;
    if (!script->broken) {
        fail_time(script, where, &script->ended);
        end_script(script);
    }
    /* The limit may have been hit where texts are not wanted. */
    if (script->error && script->error->status == SEL_OK && script->ended.status)
        sel_fail(script->error, script->ended.status, "%s", script->ended.text);
    return SEL_BAD_SCENARIO;
}

void sel_limits_look(lua_State *L, sel_where where) {
    sel_script *script = sel_script_of(L);
    if (!sel_limits_passed(script))
        return;
    sel_where place = running_place(L);
    sel_limits_check(script, place.file ? place : where);
    sel_limits_break(L);
}

/* ---- the timer ---- */

static void set_timer(sel_script *script, int64_t at) {
    at += second / 100; /* the clock that is read may lag behind the one of timers */
    const struct itimerspec time = {.it_value = {at / second, at % second}};
    timer_settime(script->timer, TIMER_ABSTIME, &time, NULL);
}

/* The process ends even where what is saved then waits for ever. */
static void end_process(sel_script *script) {
    sel_error error = {.status = SEL_OK};
    atomic_store(&script->due, ENDING);
    set_timer(script, now() + saving * second);
    fail_time(script, running_place(script->active), &error);
    sel_emergency_end(&error);
}

/* One that runs is left as it is, since most of what is started is soon stopped: a system call for
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
    else if (now() < due)
        await_due(script);
    else if (script->allocates)
        script->late = true;
    else
        end_process(script);
    errno = kept;
}

/* The signal goes to the script's thread, and may come while it is handled. The timer does not
 * outlive exec and is not inherited by fork. */
static bool create_timer(sel_script *script) {
    const struct sigaction action = {.sa_sigaction = on_timer,
                                     .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM, .sigev_value.sival_ptr = script};
    event.sigev_notify_thread_id = gettid();
    sigaction(SIGALRM, &action, NULL);
    return timer_create(CLOCK_MONOTONIC, &event, &script->timer) == 0;
}

/* What runs must have come back a second after its deadline. */
static void set_due(sel_script *script) {
    const sel_limits *limits = &script->limits;
    if (!script->timed)
        return;
    atomic_store(&script->due, limits->running && limits->deadline < INT64_MAX - grace
                                   ? limits->deadline + grace
                                   : INT64_MAX);
    await_due(script);
}

/* ---- what the other files call ---- */

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
    return now() + (int64_t)(1e9 * fmin(seconds, 1e9));
}

void sel_limits_begin(sel_script *script, double seconds) {
    script->deadline = seconds_from_now(seconds);
}

double sel_limits_end(sel_script *script) {
    double left = 1e-9 * (double)(script->deadline - now());
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

sel_limits sel_limits_leave(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_limits left = script->limits;
    left.deadline -= now();
    sel_limits_stop(script);
    return left;
}

void sel_limits_come_back(lua_State *L, const sel_limits *left) {
    sel_limits limits = *left;
    limits.deadline += now();
    sel_limits_restore(sel_script_of(L), &limits);
}

/* Lua shortens long file names in its messages; puts the whole name back. */
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
        /* said where it happened */
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

/* Calls upvalue 1 with all arguments, the place that runs being looked for in the coroutine. */
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

/* coroutine.resume; upvalue 1: Lua's own. */
static int tracked_resume(lua_State *L) {
    return call_tracked(L, lua_tothread(L, 1));
}

/* What coroutine.wrap returns; upvalues: what Lua's own returned, and the coroutine. */
static int wrapped(lua_State *L) {
    return call_tracked(L, lua_tothread(L, lua_upvalueindex(2)));
}

/* coroutine.wrap; upvalue 1: Lua's own. */
static int tracked_wrap(lua_State *L) {
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    lua_getupvalue(L, 1, 1);
    lua_pushcclosure(L, wrapped, 2);
    return 1;
}

void sel_limits_track(lua_State *L) {
    static const luaL_Reg coroutine[] = {
        {"resume", tracked_resume}, {"wrap", tracked_wrap}, {NULL, NULL}};
    lua_getfield(L, -1, "coroutine");
    sel_sandbox_guard(L, coroutine);
    lua_pop(L, 1);
}
