/* lbm_cpu_kernel.c -- the CPU's inner loops for one processor level, f32 and f64.
 *
 * Compiled once per level with -DSEL_LEVEL=v2, v3, v4 (or any, off x86-64). Nothing is contracted
 * or reordered, so that all levels give the same bits.
 */
#include <math.h>
#include "engine/lbm/lbm_kernel.h"
#include "engine/stream.h"

#define SEL_INLINE static inline __attribute__((always_inline))

/* The cells of a row do not depend on each other. (Not `omp simd`: with it gcc keeps the arrays of
 * inlined functions in memory and gives up.) */
#if defined(__clang__)
#define LBM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LBM_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define REAL float
#define LBM_SQRT(x) sqrtf(x)
#define LBM_NAME(name) name##_f32
#include "engine/lbm/lbm_loops.h"
#undef REAL
#undef LBM_SQRT
#undef LBM_NAME

#define REAL double
#define LBM_SQRT(x) sqrt(x)
#define LBM_NAME(name) name##_f64
#include "engine/lbm/lbm_loops.h"
#undef REAL
#undef LBM_SQRT
#undef LBM_NAME

#define BULK(name, real)                                                   \
    {                                                                      \
        {bulk_##name##_##real, bulk_##name##_eddy_##real},                 \
            {bulk_##name##_force_##real, bulk_##name##_force_eddy_##real}, \
            {bulk_##name##_field_##real, bulk_##name##_field_eddy_##real}, \
    }
#define LOOPS(real)                                                                           \
    {                                                                                         \
        .bulk = {[LBM_TRT] = BULK(trt, real),                                                 \
                 [LBM_BGK] = BULK(bgk, real),                                                 \
                 [LBM_REGULARIZED] = BULK(regularized, real)},                                \
        .edge = edge_##real, .read = read_##real, .write = write_##real, .pull = pull_##real, \
        .arrive = arrive_##real,                                                              \
    }

#if defined(__x86_64__)
#define LEVEL_PREFIX "x86-64-"
#else
#define LEVEL_PREFIX ""
#endif
#define JOIN(a, b) a##b
#define LEVEL_NAME(prefix, level) JOIN(prefix, level)
#define TEXT(level) #level
#define LEVEL_TEXT(level) TEXT(level)

extern const lbm_kernels LEVEL_NAME(lbm_kernels_, SEL_LEVEL);
const lbm_kernels LEVEL_NAME(lbm_kernels_, SEL_LEVEL) = {
    .level = LEVEL_PREFIX LEVEL_TEXT(SEL_LEVEL),
    .loops = {[SEL_F32] = LOOPS(f32), [SEL_F64] = LOOPS(f64)},
};
