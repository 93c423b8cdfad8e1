// ops.cuh -- the operations of programs in kernels, by name and type for those that are printed.
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

// The operations of floats and of whole numbers; others are computed in doubles.
#define CUDA_OP(T, name, value)                                               \
    static __device__ __forceinline__ T op_##name([[maybe_unused]] T a,       \
                                                  [[maybe_unused]] T b = 0) { \
        return value;                                                         \
    }
#define CUDA_OP_F(name, value) CUDA_OP(float, name, value)
#define CUDA_OP_I(name, value) CUDA_OP(int32_t, name, value)
SEL_OPS_OF_NUMBERS(CUDA_OP_F)
SEL_OPS_OF_COMPARISON(CUDA_OP_F)
SEL_OPS_OF_REALS(CUDA_OP_F, f)
SEL_OPS_OF_NUMBERS(CUDA_OP_I)
SEL_OPS_OF_COMPARISON(CUDA_OP_I)
SEL_OPS_OF_WHOLES(CUDA_OP_I)

static __device__ __noinline__ double op_LOOKUP(const sel_packed &packed, int program, int which,
                                                double a, double b = 0, double c = 0,
                                                double d = 0) {
    const double at[SEL_LOOKUP_ARGUMENTS] = {a, b, c, d};
    return sel_packed_look_up(&packed, &packed.program[program], which, at);
}

#endif
