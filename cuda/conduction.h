/* conduction.h -- conducting bodies (engine/core/conduction.h) on the device: plain C, shared by
 * the host's files and nvcc's.
 */
#ifndef CUDA_CONDUCTION_H
#define CUDA_CONDUCTION_H

#include "cuda/query.h"
#include "engine/core/heat_body.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A state as seen by reads and sums. */
typedef struct cuda_body {
    cuda_grid grid;
    heat_view heat;
    cuda_parts from, before; /* the numbers of a step, and of that before it */
    int64_t first;           /* the element of cell 0 in them */
    int sum;                 /* HEAT_CONTENT, HEAT_ADDED; HEAT_VALUE: its change */
} cuda_body;
const cuda_look *cuda_body_look(void);

/* What enters at the sites of cells first <= k < end on surfaces, in the step from view->from to
 * view->to (`changes`: see heat_entering). */
cudaError_t cuda_body_entering(const heat_view *view, const sel_given *given, int64_t first,
                               int64_t end, bool changes, cudaStream_t stream);

/* Parts of an implicit step (heat_right_side), vectors being laid out as the view's; T is left as
 * it is where the step is halted. u = T; F, from A u in F, and u of fixed nodes; and T' = u. */
typedef struct cuda_body_step {
    heat_view view;
    sel_given given;
    int64_t surfaces[2];  /* cells surfaces[0] <= k < surfaces[1] of the surfaces */
    int64_t first, count; /* numbers of T, with those beside */
    double *u, *F, uniform;
    const double *mass; /* NULL: it is uniform */
    const int64_t *halted;
    cuda_clock clock;
} cuda_body_step;
cudaError_t cuda_body_load(const cuda_body_step *step, cudaStream_t stream);
cudaError_t cuda_body_right_side(const cuda_body_step *step, cudaStream_t stream);
cudaError_t cuda_body_store(const cuda_body_step *step, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
