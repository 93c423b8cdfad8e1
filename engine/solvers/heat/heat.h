/* heat.h -- sel.heat: its parameters, its laws, its plan, its state. */
#ifndef SEL_HEAT_H
#define SEL_HEAT_H

#include "engine/solvers/diffusion/diffusion.h"
#include "engine/solvers/multigrid/mg_body.h"

typedef struct heat_initial {
    sel_quantity temperature;
} heat_initial;

enum { HEAT_TEMPERATURE, HEAT_FLUX_FIELD, HEAT_FIELDS };
enum { HEAT_EXPLICIT, HEAT_CRANK_NICOLSON, HEAT_BACKWARD_EULER };

typedef struct heat_params {
    sel_common common;
    sel_quantity conductivity, diffusivity; /* one component, or one per axis */
    sel_quantity capacity, source;
    int scheme;
    heat_initial initial;
} heat_params;

extern const char *const heat_schemes[];
extern const sel_table heat_table;
extern const sel_solver heat_solver;

/* Cells whose explicit steps are computed again: g by face, and C v. */
typedef struct heat_audit_cell {
    double g[SEL_FACES], capacity;
} heat_audit_cell;
/* Its faces on surfaces: what they are, their values at time 0, and where. */
typedef struct heat_audit_sites {
    int count, region[SEL_FACES];
    diffusion_site site[SEL_FACES];
    double value[SEL_FACES][DIFFUSION_VALUES], place[SEL_FACES][3];
} heat_audit_sites;
typedef struct heat_audit {
    sel_audited of;
    heat_audit_cell v[SEL_AUDITED];
    heat_audit_sites on[SEL_AUDITED];
    sel_audit_reads reads; /* each cell and those beyond its faces */
    int64_t cell[(1 + SEL_FACES) * SEL_AUDITED];
} heat_audit;

/* Units: the user's. */
typedef struct heat_plan {
    diffusion_plan diffusion;
    mg_box box;            /* of implicit schemes */
    diffusion_limit least; /* of explicit ones: the least limit of dt over the run */
    heat_audit audit;
} heat_plan;

typedef struct heat_state {
    diffusion_state diffusion;
    void *T[2];
    mg_solve solve; /* of implicit schemes: A T' = F */
    double *most_b; /* on the CPU, where h varies: of each cell on surfaces, see diffusion_most_b */
} heat_state;

static inline const heat_plan *heat_plan_for(const sel_state *state) {
    return (const heat_plan *)state->plan;
}

/* heat_list lists the arrays of a state: with `halo` planes of halo where steps are explicit, with
 * the levels of multigrid and its `threads` (mg_list) where they are implicit. heat_start sets the
 * state of step 0. */
void heat_list(sel_state *base, int halo, int threads);
sel_status heat_start(sel_state *base, sel_error *error);

/* Finds the numbers of the audit, in all ranks; sel_solver.audit_reads and audit. */
void heat_audit_find(heat_plan *plan);
const sel_audit_reads *heat_audit_reads(const sel_plan *plan);
bool heat_audit_step(const sel_state *state, int64_t step, const double *const *values, int k,
                     sel_audit *found);

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
