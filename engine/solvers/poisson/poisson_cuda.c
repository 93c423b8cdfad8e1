/* poisson_cuda.c -- sel.poisson on the device. */
#include "cuda/backend.h"
#include "engine/solvers/diffusion/diffusion_cuda.h"
#include "engine/solvers/multigrid/mg_solve_cuda.h"
#include "engine/solvers/poisson/poisson.h"

typedef struct poisson_cuda {
    poisson_state all;
    mg_gpu_solve gpu;
    diffusion_view seen;
} poisson_cuda;

static void poisson_cuda_list(sel_state *base) {
    poisson_cuda *state = (poisson_cuda *)base;
    poisson_list(base, 0);
    mg_gpu_list(&state->gpu, &state->all.solve, base);
}

static void poisson_cuda_close(sel_state *base) {
    mg_gpu_close(&((poisson_cuda *)base)->gpu);
}

/* A step beyond the end of the iteration does nothing. */
static sel_status poisson_cuda_step(sel_state *base, int64_t step, sel_error *error) {
    poisson_cuda *state = (poisson_cuda *)base;
    double omega;
    const int how = poisson_correction(base, step, &omega);
    const sel_status status = mg_gpu_correct(&state->gpu, step, how, omega, poisson_u(base, step),
                                             poisson_u(base, step + 1), error);
    if (state->all.solve.now.how) {
        poisson_conclude(&state->all);
        sel_state_go_to(base, step); /* it is counted, until `ending` */
    }
    return status;
}

/* No graph of several steps: an iteration ends, and has graphs of its own. */
static bool poisson_cuda_alone(const sel_state *base) {
    (void)base;
    return true;
}

static sel_status hear(sel_state *base, sel_error *error) {
    poisson_cuda *state = (poisson_cuda *)base;
    mg_progress *now = &state->all.solve.now;
    sel_status status = cuda_queue_wait(base->queue, error);
    if (!status) {
        CUDA_TRY(cudaMemcpy(now, state->gpu.progress, sizeof *now, cudaMemcpyDeviceToHost));
        poisson_conclude(&state->all);
    }
    return status;
}

/* poisson_measure: f and q of the present step, which may have been loaded. */
static sel_status poisson_cuda_measure(sel_state *base, sel_error *error) {
    poisson_cuda *state = (poisson_cuda *)base;
    mg_solve *s = &state->all.solve;
    s->now.step = base->step;
    s->now.how = MG_GOES_ON;
    base->observed = -1;
    double *u = poisson_u(base, base->step);
    sel_status status = mg_gpu_begin(&state->gpu, base->queue->stream, error);
    status = status ? status : mg_gpu_spread(&state->gpu, u, error);
    status = status || !(s->now.pq > 0) ? status : mg_gpu_spread(&state->gpu, s->p, error);
    if (status) {
        return status;
    }
    if (s->now.pq > 0) {
        CUDA_TRY(mg_gpu_apply(&state->gpu, s->p, s->q));
    }
    CUDA_TRY(mg_gpu_residual(&state->gpu, u, 0));
    return state->gpu.status ? state->gpu.status : hear(base, error);
}

static sel_status poisson_cuda_start(sel_state *base, sel_error *error) {
    return poisson_start(base, poisson_cuda_measure, error);
}

static sel_status poisson_cuda_look(sel_state *base, int field, const cuda_look **look,
                                    const void **view, sel_error *error) {
    return diffusion_cuda_look(base, &((poisson_cuda *)base)->seen, field, look, view, error);
}

/* cuda_solver.decompose */
static bool poisson_cuda_decompose(const sel_simulation *simulation, const sel_grid *grid,
                                   sel_decomposition *decomposition) {
    (void)simulation;
    return mg_body_decompose(grid, decomposition);
}

const cuda_solver poisson_on_cuda = {
    .what = "the potential",
    .state_size = sizeof(poisson_cuda),
    .timeless = true,
    .decompose = poisson_cuda_decompose,
    .list = poisson_cuda_list,
    .start = poisson_cuda_start,
    .alone = poisson_cuda_alone,
    .step = poisson_cuda_step,
    .ending = hear,
    .close = poisson_cuda_close,
    .saving = hear,
    .loaded = poisson_cuda_measure,
    .look = poisson_cuda_look,
    .ask = diffusion_cuda_ask,
    .answer = diffusion_cuda_answer,
};
