/* mg_cycle_cuda.h -- the launchers of multigrid on the device
 * (engine/solvers/multigrid/multigrid.h): plain C.
 *
 * Launchers enqueue; nothing is done where *stop is not 0.
 */
#ifndef CUDA_MG_CYCLE_H
#define CUDA_MG_CYCLE_H

#include "cuda/query.h"
#include "engine/solvers/multigrid/multigrid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The halo of an array of a level, which comes from neighbouring ranks: `width` planes and rows;
 * all cells of a level that is not divided. `array` points to cell (0, 0, 0). */
typedef struct mg_halo_of {
    int level, width;
    void *array;
} mg_halo_of;

/* Cells lo[a] <= i[a] < hi[a] of a level, as kernels take them. */
typedef struct mg_cells {
    int lo[3], hi[3];
} mg_cells;

static inline mg_cells mg_cells_of(const sel_patch *patch) {
    mg_cells cells;
    for (int a = 0; a < 3; a++) {
        cells.lo[a] = (int)patch->lo[a];
        cells.hi[a] = (int)patch->hi[a];
    }
    return cells;
}

typedef struct mg_gpu {
    const mg *m;           /* on the host; its arrays are on the device */
    const mg_level *level; /* a copy of m->level on the device */
    const int64_t *stop;
    cudaStream_t stream;
    int shared; /* bytes of shared memory that a block may have */
    /* With several ranks: enqueues the exchange of halos (mg_spread). */
    void (*spread)(void *with, const mg_halo_of *parts, int count);
    void *with;
} mg_gpu;

/* As mg_cycle and mg_sweep. */
cudaError_t mg_gpu_cycle(const mg_gpu *g, bool full);
cudaError_t mg_gpu_sweep(const mg_gpu *g, double omega);

#ifdef __cplusplus
}
#endif

#endif
