/* bench_lbm.c -- how fast the CPU backend runs D2Q9 against the copy bandwidth of the machine.
 *
 * usage: bench_lbm [cells per side [rounds [case]]]
 * Each round of a case measures the copy beside it, so that both meet the same disturbances;
 * medians of the rounds are printed.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/bandwidth.h"
#include "engine/lbm/lbm_cpu.h"
#include "geometry/shape.h"

enum { MOST_ROUNDS = 99 };

typedef struct bench_case {
    const char *name;
    int precision, collision;
    bool walls; /* a lid-driven box; else periodic */
    double smagorinsky;
} bench_case;

typedef struct bench_result {
    double speed[MOST_ROUNDS], copy[MOST_ROUNDS], ratio[MOST_ROUNDS];
} bench_result;

static void run_rounds(const bench_case *b, sel_state *state, double cells, int threads, int rounds,
                       bench_result *result) {
    const int64_t steps = 1 + (int64_t)(1e8 / cells);
    const double bytes = 18 * (b->precision == SEL_F32 ? 4 : 8);
    sel_error error = {0};
    lbm_cpu_backend.advance(state, 2, &error);
    for (int r = 0; r < rounds; r++) {
        result->copy[r] = sel_bandwidth_copy(threads);
        double start = omp_get_wtime();
        lbm_cpu_backend.advance(state, steps, &error);
        result->speed[r] = cells * (double)steps / (omp_get_wtime() - start);
        result->ratio[r] = result->speed[r] * bytes / result->copy[r];
    }
}

/* False after an error. */
static bool measure(const bench_case *b, int64_t n, int threads, int rounds, bench_result *result) {
    lbm_params params = {0};
    sel_table_presets(&lbm_table, &params);
    sel_arena *arena = sel_arena_create();
    lbm_law_wall wall = {0}, lid = {.velocity = sel_constant2(0.05, 0)};
    sel_region regions[] = {
        {.where = sel_shape_make(arena, SEL_SHAPE_FACES, NULL),
         .law = {.table = &lbm_wall_table, .data = &wall}},
        {.where = sel_shape_face(arena, SEL_Y_MAX),
         .law = {.table = &lbm_wall_table, .data = &lid}},
    };
    params.common.size = (sel_ints){2, {n, n, 0}};
    params.common.precision = b->precision;
    params.common.threads = threads;
    params.common.regions = (sel_list){.n = b->walls ? 2 : 0, .v = regions};
    params.common.periodic = b->walls ? 0 : 3;
    params.collision = b->collision;
    params.smagorinsky = b->smagorinsky > 0 ? b->smagorinsky : params.smagorinsky;
    params.tau = 0.6;
    params.initial.velocity = sel_constant2(0.05, 0.02);
    sel_simulation simulation = {.solver = &lbm_solver, .params = &params.common};
    sel_domain *domain = NULL;
    sel_plan *plan = NULL;
    sel_state *state = NULL;
    sel_error error = {0};
    bool made = !sel_domain_create(&simulation, &domain, &error) &&
                !lbm_solver.plan(&simulation, domain, &plan, &error) &&
                !lbm_cpu_backend.create(plan, &state, &error);
    if (made) {
        run_rounds(b, state, (double)(n * n), threads, rounds, result);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    lbm_cpu_backend.destroy(state);
    lbm_solver.plan_destroy(plan);
    sel_domain_destroy(domain);
    sel_arena_destroy(arena);
    return made;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}

int main(int argc, char **argv) {
    static const bench_case cases[] = {
        {"trt f32 periodic", SEL_F32, LBM_TRT, false, 0},
        {"trt f32 cavity", SEL_F32, LBM_TRT, true, 0},
        {"bgk f32 periodic", SEL_F32, LBM_BGK, false, 0},
        {"regularized f32 periodic", SEL_F32, LBM_REGULARIZED, false, 0},
        {"trt f32 smagorinsky", SEL_F32, LBM_TRT, false, 0.1},
        {"trt f64 periodic", SEL_F64, LBM_TRT, false, 0},
    };
    static bench_result result;
    int64_t n = argc > 1 ? atoll(argv[1]) : 2048;
    int rounds = argc > 2 ? atoi(argv[2]) : 7, threads = omp_get_num_procs();
    if (n < 4 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_lbm [cells per side [rounds [case]]]\n");
        return 2;
    }
    printf("%lld x %lld cells, %d threads, medians of %d\n", (long long)n, (long long)n, threads,
           rounds);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (argc > 3 && strcmp(argv[3], cases[k].name) != 0) {
            continue;
        }
        if (!measure(&cases[k], n, threads, rounds, &result)) {
            return 1;
        }
        printf("%-26s %6.0f MLUPS  copy %5.1f GB/s  %5.1f %% of it\n", cases[k].name,
               1e-6 * median(result.speed, rounds), 1e-9 * median(result.copy, rounds),
               100 * median(result.ratio, rounds));
    }
    return 0;
}
