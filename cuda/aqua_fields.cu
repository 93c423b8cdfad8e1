// aqua_fields.cu -- fields of the water for outputs, and sums over their rows.
//
// A warp adds up one row: its lanes take every 32nd cell, then join by a fixed tree. The host joins
// the rows. So a sum does not depend on which block ran when.
#include <math.h>
#include "cuda/aqua_traits.cuh"

// The fields of engine/aqua/aqua.h, which is not for devices.
enum { GROUND, DEPTH, LEVEL, MAX_DEPTH, MAX_LEVEL, ARRIVAL_TIME };

enum { THREADS = 128, ROWS_PER_BLOCK = THREADS / AQUA_WARP };

template <class S>
static __device__ double value_at(const aqua_gpu_view &v, int field, uint32_t x, uint32_t y) {
    typedef typename S::water depth;
    const int64_t i = (int64_t)y * v.layout.nx + x;
    if (field == GROUND) {
        return v.ground[i];
    }
    if (field == ARRIVAL_TIME) {
        const int32_t step = v.arrived[i];
        return step < 0 ? -1 : step * v.dt;
    }
    const bool most = field == MAX_DEPTH || field == MAX_LEVEL;
    const depth w = most ? ((const depth *)v.most)[i]
                         : ((const depth *)v.water)[aqua_at(v.layout, (int)x, (int)y)];
    const double metres = (double)w * v.metre;
    return field == LEVEL || field == MAX_LEVEL ? metres + v.ground[i] : metres;
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    read_kernel(const __grid_constant__ aqua_gpu_view v, int field,
                const __grid_constant__ cuda_cells cells, int components, int bytes, void *to) {
    const int64_t step = (int64_t)gridDim.x * THREADS, first = cells.begin + threadIdx.x;
    for (int64_t k = first + (int64_t)blockIdx.x * THREADS; k < cells.end; k += step) {
        uint32_t at[3];
        cuda_cell_place(cells, v.layout.nx, v.layout.ny, k, at);
        const bool solid = v.solid[(int64_t)at[1] * v.layout.nx + at[0]];
        const double value = solid ? 0 : value_at<S>(v, field, at[0], at[1]);
        for (int c = 0; c < components; c++) {
            cuda_cell_store(cells, to, bytes, components, k, c, c == 0 ? value : 0);
        }
    }
}

cudaError_t aqua_gpu_read(const aqua_gpu_view *view, int field, const cuda_cells *cells,
                          int components, int bytes, void *to, cudaStream_t stream) {
    const int64_t blocks = (cells->end - cells->begin + THREADS - 1) / THREADS, most = 1 << 20;
    if (blocks <= 0) {
        return cudaSuccess;
    }
    const unsigned grid = (unsigned)(blocks < most ? blocks : most);
    if (view->whole) {
        read_kernel<aqua_f32>
            <<<grid, THREADS, 0, stream>>>(*view, field, *cells, components, bytes, to);
    } else {
        read_kernel<aqua_f64>
            <<<grid, THREADS, 0, stream>>>(*view, field, *cells, components, bytes, to);
    }
    return cudaGetLastError();
}

// ---- sums by rows ----

static __device__ void join(aqua_gpu_sums &a, const aqua_gpu_sums &b) {
    a.sum += b.sum;
    a.squares += b.squares;
    a.least = fmin(a.least, b.least);
    a.most = fmax(a.most, b.most);
    a.count += b.count;
}

static __device__ void join(aqua_gpu_monitor &a, const aqua_gpu_monitor &b) {
    a.change += b.change;
    a.magnitude += b.magnitude;
    sel_watch_join(&a.watched, &b.watched);
}

static __device__ void join(double &a, const double &b) {
    a += b;
}

// The join of a value over the lanes of a warp, in lane 0.
template <class T> static __device__ void join_lanes(T &value) {
    static_assert(sizeof(T) % sizeof(double) == 0, "made of doubles");
    for (int distance = AQUA_WARP / 2; distance > 0; distance /= 2) {
        T other;
        double *to = (double *)&other;
        const double *from = (const double *)&value;
        for (size_t k = 0; k < sizeof(T) / sizeof(double); k++) {
            to[k] = __shfl_down_sync(0xffffffffu, from[k], distance);
        }
        join(value, other);
    }
}

static unsigned row_blocks(uint32_t rows) {
    return (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    reduce_kernel(const __grid_constant__ aqua_gpu_view v, int field,
                  const __grid_constant__ cuda_cells cells, aqua_gpu_sums *rows) {
    const uint32_t row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / AQUA_WARP;
    if (row >= cells.count[1]) {
        return;
    }
    const uint32_t y = cells.first[1] + row * cells.stride[1];
    aqua_gpu_sums mine = {0, 0, HUGE_VAL, -HUGE_VAL, 0};
    for (uint32_t i = threadIdx.x % AQUA_WARP; i < cells.count[0]; i += AQUA_WARP) {
        const uint32_t x = cells.first[0] + i * cells.stride[0];
        if (!v.solid[(int64_t)y * v.layout.nx + x]) {
            const double value = value_at<S>(v, field, x, y);
            join(mine, {value, value * value, value, value, 1});
        }
    }
    join_lanes(mine);
    if (threadIdx.x % AQUA_WARP == 0) {
        rows[row] = mine;
    }
}

cudaError_t aqua_gpu_reduce(const aqua_gpu_view *view, int field, const cuda_cells *cells,
                            aqua_gpu_sums *rows, cudaStream_t stream) {
    const unsigned blocks = row_blocks(cells->count[1]);
    if (view->whole) {
        reduce_kernel<aqua_f32><<<blocks, THREADS, 0, stream>>>(*view, field, *cells, rows);
    } else {
        reduce_kernel<aqua_f64><<<blocks, THREADS, 0, stream>>>(*view, field, *cells, rows);
    }
    return cudaGetLastError();
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    look_kernel(const __grid_constant__ aqua_gpu_view v, typename S::water *before,
                aqua_gpu_monitor *rows) {
    typedef typename S::water depth;
    const aqua_gpu_layout &l = v.layout;
    const uint32_t y = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / AQUA_WARP;
    if (y >= l.ny) {
        return;
    }
    aqua_gpu_monitor mine;
    mine.change = mine.magnitude = 0;
    sel_watch_none(&mine.watched);
    for (uint32_t x = threadIdx.x % AQUA_WARP; x < l.nx; x += AQUA_WARP) {
        const int64_t i = (int64_t)y * l.nx + x;
        if (v.solid[i]) {
            continue;
        }
        const depth w = ((const depth *)v.water)[aqua_at(l, (int)x, (int)y)];
        const double metres = (double)w * v.metre;
        if (sel_watch(&mine.watched, (double)i, metres, metres) && before) {
            const double change = metres - (double)before[i] * v.metre;
            before[i] = w;
            mine.change += change * change;
            mine.magnitude += metres * metres;
        }
    }
    join_lanes(mine);
    if (threadIdx.x % AQUA_WARP == 0) {
        rows[y] = mine;
    }
}

cudaError_t aqua_gpu_look(const aqua_gpu_view *view, void *before, aqua_gpu_monitor *rows,
                          cudaStream_t stream) {
    const unsigned blocks = row_blocks(view->layout.ny);
    if (view->whole) {
        look_kernel<aqua_f32><<<blocks, THREADS, 0, stream>>>(*view, (int32_t *)before, rows);
    } else {
        look_kernel<aqua_f64><<<blocks, THREADS, 0, stream>>>(*view, (double *)before, rows);
    }
    return cudaGetLastError();
}

template <class S>
__global__ void __launch_bounds__(THREADS)
    volume_kernel(const __grid_constant__ aqua_gpu_view v, sel_total *rows) {
    typedef typename S::water depth;
    const aqua_gpu_layout &l = v.layout;
    const uint32_t y = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / AQUA_WARP;
    if (y >= l.ny) {
        return;
    }
    const depth *row = (const depth *)v.water + aqua_at(l, 0, (int)y);
    double sum = 0;
    for (uint32_t x = threadIdx.x % AQUA_WARP; x < l.nx; x += AQUA_WARP) {
        sum += v.solid[(int64_t)y * l.nx + x] ? 0 : (double)row[x];
    }
    join_lanes(sum);
    if (threadIdx.x % AQUA_WARP == 0) {
        rows[y] = {0, 0, 0};
        sel_total_more(&rows[y], S::whole, sum);
    }
}

cudaError_t aqua_gpu_volume(const aqua_gpu_view *view, sel_total *rows, cudaStream_t stream) {
    const unsigned blocks = row_blocks(view->layout.ny);
    if (view->whole) {
        volume_kernel<aqua_f32><<<blocks, THREADS, 0, stream>>>(*view, rows);
    } else {
        volume_kernel<aqua_f64><<<blocks, THREADS, 0, stream>>>(*view, rows);
    }
    return cudaGetLastError();
}
