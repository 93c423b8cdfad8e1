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
 *   regularized  only the moments drho, j and P_ab = sum e_a e_b g - drho/3 delta_ab are kept:
 *                j* = rho u + F/2, P* = (1 - omega) P + omega rho u u + (1 - omega/2) (u F + F u),
 *                g_i* = w_i [drho + 3 e_i.j* + 9/2 (e_i e_i - I/3) : P*]
 *   recursive    the same moments. Of the non-equilibrium part Q of P the trace relaxes at once:
 *                P* = rho u u + (u F + F u)/2 + (1 - omega) (Q - tr Q/d I). Third-order terms
 *                follow from the moments: with v = j* / rho and Q* = P* - rho v v
 *                T_aab = rho v_a v_a v_b + 2 v_a Q*_ab + v_b Q*_aa,
 *                g_i* += 27/2 w_i sum over a, b of (e_a e_a - 1/3) e_b T_aab, of which D3Q19 has
 *                room for the sums and differences of T_xxy and T_zzy and their permutations
 *   hybrid       recursive, with (1 - share) Q - share 2/3 rho tau S in place of Q. S is the rate
 *                of strain of the velocities around the cell at the start of the step. In 3-D,
 *                P*_aa -= omega/12 rho D_a(u_a u_a), P*_ab -= omega/12 rho D_c(u_a u_b) with the
 *                second differences D_c of these velocities, c across a and b: an error in D3Q19's
 *                flux of momentum, which has no directions towards corners
 *   Smagorinsky  the rate follows the strain of the cell: with Q the non-equilibrium part of P,
 *                nu + (C dx)^2 |S| belongs to
 *                tau_eff = [tau + sqrt(tau^2 + 18 sqrt2 C^2 |Q|/rho)]/2, |Q|^2 = Q : Q.
 *                TRT keeps its magic number.
 *
 * Guo, Zheng, Shi, Phys. Rev. E 65 (2002) 046308; Ginzburg, Verhaeghe, d'Humieres, Commun.
 * Comput. Phys. 3 (2008) 427; Latt, Chopard, Math. Comput. Simul. 72 (2006) 165; Malaspinas,
 * arXiv:1505.06900; Coreixas et al., Phys. Rev. E 96 (2017) 033306; Jacob, Malaspinas, Sagaut,
 * J. Turbul. 19 (2018) 1051; Silva, Semiao, J. Comput. Phys. 269 (2014) 259; Hou, Sterling, Chen,
 * Doolen, Fields Inst. Commun. 6 (1996) 151; deviations: Skordos, Phys. Rev. E 48 (1993) 4823.
 */
#include <stdbool.h>
#include <stdint.h>
#include "engine/solvers/lbm/lbm_lattice.h"
#include "engine/solvers/lbm/lbm_method.h"

#define R(literal) ((REAL)(literal))

/* Parameters of a collision: rates per step and acceleration a, lattice units; BGK and regularized
 * use omega_even. The rest is for Smagorinsky's model: eddy = 18 sqrt2 C^2. */
typedef struct LBM_NAME(lbm_rates) {
    REAL omega_even, omega_odd, a[LBM_DIMS];
    REAL tau, magic, eddy;
} LBM_NAME(lbm_rates);

/* Moments of a cell: density 1 + drho, momentum j = sum e g, P_ab = sum e_a e_b g - drho/3
 * delta_ab. Those after collision are all that the regularized and the recursive operators keep. */
typedef struct LBM_NAME(lbm_cell_moments) {
    REAL drho, j[LBM_DIMS], p[LBM_PARTS];
} LBM_NAME(lbm_cell_moments);

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

/* a b + c. The includer may define it: kernels that compute the same cells round alike only where
 * fused multiply-adds do not depend on the code around. */
#ifndef LBM_MAD
#define LBM_MAD(a, b, c) ((a) * (b) + (c))
#endif

/* Weights are counted in the least of them: of a diagonal. */
#define LBM_LEAST_WEIGHT (1.0 / 36.0)
#define LBM_OF_LEAST(weight) R((weight) / LBM_LEAST_WEIGHT)

