/* lbm_closure.h -- the populations that enter at boundaries: wet faces, edges and corners (Hecht
 * and Harting), outflow, interpolated and parabolic walls.
 *
 * Re-includable behind lbm_collision.h, with the same macros. At a cell of open faces the
 * populations that enter through them are unknown. n holds the inward normals of the wet faces, one
 * component per axis: +1 at a lower face, -1 at an upper one, 0 where none is wet; m of them are
 * not 0. A direction enters when it goes along one of the normals, leaves when it goes against one;
 * e* is the opposite of e. With density and velocity given, populations that only enter are
 *
 *   g_e = g_e* + 6 w_e rho e.u - e.N,    N_t = [T_t - (1 - m/3) rho u_t] / (2 m)
 *
 * with T_t the momentum along the tangent t of the directions that neither enter nor leave, and
 * N = 0 along the normals. The pairs that enter and leave at once (across an edge) differ by
 * 6 w_e rho e.u; their sums are those of equilibrium plus equal shares of the remaining density.
 * Mass and momentum are then exact. On one face the known sums S0 (neither) and S- (leaving) tie
 * density and velocity together (deviations f - w, of which S0 + 2 S- of the weights is 1):
 *
 *   velocity given   drho = (S0 + 2 S- + u.n) / (1 - u.n)
 *   density given    u.n  = (drho - S0 - 2 S-) / rho
 *
 * Where a force F = rho a acts, the momentum of populations before collision is rho u - F/2, so
 * callers pass u - a/2 for u.
 *
 * Interpolated walls. Let a link meet the wall after the part q of its length. With `out` for what
 * left towards the wall, `back` for what left the other way, `far` for what arrives from there,
 *
 *   in = back + s (out - back) + (1 - 2 q s) (far - out)
 *
 * puts the wall in its place on a straight profile for any s. The rule of Bouzidi, Firdaouss and
 * Lallemand has s = 1 for q < 1/2 and 1 / (2 q) beyond. For a curved profile, expand what
 * regularized collision sends in steady flow, w [rho + 3 j - 3 (tau - 1) dj] with j the momentum
 * along the link and d the derivative along it: where the wall should be, the velocity is
 *
 *   [q^2/2 - (tau - 1/2) (1/s - q)] ddj
 *
 * beside a share of the gradient of the pressure, and 1/s = q + q^2 / (2 tau - 1) makes it vanish.
 * A larger s than Bouzidi's is not stable. Inertia along the link counts 1/s - q times and presses
 * fluid through the wall; so s has a lower bound. At a wall that moves with velocity u it is
 * Bouzidi's, and the wall adds 6 s w rho c.u, with the direction c that enters and the density rho
 * of the cell. Where nothing arrives from the other side, since a wall or a face is there, too, the
 * wall lies half-way if q < 1/2.
 *
 * Parabolic walls. In smooth flow along a straight wall at rest what enters along e is more than
 * what has left half-way by -6 w A (e.d)^2 (e.u) with the derivatives d at the wall and
 * A = 1/8 - (tau - 1/2)/3, for operators that keep moments only. With the inward normal n and the
 * tangents t, and since nothing passes the wall (d_n u_n = - sum of d_t u_t), this is
 *
 *   -6 w A e_t d_n d_n u_t          d_n d_n u_t = 4/3 [u_t(x + n) - 3 u_t(x) + 2 u_t(wall)]
 *   +8 w A [sum of d_t u_t - 3 (d_t u_t of the direction's tangent; 0 of the axis)]
 *
 * but for a part that would let mass in. d_t u_t is that of the cell, by central differences. The
 * first part puts the wall in place on a parabola, the second takes away a friction that acts on
 * flow towards and away from the wall even without viscosity.
 *
 * Outflow. Let v = -u.n be the speed out of the domain and c the speed of sound. At the end of a
 * step the fluid beside the face convects out and the incoming sound wave v - c drho is what it
 * was:
 *
 *   u' = u - V (u - u_in)    V = v limited to [0, 1]
 *   v - c drho = v' - (1 - K) c drho_before
 *
 * with _in for the next cell inwards. The outgoing sound wave is in the populations that arrive,
 * v (1 + drho) = S0 + 2 S- - drho, so density and speed follow from both. K = 0 would reflect no
 * sound but let the pressure drift; K > 0 brings the pressure back to 0, by a factor e in 2 / K
 * steps. Of a wave with the angular frequency w it returns K / sqrt(K^2 + 4 w^2).
 *
 * With the regularized collision the closure is regularized, too: a wet cell keeps density and
 * velocity, found as above, and second moments P, and all its populations become those of these
 * moments (lbm_of_moments). The non-equilibrium part of P is that of the next cell inwards at the
 * start of the step. Where the pressure is given it is the mean of that and of the cell's own: the
 * unknown populations bounce back but for their equilibrium,
 *
 *   g_e = g_e* + 6 w_e rho e.u,
 *
 * and P is the second moment of all (BC3 of Latt and others). There either alone feeds a mode along
 * the face that changes its sign in each step: the cell's own from a cell Reynolds number of 7 on,
 * the next cell's in 2-D from 15 on. The mean does not.
 *
 * Bouzidi, Firdaouss, Lallemand, Phys. Fluids 13 (2001) 3452;
 * Zou, He, Phys. Fluids 9 (1997) 1591; Hecht, Harting, J. Stat. Mech. (2010) P01018; Latt, Chopard,
 * Malaspinas, Deville, Michler, Phys. Rev. E 77 (2008) 056703 (their BC3).
 */
