/* lbm_kernel_table.h -- the loops of one lattice in both precisions, as a table for one level.
 *
 * Included by lbm_d2q9_kernel.c and lbm_d3q19_kernel.c, which define LBM_DIMS and the table's
 * name, LBM_TABLE.
 */
#include <math.h>
#include "engine/base/kernel.h"
#include "engine/solvers/lbm/lbm_cpu.h"

/* The fields of the strain of a cell from its populations before collision under
 * the acceleration a, in f64; eddy > 0: with Smagorinsky's model; recursive: of an operator that
 * relaxes the trace at once; differences: the strain by differences, for the hybrid operator, else
 * NULL. */
SEL_INLINE void cell_strain(const double g[], const double a[], double tau, double eddy,
                            bool recursive, const double differences[], const lbm_units *units,
                            double *rate, double stress[], double *dissipation);

#define REAL float
#define LBM_SQRT(x) sqrtf(x)
#define LBM_NAME(name) name##_f32
#include "engine/solvers/lbm/lbm_loops.h"

#define REAL double
#define LBM_SQRT(x) sqrt(x)
#define LBM_NAME(name) name##_f64
#include "engine/solvers/lbm/lbm_loops.h"

SEL_INLINE void cell_strain(const double g[], const double a[], double tau, double eddy,
                            bool recursive, const double differences[], const lbm_units *units,
                            double *rate, double stress[], double *dissipation) {
    lbm_rates_f64 rates = {.tau = tau, .eddy = eddy};
    const lbm_cell_moments_f64 in = lbm_moments_of_f64(g);
    double pi_neq[LBM_PARTS];
    for (int axis = 0; axis < LBM_DIMS; axis++) {
        rates.a[axis] = a[axis];
    }
    lbm_pi_of_moments_f64(&in, &rates, pi_neq);
    const double relaxes = eddy > 0 ? lbm_tau_of_pi_f64(pi_neq, 1 + in.drho, &rates) : tau;
    lbm_strain_fields(pi_neq, in.drho, relaxes, recursive, differences, LBM_DIMS, units, rate,
                      stress, dissipation);
}

#define SWEEP(name, suffix)                                                      \
    {                                                                            \
        {sweep_##name##_##suffix, sweep_##name##_eddy_##suffix},                 \
            {sweep_##name##_force_##suffix, sweep_##name##_force_eddy_##suffix}, \
            {sweep_##name##_field_##suffix, sweep_##name##_field_eddy_##suffix}, \
    }
#define LOOPS(suffix)                                                              \
    {                                                                              \
        .sweep = {{[LBM_TRT] = SWEEP(trt, suffix),                                 \
                   [LBM_BGK] = SWEEP(bgk, suffix),                                 \
                   [LBM_REGULARIZED] = SWEEP(regularized, suffix),                 \
                   [LBM_RECURSIVE] = SWEEP(recursive, suffix)},                    \
                  {[LBM_REGULARIZED] = SWEEP(regularized_moments, suffix),         \
                   [LBM_RECURSIVE] = SWEEP(recursive_moments, suffix),             \
                   [LBM_HYBRID] = SWEEP(hybrid_moments, suffix)}},                 \
        .sponge = sponge_##suffix, .read = read_##suffix, .write = write_##suffix, \
        .start = lbm_start_stored_f64,                                             \
    }

extern const lbm_loops LBM_TABLE[2];
const lbm_loops LBM_TABLE[2] = {
    [SEL_F32] = LOOPS(f32),
    [SEL_F64] = LOOPS(f64),
};
