// mg_solve.cu -- A u = F by corrections of u: mg_solve.c with a thread for several cells.
//
// Threads go along the last axis, where a cell finds what the one before it has read; other threads
// of the block have read the cells beside it. Sums are made by block, then joined by a fixed tree.
#include "engine/solvers/multigrid/mg_solve_cuda.h"

static __device__ inline void join(mg_sums &a, const mg_sums &b);
static __device__ inline void clear(mg_sums &a);
#include "cuda/query.cuh"

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

// The grid of blocks for `planes` planes, in 3-D for `rows` rows of each. A device takes fewer than
// 2^16 blocks along an axis.
static dim3 blocks_of(int dims, const int64_t n[3], int64_t planes, int64_t rows) {
    const unsigned parts = cuda_shares(planes, mg_device_planes(n));
    const unsigned across = cuda_shares(n[0], wide(dims));
    return dims == 3 ? dim3(across, cuda_shares(rows, MG_DEVICE_ROWS), parts)
                     : dim3(across, parts, 1);
}

extern "C" void mg_gpu_partials(int dims, const int64_t n[3], int64_t partials[3]) {
    const dim3 blocks = blocks_of(dims, n, n[dims - 1], n[1]);
    partials[0] = blocks.x;
    partials[1] = blocks.y;
    partials[2] = blocks.z;
}

// The finest level in an iteration.
struct view {
    bool deep, even, single, conjugate;
    int64_t stride[3]; // of vectors
    const double *u, *F;
    double *to, *p, *q;
    mg_level level;
    mg_cells cells; // that are done: sums of all are made of this rank's own alone
    int stacked;    // blocks of all rows
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
    const int64_t n = s.level.n[a], last = n - 1, apart = s.stride[a], there = s.level.stride[a];
    const int64_t image = k < 0 ? k + n : k < n ? k : k - n; // of planes beside those of a rank
    const bool low = k > 0 || s.level.sides[a], high = k < last || s.level.sides[a];
    c.u_to[a][0] = low ? -apart : last * apart;
    c.u_to[a][1] = high ? apart : -last * apart;
    c.level_to[a][0] = low ? -there : last * there;
    c.level_to[a][1] = high ? there : -last * there;
    c.part[a] = __ldg(s.part[a] + image);
    if (EVEN) {
        c.low[a] = __ldg(s.low[a] + image);
        c.high[a] = __ldg(s.high[a] + image);
        c.middle[a] = __ldg(s.middle[a] + image);
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
        if (s.conjugate && c.u == s.cells.lo[1] * s.stride[1] + s.cells.lo[2] * s.stride[2]) {
            s.now->pq = pq; // which nothing else reads here
        }
    }
};

