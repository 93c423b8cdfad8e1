/* lbm_method.h -- lattices as tables; enumerations of collisions, closures and fields; boundary
 * cells, as the processor and devices have them. */
#ifndef LBM_METHOD_H
#define LBM_METHOD_H

#include <stdbool.h>
#include <stdint.h>

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

/* Where the values of a law, or of the acceleration, go. */
typedef enum lbm_goal {
    LBM_TO_NOTHING,  /* it has none */
    LBM_TO_LINKS,    /* a velocity: what each bounced population gains */
    LBM_TO_VELOCITY, /* of cells with wet faces */
    LBM_TO_DENSITY,  /* of these cells, from a pressure */
    LBM_TO_FORCE,    /* an acceleration: of all cells, */
    LBM_TO_FIELD     /* or of each cell its own */
} lbm_goal;

/* A free cell to which at least one population comes from a solid or across a face. All its other
 * populations are pulled from neighbours. */
typedef struct lbm_boundary_cell {
    uint32_t x, row;       /* row y + ny z */
    uint32_t index;        /* on a device: in a plane of populations */
    uint32_t first_link;   /* of its links: the bits of `links`, lowest direction first */
    uint32_t links;        /* bit i: the population along direction i comes by a link */
    uint32_t bounced;      /* of these: bounced back; */
    uint32_t mirrored[3];  /* mirrored at a slip face across each axis: from the cell beside this
                              one, along the mirrored direction; */
    uint32_t open;         /* through wet faces: computed by the closure */
    int32_t opening_index; /* its number among the cells with wet faces; -1: it has none */
    int8_t normal[3];      /* inward normals of the wet faces, by axis: 1, -1, or 0 for none */
    uint8_t opening;       /* lbm_opening */
    uint8_t velocity_region, density_region; /* whose laws give them at this cell; 0: none */
    bool inward_solid; /* the next cell along the normals is solid: the closure uses this one */
    bool moves;        /* some of its links belong to moving walls */
    bool again;  /* on a device: a second kernel computes it again, since it is wet, or since values
                    are evaluated ahead */
    double keep; /* of an outflow: 1 - K of engine/solvers/lbm/lbm_closure.h */
} lbm_boundary_cell;

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
