/* aqua_gather.c -- which kernels gather. */
#include "cuda/aqua_gpu.h"

bool aqua_gpu_gather_needs_scratch(bool whole) {
    (void)whole;
    return true;
}

cudaError_t aqua_gpu_gather(const aqua_gpu_flow *flow, cudaStream_t stream) {
    return aqua_gpu_two_pass(flow, stream);
}
