/* paint.h -- a quantity painted by shapes, in order. */
#ifndef SEL_PAINT_H
#define SEL_PAINT_H

#include "engine/arena.h"
#include "engine/quantity.h"
#include "engine/simulation.h"

struct sel_shape;

typedef struct sel_paint_layer {
    const struct sel_shape *where;
    sel_quantity value; /* of one component */
} sel_paint_layer;

typedef struct sel_paint {
    sel_quantity base; /* of one component */
    int layers;
    const sel_paint_layer *layer; /* painted over the base in order; the last one wins */
} sel_paint;

/* `paint` as a function of place, with what its values depend on besides. Each value is evaluated
 * only where it shows. `domain` tells the grid, and is read at the first evaluation; all three must
 * live as long as the function, which is made in the arena. Shapes with faces, and those that do
 * not fit the domain, are refused by the evaluation. NULL: no memory. */
const sel_function *sel_paint_function(sel_arena *arena, const sel_paint *paint,
                                       const sel_common *domain, sel_where where);

#endif
