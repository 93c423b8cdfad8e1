// ops.cuh -- the operations of programs in kernels, by name for those that are printed.
//
// The includer is compiled with -fmad=false, so that sums of products round as on the host.
#ifndef CUDA_OPS_CUH
#define CUDA_OPS_CUH

#define SEL_VALUE_INLINE static __device__ inline

#include "engine/values/program_eval.h"

#define CUDA_OP(name, operands, value)                                                         \
    static __device__ __forceinline__ double op_##name(double a, double b = 0, double c = 0) { \
        return value;                                                                          \
    }
SEL_PROGRAM_OPS(CUDA_OP)
#undef CUDA_OP

#endif
