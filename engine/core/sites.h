/* sites.h -- lists of sites: places of cells at which a solver keeps numbers, some in each row of
 * cells: faces on surfaces, links of boundary cells.
 *
 * Sites stand in the order of the grid: row by row (y + ny z). A rank has the sites of its patch,
 * numbered from 0. Of a grid of two planes, with three rows each, on two ranks along y:
 *
 *     row              0   1   2   3   4   5
 *     sites            2   1   3   0   2   4     of the grid: 12
 *     rank 0 has       2   1       0   2         its numbers 0 1, 2, 3 4
 *     rank 1 has               3           4     its numbers 0 1 2, 3 4 5 6
 *     before           0   2   3   6   6   8     (and 12): on rank 0
 *
 * What each rank has of its sites rank 0 gathers in the order of the grid, whatever the
 * decomposition; and scatters.
 */
#ifndef SEL_SITES_H
#define SEL_SITES_H

#include "engine/base/ranks.h"
#include "engine/scene/patch.h"

/* The first k with ascending[k] >= number; `count` when there is none. */
static inline int64_t sel_first_not_below(const int64_t *ascending, int64_t count, int64_t number) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        low = ascending[middle] < number ? middle + 1 : low;
        high = ascending[middle] < number ? high : middle;
    }
    return low;
}

typedef struct sel_sites {
    int64_t count;   /* of this rank */
    int64_t all;     /* of the grid */
    int64_t *before; /* [rows + 1] those of the grid before each row; NULL: rank 0 has it */
    const sel_grid *grid;
    const sel_ranks *ranks; /* that have the sites of their patches; NULL: this one has all */
    const sel_decomposition *decomposition;
} sel_sites;

/* An empty list, of all cells of a grid or (ranks, decomposition: not NULL) of a rank's patch.
 * False: there was no memory. */
bool sel_sites_create(sel_sites *sites, const sel_grid *grid, const sel_ranks *ranks,
                      const sel_decomposition *decomposition);
void sel_sites_free(sel_sites *sites);

/* The rows whose sites a rank has. */
sel_rows sel_sites_rows(const sel_sites *sites, int rank);

/* Numbers the sites: counts[k] are in row k of those that this rank has. All ranks must call it. */
void sel_sites_number(sel_sites *sites, const int64_t *counts);

/* The number of sites in a patch, of a list whose `before` is known. */
int64_t sel_sites_in(const sel_sites *sites, const sel_patch *patch);

/* The list of a rank's patch, from one of all cells, with which it shares `before`. */
sel_sites sel_sites_divide(const sel_sites *all, const sel_ranks *ranks,
                           const sel_decomposition *decomposition);

/* Numbers of `size` bytes at each site: own[count] of all ranks become all[sites of the grid] of
 * rank 0, or the reverse. All ranks must call it; `all` is NULL on the others. */
void sel_sites_gather(const sel_sites *sites, const void *own, size_t size, void *all);
void sel_sites_scatter(const sel_sites *sites, const void *all, size_t size, void *own);

#endif
