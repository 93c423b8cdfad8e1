/* terms.h -- quantities that vary in time, evaluated by kernels: programs, series, rasters, noise.
 *
 * A solver declares each quantity (cuda_terms_take), at sites, at cells or the same everywhere.
 * What are programs with data that can be packed is laid out in one block of device memory, from
 * which the solver's kernels evaluate it in the step that needs it (terms.cuh); so steps can be
 * recorded, and the host is not asked. What only Lua can evaluate is the host's: the solver sends
 * it.
 *
 * A kernel that finds no value tells the place and the step, once; the host then evaluates the
 * quantity there again and has the message that the CPU backend would give.
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_TERMS_H
#define CUDA_TERMS_H

#include "cuda/machine/look.h"
#include "engine/scene/grid.h"
#include "engine/values/program_eval.h"

enum { CUDA_TERM_PARTS = 3 };

/* A quantity as kernels evaluate it. */
typedef struct cuda_term {
    int number; /* the solver's, for faults */
    int components, programs;
    int program[CUDA_TERM_PARTS]; /* numbers in the pack */
    int room[CUDA_TERM_PARTS];    /* where the fixed registers of each begin */
    int fixed;                    /* of all of them together */
    int own;                      /* registers of a place, for the program that needs most */
    int of_row, of_lanes;         /* registers of a row and of each place in it (program_eval.h) */
    int slot[CUDA_TERM_PARTS];    /* by component: whose result it is; -1: the constant */
    int result[CUDA_TERM_PARTS];  /* which one */
    double constant[CUDA_TERM_PARTS];
} cuda_term;

/* A place that has no value; in memory of the host that the device can write. */
typedef struct cuda_term_fault {
    int happened, number;
    int64_t place, step;
} cuda_term_fault;

/* What kernels need of all terms together. */
typedef struct cuda_terms_view {
    sel_packed packed;
    const double *controls;
    /* Of the steps n with the same n % CUDA_STEPS: not 0 as soon as a thread tells of a fault, and
     * what it tells. NULL: faults are known already. */
    int *claimed;
    cuda_term_fault *fault;
    int64_t *halted; /* the first step in which a term had no value; INT64_MAX: none */
} cuda_terms_view;

/* What any device gives a block of shared memory without asking. */
enum { CUDA_TERM_SHARED = 48 << 10 };

/* The registers of a block for cuda_term_evaluate. */
static inline size_t cuda_term_bytes(const cuda_term *term, int threads) {
    return (size_t)(term->fixed + term->own * threads) * sizeof(double);
}

/* The same for a warp with SEL_LANES places of a row for each of its threads. */
static inline size_t cuda_term_row_bytes(const cuda_term *term) {
    return (size_t)(term->of_row + term->of_lanes * SEL_LANES * CUDA_WARP) * sizeof(double);
}

#ifndef __CUDACC__

#include "cuda/machine/queue.h"
#include "engine/values/program.h"

typedef struct cuda_terms {
    const sel_domain *domain;
    sel_pack *pack;
    uint8_t *packed;
    double *controls;
    int *claimed;           /* [CUDA_STEPS] */
    cuda_term_fault *fault; /* [CUDA_STEPS], pinned */
    int64_t *halted;
    cuda_feed sent; /* controls */
} cuda_terms;

/* No terms yet. False: no memory. */
bool cuda_terms_open(cuda_terms *terms, const sel_domain *domain);
void cuda_terms_close(cuda_terms *terms);

/* Takes a quantity. False: the host has to evaluate it, since it is no program, or the registers of
 * `threads` places have no room in a block's memory; `to` is then constants alone. */
bool cuda_terms_take(cuda_terms *terms, const sel_quantity *quantity, int threads, cuda_term *to);

/* Lists the arrays, when all is taken; uploads; then what kernels need. */
void cuda_terms_list(cuda_terms *terms, sel_arrays *arrays);
sel_status cuda_terms_start(cuda_terms *terms, sel_error *error);
cuda_terms_view cuda_terms_see(const cuda_terms *terms);

/* Sends the present values of the controls. */
sel_status cuda_terms_set_controls(cuda_terms *terms, const double *values, cudaStream_t stream,
                                   sel_error *error);

/* Whether a kernel has told of a fault that touches the state after `step` steps: the first. */
bool cuda_terms_failed(const cuda_terms *terms, int64_t step, cuda_term_fault *found);

/* The error where the device had no value and the host has one. */
sel_status cuda_term_unknown(const sel_quantity *quantity, const char *what, const sel_places *at,
                             sel_error *error);

#endif
#endif
