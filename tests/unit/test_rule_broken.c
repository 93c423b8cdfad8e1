/* test_rule_broken.c -- the comparison with Lua finds what a broken reader gets wrong: its text is
 * changed in one place, and a function whose graph is then wrong in rare cells must be left to Lua.
 */
#include "rule_follow.h"
#include "read_instructions_lua.h"
#include "read_library_lua.h"
#include "read_lua.h"
#include "read_operators_lua.h"
#include "read_states_lua.h"
#include "read_values_lua.h"

/* What is broken: `from`, which the reader's text has once, becomes `to`; NULL: nothing. */
static const char *from, *to;
static int places; /* where `from` was found */

static void run_text(lua_State *L, int reader, const unsigned char *text, size_t length) {
    static char changed[1 << 16];
    const char *at = from ? memmem(text, length, from, strlen(from)) : NULL;
    size_t used = length;
    assert_true(length + 500 < sizeof changed);
    memcpy(changed, text, length);
    if (at) {
        const size_t before = (size_t)(at - (const char *)text);
        places++;
        used = before + strlen(to);
        memcpy(changed + before, to, strlen(to));
        memcpy(changed + used, at + strlen(from), length - before - strlen(from));
        used += length - before - strlen(from);
    }
    lua_pushvalue(L, reader);
    sel_sandbox_run(L, (const unsigned char *)changed, used, 0);
}

/* Pushes the table that the files of the reader share. */
static void push_shared(lua_State *L) {
    for (lua_pushnil(L); lua_next(L, LUA_REGISTRYINDEX); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TLIGHTUSERDATA || !lua_istable(L, -1)) {
            continue;
        }
        lua_pushstring(L, "read_rule");
        const bool found = lua_rawget(L, -2) == LUA_TFUNCTION;
        lua_pop(L, 1);
        if (found) {
            lua_remove(L, -2);
            return;
        }
    }
    fail_msg("no reader");
}

/* The decoder of code stays as it is: it keeps string.dump, which scripts have not. */
static void break_and_fill(lua_State *L) {
    push_shared(L);
    const int reader = lua_gettop(L);
    run_text(L, reader, read_values_lua, sizeof read_values_lua);
    run_text(L, reader, read_operators_lua, sizeof read_operators_lua);
    run_text(L, reader, read_library_lua, sizeof read_library_lua);
    run_text(L, reader, read_states_lua, sizeof read_states_lua);
    run_text(L, reader, read_instructions_lua, sizeof read_instructions_lua);
    run_text(L, reader, read_lua, sizeof read_lua);
    lua_pop(L, 1);
    fill(L);
}

static sel_status load_broken(const char *path, const sel_script_options *options,
                              sel_scenario **scenario, sel_error *error) {
    return sel_script_run(path, options, break_and_fill, scenario, error);
}

/* Whether the reader so broken gives a graph; `why` it does not. */
static bool reads(const char *text, char why[SEL_RULE_WHY]) {
    static sel_error error;
    script_case c = {.load = load_broken};
    script_accepts(&c, text);
    const bool read = read_rule(&c, SEL_RETURNS_FIELDS, why, &error) != NULL;
    if (error.status) {
        fail_msg("%s", error.text);
    }
    script_done(&c);
    return read;
}

static void what_a_broken_reader_gets_wrong_is_found(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *text;
    } faults[] = {
        /* what closures see is a copy */
        {"upvalue.in_register and s.boxes[upvalue.number]",
         "upvalue.in_register and V.made { s.registers[upvalue.number] }",
         RULE("", "function(c) local n = c.u local function f() return n end\n"
                  "if c.n == 4711 then n = 7 end return { u = f() } end")},
        /* turns of a loop share their variables */
        {"V.open_boxes(s, i.A)", "return",
         RULE("", "function(c) local fs = {} for i = 1, 2 do local j = i * c.v\n"
                  "fs[i] = function() return j end end\n"
                  "return { u = c.n == 4711 and fs[1]() or 1 } end")},
        /* turns that goto begins are one */
        {"s.boxes[register] ~= t.boxes[register]", "false",
         RULE("", "function(c) local f, i = nil, 0 ::again:: i = i + 1 local j = i * c.u\n"
                  "f = f or function() return j end if i < 2 and c.n == 4711 then goto again end\n"
                  "j = j + 1 return { u = f() } end")},
        /* where states meet the value of one is lost */
        {"return merge(c, x, y)\n  end", "return x\n  end",
         RULE("", "function(c) local n = c.u if c.n == 4711 then n = 7 end return { u = n } end")},
        /* a condition is taken for its opposite */
        {"return condition(build(op.NOT, c))", "return condition(c)",
         RULE("", "function(c) local rare = c.n == 4711 local usual = not rare\n"
                  "return { u = usual and 1 or c.u } end")},
        /* <= is < */
        {"condition(build(op[name], lift(a).n, lift(b).n))",
         "condition(build(op.LT, lift(a).n, lift(b).n))",
         RULE("", "function(c) if c.u <= 1234.5 then return { u = 1 } end return { u = 2 } end")},
        /* loops leave out the last turn */
        {"range[3] > 0 and range[1] <= range[2]", "range[3] > 0 and range[1] < range[2]",
         RULE("",
              "function(c) local s = 0 if c.n == 4711 then for i = 1, 3 do s = s + c.u end end\n"
              "return { u = s } end")},
        /* one argument too few */
        {"state.rest.n = list[i], i - code.parameters", "state.rest.n = list[i], list.n - 1",
         RULE("local function count(...) return select('#', ...) end",
              "function(c) return { n = c.k == 77 and count(1, c.u, 2) or 1 } end")},
        /* the cell of a cell */
        {"at[axis] = at[axis] + max(", "at[axis] = max(",
         RULE("", "function(c) local o = c(1, 0)\n"
                  "return { u = c.n == 4711 and o(0, 1).u or 1 } end")},
        /* the larger one is the smaller */
        {"number(build(op[name], a.n, b.n), whole", "number(build(op.MIN, a.n, b.n), whole",
         RULE("", "function(c) local m = math.max(c.n, c.u)\n"
                  "return { u = c.k == 77 and m or 1 } end")},
        /* what a branch made in a table is lost */
        {"entry[3] = merged(entry[3], value_in(t.log, entry[1], entry[2]))", "local _ = entry",
         RULE("", "function(c) local t = { s = 1 } if c.n == 4711 then t.s = c.u end\n"
                  "return { u = t.s } end")},
        /* an operation takes its operands in the other order */
        {"if next_one.k then", "if not next_one.k then",
         RULE("", "function(c) return { u = c.n == 4711 and c.u - c.v or 1 } end")},
    };
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        char why[SEL_RULE_WHY];
        from = to = NULL;
        if (!reads(faults[k].text, why)) {
            fail_msg("%s: %s", why, faults[k].text);
        }
        from = faults[k].from;
        to = faults[k].to;
        places = 0;
        const bool read = reads(faults[k].text, why);
        assert_int_equal(places, 1);
        if (read) {
            fail_msg("not seen: %s", to);
        }
        if (!strstr(why, "its graph gave another value than Lua")) {
            fail_msg("%s: %s", to, why);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_broken_reader_gets_wrong_is_found),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
