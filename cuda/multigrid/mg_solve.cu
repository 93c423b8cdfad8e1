// mg_solve.cu -- A u = F by corrections of u: mg_solve.c with a thread for several cells.
//
// Threads go along the last axis, where a cell finds what the one before it has read; other threads
// of the block have read the cells beside it. Sums are made by block, then joined by a fixed tree.
#include "cuda/multigrid/mg_solve.h"

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

enum { THREADS = 256, WARPS = THREADS / CUDA_WARP };
// What a block of threads does: threads along x, and along y in 3-D; cells one after the other
// along the last axis.
static __host__ __device__ constexpr int wide(int dims) {
    return dims == 3 ? (int)CUDA_WARP : (int)THREADS;
}

// A device takes fewer than 2^16 blocks along an axis.
static int deep(const int64_t n[3]) {
    const bool large = n[0] * n[1] * n[2] > 1 << 22, tall = n[1] >= 1 << 18 || n[2] >= 1 << 18;
    return large || tall ? 32 : 4;
}

static dim3 blocks_of(int dims, const int64_t n[3]) {
    const int64_t x = wide(dims), y = dims == 3 ? THREADS / x : deep(n),
                  z = dims == 3 ? deep(n) : 1;
    return dim3((unsigned)((n[0] + x - 1) / x), (unsigned)((n[1] + y - 1) / y),
                (unsigned)((n[2] + z - 1) / z));
}

