/* sweep.c -- `selenite sweep`: what lua/sweep.lua needs of the engine: processes and checks.
 *
 * A run is a process in a group of its own, so that Ctrl-C reaches it through the sweep alone; when
 * the sweep is killed it gets SIGTERM, and writes its last state. All hold the lock of the sweep's
 * folder, so that a sweep that is called again waits until they have ended.
 *
 * As in Lua's own library, functions that fail return nil and why.
 */
#include <fcntl.h>
#include <lualib.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/base/folder.h"
#include "engine/base/machine.h"
#include "engine/base/process.h"
#include "lua/state.h"
#include "sweep_lua.h"

/* sweep.lock(directory): makes it and holds its lock until this process and all that it starts have
 * ended. From then on a signal ends the sweep in order. */
static int host_lock(lua_State *L) {
    const char *directory = luaL_checkstring(L, 1);
    const char *path = lua_pushfstring(L, "%s/sweep.lock", directory);
    sel_error error = {.status = SEL_OK};
    if (sel_run_directory(directory, false, &error))
        return sel_host_result(L, &error);
    const int lock = open(path, O_RDWR | O_CREAT, 0666);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0)
        fprintf(stderr, "waiting for the runs of another sweep there to end\n");
    const bool held = flock(lock, LOCK_EX) == 0; /* a signal ends the wait */
    sel_process_write(true);
    return luaL_fileresult(L, held, path);
}

/* sweep.start(log, { program, arguments ... }) -> pid */
static int host_start(lua_State *L) {
    const char *log = luaL_checkstring(L, 1);
    const char **arguments = sel_script_strings(L, 2);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(null, 0);
        dup2(null, 1);
        dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
        if (getppid() == parent) /* else it was killed before it could be watched */
            execv(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(SEL_NO_DEVICE);
    }
    lua_pushinteger(L, pid);
    return pid < 0 ? luaL_fileresult(L, false, "a run cannot be started") : 1;
}

/* sweep.wait(seconds) -> whether a signal has come; of a run that has ended its pid, and its exit
 * status, or 128 and the signal that killed it; else a pid that no run has */
static int host_wait(lua_State *L) {
    const double end = sel_machine_seconds() + luaL_checknumber(L, 1);
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) <= 0 && sel_machine_seconds() < end)
        poll(NULL, 0, 10);
    lua_pushboolean(L, *sel_process_interrupt() != 0);
    lua_pushinteger(L, pid);
    lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 3;
}

static int host_stop(lua_State *L) {
    kill((pid_t)luaL_checkinteger(L, 1), SIGTERM);
    return 0;
}

/* sweep.check(file, { "name=value" ... }, trust, seconds): whether the scenario takes the values */
static int host_check(lua_State *L) {
    const char *file = luaL_checkstring(L, 1);
    const sel_script_options options = {.trust = lua_toboolean(L, 3),
                                        .seconds = luaL_optnumber(L, 4, 0),
                                        .assignments = sel_script_strings(L, 2),
                                        .parameters_only = true,
                                        .quiet = true};
    sel_scenario *scenario = NULL;
    sel_error error = {.status = SEL_OK};
    sel_script_load(file, &options, &scenario, &error);
    sel_scenario_destroy(scenario);
    return sel_host_result(L, &error);
}

/* ---- the command ---- */

static int call_main(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"lock", host_lock},   {"start", host_start},   {"wait", host_wait}, {"stop", host_stop},
        {"check", host_check}, {"draw", sel_host_draw}, {NULL, NULL}};
    luaL_openlibs(L);
    luaL_loadbufferx(L, (const char *)sweep_lua, sizeof sweep_lua, "=sweep", "t");
    luaL_newlib(L, functions);
    sel_script_push_strings(L, lua_touserdata(L, 1));
    sel_script_push_strings(L, lua_touserdata(L, 2));
    lua_pushvalue(L, 3);
    lua_pushinteger(L, sel_machine_threads());
    lua_pushboolean(L, isatty(STDERR_FILENO));
    lua_call(L, 6, 0);
    return 0;
}

sel_status sel_sweep(const char *const *words, const char *const *given, int backend,
                     sel_error *error) {
    sel_choice choice;
    sel_status status = sel_backend_choose(sel_solvers[0], backend, 0, &choice, error);
    lua_State *L = status ? NULL : luaL_newstate();
    if (!L)
        return status ? status : sel_fail_memory(error, "Lua", 0);
    lua_pushcfunction(L, call_main);
    lua_pushlightuserdata(L, (void *)(uintptr_t)words);
    lua_pushlightuserdata(L, (void *)(uintptr_t)given);
    lua_pushinteger(L, choice.backend->devices ? choice.backend->devices() : 0);
    if (lua_pcall(L, 3, 0, 0)) { /* { status, text }, or a text */
        const bool told = lua_istable(L, 1) && lua_geti(L, 1, 1) && lua_geti(L, 1, 2);
        sel_fail(error, told ? (sel_status)lua_tointeger(L, 2) : SEL_BAD_FILE, "%s",
                 luaL_tolstring(L, -1, NULL));
    }
    lua_close(L);
    while (wait(NULL) > 0) { /* for runs that were stopped */
    }
    sel_process_write(false);
    return error->status;
}
