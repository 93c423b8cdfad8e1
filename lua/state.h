/* state.h -- what the files of lua/ share: one script, its Lua state and its limits. */
#ifndef SEL_STATE_H
#define SEL_STATE_H

#include <lua.h>
#include <lauxlib.h>
#include <pthread.h>
#include "engine/values/quantity.h"
#include "engine/scene/simulation.h"
#include "lua/script.h"
#include "lua/source.h"

/* What the main chunk that now runs gets from outside: the scenario itself, or a sel.load. */
typedef struct sel_chunk {
    struct sel_chunk *above; /* the chunk that loads this one; NULL: the scenario */
    const char *directory;   /* of the script, with its last '/' */
    int values;              /* registry reference of the values for sel.params; LUA_NOREF: none */
    sel_where loaded_at;     /* the call of sel.load */
    bool declared;           /* sel.params was called */
    int depth;
} sel_chunk;

/* User code of which one piece runs at a time, under limits of its own. */
typedef enum sel_user_code { SEL_MAIN_CHUNK, SEL_FUNCTION, SEL_HOOK } sel_user_code;

/* What the piece that runs may take. Who calls another in the middle of it keeps these and puts
 * them back. */
typedef struct sel_limits {
    sel_user_code code;
    bool running;             /* user code runs under the limits */
    int64_t deadline;         /* nanoseconds */
    int64_t ticks;            /* of the instruction counter since the start */
    int64_t max_instructions; /* 0: no limit */
} sel_limits;

typedef struct sel_script {
    lua_State *L;      /* the main thread */
    lua_State *active; /* the coroutine that runs, or L */
    sel_arena *arena;
    sel_error *error; /* of the call under way; NULL: texts are not wanted */
    pthread_t thread; /* that loaded the script: the only one that may call its functions */
    sel_script_options options; /* its texts only while loading */
    sel_source *sources, *main; /* the last one first; the scenario's own */
    sel_chunk *chunk;           /* NULL once the script is loaded */
    sel_scenario *scenario;

    /* Limits; none with trust. */
    size_t used, memory;            /* bytes */
    uint64_t made;                  /* blocks so far */
    const char *newest;             /* block of an object */
    ptrdiff_t inside[LUA_NUMTYPES]; /* of the block, what a pointer to an object of a type is */
    size_t refused;                 /* the last request, in bytes; 0: it was granted */
    sel_where refused_at;
    int64_t ticks;    /* thousands of instructions so far */
    double seconds;   /* that a piece of user code may take */
    int64_t deadline; /* of all that runs; INT64_MAX: only each piece has one */
    double left;      /* seconds for the functions, together; negative: each has its own */
    struct sel_watchdog *watchdog; /* NULL with trust */
    sel_limits limits;             /* of what runs now */
    bool broken;                   /* a limit was hit, or all is said: nothing may catch this */
    sel_error ended;               /* the limit */
    struct sel_trace *trace;       /* the function under trace; NULL: none */
    int64_t paths;                 /* of all traces so far */
    int counts;                    /* of its call: thousands of instructions */
    bool raised; /* it called error or assert last, or an error of its own follows */
    struct sel_lua_function *functions, **functions_end; /* of the scenario, a list */
    bool keeps_state;   /* a function of the scenario changes variables or tables outside of it */
    sel_lookups series; /* made so far */
    bool finds_gaps;    /* a raster that has no data where it is asked raises sel_script_gap */
} sel_script;

/* The address of a light userdata, which scripts cannot make: the error of such a raster. */
extern const char sel_script_gap;

/* The script that owns a Lua state or any of its coroutines. */
static inline sel_script *sel_script_of(lua_State *L) {
    return *(sel_script **)lua_getextraspace(L);
}

/* limits.c */

/* A Lua state under the script's limits; NULL when there is no memory. */
lua_State *sel_limits_open(sel_script *script);

/* Closes the state and ends the watch over it. */
void sel_limits_close(sel_script *script);

/* From here on all that runs, until the end, may take `seconds` together. The end returns what is
 * left of them. */
void sel_limits_begin(sel_script *script, double seconds);
double sel_limits_end(sel_script *script);

/* Starts and ends a piece of user code. */
void sel_limits_start(sel_script *script, sel_user_code code);
void sel_limits_stop(sel_script *script);

/* Back to the piece that another one interrupted. */
void sel_limits_restore(sel_script *script, const sel_limits *outer);

/* Leaves the piece for work that is not its own: that time does not count. */
sel_limits sel_limits_leave(lua_State *L);
void sel_limits_come_back(lua_State *L, const sel_limits *left);

/* True when the time is up or the script is broken. */
bool sel_limits_passed(const sel_script *script);

/* Where that is so, ends the script and writes the error. */
sel_status sel_limits_check(sel_script *script, sel_where where);

