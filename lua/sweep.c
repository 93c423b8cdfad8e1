/* sweep.c -- `selenite sweep`: what lua/sweep.lua needs of the engine: processes, files, pictures.
 *
 * A run is a process in a group of its own, so that Ctrl-C reaches it through the sweep alone, and
 * gets SIGTERM when the sweep is killed: it then writes its last state. All hold the lock of the
 * sweep's folder, so that a sweep that is called again waits until they have ended.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lualib.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/machine.h"
#include "engine/base/process.h"
#include "engine/output/picture.h"
#include "lua/state.h"
#include "sweep_lua.h"
#include "sweep_plot_lua.h"

enum { MOST_ARGUMENTS = 1200 };

static int raise_error(lua_State *L, const sel_error *error) {
    return luaL_error(L, "%s", error->text);
}

static int host_read(lua_State *L) {
    sel_error error = {.status = SEL_OK};
    char *text = NULL;
    size_t length;
    if (sel_file_read(luaL_checkstring(L, 1), (size_t)1 << 30, "", &text, &length, &error)) {
        free(text);
        return raise_error(L, &error);
    }
    lua_pushlstring(L, text, length);
    free(text);
    return 1;
}

static int host_replace(lua_State *L) {
    size_t length;
    const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &length);
    sel_error error = {.status = SEL_OK};
    FILE *to = sel_file_begin(path);
    if (to) {
        fwrite(text, 1, length, to);
    }
    return sel_file_end(to, path, NULL, &error) ? raise_error(L, &error) : 0;
}

static int host_exists(lua_State *L) {
    lua_pushboolean(L, access(luaL_checkstring(L, 1), F_OK) == 0);
    return 1;
}

static int host_remove(lua_State *L) {
    unlink(luaL_checkstring(L, 1));
    return 0;
}

/* The names in a folder, sorted; none where there is no folder. */
static int host_list(lua_State *L) {
    struct dirent **entry;
    const int count = scandir(luaL_checkstring(L, 1), &entry, NULL, alphasort);
    lua_newtable(L);
    for (int i = 0, next = 1; i < count; i++) {
        if (entry[i]->d_name[0] != '.') {
            lua_pushstring(L, entry[i]->d_name);
            lua_rawseti(L, -2, next++);
        }
        free(entry[i]);
    }
    if (count >= 0) {
        free(entry);
    }
    return 1;
}

static int host_make_folder(lua_State *L) {
    char path[SEL_PATH_ROOM];
    snprintf(path, sizeof path, "%s/", luaL_checkstring(L, 1));
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST) {
            return luaL_error(L, "%s: %s", path, strerror(errno));
        }
        *slash = '/';
    }
    return 0;
}

/* Holds until the process and all that it starts have ended. */
static int host_lock(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    const int lock = open(path, O_RDWR | O_CREAT, 0666);
    const struct timespec pause = {.tv_nsec = 200000000};
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
    const char *arguments[MOST_ARGUMENTS] = {NULL};
    const int count = (int)luaL_len(L, 1);
    const char *log = luaL_checkstring(L, 2);
    luaL_argcheck(L, count < MOST_ARGUMENTS, 1, "too many arguments");
    luaL_checkstack(L, count, "arguments");
    for (int i = 0; i < count; i++) {
        lua_geti(L, 1, i + 1);
        arguments[i] = luaL_checkstring(L, -1);
    }
    fflush(NULL);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_RDWR);
        const int errors = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) { /* it ended before the call */
            _exit(SEL_INTERRUPTED);
        }
        dup2(null, 0);
        dup2(null, 1);
        dup2(errors, 2);
        execv(arguments[0], (char *const *)(uintptr_t)arguments);
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
    if (pid <= 0) {
        return 0;
    }
    lua_pushinteger(L, pid);
    if (WIFSIGNALED(status)) {
        lua_pushinteger(L, WTERMSIG(status));
    } else {
        lua_pushnil(L);
    }
    lua_pushinteger(L, WEXITSTATUS(status));
    return 3;
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

