/* read.c -- the reader of functions: a Lua function becomes a graph of operations.
 *
 * The reader is a symbolic executor of Lua 5.4 bytecode with path merging. It runs the bytecode on
 * symbols, which are nodes of a graph, in place of numbers. At a branch that depends on a symbol
 * the execution forks into two paths, each with its condition. Where the paths meet again they are
 * merged, and a variable with two values becomes a SELECT node.
 *
 *      function(x)                  bytecode              graph
 *        local s = 2                LOADI  s 2
 *        if x < 1 then s = 3 end    LTI    x 1           x   1
 *        return s * x               LOADI  s 3            \ /
 *      end                          MUL    s x             LT   3   2
 *                                   RETURN                   \  |  /
 *                                                             SELECT   x
 *                                                                 \   /
 *                                                                  MUL
 *
 *      Lua function -> read_code.lua          decodes the dump of the function
 *                   -> read_states.lua        forks, runs and merges states
 *                      read_instructions.lua  executes one instruction on a state
 *                      read_operators.lua     operators, indexing, assignment
 *                      read_library.lua       calls of library functions, results
 *                      read_values.lua        symbols, choices, path conditions
 *                   -> read.lua               entry points; returns the nodes of the results
 *                   -> read.c                 sel_program (a function of place) or sel_rule
 *
 * A second result is the failure node: it is true where Lua would raise an error, or where the
 * graph may differ from Lua. There Lua evaluates the function. A function that the reader refuses
 * is evaluated by Lua everywhere. The Lua files build nodes by the functions below.
 */
#include "lua/functions/functions.h"
#include <stdio.h>
#include <string.h>
#include "read_code_lua.h"
#include "read_instructions_lua.h"
#include "read_library_lua.h"
#include "read_lua.h"
#include "read_operators_lua.h"
#include "read_states_lua.h"
#include "read_values_lua.h"

#if LUA_VERSION_NUM != 504
#error "read_code.lua and read_instructions.lua are written for the bytecode of Lua 5.4"
#endif

enum { MAX_NODES = 20000 };

/* Its address is the key of `V` in Lua's registry: the table that the reader's files share. */
static const char reader_key;

static sel_builder *builder_of(lua_State *L) {
    sel_builder *builder = sel_script_of(L)->reading;
    if (!builder)
        luaL_error(L, "no function is read");
    return builder;
}

/* ---- nodes: functions for Lua, `name(arguments) -> results` ---- */

/* A negative `node` means that the graph is full: the reading is refused. */
static int push_node(lua_State *L, int node) {
    if (node < 0) {
        lua_createtable(L, 0, 1);
        lua_pushfstring(L, "it takes more than %d operations", MAX_NODES);
        lua_setfield(L, -2, "text");
        return lua_error(L);
    }
    lua_pushinteger(L, node);
    return 1;
}

/* The integer at `index`, from `low` to `high`; any other value is an error, since it would index
 * beyond an array. */
static int take_whole(lua_State *L, int index, const char *what, int low, int high) {
    const lua_Integer value = lua_isinteger(L, index) ? lua_tointeger(L, index) : (lua_Integer)-1;
    if (!lua_isinteger(L, index) || value < low || value > high) {
        luaL_error(L, "the reader of functions gave no %s", what);
        return low;
    }
    return (int)value;
}

static int take_node(lua_State *L, int index) {
    return take_whole(L, index, "node", 0, sel_builder_count(builder_of(L)) - 1);
}

static double take_number(lua_State *L, int index) {
    luaL_checktype(L, index, LUA_TNUMBER);
    return lua_tonumber(L, index);
}

/* build(op, a, b, c) -> node; surplus operands are ignored. */
static int reader_build(lua_State *L) {
    const sel_rule_node n = {.op = take_whole(L, 1, "operation", 0, SEL_RULE_SHR)};
    int operand[3] = {0};
    if (n.op >= SEL_OP_COUNT && n.op < SEL_RULE_RANDOM)
        return luaL_error(L, "the reader of functions gave no operation");
    for (int i = 0; i < sel_rule_operands(&n); i++)
        operand[i] = take_node(L, 2 + i);
    return push_node(L, sel_build(builder_of(L), n.op, operand[0], operand[1], operand[2]));
}

/* constant(number) -> node */
static int reader_constant(lua_State *L) {
    return push_node(L, sel_build_constant(builder_of(L), take_number(L, 1)));
}

/* known(node) -> the value of a constant; nil: the node is none */
static int reader_known(lua_State *L) {
    double value;
    if (!sel_builder_constant(builder_of(L), take_node(L, 1), &value))
        return 0;
    lua_pushnumber(L, value);
    return 1;
}

