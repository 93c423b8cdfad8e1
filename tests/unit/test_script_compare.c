/* test_script_compare.c -- a program that differs from its function is found at loading: what is
 * computed then is what Lua alone gives.
 *
 * Each function is given the program of another, which differs from row 260 on and in one cell of
 * the first row.
 */
#include "script_case.h"
#include "engine/scene/domain.h"
#include "engine/run/prepare.h"
#include "lua/tables/tables.h"

enum { NX = 256, NY = 512, CELLS = NX * NY, STEPS = 3 };

#define HEAD                                              \
    "local sel = require 'selenite'\n"                    \
    "local shape, law = sel.shape, sel.law\n"             \
    "local function wrong(x, y)\n"                        \
    "  return y > 260 or y < 1 and x > 1 and x < 2 end\n" \
    "local size, stop = { 256, 512 }, { steps = 3 }\n"
#define SAME "if t < 0 and wrong(x, y) then return 2 end return 1"
#define OTHER "if t >= 0 and wrong(x, y) then return 2 end return 1"
#define NOWHERE "return t < 0 and wrong(x, y)"
#define SOMEWHERE "return t >= 0 and wrong(x, y)"
#define LATER "if t > 1.6 and wrong(x, y) then return 2 end return 1"

#define FLOW(fields)                                                                 \
    "return sel.lbm { lattice = 'D2Q9', size = size, tau = 0.8, precision = 'f64', " \
    "stop = stop, " fields " }\n"
#define PERIODIC "periodic = { 'x', 'y' }, "
#define RUNOFF(fields)                                                                      \
    "return sel.aqua { size = size, dx = 1, dt = 1, ground = 0, alpha = 0.5, stop = stop, " \
    "regions = { { where = shape.faces, law = law.wall {} } }, " fields " }\n"

#define PRESSURE(body) HEAD FLOW(PERIODIC "initial = { pressure = function(x, y, t) " body " end }")
#define ACCELERATION(body) \
    HEAD FLOW(PERIODIC "acceleration = { function(x, y, t) " body " end, 0 }")
#define INSIDE(body) "shape.inside(function(x, y) local t = 0 " body " end)"
#define PILLAR(body)                                                       \
    HEAD FLOW(PERIODIC "regions = { { law = law.wall {}, where = " INSIDE( \
        body) " + "                                                        \
              "shape.ball { centre = { 100, 100 }, radius = 9 } } }")
#define INLET(body)                                                      \
    HEAD FLOW("regions = { { where = shape.faces, law = law.wall {} }, " \
              "{ law = law.pressure { 0 }, where = shape.face 'x-' + " INSIDE(body) " } }")
#define RAIN(body) HEAD RUNOFF("rain = function(x, y, t) " body " end")
#define DEPTH(body) HEAD RUNOFF("initial = { depth = function(x, y, t) " body " end }")

/* What is left of a run: the regions, and a field after the last step. */
typedef struct outcome {
    uint8_t cell[CELLS];
    double value[CELLS * 2];
    bool by_lua; /* no program is left */
} outcome;

static outcome by_lua, by_program, by_other;

static sel_lua_function *functions_of(const script_case *c) {
    return ((const sel_script *)c->scenario->release_data)->functions;
}

static void read_field(const sel_prepared *prepared, sel_state *state, const char *name,
                       double *to) {
    const sel_solver *solver = prepared->simulation->solver;
    sel_request request = {.kind = SEL_READ,
                           .box = sel_grid_box(&prepared->domain->grid),
                           .precision = SEL_F64,
                           .to = to};
    while (strcmp(solver->fields[request.field].name, name) != 0) {
        request.field++;
    }
    request.components = sel_field_components(&solver->fields[request.field], 2);
    assert_int_equal(prepared->backend->start(state, &request, NULL), SEL_OK);
    assert_int_equal(prepared->backend->finish(state, &request, NULL), SEL_OK);
}

