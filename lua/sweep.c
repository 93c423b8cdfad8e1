/* sweep.c -- `selenite sweep`: what lua/sweep.lua needs of the engine: processes and pictures.
 *
 * A run is a process in a group of its own, so that Ctrl-C reaches it through the sweep alone; when
 * the sweep is killed it gets SIGTERM, and writes its last state. All hold the lock of the sweep's
 * folder, so that a sweep that is called again waits until they have ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <lualib.h>
#include <math.h>
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
#include "engine/output/picture.h"
#include "lua/state.h"
#include "sweep_lua.h"
#include "sweep_plot_lua.h"

enum { MOST_ARGUMENTS = 1200, FINE = 3 };

/* ---- processes ---- */

/* Makes the folder and holds its lock until this process and all that it starts have ended. */
static int host_lock(lua_State *L) {
    char path[SEL_PATH_ROOM];
    const struct timespec pause = {.tv_nsec = 200000000};
    snprintf(path, sizeof path, "%s/sweep.lock", luaL_checkstring(L, 1));
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    const int lock = open(path, O_RDWR | O_CREAT, 0666);
    for (bool told = false; lock < 0 || flock(lock, LOCK_EX | LOCK_NB); told = true) {
        if (lock < 0 || errno != EWOULDBLOCK || *sel_process_interrupt()) {
            return luaL_error(L, "%s: %s", path, strerror(errno));
        }
        if (!told) {
            fprintf(stderr, "waiting for the runs of another sweep there to end\n");
        }
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* host.start({ program, arguments }, log) -> pid */
static int host_start(lua_State *L) {
    const char *arguments[MOST_ARGUMENTS] = {NULL}, *log = luaL_checkstring(L, 2);
    const int count = (int)luaL_len(L, 1);
    luaL_argcheck(L, count < MOST_ARGUMENTS, 1, "too many parameters");
    luaL_checkstack(L, count, "arguments");
    for (int i = 0; i < count; i++) {
        lua_geti(L, 1, i + 1);
        arguments[i] = luaL_checkstring(L, -1);
    }
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
    return pid < 0 ? luaL_error(L, "a run cannot be started: %s", strerror(errno)) : 1;
}

/* host.wait(seconds) -> pid, signal or nil, exit status; nothing when no run has ended. */
static int host_wait(lua_State *L) {
    const double end = sel_machine_seconds() + luaL_checknumber(L, 1);
    const struct timespec pause = {.tv_nsec = 10000000};
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) <= 0 && sel_machine_seconds() < end) {
        nanosleep(&pause, NULL);
    }
    lua_pushinteger(L, pid);
    lua_pushinteger(L, WTERMSIG(status));
    if (!WIFSIGNALED(status)) {
        lua_pushnil(L);
        lua_replace(L, -2);
    }
    lua_pushinteger(L, WEXITSTATUS(status));
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

static int host_now(lua_State *L) {
    lua_pushnumber(L, sel_machine_seconds());
    return 1;
}

/* host.check(file, "name=value") -> why the scenario does not take it, or nothing */
static int host_check(lua_State *L) {
    const char *file = luaL_checkstring(L, 1), *assignment = luaL_checkstring(L, 2);
    const sel_script_options options = {
        .count = 1, .assignments = &assignment, .parameters_only = true, .quiet = true};
    sel_scenario *scenario = NULL;
    sel_error error = {.status = SEL_OK};
    const sel_status status = sel_script_load(file, &options, &scenario, &error);
    sel_scenario_destroy(scenario);
    lua_pushstring(L, error.text);
    return status ? 1 : 0;
}

/* host.show(line, lines): on a terminal over what was shown before, else `line` when its counts
 * change. */
static int host_show(lua_State *L) {
    static int shown;
    static char before[128];
    const char *line = luaL_checkstring(L, 1);
    const size_t counts = strcspn(line, ";");
    const bool terminal = isatty(STDERR_FILENO);
    if (!terminal && strncmp(line, before, counts) == 0 && !before[counts]) {
        return 0;
    }
    snprintf(before, sizeof before, "%.*s", (int)counts, line);
    for (; shown > 0; shown--) {
        fputs("\033[A\033[K", stderr);
    }
    fprintf(stderr, "%s\n", line);
    for (lua_Integer n = terminal ? luaL_len(L, 2) : -1; shown <= n; shown++) {
        if (lua_geti(L, 2, shown) == LUA_TSTRING) {
            fprintf(stderr, "%.78s\n", lua_tostring(L, -1));
        }
    }
    return 0;
}

/* ---- a picture, drawn FINE times as large; then each pixel is the mean of FINE x FINE ---- */

static int number_of(lua_State *L, int index) {
    return (int)lround(FINE * luaL_checknumber(L, index));
}

static sel_colour colour_of(lua_State *L, int index) {
    const lua_Integer rgb = luaL_checkinteger(L, index);
    return (sel_colour){(uint8_t)(rgb >> 16), (uint8_t)(rgb >> 8), (uint8_t)rgb};
}

/* Pushes an object with the functions that follow; pixels count from the top left. */
static sel_canvas *push_canvas(lua_State *L, int width, int height) {
    sel_error error = {.status = SEL_OK};
    sel_canvas *canvas = lua_newuserdatauv(L, sizeof *canvas, 0);
    *canvas = (sel_canvas){.pixels = NULL};
    luaL_setmetatable(L, "canvas");
    if (sel_canvas_create(width, height, (sel_colour){255, 255, 255}, canvas, &error)) {
        luaL_error(L, "%s", error.text);
    }
    return canvas;
}

static int host_canvas(lua_State *L) {
    push_canvas(L, number_of(L, 1), number_of(L, 2));
    return 1;
}

static int canvas_free(lua_State *L) {
    sel_canvas_free(luaL_checkudata(L, 1, "canvas"));
    return 0;
}

/* canvas:fill(x, y, width, height, 0xrrggbb) */
static int canvas_fill(lua_State *L) {
    sel_canvas_fill(luaL_checkudata(L, 1, "canvas"), number_of(L, 2), number_of(L, 3),
                    number_of(L, 4), number_of(L, 5), colour_of(L, 6));
    return 0;
}

/* canvas:text(x, y, text, colour, part): `part` of its width stands left of x. */
static int canvas_text(lua_State *L) {
    const char *text = luaL_checkstring(L, 4);
    const double left = sel_canvas_text_width(text, 2 * FINE) * luaL_checknumber(L, 6);
    sel_canvas_text(luaL_checkudata(L, 1, "canvas"), number_of(L, 2) - (int)left, number_of(L, 3),
                    2 * FINE, text, colour_of(L, 5));
    return 0;
}

/* canvas:write(path) */
static int canvas_write(lua_State *L) {
    const sel_canvas *fine = luaL_checkudata(L, 1, "canvas");
    const sel_canvas *canvas = push_canvas(L, fine->width / FINE, fine->height / FINE);
    sel_error error = {.status = SEL_OK};
    for (int i = 0; i < canvas->width * canvas->height; i++) {
        int sum[3] = {0, 0, 0};
        for (int k = 0; k < FINE * FINE; k++) {
            const int x = i % canvas->width * FINE + k % FINE;
            const int y = i / canvas->width * FINE + k / FINE;
            const sel_colour one = fine->pixels[y * fine->width + x];
            sum[0] += one.r, sum[1] += one.g, sum[2] += one.b;
        }
        canvas->pixels[i] =
            (sel_colour){(uint8_t)(sum[0] / (FINE * FINE)), (uint8_t)(sum[1] / (FINE * FINE)),
                         (uint8_t)(sum[2] / (FINE * FINE))};
    }
    const sel_status status = sel_canvas_write(canvas, luaL_checkstring(L, 2), &error);
    return status ? luaL_error(L, "%s", error.text) : 0;
}

/* ---- the command ---- */

/* host.load("sweep_plot") -> what lua/sweep_plot.lua returns */
static int host_load(lua_State *L) {
    const char *text = (const char *)sweep_plot_lua;
    luaL_loadbufferx(L, text, sizeof sweep_plot_lua, luaL_checkstring(L, 1), "t");
    lua_call(L, 0, 1);
    return 1;
}

static const luaL_Reg canvas_functions[] = {{"fill", canvas_fill},
                                            {"text", canvas_text},
                                            {"write", canvas_write},
                                            {"__gc", canvas_free},
                                            {NULL, NULL}};
static const luaL_Reg host_functions[] = {{"lock", host_lock},   {"start", host_start},
                                          {"wait", host_wait},   {"stop", host_stop},
                                          {"now", host_now},     {"interrupted", host_interrupted},
                                          {"check", host_check}, {"canvas", host_canvas},
                                          {"load", host_load},   {"show", host_show},
                                          {NULL, NULL}};

static int call_main(lua_State *L) {
    const char *const *options = lua_touserdata(L, 1);
    luaL_openlibs(L);
    luaL_newmetatable(L, "canvas");
    luaL_setfuncs(L, canvas_functions, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    luaL_loadbufferx(L, (const char *)sweep_lua, sizeof sweep_lua, "sweep", "t");
    luaL_newlib(L, host_functions);
    lua_call(L, 1, 1);
    lua_newtable(L);
    for (int i = 0; options[i]; i++) {
        lua_pushstring(L, options[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_call(L, 1, 2);
    return 2;
}

sel_status sel_sweep(const char *const *options, sel_error *error) {
    sel_status status = SEL_OK;
    lua_State *L = luaL_newstate();
    if (!L) {
        return sel_fail_memory(error, "Lua", 0);
    }
    sel_process_write(true);
    lua_pushcfunction(L, call_main);
    lua_pushlightuserdata(L, (void *)(uintptr_t)options);
    if (lua_pcall(L, 1, 2, 0)) {
        const bool usage = lua_istable(L, -1) && lua_getfield(L, -1, "usage");
        status = sel_fail(error, usage ? SEL_BAD_USAGE : SEL_BAD_FILE, "%s",
                          luaL_tolstring(L, -1, NULL));
    } else if (lua_isstring(L, -1)) {
        status = sel_fail(error, SEL_INTERRUPTED, "%s", lua_tostring(L, -1));
    } else if (lua_tointeger(L, -2) > 0) {
        status = sel_fail(error, SEL_BAD_SCENARIO, "%d runs failed; sweep.csv has the reasons",
                          (int)lua_tointeger(L, -2));
    }
    lua_close(L);
    sel_process_write(false);
    return status;
}
