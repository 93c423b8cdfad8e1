/* function.c -- a script's functions of x, y, z, t and controls, evaluated by a program or by Lua.
 *
 * The names of the parameters say what a function depends on. The engine sees a sel_function, and
 * does not know of Lua.
 *
 *      Lua function -> read.c: program -> compare.c: equal to Lua?  yes: program; no: Lua
 *
 *      evaluation:  program --> settled and finite: the value
 *                           \-> else: Lua gives the value, or the error, for that place
 */
#include "lua/functions/functions.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/base/hardware.h"

const char sel_function_gap = 0;

static const char *const argument_names[] = {"x", "y", "z", "t", "controls"};

/* Argument `which` (SEL_ARGUMENT_...) at place i. */
static double function_argument(const sel_lua_function *f, int which, const sel_places *at,
                                size_t i) {
    const double *const coordinates[] = {at->x, at->y, at->z};
    if (which < SEL_ARGUMENT_T)
        return coordinates[which] ? coordinates[which][i] : 0;
    if (which == SEL_ARGUMENT_T)
        return at->t;
    return (at->controls ? at->controls : f->defaults)[which - SEL_ARGUMENT_CONTROL];
}

static sel_status fail_here(const sel_lua_function *f, const sel_places *at, size_t i,
                            sel_error *error, const char *what) {
    char place[128];
    sel_place_text(at, i, place, sizeof place);
    return sel_fail_at(error, f->base.where, "%s: function returned %s (at %s)", f->needs.label,
                       what, place);
}

/* Stores the results of one call, which are above `base` on the stack, in out[result][place]. */
static sel_status function_take_results(const sel_lua_function *f, int base, const sel_places *at,
                                        size_t i, double *out, sel_error *error) {
    lua_State *L = f->script->L;
    char what[200], found[80];
    int count = lua_gettop(L) - base, needed = f->base.results;
    if (count != needed) {
        snprintf(what, sizeof what, "%d value%s, %d needed", count, count == 1 ? "" : "s", needed);
        return fail_here(f, at, i, error, what);
    }
    for (int r = 0; r < needed; r++) {
        int index = base + 1 + r;
        bool right = lua_type(L, index) == (f->needs.predicate ? LUA_TBOOLEAN : LUA_TNUMBER);
        double value = f->needs.predicate ? lua_toboolean(L, index) : lua_tonumber(L, index);
        if (!right || !isfinite(value)) {
            snprintf(what, sizeof what, "%s as value %d; it must be %s",
                     sel_script_value_text(L, index, found), r + 1,
                     f->needs.predicate ? "true or false" : "a finite number");
            return fail_here(f, at, i, error, what);
        }
        out[(size_t)r * at->n + i] = value;
    }
    return SEL_OK;
}

/* Calls the function in Lua at place i. In a gap of a raster, while `finds_gaps` is set, the first
 * result is NaN. */
static sel_status function_call_lua(const sel_lua_function *f, const sel_places *at, size_t i,
                                    double *out, sel_error *error) {
    lua_State *L = f->script->L;
    int base = lua_gettop(L);
    sel_limits_start(f->script, SEL_FUNCTION);
    if (sel_limits_check(f->script, f->base.where))
        return SEL_BAD_SCENARIO;
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->reference);
    for (int a = 0; a < f->count; a++)
        lua_pushnumber(L, function_argument(f, f->arguments[a], at, i));
    f->script->places = at;
    f->script->place = i;
    int called = lua_pcall(L, f->count, LUA_MULTRET, 0);
    f->script->places = NULL;
    sel_limits_stop(f->script);
    sel_status status;
    if (called == LUA_ERRRUN && lua_touserdata(L, -1) == &sel_function_gap) {
        out[i] = (double)NAN;
        status = SEL_OK;
    } else if (called != LUA_OK) {
        char suffix[320], place[128];
        sel_place_text(at, i, place, sizeof place);
        snprintf(suffix, sizeof suffix, " (%s, at %s)", f->needs.label, place);
        status = sel_limits_report(f->script, f->base.where, suffix);
    } else {
        status = function_take_results(f, base, at, i, out, error);
    }
    lua_settop(L, base);
    return status;
}

