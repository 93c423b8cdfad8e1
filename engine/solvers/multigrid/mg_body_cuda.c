/* mg_body_cuda.c -- implicit steps of conducting bodies on the device: what mg_body_step of
 * engine/solvers/multigrid does on the processor. */
#include "cuda/backend.h"
#include "cuda/inputs.h"
#include "engine/solvers/diffusion/diffusion_cuda.h"
#include "engine/solvers/multigrid/mg_solve_cuda.h"
#include "engine/solvers/multigrid/mg_body.h"

/* The host hears of each cycle. */
sel_status mg_gpu_body_step(mg_gpu_solve *g, const sel_state *state, int64_t step,
                            sel_error *error) {
    mg_solve *solve = g->solve;
    const cudaStream_t stream = state->queue->stream;
    diffusion_gpu_step s = diffusion_gpu_step_of(state, step);
    s.u = solve->u;
    s.F = solve->F;
    s.uniform = solve->m.box.mass;
    s.mass = solve->mass;
    solve->now = MG_BEGINS;
    sel_status status = mg_gpu_begin(g, stream, error);
    if (status) {
        return status;
    }
    if (solve->m.level[0].divided && state->queue->halts) {
        status = cuda_link_least(state, state->queue->halts, stream, error);
    }
    CUDA_TRY(diffusion_gpu_load(&s, stream));
    status = status ? status : mg_gpu_spread(g, s.u, error);
    if (status) {
        return status;
    }
    if (diffusion_body_of(state->plan)->implicit < 1) {
        CUDA_TRY(mg_gpu_apply(g, s.u, s.F));
    }
    CUDA_TRY(diffusion_gpu_right_side(&s, stream));
    status = mg_gpu_spread(g, s.u, error);
    if (status) {
        return status;
    }
    CUDA_TRY(mg_gpu_residual(g, s.u, 0));
    status = g->status;
    for (int64_t k = 0; solve->now.how == MG_GOES_ON && !status; k++) {
        status = mg_gpu_correct(g, k, MG_CYCLE, 1, s.u, s.u, error);
    }
    CUDA_TRY(diffusion_gpu_store(&s, stream));
    return status ? status : mg_body_solved(solve, state, error);
}
