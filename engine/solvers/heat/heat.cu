// heat.cu -- one step of sel.heat: first the cells, then the cells on surfaces.
//
// A lane of step_kernel owns COLUMNS cells (16 bytes) of ROWS rows along the slowest axis; in 3-D
// also of MIDDLE rows along y. It loads them (o) and the rows around them (x) at once, so that many
// loads are in flight, and gets the neighbours along x from the lanes beside it. For ROWS = 4:
//
//     2-D   row z + 4   x x x x        3-D   planes          z - 1     z to z + 3   z + 4
//           row z + 3   o o o o              row y + MIDDLE            x x x x
//           row z + 2   o o o o              row y + 1       x x x x   o o o o      x x x x
//           row z + 1   o o o o              row y           x x x x   o o o o      x x x x
//           row z       o o o o              row y - 1                 x x x x
//           row z - 1   x x x x
//
// The surfaces of a uniform body are applied by step_kernel, those of other bodies by touch_kernel.
//
// No operation is contracted except by fma(), so all kernels give a cell the same bits.
#include "engine/solvers/heat/heat_kernels_cuda.h"
#include "cuda/wide.cuh"

enum { THREADS = 128, WARPS = THREADS / CUDA_WARP };

// ---- cells ----

static __device__ __forceinline__ bool at_face(const heat_view &v, int axis, int k) {
    return (k == 0 || k == (int)v.n[axis] - 1) && !(v.periodic >> axis & 1u);
}

// The index of a border cell's b and s in the list of all faces; -1: the cell lies on no face.
static __device__ __forceinline__ int64_t site_of(const heat_gpu_step &s, int x, int y, int z) {
    const int64_t *n = s.view.n, *first = s.sides.first;
    return at_face(s.view, 0, x)                       ? first[x > 0] + y + n[1] * z
           : at_face(s.view, 1, y)                     ? first[2 + (y > 0)] + x + n[0] * z
           : s.view.dims == 3 && at_face(s.view, 2, z) ? first[4 + (z > 0)] + x + n[0] * y
                                                       : -1;
}

