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

/* From LBM_REGULARIZED on the operators keep moments up to second order only. */
enum { LBM_TRT, LBM_BGK, LBM_REGULARIZED, LBM_RECURSIVE, LBM_HYBRID, LBM_COLLISIONS };

/* The share of the strain by differences in the hybrid operator. */
#define LBM_HYBRID_SHARE 0.02

/* What is beside a boundary cell along an axis, for differences (lbm_differences_beside) and
 * absorbing faces; a wall is at rest, half a cell away. */
enum { LBM_BESIDE_NOTHING, LBM_BESIDE_FLUID, LBM_BESIDE_WALL };

/* Which closure computes the unknown populations of a cell with wet faces. */
typedef enum lbm_opening {
    LBM_CLOSED,
    LBM_OPEN_VELOCITY, /* also walls at the first cell centres */
    LBM_OPEN_PRESSURE,
    LBM_OPEN_OUTFLOW,
    LBM_OPEN_EDGE, /* several wet faces: density and velocity given, or of the next cell inwards */
    LBM_OPEN_ABSORBING, /* one or several faces that let sound out: lbm_absorbing.h */
    LBM_OPENINGS
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

/* A free cell in the sponge (lbm_sponge.h): sigma, and the velocity that the layer holds there,
 * lattice units. */
typedef struct lbm_sponge_cell {
    uint32_t x, row; /* row y + ny z */
    uint32_t index;  /* on a device: in a plane of populations */
    float rate, u[3];
} lbm_sponge_cell;

/* A free cell to which at least one population comes from a solid or across a face. All its other
 * populations are pulled from neighbours. */
typedef struct lbm_boundary_cell {
    uint32_t x, row;     /* row y + ny z */
    uint32_t index;      /* on a device: in a plane of populations */
    uint32_t first_link; /* of its links: the bits of `links`, lowest direction first, and then
                            of `shared` again */
    uint32_t links;      /* bit i: the population along direction i comes by a link */
    uint32_t bounced;    /* of these: bounced back; */
    uint32_t shared;     /* of these: by two regions, the second of which owns the second entry; */
    uint32_t straight;   /* of those bounced back: what crosses a straight wall and is corrected for
                            the curvature of the velocity: diagonals, and the axis beside them if
                            all diagonals on its side are among them (lbm_closure.h) */
    uint32_t mirrored[3];  /* mirrored at a slip face across each axis: from the cell beside this
                              one, along the mirrored direction; */
    uint32_t open : 30;    /* through wet faces: computed by the closure */
    uint32_t cut : 1;      /* some links are interpolated (lbm_boundary.link_cut), */
    uint32_t closed : 1;   /* and the fluid around has no wet face (lbm_closed.h) */
    int32_t opening_index; /* its number among the cells with wet faces; -1: it has none */
    int8_t normal[3];      /* inward normals of the wet faces, by axis: 1, -1, or 0 for none */
    /* Whose laws give the velocity at this cell, by the axis of the face. Along this axis it is
       that of the law; along an axis without one, the mean of the others. All 0: none does. */
    uint8_t velocity_region[3];
    uint8_t density_region;  /* whose law gives the density; 0: none */
    uint8_t opening : 3;     /* lbm_opening */
    bool velocity_given : 1; /* some law gives it */
    bool inward_solid : 1; /* the next cell along the normals is solid: the closure uses this one */
    bool moves : 1;        /* some of its links belong to moving walls */
    bool both_move : 1;    /* two of these share a link, and each entry has the value of one; else
                              the first entry has that of either */
    bool again : 1; /* on a device: a second kernel computes it again, because it is wet, both move,
                       some links are straight, values are evaluated ahead, or moments are stored */
    /* Of absorbing faces by axis: whether the law holds the density, the velocity. */
    uint8_t holds_density : 3;
    uint8_t holds_velocity : 3;
    float relax[3]; /* by axis K of engine/solvers/lbm/lbm_absorbing.h, or of an outflow */
} lbm_boundary_cell;

/* Of an interpolated link the weights e and 1 - 2 q e of engine/solvers/lbm/lbm_closure.h, q the
 * part of its length after which it meets the wall; wall = 0: half-way. */
typedef struct lbm_cut {
    float wall, far;
} lbm_cut;

/* Mass of interpolated walls (lbm_closed.h). LBM_GAIN_UNIT: the unit of all sums, as a part of the
 * mass of a cell at density 1. LBM_RETURN_STEPS: steps between returns. LBM_LEAST_SHARE: the least
 * share of a cell that is returned, in f64 and f32, in that unit. */
#define LBM_GAIN_UNIT 0x1p-40
enum { LBM_RETURN_STEPS = 64, LBM_LEAST_SHARE = 1, LBM_LEAST_SHARE_F32 = 1 << 18 };

/* Values of a cell with wet faces: velocity (3 components) and density deviation, lattice units;
 * and where two walls give half each of a component, the second wall's half. */
enum { LBM_SECOND_HALF = 4, LBM_OPEN_VALUES };

#ifndef LBM_METHOD_INLINE
#define LBM_METHOD_INLINE static inline
#endif

/* The density that each cell of a region gets of what the region is owed; subtracts it from *owed
 * and adds it to *returned. */
LBM_METHOD_INLINE double lbm_closed_share(bool f32, int64_t cells, int64_t *owed,
                                          double *returned) {
    const int64_t share = *owed / cells, least = f32 ? LBM_LEAST_SHARE_F32 : LBM_LEAST_SHARE;
    if (share < least && share > -least) {
        return 0;
    }
    *owed -= share * cells;
    *returned += (double)(share * cells) * LBM_GAIN_UNIT;
    return (double)share * LBM_GAIN_UNIT;
}

/* What becomes of a component, which is the deviation from `rest`, of a cell whose mass grows by
 * the part `more`. */
LBM_METHOD_INLINE double lbm_with_share(double value, double rest, double more) {
    return value + more * (rest + value);
}

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
    LBM_DISSIPATION,
    LBM_WALL_SHEAR,
    LBM_Y_PLUS,
    LBM_WALL_NORMAL,
    LBM_WALL_AREA,
    LBM_FIELDS
};

/* Those that observed steps store of the strain: the strain rate and what follows it. */
enum { LBM_STRAIN_FIELDS = 3 };

#endif
