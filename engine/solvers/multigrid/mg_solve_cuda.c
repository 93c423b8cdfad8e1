/* mg_solve_cuda.c -- iterations for A u = F that run while the host hears of those before. */
#include "cuda/backend.h"
#include "engine/solvers/multigrid/mg_solve_cuda.h"

void mg_gpu_list(mg_gpu_solve *g, mg_solve *solve, sel_state *state) {
    sel_arrays *arrays = &state->arrays;
    g->solve = solve;
    SEL_ADD(arrays, g, levels, MG_MOST_LEVELS, 0);
    SEL_ADD(arrays, g, progress, 1, 0);
    int64_t partials[3];
    mg_gpu_partials(solve->m.box.dims, solve->m.level[0].n, partials);
    SEL_ADD(arrays, g, partials, partials[0] * partials[1] * partials[2], 0);
    mg_gpu_list_ranks(g, state);
}

void mg_gpu_close(mg_gpu_solve *g) {
    for (int k = 0; k < MG_AHEAD; k++) {
        if (g->graph[k]) {
            cudaGraphExecDestroy(g->graph[k]);
        }
        if (g->judged[k]) {
            cudaEventDestroy(g->judged[k]);
        }
        cudaFreeHost(g->heard[k]);
    }
}

/* Makes, before the first iteration, what the host hears by. */
static sel_status prepare(mg_gpu_solve *g, cudaStream_t stream, sel_error *error) {
    const mg *m = &g->solve->m;
    sel_status status = cuda_send(g->levels, m->level, sizeof *g->levels * (size_t)m->count, error);
    g->stream = stream;
    mg_gpu_join_ranks(g);
    if (!status) {
        CUDA_TRY(cudaDeviceGetAttribute(&g->shared, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                        g->solve->state->plan->device));
    }
    for (int k = 0; k < MG_AHEAD && !status; k++) {
        CUDA_TRY(cudaEventCreateWithFlags(&g->judged[k], cudaEventDisableTiming));
        status =
            cuda_host_allocate((void **)&g->heard[k], sizeof *g->heard[k], "the iteration", error);
    }
    return status;
}

sel_status mg_gpu_begin(mg_gpu_solve *g, cudaStream_t stream, sel_error *error) {
    const sel_status status = g->stream ? SEL_OK : prepare(g, stream, error);
    g->error = error;
    for (int k = 0; k < MG_AHEAD && !status; k++) {
        CUDA_TRY(cudaEventSynchronize(g->judged[k]));
        *g->heard[k] = g->solve->now;
    }
    if (!status) {
        CUDA_TRY(cudaMemcpyAsync(g->progress, g->heard[0], sizeof *g->progress,
                                 cudaMemcpyHostToDevice, g->stream));
    }
    return status;
}

static sel_status mg_solve_cuda_record(mg_gpu_solve *g, int how, double omega, const double *u,
                                       double *to, cudaGraphExec_t *made, sel_error *error) {
    cudaGraph_t recorded = NULL;
    CUDA_TRY(cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal));
    const cudaError_t enqueued = mg_gpu_enqueue(g, how, omega, u, to);
    cudaError_t code = cudaStreamEndCapture(g->stream, &recorded);
    code = enqueued == cudaSuccess ? code : enqueued;
    code = code == cudaSuccess ? cudaGraphInstantiate(made, recorded, 0) : code;
    if (recorded) {
        cudaGraphDestroy(recorded);
    }
    return sel_cuda_check(code, "a graph", __FILE__, __LINE__, error);
}

sel_status mg_gpu_correct(mg_gpu_solve *g, int64_t step, int how, double omega, const double *u,
                          double *to, sel_error *error) {
    const int64_t slot = step % MG_AHEAD;
    const sel_state *state = g->solve->state;
    cudaGraphExec_t *graph = &g->graph[slot];
    CUDA_TRY(cudaEventSynchronize(g->judged[slot]));
    if (g->heard[slot]->how) {
        g->solve->now = *g->heard[slot];
        return SEL_OK;
    }
    const bool staged = g->solve->m.level[0].divided && cuda_link_staged(state->queue->link);
    g->error = error;
    if (how == MG_FULL_CYCLE || staged) {
        CUDA_TRY(mg_gpu_enqueue(g, how, omega, u, to));
    } else {
        const sel_status status =
            *graph ? SEL_OK : mg_solve_cuda_record(g, how, omega, u, to, graph, error);
        if (status) {
            return status;
        }
        CUDA_TRY(cudaGraphLaunch(*graph, g->stream));
    }
    if (g->status) {
        return g->status;
    }
    CUDA_TRY(cudaMemcpyAsync(g->heard[slot], g->progress, sizeof *g->progress,
                             cudaMemcpyDeviceToHost, g->stream));
    CUDA_TRY(cudaEventRecord(g->judged[slot], g->stream));
    return SEL_OK;
}
