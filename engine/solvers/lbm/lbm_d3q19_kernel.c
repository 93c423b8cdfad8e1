/* lbm_d3q19_kernel.c -- the CPU's inner loops on D3Q19. */
#define LBM_DIMS 3
#define LBM_TABLE SEL_OF_LEVEL(lbm_d3q19_loops)
#include "engine/solvers/lbm/lbm_kernel_table.h"
