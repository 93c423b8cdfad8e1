/* aqua_cpu.h -- the state of the CPU backend of sel.aqua. */
#ifndef AQUA_CPU_H
#define AQUA_CPU_H

#include "engine/aqua/aqua_kernel.h"
#include "engine/machine/cpu.h"
#include "engine/machine/total.h"

/* What rain or infiltration is in the step to come. */
typedef struct aqua_amount {
    double uniform, carry; /* of AQUA_UNIFORM: units per step, of which `carry` is owed */
    void *rate, *owed;     /* of AQUA_FIELD: [ny][nx] in the type of beds */
} aqua_amount;

typedef struct aqua_cpu {
    sel_state base;
    const aqua_plan *plan;
    aqua_store store;
    const aqua_loops *loops;
    int64_t size;       /* bytes of a number */
    void *bed, *alphas; /* alphas: NULL when alpha is the same everywhere */
    void *water[2];     /* in turns: water[step & 1] are the depths of `step` */
    void *more, *less;  /* of the scheme "scatter" */
    void *most;         /* [ny][nx] greatest depths; NULL: not watched */
    int32_t *arrived;   /* [ny][nx] steps; NULL: not watched */
    aqua_amount rain, soil;
    double *inflow_units, *inflow_carry; /* per source */
    int64_t *inflow_turn;                /* the cell that gets the next odd quantum */
    double *z;                           /* levels of the ghosts, m */
    double *field;                       /* [ny][nx] scratch of rates */
    double *rows;                        /* [threads][nx] */
    uint8_t *scratch;                    /* of the flow, for each thread */
    /* What has been booked so far, in units of the store. */
    sel_total rained, soaked, *inflow, *out;
    double first_volume;
    /* Into the ghosts of region r: first_edge[r] to first_edge[r + 1]; NULL: nothing is booked. */
    aqua_edge *edges;
    int64_t first_edge[AQUA_FIRSTS];
} aqua_cpu;

static inline int64_t aqua_cells(const aqua_cpu *state) {
    return state->plan->layout.nx * state->plan->layout.ny;
}

/* The step that `step` begins. */
aqua_step aqua_describe_step(const aqua_cpu *state, int64_t step);

/* Units of the store in all free cells. */
double aqua_volume(aqua_cpu *state);

/* Sum of the fluxes of edges in the step from `step` on, units of the store. */
double aqua_edges_flux(const aqua_cpu *state, int64_t step, const aqua_edge *edges, int64_t count);

/* How it is looked at. */
int aqua_cpu_field(const sel_state *base, int field, int64_t y, int64_t x0, int64_t x1,
                   const double **values);
void aqua_cpu_main(const sel_state *base, int64_t y, sel_main_row *main);
sel_status aqua_cpu_other(sel_state *base, sel_request *request, sel_error *error);

#endif
