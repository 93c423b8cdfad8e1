/* script.c -- from a scenario's path to filled C structs, in one protected call. */
#include "lua/script.h"
#include "lua/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double default_seconds = 10;

typedef struct job {
    sel_script *script;
    const char *path;
} job;

static void check_parameters_were_declared(const job *j, const sel_chunk *chunk) {
    const sel_script_options *options = j->script->options;
    if (options->count > 0 && !chunk->declared)
        sel_fail(j->script->error, SEL_BAD_USAGE,
                 "%s declares no parameters with sel.params; it cannot take '%s'", j->path,
                 options->assignments[0]);
}

/* The protected part: runs the script and fills the structs. Argument: the job. */
static int run(lua_State *L) {
    job *j = lua_touserdata(L, 1);
    sel_script *script = j->script;
    sel_chunk chunk = {.values = LUA_NOREF};
    sel_sandbox_open(L);
    sel_module_run(L, j->path, &chunk);
    sel_limits_look(L, (sel_where){j->path, 1});
    if (script->parameters_only)
        return 0;
    check_parameters_were_declared(j, &chunk);
    sel_fill_scenario(script, j->path);
    return 0;
}

static void release(sel_scenario *scenario) {
    sel_script *script = scenario->release_data;
    scenario->release = NULL;
    sel_limits_close(script);
    free(script);
}

static sel_scenario *create(const sel_script_options *options, sel_error *error) {
    sel_arena *arena = sel_arena_create();
    sel_scenario *scenario = arena ? sel_arena_alloc(arena, sizeof *scenario) : NULL;
    sel_script *script = calloc(1, sizeof *script);
    if (!scenario || !script) {
        free(script);
        sel_arena_destroy(arena);
        sel_fail_memory(error, "the script", sizeof *script);
        return NULL;
    }
    *script = (sel_script){.arena = arena,
                           .error = error,
                           .thread = pthread_self(),
                           .trust = options->trust,
                           .seconds = options->seconds > 0 ? options->seconds : default_seconds,
                           .deadline = INT64_MAX,
                           .left = -1,
                           .parameters_only = options->parameters_only,
                           .quiet = options->quiet,
                           .options = options,
                           .notice = options->notice,
                           .notice_data = options->notice_data,
                           .functions_end = &script->functions,
                           .scenario = scenario};
    *scenario = (sel_scenario){.arena = arena, .release = release, .release_data = script};
    return scenario;
}

sel_status sel_script_load(const char *path, const sel_script_options *options,
                           sel_scenario **scenario, sel_error *error) {
    static const sel_script_options none;
    sel_error unread = {SEL_OK, ""};
    error = error ? error : &unread;
    *scenario = create(options ? options : &none, error);
    if (!*scenario)
        return SEL_NO_DEVICE;
    sel_script *script = (*scenario)->release_data;
    job j = {script, path};
    script->L = sel_limits_open(script);
    if (!script->L) {
        sel_fail_memory(error, "the script", sizeof(void *));
    } else {
        sel_arena_limit(script->arena, script->trust ? SIZE_MAX : script->memory);
        lua_pushcfunction(script->L, run);
        lua_pushlightuserdata(script->L, &j);
        int called = lua_pcall(script->L, 1, 0, 0);
        sel_limits_stop(script);
        if (called != LUA_OK)
            sel_limits_report(script, (sel_where){path, 0}, "");
        double left = sel_limits_end(script);
        if (script->options->one_clock)
            script->left = fmax(0, left);
    }
    sel_arena_limit(script->arena, SIZE_MAX);
    script->error = NULL;
    script->options = NULL;
    if (error->status == SEL_OK)
        return SEL_OK;
    sel_scenario_destroy(*scenario);
    *scenario = NULL;
    return error->status;
}
