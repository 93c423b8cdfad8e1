/* rule.c -- functions of cells: their parameters, and their evaluation by Lua in a cell.
 *
 * In Lua a cell is a userdata: c.NAME reads a field, c(dx, dy) is the neighbour at that distance.
 * A cell is valid during the call that it was created for.
 */
#include "lua/functions/functions.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The name of the metatable of cells. */
static const char cell_type[] = "selenite.cell";

typedef struct cell {
    const sel_lua_rule *rule;
    uint64_t call; /* number of the call that it belongs to */
    int at[3];     /* distance from the cell that the rule computes */
} cell;

/* ---- cells in Lua ---- */

static void push_cell(lua_State *L, const sel_lua_rule *rule, const int at[3]) {
    cell *c = lua_newuserdatauv(L, sizeof *c, 0);
    *c = (cell){rule, rule->script->cells, {at[0], at[1], at[2]}};
    luaL_setmetatable(L, cell_type);
}

static const cell *check_cell(lua_State *L) {
    const cell *c = luaL_checkudata(L, 1, cell_type);
    const sel_script *script = sel_script_of(L);
    if (!script->cell || c->call != script->cells)
        luaL_error(L, "this cell belongs to an earlier call");
    return c;
}

/* The number of the field `name`; -1: there is none. */
static int find_field(const sel_lua_rule *rule, const char *name) {
    int k = rule->cells->fields - 1;
    while (k >= 0 && strcmp(rule->cells->field[k].name, name) != 0)
        k--;
    return k;
}

/* Whether the field is a component of the vector `name`: v_x of v. */
static bool is_component(const sel_cell_field *field, const char *name) {
    const size_t length = strlen(name);
    return strlen(field->name) == length + 2 && strncmp(field->name, name, length) == 0 &&
           field->name[length] == '_' && strchr("xyz", field->name[length + 1]);
}

/* "v_x, v_y": the components of `vector`; NULL: all fields, or (`state`) all state fields. */
static const char *list_fields(const sel_cells *cells, const char *vector, bool state,
                               char text[256]) {
    enum { ROOM = 200 };
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < cells->fields && used < ROOM; k++) {
        const sel_cell_field *field = &cells->field[k];
        if (vector ? is_component(field, vector) : field->state || !state)
            used += (size_t)snprintf(text + used, ROOM - used, "%s%.40s", used ? ", " : "",
                                     field->name);
    }
    return used < ROOM ? text : strcat(text, ", ...");
}

const char *sel_rule_unknown(const sel_cells *cells, const char *name, bool state, char text[512]) {
    const sel_cell_field *field = cells->field;
    const char *names[SEL_MOST_CELL_FIELDS + 1] = {NULL};
    char near[256], list[256];
    int count = 0;
    sel_script_suggest(name, names, near);
    for (int k = 0; k < cells->fields; k++)
        if (state && !field[k].state && strcmp(field[k].name, name) == 0) {
            snprintf(text, 512, "%s, which is data: rules only read it", near);
            return text;
        }
    if (*list_fields(cells, name, state, list)) {
        snprintf(text, 512, "%.200s, a vector: name its components, %.200s", near, list);
        return text;
    }
    for (int k = 0; k < cells->fields && count < SEL_MOST_CELL_FIELDS; k++)
        if (!state || field[k].state)
            names[count++] = field[k].name;
    names[count] = NULL;
    sel_script_suggest(name, names, near);
    list_fields(cells, NULL, state, list);
    const bool meant = strstr(near, "; did you mean");
    snprintf(text, 512, "%.200s%s%.200s", near,
             meant   ? ""
             : state ? "; state has "
                     : "; it has ",
             meant ? "" : list);
    return text;
}

/* Pushes an integer or a float, by the type of the field. */
static void push_value(lua_State *L, const sel_cell_field *field, double value) {
    if (field->type != SEL_CELL_REAL && fabs(value) < 0x1p53)
        lua_pushinteger(L, (lua_Integer)value);
    else
        lua_pushnumber(L, value);
}

/* c.NAME */
static int cell_field(lua_State *L) {
    const cell *c = check_cell(L);
    char text[512];
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
    const int k = find_field(c->rule, name);
    if (k < 0)
        return luaL_error(L, "a cell has no field%s",
                          sel_rule_unknown(c->rule->cells, name, false, text));
    const sel_rule_place *at = sel_script_of(L)->cell;
    push_value(L, &c->rule->cells->field[k], at->read(at, k, c->at));
    return 1;
}

