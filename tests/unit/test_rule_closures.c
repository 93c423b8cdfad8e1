/* test_rule_closures.c -- rules with functions that functions make become graphs that give what Lua
 * gives, bit by bit. */
#include "rule_follow.h"
#include "random_closures.h"

enum { RULES = 200, MORE_CELLS = 300 };

static void are_followed(const char *const *texts, int count) {
    for (int k = 0; k < count; k++) {
        follows(texts[k], SEL_RETURNS_FIELDS);
    }
}

/* Variables of a body that goto repeats: closures of one turn do not see those of another. */
static void each_turn_has_a_variable_of_its_own(void **state) {
    (void)state;
    static const char *const texts[] = {
        RULE("", "function(c) local fs, i = {}, 0\n::again:: i = i + 1 local j = i * c.u\nfs[i] = "
                 "function() j = j + 1 return j end\nif i < 3 and c.n > 0 then goto again end\nj = "
                 "j + 100\nreturn { u = fs[1](), v = j } end"),
        RULE("",
             "function(c) local first, i = nil, 0\n::again:: i = i + 1 local j = c.v * i\nlocal "
             "function add(v) j = j + v return j end first = first or add\nif i < 4 and c(0, i "
             "- 2).u > 0 then goto again end\nif c.k == 1 then j = 7 end\nlocal a = first(1)\n"
             "return { u = a + j, v = add(c.u) - first(2) } end"),
        RULE("",
             "function(c) local get, i = nil, 0\n::again:: i = i + 1 local j, k = i, c.u\nif not "
             "get then get = function() return j + k end end\nfor d = 1, 2 do if i < d and c.n "
             "> d then goto again end k = k + 1 end\nj = 50 return { u = get(), v = j + k } "
             "end"),
    };
    are_followed(texts, sizeof texts / sizeof *texts);
}

/* Lists of which more than one branch decides what is in them. */
static void lengths_of_lists_are_those_of_lua(void **state) {
    (void)state;
    static const char *const texts[] = {
        RULE("",
             "function(c) local t = {} if c.u > 0 then t[1] = c.v elseif c.v > 0 then t[1] = { 2 "
             "} end\nlocal n = 0 for i, v in ipairs(t) do n = n + i end return { u = n, n = #t } "
             "end"),
        RULE("",
             "function(c) local t = {} if c.u > 0 then t.a = math.abs elseif c.v > 0 then t.a = "
             "{} end\nlocal n = 0 for k in pairs(t) do n = n + 1 end return { n = n } end"),
        RULE("",
             "function(c) local fs = { math.abs } if c.n == 3 then fs[2] = math.floor end\nlocal "
             "function g(v) for i, f in ipairs(fs) do v = f(v) + i end return v end\nlocal a = "
             "c.v if c.k == 1 then a = g(a) end return { u = g(a) } end"),
    };
    are_followed(texts, sizeof texts / sizeof *texts);
}

/* What was made in a branch is used where that branch was taken only. */
static void branches_know_what_they_made(void **state) {
    (void)state;
    static const char *const texts[] = {
        RULE("",
             "function(c) local f = math.floor if c.k == 2 then f = function(v) return v end "
             "end\nlocal a = 2 if c.k % 32 ~= 5 then a = f(7) end\nlocal fs, i = {}, 0 repeat i "
             "= i + 1 local j = f(3) fs[i] = function() return j end until i > 1 or c.v > 9\n"
             "local d = f(c.k) return { u = (fs[2] or math.abs)(1), v = a + d } end"),
        RULE("",
             "function(c) local f = math.abs if c.k == 2 then f = function(v) return v end end\n"
             "local o if c.v > 9 then o = {} if c.n > 0 then o.s = f(c.u) else o.s = 1 end end\n"
             "local d = f(c.n) if o then d = d + o.s end return { u = d, v = o and f(o.s) or 2 } "
             "end"),
    };
    are_followed(texts, sizeof texts / sizeof *texts);
}

/* A branch that no cell takes has no mistakes: its condition goes against another one. */
static void conditions_that_exclude_each_other_are_no_mistake(void **state) {
    (void)state;
    static const char *const texts[] = {
        RULE(
            "",
            "function(c) local o if c.n < 5 then o = { x = c.u } end\nif c.n < 3 then return { u = "
            "o.x } end return { u = 0 } end"),
        RULE("", "function(c) if c.u > 0 then return { u = 1 } end\nif c.u <= 0 or c.u ~= c.u then "
                 "return { u = 2 } end end"),
        RULE("",
             "function(c) local f if c.k == 1 then f = math.abs end\nlocal a = 0 if c.k < 2 and "
             "c.k > 0 then a = f(c.v) end return { u = a } end"),
        RULE("",
             "function(c) local s if c.k > 7 then s = 1 elseif c.k <= 7 then s = c.u end\nreturn "
             "{ u = s * 2 } end"),
    };
    are_followed(texts, sizeof texts / sizeof *texts);
}

/* Divisions by 0, huge integers, and what takes too long are left to Lua. */
static bool may_be_left(const char *why) {
    return strstr(why, "it always ends in an error") || strstr(why, "2^53") ||
           strstr(why, "more than") || strstr(why, "takes too long") ||
           strstr(why, "a real number for"); /* floor of infinity */
}

/* RULES=n compares n rules, from the one of number FIRST=n on. */
static void generated_closures_agree_bit_by_bit(void **state) {
    (void)state;
    static closure_writer w;
    static char text[2 * LAW_TEXT];
    static sel_error error;
    const unsigned first = setting("FIRST", 1), rules = setting("RULES", RULES);
    unsigned left = 0, failed = 0, nodes = 0;
    for (unsigned number = first; number < first + rules; number++) {
        script_case c = {.load = load_table, .options = {.seconds = 600}};
        char why[SEL_RULE_WHY];
        closure_write(&w, number);
        snprintf(text, sizeof text, "%sreturn sel.lbm { controls = { gain = 2.5 }, rule = %s }\n",
                 RULE_PRELUDE, w.w.text);
        script_accepts(&c, text);
        assert_string_equal(mistakes, "");
        const sel_rule *rule = read_rule(&c, SEL_RETURNS_FIELDS, why, &error);
        if (!rule && !may_be_left(*why ? why : error.text)) {
            fprintf(stderr, "%s\n", w.w.text);
            fail_msg("FIRST=%u: %s%s", number, why, error.text);
        }
        left += !rule;
        failed += rule ? (unsigned)compare(rule, text, MORE_CELLS) : 0;
        nodes += rule ? (unsigned)rule->nodes : 0;
        script_done(&c);
    }
    print_message("# %u rules, %u left to Lua; of %u cells %u failed; %u nodes\n", rules, left,
                  MORE_CELLS * (rules - left), failed, nodes / (rules - left + 1));
    assert_true(rules < RULES || left < rules / 4);
    assert_true(rules < RULES || failed < MORE_CELLS * (rules - left) / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_turn_has_a_variable_of_its_own),
        cmocka_unit_test(lengths_of_lists_are_those_of_lua),
        cmocka_unit_test(branches_know_what_they_made),
        cmocka_unit_test(conditions_that_exclude_each_other_are_no_mistake),
        cmocka_unit_test(generated_closures_agree_bit_by_bit),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
