/* aqua_kernels_cuda.h -- AQUA-GRAPH on the device: the data that kernels see, and their launchers.
 *
 * Plain C, shared by the host's files and nvcc's. Beds, depths and alphas stand as aqua_layout says
 * (engine/solvers/aqua/aqua.h), in the types of the store: float and int32_t ("whole"), or double
 * and double. Other arrays of cells have no frame: [ny][nx].
 */
#ifndef AQUA_GPU_H
#define AQUA_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/solvers/aqua/aqua_method.h"
#include "cuda/fill.h"
#include "cuda/query.h"
#include "cuda/temporal_blocking.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cells are numbered as by aqua_index. The pitch is a multiple of a warp; a rank has less than 2^32
 * cells. */
typedef struct aqua_gpu_layout {
    uint32_t nx, ny, pitch;
    uint32_t across; /* tiles in a row of them */
    /* Of the block of the grid: its rows first <= y < end; and the numbers of its cells, those of
     * the frame too where the grid ends. */
    uint32_t first, end;
    int64_t first_cell, end_cell;
    uint32_t shift; /* of tiles: those of a rank begin with its first row */
} aqua_gpu_layout;

/* A march does nothing where there is no water. Cell (x, y) of the grid is in tile
 * (y + shift) / AQUA_TILE_ROWS * across + (x + AQUA_TILE_SHIFT) / AQUA_TILE_COLUMNS, and each copy
 * of the depths has a mark for each tile: AQUA_WET where one of its depths may be other than 0,
 * AQUA_WET_WEST and AQUA_WET_EAST where one of its two first or last columns may. The march writes
 * the marks of what it stores; other kernels that add water set them to AQUA_ALL_WET. At the start
 * all are wet. */
enum { AQUA_TILE_COLUMNS = 124, AQUA_TILE_ROWS = 8, AQUA_TILE_SHIFT = 4 };
enum { AQUA_WET = 1, AQUA_WET_WEST = 2, AQUA_WET_EAST = 4, AQUA_ALL_WET = 7 };

static inline uint32_t aqua_gpu_across(int64_t nx) {
    return (uint32_t)((nx + AQUA_TILE_SHIFT + AQUA_TILE_COLUMNS - 1) / AQUA_TILE_COLUMNS);
}

static inline int64_t aqua_gpu_tiles(int64_t nx, int64_t ny) {
    return aqua_gpu_across(nx) * ((ny + 2 * AQUA_TILE_ROWS - 1) / AQUA_TILE_ROWS);
}

/* A depth beyond a limit raises the alarm: atomicMin of its moment * 2^32 + the last 32 bits of the
 * cell's number in the layout, by which the rank finds it, so that the earliest wins.
 * Moments are counted in half steps: 2 n after the flow that led to step n, 2 n + 1 after sources
 * have brought water for the step from n on. */

/* One step of a block of the grid, from one copy of the depths to the other.
 *
 * Before the flow, `from` is complete, frame and halo included. After, `to` holds w + what came in
 * - what went out for all cells 0 <= x < nx of the block's rows; its frame is left alone. (Ghosts
 * among these cells are reset before the next step; aqua_gpu_edges computes what they receive, from
 * `from`.) Cells without ground are cells like others: their bed is AQUA_NO_GROUND, their depth
 * stays 0. */
typedef struct aqua_gpu_flow {
    aqua_gpu_layout layout;
    aqua_store store;
    void *bed, *from; /* rain, sources and ghosts are added before the flow */
    void *to;
    const void *alphas; /* of the type of beds, frame included; NULL: alpha everywhere */
    int equilibrium;    /* aqua_equilibrium */
    void *factor, *cut; /* scratch of the two passes, of the type of beds, laid out as depths */
    bool sent;          /* f64: sums are those of the scheme "scatter" (aqua_after_sent) */
    uint64_t *alarm;    /* see above */
    cuda_clock clock;
    const int64_t *halted;          /* see cuda_is_halted: depths are not changed from then on */
    uint8_t *marks_from, *marks_to; /* of their tiles; NULL: all are computed */
    /* What is the same for many cells, on the device: a row of `width` numbers for each of
     * CUDA_STEPS steps, step n in row n % CUDA_STEPS. Columns: rain, infiltration, the aqua_doses
     * of all sources, levels that vary in time. */
    double *amounts;
    uint32_t width;
    /* The cells of all sources, sorted by cell, those of one cell by source. */
    const aqua_source_cell *source_cells;
    int64_t source_cell_count;
    const aqua_ghost *ghosts;
    int64_t ghost_count;
    /* Their levels, m, and the distance to those of the next step, in a ring of CUDA_STEPS. */
    double *levels;
    int64_t stride;
    int64_t images; /* elements of the frame among which aqua_image finds those that have another */
    unsigned periodic;
    bool framed;     /* there are ghosts or images: the frame may hold water */
    bool soaks;      /* the march takes the infiltration, which is uniform, */
    sel_total *soil; /* [ny] and adds it here; NULL: not wanted */
    const aqua_edge *edges;
    void *most;       /* [ny][nx] the greatest depths; NULL: not wanted */
    int32_t *arrived; /* [ny][nx] the steps of arrival, -1: not yet; NULL: not wanted */
    double arrival;   /* depth of arrival, in units of the store */
} aqua_gpu_flow;

