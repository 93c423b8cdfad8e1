/* function.c -- functions of x, y, z, t and controls: read from a script, called in Lua.
 *
 * A function says by its parameters' names what it depends on. The engine sees a sel_function and
 * does not know of Lua: what evaluates it is only here.
 */
#include "lua/function.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const coordinate_names[] = {"x", "y", "z", "t"};

static double coordinate(const double *values, size_t i) {
    return values ? values[i] : 0;
}

static double argument(const sel_lua_function *f, int which, const sel_places *at, size_t i) {
    switch (which) {
    case SEL_ARGUMENT_X:
        return coordinate(at->x, i);
    case SEL_ARGUMENT_Y:
        return coordinate(at->y, i);
    case SEL_ARGUMENT_Z:
        return coordinate(at->z, i);
    case SEL_ARGUMENT_T:
        return at->t;
    default: {
        int control = which - SEL_ARGUMENT_CONTROL;
        return at->controls ? at->controls[control] : f->defaults[control];
    }
    }
}

static sel_where definition(const sel_lua_function *f) {
    return f->base.where;
}

static sel_status fail_here(const sel_lua_function *f, const sel_places *at, size_t i,
                            sel_error *error, const char *what) {
    char place[128];
    sel_place_text(at, i, place, sizeof place);
    return sel_fail_at(error, definition(f), "%s: function returned %s (at %s)", f->label, what,
                       place);
}

static const char *plural(int n) {
    return n == 1 ? "" : "s";
}

/* Takes the results of one call, which are above `base` on the stack. */
static sel_status take_results(const sel_lua_function *f, int base, const sel_places *at, size_t i,
                               double *out, sel_error *error) {
    lua_State *L = f->script->L;
    char what[200], found[80];
    int count = lua_gettop(L) - base, needed = f->base.results;
    if (count != needed) {
        snprintf(what, sizeof what, "%d value%s, %d needed", count, plural(count), needed);
        return fail_here(f, at, i, error, what);
    }
    for (int r = 0; r < needed; r++) {
        int index = base + 1 + r;
        bool right = lua_type(L, index) == (f->predicate ? LUA_TBOOLEAN : LUA_TNUMBER);
        double value = f->predicate ? lua_toboolean(L, index) : lua_tonumber(L, index);
        if (!right || !isfinite(value)) {
            snprintf(what, sizeof what, "%s as value %d; it must be %s",
                     sel_script_value_text(L, index, found), r + 1,
                     f->predicate ? "true or false" : "a finite number");
            return fail_here(f, at, i, error, what);
        }
        out[(size_t)r * at->n + i] = value;
    }
    return SEL_OK;
}

/* Under `finds_gaps` the first result is NaN in a gap. */
static sel_status call_at(const sel_lua_function *f, const sel_places *at, size_t i, double *out,
                          sel_error *error) {
    lua_State *L = f->script->L;
    int base = lua_gettop(L);
    sel_limits_start(f->script, SEL_FUNCTION);
    if (sel_limits_check(f->script, definition(f)))
        return SEL_BAD_SCENARIO;
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->reference);
    for (int a = 0; a < f->count; a++)
        lua_pushnumber(L, argument(f, f->arguments[a], at, i));
    int called = lua_pcall(L, f->count, LUA_MULTRET, 0);
    sel_limits_stop(f->script);
    sel_status status;
    if (called == LUA_ERRRUN && lua_touserdata(L, -1) == &sel_script_gap) {
        out[i] = (double)NAN;
        status = SEL_OK;
    } else if (called != LUA_OK) {
        char suffix[320], place[128];
        sel_place_text(at, i, place, sizeof place);
        snprintf(suffix, sizeof suffix, " (%s, at %s)", f->label, place);
        status = sel_limits_report(f->script, definition(f), suffix);
    } else {
        status = take_results(f, base, at, i, out, error);
    }
    lua_settop(L, base);
    return status;
}

/* Lua may be asked: by the right thread, unless the script is broken. */
static sel_status check_callable(const sel_lua_function *f, sel_error *error) {
    sel_script *script = f->script;
    if (!pthread_equal(pthread_self(), script->thread))
        return sel_fail_at(error, f->base.where,
                           "%s: only the thread that loaded the script may "
                           "evaluate its functions",
                           f->label);
    if (script->broken)
        return sel_fail(error, SEL_BAD_SCENARIO, "%s", script->ended.text);
    if (!lua_checkstack(script->L, f->count + LUA_MINSTACK))
        return sel_fail_memory(error, "the arguments of a function", (size_t)f->count * 16);
    return SEL_OK;
}

sel_status sel_function_call_at(const sel_lua_function *f, const sel_places *at, size_t i,
                                double *out, sel_error *error) {
    sel_script *script = f->script;
    sel_status status = check_callable(f, error);
    if (status)
        return status;
    sel_error *outer = script->error;
    const sel_limits outer_limits = script->limits; /* of a hook that asked for a quantity */
    script->error = error;
    if (script->left >= 0)
        sel_limits_begin(script, script->left);
    status = call_at(f, at, i, out, error);
    if (script->left >= 0)
        script->left = fmax(0, sel_limits_end(script));
    sel_limits_restore(script, &outer_limits);
    script->error = outer;
    return status;
}

