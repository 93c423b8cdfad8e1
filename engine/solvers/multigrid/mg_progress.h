/* mg_progress.h -- how far an iteration for A u = F is, and when it ends.
 *
 * C11 and C++17, compiled by both compilers.
 */
#ifndef MG_PROGRESS_H
#define MG_PROGRESS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define MG_INLINE static __host__ __device__ inline
#else
#define MG_INLINE static inline
#endif

typedef struct mg_progress {
    double norm;     /* by which residuals are divided; 0: that of the next one */
    double relative; /* the residual, */
    double level;    /* and where round-off keeps it from falling */
    double best;     /* the least so far that was a notable improvement, */
    int64_t best_step;
    double mean; /* of u, where it is known but for a constant */
    double pq;   /* p A p of the last direction; 0: there is none */
    int64_t step;
    int64_t how; /* it has ended; 0: it goes on */
} mg_progress;

/* Before the first residual. */
#define MG_BEGINS ((mg_progress){.best = HUGE_VAL})

enum { MG_GOES_ON, MG_CONVERGED, MG_AT_ROUND_OFF, MG_STAGNATED, MG_OUT_OF_ITERATIONS, MG_DIVERGED };

typedef struct mg_limits {
    double tolerance;
    double rows;   /* the largest sum of the magnitudes of a row of A; of D^-1 A: 4 */
    double volume; /* where u is known but for a constant, which makes its mean 0; else 0 */
    bool cycles;   /* of multigrid: each should take off much of the residual */
    bool jumps;    /* of a body that jumps (multigrid.h): sums[1] is of D u, D the diagonal */
    int64_t most;  /* iterations */
} mg_limits;

/* Judges an iteration after `steps` further steps, by the sums of squares of the residual and of u,
 * and of u. The iteration diverges when the residual exceeds `grown` times both its least and the
 * norm. It stagnates when `patience` steps have not made the residual notably less; methods other
 * than cycles have more patience, since their residuals fall slowly or rise for a while: in a body
 * that jumps for ten thousand steps. There the largest rows have much more round-off than the
 * others, whose residual may go on falling below `level`; the iteration is at round-off when it no
 * longer does. */
MG_INLINE void mg_judge(const mg_limits *limits, const double sums[3], int steps,
                        mg_progress *now) {
    const double grown = 1e6, notable = limits->cycles ? 0.9 : 0.999999;
    const int64_t patience = limits->jumps ? 20000 : limits->cycles ? 10 : 2000;
    const int64_t settled = !limits->jumps ? 0 : limits->cycles ? 30 : 300;
    const double residual = sqrt(sums[0]);
    now->norm = now->norm > 0 ? now->norm : residual > 0 ? residual : 1;
    now->relative = residual / now->norm;
    now->level = 4 * DBL_EPSILON * limits->rows * sqrt(sums[1]) / now->norm;
    now->mean = limits->volume > 0 ? sums[2] / limits->volume : 0;
    now->step += steps;
    if (now->relative < notable * now->best) {
        now->best = now->relative;
        now->best_step = now->step;
    }
    now->how = !(now->relative <= grown * (now->best > 1 ? now->best : 1)) ? MG_DIVERGED
               : now->relative <= limits->tolerance                        ? MG_CONVERGED
               : now->relative <= now->level && now->step - now->best_step >= settled
                   ? MG_AT_ROUND_OFF
               : now->step - now->best_step >= patience ? MG_STAGNATED
               : now->step >= limits->most              ? MG_OUT_OF_ITERATIONS
                                                        : MG_GOES_ON;
}

#endif
