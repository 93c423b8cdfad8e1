/* validate.c -- `selenite validate`: what validate.lua needs of the engine.
 *
 * The cases and what judges them are Lua, trusted and with the standard library, since they belong
 * to Selenite; each scenario is run as `selenite run` does, in a sandbox of its own.
 */
#include "lua/validate.h"

#include <dirent.h>
#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include "engine/folder.h"
#include "engine/run.h"
#include "engine/version.h"
#include "lua/script.h"
#include "validate_lua.h"

typedef struct context {
    const sel_validate_options *options;
    sel_choice choice;
} context;

static const context *context_of(lua_State *L) {
    return *(const context **)lua_getextraspace(L);
}

static void set_number(lua_State *L, const char *key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

static void push_report(lua_State *L, const sel_report *report) {
    lua_createtable(L, 0, 6);
    lua_pushinteger(L, report->steps);
    lua_setfield(L, -2, "steps");
    set_number(L, "time", report->time);
    set_number(L, "wall_seconds", report->wall_seconds);
    set_number(L, "mcells_per_second", report->mcells_per_second);
    lua_pushstring(L, report->stop_reason);
    lua_setfield(L, -2, "stop_reason");
    lua_createtable(L, 0, report->results.count);
    for (int i = 0; i < report->results.count; i++) {
        set_number(L, report->results.v[i].name, report->results.v[i].value);
    }
    lua_setfield(L, -2, "results");
}

/* Runs the scenario's first simulation; no Lua error may jump over what is to be released. */
static sel_status run_scenario(const sel_validate_options *options, const char *path,
                               const sel_script_options *script, const char *directory,
                               sel_report *report, sel_error *error) {
    sel_scenario *scenario = NULL;
    sel_status status = sel_script_load(path, script, &scenario, error);
    if (!status) {
        sel_run_options run = {
            .settings = options->settings, .directory = directory, .force = true};
        status = sel_run(scenario, &scenario->simulations[0], &run, report, error);
    }
    sel_scenario_destroy(scenario);
    return status;
}

/* host.run(path, { "name=value", ... }, directory) -> report */
static int host_run(lua_State *L) {
    const char *path = luaL_checkstring(L, 1), *directory = luaL_checkstring(L, 3);
    luaL_checktype(L, 2, LUA_TTABLE);
    int count = (int)luaL_len(L, 2);
    const char **assignments = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *assignments, 0);
    luaL_checkstack(L, count + LUA_MINSTACK, "assignments");
    for (int i = 0; i < count; i++) {
        lua_geti(L, 2, i + 1);
        assignments[i] = luaL_checkstring(L, -1);
    }
    sel_script_options script = {.count = count, .assignments = assignments};
    sel_report report = {.steps = 0};
    sel_error error = {.status = SEL_OK};
    sel_status status =
        run_scenario(context_of(L)->options, path, &script, directory, &report, &error);
    if (status == SEL_OK) {
        push_report(L, &report);
    }
    sel_report_release(&report);
    return status ? luaL_error(L, "%s", error.text) : 1;
}

static int host_make_directory(lua_State *L) {
    sel_error error = {.status = SEL_OK};
    if (sel_run_directory(luaL_checkstring(L, 1), true, &error)) {
        return luaL_error(L, "%s", error.text);
    }
    return 0;
}

static void push_host(lua_State *L) {
    char device[256];
    const sel_choice *choice = &context_of(L)->choice;
    const sel_backend *backend = choice->backend;
    backend->device(device, sizeof device);
    lua_createtable(L, 0, 4);
    lua_pushcfunction(L, host_run);
    lua_setfield(L, -2, "run");
    lua_pushcfunction(L, host_make_directory);
    lua_setfield(L, -2, "make_directory");
    lua_pushstring(L, backend->name);
    lua_setfield(L, -2, "backend");
    lua_pushfstring(L, "selenite %s (%s) on %s: %s%s%s", sel_version(), sel_commit(), backend->name,
                    device, *choice->fallback ? "; no GPU can be used: " : "", choice->fallback);
    lua_setfield(L, -2, "about");
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the cases in scenarios/validation, sorted, as strings of `arena`. */
static sel_status list_cases(const char *scenarios, sel_arena *arena, const char **names, int room,
                             int *count, sel_error *error) {
    char path[4096];
    snprintf(path, sizeof path, "%s/validation", scenarios);
    DIR *folder = opendir(path);
    if (!folder) {
        return sel_fail(error, SEL_BAD_FILE,
                        "%s: %s; run this in Selenite's source folder, where the cases are, or "
                        "`make install` them",
                        path, strerror(errno));
    }
    *count = 0;
    for (struct dirent *entry; *count < room && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0) {
            names[(*count)++] = sel_arena_copy_length(arena, entry->d_name, length - 4);
        }
    }
    closedir(folder);
    qsort(names, (size_t)*count, sizeof *names, compare_names);
    names[*count] = NULL;
    return SEL_OK;
}

