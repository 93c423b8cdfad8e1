/* state.h -- shared declarations of lua/: a script with its Lua state, limits, text and functions;
 * and the filling of C structs from its tables.
 */
#ifndef SEL_LUA_STATE_H
#define SEL_LUA_STATE_H

#include <lua.h>
#include <lauxlib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include "engine/run/run.h"
#include "engine/scene/shape.h"
#include "engine/values/rule.h"
#include "lua/script/script.h"

/* ---- a script's text: the lines of its fields (source.c) ---- */

typedef struct sel_token {
    enum { SEL_TOKEN_NAME, SEL_TOKEN_OTHER, SEL_TOKEN_STRING } kind;
    int line;
    int nesting; /* 1: opens a bracket or a block, -1: closes one */
    size_t start, length;
} sel_token;

/* A script's text. It is split into tokens when a line is first looked up. */
typedef struct sel_source {
    struct sel_source *next;
    const char *name;      /* as messages show it */
    const char *directory; /* of the file, with its last '/'; "" for the working directory */
    sel_where loaded_at;   /* the call of sel.load; file NULL: none */
    const char *text;
    size_t length;
    sel_token *tokens; /* ends with an empty token of the last line */
    int token_count;
} sel_source;

/* The place of a value in a script's text. */
typedef struct sel_span {
    sel_source *source; /* NULL: not from a script */
    int line;           /* for messages; always set */
    int at;             /* token of its key; -1: not in the text */
    int brace;          /* token of its `{`; -1: not in the text */
} sel_span;

/* Copies the text. NULL: no memory. */
sel_source *sel_source_create(sel_arena *arena, const char *name, const char *text, size_t length);

/* Splits the text into tokens, unless that is done. False: no memory. */
bool sel_source_read(sel_arena *arena, sel_source *source);

/* Whether token `at` is `text`, or one of `texts` (NULL-terminated). A string never is. */
bool sel_token_is(const sel_source *source, int at, const char *text);
bool sel_token_is_any(const sel_source *source, int at, const char *const *texts);

/* The token after the bracket or block that opens at `at`. */
int sel_source_behind(const sel_source *source, int at);

/* The argument table of the call of `name` ("wall" for law.wall{...}) on `line`. */
sel_span sel_source_call(sel_arena *arena, sel_source *source, int line, const char *name);

/* The value of `key` in the table `span`; the table's own line when its text has no such key. */
sel_span sel_source_key(sel_span span, const char *key);

/* A name in a table, and the place of its value. */
typedef struct sel_named_span {
    const char *name;
    sel_span span;
} sel_named_span;

/* As sel_source_key, for `count` keys sorted by strcmp, in one walk through the text. */
void sel_source_keys(sel_span span, sel_named_span *keys, int count);

/* The value at position `number` (from 1) in the table `span`. */
sel_span sel_source_item(sel_span span, int number);

/* Iterates over the values without keys of a table: sel_source_item for all items of a long list.
 */
typedef struct sel_walk {
    sel_span table;
    int at; /* first token of the next item; -1: none is left */
} sel_walk;
sel_walk sel_source_walk(sel_span table);

/* The next value; the table's own line when its text shows no more. */
sel_span sel_source_next(sel_walk *walk);

/* The value at a path of keys: "stop.steps". */
sel_span sel_source_path(sel_span span, const char *path);

sel_where sel_span_where(sel_span span);

/* ---- the script ---- */

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
    sel_where refused_at; /* the line of that request */
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
    bool broken;                           /* the script was ended: pcall catches nothing */
    sel_error ended;                       /* the limit that it hit */

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
    bool finds_gaps;            /* a raster raises sel_script_gap at a place where it has no data */
} sel_script;

/* The error of a raster without data: its address as a light userdata, which scripts cannot make.
 */
extern const char sel_script_gap;

