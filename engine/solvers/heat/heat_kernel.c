/* heat_kernel.c -- the CPU's inner loops in both precisions, as a table for one level.
 *
 * Compiled once per level with -DSEL_LEVEL=v2, v3, v4 (or any, off x86-64). Nothing is contracted
 * or reordered, so that all levels give the same bits.
 */
#include "engine/base/stream.h"
#include "engine/solvers/heat/heat.h"

#define SEL_INLINE static inline __attribute__((always_inline))
#define HEAT_FMA(a, b, c) ((a) * (b) + (c))

/* The cells of a row do not depend on each other. */
#if defined(__clang__)
#define HEAT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define HEAT_INDEPENDENT _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif

#define REAL float
#define HEAT_NAME(name) name##_f32
#include "engine/solvers/heat/heat_loops.h"
#undef REAL
#undef HEAT_NAME

#define REAL double
#define HEAT_NAME(name) name##_f64
#include "engine/solvers/heat/heat_loops.h"

#define JOIN(a, b) a##b
#define LEVEL_NAME(prefix, level) JOIN(prefix, level)
#define TABLE LEVEL_NAME(heat_loops_, SEL_LEVEL)
extern const heat_loops TABLE[2];
const heat_loops TABLE[2] = {[SEL_F32] = {row_f32, touch_f32}, [SEL_F64] = {row_f64, touch_f64}};
