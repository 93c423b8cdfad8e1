/* lbm_levels.c -- which of the compiled kernel tables this processor can run. */
#include "engine/lbm/lbm_kernel.h"

#if defined(__x86_64__)

#define TABLE(of)                                                           \
    extern const lbm_loops lbm_d2q9_loops_##of[2], lbm_d3q19_loops_##of[2]; \
    static const lbm_kernels lbm_kernels_##of = {                           \
        .level = "x86-64-" #of,                                             \
        .loops = {[LBM_D2Q9] = lbm_d2q9_loops_##of, [LBM_D3Q19] = lbm_d3q19_loops_##of}};
TABLE(v2)
TABLE(v3)
TABLE(v4)

static bool has_v2(void) {
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

static bool has_v3(void) {
    return has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void) {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

const lbm_kernels *lbm_kernels_usable(int index) {
    const lbm_kernels *usable[4] = {NULL};
    int count = 0;
    __builtin_cpu_init();
    if (has_v4()) {
        usable[count++] = &lbm_kernels_v4;
    }
    if (has_v3()) {
        usable[count++] = &lbm_kernels_v3;
    }
    if (has_v2()) {
        usable[count++] = &lbm_kernels_v2;
    }
    return index <= count ? usable[index] : NULL;
}

#else

extern const lbm_loops lbm_d2q9_loops_any[2], lbm_d3q19_loops_any[2];
static const lbm_kernels lbm_kernels_any = {
    .level = "any", .loops = {[LBM_D2Q9] = lbm_d2q9_loops_any, [LBM_D3Q19] = lbm_d3q19_loops_any}};

const lbm_kernels *lbm_kernels_usable(int index) {
    return index == 0 ? &lbm_kernels_any : NULL;
}

#endif
