/* lbm_field.h -- the fields of one cell of a flow, from its moments, its strain or its gradient,
 * and the momentum and mass exchanged along one link.
 *
 * C11 and C++17, f64; the includer may define LBM_FIELD_INLINE to add its qualifiers. Unless said,
 * numbers are in lattice units. d[a][b] = d u_a / d x_b, zero for a missing axis; the parts of a
 * tensor are xx yy xy, or xx yy zz xy yz xz.
 *
 *   vorticity   curl u
 *   q criterion (|curl u|^2 - 2 S:S)/4
 *   strain rate sqrt(2 S:S)
 *   stress      2 rho nu S
 *   dissipation 2 nu S:S, per mass
 *
 * with S the rate of strain: by differences, or from the non-equilibrium second moment Q of the
 * populations before collision, S = -3/(2 rho tau) Q. The recursive operators relax the trace of Q
 * with a tau of its own, which then stands in S and nu for the trace.
 */
#ifndef LBM_FIELD_H
#define LBM_FIELD_H

#include <math.h>
#include <stdint.h>
#include "engine/solvers/lbm/lbm_method.h"

#ifndef LBM_FIELD_INLINE
#define LBM_FIELD_INLINE static inline
#endif

/* A product that is rounded before it is added to another number. */
#ifndef LBM_FIELD_TIMES
#define LBM_FIELD_TIMES(a, b) ((a) * (b))
#endif

/* The lattice units in the user's units. */
typedef struct lbm_units {
    double velocity, density, pressure, time;
} lbm_units;

/* sqrt(2 S:S) */
LBM_FIELD_INLINE double lbm_gradient_rate(const double d[3][3]) {
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            const double twice = d[a][b] + d[b][a];
            sum += 0.5 * twice * twice;
        }
    }
    return sqrt(sum);
}

/* S, part by part. */
LBM_FIELD_INLINE void lbm_gradient_strain(const double d[3][3], int dims, double *s) {
    const int parts = dims == 2 ? 3 : 6;
    for (int k = 0; k < parts; k++) {
        const int a = k < dims ? k : k == dims + 1 ? 1 : 0;
        const int b = k < dims ? k : k == dims ? 1 : 2;
        s[k] = 0.5 * (d[a][b] + d[b][a]);
    }
}

/* Smagorinsky's viscosity (C dx)^2 sqrt(2 S:S), with eddy = 18 sqrt2 C^2. Without the model
 * (eddy = 0) it is 0, even if the gradient is not finite. */
LBM_FIELD_INLINE double lbm_eddy_viscosity(double eddy, const double d[3][3]) {
    return eddy > 0 ? eddy / (18 * sqrt(2.0)) * lbm_gradient_rate(d) : 0;
}

/* The relaxation time of the trace of Q for the recursive operators: it is gone after a step. */
#define LBM_TRACE_TAU 1.0

/* The dynamic viscosities of the deviator and of the trace of S, of a cell with this density. */
typedef struct lbm_viscosity {
    double deviator, trace, density;
} lbm_viscosity;

LBM_FIELD_INLINE lbm_viscosity lbm_viscosity_of(double rho, double tau, bool recursive) {
    lbm_viscosity v = {rho * (tau - 0.5) / 3, rho * (tau - 0.5) / 3, rho};
    v.trace = recursive ? rho * (LBM_TRACE_TAU - 0.5) / 3 : v.trace;
    return v;
}

/* S, part by part, from Q = `pi_neq` of a cell with density 1 + drho that relaxes with tau. */
LBM_FIELD_INLINE lbm_viscosity lbm_pi_strain(const double *pi_neq, double drho, double tau,
                                             bool recursive, int dims, double *s) {
    const int parts = dims == 2 ? 3 : 6;
    const double factor = -1.5 / ((1 + drho) * tau);
    double trace = 0;
    for (int a = 0; recursive && a < dims; a++) {
        trace += pi_neq[a] / dims;
    }
    for (int k = 0; k < parts; k++) {
        s[k] = factor * pi_neq[k];
        s[k] += k < dims ? trace * (factor * (tau / LBM_TRACE_TAU) - factor) : 0;
    }
    return lbm_viscosity_of(1 + drho, tau, recursive);
}

