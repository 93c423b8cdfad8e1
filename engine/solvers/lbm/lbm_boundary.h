/* lbm_boundary.h -- the boundary cells of a lattice Boltzmann domain, their links, and the places
 * at which laws are evaluated.
 */
#ifndef LBM_BOUNDARY_H
#define LBM_BOUNDARY_H

#include "engine/solvers/lbm/lbm_method.h"
#include "engine/core/sites.h"
#include "engine/scene/solver.h"

/* What a law is to the cells before it: a row for each law and, of walls, for each scheme
 * (lbm_tables.c). The plan finds the row of each region once; CPU and devices build on it. */
typedef struct lbm_law_row {
    const sel_table *law;
    int scheme;           /* of law.wall; of others 1: absorbing */
    lbm_opening opening;  /* LBM_CLOSED: on the face, links are bounced back or mirrored. Else faces
                             are wet, and this closure holds where a cell has no other wet face */
    bool wall;            /* nothing passes */
    bool mirrors;         /* diagonal links are mirrored, not bounced back */
    bool interpolates;    /* its links end on the surfaces of shapes, */
    bool chooses;         /* but half-way, if none of the grid meets its surface elsewhere */
    bool parabolic;       /* links are corrected for the curvature of the velocity */
    bool absorbs;         /* lets sound out; holds a little what it wants: values, */
    bool far_field;       /* and the density at rest */
    bool meets_any;       /* its wet faces may share a cell with those of any law */
    lbm_goal goal;        /* of its values */
    ptrdiff_t quantity;   /* in the law's data: the sel_quantity of the values; -1: none; */
    ptrdiff_t relaxation; /* and, of outflows and what absorbs, K; not above 0: by the domain */
} lbm_law_row;

/* The row of a region's law. */
const lbm_law_row *lbm_law_of(const sel_region *region);
/* The row of half-way walls. */
extern const lbm_law_row *const lbm_halfway_wall;

/* Whether fluid passes the faces of the law. */
static inline bool lbm_law_is_open(const lbm_law_row *law) {
    return law->opening != LBM_CLOSED && !law->wall;
}

/* Cells x0 <= x < x1 of a row, all free; the number of their closed region (lbm_closed.h), from 1
 * on; 0: none. */
typedef struct lbm_span {
    int64_t x0, x1, closed;
} lbm_span;

/* A cell with wet faces, as the balance of mass sees it. */
typedef struct lbm_open_cell {
    int8_t normal[3]; /* as of lbm_boundary_cell */
    uint8_t opening;
} lbm_open_cell;

/* Cells, spans, links, openings and the places of laws are those of the rank's patch, numbered row
 * by row (lbm_boundary_keep_patch); before, and without ranks, of all rows. */
typedef struct lbm_boundary {
    const sel_domain *domain;
    const lbm_lattice *lattice;
    int64_t cell_count, open_count, span_count;
    int64_t all_open; /* open_count of the grid */
    sel_sites links;
    int64_t rows;             /* ny nz: row y + ny z */
    lbm_boundary_cell *cells; /* row by row */
    int64_t *row_cells;       /* [rows + 1] first cell of each row */
    bool interpolates;        /* some link is, */
    double relax;             /* with weights as lbm_boundary_create says */
    double curvature;         /* the weight of lbm_correct_straight; 0: no wall is corrected */
    int64_t closed_count;     /* closed regions of fluid (lbm_closed.h), */
    int64_t *closed_cells;    /* [closed_count] and the cells of each in the grid */
    bool free_face;           /* a face lets pass what the flow wants: law.pressure, law.outflow,
                                 law.far_field */
    bool absorbs;             /* some law does */
    int edge_wall;        /* region of the wall, or law.velocity, at the first cell in grid order
                             in which wet faces meet and one is such; 0: there is none */
    uint8_t *link_region; /* [links] 1-based; a shared link has two entries (lbm_boundary_cell) */
    lbm_cut *link_cut;    /* [links] NULL: no link is interpolated */
    lbm_span *spans;
    int64_t *row_spans;                         /* [rows + 1] */
    const lbm_law_row *law[SEL_REGION_NUMBERS]; /* by region, one that chooses has; 0: none */
    bool moves[SEL_REGION_NUMBERS];             /* by region: a wall on links with a velocity */
    /* Of the grid, for what looks at all places of laws; NULL: rank 0 has them. */
    lbm_open_cell *open;
} lbm_boundary;

