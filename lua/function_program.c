/* function_program.c -- evaluate a function by its program, which was compared with Lua at loading.
 *
 * A program is made by tracing the function. Before anybody evaluates it, it is compared with what
 * Lua gives, bit by bit, at thousands of places and moments; one that differs anywhere is dropped,
 * and Lua evaluates the function. Where a program says that it is not sure, or gives what is no
 * finite number, Lua has the last word for that place: the value, or the error.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine.h"
#include "lua/data.h"
#include "lua/function.h"
#include "lua/trace.h"

enum { MOMENTS = 64, PLACES = 64, MOST_COMPARED = 300 /* thousands of instructions */ };

static bool all_finite(const sel_lua_function *f, size_t n, size_t i, const double *out) {
    for (int r = 0; r < f->base.results; r++)
        if (!isfinite(out[(size_t)r * n + i]))
            return false;
    return true;
}

static void tell(sel_lua_function *f, size_t places, double seconds) {
    char text[1024];
    bool each_step = (f->base.depends & (SEL_ON_T | SEL_ON_CONTROLS)) != 0;
    f->told = true;
    if (!f->script->notice)
        return;
    snprintf(text, sizeof text,
             "%s:%d: %s: function is evaluated by Lua at every %s: %s; %.3g us for %zu place%s%s",
             f->base.where.file ? f->base.where.file : "script", f->base.where.line, f->label,
             each_step ? "place and time" : "place", f->why, 1e6 * seconds, places,
             places == 1 ? "" : "s", each_step ? ", in every step" : "");
    sel_plain_text(text);
    f->script->notice(f->script->notice_data, text);
}

static sel_status evaluate_by_lua(sel_lua_function *f, const sel_places *at, double *out,
                                  sel_error *error) {
    double before = sel_machine_seconds();
    sel_status status = sel_function_call(f, at, NULL, out, error);
    if (!status && !f->told && at->n > 0)
        tell(f, at->n, sel_machine_seconds() - before);
    return status;
}

/* Evaluates the program, and notes where that is all: settled[at->n]. */
static sel_status evaluate_program(const sel_lua_function *f, const sel_places *at, double *out,
                                   uint8_t *settled, sel_error *error) {
    const double *controls = at->controls ? at->controls : f->defaults;
    return sel_program_eval(f->program, at, controls, out, settled, error);
}

sel_status sel_function_evaluate(const sel_function *self, const sel_places *at, double *out,
                                 sel_error *error) {
    sel_lua_function *f = self->data;
    if (!f->program)
        return evaluate_by_lua(f, at, out, error);
    uint8_t *settled = malloc(at->n + 1);
    if (!settled)
        return sel_fail_memory(error, "the values of a function", at->n);
    sel_status status = evaluate_program(f, at, out, settled, error);
    for (size_t i = 0; i < at->n && !status; i++)
        settled[i] = settled[i] && all_finite(f, at->n, i, out);
    status = status ? status : sel_function_call(f, at, settled, out, error);
    free(settled);
    return status;
}

sel_status sel_function_gaps(const sel_function *self, const sel_places *at, uint8_t *gap,
                             sel_error *error) {
    const sel_lua_function *f = self->data;
    const size_t n = at->n, bytes = n * (f->base.results * sizeof(double) + 1);
    double *out = calloc(bytes + 1, 1);
    if (!out)
        return sel_fail_memory(error, "the values of a function", bytes);
    uint8_t *settled = (uint8_t *)(out + (size_t)f->base.results * n);
    sel_status status = f->program ? evaluate_program(f, at, out, settled, error) : SEL_OK;
    status = status ? status : sel_function_call_gaps(f, at, settled, out, error);
    for (size_t i = 0; i < n && !status; i++)
        gap[i] = !settled[i] && isnan(out[i]);
    free(out);
    return status;
}

enum { MOST_NESTED = 8 };

/* Looks through what a function at `index` refers to, and through the functions among it. */
static const sel_lookup *find_raster(lua_State *L, int index, int depth) {
    const sel_lookup *found = NULL;
    index = lua_absindex(L, index);
    for (int i = 1; !found && lua_checkstack(L, LUA_MINSTACK) && lua_getupvalue(L, index, i); i++) {
        const sel_lookup *lookup = sel_lookup_at(L, -1);
        if (lookup && lookup->kind == SEL_LOOKUP_RASTER)
            found = lookup;
        else if (lua_isfunction(L, -1) && depth < MOST_NESTED)
            found = find_raster(L, -1, depth + 1);
        lua_pop(L, 1);
    }
    return found;
}

const sel_lookup *sel_function_raster(const sel_lua_function *f, int index) {
    if (!f->program)
        return find_raster(f->script->L, index, 0);
    for (int i = 0; i < f->program->calls; i++)
        if (f->program->call[i].lookup->kind == SEL_LOOKUP_RASTER)
            return f->program->call[i].lookup;
    return NULL;
}

