/* bench_lbm.c -- the cases of sel.lbm for `selenite bench`: periodic boxes and lid-driven cavities.
 */
#include <string.h>
#include "engine/bench_case.h"
#include "engine/lbm/lbm.h"
#include "geometry/shape.h"

typedef struct bench_flow {
    const char *lattice;
    int64_t n[3];
    int precision, collision;
    bool walls; /* a lid-driven cavity; else a periodic box */
} bench_flow;

enum { PERIODIC = false, CAVITY = true };

static const bench_flow cpu_flows[] = {
    {"D2Q9", {512, 512, 1}, SEL_F32, LBM_TRT, PERIODIC},
    {"D2Q9", {512, 512, 1}, SEL_F64, LBM_TRT, PERIODIC},
    {"D2Q9", {2048, 2048, 1}, SEL_F32, LBM_TRT, PERIODIC},
    {"D2Q9", {2048, 2048, 1}, SEL_F32, LBM_TRT, CAVITY},
    {"D2Q9", {2048, 2048, 1}, SEL_F32, LBM_BGK, PERIODIC},
    {"D2Q9", {2048, 2048, 1}, SEL_F32, LBM_REGULARIZED, PERIODIC},
    {"D2Q9", {2048, 2048, 1}, SEL_F64, LBM_TRT, PERIODIC},
    {"D2Q9", {2048, 2048, 1}, SEL_F64, LBM_TRT, CAVITY},
    {"D3Q19", {192, 192, 192}, SEL_F32, LBM_TRT, PERIODIC},
    {"D3Q19", {192, 192, 192}, SEL_F32, LBM_TRT, CAVITY},
    {"D3Q19", {96, 96, 96}, SEL_F64, LBM_TRT, PERIODIC},
    {"D3Q19", {96, 96, 96}, SEL_F64, LBM_TRT, CAVITY},
};

static const bench_flow device_flows[] = {
    {"D2Q9", {1024, 1024, 1}, SEL_F32, LBM_TRT, PERIODIC},
    {"D2Q9", {4096, 4096, 1}, SEL_F32, LBM_TRT, PERIODIC},
    {"D2Q9", {8192, 8192, 1}, SEL_F32, LBM_TRT, PERIODIC},
    {"D2Q9", {16384, 16384, 1}, SEL_F32, LBM_TRT, PERIODIC},
    {"D2Q9", {8192, 8192, 1}, SEL_F32, LBM_TRT, CAVITY},
    {"D2Q9", {8192, 8192, 1}, SEL_F32, LBM_BGK, PERIODIC},
    {"D2Q9", {8192, 8192, 1}, SEL_F32, LBM_REGULARIZED, PERIODIC},
    {"D2Q9", {1024, 1024, 1}, SEL_F64, LBM_TRT, PERIODIC},
    {"D2Q9", {4096, 4096, 1}, SEL_F64, LBM_TRT, PERIODIC},
    {"D2Q9", {8192, 8192, 1}, SEL_F64, LBM_TRT, PERIODIC},
    {"D3Q19", {64, 64, 64}, SEL_F32, LBM_TRT, PERIODIC},
    {"D3Q19", {128, 128, 128}, SEL_F32, LBM_TRT, PERIODIC},
    {"D3Q19", {256, 256, 256}, SEL_F32, LBM_TRT, PERIODIC},
    {"D3Q19", {512, 512, 512}, SEL_F32, LBM_TRT, PERIODIC},
    {"D3Q19", {256, 256, 256}, SEL_F32, LBM_TRT, CAVITY},
    {"D3Q19", {256, 256, 256}, SEL_F32, LBM_BGK, PERIODIC},
    {"D3Q19", {256, 256, 256}, SEL_F32, LBM_REGULARIZED, PERIODIC},
    {"D3Q19", {64, 64, 64}, SEL_F64, LBM_TRT, PERIODIC},
    {"D3Q19", {128, 128, 128}, SEL_F64, LBM_TRT, PERIODIC},
    {"D3Q19", {256, 256, 256}, SEL_F64, LBM_TRT, PERIODIC},
    {"D3Q19", {512, 512, 512}, SEL_F64, LBM_TRT, PERIODIC},
};

/* All that a case lives of. */
typedef struct bench_box {
    lbm_params params;
    sel_region regions[2];
    lbm_law_wall at_rest, lid;
} bench_box;

/* The lattice's number; -1 when this build has none of that name. */
static int find_lattice(const char *name) {
    for (int l = 0; lbm_lattice_names[l]; l++) {
        if (strcmp(lbm_lattice_names[l], name) == 0) {
            return l;
        }
    }
    return -1;
}

/* A vector along the plane of x and y. */
static sel_quantity constant(const bench_case *c, double x, double y) {
    return bench_dimensions(c) == 3 ? sel_constant3(x, y, 0) : sel_constant2(x, y);
}

static void add_walls(const bench_case *c, bench_box *box, sel_arena *arena) {
    box->lid.velocity = constant(c, 0.1, 0);
    box->regions[0] = (sel_region){.where = sel_shape_face(arena, SEL_Y_MAX),
                                   .law = {&lbm_wall_table, &box->lid, {NULL, 0}}};
    box->regions[1] = (sel_region){.where = sel_shape_make(arena, SEL_SHAPE_REST, NULL),
                                   .law = {&lbm_wall_table, &box->at_rest, {NULL, 0}}};
    box->params.common.regions = (sel_list){2, box->regions, NULL};
}

static sel_status describe(bench_case *c, sel_arena *arena, sel_error *error) {
    const bench_flow *flow = c->details;
    bench_box *box = sel_arena_alloc(arena, sizeof *box);
    int lattice = find_lattice(flow->lattice);
    if (lattice < 0) {
        return sel_fail(error, SEL_NO_DEVICE, "this build has no lattice %s", flow->lattice);
    }
    if (!box) {
        return sel_fail_memory(error, "the benchmark", sizeof *box);
    }
    sel_table_presets(lbm_solver.table, &box->params);
    sel_common *common = &box->params.common;
    common->size = (sel_ints){bench_dimensions(c), {c->n[0], c->n[1], c->n[2]}};
    common->precision = c->precision;
    common->stop.steps = 1;
    box->params.lattice = lattice;
    box->params.collision = flow->collision;
    box->params.tau = 0.6;
    box->params.initial.velocity = constant(c, 0.03, 0.02);
    if (flow->walls) {
        add_walls(c, box, arena);
    } else {
        common->periodic = (1u << bench_dimensions(c)) - 1;
    }
    c->simulation = (sel_simulation){.solver = &lbm_solver, .params = common};
    return SEL_OK;
}

static void print_json(const bench_case *c, FILE *to) {
    fprintf(to, "\"lattice\": \"%s\", \"box\": \"%s\", \"collision\": \"%s\"", c->kind, c->box,
            c->rule);
}

int bench_lbm_cases(bool device, bench_case *to) {
    const bench_flow *flow = device ? device_flows : cpu_flows;
    const int count = device ? sizeof device_flows / sizeof *flow : sizeof cpu_flows / sizeof *flow;
    for (int i = 0; to && i < count; i++) {
        to[i] = (bench_case){.solver = &lbm_solver,
                             .kind = flow[i].lattice,
                             .box = flow[i].walls ? "cavity" : "periodic",
                             .rule = lbm_collision_names[flow[i].collision],
                             .n = {flow[i].n[0], flow[i].n[1], flow[i].n[2]},
                             .precision = flow[i].precision,
                             .details = &flow[i],
                             .describe = describe,
                             .print_json = print_json};
    }
    return count;
}
