/* lbm_state.h -- the CUDA backend's state, shared by its host files. */
#ifndef CUDA_LBM_STATE_H
#define CUDA_LBM_STATE_H

#include "cuda/laws.h"
#include "cuda/lbm_gpu.h"
#include "cuda/machine/backend.h"
#include "engine/lbm/lbm.h"

typedef struct lbm_cuda {
    sel_state base;
    const lbm_plan *plan;
    lbm_gpu_step pattern; /* all but `from` and `to` */
    lbm_gpu_view view;    /* see cuda_view */
    cudaError_t (*run_step)(const lbm_gpu_step *step, cudaStream_t stream);

    void *f[2];
    double *rates;          /* [regions + 1] on the device */
    double *acceleration;   /* see cuda_acceleration_turns */
    int64_t accelerated_at; /* the last step whose acceleration a control changed; -1: none */
    cuda_laws *laws;

    double *out, *rate; /* [regions + 1] on the host, lattice units */
    int64_t balance_step;
    double first_mass;
} lbm_cuda;

/* The present state as fields see it: state->view. */
const lbm_gpu_view *cuda_view(lbm_cuda *state);

/* Bytes of a stored number. */
static inline int64_t cuda_real(const sel_plan *plan) {
    return plan->precision == SEL_F32 ? 4 : 8;
}

/* cuda_solver.ask and .answer */
sel_status lbm_cuda_ask(sel_state *base, const sel_request *request, sel_error *error);
void lbm_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request);

/* Lists the boundary's arrays; copies the boundary to the device. */
void lbm_cuda_list_boundary(lbm_cuda *state);
sel_status cuda_upload_boundary(lbm_cuda *state, sel_error *error);

/* The mass of all free cells, from the sum of the density's deviations; lattice units. */
static inline double lbm_cuda_mass(const lbm_cuda *state, const sel_total *deviation) {
    return (double)state->plan->base.domain->free_cells + sel_total_of(deviation, false);
}

/* Populations of step 0. */
sel_status cuda_set_initial(lbm_cuda *state, sel_error *error);

#endif
