/* lbm_d2q9_kernel.c -- the CPU's inner loops on D2Q9. */
#define LBM_DIMS 2
#define JOIN(a, b) a##b
#define LEVEL_NAME(prefix, level) JOIN(prefix, level)
#define LBM_TABLE LEVEL_NAME(lbm_d2q9_loops_, SEL_LEVEL)
#include "engine/solvers/lbm/lbm_kernel_table.h"
