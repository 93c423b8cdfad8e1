// inputs.cu -- the kernel that evaluates an input.
#include "cuda/machine/terms.cuh"

#include "cuda/machine/inputs.h"

enum { THREADS = 128 };

static __global__ void input_kernel(const __grid_constant__ cuda_input in) {
    extern __shared__ double registers[];
    const int64_t step = cuda_now(in.clock), k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    double place[3], value[CUDA_TERM_PARTS];
    cuda_term_begin(in.terms, in.term, ((double)step + in.ahead) * in.grid.dt, registers);
    if (k >= in.count || (in.source && in.solid[k])) {
        return; // solids as on the CPU
    }
    const int64_t nx = in.grid.n[0], ny = in.grid.n[1];
    const int64_t at[3] = {k % nx, k / nx % ny, k / nx / ny};
    for (int a = 0; a < 3; a++) {
        place[a] = in.source ? sel_centre(&in.grid, a, (double)at[a]) : in.place[a][k];
    }
    const bool found = cuda_term_evaluate(in.terms, in.term, place, registers, value);
    const int64_t cell = at[0] + at[1] * in.pitch + at[2] * in.slice;
    if (!found || (in.not_negative && value[0] < 0)) {
        cuda_term_report(in.terms, in.number, k, step);
    } else if (!in.source) {
        in.value[COND_VALUES * in.order[k] + in.which] = value[0];
    } else if (in.single) {
        ((float *)in.source)[cell] = (float)(value[0] * sel_part_inside(&in.grid, at, -1));
    } else {
        ((double *)in.source)[cell] = value[0] * sel_part_inside(&in.grid, at, -1);
    }
}

extern "C" cudaError_t cuda_input_evaluate(const cuda_input *input, cudaStream_t stream) {
    const unsigned blocks = (unsigned)((input->count + THREADS - 1) / THREADS);
    input_kernel<<<blocks, THREADS, cuda_term_bytes(&input->term, THREADS), stream>>>(*input);
    return cudaGetLastError();
}
