/* lbm_collision.h -- equilibrium, collisions and Guo's force, for one D2Q9 cell.
 *
 * Re-includable. The includer defines REAL (the type), LBM_SQRT(x) (its square root),
 * LBM_NAME(name) (adds a suffix) and SEL_INLINE (the functions' qualifiers).
 *
 * Populations are deviations g_i = f_i - w_i, so that single precision spends its digits on what
 * differs from rest: drho = sum g, rho = 1 + drho, rho u = sum e g + F/2, with F = rho a.
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
 *                nu + (C dx)^2 |S| belongs to tau_eff = [tau + sqrt(tau^2 + 18 sqrt2 C^2
 * |Q|/rho)]/2, |Q|^2 = Q : Q. TRT keeps its magic number.
 *
 * Guo, Zheng, Shi, Phys. Rev. E 65 (2002) 046308; Ginzburg, Verhaeghe, d'Humieres, Commun.
 * Comput. Phys. 3 (2008) 427; Latt, Chopard, Math. Comput. Simul. 72 (2006) 165; Hou, Sterling,
 * Chen, Doolen, Fields Inst. Commun. 6 (1996) 151; deviations: Skordos, Phys. Rev. E 48 (1993)
 * 4823.
 */
#include <stdbool.h>
#include "engine/physics/lbm_d2q9.h"
#include "engine/physics/lbm_method.h"

#define R(literal) ((REAL)(literal))

/* What a collision needs besides the cell: rates per step and acceleration, lattice units; BGK and
 * regularized take omega_even. The rest is for Smagorinsky: eddy = 18 sqrt2 C^2. */
typedef struct LBM_NAME(lbm_rates) {
    REAL omega_even, omega_odd, ax, ay;
    REAL tau, magic, eddy;
} LBM_NAME(lbm_rates);

/* Equilibrium deviations of a fluid with density 1 + drho and velocity (ux, uy). */
SEL_INLINE void LBM_NAME(lbm_equilibrium)(REAL drho, REAL ux, REAL uy, REAL g[D2Q9_COUNT]) {
    const REAL rho = R(1) + drho;
    const REAL still = drho - R(1.5) * rho * (ux * ux + uy * uy);
    g[0] = R(4.0 / 9.0) * still;
#define EQUILIBRIUM(i, opposite, weight)                                         \
    {                                                                            \
        const REAL eu = D2Q9_ALONG_##i(ux, uy);                                  \
        const REAL even = still + R(4.5) * rho * eu * eu, odd = R(3) * rho * eu; \
        g[i] = R(weight) * (even + odd);                                         \
        g[opposite] = R(weight) * (even - odd);                                  \
    }
    D2Q9_PAIRS(EQUILIBRIUM)
#undef EQUILIBRIUM
}

/* Guo's source S_i for the velocity (ux, uy) and the acceleration (ax, ay). */
SEL_INLINE void LBM_NAME(lbm_force)(REAL rho, REAL ux, REAL uy, REAL ax, REAL ay,
                                    REAL s[D2Q9_COUNT]) {
    const REAL work = R(3) * (ux * ax + uy * ay);
    s[0] = -R(4.0 / 9.0) * rho * work;
#define FORCE(i, opposite, weight)                                           \
    {                                                                        \
        const REAL eu = D2Q9_ALONG_##i(ux, uy), ea = D2Q9_ALONG_##i(ax, ay); \
        const REAL even = R(9) * eu * ea - work, odd = R(3) * ea;            \
        s[i] = R(weight) * rho * (even + odd);                               \
        s[opposite] = R(weight) * rho * (even - odd);                        \
    }
    D2Q9_PAIRS(FORCE)
#undef FORCE
}

/* Density deviation and velocity of populations before collision. */
SEL_INLINE void LBM_NAME(lbm_moments)(const REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates,
                                      bool forced, REAL *drho, REAL *ux, REAL *uy) {
    *drho = D2Q9_SUM(g);
    const REAL per_rho = R(1) / (R(1) + *drho);
    *ux = D2Q9_SUM_X(g) * per_rho;
    *uy = D2Q9_SUM_Y(g) * per_rho;
    if (forced) {
        *ux += R(0.5) * rates->ax;
        *uy += R(0.5) * rates->ay;
    }
}

