/* lbm_marched.h -- one step of moments in a periodic box, cell by cell in f64: what
 * test_cuda_moments.c compares the device with. Re-includable, with LBM_DIMS and LBM_NAME as in
 * engine/solvers/lbm/lbm_collision.h. Component c of cell (x, y, z) is at from[c * cells + (z ny +
 * y) nx + x].
 */
#include "engine/solvers/lbm/lbm_collision.h"

enum { LBM_NAME(components) = 1 + LBM_DIMS + LBM_PARTS };

static LBM_NAME(lbm_cell_moments)
    LBM_NAME(cell_of)(const box *b, const double *from, int64_t x, int64_t y, int64_t z) {
    LBM_NAME(lbm_cell_moments) m;
    const double *at = from + box_index(b, x, y, z);
    m.drho = at[0];
    for (int a = 0; a < LBM_DIMS; a++) {
        m.j[a] = at[(1 + a) * b->cells];
    }
    for (int k = 0; k < LBM_PARTS; k++) {
        m.p[k] = at[(1 + LBM_DIMS + k) * b->cells];
    }
    return m;
}

/* j_a j_b / rho^2 of a cell. */
static inline double LBM_NAME(product)(const LBM_NAME(lbm_cell_moments) * m, int a, int b) {
    return m->j[a] * m->j[b] / ((1 + m->drho) * (1 + m->drho));
}

/* Differences of j / rho: the rate of strain, and second differences of products. */
static void LBM_NAME(differences_around)(const box *b, const double *from, const int64_t at[3],
                                         double s[LBM_DIFFERENCES]) {
    double d[3][3] = {{0}};
    LBM_NAME(lbm_cell_moments) beside[LBM_DIMS][2];
    const LBM_NAME(lbm_cell_moments) own = LBM_NAME(cell_of)(b, from, at[0], at[1], at[2]);
    (void)own, (void)beside; /* in 2-D */
    for (int axis = 0; axis < LBM_DIMS; axis++) {
        for (int side = -1; side <= 1; side += 2) {
            const LBM_NAME(lbm_cell_moments) m =
                LBM_NAME(cell_of)(b, from, at[0] + side * (axis == 0), at[1] + side * (axis == 1),
                                  at[2] + side * (axis == 2));
            beside[axis][side > 0] = m;
            for (int a = 0; a < LBM_DIMS; a++) {
                d[a][axis] += 0.5 * side * m.j[a] / (1 + m.drho);
            }
        }
    }
    lbm_gradient_strain(d, LBM_DIMS, s);
#define FLUX(part, i, k, along)                                          \
    s[LBM_PARTS + (part)] = LBM_NAME(product)(&beside[along][0], i, k) - \
                            2 * LBM_NAME(product)(&own, i, k) +          \
                            LBM_NAME(product)(&beside[along][1], i, k);
    LBM_FLUXES(FLUX)
#undef FLUX
}

/* strain: to the strain of each cell before collision, [part][cell]. */
static void LBM_NAME(step_of)(const box *b, const lbm_gpu_step *s, const double a[3],
                              const double *field, const double *from, double *to, double *strain) {
    for (int64_t k = 0; k < b->cells; k++) {
        const int64_t at[3] = {k % b->n[0], k / b->n[0] % b->n[1], k / b->n[0] / b->n[1]};
        double g[LBM_Q], all[LBM_Q], around[LBM_DIFFERENCES];
        LBM_NAME(lbm_rates)
        rates = {.omega_even = s->omega_even, .tau = s->tau, .eddy = s->eddy};
        for (int axis = 0; axis < LBM_DIMS; axis++) {
            rates.a[axis] = field ? field[axis * b->cells + k] : a[axis];
        }
#define PULL(i, ex, ey, ez, opposite, weight)                                        \
    {                                                                                \
        const LBM_NAME(lbm_cell_moments) m =                                         \
            LBM_NAME(cell_of)(b, from, at[0] - (ex), at[1] - (ey), at[2] - (ez));    \
        LBM_NAME(lbm_of_moments)(&m, LBM_NAME(lbm_is_recursive)(s->collision), all); \
        g[i] = all[i];                                                               \
    }
        LBM_DIRECTIONS(PULL)
#undef PULL
        const LBM_NAME(lbm_cell_moments) in = LBM_NAME(lbm_moments_of)(g);
        LBM_NAME(differences_around)(b, from, at, around);
        const LBM_NAME(lbm_cell_moments) out =
            LBM_NAME(lbm_collide_moments)(&in, &rates, s->collision, s->forced, s->les, around);
        to[k] = out.drho;
        for (int axis = 0; axis < LBM_DIMS; axis++) {
            to[(1 + axis) * b->cells + k] = out.j[axis];
        }
        double u[LBM_DIMS], q[LBM_PARTS], trace = 0;
        LBM_NAME(lbm_moments)(g, &rates, true, &(double){0}, u);
        LBM_NAME(lbm_pi_neq)(g, &rates, true, in.drho, u, q);
        const double tau = s->les ? LBM_NAME(lbm_tau_of_pi)(q, 1 + in.drho, &rates) : s->tau;
        for (int axis = 0; axis < LBM_DIMS; axis++) {
            trace += q[axis] / LBM_DIMS;
        }
        const bool apart = LBM_NAME(lbm_is_recursive)(s->collision);
        for (int part = 0; part < LBM_PARTS; part++) {
            const double of_trace = apart && part < LBM_DIMS ? trace : 0;
            to[(1 + LBM_DIMS + part) * b->cells + k] = out.p[part];
            strain[part * b->cells + k] =
                -1.5 / (1 + in.drho) * ((q[part] - of_trace) / tau + of_trace);
            if (s->collision == LBM_HYBRID) {
                const double spread = around[0] + around[1] + (LBM_DIMS == 3 ? around[2] : 0);
                const double other = around[part] - (part < LBM_DIMS ? spread / LBM_DIMS : 0);
                const double own = -1.5 / (1 + in.drho) * (q[part] - of_trace) / tau;
                strain[part * b->cells + k] +=
                    0.5 * LBM_HYBRID_SHARE * (1 - 1 / tau) / (2 - 1 / tau) * (other - own);
            }
        }
    }
}
