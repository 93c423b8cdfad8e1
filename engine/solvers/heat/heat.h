/* heat.h -- sel.heat: its parameters, its laws, its plan, its state. */
#ifndef SEL_HEAT_H
#define SEL_HEAT_H

#include "engine/machine/state.h"
#include "engine/physics/heat_body.h"

/* The laws' numbers: the temperature; the flux into the domain; the ambient temperature and h. */
typedef struct heat_law {
    sel_quantity value[2];
} heat_law;

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
extern const sel_family heat_law_family;

/* Fields. */
enum { HEAT_TEMPERATURE, HEAT_FLUX_FIELD, HEAT_FIELDS };

/* Units: the user's. */
typedef struct heat_plan {
    sel_plan base;
    const heat_params *params;
    int kind;
    double limit;               /* of dt */
    int64_t limit_cell;         /* where it is reached; -1: everywhere */
    double k[3], capacity;      /* where these do not vary */
    double *k_of, *capacity_of; /* else: [rows][k_components][nx], [cells] */
    int k_components;
    sel_inputs inputs;
    heat_site *site; /* [inputs.surfaces.sites] */
} heat_plan;

typedef struct heat_state {
    sel_state base;
    const heat_plan *plan;
    int halo; /* planes */
    void *T[SEL_MOST_BLOCKS][2];
    void *g[3], *m; /* of HEAT_VARIED: [nz + 1][ny + 1][nx + 1] */
    heat_site *site;
    double *b, *s;    /* [surfaces.cells], of the last step */
    double *entering; /* [surfaces.sites]: heat per time, when somebody asks */
} heat_state;

/* ---- heat_plan.c ---- */

/* The conductance between a cell and the one beyond a face, k / dx^2; 0: there is none. */
double heat_face(const heat_plan *plan, int64_t cell, int face);
double heat_capacity_of(const heat_plan *plan, int64_t cell);

/* ---- heat_state.c: what both backends share ---- */

void heat_list(sel_state *base);
sel_status heat_start(sel_state *base, sel_error *error);
/* Block b in the step from `step`. */
heat_view heat_view_of(const heat_state *state, int64_t step, int b);
/* Cells on surfaces in block b: first <= k < end. */
void heat_surface_range(const heat_state *state, int b, int64_t *first, int64_t *end);
/* SEL_BALANCE and SEL_FLUX, from the heat per time that entered at each site and by the source in
 * the last step, and the heat after and before it (NaN: there was none). */
void heat_answer(const heat_plan *plan, const double *entering, double heat, double before,
                 double source, sel_request *request);

/* ---- heat_kernel.c: the loops of one precision, compiled for each x86-64 level ---- */

typedef struct heat_loops {
    void (*row)(const heat_view *v, int64_t y, int64_t z);
    /* A cell on surfaces, whose neighbours have been gathered. */
    void (*touch)(const heat_view *v, int64_t i, double b, double s);
} heat_loops;

extern const struct sel_cpu heat_on_cpu;
#ifdef SEL_CUDA
extern const struct cuda_solver heat_on_cuda;
#endif

#endif