// The cells of a lane: ROWS x MIDDLE parts of COLUMNS cells, enough loads in flight with few enough
// registers for many warps. WHOLE: the block has whole multiples of these, and its rows at least
// two lanes; else ROWS = MIDDLE = 1.
template <class REAL, int KIND, int DIMS, bool WHOLE> struct lane_cells {
    static constexpr int COLUMNS = 16 / sizeof(REAL), STRIP = CUDA_WARP * COLUMNS;
    static constexpr int ROWS = !WHOLE ? 1 : KIND == HEAT_VARIED ? 2 : 4;
    static constexpr int MIDDLE = WHOLE && DIMS == 3 && KIND != HEAT_VARIED ? 2 : 1;
    static constexpr int PARTS = ROWS * MIDDLE, BESIDE = DIMS == 3 ? 1 : 0;
    // Blocks per multiprocessor, where the compiler chooses too many registers or too few; 0: its
    // choice.
    static constexpr int BLOCKS = !WHOLE || sizeof(REAL) == 8        ? 0
                                  : DIMS == 3 && KIND == HEAT_VARIED ? 7
                                  : DIMS == 2 && KIND == HEAT_UNEVEN ? 9
                                                                     : 0;

    const heat_gpu_step &s;
    int x, last, y, z;    // first cell; column of the row's last cell, counted from x
    int own_z;            // 2-D: another warp stores the rows before this one
    bool stores, at_side; // at_side: some cell of the warp lies on an x face that has a law. Then
                          // corners are done with the x faces, else with the faces along y and z

    __device__ __forceinline__ int row_y(int part) const {
        return DIMS == 3 ? y + part % MIDDLE : z + part;
    }
    __device__ __forceinline__ int row_z(int part) const {
        return DIMS == 3 ? z + part / MIDDLE : 0;
    }
    __device__ __forceinline__ bool own(int part) const {
        return stores && (DIMS == 3 || z + part >= own_z);
    }
    // The offset of a part from the first cell.
    __device__ __forceinline__ int64_t row(int part) const {
        const heat_view &v = s.view;
        return part / MIDDLE * v.stride[DIMS - 1] + part % MIDDLE * v.stride[1];
    }

    __device__ __forceinline__ REAL touched(int64_t site, REAL here, REAL next) const {
        const REAL *b = (const REAL *)s.sides.numbers + site;
        return heat_touched(here, next, b[0], b[s.sides.sites]);
    }

    // The new values of a part, from its cells c and its neighbours.
    __device__ __forceinline__ void next(int part, const REAL (&c)[COLUMNS], REAL low, REAL high,
                                         const REAL (&south)[COLUMNS], const REAL (&north)[COLUMNS],
                                         const REAL (&below)[COLUMNS], const REAL (&above)[COLUMNS],
                                         REAL (&out)[COLUMNS]) const {
        const heat_view &v = s.view;
        const REAL r[3] = {(REAL)v.r[0], (REAL)v.r[1], (REAL)v.r[2]};
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const REAL t[6] = {j > 0 ? c[j - 1] : low,
                               j == COLUMNS - 1 || j == last ? high : c[j + 1],
                               south[j],
                               north[j],
                               below[j],
                               above[j]};
            REAL g[6] = {}, m = 0, q = 0;
            if (KIND == HEAT_VARIED && j <= last) {
                const int64_t at[3] = {x + j, row_y(part), row_z(part)};
                const int64_t i = heat_place(v.apart, at);
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
    }

    // Applies the surfaces, after all parts are stored: done before, they would keep the parts in
    // registers.
    __device__ __forceinline__ void touch(const REAL *from, REAL *to) const {
        const heat_view &v = s.view;
        if (WHOLE && at_side && (x == 0 || last < COLUMNS)) {
            const int face = x > 0, column = face ? last : 0;
            REAL next[PARTS];
#pragma unroll
            for (int k = 0; k < PARTS; k++) {
                const int64_t at = row(k) + column;
                next[k] =
                    touched(s.sides.first[face] + row_y(k) + v.n[1] * row_z(k), from[at], to[at]);
            }
#pragma unroll
            for (int k = 0; k < PARTS; k++) {
                if (own(k)) {
                    to[row(k) + column] = next[k];
                }
            }
        }
        for (int k = 0; k < PARTS && s.sides.acts; k++) {
            if (WHOLE && !at_face(v, 1, row_y(k)) && !(DIMS == 3 && at_face(v, 2, row_z(k)))) {
                continue;
            }
            for (int j = 0; j < COLUMNS && j <= last; j++) {
                const int64_t at = row(k) + j, site = site_of(s, x + j, row_y(k), row_z(k));
                if (own(k) && site >= 0 && !(at_side && WHOLE && at_face(v, 0, x + j))) {
                    to[at] = touched(site, from[at], to[at]);
                }
            }
        }
    }

    __device__ __forceinline__ void run() {
        const heat_view &v = s.view;
        const int lane = threadIdx.x;
        const int64_t begin = x + (DIMS == 3 ? y * v.stride[1] : 0) + z * v.stride[DIMS - 1];
        const int64_t down = heat_beside(&v, DIMS - 1, z, 0);
        const int64_t up = row(PARTS - MIDDLE) + heat_beside(&v, DIMS - 1, z + ROWS - 1, 1);
        const int64_t south = DIMS == 3 ? heat_beside(&v, 1, y, 0) : 0;
        const int64_t north =
            DIMS == 3 ? row(MIDDLE - 1) + heat_beside(&v, 1, y + MIDDLE - 1, 1) : 0;
        // The neighbours to the left of lane 0 and to the right of the last cell are loaded: by two
        // different lanes, unless a single lane has the whole row.
        const bool at_end = lane == CUDA_WARP - 1 || last < COLUMNS;
        const int before = (int)heat_beside(&v, 0, x, 0);
        const int after = last < COLUMNS ? last + (int)heat_beside(&v, 0, v.n[0] - 1, 1) : COLUMNS;
        const REAL *from = (const REAL *)v.from + begin;
        REAL *to = (REAL *)v.to + begin;
        REAL cell[ROWS + 2][MIDDLE + 2 * BESIDE][COLUMNS], side[PARTS][2];
#pragma unroll
        for (int k = -1; k <= ROWS; k++) {
            const int64_t far = k < 0 ? down : k == ROWS ? up : row(k * MIDDLE);
            const bool inside = k >= 0 && k < ROWS;
#pragma unroll
            for (int m = 0; m < MIDDLE; m++) {
                const REAL *at = from + far + row(m);
                wide_load(at, cell[k + 1][m + BESIDE]);
                if (inside) {
                    REAL(&of)[2] = side[k * MIDDLE + m];
                    of[0] = lane == 0 ? at[before] : WHOLE && at_end ? at[after] : 0;
                    of[1] = WHOLE ? of[0] : at_end ? at[after] : 0;
                }
            }
            if (DIMS == 3 && inside) {
                wide_load(from + far + south, cell[k + 1][0]);
                wide_load(from + far + north, cell[k + 1][MIDDLE + BESIDE]);
            }
        }
        stores = stores && !cuda_is_halted(s.halted, s.clock); // read while the loads are in flight
        REAL out[PARTS][COLUMNS];
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            REAL(&line)[MIDDLE + 2 * BESIDE][COLUMNS] = cell[k / MIDDLE + 1];
            REAL(&below)[COLUMNS] = cell[k / MIDDLE][k % MIDDLE + BESIDE];
            REAL(&above)[COLUMNS] = cell[k / MIDDLE + 2][k % MIDDLE + BESIDE];
            REAL(&c)[COLUMNS] = line[k % MIDDLE + BESIDE];
            const REAL left = lane_before(c[COLUMNS - 1]);
            const REAL right = lane_behind(c[0]);
            next(k, c, lane == 0 ? side[k][0] : left, at_end ? side[k][1] : right,
                 DIMS == 3 ? line[k % MIDDLE] : below,
                 DIMS == 3 ? line[k % MIDDLE + 2 * BESIDE] : above, below, above, out[k]);
        }
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            if (own(k)) {
                wide_store(out[k], to + row(k));
            }
        }
        if (KIND != HEAT_VARIED) {
            touch(from, to);
        }
    }
};

