/* look.h -- looking at a state on the device: what kernels find, and their launchers.
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_LOOK_H
#define CUDA_LOOK_H

#include "cuda/machine/cells.h"
#include "cuda/machine/clock.h"
#include "engine/machine/total.h"
#include "engine/watch.h"

enum { CUDA_PARTS = 6, CUDA_FEWEST_ROWS = 256 /* that partials have room for */ };

/* The grid of a state, for views of its solver. */
typedef struct cuda_grid {
    uint32_t n[3];
    const uint8_t *solid; /* [nz][ny][nx], 0: free */
} cuda_grid;

/* Sums over free cells. */
typedef struct cuda_sums {
    double sum[CUDA_PARTS], squares[CUDA_PARTS], least[CUDA_PARTS], most[CUDA_PARTS];
    double count;
} cuda_sums;

/* Squares of the change and of the main field; what is watched, cells numbered over the grid. */
typedef struct cuda_monitor {
    double change, magnitude;
    sel_watched watched;
} cuda_monitor;

/* The launchers of a solver (for one precision, ...), whose kernels see the state as a view of its
 * own. Rows hold a partial for each row of cells; the first is the result. */
typedef struct cuda_look {
    /* A field at the cells begin to end: to[cell - begin][components] in numbers of 4 or 8 bytes,
     * zero in solids and in components that it has not. */
    cudaError_t (*read)(const void *view, int field, const cuda_cells *cells, int components,
                        int bytes, void *to, cudaStream_t stream);
    cudaError_t (*reduce)(const void *view, int field, const cuda_cells *cells, cuda_sums *rows,
                          cudaStream_t stream);
    /* last: see sel_last; NULL: left alone, no change. */
    cudaError_t (*monitor)(const void *view, void *last, cuda_monitor *rows, cudaStream_t stream);
    /* What the solver conserves, over all free cells. */
    cudaError_t (*sum)(const void *view, sel_total *rows, cudaStream_t stream);
} cuda_look;

#endif
