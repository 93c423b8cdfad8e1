/* trace.c -- run a Lua function on symbols, along every path, and merge the paths into a program.
 *
 * A symbol is a userdata whose metamethods record the arithmetic as nodes of a sel_builder. A
 * comparison must answer true or false: the function is run once per path, each comparison answered
 * both ways, and the results are merged by selects, the last comparison first. Comparisons that
 * were answered on the same path keep their answer.
 *
 * Lua's integers are followed too (see sel_symbol): arithmetic of two of them is exact in f64 up
 * to 2^53; where a path leaves that range, or calls error, its results are marked as not sure and
 * Lua is asked there.
 *
 * What symbols cannot see ends the trace: see trace_watch.c.
 */
#include "lua/state.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PATHS = 256, MAX_DEPTH = 256, MAX_NODES = 20000 };

static const double whole_limit = 9007199254740992.0; /* 2^53 */

/* Address is a key in Lua's registry: the metatable of symbols. */
static const char symbol_key;

typedef struct decision {
    int condition;
    bool answer;
} decision;

/* The end of a path: nodes of its results, and behind them of whether they are sure. */
typedef struct leaf {
    int node[SEL_PROGRAM_RESULTS + 1];
} leaf;

struct sel_trace {
    sel_lua_function *f; /* its `why` tells why there is no program */
    int function;        /* its stack index */
    lua_State *L;
    sel_builder *builder;
    const sel_program *program; /* the outcome */
    int paths;
    int64_t serial;    /* of the path, among those of all traces */
    int depth, forced; /* decisions on this path; how many of them are given */
    decision path[MAX_DEPTH];
    int exact; /* node: so far on this path */
};

static struct sel_trace *trace_of(lua_State *L) {
    return sel_script_of(L)->trace;
}

/* Notes why there is no program: the first reason is kept. */
static void refuse_with(struct sel_trace *t, const char *format, va_list arguments) {
    if (t && !*t->f->why)
        vsnprintf(t->f->why, sizeof t->f->why, format, arguments);
}

static bool refuse(struct sel_trace *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    refuse_with(t, format, arguments);
    va_end(arguments);
    return false;
}

int sel_trace_fail(lua_State *L, const char *format, ...) {
    struct sel_trace *t = trace_of(L);
    va_list arguments;
    va_start(arguments, format);
    refuse_with(t, format, arguments);
    va_end(arguments);
    return luaL_error(L, "%s",
                      t ? t->f->why
                        : "a function kept a value of an earlier evaluation; it must "
                          "depend on its arguments only");
}

/* What a symbol's userdata holds. A function that keeps one shows it to later paths and traces. */
typedef struct kept_symbol {
    sel_symbol symbol;
    int64_t serial;
} kept_symbol;

static kept_symbol *to_symbol(lua_State *L, int index) {
    kept_symbol *symbol = lua_touserdata(L, index);
    if (!symbol || !lua_getmetatable(L, index))
        return NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &symbol_key);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same ? symbol : NULL;
}

bool sel_trace_is_symbol(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TUSERDATA && to_symbol(L, index);
}

static int check_node(lua_State *L, int node) {
    if (node < 0)
        sel_trace_fail(L, "it takes more than %d operations", MAX_NODES);
    return node;
}

int sel_trace_build(lua_State *L, sel_op op, int a, int b, int c) {
    return check_node(L, sel_build(trace_of(L)->builder, op, a, b, c));
}

int sel_trace_constant(lua_State *L, double value) {
    return check_node(L, sel_build_constant(trace_of(L)->builder, value));
}

sel_symbol sel_trace_float(lua_State *L, int value) {
    return (sel_symbol){value, sel_trace_constant(L, 0), 0};
}

sel_symbol sel_trace_operand(lua_State *L, int index) {
    if (!trace_of(L))
        sel_trace_fail(L, "no trace");
    if (lua_type(L, index) == LUA_TNUMBER) {
        double value = lua_tonumber(L, index);
        bool whole = lua_isinteger(L, index);
        if (whole && fabs(value) >= whole_limit)
            sel_trace_fail(L, "it computes with the integer %.17g, beyond 2^53", value);
        return (sel_symbol){sel_trace_constant(L, value), sel_trace_constant(L, whole),
                            whole ? fabs(value) : 0};
    }
    kept_symbol *found = lua_type(L, index) == LUA_TUSERDATA ? to_symbol(L, index) : NULL;
    if (!found)
        sel_trace_fail(L, "it computes with a %s", luaL_typename(L, index));
    else if (found->serial != trace_of(L)->serial)
        sel_trace_fail(L, "it uses a value that an earlier call kept");
    return found->symbol;
}

