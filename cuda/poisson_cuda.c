/* poisson_cuda.c -- sel.poisson on the device.
 *
 * An iteration but the first is one graph, of which there are two, for the two copies of phi that
 * take turns. The device judges it; the host hears of that while the next iteration runs.
 */
#include <math.h>
#include <string.h>
#include "cuda/machine/backend.h"
#include "cuda/multigrid.h"
#include "cuda/poisson_gpu.h"
#include "engine/solvers/poisson/poisson.h"

enum { AHEAD = 2 /* iterations that are enqueued while one is judged */ };

typedef struct poisson_cuda {
    poisson_state all;
    mg_level *levels;           /* of the multigrid, on the device */
    poisson_progress *progress; /* there; */
    poisson_progress *heard[AHEAD];
    cudaEvent_t judged[AHEAD]; /* and of the last iterations, in pinned memory */
    poisson_sums *partials;
    cudaGraphExec_t graph[2];
} poisson_cuda;

/* ---- memory ---- */

static void list(sel_state *base) {
    poisson_cuda *state = (poisson_cuda *)base;
    const sel_grid *grid = &base->plan->domain->grid;
    poisson_list(base, 0);
    SEL_ADD(&base->arrays, state, levels, MG_MOST_LEVELS, 0);
    SEL_ADD(&base->arrays, state, progress, 1, 0);
    SEL_ADD(&base->arrays, state, partials, poisson_gpu_partials(grid->dims, grid->n), 0);
}

static void close(sel_state *base) {
    poisson_cuda *state = (poisson_cuda *)base;
    for (int k = 0; k < AHEAD; k++) {
        if (state->graph[k]) {
            cudaGraphExecDestroy(state->graph[k]);
        }
        if (state->judged[k]) {
            cudaEventDestroy(state->judged[k]);
        }
        cudaFreeHost(state->heard[k]);
    }
}

/* ---- an iteration ---- */

static mg_gpu multigrid(const poisson_cuda *state) {
    return (mg_gpu){.m = &state->all.solve.m,
                    .level = state->levels,
                    .stop = &state->progress->how,
                    .stream = state->all.base.queue->stream};
}

static poisson_gpu_step step_from(const poisson_cuda *state, int64_t step) {
    const poisson_state *all = &state->all;
    const poisson_plan *plan = poisson_plan_for(&all->base);
    const sel_cells *cells = &all->base.turns.cells;
    const mg *m = &all->solve.m;
    poisson_gpu_step s = {.dims = plan->box.dims,
                          .even = plan->box.even,
                          .single = plan->box.single,
                          .conjugate = plan->box.conjugate,
                          .singular = plan->singular,
                          .stride = {1, cells->pitch, cells->slice},
                          .u = all->u[0][step & 1],
                          .to = all->u[0][(step + 1) & 1],
                          .F = all->solve.F,
                          .p = all->solve.p,
                          .q = all->solve.q,
                          .level = m->level[0],
                          .volume = plan->volume,
                          .limits = poisson_limits_of(all),
                          .now = state->progress,
                          .partials = state->partials};
    for (int a = 0; a < 3; a++) {
        s.low[a] = m->low[a];
        s.high[a] = m->high[a];
        s.middle[a] = m->middle[a];
        s.part[a] = m->part[a];
    }
    return s;
}

static sel_status iterate(poisson_cuda *state, int64_t step, sel_error *error) {
    const poisson_plan *plan = poisson_plan_for(&state->all.base);
    const mg_gpu g = multigrid(state);
    const poisson_gpu_step s = step_from(state, step);
    switch (poisson_method(&state->all.base)) {
    case POISSON_MULTIGRID:
        CUDA_TRY(mg_gpu_cycle(&g, step == 0));
        break;
    case POISSON_GAUSS_SEIDEL:
        CUDA_TRY(mg_gpu_sweep(&g, 1));
        break;
    case POISSON_SOR:
        CUDA_TRY(mg_gpu_sweep(&g, plan->omega));
        break;
    default:
        CUDA_TRY(poisson_gpu_divide(&s, g.stream));
    }
    if (plan->box.conjugate) {
        const poisson_gpu_step next = step_from(state, step + 1);
        CUDA_TRY(poisson_gpu_direct(&s, g.stream));
        CUDA_TRY(poisson_gpu_apply(&s, g.stream));
        CUDA_TRY(poisson_gpu_add(&s, g.stream));
        CUDA_TRY(poisson_gpu_measure(&next, 1, false, g.stream));
    } else {
        CUDA_TRY(poisson_gpu_measure(&s, 1, true, g.stream));
    }
    return SEL_OK;
}

