/* lbm_kernels_cuda.h -- lattice Boltzmann on the device: the data that kernels see, and their
 * launchers.
 *
 * Plain C, shared by the host's files and nvcc's. The components of a cell, populations or moments,
 * lie as f[i][z][y][x] at i * plane + z * slice + y * pitch + x: pitch is a multiple of a warp, or
 * the power of two that a shorter row fits; all axes wrap, and populations pulled across faces that
 * are not periodic are replaced at boundary cells. Where the grid is divided into patches
 * (engine/core/halo.h), the two halo planes stand behind the planes of the patch: the lower one has
 * the number last + 1, the upper one last + 2.
 */
#ifndef LBM_GPU_H
#define LBM_GPU_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda/inputs.h"
#include "cuda/query.h"
#include "engine/scene/grid.h"
#include "engine/solvers/lbm/lbm_method.h"
#ifdef __CUDACC__
#define LBM_FIELD_INLINE static __device__ __forceinline__
#define LBM_FIELD_TIMES(a, b) __dmul_rn(a, b)
#endif
#include "engine/solvers/lbm/lbm_wall.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads of a thread block of a step. */
enum { LBM_BLOCK = 128 };

/* All but `plane` fit 32 bits, so the index of a cell in a plane is one unsigned number. A
 * step's thread blocks cover block_width cells of block_rows rows each.
 *
 * Planes of the slowest axis count from `base` on: of several ranks the first of each. So do rows
 * and indices; coordinates are those of the whole grid. */
typedef struct lbm_gpu_layout {
    uint32_t nx, ny, nz, base, pitch, slice;
    uint32_t block_width, block_rows, blocks_per_row;
    int64_t plane;
    /* Of the patch: its first and last plane (slowest axis) and the places of the planes beside
     * them. Of the slab that a launch computes: first_row <= row < end_row. A plane has `rows`
     * rows, the first of which is y = low. If these are not all rows of the grid, `halo` more rows
     * stand before and after them; row numbers do not count these. */
    uint32_t first, last, below, above;
    uint32_t first_row, end_row;
    uint32_t rows, low, halo;
} lbm_gpu_layout;

/* A thread block of a step that has free cells; bit k of `warps`: its warp k has some. Of stored
 * moments: a tile (lbm_gpu_tiles), as many as fill whole thread blocks; LBM_NO_TILE: none. */
enum { LBM_NO_TILE = -1 };
typedef struct lbm_gpu_block {
    uint32_t number, warps;
} lbm_gpu_block;

/* The cells and links of the rank's patch. */
typedef struct lbm_gpu_boundary {
    const lbm_boundary_cell *cells; /* behind them, if a step gathers, the other free cells */
    const uint32_t *row_cells;      /* [rows of the patch + 1] the first cell of each */
    uint32_t cell_count;
    int64_t link_count;
    /* One bit per place of a row, a word per warp: set at boundary cells; and the number of the
     * first one of each word. */
    const uint32_t *words, *before;
    const lbm_gpu_block *free_blocks; /* NULL: all thread blocks */
    const uint32_t *again;            /* numbers of the cells that are computed again */
    uint32_t again_count;
    const uint8_t *link_region;
    const lbm_cut *link_cut;             /* as lbm_boundary.link_cut */
    double curvature;                    /* as lbm_boundary.curvature */
    const double *link_add, *open_value; /* [n % CUDA_STEPS] of step n */
    int64_t link_stride, open_stride;    /* numbers from one step to the next; 0: all the same */
    int64_t *gain;     /* accumulates what closed regions gain; NULL: not wanted */
    double *link_flow; /* accumulates the mass that leaves by each link, of a shared one in its
                          first entry; NULL: not wanted */
    void *links, *link_gain; /* as in lbm_state; NULL: not wanted */
    bool links_follow; /* `links` also holds the step before the last observed one. While a step is
                          observed: `links` holds the step before it */
} lbm_gpu_boundary;

/* What a field of a cell needs beside its populations. */
typedef struct lbm_gpu_fields {
    cuda_grid grid;
    double *strain[LBM_STRAIN_FIELDS]; /* of the last observed step, in the user's units; NULL: not
                                          wanted */
    int64_t strain_component, strain_slice; /* elements between components, planes */
    const lbm_wall *walls;                  /* beside each boundary cell; NULL: not wanted */
    double dx;
    lbm_units units;
} lbm_gpu_fields;

