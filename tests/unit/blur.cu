// blur.cu -- the kernel of blur.h: a block owns a row.
#define SEL_CUDA
#include "cuda/machine/look.cuh"
#include "tests/unit/blur.h"

static __global__ void step_kernel(const __grid_constant__ blur_view v) {
    const uint32_t nx = v.grid.n[0], first = blockIdx.x * nx;
    for (uint32_t x = threadIdx.x; x < nx; x += blockDim.x) {
        v.to[first + x] = blur_rule(v.from + first, v.grid.solid + first, nx, x);
    }
}

extern "C" cudaError_t blur_gpu_step(const blur_view *view, cudaStream_t stream) {
    step_kernel<<<view->grid.n[1], 128, 0, stream>>>(*view);
    return cudaGetLastError();
}

struct blurred {
    typedef blur_view view;
    static __device__ double value(const view &v, int64_t cell) { return v.from[cell]; }
};

extern "C" const cuda_look *blur_gpu_look() {
    return look_of<look_of_value<blurred>>();
}
