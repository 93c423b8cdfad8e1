// aqua_traits.cuh -- the rule of AQUA-GRAPH as a struct for each store; marks, alarms.
//
// The includer is compiled with -fmad=false: then device and processor give the same bits.
#ifndef AQUA_TRAITS_CUH
#define AQUA_TRAITS_CUH

#include <stdint.h>
#include "engine/solvers/aqua/aqua_kernels_cuda.h"

#define SEL_INLINE static __device__ __forceinline__
#define AQUA_NAME(name) name

#define AQUA_SQRT(x) sqrt(x)
template <class REAL, class AQUA_WATER> struct aqua_rule {
    typedef REAL real;
    typedef AQUA_WATER water;
    static constexpr bool whole = sizeof(AQUA_WATER) == sizeof(int32_t);
#include "engine/solvers/aqua/aqua_step.h"
};
#undef AQUA_SQRT

typedef aqua_rule<float, int32_t> aqua_f32;
typedef aqua_rule<double, double> aqua_f64;

// Cell (x, y) of the grid, also of its frame.
static __device__ inline int64_t aqua_at(const aqua_gpu_layout &l, int x, int y) {
    return (int64_t)(y + AQUA_HALO) * l.pitch + x + AQUA_HALO;
}

// The marks of the tiles of row y of the grid.
static __device__ __forceinline__ uint8_t *aqua_marks_of_row(const aqua_gpu_layout &l,
                                                             uint8_t *marks, uint32_t y) {
    return marks + (y + l.shift) / AQUA_TILE_ROWS * l.across;
}

// Marks the tile of a cell in column x as wet. Marks that are set already, as most are when it
// rains everywhere, are not written again.
static __device__ __forceinline__ void aqua_mark(uint8_t *marks_of_row, uint32_t x) {
    uint8_t *mark = marks_of_row + (x + AQUA_TILE_SHIFT) / AQUA_TILE_COLUMNS;
    if (*mark != AQUA_ALL_WET) {
        *mark = AQUA_ALL_WET;
    }
}

// The same for cell `at` of flow.from, which may be one of the frame: that has no marks.
static __device__ inline void aqua_mark_at(const aqua_gpu_flow &flow, int64_t at) {
    const aqua_gpu_layout &l = flow.layout;
    const uint32_t row = (uint32_t)(at / l.pitch), x = (uint32_t)(at - (int64_t)row * l.pitch);
    if (flow.marks_from && x - AQUA_HALO < l.nx && row - AQUA_HALO < l.ny) {
        aqua_mark(aqua_marks_of_row(l, flow.marks_from, row - AQUA_HALO), x - AQUA_HALO);
    }
}

// The amounts of the step.
static __device__ __forceinline__ const double *aqua_amounts_of(const aqua_gpu_flow &f) {
    return f.amounts + cuda_now(f.clock) % CUDA_STEPS * f.width;
}

// Whether cell `at` is of the block.
static __device__ __forceinline__ bool aqua_owns(const aqua_gpu_layout &l, int64_t at) {
    return at >= l.first_cell && at < l.end_cell;
}

// Raises the alarm for a depth that is too large, `half_steps` after the step begins.
static __device__ inline void aqua_raise(const aqua_gpu_flow &flow, int half_steps, int64_t at) {
    const int64_t moment = 2 * cuda_now(flow.clock) + half_steps;
    atomicMin((unsigned long long *)flow.alarm, (unsigned long long)moment << 32 | (uint32_t)at);
}

#endif
