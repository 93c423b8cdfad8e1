/* bench_aqua.c -- the cases of sel.aqua for `selenite bench`.
 *
 * Ground and water come from a few sums and hashes a cell, so that the largest grid is set up in
 * seconds. Smooth ground lies below deep water whose waves run to and fro; the rough one is noise
 * of a metre from cell to cell in shallow water, so that beds of neighbours stand above the level
 * that `fill` looks for. Where the plane is half dry, one half is a plateau that no water reaches.
 * Storms fall on shallow water that covers all, and soak into the ground everywhere: as rain that
 * varies in time alone, and as one whose centre crosses the plane.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/aqua/aqua.h"
#include "engine/bench_case.h"
#include "engine/physics/noise.h"
#include "engine/program.h"

typedef enum bench_ground { SMOOTH, ROUGH } bench_ground;
typedef enum bench_rain { NO_RAIN, RAIN_IN_TIME, MOVING_RAIN } bench_rain;

typedef struct bench_flow {
    const char *rule;
    int equilibrium;
    bench_ground ground;
    bench_rain rain;
} bench_flow;

static const bench_flow flows[] = {
    {"mean", AQUA_MEAN, SMOOTH, NO_RAIN},
    {"fill smooth", AQUA_FILL, SMOOTH, NO_RAIN},
    {"fill rough", AQUA_FILL, ROUGH, NO_RAIN},
    {"mindiff", AQUA_MINDIFF, SMOOTH, NO_RAIN},
};
static const bench_flow storms[] = {
    {"rain(t)", AQUA_MEAN, SMOOTH, RAIN_IN_TIME},
    {"rain(x,y,t)", AQUA_MEAN, SMOOTH, MOVING_RAIN},
};
enum { FLOWS = sizeof flows / sizeof *flows, STORMS = sizeof storms / sizeof *storms };

static const char *const grounds[] = {"smooth", "rough"};
static const char *const waters[] = {"wet", "half-dry", "storm"};
static const char *const rains[] = {"none", "in time", "moving"};
static const int64_t cpu_sizes[] = {1024, 2048}, device_sizes[] = {1024, 4096, 8192, 16384};

/* All that a case lives of. */
typedef struct bench_plane {
    aqua_params params;
    bench_ground kind;
    double shore; /* water stands below this y */
    sel_function ground, depth, rain;
} bench_plane;

/* A wave of parabolas between 0 and 1. */
static double wave(double x, double length) {
    const double part = x / length - floor(x / length);
    return 4 * part * (1 - part);
}

/* Between 0 and 1, another for each cell and seed. */
static double noise(double x, double y, uint64_t seed) {
    const uint64_t cell = (uint64_t)x | (uint64_t)y << 32;
    return (double)(sel_noise_mix(cell ^ sel_noise_mix(seed)) >> 11) * 0x1p-53;
}

/* sel_function.eval */
static sel_status evaluate_ground(const sel_function *self, const sel_places *at, double *out,
                                  sel_error *error) {
    const bench_plane *plane = self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        const double x = at->x[i], y = at->y[i];
        const double here = plane->kind == ROUGH ? noise(x, y, 1) : wave(x, 512) * wave(y, 512);
        out[i] = 100 + here + (y < plane->shore ? 0 : 50);
    }
    return SEL_OK;
}

/* sel_function.eval */
static sel_status evaluate_depth(const sel_function *self, const sel_places *at, double *out,
                                 sel_error *error) {
    const bench_plane *plane = self->data;
    (void)error;
    for (size_t i = 0; i < at->n; i++) {
        const double x = at->x[i], y = at->y[i];
        const double here = plane->kind == ROUGH
                                ? 0.2 + 0.2 * noise(x, y, 2)
                                : 2 + 0.4 * wave(x + y, 64) + 0.01 * noise(x, y, 2);
        out[i] = y < plane->shore ? here : 0;
    }
    return SEL_OK;
}

static sel_quantity of_place(sel_function *function, bench_plane *plane,
                             sel_status (*eval)(const sel_function *, const sel_places *, double *,
                                                sel_error *)) {
    *function =
        (sel_function){.depends = SEL_ON_X | SEL_ON_Y, .results = 1, .eval = eval, .data = plane};
    sel_quantity q = {.components = 1};
    q.part[0].function = function;
    return q;
}

/* sel_function.eval */
static sel_status evaluate_rain(const sel_function *self, const sel_places *at, double *out,
                                sel_error *error) {
    uint8_t *exact = malloc(at->n + 1);
    if (!exact) {
        return sel_fail_memory(error, "the rain", at->n);
    }
    sel_status status = sel_program_eval(self->program, at, at->controls, out, exact, error);
    free(exact);
    return status;
}

/* (v - middle)^2, v a node. */
static int squared(sel_builder *b, int v, int middle) {
    const int from = sel_build(b, SEL_OP_SUB, v, middle, 0);
    return sel_build(b, SEL_OP_MUL, from, from, 0);
}