/* Constants stay symbols: as Lua numbers they would lose whether they are integers. */
int sel_trace_push(lua_State *L, sel_symbol symbol) {
    kept_symbol *to = lua_newuserdatauv(L, sizeof *to, 0);
    *to = (kept_symbol){symbol, trace_of(L)->serial};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &symbol_key);
    lua_setmetatable(L, -2);
    return 1;
}

void sel_trace_require(lua_State *L, int node) {
    struct sel_trace *t = trace_of(L);
    t->exact = sel_trace_build(L, SEL_OP_AND, t->exact, node, 0);
}

sel_symbol sel_trace_integers(lua_State *L, sel_symbol a, sel_symbol b, int value, double bound,
                              bool may_be_minus_zero, bool divides) {
    double known;
    int both = sel_trace_build(L, SEL_OP_AND, a.whole, b.whole, 0);
    if (sel_builder_constant(trace_of(L)->builder, both, &known) && known == 0)
        return sel_trace_float(L, value);
    if (may_be_minus_zero) {
        int whole = sel_trace_build(L, SEL_OP_WHOLE, value, 0, 0);
        value = sel_trace_build(L, SEL_OP_SELECT, both, whole, value);
    }
    int floats = sel_trace_build(L, SEL_OP_NOT, both, 0, 0);
    if (bound >= whole_limit) {
        int size = sel_trace_build(L, SEL_OP_ABS, value, 0, 0);
        int fits = sel_trace_build(L, SEL_OP_LT, size, sel_trace_constant(L, whole_limit), 0);
        sel_trace_require(L, sel_trace_build(L, SEL_OP_OR, floats, fits, 0));
        bound = whole_limit;
    }
    if (divides) {
        int zero = sel_trace_build(L, SEL_OP_EQ, b.value, sel_trace_constant(L, 0), 0);
        int divisible = sel_trace_build(L, SEL_OP_NOT, zero, 0, 0);
        sel_trace_require(L, sel_trace_build(L, SEL_OP_OR, floats, divisible, 0));
    }
    return (sel_symbol){value, both, bound};
}

/* Lua computes x - 0 as x + 0 where the 0 stands in the text: for -0.0 that gives 0.0, not -0.0. A
 * variable that is 0 cannot be told from it. */
static void require_no_minus_zero(lua_State *L, sel_symbol a) {
    if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == 0) {
        int zero = sel_trace_build(L, SEL_OP_EQ, a.value, sel_trace_constant(L, 0), 0);
        int other = sel_trace_build(L, SEL_OP_NOT, zero, 0, 0);
        sel_trace_require(L, sel_trace_build(L, SEL_OP_OR, a.whole, other, 0));
    }
}

sel_op sel_trace_op(lua_State *L) {
    return (sel_op)lua_tointeger(L, lua_upvalueindex(1));
}

int sel_trace_binary(lua_State *L) {
    const sel_op op = sel_trace_op(L);
    sel_symbol a = sel_trace_operand(L, 1), b = sel_trace_operand(L, 2), result;
    int value = sel_trace_build(L, op, a.value, b.value, 0);
    if (op == SEL_OP_SUB)
        require_no_minus_zero(L, a);
    switch (op) {
    case SEL_OP_ADD:
    case SEL_OP_SUB:
        result = sel_trace_integers(L, a, b, value, a.bound + b.bound, false, false);
        break;
    case SEL_OP_MUL:
        result = sel_trace_integers(L, a, b, value, a.bound * b.bound, true, false);
        break;
    case SEL_OP_MOD:
    case SEL_OP_FMOD:
        result = sel_trace_integers(L, a, b, value, b.bound, true, true);
        break;
    case SEL_OP_IDIV:
        result = sel_trace_integers(L, a, b, value, fmax(1, a.bound), true, true);
        break;
    default:
        result = sel_trace_float(L, value);
    }
    return sel_trace_push(L, result);
}

static int negate(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1);
    int value = sel_trace_build(L, SEL_OP_UNM, a.value, 0, 0);
    return sel_trace_push(L, sel_trace_integers(L, a, a, value, a.bound, true, false));
}

/* The answer of a condition on this path: the one given, or yes for a new one. */
static bool decide(lua_State *L, int condition) {
    struct sel_trace *t = trace_of(L);
    double known;
    if (sel_builder_constant(t->builder, condition, &known))
        return known != 0;
    for (int i = 0; i < t->depth; i++)
        if (t->path[i].condition == condition)
            return t->path[i].answer;
    if (t->depth >= MAX_DEPTH)
        sel_trace_fail(L, "it compares more than %d times on one path", MAX_DEPTH);
    if (t->depth >= t->forced)
        t->path[t->depth] = (decision){condition, true};
    else if (t->path[t->depth].condition != condition)
        sel_trace_fail(L, "it does not do the same when called twice");
    return t->path[t->depth++].answer;
}

