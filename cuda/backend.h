/* backend.h -- the backend made from a solver on the device, and all that the solver needs. */
#ifndef CUDA_BACKEND_H
#define CUDA_BACKEND_H

#include "cuda/feed.h"
#include "cuda/queue.h"
#include "cuda/collectives.h"
#include "cuda/interior.h"
#include "cuda/solver.h"

/* Enqueues the sum of what the solver conserves; it will be in the first of the queue's `rows`, of
 * several ranks on rank 0. */
sel_status cuda_sum(sel_state *state, sel_error *error);
/* The same, and waits for it. */
sel_status cuda_sum_now(sel_state *state, sel_total *sum, sel_error *error);

#endif
