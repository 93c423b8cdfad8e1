/* validate.c -- `selenite validate`: the C part of scenarios/validation/validate.lua.
 *
 * The cases and their limits are trusted Lua code with the standard library, since they belong to
 * Selenite. Each scenario runs as in `selenite run`, in a sandbox of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/base/folder.h"
#include "engine/base/version.h"
#include "engine/run/run.h"
#include "lua/commands/commands.h"
#include "lua/commands/host.h"

typedef struct context {
    const sel_validate_options *options;
    sel_choice choice;
} context;

static const context *context_of(lua_State *L) {
    return *(const context **)lua_getextraspace(L);
}

/* These set a field of the table at the top. */
static void validate_set_number(lua_State *L, const char *key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

static void set_string(lua_State *L, const char *key, const char *value) {
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

static void push_report(lua_State *L, const sel_report *report) {
    lua_newtable(L);
    lua_pushinteger(L, report->steps);
    lua_setfield(L, -2, "steps");
    validate_set_number(L, "time", report->time);
    validate_set_number(L, "wall_seconds", report->wall_seconds);
    validate_set_number(L, "mcells_per_second", report->mcells_per_second);
    set_string(L, "stop_reason", report->stop_reason);
    lua_newtable(L);
    for (int i = 0; i < report->results.count; i++)
        validate_set_number(L, report->results.v[i].name, report->results.v[i].value);
    lua_setfield(L, -2, "results");
}

/* Runs the scenario's first simulation. Raises no Lua error, which would skip the release of
 * memory.
 */
static sel_status run_scenario(const sel_validate_options *options, const char *path,
                               const sel_script_options *script, const char *directory,
                               sel_report *report, sel_error *error) {
    char former[SEL_PATH_ROOM];
    struct stat found;
    sel_scenario *scenario = NULL;
    sel_status status = sel_folder_refuse_link(directory, error);
    snprintf(former, sizeof former, "%s/" SEL_RUN_JSON, directory);
    status = status ? status : sel_script_load(path, script, &scenario, error);
    if (!status) { /* replaces the files of an earlier run only */
        sel_run_options run = {.settings = options->settings,
                               .directory = directory,
                               .force = lstat(former, &found) == 0 && S_ISREG(found.st_mode)};
        status = sel_run(scenario, &scenario->simulations[0], &run, report, error);
    }
    sel_scenario_destroy(scenario);
    return status;
}

/* host.run(path, { "name=value", ... }, directory) -> report */
static int host_run(lua_State *L) {
    const char *path = luaL_checkstring(L, 1), *directory = luaL_checkstring(L, 3);
    const char **assignments = sel_script_strings(L, 2);
    sel_script_options script = {.assignments = assignments};
    sel_report report = {.steps = 0};
    sel_error error = {.status = SEL_OK};
    sel_status status =
        run_scenario(context_of(L)->options, path, &script, directory, &report, &error);
    if (status == SEL_OK)
        push_report(L, &report);
    sel_report_release(&report);
    return status ? luaL_error(L, "%s", error.text) : 1;
}

/* host.make_directory(path, chosen): creates the directory. It may not hold a run; unless the user
 * has chosen it, it may not be a link. */
static int host_make_directory(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    sel_error error = {.status = SEL_OK};
    sel_status status = lua_toboolean(L, 2) ? SEL_OK : sel_folder_refuse_link(path, &error);
    status = status ? status : sel_run_directory(path, false, &error);
    return status ? luaL_error(L, "%s", error.text) : 0;
}

/* host.suggestion(name, names) -> "; did you mean ...?" or "" */
static int host_suggestion(lua_State *L) {
    char text[SEL_SUGGESTION_ROOM];
    const char *name = luaL_checkstring(L, 1);
    lua_pushstring(L, sel_suggestion(name, sel_script_strings(L, 2), text));
    return 1;
}

static void validate_push_host(lua_State *L) {
    static const luaL_Reg functions[] = {{"run", host_run},
                                         {"make_directory", host_make_directory},
                                         {"write", sel_host_write},
                                         {"suggestion", host_suggestion},
                                         {NULL, NULL}};
    char device[256];
    const context *c = context_of(L);
    const sel_choice *choice = &c->choice;
    const sel_backend *backend = choice->backend;
    backend->device(c->options->settings.device, device, sizeof device);
    luaL_newlib(L, functions);
    set_string(L, "backend", backend->name);
    set_string(L, "version", sel_version());
    set_string(L, "commit", sel_commit());
    set_string(L, "device", device);
    lua_pushfstring(L, "selenite %s (%s) on %s: %s%s%s", sel_version(), sel_commit(), backend->name,
                    device, *choice->fallback ? "; no GPU can be used: " : "", choice->fallback);
    lua_setfield(L, -2, "about");
}

/* The script, in the folder of the cases, that judges them. */
static const char judge[] = "validate.lua";

static int is_case(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0 &&
           strcmp(entry->d_name, judge) != 0;
}

/* Pushes the list of the names of all cases, sorted. */
static void push_cases(lua_State *L, const char *folder) {
    struct dirent **entry;
    int count = scandir(folder, &entry, is_case, alphasort);
    lua_newtable(L);
    for (int i = 0; i < count; i++) {
        lua_pushlstring(L, entry[i]->d_name, strlen(entry[i]->d_name) - 4);
        lua_rawseti(L, -2, i + 1);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
}

/* Runs validate.lua with its options; returns its results. Argument: the folder with the cases. */
static int validate_call_main(lua_State *L) {
    const char *folder = lua_touserdata(L, 1);
    const sel_validate_options *options = context_of(L)->options;
    luaL_openlibs(L);
    if (luaL_loadfilex(L, lua_pushfstring(L, "%s/%s", folder, judge), "t"))
        return lua_error(L);
    validate_push_host(L);
    lua_call(L, 1, 1);
    lua_newtable(L);
    set_string(L, "scenarios", options->scenarios);
    set_string(L, "directory", options->directory);
    lua_pushboolean(L, options->chosen);
    lua_setfield(L, -2, "chosen");
    push_cases(L, folder);
    lua_setfield(L, -2, "known");
    sel_script_push_strings(L, options->cases);
    lua_setfield(L, -2, "named");
    lua_call(L, 1, 2);
    return 2;
}

sel_status sel_validate(const sel_validate_options *options, sel_error *error) {
    context c = {.options = options};
    const sel_settings *settings = &options->settings;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/validation", options->scenarios);
    if (access(folder, R_OK) != 0)
        return sel_fail(
            error, SEL_BAD_FILE,
            "%s: %s; call the program in a build folder of Selenite's source, beside which "
            "the cases are, or `make install` them",
            folder, strerror(errno));
    sel_status status =
        sel_backend_choose(sel_solvers[0], settings->backend, settings->device, &c.choice, error);
    lua_State *L = status ? NULL : luaL_newstate();
    if (!L)
        return status ? status : sel_fail_memory(error, "Lua", 0);
    *(const context **)lua_getextraspace(L) = &c;
    lua_pushcfunction(L, validate_call_main);
    lua_pushlightuserdata(L, folder);
    if (lua_pcall(L, 1, 2, 0))
        status = sel_fail(error, SEL_BAD_FILE, "%s", luaL_tolstring(L, -1, NULL));
    else if (lua_isnil(L, -2))
        status = sel_fail(error, SEL_BAD_USAGE, "%s", lua_tostring(L, -1));
    else if (lua_tointeger(L, -2) > 0)
        status = sel_fail(error, SEL_BAD_SCENARIO, "%d gates missed", (int)lua_tointeger(L, -2));
    lua_close(L);
    return status;
}
