// lbm_traits.cuh -- the physics headers as one struct per lattice and precision, for templates.
#ifndef LBM_TRAITS_CUH
#define LBM_TRAITS_CUH

#include <stdbool.h>
#include <stdint.h>
#include "engine/solvers/lbm/lbm_kernels_cuda.h"
#include "engine/solvers/lbm/lbm_method.h"

#define SEL_INLINE static __device__ __forceinline__
#define LBM_NAME(name) name

static __device__ __forceinline__ float lbm_mad(float a, float b, float c) {
    return fmaf(a, b, c);
}
static __device__ __forceinline__ double lbm_mad(double a, double b, double c) {
    return fma(a, b, c);
}
#define LBM_MAD(a, b, c) lbm_mad(a, b, c)

#define LBM_DIMS 2
struct d2q9_f32 {
#define REAL float
#define LBM_SQRT(x) sqrtf(x)
#include "engine/solvers/lbm/lbm_cell.cuh"
};

struct d2q9_f64 {
#define REAL double
#define LBM_SQRT(x) sqrt(x)
#include "engine/solvers/lbm/lbm_cell.cuh"
};
#undef LBM_DIMS

#define LBM_DIMS 3
struct d3q19_f32 {
#define REAL float
#define LBM_SQRT(x) sqrtf(x)
#include "engine/solvers/lbm/lbm_cell.cuh"
};

struct d3q19_f64 {
#define REAL double
#define LBM_SQRT(x) sqrt(x)
#include "engine/solvers/lbm/lbm_cell.cuh"
};
#undef LBM_DIMS

template <class T> using real_of = typename T::real;

// The same lattice in f64.
template <int DIMS> struct in_f64 { typedef d3q19_f64 type; };
template <> struct in_f64<2> { typedef d2q9_f64 type; };

// The place of a cell in a component of the strain.
static __device__ __forceinline__ int64_t lbm_gpu_strain_at(const lbm_gpu_fields &of,
                                                            const uint32_t at[3]) {
    return at[2] * of.strain_slice + (int64_t)at[1] * of.grid.n[0] + at[0];
}

// Stores the fields of the strain s of a cell.
static __device__ __forceinline__ void lbm_gpu_put_strain(const lbm_gpu_fields &to,
                                                          const uint32_t at[3], int dims,
                                                          const double *s,
                                                          lbm_viscosity viscosity) {
    double value[CUDA_PARTS];
    for (int f = 0; f < 2; f++) {
        const int count = to.strain[f] ? lbm_strain_field(LBM_STRAIN_RATE + f, s, viscosity, dims,
                                                          &to.units, value)
                                       : 0;
        for (int c = 0; c < count; c++) {
            to.strain[f][c * to.strain_component + lbm_gpu_strain_at(to, at)] = value[c];
        }
    }
}

#endif
