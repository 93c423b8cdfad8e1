/* data.c -- data in scripts: sel.series, sel.raster, sel.noise, sel.state, sel.paint; and
 * sel.units.
 *
 * Functions call data, s(t) and r(x, y), and a quantity may be data in place of a number or a
 * function. A look-up (series, raster) is an immutable userdata; called with numbers it returns a
 * number.
 *
 * Series and rasters are read when the script creates them, since it may call them at once. All
 * mistakes of their tables are reported together, and end the script.
 */
#include <math.h>
#include <string.h>
#include "engine/values/series.h"
#include "lua/tables/tables.h"

enum { MAX_PAINTS = 32 }; /* nesting depth */

/* ---- look-ups ---- */

static const char *const type_names[] = {[SEL_LOOKUP_SERIES] = "sel.series",
                                         [SEL_LOOKUP_RASTER] = "sel.raster",
                                         [SEL_LOOKUP_NOISE] = "sel.noise"};
static const char *const call_texts[] = {[SEL_LOOKUP_SERIES] = "s(t)",
                                         [SEL_LOOKUP_RASTER] = "r(x, y)",
                                         [SEL_LOOKUP_NOISE] = "sel.noise(seed, x, y, z)"};

/* Pushes the value of a look-up; its arguments are on the stack from `first` on. */
static int data_look_up(lua_State *L, const sel_lookup *lookup, int first) {
    double values[4], out;
    const double *arguments[4];
    char found[80];
    for (int i = 0; i < lookup->arguments; i++) {
        if (lua_type(L, first + i) != LUA_TNUMBER)
            return luaL_error(L, "%s takes numbers: %s, got %s as argument %d",
                              type_names[lookup->kind], call_texts[lookup->kind],
                              sel_script_value_text(L, first + i, found), i + 1);
        values[i] = lua_tonumber(L, first + i);
        arguments[i] = &values[i];
    }
    if (sel_script_of(L)->finds_gaps && sel_lookup_has_gap(lookup, values[0], values[1])) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&sel_function_gap);
        return lua_error(L);
    }
    if (lookup->kind == SEL_LOOKUP_RASTER && sel_script_of(L)->limits.code == SEL_MAIN_CHUNK)
        sel_raster_note_read(lookup);
    sel_error *error = lua_newuserdatauv(L, sizeof *error, 0);
    *error = (sel_error){.status = SEL_OK};
    if (lookup->at(lookup, 1, arguments, &out, error))
        return luaL_error(L, "%s", error->text);
    lua_pushnumber(L, out);
    return 1;
}

/* __call of a look-up */
static int data_call(lua_State *L) {
    const sel_lookup *lookup = sel_lookup_at(L, 1);
    if (lua_gettop(L) - 1 != lookup->arguments)
        return luaL_error(L, "%s takes %d argument%s: %s, got %d", type_names[lookup->kind],
                          lookup->arguments, lookup->arguments == 1 ? "" : "s",
                          call_texts[lookup->kind], lua_gettop(L) - 1);
    return data_look_up(L, lookup, 2);
}

static int call_noise(lua_State *L) {
    if (lua_gettop(L) < 2 || lua_gettop(L) > 4)
        return luaL_error(L, "sel.noise takes 2 to 4 arguments: sel.noise(seed, x, y, z), got %d",
                          lua_gettop(L));
    while (lua_gettop(L) < sel_noise_lookup.arguments)
        lua_pushnumber(L, 0);
    return data_look_up(L, &sel_noise_lookup, 1);
}

