/* trace_math.c -- the functions of math for numbers and symbols alike.
 *
 * Lua's own functions get all calls without a symbol. What is recorded follows lmathlib.c: floor
 * and ceil give integers, max and min keep the kind of the one chosen.
 */
#include <math.h>
#include "lua/state.h"

static const double whole_limit = 9007199254740992.0; /* 2^53 */

static int unary(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1);
    return sel_trace_push(L,
                          sel_trace_float(L, sel_trace_build(L, sel_trace_op(L), a.value, 0, 0)));
}

/* math.deg and math.rad. */
static int scale(lua_State *L) {
    static const double half_turn = 3.141592653589793238462643383279502884;
    bool to_degrees = sel_trace_op(L) == SEL_OP_DIV;
    sel_symbol a = sel_trace_operand(L, 1);
    int by = sel_trace_constant(L, to_degrees ? 180.0 / half_turn : half_turn / 180.0);
    return sel_trace_push(L, sel_trace_float(L, sel_trace_build(L, SEL_OP_MUL, a.value, by, 0)));
}

static int math_atan(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1);
    int b = lua_isnoneornil(L, 2) ? sel_trace_constant(L, 1) : sel_trace_operand(L, 2).value;
    return sel_trace_push(L, sel_trace_float(L, sel_trace_build(L, SEL_OP_ATAN2, a.value, b, 0)));
}

/* The base decides the formula, so it must be a number. */
static int math_log(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1);
    if (sel_trace_is_symbol(L, 2))
        return sel_trace_fail(L, "the base of math.log is not a number known beforehand");
    double base = luaL_optnumber(L, 2, 0);
    bool natural = lua_isnoneornil(L, 2);
    sel_op op = natural      ? SEL_OP_LOG
                : base == 2  ? SEL_OP_LOG2
                : base == 10 ? SEL_OP_LOG10
                             : SEL_OP_LOG;
    int value = sel_trace_build(L, op, a.value, 0, 0);
    if (op == SEL_OP_LOG && !natural)
        value = sel_trace_build(L, SEL_OP_DIV, value, sel_trace_constant(L, log(base)), 0);
    return sel_trace_push(L, sel_trace_float(L, value));
}

/* The integer that Lua makes of the rounded `value` of `a`; only Lua knows whether it fits. */
static sel_symbol to_integer(lua_State *L, sel_symbol a, int value) {
    int size = sel_trace_build(L, SEL_OP_ABS, value, 0, 0);
    int fits = sel_trace_build(L, SEL_OP_LT, size, sel_trace_constant(L, whole_limit), 0);
    sel_trace_require(L, sel_trace_build(L, SEL_OP_OR, a.whole, fits, 0));
    value = sel_trace_build(L, SEL_OP_WHOLE, value, 0, 0);
    return (sel_symbol){value, sel_trace_constant(L, 1), whole_limit};
}

static int round_to(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1);
    return sel_trace_push(L, to_integer(L, a, sel_trace_build(L, sel_trace_op(L), a.value, 0, 0)));
}

static int math_abs(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1);
    a.value = sel_trace_build(L, SEL_OP_ABS, a.value, 0, 0);
    return sel_trace_push(L, a);
}

/* math.max (SEL_OP_MAX) or math.min of two. */
static sel_symbol extreme_of_two(lua_State *L, sel_op op, sel_symbol a, sel_symbol b) {
    bool max = op == SEL_OP_MAX;
    int second = sel_trace_build(L, SEL_OP_LT, max ? a.value : b.value, max ? b.value : a.value, 0);
    return (sel_symbol){sel_trace_build(L, op, a.value, b.value, 0),
                        sel_trace_build(L, SEL_OP_SELECT, second, b.whole, a.whole),
                        fmax(a.bound, b.bound)};
}

static int extreme(lua_State *L) {
    int count = lua_gettop(L);
    sel_symbol found = sel_trace_operand(L, 1);
    for (int i = 2; i <= count; i++)
        found = extreme_of_two(L, sel_trace_op(L), found, sel_trace_operand(L, i));
    return sel_trace_push(L, found);
}

/* The part before the point as an integer, and the rest as a float. */
static int math_modf(lua_State *L) {
    sel_symbol a = sel_trace_operand(L, 1);
    int zero = sel_trace_constant(L, 0);
    int up = sel_trace_build(L, SEL_OP_CEIL, a.value, 0, 0);
    int down = sel_trace_build(L, SEL_OP_FLOOR, a.value, 0, 0);
    int negative = sel_trace_build(L, SEL_OP_LT, a.value, zero, 0);
    int part = sel_trace_build(L, SEL_OP_SELECT, negative, up, down);
    int is_part = sel_trace_build(L, SEL_OP_EQ, part, a.value, 0);
    int rest = sel_trace_build(L, SEL_OP_SUB, a.value, part, 0);
    rest = sel_trace_build(L, SEL_OP_SELECT, is_part, zero, rest);
    sel_trace_push(L, to_integer(L, a, part));
    sel_trace_push(L, sel_trace_float(L, rest));
    return 2;
}

/* Upvalues: the operation, Lua's own function, the one for symbols. */
static int call(lua_State *L) {
    int i = lua_gettop(L);
    while (i > 0 && !sel_trace_is_symbol(L, i))
        i--;
    return lua_tocfunction(L, lua_upvalueindex(i > 0 ? 3 : 2))(L);
}

void sel_trace_open_math(lua_State *L) {
    static const struct {
        const char *name;
        lua_CFunction function;
        sel_op op; /* of functions that stand for several */
    } functions[] = {
        {"sqrt", unary, SEL_OP_SQRT},      {"exp", unary, SEL_OP_EXP},
        {"sin", unary, SEL_OP_SIN},        {"cos", unary, SEL_OP_COS},
        {"tan", unary, SEL_OP_TAN},        {"sinh", unary, SEL_OP_SINH},
        {"cosh", unary, SEL_OP_COSH},      {"tanh", unary, SEL_OP_TANH},
        {"asin", unary, SEL_OP_ASIN},      {"acos", unary, SEL_OP_ACOS},
        {"log10", unary, SEL_OP_LOG10},    {"floor", round_to, SEL_OP_FLOOR},
        {"ceil", round_to, SEL_OP_CEIL},   {"max", extreme, SEL_OP_MAX},
        {"min", extreme, SEL_OP_MIN},      {"atan", math_atan, SEL_OP_ATAN2},
        {"log", math_log, SEL_OP_LOG},     {"deg", scale, SEL_OP_DIV},
        {"rad", scale, SEL_OP_MUL},        {"pow", sel_trace_binary, SEL_OP_CPOW},
        {"abs", math_abs, SEL_OP_ABS},     {"fmod", sel_trace_binary, SEL_OP_FMOD},
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
        sel_trace_allow(L, -1);
        lua_setfield(L, -2, functions[i].name);
    }
    lua_pop(L, 1);
}
