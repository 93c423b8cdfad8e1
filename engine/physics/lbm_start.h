/* lbm_start.h -- the populations of a smooth flow, for step 0.
 *
 * Re-includable like lbm_collision.h, which must come first. Before collision the populations of a
 * smooth flow are f = f^eq + f^neq - S/2 with
 *
 *   f_i^neq = -w_i tau rho / cs2 (e_i e_i - cs2 I) : grad u
 *
 * (Guo's change of variables puts -S/2 there). Collision leaves f^eq + (1 - 1/tau) f^neq + S/2,
 * which is what is stored: f^neq is even, so this holds for TRT too. Without f^neq the start would
 * be a stress-free flow, and errors of first order in time would show.
 */

/* Stored populations of density 1 + drho, velocity u, rate of strain s, under the acceleration a.
 */
SEL_INLINE void LBM_NAME(lbm_start)(REAL drho, const REAL u[LBM_DIMS], const REAL s[LBM_PARTS],
                                    REAL tau, const REAL a[LBM_DIMS], REAL g[LBM_Q]) {
    const REAL rho = (REAL)1 + drho, stress = -(tau - (REAL)1) * (REAL)3 * rho;
    REAL source[LBM_Q], trace = (REAL)0;
    LBM_NAME(lbm_equilibrium)(drho, u, g);
    LBM_NAME(lbm_force)(rho, u, a, source);
#define TRACE(axis, sum) trace += s[axis];
    LBM_AXES(TRACE)
#undef TRACE
    const REAL still = trace * (REAL)(1.0 / 3.0);
    g[0] += (REAL)0.5 * source[0] - (REAL)LBM_REST_WEIGHT * stress * still;
#define ADD(i, ex, ey, ez, opposite, weight)                                   \
    {                                                                          \
        const REAL even = (REAL)(weight)*stress * ((LBM_TWICE(i, s)) - still); \
        g[i] += even + (REAL)0.5 * source[i];                                  \
        g[opposite] += even + (REAL)0.5 * source[opposite];                    \
    }
    LBM_PAIRS(ADD)
#undef ADD
}
