/* lbm_sponge.h -- a cell of the sponge: after each collision it is brought nearer to a flow at rest
 * or to a uniform stream, so that what runs into the layer fades before it meets the face behind.
 *
 * Re-includable behind lbm_collision.h, with the same macros. With sigma the rate of the cell and
 * (rho_w, u_w) what the layer holds,
 *
 *   g_i* += sigma [g_i^eq(rho_w, u_w) - g_i^eq(rho, u)]
 *
 * The moments change by sigma (rho_w - rho), sigma (rho_w u_w - rho u) and
 * sigma (rho_w u_w u_w - rho u u). Density and momentum decay at the same rate: so both sound waves
 * of a plane wave, rho u +- c_s drho, decay without feeding each other, and the layer itself
 * returns nothing along its normal, whatever the length of the wave. What the face behind it
 * returns has passed the layer twice:
 *
 *   exp(-2/c_s integral of sigma dx)
 *
 * Xu, Sagaut, J. Comput. Phys. 245 (2013) 14, equation 24.
 */

/* Moments after collision. */
SEL_INLINE void LBM_NAME(lbm_sponge_moments)(LBM_NAME(lbm_cell_moments) * m, REAL rate, REAL drho,
                                             const REAL u[LBM_DIMS]) {
    const REAL rho = (REAL)1 + drho, per_rho = (REAL)1 / ((REAL)1 + m->drho);
#define SECOND(part, a, b, sum) \
    m->p[part] += rate * (rho * u[a] * u[b] - m->j[a] * m->j[b] * per_rho);
    LBM_TENSOR(SECOND)
#undef SECOND
#define MOMENTUM(axis, sum) m->j[axis] += rate * (rho * u[axis] - m->j[axis]);
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
    m->drho += rate * (drho - m->drho);
}

/* Populations after collision. */
SEL_INLINE void LBM_NAME(lbm_sponge_populations)(REAL g[LBM_Q], REAL rate, REAL drho,
                                                 const REAL u[LBM_DIMS], int collision) {
    LBM_NAME(lbm_cell_moments) m = LBM_NAME(lbm_moments_of)(g);
    if (LBM_NAME(lbm_keeps_moments)(collision)) {
        LBM_NAME(lbm_sponge_moments)(&m, rate, drho, u);
        LBM_NAME(lbm_of_moments)(&m, LBM_NAME(lbm_is_recursive)(collision), g);
        return;
    }
    const REAL per_rho = (REAL)1 / ((REAL)1 + m.drho);
    REAL v[LBM_DIMS], now[LBM_Q], wanted[LBM_Q];
    for (int a = 0; a < LBM_DIMS; a++) {
        v[a] = m.j[a] * per_rho;
    }
    LBM_NAME(lbm_equilibrium)(m.drho, v, now);
    LBM_NAME(lbm_equilibrium)(drho, u, wanted);
    for (int i = 0; i < LBM_Q; i++) {
        g[i] += rate * (wanted[i] - now[i]);
    }
}

/* The stored components of a cell, populations or moments, at to[i * apart]. drho: the deviation
 * of the density that the layer holds. Returns the mass that the cell has gained. */
SEL_INLINE double LBM_NAME(lbm_sponge_stored)(REAL *to, int64_t apart, bool moments, int collision,
                                              const lbm_sponge_cell *cell, REAL drho) {
    REAL u[LBM_DIMS], g[LBM_Q];
    double gain = 0;
    for (int a = 0; a < LBM_DIMS; a++) {
        u[a] = (REAL)cell->u[a];
    }
    if (moments) {
        LBM_NAME(lbm_cell_moments) m = LBM_NAME(lbm_get_moments)(to, apart);
        gain = -(double)m.drho;
        LBM_NAME(lbm_sponge_moments)(&m, (REAL)cell->rate, drho, u);
        LBM_NAME(lbm_put_moments)(&m, to, apart);
        return gain + (double)m.drho;
    }
    for (int i = 0; i < LBM_Q; i++) {
        g[i] = to[i * apart];
        gain -= (double)g[i];
    }
    LBM_NAME(lbm_sponge_populations)(g, (REAL)cell->rate, drho, u, collision);
    for (int i = 0; i < LBM_Q; i++) {
        to[i * apart] = g[i];
        gain += (double)g[i];
    }
    return gain;
}
