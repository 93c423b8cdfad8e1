/* lbm_case.h -- a small lattice Boltzmann simulation built from C, for the tests. */
#ifndef LBM_CASE_H
#define LBM_CASE_H

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/solvers/lbm/lbm_cpu.h"
#include "engine/scene/shape.h"

enum { CASE_REGIONS = 16 };

typedef struct lbm_case {
    lbm_params params;
    sel_region regions[CASE_REGIONS];
    union {
        lbm_law_wall wall;
        lbm_law_velocity velocity;
        lbm_law_pressure pressure;
        lbm_law_outflow outflow;
    } laws[CASE_REGIONS];
    sel_simulation simulation;
    sel_arena *arena;
    sel_domain *domain;
    sel_plan *plan;
    sel_state *state;
    sel_error error;
} lbm_case;

static const double pi = 3.14159265358979323846;

/* Cells of `size`, on the lattice for so many dimensions; f64, TRT 3/16, lattice units, one
 * thread. */
static inline void case_begin_size(lbm_case *c, sel_ints size, double tau) {
    memset(c, 0, sizeof *c);
    sel_table_presets(&lbm_table, &c->params);
    c->params.collision = LBM_TRT;
    c->arena = sel_arena_create();
    assert_non_null(c->arena);
    c->params.common.size = size;
    c->params.lattice = size.n == 2 ? LBM_D2Q9 : LBM_D3Q19;
    c->params.common.precision = SEL_F64;
    omp_set_num_threads(1);
    c->params.common.regions.v = c->regions;
    c->params.common.stop.steps = 1;
    c->params.tau = tau;
    c->simulation = (sel_simulation){.solver = &lbm_solver, .params = &c->params.common};
}

/* nx by ny cells. */
static inline void case_begin(lbm_case *c, int64_t nx, int64_t ny, double tau) {
    case_begin_size(c, (sel_ints){2, {nx, ny, 0}}, tau);
}

