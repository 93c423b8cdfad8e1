/* plane.h -- the plane of a 3-D field that a picture shows. */
#ifndef SEL_PLANE_H
#define SEL_PLANE_H

#include "engine/domain.h"
#include "engine/output/tables.h"

/* A plane across one axis: the layer of cells whose centres it holds, or the two layers about it,
 * between which values are linear. In 2-D the only layer. */
typedef struct sel_plane {
    int axis;     /* across the plane */
    int64_t n[2]; /* cells along the other two axes, the lower first */
    sel_box box;  /* the cells of the layers */
    int layers;
    double weight[2]; /* of the layers in the order of the box; their sum is 1 */
} sel_plane;

/* The plane of a slice that was checked. Periodic axes wrap; within half a cell of other faces the
 * last layer holds. */
sel_plane sel_plane_make(const sel_grid *grid, const sel_slice *slice);

/* What a cell is. */
enum { SEL_PLANE_FREE, SEL_PLANE_SOLID, SEL_PLANE_NODATA };

/* solid[cells of the box]: whether a cell is solid, and whether for want of data. */
void sel_plane_solids(const sel_plane *plane, const sel_domain *domain, uint8_t *solid);

/* Makes one layer of the box's, in place: values[cells of the box][components] becomes
 * values[n[1]][n[0]][components] and solid[n[1]][n[0]]. A place is solid where the cell is that
 * holds it, on the border of two layers where both cells are; solid cells have no part in values.
 */
void sel_plane_flatten(const sel_plane *plane, int components, float *values, uint8_t *solid);

#endif
