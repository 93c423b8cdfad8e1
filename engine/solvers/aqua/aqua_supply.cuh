// aqua_supply.cuh -- rain and infiltration: amounts of a step that are given to cells, or taken.
//
// A warp handles a row: its lanes take every 32nd cell and then join their sums by a fixed tree, so
// that these do not depend on the order of blocks.
//
// Compiled with all kernels, and at run time together with the program of a rate that varies in
// time: then a kernel that applies the rates of a step also evaluates those of the next one, which
// stand in the same places. The first waits for memory, the second for arithmetic.
#ifndef AQUA_SUPPLY_CUH
#define AQUA_SUPPLY_CUH

#include "cuda/fill.cuh"

#include "engine/solvers/aqua/aqua_traits.cuh"
#include "cuda/wide.cuh"

enum { AQUA_TOGETHER = 8 }; // cells that a thread handles together, so that their loads overlap

// The row of a warp.
struct aqua_row {
    int64_t first; // its first cell in [ny][nx]
    double uniform;
    uint8_t *marks; // of its tiles; NULL: all are wet, or none are marked
};

static __device__ __forceinline__ uint8_t *aqua_dry_tiles(const aqua_gpu_flow &f, uint32_t y) {
    uint8_t *marks = aqua_marks_of_row(f.layout, f.marks_from, y);
    bool dry = false;
    for (uint32_t k = threadIdx.x % CUDA_WARP; k < f.layout.across; k += CUDA_WARP) {
        dry |= marks[k] != AQUA_ALL_WET;
    }
    return __any_sync(~0u, dry) ? marks : NULL;
}

// Applies the amounts of a step to the cells x, x + CUDA_WARP, ... of a row, of which ALL or some
// are in the grid, and adds them to *sum. No load waits for another one. Returns which are free, a
// bit each.
template <class S, bool STORED, bool TAKES, bool ALL>
static __device__ __forceinline__ uint32_t aqua_supply_cells(const aqua_gpu_flow &f,
                                                             const aqua_gpu_spread &s,
                                                             const aqua_row &row, uint32_t x,
                                                             typename S::water *water,
                                                             double *sum) {
    typedef typename S::water depth;
    typedef typename S::real real;
    const uint32_t nx = f.layout.nx;
    const real *rates = (const real *)s.rate + row.first;
    real *remainder = (real *)s.remainder + row.first;
    depth here[AQUA_TOGETHER];
    real rate[AQUA_TOGETHER], carry[AQUA_TOGETHER];
    uint32_t free = 0;
#pragma unroll
    for (int j = 0; j < AQUA_TOGETHER; j++) {
        const uint32_t at = x + j * CUDA_WARP;
        const bool is = ALL || at < nx;
        free |= (uint32_t)(is && !s.solid[row.first + at]) << j;
        here[j] = is ? water[at] : 0;
        rate[j] = STORED && is ? rates[at] : 0;
        carry[j] = STORED && S::whole && is ? remainder[at] : 0;
    }
#pragma unroll
    for (int j = 0; j < AQUA_TOGETHER; j++) {
        const uint32_t at = x + j * CUDA_WARP;
        if (!(free >> j & 1)) {
            continue;
        }
        const real before = carry[j];
        const depth due = STORED ? S::aqua_part(rate[j], &carry[j]) : (depth)row.uniform;
        const depth part = TAKES && here[j] < due ? here[j] : due;
        if (STORED && S::whole && carry[j] != before) { // the part of a quantum that is left
            remainder[at] = carry[j];
        }
        if (part != 0) {
            water[at] = here[j] + (TAKES ? -part : part);
            *sum += (double)part;
            if (!TAKES && row.marks) {
                aqua_mark(row.marks, at);
            }
        }
    }
    return free;
}

// The same cells' rates in the next step; none where TERM is void.
template <class TERM> struct aqua_next {
    static __device__ __forceinline__ void fill(const cuda_fill *f, double *fixed, uint32_t x,
                                                const cuda_fill_row &row, uint32_t free,
                                                int64_t step) {
#pragma unroll 2
        for (int j = 0; j < AQUA_TOGETHER; j++) {
            cuda_fill_cell<TERM>(*f, fixed, x + j * CUDA_WARP, row, free >> j & 1, step);
        }
    }
};

template <> struct aqua_next<void> {
    static __device__ __forceinline__ void fill(const cuda_fill *, double *, uint32_t,
                                                const cuda_fill_row &, uint32_t, int64_t) {}
};

// A warp's row. TERM: what each row's cells get in the next step (cuda_fill_cells); void: nothing.
template <class S, bool STORED, bool TAKES, class TERM>
static __device__ __forceinline__ void aqua_supply_row(const aqua_gpu_flow &f,
                                                       const aqua_gpu_spread &s,
                                                       const cuda_fill *next, double *fixed) {
    enum { STRIDE = CUDA_WARP * AQUA_TOGETHER };
    const aqua_gpu_layout &l = f.layout;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const uint32_t y = l.first + (blockIdx.x * AQUA_SUPPLY_THREADS + threadIdx.x) / CUDA_WARP;
    if (y >= l.end || cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    const aqua_row row = {(int64_t)y * l.nx, STORED ? 0 : aqua_amounts_of(f)[s.amount],
                          !TAKES && f.marks_from ? aqua_dry_tiles(f, y) : NULL};
    const cuda_fill_row filled = next ? cuda_fill_row_of(*next, y) : cuda_fill_row{};
    const int64_t step = next ? cuda_now(next->clock) : 0;
    double sum = 0;
    typename S::water *water = (typename S::water *)(TAKES ? f.to : f.from);
    water += aqua_at(l, 0, (int)y);
    const uint32_t whole = l.nx / STRIDE * STRIDE;
    for (uint32_t x = lane; x < whole; x += STRIDE) {
        const uint32_t free = aqua_supply_cells<S, STORED, TAKES, true>(f, s, row, x, water, &sum);
        aqua_next<TERM>::fill(next, fixed, x, filled, free, step);
    }
    if (whole < l.nx) {
        const uint32_t x = whole + lane;
        const uint32_t free = aqua_supply_cells<S, STORED, TAKES, false>(f, s, row, x, water, &sum);
        aqua_next<TERM>::fill(next, fixed, x, filled, free, step);
    }
    if (s.totals) {
        join_lanes(sum);
        if (lane == 0) {
            sel_total_more(&s.totals[y], S::whole, sum);
        }
    }
}

// A warp's row, and the rates of the next step, by a kernel whose text is AQUA_POUR.
template <class S, bool TAKES, class TERM>
static __device__ __forceinline__ void aqua_pour_row(const aqua_gpu_pour &p, double *fixed) {
    if (threadIdx.x == 0) {
        TERM::once(p.next, cuda_fill_time(p.next), fixed);
    }
    __syncthreads();
    aqua_supply_row<S, true, TAKES, TERM>(p.flow, p.spread, &p.next, fixed);
}

#endif
