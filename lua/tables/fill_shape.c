/* fill_shape.c -- fill shapes, their combinations and placements.
 *
 * A script that adds a thousand balls in a loop makes a chain. The engine gets a balanced tree
 * instead, so that neither side recurses a thousand deep; that of a union by place in space:
 *
 *      ((a + b) + c) + d       +               (a + b) + (c + d)       +
 *                             / \                                    /   \
 *                            +   d     ->                           +     +
 *                           / \                                    / \   / \
 *                          +   c                                  a   b c   d
 *                         / \
 *                        a   b
 */
#include "lua/tables/tables.h"
#include <string.h>

enum { MAX_PARTS = 100000, MAX_DEPTH = 200 };

typedef struct part {
    struct part *next;
    const sel_shape *shape;
} part;

/* Stores a filled shape in its mark, since several regions may use it. `parts`: the number of its
 * primitives. */
static const sel_shape *shape_keep(sel_filler *f, sel_mark *mark, sel_shape *shape, int parts) {
    if (!shape)
        sel_script_no_memory(f->script, "the shapes", sizeof *shape);
    shape->where = mark->where;
    mark->shape = shape;
    mark->filled_for = f->controls;
    mark->parts = parts;
    return shape;
}

static const sel_shape *fill_face(sel_filler *f, sel_mark *mark, int index) {
    lua_rawgeti(f->L, index, 1);
    const char *name = lua_type(f->L, -1) == LUA_TSTRING ? lua_tostring(f->L, -1) : "";
    int face = 0;
    while (face < SEL_FACES && strcmp(name, sel_face_name(face)) != 0)
        face++;
    lua_pop(f->L, 1);
    if (face == SEL_FACES || (f->dims == 2 && face >= SEL_Z_MIN)) {
        sel_fill_mistake(f, mark->where, "shape.face: there is no face \"%.8s\"%s", name,
                         f->dims == 2 ? " in 2-D" : "");
        return NULL;
    }
    return shape_keep(f, mark, sel_shape_face(f->arena, face), 1);
}

static const sel_shape *fill_primitive(sel_filler *f, sel_mark *mark, int index,
                                       const sel_table *table) {
    int kind = 0;
    while (sel_shape_family.tables[kind] != table)
        kind++;
    void *data = sel_fill_alloc(f, table->size);
    sel_span span = sel_source_call(f->arena, mark->source, mark->where.line, mark->name);
    if (!sel_fill_table(f, index, table, table->name, data, span))
        return NULL;
    sel_shape_kind shape_kind = (sel_shape_kind)(SEL_SHAPE_BOX + kind);
    if (shape_kind == SEL_SHAPE_IMAGE || shape_kind == SEL_SHAPE_MESH) {
        sel_error found = {.status = SEL_OK};
        sel_shape_image *image = data;
        sel_status status = shape_kind == SEL_SHAPE_MESH
                                ? sel_shape_mesh_read(f->arena, data, &found)
                                : sel_mask_read(f->arena, &image->ask, &image->mask, &found);
        if (status) {
            sel_fill_file_mistake(f, mark->where, table->name, &found);
            return NULL;
        }
    }
    return shape_keep(f, mark, sel_shape_make(f->arena, shape_kind, data), 1);
}

/* The union of the n shapes of a list. */
static const sel_shape *fill_union(sel_filler *f, sel_mark *mark, const part *list, int n,
                                   int parts) {
    if (n == 1)
        return list->shape;
    const sel_shape **shapes = sel_fill_alloc(f, (size_t)n * sizeof *shapes);
    for (int i = 0; i < n; i++, list = list->next)
        shapes[i] = list->shape;
    return shape_keep(f, mark, sel_shape_unite(f->arena, shapes, n), parts);
}

/* The balanced combination of the first n shapes of a list. Moves *list behind them. */
static const sel_shape *shape_balance(sel_filler *f, sel_mark *mark, sel_shape_kind kind,
                                      part **list, int n, int parts) {
    if (n == 1) {
        const sel_shape *shape = (*list)->shape;
        *list = (*list)->next;
        return shape;
    }
    const sel_shape *a = shape_balance(f, mark, kind, list, n / 2, parts);
    const sel_shape *b = shape_balance(f, mark, kind, list, n - n / 2, parts);
    return shape_keep(f, mark, sel_shape_combine(f->arena, kind, a, b), parts);
}

