/* fill.h -- what the files share that fill C structs from Lua tables: values, data, hooks. */
#ifndef SEL_FILL_H
#define SEL_FILL_H

#include "engine/run/run.h"
#include "engine/values/quantity.h"
#include "engine/scene/shape.h"
#include "lua/function.h"

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
    int depth; /* of nested shapes */
    sel_mistake *mistakes;
    int mistake_count, mistake_room;
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

/* fill_shape.c: the shape at `index`, or NULL after noting what is wrong. */
const sel_shape *sel_fill_shape(sel_filler *f, const sel_slot *slot, int index);

/* ---- series, rasters, saved fields, painted quantities, noise and units ---- */

/* data.c: adds sel.series, sel.raster, sel.noise, sel.state, sel.paint and sel.units to the table
 * at the top; `sel.noise` and calls of look-ups may be traced. */
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

/* ---- hooks ---- */

/* hook.c: the function at `index` as the engine calls it. `label` names it in messages:
 * "hooks[1]". */
const sel_callback *sel_hook_callback(sel_filler *f, int index, const char *label, sel_where where);

/* Reads what saves and loads run.state. */
void sel_hook_open(lua_State *L);

#endif
