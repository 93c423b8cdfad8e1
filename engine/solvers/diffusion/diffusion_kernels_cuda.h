/* diffusion_kernels_cuda.h -- kernels of conducting bodies (engine/solvers/diffusion/diffusion.h):
 * plain C, shared by the host's files and nvcc's.
 */
#ifndef DIFFUSION_KERNELS_CUDA_H
#define DIFFUSION_KERNELS_CUDA_H

#include "cuda/query.h"
#include "engine/solvers/diffusion/diffusion_cell.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A state as seen by reads and sums. */
typedef struct diffusion_view {
    cuda_grid grid;
    heat_view heat;
    cuda_parts from, before; /* the numbers of a step, and of that before it */
    int64_t first;           /* the element of cell 0 in them */
    int sum;                 /* HEAT_CONTENT, HEAT_ADDED; HEAT_VALUE: its change */
} diffusion_view;
const cuda_look *diffusion_gpu_look(void);

/* What enters at the sites of cells first <= k < end on surfaces, in the step from view->from to
 * view->to (`changes`: see heat_entering). */
cudaError_t diffusion_gpu_entering(const heat_view *view, const diffusion_given *given,
                                   int64_t first, int64_t end, bool changes, cudaStream_t stream);

/* Parts of an implicit step (heat_right_side), vectors being laid out as the view's; T is left as
 * it is where the step is halted. u = T; F, from A u in F, and u of fixed nodes; and T' = u. */
typedef struct diffusion_gpu_step {
    heat_view view;
    diffusion_given given;
    int64_t surfaces[2];  /* cells surfaces[0] <= k < surfaces[1] of the surfaces */
    int64_t first, count; /* numbers of T, with those beside */
    double *u, *F, uniform;
    const double *mass; /* NULL: it is uniform */
    const int64_t *halted;
    cuda_clock clock;
} diffusion_gpu_step;
cudaError_t diffusion_gpu_load(const diffusion_gpu_step *step, cudaStream_t stream);
cudaError_t diffusion_gpu_right_side(const diffusion_gpu_step *step, cudaStream_t stream);
cudaError_t diffusion_gpu_store(const diffusion_gpu_step *step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
