/* state.h -- what the files of lua/ share: one script, its Lua state and its limits; its text; its
 * functions; and the filling of C structs from its tables.
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
#include "lua/script.h"

/* ---- a script's text: the lines of its fields (source.c) ---- */

typedef struct sel_token {
    enum { SEL_TOKEN_NAME, SEL_TOKEN_OTHER, SEL_TOKEN_STRING } kind;
    int line;
    int nesting; /* 1: opens a bracket or a block, -1: closes one */
    size_t start, length;
} sel_token;

/* A script's text. Its tokens are read when the first line is asked for. */
typedef struct sel_source {
    struct sel_source *next;
    const char *name;      /* as messages show it */
    const char *directory; /* of the file, with its last '/'; "" for the working directory */
    sel_where loaded_at;   /* the call of sel.load; without a file: none */
    const char *text;
    size_t length;
    sel_token *tokens; /* ends with an empty token of the last line */
    int token_count;
} sel_source;

/* A value in a script: `line` is always good for a message; `brace` is the token of the value's
 * `{`, or -1 where the text does not show it; `at` the token of its key, or -1. */
typedef struct sel_span {
    sel_source *source; /* NULL: not from a script */
    int line;
    int at;
    int brace;
} sel_span;

/* Copies the text. NULL when there is no memory. */
sel_source *sel_source_create(sel_arena *arena, const char *name, const char *text, size_t length);

/* Splits the text into tokens, once. False when there is no memory. */
bool sel_source_read(sel_arena *arena, sel_source *source);

/* Whether token `at` is `text`, or one of `texts` (NULL-terminated), and no string. */
bool sel_token_is(const sel_source *source, int at, const char *text);
bool sel_token_is_any(const sel_source *source, int at, const char *const *texts);

/* The token behind the bracket or the block that opens at `at`. */
int sel_source_behind(const sel_source *source, int at);

/* The argument table of the call of `name` ("wall" for law.wall{...}) on `line`. */
sel_span sel_source_call(sel_arena *arena, sel_source *source, int line, const char *name);

/* The value of `key` in the table `span`; the table's own line when its text has no such key. */
sel_span sel_source_key(sel_span span, const char *key);

/* A name in a table, and where the script's text gives it its value. */
typedef struct sel_named_span {
    const char *name;
    sel_span span;
} sel_named_span;

/* The same of `count` keys in the order of strcmp, in one walk through the text. */
void sel_source_keys(sel_span span, sel_named_span *keys, int count);

/* The value at position `number` (from 1) in the table `span`. */
sel_span sel_source_item(sel_span span, int number);

/* The values of a table without keys, one after the other: for all items of a long list. */
typedef struct sel_walk {
    sel_span table;
    int at; /* the token that the next item begins with */
} sel_walk;
sel_walk sel_source_walk(sel_span table);

/* The next one; the table's own line when its text shows no more. */
sel_span sel_source_next(sel_walk *walk);

/* The value at "stop.steps": keys separated by dots. */
sel_span sel_source_path(sel_span span, const char *path);

sel_where sel_span_where(sel_span span);

/* ---- the script ---- */

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

/* What the piece that runs may take. Whoever runs another piece in the middle of one saves these
 * and restores them. */
typedef struct sel_limits {
    sel_user_code code;
    bool running;                           /* user code runs under the limits */
    int64_t deadline;                       /* nanoseconds */
    int64_t ticks;                          /* of the instruction counter since the start */
    int64_t max_instructions;               /* 0: no limit */
    const volatile sig_atomic_t *interrupt; /* by a signal; NULL: none is looked for */
    int64_t interrupted_until;              /* nanoseconds; 0: none came */
} sel_limits;