/* The script that owns a Lua state or any of its coroutines. */
static inline sel_script *sel_script_of(lua_State *L) {
    return *(sel_script **)lua_getextraspace(L);
}

/* limits.c */

/* A Lua state under the script's limits; NULL: no memory. */
lua_State *sel_limits_open(sel_script *script);

void sel_limits_close(sel_script *script);

/* Between begin and end, all code together may take `seconds`. The end returns the seconds left. */
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
sel_limits sel_limits_leave(lua_State *L);
void sel_limits_come_back(lua_State *L, const sel_limits *left);

/* Whether the time is up or the script is broken. */
bool sel_limits_passed(sel_script *script);

/* If so, ends the script and writes the error. */
sel_status sel_limits_check(sel_script *script, sel_where where);

/* As sel_limits_check, and raises an error in Lua. The message names the running line; without one,
 * `where`. */
void sel_limits_look(lua_State *L, sel_where where);

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

/* lines.c: a record of the lines that run. NULL: no memory. */
typedef struct sel_lines sel_lines;
sel_lines *sel_lines_create(void);
void sel_lines_destroy(sel_lines *lines);

/* To be called by Lua's line hook. */
void sel_lines_note(sel_lines *lines, lua_State *L, lua_Debug *info);

/* The first line after `after` that never ran, of functions that were entered; 0: there is none.
 * `source`: of this chunk only; NULL: of all chunks. */
int sel_lines_missed(const sel_lines *lines, const char *source, int after);

/* sandbox.c */

/* Opens the libraries that a script may use, and the reader of functions. Pushes nothing. */
void sel_sandbox_open(lua_State *L);

/* Replaces functions of the table at the top; each guard has the original as upvalue 1. */
void sel_sandbox_guard(lua_State *L, const luaL_Reg *guards);

/* Runs Lua code of Selenite with the value at the top of the stack, which is popped; pushes
 * `results` values. */
void sel_sandbox_run(lua_State *L, const unsigned char *text, size_t length, int results);

/* Pushes a list of the keys of the table at `index` (absolute), in the order of pairs, which is the
 * same in every run. */
void sel_order_keys(lua_State *L, int index);

/* script.c */

/* sel_script_load, with sel_script.prompt. */
sel_status sel_script_run(const char *path, const sel_script_options *options,
                          void (*prompt)(lua_State *L), sel_scenario **scenario, sel_error *error);

/* Adds `require` to the table of globals at the top. */
void sel_module_open(lua_State *L);

/* Pushes the compiled text, or the error message; returns whether it compiled. */
bool sel_source_compile(lua_State *L, sel_source *source);

/* sel.load. */
int sel_module_load(lua_State *L);

/* library.c */

/* Pushes what require "selenite" returns. */
void sel_library_push(lua_State *L);

/* The source of a chunk by its name in Lua, "@name"; NULL: there is none. */
sel_source *sel_script_source(const sel_script *script, const char *chunk);

/* The place in the user's text from which a C function was called. */
sel_where sel_script_place(lua_State *L, sel_source **source);

/* Reports an error in a file, preceded by the place in the script at which `what` ("sel.series")
 * reads it. */
void sel_script_hand_over(sel_script *script, const sel_error *found, sel_where where,
                          const char *what);

/* End the script: its data exceed the memory limit; or `bytes` for `what` were refused, by that
 * limit or by the system. */
int sel_script_too_large(sel_script *script);
int sel_script_no_memory(sel_script *script, const char *what, size_t bytes);

/* Zeroed memory in the arena for `what`; ends the script if there is none. */
void *sel_script_alloc(sel_script *script, const char *what, size_t bytes);

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

/* Replaces the table at the top by a read-only view. Reading an unknown name is an error that
 * begins with `what` ("sel.law") and lists the names. */
void sel_library_close(lua_State *L, const char *what);

/* Pushes the results of a function for Lua: true, or nil and the error's text. */
int sel_host_result(lua_State *L, const sel_error *error);