static bool is_filled(const sel_filler *f, const sel_mark *mark) {
    return mark->shape && mark->filled_for == f->controls;
}

static bool continues_chain(const sel_mark *here, const sel_mark *first) {
    return here && !here->visiting && strcmp(here->group, first->group) == 0 &&
           strcmp(here->name, first->name) == 0;
}

/* Follows the left operands of one kind and fills the right ones. Returns the list of *count
 * operands, the leftmost first. Marks each node as visited, so that a cycle ends. */
static part *fill_chain(sel_filler *f, const sel_slot *slot, int index, sel_mark *mark, int *count,
                        int *parts) {
    lua_State *L = f->L;
    part *list = NULL;
    bool last = false;
    int before = f->mistake_count, node = lua_gettop(L) + 1;
    for (lua_pushvalue(L, index); !last && f->mistake_count == before; lua_settop(L, node)) {
        sel_mark *here = sel_script_mark(L, node);
        last = !continues_chain(here, mark) || (*count > 0 && is_filled(f, here));
        if (last) {
            lua_pushvalue(L, node);
        } else {
            here->visiting = true;
            lua_rawgeti(L, node, 2);
            lua_rawgeti(L, node, 1);
            lua_replace(L, node);
        }
        part *operand = sel_fill_alloc(f, sizeof *operand);
        *operand = (part){list, sel_fill_shape(f, slot, node + 1)};
        if (operand->shape && *parts <= MAX_PARTS)
            *parts += sel_script_mark(L, node + 1)->parts;
        ++*count;
        list = operand;
    }
    lua_pop(L, 1);
    return list;
}

/* Clears sel_mark.visiting, which fill_chain set. */
static void leave_chain(sel_filler *f, int index) {
    lua_State *L = f->L;
    lua_pushvalue(L, index);
    for (sel_mark *mark = sel_script_mark(L, -1); mark && mark->visiting;
         mark = sel_script_mark(L, -1)) {
        mark->visiting = false;
        lua_rawgeti(L, -1, 1);
        lua_remove(L, -2);
    }
    lua_pop(L, 1);
}

static const sel_shape *shape_fill_operator(sel_filler *f, const sel_slot *slot, int index,
                                            sel_mark *mark) {
    static const char *const names[] = {"union", "difference", "intersection", NULL};
    int count = 0, parts = 0, before = f->mistake_count;
    sel_shape_kind kind = SEL_SHAPE_UNION + (sel_shape_kind)sel_name_index(names, mark->name);
    part *list = fill_chain(f, slot, index, mark, &count, &parts);
    leave_chain(f, index);
    if (f->mistake_count > before)
        return NULL;
    if (parts > MAX_PARTS) {
        sel_fill_mistake(f, mark->where, "a shape of more than %d parts", MAX_PARTS);
        return NULL;
    }
    if (kind == SEL_SHAPE_UNION)
        return fill_union(f, mark, list, count, parts);
    if (kind == SEL_SHAPE_INTERSECTION)
        return shape_balance(f, mark, kind, &list, count, parts);
    const sel_shape *first = list->shape;
    const sel_shape *taken = fill_union(f, mark, list->next, count - 1, parts);
    return shape_keep(f, mark, sel_shape_combine(f->arena, kind, first, taken), parts);
}

/* The dimensions decide whether a rotation has an axis. */
static void check_axis(sel_filler *f, const sel_shape_rotated *rotated, sel_where where) {
    if (f->dims == 2 && rotated->axis.n)
        sel_fill_mistake(f, where, "shape:rotated: axis is for 3 dimensions; leave it out in 2");
    if (f->dims == 3 && !rotated->axis.n)
        sel_fill_mistake(f, where,
                         "shape:rotated: axis is required in 3 dimensions, as axis = { 0, 0, 1 }");
}