template <class REAL, int KIND, int DIMS, bool WHOLE>
__global__ void __launch_bounds__(THREADS, (lane_cells<REAL, KIND, DIMS, WHOLE>::BLOCKS))
    step_kernel(const __grid_constant__ heat_gpu_step s) {
    typedef lane_cells<REAL, KIND, DIMS, WHOLE> cells;
    const heat_view &v = s.view;
    const int nx = (int)v.n[0], warp = blockIdx.y * WARPS + threadIdx.y;
    const int part = nx - 1 - (nx - 1) % cells::COLUMNS; // the last lane's first cell
    const int strip = blockIdx.x * cells::STRIP;
    const int first = WHOLE && part - cells::COLUMNS < strip ? part - cells::COLUMNS : strip;
    const int own = first + threadIdx.x * cells::COLUMNS,
              x = own < nx ? own : part; // all lanes load
    const int y = DIMS == 3 ? (int)v.low + warp * cells::MIDDLE : 0;
    const int z = (int)v.first + (DIMS == 3 ? blockIdx.z : warp) * cells::ROWS;
    if (z >= v.end || (DIMS == 3 && y >= v.high)) {
        return; // all lanes of the warp do
    }
    const unsigned sides = (blockIdx.x == 0) | (blockIdx.x == gridDim.x - 1) << 1;
    const bool at_side = sides & s.sides.acts;
    const int row = DIMS == 3 ? z : min(z, (int)v.end - cells::ROWS);
    cells lane = {s, x, nx - 1 - x, y, row, z, own >= strip && own < nx, at_side};
    lane.run();
}

