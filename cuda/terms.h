/* terms.h -- quantities that vary in time, evaluated by kernels: programs, series, rasters, noise.
 *
 * A solver declares each quantity (cuda_terms_take), at sites, at cells or uniform. Programs whose
 * data can be packed are laid out in one block of device memory, from which the solver's kernels
 * evaluate them in the step that needs them (terms.cuh), so that steps can be recorded in graphs.
 * What only Lua can evaluate, the host evaluates and the solver sends.
 *
 * A kernel that finds no value reports place and step, once per step; the host evaluates the
 * quantity there again for the message that the CPU backend would give.
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_TERMS_H
#define CUDA_TERMS_H

#include "cuda/query.h"
#include "engine/scene/grid.h"
#include "engine/values/program_eval.h"

enum { CUDA_TERM_PARTS = 3 };

/* A quantity as kernels evaluate it. */
typedef struct cuda_term {
    int number; /* the solver's, for faults */
    int components, programs;
    int program[CUDA_TERM_PARTS]; /* numbers in the pack */
    int room[CUDA_TERM_PARTS];    /* where the fixed registers of each begin */
    int fixed;                    /* number of these */
    int own;                      /* registers of a place, the most that a program needs */
    int slot[CUDA_TERM_PARTS];    /* by component: the program that computes it; -1: a constant */
    int result[CUDA_TERM_PARTS];  /* which of its results */
    double constant[CUDA_TERM_PARTS];
} cuda_term;

/* A place where a term has no value; in pinned memory, which the device writes. */
typedef struct cuda_term_fault {
    int happened, number;
    int64_t place, step;
} cuda_term_fault;

/* What kernels need of all terms together. */
typedef struct cuda_terms_view {
    sel_packed packed;
    const double *controls;
    /* [CUDA_STEPS], step n at n % CUDA_STEPS: not 0 once a thread has reported a fault, and that
     * fault. NULL: faults are known already. */
    int *claimed;
    cuda_term_fault *fault;
    int64_t *halted;     /* the first step in which a term failed; INT64_MAX: none */
    const double *clock; /* where dt changes: the step of sel_clock, its time, dt; else NULL */
} cuda_terms_view;

/* Shared memory that a block can have on any device without opting in. */
enum { CUDA_TERM_SHARED = 48 << 10 };

/* The registers of a block for cuda_term_evaluate. */
static inline size_t cuda_term_bytes(const cuda_term *term, int threads) {
    return (size_t)(term->fixed + term->own * threads) * sizeof(double);
}

#ifndef __CUDACC__

#include "cuda/feed.h"
#include "engine/core/state.h"
#include "engine/values/program.h"

typedef struct cuda_terms {
    const sel_domain *domain;
    sel_pack *pack;
    uint8_t *packed;
    double *controls;
    bool follows;           /* values are of the times of a clock whose dt changes: */
    sel_clock clock;        /* the last one sent */
    int *claimed;           /* [CUDA_STEPS] */
    cuda_term_fault *fault; /* [CUDA_STEPS], pinned */
    int64_t *halted;
    cuda_feed sent; /* controls, and the clock */
} cuda_terms;

/* No terms yet. False: no memory. */
bool cuda_terms_open(cuda_terms *terms, const sel_domain *domain);
void cuda_terms_close(cuda_terms *terms);

/* Adds a quantity, described in `to`. False: the host has to evaluate it, since it is no program,
 * or the registers of `threads` places exceed a block's memory; `to` then has constants only. */
bool cuda_terms_take(cuda_terms *terms, const sel_quantity *quantity, int threads, cuda_term *to);

/* Lists the arrays when all quantities are added (and `follows` is set); uploads them; gives the
 * kernels' view. */
void cuda_terms_list(cuda_terms *terms, sel_arrays *arrays);
sel_status cuda_terms_start(cuda_terms *terms, sel_error *error);
cuda_terms_view cuda_terms_see(const cuda_terms *terms);

/* Sends the present values of the controls, if they are due (SEL_ON_CONTROLS), and the clock of the
 * state, if it is another one. */
sel_status cuda_terms_set_controls(cuda_terms *terms, const sel_state *state, unsigned due,
                                   sel_error *error);

/* Whether a kernel has reported a fault that affects the state after `step` steps: the first. */
bool cuda_terms_failed(const cuda_terms *terms, int64_t step, cuda_term_fault *found);

/* The error when the host does find a value where the device found none. */
sel_status cuda_term_unknown(const sel_quantity *quantity, const char *what, const sel_places *at,
                             sel_error *error);

#endif
#endif
