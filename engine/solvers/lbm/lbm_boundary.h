/* lbm_boundary.h -- the boundary of a lattice Boltzmann domain: which cells, what comes in where,
 * and the places of its laws. */
#ifndef LBM_BOUNDARY_H
#define LBM_BOUNDARY_H

#include "engine/solvers/lbm/lattice.h"
#include "engine/physics/lbm_method.h"
#include "engine/scene/solver.h"

/* A free cell to which at least one population comes from a solid or across a face. All its other
 * populations are pulled from neighbours. */
typedef struct lbm_boundary_cell {
    int64_t x;             /* place in its row */
    int64_t first_link;    /* links: the bits of `links`, lowest direction first */
    int64_t opening_index; /* in the list of open cells; -1: none */
    uint32_t links;        /* bit i: a region owns what comes along direction i */
    uint32_t bounced;      /* of them: what is bounced back; */
    uint32_t mirrored[3];  /* what is mirrored at a slip face across each axis: it comes from the
                              cell beside this one, along the mirrored direction; */
    uint32_t open;         /* what comes through wet faces, and the closure finds */
    int8_t normal[3];      /* inward normals of the wet faces, by axis: 1, -1, or 0 for none */
    bool inward_solid;     /* the next cell along the normals is: the closure takes this one */
    lbm_opening opening;
    uint8_t velocity_region, density_region; /* whose law gives it at this cell; 0: none */
    double keep; /* of an outflow: 1 - K of engine/physics/lbm_closure.h */
} lbm_boundary_cell;

/* The quantity of a region's law (a velocity, or a pressure when it has one component) at all the
 * places where it is needed: the middle of each link (moving walls), or the centre of each cell
 * (wet faces). Or the acceleration, uniform at one place, else without places: at all cells. */
typedef struct lbm_batch {
    const sel_quantity *quantity;
    const sel_region *region; /* NULL: the acceleration */
    char what[160];           /* for messages */
    unsigned depends; /* SEL_ON_T: evaluated before each step; SEL_ON_CONTROLS: when they change */
    bool on_links;    /* else at cells of wet faces */
    int64_t count;
    double *x, *y, *z; /* user's units; z NULL in 2-D */
    int64_t *target;   /* number of the link, or of the open cell */
    uint8_t *incoming; /* on links: the direction */
} lbm_batch;

/* One for each region, and the acceleration. */
enum { LBM_MOST_BATCHES = SEL_REGION_NUMBERS };

typedef struct lbm_batches {
    int count;
    lbm_batch *v;
    int64_t largest;  /* places */
    unsigned depends; /* of any of them */
} lbm_batches;

/* Cells x0 <= x < x1 of a row, all free. */
typedef struct lbm_span {
    int64_t x0, x1;
} lbm_span;

typedef struct lbm_boundary {
    const lbm_lattice *lattice;
    int64_t cell_count, link_count, open_count, span_count;
    int64_t rows;             /* ny nz: row y + ny z */
    lbm_boundary_cell *cells; /* row by row */
    int64_t *row_cells;       /* [rows + 1] first cell of each row */
    uint8_t *link_region;     /* [links] 1-based */
    lbm_span *spans;
    int64_t *row_spans; /* [rows + 1] */
    lbm_batches batches;
} lbm_boundary;

/* Faces of velocity, pressure, outflow and of walls with scheme "zou_he" are wet: they lie at the
 * centres of their cells, where a closure finds the populations that enter. Walls (half-way) and
 * slip lie on the face. Who owns a link:
 *   from a solid cell, or across a wall    the solid's region, the wall: bounced back
 *   across slip                            the slip face: mirrored; where the mirrored place is a
 *                                          solid or the other side of a wall, that owns it
 *   across a wet face and a wall or slip   the wet face
 *   across a wall and slip                 the wall
 *   across two walls                       the one painted later
 *   across two slip faces                  the one painted later: bounced back
 *   across two wet faces                   the one that is no wall, else the lower axis's
 * Wet faces may meet at a cell when all of them but one are walls or outflows. Velocity there is
 * that of a velocity law, else of the wall painted later, else of the next cell inwards along the
 * diagonal; density that of a pressure law, else of that next cell. Other meetings are refused, and
 * so is scheme "zou_he" on cells. */
sel_status lbm_boundary_create(const sel_domain *domain, const lbm_lattice *lattice,
                               lbm_boundary *boundary, sel_error *error);
void lbm_boundary_free(lbm_boundary *boundary);

/* Collects the places of each region whose law has a quantity (lbm_terms.c). */
sel_status lbm_batches_create(const sel_domain *domain, const lbm_boundary *boundary,
                              lbm_batches *batches, sel_error *error);
void lbm_batches_free(lbm_batches *batches);

/* True when the region's law makes the faces that it paints wet. */
bool lbm_region_is_wet(const sel_region *region);

/* True when region `number` may let mass through: a wet face or a moving wall. */
bool lbm_region_passes(const sel_domain *domain, int number);

#endif
