/* heat_kernel.c -- the CPU's inner loops in both precisions, as a table for one level. */
#include "engine/base/stream.h"
#include "engine/machine/kernel.h"
#include "engine/solvers/heat/heat.h"

#define HEAT_FMA(a, b, c) ((a) * (b) + (c))

#if defined(__clang__)
#define HEAT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define HEAT_INDEPENDENT SEL_INDEPENDENT _Pragma("GCC unroll 1")
#endif

#define REAL float
#define HEAT_NAME(name) name##_f32
#include "engine/solvers/heat/heat_loops.h"
#undef REAL
#undef HEAT_NAME

#define REAL double
#define HEAT_NAME(name) name##_f64
#include "engine/solvers/heat/heat_loops.h"

extern const heat_loops SEL_OF_LEVEL(heat_loops_)[2];
const heat_loops SEL_OF_LEVEL(heat_loops_)[2] = {
    [SEL_F32] = {row_f32, touch_f32}, [SEL_F64] = {row_f64, touch_f64}};
