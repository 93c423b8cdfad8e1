// heat.cu -- sel.heat, one step at a time: the cells, those on surfaces.
//
// A lane of step_kernel owns COLUMNS cells (16 bytes) of ROWS rows along the slowest axis, loads
// them and the rows at both ends at once, so that many loads are under way, and gets its neighbours
// along x from the lanes beside it. Rows along y of a 3-D grid come from the cache. The faces of a
// uniform body are done with its cells, the surfaces of other bodies by touch_kernel.
//
// Nothing is contracted but by fma(): all kernels give a cell the same bits.
#include "cuda/heat_gpu.h"
#include "cuda/machine/wide.cuh"

enum { THREADS = 128, WARPS = THREADS / CUDA_WARP };

// ---- cells ----

// The element of number p along an axis, -1 <= p <= n; beyond an end what stands for it.
static __device__ __forceinline__ int64_t element(const heat_view &v, int axis, int64_t p) {
    const int64_t last = v.n[axis] - 1;
    return p < 0      ? heat_beside(&v, axis, 0, 0)
           : p > last ? last * v.stride[axis] + heat_beside(&v, axis, last, 1)
                      : p * v.stride[axis];
}

static __device__ __forceinline__ bool at_face(const heat_view &v, int axis, int k) {
    return (k == 0 || k == (int)v.n[axis] - 1) && !(v.periodic >> axis & 1u);
}

// The number of a border cell's b and s among those of all faces; -1: it lies at none.
static __device__ __forceinline__ int64_t site_of(const heat_gpu_step &s, int x, int y, int z) {
    const int64_t *n = s.view.n, *first = s.sides.first;
    return at_face(s.view, 0, x)                       ? first[x > 0] + y + n[1] * z
           : at_face(s.view, 1, y)                     ? first[2 + (y > 0)] + x + n[0] * z
           : s.view.dims == 3 && at_face(s.view, 2, z) ? first[4 + (z > 0)] + x + n[0] * y
                                                       : -1;
}

// The cells of a lane in a row.
struct lane_cells {
    int x, last;          // the first; the column of the last of the row
    bool stores, at_side; // some lane of the warp has a cell at a face along x
};

// Finishes the new values of row (y, z), stores them and sums up their changes.
template <class REAL, int KIND, int DIMS, int COLUMNS>
static __device__ __forceinline__ void finish_row(const heat_gpu_step &s, const lane_cells &l,
                                                  int y, int z, const REAL (&c)[COLUMNS],
                                                  REAL (&out)[COLUMNS], REAL *to) {
    if (KIND != HEAT_VARIED &&
        (l.at_side || at_face(s.view, 1, y) || (DIMS == 3 && at_face(s.view, 2, z)))) {
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const int64_t site = j <= l.last ? site_of(s, l.x + j, y, z) : -1;
            const REAL *b = (const REAL *)s.sides.numbers + site;
            out[j] = site >= 0 ? heat_touched(c[j], out[j], b[0], b[s.sides.sites]) : out[j];
        }
    }
    if (l.stores) {
        wide_store(out, to);
    }
    if (s.row_change) {
        double change = 0;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            change += l.stores && j <= l.last ? (double)out[j] - (double)c[j] : 0;
        }
        for (int apart = CUDA_WARP / 2; apart > 0; apart /= 2) {
            change += __shfl_down_sync(~0u, change, apart);
        }
        if (threadIdx.x == 0) {
            s.row_change[(y + z * s.view.n[1]) * s.strips + blockIdx.x] = change;
        }
    }
}

// Rows of a lane: enough loads under way, in as few registers as leave room for many warps.
static constexpr __host__ __device__ int rows_of(int kind, int dims) {
    return kind == HEAT_VARIED || dims == 3 ? 2 : 4;
}

