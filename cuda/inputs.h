/* inputs.h -- the inputs of a plan (engine/core/inputs.h) that vary, on the device.
 *
 * Programs are evaluated by kernels before each step, where graphs can hold them; what only Lua can
 * evaluate, the host evaluates and sends.
 *
 * Plain C, shared by the host's files and nvcc's.
 */
#ifndef CUDA_INPUTS_H
#define CUDA_INPUTS_H

#include "cuda/fill.h"

/* An input that is a program. */
typedef struct cuda_input {
    cuda_fill in;      /* `to` is NULL for one at sites, which has: */
    int which, values; /* number among a site's values; their number */
    int64_t count;
    const double *place[3]; /* [count] by axis */
    const int64_t *order;   /* [count] site */
    double *value;
} cuda_input;

#ifdef __cplusplus
extern "C" {
#endif

/* Evaluates an input at its sites. */
cudaError_t cuda_input_evaluate(const cuda_input *input, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#ifndef __CUDACC__

#include "engine/core/state.h"

/* Made with the list of arrays if any input varies: state->inputs. */
void cuda_inputs_list(sel_state *state);
sel_status cuda_inputs_start(sel_state *state, sel_error *error);
void cuda_inputs_close(sel_state *state);

/* These do nothing where no input varies. `terms` evaluates and sends what the host has to, and
 * what varies by controls; `step` enqueues the programs that depend on any of `on`; both with what
 * the solver derives from them. */
sel_status cuda_inputs_terms(sel_state *state, unsigned due, sel_error *error);
sel_status cuda_inputs_step(sel_state *state, unsigned on, int64_t step, sel_error *error);
/* As in cuda_solver. */
bool cuda_inputs_alone(const sel_state *state);
sel_status cuda_inputs_check(sel_state *state, int64_t step, sel_error *error);
sel_status cuda_inputs_loaded(sel_state *state, sel_error *error);
/* For cuda_is_halted. */
const int64_t *cuda_inputs_halted(const sel_state *state);

#endif
#endif
