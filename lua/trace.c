/* trace.c -- run a Lua function on symbols, along every path, and merge the paths into a program.
 *
 * A symbol is a userdata whose metamethods record the arithmetic as nodes of a sel_builder. A
 * comparison must answer true or false: the function is run once per path, each comparison answered
 * both ways, and the results are merged by selects, the last comparison first. Comparisons that
 * were answered on the same path keep their answer.
 *
 * Lua's integers are followed too (see symbol): arithmetic of two of them is exact in f64 up
 * to 2^53; where a path leaves that range, or calls error, its results are marked as not sure and
 * Lua is asked there.
 *
 * What symbols cannot notice ends the trace: see trace_watch.c.
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

/* A value under trace: a node, and whether Lua has it as an integer there (a node of 0 or 1).
 * Where it has, the value is whole and below `bound`, at most 2^53. */
typedef struct symbol {
    int value, whole;
    double bound;
} symbol;

/* What a symbol's userdata holds. By its serial number a symbol is known that a function has kept
 * from an earlier path or trace. */
typedef struct kept_symbol {
    symbol v;
    int64_t serial;
} kept_symbol;

static kept_symbol *to_symbol(lua_State *L, int index) {
    kept_symbol *kept = lua_touserdata(L, index);
    if (!kept || !lua_getmetatable(L, index))
        return NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &symbol_key);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same ? kept : NULL;
}

bool sel_trace_is_symbol(lua_State *L, int index) {
    return lua_type(L, index) == LUA_TUSERDATA && to_symbol(L, index);
}

static int check_node(lua_State *L, int node) {
    if (node < 0)
        sel_trace_fail(L, "it takes more than %d operations", MAX_NODES);
    return node;
}

/* sel_build on the trace's builder; a full builder ends the trace. */
static int build(lua_State *L, sel_op op, int a, int b, int c) {
    return check_node(L, sel_build(trace_of(L)->builder, op, a, b, c));
}

static int constant(lua_State *L, double value) {
    return check_node(L, sel_build_constant(trace_of(L)->builder, value));
}

/* What division, powers and transcendental functions give. */
static symbol as_float(lua_State *L, int value) {
    return (symbol){value, constant(L, 0), 0};
}

/* The number or symbol at `index`. Anything else ends the trace. */
static symbol operand(lua_State *L, int index) {
    if (!trace_of(L))
        sel_trace_fail(L, "no trace");
    if (lua_type(L, index) == LUA_TNUMBER) {
        double value = lua_tonumber(L, index);
        bool whole = lua_isinteger(L, index);
        if (whole && fabs(value) >= whole_limit)
            sel_trace_fail(L, "it computes with the integer %.17g, beyond 2^53", value);
        return (symbol){constant(L, value), constant(L, whole), whole ? fabs(value) : 0};
    }
    kept_symbol *found = lua_type(L, index) == LUA_TUSERDATA ? to_symbol(L, index) : NULL;
    if (!found)
        sel_trace_fail(L, "it computes with a %s", luaL_typename(L, index));
    else if (found->serial != trace_of(L)->serial)
        sel_trace_fail(L, "it uses a value that an earlier call kept");
    return found->v;
}

/* Constants stay symbols: as Lua numbers they would lose whether they are integers. */
static int push(lua_State *L, symbol value) {
    kept_symbol *to = lua_newuserdatauv(L, sizeof *to, 0);
    *to = (kept_symbol){value, trace_of(L)->serial};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &symbol_key);
    lua_setmetatable(L, -2);
    return 1;
}

/* Results are only sure where the node is not 0. */
static void require(lua_State *L, int node) {
    struct sel_trace *t = trace_of(L);
    t->exact = build(L, SEL_OP_AND, t->exact, node, 0);
}