/* a b less the rounded a b, which the type holds exactly; in f64 0 is as good for lbm_add_small. */
#ifndef LBM_PRODUCT_ERROR
#ifdef __FMA__
#define LBM_PRODUCT_ERROR(a, b) \
    (sizeof(REAL) == 4 ? (REAL)__builtin_fmaf((float)(a), (float)(b), -(float)((a) * (b))) : R(0))
#else
#define LBM_PRODUCT_ERROR(a, b) \
    (sizeof(REAL) == 4 ? (REAL)((double)(a) * (double)(b) - (double)(float)((a) * (b))) : R(0))
#endif
#endif

/* A sum that grows by little in each step. In f32 it would be rounded alike in step after step: at
 * a velocity of 0.1 an acceleration of 2.5e-7 would act by 3 % too much, one of 3e-9 not at all. So
 * it is rounded up or down by chance, as often as is right on average. Chance is the error of
 * another product of the sum: a number between -1/2 and 1/2 of its last digit that changes with the
 * sum, the same on all backends. */
SEL_INLINE REAL LBM_NAME(lbm_add_small)(REAL sum, REAL more) {
    return sum + (more + LBM_PRODUCT_ERROR(sum, R(1.32471795724)));
}

/* Shares a momentum among the pairs of opposite populations, over their weights in least ones, and
 * halved: in the direction of a diagonal and of an axis. Weights add up to 1 only before they are
 * rounded, so that momentum would drift. Hence diagonals take a twelfth each, and the axis what
 * they leave; in 2-D the other way round: what is left is then exact, as it takes multiplications
 * by 2 and 1/4. */
SEL_INLINE void LBM_NAME(lbm_share)(const REAL momentum[LBM_DIMS], REAL diagonal[LBM_DIMS],
                                    REAL axial[LBM_DIMS]) {
#define SHARE(axis, sum)                                                          \
    const REAL part##axis = R(3 * LBM_LEAST_WEIGHT) * momentum[axis];             \
    const REAL left##axis = LBM_MAD(R(-2), part##axis, R(0.25) * momentum[axis]); \
    diagonal[axis] = LBM_DIMS == 2 ? left##axis : part##axis;                     \
    axial[axis] = LBM_DIMS == 2 ? part##axis : left##axis;
    LBM_AXES(SHARE)
#undef SHARE
}
#define LBM_IS_DIAGONAL(ex, ey, ez) ((ex) * (ex) + (ey) * (ey) + (ez) * (ez) > 1)

/* Collides the populations of one cell in place: the even parts of opposite pairs relax with
 * omega_even, the odd ones with omega_odd. What both odd terms bring of momentum, omega_odd rho u +
 * (1 - omega_odd/2) rho a, is omega_odd j + rho a. Common factors are multiplied once; each pair is
 * finished before the next, so that few values are live at a time. */
SEL_INLINE void LBM_NAME(lbm_relax)(REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates,
                                    REAL omega_even, REAL omega_odd, bool forced) {
    const REAL half_even = R(0.5) * omega_even, half_odd = R(0.5) * omega_odd;
    const REAL drho = LBM_SUM(g), rho = R(1) + drho, per_rho = R(1) / rho;
    REAL u[LBM_DIMS], brought[LBM_DIMS], diagonal[LBM_DIMS], axial[LBM_DIMS];
#define MOMENTUM(axis, sum)                                                           \
    const REAL j##axis = sum(g);                                                      \
    u[axis] = j##axis * per_rho;                                                      \
    brought[axis] = omega_odd * j##axis;                                              \
    if (forced) {                                                                     \
        u[axis] += R(0.5) * rates->a[axis];                                           \
        brought[axis] = LBM_NAME(lbm_add_small)(brought[axis], rho * rates->a[axis]); \
    }
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
    LBM_NAME(lbm_share)(brought, diagonal, axial);
    const REAL square = R(4.5) * omega_even * rho, push = (R(1) - half_even) * rho;
    REAL still = omega_even * (drho - R(1.5) * rho * LBM_DOT(u, u));
    if (forced) {
        still -= R(3) * push * LBM_DOT(u, rates->a);
    }
#define RELAX(i, ex, ey, ez, opposite, weight)                                          \
    {                                                                                   \
        const REAL eu = LBM_ALONG(i, u);                                                \
        const REAL sum = g[i] + g[opposite], difference = g[i] - g[opposite];           \
        const REAL share =                                                              \
            LBM_IS_DIAGONAL(ex, ey, ez) ? LBM_ALONG(i, diagonal) : LBM_ALONG(i, axial); \
        REAL even = R(weight) * still + R(weight) * square * eu * eu - half_even * sum; \
        const REAL odd = LBM_OF_LEAST(weight) * share - half_odd * difference;          \
        if (forced) {                                                                   \
            even += R(9 * weight) * push * eu * LBM_ALONG(i, rates->a);                 \
        }                                                                               \
        g[i] += even + odd;                                                             \
        g[opposite] += even - odd;                                                      \
    }
    g[0] += R(LBM_REST_WEIGHT) * still - omega_even * g[0];
    LBM_PAIRS(RELAX)
#undef RELAX
}

