/* aqua_case.h -- a small run-off built from C, for the tests. */
#ifndef AQUA_CASE_H
#define AQUA_CASE_H

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/solvers/aqua/aqua.h"
#include "engine/core/cpu.h"
#include "engine/scene/shape.h"

enum { CASE_REGIONS = 8, CASE_SOURCES = 4 };

typedef struct aqua_case {
    aqua_params params;
    sel_region regions[CASE_REGIONS];
    union {
        aqua_law_open open;
        aqua_law_level level;
    } laws[CASE_REGIONS];
    aqua_source sources[CASE_SOURCES];
    double lines[CASE_REGIONS][2][2];
    int line_count;
    sel_simulation simulation;
    sel_arena *arena;
    sel_domain *domain;
    sel_plan *plan;
    sel_state *state;
    sel_error error;
} aqua_case;

/* A quantity of x, y and t from C. */
typedef double case_of_place(double x, double y, double t, const void *data);

typedef struct case_function {
    sel_function function;
    case_of_place *of;
    const void *data;
} case_function;

static inline sel_status case_evaluate(const sel_function *self, const sel_places *at, double *out,
                                       sel_error *error) {
    const case_function *f = self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        out[i] = f->of(at->x[i], at->y[i], at->t, f->data);
    }
    return SEL_OK;
}

static inline sel_quantity case_quantity(aqua_case *c, unsigned depends, case_of_place *of,
                                         const void *data) {
    case_function *f = sel_arena_alloc(c->arena, sizeof *f);
    *f = (case_function){.of = of, .data = data};
    f->function =
        (sel_function){.depends = depends, .results = 1, .eval = case_evaluate, .data = f};
    sel_quantity q = {.components = 1};
    q.part[0].function = &f->function;
    return q;
}

/* data: [ny][nx] values with dx = 1 and the width as an int64_t before them. */
typedef struct case_grid {
    int64_t nx;
    const double *v;
} case_grid;

static inline double case_grid_value(double x, double y, double t, const void *data) {
    const case_grid *grid = data;
    (void)t;
    return grid->v[(int64_t)y * grid->nx + (int64_t)x];
}

static inline sel_quantity case_values(aqua_case *c, const double *v) {
    case_grid *grid = sel_arena_alloc(c->arena, sizeof *grid);
    *grid = (case_grid){c->params.common.size.v[0], v};
    return case_quantity(c, SEL_ON_X | SEL_ON_Y, case_grid_value, grid);
}

/* nx by ny cells of 1 m and 1 s, flat and dry, f64, one thread. */
static inline void case_begin(aqua_case *c, int64_t nx, int64_t ny, double alpha) {
    memset(c, 0, sizeof *c);
    sel_table_presets(&aqua_table, &c->params);
    c->arena = sel_arena_create();
    assert_non_null(c->arena);
    c->params.common.size = (sel_ints){2, {nx, ny, 0}};
    c->params.common.dx = c->params.common.dt = 1;
    c->params.common.precision = SEL_F64;
    omp_set_num_threads(1);
    c->params.common.regions.v = c->regions;
    c->params.common.stop.steps = 1;
    c->params.sources.v = c->sources;
    c->params.ground = sel_constant(0);
    c->params.alpha = sel_constant(alpha);
    c->simulation = (sel_simulation){.solver = &aqua_solver, .params = &c->params.common};
}

static inline void case_region(aqua_case *c, const char *name, const sel_shape *shape,
                               const sel_table *law) {
    int k = c->params.common.regions.n++;
    assert_true(k < CASE_REGIONS);
    c->regions[k] =
        (sel_region){.name = name, .where = shape, .law = {.table = law, .data = &c->laws[k]}};
}

static inline void case_walls(aqua_case *c) {
    case_region(c, "walls", sel_shape_make(c->arena, SEL_SHAPE_FACES, NULL), &aqua_wall_table);
}

static inline void case_open(aqua_case *c, const char *name, const sel_shape *shape, double slope) {
    case_region(c, name, shape, &aqua_open_table);
    c->laws[c->params.common.regions.n - 1].open.slope = slope;
}

