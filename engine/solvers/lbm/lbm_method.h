/* lbm_method.h -- lattices as tables; enumerations of collisions, closures and fields. */
#ifndef LBM_METHOD_H
#define LBM_METHOD_H

enum { LBM_D2Q9, LBM_D3Q19, LBM_LATTICES, LBM_MAX_Q = 19 };

typedef struct lbm_direction {
    int e[3];
    int opposite;
    int mirror[3]; /* of a diagonal: its mirror image across each axis */
    double weight;
} lbm_direction;

/* A lattice for code that loops over directions at run time; kernels use lbm_lattice.h. */
typedef struct lbm_lattice {
    const char *name; /* "D2Q9" */
    int dims, q;      /* q directions, the rest population included */
    lbm_direction direction[LBM_MAX_Q];
} lbm_lattice;

enum { LBM_TRT, LBM_BGK, LBM_REGULARIZED, LBM_COLLISIONS };

/* Which closure computes the unknown populations of a cell with wet faces. */
typedef enum lbm_opening {
    LBM_CLOSED,
    LBM_OPEN_VELOCITY, /* also walls at the first cell centres */
    LBM_OPEN_PRESSURE,
    LBM_OPEN_OUTFLOW,
    LBM_OPEN_EDGE /* several wet faces: density and velocity given, or of the next cell inwards */
} lbm_opening;

/* Values of a cell with wet faces: velocity (3 components) and density deviation, lattice units. */
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
