/* aqua_kernel.c -- the CPU's inner loops for both stores, as a table for one level. */
#include <math.h>
#include <string.h>
#include "engine/base/kernel.h"
#include "engine/solvers/aqua/aqua_state.h"

#if defined(__clang__) /* which gives up on one of the loops, and tells it as a warning */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* TILE: columns that are done at a time, so that three rows of their edges stay in the nearest
 * cache. PIECE: cells that fill sorts together if any of them needs it. BAND: rows that are skipped
 * together where there is no water. */
enum { TILE = 256, ROOM = TILE + 16, PIECE = 32, BAND = 16 };

#define REAL float
#define AQUA_WATER int32_t
#define AQUA_SQRT(x) sqrtf(x)
#define AQUA_NAME(name) name##_f32
#include "engine/solvers/aqua/aqua_loops.h"
#undef REAL
#undef AQUA_WATER
#undef AQUA_SQRT
#undef AQUA_NAME

#define REAL double
#define AQUA_WATER double
#define AQUA_SQRT(x) sqrt(x)
#define AQUA_NAME(name) name##_f64
#include "engine/solvers/aqua/aqua_loops.h"

#define LOOPS(suffix)                                                                             \
    {                                                                                             \
        .scratch = (sizeof(aqua_scratch_##suffix) + SEL_LINE - 1) / SEL_LINE * SEL_LINE,          \
        .flow = aqua_flow_##suffix, .supply = aqua_supply_##suffix, .watch = aqua_watch_##suffix, \
        .edge = aqua_flux_of_##suffix,                                                            \
    }

extern const aqua_loops SEL_OF_LEVEL(aqua_loops)[2];
const aqua_loops SEL_OF_LEVEL(aqua_loops)[2] = {[SEL_F32] = LOOPS(f32), [SEL_F64] = LOOPS(f64)};
