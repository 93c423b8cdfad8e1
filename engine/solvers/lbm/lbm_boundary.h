/* lbm_boundary.h -- the boundary cells of a lattice Boltzmann domain, their links, and the places
 * at which laws are evaluated.
 */
#ifndef LBM_BOUNDARY_H
#define LBM_BOUNDARY_H

#include "engine/solvers/lbm/lbm_method.h"
#include "engine/scene/solver.h"

/* A quantity that is evaluated at a list of places, in one call: that of a region's law (a
 * velocity, or a pressure when it has one component) wherever it is needed, the middle of each link
 * (moving walls), or the centre of each cell (wet faces). Or the acceleration, uniform at one
 * place, else without places: at all cells. */
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
    int64_t *row_spans;             /* [rows + 1] */
    bool moves[SEL_REGION_NUMBERS]; /* by region: half-way walls with a velocity */
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

/* True when the region's law makes the faces that it paints wet. */
bool lbm_region_is_wet(const sel_region *region);

/* The quantity of a region's law; NULL: it has none (a wall at rest). */
const sel_quantity *lbm_region_quantity(const sel_region *region);

/* Whether region `number` may let mass through: a wet face or a moving wall. */
bool lbm_region_passes(const sel_domain *domain, int number);

#endif