/* Numbers of all sizes, the same in every run. */
static double sample(uint64_t *seed) {
    static const double scales[] = {1, 1, 10, 100, 1000, 1e-3, 1e5, 1e9};
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    double unit = (double)(*seed >> 11) / 4503599627370496.0 - 1;
    double value = unit * scales[*seed >> 61];
    return (*seed >> 50 & 3u) == 0 ? floor(value) + 0.5 : fabs(value);
}

/* Does Lua give at place i what the program gave? An error is a difference, unless the script has
 * taken too long. */
static bool same_at(const sel_lua_function *f, const sel_places *at, size_t i, const double *out) {
    double lua[SEL_PROGRAM_RESULTS * PLACES];
    if (sel_function_call_at(f, at, i, lua, NULL) != SEL_OK)
        return f->script->broken;
    for (int r = 0; r < f->base.results; r++)
        if (memcmp(&lua[(size_t)r * at->n + i], &out[(size_t)r * at->n + i], sizeof *lua) != 0)
            return false;
    return true;
}

/* The places of one moment at which the program differs: the first of them, or PLACES. */
static size_t find_difference(const sel_lua_function *f, const sel_places *at) {
    double out[SEL_PROGRAM_RESULTS * PLACES];
    uint8_t settled[PLACES];
    size_t i = 0;
    if (evaluate_program(f, at, out, settled, NULL) != SEL_OK)
        return PLACES;
    while (i < PLACES && (!settled[i] || !all_finite(f, PLACES, i, out) || same_at(f, at, i, out)))
        i++;
    return i;
}

void sel_function_compare(sel_lua_function *f) {
    double x[PLACES], y[PLACES], z[PLACES];
    const int64_t before = f->script->ticks;
    uint64_t seed = 1;
    for (int m = 0; m < MOMENTS && f->script->ticks - before <= MOST_COMPARED; m++) {
        for (int i = 0; i < PLACES; i++) {
            x[i] = sample(&seed);
            y[i] = sample(&seed);
            z[i] = sample(&seed);
        }
        const sel_places at = {PLACES, x, y, z, m ? fabs(sample(&seed)) : 0, f->defaults};
        const size_t i = find_difference(f, &at);
        if (i < PLACES) {
            char place[160];
            sel_place_text(&at, i, place, sizeof place);
            snprintf(f->why, sizeof f->why,
                     "its program gave another value at %s; does it depend on more than its "
                     "arguments?",
                     place);
            f->program = f->base.program = NULL;
            return;
        }
    }
}

void sel_function_compile(sel_lua_function *f, int index) {
    sel_trace_needs needs = {f->count, f->arguments, f->base.results, f->predicate};
    f->program = f->base.program = sel_trace_function(f->script, index, &needs, f->why);
    if (f->program)
        sel_function_compare(f);
    sel_limits_look(f->script->L, f->base.where);
}

void sel_functions_loaded(sel_script *script) {
    for (sel_lua_function *f = script->functions; f && script->keeps_state; f = f->next) {
        if (f->program)
            snprintf(f->why, sizeof f->why,
                     "another function of the script changes what this one may read");
        f->program = f->base.program = NULL;
    }
}

static void print_depends(unsigned depends, FILE *to) {
    static const char *const names[] = {"x", "y", "z", "t", "controls"};
    const char *between = "";
    for (int bit = 0; bit < 5; bit++) {
        if (depends >> bit & 1u) {
            fprintf(to, "%s%s", between, names[bit]);
            between = ", ";
        }
    }
    fputs(*between ? "" : "nothing", to);
}

static void print_function(const sel_lua_function *f, FILE *to) {
    int controls = f->controls ? f->controls->n : 0;
    const char **names = sel_arena_alloc(f->script->arena, ((size_t)controls + 1) * sizeof *names);
    fprintf(to, "%s:%d: %s, depends on ", f->base.where.file ? f->base.where.file : "script",
            f->base.where.line, f->label);
    if (!f->program) {
        print_depends(f->base.depends, to);
        fprintf(to, "\n  evaluated by Lua: %s\n", f->why);
        return;
    }
    for (int k = 0; names && k < controls; k++)
        names[k] = f->controls->v[k].name;
    print_depends(f->program->depends, to);
    fprintf(to, "\n  %d operations per place, %d once per step, %d registers\n",
            f->program->each_count, f->program->once_count, f->program->registers);
    if (names)
        sel_program_print(f->program, names, "    ", to);
}

void sel_script_print_laws(const sel_scenario *scenario, FILE *to) {
    const sel_script *script = scenario->release_data;
    int count = 0, i = 0;
    for (const sel_lua_function *f = script->functions; f; f = f->next)
        count++;
    for (; count > 0; count--) {
        const sel_lua_function *f = script->functions;
        for (i = 1; i < count; i++)
            f = f->next;
        print_function(f, to);
    }
}
