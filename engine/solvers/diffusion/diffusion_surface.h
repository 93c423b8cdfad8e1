/* diffusion_surface.h -- surfaces of a conducting body, in double precision.
 *
 * Through a surface, a face of the domain or of a solid, the flux p - U T per area enters, with
 *
 *   fixed T_s       U = k / d,                p = U T_s
 *   flux q_s        U = 0,                    p = q_s
 *   convective      U = 1 / (1 / h + d / k),  p = U T_ambient
 *
 * and d the distance from the cell's centre to the surface (0 for nodes on the surface). A step of
 * dt adds s - b T to the cell, with s, b = p, U times area dt / (C volume). A node on a fixed
 * surface has the surface's temperature: b is infinite, s the temperature.
 *
 * States in single precision store T minus a reference temperature, so that small increments are
 * not lost in the last digits of a large T. The equations hold for this difference if T_s and
 * T_ambient are differences from the reference, too. Fields and sums are made of T itself.
 *
 * C11 and C++17, compiled by both compilers.
 */
#ifndef DIFFUSION_SURFACE_H
#define DIFFUSION_SURFACE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Laws, in the order of the solvers' families. */
enum { DIFFUSION_FIXED, DIFFUSION_FLUX, DIFFUSION_INSULATED, DIFFUSION_CONVECTIVE, DIFFUSION_LAWS };

/* A face of a cell on a surface. */
typedef struct diffusion_site {
    double reach;  /* k / d; 0: the node lies on the surface */
    double weight; /* area / (C volume) of the cell */
    double area;   /* in 2-D per unit depth */
    int law;
} diffusion_site;

/* Values of the law of a site: T_s, or q_s, or T_ambient and h. */
enum { DIFFUSION_VALUES = 2 };

/* The surfaces and coefficients of a body in a step. */
typedef struct diffusion_given {
    const double *value;        /* [sites][DIFFUSION_VALUES] */
    int64_t *cell, *first_site; /* cell k has the sites first_site[k] <= site < first_site[k + 1] */
    diffusion_site *site;
    double *b, *s;        /* of each cell on surfaces */
    double reference;     /* subtracted from the state's temperatures and from s; 0 in f64 */
    double *entering;     /* [sites]: heat that enters per time, if a balance or a flux is wanted */
    double *all_entering; /* [sites of the grid], on rank 0: `entering` of all ranks; else NULL */
    /* Bodies that are not uniform: g of the low faces by axis, and m; `apart`: their strides. */
    void *coefficient[4];
    int64_t apart[3];
    /* Steady bodies, see heat_view: */
    const double *F;
    const void *f;
    bool single_f;
} diffusion_given;

#ifdef __CUDACC__
#define DIFFUSION_INLINE static __host__ __device__ inline
#else
#define DIFFUSION_INLINE static inline
#endif

/* T from a number of the state. (Adding 0 would change -0.) */
DIFFUSION_INLINE double diffusion_temperature(double number, double reference) {
    return reference != 0 ? number + reference : number;
}

/* U and p of a surface, for temperatures minus a reference. */
DIFFUSION_INLINE void diffusion_through(const diffusion_site *site, const double *value,
                                        double reference, double *u, double *p) {
    const double h = value[1];
    *u = site->law == DIFFUSION_FIXED ? site->reach
         : site->law != DIFFUSION_CONVECTIVE || h == 0
             ? 0
             : (site->reach > 0 ? 1 / (1 / h + 1 / site->reach) : h);
    *p = site->law == DIFFUSION_FLUX ? value[0] : *u * (value[0] - reference);
}

/* The first of the sites begin <= k < end that fixes the temperature of its node; end: none. */
DIFFUSION_INLINE int64_t diffusion_first_fixed(const diffusion_site *site, int64_t begin,
                                               int64_t end) {
    while (begin < end && !(site[begin].law == DIFFUSION_FIXED && site[begin].reach == 0)) {
        begin++;
    }
    return begin;
}

/* b and s of a cell with the sites begin <= k < end. */
DIFFUSION_INLINE void diffusion_through_all(const diffusion_site *site, const double *value,
                                            double reference, int64_t begin, int64_t end, double dt,
                                            double *b, double *s) {
    const int64_t fixed = diffusion_first_fixed(site, begin, end);
    *b = fixed < end ? (double)INFINITY : 0;
    *s = fixed < end ? value[DIFFUSION_VALUES * fixed] - reference : 0;
    for (int64_t k = begin; k < end && fixed == end; k++) {
        double u, p;
        diffusion_through(&site[k], value + DIFFUSION_VALUES * k, reference, &u, &p);
        *b += u * site[k].weight * dt;
        *s += p * site[k].weight * dt;
    }
}

#endif