/* c(dx, dy[, dz]) */
static int cell_neighbour(lua_State *L) {
    const cell *c = check_cell(L);
    const int dims = c->rule->cells->dims;
    int at[3] = {c->at[0], c->at[1], c->at[2]};
    if (lua_gettop(L) - 1 != dims)
        return luaL_error(L, "a cell takes %d distances: c(dx, dy%s)", dims,
                          dims == 3 ? ", dz" : "");
    for (int axis = 0; axis < dims; axis++) {
        const lua_Integer distance = luaL_checkinteger(L, 2 + axis);
        at[axis] += distance < -99 ? -99 : distance > 99 ? 99 : (int)distance;
        if (at[axis] < -SEL_MOST_REACH || at[axis] > SEL_MOST_REACH)
            return luaL_error(L, "rules reach at most %d cells from the one that they compute",
                              SEL_MOST_REACH);
    }
    push_cell(L, c->rule, at);
    return 1;
}

static int cell_assigned(lua_State *L) {
    return luaL_error(L, "a cell cannot be assigned to; return the new values: "
                         "return { NAME = value }");
}

/* sel.random(k) */
static int random_number(lua_State *L) {
    const sel_script *script = sel_script_of(L);
    const sel_places *at = script->places;
    const size_t i = script->place;
    if (!script->cell && !(at && at->random))
        return luaL_error(L, "sel.random may be called in rules and in `initial` of sel.rule only");
    const lua_Integer k = luaL_checkinteger(L, 1);
    const double place[] = {script->cell ? 0 : at->x[i], script->cell ? 0 : at->y[i],
                            script->cell || !at->z ? 0 : at->z[i]};
    lua_pushnumber(L, script->cell ? script->cell->random(script->cell, k)
                                   : at->random->value(at->random, place, k));
    return 1;
}

void sel_rule_open(lua_State *L) {
    static const luaL_Reg methods[] = {{"__index", cell_field},
                                       {"__call", cell_neighbour},
                                       {"__newindex", cell_assigned},
                                       {NULL, NULL}};
    luaL_newmetatable(L, cell_type);
    luaL_setfuncs(L, methods, 0);
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_pushcfunction(L, random_number);
    lua_setfield(L, -2, "random");
    sel_read_library(L, "random");
}

/* ---- evaluation by Lua ---- */

static void push_argument(lua_State *L, const sel_lua_rule *rule, int which,
                          const sel_rule_place *at) {
    static const int here[3] = {0, 0, 0};
    if (which == SEL_RULE_CELL)
        push_cell(L, rule, here);
    else
        lua_pushnumber(L, which == SEL_ARGUMENT_DT  ? at->dt
                          : which < SEL_ARGUMENT_T  ? at->place[which]
                          : which == SEL_ARGUMENT_T ? at->t
                                                    : at->controls[which - SEL_ARGUMENT_CONTROL]);
}

/* Stores the number at the top of the stack in out[k]: of the field `name`; NULL: a plain number.
 */
static sel_status take_value(const sel_lua_rule *rule, int k, const char *name, double *out,
                             sel_error *error) {
    lua_State *L = rule->script->L;
    char found[80];
    if (lua_type(L, -1) != LUA_TNUMBER)
        return sel_fail_at(error, rule->base.where, "%s: function returned %s%s%s", rule->label,
                           sel_script_value_text(L, -1, found), name ? " as " : "",
                           name ? name : "");
    out[k] = lua_tonumber(L, -1);
    /* The solver reports NaN and numbers that are too large for the type. */
    if (name && rule->cells->field[k].type != SEL_CELL_REAL && isfinite(out[k]) &&
        out[k] != floor(out[k]))
        return sel_fail_at(error, rule->base.where,
                           "%s: function returned %s for %s, which holds whole numbers",
                           rule->label, sel_script_value_text(L, -1, found), name);
    return SEL_OK;
}

/* Stores the fields of the table at the top of the stack. */
static sel_status take_fields(const sel_lua_rule *rule, double *out, sel_error *error) {
    lua_State *L = rule->script->L;
    char text[512];
    sel_status status = SEL_OK;
    const int table = lua_gettop(L);
    for (lua_pushnil(L); !status && lua_next(L, table); lua_pop(L, 1)) {
        const char *name = sel_script_key(L, -2);
        const int k = name ? find_field(rule, name) : -1;
        if (k < 0 || !rule->cells->field[k].state)
            return sel_fail_at(
                error, rule->base.where, "%s: function returned a value of no state field:%s",
                rule->label,
                sel_rule_unknown(rule->cells, name ? name : luaL_typename(L, -2), true, text));
        status = take_value(rule, k, name, out, error);
    }
    return status;
}

/* The number of the only state field; -1: there are several. */
static int only_field(const sel_lua_rule *rule) {
    int found = -1, count = 0;
    for (int k = 0; k < rule->cells->fields; k++)
        if (rule->cells->field[k].state) {
            found = k;
            count++;
        }
    return count == 1 ? found : -1;
}

/* Stores the results of a call, which are above `base` on the stack, in out[]: by state field, or
 * for a rule that returns numbers by position. */
