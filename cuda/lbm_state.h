/* lbm_state.h -- the CUDA backend's state, shared by its host files. */
#ifndef CUDA_LBM_STATE_H
#define CUDA_LBM_STATE_H

#include "cuda/check.h"
#include "cuda/laws.h"
#include "cuda/lbm_gpu.h"
#include "engine/lbm/lbm.h"

enum {
    CUDA_BLOCKS = 32,      /* allocations */
    CUDA_STAGES = 2,       /* pieces of fields on their way to the host */
    CUDA_GRAPH_STEPS = 32, /* even, so that a graph ends with the copy that it began with */
    CUDA_CHUNKS = 2        /* calls of advance whose steps may be queued */
};

/* Bytes of a piece. Fields pass through two of them, so that frames need no more of the device's
 * memory than was asked for at the start. */
static const uint64_t cuda_stage_bytes = 64 << 20;

/* One request under way: its buffers are kept for the next that needs no more. */
typedef struct cuda_slot {
    const sel_request *request; /* NULL: free */
    void *host;                 /* pinned: the answer */
    void *list;                 /* on the device: numbers of cells */
    uint64_t host_bytes, list_bytes;
    cudaEvent_t done;
    bool had_before;     /* MONITOR: there was an earlier one */
    int64_t since_steps; /* BALANCE: steps since the last */
} cuda_slot;

struct sel_state {
    const lbm_plan *plan;
    int64_t step;
    lbm_gpu_step pattern; /* all but `from` and `to` */
    lbm_gpu_view view;    /* all but what moves with the step */
    cudaError_t (*run_step)(const lbm_gpu_step *step, cudaStream_t stream);

    cudaStream_t stream; /* steps and kernels */
    cudaStream_t copies; /* of fields to the host, beside the steps */
    void *stages[CUDA_STAGES];
    cudaEvent_t filled[CUDA_STAGES], sent[CUDA_STAGES];
    int64_t pieces; /* that have passed through the stages */

    cudaEvent_t begun[CUDA_CHUNKS], ended[CUDA_CHUNKS]; /* of calls of advance */
    int64_t chunk_steps[CUDA_CHUNKS];                   /* 0: counted already */
    int64_t advances, steps_done;
    double seconds_done; /* that steps_done took */
    cudaGraphExec_t graph;

    void *blocks[CUDA_BLOCKS];
    int block_count;
    void *f[2];
    void *last_velocity; /* [dims][nz][ny][pitch] in the run's precision */
    void *partials;
    double *rates; /* [regions + 1] on the device */
    int64_t *clock;
    double *controls; /* their values when the laws were last evaluated, on the host */
    cuda_laws *laws;
    bool monitored;

    double *out, *rate; /* [regions + 1] on the host, lattice units */
    int64_t balance_step;
    double first_mass;

    cuda_slot **slots;
    int slot_count;
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

/* One more block of device memory, freed with the state. */
sel_status cuda_take(sel_state *state, void **block, uint64_t bytes, sel_error *error);

/* The buffers of requests. */
sel_status cuda_open_stages(sel_state *state, sel_error *error);
void cuda_free_slots(sel_state *state);

#endif
