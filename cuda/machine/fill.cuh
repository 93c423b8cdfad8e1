// fill.cuh -- the kernel that fills an array of cells with the values of a term.
//
// Compiled with the interpreter of programs, and at run time with a printed program (fill.c).
#ifndef CUDA_FILL_CUH
#define CUDA_FILL_CUH

#include "cuda/machine/terms.cuh"

#include "cuda/machine/fill.h"

// What printed programs call so.
#define UNIFORM(k) r[k]
#define PLACE(axis) place[axis]
#define LOOK_UP(...) op_LOOKUP(f.terms.packed, f.term.program[0], __VA_ARGS__)

// TERM has once(f, t, fixed), which fills the registers that are the same in all cells, by one
// thread of a block; and each(f, place, fixed, value), false: no value is known, or it is not
// finite.
template <class TERM>
static __device__ __forceinline__ void cuda_fill_cells(const cuda_fill &f, double *fixed) {
    const int64_t *n = f.grid.n, step = cuda_now(f.clock);
    const uint32_t strips = ((uint32_t)n[0] + CUDA_FILL_THREADS - 1) / CUDA_FILL_THREADS;
    const uint32_t end = (uint32_t)(f.end_row ? f.end_row : n[1] * n[2]);
    const uint32_t group = blockIdx.x / strips;
    const uint32_t x = (blockIdx.x - group * strips) * CUDA_FILL_THREADS + threadIdx.x;
    const uint32_t first = (uint32_t)f.first_row + group * CUDA_FILL_ROWS;
    if (threadIdx.x == 0) {
        TERM::once(f, ((double)step + f.ahead) * f.grid.dt, fixed);
    }
    __syncthreads();
    for (uint32_t row = first; row < first + CUDA_FILL_ROWS && row < end && x < n[0]; row++) {
        const uint32_t z = n[2] == 1 ? 0 : row / (uint32_t)n[1];
        const int64_t at[3] = {x, row - z * n[1], z}, k = row * n[0] + x;
        if (f.solid[k]) {
            continue;
        }
        double place[3], value[CUDA_TERM_PARTS];
        for (int a = 0; a < 3; a++) {
            place[a] = sel_centre(&f.grid, a, (double)at[a]);
        }
        const bool found = TERM::each(f, place, fixed, value);
        const double number = value[0] * f.factor;
        const int64_t cell = at[0] + at[1] * f.pitch + at[2] * f.slice;
        if (!found || value[0] < f.least || number > f.most) {
            cuda_term_report(f.terms, f.term.number, k, step);
        } else if (f.single) {
            ((float *)f.to)[cell] = (float)(number * sel_part_inside(&f.grid, at, -1));
        } else {
            ((double *)f.to)[cell] = number * sel_part_inside(&f.grid, at, -1);
        }
    }
}

#endif
