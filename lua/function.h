/* function.h -- evaluate a script's functions: by programs that are made of them, or by Lua. */
#ifndef SEL_LUA_FUNCTION_H
#define SEL_LUA_FUNCTION_H

#include "engine/values/quantity.h"
#include "engine/values/program.h"
#include "lua/state.h"

typedef struct sel_lua_function {
    sel_function base;
    struct sel_lua_function *next; /* in the script's list */
    sel_script *script;
    int reference;  /* in Lua's registry */
    bool predicate; /* returns true or false instead of numbers */
    const char *label;
    const sel_numbers *controls;
    const double *defaults; /* of the controls */
    int count;              /* of parameters */
    int *arguments;         /* SEL_ARGUMENT_... of each */

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
    const char *label; /* "law.velocity", for messages; outlives the function */
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

/* ---- turn a function into a program by calling it with symbols ---- */

/* Replaces the functions of math in the table of globals at the top by ones that take numbers and
 * symbols alike. */
void sel_trace_open(lua_State *L);

/* Lets a function under trace call the C function at `index`: one that only passes values on, or
 * that knows symbols itself. All others end the trace. */
void sel_trace_allow(lua_State *L, int index);

/* The program of the function, which is at `index`, in the script's arena; NULL with the reason in
 * f->why when it does something that symbols cannot see, or too much. Leaves the function's
 * upvalues as they were. Raises nothing. */
const sel_program *sel_trace_function(sel_lua_function *f, int index);

/* True for a symbol: what a function under trace gets instead of a number. */
bool sel_trace_is_symbol(lua_State *L, int index);

/* Records a look-up with the arguments at `first` ... `first + n - 1`, numbers or symbols; pushes
 * the symbol of its value and returns 1. */
int sel_trace_lookup(lua_State *L, const sel_lookup *lookup, int first, int n);

/* sel.step(x): 1.0 where x >= 0, else 0.0. */
int sel_trace_step(lua_State *L);

/* trace_watch.c. With the table of globals at the top: the functions of the language that may be
 * called. */
void sel_trace_open_watch(lua_State *L);

/* Watches the call that follows. The caller takes the hook away. */
void sel_trace_watch(lua_State *L);

/* Begins a trace: no function has been called. */
void sel_trace_begin(lua_State *L);

/* Puts back the upvalues and the tables that a path changed; false, with the reason, when one was.
 */
bool sel_trace_restore(lua_State *L, char reason[256]);

/* trace_math.c and trace_watch.c share with trace.c what follows. */

/* A value under trace: a node, and whether Lua has it as an integer there (a node of 0 or 1).
 * Where it has, the value is whole and below `bound`, at most 2^53. */
typedef struct sel_symbol {
    int value, whole;
    double bound;
} sel_symbol;

/* Ends the trace; the first reason is kept. */
int sel_trace_fail(lua_State *L, const char *format, ...);

/* The number or symbol at `index`. Anything else ends the trace. */
sel_symbol sel_trace_operand(lua_State *L, int index);

/* Pushes a symbol, or the number when it is a constant; returns 1. */
int sel_trace_push(lua_State *L, sel_symbol symbol);

/* sel_build on the trace's builder; a full builder ends the trace. */
int sel_trace_build(lua_State *L, sel_op op, int a, int b, int c);
int sel_trace_constant(lua_State *L, double value);

/* Results are only sure where the node is not 0. */
void sel_trace_require(lua_State *L, int node);

/* A float: what division, powers and transcendental functions give. */
sel_symbol sel_trace_float(lua_State *L, int value);

/* The rules that integers add to an operation's plain value; `divides` by b. */
sel_symbol sel_trace_integers(lua_State *L, sel_symbol a, sel_symbol b, int value, double bound,
                              bool may_be_minus_zero, bool divides);

/* The functions of math, and more, that know symbols. */
void sel_trace_open_math(lua_State *L);

#endif
