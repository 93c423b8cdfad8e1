/* data.c -- sel.series, sel.raster, sel.state and sel.paint: made by a script, and taken as
 * quantities where a number or a function could stand.
 *
 * Series and rasters are read where the script makes them, since it may call them at once; what is
 * wrong with their tables is reported all together and ends the script.
 */
#include <string.h>
#include "engine/paint.h"
#include "engine/saved_fields.h"
#include "engine/series.h"
#include "geometry/raster.h"
#include "lua/fill.h"

enum { MAX_PAINTS = 32 }; /* inside each other */

sel_mark *sel_data_take_table(lua_State *L, const char *name) {
    char found[80];
    sel_script *script = sel_script_of(L);
    if (script->limits.code != SEL_MAIN_CHUNK || !script->chunk)
        luaL_error(L, "sel.%s cannot be made inside a function that the engine evaluates", name);
    if (lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING) {
        lua_createtable(L, 1, 0);
        lua_insert(L, 1);
        lua_rawseti(L, 1, 1);
    }
    if (lua_gettop(L) != 1 || !lua_istable(L, 1) || sel_script_mark(L, 1))
        luaL_error(L, "sel.%s takes one table: write sel.%s { ... }, got %s", name, name,
                   sel_script_value_text(L, 1, found));
    sel_script_set_mark(L, "sel", name);
    return sel_script_mark(L, 1);
}

/* Data live outside of Lua; they count towards the memory of the script all the same. */
static void charge(lua_State *L, size_t bytes) {
    sel_script *script = sel_script_of(L);
    if (!script->trust && script->used + bytes > script->memory)
        sel_script_too_large(script);
    script->used += bytes;
}

/* Pushes what was made since the arena had `before` bytes. */
static int push_made(lua_State *L, const sel_lookup *lookup, size_t before) {
    if (!lookup)
        return sel_limits_break(L);
    charge(L, sel_arena_bytes(sel_script_of(L)->arena) - before);
    sel_lookup_push(L, lookup);
    return 1;
}

int sel_data_series(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const sel_mark *mark = sel_data_take_table(L, "series");
    size_t before = sel_arena_bytes(script->arena);
    sel_series_params params = {0};
    sel_error found = {.status = SEL_OK};
    sel_fill_now(L, 1, &sel_series_table, &params, mark);
    const sel_lookup *series = sel_series_create(script->arena, &params, mark->where, &found);
    if (series && !sel_lookups_add(script->arena, &script->series, series)) {
        sel_fail_memory(&found, "a series", sizeof series);
        series = NULL;
    }
    sel_script_hand_over(script, &found, mark->where, "sel.series");
    return push_made(L, series, before);
}

int sel_data_raster(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const sel_mark *mark = sel_data_take_table(L, "raster");
    size_t before = sel_arena_bytes(script->arena);
    sel_raster_params params = {0};
    sel_error found = {.status = SEL_OK};
    sel_fill_now(L, 1, &sel_raster_table, &params, mark);
    if (!script->trust)
        params.most_bytes = script->memory > script->used ? script->memory - script->used : 1;
    const sel_lookup *made = sel_raster_create(script->arena, &params, mark->where, &found);
    sel_script_hand_over(script, &found, mark->where, "sel.raster");
    return push_made(L, made, before);
}

static const char field_type[] = "selenite.saved_field";

/* A component of a field that sel.state has read; NULL: it is something else. */
static const sel_function *saved_field(lua_State *L, int index) {
    const sel_function **found = luaL_testudata(L, index, field_type);
    return found ? *found : NULL;
}