/* parts(node) -> operation, three operands */
static int reader_parts(lua_State *L) {
    const sel_rule_node *n = sel_builder_node(builder_of(L), take_node(L, 1));
    lua_pushinteger(L, n->op);
    for (int i = 0; i < 3; i++)
        lua_pushinteger(L, n->operand[i]);
    return 4;
}

/* bounds(node, low, high): the node's values lie in this interval. */
static int reader_bounds(lua_State *L) {
    sel_builder_bounds(builder_of(L), take_node(L, 1), take_number(L, 2), take_number(L, 3));
    return 0;
}

/* read(field, dx, dy, dz) -> node: the field in the cell at that distance */
static int reader_field(lua_State *L) {
    int at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = take_whole(L, 2 + axis, "distance", -SEL_MOST_REACH, SEL_MOST_REACH);
    const int field = take_whole(L, 1, "field", 0, sel_script_of(L)->reading_fields - 1);
    return push_node(L, sel_build_read(builder_of(L), field, at));
}

/* look_up(what, arguments ...) -> node. `what`: a series, a raster, or the function sel.noise. */
static int reader_look_up(lua_State *L) {
    const sel_lookup *found = sel_lookup_at(L, 1), *lookup = found ? found : &sel_noise_lookup;
    const int given = lua_gettop(L) - 1;
    int arguments[SEL_LOOKUP_ARGUMENTS] = {0};
    if (!found && !lua_iscfunction(L, 1))
        return luaL_error(L, "it calls a %s value", luaL_typename(L, 1));
    if (found ? given != lookup->arguments : given < 2 || given > lookup->arguments)
        return luaL_error(L, "%s takes %d arguments, not %d", lookup->name, lookup->arguments,
                          given);
    for (int i = 0; i < lookup->arguments; i++)
        arguments[i] = i < given ? take_node(L, 2 + i) : sel_build_constant(builder_of(L), 0);
    return push_node(L, sel_build_lookup(builder_of(L), lookup, arguments));
}

/* is_look_up(value) -> whether it is a series or a raster */
static int reader_is_look_up(lua_State *L) {
    lua_pushboolean(L, sel_lookup_at(L, 1) != NULL);
    return 1;
}

/* ---- functions ---- */

/* function_name(chunk, line) -> the name of the function that begins on that line; nil: it has no
 * name, or several functions begin there. */
static int reader_function_name(lua_State *L) {
    sel_script *script = sel_script_of(L);
    sel_source *source = sel_script_source(script, luaL_checkstring(L, 1));
    const sel_token *name = NULL;
    int found = 0;
    if (!source || !sel_source_tokenize(script->arena, source))
        return 0;
    for (int i = 0; i < source->token_count; i++) {
        if (source->tokens[i].line != lua_tointeger(L, 2) || !sel_token_is(source, i, "function"))
            continue;
        int at = i + 1;
        while (sel_token_is(source, at + 1, ".") || sel_token_is(source, at + 1, ":"))
            at += 2;
        at = !sel_token_is(source, i + 1, "(") ? at : sel_token_is(source, i - 1, "=") ? i - 2 : -1;
        name = at >= 0 ? &source->tokens[at] : NULL;
        found++;
    }
    if (found != 1 || !name)
        return 0;
    lua_pushlstring(L, source->text + name->start, name->length);
    return 1;
}

/* kind_of(f) -> "C", "library" (Selenite's own Lua code) or "script" */
static int reader_kind_of(lua_State *L) {
    lua_Debug info;
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_getinfo(L, ">S", &info);
    lua_pushstring(L, *info.what == 'C'                       ? "C"
                      : strcmp(info.source, "=selenite") == 0 ? "library"
                                                              : "script");
    return 1;
}

/* getupvalue(f, number) -> the value of an upvalue of a Lua function. Refuses C functions, whose
 * upvalues do not belong to the script. */
static int reader_getupvalue(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_argcheck(L, !lua_iscfunction(L, 1), 1, "function of Lua expected");
    return lua_getupvalue(L, 1, take_whole(L, 2, "variable", 1, UINT8_MAX)) ? 1 : 0;
}

/* getmetatable(value) -> its metatable, even where __metatable hides it; or nil */
static int reader_getmetatable(lua_State *L) {
    luaL_checkany(L, 1);
    if (!lua_getmetatable(L, 1))
        lua_pushnil(L);
    return 1;
}

/* is_late() -> whether the time limit of the reading has passed */
static int reader_is_late(lua_State *L) {
    lua_pushboolean(L, sel_limits_passed(sel_script_of(L)));
    return 1;
}

