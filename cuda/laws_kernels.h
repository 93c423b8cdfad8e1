/* laws_kernels.h -- the laws as the device sees them, and the launch that evaluates them.
 *
 * Plain C, shared by laws.c and nvcc. A law is evaluated by blocks of threads: the registers that
 * are the same at all places are computed once per block; each thread then has its places.
 */
#ifndef CUDA_LAWS_KERNELS_H
#define CUDA_LAWS_KERNELS_H

#include "cuda/machine/clock.h"
#include "engine/grid.h"
#include "engine/lbm/lattice.h"
#include "engine/physics/program_packed.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_LAW_PARTS = 3 };

/* Where the values of a law go. */
typedef enum cuda_law_kind {
    CUDA_LAW_LINKS,    /* link_add[target] */
    CUDA_LAW_OPENINGS, /* open_value[target] */
    CUDA_LAW_UNIFORM,  /* acceleration[3] */
    CUDA_LAW_FIELD     /* acceleration_field, at all cells */
} cuda_law_kind;

/* A quantity: by programs, or given by the host. */
typedef struct cuda_law_quantity {
    int components, programs;
    int program[CUDA_LAW_PARTS]; /* numbers in the pack */
    int room[CUDA_LAW_PARTS];    /* where the fixed registers of each begin */
    int fixed;                   /* of all of them together */
    int slot[CUDA_LAW_PARTS];    /* by component: whose result it is; -1: the constant */
    int result[CUDA_LAW_PARTS];  /* which one */
    double constant[CUDA_LAW_PARTS];
    const double *given; /* [components][width], user's units; NULL: evaluate */
} cuda_law_quantity;

/* A law at rows of `width` places each: one row of a list of places, or the rows of the grid. */
typedef struct cuda_law {
    cuda_law_kind kind;
    int number; /* for messages */
    cuda_law_quantity quantity;
    int64_t width, rows, blocks_per_row;
    int places_per_thread;
    const double *x, *y, *z; /* of a list; NULL: 0 */
    const int64_t *target;
    const uint8_t *incoming; /* on links: the direction */
} cuda_law;

/* The first place that went wrong; in memory of the host that the device can write. */
typedef struct cuda_law_fault {
    int happened, number;
    int64_t place, step;
} cuda_law_fault;

typedef struct cuda_laws_launch {
    sel_packed packed;
    const cuda_law *laws;
    const int64_t *first_block; /* [count + 1] blocks of the laws before; laws not due have none */
    int count, threads;
    int64_t blocks;
    size_t shared_bytes; /* the registers of a block */
    sel_grid grid;
    double velocity_unit, pressure_unit, acceleration_unit;
    const lbm_direction *directions;
    const double *controls;
    cuda_clock clock;
    double *link_add, *open_value, *acceleration;
    void *acceleration_field;
    int64_t pitch;
    bool acceleration_turns; /* acceleration[2][3]: of even and odd steps */
    bool single;             /* the field is in f32 */
    int *claimed;            /* by the first thread that found a fault */
    cuda_law_fault *fault;
} cuda_laws_launch;

cudaError_t cuda_laws_run(const cuda_laws_launch *launch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
