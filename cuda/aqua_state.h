/* aqua_state.h -- the state of the CUDA backend of sel.aqua, shared by its host files. */
#ifndef CUDA_AQUA_STATE_H
#define CUDA_AQUA_STATE_H

#include "cuda/aqua_gpu.h"
#include "cuda/queue.h"
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

struct sel_state {
    const aqua_plan *plan;
    aqua_store store;
    int64_t size; /* bytes of a number */
    int64_t step;
    cuda_queue queue;
    int64_t *clock; /* on the device: aqua_gpu_clock.base, */
    int64_t base;   /* whose value it has when all that is queued is done */
    cudaGraphExec_t graph;

    aqua_gpu_flow pattern; /* all but `from`, `to` and the clock's offset */
    aqua_gpu_view view;    /* all but the depths */
    void *bed;
    void *water[2];    /* in turns: water[step & 1] are the depths of `step` */
    uint8_t *marks[2]; /* of the tiles of each; NULL: the flow asks for none */
    void *most;        /* NULL: not watched */
    int32_t *arrived;
    void *last; /* [ny][nx] depths at the last monitor */
    bool monitored;
    void *rows; /* of sums, ROW_BYTES each */

    /* What comes and goes. */
    unsigned depends; /* of all that is not uniform: with SEL_ON_T steps are prepared one by one */
    aqua_supply rain, soil;
    cuda_feed amounts; /* [AQUA_AHEAD] rain, [AQUA_AHEAD] soil, [AQUA_AHEAD][sources] doses */
    double *inflow_units, *inflow_carry; /* by source */
    int64_t *inflow_turn;
    aqua_gpu_tap *taps; /* on the device */
    aqua_layer *layers;
    int layer_count;
    double *field;    /* [ny][nx] scratch of rates */
    double *controls; /* their values when they were last looked at */

    /* Ghosts. */
    aqua_gpu_ghosts ghosts;
    cuda_feed levels;
    double *z;
    bool periodic[2];
    bool settles; /* the flow changes some of the ghosts: they are set before every step */

    /* The books. */
    aqua_gpu_edge *edges;
    int64_t edge_count, first_edge[258]; /* those of region r from first_edge[r] on */
    aqua_gpu_total *booked;              /* [edge_count] on the device; NULL: nobody asks */
    aqua_gpu_total rained, *inflow;      /* of uniform rain and of sources, on the host */
    double first_volume;

    uint64_t *alarm; /* on the device, */
    uint64_t *seen;  /* and as it was at the end of the last chunk that is done; pinned */
};

enum { AQUA_ROW_BYTES = sizeof(aqua_gpu_monitor) };
_Static_assert(sizeof(aqua_gpu_sums) <= AQUA_ROW_BYTES, "a row of sums has room");
_Static_assert(sizeof(aqua_gpu_total) <= AQUA_ROW_BYTES, "a row of volumes has room");

/* Memory on the device, or only what it takes. */
typedef struct aqua_taker {
    cuda_queue *queue; /* NULL: only count */
    uint64_t bytes;
    sel_status status;
    sel_error *error;
} aqua_taker;

/* Takes all of the device's memory that the state needs. */
sel_status aqua_cuda_place(sel_state *state, const sel_plan *base, aqua_taker *taker);

/* Beds, depths, ghosts, sources and edges of step 0. */
sel_status aqua_cuda_fill(sel_state *state, sel_error *error);

/* Evaluates what depends on what is due for the present step, and sends fields of rain and soil,
 * and levels. */
sel_status aqua_cuda_prepare(sel_state *state, unsigned due, sel_error *error);

/* Sends the other amounts of `count` steps, at most AQUA_AHEAD, from the present one on, which is
 * prepared. */
sel_status aqua_cuda_amounts(sel_state *state, int64_t count, sel_error *error);

/* The flow of the step from `step` on. */
aqua_gpu_flow aqua_cuda_flow(const sel_state *state, int64_t step);

/* The present state as fields see it. */
aqua_gpu_view aqua_cuda_view(const sel_state *state);

/* The volume in all free cells, units of the store. Waits. */
sel_status aqua_cuda_volume(sel_state *state, double *volume, sel_error *error);
/* The same from the rows that aqua_gpu_volume has found. */
double aqua_cuda_join_rows(const sel_state *state, const aqua_gpu_total *rows);

/* The error that the device has told of, if it touches the state after `step` steps. */
sel_status aqua_cuda_check(const sel_state *state, int64_t step, sel_error *error);

sel_status aqua_cuda_start(sel_state *state, sel_request *request, sel_error *error);
sel_status aqua_cuda_finish(sel_state *state, sel_request *request, sel_error *error);

/* The number of a cell of the layout. */
static inline int64_t aqua_cuda_cell_number(const aqua_layout *layout, int64_t at) {
    return (at / layout->pitch - AQUA_HALO) * layout->nx + at % layout->pitch - AQUA_HALO;
}

static inline int64_t aqua_cuda_cells(const sel_state *state) {
    return state->plan->layout.nx * state->plan->layout.ny;
}

#endif
