// blur.cu -- the kernel of blur.h: a block of threads owns a row.
#define SEL_CUDA
#include "cuda/query.cuh"
#include "tests/unit/blur.h"

static __global__ void step_kernel(const __grid_constant__ blur_view v) {
    const uint32_t nx = v.grid.n[0], y = blockIdx.x, row = (y + 1) * nx;
    const double *from = (const double *)cuda_part(v.from, row) + row;
    for (uint32_t x = threadIdx.x; x < nx; x += blockDim.x) {
        ((double *)cuda_part(v.to, row))[row + x] =
            blur_rule(from + x, v.grid.solid + y * nx + x, nx, v.grid.n[1], y);
    }
}

extern "C" cudaError_t blur_gpu_step(const blur_view *view, cudaStream_t stream) {
    step_kernel<<<view->grid.n[1], 128, 0, stream>>>(*view);
    return cudaGetLastError();
}

struct blurred {
    typedef blur_view view;
    static __device__ double value(const view &v, int64_t cell) {
        const int64_t place = cell + v.grid.n[0];
        return ((const double *)cuda_part(v.from, place))[place];
    }
};

extern "C" const cuda_look *blur_gpu_look() {
    return look_of<look_of_value<blurred>>();
}