static void compute(script_case *c, const char *field, int threads, outcome *o) {
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = threads};
    sel_prepared prepared;
    sel_state *state;
    sel_status status =
        sel_set_up(c->scenario->simulations, &settings, &prepared, &state, &c->error);
    status = status ? status : prepared.backend->advance(state, STEPS, true, &c->error);
    if (status) {
        fail_msg("%s", c->error.text);
    }
    assert_int_equal(prepared.plan->threads, threads);
    memset(o, 0, sizeof *o);
    memcpy(o->cell, prepared.domain->cell, CELLS);
    read_field(&prepared, state, field, o->value);
    o->by_lua = !functions_of(c)->program;
    prepared.backend->destroy(state);
    sel_prepared_release(&prepared);
}

/* All functions evaluated by Lua from the start. */
static void compute_by_lua(const char *text, const char *field, outcome *o) {
    script_case c = {.scenario = NULL};
    script_accepts(&c, text);
    for (sel_lua_function *f = functions_of(&c); f; f = f->next) {
        f->program = f->base.program = NULL;
    }
    compute(&c, field, 1, o);
    script_done(&c);
}

/* The functions of `text`, with the programs of `other`, compared as at loading. */
static void compute_by_program(const char *text, const char *other, const char *field, int threads,
                               outcome *o) {
    script_case c = {.scenario = NULL}, giver = {.scenario = NULL};
    script_accepts(&c, text);
    script_accepts(&giver, other);
    const sel_lua_function *from = functions_of(&giver);
    for (sel_lua_function *f = functions_of(&c); f; f = f->next, from = from->next) {
        assert_non_null(f->program);
        assert_non_null(from->program);
        f->program = f->base.program = from->program;
        sel_function_compare(f);
    }
    compute(&c, field, threads, o);
    script_done(&c);
    script_done(&giver);
}

static bool same(const outcome *a, const outcome *b) {
    return memcmp(a->cell, b->cell, sizeof a->cell) == 0 &&
           memcmp(a->value, b->value, sizeof a->value) == 0;
}

static void becomes_lua(const char *text, const char *other, const char *field) {
    compute_by_lua(text, field, &by_lua);
    for (int threads = 1; threads <= 3; threads++) {
        compute_by_program(text, other, field, threads, &by_program);
        assert_true(by_program.by_lua);
        assert_true(same(&by_program, &by_lua));
        compute_by_program(text, text, field, threads, &by_program);
        assert_false(by_program.by_lua);
        assert_true(same(&by_program, &by_lua));
    }
}

static void check(const char *text, const char *other, const char *field) {
    becomes_lua(text, other, field);
    compute_by_lua(other, field, &by_other);
    assert_false(same(&by_other, &by_lua));
}

static void initial_fields_are_all_by_lua(void **state) {
    (void)state;
    check(PRESSURE(SAME), PRESSURE(OTHER), "pressure");
    check(DEPTH(SAME), DEPTH(OTHER), "depth");
}

static void painted_regions_are_all_by_lua(void **state) {
    (void)state;
    check(PILLAR(NOWHERE), PILLAR(SOMEWHERE), "pressure");
}

static void fields_that_vary_in_time_are_all_by_lua(void **state) {
    (void)state;
    check(RAIN(SAME), RAIN(LATER), "depth");
    check(ACCELERATION(SAME), ACCELERATION(LATER), "velocity");
}

/* A law of faces that the program paints onto a cell. */
static void a_mistake_of_the_program_is_forgotten(void **state) {
    (void)state;
    becomes_lua(INLET(NOWHERE), INLET(SOMEWHERE), "pressure");
}

static void the_reason_names_the_place(void **state) {
    (void)state;
    script_case c = {.scenario = NULL}, giver = {.scenario = NULL};
    script_accepts(&c, RAIN(SAME));
    script_accepts(&giver, RAIN(LATER));
    sel_lua_function *f = functions_of(&c);
    f->program = f->base.program = functions_of(&giver)->program;
    sel_function_compare(f);
    assert_null(f->program);
    assert_null(f->base.program);
    assert_non_null(strstr(f->why, "its program gave another value at x="));
    assert_non_null(strstr(f->why, "it depends on more than its arguments, or it was misread"));
    script_done(&c);
    script_done(&giver);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_fields_are_all_by_lua),
        cmocka_unit_test(painted_regions_are_all_by_lua),
        cmocka_unit_test(fields_that_vary_in_time_are_all_by_lua),
        cmocka_unit_test(a_mistake_of_the_program_is_forgotten),
        cmocka_unit_test(the_reason_names_the_place),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
