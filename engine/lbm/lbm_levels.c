/* lbm_levels.c -- which of the compiled kernel tables this processor can run. */
#include "engine/lbm/lbm_kernel.h"
#include "engine/machine.h"

#if defined(__x86_64__)

#define TABLE(of)                                                           \
    extern const lbm_loops lbm_d2q9_loops_##of[2], lbm_d3q19_loops_##of[2]; \
    static const lbm_kernels lbm_kernels_##of = {                           \
        .level = "x86-64-" #of,                                             \
        .loops = {[LBM_D2Q9] = lbm_d2q9_loops_##of, [LBM_D3Q19] = lbm_d3q19_loops_##of}};
TABLE(v2)
TABLE(v3)
TABLE(v4)

const lbm_kernels *lbm_kernels_usable(int index) {
    static const lbm_kernels *const tables[] = {&lbm_kernels_v4, &lbm_kernels_v3, &lbm_kernels_v2,
                                                NULL};
    int level = sel_machine_level(), first = level ? 4 - level : 3;
    return index <= 3 - first ? tables[first + index] : NULL;
}

#else

extern const lbm_loops lbm_d2q9_loops_any[2], lbm_d3q19_loops_any[2];
static const lbm_kernels lbm_kernels_any = {
    .level = "any", .loops = {[LBM_D2Q9] = lbm_d2q9_loops_any, [LBM_D3Q19] = lbm_d3q19_loops_any}};

const lbm_kernels *lbm_kernels_usable(int index) {
    return index == 0 ? &lbm_kernels_any : NULL;
}

#endif