/* As above, and raises; the message names the line that runs, else `where`. */
void sel_limits_look(lua_State *L, sel_where where);

/* Ends the script: Lua's hook raises again where this is caught. The error text has been written.
 */
int sel_limits_break(lua_State *L);

/* Writes the error of a failed call: the message on the stack's top, which is popped.
 * `suffix` is appended to it. Nothing is written when broken. */
sel_status sel_limits_report(sel_script *script, sel_where where, const char *suffix);

/* For Lua: objects are numbered as they are made; the number of the argument. */
int sel_host_number(lua_State *L);

/* Replaces coroutine.resume and wrap in the table of globals at the top: by ones that note which
 * coroutine runs. Learns where the numbers of objects are. */
void sel_limits_track(lua_State *L);

/* sandbox.c */

/* Opens the libraries that a script may use and pushes nothing. Globals are strict. */
void sel_sandbox_open(lua_State *L);

/* Replaces functions of the table at the top; each guard has the original as upvalue 1. */
void sel_sandbox_guard(lua_State *L, const luaL_Reg *guards);

/* Calls a text of Selenite's own with the value at the top, which is popped. */
void sel_sandbox_run(lua_State *L, const unsigned char *text, size_t length, int results);

/* Pushes a list of the keys of the table at `index`, which must be above 0, in the order of pairs:
 * the same in every run. */
void sel_order_keys(lua_State *L, int index);

/* script.c */

/* Adds `require` to the table of globals at the top. */
void sel_module_open(lua_State *L);

/* sel.load. */
int sel_module_load(lua_State *L);

/* library.c */

/* Pushes what require "selenite" returns. */
void sel_library_push(lua_State *L);

/* The source of what Lua runs, by the name that it has there: "@name"; NULL: there is none. */
sel_source *sel_script_source(const sel_script *script, const char *chunk);

/* The place in the user's text from which a C function was called. */
sel_where sel_script_place(lua_State *L, sel_source **source);

/* Hands over what a reader of files found wrong. What it says of a file comes behind the place in
 * the script that names the file and `what` reads it ("sel.series"). */
void sel_script_hand_over(sel_script *script, const sel_error *found, sel_where where,
                          const char *what);

/* Ends the script: its data are more than a script may have, or `bytes` for `what` could not be
 * had, for that reason or since there is no more memory. */
int sel_script_too_large(sel_script *script);
int sel_script_no_memory(sel_script *script, const char *what, size_t bytes);

/* Zeroed memory of the scenario for `what`; ends the script when there is none. */
void *sel_script_alloc(sel_script *script, const char *what, size_t bytes);

/* Pushes the value of the field, read raw: no metamethod runs. Returns its type. */
int sel_script_field(lua_State *L, int index, const char *name);

/* The key at `index` where it is a name: a string without zero bytes; else NULL. */
const char *sel_script_key(lua_State *L, int index);

/* The keys of the table at `index` that are names, sorted; the array ends with NULL and lives in a
 * userdata that is pushed. */
const char **sel_script_names(lua_State *L, int index);

/* " 'name'; did you mean 'nearest'?", or only the quoted name. */
const char *sel_script_suggest(const char *name, const char *const *names, char text[256]);

/* Wraps the table at the top: its members can be read, not changed; reading another name is an
 * error that opens with `what` ("sel.law") and lists the names. */
void sel_library_close(lua_State *L, const char *what);

/* For Lua: value_text(value), as sel_script_value_text. */
int sel_host_value_text(lua_State *L);

/* A value in words: `string "abc"`, `number 0.5`, `table`. Never runs user code. */
const char *sel_script_value_text(lua_State *L, int index, char text[80]);

/* What a constructor noted of a table: "law" and "wall" for law.wall{}. */
typedef struct sel_mark {
    const char *group, *name;
    sel_where where;
    sel_source *source;
    const sel_units *units; /* of sel.units */
    /* of shapes, while they are filled */
    const struct sel_shape *shape;
    const void *filled_for;
    int parts;
    bool visiting;
} sel_mark;

/* Marks the table at the top as made by `group`.`name` at the place that now runs. Both strings
 * must outlive the script. */
void sel_script_set_mark(lua_State *L, const char *group, const char *name);

/* The mark of the value at `index`, or NULL. */
sel_mark *sel_script_mark(lua_State *L, int index);

/* The names of the table at `index`, which `span` shows, in the order of the script's text; in the
 * arena. */
sel_named_span *sel_script_names_in_order(lua_State *L, int index, sel_span span, int *count);

/* Whether the string at `index` is the value of a parameter that names a file: such a path is to be
 * opened as it is, others are relative to their script. */
bool sel_params_is_path(lua_State *L, int index);

/* fill.c: fills script->scenario from what the script returned, at the top of the stack. All
 * mistakes go to script->error. Raises only for memory. */
void sel_fill_scenario(sel_script *script, const char *path);

#endif
