/* lbm_cpu.h -- the CPU backend's state, shared by its files, and what tests may choose. */
#ifndef LBM_CPU_H
#define LBM_CPU_H

#include "engine/lbm/gradient.h"
#include "engine/lbm/lbm_kernel.h"
#include "engine/machine/cpu.h"

enum {
    LBM_ROWS = 4 * LBM_AROUND + 6
}; /* of scratch per thread: moments of a window, and a field */

typedef struct lbm_cpu {
    sel_state base;
    const lbm_plan *plan;
    const lbm_kernels *kernels;
    int precision;
    const lbm_lattice *lattice;
    lbm_layout layout;
    bool streams; /* the populations are larger than the caches: store past them */

    void *f[2]; /* populations of even and odd steps: cell (0, 0) of direction 0 */
    double *link_add, *open_value;
    double *law_values; /* scratch of lbm_batches_apply */
    double *rows;       /* per thread LBM_ROWS rows of numbers */

    lbm_forcing forcing;
    double *acceleration;        /* [3] uniform, lattice units: of the last collision */
    double *acceleration_before; /* [3] of the collision before that one */
    void *acceleration_field;    /* [dims][cells] in the run's precision; NULL: uniform */
    double *places;              /* scratch of a field: 6 numbers per place */

    void *links; /* of the last observed step: see lbm_list_observed */
    double *strain[2];

    /* Balance of mass, lattice units; NULL when nobody asks for it. */
    double *link_flow;  /* [links] out of the domain since balance_step */
    double *out, *rate; /* [regions + 1] since step 0, and per step */
    int64_t balance_step;
    double first_mass;
} lbm_cpu;

/* The populations of the present step. */
static inline void *lbm_now(const lbm_cpu *state) {
    return state->f[state->base.step & 1];
}

static inline const lbm_loops *lbm_loops_of(const lbm_cpu *state) {
    return &state->kernels->loops[state->plan->params->lattice][state->precision];
}

/* Density deviation and velocity of x0 <= x < x1 of a row, lattice units, one behind the other in
 * to[(1 + dims) nx]. */
void lbm_read_row(const lbm_cpu *state, int64_t row, int64_t x0, int64_t x1, double *to);

/* The rows around `row` in the order of lbm_gradient_at, after wrapping; -1: outside. */
void lbm_window(const lbm_cpu *state, int64_t row, int64_t rows[LBM_AROUND]);

/* Evaluates the acceleration `steps` steps after time 0. */
sel_status lbm_apply_acceleration(lbm_cpu *state, double steps, sel_error *error);

/* The acceleration of the last collision at cell x of a row, lattice units. */
void lbm_acceleration_at(const lbm_cpu *state, int64_t x, int64_t row, double value[3]);

/* Copies the ends of a row to its halo, unless they are there already, and a row at the domain's
 * end to the halo rows, where these axes are periodic. */
void lbm_fill_halo(const lbm_cpu *state, void *f, int64_t row, bool ends);

/* Sets the populations of step 0. */
sel_status lbm_set_initial(lbm_cpu *state, sel_error *error);

/* sum of rho over the free cells */
double lbm_total_mass(lbm_cpu *state);

/* The step from `step` to step + 1. */
lbm_step lbm_describe_step(const lbm_cpu *state, int64_t step);

/* sel_cpu.observe */
void lbm_observe(sel_state *base, bool initially);

/* Answer SEL_FORCE and SEL_FLUX. */
void lbm_links(lbm_cpu *state, sel_request *request);

/* The velocity gradient of a row's cells; `velocity`: the rows about it in scratch of the thread,
 * with the density deviation nx numbers before each. */
void lbm_read_window(const lbm_cpu *state, int64_t row, const double *velocity[LBM_AROUND]);

/* How it is looked at. */
int lbm_cpu_field(const sel_state *base, int field, int64_t row, int64_t x0, int64_t x1,
                  const double **values);
void lbm_cpu_main(const sel_state *base, int64_t row, sel_main_row *main);
sel_status lbm_cpu_other(sel_state *base, sel_request *request, sel_error *error);

#endif
