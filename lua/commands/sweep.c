/* sweep.c -- `selenite sweep`: the C part of sweep.lua: processes, files and checks.
 *
 * Each run is a process in a process group of its own, so that Ctrl-C reaches the sweep alone. If
 * the sweep is killed, its runs get SIGTERM and write their last state. Runs inherit the lock of
 * the sweep's folder, so that a new sweep waits until they have ended.
 *
 * As in Lua's library, a function that fails returns nil and the reason.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lualib.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/hardware.h"
#include "engine/base/process.h"
#include "engine/run/prepare.h"
#include "json_lua.h"
#include "lua/commands/commands.h"
#include "lua/commands/host.h"
#include "sweep_lua.h"

/* ---- files ---- */

/* Largest size of a file that the user names, and of a file in the sweep's folder. */
enum { MOST_BYTES = 1 << 30, MOST_OWN = 1 << 26 };

/* sweep.read(path, own) -> the text of a regular file. `own`: a file of the sweep's folder: no link
 * is followed, and nil without a reason means that there is no such file. */
static int sweep_read(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    const bool own = lua_toboolean(L, 2);
    char *text = NULL;
    size_t length = 0;
    struct stat found = {.st_mode = 0};
    sel_error error = {.status = SEL_OK};
    if (own && lstat(path, &found) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        lua_pushnil(L);
        return 1;
    }
    if (S_ISLNK(found.st_mode))
        sel_fail(&error, SEL_BAD_FILE, "%s: is a link", path);
    else
        sel_file_read(path, own ? MOST_OWN : MOST_BYTES, "a sweep reads tables and records of runs",
                      &text, &length, &error);
    if (!error.status)
        lua_pushlstring(L, text, length);
    free(text);
    return error.status ? sel_host_result(L, &error) : 1;
}

/* sweep.list(path) -> the names in a folder; nil: it does not exist; nil and a reason: no folder */
static int host_list(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 && errno == ENOENT)
        return lua_pushnil(L), 1;
    DIR *files = folder < 0 ? NULL : fdopendir(folder);
    if (!files) {
        sel_error error = {.status = SEL_OK};
        sel_file_close(folder);
        sel_fail(&error, SEL_BAD_FILE,
                 "%s: is a link, or no folder that can be read; move it away, or %s", path,
                 SEL_HOST_ADVICE);
        return sel_host_result(L, &error);
    }
    lua_newtable(L);
    for (struct dirent *entry; (entry = readdir(files));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            lua_pushstring(L, entry->d_name);
            lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        }
    }
    closedir(files);
    return 1;
}

/* sweep.same(path, path) -> whether both name the same file */
static int host_same(lua_State *L) {
    struct stat a, b;
    lua_pushboolean(L, stat(luaL_checkstring(L, 1), &a) == 0 &&
                           stat(luaL_checkstring(L, 2), &b) == 0 && a.st_dev == b.st_dev &&
                           a.st_ino == b.st_ino);
    return 1;
}

/* sweep.is_there(path) -> whether a regular file exists there, which is no link */
static int host_is_there(lua_State *L) {
    struct stat found;
    lua_pushboolean(L, lstat(luaL_checkstring(L, 1), &found) == 0 && S_ISREG(found.st_mode));
    return 1;
}

/* ---- processes ---- */

/* sweep.lock(directory, own): creates the directory and locks it until this process and all its
 * runs have ended. `own`: the user did not choose it, so it may not be a link. From here on a
 * signal ends the sweep in order. */
static int host_lock(lua_State *L) {
    const char *directory = luaL_checkstring(L, 1);
    const char *path = lua_pushfstring(L, "%s/sweep.lock", directory);
    sel_error error = {.status = SEL_OK};
    struct stat found;
    if ((lua_toboolean(L, 2) && sel_folder_refuse_link(directory, &error)) ||
        sel_run_directory(directory, false, &error))
        return sel_host_result(L, &error);
    /* Runs inherit the lock. */
    const int lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    if (lock < 0 || fstat(lock, &found) != 0 || !S_ISREG(found.st_mode)) {
        sel_fail(&error, SEL_BAD_FILE,
                 "%s: is a link, or no file that can be written; remove it, or %s", path,
                 SEL_HOST_ADVICE);
        sel_file_close(lock);
        return sel_host_result(L, &error);
    }
    if (flock(lock, LOCK_EX | LOCK_NB) != 0)
        fprintf(stderr, "waiting for the runs of another sweep there to end\n");
    const bool held = flock(lock, LOCK_EX) == 0; /* a signal ends the wait */
    sel_process_write(true);
    return luaL_fileresult(L, held, path);
}

