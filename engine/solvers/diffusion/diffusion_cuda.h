/* diffusion_cuda.h -- bodies that conduct, on the device: what kernels see of them, and what
 * requests find. The solvers of such bodies have these functions in their cuda_solver. */
#ifndef DIFFUSION_CUDA_H
#define DIFFUSION_CUDA_H

#include "engine/solvers/diffusion/diffusion_kernels_cuda.h"
#include "cuda/queue.h"

/* As cuda_solver.look: `seen` becomes what kernels see. */
sel_status diffusion_cuda_look(sel_state *state, diffusion_view *seen, int field,
                               const cuda_look **look, const void **view, sel_error *error);

/* A body in the implicit step from `step`, but for the vectors and what is uniform. */
diffusion_gpu_step diffusion_gpu_step_of(const sel_state *state, int64_t step);

/* As in cuda_solver: SEL_MEAN_CHANGE, SEL_BALANCE and SEL_FLUX. */
sel_status diffusion_cuda_ask(sel_state *state, const sel_request *request, sel_error *error);
void diffusion_cuda_answer(sel_state *state, const cuda_slot *slot, sel_request *request);

#endif
