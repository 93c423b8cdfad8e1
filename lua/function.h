/* function.h -- evaluate a script's functions. */
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

/* Compares the program with Lua at thousands of places and moments, fewer where that takes long,
 * and drops it at the first difference. */
void sel_function_compare(sel_lua_function *f);

/* All functions of the scenario are known: where one changes what others may read, Lua evaluates
 * all of them. */
void sel_functions_loaded(sel_script *script);

/* What a function may be asked for. */
typedef struct sel_function_needs {
    const char *label; /* "law.velocity", for messages */
    int results;
    int dims;       /* 0: not known */
    bool predicate; /* one boolean */
    const sel_numbers *controls;
} sel_function_needs;

/* The function at `index`, as the engine calls it. NULL, with the reason in `reason`, when its
 * parameters are not what a function may name. */
const sel_function *sel_function_create(sel_script *script, int index,
                                        const sel_function_needs *needs, sel_where where,
                                        char reason[512]);

#endif
