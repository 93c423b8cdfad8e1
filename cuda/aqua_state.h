/* aqua_state.h -- the state of the CUDA backend of sel.aqua, shared by its host files. */
#ifndef CUDA_AQUA_STATE_H
#define CUDA_AQUA_STATE_H

#include "cuda/aqua_gpu.h"
#include "cuda/machine/backend.h"
#include "cuda/machine/terms.h"
#include "engine/aqua/aqua_state.h"

/* Rain or infiltration on the device. */
typedef struct aqua_supply {
    cuda_feed rates; /* of AQUA_FIELD that is no term */
    aqua_gpu_spread device;
} aqua_supply;

/* Sources no two of which share a cell: taps[first] ... taps[first + count - 1]. */
typedef struct aqua_layer {
    uint32_t first, count;
} aqua_layer;

typedef struct aqua_cuda {
    aqua_state all;
    aqua_gpu_flow pattern; /* all but `from`, `to` and the clock's offset */
    aqua_gpu_view view;    /* see aqua_cuda_look */
    uint8_t *marks[2]; /* of the tiles of each copy of the depths; NULL: the flow asks for none */

    /* What comes and goes. */
    unsigned depends; /* of what is neither uniform nor a term: with SEL_ON_T steps are prepared one
                         by one */
    cuda_terms terms; /* fields and levels that vary in time */
    aqua_supply pour, soak;
    cuda_feed amounts;  /* [CUDA_STEPS] rain, [CUDA_STEPS] soil, [CUDA_STEPS][sources] doses */
    aqua_gpu_tap *taps; /* on the device */
    aqua_layer *layers;
    int layer_count;

    /* Ghosts. */
    aqua_gpu_ghosts ghosts;
    cuda_feed levels;
    aqua_gpu_level *level; /* of regions whose level is a term, */
    int *level_region;
    int level_count;
    double *ghost_x, *ghost_y; /* on the device; NULL: none is a term */
    bool periodic[2];
    bool settles; /* the flow changes some of the ghosts: they are set before every step */

    sel_total *booked; /* of the edges, on the device; NULL: nobody asks */

    /* What is booked on the device, as the CPU books it: only while it is saved or loaded. */
    sel_total soaked, *out;
} aqua_cuda;

/* Edges whose fluxes are booked. */
static inline int64_t aqua_cuda_edges(const aqua_cuda *state) {
    return state->all.first_edge[state->all.plan->base.domain->region_count + 1];
}

/* cuda_solver.list, .start and .close */
void aqua_cuda_list(sel_state *base);
sel_status aqua_cuda_start(sel_state *base, sel_error *error);
void aqua_cuda_close(sel_state *base);

/* cuda_solver.saving and .loaded */
sel_status aqua_cuda_saving(sel_state *base, sel_error *error);
sel_status aqua_cuda_loaded(sel_state *base, sel_error *error);

/* Evaluates what depends on what is due for the present step, and sends fields of rain and soil,
 * and levels. */
sel_status aqua_cuda_prepare(aqua_cuda *state, unsigned due, sel_error *error);

/* Sends the other amounts of *count steps, at most CUDA_STEPS, from the present one on, which is
 * prepared; lowers *count to those before a step that fails. */
sel_status aqua_cuda_amounts(aqua_cuda *state, int64_t *count, sel_error *error);

/* What terms are called in faults: rain, infiltration, and the level of region r as
 * AQUA_TERM_LEVEL + r. */
enum { AQUA_TERM_RAIN, AQUA_TERM_SOIL, AQUA_TERM_LEVEL };

/* Finds the terms, and lists their arrays. */
void aqua_cuda_list_terms(aqua_cuda *state);
void aqua_cuda_close_terms(aqua_cuda *state);
/* Evaluates them once by the host, so that mistakes are reported as on the CPU, and uploads them.
 */
sel_status aqua_cuda_start_terms(aqua_cuda *state, sel_error *error);
/* Enqueues levels for the step from `step` on. */
sel_status aqua_cuda_rise(const aqua_cuda *state, int64_t step, sel_error *error);
/* The error of a term in a step before the state after `step` steps. */
sel_status aqua_cuda_check_terms(const aqua_cuda *state, int64_t step, sel_error *error);

/* The flow of the step from `step` on. */
aqua_gpu_flow aqua_cuda_flow(const aqua_cuda *state, int64_t step);

/* cuda_solver.look */
sel_status aqua_cuda_look(sel_state *base, int field, const cuda_look **look, const void **view,
                          sel_error *error);

/* cuda_solver.ask and .answer */
sel_status aqua_cuda_ask(sel_state *base, const sel_request *request, sel_error *error);
void aqua_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request);

#endif
