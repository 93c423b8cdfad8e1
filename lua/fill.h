/* fill.h -- what the files that fill C structs from Lua tables share. */
#ifndef SEL_FILL_H
#define SEL_FILL_H

#include "geometry/shape.h"
#include "lua/state.h"

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
} sel_slot;

/* Zeroed memory of the scenario; ends the script when there is none. */
void *sel_fill_alloc(sel_filler *f, size_t bytes);
char *sel_fill_print(sel_filler *f, const char *format, ...) SEL_PRINTF(2, 3);

/* Notes a mistake; all are reported at the end, by file and line. */
void sel_fill_mistake(sel_filler *f, sel_where where, const char *format, ...) SEL_PRINTF(3, 4);

/* As above, opened with the slot's table and field, and closed with the value at `index`:
 * "sel.lbm: nu WHAT, got string "abc"". `item` is the position in a list, 0: the value itself;
 * `index` 0: the value is not shown. */
void sel_fill_wrong(sel_filler *f, const sel_slot *slot, int item, int index, const char *what);

/* The length of the list at `index`, or -1 after noting what is no list. */
int sel_fill_list_length(sel_filler *f, const sel_slot *slot, int index);

/* Fills `data`, zeroed, from the Lua table at `index`. False when there were mistakes. */
bool sel_fill_table(sel_filler *f, int index, const sel_table *table, const char *label, void *data,
                    sel_span span);

/* As above, while the script still runs, for the table at `index` that was marked: all mistakes in
 * it end the script. */
void sel_fill_now(lua_State *L, int index, const sel_table *table, void *data,
                  const sel_mark *mark);

/* fill_value.c: fills one member of any kind that is no table, list, variant or shape. */
void sel_fill_value(sel_filler *f, const sel_slot *slot, int index, void *member);

/* fill_value.c: fills a quantity of one component. */
void sel_fill_quantity(sel_filler *f, const sel_slot *slot, int index, sel_quantity *to);

/* fill_shape.c: the shape at `index`, or NULL after noting what is wrong. */
const sel_shape *sel_fill_shape(sel_filler *f, const sel_slot *slot, int index);

#endif
