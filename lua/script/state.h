/* state.h -- a running script: its Lua state, its limits, the sandbox, and its values for messages.
 *
 *      limits.c     limits of time and memory
 *      sandbox.c    the libraries that a script sees
 *      compile.c    reading and compiling its texts
 *      value.c      tables, marks and look-ups of a script, and values in messages
 *      lines.c      a record of the lines that run
 */
#ifndef SEL_LUA_STATE_H
#define SEL_LUA_STATE_H

#include <lua.h>
#include <lauxlib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include "engine/scene/simulation.h"
#include "engine/values/rule.h"
#include "lua/script/options.h"
#include "lua/script/source.h"

/* The main chunk that runs: the scenario's own, or one of sel.load. */
typedef struct sel_chunk {
    struct sel_chunk *above; /* the chunk that loads this one; NULL: the scenario */
    const char *directory;   /* of the script, with its last '/' */
    int values;              /* registry reference of the values for sel.params; LUA_NOREF: none */
    sel_where loaded_at;     /* the call of sel.load */
    bool declared;           /* sel.params was called */
    int depth;               /* number of chunks above */
} sel_chunk;

/* Kinds of user code. One piece of user code runs at a time, under its own limits. */
typedef enum sel_user_code { SEL_MAIN_CHUNK, SEL_FUNCTION, SEL_HOOK } sel_user_code;

/* Limits of the running piece of user code. A nested piece saves and restores those of the outer
 * one. */
typedef struct sel_limits {
    sel_user_code code;
    bool running;                           /* user code runs under the limits */
    int64_t deadline;                       /* nanoseconds; INT64_MAX: none */
    int64_t ticks;                          /* thousands of instructions since the start */
    int64_t max_instructions;               /* 0: no limit */
    const volatile sig_atomic_t *interrupt; /* set by a signal; NULL: not watched */
    int64_t interrupted_until; /* ns: the end of the process after a signal; 0: no signal came */
} sel_limits;

typedef struct sel_script {
    lua_State *L;      /* the main thread */
    lua_State *active; /* the running coroutine, or L */
    sel_arena *arena;
    sel_error *error;           /* of the present call; NULL: no error text is wanted */
    pthread_t thread;           /* the only one that may call functions: it loaded the script */
    sel_script_options options; /* its texts are valid only while loading */
    /* Called with the script's result at the top of the stack, instead of filling structs. NULL:
     * structs are filled. */
    void (*prompt)(lua_State *L);
    bool at_prompt;             /* the prompt runs: a mistake ends a line, not the script */
    sel_source *sources, *main; /* all texts, the last loaded first; the scenario's own */
    sel_chunk *chunk;           /* NULL once the script is loaded */
    sel_scenario *scenario;

    /* Limits (limits.c); none with trust. */
    size_t used, memory;  /* bytes allocated; bytes allowed */
    size_t refused;       /* bytes of the last request; 0: it was granted */
    sel_where refused_at; /* the line that made the request */
    int64_t ticks;        /* thousands of instructions so far */
    double seconds;       /* time limit of a piece of user code */
    int64_t deadline;     /* ns, of everything; INT64_MAX: each piece has its own only */
    double left;          /* seconds left for all functions together; negative: each has its own */
    bool timed;           /* `timer` exists; false with trust */
    timer_t timer;        /* ends the process when code does not return to Lua */
    _Atomic int64_t due;  /* ns: when the process is to end; INT64_MAX: not */
    _Atomic int64_t timer_at;              /* ns: when the timer goes off; INT64_MAX: not */
    volatile sig_atomic_t allocates, late; /* inside realloc; the timer went off meanwhile */
    sel_limits limits;                     /* of the running piece of user code */
    bool broken;                           /* the script was ended: pcall catches no error */
    sel_error ended;                       /* the limit that it exceeded; SEL_OK: none */

    /* Functions. */
    sel_builder *reading; /* the graph of the function being read; NULL: none is */
    int reading_fields;   /* number of fields of its cells */
    struct sel_lua_function *functions, **functions_end; /* all functions of the scenario */
    struct sel_lua_rule *rules, **rules_end;             /* all functions of cells */
    struct sel_lines *lines; /* records the lines that run; NULL: not recorded */
    bool keeps_state; /* a function of the scenario changes variables or tables outside of it */
    sel_lookups *series, **series_end; /* all series created so far */
    sel_lookups *rasters, **rasters_end;
    const sel_rule_place *cell; /* where Lua evaluates a rule now; NULL: it does not */
    uint64_t cells;             /* number of evaluations of rules so far */
    const sel_places *places;   /* where Lua evaluates a function now; NULL: it does not */
    size_t place;               /* index of the place in `places` */
    bool finds_gaps; /* a raster raises sel_function_gap at a place where it has no data */
} sel_script;