/* The rules that integers add to an operation's plain value; `divides` by b. */
static symbol as_integers(lua_State *L, symbol a, symbol b, int value, double bound,
                          bool may_be_minus_zero, bool divides) {
    double known;
    int both = build(L, SEL_OP_AND, a.whole, b.whole, 0);
    if (sel_builder_constant(trace_of(L)->builder, both, &known) && known == 0)
        return as_float(L, value);
    if (may_be_minus_zero) {
        int whole = build(L, SEL_OP_WHOLE, value, 0, 0);
        value = build(L, SEL_OP_SELECT, both, whole, value);
    }
    int floats = build(L, SEL_OP_NOT, both, 0, 0);
    if (bound >= whole_limit) {
        int size = build(L, SEL_OP_ABS, value, 0, 0);
        int fits = build(L, SEL_OP_LT, size, constant(L, whole_limit), 0);
        require(L, build(L, SEL_OP_OR, floats, fits, 0));
        bound = whole_limit;
    }
    if (divides) {
        int zero = build(L, SEL_OP_EQ, b.value, constant(L, 0), 0);
        int divisible = build(L, SEL_OP_NOT, zero, 0, 0);
        require(L, build(L, SEL_OP_OR, floats, divisible, 0));
    }
    return (symbol){value, both, bound};
}

/* Lua computes x - 0 as x + 0 where the 0 stands in the text: for -0.0 that gives 0.0, not -0.0. A
 * variable that is 0 cannot be told from it. */
static void require_no_minus_zero(lua_State *L, symbol a) {
    if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == 0) {
        int zero = build(L, SEL_OP_EQ, a.value, constant(L, 0), 0);
        int other = build(L, SEL_OP_NOT, zero, 0, 0);
        require(L, build(L, SEL_OP_OR, a.whole, other, 0));
    }
}

/* A metamethod or a function of math, and the operation that it stands for: its upvalue 1. */
typedef struct recorded {
    const char *name;
    lua_CFunction function;
    sel_op op;
} recorded;

static sel_op upvalue_op(lua_State *L) {
    return (sel_op)lua_tointeger(L, lua_upvalueindex(1));
}

static int binary(lua_State *L) {
    const sel_op op = upvalue_op(L);
    symbol a = operand(L, 1), b = operand(L, 2), result;
    int value = build(L, op, a.value, b.value, 0);
    if (op == SEL_OP_SUB)
        require_no_minus_zero(L, a);
    switch (op) {
    case SEL_OP_ADD:
    case SEL_OP_SUB:
        result = as_integers(L, a, b, value, a.bound + b.bound, false, false);
        break;
    case SEL_OP_MUL:
        result = as_integers(L, a, b, value, a.bound * b.bound, true, false);
        break;
    case SEL_OP_MOD:
    case SEL_OP_FMOD:
        result = as_integers(L, a, b, value, b.bound, true, true);
        break;
    case SEL_OP_IDIV:
        result = as_integers(L, a, b, value, fmax(1, a.bound), true, true);
        break;
    default:
        result = as_float(L, value);
    }
    return push(L, result);
}

static int negate(lua_State *L) {
    symbol a = operand(L, 1);
    int value = build(L, SEL_OP_UNM, a.value, 0, 0);
    return push(L, as_integers(L, a, a, value, a.bound, true, false));
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
    symbol a = operand(L, 1), b = operand(L, 2);
    lua_pushboolean(L, decide(L, build(L, upvalue_op(L), a.value, b.value, 0)));
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
        arguments[i] = operand(L, first + i).value;
    int value = check_node(L, sel_build_lookup(trace_of(L)->builder, lookup, arguments));
    /* NaN is what a look-up outside its data gives: Lua then tells the error. */
    require(L, build(L, SEL_OP_EQ, value, value, 0));
    return push(L, as_float(L, value));
}

int sel_trace_step(lua_State *L) {
    if (!sel_trace_is_symbol(L, 1)) {
        lua_pushnumber(L, luaL_checknumber(L, 1) >= 0 ? 1 : 0);
        return 1;
    }
    symbol a = operand(L, 1);
    int value = build(L, SEL_OP_LE, constant(L, 0), a.value, 0);
    return push(L, as_float(L, value));
}

/* ---- the functions of math ----
 *
 * Lua's own get all calls without a symbol. What is recorded follows lmathlib.c: floor and ceil
 * give integers, max and min keep the kind of the one chosen. */