typedef struct sel_script {
    lua_State *L;      /* the main thread */
    lua_State *active; /* the coroutine that runs, or L */
    sel_arena *arena;
    sel_error *error; /* of the call under way; NULL: texts are not wanted */
    pthread_t thread; /* that loaded the script: the only one that may call its functions */
    sel_script_options options; /* its texts only while loading */
    /* Called with what the script returned, at the top, instead of filling structs; or NULL. */
    void (*prompt)(lua_State *L);
    bool at_prompt;             /* it runs: what is wrong ends a line, not the script */
    sel_source *sources, *main; /* the last one first; the scenario's own */
    sel_chunk *chunk;           /* NULL once the script is loaded */
    sel_scenario *scenario;

    /* Limits; none with trust. */
    size_t used, memory; /* bytes */
    size_t refused;      /* the last request, in bytes; 0: it was granted */
    sel_where refused_at;
    int64_t ticks;    /* thousands of instructions so far */
    double seconds;   /* that a piece of user code may take */
    int64_t deadline; /* of all that runs; INT64_MAX: only each piece has one */
    double left;      /* seconds for the functions, together; negative: each has its own */
    bool timed;       /* the timer is there: not with trust */
    timer_t timer;    /* ends what does not return to Lua */
    _Atomic int64_t due, timer_at;         /* when that is; when the timer goes off, if it does */
    volatile sig_atomic_t allocates, late; /* memory is allocated; it went off meanwhile */
    sel_limits limits;                     /* of what runs now */
    bool broken;          /* the script was ended: pcall catches nothing any more */
    sel_error ended;      /* the limit that it hit */
    sel_builder *reading; /* the nodes of the function that is read; NULL: none is */
    int reading_fields;   /* of the cells that it sees */
    struct sel_lua_function *functions, **functions_end; /* of the scenario, a list */
    struct sel_lua_rule *rules, **rules_end;             /* likewise */
    struct sel_lines *lines; /* notes the lines that run; NULL: nobody does */
    bool keeps_state; /* a function of the scenario changes variables or tables outside of it */
    sel_lookups *series, **series_end; /* made so far, a list */
    sel_lookups *rasters, **rasters_end;
    const sel_rule_place *cell; /* where Lua evaluates a rule; NULL: it does not */
    uint64_t cells;             /* evaluated so */
    const sel_places *places;   /* where it evaluates a function, */
    size_t place;               /* and which of them */
    bool finds_gaps; /* a raster that has no data where it is asked raises sel_script_gap */
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

void sel_limits_close(sel_script *script);

/* From here on all that runs, until the end, may take `seconds` together. The end returns what is
 * left of them. */
void sel_limits_begin(sel_script *script, double seconds);
double sel_limits_end(sel_script *script);

/* Starts and ends a piece of user code. With an `interrupt`, which a signal sets, the piece ends
 * when it has not come back a second later, with trust too: SEL_INTERRUPTED. */
void sel_limits_start(sel_script *script, sel_user_code code);
void sel_limits_start_hook(sel_script *script, const volatile sig_atomic_t *interrupt);
void sel_limits_stop(sel_script *script);

/* Back to the piece that another one interrupted. */
void sel_limits_restore(sel_script *script, const sel_limits *outer);

/* Leaves the piece for work that is not its own: that time does not count. */
sel_limits sel_limits_leave(lua_State *L);
void sel_limits_come_back(lua_State *L, const sel_limits *left);

/* True when the time is up or the script is broken. */
bool sel_limits_passed(sel_script *script);

/* Where that is so, ends the script and writes the error. */
sel_status sel_limits_check(sel_script *script, sel_where where);

/* As above, and raises; the message names the line that runs, else `where`. */
void sel_limits_look(lua_State *L, sel_where where);

/* Ends the script, whose error was written: Lua's hook raises again where this is caught. At a
 * prompt raises that error, unless a limit was hit. */
int sel_limits_break(lua_State *L);

/* Writes the error of a failed call: the message on the stack's top, which is popped.
 * `suffix` is appended to it. Nothing is written when broken. Returns what ended the script, else
 * SEL_BAD_SCENARIO. */
sel_status sel_limits_report(sel_script *script, sel_where where, const char *suffix);

/* Replaces coroutine.resume and wrap in the table of globals at the top: by ones that note which
 * coroutine runs. */
void sel_limits_track(lua_State *L);

/* From here on the script's lines are noted (NULL: no longer). */
void sel_limits_note_lines(sel_script *script, struct sel_lines *lines);

/* lines.c: lines of functions that run. NULL: no memory. */
typedef struct sel_lines sel_lines;
sel_lines *sel_lines_create(void);
void sel_lines_destroy(sel_lines *lines);

/* For the hook of lines. */
void sel_lines_note(sel_lines *lines, lua_State *L, lua_Debug *info);

/* The next line, after this one, of functions that were entered which never ran; 0: there is none.
 * Of the chunk `source` only; NULL: of all. */
int sel_lines_missed(const sel_lines *lines, const char *source, int after);

/* sandbox.c */

/* Opens the libraries that a script may use, and this one. Pushes nothing. */
void sel_sandbox_open(lua_State *L);

/* Replaces functions of the table at the top; each guard has the original as upvalue 1. */
void sel_sandbox_guard(lua_State *L, const luaL_Reg *guards);

/* Calls a text of Selenite's own with the value at the top, which is popped. */
void sel_sandbox_run(lua_State *L, const unsigned char *text, size_t length, int results);

/* Pushes a list of the keys of the table at `index`, which must be above 0, in the order of pairs:
 * the same in every run. */
void sel_order_keys(lua_State *L, int index);

/* script.c */

/* sel_script_load; `prompt`: sel_script.prompt. */
sel_status sel_script_run(const char *path, const sel_script_options *options,
                          void (*prompt)(lua_State *L), sel_scenario **scenario, sel_error *error);

/* Adds `require` to the table of globals at the top. */
void sel_module_open(lua_State *L);

/* Pushes the compiled text, or what is wrong with it; returns whether it compiled. */
bool sel_source_compile(lua_State *L, sel_source *source);

/* sel.load. */
int sel_module_load(lua_State *L);

/* library.c */

/* Pushes what require "selenite" returns. */
void sel_library_push(lua_State *L);

/* The source of what Lua runs, by the name that it has there: "@name"; NULL: there is none. */
sel_source *sel_script_source(const sel_script *script, const char *chunk);

/* The place in the user's text from which a C function was called. */
sel_where sel_script_place(lua_State *L, sel_source **source);

/* Reports an error that a reader of files found, opened with the place in the script at which
 * `what` ("sel.series") reads the file. */
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

/* The string at `index`, which becomes a path, or a part of one. With a zero byte, behind which the
 * system would not read, it is an error of the script, at the line that now runs; `what` opens it:
 * "sel.load: the path". */
const char *sel_script_path(lua_State *L, int index, const char *what);

/* The keys of the table at `index` that are names, sorted; the array ends with NULL and lives in a
 * userdata that is pushed. */
const char **sel_script_names(lua_State *L, int index);

/* The strings of the list at `index`, NULL behind them; all stay on the stack. */
const char **sel_script_strings(lua_State *L, int index);

/* Pushes them as a list; of NULL an empty one. */
void sel_script_push_strings(lua_State *L, const char *const *strings);

/* " 'name'; did you mean 'nearest'?", or only the quoted name. */
const char *sel_script_suggest(const char *name, const char *const *names, char text[256]);

/* Wraps the table at the top: its members can be read, not changed; reading another name is an
 * error that opens with `what` ("sel.law") and lists the names. */
void sel_library_close(lua_State *L, const char *what);

/* What a function for Lua returns: true, or nil and the error's text. */
int sel_host_result(lua_State *L, const sel_error *error);

/* For Lua: suggestion(name, members) -> " 'name'; did you mean 'nearest'?", or only the name. */
int sel_host_suggestion(lua_State *L);

/* For Lua: value_text(value), as sel_script_value_text. */
int sel_host_value_text(lua_State *L);

/* For Lua: draw(path, width, height, drawing) calls drawing(put), which draws with put (draw.c),
 * and writes the PNG file; a file of that name that is no picture is not replaced. As
 * sel_host_result. */
int sel_host_draw(lua_State *L);

/* The Lua function write(path, text, begins): replaces the file at `path` by `text`, atomically. It
 * fails where the path is a symbolic link, or an existing file that does not begin with `begins`.
 * Returns as sel_host_result does. */
int sel_host_write(lua_State *L);

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

/* The same of the value at `index` alone: simulations as above; a shape, law or output as far as it
 * can be judged without a simulation. Other values have no mistakes. Returns the number of
 * simulations. */
int sel_fill_alone(sel_script *script, int index, const char *path);

/* ---- its functions: evaluated by programs that are made of them, or by Lua ---- */

/* What a function may be asked for. */
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

    const sel_program *program; /* NULL: Lua evaluates it, and `why` tells the reason */
    const sel_rule *graph;      /* that it was made of */
    char why[256];
    const char *unseen; /* what the comparison with Lua did not reach; NULL: nothing */
    bool told;          /* the notice that Lua evaluates it was given */
} sel_lua_function;

