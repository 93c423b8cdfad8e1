/* poisson.h -- when an iteration for a potential has ended. (What cells have: heat_body.h.)
 *
 * C11 and C++17, compiled by both compilers.
 */
#ifndef POISSON_H
#define POISSON_H

#include <float.h>
#include "engine/physics/heat_body.h"

/* How far an iteration is. */
typedef struct poisson_progress {
    double relative; /* the residual over that of the potential 0, */
    double level;    /* and where round-off keeps it from falling */
    double best;     /* the least so far that was a notable improvement, */
    int64_t best_step;
    double mean; /* of phi, where it is known but for a constant */
    double pq;   /* p A p of the last direction; 0: there is none */
    int64_t step;
    int64_t how; /* it has ended; 0: it goes on */
} poisson_progress;

enum {
    POISSON_GOES_ON,
    POISSON_CONVERGED,
    POISSON_AT_ROUND_OFF,
    POISSON_STAGNATED,
    POISSON_OUT_OF_ITERATIONS,
    POISSON_DIVERGED
};

typedef struct poisson_limits {
    double tolerance;
    double norm;  /* of the right-hand side with the values of boundaries in it */
    double rows;  /* the largest sum of the magnitudes of a row of A */
    bool cycles;  /* of multigrid: each should take off much of the residual */
    int64_t most; /* iterations */
} poisson_limits;

/* Whether the iteration has ended, by the norms of the residual and of phi. It diverges when the
 * residual has grown to `grown` times its least, and stagnates when so many steps have not made it
 * notably less: of cycles, and of others, whose residuals fall slowly, or rise for a while. */
HEAT_INLINE void poisson_decide(const poisson_limits *limits, double residual, double potential,
                                poisson_progress *now) {
    const double grown = 1e6, notable = limits->cycles ? 0.9 : 0.999999;
    const int64_t patience = limits->cycles ? 10 : 2000;
    const double norm = limits->norm > 0 ? limits->norm : 1;
    now->relative = residual / norm;
    now->level = 4 * DBL_EPSILON * limits->rows * potential / norm;
    if (now->relative < notable * now->best) {
        now->best = now->relative;
        now->best_step = now->step;
    }
    now->how = !(now->relative <= grown * (now->best > 1 ? now->best : 1)) ? POISSON_DIVERGED
               : now->relative <= limits->tolerance                        ? POISSON_CONVERGED
               : now->relative <= now->level                               ? POISSON_AT_ROUND_OFF
               : now->step - now->best_step >= patience                    ? POISSON_STAGNATED
               : now->step >= limits->most ? POISSON_OUT_OF_ITERATIONS
                                           : POISSON_GOES_ON;
}

#endif
