/* fill_value.c -- fill one member of a C struct from one Lua value: numbers, strings, points,
 * quantities,
 * functions. */
#include "lua/tables/tables.h"
#include <math.h>
#include <string.h>

/* Returns `right`; if it is false, notes that the value must be `what`. */
static bool fill_check(sel_filler *f, const sel_slot *slot, int index, bool right,
                       const char *what) {
    if (!right)
        sel_fill_wrong(f, slot, index, "must be %s", what);
    return right;
}

/* Whether the number's sign suits the field (SEL_POSITIVE, SEL_NOT_NEGATIVE); notes a mistake. */
static bool check_sign(sel_filler *f, const sel_slot *slot, int index) {
    const double value = lua_tonumber(f->L, index);
    return fill_check(f, slot, index, !(slot->field->flags & SEL_POSITIVE) || value > 0,
                      "greater than 0") &&
           fill_check(f, slot, index, !(slot->field->flags & SEL_NOT_NEGATIVE) || value >= 0,
                      "at least 0");
}

static bool fill_read_number(sel_filler *f, const sel_slot *slot, int index, double *to) {
    const bool number = lua_type(f->L, index) == LUA_TNUMBER;
    const double value = lua_tonumber(f->L, index);
    if (!fill_check(f, slot, index, number, "a number") ||
        !fill_check(f, slot, index, isfinite(value), "a finite number") ||
        !check_sign(f, slot, index))
        return false;
    *to = value;
    return true;
}

/* Accepts a float that is whole up to the round-off of a division, L / dx. */
static bool read_whole(sel_filler *f, const sel_slot *slot, int index, int64_t *to) {
    const bool number = lua_type(f->L, index) == LUA_TNUMBER;
    const double value = number ? lua_tonumber(f->L, index) : 0;
    if (number && lua_isinteger(f->L, index)) {
        *to = lua_tointeger(f->L, index);
        return true;
    }
    if (number && sel_units_whole(value, to))
        return true;
    if (number && fabs(value) < 0x1p53) {
        char digits[40]; /* enough to differ from an integer */
        snprintf(digits, sizeof digits, "%.15g", value);
        if (!strchr(digits, '.'))
            snprintf(digits, sizeof digits, "%.17g", value);
        sel_fill_wrong(f, slot, 0,
                       "must be a whole number, got %s; math.floor(... + 0.5) rounds it", digits);
    } else {
        sel_fill_wrong(f, slot, index, "must be a whole number");
    }
    return false;
}

static void fill_int(sel_filler *f, const sel_slot *slot, int index, void *member) {
    int64_t value;
    if (read_whole(f, slot, index, &value) && check_sign(f, slot, index))
        *(int64_t *)member = value;
}

static void fill_number(sel_filler *f, const sel_slot *slot, int index, void *member) {
    fill_read_number(f, slot, index, member);
}

/* A copy of the string at `index`; NULL after noting a mistake. */
static const char *read_string(sel_filler *f, const sel_slot *slot, int index) {
    size_t length;
    if (!fill_check(f, slot, index, lua_type(f->L, index) == LUA_TSTRING, "a string"))
        return NULL;
    const char *text = lua_tolstring(f->L, index, &length);
    const bool whole = strlen(text) == length;
    if (!whole || !sel_is_plain(text)) {
        sel_fill_wrong(f, slot, index, "must not hold %s",
                       whole ? "control characters" : "a zero byte");
        return NULL;
    }
    return memcpy(sel_fill_alloc(f, length + 1), text, length + 1);
}

/* The index in `choices`; -1 after noting a mistake. */
static int read_choice(sel_filler *f, const sel_slot *slot, int index) {
    sel_table_field one = *slot->field; /* of a list of choices */
    const bool string = lua_type(f->L, index) == LUA_TSTRING;
    const int choice = string ? sel_name_index(one.choices, lua_tostring(f->L, index)) : -1;
    char kind[256];
    one.kind = SEL_KIND_CHOICE;
    sel_kind_text(&one, kind, sizeof kind);
    fill_check(f, slot, index, choice >= 0, kind);
    return choice;
}

