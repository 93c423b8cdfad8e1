/* solid.h -- the primitives of shapes: which points lie in one, its bounds, where a segment meets
 * its surface. */
#ifndef SEL_SOLID_H
#define SEL_SOLID_H

#include "engine/scene/segment.h"

/* Whether p lies in a primitive other than `inside`; false for faces. Points nearer to its surface
 * than `slack` lie on it: within round bodies, and within those with flat sides if it is a lower
 * side. *failed = true: without memory. */
bool sel_solid_contains(const sel_shape *shape, const sel_grid *grid, double slack,
                        const double p[3], bool *failed);

/* A point for the test of a shape with flat sides, which are half-open: moved by the slack, in no
 * direction that sides have. So points on lower sides lie inside, and points on upper ones
 * outside. */
static inline void sel_solid_move(double slack, double p[3]) {
    p[0] += slack;
    p[1] += 0.7 * slack;
    p[2] += 0.4 * slack;
}

/* Bounds of the points in a primitive, with a margin for round-off; all of space if they are not
 * known. */
sel_bounds sel_solid_bounds(const sel_shape *shape);

/* The point of a shape that its placement brings to p. */
void sel_shape_unplace(const sel_shape_placement *placement, const double p[3], double own[3]);
/* The slack there, for points with coordinates up to `size`. */
double sel_shape_unplace_slack(const sel_shape_placement *placement, double slack, double size);

/* Adds all roots of a primitive in closed form; false, without any, if there is none. */
bool sel_solid_roots(const sel_shape *shape, const double from[3], const double to[3],
                     sel_roots *roots);

/* Placements, the inner one first; NULL: none. */
typedef struct sel_chain {
    const sel_shape_placement *placement;
    const struct sel_chain *outer;
} sel_chain;

/* Bounds of a leaf that is placed so; the cells whose centres may lie within bounds. */
sel_bounds sel_chain_bounds(const sel_shape *shape, const sel_chain *chain);
sel_box sel_bounds_cells(const sel_bounds *bounds, const sel_grid *grid);

/* ---- meshes (mesh_shape.c) ---- */

extern const sel_table sel_mesh_table, sel_rotate_table;

/* Fails for a mesh in 2-D, outside the domain, or by its size in other units; `bounds`: where it is
 * placed. */
sel_status sel_mesh_check_place(const sel_shape *shape, const sel_grid *grid,
                                const sel_bounds *bounds, sel_error *error);

/* Parts and gaps of a mesh that are thinner than a cell (mesh_thin.c). Places: of the first. */
typedef struct sel_thin_parts {
    int64_t links;      /* between neighbouring centres that meet the surface */
    int64_t lost_links; /* of these, that pass through two sides, so that no cell is between */
    int64_t triangles;  /* that were looked at */
    int64_t alone;      /* of these, without a cell of the mesh near them */
    double link_at[3], triangle_at[3];
} sel_thin_parts;
sel_thin_parts sel_mesh_find_thin(const sel_shape *shape, const sel_chain *chain,
                                  const sel_grid *grid);

/* Warns of the faults of a mesh, and of its parts that are thinner than a cell. */
void sel_mesh_warn(const sel_shape *shape, const sel_chain *chain, const sel_grid *grid,
                   sel_error *warnings);

#endif
