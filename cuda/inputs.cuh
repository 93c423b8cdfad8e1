// inputs.cuh -- the kernel that evaluates inputs and stores their values.
//
// A block belongs to one input, so that its threads run the same instructions; the blocks of one
// step are beside those of the next. The registers of a block lie in shared memory: first those
// that are the same at all places, then those of each thread, the same register of all threads side
// by side.
//
//     blocks   | input 0: 3 blocks | input 2: 1 | input 3: 5 blocks |     x: of the inputs due
//                                                                         y: steps
#ifndef CUDA_INPUTS_CUH
#define CUDA_INPUTS_CUH

#include "cuda/terms.cuh"

#include "cuda/inputs.h"

// The input whose blocks hold this one: the last whose first block is not after it.
static __device__ inline int cuda_input_of(const cuda_inputs_launch &l, int64_t block) {
    int low = 0, high = l.count;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (l.first_block[middle] <= block) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// STORE has a struct `view` and
//     static __device__ void store(const view &v, const cuda_input &input, int64_t k, int64_t step,
//                                  const double value[CUDA_TERM_PARTS]);
// for the values of place k of an input, user's units, in the step from `step`.
template <class STORE>
static __global__ void cuda_inputs_kernel(const __grid_constant__ cuda_inputs_launch l,
                                          const __grid_constant__ typename STORE::view v) {
    extern __shared__ double registers[];
    const int64_t step = cuda_now(l.clock) + blockIdx.y;
    if (*l.terms.halted <= step) {
        return;
    }
    const int number = cuda_input_of(l, blockIdx.x);
    const cuda_input &input = l.inputs[number];
    const int64_t k = ((int64_t)blockIdx.x - l.first_block[number]) * blockDim.x + threadIdx.x;
    cuda_term_begin(l.terms, input.term, cuda_term_time(l.terms, step, input.ahead, l.dt),
                    registers);
    if (k >= input.count) {
        return;
    }
    double value[CUDA_TERM_PARTS] = {0, 0, 0};
    bool known = true;
    if (input.given) {
        for (int c = 0; c < input.term.components; c++) {
            value[c] = input.given[c * input.count + k];
        }
    } else {
        double place[3];
        for (int a = 0; a < 3; a++) {
            place[a] = input.place[a] ? input.place[a][k] : 0;
        }
        known = cuda_term_evaluate(l.terms, input.term, place, registers, value);
        for (int c = 0; c < input.term.components; c++) {
            known = known && value[c] >= input.least && value[c] <= input.most &&
                    !(input.whole && value[c] != floor(value[c]));
        }
    }
    if (known) {
        STORE::store(v, input, k, step, value);
    } else {
        cuda_term_report(l.terms, input.number, k, step);
    }
}

// A cuda_inputs_launcher.
template <class STORE>
static cudaError_t cuda_inputs_run(const cuda_inputs_launch *l, const void *view,
                                   cudaStream_t stream) {
    const dim3 blocks((unsigned)l->blocks, (unsigned)l->steps);
    cuda_inputs_kernel<STORE>
        <<<blocks, l->threads, l->shared_bytes, stream>>>(*l, *(const typename STORE::view *)view);
    return cudaGetLastError();
}

#endif