SEL_INLINE LBM_NAME(lbm_cell_moments) LBM_NAME(lbm_moments_of)(const REAL g[LBM_Q]) {
    LBM_NAME(lbm_cell_moments) m;
    m.drho = LBM_SUM(g);
    const REAL still = m.drho * R(1.0 / 3.0);
#define MOMENTUM(axis, sum) m.j[axis] = sum(g);
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
#define SECOND(part, i, k, sum) m.p[part] = sum(g) - (i == k ? still : R(0));
    LBM_TENSOR(SECOND)
#undef SECOND
    return m;
}

/* As lbm_pi_neq, of moments before collision. */
SEL_INLINE void LBM_NAME(lbm_pi_of_moments)(const LBM_NAME(lbm_cell_moments) * in,
                                            const LBM_NAME(lbm_rates) * rates, REAL q[LBM_PARTS]) {
    const REAL rho = R(1) + in->drho, per_rho = R(1) / rho;
    REAL u[LBM_DIMS];
#define COMPONENT(axis, sum) u[axis] = in->j[axis] * per_rho + R(0.5) * rates->a[axis];
    LBM_AXES(COMPONENT)
#undef COMPONENT
#define PI_NEQ(part, i, k, sum)                 \
    q[part] = in->p[part] - rho * u[i] * u[k] + \
              R(0.5) * rho * (u[i] * rates->a[k] + u[k] * rates->a[i]);
    LBM_TENSOR(PI_NEQ)
#undef PI_NEQ
}

/* Moments as they are stored: component i at to[i * apart]. */
SEL_INLINE void LBM_NAME(lbm_put_moments)(const LBM_NAME(lbm_cell_moments) * m, REAL *to,
                                          int64_t apart) {
    to[0] = m->drho;
#define MOMENTUM(axis, sum) to[(1 + axis) * apart] = m->j[axis];
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
#define SECOND(part, i, k, sum) to[(1 + LBM_DIMS + part) * apart] = m->p[part];
    LBM_TENSOR(SECOND)
#undef SECOND
}

SEL_INLINE LBM_NAME(lbm_cell_moments) LBM_NAME(lbm_get_moments)(const REAL *from, int64_t apart) {
    LBM_NAME(lbm_cell_moments) m;
    m.drho = from[0];
#define MOMENTUM(axis, sum) m.j[axis] = from[(1 + axis) * apart];
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
#define SECOND(part, i, k, sum) m.p[part] = from[(1 + LBM_DIMS + part) * apart];
    LBM_TENSOR(SECOND)
#undef SECOND
    return m;
}

/* The third-order terms of moments after collision, as LBM_THIRD adds them, times the least weight:
 * t[a][b] is 9 T_aab of it, and t[b][b] what goes along the axis b, so that they carry no
 * momentum. */
