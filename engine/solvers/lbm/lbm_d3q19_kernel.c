/* lbm_d3q19_kernel.c -- the CPU's inner loops on D3Q19. */
#define LBM_DIMS 3
#define JOIN(a, b) a##b
#define LEVEL_NAME(prefix, level) JOIN(prefix, level)
#define LBM_TABLE LEVEL_NAME(lbm_d3q19_loops_, SEL_LEVEL)
#include "engine/solvers/lbm/lbm_kernel_table.h"
