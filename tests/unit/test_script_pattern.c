/* test_script_pattern.c -- the pattern matcher with limits against Lua's own. */
#include "script_case.h"
#include "lua/pattern.h"
#include "lua/state.h"
#include <lualib.h>

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void random_text(uint32_t *seed, const char *alphabet, size_t most, char *text) {
    size_t n = next_random(seed) % (most + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = alphabet[next_random(seed) % strlen(alphabet)];
    text[n] = '\0';
}

/* Random patterns, mostly well formed: items and suffixes out of a list. */
static void random_pattern(uint32_t *seed, char *text) {
    static const char *const items[] = {"a",    "b",     ".",      "%a", "%d",   "%s",   "[ab]",
                                        "[^a]", "[a-c]", "%bab",   "(a", ")",    "()",   "(.-)",
                                        "%1",   "%f[b]", "[%d%s]", "%S", "[]a]", "[^]]", "(",
                                        "$",    "^",     "%",      "[",  "[a-]", "%.",   "%f"};
    static const char *const suffixes[] = {"", "", "", "*", "+", "-", "?"};
    uint32_t n = next_random(seed) % 5 + 1;
    text[0] = '\0';
    if (next_random(seed) % 4 == 0)
        strcat(text, "^");
    for (uint32_t i = 0; i < n; i++) {
        size_t well_formed = next_random(seed) % 8 ? 20 : sizeof items / sizeof *items;
        strcat(text, items[next_random(seed) % well_formed]);
        strcat(text, suffixes[next_random(seed) % 7]);
    }
}

/* All results of all functions for a text and a pattern, or "error". */
static const char driver[] =
    "local s, p = ...\n"
    "local results = {}\n"
    "local function add(ok, ...)\n"
    "  if not ok then results[#results + 1] = 'error' return end\n"
    "  for i = 1, select('#', ...) do results[#results + 1] = tostring((select(i, ...))) end\n"
    "  results[#results + 1] = ';'\n"
    "end\n"
    "add(pcall(string.find, s, p)) add(pcall(string.find, s, p, 2)) add(pcall(string.find, s, p, "
    "-2))\n"
    "add(pcall(string.find, s, p, 1, true)) add(pcall(string.match, s, p))\n"
    "add(pcall(string.match, s, p, 9))\n"
    "add(pcall(string.gsub, s, p, '<%0>')) add(pcall(string.gsub, s, p, '%1%%', 2))\n"
    "add(pcall(string.gsub, s, p, { a = 'A', b = false }))\n"
    "add(pcall(string.gsub, s, p, function(x) return x ~= 'a' and 'F' end))\n"
    "add(pcall(function()\n"
    "  for x, y in string.gmatch(s, p) do add(true, x, y) end\n"
    "end))\n"
    "return table.concat(results, ',')\n";

static lua_State *open_state(sel_script *script) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (script) {
        script->trust = true;
        *(sel_script **)lua_getextraspace(L) = script;
        lua_getglobal(L, "string");
        sel_pattern_open(L);
        lua_pop(L, 1);
    }
    assert_int_equal(luaL_loadstring(L, driver), LUA_OK);
    return L;
}

static const char *drive(lua_State *L, const char *text, const char *pattern) {
    lua_settop(L, 1);
    lua_pushvalue(L, 1);
    lua_pushstring(L, text);
    lua_pushstring(L, pattern);
    assert_int_equal(lua_pcall(L, 2, 1, 0), LUA_OK);
    return lua_tostring(L, -1);
}

static void patterns_mean_what_they_mean_in_lua(void **state) {
    (void)state;
    static sel_script script;
    lua_State *theirs = open_state(NULL), *ours = open_state(&script);
    uint32_t seed = 1;
    for (int i = 0; i < 40000; i++) {
        char text[32], pattern[64];
        random_text(&seed, "aabbc1 ]-.%", 9, text);
        random_pattern(&seed, pattern);
        const char *expected = drive(theirs, text, pattern), *got = drive(ours, text, pattern);
        if (strcmp(expected, got) != 0)
            fail_msg("text '%s', pattern '%s':\n%s, Lua gives\n%s", text, pattern, got, expected);
    }
    lua_close(theirs);
    lua_close(ours);
}

static void patterns_handle_zero_bytes(void **state) {
    (void)state;
    script_case c = {.scenario = NULL};
    script_accepts(&c, LBM("name = ('a\\0b\\0'):find('b\\0') .. "
                           "('x\\0y'):gsub('\\0', '-')"));
    assert_string_equal(script_lbm(&c)->common.name, "3x-y");
    script_done(&c);
}

static void pattern_bombs_hit_the_time_limit(void **state) {
    (void)state;
    static const char *const calls[] = {"find(p)", "match(p)", "gsub(p, '')", "gmatch(p)()"};
    for (int i = 0; i < 4; i++) {
        char text[256];
        script_case c = {.options = {.seconds = 0.1}};
        snprintf(
            text, sizeof text,
            "local p = ('a-'):rep(40) .. 'b'\npcall(function() return (('a'):rep(60)):%s end)\n",
            calls[i]);
        assert_int_equal(script_load(&c, text), SEL_BAD_SCENARIO);
        assert_string_equal(c.error.text,
                            "s.lua:2: the script took longer than 0.1 s; --script-limit "
                            "SECONDS allows more, --trust lifts all limits");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_mean_what_they_mean_in_lua),
        cmocka_unit_test(patterns_handle_zero_bytes),
        cmocka_unit_test(pattern_bombs_hit_the_time_limit),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