SEL_INLINE void LBM_NAME(lbm_third)(const LBM_NAME(lbm_cell_moments) * m,
                                    REAL t[LBM_DIMS][LBM_DIMS]) {
    const REAL per_rho = R(1) / (R(1) + m->drho);
    REAL v[LBM_DIMS], rest[LBM_DIMS];
#define REST(axis, sum)                                       \
    v[axis] = R(9 * LBM_LEAST_WEIGHT) * m->j[axis] * per_rho; \
    rest[axis] = LBM_MAD(R(-2.0 / (9 * LBM_LEAST_WEIGHT)) * m->j[axis], v[axis], m->p[axis]);
    LBM_AXES(REST)
#undef REST
#define THIRD(part, a, b, sum)                                      \
    if (a != b) {                                                   \
        t[a][b] = LBM_MAD(R(2) * v[a], m->p[part], v[b] * rest[a]); \
        t[b][a] = LBM_MAD(R(2) * v[b], m->p[part], v[a] * rest[b]); \
    }
    LBM_TENSOR(THIRD)
#undef THIRD
#if LBM_DIMS == 2
    t[0][0] = R(-0.5) * t[1][0];
    t[1][1] = R(-0.5) * t[0][1];
#else
    t[0][0] = -t[1][0] - t[2][0];
    t[1][1] = -t[0][1] - t[2][1];
    t[2][2] = -t[0][2] - t[1][2];
#endif
}

/* The populations of moments after collision; recursive: with third-order terms. Moments are
 * multiplied by weights once, those of axes once more. The population at rest is what the others
 * leave of `rest`: weights add up to 1 only before they are rounded, and mass would drift. */
SEL_INLINE void LBM_NAME(lbm_of_moments)(const LBM_NAME(lbm_cell_moments) * m, bool recursive,
                                         REAL g[LBM_Q]) {
    REAL rest = m->drho, t[LBM_DIMS][LBM_DIMS], p[LBM_PARTS], diagonal[LBM_DIMS], axial[LBM_DIMS];
    if (recursive) {
        LBM_NAME(lbm_third)(m, t);
    }
    LBM_NAME(lbm_share)(m->j, diagonal, axial);
#define TRACE(axis, sum) rest = LBM_MAD(R(-1.5), m->p[axis], rest);
    LBM_AXES(TRACE)
#undef TRACE
#define SECOND(part, i, k, sum) p[part] = R(4.5 * LBM_LEAST_WEIGHT) * m->p[part];
    LBM_TENSOR(SECOND)
#undef SECOND
    g[0] = rest;
    rest *= R(LBM_LEAST_WEIGHT);
    g[0] = LBM_MAD(LBM_OF_LEAST(LBM_REST_WEIGHT) - LBM_OF_LEAST(1), rest, g[0]);
#define PAIR(i, ex, ey, ez, opposite, weight)                                                  \
    {                                                                                          \
        const REAL even = rest + (LBM_TWICE(i, p));                                            \
        REAL odd = LBM_IS_DIAGONAL(ex, ey, ez) ? LBM_ALONG(i, diagonal) : LBM_ALONG(i, axial); \
        if (recursive) {                                                                       \
            odd += LBM_THIRD(i, t);                                                            \
        }                                                                                      \
        g[i] = LBM_OF_LEAST(weight) * (even + odd);                                            \
        g[opposite] = LBM_OF_LEAST(weight) * (even - odd);                                     \
    }
    LBM_PAIRS(PAIR)
#undef PAIR
}

/* Whether an operator keeps moments up to second order only, and whether it adds third-order terms
 * that follow from them. */
SEL_INLINE bool LBM_NAME(lbm_keeps_moments)(int collision) {
    return collision >= LBM_REGULARIZED;
}
SEL_INLINE bool LBM_NAME(lbm_is_recursive)(int collision) {
    return collision >= LBM_RECURSIVE;
}

/* The second difference of v_i v_k about a cell on the boundary. Beside a wall it is that of a
 * parabola through 0 at the wall; beside nothing it is 0. */
SEL_INLINE REAL LBM_NAME(lbm_flux_beside)(int i, int k, const REAL v[LBM_DIMS],
                                          const REAL beside[2][LBM_DIMS], const int what[2]) {
    const REAL here = v[i] * v[k];
    const REAL below = beside[0][i] * beside[0][k], above = beside[1][i] * beside[1][k];
    if (what[0] == LBM_BESIDE_FLUID && what[1] == LBM_BESIDE_FLUID) {
        return below + above - R(2) * here;
    }
    if (what[0] == LBM_BESIDE_WALL && what[1] == LBM_BESIDE_FLUID) {
        return R(4.0 / 3.0) * above - R(4) * here;
    }
    if (what[1] == LBM_BESIDE_WALL && what[0] == LBM_BESIDE_FLUID) {
        return R(4.0 / 3.0) * below - R(4) * here;
    }
    return R(0);
}