template <class REAL, int KIND, int DIMS>
__global__ void __launch_bounds__(THREADS, DIMS == 3 && KIND != HEAT_VARIED ? 8 : 0)
    step_kernel(const __grid_constant__ heat_gpu_step s) {
    constexpr int COLUMNS = 16 / sizeof(REAL), ROWS = rows_of(KIND, DIMS);
    const heat_view &v = s.view;
    const int lane = threadIdx.x, nx = (int)v.n[0];
    const int own = (blockIdx.x * CUDA_WARP + lane) * COLUMNS; // all lanes load
    const int x = own < nx ? own : (nx - 1) / COLUMNS * COLUMNS;
    const bool at_side = (blockIdx.x == 0 || blockIdx.x == gridDim.x - 1) && !(v.periodic & 1u);
    const lane_cells l = {x, nx - 1 - x, own < nx, at_side};
    const int y = DIMS == 3 ? blockIdx.y * WARPS + threadIdx.y : 0;
    const int first =
        (int)v.first + (DIMS == 3 ? blockIdx.z : blockIdx.y * WARPS + threadIdx.y) * ROWS;
    if (first >= v.end || (DIMS == 3 && y >= v.n[1])) {
        return; // with its whole warp
    }
    const int rows = v.end - first < ROWS ? (int)v.end - first : ROWS;
    const bool inside = first > 0 && first + ROWS <= v.end && first + ROWS < v.n[DIMS - 1];
    const int64_t stride = v.stride[DIMS - 1];
    const REAL r[3] = {(REAL)v.r[0], (REAL)v.r[1], (REAL)v.r[2]};
    const int64_t begin = (DIMS == 3 ? y * v.stride[1] : 0) + l.x + first * stride;
    const REAL *from = (const REAL *)v.from + begin;
    REAL *to = (REAL *)v.to + begin;
    REAL row[ROWS + 2][COLUMNS], south[ROWS][COLUMNS], north[ROWS][COLUMNS], w[ROWS], e[ROWS];
    const bool halted = cuda_is_halted(s.halted, s.clock);
#pragma unroll
    for (int k = 0; k < ROWS + 2; k++) {
        const REAL *at = from + (k - 1) * stride;
        if (!inside) {
            const int p = first + k - 1 < v.end ? first + k - 1 : (int)v.end;
            at = from - first * stride + element(v, DIMS - 1, p);
        }
        wide_load(at, row[k]);
    }
    const int below = DIMS == 3 ? (int)heat_beside(&v, 1, y, 0) : 0;
    const int above = DIMS == 3 ? (int)heat_beside(&v, 1, y, 1) : 0;
    // To the left of the first lane's cells, to the right of the last cell.
    const bool at_end = l.last < COLUMNS || lane == CUDA_WARP - 1;
    const int beside = (int)heat_beside(&v, 0, l.x, 0);
    const int after = l.last < COLUMNS ? l.last + (int)heat_beside(&v, 0, nx - 1, 1) : COLUMNS;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const REAL *at = from + (k < rows ? k : 0) * stride;
        if (DIMS == 3) {
            wide_load(at + below, south[k]);
            wide_load(at + above, north[k]);
        }
        w[k] = lane == 0 ? at[beside] : 0;
        e[k] = at_end ? at[after] : 0;
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const REAL(&c)[COLUMNS] = row[k + 1];
        const REAL before = __shfl_up_sync(~0u, c[COLUMNS - 1], 1);
        const REAL behind = __shfl_down_sync(~0u, c[0], 1);
        const REAL low = lane == 0 ? w[k] : before, high = at_end ? e[k] : behind;
        const int yk = DIMS == 3 ? y : first + k, zk = DIMS == 3 ? first + k : 0;
        REAL out[COLUMNS];
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const REAL t[6] = {j > 0 ? c[j - 1] : low,
                               j == COLUMNS - 1 || j == l.last ? high : c[j + 1],
                               DIMS == 3 ? south[k][j] : row[k][j],
                               DIMS == 3 ? north[k][j] : row[k + 2][j],
                               row[k][j],
                               row[k + 2][j]};
            REAL g[6] = {}, m = 0, q = 0;
            if (KIND == HEAT_VARIED && j <= l.last && k < rows) {
                const int64_t at[3] = {l.x + j, yk, zk}, i = heat_place(v.apart, at);
                const REAL *const *of = (const REAL *const *)v.g;
#pragma unroll
                for (int a = 0; a < DIMS; a++) {
                    g[2 * a] = of[a][i];
                    g[2 * a + 1] = of[a][i + v.apart[a]];
                }
                m = ((const REAL *)v.m)[i];
                q = ((const REAL *)v.q)[i];
            }
            out[j] = heat_next(KIND, DIMS, r, c[j], t, g, m, q);
        }
        if (k < rows && !halted) { // with its whole warp
            finish_row<REAL, KIND, DIMS>(s, l, yk, zk, c, out, to + k * stride);
        }
    }
}