/* What is put aside while the engine asks a function of the script. */
typedef struct sel_outer {
    sel_error *error;
    sel_limits limits; /* of a hook that asked for a quantity */
} sel_outer;

/* To be called before and after the call of a function with `count` arguments. The first fails
 * where Lua may not be asked: by another thread, or when the script is broken. `label` names the
 * function in messages. */
sel_status sel_script_enter(sel_script *script, sel_where where, const char *label, int count,
                            sel_outer *outer, sel_error *error);
void sel_script_leave(sel_script *script, const sel_outer *outer);

/* The `count` parameters of the function at `index`: SEL_ARGUMENT_..., of one of cells also
 * SEL_RULE_CELL; NULL, with the reason, where a function may not name one of them. */
int *sel_function_arguments(sel_script *script, int index, const sel_function_needs *needs,
                            bool of_cells, int count, char reason[512]);

enum { SEL_RULE_CELL = -1 };

/* Calls the function in Lua at place i, or at all places but those whose values are settled (NULL:
 * none is). For the script's thread; others get an error. */
sel_status sel_function_call_at(const sel_lua_function *f, const sel_places *at, size_t i,
                                double *out, sel_error *error);
sel_status sel_function_call(const sel_lua_function *f, const sel_places *at,
                             const uint8_t *settled, double *out, sel_error *error);

