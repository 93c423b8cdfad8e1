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
#include "engine/output/picture.h"
#include "engine/run/prepare.h"
#include "lua/state.h"
#include "repl_lua.h"

enum { MOST_COLUMNS = 100, MOST_HISTORY = 1000, PICTURE = 800 };
static const char prompt[] = "> ", more[] = ">> ";

/* ---- lines ---- */

static char *(*edit_line)(const char *);
static void (*keep_line)(const char *);
static int (*write_lines)(const char *);
static char history[4200];
static bool at_end; /* of the input */

/* dlsym of a function, without the cast that C does not know. */
static void find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

static void open_editor(void) {
    void *library = isatty(STDIN_FILENO) ? dlopen("libedit.so.2", RTLD_NOW) : NULL;
    const char *home = getenv("HOME");
    int (*read_lines)(const char *) = NULL, (*limit)(int) = NULL;
    if (library && !edit_line) {
        find(library, "readline", &edit_line);
        find(library, "add_history", &keep_line);
        find(library, "write_history", &write_lines);
        find(library, "read_history", &read_lines);
        find(library, "stifle_history", &limit);
        limit(MOST_HISTORY);
        if (home && *home) {
            snprintf(history, sizeof history, "%s/.selenite_history", home);
            read_lines(history);
        }
    }
}