/* The script that owns a Lua state or any of its coroutines. */
static inline sel_script *sel_script_of(lua_State *L) {
    return *(sel_script **)lua_getextraspace(L);
}

/* ---- limits.c ---- */

/* A Lua state under the script's limits; NULL: no memory. */
lua_State *sel_limits_open(sel_script *script);

void sel_limits_close(sel_script *script);

/* All code that runs between begin and end may together take `seconds`. Returns the seconds left.
 */
void sel_limits_begin(sel_script *script, double seconds);
double sel_limits_end(sel_script *script);

/* Start and end of a piece of user code. `interrupt` is set by a signal: a hook that has not
 * returned one second later is ended with SEL_INTERRUPTED, with trust too. */
void sel_limits_start(sel_script *script, sel_user_code code);
void sel_limits_start_hook(sel_script *script, const volatile sig_atomic_t *interrupt);
void sel_limits_stop(sel_script *script);

/* Returns to the outer piece after a nested one. */
void sel_limits_restore(sel_script *script, const sel_limits *outer);

/* Suspends the piece for work whose time does not count, and resumes it. */
sel_limits sel_limits_suspend(lua_State *L);
void sel_limits_resume(lua_State *L, const sel_limits *left);

/* Whether the time is up or the script is broken. */
bool sel_limits_passed(sel_script *script);

/* If sel_limits_passed, ends the script and writes the error. */
sel_status sel_limits_check(sel_script *script, sel_where where);

/* As sel_limits_check, and raises an error in Lua. The message names the running line; without one,
 * `where`. */
void sel_limits_raise(lua_State *L, sel_where where);

/* Raises an error that ends the script, whose error was written; Lua's hook raises it again after
 * each pcall. At a prompt, unless a limit was hit, raises the written error alone. */
int sel_limits_break(lua_State *L);

/* Writes the error of a failed call: the message at the top of the stack, which is popped, and
 * `suffix`. Writes nothing if the script is broken. Returns the status that ended the script, else
 * SEL_BAD_SCENARIO. */
sel_status sel_limits_report(sel_script *script, sel_where where, const char *suffix);

/* Replaces coroutine.resume and wrap, in the table of globals at the top, by versions that keep
 * script->active. */
void sel_limits_track(lua_State *L);

/* Records the lines that the script runs from here on. NULL: stops. */
void sel_limits_note_lines(sel_script *script, struct sel_lines *lines);

/* Reports an error in a file, preceded by the place in the script at which `what` ("sel.series")
 * reads it. */
void sel_script_report_file(sel_script *script, const sel_error *found, sel_where where,
                            const char *what);

/* End the script by an error: its data exceed the memory limit; or `bytes` for `what` could not be
 * allocated, because of that limit or of the system. */
int sel_script_too_large(sel_script *script);
int sel_script_no_memory(sel_script *script, const char *what, size_t bytes);

/* Zeroed memory in the arena for `what`; ends the script if there is none. */
void *sel_script_alloc(sel_script *script, const char *what, size_t bytes);

/* ---- lines.c: a record of the lines that run ---- */

typedef struct sel_lines sel_lines;

/* NULL: no memory. */
sel_lines *sel_lines_create(void);
void sel_lines_destroy(sel_lines *lines);

/* To be called by Lua's line hook. */
void sel_lines_note(sel_lines *lines, lua_State *L, lua_Debug *info);

/* The first line after `after` that never ran, of functions that were entered; 0: there is none.
 * `source`: of this chunk only; NULL: of all chunks. */
int sel_lines_missed(const sel_lines *lines, const char *source, int after);

/* ---- sandbox.c ---- */

/* Opens the libraries that a script may use. */
void sel_sandbox_open(lua_State *L);

