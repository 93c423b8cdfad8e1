/* aqua_cuda.h -- the CUDA backend's state of sel.aqua, shared by its host files. */
#ifndef CUDA_AQUA_CUDA_H
#define CUDA_AQUA_CUDA_H

#include "engine/solvers/aqua/aqua_kernels_cuda.h"
#include "cuda/backend.h"
#include "engine/solvers/aqua/aqua_state.h"

typedef struct aqua_cuda {
    aqua_state all;
    aqua_gpu_view view; /* but for the present depths; its flow but for steps and blocks */
    uint8_t *marks;     /* [2][tiles] of each copy of the depths; NULL: the flow asks for none */
    int64_t tiles;

    aqua_gpu_spread spread[AQUA_SUPPLIES];
    /* Of fields whose programs are compiled: the kernel that supplies the rates of a step and fills
     * those of the next one; else NULL. */
    cuda_kernel *pour[AQUA_SUPPLIES];
    const cuda_fill *fill[AQUA_SUPPLIES];
    cuda_feed sent; /* buffers that are copied to flow.amounts */
    double *levels; /* of the ghosts; NULL: they vary in time, and are in the amounts */

    /* Totals on the device: rain that is a field, by rows; infiltration, by rows; fluxes into
     * ghosts, by edges. A part that is not wanted is NULL and has no room. */
    sel_total *books;
    sel_total *copied; /* on the host, while it is saved or loaded */
    int64_t book_count, summed_edges;
} aqua_cuda;

/* ---- totals and fluxes (aqua_totals_cuda.c): as in cuda_solver ---- */

sel_status aqua_cuda_saving(sel_state *base, sel_error *error);
sel_status aqua_cuda_ask(sel_state *base, const sel_request *request, sel_error *error);
void aqua_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request);

#endif
