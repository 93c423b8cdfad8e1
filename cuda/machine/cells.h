/* cells.h -- the cells of a grid that a request is about, as kernels need them. */
#ifndef CUDA_CELLS_H
#define CUDA_CELLS_H

#include <stdint.h>

/* The cells begin <= k < end, x fastest, of those at first + i * stride of each axis, i < count; or
 * of a list. */
typedef struct cuda_cells {
    uint32_t first[3], stride[3], count[3];
    const int64_t *list; /* on the device: numbers of cells, x fastest over the grid; NULL: none */
    int64_t begin, end;
} cuda_cells;

#ifdef __CUDACC__

/* Where cell k lies in a grid of rows of nx cells and slices of ny rows. */
static __device__ __forceinline__ void cuda_cell_place(const cuda_cells &cells, uint32_t nx,
                                                       uint32_t ny, int64_t k, uint32_t at[3]) {
    const bool listed = cells.list != nullptr;
    const uint32_t width = listed ? nx : cells.count[0], rows = listed ? ny : cells.count[1];
    const int64_t cell = listed ? cells.list[k] : k, row = cell / width;
    at[0] = (uint32_t)(cell % width);
    at[1] = (uint32_t)(row % rows);
    at[2] = (uint32_t)(row / rows);
    for (int a = 0; a < 3 && !listed; a++) {
        at[a] = cells.first[a] + at[a] * cells.stride[a];
    }
}

/* Component c of cell k of an answer, as a number of 4 or 8 bytes. */
static __device__ __forceinline__ void cuda_cell_store(const cuda_cells &cells, void *to, int bytes,
                                                       int components, int64_t k, int c,
                                                       double value) {
    const int64_t i = (k - cells.begin) * components + c;
    if (bytes == 4) {
        ((float *)to)[i] = (float)value;
    } else {
        ((double *)to)[i] = value;
    }
}

#endif

#endif
