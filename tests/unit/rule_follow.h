/* rule_follow.h -- reads functions of cells, and compares their graphs with Lua in many cells, bit
 * by bit. */
#ifndef RULE_FOLLOW_H
#define RULE_FOLLOW_H

#include "rule_case.h"
#include <math.h>
#include <stdlib.h>
#include "rule_eval.h"

enum { FIELDS = 5, CELLS = 60 };
static const sel_cell_field fields[FIELDS] = {{"u", SEL_CELL_REAL, true, 0, 0},
                                              {"v", SEL_CELL_REAL, true, 0, 0},
                                              {"n", SEL_CELL_I32, true, 0, 0},
                                              {"k", SEL_CELL_U8, false, 0, 0},
                                              {"a", SEL_CELL_REAL, false, 0, 0}};

static inline uint64_t next(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* The value of a field at a place: the same whenever it is asked for. */
static inline double read_field(const sel_rule_place *self, int field, const int at[3]) {
    static const double special[] = {0, -0.0, 1, -1, 0.5, 2, 3, 100};
    uint64_t seed =
        *(const uint64_t *)self->data * 977 + (uint64_t)(field * 25 + at[0] * 5 + at[1] + 12);
    next(&seed);
    const uint64_t draw = next(&seed);
    if (fields[field].type == SEL_CELL_U8)
        return (double)(draw & 1 ? draw % 3 : draw % 256);
    if (fields[field].type == SEL_CELL_I32)
        return (double)(draw & 1 ? (int64_t)(draw % 9) - 4 : (int64_t)(draw % 2000000) - 1000000);
    return draw % 3 == 0 ? special[draw / 3 % 8]
                         : ((double)draw / 1073741824.0 - 1) * (draw & 4 ? 1 : 300);
}

static inline double random_of(const sel_rule_place *self, int64_t k) {
    uint64_t seed = *(const uint64_t *)self->data + (uint64_t)k * 12345;
    return (double)next(&seed) / 2147483648.0;
}

static const double controls[] = {2.5};

static inline sel_rule_place place_of(const uint64_t *number) {
    uint64_t seed = *number;
    sel_rule_place at = {.controls = controls, .read = read_field, .random = random_of};
    at.data = (void *)(uintptr_t)number;
    at.place[0] = (double)(next(&seed) % 20) / 2 - 3;
    at.place[1] = (double)(next(&seed) % 2000) / 7;
    at.t = (double)(next(&seed) % 10);
    at.dt = 0.25;
    return at;
}

static inline const sel_rule *read_rule(const script_case *c, sel_rule_returns returns, char *why,
                                        sel_error *error) {
    static const sel_cells cells = {fields, FIELDS, 2};
    const sel_rule_source *source = read_first(&cells, returns);
    (void)c;
    memset(error, 0, sizeof *error);
    snprintf(why, SEL_RULE_WHY, "%s", source->why ? source->why : "");
    if (source->mistake)
        *error = *source->mistake;
    return source->rule;
}

/* Compares the rule with Lua in so many cells; returns in how many it failed. */
static inline int compare(const sel_rule *rule, const char *text, int cells) {
    static sel_error error;
    double *scratch = calloc((size_t)rule->nodes, sizeof *scratch);
    const sel_rule_source *source = filled.rule.v[0].source;
    int failed = 0;
    for (uint64_t number = 1; number <= (uint64_t)cells; number++) {
        const sel_rule_place at = place_of(&number);
        double out[FIELDS] = {0}, lua[FIELDS], graph[FIELDS];
        bool fails;
        for (int k = 0; k < FIELDS; k++)
            lua[k] = graph[k] = -12345;
        memset(&error, 0, sizeof error);
        rule_eval(rule, &at, scratch, out, &fails);
        const sel_status status = source->call(source, &at, lua, &error);
        for (int k = 0; k < rule->outputs; k++)
            graph[rule->output[k].field] = out[k];
        for (int k = 0; k < FIELDS; k++) /* a NaN is a NaN */
            if (isnan(lua[k]) && isnan(graph[k]))
                lua[k] = graph[k] = 0;
        failed += fails;
        if (!fails && (status || memcmp(lua, graph, sizeof lua) != 0)) {
            for (int k = 0; k < FIELDS; k++)
                print_message("# %s: %.17g, in Lua %.17g\n", fields[k].name, graph[k], lua[k]);
            fail_msg("cell %d differs: %s\n%s", (int)number, error.text,
                     strstr(text, "function(c"));
        }
    }
    free(scratch);
    return failed;
}

#define RULE(before, function)                                          \
    "local sel = require 'selenite'\n" before "\nlocal law = sel.law\n" \
    "return sel.lbm { controls = { gain = 2.5 }, rule = " function " }\n"

/* Reads and compares; how many nodes the rule has. */
static inline int follows(const char *text, sel_rule_returns returns) {
    static sel_error error;
    script_case c;
    char why[SEL_RULE_WHY];
    load(&c, text);
    assert_string_equal(mistakes, "");
    const sel_rule *rule = read_rule(&c, returns, why, &error);
    if (!rule)
        fail_msg("%s%s\n%s", why, error.text, text);
    assert_int_equal(compare(rule, text, CELLS), 0);
    const int nodes = rule->nodes;
    script_done(&c);
    return nodes;
}

static inline unsigned setting(const char *name, unsigned preset) {
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : preset;
}

#endif
