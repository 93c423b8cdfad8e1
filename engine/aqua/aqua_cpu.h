/* aqua_cpu.h -- the state of the CPU backend of sel.aqua. */
#ifndef AQUA_CPU_H
#define AQUA_CPU_H

#include "engine/aqua/aqua_kernel.h"
#include "engine/aqua/aqua_state.h"
#include "engine/machine/cpu.h"

typedef struct aqua_cpu {
    aqua_state all;
    const aqua_loops *loops;
    double *rows;     /* [threads][nx] */
    uint8_t *scratch; /* of the flow, for each thread */
    /* What has been booked so far, in units of the store. */
    sel_total soaked, *out;
} aqua_cpu;

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
