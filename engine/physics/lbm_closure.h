/* lbm_closure.h -- wet nodes: Zou-He closures of D2Q9 (Hecht-Harting form), outflow, corners.
 *
 * Re-includable like lbm_collision.h, with the same macros. At a cell of an open face the
 * populations that enter through the face are unknown. With the inward normal n, the tangent t, e*
 * the opposite of e, and the known sums S0 = sum over e.n = 0 of g, S- = sum over e.n < 0 of g
 * (deviations f - w, of which S0 + 2 S- of the weights is 1):
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
 * Outflow. Let v = -u.n be the speed out of the domain and c the speed of sound. At the end of a
 * step the fluid beside the face convects out and the incoming sound wave v - c drho is what it
 * was:
 *
 *   v' = v - V (v - v_in)    u_t' = u_t - V (u_t - u_t,in)    V = v limited to [0, 1]
 *   v - c drho = v' - (1 - K) c drho_before
 *
 * with _in for the next cell inwards. The outgoing sound wave is in the populations that arrive,
 * v (1 + drho) = S0 + 2 S- - drho, so density and speed follow from both. K = 0 would reflect no
 * sound but let the pressure drift; LBM_OUTFLOW_RETURN is small and brings the pressure back to 0.
 *
 * Corner of two faces with inward normals p and q. Density and velocity are given; unknown are e =
 * p, q, p + q, which bounce as above with N = 0, and the pair p - q and q - p, which leave and
 * enter at once:
 *
 *   g_(p-q) - g_(q-p) = rho (u.p - u.q)/6,   their sum is what density leaves.
 *
 * Zou, He, Phys. Fluids 9 (1997) 1591; Hecht, Harting, J. Stat. Mech. (2010) P01018.
 */
#include <stdbool.h>
#include "engine/physics/lbm_d2q9.h"

#define LBM_OUTFLOW_RETURN 0.02

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

/* A cell's density deviation and velocity. */
typedef struct LBM_NAME(lbm_cell) {
    REAL drho, ux, uy;
} LBM_NAME(lbm_cell);

/* Fills the unknown populations of a cell on face FACE by the outflow equations: `here` and
 * `inward` are this cell and the next inwards at the step before. Populations before collision have
 * the velocity u + (shift_x, shift_y). */
SEL_INLINE void LBM_NAME(lbm_close_outflow)(REAL g[D2Q9_COUNT], int face,
                                            const LBM_NAME(lbm_cell) * here,
                                            const LBM_NAME(lbm_cell) * inward, REAL shift_x,
                                            REAL shift_y) {
    const bool along_x = face < 2;
    const REAL sign = face % 2 == 0 ? -R(1) : R(1); /* of the outward normal */
    const REAL v = sign * (along_x ? here->ux : here->uy);
    const REAL limited = v < R(0) ? R(0) : v > R(1) ? R(1) : v;
    const REAL ux = here->ux - limited * (here->ux - inward->ux);
    const REAL uy = here->uy - limited * (here->uy - inward->uy);
    const REAL sound = R(0.57735026918962576);
    REAL vx = R(0), vy = R(0);
    LBM_NAME(lbm_velocity_of_density)(g, face, R(0), &vx, &vy);
    const REAL arriving = sign * (along_x ? vx : vy);
    const REAL wave = sign * (along_x ? ux + shift_x : uy + shift_y) -
                      R(1.0 - LBM_OUTFLOW_RETURN) * sound * here->drho;
    /* arriving - drho = (wave + c drho)(1 + drho) */
    const REAL b = R(1) + sound + wave, rest = arriving - wave;
    const REAL drho = R(2) * rest / (b + LBM_SQRT(b * b + R(4) * sound * rest));
    LBM_NAME(lbm_close_density)(g, face, drho, ux + shift_x, uy + shift_y);
}

/* Fills the unknown populations of a cell on the corner of an x face and a y face so that its
 * density is 1 + drho and its velocity (ux, uy). */
SEL_INLINE void LBM_NAME(lbm_close_corner)(REAL g[D2Q9_COUNT], int face_x, int face_y, REAL drho,
                                           REAL ux, REAL uy) {
    const REAL rho = R(1) + drho;
    switch (4 * face_x + face_y) {
#define CORNER(fx, fy, p, p_back, q, q_back, pq, pq_back, one, other)                             \
    case 4 * fx + fy: {                                                                           \
        const REAL up = rho * D2Q9_ALONG_##p(ux, uy), uq = rho * D2Q9_ALONG_##q(ux, uy);          \
        g[p] = g[p_back] + up * R(2.0 / 3.0);                                                     \
        g[q] = g[q_back] + uq * R(2.0 / 3.0);                                                     \
        g[pq] = g[pq_back] + (up + uq) * R(1.0 / 6.0);                                            \
        const REAL known = g[0] + (g[p] + g[p_back]) + (g[q] + g[q_back]) + (g[pq] + g[pq_back]); \
        const REAL sum = drho - known, difference = (up - uq) * R(1.0 / 6.0);                     \
        g[one] = R(0.5) * (sum + difference);                                                     \
        g[other] = R(0.5) * (sum - difference);                                                   \
        break;                                                                                    \
    }
        D2Q9_CORNERS(CORNER)
#undef CORNER
    default:
        break;
    }
}

#undef R