/* host.show(line, lines): on a terminal over what was shown before, else `line` when it changes. */
static int host_show(lua_State *L) {
    static int shown;
    static char before[256];
    const char *line = luaL_checkstring(L, 1);
    const bool terminal = isatty(STDERR_FILENO);
    char counts[256];
    snprintf(counts, sizeof counts, "%.*s", (int)strcspn(line, ";"), line);
    if (!terminal && strcmp(counts, before) == 0) {
        return 0;
    }
    strcpy(before, counts);
    for (; terminal && shown > 0; shown--) {
        fputs("\033[A\033[K", stderr);
    }
    fprintf(stderr, "%s\n", line);
    for (lua_Integer i = 1, n = terminal ? luaL_len(L, 2) : 0; i <= n; i++, shown++) {
        lua_geti(L, 2, i);
        fprintf(stderr, "%.*s\n", 78, lua_tostring(L, -1));
    }
    shown += terminal;
    return 0;
}

/* ---- a picture: drawn FINE times as large, then each pixel is the mean of FINE x FINE ---- */

enum { FINE = 3 };

static sel_canvas *canvas_of(lua_State *L) {
    return luaL_checkudata(L, 1, "canvas");
}

static int number_of(lua_State *L, int index) {
    return (int)lround(FINE * luaL_checknumber(L, index));
}

static sel_colour colour_of(lua_State *L, int index) {
    const lua_Integer rgb = luaL_checkinteger(L, index);
    return (sel_colour){(uint8_t)(rgb >> 16), (uint8_t)(rgb >> 8), (uint8_t)rgb};
}

/* host.canvas(width, height) -> an object with the three that follow; pixels from the top left */
static int host_canvas(lua_State *L) {
    const int width = number_of(L, 1), height = number_of(L, 2);
    sel_error error = {.status = SEL_OK};
    sel_canvas *canvas = lua_newuserdatauv(L, sizeof *canvas, 0);
    *canvas = (sel_canvas){.pixels = NULL};
    luaL_setmetatable(L, "canvas");
    const sel_colour white = {255, 255, 255};
    return sel_canvas_create(width, height, white, canvas, &error) ? raise_error(L, &error) : 1;
}

static int canvas_free(lua_State *L) {
    sel_canvas_free(canvas_of(L));
    return 0;
}

/* canvas:fill(x, y, width, height, 0xrrggbb) */
static int canvas_fill(lua_State *L) {
    sel_canvas_fill(canvas_of(L), number_of(L, 2), number_of(L, 3), number_of(L, 4),
                    number_of(L, 5), colour_of(L, 6));
    return 0;
}

/* canvas:text(x, y, text, colour, part): `part` of its width stands left of x. Returns its width. */
static int canvas_text(lua_State *L) {
    const char *text = luaL_checkstring(L, 4);
    const int width = sel_canvas_text_width(text, 2 * FINE);
    const int left = (int)lround(width * luaL_optnumber(L, 6, 0));
    sel_canvas_text(canvas_of(L), number_of(L, 2) - left, number_of(L, 3), 2 * FINE, text,
                    colour_of(L, 5));
    return 0;
}

static int canvas_write(lua_State *L) {
    const sel_canvas *fine = canvas_of(L);
    sel_canvas canvas;
    const sel_colour white = {255, 255, 255};
    sel_error error = {.status = SEL_OK};
    if (sel_canvas_create(fine->width / FINE, fine->height / FINE, white, &canvas, &error)) {
        return raise_error(L, &error);
    }
    for (int i = 0; i < canvas.width * canvas.height; i++) {
        int sum[3] = {0, 0, 0};
        for (int k = 0; k < FINE * FINE; k++) {
            const int x = i % canvas.width * FINE + k % FINE, y = i / canvas.width * FINE + k / FINE;
            const sel_colour one = fine->pixels[y * fine->width + x];
            sum[0] += one.r, sum[1] += one.g, sum[2] += one.b;
        }
        for (int c = 0; c < 3; c++) {
            (&canvas.pixels[i].r)[c] = (uint8_t)(sum[c] / (FINE * FINE));
        }
    }
    const sel_status status = sel_canvas_write(&canvas, luaL_checkstring(L, 2), &error);
    sel_canvas_free(&canvas);
    return status ? raise_error(L, &error) : 0;
}