/* For Lua: suggestion(name, members) -> sel_script_suggest. */
int sel_host_suggestion(lua_State *L);

/* For Lua: value_text(value) -> sel_script_value_text. */
int sel_host_value_text(lua_State *L);

/* For Lua: draw(path, width, height, drawing) -> sel_host_result. Calls drawing(put), which sets
 * pixels by put (draw.c), and writes a PNG file. Replaces only pictures. */
int sel_host_draw(lua_State *L);

/* For Lua: write(path, text, begins) -> sel_host_result. Replaces the file at `path` by `text`,
 * atomically. Fails if the path is a symbolic link, or a file that does not begin with `begins`. */
int sel_host_write(lua_State *L);

/* A value in words: `string "abc"`, `number 0.5`, `table`. Never runs user code. */
const char *sel_script_value_text(lua_State *L, int index, char text[80]);

/* What a constructor records of the table that it makes. */
typedef struct sel_mark {
    const char *group, *name; /* "law" and "wall" for law.wall{} */
    sel_where where;
    sel_source *source;
    const sel_units *units; /* of sel.units */
    /* Of shapes, while they are filled (fill_shape.c): */
    const struct sel_shape *shape;
    const void *filled_for;
    int parts;
    bool visiting;
} sel_mark;

/* Marks the table at the top as made by `group`.`name` at the running line. Both strings must
 * outlive the script. */
void sel_script_set_mark(lua_State *L, const char *group, const char *name);

/* The mark of the value at `index`, or NULL. */
sel_mark *sel_script_mark(lua_State *L, int index);

/* The names of the table at `index`, whose place is `span`, in the order of the text; in the arena.
 */
sel_named_span *sel_script_names_in_order(lua_State *L, int index, sel_span span, int *count);

/* Whether the string at `index` is the value of a parameter that names a file. Such a path is
 * opened as it is; others are relative to their script. */
bool sel_params_is_path(lua_State *L, int index);

/* fill.c: fills script->scenario from the script's result at the top of the stack. Mistakes go to
 * script->error. Raises an error only without memory. */
void sel_fill_scenario(sel_script *script, const char *path);

/* As sel_fill_scenario, for the value at `index` alone: simulations; or a shape, law or output as
 * far as it can be checked without a simulation. Other values are accepted. Returns the number of
 * simulations. */
int sel_fill_alone(sel_script *script, int index, const char *path);

/* ---- functions of a script, evaluated by programs or by Lua (function.c) ---- */

/* The use of a function. */
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

/* State of the script that is saved while the engine calls a function. */
typedef struct sel_outer {
    sel_error *error;
    sel_limits limits; /* of the hook that evaluates a quantity */
} sel_outer;

/* To be called before and after the call of a function with `count` arguments. sel_script_enter
 * fails in another thread than the script's, and when the script is broken. `label` names the
 * function in messages. */
sel_status sel_script_enter(sel_script *script, sel_where where, const char *label, int count,
                            sel_outer *outer, sel_error *error);
void sel_script_leave(sel_script *script, const sel_outer *outer);

/* The `count` parameters of the function at `index`: SEL_ARGUMENT_..., or SEL_RULE_CELL in a
 * function of cells. NULL, with the reason, if a parameter's name is not allowed. */
int *sel_function_arguments(sel_script *script, int index, const sel_function_needs *needs,
                            bool of_cells, int count, char reason[512]);

enum { SEL_RULE_CELL = -1 };

/* Evaluate the function by Lua at place i, or at all places without settled[i] (NULL: at all).
 * An error in other threads than the script's. */
sel_status sel_function_call_at(const sel_lua_function *f, const sel_places *at, size_t i,
                                double *out, sel_error *error);
sel_status sel_function_call(const sel_lua_function *f, const sel_places *at,
                             const uint8_t *settled, double *out, sel_error *error);