/* From malloc; NULL at the end of the input. */
static char *read_line(const char *before) {
    char *line = NULL;
    size_t room = 0;
    if (edit_line) {
        line = edit_line(before);
        if (line && *line) {
            keep_line(line);
            write_lines(history);
        }
        return line;
    }
    if (isatty(STDIN_FILENO)) {
        fputs(before, stdout);
        fflush(stdout);
    }
    const ssize_t length = getline(&line, &room, stdin);
    if (length < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* ---- masks ---- */

/* The cells of a plane as text: small letters are regions of solids, large ones those of the face
 * that a free cell touches. */
static void print_mask(const sel_prepared *prepared, const int64_t n[2],
                       const sel_cell_marks *marks) {
    const sel_domain *domain = prepared->domain;
    const int64_t stride = (n[0] + MOST_COLUMNS - 1) / MOST_COLUMNS;
    char text[32];
    for (int64_t y = (n[1] - 1) / stride * stride; y >= 0; y -= stride) {
        for (int64_t x = 0; x < n[0]; x += stride) {
            const int solid = marks->cell_type[y * n[0] + x];
            const int face = marks->boundary[y * n[0] + x];
            putchar(solid ? 'a' + (solid - 1) % 26 : face ? 'A' + (face - 1) % 26 : '.');
        }
        putchar('\n');
    }
    for (int r = 1; r <= domain->region_count; r++) {
        printf("%s%c %s", r > 1 ? ", " : "", 'a' + (r - 1) % 26, sel_region_name(domain, r, text));
    }
    printf("; large letters: cells beside faces%s\n",
           stride > 1 ? "; not every cell is shown" : "");
}

static sel_status draw_mask(const int64_t n[2], const sel_cell_marks *marks, const char *path,
                            sel_error *error) {
    const int64_t longer = n[0] > n[1] ? n[0] : n[1];
    const int side = longer < PICTURE ? (int)(PICTURE / longer) : 1;
    sel_colour colours[SEL_COLOURS];
    sel_canvas canvas;
    sel_status status = sel_canvas_create((int)n[0] * side, (int)n[1] * side,
                                          (sel_colour){255, 255, 255}, &canvas, error);
    if (status) {
        return status;
    }
    sel_colour_table(SEL_COLOURS_DEEP, colours);
    for (int64_t i = 0; i < n[0] * n[1]; i++) {
        const int region = marks->cell_type[i] ? marks->cell_type[i] : marks->boundary[i];
        const int x = (int)(i % n[0]), y = (int)(n[1] - 1 - i / n[0]);
        if (region) {
            sel_canvas_fill(&canvas, x * side, y * side, side, side, colours[region * 61 % 200]);
        }
    }
    status = sel_canvas_write(&canvas, path, error);
    sel_canvas_free(&canvas);
    return status;
}

static sel_status show_mask(const sel_simulation *simulation, double z, const char *path,
                            sel_error *error) {
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU};
    sel_prepared prepared;
    sel_status status = sel_prepare(simulation, &settings, &prepared, error);
    if (!status) {
        const sel_grid *grid = &prepared.domain->grid;
        const int64_t last = grid->n[2] - 1;
        const double cell = (z - grid->origin[2]) / grid->dx;
        const int64_t layer = isnan(z) ? grid->n[2] / 2 : cell < 0 ? 0 : (int64_t)cell;
        const size_t count = (size_t)(grid->n[0] * grid->n[1]);
        uint8_t *cells = calloc(3, count);
        sel_box box = sel_grid_box(grid);
        box.lo[2] = layer < last ? layer : last;
        box.hi[2] = box.lo[2] + 1;
        const sel_cell_marks marks = {cells, cells + count, cells + 2 * count};
        status = cells ? SEL_OK : sel_fail_memory(error, "the mask", 3 * count);
        if (cells) {
            sel_domain_cells(prepared.domain, &box, &marks);
            path ? (void)(status = draw_mask(grid->n, &marks, path, error))
                 : print_mask(&prepared, grid->n, &marks);
        }
        free(cells);
    }
    sel_prepared_release(&prepared);
    return status;
}

/* host.mask(simulation, z, path): a picture if there is a path, else text. */
static int host_mask(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_error error = {.status = SEL_OK}, *outer = script->error;
    const double z = luaL_optnumber(L, 2, (double)NAN);
    const char *path = luaL_optstring(L, 3, NULL);
    script->error = &error;
    lua_pushvalue(L, 1);
    sel_fill_scenario(script, "mask");
    script->error = outer;
    const sel_limits limits = sel_limits_leave(L);
    if (!error.status) {
        show_mask(&script->scenario->simulations[0], z, path, &error);
    }
    sel_limits_come_back(L, &limits);
    return error.status ? luaL_error(L, "%s", error.text) : 0;
}

/* host.kind(value) -> "shape", "ball" of what shape.ball made; nothing of what nobody made */
static int host_kind(lua_State *L) {
    const sel_mark *mark = lua_istable(L, 1) ? sel_script_mark(L, 1) : NULL;
    lua_pushstring(L, mark ? mark->group : NULL);
    lua_pushstring(L, mark ? mark->name : NULL);
    return mark ? 2 : 0;
}

/* ---- the prompt ---- */

/* Pushes the chunk of a line, an expression or statements; false: it is not complete. Else the
 * message of what is wrong with it is pushed, and *wrong is set. */
static bool compile_line(lua_State *L, const char *text, bool *wrong) {
    lua_pushfstring(L, "return %s", text);
    const char *value = lua_tostring(L, -1);
    *wrong = luaL_loadbufferx(L, value, strlen(value), "=line", "t") != LUA_OK;
    if (*wrong) {
        lua_pop(L, 1);
        *wrong = luaL_loadbufferx(L, text, strlen(text), "=line", "t") != LUA_OK;
    }
    const char *message = *wrong ? lua_tostring(L, -1) : "";
    const size_t length = strlen(message);
    return length < 5 || strcmp(message + length - 5, "<eof>") != 0;
}

/* Reads lines until they are a chunk, which is pushed; NULL at the end of the input. */
static char *read_chunk(lua_State *L, bool *wrong) {
    char *text = read_line(prompt);
    while (text && !compile_line(L, text, wrong)) {
        char *next = read_line(more), *both = NULL;
        if (!next || asprintf(&both, "%s\n%s", text, next) < 0) {
            free(next);
            break;
        }
        free(text);
        free(next);
        text = both;
        lua_settop(L, 2);
    }
    at_end = !text;
    return text;
}

/* With the names that lines see and show() at 1 and 2. */
static void run_lines(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_error error, *outer = script->error;
    bool wrong = false;
    for (char *text; !script->broken && (text = read_chunk(L, &wrong)); lua_settop(L, 2)) {
        free(text);
        error = (sel_error){.status = SEL_OK};
        script->error = &error;
        sel_limits_begin(script, script->seconds);
        sel_limits_start(script, SEL_MAIN_CHUNK);
        const int chunk = lua_gettop(L);
        if (!wrong) {
            lua_pushvalue(L, 1);
            lua_setupvalue(L, chunk, 1);
            wrong = lua_pcall(L, 0, LUA_MULTRET, 0) != LUA_OK;
        }
        if (!wrong && lua_gettop(L) >= chunk) {
            lua_pushvalue(L, 2);
            lua_insert(L, chunk);
            wrong = lua_pcall(L, lua_gettop(L) - chunk, 0, 0) != LUA_OK;
        }
        sel_limits_stop(script);
        if (wrong) {
            sel_limits_report(script, (sel_where){NULL, 0}, "");
        }
        sel_limits_end(script);
        fflush(stdout);
        if (wrong) {
            fprintf(stderr, "%s\n", script->broken ? script->ended.text : error.text);
        }
        script->error = outer;
    }
}

/* sel_script_options.converse */
static void converse(lua_State *L) {
    lua_settop(L, 2);
    lua_newtable(L);
    lua_pushcfunction(L, host_mask);
    lua_setfield(L, -2, "mask");
    lua_pushcfunction(L, host_kind);
    lua_setfield(L, -2, "kind");
    lua_pushcfunction(L, sel_host_value_text);
    lua_setfield(L, -2, "value_text");
    lua_insert(L, 2); /* under what the scenario returned */
    luaL_loadbufferx(L, (const char *)repl_lua, sizeof repl_lua, "repl", "t");
    lua_insert(L, 2);
    lua_settop(L, 4);
    lua_call(L, 2, 2);
    lua_remove(L, 1);
    sel_limits_stop(sel_script_of(L));
    run_lines(L);
}

sel_status sel_repl(const char *path, const sel_script_options *given, sel_error *error) {
    sel_script_options options = *given;
    sel_status status = SEL_OK;
    options.converse = converse;
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