/* The differences of the velocities around a cell on the boundary: v of the cell itself, and beside
 * it along each axis, below and above. Beside a wall the velocity is that of a parabola through 0
 * at the wall; beside nothing the first difference is one-sided. */
SEL_INLINE void LBM_NAME(lbm_differences_beside)(const REAL v[LBM_DIMS],
                                                 const REAL beside[LBM_DIMS][2][LBM_DIMS],
                                                 const int what[LBM_DIMS][2],
                                                 REAL s[LBM_DIFFERENCES]) {
    REAL d[LBM_DIMS][LBM_DIMS]; /* d v_a / d x_b */
    for (int b = 0; b < LBM_DIMS; b++) {
        for (int a = 0; a < LBM_DIMS; a++) {
            const REAL below = beside[b][0][a], above = beside[b][1][a];
            const bool has_below = what[b][0] == LBM_BESIDE_FLUID;
            const bool has_above = what[b][1] == LBM_BESIDE_FLUID;
            d[a][b] = R(0);
            if (has_below && has_above) {
                d[a][b] = R(0.5) * (above - below);
            } else if (has_above) {
                d[a][b] =
                    what[b][0] == LBM_BESIDE_WALL ? v[a] + above * R(1.0 / 3.0) : above - v[a];
            } else if (has_below) {
                d[a][b] =
                    what[b][1] == LBM_BESIDE_WALL ? -v[a] - below * R(1.0 / 3.0) : v[a] - below;
            }
        }
    }
#define STRAIN(part, a, b, sum) s[part] = R(0.5) * (d[a][b] + d[b][a]);
    LBM_TENSOR(STRAIN)
#undef STRAIN
#define FLUX(part, a, b, along) \
    s[LBM_PARTS + (part)] = LBM_NAME(lbm_flux_beside)(a, b, v, beside[along], what[along]);
    LBM_FLUXES(FLUX)
#undef FLUX
}

/* Collides the moments that have arrived in a cell, for an operator that keeps moments. s: the
 * differences of velocities, for the hybrid operator. */
SEL_INLINE LBM_NAME(lbm_cell_moments)
    LBM_NAME(lbm_collide_moments)(const LBM_NAME(lbm_cell_moments) * in,
                                  const LBM_NAME(lbm_rates) * rates, int collision, bool forced,
                                  bool les, const REAL *s) {
    const bool recursive = LBM_NAME(lbm_is_recursive)(collision);
    const REAL rho = R(1) + in->drho, per_rho = R(1) / rho;
    REAL tau = rates->tau, omega = rates->omega_even, trace = R(0);
    REAL u[LBM_DIMS], square[LBM_PARTS], q[LBM_PARTS], work[LBM_PARTS];
    LBM_NAME(lbm_cell_moments) out;
    out.drho = in->drho;
#define MOMENTUM(axis, sum)    \
    out.j[axis] = in->j[axis]; \
    u[axis] = in->j[axis] * per_rho;
    LBM_AXES(MOMENTUM)
#undef MOMENTUM
    if (forced) {
#define PUSH(axis, sum)                                                       \
    out.j[axis] = LBM_NAME(lbm_add_small)(out.j[axis], rho * rates->a[axis]); \
    u[axis] += R(0.5) * rates->a[axis];
        LBM_AXES(PUSH)
#undef PUSH
    }
#define NEQ(part, i, k, sum)                                                               \
    square[part] = rho * u[i] * u[k];                                                      \
    work[part] = forced ? R(0.5) * rho * (u[i] * rates->a[k] + u[k] * rates->a[i]) : R(0); \
    q[part] = in->p[part] - square[part] + work[part];
    LBM_TENSOR(NEQ)
#undef NEQ
    if (les) {
        tau = LBM_NAME(lbm_tau_of_pi)(q, rho, rates);
        omega = R(1) / tau;
    }
    if (recursive) {
#define TRACE(axis, sum) trace = LBM_MAD(q[axis], R(1.0 / LBM_DIMS), trace);
        LBM_AXES(TRACE)
#undef TRACE
    }
    if (collision == LBM_HYBRID) {
        const REAL share = R(LBM_HYBRID_SHARE), stress = R(-2.0 / 3.0) * share * rho * tau;
        REAL spread = R(0);
#define SPREAD(axis, sum) spread = LBM_MAD(s[axis], R(1.0 / LBM_DIMS), spread);
        LBM_AXES(SPREAD)
#undef SPREAD
#define BLEND(part, i, k, sum)                                    \
    q[part] = LBM_MAD(stress, s[part] - (i == k ? spread : R(0)), \
                      (R(1) - share) * (q[part] - (i == k ? trace : R(0))));
        LBM_TENSOR(BLEND)
#undef BLEND
        trace = R(0);
    }
#define RELAX(part, i, k, sum) \
    out.p[part] =              \
        LBM_MAD(R(1) - omega, q[part] - (i == k ? trace : R(0)), square[part] + work[part]);
    LBM_TENSOR(RELAX)
#undef RELAX
    if (collision == LBM_HYBRID) {
        const REAL flux = R(-1.0 / 12.0) * rho * omega;
        (void)flux; /* in 2-D */
#define FLUX(part, i, k, along) out.p[part] = LBM_MAD(flux, s[LBM_PARTS + (part)], out.p[part]);
        LBM_FLUXES(FLUX)
#undef FLUX
    }
    return out;
}

