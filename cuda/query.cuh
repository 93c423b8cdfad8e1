// query.cuh -- reads, sums and monitors for any solver, in f64 and always in the same order.
//
// A solver gives a struct V with functions of one cell:
//
//   view                        what its kernels see of a state
//   components, whole, counts   of the main field; whether the conserved amounts are whole numbers;
//                               whether the change is the number of cells that changed
//   last                        the type in which the main field is kept (see sel_last)
//   extent(view, n)             cells of each axis
//   is_solid(view, at)
//   field(view, f, at, out)     components of a field in the user's units; returns their number
//   main(view, at, u, &small)   the main field; returns the value whose maximum is monitored,
//                               and `small`, whose minimum is
//   last_of(view, u)            a component of it as it is stored in `last`, and
//   value_of(view, kept)        the inverse
//   amount(view, at)            the conserved amount
//
// A warp adds up one row: its lanes take every 32nd cell, then join; rows are joined by a fixed
// tree. So a sum does not depend on the order of blocks.
#ifndef CUDA_LOOK_CUH
#define CUDA_LOOK_CUH

#include "cuda/query.h"
#include "cuda/wide.cuh"

enum { LOOK_THREADS = 128, LOOK_ROWS = LOOK_THREADS / CUDA_WARP, LOOK_JOINED = CUDA_JOINED };

// ---- joining ----

static __device__ inline void join(sel_total &a, const sel_total &b) {
    sel_total_join(&a, &b);
}

static __device__ inline void join(cuda_sums &a, const cuda_sums &b) {
    for (int c = 0; c < CUDA_PARTS; c++) {
        a.sum[c] += b.sum[c];
        a.squares[c] += b.squares[c];
        a.least[c] = sel_smaller(a.least[c], b.least[c]);
        a.most[c] = sel_larger(a.most[c], b.most[c]);
    }
    a.count += b.count;
}

static __device__ inline void join(cuda_monitor &a, const cuda_monitor &b) {
    a.change += b.change;
    a.magnitude += b.magnitude;
    sel_watch_join(&a.watched, &b.watched);
}

static __device__ inline void clear(sel_total &a) {
    a.whole = 0;
    a.sum = a.lost = 0;
}

static __device__ inline void clear(cuda_sums &a) {
    for (int c = 0; c < CUDA_PARTS; c++) {
        a.sum[c] = a.squares[c] = 0;
        a.least[c] = HUGE_VAL;
        a.most[c] = -HUGE_VAL;
    }
    a.count = 0;
}

static __device__ inline void clear(cuda_monitor &a) {
    a.change = a.magnitude = 0;
    sel_watch_none(&a.watched);
}

// The partial of row 0, from which those of a rank's rows are counted.
template <class S> static S *partials_of(const cuda_rows *rows) {
    return (S *)rows->partials - rows->from;
}

// Each block joins LOOK_JOINED of n partials `stride` apart into the first of them.
template <class S>
static __device__ __forceinline__ void join_block(S *partials, int64_t n, int64_t stride) {
    const int64_t first = (int64_t)blockIdx.x * LOOK_JOINED;
    __shared__ double room[LOOK_JOINED / CUDA_WARP][sizeof(S) / sizeof(double)];
    S value;
    clear(value);
    if (first + threadIdx.x < n) {
        value = partials[(first + threadIdx.x) * stride];
    }
    join_lanes(value);
    if (threadIdx.x % CUDA_WARP == 0) {
        *(S *)room[threadIdx.x / CUDA_WARP] = value;
    }
    __syncthreads();
    if (threadIdx.x < CUDA_WARP) {
        value = *(const S *)room[threadIdx.x];
        join_lanes(value);
        if (threadIdx.x == 0) {
            partials[first * stride] = value;
        }
    }
}

template <class S>
static __global__ void __launch_bounds__(LOOK_JOINED)
    join_kernel(S *partials, int64_t n, int64_t stride) {
    join_block(partials, n, stride);
}

static inline int64_t joins_of(int64_t n) {
    return (n + LOOK_JOINED - 1) / LOOK_JOINED;
}

