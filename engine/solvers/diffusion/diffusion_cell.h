/* diffusion_cell.h -- conductances, fluxes and heat of single cells (equations: heat_step.h), for
 * everything but the hot loops; in double precision whatever the precision of the state. In a
 * steady body T is the potential, and dt and the capacity are 1.
 *
 * C11 and C++17, compiled by both compilers.
 */
#ifndef DIFFUSION_CELL_H
#define DIFFUSION_CELL_H

#include <stdbool.h>
#include "engine/solvers/diffusion/diffusion_surface.h"

/* Bodies: uniform with the same r along all axes, uniform with different r, not uniform. */
enum { HEAT_EVEN, HEAT_UNEVEN, HEAT_VARIED };

/* Quantities of fields: temperature, its gradient, flux -k grad T, residual F - A T; of sums: heat
 * of a cell, heat that the source adds to a cell per time. */
enum { HEAT_VALUE, HEAT_GRADIENT, HEAT_FLUX, HEAT_RESIDUAL, HEAT_CONTENT, HEAT_ADDED };
enum { HEAT_MOST_FIELDS = 4 };

/* A block of the grid in one step. Arrays have single (`single`) or double precision. Pointers are
 * to cell (0, 0, 0); coefficients of a cell are those of its low faces. */
typedef struct heat_view {
    int dims, kind;
    bool single, nodes;
    bool wraps;   /* the slowest axis is periodic, and the block has no halos along it */
    bool boxed;   /* ranks share planes: the block has halos along y */
    bool streams; /* on the CPU: the arrays are larger than the caches, stores bypass these */
    unsigned periodic;
    int64_t n[3], stride[3], apart[3]; /* cells; strides of T, of coefficients */
    int64_t first, end, low, high;     /* planes of the slowest axis; in 3-D rows of these */
    double implicit;                   /* weight w of T' in the conduction; T has 1 - w */
    double r[3];                       /* of a uniform body */
    double k[3], dx[3], dt, capacity;  /* k, capacity: of a uniform body */
    double reference;                  /* `from` and `to` store T minus this */
    const void *from, *g[3], *m, *q;
    void *to;
    int field[HEAT_MOST_FIELDS]; /* the quantity of each of the solver's fields */
    /* Steady bodies: */
    const double *F; /* right side: source and surfaces; layout of T */
    const void *f;   /* residual F - A T; layout of coefficients; single_f: in single precision */
    bool single_f;
} heat_view;

#ifdef __CUDACC__
#define HEAT_INLINE static __host__ __device__ inline
#else
#define HEAT_INLINE static inline
#endif

/* Offset to the low (side 0) or high neighbour of cell i along an axis. At a face: offset to the
 * cell itself or, with nodes, to the mirror image. */
HEAT_INLINE int64_t heat_beside(const heat_view *v, int axis, int64_t i, int side) {
    const bool halo = axis == v->dims - 1 ? !v->wraps : axis == 1 && v->boxed;
    const int64_t step = side ? v->stride[axis] : -v->stride[axis];
    if (i != (side ? v->n[axis] - 1 : 0)) {
        return step;
    }
    if (v->periodic >> axis & 1u) {
        return halo ? step : -step * (v->n[axis] - 1);
    }
    return v->nodes ? -step : 0;
}

/* Whether a cell of the block's planes belongs to the block. */
HEAT_INLINE bool heat_has(const heat_view *v, const int64_t at[3]) {
    return !v->boxed || (at[1] >= v->low && at[1] < v->high);
}