/* Whether all results at place i are finite. */
bool sel_function_finite(const sel_lua_function *f, size_t n, size_t i, const double *out);

/* compare.c: compares the program with Lua, and drops it at the first difference. */
void sel_function_compare(sel_lua_function *f);

/* All functions of the scenario are known: their programs are compared. Where one changes what
 * others may read, Lua evaluates all of them. */
void sel_functions_loaded(sel_script *script);

/* The function at `index`, as the engine calls it. NULL, with the reason in `reason`, when its
 * parameters are not what a function may name. */
const sel_function *sel_function_create(sel_script *script, int index,
                                        const sel_function_needs *needs, sel_where where,
                                        char reason[512]);

/* ---- read.c: functions become programs and graphs ---- */

/* Opens the reader, with the table of globals at the top; and tells it that `name` of the table at
 * the top is a function of the library that it knows. */
void sel_read_open(lua_State *L);
void sel_read_library(lua_State *L, const char *name);

/* The program of the function at `index`, in the script's arena; NULL with the reason in f->why
 * where it does what cannot be followed, or too much. Changes nothing, and raises nothing. */
const sel_program *sel_read_law(sel_lua_function *f, int index);

/* The numbers in a function and in what it sees, in order, at most so many: returns the count. */
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
    /* As it is read: */
    const sel_cell_field *field;
    int fields, dims;
    sel_rule_returns returns;
    const sel_common *common; /* of the simulation */
    const char *unseen;       /* as of sel_lua_function */
    const char *doubt;        /* the message of what is a mistake if a branch is reached; NULL */
    sel_where doubted;
    bool mistaken; /* Lua fails there: it is */
} sel_lua_rule;

/* compare.c: whether the graph gives what Lua gives wherever they are compared; `why`, of
 * SEL_RULE_WHY bytes, says where not. Notes what was not reached. */
bool sel_rule_compare(sel_lua_rule *rule, const sel_rule *graph, char *why);

/* As sel_rule_source.read. */
sel_status sel_read_rule(sel_lua_rule *what, const sel_rule **rule, char *why, sel_error *error);

/* ---- C structs, filled from Lua tables ---- */

typedef struct sel_mistake {
    sel_where where;
    int order; /* in which it was found */
    const char *text;
} sel_mistake;

typedef struct sel_filler {
    sel_script *script;
    lua_State *L;
    sel_arena *arena;
    const struct sel_solver *solver; /* of the simulation that is filled */
    int dims;                        /* of its size; 0: not known */
    const sel_common *common;        /* of the simulation, itself still being filled */
    const sel_numbers *controls;
    const sel_named_choices *types; /* of the fields that the simulation names, and their names */
    const char *const *type_names;
    int depth; /* of nested shapes */
    sel_mistake *mistakes;
    int mistake_count;
} sel_filler;

/* A value on its way into a member: where it stands and what messages call it. */
typedef struct sel_slot {
    const sel_field *field;
    const char *label; /* of the table: "law.wall", "stop", "regions[2]" */
    sel_span span;     /* of the value */
    bool positional;   /* the value is the array part of the whole table */
    int item;          /* the value is the one at this position of the list there; 0: the list */
} sel_slot;

/* Zeroed memory of the scenario; ends the script when there is none. */
void *sel_fill_alloc(sel_filler *f, size_t bytes);
char *sel_fill_print(sel_filler *f, const char *format, ...) SEL_PRINTF(2, 3);

