/* lbm_case.h -- a small lattice Boltzmann simulation built from C, for the tests. */
#ifndef LBM_CASE_H
#define LBM_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/lbm/lbm_cpu.h"
#include "geometry/shape.h"

enum { CASE_REGIONS = 16 };

typedef struct lbm_case {
    lbm_params params;
    sel_region regions[CASE_REGIONS];
    union {
        lbm_law_wall wall;
        lbm_law_velocity velocity;
        lbm_law_pressure pressure;
    } laws[CASE_REGIONS];
    sel_simulation simulation;
    sel_arena *arena;
    sel_domain *domain;
    sel_plan *plan;
    sel_state *state;
    sel_error error;
} lbm_case;

static const double pi = 3.14159265358979323846;

/* nx by ny cells, f64, TRT 3/16, lattice units, one thread. */
static inline void case_begin(lbm_case *c, int64_t nx, int64_t ny, double tau) {
    memset(c, 0, sizeof *c);
    sel_table_presets(&lbm_table, &c->params);
    c->arena = sel_arena_create();
    assert_non_null(c->arena);
    c->params.common.size = (sel_ints){2, {nx, ny, 0}};
    c->params.common.precision = SEL_F64;
    c->params.common.threads = 1;
    c->params.common.regions.v = c->regions;
    c->params.common.stop.steps = 1;
    c->params.tau = tau;
    c->simulation = (sel_simulation){.solver = &lbm_solver, .params = &c->params.common};
}

static inline void case_region(lbm_case *c, const sel_shape *shape, const sel_table *law,
                               sel_quantity quantity) {
    int k = c->params.common.regions.n++;
    assert_true(k < CASE_REGIONS);
    c->laws[k].velocity.velocity = quantity; /* the only member of each law */
    c->regions[k] = (sel_region){.where = shape, .law = {.table = law, .data = &c->laws[k]}};
}

static inline const sel_shape *case_face(lbm_case *c, int face) {
    return sel_shape_face(c->arena, face);
}

static inline const sel_shape *case_box(lbm_case *c, double x0, double y0, double x1, double y1) {
    sel_shape_box *box = sel_arena_alloc(c->arena, sizeof *box);
    *box = (sel_shape_box){{2, {x0, y0, 0}}, {2, {x1, y1, 0}}};
    return sel_shape_make(c->arena, SEL_SHAPE_BOX, box);
}

/* The part of a face in a box. */
static inline const sel_shape *case_part(lbm_case *c, int face, double x0, double y0, double x1,
                                         double y1) {
    return sel_shape_combine(c->arena, SEL_SHAPE_INTERSECTION, case_face(c, face),
                             case_box(c, x0, y0, x1, y1));
}

static inline void case_wall(lbm_case *c, const sel_shape *shape) {
    case_region(c, shape, &lbm_wall_table, (sel_quantity){0});
}

/* A face that is a wall with scheme "zou_he". */
static inline void case_wet_wall(lbm_case *c, int face, sel_quantity velocity) {
    case_region(c, case_face(c, face), &lbm_wall_table, velocity);
    c->laws[c->params.common.regions.n - 1].wall.scheme = LBM_ZOU_HE;
}

static inline void case_walls(lbm_case *c, int face, int other) {
    case_wall(c, case_face(c, face));
    case_wall(c, case_face(c, other));
}

/* Builds domain and plan; the status of the first that fails. */
static inline sel_status case_plan(lbm_case *c) {
    sel_status status = sel_domain_create(&c->simulation, &c->domain, &c->error);
    return status ? status : lbm_solver.plan(&c->simulation, c->domain, &c->plan, &c->error);
}

static inline void case_create(lbm_case *c) {
    sel_status status = lbm_cpu_backend.create(c->plan, &c->state, &c->error);
    if (status) {
        fail_msg("%s", c->error.text);
    }
}

static inline void case_start(lbm_case *c) {
    if (case_plan(c)) {
        fail_msg("%s", c->error.text);
    }
    case_create(c);
}

static inline void case_advance(lbm_case *c, int64_t steps) {
    if (lbm_cpu_backend.advance(c->state, steps, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

static inline void case_request(lbm_case *c, sel_request *request) {
    assert_int_equal(lbm_cpu_backend.start(c->state, request, &c->error), SEL_OK);
    assert_int_equal(lbm_cpu_backend.finish(c->state, request, &c->error), SEL_OK);
}

/* Reads a field of the whole grid into to[cell][components]. */
static inline void case_read(lbm_case *c, int field, int components, double *to) {
    sel_request request = {.kind = SEL_READ,
                           .field = field,
                           .box = sel_grid_box(&c->domain->grid),
                           .precision = SEL_F64,
                           .components = components,
                           .to = to};
    case_request(c, &request);
}

/* Advances in blocks until the velocity changes by less than `change` in a block. */
static inline void case_run_until_steady(lbm_case *c, int64_t block, double change) {
    sel_request request = {.kind = SEL_MONITOR};
    case_request(c, &request);
    for (int k = 0; k < 2000; k++) {
        case_advance(c, block);
        case_request(c, &request);
        assert_true(request.bad_cell < 0);
        if (request.change < change) {
            return;
        }
    }
    fail_msg("not steady: the velocity still changes by %g", request.change);
}

static inline void case_end(lbm_case *c) {
    lbm_cpu_backend.destroy(c->state);
    lbm_solver.plan_destroy(c->plan);
    sel_domain_destroy(c->domain);
    sel_arena_destroy(c->arena);
}

/* A function of x, y, t from C: `of` fills `results` numbers. */
typedef struct case_function {
    sel_function function;
    void (*of)(double x, double y, double t, const void *data, double value[2]);
    const void *data;
} case_function;

static inline sel_status case_function_eval(const sel_function *self, const sel_places *at,
                                            double *out, sel_error *error) {
    const case_function *f = self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        double value[2] = {0};
        f->of(at->x[i], at->y[i], at->t, f->data, value);
        for (int k = 0; k < self->results; k++) {
            out[(size_t)k * at->n + i] = value[k];
        }
    }
    return SEL_OK;
}

static inline sel_quantity case_of(lbm_case *c, unsigned depends, int results,
                                   void (*of)(double, double, double, const void *, double[2]),
                                   const void *data) {
    case_function *f = sel_arena_alloc(c->arena, sizeof *f);
    *f = (case_function){
        .function = {.depends = depends, .results = results, .eval = case_function_eval, .data = f},
        .of = of,
        .data = data};
    return sel_from_function(&f->function);
}

#endif
