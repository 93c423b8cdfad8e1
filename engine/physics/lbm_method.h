/* lbm_method.h -- the collision operators by number, shared by scenarios and kernels. */
#ifndef LBM_METHOD_H
#define LBM_METHOD_H

enum { LBM_TRT, LBM_BGK, LBM_REGULARIZED, LBM_COLLISIONS };

#endif