/* Creates the log of a run, which begins with its command; replaces that of an earlier run. Returns
 * the descriptor; -1 with the error. */
static int sweep_begin_log(const char *path, const char *begins, const char *command,
                           sel_error *error) {
    if (sel_file_may_replace(path, begins, "file of Selenite", SEL_HOST_ADVICE, error))
        return -1;
    unlink(path);
    const int log = sel_file_create(path);
    const ssize_t length = (ssize_t)strlen(command);
    if (log < 0 || write(log, command, (size_t)length) != length) {
        sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s", path, strerror(errno));
        sel_file_close(log);
        return -1;
    }
    return log;
}

/* sweep.start(log, begins, command, { program, arguments ... }) -> pid */
static int host_start(lua_State *L) {
    const char **arguments = sel_script_strings(L, 4);
    sel_error error = {.status = SEL_OK};
    const int log = sweep_begin_log(luaL_checkstring(L, 1), luaL_checkstring(L, 2),
                                    luaL_checkstring(L, 3), &error);
    if (log < 0)
        return sel_host_result(L, &error);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(null, 0);
        dup2(null, 1);
        dup2(log, 2);
        if (getppid() == parent) /* else it was killed before it could be watched */
            execv(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(SEL_NO_DEVICE);
    }
    sel_file_close(log);
    lua_pushinteger(L, pid);
    return pid < 0 ? luaL_fileresult(L, false, "a run cannot be started") : 1;
}

/* sweep.wait(seconds) -> whether a signal came; the pid of a run that has ended, or a pid that no
 * run has; its exit status, or 128 + the signal that killed it */
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

/* sweep.check(file, { "name=value" ... }, trust, seconds) -> whether the scenario accepts the
 * values
 */
static int sweep_check(lua_State *L) {
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

static int sweep_call_main(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"lock", host_lock},  {"start", host_start},     {"wait", host_wait},
        {"stop", host_stop},  {"check", sweep_check},    {"draw", sel_host_draw},
        {"read", sweep_read}, {"write", sel_host_write}, {"may_write", sel_host_may_write},
        {"list", host_list},  {"same", host_same},       {"is_there", host_is_there},
        {NULL, NULL}};
    luaL_openlibs(L);
    luaL_loadbufferx(L, (const char *)sweep_lua, sizeof sweep_lua, "=sweep", "t");
    luaL_newlib(L, functions);
    sel_script_push_strings(L, lua_touserdata(L, 1));
    sel_script_push_strings(L, lua_touserdata(L, 2));
    lua_pushvalue(L, 3);
    lua_pushinteger(L, sel_machine_threads());
    lua_pushboolean(L, isatty(STDERR_FILENO));
    luaL_loadbufferx(L, (const char *)json_lua, sizeof json_lua, "=json", "t");
    lua_call(L, 0, 1);
    lua_call(L, 7, 0);
    return 0;
}

sel_status sel_sweep(const char *const *words, const char *const *given, int backend,
                     sel_error *error) {
    sel_choice choice;
    sel_status status = sel_backend_choose(sel_solvers[0], backend, 0, &choice, error);
    lua_State *L = status ? NULL : luaL_newstate();
    if (!L)
        return status ? status : sel_fail_memory(error, "Lua", 0);
    lua_pushcfunction(L, sweep_call_main);
    lua_pushlightuserdata(L, (void *)(uintptr_t)words);
    lua_pushlightuserdata(L, (void *)(uintptr_t)given);
    lua_pushinteger(L, choice.backend->devices ? choice.backend->devices() : 0);
    if (lua_pcall(L, 3, 0, 0)) { /* { status, text }, or a text */
        const bool told = lua_istable(L, 1) && lua_geti(L, 1, 1) && lua_geti(L, 1, 2);
        sel_fail(error, told ? (sel_status)lua_tointeger(L, 2) : SEL_BAD_FILE, "%s",
                 luaL_tolstring(L, -1, NULL));
    }
    lua_close(L);
    while (wait(NULL) > 0) { /* until stopped runs have ended */
    }
    sel_process_write(false);
    return error->status;
}
