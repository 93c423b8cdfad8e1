/* fill_data.c -- series, rasters and painted quantities where a number or a function could stand.
 */
#include <string.h>
#include "engine/quantity.h"
#include "lua/data.h"

enum { MAX_PAINTS = 32 }; /* inside each other */

static bool is_paint(lua_State *L, int index) {
    const sel_mark *mark = sel_script_mark(L, index);
    return mark && strcmp(mark->group, "sel") == 0 && strcmp(mark->name, "paint") == 0;
}

bool sel_fill_is_data(lua_State *L, int index) {
    return sel_lookup_at(L, index) || sel_data_saved_field(L, index) || is_paint(L, index);
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
    const sel_function *saved = sel_data_saved_field(f->L, index);
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
