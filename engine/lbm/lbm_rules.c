/* lbm_rules.c -- the f64 rules of one cell, by lattice. */
#include <math.h>
#include "engine/lbm/lbm_kernel.h"

#define SEL_INLINE static inline
#define REAL double
#define LBM_SQRT(x) sqrt(x)

#define LBM_DIMS 2
#define LBM_NAME(name) name##_d2q9
#include "engine/lbm/lbm_rules.h"
#undef LBM_DIMS
#undef LBM_NAME

#define LBM_DIMS 3
#define LBM_NAME(name) name##_d3q19
#include "engine/lbm/lbm_rules.h"

const lbm_cell_rules lbm_rules[LBM_LATTICES] = {
    [LBM_D2Q9] = {start_d2q9, moments_d2q9, excess_d2q9},
    [LBM_D3Q19] = {start_d3q19, moments_d3q19, excess_d3q19},
};
