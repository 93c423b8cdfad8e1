/* boundary.h -- the boundary of a lattice Boltzmann domain: which cells, what comes in where. */
#ifndef LBM_BOUNDARY_H
#define LBM_BOUNDARY_H

#include "engine/lbm/batch.h"

typedef enum lbm_opening { LBM_CLOSED, LBM_OPEN_VELOCITY, LBM_OPEN_PRESSURE } lbm_opening;

/* A free cell to which at least one population comes from a solid or across a face. All its other
 * populations are pulled from neighbours. */
typedef struct lbm_boundary_cell {
    int64_t x;             /* place in its row */
    int64_t first_link;    /* links: the bits of bounced | open, lowest direction first */
    int64_t opening_index; /* in the list of open cells; -1: none */
    uint32_t bounced;      /* bit i: what comes along direction i is bounced back */
    uint32_t open;         /* bit i: it comes through the open face, and the closure finds it */
    int face;              /* the open face, SEL_X_MIN..; -1: none */
    lbm_opening opening;
} lbm_boundary_cell;

/* Cells x0 <= x < x1 of a row, all free. */
typedef struct lbm_span {
    int64_t x0, x1;
} lbm_span;

typedef struct lbm_boundary {
    int64_t cell_count, link_count, open_count, span_count, rows;
    lbm_boundary_cell *cells; /* row by row */
    int64_t *row_cells;       /* [rows + 1] first cell of each row */
    uint8_t *link_region;     /* [links] 1-based */
    lbm_span *spans;
    int64_t *row_spans; /* [rows + 1] */
    lbm_batches batches;
} lbm_boundary;

/* Lists the boundary of `domain` by these rules: links from solid cells and across wall faces are
 * bounced back; a diagonal that leaves across one face belongs to the cell's own site of that
 * face; one that leaves across an open face and a wall belongs to the open face, across two walls
 * to the one painted later. Two open faces at one cell are refused. */
sel_status lbm_boundary_create(const sel_domain *domain, lbm_boundary *boundary, sel_error *error);
void lbm_boundary_free(lbm_boundary *boundary);

#endif