typedef struct lbm_gpu_step {
    lbm_gpu_layout layout;
    int dims;  /* 2: D2Q9, 3: D3Q19 */
    int bytes; /* of a stored number: 4 or 8 */
    uint32_t block_count;
    const void *from;
    void *to;
    bool moments; /* are stored, not populations; */
    bool gathers; /* and all cells are computed as boundary cells are */
    int collision;
    bool forced, les; /* with a body force; with Smagorinsky's model */
    double omega_even, omega_odd, tau, magic, eddy;
    /* [3] on the device, and that of the step before. With acceleration_turns, rings of CUDA_TURNS
     * entries of 3: that of the end of step n is entry (n + 1) % CUDA_TURNS. */
    const double *acceleration, *acceleration_before;
    bool acceleration_turns;
    const void *acceleration_field; /* a plane, as of populations, per axis; NULL: uniform */
    lbm_gpu_boundary boundary;
    lbm_gpu_fields fields;
    bool observed, strains; /* stores what links carry, if that is wanted; strain, too */
    cuda_clock clock;       /* of the step */
    const int64_t *halted;  /* the step in which a law has failed, from which on the state is not
                               changed; NULL: none can fail */
} lbm_gpu_step;

/* Where values of laws and of a uniform acceleration are stored, lattice units: those of step n at
 * n % CUDA_STEPS strides; an acceleration that turns as in lbm_gpu_step. */
typedef struct lbm_gpu_laws {
    const lbm_direction *directions;
    double *link_add, *link_velocity, *open_value, *acceleration;
    int64_t link_stride, open_stride;
    int64_t links; /* from a component of link_velocity to the next */
    bool acceleration_turns;
    double velocity_unit, pressure_unit, acceleration_unit;
} lbm_gpu_laws;
cuda_inputs_launcher lbm_gpu_store_laws;