template <class S>
static cudaError_t join_once(S *partials, int64_t n, int64_t stride, cudaStream_t stream) {
    if (n > 0) {
        join_kernel<S><<<(unsigned)joins_of(n), LOOK_JOINED, 0, stream>>>(partials, n, stride);
    }
    return cudaGetLastError();
}

// Joins partials, `stride` apart, until one block can join the n that are left; returns how far
// apart these are.
template <class S>
static int64_t join_most(S *partials, int64_t &n, cudaStream_t stream, int64_t stride = 1) {
    for (; n > LOOK_JOINED; stride *= LOOK_JOINED) {
        join_once(partials, n, stride, stream);
        n = joins_of(n);
    }
    return stride;
}

// partials[0] = the join of all n, which stand `stride` apart.
template <class S>
static cudaError_t join_all(S *partials, int64_t n, cudaStream_t stream, int64_t stride = 1) {
    stride = join_most(partials, n, stream, stride);
    return join_once(partials, n, stride, stream);
}

// The join of all rows, on rank 0.
template <class S> static cudaError_t join_rows(const cuda_rows *rows, cudaStream_t stream) {
    S *partials = partials_of<S>(rows);
    const int64_t n = rows->start[rows->ranks];
    if (rows->ranks == 1 || rows->boxes) {
        const cudaError_t code = rows->boxes ? rows->gather(rows, sizeof(S), stream) : cudaSuccess;
        return code == cudaSuccess && rows->rank == 0 ? join_all(partials, n, stream) : code;
    }
    int64_t first, end, done = -1;
    cuda_rows_joined(rows, rows->rank, &first, &end);
    cudaError_t code = join_once(partials + first, end - first, 1, stream);
    code = code == cudaSuccess ? rows->gather(rows, sizeof(S), stream) : code;
    for (int r = 1; r < rows->ranks && code == cudaSuccess && rows->rank == 0; r++) {
        const int64_t cut = rows->start[r] / LOOK_JOINED * LOOK_JOINED; // the group is of several
        if (rows->start[r] > cut && rows->start[r] < n && cut > done) {
            code = join_once(partials + cut, n - cut < LOOK_JOINED ? n - cut : (int64_t)LOOK_JOINED,
                             1, stream);
            done = cut;
        }
    }
    const bool more = n > LOOK_JOINED && code == cudaSuccess && rows->rank == 0;
    return more ? join_all(partials, joins_of(n), stream, LOOK_JOINED) : code;
}

// ---- fields ----

// Where cell k lies in a grid of rows of nx cells and slices of ny rows.
static __device__ __forceinline__ void cell_place(const cuda_cells &cells, uint32_t nx, uint32_t ny,
                                                  int64_t k, uint32_t at[3]) {
    const bool listed = cells.list != nullptr;
    const uint32_t width = listed ? nx : cells.count[0], rows = listed ? ny : cells.count[1];
    const int64_t cell = listed ? cells.list[k] : k, row = cell / width;
    at[0] = (uint32_t)(cell % width);
    at[1] = (uint32_t)(row % rows);
    at[2] = (uint32_t)(row / rows);
    for (int a = 0; a < 3 && !listed; a++) {
        at[a] = cells.first[a] + at[a] * cells.stride[a];
    }
}

// Component c of cell k of an answer, as a number of 4 or 8 bytes.
static __device__ __forceinline__ void cell_store(const cuda_cells &cells, void *to, int bytes,
                                                  int components, int64_t k, int c, double value) {
    const int64_t i = (k - cells.begin) * components + c;
    if (bytes == 4) {
        ((float *)to)[i] = (float)value;
    } else {
        ((double *)to)[i] = value;
    }
}

template <class V>
static __global__ void __launch_bounds__(LOOK_THREADS)
    read_kernel(const __grid_constant__ typename V::view v, int field,
                const __grid_constant__ cuda_cells cells, int components, int bytes, void *to) {
    const int64_t step = (int64_t)gridDim.x * LOOK_THREADS, first = cells.begin + threadIdx.x;
    uint32_t n[3];
    V::extent(v, n);
    for (int64_t k = first + (int64_t)blockIdx.x * LOOK_THREADS; k < cells.end; k += step) {
        uint32_t at[3];
        cell_place(cells, n[0], n[1], k, at);
        double value[CUDA_PARTS];
        const int count = V::is_solid(v, at) ? 0 : V::field(v, field, at, value);
#pragma unroll
        for (int c = 0; c < CUDA_PARTS; c++) {
            if (c < components) {
                cell_store(cells, to, bytes, components, k, c, c < count ? value[c] : 0);
            }
        }
    }
}

