/* repl.c -- `selenite repl`: the C part of repl.lua: the scenario's API at a prompt, with history;
 * help, checks of tables, masks as text and pictures.
 *
 * A line is a chunk of Lua in the script's sandbox and under its limits. A line that exceeds a
 * limit ends the script, and the prompt starts again. Each line is a source of its own, "line 3",
 * so that messages name it. Lines are edited with libedit if it is installed.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/process.h"
#include "engine/scene/domain.h"
#include "lua/commands/commands.h"
#include "lua/commands/host.h"
#include "lua/tables/tables.h"
#include "repl_lua.h"

/* Largest number of cells for which the solver's checks run when a simulation is typed: a moment.
 */
enum { MOST_CHECKED = 1 << 20 };

/* ---- lines ---- */

/* Reads a line, to be freed by the caller; NULL at the end of the input. */
static char *repl_read_line(const char *prompt) {
    static char *line;
    static size_t room;
    fputs(isatty(STDIN_FILENO) ? prompt : "", stdout);
    fflush(stdout);
    if (getline(&line, &room, stdin) < 0)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return strdup(line);
}

/* Functions of libedit, on a terminal and if it is installed. */
static char *(*read_edited)(const char *prompt) = repl_read_line;
static void (*keep_line)(const char *line);
static int (*write_history)(const char *file);
static char history[4200];
static bool reads;      /* false after the end of the input */
static int line_number; /* of the last line */

/* host.read(prompt) -> line, its number. nil: end of the input; false: Ctrl-C dropped the line.
 * Each line gets the limits of a script, and may declare parameters of its own. */
static int repl_read(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const char *prompt = luaL_checkstring(L, 1);
    sel_limits_stop(script);
    sel_process_write(true);
    char *line = read_edited(prompt);
    const bool dropped = *sel_process_interrupt() == SIGINT;
    sel_process_write(false);
    if (line && *line && keep_line) {
        keep_line(line);
        write_history(history);
    }
    if (dropped) {
        clearerr(stdin);
        puts("");
    }
    reads = line || dropped;
    line_number++;
    script->chunk->declared = false;
    dropped ? lua_pushboolean(L, false) : (void)lua_pushstring(L, line);
    free(line);
    sel_limits_begin(script, script->seconds);
    sel_limits_start(script, SEL_MAIN_CHUNK);
    lua_pushinteger(L, line_number);
    return 2;
}

/* host.compile(text, number, environment) -> function; or nil and Lua's message. The text begins on
 * line `number`. */
static int host_compile(lua_State *L) {
    sel_script *script = sel_script_of(L);
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    const char *name = lua_pushfstring(L, "line %d", (int)luaL_checkinteger(L, 2));
    sel_source *source = sel_source_create(script->arena, name, text, length);
    if (!source)
        return sel_script_no_memory(script, "a line", length);
    if (!sel_source_compile(L, source)) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    source->next = script->sources;
    script->sources = source;
    lua_pushvalue(L, 3);
    lua_setupvalue(L, -2, 1);
    return 1;
}

/* ---- tables ---- */

/* Argument and result of fill_alone. */
typedef struct filling {
    const char *what; /* names the table in messages */
    int count;        /* of simulations */
} filling;

static int fill_alone(lua_State *L) {
    filling *f = lua_touserdata(L, 2);
    f->count = sel_fill_alone(sel_script_of(L), 1, f->what);
    return 0;
}

/* Fills the table at index 1 by itself; mistakes go to `error`. Returns the number of simulations.
 */
static int fill_apart(lua_State *L, const char *what, sel_error *error) {
    sel_script *script = sel_script_of(L);
    sel_error *outer = script->error;
    filling f = {what, 0};
    script->error = error;
    lua_pushcfunction(L, fill_alone);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, &f);
    const int called = lua_pcall(L, 2, 0, 0);
    script->error = outer;
    if (called != LUA_OK && script->broken) {
        sel_fail(outer, error->status, "%s", error->text);
        lua_error(L);
    }
    if (called != LUA_OK) {
        sel_fail(error, SEL_BAD_SCENARIO, "%s", luaL_tolstring(L, -1, NULL));
        lua_pop(L, 2);
    }
    return f.count;
}

static sel_status repl_prepare(const sel_simulation *simulation, const sel_settings *settings,
                               sel_error *error) {
    sel_prepared prepared;
    const sel_status status = sel_prepare(simulation, settings, &prepared, error);
    sel_prepared_release(&prepared);
    return status;
}

/* host.check(value, whole) -> true; or nil and the mistakes of its tables, and of small simulations
 * those that the solver finds before a run. `whole`: prints the output of `selenite check`. */
static int repl_check(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    const sel_settings any = {.precision = -1, .backend = -1};
    const sel_check_wants wants = {.regions = false};
    const bool whole = lua_toboolean(L, 2);
    sel_error error = {.status = SEL_OK};
    const int count = fill_apart(L, "check", &error);
    const sel_limits limits = sel_limits_suspend(L);
    if (count > 0 && !error.status)
        sel_fill_fields(script, &error);
    for (int i = 0; i < count && !error.status; i++) {
        const sel_simulation *simulation = &script->scenario->simulations[i];
        const sel_ints *size = &simulation->params->size;
        double cells = 1;
        for (int axis = 0; axis < size->n; axis++)
            cells *= (double)size->v[axis];
        if (whole)
            sel_check(simulation, &any, &wants, stdout, &error);
        else if (cells <= MOST_CHECKED)
            repl_prepare(simulation, &settings, &error);
    }
    sel_limits_resume(L, &limits);
    if (whole && !error.status && count == 0)
        sel_fail(&error, SEL_BAD_SCENARIO,
                 "check(SIMULATION) takes what sel.lbm { ... } and the "
                 "other solvers return, or a list of them");
    return sel_host_result(L, &error);
}