/* One step from `from` to `to`, by lattice and precision. */
cudaError_t lbm_gpu_step_d2q9_f32(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_step_d2q9_f64(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_step_d3q19_f32(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_step_d3q19_f64(const lbm_gpu_step *step, cudaStream_t stream);

/* The smallest tile. */
enum { LBM_TILE_COLUMNS = 64, LBM_TILE_ROWS = 2, LBM_TILE_PLANES = 2 };

/* How a step of moments divides a block of the grid among thread blocks: into tiles of `width`
 * columns of `rows` rows, each at most `planes` long along the slowest axis, numbered x fastest. In
 * 2-D a tile is a strip, one row high, which goes along y; a thread block has several. */
typedef struct lbm_gpu_tiles {
    uint32_t width, rows, planes;
    uint32_t across, down, deep;
    uint32_t blocks, strips; /* thread blocks, and the strips of each: 1 in space */
} lbm_gpu_tiles;

/* One step from `from` to `to`, which hold moments after collision: density deviation, momentum and
 * second moments, each a plane as of populations. Cells compute as if all their neighbours were
 * fluid and all axes periodic, for operators that keep moments. If there are free_blocks, they are
 * block_count tiles of lbm_gpu_moments_tiles, and the others are left out. */
cudaError_t lbm_gpu_moments_d2q9_f32(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_moments_d2q9_f64(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_moments_d3q19_f32(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_moments_d3q19_f64(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_moments_tiles_d2q9_f32(const lbm_gpu_step *step, lbm_gpu_tiles *tiles);
cudaError_t lbm_gpu_moments_tiles_d2q9_f64(const lbm_gpu_step *step, lbm_gpu_tiles *tiles);
cudaError_t lbm_gpu_moments_tiles_d3q19_f32(const lbm_gpu_step *step, lbm_gpu_tiles *tiles);
cudaError_t lbm_gpu_moments_tiles_d3q19_f64(const lbm_gpu_step *step, lbm_gpu_tiles *tiles);

/* Several steps of such a flow in 2-D, from `from` to `to`: lbm_pass_steps of them. They are not
 * observed, and no law can fail in them. */
cudaError_t lbm_gpu_pass_d2q9_f32(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_pass_d2q9_f64(const lbm_gpu_step *step, cudaStream_t stream);

/* An odd number, as cuda_solver.pass wants it. More steps need more registers. */
static inline int lbm_pass_steps(int collision, int bytes) {
    return bytes == 4 && collision != LBM_HYBRID ? 5 : 3;
}

/* One step in some tiles of LBM_BAND_COLUMNS times LBM_BAND_ROWS cells, numbered x fastest. */
enum { LBM_BAND_COLUMNS = 30, LBM_BAND_ROWS = 9 };
typedef struct lbm_gpu_band {
    const uint32_t *tiles;
    uint32_t count;
} lbm_gpu_band;
cudaError_t lbm_gpu_band_d2q9_f32(const lbm_gpu_step *step, const lbm_gpu_band *band,
                                  cudaStream_t stream);
cudaError_t lbm_gpu_band_d2q9_f64(const lbm_gpu_step *step, const lbm_gpu_band *band,
                                  cudaStream_t stream);

/* Copies the moments of `count` cells in 2-D, given by their indices, from `from` to `to`. */
cudaError_t lbm_gpu_copy_d2q9_f32(const lbm_gpu_step *step, const uint32_t *cells, uint32_t count,
                                  cudaStream_t stream);
cudaError_t lbm_gpu_copy_d2q9_f64(const lbm_gpu_step *step, const uint32_t *cells, uint32_t count,
                                  cudaStream_t stream);

/* The boundary cells of such a step, after all cells. */
cudaError_t lbm_gpu_close_d2q9_f32(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_close_d2q9_f64(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_close_d3q19_f32(const lbm_gpu_step *step, cudaStream_t stream);
cudaError_t lbm_gpu_close_d3q19_f64(const lbm_gpu_step *step, cudaStream_t stream);

/* The closed regions of fluid in a rank's patch (lbm_closed.h), numbered from 0 on. Spans: cells
 * from `index` in a plane on. Cells: those whose gain is at `link`. */
typedef struct lbm_gpu_closed_span {
    uint32_t index, count, region;
} lbm_gpu_closed_span;
typedef struct lbm_gpu_closed_cell {
    uint32_t link, region;
} lbm_gpu_closed_cell;
typedef struct lbm_gpu_closed {
    const lbm_gpu_closed_span *spans;
    const lbm_gpu_closed_cell *cells;
    uint32_t span_count, cell_count;
    int64_t region_count;
    int64_t *region_cells; /* [regions] cells of the grid, */
    int64_t *owed, *sums;  /* what is owed, and what cells have gained, in LBM_GAIN_UNIT, */
    double *shares;        /* and what a cell gets */
    double *returned;
    int64_t *gain;
    const lbm_direction *directions;
    void *now; /* the present components */
    int64_t plane;
    int bytes, components;
    bool moments;
    int64_t step; /* the one to come; nothing is done if it is halted */
    const int64_t *halted;
} lbm_gpu_closed;

/* Sums up what cells have gained; when `sums` are those of all ranks, returns what is owed. */
cudaError_t lbm_gpu_collect(const lbm_gpu_closed *closed, cudaStream_t stream);
cudaError_t lbm_gpu_return(const lbm_gpu_closed *closed, cudaStream_t stream);

/* The cells of the sponge in a slab of the grid. */
typedef struct lbm_gpu_sponge {
    const lbm_sponge_cell *cells;
    int64_t *gain; /* as lbm_state.sponge_gain; NULL: not wanted */
    uint32_t count;
    double drho; /* the deviation of the density that the layer holds */
} lbm_gpu_sponge;

/* Brings the cells that a step has computed nearer to what the sponge holds. */
cudaError_t lbm_gpu_sponge_take(const lbm_gpu_step *step, const lbm_gpu_sponge *sponge,
                                cudaStream_t stream);
/* *sum = the sum of count gains. */
cudaError_t lbm_gpu_sponge_sum(const int64_t *gain, int64_t count, int64_t *sum,
                               cudaStream_t stream);

/* What fields are computed from. */
typedef struct lbm_gpu_view {
    lbm_gpu_step last; /* the last step; before any, the step to come */
    cuda_parts now;    /* populations of the present step, by the index in a plane, which beyond
                          those of the rank is less than 0, or more than 32 bits hold; */
    cuda_parts acceleration; /* and the field of acceleration by the same index */
    bool periodic[3];
    double nu; /* lattice units */
} lbm_gpu_view;

/* The launchers for the lattice and precision of a step; views are lbm_gpu_view. */
const cuda_look *lbm_gpu_look(const lbm_gpu_step *step);

/* Fills the strain of step 0, from differences of the velocity. */
cudaError_t lbm_gpu_initial_strain(const lbm_gpu_view *view, cudaStream_t stream);

/* Force, torque and mass flow through the links of a region in the last observed step, the torque
 * about `centre` in cells: lbm_carried, in the first of the partials of rank 0. `velocity`: that of
 * its links [3][links]; NULL: its walls are at rest. */
cudaError_t lbm_gpu_links(const lbm_gpu_step *step, int region, const double *velocity,
                          const double centre[3], const cuda_rows *rows, cudaStream_t stream);

/* Mass that has left by the links of as many regions, added up at once. */
enum { LBM_GPU_FLOWS = 24 };
typedef struct lbm_gpu_flows {
    double rate[LBM_GPU_FLOWS];
} lbm_gpu_flows;

/* The sums of link_flow over the links of the regions from `first` on, which are then zeroed:
 * lbm_gpu_flows, in the first of the partials of rank 0. */
cudaError_t lbm_gpu_flow(const lbm_gpu_boundary *boundary, int first, const cuda_rows *rows,
                         cudaStream_t stream);

/* Density deviation and velocity at the start, in f64, by the number of a cell; components stand
 * `apart`. */
typedef struct lbm_gpu_given {
    cuda_parts values;
    int64_t apart;
} lbm_gpu_given;

/* Populations of step 0 in the block of view->last, from what is given; NULL: at rest. Solids get
 * zeros. */
cudaError_t lbm_gpu_start(const lbm_gpu_view *view, const lbm_gpu_given *given, void *to,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
