/* aqua_gpu.h -- AQUA-GRAPH on the device: the data that kernels see, and their launchers.
 *
 * Plain C, shared by the host's files and nvcc's. Beds, depths and alphas stand as aqua_layout says
 * (engine/aqua/aqua.h), in the types of the store: float and int32_t, or double and double.
 */
#ifndef AQUA_GPU_H
#define AQUA_GPU_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AQUA_WARP = 32, AQUA_GPU_HALO = 2 };

/* Cell (x, y), -2 <= x < nx + 2, -2 <= y < ny + 2, is number (y + 2) pitch + x + 2. The pitch is a
 * multiple of a warp; all numbers fit 32 bits. */
typedef struct aqua_gpu_layout {
    uint32_t nx, ny, pitch;
    int64_t cells; /* of the frame too: pitch (ny + 4) */
} aqua_gpu_layout;

/* What is wrong with a depth, packed into one number so that the earliest wins:
 * step * 2^32 + number of the cell in the layout. */
enum { AQUA_ALARM_SHIFT = 32 };
#define AQUA_NO_ALARM UINT64_MAX

/* One step's flow, from one copy of the depths to the other.
 *
 * Before: `from` is complete, frame included (copies beyond periodic axes, dry cells without ground
 * elsewhere). After: `to` holds w + what came in - what went out for every cell whose eight
 * neighbours are in the layout, -1 <= x <= nx and -1 <= y <= ny: so ghosts, the outer ones among
 * them, have collected what they received, and lost what they gave. An edge to a cell outside of
 * that range, that is one of the outermost ring, may be taken to carry nothing: only copies beyond
 * periodic axes have such edges with water, and their depths are written anew from the cells that
 * they copy (aqua_gpu_wrap) before they are read. The outermost ring of `to` is left alone: both
 * copies have it from the start.
 *
 * Cells without ground are cells like others: their bed is AQUA_NO_GROUND, their depth stays 0. */
typedef struct aqua_gpu_flow {
    aqua_gpu_layout layout;
    bool whole; /* the store: float beds and int32_t quanta; else doubles */
    const void *bed, *from;
    void *to;
    const void *alphas; /* of the type of beds, frame included; NULL: alpha everywhere */
    double alpha, least;
    int equilibrium;     /* aqua_equilibrium */
    void *factor, *cut;  /* scratch, of the type of beds, [cells]; the march needs none */
    void *more, *less;   /* scratch of the scatter, of the type of depths, [cells] */
    double limit;        /* whole: depths 0 <= x < nx, 0 <= y < ny in `to` beyond it are told to */
    uint64_t *alarm;     /* this, by atomicMin: see AQUA_ALARM_SHIFT */
    const int64_t *step; /* on the device: the number of the step that is done, from 0; the alarm's
                            is one more */
} aqua_gpu_flow;

/* Gather in one pass, of the whole store: a warp marches over a strip. */
cudaError_t aqua_gpu_march(const aqua_gpu_flow *flow, cudaStream_t stream);
/* Gather in two: factors (and cuts), then what each cell's eight edges carry. */
cudaError_t aqua_gpu_two_pass(const aqua_gpu_flow *flow, cudaStream_t stream);
/* The thesis's scheme: cells send to their receivers, then all are brought up to date. */
cudaError_t aqua_gpu_scatter(const aqua_gpu_flow *flow, cudaStream_t stream);

/* The faster gather for this flow, and whether it needs `factor` and `cut`. */
cudaError_t aqua_gpu_gather(const aqua_gpu_flow *flow, cudaStream_t stream);
bool aqua_gpu_gather_needs_scratch(bool whole);

#ifdef __cplusplus
}
#endif
#endif