static inline void case_level(aqua_case *c, const char *name, const sel_shape *shape,
                              sel_quantity z) {
    case_region(c, name, shape, &aqua_level_table);
    c->laws[c->params.common.regions.n - 1].level.z = z;
}

static inline const sel_shape *case_face(aqua_case *c, int face) {
    return sel_shape_face(c->arena, face);
}

static inline const sel_shape *case_box(aqua_case *c, double x0, double y0, double x1, double y1) {
    sel_shape_box *box = sel_arena_alloc(c->arena, sizeof *box);
    *box = (sel_shape_box){{2, {x0, y0, 0}}, {2, {x1, y1, 0}}};
    return sel_shape_make(c->arena, SEL_SHAPE_BOX, box);
}

static inline void case_source(aqua_case *c, double x, double y, sel_quantity discharge) {
    c->sources[c->params.sources.n++] = (aqua_source){.at = {2, {x, y, 0}}, .discharge = discharge};
}

/* A line that case_flux may ask for. */
static inline void case_line(aqua_case *c, double x0, double y0, double x1, double y1) {
    assert_true(c->line_count < CASE_REGIONS);
    memcpy(c->lines[c->line_count++], (double[2][2]){{x0, y0}, {x1, y1}}, sizeof c->lines[0]);
}

static inline sel_status case_plan(aqua_case *c) {
    sel_status status = sel_domain_create(&c->simulation, NULL, &c->domain, &c->error);
    status = status ? status
                    : sel_plan_create(&c->simulation, c->domain, c->simulation.params->precision,
                                      &c->plan, &c->error);
    for (int k = 0; k < c->line_count && !status; k++) {
        status = sel_plan_line(c->plan, c->lines[k][0], c->lines[k][1], &c->error);
    }
    if (!status) {
        c->plan->wants_links = true;
    }
    return status;
}

static inline void case_start(aqua_case *c) {
    if (case_plan(c)) {
        fail_msg("%s", c->error.text);
    }
    c->plan->wants_fields = ~0u;
    c->plan->wants_balance = true;
    if (sel_cpu_backend.create(c->plan, &c->state, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

static inline void case_advance(aqua_case *c, int64_t steps) {
    if (sel_cpu_backend.advance(c->state, steps, true, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

static inline void case_request(aqua_case *c, sel_request *request) {
    assert_int_equal(sel_cpu_backend.start(c->state, request, &c->error), SEL_OK);
    assert_int_equal(sel_cpu_backend.finish(c->state, request, &c->error), SEL_OK);
}

/* Reads a field of the whole grid. */
static inline void case_read(aqua_case *c, int field, double *to) {
    sel_request request = {.kind = SEL_READ,
                           .field = field,
                           .box = sel_grid_box(&c->domain->grid),
                           .precision = SEL_F64,
                           .components = 1,
                           .to = to};
    case_request(c, &request);
}

static inline double case_term(aqua_case *c, const char *name) {
    sel_term terms[SEL_MAX_TERMS];
    sel_request request = {.kind = SEL_BALANCE, .terms = terms};
    case_request(c, &request);
    for (int i = 0; i < request.term_count; i++) {
        if (strcmp(terms[i].name, name) == 0) {
            return terms[i].value;
        }
    }
    fail_msg("no term %s", name);
    return 0;
}

/* m3/s through a region, or across a line to its left. */
static inline double case_flux(aqua_case *c, int region, double x0, double y0, double x1,
                               double y1) {
    sel_request request = {.kind = SEL_FLUX, .region = region, .line = {{x0, y0}, {x1, y1}}};
    case_request(c, &request);
    return request.flux;
}

static inline void case_end(aqua_case *c) {
    sel_cpu_backend.destroy(c->state);
    sel_plan_destroy(c->plan);
    sel_domain_destroy(c->domain);
    sel_arena_destroy(c->arena);
}

/* Numbers between 0 and 1 that are the same everywhere: a linear congruence. */
static inline double case_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) * 0x1p-53;
}

static inline void case_fill_random(double *v, int n, double low, double high, uint64_t seed) {
    for (int i = 0; i < n; i++) {
        v[i] = low + (high - low) * case_random(&seed);
    }
}

#endif
