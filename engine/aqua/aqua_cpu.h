/* aqua_cpu.h -- the state of the CPU backend of sel.aqua. */
#ifndef AQUA_CPU_H
#define AQUA_CPU_H

#include "engine/aqua/aqua_kernel.h"

/* A running sum: exact in whole quanta, else with what rounding loses kept apart. */
typedef struct aqua_total {
    int64_t whole;
    double sum, lost;
} aqua_total;

/* What rain or infiltration is in the step to come. */
typedef struct aqua_amount {
    double uniform, carry; /* of AQUA_UNIFORM: units per step, of which `carry` is owed */
    void *rate, *owed;     /* of AQUA_FIELD: [ny][nx] in the type of beds */
} aqua_amount;

struct sel_state {
    const aqua_plan *plan;
    aqua_store store;
    const aqua_loops *loops;
    int threads;
    int64_t step;
    bool half_done; /* a step failed when rain or sources had been poured */
    int64_t size;   /* bytes of a number */
    void *block;
    void *bed, *alphas; /* alphas: NULL when alpha is the same everywhere */
    void *water[2];     /* in turns: water[step & 1] are the depths of `step` */
    void *more, *less;  /* of the scheme "scatter" */
    void *most;         /* [ny][nx] greatest depths; NULL: not watched */
    int32_t *arrived;   /* [ny][nx] steps; NULL: not watched */
    void *last;         /* [ny][nx] depths at the last monitor */
    bool monitored;
    aqua_amount rain, soil;
    double *inflow_units, *inflow_carry; /* per source */
    int64_t *inflow_turn;                /* the cell that gets the next odd quantum */
    double *z;                           /* levels of the ghosts, m */
    double *controls;
    double *field;    /* [ny][nx] scratch of rates */
    double *partials; /* AQUA_PARTIALS per row */
    double *rows;     /* [threads][nx] */
    char *scratch;    /* of the flow, for each thread */
    /* What has been booked so far, in units of the store. */
    aqua_total rained, soaked, *inflow, *out;
    double first_volume;
    aqua_edges *edges; /* [region_count + 1] into ghosts; NULL: nothing is booked */
};

enum { AQUA_PARTIALS = 8 };

static inline int64_t aqua_cells(const sel_state *state) {
    return state->plan->layout.nx * state->plan->layout.ny;
}

static inline const uint8_t *aqua_solids(const sel_state *state, int64_t y) {
    return state->plan->base.domain->cell + y * state->plan->layout.nx;
}

/* Adds a sum that is exact in whole quanta; the present value. */
void aqua_total_add(const sel_state *state, aqua_total *total, double value);
double aqua_total_value(const sel_state *state, const aqua_total *total);

/* The step that `step` begins. */
aqua_step aqua_describe_step(const sel_state *state, int64_t step);

/* Units of the store in all free cells. */
double aqua_volume(const sel_state *state);

/* Sum of the fluxes of edges in the step from `step` on, units of the store. */
double aqua_edges_flux(const sel_state *state, int64_t step, const aqua_edges *edges);

sel_status aqua_cpu_start(sel_state *state, sel_request *request, sel_error *error);

#endif
