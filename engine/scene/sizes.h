/* sizes.h -- how large the regions of a domain are, by their cells. */
#ifndef SEL_SIZES_H
#define SEL_SIZES_H

#include "engine/scene/domain.h"

/* In the user's units; in 2-D per unit depth: an area, lengths, a perimeter. */
typedef struct sel_region_size {
    double volume;     /* of its cells */
    double frontal[3]; /* the area that its cells cover, seen along each axis */
    double wetted;     /* of the surface between its solid cells and free cells, from the links
                          that cross it and their mean direction */
} sel_region_size;

/* Measures the cells of all regions: the size of region k is size[k]. A ball of radius 16 cells has
 * its volume and areas within 2 %; edges of a wetted area are cut off by about half a cell. */
sel_status sel_domain_sizes(const sel_domain *domain, sel_region_size size[SEL_REGION_NUMBERS],
                            sel_error *error);

/* The wetted areas alone, beside the free cells of a box: that of region k is wetted[k]. The same
 * bits for any number of threads. */
sel_status sel_domain_wetted(const sel_domain *domain, const sel_box *box,
                             double wetted[SEL_REGION_NUMBERS], sel_error *error);

#endif
