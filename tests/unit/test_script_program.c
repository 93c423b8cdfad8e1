/* test_script_program.c -- programs give what their functions give in Lua, bit by bit.
 *
 * LAWS=n compares n functions instead of some thousands, from the one of number FIRST=n on.
 */
#include "pack_case.h"
#include "script_case.h"
#include "lua/tables/tables.h"
#include "random_law.h"

enum { LAWS = 2000, LAWS_OF_A_SCRIPT = 20, PLACES = 48, TEXT = LAWS_OF_A_SCRIPT * LAW_TEXT };

static void fill_places(unsigned number, double *x, double *y, int n) {
    static const double special[] = {0, -0.0, 1, -1, 0.5, -0.5, 2, 1e-310, 1e15, -3e15, 1e20};
    uint64_t seed = 5 + number;
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < 2; c++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            double unit = (double)(seed >> 11) / 4503599627370496.0 - 1;
            double value = unit * (double[]){1, 10, 300, 1e5}[seed >> 62];
            value = seed >> 55 & 1u ? value : floor(value);
            *(c ? &y[i] : &x[i]) = seed >> 20 & 7u ? value : special[(seed >> 30) % 11];
        }
    }
}

static const sel_lua_function *law_function(const script_case *c, int region) {
    const sel_region *regions = script_lbm(c)->common.regions.v;
    const sel_quantity *q = regions[region].law.data;
    const sel_function *function = q->whole ? q->whole : q->part[0].function;
    return function->data;
}

/* At one place. Lua refuses results that are not finite; so must whoever looks at the program's. */
static bool agrees(const sel_lua_function *f, const sel_places *at, size_t i, const double *out) {
    static sel_error error;
    double lua[2 * PLACES] = {0};
    memset(&error, 0, sizeof error);
    bool finite = isfinite(out[i]) && isfinite(out[at->n + i]);
    if (sel_function_call_at(f, at, i, lua, &error) != SEL_OK)
        return !finite;
    return memcmp(&lua[i], &out[i], sizeof *out) == 0 &&
           memcmp(&lua[at->n + i], &out[at->n + i], sizeof *out) == 0;
}

/* The number of places where the program is sure; negative: -1 - i, where it differs at place i. */
static int compare_everywhere(const sel_lua_function *f, unsigned number) {
    double x[PLACES], y[PLACES], out[2 * PLACES], gain = number % 3 ? 2.5 : -3;
    uint8_t exact[PLACES];
    int sure = 0;
    sel_places at = {PLACES, x, y, NULL, number % 5 ? 7.25 : 0, &gain, NULL};
    fill_places(number, x, y, PLACES);
    assert_int_equal(sel_program_eval(f->program, &at, &gain, out, exact, NULL), SEL_OK);
    sel_pack *pack = sel_pack_create();
    pack_agrees(pack, sel_pack_add(pack, f->program), f->program, &at, &gain);
    sel_pack_destroy(pack);
    for (size_t i = 0; i < PLACES; i++) {
        sure += exact[i];
        if (exact[i] && !agrees(f, &at, i, out))
            return -1 - (int)i;
    }
    return sure;
}

/* A scenario of so many laws, one by one the functions from number `first` on. */
static void write_script(char *text, unsigned first) {
    static law_writer w;
    size_t used = (size_t)snprintf(text, TEXT, "%s%s", LAW_PRELUDE,
                                   "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8,"
                                   "stop = { steps = 1 }, controls = { gain = 1 }, regions = {\n");
    for (unsigned k = 0; k < LAWS_OF_A_SCRIPT; k++) {
        law_write(&w, first + k);
        used +=
            (size_t)snprintf(text + used, TEXT - used,
                             "{ where = sel.shape.faces, law = sel.law.velocity {%s} },\n", w.text);
    }
    snprintf(text + used, TEXT - used, "} }\n");
}

static unsigned setting(const char *name, unsigned preset) {
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : preset;
}

/* What cannot be followed is left to Lua: divisions by a constant zero, huge integers, and too many
 * paths or operations. */
static bool may_be_left(const char *why) {
    return strstr(why, "it always ends in an error") || strstr(why, "2^53") ||
           strstr(why, "more than") || strstr(why, "registers");
}

/* What was compared. */
typedef struct tally {
    unsigned left;
    long long sure;
} tally;

/* The functions of a script. */
static void compare_script(unsigned first, tally *t) {
    static char text[TEXT];
    static law_writer w;
    script_case c = {.options = {.seconds = 600}};
    write_script(text, first);
    script_accepts(&c, text);
    for (unsigned i = 0; i < LAWS_OF_A_SCRIPT; i++) {
        const sel_lua_function *f = law_function(&c, (int)i);
        int found = f->program ? compare_everywhere(f, first + i) : 0;
        bool wrong = !f->program && !may_be_left(f->why);
        if (found < 0 || wrong) {
            law_write(&w, first + i);
            fail_msg("FIRST=%u: %s (place %d)\n%s", first + i, wrong ? f->why : "differs",
                     -1 - found, w.text);
        }
        t->left += !f->program;
        t->sure += found;
    }
    script_done(&c);
}

static void generated_functions_agree_bit_by_bit(void **state) {
    (void)state;
    tally t = {0};
    unsigned first = setting("FIRST", 1), laws = setting("LAWS", LAWS);
    for (unsigned k = 0; k < laws; k += LAWS_OF_A_SCRIPT) {
        compare_script(first + k, &t);
    }
    print_message("# %u functions, %u left to Lua, %lld values\n", laws, t.left, t.sure);
    /* The comparison would be empty if programs were rarely sure. */
    assert_true(t.sure > (long long)laws * PLACES / 3);
    assert_true(t.left < laws / 3);
}

/* Whole numbers that are none: after a remainder of a division by 0 sums go below the least one; a
 * constant and a number are divided by 0 themselves; so is a choice of a whole number and NaN. */
static void whole_numbers_are_alike_where_lua_fails(void **state) {
    (void)state;
    static const unsigned first[] = {5048460, 6003120, 6005240, 6008620, 1088848};
    tally t = {0};
    for (int k = 0; k < 5; k++) {
        compare_script(first[k], &t);
    }
    assert_true(t.sure > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_functions_agree_bit_by_bit),
        cmocka_unit_test(whole_numbers_are_alike_where_lua_fails),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
