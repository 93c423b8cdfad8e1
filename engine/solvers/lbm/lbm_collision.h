/* lbm_collision.h -- equilibrium, collisions, Guo's force and the populations of step 0, for
 * one cell.
 *
 * Re-includable. The includer defines LBM_DIMS (see lbm_lattice.h), REAL (the type), LBM_SQRT(x)
 * (its square root), LBM_NAME(name) (adds a suffix) and SEL_INLINE (the functions' qualifiers).
 *
 * Populations are deviations g_i = f_i - w_i from rest, for the sake of accuracy in single
 * precision: drho = sum g, rho = 1 + drho, rho u = sum e g + F/2, with F = rho a.
 *
 *   equilibrium  g_i^eq = w_i [drho + rho (3 e_i.u + 9/2 (e_i.u)^2 - 3/2 u.u)]
 *   force        S_i    = w_i rho [3 (e_i - u).a + 9 (e_i.u)(e_i.a)]
 *   BGK          g_i*   = g_i + omega (g_i^eq - g_i) + (1 - omega/2) S_i
 *   TRT          even and odd parts, (g_i +- g_opposite)/2, relax and are forced with their own
 *                rates; 1/omega_odd = 1/2 + magic / (1/omega_even - 1/2). The even rate gives the
 *                viscosity nu = (1/omega_even - 1/2)/3, magic = 3/16 puts half-way walls exactly
 *                half a cell outside in straight channels.
 *   regularized  only the moments rho, rho u and P_ab = sum e_a e_b g - drho/3 delta_ab are kept:
 *                P* = (1 - omega) P + omega rho u u + (1 - omega/2) rho (u a + a u),
 *                g_i* = w_i [drho + 3 e_i.(rho u + F/2) + 9/2 (e_i e_i - I/3) : P*]
 *   Smagorinsky  the rate follows the strain of the cell: with Q the non-equilibrium part of P,
 *                nu + (C dx)^2 |S| belongs to
 *                tau_eff = [tau + sqrt(tau^2 + 18 sqrt2 C^2 |Q|/rho)]/2, |Q|^2 = Q : Q.
 *                TRT keeps its magic number.
 *
 * Guo, Zheng, Shi, Phys. Rev. E 65 (2002) 046308; Ginzburg, Verhaeghe, d'Humieres, Commun.
 * Comput. Phys. 3 (2008) 427; Latt, Chopard, Math. Comput. Simul. 72 (2006) 165; Hou, Sterling,
 * Chen, Doolen, Fields Inst. Commun. 6 (1996) 151; deviations: Skordos, Phys. Rev. E 48 (1993)
 * 4823.
 */
#include <stdbool.h>
#include "engine/solvers/lbm/lbm_lattice.h"
#include "engine/solvers/lbm/lbm_method.h"

#define R(literal) ((REAL)(literal))

/* Parameters of a collision: rates per step and acceleration a, lattice units; BGK and regularized
 * use omega_even. The rest is for Smagorinsky's model: eddy = 18 sqrt2 C^2. */
typedef struct LBM_NAME(lbm_rates) {
    REAL omega_even, omega_odd, a[LBM_DIMS];
    REAL tau, magic, eddy;
} LBM_NAME(lbm_rates);

/* Equilibrium deviations of a fluid with density 1 + drho and velocity u. */
SEL_INLINE void LBM_NAME(lbm_equilibrium)(REAL drho, const REAL u[LBM_DIMS], REAL g[LBM_Q]) {
    const REAL rho = R(1) + drho;
    const REAL still = drho - R(1.5) * rho * LBM_DOT(u, u);
    g[0] = R(LBM_REST_WEIGHT) * still;
#define EQUILIBRIUM(i, ex, ey, ez, opposite, weight)                             \
    {                                                                            \
        const REAL eu = LBM_ALONG(i, u);                                         \
        const REAL even = still + R(4.5) * rho * eu * eu, odd = R(3) * rho * eu; \
        g[i] = R(weight) * (even + odd);                                         \
        g[opposite] = R(weight) * (even - odd);                                  \
    }
    LBM_PAIRS(EQUILIBRIUM)
#undef EQUILIBRIUM
}

/* Guo's source S_i for the velocity u and the acceleration a. */
SEL_INLINE void LBM_NAME(lbm_force)(REAL rho, const REAL u[LBM_DIMS], const REAL a[LBM_DIMS],
                                    REAL s[LBM_Q]) {
    const REAL work = R(3) * LBM_DOT(u, a);
    s[0] = -R(LBM_REST_WEIGHT) * rho * work;
#define FORCE(i, ex, ey, ez, opposite, weight)                    \
    {                                                             \
        const REAL eu = LBM_ALONG(i, u), ea = LBM_ALONG(i, a);    \
        const REAL even = R(9) * eu * ea - work, odd = R(3) * ea; \
        s[i] = R(weight) * rho * (even + odd);                    \
        s[opposite] = R(weight) * rho * (even - odd);             \
    }
    LBM_PAIRS(FORCE)
#undef FORCE
}

