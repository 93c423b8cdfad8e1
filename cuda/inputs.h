/* inputs.h -- the inputs of a plan (engine/core/inputs.h) that vary, on the device.
 *
 * One launch evaluates all that are due, at their places, and stores the values as the solver says;
 * a source in cells is filled by a launch of its own (fill.h). On small grids one launch evaluates
 * the steps of a whole graph. What only Lua can evaluate, the host evaluates and sends, step by
 * step, through pinned buffers that take turns, and the same launch stores it.
 *
 * Where a value is missing, the kernels of that step and of later ones do nothing (cuda_is_halted):
 * the state of the step before is complete. Other ranks hear of it before the step after
 * (cuda_take_slabs) and go back to it.
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_INPUTS_H
#define CUDA_INPUTS_H

#include "cuda/fill.h"

/* An input that varies, at its places, or uniform: at one. */
typedef struct cuda_input {
    int number; /* in the list of the plan */
    int which;  /* sel_input.which */
    bool uniform;
    double ahead, least, most; /* a value beyond is a fault, */
    bool whole;                /* and one that is not a whole number */
    cuda_term term;
    const double *given;    /* from the host: [components][count]; NULL: the term is evaluated */
    int64_t count, blocks;  /* places, and blocks of threads for them */
    const double *place[3]; /* [count] by axis; NULL: 0 */
    const int64_t *target;  /* [count], as in sel_inputs; so is */
    const uint8_t *detail;
} cuda_input;

typedef struct cuda_inputs_launch {
    cuda_terms_view terms;
    const cuda_input *inputs;
    const int64_t *first_block; /* [count + 1] blocks of the inputs before; what is not due has 0 */
    int count, threads;
    int64_t blocks;
    size_t shared_bytes; /* the registers of a block */
    double dt;
    cuda_clock clock;
    int64_t steps; /* that are evaluated, from the clock's on; CUDA_STEPS at most */
} cuda_inputs_launch;

/* The instantiation of cuda_inputs_run (inputs.cuh) for a store. */
typedef cudaError_t cuda_inputs_launcher(const cuda_inputs_launch *launch, const void *view,
                                         cudaStream_t stream);

/* The store of state->given. */
typedef struct cuda_given_view {
    double *value;      /* [site][values] */
    int64_t first, end; /* sites that the rank has, */
    int values;
} cuda_given_view;

#ifdef __cplusplus
extern "C" {
#endif
cuda_inputs_launcher cuda_given_run;
#ifdef __cplusplus
}
#endif

#ifndef __CUDACC__

#include "engine/core/state.h"

/* Chooses what kernels evaluate, if any input varies: state->inputs. Before the solver lists its
 * arrays. */
void cuda_inputs_open(sel_state *state);
/* Whether the values of CUDA_STEPS steps can be evaluated together: no value comes from the host,
 * none is in cells. */
bool cuda_inputs_are_programs(const sel_state *state);
void cuda_inputs_list(sel_state *state);
sel_status cuda_inputs_start(sel_state *state, sel_error *error);
void cuda_inputs_close(sel_state *state);

/* These do nothing where no input varies. `terms` evaluates and sends what the host has to, and
 * what varies by controls; `step` enqueues what varies in time; both with what the solver derives
 * from the values. */
sel_status cuda_inputs_terms(sel_state *state, unsigned due, sel_error *error);
sel_status cuda_inputs_step(sel_state *state, int64_t step, sel_error *error);
/* Hands the filling of a field in cells over to the solver: where steps are enqueued together, for
 * all but the first of them. *kernel is then its kernel `name`, of the text that is compiled with
 * the one that fills the field (cuda_solver.beside), and *fill what both take. NULL: none is
 * compiled, and `step` fills the field, or the host evaluates it. */
sel_status cuda_inputs_hand_over(sel_state *state, int number, const char *name,
                                 cuda_kernel **kernel, const cuda_fill **fill, sel_error *error);
/* Whether a value is missing that affects the state after `step` steps: first in *failed. */
bool cuda_inputs_failed(const sel_state *state, int64_t step, int64_t *failed);
/* As in cuda_solver. */
bool cuda_inputs_alone(const sel_state *state);
sel_status cuda_inputs_check(sel_state *state, int64_t step, sel_error *error);
sel_status cuda_inputs_loaded(sel_state *state, sel_error *error);
/* For cuda_is_halted. */
const int64_t *cuda_inputs_halted(const sel_state *state);

#endif
#endif
