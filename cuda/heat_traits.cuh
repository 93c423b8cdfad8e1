// heat_traits.cuh -- the rule of sel.heat by precision, for templates.
#ifndef HEAT_TRAITS_CUH
#define HEAT_TRAITS_CUH

#include "cuda/heat_gpu.h"

#define SEL_INLINE static __device__ __forceinline__
#define HEAT_FMA(a, b, c) fma(a, b, c)
#define REAL float
#define HEAT_NAME(name) name##_f32
#include "engine/physics/heat.h"
#undef REAL
#undef HEAT_NAME
#define REAL double
#define HEAT_NAME(name) name##_f64
#include "engine/physics/heat.h"
#undef REAL
#undef HEAT_NAME

template <class REAL> struct heat_traits;
template <> struct heat_traits<float> {
    typedef heat_around_f32 around;
    static constexpr auto next = heat_next_f32;
    static constexpr auto touched = heat_touched_f32;
};
template <> struct heat_traits<double> {
    typedef heat_around_f64 around;
    static constexpr auto next = heat_next_f64;
    static constexpr auto touched = heat_touched_f64;
};

#endif
