/* tables.h -- the tables of a script: the library that makes them, and C structs filled from them.
 *
 *      script.c           runs a scenario and hands it over
 *      library.c          what require "selenite" returns: constructors, sel.params, sel.series,
 * ... params.c           sel.params data.c             series, rasters, saved fields, painted
 * quantities, noise, units fill.c             tables, lists, families of tables, maps NAME = value
 *      fill_value.c       numbers, strings, points, quantities, functions
 *      fill_shape.c       shapes
 *      fill_scenario.c    simulations and lists of them
 */
#ifndef SEL_TABLES_H
#define SEL_TABLES_H

#include "engine/scene/shape.h"
#include "lua/functions/functions.h"
#include "lua/tables/script.h"

/* ---- script.c ---- */

/* As sel_script_load. `prompt`: called with the script's result at the top of the stack, instead of
 * filling structs; NULL: structs are filled. */
sel_status sel_script_run(const char *path, const sel_script_options *options,
                          void (*prompt)(lua_State *L), sel_scenario **scenario, sel_error *error);

/* sel.load. */
int sel_module_load(lua_State *L);

/* ---- library.c ---- */

/* Pushes what require "selenite" returns. */
void sel_library_push(lua_State *L);

/* Replaces the table at the top by a read-only view. Reading an unknown name is an error that
 * begins with `what` ("sel.law") and lists the names. */
void sel_library_close(lua_State *L, const char *what);

/* For Lua: suggestion(name, members) -> sel_script_suggest. */
int sel_host_suggestion(lua_State *L);

/* ---- params.c ---- */

/* Pushes sel.params. */
void sel_params_push(lua_State *L);

/* Whether the string at `index` is the value of a parameter that names a file. Such a path is
 * opened as it is; others are relative to their script. */
bool sel_params_is_path(lua_State *L, int index);

/* ---- fill.c ---- */

typedef struct sel_mistake {
    sel_where where;
    int order; /* number of the mistakes found before */
    const char *text;
    sel_status status;
} sel_mistake;

typedef struct sel_filler {
    sel_script *script;
    lua_State *L;
    sel_arena *arena;
    const struct sel_solver *solver;  /* of the simulation being filled */
    int dims;                         /* 2 or 3; 0: not known */
    const sel_simulation *simulation; /* NULL: a table alone */
    const sel_common *common;         /* of the simulation; itself still being filled */
    const sel_numbers *controls;
    const sel_named_choices *types; /* the types of fields that the simulation names */
    const char *const *type_names;
    bool returns_fields; /* functions of cells return fields; false: numbers */
    int depth;           /* of nested shapes */
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

/* The same for `what` that reads a file; ends the script if there is no memory. */
void sel_fill_file_mistake(sel_filler *f, sel_where where, const char *what,
                           const sel_error *found);

/* Notes a mistake of a slot, with the value at `index` (0: without a value): "sel.lbm: nu FORMAT,
 * got string "abc"". */
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

/* Reports all mistakes, sorted by file and line. */
void sel_fill_report(const sel_filler *f);

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

/* Fill one member: a table; a list of tables, plain or of a family; a table of a family; a table of
 * a family or a map of them; a map of names. */
sel_fill_kind sel_fill_nested, sel_fill_list, sel_fill_variant, sel_fill_variants, sel_fill_map;

/* ---- fill_value.c ---- */

/* Fill one member: of any kind; a quantity of one component. */
sel_fill_kind sel_fill_value, sel_fill_quantity;

/* ---- data.c ---- */

/* Adds sel.series, sel.raster, sel.noise, sel.state, sel.paint and sel.units to the table at the
 * top, and tells the reader of functions about sel.noise. */
void sel_data_open(lua_State *L);

/* Whether the value at `index` is data, which may replace a number or a function. */
bool sel_fill_is_data(lua_State *L, int index);

/* The data at `index` as a function with one result; NULL after noting a mistake. */
const sel_function *sel_fill_data(sel_filler *f, const sel_slot *slot, int index);

/* Applies sel.units to the simulation's `params`, the struct of `table`, whose Lua table is at
 * `index` and at `span` in the text. Notes values that are given twice, and a missing dx or dt. */
void sel_units_apply(sel_filler *f, int index, const sel_table *table, sel_common *params,
                     sel_span span);

/* ---- fill_shape.c ---- */

/* The shape at `index`; NULL after noting a mistake. */
const sel_shape *sel_fill_shape(sel_filler *f, const sel_slot *slot, int index);

/* ---- fill_scenario.c ---- */

/* Fills script->scenario from the script's result at the top of the stack. Mistakes go to
 * script->error. Raises an error only without memory. */
void sel_fill_scenario(sel_script *script, const char *path);

/* Names the fields of simulations whose scenario does so, and reads their functions of cells. To be
 * called when the scenario is filled without mistakes. Mistakes found here are in the simulations;
 * it fails only without memory. */
sel_status sel_fill_fields(sel_script *script, sel_error *error);

/* As sel_fill_scenario, for the value at `index` alone: simulations; or a shape, law or output as
 * far as it can be checked without a simulation. Other values are accepted. Returns the number of
 * simulations. */
int sel_fill_alone(sel_script *script, int index, const char *path);

#endif
