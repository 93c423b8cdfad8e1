/* body.h -- a body that conducts, on the device: what kernels see of it, and what requests find. */
#ifndef CUDA_BODY_H
#define CUDA_BODY_H

#include "cuda/conduction.h"
#include "cuda/queue.h"

/* A body at a step, and what is summed; valid until the next call. */
const cuda_body *cuda_body_of(sel_state *state, int64_t step, int sum);

/* A body in the implicit step from `step`, but for the vectors and what is uniform. */
cuda_body_step cuda_body_step_of(const sel_state *state, int64_t step);

/* SEL_MEAN_CHANGE, SEL_BALANCE and SEL_FLUX: as cuda_solver.ask and cuda_solver.answer. */
sel_status cuda_body_ask(sel_state *state, const sel_request *request, sel_error *error);
void cuda_body_answer(const sel_state *state, const cuda_slot *slot, sel_request *request);

#endif
