/* heat.h -- sel.heat: its parameters, its laws, its plan, its state. */
#ifndef SEL_HEAT_H
#define SEL_HEAT_H

#include "engine/machine/conduction.h"
#include "engine/physics/heat_body.h"

typedef struct heat_initial {
    sel_quantity temperature;
} heat_initial;

typedef struct heat_params {
    sel_common common;
    sel_quantity conductivity, diffusivity; /* one component, or one per axis */
    sel_quantity capacity, source;
    heat_initial initial;
} heat_params;

extern const sel_table heat_table;
extern const sel_solver heat_solver;

/* Units: the user's. */
typedef struct heat_plan {
    sel_plan base;
    int kind;
    sel_conduction body;
} heat_plan;

typedef struct heat_state {
    sel_state base;
    void *T[SEL_MOST_BLOCKS][2];
    void *coefficient[4]; /* of HEAT_VARIED: g along the axes, m; laid out as inputs.source */
} heat_state;

static inline const heat_plan *heat_plan_for(const sel_state *state) {
    return (const heat_plan *)state->plan;
}

/* What both backends share (heat_state.c). halo: planes. */
void heat_list(sel_state *base, int halo);
sel_status heat_start(sel_state *base, sel_error *error);
/* Block b in the step from `step`. */
heat_view heat_view_of(const heat_state *state, int64_t step, int b);

/* The loops of one precision, compiled for each x86-64 level (heat_kernel.c). */
typedef struct heat_loops {
    void (*row)(const heat_view *v, int64_t y, int64_t z);
    /* Cell i of a surface, whose neighbours have been gathered. */
    void (*touch)(const heat_view *v, int64_t i, double b, double s);
} heat_loops;

extern const struct sel_cpu heat_on_cpu;
#ifdef SEL_CUDA
extern const struct cuda_solver heat_on_cuda;
#endif

#endif
