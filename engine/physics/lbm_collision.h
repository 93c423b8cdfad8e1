/* lbm_collision.h -- equilibrium, BGK and TRT collisions with Guo's force, for one D2Q9 cell.
 *
 * Re-includable. The includer defines REAL (the type), LBM_NAME(name) (adds a suffix) and
 * SEL_INLINE (the functions' qualifiers).
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
 *
 * Guo, Zheng, Shi, Phys. Rev. E 65 (2002) 046308; Ginzburg, Verhaeghe, d'Humieres, Commun.
 * Comput. Phys. 3 (2008) 427; deviations: Skordos, Phys. Rev. E 48 (1993) 4823.
 */
#include <stdbool.h>
#include "engine/physics/lbm_d2q9.h"

#define R(literal) ((REAL)(literal))

/* What a collision needs besides the cell: rates per step and acceleration, lattice units. BGK
 * takes omega_even. */
typedef struct LBM_NAME(lbm_rates) {
    REAL omega_even, omega_odd, ax, ay;
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

#undef R
