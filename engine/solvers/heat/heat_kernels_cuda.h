/* heat_kernels_cuda.h -- the launchers of sel.heat: plain C, shared by heat_cuda.c and the kernels'
 * files.
 */
#ifndef HEAT_GPU_H
#define HEAT_GPU_H

#include "cuda/query.h"
#include "cuda/temporal_blocking.h"
#include "engine/solvers/diffusion/diffusion_cell.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of a pass: odd, as are those of shorter ones, so that copies of the state take turns with
 * steps. */
enum { HEAT_PASS = 9 };

/* b and s of all border cells of a uniform body, numbers of the state: [2][sites], the sites
 * of a face from first[face] on, as sel_face_site counts them. Those of a cell on several faces
 * that are not periodic stand with the first one, x- before x+ before y-; with the others they are
 * 0. */
typedef struct heat_gpu_sides {
    void *numbers; /* NULL: there are none */
    int64_t first[6], sites;
    unsigned acts; /* bits of the faces at which some cell has a law but `insulated` */
} heat_gpu_sides;

/* A step of a block; surfaces: cells first <= k < end of those given. */
typedef struct heat_gpu_step {
    heat_view view;
    diffusion_given given; /* b and s are not read where there are sides */
    heat_gpu_sides sides;
    int64_t first, end;
    const int64_t *halted; /* see cuda_is_halted */
    cuda_clock clock;
} heat_gpu_step;

cudaError_t heat_gpu_take_step(const heat_gpu_step *step, cudaStream_t stream);

/* A pass of 3 or HEAT_PASS steps over a block of a uniform 2-D body. */
cudaError_t heat_gpu_pass(const heat_gpu_step *step, march_grid grid, int steps,
                          const march_device *on);

/* b and s of the cells on surfaces, in the lists and on the sides. */
cudaError_t heat_gpu_surfaces(const heat_gpu_step *step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
#define SEL_INLINE template <class REAL> static __device__ __forceinline__
#define HEAT_FMA(a, b, c) fma(a, b, c)
#define HEAT_NAME(name) name
#include "engine/solvers/heat/heat_step.h"
#endif

#endif
