/* test_script_order.c -- pairs and next visit keys in one order, in every run. */
#include "script_case.h"

/* Asserts that the function `text` returns gives `expected`. */
static void gives(const char *text, const char *expected) {
    char script[4096];
    script_case c = {.scenario = NULL};
    snprintf(script, sizeof script,
             "local function join(pairs_of)\n"
             "  local s = ''\n"
             "  for k, v in pairs_of() do s = s .. tostring(k) .. '=' .. tostring(v) .. ' ' end\n"
             "  return s\n"
             "end\n"
             "local found = (function() %s end)()\n"
             "if found ~= '%s' then error(found, 0) end\n" LBM(""),
             text, expected);
    script_accepts(&c, script);
    script_done(&c);
}

#define MIXED                                                                                 \
    "local t = { zeta = 1, alpha = 2, mu = 3, Beta = 4, ['a b'] = 5, [true] = 6, [0.5] = 7, " \
    "[-3] = 8, [0] = 9, [4] = 10, 11, 12 }\n"
#define IN_ORDER "1=11 2=12 4=10 -3=8 0=9 0.5=7 Beta=4 a b=5 alpha=2 mu=3 zeta=1 true=6 "

static void numbers_come_before_strings_each_in_order(void **state) {
    (void)state;
    gives(MIXED "return join(function() return pairs(t) end)", IN_ORDER);
    gives(MIXED "return join(function() return next, t end)", IN_ORDER);
    gives("return join(function() return pairs { 'a', 'b', 'c' } end)", "1=a 2=b 3=c ");
    gives("return join(function() return next, { 'a', 'b', 'c' } end)", "1=a 2=b 3=c ");
    gives("return join(function() return pairs {} end)", "");
}

static void objects_as_keys_are_refused(void **state) {
    (void)state;
    static const char *const objects[][2] = {
        {"{}", "table"},
        {"print", "function"},
        {"coroutine.create(print)", "thread"},
        {"sel.series { t = { 0, 1 }, value = { 1, 1 } }", "userdata"}};
    for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
        for (int next = 0; next < 2; next++) {
            char text[512], message[512];
            snprintf(text, sizeof text,
                     "local sel = require 'selenite'\nlocal t = { 1, a = 2, [%s] = 3 }\n"
                     "for k in %s do end\n",
                     objects[k][0], next ? "next, t" : "pairs(t)");
            snprintf(message, sizeof message,
                     "s.lua:3: %s: a %s is a key of the table, and objects have no order; visit a "
                     "list of them, or take numbers or strings as keys",
                     next ? "next" : "pairs", objects[k][1]);
            script_refuses(text, message);
        }
    }
}

static void objects_as_keys_are_no_fields(void **state) {
    (void)state;
    script_refuses(LBM("[{}] = 1, [print] = 2"), "s.lua:3: sel.lbm: the key function is no field\n"
                                                 "s.lua:3: sel.lbm: the key table is no field");
}

static void a_loop_may_change_and_remove_what_is_there(void **state) {
    (void)state;
    gives("local t, s = { a = 1, b = 2, c = 3, d = 4 }, ''\n"
          "for k, v in pairs(t) do\n"
          "  s = s .. k .. v t[k] = nil if k == 'a' then t.b = nil t.d = 5 end\n"
          "end\n"
          "return s .. tostring(next(t))",
          "a1c3d5nil");
    gives("local t, s = { a = 1, b = 2, c = 3, d = 4 }, ''\n"
          "for k, v in next, t do\n"
          "  s = s .. k .. v t[k] = nil if k == 'a' then t.b = nil t.d = 5 end\n"
          "end\n"
          "return s .. tostring(next(t))",
          "a1c3d5nil");
    gives("local t, s = { a = 1, b = 2 }, ''\n"
          "for k in pairs(t) do for l in pairs(t) do s = s .. k .. l .. ' ' end end\n"
          "for k in next, t do for l in next, t do s = s .. k .. l .. ' ' end end\n"
          "return s",
          "aa ab ba bb aa ab ba bb ");
    gives("local t, s = { x = 1, y = 2 }, ''\n"
          "for k in pairs(t) do s = s .. k break end\n"
          "t.w = 0\n"
          "for k in pairs(t) do s = s .. k end\n"
          "local k = next(t) s = s .. k .. next(t, k) t.wa = 1 return s .. next(t) .. next(t, 'x')",
          "xwxywxwy");
}

static void pairs_and_next_mean_what_they_mean_in_lua(void **state) {
    (void)state;
    gives("local t = setmetatable({ a = 1 }, { __pairs = function(t)\n"
          "  return function(_, k) if not k then return 'own', t.a end end, t, nil end })\n"
          "return join(function() return pairs(t) end)",
          "own=1 ");
    gives("local t = setmetatable({ a = 1, b = 2 }, { __index = error, __newindex = error })\n"
          "return join(function() return pairs(t) end) .. next(t)",
          "a=1 b=2 a");
    gives("return select('#', next {}) .. tostring(next { [false] = 1 })", "1false");
    script_refuses("for k in pairs(nil) do end\n",
                   "s.lua:1: bad argument #1 to 'for iterator' (table expected, got nil)");
    script_refuses("next(5)\n", "s.lua:1: bad argument #1 to 'next' (table expected, got number)");
    script_refuses("pairs()\n", "s.lua:1: bad argument #1 to 'pairs' (value expected)");
}

static void mistakes_of_one_line_come_in_one_order(void **state) {
    (void)state;
    script_refuses(LBM("zeta = 1, alpha = 2, mu = 3, beta = 4, gamma = 5, [true] = 6"),
                   "s.lua:3: sel.lbm: the key true is no field\n"
                   "s.lua:4: sel.lbm: unknown field 'alpha'\n"
                   "s.lua:4: sel.lbm: unknown field 'beta'\n"
                   "s.lua:4: sel.lbm: unknown field 'gamma'\n"
                   "s.lua:4: sel.lbm: unknown field 'mu'; did you mean 'nu'?\n"
                   "s.lua:4: sel.lbm: unknown field 'zeta'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_before_strings_each_in_order),
        cmocka_unit_test(objects_as_keys_are_refused),
        cmocka_unit_test(objects_as_keys_are_no_fields),
        cmocka_unit_test(a_loop_may_change_and_remove_what_is_there),
        cmocka_unit_test(pairs_and_next_mean_what_they_mean_in_lua),
        cmocka_unit_test(mistakes_of_one_line_come_in_one_order),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