/* Fills items 1 to n of the list at `index`; false after noting a mistake. */
static bool fill_each(sel_filler *f, const sel_slot *slot, int index, int n, sel_fill_kind *fill,
                      void *to, size_t size) {
    const int before = f->mistake_count;
    sel_slot item = *slot;
    for (item.item = 1; item.item <= n; item.item++) {
        lua_rawgeti(f->L, index, item.item);
        fill(f, &item, lua_gettop(f->L), (char *)to + (size_t)(item.item - 1) * size);
        lua_pop(f->L, 1);
    }
    return n >= 0 && f->mistake_count == before;
}

static void fill_flag(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const int bit = read_choice(f, slot, index);
    *(unsigned *)member |= bit >= 0 ? 1u << bit : 0;
}

static void fill_flags(sel_filler *f, const sel_slot *slot, int index, void *member) {
    fill_each(f, slot, index, sel_fill_list_length(f, slot, index), fill_flag, member, 0);
}

/* Whether n numbers suit `dims` dimensions (0: not known, 2 or 3); notes a mistake. */
static bool check_dims(sel_filler *f, const sel_slot *slot, int n, int dims, const char *what) {
    if (dims ? n == dims : n == 2 || n == 3)
        return true;
    const char *needed = dims == 2 ? "2" : dims == 3 ? "3" : "2 or 3";
    sel_fill_wrong(f, slot, 0, "must have %s %s, not %d", needed, what, n);
    return false;
}

static void fill_cells(sel_filler *f, const sel_slot *slot, int index, void *member) {
    int64_t *to = member;
    if (read_whole(f, slot, index, to) && *to < 1)
        sel_fill_wrong(f, slot, index, "must be at least 1");
}

static void fill_size(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_ints *to = member;
    int n = sel_fill_list_length(f, slot, index);
    if (n >= 0 && check_dims(f, slot, n, 0, "numbers"))
        to->n = fill_each(f, slot, index, n, fill_cells, to->v, sizeof *to->v) ? n : 0;
}

/* Reads 2 or 3 numbers: one per dimension of the domain if that is known. */
static void read_point(sel_filler *f, const sel_slot *slot, int index, const char *what,
                       sel_point *to) {
    int n = sel_fill_list_length(f, slot, index);
    int dims = slot->field->flags & SEL_ANY_DIMS ? 0 : f->dims;
    if (n >= 0 && check_dims(f, slot, n, dims, what))
        to->n = fill_each(f, slot, index, n, fill_number, to->v, sizeof *to->v) ? n : 0;
}

static void fill_point(sel_filler *f, const sel_slot *slot, int index, void *member) {
    read_point(f, slot, index, "coordinates", member);
}

static void fill_spacing(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_point *to = member;
    if (lua_istable(f->L, index)) {
        read_point(f, slot, index, "sides", to);
    } else if (fill_check(f, slot, index, lua_type(f->L, index) == LUA_TNUMBER,
                          "a number, or a list of one per axis")) {
        to->n = 1;
        fill_number(f, slot, index, to->v);
    }
}

/* The type of an item of the list at `index`. */
static int item_type(lua_State *L, int index, int item) {
    int type = lua_rawgeti(L, index, item);
    lua_pop(L, 1);
    return type;
}

/* "{ { 0, 1 }, { 2, 3 } }": the numbers of the list at `index` written as points. */
static const char *points_text(sel_filler *f, int index, int dims) {
    const char *text = "";
    for (int i = 1; i <= 2 * dims; i++) {
        char number[32];
        lua_rawgeti(f->L, index, i);
        snprintf(number, sizeof number, "%.14g", lua_tonumber(f->L, -1));
        lua_pop(f->L, 1);
        text = sel_fill_print(f, "%s%s%s", text,
                              i == 1          ? "{ "
                              : i == dims + 1 ? " }, { "
                                              : ", ",
                              number);
    }
    return sel_fill_print(f, "{ %s }%s }", text,
                          (int)lua_rawlen(f->L, index) > 2 * dims ? ", ..." : "");
}

