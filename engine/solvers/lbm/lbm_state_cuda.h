/* lbm_state_cuda.h -- the CUDA backend's state, shared by its host files. */
#ifndef CUDA_LBM_STATE_H
#define CUDA_LBM_STATE_H

#include "engine/solvers/lbm/lbm_kernels_cuda.h"
#include "cuda/backend.h"
#include "cuda/terms.h"
#include "engine/solvers/lbm/lbm_state.h"

/* The fewest cells of a grid with boundaries that passes go over; tests choose fewer. */
#ifndef LBM_PASS_BOUNDED
#define LBM_PASS_BOUNDED (1 << 20)
#endif

/* Passes of several steps over a plane grid (lbm_pass_cuda.c). */
typedef struct lbm_cuda_passes {
    int steps; /* of a pass; 1: there are none */
    /* Further copies of the moments, for cells beside boundaries; NULL: there are no boundary
     * cells. room[1] NULL: memory is short. */
    char *room[2];
    uint32_t *tiles;   /* of the cells beside boundaries */
    uint32_t *reached; /* cells whose values at the end of a pass depend on boundary cells */
    uint32_t tile_count, reached_count;
} lbm_cuda_passes;

/* The sponge (lbm_sponge_cuda.c). */
typedef struct lbm_cuda_sponge {
    lbm_sponge_cell *cells; /* of the patch */
    int64_t *brought;       /* the sum of all.sponge_gain; NULL: it has no cells */
} lbm_cuda_sponge;

typedef struct lbm_cuda {
    lbm_state all;
    lbm_gpu_step pattern; /* all that does not depend on the step and the block of the grid */
    /* The cells that are computed again, and the thread blocks with free cells, of each slab of a
     * step: where they begin and end in their lists. */
    uint32_t again[CUDA_SLABS][2], free[CUDA_SLABS][2];
    uint32_t again_count, listed; /* of all slabs; of boundary.cells */
    lbm_gpu_view view;            /* what fields are computed from, but for the present step */
    cudaError_t (*run_step)(const lbm_gpu_step *step, cudaStream_t stream);
    /* For stored moments: boundary cells, and how all cells are divided among thread blocks. */
    cudaError_t (*close)(const lbm_gpu_step *step, cudaStream_t stream);
    cudaError_t (*tiles)(const lbm_gpu_step *step, lbm_gpu_tiles *tiles);

    double *acceleration;      /* uniform: [CUDA_TURNS][3], see lbm_gpu_step */
    int64_t accelerated_at;    /* the last step whose acceleration a control changed; -1: none */
    lbm_direction *directions; /* of the lattice, on the device */
    lbm_gpu_closed closed;     /* regions of fluid */
    lbm_gpu_laws laws;         /* what the kernel that stores laws sees */
    lbm_cuda_passes passes;
    lbm_cuda_sponge sponge;
} lbm_cuda;

/* ---- steps (lbm_steps_cuda.c) ---- */

/* Planes at the ends of a rank that look at halos. */
enum { LBM_CUDA_RIM = 1 };

/* An array that is laid out as a plane of populations, as kernels count the cells of the rank's
 * block; and the populations. */
void *lbm_cuda_own(const lbm_cuda *state, void *array);
void *lbm_cuda_at(const lbm_cuda *state, int copy);

/* The step from `step` to the next in a slab of the grid. */
lbm_gpu_step lbm_cuda_step(const lbm_cuda *state, int64_t step, const cuda_slab *slab);

/* Whether all cells of the grid are computed as boundary cells are: all are listed. */
bool lbm_cuda_gathers(const lbm_cuda *state);

/* Where a cell stands in a plane of populations; row: of the grid. */
uint32_t lbm_cuda_index(const lbm_cuda *state, uint32_t x, uint32_t row);

/* The lists of cells at boundaries, and of those that are computed again. */
void lbm_cuda_list_boundary(lbm_cuda *state);
sel_status lbm_cuda_send_boundary(lbm_cuda *state, sel_error *error);

/* ---- closed regions (lbm_return_cuda.c) ---- */

void lbm_cuda_list_closed(lbm_cuda *state);
/* After the inputs have started. */
sel_status lbm_cuda_send_closed(lbm_cuda *state, sel_error *error);
/* Enqueues a return that is due before the next step; lowers *count to the steps before another. */
sel_status lbm_cuda_return(lbm_cuda *state, int64_t *count, sel_error *error);

/* ---- the sponge (lbm_sponge_cuda.c) ---- */

void lbm_cuda_list_sponge(lbm_cuda *state);
sel_status lbm_cuda_send_sponge(lbm_cuda *state, sel_error *error);
/* Enqueues the work on the cells of a slab, after those of a step are computed. */
sel_status lbm_cuda_take_sponge(const lbm_cuda *state, const lbm_gpu_step *one,
                                const cuda_slab *slab, sel_error *error);
/* Enqueues the sum of what its cells have gained, sponge.brought. */
sel_status lbm_cuda_sum_sponge(const lbm_cuda *state, sel_error *error);

/* ---- several steps at once (lbm_pass_cuda.c) ---- */

/* Decides whether passes are made, and lists their arrays; fills these, at the start. */
void lbm_cuda_list_pass(lbm_cuda *state);
sel_status lbm_cuda_start_pass(lbm_cuda *state, sel_error *error);
/* Of cuda_solver: pass. */
int64_t lbm_cuda_pass(const sel_state *state, int64_t most);
/* Enqueues a pass from `step` on. */
sel_status lbm_cuda_take_pass(lbm_cuda *state, int64_t step, sel_error *error);

/* ---- what is given (lbm_inputs_cuda.c) ---- */

/* Lists its arrays, and sets the steps evaluated together, all.copies. */
void lbm_cuda_list_inputs(lbm_cuda *state);
/* Values for the first step, the acceleration of time 0. All ranks must call it. */
sel_status lbm_cuda_start_inputs(lbm_cuda *state, sel_error *error);
/* Of cuda_solver: copies, joins_before, store_view, terms; and failed, which restores the
 * acceleration of the last state for its velocity. */
int64_t lbm_cuda_copies(const sel_state *base);
bool lbm_cuda_joins_before(const sel_state *base);
const void *lbm_cuda_laws(sel_state *base);
sel_status lbm_cuda_terms(sel_state *base, unsigned due, int64_t *count, sel_error *error);
sel_status lbm_cuda_failed(sel_state *base, sel_status status, sel_error *error);

#endif
