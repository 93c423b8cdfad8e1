/* test_script_sandbox.c -- what a script cannot do, and that nothing catches the limits. */
#include "script_case.h"
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/base/hardware.h"

#define TIME                                                                                    \
    "the script took longer than 0.4 s; --script-limit SECONDS allows more, --trust lifts all " \
    "limits"
#define MEMORY "the script needs more than 512 MiB of memory; --trust lifts all limits"

/* Loads `text` in a process of its own, which it may end. Reads what that says on standard error
 * and returns its exit status. */
static int load_in_child(const char *text, char *said, size_t room) {
    int ends[2], status, length = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        script_case c = {.options = {.seconds = 0.4}};
        dup2(ends[1], STDERR_FILENO);
        script_load(&c, text);
        fprintf(stderr, "%s\n", c.error.text);
        _exit((int)c.error.status);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], said + length, room - 1 - (size_t)length)) > 0;)
        length += (int)n;
    said[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Asserts that `text` ends at `line` by the time limit of 0.4 s. */
static void times_out(const char *text, int line) {
    char message[256], said[1024];
    double before = sel_machine_seconds();
    snprintf(message, sizeof message, "s.lua:%d: " TIME "\n", line);
    assert_int_equal(load_in_child(text, said, sizeof said), SEL_BAD_SCENARIO);
    assert_string_equal(said, message);
    assert_true(sel_machine_seconds() - before < 20); /* 2, but the machine may be busy */
}

static void endless_loops_end(void **state) {
    (void)state;
    times_out("local n = 1\nwhile true do end\n", 2);
    times_out("while true do\n  pcall(function() while true do end end)\nend\n", 2);
    times_out("xpcall(function() while true do end end, function() while true do end end)\n", 1);
    times_out("for i = 1, 200 do coroutine.wrap(function() while true do end end)() end\n", 1);
    times_out("local co = coroutine.create(function() while true do end end)\n"
              "while true do coroutine.resume(co) end\n",
              1);
    times_out("local function f() return pcall(f) or f() end\nf()\nwhile true do pcall(f) end\n",
              1);
    times_out("local s = setmetatable({}, { __index = function(t, k) while true do end end })\n"
              "pcall(function() return s.x end)\n",
              1);
    times_out("table.sort({3, 2, 1}, function() while true do end end)\n", 1);
    times_out("('x'):gsub('x', function() while true do end end)\n", 1);
    times_out("pcall(load, function() while true do end end)\n", 1);
}

static void closing_variables_do_not_outlive_the_limit(void **state) {
    (void)state;
    times_out("local function forever() while true do end end\n"
              "coroutine.wrap(function()\n"
              "  local x <close> = setmetatable({}, { __close = forever })\n"
              "  forever()\n"
              "end)()\n",
              1);
    times_out(
        "local co = coroutine.create(function()\n"
        "  local x <close> = setmetatable({}, { __close = function() while true do end end })\n"
        "  coroutine.yield()\n"
        "end)\n"
        "coroutine.resume(co)\n"
        "pcall(coroutine.close, co)\n"
        "while true do end\n",
        2);
    times_out("local x <close> = setmetatable({}, { __close = function() while true do end end })\n"
              "while true do end\n",
              2);
}

static void calls_into_c_that_do_not_return_end(void **state) {
    (void)state;
    times_out("local found = ('a'):rep(50):find(('a-'):rep(50) .. 'b')\n", 1);
    times_out("local set = '[' .. ('\\1'):rep(1000000) .. ']*'\n"
              "local found = ('x'):rep(1000000):gsub(set .. 'y', '')\n",
              2);
    times_out("local t = {}\n"
              "local a = ('a'):rep(300000) for i = 1, 100 do t[i] = a .. i % 7 end\n"
              "while true do table.sort(t) end\n",
              3);
    times_out("table.sort({ 3, 2, 1, 5, 4 }, function() ('a'):rep(50):find(('a-'):rep(50) .. 'b')\n"
              "end)\n",
              1);
    times_out("local chain = {}\n"
              "for i = 1, 1900 do chain = setmetatable({}, { __index = chain }) end\n"
              "table.move(chain, 1, 90000000, 1, {})\n",
              3);
    times_out("pcall(coroutine.wrap(function()\n"
              "  local found = ('a'):rep(50):find(('a-'):rep(50) .. 'b')\n"
              "end))\n",
              2);
}

/* The limit of 0.4 s is long past when the script's function is called. */
static void what_has_ended_is_not_timed(void **state) {
    (void)state;
    script_case c = {.options = {.seconds = 0.4}};
    const double x = 0.5;
    const sel_places at = {.n = 1, .x = &x, .y = &x};
    double out[1];
    script_accepts(&c, LBM("initial = { pressure = function(x) return #tostring(x) end }"));
    raise(SIGALRM); /* of somebody else */
    for (double end = sel_machine_seconds() + 2; sel_machine_seconds() < end;)
        usleep(1000);
    assert_int_equal(
        sel_quantity_eval(&script_lbm(&c)->initial.pressure, "pressure", &at, out, &c.error),
        SEL_OK);
    assert_true(out[0] == 3);
    script_done(&c);
}

/* A hundred thousand long calls. */
static void reading_ends(void **state) {
    (void)state;
    times_out(LBM("initial = { pressure = function(x)\n"
                  "  local n = 0\n"
                  "  for i = 1, 50000 do n = n + #('x'):rep(1000000) end\n"
                  "  return n * x end }"),
              4);
}

static void long_calls_into_c_end(void **state) {
    (void)state;
    times_out("while true do string.rep('x', 2^26 | 0) end\n", 1);
    times_out("local s = string.rep('x', 2^23 | 0)\nwhile true do local t = s .. 'y' end\n", 2);
    times_out("local n = #string.rep('', math.maxinteger)\n", 1);
    times_out("table.move({}, 1, math.maxinteger - 1, 2)\n", 1);
    times_out("\ntable.concat(setmetatable({}, { __index = function() return '' end }), '', 1,\n"
              "  math.maxinteger)\n",
              2);
    times_out(
        "local none = setmetatable({}, { __index = function() end, __newindex = function() end,\n"
        "  __len = function() return 2^62 | 0 end })\n"
        "table.insert(none, 1, 1)\n",
        1);
}

static void memory_bombs_end(void **state) {
    (void)state;
    static const char *const bombs[] = {
        "local t = {} for i = 1, math.huge do t[i] = ('x'):rep(1e6 | 0) .. i end\n",
        "pcall(function() local s = 'x' while true do s = s .. s end end)\n",
        "xpcall(function() local s = 'x' while true do s = s .. s end end, print)\n",
        "coroutine.wrap(function() local s = 'x' while true do s = s .. s end end)()\n",
        "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(1e7 | 0) end) end\n",
    };
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        script_case c = {.options = {.seconds = 60}};
        assert_int_equal(script_load(&c, bombs[i]), SEL_BAD_SCENARIO);
        assert_string_equal(c.error.text, "s.lua:1: " MEMORY);
    }
    script_refuses("local s = ('x'):rep(1e9 | 0)\n", "s.lua:1: " MEMORY);
}

