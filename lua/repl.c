/* repl.c -- `selenite repl`: the scenario's API at a prompt, with history; masks as text and
 * pictures.
 *
 * A line is a chunk of Lua in the script's sandbox, and under its limits; one that passes them ends
 * the script, and the prompt begins afresh. libedit edits lines where it is installed.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/base/process.h"
#include "engine/scene/domain.h"
#include "lua/state.h"
#include "repl_lua.h"

/* ---- lines ---- */

/* A line, freed by the caller; NULL at the end of the input. */
static char *read_line(const char *prompt) {
    static char *line;
    static size_t room;
    fputs(isatty(STDIN_FILENO) ? prompt : "", stdout);
    fflush(stdout);
    if (getline(&line, &room, stdin) < 0)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return strdup(line);
}

/* Functions of libedit, where it is there, on a terminal. */
static char *(*read_edited)(const char *prompt) = read_line;
static void (*keep_line)(const char *line);
static int (*write_history)(const char *file);
static char history[4200];
static bool reads; /* lines; false at the end of the input */

/* host.read(prompt) -> a line; nil at the end of the input, false where Ctrl-C has dropped it. A
 * line has the limits of a script. */
static int host_read(lua_State *L) {
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
    dropped ? lua_pushboolean(L, false) : (void)lua_pushstring(L, line);
    free(line);
    sel_limits_begin(script, script->seconds);
    sel_limits_start(script, SEL_MAIN_CHUNK);
    return 1;
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

/* host.mask(simulation, columns, z) -> a plane of cells, at most so many along x: a letter for
 * each, small for the region that makes it solid, large for the one whose face it touches; the
 * cells along x; the letters' regions. */
static int host_mask(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_error error = {.status = SEL_OK}, *outer = script->error;
    sel_domain *domain = NULL;
    const int64_t most = luaL_checkinteger(L, 2);
    const double z = luaL_optnumber(L, 3, (double)NAN);
    script->error = &error;
    lua_pushvalue(L, 1);
    sel_fill_scenario(script, "mask");
    script->error = outer;
    const sel_limits limits = sel_limits_leave(L);
    if (!error.status &&
        !sel_domain_create(&script->scenario->simulations[0], NULL, &domain, &error))
        push_plane(L, domain, most, z);
    sel_domain_destroy(domain);
    sel_limits_come_back(L, &limits);
    return error.status ? sel_host_result(L, &error) : 3;
}

/* ---- the prompt ---- */

/* Reads and runs lines until the input ends. */
static void prompt(lua_State *L) {
    static const luaL_Reg functions[] = {{"read", host_read},
                                         {"mask", host_mask},
                                         {"draw", sel_host_draw},
                                         {"value_text", sel_host_value_text},
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
    puts("sel, shape, law, out; sim: the scenario; mask(shape or sim), picture(shape or sim, "
         "\"mask.png\"); Ctrl-D ends");
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
