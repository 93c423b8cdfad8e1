// rule_fill.cuh -- the kernel that fills the places beyond a grid of sel.rule by its laws.
#ifndef RULE_FILL_CUH
#define RULE_FILL_CUH

#include "cuda/ops.cuh" // SEL_VALUE_INLINE
#include "engine/solvers/rule/rule_margin.h"

// A block of threads fills a run, from `first` on.
extern "C" __global__ void rule_fill_kernel(const rule_tables *t, int64_t first, uint64_t fields,
                                            uint64_t turns) {
    const rule_run &run = t->run[first + blockIdx.x];
    for (uint64_t left = fields; left && (int)threadIdx.x < run.count; left &= left - 1) {
        const int f = __ffsll((long long)left) - 1, turn = (int)(turns >> f & 1);
        if (t->at[f][turn]) {
            rule_fill_place(t, &run, threadIdx.x, f, turn);
        }
    }
}

#endif