/* The placement that the table at `index` describes; NULL after noting a mistake. */
static const sel_shape_placement *fill_placement(sel_filler *f, sel_mark *mark, int index,
                                                 const sel_table *table) {
    const int before = f->mistake_count;
    const sel_span span = sel_source_call(f->arena, mark->source, mark->where.line, mark->name);
    void *data = sel_fill_alloc(f, table->size);
    sel_shape_placement *placement = sel_fill_alloc(f, sizeof *placement);
    sel_fill_table(f, index, table, sel_fill_print(f, "shape:%s", mark->name), data, span);
    if (table == &sel_rotated_table)
        check_axis(f, data, mark->where);
    if (f->mistake_count > before)
        return NULL;
    if (table == &sel_moved_table) {
        sel_placement_move(placement, ((const sel_shape_moved *)data)->by.v);
    } else if (table == &sel_scaled_table) {
        const sel_shape_scaled *scaled = data;
        sel_placement_scale(placement, scaled->factor, scaled->about.v);
    } else {
        const sel_shape_rotated *rotated = data;
        sel_placement_rotate(placement, rotated->angle, rotated->axis.n ? rotated->axis.v : NULL,
                             rotated->about.v);
    }
    return placement;
}

static const sel_shape *fill_placed(sel_filler *f, const sel_slot *slot, int index, sel_mark *mark,
                                    const sel_table *table) {
    lua_State *L = f->L;
    const int top = lua_gettop(L);
    lua_rawgeti(L, index, 1);
    lua_rawgeti(L, index, 2);
    const sel_shape *shape = sel_fill_shape(f, slot, top + 1);
    const int parts = shape ? sel_script_mark(L, top + 1)->parts : 0;
    const bool whole = lua_istable(L, top + 2); /* the script may have changed it */
    const sel_shape_placement *placement = whole ? fill_placement(f, mark, top + 2, table) : NULL;
    lua_settop(L, top);
    if (!whole)
        sel_fill_mistake(f, mark->where, "shape:%s: its table is gone", mark->name);
    if (shape && sel_shape_has_faces(shape)) {
        sel_fill_mistake(f, mark->where, "shape:%s: the faces of the domain stay where they are",
                         mark->name);
        return NULL;
    }
    return shape && placement
               ? shape_keep(f, mark, sel_shape_place(f->arena, shape, placement), parts)
               : NULL;
}

static const sel_shape *fill_marked(sel_filler *f, const sel_slot *slot, int index,
                                    sel_mark *mark) {
    static const char *const without_table[] = {"face", "faces", "rest", NULL};
    const int kind = sel_name_index(without_table, mark->name);
    if (kind == SEL_SHAPE_FACE)
        return fill_face(f, mark, index);
    if (kind >= 0)
        return shape_keep(f, mark, sel_shape_make(f->arena, (sel_shape_kind)kind, NULL), 1);
    static const char *const placed[] = {"moved", "rotated", "scaled", NULL};
    static const sel_table *const placements[] = {&sel_moved_table, &sel_rotated_table,
                                                  &sel_scaled_table};
    const int placement = sel_name_index(placed, mark->name);
    if (placement >= 0)
        return fill_placed(f, slot, index, mark, placements[placement]);
    const sel_table *table = sel_family_find(&sel_shape_family, mark->name);
    return table ? fill_primitive(f, mark, index, table)
                 : shape_fill_operator(f, slot, index, mark);
}

const sel_shape *sel_fill_shape(sel_filler *f, const sel_slot *slot, int index) {
    sel_mark *mark = sel_script_mark(f->L, index);
    if (!mark || strcmp(mark->group, "shape") != 0) {
        sel_fill_wrong(f, slot, index, "must be a shape, as shape.box { ... }");
        return NULL;
    }
    if (is_filled(f, mark))
        return mark->shape;
    if (mark->visiting) {
        sel_fill_mistake(f, mark->where, "a shape is a part of itself");
        return NULL;
    }
    if (f->depth >= MAX_DEPTH) {
        sel_fill_mistake(f, mark->where, "shapes are combined more than %d deep", MAX_DEPTH);
        return NULL;
    }
    luaL_checkstack(f->L, LUA_MINSTACK, "shapes");
    f->depth++;
    const sel_shape *shape = fill_marked(f, slot, index, mark);
    f->depth--;
    return shape;
}
