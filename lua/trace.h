/* trace.h -- turn a Lua function into a program by calling it with symbols. */
#ifndef SEL_TRACE_H
#define SEL_TRACE_H

#include "engine/program.h"
#include "lua/state.h"

/* Replaces the functions of math in the table of globals at the top by ones that take numbers and
 * symbols alike. */
void sel_trace_open(lua_State *L);

/* Lets a function under trace call the C function at `index`: one that only passes values on, or
 * that knows symbols itself. All others end the trace. */
void sel_trace_allow(lua_State *L, int index);

/* What is asked of a function: its parameters in order (SEL_ARGUMENT_...), and what it returns. */
typedef struct sel_trace_needs {
    int count;
    const int *arguments;
    int results;
    bool predicate; /* true or false instead of numbers */
} sel_trace_needs;

/* The program of the function at `index`, in the script's arena; NULL with the reason when it
 * does something that symbols cannot see, or too much. Leaves the function's upvalues as they
 * were. Raises nothing. */
const sel_program *sel_trace_function(sel_script *script, int index, const sel_trace_needs *needs,
                                      char reason[256]);

/* The error that follows is one of the function, not of tracing it: its path ends there. */
void sel_trace_expect_error(lua_State *L);

/* True for a symbol: what a function under trace gets instead of a number. */
bool sel_trace_is_symbol(lua_State *L, int index);

/* Records a look-up with the arguments at `first` ... `first + n - 1`, numbers or symbols; pushes
 * the symbol of its value and returns 1. */
int sel_trace_lookup(lua_State *L, const sel_lookup *lookup, int first, int n);

/* sel.step(x): 1.0 where x >= 0, else 0.0. */
int sel_trace_step(lua_State *L);

/* trace_watch.c. What one call of the function under trace has done so far. */
typedef struct sel_trace_watch {
    int counts;  /* thousands of instructions */
    bool raised; /* error or assert was called last */
} sel_trace_watch;

/* With the table of globals at the top: the functions of the language that may be called. */
void sel_trace_open_watch(lua_State *L);

/* Watches the call that follows. The caller takes the hook away. */
void sel_trace_watch_begin(lua_State *L, sel_trace_watch *watch);

/* The watch of the trace that goes on. */
sel_trace_watch *sel_trace_watch_of(lua_State *L);

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

/* math.max (SEL_OP_MAX) or math.min of two. */
sel_symbol sel_trace_extreme(lua_State *L, sel_op op, sel_symbol a, sel_symbol b);

/* The functions of math, and more, that know symbols. */
void sel_trace_open_math(lua_State *L);

#endif