/* Density deviation and velocity of populations before collision. */
SEL_INLINE void LBM_NAME(lbm_moments)(const REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates,
                                      bool forced, REAL *drho, REAL u[LBM_DIMS]) {
    *drho = LBM_SUM(g);
    const REAL per_rho = R(1) / (R(1) + *drho);
#define COMPONENT(axis, sum) u[axis] = sum(g) * per_rho;
    LBM_AXES(COMPONENT)
#undef COMPONENT
    if (forced) {
#define SHIFT(axis, sum) u[axis] += R(0.5) * rates->a[axis];
        LBM_AXES(SHIFT)
#undef SHIFT
    }
}

/* The non-equilibrium part of the second moment of populations before collision, which is
 * -2 rho cs2 tau times the rate of strain. */
SEL_INLINE void LBM_NAME(lbm_pi_neq)(const REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates,
                                     bool forced, REAL drho, const REAL u[LBM_DIMS],
                                     REAL q[LBM_PARTS]) {
    const REAL rho = R(1) + drho, still = drho * R(1.0 / 3.0);
#define PI_NEQ(part, i, j, sum) q[part] = sum(g) - (i == j ? still : R(0)) - rho * u[i] * u[j];
    LBM_TENSOR(PI_NEQ)
#undef PI_NEQ
    if (forced) {
#define WORK(part, i, j, sum) q[part] += R(0.5) * rho * (u[i] * rates->a[j] + u[j] * rates->a[i]);
        LBM_TENSOR(WORK)
#undef WORK
    }
}

/* tau_eff of Smagorinsky's model for this non-equilibrium part. */
SEL_INLINE REAL LBM_NAME(lbm_tau_of_pi)(const REAL q[LBM_PARTS], REAL rho,
                                        const LBM_NAME(lbm_rates) * rates) {
    REAL square = R(0);
#define SQUARE(part, i, j, sum) square += (i == j ? R(1) : R(2)) * (q[part] * q[part]);
    LBM_TENSOR(SQUARE)
#undef SQUARE
    const REAL size = LBM_SQRT(square);
    return R(0.5) * (rates->tau + LBM_SQRT(rates->tau * rates->tau + rates->eddy * size / rho));
}

/* The rates of this cell under Smagorinsky's model. */
SEL_INLINE LBM_NAME(lbm_rates)
    LBM_NAME(lbm_eddy_rates)(const REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates, int collision,
                             bool forced) {
    LBM_NAME(lbm_rates) local = *rates;
    REAL drho, u[LBM_DIMS], q[LBM_PARTS];
    LBM_NAME(lbm_moments)(g, rates, forced, &drho, u);
    LBM_NAME(lbm_pi_neq)(g, rates, forced, drho, u, q);
    const REAL tau = LBM_NAME(lbm_tau_of_pi)(q, R(1) + drho, rates);
    local.omega_even = R(1) / tau;
    if (collision == LBM_TRT) {
        local.omega_odd = R(1) / (R(0.5) + rates->magic / (tau - R(0.5)));
    }
    return local;
}

/* Collides the populations of one cell in place: the even parts of opposite pairs relax with
 * omega_even, the odd ones with omega_odd. Common factors are multiplied once; each pair is
 * finished before the next, so that few values are live at a time. */
SEL_INLINE void LBM_NAME(lbm_relax)(REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates,
                                    REAL omega_even, REAL omega_odd, bool forced) {
    const REAL half_even = R(0.5) * omega_even, half_odd = R(0.5) * omega_odd;
    REAL drho, u[LBM_DIMS];
    LBM_NAME(lbm_moments)(g, rates, forced, &drho, u);
    const REAL rho = R(1) + drho;
    const REAL square = R(4.5) * omega_even * rho, along = R(3) * omega_odd * rho;
    const REAL push_even = (R(1) - half_even) * rho, push_odd = (R(1) - half_odd) * rho;
    REAL still = omega_even * (drho - R(1.5) * rho * LBM_DOT(u, u));
    if (forced) {
        still -= R(3) * push_even * LBM_DOT(u, rates->a);
    }
#define RELAX(i, ex, ey, ez, opposite, weight)                                          \
    {                                                                                   \
        const REAL eu = LBM_ALONG(i, u);                                                \
        const REAL sum = g[i] + g[opposite], difference = g[i] - g[opposite];           \
        REAL even = R(weight) * still + R(weight) * square * eu * eu - half_even * sum; \
        REAL odd = R(weight) * along * eu - half_odd * difference;                      \
        if (forced) {                                                                   \
            const REAL ea = LBM_ALONG(i, rates->a);                                     \
            even += R(9 * weight) * push_even * eu * ea;                                \
            odd += R(3 * weight) * push_odd * ea;                                       \
        }                                                                               \
        g[i] += even + odd;                                                             \
        g[opposite] += even - odd;                                                      \
    }
    g[0] += R(LBM_REST_WEIGHT) * still - omega_even * g[0];
    LBM_PAIRS(RELAX)
#undef RELAX
}

