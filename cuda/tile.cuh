// tile.cuh -- several steps of a rule in one launch over a small 2-D grid, in shared memory.
//
// A block takes a tile of SIDE x SIDE cells through all steps. What is beyond the tile is not
// known, so that a column and a row at each side of it are lost in each step, but for those at the
// grid's borders; tiles overlap by as many. The rule is that of temporal_blocking.cuh, and so are
// the values.
#ifndef CUDA_TILE_CUH
#define CUDA_TILE_CUH

#include "cuda/temporal_blocking.cuh"

enum { TILE_SIDE = 64, TILE_ROWS = 4 /* of a thread */, TILE_WARPS = TILE_SIDE / TILE_ROWS };

template <class R, int STEPS> struct tile {
    typedef typename R::real real; // as it is stored
    static constexpr int FIELDS = R::FIELDS, OUT = TILE_SIDE - 2 * STEPS;
    typedef real cells[FIELDS][TILE_SIDE][TILE_SIDE];

    const march_grid &g;
    const R &rule;
    int low_x, low_y, i, first; // the tile's first cell; the thread's column and first row in it

    __device__ __forceinline__ void load(cells &to) const {
        const int x = march_around(low_x + i, g.nx, g.periodic_x);
#pragma unroll
        for (int k = 0; k < TILE_ROWS * FIELDS; k++) {
            const int j = first + k % TILE_ROWS, f = k / TILE_ROWS;
            int y = low_y + j < g.end + STEPS ? low_y + j : g.end + STEPS - 1;
            y = g.wraps || !g.periodic_y ? march_around(y, g.ny, g.wraps) : y;
            to[f][j][i] = ((const real *)g.from[f])[(int64_t)y * g.pitch + x];
        }
    }

    __device__ __forceinline__ void store(const cells &from) const {
        const int x = low_x + i;
        if (i < STEPS || i >= STEPS + OUT || x >= g.nx) {
            return;
        }
#pragma unroll
        for (int k = 0; k < TILE_ROWS * FIELDS; k++) {
            const int j = first + k % TILE_ROWS, f = k / TILE_ROWS, y = low_y + j;
            if (j >= STEPS && j < STEPS + OUT && y < g.end) {
                ((real *)g.to[f])[(int64_t)y * g.pitch + x] = from[f][j][i];
            }
        }
    }

    // The sites of the thread's cells at faces.
    __device__ __forceinline__ void load_sites(march_site<real> (&to)[TILE_ROWS]) const {
        const int x = low_x + i;
#pragma unroll
        for (int r = 0; r < TILE_ROWS; r++) {
            const int y = low_y + first + r;
            const march_faces at = faces(x, y);
            if (at.west || at.east) {
                to[r] = rule.site(at.west ? 0 : 1, march_around(y, g.ny, g.periodic_y));
            } else if (at.low || at.high) {
                to[r] = rule.site(at.low ? 2 : 3, march_around(x, g.nx, g.periodic_x));
            }
        }
    }

    __device__ __forceinline__ march_faces faces(int x, int y) const {
        return {x == 0 && !g.periodic_x, x == g.nx - 1 && !g.periodic_x, y == 0 && !g.periodic_y,
                y == g.ny - 1 && !g.periodic_y};
    }

    // The thread's cells; BORDER: some of the tile lie at faces.
    template <bool BORDER>
    __device__ __forceinline__ void step(const cells &from, cells &to,
                                         const march_site<real> (&site)[TILE_ROWS]) const {
        real v[TILE_ROWS + 2][3][FIELDS], out[TILE_ROWS][FIELDS];
        if (i == 0 || i == TILE_SIDE - 1) {
            return;
        }
#pragma unroll
        for (int k = 0; k < (TILE_ROWS + 2) * 3 * FIELDS; k++) {
            const int r = k / (3 * FIELDS), dx = k / FIELDS % 3, f = k % FIELDS;
            const int j = r == 0               ? max(first - 1, 0)
                          : r == TILE_ROWS + 1 ? min(first + TILE_ROWS, TILE_SIDE - 1)
                                               : first + r - 1;
            v[r][dx][f] = from[f][j][i + dx - 1];
        }
#pragma unroll
        for (int r = 0; r < TILE_ROWS; r++) {
            real w[3][3][FIELDS];
#pragma unroll
            for (int k = 0; k < 9 * FIELDS; k++) {
                const int dy = k / (3 * FIELDS), dx = k / FIELDS % 3, f = k % FIELDS;
                w[dy][dx][f] = v[r + dy][dx][f];
            }
            march_faces at = {false, false, false, false};
            if (BORDER) {
                at = faces(low_x + i, low_y + first + r);
            }
            march_next(rule, at, site[r], w, out[r]);
        }
#pragma unroll
        for (int k = 0; k < TILE_ROWS * FIELDS; k++) {
            to[k / TILE_ROWS][first + k % TILE_ROWS][i] = out[k % TILE_ROWS][k / TILE_ROWS];
        }
    }
};

template <class R, int STEPS>
__global__ void __launch_bounds__(TILE_SIDE *TILE_WARPS)
    tile_kernel(const __grid_constant__ march_grid g, const __grid_constant__ R rule) {
    typedef tile<R, STEPS> part;
    extern __shared__ double memory[];
    typename part::cells *cells = (typename part::cells *)memory; // [2]
    const part t = {g,
                    rule,
                    (int)blockIdx.x * part::OUT - STEPS,
                    g.first + (int)blockIdx.y * part::OUT - STEPS,
                    (int)threadIdx.x,
                    (int)threadIdx.y * TILE_ROWS};
    const bool border = (!g.periodic_x && (t.low_x < 0 || t.low_x + TILE_SIDE > g.nx)) ||
                        (!g.periodic_y && (t.low_y < 0 || t.low_y + TILE_SIDE > g.ny));
    march_site<typename R::real> sites[TILE_ROWS] = {};
    t.load(cells[0]);
    if (border) {
        t.load_sites(sites);
    }
    for (int k = 0; k < STEPS; k++) {
        __syncthreads();
        if (border) {
            t.template step<true>(cells[k % 2], cells[1 - k % 2], sites);
        } else {
            t.template step<false>(cells[k % 2], cells[1 - k % 2], sites);
        }
    }
    __syncthreads();
    t.store(cells[STEPS % 2]);
}

template <class R, int STEPS>
static cudaError_t tile_launch(const march_grid &g, const R &rule, cudaStream_t stream) {
    typedef tile<R, STEPS> part;
    const int bytes = 2 * sizeof(typename part::cells);
    const dim3 blocks((g.nx + part::OUT - 1) / part::OUT,
                      (g.end - g.first + part::OUT - 1) / part::OUT);
    cudaFuncSetAttribute(tile_kernel<R, STEPS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    tile_kernel<R, STEPS><<<blocks, dim3(TILE_SIDE, TILE_WARPS), bytes, stream>>>(g, rule);
    return cudaGetLastError();
}

#endif
