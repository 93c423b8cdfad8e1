/* patch.h -- the decomposition of a grid: a patch of cells for each rank. */
#ifndef SEL_PATCH_H
#define SEL_PATCH_H

#include "engine/base/ranks.h"
#include "engine/scene/grid.h"

struct sel_domain;

/* The cells lo[a] <= i[a] < hi[a] of the grid, which one rank computes. */
typedef struct sel_patch {
    int64_t lo[3], hi[3];
} sel_patch;

/* Patches along y and z; x is never divided. Six ranks with ranks[1] = 2, ranks[2] = 3:
 *
 *            z ->
 *     y    +--------+--------+--------+    rank r is
 *     |    | rank 1 | rank 3 | rank 5 |      r % ranks[1]  along y
 *     v    | rank 0 | rank 2 | rank 4 |      r / ranks[1]  along z
 *          +--------+--------+--------+
 */
typedef struct sel_decomposition {
    int slow; /* the slowest axis: y in 2-D, z in 3-D. Patches with whole planes are divided here */
    int ranks[3];     /* patches along each axis */
    bool periodic[3]; /* of the grid */
    int64_t first[3]
                 [SEL_MOST_RANKS + 1]; /* [ranks[a] + 1] first cells along axis a; at last n[a] */
} sel_decomposition;

sel_patch sel_patch_of(const sel_decomposition *decomposition, int rank);

/* Whether planes of the slowest axis are divided: patches have some rows of them. */
static inline bool sel_divides_planes(const sel_decomposition *decomposition) {
    return decomposition->slow == 2 && decomposition->ranks[1] > 1;
}

/* The rows of cells (y + ny z) of a patch; and those of all planes of the slowest axis in which it
 * has cells. */
sel_rows sel_patch_rows(const sel_grid *grid, const sel_patch *patch);
sel_rows_range sel_patch_planes(const sel_grid *grid, const sel_patch *patch);
static inline bool sel_patch_has_row(const sel_grid *grid, const sel_patch *patch, int64_t row) {
    const int64_t y = row % grid->n[1], z = row / grid->n[1];
    return y >= patch->lo[1] && y < patch->hi[1] && z >= patch->lo[2] && z < patch->hi[2];
}

/* Divides a grid into at most `count` patches with about equal numbers of free cells. A patch has
 * at least two cells along each divided axis, so a small grid has fewer patches. `ranks_y`
 * is the number of patches along y, in 3-D. 0 chooses the number with the smallest halo;
 * SEL_FEW_RANKS_Y chooses it only if that halo is less than half of the halo of whole planes, and
 * else 1. Returns the number of patches. */
enum { SEL_FEW_RANKS_Y = -1 };
int sel_decompose(const struct sel_domain *domain, int count, int ranks_y,
                  sel_decomposition *decomposition);

/* The free cells of a patch. */
int64_t sel_patch_free(const struct sel_domain *domain, const sel_patch *patch);

/* The cells of a patch along an axis. */
static inline int64_t sel_patch_cells(const sel_patch *patch, int axis) {
    return patch->hi[axis] - patch->lo[axis];
}

/* The rows that a patch has of each plane of the slowest axis, low <= y < low + height: 1 in 2-D,
 * where planes are rows. */
static inline int64_t sel_patch_height(const sel_decomposition *decomposition,
                                       const sel_patch *patch) {
    return decomposition->slow == 2 ? sel_patch_cells(patch, 1) : 1;
}
static inline int64_t sel_patch_low(const sel_decomposition *decomposition,
                                    const sel_patch *patch) {
    return decomposition->slow == 2 ? patch->lo[1] : 0;
}

/* The fewest cells that a patch has along an axis. */
int64_t sel_fewest_cells(const sel_decomposition *decomposition, int axis);

/* The rank whose patch contains a row of cells (y + ny z). */
int sel_rank_of_row(const sel_decomposition *decomposition, int64_t row);

/* The ranks on the lower and the upper side along an axis, and whether there are any. Around a
 * periodic axis a rank may be its own neighbour. */
typedef struct sel_neighbours {
    int rank[2];
    bool is[2];
} sel_neighbours;
sel_neighbours sel_neighbours_of(const sel_decomposition *decomposition, int rank, int axis);

#endif