static sel_status rule_take_results(const sel_lua_rule *rule, int base, double *out,
                                    sel_error *error) {
    lua_State *L = rule->script->L;
    const int count = lua_gettop(L) - base, only = only_field(rule);
    sel_status status = SEL_OK;
    if (count == 0)
        return sel_fail_at(error, rule->base.where, "%s: function returned nothing", rule->label);
    if (rule->returns == SEL_RETURNS_FIELDS) {
        lua_settop(L, base + 1);
        return lua_istable(L, -1) ? take_fields(rule, out, error)
               : only >= 0
                   ? take_value(rule, only, rule->cells->field[only].name, out, error)
                   : sel_fail_at(error, rule->base.where,
                                 "%s: function must return { NAME = value, ... }", rule->label);
    }
    for (int k = count - 1; k >= 0 && !status; k--, lua_pop(L, 1))
        status = k < SEL_MOST_NUMBERS ? take_value(rule, k, NULL, out, error) : SEL_OK;
    return status;
}

static sel_status rule_call_lua(const sel_lua_rule *rule, const sel_rule_place *at, double *out,
                                sel_error *error) {
    sel_script *script = rule->script;
    lua_State *L = script->L;
    const int base = lua_gettop(L);
    sel_limits_start(script, SEL_FUNCTION);
    if (sel_limits_check(script, rule->base.where))
        return SEL_BAD_SCENARIO;
    script->cell = at;
    script->cells++;
    lua_rawgeti(L, LUA_REGISTRYINDEX, rule->reference);
    for (int i = 0; i < rule->count; i++)
        push_argument(L, rule, rule->arguments[i], at);
    const int called = lua_pcall(L, rule->count, LUA_MULTRET, 0);
    script->cell = NULL;
    sel_limits_stop(script);
    char suffix[320];
    snprintf(suffix, sizeof suffix, " (%s, in the cell at x=%.6g, y=%.6g, t=%.6g)", rule->label,
             at->place[0], at->place[1], at->t);
    sel_status status = called == LUA_OK ? rule_take_results(rule, base, out, error)
                                         : sel_limits_report(script, rule->base.where, suffix);
    lua_settop(L, base);
    return status;
}

/* sel_rule_source.call */
static sel_status rule_call(const sel_rule_source *self, const sel_rule_place *at, double *out,
                            sel_error *error) {
    const sel_lua_rule *rule = self->data;
    sel_outer outer;
    sel_status status =
        sel_script_enter(rule->script, self->where, rule->label, rule->count, &outer, error);
    if (!status) {
        status = rule_call_lua(rule, at, out, error);
        sel_script_leave(rule->script, &outer);
    }
    return status;
}

/* ---- reading ---- */

void sel_rule_read(sel_lua_rule *rule, const sel_cells *cells) {
    sel_arena *arena = rule->script->arena;
    const sel_rule *graph = NULL;
    sel_error error = {.status = SEL_OK};
    char why[SEL_RULE_WHY] = "";
    rule->cells = cells;
    sel_status status = sel_read_rule(rule, &graph, why, &error);
    if (graph && !sel_rule_compare(rule, graph, why))
        graph = NULL;
    if (graph && rule->mistaken)
        status = sel_fail_at(&error, rule->doubted, "%s: %s", rule->label, rule->doubt);
    sel_error *mistake = status ? sel_arena_alloc(arena, sizeof *mistake) : NULL;
    if (mistake)
        *mistake = error;
    rule->base.rule = status ? NULL : graph;
    rule->base.why = graph ? NULL : sel_arena_copy(arena, why);
    rule->base.mistake = mistake;
}

void sel_rules_loaded(sel_script *script) {
    for (sel_lua_rule *r = script->rules; r; r = r->next)
        if (!r->cells && r->simulation && r->simulation->cells)
            sel_rule_read(r, r->simulation->cells);
}

const sel_rule_source *sel_rule_source_create(sel_script *script, int index,
                                              const sel_function_needs *needs,
                                              const sel_simulation *simulation,
                                              sel_rule_returns returns, sel_where where,
                                              char reason[512]) {
    lua_State *L = script->L;
    lua_Debug info;
    lua_pushvalue(L, index);
    lua_getinfo(L, ">u", &info);
    if (lua_iscfunction(L, index) || info.isvararg) {
        snprintf(reason, 512, "name the parameters: function(c, t, dt) ... end");
        return NULL;
    }
    int *arguments = sel_function_arguments(script, index, needs, true, info.nparams, reason);
    if (!arguments)
        return NULL;
    sel_lua_rule *rule = sel_script_alloc(script, "the scenario", sizeof *rule);
    *rule = (sel_lua_rule){.base = {.where = where, .call = rule_call, .data = rule},
                           .script = script,
                           .label = needs->label,
                           .controls = needs->controls,
                           .simulation = simulation,
                           .returns = returns,
                           .count = info.nparams,
                           .arguments = arguments};
    lua_pushvalue(L, index);
    rule->reference = luaL_ref(L, LUA_REGISTRYINDEX);
    *script->rules_end = rule;
    script->rules_end = &rule->next;
    return &rule->base;
}