sel_status sel_script_enter(sel_script *script, sel_where where, const char *label, int count,
                            sel_outer *outer, sel_error *error) {
    if (!pthread_equal(pthread_self(), script->thread))
        return sel_fail_at(error, where,
                           "%s: only the thread that loaded the script may evaluate its functions",
                           label);
    if (script->broken)
        return sel_fail(error, SEL_BAD_SCENARIO, "%s", script->ended.text);
    if (!lua_checkstack(script->L, count + LUA_MINSTACK))
        return sel_fail_memory(error, "the arguments of a function", (size_t)count * 16);
    *outer = (sel_outer){script->error, script->limits};
    script->error = error;
    if (script->left >= 0)
        sel_limits_begin(script, script->left);
    return SEL_OK;
}

void sel_script_leave(sel_script *script, const sel_outer *outer) {
    if (script->left >= 0)
        script->left = fmax(0, sel_limits_end(script));
    sel_limits_restore(script, &outer->limits);
    script->error = outer->error;
}

sel_status sel_function_call_at(const sel_lua_function *f, const sel_places *at, size_t i,
                                double *out, sel_error *error) {
    sel_outer outer;
    sel_status status =
        sel_script_enter(f->script, f->base.where, f->needs.label, f->count, &outer, error);
    if (!status) {
        status = function_call_lua(f, at, i, out, error);
        sel_script_leave(f->script, &outer);
    }
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

bool sel_function_finite(const sel_lua_function *f, size_t n, size_t i, const double *out) {
    for (int r = 0; r < f->base.results; r++)
        if (!isfinite(out[(size_t)r * n + i]))
            return false;
    return true;
}

/* Notices the user, once per function, that Lua evaluates it: why, and how long it takes. */
static void function_notice_slow(sel_lua_function *f, size_t places, double seconds) {
    char text[1024];
    bool each_step = (f->base.depends & (SEL_ON_T | SEL_ON_CONTROLS)) != 0;
    f->told = true;
    if (!f->script->options.notice)
        return;
    const double each = seconds / (double)places;
    const bool slow = each >= 1e-3;
    snprintf(text, sizeof text,
             "%s:%d: %s: function is evaluated by Lua at every %s%s: %s; %.3g %s a place%s",
             f->base.where.file ? f->base.where.file : "script", f->base.where.line, f->needs.label,
             each_step ? "place and time" : "place",
             each_step ? "" : ", once before the first step", f->why, each * (slow ? 1e3 : 1e6),
             slow ? "ms" : "us", each_step ? ", in every step" : "");
    sel_plain_text(text);
    f->script->options.notice(f->script->options.notice_data, text);
}

static sel_status evaluate_by_lua(sel_lua_function *f, const sel_places *at, double *out,
                                  sel_error *error) {
    double before = sel_machine_seconds();
    sel_status status = sel_function_call(f, at, NULL, out, error);
    if (!status && !f->told && at->n > 0)
        function_notice_slow(f, at->n, sel_machine_seconds() - before);
    return status;
}

/* Evaluates the program. settled[at->n]: 1 where its value stands, 0 where Lua must be asked. */
static sel_status evaluate_program(const sel_lua_function *f, const sel_places *at, double *out,
                                   uint8_t *settled, sel_error *error) {
    const double *controls = at->controls ? at->controls : f->defaults;
    return sel_program_eval(f->program, at, controls, out, settled, error);
}

/* sel_function.eval: by the program, or by Lua if there is none. */
static sel_status function_eval(const sel_function *self, const sel_places *at, double *out,
                                sel_error *error) {
    sel_lua_function *f = self->data;
    if (!f->program)
        return evaluate_by_lua(f, at, out, error);
    uint8_t *settled = malloc(at->n + 1);
    if (!settled)
        return sel_fail_memory(error, "the values of a function", at->n);
    sel_status status = evaluate_program(f, at, out, settled, error);
    for (size_t i = 0; i < at->n && !status; i++)
        settled[i] = settled[i] && sel_function_finite(f, at->n, i, out);
    status = status ? status : sel_function_call(f, at, settled, out, error);
    free(settled);
    return status;
}

/* sel_function.gaps: gap[i] is 1 where a raster has no data. */
static sel_status function_gaps(const sel_function *self, const sel_places *at, uint8_t *gap,
                                sel_error *error) {
    const sel_lua_function *f = self->data;
    const size_t n = at->n, bytes = n * (f->base.results * sizeof(double) + 1);
    double *out = calloc(bytes + 1, 1);
    if (!out)
        return sel_fail_memory(error, "the values of a function", bytes);
    uint8_t *settled = (uint8_t *)(out + (size_t)f->base.results * n);
    sel_status status = f->program ? evaluate_program(f, at, out, settled, error) : SEL_OK;
    if (!status) {
        f->script->finds_gaps = true;
        status = sel_function_call(f, at, settled, out, error);
        f->script->finds_gaps = false;
    }
    for (size_t i = 0; i < n && !status; i++)
        gap[i] = !settled[i] && isnan(out[i]);
    free(out);
    return status;
}

enum { MOST_NESTED = 8 };

/* The first raster among the upvalues of the function at `index`, or of a function among these. */
static const sel_lookup *find_raster(lua_State *L, int index, int depth) {
    const sel_lookup *found = NULL;
    index = lua_absindex(L, index);
    for (int i = 1; !found && lua_checkstack(L, LUA_MINSTACK) && lua_getupvalue(L, index, i); i++) {
        const sel_lookup *lookup = sel_lookup_at(L, -1);
        if (lookup && lookup->kind == SEL_LOOKUP_RASTER)
            found = lookup;
        else if (lua_isfunction(L, -1) && !lua_iscfunction(L, -1) && depth < MOST_NESTED)
            found = find_raster(L, -1, depth + 1);
        lua_pop(L, 1);
    }
    return found;
}

/* The first raster that the program looks up; without a program, the first that the function at
 * `index` refers to. NULL: there is none. */
static const sel_lookup *first_raster(const sel_lua_function *f, int index) {
    if (!f->program)
        return find_raster(f->script->L, index, 0);
    for (int i = 0; i < f->program->layout.lookups; i++)
        if (f->program->tables.lookup[i].kind == SEL_LOOKUP_RASTER)
            return f->program->tables.lookup[i].host;
    return NULL;
}

/* Sets f->base.raster and gaps. To be called again when the program is dropped. */
static void note_raster(sel_lua_function *f, int index) {
    f->base.raster = first_raster(f, index);
    f->base.gaps = f->base.raster ? function_gaps : NULL;
}

enum { NO_ARGUMENT = -3 };

/* SEL_ARGUMENT_... or SEL_RULE_CELL for a parameter's name; NO_ARGUMENT: there is none. */
static int find_argument(const sel_function_needs *needs, bool of_cells, const char *name) {
    for (int k = 0; needs->controls && k < needs->controls->n; k++)
        if (strcmp(name, needs->controls->v[k].name) == 0)
            return SEL_ARGUMENT_CONTROL + k;
    for (int i = SEL_ARGUMENT_X; i <= SEL_ARGUMENT_T; i++)
        if (strcmp(name, argument_names[i]) == 0 && !(i == SEL_ARGUMENT_Z && needs->dims == 2))
            return i;
    return of_cells && strcmp(name, "c") == 0    ? SEL_RULE_CELL
           : of_cells && strcmp(name, "dt") == 0 ? SEL_ARGUMENT_DT
                                                 : NO_ARGUMENT;
}

/* Writes the reason: no parameter may be called `name`, and which names there are. */
static void refuse_parameter(const sel_function_needs *needs, bool of_cells, const char *name,
                             char reason[512]) {
    const bool in_plane = !of_cells && needs->dims == 2 && strcmp(name, "z") == 0;
    size_t used = (size_t)snprintf(
        reason, 512, "a function%s cannot depend on '%.40s'%s; its parameters may be %sx, y, %st%s",
        of_cells ? " of cells" : "", name, in_plane ? " in 2-D" : "", of_cells ? "c, " : "",
        needs->dims == 2 ? "" : "z, ", of_cells ? ", dt" : "");
    for (int k = 0; needs->controls && k < needs->controls->n && used < 512; k++)
        used += (size_t)snprintf(reason + used, 512 - used, ", %s", needs->controls->v[k].name);
}

int *sel_function_arguments(sel_script *script, int index, const sel_function_needs *needs,
                            bool of_cells, int count, char reason[512]) {
    int *arguments = sel_script_alloc(script, "a function", (size_t)count * sizeof *arguments);
    for (int i = 0; i < count; i++) {
        lua_pushvalue(script->L, index);
        const char *name = lua_getlocal(script->L, NULL, i + 1);
        arguments[i] = find_argument(needs, of_cells, name);
        lua_pop(script->L, 1);
        if (arguments[i] == NO_ARGUMENT) {
            refuse_parameter(needs, of_cells, name, reason);
            return NULL;
        }
    }
    return arguments;
}

sel_where sel_function_where(sel_script *script, int index, sel_where otherwise) {
    lua_Debug info;
    lua_pushvalue(script->L, index);
    lua_getinfo(script->L, ">S", &info);
    const sel_source *text = sel_script_source(script, info.source);
    return text ? (sel_where){text->name, info.linedefined} : otherwise;
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
    int *arguments = sel_function_arguments(script, index, needs, false, info.nparams, reason);
    if (!arguments)
        return NULL;
    sel_lua_function *f = sel_script_alloc(script, "a function", sizeof *f);
    const int controls = needs->controls ? needs->controls->n : 0;
    double *defaults = sel_script_alloc(script, "a function", (size_t)controls * sizeof *defaults);
    for (int k = 0; k < controls; k++)
        defaults[k] = needs->controls->v[k].value;
    f->base = (sel_function){.results = needs->results,
                             .where = sel_function_where(script, index, where),
                             .eval = function_eval,
                             .data = f};
    f->script = script;
    f->needs = *needs;
    f->defaults = defaults;
    f->count = info.nparams;
    f->arguments = arguments;
    for (int i = 0; i < f->count; i++)
        f->base.depends |=
            arguments[i] < SEL_ARGUMENT_CONTROL ? 1u << arguments[i] : (unsigned)SEL_ON_CONTROLS;
    lua_pushvalue(L, index);
    f->reference = luaL_ref(L, LUA_REGISTRYINDEX);
    *script->functions_end = f;
    script->functions_end = &f->next;
    f->program = f->base.program = sel_read_law(f, index);
    note_raster(f, index);
    sel_limits_raise(L, f->base.where);
    return &f->base;
}

void sel_functions_loaded(sel_script *script) {
    for (sel_lua_function *f = script->functions; f && !script->keeps_state; f = f->next) {
        const bool read = f->program != NULL;
        if (read)
            sel_function_compare(f);
        sel_limits_raise(script->L, f->base.where);
        if (read && !f->program) {
            lua_rawgeti(script->L, LUA_REGISTRYINDEX, f->reference);
            note_raster(f, -1);
            lua_pop(script->L, 1);
        }
    }
    for (sel_lua_function *f = script->functions; f && script->keeps_state; f = f->next) {
        if (f->program)
            snprintf(f->why, sizeof f->why,
                     "another function of the script changes what this one may read");
        f->program = f->base.program = NULL;
    }
}
