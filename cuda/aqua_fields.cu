// aqua_fields.cu -- fields of the water on the device.
#include <math.h>
#include "cuda/aqua_traits.cuh"
#include "cuda/machine/look.cuh"

template <class S> struct aqua_looked {
    typedef aqua_gpu_view view;
    typedef typename S::water last;
    static constexpr int components = 1;
    static constexpr bool whole = S::whole;

    static __host__ __device__ void extent(const view &v, uint32_t n[3]) {
        n[0] = v.layout.nx;
        n[1] = v.layout.ny;
        n[2] = 1;
    }

    static __device__ __forceinline__ int64_t number(const view &v, const uint32_t at[3]) {
        return (int64_t)at[1] * v.layout.nx + at[0];
    }

    static __device__ __forceinline__ bool is_solid(const view &v, const uint32_t at[3]) {
        return v.solid[number(v, at)] != 0;
    }

    // The depth in units of the store.
    static __device__ __forceinline__ last depth(const view &v, const uint32_t at[3]) {
        return ((const last *)v.water)[aqua_at(v.layout, (int)at[0], (int)at[1])];
    }

    static __device__ int field(const view &v, int which, const uint32_t at[3], double *out) {
        const int64_t i = number(v, at);
        if (which == AQUA_GROUND) {
            *out = v.ground[i];
        } else if (which == AQUA_ARRIVAL_TIME) {
            const int32_t step = v.arrived[i];
            *out = step < 0 ? -1 : step * v.dt;
        } else {
            const bool most = which == AQUA_MAX_DEPTH || which == AQUA_MAX_LEVEL;
            const double metres = value_of(v, most ? ((const last *)v.most)[i] : depth(v, at));
            *out = which == AQUA_LEVEL || which == AQUA_MAX_LEVEL ? metres + v.ground[i] : metres;
        }
        return 1;
    }

    static __device__ double main(const view &v, const uint32_t at[3], double *u, double *small) {
        return *small = *u = value_of(v, depth(v, at));
    }

    static __device__ __forceinline__ double value_of(const view &v, last kept) {
        return (double)kept * v.metre;
    }

    static __device__ __forceinline__ last last_of(const view &v, double metres) {
        return (last)(metres / v.metre); // exact: a power of two
    }

    static __device__ __forceinline__ double amount(const view &v, const uint32_t at[3]) {
        return (double)depth(v, at);
    }
};

const cuda_look *aqua_gpu_look(bool whole) {
    return whole ? look_of<aqua_looked<aqua_f32>>() : look_of<aqua_looked<aqua_f64>>();
}