/* A symmetric tensor. */
typedef struct LBM_NAME(lbm_tensor) {
    REAL xx, yy, xy;
} LBM_NAME(lbm_tensor);

/* The non-equilibrium part of the second moment of populations before collision, which is
 * -2 rho cs2 tau times the rate of strain. */
SEL_INLINE LBM_NAME(lbm_tensor)
    LBM_NAME(lbm_excess)(const REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates, bool forced,
                         REAL drho, REAL ux, REAL uy) {
    const REAL rho = R(1) + drho, still = drho * R(1.0 / 3.0);
    LBM_NAME(lbm_tensor)
    q = {D2Q9_SUM_XX(g) - still - rho * ux * ux, D2Q9_SUM_YY(g) - still - rho * uy * uy,
         D2Q9_SUM_XY(g) - rho * ux * uy};
    if (forced) {
        q.xx += rho * ux * rates->ax;
        q.yy += rho * uy * rates->ay;
        q.xy += R(0.5) * rho * (ux * rates->ay + uy * rates->ax);
    }
    return q;
}

/* tau_eff of Smagorinsky's model for the excess q. */
SEL_INLINE REAL LBM_NAME(lbm_tau_of_excess)(LBM_NAME(lbm_tensor) q, REAL rho,
                                            const LBM_NAME(lbm_rates) * rates) {
    const REAL size = LBM_SQRT(q.xx * q.xx + q.yy * q.yy + R(2) * (q.xy * q.xy));
    return R(0.5) * (rates->tau + LBM_SQRT(rates->tau * rates->tau + rates->eddy * size / rho));
}

/* The rates of this cell under Smagorinsky's model. */
SEL_INLINE LBM_NAME(lbm_rates)
    LBM_NAME(lbm_eddy_rates)(const REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates,
                             int collision, bool forced) {
    LBM_NAME(lbm_rates) local = *rates;
    REAL drho, ux, uy;
    LBM_NAME(lbm_moments)(g, rates, forced, &drho, &ux, &uy);
    const LBM_NAME(lbm_tensor) q = LBM_NAME(lbm_excess)(g, rates, forced, drho, ux, uy);
    const REAL tau = LBM_NAME(lbm_tau_of_excess)(q, R(1) + drho, rates);
    local.omega_even = R(1) / tau;
    if (collision == LBM_TRT) {
        local.omega_odd = R(1) / (R(0.5) + rates->magic / (tau - R(0.5)));
    }
    return local;
}

/* Collides the populations of one cell in place: all parts relax with omega_even. */
SEL_INLINE void LBM_NAME(lbm_bgk)(REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates,
                                  bool forced) {
    const REAL omega = rates->omega_even;
    REAL drho, ux, uy, equilibrium[D2Q9_COUNT], source[D2Q9_COUNT];
    LBM_NAME(lbm_moments)(g, rates, forced, &drho, &ux, &uy);
    LBM_NAME(lbm_equilibrium)(drho, ux, uy, equilibrium);
#define RELAX(i, ex, ey, opposite, weight) g[i] += omega * (equilibrium[i] - g[i]);
    D2Q9(RELAX)
#undef RELAX
    if (forced) {
        LBM_NAME(lbm_force)(R(1) + drho, ux, uy, rates->ax, rates->ay, source);
        const REAL share = R(1) - R(0.5) * omega;
#define ADD(i, ex, ey, opposite, weight) g[i] += share * source[i];
        D2Q9(ADD)
#undef ADD
    }
}

/* Collides the populations of one cell in place: even parts relax with omega_even, odd parts with
 * omega_odd. */
