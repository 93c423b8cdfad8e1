/* lbm_state.h -- the CUDA backend's state, shared by its host files. */
#ifndef CUDA_LBM_STATE_H
#define CUDA_LBM_STATE_H

#include "cuda/laws.h"
#include "cuda/lbm_gpu.h"
#include "cuda/queue.h"
#include "engine/lbm/lbm.h"

/* Even, so that a graph ends with the copy that it began with. */
enum { CUDA_GRAPH_STEPS = 32 };

struct sel_state {
    const lbm_plan *plan;
    int64_t step;
    lbm_gpu_step pattern; /* all but `from` and `to` */
    lbm_gpu_view view;    /* all but what moves with the step */
    cudaError_t (*run_step)(const lbm_gpu_step *step, cudaStream_t stream);

    cuda_queue queue;
    cudaGraphExec_t graph;

    void *f[2];
    void *last_velocity; /* [dims][nz][ny][pitch] in the run's precision */
    void *partials;
    double *rates;          /* [regions + 1] on the device */
    double *acceleration;   /* see cuda_acceleration_turns */
    int64_t accelerated_at; /* the last step whose acceleration a control changed; -1: none */
    int64_t *clock;
    double *controls; /* their values when the laws were last evaluated, on the host */
    cuda_laws *laws;
    bool monitored;

    double *out, *rate; /* [regions + 1] on the host, lattice units */
    int64_t balance_step;
    double first_mass;
};

/* The present state as fields see it. */
lbm_gpu_view cuda_view(const sel_state *state);

/* Bytes of a stored number. */
static inline int64_t cuda_real(const sel_plan *plan) {
    return plan->precision == SEL_F32 ? 4 : 8;
}

sel_status cuda_lbm_start(sel_state *state, sel_request *request, sel_error *error);
sel_status cuda_lbm_finish(sel_state *state, sel_request *request, sel_error *error);

/* Copies the boundary to the device. */
sel_status cuda_upload_boundary(sel_state *state, sel_error *error);

/* Populations of step 0. */
sel_status cuda_set_initial(sel_state *state, sel_error *error);

#endif