template <class REAL> __global__ void touch_kernel(const __grid_constant__ heat_gpu_step s) {
    const int64_t k = s.first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.end || cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    int64_t at[3];
    heat_at(&s.view, s.given.cell[k], at);
    const int64_t i = heat_place(s.view.stride, at);
    REAL *to = (REAL *)s.view.to + i;
    const REAL next =
        heat_touched(((const REAL *)s.view.from)[i], *to, (REAL)s.given.b[k], (REAL)s.given.s[k]);
    if (s.cell_change) {
        s.cell_change[k] = (double)next - (double)*to;
    }
    *to = next;
}

static unsigned parts(int64_t n, int64_t of) {
    return (unsigned)((n + of - 1) / of);
}

template <class REAL, int DIMS> static void launch_cells(const heat_gpu_step &s, cudaStream_t on) {
    static void (*const kernels[])(heat_gpu_step) = {step_kernel<REAL, HEAT_EVEN, DIMS>,
                                                     step_kernel<REAL, HEAT_UNEVEN, DIMS>,
                                                     step_kernel<REAL, HEAT_VARIED, DIMS>};
    const unsigned strips = parts(s.view.n[0], CUDA_WARP * 16 / sizeof(REAL));
    const unsigned high = parts(s.view.end - s.view.first, rows_of(s.view.kind, DIMS));
    const dim3 blocks = DIMS == 3 ? dim3(strips, parts(s.view.n[1], WARPS), high)
                                  : dim3(strips, parts(high, WARPS));
    kernels[s.view.kind]<<<blocks, dim3(CUDA_WARP, WARPS), 0, on>>>(s);
    if (s.view.kind == HEAT_VARIED && s.end > s.first) {
        touch_kernel<REAL><<<parts(s.end - s.first, THREADS), THREADS, 0, on>>>(s);
    }
}

extern "C" cudaError_t heat_gpu_take_step(const heat_gpu_step *step, cudaStream_t on) {
    static void (*const launches[2][2])(const heat_gpu_step &, cudaStream_t) = {
        {launch_cells<double, 2>, launch_cells<double, 3>},
        {launch_cells<float, 2>, launch_cells<float, 3>}};
    launches[step->view.single][step->view.dims - 2](*step, on);
    return cudaGetLastError();
}

// ---- surfaces ----

template <class REAL> __global__ void surfaces_kernel(const __grid_constant__ heat_gpu_step s) {
    const int64_t k = s.first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.end) {
        return;
    }
    cond_surfaces(s.given.site, s.given.value, s.given.first_site[k], s.given.first_site[k + 1],
                  s.view.dt, &s.given.b[k], &s.given.s[k]);
    if (s.sides.numbers) {
        int64_t at[3];
        heat_at(&s.view, s.given.cell[k], at);
        REAL *to = (REAL *)s.sides.numbers + site_of(s, (int)at[0], (int)at[1], (int)at[2]);
        to[0] = (REAL)s.given.b[k];
        to[s.sides.sites] = (REAL)s.given.s[k];
    }
}

extern "C" cudaError_t heat_gpu_surfaces(const heat_gpu_step *step, cudaStream_t stream) {
    if (step->end > step->first) {
        const auto kernel = step->view.single ? surfaces_kernel<float> : surfaces_kernel<double>;
        kernel<<<parts(step->end - step->first, THREADS), THREADS, 0, stream>>>(*step);
    }
    return cudaGetLastError();
}
