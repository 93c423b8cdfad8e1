/* shallow.h -- the rule of sel.shallow, a solver of three coupled fields that is not in the engine:
 * water in shallow basins with a level bottom, on the CPU (shallow.c) and on a device (shallow.cu).
 *
 *     h_t + div q = rain,   q_t + div (q q / h) + grad (g h^2 / 2) = 0
 *
 * with the depth h and the discharge q per width. Finite volumes; the flux through a face is that
 * of V. V. Rusanov (J. Comput. Math. Phys. USSR 1, 1961), between the cells at its two sides:
 *
 *     F = (F(left) + F(right)) / 2 - c (right - left) / 2,   c = max (|u| + sqrt(g h))
 *
 * Solids and faces of the domain are mirrors; beyond a face with law.sea stands what the law gives.
 */
#ifndef SHALLOW_RULE_H
#define SHALLOW_RULE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Components of the state. */
enum { SHALLOW_NUMBERS = 3 }; /* h, q_x, q_y */

/* Values of law.sea at a site: depth, and discharge into the domain. */
enum { SHALLOW_DEPTH, SHALLOW_INFLOW, SHALLOW_VALUES };

typedef struct shallow_cell {
    double h, q[2];
} shallow_cell;

/* A rank's patch in one step. Pointers lead to cell (0, 0) of the grid. */
typedef struct shallow_view {
    int64_t n[2], first, end;      /* cells of the grid; rows of the patch */
    int64_t component, rain_pitch; /* rows of `from` and `to` have n[0] numbers */
    bool periodic[2];
    bool halo;   /* rows beyond the patch come from other ranks */
    bool images; /* `solid` has the cells beyond the ends of a periodic y, too */
    double g, dt, dx;
    const double *from, *rain; /* rain NULL: none */
    double *to;
    const uint8_t *solid;
    const int64_t *cell,
        *first_site;     /* cell k on surfaces has sites first_site[k] <= i < [k + 1] */
    const uint8_t *face; /* of each site */
    const double *value; /* [sites][SHALLOW_VALUES] */
} shallow_view;

#ifdef __CUDACC__
#define SHALLOW_INLINE static __host__ __device__ inline
#else
#define SHALLOW_INLINE static inline
#endif

SHALLOW_INLINE shallow_cell shallow_at(const shallow_view *v, int64_t x, int64_t y) {
    const double *from = v->from + y * v->n[0] + x;
    const shallow_cell c = {from[0], {from[v->component], from[2 * v->component]}};
    return c;
}

/* What stands beyond a face of a cell where no law says it. */
SHALLOW_INLINE shallow_cell shallow_beyond(const shallow_view *v, int64_t x, int64_t y, int face) {
    const int axis = face / 2;
    int64_t at[2] = {x, y};
    at[axis] += face % 2 ? 1 : -1;
    const bool out = at[axis] < 0 || at[axis] >= v->n[axis];
    const int64_t beside = at[1];
    at[axis] = !out ? at[axis] : at[axis] < 0 ? v->n[axis] - 1 : 0;
    if ((out && !v->periodic[axis]) || v->solid[(v->images ? beside : at[1]) * v->n[0] + at[0]]) {
        shallow_cell mirror = shallow_at(v, x, y);
        mirror.q[axis] = -mirror.q[axis];
        return mirror;
    }
    return shallow_at(v, at[0], v->halo ? beside : at[1]);
}

SHALLOW_INLINE shallow_cell shallow_flux(int axis, const shallow_cell *left,
                                         const shallow_cell *right, double g) {
    const double u = left->q[axis] / left->h, w = right->q[axis] / right->h;
    const double c = fmax(fabs(u) + sqrt(g * left->h), fabs(w) + sqrt(g * right->h));
    shallow_cell f;
    f.h = 0.5 * (left->q[axis] + right->q[axis] - c * (right->h - left->h));
    for (int a = 0; a < 2; a++) {
        f.q[a] = 0.5 * (left->q[a] * u + right->q[a] * w - c * (right->q[a] - left->q[a]));
    }
    f.q[axis] += 0.25 * g * (left->h * left->h + right->h * right->h);
    return f;
}

/* A cell after the step; k: its number among cells on surfaces, -1: it is none of them. */
SHALLOW_INLINE void shallow_step(const shallow_view *v, int64_t x, int64_t y, int64_t k) {
    const shallow_cell here = shallow_at(v, x, y);
    const bool solid = v->solid[y * v->n[0] + x] != 0;
    shallow_cell next = here;
    for (int face = 0; face < 4 && !solid; face++) {
        const int axis = face / 2;
        const double share = (face % 2 ? -1 : 1) * v->dt / v->dx;
        shallow_cell beyond = shallow_beyond(v, x, y, face);
        for (int64_t i = k < 0 ? 0 : v->first_site[k]; k >= 0 && i < v->first_site[k + 1]; i++) {
            if (v->face[i] == face) {
                const double *sea = v->value + SHALLOW_VALUES * i;
                beyond.h = sea[SHALLOW_DEPTH];
                beyond.q[axis] = face % 2 ? -sea[SHALLOW_INFLOW] : sea[SHALLOW_INFLOW];
                beyond.q[1 - axis] = 0;
            }
        }
        const shallow_cell f = face % 2 ? shallow_flux(axis, &here, &beyond, v->g)
                                        : shallow_flux(axis, &beyond, &here, v->g);
        next.h += share * f.h;
        next.q[0] += share * f.q[0];
        next.q[1] += share * f.q[1];
    }
    next.h += v->rain && !solid ? v->dt * v->rain[y * v->rain_pitch + x] : 0;
    double *to = v->to + y * v->n[0] + x;
    to[0] = next.h;
    to[v->component] = next.q[0];
    to[2 * v->component] = next.q[1];
}

#ifdef SEL_CUDA
#include "cuda/query.h"

/* What reads and sums see. */
typedef struct shallow_seen {
    cuda_grid grid;
    shallow_view now;
} shallow_seen;

#ifdef __cplusplus
extern "C" {
#endif
/* A step: all cells of the patch, then cells surfaces[0] <= k < surfaces[1] on surfaces once more.
 * Nothing is done where an input has failed (halted). */
cudaError_t shallow_gpu_step(const shallow_view *view, const int64_t surfaces[2],
                             const int64_t *halted, cuda_clock clock, cudaStream_t stream);
const cuda_look *shallow_gpu_look(void);
#ifdef __cplusplus
}
#endif
#endif
#endif
