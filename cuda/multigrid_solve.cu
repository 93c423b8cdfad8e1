// multigrid_solve.cu -- A u = F by corrections of u: mg_solve.c with a thread for ROWS cells along
// y.
//
// Sums are made by block, then joined by a fixed tree.
#include "cuda/multigrid_solve.h"

static __device__ inline void join(mg_sums &a, const mg_sums &b);
static __device__ inline void clear(mg_sums &a);
#include "cuda/machine/look.cuh"

static __device__ inline void join(mg_sums &a, const mg_sums &b) {
    for (int k = 0; k < 3; k++) {
        a.v[k] += b.v[k];
    }
}

static __device__ inline void clear(mg_sums &a) {
    a.v[0] = a.v[1] = a.v[2] = 0;
}

enum { THREADS = 128, WARPS = THREADS / CUDA_WARP, ROWS = 4 };

static dim3 blocks_of(const int64_t n[3]) {
    return dim3((unsigned)((n[0] + THREADS - 1) / THREADS), (unsigned)((n[1] + ROWS - 1) / ROWS),
                (unsigned)n[2]);
}

extern "C" int64_t mg_gpu_partials(const int64_t n[3]) {
    const dim3 blocks = blocks_of(n);
    return (int64_t)blocks.x * blocks.y * blocks.z;
}

// The finest level in an iteration.
struct view {
    bool deep, even, single, conjugate;
    int64_t stride[3]; // of vectors
    const double *u, *F;
    double *to, *p, *q;
    mg_level level;
    const double *low[3], *high[3], *middle[3], *part[3];
    mg_limits limits;
    mg_progress *now; // nothing is done where now->how is not 0
    mg_sums *partials;
};

// ---- a cell ----

struct cell {
    int at[3];
    int64_t u, level; // its elements in vectors and on the level
};

// Of a body that is not even rows of A have been multiplied by the part inside.
static __device__ double part_of(const view &s, const cell &c) {
    return s.even ? s.part[0][c.at[0]] * s.part[1][c.at[1]] * s.part[2][c.at[2]]
                  : ((const double *)s.level.d)[c.level] > 0;
}

// (A v) of a cell.
static __device__ double product(const view &s, const double *v, const cell &c) {
    double sum = 0, diagonal = 0;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        if (a < 2 || s.deep) {
            const int last = (int)s.level.n[a] - 1, k = c.at[a];
            const int64_t apart = s.stride[a], there = s.level.stride[a];
            const double low = v[c.u + (k > 0 ? -apart : last * apart)];
            const double high = v[c.u + (k < last ? apart : -last * apart)];
            const double *g = (const double *)s.level.g[a] + c.level;
            sum += s.even ? s.low[a][k] * low + s.high[a][k] * high : g[0] * low + g[there] * high;
            diagonal += s.even ? s.middle[a][k] : 0;
        }
    }
    diagonal = s.even ? diagonal : ((const double *)s.level.d)[c.level];
    return diagonal * v[c.u] - sum;
}

static __device__ double number(const view &s, const void *of, const cell &c) {
    return s.single ? (double)((const float *)of)[c.level] : ((const double *)of)[c.level];
}

static __device__ void put(const view &s, void *of, const cell &c, double value) {
    if (s.single) {
        ((float *)of)[c.level] = (float)value;
    } else {
        ((double *)of)[c.level] = value;
    }
}

// ---- what is done in all cells ----

struct divide {
    static __device__ void at(const view &s, const cell &c, mg_sums &) {
        double diagonal = 0;
        for (int a = 0; a < (s.deep ? 3 : 2) && s.even; a++) {
            diagonal += s.middle[a][c.at[a]];
        }
        diagonal = s.even ? diagonal : ((const double *)s.level.d)[c.level];
        put(s, s.level.e, c, diagonal > 0 ? number(s, s.level.f, c) / diagonal : 0);
    }
};

struct apply {
    static __device__ void at(const view &s, const cell &c, mg_sums &sums) {
        const double part = part_of(s, c), p = s.p[c.u];
        s.q[c.u] = product(s, s.p, c);
        sums.v[0] += part * p * s.q[c.u];
        sums.v[1] += part * p * number(s, s.level.f, c);
    }
};

struct dot {
    static __device__ void at(const view &s, const cell &c, mg_sums &sums) {
        sums.v[0] += part_of(s, c) * number(s, s.level.e, c) * s.q[c.u];
    }
};

// By the sum of `dot`.
struct direct {
    static __device__ void at(const view &s, const cell &c, mg_sums &) {
        const double beta = s.now->pq > 0 ? -s.partials->v[0] / s.now->pq : 0;
        s.p[c.u] = number(s, s.level.e, c) + beta * s.p[c.u];
    }
};

// By the sums of `apply`.
struct add {
    static __device__ void at(const view &s, const cell &c, mg_sums &) {
        const double pq = s.partials->v[0];
        const double change = !s.conjugate ? number(s, s.level.e, c)
                              : pq > 0     ? s.partials->v[1] / pq * s.p[c.u]
                                           : 0;
        s.to[c.u] =
            s.u[c.u] + (part_of(s, c) > 0 ? change - (s.limits.volume > 0 ? s.now->mean : 0) : 0);
        if (s.conjugate && c.u == 0) {
            s.now->pq = pq; // which nothing else reads here
        }
    }
};

