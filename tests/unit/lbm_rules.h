/* lbm_rules.h -- the rules of a cell as plain functions: name_2_f64, name_3_f64, name_2_f32,
 * name_3_f32.
 */
#ifndef TESTS_LBM_RULES_H
#define TESTS_LBM_RULES_H

#include <math.h>

#include "engine/base/kernel.h"
#define REAL double
#define LBM_SQRT(x) sqrt(x)
#define LBM_DIMS 2
#define LBM_NAME(name) name##_2_f64
#include "engine/solvers/lbm/lbm_collision.h"
#include "engine/solvers/lbm/lbm_closure.h"
#include "engine/solvers/lbm/lbm_gather.h"
#undef LBM_DIMS
#undef LBM_NAME
#define LBM_DIMS 3
#define LBM_NAME(name) name##_3_f64
#include "engine/solvers/lbm/lbm_collision.h"
#include "engine/solvers/lbm/lbm_closure.h"
#include "engine/solvers/lbm/lbm_gather.h"
#undef LBM_DIMS
#undef LBM_NAME
#undef REAL
#undef LBM_SQRT
#define REAL float
#define LBM_SQRT(x) sqrtf(x)
#define LBM_DIMS 2
#define LBM_NAME(name) name##_2_f32
#include "engine/solvers/lbm/lbm_collision.h"
#include "engine/solvers/lbm/lbm_closure.h"
#include "engine/solvers/lbm/lbm_gather.h"
#undef LBM_DIMS
#undef LBM_NAME
#define LBM_DIMS 3
#define LBM_NAME(name) name##_3_f32
#include "engine/solvers/lbm/lbm_collision.h"
#include "engine/solvers/lbm/lbm_closure.h"
#include "engine/solvers/lbm/lbm_gather.h"

#endif