/* Whether all results at place i are finite. */
bool sel_function_finite(const sel_lua_function *f, size_t n, size_t i, const double *out);

/* compare.c: compares the program with Lua, and drops the program at the first difference. */
void sel_function_compare(sel_lua_function *f);

/* Compares the programs of all functions of a loaded scenario. If one of them changes what others
 * may read, Lua evaluates all of them. */
void sel_functions_loaded(sel_script *script);

/* The function at `index` for the engine. NULL, with the reason, if a parameter's name is not
 * allowed. */
const sel_function *sel_function_create(sel_script *script, int index,
                                        const sel_function_needs *needs, sel_where where,
                                        char reason[512]);

/* ---- read.c: functions become programs and graphs ---- */

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

/* A function of cells. */
typedef struct sel_lua_rule {
    sel_rule_source base;
    struct sel_lua_rule *next; /* in the script's list */
    sel_script *script;
    const char *label; /* "sel.rule.rule[2]" */
    const sel_numbers *controls;
    int reference; /* in Lua's registry */
    int count;     /* of parameters */
    int *arguments;
    /* Set when it is read: */
    const sel_cell_field *field; /* [fields] */
    int fields, dims;
    sel_rule_returns returns;
    const sel_common *common; /* of the simulation */
    const char *unseen;       /* what the comparison with Lua did not reach; NULL: nothing */
    const char *doubt;        /* message of a mistake if its branch is reached; NULL: none */
    sel_where doubted;        /* the line of that mistake */
    bool mistaken;            /* Lua fails on that line: the doubt is a mistake */
} sel_lua_rule;

/* compare.c: whether the graph agrees with Lua at all points that are compared. `why`, of
 * SEL_RULE_WHY bytes, says where it differs. Sets rule->unseen. */
bool sel_rule_compare(sel_lua_rule *rule, const sel_rule *graph, char *why);

/* As sel_rule_source.read. */
sel_status sel_read_rule(sel_lua_rule *what, const sel_rule **rule, char *why, sel_error *error);

/* ---- C structs, filled from Lua tables ---- */

typedef struct sel_mistake {
    sel_where where;
    int order; /* number of the mistakes found before */
    const char *text;
} sel_mistake;

typedef struct sel_filler {
    sel_script *script;
    lua_State *L;
    sel_arena *arena;
    const struct sel_solver *solver; /* of the simulation being filled */
    int dims;                        /* 2 or 3; 0: not known */
    const sel_common *common;        /* of the simulation; itself still being filled */
    const sel_numbers *controls;
    const sel_named_choices *types; /* the types of fields that the simulation names */
    const char *const *type_names;
    int depth; /* of nested shapes */
    sel_mistake *mistakes;
    int mistake_count;
} sel_filler;

/* A value to be stored in a member: its place, and its name in messages. */
typedef struct sel_slot {
    const sel_table_field *field;
    const char *label; /* of the table: "law.wall", "stop", "regions[2]" */
    sel_span span;     /* of the value */
    bool positional;   /* the value is the array part of the whole table */
    int item;          /* from 1: the value is this item of the field's list; 0: the whole field */
} sel_slot;

/* Zeroed memory in the arena; ends the script if there is none. */
void *sel_fill_alloc(sel_filler *f, size_t bytes);
char *sel_fill_print(sel_filler *f, const char *format, ...) SEL_PRINTF(2, 3);

/* Notes a mistake. All are reported together at the end, sorted by file and line. */
void sel_fill_mistake(sel_filler *f, sel_where where, const char *format, ...) SEL_PRINTF(3, 4);

/* Notes a mistake of a slot: "sel.lbm: nu FORMAT, got string "abc"", with the value at `index`; 0:
 * without a value. */
void sel_fill_wrong(sel_filler *f, const sel_slot *slot, int index, const char *format, ...)
    SEL_PRINTF(4, 5);

