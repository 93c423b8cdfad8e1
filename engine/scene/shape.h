/* shape.h -- shapes: which cells and which face sites a region paints. */
#ifndef SEL_SHAPE_H
#define SEL_SHAPE_H

#include <math.h>
#include "engine/base/arena.h"
#include "engine/scene/grid.h"
#include "engine/values/schema.h"
#include "engine/io/mask.h"
#include "engine/io/raster.h"

typedef enum sel_shape_kind {
    SEL_SHAPE_FACE,  /* face sites of one face */
    SEL_SHAPE_FACES, /* face sites of all faces that are not periodic */
    SEL_SHAPE_REST,  /* face sites that are still unpainted */
    SEL_SHAPE_BOX,
    SEL_SHAPE_BALL,
    SEL_SHAPE_ELLIPSOID,
    SEL_SHAPE_CYLINDER,
    SEL_SHAPE_CONE,
    SEL_SHAPE_TORUS,
    SEL_SHAPE_POLYGON,
    SEL_SHAPE_INSIDE, /* where a function is true */
    SEL_SHAPE_IMAGE,  /* the dark pixels of pictures, or cells by an array */
    SEL_SHAPE_RASTER, /* where a raster is above a value */
    SEL_SHAPE_MESH,   /* the inside of triangles */
    SEL_SHAPE_UNION,
    SEL_SHAPE_DIFFERENCE,
    SEL_SHAPE_INTERSECTION,
    SEL_SHAPE_PLACED /* a shape that is moved, rotated or scaled */
} sel_shape_kind;

/* The parameter structs that the constructors' tables describe. */
typedef struct sel_shape_box {
    sel_point min, max;
} sel_shape_box;
typedef struct sel_shape_ball {
    sel_point centre;
    double radius;
} sel_shape_ball;
typedef struct sel_shape_cylinder {
    sel_point from, to; /* 3-D: the axis */
    sel_point centre;   /* 2-D */
    double radius;
} sel_shape_cylinder;
typedef struct sel_shape_ellipsoid {
    sel_point centre;
    sel_point radii; /* along the axes */
} sel_shape_ellipsoid;
typedef struct sel_shape_cone {
    sel_point from, to; /* the axis */
    sel_point radii;    /* n = 2: at from and at to */
} sel_shape_cone;
typedef struct sel_shape_torus {
    sel_point centre;
    sel_point axis; /* n = 0: z, or 2-D */
    double radius;  /* from the centre to the middle of the tube */
    double tube;    /* the radius of the tube */
} sel_shape_torus;
typedef struct sel_shape_polygon {
    sel_points points; /* in the x-y plane; the last is joined to the first */
} sel_shape_polygon;
typedef struct sel_shape_inside {
    const sel_function *test;
} sel_shape_inside;

/* The marks of a file are those of the cells of the domain. */
typedef struct sel_shape_image {
    sel_mask_params ask;
    const sel_mask *mask; /* from sel_mask_read */
} sel_shape_image;
typedef struct sel_shape_raster {
    const sel_lookup *raster; /* from sel_raster_create */
    double above;
} sel_shape_raster;

/* Where a shape is placed: its point q comes to matrix q + shift. */
typedef struct sel_shape_placement {
    double matrix[3][3], inverse[3][3];
    double shift[3];
} sel_shape_placement;

/* The parameters of shape:moved, rotated and scaled. */
typedef struct sel_shape_moved {
    sel_point by;
} sel_shape_moved;
typedef struct sel_shape_rotated {
    double angle;
    sel_point axis, about;
} sel_shape_rotated;
typedef struct sel_shape_scaled {
    double factor;
    sel_point about;
} sel_shape_scaled;

/* A surface of triangles: point q of the file comes to scale rotate(q) + offset. */
typedef struct sel_shape_mesh {
    const char *file; /* path as the process opens it */
    double scale;
    sel_point offset;
    sel_shape_rotated rotate;    /* angle NaN: not given */
    const struct sel_mesh *mesh; /* from sel_shape_mesh_read */
} sel_shape_mesh;