/* Faces of velocity, pressure, outflow and of walls with scheme "zou_he" are wet: they lie at the
 * centres of their cells, where a closure finds the populations that enter. Walls (half-way) and
 * slip lie on the face. Who owns a link, whatever the order of painting:
 *   from a solid cell, or across a wall    the solid's region, the wall: bounced back
 *   across slip                            the slip face: mirrored; where the mirrored place is a
 *                                          solid or the other side of a wall, that owns it
 *   across a wet face and a wall or slip   the wet face
 *   across a wall and slip                 the wall
 *   across two walls                       both: bounced back
 *   across two slip faces                  both: mirrored twice, which is bounced back
 *   across two wet faces                   the one that is no wall, else the lower axis's
 * A wall that meets another, or slip, gives such a link only its velocity along its own normal: the
 * mass that it brings in is then that of its motion through its own surface. What a link carries
 * counts half for each of two owners.
 * Wet faces may meet at a cell when all of them but one are walls, outflows or far fields. Those
 * that absorb sound, one a far field, are closed together (lbm_absorbing.h). Else velocity there is
 * that of a velocity law, else of walls: along the normal of each its own, along no normal of
 * theirs the mean of both; else of the next cell inwards along the diagonal. Density is that of a
 * pressure law, else of that next cell. Other meetings are refused, and so is scheme "zou_he" on
 * cells. relax: tau - 1/2 where operators keep moments only, else 0; interpolated links have their
 * weights by it, and parabolic walls their correction. */
sel_status lbm_boundary_create(const sel_domain *domain, const lbm_lattice *lattice, double relax,
                               lbm_boundary *boundary, sel_error *error);
void lbm_boundary_free(lbm_boundary *boundary);

/* lbm_boundary_cell.straight of a cell; parabolic: its links that parabolic walls bounce back. A
 * diagonal is straight if it crosses a wall together with its mirror image along the wall and with
 * the axis across it, and if the next cell inwards and those on either side along the wall are
 * fluid. */
uint32_t lbm_boundary_straight(const lbm_lattice *lattice, const lbm_boundary_cell *cell,
                               uint32_t parabolic);

/* Finds where the links of all cells meet interpolated walls, into link_cut. Walls that choose
 * become half-way walls if all their links lie half-way; without any cut link_cut is freed. */
void lbm_boundary_find_cuts(lbm_boundary *boundary);

/* Keeps the cells, spans and links of the domain's patch, and frees those of other ranks. */
sel_status lbm_boundary_keep_patch(lbm_boundary *boundary, sel_error *error);

/* The links and the openings of a row: first <= k < end. Those of the row before are given, before
 * row 0 zeros. */
void lbm_boundary_row(const lbm_boundary *boundary, int64_t row, int64_t links[2],
                      int64_t openings[2]);

/* The part of a link, from the fluid's side, after which it meets the wall. */
static inline double lbm_boundary_meets(const lbm_boundary *boundary, int64_t link) {
    const lbm_cut cut = boundary->link_cut ? boundary->link_cut[link] : (lbm_cut){0, 0};
    return cut.wall > 0 ? 0.5 * (1 - (double)cut.far) / (double)cut.wall : 0.5;
}

/* K of a region with an outflow or an absorbing law on faces across `axis` (lbm_absorbing.h). */
double lbm_boundary_relaxation(const lbm_boundary *boundary, int region, int axis);

/* The quantity of a region's law; NULL: it has none (a wall at rest). */
const sel_quantity *lbm_region_quantity(const sel_region *region);

/* Which of the values of its law the first or the second owner gives to the bounced link of a cell
 * along direction i: `detail` of engine/solvers/lbm/lbm_law.h. */
uint8_t lbm_boundary_link_detail(const lbm_boundary *boundary, const lbm_boundary_cell *cell, int i,
                                 int owner);

/* A region whose law gives values to a cell with wet faces, and which. */
typedef struct lbm_giver {
    uint8_t region, detail;
} lbm_giver;
enum { LBM_GIVERS = 4 };

/* Whose laws give the velocity and the density of a cell with wet faces; returns their number. */
int lbm_boundary_givers(const lbm_boundary_cell *cell, lbm_giver givers[LBM_GIVERS]);

/* Whether a region may let mass through: a wet face, a moving or an interpolated wall. */
bool lbm_region_passes(const lbm_boundary *boundary, int region);

#endif
