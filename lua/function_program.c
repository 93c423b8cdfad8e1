/* function_program.c -- evaluate a function by its program, and let Lua watch over it.
 *
 * The first values of each program, and one of every later call, are compared with what Lua gives
 * there, bit by bit. At the first difference Lua takes over for good, with a notice, for the places
 * of this call and for all that are asked for later; what earlier calls gave is evaluated again by
 * those who count corrections (sel_corrected). Where a program says that it is not sure, or gives
 * what is no finite number, Lua has the last word for that place: the value, or the error.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/machine.h"
#include "lua/data.h"
#include "lua/function.h"
#include "lua/trace.h"

enum { COMPARED_AT_FIRST = 4096, SAMPLES = 64 };

static bool on_own_thread(const sel_lua_function *f) {
    return pthread_equal(pthread_self(), f->script->thread) != 0;
}

static sel_places place_of(const sel_places *at, size_t i) {
    return (sel_places){1,
                        at->x ? at->x + i : NULL,
                        at->y ? at->y + i : NULL,
                        at->z ? at->z + i : NULL,
                        at->t,
                        at->controls};
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Does Lua give at place i what the program gave? An error is a difference. */
static bool same_at(const sel_lua_function *f, const sel_places *at, size_t i, const double *out) {
    sel_error unread = {SEL_OK, ""};
    double value[SEL_PROGRAM_RESULTS];
    sel_places place = place_of(at, i);
    if (sel_function_call(f, &place, value, &unread) != SEL_OK)
        return false;
    for (int r = 0; r < f->base.results; r++)
        if (!same_bits(value[r], out[(size_t)r * at->n + i]))
            return false;
    return true;
}

static bool all_finite(const sel_lua_function *f, size_t n, size_t i, const double *out) {
    for (int r = 0; r < f->base.results; r++)
        if (!isfinite(out[(size_t)r * n + i]))
            return false;
    return true;
}

/* From here on Lua evaluates the function. */
static void give_up(sel_lua_function *f, const sel_places *at, size_t i) {
    char place[160];
    sel_place_text(at, i, place, sizeof place);
    snprintf(f->why, sizeof f->why,
             "its program gave another value at %s; does it depend on more than its arguments?",
             place);
    atomic_store(&f->by_lua, true);
    f->base.program = NULL;
#pragma omp atomic
    f->script->corrections++;
}

/* Compares many places at first, later one in each call. False after the first difference. */
static bool compare(sel_lua_function *f, const sel_places *at, const double *out,
                    const uint8_t *exact) {
    bool early = f->compared < COMPARED_AT_FIRST;
    size_t step = early ? at->n / COMPARED_AT_FIRST + 1 : at->n;
    size_t first = early ? 0 : (f->compared * 0x9e3779b1u) % at->n;
    for (size_t i = first; i < at->n; i += step) {
        f->compared++;
        if (exact[i] && !same_at(f, at, i, out)) {
            give_up(f, at, i);
            return false;
        }
    }
    return true;
}

/* Lets Lua evaluate the places of which the program is not sure; they count as not exact. */
static sel_status settle(const sel_lua_function *f, const sel_places *at, double *out,
                         uint8_t *exact, sel_error *error) {
    for (size_t i = 0; i < at->n; i++) {
        if (exact[i] && all_finite(f, at->n, i, out))
            continue;
        exact[i] = 0;
        sel_status status = sel_function_call_at(f, at, i, out, error);
        if (status)
            return status;
    }
    return SEL_OK;
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
    sel_status status = sel_function_call(f, at, out, error);
    if (!status && !f->told && at->n > 0)
        tell(f, at->n, sel_machine_seconds() - before);
    return status;
}

sel_status sel_function_evaluate(const sel_function *self, const sel_places *at, double *out,
                                 sel_error *error) {
    sel_lua_function *f = self->data;
    if (atomic_load(&f->by_lua))
        return evaluate_by_lua(f, at, out, error);
    uint8_t *exact = malloc(at->n + 1);
    if (!exact)
        return sel_fail_memory(error, "the values of a function", at->n);
    const double *controls = at->controls ? at->controls : f->defaults;
    sel_status status = sel_program_eval(f->program, at, controls, out, exact, error);
    if (!status)
        status = settle(f, at, out, exact, error);
    bool differs = !status && at->n > 0 && on_own_thread(f) && !compare(f, at, out, exact);
    free(exact);
    return differs ? evaluate_by_lua(f, at, out, error) : status;
}

sel_status sel_function_gaps(const sel_function *self, const sel_places *at, uint8_t *gap,
                             sel_error *error) {
    sel_lua_function *f = self->data;
    if (atomic_load(&f->by_lua))
        return sel_function_call_gaps(f, at, NULL, gap, error);
    const size_t n = at->n, bytes = n * (f->base.results * sizeof(double) + 1);
    double *out = malloc(bytes + 1);
    if (!out)
        return sel_fail_memory(error, "the values of a function", bytes);
    uint8_t *settled = (uint8_t *)(out + (size_t)f->base.results * n);
    const double *controls = at->controls ? at->controls : f->defaults;
    sel_status status = sel_program_eval(f->program, at, controls, out, settled, error);
    if (!status)
        status = sel_function_call_gaps(f, at, settled, gap, error);
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

/* Compares at places that no domain was asked for yet. Errors there mean nothing. */
static void compare_samples(sel_lua_function *f) {
    double x[SAMPLES], y[SAMPLES], z[SAMPLES], out[SEL_PROGRAM_RESULTS * SAMPLES];
    uint8_t exact[SAMPLES];
    uint64_t seed = 1;
    for (int i = 0; i < SAMPLES; i++) {
        x[i] = sample(&seed);
        y[i] = sample(&seed);
        z[i] = sample(&seed);
    }
    for (int i = 0; i < SAMPLES && !atomic_load(&f->by_lua); i++) {
        sel_error unread = {SEL_OK, ""};
        double lua[SEL_PROGRAM_RESULTS];
        sel_places at = {1, &x[i], &y[i], &z[i], i < 4 ? 0 : fabs(sample(&seed)), f->defaults};
        if (sel_program_eval(f->program, &at, f->defaults, out, exact, &unread) == SEL_OK &&
            *exact && all_finite(f, 1, 0, out) &&
            sel_function_call(f, &at, lua, &unread) == SEL_OK &&
            memcmp(lua, out, (size_t)f->base.results * sizeof *lua) != 0)
            give_up(f, &at, 0);
    }
}

void sel_function_compile(sel_lua_function *f, int index) {
    sel_trace_needs needs = {f->count, f->arguments, f->base.results, f->predicate};
    f->program = sel_trace_function(f->script, index, &needs, f->why);
    f->base.program = f->program;
    atomic_store(&f->by_lua, f->program == NULL);
    if (f->program)
        compare_samples(f);
    sel_limits_look(f->script->L, f->base.where);
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
    if (atomic_load(&f->by_lua)) {
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
