/* heat_kernel.c -- the CPU's inner loops in both precisions, as a table for one level. */
#include "engine/base/kernel.h"
#include "engine/solvers/heat/heat.h"

#define HEAT_FMA(a, b, c) ((a) * (b) + (c))
#define HEAT_NAME(name) SEL_OF_REAL(name)

#define REAL float
#include "engine/solvers/heat/heat_loops.h"
#undef REAL

#define REAL double
#include "engine/solvers/heat/heat_loops.h"

#define TABLE SEL_OF_LEVEL(heat_loops)
extern const heat_loops TABLE[2];
const heat_loops TABLE[2] = {
    [SEL_F32] = {row_float, touch_float}, [SEL_F64] = {row_double, touch_double}};