static int push_pair(lua_State *L, double first, double second, bool whole) {
    double pair[] = {first, second};
    lua_createtable(L, 2, 0);
    for (int i = 0; i < 2; i++) {
        if (whole)
            lua_pushinteger(L, (lua_Integer)pair[i]);
        else
            lua_pushnumber(L, pair[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* __index: the fields of a raster; a series has none. */
static int data_field(lua_State *L) {
    static const char *const raster_names[] = {"dx", "origin", "size", NULL};
    static const char *const no_names[] = {NULL};
    char text[256];
    const sel_lookup *lookup = sel_lookup_at(L, 1);
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    bool is_raster = lookup->kind == SEL_LOOKUP_RASTER;
    if (is_raster) {
        const sel_raster *raster = lookup->data;
        if (strcmp(name, "size") == 0)
            return push_pair(L, (double)raster->n[0], (double)raster->n[1], true);
        if (sel_script_of(L)->limits.code == SEL_MAIN_CHUNK)
            sel_raster_note_read(lookup);
        if (strcmp(name, "origin") == 0)
            return push_pair(L, raster->origin[0], raster->origin[1], false);
        if (strcmp(name, "dx") == 0)
            return lua_pushnumber(L, raster->dx), 1;
    }
    sel_script_suggest(name, is_raster ? raster_names : no_names, text);
    return luaL_error(L, "%s has no field%s%s", type_names[lookup->kind], text,
                      is_raster ? "" : "; it is called: s(t)");
}

static int write_field(lua_State *L) {
    return luaL_error(L, "%s cannot be changed", type_names[sel_lookup_at(L, 1)->kind]);
}

static void make_metatable(lua_State *L, const char *name) {
    luaL_newmetatable(L, name);
    lua_pushcfunction(L, data_call);
    lua_setfield(L, -2, "__call");
    lua_pushcfunction(L, data_field);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, write_field);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

/* ---- constructors ---- */

/* The argument of the constructor `name` as a marked table at index 1; a string becomes its file.
 * Raises an error for anything else. */
static sel_mark *take_table(lua_State *L, const char *name) {
    char found[80];
    sel_script *script = sel_script_of(L);
    if (script->limits.code != SEL_MAIN_CHUNK || !script->chunk)
        luaL_error(L, "%s cannot be made inside a function that the engine evaluates", name);
    if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING) {
        lua_createtable(L, 1, 0);
        lua_insert(L, 1);
        lua_rawseti(L, 1, 1);
    }
    if (lua_gettop(L) != 1 || !lua_istable(L, 1) || sel_script_mark(L, 1))
        luaL_error(L, "%s takes one table: write %s { ... }, got %s", name, name,
                   sel_script_value_text(L, 1, found));
    sel_script_set_mark(L, "sel", name + strlen("sel."));
    return sel_script_mark(L, 1);
}

/* As take_table, and fills the struct `params` from it. */
static sel_mark *take_params(lua_State *L, const sel_table *table, void *params) {
    sel_mark *mark = take_table(L, table->name);
    sel_fill_now(L, 1, table, params, mark);
    return mark;
}

/* Counts data, which lie outside of Lua's memory, towards the script's memory limit. */
static void charge(lua_State *L, size_t bytes) {
    sel_script *script = sel_script_of(L);
    if (!script->options.trust && script->used + bytes > script->memory)
        sel_script_too_large(script);
    script->used += bytes;
}

/* Pushes a new look-up; the arena had `before` bytes before it was created. NULL: the error `found`
 * ends the script. */
static int push_made(lua_State *L, const sel_lookup *lookup, size_t before, sel_where where,
                     const sel_error *found, const char *name) {
    sel_script_report_file(sel_script_of(L), found, where, name);
    if (!lookup)
        return sel_limits_break(L);
    charge(L, sel_script_of(L)->arena->held - before);
    const sel_lookup **to = lua_newuserdatauv(L, sizeof *to, 0);
    *to = lookup;
    luaL_setmetatable(L, name);
    return 1;
}

static void keep_lookup(sel_script *script, const sel_lookup *lookup, sel_lookups ***end) {
    **end = sel_script_alloc(script, "a list of data", sizeof(sel_lookups));
    (**end)->lookup = lookup;
    *end = &(**end)->next;
}

static int data_make_series(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const size_t before = script->arena->held;
    sel_series_params params = {0};
    sel_error found = {.status = SEL_OK};
    const sel_where where = take_params(L, &sel_series_table, &params)->where;
    const sel_lookup *series = sel_series_create(script->arena, &params, where, &found);
    if (series)
        keep_lookup(script, series, &script->series_end);
    return push_made(L, series, before, where, &found, sel_series_table.name);
}

static int make_raster(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const size_t before = script->arena->held;
    sel_raster_params params = {0};
    sel_error found = {.status = SEL_OK};
    const sel_where where = take_params(L, &sel_raster_table, &params)->where;
    if (!script->options.trust)
        params.most_bytes = script->memory > script->used ? script->memory - script->used : 1;
    const sel_lookup *raster = sel_raster_create(script->arena, &params, where, &found);
    if (raster)
        keep_lookup(script, raster, &script->rasters_end);
    return push_made(L, raster, before, where, &found, sel_raster_table.name);
}

static const char field_type[] = "selenite.saved_field";

/* The value at `index` if it is a component of a field of sel.state; else NULL. */
static const sel_function *saved_field(lua_State *L, int index) {
    const sel_function **found = luaL_testudata(L, index, field_type);
    return found ? *found : NULL;
}

static void push_field(lua_State *L, const sel_function *function) {
    const sel_function **to = lua_newuserdatauv(L, sizeof *to, 0);
    *to = function;
    if (luaL_newmetatable(L, field_type)) {
        lua_pushboolean(L, false);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

/* sel.state: a table for `initial`: { velocity = { x, y }, pressure = p }. */
static int make_state(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const size_t before = script->arena->held;
    sel_state_params params = {0};
    sel_saved_field fields[SEL_MOST_SAVED_FIELDS];
    sel_error found = {.status = SEL_OK};
    int count = 0;
    const sel_where where = take_params(L, &sel_state_table, &params)->where;
    sel_status status = sel_saved_fields(script->arena, &params, where, fields, &count, &found);
    sel_script_report_file(script, &found, where, sel_state_table.name);
    if (status)
        return sel_limits_break(L);
    charge(L, script->arena->held - before);
    lua_newtable(L);
    for (const sel_saved_field *field = fields; field < fields + count; field++) {
        lua_newtable(L);
        for (int c = 0; c < field->components; c++) {
            push_field(L, field->component[c]);
            lua_rawseti(L, -2, c + 1);
        }
        if (field->components == 1) { /* a scalar stands for itself */
            lua_rawgeti(L, -1, 1);
            lua_remove(L, -2);
        }
        lua_setfield(L, -2, field->name);
    }
    return 1;
}

static int make_paint(lua_State *L) {
    take_table(L, "sel.paint");
    return 1;
}

/* ---- filling ---- */

bool sel_fill_is_data(lua_State *L, int index) {
    const sel_mark *mark = sel_script_mark(L, index);
    bool paint = mark && strcmp(mark->group, "sel") == 0 && strcmp(mark->name, "paint") == 0;
    return paint || sel_lookup_at(L, index) || saved_field(L, index);
}

/* Fills a layer { shape, value } of sel.paint. */
static void fill_layer(sel_filler *f, const sel_slot *slot, int index, void *member) {
    lua_State *L = f->L;
    sel_paint_layer *to = member;
    if (!lua_istable(L, index) || sel_script_mark(L, index) || lua_rawlen(L, index) != 2) {
        sel_fill_wrong(f, slot, index, "must be { shape, value }");
        return;
    }
    lua_rawgeti(L, index, 1);
    to->where = sel_fill_shape(f, slot, lua_gettop(L));
    lua_pop(L, 1);
    if (to->where && sel_shape_has_faces(to->where))
        sel_fill_mistake(f, sel_span_where(slot->span), "sel.paint: faces have no inside to paint");
    sel_fill_items(f, slot, index, 2, 2, sel_fill_quantity, &to->value, 0);
}

static sel_paint *fill_layers(sel_filler *f, const sel_slot *slot, int index) {
    int n = sel_fill_list_length(f, slot, index);
    if (n < 1) {
        sel_fill_mistake(f, sel_span_where(slot->span),
                         "sel.paint: give a base, then { shape, value }, ...");
        return NULL;
    }
    sel_paint *paint = sel_fill_alloc(f, sizeof *paint);
    sel_paint_layer *layer = sel_fill_alloc(f, (size_t)n * sizeof *layer);
    *paint = (sel_paint){.layers = n - 1, .layer = layer};
    sel_fill_items(f, slot, index, 1, 1, sel_fill_quantity, &paint->base, 0);
    sel_fill_items(f, slot, index, 2, n, fill_layer, layer, sizeof *layer);
    return paint;
}

static const sel_function *fill_paint(sel_filler *f, const sel_slot *slot, int index) {
    const sel_mark *mark = sel_script_mark(f->L, index);
    const sel_table_field field = {.name = "", .kind = SEL_KIND_QUANTITY};
    const sel_slot own = {&field, "sel.paint",
                          sel_source_call(f->arena, mark->source, mark->where.line, mark->name),
                          true, 0};
    int before = f->mistake_count;
    if (f->depth >= MAX_PAINTS) {
        sel_fill_wrong(f, slot, 0, "holds quantities painted into each other too deep");
        return NULL;
    }
    luaL_checkstack(f->L, LUA_MINSTACK, "painted quantities");
    f->depth++;
    sel_paint *paint = fill_layers(f, &own, index);
    f->depth--;
    if (f->mistake_count > before)
        return NULL;
    const sel_function *function = sel_paint_function(f->arena, paint, f->common, mark->where);
    if (!function)
        sel_script_no_memory(f->script, "a painted quantity", sizeof *function);
    return function;
}

const sel_function *sel_fill_data(sel_filler *f, const sel_slot *slot, int index) {
    const sel_lookup *lookup = sel_lookup_at(f->L, index);
    const sel_function *saved = saved_field(f->L, index);
    if (saved)
        return saved;
    if (!lookup)
        return fill_paint(f, slot, index);
    const sel_function *function =
        sel_lookup_function(f->arena, lookup, sel_span_where(slot->span));
    if (!function)
        sel_script_no_memory(f->script, lookup->name, sizeof *function);
    return function;
}

/* ---- units ---- */

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

/* Sets a field of the table at the top, unless the value is NaN (not known). */
static void data_set_number(lua_State *L, const char *name, double value) {
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void push_units(lua_State *L, const sel_units *units) {
    lua_newtable(L);
    data_set_number(L, "dx", units->dx);
    data_set_number(L, "dt", units->dt);
    data_set_number(L, "nu", units->nu);
    data_set_number(L, "density", units->density);
    data_set_number(L, "length", units->length);
    data_set_number(L, "velocity", units->velocity);
    lua_pushnumber(L, units->dx);
    lua_pushcclosure(L, cells, 1);
    lua_setfield(L, -2, "cells");
    sel_library_close(L, "units");
    sel_script_set_mark(L, "sel", "units");
    sel_script_mark(L, -1)->units = units;
}

static int make_units(lua_State *L) {
    sel_units_params params = {0};
    take_params(L, &sel_units_table, &params);
    sel_units *units = sel_script_alloc(sel_script_of(L), "the units", sizeof *units);
    *units = sel_units_resolve(&params);
    push_units(L, units);
    return 1;
}

void sel_data_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"series", data_make_series},
                                         {"raster", make_raster},
                                         {"state", make_state},
                                         {"paint", make_paint},
                                         {"units", make_units},
                                         {"noise", call_noise},
                                         {NULL, NULL}};
    make_metatable(L, type_names[SEL_LOOKUP_SERIES]);
    make_metatable(L, type_names[SEL_LOOKUP_RASTER]);
    luaL_setfuncs(L, functions, 0);
    sel_read_library(L, "noise");
}

static bool is_given(lua_State *L, int index, const char *name) {
    bool given = sel_script_field(L, index, name) != LUA_TNIL;
    lua_pop(L, 1);
    return given;
}

static const sel_table_field *data_find_number(const sel_table *table, const char *name) {
    const sel_table_field *field = sel_fill_field(table, name);
    const bool number =
        field && (field->kind == SEL_KIND_NUMBER || field->kind == SEL_KIND_SPACING);
    return number ? field : NULL;
}

static void set_field(sel_common *params, const sel_table_field *field, double value) {
    void *member = (char *)params + field->offset;
    if (field->kind == SEL_KIND_SPACING)
        *(sel_point *)member = (sel_point){1, {value}};
    else
        *(double *)member = value;
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
        bool usual; /* has a default value */
    } gives[] = {{"dx", "length and cells", units->dx, false},
                 {"dt", "velocity", units->dt, false},
                 {"nu", "viscosity and Re", units->nu, false},
                 {"density", "density", units->density, !units->density_given}};
    for (size_t i = 0; i < sizeof gives / sizeof *gives; i++) {
        const sel_table_field *field = data_find_number(table, gives[i].name);
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
            set_field(params, field, gives[i].value);
    }
    if (isnan(params->reference.length))
        params->reference.length = units->length;
    if (isnan(params->reference.velocity))
        params->reference.velocity = units->velocity;
}