static int unary(lua_State *L) {
    symbol a = operand(L, 1);
    return push(L, as_float(L, build(L, upvalue_op(L), a.value, 0, 0)));
}

/* math.deg and math.rad. */
static int scale(lua_State *L) {
    static const double half_turn = 3.141592653589793238462643383279502884;
    bool to_degrees = upvalue_op(L) == SEL_OP_DIV;
    symbol a = operand(L, 1);
    int by = constant(L, to_degrees ? 180.0 / half_turn : half_turn / 180.0);
    return push(L, as_float(L, build(L, SEL_OP_MUL, a.value, by, 0)));
}

static int math_atan(lua_State *L) {
    symbol a = operand(L, 1);
    int b = lua_isnoneornil(L, 2) ? constant(L, 1) : operand(L, 2).value;
    return push(L, as_float(L, build(L, SEL_OP_ATAN2, a.value, b, 0)));
}

/* The base decides the formula, so it must be a number. */
static int math_log(lua_State *L) {
    symbol a = operand(L, 1);
    if (sel_trace_is_symbol(L, 2))
        return sel_trace_fail(L, "the base of math.log is not a number known beforehand");
    double base = luaL_optnumber(L, 2, 0);
    bool natural = lua_isnoneornil(L, 2);
    sel_op op = natural      ? SEL_OP_LOG
                : base == 2  ? SEL_OP_LOG2
                : base == 10 ? SEL_OP_LOG10
                             : SEL_OP_LOG;
    int value = build(L, op, a.value, 0, 0);
    if (op == SEL_OP_LOG && !natural)
        value = build(L, SEL_OP_DIV, value, constant(L, log(base)), 0);
    return push(L, as_float(L, value));
}

/* The integer that Lua makes of the rounded `value` of `a`; only Lua knows whether it fits. */
static symbol to_integer(lua_State *L, symbol a, int value) {
    int size = build(L, SEL_OP_ABS, value, 0, 0);
    int fits = build(L, SEL_OP_LT, size, constant(L, whole_limit), 0);
    require(L, build(L, SEL_OP_OR, a.whole, fits, 0));
    value = build(L, SEL_OP_WHOLE, value, 0, 0);
    return (symbol){value, constant(L, 1), whole_limit};
}

static int round_to(lua_State *L) {
    symbol a = operand(L, 1);
    return push(L, to_integer(L, a, build(L, upvalue_op(L), a.value, 0, 0)));
}

static int math_abs(lua_State *L) {
    symbol a = operand(L, 1);
    a.value = build(L, SEL_OP_ABS, a.value, 0, 0);
    return push(L, a);
}

/* math.max (SEL_OP_MAX) or math.min of two. */
static symbol extreme_of_two(lua_State *L, sel_op op, symbol a, symbol b) {
    bool max = op == SEL_OP_MAX;
    int second = build(L, SEL_OP_LT, max ? a.value : b.value, max ? b.value : a.value, 0);
    return (symbol){build(L, op, a.value, b.value, 0),
                    build(L, SEL_OP_SELECT, second, b.whole, a.whole), fmax(a.bound, b.bound)};
}

static int extreme(lua_State *L) {
    int count = lua_gettop(L);
    symbol found = operand(L, 1);
    for (int i = 2; i <= count; i++)
        found = extreme_of_two(L, upvalue_op(L), found, operand(L, i));
    return push(L, found);
}

/* The part before the point as an integer, and the rest as a float. */
static int math_modf(lua_State *L) {
    symbol a = operand(L, 1);
    int zero = constant(L, 0);
    int up = build(L, SEL_OP_CEIL, a.value, 0, 0);
    int down = build(L, SEL_OP_FLOOR, a.value, 0, 0);
    int negative = build(L, SEL_OP_LT, a.value, zero, 0);
    int part = build(L, SEL_OP_SELECT, negative, up, down);
    int is_part = build(L, SEL_OP_EQ, part, a.value, 0);
    int rest = build(L, SEL_OP_SUB, a.value, part, 0);
    rest = build(L, SEL_OP_SELECT, is_part, zero, rest);
    push(L, to_integer(L, a, part));
    push(L, as_float(L, rest));
    return 2;
}

