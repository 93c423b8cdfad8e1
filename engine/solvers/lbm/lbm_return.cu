// lbm_return.cu -- returns to closed regions of fluid what interpolated walls owe them
// (lbm_closed.h).
#define LBM_METHOD_INLINE static __device__ inline
#include "engine/solvers/lbm/lbm_kernels_cuda.h"

enum { RETURN_THREADS = 128 };

static __device__ __forceinline__ bool return_is_halted(const lbm_gpu_closed &c) {
    return c.halted && *c.halted <= c.step;
}

static __device__ __forceinline__ void add_whole(int64_t *to, int64_t value) {
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
}

// Adds what cells have gained to the sums of their regions: those of a thread block that have the
// region of its first cell first among themselves.
__global__ void __launch_bounds__(RETURN_THREADS)
    collect_kernel(const __grid_constant__ lbm_gpu_closed c) {
    __shared__ int64_t common;
    const uint32_t first = blockIdx.x * RETURN_THREADS, k = first + threadIdx.x;
    const uint32_t region = c.cells[first].region;
    const bool halted = return_is_halted(c);
    if (threadIdx.x == 0) {
        common = 0;
    }
    __syncthreads();
    if (k < c.cell_count && !halted) {
        const lbm_gpu_closed_cell cell = c.cells[k];
        add_whole(cell.region == region ? &common : &c.sums[cell.region], c.gain[cell.link]);
        c.gain[cell.link] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0 && common != 0) {
        add_whole(&c.sums[region], common);
    }
}

// The share of the cells of each region.
__global__ void share_kernel(const __grid_constant__ lbm_gpu_closed c) {
    for (int64_t r = 0; r < c.region_count && !return_is_halted(c); r++) {
        c.owed[r] -= c.sums[r];
        c.sums[r] = 0;
        c.shares[r] = lbm_closed_share(c.bytes == 4, c.region_cells[r], &c.owed[r], c.returned);
    }
}

// A warp adds the share to the cells of a span, whose moments all grow by the same part.
template <class R>
__global__ void __launch_bounds__(RETURN_THREADS)
    return_kernel(const __grid_constant__ lbm_gpu_closed c) {
    const uint32_t span = (blockIdx.x * RETURN_THREADS + threadIdx.x) / CUDA_WARP;
    if (span >= c.span_count || return_is_halted(c)) {
        return;
    }
    const lbm_gpu_closed_span s = c.spans[span];
    const double share = c.shares[s.region];
    for (uint32_t x = threadIdx.x % CUDA_WARP; x < s.count && share != 0; x += CUDA_WARP) {
        R *at = (R *)c.now + s.index + x;
        double rho = 1;
        for (int i = 0; i < (c.moments ? 1 : c.components); i++) {
            rho += (double)at[i * c.plane];
        }
        for (int i = 0; i < c.components; i++) {
            const double rest = c.moments ? i == 0 : c.directions[i].weight;
            at[i * c.plane] = (R)lbm_with_share((double)at[i * c.plane], rest, share / rho);
        }
    }
}

extern "C" cudaError_t lbm_gpu_collect(const lbm_gpu_closed *closed, cudaStream_t stream) {
    if (closed->cell_count > 0) {
        const uint32_t blocks = (closed->cell_count + RETURN_THREADS - 1) / RETURN_THREADS;
        collect_kernel<<<blocks, RETURN_THREADS, 0, stream>>>(*closed);
    }
    return cudaGetLastError();
}

extern "C" cudaError_t lbm_gpu_return(const lbm_gpu_closed *closed, cudaStream_t stream) {
    const uint32_t warps = RETURN_THREADS / CUDA_WARP;
    const uint32_t blocks = (closed->span_count + warps - 1) / warps;
    share_kernel<<<1, 1, 0, stream>>>(*closed);
    if (closed->span_count > 0 && closed->bytes == 4) {
        return_kernel<float><<<blocks, RETURN_THREADS, 0, stream>>>(*closed);
    } else if (closed->span_count > 0) {
        return_kernel<double><<<blocks, RETURN_THREADS, 0, stream>>>(*closed);
    }
    return cudaGetLastError();
}
