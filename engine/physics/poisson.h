/* poisson.h -- the gradient of a potential in a cell, and what flows in through its surfaces.
 *
 * The potential is that of a steady body: views, laws and conductances are those of heat_body.h,
 * with k the coefficient. C11 and C++17, compiled by both compilers.
 */
#ifndef POISSON_H
#define POISSON_H

#include "engine/physics/heat_body.h"

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

#endif