/* Whether the list has numbers where points were meant, as four for two points; notes the mistake.
 */
static bool are_points_without_braces(sel_filler *f, const sel_slot *slot, int index) {
    const int dims = f->dims ? f->dims : 2, n = (int)lua_rawlen(f->L, index);
    bool numbers = n > 3 && n % dims == 0 && n >= 2 * dims;
    for (int i = 1; i <= n && numbers; i++)
        numbers = item_type(f->L, index, i) == LUA_TNUMBER;
    if (numbers)
        sel_fill_wrong(f, slot, 0, "needs braces around each point: %s",
                       points_text(f, index, dims));
    return numbers;
}

static void fill_points(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_points *to = member;
    lua_State *L = f->L;
    bool single = lua_istable(L, index) && item_type(L, index, 1) == LUA_TNUMBER;
    if (single && are_points_without_braces(f, slot, index))
        return;
    int n = single ? 1 : sel_fill_list_length(f, slot, index);
    if (n < 0)
        return;
    to->v = sel_fill_alloc(f, (size_t)n * sizeof *to->v);
    to->n = n;
    if (single)
        fill_point(f, slot, index, to->v);
    else
        sel_fill_items(f, slot, index, 1, n, fill_point, to->v, sizeof *to->v);
}

static void fill_string(sel_filler *f, const sel_slot *slot, int index, void *member) {
    *(const char **)member = read_string(f, slot, index);
}

static void fill_names(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_names *to = member;
    bool single = !lua_istable(f->L, index);
    int n = single ? 1 : sel_fill_list_length(f, slot, index);
    if (n < 0)
        return;
    to->n = n;
    to->v = sel_fill_alloc(f, (size_t)n * sizeof *to->v);
    if (single)
        fill_string(f, slot, index, to->v);
    else
        fill_each(f, slot, index, n, fill_string, to->v, sizeof *to->v);
}

/* The function at `index`. NULL after noting a mistake; and without a simulation, since a function
 * may name its controls. */
static const sel_function *fill_read_function(sel_filler *f, const sel_slot *slot, int index,
                                              int results, bool predicate) {
    if (!f->solver)
        return NULL;
    char reason[512];
    const char *label = sel_fill_print(f, "%s%s%s", slot->label, slot->positional ? "" : ".",
                                       slot->positional ? "" : slot->field->name);
    sel_function_needs needs = {label, results, f->dims, predicate, f->controls, f->common};
    sel_where where = sel_span_where(slot->span);
    const sel_function *function = sel_function_create(f->script, index, &needs, where, reason);
    if (!function)
        sel_fill_mistake(f, where, "%s: %s", label, reason);
    return function;
}

/* Fills a component of a quantity: a number, a function with one result, or data. */
static void fill_part(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_quantity *to = member;
    const int part = slot->item ? slot->item - 1 : 0;
    if (lua_isfunction(f->L, index))
        to->part[part].function = fill_read_function(f, slot, index, 1, false);
    else if (sel_fill_is_data(f->L, index))
        to->part[part].function = sel_fill_data(f, slot, index);
    else if (fill_check(f, slot, index, lua_type(f->L, index) == LUA_TNUMBER,
                        "a number or a function"))
        fill_read_number(f, slot, index, &to->part[part].constant);
}

void sel_fill_quantity(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_quantity *to = member;
    to->components = 1;
    fill_part(f, slot, index, to);
}

static void read_whole_vector(sel_filler *f, const sel_slot *slot, int index, sel_quantity *to) {
    to->components = f->dims ? f->dims : 2;
    to->whole = fill_read_function(f, slot, index, to->components, false);
}