/* Upvalues: the operation, Lua's own function, the one for symbols. */
static int call(lua_State *L) {
    int i = lua_gettop(L);
    while (i > 0 && !sel_trace_is_symbol(L, i))
        i--;
    return lua_tocfunction(L, lua_upvalueindex(i > 0 ? 3 : 2))(L);
}

/* Replaces the functions of math in the table of globals at the top. */
static void open_math(lua_State *L) {
    static const recorded functions[] = {
        {"sqrt", unary, SEL_OP_SQRT},      {"exp", unary, SEL_OP_EXP},
        {"sin", unary, SEL_OP_SIN},        {"cos", unary, SEL_OP_COS},
        {"tan", unary, SEL_OP_TAN},        {"sinh", unary, SEL_OP_SINH},
        {"cosh", unary, SEL_OP_COSH},      {"tanh", unary, SEL_OP_TANH},
        {"asin", unary, SEL_OP_ASIN},      {"acos", unary, SEL_OP_ACOS},
        {"log10", unary, SEL_OP_LOG10},    {"floor", round_to, SEL_OP_FLOOR},
        {"ceil", round_to, SEL_OP_CEIL},   {"max", extreme, SEL_OP_MAX},
        {"min", extreme, SEL_OP_MIN},      {"atan", math_atan, SEL_OP_ATAN2},
        {"log", math_log, SEL_OP_LOG},     {"deg", scale, SEL_OP_DIV},
        {"rad", scale, SEL_OP_MUL},        {"pow", binary, SEL_OP_CPOW},
        {"abs", math_abs, SEL_OP_ABS},     {"fmod", binary, SEL_OP_FMOD},
        {"modf", math_modf, SEL_OP_FLOOR},
    };
    lua_getfield(L, -1, "math");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        lua_pushinteger(L, functions[i].op);
        if (lua_getfield(L, -2, functions[i].name) == LUA_TNIL) {
            lua_pop(L, 2); /* left out of Lua without its compatibility library: pow */
            continue;
        }
        lua_pushcfunction(L, functions[i].function);
        lua_pushcclosure(L, call, 3);
        sel_trace_allow(L, NULL);
        lua_setfield(L, -2, functions[i].name);
    }
    lua_pop(L, 1);
}

void sel_trace_open(lua_State *L) {
    static const recorded followed[] = {
        {"__add", binary, SEL_OP_ADD}, {"__sub", binary, SEL_OP_SUB},
        {"__mul", binary, SEL_OP_MUL}, {"__div", binary, SEL_OP_DIV},
        {"__mod", binary, SEL_OP_MOD}, {"__idiv", binary, SEL_OP_IDIV},
        {"__pow", binary, SEL_OP_POW}, {"__unm", negate, SEL_OP_UNM},
        {"__lt", compare, SEL_OP_LT},  {"__le", compare, SEL_OP_LE}};
    static const char *const others[] = {"__concat", "__len",  "__index",    "__newindex", "__call",
                                         "__eq",     "__band", "__tostring", "__bor",      "__bxor",
                                         "__bnot",   "__shl",  "__shr",      NULL};
    sel_trace_open_watch(L);
    lua_pushcfunction(L, do_not_follow);
    sel_trace_allow(L, NULL);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++) {
        lua_pushinteger(L, followed[i].op);
        lua_pushcclosure(L, followed[i].function, 1);
        sel_trace_allow(L, NULL);
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
    open_math(L);
}

/* ---- paths ---- */

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
        *node = kept->v.value;
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

/* A path that ends in error(), or divides an integer by 0, is left to Lua, which raises the error
 * where a place takes that path. */
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
    t->exact = constant(L, 1);
    luaL_checkstack(L, t->f->count + LUA_MINSTACK, NULL);
    lua_pushvalue(L, t->function);
    for (int i = 0; i < t->f->count; i++) {
        int node = check_node(L, sel_build_argument(t->builder, t->f->arguments[i]));
        push(L, as_float(L, node));
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