#include <stdbool.h>
#include "engine/solvers/lbm/lbm_lattice.h"

#ifndef LBM_GOES
/* Whether a component of a direction, a literal, points along the normal. */
#define LBM_GOES(e, n) ((e) != 0 && (e) == (n))
#endif

#undef LBM_ENTERS
#undef LBM_LEAVES
#if LBM_DIMS == 2
#define LBM_ENTERS(n, ex, ey, ez) (LBM_GOES(ex, (n)[0]) || LBM_GOES(ey, (n)[1]))
#else
#define LBM_ENTERS(n, ex, ey, ez) \
    (LBM_GOES(ex, (n)[0]) || LBM_GOES(ey, (n)[1]) || LBM_GOES(ez, (n)[2]))
#endif
#define LBM_LEAVES(n, ex, ey, ez) LBM_ENTERS(n, -(ex), -(ey), -(ez))

/* The number of bits that are set. */
#undef LBM_BITS
#ifdef __CUDA_ARCH__
#define LBM_BITS(word) __popc(word)
#else
#define LBM_BITS(word) __builtin_popcount(word)
#endif

#define R(literal) ((REAL)(literal))

/* Fills the unknown populations of a cell so that its density is 1 + drho and its velocity u. */
SEL_INLINE void LBM_NAME(lbm_close)(REAL g[LBM_Q], const int n[LBM_DIMS], REAL drho,
                                    const REAL u[LBM_DIMS]) {
    const REAL rho = R(1) + drho;
    REAL tangent[LBM_DIMS], known = g[0];
    int wet = 0, buried = 0;
#define START(axis, sum)  \
    tangent[axis] = R(0); \
    wet += n[axis] != 0;
    LBM_AXES(START)
#undef START
#define ALONG(axis, e)                                       \
    if ((e) != 0) {                                          \
        tangent[axis] += (e) > 0 ? difference : -difference; \
    }
#if LBM_DIMS == 2
#define TANGENT(ex, ey, ez) ALONG(0, ex) ALONG(1, ey)
#else
#define TANGENT(ex, ey, ez) ALONG(0, ex) ALONG(1, ey) ALONG(2, ez)
#endif
#define COLLECT(i, ex, ey, ez, opposite, weight)                    \
    if (!LBM_ENTERS(n, ex, ey, ez) && !LBM_LEAVES(n, ex, ey, ez)) { \
        const REAL difference = g[i] - g[opposite];                 \
        TANGENT(ex, ey, ez)                                         \
    }
    LBM_PAIRS(COLLECT)
#undef COLLECT
#undef TANGENT
#undef ALONG
    const REAL share = R(1) / (R(2) * (REAL)wet), part = R(1) - (REAL)wet * R(1.0 / 3.0);
#define CORRECTION(axis, sum) \
    tangent[axis] = n[axis] != 0 ? R(0) : (tangent[axis] - part * rho * u[axis]) * share;
    LBM_AXES(CORRECTION)
#undef CORRECTION
#define FILL(i, ex, ey, ez, opposite, weight)                                                    \
    {                                                                                            \
        const bool in = LBM_ENTERS(n, ex, ey, ez), out = LBM_LEAVES(n, ex, ey, ez);              \
        const REAL more = R(6.0 * (weight)) * rho * (LBM_ALONG(i, u)) - (LBM_ALONG(i, tangent)); \
        if (in && !out) {                                                                        \
            g[i] = g[opposite] + more;                                                           \
        } else if (out && !in) {                                                                 \
            g[opposite] = g[i] - more;                                                           \
        }                                                                                        \
        if (in && out) {                                                                         \
            buried++;                                                                            \
        } else {                                                                                 \
            known += g[i] + g[opposite];                                                         \
        }                                                                                        \
    }
    LBM_PAIRS(FILL)
#undef FILL
    if (buried > 0) {
        const REAL still = drho - R(1.5) * rho * LBM_DOT(u, u);
        REAL balanced = R(0);
#define BALANCED(i, ex, ey, ez, opposite, weight)                         \
    if (LBM_ENTERS(n, ex, ey, ez) && LBM_LEAVES(n, ex, ey, ez)) {         \
        const REAL eu = LBM_ALONG(i, u);                                  \
        balanced += R(2.0 * (weight)) * (still + R(4.5) * rho * eu * eu); \
    }
        LBM_PAIRS(BALANCED)
#undef BALANCED
        const REAL rest = (drho - known - balanced) / (REAL)buried;
#define SHARE(i, ex, ey, ez, opposite, weight)                                        \
    if (LBM_ENTERS(n, ex, ey, ez) && LBM_LEAVES(n, ex, ey, ez)) {                     \
        const REAL eu = LBM_ALONG(i, u), difference = R(6.0 * (weight)) * rho * eu;   \
        const REAL sum = R(2.0 * (weight)) * (still + R(4.5) * rho * eu * eu) + rest; \
        g[i] = R(0.5) * (sum + difference);                                           \
        g[opposite] = R(0.5) * (sum - difference);                                    \
    }
        LBM_PAIRS(SHARE)
#undef SHARE
    }
}

