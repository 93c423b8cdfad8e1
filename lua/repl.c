/* repl.c -- `selenite repl`: the scenario's API at a prompt, with history; masks as text and
 * pictures.
 *
 * A line is a chunk of Lua in the script's sandbox, and under its limits; one that passes them ends
 * the script, and the prompt begins afresh. libedit edits lines where it is installed.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/run/prepare.h"
#include "lua/state.h"
#include "repl_lua.h"

/* ---- lines ---- */

/* Functions of libedit; NULL: there is none, or no terminal. */
static struct {
    char *(*read)(const char *);
    void (*keep)(const char *);
    int (*read_history)(const char *);
    int (*write_history)(const char *);
} editor;
static char history[4200];
static bool at_end; /* of the input */

static void open_editor(void) {
    static const char *const names[] = {"readline", "add_history", "read_history", "write_history"};
    void *library = isatty(STDIN_FILENO) ? dlopen("libedit.so.2", RTLD_NOW) : NULL;
    void *functions[sizeof names / sizeof *names];
    const char *home = getenv("HOME");
    if (library) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            functions[i] = dlsym(library, names[i]);
        }
        memcpy(&editor, functions, sizeof editor); /* C knows no cast to a function */
    }
    if (library && home && *home) {
        snprintf(history, sizeof history, "%s/.selenite_history", home);
        editor.read_history(history);
    }
}

/* host.read(prompt) -> a line; nil at the end of the input */
static int host_read(lua_State *L) {
    const char *prompt = luaL_checkstring(L, 1);
    char *line = NULL;
    size_t room = 0;
    if (editor.read) {
        line = editor.read(prompt);
        if (line && *line) {
            editor.keep(line);
            editor.write_history(history);
        }
    } else {
        fputs(isatty(STDIN_FILENO) ? prompt : "", stdout);
        fflush(stdout);
        if (getline(&line, &room, stdin) < 0) {
            free(line);
            line = NULL;
        } else {
            line[strcspn(line, "\n")] = '\0';
        }
    }
    at_end = !line;
    lua_pushstring(L, line);
    free(line);
    return 1;
}

/* host.print(line): on standard output; that of scripts goes elsewhere. */
static int host_print(lua_State *L) {
    puts(luaL_checkstring(L, 1));
    return 0;
}

/* host.load(text, names) -> a function whose globals are `names`; or nil, what is wrong */
static int host_load(lua_State *L) {
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    if (luaL_loadbufferx(L, text, length, "=line", "t") != LUA_OK) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushvalue(L, 2);
    lua_setupvalue(L, -2, 1);
    return 1;
}

/* host.kind(value) -> "shape", "ball" of what shape.ball made; nothing of what nobody made */
static int host_kind(lua_State *L) {
    const sel_mark *mark = lua_istable(L, 1) ? sel_script_mark(L, 1) : NULL;
    lua_pushstring(L, mark ? mark->group : NULL);
    lua_pushstring(L, mark ? mark->name : NULL);
    return mark ? 2 : 0;
}

/* ---- masks ---- */

/* Pushes what host.mask returns. */
static void push_plane(lua_State *L, const sel_domain *domain, double z) {
    const sel_grid *grid = &domain->grid;
    const double cell = isnan(z) ? (double)(grid->n[2] / 2) : sel_index(grid, 2, z) + 0.5;
    const size_t count = (size_t)(grid->n[0] * grid->n[1]);
    uint8_t *cells = lua_newuserdatauv(L, 3 * count, 0);
    const sel_cell_marks marks = {cells, cells + count, cells + 2 * count};
    sel_box box = sel_grid_box(grid);
    box.lo[2] = (int64_t)fmax(0, fmin(cell, (double)(grid->n[2] - 1)));
    box.hi[2] = box.lo[2] + 1;
    memset(cells, 0, 3 * count);
    sel_domain_cells(domain, &box, &marks);
    lua_pushinteger(L, grid->n[0]);
    lua_pushinteger(L, grid->n[1]);
    lua_pushlstring(L, (const char *)marks.cell_type, count);
    lua_pushlstring(L, (const char *)marks.boundary, count);
    lua_newtable(L);
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        lua_pushstring(L, sel_region_name(domain, r, text));
        lua_rawseti(L, -2, r);
    }
}

/* host.mask(simulation, z) -> cells along x and y of a plane; two strings with a byte for each: the
 * number of the region that makes it solid, and of the one whose face it touches; the names of
 * regions */
static int host_mask(lua_State *L) {
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    const double z = luaL_optnumber(L, 2, (double)NAN);
    sel_script *script = sel_script_of(L);
    sel_error error = {.status = SEL_OK}, *outer = script->error;
    script->error = &error;
    lua_pushvalue(L, 1);
    sel_fill_scenario(script, "mask");
    script->error = outer;
    const sel_limits limits = sel_limits_leave(L);
    if (!error.status) {
        sel_prepared prepared;
        if (!sel_prepare(&script->scenario->simulations[0], &settings, &prepared, &error)) {
            push_plane(L, prepared.domain, z);
        }
        sel_prepared_release(&prepared);
    }
    sel_limits_come_back(L, &limits);
    return error.status ? luaL_error(L, "%s", error.text) : 5;
}

/* ---- the prompt ---- */

/* Calls what lua/repl.lua has made of a line, at the top, under the limits of a script. */
static void run_line(lua_State *L, sel_script *script) {
    sel_error error = {.status = SEL_OK}, *outer = script->error;
    script->error = &error;
    sel_limits_begin(script, script->seconds);
    sel_limits_start(script, SEL_MAIN_CHUNK);
    const bool wrong = lua_pcall(L, 0, 0, 0) != LUA_OK;
    sel_limits_stop(script);
    sel_limits_end(script);
    fflush(stdout);
    if (wrong) {
        sel_limits_report(script, (sel_where){NULL, 0}, "");
        fprintf(stderr, "%s\n", script->broken ? script->ended.text : error.text);
    }
    script->error = outer;
}

void sel_prompt(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"read", host_read},     {"load", host_load},
        {"kind", host_kind},     {"mask", host_mask},
        {"draw", sel_host_draw}, {"value_text", sel_host_value_text},
        {"print", host_print},   {NULL, NULL}};
    sel_script *script = sel_script_of(L);
    lua_settop(L, 2);
    luaL_newlib(L, functions);
    lua_insert(L, 2);
    lua_setfield(L, 2, "sim");
    sel_sandbox_run(L, repl_lua, sizeof repl_lua, 1);
    sel_limits_stop(script);
    while (!script->broken) {
        lua_pushvalue(L, 2);
        lua_call(L, 0, 1);
        if (lua_isnil(L, -1)) {
            break;
        }
        run_line(L, script);
    }
}

sel_status sel_repl(const char *path, const sel_script_options *given, sel_error *error) {
    sel_script_options options = *given;
    sel_status status = SEL_OK;
    options.prompt = true;
    if (!path) {
        options.text = "return nil";
        options.text_length = strlen(options.text);
    }
    open_editor();
    puts("sel, shape, law, out; sim: the scenario; mask(shape or sim), picture(shape or sim, "
         "\"mask.png\"); Ctrl-D ends");
    while (!status && !at_end) {
        sel_scenario *scenario = NULL;
        status = sel_script_load(path ? path : "repl", &options, &scenario, error);
        sel_scenario_destroy(scenario);
    }
    return status;
}
