// lbm_laws.cu -- stores the values of laws and of a uniform acceleration, in lattice units.
#include "cuda/inputs.cuh"

#define LBM_LAW_INLINE static __device__ inline
#include "engine/solvers/lbm/lbm_law.h"

#include "engine/solvers/lbm/lbm_kernels_cuda.h"

struct lbm_laws {
    typedef lbm_gpu_laws view;
    static __device__ void store(const view &v, const cuda_input &input, int64_t k, int64_t step,
                                 const double value[CUDA_TERM_PARTS]) {
        const int components = input.term.components;
        if (input.which == LBM_TO_LINKS) {
            v.link_add[step % CUDA_STEPS * v.link_stride + input.target[k]] =
                lbm_wall_adds(v.directions, input.detail[k], components, value, 1, v.velocity_unit);
            for (int a = 0; a < components && v.link_velocity; a++) {
                v.link_velocity[3 * (step % CUDA_STEPS * v.link_stride) + a * v.links +
                                input.target[k]] = value[a] / v.velocity_unit;
            }
        } else if (input.which == LBM_TO_FORCE) {
            double *to =
                v.acceleration + (v.acceleration_turns ? 3 * ((step + 1) % CUDA_TURNS) : 0);
            for (int a = 0; a < 3; a++) {
                to[a] = value[a] / v.acceleration_unit;
            }
        } else {
            lbm_open_set((lbm_goal)input.which, input.detail[k], components, value, 1,
                         v.velocity_unit, v.pressure_unit,
                         v.open_value + step % CUDA_STEPS * v.open_stride +
                             LBM_OPEN_VALUES * input.target[k]);
        }
    }
};

extern "C" cudaError_t lbm_gpu_store_laws(const cuda_inputs_launch *launch, const void *view,
                                          cudaStream_t stream) {
    return cuda_inputs_run<lbm_laws>(launch, view, stream);
}
