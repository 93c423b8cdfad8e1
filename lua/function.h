/* function.h -- what the files share that evaluate a script's functions. */
#ifndef SEL_LUA_FUNCTION_H
#define SEL_LUA_FUNCTION_H

#include "engine/program.h"
#include "lua/state.h"

typedef struct sel_lua_function {
    sel_function base;
    struct sel_lua_function *next; /* in the script's list */
    sel_script *script;
    int reference; /* in Lua's registry */
    bool predicate;
    const char *label;
    const sel_numbers *controls;
    const double *defaults; /* of the controls */
    int count;
    int *arguments; /* SEL_ARGUMENT_... of each parameter */

    const sel_program *program; /* NULL: Lua evaluates it, and `why` tells the reason */
    char why[256];
    bool told; /* the notice */
} sel_lua_function;

/* Calls the function in Lua at place i, or at all places but those that are settled (NULL: none
 * is). For the script's thread; others get an error. */
sel_status sel_function_call_at(const sel_lua_function *f, const sel_places *at, size_t i,
                                double *out, sel_error *error);
sel_status sel_function_call(const sel_lua_function *f, const sel_places *at,
                             const uint8_t *settled, double *out, sel_error *error);

/* As above; the first result is NaN where the function asks a raster that has no data there. */
sel_status sel_function_call_gaps(const sel_lua_function *f, const sel_places *at,
                                  const uint8_t *settled, double *out, sel_error *error);

/* function_program.c */

/* Traces the function at `index` and compares its program with it. */
void sel_function_compile(sel_lua_function *f, int index);

/* Compares the program with Lua at thousands of places and moments, fewer where that takes long,
 * and drops it at the first difference. */
void sel_function_compare(sel_lua_function *f);

/* All functions of the scenario are known: where one changes what others may read, Lua evaluates
 * all of them. */
void sel_functions_loaded(sel_script *script);

/* sel_function.eval: by the program where there is one. */
sel_status sel_function_evaluate(const sel_function *self, const sel_places *at, double *out,
                                 sel_error *error);

/* sel_function.gaps */
sel_status sel_function_gaps(const sel_function *self, const sel_places *at, uint8_t *gap,
                             sel_error *error);

/* The first raster that the function at `index` calls, by its program, else by what it refers to;
 * NULL: none is known. */
const sel_lookup *sel_function_raster(const sel_lua_function *f, int index);

#endif
