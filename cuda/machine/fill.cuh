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
static __device__ __forceinline__ void cuda_fill_cell(const cuda_fill &f, double *fixed, uint32_t x,
                                                      uint32_t row, const double *across,
                                                      int64_t step) {
    const uint32_t ny = (uint32_t)f.grid.n[1], z = row < ny ? 0 : row / ny, y = row - z * ny;
    const int64_t at[3] = {x, y, z}, cell = x + y * f.pitch + z * f.slice;
    const double place[3] = {sel_centre(&f.grid, 0, x), across[0], across[1]};
    double value[CUDA_TERM_PARTS];
    const bool found = TERM::each(f, place, fixed, value);
    const double number = value[0] * f.factor;
    if (!found || value[0] < f.least || number > f.most) {
        cuda_term_report(f.terms, f.term.number, row * f.grid.n[0] + x, step);
    } else if (f.single) {
        ((float *)f.to)[cell] = (float)(number * sel_part_inside(&f.grid, at, -1));
    } else {
        ((double *)f.to)[cell] = number * sel_part_inside(&f.grid, at, -1);
    }
}

template <class TERM>
static __device__ __forceinline__ void cuda_fill_cells(const cuda_fill &f, double *fixed) {
    enum { TOGETHER = 8 }; // rows whose loads overlap
    const uint32_t nx = (uint32_t)f.grid.n[0];
    const int64_t step = cuda_now(f.clock);
    const uint32_t strips = (nx + CUDA_FILL_THREADS - 1) / CUDA_FILL_THREADS;
    const uint32_t end = (uint32_t)(f.end_row ? f.end_row : f.grid.n[1] * f.grid.n[2]);
    const uint32_t group = blockIdx.x / strips;
    const uint32_t x = (blockIdx.x - group * strips) * CUDA_FILL_THREADS + threadIdx.x;
    const uint32_t first = (uint32_t)f.first_row + group * CUDA_FILL_ROWS;
    const uint32_t last = x >= nx ? first : min(first + CUDA_FILL_ROWS, end);
    __shared__ double across[CUDA_FILL_ROWS][2]; // where rows lie along the other axes
    if (threadIdx.x < CUDA_FILL_ROWS) {
        const uint32_t row = first + threadIdx.x, ny = (uint32_t)f.grid.n[1];
        across[threadIdx.x][0] = sel_centre(&f.grid, 1, row % ny);
        across[threadIdx.x][1] = sel_centre(&f.grid, 2, row / ny);
    }
    if (threadIdx.x == 0) {
        TERM::once(f, ((double)step + f.ahead) * f.grid.dt, fixed);
    }
    __syncthreads();
    for (uint32_t block = first; block < last; block += TOGETHER) {
        uint32_t wanted = 0; // a bit each
#pragma unroll
        for (uint32_t k = 0; k < TOGETHER; k++) {
            const bool is = block + k < last && !f.solid[(int64_t)(block + k) * nx + x];
            wanted |= (uint32_t)is << k;
        }
        for (; wanted; wanted &= wanted - 1) {
            const uint32_t row = block + (uint32_t)__ffs((int)wanted) - 1;
            cuda_fill_cell<TERM>(f, fixed, x, row, across[row - first], step);
        }
    }
}

#endif
