// terms.cuh -- the evaluation of terms in kernels, from the same source as on the host.
#ifndef CUDA_TERMS_CUH
#define CUDA_TERMS_CUH

#include "cuda/ops.cuh"

#include "cuda/terms.h"
#include "engine/scene/grid.h"

// Reports a place that has no value, unless one was reported before in this step.
static __device__ inline void cuda_term_report(const cuda_terms_view &view, int number,
                                               int64_t place, int64_t step) {
    if (view.claimed && atomicCAS(&view.claimed[step % CUDA_STEPS], 0, 1) == 0) {
        cuda_term_fault *fault = &view.fault[step % CUDA_STEPS];
        fault->number = number;
        fault->place = place;
        fault->step = step;
        __threadfence_system();
        fault->happened = 1;
        atomicMin((long long *)view.halted, (long long)step);
    }
}

// The time at which a term has the value of a step, `ahead` of a step after its beginning: as the
// host computes it, without contraction.
static __device__ __forceinline__ double cuda_term_time(const cuda_terms_view &view, int64_t step,
                                                        double ahead, double dt) {
    const double *clock = view.clock;
    if (!clock) {
        return ((double)step + ahead) * dt;
    }
    return clock[1] + (double)(step - (int64_t)clock[0]) * clock[2] + ahead * clock[2];
}

// Fills the registers that are the same at all places of a block; synchronises its threads.
static __device__ inline void cuda_term_begin(const cuda_terms_view &view, const cuda_term &term,
                                              double t, double *registers) {
    const int k = threadIdx.x;
    if (k < term.programs) {
        sel_packed_once(&view.packed, term.program[k], t, 0, view.controls,
                        registers + term.room[k]);
    }
    __syncthreads();
}

// The values at one place, user's units; the thread's own registers follow the fixed ones. False:
// only the host can compute them, or they are not finite.
static __device__ inline bool cuda_term_evaluate(const cuda_terms_view &view, const cuda_term &term,
                                                 const double place[3], double *registers,
                                                 double value[CUDA_TERM_PARTS]) {
    bool sure = true;
    for (int c = 0; c < CUDA_TERM_PARTS; c++) {
        value[c] = c < term.components ? term.constant[c] : 0;
    }
    for (int k = 0; k < term.programs; k++) {
        double result[SEL_PROGRAM_RESULTS];
        sure = sel_packed_each(&view.packed, term.program[k], place, registers + term.room[k],
                               registers + term.fixed + threadIdx.x, blockDim.x, result) &&
               sure;
        for (int c = 0; c < CUDA_TERM_PARTS; c++) {
            if (term.slot[c] == k) {
                value[c] = term.result[c] == 0   ? result[0]
                           : term.result[c] == 1 ? result[1]
                                                 : result[2];
            }
        }
    }
    return sure && isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]);
}

#endif