static int compare(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1), b = sel_trace_operand(L, 2);
    lua_pushboolean(L, decide(L, sel_trace_build(L, sel_trace_op(L), a.value, b.value, 0)));
    return 1;
}

static int do_not_follow(lua_State *L) {
    return sel_trace_fail(L, "it does something with a value that is not arithmetic");
}

int sel_trace_lookup(lua_State *L, const sel_lookup *lookup, int first, int n) {
    int arguments[SEL_LOOKUP_ARGUMENTS] = {0};
    if (n != lookup->arguments)
        return sel_trace_fail(L, "%s takes %d arguments, not %d", lookup->name, lookup->arguments,
                              n);
    for (int i = 0; i < n; i++)
        arguments[i] = sel_trace_operand(L, first + i).value;
    int value = check_node(L, sel_build_lookup(trace_of(L)->builder, lookup, arguments));
    /* NaN is what a look-up outside its data gives: Lua then tells the error. */
    sel_trace_require(L, sel_trace_build(L, SEL_OP_EQ, value, value, 0));
    return sel_trace_push(L, sel_trace_float(L, value));
}

int sel_trace_step(lua_State *L) {
    if (!sel_trace_is_symbol(L, 1)) {
        lua_pushnumber(L, luaL_checknumber(L, 1) >= 0 ? 1 : 0);
        return 1;
    }
    sel_symbol a = sel_trace_operand(L, 1);
    int value = sel_trace_build(L, SEL_OP_LE, sel_trace_constant(L, 0), a.value, 0);
    return sel_trace_push(L, sel_trace_float(L, value));
}

void sel_trace_open(lua_State *L) {
    static const struct {
        const char *name;
        lua_CFunction function;
        sel_op op;
    } followed[] = {{"__add", sel_trace_binary, SEL_OP_ADD},
                    {"__sub", sel_trace_binary, SEL_OP_SUB},
                    {"__mul", sel_trace_binary, SEL_OP_MUL},
                    {"__div", sel_trace_binary, SEL_OP_DIV},
                    {"__mod", sel_trace_binary, SEL_OP_MOD},
                    {"__idiv", sel_trace_binary, SEL_OP_IDIV},
                    {"__pow", sel_trace_binary, SEL_OP_POW},
                    {"__unm", negate, SEL_OP_UNM},
                    {"__lt", compare, SEL_OP_LT},
                    {"__le", compare, SEL_OP_LE}};
    static const char *const others[] = {"__concat", "__len",  "__index",    "__newindex", "__call",
                                         "__eq",     "__band", "__tostring", "__bor",      "__bxor",
                                         "__bnot",   "__shl",  "__shr",      NULL};
    sel_trace_open_watch(L);
    lua_pushcfunction(L, do_not_follow);
    sel_trace_allow(L, -1);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++) {
        lua_pushinteger(L, followed[i].op);
        lua_pushcclosure(L, followed[i].function, 1);
        sel_trace_allow(L, -1);
        lua_setfield(L, -2, followed[i].name);
    }
    for (const char *const *name = others; *name; name++) {
        lua_pushvalue(L, -2);
        lua_setfield(L, -2, *name);
    }
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &symbol_key);
    lua_pop(L, 1);
    sel_trace_open_math(L);
}

/* A result of the path as a node. */
static bool take_result(struct sel_trace *t, int index, int *node) {
    lua_State *L = t->L;
    int type = lua_type(L, index);
    char found[80];
    kept_symbol *kept = type == LUA_TUSERDATA ? to_symbol(L, index) : NULL;
    if (t->f->needs.predicate && type == LUA_TBOOLEAN)
        *node = sel_build_constant(t->builder, lua_toboolean(L, index));
    else if (!t->f->needs.predicate && type == LUA_TNUMBER)
        *node = sel_build_constant(t->builder, lua_tonumber(L, index));
    else if (!t->f->needs.predicate && kept && kept->serial == t->serial)
        *node = kept->symbol.value;
    else
        return refuse(t, "it returns %s", sel_script_value_text(L, index, found));
    return *node >= 0 || refuse(t, "it takes more than %d operations", MAX_NODES);
}

static bool take_results(struct sel_trace *t, int base, leaf *to) {
    int count = lua_gettop(t->L) - base;
    if (count != t->f->base.results)
        return refuse(t, "it returns %d value%s", count, count == 1 ? "" : "s");
    for (int r = 0; r < t->f->base.results; r++)
        if (!take_result(t, base + 1 + r, &to->node[r]))
            return false;
    to->node[count] = t->exact;
    return true;
}

