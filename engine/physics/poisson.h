/* poisson.h -- the gradient of a potential in a cell, what flows in through its surfaces, and when
 * an iteration has ended.
 *
 * The potential is that of a steady body: views, laws and conductances are those of heat_body.h,
 * with k the coefficient. C11 and C++17, compiled by both compilers.
 */
#ifndef POISSON_H
#define POISSON_H

#include <float.h>
#include "engine/physics/heat_body.h"

/* Fields. */
enum { POISSON_POTENTIAL, POISSON_RESIDUAL, POISSON_GRADIENT, POISSON_FLUX, POISSON_FIELDS };

/* The mean of the differences through the two faces of a cell along an axis, over dx; beside a
 * surface that of the other face. */
HEAT_INLINE double poisson_gradient(const heat_view *v, const int64_t at[3], int axis) {
    const int64_t cell = heat_place(v->stride, at);
    double sum = 0;
    int faces = 0;
    for (int side = 0; side < 2; side++) {
        if (heat_conductance(v, at, axis, side) > 0) {
            const int64_t other = cell + heat_beside(v, axis, at[axis], side);
            const double step = heat_number(v, v->from, other) - heat_number(v, v->from, cell);
            sum += side ? step : -step;
            faces++;
        }
    }
    return faces ? sum / (faces * v->dx[axis]) : 0;
}

/* A field of a cell; returns the number of components. f = F - A phi, of numbers of single or
 * double precision that are laid out as the coefficients. */
HEAT_INLINE int poisson_values(const heat_view *v, const void *f, bool single, int field,
                               const int64_t at[3], double *out) {
    const int64_t i = heat_place(v->apart, at);
    if (field == POISSON_POTENTIAL) {
        *out = heat_number(v, v->from, heat_place(v->stride, at));
        return 1;
    }
    if (field == POISSON_RESIDUAL) {
        *out = single ? (double)((const float *)f)[i] : ((const double *)f)[i];
        *out /= v->kind == HEAT_VARIED ? heat_inside(v, at, -1) : 1;
        return 1;
    }
    for (int a = 0; a < v->dims; a++) {
        out[a] = field == POISSON_FLUX ? heat_flux(v, at, a) : poisson_gradient(v, at, a);
    }
    return v->dims;
}

/* c dphi/dn, outward, times the area of each site of a cell, its sites first <= k < end. Of a node
 * on a fixed surface: what closes its balance, f being -rhs there. */
HEAT_INLINE void poisson_entering(const heat_view *v, double f, const cond_site *site,
                                  const double *value, int64_t first, int64_t end,
                                  const int64_t at[3], double *entering) {
    const double here = heat_number(v, v->from, heat_place(v->stride, at));
    const int64_t fixed = cond_fixed(site, first, end);
    for (int64_t k = first; k < end; k++) {
        double u, p;
        cond_surface(&site[k], value + COND_VALUES * k, &u, &p);
        entering[k] = fixed == end ? (p - u * here) * site[k].area : 0;
    }
    if (fixed < end) {
        double sum = v->kind == HEAT_VARIED ? -f : -f * heat_inside(v, at, -1);
        for (int a = 0; a < v->dims; a++) {
            sum -= heat_conducted(v, at, a, 0) + heat_conducted(v, at, a, 1);
        }
        entering[fixed] = sum * heat_volume(v);
    }
}

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