/* Gather in one pass, for whole quanta: a warp marches over a strip. It reads beyond the beds,
 * depths and alphas: up to this many numbers before, and behind as many and these rows. */
enum { AQUA_GPU_MARGIN = 512, AQUA_GPU_MARGIN_ROWS = 8 };
cudaError_t aqua_gpu_march(const aqua_gpu_flow *flow, const march_device *on);
/* Gather in two passes, for f64: factors (and cuts), then the fluxes of each cell's eight edges. */
cudaError_t aqua_gpu_two_pass(const aqua_gpu_flow *flow, const march_device *on);

/* ---- the other parts of a step ---- */

/* Rain or infiltration. */
typedef struct aqua_gpu_spread {
    const uint8_t *solid; /* [ny][nx], 0: free */
    const void *rate;     /* [ny][nx] in the type of beds; NULL: it is uniform, in the amounts */
    void *remainder;      /* the part that is carried to the next step; whole only */
    sel_total *totals;    /* [ny]: accumulate what the cells got or gave; NULL: not wanted */
    int amount;           /* which it is among the amounts */
} aqua_gpu_spread;

/* A step of it, and the rates of the next one: what kernels compiled at run time take. */
typedef struct aqua_gpu_pour {
    aqua_gpu_flow flow;
    aqua_gpu_spread spread;
    cuda_fill next;
} aqua_gpu_pour;

enum { AQUA_SUPPLY_THREADS = 128 }; /* of a block; 32 for each row */

/* The text of the kernel that takes them, of a store, "aqua_f32" or "aqua_f64"; it stands beside
 * the program of the rate (cuda_fill). */
#define AQUA_POUR(store, takes)                                                      \
    "#include \"engine/solvers/aqua/aqua_supply.cuh\"\n\n"                           \
    "extern \"C\" __global__ void __launch_bounds__(AQUA_SUPPLY_THREADS, 8) pour(\n" \
    "    const __grid_constant__ aqua_gpu_pour p) {\n"                               \
    "    __shared__ double fixed[printed::FIXED];\n"                                 \
    "    aqua_pour_row<" store ", " takes ", printed>(p, fixed);\n}\n"

/* Adds to the depths flow->from; or takes from flow->to, at most what is there. */
cudaError_t aqua_gpu_supply(const aqua_gpu_flow *flow, bool takes, const aqua_gpu_spread *spread,
                            cudaStream_t stream);

/* Depths beyond the most that the store allows raise the alarm. */
cudaError_t aqua_gpu_source(const aqua_gpu_flow *flow, cudaStream_t stream);

/* Sets the depths flow->from of the ghosts of the block; and the beds, if wanted, of all ghosts
 * that the rank has, images and halo included. */
cudaError_t aqua_gpu_set_ghosts(const aqua_gpu_flow *flow, bool beds, cudaStream_t stream);

/* Fills the images of depths (NULL: nothing). */
cudaError_t aqua_gpu_wrap(const aqua_gpu_flow *flow, void *values, cudaStream_t stream);

/* The fluxes of the first edges, units of the store: added to totals[count], or if that is NULL
 * stored in flux[count]. */
cudaError_t aqua_gpu_edges(const aqua_gpu_flow *flow, int64_t count, sel_total *totals,
                           double *flux, cudaStream_t stream);

/* Raises flow->most to the depths flow->to; sets flow->arrived to the step that the clock will show
 * next where they reach the depth of arrival. */
cudaError_t aqua_gpu_watch(const aqua_gpu_flow *flow, cudaStream_t stream);

/* ---- looking ---- */

typedef struct aqua_gpu_view {
    aqua_gpu_flow flow; /* but for steps and blocks */
    cuda_grid grid;
    cuda_parts water;     /* the present depths */
    const double *ground; /* [ny][nx] m; NULL: not wanted */
    double metre, dt;     /* m in a unit of the store */
} aqua_gpu_view;

/* The launchers for a store; views are aqua_gpu_view. */
const cuda_look *aqua_gpu_look(bool whole);

#ifdef __cplusplus
}
#endif
#endif