/* A path that ends in error(), or divides an integer by 0, is Lua's: whoever gets there is told. */
static bool take_error(struct sel_trace *t, int status, leaf *to) {
    const char *message = lua_tostring(t->L, -1);
    bool divided = message && (strstr(message, "attempt to perform 'n") ||
                               strstr(message, "divide by zero") || strstr(message, "(zero)"));
    if (status == LUA_ERRRUN && (t->f->script->raised || divided) && !*t->f->why) {
        int nothing = sel_build_constant(t->builder, 0);
        *to = (leaf){{nothing, nothing, nothing, nothing}};
        return nothing >= 0;
    }
    return refuse(t, "tracing it fails: %.200s", message ? message : "not enough memory");
}

/* Calls the function along the path whose first `forced` decisions are given. */
static bool run_path(struct sel_trace *t, int forced, leaf *to) {
    lua_State *L = t->L;
    int base = lua_gettop(L);
    if (++t->paths > MAX_PATHS)
        return refuse(t, "its comparisons make more than %d paths", MAX_PATHS);
    if (sel_limits_passed(t->f->script))
        return refuse(t, "tracing it takes too long");
    t->depth = 0;
    t->forced = forced;
    t->serial = ++t->f->script->paths;
    t->exact = sel_trace_constant(L, 1);
    luaL_checkstack(L, t->f->count + LUA_MINSTACK, NULL);
    lua_pushvalue(L, t->function);
    for (int i = 0; i < t->f->count; i++) {
        int node = check_node(L, sel_build_argument(t->builder, t->f->arguments[i]));
        sel_trace_push(L, sel_trace_float(L, node));
    }
    sel_trace_watch(L);
    int status = lua_pcall(L, t->f->count, LUA_MULTRET, 0);
    lua_sethook(L, NULL, 0, 0);
    bool taken = status == LUA_OK ? take_results(t, base, to) : take_error(t, status, to);
    lua_settop(L, base);
    if (!sel_trace_restore(L, t->f->why)) {
        t->f->script->keeps_state = true;
        return false;
    }
    return taken && !*t->f->why;
}

static bool merge(struct sel_trace *t, int condition, leaf *yes, const leaf *no) {
    bool done = true;
    for (int r = 0; r <= t->f->base.results; r++) {
        yes->node[r] = sel_build(t->builder, SEL_OP_SELECT, condition, yes->node[r], no->node[r]);
        done = done && yes->node[r] >= 0;
    }
    return done || refuse(t, "it takes more than %d operations", MAX_NODES);
}

/* All paths that begin with the first `forced` decisions, merged. */
static bool explore(struct sel_trace *t, int forced, leaf *to) {
    if (!run_path(t, forced, to))
        return false;
    if (t->depth < forced)
        return refuse(t, "it does not do the same when called twice");
    for (int k = t->depth - 1; k >= forced; k--) {
        leaf other;
        int condition = t->path[k].condition;
        t->path[k].answer = false;
        if (!explore(t, k + 1, &other) || !merge(t, condition, to, &other))
            return false;
    }
    return true;
}

/* The protected part. Arguments: the trace, the function. */
static int run(lua_State *L) {
    struct sel_trace *t = lua_touserdata(L, 1);
    leaf all;
    double known;
    const int results = t->f->base.results;
    t->function = 2;
    sel_trace_begin(L);
    if (!explore(t, 0, &all))
        return 0;
    if (sel_builder_constant(t->builder, all.node[results], &known) && known == 0)
        refuse(t, "it always ends in an error");
    else
        t->program = sel_builder_finish(t->builder, all.node, results, all.node[results],
                                        t->f->script->arena);
    return 0;
}

const sel_program *sel_trace_function(sel_lua_function *f, int index) {
    sel_script *script = f->script;
    lua_State *L = script->L;
    struct sel_trace t = {.f = f, .L = L, .builder = sel_builder_create(MAX_NODES)};
    lua_Hook hook = lua_gethook(L);
    int mask = lua_gethookmask(L), count = lua_gethookcount(L);
    const sel_limits outer = script->limits;
    if (!t.builder) {
        refuse(&t, "there is not enough memory to trace it");
        return NULL;
    }
    index = lua_absindex(L, index);
    sel_limits_start(script, SEL_FUNCTION);
    script->trace = &t;
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, &t);
    lua_pushvalue(L, index);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) {
        refuse(&t, "tracing it fails: %.200s", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_sethook(L, hook, mask, count);
    script->trace = NULL;
    sel_limits_restore(script, &outer);
    sel_builder_destroy(t.builder);
    if (!t.program)
        refuse(&t, "its program needs too many registers");
    return *f->why ? NULL : t.program;
}
