/* lbm_d2q9_kernel.c -- the CPU's inner loops on D2Q9. */
#define LBM_DIMS 2
#define LBM_TABLE SEL_OF_LEVEL(lbm_d2q9_loops)
#include "engine/solvers/lbm/lbm_kernel_table.h"
