/* mg_solve.h -- A u = F by corrections of u, on the processor. */
#ifndef MG_SOLVE_H
#define MG_SOLVE_H

#include "engine/solvers/multigrid/mg_progress.h"
#include "engine/solvers/multigrid/multigrid.h"

/* How a correction e is made of the residual f = F - A u: a cycle, a full cycle, a red-black sweep
 * from 0 with over-relaxation, f over the diagonal. */
enum { MG_CYCLE, MG_FULL_CYCLE, MG_SWEEP, MG_DIVIDE };

/* Vectors are laid out by `stride`, and lead to cell (0, 0, 0). A rank stores its own
 * cells; u and p also have a halo of one plane and one row. Where there are p and q, a correction
 * is only a direction of a flexible method of conjugate gradients (Y. Notay, SIAM J. Sci. Comput.
 * 22, 2000).
 */
typedef struct mg_solve {
    mg m;
    int64_t stride[3];
    double *F;
    double *p, *q;    /* the last direction and A p; NULL */
    double *u, *mass; /* of bodies in time; and C / (w dt), of those that are not even */
    const struct sel_state *state;
    int threads;
    mg_limits limits;
    mg_progress now; /* the caller's to begin with: MG_BEGINS, or what was saved */
} mg_solve;

/* C / (w dt) of an element, as rows of A have it. */
static inline double mg_mass(const mg_solve *s, int64_t i) {
    return s->mass ? s->mass[i] : s->m.box.mass;
}

/* The planes and rows beside this rank's own of a vector of which ranks know their own. */
void mg_solve_spread(const mg_solve *s, double *v);

/* f = F - A u, and s->now judged by it. */
void mg_solve_residual(mg_solve *s, double *u);

/* to = u + a correction, or the best multiple of the direction made of it; f and s->now become
 * those of `to`, which may be u. */
void mg_solve_correct(mg_solve *s, int how, double omega, double *u, double *to);

/* to = A u. */
void mg_solve_apply(const mg_solve *s, double *u, double *to);

#endif
