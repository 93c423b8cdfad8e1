/* heat_case.h -- bodies of sel.heat from a text, for the tests of conduction. */
#ifndef HEAT_CASE_H
#define HEAT_CASE_H

#include "tests/unit/script_case.h"
#include "engine/run/prepare.h"
#include "engine/solvers/heat/heat.h"

/* Before each body. */
#define HEAT_BEGIN                                                                       \
    "local sel = require 'selenite'\n"                                                   \
    "local shape, law, out = sel.shape, sel.law, sel.out\n"                              \
    "local sin, cos, exp, log, pi = math.sin, math.cos, math.exp, math.log, math.pi\n"   \
    "local function face(name, what) return { name = name, where = shape.face(name), "   \
    "law = what } end\n"                                                                 \
    "local function all(what) return { name = 'all', where = shape.faces, law = what } " \
    "end\n"

enum { HEAT_TEXT = 4096 };

typedef struct heat_case {
    script_case script;
    sel_prepared prepared;
    sel_state *state;
    sel_error error;
    int notices; /* functions that Lua evaluates */
} heat_case;

static inline void heat_notice(void *data, const char *text) {
    (void)text;
    ++*(int *)data;
}

/* A body on a backend, at step 0; fails the test when it is refused. */
static inline void heat_open_on(heat_case *c, const sel_settings *settings, const char *text) {
    memset(c, 0, sizeof *c);
    c->script.options.notice = heat_notice;
    c->script.options.notice_data = &c->notices;
    script_accepts(&c->script, text);
    if (sel_prepare(c->script.scenario->simulations, settings, &c->prepared, &c->error)) {
        fail_msg("%s\n%s", c->error.text, text);
    }
    sel_plan *plan = c->prepared.plan;
    plan->wants_balance = plan->wants_links = plan->wants_mean_change = true;
    plan->wants_fields = ~0u;
    if (c->prepared.backend->create(plan, &c->state, &c->error)) {
        fail_msg("%s\n%s", c->error.text, text);
    }
}

/* On the CPU, with HEAT_BEGIN before it. */
__attribute__((format(printf, 2, 3))) static inline void heat_open(heat_case *c, const char *format,
                                                                   ...) {
    static char text[HEAT_TEXT] = HEAT_BEGIN;
    const size_t begin = strlen(HEAT_BEGIN);
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = 1};
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text + begin, sizeof text - begin, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && begin + (size_t)length < sizeof text);
    heat_open_on(c, &settings, text);
}

static inline void heat_close(heat_case *c) {
    c->prepared.backend->destroy(c->state);
    sel_prepared_release(&c->prepared);
    script_done(&c->script);
}

/* A scalar field in all cells, in f64. Freed by the caller. */
static inline double *heat_scalar(heat_case *c, int field) {
    const sel_box box = sel_grid_box(&c->prepared.domain->grid);
    double *values = malloc((size_t)sel_box_cells(&box) * sizeof *values);
    sel_request request = {.kind = SEL_READ,
                           .field = field,
                           .box = box,
                           .precision = SEL_F64,
                           .components = 1,
                           .to = values};
    assert_int_equal(c->prepared.backend->start(c->state, &request, &c->error), SEL_OK);
    return values;
}

/* `observed`: the last of the steps. */
static inline void heat_steps(heat_case *c, int64_t steps, bool observed) {
    if (c->prepared.backend->advance(c->state, steps, observed, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

static inline void heat_advance(heat_case *c, int64_t steps) {
    heat_steps(c, steps, true);
}

static inline void heat_ask(heat_case *c, sel_request *request) {
    const sel_backend *backend = c->prepared.backend;
    if (backend->start(c->state, request, &c->error) ||
        backend->finish(c->state, request, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

static inline const sel_grid *heat_grid(const heat_case *c) {
    return &c->prepared.domain->grid;
}

static inline const heat_plan *heat_plan_of(const heat_case *c) {
    return (const heat_plan *)c->prepared.plan;
}

/* A field at all cells, components side by side; freed by the caller. */
static inline double *heat_field(heat_case *c, int field) {
    const sel_grid *grid = heat_grid(c);
    const int components = field == HEAT_TEMPERATURE ? 1 : grid->dims;
    sel_request read = {
        .kind = SEL_READ,
        .field = field,
        .box = sel_grid_box(grid),
        .precision = SEL_F64,
        .components = components,
        .to = calloc((size_t)(sel_grid_cells(grid) * components), sizeof(double)),
    };
    heat_ask(c, &read);
    return read.to;
}

#endif