static void fill_vector(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_quantity *to = member;
    lua_State *L = f->L;
    if (slot->field->flags & SEL_ONE_FOR_ALL &&
        (!lua_istable(L, index) || sel_fill_is_data(L, index))) {
        sel_fill_quantity(f, slot, index, member);
        return;
    }
    if (lua_isfunction(L, index)) {
        read_whole_vector(f, slot, index, to);
        return;
    }
    int n = sel_fill_list_length(f, slot, index);
    if (n < 0)
        return;
    const bool one_for_all = slot->field->flags & SEL_ONE_FOR_ALL && slot->positional;
    if (n == 1 && (one_for_all || item_type(L, index, 1) == LUA_TFUNCTION)) {
        lua_rawgeti(L, index, 1);
        if (one_for_all)
            sel_fill_quantity(f, slot, lua_gettop(L), member);
        else
            read_whole_vector(f, slot, lua_gettop(L), to);
        lua_pop(L, 1);
        return;
    }
    if (!check_dims(f, slot, n, f->dims, "components"))
        return;
    to->components = n;
    fill_each(f, slot, index, n, fill_part, to, 0);
}

static void fill_values(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_values *to = member;
    int n = sel_fill_list_length(f, slot, index);
    if (n < 0)
        return;
    to->v = sel_fill_alloc(f, (size_t)n * sizeof *to->v);
    to->n = n;
    sel_slot item = *slot;
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(f->L, index, i);
        item.item = i;
        bool right = fill_read_number(f, &item, lua_gettop(f->L), &to->v[i - 1]);
        lua_pop(f->L, 1);
        if (!right)
            return; /* one mistake per list */
    }
}

/* A path is relative to the script that contains the table; the path of a parameter is not. */
static void fill_path(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const char *path = read_string(f, slot, index);
    const sel_source *source = slot->span.source;
    fill_check(f, slot, index, !path || *path, "the path of a file");
    bool whole = !path || *path == '/' || !source || sel_params_is_path(f->L, index);
    *(const char **)member = whole ? path : sel_fill_print(f, "%s%s", source->directory, path);
}

static void fill_key(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_key *to = member;
    int whole = 0;
    if (lua_type(f->L, index) == LUA_TSTRING) {
        to->name = read_string(f, slot, index);
        return;
    }
    if (lua_type(f->L, index) == LUA_TNUMBER)
        to->number = lua_tointegerx(f->L, index, &whole);
    fill_check(f, slot, index, whole && to->number >= 1, "a name, or a number from 1");
}

static void fill_units(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const sel_mark *mark = sel_script_mark(f->L, index);
    if (fill_check(f, slot, index, mark && mark->units, "made by sel.units { ... }"))
        *(const sel_units **)member = mark->units;
}

static void fill_raster(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const sel_lookup *lookup = sel_lookup_at(f->L, index);
    if (fill_check(f, slot, index, sel_raster_of(lookup), "a raster, as sel.raster { ... }"))
        *(const sel_lookup **)member = lookup;
}

static void fill_predicate(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const bool right = lua_isfunction(f->L, index);
    if (fill_check(f, slot, index, right, "a function that returns true or false"))
        *(const sel_function **)member = fill_read_function(f, slot, index, 1, true);
}

static void fill_callback(sel_filler *f, const sel_slot *slot, int index, void *member) {
    if (fill_check(f, slot, index, lua_isfunction(f->L, index), "a function(run)"))
        *(const sel_callback **)member = sel_hook_callback(
            f->script, index, sel_fill_print(f, "%s", slot->label), sel_span_where(slot->span));
}

/* The function of cells at `index`; NULL after noting a mistake. */
static const sel_rule_source *read_rule(sel_filler *f, const sel_slot *slot, int index) {
    char reason[512];
    const sel_function_needs needs = {
        .label = sel_fill_print(f, "%s.%s", slot->label, slot->field->name),
        .dims = f->dims,
        .controls = f->controls,
    };
    const sel_where where = sel_function_where(f->script, index, sel_span_where(slot->span));
    const sel_rule_source *source = sel_rule_source_create(
        f->script, index, &needs, f->simulation,
        f->returns_fields ? SEL_RETURNS_FIELDS : SEL_RETURNS_NUMBERS, where, reason);
    if (!source)
        sel_fill_mistake(f, where, "%s: %s", needs.label, reason);
    return source;
}