template <class V>
static cudaError_t read_field(const void *view, int field, const cuda_cells *cells, int components,
                              int bytes, void *to, cudaStream_t stream) {
    const int64_t blocks = (cells->end - cells->begin + LOOK_THREADS - 1) / LOOK_THREADS;
    if (blocks > 0) {
        read_kernel<V>
            <<<(unsigned)(blocks < 1 << 20 ? blocks : 1 << 20), LOOK_THREADS, 0, stream>>>(
                *(const typename V::view *)view, field, *cells, components, bytes, to);
    }
    return cudaGetLastError();
}

// ---- sums by rows ----

static inline unsigned row_blocks(int64_t rows) {
    return (unsigned)((rows + LOOK_ROWS - 1) / LOOK_ROWS);
}

static __device__ __forceinline__ int64_t row_of_warp(int64_t first = 0) {
    return first + blockIdx.x * LOOK_ROWS + threadIdx.x / CUDA_WARP;
}

// The number of a warp's row; behind the last one -1.
static __device__ __forceinline__ int64_t row_of_own(const sel_rows &own) {
    const int64_t k = row_of_warp();
    return k < own.count ? sel_row_of(&own, k) : -1;
}

template <class V>
static __global__ void __launch_bounds__(LOOK_THREADS)
    reduce_kernel(const __grid_constant__ typename V::view v, int field,
                  const __grid_constant__ cuda_cells cells, cuda_sums *rows,
                  const __grid_constant__ sel_rows own) {
    const int64_t number = row_of_own(own);
    if (number < 0) {
        return;
    }
    const uint32_t row = (uint32_t)number;
    uint32_t at[3];
    at[1] = cells.first[1] + row % cells.count[1] * cells.stride[1];
    at[2] = cells.first[2] + row / cells.count[1] * cells.stride[2];
    cuda_sums mine;
    clear(mine);
    for (uint32_t i = threadIdx.x % CUDA_WARP; i < cells.count[0]; i += CUDA_WARP) {
        at[0] = cells.first[0] + i * cells.stride[0];
        if (V::is_solid(v, at)) {
            continue;
        }
        double value[CUDA_PARTS];
        const int count = V::field(v, field, at, value);
#pragma unroll
        for (int c = 0; c < CUDA_PARTS; c++) {
            if (c < count) {
                mine.sum[c] += value[c];
                mine.squares[c] += value[c] * value[c];
                mine.least[c] = sel_smaller(mine.least[c], value[c]);
                mine.most[c] = sel_larger(mine.most[c], value[c]);
            }
        }
        mine.count++;
    }
    join_lanes(mine);
    if (threadIdx.x % CUDA_WARP == 0) {
        rows[row] = mine;
    }
}

template <class V>
static cudaError_t reduce(const void *view, int field, const cuda_cells *cells,
                          const cuda_rows *rows, cudaStream_t stream) {
    if (rows->own.count > 0) {
        reduce_kernel<V><<<row_blocks(rows->own.count), LOOK_THREADS, 0, stream>>>(
            *(const typename V::view *)view, field, *cells, partials_of<cuda_sums>(rows),
            rows->own);
    }
    return join_rows<cuda_sums>(rows, stream);
}

