/* query.h -- what the kernels of all solvers share: the step number, lists of cells, reductions.
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_LOOK_H
#define CUDA_LOOK_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include "engine/base/sums.h"
#include "engine/scene/grid.h"

/* ---- the clock: the step number on the device, so that a graph can be launched again ---- */

/* Steps of a graph; what the host sends for each step is in tables of this length, that of step n
 * at n % CUDA_STEPS. Even, so that a graph ends with the copy of the state that it began with. */
enum { CUDA_STEPS = 32, CUDA_WARP = 32 };

/* Length of tables of values that are evaluated up to CUDA_STEPS steps ahead, and kept for one step
 * more. */
enum { CUDA_TURNS = 2 * CUDA_STEPS };

/* Shares of `size` that n things make. */
static inline unsigned cuda_shares(int64_t n, int64_t size) {
    return (unsigned)((n + size - 1) / size);
}

#ifdef __CUDACC__
// `blocks` blocks for each row (y, z) of a grid, and the row of a block; after the last row, y is
// n[1]. A device takes fewer blocks along an axis than a grid may have rows, which go
// on along the third.
static inline dim3 cuda_blocks_of_rows(unsigned blocks, const int64_t n[3]) {
    const int64_t most = 65535, rows = n[1] * n[2];
    return dim3(blocks, (unsigned)(rows < most ? rows : most), cuda_shares(rows, most));
}
static __device__ __forceinline__ void cuda_row_of_block(const int64_t n[3], int &y, int &z) {
    const unsigned row = blockIdx.y + blockIdx.z * gridDim.y, rows = (unsigned)n[1];
    z = (int)(row / rows);
    y = (int)(z < n[2] ? row - (unsigned)z * rows : rows);
}
#endif

/* The step is number *base + offset, from 0. */
typedef struct cuda_clock {
    const int64_t *base;
    int64_t offset;
} cuda_clock;

#ifdef __CUDACC__
static __device__ __forceinline__ int64_t cuda_now(const cuda_clock &clock) {
    return *clock.base + clock.offset;
}

// Whether a term failed in this step or an earlier one. halted: the first such step; NULL: terms
// cannot fail.
static __device__ __forceinline__ bool cuda_is_halted(const int64_t *halted,
                                                      const cuda_clock &clock) {
    return halted && *halted <= cuda_now(clock);
}
#endif

/* ---- reading and reducing a state ---- */

/* The cells begin <= k < end, x fastest, of those at first + i * stride of each axis, i < count; or
 * of a list. */
typedef struct cuda_cells {
    uint32_t first[3], stride[3], count[3];
    const int64_t *list; /* on the device: numbers of cells, x fastest over the grid; NULL: none */
    int64_t begin, end;
} cuda_cells;

enum { CUDA_PARTS = 6 };

/* The grid of a state, for views of its solver. */
typedef struct cuda_grid {
    uint32_t n[3];
    /* 0: free. Cell (x, y, z) is at z slice + y n[0] + x, also a cell up to one away along y or z
     * from those that the rank has: around a periodic axis its image. */
    const uint8_t *solid;
    int64_t slice;
} cuda_grid;

#ifdef __CUDACC__
static __device__ __forceinline__ int64_t cuda_solid_at(const cuda_grid &grid,
                                                        const uint32_t at[3]) {
    return at[2] * grid.slice + (int64_t)at[1] * grid.n[0] + at[0];
}
#endif

/* An array of which a rank has its own planes, and those beside them at other places: at[k] leads
 * to the numbers below end[k] and not below those of the part before. */
enum { CUDA_MOST_PARTS = 3 };
typedef struct cuda_parts {
    void *at[CUDA_MOST_PARTS];
    int64_t end[CUDA_MOST_PARTS];
    int count;
} cuda_parts;

#ifdef __CUDACC__
static __device__ __forceinline__ void *cuda_part(const cuda_parts &parts, int64_t number) {
    int k = 0;
    while (k + 1 < parts.count && number >= parts.end[k]) {
        k++;
    }
    return parts.at[k];
}
#endif

/* Sums over free cells. */
typedef struct cuda_sums {
    double sum[CUDA_PARTS], squares[CUDA_PARTS], least[CUDA_PARTS], most[CUDA_PARTS];
    double count;
} cuda_sums;

/* Sums of squares of the change and of the main field; extremes, cells numbered over the grid. */
typedef struct cuda_monitor {
    double change, magnitude;
    sel_watched watched;
} cuda_monitor;

/* Launches a kernel that stores a field at the cells begin to end: to[cell - begin][components] in
 * numbers of 4 or 8 bytes, zero in solids and in components beyond the field's. */
typedef cudaError_t cuda_read(const void *view, int field, const cuda_cells *cells, int components,
                              int bytes, void *to, cudaStream_t stream);

/* Rows that are summed, and who has them. */
typedef struct cuda_rows {
    void *partials; /* one for each of them from number `from` on; of rank 0 the first is the result
                     */
    int64_t from;   /* 0 of rank 0, which joins all; else that of the first own row */
    sel_rows own;   /* those of this rank, by their numbers among them */
    int rank, ranks;
    const int64_t *start; /* rank r has start[r] <= row < start[r + 1] */
    bool boxes;  /* ranks have boxes: rows of one are not consecutive, so all are gathered */
    sel_box box; /* whose rows they are */
    /* With several ranks: brings rank 0 the partials of the others, of `size` bytes each: the first
     * of those that were joined, and the loose ones. */
    cudaError_t (*gather)(const struct cuda_rows *rows, size_t size, cudaStream_t stream);
    void *with; /* the caller's */
} cuda_rows;

/* Partials are joined by CUDA_JOINED. Where a rank has all of these, first <= row < end, it joins
 * them itself; others of its rows are loose. */
enum { CUDA_JOINED = 1024 };
static inline void cuda_rows_joined(const cuda_rows *rows, int rank, int64_t *first, int64_t *end) {
    const int64_t last = rows->start[rank + 1], n = rows->start[rows->ranks];
    *first = (rows->start[rank] + CUDA_JOINED - 1) / CUDA_JOINED * CUDA_JOINED;
    *end = last == n ? n : last / CUDA_JOINED * CUDA_JOINED;
    if (*first >= *end) {
        *first = *end = last;
    }
}

/* The launchers of a solver (for one precision, ...), whose kernels see the state as a view of its
 * own. Partials are those of a struct for each row of cells. */
typedef struct cuda_look {
    cuda_read *read;
    /* Rows of the cells; cuda_sums. */
    cudaError_t (*reduce)(const void *view, int field, const cuda_cells *cells,
                          const cuda_rows *rows, cudaStream_t stream);
    /* cuda_monitor. last, component, slice: see sel_last; NULL: not updated, no change computed. */
    cudaError_t (*monitor)(const void *view, void *last, int64_t component, int64_t slice,
                           const cuda_rows *rows, cudaStream_t stream);
    /* What the solver conserves, over all free cells: sel_total. */
    cudaError_t (*sum)(const void *view, const cuda_rows *rows, cudaStream_t stream);
} cuda_look;

#endif
