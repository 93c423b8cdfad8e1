// inputs.cu -- kernels that evaluate inputs: at sites, and in cells by the interpreter of programs.
#include "cuda/fill.cuh"

#include "cuda/inputs.h"

enum { THREADS = CUDA_FILL_THREADS };

struct interpreted {
    static __device__ void once(const cuda_fill &f, double t, double *fixed) {
        sel_packed_once(&f.terms.packed, f.term.program[0], t, 0, f.terms.controls, fixed);
    }
    static __device__ bool each(const cuda_fill &f, const double *place, double *fixed,
                                double *value) {
        return cuda_term_evaluate(f.terms, f.term, place, fixed, value);
    }
};

static __global__ void fill_kernel(const __grid_constant__ cuda_fill f) {
    extern __shared__ double registers[];
    cuda_fill_cells<interpreted>(f, registers);
}

extern "C" cudaError_t cuda_fill_interpreted(const cuda_fill *fill, cudaStream_t stream) {
    fill_kernel<<<cuda_fill_blocks(fill), THREADS, cuda_term_bytes(&fill->term, THREADS), stream>>>(
        *fill);
    return cudaGetLastError();
}

static __global__ void input_kernel(const __grid_constant__ cuda_input input) {
    extern __shared__ double registers[];
    const cuda_fill &in = input.in;
    const int64_t step = cuda_now(in.clock), k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    cuda_term_begin(in.terms, in.term, ((double)step + in.ahead) * in.grid.dt, registers);
    if (k >= input.count) {
        return;
    }
    const double place[3] = {input.place[0][k], input.place[1][k], input.place[2][k]};
    double value[CUDA_TERM_PARTS];
    if (!cuda_term_evaluate(in.terms, in.term, place, registers, value) || value[0] < in.least) {
        cuda_term_report(in.terms, in.term.number, k, step);
    } else {
        input.value[input.values * input.order[k] + input.which] = value[0];
    }
}

extern "C" cudaError_t cuda_input_evaluate(const cuda_input *input, cudaStream_t stream) {
    const unsigned blocks = (unsigned)((input->count + THREADS - 1) / THREADS);
    input_kernel<<<blocks, THREADS, cuda_term_bytes(&input->in.term, THREADS), stream>>>(*input);
    return cudaGetLastError();
}
