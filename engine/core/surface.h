/* surface.h -- the faces of cells on surfaces: faces of the domain and of solids, by region. */
#ifndef SEL_SURFACE_H
#define SEL_SURFACE_H

#include "engine/core/sites.h"
#include "engine/scene/domain.h"

/* A face of a free cell with a region beyond it. */
typedef struct sel_site {
    int64_t cell;
    int face, region; /* 1-based */
    bool outer;       /* it is a face of the domain, not of a solid */
} sel_site;

/* Cells in the order of their numbers, with their sites in the order of faces; and the sites by
 * region, where quantities are evaluated. With `divided`, a rank lists the cells and sites of its
 * patch only. They are numbered from 0 on each rank. Rank 0 also has the region of every site of
 * the grid. */
typedef struct sel_surfaces {
    int64_t cells;
    sel_sites sites;
    sel_site *site;
    int64_t *cell, *first_site; /* [cells], [cells + 1] */
    /* The sites of region r are order[k], at place[axis][k], first_of[r] <= k < first_of[r + 1]. */
    int64_t *order, first_of[SEL_REGION_NUMBERS + 1];
    double *place[3]; /* side by side, each with room for one more */
    bool divided;     /* each of several ranks has those of its patch */
    /* Of the grid: */
    int64_t all_cells, of_region[SEL_REGION_NUMBERS];
    uint8_t *region; /* [sites.all], on rank 0 or if not divided */
} sel_surfaces;

/* How far from the cell's centre along the axis of the face the law of a region holds, in sides of
 * the cell; negative: such faces are not listed. */
typedef double sel_surface_far(const sel_domain *domain, int region, bool outer);

/* whole: each rank lists the sites of the grid. Else all ranks must call it. */
sel_status sel_surfaces_list(const sel_domain *domain, bool whole, sel_surface_far *far,
                             sel_surfaces *surfaces, sel_error *error);
void sel_surfaces_free(sel_surfaces *surfaces);
/* The first k with cell[k] >= cell; `cells` when there is none. */
int64_t sel_surfaces_from(const sel_surfaces *surfaces, int64_t cell);

/* The cell beyond a face of a cell, around periodic axes; -1: there is none. */
int64_t sel_cell_beyond(const sel_grid *grid, int64_t cell, int face);

#endif