static sel_status record(poisson_cuda *state, int64_t step, sel_error *error) {
    const cudaStream_t stream = state->all.base.queue->stream;
    cudaGraph_t recorded = NULL;
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    const sel_status status = iterate(state, step, error);
    cudaError_t code = cudaStreamEndCapture(stream, &recorded);
    if (!status && code == cudaSuccess) {
        code = cudaGraphInstantiate(&state->graph[step & 1], recorded, 0);
    }
    if (recorded) {
        cudaGraphDestroy(recorded);
    }
    return status ? status : sel_cuda_check(code, "a graph", __FILE__, __LINE__, error);
}

/* A step beyond the end of the iteration does nothing. */
static sel_status step(sel_state *base, int64_t step, sel_error *error) {
    poisson_cuda *state = (poisson_cuda *)base;
    const cudaStream_t stream = base->queue->stream;
    const int64_t slot = step % AHEAD;
    CUDA_TRY(cudaEventSynchronize(state->judged[slot]));
    if (state->heard[slot]->how) {
        return SEL_OK;
    }
    sel_status status = SEL_OK;
    if (step == 0) {
        status = iterate(state, step, error);
    } else {
        status = state->graph[step & 1] ? SEL_OK : record(state, step, error);
        if (!status) {
            CUDA_TRY(cudaGraphLaunch(state->graph[step & 1], stream));
        }
    }
    if (!status) {
        CUDA_TRY(cudaMemcpyAsync(state->heard[slot], state->progress, sizeof *state->progress,
                                 cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaEventRecord(state->judged[slot], stream));
    }
    return status;
}

/* No graph of several steps: an iteration ends, and has graphs of its own. */
static bool alone(const sel_state *base) {
    (void)base;
    return true;
}

/* ---- the start, and the end ---- */

static sel_status hear(sel_state *base, sel_error *error) {
    poisson_cuda *state = (poisson_cuda *)base;
    sel_status status = cuda_queue_wait(base->queue, error);
    if (!status) {
        CUDA_TRY(cudaMemcpy(&state->all.now, state->progress, sizeof *state->progress,
                            cudaMemcpyDeviceToHost));
        poisson_conclude(&state->all);
    }
    return status;
}

/* poisson_measure */
static sel_status measure(poisson_state *all, sel_error *error) {
    poisson_cuda *state = (poisson_cuda *)all;
    sel_state *base = &all->base;
    all->now.step = base->step;
    all->now.how = POISSON_GOES_ON;
    for (int k = 0; k < AHEAD; k++) {
        *state->heard[k] = all->now;
    }
    sel_status status = cuda_send(state->levels, all->solve.m.level,
                                  sizeof *state->levels * (size_t)all->solve.m.count, error);
    status = status ? status : cuda_send(state->progress, &all->now, sizeof all->now, error);
    if (!status) {
        const poisson_gpu_step s = step_from(state, base->step);
        if (all->now.pq > 0) {
            CUDA_TRY(poisson_gpu_apply(&s, base->queue->stream));
        }
        CUDA_TRY(poisson_gpu_measure(&s, 0, false, base->queue->stream));
        status = hear(base, error);
    }
    return status;
}

static sel_status start(sel_state *base, sel_error *error) {
    poisson_cuda *state = (poisson_cuda *)base;
    sel_status status = SEL_OK;
    for (int k = 0; k < AHEAD && !status; k++) {
        CUDA_TRY(cudaEventCreateWithFlags(&state->judged[k], cudaEventDisableTiming));
        status = cuda_host_allocate((void **)&state->heard[k], sizeof *state->heard[k],
                                    "the iteration", error);
    }
    if (!status) {
        memset(state->heard[0], 0, sizeof *state->heard[0]);
        memset(state->heard[1], 0, sizeof *state->heard[1]);
    }
    return status ? status : poisson_start(base, measure, error);
}

static sel_status loaded(sel_state *base, sel_error *error) {
    return measure((poisson_state *)base, error);
}

const cuda_solver poisson_on_cuda = {
    .what = "the potential",
    .state_size = sizeof(poisson_cuda),
    .unit = 1,
    .list = list,
    .start = start,
    .alone = alone,
    .step = step,
    .ending = hear,
    .close = close,
    .saving = hear,
    .loaded = loaded,
};
