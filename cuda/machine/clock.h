/* clock.h -- the step that kernels compute: on the device, so that steps recorded once can be done
 * again and again.
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_CLOCK_H
#define CUDA_CLOCK_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Steps recorded together; what the host sends for each step stands in tables of so many, that of
 * step n at n % CUDA_STEPS. Even: a graph ends with the copy that it began with. */
enum { CUDA_STEPS = 32, CUDA_WARP = 32 };

/* Of what is evaluated for up to CUDA_STEPS steps ahead so much is kept that the value before them
 * is still there. */
enum { CUDA_TURNS = 2 * CUDA_STEPS };

/* The step is number *base + offset, from 0. */
typedef struct cuda_clock {
    const int64_t *base;
    int64_t offset;
} cuda_clock;

/* *base += steps */
cudaError_t cuda_tick(int64_t *base, int64_t steps, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
static __device__ __forceinline__ int64_t cuda_now(const cuda_clock &clock) {
    return *clock.base + clock.offset;
}
#endif

#endif
