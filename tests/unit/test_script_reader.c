/* test_script_reader.c -- what the reader of functions takes from Lua is checked; and the libraries
 * that a script changes are not those of Selenite's own code. */
#include "script_case.h"
#include "lua/tables/tables.h"

/* Lua's own pairs, which takes objects as keys. */
#define ALL                                              \
    "local all\n"                                        \
    "for i = 1, 9 do\n"                                  \
    "  local name, value = debug.getupvalue(pairs, i)\n" \
    "  if name == 'raw_pairs' then all = value end\n"    \
    "end\n"

/* A trusted script has the reader pass what is wrong, while it reads a function: each must be
 * refused with `TEXT`, or the reading fails. */
#define WRONG(calls)                                                       \
    ALL "local V\n"                                                        \
        "for _, v in all(debug.getregistry()) do\n"                        \
        "  if type(v) == 'table' and rawget(v, 'build') then V = v end\n"  \
        "end\n"                                                            \
        "local add, log = V.op.ADD, V.op.LOG\n"                            \
        "local original = V.instructions.RETURN1\n"                        \
        "V.instructions.RETURN1 = function(s, i, r)\n"                     \
        "  for _, call in ipairs {" calls "} do\n"                         \
        "    local done, why = pcall(V[call[1]], table.unpack(call, 2))\n" \
        "    if done then error('it takes ' .. call[1]) end\n"             \
        "  end\n"                                                          \
        "  return original(s, i, r)\n"                                     \
        "end\n" LBM("initial = { pressure = function(x) return 1e-3 * x end }")

static void reads(const char *calls) {
    script_case c = {.options = {.trust = true}};
    script_accepts(&c, calls);
    const sel_script *script = c.scenario->release_data;
    if (!script->functions->program)
        fail_msg("%s", script->functions->why);
    script_done(&c);
}

static void numbers_of_nodes_are_checked(void **state) {
    (void)state;
    reads(WRONG(
        "{ 'known', -1 }, { 'known', 20000 }, { 'known', 1e9 }, { 'known', 0.5 }, { 'known' }, "
        "{ 'known', '0' }, { 'known', {} }, { 'known', 2^40 | 0 }, { 'known', 0.0 }"));
    reads(WRONG("{ 'parts', -1 }, { 'parts', 30000 }, { 'parts', 2^32 | 0 }, { 'parts', true }"));
    reads(WRONG("{ 'bounds', -3, 0, 1 }, { 'bounds', 1 << 30, 0, 1 }, { 'bounds', 0, 'x', 1 }"));
    reads(WRONG("{ 'build', add, 0, -1 }, { 'build', add, 50000, 0 }, { 'build', add, 0 }, "
                "{ 'build', log, 1 << 20 }, { 'constant', {} }, { 'constant' }"));
    reads(WRONG("{ 'look_up', require('selenite').noise, -1, 0 }, { 'look_up', "
                "require('selenite').noise, 0, 99999 }, "
                "{ 'look_up', io.stdout, 0, 0 }, { 'look_up', {}, 0, 0 }"));
}

static void operations_fields_and_distances_are_checked(void **state) {
    (void)state;
    reads(WRONG(
        "{ 'build', -1, 0, 0 }, { 'build', 1000, 0, 0 }, { 'build', 127, 0, 0 }, "
        "{ 'build', V.op.WHOLE + 1 }, { 'build', V.op.WHOLE + 3, 0, 0 }, { 'build', nil, 0, 0 }"));
    reads(WRONG("{ 'read', 0, 0, 0, 0 }, { 'read', -1, 0, 0, 0 }, { 'read', 0, 99, 0, 0 }"));
    reads(WRONG("{ 'kind_of', 1 }, { 'function_name', nil, 1 }"));
}

static void variables_of_functions_of_c_are_not_read(void **state) {
    (void)state;
    reads(WRONG(
        "{ 'getupvalue', load, 1 }, { 'getupvalue', setmetatable, 1 }, { 'getupvalue', {}, 1 }, "
        "{ 'getupvalue', V.index, 0 }, { 'getupvalue', V.index, 1 << 40 }"));
}

static void outside_of_a_reading_there_are_no_nodes(void **state) {
    (void)state;
    script_case c = {.options = {.trust = true}};
    script_accepts(&c, ALL "for _, v in all(debug.getregistry()) do\n"
                           "  if type(v) == 'table' and rawget(v, 'build') then\n"
                           "    local done, why = pcall(v.known, 0)\n"
                           "    assert(not done and why:find 'no function is read')\n"
                           "  end\n"
                           "end\n" LBM("name = 'x'"));
    script_done(&c);
}

/* All functions of all libraries are others, and so are the numbers. */
#define CHANGED                                                                               \
    "for _, library in ipairs { string, table, math, utf8, coroutine } do\n"                  \
    "  for name, f in next, library do\n"                                                     \
    "    library[name] = type(f) == 'function' and function() return {} end or {}\n"          \
    "  end\n"                                                                                 \
    "  setmetatable(library, { __index = function() return function() return {} end end })\n" \
    "end\n"

static void libraries_of_its_own(void **state) {
    (void)state;
    script_refuses(CHANGED "local p = require('selenite').params { n = { 1, 'help', min = 2 } }\n",
                   "s.lua:7: sel.params: n: the default must be at least 2, got 1");
    script_refuses(CHANGED "local p = require('selenite').params { n = { 1, mni = 2 } }\n",
                   "s.lua:7: sel.params: n: unknown field 'mni'; did you mean 'min'?");
    script_refuses(
        CHANGED "local p = require('selenite').lmb\n",
        "s.lua:7: selenite has no 'lmb'; did you mean 'lbm'? It has aqua, heat, law, "
        "lbm, load, noise, out, paint, params, poisson, ramp, random, raster, rule, series, "
        "shape, state, step, units");
    script_refuses(CHANGED "local f = require('selenite').shape.face 'w-'\n",
                   "s.lua:7: shape.face takes \"x-\", \"x+\", \"y-\", \"y+\", \"z-\" or \"z+\", "
                   "got string \"w-\"");
    script_refuses(CHANGED "local x = mth\n",
                   "s.lua:7: undeclared global 'mth'; did you mean 'math'?");
    script_case c = {.scenario = NULL};
    script_accepts(
        &c, "local max = math.max\n" CHANGED LBM(
                "initial = { pressure = function(x, y)\n"
                "  local t = 0 for _, v in ipairs { x, y, sel.ramp(x, 2) } do t = max(t, v) end\n"
                "  if x > y then t = t // 1 end return 1e-3 * t end }"));
    const sel_script *script = c.scenario->release_data;
    if (!script->functions->program)
        fail_msg("%s", script->functions->why);
    script_done(&c);
    script_accepts(&c,
                   CHANGED LBM("initial = { pressure = function(x) return 1e-3 * ('x')[x] end }"));
    script = c.scenario->release_data;
    assert_string_equal(script->functions->why,
                        "it indexes a table on line 10 by a value that is known in a cell only");
    script_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_nodes_are_checked),
        cmocka_unit_test(operations_fields_and_distances_are_checked),
        cmocka_unit_test(variables_of_functions_of_c_are_not_read),
        cmocka_unit_test(outside_of_a_reading_there_are_no_nodes),
        cmocka_unit_test(libraries_of_its_own),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