/* S0 + 2 S- of a cell on one wet face. */
SEL_INLINE REAL LBM_NAME(lbm_known)(const REAL g[LBM_Q], const int n[LBM_DIMS]) {
    REAL known = g[0];
#define COUNT(i, ex, ey, ez, opposite, weight) \
    if (LBM_ENTERS(n, ex, ey, ez)) {           \
        known += R(2) * g[opposite];           \
    } else if (LBM_LEAVES(n, ex, ey, ez)) {    \
        known += R(2) * g[i];                  \
    } else {                                   \
        known += g[i] + g[opposite];           \
    }
    LBM_PAIRS(COUNT)
#undef COUNT
    return known;
}

/* u.n */
SEL_INLINE REAL LBM_NAME(lbm_inwards)(const int n[LBM_DIMS], const REAL u[LBM_DIMS]) {
    REAL along = R(0);
#define ADD(axis, sum) along += (REAL)n[axis] * u[axis];
    LBM_AXES(ADD)
#undef ADD
    return along;
}

/* A cell's density deviation and velocity. */
typedef struct LBM_NAME(lbm_cell) {
    REAL drho, u[LBM_DIMS];
} LBM_NAME(lbm_cell);

/* The cell whose collision under the acceleration a has left the moments m. */
SEL_INLINE LBM_NAME(lbm_cell)
    LBM_NAME(lbm_cell_after)(const LBM_NAME(lbm_cell_moments) * m, const REAL a[LBM_DIMS]) {
    LBM_NAME(lbm_cell) cell;
    cell.drho = m->drho;
    const REAL per_rho = R(1) / (R(1) + cell.drho);
#define VELOCITY(axis, sum) cell.u[axis] = m->j[axis] * per_rho - R(0.5) * a[axis];
    LBM_AXES(VELOCITY)
#undef VELOCITY
    return cell;
}

/* The cell on one wet face whose velocity is u: its density follows from what arrives. */
SEL_INLINE LBM_NAME(lbm_cell)
    LBM_NAME(lbm_velocity_cell)(const REAL g[LBM_Q], const int n[LBM_DIMS],
                                const REAL u[LBM_DIMS]) {
    const REAL un = LBM_NAME(lbm_inwards)(n, u);
    LBM_NAME(lbm_cell) cell;
    cell.drho = (LBM_NAME(lbm_known)(g, n) + un) / (R(1) - un);
#define GIVEN(axis, sum) cell.u[axis] = u[axis];
    LBM_AXES(GIVEN)
#undef GIVEN
    return cell;
}

/* The cell on one wet face whose density is 1 + drho and whose tangential velocity is that of
 * `tangent`, whose normal component is ignored. */
