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

static __device__ __forceinline__ float lbm_product_error(float a, float b) {
    return fmaf(a, b, -__fmul_rn(a, b));
}
static __device__ __forceinline__ double lbm_product_error(double, double) {
    return 0;
}
#define LBM_PRODUCT_ERROR(a, b) lbm_product_error(a, b)

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

#endif