static void nothing_reaches_the_system(void **state) {
    (void)state;
    static const char *const names[] = {"os",     "io",       "debug", "package",
                                        "dofile", "loadfile", "warn",  "collectgarbage"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64], message[96];
        snprintf(text, sizeof text, "local x = %s\n", names[i]);
        snprintf(message, sizeof message, "s.lua:1: '%s' is closed to scenarios; --trust opens it",
                 names[i]);
        script_refuses(text, message);
    }
    script_refuses("string.dump(print)\n", "s.lua:1: attempt to call a nil value (field 'dump')");
    script_refuses("setmetatable({}, { __gc = print })\n", "s.lua:1: a scenario may not use __gc");
    script_refuses("local f, why = load('\\27Lua')\nerror(why, 0)\n",
                   "attempt to load a binary chunk (mode is 't')");
    script_refuses("getmetatable('').__index = 1\n", "s.lua:1: attempt to index a boolean value");
    script_refuses("\x1bLua", "s.lua: is a compiled chunk; a scenario is a text file");
}

static void globals_are_strict(void **state) {
    (void)state;
    script_refuses("local x = mth.pi\n", "s.lua:1: undeclared global 'mth'; did you mean 'math'?");
    script_refuses("\nlength = 5\n",
                   "s.lua:2: undeclared global 'length'; write 'local length' first");
    script_refuses("function f() end\n", "s.lua:1: undeclared global 'f'; write 'local f' first");
    script_refuses(
        "print = 5\n",
        "s.lua:1: global 'print' cannot be changed; write 'local print' for one of your own");
    script_refuses("rawset(_G, 'x', 5)\n", "s.lua:1: this table cannot be changed");
    script_refuses("local f = load('x = 1')\nf()\n",
                   "(load):1: undeclared global 'x'; write 'local x' first");
    script_refuses("_G.y = 1\n", "s.lua:1: undeclared global 'y'; write 'local y' first");
}

static void errors_are_one_line_with_a_place(void **state) {
    (void)state;
    script_refuses("local x = = 1\n", "s.lua:1: unexpected symbol near '='");
    script_refuses("local x = nil\nlocal y = x.z\n",
                   "s.lua:2: attempt to index a nil value (local 'x')");
    script_refuses("error {}\n", "s.lua:0: the script raised an error that is a table, not a text");
    script_refuses("error 'plain'\n", "s.lua:1: plain");
    script_refuses("#!/usr/bin/env selenite\nerror 'second line'\n", "s.lua:2: second line");
}