/* 50 mm/h in a Gaussian whose centre moves a cell in a step and turns back at the edges; in time
 * alone what it brings to the middle. */
static int build_rain(sel_builder *b, bool moving, double size) {
    const int t = sel_build_argument(b, SEL_ARGUMENT_T), half = sel_build_constant(b, size / 2);
    const int wide = sel_build_constant(b, size * size / 32), most = sel_build_constant(b, 50);
    const int turns = sel_build(b, SEL_OP_DIV, t, half, 0);
    const int swing = sel_build(b, SEL_OP_MUL, half, sel_build(b, SEL_OP_SIN, turns, 0, 0), 0);
    const int middle = sel_build(b, SEL_OP_ADD, half, swing, 0);
    const int x = moving ? sel_build_argument(b, SEL_ARGUMENT_X) : half;
    const int y = moving ? sel_build_argument(b, SEL_ARGUMENT_Y) : half;
    const int away = sel_build(b, SEL_OP_ADD, squared(b, x, middle), squared(b, y, half), 0);
    const int power = sel_build(b, SEL_OP_UNM, sel_build(b, SEL_OP_DIV, away, wide, 0), 0, 0);
    return sel_build(b, SEL_OP_MUL, most, sel_build(b, SEL_OP_EXP, power, 0, 0), 0);
}

static sel_status make_rain(bench_plane *plane, bool moving, double size, sel_arena *arena,
                            sel_error *error) {
    sel_builder *b = sel_builder_create(64);
    sel_function *rain = &plane->rain;
    if (b) {
        const int rate = build_rain(b, moving, size);
        rain->program = sel_builder_finish(b, &rate, 1, sel_build_constant(b, 1), arena);
    }
    sel_builder_destroy(b);
    if (!rain->program) {
        return sel_fail_memory(error, "the rain", sizeof *rain->program);
    }
    rain->depends = rain->program->depends;
    rain->results = 1;
    rain->eval = evaluate_rain;
    plane->params.rain.components = 1;
    plane->params.rain.part[0].function = rain;
    plane->params.infiltration = sel_constant(5);
    plane->params.initial.depth = sel_constant(0.1);
    plane->params.depth_limit = 20;
    return SEL_OK;
}

static bool half_dry(const bench_case *c) {
    return c->box == waters[1];
}

static sel_status describe(bench_case *c, sel_arena *arena, sel_error *error) {
    const bench_flow *flow = c->details;
    bench_plane *plane = sel_arena_alloc(arena, sizeof *plane);
    if (!plane) {
        return sel_fail_memory(error, "the benchmark", sizeof *plane);
    }
    aqua_params *params = &plane->params;
    sel_common *common = &params->common;
    sel_table_presets(aqua_solver.table, params);
    common->size = (sel_ints){2, {c->n[0], c->n[1], 0}};
    common->dx = common->dt = 1;
    common->periodic = 3;
    common->precision = c->precision;
    common->stop.steps = 1;
    plane->kind = flow->ground;
    plane->shore = half_dry(c) ? (double)(c->n[1] / 2) : HUGE_VAL;
    params->equilibrium = flow->equilibrium;
    params->alpha = sel_constant(0.2);
    params->ground = of_place(&plane->ground, plane, evaluate_ground);
    params->initial.depth = of_place(&plane->depth, plane, evaluate_depth);
    if (flow->rain != NO_RAIN) {
        sel_status status =
            make_rain(plane, flow->rain == MOVING_RAIN, (double)c->n[0], arena, error);
        if (status) {
            return status;
        }
    }
    c->simulation = (sel_simulation){.solver = &aqua_solver, .params = common};
    return SEL_OK;
}

static void print_json(const bench_case *c, FILE *to) {
    const bench_flow *flow = c->details;
    fprintf(to, "\"equilibrium\": \"%s\", \"ground\": \"%s\", \"water\": \"%s\", \"rain\": \"%s\"",
            aqua_equilibrium_names[flow->equilibrium], grounds[flow->ground], c->box,
            rains[flow->rain]);
}

int bench_aqua_cases(bool device, bench_case *to) {
    const int64_t *sizes = device ? device_sizes : cpu_sizes;
    const int size_count =
        device ? sizeof device_sizes / sizeof *sizes : sizeof cpu_sizes / sizeof *sizes;
    const int each = 2 * FLOWS + STORMS, count = size_count * each;
    for (int i = 0; to && i < count; i++) {
        const int k = i % each;
        const bench_flow *flow = k < 2 * FLOWS ? &flows[k % FLOWS] : &storms[k - 2 * FLOWS];
        const int64_t n = sizes[i / each];
        to[i] = (bench_case){.solver = &aqua_solver,
                             .kind = "aqua",
                             .box = waters[k / FLOWS],
                             .rule = flow->rule,
                             .n = {n, n, 1},
                             .precision = SEL_F32,
                             .details = flow,
                             .describe = describe,
                             .print_json = print_json};
    }
    return count;
}
