/* poisson.h -- sel.poisson: its parameters, its plan, its state.
 *
 * div(c grad phi) = rhs by finite volumes is A phi = F, with the laws' part in A and F. A step is
 * an iteration: from the residual f = F - A phi, in double precision, a method makes a correction
 * e, which is added: f over the diagonal (Jacobi), a red-black sweep from 0 (Gauss-Seidel; SOR with
 * over-relaxation) or a cycle of multigrid, in single precision where that does not slow it. Where
 * the body is not even, multigrid makes directions of a flexible method of conjugate gradients
 * instead (Y. Notay, SIAM J. Sci. Comput. 22, 2000), as the diagonal does in the plain one.
 */
#ifndef SEL_POISSON_H
#define SEL_POISSON_H

#include "engine/solvers/diffusion/diffusion.h"
#include "engine/solvers/multigrid/mg_body.h"

/* Fields. */
enum { POISSON_POTENTIAL, POISSON_RESIDUAL, POISSON_GRADIENT, POISSON_FLUX, POISSON_FIELDS };

typedef struct poisson_initial {
    sel_quantity potential;
} poisson_initial;

enum {
    POISSON_MULTIGRID,
    POISSON_JACOBI,
    POISSON_GAUSS_SEIDEL,
    POISSON_SOR,
    POISSON_CONJUGATE_GRADIENT
};

typedef struct poisson_params {
    sel_common common;
    sel_quantity rhs, coefficient;
    int method;
    double tolerance;
    int64_t max_iterations;
    poisson_initial initial;
} poisson_params;

extern const sel_table poisson_table;
extern const sel_solver poisson_solver;

typedef struct poisson_plan {
    diffusion_plan diffusion;
    mg_box box;
    bool singular; /* phi is known but for a constant: nothing is fixed */
    double omega;  /* of SOR */
    int64_t most;  /* iterations */
    double volume; /* of free cells, in cells */
} poisson_plan;

typedef struct poisson_state {
    diffusion_state diffusion;
    void *u[2];
    mg_solve solve; /* A phi = F; residuals are parts of that of phi = 0 */
    int64_t known;  /* the step whose residual f is; -1: none */
} poisson_state;

/* The potentials of a step, from cell (0, 0, 0) on. */
static inline double *poisson_u(const sel_state *state, int64_t step) {
    const sel_field *field = &state->field[0];
    return (double *)field->at[sel_copy_at(state, field, step)] + field->layout.origin;
}

static inline const poisson_plan *poisson_plan_for(const sel_state *state) {
    return (const poisson_plan *)state->plan;
}

/* The part of a cell that is inside and free: its capacity is 1. */
static inline double poisson_part(const poisson_plan *plan, int64_t cell) {
    const sel_domain *domain = plan->diffusion.base.domain;
    return domain->cell[cell]   ? 0
           : domain->grid.nodes ? diffusion_capacity_of(&plan->diffusion.body, cell)
                                : 1;
}

static inline const poisson_params *poisson_params_of(const sel_state *state) {
    return (const poisson_params *)state->plan->simulation->params;
}

/* What both backends share (poisson_state.c). threads: for cycles on the processor; else 0. */
void poisson_list(sel_state *base, int threads);

/* Coefficients, right-hand side and the initial potential. `measure` makes f of the
 * present step. */
typedef sel_status poisson_measure(sel_state *base, sel_error *error);
sel_status poisson_start(sel_state *base, poisson_measure *measure, sel_error *error);

/* Takes step and residual from state->solve.now, and state->ending when the iteration has ended. */
void poisson_conclude(poisson_state *state);

/* How an iteration corrects, and the omega of its sweeps. */
int poisson_correction(const sel_state *state, int64_t step, double *omega);

extern const struct sel_cpu poisson_on_cpu;
#ifdef SEL_CUDA
extern const struct cuda_solver poisson_on_cuda;
#endif

#endif
