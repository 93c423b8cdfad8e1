/* aqua_state.h -- the state of the CUDA backend of sel.aqua, shared by its host files. */
#ifndef CUDA_AQUA_STATE_H
#define CUDA_AQUA_STATE_H

#include "cuda/aqua_gpu.h"
#include "cuda/machine/terms.h"
#include "engine/solvers/aqua/aqua_state.h"

typedef struct aqua_cuda {
    aqua_state all;
    aqua_gpu_flow pattern; /* what aqua_cuda_flow completes */
    aqua_gpu_view view;    /* all but the present depths */
    uint8_t *marks[2]; /* of the tiles of each copy of the depths; NULL: the flow asks for none */

    /* Rain, infiltration and sources. */
    bool alone;       /* a field that varies in time is no term: steps are prepared singly */
    cuda_terms terms; /* fields that vary in time */
    aqua_gpu_spread spread[AQUA_SUPPLIES];
    cuda_feed rates[AQUA_SUPPLIES]; /* of AQUA_FIELD that is no term */
    double *amounts;                /* of steps to come (aqua_gpu.h), on the device, */
    cuda_feed sent;                 /* and the buffers that are copied there */
    aqua_source_cell *source_cells; /* on the device */

    /* Ghosts. */
    aqua_gpu_ghosts ghosts;
    double *levels;   /* of the ghosts; NULL: they vary in time, and are in the amounts */
    bool sets_ghosts; /* before every step, as the flow or a level changes some of them */

    /* Totals on the device: rain that is a field, by rows; infiltration, by rows; fluxes into
     * ghosts, by edges. A part that is not wanted is NULL and has no room. */
    sel_total *books, *edge_totals; /* edge_totals: the last part of books */
    sel_total *copied;              /* on the host, while it is saved or loaded */
    int64_t book_count, summed_edges;
} aqua_cuda;

/* The step from `step` on in block b of the grid. */
aqua_gpu_flow aqua_cuda_flow(const aqua_cuda *state, int64_t step, int b);

/* Finds the terms of a state that knows its plan, and lists their arrays. True if rain or
 * infiltration may fail after rain or sources have changed the depths: these then go into a third
 * copy. */
bool aqua_cuda_list_amounts(aqua_cuda *state);
void aqua_cuda_close_amounts(sel_state *base);
/* Evaluates terms once on the host, for the same errors as on the CPU, and uploads them. */
sel_status aqua_cuda_start_amounts(aqua_cuda *state, sel_error *error);

/* Evaluates what is due for the present step, and sends fields of rain and infiltration, and
 * levels. Then, unless `count` is NULL, the other amounts of *count steps, at most CUDA_STEPS, from
 * the present one on; lowers *count to those before a step that fails. */
sel_status aqua_cuda_evaluate(aqua_cuda *state, unsigned due, int64_t *count, sel_error *error);

/* The error of a term that has failed. */
sel_status aqua_cuda_explain(const aqua_cuda *state, const cuda_term_fault *fault,
                             sel_error *error);

#endif