template <class V>
static __global__ void __launch_bounds__(LOOK_THREADS)
    monitor_kernel(const __grid_constant__ typename V::view v, typename V::last *last,
                   int64_t component, int64_t slice, cuda_monitor *rows,
                   const __grid_constant__ sel_rows own) {
    uint32_t n[3];
    V::extent(v, n);
    const int64_t of_warp = row_of_own(own);
    if (of_warp < 0) {
        return;
    }
    const uint32_t row = (uint32_t)of_warp;
    const int64_t first = (int64_t)(row / n[1]) * slice + (int64_t)(row % n[1]) * n[0];
    cuda_monitor mine;
    clear(mine);
    for (uint32_t x = threadIdx.x % CUDA_WARP; x < n[0]; x += CUDA_WARP) {
        const uint32_t at[3] = {x, row % n[1], row / n[1]};
        const int64_t number = (int64_t)row * n[0] + x;
        if (V::is_solid(v, at)) {
            continue;
        }
        double u[V::components], small;
        const double large = V::main(v, at, u, &small);
        if (sel_watch(&mine.watched, (double)number, large, small) && last) {
#pragma unroll
            for (int a = 0; a < V::components; a++) {
                typename V::last *kept = last + a * component + first + x;
                const double du = u[a] - V::value_of(v, *kept);
                *kept = V::last_of(v, u[a]);
                mine.change += V::counts ? du != 0 : du * du;
                mine.magnitude += V::counts ? 1 : u[a] * u[a];
            }
        }
    }
    join_lanes(mine);
    if (threadIdx.x % CUDA_WARP == 0) {
        rows[row] = mine;
    }
}

template <class V>
static cudaError_t monitor(const void *view, void *last, int64_t component, int64_t slice,
                           const cuda_rows *rows, cudaStream_t stream) {
    monitor_kernel<V><<<row_blocks(rows->own.count), LOOK_THREADS, 0, stream>>>(
        *(const typename V::view *)view, (typename V::last *)last, component, slice,
        partials_of<cuda_monitor>(rows), rows->own);
    return join_rows<cuda_monitor>(rows, stream);
}

template <class V>
static __global__ void __launch_bounds__(LOOK_THREADS)
    sum_kernel(const __grid_constant__ typename V::view v, sel_total *rows,
               const __grid_constant__ sel_rows own) {
    uint32_t n[3];
    V::extent(v, n);
    const int64_t of_warp = row_of_own(own);
    if (of_warp < 0) {
        return;
    }
    const uint32_t row = (uint32_t)of_warp;
    double sum = 0;
    for (uint32_t x = threadIdx.x % CUDA_WARP; x < n[0]; x += CUDA_WARP) {
        const uint32_t at[3] = {x, row % n[1], row / n[1]};
        sum += V::is_solid(v, at) ? 0 : V::amount(v, at);
    }
    join_lanes(sum);
    if (threadIdx.x % CUDA_WARP == 0) {
        sel_total total;
        clear(total);
        sel_total_more(&total, V::whole, sum);
        rows[row] = total;
    }
}

template <class V>
static cudaError_t sum(const void *view, const cuda_rows *rows, cudaStream_t stream) {
    sum_kernel<V><<<row_blocks(rows->own.count), LOOK_THREADS, 0, stream>>>(
        *(const typename V::view *)view, partials_of<sel_total>(rows), rows->own);
    return join_rows<sel_total>(rows, stream);
}

// ---- solvers of one number for each cell ----

// Makes V from S, which has a view with `cuda_grid grid` and value(view, cell), in f64. The number
// is the only field, the main field, and the conserved amount.
template <class S> struct look_of_value {
    typedef typename S::view view;
    typedef double last;
    static constexpr int components = 1;
    static constexpr bool whole = false, counts = false;

    static __host__ __device__ void extent(const view &v, uint32_t n[3]) {
        for (int a = 0; a < 3; a++) {
            n[a] = v.grid.n[a];
        }
    }

    static __device__ int64_t number(const view &v, const uint32_t at[3]) {
        return ((int64_t)at[2] * v.grid.n[1] + at[1]) * v.grid.n[0] + at[0];
    }

    static __device__ bool is_solid(const view &v, const uint32_t at[3]) {
        return v.grid.solid[cuda_solid_at(v.grid, at)] != 0;
    }

    static __device__ int field(const view &v, int, const uint32_t at[3], double *out) {
        *out = S::value(v, number(v, at));
        return 1;
    }

    static __device__ double main(const view &v, const uint32_t at[3], double *u, double *small) {
        return *small = *u = S::value(v, number(v, at));
    }

    static __device__ double value_of(const view &, double kept) { return kept; }

    static __device__ double last_of(const view &, double value) { return value; }

    static __device__ double amount(const view &v, const uint32_t at[3]) {
        return S::value(v, number(v, at));
    }
};

template <class V> static const cuda_look *look_of() {
    static const cuda_look look = {read_field<V>, reduce<V>, monitor<V>, sum<V>};
    return &look;
}

#endif
