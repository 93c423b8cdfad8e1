/* functions.h -- functions of a script for the engine: of place and time, of cells, and hooks.
 *
 *      function.c    functions of place and time: laws, initial fields, predicates
 *      rule.c        functions of cells, for sel.rule
 *      read.c        the reader: a Lua function becomes a graph, and the graph a program
 *      compare.c     compares a program with Lua before it is trusted
 *      hook.c        hooks: the object `run`, and run.state
 */
#ifndef SEL_FUNCTIONS_H
#define SEL_FUNCTIONS_H

#include "engine/run/run.h"
#include "lua/script/state.h"

/* ---- function.c ---- */

/* What a function of the script is used for. */
typedef struct sel_function_needs {
    const char *label; /* "law.velocity", for messages; outlives the function */
    int results;
    int dims;       /* 0: not known */
    bool predicate; /* one boolean instead of numbers */
    const sel_numbers *controls;
    const sel_common *common; /* of the simulation; NULL: not known */
} sel_function_needs;

typedef struct sel_lua_function {
    sel_function base;
    struct sel_lua_function *next; /* in the script's list */
    sel_script *script;
    int reference; /* in Lua's registry */
    sel_function_needs needs;
    const double *defaults; /* of the controls */
    int count;              /* of parameters */
    int *arguments;         /* SEL_ARGUMENT_... of each */

    const sel_program *program; /* NULL: Lua evaluates the function, for the reason `why` */
    const sel_rule *graph;      /* of the program */
    char why[256];
    const char *unseen; /* what the comparison with Lua did not reach; NULL: nothing */
    bool told;          /* the user was told that Lua evaluates it */
} sel_lua_function;

/* The function at `index` for the engine. NULL, with the reason, if a parameter's name is not
 * allowed. */
const sel_function *sel_function_create(sel_script *script, int index,
                                        const sel_function_needs *needs, sel_where where,
                                        char reason[512]);

/* The place where the function at `index` begins; `otherwise` if no text of the script has it. */
sel_where sel_function_where(sel_script *script, int index, sel_where otherwise);

/* Compares the programs of all functions of a loaded scenario. If one of them changes what others
 * may read, Lua evaluates all of them. */
void sel_functions_loaded(sel_script *script);

/* Its address, as a light userdata, is the error that a raster raises at a place without data while
 * script->finds_gaps is set. Scripts cannot create light userdata. */
extern const char sel_function_gap;

/* State of the script that is saved while the engine calls a function. */
typedef struct sel_outer {
    sel_error *error;
    sel_limits limits; /* of a hook that waits for the function's value */
} sel_outer;

/* To be called before and after each call of a function with `count` arguments. sel_script_enter
 * fails in other threads than the script's, and after the script was ended. `label` names the
 * function in messages. */
sel_status sel_script_enter(sel_script *script, sel_where where, const char *label, int count,
                            sel_outer *outer, sel_error *error);
void sel_script_leave(sel_script *script, const sel_outer *outer);

/* The `count` parameters of the function at `index`: SEL_ARGUMENT_..., or SEL_RULE_CELL in a
 * function of cells. NULL, with the reason, if a parameter's name is not allowed. */
int *sel_function_arguments(sel_script *script, int index, const sel_function_needs *needs,
                            bool of_cells, int count, char reason[512]);

enum { SEL_RULE_CELL = -1 };

/* Evaluate the function by Lua at place i; or at each place where settled[i] is 0, and with
 * `settled` NULL at all places. Fail in other threads than the script's. */
sel_status sel_function_call_at(const sel_lua_function *f, const sel_places *at, size_t i,
                                double *out, sel_error *error);
sel_status sel_function_call(const sel_lua_function *f, const sel_places *at,
                             const uint8_t *settled, double *out, sel_error *error);

/* Whether all results at place i are finite. */
bool sel_function_finite(const sel_lua_function *f, size_t n, size_t i, const double *out);

/* ---- rule.c ---- */

/* A function of cells. */
typedef struct sel_lua_rule {
    sel_rule_source base;
    struct sel_lua_rule *next; /* in the script's list */
    sel_script *script;
    const char *label; /* "sel.rule.rule[2]" */
    const sel_numbers *controls;
    sel_rule_returns returns;
    int reference; /* in Lua's registry */
    int count;     /* of parameters */
    int *arguments;
    const sel_simulation *simulation; /* NULL: not known */
    /* Set when it is read: */
    const sel_cells *cells; /* NULL: not read yet */
    const char *unseen;     /* what the comparison with Lua did not reach; NULL: nothing */
    const char *doubt;      /* a mistake on a branch that may never be taken; NULL: none */
    sel_where doubted;      /* the line of that mistake */
    bool mistaken;          /* Lua took the branch and failed on that line */
} sel_lua_rule;

/* The function of cells at `index` of a simulation, to be read later; its text begins at `where`.
 * NULL, with the reason, if a parameter's name is not allowed. */
const sel_rule_source *sel_rule_source_create(sel_script *script, int index,
                                              const sel_function_needs *needs,
                                              const sel_simulation *simulation,
                                              sel_rule_returns returns, sel_where where,
                                              char reason[512]);

/* Reads a function of cells with these fields into a graph and compares the graph with Lua. The
 * graph, the reason why there is none, or a mistake of the script are in rule->base. */
void sel_rule_read(sel_lua_rule *rule, const sel_cells *cells);

/* Reads the functions of cells of the simulations that have cells. */
void sel_rules_loaded(sel_script *script);

/* The text of an unknown field (`state`: of an unknown state field): " 'name'" and what may be
 * meant: the components of a vector, data, the nearest field, or the list of all. */
const char *sel_rule_unknown(const sel_cells *cells, const char *name, bool state, char text[512]);

/* Creates the metatable of cells, and adds sel.random to the table at the top. */
void sel_rule_open(lua_State *L);

/* ---- read.c ---- */

/* Opens the reader, with the table of globals at the top of the stack. */
void sel_read_open(lua_State *L);

/* Tells the reader that `name` of the table at the top is a library function that it can read. */
void sel_read_library(lua_State *L, const char *name);

/* Reads the function at `index` into a program in the script's arena. NULL, with the reason in
 * f->why, if the function cannot be followed or is too large. Has no side effects, and raises no
 * error. */
const sel_program *sel_read_law(sel_lua_function *f, int index);

/* Stores the sorted numbers that a function sees, at most `most`; returns their count. */
int sel_read_numbers(sel_script *script, int reference, double *to, int most);

/* Reads a function of cells, with the fields of what->cells, into a graph in the script's arena.
 * Mistakes of the script are errors with their lines. If only Lua can evaluate the function, *rule
 * is NULL and `why` (SEL_RULE_WHY bytes) gets the reason. */
sel_status sel_read_rule(sel_lua_rule *what, const sel_rule **rule, char *why, sel_error *error);

/* ---- compare.c ---- */

/* Compares the program with Lua, and drops the program at the first difference. */
void sel_function_compare(sel_lua_function *f);

/* Whether the graph agrees with Lua at all points that are compared. `why`, of
 * SEL_RULE_WHY bytes, says where it differs. Sets rule->unseen. */
bool sel_rule_compare(sel_lua_rule *rule, const sel_rule *graph, char *why);

/* ---- hook.c ---- */

/* The function at `index` as a callback of the engine. `label` names it in messages, "hooks[1]",
 * and must outlive the script. */
const sel_callback *sel_hook_callback(sel_script *script, int index, const char *label,
                                      sel_where where);

/* Loads hook_state.lua, which saves and restores run.state. */
void sel_hook_open(lua_State *L);

#endif