SEL_INLINE LBM_NAME(lbm_cell) LBM_NAME(lbm_density_cell)(const REAL g[LBM_Q], const int n[LBM_DIMS],
                                                         REAL drho, const REAL tangent[LBM_DIMS]) {
    const REAL un = (drho - LBM_NAME(lbm_known)(g, n)) / (R(1) + drho);
    LBM_NAME(lbm_cell) cell;
    cell.drho = drho;
#define CHOOSE(axis, sum) cell.u[axis] = n[axis] != 0 ? (REAL)n[axis] * un : tangent[axis];
    LBM_AXES(CHOOSE)
#undef CHOOSE
    return cell;
}

/* The cell on one wet face of which v - c drho is known, with v the speed out of the domain: what
 * arrives tells v + c drho. Its tangential velocity is that of `tangent`. */
SEL_INLINE LBM_NAME(lbm_cell) LBM_NAME(lbm_wave_cell)(const REAL g[LBM_Q], const int n[LBM_DIMS],
                                                      REAL wave, const REAL tangent[LBM_DIMS]) {
    const REAL arriving = LBM_NAME(lbm_known)(g, n), sound = R(0.57735026918962576);
    /* arriving - drho = (wave + c drho)(1 + drho) */
    const REAL b = R(1) + sound + wave, rest = arriving - wave;
    const REAL drho = R(2) * rest / (b + LBM_SQRT(b * b + R(4) * sound * rest));
    return LBM_NAME(lbm_density_cell)(g, n, drho, tangent);
}

/* The cell on one wet face by the outflow equations: `here` and `inward` are this cell and the next
 * inwards at the step before, `keep` is 1 - K. Populations before collision have the velocity
 * u + shift. */
SEL_INLINE LBM_NAME(lbm_cell)
    LBM_NAME(lbm_outflow_cell)(const REAL g[LBM_Q], const int n[LBM_DIMS],
                               const LBM_NAME(lbm_cell) * here, const LBM_NAME(lbm_cell) * inward,
                               REAL keep, const REAL shift[LBM_DIMS]) {
    const REAL v = -LBM_NAME(lbm_inwards)(n, here->u), sound = R(0.57735026918962576);
    const REAL limited = v < R(0) ? R(0) : v > R(1) ? R(1) : v;
    REAL u[LBM_DIMS];
#define CONVECT(axis, sum) \
    u[axis] = here->u[axis] - limited * (here->u[axis] - inward->u[axis]) + shift[axis];
    LBM_AXES(CONVECT)
#undef CONVECT
    const REAL wave = -LBM_NAME(lbm_inwards)(n, u) - keep * sound * here->drho;
    return LBM_NAME(lbm_wave_cell)(g, n, wave, u);
}

/* Fills the unknown populations on one wet face by bounce-back of their non-equilibrium part; j:
 * the momentum of the equilibrium. */
SEL_INLINE void LBM_NAME(lbm_bounce_neq)(REAL g[LBM_Q], const int n[LBM_DIMS],
                                         const REAL j[LBM_DIMS]) {
#define FILL(i, ex, ey, ez, opposite, weight)                     \
    if (LBM_ENTERS(n, ex, ey, ez)) {                              \
        g[i] = g[opposite] + R(6.0 * (weight)) * LBM_ALONG(i, j); \
    } else if (LBM_LEAVES(n, ex, ey, ez)) {                       \
        g[opposite] = g[i] - R(6.0 * (weight)) * LBM_ALONG(i, j); \
    }
    LBM_PAIRS(FILL)
#undef FILL
}

/* The regularized closure: replaces all populations of a wet cell by those of `cell`, whose
 * velocity is u + shift with shift = -a/2. `pressure`: the cell's one wet face gives the pressure.
 * m: the moments of the next cell inwards after its last collision, under the acceleration a.
 * That collision has multiplied the non-equilibrium moment by 1 - omega, which is undone here; if 1
 * - omega is almost 0, the moment is taken as 0, since the next collision removes it anyway. */