/* host.help(name or nil) -> true, or nil and the error's text */
static int host_help(lua_State *L) {
    sel_error error = {.status = SEL_OK};
    sel_help(stdout, luaL_optstring(L, 1, NULL), &error);
    return sel_host_result(L, &error);
}

/* ---- masks ---- */

static char letter(char first, uint8_t region) {
    return (char)(first + (region - 1) % 26);
}

/* Pushes what host.mask returns. */
static void push_plane(lua_State *L, const sel_domain *domain, int64_t most, double z) {
    const sel_grid *grid = &domain->grid;
    sel_box box = sel_grid_box(grid);
    const double plane = isnan(z) ? (double)(grid->n[2] / 2) : sel_index(grid, 2, z) + 0.5;
    box.lo[2] = (int64_t)fmax(0, fmin(plane, (double)(grid->n[2] - 1)));
    box.hi[2] = box.lo[2] + 1;
    box.stride[0] = box.stride[1] = (grid->n[0] - 1) / most + 1;
    const int64_t width = (grid->n[0] - 1) / box.stride[0] + 1;
    const size_t count = (size_t)(width * ((grid->n[1] - 1) / box.stride[1] + 1));
    uint8_t *cells = lua_newuserdatauv(L, 3 * count, 0);
    const sel_cell_marks marks = {cells, cells + count, cells + 2 * count};
    sel_domain_cells(domain, &box, &marks);
    for (size_t i = 0; i < count; i++)
        cells[i] = (uint8_t)(cells[i]            ? letter('a', cells[i])
                             : marks.boundary[i] ? letter('A', marks.boundary[i])
                                                 : '.');
    lua_pushlstring(L, (const char *)cells, count);
    lua_pushinteger(L, width);
    lua_pushliteral(L, "");
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        lua_pushfstring(L, "%s%c %s", r > 1 ? ", " : "", letter('a', (uint8_t)r),
                        sel_region_name(domain, r, text));
        lua_concat(L, 2);
    }
}

/* host.mask(simulation, columns, z) -> plane, cells along x, regions by letter. The plane has at
 * most `columns` letters per row, one per cell: a small letter for the region that makes the cell
 * solid, a capital for the region whose face it touches. */
static int host_mask(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_error error = {.status = SEL_OK};
    sel_domain *domain = NULL;
    const int64_t most = luaL_checkinteger(L, 2);
    const double z = luaL_optnumber(L, 3, (double)NAN);
    luaL_argcheck(L, most > 0, 2, "no number of columns");
    fill_apart(L, "mask", &error);
    const sel_limits limits = sel_limits_suspend(L);
    if (!error.status &&
        !sel_domain_create(&script->scenario->simulations[0], NULL, &domain, &error))
        push_plane(L, domain, most, z);
    sel_domain_destroy(domain);
    sel_limits_resume(L, &limits);
    return error.status ? sel_host_result(L, &error) : 3;
}

/* host.path(text) -> text, checked as the path of a picture */
static int host_path(lua_State *L) {
    sel_script_path(L, 1, "picture: the path");
    lua_settop(L, 1);
    return 1;
}

/* ---- the prompt ---- */

/* Reads and runs lines until the input ends. */
static void prompt(lua_State *L) {
    static const luaL_Reg functions[] = {{"read", repl_read},   {"compile", host_compile},
                                         {"check", repl_check}, {"help", host_help},
                                         {"mask", host_mask},   {"draw", sel_host_draw},
                                         {"path", host_path},   {"value_text", sel_host_value_text},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
    lua_insert(L, -2);
    lua_setfield(L, -2, "sim");
    sel_sandbox_run(L, repl_lua, sizeof repl_lua, 0);
}

sel_status sel_repl(const char *path, sel_script_options options, sel_error *error) {
    void *library = isatty(STDIN_FILENO) ? dlopen("libedit.so.2", RTLD_NOW) : NULL;
    const char *home = getenv("HOME");
    sel_status status;
    if (library) {
        int (*read_history)(const char *file) = dlsym(library, "read_history");
        read_edited = dlsym(library, "readline");
        keep_line = dlsym(library, "add_history");
        write_history = dlsym(library, "write_history");
        snprintf(history, sizeof history, "%s/.selenite_history", home ? home : "");
        read_history(history);
    }
    puts(
        "sel, shape, law, out; sim: the scenario; check(sim); mask(shape or sim), picture(shape or "
        "sim, \"mask.png\"); help, help NAME; Ctrl-D ends");
    options.text = path ? NULL : "";
    do {
        sel_scenario *scenario = NULL;
        reads = false;
        *error = (sel_error){.status = SEL_OK};
        status = sel_script_run(path ? path : "repl", &options, prompt, &scenario, error);
        sel_scenario_destroy(scenario);
        if (reads)
            puts(error->text);
    } while (reads);
    return status;
}
