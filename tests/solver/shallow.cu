// shallow.cu -- kernels of sel.shallow: a step, reads and sums.
#define SEL_CUDA
#include "cuda/query.cuh"
#include "tests/solver/shallow.h"

enum { THREADS = 128 };

static __global__ void step_kernel(const __grid_constant__ shallow_view v, const int64_t *halted,
                                   cuda_clock clock) {
    const int64_t x = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (x < v.n[0] && !cuda_is_halted(halted, clock)) {
        shallow_step(&v, x, v.first + blockIdx.y, -1);
    }
}

static __global__ void surface_kernel(const __grid_constant__ shallow_view v, int64_t first,
                                      int64_t end, const int64_t *halted, cuda_clock clock) {
    const int64_t k = first + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < end && !cuda_is_halted(halted, clock)) {
        shallow_step(&v, v.cell[k] % v.n[0], v.cell[k] / v.n[0], k);
    }
}

extern "C" cudaError_t shallow_gpu_step(const shallow_view *v, const int64_t surfaces[2],
                                        const int64_t *halted, cuda_clock clock,
                                        cudaStream_t stream) {
    const dim3 blocks(cuda_shares(v->n[0], THREADS), (unsigned)(v->end - v->first));
    step_kernel<<<blocks, THREADS, 0, stream>>>(*v, halted, clock);
    if (surfaces[1] > surfaces[0]) {
        surface_kernel<<<cuda_shares(surfaces[1] - surfaces[0], THREADS), THREADS, 0, stream>>>(
            *v, surfaces[0], surfaces[1], halted, clock);
    }
    return cudaGetLastError();
}

struct shallow_depth {
    typedef shallow_seen view;
    static __device__ double value(const view &v, int64_t cell) { return v.now.from[cell]; }
};

// Depth is the main field and what is conserved; discharge has two components.
struct shallow_look : look_of_value<shallow_depth> {
    static __device__ int field(const view &v, int which, const uint32_t at[3], double *out) {
        const shallow_cell c = shallow_at(&v.now, at[0], at[1]);
        out[0] = which == 0 ? c.h : c.q[0];
        out[1] = c.q[1];
        return which == 0 ? 1 : 2;
    }
};

extern "C" const cuda_look *shallow_gpu_look() {
    return look_of<shallow_look>();
}
