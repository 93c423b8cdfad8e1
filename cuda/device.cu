// device.cu -- a copy by 16-byte accesses, the bound of memory-bound kernels; the clock.
#include "cuda/device.h"

static __global__ void copy_kernel(uint4 *__restrict__ to, const uint4 *__restrict__ from,
                                   int64_t count) {
    const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) {
        to[k] = from[k];
    }
}

cudaError_t cuda_copy(void *to, const void *from, int64_t bytes, cudaStream_t stream) {
    const int64_t count = bytes / (int64_t)sizeof(uint4), threads = 256;
    copy_kernel<<<(unsigned)((count + threads - 1) / threads), (unsigned)threads, 0, stream>>>(
        (uint4 *)to, (const uint4 *)from, count);
    return cudaGetLastError();
}

static __global__ void tick_kernel(int64_t *base, int64_t steps) {
    *base += steps;
}

cudaError_t cuda_tick(int64_t *base, int64_t steps, cudaStream_t stream) {
    tick_kernel<<<1, 1, 0, stream>>>(base, steps);
    return cudaGetLastError();
}
