/* comm.h -- the blocks of a grid, and the halos that they exchange.
 *
 * A grid is cut along its slowest axis (y in 2-D, z in 3-D) into blocks of whole planes. What has a
 * neighbourhood (populations, depths) is kept by blocks, each with a halo of some planes beyond its
 * ends; all numbers of cells, rows and planes are those of the whole grid: the pointer to a block's
 * memory is shifted, so that such a number leads to its cell. Before cells of another block are
 * read, their planes are copied to the halo. All blocks are in one process.
 */
#ifndef SEL_COMM_H
#define SEL_COMM_H

#include "engine/machine/arrays.h"
#include "engine/scene/domain.h"

/* Planes first <= p < end. */
typedef struct sel_block {
    int64_t first, end;
} sel_block;

typedef struct sel_blocks {
    int count;
    bool wraps;             /* the axis is periodic */
    int64_t rows_per_plane; /* rows of cells are numbered y + ny z */
    sel_block v[SEL_MOST_BLOCKS];
} sel_blocks;

/* Cuts a grid into `count` blocks with as many free cells each, of at least two planes, or into
 * fewer where the planes do not suffice. */
sel_blocks sel_blocks_cut(const sel_domain *domain, int count);

static inline int sel_block_of(const sel_blocks *blocks, int64_t row) {
    int b = 0;
    while (b + 1 < blocks->count && row >= blocks->v[b].end * blocks->rows_per_plane) {
        b++;
    }
    return b;
}

/* The planes of the largest block. */
int64_t sel_blocks_largest(const sel_blocks *blocks);

/* How the planes of an array are laid out in the memory of each block. */
typedef struct sel_halo {
    sel_type type;
    int components, width;         /* planes beyond each end of a block */
    int64_t stride, plane, margin; /* elements from plane to plane, from component to component,
                                      and of a plane in front of its first cell */
    bool behind; /* both halos stand behind the block, the one of its first plane first */
} sel_halo;

/* The cells of block b of an array whose cells are laid out like `whole`. */
sel_cells sel_block_cells(const sel_blocks *blocks, int b, const sel_halo *halo,
                          const sel_cells *whole);

typedef sel_status sel_copy(void *stream, void *to, const void *from, size_t bytes,
                            sel_error *error);

/* Fills the halos of all blocks; at[b] is the pointer of block b. One block needs none. `copy`
 * NULL: in the host's memory, at once, and it cannot fail. */
sel_status sel_exchange(const sel_blocks *blocks, const sel_halo *halo, void *const *at,
                        sel_copy *copy, void *stream, sel_error *error);

#endif