SEL_INLINE void LBM_NAME(lbm_trt)(REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates,
                                  bool forced) {
    const REAL half_even = R(0.5) * rates->omega_even, half_odd = R(0.5) * rates->omega_odd;
    REAL drho, ux, uy, equilibrium[D2Q9_COUNT], source[D2Q9_COUNT];
    LBM_NAME(lbm_moments)(g, rates, forced, &drho, &ux, &uy);
    LBM_NAME(lbm_equilibrium)(drho, ux, uy, equilibrium);
#define RELAX(i, opposite, weight)                                                           \
    {                                                                                        \
        const REAL one = equilibrium[i] - g[i], other = equilibrium[opposite] - g[opposite]; \
        const REAL even = half_even * (one + other), odd = half_odd * (one - other);         \
        g[i] += even + odd;                                                                  \
        g[opposite] += even - odd;                                                           \
    }
    g[0] += rates->omega_even * (equilibrium[0] - g[0]);
    D2Q9_PAIRS(RELAX)
#undef RELAX
    if (forced) {
        LBM_NAME(lbm_force)(R(1) + drho, ux, uy, rates->ax, rates->ay, source);
        const REAL share_even = R(0.5) * (R(1) - half_even);
        const REAL share_odd = R(0.5) * (R(1) - half_odd);
#define ADD(i, opposite, weight)                                       \
    {                                                                  \
        const REAL even = share_even * (source[i] + source[opposite]); \
        const REAL odd = share_odd * (source[i] - source[opposite]);   \
        g[i] += even + odd;                                            \
        g[opposite] += even - odd;                                     \
    }
        g[0] += (R(1) - half_even) * source[0];
        D2Q9_PAIRS(ADD)
#undef ADD
    }
}

/* Collides the populations of one cell in place: what is not in the first three orders of moments
 * is dropped. */
SEL_INLINE void LBM_NAME(lbm_regularized)(REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates,
                                          bool forced) {
    const REAL omega = rates->omega_even;
    REAL drho, ux, uy;
    LBM_NAME(lbm_moments)(g, rates, forced, &drho, &ux, &uy);
    const REAL rho = R(1) + drho, still = drho * R(1.0 / 3.0);
    REAL jx = rho * ux, jy = rho * uy;
    REAL xx = (R(1) - omega) * (D2Q9_SUM_XX(g) - still) + omega * jx * ux;
    REAL yy = (R(1) - omega) * (D2Q9_SUM_YY(g) - still) + omega * jy * uy;
    REAL xy = (R(1) - omega) * D2Q9_SUM_XY(g) + omega * jx * uy;
    if (forced) {
        const REAL share = (R(1) - R(0.5) * omega) * rho;
        xx += share * R(2) * ux * rates->ax;
        yy += share * R(2) * uy * rates->ay;
        xy += share * (ux * rates->ay + uy * rates->ax);
        jx += R(0.5) * rho * rates->ax;
        jy += R(0.5) * rho * rates->ay;
    }
    const REAL rest = drho - R(1.5) * (xx + yy), cross = R(9) * xy;
    g[0] = R(4.0 / 9.0) * rest;
#define PAIR(i, opposite, weight, second)                                       \
    {                                                                           \
        const REAL even = rest + (second), odd = R(3) * D2Q9_ALONG_##i(jx, jy); \
        g[i] = R(weight) * (even + odd);                                        \
        g[opposite] = R(weight) * (even - odd);                                 \
    }
    PAIR(1, 3, 1.0 / 9.0, R(4.5) * xx)
    PAIR(2, 4, 1.0 / 9.0, R(4.5) * yy)
    PAIR(5, 7, 1.0 / 36.0, R(4.5) * (xx + yy) + cross)
    PAIR(6, 8, 1.0 / 36.0, R(4.5) * (xx + yy) - cross)
#undef PAIR
}

/* Collides the populations of one cell in place. With constants for all but g and rates nothing
 * of the choice is left in the code. */
SEL_INLINE void LBM_NAME(lbm_collide)(REAL g[D2Q9_COUNT], const LBM_NAME(lbm_rates) * rates,
                                      int collision, bool forced, bool eddies) {
    LBM_NAME(lbm_rates) local = *rates;
    if (eddies) {
        local = LBM_NAME(lbm_eddy_rates)(g, rates, collision, forced);
    }
    if (collision == LBM_TRT) {
        LBM_NAME(lbm_trt)(g, &local, forced);
    } else if (collision == LBM_BGK) {
        LBM_NAME(lbm_bgk)(g, &local, forced);
    } else {
        LBM_NAME(lbm_regularized)(g, &local, forced);
    }
}

#undef R