SEL_INLINE void LBM_NAME(lbm_regularize)(REAL g[LBM_Q], const int n[LBM_DIMS], bool pressure,
                                         const LBM_NAME(lbm_cell) * cell,
                                         const REAL shift[LBM_DIMS],
                                         const LBM_NAME(lbm_cell_moments) * m,
                                         const REAL a[LBM_DIMS], REAL omega) {
    const LBM_NAME(lbm_cell) inward = LBM_NAME(lbm_cell_after)(m, a);
    const REAL *u = cell->u, *v = inward.u;
    const REAL rho = R(1) + cell->drho, rho_inward = R(1) + inward.drho, left = R(1) - omega;
    const REAL per_left = left * left > R(1e-6) ? R(1) / left : R(0);
    const REAL still = cell->drho * R(1.0 / 3.0);
    LBM_NAME(lbm_cell_moments) to;
    to.drho = cell->drho;
#define MOMENTUM(axis, sum) to.j[axis] = rho * u[axis];
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
#define INWARD(part, i, k, sum)                                                  \
    {                                                                            \
        const REAL work = R(0.5) * (v[i] * a[k] + v[k] * a[i]);                  \
        const REAL neq = m->p[part] - rho_inward * (v[i] * v[k] + work);         \
        to.p[part] = per_left * neq + rho * (u[i] * u[k] - shift[i] * shift[k]); \
    }
    LBM_TENSOR(INWARD)
#undef INWARD
    if (pressure) {
        LBM_NAME(lbm_bounce_neq)(g, n, to.j);
#define MEAN(part, i, k, sum) to.p[part] = R(0.5) * (to.p[part] + sum(g) - (i == k ? still : R(0)));
        LBM_TENSOR(MEAN)
#undef MEAN
    }
    LBM_NAME(lbm_of_moments)(&to, false, g);
}

/* What an interpolated wall sends back along direction i. Of the cell after the last collision:
 * out, what left along the opposite of i, and back, what left along i; far: what comes to the cell
 * along the opposite of i. add: what a wall half-way adds, times the density. */
SEL_INLINE REAL LBM_NAME(lbm_interpolate)(lbm_cut cut, REAL out, REAL back, REAL far, REAL add) {
    return back + (REAL)cut.wall * (out - back + add) + (REAL)cut.far * (far - out);
}

/* What is around a cell at straight walls: by the axis of the normal the velocity of the next cell
 * inwards; and the derivatives d_t (rho u_t) along the walls. */
typedef struct LBM_NAME(lbm_at_wall) {
    REAL inwards[LBM_DIMS][LBM_DIMS], stretch[LBM_DIMS];
} LBM_NAME(lbm_at_wall);

/* Where the straight walls of a cell are, by axis: the direction of the inward normal, 1 or -1; 0:
 * there is none. */
SEL_INLINE void LBM_NAME(lbm_find_straight)(const lbm_boundary_cell *cell, int normal[LBM_DIMS]) {
#define NONE(axis, sum) normal[axis] = 0;
    LBM_AXES(NONE)
#undef NONE
#define NORMAL(axis, e)                                        \
    if ((e) != 0 && (cell->links >> LBM_AXIS(axis, e) & 1u)) { \
        normal[axis] = e;                                      \
    }
#if LBM_DIMS == 2
#define FIND(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) \
    if (cell->straight >> i & 1u) {                             \
        NORMAL(0, ex) NORMAL(1, ey)                             \
    }
#else
#define FIND(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) \
    if (cell->straight >> i & 1u) {                             \
        NORMAL(0, ex) NORMAL(1, ey) NORMAL(2, ez)               \
    }
#endif
    LBM_DIAGONALS(FIND)
#undef FIND
#undef NORMAL
}

/* The sum of d_t (rho u_t) at a wall across the axis n. */
SEL_INLINE REAL LBM_NAME(lbm_stretch)(const LBM_NAME(lbm_at_wall) * at, int n) {
    REAL sum = R(0);
    for (int t = 0; t < LBM_DIMS; t++) {
        sum += t != n ? at->stretch[t] : R(0);
    }
    return sum;
}

/* Corrects the populations g[i * stride] that straight walls have sent back half-way. weight: 4/3
 * A; u: the velocity of the cell at the start of the step; add: what the walls' motion has added,
 * by link; NULL: nothing moves. */
