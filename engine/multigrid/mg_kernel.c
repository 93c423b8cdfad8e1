/* mg_kernel.c -- the CPU's inner loops of multigrid in both precisions, as a table for one level of
 * x86-64.
 *
 * Nothing is contracted or reordered, so that all tables give the same bits.
 */
#include "engine/multigrid/multigrid.h"

#define SEL_INLINE static inline __attribute__((always_inline))

/* The cells of a colour do not depend on each other, nor do those of a row in other loops. */
#if defined(__clang__) /* which does not make vectors of these loops, and would say so */
#define MG_INDEPENDENT
#else
#define MG_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define REAL float
#define MG_NAME(name) name##_f32
#include "engine/multigrid/mg_loops.h"
#undef REAL
#undef MG_NAME

#define REAL double
#define MG_NAME(name) name##_f64
#include "engine/multigrid/mg_loops.h"

#define JOIN(a, b) a##b
#define LEVEL_NAME(prefix, level) JOIN(prefix, level)
#define TABLE LEVEL_NAME(mg_loops_, SEL_LEVEL)
#define ENTRIES(type)                                                                       \
    {                                                                                       \
        relax_##type, take_residual_##type, correct_##type, residual_##type, direct_##type, \
            apply_##type, dot_##type, divide_##type, add_##type                             \
    }
extern const mg_loops TABLE[2];
const mg_loops TABLE[2] = {ENTRIES(f64), ENTRIES(f32)}; /* [single] */