static sel_status check_cases(const sel_validate_options *options, const char *const *known,
                              sel_error *error) {
    sel_status status = SEL_OK;
    for (int i = 0; i < options->count; i++) {
        const char *const *k = known;
        while (*k && strcmp(*k, options->cases[i]) != 0) {
            k++;
        }
        if (!*k) {
            char suggestion[SEL_SUGGESTION_ROOM];
            status = sel_fail(error, SEL_BAD_USAGE, "no validation case '%s'%s", options->cases[i],
                              sel_suggestion(options->cases[i], known, suggestion));
        }
    }
    char list[2048] = "";
    size_t used = 0;
    for (const char *const *k = known; status && *k && used < sizeof list; k++) {
        used += (size_t)snprintf(list + used, sizeof list - used, " %s", *k);
    }
    return status ? sel_fail(error, status, "there are:%s", list) : SEL_OK;
}

/* Calls main of validate.lua with its options; its result is on the stack. Runs protected. */
static int call_main(lua_State *L) {
    const char *const *cases = lua_touserdata(L, 1);
    const sel_validate_options *options = context_of(L)->options;
    luaL_openlibs(L);
    if (luaL_loadbufferx(L, (const char *)validate_lua, sizeof validate_lua, "=validate.lua",
                         "t")) {
        return lua_error(L);
    }
    push_host(L);
    lua_call(L, 1, 1);
    lua_createtable(L, 0, 4);
    lua_pushstring(L, options->scenarios);
    lua_setfield(L, -2, "scenarios");
    lua_pushstring(L, options->directory);
    lua_setfield(L, -2, "directory");
    lua_newtable(L);
    for (int i = 0; cases[i]; i++) {
        lua_pushstring(L, cases[i]);
        lua_seti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "cases");
    lua_pushboolean(L, options->count > 0);
    lua_setfield(L, -2, "named");
    lua_call(L, 1, 1);
    return 1;
}

static sel_status run_cases(const context *c, const char *const *cases, int *failed,
                            sel_error *error) {
    lua_State *L = luaL_newstate();
    if (!L) {
        return sel_fail_memory(error, "Lua", 0);
    }
    *(const context **)lua_getextraspace(L) = c;
    lua_pushcfunction(L, call_main);
    lua_pushlightuserdata(L, (void *)cases);
    sel_status status = SEL_OK;
    if (lua_pcall(L, 1, 1, 0)) {
        status = sel_fail(error, SEL_BAD_FILE, "%s", luaL_tolstring(L, -1, NULL));
    } else {
        *failed = (int)lua_tointeger(L, -1);
    }
    lua_close(L);
    return status;
}

sel_status sel_validate(const sel_validate_options *options, int *failed, sel_error *error) {
    enum { ROOM = 256 };
    const char *known[ROOM + 1], *chosen[ROOM + 1];
    int count = 0;
    sel_arena *arena = sel_arena_create();
    if (!arena) {
        return sel_fail_memory(error, "the cases", 0);
    }
    context c = {.options = options};
    int backend = options->settings.backend;
    sel_status status = list_cases(options->scenarios, arena, known, ROOM, &count, error);
    status = status ? status : check_cases(options, known, error);
    status = status ? status
                    : sel_backend_choose(sel_solvers[0], backend < 0 ? SEL_BACKEND_AUTO : backend,
                                         &c.choice, error);
    if (!status) {
        int n = 0;
        for (; n < options->count && n < ROOM; n++) {
            chosen[n] = options->cases[n];
        }
        chosen[n] = NULL;
        status = run_cases(&c, n ? chosen : known, failed, error);
    }
    sel_arena_destroy(arena);
    return status;
}
