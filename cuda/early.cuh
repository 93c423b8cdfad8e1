// early.cuh -- kernels that are set up while the one before them in the stream still runs.
//
// On a small grid a step takes less time than it takes to end one kernel and to begin the next
// (CUDA C++ Programming Guide, "Programmatic Dependent Launch"):
//
//     step   |== work =========|                      launched one after the other
//     close                      . . |== work ==|
//
//     step   |== work =========|                      close launched early: what it reads was
//     close     |== work ==. . . .|= store            complete before the step began
//
// Of a kernel that is launched so, every thread calls cuda_wait_for_last, also one that has nothing
// to do: only thus does the end of a kernel mean the end of all before it.
#ifndef CUDA_EARLY_CUH
#define CUDA_EARLY_CUH

#include <cuda_runtime_api.h>

// Waits until the kernel before has ended and what it has stored can be read.
static __device__ __forceinline__ void cuda_wait_for_last(void) {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

// When all blocks have called this, the kernel that follows may begin.
static __device__ __forceinline__ void cuda_let_next_begin(void) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Before the wait: what was complete when the kernel before began may be read from here on. The
// fence empties the first cache, which may hold what stood there earlier.
static __device__ __forceinline__ void cuda_see_completed(void) {
#if __CUDA_ARCH__ >= 900
    __threadfence();
#endif
}

// kernel<<<blocks, threads, shared, stream>>>(argument), early if the kernel's code knows how to
// wait.
template <class A>
static cudaError_t cuda_launch_early(void (*kernel)(A), dim3 blocks, dim3 threads,
                                     cudaStream_t stream, const A &argument, size_t shared = 0) {
    enum { FIRST_ARCHITECTURE = 90 };
    cudaFuncAttributes code;
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t as = {};
    const cudaError_t found = cudaFuncGetAttributes(&code, kernel);
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    as.gridDim = blocks;
    as.blockDim = threads;
    as.dynamicSmemBytes = shared;
    as.stream = stream;
    as.attrs = &early;
    as.numAttrs = code.ptxVersion >= FIRST_ARCHITECTURE;
    return found != cudaSuccess ? found : cudaLaunchKernelEx(&as, kernel, argument);
}

#endif
