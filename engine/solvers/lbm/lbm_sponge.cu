// lbm_sponge.cu -- the sponge on the device: after a step its cells are brought nearer to what the
// layer holds (lbm_sponge.h).
#include "engine/solvers/lbm/lbm_traits.cuh"

enum { SPONGE_THREADS = 128 };

template <class T>
__global__ void __launch_bounds__(SPONGE_THREADS)
    sponge_kernel(const __grid_constant__ lbm_gpu_step s,
                  const __grid_constant__ lbm_gpu_sponge l) {
    const uint32_t k = blockIdx.x * SPONGE_THREADS + threadIdx.x;
    if (k >= l.count || cuda_is_halted(s.halted, s.clock)) {
        return;
    }
    const lbm_sponge_cell cell = l.cells[k];
    const double gain = T::lbm_sponge_stored((real_of<T> *)s.to + cell.index, s.layout.plane,
                                             s.moments, s.collision, &cell, (real_of<T>)l.drho);
    if (l.gain) {
        l.gain[k] += T::lbm_gain(gain);
    }
}

template <class T>
static void sponge_launch(const lbm_gpu_step *s, const lbm_gpu_sponge *l, cudaStream_t stream) {
    sponge_kernel<T>
        <<<(l->count + SPONGE_THREADS - 1) / SPONGE_THREADS, SPONGE_THREADS, 0, stream>>>(*s, *l);
}

extern "C" cudaError_t lbm_gpu_sponge_take(const lbm_gpu_step *step, const lbm_gpu_sponge *sponge,
                                           cudaStream_t stream) {
    if (sponge->count == 0) {
        return cudaSuccess;
    }
    if (step->dims == 2 && step->bytes == 4) {
        sponge_launch<d2q9_f32>(step, sponge, stream);
    } else if (step->dims == 2) {
        sponge_launch<d2q9_f64>(step, sponge, stream);
    } else if (step->bytes == 4) {
        sponge_launch<d3q19_f32>(step, sponge, stream);
    } else {
        sponge_launch<d3q19_f64>(step, sponge, stream);
    }
    return cudaGetLastError();
}

// Whole numbers: the sum does not depend on the order.
__global__ void __launch_bounds__(SPONGE_THREADS)
    sum_kernel(const int64_t *gain, int64_t count, int64_t *sum) {
    const int64_t k = (int64_t)blockIdx.x * SPONGE_THREADS + threadIdx.x;
    if (k < count) {
        atomicAdd((unsigned long long *)sum, (unsigned long long)gain[k]);
    }
}

extern "C" cudaError_t lbm_gpu_sponge_sum(const int64_t *gain, int64_t count, int64_t *sum,
                                          cudaStream_t stream) {
    const cudaError_t code = cudaMemsetAsync(sum, 0, sizeof *sum, stream);
    if (code != cudaSuccess || count == 0) {
        return code;
    }
    sum_kernel<<<(unsigned)((count + SPONGE_THREADS - 1) / SPONGE_THREADS), SPONGE_THREADS, 0,
                 stream>>>(gain, count, sum);
    return cudaGetLastError();
}
