/* aqua_gather.c -- which kernels gather: one pass for whole quanta, two for f64. */
#include "cuda/aqua_gpu.h"

bool aqua_gpu_gather_needs_scratch(bool whole) {
    return !whole;
}

cudaError_t aqua_gpu_gather(const aqua_gpu_flow *flow, cudaStream_t stream) {
    return flow->whole ? aqua_gpu_march(flow, stream) : aqua_gpu_two_pass(flow, stream);
}
