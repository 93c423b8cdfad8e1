/* script_case.h -- load a scenario from a text, for the tests of the script layer. */
#ifndef SCRIPT_CASE_H
#define SCRIPT_CASE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/solvers/lbm/lbm.h"
#include "lua/tables/script.h"
#include "tests/unit/files.h"

/* A whole scenario but for the fields in `fields`. */
#define LBM(fields)                                                                      \
    "local sel = require 'selenite'\n"                                                   \
    "local shape, law, out = sel.shape, sel.law, sel.out\n"                              \
    "return sel.lbm { lattice = 'D2Q9', size = { 8, 8 }, tau = 0.8, stop = { steps = 1 " \
    "},\n" fields " }\n"

typedef struct script_case {
    sel_script_options options;
    sel_status (*load)(const char *path, const sel_script_options *options, sel_scenario **scenario,
                       sel_error *error); /* NULL: sel_script_load */
    sel_scenario *scenario;
    sel_error error;
    sel_status status;
} script_case;

/* Loads `text` as s.lua in an empty working directory. */
static inline sel_status script_load(script_case *c, const char *text) {
    FILE *file = fopen("s.lua", "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    memset(&c->error, 0, sizeof c->error);
    c->status =
        (c->load ? c->load : sel_script_load)("s.lua", &c->options, &c->scenario, &c->error);
    assert_int_equal(c->status, c->error.status);
    assert_true((c->status == SEL_OK) == (c->scenario != NULL));
    return c->status;
}

static inline void script_done(script_case *c) {
    sel_scenario_destroy(c->scenario);
    c->scenario = NULL;
}

/* Asserts that `text` is refused with just this message. */
static inline void script_refuses(const char *text, const char *message) {
    script_case c = {.scenario = NULL};
    script_load(&c, text);
    assert_string_equal(c.error.text, message);
    assert_int_equal(c.status, SEL_BAD_SCENARIO);
}

/* Asserts that `text` loads. */
static inline void script_accepts(script_case *c, const char *text) {
    if (script_load(c, text) != SEL_OK)
        fail_msg("%s", c->error.text);
}

static inline const lbm_params *script_lbm(const script_case *c) {
    return (const lbm_params *)c->scenario->simulations[0].params;
}

#endif
