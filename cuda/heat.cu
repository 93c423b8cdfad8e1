// heat.cu -- sel.heat, one step at a time: the cells, those on surfaces, sums.
//
// A lane of step_kernel owns COLUMNS cells (16 bytes) of ROWS rows along the slowest axis, loads
// them and the rows at both ends at once, so that many loads are under way, and gets its neighbours
// along x from the lanes beside it. Rows along y of a 3-D grid come from the cache. The faces of a
// uniform body are done with its cells, the surfaces of other bodies by touch_kernel.
//
// Nothing is contracted but by fma(): all kernels give a cell the same bits.
#include "cuda/heat_traits.cuh"
#include "cuda/machine/look.cuh"
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

// The cells of a lane in a row.
struct lane_cells {
    int x, last;     // the first; the column of the last of the row
    bool west, east; // at the faces of a uniform body: the lane has the first, the last of the row
    bool at_side;    // some lane of the warp has
    bool stores;
};

template <int COLUMNS, int KIND>
static __device__ __forceinline__ lane_cells cells_of(const heat_view &v, int own) {
    lane_cells l;
    l.x = own < v.n[0] ? own : (int)(v.n[0] - 1) / COLUMNS * COLUMNS; // all lanes load
    l.last = (int)v.n[0] - 1 - l.x;
    l.west = KIND != HEAT_VARIED && !(v.periodic & 1u) && own == 0;
    l.east = KIND != HEAT_VARIED && !(v.periodic & 1u) && l.last < COLUMNS;
    l.at_side = KIND != HEAT_VARIED && !(v.periodic & 1u) &&
                (blockIdx.x == 0 || blockIdx.x == gridDim.x - 1);
    l.stores = own < v.n[0];
    return l;
}

// The face of a uniform body's domain that number k along an axis lies at; -1: none.
static __device__ __forceinline__ int face_at(const heat_view &v, int axis, int k) {
    const int last = (int)v.n[axis] - 1;
    return v.periodic >> axis & 1u ? -1 : k == 0 ? 2 * axis : k == last ? 2 * axis + 1 : -1;
}

// T' of a cell with site k of a face.
template <class REAL>
static __device__ __forceinline__ REAL touched(const heat_gpu_sides &sides, int face, int64_t k,
                                               REAL here, REAL next) {
    const REAL *b = (const REAL *)sides.numbers + sides.first[face] + k;
    return heat_traits<REAL>::touched(here, next, b[0], b[sides.sites[face]]);
}

// What the faces of a uniform body do to the cells of row (y, z); a cell at several has its
// surfaces with the first of them.
template <class REAL, int COLUMNS>
static __device__ __forceinline__ void touch_row(const heat_gpu_step &s, const lane_cells &l,
                                                 int face, int y, int z, const REAL (&c)[COLUMNS],
                                                 REAL (&out)[COLUMNS]) {
    const int64_t site = y + z * s.view.n[1];
    const REAL west = l.west ? touched(s.sides, 0, site, c[0], out[0]) : 0;
    REAL end_c = c[0], end = out[0]; // the last cell of the row
#pragma unroll
    for (int j = 1; j < COLUMNS; j++) {
        end_c = j == l.last ? c[j] : end_c;
        end = j == l.last ? out[j] : end;
    }
    end = l.east ? touched(s.sides, 1, site, end_c, end) : 0;
    if (face >= 0) { // with the whole warp
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const int64_t k = l.x + j + s.view.n[0] * (face < 4 ? z : y);
            out[j] = j <= l.last ? touched(s.sides, face, k, c[j], out[j]) : 0;
        }
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        out[j] = l.west && j == 0 ? west : l.east && j == l.last ? end : out[j];
    }
}