/* The populations of the moments up to second order: density 1 + drho, momentum j, and
 * P_ab = sum e_a e_b g - drho/3 delta_ab. */
SEL_INLINE void LBM_NAME(lbm_of_moments)(REAL g[LBM_Q], REAL drho, const REAL j[LBM_DIMS],
                                         const REAL p[LBM_PARTS]) {
    REAL rest = drho;
#define TRACE(axis, sum) rest -= R(1.5) * p[axis];
    LBM_AXES(TRACE)
#undef TRACE
    g[0] = R(LBM_REST_WEIGHT) * rest;
#define PAIR(i, ex, ey, ez, opposite, weight)                                              \
    {                                                                                      \
        const REAL even = rest + R(4.5) * (LBM_TWICE(i, p)), odd = R(3) * LBM_ALONG(i, j); \
        g[i] = R(weight) * (even + odd);                                                   \
        g[opposite] = R(weight) * (even - odd);                                            \
    }
    LBM_PAIRS(PAIR)
#undef PAIR
}

/* Collides the populations of one cell in place, keeping only moments up to second order. */
SEL_INLINE void LBM_NAME(lbm_regularized)(REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates,
                                          bool forced) {
    const REAL omega = rates->omega_even;
    REAL drho, u[LBM_DIMS], j[LBM_DIMS], p[LBM_PARTS];
    LBM_NAME(lbm_moments)(g, rates, forced, &drho, u);
    const REAL rho = R(1) + drho, still = drho * R(1.0 / 3.0);
#define MOMENTUM(axis, sum) j[axis] = rho * u[axis];
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
#define RELAX(part, i, k, sum) \
    p[part] = (R(1) - omega) * (sum(g) - (i == k ? still : R(0))) + omega * j[i] * u[k];
    LBM_TENSOR(RELAX)
#undef RELAX
    if (forced) {
        const REAL share = (R(1) - R(0.5) * omega) * rho;
#define WORK(part, i, k, sum) p[part] += share * (u[i] * rates->a[k] + u[k] * rates->a[i]);
        LBM_TENSOR(WORK)
#undef WORK
#define PUSH(axis, sum) j[axis] += R(0.5) * rho * rates->a[axis];
        LBM_AXES(PUSH)
#undef PUSH
    }
    LBM_NAME(lbm_of_moments)(g, drho, j, p);
}

/* Collides the populations of one cell in place. With constants for all but g and rates nothing
 * of the choice is left in the code. */
SEL_INLINE void LBM_NAME(lbm_collide)(REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates,
                                      int collision, bool forced, bool les) {
    LBM_NAME(lbm_rates) local = *rates;
    if (les) {
        local = LBM_NAME(lbm_eddy_rates)(g, rates, collision, forced);
    }
    if (collision == LBM_REGULARIZED) {
        LBM_NAME(lbm_regularized)(g, &local, forced);
    } else {
        const REAL odd = collision == LBM_TRT ? local.omega_odd : local.omega_even;
        LBM_NAME(lbm_relax)(g, &local, local.omega_even, odd, forced);
    }
}

/* Stored populations of a smooth flow, for step 0: density 1 + drho, velocity u, rate of strain s,
 * under the acceleration a. Before collision they are f = f^eq + f^neq - S/2 with
 *
 *   f_i^neq = -w_i tau rho / cs2 (e_i e_i - cs2 I) : grad u
 *
 * (Guo's change of variables puts -S/2 there). Collision leaves f^eq + (1 - 1/tau) f^neq + S/2,
 * which is what is stored: f^neq is even, so this holds for TRT too. Without f^neq the start would
 * be a stress-free flow, and errors of first order in time would show. */
SEL_INLINE void LBM_NAME(lbm_start)(REAL drho, const REAL u[LBM_DIMS], const REAL s[LBM_PARTS],
                                    REAL tau, const REAL a[LBM_DIMS], REAL g[LBM_Q]) {
    const REAL rho = R(1) + drho, stress = -(tau - R(1)) * R(3) * rho;
    REAL source[LBM_Q], trace = R(0);
    LBM_NAME(lbm_equilibrium)(drho, u, g);
    LBM_NAME(lbm_force)(rho, u, a, source);
#define TRACE(axis, sum) trace += s[axis];
    LBM_AXES(TRACE)
#undef TRACE
    const REAL still = trace * R(1.0 / 3.0);
    g[0] += R(0.5) * source[0] - R(LBM_REST_WEIGHT) * stress * still;
#define ADD(i, ex, ey, ez, opposite, weight)                                \
    {                                                                       \
        const REAL even = R(weight) * stress * ((LBM_TWICE(i, s)) - still); \
        g[i] += even + R(0.5) * source[i];                                  \
        g[opposite] += even + R(0.5) * source[opposite];                    \
    }
    LBM_PAIRS(ADD)
#undef ADD
}

#undef R