// What residual<true> stores, in the planes beside this rank's.
struct beside : plain {
    template <class REAL, bool EVEN, int DIMS>
    static __device__ void at(const view &s, const cell &c, mg_sums &) {
        const double u = number<double>(s.u, c.u) + number<REAL>(s.level.e, c.level);
        s.to[c.u] = u - (part_of<EVEN>(s, c) > 0 ? mean_of(s) : 0);
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
        const double size = s.limits.jumps ? u * diagonal_of<EVEN, DIMS>(s, c) : u;
        sums.v[1] += part * size * size;
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
    const int y = DIMS == 3 ? s.cells.lo[1] + (int)blockIdx.y * MG_DEVICE_ROWS + high : 0;
    const int last = DIMS - 1, block = (int)(DIMS == 3 ? blockIdx.z : blockIdx.y);
    const int first = s.cells.lo[last] + block * steps, end = min(first + steps, s.cells.hi[last]);
    cell c;
    if (x < s.level.n[0] && y < (DIMS == 3 ? s.cells.hi[1] : 1)) {
        place<EVEN>(s, 0, x, c);
        place<EVEN>(s, 1, y, c);
        place<EVEN>(s, 2, 0, c);
        const int64_t u = x + y * s.stride[1], level = x + y * s.level.stride[1];
        const auto v_at = [&](int k) {
            const int n = (int)s.level.n[last], most = (int)s.level.own.hi[last];
            const int around = s.level.sides[last] ? min(k, most)
                               : k < 0             ? k + n
                               : k < n             ? k
                                                   : k - n;
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
            const int64_t part =
                s.cells.lo[last] / steps + block; // of the grid along the last axis
            const int64_t row =
                DIMS == 3 ? s.cells.lo[1] / MG_DEVICE_ROWS + blockIdx.y + s.stacked * part : part;
            s.partials[blockIdx.x + gridDim.x * row] = sums;
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
    int64_t partials[3];
    mg_gpu_partials(m->box.dims, m->level[0].n, partials);
    s.stacked = (int)partials[1];
    s.limits = solve->limits;
    s.now = g->progress;
    s.partials = g->partials;
    return s;
}

// In the cells of a patch.
template <class WORK, bool SUMS>
static void in_patch(view s, const sel_patch &patch, cudaStream_t stream) {
    s.cells = mg_cells_of(&patch);
    const int64_t *n = s.level.n;
    const int dims = s.deep ? 3 : 2;
    const auto kernel = s.deep     ? !s.even    ? cells_kernel<WORK, SUMS, double, false, 3>
                                     : s.single ? cells_kernel<WORK, SUMS, float, true, 3>
                                                : cells_kernel<WORK, SUMS, double, true, 3>
                            : !s.even ? cells_kernel<WORK, SUMS, double, false, 2>
                        : s.single ? cells_kernel<WORK, SUMS, float, true, 2>
                                   : cells_kernel<WORK, SUMS, double, true, 2>;
    kernel<<<blocks_of(dims, n, sel_patch_cells(&patch, dims - 1), sel_patch_cells(&patch, 1)),
             THREADS, 0, stream>>>(s, mg_device_planes(n));
}

// In the cells of this rank, and in `more` beside them.
template <class WORK, bool SUMS>
static void in_all(const mg_gpu_solve *g, const view &s, int more) {
    in_patch<WORK, SUMS>(s, mg_patch(&s.level, more), g->stream);
}

// The partials of all ranks; returns how many there are.
template <class WORK> static int64_t partials_of(const mg_gpu_solve *g, const view &s) {
    int64_t partials[3];
    in_all<WORK, true>(g, s, 0);
    if (s.level.divided) {
        g->share_partials((void *)g);
    }
    mg_gpu_partials(s.deep ? 3 : 2, s.level.n, partials);
    return partials[0] * partials[1] * partials[2];
}

// partials[0] = the sums over all cells.
template <class WORK> static void sum_all(const mg_gpu_solve *g, const view &s) {
    join_all(s.partials, partials_of<WORK>(g, s), g->stream);
}

extern "C" cudaError_t mg_gpu_apply(const mg_gpu_solve *g, double *u, double *to) {
    view s = view_of(g, u, to);
    s.p = u;
    s.q = to;
    sum_all<apply>(g, s);
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

template <bool ADDS> static void measure(const mg_gpu_solve *g, const view &s, int steps) {
    int64_t n = partials_of<residual<ADDS>>(g, s);
    const int64_t stride = join_most(s.partials, n, g->stream);
    judge_kernel<<<1, LOOK_JOINED, 0, g->stream>>>(s.limits, steps, s.partials, n, stride, s.now);
}

extern "C" cudaError_t mg_gpu_residual(const mg_gpu_solve *g, const double *u, int steps) {
    measure<false>(g, view_of(g, u, NULL), steps);
    return cudaGetLastError();
}

// The planes and rows of u + e beside this rank's own, which the next residual looks at.
static void add_beside(const mg_gpu_solve *g, const view &s) {
    const mg_level *v = &s.level;
    const int slow = s.deep + 1;
    for (int k = 0; k < 4; k++) {
        const int axis = k / 2 ? slow : 1, end = k % 2;
        sel_patch one = v->own;
        one.lo[axis] = end ? v->own.hi[axis] : v->own.lo[axis] - 1;
        one.hi[axis] = one.lo[axis] + 1;
        if (v->sides[axis] & (end ? MG_ABOVE : MG_BELOW) && (s.deep || k / 2)) {
            in_patch<beside, false>(s, one, g->stream);
        }
    }
}

extern "C" cudaError_t mg_gpu_enqueue(const mg_gpu_solve *g, int how, double omega, const double *u,
                                      double *to) {
    const mg_gpu cycles = {&g->solve->m, g->levels, &g->progress->how, g->stream,
                           g->shared,    g->spread, (void *)g};
    const view s = view_of(g, u, to);
    if (how == MG_DIVIDE) {
        const mg_halo_of f = {0, 1, s.level.f};
        if (s.level.divided) {
            g->spread((void *)g, &f, 1);
        }
        in_all<divide, false>(g, s, 1);
    } else {
        const cudaError_t code = how == MG_SWEEP ? mg_gpu_sweep(&cycles, omega)
                                                 : mg_gpu_cycle(&cycles, how == MG_FULL_CYCLE);
        if (code != cudaSuccess) {
            return code;
        }
    }
    if (s.conjugate) {
        sum_all<dot>(g, s);
        in_all<direct, false>(g, s, 1);
        sum_all<apply>(g, s);
    }
    if (s.conjugate || to == u) {
        in_all<add, false>(g, s, 1);
        return mg_gpu_residual(g, to, 1);
    }
    add_beside(g, s); // by the mean that `measure` changes
    measure<true>(g, s, 1);
    return cudaGetLastError();
}
