/* sweep.c -- `selenite sweep`: what lua/sweep.lua needs of the engine: processes and checks.
 *
 * A run is a process in a group of its own, so that Ctrl-C reaches it through the sweep alone; when
 * the sweep is killed it gets SIGTERM, and writes its last state. All hold the lock of the sweep's
 * folder, so that a sweep that is called again waits until they have ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <lualib.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "engine/base/folder.h"
#include "engine/base/machine.h"
#include "engine/base/process.h"
#include "lua/state.h"
#include "sweep_lua.h"
#include "sweep_plot_lua.h"

/* Raises a text as it is. */
static int raise_text(lua_State *L, const char *what) {
    lua_pushfstring(L, "%s: %s", what, strerror(errno));
    return lua_error(L);
}

/* Makes the folder and holds its lock until this process and all that it starts have ended. From
 * then on a signal ends the sweep in order. */
static int host_lock(lua_State *L) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/sweep.lock", luaL_checkstring(L, 1));
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    const int lock = open(path, O_RDWR | O_CREAT, 0666);
    bool held = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (lock >= 0 && !held && errno == EWOULDBLOCK) {
        fprintf(stderr, "waiting for the runs of another sweep there to end\n");
        held = flock(lock, LOCK_EX) == 0; /* a signal ends it */
    }
    sel_process_write(true);
    return held ? 0 : raise_text(L, path);
}

/* host.start(log, program, arguments ...) -> pid */
static int host_start(lua_State *L) {
    const char *log = luaL_checkstring(L, 1);
    const int count = lua_gettop(L) - 1;
    const char **arguments = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *arguments, 0);
    for (int i = 0; i < count; i++) {
        arguments[i] = luaL_checkstring(L, i + 2);
    }
    arguments[count] = NULL;
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(null, 0);
        dup2(null, 1);
        dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
        if (getppid() == parent) { /* else it was killed before it could be watched */
            execv(arguments[0], (char *const *)(uintptr_t)arguments);
        }
        _exit(SEL_NO_DEVICE);
    }
    lua_pushinteger(L, pid);
    return pid < 0 ? raise_text(L, "a run cannot be started") : 1;
}

/* host.wait(seconds) -> pid, exit status or nil, signal; nothing when no run has ended. */
static int host_wait(lua_State *L) {
    const double end = sel_machine_seconds() + luaL_checknumber(L, 1);
    const struct timespec pause = {.tv_nsec = 10000000};
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) <= 0 && sel_machine_seconds() < end) {
        nanosleep(&pause, NULL);
    }
    lua_pushinteger(L, pid);
    WIFEXITED(status) ? lua_pushinteger(L, WEXITSTATUS(status)) : lua_pushnil(L);
    lua_pushinteger(L, WTERMSIG(status));
    return pid > 0 ? 3 : 0;
}

static int host_stop(lua_State *L) {
    kill((pid_t)luaL_checkinteger(L, 1), SIGTERM);
    return 0;
}

static int host_interrupted(lua_State *L) {
    lua_pushboolean(L, *sel_process_interrupt() != 0);
    return 1;
}

/* host.check(file, "name=value", trust, seconds) -> why the scenario does not take it, or nil */
static int host_check(lua_State *L) {
    const char *file = luaL_checkstring(L, 1), *assignment = luaL_checkstring(L, 2);
    const sel_script_options options = {.count = 1,
                                        .assignments = &assignment,
                                        .trust = lua_toboolean(L, 3),
                                        .seconds = luaL_optnumber(L, 4, 0),
                                        .parameters_only = true,
                                        .quiet = true};
    sel_scenario *scenario = NULL;
    sel_error error = {.status = SEL_OK};
    const sel_status status = sel_script_load(file, &options, &scenario, &error);
    sel_scenario_destroy(scenario);
    lua_pushstring(L, status ? error.text : NULL);
    return 1;
}

/* ---- the command ---- */

static void push_list(lua_State *L, const char *const *texts) {
    lua_newtable(L);
    for (int i = 0; texts[i]; i++) {
        lua_pushstring(L, texts[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static int call_main(lua_State *L) {
    static const luaL_Reg functions[] = {{"lock", host_lock},
                                         {"start", host_start},
                                         {"wait", host_wait},
                                         {"stop", host_stop},
                                         {"interrupted", host_interrupted},
                                         {"check", host_check},
                                         {"draw", sel_host_draw},
                                         {NULL, NULL}};
    const sel_sweep_options *options = lua_touserdata(L, 1);
    luaL_openlibs(L);
    luaL_loadbufferx(L, (const char *)sweep_lua, sizeof sweep_lua, "sweep", "t");
    luaL_newlib(L, functions);
    lua_pushboolean(L, isatty(STDERR_FILENO));
    lua_setfield(L, -2, "terminal");
    luaL_loadbufferx(L, (const char *)sweep_plot_lua, sizeof sweep_plot_lua, "sweep_plot", "t");
    lua_pushstring(L, options->file);
    lua_pushstring(L, options->directory);
    push_list(L, options->words);
    push_list(L, options->given);
    lua_pushinteger(L, options->threads);
    lua_pushinteger(L, options->devices);
    lua_call(L, 8, 1);
    return 1;
}

sel_status sel_sweep(const sel_sweep_options *options, sel_error *error) {
    sel_status status = SEL_OK;
    lua_State *L = luaL_newstate();
    if (!L) {
        return sel_fail_memory(error, "Lua", 0);
    }
    lua_pushcfunction(L, call_main);
    lua_pushlightuserdata(L, (void *)(uintptr_t)options);
    if (lua_pcall(L, 1, 1, 0)) {
        const bool usage = lua_istable(L, -1) && lua_getfield(L, -1, "usage");
        status = sel_fail(error, usage ? SEL_BAD_USAGE : SEL_BAD_FILE, "%s",
                          luaL_tolstring(L, -1, NULL));
    } else if (lua_isnil(L, -1)) {
        status = sel_fail(error, SEL_INTERRUPTED, "interrupted; called again, it goes on");
    } else if (lua_tointeger(L, -1) > 0) {
        status = sel_fail(error, SEL_BAD_SCENARIO, "%d runs failed; sweep.csv has the reasons",
                          (int)lua_tointeger(L, -1));
    }
    lua_close(L);
    sel_process_write(false);
    return status;
}
