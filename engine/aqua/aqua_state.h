/* aqua_state.h -- what a state of sel.aqua is on any backend, and what its host does for a step. */
#ifndef AQUA_STATE_H
#define AQUA_STATE_H

#include "engine/aqua/aqua.h"
#include "engine/machine/state.h"
#include "engine/machine/sums.h"

/* What rain or infiltration is in the step to come. */
typedef struct aqua_amount {
    aqua_spread spread;
    const sel_quantity *quantity;
    sel_status (*evaluate)(const aqua_plan *plan, int64_t step, double *to, sel_error *error);
    double uniform, carry; /* of AQUA_UNIFORM: units per step, of which `carry` is owed */
    void *rate, *owed;     /* of AQUA_FIELD: [ny][nx] in the type of beds */
} aqua_amount;

typedef struct aqua_state {
    sel_state base;
    const aqua_plan *plan;
    aqua_store store;
    int64_t size;       /* bytes of a number */
    void *bed, *alphas; /* alphas: NULL when alpha is the same everywhere */
    void *water[2];     /* in turns: water[step & 1] are the depths of `step` */
    void *more, *less;  /* of the scheme "scatter" */
    void *most;         /* [ny][nx] greatest depths; NULL: not watched */
    int32_t *arrived;   /* [ny][nx] steps; NULL: not watched */
    aqua_amount rain, soil;
    /* Into the ghosts of region r: first_edge[r] to first_edge[r + 1]; NULL: nothing is booked. */
    aqua_edge *edges;
    int64_t first_edge[AQUA_FIRSTS];
    /* On the host. */
    double *inflow_units, *inflow_carry; /* per source */
    int64_t *inflow_turn;                /* the cell that gets the next odd quantum */
    double *z;                           /* levels of the ghosts, m */
    double *field;                       /* [ny][nx] scratch of rates */
    sel_total rained, *inflow;           /* booked so far, units of the store */
    double first_volume;
} aqua_state;

/* Lists these arrays; those with a frame have room for so many numbers in front and behind. */
void aqua_list(aqua_state *state, int64_t before, int64_t behind);

/* Evaluates amounts that are the same for all cells, and sources, of the step from `step` on, that
 * depend on what is `due`. */
sel_status aqua_evaluate(aqua_state *state, int64_t step, unsigned due, sel_error *error);

/* Whether an amount is a field and due; and its rates of the step to come in the type of beds. */
bool aqua_rates_are_due(const aqua_amount *amount, unsigned due);
sel_status aqua_rates(aqua_state *state, const aqua_amount *amount, void *to, sel_error *error);

/* A uniform amount of a step, of whole quanta the rest is carried; and what a source brings in it,
 * which is booked. */
double aqua_take(const aqua_state *state, aqua_amount *amount);
aqua_dose aqua_take_dose(aqua_state *state, int source);

/* m3 of a unit of the store in a cell. */
static inline double aqua_volume_unit(const aqua_state *state) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    return grid->dx * grid->dx / state->store.per_metre;
}

static inline int64_t aqua_cells(const aqua_state *state) {
    return state->plan->layout.nx * state->plan->layout.ny;
}

/* The number of a cell of the layout. */
static inline int64_t aqua_cell_number(const aqua_layout *layout, int64_t at) {
    return (at / layout->pitch - AQUA_HALO) * layout->nx + at % layout->pitch - AQUA_HALO;
}

#endif
