// rule.cu -- margins and reads of sel.rule on the device; what functions compute is compiled at run
// time (rule_print_cuda.c).
#include "engine/solvers/rule/rule_fill.cuh"

#include "cuda/inputs.cuh"
#include "cuda/query.cuh"
#include "engine/solvers/rule/rule_kernels_cuda.h"

extern "C" cudaError_t rule_gpu_fill(const rule_tables *tables, int64_t first, int64_t end,
                                     uint64_t fields, uint64_t turns, cudaStream_t stream) {
    if (end > first && fields) {
        rule_fill_kernel<<<(unsigned)(end - first), RULE_RUN, 0, stream>>>(tables, first, fields,
                                                                           turns);
    }
    return cudaGetLastError();
}

// ---- inputs ----

// Values of laws, by the numbers of places.
struct rule_law_store {
    typedef rule_store_view view;
    static __device__ void store(const view &v, const cuda_input &input, int64_t k, int64_t,
                                 const double value[CUDA_TERM_PARTS]) {
        const int entry = input.which / RULE_WHERE, first = v.first[entry];
        for (int c = 0; c < v.components[entry]; c++) {
            const double one = c == 1 ? value[1] : c == 2 ? value[2] : value[0];
            v.tables->law[first + c][input.target[k]] = input.term.components > 1 ? one : value[0];
        }
    }
};

extern "C" cudaError_t rule_gpu_store(const cuda_inputs_launch *launch, const void *view,
                                      cudaStream_t stream) {
    return cuda_inputs_run<rule_law_store>(launch, view, stream);
}

// A block of threads fills a run.
static __global__ void rule_fill_cells_kernel(const __grid_constant__ rule_filled_cells f) {
    const rule_tables &t = *f.tables;
    const rule_run &run = t.run[f.first + blockIdx.x];
    if ((int)threadIdx.x >= run.count || cuda_is_halted(f.halted, f.clock)) {
        return;
    }
    for (int k = 0; k < RULE_FIELDS && t.at[k][0]; k++) {
        for (int copy = 0; copy < 2; copy++) {
            if (t.at[k][copy]) {
                rule_fill_place(&t, &run, threadIdx.x, k, copy);
            }
        }
    }
}

extern "C" cudaError_t rule_gpu_fill_cells(const rule_filled_cells *fill, cudaStream_t stream) {
    if (fill->end > fill->first) {
        rule_fill_cells_kernel<<<(unsigned)(fill->end - fill->first), RULE_RUN, 0, stream>>>(*fill);
    }
    return cudaGetLastError();
}

// ---- reads and sums ----

struct rule_cell {
    typedef rule_gpu_look view;
    static __device__ double value(const view &, int64_t) { return 0; } // no sum is asked for
};

// What query.cuh asks for; COMPONENTS are those of the main field.
template <int COMPONENTS, bool COUNTS> struct rule_fields : look_of_value<rule_cell> {
    static constexpr int components = COMPONENTS;
    static constexpr bool counts = COUNTS;

    static __device__ int64_t place(const view &v, const uint32_t at[3]) {
        return v.first + at[2] * v.slice + at[1] * v.pitch + at[0];
    }

    static __device__ double value(const view &v, int f, const uint32_t at[3]) {
        const rule_tables &t = *v.tables;
        return rule_number(t.type[f], t.wide, t.at[f][v.turns >> f & 1], place(v, at));
    }

    static __device__ int field(const view &v, int, const uint32_t at[3], double *out) {
        for (int c = 0; c < v.components; c++) {
            out[c] = v.numbers ? v.numbers[c * v.output + place(v, at)] : value(v, v.field + c, at);
        }
        return v.components;
    }

    static __device__ double main(const view &v, const uint32_t at[3], double *u, double *small) {
        double large = 0;
        *small = 0;
        for (int c = 0; c < COMPONENTS; c++) {
            u[c] = value(v, v.main + c, at);
            large = COMPONENTS == 1 ? fabs(u[c]) : hypot(large, u[c]);
        }
        for (uint64_t left = v.reals; left; left &= left - 1) {
            const double real = value(v, __ffsll((long long)left) - 1, at);
            *small += real - real;
        }
        return large;
    }
};

extern "C" const cuda_look *rule_gpu_looks(int components, bool counts) {
    return counts            ? look_of<rule_fields<1, true>>()
           : components == 1 ? look_of<rule_fields<1, false>>()
           : components == 2 ? look_of<rule_fields<2, false>>()
                             : look_of<rule_fields<3, false>>();
}
