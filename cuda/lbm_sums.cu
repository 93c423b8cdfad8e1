// lbm_sums.cu -- reductions over cells and links, in f64 and always in the same order.
//
// A warp adds up one row: its lanes take every 32nd cell, then join by a fixed tree. One block
// joins the rows by a fixed tree over their numbers. So a sum does not depend on which block ran
// when.
#include "cuda/lbm_view.cuh"

enum { THREADS = 128, JOINERS = 1024, ROWS_PER_BLOCK = THREADS / LBM_WARP };

static __device__ void join(lbm_gpu_sums &a, const lbm_gpu_sums &b) {
    for (int c = 0; c < LBM_GPU_PARTS; c++) {
        a.sum[c] += b.sum[c];
        a.squares[c] += b.squares[c];
        a.least[c] = fmin(a.least[c], b.least[c]);
        a.most[c] = fmax(a.most[c], b.most[c]);
    }
    a.count += b.count;
}

static __device__ void clear(lbm_gpu_sums &a) {
    for (int c = 0; c < LBM_GPU_PARTS; c++) {
        a.sum[c] = a.squares[c] = 0;
        a.least[c] = HUGE_VAL;
        a.most[c] = -HUGE_VAL;
    }
    a.count = 0;
}

static __device__ void join(lbm_gpu_monitor &a, const lbm_gpu_monitor &b) {
    a.change += b.change;
    a.magnitude += b.magnitude;
    a.mass += b.mass;
    sel_watch_join(&a.watched, &b.watched);
}

static __device__ void clear(lbm_gpu_monitor &a) {
    a.change = a.magnitude = a.mass = 0;
    sel_watch_none(&a.watched);
}

static __device__ void join(lbm_gpu_carried &a, const lbm_gpu_carried &b) {
    for (int k = 0; k < 3; k++) {
        a.force[k] += b.force[k];
        a.torque[k] += b.torque[k];
    }
    a.mass += b.mass;
}

static __device__ void clear(lbm_gpu_carried &a) {
    for (int k = 0; k < 3; k++) {
        a.force[k] = a.torque[k] = 0;
    }
    a.mass = 0;
}

// The join of a value over the lanes of a warp, in lane 0.
template <class S> static __device__ void join_lanes(S &value) {
    static_assert(sizeof(S) % sizeof(double) == 0, "made of 8-byte numbers");
    for (int distance = LBM_WARP / 2; distance > 0; distance /= 2) {
        S other;
        double *to = (double *)&other;
        const double *from = (const double *)&value;
        for (size_t k = 0; k < sizeof(S) / sizeof(double); k++) {
            to[k] = __shfl_down_sync(0xffffffffu, from[k], distance);
        }
        join(value, other);
    }
}

// partials[0] = the join of all, by one block.
template <class S> __global__ void __launch_bounds__(JOINERS) join_kernel(S *partials, int64_t n) {
    S value;
    clear(value);
    const int64_t share = (n + JOINERS - 1) / JOINERS, first = threadIdx.x * share;
    for (int64_t k = first; k < first + share && k < n; k++) {
        join(value, partials[k]);
    }
    __shared__ double room[JOINERS / LBM_WARP][sizeof(S) / sizeof(double)];
    join_lanes(value);
    if (threadIdx.x % LBM_WARP == 0) {
        *(S *)room[threadIdx.x / LBM_WARP] = value;
    }
    __syncthreads();
    if (threadIdx.x < LBM_WARP) {
        value = *(const S *)room[threadIdx.x];
        join_lanes(value);
        if (threadIdx.x == 0) {
            partials[0] = value;
        }
    }
}

template <class S> static cudaError_t join_all(S *partials, int64_t n, cudaStream_t stream) {
    cudaError_t code = cudaGetLastError();
    if (code == cudaSuccess) {
        join_kernel<S><<<1, JOINERS, 0, stream>>>(partials, n);
        code = cudaGetLastError();
    }
    return code;
}

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    reduce_kernel(const __grid_constant__ lbm_gpu_view v, int field,
                  const __grid_constant__ cuda_cells cells, lbm_gpu_sums *partials) {
    const uint32_t row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / LBM_WARP;
    if (row >= cells.count[1] * cells.count[2]) {
        return;
    }
    uint32_t at[3];
    at[1] = cells.first[1] + row % cells.count[1] * cells.stride[1];
    at[2] = cells.first[2] + row / cells.count[1] * cells.stride[2];
    lbm_gpu_sums mine;
    clear(mine);
    for (uint32_t i = threadIdx.x % LBM_WARP; i < cells.count[0]; i += LBM_WARP) {
        at[0] = cells.first[0] + i * cells.stride[0];
        if (lbm_look<T, D>::is_solid(v, at[0], at[1], at[2])) {
            continue;
        }
        double value[LBM_GPU_PARTS];
        const int count = lbm_look<T, D>::field(v, field, at, value);
#pragma unroll
        for (int c = 0; c < LBM_GPU_PARTS; c++) {
            if (c < count) {
                mine.sum[c] += value[c];
                mine.squares[c] += value[c] * value[c];
                mine.least[c] = fmin(mine.least[c], value[c]);
                mine.most[c] = fmax(mine.most[c], value[c]);
            }
        }
        mine.count++;
    }
    join_lanes(mine);
    if (threadIdx.x % LBM_WARP == 0) {
        partials[row] = mine;
    }
}