/* The length of the list at `index`; -1, after noting a mistake, if it is no list. */
int sel_fill_list_length(sel_filler *f, const sel_slot *slot, int index);

/* Fills the zeroed struct `data` from the Lua table at `index`. False: there were mistakes. */
bool sel_fill_table(sel_filler *f, int index, const sel_table *table, const char *label, void *data,
                    sel_span span);

/* As sel_fill_table, while the script still runs, for the marked table at `index`. Mistakes end the
 * script. */
void sel_fill_now(lua_State *L, int index, const sel_table *table, void *data,
                  const sel_mark *mark);

/* "wall" of "law.wall". */
const char *sel_table_short_name(const sel_table *table);

/* The field `name`; the field that may be given without its name. NULL: there is none. */
const sel_table_field *sel_fill_field(const sel_table *table, const char *name);
const sel_table_field *sel_fill_positional(const sel_table *table);

/* Fills the member from the value at `index`. */
typedef void sel_fill_kind(sel_filler *f, const sel_slot *slot, int index, void *member);

/* Fills items `first` to `last` of the list at `index` into an array at `to`, of elements of `size`
 * bytes. Each has a slot of its own: "regions[2]". */
void sel_fill_items(sel_filler *f, const sel_slot *slot, int index, int first, int last,
                    sel_fill_kind *fill, void *to, size_t size);

/* Fill one member (fill_value.c): of any kind; a table; a list of tables, plain or of a family; a
 * table of a family; a quantity of one component. */
sel_fill_kind sel_fill_value, sel_fill_nested, sel_fill_list, sel_fill_variant, sel_fill_quantity;

/* fill_named.c: a map of names; a function or a list of functions; a table of a family or a map of
 * them. */
sel_fill_kind sel_fill_map, sel_fill_rules, sel_fill_variants;

/* fill_shape.c: the shape at `index`; NULL after noting a mistake. */
const sel_shape *sel_fill_shape(sel_filler *f, const sel_slot *slot, int index);

/* ---- series, rasters, saved fields, painted quantities, noise and units ---- */

/* data.c: adds sel.series, sel.raster, sel.noise, sel.state, sel.paint and sel.units to the table
 * at the top, and tells the reader of `sel.noise`. */
void sel_data_open(lua_State *L);

/* The series or raster at `index`, or NULL. */
const sel_lookup *sel_lookup_at(lua_State *L, int index);

/* Whether the value at `index` is data, which may replace a number or a function. */
bool sel_fill_is_data(lua_State *L, int index);

/* The data at `index` as a function with one result; NULL after noting a mistake. */
const sel_function *sel_fill_data(sel_filler *f, const sel_slot *slot, int index);

/* Applies sel.units to the simulation's `params`, the struct of `table`, whose Lua table is at
 * `index` and at `span` in the text. Notes values that are given twice, and a missing dx or dt. */
void sel_units_apply(sel_filler *f, int index, const sel_table *table, sel_common *params,
                     sel_span span);

/* ---- functions of cells ---- */

/* rule.c: the function of cells at `index`; NULL after noting a parameter that is not allowed. */
const sel_rule_source *sel_rule_source_create(sel_filler *f, const sel_slot *slot, int index);

/* The text of an unknown field (`state`: of an unknown state field): " 'name'" and what may be
 * meant: the components of a vector, data, the nearest field, or the list of all. */
const char *sel_rule_unknown(const sel_cell_field *field, int fields, const char *name, bool state,
                             char text[512]);

/* Creates the metatable of cells, and adds sel.random to the table at the top. */
void sel_rule_open(lua_State *L);

/* ---- hooks ---- */

/* hook.c: the function at `index` as a callback of the engine. `label` names it in messages:
 * "hooks[1]". */
const sel_callback *sel_hook_callback(sel_filler *f, int index, const char *label, sel_where where);

/* Loads hook_state.lua, which saves and restores run.state. */
void sel_hook_open(lua_State *L);

#endif
