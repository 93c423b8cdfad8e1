// inputs.cu -- inputs without a store of their own, and fields of cells by the interpreter of
// programs.
#include "cuda/fill.cuh"

#include "cuda/inputs.cuh"

enum { THREADS = CUDA_FILL_THREADS };

struct interpreted {
    enum { PARTS = CUDA_TERM_PARTS, KIND = -1, PLAIN = 0 };
    static __device__ void once(const cuda_fill &f, double t, double *fixed) {
        for (int k = 0; k < f.term.programs; k++) {
            sel_packed_once(&f.terms.packed, f.term.program[k], t, 0, f.terms.controls,
                            fixed + f.term.room[k]);
        }
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

struct cuda_given_store {
    typedef cuda_given_view view;
    static __device__ void store(const view &v, const cuda_input &input, int64_t k, int64_t,
                                 const double value[CUDA_TERM_PARTS]) {
        const int64_t site = input.target[k];
        if (site >= v.first && site < v.end) {
            v.value[v.values * site + input.which] = value[0];
        }
    }
};

extern "C" cudaError_t cuda_given_run(const cuda_inputs_launch *launch, const void *view,
                                      cudaStream_t stream) {
    return cuda_inputs_run<cuda_given_store>(launch, view, stream);
}
