// fill.cuh -- the kernel that fills an array of cells with the values of a term.
//
// Compiled with the interpreter of programs, and at run time with a printed program (fill.c).
#ifndef CUDA_FILL_CUH
#define CUDA_FILL_CUH

#include "cuda/terms.cuh"

#include "cuda/fill.h"

// What printed programs call so.
#define UNIFORM(k) r[k]
#define PLACE(axis) place[axis]
#define LOOK_UP(...) op_LOOKUP(f.terms.packed, f.term.program[0], __VA_ARGS__)

// A row of cells, found once for all of a block.
struct cuda_fill_row {
    double across[2]; // where it lies along the other axes
    int64_t begin;    // in f.to,
    int64_t solid;    // in f.cells.solid
    uint32_t y, z;
};

// Row k of a vicinity.
static __device__ __forceinline__ cuda_fill_row cuda_fill_row_near(const cuda_fill &f, int64_t k) {
    const int64_t row = sel_vicinity_listed(&f.vicinity, k);
    const uint32_t ny = (uint32_t)f.grid.n[1], y = (uint32_t)(row % ny), z = (uint32_t)(row / ny);
    int64_t at[2];
    sel_vicinity_place(&f.vicinity, k, at);
    return {{sel_centre(&f.grid, 1, y), sel_centre(&f.grid, 2, z)},
            sel_vicinity_row(&f.vicinity, row),
            at[0] * f.grid.n[0] + at[1] * f.cells.slice,
            y,
            z};
}

static __device__ __forceinline__ cuda_fill_row cuda_fill_row_of(const cuda_fill &f, uint32_t row) {
    const uint32_t ny = (uint32_t)f.grid.n[1], y = row % ny, z = row / ny;
    const uint32_t at[3] = {0, y, z};
    return {{sel_centre(&f.grid, 1, y), sel_centre(&f.grid, 2, z)},
            y * f.pitch + z * f.slice,
            cuda_solid_at(f.cells, at),
            y,
            z};
}

// Of the values that the clock's step takes.
static __device__ __forceinline__ double cuda_fill_time(const cuda_fill &f) {
    return cuda_term_time(f.terms, cuda_now(f.clock), f.ahead, f.grid.dt);
}

static __device__ __forceinline__ void cuda_fill_put(const cuda_fill &f, int kind, int64_t k,
                                                     double number) {
    switch (kind) {
    case CUDA_F32:
        ((float *)f.to)[k] = (float)number;
        break;
    case CUDA_F64:
        ((double *)f.to)[k] = number;
        break;
    case CUDA_I32:
        ((int32_t *)f.to)[k] = (int32_t)number;
        break;
    default:
        ((uint8_t *)f.to)[k] = (uint8_t)number;
        break;
    }
}

// TERM has once(f, t, fixed), which fills the registers that are the same in all cells, by one
// thread of a block; each(f, place, fixed, value), false: no value is known, or it is not finite;
// PARTS, the most components that it has; KIND, the cuda_number that is stored, or -1: f.kind; and
// PLAIN, as CUDA_FILL_IS_PLAIN says, or 0. Nothing is stored or reported unless `wanted`.
template <class TERM>
static __device__ __forceinline__ void cuda_fill_cell(const cuda_fill &f, double *fixed, uint32_t x,
                                                      const cuda_fill_row &row, bool wanted,
                                                      int64_t step) {
    const double place[3] = {sel_centre(&f.grid, 0, x), row.across[0], row.across[1]};
    double value[CUDA_TERM_PARTS];
    bool known = TERM::each(f, place, fixed, value);
    double factor = f.factor;
    if (!TERM::PLAIN && f.part && f.grid.nodes) {
        const int64_t at[3] = {x, row.y, row.z};
        factor *= sel_part_inside(&f.grid, at, -1);
    }
#pragma unroll
    for (int c = 0; c < TERM::PARTS; c++) {
        const bool has = TERM::PARTS == 1 || c < f.term.components;
        known = known && (!has || (value[c] >= f.least && value[c] * f.factor <= f.most &&
                                   !(!TERM::PLAIN && f.whole && value[c] != floor(value[c]))));
    }
    if (wanted && !known) {
        const int64_t place_of_row = row.y + row.z * f.grid.n[1];
        cuda_term_report(f.terms, f.term.number, place_of_row * f.grid.n[0] + x, step);
    }
#pragma unroll
    for (int c = 0; c < TERM::PARTS; c++) {
        if (wanted && known && (TERM::PARTS == 1 || c < f.term.components)) {
            const double number = value[c] * factor;
            cuda_fill_put(f, TERM::KIND < 0 ? (int)f.kind : (int)TERM::KIND,
                          c * f.component + row.begin + x,
                          TERM::PLAIN || f.unit == 1 ? number : number / f.unit);
        }
    }
}

template <class TERM>
static __device__ __forceinline__ void cuda_fill_cells(const cuda_fill &f, double *fixed) {
    enum { TOGETHER = 8 }; // rows whose loads overlap
    const uint32_t nx = (uint32_t)f.grid.n[0];
    const int64_t step = cuda_now(f.clock);
    const uint32_t strips = (nx + CUDA_FILL_THREADS - 1) / CUDA_FILL_THREADS;
    const uint32_t group = blockIdx.x / strips;
    const uint32_t x = (blockIdx.x - group * strips) * CUDA_FILL_THREADS + threadIdx.x;
    const uint32_t first = group * CUDA_FILL_ROWS;
    const uint32_t last =
        x >= nx ? first : min(first + CUDA_FILL_ROWS, (uint32_t)cuda_fill_rows(&f));
    __shared__ cuda_fill_row rows[CUDA_FILL_ROWS];
    if (threadIdx.x < CUDA_FILL_ROWS) {
        const int64_t k = first + threadIdx.x;
        rows[threadIdx.x] = f.near ? cuda_fill_row_near(f, k)
                                   : cuda_fill_row_of(f, (uint32_t)sel_row_of(&f.rows, k));
    }
    if (threadIdx.x == 0) {
        TERM::once(f, cuda_fill_time(f), fixed);
    }
    __syncthreads();
    for (uint32_t block = first; block < last; block += TOGETHER) {
        uint32_t wanted = 0; // a bit each
#pragma unroll
        for (uint32_t k = 0; k < TOGETHER; k++) {
            const bool is = block + k < last &&
                            (f.everywhere || !f.cells.solid[rows[block + k - first].solid + x]);
            wanted |= (uint32_t)is << k;
        }
#pragma unroll 2
        for (uint32_t k = 0; k < TOGETHER && wanted; k++, wanted >>= 1) {
            cuda_fill_cell<TERM>(f, fixed, x, rows[block - first + k], wanted & 1, step);
        }
    }
}

#endif
