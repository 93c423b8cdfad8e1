// heat_implicit.cu -- implicit steps of sel.heat (heat_right_side) but for what multigrid does.
#include "cuda/heat_gpu.h"

enum { THREADS = 128 };

struct work {
    heat_gpu_step step;
    double *u, *F, uniform;
    const double *mass; // NULL: it is uniform
    mg_progress *progress;
    int64_t count;

    __device__ bool halted() const { return cuda_is_halted(step.halted, step.clock); }
    __device__ double mass_of(int64_t i) const { return mass ? mass[i] : uniform; }
};

static __device__ int64_t number() {
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

// u = T, and the iteration begins; one that is halted has ended.
static __global__ void load_kernel(const __grid_constant__ work w) {
    const int64_t i = number();
    if (i < w.count) {
        w.u[i] = heat_number(&w.step.view, w.step.view.from, i);
    }
    if (i == 0) {
        *w.progress = {};
        w.progress->best = HUGE_VAL;
        w.progress->how = w.halted() ? MG_CONVERGED : MG_GOES_ON;
    }
}

static __global__ void right_side_kernel(const __grid_constant__ work w) {
    const heat_view &v = w.step.view;
    const int64_t at[3] = {number(), blockIdx.y, blockIdx.z}, i = heat_place(v.stride, at);
    if (at[0] < v.n[0]) {
        w.F[i] = heat_right_side(&v, at, w.mass_of(i), w.u[i], w.F[i]);
    }
}

static __global__ void surfaces_kernel(const __grid_constant__ work w) {
    const heat_view &v = w.step.view;
    const int64_t k = number();
    if (k < w.step.end) {
        int64_t at[3];
        heat_at(&v, w.step.given.cell[k], at);
        const int64_t i = heat_place(v.stride, at);
        heat_right_surface(&w.step.given, k, w.mass_of(i), &w.u[i], &w.F[i]);
    }
}

static __global__ void store_kernel(const __grid_constant__ work w) {
    const int64_t i = number();
    if (i < w.count && !w.halted()) {
        if (w.step.view.single) {
            ((float *)w.step.view.to)[i] = (float)w.u[i];
        } else {
            ((double *)w.step.view.to)[i] = w.u[i];
        }
    }
}

static work work_of(const heat_gpu_step *step, const mg_gpu_solve *g, double *u) {
    const heat_view &v = step->view;
    const mg_solve *s = g->solve;
    const int64_t last[3] = {v.n[0] - 1, v.n[1] - 1, v.n[2] - 1};
    return {*step, u, s->F, s->m.box.mass, s->mass, g->progress, heat_place(v.stride, last) + 1};
}

extern "C" cudaError_t heat_gpu_begin(const heat_gpu_step *step, const mg_gpu_solve *g, double *u) {
    const work w = work_of(step, g, u);
    const int64_t *n = step->view.n;
    const dim3 cells(cuda_shares(n[0], THREADS), (unsigned)n[1], (unsigned)n[2]);
    load_kernel<<<cuda_shares(w.count, THREADS), THREADS, 0, g->stream>>>(w);
    if (step->view.implicit < 1) {
        mg_gpu_apply(g, u, w.F);
    }
    right_side_kernel<<<cells, THREADS, 0, g->stream>>>(w);
    if (step->end > 0) {
        surfaces_kernel<<<cuda_shares(step->end, THREADS), THREADS, 0, g->stream>>>(w);
    }
    return mg_gpu_residual(g, u, 0);
}

extern "C" cudaError_t heat_gpu_end(const heat_gpu_step *step, const mg_gpu_solve *g, double *u) {
    const work w = work_of(step, g, u);
    store_kernel<<<cuda_shares(w.count, THREADS), THREADS, 0, g->stream>>>(w);
    return cudaGetLastError();
}
