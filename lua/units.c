/* units.c -- sel.units: made by a script, read by it, and applied to a simulation. */
#include <math.h>
#include <string.h>
#include "engine/solver.h"
#include "lua/fill.h"

enum { MAX_LENGTHS = 3 };

/* The number of cells of side `dx` along the length at the top; `item` is its position. */
static lua_Integer whole_cells(lua_State *L, int item, double dx) {
    static const char axes[] = "xyz";
    char found[80], text[160];
    int64_t whole = 0;
    if (lua_type(L, -1) != LUA_TNUMBER || !(lua_tonumber(L, -1) > 0))
        luaL_error(L, "units.cells: the length along %c must be a positive number, got %s",
                   axes[item - 1], sel_script_value_text(L, -1, found));
    double length = lua_tonumber(L, -1);
    if (!sel_units_whole(length / dx, &whole) || whole < 1) {
        snprintf(text, sizeof text, "the length %.9g along %c is %.9g cells of %.9g; take %.9g",
                 length, axes[item - 1], length / dx, dx, fmax(1, round(length / dx)) * dx);
        luaL_error(L, "units.cells: %s, or other length and cells of sel.units", text);
    }
    return whole;
}

/* units.cells { Lx, Ly [, Lz] }; upvalue 1: dx. */
static int cells(lua_State *L) {
    const double dx = lua_tonumber(L, lua_upvalueindex(1));
    lua_Unsigned n = lua_istable(L, 1) ? lua_rawlen(L, 1) : 0;
    if (lua_gettop(L) != 1 || n < 2 || n > MAX_LENGTHS)
        return luaL_error(L, "units.cells takes a list of 2 or 3 lengths: units.cells { Lx, Ly }");
    lua_createtable(L, (int)n, 0);
    for (int i = 1; i <= (int)n; i++) {
        lua_rawgeti(L, 1, i);
        lua_pushinteger(L, whole_cells(L, i, dx));
        lua_rawseti(L, 2, i);
        lua_pop(L, 1);
    }
    return 1;
}

/* Sets a field of the table at the top; what is not known stays out. */
static void set_number(lua_State *L, const char *name, double value) {
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void push_units(lua_State *L, const sel_units *units) {
    lua_newtable(L);
    set_number(L, "dx", units->dx);
    set_number(L, "dt", units->dt);
    set_number(L, "nu", units->nu);
    set_number(L, "density", units->density);
    set_number(L, "length", units->length);
    set_number(L, "velocity", units->velocity);
    lua_pushnumber(L, units->dx);
    lua_pushcclosure(L, cells, 1);
    lua_setfield(L, -2, "cells");
    sel_library_close(L, "units");
    sel_script_set_mark(L, "sel", "units");
    sel_script_mark(L, -1)->units = units;
}

int sel_units_make(lua_State *L) {
    const sel_mark *mark = sel_data_take_table(L, "units");
    sel_units_params params = {0};
    sel_fill_now(L, 1, &sel_units_table, &params, mark);
    sel_units *units = sel_arena_alloc(sel_script_of(L)->arena, sizeof *units);
    if (!units)
        return sel_script_no_memory(sel_script_of(L), "the units", sizeof *units);
    *units = sel_units_resolve(&params);
    push_units(L, units);
    return 1;
}

static bool is_given(lua_State *L, int index, const char *name) {
    bool given = sel_script_field(L, index, name) != LUA_TNIL;
    lua_pop(L, 1);
    return given;
}

static const sel_field *find_number(const sel_table *table, const char *name) {
    const sel_field *field = sel_fill_field(table, name);
    return field && field->kind == SEL_KIND_NUMBER ? field : NULL;
}

void sel_units_apply(sel_filler *f, int index, const sel_table *table, sel_common *params,
                     sel_span span) {
    const sel_units *units = params->units;
    params->dx_is_preset = !units && !is_given(f->L, index, "dx");
    params->dt_is_preset = (!units || isnan(units->dt)) && !is_given(f->L, index, "dt");
    if (!units)
        return;
    const struct {
        const char *name, *given_as;
        double value;
        bool usual; /* not given, but with a value all the same */
    } gives[] = {{"dx", "length and cells", units->dx, false},
                 {"dt", "velocity", units->dt, false},
                 {"nu", "viscosity and Re", units->nu, false},
                 {"density", "density", units->density, !units->density_given}};
    for (size_t i = 0; i < sizeof gives / sizeof *gives; i++) {
        const sel_field *field = find_number(table, gives[i].name);
        if (isnan(gives[i].value) || (!field && gives[i].usual))
            continue;
        if (!field)
            sel_fill_mistake(f, sel_span_where(sel_source_key(span, "units")),
                             "%s has no %s; leave %s out of sel.units", table->name, gives[i].name,
                             gives[i].given_as);
        else if (is_given(f->L, index, gives[i].name))
            sel_fill_mistake(f, sel_span_where(sel_source_key(span, gives[i].name)),
                             "%s: %s comes from units; leave it out here", table->name,
                             gives[i].name);
        else
            *(double *)(void *)((char *)params + field->offset) = gives[i].value;
    }
    if (isnan(params->reference.length))
        params->reference.length = units->length;
    if (isnan(params->reference.velocity))
        params->reference.velocity = units->velocity;
}