template <class T, class D>
static cudaError_t reduce(const lbm_gpu_view *v, int field, const cuda_cells *cells,
                          lbm_gpu_sums *partials, cudaStream_t stream) {
    const uint32_t rows = cells->count[1] * cells->count[2];
    reduce_kernel<T, D><<<(rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, THREADS, 0, stream>>>(
        *v, field, *cells, partials);
    return join_all(partials, rows, stream);
}

extern "C" cudaError_t lbm_gpu_reduce(const lbm_gpu_view *view, int field, const cuda_cells *cells,
                                      lbm_gpu_sums *partials, cudaStream_t stream) {
    return LBM_DISPATCH(view->last, reduce, view, field, cells, partials, stream);
}

template <class T, class D>
__global__ void __launch_bounds__(THREADS)
    watch_kernel(const __grid_constant__ lbm_gpu_view v, typename T::real *before,
                 lbm_gpu_monitor *partials) {
    typedef typename T::real real;
    const lbm_gpu_layout &l = v.last.layout;
    const uint32_t row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / LBM_WARP;
    if (row >= l.ny * l.nz) {
        return;
    }
    const uint32_t y = row % l.ny, z = row / l.ny;
    const int64_t cells = (int64_t)l.slice * l.nz;
    lbm_gpu_monitor mine;
    clear(mine);
    for (uint32_t x = threadIdx.x % LBM_WARP; x < l.nx; x += LBM_WARP) {
        if (lbm_look<T, D>::is_solid(v, x, y, z)) {
            continue;
        }
        const uint32_t index = lbm_look<T, D>::index_of(l, x, y, z);
        double u[D::dims], square = 0;
        const double drho = lbm_look<T, D>::velocity(v, index, u);
#pragma unroll
        for (int a = 0; a < D::dims; a++) {
            square += u[a] * u[a];
        }
        mine.mass += drho;
        const double number = (double)((int64_t)row * l.nx + x);
        if (sel_watch(&mine.watched, number, square, drho) && before) {
#pragma unroll
            for (int a = 0; a < D::dims; a++) {
                real *last = before + a * cells + index;
                const double du = u[a] - (double)*last;
                *last = (real)u[a];
                mine.change += du * du;
            }
            mine.magnitude += square;
        }
    }
    join_lanes(mine);
    if (threadIdx.x % LBM_WARP == 0) {
        partials[row] = mine;
    }
}

template <class T, class D>
static cudaError_t watch(const lbm_gpu_view *v, void *before, lbm_gpu_monitor *partials,
                         cudaStream_t stream) {
    const uint32_t rows = v->last.layout.ny * v->last.layout.nz;
    watch_kernel<T, D><<<(rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, THREADS, 0, stream>>>(
        *v, (typename T::real *)before, partials);
    return join_all(partials, rows, stream);
}

extern "C" cudaError_t lbm_gpu_watch(const lbm_gpu_view *view, void *before,
                                     lbm_gpu_monitor *partials, cudaStream_t stream) {
    return LBM_DISPATCH(view->last, watch, view, before, partials, stream);
}

// Adds the link along direction i; torque about `centre` in cells, from the middle of the link.
static __device__ void add_link(lbm_gpu_carried &sum, const int e[3], double out, double in,
                                const double at[3], const double centre[3]) {
    double arm[3], force[3];
    for (int a = 0; a < 3; a++) {
        arm[a] = at[a] - 0.5 * e[a] - centre[a];
        force[a] = -e[a] * (out + in);
        sum.force[a] += force[a];
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        sum.torque[a] += arm[b] * force[c] - arm[c] * force[b];
    }
    sum.mass += out - in;
}

// The links of one lattice written out. Included per lattice, because the directions are macros.
#define LBM_DIMS 2
#include "engine/physics/lbm_lattice.h"
struct d2q9_links {
#include "cuda/lbm_links.cuh"
};
#undef LBM_DIMS
#define LBM_DIMS 3
#include "engine/physics/lbm_lattice.h"
struct d3q19_links {
#include "cuda/lbm_links.cuh"
};
#undef LBM_DIMS

template <class T, class L>
__global__ void __launch_bounds__(THREADS)
    links_kernel(const __grid_constant__ lbm_gpu_view v, int region, double cx, double cy,
                 double cz, lbm_gpu_carried *partials) {
    const lbm_gpu_step &s = v.last;
    const double centre[3] = {cx, cy, cz};
    lbm_gpu_carried mine;
    clear(mine);
    const uint32_t share = (s.boundary.cell_count + gridDim.x - 1) / gridDim.x;
    const uint32_t first = blockIdx.x * share;
    const uint32_t last =
        first + share < s.boundary.cell_count ? first + share : s.boundary.cell_count;
    for (uint32_t c = first + threadIdx.x; c < last; c += blockDim.x) {
        const lbm_gpu_cell cell = s.boundary.cells[c];
        const uint8_t *owner = s.boundary.link_region + cell.first_link;
        bool any = false;
        for (int k = __popc(cell.links) - 1; k >= 0; k--) {
            any = any || owner[k] == region;
        }
        if (any) {
            const typename T::place p = T::make_place(s.layout, cell.index);
            const typename T::lbm_rates rates = T::rates_of(s, cell.index);
            typename T::real g[T::q];
            T::arrive(s, cell, p, rates, g);
            const uint32_t z = cell.index / s.layout.slice, rest = cell.index % s.layout.slice;
            const double at[3] = {(double)(rest % s.layout.pitch), (double)(rest / s.layout.pitch),
                                  (double)z};
            L::add(mine, (const typename T::real *)s.from + cell.index, s.layout.plane, cell.links,
                   owner, region, at, centre, g);
        }
    }
    __shared__ double room[ROWS_PER_BLOCK][sizeof(lbm_gpu_carried) / sizeof(double)];
    join_lanes(mine);
    if (threadIdx.x % LBM_WARP == 0) {
        *(lbm_gpu_carried *)room[threadIdx.x / LBM_WARP] = mine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < ROWS_PER_BLOCK; w++) {
            join(mine, *(const lbm_gpu_carried *)room[w]);
        }
        partials[blockIdx.x] = mine;
    }
}

template <class T, class L>
static cudaError_t carried(const lbm_gpu_view *v, int region, const double centre[3],
                           lbm_gpu_carried *partials, cudaStream_t stream) {
    links_kernel<T, L><<<LBM_GPU_LINK_BLOCKS, THREADS, 0, stream>>>(*v, region, centre[0],
                                                                    centre[1], centre[2], partials);
    return join_all(partials, LBM_GPU_LINK_BLOCKS, stream);
}

extern "C" cudaError_t lbm_gpu_links(const lbm_gpu_view *view, int region, const double centre[3],
                                     lbm_gpu_carried *partials, cudaStream_t stream) {
    const lbm_gpu_step *s = &view->last;
    if (s->dims == 2) {
        return s->bytes == 4
                   ? carried<d2q9_f32, d2q9_links>(view, region, centre, partials, stream)
                   : carried<d2q9_f64, d2q9_links>(view, region, centre, partials, stream);
    }
    return s->bytes == 4 ? carried<d3q19_f32, d3q19_links>(view, region, centre, partials, stream)
                         : carried<d3q19_f64, d3q19_links>(view, region, centre, partials, stream);
}

// One block per region.
__global__ void __launch_bounds__(JOINERS)
    flows_kernel(const __grid_constant__ lbm_gpu_boundary b, double *rate) {
    const uint8_t region = (uint8_t)(blockIdx.x + 1);
    double sum = 0;
    for (int64_t k = threadIdx.x; k < b.link_count; k += JOINERS) {
        if (b.link_region[k] == region) {
            sum += b.link_flow[k];
            b.link_flow[k] = 0;
        }
    }
    __shared__ double room[JOINERS];
    room[threadIdx.x] = sum;
    for (int width = JOINERS / 2; width > 0; width /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < width) {
            room[threadIdx.x] += room[threadIdx.x + width];
        }
    }
    if (threadIdx.x == 0) {
        rate[region] = room[0];
    }
}

extern "C" cudaError_t lbm_gpu_flows(const lbm_gpu_boundary *boundary, int regions, double *rate,
                                     cudaStream_t stream) {
    if (regions > 0) {
        flows_kernel<<<regions, JOINERS, 0, stream>>>(*boundary, rate);
    }
    return cudaGetLastError();
}
