/* aqua_state.h -- the state of the CUDA backend of sel.aqua, shared by its host files. */
#ifndef CUDA_AQUA_STATE_H
#define CUDA_AQUA_STATE_H

#include "cuda/aqua_gpu.h"
#include "cuda/machine/backend.h"
#include "engine/aqua/aqua.h"

/* Rain or infiltration on the host: what the next steps bring. */
typedef struct aqua_supply {
    aqua_spread spread;
    const sel_quantity *quantity;
    sel_status (*evaluate)(const aqua_plan *plan, int64_t step, double *to, sel_error *error);
    double uniform, carry; /* of AQUA_UNIFORM: units per step, of which `carry` is owed */
    cuda_feed rates;       /* of AQUA_FIELD */
    aqua_gpu_spread device;
} aqua_supply;

/* Sources no two of which share a cell: taps[first] ... taps[first + count - 1]. */
typedef struct aqua_layer {
    uint32_t first, count;
} aqua_layer;

typedef struct aqua_cuda {
    sel_state base;
    const aqua_plan *plan;
    aqua_store store;
    int64_t size; /* bytes of a number */

    aqua_gpu_flow pattern; /* all but `from`, `to` and the clock's offset */
    aqua_gpu_view view;    /* see aqua_cuda_look */
    void *bed;
    void *water[2];    /* in turns: water[step & 1] are the depths of `step` */
    uint8_t *marks[2]; /* of the tiles of each; NULL: the flow asks for none */
    void *most;        /* NULL: not watched */
    int32_t *arrived;

    /* What comes and goes. */
    unsigned depends; /* of all that is not uniform: with SEL_ON_T steps are prepared one by one */
    aqua_supply rain, soil;
    cuda_feed amounts; /* [CUDA_STEPS] rain, [CUDA_STEPS] soil, [CUDA_STEPS][sources] doses */
    double *inflow_units, *inflow_carry; /* by source */
    int64_t *inflow_turn;
    aqua_gpu_tap *taps; /* on the device */
    aqua_layer *layers;
    int layer_count;
    double *field; /* [ny][nx] scratch of rates */

    /* Ghosts. */
    aqua_gpu_ghosts ghosts;
    cuda_feed levels;
    double *z;
    bool periodic[2];
    bool settles; /* the flow changes some of the ghosts: they are set before every step */

    /* The books. */
    aqua_edge *edges;
    int64_t edge_count, first_edge[AQUA_FIRSTS]; /* those of region r from first_edge[r] on */
    sel_total *booked;                           /* [edge_count] on the device; NULL: nobody asks */
    sel_total rained, *inflow;                   /* of uniform rain and of sources, on the host */
    double first_volume;
} aqua_cuda;

/* cuda_solver.list, .start and .close */
void aqua_cuda_list(sel_state *base);
sel_status aqua_cuda_start(sel_state *base, sel_error *error);
void aqua_cuda_close(sel_state *base);

/* Evaluates what depends on what is due for the present step, and sends fields of rain and soil,
 * and levels. */
sel_status aqua_cuda_prepare(aqua_cuda *state, unsigned due, sel_error *error);

/* Sends the other amounts of *count steps, at most CUDA_STEPS, from the present one on, which is
 * prepared; lowers *count to those before a step that fails. */
sel_status aqua_cuda_amounts(aqua_cuda *state, int64_t *count, sel_error *error);

/* The flow of the step from `step` on. */
aqua_gpu_flow aqua_cuda_flow(const aqua_cuda *state, int64_t step);

/* cuda_solver.look */
sel_status aqua_cuda_look(sel_state *base, int field, const cuda_look **look, const void **view,
                          sel_error *error);

/* cuda_solver.ask and .answer */
sel_status aqua_cuda_ask(sel_state *base, const sel_request *request, sel_error *error);
void aqua_cuda_answer(sel_state *base, const cuda_slot *slot, sel_request *request);

/* The number of a cell of the layout. */
static inline int64_t aqua_cuda_cell_number(const aqua_layout *layout, int64_t at) {
    return (at / layout->pitch - AQUA_HALO) * layout->nx + at % layout->pitch - AQUA_HALO;
}

static inline int64_t aqua_cuda_cells(const aqua_cuda *state) {
    return state->plan->layout.nx * state->plan->layout.ny;
}

#endif
