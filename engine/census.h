/* census.h -- what the cells of a painted domain are: counts by region, and the kinds of cells. */
#ifndef SEL_CENSUS_H
#define SEL_CENSUS_H

#include "engine/domain.h"

/* Free cells that touch the same faces of the domain, at sites of the same regions. */
typedef struct sel_cell_kind {
    uint8_t region[SEL_FACES]; /* of the sites; 0: these cells do not touch the face */
    int axes;                  /* that they touch faces of: 0 inside, ... 3 in a corner of a box */
    int place;                 /* a number for each face, edge and corner */
    int64_t cells;
} sel_cell_kind;

typedef struct sel_census {
    int64_t cells[SEL_REGION_NUMBERS];            /* by region; 0: free */
    int64_t sites[SEL_FACES][SEL_REGION_NUMBERS]; /* by region; none on periodic axes */
    int count;
    sel_cell_kind *kinds; /* by the number of axes, then by place */
} sel_census;

/* Fails for want of memory only. Freed with sel_census_free, also after a failure. */
sel_status sel_census_take(const sel_domain *domain, sel_census *census, sel_error *error);
void sel_census_free(sel_census *census);

#endif