/* The following functions store the components of a field in the user's units and return their
 * number. */

/* LBM_VORTICITY (in 2-D its z component) or LBM_Q_CRITERION. */
LBM_FIELD_INLINE int lbm_rotation_field(int field, const double d[3][3], int dims,
                                        const lbm_units *units, double *to) {
    const double rate = 1 / units->time, strain = lbm_gradient_rate(d) * rate;
    double square = 0, curl[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        curl[a] = (d[c][b] - d[b][c]) * rate;
        square += curl[a] * curl[a];
    }
    if (field == LBM_Q_CRITERION) {
        to[0] = 0.25 * (square - strain * strain);
        return 1;
    }
    to[0] = dims == 2 ? curl[2] : curl[0];
    if (dims == 3) {
        to[1] = curl[1];
        to[2] = curl[2];
    }
    return dims == 2 ? 1 : 3;
}

LBM_FIELD_INLINE bool lbm_is_of_strain(int field) {
    return field >= LBM_STRAIN_RATE && field < LBM_STRAIN_RATE + LBM_STRAIN_FIELDS;
}

/* A field of the strain (lbm_is_of_strain) of a cell with S and its viscosities. */
LBM_FIELD_INLINE int lbm_strain_field(int field, const double *s, lbm_viscosity viscosity, int dims,
                                      const lbm_units *units, double *to) {
    const int parts = dims == 2 ? 3 : 6;
    const double per = units->density * units->velocity * units->velocity;
    const double unit = 2 * viscosity.deviator * per;
    const double more = 2 * (viscosity.trace - viscosity.deviator) * per / dims;
    double square = 0, trace = 0;
    for (int a = 0; a < dims; a++) {
        trace += s[a];
    }
    for (int k = 0; k < parts; k++) {
        square += (k < dims ? 2 : 4) * s[k] * s[k];
        to[k] = s[k] * unit + (k < dims ? trace * more : 0);
    }
    if (field == LBM_STRAIN_RATE) {
        to[0] = sqrt(square) / units->time;
        return 1;
    }
    if (field == LBM_DISSIPATION) {
        const double of_trace = 2 * trace * trace / dims;
        const double loss = viscosity.deviator * (square - of_trace) + viscosity.trace * of_trace;
        to[0] = loss / viscosity.density * units->velocity * units->velocity / units->time;
        return 1;
    }
    return parts;
}

/* The fields of the strain from Q. Under the hybrid operator (differences: the strain by
 * differences; else NULL) Q leaves a collision as (1 - omega) Q', in which Q' = (1 - share) Q +
 * share Q_d has a part of the strain by differences. The stress is minus the mean of the parts
 * before and after the collision: it belongs to Q + E, with the deviator
 * E = (1 - omega) / (2 - omega) share (Q_d - Q). The flow loses the energy Q : (Q + E), which is
 * the square of Q + E/2 but for a term in E^2: strain rate and dissipation are those of Q + E/2. */
LBM_FIELD_INLINE void lbm_strain_fields(const double *pi_neq, double drho, double tau,
                                        bool recursive, const double *differences, int dims,
                                        const lbm_units *units, double *rate, double *stress,
                                        double *dissipation) {
    const int parts = dims == 2 ? 3 : 6;
    double s[6], half[6] = {0}, scratch[6], trace = 0;
    const lbm_viscosity viscosity = lbm_pi_strain(pi_neq, drho, tau, recursive, dims, s);
    for (int a = 0; differences && a < dims; a++) {
        trace += (differences[a] - s[a]) / dims;
    }
    for (int k = 0; differences && k < parts; k++) {
        half[k] = 0.5 * LBM_HYBRID_SHARE * (tau - 1) / (2 * tau - 1) *
                  (differences[k] - s[k] - (k < dims ? trace : 0));
        s[k] += half[k];
    }
    lbm_strain_field(LBM_STRAIN_RATE, s, viscosity, dims, units, scratch);
    *rate = scratch[0];
    lbm_strain_field(LBM_DISSIPATION, s, viscosity, dims, units, scratch);
    *dissipation = scratch[0];
    for (int k = 0; k < parts; k++) {
        s[k] += half[k];
    }
    lbm_strain_field(LBM_STRESS, s, viscosity, dims, units, stress);
}