static void push_saved(lua_State *L, const sel_function *function) {
    const sel_function **to = lua_newuserdatauv(L, sizeof *to, 0);
    *to = function;
    if (luaL_newmetatable(L, field_type)) {
        lua_pushboolean(L, false);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

/* A table as `initial` takes it: { velocity = { x, y }, pressure = p }. */
int sel_data_state(lua_State *L) {
    sel_script *script = sel_script_of(L);
    const sel_mark *mark = sel_data_take_table(L, "state");
    const size_t before = sel_arena_bytes(script->arena);
    sel_state_params params = {0};
    sel_saved_field fields[SEL_MOST_SAVED_FIELDS];
    sel_error found = {.status = SEL_OK};
    int count = 0;
    sel_fill_now(L, 1, &sel_state_table, &params, mark);
    sel_status status =
        sel_saved_fields(script->arena, &params, mark->where, fields, &count, &found);
    sel_script_hand_over(script, &found, mark->where, "sel.state");
    if (status)
        return sel_limits_break(L);
    charge(L, sel_arena_bytes(script->arena) - before);
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        const sel_saved_field *field = &fields[i];
        if (field->components == 1) {
            push_saved(L, field->component[0]);
        } else {
            lua_createtable(L, field->components, 0);
            for (int c = 0; c < field->components; c++) {
                push_saved(L, field->component[c]);
                lua_rawseti(L, -2, c + 1);
            }
        }
        lua_setfield(L, -2, field->name);
    }
    return 1;
}

int sel_data_paint(lua_State *L) {
    sel_data_take_table(L, "paint");
    return 1;
}

/* ---- filling ---- */

static bool is_paint(lua_State *L, int index) {
    const sel_mark *mark = sel_script_mark(L, index);
    return mark && strcmp(mark->group, "sel") == 0 && strcmp(mark->name, "paint") == 0;
}

bool sel_fill_is_data(lua_State *L, int index) {
    return sel_lookup_at(L, index) || saved_field(L, index) || is_paint(L, index);
}

/* The value at position `item`, which the text shows at `span`, of the table at the top. */
static void fill_item(sel_filler *f, const sel_slot *parent, int item, sel_span span,
                      const char *name, sel_quantity *to) {
    sel_field field = *parent->field;
    field.name = name;
    sel_slot slot = {&field, parent->label, span, false};
    lua_rawgeti(f->L, -1, item);
    sel_fill_quantity(f, &slot, lua_gettop(f->L), to);
    lua_pop(f->L, 1);
}

/* One { shape, value }, which is at the top of the stack. */
static void fill_layer(sel_filler *f, const sel_slot *slot, sel_paint_layer *to) {
    lua_State *L = f->L;
    if (!lua_istable(L, -1) || sel_script_mark(L, -1) || lua_rawlen(L, -1) != 2) {
        sel_fill_wrong(f, slot, 0, lua_gettop(L), "must be { shape, value }");
        return;
    }
    lua_rawgeti(L, -1, 1);
    to->where = sel_fill_shape(f, slot, lua_gettop(L));
    lua_pop(L, 1);
    if (to->where && sel_shape_has_faces(to->where))
        sel_fill_mistake(f, sel_span_where(slot->span), "sel.paint: faces have no inside to paint");
    fill_item(f, slot, 2, sel_source_item(slot->span, 2),
              sel_fill_print(f, "%s[2]", slot->field->name), &to->value);
}

/* The paint at the top of the stack. */
static sel_paint *fill_layers(sel_filler *f, const sel_slot *slot) {
    lua_State *L = f->L;
    int n = sel_fill_list_length(f, slot, lua_gettop(L));
    if (n < 1) {
        sel_fill_mistake(f, sel_span_where(slot->span),
                         "sel.paint: give a base, then { shape, value }, ...");
        return NULL;
    }
    sel_paint *paint = sel_fill_alloc(f, sizeof *paint);
    sel_paint_layer *layer = sel_fill_alloc(f, (size_t)n * sizeof *layer);
    *paint = (sel_paint){.layers = n - 1, .layer = layer};
    sel_walk walk = sel_source_walk(slot->span);
    fill_item(f, slot, 1, sel_source_next(&walk), "[1]", &paint->base);
    for (int i = 2; i <= n; i++) {
        sel_field field = *slot->field;
        field.name = sel_fill_print(f, "[%d]", i);
        sel_slot item = {&field, slot->label, sel_source_next(&walk), false};
        lua_rawgeti(L, -1, i);
        fill_layer(f, &item, &layer[i - 2]);
        lua_pop(L, 1);
    }
    return paint;
}

static const sel_function *fill_paint(sel_filler *f, const sel_slot *slot, int index) {
    const sel_mark *mark = sel_script_mark(f->L, index);
    const sel_field field = {.name = "", .kind = SEL_KIND_QUANTITY};
    const sel_slot own = {&field, "sel.paint",
                          sel_source_call(f->arena, mark->source, mark->where.line, mark->name),
                          true};
    int before = f->mistake_count;
    if (f->depth >= MAX_PAINTS) {
        sel_fill_wrong(f, slot, 0, 0, "holds quantities painted into each other too deep");
        return NULL;
    }
    luaL_checkstack(f->L, LUA_MINSTACK, "painted quantities");
    f->depth++;
    lua_pushvalue(f->L, index);
    sel_paint *paint = fill_layers(f, &own);
    lua_pop(f->L, 1);
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