/* Notes a mistake; all are reported at the end, by file and line. */
void sel_fill_mistake(sel_filler *f, sel_where where, const char *format, ...) SEL_PRINTF(3, 4);

/* As above, opened with the slot's table and field, and closed with the value at `index`:
 * "sel.lbm: nu WHAT, got string "abc"". `index` 0: the value is not shown. */
void sel_fill_wrong(sel_filler *f, const sel_slot *slot, int index, const char *format, ...)
    SEL_PRINTF(4, 5);

/* The length of the list at `index`, or -1 after noting what is no list. */
int sel_fill_list_length(sel_filler *f, const sel_slot *slot, int index);

/* Fills `data`, zeroed, from the Lua table at `index`. False when there were mistakes. */
bool sel_fill_table(sel_filler *f, int index, const sel_table *table, const char *label, void *data,
                    sel_span span);

/* As above, while the script still runs, for the table at `index` that was marked: all mistakes in
 * it end the script. */
void sel_fill_now(lua_State *L, int index, const sel_table *table, void *data,
                  const sel_mark *mark);

/* "wall" of "law.wall". */
const char *sel_table_short_name(const sel_table *table);

/* The field of that name, or the one that may stand without; or NULL. */
const sel_field *sel_fill_field(const sel_table *table, const char *name);
const sel_field *sel_fill_positional(const sel_table *table);

/* Fills the member from the value at `index`. */
typedef void sel_fill_kind(sel_filler *f, const sel_slot *slot, int index, void *member);

/* Fills items `first` to `last` of the list at `index`, the first to `to`, each with a slot of its
 * own: regions[2]. */
void sel_fill_items(sel_filler *f, const sel_slot *slot, int index, int first, int last,
                    sel_fill_kind *fill, void *to, size_t size);

/* Fill one member: of any kind (fill_value.c); a table; a list of tables, plain or of a family; a
 * table of a family; a quantity of one component. */
sel_fill_kind sel_fill_value, sel_fill_nested, sel_fill_list, sel_fill_variant, sel_fill_quantity;

/* fill_named.c: a map of names; a function or a list of some; one of a family, or a map of them. */
sel_fill_kind sel_fill_map, sel_fill_rules, sel_fill_variants;

/* fill_shape.c: the shape at `index`, or NULL after noting what is wrong. */
const sel_shape *sel_fill_shape(sel_filler *f, const sel_slot *slot, int index);

/* ---- series, rasters, saved fields, painted quantities, noise and units ---- */

/* data.c: adds sel.series, sel.raster, sel.noise, sel.state, sel.paint and sel.units to the table
 * at the top; functions that are read may call `sel.noise` and look-ups. */
void sel_data_open(lua_State *L);

/* The series or raster at `index`, or NULL. */
const sel_lookup *sel_lookup_at(lua_State *L, int index);

/* Whether the value at `index` is data: where a number or a function could stand. */
bool sel_fill_is_data(lua_State *L, int index);

/* The data at `index` as a function of one result; NULL after noting what is wrong. */
const sel_function *sel_fill_data(sel_filler *f, const sel_slot *slot, int index);

/* Gives the simulation's `params`, the struct of `table` whose Lua table is at `index`, what its
 * units say, and notes what is given twice; says which of dx and dt nobody gives. `span` is the
 * table's. */
void sel_units_apply(sel_filler *f, int index, const sel_table *table, sel_common *params,
                     sel_span span);

/* ---- functions of cells ---- */

/* rule.c: the function at `index`; NULL after noting that its parameters are not those of one. */
const sel_rule_source *sel_rule_source_create(sel_filler *f, const sel_slot *slot, int index);

/* " 'name'" of a field that there is not (`state`: that state has not), with what may be meant: the
 * components of a vector, data, the nearest field, or the list of all. */
const char *sel_rule_unknown(const sel_cell_field *field, int fields, const char *name, bool state,
                             char text[512]);

/* Makes what functions get for a cell, and sel.random in the table at the top. */
void sel_rule_open(lua_State *L);

/* ---- hooks ---- */

/* hook.c: the function at `index` as the engine calls it. `label` names it in messages:
 * "hooks[1]". */
const sel_callback *sel_hook_callback(sel_filler *f, int index, const char *label, sel_where where);

/* Reads what saves and loads run.state. */
void sel_hook_open(lua_State *L);

#endif