HEAT_INLINE double heat_number(const heat_view *v, const void *array, int64_t i) {
    return v->single ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

/* The temperature that drives conduction in cell i, w T' + (1 - w) T, minus the reference. */
HEAT_INLINE double heat_acting(const heat_view *v, int64_t i) {
    const double from = heat_number(v, v->from, i);
    return v->implicit > 0 ? from + v->implicit * (heat_number(v, v->to, i) - from) : from;
}

HEAT_INLINE double heat_temperature(const heat_view *v, int64_t i) {
    return diffusion_temperature(heat_number(v, v->from, i), v->reference);
}

HEAT_INLINE int64_t heat_place(const int64_t apart[3], const int64_t at[3]) {
    return at[0] * apart[0] + at[1] * apart[1] + at[2] * apart[2];
}

/* The indices of a cell by its number. */
HEAT_INLINE void heat_at(const heat_view *v, int64_t cell, int64_t at[3]) {
    at[0] = cell % v->n[0];
    at[1] = cell / v->n[0] % v->n[1];
    at[2] = cell / v->n[0] / v->n[1];
}

/* The fraction of a cell's volume that lies inside the domain (across = -1), or of its face normal
 * to the axis `across`. */
HEAT_INLINE double heat_inside(const heat_view *v, const int64_t at[3], int across) {
    double part = 1;
    for (int a = 0; a < v->dims && v->nodes; a++) {
        const bool border = at[a] == 0 || at[a] == v->n[a] - 1;
        part *= a != across && border && !(v->periodic >> a & 1u) ? 0.5 : 1;
    }
    return part;
}

/* The conductance g = a k_face / dx^2 between a cell and its neighbour. */
HEAT_INLINE double heat_conductance(const heat_view *v, const int64_t at[3], int axis, int side) {
    const bool ends = at[axis] == (side ? v->n[axis] - 1 : 0) && !(v->periodic >> axis & 1u);
    if (v->kind == HEAT_VARIED) {
        return heat_number(v, v->g[axis], heat_place(v->apart, at) + (side ? v->apart[axis] : 0));
    }
    return ends ? 0 : v->k[axis] / (v->dx[axis] * v->dx[axis]) * heat_inside(v, at, axis);
}

/* Heat per volume and time that a neighbour conducts to a cell. */
HEAT_INLINE double heat_conducted(const heat_view *v, const int64_t at[3], int axis, int side) {
    const int64_t cell = heat_place(v->stride, at);
    const double g = heat_conductance(v, at, axis, side);
    return g == 0 ? 0
                  : g * (heat_acting(v, cell + heat_beside(v, axis, at[axis], side)) -
                         heat_acting(v, cell));
}

/* The heat flux along an axis, or the gradient, in a cell: the mean of its two faces. A face on a
 * surface does not count. */
HEAT_INLINE double heat_mean(const heat_view *v, const int64_t at[3], int axis, bool gradient) {
    const int64_t cell = heat_place(v->stride, at);
    double sum = 0;
    int faces = 0;
    for (int side = 0; side < 2; side++) {
        const double g = heat_conductance(v, at, axis, side);
        if (g > 0) {
            const int64_t other = cell + heat_beside(v, axis, at[axis], side);
            const double step = heat_number(v, v->from, other) - heat_number(v, v->from, cell);
            sum += (side == gradient ? 1 : -1) * (gradient ? step : g * step);
            faces++;
        }
    }
    return faces == 0 ? 0
           : gradient ? sum / (faces * v->dx[axis])
                      : sum / faces * v->dx[axis] / heat_inside(v, at, axis);
}

/* The heat capacity C v of a cell, v the fraction of its volume inside. */
HEAT_INLINE double heat_capacity(const heat_view *v, const int64_t at[3]) {
    return v->kind == HEAT_VARIED ? v->dt / heat_number(v, v->m, heat_place(v->apart, at))
                                  : v->capacity * heat_inside(v, at, -1);
}

/* The source of a cell, per time and volume of a whole cell. */
HEAT_INLINE double heat_source(const heat_view *v, const int64_t at[3]) {
    if (v->F) {
        return v->F[heat_place(v->stride, at)] *
               (v->kind == HEAT_VARIED ? 1 : heat_inside(v, at, -1));
    }
    return v->kind == HEAT_VARIED ? heat_number(v, v->q, heat_place(v->apart, at)) : 0;
}

/* Implicit steps. Let C v T_t = P - K T, with K the conduction to neighbours and through surfaces
 * and P the source and the given part of surfaces. A step is
 *
 *   C v (T' - T) / dt = P - K (w T' + (1 - w) T)
 *
 * backward Euler's with w = 1, Crank-Nicolson's with w = 1/2, which takes P at the middle of the
 * step. So A T' = F with A = K + M, M = C v / (w dt) and F = P / w + M / w T - (1 - w) / w A T.
 *
 * This function gives F of a cell with M = `mass`, without surfaces, from T and, if w < 1, from
 * `product` = A T. */
HEAT_INLINE double heat_right_side(const heat_view *v, const int64_t at[3], double mass, double T,
                                   double product) {
    const double w = v->implicit;
    const double q = v->q ? heat_number(v, v->q, heat_place(v->apart, at)) : 0;
    return (mass * T + q - (w < 1 ? (1 - w) * product : 0)) / w;
}

/* Adds the part M s of the surfaces of the k-th cell on surfaces to F. A node of given temperature
 * gets T = s instead. */
HEAT_INLINE void heat_right_surface(const diffusion_given *given, int64_t k, double mass, double *T,
                                    double *F) {
    *T = isinf(given->b[k]) ? given->s[k] : *T;
    *F += isinf(given->b[k]) ? 0 : mass * given->s[k];
}

HEAT_INLINE double heat_residual(const heat_view *v, const int64_t at[3]) {
    const int64_t i = heat_place(v->apart, at);
    return (v->single_f ? (double)((const float *)v->f)[i] : ((const double *)v->f)[i]) /
           (v->kind == HEAT_VARIED ? heat_inside(v, at, -1) : 1);
}

HEAT_INLINE double heat_volume(const heat_view *v) {
    return v->dx[0] * v->dx[1] * (v->dims == 3 ? v->dx[2] : 1);
}

/* The quantity `what` (HEAT_VALUE ...) in a cell; returns its number of components. */
HEAT_INLINE int heat_values(const heat_view *v, int what, const int64_t at[3], double *out) {
    if (what == HEAT_FLUX || what == HEAT_GRADIENT) {
        for (int a = 0; a < v->dims; a++) {
            out[a] = heat_mean(v, at, a, what == HEAT_GRADIENT);
        }
        return v->dims;
    }
    *out = what == HEAT_ADDED      ? heat_source(v, at)
           : what == HEAT_RESIDUAL ? heat_residual(v, at)
                                   : heat_temperature(v, heat_place(v->stride, at));
    *out *= what == HEAT_CONTENT ? heat_capacity(v, at) : 1;
    *out *= what >= HEAT_CONTENT ? heat_volume(v) : 1;
    return 1;
}

/* Stores the heat per time that enters at the sites of the k-th cell on surfaces, in the step from
 * `from` to `to`. For a node of given temperature it follows from the balance: the change of its
 * heat (if it `changes`) plus the heat that it conducts to its neighbours, minus its source. */
HEAT_INLINE void heat_entering(const heat_view *v, const diffusion_given *given, int64_t k,
                               bool changes) {
    const int64_t end = given->first_site[k + 1];
    const int64_t fixed = diffusion_first_fixed(given->site, given->first_site[k], end);
    int64_t at[3];
    heat_at(v, given->cell[k], at);
    const int64_t cell = heat_place(v->stride, at);
    const double here = heat_number(v, v->from, cell);
    for (int64_t i = given->first_site[k]; i < end; i++) {
        double u, p;
        diffusion_through(&given->site[i], given->value + DIFFUSION_VALUES * i, v->reference, &u,
                          &p);
        given->entering[i] =
            fixed == end ? (p - u * heat_acting(v, cell)) * given->site[i].area : 0;
    }
    if (fixed < end) {
        double rate =
            changes ? (heat_number(v, v->to, cell) - here) / v->dt * heat_capacity(v, at) : 0;
        rate -= heat_source(v, at);
        for (int a = 0; a < v->dims; a++) {
            rate -= heat_conducted(v, at, a, 0) + heat_conducted(v, at, a, 1);
        }
        given->entering[fixed] = rate * heat_volume(v);
    }
}

#endif