/* LBM_VELOCITY, LBM_DENSITY, LBM_PRESSURE or LBM_SPEED of a cell with density 1 + drho; component a
 * of its velocity stands at u[a * apart]. `to` holds a component for each axis. */
LBM_FIELD_INLINE int lbm_moment_field(int field, double drho, const double *u, int64_t apart,
                                      int dims, const lbm_units *units, double *to) {
    double square = 0;
    for (int a = 0; a < dims; a++) {
        to[a] = u[a * apart] * units->velocity;
        square += to[a] * to[a];
    }
    switch (field) {
    case LBM_VELOCITY:
        return dims;
    case LBM_DENSITY:
        to[0] = (1 + drho) * units->density;
        return 1;
    case LBM_PRESSURE:
        to[0] = drho * units->pressure;
        return 1;
    default:
        to[0] = sqrt(square);
        return 1;
    }
}

/* The sums over links of a step. */
typedef struct lbm_carried {
    double force[3],
        torque[3];    /* momentum to the wall and its moment: means of the last two steps */
    double change[3]; /* change of the momentum from the last step to this step */
    double size;      /* sum of the magnitudes of the mean momentum */
    double mass;      /* mass that leaves the domain in this step */
} lbm_carried;

/* What a link carries in a step: the population `out` left along it, `in` entered along e. */
typedef struct lbm_link {
    double out, in;
    double before, gain_before; /* out + in and in - out of the step before */
    double velocity[3];         /* of the wall where the link meets it; 0: it is at rest */
} lbm_link;

/* Adds a link along e of the cell `at`. The wall, which moves with the velocity u, gains at the
 * middle of the link what the populations have in its own frame,
 *
 *   (-e - u) out - (e - u) in = -e (out + in) + u (in - out),
 *
 * and the outside gains the mass out - in. The torque is about `centre`. (Momentum exchange: Ladd,
 * J. Fluid Mech. 271 (1994) 285; in the frame of the wall: Wen, Zhang, Tu, Wang, Fang, J. Comput.
 * Phys. 266 (2014) 161. Populations are deviations from rest, so the pressure at rest exerts no
 * force; of in - out the rest cancels. If omega is close to 2, or omega- to 0, modes at a wall
 * change their sign in each step; the mean of two steps is free of them.) */
LBM_FIELD_INLINE void lbm_carry(lbm_carried *sum, const int e[3], const lbm_link *link,
                                const double at[3], const double centre[3]) {
    const double both = link->out + link->in, gain = link->in - link->out;
    const double mean = 0.5 * (link->before + both), change = both - link->before;
    const double mean_gain = 0.5 * (link->gain_before + gain), gained = gain - link->gain_before;
    double arm[3], force[3];
    for (int a = 0; a < 3; a++) {
        arm[a] = at[a] - 0.5 * e[a] - centre[a];
        force[a] = -e[a] * mean + LBM_FIELD_TIMES(link->velocity[a], mean_gain);
        sum->force[a] += force[a];
        sum->change[a] += -e[a] * change + LBM_FIELD_TIMES(link->velocity[a], gained);
        sum->size += fabs(force[a]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        sum->torque[a] += LBM_FIELD_TIMES(arm[b], force[c]) - LBM_FIELD_TIMES(arm[c], force[b]);
    }
    sum->mass += link->out - link->in;
}

#endif