struct residual {
    static __device__ void at(const view &s, const cell &c, mg_sums &sums) {
        const double part = part_of(s, c), u = s.u[c.u];
        const double r = part > 0 ? s.F[c.u] - product(s, s.u, c) : 0;
        put(s, s.level.f, c, r);
        sums.v[0] += part * r * r;
        sums.v[1] += part * u * u;
        sums.v[2] +=
            part > 0 ? s.part[0][c.at[0]] * s.part[1][c.at[1]] * s.part[2][c.at[2]] * u : 0;
    }
};

template <class WORK, bool SUMS>
__global__ void __launch_bounds__(THREADS) cells_kernel(const __grid_constant__ view s) {
    __shared__ mg_sums of_warp[WARPS];
    mg_sums sums = {};
    if (s.now->how) {
        return;
    }
    cell c = {{(int)(blockIdx.x * THREADS + threadIdx.x), 0, (int)blockIdx.z}, 0, 0};
#pragma unroll 1 // fewer registers
    for (int k = 0; k < ROWS; k++) {
        c.at[1] = blockIdx.y * ROWS + k;
        if (c.at[0] < s.level.n[0] && c.at[1] < s.level.n[1]) {
            c.u = c.at[0] + c.at[1] * s.stride[1] + c.at[2] * s.stride[2];
            c.level = c.at[0] + c.at[1] * s.level.stride[1] + c.at[2] * s.level.stride[2];
            WORK::at(s, c, sums);
        }
    }
    if (SUMS) {
        join_lanes(sums);
        if (threadIdx.x % CUDA_WARP == 0) {
            of_warp[threadIdx.x / CUDA_WARP] = sums;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 1; k < WARPS; k++) {
                join(sums, of_warp[k]);
            }
            s.partials[blockIdx.x + gridDim.x * (blockIdx.y + (int64_t)gridDim.y * blockIdx.z)] =
                sums;
        }
    }
}

// ---- on the host ----

static view view_of(const mg_gpu_solve *g, const double *u, double *to) {
    const mg_solve *solve = g->solve;
    const mg *m = &solve->m;
    view s = {};
    s.deep = m->box.dims == 3;
    s.even = m->box.even;
    s.single = m->box.single;
    s.conjugate = m->box.conjugate;
    s.u = u;
    s.to = to;
    s.F = solve->F;
    s.p = solve->p;
    s.q = solve->q;
    s.level = m->level[0];
    for (int a = 0; a < 3; a++) {
        s.stride[a] = solve->stride[a];
        s.low[a] = m->low[a];
        s.high[a] = m->high[a];
        s.middle[a] = m->middle[a];
        s.part[a] = m->part[a];
    }
    s.limits = solve->limits;
    s.now = g->progress;
    s.partials = g->partials;
    return s;
}

template <class WORK, bool SUMS> static void in_all(const view &s, cudaStream_t stream) {
    const int64_t *n = s.level.n;
    cells_kernel<WORK, SUMS><<<blocks_of(n), THREADS, 0, stream>>>(s);
    if (SUMS) {
        join_all(s.partials, mg_gpu_partials(n), stream);
    }
}

extern "C" cudaError_t mg_gpu_apply(const mg_gpu_solve *g, double *u, double *to) {
    view s = view_of(g, u, to);
    s.p = u;
    s.q = to;
    in_all<apply, true>(s, g->stream);
    return cudaGetLastError();
}

static __global__ void judge_kernel(mg_limits limits, int steps, const mg_sums *sums,
                                    mg_progress *now) {
    if (!now->how) {
        mg_judge(&limits, sums->v, steps, now);
    }
}

extern "C" cudaError_t mg_gpu_residual(const mg_gpu_solve *g, const double *u, int steps) {
    const view s = view_of(g, u, NULL);
    in_all<residual, true>(s, g->stream);
    judge_kernel<<<1, 1, 0, g->stream>>>(s.limits, steps, s.partials, s.now);
    return cudaGetLastError();
}

extern "C" cudaError_t mg_gpu_enqueue(const mg_gpu_solve *g, int how, double omega, const double *u,
                                      double *to) {
    const mg_gpu cycles = {&g->solve->m, g->levels, &g->progress->how, g->stream};
    const view s = view_of(g, u, to);
    if (how == MG_DIVIDE) {
        in_all<divide, false>(s, g->stream);
    } else {
        const cudaError_t code = how == MG_SWEEP ? mg_gpu_sweep(&cycles, omega)
                                                 : mg_gpu_cycle(&cycles, how == MG_FULL_CYCLE);
        if (code != cudaSuccess) {
            return code;
        }
    }
    if (s.conjugate) {
        in_all<dot, true>(s, g->stream);
        in_all<direct, false>(s, g->stream);
        in_all<apply, true>(s, g->stream);
    }
    in_all<add, false>(s, g->stream);
    return mg_gpu_residual(g, to, 1);
}
