/* laws.h -- the laws of a flow, evaluated on the device before each step without the host.
 *
 * Functions that are programs are run by a kernel at their places: the middle of links of moving
 * walls, the cells of open faces, all cells for an acceleration that depends on place. What only
 * Lua can evaluate is evaluated by the host and sent along, step by step.
 */
#ifndef CUDA_LAWS_H
#define CUDA_LAWS_H

#include <cuda_runtime_api.h>
#include "cuda/machine/look.h"
#include "engine/lbm/lbm.h"
#include "engine/machine/arrays.h"

typedef struct cuda_laws cuda_laws;

/* Where the values go, all in device memory; layouts as in lbm_batches_apply, lattice units. */
typedef struct cuda_law_targets {
    double *link_add;         /* [links] */
    double *open_value;       /* [openings][LBM_OPEN_VALUES] */
    double *acceleration;     /* uniform: [2][3], see cuda_acceleration_turns */
    void *acceleration_field; /* [dims][nz][ny][pitch] in the run's precision; NULL: uniform */
    int64_t pitch;            /* of a row of it, in numbers */
} cuda_law_targets;

/* True when a uniform acceleration varies in time: that of step n is then at n & 1 of the two, as
 * its closures need the one before too; else the first is of all steps. */
bool cuda_acceleration_turns(const lbm_plan *plan);

/* Finds the laws that vary and lists their arrays; NULL: no memory. */
cuda_laws *cuda_laws_create(const lbm_plan *plan, sel_arrays *arrays);

/* Uploads programs, their data and places, evaluates everything for the first step on the host (so
 * that mistakes are told as on the CPU: values are complete afterwards, the acceleration at time
 * 0), and synchronises. */
sel_status cuda_laws_start(cuda_laws *laws, const cuda_law_targets *targets, sel_error *error);
void cuda_laws_destroy(cuda_laws *laws);

/* What any of the laws varies with: a mask of SEL_ON_T and SEL_ON_CONTROLS. */
unsigned cuda_laws_depend(const cuda_laws *laws);

/* True when a law that varies in time needs the host in every step: no graph can hold it. */
bool cuda_laws_need_host(const cuda_laws *laws);

/* Sends the present values of the controls. */
sel_status cuda_laws_set_controls(cuda_laws *laws, const double *values, cudaStream_t stream,
                                  sel_error *error);

/* Enqueues the evaluation, for the step from the clock's to the next, of all laws that depend on
 * what is `due` (as lbm_batches_apply, and the acceleration at the end of the step). `step` is what
 * the clock will show; only laws that need the host use it, so that with all others the call may be
 * captured into a graph. */
sel_status cuda_laws_enqueue(cuda_laws *laws, unsigned due, int64_t step, cuda_clock clock,
                             cudaStream_t stream, sel_error *error);

/* On the device: not 0 as soon as a program gave NaN, infinity, or left what it is sure of. Kernels
 * of that step and of later ones that see it leave the state as it is. */
const int *cuda_laws_halted(const cuda_laws *laws);

/* Call after a synchronisation: fails when that was in a step before the state after `step` steps,
 * which is then *failed, with the message that the CPU would give (the host evaluates that place
 * again). */
sel_status cuda_laws_check(cuda_laws *laws, int64_t step, int64_t *failed, sel_error *error);

/* Enqueues laws that vary in time again for a step in which all had values. */
void cuda_laws_restore(cuda_laws *laws, int64_t step, cuda_clock clock, cudaStream_t stream);

#endif