/* ---- opening ---- */

static void push_operations(lua_State *L) {
    static const struct {
        const char *name;
        int op;
    } operations[] = {
#define OPERATION(name, operands, value) {#name, SEL_OP_##name},
        SEL_PROGRAM_OPS(OPERATION)
#undef OPERATION
            {"RANDOM", SEL_RULE_RANDOM},
        {"BAND", SEL_RULE_BAND},
        {"BOR", SEL_RULE_BOR},
        {"BXOR", SEL_RULE_BXOR},
        {"BNOT", SEL_RULE_BNOT},
        {"SHL", SEL_RULE_SHL},
        {"SHR", SEL_RULE_SHR}};
    lua_newtable(L);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        lua_pushinteger(L, operations[i].op);
        lua_setfield(L, -2, operations[i].name);
    }
}

void sel_read_open(lua_State *L) {
    static const struct {
        const unsigned char *text;
        size_t length;
    } texts[] = {{read_values_lua, sizeof read_values_lua},
                 {read_operators_lua, sizeof read_operators_lua},
                 {read_library_lua, sizeof read_library_lua},
                 {read_states_lua, sizeof read_states_lua},
                 {read_instructions_lua, sizeof read_instructions_lua},
                 {read_code_lua, sizeof read_code_lua},
                 {read_lua, sizeof read_lua}};
    static const luaL_Reg functions[] = {
        {"build", reader_build},           {"constant", reader_constant},
        {"known", reader_known},           {"parts", reader_parts},
        {"bounds", reader_bounds},         {"read", reader_field},
        {"look_up", reader_look_up},       {"function_name", reader_function_name},
        {"kind_of", reader_kind_of},       {"is_late", reader_is_late},
        {"getupvalue", reader_getupvalue}, {"getmetatable", reader_getmetatable},
        {"is_look_up", reader_is_look_up}, {NULL, NULL}};
    luaL_newlib(L, functions);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "globals");
    push_operations(L);
    lua_setfield(L, -2, "op");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lua_pushvalue(L, -1);
        sel_sandbox_run(L, texts[i].text, texts[i].length, 0);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &reader_key);
}

/* Pushes a function of read.lua. */
static void push_reader(lua_State *L, const char *name) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &reader_key);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

void sel_read_library(lua_State *L, const char *name) {
    push_reader(L, "library");
    lua_getfield(L, -2, name);
    lua_pushstring(L, name);
    lua_call(L, 2, 0);
}

/* ---- laws ---- */

/* Pushes the list of the arguments' nodes, with false for the cell. */
static void reader_push_arguments(lua_State *L, const int *arguments, int count) {
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        if (arguments[i] == SEL_RULE_CELL)
            lua_pushboolean(L, false);
        else
            push_node(L, sel_build_argument(builder_of(L), arguments[i]));
        lua_rawseti(L, -2, i + 1);
    }
}

/* The reason for a refusal. */
static const char *reason_at(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : "reading it fails";
}

/* Runs in a protected call. Arguments: the sel_lua_function as light userdata, the function. */
static int reader_read_law(lua_State *L) {
    sel_lua_function *f = lua_touserdata(L, 1);
    sel_builder *builder = builder_of(L);
    int node[SEL_PROGRAM_RESULTS];
    sel_rule_output output[SEL_PROGRAM_RESULTS];
    lua_settop(L, 2);
    push_reader(L, "read_law");
    lua_insert(L, 2);
    reader_push_arguments(L, f->arguments, f->count);
    lua_pushinteger(L, f->base.results);
    lua_pushboolean(L, f->needs.predicate);
    lua_call(L, 4, 5);
    f->script->keeps_state = f->script->keeps_state || lua_toboolean(L, -1);
    if (lua_isnil(L, 2)) {
        snprintf(f->why, sizeof f->why, "%s", reason_at(L, 3));
        return 0;
    }
    luaL_checktype(L, 2, LUA_TTABLE);
    const int fails = take_node(L, 3);
    for (int i = 0; i < f->base.results; i++) {
        lua_rawgeti(L, 2, i + 1);
        node[i] = take_node(L, -1);
    }
    for (int i = 0; i < f->base.results; i++)
        output[i] = (sel_rule_output){i, node[i]};
    f->graph = sel_builder_rule(builder, output, f->base.results, fails, f->script->arena);
    f->program = sel_builder_finish(builder, node, f->base.results, fails, f->script->arena);
    if (!f->program)
        snprintf(f->why, sizeof f->why, "its program needs too many registers");
    return 0;
}