static void fill_rule(sel_filler *f, const sel_slot *slot, int index, void *member) {
    if (fill_check(f, slot, index, lua_isfunction(f->L, index), "a function"))
        *(const struct sel_rule_source **)member = read_rule(f, slot, index);
}

/* A function of cells that returns fields, or a list of them. */
static void fill_rules(sel_filler *f, const sel_slot *slot, int index, void *member) {
    sel_named_rules *to = member;
    sel_table_field field = *slot->field;
    const sel_slot rule = {&field, slot->label, slot->span, slot->positional, 0};
    const bool single = lua_isfunction(f->L, index);
    const int n = single ? 1 : sel_fill_list_length(f, slot, index);
    if (n < 0)
        return;
    field.kind = SEL_KIND_RULE;
    to->n = n;
    to->v = sel_fill_alloc(f, (size_t)n * sizeof *to->v);
    f->returns_fields = true;
    if (single)
        sel_fill_value(f, &rule, index, &to->v->source);
    else
        sel_fill_items(f, &rule, index, 1, n, sel_fill_value, &to->v->source, sizeof *to->v);
    f->returns_fields = false;
}

static void fill_bool(sel_filler *f, const sel_slot *slot, int index, void *member) {
    if (fill_check(f, slot, index, lua_isboolean(f->L, index), "true or false"))
        *(bool *)member = lua_toboolean(f->L, index);
}

static void fill_choice(sel_filler *f, const sel_slot *slot, int index, void *member) {
    const int choice = read_choice(f, slot, index);
    if (choice >= 0)
        *(int *)member = choice;
}

static void fill_shape(sel_filler *f, const sel_slot *slot, int index, void *member) {
    *(const sel_shape **)member = sel_fill_shape(f, slot, index);
}

void sel_fill_value(sel_filler *f, const sel_slot *slot, int index, void *member) {
    static sel_fill_kind *const kinds[] = {
        [SEL_KIND_BOOL] = fill_bool,           [SEL_KIND_INT] = fill_int,
        [SEL_KIND_NUMBER] = fill_number,       [SEL_KIND_STRING] = fill_string,
        [SEL_KIND_FILE] = fill_path,           [SEL_KIND_KEY] = fill_key,
        [SEL_KIND_VALUES] = fill_values,       [SEL_KIND_UNITS] = fill_units,
        [SEL_KIND_RASTER] = fill_raster,       [SEL_KIND_CHOICE] = fill_choice,
        [SEL_KIND_FLAGS] = fill_flags,         [SEL_KIND_SIZE] = fill_size,
        [SEL_KIND_POINT] = fill_point,         [SEL_KIND_POINTS] = fill_points,
        [SEL_KIND_NAMES] = fill_names,         [SEL_KIND_NUMBERS] = sel_fill_map,
        [SEL_KIND_SPACING] = fill_spacing,     [SEL_KIND_QUANTITY] = sel_fill_quantity,
        [SEL_KIND_VECTOR] = fill_vector,       [SEL_KIND_PREDICATE] = fill_predicate,
        [SEL_KIND_CALLBACK] = fill_callback,   [SEL_KIND_TABLE] = sel_fill_nested,
        [SEL_KIND_LIST] = sel_fill_list,       [SEL_KIND_VARIANT] = sel_fill_variant,
        [SEL_KIND_VARIANTS] = sel_fill_list,   [SEL_KIND_SHAPE] = fill_shape,
        [SEL_KIND_RULE] = fill_rule,           [SEL_KIND_NAMED_CHOICES] = sel_fill_map,
        [SEL_KIND_RULES] = fill_rules,         [SEL_KIND_NAMED_QUANTITIES] = sel_fill_map,
        [SEL_KIND_NAMED_RULES] = sel_fill_map, [SEL_KIND_NAMED_VARIANTS] = sel_fill_variants,
    };
    kinds[slot->field->kind](f, slot, index, member);
    if (slot->field->flags & SEL_OF_PLACE && sel_quantity_depends(member) & ~(unsigned)SEL_ON_PLACE)
        sel_fill_wrong(f, slot, 0, "may depend on place only");
}
