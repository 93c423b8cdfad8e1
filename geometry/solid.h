/* solid.h -- the primitives of shapes: which points lie in one, its bounds, where a segment meets
 * its surface. */
#ifndef SEL_SOLID_H
#define SEL_SOLID_H

#include "engine/scene/segment.h"

/* Whether p lies in a primitive other than `inside`; false for faces. */
bool sel_solid_contains(const sel_shape *shape, const sel_grid *grid, const double p[3]);

/* Bounds of the points in a primitive, with a margin for round-off; all of space if they are not
 * known. */
sel_bounds sel_solid_bounds(const sel_shape *shape);

/* The point of a shape that its placement brings to p. */
void sel_shape_unplace(const sel_shape_placement *placement, const double p[3], double own[3]);

/* Adds all roots of a primitive in closed form; false, without any, if there is none. */
bool sel_solid_roots(const sel_shape *shape, const double from[3], const double to[3],
                     sel_roots *roots);

#endif
