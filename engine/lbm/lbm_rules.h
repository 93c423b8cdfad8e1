/* lbm_rules.h -- the f64 rules of one cell for one lattice, as functions that can be pointed to.
 *
 * Included by lbm_rules.c once per lattice, with LBM_DIMS, REAL (double), LBM_SQRT, LBM_NAME and
 * SEL_INLINE as in engine/physics/lbm_collision.h.
 */
#include "engine/physics/lbm_collision.h"
#include "engine/physics/lbm_start.h"

static void LBM_NAME(start)(double drho, const double *u, const double *strain, double tau,
                            const double *a, double *g) {
    LBM_NAME(lbm_start)(drho, u, strain, tau, a, g);
}

SEL_INLINE LBM_NAME(lbm_rates) LBM_NAME(rates)(const double *a, double tau, double eddy) {
    LBM_NAME(lbm_rates) rates = {.tau = tau, .eddy = eddy};
    for (int axis = 0; axis < LBM_DIMS; axis++) {
        rates.a[axis] = a[axis];
    }
    return rates;
}

static void LBM_NAME(moments)(const double *g, const double *a, double *drho, double *u) {
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(a, 1, 0);
    LBM_NAME(lbm_moments)(g, &rates, true, drho, u);
}

static double LBM_NAME(excess)(const double *g, const double *a, double tau, double eddy,
                               double *q) {
    const LBM_NAME(lbm_rates) rates = LBM_NAME(rates)(a, tau, eddy);
    double drho, u[LBM_DIMS];
    LBM_NAME(lbm_moments)(g, &rates, true, &drho, u);
    LBM_NAME(lbm_excess)(g, &rates, true, drho, u, q);
    return eddy > 0 ? LBM_NAME(lbm_tau_of_excess)(q, 1 + drho, &rates) : tau;
}
