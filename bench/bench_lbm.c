/* bench_lbm.c -- how fast the CPU backend runs D2Q9: a driven box, by precision and threads. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/lbm/lbm_cpu.h"
#include "geometry/shape.h"

enum { N = 512, STEPS = 400 };

/* Million cell updates per second, or 0 after an error. */
static double measure(int precision, int collision, int threads, const lbm_kernels *kernels) {
    lbm_params params = {0};
    sel_table_presets(&lbm_table, &params);
    sel_arena *arena = sel_arena_create();
    lbm_law_wall wall = {0};
    sel_region walls = {.where = sel_shape_make(arena, SEL_SHAPE_FACES, NULL),
                        .law = {.table = &lbm_wall_table, .data = &wall}};
    params.common.size = (sel_ints){2, {N, N, 0}};
    params.common.precision = precision;
    params.common.threads = threads;
    params.common.regions = (sel_list){.n = 1, .v = &walls};
    params.collision = collision;
    params.tau = 0.6;
    params.initial.velocity = sel_constant2(0.05, 0.02);
    sel_simulation simulation = {.solver = &lbm_solver, .params = &params.common};
    sel_domain *domain = NULL;
    sel_plan *plan = NULL;
    sel_state *state = NULL;
    sel_error error = {0};
    double speed = 0;
    if (!sel_domain_create(&simulation, &domain, &error) &&
        !lbm_solver.plan(&simulation, domain, &plan, &error) &&
        !lbm_cpu_backend.create(plan, &state, &error)) {
        state->kernels = kernels;
        lbm_cpu_backend.advance(state, 20, &error);
        double start = omp_get_wtime();
        lbm_cpu_backend.advance(state, STEPS, &error);
        speed = 1e-6 * N * N * STEPS / (omp_get_wtime() - start);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    lbm_cpu_backend.destroy(state);
    lbm_solver.plan_destroy(plan);
    sel_domain_destroy(domain);
    sel_arena_destroy(arena);
    return speed;
}

int main(void) {
    printf("%-10s %-4s %-4s %8s %8s  MLUPS, %d x %d cells\n", "level", "", "", "1 thread",
           "2 threads", N, N);
    const lbm_kernels *kernels;
    for (int k = 0; (kernels = lbm_kernels_usable(k)) != NULL; k++) {
        for (int precision = SEL_F32; precision <= SEL_F64; precision++) {
            for (int collision = LBM_TRT; collision <= LBM_BGK; collision++) {
                printf("%-10s %-4s %-4s %8.0f %8.0f\n", kernels->level,
                       sel_precision_names[precision], lbm_collision_names[collision],
                       measure(precision, collision, 1, kernels),
                       measure(precision, collision, 2, kernels));
            }
        }
    }
    return 0;
}