/* Calls `what` with `data` and the function at the top of the stack; destroys the builder. Returns
 * the status of lua_pcall. Lua's count hook is off meanwhile, since Lua runs faster without it and
 * the reader counts its own steps. */
static int call_reader(sel_script *script, lua_CFunction what, void *data, sel_builder *builder) {
    lua_State *L = script->L;
    const sel_limits outer = script->limits;
    const lua_Hook hook = lua_gethook(L);
    const int mask = lua_gethookmask(L), count = lua_gethookcount(L);
    script->reading = builder;
    lua_sethook(L, NULL, 0, 0);
    sel_limits_start(script, SEL_FUNCTION);
    lua_pushcfunction(L, what);
    lua_insert(L, -2);
    lua_pushlightuserdata(L, data);
    lua_insert(L, -2);
    const int status = lua_pcall(L, 2, 0, 0);
    if (!script->broken)
        lua_sethook(L, hook, mask, count);
    sel_limits_restore(script, &outer);
    script->reading = NULL;
    script->reading_fields = 0;
    sel_builder_destroy(builder);
    return status;
}

const sel_program *sel_read_law(sel_lua_function *f, int index) {
    lua_State *L = f->script->L;
    sel_builder *builder = sel_builder_create(MAX_NODES);
    f->program = NULL;
    if (!builder) {
        snprintf(f->why, sizeof f->why, "there is not enough memory to read it");
        return NULL;
    }
    lua_pushvalue(L, index);
    if (call_reader(f->script, reader_read_law, f, builder) != LUA_OK) {
        snprintf(f->why, sizeof f->why, "reading it fails: %s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return f->program;
}

/* ---- rules ---- */

typedef struct rule_reading {
    sel_lua_rule *what;
    sel_builder *builder;
    const sel_rule *rule;
    char *why;
    sel_error *error;
    sel_status status;
} rule_reading;

/* Pushes the table of fields by name. Returns the name of the only state field; NULL: there are
 * several. */
static const char *push_fields(lua_State *L, const sel_cells *cells) {
    const sel_cell_field *field = cells->field;
    static const double low[] = {0, -0x1p31, 0}, high[] = {0, 0x1p31 - 1, 255};
    const char *only = NULL;
    int states = 0;
    lua_newtable(L);
    for (int k = 0; k < cells->fields; k++) {
        lua_newtable(L);
        lua_pushinteger(L, k);
        lua_setfield(L, -2, "index");
        lua_pushboolean(L, field[k].state);
        lua_setfield(L, -2, "state");
        if (field[k].type != SEL_CELL_REAL) {
            lua_pushnumber(L, low[field[k].type]);
            lua_setfield(L, -2, "low");
            lua_pushnumber(L, high[field[k].type]);
            lua_setfield(L, -2, "high");
        }
        lua_setfield(L, -2, field[k].name);
        states += field[k].state;
        only = field[k].state ? field[k].name : only;
    }
    return states == 1 ? only : NULL;
}

/* unknown(name, state) -> text for messages. Upvalue 1: the sel_lua_rule. */
static int reader_unknown_field(lua_State *L) {
    const sel_lua_rule *what = lua_touserdata(L, lua_upvalueindex(1));
    char text[512];
    const char *name = sel_script_key(L, 1);
    sel_rule_unknown(what->cells, name ? name : luaL_typename(L, 1), lua_toboolean(L, 2), text);
    lua_pushstring(L, text);
    return 1;
}

/* Creates the rule from the nodes, failure node and name at the top of the stack (read_rule). */
static void take_rule(lua_State *L, rule_reading *r) {
    sel_script *script = sel_script_of(L);
    luaL_checktype(L, -3, LUA_TTABLE);
    const int count = (int)lua_rawlen(L, -3), fails = take_node(L, -2);
    const int most = r->what->returns == SEL_RETURNS_NUMBERS ? count : r->what->cells->fields;
    sel_rule_output *output = sel_script_alloc(script, "a rule", (size_t)count * sizeof *output);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, -3, i + 1);
        luaL_checktype(L, -1, LUA_TTABLE);
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        const int field = take_whole(L, -2, "field", 0, most - 1);
        output[i] = (sel_rule_output){field, take_node(L, -1)};
        lua_pop(L, 3);
    }
    sel_rule *rule = sel_builder_rule(r->builder, output, count, fails, script->arena);
    if (!rule)
        sel_script_no_memory(script, "a rule", sizeof *rule);
    rule->where = r->what->base.where;
    rule->name = lua_isstring(L, -1) ? sel_arena_copy(script->arena, lua_tostring(L, -1)) : "rule";
    r->rule = rule;
}

