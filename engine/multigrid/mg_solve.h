/* mg_solve.h -- A u = F by corrections of u, on the processor. */
#ifndef MG_SOLVE_H
#define MG_SOLVE_H

#include "engine/multigrid/multigrid.h"

/* How a correction e is made of the residual f = F - A u: a cycle, a full cycle, a red-black sweep
 * from 0 with over-relaxation, f over the diagonal. */
enum { MG_CYCLE, MG_FULL_CYCLE, MG_SWEEP, MG_DIVIDE };

/* Vectors are laid out by `stride`, without halos. Where there are p and q, a correction is only a
 * direction of a flexible method of conjugate gradients (Y. Notay, SIAM J. Sci. Comput. 22, 2000).
 */
typedef struct mg_solve {
    mg m;
    int64_t stride[3];
    double *F;
    double *p, *q;    /* the last direction and A p; NULL */
    double pq;        /* p A p; 0: there is no direction yet */
    double *partials; /* of sel_state */
    int threads;
} mg_solve;

/* f of u. sums: of squares of f and u, and of u, by volume. */
void mg_solve_residual(mg_solve *s, double *u, double sums[3]);

/* to = u + what a correction is worth - shift, of which f and sums are then. to: may be u. */
void mg_solve_correct(mg_solve *s, int how, double omega, double shift, double *u, double *to,
                      double sums[3]);

/* to = A u. */
void mg_solve_apply(const mg_solve *s, double *u, double *to);

#endif