/* Collides the populations of one cell in place; not for the hybrid operator, which needs the
 * velocities around the cell. With constants for all but g and rates nothing
 * of the choice is left in the code. */
SEL_INLINE void LBM_NAME(lbm_collide)(REAL g[LBM_Q], const LBM_NAME(lbm_rates) * rates,
                                      int collision, bool forced, bool les) {
    if (LBM_NAME(lbm_keeps_moments)(collision)) {
        const LBM_NAME(lbm_cell_moments) in = LBM_NAME(lbm_moments_of)(g);
        const LBM_NAME(lbm_cell_moments) out =
            LBM_NAME(lbm_collide_moments)(&in, rates, collision, forced, les, NULL);
        LBM_NAME(lbm_of_moments)(&out, LBM_NAME(lbm_is_recursive)(collision), g);
    } else {
        LBM_NAME(lbm_rates) local = *rates;
        if (les) {
            local = LBM_NAME(lbm_eddy_rates)(g, rates, collision, forced);
        }
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

/* The stored components of such a cell, values[LBM_Q]: populations, or its moments. The recursive
 * operators leave no trace of the strain. */
SEL_INLINE void LBM_NAME(lbm_start_stored)(REAL drho, const REAL u[LBM_DIMS],
                                           const REAL s[LBM_PARTS], REAL tau,
                                           const REAL a[LBM_DIMS], int collision, bool moments,
                                           REAL values[LBM_Q]) {
    const bool recursive = LBM_NAME(lbm_is_recursive)(collision);
    REAL rate[LBM_PARTS], trace = R(0);
#define TRACE(axis, sum) trace += recursive ? s[axis] * R(1.0 / LBM_DIMS) : R(0);
    LBM_AXES(TRACE)
#undef TRACE
#define RATE(part, i, k, sum) rate[part] = s[part] - (i == k ? trace : R(0));
    LBM_TENSOR(RATE)
#undef RATE
    LBM_NAME(lbm_start)(drho, u, rate, tau, a, values);
    if (moments || recursive) {
        const LBM_NAME(lbm_cell_moments) m = LBM_NAME(lbm_moments_of)(values);
        if (moments) {
            LBM_NAME(lbm_put_moments)(&m, values, 1);
        } else {
            LBM_NAME(lbm_of_moments)(&m, recursive, values);
        }
    }
}

#undef LBM_LEAST_WEIGHT
#undef LBM_OF_LEAST
#undef LBM_IS_DIAGONAL
#undef R