/* The place of a mistake, for messages. */
static sel_where reader_place(const sel_lua_rule *what, const char *file, int line) {
    sel_source *source = sel_script_source(what->script, file);
    return source ? (sel_where){source->name, line} : what->base.where;
}

/* Stores the table at the top of the stack as what->doubt: a mistake on a branch that may never be
 * taken. nil: there is none. */
static void take_doubt(lua_State *L, sel_lua_rule *what) {
    what->doubt = NULL;
    what->mistaken = false;
    if (!lua_istable(L, -1))
        return;
    lua_getfield(L, -1, "text");
    lua_getfield(L, -2, "file");
    lua_getfield(L, -3, "line");
    what->doubt = sel_arena_copy(what->script->arena, lua_tostring(L, -3));
    what->doubted = reader_place(what, lua_tostring(L, -2), (int)lua_tointeger(L, -1));
    lua_pop(L, 3);
}

/* Reports a refusal: nil, reason, file, line on the stack. With a file it is a mistake: an error.
 */
static void take_refusal(lua_State *L, rule_reading *r) {
    const char *text = reason_at(L, -4);
    const char *file = lua_type(L, -3) == LUA_TSTRING ? lua_tostring(L, -3) : NULL;
    if (file)
        r->status = sel_fail_at(r->error, reader_place(r->what, file, (int)lua_tointeger(L, -2)),
                                "%s: %s", r->what->label, text);
    else
        snprintf(r->why, SEL_RULE_WHY, "%s", text);
}

/* Runs in a protected call. Arguments: the rule_reading as light userdata, the function. */
static int reader_read_rule(lua_State *L) {
    rule_reading *r = lua_touserdata(L, 1);
    const sel_lua_rule *what = r->what;
    push_reader(L, "read_rule");
    lua_pushvalue(L, 2);
    reader_push_arguments(L, what->arguments, what->count);
    const char *only = push_fields(L, what->cells);
    lua_pushinteger(L, what->cells->dims);
    lua_pushinteger(L, SEL_MOST_REACH);
    lua_pushstring(L, only);
    lua_pushboolean(L, what->returns == SEL_RETURNS_NUMBERS);
    lua_pushlightuserdata(L, (void *)(uintptr_t)what);
    lua_pushcclosure(L, reader_unknown_field, 1);
    lua_call(L, 8, 5);
    if (lua_isnil(L, -5)) {
        take_refusal(L, r);
    } else {
        lua_settop(L, -2);
        take_doubt(L, r->what);
        lua_settop(L, -2);
        take_rule(L, r);
    }
    return 0;
}

sel_status sel_read_rule(sel_lua_rule *what, const sel_rule **rule, char *why, sel_error *error) {
    sel_script *script = what->script;
    rule_reading r = {what, sel_builder_create(MAX_NODES), NULL, why, error, SEL_OK};
    sel_error *outer = script->error;
    *why = '\0';
    if (!r.builder)
        return sel_fail_memory(error, "a rule", MAX_NODES);
    script->error = error;
    script->reading_fields = what->cells->fields;
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, what->reference);
    if (call_reader(script, reader_read_rule, &r, r.builder) != LUA_OK)
        r.status = sel_limits_report(script, what->base.where, "");
    script->error = outer;
    *rule = r.rule;
    return r.status;
}

/* ---- the numbers that a function sees ---- */

typedef struct survey {
    double *to;
    int most, count;
} survey;

/* Runs in a protected call. Arguments: the survey as light userdata, the function. If there are
 * more than `most` numbers, an even selection of them is stored. */
static int reader_find_numbers(lua_State *L) {
    survey *s = lua_touserdata(L, 1);
    push_reader(L, "numbers_of");
    lua_insert(L, 2);
    lua_call(L, 1, 1);
    const int count = (int)lua_rawlen(L, -1);
    s->count = count < s->most ? count : s->most;
    for (int i = 0; i < s->count; i++) {
        lua_rawgeti(L, -1, 1 + (int)((int64_t)i * count / s->count));
        s->to[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return 0;
}

int sel_read_numbers(sel_script *script, int reference, double *to, int most) {
    survey s = {to, most, 0};
    sel_error *outer = script->error;
    script->error = NULL;
    lua_rawgeti(script->L, LUA_REGISTRYINDEX, reference);
    if (call_reader(script, reader_find_numbers, &s, NULL) != LUA_OK) {
        lua_pop(script->L, 1);
        s.count = 0;
    }
    script->error = outer;
    return s.count;
}
