/* data.c -- sel.series, sel.raster and sel.paint.
 *
 * Series and rasters are read where the script makes them, since it may call them at once; what is
 * wrong with their tables is reported all together and ends the script.
 */
#include "lua/data.h"
#include "engine/quantity.h"
#include "engine/saved_fields.h"
#include "engine/series.h"
#include "geometry/raster.h"

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

const sel_function *sel_data_saved_field(lua_State *L, int index) {
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