SEL_INLINE void LBM_NAME(lbm_correct_straight)(const lbm_boundary_cell *cell, REAL weight,
                                               const REAL u[LBM_DIMS],
                                               const LBM_NAME(lbm_at_wall) * at, const double *add,
                                               REAL *g, int64_t stride) {
#define MOVES(i) (REAL) add[LBM_BITS(cell->links & ((1u << (i)) - 1u))]
#define CORRECT(i, n, t, en, et, mirrored)                                                  \
    if ((en) != 0 && (et) != 0 && (cell->links >> LBM_AXIS(n, en) & 1u)) {                  \
        const REAL moves = add ? MOVES(i) - MOVES(mirrored) : R(0);                         \
        const REAL bent = R((et) / 6.0) * (R(3) * u[t] - at->inwards[n][t]);                \
        const bool all = cell->straight >> LBM_AXIS(n, en) & 1u;                            \
        const REAL sum = all ? LBM_NAME(lbm_stretch)(at, n) - R(3) * at->stretch[t] : R(0); \
        g[(i)*stride] += weight * (bent - moves + R(1.0 / 6.0) * sum);                      \
    }
#if LBM_DIMS == 2
#define DIAGONAL(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) \
    if (cell->straight >> i & 1u) {                                 \
        CORRECT(i, 0, 1, ex, ey, mirrored_y)                        \
        CORRECT(i, 1, 0, ey, ex, mirrored_x)                        \
    }
#else
#define DIAGONAL(i, ex, ey, ez, mirrored_x, mirrored_y, mirrored_z) \
    if (cell->straight >> i & 1u) {                                 \
        CORRECT(i, 0, 1, ex, ey, mirrored_y)                        \
        CORRECT(i, 0, 2, ex, ez, mirrored_z)                        \
        CORRECT(i, 1, 0, ey, ex, mirrored_x)                        \
        CORRECT(i, 1, 2, ey, ez, mirrored_z)                        \
        CORRECT(i, 2, 0, ez, ex, mirrored_x)                        \
        CORRECT(i, 2, 1, ez, ey, mirrored_y)                        \
    }
#endif
    LBM_DIAGONALS(DIAGONAL)
#undef DIAGONAL
#undef CORRECT
#undef MOVES
#define AXIS(i, ex, ey, ez, opposite, w)                                               \
    if ((ex) * (ex) + (ey) * (ey) + (ez) * (ez) == 1 && (cell->straight >> i & 1u)) {  \
        enum { normal##i = (ez) ? 2 : (ey) ? 1 : 0 };                                  \
        g[(i)*stride] += weight * R(6.0 * (w)) * LBM_NAME(lbm_stretch)(at, normal##i); \
    }
    LBM_DIRECTIONS(AXIS)
#undef AXIS
}

/* What a cell gains along interpolated links beyond what walls half-way let in, in LBM_GAIN_UNIT.
 * Of a flow that blows up it is no number that can be counted. */
SEL_INLINE int64_t LBM_NAME(lbm_gain)(double gain) {
    return gain > -1e6 && gain < 1e6 ? (int64_t)llrint(gain / LBM_GAIN_UNIT) : 0;
}

/* What enters a cell along its links: g[i] where the closure finds it, else what has arrived, which
 * `entered` holds. A regularized closure replaces that, too; the first open link takes the
 * difference in mass, so that the links bring in what the cell gains. */
SEL_INLINE void LBM_NAME(lbm_find_entered)(const lbm_boundary_cell *cell, const REAL g[LBM_Q],
                                           REAL entered[LBM_Q]) {
    const uint32_t open =
        cell->links & ~(cell->bounced | cell->mirrored[0] | cell->mirrored[1] | cell->mirrored[2]);
    REAL replaced = R(0);
#define REPLACE(i, ex, ey, ez, opposite, weight) \
    replaced += open >> i & 1u ? R(0) : g[i] - entered[i];
    LBM_DIRECTIONS(REPLACE)
#undef REPLACE
#define ENTER(i, ex, ey, ez, opposite, weight) \
    if (open >> i & 1u) {                      \
        entered[i] = g[i] + replaced;          \
        replaced = R(0);                       \
    }
    LBM_DIRECTIONS(ENTER)
#undef ENTER
}

/* What is beside a boundary cell, for lbm_differences_beside and lbm_absorbing_cell: along e comes
 * what is at -e. */
SEL_INLINE void LBM_NAME(lbm_find_beside)(const lbm_boundary_cell *cell, int what[LBM_DIMS][2]) {
#define BESIDE(i, ex, ey, ez, opposite, weight)                                                  \
    if ((ex) * (ex) + (ey) * (ey) + (ez) * (ez) == 1) {                                          \
        enum { axis##i = (ez) ? 2 : (ey) ? 1 : 0, side##i = (ex) + (ey) + (ez) < 0 };            \
        const bool wall =                                                                        \
            (cell->bounced >> i & 1u) && !cell->moves && !cell->cut && !cell->mirrored[axis##i]; \
        const int at = wall ? LBM_BESIDE_WALL : LBM_BESIDE_NOTHING;                              \
        what[axis##i][side##i] = cell->links >> i & 1u ? at : LBM_BESIDE_FLUID;                  \
    }
    LBM_DIRECTIONS(BESIDE)
#undef BESIDE
}

#undef R
