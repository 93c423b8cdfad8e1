/* lbm_state_cuda.h -- the CUDA backend's state, shared by its host files. */
#ifndef CUDA_LBM_STATE_H
#define CUDA_LBM_STATE_H

#include "engine/solvers/lbm/lbm_kernels_cuda.h"
#include "engine/solvers/lbm/lbm_laws_cuda.h"
#include "cuda/backend.h"
#include "cuda/terms.h"
#include "engine/solvers/lbm/lbm_state.h"

/* Launches: of the laws that vary in time, and of those that vary with controls alone. */
enum { CUDA_LAWS_IN_TIME, CUDA_LAWS_BY_CONTROLS, CUDA_LAWS_LAUNCHES };

/* The laws that vary (lbm_laws_cuda.c). */
typedef struct cuda_laws {
    int count, threads;
    size_t shared_bytes; /* of a block of `threads` threads */
    /* Some law that varies in time needs the host in every step: no graph can hold it. */
    bool need_host;
    /* Some law that a kernel evaluates has places on several ranks; these join before a step. */
    bool divided, join_before;
    const lbm_batch *batch[LBM_MOST_BATCHES];
    cuda_law law[LBM_MOST_BATCHES]; /* as sent to the table */
    cuda_feed feed;                 /* what the host sends */
    cuda_laws_launch launch[CUDA_LAWS_LAUNCHES];
    /* On the device. */
    cuda_terms terms;
    cuda_law *table;
    int64_t *first_block[CUDA_LAWS_LAUNCHES];
    lbm_direction *directions;
} cuda_laws;

typedef struct lbm_cuda {
    lbm_state all;
    lbm_gpu_step pattern; /* all that does not depend on the step and the block of the grid */
    /* The cells that are computed again, and the thread blocks with free cells, of each slab of a
     * step: where they begin and end in their lists. */
    uint32_t again[CUDA_SLABS][2], free[CUDA_SLABS][2];
    uint32_t again_count;
    lbm_gpu_view view; /* what fields are computed from, but for the present step */
    cudaError_t (*run_step)(const lbm_gpu_step *step, cudaStream_t stream);

    double *acceleration;   /* uniform: [CUDA_TURNS][3], see lbm_gpu_step */
    int64_t accelerated_at; /* the last step whose acceleration a control changed; -1: none */
    cuda_laws laws;
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

/* The lists of cells at boundaries, and of those that are computed again. */
void lbm_cuda_list_boundary(lbm_cuda *state);
sel_status lbm_cuda_send_boundary(lbm_cuda *state, sel_error *error);

/* ---- laws ---- */

/* Finds the laws that vary, lists their arrays, and sets the steps evaluated together, all.copies.
 */
void cuda_laws_list(lbm_cuda *state);
void cuda_laws_close(sel_state *base);

/* Uploads programs, their data and places, evaluates everything for the first step on the host, so
 * that mistakes are reported as on the CPU (values are complete afterwards, the acceleration is
 * that of time 0), and synchronises. Values are laid out as in lbm_batches_apply. All ranks must
 * call it, and the next. */
sel_status cuda_laws_start(lbm_cuda *state, sel_error *error);

/* Enqueues the evaluation, for the step from the clock's to the next and `steps` in all, of the
 * laws that depend on what is `due` (as lbm_batches_apply, and the acceleration at the end of the
 * step), with the present controls. `step` is what the clock will show; only laws that need the
 * host use it, so that with all others the call may be captured into a graph. A program whose
 * result is NaN, infinite or not exact halts the kernels of that step and of later ones: they leave
 * the state as it is. */
sel_status cuda_laws_enqueue(lbm_cuda *state, unsigned due, int64_t step, int64_t steps,
                             sel_error *error);

/* After a failure of laws: restores the acceleration of the last state, which may be a field, for
 * its velocity. */
void cuda_laws_restore(lbm_cuda *state);

/* cuda_solver.check: a step whose laws failed, and all steps enqueued after it, have left the state
 * as it was; the message is that of the CPU, since the host evaluates that place again. */
sel_status cuda_laws_check(sel_state *base, int64_t step, sel_error *error);
/* cuda_solver.failed */
sel_status cuda_laws_failed(sel_state *base, sel_status status, sel_error *error);

#endif
