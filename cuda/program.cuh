// program.cuh -- the evaluation of programs on the device: the text that the host compiles too.
//
// The includer is compiled with -fmad=false, so that sums of products round as on the host.
#ifndef PROGRAM_CUH
#define PROGRAM_CUH

#define SEL_GRID_INLINE static __device__ inline
#define SEL_NOISE_INLINE static __device__ inline
#define SEL_PACKED_INLINE static __device__ inline
#define SEL_PROGRAM_INLINE static __device__ inline
#define SEL_RASTER_INLINE static __device__ inline
#define SEL_SERIES_INLINE static __device__ inline
#define LBM_LAW_INLINE static __device__ inline

#include "engine/grid.h"
#include "engine/physics/lbm_law.h"
#include "engine/physics/lbm_method.h"
#include "engine/physics/program_packed.h"

#endif