template <class REAL> __global__ void touch_kernel(const __grid_constant__ heat_gpu_step s) {
    const int64_t k = s.first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.end || cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    int64_t at[3];
    heat_at(&s.view, s.given.cell[k], at);
    if (!heat_has(&s.view, at)) {
        return;
    }
    const int64_t i = heat_place(s.view.stride, at);
    REAL *to = (REAL *)s.view.to + i;
    *to = heat_touched(((const REAL *)s.view.from)[i], *to, (REAL)s.given.b[k], (REAL)s.given.s[k]);
}

template <class REAL, int KIND, int DIMS, bool WHOLE>
static void launch(const heat_gpu_step &s, cudaStream_t on) {
    typedef lane_cells<REAL, KIND, DIMS, WHOLE> cells;
    const heat_view &v = s.view;
    const int64_t planes = v.end - v.first, rows = v.high - v.low;
    if constexpr (WHOLE) {
        if (v.n[0] <= cells::COLUMNS || planes < cells::ROWS ||
            (DIMS == 3 && (planes % cells::ROWS || rows % cells::MIDDLE))) {
            return launch<REAL, KIND, DIMS, false>(s, on);
        }
    }
    // Planes per block, and per launch, which may have 65535 blocks along an axis.
    const int64_t some = DIMS == 3 ? cells::ROWS : WARPS * cells::ROWS, most = 65535 * some;
    const unsigned strips = cuda_shares(v.n[0], cells::STRIP);
    heat_gpu_step part = s;
    for (int64_t first = v.first; first < v.end; first += most) {
        part.view.first = first;
        part.view.end = v.end - first < most ? v.end : first + most;
        const unsigned high = cuda_shares(part.view.end - first, some);
        const dim3 blocks = DIMS == 3 ? dim3(strips, cuda_shares(rows, WARPS * cells::MIDDLE), high)
                                      : dim3(strips, high);
        step_kernel<REAL, KIND, DIMS, WHOLE><<<blocks, dim3(CUDA_WARP, WARPS), 0, on>>>(part);
    }
}

#define LAUNCHES(REAL, DIMS)                                                        \
    {                                                                               \
        launch<REAL, HEAT_EVEN, DIMS, true>, launch<REAL, HEAT_UNEVEN, DIMS, true>, \
            launch<REAL, HEAT_VARIED, DIMS, true>                                   \
    }

extern "C" cudaError_t heat_gpu_take_step(const heat_gpu_step *s, cudaStream_t on) {
    static void (*const launches[2][2][3])(const heat_gpu_step &, cudaStream_t) = {
        {LAUNCHES(double, 2), LAUNCHES(double, 3)}, {LAUNCHES(float, 2), LAUNCHES(float, 3)}};
    launches[s->view.single][s->view.dims == 3][s->view.kind](*s, on);
    if (s->view.kind == HEAT_VARIED && s->end > s->first) {
        const auto touch = s->view.single ? touch_kernel<float> : touch_kernel<double>;
        touch<<<cuda_shares(s->end - s->first, THREADS), THREADS, 0, on>>>(*s);
    }
    return cudaGetLastError();
}

// ---- surfaces ----

template <class REAL> __global__ void surfaces_kernel(const __grid_constant__ heat_gpu_step s) {
    const int64_t k = s.first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.end) {
        return;
    }
    diffusion_through_all(s.given.site, s.given.value, s.given.reference, s.given.first_site[k],
                          s.given.first_site[k + 1], s.view.dt, &s.given.b[k], &s.given.s[k]);
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
        kernel<<<cuda_shares(step->end - step->first, THREADS), THREADS, 0, stream>>>(*step);
    }
    return cudaGetLastError();
}