// Finishes the new values of row (y, z), stores them and sums up their changes.
template <class REAL, int KIND, int DIMS, int COLUMNS>
static __device__ __forceinline__ void finish_row(const heat_gpu_step &s, const lane_cells &l,
                                                  int y, int z, const REAL (&c)[COLUMNS],
                                                  REAL (&out)[COLUMNS], REAL *to) {
    if (KIND != HEAT_VARIED) {
        const int at_y = face_at(s.view, 1, y);
        const int face = DIMS == 2 || at_y >= 0 ? at_y : face_at(s.view, 2, z);
        if (l.at_side || face >= 0) { // with its whole warp
            touch_row(s, l, face, y, z, c, out);
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

template <class REAL, int KIND, int DIMS, int ROWS>
__global__ void __launch_bounds__(THREADS, DIMS == 3 && KIND != HEAT_VARIED ? 8 : 0)
    step_kernel(const __grid_constant__ heat_gpu_step s) {
    typedef typename heat_traits<REAL>::around around;
    constexpr int COLUMNS = 16 / sizeof(REAL);
    const heat_view &v = s.view;
    const int lane = threadIdx.x, nx = (int)v.n[0];
    const lane_cells l = cells_of<COLUMNS, KIND>(v, (blockIdx.x * CUDA_WARP + lane) * COLUMNS);
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
            const around t = {c[j],
                              j > 0 ? c[j - 1] : low,
                              j == COLUMNS - 1 || j == l.last ? high : c[j + 1],
                              DIMS == 3 ? south[k][j] : row[k][j],
                              DIMS == 3 ? north[k][j] : row[k + 2][j],
                              row[k][j],
                              row[k + 2][j]};
            around g = {};
            REAL m = 0, q = 0;
            if (KIND == HEAT_VARIED && j <= l.last && k < rows) {
                const int64_t at[3] = {l.x + j, yk, zk}, i = heat_place(v.apart, at);
                const REAL *const *of = (const REAL *const *)v.g;
                g = {0,
                     of[0][i],
                     of[0][i + 1],
                     of[1][i],
                     of[1][i + v.apart[1]],
                     DIMS == 3 ? of[2][i] : 0,
                     DIMS == 3 ? of[2][i + v.apart[2]] : 0};
                m = ((const REAL *)v.m)[i];
                q = ((const REAL *)v.q)[i];
            }
            out[j] = heat_traits<REAL>::next(KIND, DIMS, r, &t, &g, m, q);
        }
        if (k < rows && !halted) { // with its whole warp
            finish_row<REAL, KIND, DIMS>(s, l, yk, zk, c, out, to + k * stride);
        }
    }
}

// The face with whose sites the numbers of a border cell stand.
static __device__ int face_of(const heat_view &v, const int64_t at[3]) {
    int axis = 0;
    while ((at[axis] != 0 && at[axis] != v.n[axis] - 1) || v.periodic >> axis & 1u) {
        axis++;
    }
    return 2 * axis + (at[axis] != 0);
}

// Where its b stands; s stands sides.sites[face] behind it.
static __device__ int64_t side_at(const heat_gpu_sides &sides, const heat_view &v,
                                  const int64_t at[3], int face) {
    const int low = face / 2 == 0 ? 1 : 0, high = face / 2 == 2 ? 1 : 2;
    return sides.first[face] + at[low] + v.n[low] * at[high];
}

template <class REAL> __global__ void touch_kernel(const __grid_constant__ heat_gpu_step s) {
    const int64_t k = s.first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.end || cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    const int64_t nx = s.view.n[0], row = s.cell[k] / nx;
    const int64_t at[3] = {s.cell[k] % nx, row % s.view.n[1], row / s.view.n[1]};
    const int64_t i = heat_place(s.view.stride, at);
    REAL *to = (REAL *)s.view.to + i;
    const REAL next =
        heat_traits<REAL>::touched(((const REAL *)s.view.from)[i], *to, (REAL)s.b[k], (REAL)s.s[k]);
    if (s.cell_change) {
        s.cell_change[k] = (double)next - (double)*to;
    }
    *to = next;
}

static unsigned parts(int64_t n, int64_t of) {
    return (unsigned)((n + of - 1) / of);
}

template <class REAL, int KIND, int DIMS>
static void launch_cells(const heat_gpu_step &s, cudaStream_t stream) {
    // Enough loads under way, in as few registers as leave room for many warps.
    constexpr int ROWS = KIND == HEAT_VARIED || DIMS == 3 ? 2 : 4;
    const unsigned strips = parts(s.view.n[0], CUDA_WARP * 16 / sizeof(REAL));
    const int64_t rows = s.view.end - s.view.first;
    const dim3 blocks = DIMS == 3 ? dim3(strips, parts(s.view.n[1], WARPS), parts(rows, ROWS))
                                  : dim3(strips, parts(rows, ROWS * WARPS));
    step_kernel<REAL, KIND, DIMS, ROWS><<<blocks, dim3(CUDA_WARP, WARPS), 0, stream>>>(s);
}

template <class REAL> static void launch_step(const heat_gpu_step &s, cudaStream_t stream) {
    const bool deep = s.view.dims == 3;
    if (s.view.kind == HEAT_EVEN) {
        deep ? launch_cells<REAL, HEAT_EVEN, 3>(s, stream)
             : launch_cells<REAL, HEAT_EVEN, 2>(s, stream);
    } else if (s.view.kind == HEAT_UNEVEN) {
        deep ? launch_cells<REAL, HEAT_UNEVEN, 3>(s, stream)
             : launch_cells<REAL, HEAT_UNEVEN, 2>(s, stream);
    } else {
        deep ? launch_cells<REAL, HEAT_VARIED, 3>(s, stream)
             : launch_cells<REAL, HEAT_VARIED, 2>(s, stream);
        if (s.end > s.first) {
            touch_kernel<REAL><<<parts(s.end - s.first, THREADS), THREADS, 0, stream>>>(s);
        }
    }
}

extern "C" cudaError_t heat_gpu_take_step(const heat_gpu_step *step, cudaStream_t stream) {
    step->view.single ? launch_step<float>(*step, stream) : launch_step<double>(*step, stream);
    return cudaGetLastError();
}

// ---- surfaces ----

// b and s of cells on surfaces, or what enters there.
static __global__ void surfaces_kernel(const __grid_constant__ heat_gpu_step s, bool changes,
                                       double *entering) {
    const int64_t k = s.first + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= s.end) {
        return;
    }
    const int64_t nx = s.view.n[0], row = s.cell[k] / nx;
    const int64_t at[3] = {s.cell[k] % nx, row % s.view.n[1], row / s.view.n[1]};
    if (entering) {
        heat_entering(&s.view, s.site, s.value, s.first_site[k], s.first_site[k + 1], at, changes,
                      entering);
        return;
    }
    cond_surfaces(s.site, s.value, s.first_site[k], s.first_site[k + 1], s.view.dt, &s.b[k],
                  &s.s[k]);
    if (!s.sides.numbers) {
        return;
    }
    const int face = face_of(s.view, at);
    const int64_t to = side_at(s.sides, s.view, at, face), other = to + s.sides.sites[face];
    if (s.view.single) {
        ((float *)s.sides.numbers)[to] = (float)s.b[k];
        ((float *)s.sides.numbers)[other] = (float)s.s[k];
    } else {
        ((double *)s.sides.numbers)[to] = s.b[k];
        ((double *)s.sides.numbers)[other] = s.s[k];
    }
}