/* Replaces functions of the table at the top; each guard has the original as upvalue 1. */
void sel_sandbox_guard(lua_State *L, const luaL_Reg *guards);

/* Runs Lua code of Selenite with the value at the top of the stack, which is popped; pushes
 * `results` values. */
void sel_sandbox_run(lua_State *L, const unsigned char *text, size_t length, int results);

/* Pushes a list of the keys of the table at `index` (absolute), in the order of pairs, which is the
 * same in every run. */
void sel_order_keys(lua_State *L, int index);

/* ---- compile.c ---- */

/* Reads the file that `what` ("sel.load") loads at `from`, and adds it to the script's sources.
 * Ends the script if the file cannot be read. */
sel_source *sel_script_read_source(lua_State *L, const char *path, sel_where from,
                                   const char *what);

/* Pushes the compiled text, or the error message; returns whether it compiled. */
bool sel_source_compile(lua_State *L, sel_source *source);

/* The source of a chunk by its name in Lua, "@name"; NULL: there is none. */
sel_source *sel_script_source(const sel_script *script, const char *chunk);

/* The line of the user's text from which a C function was called, and its text in *source (NULL:
 * not wanted). file NULL: no such line. */
sel_where sel_script_place(lua_State *L, sel_source **source);

/* ---- value.c ---- */

/* Pushes the value of a field, without metamethods. Returns its type. */
int sel_script_field(lua_State *L, int index, const char *name);

/* The key at `index` if it is a string without zero bytes; else NULL. */
const char *sel_script_key(lua_State *L, int index);

/* The string at `index`, for use in a path. A zero byte, which would end the path, is an error at
 * the running line; its text begins with `what`: "sel.load: the path". */
const char *sel_script_path(lua_State *L, int index, const char *what);

/* The keys of the table at `index` that are names, sorted, then NULL. Pushes the userdata that
 * holds the array. */
const char **sel_script_names(lua_State *L, int index);

/* The strings of the list at `index`, then NULL; they stay on the stack. */
const char **sel_script_strings(lua_State *L, int index);

/* Pushes strings as a list. NULL: an empty list. */
void sel_script_push_strings(lua_State *L, const char *const *strings);

/* " 'name'; did you mean 'nearest'?", or only the quoted name. */
const char *sel_script_suggest(const char *name, const char *const *names, char text[256]);

/* A value in messages: `string "abc"`, `0.5`, `law.wall`, `table`. Never runs user code. */
const char *sel_script_value_text(lua_State *L, int index, char text[80]);

/* The series or raster at `index`, or NULL. In Lua it is a userdata with a pointer to it, and with
 * the metatable "sel.series" or "sel.raster". */
const sel_lookup *sel_lookup_at(lua_State *L, int index);

/* What a constructor records of the table that it makes. */
typedef struct sel_mark {
    const char *group, *name; /* "law" and "wall" for law.wall{} */
    sel_where where;
    sel_source *source;
    const sel_units *units; /* of sel.units */
    /* Of shapes, while they are filled (fill_shape.c): */
    const struct sel_shape *shape; /* the filled shape; NULL: not filled */
    const void *filled_for;        /* the controls of the simulation it was filled for */
    int parts;                     /* number of its primitives */
    bool visiting;                 /* its operands are being filled: a cycle comes back here */
} sel_mark;

/* Creates the side table of marks. Pushes the metatable of shapes, to which selenite.lua adds the
 * operators. */
void sel_marks_open(lua_State *L);

/* Marks the table at the top as made by `group`.`name` at the running line. Both strings must
 * outlive the script. */
void sel_script_set_mark(lua_State *L, const char *group, const char *name);

/* The mark of the value at `index`, or NULL. */
sel_mark *sel_script_mark(lua_State *L, int index);

/* The names of the table at `index`, whose place is `span`, in the order of the text; in the arena.
 */
sel_named_span *sel_script_names_in_order(lua_State *L, int index, sel_span span, int *count);

/* Pushes the results of a function for Lua: true, or nil and the error's text. */
int sel_host_result(lua_State *L, const sel_error *error);

/* For Lua: value_text(value) -> sel_script_value_text. */
int sel_host_value_text(lua_State *L);

#endif
