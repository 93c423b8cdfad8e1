/* lbm_method.h -- numbers of collisions, closures and fields, shared by scenarios and kernels. */
#ifndef LBM_METHOD_H
#define LBM_METHOD_H

enum { LBM_TRT, LBM_BGK, LBM_REGULARIZED, LBM_COLLISIONS };

/* How a cell with wet faces is closed. */
typedef enum lbm_opening {
    LBM_CLOSED,
    LBM_OPEN_VELOCITY, /* also walls at the first cell centres */
    LBM_OPEN_PRESSURE,
    LBM_OPEN_OUTFLOW,
    LBM_OPEN_EDGE /* several wet faces: density and velocity given, or of the next cell inwards */
} lbm_opening;

/* Numbers per open cell: velocity (3 components) and density deviation, lattice units. */
enum { LBM_OPEN_VALUES = 4 };

/* Index in lbm_solver.fields. */
enum {
    LBM_VELOCITY,
    LBM_DENSITY,
    LBM_PRESSURE,
    LBM_SPEED,
    LBM_VORTICITY,
    LBM_Q_CRITERION,
    LBM_STRAIN_RATE,
    LBM_STRESS,
    LBM_FIELDS
};

#endif
