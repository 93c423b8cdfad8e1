/* data.h -- series, rasters, painted quantities, noise and units as scripts see them. */
#ifndef SEL_DATA_H
#define SEL_DATA_H

#include "engine/quantity.h"
#include "lua/fill.h"

/* data.c: sel.series, sel.raster and sel.paint. */
int sel_data_series(lua_State *L);
int sel_data_raster(lua_State *L);
int sel_data_state(lua_State *L);
int sel_data_paint(lua_State *L);

/* The one argument of sel.NAME as a table: a string alone is the file. Leaves it, marked, at index
 * 1. Raises for anything else. */
sel_mark *sel_data_take_table(lua_State *L, const char *name);

/* units.c: sel.units. */
int sel_units_make(lua_State *L);

/* Gives the simulation's `params`, the struct of `table` whose Lua table is at `index`, what its
 * units say, and notes what is given twice; says which of dx and dt nobody gives. `span` is the
 * table's. */
void sel_units_apply(sel_filler *f, int index, const sel_table *table, sel_common *params,
                     sel_span span);

/* fill_data.c: a quantity from data, where a number or a function could stand. */

/* Whether the value at `index` is a series, a raster or painted. */
bool sel_fill_is_data(lua_State *L, int index);

/* The series, raster or painted quantity at `index` as a function of one result; NULL after noting
 * what is wrong. */
const sel_function *sel_fill_data(sel_filler *f, const sel_slot *slot, int index);

/* lookup.c */

/* sel.noise. */
int sel_lookup_noise(lua_State *L);

/* Makes the metatables; `sel.noise` and calls of look-ups may be traced. */
void sel_lookup_open(lua_State *L);

/* Pushes `lookup` as a value that can be called with numbers and symbols. */
void sel_lookup_push(lua_State *L, const sel_lookup *lookup);

/* The look-up at `index`, or NULL. */
const sel_lookup *sel_lookup_at(lua_State *L, int index);

/* A component of a field that sel.state has read; NULL: it is something else. */
const sel_function *sel_data_saved_field(lua_State *L, int index);

#endif
