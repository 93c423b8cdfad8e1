/* function.h -- what the files share that evaluate a script's functions. */
#ifndef SEL_LUA_FUNCTION_H
#define SEL_LUA_FUNCTION_H

#include <stdatomic.h>
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
    atomic_bool by_lua; /* always, or from the first difference on */
    bool told;          /* the notice */
    size_t compared;    /* places at which program and function were compared */
} sel_lua_function;

/* Calls the function in Lua at all places, or at place i of them. For the script's thread; others
 * get an error. */
sel_status sel_function_call(const sel_lua_function *f, const sel_places *at, double *out,
                             sel_error *error);
sel_status sel_function_call_at(const sel_lua_function *f, const sel_places *at, size_t i,
                                double *out, sel_error *error);

/* gap[at->n]: 1 where the function asks a raster that has no data there; of those places only for
 * which `settled` is 0 (NULL: all). For the script's thread too. */
sel_status sel_function_call_gaps(const sel_lua_function *f, const sel_places *at,
                                  const uint8_t *settled, uint8_t *gap, sel_error *error);

/* function_program.c */

/* Traces the function at `index` and compares it with its program at a few places. */
void sel_function_compile(sel_lua_function *f, int index);

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
