/* lbm_closure.h -- open faces: Zou-He closures of D2Q9 (Hecht-Harting form), any face.
 *
 * Re-includable like lbm_collision.h. At a cell of an open face the populations that enter
 * through the face are unknown. With the inward normal n, the tangent t, e* the opposite of e,
 * and the known sums S0 = sum over e.n = 0 of g, S- = sum over e.n < 0 of g (deviations f - w, of
 * which S0 + 2 S- of the weights is 1):
 *
 *   velocity given   drho = (S0 + 2 S- + u.n) / (1 - u.n)
 *   density given    u.n  = (drho - S0 - 2 S-) / rho,  tangential velocity zero
 *   tangential       N    = (g_t - g_-t)/2 - rho u_t/3
 *   e = n            g    = g* + 2/3 rho u.n
 *   e = n +- t       g    = g* + rho (u.n +- u_t)/6 -+ N
 *
 * Density and momentum rho u then come out exactly. Where a force F = rho a acts, the momentum of
 * populations before collision is rho u - F/2, so callers pass u - a/2 for u.
 *
 * Zou, He, Phys. Fluids 9 (1997) 1591; Hecht, Harting, J. Stat. Mech. (2010) P01018.
 */
#include "engine/physics/lbm_d2q9.h"

#define R(literal) ((REAL)(literal))

/* Fills the unknown populations of a cell on face FACE (0..3: x- x+ y- y+) so that its velocity is
 * (ux, uy). */
SEL_INLINE void LBM_NAME(lbm_close_velocity)(REAL g[D2Q9_COUNT], int face, REAL ux, REAL uy) {
    switch (face) {
#define FACE(f, n, back, t, down, nt, nt_back, nd, nd_back)                                        \
    case f: {                                                                                      \
        const REAL un = D2Q9_ALONG_##n(ux, uy), ut = D2Q9_ALONG_##t(ux, uy);                       \
        const REAL known = g[0] + (g[t] + g[down]) + R(2) * (g[back] + (g[nt_back] + g[nd_back])); \
        const REAL rho = R(1) + (known + un) / (R(1) - un);                                        \
        const REAL across = R(0.5) * (g[t] - g[down]) - rho * ut * R(1.0 / 3.0);                   \
        g[n] = g[back] + rho * un * R(2.0 / 3.0);                                                  \
        g[nt] = g[nt_back] + rho * (un + ut) * R(1.0 / 6.0) - across;                              \
        g[nd] = g[nd_back] + rho * (un - ut) * R(1.0 / 6.0) + across;                              \
        break;                                                                                     \
    }
        D2Q9_FACES(FACE)
#undef FACE
    default:
        break;
    }
}

/* The velocity with which populations that are complete but for face FACE have the density
 * 1 + drho: its normal component follows, (*ux, *uy) holds the tangential one. */
SEL_INLINE void LBM_NAME(lbm_velocity_of_density)(const REAL g[D2Q9_COUNT], int face, REAL drho,
                                                  REAL *ux, REAL *uy) {
    switch (face) {
#define FACE(f, n, back, t, down, nt, nt_back, nd, nd_back)                                        \
    case f: {                                                                                      \
        const REAL known = g[0] + (g[t] + g[down]) + R(2) * (g[back] + (g[nt_back] + g[nd_back])); \
        const REAL un = (drho - known) / (R(1) + drho);                                            \
        *(f < 2 ? ux : uy) = f % 2 == 0 ? un : -un;                                                \
        break;                                                                                     \
    }
        D2Q9_FACES(FACE)
#undef FACE
    default:
        break;
    }
}

/* Fills the unknown populations of a cell on face FACE so that its density is 1 + drho and its
 * tangential velocity that of (tangent_x, tangent_y), of which the normal part is ignored. */
SEL_INLINE void LBM_NAME(lbm_close_density)(REAL g[D2Q9_COUNT], int face, REAL drho, REAL tangent_x,
                                            REAL tangent_y) {
    REAL ux = tangent_x, uy = tangent_y;
    LBM_NAME(lbm_velocity_of_density)(g, face, drho, &ux, &uy);
    LBM_NAME(lbm_close_velocity)(g, face, ux, uy);
}

#undef R