extern "C" int64_t mg_gpu_partials(int dims, const int64_t n[3]) {
    const dim3 blocks = blocks_of(dims, n);
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

// Its elements in vectors and on the level, those of its neighbours (around periodic axes; beyond
// others they do not count) from there on, what of even bodies the tables say of it, and for the
// product with A the values from the cell before it along the last axis to the one behind.
struct cell {
    int64_t u, level, u_to[3][2], level_to[3][2];
    double low[3], high[3], middle[3], part[3], v[3], F;
};

// Puts it at k along an axis.
template <bool EVEN>
static __device__ __forceinline__ void place(const view &s, int a, int k, cell &c) {
    const int64_t last = s.level.n[a] - 1, apart = s.stride[a], there = s.level.stride[a];
    c.u_to[a][0] = k > 0 ? -apart : last * apart;
    c.u_to[a][1] = k < last ? apart : -last * apart;
    c.level_to[a][0] = k > 0 ? -there : last * there;
    c.level_to[a][1] = k < last ? there : -last * there;
    c.part[a] = __ldg(s.part[a] + k);
    if (EVEN) {
        c.low[a] = __ldg(s.low[a] + k);
        c.high[a] = __ldg(s.high[a] + k);
        c.middle[a] = __ldg(s.middle[a] + k);
    }
}

// The part of a cell that is inside. Rows of A of bodies that are not even include it: 1, or 0.
template <bool EVEN>
static __device__ __forceinline__ double part_of(const view &s, const cell &c) {
    return EVEN ? c.part[0] * c.part[1] * c.part[2] : ((const double *)s.level.d)[c.level] > 0;
}

template <bool EVEN, int DIMS>
static __device__ __forceinline__ double diagonal_of(const view &s, const cell &c) {
    return !EVEN ? ((const double *)s.level.d)[c.level]
                 : c.middle[0] + c.middle[1] + (DIMS == 3 ? c.middle[2] : 0);
}

template <class REAL>
static __device__ __forceinline__ double number(const void *of, int64_t element, int64_t from = 0) {
    return (double)__ldg((const REAL *)of + from + element);
}

// (A v) of a cell.
template <class WORK, class REAL, bool EVEN, int DIMS>
static __device__ __forceinline__ double product(const view &s, const cell &c) {
    double sum = 0;
#pragma unroll
    for (int a = 0; a < DIMS; a++) {
        const double *g = (const double *)s.level.g[a] + c.level;
        const double k[2] = {EVEN ? c.low[a] : g[0], EVEN ? c.high[a] : g[s.level.stride[a]]};
        double beside[2] = {c.v[0], c.v[2]};
#pragma unroll
        for (int end = 0; end < 2 && a + 1 < DIMS; end++) {
            beside[end] =
                WORK::template v<REAL>(s, c.u_to[a][end], c.u, c.level_to[a][end], c.level);
        }
        sum += k[0] * beside[0] + k[1] * beside[1];
    }
    return diagonal_of<EVEN, DIMS>(s, c) * c.v[1] - sum;
}

// What is taken off a potential that is known but for a constant.
static __device__ __forceinline__ double mean_of(const view &s) {
    return s.limits.volume > 0 ? s.now->mean : 0;
}

// ---- what is done in all cells ----

// Work that takes no product with A.
struct plain {
    template <class REAL>
    static __device__ double v(const view &, int64_t, int64_t, int64_t, int64_t) {
        return 0;
    }

    static __device__ double F(const view &, int64_t) { return 0; }
};

struct divide : plain {
    template <class REAL, bool EVEN, int DIMS>
    static __device__ void at(const view &s, const cell &c, mg_sums &) {
        const double diagonal = diagonal_of<EVEN, DIMS>(s, c);
        ((REAL *)s.level.e)[c.level] =
            (REAL)(diagonal > 0 ? number<REAL>(s.level.f, c.level) / diagonal : 0);
    }
};

struct apply {
    template <class REAL>
    static __device__ double v(const view &s, int64_t from, int64_t u, int64_t, int64_t) {
        return number<double>(s.p, u, from);
    }

    static __device__ double F(const view &, int64_t) { return 0; }

    template <class REAL, bool EVEN, int DIMS>
    static __device__ void at(const view &s, const cell &c, mg_sums &sums) {
        const double q = product<apply, REAL, EVEN, DIMS>(s, c), part = part_of<EVEN>(s, c);
        s.q[c.u] = q;
        sums.v[0] += part * c.v[1] * q;
        sums.v[1] += part * c.v[1] * number<REAL>(s.level.f, c.level);
    }
};

struct dot : plain {
    template <class REAL, bool EVEN, int DIMS>
    static __device__ void at(const view &s, const cell &c, mg_sums &sums) {
        sums.v[0] += part_of<EVEN>(s, c) * number<REAL>(s.level.e, c.level) * s.q[c.u];
    }
};

// Makes the next direction, by the sum of `dot`.
struct direct : plain {
    template <class REAL, bool EVEN, int DIMS>
    static __device__ void at(const view &s, const cell &c, mg_sums &) {
        const double beta = s.now->pq > 0 ? -s.partials->v[0] / s.now->pq : 0;
        s.p[c.u] = number<REAL>(s.level.e, c.level) + beta * s.p[c.u];
    }
};

// Adds e, or the part of p that the sums of `apply` say.
struct add : plain {
    template <class REAL, bool EVEN, int DIMS>
    static __device__ void at(const view &s, const cell &c, mg_sums &) {
        const double pq = s.partials->v[0];
        const double change = !s.conjugate ? number<REAL>(s.level.e, c.level)
                              : pq > 0     ? s.partials->v[1] / pq * s.p[c.u]
                                           : 0;
        s.to[c.u] = s.u[c.u] + (part_of<EVEN>(s, c) > 0 ? change - mean_of(s) : 0);
        if (s.conjugate && c.u == 0) {
            s.now->pq = pq; // which nothing else reads here
        }
    }
};

// The residual of u; with ADDS that of u + e, which is stored.
template <bool ADDS> struct residual {
    template <class REAL>
    static __device__ double v(const view &s, int64_t u_from, int64_t u, int64_t level_from,
                               int64_t level) {
        return number<double>(s.u, u, u_from) +
               (ADDS ? number<REAL>(s.level.e, level, level_from) : 0);
    }

    static __device__ double F(const view &s, int64_t u) { return number<double>(s.F, u); }

    template <class REAL, bool EVEN, int DIMS>
    static __device__ void at(const view &s, const cell &c, mg_sums &sums) {
        const double part = part_of<EVEN>(s, c), Av = product<residual, REAL, EVEN, DIMS>(s, c);
        const double r = part > 0 ? c.F - Av : 0;
        const double u = c.v[1] - (ADDS && part > 0 ? mean_of(s) : 0); // which does not change A v
        if (ADDS) {
            s.to[c.u] = u;
        }
        ((REAL *)s.level.f)[c.level] = (REAL)r;
        sums.v[0] += part * r * r;
        sums.v[1] += part * u * u;
        sums.v[2] += part > 0 ? c.part[0] * c.part[1] * c.part[2] * u : 0;
    }
};

template <class WORK, bool SUMS, class REAL, bool EVEN, int DIMS>
__global__ void __launch_bounds__(THREADS, 2)
    cells_kernel(const __grid_constant__ view s, int steps) {
    __shared__ mg_sums of_warp[WARPS];
    mg_sums sums = {};
    if (s.now->how) {
        return;
    }
    const int across = (int)threadIdx.x % wide(DIMS), high = (int)threadIdx.x / wide(DIMS);
    const int x = (int)blockIdx.x * wide(DIMS) + across;
    const int y = DIMS == 3 ? (int)blockIdx.y * (THREADS / wide(DIMS)) + high : 0;
    const int last = DIMS - 1, first = (int)(DIMS == 3 ? blockIdx.z : blockIdx.y) * steps;
    const int end = min(first + steps, (int)s.level.n[last]);
    cell c;
    if (x < s.level.n[0] && y < s.level.n[1]) {
        place<EVEN>(s, 0, x, c);
        place<EVEN>(s, 1, y, c);
        place<EVEN>(s, 2, 0, c);
        const int64_t u = x + y * s.stride[1], level = x + y * s.level.stride[1];
        const auto v_at = [&](int k) {
            const int64_t n = s.level.n[last], around = k < 0 ? k + n : k < n ? k : k - n;
            return WORK::template v<REAL>(s, u, around * s.stride[last], level,
                                          around * s.level.stride[last]);
        };
        const auto F_at = [&](int k) { return WORK::F(s, u + min(k, end - 1) * s.stride[last]); };
        double v[4] = {0, v_at(first - 1), v_at(first), v_at(first + 1)}, F = F_at(first);
#pragma unroll 2
        for (int k = first; k < end; k++) {
            place<EVEN>(s, last, k, c);
            c.v[0] = v[1];
            c.v[1] = v[2];
            c.v[2] = v[3];
            c.F = F;
            c.u = u + k * s.stride[last];
            c.level = level + k * s.level.stride[last];
            v[1] = v[2];
            v[2] = v[3];
            v[3] = v_at(k + 2); // which the next cell waits for
            F = F_at(k + 1);
            WORK::template at<REAL, EVEN, DIMS>(s, c, sums);
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
    const int dims = s.deep ? 3 : 2;
    const auto kernel = s.deep     ? !s.even    ? cells_kernel<WORK, SUMS, double, false, 3>
                                     : s.single ? cells_kernel<WORK, SUMS, float, true, 3>
                                                : cells_kernel<WORK, SUMS, double, true, 3>
                            : !s.even ? cells_kernel<WORK, SUMS, double, false, 2>
                        : s.single ? cells_kernel<WORK, SUMS, float, true, 2>
                                   : cells_kernel<WORK, SUMS, double, true, 2>;
    kernel<<<blocks_of(dims, n), THREADS, 0, stream>>>(s, deep(n));
}

// partials[0] = the sums over all cells.
template <class WORK> static void sum_all(const view &s, cudaStream_t stream) {
    in_all<WORK, true>(s, stream);
    join_all(s.partials, mg_gpu_partials(s.deep ? 3 : 2, s.level.n), stream);
}

extern "C" cudaError_t mg_gpu_apply(const mg_gpu_solve *g, double *u, double *to) {
    view s = view_of(g, u, to);
    s.p = u;
    s.q = to;
    sum_all<apply>(s, g->stream);
    return cudaGetLastError();
}

// Joins the last n partials, and judges.
static __global__ void __launch_bounds__(LOOK_JOINED)
    judge_kernel(mg_limits limits, int steps, mg_sums *partials, int64_t n, int64_t stride,
                 mg_progress *now) {
    if (!now->how) {
        join_block(partials, n, stride);
        if (threadIdx.x == 0) {
            mg_judge(&limits, partials->v, steps, now);
        }
    }
}

template <bool ADDS> static void measure(const view &s, int steps, cudaStream_t stream) {
    int64_t n = mg_gpu_partials(s.deep ? 3 : 2, s.level.n);
    in_all<residual<ADDS>, true>(s, stream);
    const int64_t stride = join_most(s.partials, n, stream);
    judge_kernel<<<1, LOOK_JOINED, 0, stream>>>(s.limits, steps, s.partials, n, stride, s.now);
}

extern "C" cudaError_t mg_gpu_residual(const mg_gpu_solve *g, const double *u, int steps) {
    measure<false>(view_of(g, u, NULL), steps, g->stream);
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
        sum_all<dot>(s, g->stream);
        in_all<direct, false>(s, g->stream);
        sum_all<apply>(s, g->stream);
    }
    if (s.conjugate || to == u) {
        in_all<add, false>(s, g->stream);
        return mg_gpu_residual(g, to, 1);
    }
    measure<true>(s, 1, g->stream);
    return cudaGetLastError();
}