/* Bounds of points: lo <= p <= hi; nowhere if lo > hi. */
typedef struct sel_bounds {
    double lo[3], hi[3];
} sel_bounds;
#define SEL_NOWHERE                         \
    (sel_bounds) {                          \
        {HUGE_VAL, HUGE_VAL, HUGE_VAL}, {   \
            -HUGE_VAL, -HUGE_VAL, -HUGE_VAL \
        }                                   \
    }
#define SEL_EVERYWHERE                       \
    (sel_bounds) {                           \
        {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, { \
            HUGE_VAL, HUGE_VAL, HUGE_VAL     \
        }                                    \
    }

typedef struct sel_shape {
    sel_shape_kind kind;
    sel_where where;
    int face;                      /* FACE */
    const void *data;              /* BOX ... MESH: the struct above; PLACED: the placement */
    const struct sel_shape *a, *b; /* the operands; PLACED has one, the others have none */
    bool bounded;                  /* `bounds` are known; the constructors find them */
    sel_bounds bounds;             /* of the cell centres in the shape */
} sel_shape;

/* The tables "shape.box" to "shape.mesh", in the order of the kinds. */
extern const sel_family sel_shape_family;

/* Their tables, which belong to no family. */
extern const sel_table sel_moved_table, sel_rotated_table, sel_scaled_table;

/* Constructors, also for shape.face, faces, rest and the operators, which have no table. The data
 * and the operands must be complete. NULL: no memory. */
sel_shape *sel_shape_face(sel_arena *arena, int face);
sel_shape *sel_shape_make(sel_arena *arena, sel_shape_kind kind, const void *data);
sel_shape *sel_shape_combine(sel_arena *arena, sel_shape_kind kind, const sel_shape *a,
                             const sel_shape *b);

/* The union of n >= 2 shapes: a tree whose branches keep to their parts of space, so that a point
 * or a segment meets few of many. */
sel_shape *sel_shape_unite(sel_arena *arena, const sel_shape *const *list, int n);

sel_shape *sel_shape_place(sel_arena *arena, const sel_shape *shape,
                           const sel_shape_placement *placement);

/* Reads the file of a mesh and makes shape->mesh, in the arena. Errors name the file. */
sel_status sel_shape_mesh_read(sel_arena *arena, sel_shape_mesh *shape, sel_error *error);

/* Placements. Rotation: right-handed about an axis (NULL: z) through a point, by radians. Scaling:
 * by a factor > 0 about a point. */
void sel_placement_move(sel_shape_placement *placement, const double by[3]);
void sel_placement_rotate(sel_shape_placement *placement, double angle, const double axis[3],
                          const double about[3]);
void sel_placement_scale(sel_shape_placement *placement, double factor, const double about[3]);

/* Whether the raster at p is above the shape's value; false outside the raster and in its gaps. */
bool sel_shape_raster_contains(const sel_shape_raster *shape, const double p[3]);

/* Whether a leaf of the shape is face, faces or rest: then the shape paints face sites. */
bool sel_shape_has_faces(const sel_shape *shape);
bool sel_shape_has_rest(const sel_shape *shape);

/* A box of cells that contains every cell centre inside the shape: empty for shapes of faces, all
 * cells if the bounds are unknown. */
sel_box sel_shape_cells(const sel_shape *shape, const sel_grid *grid);

/* Sets in[i] = 1 at the places inside the shape, else 0. The places are cell centres (face < 0) or
 * sites of a face; painted[i] != 0: site i has an owner. Fails if a function of the shape fails. */
sel_status sel_shape_test(const sel_shape *shape, const sel_grid *grid, int face,
                          const sel_places *at, const uint8_t *painted, uint8_t *in,
                          sel_error *error);

/* Whether the shape has a function, which only the thread that prepares the simulation can surely
 * evaluate. */
bool sel_shape_has_functions(const sel_shape *shape);

/* Fails for points with the wrong number of coordinates for the grid, for faces that the grid does
 * not have, for empty boxes, for masks of another size than the grid, and for meshes outside. */
sel_status sel_shape_check(const sel_shape *shape, const sel_grid *grid, sel_error *error);

/* Warns of faults of the meshes of a shape, and of parts that cells are too large for. */
void sel_shape_warn(const sel_shape *shape, const sel_grid *grid, sel_error *warnings);

#endif