static const luaL_Reg canvas_functions[] = {{"fill", canvas_fill},   {"text", canvas_text},
                                            {"write", canvas_write}, {"__gc", canvas_free},
                                            {NULL, NULL}};

/* ---- the command ---- */

/* host.load(name) -> what lua/NAME.lua returns */
static int host_load(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    const bool plot = strcmp(name, "sweep_plot") == 0;
    if (luaL_loadbufferx(L, (const char *)(plot ? sweep_plot_lua : sweep_lua),
                         plot ? sizeof sweep_plot_lua : sizeof sweep_lua, name, "t")) {
        return lua_error(L);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 1, 1);
    return 1;
}

static const luaL_Reg host_functions[] = {{"read", host_read},
                                          {"replace", host_replace},
                                          {"exists", host_exists},
                                          {"remove", host_remove},
                                          {"list", host_list},
                                          {"make_folder", host_make_folder},
                                          {"lock", host_lock},
                                          {"start", host_start},
                                          {"wait", host_wait},
                                          {"stop", host_stop},
                                          {"interrupted", host_interrupted},
                                          {"now", host_now},
                                          {"check", host_check},
                                          {"show", host_show},
                                          {"canvas", host_canvas},
                                          {"load", host_load},
                                          {NULL, NULL}};

static void set_list(lua_State *L, const char *key, const char *const *words, int count) {
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushstring(L, words[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, key);
}

static int call_main(lua_State *L) {
    const sel_sweep_options *o = lua_touserdata(L, 1);
    luaL_openlibs(L);
    luaL_newmetatable(L, "canvas");
    luaL_setfuncs(L, canvas_functions, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_newtable(L);
    lua_pushvalue(L, -1);
    luaL_setfuncs(L, host_functions, 1);
    lua_getfield(L, -1, "load");
    lua_pushliteral(L, "sweep");
    lua_call(L, 1, 1);
    lua_newtable(L);
    const struct {
        const char *key, *value;
    } texts[] = {{"program", "/proc/self/exe"}, {"file", o->file}, {"directory", o->directory},
                 {"rows", o->rows}, {"precision", o->precision}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        lua_pushstring(L, texts[k].value);
        lua_setfield(L, -2, texts[k].key);
    }
    const struct {
        const char *key;
        int value;
    } numbers[] = {{"jobs", o->jobs}, {"threads", o->threads}, {"devices", o->devices}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        lua_pushinteger(L, numbers[k].value);
        lua_setfield(L, -2, numbers[k].key);
    }
    lua_pushboolean(L, o->force);
    lua_setfield(L, -2, "force");
    lua_pushboolean(L, o->quiet);
    lua_setfield(L, -2, "quiet");
    set_list(L, "words", o->words, o->word_count);
    set_list(L, "plots", o->plots, o->plot_count);
    set_list(L, "pass", o->pass, o->pass_count);
    lua_call(L, 1, 2);
    return 2;
}

sel_status sel_sweep(const sel_sweep_options *options, sel_error *error) {
    sel_status status = SEL_OK;
    lua_State *L = luaL_newstate();
    if (!L) {
        return sel_fail_memory(error, "Lua", 0);
    }
    sel_process_write(true);
    lua_pushcfunction(L, call_main);
    lua_pushlightuserdata(L, (void *)(uintptr_t)options);
    if (lua_pcall(L, 1, 2, 0)) {
        const bool usage = lua_istable(L, -1);
        if (usage) {
            lua_getfield(L, -1, "text");
        }
        status = sel_fail(error, usage ? SEL_BAD_USAGE : SEL_BAD_FILE, "%s",
                          luaL_tolstring(L, -1, NULL));
    } else if (lua_isstring(L, -1)) {
        status = sel_fail(error, SEL_INTERRUPTED, "%s", lua_tostring(L, -1));
    } else if (lua_tointeger(L, -2) > 0) {
        status = sel_fail(error, SEL_BAD_SCENARIO, "%d runs failed; %s/sweep.csv has the reasons",
                          (int)lua_tointeger(L, -2), options->directory);
    }
    lua_close(L);
    sel_process_write(false);
    return status;
}
