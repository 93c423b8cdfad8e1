/* lbm_laws_cuda.h -- the laws on the device, and the launch that evaluates them.
 *
 * Plain C, shared by lbm_laws_cuda.c and nvcc. Blocks of threads evaluate a law: registers that are
 * the same at all places are computed once per block, then each thread computes its places.
 */
#ifndef CUDA_LAWS_KERNELS_H
#define CUDA_LAWS_KERNELS_H

#include "cuda/terms.h"
#include "engine/solvers/lbm/lbm_method.h"
#include "engine/solvers/lbm/lbm_vicinity.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A law at rows of `width` places each: one row of a list of places, or the rows of a vicinity. */
typedef struct cuda_law {
    lbm_goal goal;
    int number; /* for messages */
    cuda_term term;
    const double *given; /* from the host: [components][width], user's units; NULL: evaluate */
    int64_t width, rows, blocks_per_row;
    int places_per_thread;
    const double *x, *y, *z; /* of a list; NULL: 0 */
    const int64_t *target;   /* number of the link, or of the open cell */
    const uint8_t *incoming; /* on links: the direction */
} cuda_law;

typedef struct cuda_laws_launch {
    cuda_terms_view terms;
    const cuda_law *laws;
    const int64_t *first_block; /* [count + 1] blocks of the laws before; laws not due have none */
    int count, threads;
    int64_t blocks;
    size_t shared_bytes; /* the registers of a block */
    sel_grid grid;
    double velocity_unit, pressure_unit, acceleration_unit;
    const lbm_direction *directions;
    cuda_clock clock;
    int64_t steps;         /* to evaluate, from the clock's on; CUDA_STEPS at most */
    const int64_t *halted; /* the first step in which a law has failed; NULL: ignored */
    double *link_add, *open_value, *acceleration;
    int64_t link_stride, open_stride; /* see lbm_gpu_boundary */
    void *acceleration_field;         /* NULL, or as lbm_state has it */
    int64_t acceleration_component;
    lbm_vicinity vicinity;   /* its rows */
    bool acceleration_turns; /* acceleration[CUDA_TURNS][3] */
    bool single;             /* the field is in f32 */
} cuda_laws_launch;

cudaError_t cuda_laws_run(const cuda_laws_launch *launch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
