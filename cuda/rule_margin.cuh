// rule_margin.cuh -- the kernel that fills a margin (engine/solvers/rule/rule_margin.h).
#ifndef RULE_MARGIN_CUH
#define RULE_MARGIN_CUH

#include "engine/solvers/rule/rule_margin.h"

enum { RULE_MARGIN_THREADS = 128 /* of a block */ };

// Threads that a block of the grid needs at most.
static inline int64_t rule_margin_threads(const rule_margin *m) {
    int64_t extent[2];
    rule_extents(m, extent);
    return extent[0] * extent[1] * 2 * m->reach;
}

extern "C" __global__ void rule_margin_kernel(const __grid_constant__ rule_margin m, int64_t most) {
    const int block = blockIdx.y, sides = 2 * m.reach;
    const int along = m.axis == 0 ? 1 : 0, across = m.dims == 2 ? 2 : 3 - m.axis - along;
    const int64_t k = (int64_t)blockIdx.x * RULE_MARGIN_THREADS + threadIdx.x;
    int64_t at[3] = {0, 0, 0}, low[3], high[3], extent[2];
    rule_extents(&m, extent);
    rule_ranges(&m, block, low, high);
    const int64_t length = along == rule_low_axis(&m) ? extent[0] : extent[1];
    const int j = (int)(k / length % sides);
    at[along] = low[along] + k % length;
    at[across] = low[across] + k / length / sides;
    if (k >= most || at[along] >= high[along] || at[across] >= high[across]) {
        return;
    }
    const rule_beyond p = rule_find_beyond(&m, block, at, j % 2, j / 2);
    for (uint64_t left = m.fields; left; left &= left - 1) {
        rule_fill_place(&m, &p, __ffsll((long long)left) - 1, along, 0, 0);
    }
}

#endif