static void long_file_names_are_not_shortened(void **state) {
    (void)state;
    static const char path[] = "././././././././././././././././././././././././././././long.lua";
    FILE *file = fopen("long.lua", "wb");
    assert_non_null(file);
    fputs("\nlocal x = nil + 1\n", file);
    fclose(file);
    sel_scenario *scenario;
    sel_script_options options = {0};
    sel_error error = {.status = SEL_OK};
    char message[256];
    sel_script_load(path, &options, &scenario, &error);
    snprintf(message, sizeof message, "%s:2: attempt to perform arithmetic on a nil value", path);
    assert_string_equal(error.text, message);
}

static void random_numbers_are_the_same_in_every_run(void **state) {
    (void)state;
    char first[64];
    script_case c = {.scenario = NULL};
    script_accepts(&c, LBM("name = tostring(math.random())"));
    strcpy(first, script_lbm(&c)->common.name);
    script_done(&c);
    script_accepts(&c, LBM("name = tostring(math.random())"));
    assert_string_equal(script_lbm(&c)->common.name, first);
    script_done(&c);
    script_refuses("math.randomseed()\n",
                   "s.lua:1: bad argument #1 to 'randomseed' (value expected)");
}

static void pcall_and_coroutines_work_as_in_lua(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(
        &c,
        "local ok, a, b = pcall(function(...) return ... end, 1, 2)\n"
        "assert(ok and a == 1 and b == 2)\n"
        "local bad, why = pcall(error, { code = 7 })\n"
        "assert(not bad and why.code == 7)\n"
        "assert(select('#', pcall(error)) == 2)\n"
        "local okay, x = xpcall(function(u) return u + 1 end, print, 4)\n"
        "assert(okay and x == 5)\n"
        "local fine, y = xpcall(function() error('a', 0) end, function(m) return m .. 'b' end)\n"
        "assert(not fine and y == 'ab')\n"
        "local co = coroutine.wrap(function(p)\n"
        "  local q = coroutine.yield(p + 1)\n"
        "  local _, r = pcall(function() return coroutine.yield(q + 1) end)\n"
        "  return r + 1 end)\n"
        "assert(co(1) == 2 and co(5) == 6 and co(9) == 10)\n"
        "local dead, message = pcall(co)\n"
        "assert(not dead and message:find 'dead')\n"
        "local th = coroutine.create(function() error 'inside' end)\n"
        "local alive, text = coroutine.resume(th)\n"
        "assert(not alive and text == 's.lua:17: inside' and coroutine.status(th) == 'dead')\n"
        "local closed = 0\n"
        "local c2 = coroutine.create(function()\n"
        "  local v <close> = setmetatable({}, { __close = function() closed = closed + 1 end })\n"
        "  coroutine.yield() end)\n"
        "coroutine.resume(c2)\n"
        "assert(coroutine.close(c2) and closed == 1)\n"
        "local w = coroutine.wrap(function()\n"
        "  local v <close> = setmetatable({}, { __close = function() closed = closed + 1 end })\n"
        "  error('out', 0) end)\n"
        "local _, m = pcall(w)\n"
        "assert(m == 'out' and closed == 2)\n" LBM("name = 'x'"));
    script_done(&c);
}

static void trust_opens_the_libraries(void **state) {
    (void)state;
    script_case c = {.options = {.trust = true}};
    script_accepts(&c, "assert(os.time() and io.stdout and debug and package.path)\n"
                       "assert(require('string') == string)\n" LBM("name = 'x'"));
    script_done(&c);
    script_load(&c, "local x = mth\n");
    assert_string_equal(c.error.text, "s.lua:1: undeclared global 'mth'; did you mean 'math'?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_loops_end),
        cmocka_unit_test(closing_variables_do_not_outlive_the_limit),
        cmocka_unit_test(calls_into_c_that_do_not_return_end),
        cmocka_unit_test(what_has_ended_is_not_timed),
        cmocka_unit_test(reading_ends),
        cmocka_unit_test(long_calls_into_c_end),
        cmocka_unit_test(memory_bombs_end),
        cmocka_unit_test(nothing_reaches_the_system),
        cmocka_unit_test(globals_are_strict),
        cmocka_unit_test(errors_are_one_line_with_a_place),
        cmocka_unit_test(long_file_names_are_not_shortened),
        cmocka_unit_test(random_numbers_are_the_same_in_every_run),
        cmocka_unit_test(pcall_and_coroutines_work_as_in_lua),
        cmocka_unit_test(trust_opens_the_libraries),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