sel_status sel_function_call(const sel_lua_function *f, const sel_places *at,
                             const uint8_t *settled, double *out, sel_error *error) {
    sel_status status = SEL_OK;
    for (size_t i = 0; i < at->n && !status; i++)
        if (!settled || !settled[i])
            status = sel_function_call_at(f, at, i, out, error);
    return status;
}

sel_status sel_function_call_gaps(const sel_lua_function *f, const sel_places *at,
                                  const uint8_t *settled, double *out, sel_error *error) {
    sel_status status = check_callable(f, error);
    if (status)
        return status;
    f->script->finds_gaps = true;
    status = sel_function_call(f, at, settled, out, error);
    f->script->finds_gaps = false;
    return status;
}

/* The argument called `name`, or -1. */
static int find_argument(const sel_function_needs *needs, const char *name) {
    for (int i = SEL_ARGUMENT_X; i <= SEL_ARGUMENT_T; i++)
        if (strcmp(name, coordinate_names[i]) == 0 && !(i == SEL_ARGUMENT_Z && needs->dims == 2))
            return i;
    for (int k = 0; needs->controls && k < needs->controls->n; k++)
        if (strcmp(name, needs->controls->v[k].name) == 0)
            return SEL_ARGUMENT_CONTROL + k;
    return -1;
}

static void list_arguments(const sel_function_needs *needs, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "x, y, %st", needs->dims == 2 ? "" : "z, ");
    for (int k = 0; needs->controls && k < needs->controls->n && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, ", %s", needs->controls->v[k].name);
}

/* Fills f->arguments from the names of the parameters; false with the reason. */
static bool read_parameters(sel_lua_function *f, int index, const sel_function_needs *needs,
                            char reason[512]) {
    lua_State *L = f->script->L;
    char allowed[256];
    for (int i = 0; i < f->count; i++) {
        lua_pushvalue(L, index);
        const char *name = lua_getlocal(L, NULL, i + 1);
        int which = find_argument(needs, name);
        lua_pop(L, 1);
        if (which < 0) {
            list_arguments(needs, allowed, sizeof allowed);
            snprintf(reason, 512, "a function cannot depend on '%.40s'%s; its parameters may be %s",
                     name, needs->dims == 2 && strcmp(name, "z") == 0 ? " in 2-D" : "", allowed);
            return false;
        }
        f->arguments[i] = which;
        f->base.depends |= which < SEL_ARGUMENT_CONTROL ? 1u << which : (unsigned)SEL_ON_CONTROLS;
    }
    return true;
}

static sel_where function_place(sel_script *script, const lua_Debug *info, sel_where where) {
    for (const sel_source *s = script->sources; s; s = s->next)
        if (info->source[0] == '@' && strcmp(s->name, info->source + 1) == 0)
            return (sel_where){s->name, info->linedefined};
    return where;
}

/* The values of the controls as the script gives them. NULL when there is no memory. */
static const double *copy_defaults(sel_arena *arena, const sel_numbers *controls) {
    int count = controls ? controls->n : 0;
    double *values = sel_arena_alloc(arena, ((size_t)count + 1) * sizeof *values);
    for (int k = 0; values && k < count; k++)
        values[k] = controls->v[k].value;
    return values;
}

const sel_function *sel_function_create(sel_script *script, int index,
                                        const sel_function_needs *needs, sel_where where,
                                        char reason[512]) {
    lua_State *L = script->L;
    lua_Debug info;
    index = lua_absindex(L, index);
    lua_pushvalue(L, index);
    lua_getinfo(L, ">Su", &info);
    if (lua_iscfunction(L, index) || info.isvararg) {
        snprintf(reason, 512, "%s: write function(x, y, t) return ... end",
                 info.isvararg && !lua_iscfunction(L, index)
                     ? "a function with ... does not say what it depends on"
                     : "a library function does not say what it depends on");
        return NULL;
    }
    sel_lua_function *f = sel_arena_alloc(script->arena, sizeof *f);
    int *arguments = sel_arena_alloc(script->arena, (info.nparams + 1u) * sizeof *arguments);
    char *label = sel_arena_copy(script->arena, needs->label);
    const double *defaults = copy_defaults(script->arena, needs->controls);
    if (!f || !arguments || !label || !defaults) {
        snprintf(reason, 512, "there is not enough memory for the function");
        return NULL;
    }
    f->base = (sel_function){.results = needs->results,
                             .where = function_place(script, &info, where),
                             .eval = sel_function_evaluate,
                             .data = f};
    f->script = script;
    f->predicate = needs->predicate;
    f->label = label;
    f->controls = needs->controls;
    f->defaults = defaults;
    f->count = info.nparams;
    f->arguments = arguments;
    if (!read_parameters(f, index, needs, reason))
        return NULL;
    lua_pushvalue(L, index);
    f->reference = luaL_ref(L, LUA_REGISTRYINDEX);
    f->next = script->functions;
    script->functions = f;
    sel_function_compile(f, index);
    f->base.raster = sel_function_raster(f, index);
    f->base.gaps = f->base.raster ? sel_function_gaps : NULL;
    return &f->base;
}