/* nx by ny by nz cells. */
static inline void case_begin3(lbm_case *c, int64_t nx, int64_t ny, int64_t nz, double tau) {
    case_begin_size(c, (sel_ints){3, {nx, ny, nz}}, tau);
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

static inline const sel_shape *case_box_between(lbm_case *c, sel_point min, sel_point max) {
    sel_shape_box *box = sel_arena_alloc(c->arena, sizeof *box);
    *box = (sel_shape_box){min, max};
    return sel_shape_make(c->arena, SEL_SHAPE_BOX, box);
}

static inline const sel_shape *case_box(lbm_case *c, double x0, double y0, double x1, double y1) {
    return case_box_between(c, (sel_point){2, {x0, y0, 0}}, (sel_point){2, {x1, y1, 0}});
}

/* In 3-D: from one corner to the other. */
static inline const sel_shape *case_box3(lbm_case *c, const double min[3], const double max[3]) {
    return case_box_between(c, (sel_point){3, {min[0], min[1], min[2]}},
                            (sel_point){3, {max[0], max[1], max[2]}});
}

/* All faces. */
static inline const sel_shape *case_faces(lbm_case *c) {
    return sel_shape_make(c->arena, SEL_SHAPE_FACES, NULL);
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
    sel_status status = sel_domain_create(&c->simulation, NULL, &c->domain, &c->error);
    return status ? status
                  : sel_plan_create(&c->simulation, c->domain, c->simulation.params->precision,
                                    &c->plan, &c->error);
}

static inline void case_must_plan(lbm_case *c) {
    if (case_plan(c)) {
        fail_msg("%s", c->error.text);
    }
}

static inline const lbm_boundary *case_boundary(const lbm_case *c) {
    return &((const lbm_plan *)c->plan)->boundary;
}

/* The boundary cell at place x of a row; NULL: none. */
static inline const lbm_boundary_cell *case_boundary_cell(const lbm_case *c, int64_t x,
                                                          int64_t row) {
    const lbm_boundary *b = case_boundary(c);
    for (int64_t k = b->row_cells[row]; k < b->row_cells[row + 1]; k++) {
        if (b->cells[k].x == x) {
            return &b->cells[k];
        }
    }
    return NULL;
}

static inline void case_create(lbm_case *c) {
    c->plan->wants_fields = ~0u;
    c->plan->wants_links = c->plan->wants_forces = true;
    sel_status status = sel_cpu_backend.create(c->plan, &c->state, &c->error);
    if (status) {
        fail_msg("%s", c->error.text);
    }
}

/* What the solver keeps on the CPU. */
static inline lbm_cpu *case_state(const lbm_case *c) {
    return (lbm_cpu *)c->state;
}

static inline void case_start(lbm_case *c) {
    case_must_plan(c);
    case_create(c);
}

static inline void case_advance(lbm_case *c, int64_t steps) {
    if (sel_cpu_backend.advance(c->state, steps, true, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

static inline void case_request(lbm_case *c, sel_request *request) {
    assert_int_equal(sel_cpu_backend.start(c->state, request, &c->error), SEL_OK);
    assert_int_equal(sel_cpu_backend.finish(c->state, request, &c->error), SEL_OK);
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

/* The force on a region with its torque about (x, y), and the mass that flows out through one. */
static inline sel_request case_force(lbm_case *c, int region, double x, double y) {
    sel_request request = {.kind = SEL_FORCE, .region = region, .centre = {x, y, 0}};
    case_request(c, &request);
    return request;
}

static inline double case_flux(lbm_case *c, int region) {
    sel_request request = {.kind = SEL_FLUX, .region = region};
    case_request(c, &request);
    return request.flux;
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
    sel_cpu_backend.destroy(c->state);
    sel_plan_destroy(c->plan);
    sel_domain_destroy(c->domain);
    sel_arena_destroy(c->arena);
}

/* A function from C of x, y, t, or of a place and t: it fills `results` numbers. */
typedef struct case_function {
    sel_function function;
    void (*of)(double x, double y, double t, const void *data, double value[2]);
    void (*of_place)(const double at[3], double t, const void *data, double value[3]);
    const void *data;
} case_function;

static inline sel_status case_function_eval(const sel_function *self, const sel_places *at,
                                            double *out, sel_error *error) {
    const case_function *f = self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        double value[3] = {0};
        if (f->of) {
            f->of(at->x[i], at->y[i], at->t, f->data, value);
        } else {
            const double place[3] = {at->x[i], at->y[i], at->z ? at->z[i] : 0};
            f->of_place(place, at->t, f->data, value);
        }
        for (int k = 0; k < self->results; k++) {
            out[(size_t)k * at->n + i] = value[k];
        }
    }
    return SEL_OK;
}

static inline sel_quantity case_function_of(lbm_case *c, unsigned depends, int results,
                                            case_function given) {
    case_function *f = sel_arena_alloc(c->arena, sizeof *f);
    *f = given;
    f->function = (sel_function){
        .depends = depends, .results = results, .eval = case_function_eval, .data = f};
    return sel_from_function(&f->function);
}

static inline sel_quantity case_of(lbm_case *c, unsigned depends, int results,
                                   void (*of)(double, double, double, const void *, double[2]),
                                   const void *data) {
    return case_function_of(c, depends, results, (case_function){.of = of, .data = data});
}

static inline sel_quantity
case_of_place(lbm_case *c, unsigned depends, int results,
              void (*of)(const double[3], double, const void *, double[3]), const void *data) {
    return case_function_of(c, depends, results, (case_function){.of_place = of, .data = data});
}

/* Velocity of a body that turns about (x, y) at `rate`, for case_of_place. */
typedef struct case_turning {
    double x, y, rate;
} case_turning;

static inline void case_turn(const double at[3], double t, const void *data, double value[3]) {
    const case_turning *of = data;
    (void)t;
    value[0] = -of->rate * (at[1] - of->y);
    value[1] = of->rate * (at[0] - of->x);
}

#endif