extern "C" cudaError_t heat_gpu_surfaces(const heat_gpu_step *step, bool changes, double *entering,
                                         cudaStream_t stream) {
    if (step->end > step->first) {
        surfaces_kernel<<<parts(step->end - step->first, THREADS), THREADS, 0, stream>>>(
            *step, changes, entering);
    }
    return cudaGetLastError();
}

// ---- fields and sums ----

// The grid with the block of a cell.
static __device__ heat_view heat_beneath(const heat_gpu_view &v, const uint32_t at[3],
                                         int64_t place[3]) {
    heat_view heat = v.heat;
    for (int a = 0; a < 3; a++) {
        place[a] = at[a];
    }
    const uint32_t element = (uint32_t)(v.first + heat_place(heat.stride, place));
    heat.from = (const char *)cuda_part(v.from, element) + v.first * (heat.single ? 4 : 8);
    return heat;
}

struct heat_cell {
    typedef heat_gpu_view view;
};

// What look.cuh asks for; field 1 is the flux.
struct temperature : look_of_value<heat_cell> {
    static __device__ int field(const view &v, int which, const uint32_t at[3], double *out) {
        int64_t place[3];
        const heat_view heat = heat_beneath(v, at, place);
        if (which == 0) {
            *out = heat_number(&heat, heat.from, heat_place(heat.stride, place));
            return 1;
        }
        for (int a = 0; a < heat.dims; a++) {
            out[a] = heat_flux(&heat, place, a);
        }
        return heat.dims;
    }

    static __device__ double main(const view &v, const uint32_t at[3], double *u, double *small) {
        field(v, 0, at, u);
        return *small = *u;
    }

    static __device__ double amount(const view &v, const uint32_t at[3]) {
        int64_t place[3];
        const heat_view heat = heat_beneath(v, at, place);
        return heat_amount(&heat, place, v.source);
    }
};

extern "C" const cuda_look *heat_gpu_look() {
    return look_of<temperature>();
}
