// rule_interpret.cu -- the launcher of the interpreter.
#include "cuda/rule_gpu.h"
#include "cuda/rule_interpret.cuh"

extern "C" cudaError_t rule_interpret(const rule_view *view, const rule_packed *packed,
                                      cudaStream_t stream) {
    const unsigned blocks =
        (unsigned)((packed->threads + RULE_PACKED_THREADS - 1) / RULE_PACKED_THREADS);
    rule_interpret_kernel<<<blocks, RULE_PACKED_THREADS, 0, stream>>>(*view, *packed);
    return cudaGetLastError();
}
